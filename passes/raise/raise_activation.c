/* GELU, SiLU and softmax from their formulas; see raise_idioms.c. */
#include "dialect/samba/match.h"
#include "passes/raise/idioms.h"

/* A product taken apart: a number and what is multiplied, powers with small whole exponents as
 * repeated factors. */
enum { MOST_FACTORS = 4 };
typedef struct {
  double number;
  uint32_t count;
  MlirValue values[MOST_FACTORS];
} Product;

static bool addFactor(Product *product, MlirValue value, unsigned times) {
  for (; times; --times) {
    if (product->count == MOST_FACTORS)
      return false;
    product->values[product->count++] = value;
  }
  return true;
}

static bool takeApart(MlirValue value, unsigned depth, Product *out) {
  double number;
  if (sambaMatchSplat(value, &number)) {
    out->number *= number;
    return true;
  }

  MlirOperation operation = sambaMatchMaker(value, "mul");
  if (!mlirOperationIsNull(operation) && depth)
    return takeApart(mlirOperationGetOperand(operation, 0), depth - 1, out) &&
           takeApart(mlirOperationGetOperand(operation, 1), depth - 1, out);
  operation = sambaMatchMaker(value, "div");
  if (!mlirOperationIsNull(operation) && depth &&
      sambaMatchSplat(mlirOperationGetOperand(operation, 1), &number)) {
    out->number /= number;
    return takeApart(mlirOperationGetOperand(operation, 0), depth - 1, out);
  }

  operation = sambaMatchMaker(value, "pow");
  for (unsigned exponent = 2; !mlirOperationIsNull(operation) && exponent <= 3; ++exponent)
    if (sambaMatchNumber(mlirOperationGetOperand(operation, 1), exponent))
      return addFactor(out, mlirOperationGetOperand(operation, 0), exponent);
  return addFactor(out, value, 1);
}

static bool productOf(MlirValue value, Product *out) {
  *out = (Product){.number = 1};
  return takeApart(value, 4, out);
}

/* value = number * x^power */
static bool isPower(MlirValue value, double number, MlirValue x, unsigned power) {
  Product product;
  if (!productOf(value, &product) || !sambaMatchNear(product.number, number) ||
      product.count != power)
    return false;
  for (uint32_t i = 0; i < power; ++i)
    if (!mlirValueEqual(product.values[i], x))
      return false;
  return true;
}

static const double cubic = 0.044715, rootOfTwoByPi = 0.79788456080286541;

/* value = sqrt(2 / pi) (x + 0.044715 x^3), the x inside the parentheses or before them. */
static bool isGeluCubic(MlirValue value, MlirValue x) {
  Product product;
  MlirValue other;

  if (!productOf(value, &product) || !sambaMatchNear(product.number, rootOfTwoByPi) ||
      product.count < 1 || product.count > 2)
    return false;
  if (product.count == 1) {
    MlirOperation sum = sambaMatchMaker(product.values[0], "add");
    return !mlirOperationIsNull(sum) && sambaMatchBeside(sum, x, &other) &&
           isPower(other, cubic, x, 3);
  }

  for (int i = 0; i < 2; ++i) {
    MlirOperation sum = sambaMatchMaker(product.values[i], "add");
    if (mlirValueEqual(product.values[1 - i], x) && !mlirOperationIsNull(sum) &&
        sambaMatchBesideNumber(sum, 1, &other) && isPower(other, cubic, x, 2))
      return true;
  }

  return false;
}

/* The three factors x, 1/2 and 1 + erf(x / sqrt 2) or 1 + tanh(cubic of x), multiplied in any
 * order. */
static bool raiseGelu(MlirOperation root) {
  Product product;
  if (!productOf(sambaMatchResult(root), &product) || product.count != 2 ||
      !sambaMatchNear(product.number, 0.5))
    return false;

  for (int i = 0; i < 2; ++i) {
    MlirValue x = product.values[i];
    MlirValue inner;
    MlirOperation sum = sambaMatchMaker(product.values[1 - i], "add");
    MlirOperation function;
    if (!sambaMatchSameType(x, sambaMatchResult(root)) || mlirOperationIsNull(sum) ||
        !sambaMatchBesideNumber(sum, 1, &inner))
      continue;
    bool exact = !mlirOperationIsNull(function = sambaMatchMaker(inner, "erf")) &&
                 isPower(mlirOperationGetOperand(function, 0), 0.70710678118654752, x, 1);
    if (!exact && (mlirOperationIsNull(function = sambaMatchMaker(inner, "tanh")) ||
                   !isGeluCubic(mlirOperationGetOperand(function, 0), x)))
      continue;
    MlirContext context = mlirOperationGetContext(root);
    MlirNamedAttribute approximate =
        sambaNamedAttribute(context, "approximate",
                            mlirStringAttrGet(context, sambaMlirString(exact ? "none" : "tanh")));
    sambaRaiseReplace(root, "samba.gelu", 1, &x, 1, &approximate);
    return true;
  }

  return false;
}

