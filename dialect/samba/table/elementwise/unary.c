/* Elementwise operators with one operand.
 *
 * (C1) the operand's dtype is one the operator is defined for. (C2) attributes are in their range.
 * The result has the operand's shape and dtype (cast: the dtype asked for). Values are computed in
 * f32 and rounded once; sources for the definitions are the functions of the same names in
 * torch.nn.functional. */
#include "dialect/samba/table/elementwise/elementwise.h"

#include <math.h>

SambaStatus sambaUnaryInfer(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(
      sambaCheckDType(1, "the operand", call->operands[0].dtype, sambaRowOfCall(call)->dtypes));
  *out = call->operands[0];
  return NULL;
}

SambaStatus sambaUnaryStages(const SambaOperatorCall *call, SambaStageGraph *graph,
                             const uint32_t *operands, const uint32_t *results, const char *layer) {
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  uint16_t x = sambaStageBroadcastOperand(&builder, operands[0]);
  sambaStageEndRounded(&builder, sambaRowOfCall(call)->program(call, &builder, &x));
  return NULL;
}

uint16_t sambaUnaryProgram(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x) {
  return sambaLane1(b, sambaRowOfCall(call)->opcode, *x);
}

UNARY(neg, SAMBA_SET_FLOAT | SAMBA_SET_SIGNED, SAMBA_LANE_NEG, sambaUnaryProgram)
UNARY(abs, SAMBA_SET_NUMBER, SAMBA_LANE_ABS, sambaUnaryProgram)
UNARY(exp, SAMBA_SET_FLOAT, SAMBA_LANE_EXP, sambaUnaryProgram)
UNARY(log, SAMBA_SET_FLOAT, SAMBA_LANE_LOG, sambaUnaryProgram)
UNARY(sqrt, SAMBA_SET_FLOAT, SAMBA_LANE_SQRT, sambaUnaryProgram)
UNARY(rsqrt, SAMBA_SET_FLOAT, SAMBA_LANE_RSQRT, sambaUnaryProgram)
UNARY(tanh, SAMBA_SET_FLOAT, SAMBA_LANE_TANH, sambaUnaryProgram)
UNARY(erf, SAMBA_SET_FLOAT, SAMBA_LANE_ERF, sambaUnaryProgram)
UNARY(sin, SAMBA_SET_FLOAT, SAMBA_LANE_SIN, sambaUnaryProgram)
UNARY(cos, SAMBA_SET_FLOAT, SAMBA_LANE_COS, sambaUnaryProgram)
UNARY(floor, SAMBA_SET_FLOAT, SAMBA_LANE_FLOOR, sambaUnaryProgram)
UNARY(ceil, SAMBA_SET_FLOAT, SAMBA_LANE_CEIL, sambaUnaryProgram)
UNARY(trunc, SAMBA_SET_FLOAT, SAMBA_LANE_TRUNC, sambaUnaryProgram)
UNARY(expm1, SAMBA_SET_FLOAT, SAMBA_LANE_EXPM1, sambaUnaryProgram)
UNARY(log1p, SAMBA_SET_FLOAT, SAMBA_LANE_LOG1P, sambaUnaryProgram)
UNARY(round, SAMBA_SET_FLOAT, SAMBA_LANE_ROUNDEVEN, sambaUnaryProgram)

static uint16_t programReciprocal(const SambaOperatorCall *call, SambaStageBuilder *b,
                                  const uint16_t *x) {
  (void)call;
  return sambaLane2(b, SAMBA_LANE_DIV, sambaLaneFloat(b, 1), *x);
}
UNARY(reciprocal, SAMBA_SET_FLOAT, 0, programReciprocal)

/* A zero or NaN is its own sign. */
static uint16_t programSign(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  (void)call;
  uint16_t zero = sambaLaneNumber(b, *x, 0);
  uint16_t negative =
      sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_LT, *x, zero), sambaLaneNumber(b, *x, -1), *x);
  return sambaLaneSelect(b, sambaLane2(b, SAMBA_LANE_GT, *x, zero), sambaLaneNumber(b, *x, 1),
                         negative);
}
UNARY(sign, SAMBA_SET_NUMBER, 0, programSign)

static uint16_t programLogicalNot(const SambaOperatorCall *call, SambaStageBuilder *b,
                                  const uint16_t *x) {
  (void)call;
  return sambaLane2(b, SAMBA_LANE_XOR, *x, sambaLaneNumber(b, *x, 1));
}
UNARY(logical_not, SAMBA_SET_BOOL, 0, programLogicalNot)

static uint16_t programBitwiseNot(const SambaOperatorCall *call, SambaStageBuilder *b,
                                  const uint16_t *x) {
  return sambaLane2(b, SAMBA_LANE_XOR, *x,
                    sambaLaneNumber(b, *x, call->operands[0].dtype == SAMBA_DTYPE_I1 ? 1 : -1));
}
UNARY(bitwise_not, SAMBA_SET_INTEGER | SAMBA_SET_BOOL, 0, programBitwiseNot)

static SambaStatus inferClamp(const SambaOperatorCall *call, SambaTensorType *out) {
  static const char *const names[] = {"min", "max"};
  for (int i = 0; i < 2; ++i) {
    double value = sambaOperatorCallFloat(call, names[i], 0);
    if (isnan(value) || (!sambaDTypeIsFloat(call->operands[0].dtype) &&
                         (value != floor(value) || fabs(value) > 9007199254740992.0)))
      return sambaStatusMake(SAMBA_INVALID, "(C2) attribute '%s' is %g, which %s cannot hold",
                             names[i], value, sambaDTypeName(call->operands[0].dtype));
  }
  return sambaUnaryInfer(call, out);
}
static uint16_t programClamp(const SambaOperatorCall *call, SambaStageBuilder *b,
                             const uint16_t *x) {
  const SambaAttribute *low = sambaOperatorCallFind(call, "min");
  const SambaAttribute *high = sambaOperatorCallFind(call, "max");
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
static uint16_t programCast(const SambaOperatorCall *call, SambaStageBuilder *b,
                            const uint16_t *x) {
  return sambaLaneCast(b, *x, sambaOperatorCallFind(call, "dtype")->value.dtype);
}
UNARY_WITH(cast, SAMBA_SET_ANY, programCast, inferCast,
           {"dtype", SAMBA_ATTRIBUTE_DTYPE, true, "the result's element type"})

/* A copy: what reads it finds the elements in row-major order. */
static uint16_t programContiguous(const SambaOperatorCall *call, SambaStageBuilder *b,
                                  const uint16_t *x) {
  (void)call;
  (void)b;
  return *x;
}
UNARY_WITH(contiguous, SAMBA_SET_ANY, programContiguous, sambaUnaryInfer, {0})

/* Identities for the machine: views. */
static SambaStatus composeSame(const SambaOperatorCall *call, const SambaTensorType *result,
                               SambaStageOperand *out_operand) {
  (void)call;
  for (uint32_t axis = 0; axis < result->rank; ++axis)
    out_operand->axes[axis].coefficients[axis] = 1;
  return NULL;
}
#define IDENTITY(word)                                                                             \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator = {.name = #word,                    \
                                                                 .minimum_operands = 1,            \
                                                                 .maximum_operands = 1,            \
                                                                 .attributes = sambaNoAttributes,  \
                                                                 .result_count = 1,                \
                                                                 .view = true,                     \
                                                                 .infer = sambaUnaryInfer,         \
                                                                 .compose = composeSame},          \
                                                    .dtypes = SAMBA_SET_ANY};
IDENTITY(detach)
