/* Scores of attention; see attention_scores.h. */
#include "dialect/samba/table/product/attention_scores.h"

#include <math.h>
#include <stdlib.h>

/* The dimensions before the matrix, broadcast over q, k and v; rank and dims of out. */
static SambaStatus attentionBatch(const SambaOperatorCall *call, SambaTensorType *out) {
  SambaTensorType batch[3];
  for (int i = 0; i < 3; ++i) {
    batch[i] = call->operands[i];
    batch[i].rank -= 2;
  }
  SambaTensorType keys;
  SAMBA_RETURN_IF_ERROR(sambaCheckBroadcast(4, &batch[0], &batch[1], &keys));
  return sambaCheckBroadcast(4, &keys, &batch[2], out);
}

SambaStatus sambaAttentionCheck(const SambaAttention *attention, SambaTensorType *out) {
  const SambaOperatorCall *call = attention->call;
  const SambaTensorType *q = &call->operands[0];
  const SambaTensorType *k = &call->operands[1];
  const SambaTensorType *v = &call->operands[2];

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the query", q->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(2, "the key", k->dtype, "the query", q->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(2, "the value", v->dtype, "the query", q->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "the query", q, 2, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "the key", k, 2, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "the value", v, 2, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(3, "the key", k, k->rank - 1, q->dims[q->rank - 1]));
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(3, "the value", v, v->rank - 2, k->dims[k->rank - 2]));
  SAMBA_RETURN_IF_ERROR(attentionBatch(call, out));
  if (attention->mask) {
    const SambaTensorType *mask = &call->operands[attention->mask];
    SambaTensorType scores = *out;
    SambaTensorType both;
    scores.dims[scores.rank++] = q->dims[q->rank - 2];
    scores.dims[scores.rank++] = k->dims[k->rank - 2];
    SAMBA_RETURN_IF_ERROR(sambaCheckDType(
        5, "the mask", mask->dtype, 1u << SAMBA_DTYPE_I1 | 1u << SAMBA_DTYPE_F32 | 1u << q->dtype));
    SAMBA_RETURN_IF_ERROR(sambaCheckBroadcast(5, &scores, mask, &both));
    SAMBA_RETURN_IF_ERROR(sambaCheckShape(5, "the mask broadcast against the scores", &both,
                                          scores.rank, scores.dims));
  }

  out->dtype = q->dtype;
  out->dims[out->rank++] = q->dims[q->rank - 2];
  out->dims[out->rank++] = v->dims[v->rank - 1];
  return NULL;
}

SambaStatus sambaAttentionScoreType(const SambaAttention *attention, SambaTensorType *out) {
  const SambaTensorType *q = &attention->call->operands[0];
  const SambaTensorType *k = &attention->call->operands[1];

  SAMBA_RETURN_IF_ERROR(attentionBatch(attention->call, out));
  out->dtype = SAMBA_DTYPE_F32;
  out->dims[out->rank++] = q->dims[q->rank - 2];
  out->dims[out->rank++] = k->dims[k->rank - 2];
  return NULL;
}

double sambaAttentionScale(const SambaAttention *attention) {
  const SambaTensorType *q = &attention->call->operands[0];
  const SambaAttribute *scale = sambaOperatorCallFind(attention->call, "scale");
  return scale ? scale->value.real : 1 / sqrt((double)q->dims[q->rank - 1]);
}

/* What is finite stays finite in bf16, so that a row which is masked everywhere is no NaN. */
static double fillOf(const SambaOperatorCall *call) {
  const double lowest = -3.3895313892515355e38;
  double fill = sambaOperatorCallFloat(call, "fill");
  bool narrow = call->operands[0].dtype == SAMBA_DTYPE_BF16 && isfinite(fill);
  return narrow && fill < lowest ? lowest : fill;
}

bool sambaAttentionReplaces(const SambaAttention *attention) {
  return attention->mask && attention->call->operands[attention->mask].dtype == SAMBA_DTYPE_I1 &&
         isfinite(fillOf(attention->call));
}

