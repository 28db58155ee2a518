/* Laws that hold for every section: conservation of bytes, cycles above the bounds that shapes
 * give, the same answer every time, and no slowdown from more bandwidth. On seeded random pipelines
 * of loads, buffers, stages and stores. */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Shape {
  uint32_t lanes, stages, tokens, elements, slots, transcendentals;
} Shape;

static Shape randomShape(void) {
  static const uint32_t elements[] = {1, 4, 16, 48, 64, 100, 256, 1024, 3000};
  return (Shape){.lanes = 1 + (uint32_t)(rand() % 4),
                 .stages = 1 + (uint32_t)(rand() % 4),
                 .tokens = 1 + (uint32_t)(rand() % 40),
                 .elements = elements[rand() % 9],
                 .slots = 1 + (uint32_t)(rand() % 3),
                 .transcendentals = 1 + (uint32_t)(rand() % 3)};
}

/* `lanes` pipelines side by side: load -> buffer -> stages -> buffer -> store, f32; the first
 * buffers feed the next pipeline's first stage too (multicast). */
static TestSection *makePipelines(Shape s) {
  TestSection *section = testSectionCreate();
  uint32_t n = s.tokens * s.elements;
  uint32_t in = testSymbol(section, SAMBA_DTYPE_F32, (uint64_t)n * s.lanes, false);
  uint32_t out = testSymbol(section, SAMBA_DTYPE_F32, (uint64_t)n * s.lanes, true);
  uint32_t streams[4] = {0};
  uint32_t firsts[4] = {0};
  SambaLaneOp ops[4];

  for (uint32_t i = 0; i < 4; ++i)
    ops[i] = (SambaLaneOp){SAMBA_LANE_EXP, SAMBA_DTYPE_F32, {(uint16_t)(i ? i + 1 : 0), 0, 0}, 0};
  TestChain chain = TEST_CHAIN(2, {s.tokens, s.elements}, {s.elements, 1});
  TestChain slot = TEST_CHAIN(2, {s.tokens, s.elements}, {0, 1});

  for (uint32_t l = 0; l < s.lanes; ++l) {
    uint32_t load = testLoad(section, "load", in, chain, 1);
    uint32_t buffer = testBuffer(section, "buffer", s.slots, s.elements);
    section->section.units[load].outputs[0].access.base = (int64_t)l * n;
    testWrite(section, buffer, SAMBA_DTYPE_F32, slot, 1, 1);
    testRead(section, buffer, SAMBA_DTYPE_F32, slot, 1, 1);
    testConnect(section, load, 0, buffer, 0);
    uint32_t previous = buffer;
    for (uint32_t i = 0; i < s.stages; ++i) {
      uint32_t unit = testCompute(section, "stage", 2, (uint32_t[]){s.tokens, s.elements}, 1);
      uint32_t inputs = i == 0 ? 2 : 1;
      testProgram(section, unit, false, 0, s.transcendentals, ops);
      for (uint32_t k = 0; k < inputs; ++k)
        testInput(section, unit, SAMBA_DTYPE_F32, 1, s.elements, (int64_t[]){0, 1});
      testOutput(section, unit, SAMBA_DTYPE_F32, 1, s.elements, (int64_t[]){0, 1}, inputs);
      uint32_t stream = testConnect(section, previous, 0, unit, 0);
      if (i == 0) {
        streams[l] = stream;
        firsts[l] = unit;
      }
      previous = unit;
    }
    uint32_t store = testStore(section, "store", out, chain, 1);
    section->section.units[store].inputs[0].access.base = (int64_t)l * n;
    testConnect(section, previous, 0, store, 0);
  }

  for (uint32_t l = 0; l < s.lanes; ++l)
    testFork(section, streams[l], firsts[(l + 1) % s.lanes], 1);
  return section;
}

