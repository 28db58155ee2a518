/* The links of a section's streams. */
#ifndef SAMBA_BACKEND_SIM_TIMING_BUILD_LINKS_H
#define SAMBA_BACKEND_SIM_TIMING_BUILD_LINKS_H

#include "backend/section/fabric/routes.h"
#include "backend/sim/timing/engine/timing_state.h"

/* Capacities, latencies and shared lanes of every stream; needs the streams' producers and
 * cursors. */
void sambaLinksBuild(SambaEngine *engine, const SambaRoutes *routes);
/* Busy cycles of the busiest lane, after a run; once. */
uint64_t sambaLinksBusyMaximum(SambaEngine *engine);

#endif
