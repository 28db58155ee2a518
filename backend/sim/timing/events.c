/* The event queue; see events.h. */
#include "backend/sim/timing/events.h"

#include <stdlib.h>

static inline bool earlier(const SambaEvent *a, const SambaEvent *b) {
  return a->time < b->time || (a->time == b->time && a->order < b->order);
}

void sambaEventsPush(SambaEvents *events, uint64_t time, uint32_t target) {
  if (events->size == events->capacity)
    events->heap = sambaArrayGrow(events->heap, &events->capacity, events->size + 1, sizeof *events->heap);
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

bool sambaEventsPop(SambaEvents *events, uint64_t *out_time, uint32_t *out_target) {
  if (!events->size)
    return false;
  *out_time = events->heap[0].time;
  *out_target = (uint32_t)(events->heap[0].order & ((1u << SAMBA_EVENT_TARGET_BITS) - 1));
  SambaEvent last = events->heap[--events->size];
  size_t hole = 0, size = events->size;
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
  return true;
}

void sambaEventsFree(SambaEvents *events) {
  free(events->heap);
  *events = (SambaEvents){0};
}
