/* Gradients of normalizations; see norm_gradients.h. All in f32. In comments g is what flows into
 * the normalized x, after the weight; n is x normalized before weight and bias, d its standard
 * deviation. */
#include "dialect/samba/table/norm/norm_gradients.h"

#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/core/rows.h"

static const SambaTensorType *inputOf(const SambaGradientCall *gradient) {
  return &gradient->call->operands[0];
}

static bool hasOperand(const SambaGradientCall *gradient, uint32_t operand) {
  return operand < gradient->call->operand_count;
}

/* (g - mean of g - n * mean of (g * n)) / d, over the flagged dimensions. Nothing flows into the
 * mean of x with `centered` false. */
static uint32_t throughStatistics(SambaExpansion *expansion, uint32_t g, uint32_t normal,
                                  uint32_t inverse, const bool *reduced, bool centered) {
  uint32_t along = sambaExpandReduce(expansion, "mean", gradientMul(expansion, g, normal), reduced);
  uint32_t rest = gradientSub(expansion, g, gradientMul(expansion, normal, along));
  if (centered)
    rest = gradientSub(expansion, rest, sambaExpandReduce(expansion, "mean", g, reduced));
  return gradientMul(expansion, rest, inverse);
}

/* The flags of the last dimensions that the call normalizes. */
static void lastDimensions(const SambaGradientCall *gradient, bool *out_reduced) {
  uint32_t rank = inputOf(gradient)->rank;
  size_t count = sambaOperatorCallFind(gradient->call, "normalized_shape")->value.integers.size;
  for (uint32_t axis = 0; axis < rank; ++axis)
    out_reduced[axis] = axis + count >= rank;
}

/* layer_norm without parameters and with its statistics: three values from the first on. */
static uint32_t normalizeAgain(SambaExpansion *expansion, uint32_t x, size_t count,
                               const int64_t *shape, double epsilon) {
  SambaAttribute attributes[] = {sambaIntsAttribute("normalized_shape", shape, count),
                                 sambaFloatAttribute("eps", epsilon)};
  return sambaExpandCall(expansion, "native_layer_norm", 1, &x, 2, attributes);
}

/* The weight is operand 1, the bias operand 2; both broadcast from the last dimensions. */
static uint32_t weighted(const SambaGradientCall *gradient, SambaExpansion *expansion, uint32_t g) {
  return hasOperand(gradient, 1)
             ? gradientMul(expansion, g, gradientWideOperand(gradient, expansion, 1))
             : g;
}
static void setParameters(const SambaGradientCall *gradient, SambaExpansion *expansion, uint32_t g,
                          uint32_t normal) {
  if (hasOperand(gradient, 1) && gradient->needed[1])
    gradientSet(gradient, expansion, 1, gradientMul(expansion, g, normal));
  if (hasOperand(gradient, 2) && gradient->needed[2])
    gradientSet(gradient, expansion, 2, g);
}

SambaStatus sambaGradientLayerNorm(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaAttribute *shape = sambaOperatorCallFind(gradient->call, "normalized_shape");
  bool reduced[SAMBA_MAX_RANK];
  uint32_t normal = normalizeAgain(expansion, gradientWideOperand(gradient, expansion, 0),
                                   shape->value.integers.size, shape->value.integers.data,
                                   sambaOperatorCallFloat(gradient->call, "eps"));
  uint32_t g = gradientWideFlow(gradient, expansion);

  lastDimensions(gradient, reduced);
  if (gradient->needed[0])
    gradientSet(gradient, expansion, 0,
                throughStatistics(expansion, weighted(gradient, expansion, g), normal, normal + 2,
                                  reduced, true));
  setParameters(gradient, expansion, g, normal);
  return NULL;
}

static void addTo(SambaExpansion *expansion, uint32_t *sum, uint32_t value) {
  *sum = *sum == SAMBA_NO_INDEX ? value : gradientAdd(expansion, *sum, value);
}

/* Also what flows into the mean, g / count, and into 1 / d, -g n / d^2 / count. Statistics that
 * were rounded to less than f32 are computed again. */
