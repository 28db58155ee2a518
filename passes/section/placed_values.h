/* What operators take by way of samba.stack and samba.unstack. It has to be in memory, where its
 * parts lie side by side, so a section has none of the operators that make it. */
#ifndef SAMBA_PASSES_SECTION_PLACED_VALUES_H
#define SAMBA_PASSES_SECTION_PLACED_VALUES_H

#include "mlir-c/IR.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the reader takes something of the maker's that way, through views or not. */
bool sambaTakesPlaced(MlirOperation reader, MlirOperation maker);
/* Whether it does of any operator of its phase: others are in other sections anyhow. */
bool sambaTakesPlacedOfPhase(MlirOperation reader);

/* Whether a section that goes on with operators[index] might have one whose results this one takes
 * that way: of operators in a row that take others' the first one is a border. */
bool sambaBordersByPlaces(const MlirOperation *operators, uint32_t index);

#endif
