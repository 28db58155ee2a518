/* Joining passes. On the chip one firing of a systolic unit is one pass of its array, so tokens are
 * small and many. Here consecutive firings become one, by moving the innermost counters before
 * token_level to its other side, in every unit at once.
 *
 * All ports that streams connect see their tokens joined by one factor, or one end would wait for
 * half a token. The factors start as large as limits allow and are lowered until all units agree;
 * that gives the largest ones, since a lower bound of one unit never raises that of another.
 *
 * A port that deals tokens to several streams may do so in larger portions than it was told, when
 * nobody can tell from memory.
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
#include "backend/sim/value/storage/pattern.h"
#include "backend/sim/value/unit/buffer_unit.h"

#include <stdlib.h>

const SambaJoinLimits sambaJoinLimits = {
    .macs = UINT64_C(1) << 24, .points = UINT64_C(1) << 16, .token_bytes = UINT64_C(1) << 18};

/* Ports are numbered through, inputs before outputs, unit by unit. Those that streams connect are
 * in one class. */
typedef struct Joiner {
  const SambaSection *section; /* with divided counters */
  const bool *ordered;
  const SambaJoinLimits *limits;
  SambaArena *arena;
  uint32_t *first_port; /* per unit */
  uint32_t *leader;     /* per port, on the way to its class's first port */
  uint64_t *bound;      /* per class: no larger factor is possible */
  SambaDeal *deals;     /* per port, where aligned */
  SambaCuts cuts;
  bool changed; /* a bound was lowered */
  bool divided; /* counters of a COMPUTE were */
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

/*===-- Deals ---------------------------------------------------------------------------------===*/

typedef struct Visits {
  uint8_t *seen; /* a bit per element of the slot */
  bool twice;
} Visits;

static SambaStatus visitRow(void *user, const SambaRow *row) {
  Visits *visits = user;
  for (uint64_t i = row->low; i < row->high; ++i) {
    uint64_t at = (uint64_t)(row->address + row->stride * (int64_t)i);
    visits->twice |= visits->seen[at / 8] >> at % 8 & 1;
    visits->seen[at / 8] |= (uint8_t)(1u << at % 8);
  }
  return NULL;
}

/* Guards may leave out what would be visited twice, as at the edges of an image: walks the first
 * slot. */
static bool visitsSlotOnce(const SambaAccess *access, uint64_t slot_elements) {
  SambaArena arena = {0};
  const SambaPattern *pattern = sambaPatternCreate(&arena, access);
  SambaOrigin origin = {0, SAMBA_ARENA_ARRAY(&arena, int64_t, access->guard_count)};
  uint32_t *counters = SAMBA_ARENA_ARRAY(&arena, uint32_t, access->token_level);
  Visits visits = {.seen = SAMBA_ARENA_ARRAY(&arena, uint8_t, slot_elements / 8 + 1)};
  uint64_t tokens = sambaTripProduct(access->trips, access->slot_level, access->token_level);

  for (uint64_t t = 0; t < tokens && !visits.twice; ++t) {
    sambaPatternOrigin(pattern, counters, &origin);
    sambaStatusFree(sambaPatternRows(pattern, &origin, NULL, visitRow, &visits));
    sambaCountersStep(counters, access->trips, access->token_level);
  }
  sambaArenaDestroy(&arena);
  return !visits.twice;
}

/* No element of a slot, or of memory, twice: then the order in which they are written does not
 * matter. */
static bool writesOnce(const SambaUnit *unit, const SambaAccess *access) {
  SambaAccessStep steps[SAMBA_MAX_COUNTERS];
  uint32_t count = 0;
  bool slots_alike = unit->kind == SAMBA_UNIT_BUFFER && access->guard_count;
  for (uint32_t c = access->slot_level; c < access->counter_count; ++c)
    if (access->trips[c] > 1)
      steps[count++] = (SambaAccessStep){access->trips[c], access->strides[c]};
  for (uint32_t g = 0; g < access->guard_count; ++g)
    for (uint32_t c = 0; c < access->slot_level; ++c)
      slots_alike &= access->guards[g].strides[c] == 0 && access->strides[c] == 0;
  return sambaStepsVisitOnce(steps, count) ||
         (slots_alike && visitsSlotOnce(access, unit->buffer.slot_elements));
}

/* May the port's tokens pass in another order, as long as those of each stream keep theirs? */
static bool mayReorder(const Joiner *joiner, uint32_t unit, bool output, uint32_t port) {
  const SambaUnit *u = &joiner->section->units[unit];
  if (u->kind == SAMBA_UNIT_COMPUTE || (u->kind == SAMBA_UNIT_BUFFER && u->buffer.in_place))
    return false;
  bool alone = u->input_count + u->output_count == 1;
  if (u->kind != SAMBA_UNIT_BUFFER && (!alone || joiner->ordered[unit]))
    return false;
  return output || writesOnce(u, &u->inputs[port].access);
}

/* A port that deals its tokens to streams one by one gives each of them tokens that are not
 * neighbours: they become so when the counters that step from stream to stream go outside. Divides
 * counters where only parts of them do. */
static void alignDeals(Joiner *joiner, SambaUnit *units) {
  for (uint32_t u = 0; u < joiner->section->unit_count; ++u) {
    SambaUnit *unit = &units[u];
    for (uint32_t i = 0; i < unit->input_count + unit->output_count; ++i) {
      bool output = i >= unit->input_count;
      uint32_t p = output ? i - unit->input_count : i;
      SambaPort *port = output ? &unit->outputs[p] : &unit->inputs[p];
      SambaDeal deal;
      if (port->stream_count > 1 && mayReorder(joiner, u, output, p) &&
          sambaAccessAlignDeal(joiner->arena, port, &port->access, &deal))
        joiner->deals[joiner->first_port[u] + i] = deal;
    }
  }
}

/*===-- Counters that step through views ------------------------------------------------------===*/

/* How many steps of a counter of this stride stay within one dimension of the layout; 0: as many as
 * it has, or not a whole number. */
static uint64_t stepsWithin(const SambaBlockLayout *layout, int64_t stride) {
  uint64_t place = 1;
  for (uint32_t d = layout->rank; d-- > 1;) {
    const uint64_t next = place * layout->trips[d];
    if ((uint64_t)stride < next)
      return (uint64_t)stride % place || next % (uint64_t)stride ? 0 : next / (uint64_t)stride;
    place = next;
  }
  return 0;
}

/* A PMU walks its slot by more counters than a unit has for the elements that come. The unit can
 * read the slot in place if its counters are divided alike. */
static bool divideOnce(Joiner *joiner, SambaUnit *unit) {
  for (uint32_t i = 0; i < unit->input_count; ++i) {
    SambaPort *port = &unit->inputs[i];
    if (port->stream_count == 0)
      continue;
    SambaEndpoint from = joiner->section->streams[port->streams[0]].source;
    const SambaUnit *source = &joiner->section->units[from.unit];
    SambaBlockLayout layout;
    if (source->kind != SAMBA_UNIT_BUFFER ||
        !sambaBufferViewLayout(joiner->arena, &source->outputs[from.port], &layout))
      continue;
    for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c) {
      const int64_t stride = port->compute.strides[c];
      const uint64_t within = stride > 0 ? stepsWithin(&layout, stride) : 0;
      const uint32_t trip = unit->compute.trips[c];
      if (within > 1 && within < trip && trip % within == 0 &&
          sambaComputeDivide(joiner->arena, unit, c, (uint32_t)within))
        return true;
    }
  }
  return false;
}

