/* support/container/pointer_map.h against a plain array: adding, replacing, growing, absent keys.
 */
#include "support/container/pointer_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { keys = 5000 };

static void mapsLikeAnArray(void **state) {
  (void)state;
  static char memory[keys * 16];
  static uint32_t expected[keys];
  static bool has[keys];
  SambaPointerMap map = {0};
  uint32_t value = 0, seed = 7;

  assert_false(sambaPointerMapGet(&map, memory, &value));
  size_t size = 0;
  for (int step = 0; step < 4 * keys; ++step) {
    seed = seed * 1664525u + 1013904223u;
    uint32_t key = (seed >> 8) % keys;
    size += !has[key];
    has[key] = true;
    expected[key] = seed;
    sambaPointerMapSet(&map, memory + (size_t)key * 16,
                       seed); /* pointers differ in high bits only, as allocations do */
    assert_int_equal(map.size, size);
  }

  for (uint32_t key = 0; key < keys; ++key) {
    value = 42;
    assert_int_equal(sambaPointerMapGet(&map, memory + (size_t)key * 16, &value), has[key]);
    assert_int_equal(value, has[key] ? expected[key] : 42);
    assert_false(sambaPointerMapGet(&map, memory + (size_t)key * 16 + 1, &value));
  }

  sambaPointerMapFree(&map);
  assert_int_equal(map.size, 0);
  assert_false(sambaPointerMapGet(&map, memory, &value));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mapsLikeAnArray)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
