/* Reads and writes at places that other tensors give: loads with an index port and what feeds it,
 * the indices of a store. */
#include "backend/codegen/codegen_internal.h"

#include <string.h>

/* The first `count` dimensions of a gathered token. */
static void walkGather(const SambaStageOperand *map, const SambaTileGather *gather, uint32_t count,
                       SambaWalk *walk) {
  walk->token_level = walk->count;
  for (uint32_t i = 0; i < count; ++i) {
    SambaWalkStep *step = &walk->steps[walk->count++];
    *step = (SambaWalkStep){.trips = (uint32_t)gather->points[i], .fixed = i < gather->index_count};
    step->dim[gather->dims[i]] = 1;
    for (uint32_t axis = 0; axis < SAMBA_MAX_RANK; ++axis)
      step->axis[axis] = map->axes[axis].coefficients[gather->dims[i]];
  }
}

/* The elements of an index token, and before them everything that the indexed load steps. */
static void indexWalk(const SambaTileNest *nest, const SambaStageOperand *map,
                      const SambaTileGather *gather, const SambaCopyRange *range, uint32_t from,
                      SambaWalk *walk) {
  sambaWalkLoops(walk, nest, map, from, gather->level > from ? gather->level : from);
  sambaWalkCopies(walk, nest, map, range);
  walkGather(map, gather, gather->index_count, walk);
  for (uint32_t i = walk->token_level; i < walk->count; ++i)
    walk->steps[i].fixed = false;
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
                                    const SambaTileGather *gather, uint32_t replica,
                                    const SambaCopyRange *range) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  uint32_t index = nest->group->operands[operand].map.index_operand;
  const SambaStageOperand *map = &nest->group->operands[index].map;
  SambaWalk walk;

  if (!codegen->tensors[map->tensor].buffered) {
    sambaWalkStart(&walk, nest, map, range);
    indexWalk(nest, map, gather, range, 0, &walk);
    const char *name =
        sambaArenaFormat(codegen->arena, "%s.in%u.index%u", plan->prefix, operand, replica);
    const char *layer = sambaCodegenLayer(codegen, nest->group);
    uint32_t load = sambaCodegenAddLoad(codegen, map->tensor, name, layer, 0, &walk, 0);
    return (SambaEndpoint){load, 0};
  }

  uint32_t from = sambaStartSlices(codegen, nest, map, range, &walk);
  indexWalk(nest, map, gather, range, from, &walk);
  SambaEndpoint source = sambaBufferPort(codegen, map->tensor, g, index, operand, 0, replica);
  sambaSetBufferRead(codegen, map->tensor, source, &walk, 0);
  return source;
}

/* The PMU between an indexed load and the PCUs of one source: takes slots as they are loaded, sends
 * tokens in the order of their use. */
static SambaStatus addGatherBuffer(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                                   const SambaTileGather *gather, uint32_t number,
                                   uint32_t *out_unit) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  SambaDType dtype = sambaTileNestDType(nest, operand);
  SambaStageOperand map = {.index_operand = SAMBA_NO_INDEX};
  int64_t elements = 1;
  for (uint32_t i = gather->count; i-- > 0; elements *= gather->points[i])
    map.axes[0].coefficients[gather->dims[i]] = elements;

  SambaWalk write, read;
  memset(&write, 0, sizeof write);
  sambaWalkLoops(&write, nest, &map, 0, gather->level);
  sambaWalkClearAddresses(&write, write.count);
  write.slot_level = write.token_level = write.count;
  read = write;
  if (elements > 1) {
    write.steps[write.count] = (SambaWalkStep){.trips = (uint32_t)elements};
    write.steps[write.count++].axis[0] = 1;
  }
  uint32_t end = sambaTileNestTokenLevel(nest, operand);
  sambaWalkLoops(&read, nest, &map, gather->level, end > gather->level ? end : gather->level);
  read.token_level = read.count;
  for (uint32_t i = 0; i < nest->group->dim_count; ++i)
    if (nest->streamed[operand] >> nest->inner[i] & 1)
      sambaWalkPoints(&read, nest, &map, nest->inner[i]);

  uint32_t slots = write.slot_level ? 2 : 1;
  const char *name =
      sambaArenaFormat(codegen->arena, "%s.in%u.buffer%u", plan->prefix, operand, number);
  SAMBA_RETURN_IF_ERROR(sambaCheckBufferBytes(codegen, name, (uint64_t)elements, dtype, slots));
  *out_unit = sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_BUFFER, name,
                                   sambaCodegenLayer(codegen, nest->group), 1, 1);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, *out_unit);
  SambaTokenLayout layout = sambaLayoutRowMajor(1, &elements);
  unit->buffer.slot_count = slots;
  unit->buffer.slot_elements = (uint64_t)elements;
  sambaSetPort(codegen->arena, &unit->inputs[0], &write, dtype,
               sambaWalkAccess(&write, &layout, NULL, 0, codegen->arena));
  sambaSetPort(codegen->arena, &unit->outputs[0], &read, dtype,
               sambaWalkAccess(&read, &layout, NULL, 0, codegen->arena));
  sambaStateGather(nest, operand, gather, gather->count, codegen->arena, &unit->inputs[0]);
  sambaStateToken(nest, operand, codegen->arena, &unit->outputs[0]);
  return NULL;
}

