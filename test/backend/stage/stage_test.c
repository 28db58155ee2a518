/* Stage graphs: every promise of stage.h that the check can refuse, and views composed into operand
 * maps. */
#include "backend/stage/stage.h"
#include "backend/stage/stage_compose.h"
#include "backend/stage/stage_key.h"
#include "backend/stage/stage_print.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

/* y[i] = sum over k of x[i, k], x 4x6. */
static void makeRowSum(SambaStageGraph *graph, SambaArena *arena) {
  *graph = (SambaStageGraph){.arena = arena, .name = "g"};
  uint32_t x = addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){4, 6});
  uint32_t y = addTensor(graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 1, (int64_t[]){4});
  SambaStage stage = {
      .name = "sum", .layer = "", .dim_count = 2, .extents = {4, 6}, .reduced = {false, true}};
  stage.operand_count = 1;
  stage.operands[0] = (SambaStageOperand){.tensor = x, .index_operand = SAMBA_NO_INDEX};
  stage.operands[0].axes[0].coefficients[0] = stage.operands[0].axes[1].coefficients[1] = 1;
  stage.output = (SambaStageOperand){.tensor = y, .index_operand = SAMBA_NO_INDEX};
  stage.output.axes[0].coefficients[0] = 1;
  stage.op_count = 1;
  stage.ops = SAMBA_ARENA_NEW(arena, SambaLaneOp);
  *stage.ops = (SambaLaneOp){.opcode = SAMBA_LANE_REDUCE_ADD, .type = SAMBA_DTYPE_F32};
  stage.result = 1;
  sambaStageGraphAddStage(graph, &stage);
}

static void refused(SambaStageGraph *graph, const char *text) {
  SambaStatus status = sambaStageGraphCheck(graph);
  if (!strstr(sambaStatusGetMessage(status), text))
    fail_msg("expected '%s', got '%s'", text, sambaStatusGetMessage(status));
  sambaStatusFree(status);
}

typedef struct Case {
  const char *text;
  void (*spoil)(SambaStageGraph *graph, SambaStage *stage);
} Case;
#define CASE(name, ...)                                                                            \
  static void name(SambaStageGraph *graph, SambaStage *stage) {                                    \
    (void)graph;                                                                                   \
    (void)stage;                                                                                   \
    __VA_ARGS__;                                                                                   \
  }
CASE(badRole, graph->tensors[0].role = (SambaTensorRole)7)
CASE(badDType, graph->tensors[0].dtype = (SambaDType)99)
CASE(badRank, graph->tensors[0].rank = 9)
CASE(badDim, graph->tensors[0].dims[1] = 0)
CASE(noTensor, stage->operands[0].tensor = 9)
CASE(beyondDims, stage->operands[0].axes[0].coefficients[5] = 1)
CASE(mapOverflow, stage->operands[0].axes[0].coefficients[0] = INT64_MAX)
CASE(leavesTensor, stage->operands[0].axes[0].constant = 1)
CASE(undefinedOp, stage->ops[0].opcode = 200)
CASE(futureValue, stage->ops[0].operands[0] = 1)
CASE(noSuchResult, stage->result = 5; stage->ops[0].opcode = SAMBA_LANE_MOVE)
CASE(notReducing, stage->ops[0].opcode = SAMBA_LANE_MOVE)
CASE(reductionNotResult, stage->result = 0)
CASE(counterOfNothing, stage->ops[0].opcode = SAMBA_LANE_COUNTER; stage->ops[0].immediate = 2)
CASE(tooManyDims, stage->dim_count = 13)
CASE(badExtent, stage->extents[0] = 0)
CASE(orderOfDims, stage->reduced[0] = true; stage->reduced[1] = false)
CASE(unwrittenDim, stage->output.axes[0].coefficients[0] = 0)
CASE(outputReduced, stage->output.axes[0].coefficients[1] = 1; graph->tensors[1].dims[0] = 9)
CASE(ownIndex, stage->operands[0].index_operand = 0)
CASE(floatIndex, stage->operands[1] = stage->operands[0]; stage->operand_count = 2;
     stage->ops[0].operands[0] = 0; stage->result = 2; stage->operands[0].index_operand = 1)
