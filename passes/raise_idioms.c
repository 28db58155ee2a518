/* samba-raise-idioms: expanded forms that exporters write become the operator they mean.
 *
 *   layer_norm  (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) [* w + b]
 *   rms_norm    x / sqrt(mean(x^2) + eps) [* w]
 *   gelu        x * (1 + erf(x / sqrt 2)) / 2, x * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
 *   silu        x * sigmoid(x)
 *   softmax     e / sum(e) with e = exp(x - amax(x)); softmax(x - amax(x))
 *   scaled_dot_product_attention  softmax(q k^T * scale [+ masks]) v; the scale may be on q and k, a mask a where,
 *               heads split off the batch for a mask, v left of a transposed softmax, the products einsum
 *   rotary_embedding  x cos + turned(x) sin, halves or pairs turned, of a whole head or of a part
 *
 * Means run over the last axes, eps and the other numbers are repeated constants. What matches is computed in one
 * rounding of its own (f32 inside), which is what the model meant and what bf16 needs. Near misses stay as they are. */
#include "passes/idioms.h"
#include "passes/passes.h"

#include <string.h>

/* mean over the last axes of its operand, axes kept: how many axes, or 0. */
static intptr_t trailingMean(MlirOperation mean) {
  MlirAttribute dim = mlirOperationGetAttributeByName(mean, sambaMlirString("dim"));
  MlirAttribute keep = mlirOperationGetAttributeByName(mean, sambaMlirString("keepdim"));
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(mean, 0))),
           count = mlirDenseArrayGetNumElements(dim);
  bool seen[SAMBA_MAX_RANK] = {false};
  if (mlirAttributeIsNull(keep) || !mlirBoolAttrGetValue(keep) || count == 0)
    return 0;
  for (intptr_t i = 0; i < count; ++i) {
    int64_t axis = mlirDenseI64ArrayGetElement(dim, i);
    axis += axis < 0 ? rank : 0;
    if (axis < rank - count || axis >= rank || seen[axis])
      return 0;
    seen[axis] = true;
  }
  return count;
}

/* value = mean(s * s over the last axes) for some s. */
static bool meanOfSquare(MlirValue value, MlirValue *out_source, intptr_t *out_axes) {
  MlirOperation mean = madeBy(value, "mean");
  if (isNull(mean) || !(*out_axes = trailingMean(mean)))
    return false;
  MlirOperation square = madeBy(mlirOperationGetOperand(mean, 0), "mul");
  if (!isNull(square) && mlirValueEqual(mlirOperationGetOperand(square, 0), mlirOperationGetOperand(square, 1))) {
    *out_source = mlirOperationGetOperand(square, 0);
    return true;
  }
  square = madeBy(mlirOperationGetOperand(mean, 0), "pow");
  if (isNull(square) || !isNumber(mlirOperationGetOperand(square, 1), 2))
    return false;
  *out_source = mlirOperationGetOperand(square, 0);
  return true;
}

/* value = mean(s^2) + eps. */
static bool shiftedSquare(MlirValue value, MlirValue *out_source, intptr_t *out_axes, double *out_eps) {
  MlirOperation add = madeBy(value, "add");
  MlirValue mean;
  return !isNull(add) && operandBeside(add, isAnySplat, out_eps, &mean) && *out_eps > 0 &&
         meanOfSquare(mean, out_source, out_axes);
}

/* operation = s / sqrt(v), s * rsqrt(v), s * reciprocal(sqrt(v)) or s * (1 / sqrt(v)) with v = mean(s^2) + eps. */
static bool normalized(MlirOperation operation, MlirValue *out_source, intptr_t *out_axes, double *out_eps) {
  SambaStringRef name = sambaOperatorNameOf(operation);
  bool division = sambaStringRefEqualC(name, "div");
  if (!division && !sambaStringRefEqualC(name, "mul"))
    return false;
  for (int i = division ? 1 : 0; i < 2; ++i) {
    MlirValue scaled = mlirOperationGetOperand(operation, 1 - i), deviation = mlirOperationGetOperand(operation, i);
    MlirOperation root = {NULL};
    if (division) {
      root = madeBy(deviation, "sqrt");
    } else {
      root = madeBy(deviation, "rsqrt");
      MlirOperation inverse = madeBy(deviation, "reciprocal");
      if (!isNull(inverse))
        root = madeBy(mlirOperationGetOperand(inverse, 0), "sqrt");
      inverse = madeBy(deviation, "div");
      if (!isNull(inverse) && isNumber(mlirOperationGetOperand(inverse, 0), 1))
        root = madeBy(mlirOperationGetOperand(inverse, 1), "sqrt");
    }
    if (!isNull(root) && shiftedSquare(mlirOperationGetOperand(root, 0), out_source, out_axes, out_eps) &&
        mlirValueEqual(*out_source, scaled) && sameType(scaled, resultOf(operation)))
      return true;
  }
  return false;
}

