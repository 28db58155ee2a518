/* Axes that are read as several: what is split with them, and what keeps them whole. */
#include "backend/stage/split_axes.h"
#include "backend/stage/stage_print.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum { rows = 4, heads = 2, width = 3, depth = 5 };

/* Tensors and stages of the graph below, in their order. */
enum { X, WEIGHT, BIAS, PRODUCT, VALUES, KEYS, SCORES };
enum { CONTRACTION, SUM, READER };

static SambaStageOperand mapOf(uint32_t tensor) {
  return (SambaStageOperand){.tensor = tensor, .index_operand = SAMBA_NO_INDEX};
}

static void addProgram(SambaStageGraph *graph, SambaStage *stage, SambaLaneOpcode opcode) {
  stage->op_count = 1;
  stage->ops = SAMBA_ARENA_NEW(graph->arena, SambaLaneOp);
  *stage->ops =
      (SambaLaneOp){.opcode = (uint8_t)opcode, .type = SAMBA_DTYPE_F32, .operands = {0, 1}};
  stage->result = 2;
  sambaStageGraphAddStage(graph, stage);
}

/* v[t, n] = bias[n] + sum over k of x[t, k] w[n, k], and of v's rows, n = width h + d,
 * y[t, h] = sum over d of v[t, n] keys[t, n]. */
static void makeHeads(SambaStageGraph *graph, SambaArena *arena) {
  *graph = (SambaStageGraph){.arena = arena, .name = "g"};
  const int64_t n = heads * width;
  addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){rows, depth});
  addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){n, depth});
  addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 1, (int64_t[]){n});
  addTensor(graph, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_F32, 2, (int64_t[]){rows, n});
  addTensor(graph, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_F32, 2, (int64_t[]){rows, n});
  addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){rows, n});
  addTensor(graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 2, (int64_t[]){rows, heads});

  SambaStage product = {.name = "product",
                        .layer = "",
                        .dim_count = 3,
                        .extents = {rows, n, depth},
                        .reduced = {false, false, true},
                        .operand_count = 2,
                        .operands = {mapOf(X), mapOf(WEIGHT)},
                        .output = mapOf(PRODUCT)};
  product.operands[0].axes[0].coefficients[0] = product.operands[0].axes[1].coefficients[2] = 1;
  product.operands[1].axes[0].coefficients[1] = product.operands[1].axes[1].coefficients[2] = 1;
  product.output.axes[0].coefficients[0] = product.output.axes[1].coefficients[1] = 1;
  addProgram(graph, &product, SAMBA_LANE_MAC);

  SambaStage sum = {.name = "sum",
                    .layer = "",
                    .dim_count = 2,
                    .extents = {rows, n},
                    .operand_count = 2,
                    .operands = {mapOf(PRODUCT), mapOf(BIAS)},
                    .output = mapOf(VALUES)};
  sum.operands[0].axes[0].coefficients[0] = sum.operands[0].axes[1].coefficients[1] = 1;
  sum.operands[1].axes[0].coefficients[1] = 1;
  sum.output.axes[0].coefficients[0] = sum.output.axes[1].coefficients[1] = 1;
  addProgram(graph, &sum, SAMBA_LANE_ADD);

  SambaStage reader = {.name = "reader",
                       .layer = "",
                       .dim_count = 3,
                       .extents = {rows, heads, width},
                       .reduced = {false, false, true},
                       .operand_count = 2,
                       .operands = {mapOf(VALUES), mapOf(KEYS)},
                       .output = mapOf(SCORES)};
  for (uint32_t i = 0; i < 2; ++i) {
    reader.operands[i].axes[0].coefficients[0] = 1;
    reader.operands[i].axes[1] = (SambaAxisMap){.coefficients = {0, width, 1}};
  }
  reader.output.axes[0].coefficients[0] = reader.output.axes[1].coefficients[1] = 1;
  addProgram(graph, &reader, SAMBA_LANE_MAC);
}

