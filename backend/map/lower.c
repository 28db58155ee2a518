/* Lowering of sections: for each group its stores and intermediate buffers, its COMPUTE copies, and the loads and
 * buffers that feed them. Groups are visited producers first; everything about one tensor inside the section is in
 * TensorPlan. */
#include "backend/map/lower.h"

#include "backend/map/estimate.h"
#include "backend/map/lower_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct Reader { /* one read port of an intermediate tensor */
  uint32_t group, operand;
  int32_t indexed; /* >= 0: the port feeds the indices of this operand's loads */
} Reader;

typedef struct TensorPlan {
  SAMBA_ARRAY(Reader) readers;
  SAMBA_ARRAY(uint32_t) writers; /* groups */
  int32_t pipeline_axis;         /* -1: none */
  uint32_t first_buffer;         /* units, one per unit_vector_outputs readers */
  bool buffered;
} TensorPlan;

typedef struct GroupPlan {
  SambaNest nest;
  const char *prefix;
  uint32_t *loads; /* address generators per operand (0: none) */
  uint32_t stores;
  SambaEndpoints *sinks; /* per copy */
} GroupPlan;

typedef struct Lowering {
  const SambaStageGraph *graph;
  const SambaMachine *machine;
  SambaArena *arena, scratch;
  SambaAssembly assembly;
  SambaGroups groups;
  GroupPlan *plans;
  TensorPlan *tensors;
  uint32_t *symbols; /* of tensors */
} Lowering;

static void appendEndpoint(SambaEndpoints *list, uint32_t unit, uint32_t port) {
  sambaArrayAppend(list, (SambaEndpoint){unit, port});
}

static bool inMemory(const Lowering *l, uint32_t tensor) {
  return l->graph->tensors[tensor].role == SAMBA_TENSOR_ARGUMENT;
}

static const char *layerOf(const Lowering *l, const SambaGroup *group) {
  const char *layer = l->graph->stages[group->anchor].layer;
  return layer ? layer : "";
}

/* Whether the program or the units read the operand as data (an index that only indexes is read on its own path). */
static bool readsData(const SambaGroup *group, uint32_t operand) { return group->operands[operand].value; }

static uint32_t copyMask(const SambaNest *nest, uint32_t operand) {
  uint32_t mask = 0;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (nest->unroll[dim] > 1 && (operand == UINT32_MAX || sambaGroupDepends(nest->group, operand, dim)))
      mask |= 1u << dim;
  return mask;
}

/* --- Gathering: nests, readers and writers, the pipeline axis of each intermediate -----------------------------------
 */

static SambaStatus makeNests(Lowering *l) {
  for (uint32_t g = 0; g < l->groups.count; ++g) {
    const SambaGroup *group = l->groups.groups[g];
    GroupPlan *plan = &l->plans[g];
    const SambaStage *anchor = &l->graph->stages[group->anchor];
    if (!l->graph->mappings[group->anchor].dim_count && group->dim_count)
      return sambaStatusMake(SAMBA_INVALID, "stage %u (%s) has no mapping; plan the section first", group->anchor,
                             anchor->name);
    SAMBA_RETURN_IF_ERROR(sambaNestMake(l->graph, group, l->machine, &plan->nest));
    plan->prefix = anchor->name && anchor->name[0] ? anchor->name : "stage";
    plan->loads = SAMBA_ARENA_ARRAY(&l->scratch, uint32_t, group->operand_count);
    plan->sinks = SAMBA_ARENA_ARRAY(&l->scratch, SambaEndpoints, plan->nest.copies);
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      uint32_t tensor = group->operands[i].map.tensor;
      const SambaStageOperand *map = &group->operands[i].map;
      if (map->index_operand >= 0 && !inMemory(l, tensor))
        return sambaStatusMake(
            SAMBA_UNSUPPORTED,
            "stage %u (%s) operand %u reads by index from a tensor made in the same section; indexed reads "
            "need it in memory, so the sections must be cut between them",
            group->operands[i].stage, l->graph->stages[group->operands[i].stage].name, group->operands[i].operand);
      if (readsData(group, i) && !inMemory(l, tensor))
        sambaArrayAppend(&l->tensors[tensor].readers, (Reader){g, i, -1});
      if (map->index_operand >= 0 && !inMemory(l, group->operands[map->index_operand].map.tensor))
        sambaArrayAppend(&l->tensors[group->operands[map->index_operand].map.tensor].readers,
                         (Reader){g, (uint32_t)map->index_operand, (int32_t)i});
    }
    if (group->copy && sambaNestSources(&plan->nest, group->result) != plan->nest.copies)
      return sambaStatusMake(
          SAMBA_INVALID,
          "mapping of stage %u (%s): a copy cannot be unrolled over a dimension that its source does not have",
          group->anchor, anchor->name);
    sambaArrayAppend(&l->tensors[group->output.tensor].writers, g);
  }
  return NULL;
}

static bool isAxisOf(const SambaStageOperand *map, uint32_t axis, uint32_t dim, uint32_t dim_count) {
  for (uint32_t d = 0; d < dim_count; ++d)
    if (map->axes[axis].coefficients[d] != (d == dim ? 1 : 0))
      return false;
  return map->axes[axis].constant == 0;
}

