/* Makes the engine's actors, streams and address generators; see build_engine.h. */
#include "backend/sim/timing/build/build_engine.h"

#include "backend/section/access.h"
#include "backend/section/width.h"
#include "backend/sim/timing/build/links.h"
#include "backend/sim/timing/build/loops.h"
#include "backend/sim/timing/build/occupancy.h"
#include "backend/sim/timing/engine/array_walk.h"
#include "backend/sim/timing/engine/load_delivery.h"
#include "backend/sim/timing/engine/lockstep.h"
#include "backend/sim/timing/engine/outstanding_bursts.h"
#include "backend/sim/timing/engine/partial_tokens.h"

static uint64_t productOf(const uint32_t *trips, uint32_t from, uint32_t until) {
  uint64_t product = sambaTripProduct(trips, from, until);
  return product ? product : 1;
}

static uint32_t actorsOf(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_BUFFER ? unit->input_count + unit->output_count : 1;
}

/* Cycles that links of short FIFOs take for the vectors of a token: a FIFO of depth d and a
 * credit's round trip of c cycles pass d vectors per c cycles. 0: one vector per cycle. */
static uint64_t linkCycles(const SambaEngine *engine, const SambaStream *stream, uint64_t vectors) {
  uint64_t depth = (uint64_t)engine->machine->fifo_depth;
  uint64_t round = (uint64_t)engine->machine->credit_cycles;
  if (round <= depth || stream->kind == SAMBA_STREAM_CONTROL)
    return 0;
  return sambaTimeCeilDiv(sambaTimeMul(vectors, round), depth);
}

/* The way of a stream through short FIFOs. The first of them takes vectors as they come. */
static void setLink(SambaEngine *engine, const SambaStream *stream, SambaStreamState *state) {
  state->cycles = state->vectors;
  state->link_cycles = linkCycles(engine, stream, state->vectors);
  state->is_slow = state->link_cycles;
  if (!state->is_slow)
    return;
  uint64_t depth = (uint64_t)engine->machine->fifo_depth;
  state->link_slack = (uint64_t)engine->machine->credit_cycles - depth;
  state->cycles = sambaTimeMax(state->vectors, state->link_cycles - state->link_slack);
  state->link_held = linkCycles(engine, stream, depth);
  state->link =
      (SambaShare){.flow_count = 1, .flows = SAMBA_ARENA_LINES(&engine->arena, SambaFlow, 1)};
}

/* One cursor per destination of every stream; the producer's actor is known from its unit
 * and port. */
static void makeStreams(SambaEngine *engine) {
  const SambaSection *section = engine->section;
  const SambaMachine *machine = engine->machine;

  engine->streams = SAMBA_ARENA_LINES(&engine->arena, SambaStreamState, section->stream_count);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    engine->cursor_count += section->streams[s].destination_count;
  engine->cursors = SAMBA_ARENA_LINES(&engine->arena, SambaCursor, engine->cursor_count);
  engine->cursor_details =
      SAMBA_ARENA_ARRAY(&engine->arena, SambaCursorDetail, engine->cursor_count);
  uint32_t cursor = 0;

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    SambaStreamState *state = &engine->streams[s];
    const SambaUnit *source = &section->units[stream->source.unit];
    const SambaPort *port = &source->outputs[stream->source.port];
    uint32_t actor = engine->unit_actors[stream->source.unit];
    state->producer = source->kind == SAMBA_UNIT_BUFFER
                          ? actor + source->input_count + stream->source.port
                          : actor;
    uint64_t elements = port->token_elements;
    state->bytes = sambaTimeMul(elements, sambaDTypeBytes(port->dtype));

    /* A scalar link moves one element per cycle. */
    state->vectors =
        stream->kind == SAMBA_STREAM_SCALAR
            ? elements
            : sambaTimeCeilDiv(state->bytes, sambaStreamVectorBytes(section, stream, machine));
    state->vectors = sambaTimeMax(1, state->vectors);

    setLink(engine, stream, state);
    state->cursor_first = cursor;
    state->cursor_count = stream->destination_count;
    state->ring_mask = 1;
    state->ring = SAMBA_ARENA_ARRAY(&engine->arena, SambaSegment, 2);
    for (uint32_t d = 0; d < stream->destination_count; ++d) {
      const SambaEndpoint *end = &stream->destinations[d];
      const SambaUnit *unit = &section->units[end->unit];
      uint32_t consumer =
          engine->unit_actors[end->unit] + (unit->kind == SAMBA_UNIT_BUFFER ? end->port : 0);
      engine->cursors[cursor++] = (SambaCursor){.stream = s, .actor = consumer};
      if (source->kind == SAMBA_UNIT_LOAD && unit->kind == SAMBA_UNIT_BUFFER &&
          unit->input_count > 1)
        state->sharers = unit->input_count;
    }
  }
}

