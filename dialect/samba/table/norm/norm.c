/* Normalizations over dimensions of x itself.
 *
 * Numerics, all in f32 with one rounding to x's dtype at the end: mean = sum / n; variance = sum of
 * (x - mean)^2 / n; result = (x - mean) * (1 / sqrt(variance + eps)) * weight + bias, each
 * operation rounded. mean_variance_norm is (x - mean) / (sqrt(variance) + eps). */
#include "dialect/samba/table/calls/compose.h"
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/norm/norm_gradients.h"

static SambaStatus inferLastDimensions(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaAttribute *shape = sambaOperatorCallFind(call, "normalized_shape");
  size_t count = shape->value.integers.size;

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_FLOAT));
  bool ok = count >= 1 && count <= x->rank;
  for (size_t i = 0; ok && i < count; ++i)
    ok = shape->value.integers.data[i] == x->dims[x->rank - count + i];
  if (!ok) {
    char buffer[160];
    return sambaStatusMake(
        SAMBA_INVALID,
        "(C2) attribute 'normalized_shape' must be the last dimensions of the input, which is %s",
        sambaTensorTypeFormat(x, buffer));
  }

  static const char *const names[] = {"", "the weight", "the bias"};
  for (uint32_t i = 1; i < call->operand_count; ++i)
    SAMBA_RETURN_IF_ERROR(
        sambaCheckNormParameter(call, 3, i, names[i], (uint32_t)count, &x->dims[x->rank - count]));
  *out = *x;
  if (sambaOperatorResults(call->operator) == 1)
    return NULL;
  const SambaAttribute *dtype = sambaOperatorCallFind(call, "dtype");
  out[1] = *x;
  for (uint32_t axis = x->rank - (uint32_t)count; axis < x->rank; ++axis)
    out[1].dims[axis] = 1;
  out[1].dtype = dtype ? dtype->value.dtype : x->dtype;
  out[2] = out[1];

  return sambaCheckDType(4, "attribute 'dtype'", out[1].dtype, SAMBA_SET_FLOAT);
}

/* The flags of the last `count` axes; returns how many elements they span. */
static int64_t lastAxes(const SambaTensorType *x, size_t count, bool *out_reduced) {
  int64_t elements = 1;
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    if ((out_reduced[axis] = axis + count >= x->rank))
      elements *= x->dims[axis];
  return elements;
}

static SambaStatus stagesLayerNorm(const SambaOperatorCall *call, SambaStageGraph *graph,
                                   const uint32_t *operands, const uint32_t *results,
                                   const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  SambaComposition composition = {graph, call->operator->name, layer};
  bool reduced[SAMBA_MAX_RANK];
  int64_t count =
      lastAxes(x, sambaOperatorCallFind(call, "normalized_shape")->value.integers.size, reduced);
  uint32_t mean =
      sambaComposeDivide(&composition,
                         sambaComposeReduce(&composition, operands[0], reduced,
                                            SAMBA_LANE_REDUCE_ADD, SAMBA_REDUCE_PLAIN, 0),
                         count);
  uint32_t squares = sambaComposeReduce(&composition, operands[0], reduced, SAMBA_LANE_REDUCE_ADD,
                                        SAMBA_REDUCE_DEVIATION, mean);
  uint32_t inverse = sambaComposeInverseDeviation(&composition, squares, count,
                                                  sambaOperatorCallFloat(call, "eps"));
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, graph, composition.name, layer, results[0]);
  uint16_t values[5] = {sambaStageBroadcastOperand(&builder, operands[0]),
                        sambaStageBroadcastOperand(&builder, mean),
                        sambaStageBroadcastOperand(&builder, inverse)};
  for (uint32_t i = 1; i < call->operand_count; ++i)
    values[2 + i] = sambaStageBroadcastOperand(&builder, operands[i]);
  uint16_t value =
      sambaLane2(&builder, SAMBA_LANE_MUL,
                 sambaLane2(&builder, SAMBA_LANE_SUB, values[0], values[1]), values[2]);
  if (call->operand_count > 1)
    value = sambaLane2(&builder, SAMBA_LANE_MUL, value, values[3]);
  if (call->operand_count > 2)
    value = sambaLane2(&builder, SAMBA_LANE_ADD, value, values[4]);
  sambaStageEndRounded(&builder, value);
  if (sambaOperatorResults(call->operator) == 3) {
    sambaStageConvert(graph, composition.name, layer, mean, results[1]);
    sambaStageConvert(graph, composition.name, layer, inverse, results[2]);
  }

  return NULL;
}

