/* The fabric of a placed and routed section; see fabric.h. */
#include "backend/section/fabric/fabric.h"

#include <stdlib.h>

const char *sambaStreamKindName(SambaStreamKind kind) {
  static const char *const names[] = {"vector", "scalar", "control"};
  return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "invalid";
}

const char *sambaSwitchPortName(uint8_t port) {
  static const char *const names[] = {"north", "east", "south", "west", "unit", "ag"};
  return port < sizeof names / sizeof names[0] ? names[port] : NULL;
}

uint32_t sambaUnitLanes(const SambaMachine *machine, SambaStreamKind kind, bool output) {
  switch (kind) {
  case SAMBA_STREAM_VECTOR:
    return (uint32_t)(output ? machine->unit_vector_outputs : machine->unit_vector_inputs);
  case SAMBA_STREAM_SCALAR:
    return (uint32_t)(output ? machine->unit_scalar_outputs : machine->unit_scalar_inputs);
  default:
    return (uint32_t)machine->control_lanes;
  }
}

uint32_t sambaLinkLanes(const SambaMachine *machine, SambaStreamKind kind) {
  switch (kind) {
  case SAMBA_STREAM_VECTOR:
    return (uint32_t)machine->vector_lanes;
  case SAMBA_STREAM_SCALAR:
    return (uint32_t)machine->scalar_lanes;
  default:
    return (uint32_t)machine->control_lanes;
  }
}

void sambaUnitSwitch(const SambaMachine *machine, const SambaUnit *unit, int32_t *out_x,
                     int32_t *out_y) {
  if (!sambaUnitIsAddressGenerator(unit)) {
    *out_x = unit->x;
    *out_y = unit->y;
  } else {
    sambaMachineAgSite(machine, unit->load_store.ag, out_x, out_y);
  }
}

SambaStatus sambaSwitchCheckGenerator(const SambaMachine *machine, int32_t x, int32_t y,
                                      const SambaSwitchLane *lane) {
  if (lane->port != SAMBA_SWITCH_AG)
    return NULL;
  if (lane->ag >= machine->ag_count)
    return sambaStatusMake(SAMBA_INVALID,
                           "switch (%d, %d): address generator is %u, expected 0 to %lld", x, y,
                           lane->ag, (long long)(machine->ag_count - 1));

  int32_t own_x, own_y;
  sambaMachineAgSite(machine, lane->ag, &own_x, &own_y);
  if (x == own_x && y == own_y)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "switch (%d, %d): address generator %u enters the network at switch (%d, "
                         "%d), the edge of tile %u, and nowhere else",
                         x, y, lane->ag, own_x, own_y, sambaMachineTileAt(machine, own_x, own_y));
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

int sambaSwitchLaneCompare(const SambaSwitchLane *a, const SambaSwitchLane *b) {
  int order = COMPARE(a->port, b->port);
  if (!order)
    order = COMPARE(a->ag, b->ag);
  if (!order)
    order = COMPARE(a->lane, b->lane);
  return order ? order : COMPARE(a->flow, b->flow);
}

int sambaSwitchEntryCompare(const SambaSwitchEntry *a, const SambaSwitchEntry *b) {
  int order = COMPARE(a->y, b->y);
  if (!order)
    order = COMPARE(a->x, b->x);
  if (!order)
    order = COMPARE((int)a->kind, (int)b->kind);
  if (!order)
    order = sambaSwitchLaneCompare(&a->in, &b->in);
  return order ? order : sambaSwitchLaneCompare(&a->out, &b->out);
}

static int compareEntries(const void *a, const void *b) { return sambaSwitchEntryCompare(a, b); }

/* Claims a place for a unit; owners hold unit indices. */
static SambaStatus claimPlace(const SambaUnit *units, uint32_t unit, uint32_t *owner,
                              const char *what, int64_t a, int64_t b) {
  if (*owner != SAMBA_NO_INDEX)
    return b < 0
               ? sambaStatusMake(SAMBA_INVALID, "unit '%s': %s %lld is already taken by unit '%s'",
                                 units[unit].name, what, (long long)a, units[*owner].name)
               : sambaStatusMake(
                     SAMBA_INVALID, "unit '%s': %s (%lld, %lld) is already taken by unit '%s'",
                     units[unit].name, what, (long long)a, (long long)b, units[*owner].name);
  *owner = unit;
  return NULL;
}

