/* The growing text: pieces of all sizes, any bytes, and who owns them. */
#include "support/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void testAppend(void **state) {
  (void)state;
  SambaText text = {0};
  assert_string_equal(sambaTextGet(&text), "");
  sambaTextAppendC(&text, "");
  assert_string_equal(sambaTextGet(&text), "");

  sambaTextAppend(&text, "a\0b", 3);
  sambaTextFormat(&text, "%d%s", -7, "!");
  assert_int_equal(text.size, 6);
  assert_memory_equal(text.data, "a\0b-7!", 7); /* with the NUL behind */
  sambaTextClear(&text);
  assert_string_equal(sambaTextGet(&text), "");
  sambaTextAppendC(&text, "again");
  assert_string_equal(sambaTextGet(&text), "again");
  sambaTextFree(&text);
  assert_int_equal(text.capacity, 0);
}

/* Every length around the steps in which the text grows. */
static void testGrowth(void **state) {
  (void)state;
  for (size_t length = 0; length < 300; ++length) {
    char expected[301];
    SambaText bytes = {0}, formatted = {0};
    memset(expected, 'x', length);
    expected[length] = '\0';

    for (size_t i = 0; i < length; ++i)
      sambaTextAppend(&bytes, "x", 1);
    sambaTextFormat(&formatted, "%s", expected);
    assert_string_equal(sambaTextGet(&bytes), expected);
    assert_string_equal(sambaTextGet(&formatted), expected);
    assert_true(sambaStringRefEqual(sambaTextRef(&bytes), sambaTextRef(&formatted)));
    sambaTextFree(&bytes);
    sambaTextFree(&formatted);
  }
}

static void testTake(void **state) {
  (void)state;
  SambaText text = {0};
  char *taken = sambaTextTake(&text);
  assert_string_equal(taken, "");
  free(taken);

  sambaTextFormat(&text, "%u units", 3u);
  taken = sambaTextTake(&text);
  assert_string_equal(taken, "3 units");
  assert_int_equal(text.size, 0);
  assert_null(text.data);
  free(taken);

  SambaArena arena = {0};
  sambaTextAppendC(&text, "kept");
  assert_string_equal(sambaTextToArena(&text, &arena), "kept");
  assert_null(text.data);
  sambaArenaDestroy(&arena);
}

static void testOneOf(void **state) {
  (void)state;
  static const char *const words[] = {"section", "spatial", NULL};
  static const char *const none[] = {NULL};
  assert_true(sambaStringRefIsOneOf(sambaStringRef("spatial"), words));
  assert_false(sambaStringRefIsOneOf(sambaStringRef("spatia"), words));
  assert_false(sambaStringRefIsOneOf(sambaStringRef(""), words));
  assert_false(sambaStringRefIsOneOf(sambaStringRef("section"), none));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testAppend), cmocka_unit_test(testGrowth),
                                     cmocka_unit_test(testTake), cmocka_unit_test(testOneOf)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
