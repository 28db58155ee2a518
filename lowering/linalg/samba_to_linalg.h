/* Operators as the stages that they are made of, in linalg. */
#ifndef SAMBA_LOWERING_LINALG_SAMBA_TO_LINALG_H
#define SAMBA_LOWERING_LINALG_SAMBA_TO_LINALG_H

#include "mlir-c/IR.h"

#include <stdbool.h>

/* Every operator of a section or graph. whole: views too, and what indexes memory by values; else
 * these stay. False after an error was emitted. */
bool sambaOperatorsToLinalg(MlirOperation function, bool whole);

#endif
