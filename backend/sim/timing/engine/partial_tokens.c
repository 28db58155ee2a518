/* Vectors whose times are known one by one; see partial_tokens.h. */
#include "backend/sim/timing/engine/partial_tokens.h"

#include "backend/section/access.h"
#include "backend/section/pcu.h"
#include "backend/section/width.h"
#include "backend/sim/timing/engine/agenda.h"

#include <stdlib.h>

static SambaSegment *segmentAt(const SambaStreamState *stream, uint64_t token) {
  return &stream->ring[token & stream->ring_mask];
}

/* Elements of a vector of a port. */
static uint64_t vectorElements(const SambaEngine *engine, const SambaUnit *unit,
                               const SambaPort *port) {
  if (engine->section->streams[port->streams[0]].kind == SAMBA_STREAM_SCALAR)
    return 1;
  uint64_t bytes = sambaPortVectorBytes(engine->section, unit, port, engine->machine);
  return sambaTimeMax(1, bytes / sambaDTypeBytes(port->dtype));
}

/* Does each firing of a unit make a token of each output from a token of each input? Then its steps
 * can be walked. */
static bool canBeWalked(const SambaEngine *engine, const SambaActor *actor) {
  const SambaUnit *unit = &engine->section->units[actor->unit];
  if (actor->kind != SAMBA_ACTOR_COMPUTE || unit->compute.program.systolic || actor->loop_cycles)
    return false;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (actor->inputs[i].period != 1 && !actor->inputs[i].is_late)
      return false;
  uint64_t reduced = sambaPcuReduced(unit);
  for (uint32_t c = 0; c < unit->compute.token_level; ++c)
    if (reduced >> c & 1)
      return false;
  for (uint32_t o = 0; o < actor->output_count; ++o)
    if (actor->outputs[o].period != 1 || actor->outputs[o].stream_count != 1)
      return false;
  return true;
}

/* Does each step make a vector of an output, so that they come as evenly as those that it uses? */
static bool stepsMakeVectors(const SambaEngine *engine, const SambaActor *actor,
                             const SambaActorOutput *output) {
  const SambaUnit *unit = &engine->section->units[actor->unit];
  const SambaCompute *compute = &unit->compute;
  uint32_t inner = compute->counter_count;
  uint64_t row = inner > compute->token_level ? compute->trips[inner - 1] : 1;
  uint64_t rows = sambaTripProduct(compute->trips, compute->token_level, inner) / row;
  return !output->is_result &&
         actor->lanes == vectorElements(engine, unit, &unit->outputs[output->turns->port]) &&
         (rows == 1 || row % actor->lanes == 0);
}

static void findWalk(SambaEngine *engine, SambaActor *actor) {
  if (!canBeWalked(engine, actor))
    return;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    for (uint32_t c = 0; c < actor->inputs[i].cursor_count; ++c)
      engine->cursors[actor->inputs[i].cursors[c]].is_walked = !actor->inputs[i].is_late;
  for (uint32_t o = 0; o < actor->output_count; ++o)
    actor->outputs[o].is_even = stepsMakeVectors(engine, actor, &actor->outputs[o]);
}

static bool isWalked(const SambaEngine *engine, const SambaActorInput *input) {
  return engine->cursors[input->cursors[0]].is_walked;
}

/* A port of a buffer with vectors that take more than a cycle. */
static bool hasConflicts(const SambaActor *port, const SambaStreamState *stream) {
  return port->tokens_differ || port->work != stream->vectors;
}

static bool wants(const SambaEngine *engine, const SambaStreamState *stream,
                  const SambaCursor *cursor) {
  const SambaActor *actor = &engine->actors[cursor->actor];
  bool wanted = false;
  switch (actor->kind) {
  case SAMBA_ACTOR_STORE:
    return cursor->one_by_one;
  case SAMBA_ACTOR_WRITE:
    return engine->buffers[actor->unit].walk || hasConflicts(actor, stream);
  default:
    for (uint32_t o = 0; cursor->is_walked && o < actor->output_count; ++o)
      wanted |= engine->streams[actor->outputs[o].stream].is_wanted || !actor->outputs[o].is_even;
    return wanted;
  }
}

