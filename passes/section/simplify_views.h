/* Views that are the same in a form which needs no copy. */
#ifndef SAMBA_PASSES_SECTION_SIMPLIFY_VIEWS_H
#define SAMBA_PASSES_SECTION_SIMPLIFY_VIEWS_H

#include "mlir-c/IR.h"

/* In a graph's block:
 * - A permutation that only moves axes of one element becomes a reshape: the heads of one token lie
 *   as they should, whatever their axis is.
 * - A reshape of a permutation that only splits axes, or puts axes of one element in, becomes a
 *   permutation of a reshape: the permutation may then be read through. */
void sambaSimplifyViews(MlirBlock body);

#endif
