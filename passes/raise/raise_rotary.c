/* Rotary position embedding, x cos + turned(x) sin; see raise_idioms.c. */
#include "dialect/samba/match.h"
#include "passes/raise/idioms.h"

/* Where a slice begins in what it is a slice of, and its step; anything else begins at 0. */
static void originOf(MlirValue value, MlirValue *out_base, int64_t *starts, int64_t *steps) {
  MlirOperation slice = sambaMatchMaker(value, "slice");
  *out_base = mlirOperationIsNull(slice) ? value : mlirOperationGetOperand(slice, 0);
  for (intptr_t axis = 0; axis < sambaMatchRank(value); ++axis) {
    starts[axis] =
        mlirOperationIsNull(slice)
            ? 0
            : mlirDenseI64ArrayGetElement(sambaOperationAttribute(slice, "starts"), axis);
    steps[axis] = mlirOperationIsNull(slice)
                      ? 1
                      : mlirDenseI64ArrayGetElement(sambaOperationAttribute(slice, "steps"), axis);
  }
}

/* value = x[.., start, start + step, ...], half of the last dimension, all of the others; when x is
 * a slice itself (only a part of each head is turned), both may be slices of the same tensor. */
static bool isPart(MlirValue value, MlirValue x, int64_t start, int64_t step) {
  intptr_t rank = sambaMatchRank(x);
  if (mlirOperationIsNull(sambaMatchMaker(value, "slice")) || sambaMatchRank(value) != rank)
    return false;
  MlirValue base, from;
  int64_t starts[SAMBA_MAX_RANK], steps[SAMBA_MAX_RANK];
  int64_t x_starts[SAMBA_MAX_RANK] = {0}, x_steps[SAMBA_MAX_RANK];
  originOf(value, &base, starts, steps);
  originOf(x, &from, x_starts, x_steps);
  if (mlirValueEqual(base, x)) {
    for (intptr_t axis = 0; axis < rank; ++axis)
      x_starts[axis] = 0, x_steps[axis] = 1;
  } else if (!mlirValueEqual(base, from)) {
    return false;
  }

  for (intptr_t axis = 0; axis < rank; ++axis) {
    bool last = axis + 1 == rank;
    if (sambaMatchSize(value, axis) !=
            (last ? sambaMatchSize(x, axis) / 2 : sambaMatchSize(x, axis)) ||
        starts[axis] != x_starts[axis] + (last ? start * x_steps[axis] : 0) ||
        steps[axis] != x_steps[axis] * (last ? step : 1))
      return false;
  }

  return true;
}

/* Takes reshapes off the value that put a dimension of 1 behind the others, or drop one. */
static MlirValue withoutUnit(MlirValue value) {
  for (MlirOperation reshape; !mlirOperationIsNull(reshape = sambaMatchMaker(value, "reshape"));) {
    MlirValue inner = mlirOperationGetOperand(reshape, 0);
    MlirValue *wide = sambaMatchRank(inner) > sambaMatchRank(value) ? &inner : &value;
    MlirValue *narrow = wide == &inner ? &value : &inner;
    intptr_t rank = sambaMatchRank(*narrow);
    bool same = sambaMatchRank(*wide) == rank + 1 && sambaMatchSize(*wide, rank) == 1;
    for (intptr_t axis = 0; axis < rank && same; ++axis)
      same = sambaMatchSize(*wide, axis) == sambaMatchSize(*narrow, axis);
    if (!same)
      break;
    value = inner;
  }
  return value;
}

