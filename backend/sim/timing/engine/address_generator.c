/* LOAD and STORE; see address_generator.h.
 *
 * A generator issues in order, a little ahead of the event that lets it (requests carry their own
 * arrival time), and gets its credits back in order: data leave towards the chip in the order of
 * the requests. */
#include "backend/sim/timing/engine/address_generator.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/load_delivery.h"
#include "backend/sim/timing/engine/outstanding_bursts.h"
#include "backend/sim/timing/engine/partial_tokens.h"
#include "backend/sim/timing/engine/tokens.h"

#include <stdlib.h>

static SambaMemoryToken *appendToken(SambaMemoryState *memory) {
  if (memory->token_end - memory->token_base > memory->token_mask) {
    uint64_t size = (memory->token_mask + 1) * 2;
    SambaMemoryToken *tokens = sambaAllocate(sambaArraySize(size, sizeof *tokens));
    for (uint64_t t = memory->token_base; t < memory->token_end; ++t)
      tokens[t & (size - 1)] = *sambaMemoryTokenAt(memory, t);
    free(memory->tokens);
    memory->tokens = tokens;
    memory->token_mask = size - 1;
  }
  SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_end++);
  *token = (SambaMemoryToken){
      .first = SAMBA_TIME_UNKNOWN, .output_stream = SAMBA_NO_INDEX, .pieces = memory->pieces};
  return token;
}

/* Completion of a STORE's tokens, in order; its control outputs tell. */
static void deliverStore(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;

  while (memory->token_base < memory->token_end) {
    SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_base);
    if (!token->issued || token->outstanding)
      return;
    /* It may have asked for nothing that the token before it did not ask for. */
    memory->left_at = token->last = sambaTimeMax(token->last, memory->left_at);
    ++memory->token_base;
    ++actor->done;
    for (uint32_t o = 0; o < actor->output_count; ++o) {
      if (!actor->outputs[o].stream_count)
        continue;
      uint32_t stream = sambaOutputNextStream(&actor->outputs[o]);
      sambaStreamPush(engine, stream, token->last, token->last);
      engine->streams[stream].needs_acceptance = false;
      sambaStreamEndToken(engine, stream, token->last);
    }
    if (engine->on_firing)
      engine->on_firing(engine->user, actor->unit, token->first, token->last);
    if (actor->done == actor->firings) {
      sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
      sambaActorFinish(engine, token->last + 1); /* the cycle in which it is told is over */
    }
  }
}

static void deliver(SambaEngine *engine, uint32_t actor_index) {
  if (engine->actors[actor_index].kind == SAMBA_ACTOR_LOAD)
    sambaLoadDeliver(engine, actor_index);
  else
    deliverStore(engine, actor_index);
}

/* Elements of the current token whose bursts were issued, were `ahead` more bursts of the current
 * run issued. */
static uint64_t elementsIssued(const SambaEngine *engine, const SambaMemoryState *memory,
                               uint64_t ahead) {
  if (memory->next_burst + ahead >= memory->end_burst)
    return sambaTimeMin(memory->walked, memory->token_elements);
  uint64_t issued = (memory->next_burst + ahead) << engine->dram.burst_shift;
  uint64_t bytes = issued - sambaTimeMin(issued, memory->run_address);
  return memory->walked - memory->run.elements +
         sambaBurstRunElements(&memory->walk, &memory->run, bytes);
}

/* A STORE's data and the indices of either come in while it works: a token of them may be longer
 * than the stream holds. */
static bool isStreamed(const SambaActor *actor, const SambaActorInput *input) {
  bool indexed = actor->memory->walk.access->has_index;
  return actor->kind == SAMBA_ACTOR_STORE ? input->port <= indexed : indexed && input->port == 0;
}

/* When vector `number` of a token comes, counted from 1, of those that come evenly. */
static uint64_t evenly(const SambaActor *actor, uint64_t number) {
  const SambaMemoryState *memory = actor->memory;
  bool estimated = actor->pending || actor->kind == SAMBA_ACTOR_LOAD;
  uint64_t last = estimated ? memory->data_last : actor->end_minimum;
  if (last <= memory->data_first + 1)
    return memory->data_first;
  if (memory->data_vectors < 2)
    return last - 1;
  return memory->data_first + sambaTimeScale(last - 1 - memory->data_first,
                                             sambaTimeMax(number, 1) - 1, memory->data_vectors - 1);
}

