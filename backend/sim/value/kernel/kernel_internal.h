/* What the files that emit a kernel share; see kernel.h. */
#ifndef SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_INTERNAL_H
#define SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_INTERNAL_H

#include "backend/sim/value/kernel/kernel.h"

typedef struct SambaKernel {
  SambaEmit *e;
  const SambaKernelSpec *spec;
  SambaKernelLayout layout;
  LLVMValueRef function, arguments;
  LLVMValueRef *trips, *strides, *bases; /* strides [port * loops + loop] */
  LLVMValueRef first, last, lanes;       /* lanes: <0, 1, 2, ...> of i32 at full width */
  LLVMValueRef
      *lane_memory;     /* per reduction: accumulators of a lane reduction across parallel points */
  unsigned *reductions; /* op indices */
  bool *depends;
} SambaKernel;

/* Where a piece of the program runs: the offset of every port, the active lanes, and the values
 * made so far. */
typedef struct SambaKernelPoint {
  LLVMValueRef *offsets;
  LLVMValueRef mask; /* NULL: all lanes */
  LLVMValueRef *values;
  bool vector; /* offsets are those of lane 0 of the vectorized loop */
} SambaKernelPoint;

/* A loop with run-time trip count (at least one) and carried values; the builder stands in the body
 * between begin and end. */
typedef struct SambaKernelLoop {
  LLVMBasicBlockRef body;
  LLVMValueRef index, *carried; /* phis */
  uint32_t carried_count;
} SambaKernelLoop;

static inline bool sambaKernelIsReduction(uint8_t opcode) {
  return sambaLaneOpClass(opcode) == 'R';
}
LLVMValueRef sambaKernelConstant(const SambaKernel *k, int64_t value); /* i64 */
/* Entries of the argument array. */
LLVMValueRef sambaKernelArgument(SambaKernel *k, uint32_t index);
LLVMValueRef sambaKernelPointerArgument(SambaKernel *k, uint32_t index);
LLVMTypeRef sambaKernelStorageType(const SambaKernel *k, uint8_t dtype);
LLVMBasicBlockRef sambaKernelNewBlock(SambaKernel *k);
uint32_t sambaKernelVectorLoop(const SambaKernel *k);
LLVMValueRef sambaKernelStrideOf(const SambaKernel *k, uint32_t port, uint32_t loop);

/* The elements of all lanes at base + offset. stride: between lanes, for strided walks. mask: NULL
 * for all lanes. invariant: nobody writes there while the kernel runs. */
LLVMValueRef sambaKernelLoadElements(SambaKernel *k, LLVMTypeRef type, LLVMValueRef base,
                                     LLVMValueRef offset, uint8_t walk, LLVMValueRef stride,
                                     LLVMValueRef mask, bool invariant);
void sambaKernelStoreElements(SambaKernel *k, LLVMValueRef value, LLVMValueRef base,
                              LLVMValueRef offset, uint8_t walk, LLVMValueRef stride,
                              LLVMValueRef mask);

/* values is to be freed by the caller. */
SambaKernelPoint sambaKernelMakePoint(SambaKernel *k, LLVMValueRef *offsets, LLVMValueRef mask,
                                      bool vector);
/* A program value at this point, made when first asked for. */
LLVMValueRef sambaKernelEmitValue(SambaKernel *k, SambaKernelPoint *point, uint32_t id);
/* Stores the outputs that depend on a reduction, or those that do not. */
void sambaKernelEmitOutputs(SambaKernel *k, SambaKernelPoint *point, bool after_reduction);

SambaKernelLoop sambaKernelBeginLoop(SambaKernel *k, LLVMValueRef start, LLVMValueRef *initial,
                                     uint32_t count);
/* next: the carried values of the next turn. The values after the loop are `next` of the
 * last turn. */
void sambaKernelEndLoop(SambaKernel *k, SambaKernelLoop *loop, LLVMValueRef step, LLVMValueRef trip,
                        LLVMValueRef *next);
/* The offsets of all ports one step of a loop further, or `factor` steps (NULL: one); to
 * be freed. */
LLVMValueRef *sambaKernelAdvance(SambaKernel *k, LLVMValueRef *offsets, uint32_t loop,
                                 LLVMValueRef factor);
/* min(value, width) as i32 in every lane. */
LLVMValueRef sambaKernelLaneBound(SambaKernel *k, LLVMValueRef value);

/* kernel_reduce.c: a set of parallel points with all its reductions and what depends on them. */
void sambaKernelEmitReduction(SambaKernel *k, LLVMValueRef *offsets, LLVMValueRef mask);

#endif