/* value = x[.., index, index + 2, ...], or x[.., pair, index] with the last dimension as pairs. */
static bool isOfPairs(MlirValue value, MlirValue x, int64_t index) {
  if (isPart(value, x, index, 2))
    return true;
  MlirOperation slice = sambaMatchMaker(value, "slice");
  MlirOperation pairs = mlirOperationIsNull(slice)
                            ? slice
                            : sambaMatchMaker(mlirOperationGetOperand(slice, 0), "reshape");
  intptr_t rank = sambaMatchRank(x);

  if (mlirOperationIsNull(pairs) || !mlirValueEqual(mlirOperationGetOperand(pairs, 0), x) ||
      sambaMatchRank(value) != rank + 1 || sambaMatchSize(sambaMatchResult(pairs), rank) != 2)
    return false;
  for (intptr_t axis = 0; axis <= rank; ++axis) {
    bool last = axis == rank;
    int64_t size = last ? 1 : sambaMatchSize(x, axis);
    if (axis + 1 == rank)
      size /= 2;
    if (sambaMatchSize(value, axis) != size ||
        (!last && sambaMatchSize(sambaMatchResult(pairs), axis) != size) ||
        mlirDenseI64ArrayGetElement(sambaOperationAttribute(slice, "starts"), axis) !=
            (last ? index : 0))
      return false;
  }

  return true;
}

/* value = x turned: (-x[half..], x[..half]), or with pairs side by side (-x[1], x[0], -x[3], x[2],
 * ...). */
static bool isTurned(MlirValue value, MlirValue x, bool *out_interleaved) {
  MlirOperation reshape = sambaMatchMaker(value, "reshape");
  MlirOperation cat;
  intptr_t rank = sambaMatchRank(x);
  int64_t half = sambaMatchSize(x, rank - 1) / 2;

  *out_interleaved = !mlirOperationIsNull(reshape);
  cat = sambaMatchMaker(*out_interleaved ? mlirOperationGetOperand(reshape, 0) : value, "cat");
  if (mlirOperationIsNull(cat) || mlirOperationGetNumOperands(cat) != 2 ||
      !sambaMatchLastAxis(cat) || !sambaMatchSameType(value, x) ||
      2 * half != sambaMatchSize(x, rank - 1))
    return false;
  MlirValue first = mlirOperationGetOperand(cat, 0);
  MlirValue second = mlirOperationGetOperand(cat, 1);
  if (*out_interleaved) {
    if (sambaMatchRank(first) != rank + 1 || sambaMatchSize(first, rank) != 1 ||
        sambaMatchSize(first, rank - 1) != half || !sambaMatchSameType(first, second))
      return false;
    first = withoutUnit(first);
    second = withoutUnit(second);
  }

  MlirOperation negated = sambaMatchMaker(first, "neg");
  if (mlirOperationIsNull(negated))
    return false;
  first = mlirOperationGetOperand(negated, 0);

  return *out_interleaved ? isOfPairs(withoutUnit(first), x, 1) && isOfPairs(second, x, 0)
                          : isPart(first, x, half, 1) && isPart(second, x, 0, 1);
}

/* x cos + turned(x) sin */
void sambaRaiseRotary(MlirOperation root) {
  for (int i = 0; i < 2; ++i) {
    MlirOperation plain = sambaMatchMaker(mlirOperationGetOperand(root, i), "mul");
    MlirOperation turned = sambaMatchMaker(mlirOperationGetOperand(root, 1 - i), "mul");
    if (mlirOperationIsNull(plain) || mlirOperationIsNull(turned))
      return;
    for (int k = 0; k < 4; ++k) {
      MlirValue operands[] = {mlirOperationGetOperand(plain, k & 1),
                              mlirOperationGetOperand(plain, 1 - (k & 1)),
                              mlirOperationGetOperand(turned, k >> 1)};
      bool interleaved;
      if (!sambaMatchSameType(operands[0], sambaMatchResult(root)) ||
          !sambaMatchSameType(operands[1], operands[2]) || sambaMatchRank(operands[0]) == 0 ||
          !isTurned(mlirOperationGetOperand(turned, 1 - (k >> 1)), operands[0], &interleaved))
        continue;
      MlirContext context = mlirOperationGetContext(root);
      MlirNamedAttribute attribute =
          sambaNamedAttribute(context, "interleaved", mlirBoolAttrGet(context, interleaved));
      sambaRaiseReplace(root, "samba.rotary_embedding", 3, operands, interleaved ? 1 : 0,
                        &attribute);
      return;
    }
  }
}
