/* Transposed convolutions over one, two or three spatial dimensions: x[n, c, q] * w[c, o, t] is
 * added to result[n, o, p], p = q * stride + t * dilation - begin.
 *
 * Every output position p = stride * j + r is met by the taps t with t * dilation = r + begin
 * (modulo stride) alone, and those read x at j + constant - u * step: for each r a convolution of
 * its own. Neighbouring r with as many taps are one stage, in which r is a dimension; no product
 * with an inserted zero is computed.
 *
 * Numerics: the sum runs over (c, taps..), taps ascending, the last dimension innermost, in f32;
 * elements of x outside are zeros; the bias is a separate rounded addition, then one conversion. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/window/convolution_gradients.h"
#include "dialect/samba/table/window/convolution_type.h"
#include "support/number/integer.h"

#include <stdio.h>

static SambaStatus windowOf(const SambaOperatorCall *call, SambaWindow *out) {
  const SambaTensorType *x = &call->operands[0];
  int64_t extra[3];

  SAMBA_RETURN_IF_ERROR(sambaConvolutionWindow(call, out));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(5, call, "output_padding", out->spatial, 0, extra));
  for (uint32_t i = 0; i < out->spatial; ++i) {
    int64_t span, reach;
    if (sambaMulOverflows(out->dilation[i], out->kernel[i] - 1, &span) ||
        sambaMulOverflows(x->dims[2 + i] - 1, out->stride[i], &reach) ||
        sambaAddOverflows(reach, span, &reach) || reach > (int64_t)1 << 48)
      reach = (int64_t)1 << 48; /* refused with the result's size */
    out->out[i] = reach + 1 + extra[i] - out->begin[i] - out->end[i];
    if (out->out[i] < 1)
      return sambaStatusMake(SAMBA_INVALID,
                             "(C6) %lld elements along spatial dimension %u are less than the "
                             "padding of %lld and %lld",
                             (long long)(reach + 1 + extra[i]), i, (long long)out->begin[i],
                             (long long)out->end[i]);
  }

  return NULL;
}

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *w = &call->operands[1];
  int64_t groups = sambaOperatorCallInt(call, "groups");
  int64_t channels;

  SAMBA_RETURN_IF_ERROR(sambaCheckConvolution(call));
  if (groups < 1 || x->dims[1] % groups)
    return sambaStatusMake(SAMBA_INVALID, "(C4) %lld groups do not divide %lld input channels",
                           (long long)groups, (long long)x->dims[1]);
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(4, "the weight", w, 0, x->dims[1]));
  SambaWindow window;
  SAMBA_RETURN_IF_ERROR(windowOf(call, &window));
  if (sambaMulOverflows(w->dims[1], groups, &channels))
    channels = INT64_MAX; /* refused with the result's size */
  return sambaConvolutionResult(call, &window, channels, out);
}

/* The output positions stride * j + r for `count` consecutive r, along one spatial
 * dimension: tap u of r = first + i is window element tap + i + tap_step * u and reads x
 * at j + shift - x_step * u. */
typedef struct Phase {
  int64_t first, count, taps, tap, tap_step, shift, x_step;
} Phase;

static Phase phaseAt(const SambaWindow *window, uint32_t i, int64_t r) {
  int64_t stride = window->stride[i];
  int64_t common = (int64_t)sambaGreatestDivisor((uint64_t)stride, (uint64_t)window->dilation[i]);
  int64_t rest = (r + window->begin[i]) % stride;

  Phase phase = {
      .first = r, .count = 1, .tap_step = stride / common, .x_step = window->dilation[i] / common};
  if (rest % common)
    return phase;

  /* within tap_step taps exactly one leaves this rest */
  while (phase.tap < window->kernel[i] && phase.tap < phase.tap_step &&
         (phase.tap * window->dilation[i] - rest) % stride)
    ++phase.tap;
  if (phase.tap >= window->kernel[i] || phase.tap == phase.tap_step)
    return phase;
  phase.taps = (window->kernel[i] - 1 - phase.tap) / phase.tap_step + 1;
  phase.shift = (r + window->begin[i] - phase.tap * window->dilation[i]) / stride;

  return phase;
}

/* Whether `next` can be a further point of `phase`. */
static bool continues(const Phase *phase, const Phase *next) {
  return phase->taps == next->taps && (next->taps == 0 || (next->tap == phase->tap + phase->count &&
                                                           next->shift == phase->shift));
}

