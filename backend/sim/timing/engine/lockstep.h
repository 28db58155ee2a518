/* Firings in step: tokens that are much longer than what the ways to their takers hold.
 *
 * A unit that takes two such tokens uses as many vectors of one as of the other. So a read of a
 * buffer has sent little of its token while a taker waits for its other operand, and it cannot have
 * sent all of it much earlier than the read of the other operand: these reads begin together and
 * end together, with all those that other takers join to them. What others take from one of them on
 * a lane, they take from all, but for what the ways hold: so it is looked a few times at how far
 * each has got, and the others pass their lanes no faster than the slowest of them. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_LOCKSTEP_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_LOCKSTEP_H

#include "backend/sim/timing/engine/timing_state.h"

/* Finds the streams of such tokens. */
void sambaLockstepBuild(SambaEngine *engine);
/* The running firing of an actor is a read that makes such a token. */
static inline bool sambaLockstepBinds(const SambaEngine *engine, const SambaActor *actor) {
  return actor->kind == SAMBA_ACTOR_READ && actor->outputs[0].token == SAMBA_TOKEN_OPEN &&
         engine->streams[actor->outputs[0].open_stream].in_step;
}
/* If all takers have taken such a token, and all others in step with it have been taken as well,
 * they are accepted. */
void sambaLockstepBegin(SambaEngine *engine, uint32_t read);
/* The end of such a firing has come, as far as it depends on the read alone. True: it goes on with
 * others, and is looked at again. */
bool sambaLockstepGoesOn(SambaEngine *engine, uint32_t read);
/* The event of those that go on in step: looks at how far they have got. */
void sambaLockstepGoOn(SambaEngine *engine, uint32_t step);
/* What looks have found about reads that nobody keeps may not be so any more: one of them ends
 * later, or others have joined them. */
static inline void sambaLockstepDoubt(SambaEngine *engine) {
  engine->step_unsure = engine->step_free;
}
void sambaLockstepLookAtKept(SambaEngine *engine, SambaActor *actor);
/* An actor waits for less than before, or its end is known: reads that it kept are looked at. */
static inline void sambaLockstepLook(SambaEngine *engine, SambaActor *actor) {
  if (actor->kept_first != SAMBA_NO_INDEX)
    sambaLockstepLookAtKept(engine, actor);
}
/* When nothing else can happen: lets all reads go on that others keep. False: there are none. */
bool sambaLockstepEnd(SambaEngine *engine);

#endif
