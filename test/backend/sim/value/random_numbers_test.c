/* The random operators uniform and normal on the value engine: the generator's published vectors, a
 * second implementation bit for bit, the same numbers whatever the tokens are, and statistics of a
 * million numbers. */
#include "dialect/samba/table/registry/registry.h"
#include "test/backend/sim/value/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { numbers = 1 << 20 };

/* Philox2x32-10 as its paper writes it. */
static void philox(uint32_t counter[2], uint32_t key) {
  for (int round = 0; round < 10; ++round, key += 0x9E3779B9u) {
    uint64_t product = (uint64_t)0xD256D193u * counter[0];
    counter[0] = (uint32_t)(product >> 32) ^ key ^ counter[1];
    counter[1] = (uint32_t)product;
  }
}

/* n numbers of the operator for a result of (n / token) x token. */
static void draw(const char *name, int64_t seed, float *out, uint32_t n, uint32_t token) {
  Builder builder;
  builderInitialize(&builder);
  int64_t shape[2] = {n / token, token};
  SambaAttribute attributes[] = {sambaIntsAttribute("shape", shape, 2),
                                 sambaDTypeAttribute("dtype", SAMBA_DTYPE_F32)};
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I64};
  SambaOperatorCall call = {.operator = sambaOperatorFind(sambaStringRef(name)),
                            .operand_count = 1,
                            .operands = &type,
                            .attribute_count = 2,
                            .attributes = attributes};
  SambaStageGraph graph = {.arena = &builder.arena, .name = "draw"};
  SambaStageTensor tensor = {.name = "x", .dtype = SAMBA_DTYPE_I64};
  uint32_t operand = sambaStageGraphAddTensor(&graph, &tensor);

  tensor = (SambaStageTensor){
      .name = "x", .dtype = SAMBA_DTYPE_F32, .rank = 2, .dims = {shape[0], shape[1]}};
  uint32_t result = sambaStageGraphAddTensor(&graph, &tensor);
  assert_null(call.operator->stages(&call, &graph, &operand, &result, ""));
  const SambaStage *stage = &graph.stages[0];
  uint32_t in = builderSymbol(&builder, "seed", SAMBA_DTYPE_I64, 1, false);
  uint32_t to = builderSymbol(&builder, "o", SAMBA_DTYPE_F32, n, true);
  memcpy(builder.bindings[in].data, &seed, sizeof seed);
  uint32_t load =
      builderLoad(&builder, in, builderAccess(1, 0, TRIPS(&builder, 1), STRIDES(&builder, 1)));
  uint32_t store = builderStore(
      &builder, to,
      builderAccess(2, 1, TRIPS(&builder, n / token, token), STRIDES(&builder, token, 1)));
  uint32_t unit = builderCompute(&builder, 2, 1, TRIPS(&builder, n / token, token));
  builderComputeInput(&builder, unit, SAMBA_DTYPE_I64, 0, 1, STRIDES(&builder, 0, 0));
  builder.section.units[unit].compute.program.ops = stage->ops;
  builder.section.units[unit].compute.program.op_count = stage->op_count;
  builderComputeOutput(&builder, unit, SAMBA_DTYPE_F32, 1, token, STRIDES(&builder, 0, 1),
                       stage->result);
  builderStream(&builder, load, 0, unit, 0);
  builderStream(&builder, unit, 0, store, 0);
  SambaStatus status = builderRun(&builder, "sn40l", NULL, NULL);
  assert_string_equal(sambaStatusGetMessage(status), "");
  memcpy(out, builder.bindings[to].data, sizeof *out * n);
  builderDestroy(&builder);
}

static void testVectors(void **state) {
  (void)state;
  static const struct {
    uint32_t counter[2], key, expected[2];
  } known[] = {{{0, 0}, 0, {0xFF1DAE59, 0x6CD10DF2}},
               {{0xFFFFFFFF, 0xFFFFFFFF}, 0xFFFFFFFF, {0x2C3F628B, 0xAB4FD7AD}},
               {{0x243F6A88, 0x85A308D3}, 0x13198A2E, {0xDD7CE038, 0xF62A4C12}}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    uint32_t counter[2] = {known[i].counter[0], known[i].counter[1]};
    philox(counter, known[i].key);
    assert_memory_equal(counter, known[i].expected, sizeof counter);
  }
}

