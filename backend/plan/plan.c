/* The planner's driver: groups, the pipeline dimension and its tile, and the share of the chip each
 * group gets. A group alone searches freely. Several groups: for each pipeline class and slice
 * size, start every group at one copy and give copies to the slowest until nothing improves or the
 * chip is full; keep the slice size that ends soonest. */
#include "backend/plan/plan.h"

#include "backend/codegen/codegen.h"
#include "backend/estimate/estimate.h"
#include "backend/estimate/unit_cycles.h"
#include "backend/group/share.h"
#include "backend/plan/plan_internal.h"
#include "backend/split/split_programs.h"

#include <stdlib.h>
#include <string.h>

/* More copies of a group must make it at least this much faster, or it keeps the ones it has. */
static const double worthCopies = 0.95;

/* Cycles of program load that one more unit costs, counted at this share: repeated sections load
 * once. */
static const double launchShare = 0.5;

typedef struct Planner {
  SambaStageGraph *graph;
  const SambaMachine *machine;
  SambaArena scratch;
  SambaGroups groups;
  SambaGroupLimits *limits;
  SambaGroupChoice *choices;
  bool *fixed; /* mapped by hand */
  uint32_t all_pcus, pcus, pmus, ags;
  uint32_t units;       /* PCUs and PMUs together, at most */
  uint32_t *level;      /* of each group: how many buffers lie before it on the longest way */
  uint32_t *writer;     /* of each tensor: its last group, SAMBA_NO_INDEX: none */
  bool *between;        /* tensors that groups of the section read and write */
  uint32_t *readers;    /* operands that read each tensor */
  SambaSharing *shared; /* of each tensor, see share.h; for the pipeline being planned */
} Planner;

static void analyse(Planner *planner) {
  const SambaStageGraph *graph = planner->graph;
  uint32_t in_memory = 0;
  double pcu_load = sambaMachinePcuLoadCycles(planner->machine);
  double pmu_load = sambaMachinePmuLoadCycles(planner->machine);

  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    planner->writer[t] = SAMBA_NO_INDEX;
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    const SambaGroup *group = planner->groups.groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      uint32_t tensor = group->operands[i].map.tensor;
      ++planner->readers[tensor];
      if (graph->tensors[tensor].role == SAMBA_TENSOR_ARGUMENT) {
        ++in_memory;
        continue;
      }
      planner->between[tensor] = true;
      if (planner->writer[tensor] != SAMBA_NO_INDEX &&
          planner->level[planner->writer[tensor]] + 1 > planner->level[g])
        planner->level[g] = planner->level[planner->writer[tensor]] + 1;
    }
    uint32_t before = planner->writer[group->output.tensor];
    if (before != SAMBA_NO_INDEX && planner->level[before] > planner->level[g])
      planner->level[g] = planner->level[before];
    planner->writer[group->output.tensor] = g;
    in_memory += graph->tensors[group->output.tensor].role == SAMBA_TENSOR_RESULT;
  }

  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    uint32_t tensor = planner->groups.groups[g]->output.tensor;
    const SambaGroup *group = planner->groups.groups[g];
    uint32_t own = graph->tensors[tensor].role == SAMBA_TENSOR_RESULT;
    for (uint32_t i = 0; i < group->operand_count; ++i)
      own += graph->tensors[group->operands[i].map.tensor].role == SAMBA_TENSOR_ARGUMENT;
    planner->limits[g] = (SambaGroupLimits){.pipeline_dim = SAMBA_NO_INDEX,
                                            .replicas = 1,
                                            .pcu_launch = launchShare * pcu_load,
                                            .pmu_launch = launchShare * pmu_load,
                                            .ags = in_memory ? planner->ags * own / in_memory : 1};
    planner->limits[g].ags = planner->limits[g].ags ? planner->limits[g].ags : 1;
    planner->limits[g].buffered_output = planner->between[tensor];
    planner->limits[g].writers = 0;
    for (uint32_t other = 0; other < planner->groups.count; ++other)
      planner->limits[g].writers += planner->groups.groups[other]->output.tensor == tensor;
    planner->limits[g].stored_output = graph->tensors[tensor].role == SAMBA_TENSOR_RESULT;
  }
}

