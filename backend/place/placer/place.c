/* Placement, the entry: counts units against the machine, honours placement by hand, builds nets,
 * writes the result. */
#include "backend/place/placer/place.h"

#include "backend/place/placer/placement.h"
#include "backend/section/access.h"
#include "backend/section/gathering.h"

#include <stdlib.h>
#include <string.h>

static const char *const slotClassNames[SAMBA_SLOT_CLASSES] = {"PCU", "PMU", "address generator",
                                                               "address generator"};

/* Loads and stores have a generator each as long as there are enough. */
static bool sharesGenerators(const SambaSection *section, const SambaMachine *machine) {
  uint32_t units = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    units += sambaUnitIsAddressGenerator(unit);
    if (sambaUnitIsAddressGenerator(unit) && !sambaUnitIsOneWay(unit))
      return false;
  }
  return units > machine->ag_count;
}

static SambaSlotClass classOf(SambaUnitKind kind, bool shares) {
  switch (kind) {
  case SAMBA_UNIT_STORE:
    return shares ? SAMBA_SLOT_STORE : SAMBA_SLOT_AG;
  case SAMBA_UNIT_COMPUTE:
    return SAMBA_SLOT_PCU;
  case SAMBA_UNIT_BUFFER:
    return SAMBA_SLOT_PMU;
  default:
    return SAMBA_SLOT_AG;
  }
}

