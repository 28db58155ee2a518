/* The two halves of attention's gradient. Each is one pipeline over tiles of the scores, which are
 * computed again: the first goes by rows of queries, and leaves of every row the logarithm of its
 * sum of powers and what flows into that sum; the second goes by columns, that is by keys, and
 * needs nothing else of a row. So every sum is over what one tile has, and nothing of the size of
 * the scores is in memory.
 *
 * Numerics: scores, probabilities p = exp(score - logsumexp) and their gradients are f32; p and the
 * gradients of scores are rounded to q's dtype before they multiply matrices. */
#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/product/attention_scores.h"

#include <math.h>

/* Operands of both: what flows into attention's result stands behind query, key and value. */
enum { flowOperand = 3, logsumexpOperand = 4, innerOperand = 5 };

static SambaAttention queryAttention(const SambaOperatorCall *call) {
  return (SambaAttention){call, call->operand_count == 5 ? 4 : 0};
}
static SambaAttention keyAttention(const SambaOperatorCall *call) {
  return (SambaAttention){call, call->operand_count == 7 ? 6 : 0};
}

/* --- types --- */

/* (C1) to (C6); out: the type of attention's result. */
static SambaStatus checkFlow(const SambaAttention *attention, SambaTensorType *out) {
  const SambaTensorType *flow = &attention->call->operands[flowOperand];
  SAMBA_RETURN_IF_ERROR(sambaAttentionCheck(attention, out));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(6, "the gradient", flow, out->rank, out->dims));
  return sambaCheckSameDType(6, "the gradient", flow->dtype, "the query", out->dtype);
}

static SambaStatus inferQuery(const SambaOperatorCall *call, SambaTensorType *out) {
  SambaAttention attention = queryAttention(call);
  SAMBA_RETURN_IF_ERROR(checkFlow(&attention, &out[0]));
  out[1] = out[0];
  out[1].dtype = SAMBA_DTYPE_F32;
  out[1].dims[out[1].rank - 1] = 1;
  out[2] = out[1];
  out[0].dims[out[0].rank - 1] = call->operands[0].dims[call->operands[0].rank - 1];
  return NULL;
}

static SambaStatus inferKey(const SambaOperatorCall *call, SambaTensorType *out) {
  SambaAttention attention = keyAttention(call);
  const SambaTensorType *k = &call->operands[1];
  SambaTensorType statistic;

  SAMBA_RETURN_IF_ERROR(checkFlow(&attention, &out[1]));
  statistic = out[1];
  statistic.dims[statistic.rank - 1] = 1;
  for (uint32_t i = logsumexpOperand; i <= innerOperand; ++i) {
    const char *what = i == innerOperand ? "the inner product" : "the logsumexp";
    const SambaTensorType *type = &call->operands[i];
    SAMBA_RETURN_IF_ERROR(sambaCheckShape(7, what, type, statistic.rank, statistic.dims));
    SAMBA_RETURN_IF_ERROR(
        sambaCheckDType(7, what, type->dtype, 1u << SAMBA_DTYPE_F32 | 1u << k->dtype));
  }

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

static uint16_t probability(SambaStageBuilder *builder, uint16_t score, uint16_t logsumexp) {
  return sambaLane1(builder, SAMBA_LANE_EXP, sambaLane2(builder, SAMBA_LANE_SUB, score, logsumexp));
}

/* logsumexp of each row of the masked scores, into `result`. */
static void logSumExp(const Backward *backward, uint32_t masked, uint32_t result) {
  const SambaComposition *composition = &backward->composition;
  bool reduced[SAMBA_MAX_RANK] = {false};
  reduced[backward->scores.rank - 1] = true;
  uint32_t maximum = sambaComposeReduce(composition, masked, reduced, SAMBA_LANE_REDUCE_MAX,
                                        SAMBA_REDUCE_PLAIN, 0);
  uint32_t sum = sambaComposeReduce(composition, masked, reduced, SAMBA_LANE_REDUCE_ADD,
                                    SAMBA_REDUCE_EXPONENTIAL, maximum);

  SambaStageBuilder builder;
  startStage(backward, &builder, result);
  uint16_t total = sambaStageBroadcastOperand(&builder, sum);
  uint16_t high = sambaStageBroadcastOperand(&builder, maximum);
  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_ADD, high,
                                     sambaLane1(&builder, SAMBA_LANE_LOG, total)));
}

/* The sum over each row of p times what flows into it, into `result`. */
static void innerProduct(const Backward *backward, uint32_t masked, uint32_t logsumexp,
                         uint32_t flow, uint32_t result) {
  const SambaComposition *composition = &backward->composition;
  bool reduced[SAMBA_MAX_RANK] = {false};
  uint32_t dims[SAMBA_MAX_RANK], last = backward->scores.rank - 1;
  SambaStageBuilder builder;

  reduced[last] = true;
  uint16_t score =
      sambaStageBeginReduction(&builder, composition->graph, composition->name, composition->layer,
                               masked, reduced, true, result, dims);
  uint16_t shift = sambaStageOperand(&builder, logsumexp);
  for (uint32_t axis = 0; axis < last; ++axis)
    sambaStageAxis(&builder, shift, axis)->coefficients[dims[axis]] = 1;
  uint16_t flowing = sambaStageMappedOperand(&builder, flow, dims);
  uint16_t product =
      sambaLane2(&builder, SAMBA_LANE_MUL, probability(&builder, score, shift), flowing);
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD, product));
}

