/* softmax(q k^T * scale + mask) v as exporters write it, and rotary position embedding; see
 * raise_idioms.c. */
#include "passes/raise/idioms.h"

/* ---- Attention ---- */

enum { MOST_MASKS = 3 };
/* Something that masks the scores, and the scores there. */
typedef struct {
  MlirValue added;
  MlirOperation choice; /* where(c, scores, fill) or where(c, fill, scores); null: added */
  double fill;
  MlirValue scores;
} Mask;

typedef struct {
  MlirOperation product; /* q k^T */
  double scale;
  uint32_t mask_count;
  Mask masks[MOST_MASKS]; /* from the softmax inwards */
  bool reshaped; /* the leading dimensions change on the way, as heads are split off the batch or
                    joined to it */
} Scores;

/* Takes factors that are numbers off the value. */
static void takeScale(MlirValue *value, double *scale) {
  for (;;) {
    MlirOperation operation = madeBy(*value, "mul");
    MlirValue rest;
    double number = 1;
    if (!isNull(operation) && operandBeside(operation, isAnySplat, &number, &rest) &&
        sameType(rest, *value)) {
      *scale *= number;
    } else if (!isNull(operation = madeBy(*value, "div")) &&
               splatValue(operandOf(operation, 1), &number) &&
               sameType(operandOf(operation, 0), *value)) {
      *scale /= number;
      rest = operandOf(operation, 0);
    } else {
      return;
    }
    *value = rest;
  }
}

/* A reshape that keeps the last two dimensions is taken off the value. */
static bool takeReshape(MlirValue *value) {
  MlirOperation reshape = madeBy(*value, "reshape");
  if (isNull(reshape))
    return false;
  MlirValue inner = operandOf(reshape, 0);
  intptr_t rank = rankOf(*value);
  intptr_t innerRank = rankOf(inner);
  for (intptr_t back = 1; back <= 2; ++back)
    if (rank < 2 || innerRank < 2 || sizeOf(*value, rank - back) != sizeOf(inner, innerRank - back))
      return false;
  *value = inner;
  return true;
}

/* From the softmax's operand down to the product: masks, then the scale, and reshapes anywhere. */
static bool readScores(MlirValue value, Scores *out) {
  if (!isUsedOnce(value))
    return false;
  if (takeReshape(&value)) {
    out->reshaped = true;
    return readScores(value, out);
  }

  MlirOperation operation = madeBy(value, "add");
  for (int i = 0; !isNull(operation); ++i) {
    if (i == 2 || out->mask_count == MOST_MASKS)
      return false;
    Scores tried = *out;
    tried.masks[tried.mask_count++] = (Mask){.added = operandOf(operation, 1 - i), .scores = value};
    if (sameType(operandOf(operation, i), value) && readScores(operandOf(operation, i), &tried)) {
      *out = tried;
      return true;
    }
  }

  operation = madeBy(value, "where");
  if (!isNull(operation)) {
    double fill;
    for (int i = 1; i < 3 && out->mask_count < MOST_MASKS; ++i)
      if (splatValue(operandOf(operation, i), &fill) &&
          sameType(operandOf(operation, 3 - i), value)) {
        out->masks[out->mask_count++] = (Mask){.choice = operation, .fill = fill, .scores = value};
        return readScores(operandOf(operation, 3 - i), out);
      }
    return false;
  }

  do
    takeScale(&value, &out->scale);
  while (isUsedOnce(value) && takeReshape(&value) && (out->reshaped = true));
  out->product = madeBy(value, "matmul");

  return !isNull(out->product) && isUsedOnce(value);
}

static MlirValue reshapedTo(MlirOperation root, MlirValue value, intptr_t rank,
                            const int64_t *dims) {
  MlirContext context = mlirOperationGetContext(root);
  bool same = rank == rankOf(value);
  for (intptr_t axis = 0; axis < rank && same; ++axis)
    same = dims[axis] == sizeOf(value, axis);
  MlirNamedAttribute shape =
      sambaNamedAttribute(context, "shape", mlirDenseI64ArrayGet(context, rank, dims));
  return same ? value : buildBefore(root, "samba.reshape", 1, &value, 1, &shape);
}

/* The dimensions of `value`, which broadcasts to `scores`, when the leading ones of the scores
 * become those of `whole`: each of the former must be a product of some of the latter. */
