/* samba/tensor.h against PyTorch: torch_cases.txt has its random numbers (T031, E11), casts (T054,
 * T055, T058, T059) and result types (T068, E08), bit for bit; torch_cases.py made it. */
#include "test/support/tensor/tensor_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { longestLine = 2048, mostWords = 64 };

/* Calls the function for the words of every row that begins with `what`; tells how many. */
static int forEachRow(const char *what, void (*function)(char **words, int count)) {
  char line[longestLine];
  int rows = 0;
  FILE *file = fopen(SAMBA_SOURCE_FOLDER "/test/support/tensor/torch_cases.txt", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    char *words[mostWords];
    int count = 0;
    for (char *word = strtok(line, " \n"); word && count < mostWords; word = strtok(NULL, " \n"))
      words[count++] = word;
    if (!count || strcmp(words[0], what) != 0)
      continue;
    function(words, count);
    ++rows;
  }
  fclose(file);
  return rows;
}

static SambaDType dtypeOf(const char *name) {
  SambaDType dtype;
  expectOk(sambaDTypeParse(sambaStringRef(name), &dtype));
  return dtype;
}

/* ---- Random numbers ---- */

static SambaGenerator *generator;
static uint64_t generator_seed;

/* FNV-1a. */
static uint64_t hashOf(const uint8_t *data, int64_t bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int64_t i = 0; i < bytes; ++i)
    hash = (hash ^ data[i]) * 0x100000001b3u;
  return hash;
}

/* draw SEED KIND TYPE COUNT FIRST SECOND HASH */
static void checkDraw(char **words, int count) {
  assert_int_equal(count, 8);
  uint64_t seed = strtoull(words[1], NULL, 10);
  if (!generator || seed != generator_seed) {
    sambaGeneratorDestroy(generator);
    generator = sambaGeneratorCreate(generator_seed = seed);
  }

  SambaTensor *tensor;
  SambaDType dtype = dtypeOf(words[3]);
  SambaStringRef name = sambaStringRef("");
  int64_t size = strtoll(words[4], NULL, 10);
  double first = strtod(words[5], NULL), second = strtod(words[6], NULL);
  if (strcmp(words[2], "normal") == 0)
    expectOk(sambaTensorCreateNormal(generator, dtype, first, second, 1, &size, name, &tensor));
  else if (strcmp(words[2], "uniform") == 0)
    expectOk(sambaTensorCreateRand(generator, dtype, 1, &size, name, &tensor));
  else if (strcmp(words[2], "integer") == 0)
    expectOk(sambaTensorCreateRandint(generator, dtype, strtoll(words[5], NULL, 10),
                                      strtoll(words[6], NULL, 10), 1, &size, name, &tensor));
  else
    expectOk(sambaTensorCreateBernoulli(generator, dtype, first, 1, &size, name, &tensor));

  uint64_t hash = hashOf(sambaTensorGetDataPtr(tensor), sambaTensorGetNumBytes(tensor));
  if (hash != strtoull(words[7], NULL, 16))
    fail_msg("%s numbers of %s, %s of them, differ", words[2], words[3], words[4]);
  sambaTensorRelease(tensor);
}

static void randomNumbers(void **state) {
  (void)state;
  assert_int_equal(forEachRow("draw", checkDraw), 177);
  sambaGeneratorDestroy(generator);
  generator = NULL;
}

/* T031, E11: set_seed(1); randn(2, 2) and its casts, as the document prints them. */
static void t031SeedOne(void **state) {
  (void)state;
  const double printed[] = {0.6614, 0.2669, 0.0617, 0.6213};
  const double in_bf16[] = {0.6602, 0.2676, 0.0618, 0.6211};
  SambaTensor *tensor, *cast, *wide;
  generator = sambaGeneratorCreate(7);
  sambaGeneratorSetSeed(generator, 1);
  expectOk(
      sambaTensorCreateRandn(generator, SAMBA_DTYPE_F32, DIMS(2, 2), sambaStringRef("x"), &tensor));
  expectOk(sambaTensorCast(tensor, SAMBA_DTYPE_BF16, &cast));
  expectOk(sambaTensorCast(tensor, SAMBA_DTYPE_F64, &wide));
  for (int i = 0; i < 4; ++i) {
    assert_true(fabs(elementOf(tensor, i) - printed[i]) <= 5e-5);
    assert_true(fabs(elementOf(cast, i) - in_bf16[i]) <= 5e-5);
    assert_true(fabs(elementOf(wide, i) - printed[i]) <= 5e-5);
  }
  assert_string_equal(sambaTensorGetName(cast).data, "x");
  sambaTensorRelease(tensor);
  sambaTensorRelease(cast);
  sambaTensorRelease(wide);
  sambaGeneratorDestroy(generator);
  generator = NULL;
}

/* ---- Casts ---- */

static SambaTensor *special, *whole;

/* A row of numbers as a tensor; integers do not go through a double. */
static SambaTensor *tensorOfWords(SambaDType dtype, char **words, int64_t count) {
  SambaTensor *tensor;
  expectOk(sambaTensorCreateZeros(SAMBA_DTYPE_F64, 1, &count, sambaStringRef("numbers"), &tensor));
  if (!sambaDTypeIsFloatingPoint(dtype)) {
    sambaTensorRelease(tensor);
    expectOk(
        sambaTensorCreateZeros(SAMBA_DTYPE_I64, 1, &count, sambaStringRef("numbers"), &tensor));
  }
  for (int64_t i = 0; i < count; ++i) {
    SambaIndex at = {.kind = SAMBA_INDEX_INT, .at = i};
    bool is_float = sambaDTypeIsFloatingPoint(dtype);
    expectOk(sambaTensorSetIndexScalar(tensor, 1, &at,
                                       is_float ? sambaScalarFloat(strtod(words[i], NULL))
                                                : sambaScalarInt(strtoll(words[i], NULL, 10))));
  }
  return tensor;
}

