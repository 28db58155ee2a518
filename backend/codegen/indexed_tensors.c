/* Reads and writes at places that other tensors give: loads with an index port and what feeds it,
 * the indices of a store. */
#include "backend/codegen/codegen_internal.h"

/* The elements of an index token, and before them everything that the indexed load steps. */
static void indexWalk(const SambaTileNest *nest, const SambaStageOperand *map, uint32_t operand,
                      const SambaCopyRange *range, uint32_t from, SambaWalk *walk) {
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t index_count;
  uint32_t level = sambaTileNestTokenLevel(nest, operand);
  sambaIndexedDims(nest, operand, dims, &index_count);
  sambaWalkLoops(walk, nest, map, from, level > from ? level : from);
  sambaWalkCopies(walk, nest, map, range);
  walk->token_level = walk->count;
  for (uint32_t i = 0; i < index_count; ++i)
    sambaWalkPoints(walk, nest, map, dims[i]);
}

/* The access of an indexed load: the step of an index in elements, and the first index that is too
 * large. */
static void setIndexedAccess(const SambaTileNest *nest, const SambaStageOperand *map,
                             const SambaStageTensor *tensor, uint32_t index_count,
                             SambaAccess *access) {
  const SambaAxisMap *axis_map = &map->axes[map->index_axis];
  access->has_index = true;
  access->index_counters = index_count;
  access->index_stride = 1;
  for (uint32_t axis = map->index_axis + 1; axis < tensor->rank; ++axis)
    access->index_stride *= tensor->dims[axis];

  access->index_limit = tensor->dims[map->index_axis] - axis_map->constant;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    access->index_limit -= axis_map->coefficients[dim] * (nest->group->extents[dim] - 1);
}

/* What brings the indices of a load: a load of its own, or a buffer that another group fills. */
static SambaEndpoint addIndexSource(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                                    uint32_t replica, const SambaCopyRange *range) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  uint32_t index = nest->group->operands[operand].map.index_operand;
  const SambaStageOperand *map = &nest->group->operands[index].map;
  SambaWalk walk;

  if (!codegen->tensors[map->tensor].buffered) {
    sambaWalkStart(&walk, nest, map, range);
    indexWalk(nest, map, operand, range, 0, &walk);
    const char *name =
        sambaArenaFormat(codegen->arena, "%s.in%u.index%u", plan->prefix, operand, replica);
    const char *layer = sambaCodegenLayer(codegen, nest->group);
    uint32_t load = sambaCodegenAddLoad(codegen, map->tensor, name, layer, 0, &walk, 0);
    return (SambaEndpoint){load, 0};
  }

  uint32_t from = sambaStartSlices(codegen, nest, map, range, &walk);
  indexWalk(nest, map, operand, range, from, &walk);
  SambaEndpoint source = sambaBufferPort(codegen, map->tensor, g, index, operand, replica);
  sambaSetBufferRead(codegen, map->tensor, source, &walk, 0);
  return source;
}

void sambaCodegenAddIndexedSource(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                                  uint32_t replica, const SambaEndpoints *consumers) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  const SambaStageOperand *map = &nest->group->operands[operand].map;
  uint32_t index = map->index_operand;
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t index_count;
  uint32_t mask = sambaCopyMask(nest, operand);
  const SambaStageOperand *index_map = &nest->group->operands[index].map;
  const char *layer = sambaCodegenLayer(codegen, nest->group);
  uint32_t dim_count = sambaIndexedDims(nest, operand, dims, &index_count);
  SambaCopyRange range;

  sambaReplicaRange(nest, mask, replica, &range);
  SambaWalk walk;
  sambaWalkStart(&walk, nest, map, &range);
  sambaWalkLoops(&walk, nest, map, 0, sambaTileNestTokenLevel(nest, operand));
  sambaWalkCopies(&walk, nest, map, &range);
  walk.token_level = walk.count;

  for (uint32_t i = 0; i < dim_count; ++i) {
    sambaWalkPoints(&walk, nest, map, dims[i]);
    walk.steps[walk.count - 1].fixed = i < index_count;
  }

  const SambaStageTensor *tensor = &codegen->graph->tensors[map->tensor];
  uint32_t load = sambaCodegenAddLoad(
      codegen, map->tensor,
      sambaArenaFormat(codegen->arena, "%s.in%u.load%u", plan->prefix, operand, replica), layer, 1,
      &walk, map->fill);
  SambaPort *port = &sambaAssemblyUnit(&codegen->assembly, load)->outputs[0];

  setIndexedAccess(nest, map, tensor, index_count, &port->access);
  SambaPort *index_port = &sambaAssemblyUnit(&codegen->assembly, load)->inputs[0];
  index_port->dtype = codegen->graph->tensors[index_map->tensor].dtype;
  index_port->token_elements = 1;
  for (uint32_t i = 0; i < index_count; ++i)
    index_port->token_elements *= (uint64_t)nest->tile[dims[i]];
  sambaConnectRange(codegen, nest, mask, &range, (SambaEndpoint){load, 0}, consumers);

  SambaEndpoint source = addIndexSource(codegen, g, operand, replica, &range);
  sambaAssemblyConnect(&codegen->assembly, source, &(SambaEndpoint){load, 0}, 1);
}

void sambaCodegenAddStoreIndices(SambaCodegen *codegen, uint32_t g, const SambaCopyRange *range,
                                 uint32_t store) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  const SambaStageOperand *output = &nest->group->output;
  uint32_t index = output->index_operand;
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = sambaOutputDims(nest, dims);
  const SambaStageOperand *map = &nest->group->operands[index].map;
  const SambaStageTensor *tensor = &codegen->graph->tensors[output->tensor];
  SambaWalk walk;
  uint64_t elements = 1;

  sambaWalkStart(&walk, nest, map, range);
  sambaWalkLoops(&walk, nest, map, 0, nest->group->parallel_count);
  walk.token_level = walk.count;
  for (uint32_t i = 0; i < count && sambaGroupDepends(nest->group, index, dims[i]); ++i) {
    sambaWalkPoints(&walk, nest, map, dims[i]);
    elements *= (uint64_t)nest->tile[dims[i]];
  }

  const char *name = sambaArenaFormat(codegen->arena, "%s.index", plan->prefix);
  uint32_t load = sambaCodegenAddLoad(codegen, map->tensor, name,
                                      sambaCodegenLayer(codegen, nest->group), 0, &walk, 0);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, store);
  SambaAccess *access = &unit->inputs[0].access;

  access->has_index = true;
  access->index_counters = walk.count - walk.token_level;
  access->index_stride = 1;
  for (uint32_t axis = output->index_axis + 1; axis < tensor->rank; ++axis)
    access->index_stride *= tensor->dims[axis];
  access->index_limit = tensor->dims[output->index_axis];
  unit->inputs[1].dtype = codegen->graph->tensors[map->tensor].dtype;
  unit->inputs[1].token_elements = elements;
  sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){load, 0}, &(SambaEndpoint){store, 1}, 1);
}
