/* One of several equal rounds; see round.h.
 *
 * Every port is either divided, so that it passes as many tokens in each round, or it passes all of
 * its tokens in the first one. Both ends of a stream are of the same sort, and so are all ports of
 * a unit, but for two: a value that a PCU takes once and holds, and a slot of a PMU that is written
 * once and read in every round. Divided units never send to others, so later rounds do what the
 * first one did. */
#include "backend/sim/progress/round.h"

#include "backend/section/access.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of rounds that are tried, the largest ones. */
enum { mostTries = 16 };

typedef struct Rounds {
  const SambaSection *section;
  uint32_t count;       /* rounds */
  uint32_t *port_first; /* per unit: its first port; inputs, then outputs */
  bool *divided;        /* per port */
  bool changed;
} Rounds;

static bool *dividedPort(const Rounds *rounds, uint32_t unit, bool output, uint32_t port) {
  uint32_t inputs = output ? rounds->section->units[unit].input_count : 0;
  return &rounds->divided[rounds->port_first[unit] + inputs + port];
}

/* The counters, from the outermost one on, that a division of a chain into rounds changes: all
 * before the one returned. SAMBA_NO_INDEX: it cannot be divided. */
static uint32_t divide(const uint32_t *trips, uint32_t from, uint32_t until, uint32_t rounds,
                       uint32_t *out_trips) {
  for (uint32_t c = from; c < until; ++c) {
    uint32_t here = trips[c] % rounds == 0 ? rounds : trips[c];
    if (rounds % here)
      return SAMBA_NO_INDEX;
    if (out_trips)
      out_trips[c] = trips[c] / here;
    rounds /= here;
    if (rounds == 1)
      return c + 1;
  }
  return SAMBA_NO_INDEX;
}

/* Streams are taken in turn, and every round must begin with the first one. */
static bool turnsAreWhole(const Rounds *rounds, const SambaUnit *unit, bool output, uint32_t p) {
  const SambaPort *port = output ? &unit->outputs[p] : &unit->inputs[p];
  uint64_t turn = port->stream_count > 1 ? (uint64_t)port->stream_count * port->block : 1;
  uint64_t tokens = sambaPortTokens(unit, output, p);
  return tokens % rounds->count == 0 && tokens / rounds->count % turn == 0;
}

/* A PCU: rounds divide firings, and no sum lasts longer than a round. */
static bool canDivideCompute(const Rounds *rounds, const SambaUnit *unit) {
  const SambaCompute *compute = &unit->compute;
  uint32_t end = divide(compute->trips, 0, compute->token_level, rounds->count, NULL);
  if (end == SAMBA_NO_INDEX)
    return false;
  for (uint32_t c = 0; c < end && c < 64; ++c)
    if (compute->trips[c] > 1 && compute->program.reduce_mask >> c & 1)
      return false;
  for (uint32_t p = 0; p < unit->output_count; ++p)
    if (unit->outputs[p].compute.level < end)
      return false;
  for (uint32_t p = 0; p < unit->input_count; ++p)
    if (unit->inputs[p].compute.level < end && sambaPortTokens(unit, false, p) != 1)
      return false;
  return true;
}

static bool isHeld(const Rounds *rounds, const SambaUnit *unit, uint32_t p) {
  const SambaCompute *compute = &unit->compute;
  uint32_t end = divide(compute->trips, 0, compute->token_level, rounds->count, NULL);
  return unit->inputs[p].compute.level < end;
}

/* One slot that is written once; rounds divide the tokens that are read from it. */
static bool isResident(const SambaUnit *unit) {
  bool one = true;
  for (uint32_t p = 0; p < unit->input_count; ++p)
    one &=
        sambaTripProduct(unit->inputs[p].access.trips, 0, unit->inputs[p].access.slot_level) == 1;
  return one;
}

static bool canDivideAccess(const Rounds *rounds, const SambaUnit *unit, const SambaPort *port) {
  const SambaAccess *access = &port->access;
  uint32_t until = access->token_level;
  if (access->has_index)
    return false;
  if (unit->kind == SAMBA_UNIT_BUFFER) {
    if (unit->buffer.in_place || unit->buffer.loop_carried)
      return false;
    until = isResident(unit) ? until : access->slot_level;
  }
  return divide(access->trips, 0, until, rounds->count, NULL) != SAMBA_NO_INDEX;
}

