/* Pools over one, two or three spatial dimensions. ceil_mode also keeps windows that start inside
 * the input or its begin padding but run out of the padded input.
 *
 * Numerics: the largest element is exact, a NaN wins; its index is the first of equal elements, the
 * last of NaNs. The average is the f32 sum over the window (innermost dimension last) divided by
 * the number of elements: those of the window within the padded input, or with count_include_pad =
 * false within the input. lp_pool sums |x|^p in f32. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/window/channels_last.h"
#include "dialect/samba/table/window/pool_gradients.h"
#include "dialect/samba/table/window/pool_type.h"

#include <math.h>

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t spatial = call->operator->spatial;

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", x->dtype, call->operator->dtypes));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the operand", x, spatial + 2, spatial + 2));
  SambaWindow window;
  SAMBA_RETURN_IF_ERROR(sambaPoolWindow(call, &window));
  out[0] = *x;
  for (uint32_t i = 0; i < spatial; ++i)
    *sambaImageDim(call->operator, &out[0], 2 + i) = window.out[i];
  if (sambaOperatorResults(call->operator) == 2) {
    out[1] = out[0];
    out[1].dtype = SAMBA_DTYPE_I64;
  }

  return NULL;
}

static SambaStatus inferLp(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(infer(call, out));
  double norm = sambaOperatorCallFloat(call, "norm_type");
  if (!(norm > 0) || isinf(norm))
    return sambaStatusMake(
        SAMBA_INVALID, "(C6) attribute 'norm_type' is %g, but must be positive and finite", norm);
  return NULL;
}

static double lowest(SambaDType dtype) {
  if (sambaDTypeIsFloat(dtype))
    return -INFINITY;
  return dtype == SAMBA_DTYPE_UI8 ? 0 : -ldexp(1, 8 * (int)sambaDTypeBytes(dtype) - 1);
}

/* Dimensions of the result, then of the window. */
static void beginWindow(SambaStageBuilder *builder, SambaStageGraph *graph,
                        const SambaOperatorCall *call, const char *layer, const SambaWindow *window,
                        uint32_t output) {
  sambaStageBeginElementwise(builder, graph, call->operator->name, layer, output);
  for (uint32_t i = 0; i < window->spatial; ++i)
    sambaStageDim(builder, window->kernel[i], true);
}

/* The input as a window's taps read it; *out_leaves: some lie in the padding and read `fill`. */
static uint16_t windowOperand(SambaStageBuilder *builder, const SambaOperatorCall *call,
                              const SambaWindow *window, uint32_t input, double fill,
                              bool *out_leaves) {
  uint16_t x = sambaStageOperand(builder, input);
  uint32_t channel = sambaImageAxis(call->operator, 1);
  sambaStageAxis(builder, x, 0)->coefficients[0] = 1;
  sambaStageAxis(builder, x, channel)->coefficients[channel] = 1;
  bool leaves = false;

  for (uint32_t i = 0; i < window->spatial; ++i) {
    uint32_t at = sambaImageAxis(call->operator, 2 + i);
    SambaAxisMap *axis = sambaStageAxis(builder, x, at);
    axis->constant = -window->begin[i];
    axis->coefficients[at] = window->stride[i];
    axis->coefficients[2 + window->spatial + i] = window->dilation[i];
    int64_t last = (window->out[i] - 1) * window->stride[i] +
                   (window->kernel[i] - 1) * window->dilation[i] - window->begin[i];
    leaves |= window->begin[i] > 0 || last >= sambaPoolInputSize(call, i);
  }

  if (leaves)
    sambaStageGuard(builder, x, fill);
  if (out_leaves)
    *out_leaves = leaves;
  return x;
}

static SambaStatus stagesMax(const SambaOperatorCall *call, SambaStageGraph *graph,
                             const uint32_t *operands, const uint32_t *results, const char *layer) {
  SambaWindow window;
  SAMBA_RETURN_IF_ERROR(sambaPoolWindow(call, &window));
  SambaDType dtype = call->operands[0].dtype;
  uint32_t largest = sambaStageIntermediateLike(graph, results[0], sambaAccumulatorDType(dtype));
  SambaStageBuilder builder;
  beginWindow(&builder, graph, call, layer, &window, largest);
  uint16_t x = windowOperand(&builder, call, &window, operands[0], lowest(dtype), NULL);
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_MAX, x));
  sambaStageConvert(graph, call->operator->name, layer, largest, results[0]);
  return NULL;
}