static bool isWanted(SambaEngine *engine, const SambaStreamState *stream) {
  bool wanted = false;
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    wanted |= cursor->asks = wants(engine, stream, cursor);
  }
  return wanted;
}

static bool isUneven(const SambaEngine *engine, const SambaStreamState *stream) {
  const SambaActor *actor = &engine->actors[stream->producer];
  if (actor->kind == SAMBA_ACTOR_LOAD)
    return true;
  if (actor->kind == SAMBA_ACTOR_READ)
    return hasConflicts(actor, stream);
  bool uneven = false, walked = false;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    for (uint32_t c = 0; isWalked(engine, &actor->inputs[i]) && c < actor->inputs[i].cursor_count;
         ++c) {
      walked = true;
      uneven |= engine->streams[engine->cursors[actor->inputs[i].cursors[c]].stream].is_uneven;
    }
  for (uint32_t o = 0; walked && o < actor->output_count; ++o)
    if (&engine->streams[actor->outputs[o].stream] == stream)
      uneven |= !actor->outputs[o].is_even;
  return uneven;
}

/* Is somebody told when vectors of a unit come that can be walked, or is it told? */
static bool joinsIn(SambaEngine *engine, const SambaActor *actor) {
  bool joins = false, walked = false;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    for (uint32_t c = 0; c < actor->inputs[i].cursor_count; ++c) {
      const SambaCursor *cursor = &engine->cursors[actor->inputs[i].cursors[c]];
      walked |= cursor->is_walked;
      joins |= cursor->asks && engine->streams[cursor->stream].tells;
    }
  for (uint32_t o = 0; walked && o < actor->output_count; ++o)
    joins |= engine->streams[actor->outputs[o].stream].tells;
  return walked && joins;
}

static SambaPassing *makePassing(SambaEngine *engine, const SambaActor *actor,
                                 SambaSimdTables *tables) {
  const SambaUnit *unit = &engine->section->units[actor->unit];
  SambaArena *arena = &engine->arena;
  SambaPassing *passing = SAMBA_ARENA_NEW(arena, SambaPassing);
  SambaSimdSteps *steps = &passing->steps;
  steps->walk = sambaSimdWalkMake(arena, engine->machine, engine->section, unit, actor->lanes);
  steps->input_count = actor->input_count;
  steps->output_count = actor->output_count;
  steps->inputs = SAMBA_ARENA_ARRAY(arena, SambaSimdPort, actor->input_count);
  steps->outputs = SAMBA_ARENA_ARRAY(arena, SambaSimdOutput, actor->output_count);
  passing->inputs = SAMBA_ARENA_ARRAY(arena, SambaPassingInput, actor->input_count);
  passing->outputs = SAMBA_ARENA_ARRAY(arena, SambaPassingOutput, actor->output_count);
  passing->ended = true;

  uint32_t inner = unit->compute.counter_count;
  bool folds = inner > unit->compute.token_level && inner <= 64 &&
               (unit->compute.program.reduce_mask >> (inner - 1) & 1);
  for (uint32_t i = 0; i < actor->input_count; ++i)
    steps->inputs[i] = (SambaSimdPort){actor->inputs[i].port, actor->inputs[i].is_late};
  for (uint32_t o = 0; o < actor->output_count; ++o) {
    const SambaPort *port = &unit->outputs[actor->outputs[o].turns->port];
    SambaPassingOutput *output = &passing->outputs[o];
    uint64_t elements = vectorElements(engine, unit, port);
    steps->outputs[o] =
        (SambaSimdOutput){.vector = sambaVectorOf(elements),
                          .token_elements = port->token_elements,
                          .token_vectors = engine->streams[actor->outputs[o].stream].vectors,
                          .is_result = actor->outputs[o].is_result,
                          .folds = folds};
    output->vector_elements = sambaTimeMin(elements, port->token_elements);
    output->places = sambaPipelinePlaces(engine->machine, engine->section, unit, port, actor->lanes,
                                         actor->latency + actor->outputs[o].is_result);
    output->left_at = SAMBA_ARENA_ARRAY(arena, uint64_t, output->places);
  }
  sambaSimdStepsMake(steps, arena, tables);
  return passing;
}

