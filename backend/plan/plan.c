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

static void analyse(Planner *p) {
  const SambaStageGraph *graph = p->graph;
  uint32_t in_memory = 0;

  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    p->writer[t] = SAMBA_NO_INDEX;
  for (uint32_t g = 0; g < p->groups.count; ++g) {
    const SambaGroup *group = p->groups.groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      uint32_t tensor = group->operands[i].map.tensor;
      ++p->readers[tensor];
      if (graph->tensors[tensor].role == SAMBA_TENSOR_ARGUMENT) {
        ++in_memory;
        continue;
      }
      p->between[tensor] = true;
      if (p->writer[tensor] != SAMBA_NO_INDEX && p->level[p->writer[tensor]] + 1 > p->level[g])
        p->level[g] = p->level[p->writer[tensor]] + 1;
    }
    uint32_t before = p->writer[group->output.tensor];
    if (before != SAMBA_NO_INDEX && p->level[before] > p->level[g])
      p->level[g] = p->level[before];
    p->writer[group->output.tensor] = g;
    in_memory += graph->tensors[group->output.tensor].role == SAMBA_TENSOR_RESULT;
  }

  for (uint32_t g = 0; g < p->groups.count; ++g) {
    uint32_t tensor = p->groups.groups[g]->output.tensor;
    const SambaGroup *group = p->groups.groups[g];
    uint32_t own = graph->tensors[tensor].role == SAMBA_TENSOR_RESULT;
    for (uint32_t i = 0; i < group->operand_count; ++i)
      own += graph->tensors[group->operands[i].map.tensor].role == SAMBA_TENSOR_ARGUMENT;
    p->limits[g] = (SambaGroupLimits){.pipeline_dim = SAMBA_NO_INDEX,
                                      .replicas = 1,
                                      .ags = in_memory ? p->ags * own / in_memory : 1};
    p->limits[g].ags = p->limits[g].ags ? p->limits[g].ags : 1;
    p->limits[g].buffered_output = p->between[tensor];
    p->limits[g].writers = 0;
    for (uint32_t other = 0; other < p->groups.count; ++other)
      p->limits[g].writers += p->groups.groups[other]->output.tensor == tensor;
    p->limits[g].stored_output = graph->tensors[tensor].role == SAMBA_TENSOR_RESULT;
  }
}

static uint64_t sliceBytes(const Planner *p, uint32_t tensor, int64_t extent, int64_t tile) {
  const SambaStageTensor *type = &p->graph->tensors[tensor];
  uint64_t elements = 1;
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    elements *= (uint64_t)type->dims[axis];
  if (extent > 1)
    elements = elements / (uint64_t)extent * (uint64_t)tile;
  return elements * sambaDTypeBytes(type->dtype);
}

/* Settles which arguments are shared and which operands come from buffers; returns the PMUs of the
 * buffers. */
static uint32_t placeTensors(Planner *p, const uint32_t *dims, int64_t tile, uint32_t replicas) {
  uint32_t pmus = 0;
  uint32_t ports = (uint32_t)p->machine->unit_vector_outputs;

  sambaFindShared(p->graph, &p->groups, p->machine, dims, tile, p->shared);
  for (uint32_t t = 0; t < p->graph->tensor_count; ++t)
    if (p->between[t] || p->shared[t].shared)
      pmus += (p->readers[t] + ports - 1) / ports * replicas;

  for (uint32_t g = 0; g < p->groups.count; ++g) {
    p->limits[g].on_chip = p->limits[g].several = 0;
    for (uint32_t i = 0; i < p->groups.groups[g]->operand_count; ++i) {
      uint32_t tensor = p->groups.groups[g]->operands[i].map.tensor;
      if (p->between[tensor] || p->shared[tensor].shared)
        p->limits[g].on_chip |= 1u << i;
      if (p->readers[tensor] > 1)
        p->limits[g].several |= 1u << i;
    }
  }

  return pmus;
}

