/* A composite operator as calls of other operators: what a row's `decompose` writes.
 *
 * MLIR-free; the pass samba-decompose-composites makes IR of it, tests evaluate it. Values are
 * numbers: the operands first, then constants and results of calls in order. A failed call is
 * remembered with the first reason; later calls do nothing and give value 0. Attribute initializers
 * are in operator.h. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CALLS_EXPANSION_H
#define SAMBA_DIALECT_SAMBA_TABLE_CALLS_EXPANSION_H

#include "dialect/samba/table/core/operator.h"
#include "support/base/memory.h"

typedef struct SambaExpansionStep {
  const SambaOperator *operator; /* NULL: a constant */
  uint32_t operand_count;
  const uint32_t *operands;
  uint32_t attribute_count;
  const SambaAttribute *attributes;
  const void *data; /* of a constant: row-major, i1 one byte each; one element when splat */
  bool splat;
  uint32_t first_value; /* the results' values are consecutive */
  bool starts_section;
} SambaExpansionStep;

typedef struct SambaExpansion {
  SambaArena *arena; /* of everything in here */
  /* The operators that calls name: sambaOperatorFind. A member, because the registry of all
   * operators lies above the families that write expansions. */
  const SambaOperator *(*find)(SambaStringRef name);
  SambaStatus status;
  SAMBA_ARRAY(SambaTensorType) types; /* of every value */
  SAMBA_ARRAY(SambaExpansionStep) steps;
  bool starts_section; /* of the next call */
} SambaExpansion;

/* Decomposes a call of a composite operator. The expansion must be zero but for its arena and
 * `find`; sambaExpansionFree it in any case. out_results: the values of the call's results, of the
 * types that infer gives. */
SambaStatus sambaOperatorExpand(const SambaOperatorCall *call, SambaExpansion *expansion,
                                uint32_t *out_results);
void sambaExpansionFree(SambaExpansion *expansion);

/* A value that no call of the expansion makes: an operand of all that follows. */
uint32_t sambaExpandOperand(SambaExpansion *expansion, const SambaTensorType *type);

/* The type of a value, borrowed until the next value is made. */
const SambaTensorType *sambaExpansionType(const SambaExpansion *expansion, uint32_t value);
/* A call of any operator; operands and attributes are copied. The value of the first result. */
uint32_t sambaExpandCall(SambaExpansion *expansion, const char *name, uint32_t operand_count,
                         const uint32_t *operands, uint32_t attribute_count,
                         const SambaAttribute *attributes);
/* The next call starts a section where sections are fused: what repeats is cut at the same places
 * and merges. */
static inline void sambaExpandSectionStart(SambaExpansion *expansion) {
  expansion->starts_section = true;
}
/* data is copied */
uint32_t sambaExpandConstant(SambaExpansion *expansion, const SambaTensorType *type,
                             const void *data, bool splat);
/* A constant of numbers, converted to dtype as sambaDTypeBitsOfNumber does. */
uint32_t sambaExpandNumbers(SambaExpansion *expansion, SambaDType dtype, uint32_t rank,
                            const int64_t *dims, const double *numbers);
uint32_t sambaExpandScalar(SambaExpansion *expansion, SambaDType dtype, double value); /* rank 0 */

/* Frequent calls in one line each; x itself where nothing changes. */
uint32_t sambaExpandUnary(SambaExpansion *expansion, const char *name, uint32_t x);
uint32_t sambaExpandBinary(SambaExpansion *expansion, const char *name, uint32_t a, uint32_t b);
/* a `name` number, the number in a's dtype */
uint32_t sambaExpandWithNumber(SambaExpansion *expansion, const char *name, uint32_t a,
                               double number);
uint32_t sambaExpandCast(SambaExpansion *expansion, uint32_t x, SambaDType dtype);
uint32_t sambaExpandReshape(SambaExpansion *expansion, uint32_t x, uint32_t rank,
                            const int64_t *dims);
uint32_t sambaExpandPermute(SambaExpansion *expansion, uint32_t x, const int64_t *dims);
uint32_t sambaExpandBroadcast(SambaExpansion *expansion, uint32_t x, uint32_t rank,
                              const int64_t *dims);
/* Elements start, start + step, .. of dimension dim, `count` of them. */
uint32_t sambaExpandSlice(SambaExpansion *expansion, uint32_t x, uint32_t dim, int64_t start,
                          int64_t count, int64_t step);
uint32_t sambaExpandCat(SambaExpansion *expansion, uint32_t count, const uint32_t *operands,
                        uint32_t dim);

#endif
