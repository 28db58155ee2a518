/* Operators that structured operations have no single form for: what their bodies and neighbours
 * were raised to is one operator.
 *
 * - mean: sum(x) / n, n the number of elements that are summed.
 * - avg_pool: avg_pool(x) * n / n, which a sum over windows and its division became.
 * - relu: maximum(x, 0); x <= 0 ? 0 : x, a NaN being itself.
 * - sigmoid: 1 / (1 + exp(-x)), and the form that does not overflow: (x >= 0 ? 1 : e) / (1 + e)
 *   with e = exp(-|x|).
 * - linear and convolutions with their bias. */
#include "lowering/raise/raise_forms.h"

#include "dialect/samba/match.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

static bool isNull(MlirOperation operation) { return mlirOperationIsNull(operation); }

/* value = x / number or x * (1 / number). */
static bool quotientOf(MlirOperation root, double *out_number, MlirValue *out_x) {
  bool division = sambaOperationIs(root, "samba.div");
  double number;
  for (int i = division ? 1 : 0; i < 2; ++i)
    if (sambaMatchSplat(mlirOperationGetOperand(root, i), &number) && number != 0) {
      *out_number = division ? number : 1 / number;
      *out_x = mlirOperationGetOperand(root, 1 - i);
      return sambaMatchSameType(*out_x, sambaMatchResult(root));
    }
  return false;
}

/* How many elements each of a reduction's results is made of; 0: not kept dimensions. */
static double reducedElements(MlirOperation reduction) {
  MlirValue x = mlirOperationGetOperand(reduction, 0);
  MlirAttribute dims = sambaOperationAttribute(reduction, "dim");
  MlirAttribute keep = sambaOperationAttribute(reduction, "keepdim");
  double count = 1;
  if (mlirAttributeIsNull(dims) || mlirAttributeIsNull(keep) || !mlirBoolAttrGetValue(keep))
    return 0;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(dims); ++i) {
    int64_t axis = mlirDenseI64ArrayGetElement(dims, i);
    count *= (double)sambaMatchSize(x, axis < 0 ? axis + sambaMatchRank(x) : axis);
  }
  return count;
}

static void raiseMean(MlirOperation root) {
  double number;
  MlirValue x;
  if (!quotientOf(root, &number, &x))
    return;
  MlirValue summed = x; /* through reshapes */
  MlirOperation reshape;
  while (!isNull(reshape = sambaMatchMaker(summed, "reshape")))
    summed = mlirOperationGetOperand(reshape, 0);
  MlirOperation sum = sambaMatchMaker(summed, "sum");
  if (isNull(sum) || !sambaMatchNear(reducedElements(sum), number))
    return;

  MlirContext context = mlirOperationGetContext(root);
  MlirValue source = mlirOperationGetOperand(sum, 0);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "dim", sambaOperationAttribute(sum, "dim")),
      sambaNamedAttribute(context, "keepdim", mlirBoolAttrGet(context, 1))};
  if (mlirValueEqual(summed, x)) {
    sambaRaiseReplace(root, "samba.mean", 1, &source, 2, attributes);
    return;
  }
  MlirValue mean = sambaRaiseBuild(root, "samba.mean", 1, &source, 2, attributes);
  MlirNamedAttribute shape = sambaNamedAttribute(
      context, "shape", sambaOperationAttribute(sambaDefiningOperation(x), "shape"));
  sambaRaiseReplace(root, "samba.reshape", 1, &mean, 1, &shape);
}

/* The operation that makes the value, through views. */
static MlirOperation sourceOf(MlirValue value) {
  MlirOperation owner = sambaDefiningOperation(value);
  while (!isNull(owner) &&
         (sambaOperationIs(owner, "samba.permute") || sambaOperationIs(owner, "samba.reshape")))
    owner = sambaDefiningOperation(mlirOperationGetOperand(owner, 0));
  return owner;
}

static void raiseAveragePool(MlirOperation root) {
  double number, times;
  MlirValue x, pool;
  if (!quotientOf(root, &number, &x))
    return;
  MlirOperation product = sambaMatchMaker(x, "mul");
  if (isNull(product) || !sambaMatchBesideSplat(product, &times, &pool) ||
      !sambaMatchNear(times, number))
    return;
  MlirOperation source = sourceOf(pool);
  if (!isNull(source) && (sambaOperationIs(source, "samba.avg_pool1d") ||
                          sambaOperationIs(source, "samba.avg_pool2d") ||
                          sambaOperationIs(source, "samba.avg_pool3d")))
    mlirValueReplaceAllUsesOfWith(sambaMatchResult(root), pool);
}

static void raiseRelu(MlirOperation root) {
  MlirValue x;
  if (sambaOperationIs(root, "samba.maximum")) {
    if (sambaMatchBesideNumber(root, 0, &x) && sambaMatchSameType(x, sambaMatchResult(root)))
      sambaRaiseReplace(root, "samba.relu", 1, &x, 0, NULL);
    return;
  }

  x = mlirOperationGetOperand(root, 1);
  MlirValue condition = mlirOperationGetOperand(root, 0);
  MlirOperation inverse = sambaMatchMaker(condition, "logical_not");
  MlirOperation compare =
      isNull(inverse) ? inverse : sambaMatchMaker(mlirOperationGetOperand(inverse, 0), "le");
  if (!isNull(compare) && sambaMatchSameType(x, sambaMatchResult(root)) &&
      sambaMatchNumber(mlirOperationGetOperand(root, 2), 0) &&
      mlirValueEqual(mlirOperationGetOperand(compare, 0), x) &&
      sambaMatchNumber(mlirOperationGetOperand(compare, 1), 0))
    sambaRaiseReplace(root, "samba.relu", 1, &x, 0, NULL);
}

