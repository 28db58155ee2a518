/* samba/tensor.h: parameters that are initialized when they are needed. Rows T018, T019, T024,
 * S032, S033, S034, S035, S036. Distributions are tested by Kolmogorov and Smirnov's test and by
 * their moments. */
#include "support/tensor/random/normal_quantile.h"
#include "test/support/tensor/tensor_checks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

static const SambaLazyOptions seeded = {.seeded = true, .seed = 7, .threads = 8};
static const SambaInitializer normal = {SAMBA_INITIALIZER_NORMAL, 0, 1};
static const SambaInitializer uniform = {SAMBA_INITIALIZER_UNIFORM, -0.5, 0.5};

static SambaTensor *lazy(const char *name, SambaDType dtype, int64_t rows, int64_t columns,
                         const SambaInitializer *initializer, const SambaLazyOptions *options) {
  SambaTensor *tensor;
  expectOk(sambaTensorCreateEmpty(dtype, DIMS(rows, columns), sambaStringRef(name), &tensor));
  expectOk(sambaTensorSetInitializer(tensor, initializer, options));
  return tensor;
}

static bool sameBits(const SambaTensor *a, const SambaTensor *b) {
  return memcmp(sambaTensorGetDataPtr(a), sambaTensorGetDataPtr(b),
                (size_t)sambaTensorGetNumBytes(a)) == 0;
}

/* S033: one seed and name give one result: with 1 thread or 8, whatever is drawn in between. */
static void s033SameSeedSameBits(void **state) {
  (void)state;
  const SambaInitializer *const kinds[] = {&normal, &uniform};
  SambaGenerator *generator = sambaGeneratorCreate(1);
  for (int kind = 0; kind < 2; ++kind) {
    for (int sampling = 0; sampling < 2; ++sampling) {
      SambaLazyOptions options = seeded;
      options.inverse_transform_sampling = sampling;
      SambaTensor *first = lazy("fc__weight", SAMBA_DTYPE_F32, 1001, 333, kinds[kind], &options),
                  *other = lazy("fc__bias", SAMBA_DTYPE_F32, 1001, 333, kinds[kind], &options);
      options.threads = 1;
      SambaTensor *again = lazy("fc__weight", SAMBA_DTYPE_F32, 1001, 333, kinds[kind], &options);
      options.seed = 8;
      SambaTensor *seed = lazy("fc__weight", SAMBA_DTYPE_F32, 1001, 333, kinds[kind], &options);

      expectOk(sambaTensorMaterialize(other, generator));
      expectOk(sambaTensorMaterialize(first, generator));
      sambaGeneratorDraw32(generator);
      expectOk(sambaTensorMaterialize(again, NULL));
      expectOk(sambaTensorMaterialize(seed, NULL));
      assert_true(sameBits(first, again));
      assert_false(sameBits(first, other));
      assert_false(sameBits(first, seed));
      sambaTensorRelease(first);
      sambaTensorRelease(other);
      sambaTensorRelease(again);
      sambaTensorRelease(seed);
    }
  }
  sambaGeneratorDestroy(generator);
}

/* T024, S033: without a seed two copies differ; the generator's seed decides where there is one. */
static void t024UnseededCopiesDiffer(void **state) {
  (void)state;
  SambaLazyOptions options = {.threads = 2};
  SambaTensor *tensor = lazy("w", SAMBA_DTYPE_F32, 4, 4, &normal, &options), *copies[4];
  SambaGenerator *generator = sambaGeneratorCreate(5);
  expectOk(sambaTensorCopyMaterialized(tensor, NULL, &copies[0]));
  expectOk(sambaTensorCopyMaterialized(tensor, NULL, &copies[1]));
  expectOk(sambaTensorCopyMaterialized(tensor, generator, &copies[2]));
  sambaGeneratorSetSeed(generator, 5);
  expectOk(sambaTensorCopyMaterialized(tensor, generator, &copies[3]));
  assert_false(sambaTensorHasData(tensor));
  assert_false(sameBits(copies[0], copies[1]));
  assert_false(sameBits(copies[1], copies[2]));
  assert_true(sameBits(copies[2], copies[3]));
  for (int i = 0; i < 4; ++i)
    sambaTensorRelease(copies[i]);
  sambaTensorRelease(tensor);
  sambaGeneratorDestroy(generator);
}

