/* What a search for a route opens next: ways by the estimate of their whole path. Private to the
 * router.
 *
 * Those that wait leave the least estimate first, and of equals the newest. Estimates of a search
 * never fall, and few are far above the first: a stack for each, and a heap for the dearest. */
#ifndef SAMBA_BACKEND_PLACE_ROUTER_ROUTE_QUEUE_H
#define SAMBA_BACKEND_PLACE_ROUTER_ROUTE_QUEUE_H

#include "support/base/index.h"
#include "support/base/memory.h"

#include <stdbool.h>
#include <string.h>

/* Cost units beyond the straight path; a multiple of 64. Crowded channels cost up to 400 cycles in
 * late rounds, and a heap is slower. */
enum { SAMBA_ROUTE_BUCKETS = 65536 };

/* A way to a channel that waits to be opened. */
typedef struct SambaRouteWaiting {
  uint32_t channel, cost, below; /* below: an older one of the same estimate */
} SambaRouteWaiting;

typedef struct SambaRouteDear {
  uint64_t key; /* estimate, then newest first */
  uint32_t channel, cost;
} SambaRouteDear;

typedef struct SambaRouteQueue {
  uint32_t first;                          /* estimate of bucket 0 */
  uint64_t some[SAMBA_ROUTE_BUCKETS / 64]; /* buckets that have one, as bits */
  uint32_t top[SAMBA_ROUTE_BUCKETS];
  uint32_t word, words; /* none of the words before has a bit, and none from the latter on */
  SAMBA_ARRAY(SambaRouteWaiting) waiting;
  SAMBA_ARRAY(SambaRouteDear) dear;
  uint32_t sequence;
} SambaRouteQueue;

/* What the functions below leave to the heap; the latter needs one that waits there. */
void sambaRouteQueuePushDear(SambaRouteQueue *queue, uint32_t estimate, uint32_t channel,
                             uint32_t cost);
SambaRouteDear sambaRouteQueuePopDear(SambaRouteQueue *queue);
void sambaRouteQueueFree(SambaRouteQueue *queue);

/* Empties the queue, which was all zeros before its first use. No estimate will be less than
 * `first`, nor than that of the last one taken. */
static inline void sambaRouteQueueBegin(SambaRouteQueue *queue, uint32_t first) {
  queue->first = first;
  memset(queue->some, 0, queue->words * sizeof *queue->some);
  queue->word = queue->words = 0;
  queue->waiting.size = queue->dear.size = 0;
  queue->sequence = 0;
}

static inline void sambaRouteQueuePush(SambaRouteQueue *queue, uint32_t estimate, uint32_t channel,
                                       uint32_t cost) {
  uint32_t bucket = estimate - queue->first;
  if (bucket >= SAMBA_ROUTE_BUCKETS) {
    sambaRouteQueuePushDear(queue, estimate, channel, cost);
    return;
  }

  uint64_t bit = UINT64_C(1) << bucket % 64;
  uint32_t word = bucket / 64;
  uint32_t below = queue->some[word] & bit ? queue->top[bucket] : SAMBA_NO_INDEX;
  queue->some[word] |= bit;
  queue->words = word < queue->words ? queue->words : word + 1;
  queue->top[bucket] = (uint32_t)queue->waiting.size;
  sambaArrayAppend(&queue->waiting, (SambaRouteWaiting){channel, cost, below});
}

/* False: none waits. */
static inline bool sambaRouteQueuePop(SambaRouteQueue *queue, uint32_t *out_channel,
                                      uint32_t *out_cost) {
  while (queue->word < queue->words && !queue->some[queue->word])
    ++queue->word;
  if (queue->word == queue->words) {
    if (!queue->dear.size)
      return false;
    SambaRouteDear dear = sambaRouteQueuePopDear(queue);
    *out_channel = dear.channel;
    *out_cost = dear.cost;
    return true;
  }

  uint32_t bucket = queue->word * 64 + (uint32_t)__builtin_ctzll(queue->some[queue->word]);
  const SambaRouteWaiting *top = &queue->waiting.data[queue->top[bucket]];
  *out_channel = top->channel;
  *out_cost = top->cost;
  queue->top[bucket] = top->below;
  if (top->below == SAMBA_NO_INDEX)
    queue->some[queue->word] &= queue->some[queue->word] - 1;
  return true;
}

#endif
