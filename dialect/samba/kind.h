/* What an operation of a graph or of a section is: the one place that says so for samba operations
 * and for those of tensor, linalg and arith beside them. */
#ifndef SAMBA_DIALECT_SAMBA_KIND_H
#define SAMBA_DIALECT_SAMBA_KIND_H

#include "support/text/string_ref.h"

#include "mlir-c/IR.h"

bool sambaOperationIs(MlirOperation operation, const char *name);
/* "linear" for samba.linear; empty for operations of other dialects. */
SambaStringRef sambaOperatorNameOf(MlirOperation operation);

/* It computes tensors: a samba operation with a row that is no view, a structured operation, a
 * tensor.insert_slice. Sections are made of these. */
bool sambaOperationIsOperator(MlirOperation operation);
/* An operation of linalg with a body: linalg.generic and the named ones; linalg.fill with a value
 * that is no constant. */
bool sambaOperationIsStructured(MlirOperation operation);
/* It moves no data: a view of the operator table, tensor.collapse_shape, expand_shape,
 * extract_slice, cast and pad, and tensor.extract at constant places. Operand 0 is what is
 * viewed. */
bool sambaOperationIsView(MlirOperation operation);
/* A view that has the elements of its operand in the same order, in another shape. */
bool sambaOperationIsReshape(MlirOperation operation);

/* It says how tensors lie in memory between sections, and no section computes it: samba.stack and
 * samba.unstack. */
bool sambaOperationIsPlacement(MlirOperation operation);

/* samba.constant, or arith.constant of a tensor. */
bool sambaOperationIsConstant(MlirOperation operation);
/* It makes one repeated value: a constant, a linalg.fill, or a linalg.generic that does the same.
 */
bool sambaOperationIsSplat(MlirOperation operation);
/* The value of such an operation: a dense splat of the type of its result; else null. */
MlirAttribute sambaSplatValue(MlirOperation operation);
/* Whoever reads it makes one for himself, no memory is needed: a splat, a scalar, a tensor.empty.
 */
bool sambaOperationIsSource(MlirOperation operation);

/* The operation that makes the value, null for block arguments. */
MlirOperation sambaDefiningOperation(MlirValue value);

/* Who uses the value, as an operation of the block in which the value is made: one whose region
 * uses it uses it. */
MlirOperation sambaUserInBlockOf(MlirValue value, MlirOpOperand use);

/* Calls `map` for each value that the operation reads - operands, and what its regions take from
 * outside - and has it read what that returns. */
typedef MlirValue (*SambaMapValue)(MlirValue value, void *user);
void sambaMapInputs(MlirOperation operation, SambaMapValue map, void *user);

#endif
