/* scaled_dot_product_attention, alone and with what its gradient needs of each row.
 *
 * Numerics: scores are f32, or bf16 when q is; the largest one is subtracted before exp; the powers
 * are rounded to q's dtype before they are summed in f32 and multiply v, and the products are
 * divided by the sums: a row of the result has far fewer elements than a row of scores. */
#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/product/attention_gradients.h"
#include "dialect/samba/table/product/attention_scores.h"

#include <math.h>

static SambaAttention attentionOf(const SambaOperatorCall *call) {
  return (SambaAttention){call, call->operand_count == 4 ? 3 : 0};
}

static bool keepsLogSumExp(const SambaOperatorCall *call) {
  return call->operator->results[0] != NULL;
}

static SambaStatus inferAttention(const SambaOperatorCall *call, SambaTensorType *out) {
  SambaAttention attention = attentionOf(call);
  SAMBA_RETURN_IF_ERROR(sambaAttentionCheck(&attention, out));
  if (keepsLogSumExp(call)) {
    out[1] = out[0];
    out[1].dtype = SAMBA_DTYPE_F32;
    out[1].dims[out[1].rank - 1] = 1;
  }
  return NULL;
}

/* Whether the scale may wait for the powers: then what leaves the first product is the scores. */
static bool scalesPowers(const SambaAttention *attention) {
  return !attention->mask && !sambaOperatorCallInt(attention->call, "is_causal") &&
         sambaAttentionScale(attention) > 0;
}

/* Whether scores are bf16, as what PyTorch multiplies in bf16 is: they are read twice, and links
 * and memory units carry twice as many. bf16 has the range of f32, so a mask stays what it is. */
static bool roundsScores(const SambaAttention *attention) {
  const SambaTensorType *operands = attention->call->operands;
  return operands[0].dtype == SAMBA_DTYPE_BF16 &&
         !(attention->mask && operands[attention->mask].dtype == SAMBA_DTYPE_F32);
}

/* exp((scores - maximum) * scale), rounded to the dtype of what it multiplies */
static uint32_t powersOf(const SambaComposition *composition, uint32_t scores, uint32_t maximum,
                         double scale, SambaDType dtype) {
  SambaStageTensor like = composition->graph->tensors[scores];
  uint32_t result = sambaStageIntermediate(composition->graph, dtype, like.rank, like.dims);
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                             result);
  uint16_t value = sambaStageBroadcastOperand(&builder, scores);
  uint16_t shift = sambaStageBroadcastOperand(&builder, maximum);
  value = sambaLane2(&builder, SAMBA_LANE_SUB, value, shift);
  if (scale != 1)
    value = sambaLane2(&builder, SAMBA_LANE_MUL, value, sambaLaneFloat(&builder, scale));
  sambaStageEndRounded(&builder, sambaLane1(&builder, SAMBA_LANE_EXP, value));
  return result;
}

/* maximum * scale + log(sum) of each row, into `result`. */
static void logSumExp(const SambaComposition *composition, uint32_t maximum, double scale,
                      uint32_t sum, uint32_t result) {
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, composition->graph, composition->name, composition->layer,
                             result);
  uint16_t total = sambaStageBroadcastOperand(&builder, sum);
  uint16_t high = sambaStageBroadcastOperand(&builder, maximum);
  if (scale != 1)
    high = sambaLane2(&builder, SAMBA_LANE_MUL, high, sambaLaneFloat(&builder, scale));
  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_ADD, high,
                                     sambaLane1(&builder, SAMBA_LANE_LOG, total)));
}

static SambaStatus stagesAttention(const SambaOperatorCall *call, SambaStageGraph *graph,
                                   const uint32_t *operands, const uint32_t *results,
                                   const char *layer) {
  SambaAttention attention = attentionOf(call);
  SambaComposition composition = {graph, call->operator->name, layer};
  SambaTensorType shape;

  SAMBA_RETURN_IF_ERROR(sambaAttentionScoreType(&attention, &shape));
  uint32_t scores = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, shape.rank, shape.dims);
  sambaAttentionProduct(&composition, operands[0], operands[1], true, scores);
  double scale = 1;
  if (scalesPowers(&attention))
    scale = sambaAttentionScale(&attention);
  else
    scores = sambaAttentionMask(&composition, &attention, scores, operands, false);
  if (roundsScores(&attention)) {
    uint32_t rounded = sambaStageIntermediate(graph, SAMBA_DTYPE_BF16, shape.rank, shape.dims);
    sambaStageConvert(graph, composition.name, layer, scores, rounded);
    scores = rounded;
  }

  bool reduced[SAMBA_MAX_RANK] = {false};
  reduced[shape.rank - 1] = true;
  uint32_t maximum = sambaComposeReduce(&composition, scores, reduced, SAMBA_LANE_REDUCE_MAX,
                                        SAMBA_REDUCE_PLAIN, 0);
  uint32_t powers = powersOf(&composition, scores, maximum, scale, call->operands[0].dtype);
  uint32_t sum = sambaComposeReduce(&composition, powers, reduced, SAMBA_LANE_REDUCE_ADD,
                                    SAMBA_REDUCE_PLAIN, 0);
  if (keepsLogSumExp(call))
    logSumExp(&composition, maximum, scale, sum, results[1]);

  SambaStageTensor like = graph->tensors[results[0]];
  uint32_t mixed = sambaStageIntermediate(graph, SAMBA_DTYPE_F32, like.rank, like.dims);
  sambaAttentionProduct(&composition, powers, operands[2], false, mixed);
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, composition.name, layer, results[0]);
  uint16_t value = sambaStageBroadcastOperand(&builder, mixed);
  uint16_t total = sambaStageBroadcastOperand(&builder, sum);
  sambaStageEndRounded(&builder, sambaLane2(&builder, SAMBA_LANE_DIV, value, total));

  return NULL;
}