/* A STORE takes the vectors that `elements` elements of its token need, one per cycle. The cycle in
 * which it has the last of them; SAMBA_TIME_UNKNOWN: when more is known. */
static uint64_t takeData(SambaEngine *engine, SambaActor *actor, uint64_t elements) {
  SambaMemoryState *memory = actor->memory;
  SambaCursor *cursor = &engine->cursors[memory->data_cursor];
  uint64_t needed = sambaVectorsFor(memory->vector, elements);
  needed = sambaTimeMin(needed, memory->data_vectors);
  if (needed > memory->taken) {
    sambaInputTakeVectors(engine, cursor, needed - memory->taken, memory->takes_at);
    memory->takes_at += needed - memory->taken - 1;
    memory->taken = needed;
  }

  uint64_t at = evenly(actor, needed);
  if (engine->streams[cursor->stream].tells) {
    cursor->asked = (cursor->next - 1) * memory->data_vectors + sambaTimeMax(needed, 1) - 1;
    at = sambaPartialTokensArrival(engine, cursor, cursor->asked);
  }
  if (at != SAMBA_TIME_UNKNOWN)
    at = memory->takes_at = sambaTimeMax(memory->takes_at, at);
  return at;
}

/* When the next request can leave: a STORE's when its data are there, those that are indexed when
 * their indices are. SAMBA_TIME_UNKNOWN: when more is known. */
static uint64_t dataReady(SambaEngine *engine, SambaActor *actor, uint64_t bursts) {
  const SambaMemoryState *memory = actor->memory;
  if (!memory->walk.access->has_index)
    return actor->kind == SAMBA_ACTOR_LOAD
               ? 0
               : takeData(engine, actor, elementsIssued(engine, memory, bursts));
  return evenly(actor, sambaTimeScale(memory->data_vectors, elementsIssued(engine, memory, bursts),
                                      memory->token_elements));
}

/* Bursts of the next request: as many as lie in one row of one channel (memory->place). */
static uint64_t requestBursts(SambaEngine *engine, const SambaActor *actor) {
  const SambaMachine *machine = engine->machine;
  SambaMemoryState *memory = actor->memory;

  if (memory->placed_burst != memory->next_burst) {
    uint64_t address = memory->next_burst << engine->dram.burst_shift;
    memory->place = sambaDramLocate(&engine->dram, address);
    memory->placed_burst = memory->next_burst;
  }

  if (engine->reads && actor->kind == SAMBA_ACTOR_LOAD) /* merged burst by burst */
    return 1;
  uint64_t left = memory->end_burst - memory->next_burst;
  return sambaTimeMin(sambaTimeMin(memory->place.bursts, left), (uint64_t)machine->ag_bursts);
}

static bool waitForPlaces(SambaEngine *engine, uint32_t actor_index, uint64_t pieces) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  const SambaAddressGenerator *generator = &engine->generators[memory->generator];
  uint64_t at = sambaTimeMax(engine->now, generator->returned);
  bool full = false;
  bool looks_ahead = at > engine->now;
  sambaLoadFreePlaces(engine, memory, at);
  /* By then consumers have taken more of the oldest token, or it is the next one's turn. */
  if (sambaLoadHasPlaces(engine, actor_index, pieces, &at, &full) &&
      (!looks_ahead || sambaLoadHasPlacesFrom(engine, memory, memory->token_base + 1, pieces)))
    return true;
  if (looks_ahead) {
    full = false;
    at = generator->returned;
  } else {
    memory->is_held_up = true;
  }
  sambaActorWait(engine, actor, full ? SAMBA_WAIT_OUTPUT : SAMBA_WAIT_MEMORY);
  if (at != SAMBA_TIME_UNKNOWN)
    sambaAddressGeneratorWake(engine, memory->generator, at);
  return false;
}

/* Consumers let the oldest token of a LOAD pass. */
static inline bool oldestPasses(const SambaEngine *engine, const SambaMemoryState *memory) {
  if (memory->token_base == memory->token_end)
    return false;
  const SambaMemoryToken *oldest = sambaMemoryTokenAt(memory, memory->token_base);
  return oldest->pushed && !engine->streams[oldest->output_stream].needs_acceptance &&
         !memory->resumes;
}

/* Whether an actor may walk `pieces` more whenever it is. */
static inline bool hasPlacesAnyway(const SambaEngine *engine, const SambaActor *actor,
                                   uint64_t pieces) {
  const SambaMemoryState *memory = actor->memory;
  return actor->kind != SAMBA_ACTOR_LOAD ||
         sambaLoadHasPlacesFrom(engine, memory, memory->token_base + oldestPasses(engine, memory),
                                pieces);
}

