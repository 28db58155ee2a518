/* Activations: elementwise operators with one operand, as in torch.nn.functional. */
#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/elementwise/elementwise.h"
#include "dialect/samba/table/elementwise/elementwise_gradients.h"

#include <math.h>

/* exp(-|x|), which cannot overflow */
static uint16_t expOfMinusMagnitude(SambaStageBuilder *builder, uint16_t x) {
  return sambaLane1(builder, SAMBA_LANE_EXP,
                    sambaLane1(builder, SAMBA_LANE_NEG, sambaLane1(builder, SAMBA_LANE_ABS, x)));
}

static uint16_t programRelu(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  (void)call;
  return sambaLane2(builder, SAMBA_LANE_MAX, *x, sambaLaneNumber(builder, *x, 0));
}

/* With e = exp(-|x|), which cannot overflow: 1 / (1 + e) right of zero, e / (1 + e) left of it. */
static uint16_t programSigmoid(const SambaOperatorCall *call, SambaStageBuilder *builder,
                               const uint16_t *x) {
  (void)call;
  uint16_t e = expOfMinusMagnitude(builder, *x);
  uint16_t one = sambaLaneFloat(builder, 1);
  uint16_t above = sambaLaneSelect(
      builder, sambaLane2(builder, SAMBA_LANE_GE, *x, sambaLaneFloat(builder, 0)), one, e);
  return sambaLane2(builder, SAMBA_LANE_DIV, above, sambaLane2(builder, SAMBA_LANE_ADD, one, e));
}

static uint16_t programSilu(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  return sambaLane2(builder, SAMBA_LANE_MUL, *x, programSigmoid(call, builder, x));
}

/* max(x, 0) + log(1 + exp(-|x|)) */
static uint16_t programSoftplus(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                const uint16_t *x) {
  (void)call;
  uint16_t e = expOfMinusMagnitude(builder, *x);
  uint16_t positive = sambaLane2(builder, SAMBA_LANE_MAX, *x, sambaLaneFloat(builder, 0));
  return sambaLane2(builder, SAMBA_LANE_ADD, positive, sambaLane1(builder, SAMBA_LANE_LOG1P, e));
}

static uint16_t clampTo(SambaStageBuilder *builder, uint16_t x, double low, double high) {
  uint16_t raised = sambaLane2(builder, SAMBA_LANE_MAX, x, sambaLaneNumber(builder, x, low));
  return sambaLane2(builder, SAMBA_LANE_MIN, raised, sambaLaneNumber(builder, x, high));
}

static uint16_t programHardswish(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                 const uint16_t *x) {
  (void)call;
  uint16_t gate =
      clampTo(builder, sambaLane2(builder, SAMBA_LANE_ADD, *x, sambaLaneFloat(builder, 3)), 0, 6);
  return sambaLane2(builder, SAMBA_LANE_MUL, *x,
                    sambaLane2(builder, SAMBA_LANE_DIV, gate, sambaLaneFloat(builder, 6)));
}

static uint16_t programLeakyRelu(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                 const uint16_t *x) {
  uint16_t slope = sambaLaneFloat(builder, sambaOperatorCallFloat(call, "negative_slope"));
  uint16_t below = sambaLane2(builder, SAMBA_LANE_MUL, *x, slope);
  return sambaLaneSelect(
      builder, sambaLane2(builder, SAMBA_LANE_GE, *x, sambaLaneFloat(builder, 0)), *x, below);
}

static uint16_t programElu(const SambaOperatorCall *call, SambaStageBuilder *builder,
                           const uint16_t *x) {
  uint16_t alpha = sambaLaneFloat(builder, sambaOperatorCallFloat(call, "alpha"));
  uint16_t below =
      sambaLane2(builder, SAMBA_LANE_MUL, alpha, sambaLane1(builder, SAMBA_LANE_EXPM1, *x));
  return sambaLaneSelect(
      builder, sambaLane2(builder, SAMBA_LANE_GT, *x, sambaLaneFloat(builder, 0)), *x, below);
}

