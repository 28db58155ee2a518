/* The samba dialect as the registry and its generated classes (register.cpp) see it. */
#ifndef SAMBA_DIALECT_SAMBA_OPS_SAMBA_HOOKS_H
#define SAMBA_DIALECT_SAMBA_OPS_SAMBA_HOOKS_H

#include "dialect/bridge/hooks.h"

#include "mlir-c/Rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const SambaDialectHooks sambaHooks;
/* Whether a samba.call may call the op; callee is null when the symbol does not exist. */
bool sambaVerifyCallee(MlirOperation call, MlirOperation callee);

/* Adds what a fold cannot say because a new operation is needed. */
void sambaAddPatterns(MlirContext context, MlirRewritePatternSet set);

void sambaInsertSamba(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif
#endif
