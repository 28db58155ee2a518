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