static int compareNames(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Too many units of one class: the error names the layer that has most of them and what to try. */
static SambaStatus unitsExceed(const SambaPlacement *placement, SambaSlotClass class,
                               int64_t limit) {
  const SambaSection *section = placement->section;
  uint32_t count = 0;
  const char **layers =
      sambaAllocate(sambaArraySize(placement->class_count[class], sizeof *layers));

  for (uint32_t u = 0; u < placement->unit_count; ++u)
    if (placement->unit_class[u] == class)
      layers[count++] = section->units[u].layer ? section->units[u].layer : "";
  qsort(layers, count, sizeof *layers, compareNames);
  uint32_t best = 0, bestCount = 0;

  for (uint32_t i = 0, j; i < count; i = j) {
    for (j = i + 1; j < count && strcmp(layers[j], layers[i]) == 0; ++j) {
    }
    if (layers[i][0] && j - i > bestCount) {
      best = i;
      bestCount = j - i;
    }
  }

  const char *name = slotClassNames[class];
  SambaStatus status =
      sambaStatusMake(SAMBA_EXHAUSTED, "section @%s needs %u %ss, but %s has %lld", section->name,
                      count, name, placement->machine->name, (long long)limit);
  if (bestCount)
    sambaStatusNote(status, "layer '%s' has the most: %u %s%s", layers[best], bestCount, name,
                    bestCount == 1 ? "" : "s");
  sambaStatusNote(
      status,
      "lower the section's parallel factor, split the section, or choose a machine with more %ss",
      name);
  free(layers);

  return status;
}

static SambaStatus checkCounts(const SambaPlacement *placement) {
  const int64_t limits[SAMBA_SLOT_CLASSES] = {
      sambaMachinePcuCount(placement->machine), sambaMachinePmuCount(placement->machine),
      placement->machine->ag_count, placement->machine->ag_count};
  for (int class = 0; class < SAMBA_SLOT_CLASSES; ++class)
    if (placement->class_count[class] > limits[class])
      return unitsExceed(placement, (SambaSlotClass)class, limits[class]);
  return NULL;
}

/* Takes over what was placed by hand. */
static SambaStatus takeFixed(SambaPlacement *placement) {
  for (uint32_t u = 0; u < placement->unit_count; ++u) {
    const SambaUnit *unit = &placement->section->units[u];
    uint32_t slot;
    if (placement->unit_class[u] >= SAMBA_SLOT_AG) {
      if (unit->load_store.ag == SAMBA_NO_INDEX)
        continue;
      if (unit->load_store.ag >= placement->machine->ag_count)
        return sambaStatusMake(
            SAMBA_INVALID,
            "section @%s: unit %s is placed on address generator %u, but %s has %lld",
            placement->section->name, unit->name, unit->load_store.ag, placement->machine->name,
            (long long)placement->machine->ag_count);
      slot = placement->site_count + unit->load_store.ag;
      slot += placement->unit_class[u] == SAMBA_SLOT_STORE ? placement->ag_count : 0;
    } else {
      if (unit->x < 0 && unit->y < 0)
        continue;
      if (unit->x < 0 || unit->y < 0 || unit->x >= placement->width || unit->y >= placement->height)
        return sambaStatusMake(
            SAMBA_INVALID,
            "section @%s: unit %s is placed at (%d,%d), outside the %d x %d sites of %s",
            placement->section->name, unit->name, unit->x, unit->y, placement->width,
            placement->height, placement->machine->name);
      slot = (uint32_t)unit->y * (uint32_t)placement->width + (uint32_t)unit->x;
      if (sambaPlacementSlotClass(placement, slot) != placement->unit_class[u])
        return sambaStatusMake(
            SAMBA_INVALID,
            "section @%s: unit %s (%s) is placed at (%d,%d), which is a %s, not a %s",
            placement->section->name, unit->name, sambaUnitKindName(unit->kind), unit->x, unit->y,
            slotClassNames[sambaPlacementSlotClass(placement, slot)],
            slotClassNames[placement->unit_class[u]]);
    }

    if (placement->occupant[slot] != SAMBA_NO_INDEX) {
      const char *other = placement->section->units[placement->occupant[slot]].name;
      if (slot >= placement->site_count)
        return sambaStatusMake(
            SAMBA_INVALID, "section @%s: units %s and %s are both placed on address generator %u",
            placement->section->name, other, unit->name, unit->load_store.ag);
      return sambaStatusMake(SAMBA_INVALID,
                             "section @%s: units %s and %s are both placed at (%d,%d)",
                             placement->section->name, other, unit->name, unit->x, unit->y);
    }

    sambaPlacementSet(placement, u, slot);
    placement->unit_fixed[u] = true;
  }

  return NULL;
}

/* The length of a tree over many points exceeds their bounding box; in sixteenths, a straight line
 * through published averages (1.0 for 3 points, about 2.8 for 50). */
static uint32_t fanoutFactor(uint32_t units) {
  uint32_t extra = units > 3 ? units - 3 : 0;
  return 16 + (extra < 4096 ? extra : 4096) * 5 / 8;
}

static void buildNets(SambaPlacement *placement, SambaArena *arena) {
  const SambaSection *section = placement->section;
  size_t pins = 0;

  for (uint32_t s = 0; s < section->stream_count; ++s)
    pins += 1 + (size_t)section->streams[s].destination_count;
  placement->net_start = SAMBA_ARENA_ARRAY(arena, uint32_t, (size_t)section->stream_count + 1);
  placement->net_weight = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  placement->net_units = SAMBA_ARENA_ARRAY(arena, uint32_t, pins);
  placement->unit_net_start = SAMBA_ARENA_ARRAY(arena, uint32_t, (size_t)placement->unit_count + 1);
  uint32_t *seen = SAMBA_ARENA_ARRAY(arena, uint32_t, placement->unit_count);
  uint32_t size = 0;

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    uint32_t start = size;
    for (uint32_t d = 0; d <= stream->destination_count; ++d) {
      uint32_t unit = d ? stream->destinations[d - 1].unit : stream->source.unit;
      if (seen[unit] == s + 1)
        continue;
      seen[unit] = s + 1;
      placement->net_units[size++] = unit;
    }
    if (size - start < 2) {
      size = start;
      continue;
    }
    for (uint32_t i = start; i < size; ++i)
      ++placement->unit_net_start[placement->net_units[i] + 1];
    placement->net_weight[placement->net_count++] =
        (64 + placement->rates[s] / 2) * fanoutFactor(size - start);
    placement->net_start[placement->net_count] = size;
  }

  for (uint32_t u = 0; u < placement->unit_count; ++u)
    placement->unit_net_start[u + 1] += placement->unit_net_start[u];
  placement->unit_nets = SAMBA_ARENA_ARRAY(arena, uint32_t, size);
  memset(seen, 0, placement->unit_count * sizeof *seen);
  for (uint32_t net = 0; net < placement->net_count; ++net)
    for (uint32_t i = placement->net_start[net]; i < placement->net_start[net + 1]; ++i) {
      uint32_t unit = placement->net_units[i];
      placement->unit_nets[placement->unit_net_start[unit] + seen[unit]++] = net;
    }
}

