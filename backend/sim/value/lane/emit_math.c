/* Transcendental functions of f32 over the lane builder: one definition for every host and vector
 * width.
 *
 * exp works in f32. Everything else widens to f64, where a short polynomial in fma form is good to
 * about 2^-40, overflow and f32's denormals do not exist, and the one rounding back to f32 is
 * nearly always the right one. Bounds and methods are in docs/numerics.md; the coefficients are
 * Chebyshev fits, highest degree first, each with its interval and relative error. */
#include "backend/sim/value/lane/emit.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* (expm1(r) - r) / r^2 on |r| <= 0.5 ln 2; 8e-9 of exp. */
static const float expPolynomial[] = {0x1.6d117cp-10f, 0x1.120be2p-7f, 0x1.55551ap-5f,
                                      0x1.5554dcp-3f, 0x1.0p-1f};
/* expm1(r) / r on |r| <= 0.5 ln 2; 8.0e-14. */
static const double expm1Polynomial[] = {
    0x1.72c72ca338df0p-19, 0x1.a15a600528a0fp-16, 0x1.a019ada3609f3p-13,
    0x1.6c164de86dafdp-10, 0x1.1111111c478ebp-7,  0x1.555555742d965p-5,
    0x1.5555555553b78p-3,  0x1.fffffffff71b2p-2,  0x1.0p+0};
/* 2 atanh(s) / s in s^2, s <= (sqrt 2 - 1) / (sqrt 2 + 1); 5.4e-14. */
static const double logPolynomial[] = {0x1.91964a6f6a870p-3, 0x1.c620b4d69d21fp-3,
                                       0x1.249438c79022ap-2, 0x1.9999962a792dbp-2,
                                       0x1.5555555671e8cp-1, 0x1.fffffffffff12p+0};
/* atan(s) / s in s^2, s <= tan(pi / 8); 7.6e-13. */
static const double atanPolynomial[] = {
    -0x1.3458e87453b94p-5, 0x1.1da0eee52eaf6p-4, -0x1.7053d2652a76cp-4, 0x1.c6cbf9fdd5f81p-4,
    -0x1.24908fcf30af2p-3, 0x1.9999903d2629dp-3, -0x1.5555554b9878ap-2, 0x1.fffffffffe548p-1};
/* erf(x) / x in x^2, x <= 1; 8.3e-13. */
static const double erfPolynomial[] = {
    0x1.1c41ab6eec487p-20,  -0x1.d2b8522d6f7cbp-17, 0x1.f57e9cee106c1p-14,
    -0x1.bfe158a7be278p-11, 0x1.56588b32275a7p-8,   -0x1.b82cbae7577a7p-6,
    0x1.ce2f20a7415c6p-4,   -0x1.812746ade3c08p-2,  0x1.20dd750428cb9p+0};
/* exp(x^2) erfc(x) in t = (x - 2) / (x + 2), 1 <= x <= 4; 1.0e-12. */
static const double erfcxPolynomial[] = {
    0x1.5dc271b0644a7p-13, 0x1.a7ddfaab054e5p-15, -0x1.013a0f41438a4p-10, -0x1.bc7de4beb4d06p-11,
    0x1.ca95704f47c12p-8,  0x1.e947f2a1a448ep-9,  -0x1.437f0b4cfdf26p-4,  0x1.eeea7dbc73a8ap-3,
    -0x1.b57034efd7e9cp-2, 0x1.058671b52feeep-2};
/* sin(r) / r and cos(r) in r^2, |r| <= pi / 4; 4.3e-15 and 5.6e-14. */
static const double sinPolynomial[] = {-0x1.a94f3449b3310p-26, 0x1.71d72de46d603p-19,
                                       -0x1.a019f89b22deep-13, 0x1.1111110bd90c7p-7,
                                       -0x1.5555555550ea3p-3,  0x1.fffffffffffd9p-1};
