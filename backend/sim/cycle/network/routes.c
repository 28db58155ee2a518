/* From hops to FIFOs, branches and lanes; see routes.h. */
#include "backend/sim/cycle/network/routes.h"

#include "backend/section/access.h"

#include <stdlib.h>

/* What a counter of control tokens can count to. */
enum { mostControlTokens = UINT16_MAX };

/* A lane, or the port of a unit, as hops name it. */
typedef struct LaneName {
  uint64_t place, lane;
  uint32_t user; /* the FIFO behind a lane, or a stream */
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
  SAMBA_ARRAY(SambaFifo) fifos;    /* those of a stream together, later ones behind earlier ones */
  SAMBA_ARRAY(LaneName) lanes;     /* of branches */
  SAMBA_ARRAY(LaneName) entrances; /* of streams */
  SAMBA_ARRAY(Arrival) arrivals;   /* of the stream at work */
  SAMBA_ARRAY(SambaWay) ways;      /* into the FIFOs */
  uint64_t private_lanes;
} Builder;

static LaneName nameOf(SambaStreamKind kind, int32_t x, int32_t y, const SambaSwitchLane *lane,
                       uint32_t user) {
  uint64_t ag = lane->port == SAMBA_SWITCH_AG ? lane->ag : 0;
  return (LaneName){(uint64_t)(uint32_t)x << 32 | (uint32_t)y,
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

static uint32_t addFifo(Builder *builder, uint64_t depth, uint32_t from) {
  SambaFifo fifo = {.depth = (uint16_t)depth, .taker = SAMBA_NO_INDEX, .from = from};
  SambaWay way = {.vector_at = UINT32_MAX, .crossing = SAMBA_NO_INDEX};
  sambaArrayAppend(&builder->fifos, fifo);
  sambaArrayAppend(&builder->ways, way);
  return (uint32_t)builder->fifos.size - 1;
}

/* A way over a lane to a new FIFO. */
static uint32_t addBranch(Builder *builder, uint32_t from, uint64_t cycles, LaneName lane) {
  uint32_t to = addFifo(builder, (uint64_t)builder->network->machine->fifo_depth, from);
  lane.user = to;
  sambaArrayAppend(&builder->lanes, lane);
  builder->fifos.data[to].cycles = (uint16_t)cycles;
  builder->fifos.data[to].is_link = true;
  return to;
}

/* A link that only this way uses. */
static uint32_t addPrivateBranch(Builder *builder, uint32_t from) {
  LaneName lane = {UINT64_MAX, builder->private_lanes++, 0};
  return addBranch(builder, from, (uint64_t)builder->network->machine->hop_cycles, lane);
}

static bool isMemory(const Builder *builder, uint32_t unit) {
  return sambaUnitIsAddressGenerator(&builder->section->units[unit]);
}

/* A FIFO that the stream's source fills. */
static uint32_t addRoot(Builder *builder, const SambaStream *stream, uint64_t depth) {
  uint32_t fifo = addFifo(builder, depth, stream->source.unit);
  builder->fifos.data[fifo].fed_by_unit = true;
  builder->fifos.data[fifo].from_memory = isMemory(builder, stream->source.unit);
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
  uint32_t root = addRoot(builder, stream, (uint64_t)builder->network->machine->fifo_depth);
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

/* A unit takes from the FIFO. */
static void endAt(Builder *builder, uint32_t fifo, uint32_t unit) {
  builder->fifos.data[fifo].taker = unit;
  builder->fifos.data[fifo].to_memory = isMemory(builder, unit);
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
    endAt(builder, out_ends[d], stream->destinations[d].unit);
  }
}

/* Cycles from a stream's source to a FIFO when nothing holds up anything on the way. */
static uint64_t latencyTo(const Builder *builder, uint32_t fifo) {
  uint64_t cycles = 0;
  for (const SambaFifo *way = &builder->fifos.data[fifo]; !way->fed_by_unit;
       way = &builder->fifos.data[way->from])
    cycles += way->cycles;
  return cycles;
}

static SambaStreamRoot *rootOf(SambaStreamRoots *roots, uint32_t n) {
  return n ? &roots->others[n - 1] : &roots->first;
}

/* Control tokens go straight to counters at their destinations, which take the place of the FIFOs
 * from `first` on. */
static void makeControl(Builder *builder, const SambaStream *stream, SambaStreamRoots *roots,
                        size_t first, size_t first_lane) {
  const SambaUnit *source = &builder->section->units[stream->source.unit];
  uint64_t tokens = sambaPortTokens(source, true, stream->source.port);
  uint64_t depth = tokens < mostControlTokens ? tokens : mostControlTokens;
  roots->others = SAMBA_ARENA_ARRAY(builder->arena, SambaStreamRoot, stream->destination_count);
  roots->count = stream->destination_count;

  for (uint32_t d = 0; d < stream->destination_count; ++d)
    rootOf(roots, d)->cycles = latencyTo(builder, roots->ends[d]);
  builder->fifos.size = builder->ways.size = first;
  builder->lanes.size = first_lane;
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    uint32_t fifo = addRoot(builder, stream, sambaLater(1, depth));
    builder->fifos.data[fifo].is_control = true;
    endAt(builder, fifo, stream->destinations[d].unit);
    rootOf(roots, d)->fifo = roots->ends[d] = fifo;
  }
}

static void buildStream(Builder *builder, uint32_t index) {
  const SambaStream *stream = &builder->section->streams[index];
  SambaStreamRoots *roots = &builder->network->streams[index];
  size_t first = builder->fifos.size, first_lane = builder->lanes.size;
  uint32_t *hop_ends = sambaAllocate(sambaArraySize(stream->hop_count, sizeof *hop_ends));
  uint32_t root = addHops(builder, stream, hop_ends);

  roots->index = index;
  roots->entrance = SAMBA_NO_INDEX;
  roots->ends = SAMBA_ARENA_ARRAY(builder->arena, uint32_t, stream->destination_count);
  joinDestinations(builder, stream, root, hop_ends, roots->ends);
  free(hop_ends);
  if (stream->kind == SAMBA_STREAM_CONTROL) {
    makeControl(builder, stream, roots, first, first_lane);
    return;
  }

  roots->count = 1;
  roots->first.fifo = root;
  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    const SambaHop *hop = &stream->hops[h];
    if (hop->in.port >= SAMBA_SWITCH_UNIT)
      sambaArrayAppend(&builder->entrances, nameOf(stream->kind, hop->x, hop->y, &hop->in, index));
  }
}

