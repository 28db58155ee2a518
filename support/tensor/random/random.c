/* Tensors of random numbers, in the order in which PyTorch draws them. */
#include "support/number/convert.h"
#include "support/number/dtype.h"
#include "support/tensor/random/generator.h"
#include "support/tensor/random/normal_block.h"
#include "support/tensor/tensor_state.h"

#include <math.h>

static SambaStatus create(const char *what, SambaDType dtype, uint32_t rank, const int64_t *dims,
                          SambaStringRef name, SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (!sambaDTypeIsFloatingPoint(dtype))
    return sambaStatusMake(SAMBA_INVALID,
                           "%s numbers of type %s; expected a float: f32, bf16, f16 or f64", what,
                           sambaDTypeName(dtype));
  return sambaTensorCreateUninitialized(dtype, rank, dims, name, out_tensor);
}

/* One uniform number of [0, 1) with the digits that the type has. */
static void drawUniform(SambaGenerator *generator, SambaDType dtype, void *data, int64_t index) {
  if (dtype == SAMBA_DTYPE_F64) {
    ((double *)data)[index] = sambaGeneratorUniform(generator);
    return;
  }
  uint32_t bits = sambaGeneratorDraw32(generator);
  if (dtype == SAMBA_DTYPE_F32)
    ((float *)data)[index] = (float)(bits & 0xffffff) * 0x1p-24f;
  else if (dtype == SAMBA_DTYPE_BF16)
    ((uint16_t *)data)[index] = sambaFloatToBf16((float)(bits & 0xff) * 0x1p-8f);
  else
    ((uint16_t *)data)[index] = sambaFloatToHalf((float)(bits & 0x7ff) * 0x1p-11f);
}

SambaStatus sambaTensorCreateRand(SambaGenerator *generator, SambaDType dtype, uint32_t rank,
                                  const int64_t *dims, SambaStringRef name,
                                  SambaTensor **out_tensor) {
  SAMBA_RETURN_IF_ERROR(create("uniform", dtype, rank, dims, name, out_tensor));
  for (int64_t i = 0; i < (*out_tensor)->elements; ++i)
    drawUniform(generator, dtype, (*out_tensor)->storage->data, i);
  return NULL;
}

/* ---- Normal numbers ---- */

static void makeBlock(SambaDType dtype, uint8_t *data, int64_t first, double mean,
                      double deviation) {
  data += first * sambaDTypeBytes(dtype);
  if (dtype == SAMBA_DTYPE_F32)
    sambaNormalBlockF32((float *)data, (float)mean, (float)deviation);
  else if (dtype == SAMBA_DTYPE_F64)
    sambaNormalBlockF64((double *)data, mean, deviation);
  else
    sambaNormalBlockHalf(dtype, (uint16_t *)data, mean, deviation);
}

/* Uniform numbers for all, then blocks of them; the last 16 are drawn again when the blocks do not
 * come out even. */
static void fillByBlocks(SambaGenerator *generator, SambaTensor *tensor, double mean,
                         double deviation) {
  int64_t count = tensor->elements, even = count - count % SAMBA_NORMAL_BLOCK;
  uint8_t *data = tensor->storage->data;
  for (int64_t i = 0; i < count; ++i)
    drawUniform(generator, tensor->dtype, data, i);
  for (int64_t i = 0; i < even; i += SAMBA_NORMAL_BLOCK)
    makeBlock(tensor->dtype, data, i, mean, deviation);

  if (even < count) {
    for (int64_t i = count - SAMBA_NORMAL_BLOCK; i < count; ++i)
      drawUniform(generator, tensor->dtype, data, i);
    makeBlock(tensor->dtype, data, count - SAMBA_NORMAL_BLOCK, mean, deviation);
  }
}

static void fillOneByOne(SambaGenerator *generator, SambaTensor *tensor, double mean,
                         double deviation) {
  void *data = tensor->storage->data;
  for (int64_t i = 0; i < tensor->elements; ++i) {
    double value = fma(sambaGeneratorNormal(generator), deviation, mean);
    if (tensor->dtype == SAMBA_DTYPE_F64)
      ((double *)data)[i] = value;
    else if (tensor->dtype == SAMBA_DTYPE_F32)
      ((float *)data)[i] = (float)value;
    else
      ((uint16_t *)data)[i] = (uint16_t)sambaFloatToBits(tensor->dtype, (float)value);
  }
}

SambaStatus sambaTensorCreateNormal(SambaGenerator *generator, SambaDType dtype, double mean,
                                    double deviation, uint32_t rank, const int64_t *dims,
                                    SambaStringRef name, SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (!(deviation >= 0))
    return sambaStatusMake(SAMBA_INVALID,
                           "normal numbers with the deviation %g; expected 0 or more", deviation);
  SAMBA_RETURN_IF_ERROR(create("normal", dtype, rank, dims, name, out_tensor));
  if ((*out_tensor)->elements < SAMBA_NORMAL_BLOCK)
    fillOneByOne(generator, *out_tensor, mean, deviation);
  else
    fillByBlocks(generator, *out_tensor, mean, deviation);
  return NULL;
}