static void readNumbers(char **words, int count) {
  SambaDType dtype = dtypeOf(words[1]);
  SambaTensor *numbers = tensorOfWords(dtype, words + 2, count - 2);
  *(dtype == SAMBA_DTYPE_F64 ? &special : &whole) = numbers;
}

/* cast FROM TO RESULTS */
static void checkCast(char **words, int count) {
  SambaDType from = dtypeOf(words[1]), to = dtypeOf(words[2]);
  SambaTensor *source, *cast, *found, *expected = tensorOfWords(to, words + 3, count - 3);
  expectOk(sambaTensorCast(sambaDTypeIsFloatingPoint(from) ? special : whole, from, &source));
  expectOk(sambaTensorCast(source, to, &cast));
  assert_int_equal(sambaTensorGetDType(cast), to);
  assert_true((source == cast) == (from == to)); /* T055, T059: the same handle */
  expectOk(sambaTensorCast(cast, sambaTensorGetDType(expected), &found));

  for (int64_t i = 0; i < count - 3; ++i) {
    SambaIndex at = {.kind = SAMBA_INDEX_INT, .at = i};
    SambaTensor *one, *other;
    SambaScalar a, b;
    expectOk(sambaTensorIndex(found, 1, &at, &one));
    expectOk(sambaTensorIndex(expected, 1, &at, &other));
    expectOk(sambaTensorGetItem(one, &a));
    expectOk(sambaTensorGetItem(other, &b));
    bool same =
        a.integer == b.integer && (a.number == b.number || (isnan(a.number) && isnan(b.number)));
    if (!same)
      fail_msg("%s to %s: number %lld is %g or %lld, expected %s", words[1], words[2], (long long)i,
               a.number, (long long)a.integer, words[3 + i]);
    sambaTensorRelease(one);
    sambaTensorRelease(other);
  }
  sambaTensorRelease(source);
  sambaTensorRelease(cast);
  sambaTensorRelease(found);
  sambaTensorRelease(expected);
}

static void casts(void **state) {
  (void)state;
  assert_int_equal(forEachRow("numbers", readNumbers), 2);
  assert_int_equal(forEachRow("cast", checkCast), 100);
  sambaTensorRelease(special);
  sambaTensorRelease(whole);
}

/* ---- Promotion ---- */

static const char *const order[] = {"f32", "bf16", "f16", "f64", "i1",
                                    "i8",  "ui8",  "i16", "i32", "i64"};
static int compared;

static SambaOperandCategory categoryOf(const char *word) {
  if (strcmp(word, "scalar") == 0)
    return SAMBA_OPERAND_SCALAR;
  return strcmp(word, "rank-zero") == 0 ? SAMBA_OPERAND_RANK_ZERO : SAMBA_OPERAND_DIMENSIONED;
}

/* promote CATEGORY TYPE CATEGORY RESULTS */
static void checkPromotion(char **words, int count) {
  assert_int_equal(count, 14);
  for (int i = 0; i < 10; ++i) {
    if (words[4 + i][0] == '-')
      continue;
    SambaTypedOperand operands[] = {{categoryOf(words[1]), dtypeOf(words[2])},
                                    {categoryOf(words[3]), dtypeOf(order[i])}};
    assert_string_equal(sambaDTypeName(sambaDTypeResult(2, operands)), words[4 + i]);
    ++compared;
    if (operands[0].category == SAMBA_OPERAND_DIMENSIONED &&
        operands[1].category == SAMBA_OPERAND_DIMENSIONED)
      assert_string_equal(sambaDTypeName(sambaDTypePromote(operands[0].dtype, operands[1].dtype)),
                          words[4 + i]);
  }
}

static void t068Promotion(void **state) {
  (void)state;
  assert_int_equal(forEachRow("promote", checkPromotion), 80);
  assert_int_equal(compared, 520);
}

/* E08 and the same question to tensors: add(bf16, f32) is f32, and its second operand is not
 * rounded to bf16. */
static void e08ResultOfTensors(void **state) {
  (void)state;
  SambaTensor *a = counting(SAMBA_DTYPE_BF16, DIMS(2)), *b = counting(SAMBA_DTYPE_F32, DIMS(2)),
              *integers = counting(SAMBA_DTYPE_I32, DIMS(2)),
              *scalar = counting(SAMBA_DTYPE_F64, 0, NULL);
  const SambaTensor *both[] = {a, b}, *ranks[] = {integers, scalar};
  SambaScalar half = sambaScalarFloat(0.5), three = sambaScalarInt(3);
  assert_int_equal(sambaTensorResultType(2, both, NULL), SAMBA_DTYPE_F32);
  assert_int_equal(sambaTensorResultType(1, both, &half), SAMBA_DTYPE_BF16);
  assert_int_equal(sambaTensorResultType(1, ranks, &half), SAMBA_DTYPE_F32);
  assert_int_equal(sambaTensorResultType(1, ranks, &three), SAMBA_DTYPE_I32);
  assert_int_equal(sambaTensorResultType(2, ranks, NULL), SAMBA_DTYPE_F64);
  assert_int_equal(sambaTensorResultType(0, NULL, NULL), SAMBA_DTYPE_NONE);
  sambaTensorRelease(a);
  sambaTensorRelease(b);
  sambaTensorRelease(integers);
  sambaTensorRelease(scalar);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(randomNumbers), cmocka_unit_test(t031SeedOne),
                                     cmocka_unit_test(casts), cmocka_unit_test(t068Promotion),
                                     cmocka_unit_test(e08ResultOfTensors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
