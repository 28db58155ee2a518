/* Reads and writes that meet at an array; see array_walk.h. */
#include "backend/sim/timing/engine/array_walk.h"

#include "backend/sim/timing/engine/partial_tokens.h"

/* So many vectors are written in a section's walks: they take the host about a millisecond. Where
 * there are more, none are walked: with walks of the short tokens alone a section of a BERT layer
 * on an ideal network took 8% more cycles than in the cycle engine, without any 0.02% less. */
enum { mostWritten = 1 << 15 };
enum { fewReads = 8 };

static bool meet(SambaArrayRange a, SambaArrayRange b) {
  return a.first < b.end && b.first < a.end;
}

/* Do two slots of a ring lie in one array? */
static bool slotsMeet(const SambaSlotPlacement *placement, uint64_t slots) {
  if (!placement->arrays || placement->alternate)
    return placement->arrays && slots > placement->arrays;
  for (uint64_t s = 1; s < slots; ++s)
    if (meet(sambaSlotArrays(placement, s - 1), sambaSlotArrays(placement, s)))
      return true;
  return false;
}

/* Whether reads and writes of a buffer can be walked. */
static bool canWalk(const SambaEngine *engine, uint32_t unit_index) {
  const SambaUnit *unit = &engine->section->units[unit_index];
  const SambaBufferState *buffer = &engine->buffers[unit_index];
  return unit->kind == SAMBA_UNIT_BUFFER && !unit->buffer.in_place && buffer->write_count == 1 &&
         buffer->read_count == 1 && slotsMeet(&buffer->placement, unit->buffer.slot_count);
}

/* Vectors of a token that the write port of a buffer takes. */
static uint64_t vectorsWritten(const SambaEngine *engine, const SambaActor *write) {
  return engine->streams[engine->cursors[write->inputs[0].cursors[0]].stream].vectors;
}

void sambaArrayWalkBuild(SambaEngine *engine) {
  uint64_t left = mostWritten;
  for (uint32_t u = 0; u < engine->section->unit_count; ++u) {
    const SambaActor *write = &engine->actors[engine->unit_actors[u]];
    if (!canWalk(engine, u))
      continue;
    uint64_t own = sambaTimeMul(write->firings, vectorsWritten(engine, write));
    if (own > left)
      return;
    left -= own;
  }
  for (uint32_t u = 0; u < engine->section->unit_count; ++u) {
    if (!canWalk(engine, u))
      continue;
    SambaArrayWalk *walk = SAMBA_ARENA_NEW(&engine->arena, SambaArrayWalk);
    walk->reads = SAMBA_ARENA_ARRAY(&engine->arena, SambaArrayRead, fewReads);
    walk->read_mask = fewReads - 1;
    engine->buffers[u].walk = walk;
  }
}

static SambaArrayRange arraysOf(const SambaEngine *engine, const SambaActor *actor) {
  return sambaSlotArrays(&engine->buffers[actor->unit].placement,
                         actor->slots % engine->section->units[actor->unit].buffer.slot_count);
}

/* The first cycle from `at` on, which is not before it begins, in which a read leaves its arrays.
 */
static uint64_t leftFrom(const SambaArrayRead *read, uint64_t at) {
  uint64_t lasts = read->end - read->begin;
  if (at >= read->end || read->cycles >= lasts)
    return sambaTimeMax(at, read->end);
  uint64_t vector = sambaTimeScale(read->vectors, at - read->begin, lasts);
  uint64_t from = read->begin + sambaTimeScale(lasts, vector, read->vectors);
  uint64_t cycles = sambaTimeCeilDiv(read->cycles, read->vectors);
  return sambaTimeMax(at, from + cycles);
}

/* The first cycle from `at` on in which no read has an array. `read`: the first that may, which is
 * one that has not ended then. */
static uint64_t freeFrom(const SambaArrayWalk *walk, SambaArrayRange arrays, uint64_t at,
                         uint64_t *read) {
  for (uint64_t r = *read; r < walk->read_end; ++r) {
    const SambaArrayRead *one = &walk->reads[r & walk->read_mask];
    if (one->begin > at)
      break;
    if (meet(one->arrays, arrays))
      at = leftFrom(one, at);
    *read += r == *read && one->end <= at;
  }
  return at;
}

