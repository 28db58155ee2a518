/* What MLIR has registered of a dialect, which mlir-c does not tell. */
#ifndef SAMBA_TEST_DIALECT_SAMBA_REGISTERED_OPERATIONS_H
#define SAMBA_TEST_DIALECT_SAMBA_REGISTERED_OPERATIONS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls back with the name of every op of a loaded dialect, and with the inherent attributes' names
 * of a registered op. */
void sambaDialectOperations(MlirContext context, MlirStringRef dialect,
                            void (*callback)(MlirStringRef, void *), void *user_data);
void sambaOperationAttributeNames(MlirContext context, MlirStringRef op,
                                  void (*callback)(MlirStringRef, void *), void *user_data);

#ifdef __cplusplus
}
#endif
#endif
