/* Following flows through the switches; see recover_streams.h. Entries are sorted once, every entry
 * is visited at most once, the walk keeps its own stack: linear (times a binary search) and safe on
 * any input. */
#include "backend/section/fabric/recover_streams.h"

#include <stdlib.h>

typedef struct Recovery {
  const SambaMachine *machine;
  const SambaUnit *units;
  const SambaFabric *fabric;
  SambaArena *arena;
  uint32_t *site_units, *ag_units; /* units by place, or SAMBA_NO_INDEX */
  const SambaSwitchEntry *entries; /* sorted */
  uint32_t *site_entries;          /* the first entry of each switch, and where the last one ends */
  uint64_t *entry_keys;            /* of each entry: what it takes, in order within a switch */
  uint32_t *entry_streams;         /* which stream has used an entry, or SAMBA_NO_INDEX */
  uint32_t *inputs;                /* end indices of inputs, sorted by (unit, kind, lane, flow) */
  uint32_t input_count;
  uint32_t *input_streams;     /* per end: which stream feeds it, or SAMBA_NO_INDEX */
  SAMBA_ARRAY(uint32_t) stack; /* entries still to walk, next on top */
  SAMBA_ARRAY(SambaHop) hops;
  SAMBA_ARRAY(uint32_t) reached; /* end indices */
} Recovery;

static const char *portName(uint8_t port) {
  return sambaSwitchPortName(port) ? sambaSwitchPortName(port) : "invalid";
}

#define LANE_FORMAT "%s %s lane %u flow %u"
#define LANE_ARGS(kind, at) sambaStreamKindName(kind), portName((at)->port), (at)->lane, (at)->flow

static SambaStatus checkLane(const Recovery *recovery, const SambaSwitchEntry *entry,
                             const SambaSwitchLane *lane, bool leaves) {
  const SambaMachine *m = recovery->machine;
  bool unit_side = lane->port == SAMBA_SWITCH_UNIT || lane->port == SAMBA_SWITCH_AG;
  uint32_t lanes = 0;

  if (lane->port <= SAMBA_SWITCH_AG)
    lanes = unit_side ? sambaUnitLanes(m, entry->kind, !leaves) : sambaLinkLanes(m, entry->kind);
  if (lane->lane >= lanes || lane->flow >= m->flows_per_lane)
    return sambaStatusMake(
        SAMBA_INVALID,
        "switch (%d, %d): " LANE_FORMAT " does not exist: this port has %u lanes of %lld flows",
        entry->x, entry->y, LANE_ARGS(entry->kind, lane), lanes, (long long)m->flows_per_lane);
  if (lane->port != SAMBA_SWITCH_AG && lane->ag != 0)
    return sambaStatusMake(
        SAMBA_INVALID, "switch (%d, %d): a lane of port %s names address generator %u, expected 0",
        entry->x, entry->y, portName(lane->port), lane->ag);
  return sambaSwitchCheckGenerator(m, entry->x, entry->y, lane);
}

static SambaStatus checkEntry(const Recovery *recovery, const SambaSwitchEntry *entry) {
  if (entry->x < 0 || entry->y < 0 || entry->x >= recovery->machine->grid_columns ||
      entry->y >= recovery->machine->grid_rows)
    return sambaStatusMake(SAMBA_INVALID,
                           "switch (%d, %d) is outside the grid of %lld x %lld switches", entry->x,
                           entry->y, (long long)recovery->machine->grid_columns,
                           (long long)recovery->machine->grid_rows);
  if ((unsigned)entry->kind > SAMBA_STREAM_CONTROL)
    return sambaStatusMake(SAMBA_INVALID,
                           "switch (%d, %d): stream kind %d is undefined, expected 0 to 2",
                           entry->x, entry->y, (int)entry->kind);
  SAMBA_RETURN_IF_ERROR(checkLane(recovery, entry, &entry->in, false));
  return checkLane(recovery, entry, &entry->out, true);
}

/* Order of ends: by unit, side, kind, lane, flow; equal ends collide. */
static uint64_t endKey(const SambaFlowEnd *end) {
  return (uint64_t)end->unit << 32 | (uint64_t)end->output << 27 | (uint64_t)end->kind << 25 |
         (uint64_t)end->lane << 16 | end->flow;
}

