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

static LLVMValueRef polynomial(const SambaEmit *emit, const double *coefficients, size_t count,
                               LLVMValueRef x) {
  LLVMValueRef sum = sambaEmitDouble(emit, coefficients[0]);
  for (size_t i = 1; i < count; ++i)
    sum = sambaEmitFma(emit, sum, x, sambaEmitDouble(emit, coefficients[i]));
  return sum;
}
#define POLYNOMIAL(emit, table, x) polynomial((emit), (table), COUNT(table), (x))

static LLVMValueRef add(const SambaEmit *emit, LLVMValueRef a, LLVMValueRef b) {
  return sambaLlvm.BuildFAdd(emit->builder, a, b, "");
}
static LLVMValueRef sub(const SambaEmit *emit, LLVMValueRef a, LLVMValueRef b) {
  return sambaLlvm.BuildFSub(emit->builder, a, b, "");
}
static LLVMValueRef mul(const SambaEmit *emit, LLVMValueRef a, LLVMValueRef b) {
  return sambaLlvm.BuildFMul(emit->builder, a, b, "");
}
static LLVMValueRef divide(const SambaEmit *emit, LLVMValueRef a, LLVMValueRef b) {
  return sambaLlvm.BuildFDiv(emit->builder, a, b, "");
}
static LLVMValueRef d(const SambaEmit *emit, double value) { return sambaEmitDouble(emit, value); }
static LLVMValueRef widen(const SambaEmit *emit, LLVMValueRef x) {
  return sambaLlvm.BuildFPExt(emit->builder, x, sambaEmitType(emit, emit->f64), "");
}
static LLVMValueRef narrow(const SambaEmit *emit, LLVMValueRef x) {
  return sambaLlvm.BuildFPTrunc(emit->builder, x, sambaEmitType(emit, emit->f32), "");
}
static LLVMValueRef magnitude(const SambaEmit *emit, LLVMValueRef x) {
  return sambaEmitUnary(emit, "llvm.fabs", x);
}
static LLVMValueRef withSign(const SambaEmit *emit, LLVMValueRef x, LLVMValueRef sign) {
  return sambaEmitBinary(emit, "llvm.copysign", x, sign);
}
static LLVMValueRef less(const SambaEmit *emit, LLVMValueRef a, LLVMValueRef b) {
  return sambaEmitCompare(emit, LLVMRealOLT, a, b);
}
static LLVMValueRef equal(const SambaEmit *emit, LLVMValueRef a, LLVMValueRef b) {
  return sambaEmitCompare(emit, LLVMRealOEQ, a, b);
}
static LLVMValueRef pick(const SambaEmit *emit, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
  return sambaEmitSelect(emit, c, a, b);
}
static LLVMValueRef isNan(const SambaEmit *emit, LLVMValueRef x) {
  return sambaEmitCompare(emit, LLVMRealUNO, x, x);
}

/* Into [low, high]; a NaN stays one. */
static LLVMValueRef clamp(const SambaEmit *emit, LLVMValueRef x, LLVMValueRef low,
                          LLVMValueRef high) {
  x = pick(emit, less(emit, x, low), low, x);
  return pick(emit, less(emit, high, x), high, x);
}

/* Adding 1.5 * 2^52 leaves the nearest integer in the low bits of the pattern. */
static const double integerMagic = 0x1.8p52;

/* 2^n for the integer that `shifted` = n + integerMagic holds, |n| < 1023. */
static LLVMValueRef powerOfTwo(const SambaEmit *emit, LLVMValueRef shifted) {
  LLVMValueRef bits = sambaLlvm.BuildShl(emit->builder, sambaEmitBitcast(emit, shifted, emit->i64),
                                         sambaEmitInteger(emit, emit->i64, 52), "");
  return sambaEmitBitcast(emit,
                          sambaLlvm.BuildAdd(emit->builder, bits,
                                             sambaEmitInteger(emit, emit->i64, INT64_C(1023) << 52),
                                             ""),
                          emit->f64);
}

typedef struct Exponential {
  LLVMValueRef scale, fraction;
} Exponential; /* scale * (1 + fraction) */

