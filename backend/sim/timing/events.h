/* The event queue: a binary heap of (time, order, target); events of one time leave in the order in which they came. */
#ifndef SAMBA_BACKEND_SIM_TIMING_EVENTS_H
#define SAMBA_BACKEND_SIM_TIMING_EVENTS_H

#include "support/memory.h"

/* No simulated time reaches this; the engine ends earlier with `too many cycles`. */
#define SAMBA_TIME_LIMIT (UINT64_C(1) << 50)
#define SAMBA_TIME_UNKNOWN UINT64_MAX

typedef struct SambaEvent {
  uint64_t time;
  uint64_t order; /* sequence number << 28 | target */
} SambaEvent;

typedef struct SambaEvents {
  SambaEvent *heap;
  size_t size, capacity;
  uint64_t sequence;
} SambaEvents;

enum { SAMBA_EVENT_TARGET_BITS = 28 };

/* target < 2^28. */
void sambaEventsPush(SambaEvents *events, uint64_t time, uint32_t target);
/* False when there is none left. */
bool sambaEventsPop(SambaEvents *events, uint64_t *out_time, uint32_t *out_target);
void sambaEventsFree(SambaEvents *events);

/* Arithmetic on times and amounts that a hostile file may have made huge: saturates at SAMBA_TIME_LIMIT. */
static inline uint64_t sambaTimeClamp(uint64_t value) { return value < SAMBA_TIME_LIMIT ? value : SAMBA_TIME_LIMIT; }
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
