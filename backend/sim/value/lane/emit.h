/* The lane builder: writes LLVM IR for one vector of points at a time.
 *
 * Everything a lane program can do is written once over this builder. Nothing in it depends on the
 * width: a value is a scalar (width 1) or a vector of `width` lanes, and each lane's bits are those
 * of the scalar (docs/numerics.md). No fast-math flag is ever set; a product and a sum become one
 * rounding only where sambaEmitFma says so. */
#ifndef SAMBA_BACKEND_SIM_VALUE_LANE_EMIT_H
#define SAMBA_BACKEND_SIM_VALUE_LANE_EMIT_H

#include "backend/section/section.h"
#include "backend/sim/value/lane/llvm.h"

typedef struct SambaEmit {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  unsigned width;
  LLVMTypeRef i1, i32, i64, f32, f64, pointer; /* scalar types */
} SambaEmit;

/* The type of a value of this scalar type at the current width, and constants of it (splats). */
LLVMTypeRef sambaEmitType(const SambaEmit *emit, LLVMTypeRef scalar);
LLVMTypeRef sambaEmitScalarOf(LLVMTypeRef type);
LLVMValueRef sambaEmitInteger(const SambaEmit *emit, LLVMTypeRef scalar, int64_t value);
LLVMValueRef sambaEmitFloat(const SambaEmit *emit, float value);
LLVMValueRef sambaEmitDouble(const SambaEmit *emit, double value);
/* Copies a scalar value to every lane. */
LLVMValueRef sambaEmitSplat(const SambaEmit *emit, LLVMValueRef scalar);
/* Calls an overloaded intrinsic; overloads: the types it is overloaded on. */
LLVMValueRef sambaEmitIntrinsic(const SambaEmit *emit, const char *name, LLVMTypeRef *overloads,
                                unsigned overload_count, LLVMValueRef *arguments,
                                unsigned argument_count);
LLVMValueRef sambaEmitUnary(const SambaEmit *emit, const char *name, LLVMValueRef a);
LLVMValueRef sambaEmitBinary(const SambaEmit *emit, const char *name, LLVMValueRef a,
                             LLVMValueRef b);
LLVMValueRef sambaEmitFma(const SambaEmit *emit, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
LLVMValueRef sambaEmitBitcast(const SambaEmit *emit, LLVMValueRef value, LLVMTypeRef scalar);
LLVMValueRef sambaEmitSelect(const SambaEmit *emit, LLVMValueRef condition, LLVMValueRef yes,
                             LLVMValueRef no);
LLVMValueRef sambaEmitCompare(const SambaEmit *emit, LLVMRealPredicate predicate, LLVMValueRef a,
                              LLVMValueRef b);
LLVMValueRef sambaEmitIntegerCompare(const SambaEmit *emit, LLVMIntPredicate predicate,
                                     LLVMValueRef a, LLVMValueRef b);

/* The scalar LLVM type that a program value of this dtype has in registers: float, i1, i32
 * or i64. */
LLVMTypeRef sambaEmitLaneType(const SambaEmit *emit, SambaDType dtype);
/* One lane operation that is neither a value source nor a reduction. operands: values at the
 * current width. */
LLVMValueRef sambaEmitLaneOp(const SambaEmit *emit, const SambaLaneOp *op,
                             const LLVMValueRef *operands);
/* One step of a reduction: accumulator and element (for MAC: and the second factor). */
LLVMValueRef sambaEmitReduceStep(const SambaEmit *emit, const SambaLaneOp *op,
                                 LLVMValueRef accumulator, LLVMValueRef a, LLVMValueRef b);
/* Combines two accumulators of a lane reduction. */
LLVMValueRef sambaEmitReduceCombine(const SambaEmit *emit, const SambaLaneOp *op, LLVMValueRef a,
                                    LLVMValueRef b);
LLVMValueRef sambaEmitReduceIdentity(const SambaEmit *emit, const SambaLaneOp *op);
LLVMValueRef sambaEmitRoundToBf16(const SambaEmit *emit, LLVMValueRef value);
LLVMValueRef sambaEmitRoundToHalf(const SambaEmit *emit, LLVMValueRef value);
/* i32 wrapped to a narrow integer dtype and extended again. */
LLVMValueRef sambaEmitWrap(const SambaEmit *emit, LLVMValueRef value, SambaDType dtype);

/* Transcendental functions of f32 (emit_math.c); opcode: one of class T other than DIV and REM. b
 * only for POW. */
LLVMValueRef sambaEmitTranscendental(const SambaEmit *emit, SambaLaneOpcode opcode, LLVMValueRef a,
                                     LLVMValueRef b);

#endif
