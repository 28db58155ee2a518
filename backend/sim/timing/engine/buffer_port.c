/* Ports of buffers; see buffer_port.h. */
#include "backend/sim/timing/engine/buffer_port.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/tokens.h"

/* Tokens that take no more cycles of a memory have its side and an array in the same cycles. */
enum { fewVectors = 8 };

static SambaActor *readPort(SambaEngine *engine, const SambaBufferState *buffer, uint32_t index) {
  return &engine->actors[buffer->actor_first + buffer->write_count + index];
}

/* In place: the firing of the read port whose elements the next firing of the write port replaces.
 * Both ports walk a slot alike (section_check.c), so it has the same number, less those of the
 * slots that start empty. False when there is none. */
static bool firingReplaced(const SambaEngine *engine, const SambaActor *write,
                           uint64_t *out_firing) {
  const SambaUnit *unit = &engine->section->units[write->unit];
  uint64_t empty = unit->buffer.loop_carried ? 0 : unit->buffer.slot_count * write->slot_period;
  *out_firing = write->next - empty;
  return write->next >= empty;
}

/* In place: the read port has begun with what the write port replaces next. */
static bool readIsAhead(SambaEngine *engine, const SambaActor *write, const SambaActor *read) {
  uint64_t firing;
  return !firingReplaced(engine, write, &firing) || read->next > firing ||
         (read->running && read->next == firing);
}

/* In place: each element is written after it has been read. Ends the write after the reads that it
 * follows, one cycle apart. */
static void followReads(SambaEngine *engine, SambaActor *write) {
  const SambaBufferState *buffer = &engine->buffers[write->unit];
  uint64_t firing;
  if (!firingReplaced(engine, write, &firing))
    return;
  for (uint32_t i = 0; i < buffer->read_count; ++i) {
    SambaActor *read = readPort(engine, buffer, i);
    if (read->next != firing || !read->running)
      continue;
    if (read->resolved) {
      write->end_minimum = sambaTimeMax(write->end_minimum, read->end_minimum + 1);
    } else {
      read->followed = true;
      ++write->pending;
    }
  }
}

/* In place: the earliest cycle in which the next firing of the write port can begin. */
uint64_t sambaBufferPortFollows(SambaEngine *engine, const SambaActor *write) {
  const SambaBufferState *buffer = &engine->buffers[write->unit];
  uint64_t at = engine->now, firing;
  if (!firingReplaced(engine, write, &firing))
    return at;
  for (uint32_t i = 0; i < buffer->read_count; ++i) {
    const SambaActor *read = readPort(engine, buffer, i);
    if (read->next == firing && read->running)
      at = sambaTimeMax(at, read->start + 1);
  }
  return at;
}

/* The end of a read that a write follows is known. */
void sambaBufferPortTell(SambaEngine *engine, SambaActor *read) {
  uint32_t first = engine->buffers[read->unit].actor_first; /* the only write port */
  SambaActor *write = &engine->actors[first];
  read->followed = false;
  write->end_minimum = sambaTimeMax(write->end_minimum, read->end_minimum + 1);
  if (--write->pending == 0)
    sambaEngineQueue(engine, first);
}

/* A buffer port may work on its slot: a read when every write port has finished it, a write when
 * every read port has released the one that was there before. Buffers that start full lend their
 * slots to the reads instead. */
bool sambaBufferPortMayBegin(SambaEngine *engine, const SambaActor *actor) {
  const SambaUnit *unit = &engine->section->units[actor->unit];
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  uint64_t lent = unit->buffer.loop_carried ? unit->buffer.slot_count : 0;
  if (actor->kind == SAMBA_ACTOR_READ)
    return !buffer->write_count || actor->slots < buffer->written + lent;
  if (!unit->buffer.in_place)
    return !buffer->read_count || actor->slots < buffer->released + unit->buffer.slot_count - lent;

  for (uint32_t i = 0; i < buffer->read_count; ++i)
    if (!readIsAhead(engine, actor, readPort(engine, buffer, i)))
      return false;
  return true;
}

void sambaBufferPortFinishSlot(SambaEngine *engine, SambaActor *actor) {
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool write = actor->kind == SAMBA_ACTOR_WRITE;
  uint32_t first = buffer->actor_first + (write ? 0 : buffer->write_count);
  uint32_t count = write ? buffer->write_count : buffer->read_count;
  uint64_t slots = ++actor->slots;

  for (uint32_t i = 0; i < count; ++i)
    slots = sambaTimeMin(slots, engine->actors[first + i].slots);
  uint64_t *counter = write ? &buffer->written : &buffer->released;
  if (slots == *counter)
    return;
  *counter = slots;
  uint32_t other = buffer->actor_first + (write ? buffer->write_count : 0);
  uint32_t others = write ? buffer->read_count : buffer->write_count;
  for (uint32_t i = 0; i < others; ++i)
    sambaEngineQueue(engine, other + i);
}

