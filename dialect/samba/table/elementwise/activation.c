/* Activations: elementwise operators with one operand, as in torch.nn.functional. */
#include "dialect/samba/table/core/gradient_calls.h"
#include "dialect/samba/table/elementwise/elementwise.h"
#include "dialect/samba/table/elementwise/elementwise_gradients.h"

#include <math.h>

/* exp(-|x|), which cannot overflow */
static uint16_t expOfMinusMagnitude(SambaStageBuilder *b, uint16_t x) {
  return sambaLane1(b, SAMBA_LANE_EXP,
                    sambaLane1(b, SAMBA_LANE_NEG, sambaLane1(b, SAMBA_LANE_ABS, x)));
}

static uint16_t programRelu(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  (void)call;
  return sambaLane2(b, SAMBA_LANE_MAX, *x, sambaLaneNumber(b, *x, 0));
}

/* With e = exp(-|x|), which cannot overflow: 1 / (1 + e) right of zero, e / (1 + e) left of it. */
static uint16_t programSigmoid(const SambaOperatorCall *call, SambaStageBuilder *b,
                               const uint16_t *x) {
  (void)call;
  uint16_t e = expOfMinusMagnitude(b, *x);
  uint16_t one = sambaLaneFloat(b, 1);
  uint16_t above =
      sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GE, *x, sambaLaneFloat(b, 0)), one, e);
  return sambaLane2(b, SAMBA_LANE_DIV, above, sambaLane2(b, SAMBA_LANE_ADD, one, e));
}

static uint16_t programSilu(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  return sambaLane2(b, SAMBA_LANE_MUL, *x, programSigmoid(call, b, x));
}

/* max(x, 0) + log(1 + exp(-|x|)) */
static uint16_t programSoftplus(const SambaOperatorCall *call, SambaStageBuilder *b,
                                const uint16_t *x) {
  (void)call;
  uint16_t e = expOfMinusMagnitude(b, *x);
  uint16_t positive = sambaLane2(b, SAMBA_LANE_MAX, *x, sambaLaneFloat(b, 0));
  return sambaLane2(b, SAMBA_LANE_ADD, positive, sambaLane1(b, SAMBA_LANE_LOG1P, e));
}

static uint16_t clampTo(SambaStageBuilder *b, uint16_t x, double low, double high) {
  uint16_t raised = sambaLane2(b, SAMBA_LANE_MAX, x, sambaLaneNumber(b, x, low));
  return sambaLane2(b, SAMBA_LANE_MIN, raised, sambaLaneNumber(b, x, high));
}

static uint16_t programHardswish(const SambaOperatorCall *call, SambaStageBuilder *b,
                                 const uint16_t *x) {
  (void)call;
  uint16_t gate = clampTo(b, sambaLane2(b, SAMBA_LANE_ADD, *x, sambaLaneFloat(b, 3)), 0, 6);
  return sambaLane2(b, SAMBA_LANE_MUL, *x,
                    sambaLane2(b, SAMBA_LANE_DIV, gate, sambaLaneFloat(b, 6)));
}

static uint16_t programLeakyRelu(const SambaOperatorCall *call, SambaStageBuilder *b,
                                 const uint16_t *x) {
  uint16_t slope = sambaLaneFloat(b, sambaOperatorCallFloat(call, "negative_slope"));
  uint16_t below = sambaLane2(b, SAMBA_LANE_MUL, *x, slope);
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GE, *x, sambaLaneFloat(b, 0)), *x, below);
}

static uint16_t programElu(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  uint16_t alpha = sambaLaneFloat(b, sambaOperatorCallFloat(call, "alpha"));
  uint16_t below = sambaLane2(b, SAMBA_LANE_MUL, alpha, sambaLane1(b, SAMBA_LANE_EXPM1, *x));
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GT, *x, sambaLaneFloat(b, 0)), *x, below);
}

