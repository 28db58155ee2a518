/* Buffers, streams and links: cycles worked out by hand for `tiny` (PMU read 4 cycles, hop 2, FIFOs
 * of 16 vectors). */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum { PMU = 4, HOP = 2, WORDS = 1024, V = 64 }; /* tokens of 1024 f32: 64 vectors */

/* fountain -> buffer -> sink, n tokens, one per slot. */
static TestSection *makeBuffered(uint32_t tokens, uint32_t slots) {
  TestSection *section = testSectionCreate();
  uint32_t in = testFountain(section, "in", SAMBA_DTYPE_F32, tokens, WORDS);
  uint32_t buffer = testBuffer(section, "buffer", slots, WORDS);
  testWrite(section, buffer, SAMBA_DTYPE_F32, TEST_CHAIN(2, {tokens, WORDS}, {0, 1}), 1, 1);
  testRead(section, buffer, SAMBA_DTYPE_F32, TEST_CHAIN(2, {tokens, WORDS}, {0, 1}), 1, 1);
  uint32_t out = testSink(section, "out", SAMBA_DTYPE_F32, tokens, WORDS);
  testConnect(section, in, 0, buffer, 0);
  testConnect(section, buffer, 0, out, 0);
  return section;
}

static void testSlotsAreCredits(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  /* Store and forward: the read starts when the slot is full. One slot: write and read take turns,
   * 128 cycles per token. Two slots: they overlap, 64 cycles per token. Four change nothing. */
  static const struct {
    uint32_t slots, period;
  } cases[] = {{1, 2 * V}, {2, V}, {4, V}};
  for (int i = 0; i < 3; ++i) {
    TestSection *section = makeBuffered(10, cases[i].slots);
    assert_int_equal(testCycles(&tiny, section),
                     PMU + HOP + V + V + PMU + HOP + 9 * cases[i].period);
    testSectionDestroy(section);
  }
}

static uint64_t ringCycles(int64_t arrays, uint32_t slots, uint32_t tokens) {
  SambaMachine tiny = testMachine("tiny");
  tiny.pmu_bank_arrays = arrays;
  TestSection *section = makeBuffered(tokens, slots);
  uint64_t cycles = testCycles(&tiny, section);
  testSectionDestroy(section);
  return cycles;
}

/* An array gives or takes one vector per cycle. Two slots in two arrays are at full rate, in one
 * array at half of it, and with two ports wherever they lie. */