static uint64_t sliceBytes(const Planner *planner, uint32_t tensor, int64_t extent, int64_t tile) {
  const SambaStageTensor *type = &planner->graph->tensors[tensor];
  uint64_t elements = 1;
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    elements *= (uint64_t)type->dims[axis];
  if (extent > 1)
    elements = elements / (uint64_t)extent * (uint64_t)tile;
  return elements * sambaDTypeBytes(type->dtype);
}

/* Settles which arguments are shared and which operands come from buffers; returns the PMUs of the
 * buffers. */
static uint32_t placeTensors(Planner *planner, const uint32_t *dims, int64_t tile,
                             uint32_t replicas) {
  uint32_t pmus = 0;
  uint32_t ports = (uint32_t)planner->machine->unit_vector_outputs;

  sambaFindShared(planner->graph, &planner->groups, planner->machine, dims, tile, planner->shared);
  for (uint32_t t = 0; t < planner->graph->tensor_count; ++t)
    if (planner->between[t] || planner->shared[t].shared)
      pmus += (planner->readers[t] + ports - 1) / ports * replicas;

  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    planner->limits[g].on_chip = planner->limits[g].several = 0;
    for (uint32_t i = 0; i < planner->groups.groups[g]->operand_count; ++i) {
      uint32_t tensor = planner->groups.groups[g]->operands[i].map.tensor;
      if (planner->between[tensor] || planner->shared[tensor].shared)
        planner->limits[g].on_chip |= 1u << i;
      if (planner->readers[tensor] > 1)
        planner->limits[g].several |= 1u << i;
    }
  }

  return pmus;
}

/* One slice at least of every tensor between groups; two would let its writer run ahead. */
static SambaStatus checkSlices(const Planner *planner, int64_t extent, int64_t tile) {
  for (uint32_t t = 0; t < planner->graph->tensor_count; ++t)
    if (planner->between[t] &&
        sliceBytes(planner, t, extent, tile) > (uint64_t)planner->machine->pmu_bytes)
      return sambaStatusMake(SAMBA_EXHAUSTED,
                             "tensor %u between the stages needs %llu bytes on chip, but a PMU of "
                             "%s has %lld; cut the section there",
                             t, (unsigned long long)sliceBytes(planner, t, extent, tile),
                             planner->machine->name, (long long)planner->machine->pmu_bytes);
  return NULL;
}

static SambaStatus noChoice(const Planner *planner, uint32_t g) {
  uint32_t stage = planner->groups.groups[g]->anchor;
  return sambaStatusMake(SAMBA_EXHAUSTED,
                         "stage %u (%s) finds no mapping: its smallest tiles and buffers exceed "
                         "what is left of %s (%u "
                         "PCUs, %u PMUs of %lld bytes)",
                         stage, planner->graph->stages[stage].name, planner->machine->name,
                         planner->limits[g].pcus, planner->limits[g].pmus,
                         (long long)planner->machine->pmu_bytes);
}

static bool searchGroup(Planner *planner, uint32_t g, SambaGroupChoice *choice) {
  return sambaPlanSearch(planner->graph, planner->groups.groups[g], planner->machine,
                         &planner->limits[g], choice);
}

/* Units that the groups take. */
typedef struct UsedUnits {
  uint32_t pcus, pmus;
} UsedUnits;

