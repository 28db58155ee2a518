/* Requests of a section that meet in few channels of the memory. */
#ifndef SAMBA_BACKEND_ESTIMATE_CROWDING_H
#define SAMBA_BACKEND_ESTIMATE_CROWDING_H

#include "backend/estimate/twins.h"
#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* By how much longer the memory takes for what a load or store and its twins ask for than if all
 * channels had equal parts of it: 1 and more. A row of a cache per head, all with one power of two
 * between them, may lie in two channels of 64. The address of the tensor, which a plan does not
 * know, is taken to be 0; patterns that an index moves are taken to meet nowhere. */
double sambaMemoryCrowding(const SambaSection *section, const SambaTwins *twins, uint32_t unit,
                           const SambaMachine *machine);

#endif
