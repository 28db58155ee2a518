/* Convolutions over one, two or three spatial dimensions.
 *
 * Numerics: the sum runs over (c, window..), the window innermost, in f32; padded points multiply
 * zero; the bias is a separate rounded addition, then one conversion. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/window/channels_last.h"
#include "dialect/samba/table/window/convolution_gradients.h"
#include "dialect/samba/table/window/convolution_type.h"

/* The size of the input along an axis: 0 images, 1 channels, 2 .. spatial. */
static int64_t inputSize(const SambaOperatorCall *call, uint32_t axis) {
  return call->operands[0].dims[sambaImageAxis(call->operator, axis)];
}

static SambaStatus windowOf(const SambaOperatorCall *call, SambaWindow *out) {
  SAMBA_RETURN_IF_ERROR(sambaConvolutionWindow(call, out));
  for (uint32_t i = 0; i < out->spatial; ++i) {
    int64_t room, span;
    SAMBA_RETURN_IF_ERROR(sambaCheckWindowFits(6, out, i, inputSize(call, 2 + i), &room, &span));
    out->out[i] = (room - span - 1) / out->stride[i] + 1;
  }
  return NULL;
}

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *w = &call->operands[1];
  int64_t groups = sambaOperatorCallInt(call, "groups");

  SAMBA_RETURN_IF_ERROR(sambaCheckConvolution(call));
  int64_t channels = inputSize(call, 1);
  if (groups < 1 || channels % groups || w->dims[0] % groups)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C4) %lld groups do not divide %lld input and %lld output channels",
                           (long long)groups, (long long)channels, (long long)w->dims[0]);
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(4, "the weight", w, 1, channels / groups));
  SambaWindow window;
  SAMBA_RETURN_IF_ERROR(windowOf(call, &window));
  return sambaConvolutionResult(call, &window, w->dims[0], out);
}

/* Grouped convolutions with several outputs per group work on [n, group, o, ..]: an output axis is
 * one dimension. The result is then another shape of the same bytes. */
static uint32_t groupedShape(const SambaStageTensor *result, uint32_t channel, int64_t groups,
                             int64_t *out_dims) {
  bool split = groups > 1 && result->dims[channel] != groups;
  uint32_t rank = 0;
  for (uint32_t axis = 0; axis < result->rank; ++axis) {
    bool cut = split && axis == channel;
    if (cut)
      out_dims[rank++] = groups;
    out_dims[rank++] = result->dims[axis] / (cut ? groups : 1);
  }
  return rank;
}

/* What the stages of one call share. */
typedef struct Convolution {
  const SambaOperatorCall *call;
  SambaStageGraph *graph;
  const uint32_t *operands;
  const char *layer;
  SambaWindow window;
  int64_t groups;
  uint32_t rank;    /* of the result in the form that the stages write: n, [group,] o, spatial.. */
  uint32_t channel; /* its axis of groups, or of outputs when there is none */
  bool split;       /* the result has the dimension of groups */
} Convolution;

/* Its axis of a spatial dimension. */
static uint32_t spatialAxis(const Convolution *convolution, uint32_t i) {
  uint32_t axis = sambaImageAxis(convolution->call->operator, 2 + i);
  return axis + (convolution->split && axis > convolution->channel);
}

/* An axis that is the output channel. */
static void mapOutput(const Convolution *convolution, SambaStageBuilder *builder,
                      uint16_t operand) {
  SambaAxisMap *axis = sambaStageAxis(builder, operand, 0);
  axis->coefficients[convolution->channel] =
      convolution->split ? convolution->call->operands[1].dims[0] / convolution->groups : 1;
  if (convolution->split)
    axis->coefficients[convolution->channel + 1] = 1;
}

/* The products of input and weight, summed into `product`. */
static void contract(const Convolution *convolution, uint32_t product) {
  const SambaOperatorCall *call = convolution->call;
  const SambaWindow *window = &convolution->window;
  int64_t channels = inputSize(call, 1) / convolution->groups;
  uint32_t taps[3];
  bool padded = false;

  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, convolution->graph, call->operator->name, convolution->layer,
                             product);
  uint32_t channel = sambaStageDim(&builder, channels, true);
  for (uint32_t i = 0; i < window->spatial; ++i)
    taps[i] = sambaStageDim(&builder, window->kernel[i], true);

  uint16_t input = sambaStageOperand(&builder, convolution->operands[0]);
  uint16_t weight = sambaStageOperand(&builder, convolution->operands[1]);
  sambaStageAxis(&builder, input, 0)->coefficients[0] = 1;
  SambaAxisMap *input_channel = sambaStageAxis(&builder, input, sambaImageAxis(call->operator, 1));
  if (convolution->groups > 1)
    input_channel->coefficients[convolution->channel] = channels;
  input_channel->coefficients[channel] = 1;
  mapOutput(convolution, &builder, weight);
  sambaStageAxis(&builder, weight, 1)->coefficients[channel] = 1;

  for (uint32_t i = 0; i < window->spatial; ++i) {
    SambaAxisMap *axis = sambaStageAxis(&builder, input, sambaImageAxis(call->operator, 2 + i));
    axis->constant = -window->begin[i];
    axis->coefficients[spatialAxis(convolution, i)] = window->stride[i];
    axis->coefficients[taps[i]] = window->dilation[i];
    sambaStageAxis(&builder, weight, 2 + i)->coefficients[taps[i]] = 1;
    int64_t last = (window->out[i] - 1) * window->stride[i] +
                   (window->kernel[i] - 1) * window->dilation[i] - window->begin[i];
    padded |= window->begin[i] > 0 || last >= inputSize(call, 2 + i);
  }

  if (padded)
    sambaStageGuard(&builder, input, 0);
  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_MAC, input, weight));
}

