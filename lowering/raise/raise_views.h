/* Operations of the tensor dialect as views and samba.cat; see raise_views.c. */
#ifndef SAMBA_LOWERING_RAISE_RAISE_VIEWS_H
#define SAMBA_LOWERING_RAISE_RAISE_VIEWS_H

#include "mlir-c/IR.h"

#include <stdbool.h>

/* Replaces the operation by samba operations in its place; false: it has no such form, and stays.
 */
bool sambaRaiseTensorOperation(MlirOperation operation);
/* Constants, fills and empty tensors that raised operations left without users go; those that
 * another operation than one of linalg reads become samba.constant. */
void sambaEraseUnusedTensors(MlirOperation function);

#endif
