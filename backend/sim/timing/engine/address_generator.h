/* LOAD and STORE: address generators turn access patterns into bursts, with bounded credit. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_ADDRESS_GENERATOR_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_ADDRESS_GENERATOR_H

#include "backend/sim/timing/engine/timing_state.h"

/* Delivers what has come back and issues what may be issued. */
void sambaMemoryActorProcess(SambaEngine *engine, uint32_t actor);

#endif
