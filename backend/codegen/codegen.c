/* Codegen of sections, the driver: nests of all groups, the tensors that live in buffers and
 * whether they follow the pipeline, then group by group its sinks, its COMPUTE copies and its
 * sources. */
#include "backend/codegen/codegen.h"

#include "backend/codegen/banking.h"
#include "backend/codegen/codegen_internal.h"
#include "backend/codegen/slots.h"
#include "backend/estimate/estimate.h"
#include "backend/section/access.h"

#include <stdlib.h>
#include <string.h>

static const char *stageName(const SambaCodegen *codegen, uint32_t stage) {
  return codegen->graph->stages[stage].name ? codegen->graph->stages[stage].name : "";
}

/* Whether copies would store rows of the same places: then the last of equal indices need not stay
 * the last. */
static bool copiesShareRows(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  bool share = false;
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    share |= nest->unroll[dim] > 1 && sambaGroupDepends(group, group->output.index_operand, dim);
  return share;
}

static SambaStatus makeNests(SambaCodegen *codegen) {
  for (uint32_t g = 0; g < codegen->groups.count; ++g) {
    const SambaGroup *group = codegen->groups.groups[g];
    SambaGroupPlan *plan = &codegen->plans[g];
    if (!codegen->graph->mappings[group->anchor].dim_count && group->dim_count)
      return sambaStatusMake(SAMBA_INVALID, "stage %u (%s) has no mapping; plan the section first",
                             group->anchor, stageName(codegen, group->anchor));
    SAMBA_RETURN_IF_ERROR(sambaTileNestMake(codegen->graph, group, codegen->machine, &plan->nest));
    if (group->output.index_operand != SAMBA_NO_INDEX && copiesShareRows(&plan->nest))
      return sambaStatusMake(SAMBA_INVALID,
                             "mapping of stage %u (%s): an indexed store takes its indices in "
                             "order, so what they depend on is not unrolled",
                             group->anchor, stageName(codegen, group->anchor));
    plan->prefix =
        stageName(codegen, group->anchor)[0] ? stageName(codegen, group->anchor) : "stage";
    plan->loads = SAMBA_ARENA_ARRAY(&codegen->scratch, uint32_t, group->operand_count);
    plan->ways = SAMBA_ARENA_ARRAY(&codegen->scratch, uint32_t, group->operand_count);
    plan->sinks = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaEndpoints, plan->nest.copies);
    if (group->copy && sambaTileNestSources(&plan->nest, group->result) != plan->nest.copies)
      return sambaStatusMake(SAMBA_INVALID,
                             "mapping of stage %u (%s): a copy cannot be unrolled over a dimension "
                             "that its source does not have",
                             group->anchor, stageName(codegen, group->anchor));
  }

  return NULL;
}

/* What the nests say of the pipeline. */
static void readPipeline(SambaCodegen *codegen) {
  SambaPipelineDims *dims =
      SAMBA_ARENA_ARRAY(&codegen->scratch, SambaPipelineDims, codegen->groups.count);
  for (uint32_t g = 0; g < codegen->groups.count; ++g) {
    const SambaTileNest *nest = &codegen->plans[g].nest;
    dims[g].count = nest->pipeline_count;
    memcpy(dims[g].dim, nest->dim_at, nest->pipeline_count * sizeof *nest->dim_at);
    if (nest->pipeline_count > codegen->plans[codegen->pipeline_group].nest.pipeline_count)
      codegen->pipeline_group = g;
  }

  const SambaTileNest *all = &codegen->plans[codegen->pipeline_group].nest;
  codegen->pipeline = (SambaPipeline){.count = all->pipeline_count, .groups = dims};
  for (uint32_t i = 0; i < all->pipeline_count; ++i) {
    codegen->pipeline.extent[i] = all->group->extents[all->dim_at[i]];
    codegen->pipeline.tile[i] = all->tile[all->dim_at[i]];
    codegen->pipeline.copies[i] = all->unroll[all->dim_at[i]];
  }
}

/* All groups of a pipeline run the same number of slices of the same size, on the same number of
 * replicas, along the loops that they have. */
