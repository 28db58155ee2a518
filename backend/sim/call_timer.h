/* How long calls take. Each distinct one is timed once: a call takes as long as another one of the
 * same image at the same addresses, unless data decide about addresses. */
#ifndef SAMBA_BACKEND_SIM_CALL_TIMER_H
#define SAMBA_BACKEND_SIM_CALL_TIMER_H

#include "backend/sim/timing/timing.h"

typedef struct SambaCallTimerOptions {
  SambaTimingOptions timing; /* its bound may be 0: then each call has one of its own */
  bool untimed;              /* nothing but whether sections end */
  bool no_memo;              /* time every call anew */
  bool cycle_engine;
  bool ahead; /* no values are computed: calls may be timed before their turn, on threads */
} SambaCallTimerOptions;

/* A call: its section and the addresses of its formals. All is borrowed. */
typedef struct SambaTimedCall {
  uint32_t image;
  const SambaSection *section;
  const SambaBinding *bindings; /* one per symbol */
  uint64_t estimated_cycles;    /* 0: none. The bound is a hundred times as much. */
} SambaTimedCall;

typedef struct SambaCallTimer SambaCallTimer;

/* machine: borrowed. */
SambaCallTimer *sambaCallTimerCreate(const SambaMachine *machine,
                                     const SambaCallTimerOptions *options, uint32_t image_count);
void sambaCallTimerDestroy(SambaCallTimer *timer);

/* Whether the section ends on the chip at all. That depends on shapes alone, so every image is
 * looked at once. Returns the fault, without cycles, when it does not. */
SambaStatus sambaCallTimerCheckEnd(SambaCallTimer *timer, const SambaTimedCall *call);

/* Whether calls that come later should be given to it now; `behind`: how many there are. */
bool sambaCallTimerWantsMore(SambaCallTimer *timer, uint32_t behind);
/* Gives it a call that comes later. Its section must stay until the timer is destroyed. */
void sambaCallTimerAdd(SambaCallTimer *timer, const SambaTimedCall *call);
/* What was timed before the call's turn: true, and the fault in out_status or NULL. False when the
 * call is to be timed now. The result is borrowed until the next call. */
bool sambaCallTimerTake(SambaCallTimer *timer, const SambaTimedCall *call, SambaStatus *out_status,
                        const SambaTimingResult **out_result);
/* Times the call, unless that is known. After a fault the result says what was counted. */
SambaStatus sambaCallTimerTime(SambaCallTimer *timer, const SambaTimedCall *call,
                               const SambaIndexTraces *traces,
                               const SambaTimingResult **out_result);

#endif
