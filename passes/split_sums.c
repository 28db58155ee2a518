/* samba-split-sums: a sum over many rows, such as the gradient of a bias, is done in two steps
 * where the rows are made in the graph. Blocks of rows have sums of their own, which the pipeline
 * that makes the rows can take, block by block, and the few sums of blocks are added later. Else
 * the rows would be stored and read again for nothing but their sum. */
#include "backend/stage/split_axes.h"
#include "dialect/bridge/bridge.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/kind.h"
#include "dialect/samba/match.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "passes/passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

/* How many dimensions in front a sum adds up, all of them and at least one that stays behind them;
 * 0: it is another sum. */
static intptr_t summedInFront(MlirOperation sum) {
  intptr_t rank = sambaMatchRank(mlirOperationGetOperand(sum, 0));
  MlirAttribute list = sambaOperationAttribute(sum, "dim");
  intptr_t count = mlirAttributeIsNull(list) ? 0 : mlirDenseArrayGetNumElements(list);
  bool summed[SAMBA_MAX_RANK] = {false};
  for (intptr_t i = 0; i < count; ++i) {
    int64_t axis = mlirDenseI64ArrayGetElement(list, i);
    summed[axis < 0 ? axis + rank : axis] = true;
  }

  for (intptr_t axis = 0; axis < count; ++axis)
    if (!summed[axis])
      return 0;
  return count < rank ? count : 0;
}

static bool keepsDims(MlirOperation sum) {
  MlirAttribute keeps = sambaOperationAttribute(sum, "keepdim");
  return !mlirAttributeIsNull(keeps) && mlirBoolAttrGetValue(keeps);
}

/* The tensor whose rows are summed, before reshapes that only join dimensions of rows; in_front:
 * how many such dimensions it has. */
static MlirValue rowsBehindViews(MlirValue rows, intptr_t *in_front) {
  intptr_t kept = sambaMatchRank(rows) - *in_front;
  for (;;) {
    MlirOperation view = sambaMatchMaker(rows, "reshape");
    if (mlirOperationIsNull(view))
      return rows;
    MlirValue before = mlirOperationGetOperand(view, 0);
    intptr_t rank = sambaMatchRank(before);
    bool same = rank > kept;
    for (intptr_t axis = 1; axis <= kept && same; ++axis)
      same =
          sambaMatchSize(before, rank - axis) == sambaMatchSize(rows, sambaMatchRank(rows) - axis);
    if (!same)
      return rows;
    rows = before;
    *in_front = rank - kept;
  }
}

/* Whether the phase of the sum makes the rows: others are read from memory in any case. */
static bool isMadeInPhase(MlirValue rows, MlirOperation sum) {
  MlirOperation maker = sambaDefiningOperation(rows);
  while (!mlirOperationIsNull(maker) && sambaOperationIsView(maker))
    maker = sambaDefiningOperation(mlirOperationGetOperand(maker, 0));
  return !mlirOperationIsNull(maker) && !sambaOperationIsSource(maker) &&
         !sambaOperationIsConstant(maker) && sambaPhaseOf(maker) == sambaPhaseOf(sum);
}

/* Whether the rows are more than a PMU holds and make several blocks. */
static bool isWorthBlocks(MlirValue rows, intptr_t in_front, const SambaMachine *machine) {
  SambaDType dtype = sambaDTypeFromType(mlirShapedTypeGetElementType(mlirValueGetType(rows)));
  int64_t bytes = (int64_t)sambaDTypeBytes(dtype);
  for (intptr_t axis = 0; axis < sambaMatchRank(rows); ++axis)
    bytes *= sambaMatchSize(rows, axis);

  int64_t last = sambaMatchSize(rows, in_front - 1);
  return sambaMatchRank(rows) < SAMBA_MAX_RANK && sambaDTypeIsFloat(dtype) &&
         bytes > machine->pmu_bytes && last % SAMBA_BLOCK_ROWS == 0 && last > SAMBA_BLOCK_ROWS;
}