static uint16_t programHardsigmoid(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                   const uint16_t *x) {
  uint16_t scaled = sambaLane2(builder, SAMBA_LANE_MUL, *x,
                               sambaLaneFloat(builder, sambaOperatorCallFloat(call, "alpha")));
  return clampTo(builder,
                 sambaLane2(builder, SAMBA_LANE_ADD, scaled,
                            sambaLaneFloat(builder, sambaOperatorCallFloat(call, "beta"))),
                 0, 1);
}

static bool approximatesByTanh(const SambaOperatorCall *call) {
  return sambaStringRefEqualC(sambaOperatorCallString(call, "approximate"), "tanh");
}
static SambaStatus inferGelu(const SambaOperatorCall *call, SambaTensorType *out) {
  uint32_t choice;
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(2, call, "approximate", &choice));
  return sambaUnaryInfer(call, out);
}
static uint16_t programGelu(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  uint16_t half = sambaLane2(builder, SAMBA_LANE_MUL, *x, sambaLaneFloat(builder, 0.5));
  uint16_t inner;

  if (approximatesByTanh(call)) {
    uint16_t cube =
        sambaLane2(builder, SAMBA_LANE_MUL, sambaLane2(builder, SAMBA_LANE_MUL, *x, *x), *x);
    uint16_t sum =
        sambaLane2(builder, SAMBA_LANE_ADD, *x,
                   sambaLane2(builder, SAMBA_LANE_MUL, cube, sambaLaneFloat(builder, 0.044715)));
    inner = sambaLane1(
        builder, SAMBA_LANE_TANH,
        sambaLane2(builder, SAMBA_LANE_MUL, sum, sambaLaneFloat(builder, 0.79788456080286535588)));
  } else {
    inner = sambaLane1(
        builder, SAMBA_LANE_ERF,
        sambaLane2(builder, SAMBA_LANE_MUL, *x, sambaLaneFloat(builder, 0.70710678118654752440)));
  }

  return sambaLane2(builder, SAMBA_LANE_MUL, half,
                    sambaLane2(builder, SAMBA_LANE_ADD, inner, sambaLaneFloat(builder, 1)));
}

/* min(x, 0) - log(1 + exp(-|x|)) */
static uint16_t programLogsigmoid(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                  const uint16_t *x) {
  (void)call;
  uint16_t e = expOfMinusMagnitude(builder, *x);
  uint16_t negative = sambaLane2(builder, SAMBA_LANE_MIN, *x, sambaLaneFloat(builder, 0));
  return sambaLane2(builder, SAMBA_LANE_SUB, negative, sambaLane1(builder, SAMBA_LANE_LOG1P, e));
}

static uint16_t programSoftsign(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                const uint16_t *x) {
  (void)call;
  uint16_t below = sambaLane2(builder, SAMBA_LANE_ADD, sambaLane1(builder, SAMBA_LANE_ABS, *x),
                              sambaLaneFloat(builder, 1));
  return sambaLane2(builder, SAMBA_LANE_DIV, *x, below);
}

static uint16_t programMish(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  return sambaLane2(builder, SAMBA_LANE_MUL, *x,
                    sambaLane1(builder, SAMBA_LANE_TANH, programSoftplus(call, builder, x)));
}

/* x > 0 ? x : alpha * expm1(x / alpha) */
static uint16_t programCelu(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  uint16_t alpha = sambaLaneFloat(builder, sambaOperatorCallFloat(call, "alpha"));
  uint16_t grown =
      sambaLane1(builder, SAMBA_LANE_EXPM1, sambaLane2(builder, SAMBA_LANE_DIV, *x, alpha));
  uint16_t below = sambaLane2(builder, SAMBA_LANE_MUL, alpha, grown);
  return sambaLaneSelect(
      builder, sambaLane2(builder, SAMBA_LANE_GT, *x, sambaLaneFloat(builder, 0)), *x, below);
}

