/* samba-mixed-precision: the precision presets of a traced graph. */
#ifndef SAMBA_PASSES_MIXED_PRECISION_H
#define SAMBA_PASSES_MIXED_PRECISION_H

#include "mlir-c/IR.h"

#include <stdbool.h>

/* preset: "mp0" (or "f32"), "mp1", "mp4" (or "bf16"). False after having emitted an error. */
bool sambaMixedPrecision(MlirOperation module, const char *preset);

#endif
