/* What the engine looks at next; see agenda.h. */
#include "backend/sim/timing/engine/agenda.h"

void sambaEngineWake(SambaEngine *engine, uint32_t actor_index, uint64_t at) {
  SambaActor *actor = &engine->actors[actor_index];
  if (actor->wake <= at) /* pending; reset when it fires */
    return;
  actor->wake = at;
  sambaEventsPush(&engine->events, at, sambaTarget(SAMBA_TARGET_ACTOR, actor_index));
}

void sambaActorWait(SambaEngine *engine, SambaActor *actor, SambaWait wait) {
  if (engine->now > actor->mark) {
    uint64_t elapsed = engine->now - actor->mark;
    uint64_t issued = sambaTimeMin(elapsed, actor->credit);
    actor->credit -= issued;
    actor->busy += issued;
    actor->waits[actor->wait] += elapsed - issued;
    actor->mark = engine->now;
  }
  actor->wait = wait;
}

void sambaActorFinish(SambaEngine *engine, uint64_t at) {
  engine->finish = sambaTimeMax(engine->finish, at);
  --engine->unfinished;
}