static bool splitLeading(MlirValue value, MlirValue scores, MlirValue whole, int64_t *dims) {
  intptr_t rank = rankOf(value);
  intptr_t from = rankOf(scores);
  intptr_t to = rankOf(whole);

  for (intptr_t back = 1; back <= 2; ++back)
    dims[to - back] = back <= rank ? sizeOf(value, rank - back) : 1;
  intptr_t next = to - 3;
  for (intptr_t axis = from - 3; axis >= 0; --axis) {
    intptr_t own = axis - (from - rank);
    bool constant = own < 0 || sizeOf(value, own) == 1;
    int64_t left = sizeOf(scores, axis);
    for (; left > 1; --next) {
      if (next < 0 || sizeOf(whole, next) < 1 || left % sizeOf(whole, next))
        return false;
      left /= sizeOf(whole, next);
      dims[next] = constant ? 1 : sizeOf(whole, next);
    }
  }

  for (; next >= 0; --next) {
    if (sizeOf(whole, next) != 1)
      return false;
    dims[next] = 1;
  }

  return true;
}

/* The scores with the most dimensions where something masks them, else the product. */
static MlirValue wholeOf(const Scores *scores) {
  MlirValue whole = resultOf(scores->product);
  for (uint32_t i = 0; i < scores->mask_count; ++i)
    if (rankOf(scores->masks[i].scores) > rankOf(whole))
      whole = scores->masks[i].scores;
  return whole;
}

/* One choice is a mask and its fill. Several masks are added up, which only does for fills that
 * leave nothing of the score they replace when they are added to it. */
static bool masksCombine(const Scores *scores) {
  for (uint32_t i = 0; i < scores->mask_count; ++i)
    if (!isNull(scores->masks[i].choice) &&
        !(scores->masks[i].fill <= (scores->mask_count > 1 ? -1e30 : INFINITY)))
      return false;
  return true;
}

/* Every operand has the leading dimensions of what it is an operand of, and those, split, are the
 * ones of `whole`. */
static bool canReshape(const Scores *scores, MlirOperation root, MlirValue whole) {
  int64_t dims[SAMBA_MAX_RANK];
  MlirOperation products[] = {scores->product, root};

  for (int p = 0; p < 2; ++p)
    for (int i = 0; i < 2; ++i) {
      MlirValue operand = operandOf(products[p], i);
      MlirValue result = resultOf(products[p]);
      intptr_t rank = rankOf(result);
      if (rankOf(operand) != rank || !splitLeading(operand, result, whole, dims))
        return false;
      for (intptr_t axis = 0; axis + 2 < rank; ++axis)
        if (sizeOf(operand, axis) != sizeOf(result, axis))
          return false;
    }
  for (uint32_t i = 0; i < scores->mask_count; ++i) {
    const Mask *mask = &scores->masks[i];
    MlirValue value = isNull(mask->choice) ? mask->added : operandOf(mask->choice, 0);
    if (!splitLeading(value, mask->scores, whole, dims))
      return false;
  }

  return true;
}

/* value for `scores` as value for `whole`. */
static MlirValue split(MlirOperation root, MlirValue value, MlirValue scores, MlirValue whole) {
  int64_t dims[SAMBA_MAX_RANK];
  if (sameType(scores, whole) || !splitLeading(value, scores, whole, dims))
    return value;
  return reshapedTo(root, value, rankOf(whole), dims);
}

/* What the masks add to the scores, from the inmost outwards: a chosen fill replaces what was added
 * before. */
static MlirValue addedMask(MlirOperation root, const Scores *scores, MlirValue whole) {
  MlirContext context = mlirOperationGetContext(root);
  SambaTensorType scalar = {.dtype = SAMBA_DTYPE_F32};
  MlirNamedAttribute zero = sambaNamedAttribute(
      context, "value", sambaDenseAttribute(context, &scalar, &(float){0}, true));
  MlirValue sum = {NULL};

  for (uint32_t i = scores->mask_count; i-- > 0;) {
    const Mask *mask = &scores->masks[i];
    if (isNull(mask->choice)) {
      MlirValue added = split(root, mask->added, mask->scores, whole);
      sum = mlirValueIsNull(sum)
                ? added
                : buildBefore(root, "samba.add", 2, (MlirValue[]){added, sum}, 0, NULL);
      continue;
    }
    if (mlirValueIsNull(sum))
      sum = buildBefore(root, "samba.constant", 0, NULL, 1, &zero);
    double unused;
    bool fill_first = splatValue(operandOf(mask->choice, 1), &unused);
    MlirValue operands[] = {split(root, operandOf(mask->choice, 0), mask->scores, whole),
                            fill_first ? operandOf(mask->choice, 1) : sum,
                            fill_first ? sum : operandOf(mask->choice, 2)};
    sum = buildBefore(root, "samba.where", 3, operands, 0, NULL);
  }

  return sum;
}

