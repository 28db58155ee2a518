/* Gradients of normalizations; see norm_gradients.h. All in f32. In comments g is what flows into
 * the normalized x, after the weight; n is x normalized before weight and bias, d its standard
 * deviation. */
#include "dialect/samba/table/norm/norm_gradients.h"

#include "dialect/samba/table/core/gradient_calls.h"
#include "dialect/samba/table/core/rows.h"

static const SambaTensorType *inputOf(const SambaGradientCall *gradient) {
  return &gradient->call->operands[0];
}

static bool hasOperand(const SambaGradientCall *gradient, uint32_t operand) {
  return operand < gradient->call->operand_count;
}

/* (g - mean of g - n * mean of (g * n)) / d, over the flagged dimensions. Nothing flows into the
 * mean of x with `centered` false. */
static uint32_t throughStatistics(SambaExpansion *e, uint32_t g, uint32_t normal, uint32_t inverse,
                                  const bool *reduced, bool centered) {
  uint32_t along = sambaExpandReduce(e, "mean", gradientMul(e, g, normal), reduced);
  uint32_t rest = gradientSub(e, g, gradientMul(e, normal, along));
  if (centered)
    rest = gradientSub(e, rest, sambaExpandReduce(e, "mean", g, reduced));
  return gradientMul(e, rest, inverse);
}

/* The flags of the last dimensions that the call normalizes. */
static void lastDimensions(const SambaGradientCall *gradient, bool *out_reduced) {
  uint32_t rank = inputOf(gradient)->rank;
  size_t count = sambaOperatorCallFind(gradient->call, "normalized_shape")->value.integers.size;
  for (uint32_t axis = 0; axis < rank; ++axis)
    out_reduced[axis] = axis + count >= rank;
}

/* layer_norm without parameters and with its statistics: three values from the first on. */
static uint32_t normalizeAgain(SambaExpansion *e, uint32_t x, size_t count, const int64_t *shape,
                               double epsilon) {
  SambaAttribute attributes[] = {sambaIntsAttribute("normalized_shape", shape, count),
                                 sambaFloatAttribute("eps", epsilon)};
  return sambaExpandCall(e, "native_layer_norm", 1, &x, 2, attributes);
}

/* The weight is operand 1, the bias operand 2; both broadcast from the last dimensions. */
static uint32_t weighted(const SambaGradientCall *gradient, SambaExpansion *e, uint32_t g) {
  return hasOperand(gradient, 1) ? gradientMul(e, g, gradientWideOperand(gradient, e, 1)) : g;
}
static void setParameters(const SambaGradientCall *gradient, SambaExpansion *e, uint32_t g,
                          uint32_t normal) {
  if (hasOperand(gradient, 1) && gradient->needed[1])
    gradientSet(gradient, e, 1, gradientMul(e, g, normal));
  if (hasOperand(gradient, 2) && gradient->needed[2])
    gradientSet(gradient, e, 2, g);
}

SambaStatus sambaGradientLayerNorm(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaAttribute *shape = sambaOperatorCallFind(gradient->call, "normalized_shape");
  bool reduced[SAMBA_MAX_RANK];
  uint32_t normal =
      normalizeAgain(e, gradientWideOperand(gradient, e, 0), shape->value.integers.size,
                     shape->value.integers.data, sambaOperatorCallFloat(gradient->call, "eps"));
  uint32_t g = gradientWideFlow(gradient, e);

  lastDimensions(gradient, reduced);
  if (gradient->needed[0])
    gradientSet(gradient, e, 0,
                throughStatistics(e, weighted(gradient, e, g), normal, normal + 2, reduced, true));
  setParameters(gradient, e, g, normal);
  return NULL;
}

static void addTo(SambaExpansion *e, uint32_t *sum, uint32_t value) {
  *sum = *sum == SAMBA_NO_INDEX ? value : gradientAdd(e, *sum, value);
}

/* Also what flows into the mean, g / count, and into 1 / d, -g n / d^2 / count. Statistics that
 * were rounded to less than f32 are computed again. */