void sambaRaiseActivation(MlirOperation root) {
  if (raiseGelu(root) || !sambaOperationIs(root, "samba.mul"))
    return;
  for (int i = 0; i < 2; ++i) {
    MlirOperation sigmoid = sambaMatchMaker(mlirOperationGetOperand(root, i), "sigmoid");
    MlirValue x = mlirOperationGetOperand(root, 1 - i);
    if (mlirOperationIsNull(sigmoid) || !mlirValueEqual(mlirOperationGetOperand(sigmoid, 0), x))
      continue;
    sambaRaiseReplace(root, "samba.silu", 1, &x, 0, NULL);
    return;
  }
}

/* A reduction over one dimension that is kept; -1: it is not. */
static int64_t keptDimension(MlirOperation reduction) {
  MlirAttribute dim = sambaOperationAttribute(reduction, "dim");
  MlirAttribute keep = sambaOperationAttribute(reduction, "keepdim");
  if (mlirAttributeIsNull(dim) || mlirDenseArrayGetNumElements(dim) != 1 ||
      mlirAttributeIsNull(keep) || !mlirBoolAttrGetValue(keep))
    return -1;
  int64_t axis = mlirDenseI64ArrayGetElement(dim, 0);
  return axis < 0 ? axis + sambaMatchRank(mlirOperationGetOperand(reduction, 0)) : axis;
}

/* e / sum(e) with e = exp(x - amax(x)) over one dimension. */
void sambaRaiseSoftmax(MlirOperation root) {
  MlirOperation power = sambaMatchMaker(mlirOperationGetOperand(root, 0), "exp");
  MlirOperation sum = sambaMatchMaker(mlirOperationGetOperand(root, 1), "sum");

  if (mlirOperationIsNull(power) || mlirOperationIsNull(sum) ||
      !mlirValueEqual(mlirOperationGetOperand(sum, 0), sambaMatchResult(power)))
    return;
  MlirOperation shifted = sambaMatchMaker(mlirOperationGetOperand(power, 0), "sub");
  MlirOperation most = mlirOperationIsNull(shifted)
                           ? shifted
                           : sambaMatchMaker(mlirOperationGetOperand(shifted, 1), "amax");
  if (mlirOperationIsNull(most) ||
      !mlirValueEqual(mlirOperationGetOperand(most, 0), mlirOperationGetOperand(shifted, 0)) ||
      keptDimension(most) < 0 || keptDimension(most) != keptDimension(sum))
    return;
  MlirContext context = mlirOperationGetContext(root);
  MlirValue x = mlirOperationGetOperand(most, 0);
  MlirNamedAttribute dim = sambaNamedAttribute(
      context, "dim", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), keptDimension(sum)));
  sambaRaiseReplace(root, "samba.softmax", 1, &x, 1, &dim);
}

/* softmax(x - amax(x)) along one dimension is softmax(x): the operator takes the greatest off
 * itself. */
void sambaRaiseShiftedSoftmax(MlirOperation root) {
  MlirOperation shifted = sambaMatchMaker(mlirOperationGetOperand(root, 0), "sub");
  MlirOperation most = mlirOperationIsNull(shifted)
                           ? shifted
                           : sambaMatchMaker(mlirOperationGetOperand(shifted, 1), "amax");
  int64_t dim = mlirIntegerAttrGetValueInt(sambaOperationAttribute(root, "dim"));
  if (mlirOperationIsNull(most) ||
      !mlirValueEqual(mlirOperationGetOperand(most, 0), mlirOperationGetOperand(shifted, 0)) ||
      keptDimension(most) != (dim < 0 ? dim + sambaMatchRank(sambaMatchResult(root)) : dim))
    return;
  MlirValue x = mlirOperationGetOperand(most, 0);
  MlirNamedAttribute kept = sambaNamedAttribute(mlirOperationGetContext(root), "dim",
                                                sambaOperationAttribute(root, "dim"));
  sambaRaiseReplace(root, "samba.softmax", 1, &x, 1, &kept);
}
