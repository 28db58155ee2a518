/* Making the actors of a section; see pipeline_state.h. */
#include "backend/estimate/crowding.h"
#include "backend/estimate/loop_pace.h"
#include "backend/estimate/pipeline_state.h"
#include "backend/estimate/unit_cycles.h"
#include "backend/estimate/unit_law.h"
#include "backend/section/access.h"
#include "backend/section/fabric/fabric.h"
#include "backend/section/gathering.h"
#include "backend/section/width.h"

#include <math.h>
#include <stdlib.h>

/* Pieces of a generator's outstanding bytes: so many are asked for, or written, at once. */
enum { readPieces = 4, writePieces = 8 };

/*===-- Building ------------------------------------------------------------------------------===*/

uint32_t sambaPipelineActorsOf(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_BUFFER ? unit->input_count + unit->output_count : 1;
}

/* The actor at a port, and which of its inputs or outputs that is. Only ports with streams count.
 */
static uint32_t actorAt(const SambaPipelineRun *run, uint32_t unit, bool output, uint32_t port,
                        uint32_t *out_index) {
  const SambaUnit *u = &run->section->units[unit];
  uint32_t first = run->actor_of[unit];
  *out_index = 0;
  if (u->kind == SAMBA_UNIT_BUFFER)
    return first + port + (output ? u->input_count : 0);
  for (uint32_t p = 0; p < port; ++p)
    *out_index += (output ? u->outputs[p] : u->inputs[p]).stream_count > 0;
  return first;
}

static uint32_t placeOf(const SambaPort *port, uint32_t stream) {
  uint32_t place = 0;
  while (place + 1 < port->stream_count && port->streams[place] != stream)
    ++place;
  return place;
}

static uint32_t blockOf(const SambaPort *port) { return port->block ? port->block : 1; }

/* Switches between two units. */
static double switchesBetween(const SambaPipelineRun *run, uint32_t from, uint32_t to) {
  const SambaUnit *a = &run->section->units[from], *b = &run->section->units[to];
  if (run->machine->network == SAMBA_NETWORK_IDEAL)
    return 1;
  if (!sambaUnitIsPlaced(a) || !sambaUnitIsPlaced(b))
    return SAMBA_ASSUMED_HOPS;
  int32_t ax, ay, bx, by;
  sambaUnitSwitch(run->machine, a, &ax, &ay);
  sambaUnitSwitch(run->machine, b, &bx, &by);
  return 1 + fabs((double)ax - bx) + fabs((double)ay - by);
}

/* Switches on the ways from a stream to those of its destinations that one unit stands for, at one
 * of its inputs. */
typedef struct Ways {
  double nearest, farthest;
} Ways;

static bool isTwinEnd(const SambaPipelineRun *run, SambaEndpoint end, SambaEndpoint other) {
  return run->twins.of[end.unit] == run->twins.of[other.unit] && end.port == other.port;
}

/* Ways to the twins of a destination, on average over the twins of the unit that sends: one way of
 * 64 that happens to be long would be that of all. place: of the stream at the port. The order of a
 * stream's destinations says nothing. */
static Ways meanWaysTo(const SambaPipelineRun *run, uint32_t unit, uint32_t port, uint32_t place,
                       SambaEndpoint wanted) {
  const SambaSection *section = run->section;
  Ways sum = {0, 0};
  uint32_t count = 0;
  for (uint32_t u = unit; u != SAMBA_NO_INDEX; u = run->next_twin[u]) {
    const SambaStream *stream = &section->streams[section->units[u].outputs[port].streams[place]];
    Ways own = {INFINITY, 0};
    for (uint32_t d = 0; d < stream->destination_count; ++d) {
      if (!isTwinEnd(run, stream->destinations[d], wanted))
        continue;
      double switches = switchesBetween(run, u, stream->destinations[d].unit);
      own = (Ways){fmin(own.nearest, switches), fmax(own.farthest, switches)};
    }
    if (own.farthest == 0) /* its stream in that place goes to others */
      continue;
    sum = (Ways){sum.nearest + own.nearest, sum.farthest + own.farthest};
    ++count;
    if (!sambaUnitIsPlaced(&section->units[u])) /* all ways are as long */
      break;
  }
  return (Ways){sum.nearest / count, sum.farthest / count};
}