/* One slice at least of every tensor between groups; two would let its writer run ahead. */
static SambaStatus checkSlices(const Planner *p, int64_t extent, int64_t tile) {
  for (uint32_t t = 0; t < p->graph->tensor_count; ++t)
    if (p->between[t] && sliceBytes(p, t, extent, tile) > (uint64_t)p->machine->pmu_bytes)
      return sambaStatusMake(SAMBA_EXHAUSTED,
                             "tensor %u between the stages needs %llu bytes on chip, but a PMU of "
                             "%s has %lld; cut the section there",
                             t, (unsigned long long)sliceBytes(p, t, extent, tile),
                             p->machine->name, (long long)p->machine->pmu_bytes);
  return NULL;
}

static SambaStatus noChoice(const Planner *p, uint32_t g) {
  uint32_t stage = p->groups.groups[g]->anchor;
  return sambaStatusMake(SAMBA_EXHAUSTED,
                         "stage %u (%s) finds no mapping: its smallest tiles and buffers exceed "
                         "what is left of %s (%u "
                         "PCUs, %u PMUs of %lld bytes)",
                         stage, p->graph->stages[stage].name, p->machine->name, p->limits[g].pcus,
                         p->limits[g].pmus, (long long)p->machine->pmu_bytes);
}

static bool searchGroup(Planner *p, uint32_t g, SambaGroupChoice *choice) {
  return sambaPlanSearch(p->graph, p->groups.groups[g], p->machine, &p->limits[g], choice);
}

/* Plans all groups as `replicas` pipelines with the given dimension and tile (dims NULL: none).
 * out_cycles: the estimate. */
static SambaStatus planTogether(Planner *p, const uint32_t *dims, int64_t extent, int64_t tile,
                                uint32_t replicas, double *out_cycles) {
  uint32_t used_pcus = 0;
  uint32_t used_pmus = placeTensors(p, dims, tile, replicas);

  SAMBA_RETURN_IF_ERROR(checkSlices(p, extent, tile));
  for (uint32_t g = 0; g < p->groups.count; ++g) {
    SambaGroupLimits *limits = &p->limits[g];
    if (p->fixed[g])
      continue;
    limits->pipeline_dim = dims ? dims[g] : SAMBA_NO_INDEX;
    limits->pipeline_tile = tile;
    limits->replicas = limits->copies = replicas;
    limits->units = p->units;
    limits->pcus = p->groups.groups[g]->pcus * replicas;
    limits->pmus = used_pmus < p->pmus ? p->pmus - used_pmus : 0;
    if (!searchGroup(p, g, &p->choices[g]))
      return noChoice(p, g);
    used_pcus += p->choices[g].pcus;
    used_pmus += p->choices[g].pmus;
  }

  if (used_pcus > p->pcus || used_pmus > p->pmus || used_pcus + used_pmus > p->units)
    return sambaStatusMake(
        SAMBA_EXHAUSTED,
        "the section needs %u PCUs and %u PMUs, but %s has %u and %u to give, %u together",
        used_pcus, used_pmus, p->machine->name, p->pcus, p->pmus, p->units);
  bool *frozen = sambaAllocateZeroed(p->groups.count, sizeof *frozen);

  for (;;) {
    uint32_t slowest = SAMBA_NO_INDEX;
    for (uint32_t g = 0; g < p->groups.count; ++g)
      if (!p->fixed[g] &&
          (slowest == SAMBA_NO_INDEX || p->choices[g].cycles > p->choices[slowest].cycles))
        slowest = g;
    if (slowest == SAMBA_NO_INDEX || frozen[slowest])
      break;
    SambaGroupLimits *limits = &p->limits[slowest];
    SambaGroupChoice *choice = &p->choices[slowest];
    SambaGroupChoice better;
    uint32_t pieces = p->groups.groups[slowest]->pcus * replicas;
    uint32_t free_pcus = p->pcus - used_pcus + choice->pcus;
    limits->pcus = 2 * choice->pcus < free_pcus ? 2 * choice->pcus : free_pcus;
    limits->pcus = limits->pcus < pieces ? pieces : limits->pcus;
    limits->pmus = p->pmus - used_pmus + choice->pmus;
    limits->copies = 2 * choice->nest.copies;
    limits->units = p->units - used_pcus - used_pmus + choice->pcus + choice->pmus;
    frozen[slowest] = limits->pcus <= choice->pcus || !searchGroup(p, slowest, &better) ||
                      better.cycles > worthCopies * choice->cycles;
    if (!frozen[slowest]) {
      used_pcus += better.pcus - choice->pcus;
      used_pmus += better.pmus - choice->pmus;
      *choice = better;
    }
  }

  free(frozen);
  double slowest = 0, dram = 0, fill = 0;
  uint32_t levels = 0;
  int64_t slices = extent > 1 ? ((extent + tile - 1) / tile + replicas - 1) / replicas : 1;

  for (uint32_t g = 0; g < p->groups.count; ++g) {
    if (p->fixed[g])
      continue;
    slowest = p->choices[g].cycles > slowest ? p->choices[g].cycles : slowest;
    dram += p->choices[g].dram_bytes;
    fill = p->choices[g].fill > fill ? p->choices[g].fill : fill;
    levels = p->level[g] > levels ? p->level[g] : levels;
  }

  dram /= sambaMachineDramBytesPerCycle(p->machine);
  slowest = dram > slowest ? dram : slowest;
  *out_cycles = slowest * (1 + (double)levels / (double)slices) + fill;
  return NULL;
}