CASE(indexAxis, graph->tensors[0].dtype = SAMBA_DTYPE_I32; stage->operands[1] = stage->operands[0];
     stage->operand_count = 2; stage->result = 2; stage->operands[0].index_operand = 1;
     stage->operands[0].index_axis = 2)
CASE(scatters, stage->output.index_operand = 1)
CASE(scattersByFloats, stage->operands[1] = stage->operands[0]; stage->operand_count = 2;
     stage->op_count = 0; stage->result = 0; stage->output.index_operand = 1)
CASE(scattersSums, graph->tensors[0].dtype = SAMBA_DTYPE_I32;
     stage->operands[1] = stage->operands[0]; stage->operand_count = 2; stage->result = 2;
     stage->output.index_operand = 1)
CASE(writesArgument, graph->tensors[1].role = SAMBA_TENSOR_ARGUMENT)
CASE(readsTooEarly, graph->tensors[0].role = SAMBA_TENSOR_INTERMEDIATE)
CASE(readsPart, stage->output.axes[0].constant = 1; ++graph->tensors[1].dims[0];
     SambaStage reader = *stage; reader.operand_count = 1; reader.operands[0].tensor = 1;
     reader.operands[0].axes[0] = (SambaAxisMap){.coefficients = {1, 0}};
     reader.output.tensor = addTensor(graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 1,
                                      graph->tensors[1].dims);
     sambaStageGraphAddStage(graph, &reader))
CASE(nobodyWrites, addTensor(graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 0, NULL))
CASE(twoReductions, SambaLaneOp *ops = sambaArenaAllocate(graph->arena, 2 * sizeof *ops);
     ops[0] = stage->ops[0]; ops[1] = stage->ops[0]; ops[1].operands[0] = 0; stage->ops = ops;
     stage->op_count = 2; stage->result = 1)

static void checkRefusesWhatIsPromised(void **state) {
  (void)state;
  static const Case cases[] = {
      {"tensor 0 has the unknown role 7", badRole},
      {"tensor 0 has the unknown dtype 99", badDType},
      {"tensor 0 has rank 9, but at most 8 axes are possible", badRank},
      {"tensor 0: axis 1 has 0 elements; axes need 1 or more, tensors less than 2^48", badDim},
      {"operand 0 names tensor 9, but the graph has 2", noTensor},
      {"operand 0 axis 0 uses dimension 5, but the stage has 2", beyondDims},
      {"operand 0 axis 0: the map overflows", mapOverflow},
      {"operand 0 axis 0 runs over [1, 4], but the tensor has 4; only a guarded map may leave it",
       leavesTensor},
      {"operation 0 has the undefined opcode 200", undefinedOp},
      {"operation 0 (reduce_add) uses value 1, which is not made before it", futureValue},
      {"the result is value 5, but the program has 2", noSuchResult},
      {"dimensions are reduced, but the program has no reduction", notReducing},
      {"operation 0 (reduce_add) is a reduction, so it must be the stage's result",
       reductionNotResult},
      {"operation 0 (counter) names dimension 2, but the stage has 2", counterOfNothing},
      {"13 dimensions and 1 operands; at most 12 and 8 are possible", tooManyDims},
      {"dimension 0 has extent 0; extents need 1 or more, stages less than 2^48 points", badExtent},
      {"dimension 1 is parallel after a reduced one; reduced dimensions come last", orderOfDims},
      {"dimension 0 is parallel, but no axis of the output depends on it", unwrittenDim},
      {"output axis 0 depends on the reduced dimension 1", outputReduced},
      {"operand 0 takes its index from operand 0 of 1", ownIndex},
      {"operand 0 takes its index from operand 1, which is f32; indices are integers", floatIndex},
      {"operand 0 is indexed along axis 2, but its tensor has rank 2", indexAxis},
      {"the output takes its index along axis 0 from operand 1 of 1", scatters},
      {"the output takes its index from operand 1, which is f32; indices are integers",
       scattersByFloats},
      {"the output is indexed by operand 1, so the stage must copy operand 0, and the index step "
       "with one dimension",
       scattersSums},
      {"writes tensor 1, which is an argument", writesArgument},
      {"operand 0 reads tensor 0 before a stage has written it", readsTooEarly},
      {"operand 0 reads tensor 1, of which the section writes a part only; cut the section there",
       readsPart},
      {"tensor 2 is a result, but no stage writes it", nobodyWrites},
      {"is a second reduction; a stage has at most one", twoReductions},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    SambaArena arena = {0};
    SambaStageGraph graph;
    makeRowSum(&graph, &arena);
    assert_null(sambaStageGraphCheck(&graph));
    cases[i].spoil(&graph, &graph.stages[0]);
    refused(&graph, cases[i].text);
    sambaArenaDestroy(&arena);
  }
}