static void addInput(SambaEngine *engine, SambaActor *actor, uint32_t port_index, uint64_t period) {
  const SambaPort *port = &engine->section->units[actor->unit].inputs[port_index];
  SambaActorInput *input = &actor->inputs[actor->input_count];
  *input = (SambaActorInput){
      .port = port_index, .block = port->block ? port->block : 1, .period = period};
  actor->steps_inputs |= period != 1;
  input->left = input->block;
  input->cursors = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, port->stream_count);
  for (uint32_t i = 0; i < port->stream_count; ++i) {
    const SambaStream *stream = &engine->section->streams[port->streams[i]];
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      if (stream->destinations[d].unit == actor->unit && stream->destinations[d].port == port_index)
        input->cursors[input->cursor_count++] = engine->streams[port->streams[i]].cursor_first + d;
  }
  if (input->cursor_count) {
    input->cursor = input->cursors[0];
    ++actor->input_count;
  }
}

static void addOutput(SambaEngine *engine, SambaActor *actor, uint32_t port_index,
                      uint64_t period) {
  const SambaPort *port = &engine->section->units[actor->unit].outputs[port_index];
  uint32_t block = port->block ? port->block : 1;
  SambaOutputTurns *turns = SAMBA_ARENA_NEW(&engine->arena, SambaOutputTurns);
  *turns = (SambaOutputTurns){
      .port = port_index, .streams = port->streams, .block = block, .left = block};
  actor->steps_outputs |= period != 1;
  actor->outputs[actor->output_count++] =
      (SambaActorOutput){.stream = port->stream_count ? port->streams[0] : SAMBA_NO_INDEX,
                         .stream_count = port->stream_count,
                         .period = period,
                         .first_denominator = 1,
                         .turns = turns};
}

static SambaActor *addActor(SambaEngine *engine, uint32_t unit, SambaActorKind kind,
                            uint64_t firings, uint32_t inputs, uint32_t outputs) {
  SambaActor *actor = &engine->actors[engine->actor_count++];
  *actor = (SambaActor){
      .kind = kind, .unit = unit, .firings = firings, .limit = firings, .wake = SAMBA_TIME_UNKNOWN};
  actor->inputs = SAMBA_ARENA_LINES(&engine->arena, SambaActorInput, inputs);
  actor->outputs = SAMBA_ARENA_LINES(&engine->arena, SambaActorOutput, outputs);
  engine->unfinished += firings > 0;
  return actor;
}

static void makeComputeActor(SambaEngine *engine, uint32_t index) {
  const SambaUnit *unit = &engine->section->units[index];
  SambaActor *actor = addActor(engine, index, SAMBA_ACTOR_COMPUTE,
                               productOf(unit->compute.trips, 0, unit->compute.token_level),
                               unit->input_count, unit->output_count);
  for (uint32_t p = 0; p < unit->input_count; ++p)
    addInput(
        engine, actor, p,
        productOf(unit->compute.trips, unit->inputs[p].compute.level, unit->compute.token_level));
  for (uint32_t p = 0; p < unit->output_count; ++p)
    addOutput(
        engine, actor, p,
        productOf(unit->compute.trips, unit->outputs[p].compute.level, unit->compute.token_level));
}

static void makeBufferActors(SambaEngine *engine, uint32_t index) {
  const SambaUnit *unit = &engine->section->units[index];
  SambaBufferState *buffer = &engine->buffers[index];
  buffer->actor_first = engine->actor_count;
  buffer->write_count = unit->input_count;
  buffer->read_count = unit->output_count;
  buffer->slots = unit->buffer.slot_count;
  buffer->lent = unit->buffer.loop_carried ? buffer->slots : 0;
  buffer->placement = sambaSlotPlacement(engine->machine, unit);
  uint64_t arrays = (uint64_t)engine->machine->pmu_bank_arrays;
  buffer->arrays = SAMBA_ARENA_ARRAY(&engine->arena, SambaShare, arrays);
  for (uint64_t a = 0; a < arrays; ++a)
    buffer->arrays[a] =
        (SambaShare){.flow_count = 2, .flows = SAMBA_ARENA_LINES(&engine->arena, SambaFlow, 2)};

  for (uint32_t p = 0; p < unit->input_count + unit->output_count; ++p) {
    bool write = p < unit->input_count;
    const SambaAccess *access =
        write ? &unit->inputs[p].access : &unit->outputs[p - unit->input_count].access;
    SambaActor *actor = addActor(engine, index, write ? SAMBA_ACTOR_WRITE : SAMBA_ACTOR_READ,
                                 productOf(access->trips, 0, access->token_level), write, !write);
    actor->in_place = unit->buffer.in_place;
    actor->slot_period = productOf(access->trips, access->slot_level, access->token_level);
    if (write)
      addInput(engine, actor, p, 1);
    else
      addOutput(engine, actor, p - unit->input_count, 1);
  }
}

