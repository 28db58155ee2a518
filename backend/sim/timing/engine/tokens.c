/* Tokens on streams; see tokens.h. */
#include "backend/sim/timing/engine/tokens.h"

#include "backend/sim/timing/engine/agenda.h"

#include <stdlib.h>

static SambaSegment *segmentAt(SambaStreamState *stream, uint64_t token) {
  return &stream->ring[token & stream->ring_mask];
}

SambaCursor *sambaInputCursor(SambaEngine *engine, const SambaActorInput *input) {
  return &engine->cursors[input->cursors[input->current]];
}

SambaSegment *sambaInputSegment(SambaEngine *engine, const SambaActorInput *input) {
  SambaCursor *cursor = sambaInputCursor(engine, input);
  SambaStreamState *stream = &engine->streams[cursor->stream];
  return cursor->next < stream->pushed ? segmentAt(stream, cursor->next) : NULL;
}

static void dropTakenTokens(SambaStreamState *stream) {
  while (stream->base < stream->pushed) {
    SambaSegment *segment = segmentAt(stream, stream->base);
    if (segment->consumers || !segment->last_known)
      return;
    ++stream->base;
  }
}

/* Vectors that a destination has not taken. */
static uint64_t untakenBy(const SambaStreamState *stream, const SambaCursor *cursor) {
  return (stream->pushed - cursor->next) * stream->vectors;
}

int64_t sambaStreamRoom(const SambaEngine *engine, uint32_t stream_index) {
  const SambaStreamState *stream = &engine->streams[stream_index];
  int64_t room = INT64_MAX;
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    int64_t left = (int64_t)(cursor->capacity - untakenBy(stream, cursor));
    room = left < room ? left : room;
  }
  return room;
}

/* A constraint on the running firing of the producer is settled: it ends no earlier than `at`. */
static void acceptToken(SambaEngine *engine, SambaStreamState *stream, uint64_t at) {
  SambaActor *producer = &engine->actors[stream->producer];
  stream->needs_acceptance = false;
  producer->end_minimum = sambaTimeMax(producer->end_minimum, at);
  if (!producer->memory)
    --producer->pending;
}

/* The last token is accepted when every destination works on it, or what it has not taken yet fits
 * on the way to it. */
static void acceptLastToken(SambaEngine *engine, uint32_t stream_index) {
  SambaStreamState *stream = &engine->streams[stream_index];
  if (!stream->needs_acceptance || sambaStreamRoom(engine, stream_index) < 0)
    return;
  const SambaSegment *last = segmentAt(stream, stream->pushed - 1);
  acceptToken(engine, stream, sambaTimeMax(last->accept_at, engine->now));
}

void sambaStreamWiden(SambaEngine *engine, uint32_t stream_index) {
  SambaStreamState *stream = &engine->streams[stream_index];
  for (uint32_t c = 0; c < stream->cursor_count; ++c)
    engine->cursors[stream->cursor_first + c].capacity += stream->vectors;
  acceptLastToken(engine, stream_index);
  sambaEngineQueue(engine, stream->producer);
}

void sambaInputTake(SambaEngine *engine, uint32_t actor_index, SambaActorInput *input,
                    uint64_t duration) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaCursor *cursor = sambaInputCursor(engine, input);
  SambaStreamState *stream = &engine->streams[cursor->stream];
  uint64_t untaken = untakenBy(stream, cursor);
  SambaSegment *segment = segmentAt(stream, cursor->next++);

  if (segment->last_known) {
    actor->end_minimum =
        sambaTimeMax(actor->end_minimum, segment->last + cursor->latency + cursor->rest);
  } else {
    cursor->waiting = true;
    ++actor->pending;
  }

  /* The producer may end once all but what the way to here holds has been taken: this is in the
   * midst of this firing when it makes room for the last of what was pushed. */
  uint64_t beyond =
      sambaTimeMin(untaken > cursor->capacity ? untaken - cursor->capacity : 0, stream->vectors);
  SambaSegment *newest = segmentAt(stream, stream->pushed - 1);
  newest->accept_at = sambaTimeMax(newest->accept_at,
                                   engine->now + sambaTimeScale(duration, beyond, stream->vectors));
  actor->bytes_in += stream->bytes;
  bool taken_by_all = --segment->consumers == 0;
  acceptLastToken(engine, cursor->stream);
  if (taken_by_all || untaken >= cursor->capacity)
    sambaEngineQueue(engine, stream->producer);
  if (taken_by_all)
    dropTakenTokens(stream);

  if (--input->left == 0) {
    input->left = input->block;
    input->current = input->current + 1 == input->cursor_count ? 0 : input->current + 1;
  }
}

