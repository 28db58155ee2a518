/* GELU, SiLU and softmax from their formulas; see raise_idioms.c. */
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
  if (splatValue(value, &number)) {
    out->number *= number;
    return true;
  }

  MlirOperation operation = madeBy(value, "mul");
  if (!isNull(operation) && depth)
    return takeApart(operandOf(operation, 0), depth - 1, out) &&
           takeApart(operandOf(operation, 1), depth - 1, out);
  operation = madeBy(value, "div");
  if (!isNull(operation) && depth && splatValue(operandOf(operation, 1), &number)) {
    out->number /= number;
    return takeApart(operandOf(operation, 0), depth - 1, out);
  }

  operation = madeBy(value, "pow");
  for (unsigned exponent = 2; !isNull(operation) && exponent <= 3; ++exponent)
    if (isNumber(operandOf(operation, 1), exponent))
      return addFactor(out, operandOf(operation, 0), exponent);
  return addFactor(out, value, 1);
}

static bool productOf(MlirValue value, Product *out) {
  *out = (Product){.number = 1};
  return takeApart(value, 4, out);
}

/* value = number * x^power */
static bool isPower(MlirValue value, double number, MlirValue x, unsigned power) {
  Product product;
  if (!productOf(value, &product) || !isNear(product.number, number) || product.count != power)
    return false;
  for (uint32_t i = 0; i < power; ++i)
    if (!mlirValueEqual(product.values[i], x))
      return false;
  return true;
}

static const double cubic = 0.044715, rootOfTwoByPi = 0.79788456080286541;

/* value = sqrt(2 / pi) (x + 0.044715 x^3), the x inside the parentheses or before them. */
static bool isGeluCubic(MlirValue value, MlirValue x) {
  static const double one = 1;
  Product product;
  MlirValue other;

  if (!productOf(value, &product) || !isNear(product.number, rootOfTwoByPi) || product.count < 1 ||
      product.count > 2)
    return false;
  if (product.count == 1) {
    MlirOperation sum = madeBy(product.values[0], "add");
    return !isNull(sum) && operandBeside(sum, equals, &x, &other) && isPower(other, cubic, x, 3);
  }

  for (int i = 0; i < 2; ++i) {
    MlirOperation sum = madeBy(product.values[i], "add");
    if (mlirValueEqual(product.values[1 - i], x) && !isNull(sum) &&
        operandBeside(sum, equalsNumber, &one, &other) && isPower(other, cubic, x, 2))
      return true;
  }

  return false;
}

/* The three factors x, 1/2 and 1 + erf(x / sqrt 2) or 1 + tanh(cubic of x), multiplied in any
 * order. */
static bool raiseGelu(MlirOperation root) {
  static const double one = 1;
  Product product;
  if (!productOf(resultOf(root), &product) || product.count != 2 || !isNear(product.number, 0.5))
    return false;

  for (int i = 0; i < 2; ++i) {
    MlirValue x = product.values[i];
    MlirValue inner;
    MlirOperation sum = madeBy(product.values[1 - i], "add");
    MlirOperation function;
    if (!sameType(x, resultOf(root)) || isNull(sum) ||
        !operandBeside(sum, equalsNumber, &one, &inner))
      continue;
    bool exact = !isNull(function = madeBy(inner, "erf")) &&
                 isPower(operandOf(function, 0), 0.70710678118654752, x, 1);
    if (!exact &&
        (isNull(function = madeBy(inner, "tanh")) || !isGeluCubic(operandOf(function, 0), x)))
      continue;
    MlirContext context = mlirOperationGetContext(root);
    MlirNamedAttribute approximate =
        sambaNamedAttribute(context, "approximate",
                            mlirStringAttrGet(context, sambaMlirString(exact ? "none" : "tanh")));
    replace(root, "samba.gelu", 1, &x, 1, &approximate);
    return true;
  }

  return false;
}

void sambaRaiseActivation(MlirOperation root) {
  if (raiseGelu(root) || !sambaOperationIs(root, "samba.mul"))
    return;
  for (int i = 0; i < 2; ++i) {
    MlirOperation sigmoid = madeBy(operandOf(root, i), "sigmoid");
    MlirValue x = operandOf(root, 1 - i);
    if (isNull(sigmoid) || !mlirValueEqual(operandOf(sigmoid, 0), x))
      continue;
    replace(root, "samba.silu", 1, &x, 0, NULL);
    return;
  }
}

/* A reduction over one dimension that is kept; -1: it is not. */
static int64_t keptDimension(MlirOperation reduction) {
  MlirAttribute dim = attributeOf(reduction, "dim");
  MlirAttribute keep = attributeOf(reduction, "keepdim");
  if (mlirAttributeIsNull(dim) || mlirDenseArrayGetNumElements(dim) != 1 ||
      mlirAttributeIsNull(keep) || !mlirBoolAttrGetValue(keep))
    return -1;
  int64_t axis = mlirDenseI64ArrayGetElement(dim, 0);
  return axis < 0 ? axis + rankOf(operandOf(reduction, 0)) : axis;
}

/* e / sum(e) with e = exp(x - amax(x)) over one dimension. */
void sambaRaiseSoftmax(MlirOperation root) {
  MlirOperation power = madeBy(operandOf(root, 0), "exp");
  MlirOperation sum = madeBy(operandOf(root, 1), "sum");

  if (isNull(power) || isNull(sum) || !mlirValueEqual(operandOf(sum, 0), resultOf(power)))
    return;
  MlirOperation shifted = madeBy(operandOf(power, 0), "sub");
  MlirOperation most = isNull(shifted) ? shifted : madeBy(operandOf(shifted, 1), "amax");
  if (isNull(most) || !mlirValueEqual(operandOf(most, 0), operandOf(shifted, 0)) ||
      keptDimension(most) < 0 || keptDimension(most) != keptDimension(sum))
    return;
  MlirContext context = mlirOperationGetContext(root);
  MlirValue x = operandOf(most, 0);
  MlirNamedAttribute dim = sambaNamedAttribute(
      context, "dim", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), keptDimension(sum)));
  replace(root, "samba.softmax", 1, &x, 1, &dim);
}

/* softmax(x - amax(x)) along one dimension is softmax(x): the operator takes the greatest off
 * itself. */
void sambaRaiseShiftedSoftmax(MlirOperation root) {
  MlirOperation shifted = madeBy(operandOf(root, 0), "sub");
  MlirOperation most = isNull(shifted) ? shifted : madeBy(operandOf(shifted, 1), "amax");
  int64_t dim = mlirIntegerAttrGetValueInt(attributeOf(root, "dim"));
  if (isNull(most) || !mlirValueEqual(operandOf(most, 0), operandOf(shifted, 0)) ||
      keptDimension(most) != (dim < 0 ? dim + rankOf(resultOf(root)) : dim))
    return;
  MlirValue x = operandOf(most, 0);
  MlirNamedAttribute kept =
      sambaNamedAttribute(mlirOperationGetContext(root), "dim", attributeOf(root, "dim"));
  replace(root, "samba.softmax", 1, &x, 1, &kept);
}