static void splitsWhatMakesThem(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaText text = {0};
  SambaStageGraph graph;
  makeHeads(&graph, &arena);
  sambaStageGraphSplitAxes(&graph);

  sambaStageGraphPrint(&graph, &text);
  assert_string_equal(sambaTextGet(&text),
                      "stages of section g\n"
                      "  tensor 0: argument [4, 5] f32  (t)\n"
                      "  tensor 1: argument [6, 5] f32  (t)\n"
                      "  tensor 2: argument [6] f32  (t)\n"
                      "  tensor 3: intermediate [4, 2, 3] f32  (t)\n"
                      "  tensor 4: intermediate [4, 2, 3] f32  (t)\n"
                      "  tensor 5: argument [4, 6] f32  (t)\n"
                      "  tensor 6: result [4, 2] f32  (t)\n"
                      "  tensor 7: argument [2, 3, 5] f32, the bytes of tensor 1  (t)\n"
                      "  tensor 8: argument [2, 3] f32, the bytes of tensor 2  (t)\n"
                      "  stage 0: product [d0 < 4, d1 < 2, d2 < 3, d3 < 5 reduced]\n"
                      "    operand 0: tensor 0 [d0, d3]\n"
                      "    operand 1: tensor 7 [d1, d2, d3]\n"
                      "    value 2: mac f32 0 1\n"
                      "    output: value 2 to tensor 3 [d0, d1, d2]\n"
                      "  stage 1: sum [d0 < 4, d1 < 2, d2 < 3]\n"
                      "    operand 0: tensor 3 [d0, d1, d2]\n"
                      "    operand 1: tensor 8 [d1, d2]\n"
                      "    value 2: add f32 0 1\n"
                      "    output: value 2 to tensor 4 [d0, d1, d2]\n"
                      "  stage 2: reader [d0 < 4, d1 < 2, d2 < 3 reduced]\n"
                      "    operand 0: tensor 4 [d0, d1, d2]\n"
                      "    operand 1: tensor 5 [d0, 3*d1 + d2]\n"
                      "    value 2: mac f32 0 1\n"
                      "    output: value 2 to tensor 6 [d0, d1]\n");
  sambaStatusFree(sambaStageGraphCheck(&graph));
  sambaTextFree(&text);
  sambaArenaDestroy(&arena);
}

static char *printed(const SambaStageGraph *graph, SambaText *text) {
  sambaStageGraphPrint(graph, text);
  return (char *)sambaTextGet(text);
}

/* What keeps the axis whole. */
static void hasAnotherShape(SambaStageGraph *graph) {
  uint32_t shape = addTensor(graph, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_F32, 1,
                             (int64_t[]){rows * heads * width});
  graph->tensors[shape].alias_of = VALUES;
  SambaStage other = graph->stages[SUM];
  other.operands[0].tensor = shape; /* every second element */
  other.operands[0].axes[0] = (SambaAxisMap){.coefficients = {heads * width, 2}};
  other.operands[0].axes[1] = (SambaAxisMap){0};
  other.extents[1] = heads * width / 2;
  sambaStageGraphAddStage(graph, &other);
}
static void isReadInPart(SambaStageGraph *graph) { graph->stages[READER].extents[1] = 1; }
static void isReadShifted(SambaStageGraph *graph) {
  graph->stages[READER].operands[0].axes[1].constant = 1;
}
static void isReadByWindows(SambaStageGraph *graph) {
  graph->stages[READER].ops->opcode = SAMBA_LANE_REDUCE_ADD;
}
static void isReadOtherwise(SambaStageGraph *graph) {
  SambaStage other = graph->stages[READER];
  other.extents[1] = width, other.extents[2] = heads;
  other.operands[0].axes[1].coefficients[1] = heads;
  sambaStageGraphAddStage(graph, &other);
}
static void isCounted(SambaStageGraph *graph) {
  graph->stages[SUM].ops->opcode = SAMBA_LANE_COUNTER;
}
static void isWrittenBackwards(SambaStageGraph *graph) {
  SambaAxisMap *axis = &graph->stages[SUM].output.axes[1];
  axis->constant = heads * width - 1;
  axis->coefficients[1] = -1;
}

/* A graph with that change is what it was. */
static void staysWhole(void (*make)(SambaStageGraph *, SambaArena *),
                       void (*change)(SambaStageGraph *), size_t number) {
  SambaArena arena = {0};
  SambaText before = {0}, after = {0};
  SambaStageGraph graph;
  make(&graph, &arena);
  change(&graph);
  printed(&graph, &before);
  sambaStageGraphSplitAxes(&graph);
  if (strcmp(sambaTextGet(&before), printed(&graph, &after)) != 0)
    fail_msg("case %zu: %s", number, sambaTextGet(&after));
  sambaTextFree(&before);
  sambaTextFree(&after);
  sambaArenaDestroy(&arena);
}

static void leavesOthersWhole(void **state) {
  (void)state;
  void (*const cases[])(SambaStageGraph *) = {hasAnotherShape,   isReadInPart,    isReadShifted,
                                              isReadByWindows,   isReadOtherwise, isCounted,
                                              isWrittenBackwards};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    staysWhole(makeHeads, cases[i], i);
}

