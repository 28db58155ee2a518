/* Lane operations of the naive interpreter, one value at a time, written from docs/numerics.md
 * alone. */
#ifndef SAMBA_TEST_BACKEND_SIM_VALUE_REFERENCE_OPS_H
#define SAMBA_TEST_BACKEND_SIM_VALUE_REFERENCE_OPS_H

#include "backend/section/section.h"

typedef struct ReferenceValue {
  float f;
  int64_t i;
} ReferenceValue;

/* An element in memory as a lane sees it, and back. */
ReferenceValue referenceFromBits(SambaDType dtype, uint64_t bits);
uint64_t referenceToBits(SambaDType dtype, ReferenceValue v);
/* A number as an integer type holds it. */
int64_t referenceWrap(int64_t value, SambaDType dtype);
/* An operation that is no reduction; v: its operands. */
ReferenceValue referenceEvaluate(const SambaLaneOp *op, const ReferenceValue *v);
/* Of a reduction: what it starts from, and one step. */
ReferenceValue referenceIdentity(const SambaLaneOp *op);
ReferenceValue referenceCombine(const SambaLaneOp *op, ReferenceValue a, ReferenceValue b);

#endif
