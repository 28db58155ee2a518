/* Elementwise operators with one operand. Values are computed in f32 and rounded once; sources of
 * the definitions are the functions of the same names in torch. */
#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/elementwise/elementwise.h"
#include "dialect/samba/table/elementwise/elementwise_gradients.h"

#include <math.h>

SambaStatus sambaUnaryInfer(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(
      sambaCheckDType(1, "the operand", call->operands[0].dtype, call->operator->dtypes));
  *out = call->operands[0];
  return NULL;
}

SambaStatus sambaUnaryStages(const SambaOperatorCall *call, SambaStageGraph *graph,
                             const uint32_t *operands, const uint32_t *results, const char *layer) {
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  uint16_t x = sambaStageBroadcastOperand(&builder, operands[0]);
  sambaStageEndRounded(&builder, call->operator->program(call, &builder, &x));
  return NULL;
}

uint16_t sambaUnaryProgram(const SambaOperatorCall *call, SambaStageBuilder *builder,
                           const uint16_t *x) {
  return sambaLane1(builder, call->operator->opcode, *x);
}

static uint16_t programReciprocal(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                  const uint16_t *x) {
  (void)call;
  return sambaLane2(builder, SAMBA_LANE_DIV, sambaLaneFloat(builder, 1), *x);
}

/* A zero or NaN is its own sign. */
static uint16_t programSign(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  (void)call;
  uint16_t zero = sambaLaneNumber(builder, *x, 0);
  uint16_t negative = sambaLaneSelect(builder, sambaLane2(builder, SAMBA_LANE_LT, *x, zero),
                                      sambaLaneNumber(builder, *x, -1), *x);
  return sambaLaneSelect(builder, sambaLane2(builder, SAMBA_LANE_GT, *x, zero),
                         sambaLaneNumber(builder, *x, 1), negative);
}

static uint16_t programLogicalNot(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                  const uint16_t *x) {
  (void)call;
  return sambaLane2(builder, SAMBA_LANE_XOR, *x, sambaLaneNumber(builder, *x, 1));
}

static uint16_t programBitwiseNot(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                  const uint16_t *x) {
  return sambaLane2(
      builder, SAMBA_LANE_XOR, *x,
      sambaLaneNumber(builder, *x, call->operands[0].dtype == SAMBA_DTYPE_I1 ? 1 : -1));
}

static SambaStatus inferClamp(const SambaOperatorCall *call, SambaTensorType *out) {
  static const char *const names[] = {"min", "max"};
  for (int i = 0; i < 2; ++i) {
    double value = sambaOperatorCallFloat(call, names[i]);
    if (isnan(value) || (!sambaDTypeIsFloat(call->operands[0].dtype) &&
                         (value != floor(value) || fabs(value) > 9007199254740992.0)))
      return sambaStatusMake(SAMBA_INVALID, "(C2) attribute '%s' is %g, which %s cannot hold",
                             names[i], value, sambaDTypeName(call->operands[0].dtype));
  }
  return sambaUnaryInfer(call, out);
}
static uint16_t programClamp(const SambaOperatorCall *call, SambaStageBuilder *builder,
                             const uint16_t *x) {
  const SambaAttribute *low = sambaOperatorCallFind(call, "min");
  const SambaAttribute *high = sambaOperatorCallFind(call, "max");
  uint16_t value = *x;
  if (low)
    value =
        sambaLane2(builder, SAMBA_LANE_MAX, value, sambaLaneNumber(builder, *x, low->value.real));
  if (high)
    value =
        sambaLane2(builder, SAMBA_LANE_MIN, value, sambaLaneNumber(builder, *x, high->value.real));
  return value;
}

static SambaStatus inferCast(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", call->operands[0].dtype, SAMBA_SET_ANY));
  *out = call->operands[0];
  out->dtype = sambaOperatorCallFind(call, "dtype")->value.dtype;
  return sambaCheckDType(2, "attribute 'dtype'", out->dtype, SAMBA_SET_ANY);
}
static uint16_t programCast(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  return sambaLaneCast(builder, *x, sambaOperatorCallFind(call, "dtype")->value.dtype);
}

