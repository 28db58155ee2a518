/* Firings of COMPUTE actors and BUFFER ports: when they start, and when they end. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_FIRING_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_FIRING_H

#include "backend/sim/timing/engine/timing_state.h"

/* Starts the actor's next firing if everything is there, or finds the end of the running one if
 * every constraint on it is known. */
void sambaFiringProcess(SambaEngine *engine, uint32_t actor);
/* When nothing else can happen: the tokens of the running firing whose first vectors were thought
 * to come late leave before its end is known, because that may wait for those who take them. False:
 * there are none. */
bool sambaFiringOpenLate(SambaEngine *engine, uint32_t actor);
/* The running firing ends now. */
void sambaFiringEnd(SambaEngine *engine, uint32_t actor);

#endif
