/* Registration of every pass and pipeline of Samba, and MLIR's flags. */
#ifndef SAMBA_PIPELINE_REGISTER_H
#define SAMBA_PIPELINE_REGISTER_H

#include "mlir-c/Pass.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
/* May be called more than once. */
void sambaRegisterPasses(void);

/* MLIR's own flags (printing, timing, threading) for a C program. argv[0] is the program; the rest
 * are flags like --mlir-timing. Unknown ones end the program with LLVM's own message. */
bool sambaParseMlirFlags(int argc, const char *const *argv);
/* What they say goes to the pass manager. */
bool sambaApplyMlirFlags(MlirPassManager manager, void *user);
#ifdef __cplusplus
}
#endif
#endif
