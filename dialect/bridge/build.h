/* Building operations through the C API in one call each. */
#ifndef SAMBA_DIALECT_BRIDGE_BUILD_H
#define SAMBA_DIALECT_BRIDGE_BUILD_H

#include "support/dtype.h"

#include "mlir-c/IR.h"

static inline MlirStringRef sambaMlirString(const char *text) { return mlirStringRefCreateFromCString(text); }
static inline MlirNamedAttribute sambaNamedAttribute(MlirContext context, const char *name, MlirAttribute attribute) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, sambaMlirString(name)), attribute);
}

/* What an operation is made of; every array is borrowed for the call. Result types are inferred when result_count < 0. */
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
MlirOperation sambaOperationCreate(const SambaOperationParts *parts);
/* Appends to the block (before the terminator `before` when that is not null). */
MlirOperation sambaOperationAppend(MlirBlock block, MlirOperation before, const SambaOperationParts *parts);
/* Creates an operation with one result and no attributes and appends it: most of a lane body. */
MlirValue sambaBuildUnaryOrMore(MlirBlock block, MlirOperation before, MlirLocation location, const char *name,
                                intptr_t operand_count, const MlirValue *operands, MlirType result);
MlirValue sambaBuildConstant(MlirBlock block, MlirOperation before, MlirLocation location, MlirAttribute value);

/* Element types. ui8 maps to MLIR's ui8, the others to signless integers and floats. */
MlirType sambaMlirTypeOfDType(MlirContext context, SambaDType dtype);
SambaDType sambaDTypeOfMlirType(MlirType type); /* SAMBA_DTYPE_COUNT when Samba has no such type */

#endif