/* What all stages of one call share. */
typedef struct Call {
  const SambaOperatorCall *call;
  SambaStageGraph *graph;
  const uint32_t *operands;
  const char *name, *layer;
  SambaWindow window;
  int64_t groups, channels, outputs;
  bool grouped;     /* [n, group, o, ..] instead of [n, o, ..] */
  bool split[3];    /* the position is (j, r): two axes of the target */
  uint32_t first;   /* dimension of the first spatial axis */
  uint32_t target;  /* the result in this form */
  SambaDType dtype; /* of the result */
} Call;

/* Begins a stage over (n, [group], o, spatial..) of one phase per dimension; box: its own tensor
 * from zero, otherwise the part of the target. out_dims: dimension of j per spatial dimension. */
static void begin(const Call *conv, SambaStageBuilder *builder, const Phase *phases,
                  uint32_t output, bool box, uint32_t *out_dims) {
  sambaStageBegin(builder, conv->graph, conv->name, conv->layer, output);
  const SambaStageTensor *target = &conv->graph->tensors[conv->target];
  uint32_t axis = 0;

  for (; axis < conv->first; ++axis)
    builder->stage.output.axes[axis]
        .coefficients[sambaStageDim(builder, target->dims[axis], false)] = 1;
  for (uint32_t i = 0; i < conv->window.spatial; ++i) {
    const Phase *phase = &phases[i];
    SambaAxisMap *map = &builder->stage.output.axes[axis++];
    int64_t stride = conv->window.stride[i];
    out_dims[i] =
        sambaStageDim(builder,
                      conv->split[i] ? conv->window.out[i] / stride
                                     : (conv->window.out[i] - phase->first + stride - 1) / stride,
                      false);
    map->coefficients[out_dims[i]] = box || conv->split[i] ? 1 : stride;
    if (!conv->split[i]) {
      map->constant = box ? 0 : phase->first;
      continue;
    }
    map = &builder->stage.output.axes[axis++];
    map->coefficients[sambaStageDim(builder, phase->count, false)] = 1;
    map->constant = box ? 0 : phase->first;
  }
}

static uint32_t boxTensor(const Call *conv, const Phase *phases, SambaDType dtype) {
  SambaStageBuilder builder;
  uint32_t dims[3];
  begin(conv, &builder, phases, conv->target, true, dims);
  return sambaStageIntermediate(conv->graph, dtype, builder.stage.dim_count, builder.stage.extents);
}

/* Dimension 1 is the group (or o without groups), 2 is o of a group. */
static uint16_t biasOperand(const Call *conv, SambaStageBuilder *builder) {
  uint16_t bias = sambaStageOperand(builder, conv->operands[2]);
  sambaStageAxis(builder, bias, 0)->coefficients[1] = conv->grouped ? conv->outputs : 1;
  if (conv->grouped)
    sambaStageAxis(builder, bias, 0)->coefficients[2] = 1;
  return bias;
}

static void contract(const Call *conv, const Phase *phases, uint32_t output, bool box) {
  SambaStageBuilder builder;
  uint32_t dims[3], taps[3];

  begin(conv, &builder, phases, output, box, dims);
  uint32_t channel = sambaStageDim(&builder, conv->channels, true);
  for (uint32_t i = 0; i < conv->window.spatial; ++i)
    taps[i] = sambaStageDim(&builder, phases[i].taps, true);
  uint16_t x = sambaStageOperand(&builder, conv->operands[0]);
  uint16_t w = sambaStageOperand(&builder, conv->operands[1]);
  sambaStageAxis(&builder, x, 0)->coefficients[0] = 1;
  sambaStageAxis(&builder, x, 1)->coefficients[channel] = 1;
  sambaStageAxis(&builder, w, 0)->coefficients[channel] = 1;
  if (conv->groups > 1) {
    sambaStageAxis(&builder, x, 1)->coefficients[1] = conv->channels;
    sambaStageAxis(&builder, w, 0)->coefficients[1] = conv->channels;
  }

  if (conv->groups == 1 || conv->grouped)
    sambaStageAxis(&builder, w, 1)->coefficients[conv->grouped ? 2 : 1] = 1;
  bool leaves = false;
  for (uint32_t i = 0; i < conv->window.spatial; ++i) {
    const Phase *phase = &phases[i];
    SambaAxisMap *axis = sambaStageAxis(&builder, x, 2 + i);
    axis->constant = phase->shift;
    axis->coefficients[dims[i]] = 1;
    axis->coefficients[taps[i]] = -phase->x_step;
    leaves |= phase->shift < (phase->taps - 1) * phase->x_step ||
              phase->shift + builder.stage.extents[dims[i]] > conv->call->operands[0].dims[2 + i];
    axis = sambaStageAxis(&builder, w, 2 + i);
    axis->constant = phase->tap;
    axis->coefficients[taps[i]] = phase->tap_step;
    if (conv->split[i])
      axis->coefficients[dims[i] + 1] = 1;
  }

  if (leaves)
    sambaStageGuard(&builder, x, 0);
  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_MAC, x, w));
}