SambaStatus sambaTensorCreateRandn(SambaGenerator *generator, SambaDType dtype, uint32_t rank,
                                   const int64_t *dims, SambaStringRef name,
                                   SambaTensor **out_tensor) {
  return sambaTensorCreateNormal(generator, dtype, 0, 1, rank, dims, name, out_tensor);
}

/* ---- Integers and coins ---- */

static SambaStatus checkFits(SambaDType dtype, int64_t value) {
  uint64_t bits = 0;
  sambaScalarStore(sambaScalarInt(value), dtype, &bits);
  SambaScalar stored = sambaScalarLoad(dtype, &bits);
  bool fits = stored.dtype == SAMBA_DTYPE_F64 ? isfinite(stored.number) : stored.integer == value;
  if (fits)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID, "random integers of type %s, which cannot hold %lld",
                         sambaDTypeName(dtype), (long long)value);
}

/* A float type rounds `value`. When that leaves the range on the side of `outward` (1 or -1), the
 * bound becomes the next number of the type inside; otherwise it stays `bound`. */
static int64_t boundInside(SambaDType dtype, int64_t value, int64_t bound, int outward) {
  static const uint8_t digits[] = {[SAMBA_DTYPE_F32] = 24,
                                   [SAMBA_DTYPE_BF16] = 8,
                                   [SAMBA_DTYPE_F16] = 11,
                                   [SAMBA_DTYPE_F64] = 53};
  uint64_t bits = 0;
  int exponent;
  sambaScalarStore(sambaScalarInt(value), dtype, &bits);
  int64_t rounded = sambaScalarToInteger(sambaScalarLoad(dtype, &bits));
  if (outward > 0 ? rounded < bound : rounded >= bound)
    return bound;
  frexp((double)value, &exponent);
  return rounded - outward * (INT64_C(1) << (exponent - digits[dtype]));
}

SambaStatus sambaTensorCreateRandint(SambaGenerator *generator, SambaDType dtype, int64_t low,
                                     int64_t high, uint32_t rank, const int64_t *dims,
                                     SambaStringRef name, SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (dtype == SAMBA_DTYPE_NONE)
    dtype = SAMBA_DTYPE_I64;
  if (low >= high)
    return sambaStatusMake(SAMBA_INVALID,
                           "random integers from %lld to below %lld: expected the first one to be "
                           "smaller",
                           (long long)low, (long long)high);
  SAMBA_RETURN_IF_ERROR(sambaTensorCheckShape(dtype, rank, dims));
  SAMBA_RETURN_IF_ERROR(checkFits(dtype, low));
  SAMBA_RETURN_IF_ERROR(checkFits(dtype, high - 1));
  bool is_float = sambaDTypeIsFloatingPoint(dtype);
  int64_t first = is_float ? boundInside(dtype, low + 1, low, -1) : low;
  int64_t end = is_float ? boundInside(dtype, high - 1, high, 1) : high;
  if (first >= end)
    return sambaStatusMake(SAMBA_INVALID,
                           "random integers from %lld to below %lld, of which the type %s has none",
                           (long long)low, (long long)high, sambaDTypeName(dtype));
  SAMBA_RETURN_IF_ERROR(sambaTensorCreateUninitialized(dtype, rank, dims, name, out_tensor));

  uint64_t range = (uint64_t)end - (uint64_t)first;
  uint8_t *data = (*out_tensor)->storage->data;
  for (int64_t i = 0; i < (*out_tensor)->elements; ++i, data += sambaDTypeBytes(dtype)) {
    uint64_t bits = range >> 32 ? sambaGeneratorDraw64(generator) : sambaGeneratorDraw32(generator);
    sambaScalarStore(sambaScalarInt((int64_t)((uint64_t)first + bits % range)), dtype, data);
  }
  return NULL;
}

SambaStatus sambaTensorCreateBernoulli(SambaGenerator *generator, SambaDType dtype,
                                       double probability, uint32_t rank, const int64_t *dims,
                                       SambaStringRef name, SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (!(probability >= 0 && probability <= 1))
    return sambaStatusMake(SAMBA_INVALID, "ones with the probability %g; expected 0 to 1",
                           probability);
  SAMBA_RETURN_IF_ERROR(sambaTensorCreateUninitialized(dtype, rank, dims, name, out_tensor));

  uint8_t *data = (*out_tensor)->storage->data;
  for (int64_t i = 0; i < (*out_tensor)->elements; ++i, data += sambaDTypeBytes(dtype))
    sambaScalarStore(sambaScalarInt(sambaGeneratorUniform(generator) < probability), dtype, data);
  return NULL;
}