/* Gives more copies to the slowest group until that helps no more or the chip is full. */
static void growSlowest(Planner *planner, uint32_t replicas, UsedUnits used) {
  bool *frozen = sambaAllocateZeroed(planner->groups.count, sizeof *frozen);

  for (;;) {
    uint32_t slowest = SAMBA_NO_INDEX;
    for (uint32_t g = 0; g < planner->groups.count; ++g)
      if (!planner->fixed[g] && (slowest == SAMBA_NO_INDEX ||
                                 planner->choices[g].cycles > planner->choices[slowest].cycles))
        slowest = g;
    if (slowest == SAMBA_NO_INDEX || frozen[slowest])
      break;
    SambaGroupLimits *limits = &planner->limits[slowest];
    SambaGroupChoice *choice = &planner->choices[slowest];
    SambaGroupChoice better;
    uint32_t pieces = planner->groups.groups[slowest]->pcus * replicas;
    uint32_t free_pcus = planner->pcus - used.pcus + choice->pcus;
    limits->pcus = 2 * choice->pcus < free_pcus ? 2 * choice->pcus : free_pcus;
    limits->pcus = limits->pcus < pieces ? pieces : limits->pcus;
    limits->pmus = planner->pmus - used.pmus + choice->pmus;
    limits->copies = 2 * choice->nest.copies;
    limits->units = planner->units - used.pcus - used.pmus + choice->pcus + choice->pmus;
    frozen[slowest] = limits->pcus <= choice->pcus || !searchGroup(planner, slowest, &better) ||
                      better.cycles > worthCopies * choice->cycles;
    if (!frozen[slowest]) {
      used.pcus += better.pcus - choice->pcus;
      used.pmus += better.pmus - choice->pmus;
      *choice = better;
    }
  }

  free(frozen);
}

/* Cycles of the section: its slowest group or the DRAM, once for all slices and once more for each
 * buffer on the longest way. */
static double estimateTogether(const Planner *planner, int64_t extent, int64_t tile,
                               uint32_t replicas) {
  double slowest = 0, dram = 0, fill = 0;
  uint32_t levels = 0;
  int64_t slices = extent > 1 ? ((extent + tile - 1) / tile + replicas - 1) / replicas : 1;

  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    if (planner->fixed[g])
      continue;
    slowest = planner->choices[g].cycles > slowest ? planner->choices[g].cycles : slowest;
    dram += planner->choices[g].dram_bytes;
    fill = planner->choices[g].fill > fill ? planner->choices[g].fill : fill;
    levels = planner->level[g] > levels ? planner->level[g] : levels;
  }

  dram /= sambaMachineDramBytesPerCycle(planner->machine);
  slowest = dram > slowest ? dram : slowest;
  return slowest * (1 + (double)levels / (double)slices) + fill;
}

/* Plans all groups as `replicas` pipelines with the given dimension and tile (dims NULL: none).
 * out_cycles: the estimate. */
static SambaStatus planTogether(Planner *planner, const uint32_t *dims, int64_t extent,
                                int64_t tile, uint32_t replicas, double *out_cycles) {
  UsedUnits used = {0, placeTensors(planner, dims, tile, replicas)};

  SAMBA_RETURN_IF_ERROR(checkSlices(planner, extent, tile));
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    SambaGroupLimits *limits = &planner->limits[g];
    if (planner->fixed[g])
      continue;
    limits->pipeline_dim = dims ? dims[g] : SAMBA_NO_INDEX;
    limits->pipeline_tile = tile;
    limits->replicas = limits->copies = replicas;
    limits->units = planner->units;
    limits->pcus = planner->groups.groups[g]->pcus * replicas;
    limits->pmus = used.pmus < planner->pmus ? planner->pmus - used.pmus : 0;
    if (!searchGroup(planner, g, &planner->choices[g]))
      return noChoice(planner, g);
    used.pcus += planner->choices[g].pcus;
    used.pmus += planner->choices[g].pmus;
  }

  if (used.pcus > planner->pcus || used.pmus > planner->pmus ||
      used.pcus + used.pmus > planner->units)
    return sambaStatusMake(
        SAMBA_EXHAUSTED,
        "the section needs %u PCUs and %u PMUs, but %s has %u and %u to give, %u together",
        used.pcus, used.pmus, planner->machine->name, planner->pcus, planner->pmus, planner->units);

  growSlowest(planner, replicas, used);
  *out_cycles = estimateTogether(planner, extent, tile, replicas);
  return NULL;
}

