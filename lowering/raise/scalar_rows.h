/* Which operator of the table a scalar operation of arith or math is. */
#ifndef SAMBA_LOWERING_RAISE_SCALAR_ROWS_H
#define SAMBA_LOWERING_RAISE_SCALAR_ROWS_H

#include "lowering/raise/nest.h"

#include "mlir-c/IR.h"

/* Fills kind, dtype, operator and `inverted`; the operands are the operation's, in order. False:
 * no operator computes exactly that. */
bool sambaScalarFromOperation(MlirOperation operation, SambaScalar *out);

#endif
