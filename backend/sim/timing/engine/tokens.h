/* Tokens on streams: what both ends do, and the constraints that they put on each other. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_TOKENS_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_TOKENS_H

#include "backend/sim/timing/engine/timing_state.h"

/* The stream that an input takes its next token from. */
static inline SambaCursor *sambaInputCursor(SambaEngine *engine, const SambaActorInput *input) {
  return &engine->cursors[input->cursor];
}
/* The next token of a due input: NULL when it was not pushed yet. */
static inline SambaSegment *sambaInputSegment(SambaEngine *engine, const SambaActorInput *input) {
  const SambaCursor *cursor = sambaInputCursor(engine, input);
  SambaStreamState *stream = &engine->streams[cursor->stream];
  return cursor->next < stream->pushed ? &stream->ring[cursor->next & stream->ring_mask] : NULL;
}
/* Takes it, for a firing that lasts `duration`. */
void sambaInputTake(SambaEngine *engine, uint32_t actor, SambaActorInput *input, uint64_t duration);

/* A STORE takes `vectors` more of the token it has begun with, one per cycle from `from` on. */
void sambaInputTakeVectors(SambaEngine *engine, SambaCursor *cursor, uint64_t vectors,
                           uint64_t from);

/* Vectors that a destination has not taken. */
static inline uint64_t sambaCursorUntaken(const SambaStreamState *stream,
                                          const SambaCursor *cursor) {
  return (stream->pushed - cursor->next) * stream->vectors + cursor->left;
}

/* Vectors that may follow those pushed before the way to some destination is full; below 0 when the
 * last token does not fit. */
static inline int64_t sambaStreamRoom(const SambaEngine *engine, uint32_t stream_index) {
  const SambaStreamState *stream = &engine->streams[stream_index];
  if (!stream->cursor_count)
    return INT64_MAX;
  return (int64_t)(stream->room_end - stream->pushed * stream->vectors);
}
/* Finds the stream's room_end anew: a destination has more room. */
void sambaStreamFindRoom(SambaEngine *engine, SambaStreamState *stream);

/* The producer is done so many cycles earlier than it said when it booked lanes. */
void sambaStreamHurryLanes(SambaEngine *engine, uint32_t stream, uint64_t cycles);

/* The stream that gets the next token of an output; ports deal out by blocks in turn. */
static inline uint32_t sambaOutputNextStream(SambaActorOutput *output) {
  uint32_t stream = output->stream;
  SambaOutputTurns *turns = output->turns;
  if (output->stream_count > 1 && --turns->left == 0) {
    turns->left = turns->block;
    turns->current = turns->current + 1 == output->stream_count ? 0 : turns->current + 1;
    output->stream = turns->streams[turns->current];
  }
  return stream;
}
/* The token that was pushed last is accepted; its producer is rid of it no earlier than `at`. */
void sambaStreamAccept(SambaEngine *engine, uint32_t stream, uint64_t at);
void sambaStreamPush(SambaEngine *engine, uint32_t stream, uint64_t first, uint64_t last_estimate);
/* Notes how densely the vectors of the token that was pushed last come (SambaStreamState). */
void sambaStreamNoteDense(SambaEngine *engine, uint32_t stream, uint64_t dense);
/* The end of the token that was pushed last is known. */
void sambaStreamEndToken(SambaEngine *engine, uint32_t stream, uint64_t last);
/* Books vectors of a token that leave from `from` on, in no less than `least` cycles, on the lanes
 * that the stream shares. *passed becomes no less than when the last of them has passed; returns
 * when the producer is rid of them: what fits before a lane waits there. */
uint64_t sambaStreamBookLanes(SambaEngine *engine, uint32_t stream, uint64_t from, uint64_t vectors,
                              uint64_t least, uint64_t *passed);
/* Books what leaves from `from` on before the token is taken: all but `unbooked`, which is booked
 * when it is accepted. Returns the same; what it passes by is passed_at of the stream. */
uint64_t sambaStreamBookEarly(SambaEngine *engine, uint32_t stream, uint64_t from);
/* Books a token on the stream's link, where that passes less than a vector per cycle. The same. */
uint64_t sambaStreamBookLink(SambaStreamState *stream, uint64_t from, uint64_t *passed);
/* What sambaStreamBookLanes says, with what others took since. */
uint64_t sambaStreamPassLanes(SambaEngine *engine, uint32_t stream, uint64_t *passed);

/* When what the stream has booked on lanes has passed all of them, with what others took since. */
uint64_t sambaStreamPassedAt(const SambaStreamState *stream);

/* The token that passes the lanes of a stream goes on at the pace of others, which take from
 * `begin` to `end` for theirs. It gets ahead of them by the `spare` of each lane. */
void sambaStreamKeepPace(SambaEngine *engine, const SambaStreamState *stream, uint64_t begin,
                         uint64_t end);

/* Makes room for one more token on the way to each destination. */
void sambaStreamWiden(SambaEngine *engine, uint32_t stream);

#endif
