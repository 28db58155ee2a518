/* sambaSectionCheck of COMPUTE units: types, immediates, reductions, outputs. */
#include "backend/section/check/section_check.h"
#include "test/backend/section/check/check_case.h"

#define C s->units[4]
#define EVEN s->units[2]
#define SET(...) LIST(&arena, int64_t, __VA_ARGS__)
#define OPS(unit, count, ...)                                                                      \
  ((unit).compute.program.op_count = (count),                                                      \
   (unit).compute.program.ops = LIST(&arena, SambaLaneOp, __VA_ARGS__))
#define T(type) SAMBA_DTYPE_##type
#define MAC {SAMBA_LANE_MAC, T(F32), {0, 1, 0}, 0}

static void programs(void **state) {
  (void)state;
  CASE(sampleMatmul, C.compute.program.op_count = 5000,
       "unit 'ct' (compute): a program of 5000 lane operations, expected at most 4096");
  CASE(sampleGather, OPS(EVEN, 1, {54, T(F32), {0, 1, 0}, 0}),
       "lane operation 0: undefined opcode 54");
  CASE(sampleGather, OPS(EVEN, 1, {200, T(F32), {0, 1, 0}, 0}),
       "lane operation 0: undefined opcode 200");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_MUL, T(F32), {0, 2, 0}, 0}),
       "lane operation 0 (mul): operand 1 is value 2, expected one before value 2");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_NEG, T(F32), {0, 1, 0}, 0}),
       "lane operation 0 (neg): operand 1 is value 1, expected 0: this operation has 1 operands");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_MUL, T(F32), {0, 1, 0}, 3}),
       "immediate is 0x3, expected 0: this operation has none");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_MUL, T(BF16), {0, 1, 0}, 0}),
       "has type bf16, which this operation does not have");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_MUL, 15, {0, 1, 0}, 0}),
       "has type invalid, which this operation does not have");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_EXP, T(I32), {0, 0, 0}, 0}),
       "has type i32, which this operation does not have");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_MUL, T(I32), {0, 1, 0}, 0}),
       "operand 0 is value 0 of type f32, which does not fit type i32");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_CONSTANT, T(I1), {0, 0, 0}, 2}),
       "constant 0x2 does not fit in i1");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_CONSTANT, T(F32), {0, 0, 0}, UINT64_C(1) << 32}),
       "constant 0x100000000 does not fit in f32");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_COUNTER, T(F32), {0, 0, 0}, 2}),
       "counter 2 does not exist, the chain has 2 counters");
  CASE(sampleGather, OPS(EVEN, 1, {SAMBA_LANE_ARGIN, T(F32), {0, 0, 0}, 65536}),
       "argument slot 65536, expected at most 65535");
  CASE(sampleGather,
       OPS(EVEN, 2, {SAMBA_LANE_FLOAT_TO_INT, T(I32), {0, 0, 0}, 0},
           {SAMBA_LANE_WRAP, T(I32), {2, 0, 0}, T(F32)}),
       "lane operation 1 (wrap): wraps to type number 0, expected i1, i8, ui8 or i16");
}

/* Result types of the operations that change them, through to an output: these pass. */
static void typesFollowTheOperations(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaSection *s = sampleGather(&arena);
  OPS(EVEN, 6, {SAMBA_LANE_LT, T(F32), {0, 1, 0}, 0}, {SAMBA_LANE_SELECT, T(F32), {2, 0, 1}, 0},
      {SAMBA_LANE_INT_RESIZE, T(I64), {2, 0, 0}, 0},
      {SAMBA_LANE_INT_TO_FLOAT, T(I64), {4, 0, 0}, 0}, {SAMBA_LANE_COUNTER, T(I32), {0, 0, 0}, 1},
      {SAMBA_LANE_TO_F16, T(F32), {5, 0, 0}, 0});
  EVEN.outputs[0].compute.value = 7;
  assert_null(sambaSectionCheck(s));
  sambaArenaDestroy(&arena);
}

