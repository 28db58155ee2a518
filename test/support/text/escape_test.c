/* Escaped strings: what is shown, and that every byte string comes back. */
#include "support/text/escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void expectEscaped(const char *text, size_t size, const char *expected) {
  SambaArena arena = {0};
  SambaStringRef shown = sambaStringEscape(&arena, (SambaStringRef){text, size});
  SambaStringRef back;
  assert_string_equal(shown.data, expected);
  assert_int_equal(shown.size, strlen(expected));
  assert_int_equal(sambaStringUnescape(&arena, shown, &back), shown.size);
  assert_int_equal(back.size, size);
  assert_memory_equal(back.data, text, size);
  sambaArenaDestroy(&arena);
}

static void testShown(void **state) {
  (void)state;
  expectEscaped("", 0, "\"\"");
  expectEscaped("fc1.weight", 10, "\"fc1.weight\"");
  expectEscaped("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
  expectEscaped("a\0b\n\x7f", 5, "\"a\\00b\\0A\\7F\"");
  expectEscaped("gr\xc3\xbc\xc3\x9f", 6, "\"gr\xc3\xbc\xc3\x9f\""); /* well-formed UTF-8 */
  expectEscaped("\xe2\x82\xac\xf0\x9f\x99\x82", 7, "\"\xe2\x82\xac\xf0\x9f\x99\x82\"");
  expectEscaped("\xff\xc3", 2, "\"\\FF\\C3\"");                         /* no sequence, a cut one */
  expectEscaped("\xc0\xaf\xed\xa0\x80", 5, "\"\\C0\\AF\\ED\\A0\\80\""); /* overlong, surrogate */
  expectEscaped("\xf4\x90\x80\x80\xe0\x80\x80", 7,
                "\"\\F4\\90\\80\\80\\E0\\80\\80\""); /* too large, overlong */
  expectEscaped("\xc2\x9b", 2, "\"\\C2\\9B\"");      /* a terminal control */
}

static void testAllBytes(void **state) {
  (void)state;
  SambaArena arena = {0};
  char text[256 * 3];
  uint32_t random = 1;

  for (size_t i = 0; i < sizeof text; ++i) {
    random = random * 1664525 + 1013904223;
    text[i] = i < 256 ? (char)i : (char)(random >> 24);
  }

  for (size_t start = 0; start < sizeof text; start += 5) {
    SambaStringRef whole = {text + start, sizeof text - start};
    SambaStringRef back;
    SambaStringRef shown = sambaStringEscape(&arena, whole);
    assert_int_equal(sambaStringUnescape(&arena, shown, &back), shown.size);
    assert_true(sambaStringRefEqual(whole, back));
  }

  sambaArenaDestroy(&arena);
}

static void testMalformed(void **state) {
  (void)state;
  static const char *const texts[] = {"",        "a",        "\"",      "\"a",     "\"a\\",
                                      "\"a\\\"", "\"\\g0\"", "\"\\0\"", "\"a\nb\""};
  SambaArena arena = {0};
  SambaStringRef back;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
    assert_int_equal(sambaStringUnescape(&arena, sambaStringRef(texts[i]), &back), 0);
  assert_int_equal(sambaStringUnescape(&arena, sambaStringRef("\"a\\tb\\n\" rest"), &back), 8);
  assert_string_equal(back.data, "a\tb\n");
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testShown), cmocka_unit_test(testAllBytes),
                                     cmocka_unit_test(testMalformed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