/* The names from `first` on that are the same. */
static size_t sameNames(const LaneName *names, size_t first, size_t count) {
  size_t end = first + 1;
  while (end < count && sameName(&names[end], &names[first]))
    ++end;
  return end - first;
}

/* How many crossings of the sets the lanes of a size take. */
static uint32_t crossingsFor(size_t size, size_t lanes) {
  if (size > SAMBA_LANES_LARGEST)
    return (uint32_t)(lanes * ((size + 63) / 64 * 64));
  size_t per_word = 64 / (size + 1);
  return (uint32_t)((lanes + per_word - 1) / per_word * 64);
}

/* Where the n-th lane of a size stands, when the first one stands at `first`. */
static uint32_t laneAt(uint32_t first, size_t size, size_t n) {
  if (size > SAMBA_LANES_LARGEST)
    return first + crossingsFor(size, n);
  size_t per_word = 64 / (size + 1);
  return first + (uint32_t)(n / per_word * 64 + n % per_word * (size + 1));
}

/* Adds the lanes that `size` ways share; `first`: where they stand. */
static void addLanes(Builder *builder, size_t size, uint32_t first) {
  SambaNetwork *network = builder->network;
  const LaneName *names = builder->lanes.data;
  size_t count = builder->lanes.size, same, n = 0;
  for (size_t i = 0; i < count; i += same) {
    same = sameNames(names, i, count);
    if (same != size)
      continue;
    uint32_t crossing = laneAt(first, size, n++);
    SambaLanes *lanes = &network->lanes[crossing / 64];
    lanes->firsts |= UINT64_C(1) << crossing % 64;
    if (size <= SAMBA_LANES_LARGEST)
      lanes->guards |= UINT64_C(1) << (crossing + size) % 64;
    lanes->behind = UINT64_MAX;
    for (size_t w = 0; w <= (size - 1) / 64; ++w)
      lanes[w].size = (uint32_t)size;
    for (size_t user = i; user < i + same; ++user, ++crossing) {
      builder->fifos.data[names[user].user].is_link = false;
      builder->ways.data[names[user].user].crossing = crossing;
      network->crossings[crossing].way = names[user].user;
      network->lane_of[crossing] = network->lane_count;
    }
    ++network->lane_count;
  }
}

