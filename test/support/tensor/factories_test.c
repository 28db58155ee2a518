/* samba/tensor.h: fresh tensors and names of types. Rows T030, T046, T057, T063, T064, T065, T066,
 * E10, N005. Numbers are PyTorch's. */
#include "test/support/tensor/tensor_checks.h"

static const SambaStringRef unnamed = {"", 0};

static void t030Factories(void **state) {
  (void)state;
  SambaTensor *tensor;
  SambaGenerator *generator = sambaGeneratorCreate(1);
  expectOk(sambaTensorCreateRandn(generator, SAMBA_DTYPE_F32, DIMS(5, 10), sambaStringRef("input"),
                                  &tensor));
  expectDims(tensor, DIMS(5, 10));
  assert_string_equal(sambaTensorGetName(tensor).data, "input");
  sambaTensorRelease(tensor);
  expectOk(sambaTensorCreateZeros(SAMBA_DTYPE_BF16, DIMS(2), sambaStringRef("z"), &tensor));
  expectValues(tensor, VALUES(0, 0));
  assert_string_equal(sambaTensorGetName(tensor).data, "z");
  sambaTensorRelease(tensor);
  expectOk(sambaTensorCreateOnes(SAMBA_DTYPE_I1, DIMS(2), unnamed, &tensor));
  expectValues(tensor, VALUES(1, 1));
  sambaTensorRelease(tensor);

  const SambaScalar fills[] = {sambaScalarBool(true), sambaScalarInt(3), sambaScalarFloat(2.5)};
  const SambaDType types[] = {SAMBA_DTYPE_I1, SAMBA_DTYPE_I64, SAMBA_DTYPE_F32};
  for (int i = 0; i < 3; ++i) {
    expectOk(sambaTensorCreateFull(SAMBA_DTYPE_NONE, DIMS(1), fills[i], unnamed, &tensor));
    assert_int_equal(sambaTensorGetDType(tensor), types[i]); /* T049 */
    sambaTensorRelease(tensor);
  }
  sambaGeneratorDestroy(generator);
}

static void ranges(void **state) {
  (void)state;
  SambaTensor *tensor;
  expectOk(sambaTensorCreateArange(SAMBA_DTYPE_NONE, sambaScalarInt(5), sambaScalarInt(-3),
                                   sambaScalarInt(-3), sambaStringRef("r"), &tensor));
  assert_int_equal(sambaTensorGetDType(tensor), SAMBA_DTYPE_I64);
  assert_string_equal(sambaTensorGetName(tensor).data, "r");
  expectValues(tensor, VALUES(5, 2, -1));
  sambaTensorRelease(tensor);
  expectOk(sambaTensorCreateArange(SAMBA_DTYPE_NONE, sambaScalarInt(0), sambaScalarFloat(1),
                                   sambaScalarFloat(.25), unnamed, &tensor));
  assert_int_equal(sambaTensorGetDType(tensor), SAMBA_DTYPE_F32);
  expectValues(tensor, VALUES(0, .25, .5, .75));
  sambaTensorRelease(tensor);
  expectOk(sambaTensorCreateArange(SAMBA_DTYPE_UI8, sambaScalarInt(0), sambaScalarInt(300),
                                   sambaScalarInt(100), unnamed, &tensor));
  expectValues(tensor, VALUES(0, 100, 200));
  sambaTensorRelease(tensor);
  expectOk(sambaTensorCreateArange(SAMBA_DTYPE_BF16, sambaScalarInt(2), sambaScalarInt(2),
                                   sambaScalarInt(1), unnamed, &tensor));
  assert_int_equal(sambaTensorGetNumElements(tensor), 0);
  sambaTensorRelease(tensor);

  expectError(sambaTensorCreateArange(SAMBA_DTYPE_F32, sambaScalarInt(0), sambaScalarInt(5),
                                      sambaScalarInt(0), unnamed, &tensor),
              SAMBA_INVALID, "expected finite numbers, and a step that is not 0");
  expectError(sambaTensorCreateArange(SAMBA_DTYPE_I32, sambaScalarInt(0), sambaScalarInt(5),
                                      sambaScalarFloat(.5), unnamed, &tensor),
              SAMBA_INVALID, "a step that is not 0");
  expectError(sambaTensorCreateArange(SAMBA_DTYPE_F32, sambaScalarInt(0), sambaScalarInt(5),
                                      sambaScalarInt(-1), unnamed, &tensor),
              SAMBA_INVALID, "a range from 0 to 5 in steps of -1 goes the other way");
  expectError(sambaTensorCreateArange(SAMBA_DTYPE_I1, sambaScalarInt(0), sambaScalarInt(2),
                                      sambaScalarInt(1), unnamed, &tensor),
              SAMBA_INVALID, "a range of i1; expected a type of numbers");
  expectError(sambaTensorCreateArange(SAMBA_DTYPE_I64, sambaScalarInt(INT64_MIN),
                                      sambaScalarInt(INT64_MAX), sambaScalarInt(1), unnamed,
                                      &tensor),
              SAMBA_INVALID, "more bytes than 64 bits can count");
  expectError(sambaTensorCreateArange(SAMBA_DTYPE_F32, sambaScalarInt(0), sambaScalarFloat(1e300),
                                      sambaScalarFloat(1e-300), unnamed, &tensor),
              SAMBA_INVALID, "more bytes than 64 bits can count");
  assert_null(tensor);
}