/* owners: of a generator's ways from and to memory. */
static SambaStatus claimGenerator(const SambaUnit *units, uint32_t index, uint32_t owners[2]) {
  const SambaUnit *unit = &units[index];
  for (int way = 0; way < 2; ++way)
    if (!sambaUnitIsOneWay(unit) || way == (unit->kind == SAMBA_UNIT_STORE))
      SAMBA_RETURN_IF_ERROR(
          claimPlace(units, index, &owners[way], "address generator", unit->load_store.ag, -1));
  return NULL;
}

static SambaStatus checkPlace(const SambaMachine *machine, const SambaUnit *units, uint32_t index,
                              uint32_t *site_owners, uint32_t *ag_owners) {
  const SambaUnit *unit = &units[index];
  const char *kind = sambaUnitKindName(unit->kind);

  if (sambaUnitIsAddressGenerator(unit)) {
    if (unit->load_store.ag == SAMBA_NO_INDEX)
      return sambaStatusMake(SAMBA_INVALID,
                             "unit '%s': a %s needs an address generator, but it is not placed",
                             unit->name, kind);
    if (unit->load_store.ag >= machine->ag_count)
      return sambaStatusMake(
          SAMBA_INVALID, "unit '%s': a %s needs an address generator, ag is %u, expected 0 to %lld",
          unit->name, kind, unit->load_store.ag, (long long)(machine->ag_count - 1));
    return claimGenerator(units, index, &ag_owners[2 * unit->load_store.ag]);
  }

  if (unit->x < 0 || unit->x >= machine->grid_columns || unit->y < 0 ||
      unit->y >= machine->grid_rows)
    return sambaStatusMake(
        SAMBA_INVALID,
        "unit '%s': site (%d, %d) is outside the grid of %lld x %lld sites; it is not placed",
        unit->name, unit->x, unit->y, (long long)machine->grid_columns,
        (long long)machine->grid_rows);
  bool wants_pmu = unit->kind == SAMBA_UNIT_BUFFER;
  if ((sambaMachineSiteKind(machine, unit->x, unit->y) == SAMBA_SITE_PMU) != wants_pmu)
    return sambaStatusMake(
        SAMBA_INVALID, "unit '%s': a %s needs a %s, but site (%d, %d) holds a %s", unit->name, kind,
        wants_pmu ? "PMU" : "PCU", unit->x, unit->y, wants_pmu ? "PCU" : "PMU");
  return claimPlace(units, index, &site_owners[unit->y * machine->grid_columns + unit->x], "site",
                    unit->x, unit->y);
}

SambaStatus sambaPlacementCheck(const SambaMachine *machine, const SambaUnit *units,
                                uint32_t unit_count) {
  size_t sites = (size_t)sambaMachineSiteCount(machine);
  size_t ags = 2 * (size_t)machine->ag_count;
  uint32_t *site_owners = sambaAllocate(sambaArraySize(sites, sizeof *site_owners));
  uint32_t *ag_owners = sambaAllocate(sambaArraySize(ags, sizeof *ag_owners));
  sambaClearIndices(site_owners, sites);
  sambaClearIndices(ag_owners, ags);
  SambaStatus status = NULL;
  for (uint32_t i = 0; i < unit_count && !status; ++i)
    status = checkPlace(machine, units, i, site_owners, ag_owners);
  free(site_owners);
  free(ag_owners);
  return status;
}

static bool meetsUnit(const SambaMachine *machine, const SambaUnit *unit, int32_t x, int32_t y,
                      const SambaSwitchLane *lane) {
  int32_t unitX, unitY;
  sambaUnitSwitch(machine, unit, &unitX, &unitY);
  if (x != unitX || y != unitY)
    return false;
  return !sambaUnitIsAddressGenerator(unit)
             ? lane->port == SAMBA_SWITCH_UNIT
             : lane->port == SAMBA_SWITCH_AG && lane->ag == unit->load_store.ag;
}

