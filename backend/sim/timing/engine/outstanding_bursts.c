/* Outstanding bursts of address generators; see outstanding_bursts.h. */
#include "backend/sim/timing/engine/outstanding_bursts.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/load_delivery.h"

enum { readProbes = 8 };

void sambaAddressGeneratorInit(SambaEngine *engine, SambaAddressGenerator *generator) {
  uint32_t most = (uint32_t)engine->machine->ag_bursts;
  generator->wake = SAMBA_TIME_UNKNOWN;
  generator->requests = SAMBA_ARENA_ARRAY(&engine->arena, SambaGeneratorRequest, most);
  generator->returns = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, most);
  generator->actors = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, generator->actor_count);
  for (uint32_t r = 0; r < most; ++r)
    generator->requests[r].next_free = r + 1;
}

void sambaAddressGeneratorWake(SambaEngine *engine, uint32_t index, uint64_t at) {
  SambaAddressGenerator *generator = &engine->generators[index];
  at = sambaTimeMax(at, engine->now + 1);
  if (generator->wake <= at) /* pending; reset when it fires */
    return;
  generator->wake = at;
  sambaEventsPush(&engine->events, at, sambaTarget(SAMBA_TARGET_GENERATOR, index));
}

/* The way back takes the half of the request latency that the way there did not. */
static uint64_t wayBack(const SambaEngine *engine) {
  uint64_t latency = (uint64_t)engine->machine->ag_latency_cycles;
  return latency - latency / 2;
}

static uint64_t backAt(const SambaAddressGenerator *generator, uint32_t place) {
  return generator->requests[generator->returns[place]].next_back;
}

/* `returns` is a heap of requests by the cycle at which their next burst comes back. */
static void pushReturn(SambaAddressGenerator *generator, uint32_t slot) {
  uint32_t hole = generator->return_count++;
  uint64_t at = generator->requests[slot].next_back;
  while (hole > 0 && backAt(generator, (hole - 1) / 2) > at) {
    generator->returns[hole] = generator->returns[(hole - 1) / 2];
    hole = (hole - 1) / 2;
  }
  generator->returns[hole] = slot;
}

/* Puts a request where it belongs, from the top of the heap on. */
static void sinkReturn(SambaAddressGenerator *generator, uint32_t slot) {
  uint64_t at = generator->requests[slot].next_back;
  uint32_t hole = 0;
  for (uint32_t child = 1; child < generator->return_count; child = 2 * hole + 1) {
    if (child + 1 < generator->return_count &&
        backAt(generator, child + 1) < backAt(generator, child))
      ++child;
    if (backAt(generator, child) >= at)
      break;
    generator->returns[hole] = generator->returns[child];
    hole = child;
  }
  generator->returns[hole] = slot;
}

/* The next burst of the request at the top has come back. */
static void returnBurst(SambaAddressGenerator *generator) {
  uint32_t slot = generator->returns[0];
  SambaGeneratorRequest *request = &generator->requests[slot];
  --generator->outstanding;
  if (++request->back < request->bursts) {
    request->next_back = sambaDramBurstDone(&request->times, request->back);
    sinkReturn(generator, slot);
    return;
  }
  if (--generator->return_count)
    sinkReturn(generator, generator->returns[generator->return_count]);
  request->next_free = generator->free_request;
  generator->free_request = slot;
}

bool sambaAddressGeneratorHasCredits(SambaEngine *engine, uint32_t index, uint64_t bursts) {
  SambaAddressGenerator *generator = &engine->generators[index];
  uint64_t most = (uint64_t)engine->machine->ag_bursts;

  if (generator->outstanding + bursts <= most)
    return true;
  while (generator->return_count && backAt(generator, 0) <= engine->now)
    returnBurst(generator);

  if (generator->outstanding + bursts <= most)
    return true;
  generator->blocked = true;
  if (generator->return_count)
    sambaAddressGeneratorWake(engine, index, backAt(generator, 0));
  return false;
}

uint32_t sambaAddressGeneratorTakeCredits(SambaEngine *engine, uint32_t index, uint32_t actor,
                                          uint64_t token, uint64_t bursts, uint64_t burst) {
  SambaAddressGenerator *generator = &engine->generators[index];
  uint32_t slot = generator->free_request;
  generator->free_request = generator->requests[slot].next_free;
  generator->requests[slot] = (SambaGeneratorRequest){
      .token = token, .burst = burst, .bursts = (uint32_t)bursts, .actor = actor};
  generator->outstanding += bursts;
  return slot;
}

