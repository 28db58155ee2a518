/* Faults of the timing engine, named and explained. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_FAULTS_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_FAULTS_H

#include "backend/sim/timing/engine/timing_state.h"

/* No event is left: time goes on until the data are there that are known to come. */
void sambaEngineStandStill(SambaEngine *engine);
/* No event is left, but actors are unfinished: `deadlock` or `starved`, with notes that follow the
 * waits. */
SambaStatus sambaEngineDeadlock(const SambaEngine *engine);
/* `too many cycles`. */
SambaStatus sambaEngineTooManyCycles(const SambaEngine *engine, uint64_t limit);
/* `interrupted`: the caller of the run has asked for its end. */
SambaStatus sambaEngineInterrupted(const SambaEngine *engine);

#endif