static void makeMemoryActor(SambaEngine *engine, uint32_t index, const SambaIndexTraces *traces) {
  const SambaUnit *unit = &engine->section->units[index];
  bool load = unit->kind == SAMBA_UNIT_LOAD;
  const SambaPort *port = load ? &unit->outputs[0] : &unit->inputs[0];
  const SambaAccess *access = &port->access;
  SambaActor *actor = addActor(engine, index, load ? SAMBA_ACTOR_LOAD : SAMBA_ACTOR_STORE,
                               productOf(access->trips, 0, access->token_level), unit->input_count,
                               unit->output_count);
  for (uint32_t p = 0; p < unit->input_count; ++p)
    addInput(engine, actor, p, 1);
  for (uint32_t p = 0; p < unit->output_count; ++p)
    addOutput(engine, actor, p, 1);
  SambaMemoryState *memory = actor->memory = &engine->memories[engine->memory_count++];

  memory->actor = engine->unit_actors[index];
  memory->symbol_address = engine->bindings ? engine->bindings[unit->load_store.symbol].address : 0;
  uint64_t width = sambaPortVectorBytes(engine->section, unit, port, engine->machine);
  memory->port =
      sambaVectorOf(sambaTimeMax(1, sambaTimeMin((uint64_t)engine->machine->ag_bytes, width)));
  bool scalars =
      port->stream_count && engine->section->streams[port->streams[0]].kind == SAMBA_STREAM_SCALAR;
  memory->vector =
      sambaVectorOf(scalars ? 1 : sambaTimeMax(1, width / sambaDTypeBytes(port->dtype)));
  if (load)
    sambaLoadDeliveryInit(engine, actor);
  for (uint32_t c = 0; !load && !access->has_index && c < actor->inputs[0].cursor_count; ++c)
    engine->cursors[actor->inputs[0].cursors[c]].one_by_one = true;
  memory->last_burst = memory->placed_burst = UINT64_MAX;
  memory->token_elements = productOf(access->trips, access->token_level, access->counter_count);
  memory->token_mask = 3;
  memory->tokens = sambaAllocate(sambaArraySize(4, sizeof *memory->tokens));
  const SambaIndexTrace *trace = NULL;
  for (size_t i = 0; traces && i < traces->size; ++i)
    if (traces->data[i].unit == index)
      trace = &traces->data[i];
  sambaBurstWalkInit(&memory->walk, &engine->arena, access, sambaDTypeBytes(port->dtype),
                     (uint32_t)engine->machine->dram_burst_bytes, trace ? trace->data : NULL,
                     trace ? trace->size : 0);
}

/* Units with the same AG share its bandwidth and credits; an unplaced one has an AG of its own. */
static void makeGenerators(SambaEngine *engine) {
  const SambaSection *section = engine->section;
  uint32_t placed = (uint32_t)engine->machine->ag_count;
  uint32_t count = placed;

  for (uint32_t u = 0; u < section->unit_count; ++u)
    count += sambaUnitIsAddressGenerator(&section->units[u]);
  engine->generators = SAMBA_ARENA_LINES(&engine->arena, SambaAddressGenerator, count);
  uint32_t *owner = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, count);
  uint32_t next = placed;

  for (uint32_t a = 0; a < engine->actor_count; ++a) {
    SambaActor *actor = &engine->actors[a];
    if (!actor->memory)
      continue;
    uint32_t ag = section->units[actor->unit].load_store.ag;
    actor->memory->generator = ag < placed ? ag : next++;
    ++engine->generators[actor->memory->generator].actor_count;
  }

  engine->generator_count = next;
  for (uint32_t a = 0; a < engine->actor_count; ++a) {
    if (!engine->actors[a].memory)
      continue;
    SambaAddressGenerator *generator = &engine->generators[engine->actors[a].memory->generator];
    if (!generator->returns)
      sambaAddressGeneratorInit(engine, generator);
    generator->actors[owner[engine->actors[a].memory->generator]++] = a;
  }
  for (uint32_t g = 0; g < next; ++g)
    sambaAddressGeneratorLookAhead(engine, g);

  if (engine->machine->ag_merge_outstanding) {
    uint64_t size = 64;
    uint64_t wanted = sambaTimeMin(
        (uint64_t)engine->machine->ag_bursts * (next - placed + engine->actor_count) * 4, 1 << 20);
    while (size < wanted)
      size *= 2;
    engine->reads = SAMBA_ARENA_ARRAY(&engine->arena, SambaOutstandingRead, size);
    engine->read_mask = (uint32_t)(size - 1);
  }
}