/* The way from the source of a stream, on average over the twins of the unit that takes it. */
static Ways meanWaysFrom(const SambaPipelineRun *run, uint32_t unit, uint32_t port,
                         uint32_t place) {
  const SambaSection *section = run->section;
  double sum = 0;
  uint32_t count = 0;
  for (uint32_t u = unit; u != SAMBA_NO_INDEX; u = run->next_twin[u]) {
    uint32_t stream = section->units[u].inputs[port].streams[place];
    sum += switchesBetween(run, u, section->streams[stream].source.unit);
    ++count;
    if (!sambaUnitIsPlaced(&section->units[u]))
      break;
  }
  return (Ways){sum / count, sum / count};
}

/* A link to the port at the other end of a stream. */
static SambaPipelineLink linkTo(uint32_t stream, const SambaPort *port) {
  return (SambaPipelineLink){
      .streams = port->stream_count, .block = blockOf(port), .place = placeOf(port, stream)};
}

/* Before there are places, the slowest way decides how late a stream's vectors are, and the
 * shortest one how many of them its FIFOs hold. */
static void setWays(const SambaPipelineRun *run, SambaPipelineLink *link, uint32_t stream,
                    Ways ways, double source_latency) {
  const SambaStream *record = &run->section->streams[stream];
  bool placed = sambaUnitIsPlaced(&run->section->units[record->source.unit]);
  bool alone = record->destination_count == 1;
  double holding = placed || !alone ? ways.nearest : fmin(ways.nearest, SAMBA_NEAR_HOPS);
  link->latency = ways.farthest * (double)run->machine->hop_cycles;
  link->capacity = (double)run->machine->fifo_depth * (holding + 1) + source_latency;
  if (record->kind == SAMBA_STREAM_CONTROL)
    link->capacity = 1 << 20;
}

/* Cycles of a token on a stream: a link passes a vector per cycle, or fewer when credits are late.
 */
static double tokenCycles(const SambaPipelineRun *run, double vectors) {
  double credits = (double)run->machine->credit_cycles / (double)run->machine->fifo_depth;
  return vectors * fmax(1, credits);
}

static void addInput(SambaPipelineRun *run, SambaPipelineActor *actor, uint32_t port_index,
                     uint64_t period, bool whole) {
  const SambaSection *section = run->section;
  const SambaPort *port = &section->units[actor->unit].inputs[port_index];
  if (!port->stream_count)
    return;
  SambaPipelineInput *input = &actor->inputs[actor->input_count++];
  const SambaStream *any = &section->streams[port->streams[0]];
  *input = (SambaPipelineInput){.period = period,
                                .streams = port->stream_count,
                                .block = blockOf(port),
                                .whole = whole || any->kind == SAMBA_STREAM_CONTROL};
  input->vectors =
      sambaTokenVectors(port, any->kind, sambaStreamVectorBytes(section, any, run->machine));
  input->cycles = tokenCycles(run, input->vectors);
  input->links = SAMBA_ARENA_ARRAY(&run->arena, SambaPipelineLink, port->stream_count);

  for (uint32_t s = 0; s < port->stream_count; ++s) {
    const SambaStream *stream = &section->streams[port->streams[s]];
    const SambaUnit *source = &section->units[stream->source.unit];
    uint32_t twin = run->twins.of[stream->source.unit];
    input->links[s] = linkTo(port->streams[s], &source->outputs[stream->source.port]);
    setWays(run, &input->links[s], port->streams[s], meanWaysFrom(run, actor->unit, port_index, s),
            0);
    input->links[s].actor = actorAt(run, twin, true, stream->source.port, &input->links[s].port);
  }
}

/* The first place of the twins of a unit among those who send to the port: who takes from it takes
 * that one's tokens first, and the others' like them. */
static uint32_t firstPlace(const SambaPipelineRun *run, const SambaPort *port, uint32_t unit,
                           uint32_t output) {
  uint32_t place = 0;
  for (; place + 1 < port->stream_count; ++place) {
    const SambaEndpoint *from = &run->section->streams[port->streams[place]].source;
    if (run->twins.of[from->unit] == unit && from->port == output)
      break;
  }
  return place;
}

static bool sameLink(const SambaPipelineLink *a, const SambaPipelineLink *b) {
  return a->actor == b->actor && a->port == b->port && a->place == b->place &&
         a->behind == b->behind;
}

/* What follows from the capacities of an output's links. */
static void settleRoom(SambaPipelineOutput *output) {
  output->fits = true;
  for (uint32_t l = 0; l < output->first_link[output->streams]; ++l) {
    SambaPipelineLink *link = &output->links[l];
    double tokens = link->capacity / output->vectors;
    link->ahead_begun = (uint64_t)ceil(tokens);
    link->ahead_left = (uint64_t)floor(tokens);
    link->beyond = fmin(1, (double)(link->ahead_left + 1) - tokens);
    output->fits &= link->capacity >= output->vectors;
  }
}