/* exp(x) of an f64, |x| < 700, as 2^n and expm1 of the rest. */
static Exponential exponential(const SambaEmit *emit, LLVMValueRef x) {
  LLVMValueRef shifted = sambaEmitFma(emit, x, d(emit, M_LOG2E), d(emit, integerMagic));
  LLVMValueRef n = sub(emit, shifted, d(emit, integerMagic));
  LLVMValueRef rest = sambaEmitFma(emit, n, d(emit, -0x1.62e42fefa39efp-1), x);
  rest = sambaEmitFma(emit, n, d(emit, -0x1.abc9e3b39803fp-56), rest);
  return (Exponential){powerOfTwo(emit, shifted),
                       mul(emit, rest, POLYNOMIAL(emit, expm1Polynomial, rest))};
}

static LLVMValueRef exp64(const SambaEmit *emit, LLVMValueRef x) {
  Exponential parts = exponential(emit, x);
  return sambaEmitFma(emit, parts.scale, parts.fraction, parts.scale);
}

static LLVMValueRef expm164(const SambaEmit *emit, LLVMValueRef x) {
  Exponential parts = exponential(emit, x);
  return sambaEmitFma(emit, parts.scale, parts.fraction, sub(emit, parts.scale, d(emit, 1)));
}

typedef struct Logarithm {
  LLVMValueRef exponent, fraction;
} Logarithm; /* exponent * ln 2 + fraction */

/* log of a positive normal f64. above_one: u - 1 without rounding where the caller has it (log1p),
 * else NULL. */
static Logarithm logarithm(const SambaEmit *emit, LLVMValueRef u, LLVMValueRef above_one) {
  LLVMBuilderRef b = emit->builder;
  LLVMValueRef bits = sambaEmitBitcast(emit, u, emit->i64);
  LLVMValueRef offset = sambaLlvm.BuildSub(
      b, bits, sambaEmitInteger(emit, emit->i64, INT64_C(0x3FE6A09E667F3BCD)), ""); /* sqrt(1/2) */
  LLVMValueRef k = sambaLlvm.BuildAShr(b, offset, sambaEmitInteger(emit, emit->i64, 52), "");
  LLVMValueRef mantissa = sambaLlvm.BuildSub(
      b, bits, sambaLlvm.BuildShl(b, k, sambaEmitInteger(emit, emit->i64, 52), ""), "");
  LLVMValueRef m = sambaEmitBitcast(emit, mantissa, emit->f64);
  LLVMValueRef magic = sambaEmitInteger(emit, emit->i64, INT64_C(0x4338000000000000));
  LLVMValueRef exponent =
      sub(emit, sambaEmitBitcast(emit, sambaLlvm.BuildAdd(b, k, magic, ""), emit->f64),
          d(emit, integerMagic));
  LLVMValueRef numerator = sub(emit, m, d(emit, 1));
  LLVMValueRef denominator = add(emit, m, d(emit, 1));

  if (above_one) {
    LLVMValueRef unscaled =
        sambaEmitIntegerCompare(emit, LLVMIntEQ, k, sambaEmitInteger(emit, emit->i64, 0));
    numerator = pick(emit, unscaled, above_one, numerator);
    denominator = pick(emit, unscaled, add(emit, above_one, d(emit, 2)), denominator);
  }

  LLVMValueRef s = divide(emit, numerator, denominator);
  return (Logarithm){exponent, mul(emit, s, POLYNOMIAL(emit, logPolynomial, mul(emit, s, s)))};
}

/* log(x), or log(1 + x), of an f32, with the limits of the domain. */
static LLVMValueRef naturalLog(const SambaEmit *emit, LLVMValueRef x32, bool plus_one) {
  LLVMValueRef x = widen(emit, x32);
  LLVMValueRef u = plus_one ? add(emit, x, d(emit, 1)) : x;
  Logarithm parts = logarithm(emit, u, plus_one ? x : NULL);
  LLVMValueRef result =
      narrow(emit, sambaEmitFma(emit, parts.exponent, d(emit, M_LN2), parts.fraction));
  result = pick(emit, equal(emit, u, d(emit, INFINITY)), sambaEmitFloat(emit, INFINITY), result);
  result = pick(emit, equal(emit, u, d(emit, 0)), sambaEmitFloat(emit, -INFINITY), result);
  if (plus_one) /* keeps -0 */
    result = pick(emit, equal(emit, x, d(emit, 0)), x32, result);
  LLVMValueRef valid = sambaEmitCompare(emit, LLVMRealOGE, u, d(emit, 0));
  return pick(emit, valid, result, sambaEmitFloat(emit, (float)NAN));
}