/* Buffers between groups hold as many slices as lie between producer and consumer, and one more. */
static void chooseDepths(Planner *planner, int64_t extent, int64_t tile) {
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    for (uint32_t i = 0; i < planner->groups.groups[g]->operand_count; ++i) {
      uint32_t tensor = planner->groups.groups[g]->operands[i].map.tensor;
      if (planner->fixed[g] || !(planner->choices[g].on_chip >> i & 1))
        continue;
      uint32_t from = planner->between[tensor] ? planner->level[planner->writer[tensor]] : 0;
      uint64_t depth = 1; /* the whole tensor is one slice */
      if (extent > tile)
        depth = planner->level[g] - from + (planner->between[tensor] ? 1 : 2);
      uint64_t most =
          (uint64_t)planner->machine->pmu_bytes / sliceBytes(planner, tensor, extent, tile);
      planner->choices[g].nest.depth[i] = (uint32_t)(depth < most ? depth : most);
    }
}

static void writeMapping(Planner *planner, uint32_t g) {
  const SambaGroup *group = planner->groups.groups[g];
  const SambaTileNest *nest = &planner->choices[g].nest;
  uint32_t position_of[SAMBA_MAX_STAGE_DIMS];

  for (uint32_t position = 0; position < group->dim_count; ++position)
    position_of[nest->dim_at[position]] = position;
  for (uint32_t s = 0; s < group->stage_count; ++s) {
    const SambaStage *stage = &planner->graph->stages[group->stages[s]];
    SambaMapping *mapping = &planner->graph->mappings[group->stages[s]];
    memset(mapping, 0, sizeof *mapping);
    mapping->dim_count = stage->dim_count;
    mapping->group = g;
    mapping->pipeline_dim = SAMBA_NO_INDEX;
    uint32_t key[SAMBA_MAX_STAGE_DIMS];
    for (uint32_t dim = 0; dim < stage->dim_count; ++dim) {
      uint32_t of = group->stage_dims[s].of[dim];
      mapping->tile[dim] = of == SAMBA_NO_INDEX ? 1 : nest->tile[of];
      mapping->unroll[dim] = of == SAMBA_NO_INDEX ? 1 : nest->unroll[of];
      key[dim] = of == SAMBA_NO_INDEX ? SAMBA_MAX_STAGE_DIMS : position_of[of];
      uint32_t at = dim;
      for (; at && key[mapping->order[at - 1]] > key[dim]; --at)
        mapping->order[at] = mapping->order[at - 1];
      mapping->order[at] = dim;
      if (of != SAMBA_NO_INDEX && of == nest->pipeline_dim)
        mapping->pipeline_dim = dim;
    }
  }

  for (uint32_t i = 0; i < group->operand_count; ++i) {
    SambaMapping *mapping = &planner->graph->mappings[group->operands[i].stage];
    mapping->operand_level[group->operands[i].operand] = nest->level[i];
    mapping->operand_depth[group->operands[i].operand] = nest->depth[i];
    mapping->operand_joined[group->operands[i].operand] = nest->joined[i];
  }
}

typedef struct Best {
  bool found;
  double cycles;
  int64_t extent, tile;
  SambaGroupChoice *choices;
} Best;

static void keepIfBetter(Planner *planner, Best *best, double cycles, int64_t extent,
                         int64_t tile) {
  if (best->found && cycles >= best->cycles)
    return;
  best->found = true;
  best->cycles = cycles;
  best->extent = extent;
  best->tile = tile;
  memcpy(best->choices, planner->choices, planner->groups.count * sizeof *planner->choices);
}

