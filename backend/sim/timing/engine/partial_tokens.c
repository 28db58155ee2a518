/* Vectors whose times are known one by one; see partial_tokens.h. */
#include "backend/sim/timing/engine/partial_tokens.h"

#include "backend/section/access.h"
#include "backend/section/width.h"
#include "backend/sim/timing/engine/agenda.h"

#include <stdlib.h>

static SambaSegment *segmentAt(const SambaStreamState *stream, uint64_t token) {
  return &stream->ring[token & stream->ring_mask];
}

/* Does a unit make a vector of its result of each vector of some inputs? */
static bool passesOn(const SambaEngine *engine, const SambaActor *actor) {
  const SambaCompute *compute = &engine->section->units[actor->unit].compute;
  if (actor->kind != SAMBA_ACTOR_COMPUTE || compute->program.systolic ||
      compute->program.reduce_mask || actor->loop_cycles)
    return false;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (actor->inputs[i].period != 1)
      return false;
  return actor->output_count == 1 && actor->outputs[0].period == 1 &&
         actor->outputs[0].stream_count > 0;
}

/* Elements of a vector of a port. */
static uint64_t vectorElements(const SambaEngine *engine, const SambaUnit *unit,
                               const SambaPort *port) {
  if (engine->section->streams[port->streams[0]].kind == SAMBA_STREAM_SCALAR)
    return 1;
  uint64_t bytes = sambaPortVectorBytes(engine->section, unit, port, engine->machine);
  return sambaTimeMax(1, bytes / sambaDTypeBytes(port->dtype));
}

static SambaPassing *makePassing(SambaEngine *engine, const SambaActor *actor) {
  const SambaUnit *unit = &engine->section->units[actor->unit];
  const SambaCompute *compute = &unit->compute;
  SambaPassing *passing = SAMBA_ARENA_NEW(&engine->arena, SambaPassing);
  uint32_t inner = compute->counter_count;
  passing->points = sambaTripProduct(compute->trips, compute->token_level, inner);
  passing->row = inner > compute->token_level ? compute->trips[inner - 1] : 1;
  passing->lanes = actor->lanes;
  passing->step_cycles = actor->step_cycles;
  passing->made_elements = vectorElements(engine, unit, &unit->outputs[actor->outputs[0].port]);
  passing->used_elements = SAMBA_ARENA_ARRAY(&engine->arena, uint64_t, actor->input_count);

  /* Inputs of fewer elements are held, or come fast enough. */
  for (uint32_t i = 0; i < actor->input_count; ++i) {
    const SambaPort *port = &unit->inputs[actor->inputs[i].port];
    if (port->token_elements == passing->points)
      passing->used_elements[i] = vectorElements(engine, unit, port);
  }
  return passing;
}

static bool asks(const SambaEngine *engine, const SambaCursor *cursor) {
  const SambaActor *actor = &engine->actors[cursor->actor];
  if (actor->kind == SAMBA_ACTOR_STORE)
    return cursor->one_by_one;
  return actor->passing && engine->streams[actor->outputs[0].streams[0]].leads_to_store;
}

static bool leadsToStore(SambaEngine *engine, const SambaStreamState *stream) {
  bool leads = false;
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    leads |= cursor->asks = asks(engine, cursor);
  }
  return leads;
}

static bool comesFromLoad(const SambaEngine *engine, const SambaStreamState *stream) {
  const SambaActor *actor = &engine->actors[stream->producer];
  if (actor->kind == SAMBA_ACTOR_LOAD)
    return true;
  for (uint32_t i = 0; actor->passing && i < actor->input_count; ++i)
    if (actor->passing->used_elements[i] &&
        engine->streams[engine->cursors[actor->inputs[i].cursors[0]].stream].comes_from_load)
      return true;
  return false;
}

/* What comes from memory to this unit is not what it makes vectors of. */
static void stopPassing(SambaEngine *engine, SambaActor *actor) {
  actor->passing = NULL;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    for (uint32_t c = 0; c < actor->inputs[i].cursor_count; ++c)
      engine->cursors[actor->inputs[i].cursors[c]].asks = false;
}

void sambaPartialTokensBuild(SambaEngine *engine) {
  for (uint32_t a = 0; a < engine->actor_count; ++a)
    if (passesOn(engine, &engine->actors[a]))
      engine->actors[a].passing = makePassing(engine, &engine->actors[a]);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t s = 0; s < engine->section->stream_count; ++s) {
      SambaStreamState *stream = &engine->streams[s];
      if (engine->section->streams[s].kind == SAMBA_STREAM_CONTROL)
        continue;
      bool to = leadsToStore(engine, stream), from = comesFromLoad(engine, stream);
      changed |= to != stream->leads_to_store || from != stream->comes_from_load;
      stream->leads_to_store = to;
      stream->comes_from_load = from;
    }
  }
  for (uint32_t s = 0; s < engine->section->stream_count; ++s)
    engine->streams[s].tells =
        engine->streams[s].leads_to_store && engine->streams[s].comes_from_load;
  for (uint32_t a = 0; a < engine->actor_count; ++a) {
    SambaActor *actor = &engine->actors[a];
    if (actor->passing && !engine->streams[actor->outputs[0].streams[0]].tells)
      stopPassing(engine, actor);
  }
}

/* Vectors that nobody asks for any more. */
static uint64_t askedByAll(const SambaEngine *engine, const SambaStreamState *stream) {
  uint64_t least = stream->told;
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    if (cursor->asks)
      least = sambaTimeMin(least, cursor->asked);
  }
  return least;
}