/* The same steps with the same roundings, through memory. */
static SambaStatus decomposeAttention(const SambaOperatorCall *call, SambaExpansion *expansion,
                                      const uint32_t *operands, uint32_t *out_results) {
  SambaAttention attention = attentionOf(call);
  SambaDType dtype = call->operands[0].dtype;
  bool reduced[SAMBA_MAX_RANK] = {false};
  bool late = scalesPowers(&attention);
  uint32_t scores =
      late ? sambaAttentionExpandProduct(expansion, operands[0], operands[1], true, SAMBA_DTYPE_F32)
           : sambaAttentionExpandScores(&attention, expansion, operands);
  if (roundsScores(&attention))
    scores = sambaExpandCast(expansion, sambaExpandCast(expansion, scores, SAMBA_DTYPE_BF16),
                             SAMBA_DTYPE_F32);

  reduced[sambaExpansionType(expansion, scores)->rank - 1] = true;
  uint32_t maximum = sambaExpandReduce(expansion, "amax", scores, reduced);
  uint32_t powers = sambaExpandBinary(expansion, "sub", scores, maximum);
  if (late)
    powers = sambaExpandWithNumber(expansion, "mul", powers, sambaAttentionScale(&attention));
  powers = sambaExpandCast(expansion, sambaExpandUnary(expansion, "exp", powers), dtype);
  uint32_t wide = sambaExpandCast(expansion, powers, SAMBA_DTYPE_F32);
  uint32_t sum = sambaExpandReduce(expansion, "sum", wide, reduced);
  if (keepsLogSumExp(call)) {
    if (late)
      maximum = sambaExpandWithNumber(expansion, "mul", maximum, sambaAttentionScale(&attention));
    out_results[1] =
        sambaExpandBinary(expansion, "add", maximum, sambaExpandUnary(expansion, "log", sum));
  }
  uint32_t mixed =
      sambaAttentionExpandProduct(expansion, powers, operands[2], false, SAMBA_DTYPE_F32);
  out_results[0] =
      sambaExpandCast(expansion, sambaExpandBinary(expansion, "div", mixed, sum), dtype);
  return NULL;
}

const SambaOperator sambaAttentionOperators[] = {
    {.name = "scaled_dot_product_attention",
     .summary = "softmax(q * transpose(k) * scale + mask) * v",
     .computes = "q[.., L, E], k[.., S, E], v[.., S, V]; the mask broadcasts to [.., L, S]: a "
                 "float mask is added, an i1 mask keeps where true; elsewhere the score is `fill`. "
                 "is_causal keeps s <= l + causal_offset.",
     .operands = {"query", "key", "value", "mask?"},
     .attributes = SAMBA_ATTENTION_ATTRIBUTES,
     .constraints = {SAMBA_ATTENTION_CONSTRAINTS},
     .example = "%y = samba.scaled_dot_product_attention %q, %k, %v {scale = 0.5} : "
                "tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x4xf32>",
     .source = "torch.nn.functional.scaled_dot_product_attention",
     .trained_as = "attention_with_logsumexp",
     .contraction = true,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferAttention,
     .stages = stagesAttention,
     .decompose = decomposeAttention,
     .differentiate = sambaGradientAttention},
    {.name = "attention_with_logsumexp",
     .summary = "scaled_dot_product_attention with a statistic of each row",
     .computes = "As samba.scaled_dot_product_attention; logsumexp[.., L, 1] is ln of the sum of "
                 "exp(scores) of each row, which its gradients take.",
     .operands = {"query", "key", "value", "mask?"},
     .results = {"result", "logsumexp"},
     .attributes = SAMBA_ATTENTION_ATTRIBUTES,
     .constraints = {SAMBA_ATTENTION_CONSTRAINTS},
     .example = "%y, %lse = samba.attention_with_logsumexp %q, %k, %v {scale = 0.5} : "
                "tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x4xf32>",
     .source = "arXiv 2205.14135, algorithm 1",
     .contraction = true,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferAttention,
     .stages = stagesAttention,
     .decompose = decomposeAttention,
     .differentiate = sambaGradientAttention},
    {0}};