static SambaStatus planSeveral(Planner *planner) {
  Best best = {.choices =
                   SAMBA_ARENA_ARRAY(&planner->scratch, SambaGroupChoice, planner->groups.count)};
  uint32_t *dims = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->groups.count);
  SambaStatus why = NULL;
  double cycles;

  for (uint32_t c = 0; c < 3 && sambaPlanPipelineClass(planner->graph, &planner->groups, c, dims);
       ++c) {
    int64_t extent = planner->groups.groups[0]->extents[dims[0]];
    /* Many slices are many firings: more of them only where fewer leave slices too large. */
    for (int64_t slices = 1; slices <= 4 * extent && (slices <= 4096 || !best.found); slices *= 4) {
      int64_t tile = (extent + slices - 1) / slices;
      int64_t tiles = (extent + tile - 1) / tile;
      if (tile == extent)
        continue; /* one slice: planned below, without a dimension */
      for (uint32_t replicas = 1; replicas <= tiles; replicas *= 4) {
        /* Replicas share the tiles evenly. */
        int64_t each = (tiles + replicas - 1) / replicas;
        SambaStatus status = planTogether(planner, dims, extent, tile,
                                          (uint32_t)((tiles + each - 1) / each), &cycles);
        if (!status)
          keepIfBetter(planner, &best, cycles, extent, tile);
        sambaStatusFree(why);
        why = status;
        if (status)
          break; /* more replicas need more units */
      }
      if (tile == 1)
        break;
    }
  }

  SambaStatus status = planTogether(planner, NULL, 1, 1, 1, &cycles);
  if (!status)
    keepIfBetter(planner, &best, cycles, 1, 1);
  if (!best.found) {
    sambaStatusFree(why ? status : NULL);
    return why ? why : status;
  }

  sambaStatusFree(why);
  sambaStatusFree(status);
  memcpy(planner->choices, best.choices, planner->groups.count * sizeof *planner->choices);
  chooseDepths(planner, best.extent, best.tile);

  return NULL;
}

static SambaStatus planAll(Planner *planner) {
  SAMBA_RETURN_IF_ERROR(
      sambaGroupsBuild(planner->graph, planner->machine, &planner->scratch, &planner->groups));
  planner->limits = SAMBA_ARENA_ARRAY(&planner->scratch, SambaGroupLimits, planner->groups.count);
  planner->choices = SAMBA_ARENA_ARRAY(&planner->scratch, SambaGroupChoice, planner->groups.count);
  planner->fixed = SAMBA_ARENA_ARRAY(&planner->scratch, bool, planner->groups.count);
  planner->level = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->groups.count);
  planner->writer = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->graph->tensor_count);
  planner->between = SAMBA_ARENA_ARRAY(&planner->scratch, bool, planner->graph->tensor_count);
  planner->readers = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->graph->tensor_count);
  planner->shared =
      SAMBA_ARENA_ARRAY(&planner->scratch, SambaSharing, planner->graph->tensor_count);
  analyse(planner);
  uint32_t free_groups = 0, pcus = 0;

  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    planner->fixed[g] = planner->graph->mappings[planner->groups.groups[g]->anchor].dim_count != 0;
    free_groups += !planner->fixed[g];
    pcus += planner->groups.groups[g]->pcus;
  }

  if (free_groups == 0)
    return NULL;
  if (planner->pcus < pcus && pcus <= planner->all_pcus)
    planner->pcus = pcus; /* one copy of each group is the least */
  if (pcus > planner->pcus)
    return sambaStatusMake(SAMBA_EXHAUSTED,
                           "the section needs at least %u PCUs, but %s has %u to give", pcus,
                           planner->machine->name, planner->pcus);
  if (planner->groups.count == 1) {
    planner->limits[0].copies = UINT32_MAX;
    planner->limits[0].pcus = planner->pcus;
    planner->limits[0].pmus = planner->pmus;
    planner->limits[0].units = planner->units;
    if (!searchGroup(planner, 0, &planner->choices[0]))
      return noChoice(planner, 0);
  } else {
    SAMBA_RETURN_IF_ERROR(planSeveral(planner));
  }

  for (uint32_t g = 0; g < planner->groups.count; ++g)
    if (!planner->fixed[g])
      writeMapping(planner, g);
  return NULL;
}

