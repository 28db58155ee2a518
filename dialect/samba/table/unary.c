/* Elementwise operators with one operand.
 *
 * (C1) the operand's dtype is one the operator is defined for. (C2) attributes are in their range. The result has the
 * operand's shape and dtype (cast: the dtype asked for). Values are computed in f32 and rounded once; sources for the
 * definitions are the functions of the same names in torch.nn.functional. */
#include "dialect/samba/table/stage_builder.h"

#include <math.h>

static SambaStatus inferSame(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", call->operands[0].dtype, sambaRowOfCall(call)->dtypes));
  *out = call->operands[0];
  return NULL;
}

static SambaStatus stages(const SambaOperatorCall *call, SambaStageGraph *graph, const uint32_t *operands,
                          const uint32_t *results, const char *layer) {
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, call->operator_->name, layer, results[0]);
  uint16_t x = sambaStageBroadcastOperand(&builder, operands[0]);
  sambaStageEndRounded(&builder, sambaRowOfCall(call)->program(call, &builder, &x));
  return NULL;
}

static uint16_t programOpcode(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  return sambaLane1(b, sambaRowOfCall(call)->opcode, *x);
}

#define UNARY(word, set, code, function)                                                                               \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator_ = {.name = #word,                                       \
                                                                  .minimum_operands = 1,                               \
                                                                  .maximum_operands = 1,                               \
                                                                  .attributes = sambaNoAttributes,                     \
                                                                  .result_count = 1,                                   \
                                                                  .elementwise = true,                                 \
                                                                  .infer = inferSame,                                  \
                                                                  .stages = stages},                                   \
                                                    .dtypes = set,                                                     \
                                                    .opcode = code,                                                    \
                                                    .program = function};

UNARY(neg, SAMBA_SET_FLOAT | SAMBA_SET_SIGNED, SAMBA_LANE_NEG, programOpcode)
UNARY(abs, SAMBA_SET_NUMBER, SAMBA_LANE_ABS, programOpcode)
UNARY(exp, SAMBA_SET_FLOAT, SAMBA_LANE_EXP, programOpcode)
UNARY(log, SAMBA_SET_FLOAT, SAMBA_LANE_LOG, programOpcode)
UNARY(sqrt, SAMBA_SET_FLOAT, SAMBA_LANE_SQRT, programOpcode)
UNARY(rsqrt, SAMBA_SET_FLOAT, SAMBA_LANE_RSQRT, programOpcode)
UNARY(tanh, SAMBA_SET_FLOAT, SAMBA_LANE_TANH, programOpcode)
UNARY(erf, SAMBA_SET_FLOAT, SAMBA_LANE_ERF, programOpcode)
UNARY(sin, SAMBA_SET_FLOAT, SAMBA_LANE_SIN, programOpcode)
UNARY(cos, SAMBA_SET_FLOAT, SAMBA_LANE_COS, programOpcode)
UNARY(floor, SAMBA_SET_FLOAT, SAMBA_LANE_FLOOR, programOpcode)
UNARY(ceil, SAMBA_SET_FLOAT, SAMBA_LANE_CEIL, programOpcode)
UNARY(round, SAMBA_SET_FLOAT, SAMBA_LANE_ROUNDEVEN, programOpcode)

static uint16_t programReciprocal(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  (void)call;
  return sambaLane2(b, SAMBA_LANE_DIV, sambaLaneFloat(b, 1), *x);
}
UNARY(reciprocal, SAMBA_SET_FLOAT, 0, programReciprocal)

static uint16_t programRelu(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  (void)call;
  return sambaLane2(b, SAMBA_LANE_MAX, *x, sambaLaneNumber(b, *x, 0));
}
UNARY(relu, SAMBA_SET_NUMBER, 0, programRelu)

/* With e = exp(-|x|), which cannot overflow: 1 / (1 + e) right of zero, e / (1 + e) left of it. */
static uint16_t programSigmoid(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  (void)call;
  uint16_t e = sambaLane1(b, SAMBA_LANE_EXP, sambaLane1(b, SAMBA_LANE_NEG, sambaLane1(b, SAMBA_LANE_ABS, *x)));
  uint16_t one = sambaLaneFloat(b, 1);
  uint16_t above = sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GE, *x, sambaLaneFloat(b, 0)), one, e);
  return sambaLane2(b, SAMBA_LANE_DIV, above, sambaLane2(b, SAMBA_LANE_ADD, one, e));
}
UNARY(sigmoid, SAMBA_SET_FLOAT, 0, programSigmoid)

static uint16_t programSilu(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  return sambaLane2(b, SAMBA_LANE_MUL, *x, programSigmoid(call, b, x));
}
UNARY(silu, SAMBA_SET_FLOAT, 0, programSilu)