static const double cosPolynomial[] = {-0x1.23c4b4e82f460p-22, 0x1.a00e90b2c819fp-16,
                                       -0x1.6c16b2c8b6da2p-10, 0x1.5555554464fffp-5,
                                       -0x1.ffffffffe351bp-2,  0x1.ffffffffffe08p-1};
/* The first 224 bits of 2 / pi after the binary point. */
static const uint32_t twoOverPi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                     0xDB629599, 0x3C439041, 0xFE5163AB};

static LLVMValueRef polynomial(const SambaEmit *e, const double *coefficients, size_t count,
                               LLVMValueRef x) {
  LLVMValueRef sum = sambaEmitDouble(e, coefficients[0]);
  for (size_t i = 1; i < count; ++i)
    sum = sambaEmitFma(e, sum, x, sambaEmitDouble(e, coefficients[i]));
  return sum;
}
#define POLYNOMIAL(e, table, x) polynomial((e), (table), COUNT(table), (x))

static LLVMValueRef add(const SambaEmit *e, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFAdd(e->builder, a, b, "");
}
static LLVMValueRef sub(const SambaEmit *e, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFSub(e->builder, a, b, "");
}
static LLVMValueRef mul(const SambaEmit *e, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFMul(e->builder, a, b, "");
}
static LLVMValueRef divide(const SambaEmit *e, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFDiv(e->builder, a, b, "");
}
static LLVMValueRef d(const SambaEmit *e, double value) { return sambaEmitDouble(e, value); }
static LLVMValueRef widen(const SambaEmit *e, LLVMValueRef x) {
  return LLVMBuildFPExt(e->builder, x, sambaEmitType(e, e->f64), "");
}
static LLVMValueRef narrow(const SambaEmit *e, LLVMValueRef x) {
  return LLVMBuildFPTrunc(e->builder, x, sambaEmitType(e, e->f32), "");
}
static LLVMValueRef magnitude(const SambaEmit *e, LLVMValueRef x) {
  return sambaEmitUnary(e, "llvm.fabs", x);
}
static LLVMValueRef withSign(const SambaEmit *e, LLVMValueRef x, LLVMValueRef sign) {
  return sambaEmitBinary(e, "llvm.copysign", x, sign);
}
static LLVMValueRef less(const SambaEmit *e, LLVMValueRef a, LLVMValueRef b) {
  return sambaEmitCompare(e, LLVMRealOLT, a, b);
}
static LLVMValueRef equal(const SambaEmit *e, LLVMValueRef a, LLVMValueRef b) {
  return sambaEmitCompare(e, LLVMRealOEQ, a, b);
}
static LLVMValueRef pick(const SambaEmit *e, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
  return sambaEmitSelect(e, c, a, b);
}
static LLVMValueRef isNan(const SambaEmit *e, LLVMValueRef x) {
  return sambaEmitCompare(e, LLVMRealUNO, x, x);
}

/* Into [low, high]; a NaN stays one. */
static LLVMValueRef clamp(const SambaEmit *e, LLVMValueRef x, LLVMValueRef low, LLVMValueRef high) {
  x = pick(e, less(e, x, low), low, x);
  return pick(e, less(e, high, x), high, x);
}

/* Adding 1.5 * 2^52 leaves the nearest integer in the low bits of the pattern. */
static const double integerMagic = 0x1.8p52;

/* 2^n for the integer that `shifted` = n + integerMagic holds, |n| < 1023. */
static LLVMValueRef powerOfTwo(const SambaEmit *e, LLVMValueRef shifted) {
  LLVMValueRef bits = LLVMBuildShl(e->builder, sambaEmitBitcast(e, shifted, e->i64),
                                   sambaEmitInteger(e, e->i64, 52), "");
  return sambaEmitBitcast(
      e, LLVMBuildAdd(e->builder, bits, sambaEmitInteger(e, e->i64, INT64_C(1023) << 52), ""),
      e->f64);
}

typedef struct Exponential {
  LLVMValueRef scale, fraction;
} Exponential; /* scale * (1 + fraction) */

