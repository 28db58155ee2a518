/* Units that do the same; see fold.h. Kinds are told apart by hashes of all that matters to how far
 * a unit gets: first by the records, then, again and again, by the kinds of the neighbours, until
 * that makes no more kinds. */
#include "backend/sim/progress/fold.h"

#include "backend/section/access.h"

#include <stdlib.h>
#include <string.h>

enum { mostRounds = 32 };

typedef struct Fold {
  const SambaSection *section;
  uint64_t *units, *streams; /* hashes of kinds */
  /* Of each stream: its place in the list of its source's port, then in those of its destinations.
   */
  uint32_t *places, *place_first;
  uint64_t *ends; /* of one stream: those that are not the same */
} Fold;

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

static uint64_t mixBytes(uint64_t hash, const void *data, size_t size) {
  const uint8_t *bytes = data;
  for (; size >= 8; size -= 8, bytes += 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    hash = mix(hash, word);
  }
  for (; size > 0; --size)
    hash = mix(hash, *bytes++);
  return hash;
}

static uint64_t hashCompute(const SambaUnit *unit, uint64_t hash) {
  const SambaCompute *compute = &unit->compute;
  hash = mix(hash, (uint64_t)compute->token_level << 32 | compute->counter_count);
  hash = mixBytes(hash, compute->trips, compute->counter_count * sizeof *compute->trips);
  hash = mix(mix(hash, compute->program.systolic), compute->program.reduce_mask);
  for (uint32_t i = 0; i < compute->program.op_count; ++i) {
    const SambaLaneOp *op = &compute->program.ops[i];
    hash = mix(hash, (uint64_t)op->opcode << 56 | (uint64_t)op->type << 48 |
                         (uint64_t)op->operands[2] << 32 | (uint64_t)op->operands[1] << 16 |
                         op->operands[0]);
  }
  return hash;
}

/* Where a load or store walks matters only when index values move it. */
static uint64_t hashAccess(const SambaAccess *access, uint64_t hash) {
  hash = mix(hash, sambaTripProduct(access->trips, 0, access->slot_level));
  hash = mix(hash, sambaTripProduct(access->trips, access->slot_level, access->token_level));
  if (!access->has_index)
    return hash;
  hash = mix(hash, (uint64_t)access->index_counters << 32 | access->guard_count);
  hash = mixBytes(hash, access->trips, access->counter_count * sizeof *access->trips);
  hash = mixBytes(hash, access->strides, access->counter_count * sizeof *access->strides);
  for (uint32_t g = 0; g < access->guard_count; ++g)
    hash = mixBytes(hash, access->guards[g].strides,
                    access->counter_count * sizeof *access->guards[g].strides);
  return hash;
}

static uint64_t hashPort(const SambaUnit *unit, bool output, uint32_t p, uint64_t hash) {
  const SambaPort *port = output ? &unit->outputs[p] : &unit->inputs[p];
  hash = mix(hash, (uint64_t)port->dtype << 32 | port->block);
  hash = mix(mix(hash, port->token_elements), port->stream_count);
  if (unit->kind == SAMBA_UNIT_COMPUTE) {
    hash = mix(hash, (uint64_t)port->compute.level << 32 | port->compute.value);
    return output ? hash
                  : mixBytes(hash, port->compute.strides,
                             unit->compute.counter_count * sizeof *port->compute.strides);
  }
  return sambaPortHasAccess(unit, output, p) ? hashAccess(&port->access, hash) : hash;
}

static uint64_t hashUnit(const SambaUnit *unit) {
  uint64_t hash = mix(unit->kind, unit->lanes);
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    hash = hashCompute(unit, hash);
  else if (unit->kind == SAMBA_UNIT_BUFFER)
    hash = mix(hash, (uint64_t)unit->buffer.slot_count << 2 |
                         (uint64_t)unit->buffer.loop_carried << 1 | unit->buffer.in_place);
  hash = mix(hash, (uint64_t)unit->input_count << 32 | unit->output_count);
  for (uint32_t p = 0; p < unit->input_count; ++p)
    hash = hashPort(unit, false, p, hash);
  for (uint32_t p = 0; p < unit->output_count; ++p)
    hash = hashPort(unit, true, p, hash);
  return hash;
}

/* A stream's kind: where it comes from, and to which kinds of ports it goes. To how many of a kind
 * does not matter: they take the same, so the stream waits for all of them as for one. */