/* One phase per dimension: the products, then bias and conversion. */
static void emitPhases(const Call *conv, const Phase *phases) {
  bool empty = false, hasBias = conv->call->operand_count == 3;
  for (uint32_t i = 0; i < conv->window.spatial; ++i)
    empty |= phases[i].taps == 0;
  SambaDType accumulator = sambaAccumulatorDType(conv->call->operands[0].dtype);

  if (!empty && !hasBias && conv->dtype == accumulator) {
    contract(conv, phases, conv->target, false);
    return;
  }

  uint32_t product = 0, dims[3];
  if (!empty)
    contract(conv, phases, product = boxTensor(conv, phases, accumulator), true);
  SambaStageBuilder builder;
  begin(conv, &builder, phases, conv->target, false, dims);
  uint16_t value = empty ? 0 : sambaStageBroadcastOperand(&builder, product);
  uint16_t bias = hasBias ? biasOperand(conv, &builder) : 0;
  if (!empty && hasBias)
    value = sambaLane2(&builder, SAMBA_LANE_ADD, value, bias);
  else if (hasBias)
    value = bias;
  else if (empty && accumulator == SAMBA_DTYPE_F32)
    value = sambaLaneFloat(&builder, 0);
  else if (empty)
    value = sambaLaneInteger(&builder, accumulator, 0);
  sambaStageEndRounded(&builder, sambaLaneCast(&builder, value, conv->dtype));
}

/* All combinations of phases, dimension by dimension. */
static void emitDimension(const Call *conv, uint32_t i, Phase *phases) {
  if (i >= conv->window.spatial || i >= sizeof conv->window.stride / sizeof *conv->window.stride) {
    emitPhases(conv, phases);
    return;
  }

  int64_t stride = conv->window.stride[i];
  for (int64_t r = 0; r < stride && r < conv->window.out[i]; r += phases[i].count) {
    phases[i] = phaseAt(&conv->window, i, r);
    while (conv->split[i] && r + phases[i].count < stride) {
      Phase next = phaseAt(&conv->window, i, r + phases[i].count);
      if (!continues(&phases[i], &next))
        break;
      ++phases[i].count;
    }
    emitDimension(conv, i + 1, phases);
  }
}

static SambaStatus stages(const SambaOperatorCall *call, SambaStageGraph *graph,
                          const uint32_t *operands, const uint32_t *results, const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *w = &call->operands[1];

  Call conv = {.call = call,
               .graph = graph,
               .operands = operands,
               .name = call->operator->name,
               .layer = layer,
               .groups = sambaOperatorCallInt(call, "groups"),
               .outputs = w->dims[1],
               .dtype = graph->tensors[results[0]].dtype,
               .target = results[0]};
  SAMBA_RETURN_IF_ERROR(windowOf(call, &conv.window));
  conv.channels = x->dims[1] / conv.groups;
  conv.grouped = conv.groups > 1 && conv.outputs > 1;
  conv.first = conv.grouped ? 3 : 2;
  uint32_t spatial = conv.window.spatial;
  uint32_t rank = conv.first + spatial;
  uint32_t written = 0;

  /* two axes per position where the strides divide it, as long as ranks and loops allow */
  for (uint32_t i = spatial; i-- > 0;) {
    conv.split[i] = conv.window.stride[i] > 1 && conv.window.out[i] % conv.window.stride[i] == 0 &&
                    rank < SAMBA_MAX_RANK && rank + 2 + spatial <= SAMBA_MAX_STAGE_DIMS;
    rank += conv.split[i];
  }

  if (rank > 2 + spatial) {
    int64_t dims[SAMBA_MAX_RANK];
    dims[written++] = x->dims[0];
    if (conv.grouped)
      dims[written++] = conv.groups;
    dims[written++] = conv.groups > 1 && !conv.grouped ? conv.groups : conv.outputs;
    for (uint32_t i = 0; i < spatial; ++i) {
      dims[written++] =
          conv.split[i] ? conv.window.out[i] / conv.window.stride[i] : conv.window.out[i];
      if (conv.split[i])
        dims[written++] = conv.window.stride[i];
    }

    conv.target = sambaStageIntermediate(graph, conv.dtype, rank, dims);
  }

  Phase phases[3];
  emitDimension(&conv, 0, phases);
  if (conv.target != results[0])
    graph->tensors[results[0]].alias_of = conv.target;
  return NULL;
}

