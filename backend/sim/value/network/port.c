/* Ports of running units: queues between them, turns of split and merge, and small helpers all
 * kinds of units share. */
#include "backend/sim/value/network/value_engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool queueIsEmpty(const SambaQueue *queue) {
  return atomic_load_explicit(&queue->tail, memory_order_acquire) ==
         atomic_load_explicit(&queue->head, memory_order_relaxed);
}

static bool queueIsFull(const SambaQueue *queue) {
  unsigned head = atomic_load_explicit(&queue->head, memory_order_acquire);
  return atomic_load_explicit(&queue->tail, memory_order_relaxed) - head >= queue->capacity;
}

bool sambaPortHasToken(const SambaRunPort *port) {
  return !port->stream_count || !queueIsEmpty(port->queues[port->stream]);
}

static void takeTurn(SambaRunPort *port) {
  if (++port->count < port->port->block)
    return;
  port->count = 0;
  if (++port->stream == port->stream_count)
    port->stream = 0;
}

SambaToken sambaPortTake(SambaRun *run, SambaRunPort *port) {
  if (!port->stream_count)
    return (SambaToken){NULL, 0};
  SambaQueue *queue = port->queues[port->stream];
  unsigned head = atomic_load_explicit(&queue->head, memory_order_relaxed);
  SambaToken token = queue->ring[head % queue->capacity];
  atomic_store_explicit(&queue->head, head + 1, memory_order_release);
  sambaScheduleWake(run, queue->source);
  takeTurn(port);
  return token;
}

bool sambaPortHasSpace(const SambaRunPort *port) {
  if (!port->stream_count)
    return true;
  for (uint32_t q = port->first[port->stream]; q < port->first[port->stream + 1]; ++q)
    if (queueIsFull(port->queues[q]))
      return false;
  return true;
}

void sambaPortPut(SambaRun *run, SambaRunPort *port, SambaToken token) {
  if (!port->stream_count) {
    sambaBlockRelease(&run->values->pool, token.block);
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
    sambaScheduleWake(run, queue->destination);
  }

  if (begin == end)
    sambaBlockRelease(&run->values->pool, token.block);
  takeTurn(port);
}

const SambaQueue *sambaPortWaits(const SambaRunPort *port, bool output) {
  if (!port->stream_count)
    return NULL;
  if (!output)
    return queueIsEmpty(port->queues[port->stream]) ? port->queues[port->stream] : NULL;
  for (uint32_t q = port->first[port->stream]; q < port->first[port->stream + 1]; ++q)
    if (queueIsFull(port->queues[q]))
      return port->queues[q];
  return NULL;
}

SambaStatus sambaRunFault(const SambaRun *run, const SambaRunUnit *unit, uint64_t firing,
                          const char *fault, const char *format, ...) {
  char detail[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  const char *layer = unit->unit->layer ? unit->unit->layer : "";
  return sambaStatusMake(SAMBA_FAULT, "%s: section '%s', %s '%s'%s%s%s, firing %llu: %s", fault,
                         run->section->name, sambaUnitKindName(unit->unit->kind), unit->unit->name,
                         *layer ? " of layer '" : "", layer, *layer ? "'" : "",
                         (unsigned long long)firing, detail);
}

void sambaCountersStep(uint32_t *counters, const uint32_t *trips, uint32_t count) {
  for (uint32_t c = count; c-- > 0;) {
    if (++counters[c] < trips[c])
      return;
    counters[c] = 0;
  }
}

uint64_t sambaStorageBits(SambaDType dtype, uint64_t bits) {
  float value;
  uint32_t pattern;

  switch (dtype) {
  case SAMBA_DTYPE_BF16:
    value = sambaBf16ToFloat((uint16_t)bits);
    memcpy(&pattern, &value, sizeof pattern);
    return pattern;
  case SAMBA_DTYPE_F16:
    value = sambaHalfToFloat((uint16_t)bits);
    memcpy(&pattern, &value, sizeof pattern);
    return pattern;
  case SAMBA_DTYPE_I1:
    return bits & 1;
  case SAMBA_DTYPE_I8:
    return (uint32_t)(int32_t)(int8_t)bits;
  case SAMBA_DTYPE_UI8:
    return (uint8_t)bits;
  case SAMBA_DTYPE_I16:
    return (uint32_t)(int32_t)(int16_t)bits;
  default:
    return bits;
  }
}

void sambaStorageFill(SambaStorage storage, uint8_t *data, uint64_t count, uint64_t bits) {
  if (storage == SAMBA_STORAGE_I64) {
    for (uint64_t i = 0; i < count; ++i)
      memcpy(data + 8 * i, &bits, 8);
  } else {
    uint32_t pattern = (uint32_t)bits;
    for (uint64_t i = 0; i < count; ++i)
      memcpy(data + 4 * i, &pattern, 4);
  }
}
