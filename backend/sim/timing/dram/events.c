/* The event queue; see events.h. */
#include "backend/sim/timing/dram/events.h"

#include <stdlib.h>

_Static_assert(SAMBA_EVENT_WHEEL == 64 * 64, "one word of words covers the wheel");

static inline bool earlier(const SambaEvent *a, const SambaEvent *b) {
  return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void heapPush(SambaEvents *events, uint64_t time, uint32_t target) {
  if (events->size == events->capacity)
    events->heap =
        sambaArrayGrow(events->heap, &events->capacity, events->size + 1, sizeof *events->heap);
  SambaEvent event = {time, events->sequence++ << SAMBA_EVENT_TARGET_BITS | target};
  size_t hole = events->size++;
  while (hole > 0) {
    size_t parent = (hole - 1) / 2;
    if (!earlier(&event, &events->heap[parent]))
      break;
    events->heap[hole] = events->heap[parent];
    hole = parent;
  }
  events->heap[hole] = event;
}

static SambaEvent heapPop(SambaEvents *events) {
  SambaEvent top = events->heap[0];
  SambaEvent last = events->heap[--events->size];
  size_t hole = 0;
  size_t size = events->size;

  for (size_t child = 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && earlier(&events->heap[child + 1], &events->heap[child]))
      ++child;
    if (!earlier(&events->heap[child], &last))
      break;
    events->heap[hole] = events->heap[child];
    hole = child;
  }

  if (size)
    events->heap[hole] = last;
  return top;
}

void sambaEventsInit(SambaEvents *events) { *events = (SambaEvents){.free_nodes = SAMBA_NO_INDEX}; }

void sambaEventsPush(SambaEvents *events, uint64_t time, uint32_t target) {
  if (time - events->now >= SAMBA_EVENT_WHEEL) {
    heapPush(events, time, target);
    return;
  }

  uint32_t node = events->free_nodes;
  if (node != SAMBA_NO_INDEX) {
    events->free_nodes = events->nodes[node].next;
  } else {
    if (events->node_count == events->node_capacity)
      events->nodes = sambaArrayGrow(events->nodes, &events->node_capacity, events->node_count + 1,
                                     sizeof *events->nodes);
    node = (uint32_t)events->node_count++;
  }

  events->nodes[node] = (SambaEventNode){target, SAMBA_NO_INDEX};
  uint32_t slot = (uint32_t)time & (SAMBA_EVENT_WHEEL - 1);
  if (events->filled[slot / 64] >> slot % 64 & 1)
    events->nodes[events->last[slot]].next = node;
  else
    events->first[slot] = node;
  events->last[slot] = node;
  events->filled[slot / 64] |= UINT64_C(1) << slot % 64;
  events->filled_words |= UINT64_C(1) << slot / 64;
}

/* Cycles from now to the next slot of the wheel that holds an event; the wheel is not empty. */
static uint64_t nextSlotDistance(const SambaEvents *events) {
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

bool sambaEventsPop(SambaEvents *events, uint64_t *out_time, uint32_t *out_target) {
  if (!events->filled_words && !events->size)
    return false;
  uint64_t time = events->filled_words ? events->now + nextSlotDistance(events) : UINT64_MAX;

  /* What is in the heap came when its time was still far off: before everything in the wheel at
   * that time. */
  if (events->size && events->heap[0].time <= time) {
    SambaEvent event = heapPop(events);
    *out_time = events->now = event.time;
    *out_target = (uint32_t)(event.order & ((1u << SAMBA_EVENT_TARGET_BITS) - 1));
    return true;
  }

  uint32_t slot = (uint32_t)time & (SAMBA_EVENT_WHEEL - 1);
  uint32_t node = events->first[slot];
  *out_time = events->now = time;
  *out_target = events->nodes[node].target;
  events->first[slot] = events->nodes[node].next;
  events->nodes[node].next = events->free_nodes;
  events->free_nodes = node;
  if (events->first[slot] == SAMBA_NO_INDEX &&
      !(events->filled[slot / 64] &= ~(UINT64_C(1) << slot % 64)))
    events->filled_words &= ~(UINT64_C(1) << slot / 64);
  return true;
}

void sambaEventsFree(SambaEvents *events) {
  free(events->heap);
  free(events->nodes);
  *events = (SambaEvents){0};
}
