/* LLVM's C API. The library is opened when the first values are computed: loading it takes longer
 * than timing a small model does, which needs none of it. */
#ifndef SAMBA_BACKEND_SIM_VALUE_LANE_LLVM_H
#define SAMBA_BACKEND_SIM_VALUE_LANE_LLVM_H

#include "support/base/status.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <stdbool.h>

typedef struct SambaLlvm {
#define X(name) __typeof__(LLVM##name) *name;
#include "backend/sim/value/lane/llvm_functions.def"
#undef X
} SambaLlvm;
extern SambaLlvm sambaLlvm; /* filled in by sambaLlvmOpen */

/* Opens the library once. path: NULL for the one that Samba was built with. */
SambaStatus sambaLlvmOpen(const char *path);
/* Code generation for the host; false: the library has none. */
bool sambaLlvmInitializeHost(void);

#endif
