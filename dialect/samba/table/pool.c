/* Pools over one, two or three spatial dimensions.
 *
 * x[N, C, spatial..]. (C1) x has a number dtype (avg_pool: a float dtype); (C2) x has rank 2 + spatial dimensions; (C3)
 * kernel_size, stride and dilation are one number of 1 or more per spatial dimension (stride: the kernel size by
 * default), padding two numbers of 0 or more: all begins, then all ends; (C4) the window fits into the padded input;
 * (C5) padding is less than the window's span, so that every window holds an element. ceil_mode also keeps windows that
 * start inside the input or its begin padding but run out of the padded input.
 *
 * Numerics: the largest element is exact; the average is the f32 sum over the window (innermost dimension last) divided
 * by the number of elements: those of the window within the padded input, or with count_include_pad = false within the
 * input. */
#include "dialect/samba/table/stage_builder.h"

#include <math.h>

SambaStatus sambaWindowOfPool(const SambaOperatorCall *call, SambaWindow *out) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t spatial = sambaRowOfCall(call)->spatial;
  int64_t padding[6];
  bool ceiling = sambaOperatorCallInt(call, "ceil_mode", 0) != 0;
  out->spatial = spatial;
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "kernel_size", spatial, 1, 1, out->kernel));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "stride", spatial, 1, 1, out->stride));
  if (!sambaOperatorCallFind(call, "stride"))
    memcpy(out->stride, out->kernel, sizeof out->stride);
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "dilation", spatial, 1, 1, out->dilation));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "padding", 2 * spatial, 0, 0, padding));
  for (uint32_t i = 0; i < spatial; ++i) {
    out->begin[i] = padding[i];
    out->end[i] = padding[spatial + i];
    int64_t room = x->dims[2 + i] + out->begin[i] + out->end[i], span;
    if (sambaMulOverflows(out->dilation[i], out->kernel[i] - 1, &span) || span >= room)
      return sambaStatusMake(
          SAMBA_INVALID,
          "(C4) the window does not fit: %lld taps %lld apart against %lld padded elements along spatial dimension %u",
          (long long)out->kernel[i], (long long)out->dilation[i], (long long)room, i);
    if (out->begin[i] > span || out->end[i] > span)
      return sambaStatusMake(
          SAMBA_INVALID,
          "(C5) padding %lld and %lld along spatial dimension %u must be less than the window's span %lld",
          (long long)out->begin[i], (long long)out->end[i], i, (long long)span + 1);
    int64_t steps = room - span - 1;
    out->out[i] = steps / out->stride[i] + 1;
    if (ceiling && steps % out->stride[i] && out->out[i] * out->stride[i] < x->dims[2 + i] + out->begin[i])
      ++out->out[i];
  }
  return NULL;
}

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t spatial = sambaRowOfCall(call)->spatial;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", x->dtype, sambaRowOfCall(call)->dtypes));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the operand", x, spatial + 2, spatial + 2));
  SambaWindow window;
  SAMBA_RETURN_IF_ERROR(sambaWindowOfPool(call, &window));
  *out = *x;
  for (uint32_t i = 0; i < spatial; ++i)
    out->dims[2 + i] = window.out[i];
  return NULL;
}

static double lowest(SambaDType dtype) {
  if (sambaDTypeIsFloat(dtype))
    return -INFINITY;
  return dtype == SAMBA_DTYPE_UI8 ? 0 : -ldexp(1, 8 * (int)sambaDTypeBytes(dtype) - 1);
}

/* Dimensions n, c, spatial.. | window..; returns the operand's value. */
static uint16_t beginWindow(SambaStageBuilder *b, SambaStageGraph *graph, const SambaOperatorCall *call,
                            const char *layer, const SambaWindow *window, uint32_t input, uint32_t output,
                            double fill) {
  sambaStageBeginElementwise(b, graph, call->operator_->name, layer, output);
  uint32_t taps[3];
  for (uint32_t i = 0; i < window->spatial; ++i)
    taps[i] = sambaStageDim(b, window->kernel[i], true);
  uint16_t x = sambaStageOperand(b, input);
  sambaStageAxis(b, x, 0)->coefficients[0] = 1;
  sambaStageAxis(b, x, 1)->coefficients[1] = 1;
  bool leaves = false;
  for (uint32_t i = 0; i < window->spatial; ++i) {
    SambaAxisMap *axis = sambaStageAxis(b, x, 2 + i);
    axis->constant = -window->begin[i];
    axis->coefficients[2 + i] = window->stride[i];
    axis->coefficients[taps[i]] = window->dilation[i];
    int64_t last =
        (window->out[i] - 1) * window->stride[i] + (window->kernel[i] - 1) * window->dilation[i] - window->begin[i];
    leaves |= window->begin[i] > 0 || last >= call->operands[0].dims[2 + i];
  }
  if (leaves)
    sambaStageGuard(b, x, fill);
  return x;
}

static SambaStatus stagesMax(const SambaOperatorCall *call, SambaStageGraph *graph, const uint32_t *operands,
                             const uint32_t *results, const char *layer) {
  SambaWindow window;
  SAMBA_RETURN_IF_ERROR(sambaWindowOfPool(call, &window));
  SambaDType dtype = call->operands[0].dtype;
  uint32_t largest =
      sambaDTypeIsFloat(dtype) ? sambaStageIntermediateLike(graph, results[0], SAMBA_DTYPE_F32) : results[0];
  SambaStageBuilder b;
  uint16_t x = beginWindow(&b, graph, call, layer, &window, operands[0], largest, lowest(dtype));
  sambaStageEnd(&b, sambaLane1(&b, SAMBA_LANE_REDUCE_MAX, x));
  sambaStageConvert(graph, call->operator_->name, layer, largest, results[0]);
  return NULL;
}

