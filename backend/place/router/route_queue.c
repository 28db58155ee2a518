/* The heap of a search's queue; see route_queue.h. */
#include "backend/place/router/route_queue.h"

#include <stdlib.h>

void sambaRouteQueuePushDear(SambaRouteQueue *queue, uint32_t estimate, uint32_t channel,
                             uint32_t cost) {
  uint64_t newest = 0xffffff - (queue->sequence++ & 0xffffff);
  SambaRouteDear dear = {(uint64_t)estimate << 24 | newest, channel, cost};
  sambaArrayAppend(&queue->dear, dear);
  size_t i = queue->dear.size - 1;
  SambaRouteDear *data = queue->dear.data;
  while (i && data[(i - 1) / 2].key > dear.key) {
    data[i] = data[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  data[i] = dear;
}

SambaRouteDear sambaRouteQueuePopDear(SambaRouteQueue *queue) {
  SambaRouteDear *data = queue->dear.data;
  SambaRouteDear top = data[0];
  SambaRouteDear last = data[--queue->dear.size];
  size_t i = 0;
  size_t size = queue->dear.size;

  for (size_t child; (child = 2 * i + 1) < size; i = child) {
    if (child + 1 < size && data[child + 1].key < data[child].key)
      ++child;
    if (data[child].key >= last.key)
      break;
    data[i] = data[child];
  }

  if (size)
    data[i] = last;
  return top;
}

void sambaRouteQueueFree(SambaRouteQueue *queue) {
  sambaArrayFree(&queue->waiting);
  sambaArrayFree(&queue->dear);
}
