/* Bytes between DRAM and the chip, counted by hand from the address generators of a section. */
#include "backend/estimate/estimate.h"

#include "test/backend/sample_sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Two loads of 8 tokens with 64 x 64 elements in bf16, one store of 4 such tokens. */
static void matmulReadsEachTileTwice(void **state) {
  (void)state;
  SambaArena arena = {0};
  uint64_t read, written;

  sambaSectionTraffic(sampleMatmul(&arena), &read, &written);
  assert_int_equal(read, 2 * 8 * 64 * 64 * 2);
  assert_int_equal(written, 4 * 64 * 64 * 2);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(matmulReadsEachTileTwice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
