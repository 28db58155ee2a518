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

#endif
