/* Where the operands of a mapped group are loaded: at which of its loops, into how many slots. */
#ifndef SAMBA_BACKEND_PLAN_PLAN_LEVELS_H
#define SAMBA_BACKEND_PLAN_PLAN_LEVELS_H

#include "backend/plan/plan_internal.h"

/* What may take more PMUs than one for each slot: rings, and slots that are spread. */
typedef enum { SAMBA_LEVELS_PLAIN, SAMBA_LEVELS_SPREAD, SAMBA_LEVELS_RINGS } SambaLevelsUse;

/* Chooses levels and depths of all operands that move the fewest bytes, with what `use` and those
 * before it allow, and settles the nest. False when a slot of one of them fits no PMU. */
bool sambaPlanChooseLevels(const SambaGroupLimits *limits, SambaTileNest *nest, SambaLevelsUse use);

#endif
