/* Shared arguments; see share.h. */
#include "backend/group/share.h"

#include <stdlib.h>

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

typedef struct Use {
  uint32_t group; /* that read it last; SAMBA_NO_INDEX: none yet */
  bool several, refused;
  uint32_t axis;
} Use;

void sambaFindShared(const SambaStageGraph *graph, const SambaGroups *groups,
                     const SambaMachine *machine, const uint32_t *pipeline_dims, int64_t tile,
                     SambaSharing *out_sharing) {
  Use *uses = sambaAllocateZeroed(graph->tensor_count, sizeof *uses);
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    uses[t].group = SAMBA_NO_INDEX;

  for (uint32_t g = 0; g < groups->count; ++g) {
    const SambaGroup *group = groups->groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      const SambaGroupOperand *operand = &group->operands[i];
      Use *use = &uses[operand->map.tensor];
      use->refused |= operand->map.index_operand != SAMBA_NO_INDEX || operand->indexes;
      uint32_t axis = pipeline_dims ? sambaMapAxisOf(graph, group, &operand->map, pipeline_dims[g])
                                    : SAMBA_NO_INDEX;
      bool again = use->group != SAMBA_NO_INDEX;
      use->refused |= pipeline_dims && (axis == SAMBA_NO_INDEX || (again && use->axis != axis));
      use->axis = axis;
      use->several |= again && use->group != g;
      use->group = g;
    }
  }

  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    const SambaStageTensor *tensor = &graph->tensors[t];
    out_sharing[t] = (SambaSharing){false, SAMBA_NO_INDEX};
    if (tensor->role != SAMBA_TENSOR_ARGUMENT || !uses[t].several || uses[t].refused)
      continue;
    int64_t bytes = sambaDTypeBytes(tensor->dtype);
    for (uint32_t axis = 0; axis < tensor->rank; ++axis)
      bytes *= axis == uses[t].axis ? tile : tensor->dims[axis];
    if (bytes <= machine->pmu_bytes / (pipeline_dims ? 2 : 4))
      out_sharing[t] = (SambaSharing){true, uses[t].axis};
  }

  free(uses);
}