static SambaStatus checkPipeline(const SambaCodegen *codegen) {
  const SambaTileNest *all = &codegen->plans[codegen->pipeline_group].nest;
  uint32_t all_stage = codegen->groups.groups[codegen->pipeline_group]->anchor;

  for (uint32_t g = 0; g < codegen->groups.count; ++g) {
    const SambaTileNest *nest = &codegen->plans[g].nest;
    uint32_t stage = codegen->groups.groups[g]->anchor;
    if (all->pipeline_count && !nest->pipeline_count)
      return sambaStatusMake(
          SAMBA_INVALID, "stage %u (%s) has not a pipeline dimension, but stage %u (%s) has", stage,
          stageName(codegen, stage), all_stage, stageName(codegen, all_stage));
    for (uint32_t i = 0; i < nest->pipeline_count; ++i) {
      uint32_t dim = nest->dim_at[i], of_all = all->dim_at[i];
      if (nest->tile[dim] != all->tile[of_all] || nest->trips[dim] != all->trips[of_all] ||
          nest->unroll[dim] != all->unroll[of_all])
        return sambaStatusMake(
            SAMBA_INVALID,
            "stage %u (%s): %u x %lld tiles of %lld along pipeline dimension %u, but the section "
            "has %u x %lld of %lld",
            stage, stageName(codegen, stage), nest->unroll[dim], (long long)nest->trips[dim],
            (long long)nest->tile[dim], dim, all->unroll[of_all], (long long)all->trips[of_all],
            (long long)all->tile[of_all]);
    }
  }

  return NULL;
}

/* A map of a tensor in buffers must run one axis, always the same, with the first loop of the
 * pipeline and nothing else. As far as all its maps do so with the next loops, these slice it too.
 */
static SambaStatus followPipeline(SambaCodegen *codegen, uint32_t g, const SambaStageOperand *map,
                                  const char *what) {
  const SambaTileNest *nest = &codegen->plans[g].nest;
  const SambaGroup *group = codegen->groups.groups[g];
  SambaTensorPlan *plan = &codegen->tensors[map->tensor];
  SambaSlices own = sambaMapSlices(codegen->graph, group, map, &codegen->pipeline.groups[g]);

  plan->slices = plan->accessed ? sambaSlicesMeet(&plan->slices, &own) : own;
  plan->accessed = true;
  if (nest->pipeline_count && !plan->slices.count)
    return sambaStatusMake(SAMBA_INVALID,
                           "stage %u (%s): %s of tensor %u does not run one axis with the "
                           "section's pipeline dimension "
                           "%u point by point, as "
                           "every tensor between stages must",
                           group->anchor, stageName(codegen, group->anchor), what, map->tensor,
                           nest->dim_at[0]);
  return NULL;
}

static SambaStatus addReader(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                             uint32_t indexed) {
  const SambaStageOperand *map = &codegen->groups.groups[g]->operands[operand].map;
  sambaArrayAppend(&codegen->tensors[map->tensor].readers,
                   ((SambaConsumer){g, operand, indexed, 0}));
  return followPipeline(codegen, g, map, "the read");
}

/* Gives the readers of a tensor, whose slices are known, the read ports that they need. */
static void addReadPorts(SambaCodegen *codegen, SambaTensorPlan *plan) {
  size_t count = plan->readers.size;
  if (!count)
    return;
  SambaConsumer *readers = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaConsumer, count);
  memcpy(readers, plan->readers.data, count * sizeof *readers);
  plan->readers.size = 0;
  for (size_t i = 0; i < count; ++i) {
    SambaConsumer reader = readers[i];
    SambaTileNest *nest = &codegen->plans[reader.group].nest;
    uint32_t ports = 1;
    if (reader.indexed == SAMBA_NO_INDEX) {
      nest->sliced[reader.operand] = plan->slices.count;
      ports = sambaTileNestReadPorts(nest, reader.operand) *
              sambaTileNestTwinsInside(nest, reader.operand);
    }
    for (; reader.part < ports; ++reader.part)
      sambaArrayAppend(&plan->readers, reader);
  }
}