/* ---- As a convolution, where a machine has too few address generators for the phases ---- */

/* [N, C, q..] with stride - 1 zeros behind every element of each spatial dimension. */
static uint32_t spread(SambaExpansion *expansion, uint32_t x, const SambaWindow *window) {
  SambaTensorType type = *sambaExpansionType(expansion, x);
  for (uint32_t i = 0; i < window->spatial; ++i) {
    int64_t low[SAMBA_MAX_RANK] = {0}, high[SAMBA_MAX_RANK] = {0};
    int64_t dims[SAMBA_MAX_RANK];
    uint32_t rank = 0;
    if (window->stride[i] == 1)
      continue;

    for (uint32_t axis = 0; axis < type.rank; ++axis) {
      dims[rank++] = type.dims[axis];
      if (axis == 2 + i)
        dims[rank++] = 1;
    }
    high[3 + i] = window->stride[i] - 1;
    SambaAttribute attributes[] = {sambaIntsAttribute("low", low, rank),
                                   sambaIntsAttribute("high", high, rank)};
    x = sambaExpandReshape(expansion, x, rank, dims);
    x = sambaExpandCall(expansion, "pad", 1, &x, 2, attributes);
    type.dims[2 + i] *= window->stride[i];
    x = sambaExpandReshape(expansion, x, type.rank, type.dims);
  }
  return x;
}

/* [C, O / groups, t..] as the weight [O, C / groups, t..] of a convolution. */
static uint32_t exchanged(SambaExpansion *expansion, uint32_t weight, int64_t groups) {
  SambaTensorType type = *sambaExpansionType(expansion, weight);
  int64_t dims[SAMBA_MAX_RANK] = {groups, type.dims[0] / groups};
  int64_t order[SAMBA_MAX_RANK] = {0, 2, 1};
  for (uint32_t axis = 1; axis < type.rank; ++axis)
    dims[1 + axis] = type.dims[axis];
  for (uint32_t axis = 3; axis <= type.rank; ++axis)
    order[axis] = axis;

  weight = sambaExpandReshape(expansion, weight, type.rank + 1, dims);
  weight = sambaExpandPermute(expansion, weight, order);
  type.dims[1] = dims[1];
  type.dims[0] = dims[2] * groups;
  return sambaExpandReshape(expansion, weight, type.rank, type.dims);
}

/* Elements of dimension dim in descending order. */
static uint32_t turned(SambaExpansion *expansion, uint32_t x, uint32_t dim) {
  int64_t size = sambaExpansionType(expansion, x)->dims[dim];
  return sambaExpandSlice(expansion, x, dim, size - 1, size, -1);
}

/* The convolution of the spread x, padded by what the window reaches past it, or of a part of x
 * where less than that is left. x and the result are turned, not the window: taps then come in the
 * same order. */
