/* What the graph passes share: functions, arguments, walking; kinds of operations by kind.h. */
#ifndef SAMBA_DIALECT_SAMBA_GRAPH_H
#define SAMBA_DIALECT_SAMBA_GRAPH_H

#include "dialect/samba/kind.h"
#include "support/base/status.h"

#include "mlir-c/IR.h"

/* What the graph or section says of the value under that name; null: nothing, or it is no argument.
 */
MlirAttribute sambaArgumentAttribute(MlirValue value, const char *name);
/* An argument of a graph or section that is a scalar given at each launch (samba.kind = "argin").
 */
bool sambaValueIsArgin(MlirValue value);
/* The body of a module or function; null for a declaration. */
MlirBlock sambaBodyOf(MlirOperation operation);

/* A function with a body: a traced graph. Declarations are none. */
bool sambaOperationIsGraph(MlirOperation operation);
/* Whether the graph around the operation, or which it is, is for training (samba.graph). */
bool sambaGraphTrains(MlirOperation operation);
/* What every graph pass relies on, of every graph of a module: one block of operations that
 * kind.h knows and func.return, arguments and results that are tensors of Samba. Emits an error
 * that names the first offender otherwise. */
bool sambaModuleCheckGraphs(MlirOperation module);
/* A module that becomes a PEF has a graph. */
SambaStatus sambaModuleCheckAnyGraph(MlirOperation module);
/* Puts the graphs into the order of samba.graphs, which lists all of them; without it they stay as
 * they stand. */
SambaStatus sambaModuleOrderGraphs(MlirOperation module);

#endif