/* Lanes for what several ways share; the others are links. Lanes with as many ways stand together
 * (network.h). */
static void arrangeLanes(Builder *builder) {
  SambaNetwork *network = builder->network;
  const LaneName *names = builder->lanes.data;
  size_t count = builder->lanes.size, same;
  if (count)
    qsort(builder->lanes.data, count, sizeof *names, compareNames);
  size_t *lanes = sambaAllocateZeroed(count + 1, sizeof *lanes); /* by size */
  for (size_t i = 0; i < count; i += same) {
    same = sameNames(names, i, count);
    ++lanes[same];
  }

  size_t least = network->steps_links ? 1 : 2;
  for (size_t size = least; size <= count; ++size)
    network->crossing_count += crossingsFor(size, lanes[size]);
  network->crossings = SAMBA_ARENA_ARRAY(builder->arena, SambaCrossing, network->crossing_count);
  network->lane_of = SAMBA_ARENA_ARRAY(builder->arena, uint32_t, network->crossing_count);
  network->lanes = SAMBA_ARENA_ARRAY(builder->arena, SambaLanes, network->crossing_count / 64);
  uint32_t first = 0;
  for (size_t size = least; size <= count; first += crossingsFor(size, lanes[size]), ++size)
    if (lanes[size])
      addLanes(builder, size, first);
  free(lanes);
}

/* Can a FIFO be a part of a chain (fifo.h)? */
static bool fitsChain(const SambaNetwork *network, uint64_t way_cycles) {
  return way_cycles + network->credit_cycles <= (uint64_t)network->machine->fifo_depth;
}

/* Joins FIFOs to the chains that begin before them. *into: the one that each goes into, or itself;
 * those that lead to others come first. */
static void joinChains(Builder *builder, uint32_t *into) {
  const SambaNetwork *network = builder->network;
  uint32_t count = (uint32_t)builder->fifos.size;
  for (uint32_t f = 0; f < count; ++f) {
    const SambaFifo *fifo = &builder->fifos.data[f];
    into[f] = f;
    if (!fifo->fed_by_unit)
      ++builder->fifos.data[fifo->from].branch_count;
  }

  for (uint32_t f = 0; f < count && !network->steps_links; ++f) {
    const SambaFifo *last = &builder->fifos.data[f];
    if (!last->is_link)
      continue;
    const SambaFifo *before = &builder->fifos.data[last->from];
    SambaFifo *first = &builder->fifos.data[into[last->from]];
    bool chain = first->is_chain;
    if (before->branch_count != 1 || first->depth > UINT16_MAX - last->depth ||
        !fitsChain(network, last->cycles) || !(chain || fitsChain(network, first->cycles)))
      continue;

    if (!chain) {
      first->is_chain = true;
      first->chain.fifos = 1;
      first->chain.end_depth = first->depth;
    }
    ++first->chain.fifos;
    first->chain.last_cycles = last->cycles;
    first->depth = (uint16_t)(first->depth + last->depth);
    first->taker = last->taker;
    first->to_memory = last->to_memory;
    first->cycles = (uint16_t)(first->cycles + last->cycles);
    into[f] = into[last->from];
  }
}

