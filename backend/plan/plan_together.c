/* Groups planned together; see plan_together.h. Every group starts with one copy for each replica,
 * or with its share, and copies go to the slowest until nothing improves or the chip is full. */
#include "backend/plan/plan_together.h"

#include "backend/plan/search_memo.h"

#include "support/number/integer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More copies of a group must make it at least this much faster, or it keeps the ones it has. */
static const double worthCopies = 0.95;

/* Between which groups several PMUs may take slices in turn: one PCU group writes, PCUs read as
 * data. */
static void findRings(SambaPlanner *planner) {
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

static double tensorBytes(const SambaStageTensor *tensor) {
  double bytes = sambaDTypeBytes(tensor->dtype);
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    bytes *= (double)tensor->dims[axis];
  return bytes;
}

/* What a group writes of its output: a new token of a cache is not all of it. */
static double madeBytes(const SambaStageGraph *graph, const SambaGroup *group) {
  const SambaStageTensor *made = &graph->tensors[group->output.tensor];
  double bytes = sambaDTypeBytes(made->dtype);
  for (uint32_t dim = 0; dim < group->parallel_count; ++dim)
    bytes *= (double)group->extents[dim];
  return fmin(bytes, tensorBytes(made));
}

bool sambaPlannerHasArrays(const SambaPlanner *planner) {
  bool found = false;
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    found |= planner->groups.groups[g]->systolic;
  return found;
}

/* Whether no group before this one loads the tensor for it too. */
static bool loadsFirst(const SambaPlanner *planner, uint32_t group, uint32_t tensor) {
  for (uint32_t g = 0; g < group && planner->shared[tensor].shared; ++g)
    for (uint32_t i = 0; i < planner->groups.groups[g]->operand_count; ++i)
      if (planner->groups.groups[g]->operands[i].map.tensor == tensor)
        return false;
  return true;
}

/* Arrays use again what is loaded, so that their operands may have as many each: as these shares
 * are more than there are, they only rank. */
void sambaPlannerShareGenerators(SambaPlanner *planner, bool by_bytes) {
  const SambaStageGraph *graph = planner->graph;
  uint32_t in_memory = 0;
  double all = 0;
  bool arrays = sambaPlannerHasArrays(planner);

  for (int share = 0; share < 2; ++share)
    for (uint32_t g = 0; g < planner->groups.count; ++g) {
      const SambaGroup *group = planner->groups.groups[g];
      uint32_t own = graph->tensors[group->output.tensor].role == SAMBA_TENSOR_RESULT;
      double bytes = own ? madeBytes(graph, group) : 0;
      for (uint32_t i = 0; i < group->operand_count; ++i) {
        uint32_t tensor = group->operands[i].map.tensor;
        const SambaStageTensor *read = &graph->tensors[tensor];
        if (read->role != SAMBA_TENSOR_ARGUMENT || !loadsFirst(planner, g, tensor))
          continue;
        bytes += tensorBytes(read);
        ++own;
      }
      if (!share) {
        in_memory += own;
        all += bytes;
        continue;
      }
      uint32_t more = planner->ags > in_memory ? planner->ags - in_memory : 0;
      uint32_t ags = own + (all > 0 ? (uint32_t)(more * bytes / all) : 0);
      uint32_t even = arrays && in_memory ? planner->ags * own / in_memory : 1;
      ags = even > ags ? even : ags;
      planner->limits[g].ags = by_bytes ? ags : own + more;
    }
}

void sambaPlannerAnalyse(SambaPlanner *planner) {
  const SambaStageGraph *graph = planner->graph;
  double pcu_load = sambaMachinePcuLoadCycles(planner->machine);
  double pmu_load = sambaMachinePmuLoadCycles(planner->machine);

  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    planner->writer[t] = SAMBA_NO_INDEX;
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    const SambaGroup *group = planner->groups.groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      uint32_t tensor = group->operands[i].map.tensor;
      ++planner->readers[tensor];
      if (graph->tensors[tensor].role == SAMBA_TENSOR_ARGUMENT)
        continue;
      planner->between[tensor] = true;
      if (planner->writer[tensor] != SAMBA_NO_INDEX &&
          planner->level[planner->writer[tensor]] + 1 > planner->level[g])
        planner->level[g] = planner->level[planner->writer[tensor]] + 1;
    }
    uint32_t before = planner->writer[group->output.tensor];
    if (before != SAMBA_NO_INDEX && planner->level[before] > planner->level[g])
      planner->level[g] = planner->level[before];
    planner->writer[group->output.tensor] = g;
  }
  findRings(planner);

  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    uint32_t tensor = planner->groups.groups[g]->output.tensor;
    /* Though a section that runs again is not loaded again: of plans that are ranked too high most
     * have too many units. */
    planner->limits[g] = (SambaGroupLimits){
        .replicas = 1, .output_buffers = 1, .pcu_launch = pcu_load, .pmu_launch = pmu_load};
    planner->limits[g].buffered_output = planner->between[tensor];
    planner->limits[g].writers = 0;
    for (uint32_t other = 0; other < planner->groups.count; ++other)
      planner->limits[g].writers += planner->groups.groups[other]->output.tensor == tensor;
    planner->limits[g].stored_output = graph->tensors[tensor].role == SAMBA_TENSOR_RESULT;
  }
  const SambaPipeline none = {0};
  sambaFindShared(graph, &planner->groups, planner->machine, &none, planner->shared);
  sambaPlannerShareGenerators(planner, sambaPlannerHasArrays(planner));
}

