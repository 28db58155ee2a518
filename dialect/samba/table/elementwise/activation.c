/* Activations: elementwise operators with one operand, as in torch.nn.functional. */
#include "dialect/samba/table/elementwise/elementwise.h"

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
UNARY(relu, SAMBA_SET_NUMBER, 0, programRelu)

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
UNARY(sigmoid, SAMBA_SET_FLOAT, 0, programSigmoid)

static uint16_t programSilu(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  return sambaLane2(b, SAMBA_LANE_MUL, *x, programSigmoid(call, b, x));
}
UNARY(silu, SAMBA_SET_FLOAT, 0, programSilu)

/* max(x, 0) + log(1 + exp(-|x|)) */
static uint16_t programSoftplus(const SambaOperatorCall *call, SambaStageBuilder *b,
                                const uint16_t *x) {
  (void)call;
  uint16_t e = expOfMinusMagnitude(b, *x);
  uint16_t positive = sambaLane2(b, SAMBA_LANE_MAX, *x, sambaLaneFloat(b, 0));
  return sambaLane2(b, SAMBA_LANE_ADD, positive, sambaLane1(b, SAMBA_LANE_LOG1P, e));
}
UNARY(softplus, SAMBA_SET_FLOAT, 0, programSoftplus)

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
UNARY(hardswish, SAMBA_SET_FLOAT, 0, programHardswish)

static uint16_t programLeakyRelu(const SambaOperatorCall *call, SambaStageBuilder *b,
                                 const uint16_t *x) {
  uint16_t slope = sambaLaneFloat(b, sambaOperatorCallFloat(call, "negative_slope", 0.01));
  uint16_t below = sambaLane2(b, SAMBA_LANE_MUL, *x, slope);
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GE, *x, sambaLaneFloat(b, 0)), *x, below);
}
UNARY_WITH(leaky_relu, SAMBA_SET_FLOAT, programLeakyRelu, sambaUnaryInfer,
           {"negative_slope", SAMBA_ATTRIBUTE_FLOAT, false, "default 0.01"})

static uint16_t programElu(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  uint16_t alpha = sambaLaneFloat(b, sambaOperatorCallFloat(call, "alpha", 1));
  uint16_t below = sambaLane2(b, SAMBA_LANE_MUL, alpha, sambaLane1(b, SAMBA_LANE_EXPM1, *x));
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GT, *x, sambaLaneFloat(b, 0)), *x, below);
}
UNARY_WITH(elu, SAMBA_SET_FLOAT, programElu, sambaUnaryInfer,
           {"alpha", SAMBA_ATTRIBUTE_FLOAT, false, "default 1"})

static uint16_t programHardsigmoid(const SambaOperatorCall *call, SambaStageBuilder *b,
                                   const uint16_t *x) {
  uint16_t scaled = sambaLane2(b, SAMBA_LANE_MUL, *x,
                               sambaLaneFloat(b, sambaOperatorCallFloat(call, "alpha", 1.0 / 6)));
  return clampTo(b,
                 sambaLane2(b, SAMBA_LANE_ADD, scaled,
                            sambaLaneFloat(b, sambaOperatorCallFloat(call, "beta", 0.5))),
                 0, 1);
}
UNARY_WITH(hardsigmoid, SAMBA_SET_FLOAT, programHardsigmoid, sambaUnaryInfer,
           {"alpha", SAMBA_ATTRIBUTE_FLOAT, false, "default 1/6"},
           {"beta", SAMBA_ATTRIBUTE_FLOAT, false, "default 1/2"})

