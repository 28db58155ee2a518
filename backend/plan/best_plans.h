/* The best plans of a section that have been found, by their estimates. */
#ifndef SAMBA_BACKEND_PLAN_BEST_PLANS_H
#define SAMBA_BACKEND_PLAN_BEST_PLANS_H

#include "backend/plan/plan_internal.h"

/* A plan of all groups along a pipeline. */
typedef struct SambaBestPlan {
  bool found; /* else there is none in this place */
  double cycles;
  SambaPipeline pipeline;
  SambaPipelineDims *dims; /* of the groups in that pipeline */
  SambaGroupChoice *choices;
} SambaBestPlan;

/* places[0] is the best, places[rank] the last one that is kept. */
typedef struct SambaBestPlans {
  uint32_t group_count, rank;
  SambaBestPlan *places;
} SambaBestPlans;

/* Room for plans of so many groups. Memory from the arena. */
SambaBestPlans sambaBestPlansMake(SambaArena *arena, uint32_t group_count, uint32_t rank);
/* Cycles that a plan must stay below to be kept. */
double sambaBestPlansMost(const SambaBestPlans *plans);
/* Keeps a copy of the plan, and forgets the last one for it. False when it is not kept: it is no
 * better than the last one, or is estimated to take exactly as many cycles as another, which is
 * most likely the same plan from another start. */
bool sambaBestPlansKeep(SambaBestPlans *plans, double cycles, const SambaPipeline *pipeline,
                        const SambaGroupChoice *choices);

#endif
