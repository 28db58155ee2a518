/* The pace of compute units in loops of streams (backend/section/fabric/stream_loops.h). */
#ifndef SAMBA_BACKEND_SIM_TIMING_BUILD_LOOPS_H
#define SAMBA_BACKEND_SIM_TIMING_BUILD_LOOPS_H

#include "backend/section/fabric/routes.h"
#include "backend/sim/timing/engine/timing_state.h"

/* Gives compute units the pace of the slowest loop that they are in; needs the laws of actors and
 * the links. */
void sambaLoopsBuild(SambaEngine *engine, const SambaRoutes *routes);

#endif