/* The constants of the paper, as PyTorch and ONNX round them. */
static uint16_t programSelu(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  uint16_t alpha = sambaLaneFloat(builder, sambaOperatorCallFloat(call, "alpha"));
  uint16_t scale = sambaLaneFloat(builder, sambaOperatorCallFloat(call, "scale"));
  uint16_t below =
      sambaLane2(builder, SAMBA_LANE_MUL, alpha, sambaLane1(builder, SAMBA_LANE_EXPM1, *x));
  uint16_t value = sambaLaneSelect(
      builder, sambaLane2(builder, SAMBA_LANE_GT, *x, sambaLaneFloat(builder, 0)), *x, below);
  return sambaLane2(builder, SAMBA_LANE_MUL, scale, value);
}

/* A NaN is not <= the threshold, so it stays. */
static uint16_t programThreshold(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                 const uint16_t *x) {
  uint16_t value = sambaLaneFloat(builder, sambaOperatorCallFloat(call, "value"));
  uint16_t threshold = sambaLaneFloat(builder, sambaOperatorCallFloat(call, "threshold"));
  return sambaLaneSelect(builder, sambaLane2(builder, SAMBA_LANE_LE, *x, threshold), value, *x);
}

/* Integers lie beyond lambd exactly when they lie beyond its floor. */
static SambaStatus inferShrink(const SambaOperatorCall *call, SambaTensorType *out) {
  double lambd = sambaOperatorCallFloat(call, "lambd");
  double bias = sambaOperatorCallFloat(call, "bias");
  bool whole = call->operand_count && !sambaDTypeIsFloat(call->operands[0].dtype);
  if (isnan(lambd) || isnan(bias) || (whole && (bias != floor(bias) || fabs(bias) > 2147483647.0)))
    return sambaStatusMake(SAMBA_INVALID,
                           "(C2) attributes 'lambd' and 'bias' are %g and %g, which %s cannot hold",
                           lambd, bias, sambaDTypeName(call->operands[0].dtype));
  return sambaUnaryInfer(call, out);
}
static uint16_t programShrink(const SambaOperatorCall *call, SambaStageBuilder *builder,
                              const uint16_t *x) {
  double lambd = sambaOperatorCallFloat(call, "lambd");
  double bias = sambaOperatorCallFloat(call, "bias");
  if (!sambaDTypeIsFloat(call->operands[0].dtype)) /* no narrow integer reaches the bounds */
    lambd = floor(fmin(fmax(lambd, -2147483647.0), 2147483647.0));
  uint16_t shift = sambaLaneNumber(builder, *x, bias);
  uint16_t zero = sambaLaneNumber(builder, *x, 0);
  uint16_t right = sambaLaneSelect(
      builder, sambaLane2(builder, SAMBA_LANE_GT, *x, sambaLaneNumber(builder, *x, lambd)),
      sambaLane2(builder, SAMBA_LANE_SUB, *x, shift), zero);
  return sambaLaneSelect(
      builder, sambaLane2(builder, SAMBA_LANE_LT, *x, sambaLaneNumber(builder, *x, -lambd)),
      sambaLane2(builder, SAMBA_LANE_ADD, *x, shift), right);
}

/* --- derivatives --- */

