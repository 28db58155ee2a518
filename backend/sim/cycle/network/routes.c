/* From hops to FIFOs, branches and lanes; see routes.h. */
#include "backend/sim/cycle/network/routes.h"

#include "backend/section/access.h"

#include <stdlib.h>

/* What a counter of control tokens can count to. */
enum { mostControlTokens = 1 << 20 };

/* A lane, or the port of a unit, as hops name it. */
typedef struct LaneName {
  uint64_t place, lane;
  uint32_t user; /* a branch, or a stream */
} LaneName;

/* Where a flow enters a switch. */
typedef struct Arrival {
  int32_t x, y;
  SambaSwitchPort port;
  const SambaSwitchLane *lane;
  uint32_t fifo;
} Arrival;

typedef struct Builder {
  SambaNetwork *network;
  SambaArena *arena;
  const SambaSection *section;
  SAMBA_ARRAY(SambaFifo) fifos;
  SAMBA_ARRAY(SambaBranch) branches;
  SAMBA_ARRAY(LaneName) lanes;     /* of branches */
  SAMBA_ARRAY(LaneName) entrances; /* of streams */
  SAMBA_ARRAY(Arrival) arrivals;   /* of the stream at work */
  uint64_t private_lanes;
} Builder;

static LaneName nameOf(SambaStreamKind kind, int32_t x, int32_t y, const SambaSwitchLane *lane,
                       uint32_t user) {
  uint64_t ag = lane->port == SAMBA_SWITCH_AG ? lane->ag : 0;
  return (LaneName){(uint64_t)(uint32_t)y << 32 | (uint32_t)x,
                    (uint64_t)kind << 32 | ag << 16 | (uint64_t)lane->port << 8 | lane->lane, user};
}

static int compareNames(const void *a, const void *b) {
  const LaneName *x = a, *y = b;
  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  if (x->lane != y->lane)
    return x->lane < y->lane ? -1 : 1;
  return (x->user > y->user) - (x->user < y->user);
}

static bool sameName(const LaneName *a, const LaneName *b) {
  return a->place == b->place && a->lane == b->lane;
}

static uint32_t addFifo(Builder *builder, uint64_t depth) {
  SambaFifo fifo = {.depth = (uint32_t)depth, .taker = SAMBA_NO_INDEX};
  sambaArrayAppend(&builder->fifos, fifo);
  return (uint32_t)builder->fifos.size - 1;
}

/* A way over a lane to a new FIFO. */
static uint32_t addBranch(Builder *builder, uint32_t from, uint64_t cycles, LaneName lane) {
  uint32_t to = addFifo(builder, (uint64_t)builder->network->machine->fifo_depth);
  lane.user = (uint32_t)builder->branches.size;
  sambaArrayAppend(&builder->lanes, lane);
  sambaArrayAppend(&builder->branches,
                   (SambaBranch){.from = from, .to = to, .cycles = (uint32_t)cycles});
  return to;
}

/* A link that only this way uses. */
static uint32_t addPrivateBranch(Builder *builder, uint32_t from) {
  LaneName lane = {UINT64_MAX, builder->private_lanes++, 0};
  return addBranch(builder, from, (uint64_t)builder->network->machine->hop_cycles, lane);
}

static uint32_t addRoot(Builder *builder, const SambaStream *stream) {
  uint32_t fifo = addFifo(builder, (uint64_t)builder->network->machine->fifo_depth);
  builder->fifos.data[fifo].fed_by_unit = true;
  builder->fifos.data[fifo].feeder = stream->source.unit;
  return fifo;
}

static SambaSwitchPort oppositeOf(SambaSwitchPort port) {
  static const SambaSwitchPort opposite[] = {SAMBA_SWITCH_SOUTH, SAMBA_SWITCH_WEST,
                                             SAMBA_SWITCH_NORTH, SAMBA_SWITCH_EAST};
  return opposite[port];
}

