/* Firings of COMPUTE actors and BUFFER ports; see firing.h.
 *
 * A firing costs at most three events: a wake-up when its inputs arrive in the future, its end, and
 * the wake-up of a neighbour. Everything else happens at the moment of one of these. */
#include "backend/sim/timing/engine/firing.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/tokens.h"

/* Tokens that take no more cycles of a memory hold its side while they wait for an array. */
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
static uint64_t firstFollow(SambaEngine *engine, const SambaActor *write) {
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
static void tellFollower(SambaEngine *engine, SambaActor *read) {
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
static bool slotIsReady(SambaEngine *engine, const SambaActor *actor) {
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

static void finishSlot(SambaEngine *engine, SambaActor *actor) {
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

/* Is a token of this output due at the end of the running firing? */
static bool makesToken(const SambaActorOutput *output) {
  return output->stream_count && output->phase + 1 == output->period;
}

/* Cycles that the firing occupies its unit: its own work, or the slowest port. */
static uint64_t firingDuration(SambaEngine *engine, const SambaActor *actor) {
  uint64_t duration = actor->work;

  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (actor->inputs[i].phase == 0)
      duration = sambaTimeMax(
          duration, engine->streams[sambaInputCursor(engine, &actor->inputs[i])->stream].cycles);

  for (uint32_t o = 0; o < actor->output_count; ++o) {
    const SambaActorOutput *output = &actor->outputs[o];
    if (makesToken(output))
      duration = sambaTimeMax(duration, engine->streams[output->streams[output->current]].cycles);
  }

  return duration;
}

/* The end of a booking that follows those before it. */
static uint64_t book(uint64_t *free, uint64_t now, uint64_t cycles) {
  return *free = sambaTimeMax(*free, now) + cycles;
}

/* All read ports of a buffer share one side of the memory, all write ports the other. Both sides
 * share the arrays. A vector needs its side and its array in one cycle: a token of few vectors
 * waits for both; while a longer one waits for an array, its side serves others. */
static void bookMemory(SambaEngine *engine, SambaActor *actor) {
  const SambaUnit *unit = &engine->section->units[actor->unit];
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  uint64_t *side = read ? &buffer->read_side_free : &buffer->write_side_free;
  SambaArrayRange arrays =
      sambaSlotArrays(&buffer->placement, actor->slots % unit->buffer.slot_count);
  bool together = actor->work <= fewVectors;
  uint64_t from = engine->now;

  for (uint32_t a = arrays.first; together && a < arrays.end; ++a)
    from = sambaTimeMax(from, buffer->array_free[a]);
  actor->end_minimum = book(side, from, actor->work);
  if (together)
    from = actor->end_minimum - actor->work;
  for (uint32_t a = arrays.first; a < arrays.end; ++a)
    actor->end_minimum =
        sambaTimeMax(actor->end_minimum, book(&buffer->array_free[a], from, actor->work));
}

/* What a port of a buffer does when it begins with a token. */
static void startPort(SambaEngine *engine, SambaActor *actor) {
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  bookMemory(engine, actor);
  if (!engine->section->units[actor->unit].buffer.in_place)
    return;
  if (actor->kind == SAMBA_ACTOR_WRITE)
    followReads(engine, actor);
  else
    sambaEngineQueue(engine, buffer->actor_first);
}

/* When the last vector of a firing that ends at `end` has left the pipeline. */
static uint64_t lastMade(const SambaActor *actor, const SambaActorOutput *output, uint64_t end) {
  return (uint64_t)((int64_t)(end + actor->latency) + output->last_shift);
}

/* Lets the token leave whose first vector is made some time after the firing began. */
static void openToken(SambaEngine *engine, SambaActor *actor, SambaActorOutput *output) {
  SambaStreamState *stream = &engine->streams[output->open_stream];
  output->token = SAMBA_TOKEN_OPEN;
  uint64_t booked = actor->end_minimum > actor->start ? actor->end_minimum - actor->start : 0;
  uint64_t expected = sambaTimeMax(actor->duration, booked);
  uint64_t first = actor->start +
                   sambaTimeScale(expected, output->first_numerator, output->first_denominator) +
                   actor->latency;
  uint64_t last =
      sambaTimeMax(lastMade(actor, output, actor->start + expected), first + stream->cycles);
  sambaStreamPush(engine, output->open_stream, first, last);
  if (stream->needs_acceptance)
    ++actor->pending;
}

/* Begins the token that the firing makes. A token whose first vector comes late is pushed when the
 * firing's end is known, if it is sure to be accepted. */
static void beginToken(SambaEngine *engine, SambaActor *actor, SambaActorOutput *output) {
  uint32_t index = output->open_stream = sambaOutputNextStream(output);
  SambaStreamState *stream = &engine->streams[index];
  actor->end_minimum = sambaTimeMax(actor->end_minimum, sambaStreamBookLanes(engine, index));

  bool late = output->first_numerator * 2 > output->first_denominator;
  if (late && sambaStreamRoom(engine, index) >= (int64_t)stream->vectors)
    output->token = SAMBA_TOKEN_DEFERRED;
  else
    openToken(engine, actor, output);
}

bool sambaFiringOpenLate(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  bool opened = false;
  for (uint32_t o = 0; o < actor->output_count && actor->running && actor->pending; ++o)
    if (actor->outputs[o].token == SAMBA_TOKEN_DEFERRED) {
      openToken(engine, actor, &actor->outputs[o]);
      opened = true;
    }
  return opened;
}

/* A unit in a loop of streams ends no earlier than the loop lets its vectors pass: at the loop's
 * pace, once what fits on it has passed at the unit's own. */
static void keepPace(const SambaEngine *engine, SambaActor *actor) {
  actor->loop_at = sambaTimeMax(actor->loop_at, engine->now) + actor->loop_cycles;
  uint64_t at = actor->loop_at - sambaTimeMin(actor->loop_slack, actor->loop_at);
  if (at > engine->now)
    actor->duration = sambaTimeMax(actor->duration, at - engine->now);
}

static void startFiring(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  sambaActorWait(engine, actor, SAMBA_WAIT_NONE);
  actor->running = true;
  actor->resolved = false;
  actor->start = engine->now;
  actor->end_minimum = 0;
  if (actor->port_cycles)
    actor->work = sambaPortTokenCycles(actor->port_cycles, actor->next);
  actor->duration = firingDuration(engine, actor);
  if (actor->kind != SAMBA_ACTOR_COMPUTE)
    startPort(engine, actor);
  if (actor->loop_cycles)
    keepPace(engine, actor);

  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (actor->inputs[i].phase == 0)
      sambaInputTake(engine, actor_index, &actor->inputs[i], actor->duration);
  for (uint32_t o = 0; o < actor->output_count; ++o)
    if (makesToken(&actor->outputs[o]))
      beginToken(engine, actor, &actor->outputs[o]);

  if (!actor->pending)
    sambaEngineQueue(engine, actor_index);
}

static void tryToStart(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  if (actor->next == actor->firings)
    return;
  if (actor->kind != SAMBA_ACTOR_COMPUTE && !slotIsReady(engine, actor)) {
    sambaActorWait(engine, actor,
                   actor->kind == SAMBA_ACTOR_READ ? SAMBA_WAIT_INPUT : SAMBA_WAIT_OUTPUT);
    return;
  }

  uint64_t at = engine->now;
  if (actor->kind == SAMBA_ACTOR_WRITE && engine->section->units[actor->unit].buffer.in_place)
    at = firstFollow(engine, actor);
  for (uint32_t i = 0; i < actor->input_count; ++i) {
    SambaActorInput *input = &actor->inputs[i];
    if (input->phase)
      continue;
    const SambaSegment *segment = sambaInputSegment(engine, input);
    if (!segment) {
      sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
      return;
    }
    at = sambaTimeMax(at, segment->first + sambaInputCursor(engine, input)->latency);
  }

  for (uint32_t o = 0; o < actor->output_count; ++o) {
    SambaActorOutput *output = &actor->outputs[o];
    if (!makesToken(output))
      continue;
    if (sambaStreamRoom(engine, output->streams[output->current]) <= 0) {
      sambaActorWait(engine, actor, SAMBA_WAIT_OUTPUT);
      return;
    }
  }

  if (at > engine->now) {
    sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
    sambaEngineWake(engine, actor_index, at);
    return;
  }

  startFiring(engine, actor_index);
}

/* Every constraint is known: so are the firing's end and the ends of its tokens. */
static void resolveFiring(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  uint64_t end = sambaTimeMax(actor->start + actor->duration, actor->end_minimum);

  end = sambaTimeMax(end, engine->now);
  actor->resolved = true;
  actor->end_minimum = end;
  if (actor->followed)
    tellFollower(engine, actor);
  for (uint32_t o = 0; o < actor->output_count; ++o) {
    SambaActorOutput *output = &actor->outputs[o];
    if (output->token == SAMBA_TOKEN_NONE)
      continue;
    uint64_t first =
        actor->start +
        sambaTimeScale(end - actor->start, output->first_numerator, output->first_denominator) +
        actor->latency;
    uint64_t last = sambaTimeMax(lastMade(actor, output, end),
                                 first + engine->streams[output->open_stream].cycles);
    if (output->token == SAMBA_TOKEN_DEFERRED)
      sambaStreamPush(engine, output->open_stream, first, last);
    output->token = SAMBA_TOKEN_NONE;
    sambaStreamEndToken(engine, output->open_stream, last);
    if (actor->next + 1 == actor->firings)
      engine->finish = sambaTimeMax(engine->finish, last);
  }

  sambaEventsPush(&engine->events, end, sambaTarget(SAMBA_TARGET_ACTOR, actor_index));
}

void sambaFiringEnd(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  uint64_t nominal = sambaTimeMin(actor->duration, engine->now - actor->start);

  actor->running = false;
  actor->busy += nominal;
  actor->waits[actor->kind == SAMBA_ACTOR_READ ? SAMBA_WAIT_OUTPUT : SAMBA_WAIT_INPUT] +=
      engine->now - actor->start - nominal;
  actor->mark = engine->now;
  engine->flops += actor->flops;
  engine->multiply_adds += actor->multiply_adds;
  ++actor->next;
  ++actor->done;
  if (actor->wrap_flops && actor->next % actor->wrap_period == 0)
    engine->flops += actor->wrap_flops;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (++actor->inputs[i].phase == actor->inputs[i].period)
      actor->inputs[i].phase = 0;
  for (uint32_t o = 0; o < actor->output_count; ++o)
    if (++actor->outputs[o].phase == actor->outputs[o].period)
      actor->outputs[o].phase = 0;
  if (actor->slot_period && ++actor->slot_phase == actor->slot_period) {
    actor->slot_phase = 0;
    finishSlot(engine, actor);
  }

  if (engine->on_firing)
    engine->on_firing(engine->user, actor->unit, actor->start, engine->now);
  if (actor->next == actor->firings)
    sambaActorFinish(engine, engine->now);
  else
    sambaEngineQueue(engine, actor_index);
}

void sambaFiringProcess(SambaEngine *engine, uint32_t actor_index) {
  const SambaActor *actor = &engine->actors[actor_index];
  if (!actor->running)
    tryToStart(engine, actor_index);
  else if (!actor->resolved && !actor->pending && actor->done < actor->limit)
    resolveFiring(engine, actor_index);
}
