/* The parts of samba-enter-linalg. Each returns false after it has emitted an error. */
#ifndef SAMBA_LOWERING_ENTER_ENTER_H
#define SAMBA_LOWERING_ENTER_ENTER_H

#include "mlir-c/IR.h"

#include <stdbool.h>

/* Refuses what no graph can hold: other types, control flow, memory, calls. */
bool sambaEnterCheck(MlirOperation module);
/* tensor.*, arith.* and math.* on tensors, linalg.pack and unpack: samba operations. */
bool sambaEnterTensors(MlirOperation function);
/* Constants become samba.constant; floats of several values become weights. */
bool sambaEnterConstants(MlirOperation module, MlirOperation function);
/* Arguments and results without a name are arg0, out0 ... */
void sambaEnterNames(MlirOperation function);

#endif