static void addOutput(SambaPipelineRun *run, SambaPipelineActor *actor, uint32_t port_index,
                      uint64_t period, double latency) {
  const SambaSection *section = run->section;
  const SambaPort *port = &section->units[actor->unit].outputs[port_index];
  if (!port->stream_count)
    return;
  SambaPipelineOutput *output = &actor->outputs[actor->output_count++];
  const SambaStream *any = &section->streams[port->streams[0]];
  uint32_t most = 0, count = 0;

  *output = (SambaPipelineOutput){
      .period = period, .streams = port->stream_count, .block = blockOf(port)};
  output->vectors =
      sambaTokenVectors(port, any->kind, sambaStreamVectorBytes(section, any, run->machine));
  output->cycles = tokenCycles(run, output->vectors);
  for (uint32_t s = 0; s < port->stream_count; ++s)
    most += section->streams[port->streams[s]].destination_count;
  output->links = SAMBA_ARENA_ARRAY(&run->arena, SambaPipelineLink, most);
  output->first_link = SAMBA_ARENA_ARRAY(&run->arena, uint32_t, port->stream_count + 1);

  for (uint32_t s = 0; s < port->stream_count; ++s) {
    const SambaStream *stream = &section->streams[port->streams[s]];
    output->first_link[s] = count;
    for (uint32_t d = 0; d < stream->destination_count; ++d) {
      SambaEndpoint end = stream->destinations[d];
      uint32_t twin = run->twins.of[end.unit];
      SambaPipelineLink link = linkTo(port->streams[s], &section->units[end.unit].inputs[end.port]);
      link.actor = actorAt(run, twin, false, end.port, &link.port);
      /* The twin may be dealt its tokens later in each round. */
      const SambaPort *twin_port = &section->units[twin].inputs[end.port];
      uint32_t twin_stream = twin_port->streams[link.place];
      link.behind = run->source_place[twin_stream] > s ? output->block : 0;
      link.place = firstPlace(run, twin_port, actor->unit, port_index);
      uint32_t k = output->first_link[s];
      while (k < count && !sameLink(&output->links[k], &link))
        ++k;
      if (k < count)
        continue;
      Ways ways = meanWaysTo(run, actor->unit, port_index, s, end);
      setWays(run, &link, port->streams[s], ways, latency);
      output->links[count++] = link;
    }
  }
  output->first_link[port->stream_count] = count;
  settleRoom(output);
}

static SambaPipelineActor *addActor(SambaPipelineRun *run, uint32_t unit,
                                    SambaPipelineActorKind kind, uint64_t firings) {
  const SambaUnit *u = &run->section->units[unit];
  SambaPipelineActor *actor = &run->actors[run->actor_count++];
  *actor = (SambaPipelineActor){
      .kind = kind,
      .waits_for = SAMBA_NO_INDEX,
      .unit = unit,
      .twins = run->twins.count[unit],
      .firings = firings,
      .inputs = SAMBA_ARENA_ARRAY(&run->arena, SambaPipelineInput, u->input_count + 1),
      .outputs = SAMBA_ARENA_ARRAY(&run->arena, SambaPipelineOutput, u->output_count + 1)};
  run->unfinished += firings > 0;
  return actor;
}

static void makeCompute(SambaPipelineRun *run, uint32_t index) {
  const SambaUnit *unit = &run->section->units[index];
  const SambaCompute *compute = &unit->compute;
  SambaComputeLaw law = sambaComputeLaw(unit, run->machine);
  SambaPipelineActor *actor = addActor(run, index, SAMBA_PIPELINE_COMPUTE, sambaUnitFirings(unit));
  actor->work = law.work;
  for (uint32_t u = index; run->loop_paces && u != SAMBA_NO_INDEX; u = run->next_twin[u])
    actor->work = fmax(actor->work, run->loop_paces[u]);
  actor->latency = law.latency;
  actor->first_part = law.first;
  for (uint32_t p = 0; p < unit->input_count; ++p)
    addInput(run, actor, p,
             sambaTripProduct(compute->trips, unit->inputs[p].compute.level, compute->token_level),
             false);
  for (uint32_t p = 0; p < unit->output_count; ++p)
    addOutput(
        run, actor, p,
        sambaTripProduct(compute->trips, unit->outputs[p].compute.level, compute->token_level),
        law.latency);
}

