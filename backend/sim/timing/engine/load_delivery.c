/* The data that a LOAD keeps; see load_delivery.h.
 *
 * A LOAD has 2 x ag_bursts places for pieces of its pattern. What comes back leaves in the order of
 * the pattern, a vector per cycle, when the whole vector is there and its stream has room. */
#include "backend/sim/timing/engine/load_delivery.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/tokens.h"

static SambaLoadGroup *groupAt(const SambaMemoryState *memory, uint64_t group) {
  return &memory->groups[group & memory->group_mask];
}

static uint64_t placesOf(const SambaMachine *machine) { return 2 * (uint64_t)machine->ag_bursts; }

void sambaLoadDeliveryInit(SambaEngine *engine, SambaActor *actor) {
  uint64_t size = 4;
  while (size < placesOf(engine->machine) + 2)
    size *= 2;
  actor->memory->groups = SAMBA_ARENA_ARRAY(&engine->arena, SambaLoadGroup, size);
  actor->memory->group_mask = size - 1;
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
  uint64_t end = memory->token_base + 1 < memory->token_end
                     ? sambaMemoryTokenAt(memory, memory->token_base + 1)->pieces
                     : memory->pieces;
  return memory->pieces - token->pieces - sambaTimeScale(end - token->pieces, left, vectors);
}

bool sambaLoadHasPlaces(SambaEngine *engine, uint32_t actor_index, uint64_t pieces,
                        uint64_t *out_at, bool *out_full) {
  SambaMemoryState *memory = engine->actors[actor_index].memory;
  uint64_t places = placesOf(engine->machine);
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

uint64_t sambaLoadAsk(SambaActor *actor, SambaLoadGroup group) {
  SambaMemoryState *memory = actor->memory;
  group.token = memory->token_end - 1;
  memory->pieces += group.pieces;
  memory->pieces_kept += group.pieces;
  *groupAt(memory, memory->group_end) = group;
  return memory->group_end++;
}

void sambaLoadArrive(SambaEngine *engine, uint32_t actor_index, uint64_t number,
                     const SambaDramTimes *times, uint64_t last) {
  SambaMemoryState *memory = engine->actors[actor_index].memory;
  SambaLoadGroup *group = groupAt(memory, number);
  group->times = *times;
  group->last = last;
  if (number == memory->group_next)
    sambaEngineQueue(engine, actor_index);
}

/* When the first vector of a group is whole, of the `vectors` that are with the group. */
static uint64_t firstWhole(const SambaLoadGroup *group, uint64_t vectors) {
  uint64_t before = sambaTimeCeilDiv(group->bursts, vectors);
  return before ? sambaDramBurstDone(&group->times, before - 1) : group->last;
}

/* The vectors that are whole with a group leave: no earlier than its data are there, one after the
 * other. */
static void leave(const SambaEngine *engine, SambaMemoryState *memory, SambaMemoryToken *token,
                  SambaLoadGroup *group) {
  uint64_t vectors = group->vectors - memory->vectors_left;
  if (token->output_stream == SAMBA_NO_INDEX || !vectors) {
    group->left = memory->left_at = sambaTimeMax(memory->left_at, group->last);
    return;
  }

  const SambaStreamState *stream = &engine->streams[token->output_stream];
  uint64_t cycles = sambaTimeScale(stream->cycles, vectors, stream->vectors);
  uint64_t at_last = sambaTimeCeilDiv(vectors, group->bursts ? group->bursts : 1);
  uint64_t begin = sambaTimeMax(memory->left_at, firstWhole(group, vectors));
  if (!memory->vectors_left)
    token->first = begin;
  memory->vectors_left = group->vectors;
  memory->left_at = sambaTimeMax(
      begin + cycles, group->last + sambaTimeScale(stream->cycles, at_last, stream->vectors));
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

/* Lets the groups of the oldest token leave whose data are there. */
static void leaveGroups(const SambaEngine *engine, SambaMemoryState *memory,
                        SambaMemoryToken *token) {
  while (!token->complete && memory->group_next < memory->group_end) {
    SambaLoadGroup *group = groupAt(memory, memory->group_next);
    if (group->last == SAMBA_TIME_UNKNOWN)
      return;
    leave(engine, memory, token, group);
    token->complete = group->ends_token;
    ++memory->group_next;
  }
}

static void pushToken(SambaEngine *engine, SambaActor *actor, SambaMemoryToken *token) {
  const SambaStreamState *stream = &engine->streams[token->output_stream];
  token->pushed = true;
  actor->end_minimum = sambaStreamBookLanes(engine, token->output_stream);
  sambaStreamPush(engine, token->output_stream, token->first,
                  sambaTimeMax(actor->memory->left_at, token->first + stream->cycles));
}

void sambaLoadDeliver(SambaEngine *engine, uint32_t actor_index) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaMemoryState *memory = actor->memory;
  uint64_t left = memory->group_next;

  while (memory->token_base < memory->token_end) {
    SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_base);
    leaveGroups(engine, memory, token);
    bool streams = token->output_stream != SAMBA_NO_INDEX;
    if (streams && !token->pushed && token->first != SAMBA_TIME_UNKNOWN)
      pushToken(engine, actor, token);
    if (!token->complete || !token->issued)
      break;
    if (streams) {
      const SambaStreamState *stream = &engine->streams[token->output_stream];
      if (stream->needs_acceptance)
        break;
      memory->left_at = sambaTimeMax(sambaTimeMax(memory->left_at, actor->end_minimum),
                                     token->first + stream->cycles);
      sambaStreamEndToken(engine, token->output_stream, memory->left_at);
    }
    endToken(engine, actor_index);
  }

  if (memory->awaits_place && memory->group_next > left) {
    memory->awaits_place = false;
    sambaEngineQueue(engine, actor_index);
  }
}