/* layer_norm and the statistics one after the other, with the same roundings. */
static SambaStatus decomposeNativeLayerNorm(const SambaOperatorCall *call,
                                            SambaExpansion *expansion, const uint32_t *operands,
                                            uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  const SambaAttribute *shape = sambaOperatorCallFind(call, "normalized_shape");
  const SambaAttribute *dtype = sambaOperatorCallFind(call, "dtype");
  size_t count = shape->value.integers.size;
  SambaDType statistics = dtype ? dtype->value.dtype : x->dtype;
  double epsilon = sambaOperatorCallFloat(call, "eps");
  int64_t dims[SAMBA_MAX_RANK];

  for (size_t i = 0; i < count; ++i)
    dims[i] = (int64_t)(x->rank - count + i);
  SambaAttribute normalized[] = {*shape, sambaFloatAttribute("eps", epsilon)};
  SambaAttribute reduced[] = {sambaIntsAttribute("dim", dims, count),
                              sambaBoolAttribute("keepdim", true)};
  uint32_t wide = sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32);
  uint32_t mean = sambaExpandCall(expansion, "mean", 1, &wide, 2, reduced);
  uint32_t centered = sambaExpandBinary(expansion, "sub", wide, mean);
  uint32_t squares = sambaExpandBinary(expansion, "mul", centered, centered);
  uint32_t variance = sambaExpandCall(expansion, "mean", 1, &squares, 2, reduced);
  uint32_t inverse = sambaExpandUnary(expansion, "rsqrt",
                                      sambaExpandWithNumber(expansion, "add", variance, epsilon));
  out_results[0] =
      sambaExpandCall(expansion, "layer_norm", call->operand_count, operands, 2, normalized);
  out_results[1] = sambaExpandCast(expansion, mean, statistics);
  out_results[2] = sambaExpandCast(expansion, inverse, statistics);

  return NULL;
}

static SambaStatus stagesRmsNorm(const SambaOperatorCall *call, SambaStageGraph *graph,
                                 const uint32_t *operands, const uint32_t *results,
                                 const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  SambaComposition composition = {graph, call->operator->name, layer};
  bool reduced[SAMBA_MAX_RANK];
  int64_t count =
      lastAxes(x, sambaOperatorCallFind(call, "normalized_shape")->value.integers.size, reduced);
  uint32_t squares = sambaComposeReduce(&composition, operands[0], reduced, SAMBA_LANE_REDUCE_ADD,
                                        SAMBA_REDUCE_SQUARE, 0);
  uint32_t inverse = sambaComposeInverseDeviation(&composition, squares, count,
                                                  sambaOperatorCallFloat(call, "eps"));
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, graph, composition.name, layer, results[0]);
  uint16_t input = sambaStageBroadcastOperand(&builder, operands[0]);
  uint16_t factor = sambaStageBroadcastOperand(&builder, inverse);
  uint16_t weight = 0;
  if (call->operand_count > 1)
    weight = sambaStageBroadcastOperand(&builder, operands[1]);
  uint16_t value = sambaLane2(&builder, SAMBA_LANE_MUL, input, factor);
  if (call->operand_count > 1)
    value = sambaLane2(&builder, SAMBA_LANE_MUL, value, weight);
  sambaStageEndRounded(&builder, value);

  return NULL;
}

