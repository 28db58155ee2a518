/* Tensors that live in buffers: made in the section, or arguments that several groups read and that
 * are loaded once. Each replica of the pipeline has buffers of its own, slot by slot a slice, with
 * a read port for every reader. */
#include "backend/codegen/codegen_internal.h"

#include <string.h>

SambaStatus sambaCodegenAddBuffers(SambaCodegen *codegen, uint32_t tensor, const char *prefix,
                                   const char *layer, uint32_t writers) {
  SambaTensorPlan *plan = &codegen->tensors[tensor];
  uint32_t ports = (uint32_t)codegen->machine->unit_vector_outputs;
  int64_t sizes[SAMBA_MAX_RANK];

  sambaSliceSizes(codegen, tensor, sizes);
  uint64_t elements = 1;
  for (uint32_t axis = 0; axis < codegen->graph->tensors[tensor].rank; ++axis)
    elements *= (uint64_t)sizes[axis];
  plan->first_buffer = (uint32_t)codegen->assembly.units.size;
  for (uint32_t replica = 0; replica < codegen->replicas; ++replica)
    for (uint32_t first = 0; first < plan->readers.size; first += ports) {
      uint32_t count = (uint32_t)plan->readers.size - first < ports
                           ? (uint32_t)plan->readers.size - first
                           : ports;
      uint32_t depth = 1;
      for (uint32_t i = first; i < first + count && sambaPipelineTrips(codegen) > 1; ++i) {
        uint32_t own =
            codegen->plans[plan->readers.data[i].group].nest.depth[plan->readers.data[i].operand];
        depth = own > depth ? own : depth;
      }
      const char *name = sambaArenaFormat(codegen->arena, "%s.buffer%u", prefix,
                                          replica * plan->buffers + first / ports);
      SAMBA_RETURN_IF_ERROR(sambaCheckBufferBytes(codegen, name, elements,
                                                  codegen->graph->tensors[tensor].dtype, depth));
      uint32_t unit =
          sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_BUFFER, name, layer, writers, count);
      sambaAssemblyUnit(&codegen->assembly, unit)->buffer.slot_count = depth;
      sambaAssemblyUnit(&codegen->assembly, unit)->buffer.slot_elements = elements;
    }
  return NULL;
}

SambaStatus sambaCodegenSharedArgument(SambaCodegen *codegen, uint32_t tensor) {
  const SambaStageTensor *type = &codegen->graph->tensors[tensor];
  SambaTensorPlan *plan = &codegen->tensors[tensor];
  const char *prefix = type->name && type->name[0] ? type->name : "argument";
  const char *layer =
      sambaCodegenLayer(codegen, codegen->groups.groups[plan->readers.data[0].group]);

  SAMBA_RETURN_IF_ERROR(sambaCodegenAddBuffers(codegen, tensor, prefix, layer, 1));
  int64_t sizes[SAMBA_MAX_RANK];
  int64_t trips = sambaPipelineTrips(codegen);
  sambaSliceSizes(codegen, tensor, sizes);
  SambaTokenLayout layout = sambaLayoutRowMajor(type->rank, sizes);
  SambaTileBox slice = {.rank = type->rank};
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    slice.size[axis] = sizes[axis], slice.step[axis] = 1;
  SambaWalk write;
  memset(&write, 0, sizeof write);
  if (trips > 1)
    write.steps[write.count++].trips = (uint32_t)trips;
  write.slot_level = write.token_level = write.count;
  sambaWalkBox(&write, &slice);
  for (uint32_t b = 0; b < codegen->replicas * plan->buffers; ++b)
    sambaSetPort(codegen->arena,
                 &sambaAssemblyUnit(&codegen->assembly, plan->first_buffer + b)->inputs[0], &write,
                 type->dtype, sambaWalkAccess(&write, &layout, NULL, 0, codegen->arena));

  /* Each load serves a run of replicas in turn. */
  uint32_t run = (codegen->replicas + plan->loads - 1) / plan->loads;
  for (uint32_t first = 0, number = 0; first < codegen->replicas; first += run, ++number) {
    uint32_t count = codegen->replicas - first < run ? codegen->replicas - first : run;
    SambaWalk walk = write;
    walk.count = walk.slot_level;

    /* Without a pipeline there is one slice and one replica: nothing steps. */
    uint32_t axis = plan->pipeline_axis != SAMBA_NO_INDEX ? plan->pipeline_axis : 0;
    int64_t tile = plan->pipeline_axis != SAMBA_NO_INDEX ? sizes[axis] : 0;
    if (walk.count)
      walk.steps[0].axis[axis] = tile;
    if (count > 1) {
      walk.steps[walk.count] = (SambaWalkStep){.trips = count};
      walk.steps[walk.count++].axis[axis] = trips * tile;
    }

    walk.axis_start[axis] = first * trips * tile;
    walk.slot_level = 0;
    walk.token_level = walk.count;
    sambaWalkBox(&walk, &slice);
    uint32_t load = sambaCodegenAddLoad(
        codegen, tensor, sambaArenaFormat(codegen->arena, "%s.load%u", prefix, number), layer, 0,
        &walk, 0);
    for (uint32_t r = first; r < first + count; ++r) {
      SambaEndpoint *buffers = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaEndpoint, plan->buffers);
      for (uint32_t b = 0; b < plan->buffers; ++b)
        buffers[b] = (SambaEndpoint){plan->first_buffer + r * plan->buffers + b, 0};
      sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){load, 0}, buffers, plan->buffers);
    }
  }

  return NULL;
}