static SambaStatus decompose(const SambaOperatorCall *call, SambaExpansion *expansion,
                             const uint32_t *operands, uint32_t *out_results) {
  int64_t padding[6], ones[] = {1, 1, 1};
  int64_t groups = sambaOperatorCallInt(call, "groups");
  const SambaAttribute *dtype = sambaOperatorCallFind(call, "out_dtype");
  SambaWindow window;
  SAMBA_RETURN_IF_ERROR(windowOf(call, &window));
  uint32_t spatial = window.spatial;
  uint32_t values[] = {spread(expansion, operands[0], &window),
                       exchanged(expansion, operands[1], groups),
                       call->operand_count == 3 ? operands[2] : 0};

  for (uint32_t i = 0; i < spatial; ++i) {
    int64_t size = call->operands[0].dims[2 + i] * window.stride[i];
    int64_t span = window.dilation[i] * (window.kernel[i] - 1);
    int64_t low = span - window.begin[i];
    int64_t high = window.out[i] + span - size - low;
    int64_t start = low < 0 ? -low : 0;
    values[0] = sambaExpandSlice(expansion, values[0], 2 + i, start,
                                 size - start + (high < 0 ? high : 0), 1);
    values[0] = turned(expansion, values[0], 2 + i);
    padding[i] = high < 0 ? 0 : high;
    padding[spatial + i] = low < 0 ? 0 : low;
  }

  SambaAttribute attributes[] = {
      sambaIntsAttribute("stride", ones, spatial),
      sambaIntsAttribute("padding", padding, 2 * (size_t)spatial),
      sambaIntsAttribute("dilation", window.dilation, spatial), sambaIntAttribute("groups", groups),
      sambaDTypeAttribute("out_dtype", dtype ? dtype->value.dtype : SAMBA_DTYPE_F32)};
  char name[16];
  snprintf(name, sizeof name, "conv%ud", spatial);
  uint32_t result =
      sambaExpandCall(expansion, name, call->operand_count, values, dtype ? 5 : 4, attributes);
  for (uint32_t i = 0; i < spatial; ++i)
    result = turned(expansion, result, 2 + i);
  out_results[0] = result;
  return NULL;
}

#define TRANSPOSED_CONVOLUTION                                                                     \
  .computes = "x is N x C x spatial, w is C x O/groups x window: x[n, c, q] * w[c, o, t] is "      \
              "added to result[n, o, q * stride + t * dilation - begin]. `padding` has two "       \
              "numbers per spatial dimension, all begins, then all ends; the result has (size - "  \
              "1) * stride - begin - end + dilation * (window - 1) + 1 + output_padding "          \
              "elements. Sums run over channels, then the taps that meet an element, ascending, "  \
              "the last dimension innermost, in f32; the bias is a rounded addition of its own.",  \
  .operands = {"input", "weight", "bias?"},                                                        \
  .attributes = {INTS("stride", 1),                                                                \
                 INTS("padding", 0, "begins, then ends"),                                          \
                 INTS("output_padding", 0),                                                        \
                 INTS("dilation", 1),                                                              \
                 INT("groups", 1, "groups of channels"),                                           \
                 OPTIONAL(DTYPE, "out_dtype", "absent: the operands' dtype")},                     \
  .constraints = {"x has a number dtype",                                                          \
                  "w has it too",                                                                  \
                  "both have rank 2 + spatial dimensions",                                         \
                  "groups divides C, and w's dimension 0 is C",                                    \
                  "stride and dilation are 1 or more, one per spatial dimension, padding and "     \
                  "output_padding 0 or more",                                                      \
                  "at least one element is left",                                                  \
                  "b is [O], in the operands' or the result's dtype",                              \
                  "out_dtype as for samba.linear"},                                                \
  .contraction = true, .dtypes = SAMBA_SET_NUMBER, .infer = infer, .stages = stages,               \
  .decompose = decompose, .differentiate = sambaGradientTransposedConvolution

const SambaOperator sambaTransposedConvolutionOperators[] = {
    {.name = "conv_transpose1d",
     .summary = "transposed convolution over one dimension",
     .example =
         "%y = samba.conv_transpose1d %x, %w {stride = [2]} : tensor<1x2x9xf32>, tensor<2x3x3xf32>",
     .source = "torch.nn.functional.conv_transpose1d",
     .spatial = 1,
     TRANSPOSED_CONVOLUTION},
    {.name = "conv_transpose2d",
     .summary = "transposed convolution over two dimensions",
     .example =
         "%y = samba.conv_transpose2d %x, %w, %b {stride = [2, 2], padding = [1, 1, 1, 1], "
         "output_padding = [1, 1]} : tensor<1x2x9x9xf32>, tensor<2x3x3x3xf32>, tensor<3xf32>",
     .source = "torch.nn.functional.conv_transpose2d",
     .spatial = 2,
     TRANSPOSED_CONVOLUTION},
    {.name = "conv_transpose3d",
     .summary = "transposed convolution over three dimensions",
     .example = "%y = samba.conv_transpose3d %x, %w : tensor<1x2x4x4x4xf32>, tensor<2x3x2x2x2xf32>",
     .source = "torch.nn.functional.conv_transpose3d",
     .spatial = 3,
     TRANSPOSED_CONVOLUTION},
    {0}};
