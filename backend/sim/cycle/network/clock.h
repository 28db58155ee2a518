/* The clock of the cycle engine: which parts of the chip have something to do in which cycle.
 *
 * A part is stepped in the cycles for which it was woken, and only then. It says itself when it
 * could go on, and its neighbours wake it when they give it a vector, a credit or data. Cycles in
 * which no part is awake are passed over: nothing can happen in them. A step in which a part can do
 * nothing changes nothing, so it does not matter who wakes it for nothing.
 *
 * Windows. What a unit on the chip or a lane does reaches others by vectors, which take hop_cycles,
 * and by credits, which take what is left of credit_cycles. The least of these is a window: within
 * it these parts do not see each other's work, with one exception: a vector that a unit sends can
 * leave the first FIFO in the same cycle. So units go through the window first, one after the
 * other, and the host's cache fetches a unit once per window. Then lanes go through it. Windows are
 * powers of two, and begin at multiples of their length.
 *
 * Loads, stores and memory channels see each other's work at once or a cycle later. They are
 * stepped cycle by cycle, loads and stores before channels, ahead of everything else in the window.
 * Of two requests of one cycle the one of the unit with the lower number comes first. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_NETWORK_CLOCK_H
#define SAMBA_BACKEND_SIM_CYCLE_NETWORK_CLOCK_H

#include "support/base/memory.h"

#define SAMBA_NEVER UINT64_MAX

typedef enum {
  SAMBA_PART_MEMORY, /* loads and stores, by the number of the unit */
  SAMBA_PART_CHANNEL,
  SAMBA_PART_UNIT,     /* PCUs and PMUs */
  SAMBA_PART_CROSSING, /* ways over lanes, with a vector and room for it (network.h) */
  SAMBA_PART_KINDS
} SambaPartKind;

/* A part may be woken this many windows ahead; what lies beyond is looked at again on the way. */
enum { SAMBA_CLOCK_AHEAD = 128 };
/* Cycles for crossings, of which there are most: the host's cache holds all of their sets then. */
enum { SAMBA_CLOCK_CROSSINGS_AHEAD = 32 };

/* The longest window: longer ones would not step units faster. */
enum { SAMBA_CLOCK_LONGEST = 8 };

/* Cycles that no run reaches: parts keep 32 bits of them. */
#define SAMBA_CYCLE_LIMIT ((UINT64_C(1) << 32) - (UINT64_C(1) << 20))

/* The parts of one kind. */
typedef struct SambaAlarms {
  /* Per window from now on, or per cycle: a bit set of parts, of `words` words. */
  uint64_t *sets;
  uint32_t ahead; /* how many sets there are */
  uint32_t bits;  /* windows have 1 << bits cycles */
  uint32_t words, parts;
  bool used[SAMBA_CLOCK_AHEAD]; /* somebody is in the set */
  /* Crossings: somebody of the set was woken for a cycle too far ahead, and looks again. */
  bool looks_again[SAMBA_CLOCK_AHEAD];
  uint32_t *woken; /* room for all of them */
  /* Per part: the cycle for which it is woken, UINT32_MAX: none. A part that is woken for an
   * earlier window afterwards stays in the set of the later one, and is not looked at then.
   * Crossings do without: each is woken once, for the cycle in which it can be used. */
  uint32_t *due;
} SambaAlarms;

typedef struct SambaClock {
  uint64_t now;
  uint32_t window; /* cycles */
  SambaAlarms alarms[SAMBA_PART_KINDS];
} SambaClock;

/* `least`: cycles after which the work of a unit or a lane reaches others, at least. */
void sambaClockInit(SambaClock *clock, SambaArena *arena, uint64_t least,
                    const uint32_t part_counts[SAMBA_PART_KINDS]);
/* Moves on to the next window for which a part is woken, from the one of `now` on: `now` is its
 * first cycle. False: there is none. */
bool sambaClockAdvance(SambaClock *clock);
/* The parts that are woken for the window of cycle `at`, or for that cycle where they are stepped
 * cycle by cycle. The list is good until the next call for the kind. */
const uint32_t *sambaClockTake(SambaClock *clock, SambaPartKind kind, uint64_t at,
                               size_t *out_count);
/* The cycle for which the part was woken; it is woken no more. */
static inline uint64_t sambaClockStart(SambaClock *clock, SambaPartKind kind, uint32_t part) {
  uint64_t at = clock->alarms[kind].due[part];
  clock->alarms[kind].due[part] = UINT32_MAX;
  return at;
}

