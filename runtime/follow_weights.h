/* Brings copies in f32 in line with their weights (runtime/masters.h knows which). */
#ifndef SAMBA_RUNTIME_FOLLOW_WEIGHTS_H
#define SAMBA_RUNTIME_FOLLOW_WEIGHTS_H

#include "runtime/session_state.h"

/* Before the call is launched: of the stale copies that it touches, elements that do not round to
 * the weight's become these. */
SambaStatus sambaFollowWeights(SambaLoadedPef *loaded, uint32_t call);

#endif