static uint64_t hashStream(Fold *fold, uint32_t index) {
  const SambaStream *stream = &fold->section->streams[index];
  const uint32_t *places = &fold->places[fold->place_first[index]];
  uint64_t ends = 0;
  uint32_t kinds = 0;
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    SambaEndpoint to = stream->destinations[d];
    uint64_t end = mix(mix(fold->units[to.unit], to.port), places[1 + d]);
    uint32_t same = 0;
    while (same < kinds && fold->ends[same] != end)
      ++same;
    if (same < kinds)
      continue;
    fold->ends[kinds++] = end;
    ends += end;
  }
  uint64_t hash = mix(fold->units[stream->source.unit], stream->source.port);
  return mix(mix(mix(hash, places[0]), stream->kind), ends);
}

static uint64_t hashNeighbours(const Fold *fold, uint32_t index) {
  const SambaUnit *unit = &fold->section->units[index];
  uint64_t hash = fold->units[index];
  for (uint32_t p = 0; p < unit->input_count; ++p)
    for (uint32_t i = 0; i < unit->inputs[p].stream_count; ++i)
      hash = mix(hash, fold->streams[unit->inputs[p].streams[i]]);
  for (uint32_t p = 0; p < unit->output_count; ++p)
    for (uint32_t i = 0; i < unit->outputs[p].stream_count; ++i)
      hash = mix(hash, fold->streams[unit->outputs[p].streams[i]]);
  return hash;
}

/* Streams of one port that are dealt or merged in turn are not the same. */
static void findPlaces(Fold *fold, SambaArena *arena) {
  const SambaSection *section = fold->section;
  uint32_t count = 0, most = 0;
  fold->place_first = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    uint32_t ends = section->streams[s].destination_count;
    fold->place_first[s] = count;
    count += 1 + ends;
    most = ends > most ? ends : most;
  }

  fold->ends = SAMBA_ARENA_ARRAY(arena, uint64_t, most);
  fold->places = SAMBA_ARENA_ARRAY(arena, uint32_t, count);
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    for (uint32_t p = 0; p < unit->output_count; ++p)
      for (uint32_t i = 1; i < unit->outputs[p].stream_count; ++i)
        fold->places[fold->place_first[unit->outputs[p].streams[i]]] = i;
    for (uint32_t p = 0; p < unit->input_count; ++p)
      for (uint32_t i = 1; i < unit->inputs[p].stream_count; ++i) {
        uint32_t s = unit->inputs[p].streams[i];
        const SambaStream *stream = &section->streams[s];
        for (uint32_t d = 0; d < stream->destination_count; ++d)
          if (stream->destinations[d].unit == u && stream->destinations[d].port == p)
            fold->places[fold->place_first[s] + 1 + d] = i;
      }
  }
}

/* Numbers hashes in the order in which they first appear. */
typedef struct Kinds {
  uint64_t *hashes; /* a table: 0 is free */
  uint32_t *numbers;
  uint32_t mask, count;
} Kinds;

static Kinds makeKinds(SambaArena *arena, uint32_t most) {
  Kinds kinds = {.mask = 15};
  while (kinds.mask < 2 * most)
    kinds.mask = kinds.mask * 2 + 1;
  kinds.hashes = SAMBA_ARENA_ARRAY(arena, uint64_t, (size_t)kinds.mask + 1);
  kinds.numbers = SAMBA_ARENA_ARRAY(arena, uint32_t, (size_t)kinds.mask + 1);
  return kinds;
}

static uint32_t kindOf(Kinds *kinds, uint64_t hash) {
  hash |= 1;
  uint32_t slot = (uint32_t)(hash >> 32) & kinds->mask;
  while (kinds->hashes[slot] && kinds->hashes[slot] != hash)
    slot = (slot + 1) & kinds->mask;
  if (!kinds->hashes[slot]) {
    kinds->hashes[slot] = hash;
    kinds->numbers[slot] = kinds->count++;
  }
  return kinds->numbers[slot];
}

static void clearKinds(Kinds *kinds) {
  memset(kinds->hashes, 0, ((size_t)kinds->mask + 1) * sizeof *kinds->hashes);
  kinds->count = 0;
}