/* One of the requests of an actor's token is done. */
static void requestDone(SambaEngine *engine, const SambaGeneratorRequest *request, uint64_t last) {
  uint32_t actor = request->actor;
  if (engine->actors[actor].kind == SAMBA_ACTOR_LOAD) {
    sambaLoadArrive(engine, actor, request->group, &request->times, last);
    return;
  }
  SambaMemoryToken *token = sambaMemoryTokenAt(engine->actors[actor].memory, request->token);
  token->last = sambaTimeMax(token->last, last);
  if (--token->outstanding == 0)
    sambaEngineQueue(engine, actor);
}

static void completeRequest(SambaEngine *engine, uint32_t index, uint32_t slot,
                            const SambaDramTimes *times) {
  SambaAddressGenerator *generator = &engine->generators[index];
  SambaGeneratorRequest *request = &generator->requests[slot];
  request->times = *times;
  request->times.begin += wayBack(engine) << SAMBA_DRAM_TICK_BITS;
  request->next_back = sambaDramBurstDone(&request->times, 0);
  pushReturn(generator, slot);
  requestDone(engine, request, sambaDramBurstDone(&request->times, request->bursts - 1));
  if (generator->blocked)
    sambaAddressGeneratorWake(engine, index, request->next_back);
}

static SambaOutstandingRead *findRead(SambaEngine *engine, uint64_t burst) {
  uint64_t hash = burst * UINT64_C(0x9E3779B97F4A7C15) >> 32;
  for (uint32_t i = 0; i < readProbes; ++i) {
    SambaOutstandingRead *read = &engine->reads[(hash + i) & engine->read_mask];
    if (read->burst == burst + 1)
      return read;
  }
  return NULL;
}

/* Remembers a read. When the table has no place near its hash, no other read is merged with it. */
static void rememberRead(SambaEngine *engine, uint64_t burst) {
  uint64_t hash = burst * UINT64_C(0x9E3779B97F4A7C15) >> 32;
  for (uint32_t i = 0; i < readProbes; ++i) {
    SambaOutstandingRead *read = &engine->reads[(hash + i) & engine->read_mask];
    bool free = !read->burst || (read->waiter == SAMBA_NO_INDEX &&
                                 read->last != SAMBA_TIME_UNKNOWN && read->last <= engine->now);
    if (!free && read->burst != burst + 1)
      continue;
    *read = (SambaOutstandingRead){
        .burst = burst + 1, .last = SAMBA_TIME_UNKNOWN, .waiter = SAMBA_NO_INDEX};
    return;
  }
}

bool sambaAddressGeneratorMergeRead(SambaEngine *engine, uint64_t burst, uint32_t generator,
                                    uint32_t slot) {
  SambaOutstandingRead *read = findRead(engine, burst);
  if (!read || (read->last != SAMBA_TIME_UNKNOWN && read->last <= engine->now)) {
    rememberRead(engine, burst);
    return false;
  }

  if (read->last != SAMBA_TIME_UNKNOWN) {
    completeRequest(engine, generator, slot, &read->times);
    return true;
  }

  uint32_t place = engine->merged_free;
  if (place != SAMBA_NO_INDEX) {
    engine->merged_free = engine->merged.data[place].next;
  } else {
    place = (uint32_t)engine->merged.size;
    sambaArrayAppend(&engine->merged, (SambaMergedRead){0});
  }

  engine->merged.data[place] = (SambaMergedRead){generator, slot, read->waiter};
  read->waiter = place;
  return true;
}

void sambaAddressGeneratorCompletion(void *user, uint32_t generator, uint32_t slot,
                                     const SambaDramTimes *times) {
  SambaEngine *engine = user;
  uint64_t burst = engine->generators[generator].requests[slot].burst;

  completeRequest(engine, generator, slot, times);
  SambaOutstandingRead *read = engine->reads ? findRead(engine, burst) : NULL;
  if (!read || read->last != SAMBA_TIME_UNKNOWN)
    return;
  read->times = *times;
  read->last = sambaDramBurstDone(times, 0);

  for (uint32_t waiter = read->waiter; waiter != SAMBA_NO_INDEX;) {
    SambaMergedRead merged = engine->merged.data[waiter];
    completeRequest(engine, merged.generator, merged.slot, times);
    engine->merged.data[waiter].next = engine->merged_free;
    engine->merged_free = waiter;
    waiter = merged.next;
  }

  read->waiter = SAMBA_NO_INDEX;
}

void sambaAddressGeneratorEvent(SambaEngine *engine, uint32_t index) {
  SambaAddressGenerator *generator = &engine->generators[index];
  if (generator->wake != engine->now)
    return;
  generator->wake = SAMBA_TIME_UNKNOWN;
  generator->blocked = false;
  for (uint32_t i = 0; i < generator->actor_count; ++i)
    sambaEngineQueue(engine, generator->actors[(generator->turn + i) % generator->actor_count]);
  generator->turn = generator->actor_count ? (generator->turn + 1) % generator->actor_count : 0;
}
