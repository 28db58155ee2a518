/* Elementwise operators with two or three operands and numpy's broadcasting. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/elementwise/elementwise_gradients.h"

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = call->operands;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", x[0].dtype, call->operator->dtypes));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(2, "operand 1", x[1].dtype, "operand 0", x[0].dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckBroadcast(3, &x[0], &x[1], out));
  if (call->operator->predicate)
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
  sambaStageEndRounded(&builder, call->operator->program(call, &builder, x));
  return NULL;
}

static uint16_t programOpcode(const SambaOperatorCall *call, SambaStageBuilder *builder,
                              const uint16_t *x) {
  return sambaLane2(builder, call->operator->opcode, x[0], x[1]);
}

/* Amounts outside [0, bits) shift everything out. Narrow types are computed in 32 bits, where that
 * comes of itself. */
static uint16_t shiftOut(SambaStageBuilder *builder, const uint16_t *x, uint16_t *out_amount) {
  bool wide = builder->types[x[0]] == SAMBA_DTYPE_I64;
  uint16_t last = sambaLaneNumber(builder, x[1], wide ? 63 : 31);
  uint16_t zero = sambaLaneNumber(builder, x[1], 0);
  uint16_t beyond =
      sambaLane2(builder, SAMBA_LANE_OR, sambaLane2(builder, SAMBA_LANE_LT, x[1], zero),
                 sambaLane2(builder, SAMBA_LANE_GT, x[1], last));
  *out_amount = sambaLaneSelect(builder, beyond, last, x[1]);
  return beyond;
}
static uint16_t programLeftShift(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                 const uint16_t *x) {
  (void)call;
  uint16_t amount;
  uint16_t beyond = shiftOut(builder, x, &amount);
  return sambaLaneSelect(builder, beyond, sambaLaneNumber(builder, x[0], 0),
                         sambaLane2(builder, SAMBA_LANE_SHL, x[0], amount));
}
static uint16_t programRightShift(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                  const uint16_t *x) {
  (void)call;
  uint16_t amount;
  shiftOut(builder, x, &amount);
  return sambaLane2(builder, SAMBA_LANE_SHRA, x[0], amount);
}

static SambaStatus inferPrelu(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(infer(call, out));
  return sambaCheckShape(3, "the result with this slope", out, call->operands[0].rank,
                         call->operands[0].dims);
}
/* x < 0 ? slope * x : x */
static uint16_t programPrelu(const SambaOperatorCall *call, SambaStageBuilder *builder,
                             const uint16_t *x) {
  (void)call;
  uint16_t below = sambaLane2(builder, SAMBA_LANE_LT, x[0], sambaLaneNumber(builder, x[0], 0));
  return sambaLaneSelect(builder, below, sambaLane2(builder, SAMBA_LANE_MUL, x[0], x[1]), x[0]);
}

/* fmod, moved by one divisor when it is not zero and its sign is not the divisor's. */
static uint16_t programRemainder(const SambaOperatorCall *call, SambaStageBuilder *builder,
                                 const uint16_t *x) {
  (void)call;
  uint16_t zero = sambaLaneNumber(builder, x[0], 0);
  uint16_t rest = sambaLane2(builder, SAMBA_LANE_REM, x[0], x[1]);
  uint16_t signs =
      sambaLane2(builder, SAMBA_LANE_XOR, sambaLane2(builder, SAMBA_LANE_LT, rest, zero),
                 sambaLane2(builder, SAMBA_LANE_LT, x[1], zero));
  uint16_t moves =
      sambaLane2(builder, SAMBA_LANE_AND, sambaLane2(builder, SAMBA_LANE_NE, rest, zero), signs);
  return sambaLaneSelect(builder, moves, sambaLane2(builder, SAMBA_LANE_ADD, rest, x[1]), rest);
}

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
static uint16_t programWhere(const SambaOperatorCall *call, SambaStageBuilder *builder,
                             const uint16_t *x) {
  (void)call;
  return sambaLaneSelect(builder, x[0], x[1], x[2]);
}

#define BINARY_WITH(set, rule, function)                                                           \
  .operands = {"lhs", "rhs"}, .builder = SAMBA_BUILDER_PROMOTING, .elementwise = true,             \
  .constraints = {"operand 0 has a dtype that the operation is defined for",                       \
                  "both have one dtype", "their shapes broadcast"},                                \
  .dtypes = set, .infer = rule, .stages = stages, .program = function
#define BINARY(set, function) BINARY_WITH(set, infer, function)
#define BINARY_OPCODE(set, code) .opcode = code, BINARY(set, programOpcode)
#define PREDICATE(set, code) .predicate = true, .no_gradient = true, BINARY_OPCODE(set, code)