/* Buffers between groups hold as many slices as lie between producer and consumer, and one more. */
static void chooseDepths(Planner *p, int64_t extent, int64_t tile) {
  for (uint32_t g = 0; g < p->groups.count; ++g)
    for (uint32_t i = 0; i < p->groups.groups[g]->operand_count; ++i) {
      uint32_t tensor = p->groups.groups[g]->operands[i].map.tensor;
      if (p->fixed[g] || !(p->choices[g].on_chip >> i & 1))
        continue;
      uint32_t from = p->between[tensor] ? p->level[p->writer[tensor]] : 0;
      uint64_t depth = extent > tile ? p->level[g] - from + (p->between[tensor] ? 1 : 2) : 1;
      uint64_t most = (uint64_t)p->machine->pmu_bytes / sliceBytes(p, tensor, extent, tile);
      p->choices[g].nest.depth[i] = (uint32_t)(depth < most ? depth : most);
    }
}

static void writeMapping(Planner *p, uint32_t g) {
  const SambaGroup *group = p->groups.groups[g];
  const SambaTileNest *nest = &p->choices[g].nest;
  uint32_t position_of[SAMBA_MAX_STAGE_DIMS];

  for (uint32_t position = 0; position < group->dim_count; ++position)
    position_of[nest->dim_at[position]] = position;
  for (uint32_t s = 0; s < group->stage_count; ++s) {
    const SambaStage *stage = &p->graph->stages[group->stages[s]];
    SambaMapping *mapping = &p->graph->mappings[group->stages[s]];
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
    SambaMapping *mapping = &p->graph->mappings[group->operands[i].stage];
    mapping->operand_level[group->operands[i].operand] = nest->level[i];
    mapping->operand_depth[group->operands[i].operand] = nest->depth[i];
  }
}

typedef struct Best {
  bool found;
  double cycles;
  int64_t extent, tile;
  SambaGroupChoice *choices;
} Best;

static void keepIfBetter(Planner *p, Best *best, double cycles, int64_t extent, int64_t tile) {
  if (best->found && cycles >= best->cycles)
    return;
  best->found = true;
  best->cycles = cycles;
  best->extent = extent;
  best->tile = tile;
  memcpy(best->choices, p->choices, p->groups.count * sizeof *p->choices);
}

