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

/* A FIFO of depth d whose credits take r cycles around passes min(1, d / r) vectors per cycle. */
static void testShallowFifos(void **state) {
  (void)state;
  static const struct {
    int64_t depth, credit;
  } cases[] = {{16, 4}, {4, 8}, {2, 8}, {1, 4}, {3, 4}, {1, 16}, {5, 7}, {2, 4}};
  uint64_t vectors = 64 * 8;

  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    SambaMachine machine = testMachine("sn40l");
    machine.fifo_depth = cases[i].depth;
    machine.credit_cycles = cases[i].credit;
    TestSection *section = testSectionCreate();
    uint32_t in = testFountain(section, "in", F32, 8, 64 * 16);
    testConnect(section, in, 0, testSink(section, "out", F32, 8, 64 * 16), 0);
    double rate = (double)cases[i].depth / (double)cases[i].credit;
    uint64_t expected = (uint64_t)((double)vectors / (rate < 1 ? rate : 1));
    for (int e = 0; e < TEST_ENGINES; ++e)
      assert_in_range(testCyclesBy((TestEngine)e, &machine, section), expected - 16, expected + 24);
    testSectionDestroy(section);
  }
}

/* All destinations of a multicast get every vector at the rate of one. */
static void testMulticast(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  for (uint32_t n = 1; n <= 7; n += 2) {
    TestSection *section = testSectionCreate();
    uint32_t in = testFountain(section, "in", F32, 20, 64);
    uint32_t stream = testConnect(section, in, 0, testSink(section, "out", F32, 20, 64), 0);
    for (uint32_t i = 1; i < n; ++i)
      testFork(section, stream, testSink(section, "out", F32, 20, 64), 0);
    assertCycles(&machine, section, "multicast",
                 (uint64_t)(machine.pmu_latency_cycles + machine.hop_cycles) + 20 * 4);
    testSectionDestroy(section);
  }
}

/* A sink at (x, 0) that a source at (0, 0) reaches over a lane of the row, as flow `flow`. */
static void addRowFlow(TestSection *section, int32_t x, uint16_t flow, uint32_t tokens) {
  uint32_t in = testFountain(section, "in", F32, tokens, 64);
  uint32_t out = testSink(section, "out", F32, tokens, 64);
  SambaUnit *source = &section->section.units[in], *sink = &section->section.units[out];
  source->x = source->y = sink->y = 0;
  sink->x = x;
  uint32_t stream = testConnect(section, in, 0, out, 0);
  SambaHop *hops = SAMBA_ARENA_ARRAY(&section->arena, SambaHop, (size_t)x + 1);
  for (int32_t h = 0; h <= x; ++h) {
    uint8_t port = (uint8_t)flow; /* of the units: each flow has its own */
    SambaSwitchLane west = {SAMBA_SWITCH_WEST, 0, flow, 0}, east = {SAMBA_SWITCH_EAST, 0, flow, 0};
    SambaSwitchLane unit = {SAMBA_SWITCH_UNIT, port, 0, 0};
    hops[h] = (SambaHop){h, 0, h == 0 ? unit : west, h == x ? unit : east};
  }
  section->section.streams[stream].hops = hops;
  section->section.streams[stream].hop_count = (uint32_t)x + 1;
}

/* n streams over one lane take n times as long as one; each hop of the way adds its cycles. */
static void testSharedLink(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  for (uint16_t n = 1; n <= 3; ++n) {
    TestSection *section = testSectionCreate();
    for (uint16_t flow = 0; flow < n; ++flow)
      addRowFlow(section, 2, flow, 50);
    assertCycles(&machine, section, "shared link",
                 (uint64_t)(machine.pmu_latency_cycles + 3 * machine.hop_cycles) + n * 50u * 4);
    testSectionDestroy(section);
  }
}

static uint64_t greatestDivisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* 16 elements at a stride fall into banks / gcd(banks, stride) banks. */
static void testBankConflicts(void **state) {
  (void)state;
  static const int64_t strides[] = {1, 2, 3, 4, 6, 8, 12, 16, 17, 24, 32};
  for (int64_t banks = 4; banks <= 32; banks *= 2)
    for (size_t i = 0; i < sizeof strides / sizeof *strides; ++i) {
      SambaMachine machine = testMachine("sn40l");
      machine.pmu_banks = banks;
      TestSection *section = testSectionCreate();
      uint32_t buffer = testBuffer(section, "in", 1, (uint64_t)(64 * strides[i]));
      testRead(section, buffer, F32, TEST_CHAIN(2, {10, 64}, {0, strides[i]}), 1, 1);
      testConnect(section, buffer, 0, testSink(section, "out", F32, 10, 64), 0);
      uint64_t used = (uint64_t)banks / greatestDivisor((uint64_t)banks, (uint64_t)strides[i]);
      uint64_t cycles = (16 + used - 1) / used;
      /* The sink writes rows of words: fewer banks than words of a vector hold it up too. */
      uint64_t write = banks < 16 ? 16 / (uint64_t)banks : 1;
      uint64_t slowest = cycles > write ? cycles : write;
      for (int e = 0; e < TEST_ENGINES; ++e)
        assert_in_range(testCyclesBy((TestEngine)e, &machine, section), 40 * slowest,
                        40 * slowest + (uint64_t)(machine.pmu_latency_cycles + machine.hop_cycles) +
                            cycles + write);
      testSectionDestroy(section);
    }
}

