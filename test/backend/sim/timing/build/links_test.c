/* Links: latency along routes and lanes that flows share, with routes made by hand on the 4 x 4
 * grid of `tiny`. */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PMU = 4, HOP = 2, WORDS = 1024, V = 64, TOKENS = 10 };

/* A fountain at (x, y), a sink at (x + distance, y), and a stream due east between them, all on one
 * lane. */
static uint32_t addRow(TestSection *section, int32_t x, int32_t y, int32_t distance, uint8_t lane,
                       uint16_t flow) {
  uint32_t in = testFountain(section, "in", SAMBA_DTYPE_F32, TOKENS, WORDS);
  uint32_t out = testSink(section, "out", SAMBA_DTYPE_F32, TOKENS, WORDS);

  section->section.units[in].x = x;
  section->section.units[out].x = x + distance;
  section->section.units[in].y = section->section.units[out].y = y;
  uint32_t stream = testConnect(section, in, 0, out, 0);
  SambaHop *hops = SAMBA_ARENA_ARRAY(&section->arena, SambaHop, distance + 1);
  for (int32_t h = 0; h <= distance; ++h)
    hops[h] = (SambaHop){
        x + h,
        y,
        {h ? SAMBA_SWITCH_WEST : SAMBA_SWITCH_UNIT, h ? lane : 0, flow, 0},
        {h < distance ? SAMBA_SWITCH_EAST : SAMBA_SWITCH_UNIT, h < distance ? lane : 0, flow, 0}};
  section->section.streams[stream].hops = hops;
  section->section.streams[stream].hop_count = (uint32_t)distance + 1;

  return stream;
}

static void testLatencyGrowsWithTheRoute(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  for (int32_t distance = 1; distance < 4; ++distance) {
    TestSection *section = testSectionCreate();
    addRow(section, 0, 0, distance, 0, 0);
    /* distance + 1 switches */
    assert_int_equal(testCycles(&tiny, section), TOKENS * V + PMU + (uint64_t)(distance + 1) * HOP);
    testSectionDestroy(section);
  }
}

static void testCrossingADieCostsMore(void **state) {
  (void)state;
  SambaMachine machine = testMachine("tiny");
  machine.dies = 2;
  machine.die_crossing_cycles = 8;
  TestSection *section = testSectionCreate();
  addRow(section, 0, 0, 3, 0, 0);
  assert_int_equal(testCycles(&machine, section), TOKENS * V + PMU + 4 * HOP + 8);
  testSectionDestroy(section);
}

static void testFlowsOfOneLaneShareIt(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");

  /* Two streams that share the link from (1,0) to (2,0): on two lanes they do not hinder each
   * other, on one they do. */
  TestSection *apart = testSectionCreate();
  TestSection *together = testSectionCreate();
  addRow(apart, 0, 0, 2, 0, 0);
  addRow(apart, 1, 0, 2, 1, 0);
  addRow(together, 0, 0, 2, 0, 0);
  addRow(together, 1, 0, 2, 0, 1);
  SambaTimingResult a = testTime(&tiny, apart);
  SambaTimingResult b = testTime(&tiny, together);
  assert_int_equal(a.cycles, TOKENS * V + PMU + 3 * HOP);
  assert_in_range(b.cycles, 2 * TOKENS * V, 2 * TOKENS * V + PMU + 3 * HOP + V);
  assert_int_equal(a.link_busy_max, TOKENS * V);
  assert_int_equal(b.link_busy_max, 2 * TOKENS * V);
  sambaTimingResultFree(&a);
  sambaTimingResultFree(&b);
  testSectionDestroy(apart);
  testSectionDestroy(together);
}