/* A copy: what reads it finds the elements in row-major order. */
static uint16_t programContiguous(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                  const uint16_t *x) {
  (void)call;
  (void)builder;
  return *x;
}

/* Identities for the machine: views. */
static SambaStatus composeSame(const SambaOperatorCall *call, const SambaTensorType *result,
                               SambaStageOperand *out_operand) {
  (void)call;
  for (uint32_t axis = 0; axis < result->rank; ++axis)
    out_operand->axes[axis].coefficients[axis] = 1;
  return NULL;
}

/* --- derivatives --- */

SLOPE(slopeAbs) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "sign", x);
}
SLOPE(slopeExp) {
  SLOPE_IGNORES;
  return y;
}
SLOPE(slopeLog) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "reciprocal", x);
}
SLOPE(slopeSqrt) {
  SLOPE_IGNORES;
  return gradientDiv(expansion, gradientNumber(expansion, 0.5), y);
}
SLOPE(slopeRsqrt) {
  SLOPE_IGNORES;
  return gradientMul(expansion, gradientScale(expansion, y, -0.5), gradientSquare(expansion, y));
}
SLOPE(slopeTanh) {
  SLOPE_IGNORES;
  return gradientOneMinusSquare(expansion, y);
}
SLOPE(slopeErf) {
  SLOPE_IGNORES;
  uint32_t bell =
      sambaExpandUnary(expansion, "exp", gradientNeg(expansion, gradientSquare(expansion, x)));
  return gradientScale(expansion, bell, 1.1283791670955126); /* 2 / sqrt(pi) */
}
SLOPE(slopeSin) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "cos", x);
}
SLOPE(slopeCos) {
  SLOPE_IGNORES;
  return gradientNeg(expansion, sambaExpandUnary(expansion, "sin", x));
}
SLOPE(slopeExpm1) {
  SLOPE_IGNORES;
  return gradientPlus(expansion, y, 1);
}
SLOPE(slopeLog1p) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "reciprocal", gradientPlus(expansion, x, 1));
}
SLOPE(slopeReciprocal) {
  SLOPE_IGNORES;
  return gradientNeg(expansion, gradientSquare(expansion, y));
}