/* value + factor * counter of a dimension; no operation for what is 0 throughout */
static uint16_t addCounter(SambaStageBuilder *builder, uint16_t value, uint32_t dim,
                           int64_t factor) {
  if (builder->stage.extents[dim] == 1)
    return value;
  uint16_t term = sambaLaneCounter(builder, dim, (SambaDType)builder->types[value]);
  if (factor != 1)
    term =
        sambaLane2(builder, SAMBA_LANE_MUL, term, sambaLaneNumber(builder, term, (double)factor));
  return sambaLane2(builder, SAMBA_LANE_ADD, value, term);
}

/* The position of the largest element: the least key over the window, where a tap that equals it
 * has its position i, a NaN -1 - i, all others the largest integer. Taps in the padding read -inf
 * and, through a second operand, +inf, so that they never equal. */
static SambaStatus stagesMaxIndices(const SambaOperatorCall *call, SambaStageGraph *graph,
                                    const uint32_t *operands, const uint32_t *results,
                                    const char *layer) {
  SambaWindow window;
  const SambaTensorType *type = &call->operands[0];

  SAMBA_RETURN_IF_ERROR(stagesMax(call, graph, operands, results, layer));
  SAMBA_RETURN_IF_ERROR(sambaPoolWindow(call, &window));
  int64_t strides[3], plane = 1, constant = 0;
  for (uint32_t i = window.spatial; i-- > 0; plane *= type->dims[2 + i])
    strides[i] = plane, constant -= plane * window.begin[i];
  SambaDType positions = plane < INT32_MAX / 2 ? SAMBA_DTYPE_I32 : SAMBA_DTYPE_I64;
  int64_t dims[SAMBA_MAX_RANK];
  memcpy(dims, graph->tensors[results[0]].dims, sizeof dims);
  uint32_t keys = sambaStageIntermediate(graph, positions, type->rank, dims);
  uint32_t pool[5] = {0, 1, 2, 3, 4};
  SambaStageBuilder builder;
  beginWindow(&builder, graph, call, layer, &window, keys);
  bool leaves, floating = sambaDTypeIsFloat(type->dtype);
  double low = lowest(type->dtype);
  double high = floating ? INFINITY : -low - 1;
  if (type->dtype == SAMBA_DTYPE_UI8)
    high = 255;
  uint16_t x = windowOperand(&builder, call, &window, operands[0], low, &leaves);
  uint16_t again = leaves ? windowOperand(&builder, call, &window, operands[0], high, NULL) : 0;
  uint16_t largest = sambaStageMappedOperand(&builder, results[0], pool);
  uint16_t position = sambaLaneInteger(&builder, positions, constant);

  for (uint32_t i = 0; i < window.spatial; ++i) {
    position = addCounter(&builder, position, 2 + i, strides[i] * window.stride[i]);
    position =
        addCounter(&builder, position, 2 + window.spatial + i, strides[i] * window.dilation[i]);
  }

  uint16_t equal = sambaLane2(&builder, SAMBA_LANE_EQ, x, largest);
  if (leaves)
    equal = sambaLane2(&builder, SAMBA_LANE_AND, equal,
                       sambaLane2(&builder, SAMBA_LANE_EQ, again, largest));
  uint16_t key =
      sambaLaneNumber(&builder, position, positions == SAMBA_DTYPE_I32 ? INT32_MAX : 0x1p62);
  if (floating) {
    uint16_t reversed =
        sambaLane2(&builder, SAMBA_LANE_SUB, sambaLaneNumber(&builder, position, -1), position);
    key = sambaLaneSelect(&builder, sambaLane2(&builder, SAMBA_LANE_NE, x, x), reversed, key);
  }

  key = sambaLaneSelect(&builder, equal, position, key);
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_MIN, key));

  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[1]);
  key = sambaStageBroadcastOperand(&builder, keys);
  if (floating) {
    uint16_t negative = sambaLane2(&builder, SAMBA_LANE_LT, key, sambaLaneNumber(&builder, key, 0));
    key = sambaLaneSelect(
        &builder, negative,
        sambaLane2(&builder, SAMBA_LANE_SUB, sambaLaneNumber(&builder, key, -1), key), key);
  }

  sambaStageEnd(&builder, sambaLaneCast(&builder, key, SAMBA_DTYPE_I64));
  return NULL;
}

