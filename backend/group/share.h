/* The pipeline of a section, the slices that tensors have in it, and shared arguments.
 *
 * A pipeline loops over the tiles of one dimension or several, the same in each group, outermost
 * first. A tensor between groups is cut into slices along the first of these loops that all its
 * readers and writers run one axis with; a slice is one slot of its buffers. Shared are arguments
 * that several groups of a section read: loaded once into buffers with several read ports, like the
 * tensors that the section makes itself. Planner and codegen ask the same rules. */
#ifndef SAMBA_BACKEND_GROUP_SHARE_H
#define SAMBA_BACKEND_GROUP_SHARE_H

#include "backend/group/group.h"

typedef struct SambaPipelineDims { /* of one group: the dimensions of the loops, outermost first */
  uint32_t count;
  uint32_t dim[SAMBA_MAX_PIPELINE_DIMS];
} SambaPipelineDims;

typedef struct SambaPipeline {
  uint32_t count; /* loops; 0: the section is no pipeline */
  int64_t extent[SAMBA_MAX_PIPELINE_DIMS], tile[SAMBA_MAX_PIPELINE_DIMS]; /* in points */
  uint32_t copies[SAMBA_MAX_PIPELINE_DIMS]; /* replicas along each loop */
  const SambaPipelineDims *groups;          /* a group may have the first of the loops only */
} SambaPipeline;

typedef struct SambaSlices {              /* how the pipeline cuts a tensor */
  uint32_t count;                         /* along the first of its loops */
  uint32_t axis[SAMBA_MAX_PIPELINE_DIMS]; /* of the tensor, of each */
} SambaSlices;

typedef struct SambaSharing {
  bool shared;
  SambaSlices slices; /* of none, it is shared whole */
} SambaSharing;

/* The slices that one reader or writer allows. */
SambaSlices sambaMapSlices(const SambaStageGraph *graph, const SambaGroup *group,
                           const SambaStageOperand *map, const SambaPipelineDims *dims);
/* The slices that two of them allow. */
SambaSlices sambaSlicesMeet(const SambaSlices *a, const SambaSlices *b);
/* The extents of a slice of the tensor. */
void sambaSliceExtents(const SambaStageTensor *tensor, const SambaSlices *slices,
                       const int64_t *tile, int64_t *out_extents);
/* Bytes of a slice. */
int64_t sambaSliceBytes(const SambaStageTensor *tensor, const SambaSlices *slices,
                        const int64_t *tile);

/* What decides how many PMUs take the slices of a tensor in turn. */
typedef struct SambaRingNeeds {
  int64_t slice_bytes;
  int64_t slices;   /* of each replica */
  uint32_t depth;   /* slices that the PMUs should hold together */
  uint32_t readers; /* that should read different slices side by side */
} SambaRingNeeds;
/* How many PMUs that are: one where no number of them shares the slices evenly. */
uint32_t sambaSliceRing(const SambaMachine *machine, const SambaRingNeeds *needs);
/* The readers of a tensor's buffer that count: its PMU has one read side, which matters where large
 * slices stream. */
uint32_t sambaRingReaders(const SambaMachine *machine, const SambaPipeline *pipeline,
                          int64_t slice_bytes, uint32_t readers);
/* How many read ports of a tensor's buffers each PMU has, of `ports` in each replica. All ports of
 * a PMU share its read side, so each has a PMU of its own where these are few. halves: each takes
 * half of a read side (sambaTileNestTakesHalves), so that two leave it no cycle to spare. */
uint32_t sambaPortsOfPmu(const SambaMachine *machine, uint32_t ports, uint32_t replicas,
                         bool halves);
/* The replicas with slices of their own: those along the loops that cut the tensor. */
uint32_t sambaSliceReplicas(const SambaPipeline *pipeline, const SambaSlices *slices);

/* Fills out_sharing for each tensor. Shared is an argument that two groups or more read as data,
 * never by index, that is cut by the first loop of the pipeline at least, and whose two slices (or,
 * without a pipeline, a quarter of a PMU: all of it) fit. Without a pipeline the groups run one
 * after the other: there more readers than a PMU has ports share only what a FIFO holds, and have
 * each their own of what is larger, in PMUs that send all tiles of a group at once. */
void sambaFindShared(const SambaStageGraph *graph, const SambaGroups *groups,
                     const SambaMachine *machine, const SambaPipeline *pipeline,
                     SambaSharing *out_sharing);

/* The axis of the map's tensor that runs with dimension `dim` point by point, when no other axis
 * depends on it; SAMBA_NO_INDEX: none. */
uint32_t sambaMapAxisOf(const SambaStageGraph *graph, const SambaGroup *group,
                        const SambaStageOperand *map, uint32_t dim);

#endif
