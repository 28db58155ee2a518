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
  actor->memory->groups = SAMBA_ARENA_LINES(&engine->arena, SambaLoadGroup, fewGroups);
  actor->memory->runs = SAMBA_ARENA_ARRAY(&engine->arena, SambaLoadRun, fewGroups);
  actor->memory->group_mask = fewGroups - 1;
}

static void growGroups(SambaEngine *engine, SambaMemoryState *memory) {
  uint64_t size = 2 * (memory->group_mask + 1);
  SambaLoadGroup *groups = SAMBA_ARENA_LINES(&engine->arena, SambaLoadGroup, size);
  SambaLoadRun *runs = SAMBA_ARENA_ARRAY(&engine->arena, SambaLoadRun, size);
  for (uint64_t g = memory->group_free; g < memory->group_end; ++g) {
    groups[g & (size - 1)] = *groupAt(memory, g);
    runs[g & (size - 1)] = memory->runs[g & memory->group_mask];
  }
  memory->groups = groups;
  memory->runs = runs;
  memory->group_mask = size - 1;
}

/* Bursts of a group that are there when the first `elements` elements of its token are. */
static uint64_t burstsWith(const SambaEngine *engine, const SambaMemoryState *memory,
                           const SambaLoadGroup *group, uint64_t elements) {
  const SambaLoadRun *at = &memory->runs[group - memory->groups];
  if (!group->has_run)
    return group->bursts;
  if (elements <= at->elements_before)
    return 0;
  uint64_t last = elements - at->elements_before - 1;
  uint64_t address = at->address + sambaBurstRunOffset(&memory->walk, at->skipped, last);
  uint64_t burst = address >> engine->dram.burst_shift;
  uint64_t bursts = burst + 1 - sambaTimeMin(at->first_burst, burst + 1);
  return sambaTimeMin(bursts, group->bursts);
}

/* Whether takers keep some of a token from leaving. */
static inline bool isHeldUp(const SambaEngine *engine, SambaMemoryState *memory) {
  if (sambaLoadResumes(memory, engine->now))
    return true;
  const SambaMemoryToken *oldest = sambaMemoryTokenAt(memory, memory->token_base);
  return memory->token_base < memory->token_end && oldest->pushed &&
         engine->streams[oldest->output_stream].needs_acceptance;
}

/* Pieces of a group that have elements behind the first `elements` ones of their token. */
static uint64_t piecesBehind(const SambaEngine *engine, const SambaMemoryState *memory,
                             const SambaLoadGroup *group, uint64_t elements) {
  if (memory->runs[group - memory->groups].elements <= elements)
    return 0;
  uint64_t there = group->bursts > 1 ? burstsWith(engine, memory, group, elements + 1) : 1;
  return group->bursts > 1 ? group->bursts + 1 - there : group->pieces;
}

/* What streams that are full keep from leaving: pieces from number `from` of the pattern on that
 * have elements behind the first `elements` ones of their token, and all from `end` on. A vector
 * that is whole does not keep its pieces: it waits at the way out. */
typedef struct SambaHeld {
  uint64_t from, end, elements;
} SambaHeld;

static SambaHeld heldUp(const SambaEngine *engine, const SambaMemoryState *memory) {
  uint64_t token = memory->held_token;
  SambaHeld held = {memory->held_from, memory->pieces, 0};
  int64_t left = sambaLoadLeft(memory, engine->now);
  if (!memory->resumes) {
    token = memory->token_base;
    const SambaMemoryToken *oldest = sambaMemoryTokenAt(memory, token);
    held.from = oldest->pieces;
    left = sambaStreamRoom(engine, oldest->output_stream) +
           (int64_t)engine->streams[oldest->output_stream].vectors;
  }
  if (token + 1 < memory->token_end)
    held.end = sambaMemoryTokenAt(memory, token + 1)->pieces;
  uint64_t vectors = left < 0 ? 0 : (uint64_t)left + 1;
  held.elements = sambaTimeMin(vectors * memory->vector.elements, memory->token_elements);
  return held;
}

