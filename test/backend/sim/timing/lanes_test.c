/* Units that use a part of the machine's lanes: on both engines, vectors are as wide as the
 * narrowest end of their stream. The sections are those of occupancy_test.c, without DRAM but in
 * the last test. */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PMU = 4, HOP = 2, SIMD = 6, FIRINGS = 5, ELEMENTS = 1024 };

/* Fountain -> PCU -> sink: 64 vectors of 16 f32 per firing, each end with lanes of its own. */
static TestSection *makePipeline(uint32_t source_lanes, uint32_t unit_lanes, uint32_t sink_lanes) {
  static const SambaLaneOp add = {SAMBA_LANE_ADD, SAMBA_DTYPE_F32, {0, 0, 0}, 0};
  TestSection *section = testSectionCreate();
  uint32_t source = testFountain(section, "in", SAMBA_DTYPE_F32, FIRINGS, ELEMENTS);
  uint32_t unit = testCompute(section, "pcu", 2, (uint32_t[]){FIRINGS, ELEMENTS}, 1);

  testProgram(section, unit, false, 0, 1, &add);
  testInput(section, unit, SAMBA_DTYPE_F32, 1, ELEMENTS, (int64_t[]){0, 1});
  testOutput(section, unit, SAMBA_DTYPE_F32, 1, ELEMENTS, (int64_t[]){0, 1}, 1);
  uint32_t sink = testSink(section, "out", SAMBA_DTYPE_F32, FIRINGS, ELEMENTS);
  testConnect(section, source, 0, unit, 0);
  testConnect(section, unit, 0, sink, 0);
  section->section.units[source].lanes = source_lanes;
  section->section.units[unit].lanes = unit_lanes;
  section->section.units[sink].lanes = sink_lanes;
  return section;
}

static void testNarrowestEnd(void **state) {
  (void)state;
  static const struct {
    uint32_t lanes[3], vectors;
  } cases[] = {{{0, 0, 0}, 64},   {{16, 16, 16}, 64}, {{8, 8, 8}, 128},
               {{0, 8, 0}, 128},  {{8, 0, 0}, 128},   {{0, 0, 8}, 128},
               {{8, 16, 4}, 256}, {{0, 1, 0}, 1024},  {{2, 16, 16}, 512}};
  SambaMachine tiny = testMachine("tiny");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const uint32_t *lanes = cases[i].lanes;
    TestSection *section = makePipeline(lanes[0], lanes[1], lanes[2]);
    uint64_t cycles = PMU + HOP + (uint64_t)FIRINGS * cases[i].vectors + SIMD + HOP;
    assert_in_range(testCyclesBy(TEST_FAST, &tiny, section), cycles, cycles + 4);
    assert_in_range(testCyclesBy(TEST_CYCLE, &tiny, section), cycles, cycles + 4);
    testSectionDestroy(section);
  }
}

/* A load asks for a burst of 64 B per two cycles when its stream is 32 B wide. */
static void testGenerators(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  uint64_t cycles[2];
  tiny.hbm_channel_mbps = 100000; /* neither the memory nor its latency is what is slow */
  tiny.ag_bursts = 256;

  for (uint32_t half = 0; half < 2; ++half) {
    TestSection *section = testSectionCreate();
    uint32_t symbol = testSymbol(section, SAMBA_DTYPE_F32, 16384, false);
    uint32_t load = testLoad(section, "load", symbol, TEST_CHAIN(2, {16, 1024}, {1024, 1}), 1);
    uint32_t sink = testSink(section, "out", SAMBA_DTYPE_F32, 16, 1024);
    testConnect(section, load, 0, sink, 0);
    section->section.units[load].lanes = half ? 8 : 0;
    cycles[half] = testCyclesBy(TEST_FAST, &tiny, section);
    uint64_t stepped = testCyclesBy(TEST_CYCLE, &tiny, section);
    assert_in_range(stepped, cycles[half] * 98 / 100, cycles[half] * 102 / 100);
    testSectionDestroy(section);
  }

  assert_in_range(cycles[0], 1024, 1024 + 200);
  assert_in_range(cycles[1], 2048, 2048 + 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testNarrowestEnd),
                                     cmocka_unit_test(testGenerators)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
