/* A matrix product of 1024^3 of bf16, sums in f32, mapped by hand on 32 x 32 PCUs of sn40l with
 * ideal links: the engine's cycles against the bound that the shapes alone give, and its speed. */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

enum { N = 1024, ROWS = 32, COLUMNS = 32, TILE = N / ROWS, PASSES = TILE / 16 };
enum { C_STORES = ROWS };

/* One operand: a load for each panel (32 rows of the operand, k innermost) fills a PMU, which
 * streams all of k for each pass: its halves of 16 rows step with the outer or the inner pass
 * counter, and it sends each twice. */
static void makeOperand(TestSection *section, uint32_t symbol, const char *name, bool outer,
                        uint32_t *buffers) {
  for (uint32_t p = 0; p < ROWS; ++p) {
    uint32_t load = testLoad(section, name, symbol, TEST_CHAIN(2, {TILE, N}, {N, 1}), 0);
    section->section.units[load].outputs[0].access.base = (int64_t)p * TILE * N;
    uint32_t buffer = buffers[p] = testBuffer(section, "panel", 1, TILE * N);
    section->section.units[buffer].buffer.banking = SAMBA_BANKING_DIAGONAL;
    section->section.units[buffer].buffer.row_words = N / 2;
    section->section.units[buffer].buffer.skew = 1;
    testWrite(section, buffer, SAMBA_DTYPE_BF16, TEST_CHAIN(1, {TILE * N}, {1}), 0, 0);
    testRead(section, buffer, SAMBA_DTYPE_BF16,
             TEST_CHAIN(4, {PASSES, PASSES, N, 16}, {outer ? 16 * N : 0, outer ? 0 : 16 * N, 1, N}),
             0, 2);
    testConnect(section, load, 0, buffer, 0);
  }
}

static TestSection *makeMatmul(void) {
  TestSection *section = testSectionCreate();
  uint32_t a = testSymbol(section, SAMBA_DTYPE_BF16, N * N, false);
  uint32_t b = testSymbol(section, SAMBA_DTYPE_BF16, N * N, false);
  uint32_t c = testSymbol(section, SAMBA_DTYPE_F32, N * N, true);
  uint32_t a_buffers[ROWS], b_buffers[COLUMNS], a_streams[ROWS], b_streams[COLUMNS],
      stores[C_STORES];
  makeOperand(section, a, "a", true, a_buffers);
  makeOperand(section, b, "b", false, b_buffers);

  for (uint32_t s = 0; s < C_STORES; ++s) {
    stores[s] =
        testStore(section, "c", c,
                  TEST_CHAIN(5, {PASSES, PASSES, COLUMNS, 16, 16}, {16 * N, 16, TILE, N, 1}), 3);
    section->section.units[stores[s]].inputs[0].access.base = (int64_t)s * TILE * N;
  }

  const SambaLaneOp mac = {SAMBA_LANE_MAC, SAMBA_DTYPE_F32, {0, 1, 0}, 0};
  for (uint32_t i = 0; i < ROWS; ++i)
    for (uint32_t j = 0; j < COLUMNS; ++j) {
      uint32_t pcu = testCompute(section, "pcu", 5, (uint32_t[]){PASSES, PASSES, N, 16, 16}, 2);
      testProgram(section, pcu, true, 4, 1, &mac);
      testInput(section, pcu, SAMBA_DTYPE_BF16, 2, 16 * N, (int64_t[]){0, 0, 16, 1, 0});
      testInput(section, pcu, SAMBA_DTYPE_BF16, 2, 16 * N, (int64_t[]){0, 0, 16, 0, 1});
      testOutput(section, pcu, SAMBA_DTYPE_F32, 2, 256, (int64_t[]){0, 0, 0, 16, 1}, 2);
      if (j == 0)
        a_streams[i] = testConnect(section, a_buffers[i], 0, pcu, 0);
      else
        testFork(section, a_streams[i], pcu, 0);
      if (i == 0)
        b_streams[j] = testConnect(section, b_buffers[j], 0, pcu, 1);
      else
        testFork(section, b_streams[j], pcu, 1);
      testConnect(section, pcu, 0, stores[i], 0);
    }
  return section;
}

static void testMatmulBound(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");

  TestSection *section = makeMatmul();
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  SambaTimingResult result = testTime(&machine, section);
  clock_gettime(CLOCK_MONOTONIC, &to);
  double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
  double compute = 1024.0 * 1024.0 * 1024.0 / (256.0 * 1040.0);
  double memory = (2 * 2.0 + 4.0) * 1048576.0 / (1.8e12 / 1.2e9);
  double bound = compute > memory ? compute : memory;
  print_message("1024^3: %llu cycles, %.2f of the bound; %llu events, %.1f M events/s\n",
                (unsigned long long)result.cycles, (double)result.cycles / bound,
                (unsigned long long)result.events, (double)result.events / seconds * 1e-6);
  assert_true((double)result.cycles >= bound);
  assert_true((double)result.cycles <= 2 * bound);
  assert_int_equal(result.flops, UINT64_C(2) * N * N * N);
  assert_int_equal(result.multiply_adds, UINT64_C(1) * N * N * N);
  assert_int_equal(result.dram_read_bytes, 2 * 2 * N * N);
  assert_int_equal(result.dram_write_bytes, 4 * N * N);
  sambaTimingResultFree(&result);
  testSectionDestroy(section);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testMatmulBound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