/* Of a group that begins with piece number `piece`. */
static uint64_t heldOfGroup(const SambaEngine *engine, const SambaMemoryState *memory,
                            const SambaLoadGroup *group, uint64_t piece, SambaHeld held) {
  if (piece >= held.end)
    return group->pieces;
  return piece < held.from ? 0 : piecesBehind(engine, memory, group, held.elements);
}

void sambaLoadFreePlaces(const SambaEngine *engine, SambaMemoryState *memory, uint64_t at) {
  bool is_held = isHeldUp(engine, memory);
  SambaHeld held = {0};
  if (is_held)
    held = heldUp(engine, memory);
  for (; memory->group_free < memory->group_next; ++memory->group_free) {
    const SambaLoadGroup *group = groupAt(memory, memory->group_free);
    uint64_t piece = memory->pieces - memory->pieces_kept;
    if (group->left > at || (is_held && heldOfGroup(engine, memory, group, piece, held)))
      break;
    memory->pieces_kept -= group->pieces;
  }
  if (memory->pieces_kept <= sambaLoadPlaces(engine->machine) / 2)
    memory->resumes = false; /* data come more slowly than takers make room */
}

/* Takers make room: when to look again whether `pieces` of the oldest group have left. */
static uint64_t goesOnAt(const SambaEngine *engine, const SambaMemoryState *memory,
                         const SambaLoadGroup *oldest, uint64_t pieces) {
  uint64_t next = sambaTimeMax(memory->resumes_at, engine->now + 1);
  uint64_t elements = memory->runs[oldest - memory->groups].elements;
  int64_t needed = (int64_t)sambaVectorsFor(memory->vector, elements) - memory->held_left - 2;
  if (pieces < oldest->pieces || needed <= 0)
    return next;
  return sambaTimeMax(next,
                      memory->resumes_at + sambaTimeScale(memory->held_cycles, (uint64_t)needed,
                                                          memory->held_vectors));
}

bool sambaLoadHasPlaces(SambaEngine *engine, uint32_t actor_index, uint64_t pieces,
                        uint64_t *out_at, bool *out_full) {
  SambaMemoryState *memory = engine->actors[actor_index].memory;
  uint64_t places = sambaLoadPlaces(engine->machine), kept = memory->pieces_kept;
  *out_at = SAMBA_TIME_UNKNOWN;
  *out_full = false;
  if (!kept || kept + pieces <= places)
    return true;
  if (memory->group_free == memory->group_next) {
    memory->awaits_place = true;
    return false;
  }

  const SambaLoadGroup *oldest = groupAt(memory, memory->group_free);
  *out_at = oldest->left;
  if (oldest->left > engine->now)
    return false;
  bool is_held = isHeldUp(engine, memory);
  uint64_t held = 0;
  if (is_held)
    held = heldOfGroup(engine, memory, oldest, memory->pieces - kept, heldUp(engine, memory));
  if (kept - oldest->pieces + held + pieces <= places)
    return true;
  *out_full = is_held;
  *out_at = is_held ? SAMBA_TIME_UNKNOWN : engine->now + 1;
  if (memory->resumes)
    *out_at = goesOnAt(engine, memory, oldest, kept + pieces - places);
  return false;
}

uint64_t sambaLoadAsk(SambaEngine *engine, SambaActor *actor, uint32_t pieces,
                      SambaLoadGroup **out_group, SambaLoadRun **out_run) {
  SambaMemoryState *memory = actor->memory;
  if (memory->group_end - memory->group_free > memory->group_mask)
    growGroups(engine, memory);
  SambaLoadGroup *group = *out_group = groupAt(memory, memory->group_end);
  *out_run = &memory->runs[memory->group_end & memory->group_mask];
  group->last = SAMBA_TIME_UNKNOWN;
  group->left = 0;
  group->pieces = pieces;
  memory->pieces += pieces;
  memory->pieces_kept += pieces;
  return memory->group_end++;
}

