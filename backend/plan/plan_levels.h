/* Where the operands of a mapped group are loaded: at which of its loops, into how many slots. */
#ifndef SAMBA_BACKEND_PLAN_PLAN_LEVELS_H
#define SAMBA_BACKEND_PLAN_PLAN_LEVELS_H

#include "backend/plan/plan_internal.h"

/* Chooses levels and depths of all operands that move the fewest bytes, with rings of PMUs or
 * without, and settles the nest. False when a slot of one of them fits no PMU. */
bool sambaPlanChooseLevels(const SambaGroupLimits *limits, SambaTileNest *nest, bool rings);

#endif