/* A map of an intermediate must run the tensor's pipeline axis with the pipeline dimension and no other axis. */
static SambaStatus checkPipelineMap(Lowering *l, uint32_t g, const SambaStageOperand *map, const char *what) {
  const SambaNest *nest = &l->plans[g].nest;
  const SambaGroup *group = l->groups.groups[g];
  TensorPlan *plan = &l->tensors[map->tensor];
  const SambaStageTensor *tensor = &l->graph->tensors[map->tensor];
  if (nest->pipeline_dim < 0)
    return NULL;
  uint32_t dim = (uint32_t)nest->pipeline_dim;
  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    bool runs = isAxisOf(map, axis, dim, group->dim_count);
    bool fits = runs && tensor->dims[axis] == group->extents[dim];
    if (fits && plan->pipeline_axis < 0)
      plan->pipeline_axis = (int32_t)axis;
    if (fits != ((int32_t)axis == plan->pipeline_axis) || (map->axes[axis].coefficients[dim] && !fits))
      return sambaStatusMake(
          SAMBA_INVALID,
          "stage %u (%s): %s of tensor %u along axis %u does not follow the section's pipeline dimension %u "
          "point by point, as every intermediate must",
          group->anchor, l->graph->stages[group->anchor].name, what, map->tensor, axis, dim);
  }
  if (plan->pipeline_axis < 0)
    return sambaStatusMake(SAMBA_INVALID,
                           "stage %u (%s): %s of tensor %u has no axis along the section's pipeline dimension %u",
                           group->anchor, l->graph->stages[group->anchor].name, what, map->tensor, dim);
  return NULL;
}

static SambaStatus checkPipeline(Lowering *l) {
  const SambaNest *first = &l->plans[0].nest;
  for (uint32_t g = 1; g < l->groups.count; ++g) {
    const SambaNest *nest = &l->plans[g].nest;
    uint32_t stage = l->groups.groups[g]->anchor;
    if ((nest->pipeline_dim < 0) != (first->pipeline_dim < 0))
      return sambaStatusMake(SAMBA_INVALID, "stage %u (%s) %s a pipeline dimension, but stage %u (%s) %s", stage,
                             l->graph->stages[stage].name, nest->pipeline_dim < 0 ? "has not" : "has",
                             l->groups.groups[0]->anchor, l->graph->stages[l->groups.groups[0]->anchor].name,
                             first->pipeline_dim < 0 ? "has not" : "has");
    if (nest->pipeline_dim >= 0 && (nest->tile[nest->pipeline_dim] != first->tile[first->pipeline_dim] ||
                                    nest->trips[nest->pipeline_dim] != first->trips[first->pipeline_dim]))
      return sambaStatusMake(
          SAMBA_INVALID,
          "stage %u (%s): %lld tiles of %lld along the pipeline dimension, but the section has %lld of %lld", stage,
          l->graph->stages[stage].name, (long long)nest->trips[nest->pipeline_dim],
          (long long)nest->tile[nest->pipeline_dim], (long long)first->trips[first->pipeline_dim],
          (long long)first->tile[first->pipeline_dim]);
  }
  for (uint32_t t = 0; t < l->graph->tensor_count; ++t) {
    TensorPlan *plan = &l->tensors[t];
    plan->buffered = plan->readers.size > 0;
    if (!plan->buffered) {
      if (l->graph->tensors[t].role == SAMBA_TENSOR_INTERMEDIATE && plan->writers.size)
        return sambaStatusMake(SAMBA_INVALID,
                               "stage %u (%s) writes tensor %u, which nobody reads and which is no result",
                               l->groups.groups[plan->writers.data[0]]->last,
                               l->graph->stages[l->groups.groups[plan->writers.data[0]]->last].name, t);
      continue;
    }
    if (plan->writers.size > (uint64_t)l->machine->unit_vector_inputs)
      return sambaStatusMake(SAMBA_EXHAUSTED,
                             "tensor %u is written by %zu stages, but a PMU of %s has %lld vector inputs; cut the "
                             "section before its readers",
                             t, plan->writers.size, l->machine->name, (long long)l->machine->unit_vector_inputs);
    for (size_t i = 0; i < plan->writers.size; ++i)
      SAMBA_RETURN_IF_ERROR(
          checkPipelineMap(l, plan->writers.data[i], &l->groups.groups[plan->writers.data[i]]->output, "the write"));
    for (size_t i = 0; i < plan->readers.size; ++i)
      SAMBA_RETURN_IF_ERROR(checkPipelineMap(
          l, plan->readers.data[i].group,
          &l->groups.groups[plan->readers.data[i].group]->operands[plan->readers.data[i].operand].map, "the read"));
  }
  return NULL;
}

/* --- Address generators: how many each operand in memory and each result gets ----------------------------------------
 */

typedef struct AgUse {
  uint32_t *count; /* in the group plan */
  const SambaNest *nest;
  uint32_t mask, sources;
  double bytes;
} AgUse;

