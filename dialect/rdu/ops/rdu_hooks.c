/* Which C bodies each rdu op has: a section is read whole as the adapters read it, with its units
 * and routes, and checked. */
#include "dialect/rdu/ops/rdu_hooks.h"

#include "dialect/rdu/rdu.h"
#include "dialect/rdu/rdu_types.h"
#include "dialect/rdu/section/known_section.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"

static bool verifySection(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  MlirAttribute machine = sambaOperationAttribute(op, "machine");
  if (!mlirAttributeIsNull(machine) && !sambaAttributeIs(machine, SAMBA_MACHINE_KIND))
    return sambaEmitOpError(op, "attribute 'machine' must be #rdu.machine<...>");
  MlirOperation fault = op;
  SambaStatus status = sambaKnownSectionVerify(op, &fault);
  return !status || sambaEmitOpStatus(fault, status);
}

/* A call of a section that was converted: the symbols are the call's operands without argins, then
 * its results, with as many elements. */
static bool verifyCall(MlirOperation callee, MlirOperation call) {
  SambaStringRef name =
      sambaFromMlir(mlirStringAttrGetValue(sambaOperationAttribute(callee, "sym_name")));
  MlirType type = mlirTypeAttrGetValue(sambaOperationAttribute(callee, "function_type"));
  intptr_t all = mlirOperationGetNumOperands(call);
  intptr_t operands = 0;
  intptr_t results = mlirOperationGetNumResults(call);

  for (intptr_t i = 0; i < all; ++i)
    operands += !sambaValueIsArgin(mlirOperationGetOperand(call, i));
  if (operands + results != mlirFunctionTypeGetNumInputs(type))
    return sambaEmitOpError(call, "has %lld operands and %lld results, but @%.*s has %lld symbols",
                            (long long)operands, (long long)results, SAMBA_STRING_ARGS(name),
                            (long long)mlirFunctionTypeGetNumInputs(type));

  intptr_t next = 0;
  for (intptr_t i = 0; i < all + results; ++i) {
    MlirValue value =
        i < all ? mlirOperationGetOperand(call, i) : mlirOperationGetResult(call, i - all);
    if (sambaValueIsArgin(value))
      continue;
    MlirType symbol = mlirFunctionTypeGetInput(type, next++);
    MlirType tensor = mlirValueGetType(value);
    int64_t wanted = 1, given = 1;
    for (intptr_t a = 0; a < sambaRduTypeRank(symbol); ++a)
      wanted *= sambaRduTypeDim(symbol, a);
    for (intptr_t a = 0; a < mlirShapedTypeGetRank(tensor); ++a)
      given *= mlirShapedTypeGetDimSize(tensor, a);
    if (wanted != given ||
        !mlirTypeEqual(sambaRduTypeElement(symbol), mlirShapedTypeGetElementType(tensor)))
      return sambaEmitOpError(call, "%s %lld does not have the elements of symbol %lld of @%.*s",
                              i < all ? "operand" : "result", (long long)(i < all ? i : i - all),
                              (long long)next - 1, SAMBA_STRING_ARGS(name));
  }

  return true;
}

static const SambaOpHooks hooksOfOps[] = {
    {.name = {"rdu.section", 11}, .verify = verifySection, .verify_call = verifyCall},
};

static SambaOpHooks findOp(MlirStringRef name) {
  for (size_t i = 0; i < sizeof hooksOfOps / sizeof *hooksOfOps; ++i)
    if (mlirStringRefEqual(name, hooksOfOps[i].name))
      return hooksOfOps[i];
  return (SambaOpHooks){.name = name};
}

const SambaDialectHooks sambaRduHooks = {
    findOp,
    sambaVerifyRduAttribute,
    sambaCheckRduAttribute,
};