/* The only user of the value when it is samba.NAME and keeps the value's type, else null. */
static MlirOperation onlyUser(MlirValue value, const char *name) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  if (mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
    return (MlirOperation){NULL};
  MlirOperation user = mlirOpOperandGetOwner(use);
  if (!sambaStringRefEqualC(sambaOperatorNameOf(user), name) || !sameType(resultOf(user), value))
    return (MlirOperation){NULL};
  return user;
}

/* The parameter that `user` combines with `value`: a tensor of exactly the normalized shape. */
static bool parameterOf(MlirOperation user, MlirValue value, intptr_t axes, MlirValue *out_parameter) {
  if (isNull(user) || !operandBeside(user, equals, &value, out_parameter))
    return false;
  MlirType type = mlirValueGetType(*out_parameter), whole = mlirValueGetType(value);
  intptr_t rank = mlirShapedTypeGetRank(whole);
  bool same = mlirShapedTypeGetRank(type) == axes &&
              mlirTypeEqual(mlirShapedTypeGetElementType(type), mlirShapedTypeGetElementType(whole));
  for (intptr_t a = 0; a < axes && same; ++a)
    same = mlirShapedTypeGetDimSize(type, a) == mlirShapedTypeGetDimSize(whole, rank - axes + a);
  return same;
}

static void raiseNorm(MlirOperation operation) {
  MlirValue source, operands[3];
  intptr_t axes, count = 1;
  double eps;
  if (!normalized(operation, &source, &axes, &eps))
    return;
  /* Centered: s = x - mean(x) over the same axes. */
  MlirOperation centered = madeBy(source, "sub"), root = operation;
  const char *name = "samba.rms_norm";
  operands[0] = source;
  if (!isNull(centered)) {
    MlirOperation mean = madeBy(mlirOperationGetOperand(centered, 1), "mean");
    if (!isNull(mean) && trailingMean(mean) == axes &&
        mlirValueEqual(mlirOperationGetOperand(mean, 0), mlirOperationGetOperand(centered, 0))) {
      name = "samba.layer_norm";
      operands[0] = mlirOperationGetOperand(centered, 0);
    }
  }
  MlirOperation user = onlyUser(resultOf(root), "mul");
  if (parameterOf(user, resultOf(root), axes, &operands[1])) {
    root = user;
    count = 2;
    user = onlyUser(resultOf(root), "add");
    if (strcmp(name, "samba.layer_norm") == 0 && parameterOf(user, resultOf(root), axes, &operands[2])) {
      root = user;
      count = 3;
    }
  }
  MlirContext context = mlirOperationGetContext(operation);
  MlirType type = mlirValueGetType(source);
  int64_t shape[SAMBA_MAX_RANK];
  for (intptr_t a = 0; a < axes; ++a)
    shape[a] = mlirShapedTypeGetDimSize(type, mlirShapedTypeGetRank(type) - axes + a);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "normalized_shape", mlirDenseI64ArrayGet(context, axes, shape)),
      sambaNamedAttribute(context, "eps", mlirFloatAttrDoubleGet(context, mlirF64TypeGet(context), eps))};
  replace(root, name, count, operands, 2, attributes);
}

/* What ends at each operator. */
static const struct {
  const char *name;
  void (*raise)(MlirOperation root);
} idioms[] = {{"mul", raiseNorm},
              {"div", raiseNorm},
              {"mul", sambaRaiseActivation},
              {"div", sambaRaiseActivation},
              {"div", sambaRaiseSoftmax},
              {"softmax", sambaRaiseShiftedSoftmax},
              {"matmul", sambaRaiseAttention},
              {"add", sambaRaiseRotary}};

static void raiseFunction(MlirOperation function) {
  MlirOperation next;
  sambaLowerAttentionEinsums(function);
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function)); !isNull(operation);
       operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    SambaStringRef name = sambaOperatorNameOf(operation);
    for (size_t i = 0; i < sizeof idioms / sizeof *idioms; ++i)
      if (sambaStringRefEqualC(name, idioms[i].name) && !mlirOpOperandIsNull(mlirValueGetFirstUse(resultOf(operation))))
        idioms[i].raise(operation);
  }
}

bool sambaRaiseIdioms(MlirOperation module) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !isNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIs(operation, "func.func") && !mlirBlockIsNull(sambaBodyOf(operation)))
      raiseFunction(operation);
  return true;
}