static SambaStatus assignAgs(Lowering *l) {
  SAMBA_ARRAY(AgUse) uses = {0};
  int64_t total = 0;
  for (uint32_t g = 0; g < l->groups.count; ++g) {
    GroupPlan *plan = &l->plans[g];
    const SambaNest *nest = &plan->nest;
    const SambaGroup *group = nest->group;
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      const SambaStageOperand *map = &group->operands[i].map;
      if (!readsData(group, i) || !inMemory(l, map->tensor))
        continue;
      if (map->index_operand >= 0) { /* one load and, when the indices are in memory, one for them */
        plan->loads[i] = 1;
        total += 1 + inMemory(l, group->operands[map->index_operand].map.tensor);
        continue;
      }
      SambaBox box;
      uint32_t level = sambaNestSlotLevel(nest, i);
      sambaNestBox(nest, i, level, &box);
      uint32_t sources = sambaNestSources(nest, i);
      double bytes = (double)box.elements * (double)sambaNestTrips(nest, level) * sources *
                     sambaDTypeBytes(sambaNestDType(nest, i));
      sambaArrayAppend(&uses, (AgUse){&plan->loads[i], nest, copyMask(nest, i), sources, bytes});
    }
    if (l->graph->tensors[group->output.tensor].role == SAMBA_TENSOR_RESULT) {
      double bytes =
          (double)sambaNestOutputElements(nest) * (double)sambaNestTrips(nest, group->parallel_count) * nest->copies;
      sambaArrayAppend(&uses, (AgUse){&plan->stores, nest, copyMask(nest, UINT32_MAX), nest->copies,
                                      bytes * sambaDTypeBytes(l->graph->tensors[group->output.tensor].dtype)});
    }
  }
  /* Enough that no port has more flows than a lane has ids; then one more for whoever moves the most bytes each. */
  for (size_t i = 0; i < uses.size; ++i) {
    uint32_t least = (uint32_t)((uses.data[i].sources + l->machine->flows_per_lane - 1) / l->machine->flows_per_lane);
    while (sambaCutCopies(uses.data[i].nest, uses.data[i].mask, least, NULL) * (uint64_t)l->machine->flows_per_lane <
           uses.data[i].sources)
      ++least;
    *uses.data[i].count = sambaCutCopies(uses.data[i].nest, uses.data[i].mask, least, NULL);
    total += *uses.data[i].count;
  }
  SambaStatus status = NULL;
  if (total > l->machine->ag_count)
    status = sambaStatusMake(
        SAMBA_EXHAUSTED,
        "the section needs %lld address generators for its %zu operands and results in memory, but %s has %lld",
        (long long)total, uses.size, l->machine->name, (long long)l->machine->ag_count);
  while (!status) {
    size_t most = SIZE_MAX;
    uint32_t better = 0;
    for (size_t i = 0; i < uses.size; ++i) {
      if (*uses.data[i].count >= uses.data[i].sources ||
          (most != SIZE_MAX &&
           uses.data[i].bytes / *uses.data[i].count <= uses.data[most].bytes / *uses.data[most].count))
        continue;
      uint32_t wanted = *uses.data[i].count, cut;
      do
        cut = sambaCutCopies(uses.data[i].nest, uses.data[i].mask, ++wanted, NULL);
      while (cut <= *uses.data[i].count && wanted < uses.data[i].sources);
      if (cut <= *uses.data[i].count || total - *uses.data[i].count + cut > l->machine->ag_count)
        continue;
      most = i;
      better = cut;
    }
    if (most == SIZE_MAX)
      break;
    total += better - *uses.data[most].count;
    *uses.data[most].count = better;
  }
  sambaArrayFree(&uses);
  return status;
}

/* --- Buffers and stores
 * ------------------------------------------------------------------------------------------------ */

static SambaStatus checkBufferBytes(const Lowering *l, const char *name, uint64_t elements, SambaDType dtype,
                                    uint32_t slots) {
  uint64_t bytes = elements * sambaDTypeBytes(dtype) * slots;
  if (bytes <= (uint64_t)l->machine->pmu_bytes)
    return NULL;
  return sambaStatusMake(SAMBA_EXHAUSTED,
                         "buffer %s needs %llu bytes (%u slots of %llu elements of %s), but a PMU of %s has %lld", name,
                         (unsigned long long)bytes, slots, (unsigned long long)elements, sambaDTypeName(dtype),
                         l->machine->name, (long long)l->machine->pmu_bytes);
}

static int64_t pipelineTrips(const SambaNest *nest) {
  return nest->pipeline_dim < 0 ? 1 : nest->trips[nest->pipeline_dim];
}

/* The slot of an intermediate: the tensor, along its pipeline axis only a tile. */
static void sliceSizes(const Lowering *l, uint32_t tensor, const SambaNest *nest, int64_t *out_sizes) {
  memcpy(out_sizes, l->graph->tensors[tensor].dims, sizeof l->graph->tensors[tensor].dims);
  if (l->tensors[tensor].pipeline_axis >= 0)
    out_sizes[l->tensors[tensor].pipeline_axis] = nest->tile[nest->pipeline_dim];
}

/* Creates the buffers of an intermediate when its first writer is met. */
static SambaStatus addTensorBuffers(Lowering *l, uint32_t tensor, const GroupPlan *writer) {
  TensorPlan *plan = &l->tensors[tensor];
  uint32_t ports = (uint32_t)l->machine->unit_vector_outputs;
  int64_t sizes[SAMBA_MAX_RANK];
  sliceSizes(l, tensor, &writer->nest, sizes);
  uint64_t elements = 1;
  for (uint32_t axis = 0; axis < l->graph->tensors[tensor].rank; ++axis)
    elements *= (uint64_t)sizes[axis];
  plan->first_buffer = (uint32_t)l->assembly.units.size;
  for (uint32_t first = 0; first < plan->readers.size; first += ports) {
    uint32_t count = (uint32_t)plan->readers.size - first < ports ? (uint32_t)plan->readers.size - first : ports;
    uint32_t depth = 1;
    for (uint32_t i = first; i < first + count && pipelineTrips(&writer->nest) > 1; ++i) {
      uint32_t own = l->plans[plan->readers.data[i].group].nest.depth[plan->readers.data[i].operand];
      depth = own > depth ? own : depth;
    }
    const char *name = sambaArenaFormat(l->arena, "%s.out.buffer%u", writer->prefix, first / ports);
    SAMBA_RETURN_IF_ERROR(checkBufferBytes(l, name, elements, l->graph->tensors[tensor].dtype, depth));
    uint32_t unit = sambaAssemblyAddUnit(&l->assembly, SAMBA_UNIT_BUFFER, name, layerOf(l, writer->nest.group),
                                         (uint32_t)plan->writers.size, count);
    sambaAssemblyUnit(&l->assembly, unit)->slot_count = depth;
    sambaAssemblyUnit(&l->assembly, unit)->slot_elements = elements;
  }
  return NULL;
}

