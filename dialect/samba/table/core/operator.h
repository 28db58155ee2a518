/* The operator table: for every samba operator its operands, attributes, shape and dtype rule, and
 * structured stages.
 *
 * MLIR-free C. Tracing (frontend/trace) and the dialect's type inference and verifier call the same
 * rules, so an error appears at the builder call and in IR with the same words. Adding an operator:
 * one TableGen entry, one row here. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CORE_OPERATOR_H
#define SAMBA_DIALECT_SAMBA_TABLE_CORE_OPERATOR_H

#include "backend/plan/stage/stage.h"
#include "support/base/status.h"
#include "support/number/dtype.h"
#include "support/text/string_ref.h"

enum { SAMBA_MAX_RESULTS = 8 };

typedef struct SambaTensorType {
  SambaDType dtype;
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
} SambaTensorType;

typedef enum {
  SAMBA_ATTRIBUTE_INT,
  SAMBA_ATTRIBUTE_FLOAT,
  SAMBA_ATTRIBUTE_BOOL,
  SAMBA_ATTRIBUTE_INTS,
  SAMBA_ATTRIBUTE_FLOATS,
  SAMBA_ATTRIBUTE_STRING,
  SAMBA_ATTRIBUTE_DTYPE
} SambaAttributeKind;

/* One attribute of a call. In IR: INT i64, FLOAT f64, BOOL i1, INTS array<i64>, FLOATS array<f64>,
 * STRING str, DTYPE a type attribute. */
typedef struct SambaAttribute {
  SambaStringRef name;
  SambaAttributeKind kind;
  union {
    int64_t integer; /* INT, BOOL */
    double real;
    SambaStringRef string;
    struct {
      const int64_t *data;
      size_t size;
    } integers;
    struct {
      const double *data;
      size_t size;
    } reals;
    SambaDType dtype;
  } value;
} SambaAttribute;

struct SambaOperator;
struct SambaExpansion;

/* One use of an operator: types and attributes only; nobody here sees values. */
typedef struct SambaOperatorCall {
  const struct SambaOperator *operator;
  uint32_t operand_count;
  const SambaTensorType
      *operands; /* optional operands at the end are left out; variadic ones are all listed */
  uint32_t attribute_count;
  const SambaAttribute *attributes;
} SambaOperatorCall;

typedef struct SambaAttributeRow {
  const char *name;
  SambaAttributeKind kind;
  bool required;
  const char *constraint; /* short text for documents */
} SambaAttributeRow;

typedef struct SambaOperator {
  const char *name;                            /* "linear"; the IR op is samba.linear */
  uint32_t minimum_operands, maximum_operands; /* UINT32_MAX: variadic */
  const SambaAttributeRow *attributes;         /* ends with a NULL name */
  uint32_t result_count;                       /* 1 to SAMBA_MAX_RESULTS */
  bool view;             /* moves no data by itself: reshape, transpose, expand, slice, pad ... */
  bool elementwise;      /* numpy broadcasting, one point of output per point of the box */
  bool contraction;      /* matmul-like: mp1 casts its inputs */
  uint32_t host_scalars; /* operands from here on are hyperparameters, which keep their dtype; 0:
                            there are none */
  /* Checks the call and fills result types. Errors cite the constraint: "(C2) weight's dimension 1
   * is 700, but ...". */
  SambaStatus (*infer)(const SambaOperatorCall *call, SambaTensorType *out_results);
  /* Appends the call's stages. operands: tensors of the graph, in the call's order; results:
   * tensors already appended (dtype, shape of infer). Intermediate tensors are appended by the
   * function. NULL for views (they have `compose`). */
  SambaStatus (*stages)(const SambaOperatorCall *call, SambaStageGraph *graph,
                        const uint32_t *operands, const uint32_t *results, const char *layer);
  /* Views with one viewed operand (operand 0) that are affine: fills how each axis of operand 0 is
   * read from the axes of the result (coefficients[i]: result axis i). out_operand->tensor is left
   * alone. Reshape and other non-affine views: NULL (a reshape is an alias of its operand). */
  SambaStatus (*compose)(const SambaOperatorCall *call, const SambaTensorType *result,
                         SambaStageOperand *out_operand);
  /* Composite operators: appends the calls that compute the results to the expansion (expansion.h),
   * in which `operands` are the call's; samba-decompose-composites applies it. NULL for most
   * others. An operator that has stages too keeps them where the machine can hold them as one
   * section; both ways give the same bits. */
  SambaStatus (*decompose)(const SambaOperatorCall *call, struct SambaExpansion *expansion,
                           const uint32_t *operands, uint32_t *out_results);
} SambaOperator;

const SambaOperator *
sambaOperatorFind(SambaStringRef name);               /* without "samba."; NULL when unknown */
const SambaOperator *sambaOperatorAt(uint32_t index); /* NULL past the end */

/* Checks operand count, attribute names and kinds, then op->infer. Errors do not start with the
 * op's name: callers add it. */
SambaStatus sambaOperatorInfer(const SambaOperatorCall *call, SambaTensorType *out_results);
const SambaAttribute *sambaOperatorCallFind(const SambaOperatorCall *call,
                                            const char *name); /* NULL when absent */
int64_t sambaOperatorCallInt(const SambaOperatorCall *call, const char *name, int64_t otherwise);
double sambaOperatorCallFloat(const SambaOperatorCall *call, const char *name, double otherwise);

/* Attribute initializers for calls. */
static inline SambaAttribute sambaIntAttribute(const char *name, int64_t value) {
  return (SambaAttribute){sambaStringRef(name), SAMBA_ATTRIBUTE_INT, {.integer = value}};
}
static inline SambaAttribute sambaBoolAttribute(const char *name, bool value) {
  return (SambaAttribute){sambaStringRef(name), SAMBA_ATTRIBUTE_BOOL, {.integer = value}};
}
static inline SambaAttribute sambaFloatAttribute(const char *name, double value) {
  return (SambaAttribute){sambaStringRef(name), SAMBA_ATTRIBUTE_FLOAT, {.real = value}};
}
static inline SambaAttribute sambaIntsAttribute(const char *name, const int64_t *data,
                                                size_t size) {
  return (SambaAttribute){sambaStringRef(name), SAMBA_ATTRIBUTE_INTS, {.integers = {data, size}}};
}
static inline SambaAttribute sambaFloatsAttribute(const char *name, const double *data,
                                                  size_t size) {
  return (SambaAttribute){sambaStringRef(name), SAMBA_ATTRIBUTE_FLOATS, {.reals = {data, size}}};
}
static inline SambaAttribute sambaStringAttribute(const char *name, const char *value) {
  return (SambaAttribute){
      sambaStringRef(name), SAMBA_ATTRIBUTE_STRING, {.string = sambaStringRef(value)}};
}
static inline SambaAttribute sambaDTypeAttribute(const char *name, SambaDType value) {
  return (SambaAttribute){sambaStringRef(name), SAMBA_ATTRIBUTE_DTYPE, {.dtype = value}};
}

/* "4x3xf32" into buffer (at least 160 bytes); returns buffer. For messages. */
const char *sambaTensorTypeFormat(const SambaTensorType *type, char *buffer);

/* The bits of a number in a dtype: rounded to nearest even, canonical NaN; integers toward zero,
 * saturated to 64 bits, then wrapped. */
uint64_t sambaDTypeBitsOfNumber(SambaDType dtype, double value);

#endif