/* A tensor between stages lives in buffers, each of which all its writers feed. */
static SambaStatus tooManyWriters(const SambaCodegen *codegen, uint32_t tensor) {
  const SambaTensorPlan *plan = &codegen->tensors[tensor];
  uint32_t first = codegen->groups.groups[plan->writers.data[0]]->last;
  SambaStatus status = sambaStatusMake(
      SAMBA_EXHAUSTED,
      "tensor %u needs %zu vector inputs at its buffer, one for each stage that writes it, but a "
      "PMU of %s has %lld",
      tensor, plan->writers.size, codegen->machine->name,
      (long long)codegen->machine->unit_vector_inputs);
  sambaStatusNote(status, "the first stage that writes it is stage %u (%s)", first,
                  stageName(codegen, first));
  return sambaStatusNote(status, "cut the section before the stages that read it");
}

/* Which tensors are shared by several groups, and which may so far live in buffers. */
static void markShared(SambaCodegen *codegen) {
  SambaSharing *shared =
      SAMBA_ARENA_ARRAY(&codegen->scratch, SambaSharing, codegen->graph->tensor_count);
  sambaFindShared(codegen->graph, &codegen->groups, codegen->machine, &codegen->pipeline, shared);

  for (uint32_t t = 0; t < codegen->graph->tensor_count; ++t) {
    codegen->tensors[t].shared = shared[t].shared;
    codegen->tensors[t].buffered =
        codegen->tensors[t].shared || codegen->graph->tensors[t].role != SAMBA_TENSOR_ARGUMENT;
  }
}

/* A group as a reader and as a writer of tensors in buffers. */
static SambaStatus addAccesses(SambaCodegen *codegen, uint32_t g) {
  const SambaGroup *group = codegen->groups.groups[g];
  if (group->output.index_operand != SAMBA_NO_INDEX && codegen->groups.count > 1)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "stage %u (%s) stores by index; an indexed store is a section of its own", group->anchor,
        stageName(codegen, group->anchor));

  for (uint32_t i = 0; i < group->operand_count; ++i) {
    const SambaGroupOperand *operand = &group->operands[i];
    const SambaTensorPlan *plan = &codegen->tensors[operand->map.tensor];
    if (operand->map.index_operand != SAMBA_NO_INDEX && plan->buffered)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "stage %u (%s) operand %u reads by index from a tensor made in the "
                             "same section; indexed reads "
                             "need it in memory, so the sections must be cut between them",
                             operand->stage, stageName(codegen, operand->stage), operand->operand);
    if (operand->value && plan->buffered)
      SAMBA_RETURN_IF_ERROR(addReader(codegen, g, i, SAMBA_NO_INDEX));
    if (operand->map.index_operand != SAMBA_NO_INDEX &&
        codegen->tensors[group->operands[operand->map.index_operand].map.tensor].buffered)
      SAMBA_RETURN_IF_ERROR(addReader(codegen, g, operand->map.index_operand, i));
  }

  sambaArrayAppend(&codegen->tensors[group->output.tensor].writers, g);
  return NULL;
}

/* Whether a tail takes the tokens of its copies from several read ports. It can then take no turns
 * between PMUs besides. */
static bool tailTakesFromPorts(const SambaTileNest *nest, uint32_t operand) {
  return nest->tail > 1 && nest->group->operands[operand].late &&
         sambaTileNestTailDepends(nest, operand) && sambaTileNestReadPorts(nest, operand) > 1;
}

/* PMUs that take the slices of a tensor in turn. Only PCUs deal their tokens to several of them and
 * take tokens of several, and a result goes to memory besides. */
static uint32_t ringOf(const SambaCodegen *codegen, uint32_t t) {
  const SambaTensorPlan *plan = &codegen->tensors[t];
  const SambaStageTensor *tensor = &codegen->graph->tensors[t];
  uint32_t depth = 1;
  if (tensor->role != SAMBA_TENSOR_INTERMEDIATE || plan->writers.size != 1 ||
      codegen->groups.groups[plan->writers.data[0]]->copy)
    return 1;

  for (size_t i = 0; i < plan->readers.size; ++i) {
    const SambaConsumer *reader = &plan->readers.data[i];
    uint32_t own = codegen->plans[reader->group].nest.depth[reader->operand];
    if (codegen->groups.groups[reader->group]->copy || reader->indexed != SAMBA_NO_INDEX ||
        tailTakesFromPorts(&codegen->plans[reader->group].nest, reader->operand))
      return 1;
    depth = own > depth ? own : depth;
  }
  int64_t bytes = sambaSliceBytes(tensor, &plan->slices, codegen->pipeline.tile);
  SambaRingNeeds needs = {
      bytes, sambaSlicesOf(codegen, t), depth,
      sambaRingReaders(codegen->machine, &codegen->pipeline, bytes, (uint32_t)plan->readers.size)};
  return sambaSliceRing(codegen->machine, &needs);
}

