/* samba/tensor.h: views share, copies do not. Rows T028, T047, T060, T061, T062, N011, N033, N040,
 * E16; names go along with casts and views of the whole. Expected strides and values are
 * PyTorch's. */
#include "test/support/tensor/tensor_checks.h"

static void t062Permute(void **state) {
  (void)state;
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, DIMS(2, 3, 4)), *view;
  sambaTensorSetName(tensor, sambaStringRef("x"));
  sambaTensorSetRegionName(tensor, sambaStringRef("r"));
  expectOk(sambaTensorPermute(tensor, DIMS(2, 0, -2), &view));
  expectDims(view, DIMS(4, 2, 3));
  expectStrides(view, DIMS(1, 12, 4));
  assert_true(sambaTensorSharesStorage(view, tensor));
  assert_string_equal(sambaTensorGetName(view).data, "x");
  assert_string_equal(sambaTensorGetRegionName(view).data, "r");
  sambaTensorRelease(tensor); /* the view keeps the data */
  assert_float_equal(elementOf(view, 7), 5, 0);

  SambaTensor *bad;
  expectError(sambaTensorPermute(view, DIMS(0, 1), &bad), SAMBA_INVALID,
              "takes 3 dimensions, but 2 are given");
  expectError(sambaTensorPermute(view, DIMS(0, 1, 1), &bad), SAMBA_INVALID,
              "names dimension 1 twice");
  expectError(sambaTensorPermute(view, DIMS(0, 1, 3), &bad), SAMBA_INVALID,
              "dimension 3 of a tensor of rank 3");
  assert_null(bad);
  sambaTensorRelease(view);
}

static void t061Transpose(void **state) {
  (void)state;
  SambaTensor *tensor = counting(SAMBA_DTYPE_I16, DIMS(2, 3)), *view,
              *row = counting(SAMBA_DTYPE_I16, DIMS(3)), *same,
              *cube = counting(SAMBA_DTYPE_I16, DIMS(1, 2, 3)), *bad;
  expectOk(sambaTensorTranspose2D(tensor, &view));
  expectDims(view, DIMS(3, 2));
  expectValues(view, VALUES(0, 3, 1, 4, 2, 5));
  expectOk(sambaTensorTranspose2D(row, &same));
  expectValues(same, VALUES(0, 1, 2));
  expectError(sambaTensorTranspose2D(cube, &bad), SAMBA_INVALID,
              "expected at most 2 dimensions; permute has more");
  sambaTensorRelease(tensor);
  sambaTensorRelease(view);
  sambaTensorRelease(row);
  sambaTensorRelease(same);
  sambaTensorRelease(cube);
}

/* T028, E16: a view where the strides allow it, else a copy. */
static void e16Reshape(void **state) {
  (void)state;
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, DIMS(2, 10)), *view, *turned, *copy, *bad;
  sambaTensorSetName(tensor, sambaStringRef("x"));
  expectOk(sambaTensorReshape(tensor, DIMS(-1, 5), &view));
  expectDims(view, DIMS(4, 5));
  expectStrides(view, DIMS(5, 1));
  assert_ptr_equal(sambaTensorGetDataPtr(view), sambaTensorGetDataPtr(tensor));
  assert_string_equal(sambaTensorGetName(view).data, "x");

  expectError(sambaTensorReshape(tensor, DIMS(-1, -1), &bad), SAMBA_INVALID,
              "reshaping tensor 'x' of shape 2x10xf32 to -1x-1: only one dimension can be -1");
  expectError(sambaTensorReshape(tensor, DIMS(-1, 3), &bad), SAMBA_INVALID,
              "with 20 elements, cannot have the shape -1x3");
  expectError(sambaTensorReshape(tensor, DIMS(5), &bad), SAMBA_INVALID, "cannot have the shape 5");
  expectError(sambaTensorReshape(tensor, DIMS(-2, 10), &bad), SAMBA_INVALID,
              "dimension 0 is -2; expected 0 or more, or -1 for what is left");
  expectError(sambaTensorReshape(tensor, DIMS(-1, 0), &bad), SAMBA_INVALID,
              "cannot have the shape");
  expectError(sambaTensorReshape(tensor, DIMS(INT64_MAX, INT64_MAX), &bad), SAMBA_INVALID,
              "cannot have the shape");
  expectError(sambaTensorReshape(tensor, SAMBA_TENSOR_MAX_RANK + 1, NULL, &bad), SAMBA_UNSUPPORTED,
              "a tensor of rank 33");

  SambaTensor *nothing = counting(SAMBA_DTYPE_F32, DIMS(0));
  expectError(sambaTensorReshape(nothing, DIMS(INT64_MAX, 0, 4), &bad), SAMBA_INVALID,
              "more bytes than 64 bits can count");
  sambaTensorRelease(nothing);
  expectOk(sambaTensorTranspose2D(tensor, &turned));
  expectOk(sambaTensorReshape(turned, DIMS(5, 2, 2), &copy)); /* torch: strides (2, 1, 10) */
  assert_true(sambaTensorSharesStorage(copy, tensor));
  expectStrides(copy, DIMS(2, 1, 10));
  sambaTensorRelease(copy);
  expectOk(sambaTensorReshape(turned, DIMS(20), &copy));
  assert_false(sambaTensorSharesStorage(copy, tensor));
  assert_float_equal(elementOf(copy, 3), 11, 0);
  sambaTensorRelease(copy);
  sambaTensorRelease(turned);
  sambaTensorRelease(view);
  sambaTensorRelease(tensor);
}

