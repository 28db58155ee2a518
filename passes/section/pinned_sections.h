/* What attributes of a graph's operators pin: rdu.section and rdu.mapping. */
#ifndef SAMBA_PASSES_SECTION_PINNED_SECTIONS_H
#define SAMBA_PASSES_SECTION_PINNED_SECTIONS_H

#include "dialect/stages/known_plan.h"

/* Of each operator, equal numbers below `count` for those that rdu.section puts into one section;
 * SAMBA_NO_INDEX: it is in none. NULL when no operator is in one. Mappings that do not fit, and
 * sections that are none of the machine, are given up with a warning. Lives in the arena.
 * `sections`: false when rdu.section counts for nothing. */
uint32_t *sambaPinnedSections(const SambaPlanTarget *target, bool sections,
                              const MlirOperation *operators, uint32_t count, SambaArena *arena);
/* Warns of every pinned section that is in no group. */
void sambaPinnedSectionsCheck(const uint32_t *joined, const uint32_t *group_of,
                              const MlirOperation *operators, uint32_t count);

#endif
