/* Joining passes. On the chip one firing of a systolic unit is one pass of its array, so tokens are
 * small and many. Here consecutive firings become one, by moving the innermost counters before
 * token_level to its other side, in every unit at once.
 *
 * All ports that streams connect see their tokens joined by one factor, or one end would wait for
 * half a token. The factors start as large as limits allow and are lowered until all units agree;
 * that gives the largest ones, since a lower bound of one unit never raises that of another.
 *
 * Larger tokens must not make the network wait for itself:
 *  - a token never spans two slots of a buffer, so whatever goes round through a buffer that starts
 * full keeps its order slot by slot;
 *  - streams of other circles, as when a store's control token starts a load, are not joined.
 * All other circles of waiting go through queues, which hold more than before. */
#include "backend/sim/value/network/join_passes.h"

#include "backend/section/access.h"
#include "backend/sim/value/network/join_section.h"
#include "backend/sim/value/network/views.h"

#include <stdlib.h>

const SambaJoinLimits sambaJoinLimits = {
    .macs = UINT64_C(1) << 24, .points = UINT64_C(1) << 16, .token_bytes = UINT64_C(1) << 18};

/* Ports are numbered through, inputs before outputs, unit by unit. Those that streams connect are
 * in one class. */
typedef struct Joiner {
  const SambaSection *section;
  const SambaJoinLimits *limits;
  SambaArena *arena;
  uint32_t *first_port; /* per unit */
  uint32_t *leader;     /* per port, on the way to its class's first port */
  uint64_t *bound;      /* per class: no larger factor is possible */
  SambaCuts cuts;
  bool changed; /* a bound was lowered */
} Joiner;

static uint32_t portOf(const Joiner *joiner, uint32_t unit, bool output, uint32_t port) {
  return joiner->first_port[unit] + port + (output ? joiner->section->units[unit].input_count : 0);
}

static uint32_t classOf(Joiner *joiner, uint32_t port) {
  while (joiner->leader[port] != port) {
    joiner->leader[port] = joiner->leader[joiner->leader[port]];
    port = joiner->leader[port];
  }
  return port;
}

static uint64_t *boundOf(Joiner *joiner, uint32_t unit, bool output, uint32_t port) {
  return &joiner->bound[classOf(joiner, portOf(joiner, unit, output, port))];
}

static void lower(Joiner *joiner, uint64_t *bound, uint64_t factor) {
  if (factor >= *bound)
    return;
  *bound = factor;
  joiner->changed = true;
}

static bool isView(const Joiner *joiner, const SambaSection *section, uint32_t unit,
                   uint32_t port) {
  SambaBlockLayout layout;
  return sambaOutputIsView(joiner->arena, section, unit, port, &layout);
}

/*===-- Bounds to begin with ------------------------------------------------------------------===*/

static void makeClasses(Joiner *joiner) {
  const SambaSection *section = joiner->section;
  uint32_t ports = 0;
  joiner->first_port = SAMBA_ARENA_ARRAY(joiner->arena, uint32_t, section->unit_count);
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    joiner->first_port[u] = ports;
    ports += section->units[u].input_count + section->units[u].output_count;
  }

  joiner->leader = SAMBA_ARENA_ARRAY(joiner->arena, uint32_t, ports);
  joiner->bound = SAMBA_ARENA_ARRAY(joiner->arena, uint64_t, ports);
  for (uint32_t p = 0; p < ports; ++p)
    joiner->leader[p] = p, joiner->bound[p] = UINT64_MAX;

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    uint32_t source =
        classOf(joiner, portOf(joiner, stream->source.unit, true, stream->source.port));
    for (uint32_t d = 0; d < stream->destination_count; ++d) {
      SambaEndpoint end = stream->destinations[d];
      joiner->leader[classOf(joiner, portOf(joiner, end.unit, false, end.port))] = source;
    }
  }
}

/* Removes units, again and again, that no other one waits for or that wait for no other one. What
 * is left are circles, and units between two of them. */
