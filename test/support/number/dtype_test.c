/* support/number/dtype.h: every half and bf16 pattern against the formula of IEEE 754; rounding
 * against the nearest of the neighbouring patterns, found in double precision. */
#include "support/number/dtype.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* (-1)^s * m * 2^e of a format with 5 or 8 exponent bits; infinity and NaN apart. */
static double decode(uint16_t bits, int exponentBits) {
  int mantissaBits = 15 - exponentBits;
  int bias = (1 << (exponentBits - 1)) - 1;
  int exponent = bits >> mantissaBits & ((1 << exponentBits) - 1);
  int mantissa = bits & ((1 << mantissaBits) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1)
    return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * ldexp(mantissa, 1 - bias - mantissaBits);
  return sign * ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
}

static bool isNan16(uint16_t bits, int exponent_bits) { return isnan(decode(bits, exponent_bits)); }

static void everyPatternHasItsValue(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float half = sambaHalfToFloat((uint16_t)bits);
    float brain = sambaBf16ToFloat((uint16_t)bits);
    double wantedHalf = decode((uint16_t)bits, 5);
    double wantedBrain = decode((uint16_t)bits, 8);
    assert_true(isnan(wantedHalf) ? isnan(half)
                                  : half == wantedHalf && !signbit(half) == !signbit(wantedHalf));
    assert_true(isnan(wantedBrain)
                    ? isnan(brain)
                    : brain == wantedBrain && !signbit(brain) == !signbit(wantedBrain));
    assert_int_equal(sambaFloatToHalf(half), isnan(wantedHalf) ? 0x7e00 : bits); /* back again */
    assert_int_equal(sambaFloatToBf16(brain), isnan(wantedBrain) ? 0x7fc0 : bits);
  }
}

/* Between two neighbouring patterns: below the middle down, above it up, on it to the even one. */
static void checkMiddle(int exponentBits, uint16_t (*convert)(float)) {
  for (uint32_t bits = 0; bits + 1 < 0x8000; ++bits) {
    if (isNan16((uint16_t)(bits + 1), exponentBits))
      break;
    double low = decode((uint16_t)bits, exponentBits);
    double high = decode((uint16_t)(bits + 1), exponentBits);
    if (isinf(high)) /* the next power of two stands for infinity */
      high = 2 * low - decode((uint16_t)(bits - 1), exponentBits);
    float middle = (float)((low + high) / 2);
    uint16_t even = bits % 2 ? (uint16_t)(bits + 1) : (uint16_t)bits;
    if ((double)middle != (low + high) / 2)
      continue; /* the middle is below float's own denormals */
    for (int sign = 0; sign < 2; ++sign) {
      uint16_t s = sign ? 0x8000 : 0;
      float direction = sign ? -1.0f : 1.0f;
      assert_int_equal(convert(direction * middle), s | even);
      assert_int_equal(convert(direction * nextafterf(middle, 0)), s | bits);
      assert_int_equal(convert(direction * nextafterf(middle, INFINITY)), s | (bits + 1));
    }
  }
}

static void roundingIsToNearestEven(void **state) {
  (void)state;
  checkMiddle(5, sambaFloatToHalf);
  checkMiddle(8, sambaFloatToBf16);
  assert_int_equal(sambaFloatToHalf(FLT_MAX), 0x7c00);
}

static void narrowedDataStaysFinite(void **state) {
  (void)state;
  assert_int_equal(sambaFloatToBf16(-FLT_MAX), 0xff80);
  assert_int_equal(sambaNarrowToBf16(-FLT_MAX), 0xff7f);
  assert_int_equal(sambaNarrowToBf16(FLT_MAX), 0x7f7f);
  assert_int_equal(sambaNarrowToBf16(-INFINITY), 0xff80);
  assert_int_equal(sambaNarrowToBf16(NAN), 0x7fc0);
  assert_int_equal(sambaNarrowToBf16(1.5f), sambaFloatToBf16(1.5f));
  assert_int_equal(sambaNarrowToHalf(70000.0f), 0x7bff);
  assert_int_equal(sambaNarrowToHalf(INFINITY), 0x7c00);
  assert_int_equal(sambaNarrowToHalf(-1.5f), sambaFloatToHalf(-1.5f));
}

/* Chosen by dtype: the same numbers as the named conversions, and f32 as it is. */
static void conversionsByDType(void **state) {
  (void)state;
  static const float values[] = {0.0f, -1.0f, 1.0f / 3, 65519.0f, 3e38f, FLT_MAX, -INFINITY};
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    uint32_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    assert_int_equal(sambaFloatToBits(SAMBA_DTYPE_F32, values[i]), bits);
    assert_int_equal(sambaNarrowToBits(SAMBA_DTYPE_F32, values[i]), bits);
    assert_int_equal(sambaFloatToBits(SAMBA_DTYPE_BF16, values[i]), sambaFloatToBf16(values[i]));
    assert_int_equal(sambaFloatToBits(SAMBA_DTYPE_F16, values[i]), sambaFloatToHalf(values[i]));
    assert_int_equal(sambaNarrowToBits(SAMBA_DTYPE_BF16, values[i]), sambaNarrowToBf16(values[i]));
    assert_int_equal(sambaNarrowToBits(SAMBA_DTYPE_F16, values[i]), sambaNarrowToHalf(values[i]));
    assert_true(sambaBitsToFloat(SAMBA_DTYPE_F32, bits) == values[i]);
  }
  assert_true(sambaBitsToFloat(SAMBA_DTYPE_BF16, 0x3fc0) == 1.5f);
  assert_true(sambaBitsToFloat(SAMBA_DTYPE_F16, 0x3e00) == 1.5f);

  for (int i = SAMBA_DTYPE_F32; i <= SAMBA_DTYPE_F16; ++i) { /* at an odd address */
    SambaDType dtype = (SambaDType)i;
    uint8_t data[13] = {0};
    uint32_t bits = sambaFloatToBits(dtype, -0.75f);
    memcpy(data + 1 + sambaDTypeBytes(dtype), &bits, sambaDTypeBytes(dtype));
    assert_true(sambaLoadFloat(dtype, data + 1, 1) == -0.75f);
    assert_true(sambaLoadFloat(dtype, data + 1, 0) == 0.0f);
    assert_int_equal(data[1 + 2 * sambaDTypeBytes(dtype)], 0);
  }
}

