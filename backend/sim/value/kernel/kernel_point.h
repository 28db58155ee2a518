/* A kernel while it is emitted, and what happens at one set of points: loads, program values,
 * stores, and the loops around them. */
#ifndef SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_POINT_H
#define SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_POINT_H

#include "backend/sim/value/kernel/kernel_spec.h"
#include "backend/sim/value/lane/emit.h"

typedef struct SambaKernel {
  SambaEmit *emit;
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

LLVMValueRef sambaKernelConstant(const SambaKernel *kernel, int64_t value); /* i64 */
/* Entries of the argument array. */
LLVMValueRef sambaKernelArgument(SambaKernel *kernel, uint32_t index);
LLVMValueRef sambaKernelPointerArgument(SambaKernel *kernel, uint32_t index);
LLVMTypeRef sambaKernelStorageType(const SambaKernel *kernel, uint8_t dtype);
LLVMBasicBlockRef sambaKernelNewBlock(SambaKernel *kernel);
uint32_t sambaKernelVectorLoop(const SambaKernel *kernel);
LLVMValueRef sambaKernelStrideOf(const SambaKernel *kernel, uint32_t port, uint32_t loop);

/* The elements of all lanes at base + offset. stride: between lanes, for strided walks. mask: NULL
 * for all lanes. invariant: nothing writes there while the kernel runs. */
LLVMValueRef sambaKernelLoadElements(SambaKernel *kernel, LLVMTypeRef type, LLVMValueRef base,
                                     LLVMValueRef offset, uint8_t walk, LLVMValueRef stride,
                                     LLVMValueRef mask, bool invariant);
void sambaKernelStoreElements(SambaKernel *kernel, LLVMValueRef value, LLVMValueRef base,
                              LLVMValueRef offset, uint8_t walk, LLVMValueRef stride,
                              LLVMValueRef mask);

/* values is to be freed by the caller. */
SambaKernelPoint sambaKernelMakePoint(SambaKernel *kernel, LLVMValueRef *offsets, LLVMValueRef mask,
                                      bool vector);
/* A program value at this point, made when first asked for. */
LLVMValueRef sambaKernelEmitValue(SambaKernel *kernel, SambaKernelPoint *point, uint32_t id);
/* Stores the outputs that depend on a reduction, or those that do not. */
void sambaKernelEmitOutputs(SambaKernel *kernel, SambaKernelPoint *point, bool after_reduction);

SambaKernelLoop sambaKernelBeginLoop(SambaKernel *kernel, LLVMValueRef start, LLVMValueRef *initial,
                                     uint32_t count);
/* next: the carried values of the next turn. The values after the loop are `next` of the
 * last turn. */
void sambaKernelEndLoop(SambaKernel *kernel, SambaKernelLoop *loop, LLVMValueRef step,
                        LLVMValueRef trip, LLVMValueRef *next);
/* The offsets of all ports one step of a loop further, or `factor` steps (NULL: one); to
 * be freed. */
LLVMValueRef *sambaKernelAdvance(SambaKernel *kernel, LLVMValueRef *offsets, uint32_t loop,
                                 LLVMValueRef factor);
/* min(value, width) as i32 in every lane. */
LLVMValueRef sambaKernelLaneBound(SambaKernel *kernel, LLVMValueRef value);

#endif
