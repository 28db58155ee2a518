/* The data that a LOAD keeps; see load_delivery.h.
 *
 * A LOAD has 2 x ag_bursts places for pieces of its pattern. What comes back leaves in the order of
 * the pattern, a vector per cycle, when the whole vector is there and its stream has room. */
#include "backend/sim/timing/engine/load_delivery.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/partial_tokens.h"
#include "backend/sim/timing/engine/tokens.h"

static SambaLoadGroup *groupAt(const SambaMemoryState *memory, uint64_t group) {
  return &memory->groups[group & memory->group_mask];
}

void sambaLoadDeliveryInit(SambaEngine *engine, SambaActor *actor) {
  enum { fewGroups = 16 };
  actor->memory->groups = SAMBA_ARENA_ARRAY(&engine->arena, SambaLoadGroup, fewGroups);
  actor->memory->group_mask = fewGroups - 1;
}

static void growGroups(SambaEngine *engine, SambaMemoryState *memory) {
  uint64_t size = 2 * (memory->group_mask + 1);
  SambaLoadGroup *groups = SAMBA_ARENA_ARRAY(&engine->arena, SambaLoadGroup, size);
  for (uint64_t g = memory->group_free; g < memory->group_end; ++g)
    groups[g & (size - 1)] = *groupAt(memory, g);
  memory->groups = groups;
  memory->group_mask = size - 1;
}

/* Pieces that cannot have left because the stream of the oldest token is full. */
static uint64_t piecesHeldUp(const SambaEngine *engine, const SambaMemoryState *memory) {
  if (memory->token_base == memory->token_end)
    return 0;
  const SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_base);
  if (!token->pushed || !engine->streams[token->output_stream].needs_acceptance)
    return 0;

  uint64_t vectors = engine->streams[token->output_stream].vectors;
  int64_t room = (int64_t)vectors + sambaStreamRoom(engine, token->output_stream);
  uint64_t left = room > 0 ? (uint64_t)room : 0;
  uint64_t walked = memory->pieces - token->pieces, all = walked;
  const SambaLoadGroup *newest = groupAt(memory, memory->group_end - 1);
  if (memory->token_base + 1 < memory->token_end)
    all = sambaMemoryTokenAt(memory, memory->token_base + 1)->pieces - token->pieces;
  else if (newest->vectors)
    all = sambaTimeScale(walked, vectors, newest->vectors);
  return walked - sambaTimeMin(walked, sambaTimeScale(all, left, vectors));
}

bool sambaLoadHasPlaces(SambaEngine *engine, uint32_t actor_index, uint64_t pieces,
                        uint64_t *out_at, bool *out_full) {
  SambaMemoryState *memory = engine->actors[actor_index].memory;
  uint64_t places = sambaLoadPlaces(engine->machine);
  while (memory->group_free < memory->group_next &&
         groupAt(memory, memory->group_free)->left <= engine->now)
    memory->pieces_kept -= groupAt(memory, memory->group_free++)->pieces;

  *out_at = SAMBA_TIME_UNKNOWN;
  *out_full = memory->pieces_kept && piecesHeldUp(engine, memory) + pieces > places;
  if (*out_full)
    return false;
  if (!memory->pieces_kept || memory->pieces_kept + pieces <= places)
    return true;
  if (memory->group_free < memory->group_next)
    *out_at = groupAt(memory, memory->group_free)->left;
  else
    memory->awaits_place = true;
  return false;
}

uint64_t sambaLoadAsk(SambaEngine *engine, SambaActor *actor, uint32_t pieces,
                      SambaLoadGroup **out_group) {
  SambaMemoryState *memory = actor->memory;
  if (memory->group_end - memory->group_free > memory->group_mask)
    growGroups(engine, memory);
  SambaLoadGroup *group = *out_group = groupAt(memory, memory->group_end);
  group->last = SAMBA_TIME_UNKNOWN;
  group->token = memory->token_end - 1;
  group->left = 0;
  group->pieces = pieces;
  memory->pieces += pieces;
  memory->pieces_kept += pieces;
  return memory->group_end++;
}

void sambaLoadArrive(SambaEngine *engine, uint32_t actor_index, uint64_t number,
                     SambaDramTimes times, uint64_t last) {
  SambaMemoryState *memory = engine->actors[actor_index].memory;
  SambaLoadGroup *group = groupAt(memory, number);
  group->times = times;
  group->last = last;
  if (number == memory->group_next)
    sambaEngineQueue(engine, actor_index);
}

/* When the first vector of a group is whole, of the `vectors` that are with the group. */
static uint64_t firstWhole(const SambaLoadGroup *group, uint64_t vectors) {
  uint64_t before = sambaTimeCeilDiv(group->bursts, vectors);
  return before ? sambaDramBurstDone(group->times, before - 1) : group->last;
}

/* Elements of the token that begin before burst `burst` of a group. */
static uint64_t elementsBefore(const SambaEngine *engine, const SambaMemoryState *memory,
                               const SambaLoadGroup *group, uint64_t burst) {
  uint64_t at = (group->first_burst + burst) * (uint64_t)engine->machine->dram_burst_bytes;
  uint64_t bytes = at - sambaTimeMin(at, group->run_address);
  return group->elements_before + sambaBurstRunElements(&memory->walk, &group->run, bytes);
}

