/* Lane programs as arith and math operations, both ways: linalg bodies and rdu.compute regions use
 * the same words.
 *
 * Lane classes in IR: f32, i32, i64, i1. Narrow elements are extended on entry (bf16, f16 -> f32;
 * i8, i16, ui8 -> i32). The table in lane_body.c pairs each opcode with its operation; COUNTER,
 * ARGIN and reductions belong to the caller. */
#ifndef SAMBA_DIALECT_RDU_SECTION_LANE_BODY_H
#define SAMBA_DIALECT_RDU_SECTION_LANE_BODY_H

#include "backend/section/section.h"

#include "mlir-c/IR.h"

/* Extends an element of `dtype` to its lane class; the value itself when it is one. */
MlirValue sambaLaneBodyExtend(MlirBlock block, MlirLocation location, SambaDType dtype,
                              MlirValue element);
/* Narrows a lane value to an element of `dtype`; undoes the extension that made it where there was
 * one. */
MlirValue sambaLaneBodyNarrow(MlirBlock block, MlirLocation location, SambaDType dtype,
                              MlirValue value);

/* Appends one lane operation that is not COUNTER, ARGIN or a reduction; operands have their lane
 * classes. A null value: no IR form (never for opcodes of lane_ops.def with legal types). */
MlirValue sambaLaneBodyEmit(MlirBlock block, MlirLocation location, const SambaLaneOp *op,
                            const MlirValue *operands);
/* The operation that combines an accumulator with a value in a reduction (MAC: a, b,
 * accumulator). */
MlirValue sambaLaneBodyEmitReduction(MlirBlock block, MlirLocation location, const SambaLaneOp *op,
                                     const MlirValue *operands, MlirValue accumulator);
/* The attribute of a reduction's identity. */
MlirAttribute sambaLaneReductionIdentity(MlirContext context, const SambaLaneOp *op);

typedef enum {
  SAMBA_LANE_READ_OP, /* out_op is filled; the operation's operands are its operands, in order */
  SAMBA_LANE_READ_FORWARD, /* the result is operand 0 itself (extensions, narrowing of a rounded
                              value) */
  SAMBA_LANE_READ_UNKNOWN  /* not a lane operation */
} SambaLaneRead;
/* Reads one arith or math operation. out_op->operands are left to the caller. */
SambaLaneRead sambaLaneBodyRead(MlirOperation operation, SambaLaneOp *out_op);
/* If `operation` combines `accumulator` (a block argument) as a reduction does, fills out_op and
 * the indices of the operation's operands that are the reduced values (out_count 1, MAC 2). */
bool sambaLaneBodyReadReduction(MlirOperation operation, MlirValue accumulator, SambaLaneOp *out_op,
                                int *out_count, int out_operands[2]);

#endif
