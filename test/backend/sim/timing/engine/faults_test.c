/* Faults: what the engine says when nothing can happen any more, or too much. */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint32_t addStage(TestSection *section, const char *name, uint32_t inputs, uint32_t firings,
                         uint32_t elements) {
  uint32_t unit = testCompute(section, name, 2, (uint32_t[]){firings, elements}, 1);
  for (uint32_t i = 0; i < inputs; ++i)
    testInput(section, unit, SAMBA_DTYPE_F32, 1, elements, (int64_t[]){0, 1});
  testOutput(section, unit, SAMBA_DTYPE_F32, 1, elements, (int64_t[]){0, 1}, 0);
  return unit;
}

static void assertContains(const char *text, const char *part) {
  if (!strstr(text, part))
    fail_msg("'%s' not in '%s'", part, text);
}

static void checkCircleOfWaits(TestEngine engine) {
  SambaMachine tiny = testMachine("tiny");

  TestSection *section = testSectionCreate();
  uint32_t in = testFountain(section, "in", SAMBA_DTYPE_F32, 4, 64);
  uint32_t first = addStage(section, "first", 2, 4, 64);
  uint32_t second = addStage(section, "second", 1, 4, 64);
  testConnect(section, in, 0, first, 0);
  testConnect(section, first, 0, second, 0);
  testConnect(section, second, 0, first, 1);
  section->section.units[first].layer = "fc1";
  char text[2048];
  testFaultBy(engine, &tiny, section, 0, text, sizeof text);
  assertContains(text, "deadlock: section 'test' stopped at cycle ");
  assertContains(text, "with 2 units or buffer ports unfinished; ");
  assertContains(text, "is part of a circle of waits");
  assertContains(text, "note: 'first' (compute, layer fc1, firing 0 of 4) waits for a token from "
                       "'second' (compute, firing 0 of 4)");
  assertContains(text, "note: 'second' (compute, firing 0 of 4) waits for a token from 'first' "
                       "(compute, layer fc1, firing 0 of 4)");
  testSectionDestroy(section);
}

static void testCircleOfWaits(void **state) {
  (void)state;
  for (int e = 0; e < TEST_ENGINES; ++e)
    checkCircleOfWaits((TestEngine)e);
}

static void checkReconvergentPathTooShallow(TestEngine engine) {

  /* One copy of the tokens goes straight to the join, the other through a buffer whose slot holds
   * four of them: the straight way cannot hold three whole tokens, so the source stops before the
   * slot is full. */
  SambaMachine tiny = testMachine("tiny");
  TestSection *section = testSectionCreate();
  uint32_t in = testFountain(section, "in", SAMBA_DTYPE_F32, 8, 1024);
  uint32_t join = addStage(section, "join", 2, 8, 1024);
  uint32_t buffer = testBuffer(section, "buffer", 2, 4096);
  testWrite(section, buffer, SAMBA_DTYPE_F32, TEST_CHAIN(3, {2, 4, 1024}, {0, 1024, 1}), 1, 2);
  testRead(section, buffer, SAMBA_DTYPE_F32, TEST_CHAIN(3, {2, 4, 1024}, {0, 1024, 1}), 1, 2);
  uint32_t stream = testConnect(section, in, 0, join, 0);
  testFork(section, stream, buffer, 0);
  testConnect(section, buffer, 0, join, 1);
  char text[2048];
  testFaultBy(engine, &tiny, section, 0, text, sizeof text);
  assertContains(text, "deadlock: ");
  assertContains(text, "'join' (compute, firing 0 of 8) waits for a token from 'buffer' read port "
                       "(buffer, firing 0 of 8)");
  assertContains(
      text,
      "'buffer' read port (buffer, firing 0 of 8) waits for a slot to be filled by 'buffer' write "
      "port (buffer, firing ");
  assertContains(text, "waits for room on the stream to 'join' (compute, firing 0 of 8)");
  testSectionDestroy(section);
}

static void testReconvergentPathTooShallow(void **state) {
  (void)state;
  for (int e = 0; e < TEST_ENGINES; ++e)
    checkReconvergentPathTooShallow((TestEngine)e);
}

/* A row less its sum, of rows that FIFOs do not hold: the sum never ends, so nothing is written,
 * and no more is read than what fits. Both engines say so, and stop when the last of it has come:
 * the stepped one at the end of a window of two cycles. */
