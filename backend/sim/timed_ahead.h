/* Calls that are timed before their turn, on threads of the host beside the caller's.
 *
 * How long a call takes follows from its section and its addresses, and from no call before it
 * (docs/timing-model.md, "Memory"): so those that come next may be timed while the present one is.
 * Results and faults are handed over at the call's turn; nothing depends on the number of threads.
 */
#ifndef SAMBA_BACKEND_SIM_TIMED_AHEAD_H
#define SAMBA_BACKEND_SIM_TIMED_AHEAD_H

#include "backend/sim/timing/timing.h"

typedef struct SambaTimedAhead SambaTimedAhead;

/* A call without indices from data. */
typedef struct SambaAheadCall {
  uint32_t image;
  const SambaSection *section;  /* borrowed until the call is taken or all are given up */
  const SambaBinding *bindings; /* one per symbol; copied */
  SambaTimingOptions options;   /* its bound, and whether it is known to end */
} SambaAheadCall;

/* What timing a call gave. */
typedef struct SambaAheadResult {
  bool ends;          /* the section runs to its end on the chip */
  SambaStatus status; /* owned by the taker, as the result is */
  SambaTimingResult result;
} SambaAheadResult;

/* machine: borrowed; threads: beside the caller's, at least one. NULL when none can be started. */
SambaTimedAhead *sambaTimedAheadCreate(const SambaMachine *machine, int threads);
/* Gives up what has not been taken. */
void sambaTimedAheadDestroy(SambaTimedAhead *ahead);

/* Calls that have been added and not taken. */
uint32_t sambaTimedAheadCount(const SambaTimedAhead *ahead);
bool sambaTimedAheadHas(const SambaTimedAhead *ahead, uint32_t image, const SambaBinding *bindings);
void sambaTimedAheadAdd(SambaTimedAhead *ahead, const SambaAheadCall *call);
/* Takes a call out. False when nobody has begun with it: the caller times it. Else waits for it;
 * *stop (may be NULL) non-zero interrupts all that is timed. */
bool sambaTimedAheadTake(SambaTimedAhead *ahead, uint32_t image, const SambaBinding *bindings,
                         const volatile sig_atomic_t *stop, SambaAheadResult *out_result);

#endif