/* Gives every FIFO its place: the branches of one stand together, and what vectors pass one after
 * the other lies close together. A line stands before several branches. *order: the FIFOs by place,
 * SAMBA_NO_INDEX for such a line; returns how many. */
static uint32_t orderFifos(const Builder *builder, const uint32_t *into, uint32_t *order) {
  uint32_t count = (uint32_t)builder->fifos.size, ordered = 0;
  const SambaFifo *fifos = builder->fifos.data;
  uint32_t *next = sambaAllocate(sambaArraySize(count, sizeof *next)); /* of the same FIFO */
  uint32_t *branch = sambaAllocate(sambaArraySize(count, sizeof *branch));
  for (uint32_t f = 0; f < count; ++f)
    branch[f] = SAMBA_NO_INDEX;
  for (uint32_t f = count; f-- > 0;)
    if (!fifos[f].fed_by_unit && into[f] == f) {
      uint32_t from = into[fifos[f].from];
      next[f] = branch[from];
      branch[from] = f;
    }

  for (uint32_t f = 0; f < count; ++f) {
    if (!fifos[f].fed_by_unit)
      continue;
    uint32_t done = ordered;
    order[ordered++] = f;
    for (; done < ordered; ++done) {
      uint32_t first = order[done] == SAMBA_NO_INDEX ? SAMBA_NO_INDEX : branch[order[done]];
      if (first != SAMBA_NO_INDEX && next[first] != SAMBA_NO_INDEX)
        order[ordered++] = SAMBA_NO_INDEX;
      for (uint32_t b = first; b != SAMBA_NO_INDEX; b = next[b])
        order[ordered++] = b;
    }
  }
  free(next);
  free(branch);
  return ordered;
}

/* Where a FIFO keeps the cycles of its slots. */
static void giveSlots(SambaFifo *fifo, SambaArena *arena) {
  uint32_t slots = SAMBA_FIFO_NEAR;
  while (slots < fifo->depth)
    slots *= 2;
  fifo->mask = (uint16_t)(slots - 1);
  fifo->is_near = !fifo->is_chain && slots == SAMBA_FIFO_NEAR;
  fifo->slots = fifo->near;
  if (fifo->is_near)
    return;
  fifo->slots = SAMBA_ARENA_ARRAY(arena, uint16_t, slots);
  if (fifo->branch_count > 1)
    fifo->far_passed = SAMBA_ARENA_ARRAY(arena, uint32_t, slots);
}

_Static_assert(sizeof(SambaFifo) == 64, "a line of the host's cache");
_Static_assert(SAMBA_FIFO_NEAR * sizeof(uint32_t) == 64, "the line before several branches");

/* Puts the FIFOs in their places; *place: where each that was added went. */
static void placeFifos(Builder *builder, const uint32_t *order, uint32_t count,
                       const uint32_t *place) {
  SambaNetwork *network = builder->network;
  network->fifos = SAMBA_ARENA_LINES(builder->arena, SambaFifo, count);
  network->ways = SAMBA_ARENA_LINES(builder->arena, SambaWay, count);
  network->fifo_count = count;

  for (uint32_t f = 0; f < count; ++f) {
    SambaFifo *fifo = &network->fifos[f];
    if (order[f] == SAMBA_NO_INDEX)
      continue;
    *fifo = builder->fifos.data[order[f]];
    fifo->branch_count = 0;
    network->ways[f] = builder->ways.data[order[f]];
    if (fifo->fed_by_unit)
      continue;
    fifo->from = place[fifo->from];
    SambaFifo *from = &network->fifos[fifo->from];
    if (!from->branch_count)
      from->first_branch = f;
    from->branches_left = ++from->branch_count;
  }
  for (uint32_t f = 0; f < count; ++f)
    if (order[f] != SAMBA_NO_INDEX)
      giveSlots(&network->fifos[f], builder->arena);
}