/* The lane and flow with which a stream leaves its source. */
static SambaStatus findSourceLane(const SambaSection *section, const SambaMachine *machine,
                                  uint32_t stream, SambaSwitchLane *out_lane) {
  const SambaStream *s = &section->streams[stream];
  const SambaUnit *unit = &section->units[s->source.unit];

  if (s->hop_count == 0)
    return sambaStatusMake(SAMBA_INVALID, "stream %u from unit '%s' output %u is not routed",
                           stream, unit->name, s->source.port);
  const SambaHop *hop = &s->hops[0];
  if (!meetsUnit(machine, unit, hop->x, hop->y, &hop->in))
    return sambaStatusMake(SAMBA_INVALID,
                           "stream %u: its first hop enters the switch at (%d, %d) from '%s', not "
                           "from its source unit '%s'",
                           stream, hop->x, hop->y,
                           sambaSwitchPortName(hop->in.port) ? sambaSwitchPortName(hop->in.port)
                                                             : "invalid",
                           unit->name);
  *out_lane = hop->in;

  return NULL;
}

/* The lane and flow with which a stream reaches one of its destinations. */
static SambaStatus findDestinationLane(const SambaSection *section, const SambaMachine *machine,
                                       uint32_t stream, SambaEndpoint destination,
                                       SambaSwitchLane *out_lane) {
  const SambaStream *s = &section->streams[stream];
  const SambaUnit *unit = &section->units[destination.unit];
  uint32_t skip = 0;

  for (uint32_t d = 0; d < s->destination_count; ++d) {
    if (s->destinations[d].unit == destination.unit && s->destinations[d].port == destination.port)
      break;
    skip += s->destinations[d].unit == destination.unit;
  }

  for (uint32_t h = 0; h < s->hop_count; ++h) {
    const SambaHop *hop = &s->hops[h];
    if (!meetsUnit(machine, unit, hop->x, hop->y, &hop->out))
      continue;
    if (skip-- == 0) {
      *out_lane = hop->out;
      return NULL;
    }
  }

  return sambaStatusMake(SAMBA_INVALID, "stream %u: no hop of it ends at unit '%s' input %u",
                         stream, unit->name, destination.port);
}

static SambaStatus collectPort(const SambaSection *section, const SambaMachine *machine,
                               uint32_t unit, uint32_t port, bool output, SambaFabric *fabric) {
  const SambaUnit *u = &section->units[unit];
  const SambaPort *p = output ? &u->outputs[port] : &u->inputs[port];
  for (uint32_t i = 0; i < p->stream_count; ++i) {
    uint32_t stream = p->streams[i];
    SambaSwitchLane lane = {0};
    SAMBA_RETURN_IF_ERROR(
        output ? findSourceLane(section, machine, stream, &lane)
               : findDestinationLane(section, machine, stream, (SambaEndpoint){unit, port}, &lane));
    fabric->ends[fabric->end_count++] =
        (SambaFlowEnd){unit, port, output, section->streams[stream].kind, lane.lane, lane.flow};
  }
  return NULL;
}

/* Before the flows are looked for: who uses a generator elsewhere shall read that. */
static SambaStatus checkGenerators(const SambaSection *section, const SambaMachine *machine) {
  for (uint32_t s = 0; s < section->stream_count; ++s)
    for (uint32_t h = 0; h < section->streams[s].hop_count; ++h) {
      const SambaHop *hop = &section->streams[s].hops[h];
      SambaStatus status = sambaSwitchCheckGenerator(machine, hop->x, hop->y, &hop->in);
      if (!status)
        status = sambaSwitchCheckGenerator(machine, hop->x, hop->y, &hop->out);
      if (status)
        return sambaStatusAnnotate(status, "stream %u", s);
    }
  return NULL;
}

/*===-- Ideal networks ------------------------------------------------------------------------===*/

/* The number of each stream's wire: streams of a kind in the order of the output ends. */
static SambaStatus numberWires(const SambaSection *section, uint32_t *wires) {
  uint32_t counts[SAMBA_STREAM_CONTROL + 1] = {0};
  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].output_count; ++p) {
      const SambaPort *port = &section->units[u].outputs[p];
      for (uint32_t i = 0; i < port->stream_count; ++i)
        wires[port->streams[i]] = counts[section->streams[port->streams[i]].kind]++;
    }

  for (int kind = 0; kind <= SAMBA_STREAM_CONTROL; ++kind)
    if (counts[kind] > SAMBA_IDEAL_WIRES)
      return sambaStatusMake(
          SAMBA_EXHAUSTED, "has %u %s streams, but an ideal network has wires for %d of a kind",
          counts[kind], sambaStreamKindName((SambaStreamKind)kind), SAMBA_IDEAL_WIRES);
  return NULL;
}