/* |x|^p, or with inverse the p-th root of x >= 0 */
static uint16_t power(SambaStageBuilder *builder, uint16_t x, double p, bool inverse) {
  if (p == 2)
    return inverse ? sambaLane1(builder, SAMBA_LANE_SQRT, x)
                   : sambaLane2(builder, SAMBA_LANE_MUL, x, x);
  if (!inverse)
    x = sambaLane1(builder, SAMBA_LANE_ABS, x);
  return p == 1
             ? x
             : sambaLane2(builder, SAMBA_LANE_POW, x, sambaLaneFloat(builder, inverse ? 1 / p : p));
}

static SambaStatus stagesLp(const SambaOperatorCall *call, SambaStageGraph *graph,
                            const uint32_t *operands, const uint32_t *results, const char *layer) {
  SambaWindow window;
  SAMBA_RETURN_IF_ERROR(sambaPoolWindow(call, &window));
  double p = sambaOperatorCallFloat(call, "norm_type");
  SambaStageTensor result = graph->tensors[results[0]];
  uint32_t sum = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, result.rank, result.dims);
  SambaStageBuilder builder;
  beginWindow(&builder, graph, call, layer, &window, sum);
  uint16_t x =
      power(&builder, windowOperand(&builder, call, &window, operands[0], 0, NULL), p, false);
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD, x));
  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  sambaStageEndRounded(&builder,
                       power(&builder, sambaStageBroadcastOperand(&builder, sum), p, true));
  return NULL;
}

/* A tensor of one dimension: how many taps of each window lie in [low, high) along one spatial
 * dimension. Tap t of window o lies at o * stride - begin + t * dilation. */
static uint32_t countAlong(SambaStageGraph *graph, const char *name, const char *layer,
                           const SambaWindow *window, uint32_t i, int64_t low, int64_t high) {
  uint32_t counts = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, 1, &window->out[i]);
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, graph, name, layer, counts);
  uint16_t start = sambaLaneCounter(&builder, 0, SAMBA_DTYPE_I32);
  uint16_t ends[2];
  if (window->stride[i] != 1)
    start = sambaLane2(&builder, SAMBA_LANE_MUL, start,
                       sambaLaneNumber(&builder, start, (double)window->stride[i]));
  for (int k = 0; k < 2; ++k) { /* the first tap at or after low, at or after high */
    int64_t bound = (k ? high : low) + window->begin[i] + window->dilation[i] - 1;
    uint16_t tap = sambaLane2(&builder, SAMBA_LANE_SUB,
                              sambaLaneNumber(&builder, start, (double)bound), start);
    if (window->dilation[i] != 1)
      tap = sambaLane2(&builder, SAMBA_LANE_DIV, tap,
                       sambaLaneNumber(&builder, tap, (double)window->dilation[i]));
    tap = sambaLane2(&builder, SAMBA_LANE_MAX, tap, sambaLaneNumber(&builder, tap, 0));
    ends[k] = sambaLane2(&builder, SAMBA_LANE_MIN, tap,
                         sambaLaneNumber(&builder, tap, (double)window->kernel[i]));
  }

  sambaStageEnd(&builder,
                sambaLaneCast(&builder, sambaLane2(&builder, SAMBA_LANE_SUB, ends[1], ends[0]),
                              SAMBA_DTYPE_F32));
  return counts;
}