/* E10: the document's examples of new_full, new_ones, new_zeros, new_empty. */
static void e10LikeAnother(void **state) {
  (void)state;
  SambaTensor *single, *narrow, *tensor;
  expectOk(sambaTensorCreateOnes(SAMBA_DTYPE_F32, 0, NULL, unnamed, &single));
  expectOk(sambaTensorCreateOnes(SAMBA_DTYPE_BF16, 0, NULL, unnamed, &narrow));

  expectOk(sambaTensorNewFull(single, SAMBA_DTYPE_NONE, DIMS(2, 3), sambaScalarFloat(5), &tensor));
  assert_int_equal(sambaTensorGetDType(tensor), SAMBA_DTYPE_F32); /* T064 */
  expectValues(tensor, VALUES(5, 5, 5, 5, 5, 5));
  sambaTensorRelease(tensor);
  expectOk(sambaTensorNewFull(single, SAMBA_DTYPE_BF16, DIMS(2, 3), sambaScalarFloat(5), &tensor));
  assert_int_equal(sambaTensorGetDType(tensor), SAMBA_DTYPE_BF16);
  expectValues(tensor, VALUES(5, 5, 5, 5, 5, 5));
  sambaTensorRelease(tensor);
  expectOk(sambaTensorNewOnes(narrow, SAMBA_DTYPE_NONE, DIMS(2, 3), &tensor)); /* T065 */
  assert_int_equal(sambaTensorGetDType(tensor), SAMBA_DTYPE_BF16);
  expectValues(tensor, VALUES(1, 1, 1, 1, 1, 1));
  sambaTensorRelease(tensor);
  expectOk(sambaTensorNewZeros(narrow, SAMBA_DTYPE_NONE, DIMS(2, 3), &tensor)); /* T066 */
  assert_int_equal(sambaTensorGetDType(tensor), SAMBA_DTYPE_BF16);
  expectValues(tensor, VALUES(0, 0, 0, 0, 0, 0));
  sambaTensorRelease(tensor);
  expectOk(sambaTensorNewEmpty(narrow, SAMBA_DTYPE_I8, DIMS(2, 3), &tensor)); /* T063 */
  assert_int_equal(sambaTensorGetDType(tensor), SAMBA_DTYPE_I8);
  expectDims(tensor, DIMS(2, 3));
  sambaTensorRelease(tensor);
  expectError(sambaTensorNewFull(single, SAMBA_DTYPE_NONE, DIMS(-1), sambaScalarInt(1), &tensor),
              SAMBA_INVALID, "negative size -1");
  sambaTensorRelease(single);
  sambaTensorRelease(narrow);
}

