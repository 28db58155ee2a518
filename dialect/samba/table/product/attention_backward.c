/* The two halves of attention's gradient. Each is one pipeline over tiles of the scores, which are
 * computed again. Of every row of queries attention has left the logarithm of its sum of powers, so
 * a probability is one power of its score, and no maximum and no sum over the keys is waited for.
 * The first half goes by rows of queries, and leaves what flows into each row's sum; the second
 * goes by columns, that is by keys, and needs nothing else of a row. So every sum is over what one
 * tile has, and nothing of the size of the scores is in memory.
 *
 * What flows into the sum of a row's powers is the sum over keys of p * (g v^T). That is g * result
 * summed over the elements of a value, of which there are fewer, and which need no score.
 *
 * Numerics: scores are f32; probabilities p = exp(score - logsumexp) and the gradients of scores
 * are computed in f32 and rounded to q's dtype. */
#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/product/attention_scores.h"

#include <math.h>

/* Operands of both: what flows into attention's result stands behind query, key and value. The
 * first half then takes that result, the second what the first has made of it. */
enum {
  flowOperand = 3,
  logsumexpOperand = 4,
  resultOperand = 5,
  innerOperand = 5,
  maskOperand = 6
};

static SambaAttention attentionOf(const SambaOperatorCall *call) {
  return (SambaAttention){call, call->operand_count > maskOperand ? maskOperand : 0};
}

/* --- types --- */

/* A number of each row, beside a result of this type. */
static SambaStatus checkStatistic(const SambaOperatorCall *call, uint32_t operand, const char *what,
                                  const SambaTensorType *result) {
  const SambaTensorType *type = &call->operands[operand];
  SambaTensorType statistic = *result;
  statistic.dims[statistic.rank - 1] = 1;
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(7, what, type, statistic.rank, statistic.dims));
  return sambaCheckDType(7, what, type->dtype, 1u << SAMBA_DTYPE_F32 | 1u << result->dtype);
}

/* (C1) to (C7); out: the type of attention's result. */
static SambaStatus checkFlow(const SambaAttention *attention, SambaTensorType *out) {
  const SambaTensorType *flow = &attention->call->operands[flowOperand];
  SAMBA_RETURN_IF_ERROR(sambaAttentionCheck(attention, out));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(6, "the gradient", flow, out->rank, out->dims));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckSameDType(6, "the gradient", flow->dtype, "the query", out->dtype));
  return checkStatistic(attention->call, logsumexpOperand, "the logsumexp", out);
}

static SambaStatus inferQuery(const SambaOperatorCall *call, SambaTensorType *out) {
  SambaAttention attention = attentionOf(call);
  const SambaTensorType *result = &call->operands[resultOperand];
  SAMBA_RETURN_IF_ERROR(checkFlow(&attention, &out[0]));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(8, "the result", result, out[0].rank, out[0].dims));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckSameDType(8, "the result", result->dtype, "the query", out[0].dtype));
  out[1] = out[0];
  out[1].dtype = SAMBA_DTYPE_F32;
  out[1].dims[out[1].rank - 1] = 1;
  out[0].dims[out[0].rank - 1] = call->operands[0].dims[call->operands[0].rank - 1];
  return NULL;
}

static SambaStatus inferKey(const SambaOperatorCall *call, SambaTensorType *out) {
  SambaAttention attention = attentionOf(call);
  const SambaTensorType *k = &call->operands[1];
  SAMBA_RETURN_IF_ERROR(checkFlow(&attention, &out[1]));
  SAMBA_RETURN_IF_ERROR(checkStatistic(call, innerOperand, "the inner product", &out[1]));
  out[1].dims[out[1].rank - 2] = k->dims[k->rank - 2];
  out[0] = out[1];
  out[0].dims[out[0].rank - 1] = k->dims[k->rank - 1];
  return NULL;
}

/* --- stages --- */

/* What the stages of one call share. Crossed scores are [.., S, L]. */
typedef struct Backward {
  SambaComposition composition;
  SambaAttention attention;
  const uint32_t *operands;
  SambaTensorType scores; /* their shape, crossed or not */
  bool crossed;
} Backward;

