/* LOAD and STORE: latencies by hand, bandwidth against the machine's, bursts counted from the
 * shapes. */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { HOP = 2 };

/* n loads of `kib` KiB each, side by side in one symbol, in tokens of 1 KiB, each into a sink. */
static TestSection *makeLoads(uint32_t n, uint32_t kib) {
  TestSection *section = testSectionCreate();
  uint32_t symbol = testSymbol(section, SAMBA_DTYPE_F32, (uint64_t)n * kib * 256, false);
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t load = testLoad(section, "load", symbol, TEST_CHAIN(2, {kib, 256}, {256, 1}), 1);
    section->section.units[load].outputs[0].access.base = (int64_t)i * kib * 256;
    testConnect(section, load, 0, testSink(section, "sink", SAMBA_DTYPE_F32, kib, 256), 0);
  }
  return section;
}

static TestSection *makeStores(uint32_t n, uint32_t kib) {
  TestSection *section = testSectionCreate();
  uint32_t symbol = testSymbol(section, SAMBA_DTYPE_F32, (uint64_t)n * kib * 256, true);
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t store = testStore(section, "store", symbol, TEST_CHAIN(2, {kib, 256}, {256, 1}), 1);
    section->section.units[store].inputs[0].access.base = (int64_t)i * kib * 256;
    testConnect(section, testFountain(section, "fountain", SAMBA_DTYPE_F32, kib, 256), 0, store, 0);
  }
  return section;
}

/* One load of such a chain into a sink. Tokens have `elements` elements. */
static TestSection *makeLoad(uint64_t symbol_elements, TestChain chain, uint32_t tokens,
                             uint32_t elements) {
  TestSection *section = testSectionCreate();
  uint32_t symbol = testSymbol(section, SAMBA_DTYPE_F32, symbol_elements, false);
  uint32_t load = testLoad(section, "load", symbol, chain, 1);
  testConnect(section, load, 0, testSink(section, "sink", SAMBA_DTYPE_F32, tokens, elements), 0);
  return section;
}

/* Runs the section, which is destroyed. The result keeps its totals; what it lists is freed. */
static SambaTimingResult timeOnce(const SambaMachine *machine, TestSection *section) {
  SambaTimingResult result = testTime(machine, section);
  SambaTimingResult totals = result;
  totals.units = NULL;
  sambaTimingResultFree(&result);
  testSectionDestroy(section);
  return totals;
}

/* What moves 1 MiB takes as long as the memory's bandwidth says, and at most 15% longer. */
static void expectBandwidth(const SambaMachine *machine, uint64_t cycles) {
  double bytes = 1 << 20;
  double per_cycle = (double)machine->hbm_channels * (double)machine->hbm_channel_mbps * 1e6 /
                     (double)machine->clock_hz;
  assert_true((double)cycles >= bytes / per_cycle);
  assert_true((double)cycles <= 1.15 * bytes / per_cycle);
}

static void testOneBurst(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");

  /* Issue 1, half of the request latency 50, activate and column 28 ns = 33.6, burst 64 B at 28.125
   * GB/s = 2.73 cycles: 87.3, rounded up 88; the other half 50: 138. Then the hop and the one cycle
   * of the vector. */
  SambaTimingResult result = timeOnce(&tiny, makeLoad(16, TEST_CHAIN(2, {1, 16}, {16, 1}), 1, 16));
  assert_int_equal(result.cycles, 138 + HOP + 1);
  assert_int_equal(result.dram_read_bytes, 64);
  assert_int_equal(result.row_misses, 1);
}

static void testSequentialReadsReachTheBandwidth(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  SambaTimingResult result = timeOnce(&tiny, makeLoads(4, 256));
  expectBandwidth(&tiny, result.cycles);
  assert_int_equal(result.dram_read_bytes, 1 << 20);
}

static void testSequentialWritesReachTheBandwidth(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  SambaTimingResult result = timeOnce(&tiny, makeStores(4, 256));
  expectBandwidth(&tiny, result.cycles);
  assert_int_equal(result.dram_write_bytes, 1 << 20);
}

