/* Ports of buffers; see buffer_port.h. */
#include "backend/sim/timing/engine/buffer_port.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/array_walk.h"
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
  const SambaBufferState *buffer = &engine->buffers[write->unit];
  uint64_t empty = buffer->lent ? 0 : buffer->slots * write->slot_period;
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
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  if (actor->kind == SAMBA_ACTOR_READ)
    return !buffer->write_count || actor->slots < buffer->written + buffer->lent;
  if (!actor->in_place)
    return !buffer->read_count || actor->slots < buffer->released + buffer->slots - buffer->lent;

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
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  return sambaSlotArrays(&buffer->placement, actor->slots % buffer->slots);
}

/* At an array reads go first: their turns are as long as they like. */
static float turnOf(const SambaActor *actor) {
  enum { readTurn = 1 << 20 };
  return actor->kind == SAMBA_ACTOR_READ ? readTurn : 1;
}

/* A token of few vectors has its side and its array in the same cycles: both are booked at once.
 * When: no earlier than `from`. */
static uint64_t bookTogether(SambaEngine *engine, const SambaActor *actor, uint64_t from) {
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  SambaArrayRange arrays = arraysOf(engine, actor);
  bool read = actor->kind == SAMBA_ACTOR_READ;
  for (uint32_t a = arrays.first; a < arrays.end; ++a) {
    from = sambaTimeMax(from, buffer->arrays[a].free);
    if (!read)
      from = sambaTimeMax(from, buffer->arrays[a].flows[true].end);
  }

  uint64_t end = from + actor->work;
  for (uint32_t a = arrays.first; a < arrays.end; ++a) {
    buffer->arrays[a].free = end;
    sambaShareTake(&buffer->arrays[a], read, from, end, turnOf(actor));
  }
  return from;
}

/* The cycles of the port's next token, and of its vectors where these do not take one each. */
static void setTokenCycles(const SambaEngine *engine, SambaActor *actor) {
  bool read = actor->kind == SAMBA_ACTOR_READ;
  uint32_t stream =
      read ? actor->outputs[0].stream : engine->cursors[actor->inputs[0].cursor].stream;
  uint64_t vectors = engine->streams[stream].vectors, counted = vectors;
  if (actor->next && !actor->tokens_differ)
    return;
  if (actor->tokens_differ)
    actor->work = sambaPortTokenCycles(actor->port_cycles, actor->next);
  actor->vector_cycles = NULL;
  if (actor->work != vectors)
    actor->vector_cycles = sambaPortVectorCycles(actor->port_cycles, actor->next, &counted);
  if (counted != vectors)
    actor->vector_cycles = NULL;
  if (read && actor->vector_cycles) {
    actor->outputs[0].first_numerator = actor->vector_cycles[0] - 1;
    actor->outputs[0].first_denominator = actor->work;
  }
}

/* A token goes before those of later slots that have not begun. When: no later than `from`. */
static uint64_t goBeforeLaterSlots(SambaEngine *engine, const SambaActor *actor, uint64_t from) {
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  uint32_t first = buffer->actor_first + (read ? buffer->write_count : 0);
  uint32_t end = first + (read ? buffer->read_count : buffer->write_count);
  for (uint32_t i = first; i < end; ++i) {
    SambaActor *other = &engine->actors[i];
    if (!other->has_booked || other->slots <= actor->slots || other->booked_at <= engine->now)
      continue;
    from = sambaTimeMin(from, other->booked_at);
    other->booked_at += actor->work;
  }
  return from;
}

/* Data from memory come with gaps, in which the side of a buffer takes those of other ports. */
static bool comesWithGaps(const SambaEngine *engine, const SambaActor *write) {
  const SambaCursor *cursor = &engine->cursors[write->inputs[0].cursor];
  return engine->actors[engine->streams[cursor->stream].producer].kind == SAMBA_ACTOR_LOAD;
}

/* Vectors of its next token that a read is rid of at once: the ways to its takers hold so many more
 * than what these have not used yet of the token before it. */