/* exp(x) of an f64, |x| < 700, as 2^n and expm1 of the rest. */
static Exponential exponential(const SambaEmit *e, LLVMValueRef x) {
  LLVMValueRef shifted = sambaEmitFma(e, x, d(e, M_LOG2E), d(e, integerMagic));
  LLVMValueRef n = sub(e, shifted, d(e, integerMagic));
  LLVMValueRef rest = sambaEmitFma(e, n, d(e, -0x1.62e42fefa39efp-1), x);
  rest = sambaEmitFma(e, n, d(e, -0x1.abc9e3b39803fp-56), rest);
  return (Exponential){powerOfTwo(e, shifted), mul(e, rest, POLYNOMIAL(e, expm1Polynomial, rest))};
}

static LLVMValueRef exp64(const SambaEmit *e, LLVMValueRef x) {
  Exponential parts = exponential(e, x);
  return sambaEmitFma(e, parts.scale, parts.fraction, parts.scale);
}

static LLVMValueRef expm164(const SambaEmit *e, LLVMValueRef x) {
  Exponential parts = exponential(e, x);
  return sambaEmitFma(e, parts.scale, parts.fraction, sub(e, parts.scale, d(e, 1)));
}

typedef struct Logarithm {
  LLVMValueRef exponent, fraction;
} Logarithm; /* exponent * ln 2 + fraction */

/* log of a positive normal f64. above_one: u - 1 without rounding where the caller has it (log1p),
 * else NULL. */
static Logarithm logarithm(const SambaEmit *e, LLVMValueRef u, LLVMValueRef above_one) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef bits = sambaEmitBitcast(e, u, e->i64);
  LLVMValueRef offset = LLVMBuildSub(
      b, bits, sambaEmitInteger(e, e->i64, INT64_C(0x3FE6A09E667F3BCD)), ""); /* sqrt(1/2) */
  LLVMValueRef k = LLVMBuildAShr(b, offset, sambaEmitInteger(e, e->i64, 52), "");
  LLVMValueRef mantissa =
      LLVMBuildSub(b, bits, LLVMBuildShl(b, k, sambaEmitInteger(e, e->i64, 52), ""), "");
  LLVMValueRef m = sambaEmitBitcast(e, mantissa, e->f64);
  LLVMValueRef magic = sambaEmitInteger(e, e->i64, INT64_C(0x4338000000000000));
  LLVMValueRef exponent =
      sub(e, sambaEmitBitcast(e, LLVMBuildAdd(b, k, magic, ""), e->f64), d(e, integerMagic));
  LLVMValueRef numerator = sub(e, m, d(e, 1));
  LLVMValueRef denominator = add(e, m, d(e, 1));

  if (above_one) {
    LLVMValueRef unscaled =
        sambaEmitIntegerCompare(e, LLVMIntEQ, k, sambaEmitInteger(e, e->i64, 0));
    numerator = pick(e, unscaled, above_one, numerator);
    denominator = pick(e, unscaled, add(e, above_one, d(e, 2)), denominator);
  }

  LLVMValueRef s = divide(e, numerator, denominator);
  return (Logarithm){exponent, mul(e, s, POLYNOMIAL(e, logPolynomial, mul(e, s, s)))};
}

/* log(x), or log(1 + x), of an f32, with the limits of the domain. */
static LLVMValueRef naturalLog(const SambaEmit *e, LLVMValueRef x32, bool plus_one) {
  LLVMValueRef x = widen(e, x32);
  LLVMValueRef u = plus_one ? add(e, x, d(e, 1)) : x;
  Logarithm parts = logarithm(e, u, plus_one ? x : NULL);
  LLVMValueRef result = narrow(e, sambaEmitFma(e, parts.exponent, d(e, M_LN2), parts.fraction));
  result = pick(e, equal(e, u, d(e, INFINITY)), sambaEmitFloat(e, INFINITY), result);
  result = pick(e, equal(e, u, d(e, 0)), sambaEmitFloat(e, -INFINITY), result);
  if (plus_one) /* keeps -0 */
    result = pick(e, equal(e, x, d(e, 0)), x32, result);
  LLVMValueRef valid = sambaEmitCompare(e, LLVMRealOGE, u, d(e, 0));
  return pick(e, valid, result, sambaEmitFloat(e, (float)NAN));
}