static uint16_t programHardsigmoid(const SambaOperatorCall *call, SambaStageBuilder *b,
                                   const uint16_t *x) {
  uint16_t scaled =
      sambaLane2(b, SAMBA_LANE_MUL, *x, sambaLaneFloat(b, sambaOperatorCallFloat(call, "alpha")));
  return clampTo(b,
                 sambaLane2(b, SAMBA_LANE_ADD, scaled,
                            sambaLaneFloat(b, sambaOperatorCallFloat(call, "beta"))),
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
static uint16_t programGelu(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  uint16_t half = sambaLane2(b, SAMBA_LANE_MUL, *x, sambaLaneFloat(b, 0.5));
  uint16_t inner;

  if (approximatesByTanh(call)) {
    uint16_t cube = sambaLane2(b, SAMBA_LANE_MUL, sambaLane2(b, SAMBA_LANE_MUL, *x, *x), *x);
    uint16_t sum = sambaLane2(b, SAMBA_LANE_ADD, *x,
                              sambaLane2(b, SAMBA_LANE_MUL, cube, sambaLaneFloat(b, 0.044715)));
    inner =
        sambaLane1(b, SAMBA_LANE_TANH,
                   sambaLane2(b, SAMBA_LANE_MUL, sum, sambaLaneFloat(b, 0.79788456080286535588)));
  } else {
    inner =
        sambaLane1(b, SAMBA_LANE_ERF,
                   sambaLane2(b, SAMBA_LANE_MUL, *x, sambaLaneFloat(b, 0.70710678118654752440)));
  }

  return sambaLane2(b, SAMBA_LANE_MUL, half,
                    sambaLane2(b, SAMBA_LANE_ADD, inner, sambaLaneFloat(b, 1)));
}

/* min(x, 0) - log(1 + exp(-|x|)) */
static uint16_t programLogsigmoid(const SambaOperatorCall *call, SambaStageBuilder *b,
                                  const uint16_t *x) {
  (void)call;
  uint16_t e = expOfMinusMagnitude(b, *x);
  uint16_t negative = sambaLane2(b, SAMBA_LANE_MIN, *x, sambaLaneFloat(b, 0));
  return sambaLane2(b, SAMBA_LANE_SUB, negative, sambaLane1(b, SAMBA_LANE_LOG1P, e));
}

static uint16_t programSoftsign(const SambaOperatorCall *call, SambaStageBuilder *b,
                                const uint16_t *x) {
  (void)call;
  uint16_t below =
      sambaLane2(b, SAMBA_LANE_ADD, sambaLane1(b, SAMBA_LANE_ABS, *x), sambaLaneFloat(b, 1));
  return sambaLane2(b, SAMBA_LANE_DIV, *x, below);
}

static uint16_t programMish(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  return sambaLane2(b, SAMBA_LANE_MUL, *x,
                    sambaLane1(b, SAMBA_LANE_TANH, programSoftplus(call, b, x)));
}

/* x > 0 ? x : alpha * expm1(x / alpha) */
static uint16_t programCelu(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  uint16_t alpha = sambaLaneFloat(b, sambaOperatorCallFloat(call, "alpha"));
  uint16_t grown = sambaLane1(b, SAMBA_LANE_EXPM1, sambaLane2(b, SAMBA_LANE_DIV, *x, alpha));
  uint16_t below = sambaLane2(b, SAMBA_LANE_MUL, alpha, grown);
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GT, *x, sambaLaneFloat(b, 0)), *x, below);
}

/* The constants of the paper, as PyTorch and ONNX round them. */
static uint16_t programSelu(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  uint16_t alpha = sambaLaneFloat(b, sambaOperatorCallFloat(call, "alpha"));
  uint16_t scale = sambaLaneFloat(b, sambaOperatorCallFloat(call, "scale"));
  uint16_t below = sambaLane2(b, SAMBA_LANE_MUL, alpha, sambaLane1(b, SAMBA_LANE_EXPM1, *x));
  uint16_t value =
      sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GT, *x, sambaLaneFloat(b, 0)), *x, below);
  return sambaLane2(b, SAMBA_LANE_MUL, scale, value);
}

/* A NaN is not <= the threshold, so it stays. */
static uint16_t programThreshold(const SambaOperatorCall *call, SambaStageBuilder *b,
                                 const uint16_t *x) {
  uint16_t value = sambaLaneFloat(b, sambaOperatorCallFloat(call, "value"));
  uint16_t threshold = sambaLaneFloat(b, sambaOperatorCallFloat(call, "threshold"));
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_LE, *x, threshold), value, *x);
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
static uint16_t programShrink(const SambaOperatorCall *call, SambaStageBuilder *b,
                              const uint16_t *x) {
  double lambd = sambaOperatorCallFloat(call, "lambd");
  double bias = sambaOperatorCallFloat(call, "bias");
  if (!sambaDTypeIsFloat(call->operands[0].dtype)) /* no narrow integer reaches the bounds */
    lambd = floor(fmin(fmax(lambd, -2147483647.0), 2147483647.0));
  uint16_t shift = sambaLaneNumber(b, *x, bias);
  uint16_t zero = sambaLaneNumber(b, *x, 0);
  uint16_t right =
      sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GT, *x, sambaLaneNumber(b, *x, lambd)),
                      sambaLane2(b, SAMBA_LANE_SUB, *x, shift), zero);
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_LT, *x, sambaLaneNumber(b, *x, -lambd)),
                         sambaLane2(b, SAMBA_LANE_ADD, *x, shift), right);
}

/* --- derivatives --- */

