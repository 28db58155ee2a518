/* Elementwise operators with two or three operands and numpy's broadcasting.
 *
 * (C1) operand 0 has a dtype that the operator is defined for (where: i1). (C2) the operands
 * (where: the last two) have one dtype. (C3) their shapes broadcast. The result has the broadcast
 * shape, and that dtype or i1 (comparisons). */
#include "dialect/samba/table/core/stage_builder.h"

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = call->operands;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", x[0].dtype, sambaRowOfCall(call)->dtypes));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(2, "operand 1", x[1].dtype, "operand 0", x[0].dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckBroadcast(3, &x[0], &x[1], out));
  if (sambaRowOfCall(call)->predicate)
    out->dtype = SAMBA_DTYPE_I1;
  return NULL;
}

static SambaStatus stages(const SambaOperatorCall *call, SambaStageGraph *graph,
                          const uint32_t *operands, const uint32_t *results, const char *layer) {
  SambaStageBuilder builder;
  uint16_t x[3];
  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  for (uint32_t i = 0; i < call->operand_count; ++i)
    x[i] = sambaStageBroadcastOperand(&builder, operands[i]);
  sambaStageEndRounded(&builder, sambaRowOfCall(call)->program(call, &builder, x));
  return NULL;
}

static uint16_t programOpcode(const SambaOperatorCall *call, SambaStageBuilder *b,
                              const uint16_t *x) {
  return sambaLane2(b, sambaRowOfCall(call)->opcode, x[0], x[1]);
}

#define BINARY_WITH(word, set, code, isPredicate, function, rule)                                  \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator = {.name = #word,                    \
                                                                 .minimum_operands = 2,            \
                                                                 .maximum_operands = 2,            \
                                                                 .attributes = sambaNoAttributes,  \
                                                                 .result_count = 1,                \
                                                                 .elementwise = true,              \
                                                                 .infer = rule,                    \
                                                                 .stages = stages},                \
                                                    .dtypes = set,                                 \
                                                    .opcode = code,                                \
                                                    .predicate = isPredicate,                      \
                                                    .program = function};
#define BINARY(word, set, code, isPredicate, function)                                             \
  BINARY_WITH(word, set, code, isPredicate, function, infer)

BINARY(add, SAMBA_SET_NUMBER, SAMBA_LANE_ADD, false, programOpcode)
BINARY(sub, SAMBA_SET_NUMBER, SAMBA_LANE_SUB, false, programOpcode)
BINARY(mul, SAMBA_SET_NUMBER, SAMBA_LANE_MUL, false, programOpcode)
BINARY(div, SAMBA_SET_NUMBER, SAMBA_LANE_DIV, false, programOpcode)
BINARY(pow, SAMBA_SET_NUMBER, SAMBA_LANE_POW, false, programOpcode)
BINARY(maximum, SAMBA_SET_NUMBER, SAMBA_LANE_MAX, false, programOpcode)
BINARY(minimum, SAMBA_SET_NUMBER, SAMBA_LANE_MIN, false, programOpcode)
BINARY(fmod, SAMBA_SET_NUMBER, SAMBA_LANE_REM, false, programOpcode)
BINARY(eq, SAMBA_SET_ANY, SAMBA_LANE_EQ, true, programOpcode)
BINARY(ne, SAMBA_SET_ANY, SAMBA_LANE_NE, true, programOpcode)
BINARY(lt, SAMBA_SET_NUMBER, SAMBA_LANE_LT, true, programOpcode)
BINARY(le, SAMBA_SET_NUMBER, SAMBA_LANE_LE, true, programOpcode)
BINARY(gt, SAMBA_SET_NUMBER, SAMBA_LANE_GT, true, programOpcode)
BINARY(ge, SAMBA_SET_NUMBER, SAMBA_LANE_GE, true, programOpcode)
BINARY(logical_and, SAMBA_SET_BOOL, SAMBA_LANE_AND, true, programOpcode)
BINARY(logical_or, SAMBA_SET_BOOL, SAMBA_LANE_OR, true, programOpcode)
BINARY(logical_xor, SAMBA_SET_BOOL, SAMBA_LANE_XOR, true, programOpcode)

BINARY(bitwise_and, SAMBA_SET_INTEGER | SAMBA_SET_BOOL, SAMBA_LANE_AND, false, programOpcode)
BINARY(bitwise_or, SAMBA_SET_INTEGER | SAMBA_SET_BOOL, SAMBA_LANE_OR, false, programOpcode)
BINARY(bitwise_xor, SAMBA_SET_INTEGER | SAMBA_SET_BOOL, SAMBA_LANE_XOR, false, programOpcode)

