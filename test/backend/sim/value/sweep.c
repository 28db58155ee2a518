/* See sweep.h. */
#include "test/backend/sim/value/sweep.h"

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

void sweepRun(const SweepProgram *program, const float *x, const float *y, float *out, uint32_t n,
              uint32_t token, const char *cpu) {
  Builder builder;
  builderInitialize(&builder);
  uint32_t sx = builderSymbol(&builder, "x", F, n, false);
  uint32_t sy = builderSymbol(&builder, "y", F, n, false);
  uint32_t so = builderSymbol(&builder, "o", F, n, true);

  memcpy(builder.bindings[sx].data, x, 4ul * n);
  memcpy(builder.bindings[sy].data, y, 4ul * n);
  SambaAccess access =
      builderAccess(2, 1, TRIPS(&builder, n / token, token), STRIDES(&builder, token, 1));
  uint32_t lx = builderLoad(&builder, sx, access);
  uint32_t ly = builderLoad(&builder, sy, access);
  uint32_t st = builderStore(&builder, so, access);
  uint32_t cu = builderCompute(&builder, 2, 1, TRIPS(&builder, n / token, token));
  builderComputeInput(&builder, cu, F, 1, token, STRIDES(&builder, 0, 1));
  builderComputeInput(&builder, cu, F, 1, token, STRIDES(&builder, 0, 1));
  builder.section.units[cu].compute.program.ops = program->ops;
  builder.section.units[cu].compute.program.op_count = program->op_count;
  builderComputeOutput(&builder, cu, F, 1, token, STRIDES(&builder, 0, 1), program->result);
  builderStream(&builder, lx, 0, cu, 0);
  builderStream(&builder, ly, 0, cu, 1);
  builderStream(&builder, cu, 0, st, 0);
  SambaValuesOptions options = {.threads = 1, .cpu = cpu};
  SambaStatus status = builderRun(&builder, "sn40l", &options, NULL);
  assert_string_equal(sambaStatusGetMessage(status), "");
  memcpy(out, builder.bindings[so].data, 4ul * n);
  builderDestroy(&builder);
}

double sweepUlps(float a, double exact) {
  if (isnan(exact))
    return isnan(a) ? 0 : 1e9;
  if (isinf(a) || isinf((float)exact)) {
    if (a == (float)exact)
      return 0;
    return fabs(exact) > 0x1.fffffep127 && fabsf(a) == FLT_MAX ? 1 : 1e9;
  }
  if (exact == 0)
    return a == 0 && !signbit(a) == !signbit(exact) ? 0 : 1e9;
  int exponent = ilogb(exact) < -126 ? -126 : ilogb(exact);
  return fabs((double)a - exact) / ldexp(1, exponent - 23);
}

uint32_t sweepFill(float *x) {
  static const uint32_t corners[] = {
      0,          0x80000000, 1,          0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF,
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
  while (n % sweepToken)
    x[n++] = 1;
  return n;
}

typedef struct {
  double error;
  float at;
} Worst;

static void measure(const SweepFunction *function, const float *x, const float *out, uint32_t n,
                    Worst *worst) {
  for (uint32_t i = 0; i < n; ++i) {
    double exact = function->exact((double)x[i]);
    if (out[i] == (float)exact && worst->error >= 0.5) /* correctly rounded */
      continue;
    double error = sweepUlps(out[i], exact);
    if (error > worst->error && !(fabs((double)out[i] - exact) <= function->slack))
      *worst = (Worst){error, x[i]};
  }
}

static void sample(const SweepFunction *function, const SweepProgram *program, Worst *worst) {
  enum { few = 128 * sweepToken };
  float *x = malloc(4ul * sweepCapacity);
  float *out = malloc(4ul * sweepCapacity);
  float *again = malloc(4ul * few);
  uint32_t n = sweepFill(x);

  sweepRun(program, x, x, out, n, sweepToken, NULL);
  measure(function, x, out, n, worst);
  sweepRun(program, x, x, again, few, sweepToken, "x86-64");
  assert_memory_equal(out, again, 4ul * few);
  sweepRun(program, x, x, again, 2 * sweepToken, 1, NULL); /* which no vector code does */
  assert_memory_equal(out, again, 8ul * sweepToken);
  free(again);
  free(out);
  free(x);
}

static void everything(const SweepFunction *function, const SweepProgram *program, Worst *worst) {
  enum { block = 1 << 24 };
  float *x = malloc(4ul * block);
  float *out = malloc(4ul * block);
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += block) {
    for (uint32_t i = 0; i < block; ++i) {
      uint32_t pattern = (uint32_t)bits + i;
      memcpy(&x[i], &pattern, 4);
    }
    sweepRun(program, x, x, out, block, sweepToken, NULL);
    measure(function, x, out, block, worst);
  }
  free(out);
  free(x);
}

void sweepCheck(const SweepFunction *function, const SweepProgram *program, bool all) {
  Worst worst = {0, 0};
  if (all)
    everything(function, program, &worst);
  else
    sample(function, program, &worst);
  printf("%-12s %.4f ulp at most, at %a\n", function->name, worst.error, (double)worst.at);
  fflush(stdout);
  if (!(worst.error <= function->bound))
    fail_msg("%s: the bound is %g ulp", function->name, function->bound);
}
