/* Inside the operator table: what a row is, and the checks that shape and dtype rules share.
 *
 * Each family of operators is one file; a row carries the public description first, so that a
 * family's functions get from call->operator back to the row and to the few numbers that
 * distinguish its members. Every check takes the number of the constraint that it decides: the
 * family's file lists them. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CORE_ROWS_H
#define SAMBA_DIALECT_SAMBA_TABLE_CORE_ROWS_H

#include "dialect/samba/table/core/operator.h"

/* Sets of dtypes, one bit each. */
enum {
  SAMBA_SET_FLOAT = 1 << SAMBA_DTYPE_F32 | 1 << SAMBA_DTYPE_BF16 | 1 << SAMBA_DTYPE_F16,
  SAMBA_SET_BOOL = 1 << SAMBA_DTYPE_I1,
  SAMBA_SET_SIGNED =
      1 << SAMBA_DTYPE_I8 | 1 << SAMBA_DTYPE_I16 | 1 << SAMBA_DTYPE_I32 | 1 << SAMBA_DTYPE_I64,
  SAMBA_SET_INDEX = 1 << SAMBA_DTYPE_I32 | 1 << SAMBA_DTYPE_I64,
  SAMBA_SET_INTEGER = SAMBA_SET_SIGNED | 1 << SAMBA_DTYPE_UI8,
  SAMBA_SET_NUMBER = SAMBA_SET_FLOAT | SAMBA_SET_INTEGER,
  SAMBA_SET_ANY = SAMBA_SET_NUMBER | SAMBA_SET_BOOL
};

struct SambaStageBuilder;

typedef struct SambaOperatorRow {
  SambaOperator operator;
  uint32_t dtypes; /* the set that operand 0 may have */
  uint8_t opcode;  /* the lane operation at its heart, where there is one */
  uint8_t spatial; /* convolutions and pools: spatial dimensions */
  bool predicate;  /* the result is i1 */
  /* Elementwise families: appends the scalar program; x are the operands in f32, i32, i64 or i1;
   * returns the value before conversion to the result's dtype. */
  uint16_t (*program)(const SambaOperatorCall *call, struct SambaStageBuilder *builder,
                      const uint16_t *x);
} SambaOperatorRow;

static inline const SambaOperatorRow *sambaRowOfCall(const SambaOperatorCall *call) {
  return (const SambaOperatorRow *)call->operator; /* the first member of a row */
}

#define X(name) extern const SambaOperatorRow sambaOperatorRow_##name;
#include "dialect/samba/table/operators.def"
#undef X

/* Attribute lists: none; the one dimension `dim`. */
extern const SambaAttributeRow sambaNoAttributes[], sambaDimAttributes[];

/* Checks; `what` names the operand or attribute in the message. */
SambaStatus sambaCheckDType(unsigned constraint, const char *what, SambaDType dtype, uint32_t set);
SambaStatus sambaCheckSameDType(unsigned constraint, const char *what, SambaDType dtype,
                                const char *other, SambaDType expected);
SambaStatus sambaCheckRank(unsigned constraint, const char *what, const SambaTensorType *type,
                           uint32_t least, uint32_t most);
/* type must be exactly rank x dims */
SambaStatus sambaCheckShape(unsigned constraint, const char *what, const SambaTensorType *type,
                            uint32_t rank, const int64_t *dims);
SambaStatus sambaCheckDim(unsigned constraint, const char *what, const SambaTensorType *type,
                          uint32_t dim, int64_t expected);
/* An axis attribute: negative counts from the end. */
SambaStatus sambaCheckAxis(unsigned constraint, const char *attribute, int64_t axis, uint32_t rank,
                           uint32_t *out_axis);
/* numpy broadcasting; out may be a. */
SambaStatus sambaCheckBroadcast(unsigned constraint, const SambaTensorType *a,
                                const SambaTensorType *b, SambaTensorType *out);
/* Fills out from an INTS attribute of exactly `count` numbers >= least; absent: all `otherwise`. */
SambaStatus sambaCheckInts(unsigned constraint, const SambaOperatorCall *call, const char *name,
                           size_t count, int64_t least, int64_t otherwise, int64_t *out);
/* The result dtype of a contraction: operand 0's, or attribute out_dtype. */
SambaStatus sambaCheckOutDType(unsigned constraint, const SambaOperatorCall *call,
                               SambaDType *out_dtype);

/* Elements of a tensor; the types that reach the table have fewer than 2^48. */
int64_t sambaTensorTypeElements(const SambaTensorType *type);

/* What a window operator needs to know, after its checks (begin padding, stride, dilation, window,
 * result size). */
typedef struct SambaWindow {
  uint32_t spatial;
  int64_t kernel[3], stride[3], begin[3], end[3], dilation[3], out[3];
} SambaWindow;
/* Of spatial dimension i, where x has `size` elements: what the window moves in with its padding,
 * and from its first tap to its last. */
SambaStatus sambaCheckWindowFits(unsigned constraint, const SambaWindow *window, uint32_t i,
                                 int64_t size, int64_t *out_room, int64_t *out_span);

/* Reduced axes of a call with dim (absent or empty: all). */
SambaStatus sambaReducedAxes(unsigned constraint, const SambaOperatorCall *call, bool *out_reduced);
/* x reduced: the flagged axes are gone, or with keepdim 1; the dtype is x's. */
SambaTensorType sambaReducedType(const SambaTensorType *x, const bool *reduced, bool keepdim);
static inline bool sambaKeepsDims(const SambaOperatorCall *call) {
  return sambaOperatorCallInt(call, "keepdim", 0) != 0;
}

#endif
