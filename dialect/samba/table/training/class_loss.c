/* Losses of classes: nll_loss, cross_entropy, alone and with what its gradient takes. The target's
 * class is found by comparing it with every class, so a target that is ignore_index or names no
 * class counts nothing: 0, and no weight in the mean. All is f32, rounded once. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/training/loss_gradients.h"

typedef enum { REDUCE_MEAN, REDUCE_SUM, REDUCE_NONE } Reduction;

static SambaStatus reductionOf(const SambaOperatorCall *call, Reduction *out_reduction) {
  uint32_t choice;
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(6, call, "reduction", &choice));
  *out_reduction = (Reduction)choice;
  return NULL;
}

static bool keepsSlopes(const SambaOperatorCall *call) {
  return call->operator->results[0] != NULL;
}

/* The slopes of a table are the gradient, but for a factor of each row that whoever multiplies it
 * takes (samba-move-row-factors). Others would be written, read and written again. */
static bool trainsWithSlopes(const SambaOperatorCall *call) { return call->operands[0].rank == 2; }

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *target = &call->operands[1];

  Reduction reduction;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(2, "the target", target->dtype, SAMBA_SET_INTEGER));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "the input", x, 1, SAMBA_MAX_RANK));
  uint32_t classes = x->rank > 1;
  for (uint32_t d = 0; d < x->rank; ++d)
    if (d != classes)
      out->dims[out->rank++] = x->dims[d];
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(4, "the target", target, out->rank, out->dims));
  if (call->operand_count == 3) {
    SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the weight", call->operands[2].dtype,
                                          1u << x->dtype | 1u << SAMBA_DTYPE_F32));
    SAMBA_RETURN_IF_ERROR(
        sambaCheckShape(5, "the weight", &call->operands[2], 1, &x->dims[classes]));
  }

  SAMBA_RETURN_IF_ERROR(reductionOf(call, &reduction));
  out->dtype = x->dtype;
  if (reduction != REDUCE_NONE)
    out->rank = 0;
  if (keepsSlopes(call))
    out[1] = *x;
  return NULL;
}

/* target == class, and is not to be ignored */
static uint16_t counts(SambaStageBuilder *builder, const SambaOperatorCall *call, uint16_t target,
                       uint32_t class_dim) {
  const SambaAttribute *ignored = sambaOperatorCallFind(call, "ignore_index");
  SambaDType lane = (SambaDType)builder->types[target];
  uint16_t hit =
      sambaLane2(builder, SAMBA_LANE_EQ, sambaLaneCounter(builder, class_dim, lane), target);
  if (!ignored || ignored->value.integer < 0 || ignored->value.integer > INT32_MAX)
    return hit; /* such a target names no class anyway */
  uint16_t other = sambaLaneInteger(builder, lane, ignored->value.integer);
  return sambaLane2(builder, SAMBA_LANE_AND, hit,
                    sambaLane2(builder, SAMBA_LANE_NE, target, other));
}

/* The sum over the classes, and with `all` over the targets too, of (hit ? loss or weight : 0): of
 * a target one summand is not 0 at most. */
static void pickStage(const SambaOperatorCall *call, SambaStageGraph *graph,
                      const uint32_t *operands, const char *layer, bool weightAlone, bool all,
                      uint32_t result) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t classes = x->rank > 1;
  uint32_t dims[SAMBA_MAX_RANK];
  uint32_t targetDims[SAMBA_MAX_RANK];
  bool weighted = call->operand_count == 3;
  SambaStageBuilder builder;

  sambaStageBegin(&builder, graph, call->operator->name, layer, result);
  for (uint32_t d = 0, t = 0; d < x->rank; ++d)
    if (d != classes) {
      dims[d] = targetDims[t] = sambaStageDim(&builder, x->dims[d], all);
      if (!all)
        builder.stage.output.axes[t].coefficients[dims[d]] = 1;
      ++t;
    }
  uint32_t class_dim = dims[classes] = sambaStageDim(&builder, x->dims[classes], true);
  uint16_t value = weightAlone ? 0 : sambaStageMappedOperand(&builder, operands[0], dims);
  uint16_t weight = 0;
  uint16_t target = sambaStageMappedOperand(&builder, operands[1], targetDims);
  if (weighted)
    weight = sambaStageMappedOperand(&builder, operands[2], &class_dim);
  if (weightAlone)
    value = weighted ? weight : sambaLaneFloat(&builder, 1);
  else {
    value = sambaLane1(&builder, SAMBA_LANE_NEG, value);
    value = weighted ? sambaLane2(&builder, SAMBA_LANE_MUL, value, weight) : value;
  }

  value = sambaLaneSelect(&builder, counts(&builder, call, target, class_dim), value,
                          sambaLaneFloat(&builder, 0));
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD, value));
}

