/* Routing, the entry: streams to nets, physical ports of units, hops from trees, and the errors. */
#include "backend/place/router/route.h"

#include "backend/place/router/routing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 4 * SAMBA_LANE_CLASSES };
enum { LISTED = 8 }; /* streams named in an error before "and N more" */

static uint32_t unitSwitch(const SambaSection *section, const SambaMachine *machine,
                           uint32_t unit) {
  int32_t x, y;
  sambaUnitSwitch(machine, &section->units[unit], &x, &y);
  return (uint32_t)y * (uint32_t)machine->grid_columns + (uint32_t)x;
}

static SambaStatus checkPlaced(const SambaSection *section, const SambaMachine *machine) {
  for (uint32_t i = 0; i < section->unit_count; ++i) {
    const SambaUnit *u = &section->units[i];
    if (sambaUnitIsAddressGenerator(u)
            ? u->load_store.ag >= machine->ag_count
            : u->x < 0 || u->y < 0 || u->x >= machine->grid_columns || u->y >= machine->grid_rows)
      return sambaStatusMake(
          SAMBA_INVALID,
          "section @%s: unit %s has no place on %s; place the section before routing it",
          section->name, u->name, machine->name);
  }
  return NULL;
}

/* "load0 -> buffer2" or "load0 -> buffer2 and 12 more". */
static char *describeStream(SambaArena *arena, const SambaSection *section, uint32_t index) {
  const SambaStream *stream = &section->streams[index];
  const char *source = section->units[stream->source.unit].name;
  const char *first =
      stream->destination_count ? section->units[stream->destinations[0].unit].name : "nothing";
  if (stream->destination_count > 1)
    return sambaArenaFormat(arena, "%s -> %s and %u more", source, first,
                            stream->destination_count - 1);
  return sambaArenaFormat(arena, "%s -> %s", source, first);
}

typedef struct {
  uint32_t count, rate;
  SAMBA_ARRAY(uint32_t) streams;
} Crowd;

static char *describeCrowd(SambaArena *arena, const SambaSection *section, const Crowd *crowd) {
  char *text = sambaArenaFormat(arena, "%s", "");
  for (uint32_t i = 0; i < crowd->count && i < LISTED; ++i)
    text = sambaArenaFormat(arena, "%s%s%s", text, i ? "; " : "",
                            describeStream(arena, section, crowd->streams.data[i]));
  return crowd->count > LISTED
             ? sambaArenaFormat(arena, "%s; and %u more", text, crowd->count - LISTED)
             : text;
}

/* Rates rounded up to hundredths, so that 1.001 does not look like 1. */
#define RATE_ARGS(rate) ((rate) + 9) / 1000, ((rate) + 9) % 1000 / 10

static const char *plural(uint32_t count) { return count == 1 ? "" : "s"; }

static SambaStatus linkOverused(const SambaRouting *routing, uint32_t channel) {
  static const char *const sides[] = {"north", "east", "south", "west"};
  SambaArena arena = {0};

  Crowd crowd = {0};
  for (uint32_t n = 0; n < routing->net_count; ++n)
    for (size_t b = 0; b < routing->nets[n].tree.size; ++b)
      if (routing->nets[n].tree.data[b].channel / SAMBA_LANE_CLASSES ==
          channel / SAMBA_LANE_CLASSES) {
        ++crowd.count;
        crowd.rate += routing->nets[n].rate;
        sambaArrayAppend(&crowd.streams, routing->nets[n].stream);
      }
  uint32_t node = sambaChannelSwitch(channel);
  bool by_flows = crowd.count > routing->lanes * routing->flows;
  char *limit =
      by_flows ? sambaArenaFormat(&arena, "%u lane%s of %u flow%s", routing->lanes,
                                  plural(routing->lanes), routing->flows, plural(routing->flows))
               : sambaArenaFormat(&arena, "%u lane%s", routing->lanes, plural(routing->lanes));
  SambaStatus status = sambaStatusMake(
      SAMBA_EXHAUSTED,
      "section @%s: link (%u,%u) %s carries %u %s streams of %u.%02u in all, but %s has %s: %s",
      routing->section->name, node % (uint32_t)routing->width, node / (uint32_t)routing->width,
      sides[sambaChannelSide(channel)], crowd.count, sambaStreamKindName(routing->kind),
      RATE_ARGS(crowd.rate), routing->machine->name, limit,
      describeCrowd(&arena, routing->section, &crowd));
  uint32_t largest = crowd.streams.data[0];
  for (uint32_t i = 1; i < crowd.count; ++i)
    if (routing->demands.rates[crowd.streams.data[i]] > routing->demands.rates[largest])
      largest = crowd.streams.data[i];
  const char *layer = routing->section->units[routing->section->streams[largest].source.unit].layer;
  sambaStatusNote(
      status, "the largest is %s with %u.%02u%s%s%s",
      describeStream(&arena, routing->section, largest), RATE_ARGS(routing->demands.rates[largest]),
      layer && layer[0] ? ", of layer '" : "", layer ? layer : "", layer && layer[0] ? "'" : "");
  sambaStatusNote(
      status,
      "lower the section's parallel factor, split the section, place the units of these streams "
      "apart, or choose a machine with more lanes per link");
  sambaArrayFree(&crowd.streams);
  sambaArenaDestroy(&arena);

  return status;
}

