/* Lowering of sections, the driver: nests of all groups, the tensors that live in buffers and
 * whether they follow the pipeline, then group by group its sinks, its COMPUTE copies and its
 * sources. */
#include "backend/codegen/codegen.h"

#include "backend/codegen/codegen_internal.h"
#include "backend/plan/estimate/estimate.h"
#include "backend/plan/group/share.h"
#include "backend/section/access.h"

#include <stdlib.h>
#include <string.h>

static const char *stageName(const SambaLowering *l, uint32_t stage) {
  return l->graph->stages[stage].name ? l->graph->stages[stage].name : "";
}

static SambaStatus makeNests(SambaLowering *l) {
  for (uint32_t g = 0; g < l->groups.count; ++g) {
    const SambaGroup *group = l->groups.groups[g];
    SambaGroupPlan *plan = &l->plans[g];
    if (!l->graph->mappings[group->anchor].dim_count && group->dim_count)
      return sambaStatusMake(SAMBA_INVALID, "stage %u (%s) has no mapping; plan the section first",
                             group->anchor, stageName(l, group->anchor));
    SAMBA_RETURN_IF_ERROR(sambaNestMake(l->graph, group, l->machine, &plan->nest));
    if (group->output.index_operand >= 0 && plan->nest.copies > 1)
      return sambaStatusMake(
          SAMBA_INVALID,
          "mapping of stage %u (%s): an indexed store is in order, so it is not unrolled",
          group->anchor, stageName(l, group->anchor));
    plan->prefix = stageName(l, group->anchor)[0] ? stageName(l, group->anchor) : "stage";
    plan->loads = SAMBA_ARENA_ARRAY(&l->scratch, uint32_t, group->operand_count);
    plan->ways = SAMBA_ARENA_ARRAY(&l->scratch, uint32_t, group->operand_count);
    plan->sinks = SAMBA_ARENA_ARRAY(&l->scratch, SambaEndpoints, plan->nest.copies);
    if (group->copy && sambaNestSources(&plan->nest, group->result) != plan->nest.copies)
      return sambaStatusMake(SAMBA_INVALID,
                             "mapping of stage %u (%s): a copy cannot be unrolled over a dimension "
                             "that its source does not have",
                             group->anchor, stageName(l, group->anchor));
  }

  return NULL;
}

/* All groups of a pipeline run the same number of slices of the same size, on the same number of
 * replicas. */
static SambaStatus checkPipeline(SambaLowering *l) {
  const SambaNest *first = &l->plans[0].nest;
  uint32_t first_stage = l->groups.groups[0]->anchor;

  l->replicas = first->pipeline_dim < 0 ? 1 : first->unroll[first->pipeline_dim];
  for (uint32_t g = 1; g < l->groups.count; ++g) {
    const SambaNest *nest = &l->plans[g].nest;
    uint32_t stage = l->groups.groups[g]->anchor;
    if ((nest->pipeline_dim < 0) != (first->pipeline_dim < 0))
      return sambaStatusMake(
          SAMBA_INVALID, "stage %u (%s) %s a pipeline dimension, but stage %u (%s) %s", stage,
          stageName(l, stage), nest->pipeline_dim < 0 ? "has not" : "has", first_stage,
          stageName(l, first_stage), first->pipeline_dim < 0 ? "has not" : "has");
    if (nest->pipeline_dim < 0)
      continue;
    if (nest->tile[nest->pipeline_dim] != first->tile[first->pipeline_dim] ||
        nest->trips[nest->pipeline_dim] != first->trips[first->pipeline_dim] ||
        nest->unroll[nest->pipeline_dim] != l->replicas)
      return sambaStatusMake(SAMBA_INVALID,
                             "stage %u (%s): %u x %lld tiles of %lld along the pipeline dimension, "
                             "but the section has %u x %lld of %lld",
                             stage, stageName(l, stage), nest->unroll[nest->pipeline_dim],
                             (long long)nest->trips[nest->pipeline_dim],
                             (long long)nest->tile[nest->pipeline_dim], l->replicas,
                             (long long)first->trips[first->pipeline_dim],
                             (long long)first->tile[first->pipeline_dim]);
  }

  return NULL;
}

/* A map of a tensor in buffers must run one axis, always the same, with the pipeline dimension and
 * nothing else. */