static void notANumberIsCanonical(void **state) {
  (void)state;
  uint32_t patterns[] = {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0x7fffffffu, 0xff800001u};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
    float value;
    memcpy(&value, &patterns[i], sizeof value);
    assert_int_equal(sambaFloatToHalf(value), 0x7e00);
    assert_int_equal(sambaFloatToBf16(value), 0x7fc0);
  }
}

/* Arrays that are not aligned, from each float type to each other: 1.5 is exact in all of them, and
 * 70000 is not below the largest half. */
static void arraysAreConverted(void **state) {
  (void)state;
  static const struct {
    SambaDType dtype;
    uint32_t one_and_half, large;
  } rows[] = {{SAMBA_DTYPE_F32, 0x3fc00000, 0x4788b800},
              {SAMBA_DTYPE_BF16, 0x3fc0, 0x4789},
              {SAMBA_DTYPE_F16, 0x3e00, 0x7bff}};
  static const float values[2] = {1.5f, 70000.0f};

  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to) {
      uint8_t source[9], target[9], wanted[9];
      uint32_t from_bytes = sambaDTypeBytes(rows[from].dtype);
      uint32_t to_bytes = sambaDTypeBytes(rows[to].dtype);
      float large = sambaBitsToFloat(rows[from].dtype, rows[from].large);
      uint32_t narrowed = sambaNarrowToBits(rows[to].dtype, large);

      memcpy(source + 1, &rows[from].one_and_half, from_bytes);
      memcpy(source + 1 + from_bytes, &rows[from].large, from_bytes);
      memcpy(wanted + 1, &rows[to].one_and_half, to_bytes);
      memcpy(wanted + 1 + to_bytes, &narrowed, to_bytes);
      sambaConvertFloats(rows[from].dtype, source + 1, rows[to].dtype, target + 1, 2);
      assert_memory_equal(target + 1, wanted + 1, 2 * to_bytes);
    }

  for (int to = 0; to < 3; ++to) {
    assert_int_equal(sambaNarrowToBits(rows[to].dtype, values[0]), rows[to].one_and_half);
    assert_int_equal(sambaNarrowToBits(rows[to].dtype, values[1]), rows[to].large);
    assert_true(sambaBitsToFloat(rows[to].dtype, rows[to].one_and_half) == 1.5f);
  }
  assert_true(sambaBitsToFloat(SAMBA_DTYPE_F16, 0x7bff) == 65504.0f);
}

static void namesAndSizes(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint32_t bytes;
    bool is_float;
  } rows[] = {{"f32", 4, true},  {"bf16", 2, true}, {"f16", 2, true},
              {"i1", 1, false},  {"i8", 1, false},  {"ui8", 1, false},
              {"i16", 2, false}, {"i32", 4, false}, {"i64", 8, false}};
  assert_int_equal(SAMBA_DTYPE_COUNT, sizeof rows / sizeof *rows);

  for (int i = 0; i < SAMBA_DTYPE_COUNT; ++i) {
    assert_string_equal(sambaDTypeName((SambaDType)i), rows[i].name);
    assert_int_equal(sambaDTypeBytes((SambaDType)i), rows[i].bytes);
    assert_int_equal(sambaDTypeIsFloat((SambaDType)i), rows[i].is_float);
    assert_int_equal(sambaDTypeFromName(rows[i].name, strlen(rows[i].name)), i);
  }

  assert_int_equal(sambaDTypeFromName("f64", 3), SAMBA_DTYPE_COUNT);
  assert_int_equal(sambaDTypeFromName("f3", 2), SAMBA_DTYPE_COUNT);
  assert_int_equal(sambaDTypeFromName("", 0), SAMBA_DTYPE_COUNT);
  assert_string_equal(sambaDTypeName(SAMBA_DTYPE_COUNT), "invalid");
  assert_int_equal(sambaDTypeBytes(SAMBA_DTYPE_COUNT), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyPatternHasItsValue), cmocka_unit_test(conversionsByDType),
      cmocka_unit_test(arraysAreConverted),      cmocka_unit_test(roundingIsToNearestEven),
      cmocka_unit_test(narrowedDataStaysFinite), cmocka_unit_test(notANumberIsCanonical),
      cmocka_unit_test(namesAndSizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
