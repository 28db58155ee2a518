/* Values known at compile time; see constant.h. */
#include "frontend/onnx/core/constant.h"

#include "support/file/tensor_file.h"
#include "support/number/integer.h"

#include <math.h>
#include <string.h>

bool sambaOnnxTypeIsFloat(int64_t type) {
  return type == SAMBA_ONNX_FLOAT || type == SAMBA_ONNX_FLOAT16 || type == SAMBA_ONNX_DOUBLE ||
         type == SAMBA_ONNX_BFLOAT16;
}

uint32_t sambaOnnxTypeBytes(int64_t type) {
  static const uint8_t bytes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 0, 0, 2};
  return type >= 0 && type < (int64_t)sizeof bytes ? bytes[type] : 0;
}

int64_t sambaOnnxTypeOf(SambaDType dtype) {
  static const uint8_t types[SAMBA_DTYPE_COUNT] = {1, 16, 10, 9, 3, 2, 5, 6, 7};
  return types[dtype];
}

SambaConstant *sambaConstantNew(SambaArena *arena, int64_t onnx_type, uint32_t rank,
                                const int64_t *dims) {
  int64_t count = 1;
  if (rank > SAMBA_MAX_RANK || !sambaOnnxTypeBytes(onnx_type))
    return NULL;
  for (uint32_t axis = 0; axis < rank;
       ++axis) /* a dimension of 0: nothing, however large the others are */
    count = dims[axis] == 0 ? 0 : count;
  for (uint32_t axis = 0; axis < rank; ++axis)
    if (dims[axis] < 0 || sambaMulOverflows(count, dims[axis], &count) ||
        count > SAMBA_ONNX_MAX_FOLDED)
      return NULL;
  SambaConstant *constant = SAMBA_ARENA_NEW(arena, SambaConstant);

  constant->onnx_type = onnx_type;
  constant->is_float = sambaOnnxTypeIsFloat(onnx_type);
  constant->rank = rank;
  if (rank)
    memcpy(constant->dims, dims, rank * sizeof *dims);
  constant->count = count;
  constant->data = SAMBA_ARENA_ARRAY(arena, SambaNumber, (size_t)count);

  return constant;
}

SambaNumber sambaNumberConvert(SambaNumber number, bool from_float, int64_t type) {
  if (sambaOnnxTypeIsFloat(type)) {
    double value = from_float ? number.r : (double)number.i;
    if (type == SAMBA_ONNX_FLOAT)
      value = (double)(float)value;
    else if (type == SAMBA_ONNX_FLOAT16)
      value = (double)sambaHalfToFloat(sambaFloatToHalf((float)value));
    else if (type == SAMBA_ONNX_BFLOAT16)
      value = (double)sambaBf16ToFloat(sambaFloatToBf16((float)value));
    return (SambaNumber){.r = value};
  }

  if (type == SAMBA_ONNX_BOOL)
    return (SambaNumber){.i = from_float ? number.r != 0 : number.i != 0};
  int64_t value =
      from_float ? (int64_t)sambaDTypeBitsOfNumber(SAMBA_DTYPE_I64, number.r) : number.i;
  if (from_float && type != SAMBA_ONNX_INT64 && type != SAMBA_ONNX_UINT32 &&
      type != SAMBA_ONNX_UINT64) /* as the machine does: saturated, then wrapped */
    value = sambaClampInteger(value, INT32_MIN, INT32_MAX);

  switch (type) {
  case SAMBA_ONNX_UINT8:
    return (SambaNumber){.i = (uint8_t)value};
  case SAMBA_ONNX_INT8:
    return (SambaNumber){.i = (int8_t)value};
  case SAMBA_ONNX_UINT16:
    return (SambaNumber){.i = (uint16_t)value};
  case SAMBA_ONNX_INT16:
    return (SambaNumber){.i = (int16_t)value};
  case SAMBA_ONNX_INT32:
    return (SambaNumber){.i = (int32_t)value};
  case SAMBA_ONNX_UINT32:
    return (SambaNumber){.i = (uint32_t)value};
  default:
    return (SambaNumber){.i = value};
  }
}

static SambaNumber readElement(int64_t type, const uint8_t *at) {
  uint64_t bits = 0;
  memcpy(&bits, at, sambaOnnxTypeBytes(type));
  switch (type) {
  case SAMBA_ONNX_FLOAT: {
    float value;
    memcpy(&value, at, sizeof value);
    return (SambaNumber){.r = (double)value};
  }
  case SAMBA_ONNX_DOUBLE: {
    double value;
    memcpy(&value, at, sizeof value);
    return (SambaNumber){.r = value};
  }
  case SAMBA_ONNX_FLOAT16:
    return (SambaNumber){.r = (double)sambaHalfToFloat((uint16_t)bits)};
  case SAMBA_ONNX_BFLOAT16:
    return (SambaNumber){.r = (double)sambaBf16ToFloat((uint16_t)bits)};
  default:
    return sambaNumberConvert((SambaNumber){.i = (int64_t)bits}, false, type);
  }
}

SambaConstant *sambaConstantFromBytes(SambaArena *arena, int64_t onnx_type, uint32_t rank,
                                      const int64_t *dims, const void *bytes) {
  SambaConstant *constant = sambaConstantNew(arena, onnx_type, rank, dims);
  uint32_t width = sambaOnnxTypeBytes(onnx_type);
  for (int64_t i = 0; constant && i < constant->count; ++i)
    constant->data[i] = readElement(onnx_type, (const uint8_t *)bytes + (size_t)i * width);
  return constant;
}

void sambaConstantToBytes(const SambaConstant *constant, SambaDType dtype, void *out) {
  uint32_t width = sambaDTypeBytes(dtype);
  for (int64_t i = 0; i < constant->count; ++i) {
    uint64_t bits;
    if (constant->onnx_type == SAMBA_ONNX_DOUBLE && dtype == SAMBA_DTYPE_F32)
      bits = sambaFloatToBits(dtype, sambaNarrowToFloat(constant->data[i].r));
    else if (constant->is_float || sambaDTypeIsFloat(dtype))
      bits = sambaDTypeBitsOfNumber(dtype, sambaConstantReal(constant, i));
    else
      bits = dtype == SAMBA_DTYPE_I1 ? constant->data[i].i != 0 : (uint64_t)constant->data[i].i;
    memcpy((uint8_t *)out + (size_t)i * width, &bits, width);
  }
}

int64_t sambaConstantBroadcastIndex(const SambaConstant *c, uint32_t rank, const int64_t *dims,
                                    int64_t index) {
  int64_t at = 0, stride = 1;
  for (uint32_t back = 1; back <= rank; ++back) {
    int64_t position = index % dims[rank - back];
    index /= dims[rank - back];
    if (back <= c->rank) {
      at += c->dims[c->rank - back] == 1 ? 0 : position * stride;
      stride *= c->dims[c->rank - back];
    }
  }
  return at;
}
