/* softmax, log_softmax and logsumexp. The largest element is subtracted before exp; sums and
 * quotients are f32. */
#include "dialect/samba/table/calls/compose.h"
#include "dialect/samba/table/reduce/reduce_gradients.h"

#include <math.h>

static SambaStatus inferSoftmax(const SambaOperatorCall *call, SambaTensorType *out) {
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(
      sambaCheckDType(1, "the operand", call->operands[0].dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", call->operands[0].rank, &axis));
  *out = call->operands[0];
  return NULL;
}

static SambaStatus stagesSoftmax(const SambaOperatorCall *call, SambaStageGraph *graph,
                                 const uint32_t *operands, const uint32_t *results,
                                 const char *layer) {
  SambaComposition composition = {graph, call->operator->name, layer};
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", call->operands[0].rank, &axis));
  sambaComposeSoftmax(&composition, operands[0], axis, results[0]);
  return NULL;
}

/* (x - m) - log(sum of exp(x - m)) */
static SambaStatus stagesLogSoftmax(const SambaOperatorCall *call, SambaStageGraph *graph,
                                    const uint32_t *operands, const uint32_t *results,
                                    const char *layer) {
  SambaComposition composition = {graph, call->operator->name, layer};
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", call->operands[0].rank, &axis));
  bool reduced[SAMBA_MAX_RANK] = {false};
  reduced[axis] = true;
  uint32_t maximum = sambaComposeReduce(&composition, operands[0], reduced, SAMBA_LANE_REDUCE_MAX,
                                        SAMBA_REDUCE_PLAIN, 0);
  uint32_t sum = sambaComposeReduce(&composition, operands[0], reduced, SAMBA_LANE_REDUCE_ADD,
                                    SAMBA_REDUCE_EXPONENTIAL, maximum);
  SambaStageTensor like = graph->tensors[sum];
  uint32_t logarithm = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, like.rank, like.dims);
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, composition.name, layer, logarithm);
  uint16_t total = sambaStageBroadcastOperand(&builder, sum);
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_LOG, total));
  sambaStageBeginElementwise(&builder, graph, composition.name, layer, results[0]);
  uint16_t x = sambaStageBroadcastOperand(&builder, operands[0]);
  uint16_t m = sambaStageBroadcastOperand(&builder, maximum);
  uint16_t l = sambaStageBroadcastOperand(&builder, logarithm);
  sambaStageEndRounded(&builder, sambaLane2(&builder, SAMBA_LANE_SUB,
                                            sambaLane2(&builder, SAMBA_LANE_SUB, x, m), l));

  return NULL;
}

static SambaStatus inferLogsumexp(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  bool reduced[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaReducedAxes(2, call, reduced));
  *out = sambaReducedType(x, reduced, sambaKeepsDims(call));
  return NULL;
}

/* m + log(sum of exp(x - m)); m is 0 where the largest element is infinite. */
static SambaStatus stagesLogsumexp(const SambaOperatorCall *call, SambaStageGraph *graph,
                                   const uint32_t *operands, const uint32_t *results,
                                   const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  SambaComposition composition = {graph, call->operator->name, layer};
  bool reduced[SAMBA_MAX_RANK], keepdim = sambaKeepsDims(call);

  SAMBA_RETURN_IF_ERROR(sambaReducedAxes(2, call, reduced));
  SambaStageBuilder builder;
  if (x->rank == 0) { /* log(exp(x)) */
    sambaStageBeginElementwise(&builder, graph, composition.name, layer, results[0]);
    sambaStageEnd(&builder, sambaStageBroadcastOperand(&builder, operands[0]));
    return NULL;
  }

  uint32_t maximum = sambaComposeReduce(&composition, operands[0], reduced, SAMBA_LANE_REDUCE_MAX,
                                        SAMBA_REDUCE_PLAIN, 0);
  SambaStageTensor like = graph->tensors[maximum];
  uint32_t shift = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, like.rank, like.dims);

  sambaStageBeginElementwise(&builder, graph, composition.name, layer, shift);
  uint16_t m = sambaStageBroadcastOperand(&builder, maximum);
  uint16_t infinite = sambaLane2(&builder, SAMBA_LANE_EQ, sambaLane1(&builder, SAMBA_LANE_ABS, m),
                                 sambaLaneFloat(&builder, INFINITY));
  sambaStageEnd(&builder, sambaLaneSelect(&builder, infinite, sambaLaneFloat(&builder, 0), m));
  uint32_t sum = sambaComposeReduce(&composition, operands[0], reduced, SAMBA_LANE_REDUCE_ADD,
                                    SAMBA_REDUCE_EXPONENTIAL, shift);
  sambaStageBeginElementwise(&builder, graph, composition.name, layer, results[0]);
  uint16_t values[] = {sambaStageOperand(&builder, sum), sambaStageOperand(&builder, shift)};

  for (uint32_t axis = 0, dim = 0; axis < x->rank; ++axis) {
    for (int i = 0; !reduced[axis] && i < 2; ++i)
      sambaStageAxis(&builder, values[i], axis)->coefficients[dim] = 1;
    dim += !reduced[axis] || keepdim;
  }

  sambaStageEndRounded(&builder,
                       sambaLane2(&builder, SAMBA_LANE_ADD,
                                  sambaLane1(&builder, SAMBA_LANE_LOG, values[0]), values[1]));
  return NULL;
}

#define SOFTMAX                                                                                    \
  .operands = {"input"}, .attributes = {REQUIRED(INT, "dim", "negative: from the end")},           \
  .constraints = {"x has a float dtype", "dim names a dimension, negative from the end"},          \
  .builder = SAMBA_BUILDER_ALL, .dtypes = SAMBA_SET_FLOAT, .infer = inferSoftmax

const SambaOperator sambaSoftmaxOperators[] = {
    {.name = "softmax",
     .summary = "e^(x - m) / sum of e^(x - m), m the largest element along dim",
     .example = "%y = samba.softmax %x {dim = -1} : tensor<2x3xf32>",
     .source = "torch.nn.functional.softmax",
     .differentiate = sambaGradientSoftmax,
     .stages = stagesSoftmax,
     SOFTMAX},
    {.name = "log_softmax",
     .summary = "x - m - ln(sum of e^(x - m)), m the largest element along dim",
     .example = "%y = samba.log_softmax %x {dim = -1} : tensor<2x3xf32>",
     .source = "torch.nn.functional.log_softmax",
     .differentiate = sambaGradientLogSoftmax,
     .stages = stagesLogSoftmax,
     SOFTMAX},
    {.name = "logsumexp",
     .summary = "ln of the sum of e^x",
     .computes = "Over the dimensions `dim`, which disappear, or with keepdim become 1.",
     .operands = {"input"},
     .attributes = {OPTIONAL(INTS, "dim", "the dimensions; absent or empty: all"),
                    BOOL("keepdim", false, "reduced dimensions become 1")},
     .constraints = {"the operand's dtype is one that the operation is defined for",
                     "dim names dimensions of the operand, each once, negative from the end"},
     .example = "%y = samba.logsumexp %x {dim = [1], keepdim = true} : tensor<2x3x4xf32>",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferLogsumexp,
     .differentiate = sambaGradientLogsumexp,
     .stages = stagesLogsumexp},
    {0}};
