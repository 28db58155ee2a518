/* The event queue: a wheel of the next cycles, a heap for what lies beyond. Events of one time
 * leave in the order in which they came. */
#ifndef SAMBA_BACKEND_SIM_TIMING_DRAM_EVENTS_H
#define SAMBA_BACKEND_SIM_TIMING_DRAM_EVENTS_H

#include "support/base/index.h"
#include "support/base/memory.h"

/* No simulated time reaches this; the engine ends earlier with `too many cycles`. */
#define SAMBA_TIME_LIMIT (UINT64_C(1) << 50)
#define SAMBA_TIME_UNKNOWN UINT64_MAX

enum { SAMBA_EVENT_TARGET_BITS = 28, SAMBA_EVENT_WHEEL = 4096 };

typedef struct SambaEvent {
  uint64_t time;
  uint64_t order; /* sequence number << SAMBA_EVENT_TARGET_BITS | target */
} SambaEvent;

typedef struct SambaEventNode {
  uint32_t target, next; /* next: a node; SAMBA_NO_INDEX ends the list */
} SambaEventNode;

typedef struct SambaEvents {
  uint64_t now;      /* time of the last event taken; no push lies before it */
  uint64_t sequence; /* of heap events */
  SambaEvent *heap;
  size_t size, capacity;
  SambaEventNode *nodes; /* of the wheel, with a list of free ones */
  size_t node_count, node_capacity;
  uint32_t free_nodes;
  uint32_t first[SAMBA_EVENT_WHEEL],
      last[SAMBA_EVENT_WHEEL]; /* lists of nodes, where the slot is filled */
  uint64_t filled[SAMBA_EVENT_WHEEL / 64],
      filled_words; /* bit sets: slots that hold events, words that are not 0 */
} SambaEvents;

void sambaEventsInit(SambaEvents *events);
/* target < 2^28; time not before that of the last event taken. */
void sambaEventsPush(SambaEvents *events, uint64_t time, uint32_t target);
/* False when there is none left. */
bool sambaEventsPop(SambaEvents *events, uint64_t *out_time, uint32_t *out_target);
void sambaEventsFree(SambaEvents *events);

/* Arithmetic on times and amounts that a hostile file may have made huge: saturates at
 * SAMBA_TIME_LIMIT. */
static inline uint64_t sambaTimeClamp(uint64_t value) {
  return value < SAMBA_TIME_LIMIT ? value : SAMBA_TIME_LIMIT;
}
static inline uint64_t sambaTimeMul(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? SAMBA_TIME_LIMIT : sambaTimeClamp(product);
}
static inline uint64_t sambaTimeCeilDiv(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
/* value * numerator / denominator, rounded up, for numerator <= denominator. */
static inline uint64_t sambaTimeScale(uint64_t value, uint64_t numerator, uint64_t denominator) {
  return (uint64_t)(((unsigned __int128)value * numerator + denominator - 1) / denominator);
}
static inline uint64_t sambaTimeMax(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t sambaTimeMin(uint64_t a, uint64_t b) { return a < b ? a : b; }

#endif
