/* The decisions of a compilation as a file; see docs/planner.md. */
#ifndef SAMBA_PIPELINE_DUMP_DECISIONS_H
#define SAMBA_PIPELINE_DUMP_DECISIONS_H

#include "support/base/status.h"

#include "mlir-c/IR.h"

/* Writes what was decided: `module` has graphs of calls, and sections of mapped operators. */
SambaStatus sambaDecisionsDump(MlirOperation module, const char *path);

#endif