/* A stage that reads all of the axis by one dimension reads it by its parts, too. */
static void splitsOtherReaders(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  makeHeads(&graph, &arena);
  uint32_t y = addTensor(&graph, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_F32, 2,
                         (int64_t[]){rows, heads * width});
  SambaStage other = graph.stages[SUM];
  other.operands[0].tensor = VALUES;
  other.output.tensor = y;
  sambaStageGraphAddStage(&graph, &other);
  sambaStageGraphSplitAxes(&graph);

  assert_int_equal(graph.stages[3].dim_count, 3);
  assert_int_equal(graph.tensors[y].rank, 3);
  assert_int_equal(graph.tensors[y].dims[1], heads);
  sambaArenaDestroy(&arena);
}

/* v[t, h, d] = x[t, h, d] + b[h, d], and y[t, m] = sum over n of v[t, n] w[m, n], which reads v in
 * another shape: n = width h + d. */
static void makeMerged(SambaStageGraph *graph, SambaArena *arena) {
  *graph = (SambaStageGraph){.arena = arena, .name = "g"};
  const int64_t n = heads * width;
  enum { ARGUMENT, BIASES, MADE, SHAPE, WEIGHTS, SUMS };
  addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 3, (int64_t[]){rows, heads, width});
  addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){heads, width});
  addTensor(graph, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_F32, 4,
            (int64_t[]){1, rows, heads, width});
  addTensor(graph, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_F32, 2, (int64_t[]){rows, n});
  addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){depth, n});
  addTensor(graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 2, (int64_t[]){rows, depth});
  graph->tensors[SHAPE].alias_of = MADE;

  SambaStage made = {.name = "made",
                     .layer = "",
                     .dim_count = 3,
                     .extents = {rows, heads, width},
                     .operand_count = 2,
                     .operands = {mapOf(ARGUMENT), mapOf(BIASES)},
                     .output = mapOf(MADE)};
  for (uint32_t axis = 0; axis < 3; ++axis) {
    made.operands[0].axes[axis].coefficients[axis] = 1;
    made.output.axes[axis + 1].coefficients[axis] = 1;
  }
  made.operands[1].axes[0].coefficients[1] = made.operands[1].axes[1].coefficients[2] = 1;
  addProgram(graph, &made, SAMBA_LANE_ADD);

  SambaStage product = {.name = "product",
                        .layer = "",
                        .dim_count = 3,
                        .extents = {rows, depth, n},
                        .reduced = {false, false, true},
                        .operand_count = 2,
                        .operands = {mapOf(SHAPE), mapOf(WEIGHTS)},
                        .output = mapOf(SUMS)};
  product.operands[0].axes[0].coefficients[0] = product.operands[0].axes[1].coefficients[2] = 1;
  product.operands[1].axes[0].coefficients[1] = product.operands[1].axes[1].coefficients[2] = 1;
  product.output.axes[0].coefficients[0] = product.output.axes[1].coefficients[1] = 1;
  addProgram(graph, &product, SAMBA_LANE_MAC);
}

/* Sums run over the axes that were written, in the order in which they ran over the one axis. */
static void readsWhatIsWritten(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaText text = {0};
  SambaStageGraph graph;
  makeMerged(&graph, &arena);
  sambaStageGraphSplitAxes(&graph);

  const char *stages = strstr(printed(&graph, &text), "  tensor 6:");
  assert_non_null(stages);
  assert_string_equal(stages,
                      "  tensor 6: argument [5, 2, 3] f32, the bytes of tensor 4  (t)\n"
                      "  stage 0: made [d0 < 4, d1 < 2, d2 < 3]\n"
                      "    operand 0: tensor 0 [d0, d1, d2]\n"
                      "    operand 1: tensor 1 [d1, d2]\n"
                      "    value 2: add f32 0 1\n"
                      "    output: value 2 to tensor 2 [0, d0, d1, d2]\n"
                      "  stage 1: product [d0 < 4, d1 < 5, d2 < 2 reduced, d3 < 3 reduced]\n"
                      "    operand 0: tensor 2 [0, d0, d2, d3]\n"
                      "    operand 1: tensor 6 [d1, d2, d3]\n"
                      "    value 2: mac f32 0 1\n"
                      "    output: value 2 to tensor 5 [d0, d1]\n");
  assert_null(sambaStageGraphCheck(&graph));
  sambaTextFree(&text);
  sambaArenaDestroy(&arena);
}

/* What keeps a shape: sums of lanes, which share the axis whole, and axes that cross those that
 * were written. */
