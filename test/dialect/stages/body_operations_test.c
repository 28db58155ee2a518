/* Each operation that a body may have is in docs/linalg.md, in the table's order and with its
 * remark, and has a case against NumPy (Inputs/bodies.py). */
#include "dialect/stages/body_operations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static char *readSource(const char *path) {
  char name[1024];
  snprintf(name, sizeof name, "%s/%s", SAMBA_SOURCE_FOLDER, path);
  FILE *file = fopen(name, "r");
  assert_non_null(file);
  size_t capacity = (size_t)1 << 20;
  char *text = sambaAllocateZeroed(capacity, 1);
  assert_true(fread(text, 1, capacity - 1, file) > 0);
  fclose(file);
  return text;
}

static void pageListsTheTable(void **state) {
  (void)state;
  char *page = readSource("docs/linalg.md");
  const char *at = page;
  for (uint32_t i = 0; sambaBodyRowAt(i); ++i) {
    const SambaBodyRow *row = sambaBodyRowAt(i);
    char line[256];
    snprintf(line, sizeof line, "\n| `%s` | %s%s|\n", row->name, row->remark,
             row->remark[0] ? " " : "");
    at = strstr(at, line);
    if (!at)
      fail_msg("docs/linalg.md has no line%s", line);
    assert_ptr_equal(sambaBodyRowFind(sambaStringRef(row->name)), row);
  }
  free(page);
}

static void everyOperationIsTested(void **state) {
  (void)state;
  char *cases = readSource("test/dialect/stages/Inputs/bodies.py");
  for (uint32_t i = 0; sambaBodyRowAt(i); ++i) {
    const char *name = sambaBodyRowAt(i)->name;
    char whole[64], rest[64]; /* "arith.addf", or "addi" in a list of integers' */
    snprintf(whole, sizeof whole, "\"%s\"", name);
    snprintf(rest, sizeof rest, "\"%s\"", strchr(name, '.') + 1);
    if (!strstr(cases, whole) && !strstr(cases, rest))
      fail_msg("bodies.py has no case of %s", name);
  }
  free(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pageListsTheTable),
                                     cmocka_unit_test(everyOperationIsTested)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
