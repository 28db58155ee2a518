/* The walk of a SIMD unit over the points of a firing, step by step. */
#include "backend/sim/timing/engine/simd_walk.h"

#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* What a step is expected to be, and the elements and vectors of the inputs that are used then. */
typedef struct Expected {
  uint64_t points;
  bool ends_sums, ends_firing;
  uint64_t elements[2];
  SambaSimdNeed need[2];
} Expected;

static void checkSteps(TestSection *section, uint32_t unit, uint32_t inputs,
                       const Expected *expected, uint32_t count) {
  SambaMachine tiny = testMachine("tiny");
  SambaArena arena = {0};
  SambaSimdWalk walk =
      sambaSimdWalkMake(&arena, &tiny, &section->section, &section->section.units[unit], 16);
  for (int firing = 0; firing < 2; ++firing) {
    for (uint32_t s = 0; s < count; ++s) {
      SambaSimdStep step = sambaSimdWalkNext(&walk);
      assert_int_equal(step.points, expected[s].points);
      assert_int_equal(step.ends_sums, expected[s].ends_sums);
      assert_int_equal(step.ends_firing, expected[s].ends_firing);
      for (uint32_t i = 0; i < inputs; ++i) {
        uint64_t elements = sambaSimdWalkUses(&walk, i, &step, step.ends_firing);
        SambaSimdNeed need = sambaSimdInputNeed(&walk.inputs[i], elements);
        assert_int_equal(elements, expected[s].elements[i]);
        assert_int_equal(need.touched, expected[s].need[i].touched);
        assert_int_equal(need.used_up, expected[s].need[i].used_up);
        walk.inputs[i].elements = step.ends_firing ? 0 : elements;
      }
      sambaSimdWalkAdvance(&walk, &step);
    }
  }
  sambaArenaDestroy(&arena);
}

/* Three rows of 20 f32, and a second input with an element per row. */
static void testRowsEndWithinVectors(void **state) {
  (void)state;
  TestSection *section = testSectionCreate();
  uint32_t unit = testCompute(section, "pcu", 2, (uint32_t[]){3, 20}, 0);
  testInput(section, unit, SAMBA_DTYPE_F32, 0, 60, (int64_t[]){20, 1});
  testInput(section, unit, SAMBA_DTYPE_F32, 0, 3, (int64_t[]){1, 0});
  static const Expected expected[] = {
      {16, true, false, {16, 1}, {{1, 1}, {1, 0}}}, {4, true, false, {20, 1}, {{2, 1}, {1, 0}}},
      {16, true, false, {36, 2}, {{3, 2}, {1, 0}}}, {4, true, false, {40, 2}, {{3, 2}, {1, 0}}},
      {16, true, false, {56, 3}, {{4, 3}, {1, 1}}}, {4, true, true, {60, 3}, {{4, 4}, {1, 1}}},
  };
  checkSteps(section, unit, 2, expected, 6);
  testSectionDestroy(section);
}

/* Sums over the outer of two counters: they end with its last step. */
static void testSumsEnd(void **state) {
  (void)state;
  TestSection *section = testSectionCreate();
  uint32_t unit = testCompute(section, "pcu", 2, (uint32_t[]){2, 32}, 0);
  SambaLaneOp sum = {SAMBA_LANE_REDUCE_ADD, SAMBA_DTYPE_F32, {0, 0, 0}, 0};
  testProgram(section, unit, false, 1, 1, &sum);
  testInput(section, unit, SAMBA_DTYPE_F32, 0, 64, (int64_t[]){32, 1});
  static const Expected expected[] = {
      {16, false, false, {16}, {{1, 1}}},
      {16, false, false, {32}, {{2, 2}}},
      {16, true, false, {48}, {{3, 3}}},
      {16, true, true, {64}, {{4, 4}}},
  };
  checkSteps(section, unit, 1, expected, 4);
  testSectionDestroy(section);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testRowsEndWithinVectors),
      cmocka_unit_test(testSumsEnd),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