static SambaStatus begin(const SambaAttention *attention, SambaStageGraph *graph,
                         const uint32_t *operands, const char *layer, bool crossed, Backward *out) {
  *out = (Backward){
      {graph, attention->call->operator->name, layer}, *attention, operands, .crossed = crossed};
  SAMBA_RETURN_IF_ERROR(sambaAttentionScoreType(attention, &out->scores));
  if (crossed) {
    int64_t *last = &out->scores.dims[out->scores.rank - 2];
    int64_t rows = last[0];
    last[0] = last[1], last[1] = rows;
  }
  return NULL;
}

static uint32_t likeScores(const Backward *backward, SambaDType dtype) {
  return sambaStageIntermediate(backward->composition.graph, dtype, backward->scores.rank,
                                backward->scores.dims);
}

/* a b^T in the scores' shape. */
static uint32_t scoresOf(const Backward *backward, uint32_t a, uint32_t b) {
  uint32_t result = likeScores(backward, SAMBA_DTYPE_F32);
  sambaAttentionProduct(&backward->composition, a, b, true, result);
  return result;
}

static void startStage(const Backward *backward, SambaStageBuilder *builder, uint32_t output) {
  sambaStageBeginElementwise(builder, backward->composition.graph, backward->composition.name,
                             backward->composition.layer, output);
}

/* A number of each row of queries, [.., L, 1]. */
static uint16_t statisticOperand(const Backward *backward, SambaStageBuilder *builder,
                                 uint32_t statistic) {
  if (!backward->crossed)
    return sambaStageBroadcastOperand(builder, statistic);
  uint16_t operand = sambaStageOperand(builder, statistic);
  uint32_t rank = backward->scores.rank;
  for (uint32_t axis = 0; axis + 1 < rank; ++axis)
    sambaStageAxis(builder, operand, axis)->coefficients[axis + 2 < rank ? axis : rank - 1] = 1;
  return operand;
}

/* exp(score - logsumexp), rounded to q's dtype: of the scores nothing else is read, so they need
 * not leave the units that make them. */
static uint32_t probabilitiesOf(const Backward *backward, uint32_t masked, uint32_t logsumexp) {
  SambaDType dtype = backward->attention.call->operands[0].dtype;
  uint32_t result = likeScores(backward, dtype);
  SambaStageBuilder builder;

  startStage(backward, &builder, result);
  uint16_t score = sambaStageBroadcastOperand(&builder, masked);
  uint16_t shift = statisticOperand(backward, &builder, logsumexp);
  uint16_t power =
      sambaLane1(&builder, SAMBA_LANE_EXP, sambaLane2(&builder, SAMBA_LANE_SUB, score, shift));
  sambaStageEndRounded(&builder, sambaLaneCast(&builder, power, dtype));
  return result;
}

/* The sum over each row of two tensors' products, into `result`. */
static void rowProduct(const Backward *backward, uint32_t a, uint32_t b, uint32_t result) {
  const SambaComposition *composition = &backward->composition;
  bool reduced[SAMBA_MAX_RANK] = {false};
  uint32_t dims[SAMBA_MAX_RANK];
  SambaStageBuilder builder;

  reduced[composition->graph->tensors[a].rank - 1] = true;
  uint16_t left = sambaStageBeginReduction(&builder, composition->graph, composition->name,
                                           composition->layer, a, reduced, true, result, dims);
  uint16_t right = sambaStageMappedOperand(&builder, b, dims);
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD,
                                     sambaLane2(&builder, SAMBA_LANE_MUL, left, right)));
}

/* The gradient of q k^T, p * (flow - inner) * scale, in q's dtype. */
static uint32_t scoreGradient(const Backward *backward, uint32_t probabilities, uint32_t flow,
                              uint32_t inner) {
  SambaDType dtype = backward->attention.call->operands[0].dtype;
  uint32_t result = likeScores(backward, dtype);
  bool replaces = sambaAttentionReplaces(&backward->attention);
  SambaStageBuilder builder;

  startStage(backward, &builder, result);
  uint16_t probability = sambaStageBroadcastOperand(&builder, probabilities);
  uint16_t flowing = sambaStageBroadcastOperand(&builder, flow);
  uint16_t share = statisticOperand(backward, &builder, inner);
  uint16_t kept = 0;
  if (replaces)
    kept = sambaAttentionMaskOperand(&builder, backward->operands[backward->attention.mask],
                                     backward->crossed);

  uint16_t value = sambaLane2(&builder, SAMBA_LANE_MUL, probability,
                              sambaLane2(&builder, SAMBA_LANE_SUB, flowing, share));
  value = sambaLane2(&builder, SAMBA_LANE_MUL, value,
                     sambaLaneFloat(&builder, sambaAttentionScale(&backward->attention)));
  if (replaces)
    value = sambaLaneSelect(&builder, kept, value, sambaLaneFloat(&builder, 0));
  sambaStageEndRounded(&builder, sambaLaneCast(&builder, value, dtype));
  return result;
}

