/* Tensors that live in buffers: made in the section, or arguments that several groups read and that
 * are loaded once. Each replica of the pipeline has buffers of its own, slot by slot a slice, with
 * a read port for every reader. */
#include "backend/codegen/codegen_internal.h"

#include <string.h>

SambaStatus sambaCodegenAddBuffers(SambaCodegen *codegen, uint32_t tensor, const char *prefix,
                                   const char *layer, uint32_t writers) {
  SambaTensorPlan *plan = &codegen->tensors[tensor];
  uint32_t ports = plan->ports;
  int64_t sizes[SAMBA_MAX_RANK];

  sambaSliceSizes(codegen, tensor, sizes);
  uint64_t elements = 1;
  for (uint32_t axis = 0; axis < codegen->graph->tensors[tensor].rank; ++axis)
    elements *= (uint64_t)sizes[axis];
  plan->first_buffer = (uint32_t)codegen->assembly.units.size;
  for (uint32_t ring = 0; ring < plan->replicas * plan->ring; ++ring)
    for (uint32_t first = 0; first < plan->readers.size; first += ports) {
      uint32_t count = (uint32_t)plan->readers.size - first < ports
                           ? (uint32_t)plan->readers.size - first
                           : ports;
      uint32_t depth = 1;
      for (uint32_t i = first; i < first + count && sambaSlicesOf(codegen, tensor) > plan->ring;
           ++i) {
        uint32_t own =
            codegen->plans[plan->readers.data[i].group].nest.depth[plan->readers.data[i].operand];
        own = (own + plan->ring - 1) / plan->ring;
        depth = own > depth ? own : depth;
      }
      const char *name = sambaArenaFormat(codegen->arena, "%s.buffer%u", prefix,
                                          ring * plan->buffers + first / ports);
      SAMBA_RETURN_IF_ERROR(sambaCheckBufferBytes(codegen, name, elements,
                                                  codegen->graph->tensors[tensor].dtype, depth));
      uint32_t unit =
          sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_BUFFER, name, layer, writers, count);
      sambaAssemblyUnit(&codegen->assembly, unit)->buffer.slot_count = depth;
      sambaAssemblyUnit(&codegen->assembly, unit)->buffer.slot_elements = elements;
    }
  return NULL;
}

/* The map that reads a sliced tensor slice by slice in the dimensions of the pipeline. */
static SambaStageOperand sliceMap(const SambaTileNest *nest, uint32_t tensor,
                                  const SambaSlices *slices) {
  SambaStageOperand map = {.tensor = tensor, .index_operand = SAMBA_NO_INDEX};
  for (uint32_t i = 0; i < slices->count; ++i)
    map.axes[slices->axis[i]].coefficients[nest->dim_at[i]] = 1;
  return map;
}

/* One load of a shared argument, of one of the parts of its slices, for the replicas of a range in
 * turn. */
static void loadShared(SambaCodegen *codegen, uint32_t tensor, const SambaCopyRange *range,
                       uint32_t part, const char *name, const char *layer) {
  const SambaTensorPlan *plan = &codegen->tensors[tensor];
  const SambaTileNest *nest = &codegen->plans[codegen->pipeline_group].nest;
  SambaStageOperand map = sliceMap(nest, tensor, &plan->slices);
  SambaWalk walk;

  sambaWalkStart(&walk, nest, &map, range);
  sambaWalkLoops(&walk, nest, &map, 0, plan->slices.count);
  sambaWalkCopies(&walk, nest, &map, range);
  walk.token_level = walk.count;
  const SambaTileBox slice = sambaSliceBox(codegen, tensor);
  const uint32_t axis = sambaOutermostAxis(&slice);
  const SambaTileBox own = sambaBoxPart(&slice, axis, plan->ways, part);
  sambaWalkBox(&walk, &own);
  walk.axis_start[axis] += sambaBoxPartStart(&slice, axis, plan->ways, part);
  /* Tiles that reach past the extent are masked by the tensor's own dims. */
  uint32_t load = sambaCodegenAddLoad(codegen, tensor, name, layer, 0, &walk, 0);

  SambaEndpoint *buffers = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaEndpoint, plan->buffers);
  uint32_t copy[SAMBA_MAX_STAGE_DIMS];
  memcpy(copy, range->first, sizeof copy);
  do {
    uint32_t replica = 0;
    for (uint32_t i = 0; i < plan->slices.count; ++i)
      replica = replica * nest->unroll[nest->dim_at[i]] + copy[nest->dim_at[i]];
    for (uint32_t b = 0; b < plan->buffers; ++b)
      buffers[b] = (SambaEndpoint){sambaBufferUnit(plan, replica, b, 0), part};
    sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){load, 0}, buffers, plan->buffers);
  } while (sambaCopyNext(nest, range, copy));
}

