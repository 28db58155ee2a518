/* PMUs that gather what is stored, in sections that load and store in turn. */
#ifndef SAMBA_BACKEND_SECTION_GATHERING_H
#define SAMBA_BACKEND_SECTION_GATHERING_H

#include "backend/section/section.h"

/* Whether a unit is a PMU that collects many tokens in its one slot and then hands them on, in the
 * same order, to one store. While it does, whatever fills it rests. */
bool sambaUnitGathers(const SambaSection *section, const SambaUnit *unit);

#endif
