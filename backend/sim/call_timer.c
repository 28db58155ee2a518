/* See call_timer.h. */
#include "backend/sim/call_timer.h"

#include "backend/sim/cycle/cycle.h"
#include "backend/sim/progress/progress.h"
#include "backend/sim/timed_ahead.h"
#include "support/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Calls that are timed ahead for each thread, at most: what a run that ends early has done in vain.
 */
enum { AHEAD_PER_THREAD = 2 };

/* A timed call, kept for calls that look the same to the engines. */
typedef struct Timed {
  uint32_t image;
  uint64_t *addresses; /* one per formal */
  SambaTimingResult result;
} Timed;

struct SambaCallTimer {
  const SambaMachine *machine;
  SambaCallTimerOptions options;
  SambaArena arena;
  bool *ends;                 /* per image: known to run to its end on the chip */
  SAMBA_ARRAY(Timed) timed;   /* one per distinct call: it does not grow with the launches */
  SambaTimingResult not_kept; /* of the last call that is timed anew each time */
  SambaTimedAhead *ahead;     /* NULL: every call is timed at its turn */
};

SambaCallTimer *sambaCallTimerCreate(const SambaMachine *machine,
                                     const SambaCallTimerOptions *options, uint32_t image_count) {
  SambaCallTimer *timer = sambaAllocateZeroed(1, sizeof *timer);
  timer->machine = machine;
  timer->options = *options;
  timer->ends = SAMBA_ARENA_ARRAY(&timer->arena, bool, image_count + 1);
  return timer;
}

void sambaCallTimerDestroy(SambaCallTimer *timer) {
  if (!timer)
    return;
  sambaTimedAheadDestroy(timer->ahead);
  for (size_t i = 0; i < timer->timed.size; ++i)
    sambaTimingResultFree(&timer->timed.data[i].result);
  sambaArrayFree(&timer->timed);
  sambaTimingResultFree(&timer->not_kept);
  sambaArenaDestroy(&timer->arena);
  free(timer);
}

/*===-- What is known -------------------------------------------------------------------------===*/

static const SambaTimingResult *findTimed(const SambaCallTimer *timer, const SambaTimedCall *call) {
  for (size_t i = 0; i < timer->timed.size; ++i) {
    const Timed *timed = &timer->timed.data[i];
    bool same = timed->image == call->image;
    for (uint32_t f = 0; f < call->section->symbol_count && same; ++f)
      same = timed->addresses[f] == call->bindings[f].address;
    if (same)
      return &timed->result;
  }
  return NULL;
}

/* Takes over the result, also for calls of the same image at the same addresses when `kept`. */
static const SambaTimingResult *takeOver(SambaCallTimer *timer, const SambaTimedCall *call,
                                         bool kept, const SambaTimingResult *result) {
  uint32_t count = call->section->symbol_count;
  if (!kept) {
    sambaTimingResultFree(&timer->not_kept);
    timer->not_kept = *result;
    return &timer->not_kept;
  }

  Timed timed = {.image = call->image, .result = *result};
  timed.addresses = SAMBA_ARENA_ARRAY(&timer->arena, uint64_t, count + 1);
  for (uint32_t f = 0; f < count; ++f)
    timed.addresses[f] = call->bindings[f].address;
  sambaArrayAppend(&timer->timed, timed);
  return &timer->timed.data[timer->timed.size - 1].result;
}

/* The bound that holds where the user gives none: far more than any good estimate is off. */
static uint64_t mostCycles(const SambaCallTimer *timer, const SambaTimedCall *call) {
  uint64_t bound;
  if (timer->options.timing.max_cycles)
    return timer->options.timing.max_cycles;
  return __builtin_mul_overflow(call->estimated_cycles, 100, &bound) ? 0 : bound;
}

static SambaTimingOptions optionsOf(const SambaCallTimer *timer, const SambaTimedCall *call) {
  SambaTimingOptions options = timer->options.timing;
  options.max_cycles = mostCycles(timer, call);
  options.known_to_end = timer->ends[call->image];
  return options;
}

/*===-- Calls at their turn -------------------------------------------------------------------===*/

SambaStatus sambaCallTimerCheckEnd(SambaCallTimer *timer, const SambaTimedCall *call) {
  if (timer->ends[call->image])
    return NULL;
  uint64_t most = timer->options.untimed ? 0 : mostCycles(timer, call);
  SambaProgress *progress =
      sambaProgressRun(timer->machine, call->section, most, timer->options.timing.stop);
  bool stopped = sambaProgressWasStopped(progress);
  SambaStatus status = stopped ? NULL : sambaProgressExplain(progress, NULL);
  timer->ends[call->image] = !status && !stopped;
  sambaProgressFree(progress);
  return status;
}

SambaStatus sambaCallTimerTime(SambaCallTimer *timer, const SambaTimedCall *call,
                               const SambaIndexTraces *traces,
                               const SambaTimingResult **out_result) {
  SambaTimingOptions options = optionsOf(timer, call);
  /* Addresses that depend on data are timed anew. */
  bool repeatable = !timer->options.no_memo && (!traces || traces->size == 0);
  *out_result = repeatable ? findTimed(timer, call) : NULL;
  if (*out_result)
    return NULL;

  SambaTimingResult result = {0};
  SambaStatus status = timer->options.cycle_engine
                           ? sambaCycleExecute(timer->machine, call->section, call->bindings,
                                               traces, &options, &result)
                           : sambaTimingExecute(timer->machine, call->section, call->bindings,
                                                traces, &options, &result);
  *out_result = takeOver(timer, call, repeatable && !status, &result);
  return status;
}

/*===-- Calls before their turn ---------------------------------------------------------------===*/

bool sambaCallTimerWantsMore(SambaCallTimer *timer, uint32_t behind) {
  const SambaCallTimerOptions *options = &timer->options;
  uint32_t threads = options->timing.threads > 1 ? (uint32_t)options->timing.threads : 1;
  if (!options->ahead || options->no_memo || options->cycle_engine || options->untimed ||
      options->timing.on_firing || threads == 1 || behind == 0)
    return false;
  if (!timer->ahead) {
    uint32_t others = behind < threads - 1 ? behind : threads - 1;
    timer->ahead = sambaTimedAheadCreate(timer->machine, (int)others);
  }
  return timer->ahead && sambaTimedAheadCount(timer->ahead) < threads * AHEAD_PER_THREAD;
}

void sambaCallTimerAdd(SambaCallTimer *timer, const SambaTimedCall *call) {
  if (findTimed(timer, call) || sambaTimedAheadHas(timer->ahead, call->image, call->bindings))
    return;
  SambaAheadCall ahead = {call->image, call->section, call->bindings, optionsOf(timer, call)};
  sambaTimedAheadAdd(timer->ahead, &ahead);
}

bool sambaCallTimerTake(SambaCallTimer *timer, const SambaTimedCall *call, SambaStatus *out_status,
                        const SambaTimingResult **out_result) {
  SambaAheadResult answer;
  if (!timer->ahead || findTimed(timer, call) ||
      !sambaTimedAheadTake(timer->ahead, call->image, call->bindings, timer->options.timing.stop,
                           &answer))
    return false;
  timer->ends[call->image] |= answer.ends;
  *out_status = answer.status;
  *out_result = takeOver(timer, call, !answer.status, &answer.result);
  return true;
}
