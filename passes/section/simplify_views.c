/* Views in another form; see simplify_views.h. */
#include "passes/section/simplify_views.h"

#include "dialect/samba/graph.h"
#include "dialect/samba/match.h"

static MlirValue permuted(MlirOperation root, MlirValue value, intptr_t rank, const int64_t *dims) {
  MlirNamedAttribute attribute =
      sambaNamedAttribute(mlirOperationGetContext(root), "dims",
                          mlirDenseI64ArrayGet(mlirOperationGetContext(root), rank, dims));
  return sambaRaiseBuild(root, "samba.permute", 1, &value, 1, &attribute);
}

/* Whether a permutation leaves the elements in their order: only axes of one element move. */
static bool keepsOrder(MlirOperation permute) {
  MlirAttribute dims = sambaOperationAttribute(permute, "dims");
  MlirValue operand = mlirOperationGetOperand(permute, 0);
  int64_t before = -1;
  for (intptr_t i = 0; i < sambaMatchRank(operand); ++i) {
    int64_t axis = mlirDenseI64ArrayGetElement(dims, i);
    if (sambaMatchSize(operand, axis) == 1)
      continue;
    if (axis < before)
      return false;
    before = axis;
  }
  return true;
}

/* permute(x) as reshape(x). */
static void reshapeAlone(MlirOperation permute) {
  MlirValue result = sambaMatchResult(permute);
  mlirValueReplaceAllUsesOfWith(
      result, sambaRaiseReshapeLike(permute, mlirOperationGetOperand(permute, 0), result));
  mlirOperationDestroy(permute);
}

/* Of each axis of `whole` the axes [first, first + count) of `split` that it is cut into; false
 * when an axis of `split` has elements of several. */
static bool splitsAxes(MlirValue whole, MlirValue split, intptr_t *first, intptr_t *count) {
  intptr_t next = 0, rank = sambaMatchRank(split), axes = sambaMatchRank(whole);
  for (intptr_t axis = 0; axis < axes; ++axis) {
    int64_t size = 1, wanted = sambaMatchSize(whole, axis);
    first[axis] = next;
    while (next < rank && (size < wanted || (axis + 1 == axes && sambaMatchSize(split, next) == 1)))
      size *= sambaMatchSize(split, next++);
    count[axis] = next - first[axis];
    if (size != wanted)
      return false;
  }
  return next == rank;
}

/* reshape(permute(x)) as permute(reshape(x)): the axes of x are cut where they are. */
static void reshapeFirst(MlirOperation reshape) {
  MlirValue turned = mlirOperationGetOperand(reshape, 0), result = sambaMatchResult(reshape);
  MlirOperation permute = sambaMatchMaker(turned, "permute");
  intptr_t first[SAMBA_MAX_RANK], count[SAMBA_MAX_RANK];
  if (mlirOperationIsNull(permute) || !splitsAxes(turned, result, first, count))
    return;
  MlirAttribute dims = sambaOperationAttribute(permute, "dims");
  intptr_t rank = sambaMatchRank(turned);
  intptr_t from[SAMBA_MAX_RANK]; /* axis of the permutation for each of x */
  for (intptr_t axis = 0; axis < rank; ++axis)
    from[mlirDenseI64ArrayGetElement(dims, axis)] = axis;

  int64_t sizes[SAMBA_MAX_RANK], order[SAMBA_MAX_RANK];
  intptr_t made = 0;
  for (intptr_t axis = 0; axis < rank; ++axis)
    for (intptr_t i = 0; i < count[from[axis]]; ++i) {
      order[first[from[axis]] + i] = made;
      sizes[made++] = sambaMatchSize(result, first[from[axis]] + i);
    }
  MlirValue cut = sambaRaiseReshape(reshape, mlirOperationGetOperand(permute, 0), made, sizes);
  mlirValueReplaceAllUsesOfWith(result, permuted(reshape, cut, made, order));
  mlirOperationDestroy(reshape);
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(turned)))
    mlirOperationDestroy(permute);
}

void sambaSimplifyViews(MlirBlock body) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if (sambaOperationIs(operation, "samba.permute") && keepsOrder(operation))
      reshapeAlone(operation);
    else if (sambaOperationIs(operation, "samba.reshape"))
      reshapeFirst(operation);
  }
}
