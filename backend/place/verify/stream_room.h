/* How much a stream holds, for checks that refuse only what certainly blocks. */
#ifndef SAMBA_BACKEND_PLACE_VERIFY_STREAM_ROOM_H
#define SAMBA_BACKEND_PLACE_VERIFY_STREAM_ROOM_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Vectors that a routed stream and the pipeline of its source hold at most, one more at each end.
 * All hops count, also those of other branches. */
uint64_t sambaStreamHoldsAtMost(const SambaSection *section, const SambaMachine *machine,
                                const SambaStream *stream);

#endif
