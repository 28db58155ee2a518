/* Tokens on streams; see tokens.h. */
#include "backend/sim/timing/engine/tokens.h"

#include "backend/sim/timing/engine/agenda.h"
#include "backend/sim/timing/engine/array_walk.h"
#include "backend/sim/timing/engine/partial_tokens.h"

static SambaSegment *segmentAt(SambaStreamState *stream, uint64_t token) {
  return &stream->ring[token & stream->ring_mask];
}

/* As of room_end, of one destination. */
static uint64_t roomEndOf(const SambaStreamState *stream, const SambaCursor *cursor) {
  return cursor->capacity + cursor->next * stream->vectors - cursor->left;
}

void sambaStreamFindRoom(SambaEngine *engine, SambaStreamState *stream) {
  const SambaCursor *first = &engine->cursors[stream->cursor_first];
  if (stream->cursor_count)
    stream->room_end = roomEndOf(stream, first);
  for (uint32_t c = 1; c < stream->cursor_count; ++c) {
    uint64_t end = roomEndOf(stream, &first[c]);
    if ((int64_t)(end - stream->room_end) < 0)
      stream->room_end = end;
  }
}

static void dropTakenTokens(SambaStreamState *stream) {
  while (stream->base < stream->pushed) {
    SambaSegment *segment = segmentAt(stream, stream->base);
    if (segment->consumers || !segment->last_known)
      return;
    ++stream->base;
  }
}

/* An actor waits for less than before: reads that it keeps are looked at. */
static void lookAtKept(SambaEngine *engine, uint32_t actor) {
  if (engine->actors[actor].kept_first != SAMBA_NO_INDEX)
    sambaEngineQueue(engine, actor);
}

static uint64_t bookRest(SambaEngine *engine, SambaStreamState *stream);

/* A constraint on the running firing of the producer is settled: it ends no earlier than `at`. Its
 * vectors pass the lanes while those who take them last do so. */
static void acceptToken(SambaEngine *engine, SambaStreamState *stream, uint64_t at) {
  SambaActor *producer = &engine->actors[stream->producer];
  stream->needs_acceptance = false;
  producer->end_minimum = sambaTimeMax(producer->end_minimum, at);
  if (sambaActorIsMemory(producer))
    return;
  producer->end_minimum = sambaTimeMax(producer->end_minimum, bookRest(engine, stream));
  --producer->pending;
  lookAtKept(engine, stream->producer);
}

/* The last token is accepted when every destination works on it, or what it has not taken yet fits
 * on the way to it. */
static void acceptLastToken(SambaEngine *engine, uint32_t stream_index) {
  SambaStreamState *stream = &engine->streams[stream_index];
  if (!stream->needs_acceptance || sambaStreamRoom(engine, stream_index) < 0)
    return;
  if (stream->in_step) /* it may wait for others: lockstep.h */
    sambaEngineQueue(engine, stream->producer);
  else
    sambaStreamAccept(engine, stream_index, engine->now);
}

void sambaStreamAccept(SambaEngine *engine, uint32_t stream_index, uint64_t at) {
  SambaStreamState *stream = &engine->streams[stream_index];
  const SambaSegment *last = segmentAt(stream, stream->pushed - 1);
  acceptToken(engine, stream, sambaTimeMax(last->accept_at, at));
}

/* Destination c of a multicast waits for no others any more. */
static void stopHolding(SambaEngine *engine, SambaStreamState *stream, uint32_t c) {
  const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
  stream->multicast->held_by[c] = 0;
  stream->multicast->held[c / 64] &= ~(UINT64_C(1) << c % 64);
  SambaActor *actor = &engine->actors[cursor->actor];
  if (--actor->pending == 0)
    sambaEngineQueue(engine, cursor->actor);
  lookAtKept(engine, cursor->actor);
}

void sambaStreamWiden(SambaEngine *engine, uint32_t stream_index) {
  SambaStreamState *stream = &engine->streams[stream_index];
  for (uint32_t c = 0; c < stream->cursor_count; ++c)
    engine->cursors[stream->cursor_first + c].capacity += stream->vectors;
  sambaStreamFindRoom(engine, stream);
  for (uint32_t c = 0; stream->multicast && c < stream->cursor_count; ++c)
    if (stream->multicast->held_by[c])
      stopHolding(engine, stream, c);
  acceptLastToken(engine, stream_index);
  sambaEngineQueue(engine, stream->producer);
}

