/* scaled_dot_product_attention.
 *
 * Numerics: scores, sums and quotients are f32, the largest score is subtracted before exp; the
 * probabilities are rounded to q's dtype before they multiply v. */
#include "dialect/samba/table/product/attention_gradients.h"
#include "dialect/samba/table/product/attention_scores.h"

#include <math.h>

static SambaAttention attentionOf(const SambaOperatorCall *call) {
  return (SambaAttention){call, call->operand_count == 4 ? 3 : 0};
}

static SambaStatus inferAttention(const SambaOperatorCall *call, SambaTensorType *out) {
  SambaAttention attention = attentionOf(call);
  return sambaAttentionCheck(&attention, out);
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
  uint32_t masked = sambaAttentionMask(&composition, &attention, scores, operands, false);
  uint32_t probabilities =
      sambaStageIntermediate(graph, call->operands[0].dtype, shape.rank, shape.dims);
  sambaComposeSoftmax(&composition, masked, shape.rank - 1, probabilities);
  uint32_t mixed = sambaStageIntermediateLike(graph, results[0], SAMBA_DTYPE_F32);
  sambaAttentionProduct(&composition, probabilities, operands[2], false, mixed);
  sambaStageConvert(graph, composition.name, layer, mixed, results[0]);

  return NULL;
}

/* The same steps with the same roundings, through memory. */
static SambaStatus decomposeAttention(const SambaOperatorCall *call, SambaExpansion *expansion,
                                      const uint32_t *operands, uint32_t *out_results) {
  SambaAttention attention = attentionOf(call);
  SambaAttribute last = sambaIntAttribute("dim", -1);
  uint32_t scores = sambaAttentionExpandScores(&attention, expansion, operands);
  uint32_t probabilities =
      sambaExpandCast(expansion, sambaExpandCall(expansion, "softmax", 1, &scores, 1, &last),
                      call->operands[0].dtype);
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
     .decompose = decomposeAttention,
     .differentiate = sambaGradientAttention},
    {0}};