static uint64_t readAtOnce(const SambaEngine *engine, uint32_t index) {
  const SambaStreamState *stream = &engine->streams[index];
  uint64_t used_for = engine->now - sambaTimeMin(stream->taken_at, engine->now);
  uint64_t cycles_left = stream->pushed ? stream->pace - sambaTimeMin(used_for, stream->pace) : 0;
  int64_t room = sambaStreamRoom(engine, index) -
                 (int64_t)sambaTimeScale(stream->vectors, cycles_left, stream->pace);
  return sambaTimeMin(room > 0 ? (uint64_t)room : 0, stream->vectors);
}

/* From when on the next token of a read leaves gaps: what the ways to its takers do not hold is
 * read as they use it. SAMBA_TIME_UNKNOWN: it leaves none. */
static uint64_t gapsFrom(const SambaEngine *engine, const SambaActor *read) {
  uint32_t index = read->outputs[0].stream;
  const SambaStreamState *stream = &engine->streams[index];
  if (read->work <= fewVectors || stream->pace <= read->work)
    return SAMBA_TIME_UNKNOWN;
  for (uint32_t c = 0; c < stream->cursor_count; ++c)
    if (engine->cursors[stream->cursor_first + c].capacity < stream->vectors)
      return read->booked_at +
             sambaTimeScale(read->work, readAtOnce(engine, index), stream->vectors);
  return SAMBA_TIME_UNKNOWN;
}

/* The part of a side's cycles that a read asks for while its takers use what it reads. */
static double partOfSide(const SambaEngine *engine, const SambaActor *read) {
  const SambaStreamState *stream = &engine->streams[read->outputs[0].stream];
  uint64_t cycles = sambaTimeMax(stream->pace + stream->pace / stream->vectors, read->work);
  return sambaNumberOf(read->work) / sambaNumberOf(cycles);
}

/* From when on a read finds the gaps that it needs between all those that come before it;
 * SAMBA_TIME_UNKNOWN: they leave too few. */
static uint64_t inGapsFrom(SambaEngine *engine, const SambaActor *actor) {
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  uint64_t from = engine->now;
  double parts = partOfSide(engine, actor);
  for (uint32_t i = 0; i < buffer->read_count; ++i) {
    const SambaActor *other = readPort(engine, buffer, i);
    if (other == actor || (!other->running && !other->has_booked))
      continue;
    from = sambaTimeMax(from, other->gaps_from);
    parts += partOfSide(engine, other);
  }
  return parts > 1 + 1e-6 ? SAMBA_TIME_UNKNOWN : from;
}

/* All read ports of a buffer share one side of the memory, all write ports the other. A token books
 * its cycles when it comes, and begins when the tokens before it have had theirs, or in the gaps
 * that they leave: then it is done no earlier than all of them can be. */
static uint64_t bookSide(SambaEngine *engine, SambaActor *actor) {
  if (actor->has_booked)
    return actor->booked_at;
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  uint64_t *side = read ? &buffer->read_side_free : &buffer->write_side_free;
  setTokenCycles(engine, actor);

  uint64_t from = sambaTimeMax(*side, engine->now);
  if (actor->work > fewVectors)
    from = goBeforeLaterSlots(engine, actor, from);
  actor->served_at = from;
  if (!read && actor->work > fewVectors && comesWithGaps(engine, actor))
    from = engine->now;
  *side = sambaTimeMax(*side, engine->now) + actor->work;
  actor->side_end = 0;
  uint64_t in_gaps = read && from > engine->now ? inGapsFrom(engine, actor) : from;
  if (in_gaps < from && actor->work > fewVectors) {
    from = in_gaps;
    actor->side_end = *side;
  }
  actor->booked_at = actor->work <= fewVectors ? bookTogether(engine, actor, from) : from;
  actor->gaps_from = read ? gapsFrom(engine, actor) : SAMBA_TIME_UNKNOWN;
  actor->has_booked = true;
  actor->booked = *side - engine->now;
  return actor->booked_at;
}

/* Is a read about to begin with a token in this cycle? */
static bool isAboutToBegin(SambaEngine *engine, const SambaActor *read) {
  return !read->running && read->next < read->firings && sambaBufferPortMayBegin(engine, read) &&
         sambaStreamRoom(engine, read->outputs[0].stream) > 0;
}

