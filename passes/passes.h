/* The bodies of the passes in Passes.td: each returns false after having emitted an error. Options are in passes' own
 * structs; strings are borrowed for the call. */
#ifndef SAMBA_PASSES_PASSES_H
#define SAMBA_PASSES_PASSES_H

#include "mlir-c/IR.h"

#include <stdbool.h>

/* Graph passes (module). */
bool sambaMaterializeViews(MlirOperation module);

#endif