/* where(c, ..) as a mask of what takes part. */
static MlirValue keptMask(MlirOperation root, const Mask *mask, MlirValue whole) {
  double unused;
  MlirValue condition = split(root, operandOf(mask->choice, 0), mask->scores, whole);
  return splatValue(operandOf(mask->choice, 2), &unused)
             ? condition
             : buildBefore(root, "samba.logical_not", 1, &condition, 0, NULL);
}

static MlirValue swappedLast(MlirOperation root, MlirValue value) {
  MlirContext context = mlirOperationGetContext(root);
  int64_t dims[SAMBA_MAX_RANK];
  intptr_t rank = rankOf(value);
  for (intptr_t axis = 0; axis < rank; ++axis)
    dims[axis] = axis + 2 < rank ? axis : 2 * rank - 3 - axis;
  MlirNamedAttribute attribute =
      sambaNamedAttribute(context, "dims", mlirDenseI64ArrayGet(context, rank, dims));
  return buildBefore(root, "samba.permute", 1, &value, 1, &attribute);
}

/* k^T without factors that are numbers, on either side of its permutation. */
static MlirValue takeKeyScale(MlirOperation root, MlirValue key, double *scale) {
  takeScale(&key, scale);
  MlirOperation permute = madeBy(key, "permute");
  if (isNull(permute))
    return key;
  MlirValue inner = operandOf(permute, 0);
  takeScale(&inner, scale);
  MlirNamedAttribute dims =
      sambaNamedAttribute(mlirOperationGetContext(root), "dims", attributeOf(permute, "dims"));
  return mlirValueEqual(inner, operandOf(permute, 0))
             ? key
             : buildBefore(root, "samba.permute", 1, &inner, 1, &dims);
}

static bool isLastAxis(MlirOperation operation) {
  int64_t dim = mlirIntegerAttrGetValueInt(attributeOf(operation, "dim"));
  return dim == -1 || dim == rankOf(resultOf(operation)) - 1;
}

/* The softmax whose result is the value, reshaped or not. */
static MlirOperation softmaxOf(MlirValue value, bool *out_reshaped) {
  *out_reshaped = isUsedOnce(value) && takeReshape(&value);
  MlirOperation softmax = madeBy(value, "softmax");
  return !isNull(softmax) && isLastAxis(softmax) && isUsedOnce(value) ? softmax
                                                                      : (MlirOperation){NULL};
}

static bool swapsLast(MlirOperation permute) {
  intptr_t rank = isNull(permute) ? 0 : rankOf(resultOf(permute));
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (mlirDenseI64ArrayGetElement(attributeOf(permute, "dims"), axis) !=
        (axis + 2 < rank ? axis : 2 * rank - 3 - axis))
      return false;
  return rank >= 2;
}