/* Limits on the dimensions whose tiles reach past the extent. */
static void raggedBounds(const SambaNest *nest, bool slice, SambaBounds *out_bounds) {
  memset(out_bounds, 0, sizeof *out_bounds);
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (!slice || (int32_t)dim != nest->pipeline_dim)
      out_bounds->dim[dim] = nest->group->extents[dim];
}

/* The walk of a group's output tokens over copies of the range; slices: the pipeline loop steps slots. */
static void outputWalk(const GroupPlan *plan, const SambaCopyRange *range, bool slices, SambaWalk *walk) {
  const SambaNest *nest = &plan->nest;
  const SambaStageOperand *map = &nest->group->output;
  uint32_t dims[SAMBA_MAX_STAGE_DIMS], count = sambaOutputDims(nest, dims), first = slices && nest->pipeline_dim >= 0;
  sambaWalkStart(walk, nest, map, range);
  if (first) {
    sambaWalkLoops(walk, nest, map, 0, 1);
    walk->slot_level = walk->count;
    for (uint32_t i = 0; i < walk->count; ++i) { /* steps slots, not addresses */
      memset(walk->steps[i].axis, 0, sizeof walk->steps[i].axis);
      memset(walk->steps[i].dim, 0, sizeof walk->steps[i].dim);
    }
  }
  sambaWalkLoops(walk, nest, map, first, nest->group->parallel_count);
  sambaWalkCopies(walk, nest, map, range);
  walk->token_level = walk->count;
  for (uint32_t i = 0; i < count; ++i)
    sambaWalkPoints(walk, nest, map, dims[i]);
}

static void setPort(SambaPort *port, const SambaWalk *walk, SambaDType dtype, SambaAccess access) {
  port->dtype = dtype;
  port->access = access;
  port->token_elements = sambaWalkTokenElements(walk);
}

static void wholeRange(const SambaNest *nest, SambaCopyRange *out_range) {
  sambaCutCopies(nest, copyMask(nest, UINT32_MAX), 1, out_range);
}

/* The index of a copy among those of the dimensions in mask, row-major. */
static uint32_t copyIndex(const SambaNest *nest, uint32_t mask, const uint32_t *copy) {
  uint32_t index = 0;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (mask & 1u << dim)
      index = index * nest->unroll[dim] + copy[dim];
  return index;
}

/* Steps a copy through a range, last dimension fastest; false after the last. */
static bool nextCopy(const SambaNest *nest, const SambaCopyRange *range, uint32_t *copy) {
  for (uint32_t dim = nest->group->dim_count; dim-- > 0;) {
    if (++copy[dim] < range->first[dim] + range->count[dim])
      return true;
    copy[dim] = range->first[dim];
  }
  return false;
}

/* Stores of a result and write ports of the buffers: where each copy's tokens go. */
static SambaStatus addSinks(Lowering *l, uint32_t g) {
  GroupPlan *plan = &l->plans[g];
  const SambaNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;
  uint32_t tensor = group->output.tensor, mask = copyMask(nest, UINT32_MAX);
  TensorPlan *target = &l->tensors[tensor];
  const SambaStageTensor *type = &l->graph->tensors[tensor];
  SambaWalk walk;
  SambaBounds bounds;
  if (target->buffered) {
    uint32_t port = 0;
    while (target->writers.data[port] != g)
      ++port;
    if (port == 0)
      SAMBA_RETURN_IF_ERROR(addTensorBuffers(l, tensor, plan));
    SambaCopyRange all;
    wholeRange(nest, &all);
    outputWalk(plan, &all, true, &walk);
    raggedBounds(nest, true, &bounds);
    int64_t sizes[SAMBA_MAX_RANK];
    sliceSizes(l, tensor, nest, sizes);
    if (group->output.guarded)
      for (uint32_t axis = 0; axis < type->rank; ++axis)
        bounds.axis[axis] = (int32_t)axis == target->pipeline_axis ? 0 : type->dims[axis];
    SambaLayout layout = sambaLayoutRowMajor(type->rank, sizes);
    uint32_t buffers = (uint32_t)((target->readers.size + (size_t)l->machine->unit_vector_outputs - 1) /
                                  (size_t)l->machine->unit_vector_outputs);
    for (uint32_t b = 0; b < buffers; ++b) {
      setPort(&sambaAssemblyUnit(&l->assembly, target->first_buffer + b)->inputs[port], &walk, type->dtype,
              sambaWalkAccess(&walk, &layout, &bounds, 0, l->arena));
      for (uint32_t c = 0; c < nest->copies; ++c)
        appendEndpoint(&plan->sinks[c], target->first_buffer + b, port);
    }
  }
  if (type->role != SAMBA_TENSOR_RESULT)
    return NULL;
  SambaCopyRange *ranges = SAMBA_ARENA_ARRAY(&l->scratch, SambaCopyRange, plan->stores);
  sambaCutCopies(nest, mask, plan->stores, ranges);
  raggedBounds(nest, false, &bounds);
  for (uint32_t axis = 0; axis < type->rank && group->output.guarded; ++axis)
    bounds.axis[axis] = type->dims[axis];
  SambaLayout layout = sambaLayoutRowMajor(type->rank, type->dims);
  for (uint32_t s = 0; s < plan->stores; ++s) {
    outputWalk(plan, &ranges[s], false, &walk);
    uint32_t unit =
        sambaAssemblyAddUnit(&l->assembly, SAMBA_UNIT_STORE, sambaArenaFormat(l->arena, "%s.store%u", plan->prefix, s),
                             layerOf(l, group), 1, 0);
    sambaAssemblyUnit(&l->assembly, unit)->symbol = l->symbols[tensor];
    setPort(&sambaAssemblyUnit(&l->assembly, unit)->inputs[0], &walk, type->dtype,
            sambaWalkAccess(&walk, &layout, &bounds, 0, l->arena));
    uint32_t copy[SAMBA_MAX_STAGE_DIMS];
    memcpy(copy, ranges[s].first, sizeof copy);
    do
      appendEndpoint(&plan->sinks[copyIndex(nest, mask, copy)], unit, 0);
    while (nextCopy(nest, &ranges[s], copy));
  }
  return NULL;
}