/* exp in f32: 2^n * (1 + r + r^2 q(r)), the scale in two factors so that denormals round once. */
static LLVMValueRef exp32(const SambaEmit *emit, LLVMValueRef x) {
  LLVMBuilderRef b = emit->builder;
  LLVMValueRef bounded = clamp(emit, x, sambaEmitFloat(emit, -104.0f), sambaEmitFloat(emit, 89.0f));
  LLVMValueRef magic = sambaEmitFloat(emit, 0x1.8p23f);
  LLVMValueRef shifted = sambaEmitFma(emit, bounded, sambaEmitFloat(emit, 0x1.715476p+0f), magic);
  LLVMValueRef n = sub(emit, shifted, magic);
  LLVMValueRef r = sambaEmitFma(emit, n, sambaEmitFloat(emit, -0x1.62e430p-1f), bounded);

  r = sambaEmitFma(emit, n, sambaEmitFloat(emit, 0x1.05c610p-29f), r);
  LLVMValueRef q = sambaEmitFloat(emit, expPolynomial[0]);
  for (size_t i = 1; i < COUNT(expPolynomial); ++i)
    q = sambaEmitFma(emit, q, r, sambaEmitFloat(emit, expPolynomial[i]));
  LLVMValueRef p = add(emit, sambaEmitFma(emit, mul(emit, r, r), q, r), sambaEmitFloat(emit, 1.0f));
  LLVMValueRef whole = sambaLlvm.BuildSub(b, sambaEmitBitcast(emit, shifted, emit->i32),
                                          sambaEmitInteger(emit, emit->i32, 0x4B400000), "");
  LLVMValueRef first = sambaLlvm.BuildAShr(b, whole, sambaEmitInteger(emit, emit->i32, 1), "");
  LLVMValueRef second = sambaLlvm.BuildSub(b, whole, first, "");
  LLVMValueRef bias = sambaEmitInteger(emit, emit->i32, 127);
  LLVMValueRef place = sambaEmitInteger(emit, emit->i32, 23);
  LLVMValueRef low = sambaEmitBitcast(
      emit, sambaLlvm.BuildShl(b, sambaLlvm.BuildAdd(b, first, bias, ""), place, ""), emit->f32);
  LLVMValueRef high = sambaEmitBitcast(
      emit, sambaLlvm.BuildShl(b, sambaLlvm.BuildAdd(b, second, bias, ""), place, ""), emit->f32);
  return pick(emit, isNan(emit, x), x, mul(emit, mul(emit, p, low), high));
}

static LLVMValueRef expm132(const SambaEmit *emit, LLVMValueRef x) {
  LLVMValueRef result =
      narrow(emit, expm164(emit, clamp(emit, widen(emit, x), d(emit, -100), d(emit, 90))));
  return pick(emit, equal(emit, x, sambaEmitFloat(emit, 0)), x, result); /* keeps -0 */
}

/* (e^2x - 1) / (e^2x + 1) of the magnitude. */
static LLVMValueRef tanh32(const SambaEmit *emit, LLVMValueRef x) {
  LLVMValueRef y = clamp(emit, magnitude(emit, widen(emit, x)), d(emit, 0), d(emit, 10));
  LLVMValueRef grown = expm164(emit, add(emit, y, y));
  return withSign(emit, narrow(emit, divide(emit, grown, add(emit, grown, d(emit, 2)))), x);
}

static LLVMValueRef erf32(const SambaEmit *emit, LLVMValueRef x) {
  LLVMValueRef y = clamp(emit, magnitude(emit, widen(emit, x)), d(emit, 0), d(emit, 4));
  LLVMValueRef square = mul(emit, y, y);
  LLVMValueRef near_zero = mul(emit, y, POLYNOMIAL(emit, erfPolynomial, square));
  LLVMValueRef t = divide(emit, sub(emit, y, d(emit, 2)), add(emit, y, d(emit, 2)));
  LLVMValueRef tail = mul(emit, exp64(emit, sambaLlvm.BuildFNeg(emit->builder, square, "")),
                          POLYNOMIAL(emit, erfcxPolynomial, t));
  LLVMValueRef result =
      pick(emit, less(emit, y, d(emit, 1)), near_zero, sub(emit, d(emit, 1), tail));
  return withSign(emit, narrow(emit, result), x);
}