void sambaAttentionProduct(const SambaComposition *composition, uint32_t a, uint32_t b,
                           bool transposed, uint32_t result) {
  SambaStageTensor left = composition->graph->tensors[a];
  SambaStageTensor right = composition->graph->tensors[b];
  uint32_t rank = composition->graph->tensors[result].rank;
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                             result);
  uint32_t k = sambaStageDim(&builder, left.dims[left.rank - 1], true);
  uint32_t last[2][2] = {{rank - 2, k}, {transposed ? rank - 1 : k, transposed ? k : rank - 1}};
  uint16_t values[2];
  const SambaStageTensor *types[2] = {&left, &right};
  uint32_t tensors[2] = {a, b};

  for (int i = 0; i < 2; ++i) {
    values[i] = sambaStageOperand(&builder, tensors[i]);
    for (uint32_t axis = 0; axis < types[i]->rank; ++axis) {
      uint32_t dim = axis + 2 < types[i]->rank ? axis + rank - types[i]->rank
                                               : last[i][axis + 2 - types[i]->rank];
      if (axis + 2 >= types[i]->rank || types[i]->dims[axis] == builder.stage.extents[dim])
        sambaStageAxis(&builder, values[i], axis)->coefficients[dim] = 1;
    }
  }

  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_MAC, values[0], values[1]));
}

uint16_t sambaAttentionMaskOperand(SambaStageBuilder *builder, uint32_t mask, bool crossed) {
  uint16_t operand = sambaStageBroadcastOperand(builder, mask);
  uint32_t rank = builder->graph->tensors[mask].rank;
  if (!crossed)
    return operand;

  /* Read as [.., S, L]: the mask's last axis goes with the dimension before the last. */
  uint32_t last = builder->stage.dim_count - 1;
  for (uint32_t axis = rank > 2 ? rank - 2 : 0; axis < rank; ++axis) {
    SambaAxisMap *map = sambaStageAxis(builder, operand, axis);
    uint32_t dim = axis + 1 == rank ? last - 1 : last;
    bool walks = builder->graph->tensors[mask].dims[axis] != 1;
    map->coefficients[last] = map->coefficients[last - 1] = 0;
    map->coefficients[dim] = walks;
  }
  return operand;
}

/* How many keys before its own place a query sees besides; more than there are is no other. */
static int64_t offsetOf(const SambaOperatorCall *call) {
  int64_t offset = sambaOperatorCallInt(call, "causal_offset");
  int64_t rows = call->operands[0].dims[call->operands[0].rank - 2];
  int64_t columns = call->operands[1].dims[call->operands[1].rank - 2];
  if (offset < -rows)
    return -rows;
  return offset < columns ? offset : columns;
}

uint32_t sambaAttentionMask(const SambaComposition *composition, const SambaAttention *attention,
                            uint32_t scores, const uint32_t *operands, bool crossed) {
  const SambaOperatorCall *call = attention->call;
  SambaStageTensor like = composition->graph->tensors[scores];
  uint32_t result =
      sambaStageIntermediate(composition->graph, SAMBA_DTYPE_F32, like.rank, like.dims);
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                             result);
  uint16_t value = sambaStageBroadcastOperand(&builder, scores);
  uint16_t mask = 0;
  if (attention->mask)
    mask = sambaAttentionMaskOperand(&builder, operands[attention->mask], crossed);
  value = sambaLane2(&builder, SAMBA_LANE_MUL, value,
                     sambaLaneFloat(&builder, sambaAttentionScale(attention)));
  if (attention->mask && call->operands[attention->mask].dtype == SAMBA_DTYPE_I1)
    value = sambaLaneSelect(&builder, mask, value, sambaLaneFloat(&builder, fillOf(call)));
  else if (attention->mask)
    value = sambaLane2(&builder, SAMBA_LANE_ADD, value, mask);
  if (sambaOperatorCallInt(call, "is_causal")) {
    uint32_t row_dim = like.rank - (crossed ? 1 : 2), column_dim = like.rank - (crossed ? 2 : 1);
    uint16_t row = sambaLaneCounter(&builder, row_dim, SAMBA_DTYPE_I32);
    int64_t offset = offsetOf(call);
    if (offset)
      row = sambaLane2(&builder, SAMBA_LANE_ADD, row,
                       sambaLaneInteger(&builder, SAMBA_DTYPE_I32, offset));
    uint16_t column = sambaLaneCounter(&builder, column_dim, SAMBA_DTYPE_I32);
    value = sambaLaneSelect(&builder, sambaLane2(&builder, SAMBA_LANE_LE, column, row), value,
                            sambaLaneFloat(&builder, -INFINITY));
  }

  sambaStageEnd(&builder, value);
  return result;
}

