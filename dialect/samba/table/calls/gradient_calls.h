/* Formulas of gradients in few words, for the rules of rows (differentiate.h). Inside the operator
 * table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CALLS_GRADIENT_CALLS_H
#define SAMBA_DIALECT_SAMBA_TABLE_CALLS_GRADIENT_CALLS_H

#include "dialect/samba/table/calls/differentiate.h"

static inline uint32_t gradientAdd(SambaExpansion *expansion, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, "add", a, b);
}
static inline uint32_t gradientSub(SambaExpansion *expansion, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, "sub", a, b);
}
static inline uint32_t gradientMul(SambaExpansion *expansion, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, "mul", a, b);
}
static inline uint32_t gradientDiv(SambaExpansion *expansion, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, "div", a, b);
}
static inline uint32_t gradientNeg(SambaExpansion *expansion, uint32_t a) {
  return sambaExpandUnary(expansion, "neg", a);
}
static inline uint32_t gradientScale(SambaExpansion *expansion, uint32_t a, double number) {
  return sambaExpandWithNumber(expansion, "mul", a, number);
}
static inline uint32_t gradientPlus(SambaExpansion *expansion, uint32_t a, double number) {
  return sambaExpandWithNumber(expansion, "add", a, number);
}
static inline uint32_t gradientSquare(SambaExpansion *expansion, uint32_t a) {
  return gradientMul(expansion, a, a);
}
/* a `comparison` number, as i1 */
static inline uint32_t gradientIs(SambaExpansion *expansion, const char *comparison, uint32_t a,
                                  double number) {
  return sambaExpandWithNumber(expansion, comparison, a, number);
}
static inline uint32_t gradientAnd(SambaExpansion *expansion, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, "logical_and", a, b);
}
/* condition ? yes : no */
static inline uint32_t gradientWhere(SambaExpansion *expansion, uint32_t condition, uint32_t yes,
                                     uint32_t no) {
  return sambaExpandCall(expansion, "where", 3, (uint32_t[]){condition, yes, no}, 0, NULL);
}
/* condition ? yes : 0 */
static inline uint32_t gradientWhereElseZero(SambaExpansion *expansion, uint32_t condition,
                                             uint32_t yes) {
  SambaDType dtype = sambaExpansionType(expansion, yes)->dtype;
  return gradientWhere(expansion, condition, yes, sambaExpandScalar(expansion, dtype, 0));
}

/* In f32, in which rules compute what takes more than one rounded operation. */
static inline uint32_t gradientWide(SambaExpansion *expansion, uint32_t a) {
  return sambaExpandCast(expansion, a, SAMBA_DTYPE_F32);
}
static inline uint32_t gradientWideOperand(const SambaGradientCall *gradient,
                                           SambaExpansion *expansion, uint32_t operand) {
  return gradientWide(expansion, gradient->operands[operand]);
}
static inline uint32_t gradientWideFlow(const SambaGradientCall *gradient,
                                        SambaExpansion *expansion) {
  return gradientWide(expansion, sambaGradientOfResult(gradient));
}
static inline uint32_t gradientNumber(SambaExpansion *expansion, double number) {
  return sambaExpandScalar(expansion, SAMBA_DTYPE_F32, number);
}
/* condition ? 0 : no, in f32 */
static inline uint32_t gradientZeroWhere(SambaExpansion *expansion, uint32_t condition,
                                         uint32_t no) {
  return gradientWhere(expansion, condition, gradientNumber(expansion, 0), no);
}
/* 1 - a^2 = (1 - a) (1 + a), which loses less near 1; in f32 */
static inline uint32_t gradientOneMinusSquare(SambaExpansion *expansion, uint32_t a) {
  return gradientMul(expansion, gradientSub(expansion, gradientNumber(expansion, 1), a),
                     gradientPlus(expansion, a, 1));
}
/* Fills the gradient of an operand that is broadcast in the call: sums over the dimensions that it
 * was repeated in. value: the gradient in the broadcast shape. Does nothing when not needed. */
void sambaGradientBroadcast(const SambaGradientCall *gradient, SambaExpansion *expansion,
                            uint32_t operand, uint32_t value);
/* The sum of `value` over the dimensions in which a tensor of this shape was repeated. */
uint32_t sambaExpandSumTo(SambaExpansion *expansion, uint32_t value, uint32_t rank,
                          const int64_t *dims);
/* The gradient of an operand from its f32 value, which may have the shape that the operand was
 * broadcast to; rounded to the operand's dtype after the sum. */
static inline void gradientSet(const SambaGradientCall *gradient, SambaExpansion *expansion,
                               uint32_t operand, uint32_t value) {
  const SambaTensorType *type = &gradient->call->operands[operand];
  if (gradient->needed[operand])
    gradient->operand_gradients[operand] = sambaExpandCast(
        expansion, sambaExpandSumTo(expansion, value, type->rank, type->dims), type->dtype);
}
/* A reduction ("sum", "mean" ..) over the flagged dimensions, which become 1. */
uint32_t sambaExpandReduce(SambaExpansion *expansion, const char *name, uint32_t a,
                           const bool *reduced);
/* A tensor of one number. */
uint32_t sambaExpandFilled(SambaExpansion *expansion, SambaDType dtype, uint32_t rank,
                           const int64_t *dims, double number);

#endif
