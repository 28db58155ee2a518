/* The network of a section: for every stream its latencies, what it can hold, and which lanes it
 * shares; see links.h.
 *
 * A stream without hops (not routed, or an ideal network) is a link of its own of one hop. */
#include "backend/sim/timing/build/links.h"

#include "backend/section/fabric/lane_uses.h"
#include "backend/sim/timing/engine/tokens.h"

#include <stdlib.h>

/* What a counter of control tokens can count to. */
enum { mostControlTokens = 1 << 20 };

/* What the way to a destination holds. In a multicast the others may be ahead of it by as much. */
static uint64_t capacityOf(const SambaEngine *engine, const SambaStream *stream,
                           const SambaActor *producer, uint32_t switches) {
  /* Control tokens are counted, not stored. */
  if (stream->kind == SAMBA_STREAM_CONTROL)
    return mostControlTokens;
  return (uint64_t)engine->machine->fifo_depth * (switches + 1) + producer->latency;
}

/* From when a vector has left a FIFO until whoever sends into it may send another one. */
static uint64_t creditCycles(const SambaMachine *machine) {
  uint64_t round = (uint64_t)machine->credit_cycles, there = (uint64_t)machine->hop_cycles;
  return round > there ? round - there : 1;
}

/* Latency and capacity of each destination. */
static void setRoutes(SambaEngine *engine, const SambaStream *stream, SambaStreamState *state,
                      const SambaRoutes *routes) {
  const SambaMachine *machine = engine->machine;
  for (uint32_t d = 0; d < state->cursor_count; ++d) {
    SambaCursor *cursor = &engine->cursors[state->cursor_first + d];
    uint32_t end = routes->ends[d];
    bool own = end == SAMBA_NO_INDEX; /* a link of one hop */
    uint32_t switches = own ? 1 : routes->switches[end];
    cursor->latency = own ? (uint64_t)machine->hop_cycles : routes->cycles[end];
    cursor->capacity = capacityOf(engine, stream, &engine->actors[state->producer], switches);
    engine->cursor_details[state->cursor_first + d].credit = creditCycles(machine) * (switches + 1);
  }
  sambaStreamFindRoom(engine, state);
}

/* What the way to a destination holds behind the switches that it shares with another way. */
static uint32_t leadOf(const SambaEngine *engine, const SambaRoutes *routes, uint32_t end,
                       uint32_t shared) {
  uint32_t own = end == SAMBA_NO_INDEX ? 1 : routes->switches[end] - shared;
  return (uint32_t)engine->machine->fifo_depth * (own + 1);
}

/* The same in whole tokens, of which destinations have taken numbers. */
static void setTokenLeads(SambaEngine *engine, const SambaStreamState *state) {
  SambaMulticast *multicast = state->multicast;
  uint32_t count = state->cursor_count;
  multicast->token_leads = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, (size_t)count *count);
  multicast->leads_over = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, (size_t)count *count);
  for (uint32_t d = 0; d < count; ++d)
    for (uint32_t e = 0; e < count; ++e) {
      uint32_t tokens = (uint32_t)(multicast->leads[d * count + e] / state->vectors);
      multicast->token_leads[d * count + e] = multicast->leads_over[e * count + d] = tokens;
    }
}

/* Whether each hop follows the one before it, or one that leads there: then ways to destinations in
 * the order of their hops share what neighbours on the way from one to the other share. */
static bool areInOrder(const SambaRoutes *routes, uint32_t hop_count, uint32_t count) {
  for (uint32_t h = 1; h < hop_count; ++h) {
    uint32_t from = h - 1;
    while (from != SAMBA_NO_INDEX && from != routes->before[h])
      from = routes->before[from];
    if (from != routes->before[h])
      return false;
  }
  for (uint32_t d = 0; d < count; ++d)
    if (routes->ends[d] == SAMBA_NO_INDEX || (d && routes->ends[d] <= routes->ends[d - 1]))
      return false;
  return true;
}