const SambaOperator sambaBinaryOperators[] = {
    {.name = "add",
     .formula = "a + b",
     .onnx = {ONNX("Add", 1)},
     .differentiate = sambaGradientAdd,
     BINARY_OPCODE(SAMBA_SET_NUMBER, SAMBA_LANE_ADD)},
    {.name = "sub",
     .formula = "a - b",
     .onnx = {ONNX("Sub", 1)},
     .differentiate = sambaGradientSub,
     BINARY_OPCODE(SAMBA_SET_NUMBER, SAMBA_LANE_SUB)},
    {.name = "mul",
     .formula = "a * b",
     .onnx = {ONNX("Mul", 1)},
     .differentiate = sambaGradientMul,
     BINARY_OPCODE(SAMBA_SET_NUMBER, SAMBA_LANE_MUL)},
    {.name = "div",
     .formula = "a / b; integers: toward zero",
     .onnx = {ONNX("Div", 1)},
     .differentiate = sambaGradientDiv,
     BINARY_OPCODE(SAMBA_SET_NUMBER, SAMBA_LANE_DIV)},
    {.name = "pow",
     .formula = "a ^ b; integers wrap, with a negative exponent toward zero",
     .differentiate = sambaGradientPow,
     BINARY_OPCODE(SAMBA_SET_NUMBER, SAMBA_LANE_POW)},
    {.name = "maximum",
     .formula = "max(a, b); a NaN wins",
     .differentiate = sambaGradientMaximum,
     BINARY_OPCODE(SAMBA_SET_NUMBER, SAMBA_LANE_MAX)},
    {.name = "minimum",
     .formula = "min(a, b); a NaN wins",
     .differentiate = sambaGradientMinimum,
     BINARY_OPCODE(SAMBA_SET_NUMBER, SAMBA_LANE_MIN)},
    {.name = "fmod",
     .formula = "a - b * trunc(a / b)",
     .differentiate = sambaGradientFmod,
     BINARY_OPCODE(SAMBA_SET_NUMBER, SAMBA_LANE_REM)},
    {.name = "eq",
     .formula = "a == b",
     .onnx = {ONNX("Equal", 1)},
     PREDICATE(SAMBA_SET_ANY, SAMBA_LANE_EQ)},
    {.name = "ne", .formula = "a != b", PREDICATE(SAMBA_SET_ANY, SAMBA_LANE_NE)},
    {.name = "lt",
     .formula = "a < b",
     .onnx = {ONNX("Less", 1)},
     PREDICATE(SAMBA_SET_NUMBER, SAMBA_LANE_LT)},
    {.name = "le",
     .formula = "a <= b",
     .onnx = {ONNX("LessOrEqual", 12)},
     PREDICATE(SAMBA_SET_NUMBER, SAMBA_LANE_LE)},
    {.name = "gt",
     .formula = "a > b",
     .onnx = {ONNX("Greater", 1)},
     PREDICATE(SAMBA_SET_NUMBER, SAMBA_LANE_GT)},
    {.name = "ge",
     .formula = "a >= b",
     .onnx = {ONNX("GreaterOrEqual", 12)},
     PREDICATE(SAMBA_SET_NUMBER, SAMBA_LANE_GE)},
    {.name = "logical_and",
     .formula = "a and b",
     .onnx = {ONNX("And", 1)},
     PREDICATE(SAMBA_SET_BOOL, SAMBA_LANE_AND)},
    {.name = "logical_or",
     .formula = "a or b",
     .onnx = {ONNX("Or", 1)},
     PREDICATE(SAMBA_SET_BOOL, SAMBA_LANE_OR)},
    {.name = "logical_xor",
     .formula = "a xor b",
     .onnx = {ONNX("Xor", 1)},
     PREDICATE(SAMBA_SET_BOOL, SAMBA_LANE_XOR)},
    {.name = "bitwise_and",
     .formula = "a and b, bit by bit",
     .onnx = {ONNX("BitwiseAnd", 18)},
     .no_gradient = true,
     BINARY_OPCODE(SAMBA_SET_INTEGER | SAMBA_SET_BOOL, SAMBA_LANE_AND)},
    {.name = "bitwise_or",
     .formula = "a or b, bit by bit",
     .onnx = {ONNX("BitwiseOr", 18)},
     .no_gradient = true,
     BINARY_OPCODE(SAMBA_SET_INTEGER | SAMBA_SET_BOOL, SAMBA_LANE_OR)},
    {.name = "bitwise_xor",
     .formula = "a xor b, bit by bit",
     .onnx = {ONNX("BitwiseXor", 18)},
     .no_gradient = true,
     BINARY_OPCODE(SAMBA_SET_INTEGER | SAMBA_SET_BOOL, SAMBA_LANE_XOR)},
    {.name = "bitwise_left_shift",
     .formula = "a * 2^b; an amount outside [0, bits) gives 0",
     .no_gradient = true,
     BINARY(SAMBA_SET_INTEGER, programLeftShift)},
    {.name = "bitwise_right_shift",
     .formula = "floor(a / 2^b); an amount outside [0, bits) shifts everything out",
     .no_gradient = true,
     BINARY(SAMBA_SET_INTEGER, programRightShift)},
    {.name = "prelu",
     .formula = "a < 0 ? b * a : a",
     .differentiate = sambaGradientPrelu,
     BINARY_WITH(SAMBA_SET_NUMBER, inferPrelu, programPrelu)},
    {.name = "remainder",
     .formula = "a - b * floor(a / b)",
     .differentiate = sambaGradientRemainder,
     BINARY(SAMBA_SET_NUMBER, programRemainder)},
    {.name = "where",
     .formula = "c ? a : b",
     .operands = {"condition", "lhs", "rhs"},
     .constraints = {"the condition is i1", "a and b have one dtype", "the shapes broadcast"},
     .example = "%y = samba.where %c, %a, %b : tensor<2x1xi1>, tensor<2x3xf32>, tensor<3xf32>",
     .elementwise = true,
     .dtypes = SAMBA_SET_BOOL,
     .infer = inferWhere,
     .stages = stages,
     .differentiate = sambaGradientWhere,
     .program = programWhere},
    {0}};
