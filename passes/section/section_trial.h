/* Whether operators can be one section of a machine, and at what cost: planned and lowered, then
 * thrown away. */
#ifndef SAMBA_PASSES_SECTION_SECTION_TRIAL_H
#define SAMBA_PASSES_SECTION_SECTION_TRIAL_H

#include "backend/machine/machine.h"
#include "support/container/string_map.h"

#include "mlir-c/IR.h"

/* What was tried already, by the content of its stage graph: layers repeat, and what did not join
 * one section is tried again as the start of the next. Zero-initialize but for the machine; free at
 * the end. */
typedef struct SambaSectionTrial {
  bool fits;
  double cycles;
} SambaSectionTrial;
typedef struct SambaSectionTrials {
  const SambaMachine *machine;
  SambaArena keys;
  SambaStringMap by_graph; /* to an index of the list */
  SAMBA_ARRAY(SambaSectionTrial) list;
} SambaSectionTrials;
void sambaSectionTrialsFree(SambaSectionTrials *trials);

/* Estimated cycles of the operators, in the order of their block, with the views they read, as one
 * section with its launch; false when they cannot be one. */
bool sambaSectionTry(SambaSectionTrials *trials, const MlirOperation *operators, uint32_t count,
                     double *out_cycles);
/* Whether an operator can be a section by itself, its operands in memory as their types say. */
bool sambaOperatorFits(SambaSectionTrials *trials, MlirOperation operation);

#endif
