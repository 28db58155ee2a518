/* Firings in step; see lockstep.h.
 *
 * A look at a read finds the others that it is in step with: those whose tokens its takers take as
 * well, those whose tokens the takers of these take, and so on. Some actor may keep them all: at
 * the beginning a read whose token has not been taken, later one whose end is not known, or a taker
 * that waits for something else. Then the read stands in the list of that actor, until something
 * changes there. */
#include "backend/sim/timing/engine/lockstep.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/tokens.h"

/* Shorter tokens are uneven by what ways hold more than by what takers wait for. */
enum { leastWays = 4 };
/* How often it is looked at those that go on in step while a token passes at its pace. */
enum { looksPerToken = 8 };

void sambaLockstepBuild(SambaEngine *engine) {
  engine->step = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, engine->actor_count);
  engine->free_step = SAMBA_NO_INDEX;
  for (uint32_t a = 0; a < engine->actor_count; ++a) {
    SambaActor *actor = &engine->actors[a];
    actor->kept_first = actor->kept_by = actor->step = SAMBA_NO_INDEX;
  }
  for (uint32_t s = 0; s < engine->section->stream_count; ++s) {
    SambaStreamState *stream = &engine->streams[s];
    bool read = engine->actors[stream->producer].kind == SAMBA_ACTOR_READ;
    for (uint32_t c = 0; read && c < stream->cursor_count; ++c) {
      const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
      const SambaActor *taker = &engine->actors[cursor->actor];
      stream->in_step |= taker->kind == SAMBA_ACTOR_COMPUTE && taker->input_count > 1 &&
                         stream->vectors / leastWays > cursor->capacity;
    }
  }
}

static SambaStreamState *streamOf(const SambaEngine *engine, const SambaActor *read) {
  return &engine->streams[read->outputs[0].open_stream];
}

/* A taker that uses the token while it comes. */
static bool isBound(const SambaStreamState *stream, const SambaCursor *cursor,
                    const SambaActor *taker) {
  return taker->kind == SAMBA_ACTOR_COMPUTE && cursor->waiting &&
         stream->vectors > cursor->capacity;
}

/* Takes a read out of the list in which it stands. */
static void unlist(SambaEngine *engine, SambaActor *read) {
  if (read->kept_by == SAMBA_NO_INDEX)
    return;
  if (read->kept_before == SAMBA_NO_INDEX)
    engine->actors[read->kept_by].kept_first = read->kept_next;
  else
    engine->actors[read->kept_before].kept_next = read->kept_next;
  if (read->kept_next != SAMBA_NO_INDEX)
    engine->actors[read->kept_next].kept_before = read->kept_before;
  read->kept_by = SAMBA_NO_INDEX;
}

static void keep(SambaEngine *engine, uint32_t by, uint32_t index) {
  SambaActor *read = &engine->actors[index];
  unlist(engine, read);
  read->kept_by = by;
  read->kept_before = SAMBA_NO_INDEX;
  read->kept_next = engine->actors[by].kept_first;
  if (read->kept_next != SAMBA_NO_INDEX)
    engine->actors[read->kept_next].kept_before = index;
  engine->actors[by].kept_first = index;
}

/* Looks at a read again, now. */
static void lookAgain(SambaEngine *engine, uint32_t index) {
  SambaActor *read = &engine->actors[index];
  unlist(engine, read);
  if (!read->resolved) { /* its token begins */
    sambaEngineQueue(engine, index);
    return;
  }
  read->end_minimum = engine->now;
  sambaEventsPush(&engine->events, engine->now, sambaTarget(SAMBA_TARGET_ACTOR, index));
}

void sambaLockstepLookAtKept(SambaEngine *engine, SambaActor *actor) {
  while (actor->kept_first != SAMBA_NO_INDEX)
    lookAgain(engine, actor->kept_first);
}

/* Adds the reads to a look whose tokens a taker takes. Returns who keeps them all; SAMBA_NO_INDEX:
 * none of those does. */
typedef uint32_t AddReads(SambaEngine *engine, uint32_t taker, uint32_t *count);

