/* What loops of streams cost a section that has routes (backend/section/fabric/stream_loops.h). */
#ifndef SAMBA_BACKEND_ESTIMATE_LOOP_PACE_H
#define SAMBA_BACKEND_ESTIMATE_LOOP_PACE_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Cycles per firing of each unit: those of the slowest loop among the arrays that operands join it
 * with, 0 where none holds them up. NULL before streams have routes. Memory from the arena. */
const double *sambaSectionLoopPaces(const SambaSection *section, const SambaMachine *machine,
                                    SambaArena *arena);

#endif