SambaStatus sambaGradientNativeLayerNorm(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaAttribute *shape = sambaOperatorCallFind(gradient->call, "normalized_shape");
  uint32_t x = gradientWideOperand(gradient, e, 0);
  uint32_t mean = gradient->results[1], inverse = gradient->results[2], normal;
  double count = 1;
  bool reduced[SAMBA_MAX_RANK];

  lastDimensions(gradient, reduced);
  for (uint32_t axis = 0; axis < inputOf(gradient)->rank; ++axis)
    count *= reduced[axis] ? (double)inputOf(gradient)->dims[axis] : 1;
  if (sambaExpansionType(e, inverse)->dtype == SAMBA_DTYPE_F32) {
    normal = gradientMul(e, gradientSub(e, x, mean), inverse);
  } else {
    normal = normalizeAgain(e, x, shape->value.integers.size, shape->value.integers.data,
                            sambaOperatorCallFloat(gradient->call, "eps"));
    inverse = normal + 2;
  }

  const uint32_t *flows = gradient->result_gradients;
  uint32_t sum = SAMBA_NO_INDEX;
  if (flows[0] != SAMBA_NO_INDEX) {
    uint32_t g = gradientWide(e, flows[0]);
    sum = throughStatistics(e, weighted(gradient, e, g), normal, inverse, reduced, true);
    setParameters(gradient, e, g, normal);
  }
  if (flows[1] != SAMBA_NO_INDEX)
    addTo(e, &sum, gradientScale(e, gradientWide(e, flows[1]), 1 / count));
  if (flows[2] != SAMBA_NO_INDEX) {
    uint32_t square = gradientMul(e, inverse, inverse);
    uint32_t slope =
        gradientScale(e, gradientMul(e, gradientWide(e, flows[2]), square), -1 / count);
    addTo(e, &sum, gradientMul(e, slope, normal));
  }
  if (gradient->needed[0]) {
    const SambaTensorType *type = inputOf(gradient); /* a mean's gradient alone has 1 in places */
    gradientSet(gradient, e, 0, sambaExpandBroadcast(e, sum, type->rank, type->dims));
  }

  return NULL;
}

/* As layer_norm without a mean. */
SambaStatus sambaGradientRmsNorm(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t x = gradientWideOperand(gradient, e, 0);
  uint32_t g = gradientWideFlow(gradient, e);
  bool reduced[SAMBA_MAX_RANK];

  lastDimensions(gradient, reduced);
  uint32_t square = sambaExpandReduce(e, "mean", gradientMul(e, x, x), reduced);
  double epsilon = sambaOperatorCallFloat(gradient->call, "eps");
  uint32_t inverse = sambaExpandUnary(e, "rsqrt", sambaExpandWithNumber(e, "add", square, epsilon));
  uint32_t normal = gradientMul(e, x, inverse);

  if (gradient->needed[0])
    gradientSet(gradient, e, 0,
                throughStatistics(e, weighted(gradient, e, g), normal, inverse, reduced, false));
  setParameters(gradient, e, g, normal);
  return NULL;
}

/* A parameter [C] in f32 that broadcasts against x. */
static uint32_t perChannel(const SambaGradientCall *gradient, SambaExpansion *e, uint32_t value) {
  const SambaTensorType *x = inputOf(gradient);
  int64_t dims[SAMBA_MAX_RANK] = {x->dims[1]};
  for (uint32_t axis = 1; axis + 1 < x->rank; ++axis)
    dims[axis] = 1;
  return sambaExpandReshape(e, gradientWide(e, value), x->rank - 1, dims);
}