static void makeBuffer(SambaPipelineRun *run, uint32_t index) {
  const SambaUnit *unit = &run->section->units[index];
  SambaPipelineBuffer *buffer = &run->buffers[index];
  buffer->first_actor = run->actor_count;
  buffer->placement = sambaSlotPlacement(run->machine, unit);
  buffer->array_free =
      SAMBA_ARENA_ARRAY(&run->arena, double, (size_t)run->machine->pmu_bank_arrays);

  for (uint32_t p = 0; p < unit->input_count + unit->output_count; ++p) {
    bool write = p < unit->input_count;
    uint32_t port = write ? p : p - unit->input_count;
    const SambaAccess *access = write ? &unit->inputs[port].access : &unit->outputs[port].access;
    SambaPipelineActor *actor =
        addActor(run, index, write ? SAMBA_PIPELINE_WRITE : SAMBA_PIPELINE_READ,
                 sambaTripProduct(access->trips, 0, access->token_level));
    actor->slot_period = sambaTripProduct(access->trips, access->slot_level, access->token_level);
    actor->work =
        sambaPmuTokenCycles(run->section, unit, !write, port, run->machine, run->patterns);
    actor->latency = write ? 0 : (double)run->machine->pmu_latency_cycles;
    if (write)
      addInput(run, actor, port, 1, false);
    else
      addOutput(run, actor, port, 1, actor->latency);
  }
}

static void makeMemory(SambaPipelineRun *run, uint32_t index) {
  const SambaUnit *unit = &run->section->units[index];
  bool load = unit->kind == SAMBA_UNIT_LOAD;
  const SambaPort *port = load ? &unit->outputs[0] : &unit->inputs[0];
  SambaMemoryLaw law = sambaMemoryLaw(run->section, unit, run->machine);
  SambaPipelineActor *actor =
      addActor(run, index, load ? SAMBA_PIPELINE_LOAD : SAMBA_PIPELINE_STORE,
               sambaTripProduct(port->access.trips, 0, port->access.token_level));
  actor->bytes = law.bytes;
  actor->issue = law.issue;
  actor->work = law.issue;
  actor->requests = law.requests;
  actor->crowding = sambaMemoryCrowding(run->section, &run->twins, index, run->machine);
  run->loads_left += load;
  double window = (double)(run->machine->ag_bursts * run->machine->dram_burst_bytes);
  actor->piece_count =
      (uint32_t)fmax(1, ceil(law.bytes * (load ? readPieces : writePieces) / window));
  actor->window = SAMBA_ARENA_NEW(&run->arena, SambaPipelineWindow);
  for (uint32_t p = 0; p < unit->input_count; ++p)
    addInput(run, actor, p, 1, load && !port->access.has_index);
  for (uint32_t p = 0; p < unit->output_count; ++p)
    addOutput(run, actor, p, 1, load ? (double)run->machine->ag_bursts : 0);
}

/* Two actors of which one may wait for the other. */
typedef struct Pair {
  uint32_t actor, other;
} Pair;

typedef SAMBA_ARRAY(Pair) Pairs;

static void addPair(Pairs *pairs, uint32_t a, uint32_t b) {
  sambaArrayAppend(pairs, (Pair){a, b});
  sambaArrayAppend(pairs, (Pair){b, a});
}

static int comparePairs(const void *a, const void *b) {
  const Pair *x = a, *y = b;
  if (x->actor != y->actor)
    return x->actor < y->actor ? -1 : 1;
  return (x->other > y->other) - (x->other < y->other);
}

/* Those who may wait for each other: the ends of streams, and the ports of a buffer. A twin's
 * neighbours need not name it, so each pair counts for both. */
static void findNeighbours(SambaPipelineRun *run) {
  Pairs pairs = {0};
  for (uint32_t a = 0; a < run->actor_count; ++a) {
    const SambaPipelineActor *actor = &run->actors[a];
    const SambaUnit *unit = &run->section->units[actor->unit];
    for (uint32_t i = 0; i < actor->input_count; ++i)
      for (uint32_t s = 0; s < actor->inputs[i].streams; ++s)
        addPair(&pairs, a, actor->inputs[i].links[s].actor);
    for (uint32_t o = 0; o < actor->output_count; ++o)
      for (uint32_t l = 0; l < actor->outputs[o].first_link[actor->outputs[o].streams]; ++l)
        addPair(&pairs, a, actor->outputs[o].links[l].actor);
    for (uint32_t k = 0; unit->kind == SAMBA_UNIT_BUFFER && k < sambaPipelineActorsOf(unit); ++k)
      addPair(&pairs, a, run->buffers[actor->unit].first_actor + k);
  }

  if (pairs.size)
    qsort(pairs.data, pairs.size, sizeof *pairs.data, comparePairs);
  uint32_t *others = SAMBA_ARENA_ARRAY(&run->arena, uint32_t, pairs.size);
  size_t count = 0;
  for (size_t i = 0; i < pairs.size; ++i) {
    SambaPipelineActor *actor = &run->actors[pairs.data[i].actor];
    if (i && comparePairs(&pairs.data[i], &pairs.data[i - 1]) == 0)
      continue;
    if (!actor->neighbour_count)
      actor->neighbours = &others[count];
    others[count++] = pairs.data[i].other;
    ++actor->neighbour_count;
  }
  sambaArrayFree(&pairs);
}

