/* samba/tensor.h: data that are made when somebody needs them. Rows T007, T013, T014, T020, T021,
 * T022, T023, T024, T025, T026. */
#include "test/support/tensor/tensor_checks.h"

#include <stdlib.h>

static const SambaStringRef unnamed = {"", 0};

typedef struct Recorder {
  int calls, released;
  SambaMaterializeRequest last;
  bool fails;
} Recorder;

static SambaStatus makeCounting(void *user, const SambaMaterializeRequest *request) {
  Recorder *recorder = user;
  recorder->last = *request;
  float *data = request->data;
  for (int64_t i = 0; i < request->bytes / 4; ++i)
    data[i] = (float)(i + 10 * recorder->calls);
  ++recorder->calls;
  return recorder->fails ? sambaStatusMake(SAMBA_IO, "the disk is gone") : NULL;
}

static void countRelease(void *user) { ++((Recorder *)user)->released; }

/* T013, T014, T022: once, with everything that is known of the tensor. */
static void madeOnce(void **state) {
  (void)state;
  Recorder recorder = {0};
  SambaGenerator *generator = (SambaGenerator *)&recorder; /* handed on, never looked at */
  SambaTensor *tensor;
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2, 3), sambaStringRef("w"), &tensor));
  expectOk(sambaTensorSetRequiresGrad(tensor, true));
  sambaTensorSetMaterializer(tensor, makeCounting, &recorder, countRelease);
  assert_false(sambaTensorHasData(tensor));

  expectOk(sambaTensorMaterialize(tensor, generator));
  expectOk(sambaTensorMaterialize(tensor, generator));
  assert_int_equal(recorder.calls, 1);
  expectValues(tensor, VALUES(0, 1, 2, 3, 4, 5));
  assert_string_equal(recorder.last.name.data, "w");
  assert_int_equal(recorder.last.dtype, SAMBA_DTYPE_F32);
  assert_int_equal(recorder.last.rank, 2);
  assert_int_equal(recorder.last.dims[1], 3);
  assert_true(recorder.last.requires_grad);
  assert_ptr_equal(recorder.last.generator, generator);
  assert_int_equal(recorder.last.bytes, 24);

  sambaTensorRelease(tensor);
  assert_int_equal(recorder.released, 1);
}

/* T020: nobody can make the data of a tensor that is only empty. */
static void refusedWithoutMaterializer(void **state) {
  (void)state;
  SambaTensor *tensor, *copy;
  float data[2];
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2), sambaStringRef("w"), &tensor));
  expectError(sambaTensorMaterialize(tensor, NULL), SAMBA_INVALID,
              "tensor 'w' of shape 2xf32 has no data and no materializer that could make "
              "them; set its data or give it one");
  expectError(sambaTensorCopyMaterialized(tensor, NULL, &copy), SAMBA_INVALID, "no materializer");
  assert_null(copy);
  expectError(sambaTensorReadData(tensor, data, sizeof data), SAMBA_INVALID,
              "reading needs the data of tensor 'w' of shape 2xf32, which has none");
  expectError(sambaTensorWriteData(tensor, data, sizeof data, true), SAMBA_INVALID,
              "writing in place needs the data of");
  sambaTensorRelease(tensor);
}

/* T013: what has data is not made, T021: until they are cleared; views keep them. */
static void clearedAndMadeAgain(void **state) {
  (void)state;
  Recorder recorder = {0};
  SambaTensor *tensor = counting(SAMBA_DTYPE_F32, DIMS(2)), *view;
  sambaTensorSetMaterializer(tensor, makeCounting, &recorder, NULL);
  expectOk(sambaTensorMaterialize(tensor, NULL));
  assert_int_equal(recorder.calls, 0);
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2), unnamed, &view));
  expectOk(sambaTensorSetData(view, tensor));

  sambaTensorClearData(tensor);
  sambaTensorClearData(tensor);
  assert_false(sambaTensorHasData(tensor));
  expectDims(tensor, DIMS(2));
  expectValues(view, VALUES(0, 1));
  recorder.calls = 1;
  expectOk(sambaTensorMaterialize(tensor, NULL));
  expectValues(tensor, VALUES(10, 11));
  sambaTensorRelease(tensor);
  sambaTensorRelease(view);
}

/* T023, T024: looking makes nothing; a copy is made and not kept. */
static void copiesAreNotKept(void **state) {
  (void)state;
  Recorder recorder = {0};
  SambaTensor *tensor, *first, *second, *same;
  SambaBufferView view;
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2), sambaStringRef("w"), &tensor));
  sambaTensorSetMaterializer(tensor, makeCounting, &recorder, NULL);
  sambaTensorGetBuffer(tensor, &view);
  assert_null(view.data);
  expectOk(sambaTensorCopyMaterialized(tensor, NULL, &first));
  expectOk(sambaTensorCopyMaterialized(tensor, NULL, &second));
  assert_false(sambaTensorHasData(tensor));
  expectValues(first, VALUES(0, 1));
  expectValues(second, VALUES(10, 11));
  assert_string_equal(sambaTensorGetName(first).data, "w");

  expectOk(sambaTensorCopyMaterialized(first, NULL, &same));
  assert_ptr_equal(same, first);
  assert_int_equal(recorder.calls, 2);
  sambaTensorRelease(same);
  sambaTensorRelease(first);
  sambaTensorRelease(second);
  sambaTensorRelease(tensor);
}

/* T025, T026: set and got again, taken away. */
static void materializersAreProperties(void **state) {
  (void)state;
  Recorder first = {0}, second = {0};
  void *user;
  SambaTensor *tensor;
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2), unnamed, &tensor));
  assert_null(sambaTensorGetMaterializer(tensor, &user));
  sambaTensorSetMaterializer(tensor, makeCounting, &first, countRelease);
  assert_ptr_equal(sambaTensorGetMaterializer(tensor, &user), makeCounting);
  assert_ptr_equal(user, &first);
  sambaTensorSetMaterializer(tensor, makeCounting, &second, countRelease);
  assert_int_equal(first.released, 1);
  sambaTensorSetMaterializer(tensor, NULL, NULL, NULL);
  assert_int_equal(second.released, 1);
  assert_null(sambaTensorGetMaterializer(tensor, NULL));
  expectError(sambaTensorMaterialize(tensor, NULL), SAMBA_INVALID, "no materializer");
  sambaTensorRelease(tensor);
}

/* A materializer that fails leaves the tensor without data, and may be asked again. */
static void failuresAreTold(void **state) {
  (void)state;
  Recorder recorder = {.fails = true};
  SambaTensor *tensor, *copy;
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(2), sambaStringRef("w"), &tensor));
  sambaTensorSetMaterializer(tensor, makeCounting, &recorder, NULL);
  expectError(sambaTensorMaterialize(tensor, NULL), SAMBA_IO,
              "materializing tensor 'w' of shape 2xf32: the disk is gone");
  expectError(sambaTensorCopyMaterialized(tensor, NULL, &copy), SAMBA_IO, "the disk is gone");
  assert_null(copy);
  assert_false(sambaTensorHasData(tensor));
  recorder.fails = false;
  expectOk(sambaTensorMaterialize(tensor, NULL));
  expectValues(tensor, VALUES(20, 21));
  sambaTensorRelease(tensor);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(madeOnce),         cmocka_unit_test(refusedWithoutMaterializer),
      cmocka_unit_test(copiesAreNotKept), cmocka_unit_test(clearedAndMadeAgain),
      cmocka_unit_test(failuresAreTold),  cmocka_unit_test(materializersAreProperties)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