static SambaStatus stages(const SambaOperatorCall *call, SambaStageGraph *graph,
                          const uint32_t *operands, const uint32_t *results, const char *layer) {
  Convolution convolution = {.call = call,
                             .graph = graph,
                             .operands = operands,
                             .layer = layer,
                             .groups = sambaOperatorCallInt(call, "groups"),
                             .channel = sambaImageAxis(call->operator, 1)};
  SAMBA_RETURN_IF_ERROR(windowOf(call, &convolution.window));
  SambaStageTensor result = graph->tensors[results[0]];
  int64_t dims[SAMBA_MAX_RANK];
  convolution.rank = groupedShape(&result, convolution.channel, convolution.groups, dims);
  convolution.split = convolution.rank != result.rank;

  bool has_bias = call->operand_count == 3;
  SambaDType accumulator = sambaAccumulatorDType(call->operands[0].dtype);
  bool direct = !has_bias && result.dtype == accumulator;
  uint32_t target = convolution.split
                        ? sambaStageIntermediate(graph, result.dtype, convolution.rank, dims)
                        : results[0];
  uint32_t product =
      direct ? target : sambaStageIntermediate(graph, accumulator, convolution.rank, dims);
  contract(&convolution, product);

  if (!direct) {
    SambaStageBuilder builder;
    sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, target);
    uint16_t value = sambaStageBroadcastOperand(&builder, product);
    if (has_bias) {
      uint16_t bias = sambaStageOperand(&builder, operands[2]);
      mapOutput(&convolution, &builder, bias);
      value = sambaLane2(&builder, SAMBA_LANE_ADD, value, bias);
    }
    sambaStageEndRounded(&builder, sambaLaneCast(&builder, value, result.dtype));
  }

  if (convolution.split)
    graph->tensors[results[0]].alias_of = target;
  return NULL;
}

#define CONVOLUTION(image)                                                                         \
  .computes =                                                                                      \
      "x is " image ", w is O x C/groups x window. `padding` has two numbers per spatial "         \
      "dimension: all begins, then all ends. Sums run over channels, then the window, its last "   \
      "dimension innermost, in f32; the bias is a rounded addition of its own.",                   \
  .operands = {"input", "weight", "bias?"},                                                        \
  .attributes = {INTS("stride", 1), INTS("padding", 0, "begins, then ends"), INTS("dilation", 1),  \
                 INT("groups", 1, "groups of channels"),                                           \
                 OPTIONAL(DTYPE, "out_dtype", "absent: the operands' dtype")},                     \
  .constraints =                                                                                   \
      {"x has a number dtype",                                                                     \
       "w has it too",                                                                             \
       "both have rank 2 + spatial dimensions",                                                    \
       "groups divides C and O, and w's dimension 1 is C/groups",                                  \
       "stride and dilation are 1 or more, one per spatial dimension, padding 0 or more",          \
       "the window fits into the padded input",                                                    \
       "b is [O], in the operands' or the result's dtype",                                         \
       "out_dtype as for samba.linear"},                                                           \
  .contraction = true, .dtypes = SAMBA_SET_NUMBER, .infer = infer, .stages = stages

const SambaOperator sambaConvolutionOperators[] = {
    {.name = "conv1d",
     .summary = "convolution over one dimension",
     .example =
         "%y = samba.conv1d %x, %w {padding = [1, 1]} : tensor<1x2x9xf32>, tensor<3x2x3xf32>",
     .source = "torch.nn.functional.conv1d",
     .spatial = 1,
     .differentiate = sambaGradientConvolution,
     CONVOLUTION("N x C x spatial")},
    {.name = "conv2d",
     .summary = "convolution over two dimensions",
     .example = "%y = samba.conv2d %x, %w, %b {stride = [2, 2], padding = [1, 1, 1, 1]} : "
                "tensor<1x2x9x9xf32>, tensor<3x2x3x3xf32>, tensor<3xf32>",
     .source = "torch.nn.functional.conv2d",
     .spatial = 2,
     .differentiate = sambaGradientConvolution,
     CONVOLUTION("N x C x spatial")},
    {.name = "conv3d",
     .summary = "convolution over three dimensions",
     .example = "%y = samba.conv3d %x, %w : tensor<1x2x4x4x4xf32>, tensor<3x2x2x2x2xf32>",
     .source = "torch.nn.functional.conv3d",
     .spatial = 3,
     .differentiate = sambaGradientConvolution,
     CONVOLUTION("N x C x spatial")},
    {.name = "conv2d_channels_last",
     .summary = "convolution over two dimensions of images that hold the channels of a pixel side "
                "by side",
     .example = "%y = samba.conv2d_channels_last %x, %w {padding = [1, 1, 1, 1]} : "
                "tensor<1x9x9x2xf32>, tensor<3x2x3x3xf32>",
     .source = "torch.nn.functional.conv2d (of x.permute(0, 3, 1, 2))",
     .spatial = 2,
     .channels_last = true,
     .decompose = sambaDecomposeChannelsLast,
     CONVOLUTION("N x spatial x C, and so is the result")},
    {0}};