/* The write port of a shared argument's buffers that takes one of the parts of its slices. */
static void writeShared(SambaCodegen *codegen, uint32_t tensor, uint32_t part) {
  const SambaStageTensor *type = &codegen->graph->tensors[tensor];
  const SambaTensorPlan *plan = &codegen->tensors[tensor];
  const SambaTileNest *nest = &codegen->plans[codegen->pipeline_group].nest;
  const SambaTileBox slice = sambaSliceBox(codegen, tensor);
  const uint32_t axis = sambaOutermostAxis(&slice);
  const SambaTileBox own = sambaBoxPart(&slice, axis, plan->ways, part);
  const SambaTokenLayout layout = sambaLayoutRowMajor(type->rank, slice.size);

  SambaWalk write;
  memset(&write, 0, sizeof write);
  sambaTensorPitches(type, write.pitch);
  for (uint32_t i = 0; i < plan->slices.count; ++i)
    if (nest->trips[nest->dim_at[i]] > 1)
      write.steps[write.count++].trips = (uint32_t)nest->trips[nest->dim_at[i]];
  write.slot_level = write.token_level = write.count;
  sambaWalkBox(&write, &own);
  write.axis_start[axis] = sambaBoxPartStart(&slice, axis, plan->ways, part);
  for (uint32_t b = 0; b < plan->replicas * plan->buffers; ++b)
    sambaSetPort(codegen->arena,
                 &sambaAssemblyUnit(&codegen->assembly, plan->first_buffer + b)->inputs[part],
                 &write, type->dtype, sambaWalkAccess(&write, &layout, NULL, 0, codegen->arena));
}

SambaStatus sambaCodegenSharedArgument(SambaCodegen *codegen, uint32_t tensor) {
  const SambaStageTensor *type = &codegen->graph->tensors[tensor];
  SambaTensorPlan *plan = &codegen->tensors[tensor];
  const char *prefix = type->name && type->name[0] ? type->name : "argument";
  const char *layer =
      sambaCodegenLayer(codegen, codegen->groups.groups[plan->readers.data[0].group]);

  SAMBA_RETURN_IF_ERROR(sambaCodegenAddBuffers(codegen, tensor, prefix, layer, plan->ways));
  for (uint32_t part = 0; part < plan->ways; ++part)
    writeShared(codegen, tensor, part);

  const SambaTileNest *nest = &codegen->plans[codegen->pipeline_group].nest;
  uint32_t mask = sambaReplicaMask(nest, plan->slices.count);
  SambaCopyRange *ranges = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaCopyRange, plan->loads);
  uint32_t count = sambaCutCopies(nest, mask, plan->loads, ranges);
  for (uint32_t r = 0; r < count; ++r)
    for (uint32_t part = 0; part < plan->ways; ++part)
      loadShared(codegen, tensor, &ranges[r], part,
                 sambaArenaFormat(codegen->arena, "%s.load%u", prefix, r * plan->ways + part),
                 layer);

  return NULL;
}

uint32_t sambaBufferUnit(const SambaTensorPlan *plan, uint32_t replica, uint32_t buffer,
                         uint32_t at) {
  return plan->first_buffer + (replica * plan->ring + at) * plan->buffers + buffer;
}

SambaEndpoint sambaBufferPort(const SambaCodegen *codegen, uint32_t tensor, uint32_t g,
                              uint32_t operand, uint32_t indexed, uint32_t part, uint32_t replica) {
  const SambaTensorPlan *plan = &codegen->tensors[tensor];
  uint32_t i = 0;
  while (plan->readers.data[i].group != g || plan->readers.data[i].operand != operand ||
         plan->readers.data[i].indexed != indexed || plan->readers.data[i].part != part)
    ++i;
  return (SambaEndpoint){sambaBufferUnit(plan, replica, i / plan->ports, 0), i % plan->ports};
}

void sambaSetBufferRead(SambaCodegen *codegen, uint32_t tensor, SambaEndpoint at,
                        const SambaWalk *walk, uint64_t fill) {
  SambaBounds bounds;
  sambaMemoryBounds(codegen, tensor, &bounds);
  int64_t sizes[SAMBA_MAX_RANK];
  sambaSliceSizes(codegen, tensor, sizes);
  sambaClearSliced(&codegen->tensors[tensor].slices, bounds.axis);
  SambaTokenLayout layout = sambaLayoutRowMajor(codegen->graph->tensors[tensor].rank, sizes);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, at.unit);
  SambaPort *port = &unit->outputs[at.port];
  sambaSetPort(codegen->arena, port, walk, codegen->graph->tensors[tensor].dtype,
               sambaWalkAccess(walk, &layout, &bounds, fill, codegen->arena));
}

uint32_t sambaStartSlices(const SambaCodegen *codegen, const SambaTileNest *nest,
                          const SambaStageOperand *map, const SambaCopyRange *range,
                          SambaWalk *walk) {
  const SambaSlices *slices = &codegen->tensors[map->tensor].slices;
  sambaWalkStart(walk, nest, map, range);
  sambaWalkLoops(walk, nest, map, 0, slices->count);
  sambaWalkClearAddresses(walk, walk->count);
  uint32_t ring = codegen->tensors[map->tensor].ring;
  if (ring > 1) { /* a PMU of the ring has every so many of the slices */
    int64_t slots = sambaTileNestTrips(nest, slices->count) / ring;
    walk->count = 0;
    if (slots > 1)
      walk->steps[walk->count++] = (SambaWalkStep){.trips = (uint32_t)slots};
  }
  walk->slot_level = walk->count;
  for (uint32_t i = 0; i < slices->count; ++i)
    walk->dim_start[nest->dim_at[i]] = 0;
  sambaClearSliced(slices, walk->axis_start);
  return slices->count;
}