static SambaArrayRange arraysOf(const SambaEngine *engine, const SambaActor *actor) {
  return sambaSlotArrays(&engine->buffers[actor->unit].placement,
                         actor->slots % engine->section->units[actor->unit].buffer.slot_count);
}

/* A token of few vectors has its side and its array in the same cycles: both are booked at once.
 * When: no earlier than `from`. */
static uint64_t bookTogether(SambaEngine *engine, const SambaActor *actor, uint64_t from) {
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  SambaArrayRange arrays = arraysOf(engine, actor);
  for (uint32_t a = arrays.first; a < arrays.end; ++a)
    from = sambaTimeMax(from, buffer->arrays[a].free);

  uint64_t end = from + actor->work;
  for (uint32_t a = arrays.first; a < arrays.end; ++a) {
    buffer->arrays[a].free = end;
    buffer->arrays[a].flows[actor->kind == SAMBA_ACTOR_READ] =
        (SambaFlow){.begin = from, .end = end, .cycles = actor->work};
  }
  return from;
}

/* All read ports of a buffer share one side of the memory, all write ports the other. A token books
 * its cycles when it comes, and begins when the tokens before it have had theirs. */
static uint64_t bookSide(SambaEngine *engine, SambaActor *actor) {
  if (actor->has_booked)
    return actor->booked_at;
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  uint64_t *side = read ? &buffer->read_side_free : &buffer->write_side_free;
  if (actor->port_cycles)
    actor->work = sambaPortTokenCycles(actor->port_cycles, actor->next);

  uint64_t from = sambaTimeMax(*side, engine->now);
  actor->booked_at = actor->work <= fewVectors ? bookTogether(engine, actor, from) : from;
  actor->has_booked = true;
  *side = actor->booked_at + actor->work;
  actor->booked = *side - engine->now;
  return actor->booked_at;
}

/* Is a port about to begin with a token in this cycle? */
static bool isAboutToBegin(SambaEngine *engine, const SambaActor *actor) {
  if (actor->running || actor->next == actor->firings || !sambaBufferPortMayBegin(engine, actor))
    return false;
  if (actor->kind == SAMBA_ACTOR_READ)
    return sambaStreamRoom(engine, actor->outputs[0].stream) > 0;
  const SambaSegment *segment = sambaInputSegment(engine, &actor->inputs[0]);
  return segment &&
         segment->first + sambaInputCursor(engine, &actor->inputs[0])->latency <= engine->now;
}

/* Does the other side use the arrays of the port's slot in this cycle? */
static bool arraysAreBusy(SambaEngine *engine, const SambaActor *actor) {
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  SambaArrayRange arrays = arraysOf(engine, actor);
  for (uint32_t a = arrays.first; a < arrays.end; ++a)
    if (buffer->arrays[a].flows[!read].end > engine->now)
      return true;

  uint32_t first = buffer->actor_first + (read ? 0 : buffer->write_count);
  uint32_t count = read ? buffer->write_count : buffer->read_count;
  for (uint32_t i = first; i < first + count; ++i) {
    SambaArrayRange others = arraysOf(engine, &engine->actors[i]);
    if (others.first < arrays.end && arrays.first < others.end &&
        isAboutToBegin(engine, &engine->actors[i]))
      return true;
  }
  return false;
}

/* A token whose arrays are busy when it is its turn lets another one go first whose arrays are
 * free. */
static uint64_t letGoFirst(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  uint32_t first = buffer->actor_first + (read ? buffer->write_count : 0);
  uint32_t count = read ? buffer->read_count : buffer->write_count;
  uint32_t best = SAMBA_NO_INDEX;
  for (uint32_t i = first; i < first + count; ++i) {
    const SambaActor *other = &engine->actors[i];
    if (!other->has_booked || other->booked_at <= engine->now || arraysAreBusy(engine, other))
      continue;
    if (best == SAMBA_NO_INDEX || other->booked_at < engine->actors[best].booked_at)
      best = i;
  }
  if (best == SAMBA_NO_INDEX)
    return engine->now;
  actor->booked_at = engine->actors[best].booked_at;
  engine->actors[best].booked_at = engine->now;
  sambaEngineQueue(engine, best);
  return actor->booked_at;
}

/* The turn of a port at its side of the memory, if it may begin with its next token. Others may get
 * there in the same cycle, so it is looked at twice. */
uint64_t sambaBufferPortTurn(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  uint64_t at = bookSide(engine, actor);
  bool alone = (actor->kind == SAMBA_ACTOR_READ ? buffer->read_count : buffer->write_count) < 2;
  if (at > engine->now || alone || actor->work <= fewVectors || !engine->machine->pmu_bank_arrays)
    return at;
  if (actor->has_looked)
    return arraysAreBusy(engine, actor) ? letGoFirst(engine, actor_index) : at;
  actor->has_looked = true;
  sambaEngineWake(engine, actor_index, engine->now);
  return SAMBA_TIME_UNKNOWN;
}