static SambaStatus stagesAverage(const SambaOperatorCall *call, SambaStageGraph *graph,
                                 const uint32_t *operands, const uint32_t *results,
                                 const char *layer) {
  SambaWindow window;
  SAMBA_RETURN_IF_ERROR(sambaPoolWindow(call, &window));
  bool includePad = sambaOperatorCallInt(call, "count_include_pad") != 0;
  const char *name = call->operator->name;
  SambaStageTensor result = graph->tensors[results[0]];
  int64_t fixed = 1; /* the part of the count that does not depend on the position */
  uint32_t counts[3], dims[3], varying = 0;

  for (uint32_t i = 0; i < window.spatial; ++i) {
    int64_t size = sambaPoolInputSize(call, i);
    int64_t low = includePad ? -window.begin[i] : 0;
    int64_t high = size + (includePad ? window.end[i] : 0);
    int64_t last = (window.out[i] - 1) * window.stride[i] - window.begin[i] +
                   (window.kernel[i] - 1) * window.dilation[i];
    if (-window.begin[i] >= low && last < high) {
      fixed *= window.kernel[i];
      continue;
    }
    dims[varying] = sambaImageAxis(call->operator, 2 + i);
    counts[varying++] = countAlong(graph, name, layer, &window, i, low, high);
  }

  uint32_t sum = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, result.rank, result.dims);
  SambaStageBuilder builder;
  beginWindow(&builder, graph, call, layer, &window, sum);
  uint16_t x = windowOperand(&builder, call, &window, operands[0], 0, NULL);
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD, x));

  sambaStageBeginElementwise(&builder, graph, name, layer, results[0]);
  uint16_t value = sambaStageBroadcastOperand(&builder, sum);
  uint16_t along[3];
  for (uint32_t i = 0; i < varying; ++i)
    along[i] = sambaStageMappedOperand(&builder, counts[i], &dims[i]);
  uint16_t divisor = sambaLaneFloat(&builder, (double)fixed);
  for (uint32_t i = 0; i < varying; ++i)
    divisor =
        i == 0 && fixed == 1 ? along[i] : sambaLane2(&builder, SAMBA_LANE_MUL, divisor, along[i]);
  sambaStageEndRounded(&builder, sambaLane2(&builder, SAMBA_LANE_DIV, value, divisor));

  return NULL;
}

#define WINDOW_ATTRIBUTES                                                                          \
  REQUIRED(INTS, "kernel_size", "the window"), OPTIONAL(INTS, "stride", "absent: the window"),     \
      INTS("padding", 0, "begins, then ends"), INTS("dilation", 1),                                \
      BOOL("ceil_mode", false, "windows may stick out at the end")
#define WINDOW_CONSTRAINTS(dtypes)                                                                 \
  "x has a " dtypes " dtype", "x has rank 2 + spatial dimensions",                                 \
      "kernel_size, stride and dilation are 1 or more, one per spatial dimension, padding two "    \
      "numbers of 0 or more each: all begins, then all ends",                                      \
      "the window fits into the padded input", "padding is less than the window's span"

#define CHANNELS_FIRST "x is N x C x spatial. "
#define CHANNELS_LAST "x is N x spatial x C, and so is the result. "
#define MAX_POOL(word, dimensions, image, window, ...)                                             \
  {.name = word,                                                                                   \
   .summary = "largest element of each window",                                                    \
   .computes = image "A NaN wins; padding never does.",                                            \
   .operands = {"input"},                                                                          \
   .attributes = {WINDOW_ATTRIBUTES},                                                              \
   .constraints = {WINDOW_CONSTRAINTS("number")},                                                  \
   .example = "%y = samba." word " %x {" window,                                                   \
   .source = "torch.nn.functional.max_pool" #dimensions "d",                                       \
   .dtypes = SAMBA_SET_NUMBER,                                                                     \
   .spatial = dimensions,                                                                          \
   .infer = infer,                                                                                 \
   .stages = stagesMax,                                                                            \
   __VA_ARGS__}
#define MAX_POOL_WITH_INDICES(word, dimensions, window)                                            \
  {.name = word,                                                                                   \
   .summary = "largest element of each window, and where it is",                                   \
   .computes = "As the pool without indices; the second result has the element's row-major "       \
               "position within the spatial dimensions as i64: of equals the first, of NaNs the "  \
               "last.",                                                                            \
   .operands = {"input"},                                                                          \
   .results = {"result", "indices"},                                                               \
   .attributes = {WINDOW_ATTRIBUTES},                                                              \
   .constraints = {WINDOW_CONSTRAINTS("number")},                                                  \
   .example = "%y, %i = samba." word " %x {" window,                                               \
   .source = "torch.nn.functional." word,                                                          \
   .dtypes = SAMBA_SET_NUMBER,                                                                     \
   .spatial = dimensions,                                                                          \
   .infer = infer,                                                                                 \
   .differentiate = sambaGradientMaxPool,                                                          \
   .stages = stagesMaxIndices}