/* exp in f32: 2^n * (1 + r + r^2 q(r)), the scale in two factors so that denormals round once. */
static LLVMValueRef exp32(const SambaEmit *e, LLVMValueRef x) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef bounded = clamp(e, x, sambaEmitFloat(e, -104.0f), sambaEmitFloat(e, 89.0f));
  LLVMValueRef magic = sambaEmitFloat(e, 0x1.8p23f);
  LLVMValueRef shifted = sambaEmitFma(e, bounded, sambaEmitFloat(e, 0x1.715476p+0f), magic);
  LLVMValueRef n = sub(e, shifted, magic);
  LLVMValueRef r = sambaEmitFma(e, n, sambaEmitFloat(e, -0x1.62e430p-1f), bounded);

  r = sambaEmitFma(e, n, sambaEmitFloat(e, 0x1.05c610p-29f), r);
  LLVMValueRef q = sambaEmitFloat(e, expPolynomial[0]);
  for (size_t i = 1; i < COUNT(expPolynomial); ++i)
    q = sambaEmitFma(e, q, r, sambaEmitFloat(e, expPolynomial[i]));
  LLVMValueRef p = add(e, sambaEmitFma(e, mul(e, r, r), q, r), sambaEmitFloat(e, 1.0f));
  LLVMValueRef whole = LLVMBuildSub(b, sambaEmitBitcast(e, shifted, e->i32),
                                    sambaEmitInteger(e, e->i32, 0x4B400000), "");
  LLVMValueRef first = LLVMBuildAShr(b, whole, sambaEmitInteger(e, e->i32, 1), "");
  LLVMValueRef second = LLVMBuildSub(b, whole, first, "");
  LLVMValueRef bias = sambaEmitInteger(e, e->i32, 127);
  LLVMValueRef place = sambaEmitInteger(e, e->i32, 23);
  LLVMValueRef low =
      sambaEmitBitcast(e, LLVMBuildShl(b, LLVMBuildAdd(b, first, bias, ""), place, ""), e->f32);
  LLVMValueRef high =
      sambaEmitBitcast(e, LLVMBuildShl(b, LLVMBuildAdd(b, second, bias, ""), place, ""), e->f32);
  return pick(e, isNan(e, x), x, mul(e, mul(e, p, low), high));
}

static LLVMValueRef expm132(const SambaEmit *e, LLVMValueRef x) {
  LLVMValueRef result = narrow(e, expm164(e, clamp(e, widen(e, x), d(e, -100), d(e, 90))));
  return pick(e, equal(e, x, sambaEmitFloat(e, 0)), x, result); /* keeps -0 */
}

/* (e^2x - 1) / (e^2x + 1) of the magnitude. */
static LLVMValueRef tanh32(const SambaEmit *e, LLVMValueRef x) {
  LLVMValueRef y = clamp(e, magnitude(e, widen(e, x)), d(e, 0), d(e, 10));
  LLVMValueRef grown = expm164(e, add(e, y, y));
  return withSign(e, narrow(e, divide(e, grown, add(e, grown, d(e, 2)))), x);
}

static LLVMValueRef erf32(const SambaEmit *e, LLVMValueRef x) {
  LLVMValueRef y = clamp(e, magnitude(e, widen(e, x)), d(e, 0), d(e, 4));
  LLVMValueRef square = mul(e, y, y);
  LLVMValueRef near_zero = mul(e, y, POLYNOMIAL(e, erfPolynomial, square));
  LLVMValueRef t = divide(e, sub(e, y, d(e, 2)), add(e, y, d(e, 2)));
  LLVMValueRef tail =
      mul(e, exp64(e, LLVMBuildFNeg(e->builder, square, "")), POLYNOMIAL(e, erfcxPolynomial, t));
  LLVMValueRef result = pick(e, less(e, y, d(e, 1)), near_zero, sub(e, d(e, 1), tail));
  return withSign(e, narrow(e, result), x);
}