static bool canDivideUnit(const Rounds *rounds, const SambaUnit *unit) {
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    return canDivideCompute(rounds, unit);
  if (unit->kind == SAMBA_UNIT_BUFFER)
    return true;
  return canDivideAccess(rounds, unit,
                         unit->kind == SAMBA_UNIT_LOAD ? &unit->outputs[0] : &unit->inputs[0]);
}

static bool canDividePort(const Rounds *rounds, const SambaUnit *unit, bool output, uint32_t p) {
  if (unit->kind == SAMBA_UNIT_COMPUTE && !output && isHeld(rounds, unit, p))
    return false;
  if (unit->kind == SAMBA_UNIT_BUFFER &&
      !canDivideAccess(rounds, unit, output ? &unit->outputs[p] : &unit->inputs[p]))
    return false;
  /* What is resident is written in the first round. */
  if (unit->kind == SAMBA_UNIT_BUFFER && !output && isResident(unit))
    return false;
  return turnsAreWhole(rounds, unit, output, p);
}

static void leaveWhole(Rounds *rounds, uint32_t unit, bool output, uint32_t port) {
  bool *divided = dividedPort(rounds, unit, output, port);
  rounds->changed |= *divided;
  *divided = false;
}

static void leaveUnitWhole(Rounds *rounds, uint32_t u) {
  for (uint32_t p = 0; p < rounds->section->units[u].input_count; ++p)
    leaveWhole(rounds, u, false, p);
  for (uint32_t p = 0; p < rounds->section->units[u].output_count; ++p)
    leaveWhole(rounds, u, true, p);
}

/* Is a port left whole that this unit cannot have beside divided ones? */
static bool mustBeWhole(const Rounds *rounds, uint32_t u) {
  const SambaUnit *unit = &rounds->section->units[u];
  bool resident = unit->kind == SAMBA_UNIT_BUFFER && isResident(unit);
  if (resident)
    return false; /* its reads go on without each other, and without writes */
  for (uint32_t p = 0; p < unit->input_count; ++p)
    if (!*dividedPort(rounds, u, false, p) &&
        (unit->kind != SAMBA_UNIT_COMPUTE || !isHeld(rounds, unit, p)))
      return true;
  for (uint32_t p = 0; p < unit->output_count; ++p)
    if (!*dividedPort(rounds, u, true, p))
      return true;
  return false;
}

/* Both ends of a stream pass its tokens in the same round. */
static void joinEnds(Rounds *rounds, const SambaStream *stream) {
  bool whole = !*dividedPort(rounds, stream->source.unit, true, stream->source.port);
  for (uint32_t d = 0; d < stream->destination_count; ++d)
    whole |=
        !*dividedPort(rounds, stream->destinations[d].unit, false, stream->destinations[d].port);
  if (!whole)
    return;
  leaveWhole(rounds, stream->source.unit, true, stream->source.port);
  for (uint32_t d = 0; d < stream->destination_count; ++d)
    leaveWhole(rounds, stream->destinations[d].unit, false, stream->destinations[d].port);
}

/* Which ports can be divided into so many rounds. Returns the vectors, about, that one of them is
 * shorter by. */
static double findDivided(Rounds *rounds, uint32_t port_count) {
  const SambaSection *section = rounds->section;
  memset(rounds->divided, true, port_count);
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    if (!canDivideUnit(rounds, unit)) {
      leaveUnitWhole(rounds, u);
      continue;
    }
    for (uint32_t p = 0; p < unit->input_count; ++p)
      if (!canDividePort(rounds, unit, false, p))
        leaveWhole(rounds, u, false, p);
    for (uint32_t p = 0; p < unit->output_count; ++p)
      if (!canDividePort(rounds, unit, true, p))
        leaveWhole(rounds, u, true, p);
  }

  for (rounds->changed = true; rounds->changed;) {
    rounds->changed = false;
    for (uint32_t s = 0; s < section->stream_count; ++s)
      joinEnds(rounds, &section->streams[s]);
    for (uint32_t u = 0; u < section->unit_count; ++u)
      if (mustBeWhole(rounds, u))
        leaveUnitWhole(rounds, u);
  }

  double saved = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].input_count; ++p)
      if (*dividedPort(rounds, u, false, p))
        saved += (double)sambaPortTokens(&section->units[u], false, p) *
                 (double)section->units[u].inputs[p].token_elements * (1 - 1.0 / rounds->count);
  return saved;
}