/* Stores that take no more tokens than this from each of their sources work at the end, when most
 * loads are done. */
enum { fewTokens = 4 };

static bool storesAllTheTime(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_STORE &&
         sambaUnitFirings(unit) > fewTokens * (uint64_t)unit->inputs[0].stream_count;
}

/* What a generator gives, in permille of a lane: its outstanding bursts in the time of the way to
 * memory and back, and as much again in the queues there. */
static int64_t generatorRate(const SambaMachine *machine) {
  int64_t bytes = machine->ag_bursts * machine->dram_burst_bytes;
  int64_t cycles = 2 * machine->ag_latency_cycles;
  int64_t rate = cycles ? 1000 * bytes / (cycles * machine->vector_bytes) : INT64_MAX;
  int64_t most = 1000 * machine->ag_bytes / machine->vector_bytes;
  return rate < most ? rate : most;
}

/* Marks the units whose tokens a unit takes, itself or through others. */
static void markSources(const SambaSection *section, uint32_t unit, bool *marked) {
  const SambaUnit *taker = &section->units[unit];
  for (uint32_t i = 0; i < taker->input_count; ++i)
    for (uint32_t s = 0; s < taker->inputs[i].stream_count; ++s) {
      uint32_t source = section->streams[taker->inputs[i].streams[s]].source.unit;
      if (marked[source])
        continue;
      marked[source] = true;
      markSources(section, source, marked);
    }
}

/* Which units rest while a store takes what was gathered. */
static void findRests(SambaPlacement *placement, SambaArena *arena) {
  const SambaSection *section = placement->section;
  placement->unit_rests = SAMBA_ARENA_ARRAY(arena, const bool *, placement->unit_count);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    uint32_t gathering = stream->source.unit;
    if (stream->source.port || !sambaUnitGathers(section, &section->units[gathering]))
      continue;
    const SambaUnit *unit = &section->units[gathering];
    bool *rests = SAMBA_ARENA_ARRAY(arena, bool, placement->unit_count);
    for (uint32_t i = 0; i < unit->inputs[0].stream_count; ++i) {
      uint32_t source = section->streams[unit->inputs[0].streams[i]].source.unit;
      rests[source] = true;
      markSources(section, source, rests);
    }
    placement->unit_rests[stream->destinations[0].unit] = rests;
  }
}

/* What loads and stores carry that may share generators. */
static void findSharedRates(SambaPlacement *placement, SambaArena *arena) {
  const SambaSection *section = placement->section;
  placement->unit_rate = SAMBA_ARENA_ARRAY(arena, uint32_t, placement->unit_count);
  placement->generator_rate = generatorRate(placement->machine);

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    if (section->units[stream->source.unit].kind == SAMBA_UNIT_LOAD)
      placement->unit_rate[stream->source.unit] += placement->rates[s];
    for (uint32_t d = 0; d < stream->destination_count; ++d) {
      uint32_t unit = stream->destinations[d].unit;
      if (storesAllTheTime(&section->units[unit]))
        placement->unit_rate[unit] += placement->rates[s];
    }
  }
}

