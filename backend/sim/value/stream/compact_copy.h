/* Copies of tokens that a buffer cannot send in place, without the elements that they repeat, and
 * in the order in which they lie in the slot. A window that is sent again for every pass is copied
 * once, and so is what neighbouring windows share. */
#ifndef SAMBA_BACKEND_SIM_VALUE_STREAM_COMPACT_COPY_H
#define SAMBA_BACKEND_SIM_VALUE_STREAM_COMPACT_COPY_H

#include "backend/sim/value/stream/block_layout.h"

/* An access whose tokens are such copies; its outer counters are those of the original. */
SambaAccess *sambaCompactAccess(SambaArena *arena, const SambaAccess *access);
/* How the elements of an original token lie in its copy; false: one after the other, as in the
 * token. */
bool sambaCompactLayout(SambaArena *arena, const SambaAccess *access, SambaBlockLayout *out_layout);

#endif
