/* samba/tensor.h: tensors as text and as files. Rows N012, N013, T090. The bytes of files are
 * NumPy's. */
#include "test/support/tensor/tensor_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Text {
  char data[256];
  size_t size;
} Text;

static void append(void *user, const char *data, size_t size) {
  Text *text = user;
  assert_true(text->size + size < sizeof text->data);
  memcpy(text->data + text->size, data, size);
  text->data[text->size += size] = '\0';
}

static void expectList(SambaTensor *tensor, const char *expected) {
  Text text = {{0}, 0};
  expectOk(sambaTensorPrintList(tensor, append, &text));
  assert_string_equal(text.data, expected);
  sambaTensorRelease(tensor);
}

/* N012: as PyTorch's tolist, with the digits that the type has. */
static void n012Lists(void **state) {
  (void)state;
  expectList(counting(SAMBA_DTYPE_I32, DIMS(2, 3)), "[[0, 1, 2], [3, 4, 5]]");
  expectList(tensorOf(SAMBA_DTYPE_I64, 0, NULL, (double[]){-42}), "-42");
  expectList(counting(SAMBA_DTYPE_I1, DIMS(2)), "[False, True]");
  expectList(counting(SAMBA_DTYPE_F32, DIMS(2, 0)), "[[], []]");
  expectList(tensorOf(SAMBA_DTYPE_F32, DIMS(5), (double[]){0.1, 1, -0.0, 1e20, 16777216}),
             "[0.1, 1.0, -0.0, 1e+20, 16777216.0]");
  expectList(tensorOf(SAMBA_DTYPE_F64, DIMS(2), (double[]){0.1, 1.0 / 3}),
             "[0.1, 0.3333333333333333]");
  expectList(tensorOf(SAMBA_DTYPE_BF16, DIMS(2), (double[]){0.26692, 1.5}), "[0.268, 1.5]");
  double zero = 0;
  expectList(tensorOf(SAMBA_DTYPE_F16, DIMS(3), (double[]){1 / zero, -1 / zero, zero / zero}),
             "[inf, -inf, nan]");

  SambaTensor *tensor = counting(SAMBA_DTYPE_I8, DIMS(2, 2)), *turned, *empty;
  Text text = {{0}, 0};
  expectOk(sambaTensorTranspose2D(tensor, &turned));
  expectList(turned, "[[0, 2], [1, 3]]");
  sambaTensorRelease(tensor);
  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(1), sambaStringRef("e"), &empty));
  expectError(sambaTensorPrintList(empty, append, &text), SAMBA_INVALID,
              "printing needs the data of tensor 'e' of shape 1xf32, which has none");
  sambaTensorRelease(empty);
  expectOk(sambaTensorCreateZeros(SAMBA_DTYPE_F32, DIMS(INT64_C(1) << 40, 0, 2), sambaStringRef(""),
                                  &empty));
  expectError(sambaTensorPrintList(empty, append, &text), SAMBA_EXHAUSTED,
              "it has no elements, but 1099511627776 empty lists");
  sambaTensorRelease(empty);
}

static void expectLine(const SambaTensor *tensor, const char *expected) {
  Text text = {{0}, 0};
  sambaTensorPrint(tensor, append, &text);
  assert_string_equal(text.data, expected);
}

static SambaStatus makeNothing(void *user, const SambaMaterializeRequest *request) {
  (void)user, (void)request;
  return NULL;
}