/* Whether the consumers of the oldest token wait for more of it than its end. */
static bool tellsMore(const SambaEngine *engine, const SambaMemoryState *memory) {
  const SambaMemoryToken *token = sambaMemoryTokenAt(memory, memory->token_base);
  return token->output_stream != SAMBA_NO_INDEX &&
         (!token->pushed || engine->streams[token->output_stream].tells);
}

void sambaLoadArrive(SambaEngine *engine, SambaMemoryState *memory, uint32_t number,
                     SambaDramTimes times, uint64_t last) {
  SambaLoadGroup *group = groupAt(memory, number);
  group->times = times;
  group->last = last;
  if (number != (uint32_t)memory->group_there)
    return;

  bool ends_token = false;
  do
    ends_token |= groupAt(memory, memory->group_there++)->ends_token;
  while (memory->group_there < memory->group_end &&
         groupAt(memory, memory->group_there)->last != SAMBA_TIME_UNKNOWN);
  if (ends_token || memory->is_held_up || tellsMore(engine, memory))
    sambaEngineQueue(engine, memory->actor);
}

uint64_t sambaLoadDataEnd(const SambaMemoryState *memory) {
  uint64_t end = 0;
  for (uint64_t g = memory->group_free; g < memory->group_end; ++g)
    if (groupAt(memory, g)->last != SAMBA_TIME_UNKNOWN)
      end = sambaTimeMax(end, groupAt(memory, g)->last + 1);
  return end;
}

/* When the data of the first `elements` elements of a token are there, of which a group has the
 * last. */
static uint64_t dataAt(const SambaEngine *engine, const SambaMemoryState *memory,
                       const SambaLoadGroup *group, uint64_t elements) {
  uint64_t bursts = group->bursts ? burstsWith(engine, memory, group, elements) : 0;
  if (group->bursts)
    return bursts ? sambaDramBurstDone(group->times, bursts - 1) : 0;
  return group->last;
}

/* The data of a long token come at a pace that is only known as they come. */
static bool isBookedInParts(const SambaStreamState *stream) {
  enum { manyVectors = 128 };
  return stream->lane_count && stream->vectors >= manyVectors && !stream->tells;
}

enum { parts = 8 }; /* of a token that are booked one after the other */

/* Books the lanes for what has left since the last booking. */
static void bookPast(SambaEngine *engine, SambaMemoryState *memory, const SambaMemoryToken *token) {
  uint64_t from = sambaTimeMax(memory->booked_at, token->first), passed = 0;
  uint64_t vectors = memory->vectors_left - memory->vectors_booked;
  if (memory->left_at > from)
    memory->pace = sambaNumberOf(memory->left_at - from) / sambaNumberOf(vectors);
  uint64_t rid = sambaStreamBookLanes(engine, token->output_stream, from, vectors,
                                      memory->left_at - from, &passed);
  memory->vectors_booked = memory->vectors_left;
  memory->left_at = sambaTimeMax(memory->left_at, rid);
  memory->booked_at = memory->left_at;
}

/* What was booked ahead has left, at a pace of its own; what others took meanwhile comes on top. */
static void endAhead(SambaEngine *engine, SambaMemoryState *memory, uint32_t stream) {
  uint64_t passed = 0, left_at = memory->left_at;
  if (left_at > memory->booked_at && memory->vectors_left > memory->ahead_from)
    memory->pace = sambaNumberOf(left_at - memory->booked_at) /
                   sambaNumberOf(memory->vectors_left - memory->ahead_from);
  if (memory->ahead_end > left_at)
    sambaStreamHurryLanes(engine, stream, memory->ahead_end - left_at);
  memory->left_at = sambaTimeMax(left_at, sambaStreamPassLanes(engine, stream, &passed));
}

