/* The network of a section: for every stream its latencies, what it can hold, and which lanes it
 * shares; see links.h.
 *
 * A stream without hops (not routed, or an ideal network) is a link of its own of one hop. */
#include "backend/sim/timing/build/links.h"

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

static SambaSwitchPort oppositePort(SambaSwitchPort port) {
  static const SambaSwitchPort opposite[] = {SAMBA_SWITCH_SOUTH, SAMBA_SWITCH_WEST,
                                             SAMBA_SWITCH_NORTH, SAMBA_SWITCH_EAST};
  return opposite[port];
}

static void stepThrough(SambaSwitchPort port, int32_t *x, int32_t *y) {
  *x += (port == SAMBA_SWITCH_EAST) - (port == SAMBA_SWITCH_WEST);
  *y += (port == SAMBA_SWITCH_SOUTH) - (port == SAMBA_SWITCH_NORTH);
}

/* Where a hop leads to, as the hop that follows it names its entrance. */
typedef struct Entrance {
  uint64_t place, lane;
  uint32_t hop;
} Entrance;

static int compareEntrances(const void *a, const void *b) {
  const Entrance *x = a, *y = b;
  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  return (x->lane > y->lane) - (x->lane < y->lane);
}

static Entrance entranceAt(int32_t x, int32_t y, SambaSwitchPort port, const SambaSwitchLane *lane,
                           uint32_t hop) {
  return (Entrance){(uint64_t)(uint32_t)y << 32 | (uint32_t)x,
                    (uint64_t)port << 32 | (uint64_t)lane->lane << 16 | lane->flow, hop};
}

/* Cycles and switches from the source to the far end of each hop. Hops are a tree in depth-first
 * order: what leads to a hop comes before it. */
static void measureHops(const SambaMachine *machine, const SambaStream *stream, uint64_t *cycles,
                        uint32_t *switches) {
  Entrance *entrances = sambaAllocate(sambaArraySize(stream->hop_count, sizeof *entrances));
  size_t count = 0;

  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    const SambaHop *hop = &stream->hops[h];
    if (hop->out.port >= SAMBA_SWITCH_UNIT)
      continue;
    int32_t x = hop->x;
    int32_t y = hop->y;
    stepThrough((SambaSwitchPort)hop->out.port, &x, &y);
    entrances[count++] =
        entranceAt(x, y, oppositePort((SambaSwitchPort)hop->out.port), &hop->out, h);
  }

  if (count)
    qsort(entrances, count, sizeof *entrances, compareEntrances);
  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    const SambaHop *hop = &stream->hops[h];
    Entrance key = entranceAt(hop->x, hop->y, (SambaSwitchPort)hop->in.port, &hop->in, 0);
    const Entrance *before = hop->in.port < SAMBA_SWITCH_UNIT && count
                                 ? bsearch(&key, entrances, count, sizeof key, compareEntrances)
                                 : NULL;
    bool follows = before && before->hop < h;
    int32_t x = hop->x;
    int32_t y = hop->y;
    if (hop->out.port < SAMBA_SWITCH_UNIT)
      stepThrough((SambaSwitchPort)hop->out.port, &x, &y);
    cycles[h] = (follows ? cycles[before->hop] : 0) +
                (uint64_t)sambaMachineHopCycles(machine, hop->x, hop->y, x, y);
    switches[h] = (follows ? switches[before->hop] : 0) + 1;
  }

  free(entrances);
}

static bool endsAt(const SambaHop *hop, const SambaUnit *unit) {
  if (hop->out.port == SAMBA_SWITCH_AG)
    return sambaUnitIsAddressGenerator(unit) && hop->out.ag == unit->load_store.ag;
  return hop->out.port == SAMBA_SWITCH_UNIT && !sambaUnitIsAddressGenerator(unit) &&
         hop->x == unit->x && hop->y == unit->y;
}

/* What the way to a destination holds. In a multicast the others may be ahead of it by as much. */
static uint64_t capacityOf(const SambaEngine *engine, const SambaStream *stream,
                           const SambaActor *producer, uint32_t switches) {
  /* Control tokens are counted, not stored. */
  if (stream->kind == SAMBA_STREAM_CONTROL)
    return mostControlTokens;
  return (uint64_t)engine->machine->fifo_depth * (switches + 1) + producer->latency;
}

/* Latency and capacity of each destination. Of several destinations at one unit the i-th gets the
 * i-th hop that ends there. */
static void setRoutes(SambaEngine *engine, const SambaStream *stream, SambaStreamState *state) {
  const SambaMachine *machine = engine->machine;
  uint64_t *cycles = sambaAllocateZeroed(stream->hop_count, sizeof *cycles);
  uint32_t *switches = sambaAllocateZeroed(stream->hop_count, sizeof *switches);
  bool *used = sambaAllocateZeroed(stream->hop_count, sizeof *used);

  measureHops(machine, stream, cycles, switches);
  for (uint32_t d = 0; d < state->cursor_count; ++d) {
    const SambaUnit *unit = &engine->section->units[stream->destinations[d].unit];
    SambaCursor *cursor = &engine->cursors[state->cursor_first + d];
    uint32_t count = 1, h = 0;
    cursor->latency = (uint64_t)machine->hop_cycles;
    while (h < stream->hop_count && (used[h] || !endsAt(&stream->hops[h], unit)))
      ++h;
    if (h < stream->hop_count) {
      used[h] = true;
      cursor->latency = cycles[h];
      count = switches[h];
    }
    cursor->capacity = capacityOf(engine, stream, &engine->actors[state->producer], count);
  }

  free(cycles);
  free(switches);
  free(used);
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
    ++engine->lanes[lane_of[i]].streams;
  for (size_t i = 0; i < kept; ++i)
    engine->streams[uses[i].stream].lane_count += engine->lanes[lane_of[i]].streams > 1;

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    engine->streams[s].lanes =
        SAMBA_ARENA_ARRAY(&engine->arena, uint32_t, engine->streams[s].lane_count);
    engine->streams[s].lane_count = 0;
  }

  for (size_t i = 0; i < kept; ++i) {
    SambaStreamState *stream = &engine->streams[uses[i].stream];
    if (engine->lanes[lane_of[i]].streams > 1)
      stream->lanes[stream->lane_count++] = lane_of[i];
  }

  free(lane_of);
}

void sambaLinksBuild(SambaEngine *engine) {
  const SambaSection *section = engine->section;
  SAMBA_ARRAY(LaneUse) uses = {0};
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    setRoutes(engine, stream, &engine->streams[s]);
    bool books = stream->kind != SAMBA_STREAM_CONTROL && !engine->instant_memory;
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