/* value = exp(-x) or, with `absolute`, exp(-|x|). */
static bool exponentialOf(MlirValue value, bool absolute, MlirValue *out_x) {
  MlirOperation power = sambaMatchMaker(value, "exp");
  MlirOperation negative =
      isNull(power) ? power : sambaMatchMaker(mlirOperationGetOperand(power, 0), "neg");
  if (isNull(negative))
    return false;
  *out_x = mlirOperationGetOperand(negative, 0);
  if (!absolute)
    return true;
  MlirOperation size = sambaMatchMaker(*out_x, "abs");
  if (isNull(size))
    return false;
  *out_x = mlirOperationGetOperand(size, 0);
  return true;
}

static void raiseSigmoid(MlirOperation root) {
  MlirValue dividend = mlirOperationGetOperand(root, 0), power, x;
  MlirOperation sum = sambaMatchMaker(mlirOperationGetOperand(root, 1), "add");
  MlirOperation choice = sambaMatchMaker(dividend, "where");
  if (isNull(sum) || !sambaMatchBesideNumber(sum, 1, &power) ||
      !exponentialOf(power, !isNull(choice), &x) || !sambaMatchSameType(x, sambaMatchResult(root)))
    return;
  if (isNull(choice)) {
    if (sambaMatchNumber(dividend, 1))
      sambaRaiseReplace(root, "samba.sigmoid", 1, &x, 0, NULL);
    return;
  }
  MlirOperation compare = sambaMatchMaker(mlirOperationGetOperand(choice, 0), "ge");
  if (!isNull(compare) && mlirValueEqual(mlirOperationGetOperand(compare, 0), x) &&
      sambaMatchNumber(mlirOperationGetOperand(compare, 1), 0) &&
      sambaMatchNumber(mlirOperationGetOperand(choice, 1), 1) &&
      mlirValueEqual(mlirOperationGetOperand(choice, 2), power))
    sambaRaiseReplace(root, "samba.sigmoid", 1, &x, 0, NULL);
}

/* The bias as [O], where `value` is one that is added along axis `axis` of the result. */
static bool biasOf(MlirValue value, MlirValue product, intptr_t axis, MlirValue *out_bias) {
  intptr_t rank = sambaMatchRank(product), own = sambaMatchRank(value);
  if (own > rank || own < rank - axis)
    return false;
  for (intptr_t a = 0; a < own; ++a)
    if (sambaMatchSize(value, a) != (a + rank - own == axis ? sambaMatchSize(product, axis) : 1))
      return false;
  *out_bias = value;
  if (own == 1)
    return true;
  MlirOperation reshape = sambaMatchMaker(value, "reshape");
  if (isNull(reshape))
    return false;
  *out_bias = mlirOperationGetOperand(reshape, 0);
  return sambaMatchRank(*out_bias) == 1;
}

static void raiseBias(MlirOperation root) {
  static const struct {
    const char *name;
    intptr_t axis; /* of the outputs; negative: from the end */
  } forms[] = {{"samba.linear", -1}, {"samba.conv1d", 1}, {"samba.conv2d", 1}, {"samba.conv3d", 1}};
  for (int i = 0; i < 2; ++i) {
    MlirValue product = mlirOperationGetOperand(root, i), bias;
    MlirOperation owner = sambaDefiningOperation(product);
    if (isNull(owner) || mlirOperationGetNumOperands(owner) != 2 ||
        !sambaMatchSameType(product, sambaMatchResult(root)) || !sambaMatchUsedOnce(product))
      continue;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; ++f) {
      intptr_t axis = forms[f].axis < 0 ? sambaMatchRank(product) - 1 : forms[f].axis;
      if (!sambaOperationIs(owner, forms[f].name) ||
          !biasOf(mlirOperationGetOperand(root, 1 - i), product, axis, &bias))
        continue;
      MlirValue operands[] = {mlirOperationGetOperand(owner, 0), mlirOperationGetOperand(owner, 1),
                              bias};
      MlirAttribute all = sambaOperationAttributes(owner);
      MlirNamedAttribute attributes[8];
      intptr_t count = 0;
      for (; count < mlirDictionaryAttrGetNumElements(all) && count < 8; ++count)
        attributes[count] = mlirDictionaryAttrGetElement(all, count);
      sambaRaiseReplace(root, forms[f].name, 3, operands, count, attributes);
      return;
    }
  }
}

/* What ends at each operator. */
static const struct {
  const char *name;
  void (*raise)(MlirOperation root);
} forms[] = {{"div", raiseMean},        {"mul", raiseMean},     {"div", raiseAveragePool},
             {"mul", raiseAveragePool}, {"maximum", raiseRelu}, {"where", raiseRelu},
             {"div", raiseSigmoid},     {"add", raiseBias}};

void sambaRaiseForms(MlirOperation function) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    SambaStringRef name = sambaOperatorNameOf(operation);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
      if (sambaStringRefEqualC(name, forms[i].name) &&
          !mlirOpOperandIsNull(mlirValueGetFirstUse(sambaMatchResult(operation))))
        forms[i].raise(operation);
  }
}
