/* The type of a result, as PyTorch promotes. */
#include "samba/element_type.h"

/* Types in three kinds, the higher of which wins. In a kind, the wider one does. */
enum { kindBool, kindInteger, kindFloat };

static int kindOf(SambaDType dtype) {
  if (sambaDTypeIsFloatingPoint(dtype))
    return kindFloat;
  return dtype == SAMBA_DTYPE_I1 ? kindBool : kindInteger;
}

SambaDType sambaDTypePromote(SambaDType a, SambaDType b) {
  if (a == b || b == SAMBA_DTYPE_NONE)
    return a;
  if (a == SAMBA_DTYPE_NONE)
    return b;
  if (kindOf(a) != kindOf(b))
    return kindOf(a) > kindOf(b) ? a : b;

  /* Of one size neither holds the other, so the next size does. */
  if (sambaDTypeBytes(a) == sambaDTypeBytes(b))
    return kindOf(a) == kindFloat ? SAMBA_DTYPE_F32 : SAMBA_DTYPE_I16;
  return sambaDTypeBytes(a) > sambaDTypeBytes(b) ? a : b;
}

/* The higher category decides unless the lower one is of a higher kind. */
static SambaDType combine(SambaDType higher, SambaDType lower) {
  if (higher == SAMBA_DTYPE_NONE)
    return lower;
  if (lower == SAMBA_DTYPE_NONE || kindOf(lower) <= kindOf(higher))
    return higher;
  return sambaDTypePromote(higher, lower);
}

SambaDType sambaDTypeResult(uint32_t count, const SambaTypedOperand *operands) {
  SambaDType results[] = {SAMBA_DTYPE_NONE, SAMBA_DTYPE_NONE, SAMBA_DTYPE_NONE};
  for (uint32_t i = 0; i < count; ++i) {
    const SambaTypedOperand *operand = &operands[i];
    bool is_float = sambaDTypeIsFloatingPoint(operand->dtype);
    SambaDType dtype =
        operand->category == SAMBA_OPERAND_SCALAR && is_float ? SAMBA_DTYPE_F32 : operand->dtype;
    results[operand->category] = sambaDTypePromote(results[operand->category], dtype);
  }
  SambaDType low = combine(results[SAMBA_OPERAND_RANK_ZERO], results[SAMBA_OPERAND_SCALAR]);
  return combine(results[SAMBA_OPERAND_DIMENSIONED], low);
}