/* Joins an indexed load with who takes its tokens, source by source. */
static SambaStatus connectGather(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                                 const SambaTileGather *gather, const SambaCopyRange *range,
                                 uint32_t load, const SambaEndpoints *consumers) {
  const SambaTileNest *nest = &codegen->plans[g].nest;
  uint32_t mask = sambaCopyMask(nest, operand);
  uint32_t copy[SAMBA_MAX_STAGE_DIMS];
  if (!gather->buffered) {
    sambaConnectRange(codegen, nest, mask, range, (SambaEndpoint){load, 0}, consumers);
    return NULL;
  }

  memcpy(copy, range->first, sizeof copy);
  do {
    uint32_t number = sambaCopyIndex(nest, mask, copy), buffer;
    SAMBA_RETURN_IF_ERROR(addGatherBuffer(codegen, g, operand, gather, number, &buffer));
    sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){load, 0}, &(SambaEndpoint){buffer, 0},
                         1);
    sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){buffer, 0}, consumers[number].data,
                         consumers[number].size);
  } while (sambaCopyNext(nest, range, copy));
  return NULL;
}

SambaStatus sambaCodegenAddIndexedSource(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                                         uint32_t replica, const SambaEndpoints *consumers) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  const SambaStageOperand *map = &nest->group->operands[operand].map;
  const SambaTileGather gather = sambaTileNestGather(nest, operand);
  const SambaStageOperand *index_map = &nest->group->operands[map->index_operand].map;
  const char *layer = sambaCodegenLayer(codegen, nest->group);
  SambaCopyRange range;

  sambaReplicaRange(nest, sambaCopyMask(nest, operand), nest->pipeline_count, replica, &range);
  SambaWalk walk;
  sambaWalkStart(&walk, nest, map, &range);
  sambaWalkLoops(&walk, nest, map, 0, gather.level);
  sambaWalkCopies(&walk, nest, map, &range);
  walkGather(map, &gather, gather.count, &walk);

  const SambaStageTensor *tensor = &codegen->graph->tensors[map->tensor];
  uint32_t load = sambaCodegenAddLoad(
      codegen, map->tensor,
      sambaArenaFormat(codegen->arena, "%s.in%u.load%u", plan->prefix, operand, replica), layer, 1,
      &walk, map->fill);
  SambaPort *port = &sambaAssemblyUnit(&codegen->assembly, load)->outputs[0];

  setIndexedAccess(nest, map, tensor, gather.index_count, &port->access);
  if (gather.buffered)
    sambaStateGather(nest, operand, &gather, gather.count, codegen->arena, port);
  else
    sambaStateToken(nest, operand, codegen->arena, port);
  SambaPort *index_port = &sambaAssemblyUnit(&codegen->assembly, load)->inputs[0];
  index_port->dtype = codegen->graph->tensors[index_map->tensor].dtype;
  index_port->token_elements = 1;
  for (uint32_t i = 0; i < gather.index_count; ++i)
    index_port->token_elements *= (uint64_t)gather.points[i];
  sambaStateGather(nest, map->index_operand, &gather, gather.index_count, codegen->arena,
                   index_port);
  SAMBA_RETURN_IF_ERROR(connectGather(codegen, g, operand, &gather, &range, load, consumers));

  SambaEndpoint source = addIndexSource(codegen, g, operand, &gather, replica, &range);
  sambaAssemblyConnect(&codegen->assembly, source, &(SambaEndpoint){load, 0}, 1);
  return NULL;
}

void sambaCodegenAddStoreIndices(SambaCodegen *codegen, uint32_t g, const SambaCopyRange *range,
                                 uint32_t number, uint32_t store) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  const SambaStageOperand *output = &nest->group->output;
  uint32_t index = output->index_operand;
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = sambaTileNestOutputDims(nest, dims);
  const SambaStageOperand *map = &nest->group->operands[index].map;
  const SambaStageTensor *tensor = &codegen->graph->tensors[output->tensor];
  SambaWalk walk;
  uint64_t elements = 1;

  sambaWalkStart(&walk, nest, map, range);
  sambaWalkLoops(&walk, nest, map, 0, sambaTileNestOutputLevel(nest));
  walk.token_level = walk.count;
  for (uint32_t i = 0; i < count && sambaGroupDepends(nest->group, index, dims[i]); ++i) {
    sambaWalkPoints(&walk, nest, map, dims[i]);
    elements *= (uint64_t)nest->pass[dims[i]];
  }

  const char *name =
      sambaArenaFormat(codegen->arena, number ? "%s.index%u" : "%s.index", plan->prefix, number);
  uint32_t load = sambaCodegenAddLoad(codegen, map->tensor, name,
                                      sambaCodegenLayer(codegen, nest->group), 0, &walk, 0);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, store);
  SambaAccess *access = &unit->inputs[0].access;

  sambaStateResult(nest, codegen->arena, &unit->inputs[0]);
  access->has_index = true;
  access->index_counters = walk.count - walk.token_level;
  access->index_stride = 1;
  for (uint32_t axis = output->index_axis + 1; axis < tensor->rank; ++axis)
    access->index_stride *= tensor->dims[axis];
  access->index_limit = tensor->dims[output->index_axis];
  unit->inputs[1].dtype = codegen->graph->tensors[map->tensor].dtype;
  unit->inputs[1].token_elements = elements;
  sambaWalkOrder(&walk, codegen->arena, &unit->inputs[1]);
  sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){load, 0}, &(SambaEndpoint){store, 1}, 1);
}