#define AVERAGE_POOL(word, dimensions, image, window, ...)                                         \
  {.name = word,                                                                                   \
   .summary = "mean of each window",                                                               \
   .computes = image "Padding counts as zeros, or with count_include_pad = false not at all.",     \
   .operands = {"input"},                                                                          \
   .attributes = {WINDOW_ATTRIBUTES, BOOL("count_include_pad", true, "padding counts as zeros")},  \
   .constraints = {WINDOW_CONSTRAINTS("float")},                                                   \
   .example = "%y = samba." word " %x {" window,                                                   \
   .source = "torch.nn.functional.avg_pool" #dimensions "d",                                       \
   .dtypes = SAMBA_SET_FLOAT,                                                                      \
   .spatial = dimensions,                                                                          \
   .infer = infer,                                                                                 \
   .stages = stagesAverage,                                                                        \
   __VA_ARGS__}
#define LP_POOL(word, dimensions, window)                                                          \
  {.name = word,                                                                                   \
   .summary = "the p-norm of each window",                                                         \
   .computes = "(sum of |x|^p over the window)^(1/p), p = norm_type; padding adds nothing.",       \
   .operands = {"input"},                                                                          \
   .attributes = {REQUIRED(FLOAT, "norm_type", "the p of the norm"), WINDOW_ATTRIBUTES},           \
   .constraints = {WINDOW_CONSTRAINTS("float"), "norm_type is positive and finite"},               \
   .example = "%y = samba." word " %x {norm_type = 2.0, " window,                                  \
   .source = "torch.nn.functional." word " (of |x|)",                                              \
   .dtypes = SAMBA_SET_FLOAT,                                                                      \
   .spatial = dimensions,                                                                          \
   .infer = inferLp,                                                                               \
   .differentiate = sambaGradientLpPool,                                                           \
   .stages = stagesLp}

#define WINDOW_1D "kernel_size = [3]} : tensor<1x2x9xf32>"
#define WINDOW_2D "kernel_size = [2, 2]} : tensor<1x2x8x8xf32>"
#define LAST_2D "kernel_size = [2, 2]} : tensor<1x8x8x2xf32>"
#define WINDOW_3D "kernel_size = [2, 2, 2]} : tensor<1x2x4x4x4xf32>"

const SambaOperator sambaPoolOperators[] = {
    MAX_POOL("max_pool1d", 1, CHANNELS_FIRST, WINDOW_1D, .differentiate = sambaGradientMaxPool),
    MAX_POOL("max_pool2d", 2, CHANNELS_FIRST, "stride = [2, 2], " WINDOW_2D,
             .differentiate = sambaGradientMaxPool),
    MAX_POOL("max_pool3d", 3, CHANNELS_FIRST, WINDOW_3D, .differentiate = sambaGradientMaxPool),
    MAX_POOL("max_pool2d_channels_last", 2, CHANNELS_LAST, LAST_2D, .channels_last = true,
             .decompose = sambaDecomposeChannelsLast),
    MAX_POOL_WITH_INDICES("max_pool1d_with_indices", 1, WINDOW_1D),
    MAX_POOL_WITH_INDICES("max_pool2d_with_indices", 2, WINDOW_2D),
    MAX_POOL_WITH_INDICES("max_pool3d_with_indices", 3, WINDOW_3D),
    AVERAGE_POOL("avg_pool1d", 1, CHANNELS_FIRST, WINDOW_1D,
                 .differentiate = sambaGradientAveragePool),
    AVERAGE_POOL("avg_pool2d", 2, CHANNELS_FIRST,
                 "padding = [1, 1, 0, 0], count_include_pad = false, " WINDOW_2D,
                 .differentiate = sambaGradientAveragePool),
    AVERAGE_POOL("avg_pool3d", 3, CHANNELS_FIRST, WINDOW_3D,
                 .differentiate = sambaGradientAveragePool),
    AVERAGE_POOL("avg_pool2d_channels_last", 2, CHANNELS_LAST, LAST_2D, .channels_last = true,
                 .decompose = sambaDecomposeChannelsLast),
    LP_POOL("lp_pool1d", 1, WINDOW_1D),
    LP_POOL("lp_pool2d", 2, WINDOW_2D),
    LP_POOL("lp_pool3d", 3, WINDOW_3D),
    {0}};
