/* Legality of a section, whatever the machine (machine_check.h: on a machine). */
#ifndef SAMBA_BACKEND_SECTION_CHECK_SECTION_CHECK_H
#define SAMBA_BACKEND_SECTION_CHECK_SECTION_CHECK_H

#include "backend/section/section.h"

/* Indices, levels, trip products, token sizes equal at both ends of each stream, token counts equal
 * at both ends of each outer iteration, programs well typed, buffer accesses within their slot,
 * guards and strides within range. The error names unit, port, what and the bound. The simulator
 * relies on it; the decoder runs it on everything it reads. */
SambaStatus sambaSectionCheck(const SambaSection *section);

#endif
