/* The parts of samba-enter-linalg and samba-settle-graphs. Each returns false after it has emitted
 * an error. */
#ifndef SAMBA_LOWERING_ENTER_ENTER_H
#define SAMBA_LOWERING_ENTER_ENTER_H

#include "mlir-c/IR.h"

#include <stdbool.h>

/* Refuses what no graph can hold: other types, calls, several blocks. */
bool sambaEnterCheck(MlirOperation module);
/* tensor.generate becomes a loop nest without operands. */
void sambaEnterGenerates(MlirOperation function);
/* Scalars between operations become tensors of rank 0, arguments and results too. */
bool sambaEnterScalars(MlirOperation function);
/* linalg.pack and unpack, tensor.gather ...: samba operations. */
bool sambaEnterTensors(MlirOperation function);
/* Constants become samba.constant; floats of several values become weights. */
bool sambaEnterConstants(MlirOperation module, MlirOperation function);
/* Arguments and results without a name are arg0, out0 ... */
void sambaEnterNames(MlirOperation function);

#endif