SambaEndpoint sambaBufferPort(const SambaCodegen *codegen, uint32_t tensor, uint32_t g,
                              uint32_t operand, uint32_t indexed, uint32_t part, uint32_t replica) {
  const SambaTensorPlan *plan = &codegen->tensors[tensor];
  uint32_t ports = (uint32_t)codegen->machine->unit_vector_outputs;
  uint32_t i = 0;
  while (plan->readers.data[i].group != g || plan->readers.data[i].operand != operand ||
         plan->readers.data[i].indexed != indexed || plan->readers.data[i].part != part)
    ++i;
  return (SambaEndpoint){plan->first_buffer + replica * plan->buffers + i / ports, i % ports};
}

void sambaSetBufferRead(SambaCodegen *codegen, uint32_t tensor, SambaEndpoint at,
                        const SambaWalk *walk, uint64_t fill) {
  SambaBounds bounds;
  sambaMemoryBounds(codegen, tensor, &bounds);
  int64_t sizes[SAMBA_MAX_RANK];
  sambaSliceSizes(codegen, tensor, sizes);
  if (codegen->tensors[tensor].pipeline_axis != SAMBA_NO_INDEX)
    bounds.axis[codegen->tensors[tensor].pipeline_axis] = 0;
  SambaTokenLayout layout = sambaLayoutRowMajor(codegen->graph->tensors[tensor].rank, sizes);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, at.unit);
  SambaPort *port = &unit->outputs[at.port];
  sambaSetPort(codegen->arena, port, walk, codegen->graph->tensors[tensor].dtype,
               sambaWalkAccess(walk, &layout, &bounds, fill, codegen->arena));
}

uint32_t sambaStartSlices(const SambaCodegen *codegen, const SambaTileNest *nest,
                          const SambaStageOperand *map, const SambaCopyRange *range,
                          SambaWalk *walk) {
  sambaWalkStart(walk, nest, map, range);
  if (nest->pipeline_dim == SAMBA_NO_INDEX)
    return 0;
  sambaWalkLoops(walk, nest, map, 0, 1);
  sambaWalkClearAddresses(walk, walk->count);
  walk->slot_level = walk->count;
  walk->dim_start[nest->pipeline_dim] = 0;
  walk->axis_start[codegen->tensors[map->tensor].pipeline_axis] = 0;
  return 1;
}
