/* Hooks of the samba dialect that samba_hooks.c lists, from the files of this folder. */
#ifndef SAMBA_DIALECT_SAMBA_OPS_HOOK_FUNCTIONS_H
#define SAMBA_DIALECT_SAMBA_OPS_HOOK_FUNCTIONS_H

#include "dialect/bridge/hooks.h"
#include "support/base/status.h"

const void *sambaFoldFind(MlirStringRef name); /* the op's row in the table of folds, or NULL */
bool sambaFoldOperator(const SambaOpHooks *hooks, MlirOperation op, const MlirAttribute *constants,
                       MlirValue *out_value, MlirAttribute *out_constant);
bool sambaVerifySection(const SambaOpHooks *hooks, MlirOperation op);
bool sambaVerifySectionCall(MlirOperation callee, MlirOperation call);
bool sambaVerifyCallOp(const SambaOpHooks *hooks, MlirOperation op);
bool sambaVerifyYield(const SambaOpHooks *hooks, MlirOperation op);
bool sambaVerifyStack(const SambaOpHooks *hooks, MlirOperation op);
bool sambaVerifyUnstack(const SambaOpHooks *hooks, MlirOperation op);
bool sambaVerifySambaAttribute(MlirOperation op, SambaAttributePlace place, unsigned index,
                               MlirNamedAttribute attribute);
SambaStatus sambaCheckSambaAttribute(MlirStringRef mnemonic, MlirStringRef head,
                                     MlirAttribute body);

#endif
