/* The steps that composite operators are made of; see compose.h. */
#include "dialect/samba/table/core/compose.h"

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
  SambaStageBuilder b;
  uint16_t value = sambaStageBeginReduction(&b, composition->graph, composition->name,
                                            composition->layer, x, reduced, true, result, dims);
  if (form == SAMBA_REDUCE_DEVIATION || form == SAMBA_REDUCE_EXPONENTIAL) {
    uint16_t shift = sambaStageOperand(&b, statistic);
    for (uint32_t axis = 0; axis < type.rank; ++axis)
      if (!reduced[axis])
        sambaStageAxis(&b, shift, axis)->coefficients[dims[axis]] = 1;
    value = sambaLane2(&b, SAMBA_LANE_SUB, value, shift);
  }

  if (form == SAMBA_REDUCE_EXPONENTIAL)
    value = sambaLane1(&b, SAMBA_LANE_EXP, value);
  else if (form != SAMBA_REDUCE_PLAIN)
    value = sambaLane2(&b, SAMBA_LANE_MUL, value, value);
  sambaStageEnd(&b, sambaLane1(&b, opcode, value));

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
  SambaStageBuilder b;
  uint16_t value;
  uint32_t result = elementwiseLike(composition, x, &b, &value);
  sambaStageEnd(&b, sambaLane2(&b, SAMBA_LANE_DIV, value, sambaLaneFloat(&b, (double)count)));
  return result;
}

uint32_t sambaComposeInverseDeviation(const SambaComposition *composition, uint32_t x,
                                      int64_t count, double epsilon) {
  SambaStageBuilder b;
  uint16_t value;
  uint32_t result = elementwiseLike(composition, x, &b, &value);
  if (count != 1)
    value = sambaLane2(&b, SAMBA_LANE_DIV, value, sambaLaneFloat(&b, (double)count));
  value = sambaLane2(&b, SAMBA_LANE_ADD, value, sambaLaneFloat(&b, epsilon));
  sambaStageEnd(&b, sambaLane1(&b, SAMBA_LANE_RSQRT, value));
  return result;
}

/* exp(x - m) in f32 */
static uint32_t exponential(const SambaComposition *composition, uint32_t x, uint32_t maximum) {
  SambaStageBuilder b;
  uint16_t value;
  uint32_t result = elementwiseLike(composition, x, &b, &value);
  uint16_t shift = sambaStageBroadcastOperand(&b, maximum);
  sambaStageEnd(&b, sambaLane1(&b, SAMBA_LANE_EXP, sambaLane2(&b, SAMBA_LANE_SUB, value, shift)));
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
  SambaStageBuilder b;

  if (composition->graph->tensors[x].dims[axis] >
      longRow) { /* the powers are made twice, never kept */
    uint32_t total = sambaComposeReduce(composition, x, reduced, SAMBA_LANE_REDUCE_ADD,
                                        SAMBA_REDUCE_EXPONENTIAL, maximum);
    sambaStageBeginElementwise(&b, composition->graph, composition->name, composition->layer,
                               result);
    uint16_t element = sambaStageBroadcastOperand(&b, x);
    uint16_t high = sambaStageBroadcastOperand(&b, maximum);
    uint16_t sum = sambaStageBroadcastOperand(&b, total);
    uint16_t power = sambaLane1(&b, SAMBA_LANE_EXP, sambaLane2(&b, SAMBA_LANE_SUB, element, high));
    sambaStageEndRounded(&b, sambaLane2(&b, SAMBA_LANE_DIV, power, sum));
    return;
  }

  uint32_t powers = exponential(composition, x, maximum);
  uint32_t sum = sambaComposeReduce(composition, powers, reduced, SAMBA_LANE_REDUCE_ADD,
                                    SAMBA_REDUCE_PLAIN, 0);
  sambaStageBeginElementwise(&b, composition->graph, composition->name, composition->layer, result);
  uint16_t value = sambaStageBroadcastOperand(&b, powers);
  uint16_t total = sambaStageBroadcastOperand(&b, sum);
  sambaStageEndRounded(&b, sambaLane2(&b, SAMBA_LANE_DIV, value, total));
}