/* The last cycle for which a set is kept: whoever waits longer looks again then. */
static inline uint64_t sambaClockLast(const SambaClock *clock, const SambaAlarms *alarms) {
  return ((clock->now >> alarms->bits) + SAMBA_CLOCK_AHEAD - clock->window) << alarms->bits;
}

static inline void sambaClockEnter(SambaAlarms *alarms, uint32_t part, uint64_t at) {
  uint32_t place = (uint32_t)(at >> alarms->bits) % SAMBA_CLOCK_AHEAD;
  alarms->sets[(size_t)place * alarms->words + part / 64] |= UINT64_C(1) << (part % 64);
  alarms->used[place] = true;
}

/* Wakes a part for cycle `at`, unless it is woken earlier anyway: a unit for a later window than
 * the one in which it was stepped last, others for a later cycle. */
static inline void sambaClockWake(SambaClock *clock, SambaPartKind kind, uint32_t part,
                                  uint64_t at) {
  SambaAlarms *alarms = &clock->alarms[kind];
  if (at >= alarms->due[part])
    return;
  at = at < sambaClockLast(clock, alarms) ? at : sambaClockLast(clock, alarms);
  if (at >= alarms->due[part])
    return;
  alarms->due[part] = (uint32_t)at;
  sambaClockEnter(alarms, part, at);
}

/* The same of a crossing, whose sets are of cycles. */
static inline void sambaClockWakeCrossing(SambaClock *clock, uint32_t crossing, uint64_t at) {
  SambaAlarms *alarms = &clock->alarms[SAMBA_PART_CROSSING];
  uint64_t last = clock->now + SAMBA_CLOCK_CROSSINGS_AHEAD - SAMBA_CLOCK_LONGEST;
  if (at > last) {
    at = last;
    alarms->looks_again[at % SAMBA_CLOCK_CROSSINGS_AHEAD] = true;
  }
  uint32_t place = at % SAMBA_CLOCK_CROSSINGS_AHEAD;
  alarms->sets[(size_t)place * alarms->words + crossing / 64] |= UINT64_C(1) << crossing % 64;
  alarms->used[place] = true;
}

/* The set of the crossings that are woken for cycle `at`. */
static inline uint64_t *sambaClockCrossings(const SambaClock *clock, uint64_t at) {
  const SambaAlarms *alarms = &clock->alarms[SAMBA_PART_CROSSING];
  return &alarms->sets[(size_t)(at % SAMBA_CLOCK_CROSSINGS_AHEAD) * alarms->words];
}
static inline bool sambaClockUsesCrossings(const SambaClock *clock, uint64_t at) {
  return clock->alarms[SAMBA_PART_CROSSING].used[at % SAMBA_CLOCK_CROSSINGS_AHEAD];
}
static inline bool sambaClockLooksAgain(const SambaClock *clock, uint64_t at) {
  return clock->alarms[SAMBA_PART_CROSSING].looks_again[at % SAMBA_CLOCK_CROSSINGS_AHEAD];
}
/* Somebody is in that set, or nobody any more. */
static inline void sambaClockUseCrossings(SambaClock *clock, uint64_t at, bool used) {
  SambaAlarms *alarms = &clock->alarms[SAMBA_PART_CROSSING];
  alarms->used[at % SAMBA_CLOCK_CROSSINGS_AHEAD] = used;
  alarms->looks_again[at % SAMBA_CLOCK_CROSSINGS_AHEAD] &= used;
}

/* Clocks of one chip, of which each wakes parts for itself (shares.h). Whom one wakes for when, and
 * in which order, makes no difference in the end: a part is woken for the earliest of all cycles.
 */
/* A unit that is woken: the other clock has it from now on. */
static inline void sambaClockHandOver(SambaClock *clock, SambaClock *to, uint32_t unit) {
  to->alarms[SAMBA_PART_UNIT].due[unit] = clock->alarms[SAMBA_PART_UNIT].due[unit];
  clock->alarms[SAMBA_PART_UNIT].due[unit] = UINT32_MAX;
}
/* Wakes the parts that another clock has woken, and not that one any more. Crossings stay in its
 * sets, but the clock knows of them. */
void sambaClockTakeOver(SambaClock *clock, SambaClock *from);
void sambaClockTakeOverCrossings(SambaClock *clock, SambaClock *from);
/* Nobody is woken for any cycle. */
bool sambaClockIsIdle(const SambaClock *clock);

/* Keeps the earlier of two cycles. */
static inline void sambaKeepEarlier(uint64_t *cycle, uint64_t other) {
  if (other < *cycle)
    *cycle = other;
}
static inline uint64_t sambaLater(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t sambaEarlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

#endif
