/* softmax(q k^T * scale + mask) v as exporters write it; see raise_idioms.c. */
#include "dialect/samba/match.h"
#include "passes/raise/idioms.h"

#include <math.h>

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
    MlirOperation operation = sambaMatchMaker(*value, "mul");
    MlirValue rest;
    double number = 1;
    if (!mlirOperationIsNull(operation) && sambaMatchBesideSplat(operation, &number, &rest) &&
        sambaMatchSameType(rest, *value)) {
      *scale *= number;
    } else if (!mlirOperationIsNull(operation = sambaMatchMaker(*value, "div")) &&
               sambaMatchSplat(mlirOperationGetOperand(operation, 1), &number) &&
               sambaMatchSameType(mlirOperationGetOperand(operation, 0), *value)) {
      *scale /= number;
      rest = mlirOperationGetOperand(operation, 0);
    } else {
      return;
    }
    *value = rest;
  }
}

/* A reshape that keeps the last two dimensions is taken off the value. */
static bool takeReshape(MlirValue *value) {
  MlirOperation reshape = sambaMatchMaker(*value, "reshape");
  if (mlirOperationIsNull(reshape))
    return false;
  MlirValue inner = mlirOperationGetOperand(reshape, 0);
  intptr_t rank = sambaMatchRank(*value);
  intptr_t inner_rank = sambaMatchRank(inner);
  for (intptr_t back = 1; back <= 2; ++back)
    if (rank < 2 || inner_rank < 2 ||
        sambaMatchSize(*value, rank - back) != sambaMatchSize(inner, inner_rank - back))
      return false;
  *value = inner;
  return true;
}

/* From the softmax's operand down to the product: masks, then the scale, and reshapes anywhere. */
static bool readScores(MlirValue value, Scores *out) {
  if (!sambaMatchUsedOnce(value))
    return false;
  if (takeReshape(&value)) {
    out->reshaped = true;
    return readScores(value, out);
  }

  MlirOperation operation = sambaMatchMaker(value, "add");
  for (int i = 0; !mlirOperationIsNull(operation); ++i) {
    if (i == 2 || out->mask_count == MOST_MASKS)
      return false;
    Scores tried = *out;
    tried.masks[tried.mask_count++] =
        (Mask){.added = mlirOperationGetOperand(operation, 1 - i), .scores = value};
    if (sambaMatchSameType(mlirOperationGetOperand(operation, i), value) &&
        readScores(mlirOperationGetOperand(operation, i), &tried)) {
      *out = tried;
      return true;
    }
  }

  operation = sambaMatchMaker(value, "where");
  if (!mlirOperationIsNull(operation)) {
    double fill;
    for (int i = 1; i < 3 && out->mask_count < MOST_MASKS; ++i)
      if (sambaMatchSplat(mlirOperationGetOperand(operation, i), &fill) &&
          sambaMatchSameType(mlirOperationGetOperand(operation, 3 - i), value)) {
        out->masks[out->mask_count++] = (Mask){.choice = operation, .fill = fill, .scores = value};
        return readScores(mlirOperationGetOperand(operation, 3 - i), out);
      }
    return false;
  }

  takeScale(&value, &out->scale);
  while (sambaMatchUsedOnce(value) && takeReshape(&value)) {
    out->reshaped = true;
    takeScale(&value, &out->scale);
  }
  out->product = sambaMatchMaker(value, "matmul");

  return !mlirOperationIsNull(out->product) && sambaMatchUsedOnce(value);
}

/* The dimensions of `value`, which broadcasts to `scores`, when the leading ones of the scores
 * become those of `whole`: each of the former must be a product of some of the latter. */
static bool splitLeading(MlirValue value, MlirValue scores, MlirValue whole, int64_t *dims) {
  intptr_t rank = sambaMatchRank(value);
  intptr_t from = sambaMatchRank(scores);
  intptr_t to = sambaMatchRank(whole);

  for (intptr_t back = 1; back <= 2; ++back)
    dims[to - back] = back <= rank ? sambaMatchSize(value, rank - back) : 1;
  intptr_t next = to - 3;
  for (intptr_t axis = from - 3; axis >= 0; --axis) {
    intptr_t own = axis - (from - rank);
    bool constant = own < 0 || sambaMatchSize(value, own) == 1;
    int64_t left = sambaMatchSize(scores, axis);
    for (; left > 1; --next) {
      if (next < 0 || sambaMatchSize(whole, next) < 1 || left % sambaMatchSize(whole, next))
        return false;
      left /= sambaMatchSize(whole, next);
      dims[next] = constant ? 1 : sambaMatchSize(whole, next);
    }
  }

  for (; next >= 0; --next) {
    if (sambaMatchSize(whole, next) != 1)
      return false;
    dims[next] = 1;
  }

  return true;
}

