/* Joins consecutive firings of the units of a section, so that the host computes larger tiles. */
#ifndef SAMBA_BACKEND_SIM_VALUE_NETWORK_JOIN_PASSES_H
#define SAMBA_BACKEND_SIM_VALUE_NETWORK_JOIN_PASSES_H

#include "backend/sim/value/unit/unit_run.h"

/* How large joined firings and tokens may become. What is larger already stays as it is. */
typedef struct SambaJoinLimits {
  uint64_t macs;        /* of a firing of a systolic unit */
  uint64_t points;      /* of a firing of another computing unit */
  uint64_t token_bytes; /* of tokens that are copied; 4 bytes per element */
} SambaJoinLimits;

extern const SambaJoinLimits sambaJoinLimits; /* what suits the caches of a host */

/* ordered: per unit, whether other units touch the memory that this LOAD or STORE touches, so that
 * the order of its firings may matter to them.
 *
 * A section of the same meaning - every element gets the same value, in the same order of
 * operations - with larger tokens where that is possible. Units, ports, streams and slots are the
 * same ones; only chains, levels and token sizes differ. The section itself when nothing can be
 * joined. Shares names and streams with it. out_orders (per unit, zeroed) gets the orders of ports
 * whose tokens pass in another one. */
const SambaSection *sambaJoinPasses(SambaArena *arena, const SambaSection *section,
                                    const bool *ordered, const SambaJoinLimits *limits,
                                    SambaTokenOrder **out_orders);

#endif
