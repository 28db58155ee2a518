/* Inside the operator table: the words that rows are written in, and the checks that shape and
 * dtype rules share.
 *
 * Each family of operators is one file, which ends with the array of its rows;
 * registry/families.def lists the arrays. A family's functions read the few facts that distinguish
 * its members from call->operator. Every check takes the number of the constraint that it decides,
 * counted from 1 in the row's `constraints`. */
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

/* Attributes of a row. REQUIRED(INT, "dim", "negative: from the end"); OPTIONAL where absence has a
 * meaning of its own, which the text says; else kind, name, default and, where the name does not
 * say it, the meaning: FLOAT("alpha", 1), BOOL("keepdim", false, "reduced dimensions become 1"). */
#define REQUIRED(kind, name, meaning)                                                              \
  {name, SAMBA_ATTRIBUTE_##kind, SAMBA_ABSENT_REFUSED, {0}, meaning, NULL}
#define OPTIONAL(kind, name, meaning)                                                              \
  {name, SAMBA_ATTRIBUTE_##kind, SAMBA_ABSENT_MEANT, {0}, meaning, NULL}
#define DEFAULT(kind, name, member, value, ...)                                                    \
  {name, SAMBA_ATTRIBUTE_##kind, SAMBA_ABSENT_DEFAULT, {.member = value}, "" __VA_ARGS__, NULL}
#define INT(name, value, ...) DEFAULT(INT, name, integer, value, __VA_ARGS__)
#define INTS(name, value, ...) DEFAULT(INTS, name, integer, value, __VA_ARGS__) /* of every one */
#define BOOL(name, value, ...) DEFAULT(BOOL, name, integer, value, __VA_ARGS__)
#define FLOAT(name, value, ...) DEFAULT(FLOAT, name, real, value, __VA_ARGS__)
/* A string that is one of those in the text, "mean, sum, none". */
#define CHOICE(name, value, choices)                                                               \
  {name, SAMBA_ATTRIBUTE_STRING, SAMBA_ABSENT_DEFAULT, {.string = value}, "", choices}
#define REQUIRED_CHOICE(name, choices)                                                             \
  {name, SAMBA_ATTRIBUTE_STRING, SAMBA_ABSENT_REFUSED, {0}, "", choices}

/* The ONNX operator that an operator is, from a version of the operator set on (until a version),
 * and the attributes that are not the same there: they have another name, another default too, or
 * are missing. */
#define ONNX(name, first, ...)                                                                     \
  {                                                                                                \
    name, first, 0, { __VA_ARGS__ }                                                                \
  }
#define ONNX_UNTIL(last, name, first, ...)                                                         \
  {                                                                                                \
    name, first, last, { __VA_ARGS__ }                                                             \
  }
#define RENAMED(attribute, onnx) {attribute, onnx, false, 0}
#define RENAMED_WITH(attribute, onnx, otherwise) {attribute, onnx, true, otherwise}
#define NOT_IN_ONNX(attribute) {attribute, NULL, false, 0}

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
/* The same for an integer attribute of the call. */
SambaStatus sambaCheckAxisAttribute(unsigned constraint, const SambaOperatorCall *call,
                                    const char *attribute, uint32_t rank, uint32_t *out_axis);
/* numpy broadcasting; out may be a. */
SambaStatus sambaCheckBroadcast(unsigned constraint, const SambaTensorType *a,
                                const SambaTensorType *b, SambaTensorType *out);
/* Fills out from an INTS attribute of exactly `count` numbers >= least; absent: all the default. */
SambaStatus sambaCheckInts(unsigned constraint, const SambaOperatorCall *call, const char *name,
                           size_t count, int64_t least, int64_t *out);
/* The place of a string attribute's value among the choices of its row, counted from 0. */
SambaStatus sambaCheckChoice(unsigned constraint, const SambaOperatorCall *call, const char *name,
                             uint32_t *out_choice);
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

/* Images of an operator with spatial dimensions are N x C x spatial, or N x spatial x C. Where in
 * them axis 0 (N), 1 (C), 2 .. (spatial) lies. */
static inline uint32_t sambaImageAxis(const SambaOperator *operator, uint32_t axis) {
  if (!operator->channels_last || axis == 0)
    return axis;
  return axis == 1 ? operator->spatial + 1u : axis - 1;
}
static inline int64_t *sambaImageDim(const SambaOperator *operator, SambaTensorType * image,
                                     uint32_t axis) {
  return &image->dims[sambaImageAxis(operator, axis)];
}

/* Reduced axes of a call with dim (absent or empty: all). */
SambaStatus sambaReducedAxes(unsigned constraint, const SambaOperatorCall *call, bool *out_reduced);
/* x reduced: the flagged axes are gone, or with keepdim 1; the dtype is x's. */
SambaTensorType sambaReducedType(const SambaTensorType *x, const bool *reduced, bool keepdim);
static inline bool sambaKeepsDims(const SambaOperatorCall *call) {
  return sambaOperatorCallInt(call, "keepdim") != 0;
}

#endif