/* The scores with the most dimensions where something masks them, else the product. */
static MlirValue wholeOf(const Scores *scores) {
  MlirValue whole = sambaMatchResult(scores->product);
  for (uint32_t i = 0; i < scores->mask_count; ++i)
    if (sambaMatchRank(scores->masks[i].scores) > sambaMatchRank(whole))
      whole = scores->masks[i].scores;
  return whole;
}

/* One choice is a mask and its fill. Several masks are added up, which only does for fills that
 * leave nothing of the score they replace when they are added to it. */
static bool masksCombine(const Scores *scores) {
  for (uint32_t i = 0; i < scores->mask_count; ++i)
    if (!mlirOperationIsNull(scores->masks[i].choice) &&
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
      MlirValue operand = mlirOperationGetOperand(products[p], i);
      MlirValue result = sambaMatchResult(products[p]);
      intptr_t rank = sambaMatchRank(result);
      if (sambaMatchRank(operand) != rank || !splitLeading(operand, result, whole, dims))
        return false;
      for (intptr_t axis = 0; axis + 2 < rank; ++axis)
        if (sambaMatchSize(operand, axis) != sambaMatchSize(result, axis))
          return false;
    }
  for (uint32_t i = 0; i < scores->mask_count; ++i) {
    const Mask *mask = &scores->masks[i];
    MlirValue value =
        mlirOperationIsNull(mask->choice) ? mask->added : mlirOperationGetOperand(mask->choice, 0);
    if (!splitLeading(value, mask->scores, whole, dims))
      return false;
  }

  return true;
}

/* value for `scores` as value for `whole`. */
static MlirValue split(MlirOperation root, MlirValue value, MlirValue scores, MlirValue whole) {
  int64_t dims[SAMBA_MAX_RANK];
  if (sambaMatchSameType(scores, whole) || !splitLeading(value, scores, whole, dims))
    return value;
  return sambaRaiseReshape(root, value, sambaMatchRank(whole), dims);
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
    if (mlirOperationIsNull(mask->choice)) {
      MlirValue added = split(root, mask->added, mask->scores, whole);
      sum = mlirValueIsNull(sum)
                ? added
                : sambaRaiseBuild(root, "samba.add", 2, (MlirValue[]){added, sum}, 0, NULL);
      continue;
    }
    if (mlirValueIsNull(sum))
      sum = sambaRaiseBuild(root, "samba.constant", 0, NULL, 1, &zero);
    double unused;
    bool fill_first = sambaMatchSplat(mlirOperationGetOperand(mask->choice, 1), &unused);
    MlirValue operands[] = {
        split(root, mlirOperationGetOperand(mask->choice, 0), mask->scores, whole),
        fill_first ? mlirOperationGetOperand(mask->choice, 1) : sum,
        fill_first ? sum : mlirOperationGetOperand(mask->choice, 2)};
    sum = sambaRaiseBuild(root, "samba.where", 3, operands, 0, NULL);
  }

  return sum;
}

/* where(c, ..) as a mask of what takes part. */
static MlirValue keptMask(MlirOperation root, const Mask *mask, MlirValue whole) {
  double unused;
  MlirValue condition = split(root, mlirOperationGetOperand(mask->choice, 0), mask->scores, whole);
  return sambaMatchSplat(mlirOperationGetOperand(mask->choice, 2), &unused)
             ? condition
             : sambaRaiseBuild(root, "samba.logical_not", 1, &condition, 0, NULL);
}

static bool swapsLast(MlirOperation permute) {
  intptr_t rank = mlirOperationIsNull(permute) ? 0 : sambaMatchRank(sambaMatchResult(permute));
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (mlirDenseI64ArrayGetElement(sambaOperationAttribute(permute, "dims"), axis) !=
        (axis + 2 < rank ? axis : 2 * rank - 3 - axis))
      return false;
  return rank >= 2;
}

static MlirValue swappedLast(MlirOperation root, MlirValue value) {
  MlirOperation permute = sambaMatchMaker(value, "permute");
  if (swapsLast(permute))
    return mlirOperationGetOperand(permute, 0);
  MlirContext context = mlirOperationGetContext(root);
  int64_t dims[SAMBA_MAX_RANK];
  intptr_t rank = sambaMatchRank(value);
  for (intptr_t axis = 0; axis < rank; ++axis)
    dims[axis] = axis + 2 < rank ? axis : 2 * rank - 3 - axis;
  MlirNamedAttribute attribute =
      sambaNamedAttribute(context, "dims", mlirDenseI64ArrayGet(context, rank, dims));
  return sambaRaiseBuild(root, "samba.permute", 1, &value, 1, &attribute);
}

