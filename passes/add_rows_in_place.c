/* samba-add-rows-in-place: the gradient of a table whose rows are looked up is zero but for the
 * rows that were. Added to another gradient of the table, such as that of a head with the same
 * weight, it is not made: the few rows are taken from the other one, added to, and put back where
 * they were. samba-update-in-place gives both sums one memory. */
#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/kind.h"
#include "dialect/samba/match.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "passes/passes.h"
#include "support/base/memory.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

/* A table that is zero but for rows: row places[k] is rows[k], the last one where places are equal.
 */
typedef struct RowTable {
  MlirValue rows;   /* [K, W] */
  MlirValue places; /* [1, K], each below the table's size or far outside */
} RowTable;

/*===-- Constants -----------------------------------------------------------------------------===*/

static MlirAttribute constantOf(MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  MlirAttribute none = mlirAttributeGetNull();
  if (mlirOperationIsNull(maker) || !sambaOperationIs(maker, "samba.constant"))
    return none;
  MlirAttribute elements = sambaOperationAttribute(maker, "value");
  return mlirAttributeIsADenseElements(elements) ? elements : none;
}

static bool isInteger(MlirValue value) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(value));
  return mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 64;
}

/* Whether all elements are this one: of 64-bit integers any, of others zero. */
static bool isFilledWith(MlirValue value, int64_t wanted) {
  MlirAttribute elements = constantOf(value);
  static const uint8_t zero[8] = {0};
  if (mlirAttributeIsNull(elements) || !mlirDenseElementsAttrIsSplat(elements))
    return false;
  if (isInteger(value))
    return mlirDenseElementsAttrGetInt64SplatValue(elements) == wanted;
  SambaDType dtype = sambaDTypeFromType(mlirShapedTypeGetElementType(mlirValueGetType(value)));
  return wanted == 0 && dtype != SAMBA_DTYPE_I1 &&
         memcmp(mlirDenseElementsAttrGetRawData(elements), zero, sambaDTypeBytes(dtype)) == 0;
}

/* What the value is a reshape, or the repetition along axes in front, of. */
static MlirValue withoutShape(MlirValue value) {
  for (MlirOperation maker = sambaDefiningOperation(value);
       !mlirOperationIsNull(maker) &&
       (sambaOperationIs(maker, "samba.reshape") || sambaOperationIs(maker, "samba.expand"));
       maker = sambaDefiningOperation(value))
    value = mlirOperationGetOperand(maker, 0);
  return value;
}

/* Whether the value is 0, 1, .. in `count` elements. */
static bool isCounted(MlirValue value, int64_t count) {
  value = withoutShape(value);
  MlirAttribute elements = constantOf(value);
  if (mlirAttributeIsNull(elements) || !isInteger(value) ||
      mlirElementsAttrGetNumElements(elements) != count)
    return false;
  for (int64_t i = 0; i < count; ++i)
    if (mlirDenseElementsAttrGetInt64Value(elements, (intptr_t)i) != i)
      return false;
  return true;
}

/*===-- The table -----------------------------------------------------------------------------===*/

/* The number of the last update of each row, -1 where there is none; null: the value is no such
 * thing. */
static MlirOperation lastUpdates(MlirValue value, int64_t size, int64_t updates) {
  const MlirOperation none = {NULL};
  MlirOperation match = sambaMatchMaker(withoutShape(value), "match_reduce");
  if (mlirOperationIsNull(match))
    return none;
  MlirValue places = mlirOperationGetOperand(match, 2);
  SambaStringRef reduce =
      sambaFromMlir(mlirStringAttrGetValue(sambaOperationAttribute(match, "reduce")));
  bool fits = sambaStringRefEqualC(reduce, "max") && sambaMatchSize(places, 0) == 1 &&
              sambaMatchSize(places, 1) == updates &&
              isFilledWith(mlirOperationGetOperand(match, 0), -1) &&
              isCounted(mlirOperationGetOperand(match, 1), size) &&
              isCounted(mlirOperationGetOperand(match, 3), updates);
  return fits ? match : none;
}

/* The operand of a binary operation beside a constant. */
static bool besideFilled(MlirOperation operation, int64_t number, MlirValue *out_other) {
  for (int i = 0; i < 2; ++i)
    if (isFilledWith(mlirOperationGetOperand(operation, i), number)) {
      *out_other = mlirOperationGetOperand(operation, 1 - i);
      return true;
    }
  return false;
}

/* Whether somebody takes rows of a table of this size at the same indices: they are in range. */
static bool areLookedUp(MlirValue index, int64_t size) {
  for (MlirOpOperand use = mlirValueGetFirstUse(index); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (sambaOperationIs(user, "samba.reshape")
            ? areLookedUp(sambaMatchResult(user), size)
            : sambaOperationIs(user, "samba.embedding") &&
                  mlirOpOperandGetOperandNumber(use) == 1 &&
                  sambaMatchSize(mlirOperationGetOperand(user, 0), 0) == size)
      return true;
  }
  return false;
}