static uint8_t *findCircles(const Joiner *joiner) {
  const SambaSection *section = joiner->section;
  uint8_t *circle = SAMBA_ARENA_ARRAY(joiner->arena, uint8_t, section->unit_count);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    circle[u] =
        section->units[u].kind != SAMBA_UNIT_BUFFER || !section->units[u].buffer.loop_carried;
  uint8_t *feeds = SAMBA_ARENA_ARRAY(joiner->arena, uint8_t, section->unit_count);
  uint8_t *fed = SAMBA_ARENA_ARRAY(joiner->arena, uint8_t, section->unit_count);

  for (bool removed = true; removed;) {
    removed = false;
    for (uint32_t u = 0; u < section->unit_count; ++u)
      feeds[u] = fed[u] = 0;
    for (uint32_t s = 0; s < section->stream_count; ++s) {
      const SambaStream *stream = &section->streams[s];
      for (uint32_t d = 0; d < stream->destination_count; ++d) {
        uint32_t to = stream->destinations[d].unit;
        fed[to] |= circle[stream->source.unit];
        feeds[stream->source.unit] |= circle[to];
      }
    }
    for (uint32_t u = 0; u < section->unit_count; ++u)
      if (circle[u] && !(fed[u] && feeds[u]))
        circle[u] = 0, removed = true;
  }
  return circle;
}

static void boundCircles(Joiner *joiner) {
  const SambaSection *section = joiner->section;
  const uint8_t *circle = findCircles(joiner);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    bool inside = false;
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      inside |= circle[stream->destinations[d].unit];
    if (inside && circle[stream->source.unit])
      *boundOf(joiner, stream->source.unit, true, stream->source.port) = 1;
  }
}

/* Tokens that views of slots stand for are as large as they like. */
static void boundTokens(Joiner *joiner) {
  for (uint32_t u = 0; u < joiner->section->unit_count; ++u) {
    const SambaUnit *unit = &joiner->section->units[u];
    for (uint32_t p = 0; p < unit->output_count; ++p) {
      const SambaPort *port = &unit->outputs[p];
      uint64_t bytes = 4 * port->token_elements;
      if (!bytes || isView(joiner, joiner->section, u, p))
        continue;
      uint64_t factor = joiner->limits->token_bytes / bytes;
      lower(joiner, boundOf(joiner, u, true, p), factor ? factor : 1);
    }
  }
}

/*===-- Units agree ---------------------------------------------------------------------------===*/

/* A chain whose counters from `from` on may move. */
typedef struct Search {
  Joiner *joiner;
  uint32_t unit;
  const uint32_t *trips;
  uint32_t from, level;
  uint64_t most; /* steps, at most */
  bool (*accepts)(const struct Search *search, SambaCut cut);
  const SambaPort *port; /* of a buffer */
  uint64_t *bound;       /* of that port */
} Search;

/* The cut that moves the most steps of those that are accepted; with a cut, every smaller one
 * would be. */
static SambaCut findCut(const Search *search) {
  SambaCut best = {search->level, 1};
  uint64_t steps = 1;

  for (uint32_t c = search->level; c-- > search->from;) {
    const uint32_t trip = search->trips[c];
    SambaCut whole = {c, trip};
    if (trip <= search->most / steps && search->accepts(search, whole)) {
      best = whole;
      steps *= trip;
      continue;
    }
    uint64_t part = search->most / steps < trip ? search->most / steps : trip - 1;
    for (; part > 1; --part)
      if (trip % part == 0 && search->accepts(search, (SambaCut){c, (uint32_t)part}))
        return (SambaCut){c, (uint32_t)part};
    break;
  }

  return best;
}

static bool acceptsSteps(const Search *search, SambaCut cut) {
  return sambaCutSteps(search->trips, cut, search->level) <= *search->bound;
}

