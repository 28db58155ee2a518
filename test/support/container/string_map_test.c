/* String maps against a linear search, with keys that hold any byte. */
#include "support/container/string_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { keys = 5000 };

static void testMany(void **state) {
  (void)state;
  SambaStringMap map = {0};
  SambaArena arena = {0};
  uint32_t value = 7;

  assert_false(sambaStringMapGet(&map, sambaStringRef("a"), &value));
  assert_int_equal(value, 7);
  for (uint32_t i = 0; i < keys; ++i)
    assert_true(sambaStringMapInsert(
        &map, sambaStringRef(sambaArenaFormat(&arena, "layer.%u.weight", i)), i, NULL));

  for (uint32_t i = 0; i < keys; ++i) {
    assert_true(sambaStringMapGet(
        &map, sambaStringRef(sambaArenaFormat(&arena, "layer.%u.weight", i)), &value));
    assert_int_equal(value, i);
  }

  assert_false(sambaStringMapGet(&map, sambaStringRef("layer.5000.weight"), &value));
  assert_int_equal(map.size, keys);
  sambaStringMapFree(&map);
  assert_int_equal(map.capacity, 0);
  sambaArenaDestroy(&arena);
}

static void testKeysOfBytes(void **state) {
  (void)state;
  static const char bytes[] =
      "\0\0\0\0\0\0\0\0\0\0"; /* prefixes of zeros of each length are different keys */
  SambaStringMap map = {0};
  uint32_t value;
  for (uint32_t size = 0; size <= 10; ++size)
    assert_true(sambaStringMapInsert(&map, (SambaStringRef){bytes, size}, size, NULL));
  for (uint32_t size = 0; size <= 10; ++size) {
    assert_false(sambaStringMapInsert(&map, (SambaStringRef){bytes, size}, 99, &value));
    assert_int_equal(value, size);
  }
  sambaStringMapFree(&map);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testMany), cmocka_unit_test(testKeysOfBytes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
