/* Transcendental lane operations over the whole range of f32 against libm in f64, and the special
 * cases of the C standard; powers of integers.
 *
 * math_test samples; `math_test --all [NAME]` takes all 2^32 patterns, about two minutes for each
 * function: what docs/numerics.md records. */
#include "test/backend/sim/value/builder.h"
#include "test/backend/sim/value/sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double rsqrtOf(double x) { return (double)(1.0f / sqrtf((float)x)); }
static double sqrtOf(double x) { return (double)sqrtf((float)x); }

static const struct {
  SambaLaneOpcode opcode;
  SweepFunction function;
} unary[] = {
    {SAMBA_LANE_EXP, {"exp", exp, 1.1, 0}},         {SAMBA_LANE_LOG, {"log", log, 0.501, 0}},
    {SAMBA_LANE_SQRT, {"sqrt", sqrtOf, 0, 0}},      {SAMBA_LANE_RSQRT, {"rsqrt", rsqrtOf, 0, 0}},
    {SAMBA_LANE_TANH, {"tanh", tanh, 0.501, 0}},    {SAMBA_LANE_ERF, {"erf", erf, 0.501, 0}},
    {SAMBA_LANE_SIN, {"sin", sin, 0.501, 0}},       {SAMBA_LANE_COS, {"cos", cos, 0.501, 0}},
    {SAMBA_LANE_EXPM1, {"expm1", expm1, 0.501, 0}}, {SAMBA_LANE_LOG1P, {"log1p", log1p, 0.501, 0}},
    {SAMBA_LANE_ATAN, {"atan", atan, 0.501, 0}}};

static void check(size_t which, bool all) {
  SambaLaneOp op = {.opcode = (uint8_t)unary[which].opcode, .type = SAMBA_DTYPE_F32};
  sweepCheck(&unary[which].function, &(SweepProgram){1, &op, 2}, all);
}

static void testUnary(void **state) {
  (void)state;
  for (size_t f = 0; f < sizeof unary / sizeof unary[0]; ++f)
    check(f, false);
}

/* Where pow has a rule of its own, and numbers next to those. */
static const float corners[] = {0.0f,
                                -0.0f,
                                1,
                                -1,
                                2,
                                -2,
                                3,
                                -3,
                                0.5f,
                                -0.5f,
                                1.5f,
                                -2.5f,
                                100,
                                -101,
                                0x1p-149f,
                                -0x1p-149f,
                                0x1.fffffep127f,
                                INFINITY,
                                -INFINITY,
                                NAN,
                                0x1p24f,
                                0x1.000002p24f,
                                -0x1.fffffep23f,
                                1e-3f,
                                0x1.fffffep-1f,
                                0x1.000002p0f,
                                1e30f,
                                -1e30f};

static void testPow(void **state) {
  (void)state;
  enum { count = sizeof corners / 4, n = 64 * sweepToken };
  float *x = malloc(4ul * n);
  float *y = malloc(4ul * n);
  float *out = malloc(4ul * n);
  float *single = malloc(4ul * n);

  srand48(3);
  for (int i = 0; i < n; ++i) {
    x[i] = i < count * count ? corners[i / count] : expf((float)(drand48() * 20 - 10));
    y[i] = i < count * count ? corners[i % count] : (float)(drand48() * 40 - 20);
  }

  SambaLaneOp op = {.opcode = SAMBA_LANE_POW, .type = SAMBA_DTYPE_F32, .operands = {0, 1}};
  SweepProgram program = {1, &op, 2};
  sweepRun(&program, x, y, out, n, sweepToken, NULL);
  double worst = 0;

  for (int i = 0; i < n; ++i) {
    double error = sweepUlps(out[i], pow((double)x[i], (double)y[i]));
    if (error > 0.501)
      printf("pow(%a, %a) = %a\n", (double)x[i], (double)y[i], (double)out[i]);
    worst = error > worst ? error : worst;
  }

  printf("pow          %.4f ulp at most\n", worst);
  assert_true(worst <= 0.501);
  sweepRun(&program, x, y, single, 2 * sweepToken, 1, NULL);
  assert_memory_equal(out, single, 8ul * sweepToken);
  free(single);
  free(out);
  free(y);
  free(x);
}