static SambaStatus stagesNll(const SambaOperatorCall *call, SambaStageGraph *graph,
                             const uint32_t *operands, const uint32_t *results, const char *layer) {
  Reduction reduction;
  SAMBA_RETURN_IF_ERROR(reductionOf(call, &reduction));
  if (reduction != REDUCE_MEAN) {
    uint32_t loss = sambaStageIntermediateLike(graph, results[0], SAMBA_DTYPE_F32);
    pickStage(call, graph, operands, layer, false, reduction == REDUCE_SUM, loss);
    sambaStageConvert(graph, call->operator->name, layer, loss, results[0]);
    return NULL;
  }

  uint32_t sums[2];
  for (int i = 0; i < 2; ++i) {
    sums[i] = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, 0, NULL);
    pickStage(call, graph, operands, layer, i == 1, true, sums[i]);
  }

  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  uint16_t total = sambaStageBroadcastOperand(&builder, sums[0]);
  uint16_t weight = sambaStageBroadcastOperand(&builder, sums[1]);
  sambaStageEndRounded(&builder, sambaLane2(&builder, SAMBA_LANE_DIV, total, weight));

  return NULL;
}

/* The sum of what the targets' classes count for: their weights, or 1. What ignore_index names, and
 * what names no class, counts nothing. */
static uint32_t weightOfTargets(const SambaOperatorCall *call, SambaExpansion *expansion,
                                const uint32_t *values) {
  const SambaTensorType *x = &call->operands[0];
  const SambaAttribute *ignored = sambaOperatorCallFind(call, "ignore_index");
  double classes = (double)x->dims[x->rank > 1];

  uint32_t target = sambaExpandCast(expansion, values[1], SAMBA_DTYPE_I64);
  uint32_t counted = gradientAnd(expansion, gradientIs(expansion, "ge", target, 0),
                                 gradientIs(expansion, "lt", target, classes));
  if (ignored)
    counted = gradientAnd(expansion, counted,
                          gradientIs(expansion, "ne", target, (double)ignored->value.integer));
  uint32_t weight = gradientNumber(expansion, 1);
  if (call->operand_count == 3) { /* the loss of -1 at every class */
    uint32_t minus =
        sambaExpandBroadcast(expansion, gradientNumber(expansion, -1), x->rank, x->dims);
    SambaAttribute none = sambaStringAttribute("reduction", "none");
    weight = sambaExpandCall(expansion, "nll_loss", 3, (uint32_t[]){minus, values[1], values[2]}, 1,
                             &none);
  }

  return sambaExpandUnary(expansion, "sum", gradientWhereElseZero(expansion, counted, weight));
}

/* softmax - 1 at the target's class: what one more of an element adds to its target's loss. */
static uint32_t slopesOf(const SambaOperatorCall *call, SambaExpansion *expansion,
                         uint32_t logarithms, uint32_t target) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t powers = sambaExpandUnary(expansion, "exp", logarithms);
  uint32_t slopes = gradientSub(expansion, powers, sambaExpandOneHot(expansion, x, target));
  return sambaExpandCast(expansion, slopes, x->dtype);
}

/* Every target's loss, and then their sum: the losses of a block of rows are pipelined behind its
 * logarithms, which no memory holds. So are the slopes. */
