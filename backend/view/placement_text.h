/* A section on the chip as text, for debugging: which unit is where, and how streams run. */
#ifndef SAMBA_BACKEND_VIEW_PLACEMENT_TEXT_H
#define SAMBA_BACKEND_VIEW_PLACEMENT_TEXT_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "support/text/text.h"

/* Appends a map of the grid, one character per site (upper case: a PCU or PMU in use, '.': free),
 * then a line per unit: its place, kind, name and layer. A unit that has no place says so. */
void sambaPlacementPrint(const SambaSection *section, const SambaMachine *machine, SambaText *out);

/* Appends a line per stream: its ends, the number of its hops, and the switches along its tree. A
 * stream that is not routed, or is a wire of an ideal network, says so. */
void sambaRoutesPrint(const SambaSection *section, const SambaMachine *machine, SambaText *out);

#endif