static void testNothingComesOfWhatNeverEnds(void **state) {
  (void)state;
  enum { ROWS = 4, WIDE = 4096 };
  SambaMachine tiny = testMachine("tiny");
  TestSection *section = testSectionCreate();
  TestChain rows = TEST_CHAIN(2, {ROWS, WIDE}, {WIDE, 1});
  uint32_t from = testSymbol(section, SAMBA_DTYPE_F32, ROWS * WIDE, false);
  uint32_t to = testSymbol(section, SAMBA_DTYPE_F32, ROWS * WIDE, true);
  uint32_t load = testLoad(section, "load", from, rows, 1);
  uint32_t sum = testCompute(section, "sum", 2, (uint32_t[]){ROWS, WIDE}, 1);
  testInput(section, sum, SAMBA_DTYPE_F32, 1, WIDE, (int64_t[]){0, 1});
  testOutput(section, sum, SAMBA_DTYPE_F32, 1, 1, (int64_t[]){0, 0}, 1);
  static const SambaLaneOp add = {
      .opcode = SAMBA_LANE_REDUCE_ADD, .type = SAMBA_DTYPE_F32, .operands = {0}};
  testProgram(section, sum, false, 2, 1, &add);
  uint32_t less = testCompute(section, "less", 2, (uint32_t[]){ROWS, WIDE}, 1);
  testInput(section, less, SAMBA_DTYPE_F32, 1, WIDE, (int64_t[]){0, 1});
  testInput(section, less, SAMBA_DTYPE_F32, 1, 1, (int64_t[]){0, 0});
  testOutput(section, less, SAMBA_DTYPE_F32, 1, WIDE, (int64_t[]){0, 1}, 0);
  testFork(section, testConnect(section, load, 0, sum, 0), less, 0);
  testConnect(section, sum, 0, less, 1);
  testConnect(section, less, 0, testStore(section, "store", to, rows, 1), 0);

  uint64_t read[TEST_ENGINES], cycles[TEST_ENGINES];
  for (int e = 0; e < TEST_ENGINES; ++e) {
    SambaTimingResult result;
    SambaStatus status = testExecute((TestEngine)e, &tiny, section, NULL, &result);
    assert_int_equal(sambaStatusGetCode(status), SAMBA_FAULT);
    sambaStatusFree(status);
    assert_int_equal(result.dram_write_bytes, 0);
    read[e] = result.dram_read_bytes;
    cycles[e] = result.cycles;
    sambaTimingResultFree(&result);
  }
  assert_int_equal(read[TEST_FAST], read[TEST_CYCLE]);
  assert_in_range(cycles[TEST_FAST], cycles[TEST_CYCLE] - 2, cycles[TEST_CYCLE] + 2);
  testSectionDestroy(section);
}

static void checkStarvedUnit(TestEngine engine) {
  SambaMachine tiny = testMachine("tiny");

  TestSection *section = testSectionCreate();
  uint32_t in = testFountain(section, "in", SAMBA_DTYPE_F32, 2, 64);
  uint32_t stage = addStage(section, "stage", 1, 4, 64);
  testConnect(section, in, 0, stage, 0);
  testConnect(section, stage, 0, testSink(section, "out", SAMBA_DTYPE_F32, 4, 64), 0);
  char text[2048];
  testFaultBy(engine, &tiny, section, 0, text, sizeof text);
  assertContains(text, "starved: section 'test' stopped at cycle ");
  assertContains(text, "'stage' (compute, firing 2 of 4) waits for a unit that has ended");
  assertContains(text, "note: 'stage' (compute, firing 2 of 4) waits for a token from 'in' read "
                       "port (buffer, firing 2 of 2)");
  testSectionDestroy(section);
}

static void testStarvedUnit(void **state) {
  (void)state;
  for (int e = 0; e < TEST_ENGINES; ++e)
    checkStarvedUnit((TestEngine)e);
}

