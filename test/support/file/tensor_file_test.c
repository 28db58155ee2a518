/* support/file/tensor_file.h: what NumPy and ONNX write, byte for byte, and each refusal. */
#include "support/file/tensor_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A .npy file of the given version, header and data. */
static size_t makeNpy(uint8_t *out, int version, const char *header, const void *data,
                      size_t size) {
  size_t length = strlen(header);
  size_t start = version == 1 ? 10 : 12;
  memcpy(out, "\x93NUMPY", 6);
  out[6] = (uint8_t)version, out[7] = 0, out[8] = (uint8_t)length, out[9] = (uint8_t)(length >> 8);
  if (version > 1)
    out[10] = out[11] = 0;
  memcpy(out + start, header, length);
  memcpy(out + start + length, data, size);
  return start + length + size;
}

static void checkRefused(SambaStatus status, const char *wanted) {
  assert_non_null(status);
  if (!strstr(sambaStatusGetMessage(status), wanted))
    fail_msg("'%s' does not say '%s'", sambaStatusGetMessage(status), wanted);
  assert_non_null(strstr(sambaStatusGetMessage(status), "f: "));
  sambaStatusFree(status);
}

static void readsWhatNumpyWrites(void **state) {
  (void)state;
  static const float numbers[6] = {1, 2, 3, 4, 5, 6};
  static const float columnMajor[6] = {1, 4, 2, 5, 3, 6};
  uint8_t bytes[256];
  SambaArena arena = {0};
  SambaTensorFile tensor;

  for (int version = 1; version <= 3; ++version) {
    size_t size =
        makeNpy(bytes, version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
                numbers, 24);
    assert_null(sambaNpyParse("f", bytes, size, &arena, &tensor));
    assert_int_equal(tensor.dtype, SAMBA_DTYPE_F32);
    assert_int_equal(tensor.rank, 2);
    assert_int_equal(tensor.dims[0], 2);
    assert_int_equal(tensor.dims[1], 3);
    assert_int_equal(tensor.elements, 6);
    assert_memory_equal(tensor.data, numbers, 24);
  }

  size_t size = makeNpy(bytes, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
                        columnMajor, 24);
  assert_null(sambaNpyParse("f", bytes, size, &arena, &tensor));
  assert_memory_equal(tensor.data, numbers, 24);
  size =
      makeNpy(bytes, 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n", "\0\1\2", 3);
  assert_null(sambaNpyParse("f", bytes, size, &arena, &tensor));
  assert_int_equal(tensor.dtype, SAMBA_DTYPE_I1);
  assert_memory_equal(tensor.data, "\0\1\1", 3);
  static const char *const bf16[] = {"<u2", "|V2"}; /* 1, -2: the upper halves of the f32 */
  for (int i = 0; i < 2; ++i) {
    char header[96];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }\n",
             bf16[i]);
    size = makeNpy(bytes, 1, header, "\x80\x3f\0\xc0", 4);
    assert_null(sambaNpyParse("f", bytes, size, &arena, &tensor));
    assert_int_equal(tensor.dtype, SAMBA_DTYPE_BF16);
    assert_memory_equal(tensor.data, "\x80\x3f\0\xc0", 4);
  }

  size = makeNpy(bytes, 1, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n",
                 "\5\0\0\0\0\0\0\0", 8);
  assert_null(sambaNpyParse("f", bytes, size, &arena, &tensor));
  assert_int_equal(tensor.rank, 0);
  assert_int_equal(*(int64_t *)tensor.data, 5);
  sambaArenaDestroy(&arena);
}

