/* Compiles SIMD kernels to host code, each distinct one once per engine. */
#ifndef SAMBA_BACKEND_SIM_VALUE_KERNEL_JIT_H
#define SAMBA_BACKEND_SIM_VALUE_KERNEL_JIT_H

#include "backend/sim/value/kernel/kernel_spec.h"
#include "support/base/status.h"

typedef struct SambaJit SambaJit;

/* cpu: LLVM's name of the CPU to compile for, NULL: the host's. Fails when LLVM cannot compile for
 * this host or CPU. */
SambaStatus sambaJitCreate(const char *cpu, SambaJit **out_jit);
void sambaJitDestroy(SambaJit *jit);

/* Finds or compiles `count` kernels, all new ones in one go. Not thread-safe. With
 * SAMBA_DEBUG_KERNELS in the environment their LLVM IR goes to stderr. */
SambaStatus sambaJitCompile(SambaJit *jit, const SambaKernelSpec *const *specs, uint32_t count,
                            SambaKernelFunction *out_functions);
/* Seconds spent so far in sambaJitCompile, that of the first start of the compiler included.
 * sambaJitCreate belongs to the loading of a program. */
double sambaJitSeconds(const SambaJit *jit);
double sambaJitCpuSeconds(const SambaJit *jit);
/* How many programs have been compiled. */
uint64_t sambaJitCount(const SambaJit *jit);

#endif