static void dividePorts(const Rounds *rounds, uint32_t u, bool output, SambaArena *arena,
                        SambaUnit *unit) {
  uint32_t count = output ? unit->output_count : unit->input_count;
  SambaPort **ports = output ? &unit->outputs : &unit->inputs;
  *ports = sambaArenaCopy(arena, *ports, count * sizeof **ports);
  for (uint32_t p = 0; p < count; ++p) {
    SambaAccess *access = &(*ports)[p].access;
    if (!sambaPortHasAccess(unit, output, p) || !*dividedPort(rounds, u, output, p))
      continue;
    uint32_t *trips =
        sambaArenaCopy(arena, access->trips, access->counter_count * sizeof *access->trips);
    divide(access->trips, 0, access->token_level, rounds->count, trips);
    access->trips = trips;
  }
}

static void makeFirst(const Rounds *rounds, SambaArena *arena, SambaSection *first) {
  *first = *rounds->section;
  first->units = sambaArenaCopy(arena, first->units, first->unit_count * sizeof *first->units);
  for (uint32_t u = 0; u < first->unit_count; ++u) {
    SambaUnit *unit = &first->units[u];
    bool any = false;
    for (uint32_t p = 0; p < unit->input_count; ++p)
      any |= *dividedPort(rounds, u, false, p);
    for (uint32_t p = 0; p < unit->output_count; ++p)
      any |= *dividedPort(rounds, u, true, p);
    if (!any)
      continue;
    if (unit->kind == SAMBA_UNIT_COMPUTE) {
      SambaCompute *compute = &unit->compute;
      uint32_t *trips =
          sambaArenaCopy(arena, compute->trips, compute->counter_count * sizeof *compute->trips);
      divide(compute->trips, 0, compute->token_level, rounds->count, trips);
      compute->trips = trips;
    } else {
      dividePorts(rounds, u, false, arena, unit);
      dividePorts(rounds, u, true, arena, unit);
    }
  }
}

static int compareDown(const void *a, const void *b) {
  uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
  return first > second ? -1 : first < second;
}

/* Numbers of rounds into which the firings of PCUs could be divided, the largest first. */
static uint32_t *candidates(const SambaSection *section, uint32_t *out_count) {
  SAMBA_ARRAY(uint32_t) found = {0};
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    uint64_t product = 1;
    for (uint32_t c = 0; unit->kind == SAMBA_UNIT_COMPUTE && c < unit->compute.token_level; ++c) {
      product *= unit->compute.trips[c];
      if (product > UINT32_MAX)
        break;
      bool known = product < 2;
      for (size_t i = 0; i < found.size && !known; ++i)
        known = found.data[i] == product;
      if (!known && found.size < 64)
        sambaArrayAppend(&found, (uint32_t)product);
    }
  }
  if (found.size)
    qsort(found.data, found.size, sizeof *found.data, compareDown);
  *out_count = (uint32_t)found.size;
  return found.data;
}

bool sambaProgressFirstRound(const SambaSection *section, SambaArena *arena,
                             SambaSection *out_first) {
  Rounds rounds = {.section = section};
  uint32_t ports = 0, tries, best = 0;
  rounds.port_first = SAMBA_ARENA_ARRAY(arena, uint32_t, section->unit_count);
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    rounds.port_first[u] = ports;
    ports += section->units[u].input_count + section->units[u].output_count;
  }
  rounds.divided = SAMBA_ARENA_ARRAY(arena, bool, ports);

  uint32_t *counts = candidates(section, &tries);
  double most = 0;
  for (uint32_t i = 0; i < tries && i < mostTries; ++i) {
    rounds.count = counts[i];
    double saved = findDivided(&rounds, ports);
    if (saved > most)
      most = saved, best = counts[i];
  }
  free(counts);
  if (!best)
    return false;

  rounds.count = best;
  findDivided(&rounds, ports);
  makeFirst(&rounds, arena, out_first);
  return true;
}
