/* Ports of running units; see port.h. */
#include "backend/sim/value/stream/port.h"

static bool queueIsEmpty(const SambaQueue *queue) {
  return atomic_load_explicit(&queue->tail, memory_order_acquire) ==
         atomic_load_explicit(&queue->head, memory_order_relaxed);
}

static bool queueIsFull(const SambaQueue *queue) {
  unsigned head = atomic_load_explicit(&queue->head, memory_order_acquire);
  return atomic_load_explicit(&queue->tail, memory_order_relaxed) - head >= queue->capacity;
}

bool sambaQueueGrow(SambaArena *arena, SambaQueue *queue) {
  enum { mostTokens = 1 << 24 };
  if (!queueIsFull(queue) || queue->capacity >= mostTokens)
    return false;
  const uint32_t capacity = queue->capacity * 2;
  SambaToken *ring = SAMBA_ARENA_ARRAY(arena, SambaToken, capacity);
  for (unsigned at = atomic_load(&queue->head); at != atomic_load(&queue->tail); ++at)
    ring[at % capacity] = queue->ring[at % queue->capacity];
  queue->ring = ring;
  queue->capacity = capacity;
  return true;
}

bool sambaPortHasToken(const SambaPortRun *port) {
  return !port->stream_count || !queueIsEmpty(port->queues[port->stream]);
}

static void takeTurn(SambaPortRun *port) {
  if (++port->count < port->port->block)
    return;
  port->count = 0;
  if (++port->stream == port->stream_count)
    port->stream = 0;
}

SambaToken sambaPortTake(SambaPortRun *port) {
  if (!port->stream_count)
    return (SambaToken){NULL, 0};
  SambaQueue *queue = port->queues[port->stream];
  unsigned head = atomic_load_explicit(&queue->head, memory_order_relaxed);
  SambaToken token = queue->ring[head % queue->capacity];
  atomic_store_explicit(&queue->head, head + 1, memory_order_release);
  sambaReadyWake(port->ready, queue->source);
  takeTurn(port);
  return token;
}

bool sambaPortHasSpace(const SambaPortRun *port) {
  if (!port->stream_count)
    return true;
  for (uint32_t q = port->first[port->stream]; q < port->first[port->stream + 1]; ++q)
    if (queueIsFull(port->queues[q]))
      return false;
  return true;
}

void sambaPortPut(SambaPortRun *port, SambaToken token) {
  if (!port->stream_count) {
    sambaBlockRelease(port->pool, token.block);
    return;
  }

  uint32_t begin = port->first[port->stream];
  uint32_t end = port->first[port->stream + 1];

  /* All references exist before the first consumer can drop one. */
  for (uint32_t q = begin + 1; q < end; ++q)
    sambaBlockRetain(token.block);
  for (uint32_t q = begin; q < end; ++q) {
    SambaQueue *queue = port->queues[q];
    unsigned tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    queue->ring[tail % queue->capacity] = token;
    atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
    sambaReadyWake(port->ready, queue->destination);
  }

  if (begin == end)
    sambaBlockRelease(port->pool, token.block);
  takeTurn(port);
}

const SambaQueue *sambaPortWaits(const SambaPortRun *port, bool output) {
  if (!port->stream_count)
    return NULL;
  if (!output)
    return queueIsEmpty(port->queues[port->stream]) ? port->queues[port->stream] : NULL;
  for (uint32_t q = port->first[port->stream]; q < port->first[port->stream + 1]; ++q)
    if (queueIsFull(port->queues[q]))
      return port->queues[q];
  return NULL;
}