static SambaStatus decomposeCrossEntropy(const SambaOperatorCall *call, SambaExpansion *expansion,
                                         const uint32_t *operands, uint32_t *out_results) {
  Reduction reduction;
  SAMBA_RETURN_IF_ERROR(reductionOf(call, &reduction));
  SambaAttribute dim = sambaIntAttribute("dim", call->operands[0].rank > 1);
  uint32_t x = sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32);
  uint32_t values[3];
  for (uint32_t i = 1; i < call->operand_count; ++i)
    values[i] = i == 2 ? sambaExpandCast(expansion, operands[i], SAMBA_DTYPE_F32) : operands[i];
  values[0] = sambaExpandCall(expansion, "log_softmax", 1, &x, 1, &dim);

  const SambaAttribute *ignored = sambaOperatorCallFind(call, "ignore_index");
  SambaAttribute attributes[2];
  uint32_t attribute_count = 0;
  attributes[attribute_count++] = sambaStringAttribute("reduction", "none");
  if (ignored)
    attributes[attribute_count++] = *ignored;
  uint32_t loss = sambaExpandCall(expansion, "nll_loss", call->operand_count, values,
                                  attribute_count, attributes);
  if (keepsSlopes(call))
    out_results[1] = slopesOf(call, expansion, values[0], operands[1]);

  if (reduction != REDUCE_NONE)
    loss = sambaExpandUnary(expansion, "sum", loss);
  if (reduction == REDUCE_MEAN)
    loss = gradientDiv(expansion, loss, weightOfTargets(call, expansion, values));
  out_results[0] = sambaExpandCast(expansion, loss, call->operands[0].dtype);

  return NULL;
}

#define COMPUTES_CLASS_LOSS                                                                        \
  "t is target[n, d..]; w is 1 without a weight. The result is the mean (the sum divided by the "  \
  "sum of w[t]), the sum or, with reduction = \"none\", every loss. A target that is "             \
  "ignore_index or names no class counts nothing."
#define CLASS_LOSS                                                                                 \
  .operands = {"input", "target", "weight?"},                                                      \
  .attributes = {OPTIONAL(INT, "ignore_index", "absent: none"),                                    \
                 CHOICE("reduction", "mean", "mean, sum, none")},                                  \
  .constraints = {"x has a float dtype, the weight x's or f32",                                    \
                  "targets are integers",                                                          \
                  "x has rank 1 to 8, [C] or [N, C, d..]",                                         \
                  "the target is x without the dimension of classes",                              \
                  "the weight is [C]",                                                             \
                  "reduction is one of those named"},                                              \
  .dtypes = SAMBA_SET_FLOAT, .infer = infer

const SambaOperator sambaClassLossOperators[] = {
    {.name = "nll_loss",
     .summary = "-x[n, t, d..] * w[t]",
     .computes = COMPUTES_CLASS_LOSS,
     .example = "%l = samba.nll_loss %x, %t, %w {ignore_index = 1, reduction = \"mean\"} : "
                "tensor<2x3x4xf32>, tensor<2x4xi64>, tensor<3xf32>",
     .source = "torch.nn.functional.nll_loss",
     .stages = stagesNll,
     .differentiate = sambaGradientNllLoss,
     CLASS_LOSS},
    {.name = "cross_entropy",
     .summary = "-log_softmax(x)[n, t, d..] * w[t]",
     .computes = COMPUTES_CLASS_LOSS,
     .example = "%l = samba.cross_entropy %x, %t, %w {ignore_index = 1, reduction = \"mean\"} : "
                "tensor<2x3x4xf32>, tensor<2x4xi64>, tensor<3xf32>",
     .source = "torch.nn.functional.cross_entropy",
     .trained_as = "cross_entropy_with_slopes",
     .trained_so = trainsWithSlopes,
     .decompose = decomposeCrossEntropy,
     .differentiate = sambaGradientCrossEntropy,
     CLASS_LOSS},
    {.name = "cross_entropy_with_slopes",
     .summary = "cross_entropy with the slope of each target's loss",
     .computes =
         "result as samba.cross_entropy; slopes = softmax(x) - one_hot(target) along the "
         "classes, which its gradient takes: neither w nor the reduction is in them, and no "
         "target is left out.",
     .results = {"result", "slopes"},
     .example = "%l, %s = samba.cross_entropy_with_slopes %x, %t {reduction = \"mean\"} : "
                "tensor<2x3x4xf32>, tensor<2x4xi64>",
     .source = "torch.nn.functional.cross_entropy",
     .decompose = decomposeCrossEntropy,
     .differentiate = sambaGradientCrossEntropy,
     CLASS_LOSS},
    {0}};