/* How far the destinations of a multicast can be ahead of each other. */
static void setLeads(SambaEngine *engine, SambaStreamState *state, const SambaRoutes *routes,
                     uint32_t hop_count) {
  uint32_t count = state->cursor_count;
  uint32_t *passed = sambaAllocateZeroed(hop_count, sizeof *passed); /* 1 + destination behind it */
  uint32_t *beside = sambaAllocateZeroed(count, sizeof *beside); /* shared with the one before it */
  bool in_order = areInOrder(routes, hop_count, count);
  SambaMulticast *multicast = state->multicast = SAMBA_ARENA_NEW(&engine->arena, SambaMulticast);
  multicast->taken = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, count);
  multicast->held_words = (count + 63) / 64;
  multicast->held = SAMBA_ARENA_ARRAY(&engine->arena, uint64_t, multicast->held_words);
  multicast->held_by = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, count);
  multicast->leads = SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, (size_t)count *count);
  multicast->least_lead = UINT64_MAX;
  for (uint32_t d = 0; d < count; ++d) {
    uint32_t end = routes->ends[d];
    for (uint32_t h = end; h != SAMBA_NO_INDEX; h = routes->before[h])
      passed[h] = d + 1;
    multicast->leads[d * count + d] =
        leadOf(engine, routes, end, end == SAMBA_NO_INDEX ? 0 : routes->switches[end]);
    uint32_t shared = UINT32_MAX;
    for (uint32_t e = d; e-- > 0;) {
      if (in_order && e + 1 < d) {
        shared = beside[e + 1] < shared ? beside[e + 1] : shared;
      } else {
        uint32_t joint = routes->ends[e];
        while (joint != SAMBA_NO_INDEX && passed[joint] != d + 1)
          joint = routes->before[joint];
        shared = joint == SAMBA_NO_INDEX ? 0 : routes->switches[joint];
      }
      beside[d] = e + 1 == d ? shared : beside[d];
      uint32_t ahead = leadOf(engine, routes, end, shared);
      uint32_t behind = leadOf(engine, routes, routes->ends[e], shared);
      multicast->leads[d * count + e] = ahead;
      multicast->leads[e * count + d] = behind;
      multicast->least_lead = sambaTimeMin(multicast->least_lead, sambaTimeMin(ahead, behind));
    }
  }
  setTokenLeads(engine, state);
  free(passed);
  free(beside);
}

/* The way of a stream to a lane: what it holds, and how long it takes. */
static SambaLaneUse laneUse(const SambaEngine *engine, const SambaRoutes *routes,
                            const SambaFabricUse *use, uint32_t lane, uint32_t flow) {
  uint64_t pipeline = engine->actors[engine->streams[use->stream].producer].latency;
  uint32_t fifos = use->entering ? 0 : routes->switches[use->hop];
  uint32_t before = use->entering ? SAMBA_NO_INDEX : routes->before[use->hop];
  return (SambaLaneUse){.lane = lane,
                        .flow = flow,
                        .held = (uint64_t)engine->machine->fifo_depth * fifos + pipeline,
                        .spare = (uint64_t)engine->machine->fifo_depth * routes->spare[use->hop],
                        .cycles =
                            pipeline + (before == SAMBA_NO_INDEX ? 0 : routes->cycles[before])};
}

/* The uses of lanes that several streams pass, by lane. */
typedef struct SharedWays {
  const SambaFabricUse *uses;
  SambaLaneUse *ways;    /* as many */
  SambaLaneUse **booked; /* where each of them stands among those of its stream; NULL */
} SharedWays;

/* Whether the same streams pass the lanes whose uses begin at `a` and `b`, all of them as many
 * cycles later on one than on the other. What they book there is the same then, but for these
 * cycles. */
static bool areAlike(const SharedWays *shared, size_t a, size_t b, uint32_t count) {
  const SambaLaneUse *ways = shared->ways;
  uint64_t later = ways[b].cycles - ways[a].cycles;
  for (uint32_t f = 0; f < count; ++f)
    if (shared->uses[a + f].stream != shared->uses[b + f].stream ||
        ways[b + f].cycles - ways[a + f].cycles != later)
      return false;
  return true;
}

/* Adds a lane to those that its streams book. One that is like an earlier one is booked with it;
 * what fits before the nearer one keeps a producer. */
static void addLane(SambaEngine *engine, SharedWays *shared, const size_t *first_use, size_t first,
                    uint32_t count) {
  const SambaStreamState *of = &engine->streams[shared->uses[first].stream];
  for (uint32_t i = 0; i < of->lane_count; ++i) {
    uint32_t lane = of->lanes[i].lane;
    size_t other = first_use[lane];
    if (engine->lanes[lane].share.flow_count != count || !areAlike(shared, other, first, count))
      continue;
    for (uint32_t f = 0; f < count; ++f) {
      SambaLaneUse *use = shared->booked[other + f];
      use->held = sambaTimeMin(use->held, shared->ways[first + f].held);
      use->spare = sambaTimeMin(use->spare, shared->ways[first + f].spare);
    }
    return;
  }

  SambaShare *share = &engine->lanes[shared->ways[first].lane].share;
  share->flows = SAMBA_ARENA_LINES(&engine->arena, SambaFlow, count);
  share->lets_in = true;
  for (uint32_t f = 0; f < count; ++f) {
    SambaStreamState *stream = &engine->streams[shared->uses[first + f].stream];
    SambaLaneUse *use = shared->booked[first + f] = &stream->lanes[stream->lane_count++];
    *use = shared->ways[first + f];
    use->booked = &share->flows[f];
  }
}