/* --- Sources ---------------------------------------------------------------------------------------------------------
 */

/* The elements of the tokens that leave a source: for PCUs the token box, for copies the points in output order. */
static void walkTokenElements(const SambaNest *nest, uint32_t operand, SambaWalk *walk) {
  const SambaStageOperand *map = &nest->group->operands[operand].map;
  walk->token_level = walk->count;
  if (nest->group->copy) {
    uint32_t dims[SAMBA_MAX_STAGE_DIMS], count = sambaOutputDims(nest, dims);
    for (uint32_t i = 0; i < count; ++i)
      sambaWalkPoints(walk, nest, map, dims[i]);
    return;
  }
  SambaBox token;
  uint32_t axes[SAMBA_MAX_RANK];
  sambaNestBox(nest, operand, nest->group->dim_count, &token);
  sambaNestTokenOrder(nest, operand, &token, axes);
  sambaWalkBox(walk, &token, axes);
}

static void memoryBounds(const Lowering *l, uint32_t tensor, SambaBounds *out_bounds) {
  memset(out_bounds, 0, sizeof *out_bounds);
  memcpy(out_bounds->axis, l->graph->tensors[tensor].dims, l->graph->tensors[tensor].rank * sizeof(int64_t));
}

static uint32_t addLoad(Lowering *l, const GroupPlan *plan, uint32_t tensor, const char *name, uint32_t inputs,
                        const SambaWalk *walk, uint64_t fill) {
  SambaBounds bounds;
  memoryBounds(l, tensor, &bounds);
  SambaLayout layout = sambaLayoutRowMajor(l->graph->tensors[tensor].rank, l->graph->tensors[tensor].dims);
  uint32_t unit = sambaAssemblyAddUnit(&l->assembly, SAMBA_UNIT_LOAD, name, layerOf(l, plan->nest.group), inputs, 1);
  sambaAssemblyUnit(&l->assembly, unit)->symbol = l->symbols[tensor];
  setPort(&sambaAssemblyUnit(&l->assembly, unit)->outputs[0], walk, l->graph->tensors[tensor].dtype,
          sambaWalkAccess(walk, &layout, &bounds, fill, l->arena));
  return unit;
}

/* Connects a source port to the consumers of each source in the range, in order. */
static void connectRange(Lowering *l, const SambaNest *nest, uint32_t mask, const SambaCopyRange *range,
                         SambaEndpoint source, const SambaEndpoints *consumers) {
  uint32_t copy[SAMBA_MAX_STAGE_DIMS];
  memcpy(copy, range->first, sizeof copy);
  do {
    const SambaEndpoints *list = &consumers[copyIndex(nest, mask, copy)];
    sambaAssemblyConnect(&l->assembly, source, list->data, list->size);
  } while (nextCopy(nest, range, copy));
}

/* A read port of an intermediate's buffer. walk: slots and tokens, already complete but for the bounds. */
static SambaEndpoint bufferPort(Lowering *l, uint32_t tensor, uint32_t g, uint32_t operand, int32_t indexed) {
  const TensorPlan *plan = &l->tensors[tensor];
  uint32_t ports = (uint32_t)l->machine->unit_vector_outputs;
  for (uint32_t i = 0; i < plan->readers.size; ++i)
    if (plan->readers.data[i].group == g && plan->readers.data[i].operand == operand &&
        plan->readers.data[i].indexed == indexed)
      return (SambaEndpoint){plan->first_buffer + i / ports, i % ports};
  return (SambaEndpoint){0, 0}; /* not reached: makeNests listed every reader */
}

static void setBufferRead(Lowering *l, const SambaNest *nest, uint32_t tensor, SambaEndpoint at, const SambaWalk *walk,
                          uint64_t fill, int64_t replay) {
  SambaBounds bounds;
  memoryBounds(l, tensor, &bounds);
  int64_t sizes[SAMBA_MAX_RANK];
  sliceSizes(l, tensor, nest, sizes);
  if (l->tensors[tensor].pipeline_axis >= 0)
    bounds.axis[l->tensors[tensor].pipeline_axis] = 0;
  SambaLayout layout = sambaLayoutRowMajor(l->graph->tensors[tensor].rank, sizes);
  SambaPort *port = &sambaAssemblyUnit(&l->assembly, at.unit)->outputs[at.port];
  setPort(port, walk, l->graph->tensors[tensor].dtype, sambaWalkAccess(walk, &layout, &bounds, fill, l->arena));
  port->access.replay = (uint32_t)replay;
  uint32_t last = port->access.counter_count;
  sambaAssemblyUnit(&l->assembly, at.unit)->banks_diagonal |= last && port->access.strides[last - 1] != 1;
}