/* Whether a LOAD may walk `pieces` more; if not, it is looked at again. */
static inline bool hasPlaces(SambaEngine *engine, uint32_t actor_index, uint64_t pieces) {
  SambaActor *actor = &engine->actors[actor_index];
  bool has_places =
      hasPlacesAnyway(engine, actor, pieces) || waitForPlaces(engine, actor_index, pieces);
  if (has_places)
    actor->memory->is_held_up = false;
  return has_places;
}

/* Vectors of the current token that are whole with its first `elements` elements. */
static uint64_t vectorsWith(const SambaEngine *engine, const SambaMemoryState *memory,
                            uint64_t elements) {
  const SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_end - 1);
  if (token->output_stream == SAMBA_NO_INDEX)
    return 0;
  if (elements == memory->token_elements)
    return engine->streams[token->output_stream].vectors;
  return sambaVectorsIn(memory->vector, elements);
}

/* Enters the next `bursts` bursts of a LOAD, or a run that asks for none, as a group. */
static uint64_t enterGroup(SambaEngine *engine, SambaActor *actor, uint64_t bursts) {
  SambaMemoryState *memory = actor->memory;
  bool ends_run = memory->next_burst + bursts >= memory->end_burst;
  uint64_t pieces = bursts + memory->pieces_ahead;
  SambaLoadGroup *group;
  SambaLoadRun *run;
  uint64_t number = sambaLoadAsk(engine, actor, (uint32_t)pieces, &group, &run);
  run->elements = elementsIssued(engine, memory, bursts);
  group->vectors = vectorsWith(engine, memory, run->elements);
  /* Elements may lie in several bursts, or in one that the run before has asked for. */
  group->has_run = bursts > 1 || memory->pieces_ahead;
  if (group->has_run)
    *run = (SambaLoadRun){memory->run_address, memory->run.skipped,
                          memory->walked - memory->run.elements, memory->next_burst, run->elements};
  group->bursts = (uint32_t)bursts;
  group->ends_token = ends_run && memory->run_ends_token;
  memory->pieces_ahead = 0;
  return number;
}

/* Sends the next `bursts` bursts at cycle `at`. */
static void sendRequest(SambaEngine *engine, uint32_t actor_index, uint64_t bursts, uint64_t at) {
  const SambaMachine *machine = engine->machine;
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  bool read = actor->kind == SAMBA_ACTOR_LOAD;
  uint64_t bytes = bursts << engine->dram.burst_shift;
  uint64_t cycles = sambaTimeMax(1, sambaVectorsFor(memory->port, bytes));
  uint64_t burst = memory->next_burst;

  engine->generators[memory->generator].next_issue = at + cycles;
  engine->generators[memory->generator].outstanding += bursts;
  memory->takes_at = at;
  actor->credit += cycles;
  uint32_t owner = (uint32_t)(memory - engine->memories), slot = (uint32_t)(memory->token_end - 1);
  if (read)
    slot = (uint32_t)enterGroup(engine, actor, bursts);
  else
    ++sambaMemoryTokenAt(memory, slot)->outstanding;
  memory->next_burst += bursts;
  memory->last_burst = memory->next_burst - 1;
  if (engine->reads)
    slot = sambaAddressGeneratorRemember(engine, (SambaGeneratorRequest){burst, slot, owner});
  if (engine->reads && read &&
      sambaAddressGeneratorMergeRead(engine, burst, memory->generator, slot))
    return;

  SambaDramRequest *request;
  uint64_t arrival = at + 1 + (uint64_t)machine->ag_latency_cycles / 2;
  uint64_t event =
      sambaDramEnter(&engine->dram, memory->place.channel, arrival, actor->unit, !read, &request);
  request->row = memory->place.row;
  request->bank = memory->place.bank;
  request->bursts = (uint16_t)bursts;
  request->owner = owner;
  request->slot = slot;
  if (event != SAMBA_TIME_UNKNOWN)
    sambaEventsPush(&engine->events, event,
                    sambaTarget(SAMBA_TARGET_CHANNEL, memory->place.channel));
}

/* Sends up to one request's worth of the current run. False when it must wait; then the actor is
 * looked at again. */
