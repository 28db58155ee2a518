/* The picture of a section on the chip, as SVG: every unit on its place, every stream along the
 * switches that it is routed through.
 *
 * The picture needs nothing from outside, follows the reader's light or dark colour scheme, and is
 * the same for the same section. A unit is one <use> element, a stream one <path> in which each hop
 * is one drawing command; both have a <title> that a browser shows under the pointer. */
#ifndef SAMBA_BACKEND_VIEW_SECTION_SVG_H
#define SAMBA_BACKEND_VIEW_SECTION_SVG_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "support/text/text.h"

/* Appends the picture to `out`. SAMBA_INVALID when a unit is not placed or a stream not routed;
 * nothing is appended then. */
SambaStatus sambaSectionDraw(const SambaSection *section, const SambaMachine *machine,
                             SambaText *out);

#endif