/* The pipeline loop of a read of an intermediate steps slots. */
static uint32_t walkSlots(const SambaNest *nest, const SambaStageOperand *map, SambaWalk *walk) {
  if (nest->pipeline_dim < 0)
    return 0;
  sambaWalkLoops(walk, nest, map, 0, 1);
  walk->slot_level = walk->count;
  for (uint32_t i = 0; i < walk->count; ++i)
    memset(walk->steps[i].axis, 0, sizeof walk->steps[i].axis);
  return 1;
}

static void readIntermediate(Lowering *l, uint32_t g, uint32_t operand, uint32_t mask,
                             const SambaEndpoints *consumers) {
  const SambaNest *nest = &l->plans[g].nest;
  const SambaStageOperand *map = &nest->group->operands[operand].map;
  SambaCopyRange range;
  sambaCutCopies(nest, mask, 1, &range);
  SambaWalk walk;
  sambaWalkStart(&walk, nest, map, &range);
  uint32_t from = walkSlots(nest, map, &walk), level = sambaNestTokenLevel(nest, operand);
  sambaWalkLoops(&walk, nest, map, from, level > from ? level : from);
  sambaWalkCopies(&walk, nest, map, &range);
  walkTokenElements(nest, operand, &walk);
  SambaEndpoint at = bufferPort(l, map->tensor, g, operand, -1);
  setBufferRead(l, nest, map->tensor, at, &walk, map->fill, nest->group->copy ? 1 : sambaNestReplay(nest, operand));
  connectRange(l, nest, mask, &range, at, consumers);
}

/* The elements of an index token, and before them everything that the indexed load steps. */
static void indexWalk(const SambaNest *nest, const SambaStageOperand *map, uint32_t operand,
                      const SambaCopyRange *range, uint32_t from, SambaWalk *walk) {
  uint32_t dims[SAMBA_MAX_STAGE_DIMS], index_count;
  sambaIndexedDims(nest, operand, dims, &index_count);
  sambaWalkLoops(walk, nest, map, from, sambaNestTokenLevel(nest, operand));
  sambaWalkCopies(walk, nest, map, range);
  walk->token_level = walk->count;
  for (uint32_t i = 0; i < index_count; ++i)
    sambaWalkPoints(walk, nest, map, dims[i]);
}

static void readIndexed(Lowering *l, uint32_t g, uint32_t operand, uint32_t mask, const SambaEndpoints *consumers) {
  const GroupPlan *plan = &l->plans[g];
  const SambaNest *nest = &plan->nest;
  const SambaStageOperand *map = &nest->group->operands[operand].map;
  uint32_t index = (uint32_t)map->index_operand, dims[SAMBA_MAX_STAGE_DIMS], index_count;
  const SambaStageOperand *index_map = &nest->group->operands[index].map;
  uint32_t dim_count = sambaIndexedDims(nest, operand, dims, &index_count);
  SambaCopyRange range;
  sambaCutCopies(nest, mask, 1, &range);
  SambaWalk walk;
  sambaWalkStart(&walk, nest, map, &range);
  sambaWalkLoops(&walk, nest, map, 0, sambaNestTokenLevel(nest, operand));
  sambaWalkCopies(&walk, nest, map, &range);
  walk.token_level = walk.count;
  for (uint32_t i = 0; i < dim_count; ++i) {
    sambaWalkPoints(&walk, nest, map, dims[i]);
    walk.steps[walk.count - 1].fixed = i < index_count;
  }
  const SambaStageTensor *tensor = &l->graph->tensors[map->tensor];
  uint32_t load = addLoad(l, plan, map->tensor, sambaArenaFormat(l->arena, "%s.in%u.load0", plan->prefix, operand), 1,
                          &walk, map->fill);
  SambaPort *port = &sambaAssemblyUnit(&l->assembly, load)->outputs[0];
  port->access.has_index = true;
  port->access.index_counters = index_count;
  port->access.index_stride = 1;
  port->access.index_limit = tensor->dims[map->index_axis];
  for (uint32_t axis = map->index_axis + 1; axis < tensor->rank; ++axis)
    port->access.index_stride *= tensor->dims[axis];
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    port->access.index_limit -= map->axes[map->index_axis].coefficients[dim] * (nest->group->extents[dim] - 1);
  port->access.index_limit -= map->axes[map->index_axis].constant;
  SambaPort *index_port = &sambaAssemblyUnit(&l->assembly, load)->inputs[0];
  index_port->dtype = l->graph->tensors[index_map->tensor].dtype;
  index_port->token_elements = 1;
  for (uint32_t i = 0; i < index_count; ++i)
    index_port->token_elements *= (uint64_t)nest->tile[dims[i]];
  connectRange(l, nest, mask, &range, (SambaEndpoint){load, 0}, consumers);

  sambaWalkStart(&walk, nest, index_map, &range);
  SambaEndpoint source;
  if (inMemory(l, index_map->tensor)) {
    indexWalk(nest, index_map, operand, &range, 0, &walk);
    source = (SambaEndpoint){addLoad(l, plan, index_map->tensor,
                                     sambaArenaFormat(l->arena, "%s.in%u.index", plan->prefix, operand), 0, &walk, 0),
                             0};
  } else {
    uint32_t from = walkSlots(nest, index_map, &walk);
    indexWalk(nest, index_map, operand, &range, from, &walk);
    source = bufferPort(l, index_map->tensor, g, index, (int32_t)operand);
    setBufferRead(l, nest, index_map->tensor, source, &walk, 0, 1);
  }
  sambaAssemblyConnect(&l->assembly, source, &(SambaEndpoint){load, 0}, 1);
}

