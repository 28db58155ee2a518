/* Many steps with one session: what is fed before each pass and read after it, micro-batches. */
#ifndef SAMBA_RUNTIME_STEPS_H
#define SAMBA_RUNTIME_STEPS_H

#include "runtime/session.h"

/* A step is one run. With micro-batches, which need a PEF that accumulates gradients, it is
 * ZEROGRAD, then FWD and BCKWD once per micro-batch, then REDUCE, GRADNORM and OPT, as far as the
 * PEF has them. A pass is one run of FWD: one per micro-batch, else one per step. */
typedef struct SambaSteps {
  uint64_t count;         /* of steps */
  uint32_t micro_batches; /* per step; 0: none */
  SambaRunOptions run;    /* of each step; its order must be empty with micro-batches */
  /* Each may be NULL. Passes and steps count from 0. A failure ends the run. */
  SambaStatus (*before_pass)(void *user, uint64_t pass);
  SambaStatus (*after_pass)(void *user, uint64_t pass);
  SambaStatus (*after_step)(void *user, uint64_t step);
  void (*progress)(void *user, uint32_t done, uint32_t total); /* of the calls of each run */
  void *user;
} SambaSteps;

/* Refuses before the first launch what sambaSessionRun refuses, and micro-batches of a PEF that
 * does not accumulate. The error of a later step names it. */
SambaStatus sambaSessionRunSteps(SambaSession *session, const SambaSteps *steps);

#endif
