/* samba-raise-idioms: expanded forms that exporters write become the operator they mean.
 *
 * - layer_norm: (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) [* w + b]; w may come before the
 *   division.
 * - rms_norm: x / sqrt(mean(x^2) + eps) [* w].
 * - gelu: x * (1 + erf(x / sqrt 2)) / 2, or x * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
 * - silu: x * sigmoid(x).
 * - softmax: e / sum(e) with e = exp(x - amax(x)); softmax(x - amax(x)).
 * - scaled_dot_product_attention: softmax(q k^T * scale [+ masks]) v. The scale may be on q and k,
 * a mask a where, heads split off the batch for a mask, v left of a transposed softmax, the
 * products einsum.
 * - Attention whose mask is a causal one, made of constants: is_causal (raise_causal.c).
 * - Grouped heads: attention to keys and values that were repeated for the heads that share them
 *   reads them where they lie (share_heads.c).
 * - rotary_embedding: x cos + turned(x) sin, halves or pairs turned, of a whole head or of a part.
 *
 * Means run over the last axes, eps and the other numbers are repeated constants. What matches is
 * computed in one rounding of its own (f32 inside), which is what the model meant and what bf16
 * needs. Near misses stay as they are. */
#include "dialect/samba/match.h"
#include "dialect/samba/phase.h"
#include "passes/passes.h"
#include "passes/raise/idioms.h"

#include <string.h>

/* mean over the last axes of its operand, axes kept: how many axes, or 0. */
static intptr_t trailingMean(MlirOperation mean) {
  MlirAttribute dim = mlirOperationGetAttributeByName(mean, sambaMlirString("dim"));
  MlirAttribute keep = mlirOperationGetAttributeByName(mean, sambaMlirString("keepdim"));
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(mean, 0)));
  intptr_t count = mlirDenseArrayGetNumElements(dim);
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
  MlirOperation mean = sambaMatchMaker(value, "mean");
  if (mlirOperationIsNull(mean) || !(*out_axes = trailingMean(mean)))
    return false;
  MlirOperation square = sambaMatchMaker(mlirOperationGetOperand(mean, 0), "mul");

  if (!mlirOperationIsNull(square) &&
      mlirValueEqual(mlirOperationGetOperand(square, 0), mlirOperationGetOperand(square, 1))) {
    *out_source = mlirOperationGetOperand(square, 0);
    return true;
  }

  square = sambaMatchMaker(mlirOperationGetOperand(mean, 0), "pow");
  if (mlirOperationIsNull(square) || !sambaMatchNumber(mlirOperationGetOperand(square, 1), 2))
    return false;
  *out_source = mlirOperationGetOperand(square, 0);

  return true;
}

/* value = mean(s^2) + eps. */
static bool shiftedSquare(MlirValue value, MlirValue *out_source, intptr_t *out_axes,
                          double *out_eps) {
  MlirOperation add = sambaMatchMaker(value, "add");
  MlirValue mean;
  return !mlirOperationIsNull(add) && sambaMatchBesideSplat(add, out_eps, &mean) && *out_eps > 0 &&
         meanOfSquare(mean, out_source, out_axes);
}

/* What the square root is taken of in value = sqrt(v), or of which the reciprocal is taken in
 * rsqrt(v), v^-0.5, reciprocal(sqrt(v)) or 1 / sqrt(v). */
static bool rootOf(MlirValue value, bool inverse, MlirValue *out_of) {
  MlirOperation root = sambaMatchMaker(value, inverse ? "rsqrt" : "sqrt");
  MlirOperation operation = sambaMatchMaker(value, "pow");
  if (!mlirOperationIsNull(operation) &&
      sambaMatchNumber(mlirOperationGetOperand(operation, 1), inverse ? -0.5 : 0.5))
    root = operation;
  if (inverse && !mlirOperationIsNull(operation = sambaMatchMaker(value, "reciprocal")))
    root = sambaMatchMaker(mlirOperationGetOperand(operation, 0), "sqrt");
  if (inverse && !mlirOperationIsNull(operation = sambaMatchMaker(value, "div")) &&
      sambaMatchNumber(mlirOperationGetOperand(operation, 0), 1))
    root = sambaMatchMaker(mlirOperationGetOperand(operation, 1), "sqrt");
  if (mlirOperationIsNull(root))
    return false;
  *out_of = mlirOperationGetOperand(root, 0);
  return true;
}

/* The parameter that `user` combines with `value`: a tensor of exactly the normalized shape. */
static bool parameterOf(MlirOperation user, MlirValue value, intptr_t axes,
                        MlirValue *out_parameter) {
  if (mlirOperationIsNull(user) || !sambaMatchBeside(user, value, out_parameter))
    return false;
  MlirType type = mlirValueGetType(*out_parameter);
  MlirType whole = mlirValueGetType(value);
  intptr_t rank = mlirShapedTypeGetRank(whole);
  bool same =
      mlirShapedTypeGetRank(type) == axes &&
      mlirTypeEqual(mlirShapedTypeGetElementType(type), mlirShapedTypeGetElementType(whole));
  for (intptr_t a = 0; a < axes && same; ++a)
    same = mlirShapedTypeGetDimSize(type, a) == mlirShapedTypeGetDimSize(whole, rank - axes + a);
  return same;
}