static bool issueRequest(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  const SambaAddressGenerator *generator = &engine->generators[memory->generator];
  uint64_t bursts = requestBursts(engine, actor);
  uint64_t pieces = bursts + memory->pieces_ahead;
  bool places_anyway = hasPlacesAnyway(engine, actor, pieces);

  if (places_anyway)
    memory->is_held_up = false;
  else if (!hasPlaces(engine, actor_index, pieces))
    return false;

  /* The last burst waits until the end of the data is known. */
  uint64_t ready = dataReady(engine, actor, bursts);
  if (actor->pending && memory->run_ends_token &&
      memory->next_burst + bursts == memory->end_burst) {
    sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
    return false;
  }

  if (ready == SAMBA_TIME_UNKNOWN) {
    sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
    return false;
  }
  if (!sambaAddressGeneratorHasCredits(engine, memory->generator, bursts)) {
    sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
    return false;
  }

  /* Places that were there without looking may not be by then. */
  if (!places_anyway && generator->returned > engine->now &&
      !hasPlaces(engine, actor_index, pieces))
    return false;

  uint64_t at = sambaTimeMax(sambaTimeMax(engine->now, generator->next_issue), ready);
  at = sambaTimeMax(at, generator->returned);
  if (at > engine->now + SAMBA_ISSUE_AHEAD) {
    bool data_is_late = ready > generator->next_issue;
    sambaActorWait(engine, actor, data_is_late ? SAMBA_WAIT_INPUT : SAMBA_WAIT_MEMORY);
    sambaAddressGeneratorWake(engine, memory->generator, at);
    return false;
  }

  sendRequest(engine, actor_index, bursts, at);
  return true;
}

/* Takes the walk's next run as bursts. A step costs the generator a cycle even when it asks for
 * nothing. */
static bool nextRun(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  SambaAddressGenerator *generator = &engine->generators[memory->generator];

  if (generator->next_issue > engine->now + SAMBA_ISSUE_AHEAD) {
    sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
    sambaAddressGeneratorWake(engine, memory->generator, generator->next_issue);
    return false;
  }
  if (!hasPlaces(engine, actor_index, 1))
    return false;

  if (!sambaBurstWalkNext(&memory->walk, &memory->run))
    memory->run = (SambaBurstRun){.elements = memory->token_elements, .ends_token = true};
  uint32_t burst_shift = engine->dram.burst_shift;
  memory->walked += memory->run.elements;
  memory->run_ends_token = memory->run.ends_token;
  memory->next_burst = memory->end_burst = 0;
  if (memory->run.begin < memory->run.end) {
    /* Device addresses below 2^46 bytes; what a broken file asks for wraps around. */
    uint64_t mask = (UINT64_C(1) << 56) - 1;
    uint64_t begin = (memory->symbol_address + (uint64_t)memory->run.begin) & mask;
    uint64_t end = begin + (uint64_t)(memory->run.end - memory->run.begin);
    memory->run_address = begin;
    memory->next_burst = begin >> burst_shift;
    memory->end_burst = ((end - 1) >> burst_shift) + 1;
    /* Neighbouring runs that meet in one burst ask for it once. */
    memory->pieces_ahead = memory->next_burst == memory->last_burst;
    if (memory->pieces_ahead && actor->kind == SAMBA_ACTOR_STORE && !memory->walk.access->has_index)
      takeData(engine, actor, elementsIssued(engine, memory, 1));
    memory->next_burst += memory->pieces_ahead;
  }

  if (memory->next_burst >= memory->end_burst) {
    generator->next_issue = sambaTimeMax(generator->next_issue, engine->now) + 1;
    ++actor->credit;
    memory->pieces_ahead = 1;
    if (actor->kind == SAMBA_ACTOR_LOAD) {
      SambaDramTimes none = {0};
      sambaLoadArrive(engine, memory, (uint32_t)enterGroup(engine, actor, 0), none,
                      generator->next_issue - 1);
    }
  }

  return true;
}

/* Inputs that are not streamed must be there as a whole. False: wait for them. */
static bool inputsAreThere(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  uint64_t at = engine->now;

  for (uint32_t i = 0; i < actor->input_count; ++i) {
    SambaActorInput *input = &actor->inputs[i];
    const SambaSegment *segment = sambaInputSegment(engine, input);
    bool data = isStreamed(actor, input);
    if (!segment || (!data && !segment->last_known)) {
      sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
      return false;
    }
    at = sambaTimeMax(at, (data ? segment->first : segment->last) +
                              sambaInputCursor(engine, input)->latency);
  }

  if (at > engine->now) {
    sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
    sambaEngineWake(engine, actor_index, at);
    return false;
  }

  return true;
}

