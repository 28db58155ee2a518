/* Batch normalization, with given statistics and with the batch's own.
 *
 * Numerics, all in f32 with one rounding to each result's dtype at the end: s = (1 / sqrt(variance
 * + eps)) * weight per channel; result = (x - mean) * s + bias. In training mean = sum / n and
 * variance = sum of (x - mean)^2 / n over all dimensions but the channels, and the running
 * statistics are old * momentum + new * (1 - momentum), each operation rounded. */
#include "dialect/samba/table/calls/compose.h"
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/norm/norm_gradients.h"

SambaStatus sambaCheckNormParameter(const SambaOperatorCall *call, unsigned constraint,
                                    uint32_t operand, const char *what, uint32_t rank,
                                    const int64_t *dims) {
  const SambaTensorType *type = &call->operands[operand];
  SAMBA_RETURN_IF_ERROR(
      sambaCheckDType(1, what, type->dtype, 1u << SAMBA_DTYPE_F32 | 1u << call->operands[0].dtype));
  return sambaCheckShape(constraint, what, type, rank, dims);
}

static SambaStatus inferBatchNorm(const SambaOperatorCall *call, SambaTensorType *out) {
  static const char *const names[] = {"", "the weight", "the bias", "the mean", "the variance"};
  const SambaTensorType *x = &call->operands[0];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the input", x, 2, SAMBA_MAX_RANK));
  for (uint32_t i = 1; i < 5; ++i)
    SAMBA_RETURN_IF_ERROR(sambaCheckNormParameter(call, 3, i, names[i], 1, &x->dims[1]));
  out[0] = *x;
  for (uint32_t i = 1; i < sambaOperatorResults(call->operator); ++i)
    out[i] = call->operands[i % 2 ? 3 : 4]; /* running mean and variance, mean, variance */
  return NULL;
}

static SambaStatus inferTraining(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  SAMBA_RETURN_IF_ERROR(inferBatchNorm(call, out));
  if (sambaOperatorCallInt(call, "unbiased") && sambaTensorTypeElements(x) == x->dims[1])
    return sambaStatusMake(SAMBA_INVALID,
                           "(C4) an unbiased variance of one element per channel does not exist");
  return NULL;
}

/* The two last stages: mean and variance are read at [C] or, as statistics of x, at [1, C,
 * 1 ..]. */
static void normalize(const SambaComposition *composition, const SambaOperatorCall *call,
                      const uint32_t *operands, uint32_t result, uint32_t mean, uint32_t variance) {
  uint32_t channel = composition->graph->tensors[mean].rank == 1 ? 0 : 1;
  uint32_t alone[] = {0};
  uint32_t second[] = {1};
  SambaStageBuilder builder;
  uint32_t scale =
      sambaStageIntermediate(composition->graph, SAMBA_DTYPE_F32, 1, &call->operands[0].dims[1]);

  sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                             scale);
  uint16_t value = sambaStageOperand(&builder, variance);
  uint16_t weight = sambaStageMappedOperand(&builder, operands[1], alone);
  sambaStageAxis(&builder, value, channel)->coefficients[0] = 1;
  double epsilon = sambaOperatorCallFloat(call, "eps");
  value = sambaLane2(&builder, SAMBA_LANE_ADD, value, sambaLaneFloat(&builder, epsilon));
  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_MUL,
                                     sambaLane1(&builder, SAMBA_LANE_RSQRT, value), weight));

  sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                             result);
  uint16_t x = sambaStageBroadcastOperand(&builder, operands[0]);
  uint16_t middle = sambaStageOperand(&builder, mean);
  uint16_t factor = sambaStageMappedOperand(&builder, scale, second);
  uint16_t bias = sambaStageMappedOperand(&builder, operands[2], second);
  sambaStageAxis(&builder, middle, channel)->coefficients[1] = 1;
  value =
      sambaLane2(&builder, SAMBA_LANE_MUL, sambaLane2(&builder, SAMBA_LANE_SUB, x, middle), factor);
  sambaStageEndRounded(&builder, sambaLane2(&builder, SAMBA_LANE_ADD, value, bias));
}

static SambaStatus stagesBatchNorm(const SambaOperatorCall *call, SambaStageGraph *graph,
                                   const uint32_t *operands, const uint32_t *results,
                                   const char *layer) {
  SambaComposition composition = {graph, call->operator->name, layer};
  normalize(&composition, call, operands, results[0], operands[3], operands[4]);
  return NULL;
}

