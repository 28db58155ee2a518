/* Opening LLVM: what is said when it is not there, or is something else, and that it opens then. */
#include "backend/sim/value/lane/llvm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expectRefusal(const char *path, const char *said) {
  SambaStatus status = sambaLlvmOpen(path);
  assert_non_null(status);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_UNSUPPORTED);
  assert_non_null(strstr(sambaStatusGetMessage(status), said));
  sambaStatusFree(status);
  assert_null(sambaLlvm.ContextCreate);
}

static void refusals(void **state) {
  (void)state;
  expectRefusal("/nowhere/libLLVM.so", "lane programs cannot be compiled: /nowhere/libLLVM.so");
  expectRefusal("/nowhere/libLLVM.so", "; install the LLVM that Samba was built with, or use "
                                       "--timing-only");
  expectRefusal("libm.so.6", "lane programs cannot be compiled: the LLVM library has no function "
                             "LLVM");
}

static void opens(void **state) {
  (void)state;
  for (int twice = 0; twice < 2; ++twice)
    assert_null(sambaLlvmOpen(NULL));
  assert_non_null(sambaLlvm.ContextCreate);
  assert_true(sambaLlvmInitializeHost());
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refusals), cmocka_unit_test(opens)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
