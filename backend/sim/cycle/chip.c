/* Builds the chip; see chip.h. */
#include "backend/sim/cycle/chip.h"

#include "backend/section/access.h"
#include "support/base/large_pages.h"

/* Larger sections take more pages of the host than it keeps at hand; for smaller ones it is not
 * worth making large pages. */
enum { mostUnitsOfSmallPages = 256 };

/* A thread of its own is worth it for so many units. */
enum { unitsPerThread = 256 };

/* Units with one address generator share it; a unit that has no place gets one of its own. */
static void assignGenerators(SambaChip *chip) {
  const SambaSection *section = chip->section;
  uint32_t placed = (uint32_t)chip->machine->ag_count;
  uint32_t count = placed + section->unit_count;
  SambaGenerator *generators = SAMBA_ARENA_ARRAY(&chip->arena, SambaGenerator, count);
  chip->memory.generators = generators;

  uint32_t next = placed;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    if (!sambaUnitIsAddressGenerator(&section->units[u]))
      continue;
    uint32_t ag = section->units[u].load_store.ag;
    uint32_t generator = ag < placed ? ag : next++;
    chip->units[u].memory->generator = generator;
    ++generators[generator].unit_count;
  }

  for (uint32_t g = 0; g < next; ++g) {
    generators[g].units = SAMBA_ARENA_ARRAY(&chip->arena, uint32_t, generators[g].unit_count);
    generators[g].unit_count = 0;
    generators[g].last = generators[g].waiter = SAMBA_NO_INDEX;
  }
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (sambaUnitIsAddressGenerator(&section->units[u])) {
      SambaGenerator *generator = &generators[chip->units[u].memory->generator];
      generator->units[generator->unit_count++] = u;
    }
}

static void buildMemoryUnit(SambaChip *chip, uint32_t index, const SambaBinding *bindings,
                            const SambaIndexTraces *traces) {
  const SambaUnit *unit = &chip->section->units[index];
  uint64_t address = bindings ? bindings[unit->load_store.symbol].address : 0;
  const SambaIndexTrace *trace = NULL;
  for (size_t i = 0; traces && i < traces->size; ++i)
    if (traces->data[i].unit == index)
      trace = &traces->data[i];
  sambaMemoryUnitBuild(chip->units[index].memory, &chip->arena, &chip->network, chip->section,
                       index, address, trace ? trace->data : NULL, trace ? trace->size : 0);
}

/* As many shares as threads help: smaller sections have one. */
static uint32_t shareCount(const SambaSection *section, int threads) {
  uint32_t most = section->unit_count / unitsPerThread, count = threads > 1 ? (uint32_t)threads : 1;
  count = count < most ? count : most;
  count = count < SAMBA_TEAM_MOST ? count : SAMBA_TEAM_MOST;
  return count ? count : 1;
}

static void buildShares(SambaChip *chip, const uint32_t parts[SAMBA_PART_KINDS], int threads) {
  uint32_t count = shareCount(chip->section, threads);
  SambaNetwork **networks = SAMBA_ARENA_ARRAY(&chip->arena, SambaNetwork *, count);
  chip->share_count = count;
  chip->shares = SAMBA_ARENA_LINES(&chip->arena, SambaShare, count);

  for (uint32_t s = 0; s < count; ++s) {
    SambaShare *share = &chip->shares[s];
    share->clock = s ? SAMBA_ARENA_LINES(&chip->arena, SambaClock, 1) : &chip->clock;
    share->network = s ? SAMBA_ARENA_LINES(&chip->arena, SambaNetwork, 1) : &chip->network;
    share->network->clock = share->clock;
    sambaClockInit(share->clock, &chip->arena, sambaNetworkLookahead(&chip->network), parts);
    networks[s] = share->network;
  }
  if (count > 1)
    chip->share_of = sambaSharesOfUnits(&chip->network, count, &chip->arena, chip->section);
  sambaSharesOfLanes(networks, count, &chip->arena, chip->section, chip->share_of);
  if (count == 1)
    return;
  for (uint32_t s = 0; s < count; ++s)
    chip->shares[s].units = SAMBA_ARENA_LINES(&chip->arena, uint32_t, chip->section->unit_count);
  chip->team = sambaTeamMake(&chip->arena, count);
}

SambaStatus sambaChipBuild(SambaChip *chip, const SambaBinding *bindings,
                           const SambaIndexTraces *index_traces, int threads) {
  const SambaSection *section = chip->section;
  if (section->unit_count > mostUnitsOfSmallPages)
    sambaArenaUseLargePages(&chip->arena);
  sambaMemoryBuild(&chip->memory.memory, &chip->arena, chip->machine);
  sambaNetworkBuild(&chip->network, &chip->arena, chip->machine, section);
  chip->memory.memory.clock = &chip->clock;
  chip->memory.merge.arena = &chip->arena;
  chip->memory.merge.used = chip->machine->ag_merge_outstanding;
  chip->units = SAMBA_ARENA_ARRAY(&chip->arena, SambaChipUnit, section->unit_count);
  chip->kinds = SAMBA_ARENA_ARRAY(&chip->arena, uint8_t, section->unit_count);
  chip->done = SAMBA_ARENA_ARRAY(&chip->arena, bool, section->unit_count);
  chip->unfinished = section->unit_count;

  const uint32_t parts[SAMBA_PART_KINDS] = {
      [SAMBA_PART_MEMORY] = section->unit_count,
      [SAMBA_PART_CHANNEL] = chip->memory.memory.channel_count,
      [SAMBA_PART_UNIT] = section->unit_count,
      [SAMBA_PART_CROSSING] = chip->network.crossing_count,
  };
  buildShares(chip, parts, threads);

  bool memory = false;
  SambaBankPattern *patterns = NULL;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    chip->kinds[u] = (uint8_t)section->units[u].kind;
    switch (section->units[u].kind) {
    case SAMBA_UNIT_COMPUTE:
      chip->units[u].pcu = SAMBA_ARENA_LINES(&chip->arena, SambaPcu, 1);
      sambaPcuBuild(chip->units[u].pcu, &chip->arena, &chip->network, section, u);
      break;
    case SAMBA_UNIT_BUFFER:
      chip->units[u].pmu = SAMBA_ARENA_LINES(&chip->arena, SambaPmu, 1);
      sambaPmuBuild(chip->units[u].pmu, &chip->arena, &chip->network, section, u, &patterns);
      break;
    default:
      chip->units[u].memory = SAMBA_ARENA_NEW(&chip->arena, SambaMemoryUnit);
      buildMemoryUnit(chip, u, bindings, index_traces);
      memory = true;
      break;
    }
    bool on_chip = !sambaUnitIsAddressGenerator(&section->units[u]);
    sambaClockWake(&chip->clock, on_chip ? SAMBA_PART_UNIT : SAMBA_PART_MEMORY, u, 0);
  }

  if (memory && chip->memory.memory.channel_count == 1) /* the host's */
    return sambaStatusMake(
        SAMBA_INVALID,
        "section '%s' loads or stores, but machine '%s' has neither HBM nor DDR channels",
        section->name, chip->machine->name);
  assignGenerators(chip);
  return NULL;
}

void sambaChipFree(SambaChip *chip) {
  if (chip->team)
    sambaTeamPart(chip->team);
  sambaMemoryFree(&chip->memory.memory);
  sambaArenaDestroy(&chip->arena);
}