/* One use of a unit's physical port: the source of a stream, or one of its destinations. */
typedef struct {
  uint32_t unit, stream, destination; /* destination: 0 for the source, else index + 1 */
} PortUse;

static int comparePortUses(const void *a, const void *b) {
  const PortUse *pa = a, *pb = b;
  if (pa->unit != pb->unit)
    return pa->unit < pb->unit ? -1 : 1;
  if (pa->stream != pb->stream)
    return pa->stream < pb->stream ? -1 : 1;
  return pa->destination < pb->destination ? -1 : pa->destination > pb->destination;
}

static int compareClaimIndices(const void *a, const void *b) {
  uint32_t ia = ((const SambaLaneClaim *)a)->index;
  uint32_t ib = ((const SambaLaneClaim *)b)->index;
  return ia < ib ? -1 : ia > ib;
}

/* Physical port and flow id of each end of each stream of one kind: ends[offset[stream] +
 * destination]. */
typedef struct {
  uint32_t *offset;
  SambaSwitchLane *ends;
} PortTable;

static SambaStatus portsOverused(const SambaRouting *routing, const PortUse *uses, uint32_t count,
                                 uint32_t ports, bool outputs) {
  SambaArena arena = {0};
  Crowd crowd = {.count = count};
  for (uint32_t i = 0; i < count; ++i) {
    crowd.rate += routing->demands.rates[uses[i].stream];
    sambaArrayAppend(&crowd.streams, uses[i].stream);
  }

  const SambaUnit *unit = &routing->section->units[uses[0].unit];
  char *limit =
      count > ports * routing->flows
          ? sambaArenaFormat(&arena, " of %u flow%s", routing->flows, plural(routing->flows))
          : "";
  SambaStatus status = sambaStatusMake(
      SAMBA_EXHAUSTED,
      "section @%s: unit %s %s %u %s stream%s of %u.%02u in all, but a unit of %s has %u %s "
      "%s%s%s: %s",
      routing->section->name, unit->name, outputs ? "sends" : "receives", count,
      sambaStreamKindName(routing->kind), plural(count), RATE_ARGS(crowd.rate),
      routing->machine->name, ports, sambaStreamKindName(routing->kind),
      outputs ? "output" : "input", plural(ports), limit,
      describeCrowd(&arena, routing->section, &crowd));
  if (unit->layer && unit->layer[0])
    sambaStatusNote(status, "unit %s works for layer '%s'", unit->name, unit->layer);
  sambaStatusNote(status, "spread the streams over more units, or lower the parallel factor");
  sambaArrayFree(&crowd.streams);
  sambaArenaDestroy(&arena);

  return status;
}

/* Puts claims in the order of the uses again; where one stream uses one unit several times, lanes
 * ascend with the destinations, because hops at one unit are matched with destinations in order
 * (fabric.h). */
static void sortRepeated(const PortUse *uses, SambaLaneClaim *claims, uint32_t count) {
  qsort(claims, count, sizeof *claims, compareClaimIndices);
  for (uint32_t i = 1; i < count; ++i)
    for (uint32_t k = i; k > 0 && uses[k].stream == uses[k - 1].stream; --k) {
      uint32_t place = (uint32_t)claims[k].lane << 16 | claims[k].flow;
      uint32_t before = (uint32_t)claims[k - 1].lane << 16 | claims[k - 1].flow;
      if (before < place)
        break;
      claims[k].lane = (uint16_t)(before >> 16);
      claims[k].flow = (uint16_t)before;
      claims[k - 1].lane = (uint16_t)(place >> 16);
      claims[k - 1].flow = (uint16_t)place;
    }
}

