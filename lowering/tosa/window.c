/* TOSA's products, convolutions, pools and Fourier transforms.
 *
 * Images are N x H x W x C there and N x C x H x W in samba: permutations before and after, which
 * are views and cancel between neighbours. */
#include "lowering/tosa/tosa_rows.h"

#include "support/number/dtype.h"

#include <string.h>

enum { mostSpatial = 3 };

/* x - zero point, as the type of the result when there is one. Padding by zeros stays right,
 * because TOSA pads with the zero point. */
static uint32_t withoutZeroPoint(SambaForeignCall *call, uint32_t operand, uint32_t zero_point) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t x = call->operands[operand];
  if (sambaForeignOperandIs(call, zero_point, 0))
    return x;
  SambaDType wide = call->types[0].dtype;
  uint32_t zero = sambaExpandReshape(expansion, call->operands[zero_point], 0, NULL);
  return sambaExpandBinary(expansion, "sub", sambaExpandCast(expansion, x, wide),
                           sambaExpandCast(expansion, zero, wide));
}

/* Both operands of a product without their zero points, in one type. */
static void productOperands(SambaForeignCall *call, uint32_t a_zero, uint32_t b_zero,
                            uint32_t *out_a, uint32_t *out_b) {
  SambaExpansion *expansion = &call->expansion;
  *out_a = withoutZeroPoint(call, 0, a_zero);
  *out_b = withoutZeroPoint(call, 1, b_zero);
  SambaDType a = sambaForeignType(call, *out_a).dtype, b = sambaForeignType(call, *out_b).dtype;
  if (a != b) {
    *out_a = sambaExpandCast(expansion, *out_a, call->types[0].dtype);
    *out_b = sambaExpandCast(expansion, *out_b, call->types[0].dtype);
  }
}

void sambaTosaMatmul(SambaForeignCall *call) {
  uint32_t a, b;
  productOperands(call, 2, 3, &a, &b);
  call->results[0] = SAMBA_FOREIGN_CALL(call, "matmul", ((uint32_t[]){a, b}),
                                        sambaDTypeAttribute("out_dtype", call->types[0].dtype));
}

/* The last dimension comes behind the first one, and back. */
static uint32_t channelsFirst(SambaForeignCall *call, uint32_t x) {
  uint32_t rank = sambaForeignType(call, x).rank;
  int64_t dims[SAMBA_MAX_RANK] = {0, (int64_t)rank - 1};
  for (uint32_t i = 2; i < rank; ++i)
    dims[i] = i - 1;
  return sambaExpandPermute(&call->expansion, x, dims);
}
static uint32_t channelsLast(SambaForeignCall *call, uint32_t x) {
  uint32_t rank = sambaForeignType(call, x).rank;
  int64_t dims[SAMBA_MAX_RANK] = {0};
  for (uint32_t i = 1; i + 1 < rank; ++i)
    dims[i] = i + 1;
  dims[rank - 1] = 1;
  return sambaExpandPermute(&call->expansion, x, dims);
}

/* TOSA pads by pairs: top, bottom, left, right; samba by all begins, then all ends. */
static uint32_t readPadding(SambaForeignCall *call, const char *name, int64_t *out) {
  int64_t pairs[2 * mostSpatial] = {0};
  uint32_t count = sambaForeignInts(call, name, pairs, 2 * mostSpatial) / 2;
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = pairs[2 * i];
    out[count + i] = pairs[2 * i + 1];
  }
  return 2 * count;
}

/* One number per channel: a bias of size 1 holds for all. */
static uint32_t biasOf(SambaForeignCall *call, int64_t channels) {
  return sambaExpandBroadcast(&call->expansion, call->operands[2], 1, &channels);
}

static void convolve(SambaForeignCall *call, uint32_t x, uint32_t weight, int64_t groups) {
  int64_t padding[2 * mostSpatial], stride[mostSpatial], dilation[mostSpatial];
  uint32_t pads = readPadding(call, "pad", padding);
  uint32_t strides = sambaForeignInts(call, "stride", stride, mostSpatial);
  uint32_t dilations = sambaForeignInts(call, "dilation", dilation, mostSpatial);
  SambaTensorType type = sambaForeignType(call, weight);
  uint32_t operands[] = {channelsFirst(call, x), weight, biasOf(call, type.dims[0])};

  uint32_t result = SAMBA_FOREIGN_CALL(
      call, type.rank == 5 ? "conv3d" : "conv2d", operands,
      sambaIntsAttribute("stride", stride, strides), sambaIntsAttribute("padding", padding, pads),
      sambaIntsAttribute("dilation", dilation, dilations), sambaIntAttribute("groups", groups),
      sambaDTypeAttribute("out_dtype", call->types[0].dtype));
  call->results[0] = channelsLast(call, result);
}

void sambaTosaConvolution(SambaForeignCall *call) {
  uint32_t x, weight;
  productOperands(call, 3, 4, &x, &weight);
  convolve(call, x, channelsFirst(call, weight), 1);
}

/* Weights are H x W x C x M; output channel c * M + m reads channel c. */
void sambaTosaDepthwise(SambaForeignCall *call) {
  uint32_t x, weight;
  productOperands(call, 3, 4, &x, &weight);
  SambaTensorType type = sambaForeignType(call, weight);
  weight = sambaExpandPermute(&call->expansion, weight, (int64_t[]){2, 3, 0, 1});
  int64_t dims[] = {type.dims[2] * type.dims[3], 1, type.dims[0], type.dims[1]};
  convolve(call, x, sambaExpandReshape(&call->expansion, weight, 4, dims), type.dims[2]);
}