/* Whether a read port takes half of the read side of a PMU: for the whole of long tokens, or nearly
 * all the time at the pace of the slowest group. Two of them leave the side no cycle to spare. */
static bool takesHalves(const SambaCodegen *codegen, const SambaConsumer *reader,
                        uint32_t replicas) {
  static const double nearlyHalf = 0.45;
  const SambaTileNest *nest = &codegen->plans[reader->group].nest;
  const SambaGroup *group = nest->group;
  uint32_t operand = reader->operand;
  if (sambaTileNestTakesHalves(nest, operand))
    return true;
  if (!group->systolic || group->operands[operand].late || nest->pipeline_count != 1 ||
      reader->indexed != SAMBA_NO_INDEX)
    return false;

  double bytes =
      (double)nest->token_elements[operand] * sambaDTypeBytes(sambaTileNestDType(nest, operand));
  double tokens = (double)sambaTileNestTrips(nest, sambaTileNestTokenLevel(nest, operand)) *
                  sambaTileNestSources(nest, operand) / replicas /
                  sambaTileNestReadPorts(nest, operand);
  return tokens * bytes >=
         nearlyHalf * sambaCodegenWorkCycles(codegen) * (double)codegen->machine->pmu_port_bytes;
}

/* The buffers of a tensor whose readers and writers are known. */
static SambaStatus settleTensor(SambaCodegen *codegen, uint32_t t) {
  SambaTensorPlan *plan = &codegen->tensors[t];
  plan->buffered = plan->readers.size > 0;
  if (!plan->buffered && plan->writers.size &&
      codegen->graph->tensors[t].role == SAMBA_TENSOR_INTERMEDIATE) {
    uint32_t writer = codegen->groups.groups[plan->writers.data[0]]->last;
    return sambaStatusMake(
        SAMBA_INVALID, "stage %u (%s) writes tensor %u, which nobody reads and which is no result",
        writer, stageName(codegen, writer), t);
  }

  if (plan->buffered && plan->writers.size > (uint64_t)codegen->machine->unit_vector_inputs)
    return tooManyWriters(codegen, t);
  for (size_t i = 0; i < plan->writers.size && plan->buffered; ++i)
    SAMBA_RETURN_IF_ERROR(followPipeline(codegen, plan->writers.data[i],
                                         &codegen->groups.groups[plan->writers.data[i]]->output,
                                         "the write"));
  addReadPorts(codegen, plan);
  plan->replicas = sambaSliceReplicas(&codegen->pipeline, &plan->slices);
  uint32_t readers = (uint32_t)plan->readers.size;
  bool halves = readers > 0;
  for (uint32_t i = 0; i < readers && halves; ++i)
    halves = takesHalves(codegen, &plan->readers.data[i], plan->replicas);
  plan->ports = sambaPortsOfPmu(codegen->machine, readers, plan->replicas, halves);
  plan->buffers = (readers + plan->ports - 1) / plan->ports;
  plan->ring = ringOf(codegen, t);
  return NULL;
}

/* Which tensors live in buffers, who writes and who reads them. */
static SambaStatus planTensors(SambaCodegen *codegen) {
  markShared(codegen);
  for (uint32_t g = 0; g < codegen->groups.count; ++g)
    SAMBA_RETURN_IF_ERROR(addAccesses(codegen, g));
  for (uint32_t t = 0; t < codegen->graph->tensor_count; ++t)
    SAMBA_RETURN_IF_ERROR(settleTensor(codegen, t));
  return NULL;
}