/* The gradient of such a parameter: the sum over all other dimensions. */
static void setChannels(const SambaGradientCall *gradient, SambaExpansion *e, uint32_t operand,
                        uint32_t value) {
  const SambaTensorType *x = inputOf(gradient);
  bool reduced[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    reduced[axis] = axis != 1;
  value = sambaExpandReshape(e, sambaExpandReduce(e, "sum", value, reduced), 1, &x->dims[1]);
  gradientSet(gradient, e, operand, value);
}

static bool isNeeded(const SambaGradientCall *gradient, uint32_t operand) {
  return hasOperand(gradient, operand) && gradient->needed[operand];
}

/* layer_norm of [N, groups, rest], with parameters per channel. */
SambaStatus sambaGradientGroupNorm(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaTensorType *x = inputOf(gradient);
  int64_t groups = sambaOperatorCallInt(gradient->call, "num_groups");
  int64_t rest = sambaTensorTypeElements(x) / x->dims[0] / groups;
  int64_t dims[] = {x->dims[0], groups, rest};
  static const bool reduced[] = {false, false, true};
  uint32_t grouped = sambaExpandReshape(e, gradientWideOperand(gradient, e, 0), 3, dims);
  uint32_t normal =
      normalizeAgain(e, grouped, 1, &rest, sambaOperatorCallFloat(gradient->call, "eps"));
  uint32_t flowing = gradientWideFlow(gradient, e);

  if (gradient->needed[0]) {
    uint32_t g = flowing;
    if (hasOperand(gradient, 1))
      g = gradientMul(e, g, perChannel(gradient, e, gradient->operands[1]));
    g = throughStatistics(e, sambaExpandReshape(e, g, 3, dims), normal, normal + 2, reduced, true);
    gradientSet(gradient, e, 0, sambaExpandReshape(e, g, x->rank, x->dims));
  }
  if (isNeeded(gradient, 1))
    setChannels(gradient, e, 1,
                gradientMul(e, flowing, sambaExpandReshape(e, normal, x->rank, x->dims)));
  if (isNeeded(gradient, 2))
    setChannels(gradient, e, 2, flowing);
  return NULL;
}

/* What both forms of batch_norm share: x - mean, 1 / d and n, per channel. */
typedef struct Batch {
  uint32_t centered, inverse, normal;
} Batch;

static Batch batchOf(const SambaGradientCall *gradient, SambaExpansion *e, uint32_t mean,
                     uint32_t variance) {
  double epsilon = sambaOperatorCallFloat(gradient->call, "eps");
  uint32_t moved = sambaExpandWithNumber(e, "add", perChannel(gradient, e, variance), epsilon);
  Batch batch = {.inverse = sambaExpandUnary(e, "rsqrt", moved)};
  batch.centered =
      gradientSub(e, gradientWideOperand(gradient, e, 0), perChannel(gradient, e, mean));
  batch.normal = gradientMul(e, batch.centered, batch.inverse);
  return batch;
}

/* With given statistics: g w / d; of the mean its negative, of the variance -g w n / (2 d^2). */
SambaStatus sambaGradientBatchNorm(const SambaGradientCall *gradient, SambaExpansion *e) {
  Batch batch = batchOf(gradient, e, gradient->operands[3], gradient->operands[4]);
  uint32_t g = gradientWideFlow(gradient, e);
  uint32_t weight = perChannel(gradient, e, gradient->operands[1]);
  uint32_t slope = gradientMul(e, gradientMul(e, g, weight), batch.inverse);

  if (gradient->needed[0])
    gradientSet(gradient, e, 0, slope);
  if (gradient->needed[1])
    setChannels(gradient, e, 1, gradientMul(e, g, batch.normal));
  if (gradient->needed[2])
    setChannels(gradient, e, 2, g);
  if (gradient->needed[3])
    setChannels(gradient, e, 3, gradientNeg(e, slope));
  if (gradient->needed[4]) {
    uint32_t scale = gradientScale(e, batch.inverse, -0.5);
    setChannels(gradient, e, 4, gradientMul(e, gradientMul(e, slope, scale), batch.normal));
  }
  return NULL;
}

/* Through the batch's own statistics, which are results 3 and 4; the running ones pass none. */
SambaStatus sambaGradientBatchNormTraining(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaTensorType *x = inputOf(gradient);
  const uint32_t *flows = gradient->result_gradients;
  Batch batch = batchOf(gradient, e, gradient->results[3], gradient->results[4]);
  double share = (double)x->dims[1] / (double)sambaTensorTypeElements(x);
  uint32_t sum = SAMBA_NO_INDEX;
  bool reduced[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    reduced[axis] = axis != 1;

  if (flows[0] != SAMBA_NO_INDEX) {
    uint32_t g = gradientWide(e, flows[0]);
    if (gradient->needed[0]) {
      uint32_t inner = gradientMul(e, g, perChannel(gradient, e, gradient->operands[1]));
      sum = throughStatistics(e, inner, batch.normal, batch.inverse, reduced, true);
    }
    if (gradient->needed[1])
      setChannels(gradient, e, 1, gradientMul(e, g, batch.normal));
    if (gradient->needed[2])
      setChannels(gradient, e, 2, g);
  }
  if (flows[3] != SAMBA_NO_INDEX)
    addTo(e, &sum, gradientScale(e, perChannel(gradient, e, flows[3]), share));
  if (flows[4] != SAMBA_NO_INDEX)
    addTo(e, &sum,
          gradientMul(e, gradientScale(e, perChannel(gradient, e, flows[4]), 2 * share),
                      batch.centered));
  if (gradient->needed[0] && sum != SAMBA_NO_INDEX)
    gradientSet(gradient, e, 0, sambaExpandBroadcast(e, sum, x->rank, x->dims));

  return NULL;
}

/* y = c / (d + eps), c = x - mean: (g - mean of g - c / d * mean of (g y)) / (d + eps); 0 for the
 * last term where d is 0. */
SambaStatus sambaGradientMeanVarianceNorm(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t x = gradientWideOperand(gradient, e, 0);
  uint32_t g = gradientWideFlow(gradient, e);
  bool reduced[SAMBA_MAX_RANK];

  SAMBA_RETURN_IF_ERROR(sambaReducedAxes(2, gradient->call, reduced));
  uint32_t centered = gradientSub(e, x, sambaExpandReduce(e, "mean", x, reduced));
  uint32_t squares = gradientMul(e, centered, centered);
  uint32_t deviation = sambaExpandUnary(e, "sqrt", sambaExpandReduce(e, "mean", squares, reduced));
  double epsilon = sambaOperatorCallFloat(gradient->call, "eps");
  uint32_t divisor = sambaExpandWithNumber(e, "add", deviation, epsilon);
  uint32_t normal = gradientWide(e, gradient->results[0]);
  uint32_t along = sambaExpandReduce(e, "mean", gradientMul(e, g, normal), reduced);
  uint32_t flat = sambaExpandWithNumber(e, "eq", deviation, 0);
  uint32_t steep = gradientWhere(e, flat, gradientNumber(e, 0),
                                 gradientDiv(e, gradientMul(e, along, centered), deviation));
  uint32_t rest = gradientSub(e, g, sambaExpandReduce(e, "mean", g, reduced));
  gradientSet(gradient, e, 0, gradientDiv(e, gradientSub(e, rest, steep), divisor));

  return NULL;
}

/* The slope of the p-norm along dim: sign(x) (|x| / norm)^(p - 1); 0 where the norm is. */
static uint32_t slopeOfNorm(SambaExpansion *e, uint32_t x, uint32_t norm, double p) {
  uint32_t ratio = gradientDiv(e, x, norm);
  if (p == 1)
    return sambaExpandUnary(e, "sign", x);
  if (p != 2) {
    uint32_t power = sambaExpandWithNumber(e, "pow", sambaExpandUnary(e, "abs", ratio), p - 1);
    ratio = gradientMul(e, sambaExpandUnary(e, "sign", x), power);
  }
  uint32_t none = sambaExpandWithNumber(e, "eq", norm, 0);
  return gradientWhere(e, none, gradientNumber(e, 0), ratio);
}

/* y = x / max(norm, eps): (g - [norm >= eps] slope * sum of g y) / max(norm, eps) */
SambaStatus sambaGradientNormalize(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaOperatorCall *call = gradient->call;
  uint32_t x = gradientWideOperand(gradient, e, 0);
  uint32_t g = gradientWideFlow(gradient, e);
  double p = sambaOperatorCallFloat(call, "p");
  double epsilon = sambaOperatorCallFloat(call, "eps");
  uint32_t axis;
  bool reduced[SAMBA_MAX_RANK] = {false};

  SAMBA_RETURN_IF_ERROR(
      sambaCheckAxis(2, "dim", sambaOperatorCallInt(call, "dim"), inputOf(gradient)->rank, &axis));
  reduced[axis] = true;
  uint32_t power = p == 2 ? gradientMul(e, x, x) : sambaExpandUnary(e, "abs", x);
  if (p != 1 && p != 2)
    power = sambaExpandWithNumber(e, "pow", power, p);
  uint32_t norm = sambaExpandReduce(e, "sum", power, reduced);
  if (p == 2)
    norm = sambaExpandUnary(e, "sqrt", norm);
  else if (p != 1)
    norm = sambaExpandWithNumber(e, "pow", norm, 1 / p);

  uint32_t along = gradientMul(e, g, gradientWide(e, gradient->results[0]));
  along = sambaExpandReduce(e, "sum", along, reduced);
  uint32_t passes = sambaExpandWithNumber(e, "ge", norm, epsilon);
  along = gradientWhereElseZero(e, passes, along);
  uint32_t rest = gradientSub(e, g, gradientMul(e, slopeOfNorm(e, x, norm, p), along));
  uint32_t divisor = sambaExpandWithNumber(e, "maximum", norm, epsilon);
  gradientSet(gradient, e, 0, gradientDiv(e, rest, divisor));

  return NULL;
}

/* The mean over a window of `size` channels from `before` channels before each on, where channels
 * that do not exist are zeros. */
static uint32_t meanOverChannels(const SambaGradientCall *gradient, SambaExpansion *e,
                                 uint32_t value, int64_t size, int64_t before) {
  const SambaTensorType *x = inputOf(gradient);
  int64_t rest = sambaTensorTypeElements(x) / x->dims[0] / x->dims[1];
  int64_t dims[] = {x->dims[0], 1, x->dims[1], rest};
  SambaAttribute attributes[] = {
      sambaIntsAttribute("kernel_size", (int64_t[]){size, 1}, 2),
      sambaIntsAttribute("stride", (int64_t[]){1, 1}, 2),
      sambaIntsAttribute("padding", (int64_t[]){before, 0, size - 1 - before, 0}, 4)};
  value = sambaExpandReshape(e, value, 4, dims);
  value = sambaExpandCall(e, "avg_pool2d", 1, &value, 3, attributes);
  return sambaExpandReshape(e, value, x->rank, x->dims);
}

/* y = x u^-b, u = k + a * mean of x^2: g u^-b - 2 a b x * mean of (g y / u), the mean over the
 * windows that an element lies in. */
SambaStatus sambaGradientLocalResponseNorm(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaOperatorCall *call = gradient->call;
  uint32_t x = gradientWideOperand(gradient, e, 0);
  uint32_t g = gradientWideFlow(gradient, e);
  int64_t size = sambaOperatorCallInt(call, "size");
  int64_t before = sambaOperatorCallIntOr(call, "before", size / 2);
  double alpha = sambaOperatorCallFloat(call, "alpha");
  double beta = sambaOperatorCallFloat(call, "beta");

  uint32_t squares = meanOverChannels(gradient, e, gradientMul(e, x, x), size, before);
  uint32_t sum = sambaExpandWithNumber(e, "add", gradientScale(e, squares, alpha),
                                       sambaOperatorCallFloat(call, "k"));
  uint32_t scale = sambaExpandWithNumber(e, "pow", sum, -beta);
  uint32_t own = gradientMul(e, g, scale);
  uint32_t inner = gradientDiv(e, gradientMul(e, own, x), sum);
  inner = meanOverChannels(gradient, e, inner, size, size - 1 - before);
  uint32_t others = gradientMul(e, gradientScale(e, x, 2 * alpha * beta), inner);
  gradientSet(gradient, e, 0, gradientSub(e, own, others));

  return NULL;
}
