/* The groups of a section planned together: what lies between them, what each may take of the
 * machine, and what the section takes then. */
#ifndef SAMBA_BACKEND_PLAN_PLAN_TOGETHER_H
#define SAMBA_BACKEND_PLAN_PLAN_TOGETHER_H

#include "backend/plan/plan_internal.h"

typedef struct SambaPlanner {
  SambaStageGraph *graph;
  const SambaMachine *machine;
  SambaArena scratch;
  SambaGroups groups;
  SambaGroupLimits *limits;
  SambaGroupChoice *choices;
  bool *fixed;                      /* mapped by hand */
  struct SambaSearchMemo *searches; /* known results; NULL: none */
  uint64_t work;                    /* of all searches, also of known ones */
  uint64_t *kinds;                  /* of the groups, in that memo */
  uint32_t all_pcus, pcus, pmus, ags;
  uint32_t units;     /* PCUs and PMUs together, at most */
  uint32_t sum_parts; /* of a contraction that is alone; 0: as is best */
  bool carries_sums;  /* of a contraction that is alone go through PMUs */
  bool tries_beside;  /* numbers of replicas beside those of the best pipeline, too */
  uint32_t rank;      /* the plan that is wanted, by its estimate: 0 is the best */
  bool loads_apart;   /* the section works in phases: plan_phases.h */
  uint32_t phases;    /* that it has */
  uint32_t *level;    /* of each group: how many buffers lie before it on the longest way */
  uint32_t *writer;   /* of each tensor: its last group, SAMBA_NO_INDEX: none */
  bool *between;      /* tensors that groups of the section read and write */
  uint32_t *readers;  /* operands that read each tensor */
  /* For the pipeline being planned: of each tensor, see share.h, and its slices when it is one in
   * buffers. */
  SambaSharing *shared;
  SambaSlices *slices;
  uint32_t *depth, *ring; /* slices that its buffers should hold, and PMUs that take them in turn */
  bool *ringable;         /* of each tensor, for all pipelines: several PMUs may */
} SambaPlanner;

/* Settles what holds for all pipelines: the arrays must be there. */
void sambaPlannerAnalyse(SambaPlanner *planner);

/* Whether a group works on the array. */
bool sambaPlannerHasArrays(const SambaPlanner *planner);
/* Generators that each group plans with: as if all were its own but one for each operand and result
 * of others, because what all of them need together is priced for the section; by_bytes: whoever
 * touches memory has one, and those who move the most bytes get the others. */
void sambaPlannerShareGenerators(SambaPlanner *planner, bool by_bytes);

/* The best way to map a group within its limits; false when there is none. */
bool sambaPlannerSearchGroup(SambaPlanner *planner, uint32_t g, SambaGroupChoice *choice);
/* The error that says so. */
SambaStatus sambaPlannerNoChoice(const SambaPlanner *planner, uint32_t g);

/* The estimate of a pipeline is no less than this, whatever its groups' plans. */
double sambaPlanLeastCycles(const SambaPlanner *planner, const SambaPipeline *pipeline);
/* Cycles of the free groups if all PCUs worked all the time. */
double sambaPlannerWorkCycles(const SambaPlanner *planner);
/* Plans all groups along a pipeline. balanced: groups start with their share of the machine by
 * work. most: more cycles are as bad as any; it gives up there. out_cycles: the estimate, or `most`
 * or more. */
SambaStatus sambaPlanTogether(SambaPlanner *planner, const SambaPipeline *pipeline, bool balanced,
                              double most, double *out_cycles);
/* Buffers between groups hold as many slices as lie between producer and consumer, and one more;
 * some more where PMUs have room. */
void sambaPlanChooseDepths(SambaPlanner *planner, const SambaPipeline *pipeline);

/* How many replicas the pipeline has of a group: those along the loops that the group has. */
uint32_t sambaPipelineReplicas(const SambaPipeline *pipeline, uint32_t g);

#endif
