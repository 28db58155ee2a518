/* The steps that composite operators are made of; see compose.h. */
#include "dialect/samba/table/calls/compose.h"

static uint32_t statisticLike(const SambaComposition *composition, uint32_t x,
                              const bool *reduced) {
  SambaStageTensor like = composition->graph->tensors[x];
  for (uint32_t axis = 0; axis < like.rank; ++axis)
    if (reduced[axis])
      like.dims[axis] = 1;
  return sambaStageIntermediate(composition->graph, SAMBA_DTYPE_F32, like.rank, like.dims);
}

uint32_t sambaComposeReduce(const SambaComposition *composition, uint32_t x, const bool *reduced,
                            SambaLaneOpcode opcode, SambaReduceForm form, uint32_t statistic) {
  SambaStageTensor type = composition->graph->tensors[x];
  uint32_t result = statisticLike(composition, x, reduced);
  uint32_t dims[SAMBA_MAX_RANK];
  SambaStageBuilder builder;
  uint16_t value = sambaStageBeginReduction(&builder, composition->graph, composition->name,
                                            composition->layer, x, reduced, true, result, dims);
  if (form == SAMBA_REDUCE_DEVIATION || form == SAMBA_REDUCE_EXPONENTIAL) {
    uint16_t shift = sambaStageOperand(&builder, statistic);
    for (uint32_t axis = 0; axis < type.rank; ++axis)
      if (!reduced[axis])
        sambaStageAxis(&builder, shift, axis)->coefficients[dims[axis]] = 1;
    value = sambaLane2(&builder, SAMBA_LANE_SUB, value, shift);
  }

  if (form == SAMBA_REDUCE_EXPONENTIAL)
    value = sambaLane1(&builder, SAMBA_LANE_EXP, value);
  else if (form != SAMBA_REDUCE_PLAIN)
    value = sambaLane2(&builder, SAMBA_LANE_MUL, value, value);
  sambaStageEnd(&builder, sambaLane1(&builder, opcode, value));

  return result;
}

static uint32_t elementwiseLike(const SambaComposition *composition, uint32_t x,
                                SambaStageBuilder *builder, uint16_t *out_value) {
  SambaStageTensor like = composition->graph->tensors[x];
  uint32_t result =
      sambaStageIntermediate(composition->graph, SAMBA_DTYPE_F32, like.rank, like.dims);
  sambaStageBeginElementwise(builder, composition->graph, composition->name, composition->layer,
                             result);
  *out_value = sambaStageBroadcastOperand(builder, x);
  return result;
}

uint32_t sambaComposeDivide(const SambaComposition *composition, uint32_t x, int64_t count) {
  SambaStageBuilder builder;
  uint16_t value;
  uint32_t result = elementwiseLike(composition, x, &builder, &value);
  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_DIV, value,
                                     sambaLaneFloat(&builder, (double)count)));
  return result;
}

uint32_t sambaComposeInverseDeviation(const SambaComposition *composition, uint32_t x,
                                      int64_t count, double epsilon) {
  SambaStageBuilder builder;
  uint16_t value;
  uint32_t result = elementwiseLike(composition, x, &builder, &value);
  if (count != 1)
    value = sambaLane2(&builder, SAMBA_LANE_DIV, value, sambaLaneFloat(&builder, (double)count));
  value = sambaLane2(&builder, SAMBA_LANE_ADD, value, sambaLaneFloat(&builder, epsilon));
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_RSQRT, value));
  return result;
}

/* exp(x - m) in f32 */
static uint32_t exponential(const SambaComposition *composition, uint32_t x, uint32_t maximum) {
  SambaStageBuilder builder;
  uint16_t value;
  uint32_t result = elementwiseLike(composition, x, &builder, &value);
  uint16_t shift = sambaStageBroadcastOperand(&builder, maximum);
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_EXP,
                                     sambaLane2(&builder, SAMBA_LANE_SUB, value, shift)));
  return result;
}

/* Rows of more elements would not fit a memory unit. */
enum { longRow = 65536 };

void sambaComposeSoftmax(const SambaComposition *composition, uint32_t x, uint32_t axis,
                         uint32_t result) {
  bool reduced[SAMBA_MAX_RANK] = {false};
  reduced[axis] = true;
  uint32_t maximum =
      sambaComposeReduce(composition, x, reduced, SAMBA_LANE_REDUCE_MAX, SAMBA_REDUCE_PLAIN, 0);
  SambaStageBuilder builder;

  if (composition->graph->tensors[x].dims[axis] >
      longRow) { /* the powers are made twice, never kept */
    uint32_t total = sambaComposeReduce(composition, x, reduced, SAMBA_LANE_REDUCE_ADD,
                                        SAMBA_REDUCE_EXPONENTIAL, maximum);
    sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                               result);
    uint16_t element = sambaStageBroadcastOperand(&builder, x);
    uint16_t high = sambaStageBroadcastOperand(&builder, maximum);
    uint16_t sum = sambaStageBroadcastOperand(&builder, total);
    uint16_t power =
        sambaLane1(&builder, SAMBA_LANE_EXP, sambaLane2(&builder, SAMBA_LANE_SUB, element, high));
    sambaStageEndRounded(&builder, sambaLane2(&builder, SAMBA_LANE_DIV, power, sum));
    return;
  }

  uint32_t powers = exponential(composition, x, maximum);
  uint32_t sum = sambaComposeReduce(composition, powers, reduced, SAMBA_LANE_REDUCE_ADD,
                                    SAMBA_REDUCE_PLAIN, 0);
  sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                             result);
  uint16_t value = sambaStageBroadcastOperand(&builder, powers);
  uint16_t total = sambaStageBroadcastOperand(&builder, sum);
  sambaStageEndRounded(&builder, sambaLane2(&builder, SAMBA_LANE_DIV, value, total));
}
