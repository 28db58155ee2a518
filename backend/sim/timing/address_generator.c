/* LOAD and STORE: address generators that turn access patterns into bursts, with bounded credit;
 * see engine.h.
 *
 * A generator issues in order, a little ahead of the event that lets it (requests carry their own
 * arrival time), and gets its credits back in order: data leave towards the chip in the order of
 * the requests. */
#include "backend/sim/timing/timing_engine.h"

#include <stdlib.h>

/* Cycles a generator issues ahead within one event. */
enum { issueAhead = 32 };

static SambaMemoryToken *tokenAt(SambaMemoryState *memory, uint64_t token) {
  return &memory->tokens[token & memory->token_mask];
}

static SambaMemoryToken *appendToken(SambaMemoryState *memory) {
  if (memory->token_end - memory->token_base > memory->token_mask) {
    uint64_t size = (memory->token_mask + 1) * 2;
    SambaMemoryToken *tokens = sambaAllocate(sambaArraySize(size, sizeof *tokens));
    for (uint64_t t = memory->token_base; t < memory->token_end; ++t)
      tokens[t & (size - 1)] = *tokenAt(memory, t);
    free(memory->tokens);
    memory->tokens = tokens;
    memory->token_mask = size - 1;
  }
  SambaMemoryToken *token = tokenAt(memory, memory->token_end++);
  *token = (SambaMemoryToken){.first = SAMBA_TIME_UNKNOWN, .output_stream = SAMBA_NO_STREAM};
  return token;
}

static void endLoadToken(SambaEngine *engine, uint32_t actor_index, uint64_t last) {
  SambaActor *actor = &engine->actors[actor_index];
  uint64_t first = tokenAt(actor->memory, actor->memory->token_base++)->first;
  ++actor->done;
  if (engine->options->on_firing)
    engine->options->on_firing(engine->options->user, actor->unit, first, last);
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
    SambaMemoryToken *token = tokenAt(memory, memory->token_base);
    bool complete = token->issued && !token->outstanding;
    if (token->first == SAMBA_TIME_UNKNOWN && !complete)
      return;
    if (token->output_stream == SAMBA_NO_STREAM) {
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
    SambaMemoryToken *token = tokenAt(memory, memory->token_base);
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
    if (engine->options->on_firing)
      engine->options->on_firing(engine->options->user, actor->unit, token->first, token->last);
    if (actor->done == actor->firings) {
      sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
      sambaActorFinish(engine, token->last);
    }
  }
}

