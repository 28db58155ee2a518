/* Outstanding bursts of address generators; see outstanding_bursts.h. */
#include "backend/sim/timing/engine/outstanding_bursts.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/load_delivery.h"

#include <string.h>

enum { readProbes = 8 };

/* Twice as many as can be known, so that they are rarely moved to the front. */
static uint32_t returnPlaces(const SambaEngine *engine) {
  return 2 * (uint32_t)engine->machine->ag_bursts;
}

void sambaAddressGeneratorInit(SambaEngine *engine, SambaAddressGenerator *generator) {
  uint32_t most = (uint32_t)engine->machine->ag_bursts;
  generator->wake = SAMBA_TIME_UNKNOWN;
  generator->returns = 1 + SAMBA_ARENA_ARRAY(&engine->arena, uint64_t, 1 + returnPlaces(engine));
  generator->actors = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, generator->actor_count);
  if (!engine->machine->ag_merge_outstanding)
    return;
  generator->requests = SAMBA_ARENA_ARRAY(&engine->arena, SambaGeneratorRequest, most);
  generator->free_requests = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, most);
  while (generator->free_count < most) {
    generator->free_requests[generator->free_count] = most - 1 - generator->free_count;
    ++generator->free_count;
  }
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

/* Adds the returns of a request's bursts. Requests are done almost in order. Nothing comes back
 * earlier than what is not in the array any more, nor than the 0 before the first place: so
 * whether to go past a burst is all that is asked, and not by a branch, which hosts do not foresee.
 */
static void addReturns(const SambaEngine *engine, SambaAddressGenerator *generator,
                       SambaDramTimes times, uint32_t bursts) {
  if (generator->return_end + bursts > returnPlaces(engine)) {
    generator->return_end -= generator->return_next;
    memmove(generator->returns, generator->returns + generator->return_next,
            generator->return_end * sizeof *generator->returns);
    generator->return_next = 0;
  }
  uint64_t *old = generator->returns + generator->return_end, *place = old + bursts;
  generator->return_end += bursts;
  uint64_t tick = times.begin + bursts * (uint64_t)times.burst;
  for (uint32_t left = bursts; left;) { /* the last ones first */
    uint64_t cycle = sambaDramCycleOf(tick), before = old[-1];
    bool is_later = before > cycle;
    *--place = is_later ? before : cycle;
    old -= is_later;
    left -= !is_later;
    tick -= is_later ? 0 : times.burst;
  }
}

/* The returns of one load that needs nothing but places can be counted before they come: what the
 * memory decides from now on comes back later than after the way back. */
void sambaAddressGeneratorLookAhead(SambaEngine *engine, uint32_t index) {
  SambaAddressGenerator *generator = &engine->generators[index];
  if (generator->actor_count != 1 || engine->machine->ag_merge_outstanding)
    return;
  const SambaActor *actor = &engine->actors[generator->actors[0]];
  if (actor->kind == SAMBA_ACTOR_LOAD && !actor->input_count)
    generator->ahead = sambaTimeMin(wayBack(engine), SAMBA_ISSUE_AHEAD);
}

bool sambaAddressGeneratorHasCredits(SambaEngine *engine, uint32_t index, uint64_t bursts) {
  SambaAddressGenerator *generator = &engine->generators[index];
  uint64_t most = (uint64_t)engine->machine->ag_bursts;
  uint64_t known = engine->now + generator->ahead;

  while (generator->outstanding + bursts > most && generator->return_next < generator->return_end &&
         generator->returns[generator->return_next] <= known) {
    generator->returned = generator->returns[generator->return_next++];
    --generator->outstanding;
  }

  if (generator->outstanding + bursts <= most) {
    generator->blocked &= generator->actor_count > 1; /* by another one, perhaps */
    return true;
  }
  generator->blocked = true;
  generator->needed = bursts;
  if (generator->return_next < generator->return_end)
    sambaAddressGeneratorWake(engine, index, generator->returns[generator->return_next]);
  return false;
}

