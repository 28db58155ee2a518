/* What C asks of C++: the few things that mlir-c does not have. */
#ifndef SAMBA_DIALECT_BRIDGE_BRIDGE_H
#define SAMBA_DIALECT_BRIDGE_BRIDGE_H

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Emits a diagnostic; notes become attached notes. */
void sambaDiagnose(MlirLocation location, MlirDiagnosticSeverity severity, MlirStringRef message,
                   intptr_t note_count, const MlirStringRef *notes);

/* An op's attribute by name, inherent or not; null when absent. */
static inline MlirAttribute sambaOperationAttribute(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
}
/* All attributes of an op, inherent ones included, as one dictionary. */
MlirAttribute sambaOperationAttributes(MlirOperation op);

/* The same for comparing: attributes that are not inherent, and a hash of the inherent ones, which
 * costs less than making a dictionary of them. */
MlirAttribute sambaOperationDiscardableAttributes(MlirOperation op);
uint64_t sambaOperationInherentHash(MlirOperation op);

/* Whether an attribute or type is of a kind, "dialect.mnemonic"; null is of none. */
bool sambaAttributeIs(MlirAttribute attribute, const char *kind);
bool sambaTypeIs(MlirType type, const char *kind);
/* The elements of a dense_resource as dense elements; null: it is none, or its data are missing. */
MlirAttribute sambaResourceToDense(MlirAttribute attribute);
/* What a type or attribute of ours is made of: each of them has one part. */
MlirType sambaTypePart(MlirType type);
MlirAttribute sambaAttributePart(MlirAttribute attribute);

#ifdef __cplusplus
}
#endif
#endif
