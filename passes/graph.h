/* What the graph passes share: functions, names, views, walking. */
#ifndef SAMBA_PASSES_GRAPH_H
#define SAMBA_PASSES_GRAPH_H

#include "support/string_ref.h"

#include "mlir-c/IR.h"

bool sambaOperationIs(MlirOperation operation, const char *name);
/* "linear" for samba.linear; empty for operations of other dialects. */
SambaStringRef sambaOperatorNameOf(MlirOperation operation);
/* A samba operation that moves no data (operator table: view). */
bool sambaOperationIsView(MlirOperation operation);
/* samba.constant of one repeated value. */
bool sambaOperationIsSplat(MlirOperation operation);
/* The operation that makes the value, null for block arguments. */
MlirOperation sambaDefiningOperation(MlirValue value);
/* The first operation of the module's or function's body. */
MlirBlock sambaBodyOf(MlirOperation operation);

#endif
