/* Element types of tensors: names, numbers of the host, and what an operation on several gives. */
#ifndef SAMBA_ELEMENT_TYPE_H
#define SAMBA_ELEMENT_TYPE_H

#include "samba/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* f16, bf16, f32 and f64. */
SAMBA_EXPORT bool sambaDTypeIsFloatingPoint(SambaDType dtype);
/* Reads Samba's names and PyTorch's: "bf16", "bfloat16", "torch.bfloat16", "torch.BFloat16Tensor".
 * The error lists the names. */
SAMBA_EXPORT SambaStatus sambaDTypeParse(SambaStringRef name, SambaDType *out_dtype);
/* "torch.FloatTensor" for f32, and so on. */
SAMBA_EXPORT const char *sambaDTypeTensorName(SambaDType dtype);
/* The type of the result of an operation on tensors of these types, as in PyTorch. */
SAMBA_EXPORT SambaDType sambaDTypePromote(SambaDType a, SambaDType b);

/* A number of the host language. Its kind takes part in promotion, its value never. */
typedef struct SambaScalar {
  SambaDType dtype; /* i1, i64 or f64 */
  int64_t integer;  /* of i1 and i64 */
  double number;    /* of f64 */
} SambaScalar;
static inline SambaScalar sambaScalarBool(bool value) {
  SambaScalar scalar = {SAMBA_DTYPE_I1, value, 0};
  return scalar;
}
static inline SambaScalar sambaScalarInt(int64_t value) {
  SambaScalar scalar = {SAMBA_DTYPE_I64, value, 0};
  return scalar;
}
static inline SambaScalar sambaScalarFloat(double value) {
  SambaScalar scalar = {SAMBA_DTYPE_F64, 0, value};
  return scalar;
}

/* What takes part in an operation: tensors with dimensions decide first, then tensors of rank 0,
 * then numbers. A lower category only matters when its kind (bool, integer, float) is higher. */
typedef enum {
  SAMBA_OPERAND_DIMENSIONED,
  SAMBA_OPERAND_RANK_ZERO,
  SAMBA_OPERAND_SCALAR
} SambaOperandCategory;
typedef struct SambaTypedOperand {
  SambaOperandCategory category;
  SambaDType dtype; /* of a number: i1, i64 or f64; a number that is a float counts as f32 */
} SambaTypedOperand;
/* SAMBA_DTYPE_NONE for no operands. */
SAMBA_EXPORT SambaDType sambaDTypeResult(uint32_t count, const SambaTypedOperand *operands);

#ifdef __cplusplus
}
#endif

#endif