/* The next part will go on at the pace of the last one. Others that book meanwhile meet it. */
static void bookAhead(SambaEngine *engine, SambaMemoryState *memory, uint32_t stream_index) {
  const SambaStreamState *stream = &engine->streams[stream_index];
  uint64_t late = memory->vectors_left - memory->vectors_booked, passed = 0;
  uint64_t ahead = sambaTimeMin(stream->vectors / parts, stream->vectors - memory->vectors_left);
  if (!late && !ahead)
    return;
  uint64_t cycles =
      sambaTimeMax(late + ahead, sambaCyclesOf(memory->pace * sambaNumberOf(ahead) + 0.5));
  memory->ahead_from = memory->vectors_left;
  memory->booked_at = sambaTimeMax(memory->left_at, engine->now);
  memory->ahead_end = memory->booked_at + cycles;
  sambaStreamBookLanes(engine, stream_index, memory->booked_at, late + ahead, cycles, &passed);
  memory->vectors_booked += late + ahead;
}

/* Books the lanes, an eighth of the token at a time. As soon as the pace of a load is known, a part
 * is booked when it begins: a load that is booked when it has passed is met by nobody until then.
 */
static void bookPart(SambaEngine *engine, SambaMemoryState *memory, const SambaMemoryToken *token) {
  const SambaStreamState *stream = &engine->streams[token->output_stream];
  bool is_ahead = memory->pace > 0;
  uint64_t end = memory->vectors_booked;
  if (!is_ahead)
    end += stream->vectors / parts;
  if (memory->vectors_left < end || stream->needs_acceptance)
    return;

  if (!is_ahead)
    bookPast(engine, memory, token);
  else if (memory->vectors_booked)
    endAhead(engine, memory, token->output_stream);
  bookAhead(engine, memory, token->output_stream);
}

/* The vectors that are whole with a group leave: no earlier than their data are there, one after
 * the other. */
static void leave(SambaEngine *engine, SambaMemoryState *memory, SambaMemoryToken *token,
                  SambaLoadGroup *group) {
  const SambaStreamState *stream = NULL;
  uint64_t end = 0, before = memory->left_at;
  if (token->output_stream != SAMBA_NO_INDEX) {
    stream = &engine->streams[token->output_stream];
    end = group->vectors;
  }

  for (; memory->vectors_left < end; ++memory->vectors_left) {
    bool all_there = memory->left_at >= group->last;
    before = memory->left_at;
    uint64_t elements = (memory->vectors_left + 1) * memory->vector.elements;
    elements = sambaTimeMin(elements, memory->token_elements);
    uint64_t at = memory->left_at;
    if (!all_there)
      at = sambaTimeMax(at, dataAt(engine, memory, group, elements));
    if (!memory->vectors_left)
      token->first = at;
    uint64_t before = memory->vectors_left * stream->sharers;
    if (stream->sharers && at > before)
      token->dense = sambaTimeMax(token->dense, at - before);
    if (stream->tells) {
      sambaPartialTokensAdd(engine, token->output_stream, at);
    } else if (all_there) { /* so do the others, cycle by cycle */
      memory->left_at += end - memory->vectors_left;
      before = memory->left_at - 1;
      memory->vectors_left = end;
      break;
    }
    memory->left_at = at + 1;
  }
  if (stream && isBookedInParts(stream))
    bookPart(engine, memory, token);
  /* A vector that is whole leaves its places when the one before it leaves. The next one may begin
   * in the last burst. */
  group->left = sambaTimeMax(before - (before > 0), group->last);
  memory->left_at = sambaTimeMax(memory->left_at, group->last);
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
  SambaStreamState *stream = &engine->streams[token->output_stream];
  uint64_t passed = 0, from = sambaTimeMax(token->first, token->dense);
  uint64_t linked = sambaStreamBookLink(stream, from, &passed);
  if (memory->vectors_booked)
    from = memory->booked_at;
  uint64_t least = memory->left_at > from ? memory->left_at - from : 0;
  uint64_t unbooked = stream->vectors - memory->vectors_booked;
  uint64_t rid = linked;
  if (memory->ahead_end)
    rid = sambaTimeMax(rid, sambaStreamPassLanes(engine, token->output_stream, &passed));
  else
    rid = sambaTimeMax(
        rid, sambaStreamBookLanes(engine, token->output_stream, from, unbooked, least, &passed));
  memory->ahead_end = 0;
  memory->vectors_booked = 0;
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
