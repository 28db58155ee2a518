/* The event loop; see event_loop.h. */
#include "backend/sim/timing/engine/event_loop.h"

#include "backend/sim/call/stop.h"
#include "backend/sim/timing/engine/address_generator.h"
#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/faults.h"
#include "backend/sim/timing/engine/firing.h"
#include "backend/sim/timing/engine/lockstep.h"
#include "backend/sim/timing/engine/outstanding_bursts.h"
#include "backend/sim/timing/engine/tokens.h"

static void process(SambaEngine *engine, uint32_t actor_index) {
  if (sambaActorIsMemory(&engine->actors[actor_index]))
    sambaMemoryActorProcess(engine, actor_index);
  else
    sambaFiringProcess(engine, actor_index);
}

/* What a look at an actor needs is fetched into the host's cache while others are looked at. */
static void prefetchActor(const SambaEngine *engine, uint32_t index) {
  const SambaActor *actor = &engine->actors[index];
  __builtin_prefetch(actor);
  __builtin_prefetch(&actor->start);
}

static void prefetchEvent(const SambaEngine *engine, uint32_t target) {
  uint32_t index = target >> SAMBA_TARGET_KIND_BITS;
  switch (target & ((1u << SAMBA_TARGET_KIND_BITS) - 1)) {
  case SAMBA_TARGET_ACTOR:
    prefetchActor(engine, index);
    __builtin_prefetch(&engine->actors[index].latency);
    break;
  case SAMBA_TARGET_CHANNEL:
    sambaDramPrefetch(&engine->dram, index);
    break;
  default:
    __builtin_prefetch(&engine->generators[index]);
    break;
  }
}

static void drainQueue(SambaEngine *engine) {
  while (engine->queue_size) {
    uint32_t actor = engine->queue[engine->queue_head++ & engine->queue_mask];
    --engine->queue_size;
    if (engine->queue_size)
      prefetchActor(engine, engine->queue[engine->queue_head & engine->queue_mask]);
    engine->actors[actor].queued = false;
    process(engine, actor);
  }
  engine->queue_head = 0; /* so few lines of the host's cache hold it */
}

static void actorEvent(SambaEngine *engine, uint32_t index) {
  SambaActor *actor = &engine->actors[index];
  if (actor->running && actor->resolved && actor->end_minimum == engine->now) {
    sambaFiringEnd(engine, index);
  } else if (actor->wake == engine->now) {
    actor->wake = SAMBA_TIME_UNKNOWN;
    sambaEngineQueue(engine, index);
  }
}

static void channelEvent(SambaEngine *engine, uint32_t index) {
  if (engine->dram.channels[index].scheduled != engine->now)
    return;
  uint64_t next = sambaDramAdvance(&engine->dram, index, engine->now);
  if (next != SAMBA_TIME_UNKNOWN)
    sambaEventsPush(&engine->events, next, sambaTarget(SAMBA_TARGET_CHANNEL, index));
}

static SambaStatus runEvents(SambaEngine *engine, uint64_t limit) {
  uint32_t target;
  uint64_t time;

  drainQueue(engine);
  while (sambaEventsPop(&engine->events, &time, &target)) {
    if (time > limit)
      return sambaEngineTooManyCycles(engine, limit);
    if (sambaIsStopped(engine->stop))
      return sambaEngineInterrupted(engine);
    ++engine->event_count;
    engine->now = time;
    uint32_t index = target >> SAMBA_TARGET_KIND_BITS, after = sambaEventsPeek(&engine->events);
    if (after != SAMBA_NO_INDEX)
      prefetchEvent(engine, after);
    switch (target & ((1u << SAMBA_TARGET_KIND_BITS) - 1)) {
    case SAMBA_TARGET_ACTOR:
      actorEvent(engine, index);
      break;
    case SAMBA_TARGET_CHANNEL:
      channelEvent(engine, index);
      break;
    case SAMBA_TARGET_STEP:
      sambaLockstepGoOn(engine, index);
      break;
    default:
      sambaAddressGeneratorEvent(engine, index);
      break;
    }
    drainQueue(engine);
  }
  return NULL;
}

static bool openLateTokens(SambaEngine *engine) {
  bool opened = false;
  for (uint32_t a = 0; a < engine->actor_count && engine->unfinished; ++a)
    opened |= sambaFiringOpenLate(engine, a);
  return opened;
}

/* The section ends on the chip, where vectors move one by one. What holds it up here is the
 * rounding to whole tokens, so streams get room for one more. */
static bool widenStreams(SambaEngine *engine) {
  enum { mostTimes = 1 << 16 };
  if (!engine->ends || !engine->unfinished || engine->widened++ == mostTimes)
    return false;
  for (uint32_t s = 0; s < engine->section->stream_count; ++s)
    sambaStreamWiden(engine, s);
  return true;
}

SambaStatus sambaEngineRun(SambaEngine *engine) {
  uint64_t limit = SAMBA_TIME_LIMIT;
  if (engine->max_cycles)
    limit = sambaTimeMin(engine->max_cycles, limit);
  for (uint32_t a = 0; a < engine->actor_count; ++a)
    if (engine->actors[a].firings)
      sambaEngineQueue(engine, a);

  do
    SAMBA_RETURN_IF_ERROR(runEvents(engine, limit));
  while (openLateTokens(engine) || sambaLockstepEnd(engine) || widenStreams(engine));
  if (engine->unfinished)
    return NULL;
  engine->finish = sambaTimeMax(engine->finish, sambaDramLastWrite(&engine->dram));
  return engine->finish > limit ? sambaEngineTooManyCycles(engine, limit) : NULL;
}
