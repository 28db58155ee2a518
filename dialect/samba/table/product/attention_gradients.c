/* The gradient of attention, by the two operators of attention_backward.c; see
 * attention_gradients.h. Only a mask that is trained has probabilities in memory. */
#include "dialect/samba/table/product/attention_gradients.h"

#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/product/attention_scores.h"

#include <string.h>

/* p * (flow - inner), summed to the mask's shape. */
static void setMask(const SambaGradientCall *gradient, SambaExpansion *expansion, uint32_t g,
                    uint32_t logsumexp, uint32_t inner) {
  SambaAttention attention = {gradient->call, 3};
  uint32_t scores = sambaAttentionExpandScores(&attention, expansion, gradient->operands);
  uint32_t probabilities =
      sambaExpandUnary(expansion, "exp", gradientSub(expansion, scores, logsumexp));
  uint32_t flow =
      sambaAttentionExpandProduct(expansion, g, gradient->operands[2], true, SAMBA_DTYPE_F32);
  gradientSet(gradient, expansion, 3,
              gradientMul(expansion, probabilities, gradientSub(expansion, flow, inner)));
}

/* Attention and the logsumexp of its rows: those of the call, or of another one like it where it
 * has left none (a graph that is differentiated as it is; the pass takes `trained_as`). */
static uint32_t resultsOf(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaOperatorCall *call = gradient->call;
  if (call->operator->results[0])
    return gradient->results[0];
  return sambaExpandCall(expansion, "attention_with_logsumexp", call->operand_count,
                         gradient->operands, call->attribute_count, call->attributes);
}

SambaStatus sambaGradientAttention(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaOperatorCall *call = gradient->call;
  bool masked = call->operand_count == 4;
  if (call->operator->results[0] && gradient->result_gradients[1] != SAMBA_NO_INDEX)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "no gradient passes through the logsumexp; compute it from the scores "
                           "where one must");
  uint32_t g = sambaExpandCast(expansion, sambaGradientOfResult(gradient), call->operands[0].dtype);
  uint32_t result = resultsOf(gradient, expansion), logsumexp = result + 1;
  uint32_t operands[] = {
      gradient->operands[0], gradient->operands[1], gradient->operands[2], g, logsumexp, result, 0};

  if (masked)
    operands[6] = gradient->operands[3];
  uint32_t query = sambaExpandCall(expansion, "attention_query_gradient", masked ? 7 : 6, operands,
                                   call->attribute_count, call->attributes);
  uint32_t inner = query + 1;
  sambaGradientBroadcast(gradient, expansion, 0, query);

  if (gradient->needed[1] || gradient->needed[2]) {
    operands[5] = inner;
    uint32_t key = sambaExpandCall(expansion, "attention_key_gradient", masked ? 7 : 6, operands,
                                   call->attribute_count, call->attributes);
    sambaGradientBroadcast(gradient, expansion, 1, key);
    sambaGradientBroadcast(gradient, expansion, 2, key + 1);
  }

  if (masked && gradient->needed[3])
    setMask(gradient, expansion, g, logsumexp, inner);
  return NULL;
}