static LLVMValueRef atan32(const SambaEmit *emit, LLVMValueRef x) {
  LLVMValueRef y = magnitude(emit, widen(emit, x));
  LLVMValueRef one = d(emit, 1);
  LLVMValueRef big = less(emit, d(emit, 0x1.3504f333f9de6p+1), y);
  LLVMValueRef middle = less(emit, d(emit, 0x1.a827999fcef32p-2), y); /* tan 3pi/8, tan pi/8 */
  LLVMValueRef numerator = pick(emit, big, d(emit, -1), pick(emit, middle, sub(emit, y, one), y));
  LLVMValueRef denominator = pick(emit, big, y, pick(emit, middle, add(emit, y, one), one));
  LLVMValueRef base =
      pick(emit, big, d(emit, M_PI_2), pick(emit, middle, d(emit, M_PI_4), d(emit, 0)));
  LLVMValueRef s = divide(emit, numerator, denominator);
  return withSign(
      emit,
      narrow(emit, sambaEmitFma(emit, s, POLYNOMIAL(emit, atanPolynomial, mul(emit, s, s)), base)),
      x);
}

/* Table w (0: highest) of the 96-bit fixed-point numbers 2^k * 2/pi modulo 4, k = index - 24, with
 * 94 bits after the point. */
static LLVMValueRef turnTable(const SambaEmit *emit, unsigned word) {
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
    values[index] = sambaLlvm.ConstInt(emit->i32, bits, false);
  }

  LLVMTypeRef type = sambaLlvm.ArrayType2(emit->i32, entries);
  static const char *const names[] = {"samba.turns.0", "samba.turns.1", "samba.turns.2"};
  LLVMValueRef table = sambaLlvm.GetNamedGlobal(emit->module, names[word]);

  if (!table) {
    table = sambaLlvm.AddGlobal(emit->module, type, names[word]);
    sambaLlvm.SetInitializer(table, sambaLlvm.ConstArray2(emit->i32, values, entries));
    sambaLlvm.SetGlobalConstant(table, true);
    sambaLlvm.SetLinkage(table, LLVMPrivateLinkage);
  }

  return table;
}

static LLVMValueRef turnWord(const SambaEmit *emit, unsigned word, LLVMValueRef index) {
  LLVMValueRef table = turnTable(emit, word);
  LLVMValueRef address = sambaLlvm.BuildGEP2(emit->builder, emit->i32, table, &index, 1, "");
  LLVMValueRef loaded;
  if (emit->width == 1) {
    loaded = sambaLlvm.BuildLoad2(emit->builder, emit->i32, address, "");
  } else {
    LLVMTypeRef overloads[] = {sambaEmitType(emit, emit->i32), sambaLlvm.TypeOf(address)};
    LLVMValueRef arguments[] = {address, sambaEmitInteger(emit, emit->i1, 1),
                                sambaLlvm.ConstNull(overloads[0])};
    loaded = sambaEmitIntrinsic(emit, "llvm.masked.gather", overloads, 2, arguments, 3);
  }
  return sambaLlvm.BuildZExt(emit->builder, loaded, sambaEmitType(emit, emit->i64), "");
}

/* sin or cos of any f32: x * 2/pi modulo 4 exactly enough in fixed point, then polynomials on
 * [-pi/4, pi/4]. */
