/* Divisions by norms: of a vector along a dimension, of neighbouring channels.
 *
 * Numerics, all in f32 with one rounding at the end: x / max((sum of |x|^p)^(1/p), eps), p = 2 by
 * products and a square root; x / (k + (alpha / size) * sum of x^2)^beta, the sum in ascending
 * order of channels. */
#include "dialect/samba/table/calls/compose.h"
#include "dialect/samba/table/norm/norm_gradients.h"

#include <math.h>

static SambaStatus inferNormalize(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  double p = sambaOperatorCallFloat(call, "p");
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", x->rank, &axis));
  if (!(p > 0) || isinf(p))
    return sambaStatusMake(SAMBA_INVALID,
                           "(C3) attribute 'p' is %g, but must be positive and finite", p);
  *out = *x;
  return NULL;
}

static SambaStatus stagesNormalize(const SambaOperatorCall *call, SambaStageGraph *graph,
                                   const uint32_t *operands, const uint32_t *results,
                                   const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  const char *name = call->operator->name;
  double p = sambaOperatorCallFloat(call, "p");
  uint32_t axis, dims[SAMBA_MAX_RANK];

  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", x->rank, &axis));
  SambaTensorType type = *x;
  type.dims[axis] = 1;
  uint32_t sum = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, type.rank, type.dims);
  uint32_t norm = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, type.rank, type.dims);
  SambaStageBuilder builder;
  sambaStageBegin(&builder, graph, name, layer, sum);
  for (uint32_t d = 0; d < x->rank; ++d)
    if (d != axis)
      builder.stage.output.axes[d]
          .coefficients[dims[d] = sambaStageDim(&builder, x->dims[d], false)] = 1;
  dims[axis] = sambaStageDim(&builder, x->dims[axis], true);
  uint16_t value = sambaStageMappedOperand(&builder, operands[0], dims);
  if (p == 2)
    value = sambaLane2(&builder, SAMBA_LANE_MUL, value, value);
  else
    value = sambaLane1(&builder, SAMBA_LANE_ABS, value);
  if (p != 1 && p != 2)
    value = sambaLane2(&builder, SAMBA_LANE_POW, value, sambaLaneFloat(&builder, p));
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD, value));

  sambaStageBeginElementwise(&builder, graph, name, layer, norm);
  value = sambaStageBroadcastOperand(&builder, sum);
  if (p == 2)
    value = sambaLane1(&builder, SAMBA_LANE_SQRT, value);
  else if (p != 1)
    value = sambaLane2(&builder, SAMBA_LANE_POW, value, sambaLaneFloat(&builder, 1 / p));
  double epsilon = sambaOperatorCallFloat(call, "eps");
  sambaStageEnd(&builder,
                sambaLane2(&builder, SAMBA_LANE_MAX, value, sambaLaneFloat(&builder, epsilon)));

  sambaStageBeginElementwise(&builder, graph, name, layer, results[0]);
  uint16_t input = sambaStageBroadcastOperand(&builder, operands[0]);
  uint16_t divisor = sambaStageBroadcastOperand(&builder, norm);
  sambaStageEndRounded(&builder, sambaLane2(&builder, SAMBA_LANE_DIV, input, divisor));

  return NULL;
}

static SambaStatus inferLocalResponse(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  int64_t size = sambaOperatorCallInt(call, "size");
  int64_t before = sambaOperatorCallIntOr(call, "before", size / 2);
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the input", x, 2, SAMBA_MAX_RANK));
  if (size < 1 || size > (int64_t)1 << 40)
    return sambaStatusMake(SAMBA_INVALID, "(C3) attribute 'size' is %lld, but must be 1 or more",
                           (long long)size);
  if (before < 0 || before >= size)
    return sambaStatusMake(SAMBA_INVALID, "(C4) attribute 'before' is %lld, but must be 0 to %lld",
                           (long long)before, (long long)size - 1);
  *out = *x;
  return NULL;
}

static SambaStatus stagesLocalResponse(const SambaOperatorCall *call, SambaStageGraph *graph,
                                       const uint32_t *operands, const uint32_t *results,
                                       const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  const char *name = call->operator->name;
  int64_t size = sambaOperatorCallInt(call, "size");
  int64_t before = sambaOperatorCallIntOr(call, "before", size / 2);
  uint32_t sum = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, x->rank, x->dims);
  uint32_t dims[SAMBA_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, graph, name, layer, sum);
  uint32_t window = sambaStageDim(&builder, size, true);
  uint16_t value = sambaStageMappedOperand(&builder, operands[0], dims);
  SambaAxisMap *channel = sambaStageAxis(&builder, value, 1);
  channel->coefficients[window] = 1;
  channel->constant = -before;
  if (size > 1)
    sambaStageGuard(&builder, value, 0);
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD,
                                     sambaLane2(&builder, SAMBA_LANE_MUL, value, value)));

  double alpha = sambaOperatorCallFloat(call, "alpha");
  double beta = sambaOperatorCallFloat(call, "beta");

  sambaStageBeginElementwise(&builder, graph, name, layer, results[0]);
  value = sambaStageBroadcastOperand(&builder, sum);
  uint16_t input = sambaStageBroadcastOperand(&builder, operands[0]);
  value =
      sambaLane2(&builder, SAMBA_LANE_MUL, value, sambaLaneFloat(&builder, alpha / (double)size));
  value = sambaLane2(&builder, SAMBA_LANE_ADD, value,
                     sambaLaneFloat(&builder, sambaOperatorCallFloat(call, "k")));
  value = sambaLane2(&builder, SAMBA_LANE_POW, value, sambaLaneFloat(&builder, beta));
  sambaStageEndRounded(&builder, sambaLane2(&builder, SAMBA_LANE_DIV, input, value));

  return NULL;
}

const SambaOperator sambaVectorNormOperators[] = {
    {.name = "normalize",
     .summary = "x / max(p-norm along dim, eps)",
     .computes = "x / max((sum of |x|^p along dim)^(1/p), eps).",
     .operands = {"input"},
     .attributes = {FLOAT("p", 2), REQUIRED(INT, "dim", "negative: from the end"),
                    FLOAT("eps", 1e-12)},
     .constraints = {"x has a float dtype", "dim names a dimension, negative from the end",
                     "p is positive and finite"},
     .example = "%y = samba.normalize %x {p = 1.0, dim = 1} : tensor<2x3xf32>",
     .source = "torch.nn.functional.normalize",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferNormalize,
     .differentiate = sambaGradientNormalize,
     .stages = stagesNormalize},
    {.name = "local_response_norm",
     .summary = "x / (k + alpha / size * sum of x^2 over neighbouring channels)^beta",
     .computes = "The sum runs over `size` channels, from `before` channels before the element's "
                 "own; channels that do not exist add nothing.",
     .operands = {"input"},
     .attributes = {REQUIRED(INT, "size", "channels of a window"), FLOAT("alpha", 1e-4),
                    FLOAT("beta", 0.75), FLOAT("k", 1),
                    OPTIONAL(INT, "before",
                             "channels in front of the element's own; absent: size / 2")},
     .constraints = {"x has a float dtype", "x has rank 2 or more, N x C x ..", "size is 1 or more",
                     "before is 0 to size - 1"},
     .example = "%y = samba.local_response_norm %x {size = 3, alpha = 2.0e-4} : tensor<2x5x4xf32>",
     .source = "torch.nn.functional.local_response_norm",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferLocalResponse,
     .differentiate = sambaGradientLocalResponseNorm,
     .stages = stagesLocalResponse},
    {0}};
