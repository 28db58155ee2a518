/* Regions of a graph; see regions.h. */
#include "dialect/rdu/regions.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

MlirAttribute sambaFunctionAttribute(MlirOperation function, const char *list, intptr_t index,
                                     const char *name) {
  MlirAttribute all = sambaOperationAttribute(function, list);
  if (mlirAttributeIsNull(all) || index < 0 || index >= mlirArrayAttrGetNumElements(all))
    return mlirAttributeGetNull();
  return mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, index),
                                            sambaMlirString(name));
}

static SambaStringRef textOf(MlirAttribute attribute) {
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAString(attribute))
    return (SambaStringRef){NULL, 0};
  return sambaFromMlir(mlirStringAttrGetValue(attribute));
}

void sambaRegionsRead(MlirOperation function, SambaRegions *out_regions) {
  MlirBlock body = sambaBodyOf(function);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    SambaStringRef name =
        textOf(sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_NAME_ATTRIBUTE));
    SambaStringRef region =
        textOf(sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_REGION_ATTRIBUTE));
    bool first =
        name.size && sambaStringMapInsert(&out_regions->argument_named, name, (uint32_t)i, NULL);
    if (!region.size && first)
      region = name;
    if (region.size)
      sambaStringMapInsert(&out_regions->argument_in, region, (uint32_t)i, NULL);
    sambaArrayAppend(&out_regions->of_argument, region);
  }

  intptr_t results = mlirOperationGetNumOperands(mlirBlockGetTerminator(body));
  for (intptr_t i = 0; i < results; ++i) {
    SambaStringRef region = sambaRegionOfResult(function, i);
    if (region.size)
      sambaStringMapInsert(&out_regions->result_in, region, (uint32_t)i, NULL);
  }
}

void sambaRegionsFree(SambaRegions *regions) {
  sambaArrayFree(&regions->of_argument);
  sambaStringMapFree(&regions->argument_named);
  sambaStringMapFree(&regions->argument_in);
  sambaStringMapFree(&regions->result_in);
  *regions = (SambaRegions){0};
}

SambaStringRef sambaRegionOfResult(MlirOperation function, intptr_t index) {
  return textOf(sambaFunctionAttribute(function, "res_attrs", index, SAMBA_REGION_ATTRIBUTE));
}

intptr_t sambaGraphResultOf(MlirOperation function, MlirValue value) {
  MlirOperation terminator = mlirBlockGetTerminator(sambaBodyOf(function));
  intptr_t first = -1;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    intptr_t index = (intptr_t)mlirOpOperandGetOperandNumber(use);
    if (mlirOperationEqual(mlirOpOperandGetOwner(use), terminator) && (first < 0 || index < first))
      first = index;
  }
  return first;
}

SambaStringRef sambaRegionOfCallResult(MlirOperation function, MlirOperation call,
                                       intptr_t result) {
  MlirAttribute regions =
      mlirOperationGetDiscardableAttributeByName(call, sambaMlirString(SAMBA_REGIONS_ATTRIBUTE));
  if (!mlirAttributeIsNull(regions) && mlirAttributeIsAArray(regions) &&
      result < mlirArrayAttrGetNumElements(regions)) {
    SambaStringRef given = textOf(mlirArrayAttrGetElement(regions, result));
    if (given.size)
      return given;
  }
  intptr_t output = sambaGraphResultOf(function, mlirOperationGetResult(call, result));
  return output < 0 ? (SambaStringRef){NULL, 0} : sambaRegionOfResult(function, output);
}

SambaStatus sambaVisitGraphResults(MlirOperation function, MlirValue value,
                                   SambaVisitGraphResult visit, void *user) {
  intptr_t result = sambaGraphResultOf(function, value);
  if (result >= 0)
    SAMBA_RETURN_IF_ERROR(visit(user, result));

  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation unstack = sambaUserInBlockOf(value, use);
    if (!sambaOperationIs(unstack, "samba.unstack"))
      continue;
    for (intptr_t p = 0; p < mlirOperationGetNumResults(unstack); ++p)
      SAMBA_RETURN_IF_ERROR(
          sambaVisitGraphResults(function, mlirOperationGetResult(unstack, p), visit, user));
  }
  return NULL;
}

static SambaStatus noteResult(void *user, intptr_t result) {
  (void)result;
  *(bool *)user = true;
  return NULL;
}

bool sambaGraphReturns(MlirOperation function, MlirValue value) {
  bool returns = false;
  sambaStatusFree(sambaVisitGraphResults(function, value, noteResult, &returns));
  return returns;
}
