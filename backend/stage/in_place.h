/* Whether a section may write a tensor's new value over the old one that it reads. */
#ifndef SAMBA_BACKEND_STAGE_IN_PLACE_H
#define SAMBA_BACKEND_STAGE_IN_PLACE_H

#include "backend/stage/stage.h"

/* `updated` (a result of the graph) may have the memory of `old` (an argument of the same shape):
 * every stage that reads `old` reads each element at one point only, and the element of `updated`
 * in the same place depends on that point. Then the element is stored after it was read, whatever
 * the mapping. When in doubt, false. sambaSectionCheckOrder judges the section that is made of
 * it. */
bool sambaStageGraphUpdatesInPlace(const SambaStageGraph *graph, uint32_t old, uint32_t updated);

#endif