/* A buffer per source, filled slot by slot by the load. */
static SambaStatus addOperandBuffer(Lowering *l, const GroupPlan *plan, uint32_t operand, uint32_t source,
                                    uint32_t level, const SambaBox *slot, uint32_t *out_unit) {
  const SambaNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[operand].map;
  SambaDType dtype = sambaNestDType(nest, operand);
  uint32_t depth = sambaNestTrips(nest, level) > 1 ? nest->depth[operand] : 1;
  const char *name = sambaArenaFormat(l->arena, "%s.in%u.buffer%u", plan->prefix, operand, source);
  SAMBA_RETURN_IF_ERROR(checkBufferBytes(l, name, (uint64_t)slot->elements, dtype, depth));
  *out_unit = sambaAssemblyAddUnit(&l->assembly, SAMBA_UNIT_BUFFER, name, layerOf(l, group), 1, 1);
  SambaUnit *unit = sambaAssemblyUnit(&l->assembly, *out_unit);
  unit->slot_count = depth;
  unit->slot_elements = (uint64_t)slot->elements;
  SambaLayout layout = sambaLayoutBox(slot);
  SambaWalk walk;
  sambaWalkStart(&walk, nest, map, NULL);
  sambaWalkLoops(&walk, nest, map, 0, level);
  for (uint32_t i = 0; i < walk.count; ++i)
    memset(walk.steps[i].axis, 0, sizeof walk.steps[i].axis);
  walk.slot_level = walk.token_level = walk.count;
  SambaWalk read = walk;
  sambaWalkBox(&walk, slot, NULL);
  sambaWalkMakeRelative(&walk, slot, slot);
  setPort(&unit->inputs[0], &walk, dtype, sambaWalkAccess(&walk, &layout, NULL, 0, l->arena));
  sambaWalkLoops(&read, nest, map, level, sambaNestTokenLevel(nest, operand));
  walkTokenElements(nest, operand, &read);
  SambaBox token;
  sambaNestBox(nest, operand, group->dim_count, &token);
  if (group->copy)
    for (uint32_t axis = 0; axis < token.rank; ++axis)
      token.low[axis] = 0; /* points start at the map's own value */
  sambaWalkMakeRelative(&read, &token, slot);
  setPort(&unit->outputs[0], &read, dtype, sambaWalkAccess(&read, &layout, NULL, 0, l->arena));
  unit->outputs[0].access.replay = group->copy ? 1 : (uint32_t)sambaNestReplay(nest, operand);
  uint32_t last = unit->outputs[0].access.counter_count;
  unit->banks_diagonal = last && unit->outputs[0].access.strides[last - 1] != 1 && token.elements > 1;
  return NULL;
}

static SambaStatus readMemory(Lowering *l, uint32_t g, uint32_t operand, uint32_t mask,
                              const SambaEndpoints *consumers) {
  const GroupPlan *plan = &l->plans[g];
  const SambaNest *nest = &plan->nest;
  const SambaStageOperand *map = &nest->group->operands[operand].map;
  bool direct = sambaNestIsDirect(nest, operand);
  uint32_t level = direct ? sambaNestTokenLevel(nest, operand) : sambaNestSlotLevel(nest, operand);
  SambaBox slot;
  sambaNestBox(nest, operand, direct ? nest->group->dim_count : level, &slot);
  SambaCopyRange *ranges = SAMBA_ARENA_ARRAY(&l->scratch, SambaCopyRange, plan->loads[operand]);
  uint32_t count = sambaCutCopies(nest, mask, plan->loads[operand], ranges);
  for (uint32_t r = 0; r < count; ++r) {
    SambaWalk walk;
    sambaWalkStart(&walk, nest, map, &ranges[r]);
    sambaWalkLoops(&walk, nest, map, 0, level);
    sambaWalkCopies(&walk, nest, map, &ranges[r]);
    walk.token_level = walk.count;
    sambaWalkBox(&walk, &slot, NULL);
    uint32_t load =
        addLoad(l, plan, map->tensor, sambaArenaFormat(l->arena, "%s.in%u.load%u", plan->prefix, operand, r), 0, &walk,
                map->fill);
    if (direct) {
      connectRange(l, nest, mask, &ranges[r], (SambaEndpoint){load, 0}, consumers);
      continue;
    }
    uint32_t copy[SAMBA_MAX_STAGE_DIMS];
    memcpy(copy, ranges[r].first, sizeof copy);
    do {
      uint32_t source = copyIndex(nest, mask, copy), buffer;
      SAMBA_RETURN_IF_ERROR(addOperandBuffer(l, plan, operand, source, level, &slot, &buffer));
      sambaAssemblyConnect(&l->assembly, (SambaEndpoint){load, 0}, &(SambaEndpoint){buffer, 0}, 1);
      sambaAssemblyConnect(&l->assembly, (SambaEndpoint){buffer, 0}, consumers[source].data, consumers[source].size);
    } while (nextCopy(nest, &ranges[r], copy));
  }
  return NULL;
}

/* --- Groups
 * ------------------------------------------------------------------------------------------------------------ */

