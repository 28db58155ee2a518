/* The planner's driver: groups, the pipeline dimension and its tile, and the share of the chip each
 * group gets. A group alone searches freely. Several groups: for each pipeline class and slice
 * size, start every group at one copy and give copies to the slowest until nothing improves or the
 * chip is full; keep the slice size that ends soonest. */
#include "backend/plan/plan.h"

#include "backend/codegen/codegen.h"
#include "backend/estimate/estimate.h"
#include "backend/estimate/unit_cycles.h"
#include "backend/plan/plan_internal.h"
#include "backend/split/split_programs.h"
#include "support/number/integer.h"

#include <stdlib.h>
#include <string.h>

/* More copies of a group must make it at least this much faster, or it keeps the ones it has. */
static const double worthCopies = 0.95;

/* Cycles of program load that one more unit costs, counted at this share: repeated sections load
 * once. */
static const double launchShare = 0.5;

/* Of the DRAM and of the slowest group, the one that takes less time makes the other wait for this
 * share of it. */
static const double besideShare = 0.25;

typedef struct Planner {
  SambaStageGraph *graph;
  const SambaMachine *machine;
  SambaArena scratch;
  SambaGroups groups;
  SambaGroupLimits *limits;
  SambaGroupChoice *choices;
  bool *fixed; /* mapped by hand */
  uint32_t all_pcus, pcus, pmus, ags;
  uint32_t units;    /* PCUs and PMUs together, at most */
  uint32_t *level;   /* of each group: how many buffers lie before it on the longest way */
  uint32_t *writer;  /* of each tensor: its last group, SAMBA_NO_INDEX: none */
  bool *between;     /* tensors that groups of the section read and write */
  uint32_t *readers; /* operands that read each tensor */
  /* For the pipeline being planned: of each tensor, see share.h, and its slices when it is one in
   * buffers. */
  SambaSharing *shared;
  SambaSlices *slices;
  uint32_t *depth, *ring; /* slices that its buffers should hold, and PMUs that take them in turn */
  bool *ringable;         /* of each tensor, for all pipelines: several PMUs may */
} Planner;

/* Between which groups several PMUs may take slices in turn: one PCU group writes, PCUs read as
 * data. */
