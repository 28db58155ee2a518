/* A section of the same meaning with larger tokens: given how far each chain is cut, it is
 * written anew. */
#ifndef SAMBA_BACKEND_SIM_VALUE_NETWORK_JOIN_SECTION_H
#define SAMBA_BACKEND_SIM_VALUE_NETWORK_JOIN_SECTION_H

#include "backend/sim/value/unit/unit_run.h"

/* Counters of a port's chain that step from stream to stream, where a port deals its tokens out or
 * takes them in turn: [begin, end). Behind them are those that step within a turn. */
typedef struct SambaDeal {
  uint32_t begin, end;
} SambaDeal;

/* Which steps of a chain's outer counters become steps inside of a token: the `part` innermost ones
 * of counter `first`, and all of those between it and token_level but for the deal's, which stay
 * outside. `first` equal to token_level, and a `part` of 1: none. The part divides the trip
 * count. */
typedef struct SambaCut {
  uint32_t first, part;
  SambaDeal deal; /* empty: none */
} SambaCut;

/* How many steps of the counters before `level` the cut moves: so many tokens of a port of this
 * level become one. */
uint64_t sambaCutSteps(const uint32_t *trips, SambaCut cut, uint32_t level);

/* Divides a counter of a COMPUTE's chain: the inner half steps `part` times. False when an
 * operation reads the counter, or no more counters fit. */
bool sambaComputeDivide(SambaArena *arena, SambaUnit *unit, uint32_t counter, uint32_t part);

/* Divides counters of the access of a port with several streams until those of its deal are
 * counters of their own. False when they are not within one slot; the access may have been divided
 * then, too. */
bool sambaAccessAlignDeal(SambaArena *arena, const SambaPort *port, SambaAccess *access,
                          SambaDeal *out_deal);

/* The cuts of a section: one per unit, and for buffers one per port, inputs before outputs. */
typedef struct SambaCuts {
  SambaCut *units;
  SambaCut **ports; /* per unit; NULL where it is no buffer */
} SambaCuts;

/* Streams, symbols, names and routes are shared with the section. out_orders (per unit, zeroed)
 * gets the orders of ports whose tokens pass in another one. */
SambaSection *sambaJoinedSectionCreate(SambaArena *arena, const SambaSection *section,
                                       const SambaCuts *cuts, SambaTokenOrder **out_orders);

#endif