static SambaStatus lowerGroup(Lowering *l, uint32_t g) {
  GroupPlan *plan = &l->plans[g];
  const SambaNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;
  SAMBA_RETURN_IF_ERROR(addSinks(l, g));
  SambaCopyRange all, one;
  wholeRange(nest, &all);
  uint32_t copy[SAMBA_MAX_STAGE_DIMS] = {0}, *computes = SAMBA_ARENA_ARRAY(&l->scratch, uint32_t, nest->copies),
           index = 0;
  if (!group->copy)
    do {
      for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
        one.first[dim] = copy[dim], one.count[dim] = 1;
      const char *name = sambaArenaFormat(l->arena, "%s.compute%u", plan->prefix, index);
      computes[index] = sambaLowerCompute(&l->assembly, nest, name, layerOf(l, group), &one);
      sambaAssemblyConnect(&l->assembly, (SambaEndpoint){computes[index], 0}, plan->sinks[index].data,
                           plan->sinks[index].size);
      ++index;
    } while (nextCopy(nest, &all, copy));
  uint32_t port = 0;
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    if (!readsData(group, i))
      continue;
    uint32_t mask = copyMask(nest, i), sources = sambaNestSources(nest, i);
    SambaEndpoints *consumers = sambaAllocateZeroed(sources, sizeof *consumers);
    memset(copy, 0, sizeof copy);
    index = 0;
    do {
      SambaEndpoints *list = &consumers[copyIndex(nest, mask, copy)];
      if (!group->copy)
        appendEndpoint(list, computes[index], port);
      for (size_t s = 0; s < plan->sinks[index].size && group->copy; ++s)
        appendEndpoint(list, plan->sinks[index].data[s].unit, plan->sinks[index].data[s].port);
      ++index;
    } while (nextCopy(nest, &all, copy));
    ++port;
    SambaStatus status = NULL;
    if (group->operands[i].map.index_operand >= 0)
      readIndexed(l, g, i, mask, consumers);
    else if (inMemory(l, group->operands[i].map.tensor))
      status = readMemory(l, g, i, mask, consumers);
    else
      readIntermediate(l, g, i, mask, consumers);
    for (uint32_t s = 0; s < sources; ++s)
      sambaArrayFree(&consumers[s]);
    free(consumers);
    SAMBA_RETURN_IF_ERROR(status);
  }
  return NULL;
}

static void addSymbols(Lowering *l, SambaSection *section) {
  const SambaStageGraph *graph = l->graph;
  section->symbols = SAMBA_ARENA_ARRAY(l->arena, SambaFormal, graph->tensor_count);
  for (int role = SAMBA_TENSOR_ARGUMENT; role <= SAMBA_TENSOR_RESULT; ++role)
    for (uint32_t t = 0; t < graph->tensor_count; ++t) {
      const SambaStageTensor *tensor = &graph->tensors[t];
      if (tensor->role != (SambaTensorRole)role)
        continue;
      l->symbols[t] = section->symbol_count;
      SambaFormal *formal = &section->symbols[section->symbol_count++];
      *formal = (SambaFormal){tensor->name ? tensor->name : "", tensor->dtype, 1, role == SAMBA_TENSOR_RESULT};
      for (uint32_t axis = 0; axis < tensor->rank; ++axis)
        formal->elements *= (uint64_t)tensor->dims[axis];
    }
}

static SambaStatus checkCounters(const Lowering *l, const SambaSection *section) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    uint32_t most = unit->counter_count;
    for (uint32_t i = 0; i < unit->input_count + unit->output_count; ++i) {
      const SambaPort *port = i < unit->input_count ? &unit->inputs[i] : &unit->outputs[i - unit->input_count];
      most = port->access.counter_count > most ? port->access.counter_count : most;
    }
    if (most > l->machine->unit_counters)
      return sambaStatusMake(
          SAMBA_EXHAUSTED,
          "unit %s needs %u counters, but a chain of %s has %lld; map its stage with fewer tiled dimensions",
          unit->name, most, l->machine->name, (long long)l->machine->unit_counters);
  }
  return NULL;
}

static SambaStatus lowerAll(Lowering *l, SambaSection *section) {
  SAMBA_RETURN_IF_ERROR(sambaGroupsBuild(l->graph, l->machine, true, &l->scratch, &l->groups));
  l->plans = SAMBA_ARENA_ARRAY(&l->scratch, GroupPlan, l->groups.count);
  SAMBA_RETURN_IF_ERROR(makeNests(l));
  SAMBA_RETURN_IF_ERROR(checkPipeline(l));
  SAMBA_RETURN_IF_ERROR(assignAgs(l));
  addSymbols(l, section);
  for (uint32_t g = 0; g < l->groups.count; ++g)
    SAMBA_RETURN_IF_ERROR(lowerGroup(l, g));
  sambaAssemblyFinish(&l->assembly, section);
  sambaSectionPlanRates(section, l->machine);
  return checkCounters(l, section);
}

SambaStatus sambaLowerStages(const SambaStageGraph *graph, const SambaMachine *machine, SambaArena *arena,
                             SambaSection **out_section) {
  if (graph->stage_count == 0)
    return sambaStatusMake(SAMBA_INVALID, "section %s has no stages", graph->name ? graph->name : "");
  Lowering l = {.graph = graph, .machine = machine, .arena = arena};
  l.assembly.arena = arena;
  l.tensors = SAMBA_ARENA_ARRAY(&l.scratch, TensorPlan, graph->tensor_count);
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
