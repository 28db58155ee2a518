/* The law of a firing: how long it occupies its unit, when its first vector is made, how many
 * operations it does. */
#ifndef SAMBA_BACKEND_SIM_TIMING_BUILD_OCCUPANCY_H
#define SAMBA_BACKEND_SIM_TIMING_BUILD_OCCUPANCY_H

#include "backend/sim/timing/engine/timing_state.h"

/* Sets work, latency, first vectors and operations of an actor of this unit. */
void sambaActorSetLaw(SambaActor *actor, const SambaMachine *machine, const SambaSection *section,
                      SambaPortPatterns *patterns);
/* Sets what is left of a firing after the last vector of each input, once streams are known. */
void sambaActorSetRests(SambaEngine *engine, SambaActor *actor);

#endif