static SambaStatus inferGroupNorm(const SambaOperatorCall *call, SambaTensorType *out) {
  static const char *const names[] = {"", "the weight", "the bias"};
  const SambaTensorType *x = &call->operands[0];
  int64_t groups = sambaOperatorCallInt(call, "num_groups");
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the input", x, 2, SAMBA_MAX_RANK - 1));
  if (groups < 1 || x->dims[1] % groups)
    return sambaStatusMake(SAMBA_INVALID, "(C3) %lld groups do not divide %lld channels",
                           (long long)groups, (long long)x->dims[1]);
  for (uint32_t i = 1; i < call->operand_count; ++i)
    SAMBA_RETURN_IF_ERROR(sambaCheckNormParameter(call, 4, i, names[i], 1, &x->dims[1]));
  *out = *x;
  return NULL;
}

/* Maps axes of x [N, C, ..] to the dimensions of [N, group, channel, ..]. */
static void mapGrouped(SambaStageBuilder *builder, uint16_t operand, uint32_t rank,
                       int64_t channels, const uint32_t *dims) {
  sambaStageAxis(builder, operand, 0)->coefficients[dims[0]] = 1;
  sambaStageAxis(builder, operand, 1)->coefficients[dims[1]] = channels;
  for (uint32_t axis = 1; axis < rank; ++axis)
    sambaStageAxis(builder, operand, axis)->coefficients[dims[axis + 1]] = 1;
}

/* A sum over channel and spatial dimensions per (n, group): of x, or of (x - mean)^2 with mean [N,
 * G]. */
static uint32_t groupSum(const SambaComposition *composition, uint32_t x, int64_t groups,
                         bool deviation, uint32_t mean) {
  SambaStageTensor type = composition->graph->tensors[x];
  int64_t channels = type.dims[1] / groups;
  uint32_t result = sambaStageIntermediate(composition->graph, SAMBA_DTYPE_F32, 2,
                                           (int64_t[]){type.dims[0], groups});
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                             result);
  uint32_t dims[SAMBA_MAX_RANK + 1] = {0, 1, sambaStageDim(&builder, channels, true)};
  for (uint32_t axis = 2; axis < type.rank; ++axis)
    dims[axis + 1] = sambaStageDim(&builder, type.dims[axis], true);
  uint16_t value = sambaStageOperand(&builder, x);
  mapGrouped(&builder, value, type.rank, channels, dims);
  if (deviation) {
    value =
        sambaLane2(&builder, SAMBA_LANE_SUB, value, sambaStageMappedOperand(&builder, mean, dims));
    value = sambaLane2(&builder, SAMBA_LANE_MUL, value, value);
  }

  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD, value));
  return result;
}

/* The result is written as [N, group, channel, ..], another shape of the same bytes. */
static SambaStatus stagesGroupNorm(const SambaOperatorCall *call, SambaStageGraph *graph,
                                   const uint32_t *operands, const uint32_t *results,
                                   const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  SambaComposition composition = {graph, call->operator->name, layer};
  int64_t groups = sambaOperatorCallInt(call, "num_groups");
  int64_t channels = x->dims[1] / groups;
  int64_t count = sambaTensorTypeElements(x) / x->dims[0] / groups;
  uint32_t mean = sambaComposeDivide(&composition,
                                     groupSum(&composition, operands[0], groups, false, 0), count);
  uint32_t inverse = sambaComposeInverseDeviation(
      &composition, groupSum(&composition, operands[0], groups, true, mean), count,
      sambaOperatorCallFloat(call, "eps"));
  int64_t shape[SAMBA_MAX_RANK] = {x->dims[0], groups, channels};
  uint32_t dims[SAMBA_MAX_RANK];

  memcpy(&shape[3], &x->dims[2], (x->rank - 2) * sizeof *shape);
  uint32_t grouped = sambaStageIntermediate(graph, x->dtype, x->rank + 1, shape);
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, composition.name, layer, grouped);
  for (uint32_t axis = 0; axis <= x->rank; ++axis)
    dims[axis] = axis;
  uint16_t input = sambaStageOperand(&builder, operands[0]);
  uint16_t values[5];
  mapGrouped(&builder, input, x->rank, channels, dims);
  values[0] = sambaStageMappedOperand(&builder, mean, dims);
  values[1] = sambaStageMappedOperand(&builder, inverse, dims);

  for (uint32_t i = 1; i < call->operand_count; ++i) {
    values[1 + i] = sambaStageOperand(&builder, operands[i]);
    sambaStageAxis(&builder, values[1 + i], 0)->coefficients[1] = channels;
    sambaStageAxis(&builder, values[1 + i], 0)->coefficients[2] = 1;
  }

  uint16_t value = sambaLane2(&builder, SAMBA_LANE_MUL,
                              sambaLane2(&builder, SAMBA_LANE_SUB, input, values[0]), values[1]);
  if (call->operand_count > 1)
    value = sambaLane2(&builder, SAMBA_LANE_MUL, value, values[2]);
  if (call->operand_count > 2)
    value = sambaLane2(&builder, SAMBA_LANE_ADD, value, values[3]);
  sambaStageEndRounded(&builder, value);
  graph->tensors[results[0]].alias_of = grouped;

  return NULL;
}

