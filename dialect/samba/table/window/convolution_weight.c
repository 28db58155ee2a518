/* The gradients of the weights of convolutions: a contraction of the input with what flows into the
 * result, over images and the positions of the window. The window's taps are dimensions of the
 * result; nothing is unfolded.
 *
 * Numerics: the sum runs over (n, positions..), the last dimension innermost, in f32; padded points
 * multiply zero; one conversion. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/window/convolution_gradients.h"
#include "dialect/samba/table/window/convolution_type.h"

/* out[i]: the positions of the window. */
static SambaStatus windowOf(const SambaOperatorCall *call, SambaWindow *out) {
  uint32_t spatial = call->operator->spatial;
  int64_t padding[6];

  SAMBA_RETURN_IF_ERROR(sambaCheckInts(5, call, "kernel_size", spatial, 1, out->kernel));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(5, call, "stride", spatial, 1, out->stride));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(5, call, "dilation", spatial, 1, out->dilation));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(5, call, "padding", 2 * spatial, 0, padding));
  out->spatial = spatial;
  for (uint32_t i = 0; i < spatial; ++i) {
    int64_t room, span;
    out->begin[i] = padding[i];
    out->end[i] = padding[spatial + i];
    out->out[i] = call->operands[1].dims[2 + i];
    SAMBA_RETURN_IF_ERROR(
        sambaCheckWindowFits(6, out, i, call->operands[0].dims[2 + i], &room, &span));
    int64_t most = (room - span - 1) / out->stride[i] + 1;
    if (out->out[i] > most)
      return sambaStatusMake(SAMBA_INVALID,
                             "(C6) the window has %lld positions along spatial dimension %u, but "
                             "the gradient has %lld",
                             (long long)most, i, (long long)out->out[i]);
  }

  return NULL;
}

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *g = &call->operands[1];
  int64_t groups = sambaOperatorCallInt(call, "groups");
  SambaWindow window;

  SAMBA_RETURN_IF_ERROR(sambaCheckConvolution(call));
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(4, "the gradient", g, 0, x->dims[0]));
  if (groups < 1 || x->dims[1] % groups || g->dims[1] % groups)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C4) %lld groups do not divide %lld input and %lld output channels",
                           (long long)groups, (long long)x->dims[1], (long long)g->dims[1]);
  SAMBA_RETURN_IF_ERROR(windowOf(call, &window));

  *out = *x;
  out->dims[0] = g->dims[1];
  out->dims[1] = x->dims[1] / groups;
  for (uint32_t i = 0; i < window.spatial; ++i)
    out->dims[2 + i] = window.kernel[i];
  return sambaCheckOutDType(7, call, &out->dtype);
}

/* What the stages of one call share. The target has the form [group,] output, channel, taps.. */
typedef struct WeightGradient {
  const SambaOperatorCall *call;
  SambaWindow window;
  int64_t groups, channels, outputs;     /* channels and outputs of a group */
  uint32_t group, output, channel, taps; /* their dimensions (taps: the first one's) */
} WeightGradient;

/* The dimensions of the target. A group of one output is that output. */
static uint32_t targetShape(WeightGradient *weight, int64_t *out_dims) {
  uint32_t rank = 0;

  weight->group = weight->output = SAMBA_NO_INDEX;
  if (weight->groups > 1)
    out_dims[weight->group = rank++] = weight->groups;
  if (weight->groups == 1 || weight->outputs > 1)
    out_dims[weight->output = rank++] = weight->outputs;
  out_dims[weight->channel = rank++] = weight->channels;
  weight->taps = rank;
  for (uint32_t i = 0; i < weight->window.spatial; ++i)
    out_dims[rank++] = weight->window.kernel[i];
  return rank;
}

/* The products of gradient and input, summed into `product`. */
static void contract(const WeightGradient *weight, SambaStageGraph *graph, const uint32_t *operands,
                     const char *layer, uint32_t product) {
  const SambaTensorType *x = &weight->call->operands[0];
  const SambaWindow *window = &weight->window;
  bool padded = false;

  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, weight->call->operator->name, layer, product);
  uint32_t image = sambaStageDim(&builder, x->dims[0], true);
  uint32_t positions[3];
  for (uint32_t i = 0; i < window->spatial; ++i)
    positions[i] = sambaStageDim(&builder, window->out[i], true);

  uint16_t input = sambaStageOperand(&builder, operands[0]);
  uint16_t gradient = sambaStageOperand(&builder, operands[1]);
  sambaStageAxis(&builder, input, 0)->coefficients[image] = 1;
  sambaStageAxis(&builder, gradient, 0)->coefficients[image] = 1;
  sambaStageAxis(&builder, input, 1)->coefficients[weight->channel] = 1;
  if (weight->group != SAMBA_NO_INDEX) {
    sambaStageAxis(&builder, input, 1)->coefficients[weight->group] = weight->channels;
    sambaStageAxis(&builder, gradient, 1)->coefficients[weight->group] = weight->outputs;
  }
  if (weight->output != SAMBA_NO_INDEX)
    sambaStageAxis(&builder, gradient, 1)->coefficients[weight->output] = 1;

  for (uint32_t i = 0; i < window->spatial; ++i) {
    SambaAxisMap *axis = sambaStageAxis(&builder, input, 2 + i);
    axis->constant = -window->begin[i];
    axis->coefficients[positions[i]] = window->stride[i];
    axis->coefficients[weight->taps + i] = window->dilation[i];
    sambaStageAxis(&builder, gradient, 2 + i)->coefficients[positions[i]] = 1;
    int64_t last = (window->out[i] - 1) * window->stride[i] +
                   (window->kernel[i] - 1) * window->dilation[i] - window->begin[i];
    padded |= window->begin[i] > 0 || last >= x->dims[2 + i];
  }

  if (padded)
    sambaStageGuard(&builder, input, 0);
  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_MAC, gradient, input));
}

