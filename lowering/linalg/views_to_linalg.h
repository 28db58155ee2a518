/* Views as the operations of tensor and linalg that other compilers know. */
#ifndef SAMBA_LOWERING_LINALG_VIEWS_TO_LINALG_H
#define SAMBA_LOWERING_LINALG_VIEWS_TO_LINALG_H

#include "mlir-c/IR.h"

/* Slices, pads and permutations of a graph; those that have no such operation (a slice that walks
 * backwards) stay. */
void sambaViewsToLinalg(MlirOperation function);
/* samba.reshape as collapse_shape and expand_shape. */
void sambaReshapeToLinalg(MlirOperation operation);

#endif
