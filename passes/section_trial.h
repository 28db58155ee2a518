/* Whether operators can be one section of a machine, and at what cost: planned and lowered, then thrown away. */
#ifndef SAMBA_PASSES_SECTION_TRIAL_H
#define SAMBA_PASSES_SECTION_TRIAL_H

#include "backend/machine/machine.h"

#include "mlir-c/IR.h"

/* Estimated cycles of the operators, in the order of their block, with the views they read, as one section with its
 * launch; false when they cannot be one. */
bool sambaSectionTry(const SambaMachine *machine, const MlirOperation *operators, uint32_t count, double *out_cycles);
/* Whether an operator can be a section by itself, its operands in memory as their types say. */
bool sambaOperatorFits(const SambaMachine *machine, MlirOperation operation);

#endif