static SambaStatus emitGroup(SambaCodegen *codegen, uint32_t g) {
  SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;

  SAMBA_RETURN_IF_ERROR(sambaCodegenAddSinks(codegen, g));
  SambaComputes computes = {0};
  if (!group->copy)
    computes = sambaCodegenComputes(codegen, g);
  if (sambaTileNestCarriesSums(nest))
    SAMBA_RETURN_IF_ERROR(sambaCodegenAddSums(codegen, g, computes.units));
  SambaCopyRange all;
  sambaCutCopies(nest, sambaCopyMask(nest, SAMBA_NO_INDEX), 1, &all);

  for (uint32_t i = 0; i < group->operand_count; ++i) {
    if (!group->operands[i].value)
      continue;
    uint32_t mask = sambaCopyMask(nest, i);
    uint32_t sources = sambaTileNestSources(nest, i);
    SambaEndpoints *consumers = sambaAllocateZeroed(sources, sizeof *consumers);
    uint32_t copy[SAMBA_MAX_STAGE_DIMS] = {0}, index = 0;
    do {
      SambaEndpoints *list = &consumers[sambaCopyIndex(nest, mask, copy)];
      if (!group->copy)
        sambaAppendTaker(codegen, g, &computes, i, index, list);
      for (size_t s = 0; s < plan->sinks[index].size && group->copy; ++s)
        sambaArrayAppend(list, plan->sinks[index].data[s]);
      ++index;
    } while (sambaCopyNext(nest, &all, copy));
    SambaStatus status = sambaCodegenAddSource(codegen, g, i, consumers);
    for (uint32_t s = 0; s < sources; ++s)
      sambaArrayFree(&consumers[s]);
    free(consumers);
    SAMBA_RETURN_IF_ERROR(status);
  }

  return NULL;
}

static void addSymbols(SambaCodegen *codegen, SambaSection *section) {
  const SambaStageGraph *graph = codegen->graph;
  section->symbols = SAMBA_ARENA_ARRAY(codegen->arena, SambaFormal, graph->tensor_count);
  for (int role = SAMBA_TENSOR_ARGUMENT; role <= SAMBA_TENSOR_RESULT; ++role)
    for (uint32_t t = 0; t < graph->tensor_count; ++t) {
      const SambaStageTensor *tensor = &graph->tensors[t];
      if (tensor->role != (SambaTensorRole)role)
        continue;
      codegen->symbols[t] = section->symbol_count;
      SambaFormal *formal = &section->symbols[section->symbol_count++];
      *formal = (SambaFormal){tensor->name ? tensor->name : "", tensor->dtype, 1,
                              role == SAMBA_TENSOR_RESULT};
      for (uint32_t axis = 0; axis < tensor->rank; ++axis)
        formal->elements *= (uint64_t)tensor->dims[axis];
    }
}

static SambaStatus chainTooLong(const SambaCodegen *codegen, const SambaUnit *unit,
                                uint32_t counters) {
  SambaStatus status = sambaStatusMake(
      SAMBA_EXHAUSTED, "the chain of unit %s needs %u counters, but a unit of %s has %lld",
      unit->name, counters, codegen->machine->name, (long long)codegen->machine->unit_counters);
  if (unit->layer[0])
    sambaStatusNote(status, "unit %s works for layer '%s'", unit->name, unit->layer);
  return sambaStatusNote(status, "map its stage with fewer tiled dimensions");
}

static SambaStatus checkCounters(const SambaCodegen *codegen, const SambaSection *section) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    uint32_t most = sambaUnitLongestChain(unit);
    if (most > codegen->machine->unit_counters)
      return chainTooLong(codegen, unit, most);
  }

  return NULL;
}

static uint32_t phasesOf(const SambaStageGraph *graph) { return graph->mappings[0].phases; }

static SambaStatus checkPhases(const SambaStageGraph *graph) {
  for (uint32_t s = 0; s < graph->stage_count; ++s)
    if (graph->mappings[s].phases != phasesOf(graph))
      return sambaStatusMake(SAMBA_INVALID,
                             "mapping of stage %u (%s) has %u phases, but that of stage 0 has %u",
                             s, graph->stages[s].name ? graph->stages[s].name : "",
                             graph->mappings[s].phases, phasesOf(graph));
  return NULL;
}