static void addRead(SambaEngine *engine, uint32_t index, uint32_t *count) {
  SambaActor *read = &engine->actors[index];
  if (read->step_round == engine->step_round)
    return;
  read->step_round = engine->step_round;
  engine->step[(*count)++] = index;
}

/* The stream of the token that an input of a firing takes, whose end is not known; NULL. */
static const SambaStreamState *unknownOf(const SambaEngine *engine, const SambaActorInput *input) {
  const SambaCursor *cursor = &engine->cursors[input->taken];
  return cursor->waiting ? &engine->streams[cursor->stream] : NULL;
}

/* Does the producer of a stream make a token on it that is in step? */
static bool isInStep(const SambaEngine *engine, const SambaStreamState *stream) {
  const SambaActor *read = &engine->actors[stream->producer];
  return sambaLockstepBinds(engine, read) && streamOf(engine, read) == stream;
}

static uint32_t addBeginning(SambaEngine *engine, uint32_t taker_index, uint32_t *count) {
  const SambaActor *taker = &engine->actors[taker_index];
  for (uint32_t i = 0; i < taker->input_count; ++i) {
    const SambaStreamState *stream = unknownOf(engine, &taker->inputs[i]);
    if (!stream || !stream->needs_acceptance || !isInStep(engine, stream))
      continue;
    if (sambaStreamRoom(engine, (uint32_t)(stream - engine->streams)) < 0)
      return stream->producer;
    addRead(engine, stream->producer, count);
  }
  return SAMBA_NO_INDEX;
}

static uint32_t addEnding(SambaEngine *engine, uint32_t taker_index, uint32_t *count) {
  const SambaActor *taker = &engine->actors[taker_index];
  uint32_t known = 0;
  for (uint32_t i = 0; i < taker->input_count; ++i) {
    const SambaStreamState *stream = unknownOf(engine, &taker->inputs[i]);
    if (!stream)
      continue;
    if (!isInStep(engine, stream))
      return taker_index;
    if (!engine->actors[stream->producer].resolved)
      return stream->producer;
    ++known;
    addRead(engine, stream->producer, count);
  }
  return taker->pending > known ? taker_index : SAMBA_NO_INDEX;
}

/* Adds those that the takers of a read's token join to it; returns who keeps them all. */
static uint32_t addOthers(SambaEngine *engine, const SambaActor *read, AddReads *add,
                          uint32_t *count) {
  const SambaStreamState *stream = streamOf(engine, read);
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    SambaActor *taker = &engine->actors[cursor->actor];
    if (!isBound(stream, cursor, taker) || taker->step_round == engine->step_round)
      continue;
    taker->step_round = engine->step_round;
    uint32_t kept_by = add(engine, cursor->actor, count);
    if (kept_by != SAMBA_NO_INDEX)
      return kept_by;
  }
  return SAMBA_NO_INDEX;
}

static void beginLook(SambaEngine *engine, uint32_t read, uint32_t *count) {
  ++engine->step_round;
  *count = 0;
  addRead(engine, read, count);
}

/* All reads in step with this one have been taken. Those of its takers that began earlier have used
 * no more than the others let them. */
static void goOn(SambaEngine *engine, SambaActor *read) {
  SambaStreamState *stream = streamOf(engine, read);
  uint64_t now = engine->now, accept_at = now;
  unlist(engine, read);
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    SambaActor *taker = &engine->actors[cursor->actor];
    if (!isBound(stream, cursor, taker) || taker->start == now)
      continue;
    uint64_t ahead = cursor->capacity;
    if (stream->multicast)
      ahead = sambaTimeMin(ahead, stream->multicast->least_lead);
    uint64_t used = now + sambaTimeScale(taker->duration, stream->vectors - ahead, stream->vectors);
    uint64_t sent =
        now + sambaTimeScale(taker->duration, stream->vectors - cursor->capacity, stream->vectors);
    taker->end_minimum = sambaTimeMax(taker->end_minimum, used);
    accept_at = sambaTimeMax(accept_at, sent);
  }
  sambaStreamAccept(engine, read->outputs[0].open_stream, accept_at);
  sambaEngineQueue(engine, stream->producer);
}

