/* What the engine looks at next: actors to look at before time goes on, and wake-ups later on. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_AGENDA_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_AGENDA_H

#include "backend/sim/timing/engine/timing_state.h"

/* Looks at the actor before time goes on. */
static inline void sambaEngineQueue(SambaEngine *engine, uint32_t actor) {
  if (engine->actors[actor].queued)
    return;
  engine->actors[actor].queued = true;
  engine->queue[(engine->queue_head + engine->queue_size++) & engine->queue_mask] = actor;
}

/* Looks at it at cycle `at`. */
void sambaEngineWake(SambaEngine *engine, uint32_t actor, uint64_t at);
/* Attributes the actor's time so far; from now on it waits for `wait`. */
void sambaActorWait(SambaEngine *engine, SambaActor *actor, SambaWait wait);
/* An actor has done all its firings, the last one at cycle `at`. */
void sambaActorFinish(SambaEngine *engine, uint64_t at);

#endif
