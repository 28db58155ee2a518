/* samba/tensor.h: tensors share memory and never copy it; shapes, names and gradients. Rows T001,
 * T002, T003, T004, T005, T006, T007, T008, T015, T040, T041, T042, T043, T044, T045, T050, T051,
 * T052, T067, T090, T093, T102, T106, T108, E13, E14, N001, N002, N003, N004, N006. */
#include "test/support/tensor/tensor_checks.h"

#include <stdlib.h>
#include <sys/resource.h>

static const SambaStringRef unnamed = {"", 0};

/* T001, T003, T004, E13: both directions, by the pointer itself. */
static void sharesABuffer(void **state) {
  (void)state;
  float array[2] = {1, 2};
  int64_t dims[] = {2};
  SambaBufferView view = {array, SAMBA_DTYPE_F32, 1, dims, NULL}, back;
  SambaTensor *tensor;
  expectOk(sambaTensorCreateFromBuffer(&view, sambaStringRef("x"), &tensor));

  array[0] = 9;
  expectValues(tensor, VALUES(9, 2));
  *(float *)sambaTensorGetDataPtr(tensor) = 5; /* T045 */
  assert_float_equal(array[0], 5, 0);
  sambaTensorGetBuffer(tensor, &back);
  assert_ptr_equal(back.data, array);
  assert_int_equal(back.dtype, SAMBA_DTYPE_F32);

  sambaTensorRelease(tensor);
  assert_float_equal(array[0], 5, 0);
}

/* T002: a tensor passes through as it is, and nothing stays nothing. */
static void passesNothingThrough(void **state) {
  (void)state;
  SambaTensor *tensor = (SambaTensor *)state;
  expectOk(sambaTensorCreateFromBuffer(NULL, unnamed, &tensor));
  assert_null(tensor);
  assert_null(sambaTensorRetain(NULL));
  sambaTensorRelease(NULL);

  SambaTensor *one = counting(SAMBA_DTYPE_F32, DIMS(2));
  assert_ptr_equal(sambaTensorRetain(one), one);
  sambaTensorRelease(one);
  expectValues(one, VALUES(0, 1));
  sambaTensorRelease(one);
}

static void countRelease(void *user) { ++*(int *)user; }

/* T001: a buffer that is handed over goes with the last tensor that shares it. */
static void releasesAnOwnedBuffer(void **state) {
  (void)state;
  int released = 0;
  float array[4] = {0, 1, 2, 3};
  int64_t dims[] = {2, 2}, bad[] = {-1, 2};
  SambaBufferView view = {array, SAMBA_DTYPE_F32, 2, dims, NULL};
  SambaTensor *tensor, *copy;
  expectOk(sambaTensorCreateFromBufferOwned(&view, countRelease, &released, unnamed, &tensor));
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2, 2), unnamed, &copy));
  expectOk(sambaTensorSetData(copy, tensor));
  assert_true(sambaTensorSharesStorage(copy, tensor));
  sambaTensorRelease(tensor);
  assert_int_equal(released, 0);
  expectValues(copy, VALUES(0, 1, 2, 3));
  sambaTensorRelease(copy);
  assert_int_equal(released, 1);

  view.dims = bad;
  expectError(sambaTensorCreateFromBufferOwned(&view, countRelease, &released, unnamed, &tensor),
              SAMBA_INVALID, "dimension 0 of a tensor has the negative size -1");
  assert_null(tensor);
  assert_int_equal(released, 2);
}

/* T005, T006, T007: shape and type alone take no memory; a buffer that nobody has written is data
 * all the same. */
static void emptyTensorsTakeNoMemory(void **state) {
  (void)state;
  struct rusage before, after;
  SambaTensor *large, *small, *garbage;
  getrusage(RUSAGE_SELF, &before);
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(5, 5000000000), unnamed, &large));
  getrusage(RUSAGE_SELF, &after);
  assert_true(after.ru_maxrss - before.ru_maxrss < 1024); /* KiB, of 100 GB */
  assert_int_equal(sambaTensorGetNumBytes(large), 100000000000);
  assert_false(sambaTensorHasData(large));
  assert_null(sambaTensorGetDataPtr(large));

  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_BF16, DIMS(2, 3), sambaStringRef("t"), &small));
  expectDims(small, DIMS(2, 3));
  assert_int_equal(sambaTensorGetDType(small), SAMBA_DTYPE_BF16);
  assert_string_equal(sambaTensorGetName(small).data, "t");
  expectOk(sambaTensorCreateUninitialized(SAMBA_DTYPE_F32, DIMS(2, 3), unnamed, &garbage));
  assert_true(sambaTensorHasData(garbage));

  sambaTensorRelease(large);
  sambaTensorRelease(small);
  sambaTensorRelease(garbage);
}