typedef struct KeyedEnd {
  uint64_t key;
  uint32_t end;
} KeyedEnd;

static int compareKeyedEnds(const void *a, const void *b) {
  const KeyedEnd *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

/* Ends come unit by unit, so few are far from their places. */
static void sortKeyedEnds(KeyedEnd *keyed, uint32_t count) {
  uint64_t moves = 0;
  for (uint32_t i = 1; i < count; ++i) {
    KeyedEnd end = keyed[i];
    uint32_t at = i;
    for (; at > 0 && compareKeyedEnds(&keyed[at - 1], &end) > 0; --at)
      keyed[at] = keyed[at - 1];
    keyed[at] = end;
    moves += i - at;
    if (moves > 16 * (uint64_t)count) { /* ends in any order */
      qsort(keyed, count, sizeof *keyed, compareKeyedEnds);
      return;
    }
  }
}

static int compareEntries(const void *a, const void *b) { return sambaSwitchEntryCompare(a, b); }

static SambaStatus checkEnd(const Recovery *recovery, const SambaFlowEnd *end) {
  uint32_t lanes = sambaUnitLanes(recovery->machine, end->kind, end->output);
  bool ideal = recovery->machine->network == SAMBA_NETWORK_IDEAL;
  int64_t flows = ideal ? SAMBA_IDEAL_WIRES : recovery->machine->flows_per_lane;
  if (end->lane < lanes && end->flow < flows)
    return NULL;
  return sambaStatusMake(
      SAMBA_INVALID,
      "unit '%s' %s %u: %s lane %u flow %u does not exist: a unit has %u such lanes of %lld flows",
      recovery->units[end->unit].name, end->output ? "output" : "input", end->port,
      sambaStreamKindName(end->kind), end->lane, end->flow, lanes, (long long)flows);
}

/* Sorts the ends, refuses two on one lane and flow, keeps the inputs for look-up. */
static SambaStatus sortEnds(Recovery *recovery) {
  uint32_t count = recovery->fabric->end_count;
  KeyedEnd *keyed = SAMBA_ARENA_ARRAY(recovery->arena, KeyedEnd, count);
  for (uint32_t i = 0; i < count; ++i) {
    SAMBA_RETURN_IF_ERROR(checkEnd(recovery, &recovery->fabric->ends[i]));
    keyed[i] = (KeyedEnd){endKey(&recovery->fabric->ends[i]), i};
  }

  sortKeyedEnds(keyed, count);
  recovery->inputs = SAMBA_ARENA_ARRAY(recovery->arena, uint32_t, count);
  for (uint32_t i = 0; i < count; ++i) {
    const SambaFlowEnd *end = &recovery->fabric->ends[keyed[i].end];
    if (i && keyed[i].key == keyed[i - 1].key)
      return sambaStatusMake(SAMBA_INVALID,
                             "unit '%s': %s ports %u and %u both use %s lane %u flow %u",
                             recovery->units[end->unit].name, end->output ? "output" : "input",
                             recovery->fabric->ends[keyed[i - 1].end].port, end->port,
                             sambaStreamKindName(end->kind), end->lane, end->flow);
    if (!end->output)
      recovery->inputs[recovery->input_count++] = keyed[i].end;
  }

  return NULL;
}

/* The input end of a unit on a lane and flow, or SAMBA_NO_INDEX. */
static uint32_t findInput(const Recovery *recovery, const SambaFlowEnd *wanted) {
  uint64_t key = endKey(wanted);
  uint32_t low = 0;
  uint32_t high = recovery->input_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (endKey(&recovery->fabric->ends[recovery->inputs[middle]]) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < recovery->input_count &&
                 endKey(&recovery->fabric->ends[recovery->inputs[low]]) == key
             ? recovery->inputs[low]
             : SAMBA_NO_INDEX;
}

/* What an entry takes: numbers in the order of entries of one switch. */
static uint64_t entryKey(SambaStreamKind kind, const SambaSwitchLane *in) {
  return (uint64_t)kind << 48 | (uint64_t)in->port << 40 | (uint64_t)in->ag << 24 |
         (uint64_t)in->lane << 16 | in->flow;
}

/* Entries of one switch in order; most fabrics have them so already. */
static void sortEntries(Recovery *recovery) {
  const SambaFabric *fabric = recovery->fabric;
  uint32_t count = fabric->entry_count, i = 1;
  while (i < count && sambaSwitchEntryCompare(&fabric->entries[i - 1], &fabric->entries[i]) <= 0)
    ++i;
  recovery->entries = fabric->entries;
  if (i < count) {
    SambaSwitchEntry *sorted =
        sambaArenaCopy(recovery->arena, fabric->entries, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compareEntries);
    recovery->entries = sorted;
  }

  size_t sites = (size_t)sambaMachineSiteCount(recovery->machine);
  recovery->site_entries = SAMBA_ARENA_ARRAY(recovery->arena, uint32_t, sites + 1);
  recovery->entry_keys = SAMBA_ARENA_ARRAY(recovery->arena, uint64_t, count);
  for (uint32_t e = 0; e < count; ++e) {
    const SambaSwitchEntry *entry = &recovery->entries[e];
    recovery->site_entries[entry->y * recovery->machine->grid_columns + entry->x + 1] = e + 1;
    recovery->entry_keys[e] = entryKey(entry->kind, &entry->in);
  }
  for (size_t s = 0; s < sites; ++s)
    if (recovery->site_entries[s + 1] < recovery->site_entries[s])
      recovery->site_entries[s + 1] = recovery->site_entries[s];
}

/* Puts the entries that take (x, y, in) onto the stack, the first on top. */
static SambaStatus pushEntries(Recovery *recovery, uint32_t stream, int32_t x, int32_t y,
                               SambaStreamKind kind, SambaSwitchLane in) {
  const uint32_t *site = &recovery->site_entries[y * recovery->machine->grid_columns + x];
  uint64_t key = entryKey(kind, &in);
  uint32_t first = site[0], end = site[1];
  while (first < end) { /* the first that takes it */
    uint32_t middle = first + (end - first) / 2;
    if (recovery->entry_keys[middle] < key)
      first = middle + 1;
    else
      end = middle;
  }

  uint32_t last = first;
  for (; last < site[1] && recovery->entry_keys[last] == key; ++last) {
    if (recovery->entry_streams[last] == SAMBA_NO_INDEX) {
      recovery->entry_streams[last] = stream;
      continue;
    }
    if (recovery->entry_streams[last] == stream)
      return sambaStatusMake(SAMBA_INVALID,
                             "switch (%d, %d): the flow at " LANE_FORMAT
                             " comes back to where it was: a loop",
                             x, y, LANE_ARGS(kind, &in));
    return sambaStatusMake(SAMBA_INVALID, "switch (%d, %d): two flows collide on " LANE_FORMAT, x,
                           y, LANE_ARGS(kind, &in));
  }

  if (first == last)
    return sambaStatusMake(SAMBA_INVALID,
                           "switch (%d, %d): the flow at " LANE_FORMAT
                           " ends nowhere: no entry of the switch takes it",
                           x, y, LANE_ARGS(kind, &in));
  while (last > first)
    sambaArrayAppend(&recovery->stack, --last);
  return NULL;
}

static SambaStatus reachUnit(Recovery *recovery, uint32_t stream, const SambaSwitchEntry *entry) {
  uint32_t unit = entry->out.port == SAMBA_SWITCH_AG
                      ? recovery->ag_units[entry->out.ag]
                      : recovery->site_units[entry->y * recovery->machine->grid_columns + entry->x];
  uint32_t end = SAMBA_NO_INDEX;

  if (unit != SAMBA_NO_INDEX) {
    SambaFlowEnd wanted = {unit, 0, false, entry->kind, entry->out.lane, entry->out.flow};
    end = findInput(recovery, &wanted);
  }

  if (end == SAMBA_NO_INDEX)
    return sambaStatusMake(SAMBA_INVALID,
                           "switch (%d, %d): the flow to " LANE_FORMAT
                           " ends nowhere: no unit input takes it",
                           entry->x, entry->y, LANE_ARGS(entry->kind, &entry->out));
  if (recovery->input_streams[end] != SAMBA_NO_INDEX)
    return sambaStatusMake(
        SAMBA_INVALID, "switch (%d, %d): two flows collide on " LANE_FORMAT " of unit '%s'",
        entry->x, entry->y, LANE_ARGS(entry->kind, &entry->out), recovery->units[unit].name);
  recovery->input_streams[end] = stream;
  sambaArrayAppend(&recovery->reached, end);

  return NULL;
}

static SambaStatus walkEntry(Recovery *recovery, uint32_t stream, uint32_t index) {
  static const struct {
    int8_t dx, dy;
    uint8_t opposite;
  } steps[] = {[SAMBA_SWITCH_NORTH] = {0, -1, SAMBA_SWITCH_SOUTH},
               [SAMBA_SWITCH_EAST] = {1, 0, SAMBA_SWITCH_WEST},
               [SAMBA_SWITCH_SOUTH] = {0, 1, SAMBA_SWITCH_NORTH},
               [SAMBA_SWITCH_WEST] = {-1, 0, SAMBA_SWITCH_EAST}};
  const SambaSwitchEntry *entry = &recovery->entries[index];

  sambaArrayAppend(&recovery->hops, (SambaHop){entry->x, entry->y, entry->in, entry->out});
  if (entry->out.port >= SAMBA_SWITCH_UNIT)
    return reachUnit(recovery, stream, entry);
  int32_t x = entry->x + steps[entry->out.port].dx;
  int32_t y = entry->y + steps[entry->out.port].dy;
  if (x < 0 || y < 0 || x >= recovery->machine->grid_columns || y >= recovery->machine->grid_rows)
    return sambaStatusMake(SAMBA_INVALID,
                           "switch (%d, %d): the flow to " LANE_FORMAT
                           " ends nowhere: it leaves the grid",
                           entry->x, entry->y, LANE_ARGS(entry->kind, &entry->out));
  SambaSwitchLane in = {steps[entry->out.port].opposite, entry->out.lane, entry->out.flow, 0};

  return pushEntries(recovery, stream, x, y, entry->kind, in);
}

static SambaStatus followEnd(Recovery *recovery, uint32_t stream, uint32_t end_index,
                             SambaRecoveredStream *out) {
  const SambaFlowEnd *end = &recovery->fabric->ends[end_index];
  const SambaUnit *unit = &recovery->units[end->unit];
  bool ag = sambaUnitIsAddressGenerator(unit);
  int32_t x, y;

  sambaUnitSwitch(recovery->machine, unit, &x, &y);
  SambaSwitchLane in = {ag ? SAMBA_SWITCH_AG : SAMBA_SWITCH_UNIT, end->lane, end->flow,
                        ag ? (uint16_t)unit->load_store.ag : 0};
  recovery->hops.size = recovery->reached.size = recovery->stack.size = 0;
  SambaStatus status = pushEntries(recovery, stream, x, y, end->kind, in);
  while (!status && recovery->stack.size)
    status = walkEntry(recovery, stream, recovery->stack.data[--recovery->stack.size]);
  if (status)
    return sambaStatusAnnotate(status, "unit '%s' output %u", unit->name, end->port);
  *out = (SambaRecoveredStream){
      .kind = end->kind,
      .source = {end->unit, end->port},
      .source_end = end_index,
      .destination_count = (uint32_t)recovery->reached.size,
      .destinations = SAMBA_ARENA_ARRAY(recovery->arena, SambaEndpoint, recovery->reached.size),
      .destination_ends = sambaArenaCopy(recovery->arena, recovery->reached.data,
                                         recovery->reached.size * sizeof *recovery->reached.data),
      .hop_count = (uint32_t)recovery->hops.size,
      .hops = sambaArenaCopy(recovery->arena, recovery->hops.data,
                             recovery->hops.size * sizeof *recovery->hops.data)};

  for (uint32_t d = 0; d < out->destination_count; ++d) {
    const SambaFlowEnd *reached = &recovery->fabric->ends[recovery->reached.data[d]];
    out->destinations[d] = (SambaEndpoint){reached->unit, reached->port};
  }

  return NULL;
}

/*===-- Ideal networks ------------------------------------------------------------------------===*/

static int compareWires(const void *a, const void *b) {
  const KeyedEnd *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

/* The ends of one wire, the output first: one output, and inputs that take it. */
static SambaStatus joinWire(const Recovery *recovery, const KeyedEnd *keyed, uint32_t count,
                            SambaRecoveredStream *out) {
  const SambaFlowEnd *ends = recovery->fabric->ends;
  const SambaFlowEnd *first = &ends[keyed[0].end];
  const char *kind = sambaStreamKindName(first->kind);

  if (!first->output)
    return sambaStatusMake(SAMBA_INVALID, "unit '%s' input %u: nothing feeds %s wire %u",
                           recovery->units[first->unit].name, first->port, kind, first->flow);
  if (count == 1)
    return sambaStatusMake(SAMBA_INVALID, "unit '%s' output %u: nothing takes %s wire %u",
                           recovery->units[first->unit].name, first->port, kind, first->flow);
  *out = (SambaRecoveredStream){
      .kind = first->kind,
      .source = {first->unit, first->port},
      .source_end = keyed[0].end,
      .destination_count = count - 1,
      .destinations = SAMBA_ARENA_ARRAY(recovery->arena, SambaEndpoint, count - 1),
      .destination_ends = SAMBA_ARENA_ARRAY(recovery->arena, uint32_t, count - 1)};

  for (uint32_t i = 1; i < count; ++i) {
    const SambaFlowEnd *end = &ends[keyed[i].end];
    if (end->output)
      return sambaStatusMake(SAMBA_INVALID, "units '%s' and '%s' both drive %s wire %u",
                             recovery->units[first->unit].name, recovery->units[end->unit].name,
                             kind, first->flow);
    out->destinations[i - 1] = (SambaEndpoint){end->unit, end->port};
    out->destination_ends[i - 1] = keyed[i].end;
  }

  return NULL;
}

static int compareSources(const void *a, const void *b) {
  const SambaRecoveredStream *x = a, *y = b;
  return (x->source_end > y->source_end) - (x->source_end < y->source_end);
}

/* An ideal network: ends that name one wire are joined. */
static SambaStatus recoverWires(const Recovery *recovery, SambaRecoveredStream **out_streams,
                                uint32_t *out_count) {
  const SambaFabric *fabric = recovery->fabric;
  KeyedEnd *keyed = SAMBA_ARENA_ARRAY(recovery->arena, KeyedEnd, fabric->end_count);
  uint32_t outputs = 0, streams = 0;

  if (fabric->entry_count)
    return sambaStatusMake(SAMBA_INVALID,
                           "%u switch entries, but the network of %s is ideal: it has no switches",
                           fabric->entry_count, recovery->machine->name);
  for (uint32_t i = 0; i < fabric->end_count; ++i) {
    const SambaFlowEnd *end = &fabric->ends[i];
    SAMBA_RETURN_IF_ERROR(checkEnd(recovery, end));
    keyed[i] = (KeyedEnd){
        (uint64_t)end->kind << 32 | (uint64_t)end->flow << 1 | (uint64_t)!end->output, i};
    outputs += end->output;
  }

  if (fabric->end_count)
    qsort(keyed, fabric->end_count, sizeof *keyed, compareWires);
  *out_streams = SAMBA_ARENA_ARRAY(recovery->arena, SambaRecoveredStream, outputs);
  for (uint32_t i = 0, j; i < fabric->end_count; i = j) {
    for (j = i + 1; j < fabric->end_count && keyed[j].key >> 1 == keyed[i].key >> 1; ++j) {
    }
    SAMBA_RETURN_IF_ERROR(joinWire(recovery, &keyed[i], j - i, &(*out_streams)[streams++]));
  }

  if (streams)
    qsort(*out_streams, streams, sizeof **out_streams, compareSources);
  *out_count = streams;
  return NULL;
}

static SambaStatus recover(Recovery *recovery, uint32_t unit_count,
                           SambaRecoveredStream **out_streams, uint32_t *out_count) {
  const SambaFabric *fabric = recovery->fabric;
  if (recovery->machine->network == SAMBA_NETWORK_IDEAL)
    return recoverWires(recovery, out_streams, out_count);
  for (uint32_t i = 0; i < fabric->entry_count; ++i)
    SAMBA_RETURN_IF_ERROR(checkEntry(recovery, &fabric->entries[i]));
  recovery->site_units = SAMBA_ARENA_ARRAY(recovery->arena, uint32_t,
                                           (size_t)sambaMachineSiteCount(recovery->machine));
  recovery->ag_units =
      SAMBA_ARENA_ARRAY(recovery->arena, uint32_t, (size_t)recovery->machine->ag_count);
  sambaClearIndices(recovery->site_units, (size_t)sambaMachineSiteCount(recovery->machine));
  sambaClearIndices(recovery->ag_units, (size_t)recovery->machine->ag_count);

  for (uint32_t u = 0; u < unit_count; ++u) {
    const SambaUnit *unit = &recovery->units[u];
    if (!sambaUnitIsAddressGenerator(unit))
      recovery->site_units[unit->y * recovery->machine->grid_columns + unit->x] = u;
    else if (unit->kind == SAMBA_UNIT_STORE || unit->input_count) /* who takes nothing has no end */
      recovery->ag_units[unit->load_store.ag] = u;
  }

  sortEntries(recovery);
  recovery->entry_streams = SAMBA_ARENA_ARRAY(recovery->arena, uint32_t, fabric->entry_count);
  recovery->input_streams = SAMBA_ARENA_ARRAY(recovery->arena, uint32_t, fabric->end_count);
  sambaClearIndices(recovery->entry_streams, fabric->entry_count);
  sambaClearIndices(recovery->input_streams, fabric->end_count);
  SAMBA_RETURN_IF_ERROR(sortEnds(recovery));
  uint32_t count = fabric->end_count - recovery->input_count;
  uint32_t stream = 0;
  SambaRecoveredStream *streams = SAMBA_ARENA_ARRAY(recovery->arena, SambaRecoveredStream, count);
  for (uint32_t i = 0; i < fabric->end_count; ++i)
    if (fabric->ends[i].output) {
      SAMBA_RETURN_IF_ERROR(followEnd(recovery, stream, i, &streams[stream]));
      ++stream;
    }
  for (uint32_t i = 0; i < fabric->end_count; ++i)
    if (!fabric->ends[i].output && recovery->input_streams[i] == SAMBA_NO_INDEX)
      return sambaStatusMake(SAMBA_INVALID, "unit '%s' input %u: nothing feeds %s lane %u flow %u",
                             recovery->units[fabric->ends[i].unit].name, fabric->ends[i].port,
                             sambaStreamKindName(fabric->ends[i].kind), fabric->ends[i].lane,
                             fabric->ends[i].flow);
  for (uint32_t i = 0; i < fabric->entry_count; ++i)
    if (recovery->entry_streams[i] == SAMBA_NO_INDEX)
      return sambaStatusMake(SAMBA_INVALID,
                             "switch (%d, %d): no flow reaches the entry for " LANE_FORMAT,
                             recovery->entries[i].x, recovery->entries[i].y,
                             LANE_ARGS(recovery->entries[i].kind, &recovery->entries[i].in));
  *out_streams = streams;
  *out_count = count;

  return NULL;
}

SambaStatus sambaStreamsRecover(const SambaMachine *machine, const SambaUnit *units,
                                uint32_t unit_count, const SambaFabric *fabric, SambaArena *arena,
                                SambaRecoveredStream **out_streams, uint32_t *out_count) {
  Recovery recovery = {.machine = machine, .units = units, .fabric = fabric, .arena = arena};
  SambaStatus status = recover(&recovery, unit_count, out_streams, out_count);
  sambaArrayFree(&recovery.stack);
  sambaArrayFree(&recovery.hops);
  sambaArrayFree(&recovery.reached);
  return status;
}