/* Data from memory leave gaps in which a buffer with several write ports has nothing to write. When
 * all its ports have got a token each, the side of the memory works without a pause from the
 * earliest cycle on from which one of them alone could be written so. */
static uint64_t writtenAt(SambaEngine *engine, const SambaActor *actor, const SambaCursor *cursor,
                          uint64_t dense) {
  SambaBufferState *buffer = &engine->buffers[actor->unit];
  uint64_t from = dense + cursor->latency;
  bool is_first = buffer->dense_count == 0;
  buffer->dense = is_first ? from : sambaTimeMin(buffer->dense, from);
  buffer->dense_cycles =
      is_first ? actor->booked : sambaTimeMax(buffer->dense_cycles, actor->booked);
  if (++buffer->dense_count < engine->section->units[actor->unit].input_count)
    return 0;

  uint64_t written = buffer->dense + buffer->dense_cycles;
  buffer->dense_count = 0;
  buffer->write_side_free = sambaTimeMax(buffer->write_side_free, written);
  return written;
}

/* The end of a token bounds the end of the firing that takes it. */
static void heedEnd(SambaEngine *engine, SambaActor *actor, SambaCursor *cursor,
                    const SambaSegment *segment) {
  uint64_t end = (uint64_t)((int64_t)(segment->last + cursor->latency) + cursor->rest);
  if (cursor->asks && actor->kind == SAMBA_ACTOR_WRITE)
    end = sambaTimeMax(end, engine->buffers[actor->unit].walk
                                ? sambaArrayWalkWritten(engine, actor)
                                : sambaPartialTokensWritten(engine, actor, cursor));
  if (segment->dense && actor->kind == SAMBA_ACTOR_WRITE &&
      engine->section->units[actor->unit].input_count > 1)
    end = sambaTimeMax(end, writtenAt(engine, actor, cursor, segment->dense));
  actor->end_minimum = sambaTimeMax(actor->end_minimum, end);
}

/* A token reaches a destination of a multicast only as far as all others let it: each may be ahead
 * of another by what the FIFOs hold behind the one in which their ways part, and by that one. */
static void holdBehindOthers(SambaActor *actor, const SambaStreamState *stream,
                             const SambaCursor *cursor, uint32_t index) {
  SambaMulticast *multicast = stream->multicast;
  if (sambaActorIsMemory(actor) ||
      (cursor->next - stream->base) * stream->vectors <= multicast->least_lead)
    return;
  const uint32_t *leads = &multicast->leads_over[(size_t)index * stream->cursor_count];
  uint32_t taken = multicast->taken[index], held_by = 0;
  for (uint32_t d = 0; d < stream->cursor_count; ++d)
    held_by += (int32_t)(taken - multicast->taken[d]) > (int32_t)leads[d];
  if (!held_by)
    return;
  multicast->held_by[index] = held_by;
  multicast->held[index / 64] |= UINT64_C(1) << index % 64;
  ++actor->pending;
}

/* A destination has taken a token, for a firing that lasts `duration`: those that it held get on as
 * it uses the token. */
static void letOthersGo(SambaEngine *engine, SambaStreamState *stream, uint32_t taker,
                        uint64_t duration) {
  SambaMulticast *multicast = stream->multicast;
  size_t row = (size_t)taker * stream->cursor_count;
  const uint32_t *leads = &multicast->token_leads[row];
  uint32_t taken = multicast->taken[taker];
  for (uint32_t w = 0; w < multicast->held_words; ++w)
    for (uint64_t held = multicast->held[w]; held; held &= held - 1) {
      uint32_t e = w * 64 + (uint32_t)__builtin_ctzll(held);
      uint32_t ahead = multicast->taken[e] - taken;
      if (ahead != leads[e])
        continue;
      SambaActor *actor = &engine->actors[engine->cursors[stream->cursor_first + e].actor];
      uint64_t needed = (ahead + UINT64_C(1)) * stream->vectors - multicast->leads[row + e];
      actor->end_minimum = sambaTimeMax(
          actor->end_minimum, engine->now + sambaTimeScale(duration, needed, stream->vectors));
      if (--multicast->held_by[e] == 0)
        stopHolding(engine, stream, e);
    }
}

