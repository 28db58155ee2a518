/* From a decoded section to the state of the timing engine. */
#ifndef SAMBA_BACKEND_SIM_TIMING_BUILD_BUILD_ENGINE_H
#define SAMBA_BACKEND_SIM_TIMING_BUILD_BUILD_ENGINE_H

#include "backend/sim/timing/engine/timing_state.h"

/* Makes actors, streams and generators. engine: zero but for machine, section, bindings and
 * options. traces may be NULL. Errors: more units than the engine counts, memory that the machine
 * does not have. */
SambaStatus sambaEngineBuild(SambaEngine *engine, const SambaIndexTraces *traces);

#endif
