/* Ways of streams; see routes.h. */
#include "backend/section/fabric/routes.h"

#include "backend/section/access.h"

#include <string.h>

static SambaSwitchPort oppositePort(SambaSwitchPort port) {
  static const SambaSwitchPort opposite[] = {SAMBA_SWITCH_SOUTH, SAMBA_SWITCH_WEST,
                                             SAMBA_SWITCH_NORTH, SAMBA_SWITCH_EAST};
  return opposite[port];
}

static void stepThrough(SambaSwitchPort port, int32_t *x, int32_t *y) {
  *x += (port == SAMBA_SWITCH_EAST) - (port == SAMBA_SWITCH_WEST);
  *y += (port == SAMBA_SWITCH_SOUTH) - (port == SAMBA_SWITCH_NORTH);
}

/* Whether one hop leads to another. */
static bool leadsTo(const SambaHop *hop, const SambaHop *next) {
  if (hop->out.port >= SAMBA_SWITCH_UNIT || next->in.lane != hop->out.lane ||
      next->in.flow != hop->out.flow ||
      next->in.port != oppositePort((SambaSwitchPort)hop->out.port))
    return false;
  int32_t x = hop->x;
  int32_t y = hop->y;
  stepThrough((SambaSwitchPort)hop->out.port, &x, &y);
  return x == next->x && y == next->y;
}

/* The hop that leads to each hop. Hops are a tree in depth-first order: what leads to a hop comes
 * before it, nearly always at once, else before the branches that are done. */
static void joinHops(const SambaStream *stream, uint32_t *before) {
  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    const SambaHop *hop = &stream->hops[h];
    uint32_t from = hop->in.port < SAMBA_SWITCH_UNIT ? h : 0;
    while (from > 0 && !leadsTo(&stream->hops[from - 1], hop))
      --from;
    before[h] = from ? from - 1 : SAMBA_NO_INDEX;
  }
}

static bool endsAt(const SambaHop *hop, const SambaUnit *unit) {
  if (hop->out.port == SAMBA_SWITCH_AG)
    return sambaUnitIsAddressGenerator(unit) && hop->out.ag == unit->load_store.ag;
  return hop->out.port == SAMBA_SWITCH_UNIT && !sambaUnitIsAddressGenerator(unit) &&
         hop->x == unit->x && hop->y == unit->y;
}

/* Of several destinations at one unit the i-th gets the i-th hop that ends there. */
static void joinDestinations(const SambaSection *section, const SambaStream *stream, bool *used,
                             uint32_t *ends) {
  uint32_t first = 0; /* all hops before it lead on or are used */
  memset(used, 0, stream->hop_count);
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    const SambaUnit *unit = &section->units[stream->destinations[d].unit];
    while (first < stream->hop_count &&
           (used[first] || stream->hops[first].out.port < SAMBA_SWITCH_UNIT))
      ++first;
    uint32_t h = first;
    while (h < stream->hop_count && (used[h] || !endsAt(&stream->hops[h], unit)))
      ++h;
    ends[d] = h < stream->hop_count ? h : SAMBA_NO_INDEX;
    if (h < stream->hop_count)
      used[h] = true;
  }
}

/* When a hop is blocked, those before it are soon as well, with all that branches off there. So
 * the nearest destination behind any of them is the first that has nothing left. */
static void findSpares(SambaRoutes *routes, const SambaStream *stream) {
  uint32_t *spare = routes->spare; /* at first: those behind the hop, to the nearest destination */
  for (uint32_t h = 0; h < stream->hop_count; ++h)
    spare[h] = UINT32_MAX;
  for (uint32_t d = 0; d < stream->destination_count; ++d)
    if (routes->ends[d] != SAMBA_NO_INDEX)
      spare[routes->ends[d]] = 1;
  for (uint32_t h = stream->hop_count; h-- > 0;) {
    uint32_t before = routes->before[h];
    if (before != SAMBA_NO_INDEX && spare[h] < spare[before] - 1)
      spare[before] = spare[h] + 1;
  }
  for (uint32_t h = 0; h < stream->hop_count; ++h)
    if (routes->before[h] != SAMBA_NO_INDEX && spare[routes->before[h]] < spare[h])
      spare[h] = spare[routes->before[h]];
}

static void findRoutes(SambaRoutes *routes, const SambaMachine *machine,
                       const SambaSection *section, const SambaStream *stream, bool *used) {
  joinHops(stream, routes->before);
  joinDestinations(section, stream, used, routes->ends);

  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    const SambaHop *hop = &stream->hops[h];
    uint32_t before = routes->before[h];
    int32_t x = hop->x;
    int32_t y = hop->y;
    if (hop->out.port < SAMBA_SWITCH_UNIT)
      stepThrough((SambaSwitchPort)hop->out.port, &x, &y);
    bool follows = before != SAMBA_NO_INDEX;
    routes->cycles[h] = (follows ? routes->cycles[before] : 0) +
                        (uint64_t)sambaMachineHopCycles(machine, hop->x, hop->y, x, y);
    routes->switches[h] = (follows ? routes->switches[before] : 0) + 1;
  }
  findSpares(routes, stream);
}

SambaRoutes *sambaRoutesFind(const SambaMachine *machine, const SambaSection *section,
                             SambaArena *arena) {
  size_t hops = 0, destinations = 0, most = 0;
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    hops += stream->hop_count;
    destinations += stream->destination_count;
    most = stream->hop_count > most ? stream->hop_count : most;
  }

  SambaRoutes *routes = SAMBA_ARENA_ARRAY(arena, SambaRoutes, section->stream_count);
  SambaRoutes next = {.before = SAMBA_ARENA_ARRAY(arena, uint32_t, hops),
                      .cycles = SAMBA_ARENA_ARRAY(arena, uint64_t, hops),
                      .switches = SAMBA_ARENA_ARRAY(arena, uint32_t, hops),
                      .spare = SAMBA_ARENA_ARRAY(arena, uint32_t, hops),
                      .ends = SAMBA_ARENA_ARRAY(arena, uint32_t, destinations)};
  bool *used = SAMBA_ARENA_ARRAY(arena, bool, most);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    routes[s] = next;
    findRoutes(&routes[s], machine, section, stream, used);
    next.before += stream->hop_count;
    next.cycles += stream->hop_count;
    next.switches += stream->hop_count;
    next.spare += stream->hop_count;
    next.ends += stream->destination_count;
  }
  return routes;
}
