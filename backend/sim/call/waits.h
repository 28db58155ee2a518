/* Faults of engines that time a call: who waits for whom when nothing can go on, or too long. */
#ifndef SAMBA_BACKEND_SIM_CALL_WAITS_H
#define SAMBA_BACKEND_SIM_CALL_WAITS_H

#include "backend/section/section.h"

/* A unit, or one port of a buffer. */
typedef struct SambaWaiter {
  uint32_t unit;
  const char *port; /* " read port", " write port", "" */
  uint64_t done, firings;
  bool finished;
} SambaWaiter;

/* What a waiter waits for: "for a token from", and so on. */
typedef struct SambaWaitFor {
  uint32_t waiter; /* SAMBA_NO_INDEX: nothing is missing */
  const char *what;
} SambaWaitFor;

typedef struct SambaWaitGraph {
  const SambaSection *section;
  uint64_t now;
  bool untimed; /* there are no cycles: `now` means nothing */
  uint32_t unfinished, waiter_count;
  const void *engine; /* of the functions */
  SambaWaiter (*describe)(const void *engine, uint32_t waiter);
  SambaWaitFor (*waits_for)(const void *engine, uint32_t waiter);
} SambaWaitGraph;

/* `deadlock`, or `starved` when the waits lead to a unit that has ended, with notes that follow the
 * waits. */
SambaStatus sambaWaitsDeadlock(const SambaWaitGraph *graph);
SambaStatus sambaWaitsTooManyCycles(const SambaWaitGraph *graph, uint64_t limit);
SambaStatus sambaWaitsInterrupted(const SambaWaitGraph *graph);

#endif