static void divideCounters(Joiner *joiner, SambaUnit *units) {
  for (uint32_t u = 0; u < joiner->section->unit_count; ++u)
    while (units[u].kind == SAMBA_UNIT_COMPUTE && divideOnce(joiner, &units[u]))
      joiner->divided = true;
}

/* A section of the same meaning whose counters are divided as joining needs them. */
static void divideChains(Joiner *joiner) {
  SambaSection *divided = sambaArenaCopy(joiner->arena, joiner->section, sizeof *divided);
  divided->units =
      sambaArenaCopy(joiner->arena, divided->units, divided->unit_count * sizeof *divided->units);
  for (uint32_t u = 0; u < divided->unit_count; ++u) {
    SambaUnit *unit = &divided->units[u];
    unit->inputs =
        sambaArenaCopy(joiner->arena, unit->inputs, unit->input_count * sizeof *unit->inputs);
    unit->outputs =
        sambaArenaCopy(joiner->arena, unit->outputs, unit->output_count * sizeof *unit->outputs);
  }

  alignDeals(joiner, divided->units);
  divideCounters(joiner, divided->units);
  joiner->section = divided;
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

  joiner->deals = SAMBA_ARENA_ARRAY(joiner->arena, SambaDeal, ports);
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
  SambaDeal deal; /* stays outside */
  uint64_t most;  /* steps, at most */
  bool (*accepts)(const struct Search *search, SambaCut cut);
  const SambaPort *port; /* of a buffer */
  uint64_t *bound;       /* of that port */
} Search;