SLOPE(slopeSigmoid) {
  SLOPE_IGNORES;
  return gradientMul(e, y, gradientSub(e, gradientNumber(e, 1), y));
}
/* s (1 + x (1 - s)), s = sigmoid(x) */
SLOPE(slopeSilu) {
  SLOPE_IGNORES;
  uint32_t s = sambaExpandUnary(e, "sigmoid", x);
  uint32_t rest = gradientMul(e, x, gradientSub(e, gradientNumber(e, 1), s));
  return gradientMul(e, s, gradientPlus(e, rest, 1));
}
SLOPE(slopeSoftplus) {
  SLOPE_IGNORES;
  return sambaExpandUnary(e, "sigmoid", x);
}
SLOPE(slopeLogsigmoid) {
  SLOPE_IGNORES;
  return sambaExpandUnary(e, "sigmoid", gradientNeg(e, x));
}
/* 0 below -3, 1 above 3, x / 3 + 1 / 2 between */
SLOPE(slopeHardswish) {
  SLOPE_IGNORES;
  uint32_t between = gradientPlus(e, gradientDiv(e, x, gradientNumber(e, 3)), 0.5);
  uint32_t more = gradientWhere(e, gradientIs(e, "gt", x, 3), gradientNumber(e, 1), between);
  return gradientZeroWhere(e, gradientIs(e, "lt", x, -3), more);
}
SLOPE(slopeLeakyRelu) {
  SLOPE_IGNORES;
  return gradientWhere(e, gradientIs(e, "gt", x, 0), gradientNumber(e, 1),
                       gradientNumber(e, sambaOperatorCallFloat(call, "negative_slope")));
}
/* x > 0 ? 1 : factor * e^(x / divisor) */
static uint32_t exponential(SambaExpansion *e, uint32_t x, double above, double factor,
                            double divisor) {
  uint32_t scaled = divisor == 1 ? x : gradientDiv(e, x, gradientNumber(e, divisor));
  uint32_t grown = sambaExpandUnary(e, "exp", scaled);
  if (factor != 1)
    grown = gradientScale(e, grown, factor);
  return gradientWhere(e, gradientIs(e, "gt", x, 0), gradientNumber(e, above), grown);
}
SLOPE(slopeElu) {
  SLOPE_IGNORES;
  return exponential(e, x, 1, sambaOperatorCallFloat(call, "alpha"), 1);
}
SLOPE(slopeCelu) {
  SLOPE_IGNORES;
  return exponential(e, x, 1, 1, sambaOperatorCallFloat(call, "alpha"));
}
SLOPE(slopeSelu) {
  SLOPE_IGNORES;
  double scale = sambaOperatorCallFloat(call, "scale");
  return exponential(e, x, scale, scale * sambaOperatorCallFloat(call, "alpha"), 1);
}
SLOPE(slopeHardsigmoid) {
  SLOPE_IGNORES;
  uint32_t inside = gradientAnd(e, gradientIs(e, "gt", y, 0), gradientIs(e, "lt", y, 1));
  return gradientWhere(e, inside, gradientNumber(e, sambaOperatorCallFloat(call, "alpha")),
                       gradientNumber(e, 0));
}
/* Phi(x) + x phi(x) */
static uint32_t slopeGeluExact(SambaExpansion *e, uint32_t x) {
  uint32_t erf = sambaExpandUnary(e, "erf", gradientScale(e, x, M_SQRT1_2));
  uint32_t below = gradientScale(e, gradientPlus(e, erf, 1), 0.5);
  uint32_t bell = sambaExpandUnary(e, "exp", gradientScale(e, gradientSquare(e, x), -0.5));
  bell = gradientScale(e, bell, 0.3989422804014327); /* 1 / sqrt(2 pi) */
  return gradientAdd(e, below, gradientMul(e, x, bell));
}
/* With t = tanh(u), u = c (x + d x^3): (1 + t) / 2 + x / 2 (1 - t^2) c (1 + 3 d x^2) */
SLOPE(slopeGelu) {
  SLOPE_IGNORES;
  const double c = 0.7978845608028654, d = 0.044715; /* c = sqrt(2 / pi) */
  if (!sambaStringRefEqualC(sambaOperatorCallString(call, "approximate"), "tanh"))
    return slopeGeluExact(e, x);
  uint32_t squared = gradientSquare(e, x);
  uint32_t inner = gradientMul(e, x, gradientPlus(e, gradientScale(e, squared, d), 1));
  uint32_t t = sambaExpandUnary(e, "tanh", gradientScale(e, inner, c));
  uint32_t steep = gradientOneMinusSquare(e, t);
  uint32_t moved = gradientPlus(e, gradientScale(e, squared, 3 * d), 1);
  uint32_t right = gradientMul(e, gradientMul(e, x, steep), gradientScale(e, moved, 0.5 * c));
  return gradientAdd(e, gradientScale(e, gradientPlus(e, t, 1), 0.5), right);
}
/* 1 / (1 + |x|)^2 */
SLOPE(slopeSoftsign) {
  SLOPE_IGNORES;
  uint32_t divisor = gradientPlus(e, sambaExpandUnary(e, "abs", x), 1);
  return sambaExpandUnary(e, "reciprocal", gradientSquare(e, divisor));
}
/* t + x sigmoid(x) (1 - t^2), t = tanh(softplus(x)) */
SLOPE(slopeMish) {
  SLOPE_IGNORES;
  uint32_t t = sambaExpandUnary(e, "tanh", sambaExpandUnary(e, "softplus", x));
  uint32_t steep = gradientOneMinusSquare(e, t);
  uint32_t right = gradientMul(e, gradientMul(e, x, sambaExpandUnary(e, "sigmoid", x)), steep);
  return gradientAdd(e, t, right);
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
     .onnx = {ONNX("ThresholdedRelu", 10, RENAMED_WITH("threshold", "alpha", 1),
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
