/* Sections, their calls and yields, and tensors that lie in others: verification. */
#include "dialect/samba/graph.h"
#include "dialect/samba/ops/hook_functions.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinTypes.h"

bool sambaVerifySection(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  MlirAttribute machine = sambaOperationAttribute(op, "machine");
  if (!mlirAttributeIsNull(machine) && !sambaAttributeIs(machine, SAMBA_MACHINE_KIND))
    return sambaEmitOpError(op, "attribute 'machine' must be #rdu.machine<...>");
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(op));
  MlirOperation last = mlirBlockGetTerminator(block);
  if (mlirOperationIsNull(last) ||
      !sambaStringRefEqualC(sambaFromMlir(sambaOperationName(last)), "samba.yield"))
    return sambaEmitOpError(op, "must end with samba.yield");
  return true;
}

bool sambaVerifyYield(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  MlirOperation section = mlirOperationGetParentOperation(op);
  MlirType type = mlirTypeAttrGetValue(sambaOperationAttribute(section, "function_type"));
  intptr_t count = mlirOperationGetNumOperands(op);
  if (count != mlirFunctionTypeGetNumResults(type))
    return sambaEmitOpError(op, "yields %lld values, but its section has %lld results",
                            (long long)count, (long long)mlirFunctionTypeGetNumResults(type));
  for (intptr_t i = 0; i < count; ++i)
    if (!mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(op, i)),
                       mlirFunctionTypeGetResult(type, i)))
      return sambaEmitOpError(op, "value %lld does not have the type of the section's result",
                              (long long)i);
  return true;
}

bool sambaVerifyCallOp(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  static const char *const types[] = {"ZEROGRAD", "FWD", "BCKWD", "OPT", "REDUCE", "GRADNORM"};
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (!mlirOperationIsNull(parent) &&
      sambaStringRefEqualC(sambaFromMlir(sambaOperationName(parent)), "samba.section"))
    return sambaEmitOpError(op,
                            "stands in a samba.section; only a graph (func.func) calls sections");
  int64_t id = mlirIntegerAttrGetValueInt(sambaOperationAttribute(op, "id"));
  if (id < 0 || id > INT32_MAX)
    return sambaEmitOpError(op, "attribute 'id' is %lld, but must be 0 or more and fit 31 bits",
                            (long long)id);
  SambaStringRef type = sambaFromMlir(mlirStringAttrGetValue(sambaOperationAttribute(op, "type")));
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    if (sambaStringRefEqualC(type, types[i]))
      return true;
  return sambaEmitOpError(
      op, "attribute 'type' is \"%.*s\", but must be ZEROGRAD, FWD, BCKWD, OPT, REDUCE or GRADNORM",
      SAMBA_STRING_ARGS(type));
}

bool sambaVerifySectionCall(MlirOperation callee, MlirOperation call) {
  SambaStringRef name =
      sambaFromMlir(mlirStringAttrGetValue(sambaOperationAttribute(callee, "sym_name")));
  MlirType type = mlirTypeAttrGetValue(sambaOperationAttribute(callee, "function_type"));
  intptr_t operands = mlirOperationGetNumOperands(call);
  intptr_t results = mlirOperationGetNumResults(call);

  if (operands != mlirFunctionTypeGetNumInputs(type) ||
      results != mlirFunctionTypeGetNumResults(type))
    return sambaEmitOpError(call, "has %lld operands and %lld results, but @%.*s has %lld and %lld",
                            (long long)operands, (long long)results, SAMBA_STRING_ARGS(name),
                            (long long)mlirFunctionTypeGetNumInputs(type),
                            (long long)mlirFunctionTypeGetNumResults(type));
  for (intptr_t i = 0; i < operands; ++i)
    if (!mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(call, i)),
                       mlirFunctionTypeGetInput(type, i)))
      return sambaEmitOpError(call, "operand %lld does not have the type of argument %lld of @%.*s",
                              (long long)i, (long long)i, SAMBA_STRING_ARGS(name));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(callee));
  for (intptr_t i = 0; i < operands; ++i)
    if (sambaValueIsArgin(mlirOperationGetOperand(call, i)) !=
        sambaValueIsArgin(mlirBlockGetArgument(body, i)))
      return sambaEmitOpError(call,
                              "operand %lld and argument %lld of @%.*s must both be argins "
                              "(samba.kind = \"argin\") or both be tensors in memory",
                              (long long)i, (long long)i, SAMBA_STRING_ARGS(name));
  for (intptr_t i = 0; i < results; ++i)
    if (!mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(call, i)),
                       mlirFunctionTypeGetResult(type, i)))
      return sambaEmitOpError(call, "result %lld does not have the type of result %lld of @%.*s",
                              (long long)i, (long long)i, SAMBA_STRING_ARGS(name));
  return true;
}

/* Whether `count` values of the type are the whole, one after the other along its outermost axis.
 */
static bool isMadeOf(MlirType whole, MlirType part, intptr_t count) {
  intptr_t rank = mlirShapedTypeGetRank(part);
  bool fits =
      mlirShapedTypeGetRank(whole) == rank + 1 && mlirShapedTypeGetDimSize(whole, 0) == count &&
      mlirTypeEqual(mlirShapedTypeGetElementType(whole), mlirShapedTypeGetElementType(part));
  for (intptr_t axis = 0; axis < rank && fits; ++axis)
    fits = mlirShapedTypeGetDimSize(whole, axis + 1) == mlirShapedTypeGetDimSize(part, axis);
  return fits;
}

static bool verifyParts(MlirOperation op, MlirValue whole, intptr_t count,
                        MlirValue (*partOf)(MlirOperation op, intptr_t part)) {
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (!mlirOperationIsNull(parent) &&
      sambaStringRefEqualC(sambaFromMlir(sambaOperationName(parent)), "samba.section"))
    return sambaEmitOpError(op, "stands in a samba.section; a section is given what lies in memory "
                                "as one argument");
  if (count == 0)
    return sambaEmitOpError(op, "has no parts");
  for (intptr_t i = 0; i < count; ++i)
    if (!isMadeOf(mlirValueGetType(whole), mlirValueGetType(partOf(op, i)), count))
      return sambaEmitOpError(op,
                              "part %lld of %lld does not have the whole's type without its "
                              "outermost axis, or that axis does not have %lld places",
                              (long long)i, (long long)count, (long long)count);
  return true;
}

/* A part has one place: in one whole, which is no part. */
static bool verifyOperands(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirOperation maker = sambaDefiningOperation(mlirOperationGetOperand(op, i));
    if (!mlirOperationIsNull(maker) && sambaOperationIsPlacement(maker))
      return sambaEmitOpError(op,
                              "operand %lld comes from another samba.stack or samba.unstack, so it "
                              "has its place; take what an operator makes",
                              (long long)i);
  }
  return true;
}

bool sambaVerifyStack(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  return verifyParts(op, mlirOperationGetResult(op, 0), mlirOperationGetNumOperands(op),
                     mlirOperationGetOperand) &&
         verifyOperands(op);
}

bool sambaVerifyUnstack(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  return verifyParts(op, mlirOperationGetOperand(op, 0), mlirOperationGetNumResults(op),
                     mlirOperationGetResult) &&
         verifyOperands(op);
}