/* A parameter [C] in f32 that broadcasts against x. */
static uint32_t parameter(SambaExpansion *expansion, const SambaTensorType *x, uint32_t value) {
  int64_t dims[SAMBA_MAX_RANK];
  dims[0] = x->dims[1];
  for (uint32_t axis = 1; axis + 1 < x->rank; ++axis)
    dims[axis] = 1;
  return sambaExpandReshape(expansion, sambaExpandCast(expansion, value, SAMBA_DTYPE_F32),
                            x->rank - 1, dims);
}

/* The same steps with the same roundings, through memory. */
static uint32_t expandNormalized(SambaExpansion *expansion, const SambaOperatorCall *call,
                                 const uint32_t *operands, uint32_t mean, uint32_t variance) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t weight = sambaExpandCast(expansion, operands[1], SAMBA_DTYPE_F32);
  variance = sambaExpandWithNumber(expansion, "add", variance, sambaOperatorCallFloat(call, "eps"));
  uint32_t scale =
      sambaExpandBinary(expansion, "mul", sambaExpandUnary(expansion, "rsqrt", variance), weight);
  uint32_t centered =
      sambaExpandBinary(expansion, "sub", sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32),
                        parameter(expansion, x, mean));
  uint32_t scaled = sambaExpandBinary(expansion, "mul", centered, parameter(expansion, x, scale));
  return sambaExpandCast(
      expansion, sambaExpandBinary(expansion, "add", scaled, parameter(expansion, x, operands[2])),
      x->dtype);
}

static SambaStatus decomposeBatchNorm(const SambaOperatorCall *call, SambaExpansion *expansion,
                                      const uint32_t *operands, uint32_t *out_results) {
  out_results[0] = expandNormalized(expansion, call, operands, operands[3],
                                    sambaExpandCast(expansion, operands[4], SAMBA_DTYPE_F32));
  return NULL;
}

/* How a running statistic moves: running * momentum + statistic * share. */
typedef struct Movement {
  double momentum, share;
} Movement;

/* The variance that torch keeps is unbiased: n / (n - 1) of the one that normalizes. */
static void movements(const SambaOperatorCall *call, Movement *out_mean, Movement *out_variance) {
  const SambaTensorType *x = &call->operands[0];
  double momentum = sambaOperatorCallFloat(call, "momentum");
  double count = (double)(sambaTensorTypeElements(x) / x->dims[1]);
  *out_mean = (Movement){momentum, 1 - momentum};
  *out_variance = *out_mean;
  if (sambaOperatorCallInt(call, "unbiased"))
    out_variance->share *= count / (count - 1);
}

/* A statistic moved, or with no running operand the statistic [1, C, 1 ..] as [C]. */
static void statistic(const SambaComposition *composition, const Movement *movement,
                      const uint32_t *running, uint32_t from, uint32_t result) {
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                             result);
  uint16_t value = sambaStageOperand(&builder, from);
  uint16_t old = running ? sambaStageBroadcastOperand(&builder, *running) : 0;
  sambaStageAxis(&builder, value, 1)->coefficients[0] = 1;
  if (running) {
    value = sambaLane2(&builder, SAMBA_LANE_MUL, value, sambaLaneFloat(&builder, movement->share));
    value = sambaLane2(
        &builder, SAMBA_LANE_ADD,
        sambaLane2(&builder, SAMBA_LANE_MUL, old, sambaLaneFloat(&builder, movement->momentum)),
        value);
  }
  sambaStageEndRounded(&builder, value);
}

static SambaStatus stagesTraining(const SambaOperatorCall *call, SambaStageGraph *graph,
                                  const uint32_t *operands, const uint32_t *results,
                                  const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  SambaComposition composition = {graph, call->operator->name, layer};
  Movement of_mean, of_variance;
  int64_t count = sambaTensorTypeElements(x) / x->dims[1];
  bool reduced[SAMBA_MAX_RANK];

  for (uint32_t axis = 0; axis < x->rank; ++axis)
    reduced[axis] = axis != 1;
  uint32_t mean =
      sambaComposeDivide(&composition,
                         sambaComposeReduce(&composition, operands[0], reduced,
                                            SAMBA_LANE_REDUCE_ADD, SAMBA_REDUCE_PLAIN, 0),
                         count);
  uint32_t variance =
      sambaComposeDivide(&composition,
                         sambaComposeReduce(&composition, operands[0], reduced,
                                            SAMBA_LANE_REDUCE_ADD, SAMBA_REDUCE_DEVIATION, mean),
                         count);
  normalize(&composition, call, operands, results[0], mean, variance);
  movements(call, &of_mean, &of_variance);
  statistic(&composition, &of_mean, &operands[3], mean, results[1]);
  statistic(&composition, &of_variance, &operands[4], variance, results[2]);
  statistic(&composition, NULL, NULL, mean, results[3]);
  statistic(&composition, NULL, NULL, variance, results[4]);

  return NULL;
}