/* max(x, 0) + log(1 + exp(-|x|)) */
static uint16_t programSoftplus(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  (void)call;
  uint16_t e = sambaLane1(b, SAMBA_LANE_EXP, sambaLane1(b, SAMBA_LANE_NEG, sambaLane1(b, SAMBA_LANE_ABS, *x)));
  uint16_t positive = sambaLane2(b, SAMBA_LANE_MAX, *x, sambaLaneFloat(b, 0));
  return sambaLane2(b, SAMBA_LANE_ADD, positive, sambaLane1(b, SAMBA_LANE_LOG1P, e));
}
UNARY(softplus, SAMBA_SET_FLOAT, 0, programSoftplus)

static uint16_t clampTo(SambaStageBuilder *b, uint16_t x, double low, double high) {
  uint16_t raised = sambaLane2(b, SAMBA_LANE_MAX, x, sambaLaneNumber(b, x, low));
  return sambaLane2(b, SAMBA_LANE_MIN, raised, sambaLaneNumber(b, x, high));
}

static uint16_t programHardswish(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  (void)call;
  uint16_t gate = clampTo(b, sambaLane2(b, SAMBA_LANE_ADD, *x, sambaLaneFloat(b, 3)), 0, 6);
  return sambaLane2(b, SAMBA_LANE_DIV, sambaLane2(b, SAMBA_LANE_MUL, *x, gate), sambaLaneFloat(b, 6));
}
UNARY(hardswish, SAMBA_SET_FLOAT, 0, programHardswish)

/* A zero or NaN is its own sign. */
static uint16_t programSign(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  (void)call;
  uint16_t zero = sambaLaneNumber(b, *x, 0);
  uint16_t negative = sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_LT, *x, zero), sambaLaneNumber(b, *x, -1), *x);
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GT, *x, zero), sambaLaneNumber(b, *x, 1), negative);
}
UNARY(sign, SAMBA_SET_NUMBER, 0, programSign)

static uint16_t programLogicalNot(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  (void)call;
  return sambaLane2(b, SAMBA_LANE_XOR, *x, sambaLaneNumber(b, *x, 1));
}
UNARY(logical_not, SAMBA_SET_BOOL, 0, programLogicalNot)

#define UNARY_WITH(word, set, function, rule, ...)                                                                     \
  static const SambaAttributeRow word##Attributes[] = {__VA_ARGS__, {0}};                                              \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator_ = {.name = #word,                                       \
                                                                  .minimum_operands = 1,                               \
                                                                  .maximum_operands = 1,                               \
                                                                  .attributes = word##Attributes,                      \
                                                                  .result_count = 1,                                   \
                                                                  .elementwise = true,                                 \
                                                                  .infer = rule,                                       \
                                                                  .stages = stages},                                   \
                                                    .dtypes = set,                                                     \
                                                    .program = function};

static uint16_t programLeakyRelu(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  uint16_t slope = sambaLaneFloat(b, sambaOperatorCallFloat(call, "negative_slope", 0.01));
  uint16_t below = sambaLane2(b, SAMBA_LANE_MUL, *x, slope);
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GE, *x, sambaLaneFloat(b, 0)), *x, below);
}
UNARY_WITH(leaky_relu, SAMBA_SET_FLOAT, programLeakyRelu, inferSame,
           {"negative_slope", SAMBA_ATTRIBUTE_FLOAT, false, "default 0.01"})

static uint16_t programElu(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  uint16_t alpha = sambaLaneFloat(b, sambaOperatorCallFloat(call, "alpha", 1));
  uint16_t below = sambaLane2(b, SAMBA_LANE_MUL, alpha, sambaLane1(b, SAMBA_LANE_EXPM1, *x));
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GT, *x, sambaLaneFloat(b, 0)), *x, below);
}
UNARY_WITH(elu, SAMBA_SET_FLOAT, programElu, inferSame, {"alpha", SAMBA_ATTRIBUTE_FLOAT, false, "default 1"})

static uint16_t programHardsigmoid(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  uint16_t scaled =
      sambaLane2(b, SAMBA_LANE_MUL, *x, sambaLaneFloat(b, sambaOperatorCallFloat(call, "alpha", 1.0 / 6)));
  return clampTo(b, sambaLane2(b, SAMBA_LANE_ADD, scaled, sambaLaneFloat(b, sambaOperatorCallFloat(call, "beta", 0.5))),
                 0, 1);
}
UNARY_WITH(hardsigmoid, SAMBA_SET_FLOAT, programHardsigmoid, inferSame,
           {"alpha", SAMBA_ATTRIBUTE_FLOAT, false, "default 1/6"},
           {"beta", SAMBA_ATTRIBUTE_FLOAT, false, "default 1/2"})