/* Elements of the window along one spatial dimension that lie in [-before, size + after), as an f32 value of the output
 * position. */
static uint16_t countAlong(SambaStageBuilder *b, uint32_t dim, int64_t stride, int64_t begin, int64_t kernel,
                           int64_t low, int64_t high) {
  uint16_t position = sambaLaneCounter(b, dim, SAMBA_DTYPE_I32);
  uint16_t start = sambaLane2(b, SAMBA_LANE_SUB,
                              sambaLane2(b, SAMBA_LANE_MUL, position, sambaLaneNumber(b, position, (double)stride)),
                              sambaLaneNumber(b, position, (double)begin));
  uint16_t end =
      sambaLane2(b, SAMBA_LANE_MIN, sambaLane2(b, SAMBA_LANE_ADD, start, sambaLaneNumber(b, position, (double)kernel)),
                 sambaLaneNumber(b, position, (double)high));
  start = sambaLane2(b, SAMBA_LANE_MAX, start, sambaLaneNumber(b, position, (double)low));
  return sambaLane2(b, SAMBA_LANE_SUB, end, start);
}

static SambaStatus stagesAverage(const SambaOperatorCall *call, SambaStageGraph *graph, const uint32_t *operands,
                                 const uint32_t *results, const char *layer) {
  SambaWindow window;
  SAMBA_RETURN_IF_ERROR(sambaWindowOfPool(call, &window));
  bool includePad = sambaOperatorCallInt(call, "count_include_pad", 1) != 0;
  SambaStageTensor result = graph->tensors[results[0]];
  uint32_t sum = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, result.rank, result.dims);
  SambaStageBuilder b;
  uint16_t x = beginWindow(&b, graph, call, layer, &window, operands[0], sum, 0);
  sambaStageEnd(&b, sambaLane1(&b, SAMBA_LANE_REDUCE_ADD, x));

  sambaStageBeginElementwise(&b, graph, call->operator_->name, layer, results[0]);
  uint16_t value = sambaStageBroadcastOperand(&b, sum);
  int64_t fixed = 1; /* the part of the count that does not depend on the position */
  bool varies = false;
  uint16_t count = 0;
  for (uint32_t i = 0; i < window.spatial; ++i) {
    int64_t size = call->operands[0].dims[2 + i], low = includePad ? -window.begin[i] : 0,
            high = size + (includePad ? window.end[i] : 0);
    int64_t last = (window.out[i] - 1) * window.stride[i] - window.begin[i] + window.kernel[i];
    if (-window.begin[i] >= low && last <= high) {
      fixed *= window.kernel[i];
      continue;
    }
    uint16_t along = countAlong(&b, 2 + i, window.stride[i], window.begin[i], window.kernel[i], low, high);
    count = varies ? sambaLane2(&b, SAMBA_LANE_MUL, count, along) : along;
    varies = true;
  }
  uint16_t divisor;
  if (varies) {
    if (fixed != 1)
      count = sambaLane2(&b, SAMBA_LANE_MUL, count, sambaLaneNumber(&b, count, (double)fixed));
    divisor = sambaLaneCast(&b, count, SAMBA_DTYPE_F32);
  } else {
    divisor = sambaLaneFloat(&b, (double)fixed);
  }
  sambaStageEndRounded(&b, sambaLane2(&b, SAMBA_LANE_DIV, value, divisor));
  return NULL;
}

static const SambaAttributeRow maxAttributes[] = {
    {"kernel_size", SAMBA_ATTRIBUTE_INTS, true, "the window"},
    {"stride", SAMBA_ATTRIBUTE_INTS, false, "default: the window"},
    {"padding", SAMBA_ATTRIBUTE_INTS, false, "begins, then ends; default 0"},
    {"dilation", SAMBA_ATTRIBUTE_INTS, false, "default 1"},
    {"ceil_mode", SAMBA_ATTRIBUTE_BOOL, false, "default false"},
    {0}};
static const SambaAttributeRow averageAttributes[] = {
    {"kernel_size", SAMBA_ATTRIBUTE_INTS, true, "the window"},
    {"stride", SAMBA_ATTRIBUTE_INTS, false, "default: the window"},
    {"padding", SAMBA_ATTRIBUTE_INTS, false, "begins, then ends; default 0"},
    {"ceil_mode", SAMBA_ATTRIBUTE_BOOL, false, "default false"},
    {"count_include_pad", SAMBA_ATTRIBUTE_BOOL, false, "default true"},
    {0}};
#define POOL(word, dimensions, set, rows, function)                                                                    \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator_ = {.name = #word,                                       \
                                                                  .minimum_operands = 1,                               \
                                                                  .maximum_operands = 1,                               \
                                                                  .attributes = rows,                                  \
                                                                  .result_count = 1,                                   \
                                                                  .infer = infer,                                      \
                                                                  .stages = function},                                 \
                                                    .dtypes = set,                                                     \
                                                    .spatial = dimensions};
POOL(max_pool1d, 1, SAMBA_SET_NUMBER, maxAttributes, stagesMax)
POOL(max_pool2d, 2, SAMBA_SET_NUMBER, maxAttributes, stagesMax)
POOL(max_pool3d, 3, SAMBA_SET_NUMBER, maxAttributes, stagesMax)
POOL(avg_pool1d, 1, SAMBA_SET_FLOAT, averageAttributes, stagesAverage)
POOL(avg_pool2d, 2, SAMBA_SET_FLOAT, averageAttributes, stagesAverage)
POOL(avg_pool3d, 3, SAMBA_SET_FLOAT, averageAttributes, stagesAverage)