/* By `loads` of the section's streams. */
static SambaStatus assignPorts(const SambaRouting *routing, const uint32_t *loads, PortTable *table,
                               bool outputs) {
  const SambaSection *section = routing->section;
  SAMBA_ARRAY(PortUse) uses = {0};
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    if (stream->kind != routing->kind)
      continue;
    if (outputs)
      sambaArrayAppend(&uses, (PortUse){stream->source.unit, s, 0});
    else
      for (uint32_t d = 0; d < stream->destination_count; ++d)
        sambaArrayAppend(&uses, (PortUse){stream->destinations[d].unit, s, d + 1});
  }

  if (uses.size)
    qsort(uses.data, uses.size, sizeof *uses.data, comparePortUses);
  uint32_t ports = sambaUnitLanes(routing->machine, routing->kind, outputs);
  SambaLaneClaim *claims = sambaAllocateZeroed(uses.size, sizeof *claims);
  SambaStatus status = NULL;

  for (size_t i = 0, j; i < uses.size && !status; i = j) {
    for (j = i; j < uses.size && uses.data[j].unit == uses.data[i].unit; ++j)
      claims[j - i] = (SambaLaneClaim){loads[uses.data[j].stream], (uint32_t)(j - i), 0, 0};
    if (!sambaLanesAssign(claims, (uint32_t)(j - i), ports, routing->flows)) {
      status = portsOverused(routing, &uses.data[i], (uint32_t)(j - i), ports, outputs);
      break;
    }
    const SambaUnit *unit = &section->units[uses.data[i].unit];
    bool is_ag = sambaUnitIsAddressGenerator(unit);
    sortRepeated(&uses.data[i], claims, (uint32_t)(j - i));
    for (size_t k = 0; k < j - i; ++k) {
      const PortUse *use = &uses.data[i + k];
      table->ends[table->offset[use->stream] + use->destination] =
          (SambaSwitchLane){.port = is_ag ? SAMBA_SWITCH_AG : SAMBA_SWITCH_UNIT,
                            .lane = (uint8_t)claims[k].lane,
                            .flow = claims[k].flow,
                            .ag = is_ag ? (uint16_t)unit->load_store.ag : 0};
    }
  }

  free(claims);
  sambaArrayFree(&uses);
  return status;
}

static SambaStatus assignBothPorts(const SambaRouting *routing, const uint32_t *loads,
                                   PortTable *table) {
  SAMBA_RETURN_IF_ERROR(assignPorts(routing, loads, table, true));
  return assignPorts(routing, loads, table, false);
}

/* Ports have room for the bursts, or there are none. */
static SambaStatus assignAllPorts(SambaRouting *routing, PortTable *table) {
  SambaStreamDemands *demands = &routing->demands;
  const uint32_t **bursts[] = {&demands->turns, &demands->fills};
  for (size_t i = 0; i < sizeof bursts / sizeof *bursts; ++i) {
    if (!*bursts[i])
      continue;
    SambaStatus status = assignBothPorts(routing, *bursts[i], table);
    if (!status)
      return NULL;
    sambaStatusFree(status);
    *bursts[i] = NULL;
  }
  return assignBothPorts(routing, demands->rates, table);
}

/* What a stream wants, where it does, but no less than `least`. */
static uint32_t demandOf(const uint32_t *demand, uint32_t stream, uint32_t least) {
  return demand && demand[stream] > least ? demand[stream] : least;
}

/* Distinct switches of the destinations, the source's left out; `seen` has an entry per switch. */
static void makeNet(const SambaRouting *routing, SambaArena *arena, uint32_t stream, uint32_t *seen,
                    SambaNet *net) {
  const SambaStream *s = &routing->section->streams[stream];
  const SambaStreamDemands *demands = &routing->demands;
  uint32_t rate = demands->rates[stream], fill = demandOf(demands->fills, stream, rate);
  *net = (SambaNet){.stream = stream,
                    .least = rate,
                    .rate = rate,
                    .fill = fill,
                    .turn = demandOf(demands->turns, stream, fill),
                    .wish = demandOf(demands->wishes, stream, rate)};
  if (demands->least && demands->least[stream] < rate)
    net->least = demands->least[stream];
  net->source = unitSwitch(routing->section, routing->machine, s->source.unit);
  net->sinks = SAMBA_ARENA_ARRAY(arena, uint32_t, s->destination_count);
  net->sink_branch = SAMBA_ARENA_ARRAY(arena, uint32_t, s->destination_count);
  seen[net->source] = stream + 1;
  for (uint32_t d = 0; d < s->destination_count; ++d) {
    uint32_t node = unitSwitch(routing->section, routing->machine, s->destinations[d].unit);
    if (seen[node] == stream + 1)
      continue;
    seen[node] = stream + 1;
    net->sinks[net->sink_count++] = node;
  }
}