/* sums[n vectors] += new, in place: passes do not overlap, and each takes n cycles and the way
 * from the buffer through the PCU and back. */
static void testAccumulation(void **state) {
  (void)state;
  SambaMachine machine = testMachine("plasticine");
  enum { passes = 20 };
  for (uint32_t n = 1; n <= 256; n *= 4) {
    uint32_t elements = 16 * n;
    TestSection *section = testSectionCreate();
    uint32_t sums = testBuffer(section, "sums", 1, elements);
    section->section.units[sums].buffer.in_place = true;
    section->section.units[sums].buffer.loop_carried = true;
    testWrite(section, sums, F32, TEST_CHAIN(2, {passes, elements}, {0, 1}), 1, 1);
    testRead(section, sums, F32, TEST_CHAIN(2, {passes, elements}, {0, 1}), 1, 1);
    uint32_t add = testCompute(section, "add", 2, (uint32_t[]){passes, elements}, 1);
    SambaLaneOp op = {SAMBA_LANE_ADD, F32, {0, 1, 0}, 0};
    testProgram(section, add, false, 0, 1, &op);
    testInput(section, add, F32, 1, elements, (int64_t[]){0, 1});
    testInput(section, add, F32, 1, elements, (int64_t[]){0, 1});
    testOutput(section, add, F32, 1, elements, (int64_t[]){0, 1}, 2);
    testConnect(section, sums, 0, add, 0);
    testConnect(section, testFountain(section, "new", F32, passes, elements), 0, add, 1);
    testConnect(section, add, 0, sums, 0);
    assertCycles(&machine, section, "accumulation", passes * (n + 14));
    testSectionDestroy(section);
  }
}

/* Streams of one and of two generators: bound by bursts under way, then by the channels. */
static void testDramStreams(void **state) {
  (void)state;
  SambaMachine machine = testMachine("tiny");
  double channels = (double)machine.hbm_channels * (double)machine.hbm_channel_mbps * 1e6 /
                    (double)machine.clock_hz; /* bytes per cycle */
  uint32_t n = 1 << 16;
  for (int streams = 1; streams <= 2; ++streams) {
    TestSection *section = testSectionCreate();
    for (int s = 0; s < streams; ++s) {
      uint32_t symbol = testSymbol(section, F32, n, false);
      uint32_t load = testLoad(section, "in", symbol, TEST_CHAIN(2, {64, n / 64}, {n / 64, 1}), 1);
      testConnect(section, load, 0, testSink(section, "out", F32, 64, n / 64), 0);
    }
    for (int e = 0; e < TEST_ENGINES; ++e) {
      uint64_t cycles = testCyclesBy((TestEngine)e, &machine, section);
      double rate = 4.0 * n * streams / (double)cycles;
      assert_true(rate < channels);
      assert_true(rate > (streams == 2 ? 0.92 : 0.45) * channels);
    }
    testSectionDestroy(section);
  }
}

/* Bursts at random out of rows that are seldom open: bursts under way per latency, which lies
 * between that of a closed bank and that of a conflict. */
static void testRandomGathers(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  enum { rows = 1 << 20, count = 4096 };
  double per_ps = (double)machine.clock_hz / 1e12;
  double closed = (double)machine.ag_latency_cycles +
                  (double)(machine.dram_trcd_ps + machine.dram_tcl_ps) * per_ps;
  double conflict = closed + (double)machine.dram_trp_ps * per_ps;
  TestSection *section = testSectionCreate();
  uint32_t symbol = testSymbol(section, F32, (uint64_t)rows * 16, false);
  uint32_t load = testLoad(section, "in", symbol, TEST_CHAIN(2, {count, 16}, {0, 1}), 1);
  SambaAccess *access = &section->section.units[load].outputs[0].access;
  access->has_index = true;
  access->index_stride = 16;
  access->index_limit = rows;
  testConnect(section, load, 0, testSink(section, "out", F32, count, 16), 0);
  for (int e = 0; e < TEST_ENGINES; ++e) {
    uint64_t cycles = testCyclesBy((TestEngine)e, &machine, section);
    double rate = (double)count / (double)cycles;
    assert_true(rate < (double)machine.ag_bursts / closed);
    assert_true(rate > 0.8 * (double)machine.ag_bursts / conflict);
  }
  testSectionDestroy(section);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testChain),         cmocka_unit_test(testTwoRates),
      cmocka_unit_test(testSystolicTiles), cmocka_unit_test(testShallowFifos),
      cmocka_unit_test(testMulticast),     cmocka_unit_test(testSharedLink),
      cmocka_unit_test(testBankConflicts), cmocka_unit_test(testAccumulation),
      cmocka_unit_test(testDramStreams),   cmocka_unit_test(testRandomGathers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
