/* LOAD and STORE; see address_generator.h.
 *
 * A generator issues in order, a little ahead of the event that lets it (requests carry their own
 * arrival time), and gets its credits back in order: data leave towards the chip in the order of
 * the requests. */
#include "backend/sim/timing/engine/address_generator.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/outstanding_bursts.h"
#include "backend/sim/timing/engine/tokens.h"

#include <stdlib.h>

/* Cycles a generator issues ahead within one event. */
enum { issueAhead = 32 };

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
  *token = (SambaMemoryToken){.first = SAMBA_TIME_UNKNOWN, .output_stream = SAMBA_NO_INDEX};
  return token;
}

static void endLoadToken(SambaEngine *engine, uint32_t actor_index, uint64_t last) {
  SambaActor *actor = &engine->actors[actor_index];
  uint64_t first = sambaMemoryTokenAt(actor->memory, actor->memory->token_base++)->first;
  ++actor->done;
  if (engine->on_firing)
    engine->on_firing(engine->user, actor->unit, first, last);
  if (actor->done == actor->firings) {
    sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
    sambaActorFinish(engine, last);
  }
}

/* Delivery: tokens leave a LOAD in order, each no faster than its port. */
static void deliverLoad(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;

  while (memory->token_base < memory->token_end) {
    SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_base);
    bool complete = token->issued && !token->outstanding;
    if (token->first == SAMBA_TIME_UNKNOWN && !complete)
      return;
    if (token->output_stream == SAMBA_NO_INDEX) {
      if (!complete)
        return;
      endLoadToken(engine, actor_index, token->last);
      continue;
    }
    SambaStreamState *stream = &engine->streams[token->output_stream];
    if (!token->pushed) {
      /* A token without a single burst is fill alone: it is there as soon as it was asked for. */
      uint64_t first = sambaTimeMax(token->first == SAMBA_TIME_UNKNOWN ? token->last : token->first,
                                    memory->delivered_until);
      token->pushed = true;
      actor->end_minimum = sambaStreamBookLanes(engine, token->output_stream);
      token->first = first;
      token->number = stream->pushed;
      sambaStreamPush(engine, token->output_stream, first,
                      sambaTimeMax(token->last, first + stream->cycles));
    }
    if (!complete || stream->needs_acceptance)
      return;
    uint64_t last =
        sambaTimeMax(sambaTimeMax(token->last, token->first + stream->cycles), actor->end_minimum);
    memory->delivered_until = last;
    sambaStreamEndToken(engine, token->output_stream, last);
    endLoadToken(engine, actor_index, last);
  }
}

/* Completion of a STORE's tokens, in order; its control outputs tell. */
static void deliverStore(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;

  while (memory->token_base < memory->token_end) {
    SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_base);
    if (!token->issued || token->outstanding)
      return;
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
      sambaActorFinish(engine, token->last);
    }
  }
}

static void deliver(SambaEngine *engine, uint32_t actor_index) {
  if (engine->actors[actor_index].kind == SAMBA_ACTOR_LOAD)
    deliverLoad(engine, actor_index);
  else
    deliverStore(engine, actor_index);
}

/* Elements of the current token whose bursts were issued, were `ahead` more bursts of the current
 * run issued. */
static uint64_t elementsIssued(const SambaMemoryState *memory, uint64_t ahead) {
  uint64_t bursts = memory->end_burst - memory->first_burst;
  uint64_t left = memory->end_burst - memory->next_burst;
  left -= sambaTimeMin(left, ahead);
  uint64_t rest = bursts ? sambaTimeScale(memory->run.elements, left, bursts) : 0;
  return sambaTimeMin(memory->walked - rest, memory->token_elements);
}

/* A STORE's data and the indices of either come in while it works: a token of them may be longer
 * than the stream holds. */
static bool isStreamed(const SambaActor *actor, const SambaActorInput *input) {
  bool indexed = actor->memory->walk.access->has_index;
  return actor->kind == SAMBA_ACTOR_STORE ? input->port <= indexed : indexed && input->port == 0;
}

