/* How the operators of optimizers (phase OPT) go into sections. An update of a parameter is made of
 * averages that meet at its end only, and of arithmetic on hyperparameters, which has one element
 * and so no dimension to be pipelined along. */
#ifndef SAMBA_PASSES_SECTION_UPDATES_H
#define SAMBA_PASSES_SECTION_UPDATES_H

#include "mlir-c/IR.h"

#include <stdint.h>

/* Puts what makes single elements in front of the other operators of phase OPT, the order kept
 * otherwise. Returns the place of the first that makes more, `count` when there is no such border:
 * a section begins there. */
uint32_t sambaScalarsFirst(MlirOperation *operators, uint32_t count);

/* The size of the shortest list, longer than `size` and no longer than `count`, at the start of the
 * operators whose results nobody reads but the list itself and the graph's end; 0: there is none.
 */
uint32_t sambaWholeUpdates(const MlirOperation *operators, uint32_t size, uint32_t count);

/* Puts updates of fewer elements in front of larger ones, each as a whole, the order kept
 * otherwise: equal ones stand side by side, and many of the smallest share a section. border: as
 * returned above. */
void sambaSmallUpdatesFirst(MlirOperation *operators, uint32_t border, uint32_t count);

#endif