/* Where column <= row + offset, counted by two constants. */
static uint32_t causal(SambaExpansion *expansion, int64_t rows, int64_t columns, int64_t offset) {
  int64_t most = rows > columns ? rows : columns;
  double *numbers = sambaAllocate(sambaArraySize((size_t)most + 1, sizeof *numbers));
  for (int64_t i = 0; i < most; ++i)
    numbers[i] = (double)(i + offset);
  uint32_t row = sambaExpandNumbers(expansion, SAMBA_DTYPE_I32, 2, (int64_t[]){rows, 1}, numbers);
  for (int64_t i = 0; i < most; ++i)
    numbers[i] = (double)i;
  uint32_t column = sambaExpandNumbers(expansion, SAMBA_DTYPE_I32, 1, &columns, numbers);
  free(numbers);
  return sambaExpandBinary(expansion, "le", column, row);
}

uint32_t sambaAttentionExpandTransposed(SambaExpansion *expansion, uint32_t a) {
  uint32_t rank = sambaExpansionType(expansion, a)->rank;
  int64_t order[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < rank; ++axis)
    order[axis] = axis + 2 < rank ? axis : 2 * rank - 3 - axis;
  return sambaExpandPermute(expansion, a, order);
}

uint32_t sambaAttentionExpandProduct(SambaExpansion *expansion, uint32_t a, uint32_t b,
                                     bool transposed, SambaDType dtype) {
  uint32_t factors[] = {a, transposed ? sambaAttentionExpandTransposed(expansion, b) : b};
  SambaAttribute accumulator = sambaDTypeAttribute("out_dtype", dtype);
  return sambaExpandCall(expansion, "matmul", 2, factors, 1, &accumulator);
}

uint32_t sambaAttentionExpandScores(const SambaAttention *attention, SambaExpansion *expansion,
                                    const uint32_t *operands) {
  const SambaOperatorCall *call = attention->call;
  const SambaTensorType *q = &call->operands[0];
  const SambaTensorType *k = &call->operands[1];
  uint32_t scores =
      sambaAttentionExpandProduct(expansion, operands[0], operands[1], true, SAMBA_DTYPE_F32);
  uint32_t mask = operands[attention->mask];
  scores = sambaExpandWithNumber(expansion, "mul", scores, sambaAttentionScale(attention));
  uint32_t lowest = sambaExpandScalar(expansion, SAMBA_DTYPE_F32, -INFINITY);

  if (attention->mask && call->operands[attention->mask].dtype == SAMBA_DTYPE_I1)
    scores = sambaExpandCall(
        expansion, "where", 3,
        (uint32_t[]){mask, scores, sambaExpandScalar(expansion, SAMBA_DTYPE_F32, fillOf(call))}, 0,
        NULL);
  else if (attention->mask)
    scores = sambaExpandBinary(expansion, "add", scores,
                               sambaExpandCast(expansion, mask, SAMBA_DTYPE_F32));
  if (sambaOperatorCallInt(call, "is_causal")) {
    uint32_t kept = causal(expansion, q->dims[q->rank - 2], k->dims[k->rank - 2], offsetOf(call));
    scores = sambaExpandCall(expansion, "where", 3, (uint32_t[]){kept, scores, lowest}, 0, NULL);
  }
  return scores;
}