/* Do reads use the arrays of a write port's slot in this cycle? */
static bool readsUseArrays(SambaEngine *engine, const SambaActor *write) {
  const SambaBufferState *buffer = &engine->buffers[write->unit];
  SambaArrayRange arrays = arraysOf(engine, write);
  for (uint32_t a = arrays.first; a < arrays.end; ++a)
    if (buffer->arrays[a].flows[true].end > engine->now)
      return true;

  for (uint32_t i = 0; i < buffer->read_count; ++i) {
    const SambaActor *read = readPort(engine, buffer, i);
    SambaArrayRange others = arraysOf(engine, read);
    if (others.first < arrays.end && arrays.first < others.end && isAboutToBegin(engine, read))
      return true;
  }
  return false;
}

/* A write whose arrays are busy when it is its turn lets another one go first whose arrays are
 * free. */
static uint64_t letGoFirst(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  uint32_t first = buffer->actor_first, best = SAMBA_NO_INDEX;
  for (uint32_t i = first; i < first + buffer->write_count; ++i) {
    const SambaActor *other = &engine->actors[i];
    if (!other->has_booked || other->booked_at <= engine->now || readsUseArrays(engine, other))
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

/* The same where reads and writes are walked. A read may get there in the same cycle. */
static uint64_t walkedTurn(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  if (!actor->has_booked)
    setTokenCycles(engine, actor);
  actor->has_booked = true;
  uint64_t at = sambaArrayWalkFrom(engine, actor);
  if (at > engine->now || actor->kind == SAMBA_ACTOR_READ || actor->has_looked)
    return at;
  const SambaActor *read = readPort(engine, buffer, 0);
  SambaArrayRange own = arraysOf(engine, actor), its = arraysOf(engine, read);
  if (its.first >= own.end || own.first >= its.end || !isAboutToBegin(engine, read))
    return at;
  actor->has_looked = true;
  sambaEngineWake(engine, actor_index, engine->now);
  return SAMBA_TIME_UNKNOWN;
}

/* The turn of a port at its side of the memory, if it may begin with its next token. Others may get
 * there in the same cycle, so a write looks at them twice. */
uint64_t sambaBufferPortTurn(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  if (buffer->walk)
    return walkedTurn(engine, actor_index);
  uint64_t at = bookSide(engine, actor);
  bool alone = actor->kind == SAMBA_ACTOR_READ || buffer->write_count < 2;
  if (at > engine->now || alone || actor->work <= fewVectors || !engine->machine->pmu_bank_arrays)
    return at;
  if (actor->has_looked)
    return readsUseArrays(engine, actor) ? letGoFirst(engine, actor_index) : at;
  actor->has_looked = true;
  sambaEngineWake(engine, actor_index, engine->now);
  return SAMBA_TIME_UNKNOWN;
}

/* A write waits for its arrays for longer than it has booked. Meanwhile its side serves others that
 * use other arrays; without such a port, all that come behind it begin later. */
static void delayWrites(SambaEngine *engine, const SambaActor *write, uint64_t cycles) {
  SambaBufferState *buffer = &engine->buffers[write->unit];
  uint32_t first = buffer->actor_first, end = first + buffer->write_count;
  SambaArrayRange arrays = arraysOf(engine, write);
  for (uint32_t i = first; i < end; ++i) {
    SambaArrayRange others = arraysOf(engine, &engine->actors[i]);
    if (others.first >= arrays.end || arrays.first >= others.end)
      return;
  }

  buffer->write_side_free += cycles;
  for (uint32_t i = first; i < end; ++i)
    if (engine->actors[i].has_booked)
      engine->actors[i].booked_at += cycles;
}

static void bookArrays(SambaEngine *engine, SambaActor *actor) {
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  SambaArrayRange arrays = arraysOf(engine, actor);
  uint64_t served_by = sambaTimeMax(actor->booked_at + actor->work, actor->side_end);
  actor->end_minimum = sambaTimeMax(actor->end_minimum, served_by);
  if (actor->work <= fewVectors)
    return;
  for (uint32_t a = arrays.first; a < arrays.end; ++a) {
    const SambaFlow *flow =
        sambaShareBook(&buffer->arrays[a], read, engine->now, actor->work, 0, turnOf(actor));
    actor->arrays_end = flow->end;
    actor->end_minimum = sambaTimeMax(actor->end_minimum, flow->end);
  }
  uint64_t served = sambaTimeMax(engine->now, actor->served_at) + actor->work;
  if (!read && actor->arrays_end > served)
    delayWrites(engine, actor, actor->arrays_end - served);
}

/* The end of what a write has booked at the arrays of its slot, with what reads took since. */
static uint64_t arraysDoneAt(SambaEngine *engine, const SambaActor *write) {
  SambaBufferState *buffer = &engine->buffers[write->unit];
  SambaArrayRange arrays = arraysOf(engine, write);
  uint64_t end = 0;
  for (uint32_t a = arrays.first; write->work > fewVectors && a < arrays.end; ++a) {
    SambaFlow *flow = &buffer->arrays[a].flows[false];
    if (!flow->owed || flow->end != write->arrays_end) /* others have booked since */
      continue;
    sambaFlowPay(flow);
    end = sambaTimeMax(end, flow->end);
  }
  return end;
}

/* When the last vector that a write takes comes over the lanes that its stream shares, by now. Only
 * of the token that the stream has booked last. */
static uint64_t lanesPassedAt(SambaEngine *engine, const SambaActor *actor) {
  const SambaCursor *cursor = &engine->cursors[actor->inputs[0].taken];
  const SambaStreamState *stream = &engine->streams[cursor->stream];
  if (cursor->next != stream->pushed || !stream->lane_count)
    return 0;
  return sambaStreamPassedAt(stream) + engine->actors[stream->producer].latency + cursor->latency;
}

/* When a read is rid of the token that it makes, by now. */
static uint64_t ridOfTokenAt(SambaEngine *engine, const SambaActor *actor) {
  const SambaActorOutput *output = &actor->outputs[0];
  if (output->token != SAMBA_TOKEN_OPEN)
    return 0;
  return sambaStreamPassLanes(engine, output->open_stream,
                              &engine->streams[output->open_stream].passed_at);
}

bool sambaBufferPortMayGoOn(const SambaEngine *engine, const SambaActor *actor) {
  if (actor->kind == SAMBA_ACTOR_WRITE)
    return true;
  if (actor->kind != SAMBA_ACTOR_READ || actor->work <= fewVectors)
    return false;
  const SambaActorOutput *output = &actor->outputs[0];
  return output->token == SAMBA_TOKEN_OPEN && engine->streams[output->open_stream].lane_count;
}

static uint64_t writeDoneAt(SambaEngine *engine, SambaActor *write) {
  if (engine->buffers[write->unit].walk)
    return sambaTimeMax(sambaArrayWalkWritten(engine, write), lanesPassedAt(engine, write));
  uint64_t end = arraysDoneAt(engine, write);
  if (end > write->arrays_end) {
    delayWrites(engine, write, end - write->arrays_end);
    write->arrays_end = end;
  }
  return sambaTimeMax(end, lanesPassedAt(engine, write));
}

bool sambaBufferPortGoesOn(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  bool write = actor->kind == SAMBA_ACTOR_WRITE;
  uint64_t end = write ? writeDoneAt(engine, actor) : ridOfTokenAt(engine, actor);
  if (end <= actor->end_minimum)
    return false;
  actor->end_minimum = end;
  sambaEventsPush(&engine->events, end, sambaTarget(SAMBA_TARGET_ACTOR, actor_index));
  return true;
}

static void beginWalked(SambaEngine *engine, SambaActor *actor) {
  bool read = actor->kind == SAMBA_ACTOR_READ;
  int64_t room = read ? sambaStreamRoom(engine, actor->outputs[0].stream) : 0;
  sambaArrayWalkBegin(engine, actor, room > 0 ? (uint64_t)room : 0);
}

/* What a port of a buffer does when it begins with a token. */
void sambaBufferPortStart(SambaEngine *engine, SambaActor *actor) {
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  actor->has_booked = actor->has_looked = false;
  if (buffer->walk)
    beginWalked(engine, actor);
  else
    bookArrays(engine, actor);
  if (!actor->in_place)
    return;
  if (actor->kind == SAMBA_ACTOR_WRITE)
    followReads(engine, actor);
  else
    sambaEngineQueue(engine, buffer->actor_first);
}