/* The FIFO at which a hop begins; hops are listed after those that lead to them. */
static uint32_t findArrival(const Builder *builder, const SambaHop *hop) {
  for (size_t i = builder->arrivals.size; i-- > 0;) {
    const Arrival *arrival = &builder->arrivals.data[i];
    if (arrival->x == hop->x && arrival->y == hop->y && arrival->port == hop->in.port &&
        arrival->lane->lane == hop->in.lane && arrival->lane->flow == hop->in.flow)
      return arrival->fifo;
  }
  return SAMBA_NO_INDEX;
}

/* Adds the FIFOs of a stream's hops; `ends` gets those that lead into units, by hop. */
static uint32_t addHops(Builder *builder, const SambaStream *stream, uint32_t *ends) {
  uint32_t root = addRoot(builder, stream);
  builder->arrivals.size = 0;

  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    const SambaHop *hop = &stream->hops[h];
    uint32_t from = hop->in.port < SAMBA_SWITCH_UNIT ? findArrival(builder, hop) : root;
    if (from == SAMBA_NO_INDEX)
      from = root;
    int32_t x = hop->x, y = hop->y;
    x += (hop->out.port == SAMBA_SWITCH_EAST) - (hop->out.port == SAMBA_SWITCH_WEST);
    y += (hop->out.port == SAMBA_SWITCH_SOUTH) - (hop->out.port == SAMBA_SWITCH_NORTH);
    int64_t cycles = sambaMachineHopCycles(builder->network->machine, hop->x, hop->y, x, y);
    uint32_t to = addBranch(builder, from, (uint64_t)cycles,
                            nameOf(stream->kind, hop->x, hop->y, &hop->out, 0));
    ends[h] = hop->out.port >= SAMBA_SWITCH_UNIT ? to : SAMBA_NO_INDEX;
    if (hop->out.port < SAMBA_SWITCH_UNIT)
      sambaArrayAppend(&builder->arrivals,
                       (Arrival){x, y, oppositeOf((SambaSwitchPort)hop->out.port), &hop->out, to});
  }
  return root;
}

static bool endsAt(const SambaHop *hop, const SambaUnit *unit) {
  if (hop->out.port == SAMBA_SWITCH_AG)
    return sambaUnitIsAddressGenerator(unit) && hop->out.ag == unit->load_store.ag;
  return hop->out.port == SAMBA_SWITCH_UNIT && !sambaUnitIsAddressGenerator(unit) &&
         hop->x == unit->x && hop->y == unit->y;
}

/* Gives every destination the FIFO before it: of several at one unit the i-th gets the i-th hop
 * that ends there. */
static void joinDestinations(Builder *builder, const SambaStream *stream, uint32_t root,
                             uint32_t *hop_ends, uint32_t *out_ends) {
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    const SambaUnit *unit = &builder->section->units[stream->destinations[d].unit];
    uint32_t h = 0;
    while (h < stream->hop_count &&
           (hop_ends[h] == SAMBA_NO_INDEX || !endsAt(&stream->hops[h], unit)))
      ++h;
    out_ends[d] = h < stream->hop_count ? hop_ends[h] : addPrivateBranch(builder, root);
    if (h < stream->hop_count)
      hop_ends[h] = SAMBA_NO_INDEX;
    builder->fifos.data[out_ends[d]].taker = stream->destinations[d].unit;
  }
}

/* Cycles from a stream's source to the unit, over its FIFOs when none of them holds anything up. */
static uint64_t latencyTo(const Builder *builder, size_t first_branch, uint32_t fifo) {
  uint64_t cycles = 0;
  for (size_t b = builder->branches.size; b-- > first_branch;)
    if (builder->branches.data[b].to == fifo) {
      cycles += builder->branches.data[b].cycles;
      fifo = builder->branches.data[b].from;
    }
  return cycles;
}

