/* Whether operators can be one section of a machine, and at what cost. */
#ifndef SAMBA_PASSES_SECTION_SECTION_TRIAL_H
#define SAMBA_PASSES_SECTION_SECTION_TRIAL_H

#include "dialect/stages/known_plan.h"

/* What the operators, in the order of their block, with the views they read, cost as one section;
 * false when they cannot be one: why, which may be NULL, gets the reason. */
bool sambaSectionTry(const SambaPlanTarget *target, const MlirOperation *operators, uint32_t count,
                     SambaPlanCost *out_cost, SambaText *why);
/* Whether an operator can be a section by itself, its operands in memory as their types say. */
bool sambaOperatorFits(const SambaPlanTarget *target, MlirOperation operation);

#endif
