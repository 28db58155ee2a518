/* Twins; see twins.h. Units get a color from their own records; then a few rounds mix in the colors
 * of the units that they send to and take from. */
#include "backend/estimate/twins.h"

#include "backend/section/access.h"

#include <math.h>
#include <stdlib.h>

/* Rounds of looking at neighbours: units this far apart on the way of the data are told apart by
 * what stands between them and the edge. */
enum { rounds = 3 };

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
  hash *= UINT64_C(0xff51afd7ed558ccd);
  return hash ^ hash >> 32;
}

static uint64_t mixTrips(uint64_t hash, const uint32_t *trips, uint32_t count) {
  for (uint32_t c = 0; c < count; ++c)
    hash = mix(hash, trips[c]);
  return mix(hash, count);
}

static uint64_t mixStrides(uint64_t hash, const int64_t *strides, uint32_t count) {
  for (uint32_t c = 0; c < count; ++c)
    hash = mix(hash, (uint64_t)strides[c]);
  return hash;
}

static uint64_t mixPort(uint64_t hash, const SambaUnit *unit, bool output, uint32_t index) {
  const SambaPort *port = output ? &unit->outputs[index] : &unit->inputs[index];
  hash = mix(mix(hash, (uint64_t)port->dtype), port->stream_count);
  hash = mix(mix(hash, port->block), port->token_elements);
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    return mixStrides(mix(hash, port->compute.level), port->compute.strides,
                      unit->compute.counter_count);
  if (!sambaPortHasAccess(unit, output, index))
    return hash;

  const SambaAccess *access = &port->access;
  hash = mixTrips(hash, access->trips, access->counter_count);
  hash = mix(mix(hash, access->slot_level), access->token_level);
  hash = mixStrides(hash, access->strides, access->counter_count);
  return mix(hash, access->guard_count);
}

static uint64_t ownColor(const SambaUnit *unit) {
  uint64_t hash = mix(unit->kind, unit->lanes);
  for (uint32_t p = 0; p < unit->input_count; ++p)
    hash = mixPort(hash, unit, false, p);
  hash = mix(hash, unit->input_count);
  for (uint32_t p = 0; p < unit->output_count; ++p)
    hash = mixPort(hash, unit, true, p);

  if (unit->kind == SAMBA_UNIT_COMPUTE) {
    const SambaCompute *compute = &unit->compute;
    hash = mix(mixTrips(hash, compute->trips, compute->counter_count), compute->token_level);
    hash = mix(mix(hash, compute->program.systolic), compute->program.reduce_mask);
    for (uint32_t i = 0; i < compute->program.op_count; ++i)
      hash = mix(mix(hash, compute->program.ops[i].opcode), compute->program.ops[i].type);
  } else if (unit->kind == SAMBA_UNIT_BUFFER) {
    const SambaBuffer *buffer = &unit->buffer;
    hash = mix(mix(hash, buffer->slot_count), buffer->slot_elements);
    hash = mix(mix(hash, (uint64_t)buffer->banking), buffer->row_words);
    hash = mix(mix(hash, buffer->skew), (uint64_t)buffer->in_place * 2 + buffer->loop_carried);
  } else {
    hash = mix(hash, unit->load_store.symbol);
  }
  return hash;
}

/* A port deals blocks of tokens to its streams in turn. Where it goes round many times, all streams
 * get theirs at one pace; where it goes round once, the last stream gets its first token when all
 * others have had theirs. So units whose turn comes in different parts of a run are no twins: these
 * many parts are told apart. */
enum { turnParts = 16 };

static uint8_t turnOf(const SambaUnit *unit, uint32_t output, uint32_t place) {
  double before = (double)place * fmax(1, unit->outputs[output].block);
  double tokens = (double)sambaPortTokens(unit, true, output);
  return (uint8_t)fmin(turnParts - 1, turnParts * before / fmax(tokens, 1));
}

/* Of each stream: its turn among those of its source. */
static uint8_t *turnsOfStreams(const SambaSection *section) {
  uint8_t *turns = sambaAllocateZeroed(section->stream_count + 1, sizeof *turns);
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    for (uint32_t p = 0; p < unit->output_count; ++p)
      for (uint32_t s = 0; s < unit->outputs[p].stream_count; ++s)
        turns[unit->outputs[p].streams[s]] = turnOf(unit, p, s);
  }
  return turns;
}

/* The color of a unit with those around it; the order of the streams of a port does not count but
 * for their turns at their sources. */