static void reductions(void **state) {
  (void)state;
  CASE(sampleMatmul, C.compute.program.reduce_mask |= 256,
       "reduce_mask 0x130 names a counter beyond the 8 of the chain");
  CASE(sampleGather, EVEN.compute.program.reduce_mask = 2,
       "reduce_mask is 0x2, but the program has no reduction");
  CASE(sampleMatmul, OPS(C, 2, MAC, {SAMBA_LANE_REDUCE_ADD, T(F32), {0, 0, 0}, 0}),
       "a systolic program has exactly one reduction, a mac; this one has 2");
  CASE(sampleMatmul,
       OPS(C, 2, {SAMBA_LANE_REDUCE_ADD, T(F32), {0, 0, 0}, 0},
           {SAMBA_LANE_TO_BF16, T(F32), {2, 0, 0}, 0}),
       "lane operation 0 (reduce_add): a systolic program is one mac and operations on its result");
  CASE(sampleMatmul,
       OPS(C, 2, {SAMBA_LANE_NEG, T(F32), {0, 0, 0}, 0}, {SAMBA_LANE_MAC, T(F32), {0, 1, 0}, 0}),
       "lane operation 0 (neg): a systolic program is one mac and operations on its result");
  CASE(sampleMatmul,
       OPS(C, 2, {SAMBA_LANE_CONSTANT, T(F32), {0, 0, 0}, 0},
           {SAMBA_LANE_MAC, T(F32), {0, 2, 0}, 0}),
       "lane operation 1 (mac): a systolic mac takes inputs only, operand 1 is value 2");
  CASE(sampleMatmul,
       (C.inputs[0].dtype = C.inputs[1].dtype = T(I64),
        OPS(C, 1, {SAMBA_LANE_MAC, T(I64), {0, 1, 0}, 0})),
       "a systolic mac has type f32 or i32, not i64");
  CASE(sampleMatmul,
       (C.compute.program.systolic = false, OPS(C, 1, {SAMBA_LANE_MAC_ON, T(F32), {0, 1, 0}, 0})),
       "lane operation 0 (mac_on): only a systolic program has this operation");
  CASE(sampleMatmul, OPS(C, 1, {SAMBA_LANE_MAC_ON, T(F32), {0, 1, 1}, 0}),
       "lane operation 0 (mac_on): starts at value 1, which changes over the reduced counters");
  CASE(sampleMatmul, C.compute.program.reduce_mask = 1 | 1 << 5,
       "counter 0 is reduced, but a counter between it and token_level 5 is not: reduced outer "
       "counters must be the "
       "last ones before token_level");
  CASE(sampleMatmul,
       (C.compute.program.systolic = false,
        OPS(C, 2, MAC, {SAMBA_LANE_REDUCE_ADD, T(F32), {2, 0, 0}, 0})),
       "lane operation 1 (reduce_add): reduces a value that already depends on a reduction");
  CASE(sampleMatmul,
       (C.compute.program.systolic = false, OPS(C, 2, MAC, {SAMBA_LANE_ADD, T(F32), {2, 0, 0}, 0})),
       "lane operation 1 (add): joins the result of a reduction with a value that changes over the "
       "reduced counters");
  CASE(sampleMatmul,
       (C.compute.program.systolic = false,
        OPS(C, 3, MAC, {SAMBA_LANE_COUNTER, T(F32), {0, 0, 0}, 5},
            {SAMBA_LANE_ADD, T(F32), {2, 3, 0}, 0})),
       "lane operation 2 (add): joins the result of a reduction");
}

/* A bias that is held while the reduced counters run may follow the reduction. */
static void heldInputsMayFollowReductions(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaSection *s = sampleMatmul(&arena);
  C.compute.program.systolic = false;
  C.inputs[1].compute.level = 4;
  C.inputs[1].token_elements = 256;
  C.inputs[1].compute.strides = SET(0, 0, 0, 0, 0, 0, 16, 1);
  OPS(C, 2, {SAMBA_LANE_REDUCE_ADD, T(F32), {0, 0, 0}, 0}, {SAMBA_LANE_ADD, T(F32), {2, 1, 0}, 0});
  assertMessage(
      sambaSectionCheck(s),
      "stream 3: unit 'bb' output 0 sends tokens of 1024 elements, unit 'ct' input 1 takes "
      "tokens of 256");
  C.inputs[1].compute.level = 5;
  assertMessage(sambaSectionCheck(s), "lane operation 1 (add): joins the result of a reduction");
  sambaArenaDestroy(&arena);
}

