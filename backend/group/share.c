/* Slices of tensors in a pipeline, and shared arguments; see share.h. */
#include "backend/group/share.h"

#include "support/number/integer.h"

#include <stdlib.h>
#include <string.h>

uint32_t sambaMapAxisOf(const SambaStageGraph *graph, const SambaGroup *group,
                        const SambaStageOperand *map, uint32_t dim) {
  const SambaStageTensor *tensor = &graph->tensors[map->tensor];
  uint32_t found = SAMBA_NO_INDEX;

  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    const SambaAxisMap *own = &map->axes[axis];
    if (!own->coefficients[dim])
      continue;
    bool exact = own->coefficients[dim] == 1 && own->constant == 0 &&
                 tensor->dims[axis] == group->extents[dim] && found == SAMBA_NO_INDEX;
    for (uint32_t other = 0; other < group->dim_count; ++other)
      exact = exact && (other == dim || !own->coefficients[other]);
    if (!exact)
      return SAMBA_NO_INDEX;
    found = axis;
  }

  return found;
}

SambaSlices sambaMapSlices(const SambaStageGraph *graph, const SambaGroup *group,
                           const SambaStageOperand *map, const SambaPipelineDims *dims) {
  SambaSlices slices = {0};
  for (uint32_t i = 0; i < dims->count; ++i) {
    uint32_t axis = sambaMapAxisOf(graph, group, map, dims->dim[i]);
    if (axis == SAMBA_NO_INDEX)
      break;
    slices.axis[slices.count++] = axis;
  }
  return slices;
}

SambaSlices sambaSlicesMeet(const SambaSlices *a, const SambaSlices *b) {
  SambaSlices both = {0};
  while (both.count < a->count && both.count < b->count &&
         a->axis[both.count] == b->axis[both.count]) {
    both.axis[both.count] = a->axis[both.count];
    ++both.count;
  }
  return both;
}

void sambaSliceExtents(const SambaStageTensor *tensor, const SambaSlices *slices,
                       const int64_t *tile, int64_t *out_extents) {
  memcpy(out_extents, tensor->dims, sizeof tensor->dims);
  for (uint32_t i = 0; i < slices->count; ++i)
    out_extents[slices->axis[i]] = tile[i];
}

int64_t sambaSliceBytes(const SambaStageTensor *tensor, const SambaSlices *slices,
                        const int64_t *tile) {
  int64_t extents[SAMBA_MAX_RANK];
  int64_t bytes = sambaDTypeBytes(tensor->dtype);
  sambaSliceExtents(tensor, slices, tile, extents);
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    bytes *= extents[axis];
  return bytes;
}

uint32_t sambaSliceRing(const SambaMachine *machine, const SambaRingNeeds *needs) {
  int64_t held = needs->slice_bytes ? machine->pmu_bytes / needs->slice_bytes : needs->depth;
  if (held == 0)
    return 1;
  int64_t least = sambaCeilDiv(needs->depth, held);
  least = least < needs->readers ? needs->readers : least;
  for (int64_t pmus = least; pmus <= 2 * least && pmus <= needs->slices; ++pmus)
    if (needs->slices % pmus == 0)
      return (uint32_t)pmus;
  return 1;
}

uint32_t sambaRingReaders(const SambaMachine *machine, const SambaPipeline *pipeline,
                          int64_t slice_bytes, uint32_t readers) {
  bool large = slice_bytes > 8 * machine->fifo_depth * machine->vector_bytes;
  uint32_t ports = (uint32_t)machine->unit_vector_outputs;
  if (pipeline->count < 2 || !large)
    return 1;
  return readers < ports ? readers : ports;
}

/* PMUs that a tensor may take to have one for each port, as a share of all, and where each takes
 * half of a read side. */
enum { shareOfPorts = 16, shareOfHalves = 8 };

uint32_t sambaPortsOfPmu(const SambaMachine *machine, uint32_t ports, uint32_t replicas,
                         bool halves) {
  uint32_t most = (uint32_t)(machine->grid_columns * machine->grid_rows / 2) /
                  (halves ? shareOfHalves : shareOfPorts);
  return ports * replicas <= most ? 1 : (uint32_t)machine->unit_vector_outputs;
}

uint32_t sambaSliceReplicas(const SambaPipeline *pipeline, const SambaSlices *slices) {
  uint32_t replicas = 1;
  for (uint32_t i = 0; i < slices->count; ++i)
    replicas *= pipeline->copies[i];
  return replicas;
}

typedef struct Use {
  uint32_t group;   /* that read it last; SAMBA_NO_INDEX: none yet */
  uint32_t readers; /* how many groups */
  bool refused;
  SambaSlices slices;
} Use;

static void useTensor(const SambaStageGraph *graph, const SambaGroup *group, uint32_t g,
                      const SambaGroupOperand *operand, const SambaPipeline *pipeline, Use *use) {
  bool again = use->group != SAMBA_NO_INDEX;
  use->refused |= operand->map.index_operand != SAMBA_NO_INDEX || operand->indexes;
  if (pipeline->count) {
    SambaSlices own = sambaMapSlices(graph, group, &operand->map, &pipeline->groups[g]);
    use->slices = again ? sambaSlicesMeet(&use->slices, &own) : own;
    use->refused |= use->slices.count == 0;
  }
  use->readers += use->group != g;
  use->group = g;
}

void sambaFindShared(const SambaStageGraph *graph, const SambaGroups *groups,
                     const SambaMachine *machine, const SambaPipeline *pipeline,
                     SambaSharing *out_sharing) {
  Use *uses = sambaAllocateZeroed(graph->tensor_count, sizeof *uses);
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    uses[t].group = SAMBA_NO_INDEX;
  for (uint32_t g = 0; g < groups->count; ++g) {
    const SambaGroup *group = groups->groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i)
      useTensor(graph, group, g, &group->operands[i], pipeline,
                &uses[group->operands[i].map.tensor]);
  }

  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    const SambaStageTensor *tensor = &graph->tensors[t];
    out_sharing[t] = (SambaSharing){0};
    if (tensor->role != SAMBA_TENSOR_ARGUMENT || uses[t].readers < 2 || uses[t].refused)
      continue;
    int64_t bytes = sambaSliceBytes(tensor, &uses[t].slices, pipeline->tile);
    bool many = uses[t].readers > (uint32_t)machine->unit_vector_outputs;
    if (many && !pipeline->count && bytes > machine->fifo_depth * machine->vector_bytes)
      continue;
    if (bytes <= machine->pmu_bytes / (pipeline->count ? 2 : 4))
      out_sharing[t] = (SambaSharing){true, uses[t].slices};
  }

  free(uses);
}