static void testOutstandingBurstsBoundOneGenerator(void **state) {
  (void)state;

  /* Little's law: with b outstanding bursts and a round trip of about 138 cycles or more, no more
   * than b * 64 / 138 bytes per cycle; twice the bursts, about twice the rate. */
  SambaMachine machine = testMachine("sn40l");
  TestSection *section = makeLoads(1, 256);
  uint64_t before = 0;

  for (int64_t bursts = 8; bursts <= 64; bursts *= 2) {
    machine.ag_bursts = bursts;
    uint64_t cycles = testCycles(&machine, section);
    assert_true(cycles >= 256 * 1024 / 64 / (uint64_t)bursts * 118);
    if (before)
      assert_in_range(cycles * 100 / before, 45, 62);
    before = cycles;
  }

  /* Unlimited, the generator's 64 bytes per cycle are the bound. */
  machine.ag_bursts = 1024;
  assert_in_range(testCycles(&machine, section), 4096, 4096 + 400);
  testSectionDestroy(section);
}

static void testLookingAheadChangesNothing(void **state) {
  (void)state;

  /* Four loads of a burst per row, 4 KiB apart. Where reads are merged a generator does not count
   * on bursts before they come back. There is none to be merged here. */
  SambaMachine machine = testMachine("sn40l");
  machine.hbm_channels = 4;
  TestSection *section = testSectionCreate();
  uint32_t symbol = testSymbol(section, SAMBA_DTYPE_F32, 1 << 20, false);
  for (uint32_t i = 0; i < 4; ++i) {
    TestChain chain = TEST_CHAIN(3, {16, 64, 16}, {65536, 1024, 1});
    uint32_t load = testLoad(section, "load", symbol, chain, 1);
    section->section.units[load].outputs[0].access.base = 16 * i;
    testConnect(section, load, 0, testSink(section, "sink", SAMBA_DTYPE_F32, 16, 1024), 0);
  }
  SambaTimingResult ahead = testTime(&machine, section);
  machine.ag_merge_outstanding = 1;
  SambaTimingResult one_by_one = testTime(&machine, section);
  testSectionDestroy(section);

  assert_int_equal(ahead.dram_read_bytes, 4 * 1024 * 64);
  assert_int_equal(one_by_one.dram_read_bytes, 4 * 1024 * 64);
  assert_int_equal(ahead.cycles, one_by_one.cycles);
  assert_true(ahead.events * 10 < one_by_one.events * 8);
  sambaTimingResultFree(&ahead);
  sambaTimingResultFree(&one_by_one);
}

static void testUnitsOfOneGeneratorShareIt(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  TestSection *section = makeLoads(2, 64);
  uint64_t apart = testCycles(&machine, section);
  section->section.units[0].load_store.ag = section->section.units[2].load_store.ag = 5;
  assert_in_range(testCycles(&machine, section) * 100 / apart, 180, 220);
  testSectionDestroy(section);
}

static void testRaggedTilesReadOnlyWhatIsThere(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");

  /* 3 tiles of 32 columns over 80 columns of f32 (5 bursts per row), 16 rows: the last tile reads
   * one burst per row. */
  TestSection *section = makeLoad(16 * 80, TEST_CHAIN(3, {3, 16, 32}, {32, 80, 1}), 3, 512);
  static const int64_t strides[] = {32, 0, 1};
  SambaGuard guard = {0, 80, strides};
  SambaAccess *access = &section->section.units[0].outputs[0].access;
  access->guard_count = 1;
  access->guards = &guard;
  SambaTimingResult result = testTime(&tiny, section);
  assert_int_equal(result.dram_read_bytes, 16 * 80 * 4);
  assert_int_equal(result.units[1].bytes_in, 3 * 512 * 4); /* fill travels too */
  sambaTimingResultFree(&result);
  testSectionDestroy(section);
}

/* Tokens much longer than FIFOs and generator hold: a run that is no multiple of a burst, and one
 * whose first elements are fill. Neither may wait for room before it began. */
static void testLongTokensBegin(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");

  SambaTimingResult result =
      timeOnce(&machine, makeLoad(40009, TEST_CHAIN(2, {1, 40009}, {0, 1}), 1, 40009));
  assert_int_equal(result.dram_read_bytes, (40009 * 4 + 63) / 64 * 64);

  TestSection *section = makeLoad(8192, TEST_CHAIN(3, {1, 16, 1024}, {0, 1024, 1}), 1, 16384);
  static const int64_t strides[] = {0, 1, 0};
  SambaGuard guard = {-8, 16, strides}; /* rows -8 to 7: half of them are fill */
  SambaAccess *access = &section->section.units[0].outputs[0].access;
  access->base = -8 * 1024;
  access->guard_count = 1;
  access->guards = &guard;
  assert_int_equal(timeOnce(&machine, section).dram_read_bytes, 8192 * 4);
}

