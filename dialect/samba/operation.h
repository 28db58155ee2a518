/* samba operations as plain structs: what verifier, type inference, lowerings and passes hand to the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_OPERATION_H
#define SAMBA_DIALECT_SAMBA_OPERATION_H

#include "dialect/samba/table/operator.h"

#include "mlir-c/IR.h"

/* False when the type is not a static ranked tensor of a Samba dtype with at most SAMBA_MAX_RANK axes. */
bool sambaTensorTypeOfMlir(MlirType type, SambaTensorType *out_type);
MlirType sambaTensorTypeToMlir(MlirContext context, const SambaTensorType *type);

/* The call of a samba operation (arrays in the arena, strings borrowed from the context). Errors when the operation is not
 * in the table or an operand is not a tensor. */
SambaStatus sambaOperatorCallOfOperation(MlirOperation operation, SambaArena *arena, SambaOperatorCall *out_call);

/* The user's layer: the outermost name of the location ("" when it has none). Borrowed from the context. */
SambaStringRef sambaLayerOfLocation(MlirLocation location);

#endif