static SambaStatus planSeveral(Planner *p) {
  Best best = {.choices = SAMBA_ARENA_ARRAY(&p->scratch, SambaGroupChoice, p->groups.count)};
  uint32_t *dims = SAMBA_ARENA_ARRAY(&p->scratch, uint32_t, p->groups.count);
  SambaStatus why = NULL;
  double cycles;

  for (uint32_t c = 0; c < 3 && sambaPlanPipelineClass(p->graph, &p->groups, c, dims); ++c) {
    int64_t extent = p->groups.groups[0]->extents[dims[0]];
    for (int64_t slices = 1; slices <= 4 * extent && slices <= 4096; slices *= 4) {
      int64_t tile = (extent + slices - 1) / slices;
      int64_t tiles = (extent + tile - 1) / tile;
      if (tile == extent)
        continue; /* one slice: planned below, without a dimension */
      for (uint32_t replicas = 1; replicas <= tiles; replicas *= 4) {
        /* Replicas share the tiles evenly. */
        int64_t each = (tiles + replicas - 1) / replicas;
        SambaStatus status =
            planTogether(p, dims, extent, tile, (uint32_t)((tiles + each - 1) / each), &cycles);
        if (!status)
          keepIfBetter(p, &best, cycles, extent, tile);
        sambaStatusFree(why);
        why = status;
        if (status)
          break; /* more replicas need more units */
      }
      if (tile == 1)
        break;
    }
  }

  SambaStatus status = planTogether(p, NULL, 1, 1, 1, &cycles);
  if (!status)
    keepIfBetter(p, &best, cycles, 1, 1);
  if (!best.found) {
    sambaStatusFree(why ? status : NULL);
    return why ? why : status;
  }

  sambaStatusFree(why);
  sambaStatusFree(status);
  memcpy(p->choices, best.choices, p->groups.count * sizeof *p->choices);
  chooseDepths(p, best.extent, best.tile);

  return NULL;
}

static SambaStatus planAll(Planner *p) {
  SAMBA_RETURN_IF_ERROR(sambaGroupsBuild(p->graph, p->machine, &p->scratch, &p->groups));
  p->limits = SAMBA_ARENA_ARRAY(&p->scratch, SambaGroupLimits, p->groups.count);
  p->choices = SAMBA_ARENA_ARRAY(&p->scratch, SambaGroupChoice, p->groups.count);
  p->fixed = SAMBA_ARENA_ARRAY(&p->scratch, bool, p->groups.count);
  p->level = SAMBA_ARENA_ARRAY(&p->scratch, uint32_t, p->groups.count);
  p->writer = SAMBA_ARENA_ARRAY(&p->scratch, uint32_t, p->graph->tensor_count);
  p->between = SAMBA_ARENA_ARRAY(&p->scratch, bool, p->graph->tensor_count);
  p->readers = SAMBA_ARENA_ARRAY(&p->scratch, uint32_t, p->graph->tensor_count);
  p->shared = SAMBA_ARENA_ARRAY(&p->scratch, SambaSharing, p->graph->tensor_count);
  analyse(p);
  uint32_t free_groups = 0, pcus = 0;

  for (uint32_t g = 0; g < p->groups.count; ++g) {
    p->fixed[g] = p->graph->mappings[p->groups.groups[g]->anchor].dim_count != 0;
    free_groups += !p->fixed[g];
    pcus += p->groups.groups[g]->pcus;
  }

  if (free_groups == 0)
    return NULL;
  if (p->pcus < pcus && pcus <= p->all_pcus)
    p->pcus = pcus; /* one copy of each group is the least */
  if (pcus > p->pcus)
    return sambaStatusMake(SAMBA_EXHAUSTED,
                           "the section needs at least %u PCUs, but %s has %u to give", pcus,
                           p->machine->name, p->pcus);
  if (p->groups.count == 1) {
    p->limits[0].copies = UINT32_MAX;
    p->limits[0].pcus = p->pcus;
    p->limits[0].pmus = p->pmus;
    p->limits[0].units = p->units;
    if (!searchGroup(p, 0, &p->choices[0]))
      return noChoice(p, 0);
  } else {
    SAMBA_RETURN_IF_ERROR(planSeveral(p));
  }

  for (uint32_t g = 0; g < p->groups.count; ++g)
    if (!p->fixed[g])
      writeMapping(p, g);
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
static bool giveUp(Planner *p) {
  bool copies = false;
  for (uint32_t g = 0; g < p->groups.count; ++g) {
    const SambaGroup *group = p->groups.groups[g];
    if (p->fixed[g])
      continue;
    copies |= p->choices[g].nest.copies > 1;
    for (uint32_t s = 0; s < group->stage_count; ++s)
      memset(&p->graph->mappings[group->stages[s]], 0, sizeof *p->graph->mappings);
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
