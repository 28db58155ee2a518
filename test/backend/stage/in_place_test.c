/* Updates in place, decided from stages. */
#include "backend/stage/in_place.h"

#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { rows = 4, columns = 6, old = 0 };

typedef struct Case {
  SambaArena arena;
  SambaStageGraph graph;
} Case;

static int setUp(void **state) {
  static Case test;
  test = (Case){0};
  test.graph = (SambaStageGraph){.arena = &test.arena, .name = "g"};
  /* Tensor 0: the old value. */
  addTensor(&test.graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){rows, columns});
  *state = &test;
  return 0;
}

static int tearDown(void **state) {
  Case *test = *state;
  assert_null(sambaStageGraphCheck(&test->graph));
  sambaArenaDestroy(&test->arena);
  return 0;
}

static uint32_t matrix(Case *test, SambaTensorRole role) {
  return addTensor(&test->graph, role, SAMBA_DTYPE_F32, 2, (int64_t[]){rows, columns});
}

/* axes: the dimension of each axis, -1: always 0. */
static SambaStageOperand operand(uint32_t tensor, int first, int second) {
  SambaStageOperand made = {.tensor = tensor, .index_operand = SAMBA_NO_INDEX};
  if (first >= 0)
    made.axes[0].coefficients[first] = 1;
  if (second >= 0)
    made.axes[1].coefficients[second] = 1;
  return made;
}

/* output = operands added up, point by point over rows and columns. */
static void addUp(Case *test, SambaStageOperand output, uint32_t count,
                  const SambaStageOperand *operands) {
  SambaStage stage = {.name = "add", .layer = "", .dim_count = 2, .extents = {rows, columns}};
  stage.output = output;
  stage.operand_count = count;
  stage.ops = SAMBA_ARENA_ARRAY(&test->arena, SambaLaneOp, count);
  for (uint32_t i = 0; i < count; ++i) {
    stage.operands[i] = operands[i];
    uint16_t before = (uint16_t)(i ? count + i - 1 : 0);
    stage.ops[i] = (SambaLaneOp){
        .opcode = SAMBA_LANE_ADD, .type = SAMBA_DTYPE_F32, .operands = {(uint16_t)i, before}};
  }
  stage.op_count = count;
  stage.result = 2 * count - 1;
  sambaStageGraphAddStage(&test->graph, &stage);
}
#define ADD_UP(test, output, ...)                                                                  \
  addUp(test, output, sizeof((SambaStageOperand[]){__VA_ARGS__}) / sizeof(SambaStageOperand),      \
        (SambaStageOperand[]){__VA_ARGS__})

/* One value per row, or one for all. */
static uint32_t addSum(Case *test, uint32_t tensor, bool whole) {
  uint32_t sums = addTensor(&test->graph, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_F32, 2,
                            (int64_t[]){whole ? 1 : rows, 1});
  SambaStage stage = {.name = "sum", .layer = "", .dim_count = 2, .extents = {rows, columns}};
  stage.reduced[0] = whole;
  stage.reduced[1] = true;
  stage.operand_count = 1;
  stage.operands[0] = operand(tensor, 0, 1);
  stage.output = operand(sums, whole ? -1 : 0, -1);
  stage.op_count = 1;
  stage.ops = SAMBA_ARENA_NEW(&test->arena, SambaLaneOp);
  *stage.ops = (SambaLaneOp){.opcode = SAMBA_LANE_REDUCE_ADD, .type = SAMBA_DTYPE_F32};
  stage.result = 1;
  sambaStageGraphAddStage(&test->graph, &stage);
  return sums;
}

static bool decide(const Case *test, uint32_t updated) {
  return sambaStageGraphUpdatesInPlace(&test->graph, old, updated);
}

static void pointByPoint(void **state) {
  Case *test = *state;
  uint32_t gradient = matrix(test, SAMBA_TENSOR_ARGUMENT);
  uint32_t scaled = matrix(test, SAMBA_TENSOR_INTERMEDIATE);
  uint32_t updated = matrix(test, SAMBA_TENSOR_RESULT);
  ADD_UP(test, operand(scaled, 0, 1), operand(old, 0, 1), operand(gradient, 0, 1));
  ADD_UP(test, operand(updated, 0, 1), operand(scaled, 0, 1), operand(old, 0, 1));
  assert_true(decide(test, updated));
}

