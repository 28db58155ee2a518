/* Regions, gradients and masters in the interface of a graph; see interface_attributes.h. */
#include "dialect/samba/ops/interface_attributes.h"

#include "dialect/samba/samba.h"
#include "support/container/pointer_map.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

/* A graph whose results are looked at. */
typedef struct Interface {
  MlirOperation op;
  MlirType function;
  MlirAttribute arguments, results; /* lists of dictionaries, or null */
} Interface;

static MlirAttribute find(MlirAttribute list, intptr_t index, const char *name) {
  if (mlirAttributeIsNull(list) || !mlirAttributeIsAArray(list) ||
      index >= mlirArrayAttrGetNumElements(list))
    return mlirAttributeGetNull();
  return sambaDictionaryFind(mlirArrayAttrGetElement(list, index), name);
}

/* False when there is nothing to do: an earlier one of the list has the attribute too. */
static bool read(MlirOperation op, const char *list, const char *name, unsigned index,
                 Interface *out) {
  MlirAttribute type = sambaOperationAttribute(op, "function_type");
  if (mlirAttributeIsNull(type))
    return false;
  *out = (Interface){.op = op,
                     .function = mlirTypeAttrGetValue(type),
                     .arguments = sambaOperationAttribute(op, "arg_attrs"),
                     .results = sambaOperationAttribute(op, "res_attrs")};
  MlirAttribute entries = sambaOperationAttribute(op, list);
  for (intptr_t earlier = index; earlier-- > 0;)
    if (!mlirAttributeIsNull(find(entries, earlier, name)))
      return false;
  return true;
}

static MlirAttribute regionOfArgument(const Interface *graph, intptr_t index) {
  MlirAttribute region = find(graph->arguments, index, SAMBA_REGION_ATTRIBUTE);
  return mlirAttributeIsNull(region) ? find(graph->arguments, index, SAMBA_NAME_ATTRIBUTE) : region;
}

/* The text that number `index` of a list has under the name; null: none, or others refuse it. */
static MlirAttribute textOf(MlirAttribute list, intptr_t index, const char *name) {
  MlirAttribute text = find(list, index, name);
  bool fits = !mlirAttributeIsNull(text) && mlirAttributeIsAString(text);
  return fits ? text : mlirAttributeGetNull();
}

/* Attributes are unique in a context: equal names are the same pointer. */
bool sambaVerifyResultRegions(MlirOperation op, unsigned index) {
  Interface graph;
  if (!read(op, "res_attrs", SAMBA_REGION_ATTRIBUTE, index, &graph))
    return true;
  SambaPointerMap owners = {0}; /* region -> its first argument */
  SambaPointerMap others = {0}; /* region -> the first that has another type than that one */
  uint32_t argument;
  for (uint32_t i = 0; i < (uint32_t)mlirFunctionTypeGetNumInputs(graph.function); ++i) {
    const void *region = regionOfArgument(&graph, i).ptr;
    if (!mlirAttributeIsNull(find(graph.arguments, i, SAMBA_BLOCK_ATTRIBUTE)))
      continue; /* lies in a part of the result */
    MlirType type = mlirFunctionTypeGetInput(graph.function, i);
    if (region && !sambaPointerMapGet(&owners, region, &argument))
      sambaPointerMapSet(&owners, region, i);
    else if (region && !mlirTypeEqual(mlirFunctionTypeGetInput(graph.function, argument), type) &&
             !sambaPointerMapGet(&others, region, &argument))
      sambaPointerMapSet(&others, region, i);
  }

  bool fine = true;
  for (intptr_t r = index; r < mlirFunctionTypeGetNumResults(graph.function) && fine; ++r) {
    MlirAttribute region = textOf(graph.results, r, SAMBA_REGION_ATTRIBUTE);
    if (!region.ptr || !sambaPointerMapGet(&owners, region.ptr, &argument) ||
        (mlirTypeEqual(mlirFunctionTypeGetInput(graph.function, argument),
                       mlirFunctionTypeGetResult(graph.function, r)) &&
         !sambaPointerMapGet(&others, region.ptr, &argument)))
      continue;
    fine = sambaEmitOpError(
        op, "result %lld writes region '%.*s' of argument %u, but does not have its type",
        (long long)r, SAMBA_MLIR_STRING_ARGS(mlirStringAttrGetValue(region)), argument);
  }

  sambaPointerMapFree(&owners);
  sambaPointerMapFree(&others);
  return fine;
}