/* The mean per channel, [C]. */
static uint32_t expandMean(SambaExpansion *expansion, uint32_t value) {
  uint32_t rank = sambaExpansionType(expansion, value)->rank;
  int64_t reduced[SAMBA_MAX_RANK];
  for (uint32_t axis = 0, count = 0; axis < rank; ++axis)
    if (axis != 1)
      reduced[count++] = axis;
  SambaAttribute dim = sambaIntsAttribute("dim", reduced, rank - 1);
  return sambaExpandCall(expansion, "mean", 1, &value, 1, &dim);
}

static uint32_t expandMoved(SambaExpansion *expansion, const Movement *movement, uint32_t running,
                            uint32_t value) {
  uint32_t old = sambaExpandWithNumber(
      expansion, "mul", sambaExpandCast(expansion, running, SAMBA_DTYPE_F32), movement->momentum);
  return sambaExpandBinary(expansion, "add", old,
                           sambaExpandWithNumber(expansion, "mul", value, movement->share));
}

static SambaStatus decomposeTraining(const SambaOperatorCall *call, SambaExpansion *expansion,
                                     const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  Movement of_mean, of_variance;
  uint32_t wide = sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32);
  uint32_t mean = expandMean(expansion, wide);
  uint32_t deviation = sambaExpandBinary(expansion, "sub", wide, parameter(expansion, x, mean));
  uint32_t variance =
      expandMean(expansion, sambaExpandBinary(expansion, "mul", deviation, deviation));

  movements(call, &of_mean, &of_variance);
  out_results[0] = expandNormalized(expansion, call, operands, mean, variance);
  const uint32_t values[] = {expandMoved(expansion, &of_mean, operands[3], mean),
                             expandMoved(expansion, &of_variance, operands[4], variance), mean,
                             variance};
  SambaTensorType results[SAMBA_MAX_RESULTS];
  SAMBA_RETURN_IF_ERROR(sambaOperatorInfer(call, results));
  for (uint32_t i = 0; i < 4; ++i)
    out_results[i + 1] = sambaExpandCast(expansion, values[i], results[i + 1].dtype);
  return NULL;
}

const SambaOperator sambaBatchNormOperators[] = {
    {.name = "batch_norm",
     .summary = "(x - mean) / sqrt(variance + eps) * weight + bias, per channel",
     .computes = "The inference form: statistics are operands.",
     .operands = {"input", "weight", "bias", "mean", "variance"},
     .attributes = {FLOAT("eps", 1e-5)},
     .constraints = {"x has a float dtype, the parameters x's or f32",
                     "x has rank 2 or more, N x C x ..", "the parameters are [C]"},
     .example = "%y = samba.batch_norm %x, %w, %b, %m, %v {eps = 1.0e-5} : tensor<2x4x6xf32>, "
                "tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>",
     .source = "torch.nn.functional.batch_norm",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferBatchNorm,
     .stages = stagesBatchNorm,
     .differentiate = sambaGradientBatchNorm,
     .decompose = decomposeBatchNorm},
    {.name = "batch_norm_training",
     .summary =
         "batch_norm with the batch's own statistics, and the running ones moved towards them",
     .computes = "Mean and (population) variance per channel are those of x. Results: the "
                 "normalized x; running_mean * momentum + mean * (1 - momentum); the same of the "
                 "variance (unbiased: of n / (n - 1) of it, as torch keeps it); the mean; the "
                 "variance.",
     .operands = {"input", "weight", "bias", "mean", "variance"},
     .results = {"result", "running_mean", "running_variance", "batch_mean", "batch_variance"},
     .updates = {NULL, "mean", "variance"},
     .attributes = {FLOAT("eps", 1e-5), FLOAT("momentum", 0.9, "the share of the old statistics"),
                    BOOL("unbiased", false,
                         "the running variance takes n / (n - 1) of the batch's")},
     .constraints = {"x has a float dtype, the parameters x's or f32",
                     "x has rank 2 or more, N x C x ..", "the parameters are [C]",
                     "unbiased: x has more than one element per channel"},
     .example =
         "%y, %r, %s, %m1, %v1 = samba.batch_norm_training %x, %w, %b, %m, %v {momentum = 0.5} : "
         "tensor<2x4x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>",
     .source = "ONNX BatchNormalization with training_mode = 1",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferTraining,
     .differentiate = sambaGradientBatchNormTraining,
     .decompose = decomposeTraining,
     .stages = stagesTraining},
    {0}};