/* Finds the lanes that at least two streams use; only there can a stream be slower than
 * its ends. */
static void shareLanes(SambaEngine *engine, const SambaRoutes *routes) {
  const SambaSection *section = engine->section;
  SambaArena scratch = {0};
  size_t kept;
  SharedWays shared = {.uses = sambaFabricUses(section, &scratch, &kept)};
  shared.ways = SAMBA_ARENA_ARRAY(&scratch, SambaLaneUse, kept);
  shared.booked = SAMBA_ARENA_ARRAY(&scratch, SambaLaneUse *, kept);
  size_t *first_use = SAMBA_ARENA_ARRAY(&scratch, size_t, kept);
  uint32_t lanes = 0;
  for (size_t i = 0; i < kept; ++i) {
    if (!i || shared.uses[i].lane != shared.uses[i - 1].lane)
      first_use[lanes++] = i;
    uint32_t flow = (uint32_t)(i - first_use[lanes - 1]);
    shared.ways[i] =
        laneUse(engine, &routes[shared.uses[i].stream], &shared.uses[i], lanes - 1, flow);
  }

  engine->lanes = SAMBA_ARENA_LINES(&engine->arena, SambaLane, lanes);
  engine->lane_count = lanes;
  for (size_t i = 0; i < kept; ++i)
    ++engine->lanes[shared.ways[i].lane].share.flow_count;
  for (size_t i = 0; i < kept; ++i)
    engine->streams[shared.uses[i].stream].lane_count +=
        engine->lanes[shared.ways[i].lane].share.flow_count > 1;
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    engine->streams[s].lanes =
        SAMBA_ARENA_ARRAY(&engine->arena, SambaLaneUse, engine->streams[s].lane_count);
    engine->streams[s].lane_count = 0;
  }

  for (uint32_t l = 0; l < lanes; ++l)
    if (engine->lanes[l].share.flow_count > 1)
      addLane(engine, &shared, first_use, first_use[l], engine->lanes[l].share.flow_count);
  sambaArenaDestroy(&scratch);
}

/* A token passes no faster than its slowest taker that computes uses it. */
static void setPace(const SambaEngine *engine, SambaStreamState *stream) {
  stream->pace = stream->vectors;
  stream->is_used = true;
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    const SambaActor *taker = &engine->actors[cursor->actor];
    stream->is_used &= taker->kind == SAMBA_ACTOR_COMPUTE;
    if (taker->kind == SAMBA_ACTOR_COMPUTE)
      stream->pace =
          sambaTimeMax(stream->pace, taker->work - sambaTimeMin(taker->work, cursor->rest));
  }
}

void sambaLinksBuild(SambaEngine *engine, const SambaRoutes *routes) {
  const SambaSection *section = engine->section;
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    setRoutes(engine, &section->streams[s], &engine->streams[s], &routes[s]);
    if (engine->streams[s].cursor_count > 1 && section->streams[s].kind != SAMBA_STREAM_CONTROL)
      setLeads(engine, &engine->streams[s], &routes[s], section->streams[s].hop_count);
  }
  shareLanes(engine, routes);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    setPace(engine, &engine->streams[s]);
}

uint64_t sambaLinksBusyMaximum(SambaEngine *engine) {
  uint64_t most = 0;
  for (uint32_t s = 0; s < engine->section->stream_count; ++s) {
    const SambaStreamState *stream = &engine->streams[s];
    uint64_t busy = sambaTimeMul(stream->pushed, stream->cycles);
    if (engine->section->streams[s].kind != SAMBA_STREAM_CONTROL)
      most = sambaTimeMax(most, busy); /* its own lanes */
    for (uint32_t i = 0; i < stream->lane_count; ++i)
      most = sambaTimeMax(most, engine->lanes[stream->lanes[i].lane].busy += busy);
  }
  return most;
}