static void findRings(Planner *planner) {
  const SambaStageGraph *graph = planner->graph;
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    planner->ringable[t] = graph->tensors[t].role == SAMBA_TENSOR_INTERMEDIATE;
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    const SambaGroup *group = planner->groups.groups[g];
    if (group->copy || planner->writer[group->output.tensor] != g)
      planner->ringable[group->output.tensor] = false;
    for (uint32_t i = 0; i < group->operand_count; ++i)
      if (group->copy || group->operands[i].indexes)
        planner->ringable[group->operands[i].map.tensor] = false;
  }
}

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
  findRings(planner);

  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    uint32_t tensor = planner->groups.groups[g]->output.tensor;
    const SambaGroup *group = planner->groups.groups[g];
    uint32_t own = graph->tensors[tensor].role == SAMBA_TENSOR_RESULT;
    for (uint32_t i = 0; i < group->operand_count; ++i)
      own += graph->tensors[group->operands[i].map.tensor].role == SAMBA_TENSOR_ARGUMENT;
    planner->limits[g] = (SambaGroupLimits){.replicas = 1,
                                            .output_buffers = 1,
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

static uint64_t sliceBytes(const Planner *planner, const SambaPipeline *pipeline, uint32_t tensor) {
  return (uint64_t)sambaSliceBytes(&planner->graph->tensors[tensor], &planner->slices[tensor],
                                   pipeline->tile);
}

/* Settles which arguments are shared, and how the pipeline slices the tensors in buffers. */
static void sliceTensors(Planner *planner, const SambaPipeline *pipeline) {
  const SambaStageGraph *graph = planner->graph;
  bool *met = sambaAllocateZeroed(graph->tensor_count, sizeof *met);

  sambaFindShared(graph, &planner->groups, planner->machine, pipeline, planner->shared);
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    planner->slices[t] = planner->shared[t].slices;
  for (uint32_t g = 0; g < planner->groups.count && pipeline->count; ++g) {
    const SambaGroup *group = planner->groups.groups[g];
    for (uint32_t i = 0; i <= group->operand_count; ++i) {
      const SambaStageOperand *map =
          i < group->operand_count ? &group->operands[i].map : &group->output;
      SambaSlices *slices = &planner->slices[map->tensor];
      if (!planner->between[map->tensor])
        continue;
      SambaSlices own = sambaMapSlices(graph, group, map, &pipeline->groups[g]);
      *slices = met[map->tensor] ? sambaSlicesMeet(slices, &own) : own;
      met[map->tensor] = true;
    }
  }
  free(met);
}

/* Slices of a tensor that each replica runs. */
static int64_t slicesOf(const SambaPipeline *pipeline, uint32_t loops) {
  int64_t slices = 1;
  for (uint32_t i = 0; i < loops; ++i)
    slices *=
        sambaCeilDiv(sambaCeilDiv(pipeline->extent[i], pipeline->tile[i]), pipeline->copies[i]);
  return slices;
}

/* Slices that a reader's buffer should hold: as many as lie between producer and consumer, and one
 * more. */
static uint32_t wantedDepth(const Planner *planner, uint32_t reader, uint32_t tensor) {
  if (!planner->between[tensor])
    return planner->level[reader] + 2;
  return planner->level[reader] - planner->level[planner->writer[tensor]] + 1;
}

/* Settles for each tensor how many PMUs take its slices in turn. Copies deal nothing out. */
static void placeRings(Planner *planner, const SambaPipeline *pipeline) {
  const SambaStageGraph *graph = planner->graph;
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    planner->depth[t] = planner->ring[t] = 1;
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    const SambaGroup *group = planner->groups.groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      uint32_t tensor = group->operands[i].map.tensor;
      uint32_t own = wantedDepth(planner, g, tensor);
      planner->depth[tensor] = own > planner->depth[tensor] ? own : planner->depth[tensor];
    }
  }

  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    if (!planner->between[t] || !planner->ringable[t])
      continue;
    int64_t bytes = (int64_t)sliceBytes(planner, pipeline, t);
    SambaRingNeeds needs = {
        bytes, slicesOf(pipeline, planner->slices[t].count), planner->depth[t],
        sambaRingReaders(planner->machine, pipeline, bytes, planner->readers[t])};
    planner->ring[t] = sambaSliceRing(planner->machine, &needs);
  }
}

/* Settles which operands come from buffers; returns the PMUs of the buffers. */
static uint32_t placeTensors(Planner *planner, const SambaPipeline *pipeline) {
  uint32_t pmus = 0;
  uint32_t ports = (uint32_t)planner->machine->unit_vector_outputs;

  sliceTensors(planner, pipeline);
  placeRings(planner, pipeline);
  for (uint32_t t = 0; t < planner->graph->tensor_count; ++t)
    if (planner->between[t] || planner->shared[t].shared)
      pmus += (planner->readers[t] + ports - 1) / ports * planner->ring[t] *
              sambaSliceReplicas(pipeline, &planner->slices[t]);

  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    SambaGroupLimits *limits = &planner->limits[g];
    limits->on_chip = limits->several = 0;
    limits->output_buffers =
        sambaSliceReplicas(pipeline, &planner->slices[planner->groups.groups[g]->output.tensor]);
    for (uint32_t i = 0; i < planner->groups.groups[g]->operand_count; ++i) {
      uint32_t tensor = planner->groups.groups[g]->operands[i].map.tensor;
      limits->sliced[i] = planner->slices[tensor].count;
      limits->buffers[i] = sambaSliceReplicas(pipeline, &planner->slices[tensor]);
      if (planner->between[tensor] || planner->shared[tensor].shared)
        limits->on_chip |= 1u << i;
      if (planner->readers[tensor] > 1)
        limits->several |= 1u << i;
    }
  }

  return pmus;
}

