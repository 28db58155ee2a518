/* A matrix product through loads, buffers, systolic units and a store, against a plain
 * triple loop. */
#include "test/backend/sim/value/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

static const SambaDType F = SAMBA_DTYPE_F32;

/* C[M][N] = A[M][K] * B (B [K][N], or [N][K] when transposed), tiles of tm x tn x tk, reductions
 * parked between chunks. */
static void buildMatmul(Builder *builder, int64_t M, int64_t N, int64_t K, int64_t tm, int64_t tn,
                        int64_t tk, bool transposed, bool relu) {
  uint32_t a = builderSymbol(builder, "a", F, (uint64_t)(M * K), false);
  uint32_t w = builderSymbol(builder, "b", F, (uint64_t)(K * N), false);
  uint32_t c = builderSymbol(builder, "c", F, (uint64_t)(M * N), true);
  uint32_t im = (uint32_t)(M / tm);
  uint32_t in = (uint32_t)(N / tn);
  uint32_t ik = (uint32_t)(K / tk);
  uint32_t um = (uint32_t)tm;
  uint32_t un = (uint32_t)tn;
  uint32_t uk = (uint32_t)tk;
  uint32_t la = builderLoad(builder, a,
                            builderAccess(5, 3, TRIPS(builder, im, in, ik, um, uk),
                                          STRIDES(builder, tm * K, 0, tk, K, 1)));
  uint32_t lb = transposed ? builderLoad(builder, w,
                                         builderAccess(5, 3, TRIPS(builder, im, in, ik, un, uk),
                                                       STRIDES(builder, 0, tn * K, tk, K, 1)))
                           : builderLoad(builder, w,
                                         builderAccess(5, 3, TRIPS(builder, im, in, ik, uk, un),
                                                       STRIDES(builder, 0, tn, tk * N, N, 1)));
  uint32_t ba = builderBuffer(builder, F, 2, (uint64_t)(tm * tk));
  uint32_t bb = builderBuffer(builder, F, 2, (uint64_t)(tn * tk));
  SambaAccess slot_a =
      builderAccess(2, 1, TRIPS(builder, im * in * ik, um * uk), STRIDES(builder, 0, 1));
  SambaAccess slot_b =
      builderAccess(2, 1, TRIPS(builder, im * in * ik, un * uk), STRIDES(builder, 0, 1));

  /* The array takes a step of k after the other. */
  SambaAccess steps_a =
      builderAccess(3, 1, TRIPS(builder, im * in * ik, uk, um), STRIDES(builder, 0, 1, tk));
  SambaAccess steps_b =
      builderAccess(3, 1, TRIPS(builder, im * in * ik, uk, un),
                    transposed ? STRIDES(builder, 0, 1, tk) : STRIDES(builder, 0, tn, 1));

  slot_a.slot_level = slot_b.slot_level = steps_a.slot_level = steps_b.slot_level = 1;
  builderBufferWrite(builder, ba, slot_a);
  builderBufferRead(builder, ba, steps_a);
  builderBufferWrite(builder, bb, slot_b);
  builderBufferRead(builder, bb, steps_b);
  uint32_t mm = builderCompute(builder, 6, 3, TRIPS(builder, im, in, ik, uk, um, un));
  builderComputeInput(builder, mm, F, 3, (uint64_t)(tm * tk), STRIDES(builder, 0, 0, 0, tm, 1, 0));
  builderComputeInput(builder, mm, F, 3, (uint64_t)(tn * tk), STRIDES(builder, 0, 0, 0, tn, 0, 1));
  uint32_t value = builderOp(builder, mm, SAMBA_LANE_MAC, F, 0, 1, 0, 0);
  builder->section.units[mm].compute.program.systolic = true;
  builder->section.units[mm].compute.program.reduce_mask = 1 << 2 | 1 << 3;
  if (relu) {
    uint32_t zero = builderOp(builder, mm, SAMBA_LANE_CONSTANT, F, 0, 0, 0, 0);
    value = builderOp(builder, mm, SAMBA_LANE_MAX, F, value, zero, 0, 0);
  }

  builderComputeOutput(builder, mm, F, 2, (uint64_t)(tm * tn), STRIDES(builder, 0, 0, 0, 0, tn, 1),
                       value);
  uint32_t st = builderStore(
      builder, c,
      builderAccess(4, 2, TRIPS(builder, im, in, um, un), STRIDES(builder, tm * N, tn, N, 1)));
  builderStream(builder, la, 0, ba, 0);
  builderStream(builder, lb, 0, bb, 0);
  builderStream(builder, ba, 0, mm, 0);
  builderStream(builder, bb, 0, mm, 1);
  builderStream(builder, mm, 0, st, 0);
}

static void runMatmul(int64_t m, int64_t n, int64_t k, int64_t tm, int64_t tn, int64_t tk,
                      bool transposed, bool relu, const char *cpu) {
  Builder builder;
  builderInitialize(&builder);
  buildMatmul(&builder, m, n, k, tm, tn, tk, transposed, relu);
  float *a = (float *)(void *)builder.bindings[0].data;
  float *w = (float *)(void *)builder.bindings[1].data;
  float *c = (float *)(void *)builder.bindings[2].data;

  srand48(m * 31 + n * 7 + k);
  for (int64_t i = 0; i < m * k; ++i)
    a[i] = (float)drand48() - 0.5f;
  for (int64_t i = 0; i < n * k; ++i)
    w[i] = (float)drand48() - 0.5f;
  SambaValuesOptions options = {.threads = 1, .cpu = cpu};
  SambaStatus status = builderRun(&builder, "sn40l", &options, NULL);
  assert_string_equal(sambaStatusGetMessage(status), "");
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      float sum = 0;
      for (int64_t i = 0; i < k; ++i)
        sum = fmaf(a[row * k + i], transposed ? w[column * k + i] : w[i * n + column], sum);
      if (relu && sum < 0)
        sum = 0;
      assert_memory_equal(&sum, &c[row * n + column], 4);
    }

  builderDestroy(&builder);
}

static void testShapes(void **state) {
  (void)state;
  static const char *const cpus[] = {NULL, "x86-64-v3", "x86-64"};
  for (int i = 0; i < 3; ++i) {
    runMatmul(64, 64, 64, 64, 64, 64, false, false, cpus[i]);
    runMatmul(64, 64, 64, 16, 32, 16, false, true, cpus[i]);
    runMatmul(40, 24, 36, 20, 12, 9, true, false, cpus[i]);
    runMatmul(33, 7, 50, 11, 7, 25, true, true, cpus[i]);
    runMatmul(7, 66, 10, 7, 33, 5, false, true, cpus[i]);
    runMatmul(1, 48, 64, 1, 48, 32, true, false, cpus[i]);
    runMatmul(48, 1, 64, 48, 1, 32, false, false, cpus[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testShapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
