/* Splitting of lane programs: every part fits a PCU, splitting again changes nothing, and an
 * operation with more operands than a PCU has ports is named. That values stay the same is shown by
 * lower_test.c, whose programs are split before they run. */
#include "backend/codegen/codegen.h"
#include "backend/machine/shipped.h"
#include "backend/plan/plan.h"
#include "backend/section/check/section_check.h"
#include "backend/split/split_programs.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

static const SambaMachine *sn40l(void) { return sambaMachineFind(sambaStringRef("sn40l")); }

static void partFits(const SambaUnit *unit, const SambaMachine *machine) {
  int64_t stages = 0, transcendentals = 0;
  bool systolic_only = true;

  for (uint32_t i = 0; i < unit->compute.program.op_count; ++i) {
    char kind = sambaLaneOpClass(unit->compute.program.ops[i].opcode);
    stages += kind == 'S' || kind == 'R';
    transcendentals += kind == 'T';
    systolic_only &= kind != 'S';
    if (kind == 'S' || kind == 'R')
      assert_int_equal(transcendentals, 0); /* the tail comes last */
  }

  assert_true(stages <= machine->simd_stages);
  assert_true(transcendentals <= 1);
  assert_true(unit->input_count <= machine->unit_vector_inputs);
  assert_true(unit->output_count <= machine->unit_vector_outputs);
  assert_true(!unit->compute.program.systolic || systolic_only);
}

static void partsFitAndStay(void **state) {
  (void)state;
  for (uint32_t k = 0; k < graphKindCount; ++k)
    for (uint64_t seed = 1; seed < 6; ++seed) {
      SambaArena arena = {0};
      SambaStageGraph graph = {.arena = &arena, .name = graphKinds[k].name};
      graphKinds[k].make(&graph, &(Random){seed});
      SambaSection *section;
      assert_null(sambaPlanTiles(&graph, sn40l(), NULL));
      assert_null(sambaCodegenSection(&graph, sn40l(), &arena, &section));
      assert_null(sambaSplitPrograms(section, sn40l()));
      for (uint32_t u = 0; u < section->unit_count; ++u)
        if (section->units[u].kind == SAMBA_UNIT_COMPUTE)
          partFits(&section->units[u], sn40l());
      uint32_t units = section->unit_count;
      uint32_t streams = section->stream_count;
      assert_null(sambaSplitPrograms(section, sn40l()));
      assert_int_equal(section->unit_count, units);
      assert_int_equal(section->stream_count, streams);
      sambaArenaDestroy(&arena);
    }
}

/* y = a sum of `count` products of x with constants, added up last: all products live at once. */
static SambaSection *wideProgram(SambaArena *arena, uint32_t count) {
  SambaStageGraph graph = {.arena = arena, .name = "wide"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 1, (int64_t[]){64});
  uint32_t y = addTensor(&graph, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32, 1, (int64_t[]){64});
  SambaStage stage = {
      .name = "wide", .layer = "", .dim_count = 1, .extents = {64}, .operand_count = 1};
  stage.operands[0] = (SambaStageOperand){.tensor = x, .index_operand = SAMBA_NO_INDEX};
  stage.output = (SambaStageOperand){.tensor = y, .index_operand = SAMBA_NO_INDEX};
  stage.operands[0].axes[0].coefficients[0] = stage.output.axes[0].coefficients[0] = 1;
  stage.ops = SAMBA_ARENA_ARRAY(arena, SambaLaneOp, 2 * count);
  for (uint32_t i = 0; i < count; ++i)
    stage.ops[i] = (SambaLaneOp){
        .opcode = SAMBA_LANE_MUL, .type = SAMBA_DTYPE_F32, .operands = {(uint16_t)i, 0}};
  for (uint32_t i = 1; i < count; ++i)
    stage.ops[count + i - 1] =
        (SambaLaneOp){.opcode = SAMBA_LANE_ADD,
                      .type = SAMBA_DTYPE_F32,
                      .operands = {(uint16_t)(i == 1 ? 1 : count + i - 1), (uint16_t)(i + 1)}};
  stage.op_count = 2 * count - 1;
  stage.result = 2 * count - 1;
  sambaStageGraphAddStage(&graph, &stage);
  SambaSection *section;

  assert_null(sambaPlanTiles(&graph, sn40l(), NULL));
  assert_null(sambaCodegenSection(&graph, sn40l(), arena, &section));
  return section;
}

static void countParts(uint32_t products, uint32_t most) {
  SambaArena arena = {0};
  SambaSection *section = wideProgram(&arena, products);
  assert_null(sambaSplitPrograms(section, sn40l()));
  assert_null(sambaSectionCheck(section));
  uint32_t copies = 0, parts = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (section->units[u].kind == SAMBA_UNIT_COMPUTE) {
      partFits(&section->units[u], sn40l());
      ++parts;
      copies += !strstr(section->units[u].name, ".part");
    }
  assert_true(parts <= copies * most);
  sambaArenaDestroy(&arena);
}

/* Ordered so that few values live at once: no more parts than stages need. */
static void wideProgramsAreCut(void **state) {
  (void)state;
  countParts(12, 4);
  countParts(60, 20);
}

static void operationWithTooManyPortsIsNamed(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = *sn40l();
  SambaSection *section = wideProgram(&arena, 12);
  machine.unit_vector_inputs = 1; /* no operation on two streams */
  SambaStatus status = sambaSplitPrograms(section, &machine);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_EXHAUSTED);
  assert_non_null(strstr(sambaStatusGetMessage(status),
                         "(add) of its program needs 2 vector inputs and 1 outputs, but a PCU of "
                         "sn40l has 1 inputs and 2 outputs"));
  assert_non_null(strstr(sambaStatusGetMessage(status),
                         "\n  note: choose a machine with more vector ports per unit"));
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(partsFitAndStay),
                                     cmocka_unit_test(wideProgramsAreCut),
                                     cmocka_unit_test(operationWithTooManyPortsIsNamed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
