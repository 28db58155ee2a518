/* Calls of an expansion (table/calls/expansion.h) as operations. */
#ifndef SAMBA_DIALECT_SAMBA_BUILD_EXPANSION_H
#define SAMBA_DIALECT_SAMBA_BUILD_EXPANSION_H

#include "dialect/samba/table/calls/expansion.h"

#include "mlir-c/IR.h"

/* Builds step number `step` before an operation of the block. values[v] is the value of the
 * expansion's v; those of the step's results are filled. attributes: what the operation carries
 * besides those of the call; a constant has none. False after an error was emitted. */
bool sambaExpansionBuildStep(const SambaExpansion *expansion, size_t step, MlirOperation before,
                             MlirLocation location, intptr_t attribute_count,
                             const MlirNamedAttribute *attributes, MlirValue *values);

/* Replaces a call of a composite operator by the calls that it is made of, in its place, with its
 * location and phase. False after an error was emitted. */
bool sambaOperationDecompose(MlirOperation operation);

#endif
