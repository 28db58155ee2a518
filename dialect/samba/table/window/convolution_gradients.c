/* Gradients of convolutions; see convolution_gradients.h. Each is the other's gradient for the
 * input. The weight's is an operator of its own (convolution_weight.c). */
#include "dialect/samba/table/window/convolution_gradients.h"

#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/window/convolution_type.h"

#include <stdio.h>

typedef struct Convolution {
  const SambaGradientCall *gradient;
  SambaExpansion *expansion;
  SambaWindow window;
  int64_t groups;
} Convolution;

static SambaStatus convolutionOf(const SambaGradientCall *gradient, SambaExpansion *expansion,
                                 Convolution *out) {
  *out = (Convolution){.gradient = gradient,
                       .expansion = expansion,
                       .groups = sambaOperatorCallInt(gradient->call, "groups")};
  return sambaConvolutionWindow(gradient->call, &out->window);
}

static uint32_t convolve(const Convolution *convolution, const char *word, uint32_t x,
                         uint32_t weight, const SambaWindow *window,
                         const int64_t *output_padding) {
  char name[32];
  int64_t padding[6];
  uint32_t spatial = window->spatial;
  for (uint32_t i = 0; i < spatial; ++i)
    padding[i] = window->begin[i], padding[spatial + i] = window->end[i];
  SambaAttribute attributes[] = {sambaIntsAttribute("stride", window->stride, spatial),
                                 sambaIntsAttribute("padding", padding, 2 * (size_t)spatial),
                                 sambaIntsAttribute("dilation", window->dilation, spatial),
                                 sambaIntAttribute("groups", convolution->groups),
                                 sambaIntsAttribute("output_padding", output_padding, spatial)};
  snprintf(name, sizeof name, "%s%ud", word, spatial);
  return sambaExpandCall(convolution->expansion, name, 2, (uint32_t[]){x, weight},
                         output_padding ? 5 : 4, attributes);
}

/* The first elements of each dimension from `axis` on. */
static uint32_t cropped(SambaExpansion *expansion, uint32_t value, uint32_t axis,
                        const int64_t *sizes) {
  for (uint32_t rank = sambaExpansionType(expansion, value)->rank, i = axis; i < rank; ++i)
    value = sambaExpandSlice(expansion, value, i, 0, sizes[i - axis], 1);
  return value;
}

/* sum over n and q of still[n, o, q] * moved[n, c, q * stride + t * dilation - begin], with this
 * dtype: [O, C / groups, t..]. */
static uint32_t weightGradient(const Convolution *convolution, uint32_t moved, uint32_t still,
                               SambaDType dtype) {
  const SambaWindow *window = &convolution->window;
  uint32_t spatial = window->spatial;
  int64_t padding[6];
  char name[32];

  for (uint32_t i = 0; i < spatial; ++i)
    padding[i] = window->begin[i], padding[spatial + i] = window->end[i];
  SambaAttribute attributes[] = {sambaIntsAttribute("kernel_size", window->kernel, spatial),
                                 sambaIntsAttribute("stride", window->stride, spatial),
                                 sambaIntsAttribute("padding", padding, 2 * (size_t)spatial),
                                 sambaIntsAttribute("dilation", window->dilation, spatial),
                                 sambaIntAttribute("groups", convolution->groups),
                                 sambaDTypeAttribute("out_dtype", dtype)};
  snprintf(name, sizeof name, "conv%ud_weight_gradient", spatial);
  return sambaExpandCall(convolution->expansion, name, 2, (uint32_t[]){moved, still}, 6,
                         attributes);
}

static void setBias(const Convolution *convolution) {
  const SambaGradientCall *gradient = convolution->gradient;
  if (gradient->call->operand_count < 3 || !gradient->needed[2])
    return;
  bool reduced[SAMBA_MAX_RANK] = {true, false, true, true, true};
  uint32_t g = gradientWideFlow(gradient, convolution->expansion);
  int64_t channels = sambaExpansionType(convolution->expansion, g)->dims[1];
  g = sambaExpandReshape(convolution->expansion,
                         sambaExpandReduce(convolution->expansion, "sum", g, reduced), 1,
                         &channels);
  gradientSet(gradient, convolution->expansion, 2, g);
}

SambaStatus sambaGradientConvolution(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *types = gradient->call->operands;
  Convolution convolution;
  int64_t rest[3];
  SAMBA_RETURN_IF_ERROR(convolutionOf(gradient, expansion, &convolution));
  uint32_t g = sambaExpandCast(expansion, sambaGradientOfResult(gradient), types[0].dtype);

  for (uint32_t i = 0; i < convolution.window.spatial;
       ++i) { /* what the last window did not reach */
    int64_t span = (convolution.window.kernel[i] - 1) * convolution.window.dilation[i] + 1;
    int64_t padded = types[0].dims[2 + i] + convolution.window.begin[i] + convolution.window.end[i];
    rest[i] = (padded - span) % convolution.window.stride[i];
  }
  if (gradient->needed[0])
    gradient->operand_gradients[0] = convolve(&convolution, "conv_transpose", g,
                                              gradient->operands[1], &convolution.window, rest);
  if (gradient->needed[1])
    gradient->operand_gradients[1] =
        weightGradient(&convolution, gradient->operands[0], g, types[1].dtype);
  setBias(&convolution);
  return NULL;
}

SambaStatus sambaGradientTransposedConvolution(const SambaGradientCall *gradient,
                                               SambaExpansion *expansion) {
  const SambaTensorType *types = gradient->call->operands;
  Convolution convolution;
  SAMBA_RETURN_IF_ERROR(convolutionOf(gradient, expansion, &convolution));
  uint32_t g = sambaExpandCast(expansion, sambaGradientOfResult(gradient), types[0].dtype);

  if (gradient->needed[0])
    gradient->operand_gradients[0] =
        cropped(expansion,
                convolve(&convolution, "conv", g, gradient->operands[1], &convolution.window, NULL),
                2, &types[0].dims[2]);
  if (gradient->needed[1])
    gradient->operand_gradients[1] =
        weightGradient(&convolution, g, gradient->operands[0], types[1].dtype);
  setBias(&convolution);
  return NULL;
}

/* A weight's gradient is a product of x and g: what flows into it is the weight with which g is x's
 * convolution, and x the transposed one of g. */
SambaStatus sambaGradientWeightGradient(const SambaGradientCall *gradient,
                                        SambaExpansion *expansion) {
  const SambaTensorType *types = gradient->call->operands;
  Convolution convolution;
  int64_t rest[3];
  SAMBA_RETURN_IF_ERROR(convolutionOf(gradient, expansion, &convolution));
  uint32_t weight = sambaExpandCast(expansion, sambaGradientOfResult(gradient), types[0].dtype);
  SambaWindow *window = &convolution.window;

  for (uint32_t i = 0; i < window->spatial; ++i) {
    window->kernel[i] = sambaExpansionType(expansion, weight)->dims[2 + i];
    rest[i] = types[0].dims[2 + i] + window->begin[i] + window->end[i] -
              (types[1].dims[2 + i] - 1) * window->stride[i] -
              (window->kernel[i] - 1) * window->dilation[i] - 1;
  }
  if (gradient->needed[0])
    gradient->operand_gradients[0] =
        convolve(&convolution, "conv_transpose", gradient->operands[1], weight, window, rest);
  if (gradient->needed[1])
    gradient->operand_gradients[1] = cropped(
        expansion, convolve(&convolution, "conv", gradient->operands[0], weight, window, NULL), 2,
        &types[1].dims[2]);
  return NULL;
}
