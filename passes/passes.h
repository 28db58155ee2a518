/* The bodies of the passes in Passes.td: each returns false after having emitted an error. Options
 * are in passes' own structs; strings are borrowed for the call. */
#ifndef SAMBA_PASSES_PASSES_H
#define SAMBA_PASSES_PASSES_H

#include "mlir-c/IR.h"

#include <stdbool.h>

/* Graph passes (module). */
bool sambaMaterializeViews(MlirOperation module);
/* target: a shipped machine or a machine file; empty: none. */
bool sambaDecomposeComposites(MlirOperation module, const char *target);
bool sambaRaiseIdioms(MlirOperation module);
/* preset: mp0, mp1 or mp4. */
bool sambaMixedPrecision(MlirOperation module, const char *preset);
/* target: a shipped machine or a machine file; opt: o0 or o1. */
bool sambaPartitionSections(MlirOperation module, const char *target, const char *opt);
bool sambaAssignMemoryPass(MlirOperation module);

#endif
