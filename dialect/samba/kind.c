/* Kinds of operations; see kind.h. */
#include "dialect/samba/kind.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

bool sambaOperationIs(MlirOperation operation, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(operation)),
                            sambaMlirString(name));
}

SambaStringRef sambaOperatorNameOf(MlirOperation operation) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(operation));
  if (name.length <= 6 || memcmp(name.data, "samba.", 6) != 0)
    return (SambaStringRef){NULL, 0};
  return (SambaStringRef){name.data + 6, name.length - 6};
}

MlirOperation sambaDefiningOperation(MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
}

static bool isOneOf(MlirOperation operation, const char *const *names) {
  for (; *names; ++names)
    if (sambaOperationIs(operation, *names))
      return true;
  return false;
}

/*===-- Repeated values -----------------------------------------------------------------------===*/

/* A scalar constant of one of our element types. */
static MlirAttribute scalarValue(MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  if (mlirOperationIsNull(maker))
    return mlirAttributeGetNull();
  if (sambaOperationIs(maker, "arith.constant") && !mlirTypeIsAShaped(mlirValueGetType(value)))
    return sambaOperationAttribute(maker, "value");
  if (!sambaOperationIs(maker, "builtin.unrealized_conversion_cast") || /* a constant of ui8 */
      mlirOperationGetNumOperands(maker) != 1)
    return mlirAttributeGetNull();
  MlirAttribute signless = scalarValue(mlirOperationGetOperand(maker, 0));
  return mlirAttributeIsNull(signless) || !mlirAttributeIsAInteger(signless)
             ? mlirAttributeGetNull()
             : mlirIntegerAttrGet(mlirValueGetType(value),
                                  mlirIntegerAttrGetValueInt(signless) & 0xff);
}

/* The scalar that a linalg.fill, or a linalg.generic that was made of one, writes everywhere; null
 * value: it does something else. Stages of ours say what they are by an attribute: they stay. */
static MlirValue filledWith(MlirOperation operation) {
  MlirValue none = {NULL};
  if (sambaOperationIs(operation, "linalg.fill"))
    return mlirOperationGetOperand(operation, 0);
  if (!sambaOperationIs(operation, "linalg.generic") ||
      mlirOperationGetNumResults(operation) != 1 ||
      !mlirAttributeIsNull(sambaOperationAttribute(operation, SAMBA_STAGE_ATTRIBUTE)))
    return none;

  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(operation, 0));
  MlirValue yielded = mlirOperationGetOperand(mlirBlockGetTerminator(body), 0);
  if (!mlirValueIsABlockArgument(yielded))
    return yielded;
  intptr_t number = mlirBlockArgumentGetArgNumber(yielded);
  return number + 1 < mlirOperationGetNumOperands(operation)
             ? mlirOperationGetOperand(operation, number)
             : none;
}

MlirAttribute sambaSplatValue(MlirOperation operation) {
  if (mlirOperationGetNumResults(operation) != 1)
    return mlirAttributeGetNull();
  MlirType type = mlirValueGetType(mlirOperationGetResult(operation, 0));
  if (!mlirTypeIsARankedTensor(type))
    return mlirAttributeGetNull();
  if (sambaOperationIsConstant(operation)) {
    MlirAttribute value = sambaOperationAttribute(operation, "value");
    return mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value)
               ? value
               : mlirAttributeGetNull();
  }

  MlirValue filled = filledWith(operation);
  MlirAttribute scalar = mlirValueIsNull(filled) ? mlirAttributeGetNull() : scalarValue(filled);
  bool fits = !mlirAttributeIsNull(scalar) && mlirShapedTypeHasStaticShape(type) &&
              mlirTypeEqual(mlirAttributeGetType(scalar), mlirShapedTypeGetElementType(type));
  return fits ? mlirDenseElementsAttrSplatGet(type, scalar) : mlirAttributeGetNull();
}

bool sambaOperationIsSplat(MlirOperation operation) {
  return !mlirAttributeIsNull(sambaSplatValue(operation));
}