void sambaMemoryRequestDone(SambaEngine *engine, uint32_t actor, uint64_t token_index,
                            uint64_t first, uint64_t last) {
  SambaMemoryToken *token = tokenAt(engine->actors[actor].memory, token_index);
  bool news = token->first == SAMBA_TIME_UNKNOWN || token->outstanding == 1;
  token->first = sambaTimeMin(token->first, first);
  token->last = sambaTimeMax(token->last, last);
  --token->outstanding;
  if (news)
    sambaEngineQueue(engine, actor);
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

/* A STORE's data and the indices of either come in while it works; a token of them may be longer
 * than the way to it holds. */
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

/* A LOAD runs ahead of its takers by no more than what the generator and the way to them hold. */
static bool loadMayContinue(const SambaEngine *engine, const SambaActor *actor) {
  const SambaMemoryState *memory = actor->memory;
  const SambaMemoryToken *token = &memory->tokens[(memory->token_end - 1) & memory->token_mask];
  if (token->taken || token->output_stream == SAMBA_NO_STREAM)
    return true;
  uint64_t vectors = engine->streams[token->output_stream].vectors;
  return memory->held - vectors +
             sambaTimeScale(vectors, elementsIssued(memory, 0), memory->token_elements) <=
         memory->capacity;
}

/* Sends up to one request's worth of the current run. False when it must wait; then somebody will
 * look at the actor again. */
static bool issueRequest(SambaEngine *engine, uint32_t actor_index) {
  const SambaMachine *machine = engine->machine;
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  SambaGenerator *generator = &engine->generators[memory->generator];
  uint64_t burst_bytes = (uint64_t)machine->dram_burst_bytes;

  if (memory->placed_burst != memory->next_burst) {
    memory->place = sambaDramLocate(&engine->dram, memory->next_burst * burst_bytes);
    memory->placed_burst = memory->next_burst;
  }

  SambaDramPlace place = memory->place;
  uint64_t bursts = sambaTimeMin(sambaTimeMin(place.bursts, memory->end_burst - memory->next_burst),
                                 (uint64_t)machine->ag_bursts);
  bool read = actor->kind == SAMBA_ACTOR_LOAD;

  if (engine->reads && read)
    bursts = 1;
  if (read && !loadMayContinue(engine, actor)) {
    SambaMemoryToken *token = tokenAt(memory, memory->token_end - 1);
    if (token->first == SAMBA_TIME_UNKNOWN &&
        !token->outstanding) { /* more fill than the way holds leads it */
      token->first = engine->now;
      sambaEngineQueue(engine, actor_index);
    }

    sambaActorWait(engine, actor, SAMBA_WAIT_OUTPUT);
    return false;
  }

  /* The last burst waits until the end of the data is known. */
  if (actor->pending && memory->run_ends_token &&
      memory->next_burst + bursts == memory->end_burst) {
    sambaActorWait(engine, actor, SAMBA_WAIT_INPUT);
    return false;
  }

  uint64_t ready = read && !memory->walk.access->has_index ? 0 : dataReady(actor, bursts);
  if (!sambaGeneratorHasCredits(engine, memory->generator, bursts)) {
    sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
    return false;
  }

  uint64_t at = sambaTimeMax(sambaTimeMax(engine->now, generator->next_issue), ready);
  if (at > engine->now + issueAhead) {
    sambaActorWait(engine, actor,
                   ready > generator->next_issue ? SAMBA_WAIT_INPUT : SAMBA_WAIT_MEMORY);
    sambaGeneratorWake(engine, memory->generator, at);
    return false;
  }

  uint64_t cycles =
      sambaTimeMax(1, sambaTimeCeilDiv(bursts * burst_bytes, (uint64_t)machine->ag_bytes));
  generator->next_issue = at + cycles;
  actor->credit += cycles;
  uint32_t slot = sambaGeneratorTakeCredits(engine, memory->generator, actor_index,
                                            memory->token_end - 1, bursts, memory->next_burst);
  ++tokenAt(memory, memory->token_end - 1)->outstanding;
  uint64_t burst = memory->next_burst;
  memory->next_burst += bursts;
  memory->last_burst = memory->next_burst - 1;
  if (engine->reads && read) {
    if (sambaGeneratorMergeRead(engine, burst, memory->generator, slot))
      return true;
  }

  SambaDramRequest request = {.arrival = at + 1 + (uint64_t)machine->ag_latency_cycles / 2,
                              .row = place.row,
                              .bank = place.bank,
                              .bursts = (uint32_t)bursts,
                              .write = !read,
                              .owner = memory->generator,
                              .slot = slot};
  uint64_t event = sambaDramSubmit(&engine->dram, place.channel, &request);

  if (event != SAMBA_TIME_UNKNOWN)
    sambaEventsPush(&engine->events, event, sambaTarget(SAMBA_TARGET_CHANNEL, place.channel));
  return true;
}

/* Takes the walk's next run as bursts. A step costs the generator a cycle even when it asks for
 * nothing. */
static bool nextRun(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  SambaGenerator *generator = &engine->generators[memory->generator];

  if (generator->next_issue > engine->now + issueAhead) {
    sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
    sambaGeneratorWake(engine, memory->generator, generator->next_issue);
    return false;
  }

  if (!sambaRunWalkNext(&memory->walk, &memory->run))
    memory->run = (SambaRun){.elements = memory->token_elements, .ends_token = true};
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
  SambaMemoryToken *token = tokenAt(memory, memory->token_end - 1);

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
  actor->kind == SAMBA_ACTOR_LOAD ? deliverLoad(engine, actor_index)
                                  : deliverStore(engine, actor_index);
  return true;
}

/* The control tokens that a STORE makes are counted somewhere, up to a bound. */
static bool countersHaveRoom(const SambaEngine *engine, const SambaActor *actor) {
  for (uint32_t o = 0; o < actor->output_count; ++o)
    for (uint32_t s = 0; s < actor->outputs[o].stream_count; ++s) {
      const SambaStreamState *stream = &engine->streams[actor->outputs[o].streams[s]];
      if (stream->untaken >= stream->capacity)
        return false;
    }
  return true;
}

static void pump(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  bool load = actor->kind == SAMBA_ACTOR_LOAD;

  for (;;) {
    if (!memory->issuing) {
      if (actor->next == actor->firings) {
        sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
        return;
      }
      if (!inputsAreThere(engine, actor_index))
        return;
      if (load && memory->held >= memory->capacity) {
        sambaActorWait(engine, actor, SAMBA_WAIT_OUTPUT);
        return;
      }
      if (!load && !countersHaveRoom(engine, actor)) {
        sambaActorWait(engine, actor, SAMBA_WAIT_OUTPUT);
        return;
      }
      beginToken(engine, actor_index);
    }
    if (memory->next_burst < memory->end_burst) {
      if (!issueRequest(engine, actor_index))
        return;
    } else if (memory->run_ends_token) {
      if (!endIssue(engine, actor_index))
        return;
    } else if (!nextRun(engine, actor_index)) {
      return;
    }
  }
}

void sambaMemoryProcess(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  actor->kind == SAMBA_ACTOR_LOAD ? deliverLoad(engine, actor_index)
                                  : deliverStore(engine, actor_index);
  pump(engine, actor_index);
}