/* A read goes on in step with others. */
static void join(SambaEngine *engine, uint32_t step, uint32_t index) {
  SambaActor *read = &engine->actors[index];
  uint32_t *first = &engine->steps.data[step].first;
  read->step = step;
  read->step_before = SAMBA_NO_INDEX;
  read->step_next = *first;
  if (*first != SAMBA_NO_INDEX)
    engine->actors[*first].step_before = index;
  *first = index;
}

static void freeStep(SambaEngine *engine, uint32_t step) {
  engine->steps.data[step].next_free = engine->free_step;
  engine->free_step = step;
}

/* It no longer does. */
static void leave(SambaEngine *engine, SambaActor *read) {
  uint32_t step = read->step;
  if (step == SAMBA_NO_INDEX)
    return;
  if (read->step_before == SAMBA_NO_INDEX)
    engine->steps.data[step].first = read->step_next;
  else
    engine->actors[read->step_before].step_next = read->step_next;
  if (read->step_next != SAMBA_NO_INDEX)
    engine->actors[read->step_next].step_before = read->step_before;
  read->step = SAMBA_NO_INDEX;
  if (engine->steps.data[step].first == SAMBA_NO_INDEX && !engine->steps.data[step].is_looked_at)
    freeStep(engine, step);
}

/* The end of the last of those in step, as far as lanes let their tokens pass. */
static uint64_t endOfStep(SambaEngine *engine, const SambaStep *step) {
  uint64_t end = 0;
  for (uint32_t r = step->first; r != SAMBA_NO_INDEX; r = engine->actors[r].step_next) {
    const SambaActor *read = &engine->actors[r];
    uint64_t passed = sambaStreamPassedAt(streamOf(engine, read));
    end = sambaTimeMax(end, sambaTimeMax(passed, read->end_minimum));
  }
  return end;
}

void sambaLockstepGoOn(SambaEngine *engine, uint32_t index) {
  SambaStep *step = &engine->steps.data[index];
  step->is_looked_at = false;
  if (step->first == SAMBA_NO_INDEX) {
    freeStep(engine, index);
    return;
  }

  uint64_t end = endOfStep(engine, step);
  bool is_later = end > step->end;
  step->end = sambaTimeMax(step->end, end);
  for (uint32_t r = step->first; is_later && r != SAMBA_NO_INDEX; r = engine->actors[r].step_next)
    sambaStreamKeepPace(engine, streamOf(engine, &engine->actors[r]), step->begin, end);
  uint64_t part = streamOf(engine, &engine->actors[step->first])->pace / looksPerToken + 1;
  if (end <= engine->now + part)
    return;
  step->is_looked_at = true;
  sambaEventsPush(&engine->events, engine->now + part, sambaTarget(SAMBA_TARGET_STEP, index));
}

/* The reads of a look go on in step from now on. */
static void beginStep(SambaEngine *engine, uint32_t count) {
  if (count < 2)
    return;
  uint32_t index = engine->free_step;
  if (index != SAMBA_NO_INDEX) {
    engine->free_step = engine->steps.data[index].next_free;
  } else {
    index = (uint32_t)engine->steps.size;
    sambaArrayAppend(&engine->steps, (SambaStep){0});
  }
  uint64_t now = engine->now;
  engine->steps.data[index] = (SambaStep){.begin = now, .end = now, .first = SAMBA_NO_INDEX};
  for (uint32_t i = count; i-- > 0;)
    join(engine, index, engine->step[i]);
  sambaLockstepGoOn(engine, index);
}

