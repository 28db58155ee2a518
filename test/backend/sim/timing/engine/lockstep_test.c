/* Units that use vectors of two long tokens at one pace, by hand and by both engines. */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { VECTORS = 4096, WORDS = 16 * VECTORS, TOKENS = 1 };

static TestChain tokens(void) { return TEST_CHAIN(2, {TOKENS, WORDS}, {0, 1}); }

/* A PCU that adds two tokens of WORDS elements. */
static uint32_t adder(TestSection *section, const char *name) {
  const SambaDType type = SAMBA_DTYPE_F32;
  int64_t strides[] = {0, 1};
  SambaLaneOp add = {SAMBA_LANE_ADD, SAMBA_DTYPE_F32, {0, 1, 0}, 0};
  uint32_t unit = testCompute(section, name, 2, tokens().trips, 1);
  testProgram(section, unit, false, 0, 1, &add);
  testInput(section, unit, type, 1, WORDS, strides);
  testInput(section, unit, type, 1, WORDS, strides);
  testOutput(section, unit, type, 1, WORDS, strides, 2);
  return unit;
}

/* Reads a, b, c, and one of a buffer that is filled first, and a row of PCUs each of which takes
 * what its neighbours take: [c b], [b a], [a late]. What the first one makes is stored and
 * forwarded. */
static TestSection *makeRow(void) {
  const SambaDType type = SAMBA_DTYPE_F32;
  TestSection *section = testSectionCreate();
  uint32_t a = testFountain(section, "a", type, TOKENS, WORDS);
  uint32_t b = testFountain(section, "b", type, TOKENS, WORDS);
  uint32_t c = testFountain(section, "c", type, TOKENS, WORDS);
  uint32_t source = testFountain(section, "source", type, TOKENS, WORDS);
  uint32_t late = testBuffer(section, "late", 2, WORDS);
  testWrite(section, late, type, tokens(), 1, 1);
  testRead(section, late, type, tokens(), 1, 1);
  testConnect(section, source, 0, late, 0);

  uint32_t row[] = {adder(section, "first"), adder(section, "second"), adder(section, "third")};
  testConnect(section, c, 0, row[0], 0);
  uint32_t shared = testConnect(section, b, 0, row[0], 1);
  testFork(section, shared, row[1], 0);
  shared = testConnect(section, a, 0, row[1], 1);
  testFork(section, shared, row[2], 0);
  testConnect(section, late, 0, row[2], 1);

  uint32_t made = testBuffer(section, "made", 2, WORDS);
  testWrite(section, made, type, tokens(), 1, 1);
  testRead(section, made, type, tokens(), 1, 1);
  testConnect(section, row[0], 0, made, 0);
  testConnect(section, made, 0, testSink(section, "out", type, TOKENS, WORDS), 0);
  for (int i = 1; i < 3; ++i)
    testConnect(section, row[i], 0, testSink(section, "rest", type, TOKENS, WORDS), 0);
  return section;
}

/* The third PCU waits for the late buffer, the second one for the third, the first one for the
 * second: all go on when the buffer has its token. So the buffer at the end has its own after the
 * cycles of two tokens, and has sent it after three. What is on the ways is less than a hundredth
 * of that. */
static void testTheWholeRowWaits(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  TestSection *section = makeRow();
  uint64_t all = 3 * TOKENS * VECTORS;
  for (int engine = 0; engine < TEST_ENGINES; ++engine) {
    uint64_t cycles = testCyclesBy((TestEngine)engine, &machine, section);
    assert_in_range(cycles, all - all / 100, all + all / 100);
  }
  testSectionDestroy(section);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testTheWholeRowWaits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