/* A token waits for its arrays for longer than it has booked. Meanwhile its side serves others that
 * use other arrays; without such a port, all that come behind it begin later. */
static void delaySide(SambaEngine *engine, const SambaActor *actor, uint64_t cycles) {
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  uint32_t first = buffer->actor_first + (read ? buffer->write_count : 0);
  uint32_t end = first + (read ? buffer->read_count : buffer->write_count);
  SambaArrayRange arrays = arraysOf(engine, actor);
  for (uint32_t i = first; i < end; ++i) {
    SambaArrayRange others = arraysOf(engine, &engine->actors[i]);
    if (others.first >= arrays.end || arrays.first >= others.end)
      return;
  }

  *(read ? &buffer->read_side_free : &buffer->write_side_free) += cycles;
  for (uint32_t i = first; i < end; ++i)
    if (engine->actors[i].has_booked)
      engine->actors[i].booked_at += cycles;
}

/* Both sides take turns at the arrays. */
static void bookArrays(SambaEngine *engine, SambaActor *actor) {
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  SambaArrayRange arrays = arraysOf(engine, actor);
  actor->end_minimum = sambaTimeMax(actor->end_minimum, actor->booked_at + actor->work);
  if (actor->work <= fewVectors)
    return;
  for (uint32_t a = arrays.first; a < arrays.end; ++a) {
    const SambaFlow *flow = sambaShareBook(&buffer->arrays[a], read, engine->now, actor->work);
    actor->arrays_end = flow->end;
    actor->end_minimum = sambaTimeMax(actor->end_minimum, flow->end);
  }
  if (actor->arrays_end > engine->now + actor->work)
    delaySide(engine, actor, actor->arrays_end - engine->now - actor->work);
}

/* A flow gets later by what it is owed. */
static uint64_t payOwed(SambaShare *share, SambaFlow *flow) {
  uint64_t later = sambaTimeMin(flow->end + flow->owed, share->free);
  if (later > flow->end) {
    flow->owed -= later - flow->end;
    flow->end = later;
  }
  return flow->end;
}

/* The end of what a port has booked at the arrays of its slot, by now. */
static uint64_t arraysDoneAt(SambaEngine *engine, SambaActor *actor) {
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  SambaArrayRange arrays = arraysOf(engine, actor);
  uint64_t end = 0;
  for (uint32_t a = arrays.first; actor->work > fewVectors && a < arrays.end; ++a) {
    SambaShare *share = &buffer->arrays[a];
    SambaFlow *flow = &share->flows[actor->kind == SAMBA_ACTOR_READ];
    if (!flow->owed || flow->end != actor->arrays_end) /* others have booked since */
      continue;
    end = sambaTimeMax(end, payOwed(share, flow));
  }
  return end;
}

/* When the last vector that a write takes comes over the lanes that its stream shares, by now. Only
 * of the token that the stream has booked last. */
static uint64_t lanesPassedAt(SambaEngine *engine, const SambaActor *actor) {
  const SambaCursor *cursor = &engine->cursors[actor->inputs[0].taken];
  const SambaStreamState *stream = &engine->streams[cursor->stream];
  uint64_t way = engine->actors[stream->producer].latency + cursor->latency, end = 0;
  for (uint32_t i = 0; cursor->next == stream->pushed && i < stream->lane_count; ++i) {
    const SambaLaneUse *use = &stream->lanes[i];
    SambaShare *share = &engine->lanes[use->lane].share;
    end = sambaTimeMax(end, payOwed(share, &share->flows[use->flow]) - use->cycles + way);
  }
  return end;
}

bool sambaBufferPortMayGoOn(const SambaEngine *engine, const SambaActor *actor) {
  if (actor->kind == SAMBA_ACTOR_WRITE)
    return true;
  return actor->kind == SAMBA_ACTOR_READ && actor->work > fewVectors &&
         engine->machine->pmu_bank_arrays && engine->buffers[actor->unit].write_count;
}

bool sambaBufferPortGoesOn(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  uint64_t end = arraysDoneAt(engine, actor);
  if (end > actor->arrays_end) {
    delaySide(engine, actor, end - actor->arrays_end);
    actor->arrays_end = end;
  }
  if (actor->kind == SAMBA_ACTOR_WRITE)
    end = sambaTimeMax(end, lanesPassedAt(engine, actor));
  if (end <= actor->end_minimum)
    return false;
  actor->end_minimum = end;
  sambaEventsPush(&engine->events, end, sambaTarget(SAMBA_TARGET_ACTOR, actor_index));
  return true;
}

/* What a port of a buffer does when it begins with a token. */
void sambaBufferPortStart(SambaEngine *engine, SambaActor *actor) {
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  actor->has_booked = actor->has_looked = false;
  bookArrays(engine, actor);
  if (!engine->section->units[actor->unit].buffer.in_place)
    return;
  if (actor->kind == SAMBA_ACTOR_WRITE)
    followReads(engine, actor);
  else
    sambaEngineQueue(engine, buffer->actor_first);
}