/* Of several groups each phase has whole slices: else one would wait for what another one makes of
 * a slice that has no room. */
static SambaStatus checkPhasedSlices(const SambaCodegen *codegen) {
  const SambaTileNest *nest = &codegen->plans[codegen->pipeline_group].nest;
  int64_t slices = sambaTileNestTrips(nest, nest->pipeline_count);
  if (!codegen->phases || codegen->groups.count == 1 || slices % codegen->phases == 0)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "%lld slices of the pipeline are not the same in each of %u phases",
                         (long long)slices, codegen->phases);
}

static SambaStatus emitAll(SambaCodegen *codegen, SambaSection *section) {
  SAMBA_RETURN_IF_ERROR(checkPhases(codegen->graph));
  codegen->phases = phasesOf(codegen->graph);
  SAMBA_RETURN_IF_ERROR(
      sambaGroupsBuild(codegen->graph, codegen->machine, &codegen->scratch, &codegen->groups));
  codegen->plans = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaGroupPlan, codegen->groups.count);
  SAMBA_RETURN_IF_ERROR(makeNests(codegen));
  readPipeline(codegen);
  SAMBA_RETURN_IF_ERROR(checkPipeline(codegen));
  SAMBA_RETURN_IF_ERROR(checkPhasedSlices(codegen));
  SAMBA_RETURN_IF_ERROR(planTensors(codegen));
  SAMBA_RETURN_IF_ERROR(sambaCodegenAssignAgs(codegen));
  addSymbols(codegen, section);
  for (uint32_t t = 0; t < codegen->graph->tensor_count; ++t)
    if (codegen->tensors[t].shared)
      SAMBA_RETURN_IF_ERROR(sambaCodegenSharedArgument(codegen, t));
  for (uint32_t g = 0; g < codegen->groups.count; ++g)
    SAMBA_RETURN_IF_ERROR(emitGroup(codegen, g));
  sambaCodegenAddGates(codegen);
  sambaAssemblyFinish(&codegen->assembly, section);

  return checkCounters(codegen, section);
}

SambaStatus sambaCodegenDraft(const SambaStageGraph *graph, const SambaMachine *machine,
                              SambaArena *arena, SambaSection **out_section) {
  if (graph->stage_count == 0)
    return sambaStatusMake(SAMBA_INVALID, "section %s has no stages",
                           graph->name ? graph->name : "");
  SambaCodegen codegen = {.graph = graph, .machine = machine, .arena = arena};

  codegen.assembly.arena = arena;
  codegen.tensors = SAMBA_ARENA_ARRAY(&codegen.scratch, SambaTensorPlan, graph->tensor_count);
  codegen.symbols = SAMBA_ARENA_ARRAY(&codegen.scratch, uint32_t, graph->tensor_count);
  SambaSection *section = SAMBA_ARENA_NEW(arena, SambaSection);
  section->arena = arena;
  section->name = graph->name ? graph->name : "";
  SambaStatus status = emitAll(&codegen, section);

  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    sambaArrayFree(&codegen.tensors[t].readers);
    sambaArrayFree(&codegen.tensors[t].writers);
  }

  for (uint32_t g = 0; g < codegen.groups.count && codegen.plans; ++g)
    for (uint32_t c = 0; c < codegen.plans[g].nest.copies && codegen.plans[g].sinks; ++c)
      sambaArrayFree(&codegen.plans[g].sinks[c]);
  sambaArrayFree(&codegen.signals);
  sambaArrayFree(&codegen.gates);
  sambaAssemblyDestroy(&codegen.assembly);
  sambaArenaDestroy(&codegen.scratch);
  if (status)
    return sambaStatusAnnotate(status, "section %s", section->name);
  *out_section = section;

  return NULL;
}

SambaStatus sambaCodegenSection(const SambaStageGraph *graph, const SambaMachine *machine,
                                SambaArena *arena, SambaSection **out_section) {
  SAMBA_RETURN_IF_ERROR(sambaCodegenDraft(graph, machine, arena, out_section));
  sambaFitSlots(machine, *out_section, phasesOf(graph) > 0);
  sambaChooseBanking(machine, *out_section, NULL);
  return NULL;
}