/* The cut that moves the most steps of those that are accepted; with a cut, every smaller one
 * would be. */
static SambaCut findCut(const Search *search) {
  SambaCut best = {search->level, 1, search->deal};
  uint64_t steps = 1;

  for (uint32_t c = search->level; c-- > search->from;) {
    if (c >= search->deal.begin && c < search->deal.end)
      continue;
    const uint32_t trip = search->trips[c];
    SambaCut whole = {c, trip, search->deal};
    if (trip <= search->most / steps && search->accepts(search, whole)) {
      best = whole;
      steps *= trip;
      continue;
    }
    uint64_t part = search->most / steps < trip ? search->most / steps : trip - 1;
    for (; part > 1; --part)
      if (trip % part == 0 && search->accepts(search, (SambaCut){c, (uint32_t)part, search->deal}))
        return (SambaCut){c, (uint32_t)part, search->deal};
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

static SambaCut joinAccess(Joiner *joiner, const SambaAccess *access, SambaDeal deal,
                           uint64_t *bound) {
  Search search = {.joiner = joiner,
                   .trips = access->trips,
                   .from = access->slot_level,
                   .level = access->token_level,
                   .deal = deal,
                   .most = *bound,
                   .accepts = acceptsSteps,
                   .bound = bound};
  if (access->counter_count == SAMBA_MAX_COUNTERS)
    return (SambaCut){.first = access->token_level, .part = 1};
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

  joiner->cuts.units[u] = joinAccess(joiner, access, joiner->deals[joiner->first_port[u]], &bound);
  for (uint32_t i = 0; i < unit->input_count; ++i)
    lower(joiner, boundOf(joiner, u, false, i), bound);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    lower(joiner, boundOf(joiner, u, true, i), bound);
}

static void joinBufferUnit(Joiner *joiner, uint32_t u) {
  const SambaUnit *unit = &joiner->section->units[u];
  for (uint32_t i = 0; i < unit->input_count; ++i)
    joiner->cuts.ports[u][i] =
        joinAccess(joiner, &unit->inputs[i].access, joiner->deals[portOf(joiner, u, false, i)],
                   boundOf(joiner, u, false, i));
  for (uint32_t i = 0; i < unit->output_count; ++i)
    joiner->cuts.ports[u][unit->input_count + i] =
        joinAccess(joiner, &unit->outputs[i].access, joiner->deals[portOf(joiner, u, true, i)],
                   boundOf(joiner, u, true, i));
}

/* A port whose deal stays as it is deals and takes whole joined tokens. */
static void joinTurns(Joiner *joiner, const SambaPort *port, SambaDeal deal, uint64_t *bound) {
  if (port->stream_count <= 1 || deal.begin < deal.end)
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
        joinTurns(joiner, &unit->inputs[i], joiner->deals[portOf(joiner, u, false, i)],
                  boundOf(joiner, u, false, i));
      for (uint32_t i = 0; i < unit->output_count; ++i)
        joinTurns(joiner, &unit->outputs[i], joiner->deals[portOf(joiner, u, true, i)],
                  boundOf(joiner, u, true, i));
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
                                    const bool *ordered, const SambaJoinLimits *limits,
                                    SambaTokenOrder **out_orders) {
  SambaArena scratch = {0};
  Joiner joiner = {.section = section, .ordered = ordered, .limits = limits, .arena = &scratch};
  makeClasses(&joiner);
  divideChains(&joiner);
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
    joined = joinsAny(&joiner)
                 ? sambaJoinedSectionCreate(arena, joiner.section, &joiner.cuts, out_orders)
                 : section;
    if (!keepsViews(&joiner, joined))
      joined = NULL;
  }
  sambaArenaDestroy(&scratch);
  return joined;
}