uint32_t sambaAddressGeneratorRemember(SambaEngine *engine, SambaGeneratorRequest request) {
  SambaAddressGenerator *generator =
      &engine->generators[engine->memories[request.memory].generator];
  uint32_t slot = generator->free_requests[--generator->free_count];
  generator->requests[slot] = request;
  return slot;
}

/* A request for a part of an actor's token is done. */
static void completeRequest(SambaEngine *engine, SambaMemoryState *memory, uint32_t part,
                            SambaDramTimes times) {
  SambaAddressGenerator *generator = &engine->generators[memory->generator];
  times.begin += wayBack(engine) << SAMBA_DRAM_TICK_BITS;
  addReturns(engine, generator, times, times.bursts);
  uint64_t last = sambaDramBurstDone(times, times.bursts - 1);
  if (memory->groups) {
    sambaLoadArrive(engine, memory, part, times, last);
  } else {
    SambaMemoryToken *token = sambaMemoryTokenAt(memory, part);
    token->last = sambaTimeMax(token->last, last);
    if (--token->outstanding == 0)
      sambaEngineQueue(engine, memory->actor);
  }
  if (generator->blocked)
    sambaAddressGeneratorWake(engine, memory->generator, sambaDramBurstDone(times, 0));
}

/* The same where reads are merged. */
static void completeRemembered(SambaEngine *engine, uint32_t index, uint32_t slot,
                               SambaDramTimes times) {
  SambaAddressGenerator *generator = &engine->generators[index];
  SambaGeneratorRequest request = generator->requests[slot];
  completeRequest(engine, &engine->memories[request.memory], request.part, times);
  generator->free_requests[generator->free_count++] = slot;
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
    completeRemembered(engine, generator, slot, read->times);
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

/* A remembered request is done, and so are the reads that were merged with it. */
static void completeMerged(SambaEngine *engine, uint32_t generator, uint32_t slot,
                           SambaDramTimes times) {
  uint64_t burst = engine->generators[generator].requests[slot].burst;
  completeRemembered(engine, generator, slot, times);
  SambaOutstandingRead *read = findRead(engine, burst);
  if (!read || read->last != SAMBA_TIME_UNKNOWN)
    return;
  times.bursts = 1; /* as all reads that are merged have */
  read->times = times;
  read->last = sambaDramBurstDone(times, 0);

  for (uint32_t waiter = read->waiter; waiter != SAMBA_NO_INDEX;) {
    SambaMergedRead merged = engine->merged.data[waiter];
    completeRemembered(engine, merged.generator, merged.slot, times);
    engine->merged.data[waiter].next = engine->merged_free;
    engine->merged_free = waiter;
    waiter = merged.next;
  }

  read->waiter = SAMBA_NO_INDEX;
}

void sambaAddressGeneratorCompletion(void *user, uint32_t owner, uint32_t slot,
                                     SambaDramTimes times) {
  SambaEngine *engine = user;
  SambaMemoryState *memory = &engine->memories[owner];
  if (engine->reads)
    completeMerged(engine, memory->generator, slot, times);
  else
    completeRequest(engine, memory, slot, times);
}

void sambaAddressGeneratorEvent(SambaEngine *engine, uint32_t index) {
  SambaAddressGenerator *generator = &engine->generators[index];
  if (generator->wake != engine->now)
    return;
  generator->wake = SAMBA_TIME_UNKNOWN;
  /* A burst came back, but the request waits for more of them. */
  if (generator->blocked && generator->actor_count == 1 &&
      !sambaAddressGeneratorHasCredits(engine, index, generator->needed))
    return;
  generator->blocked = false;
  for (uint32_t i = generator->turn; i < generator->actor_count; ++i)
    sambaEngineQueue(engine, generator->actors[i]);
  for (uint32_t i = 0; i < generator->turn; ++i)
    sambaEngineQueue(engine, generator->actors[i]);
  generator->turn = generator->turn + 1 < generator->actor_count ? generator->turn + 1 : 0;
}