/* T040 to T044, E14, N001 to N004, N006. */
static void shapesAreKnown(void **state) {
  (void)state;
  int64_t size;
  SambaTensor *tensor, *scalar;
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(3, 4, 5), unnamed, &tensor));
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_I16, 0, NULL, unnamed, &scalar));
  assert_int_equal(sambaTensorGetRank(tensor), 3);
  assert_int_equal(sambaTensorGetRank(scalar), 0);
  assert_int_equal(sambaTensorGetNumElements(scalar), 1);
  expectStrides(tensor, DIMS(20, 5, 1));
  expectOk(sambaTensorGetDim(tensor, 1, &size));
  assert_int_equal(size, 4);
  expectOk(sambaTensorGetDim(tensor, -1, &size));
  assert_int_equal(size, 5);
  expectOk(sambaTensorGetStride(tensor, -3, &size));
  assert_int_equal(size, 20);
  expectError(sambaTensorGetDim(tensor, 3, &size), SAMBA_INVALID,
              "dimension 3 of a tensor of rank 3; expected one from -rank to rank - 1");
  expectError(sambaTensorGetStride(scalar, -1, &size), SAMBA_INVALID, "it is a scalar");

  assert_int_equal(sambaDTypeBytes(SAMBA_DTYPE_BF16), 2);
  assert_int_equal(sambaDTypeBytes(SAMBA_DTYPE_I16), 2);
  assert_int_equal(sambaDTypeBytes(SAMBA_DTYPE_I64), 8);
  assert_int_equal(sambaDTypeBytes(SAMBA_DTYPE_I1), 1);
  assert_int_equal(sambaDTypeBytes(SAMBA_DTYPE_F64), 8);
  sambaTensorRelease(tensor);
  sambaTensorRelease(scalar);

  SambaTensor *eight = counting(SAMBA_DTYPE_F32, DIMS(2, 2, 2)), *two;
  assert_int_equal(sambaTensorGetNumElements(eight), 8);
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2), unnamed, &two));
  assert_int_equal(sambaTensorGetNumBytes(two), 8);
  assert_true(sambaTensorGetId(two) != sambaTensorGetId(eight));
  sambaTensorRelease(eight);
  sambaTensorRelease(two);
}

/* T042: the strides of a buffer are the tensor's. */
static void stridesAreTheBuffers(void **state) {
  (void)state;
  float array[6] = {0, 1, 2, 3, 4, 5};
  int64_t dims[] = {3, 2}, strides[] = {1, 3};
  SambaBufferView view = {array, SAMBA_DTYPE_F32, 2, dims, strides};
  SambaTensor *tensor;
  expectOk(sambaTensorCreateFromBuffer(&view, unnamed, &tensor));
  expectStrides(tensor, DIMS(1, 3));
  expectValues(tensor, VALUES(0, 3, 1, 4, 2, 5));
  assert_false(sambaTensorIsContiguous(tensor));
  assert_false(sambaTensorIsReusable(tensor)); /* T067 */
  float copy[6];
  expectOk(sambaTensorReadData(tensor, copy, sizeof copy)); /* N010: bytes of the tensor's type */
  const float expected[] = {0, 3, 1, 4, 2, 5};
  assert_memory_equal(copy, expected, sizeof copy);
  expectError(sambaTensorReadData(tensor, copy, 4), SAMBA_INVALID,
              "has 24 bytes of data, but the buffer has 4");
  sambaTensorRelease(tensor);

  strides[0] = -1;
  expectError(sambaTensorCreateFromBuffer(&view, unnamed, &tensor), SAMBA_UNSUPPORTED,
              "negative strides are not supported: copy the data");
  strides[0] = INT64_MAX;
  expectError(sambaTensorCreateFromBuffer(&view, unnamed, &tensor), SAMBA_INVALID,
              "reaches farther than 64 bits can count");
}