static uint64_t burstsOf(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

static void checkRandomPipelines(TestEngine engine) {
  SambaMachine tiny = testMachine("tiny");

  srand(7);
  for (int trial = 0; trial < 150; ++trial) {
    Shape s = randomShape();
    TestSection *section = makePipelines(s);
    SambaTimingResult a = testTimeBy(engine, &tiny, section);
    SambaTimingResult b = testTimeBy(engine, &tiny, section);
    uint64_t bytes = (uint64_t)s.tokens * s.elements * 4;
    uint64_t vectors = (uint64_t)s.tokens * ((s.elements + 15) / 16);

    /* Deterministic. */
    assert_int_equal(a.cycles, b.cycles);
    assert_int_equal(a.events, b.events);
    assert_memory_equal(a.units, b.units, section->section.unit_count * sizeof *a.units);

    /* Bounds. */
    double per_cycle =
        (double)tiny.hbm_channels * (double)tiny.hbm_channel_mbps * 1e6 / (double)tiny.clock_hz;
    assert_true((double)a.cycles >= 2.0 * (double)bytes * s.lanes / per_cycle);
    assert_true(a.cycles >= vectors * s.transcendentals);

    /* Conservation: what was sent was taken, whole bursts cover the symbols once. Lanes may meet in
     * a burst. */
    assert_in_range(a.dram_read_bytes, bytes * s.lanes, burstsOf(bytes * s.lanes) + 64 * s.lanes);
    assert_int_equal(a.dram_write_bytes, a.dram_read_bytes);
    assert_int_equal(a.flops,
                     (uint64_t)s.tokens * s.elements * s.stages * s.lanes * s.transcendentals);
    for (uint32_t u = 0; u < section->section.unit_count; ++u) {
      const SambaUnitActivity *unit = &a.units[u];
      uint64_t sinks = section->section.units[u].kind == SAMBA_UNIT_COMPUTE &&
                               section->section.units[u].input_count == 2
                           ? 2
                           : 1;
      if (section->section.units[u].kind != SAMBA_UNIT_LOAD)
        assert_int_equal(unit->bytes_in, bytes * sinks);
      if (section->section.units[u].kind != SAMBA_UNIT_STORE)
        assert_int_equal(unit->bytes_out, bytes);
      assert_true(unit->busy + unit->wait_input + unit->wait_output + unit->wait_memory <=
                  a.cycles);
    }

    sambaTimingResultFree(&a);
    sambaTimingResultFree(&b);
    testSectionDestroy(section);
  }
}

static void testRandomPipelines(void **state) {
  (void)state;
  for (int e = 0; e < TEST_ENGINES; ++e)
    checkRandomPipelines((TestEngine)e);
}

static void checkMoreBandwidth(TestEngine engine) {
  static const struct {
    SambaParameter parameter;
    int64_t small, large;
  } changes[] = {
      {SAMBA_PARAMETER_vector_bytes, 32, 64},
      {SAMBA_PARAMETER_pmu_port_bytes, 32, 64},
      {SAMBA_PARAMETER_hbm_channel_mbps, 14000, 28000},
      {SAMBA_PARAMETER_simd_lanes, 8, 16},
      {SAMBA_PARAMETER_ag_bursts, 16, 64},
      {SAMBA_PARAMETER_fifo_depth, 8, 64},
      {SAMBA_PARAMETER_tail_transcendentals, 1, 2},
      {SAMBA_PARAMETER_ag_latency_cycles, 200, 100},
      {SAMBA_PARAMETER_simd_stage_cycles, 4, 1},
      {SAMBA_PARAMETER_hop_cycles, 5, 1},
  };
  Shape shapes[] = {
      {1, 2, 32, 1024, 2, 1}, {2, 1, 32, 256, 2, 2}, {4, 3, 16, 3000, 3, 1}, {1, 1, 100, 16, 1, 1}};

  const SambaReason assumed = {SAMBA_REASON_ASSUMED, NULL};

  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
    TestSection *section = makePipelines(shapes[i]);
    for (size_t c = 0; c < sizeof changes / sizeof *changes; ++c) {
      SambaMachine slow = testMachine("tiny");
      SambaMachine fast = slow;
      sambaMachineSet(&slow, changes[c].parameter, changes[c].small, assumed);
      sambaMachineSet(&fast, changes[c].parameter, changes[c].large, assumed);
      uint64_t a = testCyclesBy(engine, &slow, section);
      uint64_t b = testCyclesBy(engine, &fast, section);
      /* 5%: another order of reads and writes can cost the memory a few turnarounds more. */
      if (b > a + a / 20)
        fail_msg("%s engine, shape %zu: %s %lld: %llu cycles, %lld: %llu", testEngineName(engine),
                 i, sambaParameterName(changes[c].parameter), (long long)changes[c].small,
                 (unsigned long long)a, (long long)changes[c].large, (unsigned long long)b);
    }
    testSectionDestroy(section);
  }
}

static void testMoreBandwidthIsNeverSlower(void **state) {
  (void)state;
  for (int e = 0; e < TEST_ENGINES; ++e)
    checkMoreBandwidth((TestEngine)e);
}

static void countFirings(void *user, uint32_t unit, uint64_t start, uint64_t end) {
  uint64_t *counts = user;
  ++counts[unit];
  assert_true(start <= end);
}

static void testTraceHasEveryFiring(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");

  TestSection *section = makePipelines((Shape){2, 2, 10, 64, 2, 1});
  uint64_t counts[64] = {0};
  SambaTimingOptions options = {.on_firing = countFirings, .user = counts};
  SambaTimingResult result;
  SambaStatus status =
      sambaTimingExecute(&tiny, &section->section, section->bindings, NULL, &options, &result);
  assert_null(status);

  for (uint32_t u = 0; u < section->section.unit_count; ++u) {
    assert_int_equal(counts[u], section->section.units[u].kind == SAMBA_UNIT_BUFFER ? 20 : 10);
    assert_int_equal(result.units[u].firings, counts[u]);
  }

  sambaTimingResultFree(&result);
  testSectionDestroy(section);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testRandomPipelines),
      cmocka_unit_test(testMoreBandwidthIsNeverSlower),
      cmocka_unit_test(testTraceHasEveryFiring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
