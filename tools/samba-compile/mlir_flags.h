/* MLIR's own command line flags for a C program. */
#ifndef SAMBA_TOOLS_SAMBA_COMPILE_MLIR_FLAGS_H
#define SAMBA_TOOLS_SAMBA_COMPILE_MLIR_FLAGS_H

#include "mlir-c/Pass.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
/* argv[0] is the program; the rest are flags like --mlir-timing. Unknown ones end the program with
 * LLVM's own message. */
bool sambaParseMlirFlags(int argc, const char *const *argv);
bool sambaApplyMlirFlags(MlirPassManager manager, void *user);
#ifdef __cplusplus
}
#endif
#endif