/* T043, N004: what cannot be counted is refused when it is made, and no process ends. */
static void sizesAreChecked(void **state) {
  (void)state;
  int64_t many[SAMBA_TENSOR_MAX_RANK + 1];
  SambaTensor *tensor;
  for (int i = 0; i <= SAMBA_TENSOR_MAX_RANK; ++i)
    many[i] = 1;
  expectError(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(1 << 30, 1 << 30, 2), unnamed, &tensor),
              SAMBA_INVALID, "a tensor has more bytes than 64 bits can count: dimension 2 is 2");
  expectError(
      sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(INT64_MAX, INT64_MAX, 0), unnamed, &tensor),
      SAMBA_INVALID, "more bytes than 64 bits can count");
  expectError(
      sambaTensorCreateEmpty(SAMBA_DTYPE_F32, SAMBA_TENSOR_MAX_RANK + 1, many, unnamed, &tensor),
      SAMBA_UNSUPPORTED, "a tensor of rank 33; at most 32 dimensions can be");
  expectError(sambaTensorCreateEmpty(SAMBA_DTYPE_NONE, DIMS(1), unnamed, &tensor), SAMBA_INVALID,
              "a tensor has no element type");
  expectError(
      sambaTensorCreateUninitialized(SAMBA_DTYPE_F64, DIMS(INT64_C(1) << 55), unnamed, &tensor),
      SAMBA_EXHAUSTED,
      "bytes of host memory, which the system refuses; use a smaller "
      "shape, or an empty or lazy tensor");
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, SAMBA_TENSOR_MAX_RANK, many, unnamed, &tensor));
  assert_int_equal(sambaTensorGetNumElements(tensor), 1);
  sambaTensorRelease(tensor);

  expectOk(sambaTensorCreateUninitialized(SAMBA_DTYPE_I64, DIMS(3, 0), unnamed, &tensor));
  assert_int_equal(sambaTensorGetNumBytes(tensor), 0);
  assert_true(sambaTensorHasData(tensor));
  sambaTensorRelease(tensor);
}

/* T008, T015, T090 to T093, T108. */
static void namesAndPlaces(void **state) {
  (void)state;
  SambaTensor *tensor;
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2), unnamed, &tensor));
  assert_int_equal(sambaTensorGetName(tensor).size, 0);
  assert_string_equal(sambaTensorGetName(tensor).data, "");
  assert_string_equal(sambaTensorGetGradName(tensor).data, "");
  assert_string_equal(sambaTensorGetRegionName(tensor).data, "");

  sambaTensorSetName(tensor, sambaStringRef("t1"));
  assert_string_equal(sambaTensorGetName(tensor).data, "t1");
  assert_string_equal(sambaTensorGetGradName(tensor).data, "t1__grad");
  assert_string_equal(sambaTensorGetRegionName(tensor).data, "t1");
  sambaTensorSetRegionName(tensor, sambaStringRef("t1_other"));
  assert_string_equal(sambaTensorGetRegionName(tensor).data, "t1_other");
  assert_string_equal(sambaTensorGetName(tensor).data, "t1");
  sambaTensorSetName(tensor, (SambaStringRef){sambaTensorGetName(tensor).data + 1, 1});
  assert_string_equal(sambaTensorGetName(tensor).data, "1");

  assert_int_equal(sambaTensorGetMemoryType(tensor), SAMBA_MEMORY_AUTO);
  sambaTensorSetMemoryType(tensor, SAMBA_MEMORY_HBM);
  assert_int_equal(sambaTensorGetMemoryType(tensor), SAMBA_MEMORY_HBM);
  assert_false(sambaTensorGetFastAccess(tensor)); /* T106: the session sets it for inputs */
  sambaTensorSetFastAccess(tensor, true);
  assert_true(sambaTensorGetFastAccess(tensor));
  sambaTensorRelease(tensor);
}

