/* The version of the project: reports and PEFs carry it. CMakeLists.txt says the same. */
#ifndef SAMBA_SUPPORT_BASE_VERSION_H
#define SAMBA_SUPPORT_BASE_VERSION_H

#define SAMBA_VERSION "0.1.0"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
/* "22.1.8": of the LLVM that this build was made with. */
const char *sambaLlvmVersion(void);
/* "samba-run 0.1.0, built with LLVM 22.1.8" and the end of the line, on standard output. */
void sambaPrintVersion(const char *program);
/* For programs whose command line is MLIR's: prints it when --version is all that was given. */
bool sambaAnswerVersion(int argc, char **argv, const char *program);
#ifdef __cplusplus
}
#endif

#endif
