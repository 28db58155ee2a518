/* How wide units and streams are: what `lanes` of a unit means to everybody who counts cycles. */
#ifndef SAMBA_BACKEND_SECTION_WIDTH_H
#define SAMBA_BACKEND_SECTION_WIDTH_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* SIMD lanes that a unit uses for 32-bit types. */
uint64_t sambaUnitLaneCount(const SambaUnit *unit, const SambaMachine *machine);
/* Bytes per cycle that a port of the unit can carry: a word of 4 bytes per lane, at most what a
 * link carries. A unit that uses all lanes fills the link. */
uint64_t sambaUnitVectorBytes(const SambaUnit *unit, const SambaMachine *machine);
/* Bytes of a vector of a stream. It is as wide as the narrowest of its ends. */
uint64_t sambaStreamVectorBytes(const SambaSection *section, const SambaStream *stream,
                                const SambaMachine *machine);
/* Bytes per cycle through a port: those of its narrowest stream, or of the unit alone when it has
 * none. */
uint64_t sambaPortVectorBytes(const SambaSection *section, const SambaUnit *unit,
                              const SambaPort *port, const SambaMachine *machine);

#endif
