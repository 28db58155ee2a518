/* The rdu dialect as the registry and its generated classes (register.cpp) see it. */
#ifndef SAMBA_DIALECT_RDU_OPS_RDU_HOOKS_H
#define SAMBA_DIALECT_RDU_OPS_RDU_HOOKS_H

#include "dialect/bridge/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const SambaDialectHooks sambaRduHooks;
void sambaInsertRdu(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif
#endif
