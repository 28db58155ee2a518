/* Element types; see dtype.h. */
#include "support/number/dtype.h"

#include <float.h>
#include <math.h>
#include <string.h>

SambaDType sambaDTypeFromName(const char *name, uint64_t size) {
  for (int dtype = 0; dtype < SAMBA_DTYPE_COUNT; ++dtype) {
    const char *candidate = sambaDTypeName((SambaDType)dtype);
    if (strlen(candidate) == size && memcmp(candidate, name, size) == 0)
      return (SambaDType)dtype;
  }
  return SAMBA_DTYPE_COUNT;
}

static uint32_t bitsOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float floatOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint16_t sambaFloatToBf16(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return 0x7fc0;
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float sambaBf16ToFloat(uint16_t bits) { return floatOf((uint32_t)bits << 16); }

uint16_t sambaFloatToHalf(float value) {
  uint32_t bits = bitsOf(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;

  if (magnitude > 0x7f800000u)
    return 0x7e00;
  if (magnitude >= 0x477ff000u) /* 65520 and above round to infinity */
    return (uint16_t)(sign | 0x7c00u);
  if (magnitude >= 0x38800000u) { /* normal: rebias 127 -> 15, round 13 bits */
    uint32_t rebased = magnitude - 0x38000000u;
    return (uint16_t)(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
  }

  if (magnitude < 0x33000000u) /* below half the smallest subnormal */
    return (uint16_t)sign;
  uint32_t exponent = magnitude >> 23;
  uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  uint32_t shift = 126u - exponent;
  uint32_t half = 1u << (shift - 1);
  uint32_t rest = mantissa & ((1u << shift) - 1u);
  uint32_t result = mantissa >> shift;
  if (rest > half || (rest == half && (result & 1u)))
    ++result;
  return (uint16_t)(sign | result);
}

/* Only a finite value above the largest one rounds to infinity, whose bits follow those of the
 * largest. */
uint16_t sambaNarrowToBf16(float value) {
  uint16_t bits = sambaFloatToBf16(value);
  return (uint16_t)(bits - (isfinite(value) && (bits & 0x7fffu) == 0x7f80u));
}

uint16_t sambaNarrowToHalf(float value) {
  uint16_t bits = sambaFloatToHalf(value);
  return (uint16_t)(bits - (isfinite(value) && (bits & 0x7fffu) == 0x7c00u));
}

float sambaNarrowToFloat(double value) {
  if (isfinite(value) && fabs(value) > (double)FLT_MAX)
    return value < 0 ? -FLT_MAX : FLT_MAX;
  return (float)value;
}

float sambaHalfToFloat(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f)
    return floatOf(mantissa ? 0x7fc00000u : sign | 0x7f800000u);
  if (exponent)
    return floatOf(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  float value = (float)mantissa * 0x1p-24f;
  return sign ? -value : value;
}

uint32_t sambaFloatToBits(SambaDType dtype, float value) {
  if (dtype == SAMBA_DTYPE_F32)
    return bitsOf(value);
  return dtype == SAMBA_DTYPE_BF16 ? sambaFloatToBf16(value) : sambaFloatToHalf(value);
}

uint32_t sambaNarrowToBits(SambaDType dtype, float value) {
  if (dtype == SAMBA_DTYPE_F32)
    return bitsOf(value);
  return dtype == SAMBA_DTYPE_BF16 ? sambaNarrowToBf16(value) : sambaNarrowToHalf(value);
}

float sambaBitsToFloat(SambaDType dtype, uint32_t bits) {
  if (dtype == SAMBA_DTYPE_F32)
    return floatOf(bits);
  return dtype == SAMBA_DTYPE_BF16 ? sambaBf16ToFloat((uint16_t)bits)
                                   : sambaHalfToFloat((uint16_t)bits);
}

/* Hosts are little-endian, as files are. */
float sambaLoadFloat(SambaDType dtype, const void *data, uint64_t index) {
  uint32_t wide;
  uint16_t narrow;
  if (dtype == SAMBA_DTYPE_F32) {
    memcpy(&wide, (const uint8_t *)data + index * sizeof wide, sizeof wide);
    return floatOf(wide);
  }
  memcpy(&narrow, (const uint8_t *)data + index * sizeof narrow, sizeof narrow);
  return sambaBitsToFloat(dtype, narrow);
}

void sambaConvertFloats(SambaDType from, const void *source, SambaDType to, void *target,
                        uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t wide = sambaNarrowToBits(to, sambaLoadFloat(from, source, i));
    uint16_t narrow = (uint16_t)wide;
    if (to == SAMBA_DTYPE_F32)
      memcpy((uint8_t *)target + i * sizeof wide, &wide, sizeof wide);
    else
      memcpy((uint8_t *)target + i * sizeof narrow, &narrow, sizeof narrow);
  }
}