static bool canSplit(const SambaUnit *unit, SambaCut cut) {
  const SambaCompute *compute = &unit->compute;
  if (cut.part == compute->trips[cut.first])
    return true;
  if (compute->counter_count == SAMBA_MAX_COUNTERS)
    return false;
  for (uint32_t i = 0; i < compute->program.op_count; ++i)
    if (compute->program.ops[i].opcode == SAMBA_LANE_COUNTER &&
        compute->program.ops[i].immediate == cut.first)
      return false;
  return true;
}

static bool acceptsFirings(const Search *search, SambaCut cut) {
  const SambaUnit *unit = &search->joiner->section->units[search->unit];
  if (!canSplit(unit, cut))
    return false;
  for (uint32_t i = 0; i < unit->input_count + unit->output_count; ++i) {
    bool output = i >= unit->input_count;
    uint32_t p = output ? i - unit->input_count : i;
    const SambaPort *port = output ? &unit->outputs[p] : &unit->inputs[p];
    if (sambaCutSteps(search->trips, cut, port->compute.level) >
        *boundOf(search->joiner, search->unit, output, p))
      return false;
  }
  return true;
}

static void joinComputeUnit(Joiner *joiner, uint32_t u) {
  const SambaUnit *unit = &joiner->section->units[u];
  const SambaCompute *compute = &unit->compute;
  uint64_t points = sambaTripProduct(compute->trips, compute->token_level, compute->counter_count);
  uint64_t limit = compute->program.systolic ? joiner->limits->macs : joiner->limits->points;
  Search search = {.joiner = joiner,
                   .unit = u,
                   .trips = compute->trips,
                   .level = compute->token_level,
                   .most = limit > points ? limit / points : 1,
                   .accepts = acceptsFirings};
  SambaCut cut = joiner->cuts.units[u] = findCut(&search);

  for (uint32_t i = 0; i < unit->input_count; ++i)
    lower(joiner, boundOf(joiner, u, false, i),
          sambaCutSteps(compute->trips, cut, unit->inputs[i].compute.level));
  for (uint32_t i = 0; i < unit->output_count; ++i)
    lower(joiner, boundOf(joiner, u, true, i),
          sambaCutSteps(compute->trips, cut, unit->outputs[i].compute.level));
}

static SambaCut joinAccess(Joiner *joiner, const SambaAccess *access, uint64_t *bound) {
  Search search = {.joiner = joiner,
                   .trips = access->trips,
                   .from = access->slot_level,
                   .level = access->token_level,
                   .most = *bound,
                   .accepts = acceptsSteps,
                   .bound = bound};
  if (access->counter_count == SAMBA_MAX_COUNTERS)
    return (SambaCut){access->token_level, 1};
  SambaCut cut = findCut(&search);
  lower(joiner, bound, sambaCutSteps(access->trips, cut, access->token_level));
  return cut;
}

static void joinLoadStoreUnit(Joiner *joiner, uint32_t u) {
  const SambaUnit *unit = &joiner->section->units[u];
  const SambaAccess *access = sambaMemoryAccess(unit);
  uint64_t bound = UINT64_MAX;
  for (uint32_t i = 0; i < unit->input_count; ++i)
    bound = *boundOf(joiner, u, false, i) < bound ? *boundOf(joiner, u, false, i) : bound;
  for (uint32_t i = 0; i < unit->output_count; ++i)
    bound = *boundOf(joiner, u, true, i) < bound ? *boundOf(joiner, u, true, i) : bound;

  joiner->cuts.units[u] = joinAccess(joiner, access, &bound);
  for (uint32_t i = 0; i < unit->input_count; ++i)
    lower(joiner, boundOf(joiner, u, false, i), bound);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    lower(joiner, boundOf(joiner, u, true, i), bound);
}

