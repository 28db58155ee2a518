/* samba-append-in-place: what a graph appends to, such as a cache of keys, is not copied. The
 * argument lies in the memory of the result, with gaps for what is appended: nobody but the cat
 * reads it, so its place is ours to choose. */
#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "dialect/samba/match.h"
#include "dialect/samba/samba.h"
#include "dialect/samba/samba_attribute_names.h"
#include "passes/passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

/* Whether the memory of this argument or result is still to be chosen, and the user exchanges it
 * with the graph. */
static bool isFree(MlirAttribute dictionary, const char *kind) {
  static const char *const decided[] = {SAMBA_REGION_ATTRIBUTE, SAMBA_VALUE_ATTRIBUTE,
                                        SAMBA_MEMORY_ATTRIBUTE, SAMBA_BLOCK_ATTRIBUTE, NULL};
  SambaStringRef given = sambaInterfaceText(dictionary, SAMBA_KIND_ATTRIBUTE);
  bool found = given.size && !sambaStringRefEqualC(given, kind);
  for (const char *const *name = decided; *name; ++name)
    found |= !mlirAttributeIsNull(
        mlirDictionaryAttrGetElementByName(dictionary, sambaMlirString(*name)));
  return !found;
}

/* The results of the graph that are the value; out_last: one of them. */
static uint32_t timesReturned(const SambaInterface *interface, MlirValue value, size_t *out_last) {
  uint32_t times = 0;
  for (size_t r = 0; r < interface->returned.size; ++r)
    if (mlirValueEqual(interface->returned.data[r], value)) {
      ++times;
      *out_last = r;
    }
  return times;
}

/* The arguments that have the name: they are one memory. */
static uint32_t timesNamed(const SambaInterface *interface, SambaStringRef name) {
  uint32_t times = 0;
  for (size_t i = 0; i < interface->arguments.size; ++i)
    times += sambaStringRefEqual(
        sambaInterfaceText(interface->arguments.data[i], SAMBA_NAME_ATTRIBUTE), name);
  return times;
}

/* The cat's axis; -1: one of its operands has no elements, and so no place. */
static intptr_t axisOf(MlirOperation cat) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(cat, 0));
  int64_t axis = mlirIntegerAttrGetValueInt(sambaOperationAttribute(cat, "dim"));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(cat); ++i)
    for (intptr_t a = 0; a < mlirShapedTypeGetRank(type); ++a)
      if (sambaMatchSize(mlirOperationGetOperand(cat, i), a) == 0)
        return -1;
  return axis < 0 ? axis + mlirShapedTypeGetRank(type) : axis;
}

/* Argument number i, when it can lie where the result of a cat does: what the cat, which alone
 * reads it, appends to. */
static bool appendTo(SambaInterface *interface, size_t i) {
  MlirContext context = mlirOperationGetContext(interface->function);
  MlirValue argument = mlirBlockGetArgument(sambaBodyOf(interface->function), (intptr_t)i);
  MlirAttribute *dictionary = &interface->arguments.data[i];
  SambaStringRef name = sambaInterfaceText(*dictionary, SAMBA_NAME_ATTRIBUTE);
  MlirOpOperand use = mlirValueGetFirstUse(argument);
  size_t result = 0;
  if (!name.size || timesNamed(interface, name) != 1 || !isFree(*dictionary, "input") ||
      mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
    return false;

  MlirOperation cat = mlirOpOperandGetOwner(use);
  if (!sambaOperationIs(cat, "samba.cat") || mlirOpOperandGetOperandNumber(use) != 0 ||
      mlirOperationGetNumOperands(cat) < 2)
    return false;
  MlirValue whole = mlirOperationGetResult(cat, 0);
  intptr_t axis = axisOf(cat);
  if (axis < 0 || timesReturned(interface, whole, &result) != 1 ||
      !isFree(interface->results.data[result], "output"))
    return false;

  int64_t block[2] = {1, 1};
  for (intptr_t a = axis; a < sambaMatchRank(whole); ++a) {
    block[0] *= sambaMatchSize(argument, a);
    block[1] *= sambaMatchSize(whole, a);
  }
  MlirAttribute region = mlirStringAttrGet(context, sambaToMlir(name));
  sambaInterfaceSet(dictionary, SAMBA_REGION_ATTRIBUTE, region);
  sambaInterfaceSet(dictionary, SAMBA_BLOCK_ATTRIBUTE, mlirDenseI64ArrayGet(context, 2, block));
  sambaInterfaceSet(&interface->results.data[result], SAMBA_REGION_ATTRIBUTE, region);
  mlirOperationSetAttributeByName(cat, sambaMlirString("in_place"), mlirBoolAttrGet(context, true));
  return true;
}

bool sambaAppendInPlace(MlirOperation module) {
  MlirOperation graph = {NULL};
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIsGraph(operation))
      continue;
    if (!mlirOperationIsNull(graph))
      return true; /* graphs share memory by names: another one may read it */
    graph = operation;
  }
  if (mlirOperationIsNull(graph) || sambaGraphTrains(graph))
    return true;

  SambaInterface interface = {0};
  sambaInterfaceRead(graph, &interface);
  bool appended = false;
  for (size_t i = 0; i < interface.arguments.size; ++i)
    appended |= appendTo(&interface, i);
  if (appended)
    sambaInterfaceWrite(&interface);
  sambaInterfaceFree(&interface);
  return true;
}