static void slicesAndTransposesCompose(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;

  makeRowSum(&graph, &arena);
  SambaStage *stage = &graph.stages[0];

  /* x is rows 2, 4, 6, 8 of the transpose of a 6x10 base: x[i, k] = base[k, 2 + 2 i]. */
  uint32_t base = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){6, 10});
  SambaStageOperand view = {.tensor = base, .index_operand = SAMBA_NO_INDEX};
  SambaStageOperand out;
  view.axes[0].coefficients[1] = 1;
  view.axes[1] = (SambaAxisMap){.constant = 2};
  view.axes[1].coefficients[0] = 2;
  assert_true(sambaStageOperandCompose(stage, &stage->operands[0], &graph.tensors[0], &view,
                                       &graph.tensors[base], &out));
  assert_int_equal(out.tensor, base);
  assert_int_equal(out.axes[0].coefficients[1], 1);
  assert_int_equal(out.axes[1].constant, 2);
  assert_int_equal(out.axes[1].coefficients[0], 2);
  assert_false(out.guarded);

  /* A reader that leaves x through its guard cannot be told apart from elements of base beside the
   * slice. */
  stage->operands[0].guarded = true;
  stage->operands[0].axes[0].constant = -1;
  assert_false(sambaStageOperandCompose(stage, &stage->operands[0], &graph.tensors[0], &view,
                                        &graph.tensors[base], &out));
  sambaArenaDestroy(&arena);
}

static void paddingComposesWithEqualFills(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;

  makeRowSum(&graph, &arena);
  SambaStage *stage = &graph.stages[0];

  /* x is a 2x6 base with a row of padding on either side; the reader pads once more. */
  uint32_t base = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){2, 6});
  SambaStageOperand view = {
      .tensor = base, .index_operand = SAMBA_NO_INDEX, .guarded = true, .fill = 5};
  SambaStageOperand out;
  view.axes[0] = (SambaAxisMap){.constant = -1};
  view.axes[0].coefficients[0] = view.axes[1].coefficients[1] = 1;
  stage->operands[0].guarded = true;
  stage->operands[0].fill = 5;
  stage->operands[0].axes[0].constant = -1;
  assert_true(sambaStageOperandCompose(stage, &stage->operands[0], &graph.tensors[0], &view,
                                       &graph.tensors[base], &out));
  assert_int_equal(out.axes[0].constant, -2);
  assert_true(out.guarded);
  assert_int_equal(out.fill, 5);
  stage->operands[0].fill = 6;
  assert_false(sambaStageOperandCompose(stage, &stage->operands[0], &graph.tensors[0], &view,
                                        &graph.tensors[base], &out));
  sambaArenaDestroy(&arena);
}

CASE(sameNothing, (void)0)
CASE(otherNames, stage->name = "other"; stage->layer = "layer"; graph->name = "h";
     graph->tensors[0].name = "t")
