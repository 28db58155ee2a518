/* Lazy tensors: what is computed, when, and how often. */
#include "test/libsamba/checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const int64_t twoByThree[] = {2, 3};

/* T017: host use goes by lazy operators; y = a + b is there after realize. */
static void t017Add(void **state) {
  (void)state;
  SambaTensor *a = vector(4, (float[]){1, 2, 3, 4}), *b = vector(4, (float[]){10, 20, 30, 40});
  SambaTensor *y = call2("add", a, b);
  assert_false(sambaTensorIsRealized(y));
  assert_int_equal(sambaTensorGetDims(y)[0], 4);
  fine(sambaTensorRealize(1, &y, NULL));
  expectNumbers(y, 4, (float[]){11, 22, 33, 44});
  drop(3, (SambaTensor *[]){a, b, y});
}

/* N023: realizing again launches nothing, and neither does a tensor that has data. */
static void n023RealizedIsLeftAlone(void **state) {
  (void)state;
  SambaTensor *a = vector(3, (float[]){-1, 0, 2});
  SambaTensor *y = call1("relu", a);
  fine(sambaTensorRealize(1, &y, NULL));
  SambaContextStatistics before = statistics();
  fine(sambaTensorRealize(1, &y, NULL));
  fine(sambaTensorRealize(1, &a, NULL));
  SambaContextStatistics after = statistics();
  assert_int_equal(after.launches, before.launches);
  assert_int_equal(after.compilations, before.compilations);
  expectNumbers(y, 3, (float[]){0, 0, 2});

  /* A realized tensor is an input of what uses it: one section more, not two. */
  SambaTensor *z = call1("neg", y);
  fine(sambaTensorRealize(1, &z, NULL));
  expectNumbers(z, 3, (float[]){0, 0, -2});
  drop(3, (SambaTensor *[]){a, y, z});
}

/* N023: statistics stay as they are when asked to. */
static void n023Statistics(void **state) {
  (void)state;
  SambaTensor *a = vector(3, (float[]){1, 4, 9});
  SambaTensor *y = call1("sqrt", a), *z = call1("rsqrt", a);
  SambaContextStatistics before = statistics();
  SambaRealizeOptions options = {.keep_statistics = true};
  fine(sambaTensorRealize(1, &y, &options));
  SambaContextStatistics between = statistics();
  assert_int_equal(between.launches, before.launches);
  assert_int_equal(between.cycles, before.cycles);
  fine(sambaTensorRealize(1, &z, NULL));
  SambaContextStatistics after = statistics();
  assert_true(after.launches > between.launches);
  assert_true(after.cycles > between.cycles);
  expectNumbers(y, 3, (float[]){1, 2, 3});
  drop(3, (SambaTensor *[]){a, y, z});
}

/* N020 N021: several tensors together; what they share is there once; a tensor is scheduled once.
 */
static void n020Schedule(void **state) {
  (void)state;
  SambaTensor *a = vector(4, (float[]){1, 2, 3, 4});
  SambaTensor *shared = call1("exp", a);
  SambaTensor *y = call1("neg", shared), *z = call2("add", shared, shared);
  SambaTensor *both[] = {y, z};
  SambaSchedule *schedule, *another;
  fine(sambaTensorSchedule(2, both, &schedule));
  assert_int_equal(sambaScheduleGetOperatorCount(schedule), 3);
  assert_true(sambaScheduleGetCallCount(schedule) > 0);
  assert_false(sambaTensorIsRealized(y));
  expectError(sambaTensorSchedule(1, &y, &another),
              "is already scheduled; run or destroy that schedule first");
  assert_null(another);
  expectError(sambaTensorRealize(1, &z, NULL), "is already scheduled");

  fine(sambaScheduleRun(schedule));
  expectNumbers(y, 4, (float[]){-2.7182818f, -7.3890561f, -20.085537f, -54.59815f});
  expectNumbers(z, 4, (float[]){5.4365637f, 14.778112f, 40.171074f, 109.1963f});
  assert_false(sambaTensorIsRealized(shared)); /* nobody asked for it */
  expectError(sambaScheduleRun(schedule), "the schedule has run already; make another one");
  sambaScheduleDestroy(schedule);
  drop(4, (SambaTensor *[]){a, shared, y, z});
}

/* N020: a schedule that is destroyed leaves its tensors as they were. */
static void n020Destroyed(void **state) {
  (void)state;
  SambaTensor *a = vector(2, (float[]){1, 2});
  SambaTensor *y = call1("neg", a);
  SambaSchedule *schedule;
  fine(sambaTensorSchedule(1, &y, &schedule));
  sambaScheduleDestroy(schedule);
  fine(sambaTensorRealize(1, &y, NULL));
  expectNumbers(y, 2, (float[]){-1, -2});

  fine(sambaTensorSchedule(1, &y, &schedule)); /* there is nothing to do */
  assert_int_equal(sambaScheduleGetOperatorCount(schedule), 0);
  assert_int_equal(sambaScheduleGetCallCount(schedule), 0);
  fine(sambaScheduleRun(schedule));
  sambaScheduleDestroy(schedule);
  drop(2, (SambaTensor *[]){a, y});
}