void sambaLockstepBegin(SambaEngine *engine, uint32_t index) {
  SambaActor *read = &engine->actors[index];
  const SambaStreamState *stream = streamOf(engine, read);
  if (!stream->needs_acceptance ||
      sambaStreamRoom(engine, (uint32_t)(stream - engine->streams)) < 0)
    return;
  uint32_t count, kept_by = SAMBA_NO_INDEX;
  beginLook(engine, index, &count);
  for (uint32_t i = 0; i < count && kept_by == SAMBA_NO_INDEX; ++i)
    kept_by = addOthers(engine, &engine->actors[engine->step[i]], addBeginning, &count);
  if (kept_by == SAMBA_NO_INDEX) {
    for (uint32_t i = count; i-- > 0;)
      goOn(engine, &engine->actors[engine->step[i]]);
    beginStep(engine, count);
    return;
  }
  while (read->kept_first != SAMBA_NO_INDEX) /* what keeps it keeps them */
    keep(engine, kept_by, read->kept_first);
  keep(engine, kept_by, index);
}

/* Cycles by which a read may be ahead of its takers: the ways to them hold so much. */
static uint64_t aheadOf(const SambaEngine *engine, const SambaActor *read) {
  const SambaStreamState *stream = streamOf(engine, read);
  uint64_t ahead = SAMBA_TIME_LIMIT;
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    const SambaActor *taker = &engine->actors[cursor->actor];
    if (isBound(stream, cursor, taker))
      ahead =
          sambaTimeMin(ahead, sambaTimeScale(taker->duration, cursor->capacity, stream->vectors));
  }
  return ahead;
}

/* Nobody keeps the reads of a look, and they end by cycle `by`. As one after the other ends, no
 * others join those that are left, so these need not look again. */
static void noteFree(SambaEngine *engine, uint32_t count, uint64_t by) {
  ++engine->step_free;
  for (uint32_t i = 0; i < count; ++i) {
    engine->actors[engine->step[i]].free_with = engine->step_free;
    engine->actors[engine->step[i]].free_by = by;
  }
}

/* A look has found already that a read ends no later than now. */
static bool isKnownToEnd(const SambaEngine *engine, const SambaActor *read) {
  return read->free_with > engine->step_unsure &&
         (read->free_by <= engine->now || read->free_by <= engine->now + aheadOf(engine, read));
}

bool sambaLockstepGoesOn(SambaEngine *engine, uint32_t read_index) {
  SambaActor *read = &engine->actors[read_index];
  unlist(engine, read);
  if (read->ends_alone || !sambaLockstepBinds(engine, read)) {
    read->ends_alone = false;
    read->free_with = 0;
    leave(engine, read);
    return false;
  }
  if (isKnownToEnd(engine, read)) {
    read->free_with = 0;
    leave(engine, read);
    return false;
  }

  /* Those found after `layer_end` are as many takers further away, and as many ways hold what these
   * are ahead by. */
  uint32_t count, layer_end = 1, kept_by = SAMBA_NO_INDEX;
  uint64_t end = engine->now, latest = 0, ahead = aheadOf(engine, read), ways = 0;
  beginLook(engine, read_index, &count);
  for (uint32_t i = 0; i < count && kept_by == SAMBA_NO_INDEX; ++i) {
    const SambaActor *other = &engine->actors[engine->step[i]];
    if (i == layer_end) {
      ways += ahead;
      layer_end = count;
    }
    latest = sambaTimeMax(latest, other->end_minimum);
    end = sambaTimeMax(end, other->end_minimum - sambaTimeMin(other->end_minimum, ways));
    kept_by = addOthers(engine, other, addEnding, &count);
  }
  if (kept_by != SAMBA_NO_INDEX) {
    keep(engine, kept_by, read_index);
    return true;
  }
  noteFree(engine, count, latest);
  if (end <= engine->now) {
    read->free_with = 0;
    leave(engine, read);
    return false;
  }
  read->end_minimum = end;
  sambaEventsPush(&engine->events, end, sambaTarget(SAMBA_TARGET_ACTOR, read_index));
  return true;
}

bool sambaLockstepEnd(SambaEngine *engine) {
  bool any = false;
  for (uint32_t a = 0; a < engine->actor_count && engine->unfinished; ++a) {
    SambaActor *actor = &engine->actors[a];
    if (actor->kept_by == SAMBA_NO_INDEX)
      continue;
    any = true;
    if (actor->resolved) {
      actor->ends_alone = true;
      lookAgain(engine, a);
    } else {
      goOn(engine, actor);
    }
  }
  return any;
}