static SambaStatus followPipeline(SambaLowering *l, uint32_t g, const SambaStageOperand *map,
                                  const char *what) {
  const SambaNest *nest = &l->plans[g].nest;
  const SambaGroup *group = l->groups.groups[g];
  SambaTensorPlan *plan = &l->tensors[map->tensor];

  if (nest->pipeline_dim < 0)
    return NULL;
  int32_t axis = sambaMapAxisOf(l->graph, group, map, (uint32_t)nest->pipeline_dim);
  if (axis < 0 || (plan->pipeline_axis >= 0 && plan->pipeline_axis != axis))
    return sambaStatusMake(SAMBA_INVALID,
                           "stage %u (%s): %s of tensor %u does not run one axis with the "
                           "section's pipeline dimension "
                           "%d point by point, as "
                           "every tensor between stages must",
                           group->anchor, stageName(l, group->anchor), what, map->tensor,
                           nest->pipeline_dim);
  plan->pipeline_axis = axis;

  return NULL;
}

static SambaStatus addReader(SambaLowering *l, uint32_t g, uint32_t operand, int32_t indexed) {
  const SambaStageOperand *map = &l->groups.groups[g]->operands[operand].map;
  sambaArrayAppend(&l->tensors[map->tensor].readers, (SambaReader){g, operand, indexed});
  return followPipeline(l, g, map, "the read");
}

/* A tensor between stages lives in buffers, each of which all its writers feed. */
static SambaStatus tooManyWriters(const SambaLowering *l, uint32_t tensor) {
  const SambaTensorPlan *plan = &l->tensors[tensor];
  uint32_t first = l->groups.groups[plan->writers.data[0]]->last;
  SambaStatus status = sambaStatusMake(
      SAMBA_EXHAUSTED,
      "tensor %u needs %zu vector inputs at its buffer, one for each stage that writes it, but a "
      "PMU of %s has %lld",
      tensor, plan->writers.size, l->machine->name, (long long)l->machine->unit_vector_inputs);
  sambaStatusNote(status, "the first stage that writes it is stage %u (%s)", first,
                  stageName(l, first));
  return sambaStatusNote(status, "cut the section before the stages that read it");
}

/* Which tensors live in buffers, who writes and who reads them. */
static SambaStatus planTensors(SambaLowering *l) {
  uint32_t *dims = SAMBA_ARENA_ARRAY(&l->scratch, uint32_t, l->groups.count);
  int32_t *shared = SAMBA_ARENA_ARRAY(&l->scratch, int32_t, l->graph->tensor_count);
  const SambaNest *first = &l->plans[0].nest;

  for (uint32_t g = 0; g < l->groups.count; ++g)
    dims[g] = (uint32_t)l->plans[g].nest.pipeline_dim;
  sambaFindShared(l->graph, &l->groups, l->machine, first->pipeline_dim < 0 ? NULL : dims,
                  first->pipeline_dim < 0 ? 1 : first->tile[first->pipeline_dim], shared);

  for (uint32_t t = 0; t < l->graph->tensor_count; ++t) {
    l->tensors[t].shared = shared[t] != SAMBA_NOT_SHARED;
    l->tensors[t].buffered =
        l->tensors[t].shared || l->graph->tensors[t].role != SAMBA_TENSOR_ARGUMENT;
  }

  for (uint32_t g = 0; g < l->groups.count; ++g) {
    const SambaGroup *group = l->groups.groups[g];
    if (group->output.index_operand >= 0 && l->groups.count > 1)
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "stage %u (%s) stores by index; an indexed store is a section of its own", group->anchor,
          stageName(l, group->anchor));
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      const SambaGroupOperand *operand = &group->operands[i];
      const SambaTensorPlan *plan = &l->tensors[operand->map.tensor];
      if (operand->map.index_operand >= 0 && plan->buffered)
        return sambaStatusMake(SAMBA_UNSUPPORTED,
                               "stage %u (%s) operand %u reads by index from a tensor made in the "
                               "same section; indexed reads "
                               "need it in memory, so the sections must be cut between them",
                               operand->stage, stageName(l, operand->stage), operand->operand);
      if (operand->value && plan->buffered)
        SAMBA_RETURN_IF_ERROR(addReader(l, g, i, -1));
      if (operand->map.index_operand >= 0 &&
          l->tensors[group->operands[operand->map.index_operand].map.tensor].buffered)
        SAMBA_RETURN_IF_ERROR(addReader(l, g, (uint32_t)operand->map.index_operand, (int32_t)i));
    }

    sambaArrayAppend(&l->tensors[group->output.tensor].writers, g);
  }

  for (uint32_t t = 0; t < l->graph->tensor_count; ++t) {
    SambaTensorPlan *plan = &l->tensors[t];
    uint32_t ports = (uint32_t)l->machine->unit_vector_outputs;
    plan->buffered = plan->readers.size > 0;
    plan->buffers = ((uint32_t)plan->readers.size + ports - 1) / ports;
    if (!plan->buffered && plan->writers.size &&
        l->graph->tensors[t].role == SAMBA_TENSOR_INTERMEDIATE) {
      uint32_t writer = l->groups.groups[plan->writers.data[0]]->last;
      return sambaStatusMake(
          SAMBA_INVALID,
          "stage %u (%s) writes tensor %u, which nobody reads and which is no result", writer,
          stageName(l, writer), t);
    }

    if (plan->buffered && plan->writers.size > (uint64_t)l->machine->unit_vector_inputs)
      return tooManyWriters(l, t);
    for (size_t i = 0; i < plan->writers.size && plan->buffered; ++i)
      SAMBA_RETURN_IF_ERROR(followPipeline(
          l, plan->writers.data[i], &l->groups.groups[plan->writers.data[i]]->output, "the write"));
  }

  return NULL;
}