/* a b into a result, by way of f32. */
static void multiply(const Backward *backward, uint32_t a, uint32_t b, uint32_t result) {
  const SambaComposition *composition = &backward->composition;
  uint32_t product = sambaStageIntermediateLike(composition->graph, result, SAMBA_DTYPE_F32);
  sambaAttentionProduct(composition, a, b, false, product);
  sambaStageConvert(composition->graph, composition->name, composition->layer, product, result);
}

static SambaStatus stagesQuery(const SambaOperatorCall *call, SambaStageGraph *graph,
                               const uint32_t *operands, const uint32_t *results,
                               const char *layer) {
  SambaAttention attention = attentionOf(call);
  Backward backward;
  SAMBA_RETURN_IF_ERROR(begin(&attention, graph, operands, layer, false, &backward));

  rowProduct(&backward, operands[flowOperand], operands[resultOperand], results[1]);
  uint32_t masked =
      sambaAttentionMask(&backward.composition, &attention,
                         scoresOf(&backward, operands[0], operands[1]), operands, false);
  uint32_t probabilities = probabilitiesOf(&backward, masked, operands[logsumexpOperand]);
  uint32_t flow = scoresOf(&backward, operands[flowOperand], operands[2]);
  uint32_t gradient = scoreGradient(&backward, probabilities, flow, results[1]);
  multiply(&backward, gradient, operands[1], results[0]);
  return NULL;
}

static SambaStatus stagesKey(const SambaOperatorCall *call, SambaStageGraph *graph,
                             const uint32_t *operands, const uint32_t *results, const char *layer) {
  SambaAttention attention = attentionOf(call);
  Backward backward;
  SAMBA_RETURN_IF_ERROR(begin(&attention, graph, operands, layer, true, &backward));

  uint32_t masked =
      sambaAttentionMask(&backward.composition, &attention,
                         scoresOf(&backward, operands[1], operands[0]), operands, true);
  uint32_t probabilities = probabilitiesOf(&backward, masked, operands[logsumexpOperand]);
  multiply(&backward, probabilities, operands[flowOperand], results[1]);

  uint32_t flow = scoresOf(&backward, operands[2], operands[flowOperand]);
  uint32_t gradient = scoreGradient(&backward, probabilities, flow, operands[innerOperand]);
  multiply(&backward, gradient, operands[0], results[0]);
  return NULL;
}

/* --- the same steps through memory --- */

static uint32_t expandReduced(SambaExpansion *expansion, const char *name, uint32_t a) {
  bool reduced[SAMBA_MAX_RANK] = {false};
  reduced[sambaExpansionType(expansion, a)->rank - 1] = true;
  return sambaExpandReduce(expansion, name, a, reduced);
}

/* In q's dtype. */
static uint32_t expandProbabilities(const SambaAttention *attention, SambaExpansion *expansion,
                                    const uint32_t *operands) {
  uint32_t scores = sambaAttentionExpandScores(attention, expansion, operands);
  uint32_t logsumexp = gradientWide(expansion, operands[logsumexpOperand]);
  uint32_t power = sambaExpandUnary(expansion, "exp", gradientSub(expansion, scores, logsumexp));
  return sambaExpandCast(expansion, power, attention->call->operands[0].dtype);
}

/* The gradient of q k^T, not crossed. */
static uint32_t expandScoreGradient(const SambaAttention *attention, SambaExpansion *expansion,
                                    const uint32_t *operands, uint32_t probabilities, uint32_t flow,
                                    uint32_t inner) {
  uint32_t value = gradientMul(expansion, gradientWide(expansion, probabilities),
                               gradientSub(expansion, flow, inner));
  value = gradientScale(expansion, value, sambaAttentionScale(attention));
  if (sambaAttentionReplaces(attention))
    value = gradientWhereElseZero(expansion, operands[attention->mask], value);
  return sambaExpandCast(expansion, value, attention->call->operands[0].dtype);
}