static void ports(void **state) {
  (void)state;
  CASE(sampleMatmul, C.inputs[0].token_elements = 0,
       "input 0: token_elements is 0, expected at least 1: a compute unit has no control ports");
  CASE(sampleMatmul, C.inputs[0].compute.level = 6,
       "input 0: level is 6, expected at most token_level, which is 5");
  CASE(sampleMatmul, C.inputs[0].compute.strides = SET(0, 0, 1, 0, 0, 16, 1, 0),
       "input 0: stride 1 on counter 2, expected 0 on the outer counters");
  CASE(sampleMatmul, C.outputs[0].compute.value = 4,
       "output 0: value 4 does not exist, the program has 4 values");
  CASE(sampleMatmul, C.outputs[0].dtype = T(I32),
       "output 0: writes i32 from value 3 of type f32, expected a value of type i32");
  CASE(sampleMatmul, C.outputs[0].compute.level = 5,
       "output 0: level is 5, expected 4: the value is complete when the reduced counters have "
       "wrapped");
  CASE(sampleGather, EVEN.outputs[0].compute.level = 0,
       "output 0: level is 0, expected 1: the value depends on no reduction");
  CASE(sampleMatmul, C.outputs[0].compute.strides = SET(0, 0, 0, 0, 0, 1, 16, 1),
       "output 0: stride 1 on counter 5, expected 0: the counter is reduced");
  CASE(sampleMatmul, C.outputs[0].compute.strides = SET(0, 0, 0, 0, 0, 0, 1, 16),
       "output 0: stride 16 on counter 7, expected 1: a PCU sends the elements of a token in the "
       "order in which it makes them\n  note: let the pattern of the PMU or address generator that "
       "takes the token place them");
  CASE(sampleMatmul, (C.outputs[0].token_elements = 512),
       "output 0: token_elements is 512, but the counters make 256 elements");
}

/* The elements of an operand pass once, in the order of their use. */
static void operandsPassInOrder(void **state) {
  (void)state;
  CASE(sampleMatmul, C.inputs[0].compute.strides = SET(0, 0, 0, 0, 0, 1, 64, 0),
       "input 0: stride 64 on counter 6, expected 1 or 0: the unit would have to hold the whole "
       "token of 1024 elements, but a PCU uses the elements of an operand in the order in which "
       "they arrive\n  note: let the read pattern of a PMU send them in the order of their use");
  CASE(sampleMatmul, C.inputs[0].compute.strides = SET(0, 0, 0, 0, 0, -16, 1, 0),
       "input 0: stride -16 on counter 5, expected 16 or 0");
  CASE(sampleMatmul, C.inputs[0].token_elements = 1023,
       "input 0: token_elements is 1023, but the counters use 1024 elements of a token");
  CASE(sampleMatmul, C.inputs[1].compute.strides = SET(0, 0, 0, 0, 0, 0, 0, 1),
       "input 1: counter 5 uses 16 elements again, which the array would have to hold; it holds no "
       "operands\n  note: let the read pattern of a PMU send them again");
  CASE(sampleMatmul, (C.inputs[0].compute.level = 2),
       "input 0: counter 2 uses 1024 elements again, which the array would have to hold");
}

/* A firing of the array is a pass: k outside, one side, the other side. */
static void aFiringIsAPass(void **state) {
  (void)state;
  CASE(sampleMatmul,
       (C.compute.trips = LIST(&arena, uint32_t, 2, 2, 4, 4, 2, 16, 16, 64),
        C.inputs[0].compute.strides = SET(0, 0, 0, 0, 0, 64, 0, 1),
        C.inputs[1].compute.strides = SET(0, 0, 0, 0, 0, 0, 64, 1),
        C.compute.program.reduce_mask = 1 << 4 | 1 << 7),
       "counter 7 of 64 steps stands where a pass of the array has none: a pass is its reduced "
       "counters, then its rows and columns, one side after the other\n  note: let it step from "
       "token "
       "to token: further passes are further tokens");
  CASE(sampleMatmul, C.compute.program.reduce_mask = 1 << 4,
       "counter 5 of 64 steps stands where a pass of the array has none");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs),       cmocka_unit_test(typesFollowTheOperations),
      cmocka_unit_test(reductions),     cmocka_unit_test(heldInputsMayFollowReductions),
      cmocka_unit_test(ports),          cmocka_unit_test(operandsPassInOrder),
      cmocka_unit_test(aFiringIsAPass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