static void checkTooManyCycles(TestEngine engine) {
  SambaMachine tiny = testMachine("tiny");

  TestSection *section = testSectionCreate();
  uint32_t in = testFountain(section, "in", SAMBA_DTYPE_F32, 100, 1024);
  testConnect(section, in, 0, testSink(section, "out", SAMBA_DTYPE_F32, 100, 1024), 0);
  char text[2048];
  testFaultBy(engine, &tiny, section, 1000, text, sizeof text);
  assertContains(
      text,
      "too many cycles: section 'test' was not finished after 1000 cycles, with 2 units or buffer "
      "ports unfinished; raise --max-cycles if this is expected");
  assertContains(text, "note: 'in' read port (buffer, firing 15 of 100) ");
  testSectionDestroy(section);

  /* The first units are listed, the others counted. */
  section = testSectionCreate();
  char names[10][2][8];
  for (int i = 0; i < 10; ++i) {
    snprintf(names[i][0], sizeof names[i][0], "in%d", i);
    snprintf(names[i][1], sizeof names[i][0], "out%d", i);
    in = testFountain(section, names[i][0], SAMBA_DTYPE_F32, 100, 1024);
    testConnect(section, in, 0, testSink(section, names[i][1], SAMBA_DTYPE_F32, 100, 1024), 0);
  }
  testFaultBy(engine, &tiny, section, 1000, text, sizeof text);
  assertContains(text, "with 20 units or buffer ports unfinished");
  assertContains(text, "and 4 more units or buffer ports");
  testSectionDestroy(section);

  /* Chains as long as the format allows neither overflow nor hang. */
  section = testSectionCreate();
  uint32_t symbol = testSymbol(section, SAMBA_DTYPE_F32, 64, false);
  static const int64_t never[] = {0, 0, 0};
  SambaGuard guard = {-1, 1, never};
  uint32_t load = testLoad(section, "load", symbol,
                           TEST_CHAIN(3, {1u << 15, 1u << 16, 1u << 16}, {0, 0, 0}), 1);
  section->section.units[load].outputs[0].access.guard_count = 1;
  section->section.units[load].outputs[0].access.guards = &guard;
  testConnect(section, load, 0, testSink(section, "out", SAMBA_DTYPE_F32, 1u << 15, 1u << 31), 0);
  testFaultBy(engine, &tiny, section, 100000, text, sizeof text);
  assertContains(text, "too many cycles: section 'test' was not finished after 100000 cycles");
  testSectionDestroy(section);
}

static void testTooManyCycles(void **state) {
  (void)state;
  for (int e = 0; e < TEST_ENGINES; ++e)
    checkTooManyCycles((TestEngine)e);
}

static void testNoMemoryToLoadFrom(void **state) {
  (void)state;
  SambaMachine machine = testMachine("tiny");

  machine.hbm_bytes = machine.hbm_channels = machine.hbm_channel_mbps = 0;
  TestSection *section = testSectionCreate();
  uint32_t symbol = testSymbol(section, SAMBA_DTYPE_F32, 64, false);
  uint32_t load = testLoad(section, "load", symbol, TEST_CHAIN(1, {64}, {1}), 0);
  testConnect(section, load, 0, testSink(section, "out", SAMBA_DTYPE_F32, 1, 64), 0);
  for (int e = 0; e < TEST_ENGINES; ++e) {
    SambaTimingResult result;
    SambaStatus status = testExecute((TestEngine)e, &machine, section, NULL, &result);
    assert_int_equal(sambaStatusGetCode(status), SAMBA_INVALID);
    assert_string_equal(
        sambaStatusGetMessage(status),
        "section 'test' loads or stores, but machine 'tiny' has neither HBM nor DDR channels");
    sambaStatusFree(status);
  }
  testSectionDestroy(section);
}

static void testTooManyUnits(void **state) {
  (void)state;
  SambaMachine machine = testMachine("tiny");
  TestSection *section = testSectionCreate();
  section->section.units[testBuffer(section, "buffer", 1, 1)].input_count =
      1u << 26; /* refused before any port is looked at */
  SambaTimingResult result;
  SambaStatus status =
      sambaTimingExecute(&machine, &section->section, section->bindings, NULL, NULL, &result);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_UNSUPPORTED);
  assert_string_equal(sambaStatusGetMessage(status),
                      "section 'test' has 67108864 units and buffer ports, expected below 2^26");
  sambaStatusFree(status);
  testSectionDestroy(section);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testCircleOfWaits),
      cmocka_unit_test(testReconvergentPathTooShallow),
      cmocka_unit_test(testNothingComesOfWhatNeverEnds),
      cmocka_unit_test(testStarvedUnit),
      cmocka_unit_test(testTooManyCycles),
      cmocka_unit_test(testNoMemoryToLoadFrom),
      cmocka_unit_test(testTooManyUnits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