/* What is wrong with the types themselves is said elsewhere. */
static bool haveOneShape(MlirType left, MlirType right) {
  SambaTensorType a, b;
  SambaStatus status = sambaTensorTypeFromMlir(left, &a);
  if (!status)
    status = sambaTensorTypeFromMlir(right, &b);
  bool same = status || (a.rank == b.rank && memcmp(a.dims, b.dims, a.rank * sizeof *a.dims) == 0);
  sambaStatusFree(status);
  return same;
}

/* The type itself where it has no elements, which others refuse. */
static MlirType elementOf(MlirType type) {
  return mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type;
}

/* Name -> its first argument. */
static void nameArguments(const Interface *graph, SambaPointerMap *owners) {
  uint32_t argument;
  for (uint32_t i = 0; i < (uint32_t)mlirFunctionTypeGetNumInputs(graph->function); ++i) {
    const void *name = find(graph->arguments, i, SAMBA_NAME_ATTRIBUTE).ptr;
    if (name && !sambaPointerMapGet(owners, name, &argument))
      sambaPointerMapSet(owners, name, i);
  }
}

bool sambaVerifyResultGradients(MlirOperation op, unsigned index) {
  Interface graph;
  if (!read(op, "res_attrs", SAMBA_GRAD_OF_ATTRIBUTE, index, &graph))
    return true;
  SambaPointerMap owners = {0};
  uint32_t argument;
  nameArguments(&graph, &owners);

  bool fine = true;
  for (intptr_t r = index; r < mlirFunctionTypeGetNumResults(graph.function) && fine; ++r) {
    MlirAttribute of = textOf(graph.results, r, SAMBA_GRAD_OF_ATTRIBUTE);
    if (!of.ptr)
      continue;
    if (!sambaPointerMapGet(&owners, of.ptr, &argument))
      fine = sambaEmitOpError(
          op, "result %lld: samba.grad_of names '%.*s', but no argument has this name",
          (long long)r, SAMBA_MLIR_STRING_ARGS(mlirStringAttrGetValue(of)));
    else if (!haveOneShape(mlirFunctionTypeGetInput(graph.function, argument),
                           mlirFunctionTypeGetResult(graph.function, r)))
      fine = sambaEmitOpError(
          op, "result %lld is the gradient of argument '%.*s', but does not have its shape",
          (long long)r, SAMBA_MLIR_STRING_ARGS(mlirStringAttrGetValue(of)));
  }

  sambaPointerMapFree(&owners);
  return fine;
}

bool sambaVerifyMasters(MlirOperation op, unsigned index) {
  Interface graph;
  if (!read(op, "arg_attrs", SAMBA_MASTER_ATTRIBUTE, index, &graph))
    return true;
  SambaPointerMap owners = {0};
  nameArguments(&graph, &owners);

  bool fine = true;
  for (intptr_t a = index; a < mlirFunctionTypeGetNumInputs(graph.function) && fine; ++a) {
    MlirAttribute name = textOf(graph.arguments, a, SAMBA_MASTER_ATTRIBUTE);
    uint32_t master;
    if (!name.ptr)
      continue;
    if (!sambaPointerMapGet(&owners, name.ptr, &master))
      fine = sambaEmitOpError(
          op, "argument %lld: samba.master names '%.*s', but no argument has this name",
          (long long)a, SAMBA_MLIR_STRING_ARGS(mlirStringAttrGetValue(name)));
    else if (!mlirTypeIsAF32(elementOf(mlirFunctionTypeGetInput(graph.function, master))) ||
             !haveOneShape(mlirFunctionTypeGetInput(graph.function, a),
                           mlirFunctionTypeGetInput(graph.function, master)))
      fine =
          sambaEmitOpError(op, "argument %lld has the master '%.*s', which is no f32 of its shape",
                           (long long)a, SAMBA_MLIR_STRING_ARGS(mlirStringAttrGetValue(name)));
  }

  sambaPointerMapFree(&owners);
  return fine;
}
