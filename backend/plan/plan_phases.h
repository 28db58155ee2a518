/* Sections that load and store in turn: how many replicas and phases they have. */
#ifndef SAMBA_BACKEND_PLAN_PLAN_PHASES_H
#define SAMBA_BACKEND_PLAN_PLAN_PHASES_H

#include "backend/plan/plan_together.h"

/* Replicas for a pipeline, along its first loop, such that its loads have all generators of the
 * machine and its stores have them too, and the fewest phases in which PMUs hold what each store
 * takes. False where it cannot work in phases. */
bool sambaPlanPhases(const SambaPlanner *planner, SambaPipeline *pipeline, uint32_t *out_phases);

#endif