/* A destination of a multicast has taken a token. */
static void takeWithOthers(SambaEngine *engine, SambaActor *actor, SambaStreamState *stream,
                           const SambaCursor *cursor, uint64_t duration) {
  uint32_t index = (uint32_t)(cursor - engine->cursors) - stream->cursor_first;
  stream->multicast->taken[index] = (uint32_t)cursor->next;
  letOthersGo(engine, stream, index, duration);
  holdBehindOthers(actor, stream, cursor, index);
}

static uint64_t creditOf(const SambaEngine *engine, const SambaCursor *cursor) {
  return engine->cursor_details[cursor - engine->cursors].credit;
}

/* Cycles of a SIMD unit from the step that makes a vector of its token to the end of a firing. */
static uint64_t cyclesFrom(const SambaActor *actor, const SambaActorOutput *output,
                           uint64_t vector) {
  uint64_t last = (vector + 1) * output->vector_elements - 1;
  uint64_t within = output->row_cycles - actor->step_cycles;
  if (!output->is_result)
    within = last % output->row_elements / actor->lanes * actor->step_cycles;
  uint64_t before = last / output->row_elements * output->row_cycles + within;
  return actor->work - sambaTimeMin(before, actor->work);
}

/* Cycles in which a producer makes the last vectors of a token when nothing keeps it; 0: those of a
 * load come as they come, and an array has made them before they leave. */
static uint64_t cyclesOfLast(const SambaEngine *engine, uint32_t stream_index, uint64_t vectors) {
  const SambaStreamState *stream = &engine->streams[stream_index];
  const SambaActor *producer = &engine->actors[stream->producer];
  uint64_t first = stream->vectors - vectors;
  if (producer->kind == SAMBA_ACTOR_READ)
    return sambaPortCyclesOf(producer, first, stream->vectors, stream->vectors);
  if (producer->kind != SAMBA_ACTOR_COMPUTE)
    return 0;
  for (uint32_t o = 0; o < producer->output_count; ++o) {
    const SambaActorOutput *output = &producer->outputs[o];
    if (output->open_stream == stream_index && output->row_elements && output->period == 1)
      return cyclesFrom(producer, output, first);
  }
  return 0;
}

/* The producer of a token of which a way does not hold the last vectors: each of them finds a place
 * when one has been taken, by a firing that begins now and lasts `duration`, and its credit has
 * come. And none is made faster than the producer works, which has stood still when the way was
 * full. */
static void waitForPlaces(SambaEngine *engine, const SambaCursor *cursor, uint64_t vectors,
                          uint64_t duration) {
  SambaStreamState *stream = &engine->streams[cursor->stream];
  SambaSegment *newest = segmentAt(stream, stream->pushed - 1);
  uint64_t at = engine->now + sambaTimeScale(duration, vectors, stream->vectors);
  uint64_t made = vectors ? cyclesOfLast(engine, cursor->stream, vectors) : 0;
  if (made) /* the pace of short FIFOs has the credits in it */
    at =
        sambaTimeMax(at, engine->now + made) + (stream->link_cycles ? 0 : creditOf(engine, cursor));
  newest->accept_at = sambaTimeMax(newest->accept_at, at);
}

/* The same if it is a load: from then on data leave that it has kept, as the taker goes on. */
static void resumeLoad(SambaEngine *engine, const SambaCursor *cursor, uint64_t vectors,
                       uint64_t duration) {
  const SambaStreamState *stream = &engine->streams[cursor->stream];
  SambaMemoryState *memory = engine->actors[stream->producer].memory;
  if (!memory || memory->token_base == memory->token_end)
    return;
  memory->resumes = true;
  memory->held_token = memory->token_base;
  memory->held_from = sambaMemoryTokenAt(memory, memory->token_base)->pieces;
  memory->held_left = (int64_t)stream->vectors - (int64_t)vectors;
  memory->held_vectors = stream->vectors;
  memory->held_cycles = sambaTimeMax(duration, stream->vectors);
  memory->resumes_at = engine->now + creditOf(engine, cursor);
}