SambaStatus sambaGradientNativeLayerNorm(const SambaGradientCall *gradient,
                                         SambaExpansion *expansion) {
  const SambaAttribute *shape = sambaOperatorCallFind(gradient->call, "normalized_shape");
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  uint32_t mean = gradient->results[1], inverse = gradient->results[2], normal;
  double count = 1;
  bool reduced[SAMBA_MAX_RANK];

  lastDimensions(gradient, reduced);
  for (uint32_t axis = 0; axis < inputOf(gradient)->rank; ++axis)
    count *= reduced[axis] ? (double)inputOf(gradient)->dims[axis] : 1;
  if (sambaExpansionType(expansion, inverse)->dtype == SAMBA_DTYPE_F32) {
    normal = gradientMul(expansion, gradientSub(expansion, x, mean), inverse);
  } else {
    normal = normalizeAgain(expansion, x, shape->value.integers.size, shape->value.integers.data,
                            sambaOperatorCallFloat(gradient->call, "eps"));
    inverse = normal + 2;
  }

  const uint32_t *flows = gradient->result_gradients;
  uint32_t sum = SAMBA_NO_INDEX;
  if (flows[0] != SAMBA_NO_INDEX) {
    uint32_t g = gradientWide(expansion, flows[0]);
    sum = throughStatistics(expansion, weighted(gradient, expansion, g), normal, inverse, reduced,
                            true);
    setParameters(gradient, expansion, g, normal);
  }
  if (flows[1] != SAMBA_NO_INDEX)
    addTo(expansion, &sum, gradientScale(expansion, gradientWide(expansion, flows[1]), 1 / count));
  if (flows[2] != SAMBA_NO_INDEX) {
    uint32_t square = gradientMul(expansion, inverse, inverse);
    uint32_t slope = gradientScale(
        expansion, gradientMul(expansion, gradientWide(expansion, flows[2]), square), -1 / count);
    addTo(expansion, &sum, gradientMul(expansion, slope, normal));
  }
  if (gradient->needed[0]) {
    const SambaTensorType *type = inputOf(gradient); /* a mean's gradient alone has 1 in places */
    gradientSet(gradient, expansion, 0,
                sambaExpandBroadcast(expansion, sum, type->rank, type->dims));
  }

  return NULL;
}

/* As layer_norm without a mean. */
SambaStatus sambaGradientRmsNorm(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  uint32_t g = gradientWideFlow(gradient, expansion);
  bool reduced[SAMBA_MAX_RANK];

  lastDimensions(gradient, reduced);
  uint32_t square = sambaExpandReduce(expansion, "mean", gradientMul(expansion, x, x), reduced);
  double epsilon = sambaOperatorCallFloat(gradient->call, "eps");
  uint32_t inverse = sambaExpandUnary(expansion, "rsqrt",
                                      sambaExpandWithNumber(expansion, "add", square, epsilon));
  uint32_t normal = gradientMul(expansion, x, inverse);

  if (gradient->needed[0])
    gradientSet(gradient, expansion, 0,
                throughStatistics(expansion, weighted(gradient, expansion, g), normal, inverse,
                                  reduced, false));
  setParameters(gradient, expansion, g, normal);
  return NULL;
}

/* A parameter [C] in f32 that broadcasts against x. */
static uint32_t perChannel(const SambaGradientCall *gradient, SambaExpansion *expansion,
                           uint32_t value) {
  const SambaTensorType *x = inputOf(gradient);
  int64_t dims[SAMBA_MAX_RANK] = {x->dims[1]};
  for (uint32_t axis = 1; axis + 1 < x->rank; ++axis)
    dims[axis] = 1;
  return sambaExpandReshape(expansion, gradientWide(expansion, value), x->rank - 1, dims);
}