/* The same as below, for those who ask for each vector. */
static void leaveOneByOne(SambaEngine *engine, SambaMemoryState *memory, SambaMemoryToken *token,
                          SambaLoadGroup *group) {
  uint64_t bursts = 0; /* that are needed so far */
  for (; memory->vectors_left < group->vectors; ++memory->vectors_left) {
    uint64_t elements = (memory->vectors_left + 1) * memory->vector_elements;
    elements = sambaTimeMin(elements, memory->token_elements);
    while (bursts < group->bursts && elementsBefore(engine, memory, group, bursts) < elements)
      ++bursts;
    uint64_t there = bursts ? sambaDramBurstDone(group->times, bursts - 1) : 0;
    uint64_t at = sambaTimeMax(memory->left_at, group->bursts ? there : group->last);
    if (!memory->vectors_left)
      token->first = at;
    sambaPartialTokensAdd(engine, token->output_stream, at);
    memory->left_at = at + 1;
  }
  group->left = memory->left_at;
}

/* The vectors that are whole with a group leave: no earlier than its data are there, one after the
 * other. */
static void leave(SambaEngine *engine, SambaMemoryState *memory, SambaMemoryToken *token,
                  SambaLoadGroup *group) {
  uint64_t vectors = group->vectors - memory->vectors_left;
  if (token->output_stream == SAMBA_NO_INDEX || !vectors) {
    group->left = memory->left_at = sambaTimeMax(memory->left_at, group->last);
    return;
  }

  const SambaStreamState *stream = &engine->streams[token->output_stream];
  if (stream->tells) {
    leaveOneByOne(engine, memory, token, group);
    return;
  }
  uint64_t at_last = sambaTimeCeilDiv(vectors, group->bursts ? group->bursts : 1);
  uint64_t begin = sambaTimeMax(memory->left_at, firstWhole(group, vectors));
  if (!memory->vectors_left)
    token->first = begin;
  uint64_t before = memory->vectors_left * stream->sharers;
  if (stream->sharers && begin > before)
    token->dense = sambaTimeMax(token->dense, begin - before);
  memory->vectors_left = group->vectors;
  memory->left_at = sambaTimeMax(begin + vectors, group->last + at_last);
  group->left = memory->left_at;
}

static void endToken(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  uint64_t first = sambaMemoryTokenAt(memory, memory->token_base++)->first;
  memory->vectors_left = 0;
  ++actor->done;
  if (engine->on_firing)
    engine->on_firing(engine->user, actor->unit, first, memory->left_at);
  if (actor->done == actor->firings) {
    sambaActorWait(engine, actor, SAMBA_WAIT_MEMORY);
    sambaActorFinish(engine, memory->left_at);
  }
}

static void pushToken(SambaEngine *engine, SambaActor *actor, SambaMemoryToken *token) {
  const SambaStreamState *stream = &engine->streams[token->output_stream];
  token->pushed = true;
  actor->end_minimum = 0;
  sambaStreamPush(engine, token->output_stream, token->first,
                  sambaTimeMax(actor->memory->left_at, token->first + stream->vectors));
}

/* Lets the groups of the oldest token leave whose data are there. */
static void leaveGroups(SambaEngine *engine, SambaActor *actor, SambaMemoryToken *token) {
  SambaMemoryState *memory = actor->memory;
  bool streams = token->output_stream != SAMBA_NO_INDEX;
  while (!token->complete && memory->group_next < memory->group_end) {
    SambaLoadGroup *group = groupAt(memory, memory->group_next);
    if (group->last == SAMBA_TIME_UNKNOWN)
      return;
    leave(engine, memory, token, group);
    token->complete = group->ends_token;
    if (streams && !token->pushed && token->first != SAMBA_TIME_UNKNOWN)
      pushToken(engine, actor, token);
    if (token->pushed && engine->streams[token->output_stream].tells)
      sambaPartialTokensTell(engine, token->output_stream);
    ++memory->group_next;
  }
}

/* All data of a token are there, and its consumers let it pass. The lanes that it shares with
 * others are booked from when its data come densely enough to use them in turns. */
static void endStreamed(SambaEngine *engine, SambaActor *actor, const SambaMemoryToken *token) {
  SambaMemoryState *memory = actor->memory;
  const SambaStreamState *stream = &engine->streams[token->output_stream];
  uint64_t passed, from = sambaTimeMax(token->first, token->dense);
  uint64_t rid = sambaStreamBookLanes(engine, token->output_stream, from, &passed);
  memory->left_at = sambaTimeMax(sambaTimeMax(memory->left_at, actor->end_minimum),
                                 sambaTimeMax(rid, token->first + stream->vectors));
  sambaStreamNoteDense(engine, token->output_stream, token->dense);
  sambaStreamEndToken(engine, token->output_stream, sambaTimeMax(memory->left_at, passed));
}

void sambaLoadDeliver(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  uint64_t left = memory->group_next;

  while (memory->token_base < memory->token_end) {
    SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_base);
    leaveGroups(engine, actor, token);
    bool streams = token->output_stream != SAMBA_NO_INDEX;
    if (!token->complete || !token->issued)
      break;
    if (streams) {
      const SambaStreamState *stream = &engine->streams[token->output_stream];
      if (stream->needs_acceptance)
        break;
      endStreamed(engine, actor, token);
    }
    endToken(engine, actor_index);
  }

  if (memory->awaits_place && memory->group_next > left) {
    memory->awaits_place = false;
    sambaEngineQueue(engine, actor_index);
  }
}