/* N022: what lies between the operators shares device memory: less than the sum. */
static void n022Memory(void **state) {
  (void)state;
  enum { side = 96, layers = 8 };
  const int64_t dims[] = {side, side};
  float *data = calloc(side * side, sizeof *data);
  for (int i = 0; i < side; ++i)
    data[i * side + i] = 2;
  SambaTensor *w = numbers(2, dims, data), *y = sambaTensorRetain(w);
  for (int i = 0; i < layers; ++i) {
    SambaTensor *next = call2("matmul", y, w);
    sambaTensorRelease(y);
    y = next;
  }

  SambaSchedule *schedule;
  uint64_t planned, all;
  fine(sambaTensorSchedule(1, &y, &schedule));
  sambaScheduleGetMemory(schedule, &planned, &all);
  assert_int_equal(sambaScheduleGetOperatorCount(schedule), layers);
  assert_true(planned > 0);
  assert_true(planned < all);
  fine(sambaScheduleRun(schedule));
  fine(sambaTensorReadData(y, data, side * side * (int64_t)sizeof *data));
  assert_true(data[0] == 512 && data[1] == 0 && data[side * side - 1] == 512);
  sambaScheduleDestroy(schedule);
  free(data);
  drop(2, (SambaTensor *[]){w, y});
}

/* The same graph on other data is not compiled again. */
static void testCompiledOnce(void **state) {
  (void)state;
  uint64_t before = 0;
  for (int i = 0; i < 3; ++i) {
    float data[] = {(float)i, 2, 3};
    SambaTensor *a = vector(3, data), *y = call2("mul", a, a);
    fine(sambaTensorRealize(1, &y, NULL));
    expectNumbers(y, 3, (float[]){(float)(i * i), 4, 9});
    if (!i)
      before = statistics().compilations;
    drop(2, (SambaTensor *[]){a, y});
  }
  assert_int_equal(statistics().compilations, before);
}

/* Results of several kinds, and of several tensors: topk has two. */
static void testSeveralResults(void **state) {
  (void)state;
  SambaTensor *a = vector(5, (float[]){3, 9, 1, 7, 5}), *results[2];
  SambaAttribute k = sambaIntAttribute("k", 2);
  fine(sambaTensorOperator(context, "topk", 1, &a, 1, &k, results));
  assert_int_equal(sambaTensorGetDType(results[1]), SAMBA_DTYPE_I64);
  fine(sambaTensorRealize(1, &results[1], NULL));
  int64_t found[2];
  fine(sambaTensorReadData(results[1], found, sizeof found));
  assert_int_equal(found[0], 1);
  assert_int_equal(found[1], 3);
  fine(sambaTensorRealize(1, results, NULL));
  expectNumbers(results[0], 2, (float[]){9, 7});
  drop(3, (SambaTensor *[]){a, results[0], results[1]});
}

/* N040: contiguous gives a row-major copy of a permuted tensor. */
static void n040Contiguous(void **state) {
  (void)state;
  SambaTensor *a = numbers(2, twoByThree, (float[]){1, 2, 3, 4, 5, 6}), *turned;
  SambaAttribute dims = sambaIntsAttribute("dims", (int64_t[]){1, 0}, 2);
  fine(sambaTensorOperator(context, "permute", 1, &a, 1, &dims, &turned));
  SambaTensor *y = call1("contiguous", turned);
  fine(sambaTensorRealize(1, &y, NULL));
  assert_int_equal(sambaTensorGetStrides(y)[0], 2);
  assert_int_equal(sambaTensorGetStrides(y)[1], 1);
  expectNumbers(y, 6, (float[]){1, 4, 2, 5, 3, 6});
  drop(3, (SambaTensor *[]){a, turned, y});
}

/* A chain that is longer than the stack is deep is traced and freed without recursion. */
static void testLongChain(void **state) {
  (void)state;
  SambaTensor *y = vector(2, (float[]){1, 2});
  for (int i = 0; i < 200000; ++i) {
    SambaTensor *next = call1("neg", y);
    sambaTensorRelease(y);
    y = next;
  }
  sambaTensorRelease(y);
}

/* Strided data of the caller and data that a function makes are operands like others. */
static SambaStatus fillWithThree(void *user, const SambaMaterializeRequest *request) {
  ++*(int *)user;
  for (int64_t i = 0; i < request->bytes / (int64_t)sizeof(float); ++i)
    ((float *)request->data)[i] = 3;
  return NULL;
}