/* value = where(last >= 0, rows[max(last, 0)], 0), as the gradient of a lookup has it. */
static bool matchTable(MlirValue value, RowTable *out) {
  MlirOperation where = sambaMatchMaker(value, "where");
  if (mlirOperationIsNull(where) || sambaMatchRank(value) != 2 ||
      !isFilledWith(mlirOperationGetOperand(where, 2), 0))
    return false;
  MlirOperation there = sambaMatchMaker(mlirOperationGetOperand(where, 0), "ge");
  MlirOperation taken = sambaMatchMaker(mlirOperationGetOperand(where, 1), "embedding");
  if (mlirOperationIsNull(there) || mlirOperationIsNull(taken) ||
      !isFilledWith(mlirOperationGetOperand(there, 1), 0))
    return false;
  MlirOperation index = sambaMatchMaker(mlirOperationGetOperand(taken, 1), "maximum");
  MlirValue last;
  if (mlirOperationIsNull(index) || !besideFilled(index, 0, &last))
    return false;

  int64_t size = sambaMatchSize(value, 0);
  out->rows = mlirOperationGetOperand(taken, 0);
  MlirOperation match = sambaMatchRank(out->rows) == 2
                            ? lastUpdates(last, size, sambaMatchSize(out->rows, 0))
                            : (MlirOperation){NULL};
  if (mlirOperationIsNull(match) ||
      !mlirOperationEqual(match, lastUpdates(mlirOperationGetOperand(there, 0), size,
                                             sambaMatchSize(out->rows, 0))))
    return false;
  out->places = mlirOperationGetOperand(match, 2);
  MlirOperation ravel = sambaMatchMaker(out->places, "ravel_index");
  return !mlirOperationIsNull(ravel) &&
         areLookedUp(withoutShape(mlirOperationGetOperand(ravel, 0)), size);
}

/*===-- The sum -------------------------------------------------------------------------------===*/

/* Whether the value is made whole by an operator of the sum's phase, and the sum alone reads it. */
static bool isOwn(MlirOperation sum, MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  MlirOpOperand use = mlirValueGetFirstUse(value);
  return !mlirOperationIsNull(maker) && !sambaOperationIsView(maker) &&
         !sambaOperationIsSource(maker) && sambaPhaseOf(maker) == sambaPhaseOf(sum) &&
         mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

/* Removes the operation and what only it needs when nobody uses it. */
static void eraseUnused(MlirOperation operation) {
  for (intptr_t r = 0; r < mlirOperationGetNumResults(operation); ++r)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(operation, r))))
      return;
  SAMBA_ARRAY(MlirOperation) makers = {0};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i) {
    MlirOperation maker = sambaDefiningOperation(mlirOperationGetOperand(operation, i));
    bool known = mlirOperationIsNull(maker);
    for (size_t k = 0; k < makers.size && !known; ++k)
      known = mlirOperationEqual(makers.data[k], maker);
    if (!known)
      sambaArrayAppend(&makers, maker);
  }
  mlirOperationDestroy(operation);
  for (size_t k = 0; k < makers.size; ++k)
    eraseUnused(makers.data[k]);
  sambaArrayFree(&makers);
}

static void addInPlace(MlirOperation sum) {
  RowTable table;
  MlirValue base = {NULL};
  for (int i = 0; i < 2 && !base.ptr; ++i)
    if (matchTable(mlirOperationGetOperand(sum, i), &table))
      base = mlirOperationGetOperand(sum, 1 - i);
  if (!base.ptr || !sambaMatchSameType(base, sambaMatchResult(sum)) || !isOwn(sum, base) ||
      sambaMatchSize(table.rows, 0) >= sambaMatchSize(base, 0))
    return;

  int64_t count = sambaMatchSize(table.rows, 0);
  MlirContext context = mlirOperationGetContext(sum);
  MlirNamedAttribute shape =
      sambaNamedAttribute(context, "shape", mlirDenseI64ArrayGet(context, 1, &count));
  MlirValue places = sambaRaiseBuild(sum, "samba.reshape", 1, &table.places, 1, &shape);
  MlirValue taken =
      sambaRaiseBuild(sum, "samba.embedding", 2, (MlirValue[]){base, places}, 0, NULL);
  MlirValue rows = sambaRaiseBuild(sum, "samba.add", 2, (MlirValue[]){taken, table.rows}, 0, NULL);
  MlirValue put =
      sambaRaiseBuild(sum, "samba.put_rows", 3, (MlirValue[]){base, rows, places}, 0, NULL);
  mlirValueReplaceAllUsesOfWith(sambaMatchResult(sum), put);
  eraseUnused(sum);
}

bool sambaAddRowsInPlace(MlirOperation module) {
  MlirOperation function = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(function); function = mlirOperationGetNextInBlock(function)) {
    if (!sambaOperationIsGraph(function) || !sambaGraphTrains(function))
      continue;
    MlirOperation next, operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
    for (; !mlirOperationIsNull(operation); operation = next) {
      next = mlirOperationGetNextInBlock(operation);
      if (sambaOperationIs(operation, "samba.add"))
        addInPlace(operation);
    }
  }
  return true;
}