void sambaStreamPush(SambaEngine *engine, uint32_t stream_index, uint64_t first,
                     uint64_t last_estimate) {
  SambaStreamState *stream = &engine->streams[stream_index];
  if (stream->pushed - stream->base > stream->ring_mask) {
    uint64_t size = (stream->ring_mask + 1) * 2;
    SambaSegment *ring = sambaAllocate(sambaArraySize(size, sizeof *ring));
    for (uint64_t i = stream->base; i < stream->pushed; ++i)
      ring[i & (size - 1)] = *segmentAt(stream, i);
    free(stream->ring);
    stream->ring = ring;
    stream->ring_mask = size - 1;
  }

  *segmentAt(stream, stream->pushed++) =
      (SambaSegment){.first = first, .last = last_estimate, .consumers = stream->cursor_count};
  if (!stream->cursor_count)
    return;
  stream->needs_acceptance = sambaStreamRoom(engine, stream_index) < 0;
  for (uint32_t c = 0; c < stream->cursor_count; ++c)
    sambaEngineQueue(engine, engine->cursors[stream->cursor_first + c].actor);
}

/* The end of a token is known: what that means to one of its consumers. */
static void tellConsumer(SambaEngine *engine, SambaCursor *cursor, uint64_t token, uint64_t last) {
  SambaActor *consumer = &engine->actors[cursor->actor];
  bool waits_for_whole_token = consumer->memory && cursor->next == token; /* indices, control */
  if (waits_for_whole_token)
    sambaEngineQueue(engine, cursor->actor);
  if (!cursor->waiting || cursor->next != token + 1)
    return;

  cursor->waiting = false;
  consumer->end_minimum =
      sambaTimeMax(consumer->end_minimum, last + cursor->latency + cursor->rest);
  if (consumer->memory)
    consumer->memory->data_last = sambaTimeMax(consumer->memory->data_last, last + cursor->latency);
  if (--consumer->pending == 0)
    sambaEngineQueue(engine, cursor->actor);
}

void sambaStreamEndToken(SambaEngine *engine, uint32_t stream_index, uint64_t last) {
  SambaStreamState *stream = &engine->streams[stream_index];
  uint64_t token = stream->pushed - 1;
  SambaSegment *segment = segmentAt(stream, token);

  segment->last = last;
  segment->last_known = true;
  engine->actors[stream->producer].bytes_out += stream->bytes;
  for (uint32_t c = 0; c < stream->cursor_count; ++c)
    tellConsumer(engine, &engine->cursors[stream->cursor_first + c], token, last);
  dropTakenTokens(stream);
}

uint64_t sambaStreamBookLanes(SambaEngine *engine, uint32_t stream_index) {
  SambaStreamState *stream = &engine->streams[stream_index];
  uint64_t end = 0;
  for (uint32_t i = 0; i < stream->lane_count; ++i) {
    SambaLane *lane = &engine->lanes[stream->lanes[i]];
    end = sambaTimeMax(
        end, sambaShareBook(&lane->share, stream->flows[i], engine->now, stream->vectors));
  }
  return end;
}

uint32_t sambaOutputNextStream(SambaActorOutput *output) {
  uint32_t stream = output->streams[output->current];
  if (--output->left == 0) {
    output->left = output->block;
    output->current = output->current + 1 == output->stream_count ? 0 : output->current + 1;
  }
  return stream;
}