/* What a write costs beside reads, and what waits in the queues of the channels. */
static void findWrites(SambaPipelineRun *run) {
  double bytes = 0, writes = 0, written = 0;
  for (uint32_t a = 0; a < run->actor_count; ++a) {
    const SambaPipelineActor *actor = &run->actors[a];
    double tokens = (double)actor->firings * actor->twins;
    bytes += tokens * actor->bytes;
    writes += actor->kind == SAMBA_PIPELINE_STORE ? tokens * actor->requests : 0;
    written += actor->kind == SAMBA_PIPELINE_STORE ? tokens * actor->bytes : 0;
  }
  const SambaMachine *machine = run->machine;
  const double request = written / fmax(writes, 1);
  const double channels =
      (double)(machine->hbm_bytes > 0 ? machine->hbm_channels : machine->ddr_channels);
  run->turn_cycles = sambaMachineTurnCycles(machine, writes / fmax(bytes, 1), request);
  run->write_queue = (double)machine->dram_write_high * channels * request / run->memory_rate;
}

/* Where a section works in phases, these go on at one pace, and not what it does in one of them. */
static void findPhases(SambaPipelineRun *run) {
  for (uint32_t u = 0; u < run->section->unit_count; ++u) {
    const SambaUnit *unit = &run->section->units[u];
    if (!run->twins.count[u] || !sambaUnitGathers(run->section, unit))
      continue;
    run->phases = unit->outputs[0].access.trips[0];
    run->gathering = run->buffers[u].first_actor + unit->input_count;
  }
}

void sambaPipelineBuild(SambaPipelineRun *run) {
  const SambaSection *section = run->section;
  uint32_t actors = 0;
  run->twins = sambaTwinsFind(section, &run->arena);
  run->actor_of = SAMBA_ARENA_ARRAY(&run->arena, uint32_t, section->unit_count);
  run->buffers = SAMBA_ARENA_ARRAY(&run->arena, SambaPipelineBuffer, section->unit_count);
  run->source_place = SAMBA_ARENA_ARRAY(&run->arena, uint32_t, section->stream_count);
  run->next_twin = SAMBA_ARENA_ARRAY(&run->arena, uint32_t, section->unit_count);
  run->loop_paces = sambaSectionLoopPaces(section, run->machine, &run->arena);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    run->next_twin[u] = SAMBA_NO_INDEX;

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    uint32_t of = run->twins.of[u];
    if (of != u) {
      run->next_twin[u] = run->next_twin[of];
      run->next_twin[of] = u;
    }
    for (uint32_t p = 0; p < unit->output_count; ++p)
      for (uint32_t s = 0; s < unit->outputs[p].stream_count; ++s)
        run->source_place[unit->outputs[p].streams[s]] = s;
    run->actor_of[u] = actors;
    actors += run->twins.count[u] ? sambaPipelineActorsOf(unit) : 0;
  }

  run->actors = SAMBA_ARENA_ARRAY(&run->arena, SambaPipelineActor, actors);
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    if (!run->twins.count[u])
      continue;
    if (section->units[u].kind == SAMBA_UNIT_COMPUTE)
      makeCompute(run, u);
    else if (section->units[u].kind == SAMBA_UNIT_BUFFER)
      makeBuffer(run, u);
    else
      makeMemory(run, u);
  }

  findNeighbours(run);
  findPhases(run);
  uint32_t places = 1;
  while (places < run->actor_count)
    places *= 2;
  run->list = SAMBA_ARENA_ARRAY(&run->arena, uint32_t, places);
  run->list_mask = places - 1;
  run->memory_rate = sambaMachineDramBytesPerCycle(run->machine);
  run->memory_latency = sambaMachineLoadLatency(run->machine);
  run->stream_latency = sambaMachineStreamLatency(run->machine);
  findWrites(run);
}
