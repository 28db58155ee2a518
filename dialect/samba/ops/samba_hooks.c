/* Which C bodies each op has: rows for the ops with structure of their own, the operator table for
 * all others. */
#include "dialect/samba/ops/samba_hooks.h"

#include "dialect/samba/ops/hook_functions.h"

#include "dialect/samba/samba.h"

static const SambaOpHooks structures[] = {
    {.name = {"samba.constant", 14},
     .result_count = 1,
     .verify = sambaVerifyConstant,
     .infer = sambaInferConstant,
     .fold = sambaFoldConstant},
    {.name = {"samba.section", 13},
     .verify = sambaVerifySection,
     .verify_call = sambaVerifySectionCall},
    {.name = {"samba.call", 10}, .verify = sambaVerifyCallOp},
    {.name = {"samba.yield", 11}, .verify = sambaVerifyYield},
    {.name = {"samba.stack", 11}, .verify = sambaVerifyStack},
    {.name = {"samba.unstack", 13}, .verify = sambaVerifyUnstack},
};

static SambaOpHooks findOp(MlirStringRef name) {
  for (size_t i = 0; i < sizeof structures / sizeof *structures; ++i)
    if (mlirStringRefEqual(name, structures[i].name))
      return structures[i];
  SambaOpHooks hooks = {.name = name,
                        .verify = sambaVerifyOperator,
                        .infer = sambaInferOperator,
                        .fold = sambaFoldOperator};
  hooks.folds = sambaFoldFind(name);
  if (!hooks.folds)
    hooks.fold = NULL;
  const SambaOperator *operator =
      sambaOperatorFind((SambaStringRef){name.data + 6, name.length - 6});
  hooks.data = operator;
  hooks.result_count = operator ? sambaOperatorResults(operator) : 1;

  return hooks;
}

const SambaDialectHooks sambaHooks = {
    findOp,
    sambaVerifySambaAttribute,
    sambaCheckSambaAttribute,
};

bool sambaVerifyCallee(MlirOperation call, MlirOperation callee) {
  SambaOpHooks hooks = {0};
  if (!mlirOperationIsNull(callee)) {
    MlirStringRef name = sambaOperationName(callee);
    const SambaDialectHooks *dialect = sambaDialectHooks(mlirOperationGetContext(callee), name);
    hooks = dialect ? dialect->find_op(name) : hooks;
  }
  if (hooks.verify_call)
    return hooks.verify_call(callee, call);

  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(sambaOperationAttribute(call, "callee"));
  return sambaEmitOpError(call, "there is no samba.section @%.*s", SAMBA_MLIR_STRING_ARGS(name));
}
