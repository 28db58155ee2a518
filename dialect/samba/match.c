/* Matching operations; see match.h. */
#include "dialect/samba/match.h"

#include "dialect/samba/phase.h"

#include <math.h>

/* Whether an operation of another phase than its maker's reads the value. */
static bool leavesPhase(MlirValue value, MlirOperation owner) {
  SambaPefSectionType phase = sambaPhaseOf(owner);
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (sambaOperatorNameOf(user).size && sambaPhaseOf(user) != phase)
      return true;
  }
  return false;
}

MlirOperation sambaMatchMaker(MlirValue value, const char *name) {
  MlirOperation owner = sambaDefiningOperation(value);
  if (mlirOperationIsNull(owner) || !sambaStringRefEqualC(sambaOperatorNameOf(owner), name) ||
      leavesPhase(value, owner))
    return (MlirOperation){NULL};
  return owner;
}

MlirValue sambaMatchResult(MlirOperation operation) { return mlirOperationGetResult(operation, 0); }

bool sambaMatchSameType(MlirValue a, MlirValue b) {
  return mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b));
}

intptr_t sambaMatchRank(MlirValue value) { return mlirShapedTypeGetRank(mlirValueGetType(value)); }

int64_t sambaMatchSize(MlirValue value, intptr_t axis) {
  return mlirShapedTypeGetDimSize(mlirValueGetType(value), axis);
}

bool sambaMatchLastAxis(MlirOperation operation) {
  int64_t dim = mlirIntegerAttrGetValueInt(sambaOperationAttribute(operation, "dim"));
  return dim == -1 || dim == sambaMatchRank(sambaMatchResult(operation)) - 1;
}

/*===-- Numbers -------------------------------------------------------------------------------===*/

bool sambaMatchSplat(MlirValue value, double *out_number) {
  MlirOperation owner = sambaDefiningOperation(value);
  if (mlirOperationIsNull(owner) || !sambaOperationIsSplat(owner) ||
      sambaDTypeFromType(mlirShapedTypeGetElementType(mlirValueGetType(value))) != SAMBA_DTYPE_F32)
    return false;
  *out_number = mlirDenseElementsAttrGetFloatSplatValue(sambaSplatValue(owner));
  return true;
}

bool sambaMatchNear(double number, double wanted) {
  return fabs(number - wanted) <= 1e-6 * fabs(wanted);
}

bool sambaMatchNumber(MlirValue value, double wanted) {
  double number;
  return sambaMatchSplat(value, &number) && sambaMatchNear(number, wanted);
}

/*===-- Operands in any order -----------------------------------------------------------------===*/

bool sambaMatchBeside(MlirOperation operation, MlirValue value, MlirValue *out_other) {
  for (int i = 0; i < 2; ++i)
    if (mlirValueEqual(mlirOperationGetOperand(operation, i), value)) {
      *out_other = mlirOperationGetOperand(operation, 1 - i);
      return true;
    }
  return false;
}

bool sambaMatchBesideNumber(MlirOperation operation, double number, MlirValue *out_other) {
  for (int i = 0; i < 2; ++i)
    if (sambaMatchNumber(mlirOperationGetOperand(operation, i), number)) {
      *out_other = mlirOperationGetOperand(operation, 1 - i);
      return true;
    }
  return false;
}

bool sambaMatchBesideSplat(MlirOperation operation, double *out_number, MlirValue *out_other) {
  for (int i = 0; i < 2; ++i)
    if (sambaMatchSplat(mlirOperationGetOperand(operation, i), out_number)) {
      *out_other = mlirOperationGetOperand(operation, 1 - i);
      return true;
    }
  return false;
}

/*===-- Uses ----------------------------------------------------------------------------------===*/

/* What was raised leaves operations without users, a few behind each other: of a softmax amax, sub,
 * exp, sum and div. */
enum { mostUnused = 5 };

/* Whether nothing needs the operation. */
static bool isUnused(MlirOperation operation, unsigned depth) {
  intptr_t count = mlirOperationGetNumResults(operation);
  for (intptr_t i = 0; i < count; ++i)
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(operation, i));
         !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
      if (!depth || !isUnused(mlirOpOperandGetOwner(use), depth - 1))
        return false;
  return count > 0;
}

bool sambaMatchUsedOnce(MlirValue value) {
  unsigned uses = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use) && uses < 2;
       use = mlirOpOperandGetNextUse(use))
    uses += !isUnused(mlirOpOperandGetOwner(use), mostUnused);
  return uses == 1;
}

/*===-- Building ------------------------------------------------------------------------------===*/

MlirValue sambaRaiseBuild(MlirOperation root, const char *name, intptr_t count,
                          const MlirValue *operands, intptr_t attribute_count,
                          const MlirNamedAttribute *attributes) {
  SambaOperationParts parts = {.name = name,
                               .location = mlirOperationGetLocation(root),
                               .operand_count = count,
                               .operands = operands,
                               .result_count = -1,
                               .attribute_count = attribute_count,
                               .attributes = attributes};
  MlirOperation made = sambaBuildOperationIn(mlirOperationGetBlock(root), root, &parts);
  sambaPhaseTake(made, root);
  return sambaMatchResult(made);
}

void sambaRaiseReplace(MlirOperation root, const char *name, intptr_t count,
                       const MlirValue *operands, intptr_t attribute_count,
                       const MlirNamedAttribute *attributes) {
  MlirValue made = sambaRaiseBuild(root, name, count, operands, attribute_count, attributes);
  mlirValueReplaceAllUsesOfWith(sambaMatchResult(root), made);
}

MlirValue sambaRaiseReshape(MlirOperation root, MlirValue value, intptr_t rank,
                            const int64_t *dims) {
  MlirContext context = mlirOperationGetContext(root);
  bool same = rank == sambaMatchRank(value);
  for (intptr_t axis = 0; axis < rank && same; ++axis)
    same = dims[axis] == sambaMatchSize(value, axis);
  MlirNamedAttribute shape =
      sambaNamedAttribute(context, "shape", mlirDenseI64ArrayGet(context, rank, dims));
  return same ? value : sambaRaiseBuild(root, "samba.reshape", 1, &value, 1, &shape);
}

MlirValue sambaRaiseReshapeLike(MlirOperation root, MlirValue value, MlirValue like) {
  int64_t dims[SAMBA_MAX_RANK];
  intptr_t rank = sambaMatchRank(like);
  for (intptr_t axis = 0; axis < rank; ++axis)
    dims[axis] = sambaMatchSize(like, axis);
  return sambaRaiseReshape(root, value, rank, dims);
}