/* Control tokens go straight to counters at their destinations. */
static void makeControl(Builder *builder, const SambaStream *stream, SambaStreamRoots *roots,
                        size_t first_branch) {
  const SambaUnit *source = &builder->section->units[stream->source.unit];
  uint64_t tokens = sambaPortTokens(source, true, stream->source.port);
  uint64_t depth = tokens < mostControlTokens ? tokens : mostControlTokens;
  roots->roots = SAMBA_ARENA_ARRAY(builder->arena, SambaStreamRoot, stream->destination_count);
  roots->count = stream->destination_count;

  for (uint32_t d = 0; d < stream->destination_count; ++d)
    roots->roots[d].cycles = latencyTo(builder, first_branch, roots->ends[d]);
  builder->branches.size = first_branch;
  builder->lanes.size = first_branch;
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    uint32_t fifo = addFifo(builder, depth ? depth : 1);
    SambaFifo *counter = &builder->fifos.data[fifo];
    counter->is_control = counter->fed_by_unit = true;
    counter->feeder = stream->source.unit;
    counter->taker = stream->destinations[d].unit;
    roots->roots[d].fifo = roots->ends[d] = fifo;
  }
}

static void buildStream(Builder *builder, uint32_t index) {
  const SambaStream *stream = &builder->section->streams[index];
  SambaStreamRoots *roots = &builder->network->streams[index];
  size_t first_branch = builder->branches.size;
  uint32_t *hop_ends = sambaAllocate(sambaArraySize(stream->hop_count, sizeof *hop_ends));
  uint32_t root = addHops(builder, stream, hop_ends);

  roots->entrance = SAMBA_NO_INDEX;
  roots->ends = SAMBA_ARENA_ARRAY(builder->arena, uint32_t, stream->destination_count);
  joinDestinations(builder, stream, root, hop_ends, roots->ends);
  free(hop_ends);
  if (stream->kind == SAMBA_STREAM_CONTROL) {
    makeControl(builder, stream, roots, first_branch);
    return;
  }

  roots->count = 1;
  roots->roots = SAMBA_ARENA_NEW(builder->arena, SambaStreamRoot);
  roots->roots[0].fifo = root;
  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    const SambaHop *hop = &stream->hops[h];
    if (hop->in.port >= SAMBA_SWITCH_UNIT)
      sambaArrayAppend(&builder->entrances, nameOf(stream->kind, hop->x, hop->y, &hop->in, index));
  }
}

/* Branches stand together by the FIFO that they leave. */
static int compareBranches(const void *a, const void *b, void *branches) {
  const SambaBranch *x = (const SambaBranch *)branches + *(const uint32_t *)a;
  const SambaBranch *y = (const SambaBranch *)branches + *(const uint32_t *)b;
  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  return (x->to > y->to) - (x->to < y->to);
}

static void arrangeBranches(Builder *builder) {
  SambaNetwork *network = builder->network;
  uint32_t count = (uint32_t)builder->branches.size;
  uint32_t *order = sambaAllocate(sambaArraySize(count, sizeof *order));
  uint32_t *place = sambaAllocate(sambaArraySize(count, sizeof *place));
  for (uint32_t b = 0; b < count; ++b)
    order[b] = b;
  if (count)
    qsort_r(order, count, sizeof *order, compareBranches, builder->branches.data);

  network->branch_count = count;
  network->branches = SAMBA_ARENA_ARRAY(builder->arena, SambaBranch, count);
  for (uint32_t b = 0; b < count; ++b) {
    network->branches[b] = builder->branches.data[order[b]];
    place[order[b]] = b;
    SambaFifo *from = &builder->fifos.data[network->branches[b].from];
    if (!from->branch_count++)
      from->first_branch = b;
    from->branches_left = from->branch_count;
  }

  for (size_t l = 0; l < builder->lanes.size; ++l)
    builder->lanes.data[l].user = place[builder->lanes.data[l].user];
  free(order);
  free(place);
}

/* What a lane with few branches needs lies in it. */
static void keepNear(SambaLane *lane, SambaArena *arena) {
  lane->pending = &lane->word;
  if (lane->branch_count > 64)
    lane->pending = SAMBA_ARENA_ARRAY(arena, uint64_t, lane->branch_count / 64 + 1);
  lane->only = lane->branches[0];
  if (lane->branch_count == 1)
    lane->branches = &lane->only;
}