/* The gradient of q k^T, p * (flow - inner) * scale, in q's dtype. */
static uint32_t scoreGradient(const Backward *backward, uint32_t masked, uint32_t logsumexp,
                              uint32_t flow, uint32_t inner) {
  SambaDType dtype = backward->attention.call->operands[0].dtype;
  uint32_t result = likeScores(backward, dtype);
  bool replaces = sambaAttentionReplaces(&backward->attention);
  SambaStageBuilder builder;

  startStage(backward, &builder, result);
  uint16_t score = sambaStageBroadcastOperand(&builder, masked);
  uint16_t shift = statisticOperand(backward, &builder, logsumexp);
  uint16_t flowing = sambaStageBroadcastOperand(&builder, flow);
  uint16_t share = statisticOperand(backward, &builder, inner);
  uint16_t kept = 0;
  if (replaces)
    kept = sambaAttentionMaskOperand(&builder, backward->operands[backward->attention.mask],
                                     backward->crossed);

  uint16_t value = sambaLane2(&builder, SAMBA_LANE_MUL, probability(&builder, score, shift),
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
  SambaAttention attention = queryAttention(call);
  Backward backward;
  SAMBA_RETURN_IF_ERROR(begin(&attention, graph, operands, layer, false, &backward));

  uint32_t masked =
      sambaAttentionMask(&backward.composition, &attention,
                         scoresOf(&backward, operands[0], operands[1]), operands, false);
  logSumExp(&backward, masked, results[1]);
  uint32_t flow = scoresOf(&backward, operands[flowOperand], operands[2]);
  innerProduct(&backward, masked, results[1], flow, results[2]);
  uint32_t gradient = scoreGradient(&backward, masked, results[1], flow, results[2]);
  multiply(&backward, gradient, operands[1], results[0]);
  return NULL;
}

static SambaStatus stagesKey(const SambaOperatorCall *call, SambaStageGraph *graph,
                             const uint32_t *operands, const uint32_t *results, const char *layer) {
  SambaAttention attention = keyAttention(call);
  uint32_t logsumexp = operands[logsumexpOperand], inner = operands[innerOperand];
  Backward backward;
  SAMBA_RETURN_IF_ERROR(begin(&attention, graph, operands, layer, true, &backward));

  uint32_t masked =
      sambaAttentionMask(&backward.composition, &attention,
                         scoresOf(&backward, operands[1], operands[0]), operands, true);
  SambaDType dtype = call->operands[0].dtype;
  uint32_t probabilities = likeScores(&backward, dtype);
  SambaStageBuilder builder;
  startStage(&backward, &builder, probabilities);
  uint16_t score = sambaStageBroadcastOperand(&builder, masked);
  uint16_t shift = statisticOperand(&backward, &builder, logsumexp);
  sambaStageEndRounded(&builder,
                       sambaLaneCast(&builder, probability(&builder, score, shift), dtype));
  multiply(&backward, probabilities, operands[flowOperand], results[1]);

  uint32_t flow = scoresOf(&backward, operands[2], operands[flowOperand]);
  uint32_t gradient = scoreGradient(&backward, masked, logsumexp, flow, inner);
  multiply(&backward, gradient, operands[0], results[0]);
  return NULL;
}

/* --- the same steps through memory --- */

static uint32_t expandReduced(SambaExpansion *expansion, const char *name, uint32_t a) {
  bool reduced[SAMBA_MAX_RANK] = {false};
  reduced[sambaExpansionType(expansion, a)->rank - 1] = true;
  return sambaExpandReduce(expansion, name, a, reduced);
}

static uint32_t expandProbability(SambaExpansion *expansion, uint32_t scores, uint32_t shift) {
  return sambaExpandUnary(expansion, "exp", gradientSub(expansion, scores, shift));
}

/* The gradient of q k^T, not crossed. */
static uint32_t expandScoreGradient(const SambaAttention *attention, SambaExpansion *expansion,
                                    const uint32_t *operands, uint32_t probabilities, uint32_t flow,
                                    uint32_t inner) {
  uint32_t value = gradientMul(expansion, probabilities, gradientSub(expansion, flow, inner));
  value = gradientScale(expansion, value, sambaAttentionScale(attention));
  if (sambaAttentionReplaces(attention))
    value = gradientWhereElseZero(expansion, operands[attention->mask], value);
  return sambaExpandCast(expansion, value, attention->call->operands[0].dtype);
}

static SambaStatus decomposeQuery(const SambaOperatorCall *call, SambaExpansion *expansion,
                                  const uint32_t *operands, uint32_t *out_results) {
  SambaAttention attention = queryAttention(call);
  uint32_t scores = sambaAttentionExpandScores(&attention, expansion, operands);
  uint32_t maximum = expandReduced(expansion, "amax", scores);
  uint32_t sum = expandReduced(expansion, "sum", expandProbability(expansion, scores, maximum));
  uint32_t logsumexp = gradientAdd(expansion, maximum, sambaExpandUnary(expansion, "log", sum));
  uint32_t probabilities = expandProbability(expansion, scores, logsumexp);
  uint32_t flow = sambaAttentionExpandProduct(expansion, operands[flowOperand], operands[2], true,
                                              SAMBA_DTYPE_F32);
  uint32_t inner = expandReduced(expansion, "sum", gradientMul(expansion, probabilities, flow));

  uint32_t gradient =
      expandScoreGradient(&attention, expansion, operands, probabilities, flow, inner);
  out_results[0] = sambaExpandBinary(expansion, "matmul", gradient, operands[1]);
  out_results[1] = logsumexp;
  out_results[2] = inner;
  return NULL;
}

static SambaStatus decomposeKey(const SambaOperatorCall *call, SambaExpansion *expansion,
                                const uint32_t *operands, uint32_t *out_results) {
  SambaAttention attention = keyAttention(call);
  uint32_t scores = sambaAttentionExpandScores(&attention, expansion, operands);
  uint32_t logsumexp = gradientWide(expansion, operands[logsumexpOperand]);
  uint32_t inner = gradientWide(expansion, operands[innerOperand]);
  uint32_t probabilities = expandProbability(expansion, scores, logsumexp);
  uint32_t flow = sambaAttentionExpandProduct(expansion, operands[flowOperand], operands[2], true,
                                              SAMBA_DTYPE_F32);
  uint32_t gradient =
      expandScoreGradient(&attention, expansion, operands, probabilities, flow, inner);

  probabilities = sambaExpandCast(expansion, probabilities, call->operands[0].dtype);
  out_results[0] = sambaExpandBinary(
      expansion, "matmul", sambaAttentionExpandTransposed(expansion, gradient), operands[0]);
  out_results[1] = sambaExpandBinary(expansion, "matmul",
                                     sambaAttentionExpandTransposed(expansion, probabilities),
                                     operands[flowOperand]);
  return NULL;
}

#define MASKING                                                                                    \
  {OPTIONAL(FLOAT, "scale", "absent: 1 / sqrt(E)"),                                                \
   BOOL("is_causal", false, "position l sees positions up to l + causal_offset"),                  \
   INT("causal_offset", 0, "positions before the first of the query"),                             \
   FLOAT("fill", -INFINITY, "the score where an i1 mask is false")}
#define ATTENTION_CONSTRAINTS                                                                      \
  "q has a float dtype", "k and v have it too", "ranks of 2 or more, one E, one S",                \
      "the dimensions before broadcast",                                                           \
      "the mask is i1, f32 or of q's dtype and broadcasts to the scores without enlarging them",   \
      "g has the shape of attention's result and q's dtype"

const SambaOperator sambaAttentionBackwardOperators[] = {
    {.name = "attention_query_gradient",
     .summary = "gradient of scaled_dot_product_attention for q",
     .computes = "g[.., L, V] flows into attention's result. query_gradient[.., L, E] is the sum "
                 "over s of d[l, s] * k[s], d = p * (g v^T - inner) * scale with the probabilities "
                 "p; logsumexp[.., L, 1] is ln of the sum of exp(scores) of each row, inner[.., L, "
                 "1] the sum of p * g v^T. Batch dimensions are those of attention's result.",
     .operands = {"query", "key", "value", "gradient", "mask?"},
     .results = {"query_gradient", "logsumexp", "inner"},
     .attributes = MASKING,
     .constraints = {ATTENTION_CONSTRAINTS},
     .example = "%dq, %lse, %inner = samba.attention_query_gradient %q, %k, %v, %g : "
                "tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x4xf32>, tensor<2x5x4xf32>",
     .source = "arXiv 2205.14135, algorithm 4",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferQuery,
     .stages = stagesQuery,
     .decompose = decomposeQuery,
     .no_gradient = true},
    {.name = "attention_key_gradient",
     .summary = "gradients of scaled_dot_product_attention for k and v",
     .computes = "With d and p as of attention_query_gradient, whose results logsumexp and inner "
                 "are: key_gradient[.., S, E] is the sum over l of d[l, s] * q[l], "
                 "value_gradient[.., S, V] the sum over l of p[l, s] * g[l].",
     .operands = {"query", "key", "value", "gradient", "logsumexp", "inner", "mask?"},
     .results = {"key_gradient", "value_gradient"},
     .attributes = MASKING,
     .constraints = {ATTENTION_CONSTRAINTS,
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
