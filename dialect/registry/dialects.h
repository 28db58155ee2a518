/* All dialects that Samba works with. */
#ifndef SAMBA_DIALECT_REGISTRY_DIALECTS_H
#define SAMBA_DIALECT_REGISTRY_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inserts samba, rdu and the upstream dialects that our passes make into the registry. */
void sambaRegisterDialects(MlirDialectRegistry registry);
/* Of these, the ones of which our passes make operations. */
void sambaRegisterMadeDialects(MlirDialectRegistry registry);
/* Loads the same into a context, which may have others. */
void sambaLoadDialects(MlirContext context);

#ifdef __cplusplus
}
#endif
#endif
