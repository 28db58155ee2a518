/* Forms written by hand that hold for both engines: what a systolic tile, a chain of units, a FIFO,
 * a multicast, a shared link, a bank, a memory channel must cost. */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const SambaDType F32 = SAMBA_DTYPE_F32, BF16 = SAMBA_DTYPE_BF16;

/* Both engines count exactly these cycles. */
static void assertCycles(const SambaMachine *machine, const TestSection *section, const char *what,
                         uint64_t expected) {
  for (int e = 0; e < TEST_ENGINES; ++e) {
    uint64_t cycles = testCyclesBy((TestEngine)e, machine, section);
    if (cycles != expected)
      fail_msg("%s: %s engine %llu cycles, the form says %llu", what, testEngineName((TestEngine)e),
               (unsigned long long)cycles, (unsigned long long)expected);
  }
}

/* A stage of `tail` transcendental operations in a row, or of one simple operation. */
static uint32_t addStage(TestSection *section, uint32_t firings, uint32_t elements, uint32_t tail) {
  uint32_t unit = testCompute(section, "stage", 2, (uint32_t[]){firings, elements}, 1);
  SambaLaneOp ops[4];
  for (uint32_t i = 0; i < 4; ++i)
    ops[i] = (SambaLaneOp){tail ? SAMBA_LANE_EXP : SAMBA_LANE_ABS, F32, {(uint16_t)i, 0, 0}, 0};
  testProgram(section, unit, false, 0, tail ? tail : 1, ops);
  testInput(section, unit, F32, 1, elements, (int64_t[]){0, 1});
  testOutput(section, unit, F32, 1, elements, (int64_t[]){0, 1}, tail ? tail : 1);
  return unit;
}

/* The first vector leaves the memory after its latency; each unit adds a hop and its pipeline; then
 * a vector per cycle. */
static void testChain(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  uint64_t hop = (uint64_t)machine.hop_cycles;
  uint64_t pipeline = (uint64_t)(machine.simd_stages * machine.simd_stage_cycles);

  for (uint32_t n = 0; n <= 8; ++n)
    for (uint32_t tokens = 1; tokens <= 65; tokens += 16) {
      TestSection *section = testSectionCreate();
      uint32_t previous = testFountain(section, "in", F32, tokens, 64);
      for (uint32_t i = 0; i < n; ++i) {
        uint32_t stage = addStage(section, tokens, 64, 0);
        testConnect(section, previous, 0, stage, 0);
        previous = stage;
      }
      testConnect(section, previous, 0, testSink(section, "out", F32, tokens, 64), 0);
      uint64_t vectors = (uint64_t)tokens * 4;
      assertCycles(&machine, section, "chain",
                   (uint64_t)machine.pmu_latency_cycles + hop + n * (pipeline + hop) + vectors);
      testSectionDestroy(section);
    }
}

static void testTwoRates(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  uint64_t hop = (uint64_t)machine.hop_cycles;
  uint64_t pipeline = (uint64_t)((machine.simd_stages + 1) * machine.simd_stage_cycles);
  for (uint32_t k = 1; k <= 4; ++k) {
    TestSection *section = testSectionCreate();
    uint32_t in = testFountain(section, "in", F32, 50, 64);
    uint32_t slow = addStage(section, 50, 64, k);
    testConnect(section, in, 0, slow, 0);
    testConnect(section, slow, 0, testSink(section, "out", F32, 50, 64), 0);
    uint64_t vectors = 50 * 4;
    /* The last vector enters the pipeline k (vectors - 1) cycles after the first. */
    assertCycles(&machine, section, "two rates",
                 (uint64_t)machine.pmu_latency_cycles + 2 * hop + pipeline + k * (vectors - 1) + 1);
    testSectionDestroy(section);
  }
}

/* Tiles of 16 x 16 x depth in bf16, k-major, one pass each. */
static void testSystolicTiles(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  for (uint32_t tiles = 1; tiles <= 16; tiles *= 4)
    for (uint32_t depth = 8; depth <= 128; depth *= 2) {
      TestSection *section = testSectionCreate();
      uint32_t pcu = testCompute(section, "pcu", 4, (uint32_t[]){tiles, depth, 16, 16}, 1);
      SambaLaneOp mac = {SAMBA_LANE_MAC, F32, {0, 1, 0}, 0};
      testProgram(section, pcu, true, 2, 1, &mac);
      testInput(section, pcu, BF16, 1, 16 * depth, (int64_t[]){0, 16, 1, 0});
      testInput(section, pcu, BF16, 1, 16 * depth, (int64_t[]){0, 16, 0, 1});
      testOutput(section, pcu, F32, 1, 256, (int64_t[]){0, 0, 16, 1}, 2);
      testConnect(section, testFountain(section, "a", BF16, tiles, 16 * depth), 0, pcu, 0);
      testConnect(section, testFountain(section, "b", BF16, tiles, 16 * depth), 0, pcu, 1);
      testConnect(section, pcu, 0, testSink(section, "c", F32, tiles, 256), 0);
      uint64_t pass = depth > 16 ? depth : 16;
      assertCycles(&machine, section, "systolic",
                   (uint64_t)(machine.pmu_latency_cycles + machine.hop_cycles) + tiles * pass +
                       (uint64_t)machine.systolic_drain_cycles + 16 + (uint64_t)machine.hop_cycles);
      testSectionDestroy(section);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testChain), cmocka_unit_test(testTwoRates),
                                     cmocka_unit_test(testSystolicTiles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
