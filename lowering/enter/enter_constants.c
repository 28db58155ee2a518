/* Constants of a module of another compiler: splats and integers are samba.constant; floats of
 * several values are weights, arguments that the module's text gives their values. */
#include "lowering/enter/enter.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "dialect/samba/samba.h"
#include "support/number/dtype.h"

#include <stdio.h>

/* Larger ones of integers are arguments too, because samba.constant is part of IR texts. */
enum { mostInline = 1024 };

typedef struct Constants {
  MlirContext context;
  MlirOperation module;
  SambaInterface interface;
  unsigned weights, constants; /* that are named by number */
} Constants;

/* The value of a global that is never written; null otherwise. */
static MlirAttribute globalValue(MlirOperation module, MlirOperation load) {
  MlirAttribute symbol = sambaOperationAttribute(load, "global");
  MlirStringRef wanted = mlirFlatSymbolRefAttrGetValue(symbol);
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    MlirAttribute name = sambaOperationAttribute(operation, "sym_name");
    if (sambaOperationIs(operation, "ml_program.global") &&
        mlirStringRefEqual(mlirStringAttrGetValue(name), wanted))
      return mlirAttributeIsNull(sambaOperationAttribute(operation, "is_mutable"))
                 ? sambaOperationAttribute(operation, "value")
                 : (MlirAttribute){NULL};
  }
  return (MlirAttribute){NULL};
}

/* Elements of a resource as dense elements, which is what a PEF is written from. */
static MlirAttribute asDense(MlirAttribute value) {
  if (mlirAttributeIsNull(value) || mlirAttributeIsADenseElements(value))
    return value;
  return sambaResourceToDense(value);
}

static MlirValue addArgument(Constants *constants, MlirOperation operation, MlirAttribute value,
                             bool weight) {
  char number[32];
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(operation));
  snprintf(number, sizeof number, weight ? "weight%u" : "constant%u",
           weight ? constants->weights++ : constants->constants++);
  MlirStringRef name = layer.size ? sambaToMlir(layer) : sambaMlirString(number);
  MlirContext context = constants->context;
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, SAMBA_NAME_ATTRIBUTE, mlirStringAttrGet(context, name)),
      sambaNamedAttribute(
          context, SAMBA_KIND_ATTRIBUTE,
          mlirStringAttrGet(context, sambaMlirString(weight ? "weight" : "constant"))),
      sambaNamedAttribute(context, SAMBA_VALUE_ATTRIBUTE, value)};
  return sambaInterfaceAddArgument(&constants->interface, mlirAttributeGetType(value), 3,
                                   attributes);
}

static bool convertConstant(Constants *constants, MlirOperation operation, MlirAttribute value) {
  SambaTensorType type;
  SambaStatus status = sambaTensorTypeFromMlir(mlirAttributeGetType(value), &type);
  if (status)
    return sambaEmitOpStatus(operation, status);
  int64_t count = mlirElementsAttrGetNumElements(value);
  bool splat = mlirDenseElementsAttrIsSplat(value);
  bool weight = sambaDTypeIsFloat(type.dtype) && !splat;
  MlirValue result;

  if (weight || (!splat && count > mostInline)) {
    result = addArgument(constants, operation, value, weight);
  } else {
    MlirNamedAttribute attribute = sambaNamedAttribute(constants->context, "value", value);
    MlirOperation made = sambaOperationCreate("samba.constant", mlirOperationGetLocation(operation),
                                              0, NULL, 1, &attribute);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(operation), operation, made);
    result = mlirOperationGetResult(made, 0);
  }
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0), result);
  mlirOperationDestroy(operation);
  return true;
}

static bool convertOne(Constants *constants, MlirOperation operation) {
  bool global = sambaOperationIs(operation, "ml_program.global_load_const") ||
                sambaOperationIs(operation, "ml_program.global_load");
  if (!global && !sambaOperationIs(operation, "arith.constant"))
    return true;
  MlirAttribute value = global ? globalValue(constants->module, operation)
                               : sambaOperationAttribute(operation, "value");
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(operation, 0)))) {
    mlirOperationDestroy(operation);
    return true;
  }
  if (!mlirAttributeIsNull(value) && !mlirAttributeIsAElements(value))
    return true; /* a scalar for bodies */

  value = asDense(value);
  if (mlirAttributeIsNull(value))
    return sambaEmitOpError(
        operation, "has no value that is known here; a weight wants dense<..>, dense_resource with "
                   "its data at the end of the file, or a global that is not mutable");
  return convertConstant(constants, operation, value);
}

bool sambaEnterConstants(MlirOperation module, MlirOperation function) {
  Constants constants = {.context = mlirOperationGetContext(module), .module = module};
  bool fine = true;
  sambaInterfaceRead(function, &constants.interface);
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
  while (fine && !mlirOperationIsNull(operation)) {
    MlirOperation next = mlirOperationGetNextInBlock(operation);
    fine = convertOne(&constants, operation);
    operation = next;
  }
  /* What is returned may have been a constant. */
  MlirOperation terminator = mlirBlockGetTerminator(sambaBodyOf(function));
  for (size_t i = 0; i < constants.interface.returned.size; ++i)
    constants.interface.returned.data[i] = mlirOperationGetOperand(terminator, (intptr_t)i);
  sambaInterfaceWrite(&constants.interface);
  sambaInterfaceFree(&constants.interface);
  return fine;
}