/* pow of i32 or i64, a token of n. */
static void runIntegers(SambaDType type, const int64_t *x, const int64_t *y, int64_t *out,
                        uint32_t n) {
  Builder builder;
  builderInitialize(&builder);
  const int64_t *in[2] = {x, y};
  uint32_t symbols[3];
  uint32_t loads[2];
  uint32_t width = sambaDTypeBytes(type);

  for (int k = 0; k < 3; ++k)
    symbols[k] = builderSymbol(&builder, (const char *[]){"x", "y", "o"}[k], type, n, k == 2);
  SambaAccess access = builderAccess(1, 0, TRIPS(&builder, n), STRIDES(&builder, 1));
  for (int k = 0; k < 2; ++k) {
    for (uint32_t i = 0; i < n; ++i)
      memcpy((uint8_t *)builder.bindings[symbols[k]].data + i * width, &in[k][i], width);
    loads[k] = builderLoad(&builder, symbols[k], access);
  }

  uint32_t store = builderStore(&builder, symbols[2], access);
  uint32_t unit = builderCompute(&builder, 1, 0, TRIPS(&builder, n));
  builderComputeInput(&builder, unit, type, 0, n, STRIDES(&builder, 1));
  builderComputeInput(&builder, unit, type, 0, n, STRIDES(&builder, 1));
  builderComputeOutput(&builder, unit, type, 0, n, STRIDES(&builder, 1),
                       builderOp(&builder, unit, SAMBA_LANE_POW, type, 0, 1, 0, 0));
  builderStream(&builder, loads[0], 0, unit, 0);
  builderStream(&builder, loads[1], 0, unit, 1);
  builderStream(&builder, unit, 0, store, 0);
  SambaStatus status = builderRun(&builder, "sn40l", NULL, NULL);
  assert_string_equal(sambaStatusGetMessage(status), "");

  for (uint32_t i = 0; i < n; ++i) {
    int32_t narrow;
    memcpy(width == 8 ? (void *)&out[i] : (void *)&narrow,
           (uint8_t *)builder.bindings[symbols[2]].data + i * width, width);
    out[i] = width == 8 ? out[i] : narrow;
  }

  builderDestroy(&builder);
}

static void testIntegerPow(void **state) {
  (void)state;
  static const int64_t base[] = {3, 0, 0,  0, 1,  1, -1,        -1, -1, 2, 2,
                                 2, 2, -2, 7, 10, 5, INT32_MIN, 3,  -3, 2};
  static const int64_t exponent[] = {13, 0,  5,  -1, INT32_MAX, -7, 4, 5,  -5, 31, 32,
                                     63, -1, 31, 9,  9,         27, 1, 40, 41, 62};
  enum { n = sizeof base / sizeof *base };
  int64_t out[n];

  for (int wide = 0; wide < 2; ++wide) {
    runIntegers(wide ? SAMBA_DTYPE_I64 : SAMBA_DTYPE_I32, base, exponent, out, n);
    for (int i = 0; i < n; ++i) {
      int64_t expected = exponent[i] >= 0 || base[i] == 1 ? 1 : 0;
      if (exponent[i] < 0 && base[i] == -1)
        expected = exponent[i] % 2 ? -1 : 1;
      int64_t steps = base[i] == 1 ? 0 : exponent[i]; /* one by one, wrapping */
      for (int64_t k = 0; k < steps; ++k)
        expected = (int64_t)((uint64_t)expected * (uint64_t)base[i]);
      assert_int_equal(out[i], wide ? expected : (int32_t)expected);
    }
  }
}

static void testAll(void **state) {
  const char *only = *state;
  for (size_t f = 0; f < sizeof unary / sizeof unary[0]; ++f)
    if (!only || strcmp(only, unary[f].function.name) == 0)
      check(f, true);
}

int main(int count, char **words) {
  bool everything = count > 1 && strcmp(words[1], "--all") == 0;
  const struct CMUnitTest all[] = {cmocka_unit_test_prestate(testAll, count > 2 ? words[2] : NULL)};
  const struct CMUnitTest tests[] = {cmocka_unit_test(testUnary), cmocka_unit_test(testPow),
                                     cmocka_unit_test(testIntegerPow)};
  return everything ? cmocka_run_group_tests(all, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