static int compare(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static double normalBelow(double x) { return 0.5 * erfc(-x / sqrt(2)); }
static double uniformBelow(double x) { return x + 0.5; }

/* The largest distance between the distributions, times the root of the count: above 1.63 with a
 * probability of 1%. */
static double distance(SambaTensor *tensor, double (*below)(double)) {
  int64_t count = sambaTensorGetNumElements(tensor);
  float *sorted = sambaTensorGetDataPtr(tensor);
  double largest = 0;
  qsort(sorted, (size_t)count, sizeof *sorted, compare);
  for (int64_t i = 0; i < count; ++i) {
    double expected = below(sorted[i]);
    largest = fmax(largest, fabs(expected - (double)i / (double)count));
    largest = fmax(largest, fabs(expected - (double)(i + 1) / (double)count));
  }
  return largest * sqrt((double)count);
}

/* S035: both ways of sampling give the normal distribution, by different numbers. */
static void s035Distributions(void **state) {
  (void)state;
  SambaLazyOptions options = seeded;
  SambaTensor *plain = lazy("w", SAMBA_DTYPE_F32, 500, 400, &normal, &options),
              *flat = lazy("w", SAMBA_DTYPE_F32, 500, 400, &uniform, &options);
  options.inverse_transform_sampling = true;
  SambaTensor *inverse = lazy("w", SAMBA_DTYPE_F32, 500, 400, &normal, &options);
  expectOk(sambaTensorMaterialize(plain, NULL));
  expectOk(sambaTensorMaterialize(flat, NULL));
  expectOk(sambaTensorMaterialize(inverse, NULL));
  assert_false(sameBits(plain, inverse));

  SambaTensor *all[] = {plain, inverse};
  for (int i = 0; i < 2; ++i) {
    double sum = 0, squares = 0, neighbours = 0, last = 0;
    int beyond = 0;
    for (int64_t k = 0; k < 200000; ++k) {
      double x = elementOf(all[i], k);
      sum += x;
      squares += x * x;
      neighbours += x * last;
      last = x;
      beyond += fabs(x) > 3;
    }
    assert_true(fabs(sum / 200000) < 0.008); /* 3.5 standard errors each */
    assert_true(fabs(squares / 200000 - 1) < 0.011);
    assert_true(fabs(neighbours / 200000) < 0.008);
    assert_true(beyond > 460 && beyond < 620); /* 540 expected */
    assert_true(distance(all[i], normalBelow) < 1.63);
  }
  assert_true(distance(flat, uniformBelow) < 1.63);
  sambaTensorRelease(plain);
  sambaTensorRelease(flat);
  sambaTensorRelease(inverse);
}

/* Quantiles as SciPy's ndtri gives them. */
static void quantiles(void **state) {
  (void)state;
  static const struct {
    double probability, quantile;
  } known[] = {{1e-300, -37.0470962993612},  {1e-12, -7.034483825301131},
               {0.001, -3.090232306167813},  {0.02425, -1.972961051311885},
               {0.075, -1.4395314709384563}, {0.5, 0},
               {0.975, 1.959963984540054},   {0.9999999, 5.199337582290661}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    double found = sambaNormalQuantile(known[i].probability);
    assert_true(fabs(found - known[i].quantile) <= 4e-15 * fmax(1, fabs(known[i].quantile)));
  }
}

/* S036: the document's numbers in both roundings; only of bf16. */
static void s036Rounding(void **state) {
  (void)state;
  const double values[] = {0.26692, 0.06168}, nearest[] = {0.2676, 0.0618},
               truncated[] = {0.2656, 0.0615};
  for (int i = 0; i < 2; ++i) {
    SambaInitializer constant = {SAMBA_INITIALIZER_CONSTANT, values[i], 0};
    SambaLazyOptions options = seeded;
    SambaTensor *even = lazy("w", SAMBA_DTYPE_BF16, 1, 3, &constant, &options);
    expectOk(sambaRoundingParse(sambaStringRef("truncation"), &options.bf16_rounding));
    SambaTensor *cut = lazy("w", SAMBA_DTYPE_BF16, 1, 3, &constant, &options),
                *wide = lazy("w", SAMBA_DTYPE_F32, 1, 3, &constant, &options);
    expectOk(sambaTensorMaterialize(even, NULL));
    expectOk(sambaTensorMaterialize(cut, NULL));
    expectOk(sambaTensorMaterialize(wide, NULL));
    assert_true(fabs(elementOf(even, 2) - nearest[i]) <= 5e-5);
    assert_true(fabs(elementOf(cut, 2) - truncated[i]) <= 5e-5);
    assert_true(elementOf(wide, 2) == (float)values[i]);
    sambaTensorRelease(even);
    sambaTensorRelease(cut);
    sambaTensorRelease(wide);
  }
  SambaRounding rounding;
  expectOk(sambaRoundingParse(sambaStringRef("nearest_even"), &rounding));
  assert_int_equal(rounding, SAMBA_ROUND_NEAREST_EVEN);
  expectError(sambaRoundingParse(sambaStringRef("up"), &rounding), SAMBA_INVALID,
              "'up' is no rounding from f32 to bf16; expected nearest_even or truncation");
}

/* T018, T019: the parameters of a Llama with 7 billion of them, and no memory for them. */
static void t019LargeModelCostsNothing(void **state) {
  (void)state;
  enum { layers = 32, width = 4096, hidden = 11008, words = 32000, perLayer = 9 };
  const int64_t shapes[perLayer][2] = {{width, width},  {width, width},  {width, width},
                                       {width, width},  {hidden, width}, {hidden, width},
                                       {width, hidden}, {1, width},      {1, width}};
  SambaTensor *tensors[layers * perLayer + 2];
  struct rusage before, after;
  int64_t parameters = 0;
  int count = 0;
  getrusage(RUSAGE_SELF, &before);
  for (int layer = 0; layer < layers; ++layer)
    for (int i = 0; i < perLayer; ++i)
      tensors[count++] =
          lazy("layer__weight", SAMBA_DTYPE_BF16, shapes[i][0], shapes[i][1], &normal, &seeded);
  for (int i = 0; i < 2; ++i)
    tensors[count++] = lazy("embedding", SAMBA_DTYPE_BF16, words, width, &normal, &seeded);
  getrusage(RUSAGE_SELF, &after);
  for (int i = 0; i < count; ++i) {
    assert_false(sambaTensorHasData(tensors[i]));
    parameters += sambaTensorGetNumElements(tensors[i]);
    sambaTensorRelease(tensors[i]);
  }
  assert_int_equal(parameters, 6738411520);               /* less the last norm */
  assert_true(after.ru_maxrss - before.ru_maxrss < 2048); /* KiB */
}

/* S034 and what else is refused. */
static void s034Refusals(void **state) {
  (void)state;
  SambaLazyOptions options = seeded;
  SambaInitializer bad_uniform = {SAMBA_INITIALIZER_UNIFORM, 1, 0},
                   bad_normal = {SAMBA_INITIALIZER_NORMAL, 0, -1},
                   three = {SAMBA_INITIALIZER_CONSTANT, 3, 0};
  SambaTensor *tensor, *integers;
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2), sambaStringRef("w"), &tensor));
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_I32, DIMS(2), sambaStringRef("i"), &integers));
  options.threads = 0;
  expectError(sambaTensorSetInitializer(tensor, &normal, &options), SAMBA_INVALID,
              "random initialization with 0 threads; expected 1 or more");
  options.threads = -3;
  expectError(sambaTensorSetInitializer(tensor, &normal, &options), SAMBA_INVALID, "-3 threads");
  expectError(sambaTensorSetInitializer(integers, &normal, &seeded), SAMBA_INVALID,
              "tensor 'i' of shape 2xi32 cannot get random numbers: its type is no float");
  expectError(sambaTensorSetInitializer(tensor, &bad_uniform, &seeded), SAMBA_INVALID,
              "uniform numbers of tensor 'w' of shape 2xf32 from 1 to 0; expected the first one to "
              "be smaller");
  expectError(sambaTensorSetInitializer(tensor, &bad_normal, &seeded), SAMBA_INVALID,
              "normal numbers of tensor 'w' of shape 2xf32 with the deviation -1; expected 0 or "
              "more");
  expectOk(sambaTensorSetInitializer(integers, &three, &seeded));
  expectOk(sambaTensorMaterialize(integers, NULL));
  expectValues(integers, VALUES(3, 3));
  sambaTensorRelease(tensor);
  sambaTensorRelease(integers);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(t019LargeModelCostsNothing),
                                     cmocka_unit_test(s033SameSeedSameBits),
                                     cmocka_unit_test(t024UnseededCopiesDiffer),
                                     cmocka_unit_test(s035Distributions),
                                     cmocka_unit_test(quantiles),
                                     cmocka_unit_test(s036Rounding),
                                     cmocka_unit_test(s034Refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