static LLVMValueRef atan32(const SambaEmit *e, LLVMValueRef x) {
  LLVMValueRef y = magnitude(e, widen(e, x));
  LLVMValueRef one = d(e, 1);
  LLVMValueRef big = less(e, d(e, 0x1.3504f333f9de6p+1), y);
  LLVMValueRef middle = less(e, d(e, 0x1.a827999fcef32p-2), y); /* tan 3pi/8, tan pi/8 */
  LLVMValueRef numerator = pick(e, big, d(e, -1), pick(e, middle, sub(e, y, one), y));
  LLVMValueRef denominator = pick(e, big, y, pick(e, middle, add(e, y, one), one));
  LLVMValueRef base = pick(e, big, d(e, M_PI_2), pick(e, middle, d(e, M_PI_4), d(e, 0)));
  LLVMValueRef s = divide(e, numerator, denominator);
  return withSign(
      e, narrow(e, sambaEmitFma(e, s, POLYNOMIAL(e, atanPolynomial, mul(e, s, s)), base)), x);
}

/* Table w (0: highest) of the 96-bit fixed-point numbers 2^k * 2/pi modulo 4, k = index - 24, with
 * 94 bits after the point. */
static LLVMValueRef turnTable(const SambaEmit *e, unsigned word) {
  enum { entries = 129 };
  LLVMValueRef values[entries];

  for (int index = 0; index < entries; ++index) {
    uint32_t bits = 0;
    for (int i = 0; i < 32; ++i) {
      int position = index - 24 - 1 + (int)word * 32 + i; /* bit of weight 2^-position in 2/pi */
      unsigned bit =
          position >= 1 ? twoOverPi[(position - 1) / 32] >> (31 - (position - 1) % 32) & 1 : 0;
      bits = bits << 1 | bit;
    }
    values[index] = LLVMConstInt(e->i32, bits, false);
  }

  LLVMTypeRef type = LLVMArrayType2(e->i32, entries);
  static const char *const names[] = {"samba.turns.0", "samba.turns.1", "samba.turns.2"};
  LLVMValueRef table = LLVMGetNamedGlobal(e->module, names[word]);

  if (!table) {
    table = LLVMAddGlobal(e->module, type, names[word]);
    LLVMSetInitializer(table, LLVMConstArray2(e->i32, values, entries));
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMPrivateLinkage);
  }

  return table;
}

static LLVMValueRef turnWord(const SambaEmit *e, unsigned word, LLVMValueRef index) {
  LLVMValueRef table = turnTable(e, word);
  LLVMValueRef address = LLVMBuildGEP2(e->builder, e->i32, table, &index, 1, "");
  LLVMValueRef loaded;
  if (e->width == 1) {
    loaded = LLVMBuildLoad2(e->builder, e->i32, address, "");
  } else {
    LLVMTypeRef overloads[] = {sambaEmitType(e, e->i32), LLVMTypeOf(address)};
    LLVMValueRef arguments[] = {address, sambaEmitInteger(e, e->i1, 1),
                                LLVMConstNull(overloads[0])};
    loaded = sambaEmitIntrinsic(e, "llvm.masked.gather", overloads, 2, arguments, 3);
  }
  return LLVMBuildZExt(e->builder, loaded, sambaEmitType(e, e->i64), "");
}

/* sin or cos of any f32: x * 2/pi modulo 4 exactly enough in fixed point, then polynomials on
 * [-pi/4, pi/4]. */