void sambaInputTake(SambaEngine *engine, uint32_t actor_index, SambaActorInput *input,
                    uint64_t duration) {
  SambaActor *actor = &engine->actors[actor_index];
  SambaCursor *cursor = sambaInputCursor(engine, input);
  SambaStreamState *stream = &engine->streams[cursor->stream];
  uint64_t untaken = sambaCursorUntaken(stream, cursor);
  bool makes_room = roomEndOf(stream, cursor) == stream->room_end;
  SambaSegment *segment = segmentAt(stream, cursor->next++);
  input->taken = input->cursor;
  if (cursor->asks) {
    SambaCursorDetail *detail = &engine->cursor_details[input->cursor];
    detail->taken_first = segment->first;
    detail->taken_last = segment->last;
  }

  if (segment->last_known) {
    heedEnd(engine, actor, cursor, segment);
  } else {
    cursor->waiting = true;
    ++actor->pending;
  }

  if (stream->multicast)
    takeWithOthers(engine, actor, stream, cursor, duration);

  /* The producer may end once all but what the way to here holds has been taken: this is in the
   * midst of this firing when it makes room for the last of what was pushed. */
  uint64_t beyond = untaken > cursor->capacity ? untaken - cursor->capacity : 0;
  if (cursor->one_by_one)
    cursor->left = stream->vectors;
  else
    waitForPlaces(engine, cursor, sambaTimeMin(beyond, stream->vectors), duration);
  uint64_t room_end = stream->room_end;
  if (makes_room)
    sambaStreamFindRoom(engine, stream);
  if (beyond && stream->room_end != room_end && !cursor->one_by_one)
    resumeLoad(engine, cursor, beyond, duration);
  if (segment->consumers == stream->cursor_count)
    stream->taken_at = engine->now;
  bool taken_by_all = --segment->consumers == 0;
  acceptLastToken(engine, cursor->stream);
  if (taken_by_all || untaken >= cursor->capacity)
    sambaEngineQueue(engine, stream->producer);
  if (taken_by_all)
    dropTakenTokens(stream);

  if (input->cursor_count > 1 && --input->left == 0) {
    input->left = input->block;
    input->current = input->current + 1 == input->cursor_count ? 0 : input->current + 1;
    input->cursor = input->cursors[input->current];
  }
}

void sambaInputTakeVectors(SambaEngine *engine, SambaCursor *cursor, uint64_t vectors,
                           uint64_t from) {
  SambaStreamState *stream = &engine->streams[cursor->stream];
  int64_t before = sambaStreamRoom(engine, cursor->stream);
  cursor->left -= vectors;
  sambaStreamFindRoom(engine, stream);
  int64_t room = sambaStreamRoom(engine, cursor->stream);
  if (before > 0)
    return;

  /* The first one makes room for another one, unless another taker is behind this one. */
  if (before < 0 && room > before && stream->needs_acceptance) {
    uint64_t beyond = sambaTimeMin((uint64_t)-before, stream->vectors);
    uint64_t made = from + creditOf(engine, cursor) + cyclesOfLast(engine, cursor->stream, beyond);
    SambaSegment *newest = segmentAt(stream, stream->pushed - 1);
    newest->accept_at = sambaTimeMax(newest->accept_at, made);
  }
  /* The vector that made room for the last one of the token, and for the first of the next. */
  uint64_t last = from + vectors - 1 + creditOf(engine, cursor);
  if (before < 0 && room >= 0 && stream->needs_acceptance) {
    SambaSegment *newest = segmentAt(stream, stream->pushed - 1);
    newest->accept_at =
        sambaTimeMax(newest->accept_at, last + 1 - sambaTimeMin(last, (uint64_t)room));
    acceptLastToken(engine, cursor->stream);
  }
  if (room > 0)
    stream->room_at = last - sambaTimeMin(last, (uint64_t)room - 1);
  sambaEngineQueue(engine, stream->producer);
}