SLOPE(slopeSigmoid) {
  SLOPE_IGNORES;
  return gradientMul(expansion, y, gradientSub(expansion, gradientNumber(expansion, 1), y));
}
/* s (1 + x (1 - s)), s = sigmoid(x) */
SLOPE(slopeSilu) {
  SLOPE_IGNORES;
  uint32_t s = sambaExpandUnary(expansion, "sigmoid", x);
  uint32_t rest =
      gradientMul(expansion, x, gradientSub(expansion, gradientNumber(expansion, 1), s));
  return gradientMul(expansion, s, gradientPlus(expansion, rest, 1));
}
SLOPE(slopeSoftplus) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "sigmoid", x);
}
SLOPE(slopeLogsigmoid) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "sigmoid", gradientNeg(expansion, x));
}
/* 0 below -3, 1 above 3, x / 3 + 1 / 2 between */
SLOPE(slopeHardswish) {
  SLOPE_IGNORES;
  uint32_t between =
      gradientPlus(expansion, gradientDiv(expansion, x, gradientNumber(expansion, 3)), 0.5);
  uint32_t more = gradientWhere(expansion, gradientIs(expansion, "gt", x, 3),
                                gradientNumber(expansion, 1), between);
  return gradientZeroWhere(expansion, gradientIs(expansion, "lt", x, -3), more);
}
SLOPE(slopeLeakyRelu) {
  SLOPE_IGNORES;
  return gradientWhere(expansion, gradientIs(expansion, "gt", x, 0), gradientNumber(expansion, 1),
                       gradientNumber(expansion, sambaOperatorCallFloat(call, "negative_slope")));
}
/* x > 0 ? 1 : factor * e^(x / divisor) */
static uint32_t exponential(SambaExpansion *expansion, uint32_t x, double above, double factor,
                            double divisor) {
  uint32_t scaled =
      divisor == 1 ? x : gradientDiv(expansion, x, gradientNumber(expansion, divisor));
  uint32_t grown = sambaExpandUnary(expansion, "exp", scaled);
  if (factor != 1)
    grown = gradientScale(expansion, grown, factor);
  return gradientWhere(expansion, gradientIs(expansion, "gt", x, 0),
                       gradientNumber(expansion, above), grown);
}
SLOPE(slopeElu) {
  SLOPE_IGNORES;
  return exponential(expansion, x, 1, sambaOperatorCallFloat(call, "alpha"), 1);
}
SLOPE(slopeCelu) {
  SLOPE_IGNORES;
  return exponential(expansion, x, 1, 1, sambaOperatorCallFloat(call, "alpha"));
}
SLOPE(slopeSelu) {
  SLOPE_IGNORES;
  double scale = sambaOperatorCallFloat(call, "scale");
  return exponential(expansion, x, scale, scale * sambaOperatorCallFloat(call, "alpha"), 1);
}
SLOPE(slopeHardsigmoid) {
  SLOPE_IGNORES;
  uint32_t inside =
      gradientAnd(expansion, gradientIs(expansion, "gt", y, 0), gradientIs(expansion, "lt", y, 1));
  return gradientWhere(expansion, inside,
                       gradientNumber(expansion, sambaOperatorCallFloat(call, "alpha")),
                       gradientNumber(expansion, 0));
}
/* Phi(x) + x phi(x) */
static uint32_t slopeGeluExact(SambaExpansion *expansion, uint32_t x) {
  uint32_t erf = sambaExpandUnary(expansion, "erf", gradientScale(expansion, x, M_SQRT1_2));
  uint32_t below = gradientScale(expansion, gradientPlus(expansion, erf, 1), 0.5);
  uint32_t bell = sambaExpandUnary(expansion, "exp",
                                   gradientScale(expansion, gradientSquare(expansion, x), -0.5));
  bell = gradientScale(expansion, bell, 0.3989422804014327); /* 1 / sqrt(2 pi) */
  return gradientAdd(expansion, below, gradientMul(expansion, x, bell));
}
/* With t = tanh(u), u = c (x + d x^3): (1 + t) / 2 + x / 2 (1 - t^2) c (1 + 3 d x^2) */
SLOPE(slopeGelu) {
  SLOPE_IGNORES;
  const double c = 0.7978845608028654, d = 0.044715; /* c = sqrt(2 / pi) */
  if (!sambaStringRefEqualC(sambaOperatorCallString(call, "approximate"), "tanh"))
    return slopeGeluExact(expansion, x);
  uint32_t squared = gradientSquare(expansion, x);
  uint32_t inner =
      gradientMul(expansion, x, gradientPlus(expansion, gradientScale(expansion, squared, d), 1));
  uint32_t t = sambaExpandUnary(expansion, "tanh", gradientScale(expansion, inner, c));
  uint32_t steep = gradientOneMinusSquare(expansion, t);
  uint32_t moved = gradientPlus(expansion, gradientScale(expansion, squared, 3 * d), 1);
  uint32_t right = gradientMul(expansion, gradientMul(expansion, x, steep),
                               gradientScale(expansion, moved, 0.5 * c));
  return gradientAdd(expansion, gradientScale(expansion, gradientPlus(expansion, t, 1), 0.5),
                     right);
}
/* 1 / (1 + |x|)^2 */
SLOPE(slopeSoftsign) {
  SLOPE_IGNORES;
  uint32_t divisor = gradientPlus(expansion, sambaExpandUnary(expansion, "abs", x), 1);
  return sambaExpandUnary(expansion, "reciprocal", gradientSquare(expansion, divisor));
}
/* t + x sigmoid(x) (1 - t^2), t = tanh(softplus(x)) */
SLOPE(slopeMish) {
  SLOPE_IGNORES;
  uint32_t t = sambaExpandUnary(expansion, "tanh", sambaExpandUnary(expansion, "softplus", x));
  uint32_t steep = gradientOneMinusSquare(expansion, t);
  uint32_t right = gradientMul(
      expansion, gradientMul(expansion, x, sambaExpandUnary(expansion, "sigmoid", x)), steep);
  return gradientAdd(expansion, t, right);
}