static void testUniformBits(void **state) {
  (void)state;
  enum { n = 12 * 512 };
  static const int64_t seeds[] = {0, 1, -1, INT64_C(0x123456789ABCDEF0), INT64_MIN};
  static const uint32_t tokens[] = {512, 1, 96, n};
  float out[n];

  for (size_t s = 0; s < sizeof seeds / sizeof *seeds; ++s)
    for (size_t t = 0; t < sizeof tokens / sizeof *tokens; ++t) {
      draw("uniform", seeds[s], out, n, tokens[t]);
      for (uint32_t i = 0; i < n; ++i) {
        uint32_t counter[2] = {i, (uint32_t)((uint64_t)seeds[s] >> 32)};
        philox(counter, (uint32_t)seeds[s]);
        if (out[i] != (float)(counter[0] >> 8) * 0x1p-24f)
          fail_msg("seed %lld, element %u of tokens of %u", (long long)seeds[s], i, tokens[t]);
      }
    }
}

typedef struct {
  double mean, variance, third,
      fourth;        /* central moments, the last two over the deviation's powers */
  double neighbours; /* correlation of successive numbers */
} Moments;

static Moments momentsOf(const float *x, uint32_t n) {
  Moments m = {0, 0, 0, 0, 0};
  for (uint32_t i = 0; i < n; ++i)
    m.mean += (double)x[i] / n;

  for (uint32_t i = 0; i < n; ++i) {
    double d = (double)x[i] - m.mean;
    m.variance += d * d / n;
    m.third += d * d * d / n;
    m.fourth += d * d * d * d / n;
    m.neighbours += i ? d * ((double)x[i - 1] - m.mean) / n : 0;
  }

  m.third /= pow(m.variance, 1.5);
  m.fourth /= m.variance * m.variance;
  m.neighbours /= m.variance;
  return m;
}

/* Chi squared of counts in equally likely bins, as deviations from its mean. */
static double chiSquared(const uint32_t *counts, uint32_t bins, uint32_t n) {
  double sum = 0;
  double expected = (double)n / bins;
  for (uint32_t i = 0; i < bins; ++i)
    sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
  return (sum - (bins - 1)) / sqrt(2.0 * (bins - 1));
}

/* Five deviations: one false alarm in two million, and the seeds are fixed. */
static void testUniformStatistics(void **state) {
  (void)state;
  float *x = malloc(sizeof *x * numbers);
  float *other = malloc(sizeof *other * numbers);
  double deviation = 1 / sqrt((double)numbers);

  for (int64_t seed = 1; seed <= 3; ++seed) {
    draw("uniform", seed, x, numbers, 4096);
    draw("uniform", seed + 1, other, numbers, 4096);
    uint32_t bins[256] = {0}, pairs[256] = {0};
    double across = 0;
    for (uint32_t i = 0; i < numbers; ++i) {
      assert_true(x[i] >= 0 && x[i] < 1);
      ++bins[(int)(x[i] * 256)];
      if (i % 2)
        ++pairs[(int)(x[i] * 16) * 16 + (int)(x[i - 1] * 16)];
      across += ((double)x[i] - 0.5) * ((double)other[i] - 0.5) * 12 / numbers;
    }
    Moments m = momentsOf(x, numbers);
    assert_true(fabs(m.mean - 0.5) < 5 * deviation * sqrt(1.0 / 12));
    assert_true(fabs(m.variance - 1.0 / 12) < 5 * deviation * sqrt(1.0 / 180));
    assert_true(fabs(m.neighbours) < 5 * deviation && fabs(across) < 5 * deviation);
    assert_true(fabs(chiSquared(bins, 256, numbers)) < 5);
    assert_true(fabs(chiSquared(pairs, 256, numbers / 2)) < 5);
  }

  free(other);
  free(x);
}

static void testNormalStatistics(void **state) {
  (void)state;
  float *x = malloc(sizeof *x * numbers);
  double deviation = 1 / sqrt((double)numbers);

  for (int64_t seed = 1; seed <= 3; ++seed) {
    draw("normal", seed, x, numbers, 4096);
    uint32_t bins[64] = {0};
    float most = 0;
    for (uint32_t i = 0; i < numbers; ++i) {
      assert_true(fabsf(x[i]) < 6.7f);
      ++bins[(int)fmin(erfc(-(double)x[i] * M_SQRT1_2) * 32,
                       63)]; /* 64 times the distribution function */
      most = fmaxf(most, fabsf(x[i]));
    }
    Moments m = momentsOf(x, numbers);
    assert_true(fabs(m.mean) < 5 * deviation && fabs(m.variance - 1) < 5 * deviation * M_SQRT2);
    assert_true(fabs(m.third) < 5 * deviation * sqrt(6) &&
                fabs(m.fourth - 3) < 5 * deviation * sqrt(24));
    assert_true(fabs(m.neighbours) < 5 * deviation && most > 4.2f);
    assert_true(fabs(chiSquared(bins, 64, numbers)) < 5);
  }

  free(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testVectors), cmocka_unit_test(testUniformBits),
      cmocka_unit_test(testUniformStatistics), cmocka_unit_test(testNormalStatistics)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
