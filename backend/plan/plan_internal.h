/* What the files of the planner share. */
#ifndef SAMBA_BACKEND_PLAN_PLAN_INTERNAL_H
#define SAMBA_BACKEND_PLAN_PLAN_INTERNAL_H

#include "backend/group/share.h"
#include "backend/group/tile_nest.h"
#include "backend/plan/plan_demand.h"

/* What a search did. With any other limits of PMUs and of units that grant what was granted and
 * refuse what was refused it does the same. */
typedef struct SambaSearchTrace {
  uint32_t pmus_granted, pmus_refused;   /* the most, the fewest */
  uint32_t units_granted, units_refused; /* of PCUs and PMUs together */
  uint64_t work;                         /* choices that it looked at, and their prices */
} SambaSearchTrace;

/* What a group may use, and what is decided about it from outside. */
typedef struct SambaGroupLimits {
  SambaPipelineDims pipeline; /* its loops of the pipeline */
  int64_t pipeline_tile[SAMBA_MAX_PIPELINE_DIMS];
  uint32_t pipeline_copies[SAMBA_MAX_PIPELINE_DIMS];
  uint32_t replicas;   /* product of these copies, >= 1 */
  uint32_t pcus, pmus; /* at most, all replicas together */
  uint32_t units;      /* PCUs and PMUs together, at most */
  uint32_t copies;     /* at most */
  uint32_t ags;        /* its share */
  uint32_t on_chip;    /* bit i: operand i comes from a buffer of the section */
  uint32_t several;    /* bit i: and that buffer has other readers */
  uint32_t writers;    /* groups that write the buffer of the output */
  /* Of each operand from a buffer: how many loops of the pipeline slice it, and the replicas of its
   * buffers; of the output: these. */
  uint32_t sliced[SAMBA_MAX_GROUP_OPERANDS], buffers[SAMBA_MAX_GROUP_OPERANDS];
  uint32_t output_buffers;
  uint32_t least_level[SAMBA_MAX_GROUP_OPERANDS]; /* slots in memory begin at this loop at least */
  bool buffered_output;                           /* the output goes into a buffer of the section */
  bool stored_output;
  uint32_t sum_parts;            /* sums of the array are cut into so many parts; 0: as is best */
  bool carries_sums;             /* sums of the array go through PMUs; else where that is best */
  double pcu_launch, pmu_launch; /* what one more of them adds to the score */
  SambaSearchTrace *trace;       /* gets what the search does; may be NULL */
} SambaGroupLimits;

/* Of the DRAM and of the units beside it, the one that takes less time makes the other wait for
 * this share of it. */
#define SAMBA_PLAN_BESIDE_SHARE 0.25

/* A price takes as long as to look at so many choices. */
enum { SAMBA_WORK_OF_PRICE = 14 };

/* One way to map a group. */
typedef struct SambaGroupChoice {
  SambaTileNest nest;    /* with levels and depths */
  double cycles;         /* of all its firings, the slowest resource */
  double fill;           /* cycles before the first firing and after the last */
  double dram_bytes;     /* with what the rows' bursts carry besides */
  double elements_bytes; /* of the elements that are loaded and stored */
  uint32_t on_chip;      /* as in the limits */
  double score;          /* what the search minimizes: cycles + fill + a share of the launch */
  uint32_t pcus, pmus;
} SambaGroupChoice;

/* False where a nest does not fit the limits, or costs the bound or more, whatever its levels are:
 * most candidates end here. */
bool sambaPlanMayFit(const SambaGroupLimits *limits, double bound, const SambaTileNest *nest);
/* Chooses buffer levels and depths for a nest and prices it. False when it does not fit the limits
 * or its score is no less than the bound. */
bool sambaPlanPrice(const SambaGroupLimits *limits, double bound, SambaGroupChoice *choice);
/* Demands of a chosen group, SAMBA_MAX_GROUP_OPERANDS + 1 at most; returns how many there are. */
uint32_t sambaPlanDemands(const SambaGroupLimits *limits, const SambaGroupChoice *choice,
                          SambaDemand *out_demands);
/* The best way to map a group within the limits; false when there is none. */
bool sambaPlanSearch(const SambaStageGraph *graph, const SambaGroup *group,
                     const SambaMachine *machine, const SambaGroupLimits *limits,
                     SambaGroupChoice *out_choice);

/* The loop of the pipeline that runs dimension `dim`; SAMBA_NO_INDEX: none. */
static inline uint32_t sambaLimitsLoop(const SambaGroupLimits *limits, uint32_t dim) {
  for (uint32_t i = 0; i < limits->pipeline.count; ++i)
    if (limits->pipeline.dim[i] == dim)
      return i;
  return SAMBA_NO_INDEX;
}

/* Whether both operands of a contraction walk the dimension, as they do heads. */
static inline bool sambaGroupIsBatch(const SambaGroup *group, uint32_t dim) {
  return group->systolic && sambaGroupDepends(group, group->mac[0], dim) &&
         sambaGroupDepends(group, group->mac[1], dim);
}

/* Points of a sum of the group. */
static inline int64_t sambaGroupSumPoints(const SambaGroup *group) {
  int64_t points = 1;
  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
    points *= group->extents[dim];
  return points;
}

/* Pipeline dimensions: for class `index` (0, 1, ...) of a section, the dimension of each group;
 * false past the last class. */
bool sambaPlanPipelineClass(const SambaStageGraph *graph, const SambaGroups *groups, uint32_t index,
                            uint32_t *out_dims);
/* The same of a class that some groups are without, which have SAMBA_NO_INDEX: a loop inside of the
 * others, as the one over the heads of attention whose result a projection sums. */
bool sambaPlanInnerLoop(const SambaStageGraph *graph, const SambaGroups *groups, uint32_t index,
                        uint32_t *out_dims);

#endif