/* One net's tree as the hops walk it: state 0 is the source, state b + 1 the arrival of
 * branch b. */
typedef struct {
  int32_t (*children)[SIDES]; /* per side and class: state or 0 */
  int32_t *served;            /* first destination + 1 whose unit is served in this state */
  int32_t *next_served;       /* per destination, ascending by port, lane and flow */
} HopTree;

static HopTree makeHopTree(const SambaRouting *routing, const SambaNet *net,
                           const SambaSwitchLane *ends, const SambaStream *stream,
                           SambaArena *scratch) {
  uint32_t branches = (uint32_t)net->tree.size;
  HopTree tree = {
      .children = sambaArenaAllocate(scratch, sambaArraySize(branches + 1, sizeof *tree.children)),
      .served = SAMBA_ARENA_ARRAY(scratch, int32_t, branches + 1),
      .next_served = SAMBA_ARENA_ARRAY(scratch, int32_t, stream->destination_count)};
  for (uint32_t b = 0; b < branches; ++b)
    tree.children[net->tree.data[b].parent + 1][net->tree.data[b].channel % SIDES] = (int32_t)b + 1;

  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    uint32_t node = unitSwitch(routing->section, routing->machine, stream->destinations[d].unit);
    uint32_t state = 0;
    for (uint32_t i = 0; node != net->source && i < net->sink_count; ++i)
      if (net->sinks[i] == node) {
        state = net->sink_branch[i] + 1;
        break;
      }
    int32_t *link = &tree.served[state];
    while (*link && sambaSwitchLaneCompare(&ends[*link], &ends[d + 1]) < 0)
      link = &tree.next_served[*link - 1];
    tree.next_served[d] = *link;
    *link = (int32_t)d + 1;
  }

  return tree;
}

/* Writes the hops of one net, depth-first with an explicit stack: in every state the branches in
 * order of their sides, then the units that are served there. This is the order in which streams
 * are recovered from switch entries. */
static void emitNet(const SambaRouting *routing, const SambaNet *net, const SambaSwitchLane *ends,
                    SambaArena *scratch, SambaStream *stream, SambaArena *arena) {
  uint32_t branches = (uint32_t)net->tree.size;
  uint32_t size = 0;
  uint32_t depth = 0;

  HopTree tree = makeHopTree(routing, net, ends, stream, scratch);
  uint32_t *stack = SAMBA_ARENA_ARRAY(scratch, uint32_t, branches + 1);
  uint8_t *side = SAMBA_ARENA_ARRAY(scratch, uint8_t, branches + 1);
  SambaHop *hops = SAMBA_ARENA_ARRAY(arena, SambaHop, branches + stream->destination_count);
  stack[depth++] = 0;

  while (depth) {
    uint32_t state = stack[depth - 1];
    uint32_t node = net->source;
    SambaHop hop = {.in = ends[0]};
    if (state) {
      const SambaBranch *branch = &net->tree.data[state - 1];
      sambaRoutingNext(routing, branch->channel, &node);
      hop.in = (SambaSwitchLane){.port = (uint8_t)(sambaChannelSide(branch->channel) ^ 2),
                                 .lane = (uint8_t)branch->lane,
                                 .flow = branch->flow};
    }

    hop.x = (int32_t)(node % (uint32_t)routing->width);
    hop.y = (int32_t)(node / (uint32_t)routing->width);
    while (side[state] < SIDES && !tree.children[state][side[state]])
      ++side[state];
    if (side[state] < SIDES) {
      uint32_t child = (uint32_t)tree.children[state][side[state]++];
      const SambaBranch *branch = &net->tree.data[child - 1];
      hop.out = (SambaSwitchLane){.port = (uint8_t)sambaChannelSide(branch->channel),
                                  .lane = (uint8_t)branch->lane,
                                  .flow = branch->flow};
      hops[size++] = hop;
      stack[depth++] = child;
      continue;
    }

    for (int32_t d = tree.served[state]; d; d = tree.next_served[d - 1]) {
      hop.out = ends[d];
      hops[size++] = hop;
    }

    --depth;
  }

  stream->hops = hops;
  stream->hop_count = size;
}

