/* softmax(q k^T * scale + mask) v as exporters write it, and rotary position embedding; see raise_idioms.c. */
#include "passes/idioms.h"

/* ---- Attention ---- */

enum { MOST_MASKS = 2 };
typedef struct {
  MlirOperation product; /* q k^T */
  double scale;
  uint32_t mask_count;
  MlirValue masks[MOST_MASKS];       /* added to the scaled scores */
  MlirOperation choices[MOST_MASKS]; /* where(c, scores, fill) or where(c, fill, scores): also a mask; null: masks[] */
} Scores;

/* Takes factors that are numbers off the value. */
static void takeScale(MlirValue *value, double *scale) {
  for (;;) {
    MlirOperation operation = madeBy(*value, "mul");
    MlirValue rest;
    double number = 1;
    if (!isNull(operation) && operandBeside(operation, isAnySplat, &number, &rest) && sameType(rest, *value)) {
      *scale *= number;
    } else if (!isNull(operation = madeBy(*value, "div")) && splatValue(operandOf(operation, 1), &number) &&
               sameType(operandOf(operation, 0), *value)) {
      *scale /= number;
      rest = operandOf(operation, 0);
    } else {
      return;
    }
    *value = rest;
  }
}

/* From the softmax's operand down to the product: masks, then the scale. A fill of -1e30 or less leaves nothing of the
 * score it replaces, and nothing when it is added either. */
static bool readScores(MlirValue value, Scores *out) {
  if (!isUsedOnce(value))
    return false;
  MlirOperation operation = madeBy(value, "add");
  if (!isNull(operation)) {
    for (int i = 0; i < 2 && out->mask_count < MOST_MASKS; ++i) {
      Scores tried = *out;
      tried.choices[tried.mask_count] = (MlirOperation){NULL};
      tried.masks[tried.mask_count++] = operandOf(operation, 1 - i);
      if (sameType(operandOf(operation, i), value) && readScores(operandOf(operation, i), &tried)) {
        *out = tried;
        return true;
      }
    }
    return false;
  }
  operation = madeBy(value, "where");
  if (!isNull(operation)) {
    double fill;
    for (int i = 1; i < 3 && out->mask_count < MOST_MASKS; ++i)
      if (splatValue(operandOf(operation, i), &fill) && fill <= -1e30 && sameType(operandOf(operation, 3 - i), value)) {
        out->choices[out->mask_count++] = operation;
        return readScores(operandOf(operation, 3 - i), out);
      }
    return false;
  }
  takeScale(&value, &out->scale);
  out->product = madeBy(value, "matmul");
  return !isNull(out->product) && isUsedOnce(value);
}

/* where(c, ..) as what is added: the fill or 0. */
static MlirValue addedMask(MlirOperation root, MlirOperation choice) {
  MlirContext context = mlirOperationGetContext(root);
  SambaTensorType scalar = {.dtype = SAMBA_DTYPE_F32};
  MlirNamedAttribute value =
      sambaNamedAttribute(context, "value", sambaDenseAttribute(context, &scalar, &(float){0}, true));
  MlirValue zero = buildBefore(root, "samba.constant", 0, NULL, 1, &value);
  double unused;
  bool fillFirst = splatValue(operandOf(choice, 1), &unused);
  MlirValue operands[] = {operandOf(choice, 0), fillFirst ? operandOf(choice, 1) : zero,
                          fillFirst ? zero : operandOf(choice, 2)};
  return buildBefore(root, "samba.where", 3, operands, 0, NULL);
}

/* where(c, ..) as a mask of what takes part, when the fill is -infinity; else null. */
static MlirValue keptMask(MlirOperation root, MlirOperation choice) {
  double fill;
  MlirValue condition = operandOf(choice, 0);
  if (splatValue(operandOf(choice, 2), &fill) && isinf(fill))
    return condition;
  return splatValue(operandOf(choice, 1), &fill) && isinf(fill)
             ? buildBefore(root, "samba.logical_not", 1, &condition, 0, NULL)
             : (MlirValue){NULL};
}

static MlirValue swappedLast(MlirOperation root, MlirValue value) {
  MlirContext context = mlirOperationGetContext(root);
  int64_t dims[SAMBA_MAX_RANK];
  intptr_t rank = rankOf(value);
  for (intptr_t axis = 0; axis < rank; ++axis)
    dims[axis] = axis + 2 < rank ? axis : 2 * rank - 3 - axis;
  MlirNamedAttribute attribute = sambaNamedAttribute(context, "dims", mlirDenseI64ArrayGet(context, rank, dims));
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
  MlirNamedAttribute dims = sambaNamedAttribute(mlirOperationGetContext(root), "dims", attributeOf(permute, "dims"));
  return mlirValueEqual(inner, operandOf(permute, 0)) ? key : buildBefore(root, "samba.permute", 1, &inner, 1, &dims);
}

static bool isLastAxis(MlirOperation operation) {
  int64_t dim = mlirIntegerAttrGetValueInt(attributeOf(operation, "dim"));
  return dim == -1 || dim == rankOf(resultOf(operation)) - 1;
}