/* Bursts of a STORE leave as their data come in, those that are indexed as their indices do. */
static uint64_t dataReady(const SambaActor *actor, uint64_t bursts) {
  const SambaMemoryState *memory = actor->memory;
  bool estimated = actor->pending || actor->kind == SAMBA_ACTOR_LOAD;
  uint64_t last = estimated ? memory->data_last : actor->end_minimum;
  uint64_t span = last > memory->data_first ? last - memory->data_first : 0;
  return memory->data_first +
         sambaTimeScale(span, elementsIssued(memory, bursts), memory->token_elements);
}

/* A LOAD runs ahead of its consumers by no more than what the generator and the stream hold. */
static bool loadMayContinue(const SambaEngine *engine, const SambaActor *actor) {
  const SambaMemoryState *memory = actor->memory;
  const SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_end - 1);
  if (token->taken || token->output_stream == SAMBA_NO_INDEX)
    return true;
  uint64_t vectors = engine->streams[token->output_stream].vectors;
  return memory->held - vectors +
             sambaTimeScale(vectors, elementsIssued(memory, 0), memory->token_elements) <=
         memory->capacity;
}

/* Bursts of the next request: as many as lie in one row of one channel (memory->place). */
static uint64_t requestBursts(SambaEngine *engine, const SambaActor *actor) {
  const SambaMachine *machine = engine->machine;
  SambaMemoryState *memory = actor->memory;

  if (memory->placed_burst != memory->next_burst) {
    uint64_t address = memory->next_burst * (uint64_t)machine->dram_burst_bytes;
    memory->place = sambaDramLocate(&engine->dram, address);
    memory->placed_burst = memory->next_burst;
  }

  if (engine->reads && actor->kind == SAMBA_ACTOR_LOAD) /* merged burst by burst */
    return 1;
  uint64_t left = memory->end_burst - memory->next_burst;
  return sambaTimeMin(sambaTimeMin(memory->place.bursts, left), (uint64_t)machine->ag_bursts);
}

/* A LOAD that may not go on waits for room. A token that begins with more fill than its stream
 * holds has asked for no burst yet; it starts to leave now. */
static void waitForRoom(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryToken *token = sambaMemoryTokenAt(actor->memory, actor->memory->token_end - 1);
  if (token->first == SAMBA_TIME_UNKNOWN && !token->outstanding) {
    token->first = engine->now;
    sambaEngineQueue(engine, actor_index);
  }
  sambaActorWait(engine, actor, SAMBA_WAIT_OUTPUT);
}

/* A LOAD sends its vectors in order: once the last of the next `bursts` bursts is there, what
 * follows it in the token takes so many cycles, its own vector among them. */
static uint64_t cyclesBehind(const SambaEngine *engine, const SambaActor *actor, uint64_t bursts) {
  const SambaMemoryState *memory = actor->memory;
  const SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_end - 1);
  if (token->output_stream == SAMBA_NO_INDEX)
    return 0;
  uint64_t cycles = engine->streams[token->output_stream].cycles;
  uint64_t left = memory->token_elements - elementsIssued(memory, bursts);
  return sambaTimeMin(cycles, sambaTimeScale(cycles, left, memory->token_elements) + 1);
}