static LLVMValueRef sine(const SambaEmit *emit, LLVMValueRef x, bool cosine) {
  LLVMBuilderRef b = emit->builder;
  LLVMValueRef y32 = magnitude(emit, x);
  LLVMValueRef bits = sambaEmitBitcast(emit, y32, emit->i32);
  LLVMValueRef exponent =
      sambaLlvm.BuildSub(b, sambaLlvm.BuildLShr(b, bits, sambaEmitInteger(emit, emit->i32, 23), ""),
                         sambaEmitInteger(emit, emit->i32, 126), "");
  LLVMValueRef index =
      sambaEmitBinary(emit, "llvm.smax", exponent, sambaEmitInteger(emit, emit->i32, 0));

  index = sambaEmitBinary(emit, "llvm.smin", index, sambaEmitInteger(emit, emit->i32, 128));
  LLVMValueRef mantissa = sambaLlvm.BuildOr(
      b, sambaLlvm.BuildAnd(b, bits, sambaEmitInteger(emit, emit->i32, 0x7FFFFF), ""),
      sambaEmitInteger(emit, emit->i32, 0x800000), "");
  LLVMValueRef m = sambaLlvm.BuildZExt(b, mantissa, sambaEmitType(emit, emit->i64), "");
  LLVMValueRef c32 = sambaEmitInteger(emit, emit->i64, 32);
  LLVMValueRef carry =
      sambaLlvm.BuildLShr(b, sambaLlvm.BuildMul(b, m, turnWord(emit, 2, index), ""), c32, "");
  LLVMValueRef middle =
      sambaLlvm.BuildAdd(b, sambaLlvm.BuildMul(b, m, turnWord(emit, 1, index), ""), carry, "");
  LLVMValueRef turns = sambaLlvm.BuildAdd(
      b, sambaLlvm.BuildShl(b, sambaLlvm.BuildMul(b, m, turnWord(emit, 0, index), ""), c32, ""),
      middle, "");
  LLVMValueRef quarter = sambaLlvm.BuildLShr(
      b, sambaLlvm.BuildAdd(b, turns, sambaEmitInteger(emit, emit->i64, INT64_C(1) << 61), ""),
      sambaEmitInteger(emit, emit->i64, 62), "");
  LLVMValueRef fraction = sambaLlvm.BuildSub(
      b, turns, sambaLlvm.BuildShl(b, quarter, sambaEmitInteger(emit, emit->i64, 62), ""), "");
  LLVMValueRef reduced =
      mul(emit, sambaLlvm.BuildSIToFP(b, fraction, sambaEmitType(emit, emit->f64), ""),
          d(emit, M_PI_2 * 0x1p-62));
  LLVMValueRef y = widen(emit, y32);
  LLVMValueRef direct = less(emit, y, d(emit, M_PI_4));
  LLVMValueRef zero = sambaEmitInteger(emit, emit->i64, 0);
  LLVMValueRef r = pick(emit, direct, y, reduced);
  quarter = pick(emit, direct, zero, quarter);
  if (cosine)
    quarter = sambaLlvm.BuildAdd(b, quarter, sambaEmitInteger(emit, emit->i64, 1), "");
  LLVMValueRef square = mul(emit, r, r);
  LLVMValueRef odd = sambaEmitIntegerCompare(
      emit, LLVMIntNE, sambaLlvm.BuildAnd(b, quarter, sambaEmitInteger(emit, emit->i64, 1), ""),
      zero);
  LLVMValueRef negative = sambaEmitIntegerCompare(
      emit, LLVMIntNE, sambaLlvm.BuildAnd(b, quarter, sambaEmitInteger(emit, emit->i64, 2), ""),
      zero);
  LLVMValueRef value = pick(emit, odd, POLYNOMIAL(emit, cosPolynomial, square),
                            mul(emit, r, POLYNOMIAL(emit, sinPolynomial, square)));
  value = pick(emit, negative, sambaLlvm.BuildFNeg(b, value, ""), value);
  LLVMValueRef result = narrow(emit, value);
  if (!cosine) {
    LLVMValueRef below =
        sambaEmitIntegerCompare(emit, LLVMIntSLT, sambaEmitBitcast(emit, x, emit->i32),
                                sambaEmitInteger(emit, emit->i32, 0));
    result = pick(emit, below, sambaLlvm.BuildFNeg(b, result, ""), result);
  }

  return pick(emit, less(emit, y32, sambaEmitFloat(emit, INFINITY)), result,
              sambaEmitFloat(emit, (float)NAN));
}