CASE(otherDim, graph->tensors[0].dims[1] = 7)
CASE(otherShape, graph->tensors[0].alias_of = 1)
CASE(otherExtent, stage->extents[1] = 5)
CASE(otherReduced, stage->reduced[1] = false)
CASE(otherStep, stage->operands[0].axes[0].coefficients[0] = -1)
CASE(otherFill, stage->operands[0].guarded = true; stage->operands[0].fill = 1)
CASE(unreadFill, stage->operands[0].fill = 1)
CASE(otherNumbers, SambaStageTensor first = graph->tensors[0];
     graph->tensors[0] = graph->tensors[1]; graph->tensors[1] = first;
     stage->operands[0].tensor = 1; stage->output.tensor = 0)
CASE(otherImmediate, stage->ops[0].immediate = 1)
CASE(otherSum, stage->lane_reduce = true)
CASE(otherMapping, graph->mappings[0].dim_count = 2; graph->mappings[0].tile[0] = 2)

static void keyHasAllButNames(void **state) {
  (void)state;
  static const Case cases[] = {{"same", sameNothing}, {"same", otherNames},   {"", otherDim},
                               {"same", unreadFill},  {"same", otherNumbers}, {"", otherShape},
                               {"", otherExtent},     {"", otherReduced},     {"", otherStep},
                               {"", otherFill},       {"", otherImmediate},   {"", otherSum},
                               {"", otherMapping},    {"", badRole},          {"", leavesTensor},
                               {"", undefinedOp},     {"", outputReduced}};
  SambaArena arena = {0};
  SambaStageGraph plain, changed;

  makeRowSum(&plain, &arena);
  SambaStringRef key = sambaStageGraphKey(&plain, &arena);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    makeRowSum(&changed, &arena);
    cases[c].spoil(&changed, &changed.stages[0]);
    if (sambaStringRefEqual(key, sambaStageGraphKey(&changed, &arena)) != (cases[c].text[0] != 0))
      fail_msg("case %zu", c);
  }

  sambaArenaDestroy(&arena);
}

static void printsEverything(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaText text = {0};
  SambaStageGraph graph;
  makeRowSum(&graph, &arena);
  uint32_t rows = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_I32, 1, (int64_t[]){4});
  SambaStage *stage = &graph.stages[0];
  graph.tensors[1].alias_of = 0;
  stage->layer = "layer3";
  stage->operand_count = 2;
  stage->result = 2;
  stage->operands[1] = (SambaStageOperand){.tensor = rows, .index_operand = SAMBA_NO_INDEX};
  stage->operands[1].axes[0].coefficients[0] = 1;
  stage->operands[0].index_operand = 1;
  stage->operands[0].axes[1] = (SambaAxisMap){.constant = -1, .coefficients = {0, 2}};
  stage->operands[0].guarded = true;
  stage->operands[0].fill = 0x40;
  graph.mappings[0] = (SambaMapping){.dim_count = 2,
                                     .tile = {2, 6},
                                     .unroll = {2, 1},
                                     .order = {0, 1},
                                     .operand_depth = {2, 1},
                                     .pipeline_count = 1,
                                     .pipeline_dims = {0}};

  sambaStageGraphPrint(&graph, &text);
  assert_string_equal(
      sambaTextGet(&text),
      "stages of section g\n"
      "  tensor 0: argument [4, 6] f32  (t)\n"
      "  tensor 1: result [4] f32, the bytes of tensor 0  (t)\n"
      "  tensor 2: argument [4] i32  (t)\n"
      "  stage 0: sum [d0 < 4, d1 < 6 reduced]  (layer3)\n"
      "    operand 0: tensor 0 [d0 + operand 1, 2*d1 + -1], outside 0x40\n"
      "    operand 1: tensor 2 [d0]\n"
      "    value 2: reduce_add f32 0\n"
      "    output: value 2 to tensor 1 [d0]\n"
      "    mapping: group 0 tile [2, 6] unroll [2, 1] order [0, 1] level [0, 0] depth [2, 1] "
      "pipeline [0]\n");
  sambaTextFree(&text);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(checkRefusesWhatIsPromised), cmocka_unit_test(slicesAndTransposesCompose),
      cmocka_unit_test(paddingComposesWithEqualFills), cmocka_unit_test(keyHasAllButNames),
      cmocka_unit_test(printsEverything)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
