/* Cycles of something that flows take in turns: a lane. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_BOOKING_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_BOOKING_H

#include "backend/sim/timing/dram/events.h"

/* What one flow has booked: so many cycles from `begin` to `end`, evenly. */
typedef struct SambaFlow {
  uint64_t begin, end, cycles;
  uint64_t owed; /* cycles that others took while it had booked */
} SambaFlow;

typedef struct SambaShare {
  uint64_t free; /* all that is booked is done */
  uint32_t flow_count;
  SambaFlow *flows;
} SambaShare;

/* Books cycles for a flow from `now` on, behind what it has booked already. Flows that have
 * something booked take turns, cycle by cycle. Returns all that the flow has booked then. */
const SambaFlow *sambaShareBook(SambaShare *share, uint32_t flow, uint64_t now, uint64_t cycles);

#endif