/* One slice at least of every tensor between groups; two would let its writer run ahead. */
static SambaStatus checkSlices(const Planner *planner, const SambaPipeline *pipeline) {
  for (uint32_t t = 0; t < planner->graph->tensor_count; ++t)
    if (planner->between[t] &&
        sliceBytes(planner, pipeline, t) > (uint64_t)planner->machine->pmu_bytes)
      return sambaStatusMake(SAMBA_EXHAUSTED,
                             "tensor %u between the stages needs %llu bytes on chip, but a PMU of "
                             "%s has %lld; cut the section there",
                             t, (unsigned long long)sliceBytes(planner, pipeline, t),
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
static double estimateTogether(const Planner *planner, const SambaPipeline *pipeline) {
  double slowest = 0, dram = 0, fill = 0;
  uint32_t levels = 0;

  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    if (planner->fixed[g])
      continue;
    slowest = planner->choices[g].cycles > slowest ? planner->choices[g].cycles : slowest;
    dram += planner->choices[g].dram_bytes;
    fill = planner->choices[g].fill > fill ? planner->choices[g].fill : fill;
    levels = planner->level[g] > levels ? planner->level[g] : levels;
  }

  dram /= sambaMachineDramBytesPerCycle(planner->machine);
  double start = (double)levels / (double)slicesOf(pipeline, pipeline->count);
  double both = dram > slowest ? dram : slowest;
  /* Where several loops stream, the DRAM is busy while the pipeline fills, and waits a little. */
  if (pipeline->count > 1)
    return both + besideShare * (slowest + dram - both) + slowest * start + fill;
  return both * (1 + start) + fill;
}

/* Plans all groups along a pipeline. out_cycles: the estimate. */
static SambaStatus planTogether(Planner *planner, const SambaPipeline *pipeline,
                                double *out_cycles) {
  UsedUnits used = {0, placeTensors(planner, pipeline)};
  uint32_t replicas = 1;
  for (uint32_t i = 0; i < pipeline->count; ++i)
    replicas *= pipeline->copies[i];

  SAMBA_RETURN_IF_ERROR(checkSlices(planner, pipeline));
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    SambaGroupLimits *limits = &planner->limits[g];
    if (planner->fixed[g])
      continue;
    limits->pipeline = pipeline->count ? pipeline->groups[g] : (SambaPipelineDims){.count = 0};
    memcpy(limits->pipeline_tile, pipeline->tile, sizeof pipeline->tile);
    memcpy(limits->pipeline_copies, pipeline->copies, sizeof pipeline->copies);
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
  *out_cycles = estimateTogether(planner, pipeline);
  return NULL;
}

/* Buffers between groups hold as many slices as lie between producer and consumer, and one more. */
static void chooseDepths(Planner *planner, const SambaPipeline *pipeline) {
  sliceTensors(planner, pipeline);
  placeRings(planner, pipeline);
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    for (uint32_t i = 0; i < planner->groups.groups[g]->operand_count; ++i) {
      uint32_t tensor = planner->groups.groups[g]->operands[i].map.tensor;
      if (planner->fixed[g] || !(planner->choices[g].on_chip >> i & 1))
        continue;
      uint64_t depth = 1; /* the whole tensor is one slice */
      for (uint32_t p = 0; p < planner->slices[tensor].count; ++p)
        if (pipeline->extent[p] > pipeline->tile[p])
          depth = wantedDepth(planner, g, tensor);
      uint64_t most = (uint64_t)planner->machine->pmu_bytes /
                      sliceBytes(planner, pipeline, tensor) * planner->ring[tensor];
      planner->choices[g].nest.depth[i] = (uint32_t)(depth < most ? depth : most);
    }
}

/* The loops of the pipeline in the dimensions of a stage, which may lack those of one point. */
static void writePipeline(const SambaTileNest *nest, const SambaDimMap *dims,
                          SambaMapping *mapping) {
  for (uint32_t i = 0; i < nest->pipeline_count; ++i)
    for (uint32_t dim = 0; dim < mapping->dim_count; ++dim)
      if (dims->of[dim] == nest->dim_at[i])
        mapping->pipeline_dims[mapping->pipeline_count++] = dim;
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
    }
    writePipeline(nest, &group->stage_dims[s], mapping);
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
  SambaPipeline pipeline;
  SambaPipelineDims *dims; /* of the groups in that pipeline */
  SambaGroupChoice *choices;
} Best;