/* Emits the mapped graph and splits its programs; SAMBA_EXHAUSTED when that does not fit the
 * machine. Other refusals are codegen's to report: then there is no section. */
static SambaStatus emitSection(const SambaStageGraph *graph, const SambaMachine *machine,
                               SambaArena *arena, SambaSection **out_section) {
  SambaArena scratch = {0};
  SambaSection *section = NULL;
  SambaStatus status = sambaCodegenSection(graph, machine, &scratch, &section);
  if (!status)
    status = sambaSplitPrograms(section, machine);
  if (!status)
    status = sambaSectionFits(section, machine);

  if (!status) {
    *arena = scratch;
    section->arena = arena;
    *out_section = section;
    return NULL;
  }

  sambaArenaDestroy(&scratch);
  if (sambaStatusGetCode(status) == SAMBA_EXHAUSTED)
    return status;
  sambaStatusFree(status);
  return NULL;
}

/* Takes back the mappings of the groups that were free; false when no group has copies to
 * give up. */
static bool giveUp(Planner *planner) {
  bool copies = false;
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    const SambaGroup *group = planner->groups.groups[g];
    if (planner->fixed[g])
      continue;
    copies |= planner->choices[g].nest.copies > 1;
    for (uint32_t s = 0; s < group->stage_count; ++s)
      memset(&planner->graph->mappings[group->stages[s]], 0, sizeof *planner->graph->mappings);
  }
  return copies;
}

SambaStatus sambaPlanTiles(SambaStageGraph *graph, const SambaMachine *machine,
                           const SambaPlanOptions *options) {
  SambaArena arena = {0};
  SambaSection *section;
  SambaStatus status = sambaPlanSection(graph, machine, options, &arena, &section);
  sambaArenaDestroy(&arena);
  return status;
}

SambaStatus sambaPlanSection(SambaStageGraph *graph, const SambaMachine *machine,
                             const SambaPlanOptions *options, SambaArena *arena,
                             SambaSection **out_section) {
  *out_section = NULL;
  SAMBA_RETURN_IF_ERROR(sambaStageGraphCheck(graph));
  uint32_t divisor = options && options->parallel_divisor > 1 ? options->parallel_divisor : 1;
  SambaUsableUnits usable = sambaMachineUsableUnits(machine);
  SambaStatus status = NULL, first = NULL;

  /* The model estimates units and streams; what it underestimates shows in codegen, and a
   * smaller share is planned. */
  for (int attempt = 0; attempt < 6; ++attempt) {
    Planner planner = {.graph = graph,
                       .machine = machine,
                       .ags = (uint32_t)machine->ag_count,
                       .all_pcus = usable.pcus};
    planner.pcus = usable.pcus / divisor;
    planner.pcus -= planner.pcus * (uint32_t)attempt / 6;
    planner.pmus = usable.pmus - usable.pmus * (uint32_t)attempt / 8;
    planner.units = usable.together;
    planner.pcus = planner.pcus ? planner.pcus : 1;
    planner.pmus = planner.pmus ? planner.pmus : 1;
    status = sambaStatusAnnotate(planAll(&planner), "section %s", graph->name ? graph->name : "");
    bool planned = !status;
    if (planned)
      status = emitSection(graph, machine, arena, out_section);
    bool again = planned && status && giveUp(&planner);
    sambaArenaDestroy(&planner.scratch);
    if (!first) {
      first = status;
    } else if (status) {
      sambaStatusFree(status);
      status = first;
    } else {
      sambaStatusFree(first);
    }
    if (!again)
      break;
  }

  return status;
}