const SambaOperator sambaActivationOperators[] = {
    {.name = "relu",
     .formula = "max(x, 0)",
     .onnx = {ONNX("Relu", 1)},
     .differentiate = sambaGradientRelu,
     UNARY(SAMBA_SET_NUMBER, programRelu)},
    {.name = "sigmoid",
     .formula = "1 / (1 + e^-x)",
     .onnx = {ONNX("Sigmoid", 1)},
     BY_SLOPE(slopeSigmoid),
     UNARY(SAMBA_SET_FLOAT, programSigmoid)},
    {.name = "silu",
     .formula = "x / (1 + e^-x)",
     .source = "torch.nn.functional.silu",
     BY_SLOPE(slopeSilu),
     UNARY(SAMBA_SET_FLOAT, programSilu)},
    {.name = "softplus",
     .formula = "ln(1 + e^x)",
     .source = "torch.nn.functional.softplus",
     .onnx = {ONNX("Softplus", 1)},
     BY_SLOPE(slopeSoftplus),
     UNARY(SAMBA_SET_FLOAT, programSoftplus)},
    {.name = "hardswish",
     .formula = "x * (min(max(x + 3, 0), 6) / 6)",
     .source = "torch.nn.functional.hardswish",
     .onnx = {ONNX("HardSwish", 14)},
     BY_SLOPE(slopeHardswish),
     UNARY(SAMBA_SET_FLOAT, programHardswish)},
    {.name = "leaky_relu",
     .formula = "x >= 0 ? x : negative_slope * x",
     .attributes = {FLOAT("negative_slope", 0.01)},
     .example = "%y = samba.leaky_relu %x {negative_slope = 0.1} : tensor<2x3xf32>",
     .source = "torch.nn.functional.leaky_relu",
     .onnx = {ONNX("LeakyRelu", 1, RENAMED("negative_slope", "alpha"))},
     BY_SLOPE(slopeLeakyRelu),
     UNARY(SAMBA_SET_FLOAT, programLeakyRelu)},
    {.name = "elu",
     .formula = "x > 0 ? x : alpha * (e^x - 1)",
     .attributes = {FLOAT("alpha", 1)},
     .example = "%y = samba.elu %x {alpha = 0.5} : tensor<2x3xf32>",
     .source = "torch.nn.functional.elu",
     .onnx = {ONNX("Elu", 1)},
     BY_SLOPE(slopeElu),
     UNARY(SAMBA_SET_FLOAT, programElu)},
    {.name = "hardsigmoid",
     .formula = "min(max(alpha * x + beta, 0), 1)",
     .attributes = {FLOAT("alpha", 1.0 / 6), FLOAT("beta", 0.5)},
     .example = "%y = samba.hardsigmoid %x {alpha = 0.2, beta = 0.5} : tensor<2x3xf32>",
     .source = "torch.nn.functional.hardsigmoid",
     .onnx = {ONNX("HardSigmoid", 1, RENAMED_WITH("alpha", "alpha", 0.2))},
     BY_SLOPE(slopeHardsigmoid),
     UNARY(SAMBA_SET_FLOAT, programHardsigmoid)},
    {.name = "gelu",
     .formula = "x * Phi(x); with approximate = \"tanh\": x/2 * (1 + tanh(sqrt(2/pi) * (x + "
                "0.044715 x^3)))",
     .attributes = {CHOICE("approximate", "none", "none, tanh")},
     .example = "%y = samba.gelu %x {approximate = \"tanh\"} : tensor<2x3xf32>",
     .source = "torch.nn.functional.gelu",
     .builder = SAMBA_BUILDER_OPERANDS,
     BY_SLOPE(slopeGelu),
     UNARY_WITH(SAMBA_SET_FLOAT, inferGelu, programGelu)},
    {.name = "logsigmoid",
     .formula = "ln(1 / (1 + e^-x))",
     .source = "torch.nn.functional.logsigmoid",
     BY_SLOPE(slopeLogsigmoid),
     UNARY(SAMBA_SET_FLOAT, programLogsigmoid)},
    {.name = "softsign",
     .formula = "x / (1 + |x|)",
     .source = "torch.nn.functional.softsign",
     .onnx = {ONNX("Softsign", 1)},
     BY_SLOPE(slopeSoftsign),
     UNARY(SAMBA_SET_FLOAT, programSoftsign)},
    {.name = "mish",
     .formula = "x * tanh(ln(1 + e^x))",
     .source = "torch.nn.functional.mish",
     .onnx = {ONNX("Mish", 18)},
     BY_SLOPE(slopeMish),
     UNARY(SAMBA_SET_FLOAT, programMish)},
    {.name = "celu",
     .formula = "x > 0 ? x : alpha * (e^(x / alpha) - 1)",
     .attributes = {FLOAT("alpha", 1)},
     .example = "%y = samba.celu %x {alpha = 0.5} : tensor<2x3xf32>",
     .source = "torch.nn.functional.celu",
     .onnx = {ONNX("Celu", 12)},
     BY_SLOPE(slopeCelu),
     UNARY(SAMBA_SET_FLOAT, programCelu)},
    {.name = "selu",
     .formula = "scale * (x > 0 ? x : alpha * (e^x - 1))",
     .attributes = {FLOAT("alpha", 1.67326319217681884765625),
                    FLOAT("scale", 1.05070102214813232421875)},
     .example = "%y = samba.selu %x {alpha = 2.0} : tensor<2x3xf32>",
     .source = "torch.nn.functional.selu",
     .onnx = {ONNX_UNTIL(5, "Selu", 1, RENAMED_WITH("alpha", "alpha", 1.6732),
                         RENAMED_WITH("scale", "gamma", 1.0507)),
              ONNX("Selu", 6, RENAMED("scale", "gamma"))},
     BY_SLOPE(slopeSelu),
     UNARY(SAMBA_SET_FLOAT, programSelu)},
    {.name = "threshold",
     .formula = "x <= threshold ? value : x",
     .attributes = {FLOAT("threshold", 0), FLOAT("value", 0)},
     .example = "%y = samba.threshold %x {threshold = 1.0} : tensor<2x3xf32>",
     .source = "torch.nn.functional.threshold",
     .onnx = {ONNX("ThresholdedRelu", 1, RENAMED_WITH("threshold", "alpha", 1),
                   NOT_IN_ONNX("value"))},
     .differentiate = sambaGradientThreshold,
     UNARY(SAMBA_SET_FLOAT, programThreshold)},
    {.name = "shrink",
     .formula = "x < -lambd ? x + bias : x > lambd ? x - bias : 0",
     .attributes = {FLOAT("lambd", 0.5), FLOAT("bias", 0)},
     .example = "%y = samba.shrink %x {lambd = 1.0, bias = 1.0} : tensor<2x3xf32>",
     .source = "torch.nn.functional.hardshrink (bias 0), softshrink (bias lambd), ONNX Shrink",
     .onnx = {ONNX("Shrink", 9)},
     .builder = SAMBA_BUILDER_ALL,
     .differentiate = sambaGradientShrink,
     UNARY_WITH(SAMBA_SET_NUMBER, inferShrink, programShrink)},
    {0}};
