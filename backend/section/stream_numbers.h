/* The numbers of streams that a section's text gives them. */
#ifndef SAMBA_BACKEND_SECTION_STREAM_NUMBERS_H
#define SAMBA_BACKEND_SECTION_STREAM_NUMBERS_H

#include "backend/section/section.h"

/* Numbers the streams of a checked section by the place of their source - unit, output, turn - and
 * orders destinations by unit, input and turn. The section means the same as before. Written as IR
 * and read again a section has these numbers; placer and router work in their order, so that a
 * section which skips the text needs them too. */
void sambaSectionNumberStreams(SambaSection *section);

#endif