static LLVMValueRef sine(const SambaEmit *e, LLVMValueRef x, bool cosine) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef y32 = magnitude(e, x);
  LLVMValueRef bits = sambaEmitBitcast(e, y32, e->i32);
  LLVMValueRef exponent =
      LLVMBuildSub(b, LLVMBuildLShr(b, bits, sambaEmitInteger(e, e->i32, 23), ""),
                   sambaEmitInteger(e, e->i32, 126), "");
  LLVMValueRef index = sambaEmitBinary(e, "llvm.smax", exponent, sambaEmitInteger(e, e->i32, 0));

  index = sambaEmitBinary(e, "llvm.smin", index, sambaEmitInteger(e, e->i32, 128));
  LLVMValueRef mantissa =
      LLVMBuildOr(b, LLVMBuildAnd(b, bits, sambaEmitInteger(e, e->i32, 0x7FFFFF), ""),
                  sambaEmitInteger(e, e->i32, 0x800000), "");
  LLVMValueRef m = LLVMBuildZExt(b, mantissa, sambaEmitType(e, e->i64), "");
  LLVMValueRef c32 = sambaEmitInteger(e, e->i64, 32);
  LLVMValueRef carry = LLVMBuildLShr(b, LLVMBuildMul(b, m, turnWord(e, 2, index), ""), c32, "");
  LLVMValueRef middle = LLVMBuildAdd(b, LLVMBuildMul(b, m, turnWord(e, 1, index), ""), carry, "");
  LLVMValueRef turns = LLVMBuildAdd(
      b, LLVMBuildShl(b, LLVMBuildMul(b, m, turnWord(e, 0, index), ""), c32, ""), middle, "");
  LLVMValueRef quarter =
      LLVMBuildLShr(b, LLVMBuildAdd(b, turns, sambaEmitInteger(e, e->i64, INT64_C(1) << 61), ""),
                    sambaEmitInteger(e, e->i64, 62), "");
  LLVMValueRef fraction =
      LLVMBuildSub(b, turns, LLVMBuildShl(b, quarter, sambaEmitInteger(e, e->i64, 62), ""), "");
  LLVMValueRef reduced =
      mul(e, LLVMBuildSIToFP(b, fraction, sambaEmitType(e, e->f64), ""), d(e, M_PI_2 * 0x1p-62));
  LLVMValueRef y = widen(e, y32);
  LLVMValueRef direct = less(e, y, d(e, M_PI_4));
  LLVMValueRef zero = sambaEmitInteger(e, e->i64, 0);
  LLVMValueRef r = pick(e, direct, y, reduced);
  quarter = pick(e, direct, zero, quarter);
  if (cosine)
    quarter = LLVMBuildAdd(b, quarter, sambaEmitInteger(e, e->i64, 1), "");
  LLVMValueRef square = mul(e, r, r);
  LLVMValueRef odd = sambaEmitIntegerCompare(
      e, LLVMIntNE, LLVMBuildAnd(b, quarter, sambaEmitInteger(e, e->i64, 1), ""), zero);
  LLVMValueRef negative = sambaEmitIntegerCompare(
      e, LLVMIntNE, LLVMBuildAnd(b, quarter, sambaEmitInteger(e, e->i64, 2), ""), zero);
  LLVMValueRef value = pick(e, odd, POLYNOMIAL(e, cosPolynomial, square),
                            mul(e, r, POLYNOMIAL(e, sinPolynomial, square)));
  value = pick(e, negative, LLVMBuildFNeg(b, value, ""), value);
  LLVMValueRef result = narrow(e, value);
  if (!cosine) {
    LLVMValueRef below = sambaEmitIntegerCompare(e, LLVMIntSLT, sambaEmitBitcast(e, x, e->i32),
                                                 sambaEmitInteger(e, e->i32, 0));
    result = pick(e, below, LLVMBuildFNeg(b, result, ""), result);
  }

  return pick(e, less(e, y32, sambaEmitFloat(e, INFINITY)), result, sambaEmitFloat(e, (float)NAN));
}