/* Room for the time of another vector. */
static void makeRoom(const SambaEngine *engine, SambaStreamState *stream) {
  enum { fewVectors = 64 };
  uint64_t depth = sambaTimeMin((uint64_t)engine->machine->fifo_depth, stream->told);
  uint64_t from = sambaTimeMin(askedByAll(engine, stream), stream->told - depth);
  uint64_t size = stream->left_at ? stream->left_mask + 1 : 0;
  if (stream->told - from >= size / 2) { /* not much would be free */
    uint64_t more = size ? 2 * size : fewVectors;
    uint64_t *times = sambaAllocate(sambaArraySize(more, sizeof *times));
    for (uint64_t v = from; v < stream->told; ++v)
      times[v & (more - 1)] = stream->left_at[v & stream->left_mask];
    free(stream->left_at);
    stream->left_at = times;
    stream->left_mask = more - 1;
  }
  stream->left_end = from + stream->left_mask + 1;
}

void sambaPartialTokensAdd(SambaEngine *engine, uint32_t stream_index, uint64_t at) {
  SambaStreamState *stream = &engine->streams[stream_index];
  uint64_t depth = (uint64_t)engine->machine->fifo_depth;
  if (stream->told == stream->left_end)
    makeRoom(engine, stream);
  if (stream->link_cycles && stream->told >= depth)
    at = sambaTimeMax(at, stream->left_at[(stream->told - depth) & stream->left_mask] +
                              (uint64_t)engine->machine->credit_cycles);
  stream->left_at[stream->told++ & stream->left_mask] = at;
}

void sambaPartialTokensTell(SambaEngine *engine, uint32_t stream_index) {
  SambaStreamState *stream = &engine->streams[stream_index];
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    if (!cursor->asks)
      continue;
    if (engine->actors[cursor->actor].kind == SAMBA_ACTOR_STORE)
      sambaEngineQueue(engine, cursor->actor);
    else
      sambaPartialTokensPass(engine, cursor->actor);
  }
}

void sambaPartialTokensEnd(SambaEngine *engine, uint32_t stream_index, uint64_t last) {
  SambaStreamState *stream = &engine->streams[stream_index];
  uint64_t end = stream->pushed * stream->vectors, left = end - sambaTimeMin(stream->told, end);
  if (!left)
    return;
  const SambaSegment *segment = segmentAt(stream, stream->pushed - 1);
  bool begun = left < stream->vectors;
  uint64_t from = begun ? stream->left_at[(stream->told - 1) & stream->left_mask] : segment->first;
  uint64_t steps = left - !begun, to = sambaTimeMax(from, last - 1);
  for (uint64_t v = 0; v < left; ++v)
    sambaPartialTokensAdd(engine, stream_index,
                          from + (steps ? sambaTimeScale(to - from, v + begun, steps) : 0));
  sambaPartialTokensTell(engine, stream_index);
}

uint64_t sambaPartialTokensArrival(const SambaEngine *engine, const SambaCursor *cursor,
                                   uint64_t number) {
  const SambaStreamState *stream = &engine->streams[cursor->stream];
  if (number >= stream->told)
    return SAMBA_TIME_UNKNOWN;
  return stream->left_at[number & stream->left_mask] + cursor->latency;
}

/* When vector `v` arrives of the token that an input has taken. */
static uint64_t arrivalOf(const SambaEngine *engine, SambaCursor *cursor, uint64_t v) {
  const SambaStreamState *stream = &engine->streams[cursor->stream];
  uint64_t token = cursor->next - 1;
  if (stream->tells) {
    cursor->asked = token * stream->vectors + v;
    return sambaPartialTokensArrival(engine, cursor, cursor->asked);
  }
  if (cursor->waiting)
    return SAMBA_TIME_UNKNOWN;
  return 0;
}

/* When a step has all of its inputs, up to point `end` of the firing. */
static uint64_t stepAt(SambaEngine *engine, const SambaActor *actor, uint64_t end) {
  const SambaPassing *passing = actor->passing;
  uint64_t at = passing->free_at;
  for (uint32_t i = 0; i < actor->input_count; ++i) {
    if (!passing->used_elements[i])
      continue;
    SambaCursor *cursor = &engine->cursors[actor->inputs[i].taken];
    at = sambaTimeMax(at, arrivalOf(engine, cursor, (end - 1) / passing->used_elements[i]));
  }
  return at;
}

void sambaPartialTokensPass(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaPassing *passing = actor->passing;
  const SambaActorOutput *output = &actor->outputs[0];
  if (!actor->running || output->token != SAMBA_TOKEN_OPEN || passing->at == passing->points)
    return;

  uint64_t vectors = engine->streams[output->open_stream].vectors, before = passing->made;
  while (passing->at < passing->points) {
    uint64_t points = sambaTimeMin(passing->lanes, passing->row - passing->row_at);
    uint64_t end = passing->at + points;
    uint64_t at = stepAt(engine, actor, end);
    if (at == SAMBA_TIME_UNKNOWN)
      break;
    passing->free_at = at + passing->step_cycles;
    passing->at = end;
    passing->row_at += points;
    if (passing->row_at == passing->row)
      passing->row_at = 0;
    uint64_t made = end == passing->points ? vectors : end / passing->made_elements;
    for (uint64_t left = at + actor->latency; passing->made < made; ++passing->made)
      sambaPartialTokensAdd(engine, output->open_stream, left++);
  }

  if (passing->at == passing->points)
    actor->end_minimum = sambaTimeMax(actor->end_minimum, passing->free_at);
  if (passing->made > before)
    sambaPartialTokensTell(engine, output->open_stream);
}

void sambaPartialTokensBegin(SambaEngine *engine, uint32_t actor_index) {
  SambaPassing *passing = engine->actors[actor_index].passing;
  passing->at = passing->row_at = passing->made = 0;
  passing->free_at = engine->now;
  sambaPartialTokensPass(engine, actor_index);
}