static bool approximatesByTanh(const SambaOperatorCall *call) {
  const SambaAttribute *approximate = sambaOperatorCallFind(call, "approximate");
  return approximate && sambaStringRefEqualC(approximate->value.string, "tanh");
}
static SambaStatus inferGelu(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaAttribute *approximate = sambaOperatorCallFind(call, "approximate");
  if (approximate && !approximatesByTanh(call) && !sambaStringRefEqualC(approximate->value.string, "none"))
    return sambaStatusMake(SAMBA_INVALID, "(C2) attribute 'approximate' is '%.*s', but must be 'none' or 'tanh'",
                           SAMBA_STRING_ARGS(approximate->value.string));
  return inferSame(call, out);
}
static uint16_t programGelu(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  uint16_t half = sambaLane2(b, SAMBA_LANE_MUL, *x, sambaLaneFloat(b, 0.5)), inner;
  if (approximatesByTanh(call)) {
    uint16_t cube = sambaLane2(b, SAMBA_LANE_MUL, sambaLane2(b, SAMBA_LANE_MUL, *x, *x), *x);
    uint16_t sum = sambaLane2(b, SAMBA_LANE_ADD, *x, sambaLane2(b, SAMBA_LANE_MUL, cube, sambaLaneFloat(b, 0.044715)));
    inner =
        sambaLane1(b, SAMBA_LANE_TANH, sambaLane2(b, SAMBA_LANE_MUL, sum, sambaLaneFloat(b, 0.79788456080286535588)));
  } else {
    inner = sambaLane1(b, SAMBA_LANE_ERF, sambaLane2(b, SAMBA_LANE_MUL, *x, sambaLaneFloat(b, 0.70710678118654752440)));
  }
  return sambaLane2(b, SAMBA_LANE_MUL, half, sambaLane2(b, SAMBA_LANE_ADD, inner, sambaLaneFloat(b, 1)));
}
UNARY_WITH(gelu, SAMBA_SET_FLOAT, programGelu, inferGelu,
           {"approximate", SAMBA_ATTRIBUTE_STRING, false, "none (default) or tanh"})

static SambaStatus inferClamp(const SambaOperatorCall *call, SambaTensorType *out) {
  static const char *const names[] = {"min", "max"};
  for (int i = 0; i < 2; ++i) {
    double value = sambaOperatorCallFloat(call, names[i], 0);
    if (isnan(value) ||
        (!sambaDTypeIsFloat(call->operands[0].dtype) && (value != floor(value) || fabs(value) > 9007199254740992.0)))
      return sambaStatusMake(SAMBA_INVALID, "(C2) attribute '%s' is %g, which %s cannot hold", names[i], value,
                             sambaDTypeName(call->operands[0].dtype));
  }
  return inferSame(call, out);
}
static uint16_t programClamp(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  const SambaAttribute *low = sambaOperatorCallFind(call, "min"), *high = sambaOperatorCallFind(call, "max");
  uint16_t value = *x;
  if (low)
    value = sambaLane2(b, SAMBA_LANE_MAX, value, sambaLaneNumber(b, *x, low->value.real));
  if (high)
    value = sambaLane2(b, SAMBA_LANE_MIN, value, sambaLaneNumber(b, *x, high->value.real));
  return value;
}
UNARY_WITH(clamp, SAMBA_SET_NUMBER, programClamp, inferClamp,
           {"min", SAMBA_ATTRIBUTE_FLOAT, false, "absent: no lower bound"},
           {"max", SAMBA_ATTRIBUTE_FLOAT, false, "absent: no upper bound"})

static SambaStatus inferCast(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", call->operands[0].dtype, SAMBA_SET_ANY));
  *out = call->operands[0];
  out->dtype = sambaOperatorCallFind(call, "dtype")->value.dtype;
  return sambaCheckDType(2, "attribute 'dtype'", out->dtype, SAMBA_SET_ANY);
}
static uint16_t programCast(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  return sambaLaneCast(b, *x, sambaOperatorCallFind(call, "dtype")->value.dtype);
}
UNARY_WITH(cast, SAMBA_SET_ANY, programCast, inferCast,
           {"dtype", SAMBA_ATTRIBUTE_DTYPE, true, "the result's element type"})

/* A copy: what reads it finds the elements in row-major order. */
static uint16_t programContiguous(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  (void)call;
  (void)b;
  return *x;
}
UNARY_WITH(contiguous, SAMBA_SET_ANY, programContiguous, inferSame, {0})

/* Identities for the machine: views. */
static SambaStatus composeSame(const SambaOperatorCall *call, const SambaTensorType *result,
                               SambaStageOperand *out_operand) {
  (void)call;
  for (uint32_t axis = 0; axis < result->rank; ++axis)
    out_operand->axes[axis].coefficients[axis] = 1;
  return NULL;
}
#define IDENTITY(word)                                                                                                 \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator_ = {.name = #word,                                       \
                                                                  .minimum_operands = 1,                               \
                                                                  .maximum_operands = 1,                               \
                                                                  .attributes = sambaNoAttributes,                     \
                                                                  .result_count = 1,                                   \
                                                                  .view = true,                                        \
                                                                  .infer = inferSame,                                  \
                                                                  .compose = composeSame},                             \
                                                    .dtypes = SAMBA_SET_ANY};
IDENTITY(detach)