void sambaStreamPush(SambaEngine *engine, uint32_t stream_index, uint64_t first,
                     uint64_t last_estimate) {
  SambaStreamState *stream = &engine->streams[stream_index];
  if (stream->pushed - stream->base > stream->ring_mask) {
    uint64_t size = ((uint64_t)stream->ring_mask + 1) * 2;
    SambaSegment *ring = SAMBA_ARENA_ARRAY(&engine->arena, SambaSegment, size);
    for (uint64_t i = stream->base; i < stream->pushed; ++i)
      ring[i & (size - 1)] = *segmentAt(stream, i);
    stream->ring = ring;
    stream->ring_mask = (uint32_t)(size - 1);
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
static void tellConsumer(SambaEngine *engine, SambaCursor *cursor, uint64_t token,
                         const SambaSegment *segment) {
  SambaActor *consumer = &engine->actors[cursor->actor];
  bool waits_for_whole_token =
      sambaActorIsMemory(consumer) && cursor->next == token; /* indices, control */
  if (waits_for_whole_token)
    sambaEngineQueue(engine, cursor->actor);
  if (!cursor->waiting || cursor->next != token + 1)
    return;

  cursor->waiting = false;
  if (cursor->asks)
    engine->cursor_details[cursor - engine->cursors].taken_last = segment->last;
  heedEnd(engine, consumer, cursor, segment);
  if (sambaActorIsMemory(consumer))
    consumer->memory->data_last =
        sambaTimeMax(consumer->memory->data_last, segment->last + cursor->latency);
  else if (consumer->has_steps)
    sambaPartialTokensPass(engine, cursor->actor);
  if (--consumer->pending == 0)
    sambaEngineQueue(engine, cursor->actor);
  lookAtKept(engine, cursor->actor);
}

void sambaStreamNoteDense(SambaEngine *engine, uint32_t stream_index, uint64_t dense) {
  SambaStreamState *stream = &engine->streams[stream_index];
  segmentAt(stream, stream->pushed - 1)->dense = dense;
}

void sambaStreamEndToken(SambaEngine *engine, uint32_t stream_index, uint64_t last) {
  SambaStreamState *stream = &engine->streams[stream_index];
  uint64_t token = stream->pushed - 1;
  SambaSegment *segment = segmentAt(stream, token);

  segment->last = last;
  segment->last_known = true;
  if (stream->tells)
    sambaPartialTokensEnd(engine, stream_index, last);
  for (uint32_t c = 0; c < stream->cursor_count; ++c)
    tellConsumer(engine, &engine->cursors[stream->cursor_first + c], token, segment);
  dropTakenTokens(stream);
}

/* When the last of what a flow has booked on a lane has left the producer's side of it, and in
 * *passed the lane; what fits before the lane waits there. */
static inline uint64_t passLane(const SambaLaneUse *use, const SambaFlow *flow, uint64_t *passed) {
  uint64_t end = sambaFlowEnd(flow);
  *passed = sambaTimeMax(*passed, end - use->cycles);
  if (flow->cycles <= sambaNumberOf(use->held))
    return 0;
  return end - use->cycles -
         sambaCyclesOf(sambaNumberOf(end - flow->begin) * sambaNumberOf(use->held) / flow->cycles);
}

uint64_t sambaStreamPassLanes(SambaEngine *engine, uint32_t stream_index, uint64_t *passed) {
  const SambaStreamState *stream = &engine->streams[stream_index];
  uint64_t rid = 0;
  for (uint32_t i = 0; i < stream->lane_count; ++i) /* these misses need not wait for each other */
    __builtin_prefetch(stream->lanes[i].booked);
  for (uint32_t i = 0; i < stream->lane_count; ++i) {
    sambaFlowPay(stream->lanes[i].booked);
    rid = sambaTimeMax(rid, passLane(&stream->lanes[i], stream->lanes[i].booked, passed));
  }
  return rid;
}

uint64_t sambaStreamPassedAt(const SambaStreamState *stream) {
  uint64_t passed = 0;
  for (uint32_t i = 0; i < stream->lane_count; ++i) {
    const SambaLaneUse *use = &stream->lanes[i];
    sambaFlowPay(use->booked);
    passed = sambaTimeMax(passed, sambaFlowEnd(use->booked) - use->cycles);
  }
  return passed;
}

static void prefetchLanes(const SambaEngine *engine, const SambaStreamState *stream) {
  for (uint32_t i = 0; i < stream->lane_count; ++i) { /* these misses need not wait */
    const SambaLaneUse *use = &stream->lanes[i];
    __builtin_prefetch(&engine->lanes[use->lane]);
    __builtin_prefetch(use->booked);
    __builtin_prefetch(use->flow ? use->booked - 1 : use->booked + 1); /* of two the other one */
  }
}

static uint64_t bookLane(SambaEngine *engine, const SambaLaneUse *use, uint64_t from,
                         uint64_t vectors, uint64_t least, uint64_t *passed) {
  const SambaFlow *flow = sambaShareBook(&engine->lanes[use->lane].share, use->flow,
                                         from + use->cycles, vectors, least, 1);
  return passLane(use, flow, passed);
}

uint64_t sambaStreamBookLanes(SambaEngine *engine, uint32_t stream_index, uint64_t from,
                              uint64_t vectors, uint64_t least, uint64_t *passed) {
  const SambaStreamState *stream = &engine->streams[stream_index];
  uint64_t rid = 0;
  prefetchLanes(engine, stream);
  for (uint32_t i = 0; i < stream->lane_count; ++i)
    rid = sambaTimeMax(rid, bookLane(engine, &stream->lanes[i], from, vectors, least, passed));
  return rid;
}

/* Vectors of a token that pass a lane before it is taken: those for which takers have room behind
 * the lane while they use the token before it. */
static uint64_t passEarly(const SambaStreamState *stream, const SambaLaneUse *use) {
  uint64_t early = stream->vectors - stream->unbooked;
  return stream->unbooked && stream->is_used ? sambaTimeMin(early, use->spare) : early;
}

uint64_t sambaStreamBookEarly(SambaEngine *engine, uint32_t stream_index, uint64_t from) {
  SambaStreamState *stream = &engine->streams[stream_index];
  uint64_t rid = 0;
  stream->passed_at = 0;
  prefetchLanes(engine, stream);
  for (uint32_t i = 0; i < stream->lane_count; ++i) {
    const SambaLaneUse *use = &stream->lanes[i];
    uint64_t vectors = passEarly(stream, use);
    uint64_t least = sambaTimeScale(stream->pace, vectors, stream->vectors);
    rid = sambaTimeMax(rid, bookLane(engine, use, from, vectors, least, &stream->passed_at));
  }
  return rid;
}

/* What passes early was held up on a lane: when it comes, takers have nothing else, and they use
 * the others at their pace, in `used` cycles, from then on. So what others took counts here also if
 * it belonged to the token before this one, whose end had been told already. */
static void waitForEarly(const SambaEngine *engine, SambaStreamState *stream,
                         const SambaLaneUse *use, uint64_t used) {
  sambaFlowPay(use->booked);
  uint64_t by = sambaFlowEnd(use->booked) - use->cycles + used;
  if (by > engine->now + stream->pace)
    stream->passed_at = sambaTimeMax(stream->passed_at, by);
}

/* The others pass from now on, as takers use the token: what is made now no faster than that, what
 * has been made since the first of them took it. */
static uint64_t bookRest(SambaEngine *engine, SambaStreamState *stream) {
  uint64_t rid = 0, since = engine->now - sambaTimeMin(stream->taken_at, engine->now);
  uint64_t made_now = sambaTimeScale(stream->pace, stream->unbooked, stream->vectors);
  prefetchLanes(engine, stream);
  for (uint32_t i = 0; i < stream->lane_count; ++i) {
    const SambaLaneUse *use = &stream->lanes[i];
    uint64_t vectors = stream->vectors - passEarly(stream, use);
    uint64_t used = sambaTimeScale(stream->pace, vectors, stream->vectors);
    uint64_t least = sambaTimeMax(made_now, used - sambaTimeMin(used, since));
    if (stream->is_used)
      waitForEarly(engine, stream, use, used);
    rid = sambaTimeMax(rid, bookLane(engine, use, engine->now, vectors, least, &stream->passed_at));
  }
  return rid;
}

void sambaStreamKeepPace(SambaEngine *engine, const SambaStreamState *stream, uint64_t begin,
                         uint64_t end) {
  double pace = sambaNumberOf(end - begin) / sambaNumberOf(stream->vectors);
  for (uint32_t i = 0; i < stream->lane_count; ++i) {
    const SambaLaneUse *use = &stream->lanes[i];
    uint64_t ahead = sambaCyclesOf(pace * sambaNumberOf(use->spare));
    ahead = sambaTimeMin(ahead, end - begin);
    sambaShareStretch(&engine->lanes[use->lane].share, use->flow, engine->now,
                      end + use->cycles - ahead);
  }
}

void sambaStreamHurryLanes(SambaEngine *engine, uint32_t stream_index, uint64_t cycles) {
  const SambaStreamState *stream = &engine->streams[stream_index];
  for (uint32_t i = 0; i < stream->lane_count; ++i)
    sambaFlowHurry(stream->lanes[i].booked, cycles);
}

uint64_t sambaStreamBookLink(SambaStreamState *stream, uint64_t from, uint64_t *passed) {
  if (!stream->is_slow)
    return 0;
  const SambaFlow *flow = sambaShareBook(&stream->link, 0, from, stream->link_cycles, 0, 1);
  *passed = sambaTimeMax(*passed, flow->end - stream->link_slack);
  return flow->cycles > sambaNumberOf(stream->link_held) ? flow->end - stream->link_held : 0;
}