const SambaOperator sambaUnaryOperators[] = {
    {.name = "neg",
     .formula = "-x",
     .onnx = {ONNX("Neg", 1)},
     .differentiate = sambaGradientNeg,
     UNARY_OPCODE(SAMBA_SET_FLOAT | SAMBA_SET_SIGNED, SAMBA_LANE_NEG)},
    {.name = "abs",
     .formula = "|x|",
     .onnx = {ONNX("Abs", 1)},
     BY_SLOPE(slopeAbs),
     UNARY_OPCODE(SAMBA_SET_NUMBER, SAMBA_LANE_ABS)},
    {.name = "exp",
     .formula = "e^x",
     .onnx = {ONNX("Exp", 1)},
     BY_SLOPE(slopeExp),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_EXP)},
    {.name = "log",
     .formula = "ln x",
     .onnx = {ONNX("Log", 1)},
     BY_SLOPE(slopeLog),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_LOG)},
    {.name = "sqrt",
     .formula = "square root of x",
     .onnx = {ONNX("Sqrt", 1)},
     BY_SLOPE(slopeSqrt),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_SQRT)},
    {.name = "rsqrt",
     .formula = "1 / sqrt(x)",
     BY_SLOPE(slopeRsqrt),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_RSQRT)},
    {.name = "tanh",
     .formula = "tanh x",
     .onnx = {ONNX("Tanh", 1)},
     BY_SLOPE(slopeTanh),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_TANH)},
    {.name = "erf",
     .formula = "2/sqrt(pi) * integral from 0 to x of e^(-t^2) dt",
     BY_SLOPE(slopeErf),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_ERF)},
    {.name = "sin",
     .formula = "sin x",
     .onnx = {ONNX("Sin", 7)},
     BY_SLOPE(slopeSin),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_SIN)},
    {.name = "cos",
     .formula = "cos x",
     .onnx = {ONNX("Cos", 7)},
     BY_SLOPE(slopeCos),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_COS)},
    {.name = "floor",
     .formula = "largest integer <= x",
     .onnx = {ONNX("Floor", 1)},
     .no_gradient = true,
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_FLOOR)},
    {.name = "ceil",
     .formula = "smallest integer >= x",
     .onnx = {ONNX("Ceil", 1)},
     .no_gradient = true,
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_CEIL)},
    {.name = "trunc",
     .formula = "nearest integer toward zero",
     .no_gradient = true,
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_TRUNC)},
    {.name = "expm1",
     .formula = "e^x - 1",
     BY_SLOPE(slopeExpm1),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_EXPM1)},
    {.name = "log1p",
     .formula = "ln(1 + x)",
     BY_SLOPE(slopeLog1p),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_LOG1P)},
    {.name = "round",
     .formula = "nearest integer, ties to even",
     .onnx = {ONNX("Round", 11)},
     .no_gradient = true,
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_ROUNDEVEN)},
    {.name = "reciprocal",
     .formula = "1 / x",
     .onnx = {ONNX("Reciprocal", 1)},
     BY_SLOPE(slopeReciprocal),
     UNARY(SAMBA_SET_FLOAT, programReciprocal)},
    {.name = "sign",
     .formula = "-1, 0 or 1 with x's sign",
     .onnx = {ONNX("Sign", 9)},
     .no_gradient = true,
     UNARY(SAMBA_SET_NUMBER, programSign)},
    {.name = "logical_not",
     .formula = "not x",
     .onnx = {ONNX("Not", 1)},
     .no_gradient = true,
     UNARY(SAMBA_SET_BOOL, programLogicalNot)},
    {.name = "bitwise_not",
     .formula = "x with all bits inverted",
     .onnx = {ONNX("BitwiseNot", 18)},
     .no_gradient = true,
     UNARY(SAMBA_SET_INTEGER | SAMBA_SET_BOOL, programBitwiseNot)},
    {.name = "clamp",
     .formula = "min(max(x, min), max)",
     .attributes = {OPTIONAL(FLOAT, "min", "absent: no lower bound"),
                    OPTIONAL(FLOAT, "max", "absent: no upper bound")},
     .example = "%y = samba.clamp %x {min = 0.0, max = 6.0} : tensor<2x3xf32>",
     .differentiate = sambaGradientClamp,
     UNARY_WITH(SAMBA_SET_NUMBER, inferClamp, programClamp)},
    {.name = "cast",
     .formula = "x converted to dtype",
     .computes = "The result has the dtype asked for. To a float the number is rounded to nearest "
                 "even, a float becomes an integer toward zero, i1 is x != 0.",
     .attributes = {REQUIRED(DTYPE, "dtype", "the result's element type")},
     .example = "%y = samba.cast %x {dtype = bf16} : tensor<2x3xf32>",
     .source = "torch.Tensor.to",
     .differentiate = sambaGradientCast,
     UNARY_WITH(SAMBA_SET_ANY, inferCast, programCast)},
    {.name = "contiguous",
     .formula = "x, laid out row-major",
     .source = "torch.Tensor.contiguous",
     .differentiate = sambaGradientSame,
     UNARY(SAMBA_SET_ANY, programContiguous)},
    {.name = "detach",
     .formula = "x, cut off from differentiation",
     .operands = {"input"},
     .constraints = {"the operand's dtype is one that the operation is defined for",
                     "attributes are in their range"},
     .builder = SAMBA_BUILDER_ALL,
     .view = true,
     .dtypes = SAMBA_SET_ANY,
     .infer = sambaUnaryInfer,
     .no_gradient = true,
     .compose = composeSame},
    {.name = "contiguous_backward",
     .formula = "x, whose gradient is laid out row-major",
     .operands = {"input"},
     .constraints = {"the operand's dtype is one that the operation is defined for",
                     "attributes are in their range"},
     .source = "tinygrad.Tensor.contiguous_backward",
     .builder = SAMBA_BUILDER_ALL,
     .view = true,
     .dtypes = SAMBA_SET_ANY,
     .infer = sambaUnaryInfer,
     .differentiate = sambaGradientContiguousBackward,
     .compose = composeSame},
    {0}};