static SambaStatus stages(const SambaOperatorCall *call, SambaStageGraph *graph,
                          const uint32_t *operands, const uint32_t *results, const char *layer) {
  SambaStageTensor result = graph->tensors[results[0]];
  SambaDType accumulator = sambaAccumulatorDType(call->operands[0].dtype);
  WeightGradient weight = {.call = call, .groups = sambaOperatorCallInt(call, "groups")};
  int64_t dims[SAMBA_MAX_RANK];

  SAMBA_RETURN_IF_ERROR(windowOf(call, &weight.window));
  weight.channels = call->operands[0].dims[1] / weight.groups;
  weight.outputs = call->operands[1].dims[1] / weight.groups;
  uint32_t rank = targetShape(&weight, dims);
  bool reshaped = rank != result.rank;
  uint32_t target = reshaped ? sambaStageIntermediate(graph, result.dtype, rank, dims) : results[0];
  uint32_t product =
      result.dtype == accumulator ? target : sambaStageIntermediate(graph, accumulator, rank, dims);

  contract(&weight, graph, operands, layer, product);
  sambaStageConvert(graph, call->operator->name, layer, product, target);
  if (reshaped)
    graph->tensors[results[0]].alias_of = target;
  return NULL;
}

#define WEIGHT_GRADIENT                                                                            \
  .computes =                                                                                      \
      "x is N x C x spatial, g is N x O x positions: what flows into the result of a convolution " \
      "of x. The result is O x C/groups x window: the sum over images n and positions q of g[n, "  \
      "o, q] * x[n, c, q * stride + t * dilation - begin]. Sums run over images, then positions, " \
      "the last dimension innermost, in f32.",                                                     \
  .operands = {"input", "gradient"},                                                               \
  .attributes = {REQUIRED(INTS, "kernel_size", "the window"),                                      \
                 INTS("stride", 1),                                                                \
                 INTS("padding", 0, "begins, then ends"),                                          \
                 INTS("dilation", 1),                                                              \
                 INT("groups", 1, "groups of channels"),                                           \
                 OPTIONAL(DTYPE, "out_dtype", "absent: the operands' dtype")},                     \
  .constraints =                                                                                   \
      {"x has a number dtype",                                                                     \
       "g has it too",                                                                             \
       "both have rank 2 + spatial dimensions",                                                    \
       "both have N images; groups divides C and O",                                               \
       "window, stride and dilation are 1 or more, one per spatial dimension, padding 0 or more",  \
       "the window fits into the padded input at every position",                                  \
       "out_dtype as for samba.linear"},                                                           \
  .contraction = true, .dtypes = SAMBA_SET_NUMBER, .infer = infer, .stages = stages,               \
  .differentiate = sambaGradientWeightGradient

const SambaOperator sambaConvolutionWeightOperators[] = {
    {.name = "conv1d_weight_gradient",
     .summary = "gradient of the weight of a convolution over one dimension",
     .example = "%y = samba.conv1d_weight_gradient %x, %g {kernel_size = [3], padding = [1, 1]} : "
                "tensor<1x2x9xf32>, tensor<1x3x9xf32>",
     .source = "torch.nn.grad.conv1d_weight",
     .spatial = 1,
     WEIGHT_GRADIENT},
    {.name = "conv2d_weight_gradient",
     .summary = "gradient of the weight of a convolution over two dimensions",
     .example = "%y = samba.conv2d_weight_gradient %x, %g {kernel_size = [3, 3], stride = [2, 2]} "
                ": tensor<1x2x9x9xf32>, tensor<1x3x4x4xf32>",
     .source = "torch.nn.grad.conv2d_weight",
     .spatial = 2,
     WEIGHT_GRADIENT},
    {.name = "conv3d_weight_gradient",
     .summary = "gradient of the weight of a convolution over three dimensions",
     .example = "%y = samba.conv3d_weight_gradient %x, %g {kernel_size = [2, 2, 2]} : "
                "tensor<1x2x4x4x4xf32>, tensor<1x3x3x3x3xf32>",
     .source = "torch.nn.grad.conv3d_weight",
     .spatial = 3,
     WEIGHT_GRADIENT},
    {0}};
