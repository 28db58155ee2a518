/* Building operations; see build.h. */
#include "dialect/bridge/build.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

MlirOperation sambaOperationCreate(const SambaOperationParts *parts) {
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

MlirOperation sambaOperationAppend(MlirBlock block, MlirOperation before, const SambaOperationParts *parts) {
  MlirOperation operation = sambaOperationCreate(parts);
  if (!mlirOperationIsNull(operation)) {
    if (mlirOperationIsNull(before))
      mlirBlockAppendOwnedOperation(block, operation);
    else
      mlirBlockInsertOwnedOperationBefore(block, before, operation);
  }
  return operation;
}

MlirValue sambaBuildUnaryOrMore(MlirBlock block, MlirOperation before, MlirLocation location, const char *name,
                                intptr_t operand_count, const MlirValue *operands, MlirType result) {
  SambaOperationParts parts = {.name = name,
                               .location = location,
                               .operand_count = operand_count,
                               .operands = operands,
                               .result_count = 1,
                               .results = &result};
  return mlirOperationGetResult(sambaOperationAppend(block, before, &parts), 0);
}

MlirValue sambaBuildConstant(MlirBlock block, MlirOperation before, MlirLocation location, MlirAttribute value) {
  MlirType type = mlirAttributeGetType(value);
  MlirNamedAttribute attribute = sambaNamedAttribute(mlirLocationGetContext(location), "value", value);
  SambaOperationParts parts = {.name = "arith.constant",
                               .location = location,
                               .result_count = 1,
                               .results = &type,
                               .attribute_count = 1,
                               .attributes = &attribute};
  return mlirOperationGetResult(sambaOperationAppend(block, before, &parts), 0);
}

MlirType sambaMlirTypeOfDType(MlirContext context, SambaDType dtype) {
  switch (dtype) {
  case SAMBA_DTYPE_F32:
    return mlirF32TypeGet(context);
  case SAMBA_DTYPE_BF16:
    return mlirBF16TypeGet(context);
  case SAMBA_DTYPE_F16:
    return mlirF16TypeGet(context);
  case SAMBA_DTYPE_I1:
    return mlirIntegerTypeGet(context, 1);
  case SAMBA_DTYPE_I8:
    return mlirIntegerTypeGet(context, 8);
  case SAMBA_DTYPE_UI8:
    return mlirIntegerTypeUnsignedGet(context, 8);
  case SAMBA_DTYPE_I16:
    return mlirIntegerTypeGet(context, 16);
  case SAMBA_DTYPE_I32:
    return mlirIntegerTypeGet(context, 32);
  case SAMBA_DTYPE_I64:
    return mlirIntegerTypeGet(context, 64);
  default:
    return mlirNoneTypeGet(context);
  }
}

SambaDType sambaDTypeOfMlirType(MlirType type) {
  if (mlirTypeIsAF32(type))
    return SAMBA_DTYPE_F32;
  if (mlirTypeIsABF16(type))
    return SAMBA_DTYPE_BF16;
  if (mlirTypeIsAF16(type))
    return SAMBA_DTYPE_F16;
  if (!mlirTypeIsAInteger(type))
    return SAMBA_DTYPE_COUNT;
  unsigned width = mlirIntegerTypeGetWidth(type);
  if (mlirIntegerTypeIsUnsigned(type))
    return width == 8 ? SAMBA_DTYPE_UI8 : SAMBA_DTYPE_COUNT;
  switch (width) {
  case 1:
    return SAMBA_DTYPE_I1;
  case 8:
    return SAMBA_DTYPE_I8;
  case 16:
    return SAMBA_DTYPE_I16;
  case 32:
    return SAMBA_DTYPE_I32;
  case 64:
    return SAMBA_DTYPE_I64;
  default:
    return SAMBA_DTYPE_COUNT;
  }
}
