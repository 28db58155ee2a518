/* Normal numbers in blocks of 16; see normal_block.h.
 *
 * Element i of the first half of a block and of the second are u1 and u2 of Box and Muller's
 * transform. Its f32 form uses polynomials (those of the Cephes library for single precision)
 * instead of the C library, with fused multiply-adds where PyTorch's vector code has them: that is
 * what makes the results equal to the last bit on every machine. */
#include "support/tensor/random/normal_block.h"

#include "support/number/dtype.h"

#include <math.h>

enum { half = SAMBA_NORMAL_BLOCK / 2 };

static float polynomial(float x, const float *coefficients, int count) {
  float y = coefficients[0];
  for (int i = 1; i < count; ++i)
    y = fmaf(y, x, coefficients[i]);
  return y;
}

/* The natural logarithm of a number of (0, 1]. */
static float logarithm(float x) {
  static const float coefficients[] = {7.0376836292E-2f,  -1.1514610310E-1f, 1.1676998740E-1f,
                                       -1.2420140846E-1f, 1.4249322787E-1f,  -1.6668057665E-1f,
                                       2.0000714765E-1f,  -2.4999993993E-1f, 3.3333331174E-1f};
  const float log2_high = 0.693359375f, log2_low = -2.12194440e-4f; /* together log(2) */
  int exponent;
  x = frexpf(x, &exponent);
  if (x < (float)M_SQRT1_2) {
    x += x;
    --exponent;
  }
  x -= 1.0f;

  float e = (float)exponent, square = x * x;
  float y = polynomial(x, coefficients, 9) * x;
  y = fmaf(y, square, e * log2_low);
  y = fmaf(square, -0.5f, y);
  return fmaf(e, log2_high, x + y);
}

/* Sine and cosine of an angle of [0, 2 pi). */
static void sineAndCosine(float x, float *out_sine, float *out_cosine) {
  static const float cosines[] = {2.443315711809948E-5f, -1.388731625493765E-3f,
                                  4.166664568298827E-2f};
  static const float sines[] = {-1.9515295891E-4f, 8.3321608736E-3f, -1.6666654611E-1f};
  static const float quarters[] = {0.78515625f, 2.4187564849853515625E-4f,
                                   3.77489497744594108E-8f}; /* together pi / 4 */

  /* The angle less the nearest even number of eighths of a turn. */
  int octant = ((int)(x * (float)(4 / M_PI)) + 1) & ~1;
  for (int i = 0; i < 3; ++i)
    x = fmaf((float)octant, -quarters[i], x);

  float square = x * x;
  float cosine = polynomial(square, cosines, 3) * square;
  cosine = fmaf(cosine, square, square * -0.5f) + 1.0f;
  float sine = fmaf(polynomial(square, sines, 3) * square, x, x);

  bool swapped = octant & 2;
  *out_sine = swapped ? cosine : sine;
  *out_cosine = swapped ? sine : cosine;
  if (octant & 4)
    *out_sine = -*out_sine;
  if (!((octant - 2) & 4))
    *out_cosine = -*out_cosine;
}

void sambaNormalBlockF32(float *data, float mean, float deviation) {
  for (int i = 0; i < half; ++i) {
    float sine, cosine;
    float radius = sqrtf(-2.0f * logarithm(1.0f - data[i]));
    sineAndCosine((float)(2.0 * M_PI) * data[i + half], &sine, &cosine);
    data[i] = fmaf(radius * cosine, deviation, mean);
    data[i + half] = fmaf(radius * sine, deviation, mean);
  }
}

void sambaNormalBlockF64(double *data, double mean, double deviation) {
  for (int i = 0; i < half; ++i) {
    double radius = sqrt(-2.0 * log(1.0 - data[i]));
    double angle = 2.0 * M_PI * data[i + half];
    data[i] = fma(radius * cos(angle), deviation, mean);
    data[i + half] = fma(radius * sin(angle), deviation, mean);
  }
}

static float rounded(SambaDType dtype, double value) {
  return sambaBitsToFloat(dtype, sambaFloatToBits(dtype, (float)value));
}

/* PyTorch computes with f16 in f32, and rounds what it stores. */
static void blockF16(uint16_t *data, float mean, float deviation) {
  for (int i = 0; i < half; ++i) {
    float u1 = rounded(SAMBA_DTYPE_F16, 1.0f - sambaHalfToFloat(data[i]));
    float u2 = sambaHalfToFloat(data[i + half]);
    float radius = rounded(SAMBA_DTYPE_F16, sqrtf(-2.0f * logf(u1)));
    float angle = rounded(SAMBA_DTYPE_F16, 2.0 * M_PI * (double)u2);
    data[i] = sambaFloatToHalf(fmaf(radius * cosf(angle), deviation, mean));
    data[i + half] = sambaFloatToHalf(fmaf(radius * sinf(angle), deviation, mean));
  }
}

/* Every operation with bf16 is rounded. */
static void blockBf16(uint16_t *data, float mean, float deviation) {
  const SambaDType dtype = SAMBA_DTYPE_BF16;
  for (int i = 0; i < half; ++i) {
    float u1 = rounded(dtype, 1.0f - sambaBf16ToFloat(data[i]));
    float u2 = sambaBf16ToFloat(data[i + half]);
    float radius = rounded(dtype, sqrtf(rounded(dtype, -2.0f * rounded(dtype, logf(u1)))));
    float angle = rounded(dtype, 2.0 * M_PI * (double)u2);
    float parts[2] = {cosf(angle), sinf(angle)};

    for (int k = 0; k < 2; ++k) {
      float scaled = rounded(dtype, radius * rounded(dtype, parts[k]));
      data[i + k * half] = sambaFloatToBf16(rounded(dtype, scaled * deviation) + mean);
    }
  }
}

void sambaNormalBlockHalf(SambaDType dtype, uint16_t *data, double mean, double deviation) {
  if (dtype == SAMBA_DTYPE_F16)
    blockF16(data, rounded(dtype, mean), rounded(dtype, deviation));
  else
    blockBf16(data, rounded(dtype, mean), rounded(dtype, deviation));
}