/* The gradient of such a parameter: the sum over all other dimensions. */
static void setChannels(const SambaGradientCall *gradient, SambaExpansion *expansion,
                        uint32_t operand, uint32_t value) {
  const SambaTensorType *x = inputOf(gradient);
  bool reduced[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    reduced[axis] = axis != 1;
  value = sambaExpandReshape(expansion, sambaExpandReduce(expansion, "sum", value, reduced), 1,
                             &x->dims[1]);
  gradientSet(gradient, expansion, operand, value);
}

static bool isNeeded(const SambaGradientCall *gradient, uint32_t operand) {
  return hasOperand(gradient, operand) && gradient->needed[operand];
}

/* layer_norm of [N, groups, rest], with parameters per channel. */
SambaStatus sambaGradientGroupNorm(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *x = inputOf(gradient);
  int64_t groups = sambaOperatorCallInt(gradient->call, "num_groups");
  int64_t rest = sambaTensorTypeElements(x) / x->dims[0] / groups;
  int64_t dims[] = {x->dims[0], groups, rest};
  static const bool reduced[] = {false, false, true};
  uint32_t grouped =
      sambaExpandReshape(expansion, gradientWideOperand(gradient, expansion, 0), 3, dims);
  uint32_t normal =
      normalizeAgain(expansion, grouped, 1, &rest, sambaOperatorCallFloat(gradient->call, "eps"));
  uint32_t flowing = gradientWideFlow(gradient, expansion);

  if (gradient->needed[0]) {
    uint32_t g = flowing;
    if (hasOperand(gradient, 1))
      g = gradientMul(expansion, g, perChannel(gradient, expansion, gradient->operands[1]));
    g = throughStatistics(expansion, sambaExpandReshape(expansion, g, 3, dims), normal, normal + 2,
                          reduced, true);
    gradientSet(gradient, expansion, 0, sambaExpandReshape(expansion, g, x->rank, x->dims));
  }
  if (isNeeded(gradient, 1))
    setChannels(
        gradient, expansion, 1,
        gradientMul(expansion, flowing, sambaExpandReshape(expansion, normal, x->rank, x->dims)));
  if (isNeeded(gradient, 2))
    setChannels(gradient, expansion, 2, flowing);
  return NULL;
}

/* What both forms of batch_norm share: x - mean, 1 / d and n, per channel. */
typedef struct Batch {
  uint32_t centered, inverse, normal;
} Batch;

static Batch batchOf(const SambaGradientCall *gradient, SambaExpansion *expansion, uint32_t mean,
                     uint32_t variance) {
  double epsilon = sambaOperatorCallFloat(gradient->call, "eps");
  uint32_t moved =
      sambaExpandWithNumber(expansion, "add", perChannel(gradient, expansion, variance), epsilon);
  Batch batch = {.inverse = sambaExpandUnary(expansion, "rsqrt", moved)};
  batch.centered = gradientSub(expansion, gradientWideOperand(gradient, expansion, 0),
                               perChannel(gradient, expansion, mean));
  batch.normal = gradientMul(expansion, batch.centered, batch.inverse);
  return batch;
}

/* With given statistics: g w / d; of the mean its negative, of the variance -g w n / (2 d^2). */
SambaStatus sambaGradientBatchNorm(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  Batch batch = batchOf(gradient, expansion, gradient->operands[3], gradient->operands[4]);
  uint32_t g = gradientWideFlow(gradient, expansion);
  uint32_t weight = perChannel(gradient, expansion, gradient->operands[1]);
  uint32_t slope = gradientMul(expansion, gradientMul(expansion, g, weight), batch.inverse);

  if (gradient->needed[0])
    gradientSet(gradient, expansion, 0, slope);
  if (gradient->needed[1])
    setChannels(gradient, expansion, 1, gradientMul(expansion, g, batch.normal));
  if (gradient->needed[2])
    setChannels(gradient, expansion, 2, g);
  if (gradient->needed[3])
    setChannels(gradient, expansion, 3, gradientNeg(expansion, slope));
  if (gradient->needed[4]) {
    uint32_t scale = gradientScale(expansion, batch.inverse, -0.5);
    setChannels(gradient, expansion, 4,
                gradientMul(expansion, gradientMul(expansion, slope, scale), batch.normal));
  }
  return NULL;
}

/* Through the batch's own statistics, which are results 3 and 4; the running ones pass none. */
SambaStatus sambaGradientBatchNormTraining(const SambaGradientCall *gradient,
                                           SambaExpansion *expansion) {
  const SambaTensorType *x = inputOf(gradient);
  const uint32_t *flows = gradient->result_gradients;
  Batch batch = batchOf(gradient, expansion, gradient->results[3], gradient->results[4]);
  double share = (double)x->dims[1] / (double)sambaTensorTypeElements(x);
  uint32_t sum = SAMBA_NO_INDEX;
  bool reduced[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    reduced[axis] = axis != 1;

  if (flows[0] != SAMBA_NO_INDEX) {
    uint32_t g = gradientWide(expansion, flows[0]);
    if (gradient->needed[0]) {
      uint32_t inner =
          gradientMul(expansion, g, perChannel(gradient, expansion, gradient->operands[1]));
      sum = throughStatistics(expansion, inner, batch.normal, batch.inverse, reduced, true);
    }
    if (gradient->needed[1])
      setChannels(gradient, expansion, 1, gradientMul(expansion, g, batch.normal));
    if (gradient->needed[2])
      setChannels(gradient, expansion, 2, g);
  }
  if (flows[3] != SAMBA_NO_INDEX)
    addTo(expansion, &sum,
          gradientScale(expansion, perChannel(gradient, expansion, flows[3]), share));
  if (flows[4] != SAMBA_NO_INDEX)
    addTo(
        expansion, &sum,
        gradientMul(expansion,
                    gradientScale(expansion, perChannel(gradient, expansion, flows[4]), 2 * share),
                    batch.centered));
  if (gradient->needed[0] && sum != SAMBA_NO_INDEX)
    gradientSet(gradient, expansion, 0, sambaExpandBroadcast(expansion, sum, x->rank, x->dims));

  return NULL;
}

/* y = c / (d + eps), c = x - mean: (g - mean of g - c / d * mean of (g y)) / (d + eps); 0 for the
 * last term where d is 0. */
SambaStatus sambaGradientMeanVarianceNorm(const SambaGradientCall *gradient,
                                          SambaExpansion *expansion) {
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  uint32_t g = gradientWideFlow(gradient, expansion);
  bool reduced[SAMBA_MAX_RANK];

  SAMBA_RETURN_IF_ERROR(sambaReducedAxes(2, gradient->call, reduced));
  uint32_t centered = gradientSub(expansion, x, sambaExpandReduce(expansion, "mean", x, reduced));
  uint32_t squares = gradientMul(expansion, centered, centered);
  uint32_t deviation =
      sambaExpandUnary(expansion, "sqrt", sambaExpandReduce(expansion, "mean", squares, reduced));
  double epsilon = sambaOperatorCallFloat(gradient->call, "eps");
  uint32_t divisor = sambaExpandWithNumber(expansion, "add", deviation, epsilon);
  uint32_t normal = gradientWide(expansion, gradient->results[0]);
  uint32_t along = sambaExpandReduce(expansion, "mean", gradientMul(expansion, g, normal), reduced);
  uint32_t flat = sambaExpandWithNumber(expansion, "eq", deviation, 0);
  uint32_t steep =
      gradientWhere(expansion, flat, gradientNumber(expansion, 0),
                    gradientDiv(expansion, gradientMul(expansion, along, centered), deviation));
  uint32_t rest = gradientSub(expansion, g, sambaExpandReduce(expansion, "mean", g, reduced));
  gradientSet(gradient, expansion, 0,
              gradientDiv(expansion, gradientSub(expansion, rest, steep), divisor));

  return NULL;
}

/* The slope of the p-norm along dim: sign(x) (|x| / norm)^(p - 1); 0 where the norm is. */
static uint32_t slopeOfNorm(SambaExpansion *expansion, uint32_t x, uint32_t norm, double p) {
  uint32_t ratio = gradientDiv(expansion, x, norm);
  if (p == 1)
    return sambaExpandUnary(expansion, "sign", x);
  if (p != 2) {
    uint32_t power =
        sambaExpandWithNumber(expansion, "pow", sambaExpandUnary(expansion, "abs", ratio), p - 1);
    ratio = gradientMul(expansion, sambaExpandUnary(expansion, "sign", x), power);
  }
  uint32_t none = sambaExpandWithNumber(expansion, "eq", norm, 0);
  return gradientWhere(expansion, none, gradientNumber(expansion, 0), ratio);
}

/* y = x / max(norm, eps): (g - [norm >= eps] slope * sum of g y) / max(norm, eps) */
SambaStatus sambaGradientNormalize(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaOperatorCall *call = gradient->call;
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  uint32_t g = gradientWideFlow(gradient, expansion);
  double p = sambaOperatorCallFloat(call, "p");
  double epsilon = sambaOperatorCallFloat(call, "eps");
  uint32_t axis;
  bool reduced[SAMBA_MAX_RANK] = {false};

  SAMBA_RETURN_IF_ERROR(
      sambaCheckAxis(2, "dim", sambaOperatorCallInt(call, "dim"), inputOf(gradient)->rank, &axis));
  reduced[axis] = true;
  uint32_t power = p == 2 ? gradientMul(expansion, x, x) : sambaExpandUnary(expansion, "abs", x);
  if (p != 1 && p != 2)
    power = sambaExpandWithNumber(expansion, "pow", power, p);
  uint32_t norm = sambaExpandReduce(expansion, "sum", power, reduced);
  if (p == 2)
    norm = sambaExpandUnary(expansion, "sqrt", norm);
  else if (p != 1)
    norm = sambaExpandWithNumber(expansion, "pow", norm, 1 / p);

  uint32_t along = gradientMul(expansion, g, gradientWide(expansion, gradient->results[0]));
  along = sambaExpandReduce(expansion, "sum", along, reduced);
  uint32_t passes = sambaExpandWithNumber(expansion, "ge", norm, epsilon);
  along = gradientWhereElseZero(expansion, passes, along);
  uint32_t rest =
      gradientSub(expansion, g, gradientMul(expansion, slopeOfNorm(expansion, x, norm, p), along));
  uint32_t divisor = sambaExpandWithNumber(expansion, "maximum", norm, epsilon);
  gradientSet(gradient, expansion, 0, gradientDiv(expansion, rest, divisor));

  return NULL;
}

/* The mean over a window of `size` channels from `before` channels before each on, where channels
 * that do not exist are zeros. */
static uint32_t meanOverChannels(const SambaGradientCall *gradient, SambaExpansion *expansion,
                                 uint32_t value, int64_t size, int64_t before) {
  const SambaTensorType *x = inputOf(gradient);
  int64_t rest = sambaTensorTypeElements(x) / x->dims[0] / x->dims[1];
  int64_t dims[] = {x->dims[0], 1, x->dims[1], rest};
  SambaAttribute attributes[] = {
      sambaIntsAttribute("kernel_size", (int64_t[]){size, 1}, 2),
      sambaIntsAttribute("stride", (int64_t[]){1, 1}, 2),
      sambaIntsAttribute("padding", (int64_t[]){before, 0, size - 1 - before, 0}, 4)};
  value = sambaExpandReshape(expansion, value, 4, dims);
  value = sambaExpandCall(expansion, "avg_pool2d", 1, &value, 3, attributes);
  return sambaExpandReshape(expansion, value, x->rank, x->dims);
}

/* y = x u^-b, u = k + a * mean of x^2: g u^-b - 2 a b x * mean of (g y / u), the mean over the
 * windows that an element lies in. */
SambaStatus sambaGradientLocalResponseNorm(const SambaGradientCall *gradient,
                                           SambaExpansion *expansion) {
  const SambaOperatorCall *call = gradient->call;
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  uint32_t g = gradientWideFlow(gradient, expansion);
  int64_t size = sambaOperatorCallInt(call, "size");
  int64_t before = sambaOperatorCallIntOr(call, "before", size / 2);
  double alpha = sambaOperatorCallFloat(call, "alpha");
  double beta = sambaOperatorCallFloat(call, "beta");

  uint32_t squares =
      meanOverChannels(gradient, expansion, gradientMul(expansion, x, x), size, before);
  uint32_t sum = sambaExpandWithNumber(expansion, "add", gradientScale(expansion, squares, alpha),
                                       sambaOperatorCallFloat(call, "k"));
  uint32_t scale = sambaExpandWithNumber(expansion, "pow", sum, -beta);
  uint32_t own = gradientMul(expansion, g, scale);
  uint32_t inner = gradientDiv(expansion, gradientMul(expansion, own, x), sum);
  inner = meanOverChannels(gradient, expansion, inner, size, size - 1 - before);
  uint32_t others = gradientMul(expansion, gradientScale(expansion, x, 2 * alpha * beta), inner);
  gradientSet(gradient, expansion, 0, gradientSub(expansion, own, others));

  return NULL;
}