static void refusesBadNpy(void **state) {
  (void)state;
  static const struct {
    const char *header, *wanted;
  } cases[] = {
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
       "elements of type 'f8' are not supported; use little-endian f4, f2, b1, i1, u1, i2, i4 or "
       "i8"},
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
       "elements of type '>f4' are not supported"},
      {"{'fortran_order': False, 'shape': (1,), }",
       "the .npy header lacks descr, fortran_order or shape"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
       "the .npy header lacks descr"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 1, }", "the .npy header has no shape"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
       "the .npy header has a malformed shape"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }",
       "the .npy header has a malformed shape"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
       "has a malformed shape"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
       "the shape has more elements than 64 bits can count"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,), }",
       "the shape has more bytes than 64 bits can count"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
       "the shape asks for 8 bytes of data, but the file has 4"},
  };
  uint8_t bytes[256];
  SambaArena arena = {0};
  SambaTensorFile tensor;

  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    checkRefused(sambaNpyParse("f", bytes, makeNpy(bytes, 1, cases[i].header, "\0\0\0\0", 4),
                               &arena, &tensor),
                 cases[i].wanted);
  checkRefused(sambaNpyParse("f", (const uint8_t *)"PK\3\4 is a zip", 10, &arena, &tensor),
               "not a .npy file: it does not start with \\x93NUMPY");
  size_t size = makeNpy(bytes, 1, cases[0].header, "", 0);
  for (size_t cut = 10; cut < size; ++cut)
    checkRefused(sambaNpyParse("f", bytes, cut, &arena, &tensor), "the .npy header is cut off");
  sambaArenaDestroy(&arena);
}

#define PROTO(text) (const uint8_t *)(text), sizeof(text) - 1

