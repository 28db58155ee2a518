/* The event queue; see events.h. */
#include "backend/sim/timing/dram/events.h"

#include <stdlib.h>

_Static_assert(SAMBA_EVENT_WHEEL % 64 == 0 && SAMBA_EVENT_WHEEL <= 64 * 64,
               "words cover the wheel, and one word these words");

static inline bool earlier(const SambaEvent *a, const SambaEvent *b) {
  return a->time < b->time || (a->time == b->time && a->order < b->order);
}

void sambaEventsPushFar(SambaEvents *events, uint64_t time, uint32_t target) {
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

SambaEvent sambaEventsPopFar(SambaEvents *events) {
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

uint32_t sambaEventsAddNode(SambaEvents *events) {
  if (events->node_count == events->node_capacity)
    events->nodes = sambaArrayGrow(events->nodes, &events->node_capacity, events->node_count + 1,
                                   sizeof *events->nodes);
  return (uint32_t)events->node_count++;
}

void sambaEventsInit(SambaEvents *events) { *events = (SambaEvents){.free_nodes = SAMBA_NO_INDEX}; }

void sambaEventsFree(SambaEvents *events) {
  free(events->heap);
  free(events->nodes);
  *events = (SambaEvents){0};
}