/* Rows of 4 and columns of 6 do not fit, so a square of the old value stands for the transpose. */
static void transposed(void **state) {
  Case *test = *state;
  test->graph.tensors[old].dims[0] = columns;
  uint32_t updated = addTensor(&test->graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 2,
                               (int64_t[]){columns, columns});
  ADD_UP(test, operand(updated, 0, 1), operand(old, 1, 0));
  test->graph.stages[0].extents[0] = columns;
  assert_false(decide(test, updated));
}

static void shifted(void **state) {
  Case *test = *state;
  uint32_t updated = matrix(test, SAMBA_TENSOR_RESULT);
  ADD_UP(test, operand(updated, 0, 1), operand(old, 0, 1));
  test->graph.stages[0].operands[0].axes[0].constant = 1;
  test->graph.stages[0].operands[0].guarded = true;
  assert_false(decide(test, updated));
}

/* A reader beside the update, whose result nothing of the update needs. */
static void readerBeside(void **state) {
  Case *test = *state;
  uint32_t other = matrix(test, SAMBA_TENSOR_RESULT);
  uint32_t updated = matrix(test, SAMBA_TENSOR_RESULT);
  ADD_UP(test, operand(updated, 0, 1), operand(old, 0, 1));
  assert_true(decide(test, updated));
  ADD_UP(test, operand(other, 0, 1), operand(old, 0, 1));
  assert_false(decide(test, updated));
}

/* Sums over what is updated: of the row, or of everything, as a norm that scales a gradient. */
static void throughSums(void **state) {
  Case *test = *state;
  uint32_t row_sums = addSum(test, old, false);
  uint32_t sum = addSum(test, old, true);
  uint32_t updated = matrix(test, SAMBA_TENSOR_RESULT);
  ADD_UP(test, operand(updated, 0, 1), operand(old, 0, 1), operand(row_sums, 0, -1),
         operand(sum, -1, -1));
  assert_true(decide(test, updated));
}

/* Row 0's sum reaches every row: row 1 is not among what row 0's element waits for. */
static void sumOfAnotherRow(void **state) {
  Case *test = *state;
  uint32_t row_sums = addSum(test, old, false);
  uint32_t updated = matrix(test, SAMBA_TENSOR_RESULT);
  ADD_UP(test, operand(updated, 0, 1), operand(row_sums, -1, -1));
  assert_false(decide(test, updated));
}

/* Each column's pass reads the old rows again. */
static void readAgain(void **state) {
  Case *test = *state;
  uint32_t other =
      addTensor(&test->graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){6, 6});
  uint32_t updated =
      addMatmul(&test->graph, old, other, false, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32);
  assert_false(decide(test, updated));
}

static void otherShape(void **state) {
  Case *test = *state;
  uint32_t updated = addTensor(&test->graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 2,
                               (int64_t[]){rows, columns + 1});
  ADD_UP(test, operand(updated, 0, 1), operand(old, 0, 1));
  assert_false(decide(test, updated));
}

static void reshaped(void **state) {
  Case *test = *state;
  uint32_t updated = matrix(test, SAMBA_TENSOR_RESULT);
  SambaStageTensor flat = {.name = "flat",
                           .role = SAMBA_TENSOR_ARGUMENT,
                           .dtype = SAMBA_DTYPE_F32,
                           .rank = 1,
                           .dims = {rows * columns}};
  uint32_t index = sambaStageGraphAddTensor(&test->graph, &flat);
  test->graph.tensors[index].alias_of = old;
  ADD_UP(test, operand(updated, 0, 1), operand(old, 0, 1));
  assert_false(decide(test, updated));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setUp, tearDown)
  const struct CMUnitTest tests[] = {TEST(pointByPoint), TEST(transposed),      TEST(shifted),
                                     TEST(readerBeside), TEST(throughSums),     TEST(readAgain),
                                     TEST(otherShape),   TEST(sumOfAnotherRow), TEST(reshaped)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
