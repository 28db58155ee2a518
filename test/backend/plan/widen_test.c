/* Steps that widen a plan: what they change, and that values stay as they are. */
#include "backend/machine/shipped.h"
#include "backend/plan/plan.h"
#include "backend/plan/widen.h"
#include "test/backend/execute.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum { BLOCKS = 4, ROWS = 16, COLUMNS = 256 };

static const SambaMachine *machineOf(const char *name) {
  return sambaMachineFind(sambaStringRef(name));
}

static SambaStageOperand walking(uint32_t tensor, uint32_t rank, const uint32_t *dims) {
  SambaStageOperand operand = {.tensor = tensor, .index_operand = SAMBA_NO_INDEX};
  for (uint32_t axis = 0; axis < rank; ++axis)
    operand.axes[axis].coefficients[dims[axis]] = 1;
  return operand;
}

static void addUnary(SambaStageGraph *graph, SambaStage stage, uint8_t opcode) {
  SambaLaneOp *ops = SAMBA_ARENA_NEW(graph->arena, SambaLaneOp);
  *ops = (SambaLaneOp){.opcode = opcode, .type = SAMBA_DTYPE_F32};
  stage.layer = "";
  stage.operand_count = stage.op_count = stage.result = 1;
  stage.ops = ops;
  sambaStageGraphAddStage(graph, &stage);
}

/* Blocks of rows: y = -x, and the sums of y over the rows of each block. Both work 1024 cycles in
 * two copies: 4 blocks of 16 x 256 values in 16 lanes, half of them in each. */
static void makeBlockSums(SambaStageGraph *graph, SambaArena *arena) {
  const int64_t dims[] = {BLOCKS, ROWS, COLUMNS}, sums[] = {BLOCKS, COLUMNS};
  *graph = (SambaStageGraph){.arena = arena, .name = "sums"};
  uint32_t x = addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 3, dims);
  uint32_t y = addTensor(graph, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_F32, 3, dims);
  uint32_t s = addTensor(graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 2, sums);
  SambaStage negate = {.name = "neg", .dim_count = 3, .extents = {BLOCKS, ROWS, COLUMNS}};
  negate.operands[0] = walking(x, 3, (const uint32_t[]){0, 1, 2});
  negate.output = walking(y, 3, (const uint32_t[]){0, 1, 2});
  addUnary(graph, negate, SAMBA_LANE_NEG);
  SambaStage sum = {.name = "sum",
                    .dim_count = 3,
                    .extents = {BLOCKS, COLUMNS, ROWS},
                    .reduced = {false, false, true}};
  sum.operands[0] = walking(y, 3, (const uint32_t[]){0, 2, 1});
  sum.output = walking(s, 2, (const uint32_t[]){0, 1});
  addUnary(graph, sum, SAMBA_LANE_REDUCE_ADD);

  graph->mappings[0] = (SambaMapping){.dim_count = 3,
                                      .tile = {1, ROWS, COLUMNS / 2},
                                      .unroll = {1, 1, 2},
                                      .order = {0, 1, 2},
                                      .operand_level = {1},
                                      .operand_depth = {2},
                                      .pipeline_count = 1};
  graph->mappings[1] = graph->mappings[0];
  graph->mappings[1].group = 1;
  memcpy(graph->mappings[1].tile, (const int64_t[]){1, COLUMNS / 2, ROWS}, 3 * sizeof(int64_t));
  memcpy(graph->mappings[1].unroll, (const uint32_t[]){1, 2, 1}, 3 * sizeof(uint32_t));
}

/* What a step changes of the sums: their tiles and the slices that their buffer holds; false when
 * there is no such step. */
static bool widened(const SambaMapping *given, uint32_t step, int64_t *out_tile,
                    uint32_t *out_depth) {
  SambaArena arena = {0};
  SambaStageGraph graph;
  makeBlockSums(&graph, &arena);
  bool found = sambaPlanWiden(&graph, machineOf("sn40l"), given, step);
  *out_tile = graph.mappings[1].tile[1];
  *out_depth = graph.mappings[1].operand_depth[0];
  if (found)
    assert_null(executeGraph(&graph, machineOf("sn40l"), step));
  sambaArenaDestroy(&arena);
  return found;
}

/* A token of 16 x 128 values of 4 bytes is 8 KB. The FIFOs of two switches and of a unit hold 16
 * vectors of 64 bytes each, 3 KB, so tiles of 32 columns are left. A PMU holds 524,288 bytes, 32
 * slices of 16 x 256 values: to take turns, two of them have 33. */
static void waysOfDataAreEased(void **state) {
  (void)state;
  const SambaMapping given[2] = {{0}};
  int64_t tile;
  uint32_t depth;
  assert_true(widened(given, 0, &tile, &depth));
  assert_int_equal(tile, 32);
  assert_int_equal(depth, 33);
  assert_true(widened(given, 1, &tile, &depth));
  assert_int_equal(tile, 32);
  assert_int_equal(depth, 2);
  assert_true(widened(given, 2, &tile, &depth));
  assert_int_equal(tile, 128);
  assert_int_equal(depth, 33);
  assert_false(widened(given, 3, &tile, &depth));
}

/* What is mapped by hand stays. */
static void givenMappingsStay(void **state) {
  (void)state;
  const SambaMapping given[2] = {{.dim_count = 3}, {.dim_count = 3}};
  int64_t tile;
  uint32_t depth;
  assert_false(widened(given, 0, &tile, &depth));
  assert_int_equal(tile, 128);
  assert_int_equal(depth, 2);
}

/* Planned graphs of all kinds: whatever fits computes the same values. */
static void valuesStay(void **state) {
  (void)state;
  enum { seeds = 3, steps = 6 };
  uint32_t changed = 0;
  for (uint32_t k = 0; k < graphKindCount * seeds; ++k) {
    SambaArena arena = {0};
    SambaStageGraph graph = {.arena = &arena, .name = graphKinds[k / seeds].name};
    graphKinds[k / seeds].make(&graph, &(Random){k + 1});
    SambaStatus status = sambaPlanTiles(&graph, machineOf("sn40l"), NULL);
    SambaMapping *given = SAMBA_ARENA_ARRAY(&arena, SambaMapping, graph.stage_count);
    SambaMapping *start = sambaArenaCopy(&arena, graph.mappings, graph.stage_count * sizeof *start);
    for (uint32_t step = 0; step < steps && !status; ++step) {
      memcpy(graph.mappings, start, graph.stage_count * sizeof *start);
      if (!sambaPlanWiden(&graph, machineOf("sn40l"), given, step))
        break;
      SambaStatus run = executeGraph(&graph, machineOf("sn40l"), k);
      if (run && sambaStatusGetCode(run) != SAMBA_EXHAUSTED)
        fail_msg("%s %u: %s", graph.name, k, sambaStatusGetMessage(run));
      changed += !run;
      sambaStatusFree(run);
    }
    sambaStatusFree(status);
    sambaArenaDestroy(&arena);
  }
  assert_true(changed > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(waysOfDataAreEased),
                                     cmocka_unit_test(givenMappingsStay),
                                     cmocka_unit_test(valuesStay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
