/* The event loop of the timing engine. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_EVENT_LOOP_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_EVENT_LOOP_H

#include "backend/sim/timing/engine/timing_state.h"

/* Runs an engine that sambaEngineBuild made until no event is left. engine->finish is the cycle at
 * which all has ended. Faults: deadlock, starved, too many cycles. */
SambaStatus sambaEngineRun(SambaEngine *engine);

#endif