static void isNoContraction(SambaStageGraph *graph) {
  graph->stages[1].ops->opcode = SAMBA_LANE_REDUCE_ADD;
  graph->stages[1].operand_count = 1;
  graph->stages[1].result = 1;
}
static void crossesAxes(SambaStageGraph *graph) {
  graph->tensors[3].dims[0] = 2 * rows;
  graph->tensors[3].dims[1] = width;
}

static void leavesOtherShapes(void **state) {
  (void)state;
  void (*const cases[])(SambaStageGraph *) = {isNoContraction, crossesAxes};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    staysWhole(makeMerged, cases[i], i);
}

/* y = x x, which is stored, and the sums of blocks of rows of y: s[t, b, c] is the sum over i of
 * y[t, size b + i, c]. */
static void makeBlocks(SambaStageGraph *graph, SambaArena *arena, int64_t size) {
  *graph = (SambaStageGraph){.arena = arena, .name = "g"};
  addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 3, (int64_t[]){rows, 2 * size, depth});
  addTensor(graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 3, (int64_t[]){rows, 2 * size, depth});
  addTensor(graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 3, (int64_t[]){rows, 2, depth});

  SambaStage square = {.name = "square",
                       .layer = "",
                       .dim_count = 3,
                       .extents = {rows, 2 * size, depth},
                       .operand_count = 2,
                       .operands = {mapOf(0), mapOf(0)},
                       .output = mapOf(1)};
  for (uint32_t axis = 0; axis < 3; ++axis)
    square.operands[0].axes[axis].coefficients[axis] =
        square.operands[1].axes[axis].coefficients[axis] =
            square.output.axes[axis].coefficients[axis] = 1;
  addProgram(graph, &square, SAMBA_LANE_MUL);

  SambaStage sums = {.name = "sums",
                     .layer = "",
                     .dim_count = 4,
                     .extents = {rows, 2, depth, size},
                     .reduced = {false, false, false, true},
                     .operand_count = 1,
                     .operands = {mapOf(1)},
                     .output = mapOf(2)};
  for (uint32_t axis = 0; axis < 3; ++axis)
    sums.operands[0].axes[axis].coefficients[axis] = sums.output.axes[axis].coefficients[axis] = 1;
  sums.operands[0].axes[1] = (SambaAxisMap){.coefficients = {0, size, 0, 1}};
  addProgram(graph, &sums, SAMBA_LANE_REDUCE_ADD);
  graph->stages[1].ops->operands[1] = 0;
  graph->stages[1].result = 1;
}

/* Blocks become an axis of what is stored, too. Both operands read one argument in its other shape.
 */
static void splitsRowsIntoBlocks(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaText text = {0};
  SambaStageGraph graph;
  makeBlocks(&graph, &arena, SAMBA_BLOCK_ROWS);
  sambaStageGraphSplitAxes(&graph);

  assert_string_equal(printed(&graph, &text),
                      "stages of section g\n"
                      "  tensor 0: argument [4, 32, 5] f32  (t)\n"
                      "  tensor 1: result [4, 2, 16, 5] f32  (t)\n"
                      "  tensor 2: result [4, 2, 5] f32  (t)\n"
                      "  tensor 3: argument [4, 2, 16, 5] f32, the bytes of tensor 0  (t)\n"
                      "  stage 0: square [d0 < 4, d1 < 2, d2 < 16, d3 < 5]\n"
                      "    operand 0: tensor 3 [d0, d1, d2, d3]\n"
                      "    operand 1: tensor 3 [d0, d1, d2, d3]\n"
                      "    value 2: mul f32 0 1\n"
                      "    output: value 2 to tensor 1 [d0, d1, d2, d3]\n"
                      "  stage 1: sums [d0 < 4, d1 < 2, d2 < 5, d3 < 16 reduced]\n"
                      "    operand 0: tensor 1 [d0, d1, d3, d2]\n"
                      "    value 1: reduce_add f32 0\n"
                      "    output: value 1 to tensor 2 [d0, d1, d2]\n");
  sambaTextFree(&text);
  sambaArenaDestroy(&arena);
}

/* Fewer rows are the window of a pool. */
static void leavesWindowsWhole(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  makeBlocks(&graph, &arena, SAMBA_BLOCK_ROWS - 1);
  sambaStageGraphSplitAxes(&graph);
  assert_int_equal(graph.tensor_count, 3);
  assert_int_equal(graph.tensors[1].rank, 3);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(splitsRowsIntoBlocks), cmocka_unit_test(leavesWindowsWhole),
      cmocka_unit_test(splitsWhatMakesThem),  cmocka_unit_test(leavesOthersWhole),
      cmocka_unit_test(splitsOtherReaders),   cmocka_unit_test(readsWhatIsWritten),
      cmocka_unit_test(leavesOtherShapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
