/* backend/group/share.h: which arguments several groups share. */
#include "backend/group/share.h"
#include "backend/machine/shipped.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* `readers` groups, each of which adds one vector of `length` elements to one of its own; whether
 * the vector is loaded once for all of them. There is no pipeline. */
static bool isShared(uint32_t readers, int64_t length) {
  SambaArena arena = {0};
  SambaGroups groups;
  SambaStageGraph graph = {.name = "vectors", .arena = &arena};
  uint32_t vector = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 1, &length);
  for (uint32_t i = 0; i < readers; ++i) {
    uint32_t own = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 1, &length);
    SambaStage stage = {.name = "add", .layer = "", .dim_count = 1, .operand_count = 2};
    stage.extents[0] = length;
    for (uint32_t k = 0; k < 2; ++k) {
      stage.operands[k] =
          (SambaStageOperand){.tensor = k ? own : vector, .index_operand = SAMBA_NO_INDEX};
      stage.operands[k].axes[0].coefficients[0] = 1;
    }
    SambaLaneOp op = {.opcode = SAMBA_LANE_ADD, .type = SAMBA_DTYPE_F32, .operands = {0, 1}};
    stage.ops = sambaArenaCopy(&arena, &op, sizeof op);
    stage.op_count = 1;
    stage.result = 2;
    stage.output = stage.operands[0];
    stage.output.tensor = addTensor(&graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 1, &length);
    sambaStageGraphAddStage(&graph, &stage);
  }
  assert_null(sambaStageGraphCheck(&graph));
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  assert_null(sambaGroupsBuild(&graph, machine, &arena, &groups));
  assert_int_equal(groups.count, readers);

  SambaPipeline none = {0};
  SambaSharing *sharing = SAMBA_ARENA_ARRAY(&arena, SambaSharing, graph.tensor_count);
  sambaFindShared(&graph, &groups, machine, &none, sharing);
  for (uint32_t t = 0; t < graph.tensor_count; ++t)
    assert_true(t == vector || !sharing[t].shared);
  bool shared = sharing[vector].shared;
  sambaArenaDestroy(&arena);
  return shared;
}

static void fewReadersShare(void **state) {
  (void)state;
  assert_false(isShared(1, 64));
  assert_true(isShared(2, 64));
  assert_true(isShared(2, 32768)); /* a quarter of a PMU */
  assert_false(isShared(2, 32769));
}

/* More readers than a PMU has ports: what FIFOs hold, such as the cosines of a rotary embedding. */
static void manyReadersShareWhatIsSmall(void **state) {
  (void)state;
  assert_true(isShared(3, 256));
  assert_true(isShared(8, 256));
  assert_false(isShared(3, 257));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fewReadersShare),
                                     cmocka_unit_test(manyReadersShareWhatIsSmall)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
