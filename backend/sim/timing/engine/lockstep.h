/* Firings in step: tokens that are much longer than what the ways to their takers hold.
 *
 * A unit that takes two such tokens uses as many vectors of one as of the other. So a read of a
 * buffer has sent little of its token while a taker waits for its other operand, and it cannot have
 * sent all of it much earlier than the read of the other operand: these reads begin together and
 * end together, with all those that other takers join to them. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_LOCKSTEP_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_LOCKSTEP_H

#include "backend/sim/timing/engine/timing_state.h"

/* Finds the streams of such tokens. */
void sambaLockstepBuild(SambaEngine *engine);
/* The running firing of an actor is a read that makes such a token. */
bool sambaLockstepBinds(const SambaEngine *engine, const SambaActor *actor);
/* If all takers have taken such a token of an actor's running firing, and all others in step with
 * it have been taken as well, they are accepted. */
void sambaLockstepBegin(SambaEngine *engine, uint32_t actor);
/* The end of such a firing has come, as far as it depends on the read alone. True: it goes on with
 * others, and is looked at again. */
bool sambaLockstepGoesOn(SambaEngine *engine, uint32_t read);
/* An actor waits for less than before, or its end is known: reads that it kept are looked at. */
void sambaLockstepLook(SambaEngine *engine, SambaActor *actor);
/* When nothing else can happen: lets all reads go on that others keep. False: there are none. */
bool sambaLockstepEnd(SambaEngine *engine);

#endif
