/* Updates; see updates.h. */
#include "passes/section/updates.h"

#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "support/base/memory.h"
#include "support/container/pointer_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Operators of one update at most, when it is looked for. */
enum { maxOperatorsOfWhole = 96 };

static bool makesScalars(MlirOperation operation) {
  for (intptr_t r = 0; r < mlirOperationGetNumResults(operation); ++r) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(operation, r));
    for (int64_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
      if (mlirShapedTypeGetDimSize(type, axis) != 1)
        return false;
  }
  return true;
}

/* What it makes lies where its operands do. */
static bool computesNothing(MlirOperation operation) {
  return sambaOperationIsView(operation) || sambaOperationIsPlacement(operation);
}

/* Whether the value comes, through views or not, from a member of the set. */
static bool comesFrom(MlirValue value, const SambaPointerMap *set) {
  MlirOperation maker = sambaDefiningOperation(value);
  uint32_t unused;
  if (mlirOperationIsNull(maker))
    return false;
  if (!computesNothing(maker))
    return sambaPointerMapGet(set, maker.ptr, &unused);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(maker); ++i)
    if (comesFrom(mlirOperationGetOperand(maker, i), set))
      return true;
  return false;
}

uint32_t sambaScalarsFirst(MlirOperation *operators, uint32_t count) {
  uint32_t first = count;
  while (first && sambaPhaseOf(operators[first - 1]) == SAMBA_PEF_SECTION_OPT)
    --first;

  SambaPointerMap later = {0}; /* what stays behind the scalars */
  MlirOperation *rest = sambaAllocate(sambaArraySize(count - first + 1, sizeof *rest));
  uint32_t scalars = first, rest_count = 0;
  for (uint32_t i = first; i < count; ++i) {
    bool moves = makesScalars(operators[i]);
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(operators[i]) && moves; ++k)
      moves = !comesFrom(mlirOperationGetOperand(operators[i], k), &later);
    if (moves) {
      operators[scalars++] = operators[i];
      continue;
    }
    sambaPointerMapSet(&later, operators[i].ptr, 0);
    rest[rest_count++] = operators[i];
  }

  memcpy(operators + scalars, rest, rest_count * sizeof *rest);
  free(rest);
  sambaPointerMapFree(&later);
  return scalars > first ? scalars : count;
}

/* Whether the value has a reader, through views or not, that is neither a member of the set nor the
 * graph's end. */
static bool isReadOutside(MlirValue value, const SambaPointerMap *set) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(value, use);
    uint32_t unused;
    for (intptr_t r = 0; computesNothing(user) && r < mlirOperationGetNumResults(user); ++r)
      if (isReadOutside(mlirOperationGetResult(user, r), set))
        return true;
    if (!computesNothing(user) && !sambaPointerMapGet(set, user.ptr, &unused) &&
        !sambaOperationIs(user, "func.return"))
      return true;
  }
  return false;
}

uint32_t sambaWholeUpdates(const MlirOperation *operators, uint32_t size, uint32_t count) {
  SambaPointerMap set = {0};
  uint32_t whole = 0;
  for (uint32_t n = 1; n <= count && !whole; ++n) {
    sambaPointerMapSet(&set, operators[n - 1].ptr, 0);
    bool closed = n > size;
    for (uint32_t i = 0; i < n && closed; ++i)
      for (intptr_t r = 0; r < mlirOperationGetNumResults(operators[i]) && closed; ++r)
        closed = !isReadOutside(mlirOperationGetResult(operators[i], r), &set);
    whole = closed ? n : 0;
  }
  sambaPointerMapFree(&set);
  return whole;
}

/* Elements of the largest tensor that an operator makes. */
static double elementsOf(MlirOperation operation) {
  double most = 0;
  for (intptr_t r = 0; r < mlirOperationGetNumResults(operation); ++r) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(operation, r));
    double elements = 1;
    for (int64_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
      elements *= (double)mlirShapedTypeGetDimSize(type, axis);
    most = elements > most ? elements : most;
  }
  return most;
}

typedef struct Whole {
  uint32_t first, count;
  double elements;
} Whole;

static int bySize(const void *left, const void *right) {
  const Whole *a = left, *b = right;
  if (a->elements != b->elements)
    return a->elements < b->elements ? -1 : 1;
  return a->first < b->first ? -1 : 1;
}

/* The wholes that the operators are made of. What is left when no more are found, which is no
 * update as we know them, stays at the end. */
static Whole nextWhole(const MlirOperation *operators, uint32_t first, uint32_t count) {
  uint32_t left = count - first;
  Whole whole = {first, left, INFINITY};
  uint32_t size = sambaWholeUpdates(operators + first, 0,
                                    left < maxOperatorsOfWhole ? left : maxOperatorsOfWhole);
  if (!size)
    return whole;
  whole.count = size;
  whole.elements = 0;
  for (uint32_t i = first; i < first + size; ++i)
    whole.elements = fmax(whole.elements, elementsOf(operators[i]));
  return whole;
}

void sambaSmallUpdatesFirst(MlirOperation *operators, uint32_t border, uint32_t count) {
  uint32_t begin = border;
  while (begin && border == count && sambaPhaseOf(operators[begin - 1]) == SAMBA_PEF_SECTION_OPT)
    --begin; /* nothing is in front of the updates */

  SAMBA_ARRAY(Whole) wholes = {0};
  for (uint32_t first = begin; first < count;) {
    Whole whole = nextWhole(operators, first, count);
    sambaArrayAppend(&wholes, whole);
    first += whole.count;
  }
  if (wholes.size > 1)
    qsort(wholes.data, wholes.size, sizeof *wholes.data, bySize);

  MlirOperation *sorted = sambaAllocate(sambaArraySize(count - begin + 1, sizeof *sorted));
  uint32_t at = 0;
  for (size_t w = 0; w < wholes.size; at += wholes.data[w++].count)
    memcpy(sorted + at, operators + wholes.data[w].first, wholes.data[w].count * sizeof *sorted);
  memcpy(operators + begin, sorted, at * sizeof *sorted);
  free(sorted);
  sambaArrayFree(&wholes);
}