/* The pipelines that a section can have, while they are tried. */
typedef struct Pipelines {
  Planner *planner;
  uint32_t class_count;
  uint32_t *classes[SAMBA_MAX_PIPELINE_DIMS]; /* the dimension of each group */
  SambaPipelineDims *dims;                    /* of the pipeline being tried */
  Best best;
  SambaStatus why; /* the last one that cannot be planned */
} Pipelines;

/* Plans a pipeline and keeps it when it is the best; false when it does not fit. */
static bool tryPipeline(Pipelines *pipelines, const SambaPipeline *pipeline) {
  Planner *planner = pipelines->planner;
  Best *best = &pipelines->best;
  double cycles = 0;
  SambaStatus status = planTogether(planner, pipeline, &cycles);

  sambaStatusFree(pipelines->why);
  pipelines->why = status;
  if (status || (best->found && cycles >= best->cycles))
    return !status;
  best->found = true;
  best->cycles = cycles;
  best->pipeline = *pipeline;
  best->pipeline.groups = best->dims;
  memcpy(best->choices, planner->choices, planner->groups.count * sizeof *planner->choices);
  if (pipeline->count)
    memcpy(best->dims, pipelines->dims, planner->groups.count * sizeof *best->dims);
  return true;
}

/* A pipeline along classes [first, first + count), a tile of it the whole of each. */
static SambaPipeline pipelineAlong(Pipelines *pipelines, uint32_t first, uint32_t count) {
  const SambaGroups *groups = &pipelines->planner->groups;
  SambaPipeline pipeline = {.count = count, .groups = pipelines->dims};

  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t *dims = pipelines->classes[first + i];
    for (uint32_t g = 0; g < groups->count; ++g)
      pipelines->dims[g].dim[i] = dims[g];
    pipeline.extent[i] = pipeline.tile[i] = groups->groups[0]->extents[dims[0]];
    pipeline.copies[i] = 1;
  }
  for (uint32_t g = 0; g < groups->count; ++g)
    pipelines->dims[g].count = count;
  return pipeline;
}

/* Shares the tiles of the loops from `loop` on among as many replicas as can be, `most` at most,
 * evenly; of equals those along outer loops. Returns how many there are. */
static uint32_t shareTiles(SambaPipeline *pipeline, uint32_t loop, uint32_t most) {
  if (loop == pipeline->count || loop == SAMBA_MAX_PIPELINE_DIMS)
    return 1;
  int64_t tiles = sambaCeilDiv(pipeline->extent[loop], pipeline->tile[loop]);
  uint32_t best = 0, copies[SAMBA_MAX_PIPELINE_DIMS] = {0};

  for (int64_t own = tiles < most ? tiles : most; own > 0 && best < most; --own) {
    int64_t each = sambaCeilDiv(tiles, own);
    own = sambaCeilDiv(tiles, each); /* as many have no more tiles each */
    uint32_t made = (uint32_t)own * shareTiles(pipeline, loop + 1, most / (uint32_t)own);
    if (made <= best)
      continue;
    best = made;
    pipeline->copies[loop] = (uint32_t)own;
    memcpy(copies, pipeline->copies, sizeof copies);
  }
  memcpy(&pipeline->copies[loop], &copies[loop], (pipeline->count - loop) * sizeof *copies);
  return best;
}

