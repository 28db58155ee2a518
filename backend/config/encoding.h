/* The bits of a section: encoder and decoder of the records in records.def (docs/pef-format.md
 * shows the same table).
 *
 * The bits hold only hardware: units with counters, patterns, programs and the flows of their
 * ports, and the switches. Names and layers are not among them; a container stores those beside
 * (debug map) by the order of units, and puts them back with the functions below. */
#ifndef SAMBA_BACKEND_CONFIG_ENCODING_H
#define SAMBA_BACKEND_CONFIG_ENCODING_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "support/container/byte_buffer.h"

/* Appends the section's bits to `out` (a multiple of 8 bytes). The section must be placed and
 * routed and pass sambaSectionCheck; an error names the unit, port or stream that is not, or the
 * field whose value has no room in its bits. Unit order and bytes are deterministic: they depend on
 * nothing but the section's units, ports and routes. */
SambaStatus sambaSectionEncode(const SambaSection *section, const SambaMachine *machine,
                               SambaByteBuffer *out);

/* Makes the section again. Any bytes are safe: everything is bounded by `size` before it is
 * allocated, the result has passed sambaSectionCheck, and only the one canonical encoding of a
 * section is accepted (encode(decode(b)) == b). Units are named kind + index ("load0", "buffer3"),
 * symbols "arg0", ...; layers are "", rates 1000. The section lives in `arena`. */
SambaStatus sambaSectionDecode(const uint8_t *data, size_t size, const SambaMachine *machine,
                               SambaArena *arena, SambaSection **out_section);

/* The order in which the decoder makes streams: by source unit, source port, place in its
 * round-robin list. Returns, per canonical position, the section's stream index
 * (section->stream_count entries, in the arena). */
uint32_t *sambaStreamsCanonicalOrder(const SambaSection *section, SambaArena *arena);

/* Debug information for a decoded section; texts are copied into its arena. Indices and rates out
 * of range are ignored. */
void sambaSectionSetName(SambaSection *section, const char *name);
void sambaSectionSetUnit(SambaSection *section, uint32_t unit, const char *name, const char *layer);
void sambaSectionSetSymbol(SambaSection *section, uint32_t symbol, const char *name);
/* `stream` is a canonical position, which is the index in a decoded section. */

#endif
