/* Matching operations for samba-raise-idioms; inside the pass. */
#ifndef SAMBA_PASSES_RAISE_IDIOMS_H
#define SAMBA_PASSES_RAISE_IDIOMS_H

#include "dialect/bridge/build.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"

#include <math.h>

/* Each raises what ends at the operation, if it does; the operation stays, without users then. */
void sambaRaiseActivation(MlirOperation root); /* gelu, silu */
void sambaRaiseSoftmax(MlirOperation root);
void sambaRaiseShiftedSoftmax(MlirOperation root);
void sambaRaiseAttention(MlirOperation root);
void sambaRaiseRotary(MlirOperation root);

/* Before the others: the einsums of attention become matmul. */
void sambaLowerAttentionEinsums(MlirOperation function);

static inline bool isNull(MlirOperation operation) { return mlirOperationIsNull(operation); }

/* The operation that makes the value when it is samba.NAME, else null. */
static inline MlirOperation madeBy(MlirValue value, const char *name) {
  MlirOperation owner = sambaDefiningOperation(value);
  if (isNull(owner) || !sambaStringRefEqualC(sambaOperatorNameOf(owner), name))
    return (MlirOperation){NULL};
  return owner;
}

static inline MlirValue operandOf(MlirOperation operation, int i) {
  return mlirOperationGetOperand(operation, i);
}
static inline MlirValue resultOf(MlirOperation operation) {
  return mlirOperationGetResult(operation, 0);
}
static inline bool sameType(MlirValue a, MlirValue b) {
  return mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b));
}
static inline intptr_t rankOf(MlirValue value) {
  return mlirShapedTypeGetRank(mlirValueGetType(value));
}
static inline int64_t sizeOf(MlirValue value, intptr_t axis) {
  return mlirShapedTypeGetDimSize(mlirValueGetType(value), axis);
}
static inline MlirAttribute attributeOf(MlirOperation operation, const char *name) {
  return sambaOperationAttribute(operation, name);
}

/* A float that every element of the value has. */
static inline bool splatValue(MlirValue value, double *out_value) {
  MlirOperation owner = sambaDefiningOperation(value);
  if (isNull(owner) || !sambaOperationIsSplat(owner) ||
      sambaDTypeFromType(mlirShapedTypeGetElementType(mlirValueGetType(value))) != SAMBA_DTYPE_F32)
    return false;
  *out_value = mlirDenseElementsAttrGetFloatSplatValue(attributeOf(owner, "value"));
  return true;
}

static inline bool isNear(double number, double wanted) {
  return fabs(number - wanted) <= 1e-6 * fabs(wanted);
}
static inline bool isNumber(MlirValue value, double wanted) {
  double number;
  return splatValue(value, &number) && isNear(number, wanted);
}

/* For a commutative operation: the operand beside the one for which `is` holds. */
static inline bool operandBeside(MlirOperation operation,
                                 bool (*is)(MlirValue value, const void *user), const void *user,
                                 MlirValue *out_other) {
  for (int i = 0; i < 2; ++i)
    if (is(operandOf(operation, i), user)) {
      *out_other = operandOf(operation, 1 - i);
      return true;
    }
  return false;
}
static inline bool equals(MlirValue value, const void *user) {
  return mlirValueEqual(value, *(const MlirValue *)user);
}
static inline bool equalsNumber(MlirValue value, const void *user) {
  return isNumber(value, *(const double *)user);
}
static inline bool isAnySplat(MlirValue value, const void *user) {
  return splatValue(value, (double *)(uintptr_t)user);
}

/* Whether nothing needs the operation: what was raised leaves such, a few behind each other. */
static inline bool isUnused(MlirOperation operation, unsigned depth) {
  intptr_t count = mlirOperationGetNumResults(operation);
  for (intptr_t i = 0; i < count; ++i)
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(operation, i));
         !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
      if (!depth || !isUnused(mlirOpOperandGetOwner(use), depth - 1))
        return false;
  return count > 0;
}
static inline bool isUsedOnce(MlirValue value) {
  unsigned uses = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use) && uses < 2;
       use = mlirOpOperandGetNextUse(use))
    uses += !isUnused(mlirOpOperandGetOwner(use), 3);
  return uses == 1;
}

/* samba.NAME before root. */
static inline MlirValue buildBefore(MlirOperation root, const char *name, intptr_t count,
                                    const MlirValue *operands, intptr_t attribute_count,
                                    const MlirNamedAttribute *attributes) {
  SambaOperationParts parts = {.name = name,
                               .location = mlirOperationGetLocation(root),
                               .operand_count = count,
                               .operands = operands,
                               .result_count = -1,
                               .attribute_count = attribute_count,
                               .attributes = attributes};
  return resultOf(sambaBuildOperationIn(mlirOperationGetBlock(root), root, &parts));
}

/* Root's users take the result of samba.NAME, which is built before it. */
static inline void replace(MlirOperation root, const char *name, intptr_t count,
                           const MlirValue *operands, intptr_t attribute_count,
                           const MlirNamedAttribute *attributes) {
  mlirValueReplaceAllUsesOfWith(
      resultOf(root), buildBefore(root, name, count, operands, attribute_count, attributes));
}

#endif
