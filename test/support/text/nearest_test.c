/* support/text/nearest.h: distances that are known, names that are near enough. */
#include "support/text/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static size_t distance(const char *a, const char *b) {
  return sambaEditDistance(sambaStringRef(a), sambaStringRef(b));
}

/* The textbook's examples of Levenshtein's distance. */
static void distances(void **state) {
  (void)state;
  assert_int_equal(distance("kitten", "sitting"), 3);
  assert_int_equal(distance("sunday", "saturday"), 3);
  assert_int_equal(distance("", "abc"), 3);
  assert_int_equal(distance("abc", ""), 3);
  assert_int_equal(distance("flaw", "lawn"), 2);
  assert_int_equal(distance("same", "same"), 0);

  char longer[257];
  memset(longer, 'a', sizeof longer - 1);
  longer[256] = '\0';
  assert_true(distance(longer, longer) == SIZE_MAX);
  longer[255] = '\0';
  assert_int_equal(distance(longer, ""), 255);
}

static const char *nearestOf(const char *wanted, const char *a, const char *b) {
  SambaNearest nearest = sambaNearestStart(sambaStringRef(wanted));
  sambaNearestOffer(&nearest, sambaStringRef(a));
  sambaNearestOffer(&nearest, sambaStringRef(b));
  return nearest.found.size ? nearest.found.data : "none";
}

static void names(void **state) {
  (void)state;
  assert_string_equal(nearestOf("fc.wight", "fc.bias", "fc.weight"), "fc.weight");
  assert_string_equal(nearestOf("fc1", "fc2", "fc3"), "fc2");
  assert_string_equal(nearestOf("loss", "output", "x"), "none");
  assert_string_equal(nearestOf("z", "x", ""), "none");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(distances), cmocka_unit_test(names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
