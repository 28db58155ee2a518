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

  port->access.has_index = true;
  port->access.index_counters = index_count;
  port->access.index_stride = 1;
  for (uint32_t axis = map->index_axis + 1; axis < tensor->rank; ++axis)
    port->access.index_stride *= tensor->dims[axis];
  port->access.index_limit = tensor->dims[map->index_axis] - map->axes[map->index_axis].constant;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    port->access.index_limit -=
        map->axes[map->index_axis].coefficients[dim] * (nest->group->extents[dim] - 1);
  SambaPort *index_port = &sambaAssemblyUnit(&codegen->assembly, load)->inputs[0];
  index_port->dtype = codegen->graph->tensors[index_map->tensor].dtype;
  index_port->token_elements = 1;
  for (uint32_t i = 0; i < index_count; ++i)
    index_port->token_elements *= (uint64_t)nest->tile[dims[i]];
  sambaConnectRange(codegen, nest, mask, &range, (SambaEndpoint){load, 0}, consumers);

  SambaEndpoint source;
  if (!codegen->tensors[index_map->tensor].buffered) {
    sambaWalkStart(&walk, nest, index_map, &range);
    indexWalk(nest, index_map, operand, &range, 0, &walk);
    const char *name =
        sambaArenaFormat(codegen->arena, "%s.in%u.index%u", plan->prefix, operand, replica);
    source = (SambaEndpoint){
        sambaCodegenAddLoad(codegen, index_map->tensor, name, layer, 0, &walk, 0), 0};
  } else {
    uint32_t from = sambaStartSlices(codegen, nest, index_map, &range, &walk);
    indexWalk(nest, index_map, operand, &range, from, &walk);
    source = sambaBufferPort(codegen, index_map->tensor, g, index, operand, replica);
    sambaSetBufferRead(codegen, index_map->tensor, source, &walk, 0, 1);
  }

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