static SambaStatus lowerGroup(SambaLowering *l, uint32_t g) {
  SambaGroupPlan *plan = &l->plans[g];
  const SambaNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;

  SAMBA_RETURN_IF_ERROR(sambaLowerAddSinks(l, g));
  SambaCopyRange all;
  sambaCutCopies(nest, sambaCopyMask(nest, UINT32_MAX), 1, &all);
  uint32_t copy[SAMBA_MAX_STAGE_DIMS] = {0};
  uint32_t *computes = SAMBA_ARENA_ARRAY(&l->scratch, uint32_t, nest->copies);
  uint32_t index = 0;
  if (!group->copy)
    do {
      SambaCopyRange one;
      for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
        one.first[dim] = copy[dim], one.count[dim] = 1;
      const char *name = sambaArenaFormat(l->arena, "%s.compute%u", plan->prefix, index);
      computes[index] =
          sambaLowerCompute(&l->assembly, nest, name, sambaLowerLayer(l, group), &one);
      sambaAssemblyConnect(&l->assembly, (SambaEndpoint){computes[index], 0},
                           plan->sinks[index].data, plan->sinks[index].size);
      ++index;
    } while (sambaCopyNext(nest, &all, copy));
  uint32_t port = 0;

  for (uint32_t i = 0; i < group->operand_count; ++i) {
    if (!group->operands[i].value)
      continue;
    uint32_t mask = sambaCopyMask(nest, i);
    uint32_t sources = sambaNestSources(nest, i);
    SambaEndpoints *consumers = sambaAllocateZeroed(sources, sizeof *consumers);
    memset(copy, 0, sizeof copy);
    index = 0;
    do {
      SambaEndpoints *list = &consumers[sambaCopyIndex(nest, mask, copy)];
      if (!group->copy)
        sambaArrayAppend(list, (SambaEndpoint){computes[index], port});
      for (size_t s = 0; s < plan->sinks[index].size && group->copy; ++s)
        sambaArrayAppend(list, plan->sinks[index].data[s]);
      ++index;
    } while (sambaCopyNext(nest, &all, copy));
    ++port;
    SambaStatus status = sambaLowerAddSource(l, g, i, consumers);
    for (uint32_t s = 0; s < sources; ++s)
      sambaArrayFree(&consumers[s]);
    free(consumers);
    SAMBA_RETURN_IF_ERROR(status);
  }

  return NULL;
}