static void findSwitches(SambaPlacement *placement, SambaArena *arena) {
  int32_t *slot_x = SAMBA_ARENA_ARRAY(arena, int32_t, placement->slot_count);
  int32_t *slot_y = SAMBA_ARENA_ARRAY(arena, int32_t, placement->slot_count);
  uint32_t slot = 0;
  for (int32_t y = 0; y < placement->height; ++y)
    for (int32_t x = 0; x < placement->width; ++x, ++slot) {
      slot_x[slot] = x;
      slot_y[slot] = y;
    }
  for (uint32_t ag = 0; slot < placement->slot_count; ++ag, ++slot)
    sambaMachineAgSite(placement->machine, ag % placement->ag_count, &slot_x[slot], &slot_y[slot]);
  placement->slot_x = slot_x;
  placement->slot_y = slot_y;
}

static SambaStatus build(SambaPlacement *placement, SambaArena *arena, const SambaSection *section,
                         const SambaMachine *machine, const uint32_t *rates) {
  *placement = (SambaPlacement){
      .section = section, .machine = machine, .rates = rates, .unit_count = section->unit_count};
  placement->width = (int32_t)machine->grid_columns;
  placement->height = (int32_t)machine->grid_rows;
  placement->site_count = (uint32_t)sambaMachineSiteCount(machine);
  placement->ag_count = (uint32_t)machine->ag_count;
  bool shares = sharesGenerators(section, machine);
  placement->slot_count = placement->site_count + (shares ? 2 : 1) * placement->ag_count;
  placement->unit_class = SAMBA_ARENA_ARRAY(arena, SambaSlotClass, placement->unit_count);
  for (uint32_t u = 0; u < placement->unit_count; ++u)
    ++placement->class_count[placement->unit_class[u] = classOf(section->units[u].kind, shares)];
  SAMBA_RETURN_IF_ERROR(checkCounts(placement));
  int32_t *columns = SAMBA_ARENA_ARRAY(arena, int32_t, (size_t)placement->width);

  for (int32_t x = 1; x < placement->width; ++x)
    columns[x] = columns[x - 1] + (int32_t)sambaMachineHopCycles(machine, x - 1, 0, x, 0);
  placement->column_cycles = columns;
  placement->row_cycles = (int32_t)sambaMachineHopCycles(machine, 0, 0, 0, 1);
  findSwitches(placement, arena);
  placement->unit_slot = SAMBA_ARENA_ARRAY(arena, uint32_t, placement->unit_count);
  sambaClearIndices(placement->unit_slot, placement->unit_count);
  placement->unit_fixed = SAMBA_ARENA_ARRAY(arena, bool, placement->unit_count);
  placement->unit_x = SAMBA_ARENA_ARRAY(arena, int32_t, placement->unit_count);
  placement->unit_y = SAMBA_ARENA_ARRAY(arena, int32_t, placement->unit_count);
  placement->occupant = SAMBA_ARENA_ARRAY(arena, uint32_t, placement->slot_count);
  sambaClearIndices(placement->occupant, placement->slot_count);
  buildNets(placement, arena);
  findSharedRates(placement, arena);
  findRests(placement, arena);

  return takeFixed(placement);
}

SambaStatus sambaSectionPlace(SambaSection *section, const SambaMachine *machine,
                              const uint32_t *rates) {
  SambaArena arena = {0};
  SambaPlacement placement;
  SambaStatus status = build(&placement, &arena, section, machine, rates);

  if (!status) {
    sambaPlacementInitial(&placement, &arena);
    sambaPlacementAnneal(&placement, &arena);
    for (uint32_t u = 0; u < section->unit_count; ++u) {
      SambaUnit *unit = &section->units[u];
      uint32_t slot = placement.unit_slot[u];
      if (slot >= placement.site_count)
        unit->load_store.ag = (slot - placement.site_count) % placement.ag_count;
      else
        unit->x = placement.slot_x[slot], unit->y = placement.slot_y[slot];
    }
  }

  sambaArenaDestroy(&arena);
  return status;
}
