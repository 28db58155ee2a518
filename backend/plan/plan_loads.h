/* How a group whose tiles, order and copies are chosen loads its operands from memory. */
#ifndef SAMBA_BACKEND_PLAN_PLAN_LOADS_H
#define SAMBA_BACKEND_PLAN_PLAN_LOADS_H

#include "backend/plan/plan_internal.h"

/* Loads the copies of each operand together whose slots overlap where that moves fewer bytes and
 * costs no more. */
void sambaPlanJoinLoads(const SambaGroupLimits *limits, SambaGroupChoice *choice);
/* What a pipeline loads once and whole, for all of its steps, keeps the first ones waiting. Loads
 * it step by step where that costs less. */
void sambaPlanStreamLoads(const SambaGroupLimits *limits, SambaGroupChoice *choice);

/* Whether the loops of the pipeline step the operand. */
bool sambaPlanIsStepped(const SambaTileNest *nest, uint32_t operand);

#endif
