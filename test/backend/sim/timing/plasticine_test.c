/* Programs of the Plasticine regression runs (stanford-ppl/pir, May 2020), mapped by hand on
 * `plasticine` with ideal links: the engine's cycles against the published ones. What counts is the
 * part above the busiest unit's cycles, which every operation count has. */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const SambaDType I32 = SAMBA_DTYPE_I32;

static uint32_t tileBuffer(TestSection *section, const char *name, uint32_t tiles,
                           uint32_t elements) {
  uint32_t buffer = testBuffer(section, name, 2, elements);
  testWrite(section, buffer, I32, TEST_CHAIN(2, {tiles, elements}, {0, 1}), 1, 1);
  testRead(section, buffer, I32, TEST_CHAIN(2, {tiles, elements}, {0, 1}), 1, 1);
  return buffer;
}

/* C = A x B, 128^3, tiles of 64: the loads, a dot product per element of a partial tile, the
 * accumulation of two partial tiles, the store. B is read down its columns. */
static void testGemm128(void **state) {
  (void)state;
  SambaMachine machine = testMachine("plasticine");

  TestSection *section = testSectionCreate();
  uint32_t a = testSymbol(section, I32, 16384, false);
  uint32_t b = testSymbol(section, I32, 16384, false);
  uint32_t c = testSymbol(section, I32, 16384, true);
  uint32_t load_a =
      testLoad(section, "a", a, TEST_CHAIN(5, {2, 2, 2, 64, 64}, {64 * 128, 0, 64, 128, 1}), 4);
  uint32_t load_b =
      testLoad(section, "b", b, TEST_CHAIN(5, {2, 2, 2, 64, 64}, {0, 64, 64 * 128, 128, 1}), 3);
  uint32_t rows = tileBuffer(section, "rows", 512, 64);
  uint32_t tile = testBuffer(section, "tile", 2, 4096);
  section->section.units[rows].outputs[0].access.replay = 64;
  section->section.units[tile].buffer.banking = SAMBA_BANKING_DIAGONAL;
  section->section.units[tile].buffer.row_words = 64;
  section->section.units[tile].buffer.skew = 1;
  testWrite(section, tile, I32, TEST_CHAIN(2, {8, 4096}, {0, 1}), 1, 1);
  testRead(section, tile, I32, TEST_CHAIN(4, {8, 64, 64, 64}, {0, 0, 1, 64}), 1, 2);
  uint32_t dot = testCompute(section, "dot", 4, (uint32_t[]){8, 64, 64, 64}, 2);
  testProgram(section, dot, false, 8, 1,
              &(SambaLaneOp){SAMBA_LANE_MAC, SAMBA_DTYPE_I32, {0, 1, 0}, 0});
  testInput(section, dot, I32, 2, 64, (int64_t[]){0, 0, 0, 1});
  testInput(section, dot, I32, 2, 4096, (int64_t[]){0, 0, 64, 1});
  testOutput(section, dot, I32, 2, 64, (int64_t[]){0, 0, 1, 0}, 2);
  uint32_t partial = testBuffer(section, "partial", 2, 4096);
  testWrite(section, partial, I32, TEST_CHAIN(3, {8, 64, 64}, {0, 64, 1}), 1, 2);
  testRead(section, partial, I32, TEST_CHAIN(2, {8, 4096}, {0, 1}), 1, 1);
  uint32_t sum = testCompute(section, "sum", 3, (uint32_t[]){4, 2, 4096}, 2);
  testProgram(section, sum, false, 2, 1,
              &(SambaLaneOp){SAMBA_LANE_REDUCE_ADD, SAMBA_DTYPE_I32, {0, 0, 0}, 0});
  testInput(section, sum, I32, 2, 4096, (int64_t[]){0, 0, 1});
  testOutput(section, sum, I32, 1, 4096, (int64_t[]){0, 0, 1}, 1);
  uint32_t result = tileBuffer(section, "result", 4, 4096);
  uint32_t store =
      testStore(section, "c", c, TEST_CHAIN(4, {2, 2, 64, 64}, {64 * 128, 64, 128, 1}), 2);
  testConnect(section, load_a, 0, rows, 0);
  testConnect(section, load_b, 0, tile, 0);
  testConnect(section, rows, 0, dot, 0);
  testConnect(section, tile, 0, dot, 1);
  testConnect(section, dot, 0, partial, 0);
  testConnect(section, partial, 0, sum, 0);
  testConnect(section, sum, 0, result, 0);
  testConnect(section, result, 0, store, 0);
  SambaTimingResult r = testTime(&machine, section);

  /* Published 132071, of which the dot unit is busy 131072: 999 cycles besides. */
  assert_int_equal(r.units[dot].busy, 131072);
  assert_in_range(r.cycles - 131072, 999 * 85 / 100, 999 * 115 / 100);
  assert_int_equal(r.dram_read_bytes, 262144);
  assert_int_equal(r.dram_write_bytes, 65536);
  sambaTimingResultFree(&r);
  testSectionDestroy(section);
}