static void arrangeLanes(Builder *builder) {
  SambaNetwork *network = builder->network;
  const LaneName *names = builder->lanes.data;
  size_t count = builder->lanes.size;
  if (count)
    qsort(builder->lanes.data, count, sizeof *names, compareNames);
  for (size_t i = 0; i < count; ++i)
    network->lane_count += !i || !sameName(&names[i], &names[i - 1]);
  network->lanes = SAMBA_ARENA_ARRAY(builder->arena, SambaLane, network->lane_count);

  SambaLane *lane = network->lanes - 1;
  uint32_t *users = SAMBA_ARENA_ARRAY(builder->arena, uint32_t, count);
  for (size_t i = 0; i < count; ++i) {
    if (!i || !sameName(&names[i], &names[i - 1]))
      (++lane)->branches = &users[i];
    users[i] = names[i].user;
    SambaBranch *branch = &network->branches[users[i]];
    branch->lane = (uint32_t)(lane - network->lanes);
    branch->place = lane->branch_count++;
    builder->fifos.data[branch->to].feeder = branch->lane;
  }
  for (uint32_t l = 0; l < network->lane_count; ++l)
    keepNear(&network->lanes[l], builder->arena);
}

/* Units' ports that several streams use. */
static void arrangeEntrances(Builder *builder) {
  SambaNetwork *network = builder->network;
  const LaneName *names = builder->entrances.data;
  size_t count = builder->entrances.size;
  if (count)
    qsort(builder->entrances.data, count, sizeof *names, compareNames);
  network->entrances = SAMBA_ARENA_ARRAY(builder->arena, SambaEntrance, count);

  for (size_t first = 0, end; first < count; first = end) {
    bool shared = false;
    for (end = first + 1; end < count && sameName(&names[end], &names[first]); ++end)
      shared |= names[end].user != names[first].user;
    if (!shared)
      continue;
    for (size_t i = first; i < end; ++i)
      network->streams[names[i].user].entrance = network->entrance_count;
    ++network->entrance_count;
  }
}

/* Neighbours on a way lie beside each other, each in lines of the host's cache of its own. */
static void placeFifos(Builder *builder) {
  SambaNetwork *network = builder->network;
  size_t size = builder->fifos.size * sizeof(SambaFifo);
  uintptr_t memory = (uintptr_t)sambaArenaAllocate(builder->arena, size + sizeof(SambaFifo));
  network->fifos = (SambaFifo *)((memory + sizeof(SambaFifo) - 1) / 128 * 128);
  for (uint32_t f = 0; f < network->fifo_count; ++f) {
    SambaFifo *fifo = &network->fifos[f];
    *fifo = builder->fifos.data[f];
    fifo->when = fifo->near;
    if (fifo->depth > SAMBA_FIFO_NEAR)
      fifo->when = SAMBA_ARENA_ARRAY(builder->arena, uint32_t, fifo->depth);
  }
}

_Static_assert(sizeof(SambaFifo) == 128, "two lines");

void sambaNetworkBuild(SambaNetwork *network, SambaArena *arena, const SambaMachine *machine,
                       const SambaSection *section) {
  Builder builder = {.network = network, .arena = arena, .section = section};
  network->machine = machine;
  network->streams = SAMBA_ARENA_ARRAY(arena, SambaStreamRoots, section->stream_count);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    buildStream(&builder, s);

  arrangeBranches(&builder);
  arrangeLanes(&builder);
  arrangeEntrances(&builder);
  network->fifo_count = (uint32_t)builder.fifos.size;
  placeFifos(&builder);
  sambaArrayFree(&builder.fifos);
  sambaArrayFree(&builder.branches);
  sambaArrayFree(&builder.lanes);
  sambaArrayFree(&builder.entrances);
  sambaArrayFree(&builder.arrivals);
}
