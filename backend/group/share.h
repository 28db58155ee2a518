/* Arguments that several groups of a section read: loaded once into buffers with several read
 * ports, like the tensors that the section makes itself. Planner and codegen ask the same rule. */
#ifndef SAMBA_BACKEND_GROUP_SHARE_H
#define SAMBA_BACKEND_GROUP_SHARE_H

#include "backend/group/group.h"

typedef struct SambaSharing {
  bool shared;
  uint32_t
      axis; /* along which the pipeline slices the tensor; SAMBA_NO_INDEX: it is shared whole */
} SambaSharing;

/* Fills out_sharing for each tensor. pipeline_dims: the pipeline dimension of each group, NULL when
 * the section is no pipeline; tile: points of a slice. Shared is an argument that two groups or
 * more read as data, never by index, that follows the pipeline dimension in each read, and whose
 * two slices (or, without a pipeline, a quarter of a PMU: all of it) fit. */
void sambaFindShared(const SambaStageGraph *graph, const SambaGroups *groups,
                     const SambaMachine *machine, const uint32_t *pipeline_dims, int64_t tile,
                     SambaSharing *out_sharing);

/* The axis of the map's tensor that runs with dimension `dim` point by point, when no other axis
 * depends on it; SAMBA_NO_INDEX: none. */
uint32_t sambaMapAxisOf(const SambaStageGraph *graph, const SambaGroup *group,
                        const SambaStageOperand *map, uint32_t dim);

#endif