static void readsTensorProtos(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaTensorFile tensor;
  static const float pair[2] = {1.0f, -2.0f};

  /* dims 2 (packed), data_type FLOAT, raw_data; name before it is skipped */
  assert_null(sambaTensorProtoParse(
      "f", PROTO("\x42\x01x\x0a\x01\x02\x10\x01\x4a\x08\0\0\x80\x3f\0\0\0\xc0"), &arena, &tensor));
  assert_int_equal(tensor.dtype, SAMBA_DTYPE_F32);
  assert_int_equal(tensor.rank, 1);
  assert_memory_equal(tensor.data, pair, 8);

  /* dims 1, 2 unpacked, float_data packed */
  assert_null(sambaTensorProtoParse(
      "f", PROTO("\x08\x01\x08\x02\x10\x01\x22\x08\0\0\x80\x3f\0\0\0\xc0"), &arena, &tensor));
  assert_int_equal(tensor.rank, 2);
  assert_memory_equal(tensor.data, pair, 8);

  /* INT64, int64_data 3 and -1 (ten bytes); BOOL, int32_data; FLOAT16 as its bits in int32_data */
  assert_null(sambaTensorProtoParse(
      "f", PROTO("\x08\x02\x10\x07\x3a\x0b\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), &arena,
      &tensor));
  assert_int_equal(((int64_t *)tensor.data)[0], 3);
  assert_int_equal(((int64_t *)tensor.data)[1], -1);
  assert_null(
      sambaTensorProtoParse("f", PROTO("\x08\x02\x10\x09\x28\x00\x28\x02"), &arena, &tensor));
  assert_memory_equal(tensor.data, "\0\1", 2);
  assert_null(
      sambaTensorProtoParse("f", PROTO("\x08\x01\x10\x0a\x2a\x02\x80\x78"), &arena, &tensor));
  assert_memory_equal(tensor.data, "\0\x3c", 2);
  assert_null(
      sambaTensorProtoParse("f", PROTO("\x08\x01\x10\x04\x4a\x02\x80\x3f"), &arena, &tensor));
  assert_int_equal(tensor.dtype, SAMBA_DTYPE_BF16); /* UINT16, how ONNX's own data keep it */
  assert_memory_equal(tensor.data, "\x80\x3f", 2);
  assert_null(
      sambaTensorProtoParse("f", PROTO("\x10\x06\x2a\x01\x07"), &arena, &tensor)); /* a scalar */
  assert_int_equal(tensor.rank, 0);
  assert_int_equal(*(int32_t *)tensor.data, 7);
  sambaArenaDestroy(&arena);
}

static void refusesBadTensorProtos(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaTensorFile t;
  SambaArena *a = &arena;

  checkRefused(sambaTensorProtoParse("f", PROTO("\x0f"), a, &t),
               "not a serialized TensorProto, or cut off");
  checkRefused(sambaTensorProtoParse("f", PROTO("\x4a\x08\0"), a, &t),
               "not a serialized TensorProto, or cut off");
  checkRefused(sambaTensorProtoParse(
                   "f", PROTO("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01"), a, &t),
               "the tensor has a malformed shape");
  checkRefused(sambaTensorProtoParse("f", PROTO("\x10\x01\x70\x01"), a, &t),
               "tensors with external data are not supported in tensor files");
  checkRefused(sambaTensorProtoParse("f", PROTO("\x10\x0b"), a, &t),
               "elements of type DOUBLE (11) are not supported");
  checkRefused(sambaTensorProtoParse("f", PROTO("\x10\x63"), a, &t),
               "elements of type ? (99) are not supported");
  checkRefused(sambaTensorProtoParse("f", PROTO("\x08\xff\xff\x7f\x10\x01"), a, &t),
               "the shape asks for more data than the file has");
  checkRefused(sambaTensorProtoParse("f", PROTO("\x08\x01\x10\x01\x4a\x08\0\0\0\0\0\0\0\0"), a, &t),
               "the shape asks for 4 bytes of data, but the file has 8");
  checkRefused(sambaTensorProtoParse("f", PROTO("\x08\x02\x10\x01\x22\x04\0\0\0\0"), a, &t),
               "the shape asks for 2 elements, but the file has another number");
  checkRefused(sambaTensorProtoParse("f", PROTO("\x08\x01\x10\x01\x22\x08\0\0\0\0\0\0\0\0"), a, &t),
               "the shape asks for 1 elements, but the file has another number");
  sambaArenaDestroy(&arena);
}

static void filesRoundTrip(void **state) {
  (void)state;
  char folder[] = "tensor-file-XXXXXX";
  char path[64];

  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/t.npy", folder);
  SambaArena arena = {0};
  SambaTensorFile tensor;
  uint8_t data[48];
  for (int i = 0; i < 48; ++i)
    data[i] = (uint8_t)(i % 2);
  static const int64_t dims[3] = {3, 1, 2};
  for (int dtype = 0; dtype < SAMBA_DTYPE_COUNT; ++dtype)
    for (uint32_t rank = 0; rank <= 3; rank += 3) {
      uint64_t elements = rank ? 6 : 1;
      assert_null(sambaNpyWrite(path, (SambaDType)dtype, rank, dims, data));
      assert_null(sambaTensorFileRead(path, &arena, &tensor));
      assert_int_equal(tensor.dtype, dtype);
      assert_int_equal(tensor.rank, rank);
      assert_int_equal(tensor.elements, elements);
      assert_memory_equal(tensor.data, data, elements * sambaDTypeBytes((SambaDType)dtype));
    }
  unlink(path);
  char missing[96];
  snprintf(missing, sizeof missing, "%s: No such file or directory", path);
  SambaStatus status = sambaTensorFileRead(path, &arena, &tensor);
  assert_string_equal(sambaStatusGetMessage(status), missing);
  sambaStatusFree(status);
  snprintf(path, sizeof path, "%s.pb", folder);
  assert_int_equal(rename(folder, path), 0);
  status = sambaTensorFileRead(path, &arena, &tensor);
  assert_non_null(strstr(sambaStatusGetMessage(status), "not a regular file"));
  sambaStatusFree(status);
  rmdir(path);
  status = sambaTensorFileRead("x.csv", &arena, &tensor);
  assert_string_equal(sambaStatusGetMessage(status), "x.csv: a tensor file ends in .npy or .pb");
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(readsWhatNumpyWrites), cmocka_unit_test(refusesBadNpy),
      cmocka_unit_test(readsTensorProtos),    cmocka_unit_test(refusesBadTensorProtos),
      cmocka_unit_test(filesRoundTrip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