static void joinBufferUnit(Joiner *joiner, uint32_t u) {
  const SambaUnit *unit = &joiner->section->units[u];
  for (uint32_t i = 0; i < unit->input_count; ++i)
    joiner->cuts.ports[u][i] =
        joinAccess(joiner, &unit->inputs[i].access, boundOf(joiner, u, false, i));
  for (uint32_t i = 0; i < unit->output_count; ++i)
    joiner->cuts.ports[u][unit->input_count + i] =
        joinAccess(joiner, &unit->outputs[i].access, boundOf(joiner, u, true, i));
}

/* A port with several streams deals and takes whole joined tokens. */
static void joinTurns(Joiner *joiner, const SambaPort *port, uint64_t *bound) {
  if (port->stream_count <= 1)
    return;
  uint64_t factor = port->block < *bound ? port->block : *bound;
  while (factor > 1 && port->block % factor)
    --factor;
  lower(joiner, bound, factor ? factor : 1);
}

static void agree(Joiner *joiner) {
  const SambaSection *section = joiner->section;
  for (joiner->changed = true; joiner->changed;) {
    joiner->changed = false;
    for (uint32_t u = 0; u < section->unit_count; ++u) {
      const SambaUnit *unit = &section->units[u];
      for (uint32_t i = 0; i < unit->input_count; ++i)
        joinTurns(joiner, &unit->inputs[i], boundOf(joiner, u, false, i));
      for (uint32_t i = 0; i < unit->output_count; ++i)
        joinTurns(joiner, &unit->outputs[i], boundOf(joiner, u, true, i));
      if (unit->kind == SAMBA_UNIT_COMPUTE)
        joinComputeUnit(joiner, u);
      else if (unit->kind == SAMBA_UNIT_BUFFER)
        joinBufferUnit(joiner, u);
      else
        joinLoadStoreUnit(joiner, u);
    }
  }
}

/*===-- The joined section --------------------------------------------------------------------===*/

/* What was read in place must still be: copies of repeated elements cost more than joining
 * saves. */
static bool keepsViews(Joiner *joiner, const SambaSection *joined) {
  const SambaSection *section = joiner->section;
  joiner->changed = false;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].output_count; ++p) {
      uint64_t *bound = boundOf(joiner, u, true, p);
      if (*bound > 1 && isView(joiner, section, u, p) && !isView(joiner, joined, u, p))
        lower(joiner, bound, *bound / 2);
    }
  return !joiner->changed;
}

static bool joinsAny(const Joiner *joiner) {
  const SambaSection *section = joiner->section;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    const SambaCut cut = joiner->cuts.units[u];
    if (unit->kind == SAMBA_UNIT_COMPUTE &&
        sambaCutSteps(unit->compute.trips, cut, unit->compute.token_level) > 1)
      return true;
    if (sambaUnitIsAddressGenerator(unit) &&
        sambaCutSteps(sambaMemoryAccess(unit)->trips, cut, sambaMemoryAccess(unit)->token_level) >
            1)
      return true;
  }
  return false;
}

const SambaSection *sambaJoinPasses(SambaArena *arena, const SambaSection *section,
                                    const SambaJoinLimits *limits) {
  SambaArena scratch = {0};
  Joiner joiner = {.section = section, .limits = limits, .arena = &scratch};
  makeClasses(&joiner);
  joiner.cuts.units = SAMBA_ARENA_ARRAY(&scratch, SambaCut, section->unit_count);
  joiner.cuts.ports = SAMBA_ARENA_ARRAY(&scratch, SambaCut *, section->unit_count);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (section->units[u].kind == SAMBA_UNIT_BUFFER)
      joiner.cuts.ports[u] = SAMBA_ARENA_ARRAY(
          &scratch, SambaCut, section->units[u].input_count + section->units[u].output_count);
  boundCircles(&joiner);
  boundTokens(&joiner);

  const SambaSection *joined = NULL;
  while (!joined) {
    agree(&joiner);
    joined = joinsAny(&joiner) ? sambaJoinedSectionCreate(arena, section, &joiner.cuts) : section;
    if (!keepsViews(&joiner, joined))
      joined = NULL;
  }
  sambaArenaDestroy(&scratch);
  return joined;
}
