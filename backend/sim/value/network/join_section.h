/* A section of the same meaning with larger tokens: given how far each chain is cut, it is
 * written anew. */
#ifndef SAMBA_BACKEND_SIM_VALUE_NETWORK_JOIN_SECTION_H
#define SAMBA_BACKEND_SIM_VALUE_NETWORK_JOIN_SECTION_H

#include "backend/section/section.h"

/* Which steps of a chain's outer counters become steps inside of a token: the `part` innermost ones
 * of counter `first`, and all of those between it and token_level. `first` equal to token_level,
 * and a `part` of 1: none. The part divides the trip count. */
typedef struct SambaCut {
  uint32_t first, part;
} SambaCut;

/* How many steps of the counters before `level` the cut moves: so many tokens of a port of this
 * level become one. */
uint64_t sambaCutSteps(const uint32_t *trips, SambaCut cut, uint32_t level);

/* The cuts of a section: one per unit, and for buffers one per port, inputs before outputs. */
typedef struct SambaCuts {
  SambaCut *units;
  SambaCut **ports; /* per unit; NULL where it is no buffer */
} SambaCuts;

/* Streams, symbols, names and routes are shared with the section. */
SambaSection *sambaJoinedSectionCreate(SambaArena *arena, const SambaSection *section,
                                       const SambaCuts *cuts);

#endif
