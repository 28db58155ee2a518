/* Transcendental functions over the whole range of f32 against libm in f64, and the special cases of the C standard. */
#include "test/backend/sim/value/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const SambaDType F = SAMBA_DTYPE_F32;
enum { tokenElements = 4096 }; /* inputs come in multiples of it */

/* One lane operation over n elements of x and, for two operands, y, `token` of them per token. */
static void runTokens(SambaLaneOpcode opcode, const float *x, const float *y, float *out, uint32_t n, uint32_t token,
                      const char *cpu) {
  Builder b;
  builderInitialize(&b);
  uint32_t sx = builderSymbol(&b, "x", F, n, false), sy = builderSymbol(&b, "y", F, n, false),
           so = builderSymbol(&b, "o", F, n, true);
  memcpy(b.bindings[sx].data, x, 4ul * n);
  memcpy(b.bindings[sy].data, y, 4ul * n);
  SambaAccess access = builderAccess(2, 1, TRIPS(&b, n / token, token), STRIDES(&b, token, 1));
  uint32_t lx = builderLoad(&b, sx, access), ly = builderLoad(&b, sy, access), st = builderStore(&b, so, access);
  uint32_t cu = builderCompute(&b, 2, 1, TRIPS(&b, n / token, token));
  builderComputeInput(&b, cu, F, 1, token, STRIDES(&b, 0, 1));
  builderComputeInput(&b, cu, F, 1, token, STRIDES(&b, 0, 1));
  builderComputeOutput(&b, cu, F, 1, token, STRIDES(&b, 0, 1),
                       builderOp(&b, cu, opcode, F, 0, sambaLaneOpOperands(opcode) == 2, 0, 0));
  builderStream(&b, lx, 0, cu, 0);
  builderStream(&b, ly, 0, cu, 1);
  builderStream(&b, cu, 0, st, 0);
  SambaValuesOptions options = {.threads = 1, .cpu = cpu};
  SambaValuesStatistics statistics;
  SambaStatus status = builderRun(&b, "sn40l", &options, &statistics);
  assert_string_equal(sambaStatusGetMessage(status), "");
  memcpy(out, b.bindings[so].data, 4ul * n);
  builderDestroy(&b);
}

static void runOp(SambaLaneOpcode opcode, const float *x, const float *y, float *out, uint32_t n, const char *cpu) {
  runTokens(opcode, x, y, out, n, tokenElements, cpu);
}

/* Error of a in units in the last place of the f32 nearest to the exact value; 1e9 for a wrong special value. */
static double ulps(float a, double exact) {
  if (isnan(exact))
    return isnan(a) ? 0 : 1e9;
  if (isinf(a) || isinf((float)exact))
    return a == (float)exact ? 0 : fabs(exact) > 0x1.fffffep127 && fabsf(a) == FLT_MAX ? 1 : 1e9;
  if (exact == 0)
    return a == 0 && !signbit(a) == !signbit(exact) ? 0 : 1e9;
  int exponent = ilogb(exact) < -126 ? -126 : ilogb(exact);
  return fabs((double)a - exact) / ldexp(1, exponent - 23);
}

static double rsqrtOf(double x) { return (double)(1.0f / sqrtf((float)x)); }
static double sqrtOf(double x) { return (double)sqrtf((float)x); }

static const struct {
  SambaLaneOpcode opcode;
  const char *name;
  double (*exact)(double);
  double bound;
} unary[] = {{SAMBA_LANE_EXP, "exp", exp, 1.1},         {SAMBA_LANE_LOG, "log", log, 0.501},
             {SAMBA_LANE_SQRT, "sqrt", sqrtOf, 0},      {SAMBA_LANE_RSQRT, "rsqrt", rsqrtOf, 0},
             {SAMBA_LANE_TANH, "tanh", tanh, 0.501},    {SAMBA_LANE_ERF, "erf", erf, 0.501},
             {SAMBA_LANE_SIN, "sin", sin, 0.501},       {SAMBA_LANE_COS, "cos", cos, 0.501},
             {SAMBA_LANE_EXPM1, "expm1", expm1, 0.501}, {SAMBA_LANE_LOG1P, "log1p", log1p, 0.501},
             {SAMBA_LANE_ATAN, "atan", atan, 0.501}};