static void testShallowFifosLimitTheRate(void **state) {
  (void)state;
  SambaMachine machine = testMachine("tiny");
  machine.fifo_depth = 2; /* 2 vectors per credit round trip of 4 cycles: half rate */
  TestSection *section = testSectionCreate();
  addRow(section, 0, 0, 2, 0, 0);
  /* The last two vectors leave in a row. */
  uint64_t expected = TOKENS * 2 * V - 2 + PMU + 3 * HOP;
  assert_int_equal(testCycles(&machine, section), expected);
  assert_int_equal(testCyclesBy(TEST_CYCLE, &machine, section), expected);
  testSectionDestroy(section);
}

/* Where rows end inside vectors, a step needs two of them at a time, which short FIFOs hold up. */
static void testRowsBehindShortFifos(void **state) {
  (void)state;
  static const uint32_t rows[] = {10, 12, 16, 20, 24, 33, 48};
  enum { firings = 20, rows_of_token = 48 };
  for (int64_t depth = 2; depth <= 5; ++depth)
    for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r) {
      SambaMachine machine = testMachine("tiny");
      machine.fifo_depth = depth;
      TestSection *section = testSectionCreate();
      uint32_t elements = rows_of_token * rows[r];
      uint32_t pcu =
          testCompute(section, "pcu", 3, (uint32_t[]){firings, rows_of_token, rows[r]}, 1);
      SambaLaneOp add = {SAMBA_LANE_ADD, SAMBA_DTYPE_F32, {0, 0}, 0};
      testProgram(section, pcu, false, 0, 1, &add);
      testInput(section, pcu, SAMBA_DTYPE_F32, 1, elements, (int64_t[]){0, rows[r], 1});
      testOutput(section, pcu, SAMBA_DTYPE_F32, 1, elements, (int64_t[]){0, rows[r], 1}, 1);
      testConnect(section, testFountain(section, "in", SAMBA_DTYPE_F32, firings, elements), 0, pcu,
                  0);
      testConnect(section, pcu, 0, testSink(section, "out", SAMBA_DTYPE_F32, firings, elements), 0);
      uint64_t stepped = testCyclesBy(TEST_CYCLE, &machine, section);
      assert_in_range(testCycles(&machine, section), stepped - stepped / 100,
                      stepped + stepped / 100);
      testSectionDestroy(section);
    }
}

static void testMulticastBranches(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");

  TestSection *section = testSectionCreate();
  uint32_t stream = addRow(section, 0, 0, 3, 0, 0);

  /* A second sink below the middle of the way: the tree goes on depth first. */
  uint32_t out = testSink(section, "branch", SAMBA_DTYPE_F32, TOKENS, WORDS);
  section->section.units[out].x = section->section.units[out].y = 1;
  testFork(section, stream, out, 0);
  SambaStream *s = &section->section.streams[stream];
  SambaHop *hops = SAMBA_ARENA_ARRAY(&section->arena, SambaHop, 6);
  for (uint32_t h = 0; h < 4; ++h)
    hops[h] = s->hops[h];
  hops[4] = (SambaHop){1, 0, {SAMBA_SWITCH_WEST, 0, 0, 0}, {SAMBA_SWITCH_SOUTH, 1, 5, 0}};
  hops[5] = (SambaHop){1, 1, {SAMBA_SWITCH_NORTH, 1, 5, 0}, {SAMBA_SWITCH_UNIT, 0, 0, 0}};
  s->hops = hops;
  s->hop_count = 6;
  SambaTimingResult result = testTime(&tiny, section);
  assert_int_equal(result.cycles, TOKENS * V + PMU + 4 * HOP);

  /* One copy per link, not one per destination. */
  assert_int_equal(result.link_busy_max, TOKENS * V);
  sambaTimingResultFree(&result);
  testSectionDestroy(section);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testLatencyGrowsWithTheRoute),
      cmocka_unit_test(testCrossingADieCostsMore),
      cmocka_unit_test(testFlowsOfOneLaneShareIt),
      cmocka_unit_test(testShallowFifosLimitTheRate),
      cmocka_unit_test(testRowsBehindShortFifos),
      cmocka_unit_test(testMulticastBranches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
