/* Contexts: seeds, parameters with data and without. */
#include "test/libsamba/checks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const SambaInitializer uniform = {SAMBA_INITIALIZER_UNIFORM, -1, 1};

static SambaTensor *parameter(const char *name) {
  SambaTensor *tensor;
  fine(sambaContextCreateParameter(context, SAMBA_DTYPE_F32, 1, (int64_t[]){8},
                                   sambaStringRef(name), &uniform, &tensor));
  assert_true(sambaTensorGetRequiresGrad(tensor));
  return tensor;
}

static bool isSame(const SambaTensor *a, const SambaTensor *b) {
  float first[8], second[8];
  fine(sambaTensorReadData(a, first, sizeof first));
  fine(sambaTensorReadData(b, second, sizeof second));
  return memcmp(first, second, sizeof first) == 0;
}

/* T031: the seed of the context fixes its numbers, which are PyTorch's: the values of the document
 * for set_seed(1); randn(2, 2). */
static void t031Seed(void **state) {
  (void)state;
  const float expected[] = {0.6614f, 0.2669f, 0.0617f, 0.6213f};
  SambaTensor *x;
  float found[4];
  sambaContextSetSeed(context, 1);
  fine(sambaTensorCreateRandn(sambaContextGetGenerator(context), SAMBA_DTYPE_F32, 2,
                              (int64_t[]){2, 2}, sambaStringRef("x"), &x));
  fine(sambaTensorReadData(x, found, sizeof found));
  for (int i = 0; i < 4; ++i)
    assert_true(fabsf(found[i] - expected[i]) < 5e-5f);
  sambaTensorRelease(x);
}

/* S031: parameters have data, unless the context is lazy; after SetLazy(NULL) they have again. */
static void s031Eager(void **state) {
  (void)state;
  SambaLazyOptions options = {.threads = 2};
  SambaTensor *first = parameter("first");
  assert_true(sambaTensorHasData(first));
  fine(sambaContextSetLazy(context, &options));
  SambaTensor *lazy = parameter("lazy");
  assert_false(sambaTensorHasData(lazy));
  fine(sambaContextSetLazy(context, NULL));
  SambaTensor *last = parameter("last");
  assert_true(sambaTensorHasData(last));

  sambaContextSetSeed(context, 5);
  SambaTensor *a = parameter("a");
  sambaContextSetSeed(context, 5);
  SambaTensor *again = parameter("a"), *other = parameter("a");
  assert_true(isSame(a, again));
  assert_false(isSame(a, other));
  drop(6, (SambaTensor *[]){first, lazy, last, a, again, other});
}

/* T019 S033: lazy parameters take no memory, and with a seed they do not depend on what was drawn
 * before. */
static void s033Lazy(void **state) {
  (void)state;
  SambaLazyOptions options = {.seeded = true, .seed = 3, .threads = 2};
  fine(sambaContextSetLazy(context, &options));
  SambaTensor *huge;
  fine(sambaContextCreateParameter(context, SAMBA_DTYPE_F32, 2,
                                   (int64_t[]){(int64_t)1 << 20, (int64_t)1 << 20},
                                   sambaStringRef("huge"), &uniform, &huge));
  assert_false(sambaTensorHasData(huge));
  SambaTensor *a = parameter("w"), *b = parameter("w");
  sambaContextSetSeed(context, 77);

  /* An operator makes them when it is computed. */
  SambaTensor *y = call1("neg", a);
  assert_false(sambaTensorHasData(a));
  fine(sambaTensorRealize(1, &y, NULL));
  assert_true(sambaTensorHasData(a));
  fine(sambaTensorMaterialize(b, sambaContextGetGenerator(context)));
  assert_true(isSame(a, b));
  fine(sambaContextSetLazy(context, NULL));
  drop(4, (SambaTensor *[]){huge, a, b, y});
}

/* S037: whether it is lazy can be asked; bad options change nothing. */
static void s037IsLazy(void **state) {
  (void)state;
  SambaLazyOptions options = {.threads = 1}, none = {.threads = 0};
  assert_false(sambaContextIsLazy(context));
  fine(sambaContextSetLazy(context, &options));
  assert_true(sambaContextIsLazy(context));
  SambaStatus status = sambaContextSetLazy(context, &none);
  assert_non_null(status);
  sambaStatusFree(status);
  assert_true(sambaContextIsLazy(context));
  fine(sambaContextSetLazy(context, NULL));
  assert_false(sambaContextIsLazy(context));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(t031Seed), cmocka_unit_test(s031Eager),
                                     cmocka_unit_test(s033Lazy), cmocka_unit_test(s037IsLazy)};
  return cmocka_run_group_tests_name("context", tests, makeContext, dropContext);
}