/* k^T without factors that are numbers, on either side of its permutation. */
static MlirValue takeKeyScale(MlirOperation root, MlirValue key, double *scale) {
  takeScale(&key, scale);
  MlirOperation permute = sambaMatchMaker(key, "permute");
  if (mlirOperationIsNull(permute))
    return key;
  MlirValue inner = mlirOperationGetOperand(permute, 0);
  takeScale(&inner, scale);
  MlirNamedAttribute dims = sambaNamedAttribute(mlirOperationGetContext(root), "dims",
                                                sambaOperationAttribute(permute, "dims"));
  return mlirValueEqual(inner, mlirOperationGetOperand(permute, 0))
             ? key
             : sambaRaiseBuild(root, "samba.permute", 1, &inner, 1, &dims);
}

/* The softmax whose result is the value, reshaped or not. */
static MlirOperation softmaxOf(MlirValue value, bool *out_reshaped) {
  *out_reshaped = sambaMatchUsedOnce(value) && takeReshape(&value);
  MlirOperation softmax = sambaMatchMaker(value, "softmax");
  return !mlirOperationIsNull(softmax) && sambaMatchLastAxis(softmax) && sambaMatchUsedOnce(value)
             ? softmax
             : (MlirOperation){NULL};
}

/* softmax(..) v, or v^T softmax(..)^T, which is its transpose. */
void sambaRaiseAttention(MlirOperation root) {
  Scores scores = {.scale = 1};
  MlirValue operands[4] = {{NULL}, {NULL}, mlirOperationGetOperand(root, 1)};
  MlirOperation turned = sambaMatchMaker(mlirOperationGetOperand(root, 1), "permute");
  MlirOperation softmax = softmaxOf(mlirOperationGetOperand(root, 0), &scores.reshaped);
  bool transposed = mlirOperationIsNull(softmax) && swapsLast(turned) &&
                    sambaMatchUsedOnce(sambaMatchResult(turned));

  if (transposed)
    softmax = softmaxOf(mlirOperationGetOperand(turned, 0), &scores.reshaped);
  if (mlirOperationIsNull(softmax) || !readScores(mlirOperationGetOperand(softmax, 0), &scores) ||
      !(scores.scale > 0) || isinf(scores.scale) || !masksCombine(&scores))
    return;
  operands[0] = mlirOperationGetOperand(scores.product, 0);
  MlirValue key = mlirOperationGetOperand(scores.product, 1);
  MlirValue whole = wholeOf(&scores);
  MlirValue product = sambaMatchResult(scores.product);
  if (sambaMatchRank(operands[0]) < 2 || sambaMatchRank(key) < 2 ||
      sambaMatchRank(mlirOperationGetOperand(root, transposed ? 0 : 1)) < 2 ||
      !mlirAttributeIsNull(sambaOperationAttribute(root, "out_dtype")) ||
      !mlirAttributeIsNull(sambaOperationAttribute(scores.product, "out_dtype")) ||
      (scores.reshaped && !canReshape(&scores, root, whole)))
    return;
  takeScale(&operands[0], &scores.scale);
  operands[1] = swappedLast(root, takeKeyScale(root, key, &scores.scale));
  if (transposed)
    operands[2] = swappedLast(root, mlirOperationGetOperand(root, 0));
  if (scores.reshaped) {
    operands[0] = split(root, operands[0], product, whole);
    operands[1] = split(root, operands[1], product, whole);
    operands[2] = split(root, operands[2], sambaMatchResult(root), whole);
  }

  bool chosen = scores.mask_count == 1 && !mlirOperationIsNull(scores.masks[0].choice);
  operands[3] = chosen ? keptMask(root, &scores.masks[0], whole) : addedMask(root, &scores, whole);
  MlirContext context = mlirOperationGetContext(root);
  MlirType f64 = mlirF64TypeGet(context);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "scale", mlirFloatAttrDoubleGet(context, f64, scores.scale)),
      sambaNamedAttribute(context, "fill",
                          mlirFloatAttrDoubleGet(context, f64, scores.masks[0].fill))};
  intptr_t count = chosen && scores.masks[0].fill != -INFINITY ? 2 : 1;
  MlirValue result = sambaRaiseBuild(root, "samba.scaled_dot_product_attention",
                                     scores.mask_count ? 4 : 3, operands, count, attributes);
  if (transposed)
    result = swappedLast(root, result);
  mlirValueReplaceAllUsesOfWith(sambaMatchResult(root),
                                sambaRaiseReshapeLike(root, result, sambaMatchResult(root)));
}