static bool isUsedBy(MlirValue value, MlirOperation operation) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i)
    if (mlirValueEqual(mlirOperationGetOperand(operation, i), value))
      return true;
  return false;
}

/* Where the sums of blocks are added: as late as the phase and the users of the sum allow. There
 * all of them stand side by side, and between operators that stream whole tensors there are none.
 */
static MlirOperation lastPlace(MlirOperation sum) {
  MlirOperation end = mlirBlockGetTerminator(mlirOperationGetBlock(sum));
  MlirOperation place = mlirOperationGetNextInBlock(sum);
  while (!mlirOperationEqual(place, end) && !isUsedBy(sambaMatchResult(sum), place) &&
         sambaPefSectionTypePlace(sambaPhaseOf(place)) <=
             sambaPefSectionTypePlace(sambaPhaseOf(sum)))
    place = mlirOperationGetNextInBlock(place);
  return place;
}

/* The rows with a dimension more, that within a block, behind that of the blocks. */
static MlirValue blocksOf(MlirOperation sum, MlirValue rows, intptr_t in_front) {
  int64_t dims[SAMBA_MAX_RANK];
  intptr_t rank = sambaMatchRank(rows);
  for (intptr_t axis = 0; axis < rank; ++axis)
    dims[axis < in_front ? axis : axis + 1] = sambaMatchSize(rows, axis);
  dims[in_front - 1] /= SAMBA_BLOCK_ROWS;
  dims[in_front] = SAMBA_BLOCK_ROWS;
  return sambaRaiseReshape(sum, rows, rank + 1, dims);
}

/* The sum of a value over the dimensions [first, end). */
static MlirValue buildSum(MlirOperation root, MlirValue value, intptr_t first, intptr_t end,
                          bool keeps) {
  MlirContext context = mlirOperationGetContext(root);
  int64_t dims[SAMBA_MAX_RANK];
  for (intptr_t axis = first; axis < end; ++axis)
    dims[axis - first] = axis;
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "dim", mlirDenseI64ArrayGet(context, end - first, dims)),
      sambaNamedAttribute(context, "keepdim", mlirBoolAttrGet(context, keeps))};
  return sambaRaiseBuild(root, "samba.sum", 1, &value, 2, attributes);
}

static void splitSum(MlirOperation sum, const SambaMachine *machine) {
  intptr_t in_front = summedInFront(sum);
  if (!in_front)
    return;
  MlirValue rows = mlirOperationGetOperand(sum, 0);
  if (!keepsDims(sum))
    rows = rowsBehindViews(rows, &in_front);
  if (!isMadeInPhase(rows, sum) || !isWorthBlocks(rows, in_front, machine))
    return;

  MlirValue parts = buildSum(sum, blocksOf(sum, rows, in_front), in_front, in_front + 1, false);
  MlirOperation place = lastPlace(sum);
  MlirValue whole = buildSum(sum, parts, 0, in_front, keepsDims(sum));
  mlirOperationMoveBefore(sambaDefiningOperation(whole), place);
  mlirValueReplaceAllUsesOfWith(sambaMatchResult(sum), whole);
  mlirOperationDestroy(sum);
}

/* Sums of blocks are not split once more: they are found before the first one is made. */
static void splitSums(MlirOperation function, const SambaMachine *machine) {
  SAMBA_ARRAY(MlirOperation) sums = {0};
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIs(operation, "samba.sum"))
      sambaArrayAppend(&sums, operation);
  for (size_t i = 0; i < sums.size; ++i)
    splitSum(sums.data[i], machine);
  sambaArrayFree(&sums);
}

bool sambaSplitSums(MlirOperation module, const char *target) {
  SambaMachine machine;
  MlirAttribute attribute;
  if (!target[0])
    return true;
  SambaStatus status =
      sambaTargetMachine(mlirOperationGetLocation(module), target, &machine, &attribute);
  if (status)
    return sambaEmitOpStatus(module, status);

  MlirOperation function = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(function); function = mlirOperationGetNextInBlock(function))
    if (sambaOperationIsGraph(function))
      splitSums(function, &machine);
  return true;
}
