/* Operations of linalg as nests. */
#ifndef SAMBA_LOWERING_RAISE_READ_NEST_H
#define SAMBA_LOWERING_RAISE_READ_NEST_H

#include "lowering/raise/nest.h"

#include "mlir-c/IR.h"

/* Reads a structured operation, generic or named, on static tensors. The operands become operands
 * of the expansion; out_values: per value of the expansion the one in IR. False: it is no such
 * operation, or has something that a nest cannot say. */
bool sambaNestRead(MlirOperation operation, SambaExpansion *expansion, SambaNest *out_nest,
                   MlirValue out_values[2 * SAMBA_MAX_NEST_OPERANDS]);
/* A splat: constant, linalg.fill of a constant, tensor.splat of one. Bits in the element type. */
bool sambaNestSplat(MlirValue value, SambaDType *out_dtype, uint64_t *out_bits);

#endif