static void testNarrowTokensShareBursts(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  /* 64 tokens of 16 bytes each, one after the other: 16 bursts, not 64. */
  TestSection *section = makeLoad(256, TEST_CHAIN(2, {64, 4}, {4, 1}), 64, 4);
  assert_int_equal(timeOnce(&tiny, section).dram_read_bytes, 1024);
}

static void testOutstandingReadsAreMergedWhenTheMachineDoes(void **state) {
  (void)state;
  SambaMachine machine = testMachine("tiny");
  for (int merge = 0; merge < 2; ++merge) {
    machine.ag_merge_outstanding = merge;
    TestSection *section = makeLoads(2, 4);
    section->section.units[2].outputs[0].access.base =
        0; /* both read the same 4 KiB at the same time */
    assert_int_equal(timeOnce(&machine, section).dram_read_bytes, merge ? 4096 : 8192);
  }
}

static void testControlTokenOrdersLoadAfterStore(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");

  TestSection *section = makeStores(1, 1);
  uint32_t store = 0;
  uint32_t symbol = 0;
  uint32_t load = testLoad(section, "load", symbol, TEST_CHAIN(2, {1, 256}, {256, 1}), 1);
  SambaUnit *units = section->section.units;
  testConnect(section, load, 0, testSink(section, "sink", SAMBA_DTYPE_F32, 1, 256), 0);
  uint64_t side_by_side = testCycles(&tiny, section);
  uint64_t alone;
  TestSection *single = makeStores(1, 1);
  alone = testCycles(&tiny, single);
  units[store].output_count = units[load].input_count = 1;
  units[store].outputs[0].block = units[load].inputs[0].block = 1;
  uint32_t stream = testConnect(section, store, 0, load, 0);
  section->section.streams[stream].kind = SAMBA_STREAM_CONTROL;
  uint64_t ordered = testCycles(&tiny, section);

  /* The load's first burst alone takes 138 cycles more than the store's acknowledgement. */
  assert_true(ordered > side_by_side);
  assert_true(ordered > alone + 100);
  testSectionDestroy(single);
  testSectionDestroy(section);
}

/* What comes from memory reaches a STORE vector by vector, and is taken burst by burst: whatever
 * lies between, and however the token meets vectors and bursts, that is what the chip does. */
static void testStoresTakeWhatComes(void **state) {
  (void)state;
  static const struct {
    uint32_t tokens, elements;
    bool buffered;
  } cases[] = {{1, 4096, false}, {1, 100, false}, {8, 100, false}, {3, 1000, false},
               {1, 100, true},   {4, 80, true},   {8, 96, true}};
  SambaMachine tiny = testMachine("tiny");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    uint32_t n = cases[i].tokens, elements = cases[i].elements;
    TestChain chain = TEST_CHAIN(2, {n, elements}, {elements, 1});
    TestSection *section = testSectionCreate();
    uint32_t in = testSymbol(section, SAMBA_DTYPE_F32, n * elements, false);
    uint32_t out = testSymbol(section, SAMBA_DTYPE_F32, n * elements, true);
    uint32_t last = testLoad(section, "load", in, chain, 1);
    if (cases[i].buffered) {
      TestChain slots = TEST_CHAIN(2, {n, elements}, {0, 1});
      uint32_t buffer = testBuffer(section, "buffer", 2, elements);
      testWrite(section, buffer, SAMBA_DTYPE_F32, slots, 1, 1);
      testRead(section, buffer, SAMBA_DTYPE_F32, slots, 1, 1);
      testConnect(section, last, 0, buffer, 0);
      last = buffer;
    }
    testConnect(section, last, 0, testStore(section, "store", out, chain, 1), 0);
    assert_int_equal(testCyclesBy(TEST_FAST, &tiny, section),
                     testCyclesBy(TEST_CYCLE, &tiny, section));
    testSectionDestroy(section);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testOneBurst),
      cmocka_unit_test(testSequentialReadsReachTheBandwidth),
      cmocka_unit_test(testSequentialWritesReachTheBandwidth),
      cmocka_unit_test(testOutstandingBurstsBoundOneGenerator),
      cmocka_unit_test(testLookingAheadChangesNothing),
      cmocka_unit_test(testUnitsOfOneGeneratorShareIt),
      cmocka_unit_test(testRaggedTilesReadOnlyWhatIsThere),
      cmocka_unit_test(testLongTokensBegin),
      cmocka_unit_test(testNarrowTokensShareBursts),
      cmocka_unit_test(testOutstandingReadsAreMergedWhenTheMachineDoes),
      cmocka_unit_test(testControlTokenOrdersLoadAfterStore),
      cmocka_unit_test(testStoresTakeWhatComes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