/* s / sqrt(mean(s^2) + eps), in any of the forms of the root; what is divided may be s * w. */
typedef struct {
  MlirValue source, weight; /* no weight: null */
  intptr_t axes;
  double eps;
} Normalized;

static bool normalized(MlirOperation operation, Normalized *out) {
  bool division = sambaOperationIs(operation, "samba.div");
  for (int i = division ? 1 : 0; i < 2; ++i) {
    MlirValue scaled = mlirOperationGetOperand(operation, 1 - i);
    MlirValue squares;
    *out = (Normalized){0};
    if (!rootOf(mlirOperationGetOperand(operation, i), !division, &squares) ||
        !shiftedSquare(squares, &out->source, &out->axes, &out->eps) ||
        !sambaMatchSameType(out->source, sambaMatchResult(operation)))
      continue;
    if (mlirValueEqual(out->source, scaled) ||
        parameterOf(sambaMatchMaker(scaled, "mul"), out->source, out->axes, &out->weight))
      return true;
  }

  return false;
}

/* The only user of the value when it is samba.NAME of the same phase and keeps the value's type,
 * else null. */
static MlirOperation onlyUser(MlirValue value, const char *name) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  if (mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
    return (MlirOperation){NULL};
  MlirOperation user = mlirOpOperandGetOwner(use);
  if (!sambaStringRefEqualC(sambaOperatorNameOf(user), name) ||
      !sambaMatchSameType(sambaMatchResult(user), value) ||
      sambaPhaseOf(user) != sambaPhaseOfValue(value))
    return (MlirOperation){NULL};
  return user;
}

static void raiseNorm(MlirOperation operation) {
  Normalized found;
  if (!normalized(operation, &found))
    return;
  MlirValue source = found.source;
  MlirValue operands[3] = {source, found.weight};
  intptr_t axes = found.axes;
  intptr_t count = mlirValueIsNull(found.weight) ? 1 : 2;

  /* Centered: s = x - mean(x) over the same axes. */
  MlirOperation centered = sambaMatchMaker(source, "sub");
  MlirOperation root = operation;
  const char *name = "samba.rms_norm";
  if (!mlirOperationIsNull(centered)) {
    MlirOperation mean = sambaMatchMaker(mlirOperationGetOperand(centered, 1), "mean");
    if (!mlirOperationIsNull(mean) && trailingMean(mean) == axes &&
        mlirValueEqual(mlirOperationGetOperand(mean, 0), mlirOperationGetOperand(centered, 0))) {
      name = "samba.layer_norm";
      operands[0] = mlirOperationGetOperand(centered, 0);
    }
  }

  MlirOperation user = count == 1 ? onlyUser(sambaMatchResult(root), "mul") : (MlirOperation){NULL};
  if (parameterOf(user, sambaMatchResult(root), axes, &operands[1])) {
    root = user;
    count = 2;
  }

  user = count == 2 ? onlyUser(sambaMatchResult(root), "add") : (MlirOperation){NULL};
  if (strcmp(name, "samba.layer_norm") == 0 &&
      parameterOf(user, sambaMatchResult(root), axes, &operands[2])) {
    root = user;
    count = 3;
  }

  MlirContext context = mlirOperationGetContext(operation);
  MlirType type = mlirValueGetType(source);
  int64_t shape[SAMBA_MAX_RANK];

  for (intptr_t a = 0; a < axes; ++a)
    shape[a] = mlirShapedTypeGetDimSize(type, mlirShapedTypeGetRank(type) - axes + a);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "normalized_shape", mlirDenseI64ArrayGet(context, axes, shape)),
      sambaNamedAttribute(context, "eps",
                          mlirFloatAttrDoubleGet(context, mlirF64TypeGet(context), found.eps))};
  sambaRaiseReplace(root, name, count, operands, 2, attributes);
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

static void raiseFunction(MlirOperation function, SambaMaskForms *forms) {
  MlirOperation next;
  sambaLowerAttentionEinsums(function);
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    SambaStringRef name = sambaOperatorNameOf(operation);
    for (size_t i = 0; i < sizeof idioms / sizeof *idioms; ++i)
      if (sambaStringRefEqualC(name, idioms[i].name) &&
          !mlirOpOperandIsNull(mlirValueGetFirstUse(sambaMatchResult(operation))))
        idioms[i].raise(operation);
  }

  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaStringRefEqualC(sambaOperatorNameOf(operation), "scaled_dot_product_attention") &&
        !mlirOpOperandIsNull(mlirValueGetFirstUse(sambaMatchResult(operation))))
      sambaShareHeads(sambaRaiseCausal(operation, forms));
}

bool sambaRaiseIdioms(MlirOperation module) {
  SambaMaskForms *forms = sambaMaskFormsCreate();
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIs(operation, "func.func") && !mlirBlockIsNull(sambaBodyOf(operation)))
      raiseFunction(operation, forms);
  sambaMaskFormsFree(forms);
  return true;
}