static SambaStatus inferMeanVariance(const SambaOperatorCall *call, SambaTensorType *out) {
  bool reduced[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", call->operands[0].dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaReducedAxes(2, call, reduced));
  *out = call->operands[0];
  return NULL;
}

static SambaStatus stagesMeanVariance(const SambaOperatorCall *call, SambaStageGraph *graph,
                                      const uint32_t *operands, const uint32_t *results,
                                      const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  SambaComposition composition = {graph, call->operator->name, layer};
  bool reduced[SAMBA_MAX_RANK];

  SAMBA_RETURN_IF_ERROR(sambaReducedAxes(2, call, reduced));
  int64_t count = 1;
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    count *= reduced[axis] ? x->dims[axis] : 1;
  uint32_t mean =
      sambaComposeDivide(&composition,
                         sambaComposeReduce(&composition, operands[0], reduced,
                                            SAMBA_LANE_REDUCE_ADD, SAMBA_REDUCE_PLAIN, 0),
                         count);
  uint32_t squares = sambaComposeReduce(&composition, operands[0], reduced, SAMBA_LANE_REDUCE_ADD,
                                        SAMBA_REDUCE_DEVIATION, mean);
  SambaStageBuilder builder;
  SambaStageTensor like = graph->tensors[squares];
  uint32_t deviation = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, like.rank, like.dims);
  sambaStageBeginElementwise(&builder, graph, composition.name, layer, deviation);
  uint16_t value = sambaStageBroadcastOperand(&builder, squares);
  value = sambaLane1(
      &builder, SAMBA_LANE_SQRT,
      sambaLane2(&builder, SAMBA_LANE_DIV, value, sambaLaneFloat(&builder, (double)count)));
  double epsilon = sambaOperatorCallFloat(call, "eps");
  sambaStageEnd(&builder,
                sambaLane2(&builder, SAMBA_LANE_ADD, value, sambaLaneFloat(&builder, epsilon)));

  sambaStageBeginElementwise(&builder, graph, composition.name, layer, results[0]);
  uint16_t input = sambaStageBroadcastOperand(&builder, operands[0]);
  uint16_t middle = sambaStageBroadcastOperand(&builder, mean);
  uint16_t divisor = sambaStageBroadcastOperand(&builder, deviation);
  sambaStageEndRounded(&builder,
                       sambaLane2(&builder, SAMBA_LANE_DIV,
                                  sambaLane2(&builder, SAMBA_LANE_SUB, input, middle), divisor));
  return NULL;
}

#define LAST_DIMENSIONS                                                                            \
  "x has a float dtype, the parameters have x's or f32",                                           \
      "normalized_shape is the last dimensions of x, at least one",                                \
      "the parameters have that shape"

