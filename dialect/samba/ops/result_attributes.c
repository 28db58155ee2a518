/* Regions and gradients of a graph's results; see result_attributes.h. */
#include "dialect/samba/ops/result_attributes.h"

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

/* False when there is nothing to do: another result before this one has the attribute too. */
static bool read(MlirOperation op, const char *name, unsigned index, Interface *out) {
  MlirAttribute type = sambaOperationAttribute(op, "function_type");
  if (mlirAttributeIsNull(type))
    return false;
  *out = (Interface){.op = op,
                     .function = mlirTypeAttrGetValue(type),
                     .arguments = sambaOperationAttribute(op, "arg_attrs"),
                     .results = sambaOperationAttribute(op, "res_attrs")};
  for (intptr_t earlier = index; earlier-- > 0;)
    if (!mlirAttributeIsNull(find(out->results, earlier, name)))
      return false;
  return true;
}

static MlirAttribute regionOfArgument(const Interface *graph, intptr_t index) {
  MlirAttribute region = find(graph->arguments, index, SAMBA_REGION_ATTRIBUTE);
  return mlirAttributeIsNull(region) ? find(graph->arguments, index, SAMBA_NAME_ATTRIBUTE) : region;
}

/* The text that result number `index` has under the name; null: none, or others refuse it. */
static MlirAttribute textOfResult(const Interface *graph, intptr_t index, const char *name) {
  MlirAttribute text = find(graph->results, index, name);
  bool fits = !mlirAttributeIsNull(text) && mlirAttributeIsAString(text);
  return fits ? text : mlirAttributeGetNull();
}

/* Attributes are unique in a context: equal names are the same pointer. */
bool sambaVerifyResultRegions(MlirOperation op, unsigned index) {
  Interface graph;
  if (!read(op, SAMBA_REGION_ATTRIBUTE, index, &graph))
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
    MlirAttribute region = textOfResult(&graph, r, SAMBA_REGION_ATTRIBUTE);
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

bool sambaVerifyResultGradients(MlirOperation op, unsigned index) {
  Interface graph;
  if (!read(op, SAMBA_GRAD_OF_ATTRIBUTE, index, &graph))
    return true;
  SambaPointerMap owners = {0}; /* name -> its first argument */
  uint32_t argument;
  for (uint32_t i = 0; i < (uint32_t)mlirFunctionTypeGetNumInputs(graph.function); ++i) {
    const void *name = find(graph.arguments, i, SAMBA_NAME_ATTRIBUTE).ptr;
    if (name && !sambaPointerMapGet(&owners, name, &argument))
      sambaPointerMapSet(&owners, name, i);
  }

  bool fine = true;
  for (intptr_t r = index; r < mlirFunctionTypeGetNumResults(graph.function) && fine; ++r) {
    MlirAttribute of = textOfResult(&graph, r, SAMBA_GRAD_OF_ATTRIBUTE);
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
