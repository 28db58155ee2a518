/* Sections between IR and struct: rdu.section <-> SambaSection, complete both ways.
 *
 * Units are the ops in order; streams are numbered by their place in IR (unit, port, turn),
 * destinations by the order of uses' units and ports. A struct that comes from elsewhere with other
 * numbers for its streams means the same section; going through IR once makes the numbers these. */
#ifndef SAMBA_DIALECT_RDU_SECTION_SECTION_IO_H
#define SAMBA_DIALECT_RDU_SECTION_SECTION_IO_H

#include "backend/section/section.h"
#include "dialect/bridge/bridge.h"

/* Reads a rdu.section into a struct in the arena (strings are copied there). The result has not
 * been through sambaSectionCheck. out_fault: on failure the operation that is wrong, a unit, a
 * route or the section; NULL when nobody asks, then errors name the unit. */
SambaStatus sambaSectionFromIr(MlirOperation op, SambaArena *arena, SambaSection **out_section,
                               MlirOperation *out_fault);

/* A detached rdu.section. machine: a #rdu.machine attribute or null. Every operation gets the
 * location; units that have a layer get a name location of it around. */
MlirOperation sambaSectionToIr(const SambaSection *section, MlirAttribute machine,
                               MlirLocation location);

/* The same for what the placer changes, and the router: units and streams are those of the op, in
 * its order. */
void sambaSectionSitesToIr(MlirOperation op, const SambaSection *section);
void sambaSectionRoutesToIr(MlirOperation op, const SambaSection *section);

/* Gives the op the section's formals and body; the op itself, its machine, symbol and location
 * stay. */
void sambaSectionReplaceIr(MlirOperation op, const SambaSection *section);

#endif
