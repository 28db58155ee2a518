/* Building operations; see build_operation.h. */
#include "dialect/bridge/build_operation.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

MlirOperation sambaBuildOperation(const SambaOperationParts *parts) {
  MlirOperationState state = mlirOperationStateGet(sambaMlirString(parts->name), parts->location);
  mlirOperationStateAddOperands(&state, parts->operand_count, parts->operands);
  mlirOperationStateAddAttributes(&state, parts->attribute_count, parts->attributes);
  if (parts->region_count)
    mlirOperationStateAddOwnedRegions(&state, parts->region_count, parts->regions);
  if (parts->result_count < 0)
    mlirOperationStateEnableResultTypeInference(&state);
  else
    mlirOperationStateAddResults(&state, parts->result_count, parts->results);
  return mlirOperationCreate(&state);
}

MlirOperation sambaBuildOperationIn(MlirBlock block, MlirOperation before,
                                    const SambaOperationParts *parts) {
  MlirOperation operation = sambaBuildOperation(parts);
  if (!mlirOperationIsNull(operation)) {
    if (mlirOperationIsNull(before))
      mlirBlockAppendOwnedOperation(block, operation);
    else
      mlirBlockInsertOwnedOperationBefore(block, before, operation);
  }
  return operation;
}

MlirValue sambaBuildUnaryOrMore(MlirBlock block, MlirOperation before, MlirLocation location,
                                const char *name, intptr_t operand_count, const MlirValue *operands,
                                MlirType result) {
  SambaOperationParts parts = {.name = name,
                               .location = location,
                               .operand_count = operand_count,
                               .operands = operands,
                               .result_count = 1,
                               .results = &result};
  return mlirOperationGetResult(sambaBuildOperationIn(block, before, &parts), 0);
}

MlirValue sambaBuildConstant(MlirBlock block, MlirOperation before, MlirLocation location,
                             MlirAttribute value) {
  MlirType type = mlirAttributeGetType(value);
  MlirNamedAttribute attribute = mlirNamedAttributeGet(
      mlirIdentifierGet(mlirLocationGetContext(location), sambaMlirString("value")), value);
  SambaOperationParts parts = {.name = "arith.constant",
                               .location = location,
                               .result_count = 1,
                               .results = &type,
                               .attribute_count = 1,
                               .attributes = &attribute};
  return mlirOperationGetResult(sambaBuildOperationIn(block, before, &parts), 0);
}

SambaStringRef sambaLayerOfLocation(MlirLocation location) {
  while (!mlirLocationIsNull(location)) {
    if (mlirLocationIsAName(location)) {
      MlirStringRef name = mlirIdentifierStr(mlirLocationNameGetName(location));
      return (SambaStringRef){name.data, name.length};
    }
    if (!mlirLocationIsAFused(location) || mlirLocationFusedGetNumLocations(location) == 0)
      break;
    MlirLocation first[1];
    if (mlirLocationFusedGetNumLocations(location) > 1)
      break;
    mlirLocationFusedGetLocations(location, first);
    location = first[0];
  }

  return (SambaStringRef){"", 0};
}

void sambaAppendPlace(MlirLocation location, SambaText *out) {
  while (!mlirLocationIsNull(location) && !mlirLocationIsAFileLineColRange(location)) {
    if (mlirLocationIsAName(location)) {
      location = mlirLocationNameGetChildLoc(location);
    } else if (mlirLocationIsACallSite(location)) {
      location = mlirLocationCallSiteGetCallee(location);
    } else if (mlirLocationIsAFused(location) && mlirLocationFusedGetNumLocations(location) == 1) {
      MlirLocation only;
      mlirLocationFusedGetLocations(location, &only);
      location = only;
    } else {
      return;
    }
  }
  if (mlirLocationIsNull(location))
    return;

  MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
  int line = mlirLocationFileLineColRangeGetStartLine(location);
  int column = mlirLocationFileLineColRangeGetStartColumn(location);
  if (column)
    sambaTextFormat(out, "%.*s:%d:%d: ", (int)file.length, file.data, line, column);
  else /* as the importer places nodes */
    sambaTextFormat(out, "%.*s: node %d: ", (int)file.length, file.data, line);
}