/* Tells kinds apart until the neighbours make no more of them. False: there are too many. */
static bool refine(Fold *fold, SambaArena *arena) {
  const SambaSection *section = fold->section;
  uint64_t *next = SAMBA_ARENA_ARRAY(arena, uint64_t, section->unit_count);
  Kinds kinds = makeKinds(arena, section->unit_count);
  fold->units = SAMBA_ARENA_ARRAY(arena, uint64_t, section->unit_count);
  fold->streams = SAMBA_ARENA_ARRAY(arena, uint64_t, section->stream_count);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    kindOf(&kinds, fold->units[u] = hashUnit(&section->units[u]));

  for (int round = 0; round < mostRounds && 2 * kinds.count < section->unit_count; ++round) {
    uint32_t before = kinds.count;
    for (uint32_t s = 0; s < section->stream_count; ++s)
      fold->streams[s] = hashStream(fold, s);
    clearKinds(&kinds);
    for (uint32_t u = 0; u < section->unit_count; ++u)
      kindOf(&kinds, next[u] = hashNeighbours(fold, u));
    if (kinds.count == before)
      return true;
    memcpy(fold->units, next, section->unit_count * sizeof *next);
  }
  return false;
}

static void foldPorts(SambaPort **ports, uint32_t count, SambaArena *arena,
                      const uint32_t *stream_kinds) {
  *ports = sambaArenaCopy(arena, *ports, count * sizeof **ports);
  for (uint32_t p = 0; p < count; ++p) {
    SambaPort *port = &(*ports)[p];
    uint32_t *streams = SAMBA_ARENA_ARRAY(arena, uint32_t, port->stream_count);
    for (uint32_t i = 0; i < port->stream_count; ++i)
      streams[i] = stream_kinds[port->streams[i]];
    port->streams = streams;
  }
}

static void foldStream(SambaStream *stream, SambaArena *arena, const uint32_t *unit_kinds) {
  const SambaEndpoint *ends = stream->destinations;
  SambaEndpoint *folded = SAMBA_ARENA_ARRAY(arena, SambaEndpoint, stream->destination_count);
  uint32_t count = 0;
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    SambaEndpoint end = {unit_kinds[ends[d].unit], ends[d].port};
    uint32_t same = 0;
    while (same < count && (folded[same].unit != end.unit || folded[same].port != end.port))
      ++same;
    if (same == count)
      folded[count++] = end;
  }
  stream->source.unit = unit_kinds[stream->source.unit];
  stream->destinations = folded;
  stream->destination_count = count;
  stream->hop_count = 0;
}

/* One unit of each kind, and one stream. */
static void makeFolded(const Fold *fold, SambaArena *arena, SambaSection *folded) {
  const SambaSection *section = fold->section;
  Kinds units = makeKinds(arena, section->unit_count);
  Kinds streams = makeKinds(arena, section->stream_count);
  uint32_t *unit_kinds = SAMBA_ARENA_ARRAY(arena, uint32_t, section->unit_count);
  uint32_t *stream_kinds = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  *folded = *section;
  folded->arena = arena;
  folded->units = SAMBA_ARENA_ARRAY(arena, SambaUnit, section->unit_count);
  folded->streams = SAMBA_ARENA_ARRAY(arena, SambaStream, section->stream_count);

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    uint32_t before = units.count;
    unit_kinds[u] = kindOf(&units, fold->units[u]);
    if (units.count > before)
      folded->units[before] = section->units[u];
  }
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    uint32_t before = streams.count;
    stream_kinds[s] = kindOf(&streams, fold->streams[s]);
    if (streams.count > before)
      folded->streams[before] = section->streams[s];
  }

  folded->unit_count = units.count;
  folded->stream_count = streams.count;
  for (uint32_t s = 0; s < folded->stream_count; ++s)
    foldStream(&folded->streams[s], arena, unit_kinds);
  for (uint32_t u = 0; u < folded->unit_count; ++u) {
    SambaUnit *unit = &folded->units[u];
    foldPorts(&unit->inputs, unit->input_count, arena, stream_kinds);
    foldPorts(&unit->outputs, unit->output_count, arena, stream_kinds);
  }
}

bool sambaProgressFold(const SambaSection *section, SambaArena *arena, SambaSection *out_folded) {
  Fold fold = {.section = section};
  findPlaces(&fold, arena);
  if (!refine(&fold, arena))
    return false;
  makeFolded(&fold, arena, out_folded);
  return true;
}
