/* Shared arguments; see share.h. */
#include "backend/group/share.h"

#include <stdlib.h>

int32_t sambaMapAxisOf(const SambaStageGraph *graph, const SambaGroup *group,
                       const SambaStageOperand *map, uint32_t dim) {
  const SambaStageTensor *tensor = &graph->tensors[map->tensor];
  int32_t found = -1;

  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    const SambaAxisMap *own = &map->axes[axis];
    if (!own->coefficients[dim])
      continue;
    bool exact = own->coefficients[dim] == 1 && own->constant == 0 &&
                 tensor->dims[axis] == group->extents[dim] && found < 0;
    for (uint32_t other = 0; other < group->dim_count; ++other)
      exact = exact && (other == dim || !own->coefficients[other]);
    if (!exact)
      return -1;
    found = (int32_t)axis;
  }

  return found;
}

typedef struct Use {
  uint32_t first_group; /* + 1 */
  bool several, refused;
  int32_t axis;
} Use;

void sambaFindShared(const SambaStageGraph *graph, const SambaGroups *groups,
                     const SambaMachine *machine, const uint32_t *pipeline_dims, int64_t tile,
                     int32_t *out_axes) {
  Use *uses = sambaAllocateZeroed(graph->tensor_count, sizeof *uses);
  for (uint32_t g = 0; g < groups->count; ++g) {
    const SambaGroup *group = groups->groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      const SambaGroupOperand *operand = &group->operands[i];
      Use *use = &uses[operand->map.tensor];
      use->refused |= operand->map.index_operand >= 0 || operand->indexes;
      int32_t axis = pipeline_dims ? sambaMapAxisOf(graph, group, &operand->map, pipeline_dims[g])
                                   : SAMBA_SHARED_WHOLE;
      use->refused |= pipeline_dims && (axis < 0 || (use->first_group && use->axis != axis));
      use->axis = axis;
      use->several |= use->first_group && use->first_group != g + 1;
      use->first_group = g + 1;
    }
  }

  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    const SambaStageTensor *tensor = &graph->tensors[t];
    out_axes[t] = SAMBA_NOT_SHARED;
    if (tensor->role != SAMBA_TENSOR_ARGUMENT || !uses[t].several || uses[t].refused)
      continue;
    int64_t bytes = sambaDTypeBytes(tensor->dtype);
    for (uint32_t axis = 0; axis < tensor->rank; ++axis)
      bytes *= (int32_t)axis == uses[t].axis ? tile : tensor->dims[axis];
    if (bytes <= machine->pmu_bytes / (pipeline_dims ? 2 : 4))
      out_axes[t] = uses[t].axis;
  }

  free(uses);
}