/* Name, region, shape, type, and where the data are. */
static void lines(void **state) {
  (void)state;
  float numbers[2] = {0};
  int64_t dims[] = {2};
  SambaBufferView view = {numbers, SAMBA_DTYPE_F32, 1, dims, NULL};
  SambaTensor *tensor;
  expectOk(sambaTensorCreateFromBuffer(&view, sambaStringRef("x"), &tensor));
  expectLine(tensor, "tensor 'x', 2xf32, data: borrowed");
  expectOk(sambaTensorSetRequiresGrad(tensor, true));
  sambaTensorSetRegionName(tensor, sambaStringRef("r"));
  sambaTensorSetMemoryType(tensor, SAMBA_MEMORY_HBM);
  sambaTensorClearData(tensor);
  expectLine(tensor, "tensor 'x', region 'r', 2xf32, in HBM, requires a gradient, data: none");
  sambaTensorSetMaterializer(tensor, makeNothing, NULL, NULL);
  sambaTensorSetName(tensor, sambaStringRef(""));
  sambaTensorSetRegionName(tensor, sambaStringRef(""));
  sambaTensorSetMemoryType(tensor, SAMBA_MEMORY_AUTO);
  expectOk(sambaTensorSetRequiresGrad(tensor, false));
  expectLine(tensor, "tensor, 2xf32, data: lazy");
  expectOk(sambaTensorMaterialize(tensor, NULL));
  SambaSharding sharding = {2, (SambaStringRef[]){{"a", 1}, {"b", 1}}, true, 0, NULL};
  expectOk(sambaTensorShardInPlace(tensor, &sharding));
  expectLine(tensor, "tensor, 2xf32, on 2 devices, data: owned");
  sambaTensorRelease(tensor);
}

static char path[] = "/tmp/samba-tensor-XXXXXX";

/* What numpy.save writes behind the 128 bytes of the header. */
static void expectFile(SambaTensor *tensor, const char *header, const void *data, size_t size) {
  char found[512] = {0};
  expectOk(sambaTensorWriteNpy(tensor, path));
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t got = fread(found, 1, sizeof found, file);
  fclose(file);
  assert_int_equal(got, 128 + size);
  assert_memory_equal(found, "\x93NUMPY\x01\x00\x76\x00", 10);
  assert_memory_equal(found + 10, header, strlen(header));
  assert_memory_equal(found + 128, data, size);
  sambaTensorRelease(tensor);
}

/* N013: the type is kept, bf16 becomes f32; a file is read again. */
static void n013Files(void **state) {
  (void)state;
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  const int32_t integers[] = {0, 3, 1, 4, 2, 5};
  const float floats[] = {1.5f, -2};
  const double doubles[] = {0.1, 1e300};
  SambaTensor *tensor = counting(SAMBA_DTYPE_I32, DIMS(2, 3)), *turned, *read, *empty;
  expectOk(sambaTensorTranspose2D(tensor, &turned));
  expectFile(turned, "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2), }", integers,
             sizeof integers);
  expectOk(sambaTensorReadNpy(path, sambaStringRef("x"), &read));
  expectDims(read, DIMS(3, 2));
  expectValues(read, VALUES(0, 3, 1, 4, 2, 5));
  assert_string_equal(sambaTensorGetName(read).data, "x");
  sambaTensorRelease(read);
  sambaTensorRelease(tensor);

  expectFile(tensorOf(SAMBA_DTYPE_BF16, DIMS(2), (double[]){1.5, -2}),
             "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", floats, sizeof floats);
  expectFile(tensorOf(SAMBA_DTYPE_F64, DIMS(2), doubles),
             "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", doubles, sizeof doubles);
  expectOk(sambaTensorReadNpy(path, sambaStringRef(""), &read));
  assert_int_equal(sambaTensorGetDType(read), SAMBA_DTYPE_F64);
  expectValues(read, 2, doubles);
  sambaTensorRelease(read);

  expectOk(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, DIMS(1), sambaStringRef("e"), &empty));
  expectError(sambaTensorWriteNpy(empty, path), SAMBA_INVALID,
              "writing a file needs the data of tensor 'e'");
  sambaTensorRelease(empty);
  assert_int_equal(truncate(path, 100), 0);
  expectError(sambaTensorReadNpy(path, sambaStringRef(""), &read), SAMBA_INVALID,
              "reading a tensor: ");
  assert_null(read);
  assert_int_equal(unlink(path), 0);
  expectError(sambaTensorReadNpy(path, sambaStringRef(""), &read), SAMBA_IO, path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(n012Lists), cmocka_unit_test(lines),
                                     cmocka_unit_test(n013Files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