/* softmax(..) v, or v^T softmax(..)^T, which is its transpose. */
void sambaRaiseAttention(MlirOperation root) {
  Scores scores = {.scale = 1};
  MlirValue operands[4] = {{NULL}, {NULL}, operandOf(root, 1)};
  MlirOperation turned = madeBy(operandOf(root, 1), "permute");
  MlirOperation softmax = softmaxOf(operandOf(root, 0), &scores.reshaped);
  bool transposed = isNull(softmax) && swapsLast(turned) && isUsedOnce(resultOf(turned));

  if (transposed)
    softmax = softmaxOf(operandOf(turned, 0), &scores.reshaped);
  if (isNull(softmax) || !readScores(operandOf(softmax, 0), &scores) || !(scores.scale > 0) ||
      isinf(scores.scale) || !masksCombine(&scores))
    return;
  operands[0] = operandOf(scores.product, 0);
  MlirValue key = operandOf(scores.product, 1);
  MlirValue whole = wholeOf(&scores);
  MlirValue product = resultOf(scores.product);
  if (rankOf(operands[0]) < 2 || rankOf(key) < 2 ||
      rankOf(operandOf(root, transposed ? 0 : 1)) < 2 ||
      !mlirAttributeIsNull(attributeOf(root, "out_dtype")) ||
      !mlirAttributeIsNull(attributeOf(scores.product, "out_dtype")) ||
      (scores.reshaped && !canReshape(&scores, root, whole)))
    return;
  takeScale(&operands[0], &scores.scale);
  operands[1] = swappedLast(root, takeKeyScale(root, key, &scores.scale));
  if (transposed)
    operands[2] = swappedLast(root, operandOf(root, 0));
  if (scores.reshaped) {
    operands[0] = split(root, operands[0], product, whole);
    operands[1] = split(root, operands[1], product, whole);
    operands[2] = split(root, operands[2], resultOf(root), whole);
  }

  bool chosen = scores.mask_count == 1 && !isNull(scores.masks[0].choice);
  operands[3] = chosen ? keptMask(root, &scores.masks[0], whole) : addedMask(root, &scores, whole);
  MlirContext context = mlirOperationGetContext(root);
  MlirType f64 = mlirF64TypeGet(context);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "scale", mlirFloatAttrDoubleGet(context, f64, scores.scale)),
      sambaNamedAttribute(context, "fill",
                          mlirFloatAttrDoubleGet(context, f64, scores.masks[0].fill))};
  intptr_t count = chosen && scores.masks[0].fill != -INFINITY ? 2 : 1;
  MlirValue result = buildBefore(root, "samba.scaled_dot_product_attention",
                                 scores.mask_count ? 4 : 3, operands, count, attributes);
  if (transposed)
    result = swappedLast(root, result);
  int64_t dims[SAMBA_MAX_RANK];
  for (intptr_t axis = 0; axis < rankOf(resultOf(root)); ++axis)
    dims[axis] = sizeOf(resultOf(root), axis);
  mlirValueReplaceAllUsesOfWith(resultOf(root),
                                reshapedTo(root, result, rankOf(resultOf(root)), dims));
}

/* ---- Rotary embedding ---- */

/* Where a slice begins in what it is a slice of, and its step; anything else begins at 0. */
static void originOf(MlirValue value, MlirValue *out_base, int64_t *starts, int64_t *steps) {
  MlirOperation slice = madeBy(value, "slice");
  *out_base = isNull(slice) ? value : operandOf(slice, 0);
  for (intptr_t axis = 0; axis < rankOf(value); ++axis) {
    starts[axis] =
        isNull(slice) ? 0 : mlirDenseI64ArrayGetElement(attributeOf(slice, "starts"), axis);
    steps[axis] =
        isNull(slice) ? 1 : mlirDenseI64ArrayGetElement(attributeOf(slice, "steps"), axis);
  }
}

/* value = x[.., start, start + step, ...], half of the last dimension, all of the others; when x is
 * a slice itself (only a part of each head is turned), both may be slices of the same tensor. */
static bool isPart(MlirValue value, MlirValue x, int64_t start, int64_t step) {
  intptr_t rank = rankOf(x);
  if (isNull(madeBy(value, "slice")) || rankOf(value) != rank)
    return false;
  MlirValue base, from;
  int64_t starts[SAMBA_MAX_RANK], steps[SAMBA_MAX_RANK], xStarts[SAMBA_MAX_RANK] = {0},
                                                         xSteps[SAMBA_MAX_RANK];
  originOf(value, &base, starts, steps);
  originOf(x, &from, xStarts, xSteps);
  if (mlirValueEqual(base, x)) {
    for (intptr_t axis = 0; axis < rank; ++axis)
      xStarts[axis] = 0, xSteps[axis] = 1;
  } else if (!mlirValueEqual(base, from)) {
    return false;
  }

  for (intptr_t axis = 0; axis < rank; ++axis) {
    bool last = axis + 1 == rank;
    if (sizeOf(value, axis) != (last ? sizeOf(x, axis) / 2 : sizeOf(x, axis)) ||
        starts[axis] != xStarts[axis] + (last ? start * xSteps[axis] : 0) ||
        steps[axis] != xSteps[axis] * (last ? step : 1))
      return false;
  }

  return true;
}

