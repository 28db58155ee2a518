/* Many units of a section do the same at the same time: copies of one nest, the array of a matrix
 * product. What holds for one of them holds for all, so a section in which each kind of them stands
 * once is much smaller. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_FOLD_H
#define SAMBA_BACKEND_SIM_PROGRESS_FOLD_H

#include "backend/section/section.h"

/* The section with one unit for each kind of units, and without hops, so that streams hold less
 * than they do on any route. If it ends, `section` does too: units of one kind take the same in the
 * same order from units of one kind, so with the room that all of them have they stay in step.
 * False: it would not be much smaller. The result lives in the arena, and refers to `section`. */
bool sambaProgressFold(const SambaSection *section, SambaArena *arena, SambaSection *out_folded);

#endif
