/* Emission of a SIMD kernel (kernel_spec.h) as one function of LLVM IR. */
#ifndef SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_H
#define SAMBA_BACKEND_SIM_VALUE_KERNEL_KERNEL_H

#include "backend/sim/value/kernel/kernel_spec.h"
#include "backend/sim/value/lane/emit.h"

/* Adds the function to emit->module. */
void sambaKernelEmit(SambaEmit *emit, const SambaKernelSpec *spec, const char *name);

#endif