static void testOperands(void **state) {
  (void)state;
  float data[] = {1, 0, 2, 0, 3, 0};
  SambaBufferView view = {data, SAMBA_DTYPE_F32, 1, (int64_t[]){3}, (int64_t[]){2}};
  SambaTensor *strided, *made;
  int calls = 0;
  fine(sambaTensorCreateFromBuffer(&view, sambaStringRef("strided"), &strided));
  fine(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, 1, (int64_t[]){3}, sambaStringRef(""), &made));
  sambaTensorSetMaterializer(made, fillWithThree, &calls, NULL);
  SambaTensor *y = call2("mul", strided, made);
  assert_int_equal(calls, 0);
  fine(sambaTensorRealize(1, &y, NULL));
  assert_int_equal(calls, 1);
  expectNumbers(y, 3, (float[]){3, 6, 9});
  drop(3, (SambaTensor *[]){strided, made, y});
}

/* A view of what is not computed yet is computed with it, also as an operand. */
static void testViewOfLazy(void **state) {
  (void)state;
  SambaTensor *a = numbers(2, twoByThree, (float[]){1, 2, 3, 4, 5, 6}), *turned, *b;
  SambaTensor *y = call1("neg", a);
  fine(sambaTensorTranspose2D(y, &turned));
  assert_false(sambaTensorIsRealized(turned));
  fine(sambaTensorTranspose2D(y, &b));
  SambaTensor *z = call2("add", b, b);
  fine(sambaTensorRealize(1, &z, NULL)); /* computes y on the way */
  expectNumbers(z, 6, (float[]){-2, -8, -4, -10, -6, -12});
  fine(sambaTensorMaterialize(turned, NULL));
  expectNumbers(turned, 6, (float[]){-1, -4, -2, -5, -3, -6});
  drop(5, (SambaTensor *[]){a, turned, b, y, z});
}

static void testErrors(void **state) {
  (void)state;
  SambaTensor *a = vector(3, (float[]){1, 2, 3}), *b = vector(4, (float[]){1, 2, 3, 4}), *y;
  SambaTensor *operands[] = {a, b};
  expectError(sambaTensorOperator(context, "add", 2, operands, 0, NULL, &y), "add: ");
  assert_null(y);
  expectError(sambaTensorOperator(context, "ad", 2, operands, 0, NULL, &y),
              "ad: there is no such operator");
  operands[1] = NULL;
  expectError(sambaTensorOperator(context, "add", 2, operands, 0, NULL, &y),
              "add: operand 1 is missing");

  SambaTensor *wide, *empty, *deep;
  fine(sambaTensorCreateZeros(SAMBA_DTYPE_F64, 1, (int64_t[]){3}, sambaStringRef("wide"), &wide));
  expectError(sambaTensorOperator(context, "neg", 1, &wide, 0, NULL, &y),
              "neg: tensor 'wide' of shape 3xf64: no device has this type; cast it to f32 first");
  const int64_t nine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  fine(sambaTensorCreateZeros(SAMBA_DTYPE_F32, 9, nine, sambaStringRef(""), &deep));
  expectError(sambaTensorOperator(context, "neg", 1, &deep, 0, NULL, &y),
              "graphs hold tensors of rank 8 at most");
  fine(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, 1, (int64_t[]){3}, sambaStringRef("e"), &empty));
  y = call1("neg", empty);
  expectError(sambaTensorRealize(1, &y, NULL), "has no data and no materializer");

  SambaContext *other;
  SambaTensor *foreign, *z;
  fine(sambaContextCreate(&other));
  fine(sambaTensorOperator(other, "neg", 1, &b, 0, NULL, &foreign));
  expectError(sambaTensorOperator(context, "neg", 1, &foreign, 0, NULL, &z),
              "belongs to another context; realize and clone it");
  SambaTensor *mine = call1("neg", a);
  expectError(sambaTensorRealize(2, (SambaTensor *[]){mine, foreign}, NULL),
              "belongs to another context than the tensors before it");
  drop(8, (SambaTensor *[]){a, b, wide, deep, empty, y, foreign, mine});
  sambaContextDestroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t017Add),          cmocka_unit_test(n023RealizedIsLeftAlone),
      cmocka_unit_test(n023Statistics),   cmocka_unit_test(n020Schedule),
      cmocka_unit_test(n020Destroyed),    cmocka_unit_test(n022Memory),
      cmocka_unit_test(testCompiledOnce), cmocka_unit_test(testSeveralResults),
      cmocka_unit_test(n040Contiguous),   cmocka_unit_test(testLongChain),
      cmocka_unit_test(testOperands),     cmocka_unit_test(testViewOfLazy),
      cmocka_unit_test(testErrors)};
  return cmocka_run_group_tests_name("lazy", tests, makeContext, dropContext);
}