/* Patterns spread over all of f32, both signs, plus the corners. */
static uint32_t fillInputs(float *x) {
  static const uint32_t corners[] = {0,          0x80000000, 1,          0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF,
                                     0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x3F800000, 0xBF800000,
                                     0x42B17217, 0x42B17218, 0xC2CFF1B4, 0xC2CFF1B5, 0x3F490FDB, 0x3FC90FDB, 0x40490FDB,
                                     0x7F000000, 0x5F000000, 0x3F7FFFFF, 0x3F800001, 0x40800000, 0x41200000};
  uint32_t n = 0;
  for (uint32_t i = 0; i < sizeof corners / 4; ++i)
    memcpy(&x[n++], &corners[i], 4);
  for (uint64_t bits = 17; bits < UINT64_C(1) << 32; bits += 4093) {
    uint32_t pattern = (uint32_t)bits;
    memcpy(&x[n++], &pattern, 4);
  }
  for (double v = -110; v < 110; v += 0.0005) /* where most functions happen */
    x[n++] = (float)v;
  while (n % tokenElements)
    x[n++] = 1;
  return n;
}

static void testUnary(void **state) {
  (void)state;
  enum { capacity = 2000000 };
  float *x = malloc(4ul * capacity), *out = malloc(4ul * capacity), *wide = malloc(4ul * capacity);
  uint32_t n = fillInputs(x);
  for (size_t f = 0; f < sizeof unary / sizeof unary[0]; ++f) {
    runOp(unary[f].opcode, x, x, out, n, NULL);
    double worst = 0;
    float at = 0;
    for (uint32_t i = 0; i < n; ++i) {
      double error = ulps(out[i], unary[f].exact((double)x[i]));
      if (error > worst)
        worst = error, at = x[i];
    }
    printf("%-6s %.4f ulp at most, at %a\n", unary[f].name, worst, (double)at);
    assert_true(worst <= unary[f].bound);
    /* The same bits from code for a host without AVX and FMA. */
    enum { few = 128 * tokenElements };
    runOp(unary[f].opcode, x, x, wide, few, "x86-64");
    assert_memory_equal(out, wide, 4ul * few);
    /* And one by one, which no vector code does. */
    runTokens(unary[f].opcode, x, x, wide, 2 * tokenElements, 1, NULL);
    assert_memory_equal(out, wide, 8ul * tokenElements);
  }
  free(wide);
  free(out);
  free(x);
}

static void testPow(void **state) {
  (void)state;
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
  enum { count = sizeof corners / 4, n = 64 * tokenElements };
  float *x = malloc(4ul * n), *y = malloc(4ul * n), *out = malloc(4ul * n);
  srand48(3);
  for (int i = 0; i < n; ++i) {
    x[i] = i < count * count ? corners[i / count] : expf((float)(drand48() * 20 - 10));
    y[i] = i < count * count ? corners[i % count] : (float)(drand48() * 40 - 20);
  }
  runOp(SAMBA_LANE_POW, x, y, out, n, NULL);
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    double error = ulps(out[i], pow((double)x[i], (double)y[i]));
    if (error > 0.501)
      printf("pow(%a, %a) = %a\n", (double)x[i], (double)y[i], (double)out[i]);
    worst = error > worst ? error : worst;
  }
  printf("pow    %.4f ulp at most\n", worst);
  assert_true(worst <= 0.501);
  float *single = malloc(4ul * n);
  runTokens(SAMBA_LANE_POW, x, y, single, 2 * tokenElements, 1, NULL);
  assert_memory_equal(out, single, 8ul * tokenElements);
  free(single);
  free(out);
  free(y);
  free(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testUnary), cmocka_unit_test(testPow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
