/* Emission of reductions: in order, or by lanes. */
#ifndef SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_REDUCE_H
#define SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_REDUCE_H

#include "backend/sim/value/kernel/kernel_point.h"

/* A set of parallel points with all its reductions and what depends on them. */
void sambaKernelEmitReduction(SambaKernel *kernel, LLVMValueRef *offsets, LLVMValueRef mask);

#endif
