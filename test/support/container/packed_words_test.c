/* Packed words come back as they were, one table after the other. */
#include "support/container/packed_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { mostWords = 40 };

static void randomWords(uint64_t *words, size_t count) {
  for (size_t i = 0; i < count; ++i)
    words[i] = lrand48() % 3 ? 0 : (uint64_t)lrand48() << 32 | 1;
}

static void testRandomTables(void **state) {
  (void)state;
  srand48(1);
  for (int round = 0; round < 2000; ++round) {
    uint64_t first[mostWords], second[mostWords], again[mostWords];
    size_t first_size = (size_t)(lrand48() % mostWords) * sizeof *first;
    size_t second_size = (size_t)(lrand48() % mostWords) * sizeof *second;
    randomWords(first, first_size / sizeof *first);
    randomWords(second, second_size / sizeof *second);

    SambaPackedWords packed = {0};
    sambaWordsPack(first, first_size, &packed);
    sambaWordsPack(second, second_size, &packed);
    const uint64_t *next = sambaWordsUnpack(packed.data, again, first_size);
    assert_memory_equal(again, first, first_size);
    next = sambaWordsUnpack(next, again, second_size);
    assert_memory_equal(again, second, second_size);
    assert_ptr_equal(next, packed.data + packed.size);
    sambaArrayFree(&packed);
  }
}

/* What is nearly empty takes next to nothing. */
static void testEmptyTable(void **state) {
  (void)state;
  uint64_t words[1000] = {[999] = 7};
  SambaPackedWords packed = {0};
  sambaWordsPack(words, sizeof words, &packed);
  assert_int_equal(packed.size, 2);
  sambaArrayFree(&packed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testRandomTables),
                                     cmocka_unit_test(testEmptyTable)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