static bool approximatesByTanh(const SambaOperatorCall *call) {
  const SambaAttribute *approximate = sambaOperatorCallFind(call, "approximate");
  return approximate && sambaStringRefEqualC(approximate->value.string, "tanh");
}
static SambaStatus inferGelu(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaAttribute *approximate = sambaOperatorCallFind(call, "approximate");
  if (approximate && !approximatesByTanh(call) &&
      !sambaStringRefEqualC(approximate->value.string, "none"))
    return sambaStatusMake(SAMBA_INVALID,
                           "(C2) attribute 'approximate' is '%.*s', but must be 'none' or 'tanh'",
                           SAMBA_STRING_ARGS(approximate->value.string));
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
UNARY_WITH(gelu, SAMBA_SET_FLOAT, programGelu, inferGelu,
           {"approximate", SAMBA_ATTRIBUTE_STRING, false, "none (default) or tanh"})

/* min(x, 0) - log(1 + exp(-|x|)) */
static uint16_t programLogsigmoid(const SambaOperatorCall *call, SambaStageBuilder *b,
                                  const uint16_t *x) {
  (void)call;
  uint16_t e = expOfMinusMagnitude(b, *x);
  uint16_t negative = sambaLane2(b, SAMBA_LANE_MIN, *x, sambaLaneFloat(b, 0));
  return sambaLane2(b, SAMBA_LANE_SUB, negative, sambaLane1(b, SAMBA_LANE_LOG1P, e));
}
UNARY(logsigmoid, SAMBA_SET_FLOAT, 0, programLogsigmoid)

static uint16_t programSoftsign(const SambaOperatorCall *call, SambaStageBuilder *b,
                                const uint16_t *x) {
  (void)call;
  uint16_t below =
      sambaLane2(b, SAMBA_LANE_ADD, sambaLane1(b, SAMBA_LANE_ABS, *x), sambaLaneFloat(b, 1));
  return sambaLane2(b, SAMBA_LANE_DIV, *x, below);
}
UNARY(softsign, SAMBA_SET_FLOAT, 0, programSoftsign)

static uint16_t programMish(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  return sambaLane2(b, SAMBA_LANE_MUL, *x,
                    sambaLane1(b, SAMBA_LANE_TANH, programSoftplus(call, b, x)));
}
UNARY(mish, SAMBA_SET_FLOAT, 0, programMish)

/* x > 0 ? x : alpha * expm1(x / alpha) */
static uint16_t programCelu(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  uint16_t alpha = sambaLaneFloat(b, sambaOperatorCallFloat(call, "alpha", 1));
  uint16_t grown = sambaLane1(b, SAMBA_LANE_EXPM1, sambaLane2(b, SAMBA_LANE_DIV, *x, alpha));
  uint16_t below = sambaLane2(b, SAMBA_LANE_MUL, alpha, grown);
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GT, *x, sambaLaneFloat(b, 0)), *x, below);
}
UNARY_WITH(celu, SAMBA_SET_FLOAT, programCelu, sambaUnaryInfer,
           {"alpha", SAMBA_ATTRIBUTE_FLOAT, false, "default 1"})

/* The constants of the paper, as PyTorch and ONNX round them. */
static uint16_t programSelu(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  uint16_t alpha =
      sambaLaneFloat(b, sambaOperatorCallFloat(call, "alpha", 1.67326319217681884765625));
  uint16_t scale =
      sambaLaneFloat(b, sambaOperatorCallFloat(call, "scale", 1.05070102214813232421875));
  uint16_t below = sambaLane2(b, SAMBA_LANE_MUL, alpha, sambaLane1(b, SAMBA_LANE_EXPM1, *x));
  uint16_t value =
      sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GT, *x, sambaLaneFloat(b, 0)), *x, below);
  return sambaLane2(b, SAMBA_LANE_MUL, scale, value);
}
UNARY_WITH(selu, SAMBA_SET_FLOAT, programSelu, sambaUnaryInfer,
           {"alpha", SAMBA_ATTRIBUTE_FLOAT, false, "default 1.6732632"},
           {"scale", SAMBA_ATTRIBUTE_FLOAT, false, "default 1.050701"})

/* A NaN is not <= the threshold, so it stays. */
static uint16_t programThreshold(const SambaOperatorCall *call, SambaStageBuilder *b,
                                 const uint16_t *x) {
  uint16_t value = sambaLaneFloat(b, sambaOperatorCallFloat(call, "value", 0));
  uint16_t threshold = sambaLaneFloat(b, sambaOperatorCallFloat(call, "threshold", 0));
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_LE, *x, threshold), value, *x);
}
UNARY_WITH(threshold, SAMBA_SET_FLOAT, programThreshold, sambaUnaryInfer,
           {"threshold", SAMBA_ATTRIBUTE_FLOAT, false, "default 0"},
           {"value", SAMBA_ATTRIBUTE_FLOAT, false, "default 0"})

/* Integers lie beyond lambd exactly when they lie beyond its floor. */
static SambaStatus inferShrink(const SambaOperatorCall *call, SambaTensorType *out) {
  double lambd = sambaOperatorCallFloat(call, "lambd", 0.5);
  double bias = sambaOperatorCallFloat(call, "bias", 0);
  bool whole = call->operand_count && !sambaDTypeIsFloat(call->operands[0].dtype);
  if (isnan(lambd) || isnan(bias) || (whole && (bias != floor(bias) || fabs(bias) > 2147483647.0)))
    return sambaStatusMake(SAMBA_INVALID,
                           "(C2) attributes 'lambd' and 'bias' are %g and %g, which %s cannot hold",
                           lambd, bias, sambaDTypeName(call->operands[0].dtype));
  return sambaUnaryInfer(call, out);
}
static uint16_t programShrink(const SambaOperatorCall *call, SambaStageBuilder *b,
                              const uint16_t *x) {
  double lambd = sambaOperatorCallFloat(call, "lambd", 0.5);
  double bias = sambaOperatorCallFloat(call, "bias", 0);
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
UNARY_WITH(shrink, SAMBA_SET_NUMBER, programShrink, inferShrink,
           {"lambd", SAMBA_ATTRIBUTE_FLOAT, false, "default 0.5"},
           {"bias", SAMBA_ATTRIBUTE_FLOAT, false, "default 0"})