static void testReadsAndWritesShareArrays(void **state) {
  (void)state;
  static const struct {
    int64_t arrays;
    uint32_t slots, period;
  } cases[] = {{2, 2, V},     {1, 2, 2 * V}, {0, 2, V}, {1, 1, 2 * V},
               {1, 4, 2 * V}, {0, 3, V},     {2, 4, V}, {4, 2, V}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    assert_int_equal(ringCycles(cases[i].arrays, cases[i].slots, 120) -
                         ringCycles(cases[i].arrays, cases[i].slots, 60),
                     60 * cases[i].period);

  /* Three slots in two arrays: of the three reads and three writes of a round four are in one
   * array. */
  assert_int_equal(ringCycles(2, 3, 120) - ringCycles(2, 3, 60), 60 / 3 * 4 * V);
}

/* new -> sums -> accumulator -> sums: n vectors are added to a slot, `passes` times. */
static TestSection *makeAccumulation(uint32_t vectors, uint32_t passes, bool in_place) {
  const SambaDType type = SAMBA_DTYPE_F32;
  TestSection *section = testSectionCreate();
  uint32_t elements = 16 * vectors;
  TestChain chain = TEST_CHAIN(2, {passes, elements}, {0, 1});
  int64_t strides[] = {0, 1};
  uint32_t new = testFountain(section, "new", type, passes, elements);
  uint32_t sums = testBuffer(section, "accumulator", 1, elements);
  section->section.units[sums].buffer.loop_carried = true;
  section->section.units[sums].buffer.in_place = in_place;
  testWrite(section, sums, type, chain, 1, 1);
  testRead(section, sums, type, chain, 1, 1);

  SambaLaneOp add = {SAMBA_LANE_ADD, SAMBA_DTYPE_F32, {0, 1, 0}, 0};
  uint32_t adder = testCompute(section, "adder", 2, chain.trips, 1);
  testProgram(section, adder, false, 0, 1, &add);
  testInput(section, adder, type, 1, elements, strides);
  testInput(section, adder, type, 1, elements, strides);
  testOutput(section, adder, type, 1, elements, strides, 2);
  testConnect(section, new, 0, adder, 0);
  testConnect(section, sums, 0, adder, 1);
  testConnect(section, adder, 0, sums, 0);
  return section;
}

static uint64_t accumulationCycles(const SambaMachine *machine, uint32_t vectors, uint32_t passes,
                                   bool in_place) {
  TestSection *section = makeAccumulation(vectors, passes, in_place);
  uint64_t cycles = testCycles(machine, section);
  testSectionDestroy(section);
  return cycles;
}

/* A pass of n vectors in place takes n cycles and the round trip, 14: a read (4), a hop (2), the
 * stages of a PCU (6), a hop (2). Passes do not overlap. A slot that is released as a whole is
 * written behind its read: n + n from n = 14 on. It must be on its way as a whole then, in four
 * FIFOs and the pipelines of PMU and PCU, or nothing goes on. */
static void testAccumulationInPlace(void **state) {
  (void)state;
  SambaMachine machine = testMachine("plasticine");
  uint64_t trip = (uint64_t)(machine.pmu_latency_cycles + 2 * machine.hop_cycles +
                             machine.simd_stages * machine.simd_stage_cycles);
  assert_int_equal(trip, 14);
  uint64_t held = (uint64_t)(4 * machine.fifo_depth + machine.pmu_latency_cycles +
                             machine.simd_stages * machine.simd_stage_cycles);
  for (uint32_t n = 1; n <= 1024; n = n < 16 ? n + 1 : 2 * n) {
    assert_int_equal(accumulationCycles(&machine, n, 21, true), 21 * (n + trip));
    if (n > held) {
      TestSection *section = makeAccumulation(n, 21, false);
      char text[1024];
      testFault(&machine, section, 0, text, sizeof text);
      assert_non_null(strstr(text, "deadlock: section 'test' stopped at cycle "));
      testSectionDestroy(section);
      continue;
    }
    uint64_t turns = accumulationCycles(&machine, n, 21, false);
    assert_int_equal(turns, 21 * (n < trip ? n + trip : 2 * n));
  }

  /* Reads and writes of one slot in one array take turns all the same. */
  machine.pmu_bank_arrays = 2;
  assert_int_equal(accumulationCycles(&machine, 256, 21, true), 21 * 2 * 256);
}

/* A ring of one slot whose taker needs `slow` cycles per vector; cycles of 20 tokens in the middle.
 */
static uint64_t oneSlotCycles(bool in_place, int64_t slow) {
  SambaMachine machine = testMachine("plasticine");
  uint64_t cycles[2];
  for (uint32_t more = 0; more < 2; ++more) {
    TestSection *section = makeBuffered(more ? 40 : 20, 1);
    section->section.units[1].buffer.in_place = in_place;
    section->section.units[2].inputs[0].access.strides = (int64_t[]){0, slow};
    section->section.units[2].buffer.slot_elements = (uint64_t)slow * WORDS;
    cycles[more] = testCycles(&machine, section);
    testSectionDestroy(section);
  }
  return cycles[1] - cycles[0];
}

/* In place the write of a slot runs one cycle behind its read, and no faster. A slot that is
 * released as a whole is written behind its read, which a slow taker hides in its FIFOs. */
static void testWritesInPlaceFollowReads(void **state) {
  (void)state;
  assert_int_equal(oneSlotCycles(false, 1), 20 * 2 * V);
  assert_int_equal(oneSlotCycles(true, 1), 20 * (V + 1));
  assert_int_equal(oneSlotCycles(false, 4), 20 * 4 * V);
  assert_int_equal(oneSlotCycles(true, 4), 20 * 4 * V);
}

static void testLoopCarriedBufferStartsFull(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  /* The first read needs no write; the first write waits for the first read. */
  TestSection *section = makeBuffered(2, 1);
  section->section.units[1].buffer.loop_carried = true;
  /* read 0..64, write 64..128, read 128..192, then 4 + 2 to the sink; the second write 192..256
   * ends later. */
  assert_int_equal(testCycles(&tiny, section), 256);
  testSectionDestroy(section);
}

static void testReadPortsShareTheReadSide(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");

  TestSection *section = testSectionCreate();
  uint32_t in = testFountain(section, "in", SAMBA_DTYPE_F32, 10, WORDS);
  testRead(section, in, SAMBA_DTYPE_F32, TEST_CHAIN(2, {10, WORDS}, {0, 1}), 1, 1);
  for (uint32_t p = 0; p < 2; ++p)
    testConnect(section, in, p, testSink(section, "out", SAMBA_DTYPE_F32, 10, WORDS), 0);

  /* 20 tokens of 64 cycles through one read side. */
  assert_int_equal(testCycles(&tiny, section), 20 * V + PMU + HOP);

  /* A multicast of one port streams once for both. */
  section->section.units[in].output_count = 1;
  testSectionDestroy(section);
  section = testSectionCreate();
  in = testFountain(section, "in", SAMBA_DTYPE_F32, 10, WORDS);
  uint32_t stream =
      testConnect(section, in, 0, testSink(section, "out", SAMBA_DTYPE_F32, 10, WORDS), 0);
  testFork(section, stream, testSink(section, "out", SAMBA_DTYPE_F32, 10, WORDS), 0);
  assert_int_equal(testCycles(&tiny, section), 10 * V + PMU + HOP);

  /* A repeat is a counter of the read pattern, and costs bandwidth. */
  testSectionDestroy(section);
  section = testSectionCreate();
  in = testBuffer(section, "in", 1, WORDS);
  testRead(section, in, SAMBA_DTYPE_F32, TEST_CHAIN(3, {10, 3, WORDS}, {0, 0, 1}), 1, 1);
  testConnect(section, in, 0, testSink(section, "out", SAMBA_DTYPE_F32, 10, 3 * WORDS), 0);
  assert_int_equal(testCycles(&tiny, section), 30 * V + PMU + HOP);
  testSectionDestroy(section);
}

static void testBankConflicts(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  TestSection *section = testSectionCreate();
  uint32_t in = testBuffer(section, "in", 1, 32 * 32);
  /* A column of a 32 x 32 f32 tile: all elements in one of the 16 banks, 16 cycles per vector
   * instead of one. */
  testRead(section, in, SAMBA_DTYPE_F32, TEST_CHAIN(3, {10, 32, 32}, {0, 1, 32}), 1, 1);
  testConnect(section, in, 0, testSink(section, "out", SAMBA_DTYPE_F32, 10, WORDS), 0);
  assert_int_equal(testCycles(&tiny, section), 10 * V * 16 + PMU + HOP);
  section->section.units[in].buffer.banking = SAMBA_BANKING_DIAGONAL;
  section->section.units[in].buffer.row_words = 32;
  section->section.units[in].buffer.skew = 1;
  assert_int_equal(testCycles(&tiny, section), 10 * V + PMU + HOP);
  testSectionDestroy(section);
}

/* in -> fast stage -> slow stage -> out; the slow stage takes `slow` passes of its pipeline per
 * vector. */
static uint64_t pipelineCycles(uint32_t tokens, uint32_t transcendentals) {
  SambaMachine tiny = testMachine("tiny");
  TestSection *section = testSectionCreate();
  SambaLaneOp ops[4];

  for (uint32_t i = 0; i < 4; ++i)
    ops[i] = (SambaLaneOp){SAMBA_LANE_EXP, SAMBA_DTYPE_F32, {(uint16_t)i, 0, 0}, 0};
  uint32_t previous = testFountain(section, "in", SAMBA_DTYPE_F32, tokens, WORDS);
  for (uint32_t s = 0; s < 2; ++s) {
    uint32_t unit = testCompute(section, s ? "slow" : "fast", 2, (uint32_t[]){tokens, WORDS}, 1);
    uint32_t count = s ? transcendentals : 1;
    testProgram(section, unit, false, 0, count, ops);
    testInput(section, unit, SAMBA_DTYPE_F32, 1, WORDS, (int64_t[]){0, 1});
    testOutput(section, unit, SAMBA_DTYPE_F32, 1, WORDS, (int64_t[]){0, 1}, count);
    testConnect(section, previous, 0, unit, 0);
    previous = unit;
  }

  testConnect(section, previous, 0, testSink(section, "out", SAMBA_DTYPE_F32, tokens, WORDS), 0);
  uint64_t cycles = testCycles(&tiny, section);
  testSectionDestroy(section);
  return cycles;
}

static void testCutThroughAndBackPressure(void **state) {
  (void)state;
  /* Cut-through: three units of 7 + 7 cycles and their hops, not three tokens. */
  assert_int_equal(pipelineCycles(20, 1), PMU + HOP + 20 * V + 7 + HOP + 7 + HOP);
  /* The slowest stage sets the pace of all: 4 cycles per vector, which enters the pipeline in the
   * first of them. */
  assert_int_equal(pipelineCycles(20, 4), PMU + HOP + 7 + HOP + 20 * 4 * V - 3 + 7 + HOP);
}

static void testSplitAndMerge(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");

  TestSection *section = testSectionCreate();

  /* Eight tokens dealt to two slow units (4 cycles per vector), two at a time, merged again in the
   * same way. */
  SambaLaneOp ops[4];
  for (uint32_t i = 0; i < 4; ++i)
    ops[i] = (SambaLaneOp){SAMBA_LANE_EXP, SAMBA_DTYPE_F32, {(uint16_t)i, 0, 0}, 0};
  uint32_t in = testFountain(section, "in", SAMBA_DTYPE_F32, 8, WORDS);
  uint32_t out = testSink(section, "out", SAMBA_DTYPE_F32, 8, WORDS);

  for (uint32_t s = 0; s < 2; ++s) {
    uint32_t unit = testCompute(section, "slow", 2, (uint32_t[]){4, WORDS}, 1);
    testProgram(section, unit, false, 0, 4, ops);
    testInput(section, unit, SAMBA_DTYPE_F32, 1, WORDS, (int64_t[]){0, 1});
    testOutput(section, unit, SAMBA_DTYPE_F32, 1, WORDS, (int64_t[]){0, 1}, 4);
    testConnect(section, in, 0, unit, 0);
    testConnect(section, unit, 0, out, 0);
  }

  section->section.units[in].outputs[0].block = section->section.units[out].inputs[0].block = 2;
  SambaTimingResult result = testTime(&tiny, section);

  /* Both copies do 4 firings of 256 cycles; dealing one token at a time they would work side by
   * side all the time, with blocks of two the second one starts up to two tokens later. Neither can
   * beat half of the work. */
  assert_in_range(result.cycles, 4 * 4 * V, 8 * 4 * V);

  for (uint32_t u = 2; u < 4; ++u) {
    assert_int_equal(result.units[u].firings, 4);
    assert_int_equal(result.units[u].busy, 4 * 4 * V);
    assert_int_equal(result.units[u].bytes_in, 4 * WORDS * 4);
  }

  uint64_t with_blocks = result.cycles;
  sambaTimingResultFree(&result);
  section->section.units[in].outputs[0].block = section->section.units[out].inputs[0].block = 1;
  assert_true(testCycles(&tiny, section) < with_blocks);
  testSectionDestroy(section);
}

/* x + y: x comes from memory, which others keep busy, so that its vectors come one by one. y comes
 * from a buffer; FIFOs hold many of its tokens, which come while a firing waits for x. */
static TestSection *makeLateVectors(uint32_t tokens) {
  enum { ELEMENTS = 64, APART = 8192, OTHERS = 4 };
  const SambaDType type = SAMBA_DTYPE_F32;
  TestChain rows = TEST_CHAIN(2, {tokens, ELEMENTS}, {ELEMENTS, 1});
  TestChain apart = TEST_CHAIN(3, {tokens, 4, 16}, {4 * APART, APART, 1});
  SambaLaneOp add = {SAMBA_LANE_ADD, SAMBA_DTYPE_F32, {0, 1, 0}, 0};
  TestSection *section = testSectionCreate();
  uint32_t argument = testSymbol(section, type, (uint64_t)4 * APART * tokens, false);
  uint32_t result = testSymbol(section, type, (uint64_t)ELEMENTS * tokens, true);
  uint32_t x = testLoad(section, "x", argument, apart, 1);
  uint32_t y = testFountain(section, "y", type, 1, tokens * ELEMENTS);
  uint32_t buffer = testBuffer(section, "buffer", 1, tokens * ELEMENTS);
  testWrite(section, buffer, type, TEST_CHAIN(1, {tokens * ELEMENTS}, {1}), 0, 0);
  testRead(section, buffer, type, rows, 0, 1);
  uint32_t adder = testCompute(section, "adder", 2, rows.trips, 1);
  testProgram(section, adder, false, 0, 1, &add);
  testInput(section, adder, type, 1, ELEMENTS, rows.strides);
  testInput(section, adder, type, 1, ELEMENTS, rows.strides);
  testOutput(section, adder, type, 1, ELEMENTS, rows.strides, 2);
  uint32_t out = testStore(section, "out", result, rows, 1);
  for (uint32_t i = 0; i < OTHERS; ++i) {
    uint32_t other = testSymbol(section, type, 64 * WORDS, false);
    uint32_t load = testLoad(section, "other", other, TEST_CHAIN(2, {64, WORDS}, {WORDS, 1}), 1);
    testConnect(section, load, 0, testSink(section, "sink", type, 64, WORDS), 0);
  }
  testConnect(section, y, 0, buffer, 0);
  testConnect(section, buffer, 0, adder, 0);
  testConnect(section, x, 0, adder, 1);
  testConnect(section, adder, 0, out, 0);
  return section;
}

/* When the vectors of a token came is known as long as its firing runs, whatever has come since. */
static void testTokensStayKnownWhileTheyAreUsed(void **state) {
  (void)state;
  SambaMachine machine = testMachine("tiny");
  machine.hbm_channels = 1;
  for (uint32_t tokens = 16; tokens <= 40; tokens += 8) {
    TestSection *section = makeLateVectors(tokens);
    assert_int_equal(testCycles(&machine, section), testCyclesBy(TEST_CYCLE, &machine, section));
    testSectionDestroy(section);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testSlotsAreCredits),
      cmocka_unit_test(testReadsAndWritesShareArrays),
      cmocka_unit_test(testAccumulationInPlace),
      cmocka_unit_test(testWritesInPlaceFollowReads),
      cmocka_unit_test(testLoopCarriedBufferStartsFull),
      cmocka_unit_test(testReadPortsShareTheReadSide),
      cmocka_unit_test(testBankConflicts),
      cmocka_unit_test(testCutThroughAndBackPressure),
      cmocka_unit_test(testSplitAndMerge),
      cmocka_unit_test(testTokensStayKnownWhileTheyAreUsed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
