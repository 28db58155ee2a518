/* Shapes: element counts at their limits, texts of all ranks; and rounding up. */
#include "support/number/shape.h"

#include "support/number/integer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void testElements(void **state) {
  (void)state;
  const int64_t dims[] = {2, 3, 4}, large[] = {INT64_C(1) << 40, INT64_C(1) << 40, 0},
                most[] = {INT64_MAX, 1}, beyond[] = {INT64_C(1) << 32, INT64_C(1) << 31};
  assert_int_equal(sambaShapeElements(3, dims), 24);
  assert_int_equal(sambaShapeElements(0, NULL), 1);
  assert_int_equal(sambaShapeElements(2, large), INT64_MAX);
  assert_int_equal(sambaShapeElements(3, large), 0); /* empty, whatever comes before the zero */
  assert_int_equal(sambaShapeElements(2, most), INT64_MAX);
  assert_int_equal(sambaShapeElements(2, beyond), INT64_MAX);
  assert_int_equal(sambaShapeElements(1, beyond), INT64_C(1) << 32);
}

static void testFormat(void **state) {
  (void)state;
  const int64_t dims[] = {2, 3, INT64_MAX};
  char text[SAMBA_SHAPE_TEXT_BYTES], little[8];
  assert_string_equal(sambaShapeFormat(text, sizeof text, 2, dims, "f32"), "2x3xf32");
  assert_string_equal(sambaShapeFormat(text, sizeof text, 2, dims, ""), "2x3");
  assert_string_equal(sambaShapeFormat(text, sizeof text, 0, NULL, "i1"), "i1");
  assert_string_equal(sambaShapeFormat(text, sizeof text, 0, NULL, ""), "");
  assert_string_equal(sambaShapeFormat(text, sizeof text, 3, dims, "bf16"),
                      "2x3x9223372036854775807xbf16");
  assert_string_equal(sambaShapeFormat(little, sizeof little, 3, dims, "bf16"), "2x3x922");
}

static void testCeilDiv(void **state) {
  (void)state;
  assert_int_equal(sambaCeilDiv(0, 5), 0);
  assert_int_equal(sambaCeilDiv(1, 5), 1);
  assert_int_equal(sambaCeilDiv(5, 5), 1);
  assert_int_equal(sambaCeilDiv(6, 5), 2);
  assert_int_equal(sambaCeilDiv(-6, 5), -1);
  assert_int_equal(sambaCeilDiv(INT64_MAX, 2), INT64_MAX / 2 + 1); /* without overflow */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testElements), cmocka_unit_test(testFormat),
                                     cmocka_unit_test(testCeilDiv)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