/* A pipeline with one replica, and with more of them. */
static void tryReplicas(Pipelines *pipelines, SambaPipeline *pipeline) {
  uint32_t last = 0;
  int64_t slices = 1;
  for (uint32_t i = 0; i < pipeline->count; ++i)
    slices *= sambaCeilDiv(pipeline->extent[i], pipeline->tile[i]);

  /* Of several loops also three of each four: replicas divide the chip's units. */
  int64_t step = pipeline->count > 1 ? 2 : 4;
  for (int64_t replicas = 1; replicas <= slices; replicas *= step)
    for (int64_t more = 2; more <= (step == 2 && replicas > 4 ? 3 : 2); ++more) {
      int64_t most = replicas * more / 2 < slices ? replicas * more / 2 : slices;
      uint32_t made = shareTiles(pipeline, 0, (uint32_t)most);
      if (made == last)
        continue;
      last = made;
      if (!tryPipeline(pipelines, pipeline))
        return; /* more replicas need more units */
    }
}

/* Pipelines along one class, in slices of several sizes. */
static void tryClass(Pipelines *pipelines, uint32_t index) {
  SambaPipeline pipeline = pipelineAlong(pipelines, index, 1);
  int64_t extent = pipeline.extent[0];

  /* Many slices are many firings: more of them only where fewer leave slices too large. */
  for (int64_t slices = 1; slices <= 4 * extent && (slices <= 4096 || !pipelines->best.found);
       slices *= 4) {
    pipeline.tile[0] = sambaCeilDiv(extent, slices);
    if (pipeline.tile[0] == extent)
      continue; /* one slice: planned without a pipeline */
    tryReplicas(pipelines, &pipeline);
    if (pipeline.tile[0] == 1)
      break;
  }
}

/* Pipelines along the first `count` classes: one point of the outer ones, and slices of several
 * sizes of the last. */
static void tryNest(Pipelines *pipelines, uint32_t count) {
  SambaPipeline pipeline = pipelineAlong(pipelines, 0, count);
  int64_t extent = pipeline.extent[count - 1];
  for (uint32_t i = 0; i + 1 < count; ++i)
    pipeline.tile[i] = 1;
  for (int64_t tile = 16; tile < extent; tile *= 2) {
    pipeline.tile[count - 1] = tile;
    tryReplicas(pipelines, &pipeline);
  }
}

static SambaStatus planSeveral(Planner *planner) {
  SambaArena *scratch = &planner->scratch;
  uint32_t groups = planner->groups.count;
  Pipelines pipelines = {.planner = planner,
                         .dims = SAMBA_ARENA_ARRAY(scratch, SambaPipelineDims, groups)};
  pipelines.best.choices = SAMBA_ARENA_ARRAY(scratch, SambaGroupChoice, groups);
  pipelines.best.dims = SAMBA_ARENA_ARRAY(scratch, SambaPipelineDims, groups);
  for (uint32_t c = 0; c < SAMBA_MAX_PIPELINE_DIMS; ++c) {
    pipelines.classes[c] = SAMBA_ARENA_ARRAY(scratch, uint32_t, groups);
    if (!sambaPlanPipelineClass(planner->graph, &planner->groups, c, pipelines.classes[c]))
      break;
    ++pipelines.class_count;
  }

  for (uint32_t c = 0; c < 3 && c < pipelines.class_count; ++c)
    tryClass(&pipelines, c);
  for (uint32_t count = 2; count <= pipelines.class_count; ++count)
    tryNest(&pipelines, count);
  SambaStatus first = pipelines.why;
  pipelines.why = NULL;
  tryPipeline(&pipelines, &(SambaPipeline){.count = 0});

  if (!pipelines.best.found) {
    sambaStatusFree(first ? pipelines.why : NULL);
    return first ? first : pipelines.why;
  }
  sambaStatusFree(first);
  sambaStatusFree(pipelines.why);
  memcpy(planner->choices, pipelines.best.choices, groups * sizeof *planner->choices);
  chooseDepths(planner, &pipelines.best.pipeline);

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
  planner->slices = SAMBA_ARENA_ARRAY(&planner->scratch, SambaSlices, planner->graph->tensor_count);
  planner->depth = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->graph->tensor_count);
  planner->ring = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->graph->tensor_count);
  planner->ringable = SAMBA_ARENA_ARRAY(&planner->scratch, bool, planner->graph->tensor_count);
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
  SambaStatus status = sambaCodegenDraft(graph, machine, &scratch, &section);
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