const SambaOperator sambaNormOperators[] = {
    {.name = "layer_norm",
     .summary = "normalization over the last dimensions, then * weight + bias",
     .computes = "(x - mean) / sqrt(variance + eps) over the dimensions normalized_shape, then * "
                 "weight + bias, where they are given.",
     .operands = {"input", "weight?", "bias?"},
     .attributes = {REQUIRED(INTS, "normalized_shape", "the last dimensions of x"),
                    FLOAT("eps", 1e-5)},
     .constraints = {LAST_DIMENSIONS},
     .example = "%y = samba.layer_norm %x, %w, %b {normalized_shape = [6]} : tensor<2x4x6xf32>, "
                "tensor<6xf32>, tensor<6xf32>",
     .source = "torch.nn.functional.layer_norm",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferLastDimensions,
     .differentiate = sambaGradientLayerNorm,
     .stages = stagesLayerNorm},
    {.name = "native_layer_norm",
     .summary = "layer_norm with its statistics",
     .computes = "As samba.layer_norm; the other results are the mean and 1 / sqrt(variance + "
                 "eps), with the normalized dimensions as 1, in `dtype`.",
     .operands = {"input", "weight?", "bias?"},
     .results = {"result", "mean", "inverse_deviation"},
     .attributes = {REQUIRED(INTS, "normalized_shape", "the last dimensions of x"),
                    FLOAT("eps", 1e-5), OPTIONAL(DTYPE, "dtype", "of the statistics; absent: x's")},
     .constraints = {LAST_DIMENSIONS, "dtype is a float"},
     .example = "%y, %m, %d = samba.native_layer_norm %x, %w, %b {normalized_shape = [6]} : "
                "tensor<2x4x6xf32>, tensor<6xf32>, tensor<6xf32>",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferLastDimensions,
     .stages = stagesLayerNorm,
     .differentiate = sambaGradientNativeLayerNorm,
     .decompose = decomposeNativeLayerNorm},
    {.name = "rms_norm",
     .summary = "x / sqrt(mean(x^2) + eps) over the last dimensions, then * weight",
     .computes =
         "x / sqrt(mean(x^2) + eps), the mean over the dimensions normalized_shape, then * weight.",
     .operands = {"input", "weight?"},
     .attributes = {REQUIRED(INTS, "normalized_shape", "the last dimensions of x"),
                    FLOAT("eps", 1e-5)},
     .constraints = {LAST_DIMENSIONS},
     .example = "%y = samba.rms_norm %x, %w {normalized_shape = [6], eps = 1.0e-6} : "
                "tensor<2x4x6xf32>, tensor<6xf32>",
     .source = "torch.nn.functional.rms_norm",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferLastDimensions,
     .differentiate = sambaGradientRmsNorm,
     .stages = stagesRmsNorm},
    {.name = "group_norm",
     .summary = "normalization over groups of channels, then * weight + bias per channel",
     .computes = "Each of num_groups groups of channels is normalized together with the spatial "
                 "dimensions.",
     .operands = {"input", "weight?", "bias?"},
     .attributes = {REQUIRED(INT, "num_groups", "divides the channels"), FLOAT("eps", 1e-5)},
     .constraints = {"x has a float dtype, the parameters x's or f32", "x has rank 2 to 7",
                     "num_groups divides C", "the parameters are [C]"},
     .example = "%y = samba.group_norm %x, %w, %b {num_groups = 2} : tensor<2x4x6xf32>, "
                "tensor<4xf32>, tensor<4xf32>",
     .source = "torch.nn.functional.group_norm",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferGroupNorm,
     .differentiate = sambaGradientGroupNorm,
     .stages = stagesGroupNorm},
    {.name = "mean_variance_norm",
     .summary = "(x - mean) / (standard deviation + eps) over the dimensions dim",
     .computes = "The mean and the variance are those over the dimensions `dim`, all without it.",
     .operands = {"input"},
     .attributes = {OPTIONAL(INTS, "dim", "the dimensions; absent or empty: all"),
                    FLOAT("eps", 1e-9)},
     .constraints = {"x has a float dtype",
                     "dim names dimensions of x, each once, negative from the end"},
     .example = "%y = samba.mean_variance_norm %x {dim = [0, 2]} : tensor<2x3x4xf32>",
     .source = "ONNX MeanVarianceNormalization",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferMeanVariance,
     .differentiate = sambaGradientMeanVarianceNorm,
     .stages = stagesMeanVariance},
    {0}};
