/* scaled_dot_product_attention.
 *
 * Numerics: scores, sums and quotients are f32, the largest score is subtracted before exp; the
 * probabilities are rounded to q's dtype before they multiply v. */
#include "dialect/samba/table/core/compose.h"
#include "dialect/samba/table/core/expansion.h"

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

static SambaStatus inferAttention(const SambaOperatorCall *call, SambaTensorType *out) {
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
  if (call->operand_count == 4) {
    const SambaTensorType *mask = &call->operands[3];
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

/* product[.., m, n] = sum over k of a[.., m, k] * b[.., n, k] (or b[.., k, n]). */
static void product(const SambaComposition *composition, uint32_t a, uint32_t b, bool transposed,
                    uint32_t result) {
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

static double scaleOf(const SambaOperatorCall *call) {
  const SambaTensorType *q = &call->operands[0];
  const SambaAttribute *scale = sambaOperatorCallFind(call, "scale");
  return scale ? scale->value.real : 1 / sqrt((double)q->dims[q->rank - 1]);
}

static double fillOf(const SambaOperatorCall *call) { return sambaOperatorCallFloat(call, "fill"); }

/* scores * scale, + mask or fill where masked */
static uint32_t maskedScores(const SambaComposition *composition, const SambaOperatorCall *call,
                             uint32_t scores, const uint32_t *operands) {
  SambaStageTensor like = composition->graph->tensors[scores];
  uint32_t result =
      sambaStageIntermediate(composition->graph, SAMBA_DTYPE_F32, like.rank, like.dims);
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                             result);
  uint16_t value = sambaStageBroadcastOperand(&builder, scores);
  uint16_t mask = 0;
  bool masked = call->operand_count == 4;
  if (masked)
    mask = sambaStageBroadcastOperand(&builder, operands[3]);
  value = sambaLane2(&builder, SAMBA_LANE_MUL, value, sambaLaneFloat(&builder, scaleOf(call)));
  if (masked && call->operands[3].dtype == SAMBA_DTYPE_I1)
    value = sambaLaneSelect(&builder, mask, value, sambaLaneFloat(&builder, fillOf(call)));
  else if (masked)
    value = sambaLane2(&builder, SAMBA_LANE_ADD, value, mask);
  if (sambaOperatorCallInt(call, "is_causal")) {
    uint16_t row = sambaLaneCounter(&builder, like.rank - 2, SAMBA_DTYPE_I32);
    uint16_t column = sambaLaneCounter(&builder, like.rank - 1, SAMBA_DTYPE_I32);
    value = sambaLaneSelect(&builder, sambaLane2(&builder, SAMBA_LANE_LE, column, row), value,
                            sambaLaneFloat(&builder, -INFINITY));
  }

  sambaStageEnd(&builder, value);
  return result;
}

static SambaStatus stagesAttention(const SambaOperatorCall *call, SambaStageGraph *graph,
                                   const uint32_t *operands, const uint32_t *results,
                                   const char *layer) {
  const SambaTensorType *q = &call->operands[0];
  const SambaTensorType *k = &call->operands[1];
  SambaComposition composition = {graph, call->operator->name, layer};
  SambaTensorType shape;

  SAMBA_RETURN_IF_ERROR(attentionBatch(call, &shape));
  shape.dims[shape.rank++] = q->dims[q->rank - 2];
  shape.dims[shape.rank++] = k->dims[k->rank - 2];
  uint32_t scores = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, shape.rank, shape.dims);
  product(&composition, operands[0], operands[1], true, scores);
  uint32_t masked = maskedScores(&composition, call, scores, operands);
  uint32_t probabilities = sambaStageIntermediate(graph, q->dtype, shape.rank, shape.dims);
  sambaComposeSoftmax(&composition, masked, shape.rank - 1, probabilities);
  uint32_t mixed = sambaStageIntermediateLike(graph, results[0], SAMBA_DTYPE_F32);
  product(&composition, probabilities, operands[2], false, mixed);
  sambaStageConvert(graph, composition.name, layer, mixed, results[0]);

  return NULL;
}

/* Where column <= row, counted by two constants. */
static uint32_t causal(SambaExpansion *expansion, int64_t rows, int64_t columns) {
  int64_t most = rows > columns ? rows : columns;
  double *numbers = sambaAllocate(sambaArraySize((size_t)most + 1, sizeof *numbers));
  for (int64_t i = 0; i < most; ++i)
    numbers[i] = (double)i;
  uint32_t row = sambaExpandNumbers(expansion, SAMBA_DTYPE_I32, 2, (int64_t[]){rows, 1}, numbers);
  uint32_t column = sambaExpandNumbers(expansion, SAMBA_DTYPE_I32, 1, &columns, numbers);
  free(numbers);
  return sambaExpandBinary(expansion, "le", column, row);
}

/* The same steps with the same roundings, through memory. */
static SambaStatus decomposeAttention(const SambaOperatorCall *call, SambaExpansion *expansion,
                                      const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *q = &call->operands[0];
  const SambaTensorType *k = &call->operands[1];
  int64_t transposed[SAMBA_MAX_RANK];

  for (uint32_t axis = 0; axis < k->rank; ++axis)
    transposed[axis] = axis + 2 < k->rank ? axis : 2 * k->rank - 3 - axis;
  uint32_t factors[] = {operands[0], sambaExpandPermute(expansion, operands[1], transposed)};
  SambaAttribute accumulator = sambaDTypeAttribute("out_dtype", SAMBA_DTYPE_F32);
  SambaAttribute last = sambaIntAttribute("dim", -1);
  uint32_t scores = sambaExpandCall(expansion, "matmul", 2, factors, 1, &accumulator);
  scores = sambaExpandWithNumber(expansion, "mul", scores, scaleOf(call));
  uint32_t lowest = sambaExpandScalar(expansion, SAMBA_DTYPE_F32, -INFINITY);
  if (call->operand_count == 4 && call->operands[3].dtype == SAMBA_DTYPE_I1)
    scores =
        sambaExpandCall(expansion, "where", 3,
                        (uint32_t[]){operands[3], scores,
                                     sambaExpandScalar(expansion, SAMBA_DTYPE_F32, fillOf(call))},
                        0, NULL);
  else if (call->operand_count == 4)
    scores = sambaExpandBinary(expansion, "add", scores,
                               sambaExpandCast(expansion, operands[3], SAMBA_DTYPE_F32));
  if (sambaOperatorCallInt(call, "is_causal")) {
    uint32_t kept = causal(expansion, q->dims[q->rank - 2], k->dims[k->rank - 2]);
    scores = sambaExpandCall(expansion, "where", 3, (uint32_t[]){kept, scores, lowest}, 0, NULL);
  }

  uint32_t probabilities = sambaExpandCast(
      expansion, sambaExpandCall(expansion, "softmax", 1, &scores, 1, &last), q->dtype);
  out_results[0] = sambaExpandBinary(expansion, "matmul", probabilities, operands[2]);
  return NULL;
}

const SambaOperator sambaAttentionOperators[] = {
    {.name = "scaled_dot_product_attention",
     .summary = "softmax(q * transpose(k) * scale + mask) * v",
     .computes = "q[.., L, E], k[.., S, E], v[.., S, V]; the mask broadcasts to [.., L, S]: a "
                 "float mask is added, an i1 mask keeps where true; elsewhere the score is `fill`. "
                 "is_causal keeps s <= l.",
     .operands = {"query", "key", "value", "mask?"},
     .attributes = {OPTIONAL(FLOAT, "scale", "absent: 1 / sqrt(E)"),
                    BOOL("is_causal", false, "position l sees positions up to l"),
                    FLOAT("fill", -INFINITY, "the score where an i1 mask is false")},
     .constraints = {"q has a float dtype", "k and v have it too",
                     "ranks of 2 or more, one E, one S", "the dimensions before broadcast",
                     "the mask is i1, f32 or of q's dtype and broadcasts to the scores without "
                     "enlarging them"},
     .example = "%y = samba.scaled_dot_product_attention %q, %k, %v {scale = 0.5} : "
                "tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x4xf32>",
     .source = "torch.nn.functional.scaled_dot_product_attention",
     .contraction = true,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferAttention,
     .stages = stagesAttention,
     .decompose = decomposeAttention},
    {0}};
