/* What attributes of a graph's operators pin: rdu.section and rdu.mapping. */
#ifndef SAMBA_PASSES_SECTION_PINNED_SECTIONS_H
#define SAMBA_PASSES_SECTION_PINNED_SECTIONS_H

#include "dialect/stages/known_plan.h"

/* An operator with what pins it. */
typedef struct SambaPinned {
  int64_t section; /* -1: it has only mappings */
  uint32_t index;
} SambaPinned;

/* Lists what is pinned of operators, sections together and each in the operators' order; returns
 * how many. `sections`: false when rdu.section counts for nothing. */
uint32_t sambaPinnedCollect(bool sections, const MlirOperation *operators, uint32_t count,
                            SambaPinned *out);
/* The end of the section that begins at `first`; what is in none stands alone. */
uint32_t sambaPinnedEnd(const SambaPinned *pinned, uint32_t count, uint32_t first);

/* Of each operator, equal numbers below `count` for those that rdu.section puts into one section;
 * SAMBA_NO_INDEX: it is in none. NULL when no operator is in one. Mappings that do not fit, and
 * sections that are none of the machine, are given up with a warning. Lives in the arena.
 * `sections`: as above. */
uint32_t *sambaPinnedSections(const SambaPlanTarget *target, bool sections,
                              const MlirOperation *operators, uint32_t count, SambaArena *arena);
/* Gives up every pinned section that is in no group, with a warning. */
void sambaPinnedSectionsCheck(const uint32_t *joined, const uint32_t *group_of,
                              const MlirOperation *operators, uint32_t count);

#endif