/* The ends of one side of a unit. Every port has a lane of its own. */
static SambaStatus collectSide(const SambaSection *section, const SambaMachine *machine,
                               uint32_t unit, bool output, const uint32_t *wires,
                               SambaFabric *fabric) {
  const SambaUnit *u = &section->units[unit];
  const SambaPort *ports = output ? u->outputs : u->inputs;
  uint32_t count = output ? u->output_count : u->input_count;
  uint32_t lanes[SAMBA_STREAM_CONTROL + 1] = {0};

  for (uint32_t p = 0; p < count; ++p) {
    if (!ports[p].stream_count)
      continue;
    SambaStreamKind kind = section->streams[ports[p].streams[0]].kind;
    uint32_t lane = lanes[kind]++;
    if (lane >= sambaUnitLanes(machine, kind, output))
      return sambaStatusMake(
          SAMBA_EXHAUSTED, "unit '%s' has more than %u %s %s, which is what a unit of %s has",
          u->name, sambaUnitLanes(machine, kind, output), sambaStreamKindName(kind),
          output ? "outputs" : "inputs", machine->name);
    for (uint32_t i = 0; i < ports[p].stream_count; ++i)
      fabric->ends[fabric->end_count++] = (SambaFlowEnd){
          unit, p, output, kind, (uint8_t)lane, (uint16_t)wires[ports[p].streams[i]]};
  }

  return NULL;
}

static SambaStatus collectWires(const SambaSection *section, const SambaMachine *machine,
                                SambaArena *arena, SambaFabric *fabric) {
  for (uint32_t s = 0; s < section->stream_count; ++s)
    if (section->streams[s].hop_count)
      return sambaStatusMake(
          SAMBA_INVALID,
          "stream %u from unit '%s' output %u has hops, but the network of %s is "
          "ideal: leave its route out",
          s, section->units[section->streams[s].source.unit].name, section->streams[s].source.port,
          machine->name);
  uint32_t *wires = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  SAMBA_RETURN_IF_ERROR(numberWires(section, wires));

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    SAMBA_RETURN_IF_ERROR(collectSide(section, machine, u, false, wires, fabric));
    SAMBA_RETURN_IF_ERROR(collectSide(section, machine, u, true, wires, fabric));
  }
  return NULL;
}

SambaSwitchEntry *sambaSwitchEntriesCollect(const SambaSection *section, SambaArena *arena,
                                            uint32_t *out_count) {
  size_t hops = 0;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    hops += section->streams[s].hop_count;
  SambaSwitchEntry *entries = SAMBA_ARENA_ARRAY(arena, SambaSwitchEntry, hops);
  uint32_t count = 0;

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    for (uint32_t h = 0; h < stream->hop_count; ++h)
      entries[count++] = (SambaSwitchEntry){stream->hops[h].x, stream->hops[h].y, stream->kind,
                                            stream->hops[h].in, stream->hops[h].out};
  }

  if (count)
    qsort(entries, count, sizeof *entries, compareEntries);
  *out_count = count;
  return entries;
}

SambaStatus sambaFabricCollect(const SambaSection *section, const SambaMachine *machine,
                               SambaArena *arena, SambaFabric *out_fabric) {
  size_t ends = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    for (uint32_t p = 0; p < unit->input_count; ++p)
      ends += unit->inputs[p].stream_count;
    for (uint32_t p = 0; p < unit->output_count; ++p)
      ends += unit->outputs[p].stream_count;
  }

  *out_fabric = (SambaFabric){.ends = SAMBA_ARENA_ARRAY(arena, SambaFlowEnd, ends)};
  if (machine->network == SAMBA_NETWORK_IDEAL)
    return collectWires(section, machine, arena, out_fabric);
  SAMBA_RETURN_IF_ERROR(checkGenerators(section, machine));

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    for (uint32_t p = 0; p < section->units[u].input_count; ++p)
      SAMBA_RETURN_IF_ERROR(collectPort(section, machine, u, p, false, out_fabric));
    for (uint32_t p = 0; p < section->units[u].output_count; ++p)
      SAMBA_RETURN_IF_ERROR(collectPort(section, machine, u, p, true, out_fabric));
  }

  out_fabric->entries = sambaSwitchEntriesCollect(section, arena, &out_fabric->entry_count);
  return NULL;
}