static uint32_t sortOf(const SambaNetwork *network, const SambaFifo *to) {
  const SambaFifo *from = &network->fifos[to->from];
  uint32_t branches = to->branch_count < 2 ? to->branch_count : 2;
  return (uint32_t)(from->branch_count > 1) << 4 | (uint32_t)!from->is_near << 3 |
         (uint32_t)!to->is_near << 2 | branches;
}

static void placeCrossings(Builder *builder, const uint32_t *place) {
  SambaNetwork *network = builder->network;
  for (size_t n = 0; n < builder->lanes.size; ++n) {
    uint32_t user = builder->lanes.data[n].user;
    if (builder->fifos.data[user].is_link)
      continue;
    SambaCrossing *crossing = &network->crossings[builder->ways.data[user].crossing];
    crossing->way = place[user];
    crossing->sort = sortOf(network, &network->fifos[crossing->way]);
  }
}

static void arrangeFifos(Builder *builder) {
  SambaNetwork *network = builder->network;
  uint32_t added = (uint32_t)builder->fifos.size;
  uint32_t *order = sambaAllocate(sambaArraySize(added, 2 * sizeof *order));
  uint32_t *place = sambaAllocate(sambaArraySize(added, sizeof *place));
  uint32_t *into = sambaAllocate(sambaArraySize(added, sizeof *into));
  joinChains(builder, into);
  uint32_t count = orderFifos(builder, into, order);
  for (uint32_t f = 0; f < count; ++f)
    if (order[f] != SAMBA_NO_INDEX)
      place[order[f]] = f;
  for (uint32_t f = 0; f < added; ++f)
    place[f] = place[into[f]];
  placeFifos(builder, order, count, place);

  placeCrossings(builder, place);
  for (uint32_t s = 0; s < builder->section->stream_count; ++s) {
    SambaStreamRoots *roots = &network->streams[s];
    for (uint32_t r = 0; r < roots->count; ++r) {
      SambaStreamRoot *root = rootOf(roots, r);
      root->fifo = place[root->fifo];
      root->cycles += network->fifos[root->fifo].cycles;
    }
    for (uint32_t d = 0; d < builder->section->streams[s].destination_count; ++d)
      roots->ends[d] = place[roots->ends[d]];
  }
  free(order);
  free(place);
  free(into);
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

/* May the cycle in which something passes a link lie too far ahead of the clock for a FIFO? On
 * its longest way it may wait for every vector of a full FIFO at every hop. */
static bool waysAreTooLong(const SambaMachine *machine, const SambaSection *section) {
  uint64_t hops = 1;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    hops = sambaLater(hops, section->streams[s].hop_count);
  uint64_t cycles = (uint64_t)(machine->hop_cycles + machine->die_crossing_cycles +
                               machine->credit_cycles + machine->fifo_depth);
  return hops * cycles > SAMBA_FIFO_AHEAD;
}

void sambaNetworkBuild(SambaNetwork *network, SambaArena *arena, const SambaMachine *machine,
                       const SambaSection *section) {
  Builder builder = {.network = network, .arena = arena, .section = section};
  network->machine = machine;
  /* What is left of the credit's round trip after the hop. */
  int64_t credit_cycles = machine->credit_cycles - machine->hop_cycles;
  network->credit_cycles = credit_cycles > 1 ? (uint64_t)credit_cycles : 1;
  network->steps_links |= waysAreTooLong(machine, section);
  network->stream_count = section->stream_count;
  network->streams = SAMBA_ARENA_ARRAY(arena, SambaStreamRoots, section->stream_count);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    buildStream(&builder, s);

  arrangeLanes(&builder);
  arrangeFifos(&builder);
  arrangeEntrances(&builder);
  sambaArrayFree(&builder.fifos);
  sambaArrayFree(&builder.ways);
  sambaArrayFree(&builder.lanes);
  sambaArrayFree(&builder.entrances);
  sambaArrayFree(&builder.arrivals);
}