void sambaRaiseAttention(MlirOperation root) {
  MlirOperation softmax = madeBy(operandOf(root, 0), "softmax");
  Scores scores = {.scale = 1};
  if (isNull(softmax) || !isLastAxis(softmax) || !isUsedOnce(resultOf(softmax)) ||
      !readScores(operandOf(softmax, 0), &scores) || !(scores.scale > 0) || isinf(scores.scale))
    return;
  MlirValue operands[4] = {operandOf(scores.product, 0), {NULL}, operandOf(root, 1)},
            key = operandOf(scores.product, 1);
  if (rankOf(operands[0]) < 2 || rankOf(key) < 2 || rankOf(operands[2]) < 2 ||
      !mlirAttributeIsNull(attributeOf(root, "out_dtype")) ||
      !mlirAttributeIsNull(attributeOf(scores.product, "out_dtype")))
    return;
  takeScale(&operands[0], &scores.scale);
  operands[1] = swappedLast(root, takeKeyScale(root, key, &scores.scale));
  if (scores.mask_count == 1 && !isNull(scores.choices[0]))
    operands[3] = keptMask(root, scores.choices[0]);
  MlirValue sum = {NULL};
  for (uint32_t i = 0; i < scores.mask_count && mlirValueIsNull(operands[3]); ++i) {
    MlirValue mask = isNull(scores.choices[i]) ? scores.masks[i] : addedMask(root, scores.choices[i]);
    sum = i ? buildBefore(root, "samba.add", 2, (MlirValue[]){sum, mask}, 0, NULL) : mask;
  }
  if (mlirValueIsNull(operands[3]))
    operands[3] = sum;
  MlirContext context = mlirOperationGetContext(root);
  MlirNamedAttribute scale =
      sambaNamedAttribute(context, "scale", mlirFloatAttrDoubleGet(context, mlirF64TypeGet(context), scores.scale));
  replace(root, "samba.scaled_dot_product_attention", scores.mask_count ? 4 : 3, operands, 1, &scale);
}

/* ---- Rotary embedding ---- */

/* value = x[.., start, start + step, ...], `count` elements of the last dimension, all of the others. */
static bool isPart(MlirValue value, MlirValue x, int64_t start, int64_t step) {
  MlirOperation slice = madeBy(value, "slice");
  intptr_t rank = rankOf(x);
  if (isNull(slice) || !mlirValueEqual(operandOf(slice, 0), x))
    return false;
  for (intptr_t axis = 0; axis < rank; ++axis) {
    bool last = axis + 1 == rank;
    if (sizeOf(value, axis) != (last ? sizeOf(x, axis) / 2 : sizeOf(x, axis)) ||
        mlirDenseI64ArrayGetElement(attributeOf(slice, "starts"), axis) != (last ? start : 0) ||
        mlirDenseI64ArrayGetElement(attributeOf(slice, "steps"), axis) != (last ? step : 1))
      return false;
  }
  return true;
}

/* value is a reshape that puts a dimension of 1 behind; its operand. */
static bool unsqueezed(MlirValue *value) {
  MlirOperation reshape = madeBy(*value, "reshape");
  intptr_t rank = rankOf(*value);
  if (isNull(reshape) || sizeOf(*value, rank - 1) != 1 || rankOf(operandOf(reshape, 0)) != rank - 1)
    return false;
  *value = operandOf(reshape, 0);
  for (intptr_t axis = 0; axis + 1 < rank; ++axis)
    if (sizeOf(*value, axis) != sizeOf(resultOf(reshape), axis))
      return false;
  return true;
}

/* value = x turned: (-x[half..], x[..half]), or with pairs side by side (-x[1], x[0], -x[3], x[2], ...). */
static bool isTurned(MlirValue value, MlirValue x, bool *out_interleaved) {
  MlirOperation reshape = madeBy(value, "reshape"), cat;
  int64_t half = sizeOf(x, rankOf(x) - 1) / 2;
  *out_interleaved = !isNull(reshape);
  cat = madeBy(*out_interleaved ? operandOf(reshape, 0) : value, "cat");
  if (isNull(cat) || mlirOperationGetNumOperands(cat) != 2 || !isLastAxis(cat) || !sameType(value, x) ||
      2 * half != sizeOf(x, rankOf(x) - 1))
    return false;
  MlirValue first = operandOf(cat, 0), second = operandOf(cat, 1);
  if (*out_interleaved && (!unsqueezed(&first) || !unsqueezed(&second)))
    return false;
  MlirOperation negated = madeBy(first, "neg");
  return !isNull(negated) && isPart(operandOf(negated, 0), x, *out_interleaved ? 1 : half, *out_interleaved ? 2 : 1) &&
         isPart(second, x, 0, *out_interleaved ? 2 : 1);
}

/* x cos + turned(x) sin */
void sambaRaiseRotary(MlirOperation root) {
  for (int i = 0; i < 2; ++i) {
    MlirOperation plain = madeBy(operandOf(root, i), "mul"), turned = madeBy(operandOf(root, 1 - i), "mul");
    if (isNull(plain) || isNull(turned))
      return;
    for (int k = 0; k < 4; ++k) {
      MlirValue operands[] = {operandOf(plain, k & 1), operandOf(plain, 1 - (k & 1)), operandOf(turned, k >> 1)};
      bool interleaved;
      if (!sameType(operands[0], resultOf(root)) || !sameType(operands[1], operands[2]) || rankOf(operands[0]) == 0 ||
          !isTurned(operandOf(turned, 1 - (k >> 1)), operands[0], &interleaved))
        continue;
      MlirContext context = mlirOperationGetContext(root);
      MlirNamedAttribute attribute = sambaNamedAttribute(context, "interleaved", mlirBoolAttrGet(context, interleaved));
      replace(root, "samba.rotary_embedding", 3, operands, interleaved ? 1 : 0, &attribute);
      return;
    }
  }
}
