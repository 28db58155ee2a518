/* What the tests of tensors share; see tensor_checks.h. */
#include "test/support/tensor/tensor_checks.h"

#include "support/number/dtype.h"

#include <math.h>
#include <stdlib.h>

void expectOk(SambaStatus status) {
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
}

void expectError(SambaStatus status, SambaStatusCode code, const char *text) {
  assert_non_null(status);
  if (!strstr(sambaStatusGetMessage(status), text))
    fail_msg("'%s' does not hold '%s'", sambaStatusGetMessage(status), text);
  assert_int_equal(sambaStatusGetCode(status), code);
  sambaStatusFree(status);
}

static void store(SambaDType dtype, void *data, int64_t index, double value) {
  switch (dtype) {
  case SAMBA_DTYPE_F64:
    ((double *)data)[index] = value;
    break;
  case SAMBA_DTYPE_F32:
    ((float *)data)[index] = (float)value;
    break;
  case SAMBA_DTYPE_BF16:
  case SAMBA_DTYPE_F16:
    ((uint16_t *)data)[index] = (uint16_t)sambaFloatToBits(dtype, (float)value);
    break;
  case SAMBA_DTYPE_I64:
    ((int64_t *)data)[index] = (int64_t)value;
    break;
  case SAMBA_DTYPE_I32:
    ((int32_t *)data)[index] = (int32_t)value;
    break;
  case SAMBA_DTYPE_I16:
    ((int16_t *)data)[index] = (int16_t)value;
    break;
  default:
    ((int8_t *)data)[index] = (int8_t)value;
  }
}

static double load(SambaDType dtype, const void *data, int64_t index) {
  switch (dtype) {
  case SAMBA_DTYPE_F64:
    return ((const double *)data)[index];
  case SAMBA_DTYPE_F32:
  case SAMBA_DTYPE_BF16:
  case SAMBA_DTYPE_F16:
    return sambaLoadFloat(dtype, data, (uint64_t)index);
  case SAMBA_DTYPE_I64:
    return (double)((const int64_t *)data)[index];
  case SAMBA_DTYPE_I32:
    return ((const int32_t *)data)[index];
  case SAMBA_DTYPE_I16:
    return ((const int16_t *)data)[index];
  case SAMBA_DTYPE_I8:
    return ((const int8_t *)data)[index];
  default:
    return ((const uint8_t *)data)[index];
  }
}

SambaTensor *tensorOf(SambaDType dtype, uint32_t rank, const int64_t *dims, const double *values) {
  int64_t count = 1;
  for (uint32_t axis = 0; axis < rank; ++axis)
    count *= dims[axis];
  void *data = calloc((size_t)count + 1, sambaDTypeBytes(dtype));
  assert_non_null(data);
  for (int64_t i = 0; i < count; ++i)
    store(dtype, data, i, values ? values[i] : (double)i);

  SambaTensor *tensor;
  SambaBufferView view = {data, dtype, rank, dims, NULL};
  expectOk(sambaTensorCreateFromBufferOwned(&view, free, data, sambaStringRef(""), &tensor));
  return tensor;
}

SambaTensor *counting(SambaDType dtype, uint32_t rank, const int64_t *dims) {
  return tensorOf(dtype, rank, dims, NULL);
}

double elementOf(const SambaTensor *tensor, int64_t index) {
  const int64_t *dims = sambaTensorGetDims(tensor), *strides = sambaTensorGetStrides(tensor);
  int64_t at = 0;
  for (uint32_t axis = sambaTensorGetRank(tensor); axis-- > 0;) {
    at += index % dims[axis] * strides[axis];
    index /= dims[axis];
  }
  return load(sambaTensorGetDType(tensor), sambaTensorGetDataPtr(tensor), at);
}

void expectDims(const SambaTensor *tensor, uint32_t rank, const int64_t *dims) {
  assert_int_equal(sambaTensorGetRank(tensor), rank);
  for (uint32_t axis = 0; axis < rank; ++axis)
    assert_int_equal(sambaTensorGetDims(tensor)[axis], dims[axis]);
}

void expectStrides(const SambaTensor *tensor, uint32_t rank, const int64_t *strides) {
  assert_int_equal(sambaTensorGetRank(tensor), rank);
  for (uint32_t axis = 0; axis < rank; ++axis)
    assert_int_equal(sambaTensorGetStrides(tensor)[axis], strides[axis]);
}

void expectValues(const SambaTensor *tensor, uint32_t count, const double *values) {
  assert_int_equal(sambaTensorGetNumElements(tensor), count);
  for (uint32_t i = 0; i < count; ++i) {
    double found = elementOf(tensor, i);
    if (found != values[i] && !(isnan(found) && isnan(values[i])))
      fail_msg("element %u is %.17g, expected %.17g", i, found, values[i]);
  }
}