static uint64_t nextColor(const SambaSection *section, const uint64_t *colors, const uint8_t *turns,
                          uint32_t index) {
  const SambaUnit *unit = &section->units[index];
  uint64_t hash = colors[index];
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    uint64_t sum = 0;
    for (uint32_t s = 0; s < unit->inputs[p].stream_count; ++s) {
      uint32_t stream = unit->inputs[p].streams[s];
      const SambaEndpoint *from = &section->streams[stream].source;
      sum += mix(mix(colors[from->unit], from->port), turns[stream]);
    }
    hash = mix(hash, sum);
  }
  for (uint32_t p = 0; p < unit->output_count; ++p) {
    uint64_t sum = 0;
    for (uint32_t s = 0; s < unit->outputs[p].stream_count; ++s) {
      const SambaStream *stream = &section->streams[unit->outputs[p].streams[s]];
      for (uint32_t d = 0; d < stream->destination_count; ++d)
        sum += mix(colors[stream->destinations[d].unit], stream->destinations[d].port);
    }
    hash = mix(hash, sum);
  }
  return hash;
}

static bool startsFull(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_BUFFER && unit->buffer.loop_carried;
}

/* How many units lie before each on the longest way: what follows each other is no twin, however
 * alike the steps of a chain are. Buffers that start full end the ways of sums that go round. */
static void findDepths(const SambaSection *section, uint32_t *depths) {
  uint32_t *waiting = sambaAllocateZeroed(section->unit_count, 2 * sizeof *waiting);
  uint32_t *ready = waiting + section->unit_count;
  uint32_t count = 0;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    for (uint32_t d = 0; d < section->streams[s].destination_count; ++d)
      ++waiting[section->streams[s].destinations[d].unit];
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (!waiting[u] || startsFull(&section->units[u]))
      ready[count++] = u;

  for (uint32_t i = 0; i < count; ++i) {
    const SambaUnit *unit = &section->units[ready[i]];
    for (uint32_t p = 0; p < unit->output_count; ++p)
      for (uint32_t s = 0; s < unit->outputs[p].stream_count; ++s) {
        const SambaStream *stream = &section->streams[unit->outputs[p].streams[s]];
        for (uint32_t d = 0; d < stream->destination_count; ++d) {
          uint32_t to = stream->destinations[d].unit;
          if (startsFull(&section->units[to]))
            continue;
          depths[to] = depths[ready[i]] + 1 > depths[to] ? depths[ready[i]] + 1 : depths[to];
          if (--waiting[to] == 0)
            ready[count++] = to;
        }
      }
  }
  free(waiting);
}

typedef struct Colored {
  uint64_t color;
  uint32_t unit;
} Colored;

static int compareColored(const void *a, const void *b) {
  const Colored *x = a, *y = b;
  if (x->color != y->color)
    return x->color < y->color ? -1 : 1;
  return (x->unit > y->unit) - (x->unit < y->unit);
}

SambaTwins sambaTwinsFind(const SambaSection *section, SambaArena *arena) {
  uint32_t count = section->unit_count;
  SambaTwins twins = {SAMBA_ARENA_ARRAY(arena, uint32_t, count),
                      SAMBA_ARENA_ARRAY(arena, uint32_t, count)};
  uint64_t *colors = sambaAllocateZeroed(count, 2 * sizeof *colors);
  uint64_t *next = colors + count;
  Colored *sorted = sambaAllocate(sambaArraySize(count, sizeof *sorted));

  uint32_t *depths = SAMBA_ARENA_ARRAY(arena, uint32_t, count);

  uint8_t *turns = turnsOfStreams(section);
  findDepths(section, depths);
  for (uint32_t u = 0; u < count; ++u)
    colors[u] = mix(ownColor(&section->units[u]), depths[u]);
  for (int round = 0; round < rounds; ++round) {
    for (uint32_t u = 0; u < count; ++u)
      next[u] = nextColor(section, colors, turns, u);
    for (uint32_t u = 0; u < count; ++u)
      colors[u] = next[u];
  }

  for (uint32_t u = 0; u < count; ++u)
    sorted[u] = (Colored){colors[u], u};
  if (count)
    qsort(sorted, count, sizeof *sorted, compareColored);
  for (uint32_t first = 0, end; first < count; first = end) {
    for (end = first; end < count && sorted[end].color == sorted[first].color; ++end)
      ;
    uint32_t last = sorted[end - 1].unit;
    twins.count[last] = end - first;
    for (uint32_t i = first; i < end; ++i)
      twins.of[sorted[i].unit] = last;
  }

  free(turns);
  free(sorted);
  free(colors);
  return twins;
}
