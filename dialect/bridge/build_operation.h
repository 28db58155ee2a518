/* Building operations through the C API in one call each. */
#ifndef SAMBA_DIALECT_BRIDGE_BUILD_OPERATION_H
#define SAMBA_DIALECT_BRIDGE_BUILD_OPERATION_H

#include "support/text/text.h"

#include "mlir-c/IR.h"

static inline MlirStringRef sambaMlirString(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

/* What an operation is made of; every array is borrowed for the call. Result types are inferred
 * when result_count < 0. */
typedef struct SambaOperationParts {
  const char *name;
  MlirLocation location;
  intptr_t operand_count;
  const MlirValue *operands;
  intptr_t result_count;
  const MlirType *results;
  intptr_t attribute_count;
  const MlirNamedAttribute *attributes;
  intptr_t region_count;
  MlirRegion *regions; /* taken */
} SambaOperationParts;

/* A detached operation, or null when inference failed (a diagnostic was emitted). */
MlirOperation sambaBuildOperation(const SambaOperationParts *parts);
/* Appends to the block (before the terminator `before` when that is not null). */
MlirOperation sambaBuildOperationIn(MlirBlock block, MlirOperation before,
                                    const SambaOperationParts *parts);
/* Creates an operation with one result and no attributes and appends it: most of a lane body. */
MlirValue sambaBuildUnaryOrMore(MlirBlock block, MlirOperation before, MlirLocation location,
                                const char *name, intptr_t operand_count, const MlirValue *operands,
                                MlirType result);
MlirValue sambaBuildConstant(MlirBlock block, MlirOperation before, MlirLocation location,
                             MlirAttribute value);

/* The user's layer: the outermost name of the location, "" when it has none. Borrowed from the
 * context. */
SambaStringRef sambaLayerOfLocation(MlirLocation location);
/* Appends "FILE:LINE:COLUMN: ", or "MODEL.onnx: node 3: " for what was imported; nothing for a
 * place in no file. */
void sambaAppendPlace(MlirLocation location, SambaText *out);

#endif
