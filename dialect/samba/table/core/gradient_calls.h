/* Formulas of gradients in few words, for the rules of rows (differentiate.h). Inside the operator
 * table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CORE_GRADIENT_CALLS_H
#define SAMBA_DIALECT_SAMBA_TABLE_CORE_GRADIENT_CALLS_H

#include "dialect/samba/table/core/differentiate.h"

static inline uint32_t gradientAdd(SambaExpansion *e, uint32_t a, uint32_t b) {
  return sambaExpandBinary(e, "add", a, b);
}
static inline uint32_t gradientSub(SambaExpansion *e, uint32_t a, uint32_t b) {
  return sambaExpandBinary(e, "sub", a, b);
}
static inline uint32_t gradientMul(SambaExpansion *e, uint32_t a, uint32_t b) {
  return sambaExpandBinary(e, "mul", a, b);
}
static inline uint32_t gradientDiv(SambaExpansion *e, uint32_t a, uint32_t b) {
  return sambaExpandBinary(e, "div", a, b);
}
static inline uint32_t gradientNeg(SambaExpansion *e, uint32_t a) {
  return sambaExpandUnary(e, "neg", a);
}
static inline uint32_t gradientScale(SambaExpansion *e, uint32_t a, double number) {
  return sambaExpandWithNumber(e, "mul", a, number);
}
static inline uint32_t gradientPlus(SambaExpansion *e, uint32_t a, double number) {
  return sambaExpandWithNumber(e, "add", a, number);
}
static inline uint32_t gradientSquare(SambaExpansion *e, uint32_t a) {
  return gradientMul(e, a, a);
}
/* a `comparison` number, as i1 */
static inline uint32_t gradientIs(SambaExpansion *e, const char *comparison, uint32_t a,
                                  double number) {
  return sambaExpandWithNumber(e, comparison, a, number);
}
static inline uint32_t gradientAnd(SambaExpansion *e, uint32_t a, uint32_t b) {
  return sambaExpandBinary(e, "logical_and", a, b);
}
/* condition ? yes : no */
static inline uint32_t gradientWhere(SambaExpansion *e, uint32_t condition, uint32_t yes,
                                     uint32_t no) {
  return sambaExpandCall(e, "where", 3, (uint32_t[]){condition, yes, no}, 0, NULL);
}
/* condition ? yes : 0 */
static inline uint32_t gradientWhereElseZero(SambaExpansion *e, uint32_t condition, uint32_t yes) {
  SambaDType dtype = sambaExpansionType(e, yes)->dtype;
  return gradientWhere(e, condition, yes, sambaExpandScalar(e, dtype, 0));
}

/* In f32, in which rules compute what takes more than one rounded operation. */
static inline uint32_t gradientWide(SambaExpansion *e, uint32_t a) {
  return sambaExpandCast(e, a, SAMBA_DTYPE_F32);
}
static inline uint32_t gradientWideOperand(const SambaGradientCall *gradient, SambaExpansion *e,
                                           uint32_t operand) {
  return gradientWide(e, gradient->operands[operand]);
}
static inline uint32_t gradientWideFlow(const SambaGradientCall *gradient, SambaExpansion *e) {
  return gradientWide(e, sambaGradientOfResult(gradient));
}
static inline uint32_t gradientNumber(SambaExpansion *e, double number) {
  return sambaExpandScalar(e, SAMBA_DTYPE_F32, number);
}
/* condition ? 0 : no, in f32 */
static inline uint32_t gradientZeroWhere(SambaExpansion *e, uint32_t condition, uint32_t no) {
  return gradientWhere(e, condition, gradientNumber(e, 0), no);
}
/* 1 - a^2 = (1 - a) (1 + a), which loses less near 1; in f32 */
static inline uint32_t gradientOneMinusSquare(SambaExpansion *e, uint32_t a) {
  return gradientMul(e, gradientSub(e, gradientNumber(e, 1), a), gradientPlus(e, a, 1));
}
/* Fills the gradient of an operand that is broadcast in the call: sums over the dimensions that it
 * was repeated in. value: the gradient in the broadcast shape. Does nothing when not needed. */
void sambaGradientBroadcast(const SambaGradientCall *gradient, SambaExpansion *expansion,
                            uint32_t operand, uint32_t value);
/* The sum of `value` over the dimensions in which a tensor of this shape was repeated. */
uint32_t sambaExpandSumTo(SambaExpansion *expansion, uint32_t value, uint32_t rank,
                          const int64_t *dims);
/* The gradient of an operand from its f32 value, which may have the shape that the operand was
 * broadcast to. */
static inline void gradientSet(const SambaGradientCall *gradient, SambaExpansion *e,
                               uint32_t operand, uint32_t value) {
  sambaGradientBroadcast(gradient, e, operand,
                         sambaExpandCast(e, value, gradient->call->operands[operand].dtype));
}
/* A reduction ("sum", "mean" ..) over the flagged dimensions, which become 1. */
uint32_t sambaExpandReduce(SambaExpansion *e, const char *name, uint32_t a, const bool *reduced);
/* A tensor of one number. */
uint32_t sambaExpandFilled(SambaExpansion *e, SambaDType dtype, uint32_t rank, const int64_t *dims,
                           double number);

#endif