static void beginToken(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;

  sambaActorWait(engine, actor, SAMBA_WAIT_NONE);
  SambaMemoryToken *token = appendToken(memory);
  actor->start = token->last = engine->now;
  memory->walked = 0;
  memory->next_burst = memory->end_burst = 0;
  memory->run_ends_token = false;
  memory->issuing = true;
  ++actor->next;
  memory->data_first = memory->data_last = 0;
  if (actor->kind == SAMBA_ACTOR_STORE) {
    token->first = engine->now;
    actor->end_minimum = 0;
  }

  for (uint32_t i = 0; i < actor->input_count; ++i) {
    SambaActorInput *input = &actor->inputs[i];
    SambaCursor *cursor = sambaInputCursor(engine, input);
    const SambaSegment *segment = sambaInputSegment(engine, input);
    uint64_t duration = 1;
    if (isStreamed(actor, input)) {
      memory->data_first = sambaTimeMax(memory->data_first, segment->first + cursor->latency);
      memory->data_last = sambaTimeMax(memory->data_last, segment->last + cursor->latency);
      memory->data_vectors = engine->streams[cursor->stream].vectors;
      duration = engine->streams[cursor->stream].cycles;
      memory->taken = 0;
      memory->takes_at = sambaTimeMax(memory->takes_at, memory->data_first);
      if (input->port == 0)
        memory->data_cursor = input->cursor;
    }
    sambaInputTake(engine, actor_index, input, duration);
  }

  if (actor->kind == SAMBA_ACTOR_LOAD && actor->outputs[0].stream_count) {
    token->output_stream = sambaOutputNextStream(&actor->outputs[0]);
  }
}

/* Everything of the current token was asked for. False: it waits for the end of what is streamed to
 * it. */
static bool endIssue(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_end - 1);

  if (actor->kind == SAMBA_ACTOR_LOAD && actor->pending) {
    sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
    return false;
  }

  if (actor->kind == SAMBA_ACTOR_STORE) {
    if (!memory->walk.access->has_index) /* what a guard leaves out is taken as well */
      takeData(engine, actor, memory->token_elements);
    if (actor->pending || actor->end_minimum > engine->now) {
      sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
      if (!actor->pending)
        sambaEngineWake(engine, actor_index, actor->end_minimum);
      return false;
    }
    token->last = sambaTimeMax(token->last, actor->end_minimum);
  }

  token->issued = true;
  token->last = sambaTimeMax(token->last, engine->now);
  memory->issuing = false;
  deliver(engine, actor_index);
  return true;
}

/* The control tokens that a STORE makes are counted somewhere, up to a bound. */
static bool countersHaveRoom(const SambaEngine *engine, const SambaActor *actor) {
  for (uint32_t o = 0; o < actor->output_count; ++o)
    for (uint32_t s = 0; s < actor->outputs[o].stream_count; ++s)
      if (sambaStreamRoom(engine, actor->outputs[o].turns->streams[s]) <= 0)
        return false;
  return true;
}

/* Whether the next token may begin; if not, what the actor waits for is noted. */
static bool mayBeginToken(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];

  if (actor->next == actor->firings) {
    sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
    return false;
  }
  if (!inputsAreThere(engine, actor_index))
    return false;
  bool room = actor->kind == SAMBA_ACTOR_LOAD || countersHaveRoom(engine, actor);
  if (!room)
    sambaActorWait(engine, actor, SAMBA_WAIT_OUTPUT);
  return room;
}

/* Issues until something must be waited for. */
static void issue(SambaEngine *engine, uint32_t actor_index) {
  SambaMemoryState *memory = engine->actors[actor_index].memory;

  for (bool more = true; more;) {
    if (!memory->issuing) {
      if (!mayBeginToken(engine, actor_index))
        return;
      beginToken(engine, actor_index);
    }
    if (memory->next_burst < memory->end_burst)
      more = issueRequest(engine, actor_index);
    else if (memory->run_ends_token)
      more = endIssue(engine, actor_index);
    else
      more = nextRun(engine, actor_index);
  }
}

void sambaMemoryActorProcess(SambaEngine *engine, uint32_t actor_index) {
  deliver(engine, actor_index);
  issue(engine, actor_index);
}
