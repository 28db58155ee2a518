/* How many PCUs a lane program takes, worked by hand from the rule in program_parts.h and the six
 * stages of sn40l. */
#include "backend/estimate/program_parts.h"
#include "backend/machine/shipped.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum { maximum = 32 };

/* A program with two inputs whose operations all work on the operation before them. */
typedef struct Chain {
  SambaOrderedProgram program;
  SambaLaneOp ops[maximum];
  uint32_t order[maximum];
} Chain;

static void append(Chain *chain, uint8_t opcode, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t at = chain->program.op_count++;
    uint16_t before = (uint16_t)(at ? 1 + at : 0);
    assert_true(at < maximum);
    chain->ops[at] =
        (SambaLaneOp){.opcode = opcode, .type = SAMBA_DTYPE_F32, .operands = {before, 1, 1}};
  }
}

static uint32_t countParts(Chain *chain) {
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  chain->program.ops = chain->ops;
  chain->program.order = chain->order;
  chain->program.input_count = 2;
  sambaProgramOrder(&chain->program);
  return sambaProgramParts(&chain->program, machine);
}

/* A chain of three kinds of operations, each `count` times. */
typedef struct Run {
  uint8_t opcode;
  uint32_t count;
} Run;

static uint32_t partsOf(bool systolic, const Run runs[3]) {
  Chain chain = {.program.systolic = systolic};
  for (uint32_t i = 0; i < 3; ++i)
    append(&chain, runs[i].opcode, runs[i].count);
  return countParts(&chain);
}
#define PARTS(...) partsOf(false, (const Run[3]){__VA_ARGS__})
#define ARRAY_PARTS(...) partsOf(true, (const Run[3]){__VA_ARGS__})

static void stagesFill(void **state) {
  (void)state;
  assert_int_equal(PARTS({0}), 1); /* moves a value on */
  assert_int_equal(PARTS({SAMBA_LANE_ADD, 6}), 1);
  assert_int_equal(PARTS({SAMBA_LANE_ADD, 7}), 2);
  assert_int_equal(PARTS({SAMBA_LANE_ADD, 12}), 2);
  assert_int_equal(PARTS({SAMBA_LANE_CONSTANT, 9}, {SAMBA_LANE_ADD, 6}), 1);
}

static void tailComesLast(void **state) {
  (void)state;
  assert_int_equal(PARTS({SAMBA_LANE_ADD, 6}, {SAMBA_LANE_EXP, 1}, {SAMBA_LANE_TO_BF16, 3}), 1);
  assert_int_equal(PARTS({SAMBA_LANE_EXP, 1}, {SAMBA_LANE_ADD, 1}), 2);
  assert_int_equal(PARTS({SAMBA_LANE_EXP, 3}), 3);
  /* A conversion takes a stage while one is left; behind six operations it stands in the tail. */
  assert_int_equal(PARTS({SAMBA_LANE_ADD, 4}, {SAMBA_LANE_TO_BF16, 1}, {SAMBA_LANE_ADD, 1}), 1);
  assert_int_equal(PARTS({SAMBA_LANE_ADD, 5}, {SAMBA_LANE_TO_BF16, 1}, {SAMBA_LANE_ADD, 1}), 2);
  assert_int_equal(PARTS({SAMBA_LANE_ADD, 6}, {SAMBA_LANE_TO_BF16, 1}, {SAMBA_LANE_EXP, 1}), 1);
}

static void reductionParts(void **state) {
  (void)state;
  assert_int_equal(PARTS({SAMBA_LANE_MUL, 1}, {SAMBA_LANE_REDUCE_ADD, 1}, {SAMBA_LANE_ADD, 4}), 1);
  /* 2 + 7 operations would fill two PCUs, but those behind the reduction begin a new one. */
  assert_int_equal(PARTS({SAMBA_LANE_MUL, 1}, {SAMBA_LANE_REDUCE_ADD, 1}, {SAMBA_LANE_ADD, 7}), 3);
}

static void arrayHasNoStages(void **state) {
  (void)state;
  assert_int_equal(ARRAY_PARTS({SAMBA_LANE_MAC, 1}), 1);
  assert_int_equal(ARRAY_PARTS({SAMBA_LANE_MAC, 1}, {SAMBA_LANE_TO_BF16, 2}), 1);
  assert_int_equal(ARRAY_PARTS({SAMBA_LANE_MAC, 1}, {SAMBA_LANE_TANH, 1}), 1);
  assert_int_equal(ARRAY_PARTS({SAMBA_LANE_MAC, 1}, {SAMBA_LANE_ADD, 6}), 2);
  assert_int_equal(ARRAY_PARTS({SAMBA_LANE_MAC, 1}, {SAMBA_LANE_DIV, 1}), 2); /* two operands */
  assert_int_equal(ARRAY_PARTS({SAMBA_LANE_MAC, 1}, {SAMBA_LANE_TANH, 1}, {SAMBA_LANE_EXP, 1}), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stagesFill), cmocka_unit_test(tailComesLast),
                                     cmocka_unit_test(reductionParts),
                                     cmocka_unit_test(arrayHasNoStages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