/* What a routing is for is filled in. */
static SambaStatus routeKind(SambaRouting *routing, PortTable *table, SambaArena *scratch) {
  const SambaSection *section = routing->section;
  const SambaMachine *machine = routing->machine;
  const SambaStreamKind kind = routing->kind;
  routing->lanes = sambaLinkLanes(machine, kind);
  routing->flows = (uint32_t)machine->flows_per_lane;
  routing->width = (int32_t)machine->grid_columns;
  routing->height = (int32_t)machine->grid_rows;
  routing->class_lanes[0] = (routing->lanes + 1) / 2;
  routing->class_lanes[1] = routing->lanes - routing->class_lanes[0];
  routing->channel_count = sambaChannel((uint32_t)sambaMachineSiteCount(machine), 0, 0);
  uint32_t count = 0, ends = 0;

  for (uint32_t s = 0; s < section->stream_count; ++s)
    count += section->streams[s].kind == kind;
  if (!count)
    return NULL;
  table->offset = SAMBA_ARENA_ARRAY(scratch, uint32_t, section->stream_count);

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    if (section->streams[s].kind != kind)
      continue;
    table->offset[s] = ends;
    ends += 1 + section->streams[s].destination_count;
  }

  table->ends = SAMBA_ARENA_ARRAY(scratch, SambaSwitchLane, ends);
  SAMBA_RETURN_IF_ERROR(assignAllPorts(routing, table));

  routing->nets = SAMBA_ARENA_ARRAY(scratch, SambaNet, count);
  uint32_t *seen = SAMBA_ARENA_ARRAY(scratch, uint32_t, (size_t)sambaMachineSiteCount(machine));
  for (uint32_t s = 0; s < section->stream_count; ++s)
    if (section->streams[s].kind == kind)
      makeNet(routing, scratch, s, seen, &routing->nets[routing->net_count++]);
  uint32_t channel;
  if (!sambaRoutingNegotiate(routing, &channel))
    return linkOverused(routing, channel);
  sambaRoutingAssignLanes(routing);

  return NULL;
}

SambaStatus sambaSectionRouteDemands(SambaSection *section, const SambaMachine *machine,
                                     const SambaStreamDemands *demands) {
  SAMBA_RETURN_IF_ERROR(checkPlaced(section, machine));
  if (machine->network == SAMBA_NETWORK_IDEAL)
    return NULL;
  uint32_t routed = 0;

  for (uint32_t s = 0; s < section->stream_count; ++s)
    routed += section->streams[s].hop_count > 0;
  if (routed == section->stream_count)
    return NULL;
  SambaArena scratch = {0};
  SambaRouting routings[SAMBA_STREAM_CONTROL + 1] = {0};
  PortTable tables[SAMBA_STREAM_CONTROL + 1] = {0};
  SambaStatus status = NULL;
  for (int kind = 0; kind <= SAMBA_STREAM_CONTROL && !status; ++kind) {
    routings[kind] = (SambaRouting){
        .section = section, .machine = machine, .demands = *demands, .kind = (SambaStreamKind)kind};
    status = routeKind(&routings[kind], &tables[kind], &scratch);
  }

  for (int kind = 0; kind <= SAMBA_STREAM_CONTROL; ++kind) {
    SambaRouting *routing = &routings[kind];
    for (uint32_t n = 0; n < routing->net_count; ++n) {
      SambaNet *net = &routing->nets[n];
      if (!status)
        emitNet(routing, net, tables[kind].ends + tables[kind].offset[net->stream], &scratch,
                &section->streams[net->stream], section->arena);
      sambaArrayFree(&net->tree);
    }
  }

  sambaArenaDestroy(&scratch);
  return status;
}

SambaStatus sambaSectionRoute(SambaSection *section, const SambaMachine *machine,
                              const uint32_t *rates, const uint32_t *wishes) {
  return sambaSectionRouteDemands(section, machine,
                                  &(SambaStreamDemands){.rates = rates, .wishes = wishes});
}