/* Takes reshapes off the value that put a dimension of 1 behind the others, or drop one. */
static MlirValue withoutUnit(MlirValue value) {
  for (MlirOperation reshape; !isNull(reshape = madeBy(value, "reshape"));) {
    MlirValue inner = operandOf(reshape, 0);
    MlirValue *wide = rankOf(inner) > rankOf(value) ? &inner : &value;
    MlirValue *narrow = wide == &inner ? &value : &inner;
    intptr_t rank = rankOf(*narrow);
    bool same = rankOf(*wide) == rank + 1 && sizeOf(*wide, rank) == 1;
    for (intptr_t axis = 0; axis < rank && same; ++axis)
      same = sizeOf(*wide, axis) == sizeOf(*narrow, axis);
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
  MlirOperation slice = madeBy(value, "slice");
  MlirOperation pairs = isNull(slice) ? slice : madeBy(operandOf(slice, 0), "reshape");
  intptr_t rank = rankOf(x);

  if (isNull(pairs) || !mlirValueEqual(operandOf(pairs, 0), x) || rankOf(value) != rank + 1 ||
      sizeOf(resultOf(pairs), rank) != 2)
    return false;
  for (intptr_t axis = 0; axis <= rank; ++axis) {
    bool last = axis == rank;
    int64_t size = last ? 1 : axis + 1 == rank ? sizeOf(x, axis) / 2 : sizeOf(x, axis);
    if (sizeOf(value, axis) != size || (!last && sizeOf(resultOf(pairs), axis) != size) ||
        mlirDenseI64ArrayGetElement(attributeOf(slice, "starts"), axis) != (last ? index : 0))
      return false;
  }

  return true;
}

/* value = x turned: (-x[half..], x[..half]), or with pairs side by side (-x[1], x[0], -x[3], x[2],
 * ...). */
static bool isTurned(MlirValue value, MlirValue x, bool *out_interleaved) {
  MlirOperation reshape = madeBy(value, "reshape");
  MlirOperation cat;
  intptr_t rank = rankOf(x);
  int64_t half = sizeOf(x, rank - 1) / 2;

  *out_interleaved = !isNull(reshape);
  cat = madeBy(*out_interleaved ? operandOf(reshape, 0) : value, "cat");
  if (isNull(cat) || mlirOperationGetNumOperands(cat) != 2 || !isLastAxis(cat) ||
      !sameType(value, x) || 2 * half != sizeOf(x, rank - 1))
    return false;
  MlirValue first = operandOf(cat, 0);
  MlirValue second = operandOf(cat, 1);
  if (*out_interleaved) {
    if (rankOf(first) != rank + 1 || sizeOf(first, rank) != 1 || sizeOf(first, rank - 1) != half ||
        !sameType(first, second))
      return false;
    first = withoutUnit(first);
    second = withoutUnit(second);
  }

  MlirOperation negated = madeBy(first, "neg");
  if (isNull(negated))
    return false;
  first = operandOf(negated, 0);

  return *out_interleaved ? isOfPairs(withoutUnit(first), x, 1) && isOfPairs(second, x, 0)
                          : isPart(first, x, half, 1) && isPart(second, x, 0, 1);
}

/* x cos + turned(x) sin */
void sambaRaiseRotary(MlirOperation root) {
  for (int i = 0; i < 2; ++i) {
    MlirOperation plain = madeBy(operandOf(root, i), "mul");
    MlirOperation turned = madeBy(operandOf(root, 1 - i), "mul");
    if (isNull(plain) || isNull(turned))
      return;
    for (int k = 0; k < 4; ++k) {
      MlirValue operands[] = {operandOf(plain, k & 1), operandOf(plain, 1 - (k & 1)),
                              operandOf(turned, k >> 1)};
      bool interleaved;
      if (!sameType(operands[0], resultOf(root)) || !sameType(operands[1], operands[2]) ||
          rankOf(operands[0]) == 0 ||
          !isTurned(operandOf(turned, 1 - (k >> 1)), operands[0], &interleaved))
        continue;
      MlirContext context = mlirOperationGetContext(root);
      MlirNamedAttribute attribute =
          sambaNamedAttribute(context, "interleaved", mlirBoolAttrGet(context, interleaved));
      replace(root, "samba.rotary_embedding", 3, operands, interleaved ? 1 : 0, &attribute);
      return;
    }
  }
}