static void t060ViewAs(void **state) {
  (void)state;
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, DIMS(2, 3)),
              *like = counting(SAMBA_DTYPE_I64, DIMS(3, 2)),
              *four = counting(SAMBA_DTYPE_F32, DIMS(4)), *view, *turned, *bad;
  expectOk(sambaTensorViewAs(tensor, like, &view));
  expectDims(view, DIMS(3, 2));
  assert_int_equal(sambaTensorGetDType(view), SAMBA_DTYPE_F32);
  expectError(sambaTensorViewAs(tensor, four, &bad), SAMBA_INVALID, "cannot have the shape 4");
  expectOk(sambaTensorTranspose2D(tensor, &turned));
  expectError(sambaTensorViewAs(turned, tensor, &bad), SAMBA_INVALID,
              "its elements are not in that order in memory; use reshape, which copies");
  sambaTensorRelease(turned);
  sambaTensorRelease(view);
  sambaTensorRelease(tensor);
  sambaTensorRelease(like);
  sambaTensorRelease(four);
}

static void expandAndNarrow(void **state) {
  (void)state;
  const float zero = 0;
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, DIMS(3, 1)), *wide, *part, *bad;
  expectOk(sambaTensorExpand(tensor, DIMS(2, -1, 4), &wide));
  expectDims(wide, DIMS(2, 3, 4));
  expectStrides(wide, DIMS(0, 1, 0));
  expectOk(sambaTensorNarrow(wide, 1, 1, 2, &part));
  expectDims(part, DIMS(2, 2, 4));
  assert_float_equal(elementOf(part, 0), 1, 0);
  assert_float_equal(elementOf(part, 15), 2, 0);

  expectError(sambaTensorExpand(tensor, DIMS(2, 1), &bad), SAMBA_INVALID,
              "cannot be expanded to 2x1: only dimensions of size 1 can be repeated");
  expectError(sambaTensorExpand(tensor, DIMS(3), &bad), SAMBA_INVALID, "cannot be expanded to 3");
  expectError(sambaTensorExpand(tensor, DIMS(-1, 3, 1), &bad), SAMBA_INVALID, "cannot be expanded");
  expectError(sambaTensorExpand(tensor, DIMS(INT64_MAX, 3, 1), &bad), SAMBA_INVALID,
              "more bytes than 64 bits can count");
  expectError(sambaTensorNarrow(tensor, 0, 2, 2, &bad), SAMBA_INVALID,
              "2 elements from 2 on of dimension 0 of a tensor of shape 3x1xf32: it has only 3");
  expectError(sambaTensorNarrow(tensor, 0, -1, 1, &bad), SAMBA_INVALID, "elements from -1 on");
  expectError(sambaTensorWriteData(part, (float[16]){zero}, 64, true), SAMBA_INVALID,
              "dimension 0 repeats the same elements; write to a copy");
  sambaTensorRelease(tensor);
  sambaTensorRelease(wide);
  sambaTensorRelease(part);
}

/* N040: row-major copies, only where they are needed. */
static void n040Contiguous(void **state) {
  (void)state;
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, DIMS(2, 3)), *turned, *copy, *same, *clone;
  expectOk(sambaTensorSetRequiresGrad(tensor, true));
  expectOk(sambaTensorTranspose2D(tensor, &turned));
  expectOk(sambaTensorContiguous(turned, &copy));
  expectStrides(copy, DIMS(2, 1));
  expectValues(copy, VALUES(0, 3, 1, 4, 2, 5));
  assert_true(sambaTensorGetRequiresGrad(copy));
  expectOk(sambaTensorContiguous(tensor, &same));
  assert_ptr_equal(same, tensor);
  expectOk(sambaTensorClone(tensor, &clone));
  assert_false(sambaTensorSharesStorage(clone, tensor));
  expectValues(clone, VALUES(0, 1, 2, 3, 4, 5));

  SambaTensor *detached, *integers; /* N033 */
  expectOk(sambaTensorDetach(tensor, &detached));
  assert_false(sambaTensorGetRequiresGrad(detached));
  assert_true(sambaTensorSharesStorage(detached, tensor));
  expectOk(sambaTensorCast(tensor, SAMBA_DTYPE_I8, &integers));
  assert_false(sambaTensorGetRequiresGrad(integers));
  sambaTensorRelease(integers);
  sambaTensorRelease(detached);
  sambaTensorRelease(tensor);
  sambaTensorRelease(same);
  sambaTensorRelease(turned);
  sambaTensorRelease(copy);
  sambaTensorRelease(clone);
}

