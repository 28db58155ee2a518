/* Many steps; see samba/session.h. */
#include "samba/session.h"

#include <stdlib.h>

/* The types of the three runs that make a step with micro-batches. */
static const SambaSectionType before[] = {SAMBA_SECTION_ZEROGRAD};
static const SambaSectionType passing[] = {SAMBA_SECTION_FWD, SAMBA_SECTION_BCKWD};
static const SambaSectionType after[] = {SAMBA_SECTION_REDUCE, SAMBA_SECTION_GRADNORM,
                                         SAMBA_SECTION_OPT};
enum { mostTypes = 3 };

typedef struct {
  SambaSession *session;
  const SambaSteps *steps;
  uint32_t present; /* section types of the PEF */
} Loop;

static SambaStatus callBack(const Loop *loop, SambaStatus (*function)(void *, uint64_t),
                            uint64_t at) {
  return function ? function(loop->steps->user, at) : NULL;
}

/* Runs those of the types that the PEF has. */
static SambaStatus runTypes(const Loop *loop, const SambaSectionType *types, uint32_t count) {
  SambaSectionType there[mostTypes];
  SambaRunOptions run = loop->steps->run;
  run.order.types = there;
  for (uint32_t i = 0; i < count; ++i)
    if (loop->present & sambaSectionTypeBit(types[i]))
      there[run.order.type_count++] = types[i];
  if (!run.order.type_count)
    return NULL;
  return sambaSessionRun(loop->session, &run, loop->steps->progress, loop->steps->user);
}

static SambaStatus checkMicroBatches(const Loop *loop) {
  const SambaRunOrder *order = &loop->steps->run.order;
  if (order->group_count || order->type_count || order->has_from || order->has_until)
    return sambaStatusMake(SAMBA_INVALID,
                           "micro-batches make whole steps; sections, section types and a range of "
                           "calls cannot be given with them");
  if (!(loop->present & sambaSectionTypeBit(SAMBA_SECTION_ZEROGRAD)))
    return sambaStatusMake(SAMBA_INVALID,
                           "micro-batches need a PEF that adds gradients up, and this one has no "
                           "section of type ZEROGRAD; compile it with --accumulate-gradients");
  return NULL;
}

static SambaStatus runPass(const Loop *loop, uint64_t pass) {
  const SambaSteps *steps = loop->steps;
  SAMBA_RETURN_IF_ERROR(callBack(loop, steps->before_pass, pass));
  if (steps->micro_batches)
    SAMBA_RETURN_IF_ERROR(runTypes(loop, passing, sizeof passing / sizeof *passing));
  else
    SAMBA_RETURN_IF_ERROR(
        sambaSessionRun(loop->session, &steps->run, steps->progress, steps->user));
  return callBack(loop, steps->after_pass, pass);
}

static SambaStatus runStep(const Loop *loop, uint64_t step) {
  const SambaSteps *steps = loop->steps;
  uint32_t passes = steps->micro_batches ? steps->micro_batches : 1;

  if (steps->micro_batches)
    SAMBA_RETURN_IF_ERROR(runTypes(loop, before, sizeof before / sizeof *before));
  for (uint32_t k = 0; k < passes; ++k)
    SAMBA_RETURN_IF_ERROR(runPass(loop, step * passes + k));
  if (steps->micro_batches)
    SAMBA_RETURN_IF_ERROR(runTypes(loop, after, sizeof after / sizeof *after));
  return callBack(loop, steps->after_step, step);
}

SambaStatus sambaSessionRunSteps(SambaSession *session, const SambaSteps *steps) {
  Loop loop = {session, steps, sambaSessionGetSectionTypes(session)};
  if (steps->micro_batches)
    SAMBA_RETURN_IF_ERROR(checkMicroBatches(&loop));

  for (uint64_t step = 0; step < steps->count; ++step) {
    SambaStatus status = runStep(&loop, step);
    if (status)
      return step ? sambaStatusAnnotate(status, "step %llu", (unsigned long long)step + 1) : status;
  }
  return NULL;
}
