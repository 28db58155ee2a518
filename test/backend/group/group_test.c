/* Which stages become one group: what branches behind a contraction comes in where one PCU computes
 * all of it; what comes from beside an elementwise stage does where nothing else reads it. */
#include "backend/group/group.h"
#include "backend/machine/shipped.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SIDE = 64 };

/* A stage of one operation over matrices, point by point; b SAMBA_NO_INDEX: it has one operand. */
static uint32_t addPointwise(SambaStageGraph *graph, SambaLaneOpcode opcode, uint32_t a, uint32_t b,
                             SambaTensorRole role) {
  const int64_t dims[] = {SIDE, SIDE};
  SambaStage stage = {.name = "point", .layer = "", .dim_count = 2};
  for (uint32_t dim = 0; dim < 2; ++dim)
    stage.extents[dim] = dims[dim];
  uint32_t read[] = {a, b};
  for (uint32_t i = 0; i < 2 && read[i] != SAMBA_NO_INDEX; ++i) {
    SambaStageOperand *operand = &stage.operands[stage.operand_count++];
    *operand = (SambaStageOperand){.tensor = read[i], .index_operand = SAMBA_NO_INDEX};
    operand->axes[0].coefficients[0] = operand->axes[1].coefficients[1] = 1;
  }

  SambaLaneOp op = {.opcode = (uint8_t)opcode, .type = SAMBA_DTYPE_F32, .operands = {0, 1}};
  stage.ops = sambaArenaCopy(graph->arena, &op, sizeof op);
  stage.op_count = 1;
  stage.result = stage.operand_count;
  stage.output = stage.operands[0];
  stage.output.tensor = addTensor(graph, role, SAMBA_DTYPE_F32, 2, dims);
  sambaStageGraphAddStage(graph, &stage);
  return stage.output.tensor;
}

/* A product p, `deep` operations on it, one operation beside them, and both together. */
static void buildBranch(SambaStageGraph *graph, SambaArena *arena, SambaLaneOpcode beside,
                        uint32_t deep, SambaGroups *out_groups) {
  const int64_t dims[] = {SIDE, SIDE};
  *graph = (SambaStageGraph){.name = "branch", .arena = arena};
  uint32_t a = addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, dims);
  uint32_t b = addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, dims);
  uint32_t product = addMatmul(graph, a, b, false, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_F32);
  uint32_t along = product;
  for (uint32_t i = 0; i < deep; ++i)
    along = addPointwise(graph, SAMBA_LANE_ADD, along, along, SAMBA_TENSOR_INTERMEDIATE);
  uint32_t other = addPointwise(graph, beside, product, SAMBA_NO_INDEX, SAMBA_TENSOR_INTERMEDIATE);
  addPointwise(graph, SAMBA_LANE_MUL, along, other, SAMBA_TENSOR_RESULT);
  assert_null(sambaStageGraphCheck(graph));
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  assert_null(sambaGroupsBuild(graph, machine, arena, out_groups));
}

static void branchesFitOnePcu(void **state) {
  (void)state;
  static const struct {
    SambaLaneOpcode beside;
    uint32_t deep, groups;
  } cases[] = {
      {SAMBA_LANE_NEG, 1, 1},
      {SAMBA_LANE_NEG, 4, 1}, /* six operations: as many as a PCU has stages */
      {SAMBA_LANE_NEG, 5, 2}, /* one too many: the product stays alone */
      {SAMBA_LANE_EXP, 1, 2}, /* what the tail computes, no stage takes up again */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    SambaArena arena = {0};
    SambaStageGraph graph;
    SambaGroups groups;
    buildBranch(&graph, &arena, cases[i].beside, cases[i].deep, &groups);
    assert_int_equal(groups.count, cases[i].groups);
    if (groups.count == 1)
      assert_int_equal(groups.groups[0]->pcus, 2); /* the array's, and one for all that follows */
    sambaArenaDestroy(&arena);
  }
}

/* Twice an argument, beside it the negative of another, and their product; `again`: something else
 * reads the negative. */
static uint32_t groupsOfPair(bool again) {
  const int64_t dims[] = {SIDE, SIDE};
  SambaArena arena = {0};
  SambaGroups groups;
  SambaStageGraph graph = {.name = "pair", .arena = &arena};
  uint32_t a = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, dims);
  uint32_t b = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, dims);
  uint32_t twice = addPointwise(&graph, SAMBA_LANE_ADD, a, a, SAMBA_TENSOR_INTERMEDIATE);
  uint32_t negative =
      addPointwise(&graph, SAMBA_LANE_NEG, b, SAMBA_NO_INDEX, SAMBA_TENSOR_INTERMEDIATE);
  addPointwise(&graph, SAMBA_LANE_MUL, twice, negative, SAMBA_TENSOR_RESULT);
  if (again)
    addPointwise(&graph, SAMBA_LANE_ABS, negative, SAMBA_NO_INDEX, SAMBA_TENSOR_RESULT);
  assert_null(sambaStageGraphCheck(&graph));
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  assert_null(sambaGroupsBuild(&graph, machine, &arena, &groups));
  uint32_t count = groups.count;
  sambaArenaDestroy(&arena);
  return count;
}

static void stagesComeFromBeside(void **state) {
  (void)state;
  assert_int_equal(groupsOfPair(false), 1);
  assert_int_equal(groupsOfPair(true), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(branchesFitOnePcu),
                                     cmocka_unit_test(stagesComeFromBeside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
