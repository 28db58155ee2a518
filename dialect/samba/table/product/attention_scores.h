/* What attention and its gradients share: checks, scores and products. Inside the operator table.
 */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_PRODUCT_ATTENTION_SCORES_H
#define SAMBA_DIALECT_SAMBA_TABLE_PRODUCT_ATTENTION_SCORES_H

#include "dialect/samba/table/calls/compose.h"
#include "dialect/samba/table/calls/expansion.h"

/* The call's operands as attention counts them: `mask` is the operand that masks, 0: none does. */
typedef struct SambaAttention {
  const SambaOperatorCall *call;
  uint32_t mask;
} SambaAttention;

/* Attributes and constraints in the rows of attention and of its gradients. */
#define SAMBA_ATTENTION_ATTRIBUTES                                                                 \
  {OPTIONAL(FLOAT, "scale", "absent: 1 / sqrt(E)"),                                                \
   BOOL("is_causal", false, "position l sees positions up to l + causal_offset"),                  \
   INT("causal_offset", 0, "positions before the first of the query"),                             \
   FLOAT("fill", -INFINITY, "the score where an i1 mask is false")}
#define SAMBA_ATTENTION_CONSTRAINTS                                                                \
  "q has a float dtype", "k and v have it too", "ranks of 2 or more, one E, one S",                \
      "the dimensions before broadcast",                                                           \
      "the mask is i1, f32 or of q's dtype and broadcasts to the scores without enlarging them"

/* (C1) to (C5) of query, key and value (operands 0 to 2) and the mask; the type of attention's
 * result. */
SambaStatus sambaAttentionCheck(const SambaAttention *attention, SambaTensorType *out);
/* The shape of the scores, [.., L, S], in f32. */
SambaStatus sambaAttentionScoreType(const SambaAttention *attention, SambaTensorType *out);
double sambaAttentionScale(const SambaAttention *attention);
/* Whether the mask replaces scores by a number, through which no gradient passes but in the row's
 * sum. */
bool sambaAttentionReplaces(const SambaAttention *attention);

/* product[.., m, n] = sum over k of a[.., m, k] * b[.., n, k] (or b[.., k, n]). */
void sambaAttentionProduct(const SambaComposition *composition, uint32_t a, uint32_t b,
                           bool transposed, uint32_t result);
/* How a stage that walks scores sees them: [.., L, S] or, crossed, [.., S, L]. */
uint16_t sambaAttentionMaskOperand(SambaStageBuilder *builder, uint32_t mask, bool crossed);
/* Scores times scale, masked; a tensor of its own. */
uint32_t sambaAttentionMask(const SambaComposition *composition, const SambaAttention *attention,
                            uint32_t scores, const uint32_t *operands, bool crossed);

/* The masked scores as calls: the same roundings, through memory. */
uint32_t sambaAttentionExpandScores(const SambaAttention *attention, SambaExpansion *expansion,
                                    const uint32_t *operands);
/* The product of matrices a b, or a b^T, in this dtype. */
uint32_t sambaAttentionExpandProduct(SambaExpansion *expansion, uint32_t a, uint32_t b,
                                     bool transposed, SambaDType dtype);
/* The matrix with its last two dimensions exchanged. */
uint32_t sambaAttentionExpandTransposed(SambaExpansion *expansion, uint32_t a);

#endif