static void randomRefusals(void **state) {
  (void)state;
  SambaTensor *tensor;
  SambaGenerator *generator = sambaGeneratorCreate(1);
  expectError(sambaTensorCreateRandn(generator, SAMBA_DTYPE_I32, DIMS(2), unnamed, &tensor),
              SAMBA_INVALID, "normal numbers of type i32; expected a float: f32, bf16, f16 or f64");
  expectError(sambaTensorCreateRand(generator, SAMBA_DTYPE_I1, DIMS(2), unnamed, &tensor),
              SAMBA_INVALID, "uniform numbers of type i1");
  expectError(sambaTensorCreateNormal(generator, SAMBA_DTYPE_F32, 0, -1, DIMS(2), unnamed, &tensor),
              SAMBA_INVALID, "normal numbers with the deviation -1; expected 0 or more");
  expectError(
      sambaTensorCreateRandint(generator, SAMBA_DTYPE_NONE, 5, 5, DIMS(2), unnamed, &tensor),
      SAMBA_INVALID, "random integers from 5 to below 5: expected the first one to be smaller");
  expectError(
      sambaTensorCreateRandint(generator, SAMBA_DTYPE_UI8, 0, 300, DIMS(2), unnamed, &tensor),
      SAMBA_INVALID, "random integers of type ui8, which cannot hold 299");
  expectError(
      sambaTensorCreateRandint(generator, SAMBA_DTYPE_I8, -200, 3, DIMS(2), unnamed, &tensor),
      SAMBA_INVALID, "cannot hold -200");
  expectError(
      sambaTensorCreateRandint(generator, SAMBA_DTYPE_BF16, 1001, 1003, DIMS(2), unnamed, &tensor),
      SAMBA_INVALID, "random integers from 1001 to below 1003, of which the type bf16 has none");
  expectError(
      sambaTensorCreateBernoulli(generator, SAMBA_DTYPE_F32, 1.5, DIMS(2), unnamed, &tensor),
      SAMBA_INVALID, "ones with the probability 1.5; expected 0 to 1");
  assert_null(tensor);
  sambaGeneratorDestroy(generator);
}

/* T046, T055, T057, N005. */
static void t057NamesOfTypes(void **state) {
  (void)state;
  static const struct {
    const char *name;
    SambaDType dtype;
  } names[] = {
      {"torch.BFloat16Tensor", SAMBA_DTYPE_BF16},
      {"bf16", SAMBA_DTYPE_BF16},
      {"torch.bfloat16", SAMBA_DTYPE_BF16},
      {"bfloat16", SAMBA_DTYPE_BF16},
      {"torch.float32", SAMBA_DTYPE_F32},
      {"float", SAMBA_DTYPE_F32},
      {"torch.HalfTensor", SAMBA_DTYPE_F16},
      {"torch.half", SAMBA_DTYPE_F16},
      {"double", SAMBA_DTYPE_F64},
      {"f64", SAMBA_DTYPE_F64},
      {"torch.bool", SAMBA_DTYPE_I1},
      {"torch.ByteTensor", SAMBA_DTYPE_UI8},
      {"uint8", SAMBA_DTYPE_UI8},
      {"torch.int8", SAMBA_DTYPE_I8},
      {"short", SAMBA_DTYPE_I16},
      {"torch.int", SAMBA_DTYPE_I32},
      {"LongTensor", SAMBA_DTYPE_I64},
      {"i64", SAMBA_DTYPE_I64},
  };
  SambaDType dtype;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    expectOk(sambaDTypeParse(sambaStringRef(names[i].name), &dtype));
    assert_int_equal(dtype, names[i].dtype);
  }
  static const char *const bad[] = {"", "torch.", "torch.bf16", "complex64", "float3", "invalid"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
    expectError(sambaDTypeParse(sambaStringRef(bad[i]), &dtype), SAMBA_INVALID,
                "is no element type; expected f32, bf16, f16, f64, i1, i8, ui8, i16, i32, i64 or "
                "PyTorch's name of one, as 'bfloat16' and 'torch.BFloat16Tensor'");
  assert_string_equal(sambaDTypeTensorName(SAMBA_DTYPE_F32), "torch.FloatTensor");
  assert_string_equal(sambaDTypeTensorName(SAMBA_DTYPE_F64), "torch.DoubleTensor");
  assert_string_equal(sambaDTypeTensorName(SAMBA_DTYPE_NONE), "");
  assert_true(sambaDTypeIsFloatingPoint(SAMBA_DTYPE_F64));
  assert_true(sambaDTypeIsFloatingPoint(SAMBA_DTYPE_BF16));
  assert_false(sambaDTypeIsFloatingPoint(SAMBA_DTYPE_I64));
  assert_false(sambaDTypeIsFloatingPoint(SAMBA_DTYPE_NONE));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t030Factories), cmocka_unit_test(ranges), cmocka_unit_test(e10LikeAnother),
      cmocka_unit_test(randomRefusals), cmocka_unit_test(t057NamesOfTypes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