/* Weights are O x H x W x I. A negative out_pad crops, a positive one leaves the bias alone. */
void sambaTosaTransposeConvolution(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  int64_t out_pad[2 * mostSpatial] = {0}, stride[mostSpatial], crop[4], low[4] = {0}, high[4] = {0};
  uint32_t x, weight;
  productOperands(call, 3, 4, &x, &weight);
  readPadding(call, "out_pad", out_pad);
  uint32_t strides = sambaForeignInts(call, "stride", stride, mostSpatial);
  bool pads = false;
  for (int i = 0; i < 4; ++i) {
    crop[i] = out_pad[i] < 0 ? -out_pad[i] : 0;
    pads |= out_pad[i] > 0;
    (i < 2 ? low : high)[2 + i % 2] = out_pad[i] > 0 ? out_pad[i] : 0;
  }

  uint32_t operands[] = {channelsFirst(call, x),
                         sambaExpandPermute(expansion, weight, (int64_t[]){3, 0, 1, 2})};
  uint32_t result = SAMBA_FOREIGN_CALL(call, "conv_transpose2d", operands,
                                       sambaIntsAttribute("stride", stride, strides),
                                       sambaIntsAttribute("padding", crop, 4),
                                       sambaDTypeAttribute("out_dtype", call->types[0].dtype));
  if (pads)
    result =
        SAMBA_FOREIGN_CALL(call, "pad", (uint32_t[]){result}, sambaIntsAttribute("low", low, 4),
                           sambaIntsAttribute("high", high, 4));
  uint32_t bias = sambaExpandCast(expansion, call->operands[2], call->types[0].dtype);
  call->results[0] = sambaExpandBinary(expansion, "add", channelsLast(call, result), bias);
}

/* Padding never wins a max pool and is left out of an average pool's divisor. */
void sambaTosaPool(SambaForeignCall *call) {
  bool average = strcmp(call->row->operator, "avg_pool2d") == 0;
  int64_t padding[2 * mostSpatial], stride[mostSpatial], kernel[mostSpatial];
  uint32_t pads = readPadding(call, "pad", padding);
  uint32_t strides = sambaForeignInts(call, "stride", stride, mostSpatial);
  uint32_t kernels = sambaForeignInts(call, "kernel", kernel, mostSpatial);
  uint32_t x = call->operands[0];
  if (average && !sambaDTypeIsFloat(call->types[0].dtype)) {
    sambaForeignFail(call, sambaStatusMake(SAMBA_UNSUPPORTED,
                                           "averages integers with a rounding of quantized "
                                           "networks, which samba has not; compute in f32"));
    return;
  }

  if (!average && sambaTosaIgnoresNan(call, x))
    x = sambaTosaReplaceNan(call, x, -__builtin_inf());
  SambaAttribute attributes[] = {sambaIntsAttribute("kernel_size", kernel, kernels),
                                 sambaIntsAttribute("stride", stride, strides),
                                 sambaIntsAttribute("padding", padding, pads),
                                 sambaBoolAttribute("count_include_pad", false)};
  x = channelsFirst(call, x);
  uint32_t result =
      sambaExpandCall(&call->expansion, call->row->operator, 1, &x, average ? 4 : 3, attributes);
  call->results[0] = channelsLast(call, result);
}

/* ---- Fourier transforms: real and imaginary part are one last dimension in samba ---- */

static uint32_t transform(SambaForeignCall *call, uint32_t x, int64_t dim, bool inverse,
                          bool onesided) {
  return SAMBA_FOREIGN_CALL(call, "dft", (uint32_t[]){x}, sambaIntAttribute("dim", dim),
                            sambaBoolAttribute("inverse", inverse),
                            sambaBoolAttribute("onesided", onesided));
}

static void takeParts(SambaForeignCall *call, uint32_t x) {
  for (int64_t part = 0; part < 2; ++part) {
    uint32_t slice = sambaExpandSlice(&call->expansion, x, 3, part, 1, 1);
    SambaTensorType type = sambaForeignType(call, slice);
    call->results[part] = sambaExpandReshape(&call->expansion, slice, 3, type.dims);
  }
}

static uint32_t withLastOne(SambaForeignCall *call, uint32_t x) {
  SambaTensorType type = sambaForeignType(call, x);
  type.dims[type.rank] = 1;
  return sambaExpandReshape(&call->expansion, x, type.rank + 1, type.dims);
}

/* TOSA does not divide by the number of elements. */
void sambaTosaFft(SambaForeignCall *call) {
  uint32_t parts[] = {withLastOne(call, call->operands[0]), withLastOne(call, call->operands[1])};
  bool inverse = sambaForeignFlag(call, "inverse");
  uint32_t x = sambaExpandCat(&call->expansion, 2, parts, 3);
  x = transform(call, transform(call, x, 2, inverse, false), 1, inverse, false);
  SambaTensorType type = sambaForeignType(call, x);
  if (inverse)
    x = sambaExpandWithNumber(&call->expansion, "mul", x, (double)(type.dims[1] * type.dims[2]));
  takeParts(call, x);
}

void sambaTosaRfft(SambaForeignCall *call) {
  uint32_t x = transform(call, withLastOne(call, call->operands[0]), 2, false, true);
  takeParts(call, transform(call, x, 1, false, false));
}