/* 2^(y log2|x|), then the cases of C's pow. */
static LLVMValueRef pow32(const SambaEmit *e, LLVMValueRef x32, LLVMValueRef y32) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef x = widen(e, x32);
  LLVMValueRef y = widen(e, y32);
  LLVMValueRef base = magnitude(e, x);
  LLVMValueRef one = d(e, 1);
  LLVMValueRef zero = d(e, 0);
  LLVMValueRef infinity = d(e, INFINITY);

  Logarithm parts = logarithm(e, base, NULL);
  LLVMValueRef log2 = sambaEmitFma(e, parts.fraction, d(e, M_LOG2E), parts.exponent);
  log2 = pick(e, equal(e, base, zero), d(e, -INFINITY),
              pick(e, equal(e, base, infinity), infinity, log2));
  LLVMValueRef t = pick(e, equal(e, base, one), zero, mul(e, y, log2));
  t = clamp(e, t, d(e, -1000), d(e, 1000));
  LLVMValueRef shifted = add(e, t, d(e, integerMagic));
  LLVMValueRef rest = mul(e, sub(e, t, sub(e, shifted, d(e, integerMagic))), d(e, M_LN2));
  LLVMValueRef scale = powerOfTwo(e, shifted);
  LLVMValueRef fraction = mul(e, rest, POLYNOMIAL(e, expm1Polynomial, rest));
  LLVMValueRef result = narrow(e, sambaEmitFma(e, scale, fraction, scale));
  LLVMValueRef half = mul(e, y, d(e, 0.5));
  LLVMValueRef whole = equal(e, sambaEmitUnary(e, "llvm.trunc", y), y);
  LLVMValueRef odd = LLVMBuildAnd(
      b, whole, LLVMBuildNot(b, equal(e, sambaEmitUnary(e, "llvm.trunc", half), half), ""), "");
  LLVMValueRef sign = sambaEmitIntegerCompare(e, LLVMIntSLT, sambaEmitBitcast(e, x32, e->i32),
                                              sambaEmitInteger(e, e->i32, 0));
  result = pick(e, LLVMBuildAnd(b, odd, sign, ""), LLVMBuildFNeg(b, result, ""), result);
  LLVMValueRef inside = LLVMBuildAnd(b, less(e, x, zero), less(e, base, infinity), "");
  LLVMValueRef undefined = LLVMBuildAnd(b, inside, LLVMBuildNot(b, whole, ""), "");
  undefined = LLVMBuildOr(b, undefined, sambaEmitCompare(e, LLVMRealUNO, x, y), "");
  result = pick(e, undefined, sambaEmitFloat(e, (float)NAN), result);
  LLVMValueRef always_one = LLVMBuildOr(b, equal(e, y, zero), equal(e, x, one), "");

  return pick(e, always_one, sambaEmitFloat(e, 1.0f), result);
}

LLVMValueRef sambaEmitTranscendental(const SambaEmit *e, SambaLaneOpcode opcode, LLVMValueRef a,
                                     LLVMValueRef b) {
  switch (opcode) {
  case SAMBA_LANE_EXP:
    return exp32(e, a);
  case SAMBA_LANE_LOG:
    return naturalLog(e, a, false);
  case SAMBA_LANE_LOG1P:
    return naturalLog(e, a, true);
  case SAMBA_LANE_EXPM1:
    return expm132(e, a);
  case SAMBA_LANE_TANH:
    return tanh32(e, a);
  case SAMBA_LANE_ERF:
    return erf32(e, a);
  case SAMBA_LANE_ATAN:
    return atan32(e, a);
  case SAMBA_LANE_SIN:
    return sine(e, a, false);
  case SAMBA_LANE_COS:
    return sine(e, a, true);
  case SAMBA_LANE_POW:
    return pow32(e, a, b);
  case SAMBA_LANE_SQRT:
    return sambaEmitUnary(e, "llvm.sqrt", a);
  case SAMBA_LANE_RSQRT:
    return divide(e, sambaEmitFloat(e, 1.0f), sambaEmitUnary(e, "llvm.sqrt", a));
  default:
    return a;
  }
}
