/* The table of signatures: it is sorted, every operator of the importer is in it from its first
 * version on, and nothing else is. */
#include "frontend/onnx/core/row.h"
#include "frontend/onnx/core/signature.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <string.h>

extern const SambaOnnxRow sambaOnnxRows[]; /* driver/table.c */

static void testSorted(void **state) {
  (void)state;
  for (size_t i = 1; i < sambaOnnxSignatureCount(); ++i) {
    const SambaOnnxSignature *before = sambaOnnxSignatureAt(i - 1), *at = sambaOnnxSignatureAt(i);
    int order = strcmp(before->domain, at->domain);
    order = order ? order : strcmp(before->name, at->name);
    if (order > 0 || (order == 0 && before->since >= at->since))
      fail_msg("%s %lld is out of order", at->name, (long long)at->since);
  }
}

static void testRows(void **state) {
  (void)state;
  for (const SambaOnnxRow *row = sambaOnnxRows; row->name; ++row)
    if (!sambaOnnxFindSignature(row->domain, row->name, row->first))
      fail_msg("%s of version %lld has no signature", row->name, (long long)row->first);
  for (size_t i = 0; i < sambaOnnxSignatureCount(); ++i) {
    const SambaOnnxSignature *signature = sambaOnnxSignatureAt(i);
    bool used = false;
    for (const SambaOnnxRow *row = sambaOnnxRows; row->name && !used; ++row)
      used = !strcmp(row->domain, signature->domain) && !strcmp(row->name, signature->name) &&
             row->last >= signature->since;
    if (!used)
      fail_msg("%s of version %lld is not imported", signature->name, (long long)signature->since);
  }
}

static void testVersions(void **state) {
  (void)state;
  assert_int_equal(sambaOnnxFindSignature("", "Add", 12)->since, 7);
  assert_int_equal(sambaOnnxFindSignature("", "Add", 24)->since, 14);
  assert_null(sambaOnnxFindSignature("", "Erf", 8));
  assert_null(sambaOnnxFindSignature("com.acme", "Add", 14));
  assert_null(sambaOnnxFindSignature("", "Zzz", 14));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testSorted), cmocka_unit_test(testRows),
                                     cmocka_unit_test(testVersions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