static uint64_t sliceBytes(const SambaPlanner *planner, const SambaPipeline *pipeline,
                           uint32_t tensor) {
  return (uint64_t)sambaSliceBytes(&planner->graph->tensors[tensor], &planner->slices[tensor],
                                   pipeline->tile);
}

/* Settles which arguments are shared, and how the pipeline slices the tensors in buffers. */
static void sliceTensors(SambaPlanner *planner, const SambaPipeline *pipeline) {
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

uint32_t sambaPipelineReplicas(const SambaPipeline *pipeline, uint32_t g) {
  uint32_t replicas = 1;
  for (uint32_t i = 0; pipeline->count && i < pipeline->groups[g].count; ++i)
    replicas *= pipeline->copies[i];
  return replicas;
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
static uint32_t wantedDepth(const SambaPlanner *planner, uint32_t reader, uint32_t tensor) {
  if (!planner->between[tensor])
    return planner->level[reader] + 2;
  return planner->level[reader] - planner->level[planner->writer[tensor]] + 1;
}

/* Settles for each tensor how many PMUs take its slices in turn. Copies deal nothing out. */
static void placeRings(SambaPlanner *planner, const SambaPipeline *pipeline) {
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
static uint32_t placeTensors(SambaPlanner *planner, const SambaPipeline *pipeline) {
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
static SambaStatus checkSlices(const SambaPlanner *planner, const SambaPipeline *pipeline) {
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

SambaStatus sambaPlannerNoChoice(const SambaPlanner *planner, uint32_t g) {
  uint32_t stage = planner->groups.groups[g]->anchor;
  return sambaStatusMake(SAMBA_EXHAUSTED,
                         "stage %u (%s) finds no mapping: its smallest tiles and buffers exceed "
                         "what is left of %s (%u "
                         "PCUs, %u PMUs of %lld bytes)",
                         stage, planner->graph->stages[stage].name, planner->machine->name,
                         planner->limits[g].pcus, planner->limits[g].pmus,
                         (long long)planner->machine->pmu_bytes);
}

bool sambaPlannerSearchGroup(SambaPlanner *planner, uint32_t g, SambaGroupChoice *choice) {
  const SambaGroup *group = planner->groups.groups[g];
  SambaGroupLimits *limits = &planner->limits[g];
  SambaSearchTrace trace = {0, UINT32_MAX, 0, UINT32_MAX, 0};
  bool found;
  if (planner->searches && sambaSearchMemoFind(planner->searches, planner->kinds[g], limits,
                                               group->operand_count, &trace.work, &found, choice)) {
    planner->work += trace.work;
    choice->nest.graph = planner->graph;
    choice->nest.group = group;
    choice->nest.machine = planner->machine;
    return found;
  }
  limits->trace = &trace;
  found = sambaPlanSearch(planner->graph, group, planner->machine, limits, choice);
  limits->trace = NULL;
  planner->work += trace.work;
  if (!group->pcus) { /* it has as many copies as there are PMUs */
    trace.pmus_granted = limits->pmus;
    trace.pmus_refused = limits->pmus + 1;
  }
  if (planner->searches)
    sambaSearchMemoKeep(planner->searches, planner->kinds[g], limits, group->operand_count, &trace,
                        found ? choice : NULL);
  return found;
}

/* Units that the groups take. */
typedef struct UsedUnits {
  uint32_t pcus, pmus;
} UsedUnits;

static double launchOf(const SambaPlanner *planner, uint32_t g) {
  return planner->limits[g].pcu_launch * planner->choices[g].pcus +
         planner->limits[g].pmu_launch * planner->choices[g].pmus;
}

/* Gives more copies to the slowest group until that helps no more or the chip is full, or until the
 * units' launch takes `most` cycles: they become no fewer. */
static void growSlowest(SambaPlanner *planner, double most, UsedUnits used) {
  bool *frozen = sambaAllocateZeroed(planner->groups.count, sizeof *frozen);
  double launch = 0;
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    launch += planner->fixed[g] ? 0 : launchOf(planner, g);

  while (launch < most) {
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
    uint32_t pieces = planner->groups.groups[slowest]->pcus * limits->replicas;
    uint32_t free_pcus = planner->pcus - used.pcus + choice->pcus;
    limits->pcus = 2 * choice->pcus < free_pcus ? 2 * choice->pcus : free_pcus;
    limits->pcus = limits->pcus < pieces ? pieces : limits->pcus;
    limits->pmus = planner->pmus - used.pmus + choice->pmus;
    limits->copies = 2 * choice->nest.copies;
    limits->units = planner->units - used.pcus - used.pmus + choice->pcus + choice->pmus;
    bool full = limits->pcus <= choice->pcus && !planner->groups.groups[slowest]->copy;
    frozen[slowest] = full || !sambaPlannerSearchGroup(planner, slowest, &better) ||
                      better.cycles > worthCopies * choice->cycles;
    if (!frozen[slowest]) {
      used.pcus += better.pcus - choice->pcus;
      used.pmus += better.pmus - choice->pmus;
      launch -= launchOf(planner, slowest);
      *choice = better;
      launch += launchOf(planner, slowest);
    }
  }

  free(frozen);
}

/* Adds the demands of arguments that groups share, and to out_bytes what is loaded for them. */
static uint32_t sharedDemands(const SambaPlanner *planner, const SambaPipeline *pipeline,
                              SambaDemand *out_demands, double *out_bytes) {
  uint32_t count = 0;
  for (uint32_t t = 0; t < planner->graph->tensor_count; ++t) {
    if (!planner->shared[t].shared)
      continue;
    double bytes = tensorBytes(&planner->graph->tensors[t]);
    double replicas = sambaSliceReplicas(pipeline, &planner->slices[t]);
    out_demands[count++] = (SambaDemand){0, bytes, replicas, 1, 2, 1, 0, false, 1};
    *out_bytes += bytes;
  }
  return count;
}

/* Cycles of the address generators, which all groups share; out_bytes: what shared arguments add to
 * the traffic of the groups. */
static double generatorCycles(const SambaPlanner *planner, const SambaPipeline *pipeline,
                              double *out_bytes) {
  size_t most =
      planner->graph->tensor_count + (size_t)planner->groups.count * (SAMBA_MAX_GROUP_OPERANDS + 1);
  SambaDemand *demands = sambaAllocateZeroed(most, sizeof *demands);
  size_t count = sharedDemands(planner, pipeline, demands, out_bytes);
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    if (!planner->fixed[g])
      count += sambaPlanDemands(&planner->limits[g], &planner->choices[g], &demands[count]);
  double cycles =
      count ? sambaPlanGeneratorCycles(planner->machine, demands, count, planner->ags) : 0;
  free(demands);
  return cycles;
}

/* Slices of the groups with that many others before them: those of the coarsest. */
static int64_t slicesAt(const SambaPlanner *planner, const SambaPipeline *pipeline,
                        uint32_t level) {
  int64_t fewest = INT64_MAX;
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    int64_t own = slicesOf(pipeline, pipeline->count ? pipeline->groups[g].count : 0);
    fewest = planner->level[g] == level && own < fewest ? own : fewest;
  }
  return fewest;
}

/* Cycles of the section: its slowest group or the DRAM, once for all slices and once more for each
 * buffer on the longest way, and a share of its launch. */
static double estimateTogether(const SambaPlanner *planner, const SambaPipeline *pipeline) {
  double slowest = 0, dram = 0, fill = 0, launch = 0;
  uint32_t levels = 0;

  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    if (planner->fixed[g])
      continue;
    slowest = planner->choices[g].cycles > slowest ? planner->choices[g].cycles : slowest;
    dram += planner->choices[g].dram_bytes;
    fill = planner->choices[g].fill > fill ? planner->choices[g].fill : fill;
    launch += launchOf(planner, g);
    levels = planner->level[g] > levels ? planner->level[g] : levels;
  }

  double shared = 0;
  double generators = generatorCycles(planner, pipeline, &shared);
  slowest = generators > slowest ? generators : slowest;
  dram = (dram + shared) / sambaMachineDramBytesPerCycle(planner->machine);
  double start = 0;
  for (uint32_t level = 0; level < levels; ++level)
    start += 1 / (double)slicesAt(planner, pipeline, level);
  double both = dram > slowest ? dram : slowest;
  /* Where slices stream, the DRAM is busy while the pipeline fills, and waits a little. */
  if (pipeline->count)
    return both + SAMBA_PLAN_BESIDE_SHARE * (slowest + dram - both) + slowest * start + fill +
           launch;
  return both * (1 + start) + fill + launch;
}

/* Cycles of a group's PCUs when one copy does all and none of them waits. */
static double workOf(const SambaPlanner *planner, uint32_t g) {
  const SambaGroup *group = planner->groups.groups[g];
  const SambaMachine *machine = planner->machine;
  double points = 1;
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    points *= (double)group->extents[dim];
  if (group->systolic)
    return points / (double)(machine->systolic_rows * machine->systolic_columns);
  return points * fmax(1, group->transcendentals) / (double)machine->simd_lanes;
}

double sambaPlannerWorkCycles(const SambaPlanner *planner) {
  double work = 0;
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    work += planner->fixed[g] ? 0 : workOf(planner, g) * planner->groups.groups[g]->pcus;
  return work / (double)planner->pcus;
}

/* What the groups from g on may take of the machine by their work: the share of g. */
static double shareOf(const SambaPlanner *planner, uint32_t g) {
  double own = 0, all = 0;
  for (uint32_t other = g; other < planner->groups.count; ++other) {
    const SambaGroup *group = planner->groups.groups[other];
    double work = workOf(planner, other) * (group->systolic ? 1 : group->pcus);
    all += work;
    own = other == g ? work : own;
  }
  return all > 0 ? own / all : 1;
}

/* Starts a group with its share of what is left instead of a copy for each replica. */
static void startByWork(const SambaPlanner *planner, uint32_t g, UsedUnits used) {
  SambaGroupLimits *limits = &planner->limits[g];
  const SambaGroup *group = planner->groups.groups[g];
  double share = shareOf(planner, g);
  double pcus = used.pcus < planner->pcus ? planner->pcus - used.pcus : 0;
  uint32_t own = (uint32_t)(share * pcus);
  if (!group->pcus || own <= limits->pcus)
    return;
  limits->pcus = own;
  limits->copies = group->systolic ? own : own / group->pcus;
  limits->pmus = (uint32_t)(share * limits->pmus);
}

/* Of each slice of a replica a group on arrays has all that is summed to do, however many copies
 * there are. */
double sambaPlanLeastCycles(const SambaPlanner *planner, const SambaPipeline *pipeline) {
  double least = 0;
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    const SambaGroup *group = planner->groups.groups[g];
    SambaArrayFiring firing = {1, 1, 1, 1, false};
    if (planner->fixed[g])
      continue;
    for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
      firing.depth *= group->extents[dim];
    double slices = (double)slicesOf(pipeline, pipeline->count ? pipeline->groups[g].count : 0);
    least =
        fmax(least, slices * (group->systolic ? sambaArrayCycles(planner->machine, &firing) : 1));
  }
  return least;
}

SambaStatus sambaPlanTogether(SambaPlanner *planner, const SambaPipeline *pipeline, bool balanced,
                              double most, double *out_cycles) {
  UsedUnits used = {0, placeTensors(planner, pipeline)};

  SAMBA_RETURN_IF_ERROR(checkSlices(planner, pipeline));
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    SambaGroupLimits *limits = &planner->limits[g];
    if (planner->fixed[g])
      continue;
    limits->pipeline = pipeline->count ? pipeline->groups[g] : (SambaPipelineDims){.count = 0};
    memcpy(limits->pipeline_tile, pipeline->tile, sizeof pipeline->tile);
    memcpy(limits->pipeline_copies, pipeline->copies, sizeof pipeline->copies);
    limits->replicas = limits->copies = sambaPipelineReplicas(pipeline, g);
    limits->units = planner->units;
    limits->pcus = planner->groups.groups[g]->pcus * limits->replicas;
    limits->pmus = used.pmus < planner->pmus ? planner->pmus - used.pmus : 0;
    if (balanced)
      startByWork(planner, g, used);
    if (!sambaPlannerSearchGroup(planner, g, &planner->choices[g]))
      return sambaPlannerNoChoice(planner, g);
    used.pcus += planner->choices[g].pcus;
    used.pmus += planner->choices[g].pmus;
  }

  if (used.pcus > planner->pcus || used.pmus > planner->pmus ||
      used.pcus + used.pmus > planner->units)
    return sambaStatusMake(
        SAMBA_EXHAUSTED,
        "the section needs %u PCUs and %u PMUs, but %s has %u and %u to give, %u together",
        used.pcus, used.pmus, planner->machine->name, planner->pcus, planner->pmus, planner->units);

  if (!planner->phases) /* else generators settle how many copies there are */
    growSlowest(planner, most - sambaPlanLeastCycles(planner, pipeline), used);
  *out_cycles = estimateTogether(planner, pipeline);
  return NULL;
}

/* Slices that a buffer holds beside those that lie between its producer and its consumer, where a
 * PMU has room: no group takes the same time for every slice, and the others need not wait for it
 * then. */
enum { spareSlices = 2 };

void sambaPlanChooseDepths(SambaPlanner *planner, const SambaPipeline *pipeline) {
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
          depth = wantedDepth(planner, g, tensor) + spareSlices;
      uint64_t most = (uint64_t)planner->machine->pmu_bytes /
                      sliceBytes(planner, pipeline, tensor) * planner->ring[tensor];
      planner->choices[g].nest.depth[i] = (uint32_t)(depth < most ? depth : most);
    }
}
