/* Sections that failed; see failed_section.h. */
#include "dialect/rdu/failed_section.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

void sambaMarkFailedSection(MlirOperation section) {
  mlirOperationSetDiscardableAttributeByName(section, sambaMlirString(SAMBA_FAILED_ATTRIBUTE),
                                             mlirUnitAttrGet(mlirOperationGetContext(section)));
}

MlirOperation sambaFailedSection(MlirOperation module) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  while (!mlirOperationIsNull(operation) &&
         mlirAttributeIsNull(mlirOperationGetDiscardableAttributeByName(
             operation, sambaMlirString(SAMBA_FAILED_ATTRIBUTE))))
    operation = mlirOperationGetNextInBlock(operation);
  return operation;
}

uint32_t sambaParallelDivisor(MlirOperation operation) {
  MlirAttribute attribute = mlirOperationGetDiscardableAttributeByName(
      operation, sambaMlirString(SAMBA_PARALLEL_ATTRIBUTE));
  return mlirAttributeIsNull(attribute) ? 1 : (uint32_t)mlirIntegerAttrGetValueInt(attribute);
}

void sambaSetParallelDivisor(MlirOperation operation, uint32_t divisor) {
  MlirType type = mlirIntegerTypeGet(mlirOperationGetContext(operation), 64);
  mlirOperationSetDiscardableAttributeByName(operation, sambaMlirString(SAMBA_PARALLEL_ATTRIBUTE),
                                             mlirIntegerAttrGet(type, divisor));
}