/* Sends the next `bursts` bursts at cycle `at`. */
static void sendRequest(SambaEngine *engine, uint32_t actor_index, uint64_t bursts, uint64_t at) {
  const SambaMachine *machine = engine->machine;
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  bool read = actor->kind == SAMBA_ACTOR_LOAD;
  uint64_t bytes = bursts * (uint64_t)machine->dram_burst_bytes;
  uint64_t cycles = sambaTimeMax(1, sambaTimeCeilDiv(bytes, memory->port_bytes));
  uint64_t burst = memory->next_burst;

  engine->generators[memory->generator].next_issue = at + cycles;
  actor->credit += cycles;
  uint32_t slot = sambaAddressGeneratorTakeCredits(engine, memory->generator, actor_index,
                                                   memory->token_end - 1, bursts, burst);
  engine->generators[memory->generator].requests[slot].behind =
      read ? cyclesBehind(engine, actor, bursts) : 0;
  ++sambaMemoryTokenAt(memory, memory->token_end - 1)->outstanding;
  memory->next_burst += bursts;
  memory->last_burst = memory->next_burst - 1;
  if (engine->reads && read &&
      sambaAddressGeneratorMergeRead(engine, burst, memory->generator, slot))
    return;

  SambaDramRequest request = {.arrival = at + 1 + (uint64_t)machine->ag_latency_cycles / 2,
                              .row = memory->place.row,
                              .bank = memory->place.bank,
                              .bursts = (uint32_t)bursts,
                              .write = !read,
                              .owner = memory->generator,
                              .slot = slot};
  uint64_t event = sambaDramSubmit(&engine->dram, memory->place.channel, &request);
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
  bool read = actor->kind == SAMBA_ACTOR_LOAD;
  uint64_t bursts = requestBursts(engine, actor);

  if (read && !loadMayContinue(engine, actor)) {
    waitForRoom(engine, actor_index);
    return false;
  }

  /* The last burst waits until the end of the data is known. */
  if (actor->pending && memory->run_ends_token &&
      memory->next_burst + bursts == memory->end_burst) {
    sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
    return false;
  }

  uint64_t ready = read && !memory->walk.access->has_index ? 0 : dataReady(actor, bursts);
  if (!sambaAddressGeneratorHasCredits(engine, memory->generator, bursts)) {
    sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
    return false;
  }

  uint64_t at = sambaTimeMax(sambaTimeMax(engine->now, generator->next_issue), ready);
  if (at > engine->now + issueAhead) {
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

  if (generator->next_issue > engine->now + issueAhead) {
    sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
    sambaAddressGeneratorWake(engine, memory->generator, generator->next_issue);
    return false;
  }

  if (engine->instant_memory || !sambaBurstWalkNext(&memory->walk, &memory->run))
    memory->run = (SambaBurstRun){.elements = memory->token_elements, .ends_token = true};
  uint64_t burst_bytes = (uint64_t)engine->machine->dram_burst_bytes;
  memory->walked += memory->run.elements;
  memory->run_ends_token = memory->run.ends_token;
  memory->first_burst = memory->next_burst = memory->end_burst = 0;
  if (memory->run.begin < memory->run.end) {
    /* Device addresses below 2^46 bytes; what a broken file asks for wraps around. */
    uint64_t mask = (UINT64_C(1) << 56) - 1;
    uint64_t begin = (memory->symbol_address + (uint64_t)memory->run.begin) & mask;
    uint64_t end = begin + (uint64_t)(memory->run.end - memory->run.begin);
    memory->next_burst = begin / burst_bytes;
    memory->end_burst = sambaTimeCeilDiv(end, burst_bytes);
    /* Neighbouring runs that meet in one burst ask for it once. */
    memory->next_burst += memory->next_burst == memory->last_burst;
    memory->first_burst = memory->next_burst;
  }

  if (memory->next_burst >= memory->end_burst) {
    generator->next_issue = sambaTimeMax(generator->next_issue, engine->now) + 1;
    ++actor->credit;
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
  memory->first_burst = memory->next_burst = memory->end_burst = 0;
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
      duration = engine->streams[cursor->stream].cycles;
    }
    sambaInputTake(engine, actor_index, input, duration);
  }

  if (actor->kind == SAMBA_ACTOR_LOAD && actor->outputs[0].stream_count) {
    token->output_stream = sambaOutputNextStream(&actor->outputs[0]);
    memory->held += engine->streams[token->output_stream].vectors;
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
      if (sambaStreamRoom(engine, actor->outputs[o].streams[s]) <= 0)
        return false;
  return true;
}

/* Whether the next token may begin; if not, what the actor waits for is noted. */
static bool mayBeginToken(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  const SambaMemoryState *memory = actor->memory;

  if (actor->next == actor->firings) {
    sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
    return false;
  }
  if (!inputsAreThere(engine, actor_index))
    return false;
  bool room = actor->kind == SAMBA_ACTOR_LOAD ? memory->held < memory->capacity
                                              : countersHaveRoom(engine, actor);
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