static SambaStatus makeCounting(void *user, const SambaMaterializeRequest *request) {
  ++*(int *)user;
  for (int64_t i = 0; i < request->bytes / 4; ++i)
    ((float *)request->data)[i] = (float)i + 0.5f;
  return NULL;
}

/* Empty tensors are viewed and cast without data; lazy ones stay lazy, and are made once. */
static void lazyViews(void **state) {
  (void)state;
  int calls = 0;
  SambaTensor *tensor, *turned, *flat, *cast;
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2, 2), sambaStringRef("w"), &tensor));
  sambaTensorSetMaterializer(tensor, makeCounting, &calls, NULL);
  expectOk(sambaTensorTranspose2D(tensor, &turned));
  expectOk(sambaTensorReshape(turned, DIMS(4), &flat));
  expectOk(sambaTensorCast(flat, SAMBA_DTYPE_I32, &cast));
  assert_false(sambaTensorHasData(cast));

  expectOk(sambaTensorMaterialize(turned, NULL));
  assert_true(sambaTensorHasData(tensor));
  assert_int_equal(calls, 1);
  expectValues(turned, VALUES(0.5, 2.5, 1.5, 3.5));
  expectOk(sambaTensorMaterialize(cast, NULL));
  assert_int_equal(calls, 1);
  expectValues(cast, VALUES(0, 2, 1, 3));
  sambaTensorRelease(tensor);
  sambaTensorRelease(turned);
  sambaTensorRelease(flat);
  sambaTensorRelease(cast);
}

/* T047, N011, N013. */
static void t047Items(void **state) {
  (void)state;
  float numbers[2];
  SambaScalar item;
  SambaTensor *one = tensorOf(SAMBA_DTYPE_F32, DIMS(1, 1), (double[]){1}),
              *answer = tensorOf(SAMBA_DTYPE_I64, 0, NULL, (double[]){42}),
              *two = tensorOf(SAMBA_DTYPE_BF16, DIMS(2), (double[]){1.5, -2}),
              *yes = tensorOf(SAMBA_DTYPE_I1, DIMS(1), (double[]){1});
  expectOk(sambaTensorGetItem(one, &item));
  assert_int_equal(item.dtype, SAMBA_DTYPE_F64);
  assert_true(item.number == 1.0);
  expectOk(sambaTensorGetItem(answer, &item));
  assert_int_equal(item.dtype, SAMBA_DTYPE_I64);
  assert_int_equal(item.integer, 42);
  expectOk(sambaTensorGetItem(yes, &item));
  assert_int_equal(item.dtype, SAMBA_DTYPE_I1);
  assert_int_equal(item.integer, 1);
  expectError(sambaTensorGetItem(two, &item), SAMBA_INVALID,
              "has 2 elements; only a tensor with one element is a number");

  SambaTensor *empty;
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, 0, NULL, sambaStringRef("e"), &empty));
  expectError(sambaTensorGetItem(empty, &item), SAMBA_INVALID,
              "reading its item needs the data of tensor 'e' of shape f32");
  expectError(sambaTensorCopyToFloat(empty, numbers, 1), SAMBA_INVALID,
              "copying needs the data of");
  sambaTensorRelease(empty);
  expectOk(sambaTensorCopyToFloat(two, numbers, 2));
  assert_float_equal(numbers[0], 1.5f, 0);
  assert_float_equal(numbers[1], -2, 0);
  expectError(sambaTensorCopyToFloat(two, numbers, 3), SAMBA_INVALID,
              "has 2 elements, but the buffer has place for 3");
  sambaTensorRelease(one);
  sambaTensorRelease(answer);
  sambaTensorRelease(two);
  sambaTensorRelease(yes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t062Permute), cmocka_unit_test(t061Transpose),
      cmocka_unit_test(e16Reshape),  cmocka_unit_test(t060ViewAs),
      cmocka_unit_test(lazyViews),   cmocka_unit_test(expandAndNarrow),
      cmocka_unit_test(t047Items),   cmocka_unit_test(n040Contiguous)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
