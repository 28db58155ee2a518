/* The clock of the cycle engine: which parts of the chip have something to do in which cycle.
 *
 * A part is stepped in the cycles for which it was woken, and only then. It says itself when it
 * could go on, and its neighbours wake it when they give it a vector, a credit or data. Cycles in
 * which no part is awake are passed over: nothing can happen in them. Within a cycle units go
 * first, then lanes, then memory channels, parts of one kind in the order of their numbers. Lanes
 * and channels do not see each other's work before the next cycle, so their order does not matter;
 * that of units decides which of two requests of one cycle comes first at a channel. A step in
 * which a part can do nothing changes nothing, so it does not matter who wakes it for nothing. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_NETWORK_CLOCK_H
#define SAMBA_BACKEND_SIM_CYCLE_NETWORK_CLOCK_H

#include "support/base/memory.h"

#define SAMBA_NEVER UINT64_MAX

typedef enum {
  SAMBA_PART_UNIT,
  SAMBA_PART_LANE,
  SAMBA_PART_CHANNEL,
  SAMBA_PART_KINDS
} SambaPartKind;

/* A part may be woken this many cycles ahead; what lies beyond is looked at again on the way. */
enum { SAMBA_CLOCK_AHEAD = 128 };

/* The parts of one kind. */
typedef struct SambaAlarms {
  uint64_t *due; /* per part: the cycle for which it is woken, SAMBA_NEVER */
  /* Per cycle from now on: a bit set of parts, of `words` words, and how many are in it. A part
   * that is woken for an earlier cycle afterwards stays in the set of the later one. */
  uint64_t *sets;
  uint32_t words, sizes[SAMBA_CLOCK_AHEAD];
  uint32_t *woken; /* room for all of them */
} SambaAlarms;

typedef struct SambaClock {
  uint64_t now;
  SambaAlarms alarms[SAMBA_PART_KINDS];
  uint64_t entries; /* in all sets */
} SambaClock;

void sambaClockInit(SambaClock *clock, SambaArena *arena,
                    const uint32_t part_counts[SAMBA_PART_KINDS]);
/* Moves on to the next cycle for which a part is woken, or the cycle 0. False: there is none. */
bool sambaClockAdvance(SambaClock *clock);
/* The parts that are woken for this cycle. The list is good until the next call for the kind. */
const uint32_t *sambaClockTake(SambaClock *clock, SambaPartKind kind, size_t *out_count);

void sambaClockEnter(SambaClock *clock, SambaPartKind kind, uint32_t part, uint64_t at);

/* Wakes a part for cycle `at`, unless it is woken earlier anyway. Units are woken for later cycles,
 * lanes and channels for this one too as long as their turn has not come. */
static inline void sambaClockWake(SambaClock *clock, SambaPartKind kind, uint32_t part,
                                  uint64_t at) {
  if (at < clock->alarms[kind].due[part])
    sambaClockEnter(clock, kind, part, at);
}

/* Keeps the earlier of two cycles. */
static inline void sambaKeepEarlier(uint64_t *cycle, uint64_t other) {
  if (other < *cycle)
    *cycle = other;
}
static inline uint64_t sambaLater(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t sambaEarlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

#endif