/* Amounts outside [0, bits) shift everything out. Narrow types are computed in 32 bits, where that
 * comes of itself. */
static uint16_t shiftOut(SambaStageBuilder *b, const uint16_t *x, uint16_t *out_amount) {
  bool wide = b->types[x[0]] == SAMBA_DTYPE_I64;
  uint16_t last = sambaLaneNumber(b, x[1], wide ? 63 : 31);
  uint16_t zero = sambaLaneNumber(b, x[1], 0);
  uint16_t beyond = sambaLane2(b, SAMBA_LANE_OR, sambaLane2(b, SAMBA_LANE_LT, x[1], zero),
                               sambaLane2(b, SAMBA_LANE_GT, x[1], last));
  *out_amount = sambaLaneSelect(b, beyond, last, x[1]);
  return beyond;
}
static uint16_t programLeftShift(const SambaOperatorCall *call, SambaStageBuilder *b,
                                 const uint16_t *x) {
  (void)call;
  uint16_t amount;
  uint16_t beyond = shiftOut(b, x, &amount);
  return sambaLaneSelect(b, beyond, sambaLaneNumber(b, x[0], 0),
                         sambaLane2(b, SAMBA_LANE_SHL, x[0], amount));
}
BINARY(bitwise_left_shift, SAMBA_SET_INTEGER, 0, false, programLeftShift)
static uint16_t programRightShift(const SambaOperatorCall *call, SambaStageBuilder *b,
                                  const uint16_t *x) {
  (void)call;
  uint16_t amount;
  shiftOut(b, x, &amount);
  return sambaLane2(b, SAMBA_LANE_SHRA, x[0], amount);
}
BINARY(bitwise_right_shift, SAMBA_SET_INTEGER, 0, false, programRightShift)

static SambaStatus inferPrelu(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(infer(call, out));
  return sambaCheckShape(3, "the result with this slope", out, call->operands[0].rank,
                         call->operands[0].dims);
}
/* x < 0 ? slope * x : x */
static uint16_t programPrelu(const SambaOperatorCall *call, SambaStageBuilder *b,
                             const uint16_t *x) {
  (void)call;
  uint16_t below = sambaLane2(b, SAMBA_LANE_LT, x[0], sambaLaneNumber(b, x[0], 0));
  return sambaLaneSelect(b, below, sambaLane2(b, SAMBA_LANE_MUL, x[0], x[1]), x[0]);
}
BINARY_WITH(prelu, SAMBA_SET_NUMBER, 0, false, programPrelu, inferPrelu)

/* fmod, moved by one divisor when it is not zero and its sign is not the divisor's. */
static uint16_t programRemainder(const SambaOperatorCall *call, SambaStageBuilder *b,
                                 const uint16_t *x) {
  (void)call;
  uint16_t zero = sambaLaneNumber(b, x[0], 0);
  uint16_t rest = sambaLane2(b, SAMBA_LANE_REM, x[0], x[1]);
  uint16_t signs = sambaLane2(b, SAMBA_LANE_XOR, sambaLane2(b, SAMBA_LANE_LT, rest, zero),
                              sambaLane2(b, SAMBA_LANE_LT, x[1], zero));
  uint16_t moves = sambaLane2(b, SAMBA_LANE_AND, sambaLane2(b, SAMBA_LANE_NE, rest, zero), signs);
  return sambaLaneSelect(b, moves, sambaLane2(b, SAMBA_LANE_ADD, rest, x[1]), rest);
}
BINARY(remainder, SAMBA_SET_NUMBER, 0, false, programRemainder)

static SambaStatus inferWhere(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = call->operands;
  SAMBA_RETURN_IF_ERROR(
      sambaCheckDType(1, "operand 0 (the condition)", x[0].dtype, SAMBA_SET_BOOL));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(2, "operand 2", x[2].dtype, "operand 1", x[1].dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckBroadcast(3, &x[1], &x[2], out));
  SambaTensorType values = *out;
  SAMBA_RETURN_IF_ERROR(sambaCheckBroadcast(3, &values, &x[0], out));
  return NULL;
}
static uint16_t programWhere(const SambaOperatorCall *call, SambaStageBuilder *b,
                             const uint16_t *x) {
  (void)call;
  return sambaLaneSelect(b, x[0], x[1], x[2]);
}
const SambaOperatorRow sambaOperatorRow_where = {.operator = {.name = "where",
                                                              .minimum_operands = 3,
                                                              .maximum_operands = 3,
                                                              .attributes = sambaNoAttributes,
                                                              .result_count = 1,
                                                              .elementwise = true,
                                                              .infer = inferWhere,
                                                              .stages = stages},
                                                 .dtypes = SAMBA_SET_BOOL,
                                                 .program = programWhere};