/* T051, T052: gradients have the shape and type of their tensor, which is of floats. */
static void gradients(void **state) {
  (void)state;
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, DIMS(2, 3)),
              *grad = counting(SAMBA_DTYPE_F32, DIMS(2, 3)),
              *flat = counting(SAMBA_DTYPE_F32, DIMS(6)),
              *integers = counting(SAMBA_DTYPE_I32, DIMS(2, 3));
  assert_null(sambaTensorGetGrad(tensor));
  assert_false(sambaTensorGetRequiresGrad(tensor));
  expectOk(sambaTensorSetRequiresGrad(tensor, true));
  assert_true(sambaTensorGetRequiresGrad(tensor));
  expectError(sambaTensorSetRequiresGrad(integers, true), SAMBA_INVALID,
              "cannot require a gradient: only tensors of floats have one");
  assert_false(sambaTensorGetRequiresGrad(integers));
  expectOk(sambaTensorSetRequiresGrad(integers, false));
  expectError(sambaTensorSetData(tensor, integers), SAMBA_INVALID,
              "requires a gradient: its data must be floats, but these are i32");

  expectOk(sambaTensorSetGrad(tensor, grad));
  assert_ptr_equal(sambaTensorGetGrad(tensor), grad);
  expectError(sambaTensorSetGrad(tensor, flat), SAMBA_INVALID,
              "has its shape and type, but this is a tensor of shape 6xf32");
  expectError(sambaTensorSetGrad(tensor, integers), SAMBA_INVALID, "2x3xi32");
  expectError(sambaTensorSetGrad(tensor, tensor), SAMBA_INVALID, "cannot be its own gradient");
  assert_ptr_equal(sambaTensorGetGrad(tensor), grad);
  sambaTensorRelease(grad); /* the tensor keeps it */
  expectValues(sambaTensorGetGrad(tensor), VALUES(0, 1, 2, 3, 4, 5));
  expectOk(sambaTensorSetGrad(tensor, NULL));
  assert_null(sambaTensorGetGrad(tensor));

  sambaTensorRelease(tensor);
  sambaTensorRelease(flat);
  sambaTensorRelease(integers);
}

/* T050, T102: set data are shared; fresh data leave who shared the old ones alone. */
static void dataAreSet(void **state) {
  (void)state;
  float array[2] = {1, 2};
  const float three[] = {3, 4}, five[] = {5, 6};
  int64_t dims[] = {2};
  SambaBufferView view = {array, SAMBA_DTYPE_F32, 1, dims, NULL};
  SambaTensor *tensor, *other = counting(SAMBA_DTYPE_F32, DIMS(3));
  expectOk(sambaTensorCreateFromBuffer(&view, sambaStringRef("x"), &tensor));

  expectOk(sambaTensorWriteData(tensor, three, sizeof three, true));
  assert_memory_equal(array, three, sizeof three);
  expectOk(sambaTensorWriteData(tensor, five, sizeof five, false));
  assert_memory_equal(array, three, sizeof three);
  assert_ptr_not_equal(sambaTensorGetDataPtr(tensor), array);
  expectValues(tensor, VALUES(5, 6));
  expectError(sambaTensorWriteData(tensor, five, 4, false), SAMBA_INVALID,
              "tensor 'x' of shape 2xf32 has 8 bytes of data, but the buffer has 4");

  expectOk(sambaTensorSetData(tensor, other));
  expectOk(sambaTensorSetData(tensor, tensor));
  expectValues(tensor, VALUES(0, 1, 2));
  assert_string_equal(sambaTensorGetName(tensor).data, "x");
  assert_ptr_equal(sambaTensorGetDataPtr(tensor), sambaTensorGetDataPtr(other));
  sambaTensorRelease(tensor);
  sambaTensorRelease(other);
}

/* A library above hangs something on a tensor, which goes with it. */
static void expressions(void **state) {
  (void)state;
  int first = 0, second = 0;
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, DIMS(1));
  assert_null(sambaTensorGetExpression(tensor));
  sambaTensorSetExpression(tensor, &first, countRelease);
  assert_ptr_equal(sambaTensorGetExpression(tensor), &first);
  sambaTensorSetExpression(tensor, &second, countRelease);
  assert_int_equal(first, 1);
  sambaTensorRelease(tensor);
  assert_int_equal(second, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sharesABuffer),
                                     cmocka_unit_test(passesNothingThrough),
                                     cmocka_unit_test(releasesAnOwnedBuffer),
                                     cmocka_unit_test(emptyTensorsTakeNoMemory),
                                     cmocka_unit_test(shapesAreKnown),
                                     cmocka_unit_test(stridesAreTheBuffers),
                                     cmocka_unit_test(sizesAreChecked),
                                     cmocka_unit_test(namesAndPlaces),
                                     cmocka_unit_test(gradients),
                                     cmocka_unit_test(dataAreSet),
                                     cmocka_unit_test(expressions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
