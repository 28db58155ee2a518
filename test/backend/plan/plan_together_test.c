/* backend/plan/plan_together.h: the shares of the address generators with which groups plan, and
 * how long they then take (plan_internal.h). */
#include "backend/machine/shipped.h"
#include "backend/plan/plan_together.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { rows = 4096, columns = 64, most = 8 };

/* Adds a vector to each row of an argument of its own; the result is the first rows of a tensor of
 * `stored` rows. */
static void addGroup(SambaStageGraph *graph, uint32_t vector, int64_t stored) {
  const int64_t dims[] = {rows, columns}, result[] = {stored, columns};
  uint32_t own = addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, dims);
  SambaStage stage = {.name = "add", .layer = "", .dim_count = 2, .operand_count = 2};
  for (uint32_t dim = 0; dim < 2; ++dim)
    stage.extents[dim] = dims[dim];
  stage.operands[0] = (SambaStageOperand){.tensor = own, .index_operand = SAMBA_NO_INDEX};
  stage.operands[0].axes[0].coefficients[0] = stage.operands[0].axes[1].coefficients[1] = 1;
  stage.output = stage.operands[0];
  stage.operands[1] = (SambaStageOperand){.tensor = vector, .index_operand = SAMBA_NO_INDEX};
  stage.operands[1].axes[0].coefficients[1] = 1;
  SambaLaneOp op = {.opcode = SAMBA_LANE_ADD, .type = SAMBA_DTYPE_F32, .operands = {0, 1}};
  stage.ops = sambaArenaCopy(graph->arena, &op, sizeof op);
  stage.op_count = 1;
  stage.result = 2;
  stage.output.tensor = addTensor(graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 2, result);
  sambaStageGraphAddStage(graph, &stage);
}

/* Plans with `count` groups whose results have so many rows; all read one vector, or `apart` each
 * one of its own. Gives the shares of the groups. */
static void shareOf(uint32_t count, const int64_t *stored, bool apart, bool by_bytes,
                    uint32_t *out_ags) {
  const int64_t length = columns;
  SambaArena arena = {0};
  SambaStageGraph graph = {.name = "g", .arena = &arena};
  uint32_t vector = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 1, &length);
  for (uint32_t g = 0; g < count; ++g) {
    if (apart && g)
      vector = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 1, &length);
    addGroup(&graph, vector, stored[g]);
  }

  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaPlanner planner = {.graph = &graph, .machine = machine, .ags = 80};
  assert_null(sambaGroupsBuild(&graph, machine, &arena, &planner.groups));
  assert_int_equal(planner.groups.count, count);
  planner.limits = SAMBA_ARENA_ARRAY(&arena, SambaGroupLimits, count);
  planner.level = SAMBA_ARENA_ARRAY(&arena, uint32_t, count);
  planner.writer = SAMBA_ARENA_ARRAY(&arena, uint32_t, graph.tensor_count);
  planner.between = SAMBA_ARENA_ARRAY(&arena, bool, graph.tensor_count);
  planner.readers = SAMBA_ARENA_ARRAY(&arena, uint32_t, graph.tensor_count);
  planner.shared = SAMBA_ARENA_ARRAY(&arena, SambaSharing, graph.tensor_count);
  planner.ringable = SAMBA_ARENA_ARRAY(&arena, bool, graph.tensor_count);
  sambaPlannerAnalyse(&planner);
  sambaPlannerShareGenerators(&planner, by_bytes);
  for (uint32_t g = 0; g < count; ++g)
    out_ags[g] = planner.limits[g].ags;
  sambaArenaDestroy(&arena);
}

/* 80 generators: one for each argument and each result, and the others for whoever. */
static void sharedArgumentsAreLoadedOnce(void **state) {
  (void)state;
  static const int64_t stored[] = {rows, rows, rows, rows};
  uint32_t ags[most];
  shareOf(4, stored, true, false, ags); /* 12 tensors */
  assert_int_equal(ags[0], 3 + 68);
  assert_int_equal(ags[3], 3 + 68);
  shareOf(4, stored, false, false, ags); /* 9 */
  assert_int_equal(ags[0], 3 + 71);
  assert_int_equal(ags[3], 2 + 71);
}

static void partsOfResultsCountAsWhatTheyAre(void **state) {
  (void)state;
  static const int64_t stored[] = {rows, 100 * rows};
  uint32_t ags[most];
  shareOf(2, stored, true, true, ags); /* 6 tensors, 74 generators for two equal groups */
  assert_int_equal(ags[0], 3 + 37);
  assert_int_equal(ags[1], 3 + 37);
}

/* The most generators that work for copies which share `ags`, `ways` at most for each run of them.
 */
static uint32_t mostAtWork(uint32_t copies, uint32_t ways, uint32_t ags) {
  uint32_t found = 1;
  for (uint32_t w = 1; w <= ways; w *= 2)
    for (uint32_t ranges = 1; ranges <= copies && ranges * w <= ags; ++ranges) {
      uint32_t run = (copies + ranges - 1) / ranges, used = (copies + run - 1) / run * w;
      found = used > found ? used : found;
    }
  return found;
}

/* Beside another operand, which needs one generator: whatever the numbers are, all others work. */
static void sharesHaveNoGaps(void **state) {
  (void)state;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  const double bytes = 1 << 25;
  for (uint32_t copies = 1; copies <= 64; ++copies)
    for (uint32_t ags = 2; ags <= 80; ++ags) {
      SambaDemand demands[] = {{bytes / 100, bytes, copies, 1, 2, 1, 0, false, 1},
                               {64, 64, 1, 1, 1, 1, 0, false, 1}};
      SambaDemand one[] = {{bytes, bytes, 1, 1, 1, 1, 0, false, 1}};
      double cycles = sambaPlanGeneratorCycles(machine, demands, 2, ags);
      double alone = sambaPlanGeneratorCycles(machine, one, 1, 1);
      double least = alone / mostAtWork(copies, 2, ags - 1);
      assert_true(cycles >= 0.98 * least && cycles <= 1.02 * least);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sharedArgumentsAreLoadedOnce),
                                     cmocka_unit_test(sharesHaveNoGaps),
                                     cmocka_unit_test(partsOfResultsCountAsWhatTheyAre)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