/* 2^(y log2|x|), then the cases of C's pow. */
static LLVMValueRef pow32(const SambaEmit *emit, LLVMValueRef x32, LLVMValueRef y32) {
  LLVMBuilderRef b = emit->builder;
  LLVMValueRef x = widen(emit, x32);
  LLVMValueRef y = widen(emit, y32);
  LLVMValueRef base = magnitude(emit, x);
  LLVMValueRef one = d(emit, 1);
  LLVMValueRef zero = d(emit, 0);
  LLVMValueRef infinity = d(emit, INFINITY);

  Logarithm parts = logarithm(emit, base, NULL);
  LLVMValueRef log2 = sambaEmitFma(emit, parts.fraction, d(emit, M_LOG2E), parts.exponent);
  log2 = pick(emit, equal(emit, base, zero), d(emit, -INFINITY),
              pick(emit, equal(emit, base, infinity), infinity, log2));
  LLVMValueRef t = pick(emit, equal(emit, base, one), zero, mul(emit, y, log2));
  t = clamp(emit, t, d(emit, -1000), d(emit, 1000));
  LLVMValueRef shifted = add(emit, t, d(emit, integerMagic));
  LLVMValueRef rest =
      mul(emit, sub(emit, t, sub(emit, shifted, d(emit, integerMagic))), d(emit, M_LN2));
  LLVMValueRef scale = powerOfTwo(emit, shifted);
  LLVMValueRef fraction = mul(emit, rest, POLYNOMIAL(emit, expm1Polynomial, rest));
  LLVMValueRef result = narrow(emit, sambaEmitFma(emit, scale, fraction, scale));
  LLVMValueRef half = mul(emit, y, d(emit, 0.5));
  LLVMValueRef whole = equal(emit, sambaEmitUnary(emit, "llvm.trunc", y), y);
  LLVMValueRef odd = sambaLlvm.BuildAnd(
      b, whole,
      sambaLlvm.BuildNot(b, equal(emit, sambaEmitUnary(emit, "llvm.trunc", half), half), ""), "");
  LLVMValueRef sign =
      sambaEmitIntegerCompare(emit, LLVMIntSLT, sambaEmitBitcast(emit, x32, emit->i32),
                              sambaEmitInteger(emit, emit->i32, 0));
  result =
      pick(emit, sambaLlvm.BuildAnd(b, odd, sign, ""), sambaLlvm.BuildFNeg(b, result, ""), result);
  LLVMValueRef inside = sambaLlvm.BuildAnd(b, less(emit, x, zero), less(emit, base, infinity), "");
  LLVMValueRef undefined = sambaLlvm.BuildAnd(b, inside, sambaLlvm.BuildNot(b, whole, ""), "");
  undefined = sambaLlvm.BuildOr(b, undefined, sambaEmitCompare(emit, LLVMRealUNO, x, y), "");
  result = pick(emit, undefined, sambaEmitFloat(emit, (float)NAN), result);
  LLVMValueRef always_one = sambaLlvm.BuildOr(b, equal(emit, y, zero), equal(emit, x, one), "");

  return pick(emit, always_one, sambaEmitFloat(emit, 1.0f), result);
}

LLVMValueRef sambaEmitTranscendental(const SambaEmit *emit, SambaLaneOpcode opcode, LLVMValueRef a,
                                     LLVMValueRef b) {
  switch (opcode) {
  case SAMBA_LANE_EXP:
    return exp32(emit, a);
  case SAMBA_LANE_LOG:
    return naturalLog(emit, a, false);
  case SAMBA_LANE_LOG1P:
    return naturalLog(emit, a, true);
  case SAMBA_LANE_EXPM1:
    return expm132(emit, a);
  case SAMBA_LANE_TANH:
    return tanh32(emit, a);
  case SAMBA_LANE_ERF:
    return erf32(emit, a);
  case SAMBA_LANE_ATAN:
    return atan32(emit, a);
  case SAMBA_LANE_SIN:
    return sine(emit, a, false);
  case SAMBA_LANE_COS:
    return sine(emit, a, true);
  case SAMBA_LANE_POW:
    return pow32(emit, a, b);
  case SAMBA_LANE_SQRT:
    return sambaEmitUnary(emit, "llvm.sqrt", a);
  case SAMBA_LANE_RSQRT:
    return divide(emit, sambaEmitFloat(emit, 1.0f), sambaEmitUnary(emit, "llvm.sqrt", a));
  default:
    return a;
  }
}
