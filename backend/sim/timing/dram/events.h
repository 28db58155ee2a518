/* The event queue: a wheel of the next cycles, a heap for what lies beyond. Events of one time
 * leave in the order in which they came. */
#ifndef SAMBA_BACKEND_SIM_TIMING_DRAM_EVENTS_H
#define SAMBA_BACKEND_SIM_TIMING_DRAM_EVENTS_H

#include "support/base/index.h"
#include "support/base/memory.h"

/* No simulated time reaches this; the engine ends earlier with `too many cycles`. */
#define SAMBA_TIME_LIMIT (UINT64_C(1) << 50)
#define SAMBA_TIME_UNKNOWN UINT64_MAX

/* A longer wheel would fill the nearest cache of the host; what is that far off is rare. */
enum { SAMBA_EVENT_TARGET_BITS = 28, SAMBA_EVENT_WHEEL = 1024 };

typedef struct SambaEvent {
  uint64_t time;
  uint64_t order; /* sequence number << SAMBA_EVENT_TARGET_BITS | target */
} SambaEvent;

typedef struct SambaEventNode {
  uint32_t target, next; /* next: a node; SAMBA_NO_INDEX ends the list */
} SambaEventNode;

/* The nodes of one slot of the wheel. */
typedef struct SambaEventSlot {
  uint32_t first, last;
} SambaEventSlot;

typedef struct SambaEvents {
  uint64_t now;      /* time of the last event taken; no push lies before it */
  uint64_t sequence; /* of heap events */
  SambaEvent *heap;
  size_t size, capacity;
  SambaEventNode *nodes; /* of the wheel, with a list of free ones */
  size_t node_count, node_capacity;
  uint32_t free_nodes;
  SambaEventSlot slots[SAMBA_EVENT_WHEEL]; /* of use where they are filled */
  uint64_t filled[SAMBA_EVENT_WHEEL / 64],
      filled_words; /* bit sets: slots that hold events, words that are not 0 */
} SambaEvents;

void sambaEventsInit(SambaEvents *events);
void sambaEventsFree(SambaEvents *events);
/* What the two functions below leave to it: the heap, and more nodes. */
void sambaEventsPushFar(SambaEvents *events, uint64_t time, uint32_t target);
SambaEvent sambaEventsPopFar(SambaEvents *events);
uint32_t sambaEventsAddNode(SambaEvents *events);

/* target < 2^28; time not before that of the last event taken. */
static inline void sambaEventsPush(SambaEvents *events, uint64_t time, uint32_t target) {
  if (time - events->now >= SAMBA_EVENT_WHEEL) {
    sambaEventsPushFar(events, time, target);
    return;
  }

  uint32_t node = events->free_nodes;
  if (node != SAMBA_NO_INDEX)
    events->free_nodes = events->nodes[node].next;
  else
    node = sambaEventsAddNode(events);

  events->nodes[node] = (SambaEventNode){target, SAMBA_NO_INDEX};
  uint32_t slot = (uint32_t)time & (SAMBA_EVENT_WHEEL - 1);
  if (events->filled[slot / 64] >> slot % 64 & 1)
    events->nodes[events->slots[slot].last].next = node;
  else
    events->slots[slot].first = node;
  events->slots[slot].last = node;
  events->filled[slot / 64] |= UINT64_C(1) << slot % 64;
  events->filled_words |= UINT64_C(1) << slot / 64;
}

/* Cycles from now to the next slot of the wheel that holds an event; the wheel is not empty. */
static inline uint64_t sambaEventsNextDistance(const SambaEvents *events) {
  uint32_t start = (uint32_t)events->now & (SAMBA_EVENT_WHEEL - 1);
  uint32_t word = start / 64;
  uint64_t bits = events->filled[word] >> start % 64;
  if (bits)
    return (uint64_t)__builtin_ctzll(bits);
  /* Words after this one, then around to the front, at last the lower part of this one. */
  uint64_t after = word == 63 ? 0 : events->filled_words & (UINT64_MAX << (word + 1));
  uint64_t words = after ? after : events->filled_words;
  uint32_t found = (uint32_t)__builtin_ctzll(words);
  uint32_t slot = found * 64 + (uint32_t)__builtin_ctzll(events->filled[found]);
  return (slot - start) & (SAMBA_EVENT_WHEEL - 1);
}

/* False when there is none left. */
static inline bool sambaEventsPop(SambaEvents *events, uint64_t *out_time, uint32_t *out_target) {
  if (!events->filled_words && !events->size)
    return false;
  uint64_t time = events->filled_words ? events->now + sambaEventsNextDistance(events) : UINT64_MAX;

  /* What is in the heap came when its time was still far off: before everything in the wheel at
   * that time. */
  if (events->size && events->heap[0].time <= time) {
    SambaEvent event = sambaEventsPopFar(events);
    *out_time = events->now = event.time;
    *out_target = (uint32_t)(event.order & ((1u << SAMBA_EVENT_TARGET_BITS) - 1));
    return true;
  }

  uint32_t slot = (uint32_t)time & (SAMBA_EVENT_WHEEL - 1);
  uint32_t node = events->slots[slot].first, next = events->nodes[node].next;
  *out_time = events->now = time;
  *out_target = events->nodes[node].target;
  events->slots[slot].first = next;
  events->nodes[node].next = events->free_nodes;
  events->free_nodes = node;
  if (next == SAMBA_NO_INDEX && !(events->filled[slot / 64] &= ~(UINT64_C(1) << slot % 64)))
    events->filled_words &= ~(UINT64_C(1) << slot / 64);
  return true;
}

/* The target of the event that is taken next, if that is of the time of the last one; otherwise
 * SAMBA_NO_INDEX, whether there is another one or not. */
static inline uint32_t sambaEventsPeek(const SambaEvents *events) {
  uint32_t slot = (uint32_t)events->now & (SAMBA_EVENT_WHEEL - 1);
  if (!(events->filled[slot / 64] >> slot % 64 & 1))
    return SAMBA_NO_INDEX;
  return events->nodes[events->slots[slot].first].target;
}

/* Arithmetic on times and amounts that a hostile file may have made huge: saturates at
 * SAMBA_TIME_LIMIT. */
static inline uint64_t sambaTimeClamp(uint64_t value) {
  return value < SAMBA_TIME_LIMIT ? value : SAMBA_TIME_LIMIT;
}
static inline uint64_t sambaTimeMul(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? SAMBA_TIME_LIMIT : sambaTimeClamp(product);
}
static inline uint64_t sambaTimeCeilDiv(uint64_t a, uint64_t b) {
  return a <= b ? a > 0 : (a - 1) / b + 1;
}
/* value * numerator / denominator, rounded up, for numerator <= denominator. Mostly it is none of
 * it, or all of it, or one for one: nothing is divided then. */
static inline uint64_t sambaTimeScale(uint64_t value, uint64_t numerator, uint64_t denominator) {
  if (numerator == 0)
    return 0;
  if (numerator == denominator)
    return value;
  if (value == denominator)
    return numerator;
  uint64_t product, sum; /* dividing 128 bits takes far longer */
  if (!__builtin_mul_overflow(value, numerator, &product) &&
      !__builtin_add_overflow(product, denominator - 1, &sum))
    return sum / denominator;
  return (uint64_t)(((unsigned __int128)value * numerator + denominator - 1) / denominator);
}
static inline uint64_t sambaTimeMax(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t sambaTimeMin(uint64_t a, uint64_t b) { return a < b ? a : b; }

#endif