static void addSymbols(SambaLowering *l, SambaSection *section) {
  const SambaStageGraph *graph = l->graph;
  section->symbols = SAMBA_ARENA_ARRAY(l->arena, SambaFormal, graph->tensor_count);
  for (int role = SAMBA_TENSOR_ARGUMENT; role <= SAMBA_TENSOR_RESULT; ++role)
    for (uint32_t t = 0; t < graph->tensor_count; ++t) {
      const SambaStageTensor *tensor = &graph->tensors[t];
      if (tensor->role != (SambaTensorRole)role)
        continue;
      l->symbols[t] = section->symbol_count;
      SambaFormal *formal = &section->symbols[section->symbol_count++];
      *formal = (SambaFormal){tensor->name ? tensor->name : "", tensor->dtype, 1,
                              role == SAMBA_TENSOR_RESULT};
      for (uint32_t axis = 0; axis < tensor->rank; ++axis)
        formal->elements *= (uint64_t)tensor->dims[axis];
    }
}

static SambaStatus chainTooLong(const SambaLowering *l, const SambaUnit *unit, uint32_t counters) {
  SambaStatus status = sambaStatusMake(
      SAMBA_EXHAUSTED, "the chain of unit %s needs %u counters, but a unit of %s has %lld",
      unit->name, counters, l->machine->name, (long long)l->machine->unit_counters);
  if (unit->layer[0])
    sambaStatusNote(status, "unit %s works for layer '%s'", unit->name, unit->layer);
  return sambaStatusNote(status, "map its stage with fewer tiled dimensions");
}

static SambaStatus checkCounters(const SambaLowering *l, const SambaSection *section) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    uint32_t most = sambaUnitLongestChain(unit);
    if (most > l->machine->unit_counters)
      return chainTooLong(l, unit, most);
  }

  return NULL;
}

static SambaStatus lowerAll(SambaLowering *l, SambaSection *section) {
  SAMBA_RETURN_IF_ERROR(sambaGroupsBuild(l->graph, l->machine, true, &l->scratch, &l->groups));
  l->plans = SAMBA_ARENA_ARRAY(&l->scratch, SambaGroupPlan, l->groups.count);
  SAMBA_RETURN_IF_ERROR(makeNests(l));
  SAMBA_RETURN_IF_ERROR(checkPipeline(l));
  SAMBA_RETURN_IF_ERROR(planTensors(l));
  SAMBA_RETURN_IF_ERROR(sambaLowerAssignAgs(l));
  addSymbols(l, section);
  for (uint32_t t = 0; t < l->graph->tensor_count; ++t)
    if (l->tensors[t].shared)
      SAMBA_RETURN_IF_ERROR(sambaLowerSharedArgument(l, t));
  for (uint32_t g = 0; g < l->groups.count; ++g)
    SAMBA_RETURN_IF_ERROR(lowerGroup(l, g));
  sambaAssemblyFinish(&l->assembly, section);
  sambaSectionPlanRates(section, l->machine);

  return checkCounters(l, section);
}

SambaStatus sambaLowerStages(const SambaStageGraph *graph, const SambaMachine *machine,
                             SambaArena *arena, SambaSection **out_section) {
  if (graph->stage_count == 0)
    return sambaStatusMake(SAMBA_INVALID, "section %s has no stages",
                           graph->name ? graph->name : "");
  SambaLowering l = {.graph = graph, .machine = machine, .arena = arena};

  l.assembly.arena = arena;
  l.tensors = SAMBA_ARENA_ARRAY(&l.scratch, SambaTensorPlan, graph->tensor_count);
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    l.tensors[t].pipeline_axis = -1;
  l.symbols = SAMBA_ARENA_ARRAY(&l.scratch, uint32_t, graph->tensor_count);
  SambaSection *section = SAMBA_ARENA_NEW(arena, SambaSection);
  section->arena = arena;
  section->name = graph->name ? graph->name : "";
  SambaStatus status = lowerAll(&l, section);

  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    sambaArrayFree(&l.tensors[t].readers);
    sambaArrayFree(&l.tensors[t].writers);
  }

  for (uint32_t g = 0; g < l.groups.count && l.plans; ++g)
    for (uint32_t c = 0; c < l.plans[g].nest.copies && l.plans[g].sinks; ++c)
      sambaArrayFree(&l.plans[g].sinks[c]);
  sambaAssemblyDestroy(&l.assembly);
  sambaArenaDestroy(&l.scratch);
  if (status)
    return sambaStatusAnnotate(status, "section %s", section->name);
  *out_section = section;

  return NULL;
}
