/* The network of a section: for every stream its latencies, what it can hold, and which lanes it
 * shares; see links.h.
 *
 * A stream without hops (not routed, or an ideal network) is a link of its own of one hop. */
#include "backend/sim/timing/build/links.h"

#include "backend/sim/timing/build/routes.h"

#include <stdlib.h>

/* What a counter of control tokens can count to. */
enum { mostControlTokens = 1 << 20 };

/* A lane as streams name it: where flows leave a switch, or where a unit's output enters one. */
typedef struct LaneUse {
  uint64_t place, lane;
  uint32_t stream;
} LaneUse;

static LaneUse laneUse(uint32_t stream, SambaStreamKind kind, const SambaHop *hop, bool entering) {
  const SambaSwitchLane *lane = entering ? &hop->in : &hop->out;
  uint64_t ag = lane->port == SAMBA_SWITCH_AG ? lane->ag : 0;
  return (LaneUse){(uint64_t)(uint32_t)hop->y << 32 | (uint32_t)hop->x,
                   (uint64_t)entering << 40 | (uint64_t)kind << 32 | ag << 16 |
                       (uint64_t)lane->port << 8 | lane->lane,
                   stream};
}

static int compareLaneUses(const void *a, const void *b) {
  const LaneUse *x = a, *y = b;
  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  if (x->lane != y->lane)
    return x->lane < y->lane ? -1 : 1;
  return (x->stream > y->stream) - (x->stream < y->stream);
}

static bool sameLane(const LaneUse *a, const LaneUse *b) {
  return a->place == b->place && a->lane == b->lane;
}

/* What the way to a destination holds. In a multicast the others may be ahead of it by as much. */
static uint64_t capacityOf(const SambaEngine *engine, const SambaStream *stream,
                           const SambaActor *producer, uint32_t switches) {
  /* Control tokens are counted, not stored. */
  if (stream->kind == SAMBA_STREAM_CONTROL)
    return mostControlTokens;
  return (uint64_t)engine->machine->fifo_depth * (switches + 1) + producer->latency;
}

/* Latency and capacity of each destination. */
static void setRoutes(SambaEngine *engine, const SambaStream *stream, SambaStreamState *state) {
  const SambaMachine *machine = engine->machine;
  SambaRoutes routes;
  sambaRoutesFind(&routes, machine, engine->section, stream);
  for (uint32_t d = 0; d < state->cursor_count; ++d) {
    SambaCursor *cursor = &engine->cursors[state->cursor_first + d];
    uint32_t end = routes.ends[d];
    bool own = end == SAMBA_NO_INDEX; /* a link of one hop */
    cursor->latency = own ? (uint64_t)machine->hop_cycles : routes.cycles[end];
    cursor->capacity = capacityOf(engine, stream, &engine->actors[state->producer],
                                  own ? 1 : routes.switches[end]);
  }
  sambaRoutesFree(&routes);
}

/* Finds the lanes that at least two streams use; only there can a stream be slower than
 * its ends. */
static void shareLanes(SambaEngine *engine, LaneUse *uses, size_t count) {
  const SambaSection *section = engine->section;
  if (count)
    qsort(uses, count, sizeof *uses, compareLaneUses);
  size_t kept = 0;

  for (size_t i = 0; i < count; ++i)
    if (!kept || !sameLane(&uses[i], &uses[kept - 1]) || uses[i].stream != uses[kept - 1].stream)
      uses[kept++] = uses[i];
  uint32_t *lane_of = sambaAllocate(sambaArraySize(kept, sizeof *lane_of));
  uint32_t lanes = 0;
  for (size_t i = 0; i < kept; ++i)
    lane_of[i] = i && sameLane(&uses[i], &uses[i - 1]) ? lane_of[i - 1] : lanes++;
  engine->lanes = SAMBA_ARENA_ARRAY(&engine->arena, SambaLane, lanes);
  engine->lane_count = lanes;
  for (size_t i = 0; i < kept; ++i)
    ++engine->lanes[lane_of[i]].share.flow_count;
  for (size_t i = 0; i < kept; ++i)
    engine->streams[uses[i].stream].lane_count += engine->lanes[lane_of[i]].share.flow_count > 1;

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    engine->streams[s].lanes =
        SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, engine->streams[s].lane_count);
    engine->streams[s].flows =
        SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, engine->streams[s].lane_count);
    engine->streams[s].lane_count = 0;
  }

  uint32_t flow = 0;
  for (size_t i = 0; i < kept; ++i) {
    SambaStreamState *stream = &engine->streams[uses[i].stream];
    SambaShare *share = &engine->lanes[lane_of[i]].share;
    flow = i && lane_of[i] == lane_of[i - 1] ? flow + 1 : 0;
    if (share->flow_count < 2)
      continue;
    if (!flow)
      share->flows = SAMBA_ARENA_ARRAY(&engine->arena, SambaFlow, share->flow_count);
    stream->lanes[stream->lane_count] = lane_of[i];
    stream->flows[stream->lane_count++] = flow;
  }

  free(lane_of);
}

void sambaLinksBuild(SambaEngine *engine) {
  const SambaSection *section = engine->section;
  SAMBA_ARRAY(LaneUse) uses = {0};
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    setRoutes(engine, stream, &engine->streams[s]);
    bool books = stream->kind != SAMBA_STREAM_CONTROL;
    for (uint32_t h = 0; books && h < stream->hop_count; ++h) {
      const SambaHop *hop = &stream->hops[h];
      sambaArrayAppend(&uses, laneUse(s, stream->kind, hop, false));
      if (hop->in.port >= SAMBA_SWITCH_UNIT)
        sambaArrayAppend(&uses, laneUse(s, stream->kind, hop, true));
    }
  }

  shareLanes(engine, uses.data, uses.size);
  sambaArrayFree(&uses);
}

uint64_t sambaLinksBusyMaximum(SambaEngine *engine) {
  uint64_t most = 0;
  for (uint32_t s = 0; s < engine->section->stream_count; ++s) {
    const SambaStreamState *stream = &engine->streams[s];
    uint64_t busy = sambaTimeMul(stream->pushed, stream->cycles);
    if (engine->section->streams[s].kind != SAMBA_STREAM_CONTROL)
      most = sambaTimeMax(most, busy); /* its own lanes */
    for (uint32_t i = 0; i < stream->lane_count; ++i)
      most = sambaTimeMax(most, engine->lanes[stream->lanes[i]].busy += busy);
  }
  return most;
}
