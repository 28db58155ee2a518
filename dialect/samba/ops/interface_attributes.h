/* What the results of a graph, and arguments, say about its arguments; inside dialect/samba/ops.
 *
 * The verifier comes with one attribute of one result at a time. To look through the arguments for
 * each would take the square of their number, which a graph that trains has many of. So the first
 * result that has an attribute is checked together with all others that have it. */
#ifndef SAMBA_DIALECT_SAMBA_OPS_INTERFACE_ATTRIBUTES_H
#define SAMBA_DIALECT_SAMBA_OPS_INTERFACE_ATTRIBUTES_H

#include "mlir-c/IR.h"

#include <stdbool.h>

/* In-place update: arguments that own the region of a result have the result's type. Result number
 * `index` has a region. */
bool sambaVerifyResultRegions(MlirOperation op, unsigned index);
/* A gradient has the shape of the argument that it belongs to. Result number `index` is one. */
bool sambaVerifyResultGradients(MlirOperation op, unsigned index);
/* A copy in f32 is another argument, of the same shape. Argument number `index` has one. */
bool sambaVerifyMasters(MlirOperation op, unsigned index);

#endif
