/* Which streams pass which lanes of the network. A lane is an output of a switch, or the port where
 * a unit's output enters one. */
#ifndef SAMBA_BACKEND_SECTION_FABRIC_LANE_USES_H
#define SAMBA_BACKEND_SECTION_FABRIC_LANE_USES_H

#include "backend/section/section.h"

typedef struct SambaFabricUse {
  uint64_t lane; /* a number of its own for each lane */
  uint32_t stream, hop;
  bool entering; /* where the source's output enters the network, at this hop; else behind it */
} SambaFabricUse;

/* The uses by routed streams that carry data, ascending by lane, then stream. A multicast passes
 * each lane of its tree once, at the first of these hops. */
SambaFabricUse *sambaFabricUses(const SambaSection *section, SambaArena *arena, size_t *out_count);

#endif