/* Who is walked asks, and knows what follows the last vector. */
static void settle(const SambaEngine *engine, SambaCursor *cursor) {
  const SambaActor *actor = &engine->actors[cursor->actor];
  if (actor->kind == SAMBA_ACTOR_COMPUTE)
    cursor->asks &= actor->passing != NULL;
  if (cursor->asks && !actor->memory)
    cursor->rest = 0;
}

void sambaPartialTokensBuild(SambaEngine *engine) {
  for (uint32_t a = 0; a < engine->actor_count; ++a)
    findWalk(engine, &engine->actors[a]);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t s = engine->section->stream_count; s-- > 0;) {
      SambaStreamState *stream = &engine->streams[s];
      if (engine->section->streams[s].kind == SAMBA_STREAM_CONTROL)
        continue;
      bool wanted = isWanted(engine, stream), uneven = isUneven(engine, stream);
      changed |= wanted != stream->is_wanted || uneven != stream->is_uneven;
      stream->is_wanted = wanted;
      stream->is_uneven = uneven;
    }
  }

  for (uint32_t s = 0; s < engine->section->stream_count; ++s)
    engine->streams[s].tells = engine->streams[s].is_wanted && engine->streams[s].is_uneven;
  SambaSimdTables tables = {0};
  for (uint32_t a = 0; a < engine->actor_count; ++a) {
    SambaActor *actor = &engine->actors[a];
    actor->has_steps = actor->kind == SAMBA_ACTOR_COMPUTE && joinsIn(engine, actor);
    if (actor->has_steps)
      actor->passing = makePassing(engine, actor, &tables);
  }
  sambaArrayFree(&tables);
  for (uint32_t c = 0; c < engine->cursor_count; ++c)
    settle(engine, &engine->cursors[c]);
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
  if (stream->is_slow && stream->told >= depth)
    at = sambaTimeMax(at, stream->left_at[(stream->told - depth) & stream->left_mask] +
                              (uint64_t)engine->machine->credit_cycles);
  stream->left_at[stream->told++ & stream->left_mask] = at;
}

/* The first vector of the token that was pushed last leaves when it is told to, and not when the
 * token was to begin. Who has taken it knows. */
static void correctFirst(SambaEngine *engine, SambaStreamState *stream) {
  if (!stream->pushed || stream->told <= (stream->pushed - 1) * stream->vectors)
    return;
  SambaSegment *segment = segmentAt(stream, stream->pushed - 1);
  uint64_t first = stream->left_at[(stream->pushed - 1) * stream->vectors & stream->left_mask];
  if (stream->base == stream->pushed || segment->consumers != stream->cursor_count ||
      segment->first == first)
    return;
  segment->first = first;
  for (uint32_t c = 0; c < stream->cursor_count; ++c)
    sambaEngineQueue(engine, engine->cursors[stream->cursor_first + c].actor);
}