static SambaStatus decomposeQuery(const SambaOperatorCall *call, SambaExpansion *expansion,
                                  const uint32_t *operands, uint32_t *out_results) {
  SambaAttention attention = attentionOf(call);
  uint32_t inner =
      expandReduced(expansion, "sum",
                    gradientMul(expansion, gradientWide(expansion, operands[flowOperand]),
                                gradientWide(expansion, operands[resultOperand])));
  uint32_t probabilities = expandProbabilities(&attention, expansion, operands);
  uint32_t flow = sambaAttentionExpandProduct(expansion, operands[flowOperand], operands[2], true,
                                              SAMBA_DTYPE_F32);
  uint32_t gradient =
      expandScoreGradient(&attention, expansion, operands, probabilities, flow, inner);
  out_results[0] = sambaExpandBinary(expansion, "matmul", gradient, operands[1]);
  out_results[1] = inner;
  return NULL;
}

static SambaStatus decomposeKey(const SambaOperatorCall *call, SambaExpansion *expansion,
                                const uint32_t *operands, uint32_t *out_results) {
  SambaAttention attention = attentionOf(call);
  uint32_t inner = gradientWide(expansion, operands[innerOperand]);
  uint32_t probabilities = expandProbabilities(&attention, expansion, operands);
  uint32_t flow = sambaAttentionExpandProduct(expansion, operands[flowOperand], operands[2], true,
                                              SAMBA_DTYPE_F32);
  uint32_t gradient =
      expandScoreGradient(&attention, expansion, operands, probabilities, flow, inner);

  out_results[0] = sambaExpandBinary(
      expansion, "matmul", sambaAttentionExpandTransposed(expansion, gradient), operands[0]);
  out_results[1] = sambaExpandBinary(expansion, "matmul",
                                     sambaAttentionExpandTransposed(expansion, probabilities),
                                     operands[flowOperand]);
  return NULL;
}

#define GRADIENT_CONSTRAINTS                                                                       \
  SAMBA_ATTENTION_CONSTRAINTS, "g has the shape of attention's result and q's dtype"

const SambaOperator sambaAttentionBackwardOperators[] = {
    {.name = "attention_query_gradient",
     .summary = "gradient of scaled_dot_product_attention for q",
     .computes = "g[.., L, V] flows into attention's result; logsumexp and result are those of "
                 "attention_with_logsumexp. query_gradient[.., L, E] is the sum over s of d[l, s] "
                 "* k[s], d = p * (g v^T - inner) * scale with the probabilities p = exp(scores - "
                 "logsumexp); inner[.., L, 1] is the sum of g * result. Batch dimensions are those "
                 "of attention's result.",
     .operands = {"query", "key", "value", "gradient", "logsumexp", "result", "mask?"},
     .results = {"query_gradient", "inner"},
     .attributes = SAMBA_ATTENTION_ATTRIBUTES,
     .constraints = {GRADIENT_CONSTRAINTS, "logsumexp is [.., L, 1], f32 or of q's dtype",
                     "result has the shape of attention's result and q's dtype"},
     .example = "%dq, %inner = samba.attention_query_gradient %q, %k, %v, %g, %lse, %y : "
                "tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x4xf32>, tensor<2x5x4xf32>, "
                "tensor<2x5x1xf32>, tensor<2x5x4xf32>",
     .source = "arXiv 2205.14135, algorithm 4",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferQuery,
     .stages = stagesQuery,
     .decompose = decomposeQuery,
     .no_gradient = true},
    {.name = "attention_key_gradient",
     .summary = "gradients of scaled_dot_product_attention for k and v",
     .computes = "With d and p as of attention_query_gradient, whose result inner is, and "
                 "attention's logsumexp: key_gradient[.., S, E] is the sum over l of d[l, s] * "
                 "q[l], value_gradient[.., S, V] the sum over l of p[l, s] * g[l].",
     .operands = {"query", "key", "value", "gradient", "logsumexp", "inner", "mask?"},
     .results = {"key_gradient", "value_gradient"},
     .attributes = SAMBA_ATTENTION_ATTRIBUTES,
     .constraints = {GRADIENT_CONSTRAINTS,
                     "logsumexp and inner are [.., L, 1], f32 or of q's dtype"},
     .example = "%dk, %dv = samba.attention_key_gradient %q, %k, %v, %g, %lse, %inner : "
                "tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x4xf32>, tensor<2x5x4xf32>, "
                "tensor<2x5x1xf32>, tensor<2x5x1xf32>",
     .source = "arXiv 2205.14135, algorithm 4",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferKey,
     .stages = stagesKey,
     .decompose = decomposeKey,
     .no_gradient = true},
    {0}};
