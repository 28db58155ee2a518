/* Numbers from one element type to another; see convert.h.
 *
 * Floats go through f64, which holds all of them exactly, and integers through i64: so every number
 * is rounded once. bf16 and f16 alone are rounded from f32, as PyTorch does. What an integer cannot
 * hold becomes what the conversion instructions of x86-64 give, as in PyTorch: the smallest i64 for
 * i64 and ui8, the smallest i32 for the others, of which the low bits are kept. */
#include "support/number/convert.h"

#include "support/number/dtype.h"

#include <math.h>

enum { chunk = 128 };

static int64_t truncateTo64(double value) {
  return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

static int32_t truncateTo32(double value) {
  return value > -0x1p31 - 1 && value < 0x1p31 ? (int32_t)value : INT32_MIN;
}

/* ---- A row of one type to f64 or i64 ---- */

#define EACH(type, expression)                                                                     \
  for (int i = 0; i < count; ++i, source += step) {                                                \
    type value;                                                                                    \
    memcpy(&value, source, sizeof value);                                                          \
    out[i] = (expression);                                                                         \
  }                                                                                                \
  break

static void loadFloats(SambaDType dtype, const uint8_t *source, int64_t step, double *out,
                       int count) {
  switch ((int)dtype) {
  case SAMBA_DTYPE_F64:
    EACH(double, value);
  case SAMBA_DTYPE_F32:
    EACH(float, (double)value);
  case SAMBA_DTYPE_BF16:
    EACH(uint16_t, (double)sambaBf16ToFloat(value));
  case SAMBA_DTYPE_F16:
    EACH(uint16_t, (double)sambaHalfToFloat(value));
  }
}

static void loadIntegers(SambaDType dtype, const uint8_t *source, int64_t step, int64_t *out,
                         int count) {
  switch ((int)dtype) {
  case SAMBA_DTYPE_I64:
    EACH(int64_t, value);
  case SAMBA_DTYPE_I32:
    EACH(int32_t, value);
  case SAMBA_DTYPE_I16:
    EACH(int16_t, value);
  case SAMBA_DTYPE_I8:
    EACH(int8_t, value);
  case SAMBA_DTYPE_UI8:
    EACH(uint8_t, value);
  case SAMBA_DTYPE_I1:
    EACH(uint8_t, value != 0);
  }
}

#undef EACH

/* ---- And from there to another ---- */

#define EACH(type, expression)                                                                     \
  for (int i = 0; i < count; ++i, target += step) {                                                \
    type result = (type)(expression);                                                              \
    memcpy(target, &result, sizeof result);                                                        \
  }                                                                                                \
  break

static void storeFloats(SambaDType dtype, const double *in, uint8_t *target, int64_t step,
                        int count) {
  switch ((int)dtype) {
  case SAMBA_DTYPE_F64:
    EACH(double, in[i]);
  case SAMBA_DTYPE_F32:
    EACH(float, in[i]);
  case SAMBA_DTYPE_BF16:
    EACH(uint16_t, sambaFloatToBf16((float)in[i]));
  case SAMBA_DTYPE_F16:
    EACH(uint16_t, sambaFloatToHalf((float)in[i]));
  case SAMBA_DTYPE_I64:
    EACH(int64_t, truncateTo64(in[i]));
  case SAMBA_DTYPE_I32:
    EACH(int32_t, truncateTo32(in[i]));
  case SAMBA_DTYPE_I16:
    EACH(int16_t, truncateTo32(in[i]));
  case SAMBA_DTYPE_I8:
    EACH(int8_t, truncateTo32(in[i]));
  case SAMBA_DTYPE_UI8:
    EACH(uint8_t, truncateTo64(in[i]));
  case SAMBA_DTYPE_I1:
    EACH(uint8_t, in[i] != 0);
  }
}

static void storeIntegers(SambaDType dtype, const int64_t *in, uint8_t *target, int64_t step,
                          int count) {
  switch ((int)dtype) {
  case SAMBA_DTYPE_F64:
    EACH(double, in[i]);
  case SAMBA_DTYPE_F32:
    EACH(float, in[i]);
  case SAMBA_DTYPE_BF16:
    EACH(uint16_t, sambaFloatToBf16((float)in[i]));
  case SAMBA_DTYPE_F16:
    EACH(uint16_t, sambaFloatToHalf((float)in[i]));
  case SAMBA_DTYPE_I64:
    EACH(int64_t, in[i]);
  case SAMBA_DTYPE_I32:
    EACH(int32_t, in[i]);
  case SAMBA_DTYPE_I16:
    EACH(int16_t, in[i]);
  case SAMBA_DTYPE_I8:
    EACH(int8_t, in[i]);
  case SAMBA_DTYPE_UI8:
    EACH(uint8_t, in[i]);
  case SAMBA_DTYPE_I1:
    EACH(uint8_t, in[i] != 0);
  }
}

#undef EACH

void sambaConvertRow(SambaDType from, const uint8_t *source, int64_t source_step, SambaDType to,
                     uint8_t *target, int64_t target_step, int64_t count) {
  bool floats = sambaDTypeIsFloatingPoint(from);
  double wide[chunk];
  int64_t whole[chunk];
  while (count > 0) {
    int now = (int)(count < chunk ? count : chunk);
    if (floats) {
      loadFloats(from, source, source_step, wide, now);
      storeFloats(to, wide, target, target_step, now);
    } else {
      loadIntegers(from, source, source_step, whole, now);
      storeIntegers(to, whole, target, target_step, now);
    }
    source += now * source_step;
    target += now * target_step;
    count -= now;
  }
}

/* ---- Numbers of the host ---- */

SambaScalar sambaScalarLoad(SambaDType dtype, const void *data) {
  double number = 0;
  int64_t integer = 0;
  if (sambaDTypeIsFloatingPoint(dtype)) {
    loadFloats(dtype, data, 0, &number, 1);
    return sambaScalarFloat(number);
  }
  loadIntegers(dtype, data, 0, &integer, 1);
  return dtype == SAMBA_DTYPE_I1 ? sambaScalarBool(integer) : sambaScalarInt(integer);
}

void sambaScalarStore(SambaScalar scalar, SambaDType dtype, void *data) {
  if (scalar.dtype == SAMBA_DTYPE_F64)
    storeFloats(dtype, &scalar.number, data, 0, 1);
  else
    storeIntegers(dtype, &scalar.integer, data, 0, 1);
}

double sambaScalarToDouble(SambaScalar scalar) {
  return scalar.dtype == SAMBA_DTYPE_F64 ? scalar.number : (double)scalar.integer;
}

int64_t sambaScalarToInteger(SambaScalar scalar) {
  return scalar.dtype == SAMBA_DTYPE_F64 ? truncateTo64(scalar.number) : scalar.integer;
}