void sambaPartialTokensTell(SambaEngine *engine, uint32_t stream_index) {
  SambaStreamState *stream = &engine->streams[stream_index];
  if (engine->actors[stream->producer].kind == SAMBA_ACTOR_COMPUTE)
    correctFirst(engine, stream);
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    if (!cursor->asks)
      continue;
    if (engine->actors[cursor->actor].kind == SAMBA_ACTOR_STORE)
      sambaEngineQueue(engine, cursor->actor);
    else if (engine->actors[cursor->actor].passing)
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

/* When vector `v` of a token that was taken arrives, if they come evenly. */
static uint64_t evenArrival(const SambaEngine *engine, const SambaCursor *cursor, uint64_t v) {
  const SambaStreamState *stream = &engine->streams[cursor->stream];
  if (cursor->waiting && engine->actors[stream->producer].kind != SAMBA_ACTOR_READ)
    return SAMBA_TIME_UNKNOWN;
  const SambaCursorDetail *detail = &engine->cursor_details[cursor - engine->cursors];
  uint64_t steps = stream->vectors - 1, first = detail->taken_first;
  uint64_t last = sambaTimeMax(first, detail->taken_last - 1);
  return first + cursor->latency + (steps ? sambaTimeScale(last - first, v, steps) : 0);
}

uint64_t sambaPartialTokensTakenArrival(const SambaEngine *engine, SambaCursor *cursor,
                                        uint64_t v) {
  const SambaStreamState *stream = &engine->streams[cursor->stream];
  if (!stream->tells)
    return evenArrival(engine, cursor, v);
  cursor->asked = (cursor->next - 1) * stream->vectors + v;
  return sambaPartialTokensArrival(engine, cursor, cursor->asked);
}

/* When an input has what a step needs, no earlier than `from`. What the step uses up before the
 * last vector is taken before it, one vector per cycle. */
static uint64_t inputAt(SambaEngine *engine, SambaPassingInput *input, SambaCursor *cursor,
                        SambaSimdNeed need, uint64_t from) {
  from = sambaTimeMax(from, input->free_at);
  while (need.used_up > input->taken + 1) {
    uint64_t at = sambaPartialTokensTakenArrival(engine, cursor, input->taken);
    if (at == SAMBA_TIME_UNKNOWN)
      return at;
    from = input->free_at = sambaTimeMax(from, at) + 1;
    ++input->taken;
  }
  if (need.touched <= input->taken)
    return from;
  if (need.touched != input->found) { /* several steps may use one vector */
    uint64_t at = sambaPartialTokensTakenArrival(engine, cursor, need.touched - 1);
    if (at == SAMBA_TIME_UNKNOWN)
      return at;
    input->found = need.touched;
    input->found_at = at;
  }
  return sambaTimeMax(from, input->found_at);
}

/* When the pipeline has places for what a step makes. One vector always finds one. */
static uint64_t placesAt(const SambaActor *actor, const uint64_t *row) {
  uint64_t at = actor->passing->free_at;
  for (uint32_t o = 0; o < actor->output_count; ++o) {
    const SambaPassingOutput *output = &actor->passing->outputs[o];
    uint64_t more = row[o] - output->made;
    if (row[o] <= output->made + 1 || output->left + more <= output->places)
      continue;
    uint64_t place = output->place + more - 1;
    if (place >= output->places)
      place %= output->places;
    at = sambaTimeMax(at, output->left_at[place]);
  }
  return at;
}

/* When a step has all of its inputs; SAMBA_TIME_UNKNOWN. */
static uint64_t stepAt(SambaEngine *engine, const SambaActor *actor, const uint64_t *row) {
  SambaPassing *passing = actor->passing;
  uint64_t from = placesAt(actor, row), at = from;
  for (uint32_t i = 0; i < actor->input_count && at != SAMBA_TIME_UNKNOWN; ++i) {
    if (actor->inputs[i].is_late)
      continue;
    SambaSimdNeed need = sambaSimdStepsNeed(&passing->steps, row, i);
    SambaCursor *cursor = &engine->cursors[actor->inputs[i].taken];
    at = sambaTimeMax(at, inputAt(engine, &passing->inputs[i], cursor, need, from));
  }
  return at;
}

/* What a step has used is used. */
static void useInputs(const SambaActor *actor, const uint64_t *row) {
  SambaPassing *passing = actor->passing;
  for (uint32_t i = 0; i < actor->input_count; ++i) {
    uint64_t used_up = sambaSimdStepsNeed(&passing->steps, row, i).used_up;
    passing->inputs[i].taken = sambaTimeMax(passing->inputs[i].taken, used_up);
  }
}

/* When the vectors of a reduction leave that a step at cycle `at` completes: they start from the
 * accumulators in the next cycle. */
static uint64_t resultAt(const SambaActor *actor, const SambaPassingOutput *output, uint64_t at) {
  SambaPassing *passing = actor->passing;
  uint64_t groups = sambaTimeCeilDiv(output->vector_elements, actor->lanes);
  uint64_t begin = sambaTimeMax(at + 1, passing->result_at);
  passing->result_at = begin + groups * actor->result_cycles;
  return begin + (groups - 1) * actor->result_cycles + actor->latency;
}

/* Tells the vectors that a step at cycle `at` makes. Outputs of one reduction get theirs at once.
 */
static void makeVectors(SambaEngine *engine, SambaActor *actor, const uint64_t *row, uint64_t at) {
  uint64_t results = 0;
  for (uint32_t o = 0; o < actor->output_count; ++o) {
    SambaPassingOutput *output = &actor->passing->outputs[o];
    if (row[o] == output->made)
      continue;
    if (actor->outputs[o].is_result && !results)
      results = resultAt(actor, output, at);
    uint64_t left = actor->outputs[o].is_result ? results : at + actor->latency;
    left = sambaTimeMax(left, output->free_at);
    uint32_t index = actor->outputs[o].open_stream;
    for (bool tells = engine->streams[index].tells; output->made < row[o]; ++output->made) {
      output->left_at[output->place] = left;
      output->place = output->place + 1 == output->places ? 0 : output->place + 1;
      ++output->left;
      if (tells)
        sambaPartialTokensAdd(engine, index, left);
      output->free_at = ++left;
    }
  }
}

static void tellOutputs(SambaEngine *engine, const SambaActor *actor) {
  for (uint32_t o = 0; o < actor->output_count; ++o)
    if (engine->streams[actor->outputs[o].open_stream].tells)
      sambaPartialTokensTell(engine, actor->outputs[o].open_stream);
}

void sambaPartialTokensPass(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaPassing *passing = actor->passing;
  if (!actor->running || passing->ended)
    return;

  for (uint32_t i = 0; i < actor->input_count; ++i)
    passing->inputs[i].found = 0; /* an estimate, perhaps */
  bool moves = false;
  while (!passing->ended) {
    const uint64_t *row = sambaSimdStepsRow(&passing->steps);
    uint64_t at = stepAt(engine, actor, row);
    if (at == SAMBA_TIME_UNKNOWN)
      break;
    useInputs(actor, row);
    makeVectors(engine, actor, row, at);
    passing->free_at = at + actor->step_cycles;
    passing->ended = sambaSimdStepsAdvance(&passing->steps);
    moves = true;
  }

  if (passing->ended)
    actor->end_minimum = sambaTimeMax(actor->end_minimum, passing->free_at);
  if (moves)
    tellOutputs(engine, actor);
}

static void beginWalk(SambaEngine *engine, SambaActor *actor) {
  SambaPassing *passing = actor->passing;
  passing->ended = false;
  passing->free_at = passing->result_at = engine->now;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    passing->inputs[i].taken = passing->inputs[i].free_at = 0;
  for (uint32_t o = 0; o < actor->output_count; ++o)
    passing->outputs[o].made = 0;
}

/* The vectors of a token that a buffer reads come as its banks give them. */
static void tellRead(SambaEngine *engine, const SambaActor *actor) {
  uint32_t index = actor->outputs[0].open_stream;
  const SambaStreamState *stream = &engine->streams[index];
  uint64_t booked = actor->end_minimum - sambaTimeMin(actor->end_minimum, actor->start);
  uint64_t all = actor->vector_cycles ? actor->work : stream->vectors;
  uint64_t cycles = 0, lasts = sambaTimeMax(actor->work, booked);
  for (uint64_t v = 0; v < stream->vectors; ++v) {
    cycles += actor->vector_cycles ? actor->vector_cycles[v] : 1;
    uint64_t read = actor->start + sambaTimeScale(lasts, cycles, all);
    sambaPartialTokensAdd(engine, index, read - 1 + actor->latency);
  }
  sambaPartialTokensTell(engine, index);
}

void sambaPartialTokensBegin(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  if (actor->passing) {
    beginWalk(engine, actor);
    sambaPartialTokensPass(engine, actor_index);
  } else if (actor->kind == SAMBA_ACTOR_READ && actor->output_count &&
             engine->streams[actor->outputs[0].open_stream].tells) {
    tellRead(engine, actor);
  }
}

uint64_t sambaPartialTokensWritten(SambaEngine *engine, const SambaActor *write,
                                   SambaCursor *cursor) {
  const SambaStreamState *stream = &engine->streams[cursor->stream];
  uint64_t end = write->start;
  for (uint64_t v = 0; write->vector_cycles && v < stream->vectors; ++v)
    end = sambaTimeMax(end, sambaPartialTokensTakenArrival(engine, cursor, v)) +
          write->vector_cycles[v];
  cursor->asked = cursor->next * stream->vectors;
  return end;
}