bool sambaOperationIsConstant(MlirOperation operation) {
  return sambaOperationIs(operation, "samba.constant") ||
         (sambaOperationIs(operation, "arith.constant") &&
          mlirTypeIsAShaped(mlirValueGetType(mlirOperationGetResult(operation, 0))));
}

bool sambaOperationIsSource(MlirOperation operation) {
  if (sambaOperationIs(operation, "tensor.empty") || sambaOperationIsSplat(operation))
    return true;
  return mlirOperationGetNumResults(operation) == 1 &&
         !mlirAttributeIsNull(scalarValue(mlirOperationGetResult(operation, 0)));
}

/*===-- Views and operators -------------------------------------------------------------------===*/

static bool isConstantPlace(MlirOperation extract) {
  for (intptr_t i = 1; i < mlirOperationGetNumOperands(extract); ++i)
    if (mlirAttributeIsNull(scalarValue(mlirOperationGetOperand(extract, i))))
      return false;
  return true;
}

bool sambaOperationIsView(MlirOperation operation) {
  static const char *const views[] = {
      "tensor.collapse_shape", "tensor.expand_shape", "tensor.extract_slice",
      "tensor.cast",           "tensor.pad",          NULL};
  SambaStringRef name = sambaOperatorNameOf(operation);
  if (name.size) {
    const SambaOperator *row = sambaOperatorFind(name);
    return row && row->view;
  }
  return isOneOf(operation, views) ||
         (sambaOperationIs(operation, "tensor.extract") && isConstantPlace(operation));
}

bool sambaOperationIsPlacement(MlirOperation operation) {
  static const char *const placements[] = {"samba.stack", "samba.unstack", NULL};
  return isOneOf(operation, placements);
}

bool sambaOperationIsReshape(MlirOperation operation) {
  static const char *const reshapes[] = {"samba.reshape", "tensor.collapse_shape",
                                         "tensor.expand_shape", NULL};
  return isOneOf(operation, reshapes);
}

bool sambaOperationIsStructured(MlirOperation operation) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(operation));
  return name.length > 7 && memcmp(name.data, "linalg.", 7) == 0 &&
         mlirOperationGetNumRegions(operation) == 1 && !sambaOperationIsSplat(operation);
}

bool sambaOperationIsOperator(MlirOperation operation) {
  const SambaOperator *row = sambaOperatorOf(operation);
  return row ? !row->view
             : sambaOperationIsStructured(operation) ||
                   sambaOperationIs(operation, "tensor.insert_slice");
}

/*===-- What an operation reads ---------------------------------------------------------------===*/

static MlirBlock blockOf(MlirValue value) {
  return mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                          : mlirOperationGetBlock(mlirOpResultGetOwner(value));
}

MlirOperation sambaUserInBlockOf(MlirValue value, MlirOpOperand use) {
  MlirOperation user = mlirOpOperandGetOwner(use);
  while (!mlirBlockEqual(mlirOperationGetBlock(user), blockOf(value)))
    user = mlirOperationGetParentOperation(user);
  return user;
}

static bool isInside(MlirValue value, MlirOperation operation) {
  MlirBlock block = blockOf(value);
  while (!mlirBlockIsNull(block)) {
    MlirOperation parent = mlirBlockGetParentOperation(block);
    if (mlirOperationIsNull(parent) || mlirOperationEqual(parent, operation))
      return !mlirOperationIsNull(parent);
    block = mlirOperationGetBlock(parent);
  }
  return false;
}

static void mapOperands(MlirOperation operation, MlirOperation whole, SambaMapValue map,
                        void *user) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i) {
    MlirValue value = mlirOperationGetOperand(operation, i);
    if (!mlirOperationEqual(operation, whole) && isInside(value, whole))
      continue;
    MlirValue mapped = map(value, user);
    if (!mlirValueEqual(mapped, value))
      mlirOperationSetOperand(operation, i, mapped);
  }

  for (intptr_t r = 0; r < mlirOperationGetNumRegions(operation); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(operation, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation inner = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(inner);
           inner = mlirOperationGetNextInBlock(inner))
        mapOperands(inner, whole, map, user);
}

void sambaMapInputs(MlirOperation operation, SambaMapValue map, void *user) {
  mapOperands(operation, operation, map, user);
}