uint64_t sambaArrayWalkWritten(SambaEngine *engine, const SambaActor *write) {
  SambaArrayWalk *walk = engine->buffers[write->unit].walk;
  SambaCursor *cursor = &engine->cursors[write->inputs[0].taken];
  uint64_t vectors = engine->streams[cursor->stream].vectors;
  uint64_t end = walk->free_at, read = walk->read_first;
  for (uint64_t v = walk->written; v < vectors; ++v) {
    uint64_t at = sambaPartialTokensTakenArrival(engine, cursor, v);
    if (at == SAMBA_TIME_UNKNOWN)
      break;
    at = freeFrom(walk, arraysOf(engine, write), sambaTimeMax(at, end), &read);
    end = at + sambaPortCyclesOf(write, v, v + 1, vectors);
    if (at >= engine->now)
      continue;
    walk->written = v + 1;
    walk->free_at = end;
    walk->read_first = read;
  }
  cursor->asked = (cursor->next - 1) * vectors + walk->written;
  return end;
}

/* When the vector that is being written now is done. */
static uint64_t writtenBy(SambaEngine *engine, const SambaActor *read) {
  const SambaBufferState *buffer = &engine->buffers[read->unit];
  const SambaActor *write = &engine->actors[buffer->actor_first];
  if (!write->running || !meet(arraysOf(engine, read), arraysOf(engine, write)))
    return engine->now;
  sambaArrayWalkWritten(engine, write);
  return sambaTimeMax(engine->now, buffer->walk->written ? buffer->walk->free_at : 0);
}

uint64_t sambaArrayWalkFrom(SambaEngine *engine, const SambaActor *actor) {
  const SambaArrayWalk *walk = engine->buffers[actor->unit].walk;
  if (actor->kind == SAMBA_ACTOR_READ)
    return writtenBy(engine, actor);
  uint64_t read = walk->read_first;
  return freeFrom(walk, arraysOf(engine, actor), engine->now, &read);
}

static void addRead(SambaEngine *engine, const SambaBufferState *buffer, SambaArrayRead read) {
  SambaArrayWalk *walk = buffer->walk;
  bool writes = engine->actors[buffer->actor_first].running;
  while (!writes && walk->read_first < walk->read_end &&
         walk->reads[walk->read_first & walk->read_mask].end <= engine->now)
    ++walk->read_first;
  if (walk->read_end - walk->read_first > walk->read_mask) {
    uint64_t size = 2 * (walk->read_mask + 1);
    SambaArrayRead *reads = SAMBA_ARENA_ARRAY(&engine->arena, SambaArrayRead, size);
    for (uint64_t r = walk->read_first; r < walk->read_end; ++r)
      reads[r & (size - 1)] = walk->reads[r & walk->read_mask];
    walk->reads = reads;
    walk->read_mask = size - 1;
  }
  walk->reads[walk->read_end++ & walk->read_mask] = read;
}

void sambaArrayWalkBegin(SambaEngine *engine, const SambaActor *actor, uint64_t held) {
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  SambaArrayWalk *walk = buffer->walk;
  if (actor->kind == SAMBA_ACTOR_WRITE) {
    walk->written = 0;
    walk->free_at = engine->now;
    return;
  }
  uint64_t vectors = engine->streams[actor->outputs[0].stream].vectors;
  held = sambaTimeMin(held, vectors);
  walk->rest = vectors - held;
  uint64_t cycles = sambaPortCyclesOf(actor, 0, held, vectors);
  addRead(
      engine, buffer,
      (SambaArrayRead){engine->now, engine->now + cycles, held, cycles, arraysOf(engine, actor)});
}

void sambaArrayWalkEndRead(SambaEngine *engine, const SambaActor *read, uint64_t end) {
  const SambaBufferState *buffer = &engine->buffers[read->unit];
  SambaArrayWalk *walk = buffer->walk;
  const SambaStreamState *stream = &engine->streams[read->outputs[0].open_stream];
  if (!walk->rest)
    return;
  uint64_t cycles =
      sambaPortCyclesOf(read, stream->vectors - walk->rest, stream->vectors, stream->vectors);
  const SambaArrayRead *before = &walk->reads[(walk->read_end - 1) & walk->read_mask];
  uint64_t credit = engine->cursor_details[stream->cursor_first].credit;
  uint64_t from = sambaTimeMax(engine->now + credit, before->end);
  addRead(engine, buffer,
          (SambaArrayRead){sambaTimeMin(from, end - cycles), end, walk->rest, cycles,
                           arraysOf(engine, read)});
  walk->rest = 0;
}
