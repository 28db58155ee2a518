/* The search for sections (o3) on operators of IR: what backend/partition needs to know of them,
 * and the planner as its price. */
#ifndef SAMBA_PASSES_SECTION_SEARCH_SECTIONS_H
#define SAMBA_PASSES_SECTION_SEARCH_SECTIONS_H

#include "dialect/stages/known_plan.h"
#include "passes/section/section_end.h"

/* Seconds that searches may take. They are counted by the work, not by a clock: what is found is
 * the same on any host, and whatever is known already. */
typedef struct SambaSearchTime {
  double given, used;
} SambaSearchTime;

/* All lists but `most` and `seed` have an entry for each operator; numbers of groups and stretches
 * as in backend/partition/partition.h. */
typedef struct SambaSearchRequest {
  const SambaPlanTarget *target;
  const MlirOperation *operators;
  uint32_t count;
  const uint32_t *group, *stretch;
  const uint32_t *most; /* of each stretch: operators of a section */
  const uint32_t *seed; /* operators of each section of a partition that is known (o1) */
  uint32_t seed_count;
} SambaSearchRequest;

/* Writes the section of each operator, and why each section ends. Returns how many there are. Both
 * lists come with what is known of the seed, which stays where time is far too short for a search.
 */
uint32_t sambaSearchSections(const SambaSearchRequest *request, SambaSearchTime *time,
                             uint32_t *section_of, MlirAttribute *ends);

#endif