/* v1 (256) outer v2 (256), tiles of 64 x 32. */
static void testOuterProduct(void **state) {
  (void)state;
  SambaMachine machine = testMachine("plasticine");

  TestSection *section = testSectionCreate();
  uint32_t v1 = testSymbol(section, I32, 256, false);
  uint32_t v2 = testSymbol(section, I32, 256, false);
  uint32_t c = testSymbol(section, I32, 65536, true);
  uint32_t load_1 = testLoad(section, "v1", v1, TEST_CHAIN(2, {4, 64}, {64, 1}), 1);
  uint32_t load_2 = testLoad(section, "v2", v2, TEST_CHAIN(3, {4, 8, 32}, {0, 32, 1}), 2);
  uint32_t tile_1 = tileBuffer(section, "b1", 4, 64);
  uint32_t tile_2 = tileBuffer(section, "b2", 32, 32);
  uint32_t tile = tileBuffer(section, "tile", 32, 2048);
  uint32_t multiply = testCompute(section, "multiply", 4, (uint32_t[]){4, 8, 64, 32}, 2);
  testProgram(section, multiply, false, 0, 1,
              &(SambaLaneOp){SAMBA_LANE_MUL, SAMBA_DTYPE_I32, {0, 1, 0}, 0});
  testInput(section, multiply, I32, 1, 64, (int64_t[]){0, 0, 1, 0});
  testInput(section, multiply, I32, 2, 32, (int64_t[]){0, 0, 0, 1});
  testOutput(section, multiply, I32, 2, 2048, (int64_t[]){0, 0, 32, 1}, 2);
  uint32_t store =
      testStore(section, "c", c, TEST_CHAIN(4, {4, 8, 64, 32}, {64 * 256, 32, 256, 1}), 2);
  testConnect(section, load_1, 0, tile_1, 0);
  testConnect(section, load_2, 0, tile_2, 0);
  testConnect(section, tile_1, 0, multiply, 0);
  testConnect(section, tile_2, 0, multiply, 1);
  testConnect(section, multiply, 0, tile, 0);
  testConnect(section, tile, 0, store, 0);
  SambaTimingResult r = testTime(&machine, section);

  /* Published 4481 to 5263, of which 4096 busy: at least 385 besides, DRAM latency of two loads in
   * a row among it. */
  assert_int_equal(r.units[multiply].busy, 4096);
  assert_in_range(r.cycles - 4096, 385 * 80 / 100, 5263 - 4096);
  assert_int_equal(r.dram_write_bytes, 262144);
  sambaTimingResultFree(&r);
  testSectionDestroy(section);
}

/* a . b, 1024 elements in tiles of 32. Published 126 to 278 cycles for the same program, as the
 * host's addresses fell. */
static void testDotProduct(void **state) {
  (void)state;
  SambaMachine machine = testMachine("plasticine");

  TestSection *section = testSectionCreate();
  uint32_t dot = testCompute(section, "dot", 2, (uint32_t[]){32, 32}, 1);
  uint32_t sum = testSymbol(section, I32, 1, true);
  testProgram(section, dot, false, 3, 1,
              &(SambaLaneOp){SAMBA_LANE_MAC, SAMBA_DTYPE_I32, {0, 1, 0}, 0});

  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t symbol = testSymbol(section, I32, 1024, false);
    uint32_t load = testLoad(section, "load", symbol, TEST_CHAIN(2, {32, 32}, {32, 1}), 1);
    uint32_t tile = tileBuffer(section, "tile", 32, 32);
    testInput(section, dot, I32, 1, 32, (int64_t[]){0, 1});
    testConnect(section, load, 0, tile, 0);
    testConnect(section, tile, 0, dot, i);
  }

  testOutput(section, dot, I32, 0, 1, (int64_t[]){0, 0}, 2);
  testConnect(section, dot, 0, testStore(section, "sum", sum, TEST_CHAIN(1, {1}, {1}), 0), 0);

  /* Where both vectors fall into the same banks their rows close each other: one distance in
   * sixteen may leave the range. */
  int outside = 0;
  for (uint64_t distance = 0x10000; distance < 0x20000; distance += 0x1000) {
    section->bindings[2].address = section->bindings[1].address + distance;
    uint64_t cycles = testCycles(&machine, section);
    outside += cycles < 126 || cycles > 278;
  }

  assert_in_range(outside, 0, 1);
  testSectionDestroy(section);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testGemm128),
                                     cmocka_unit_test(testOuterProduct),
                                     cmocka_unit_test(testDotProduct)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