static void makeLinks(SambaEngine *engine) {
  SambaArena scratch = {0};
  const SambaRoutes *routes = sambaRoutesFind(engine->machine, engine->section, &scratch);
  sambaLinksBuild(engine, routes);
  sambaLoopsBuild(engine, routes);
  for (uint32_t s = 0; s < engine->section->stream_count; ++s) {
    SambaStreamState *stream = &engine->streams[s];
    for (uint32_t i = 0; i < stream->lane_count; ++i)
      if (engine->actors[stream->producer].kind == SAMBA_ACTOR_LOAD)
        stream->sharers =
            sambaTimeMax(stream->sharers, engine->lanes[stream->lanes[i].lane].share.flow_count);
  }
  sambaArenaDestroy(&scratch);
}

static void makeActors(SambaEngine *engine, const SambaIndexTraces *traces) {
  for (uint32_t u = 0; u < engine->section->unit_count; ++u) {
    switch (engine->section->units[u].kind) {
    case SAMBA_UNIT_COMPUTE:
      makeComputeActor(engine, u);
      break;
    case SAMBA_UNIT_BUFFER:
      makeBufferActors(engine, u);
      break;
    default:
      makeMemoryActor(engine, u, traces);
      break;
    }
  }
}

SambaStatus sambaEngineBuild(SambaEngine *engine, const SambaIndexTraces *traces) {
  const SambaSection *section = engine->section;
  uint64_t actors = 0;
  uint32_t memories = 0;

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    actors += actorsOf(&section->units[u]);
    memories += sambaUnitIsAddressGenerator(&section->units[u]);
  }

  if (actors >= 1u << (SAMBA_EVENT_TARGET_BITS - SAMBA_TARGET_KIND_BITS))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "section '%s' has %llu units and buffer ports, expected below 2^26",
                           section->name, (unsigned long long)actors);
  engine->merged_free = SAMBA_NO_INDEX;
  sambaEventsInit(&engine->events);
  sambaDramInit(&engine->dram, &engine->arena, engine->machine, sambaAddressGeneratorCompletion,
                engine);
  if (memories && engine->dram.channel_count == 1) /* the host's */
    return sambaStatusMake(
        SAMBA_INVALID,
        "section '%s' loads or stores, but machine '%s' has neither HBM nor DDR channels",
        section->name, engine->machine->name);
  engine->actors = SAMBA_ARENA_LINES(&engine->arena, SambaActor, actors);
  engine->memories = SAMBA_ARENA_LINES(&engine->arena, SambaMemoryState, memories);
  engine->buffers = SAMBA_ARENA_LINES(&engine->arena, SambaBufferState, section->unit_count);
  engine->unit_actors = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, section->unit_count);
  uint32_t first = 0;
  for (uint32_t u = 0; u < section->unit_count; first += actorsOf(&section->units[u++]))
    engine->unit_actors[u] = first;
  makeStreams(engine);

  makeActors(engine, traces);
  SambaPortPatterns *patterns = sambaPortPatternsCreate(engine->machine, &engine->arena);
  for (uint32_t a = 0; a < engine->actor_count; ++a) {
    sambaActorSetLaw(&engine->actors[a], engine->machine, section, patterns);
    sambaActorSetRests(engine, &engine->actors[a]);
  }
  makeGenerators(engine);
  makeLinks(engine);
  sambaArrayWalkBuild(engine);
  sambaPartialTokensBuild(engine);
  sambaLockstepBuild(engine);
  uint32_t slots = 1;
  while (slots < engine->actor_count)
    slots *= 2;
  engine->queue = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, slots);
  engine->queue_mask = slots - 1;

  return NULL;
}
