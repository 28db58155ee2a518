/* Ways of streams; see routes.h. */
#include "backend/sim/timing/build/routes.h"

#include "backend/section/access.h"

#include <stdlib.h>

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

/* The hop that leads to each hop. Hops are a tree in depth-first order: what leads to a hop comes
 * before it. */
static void joinHops(const SambaStream *stream, uint32_t *before) {
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
    const Entrance *found = hop->in.port < SAMBA_SWITCH_UNIT && count
                                ? bsearch(&key, entrances, count, sizeof key, compareEntrances)
                                : NULL;
    before[h] = found && found->hop < h ? found->hop : SAMBA_NO_INDEX;
  }
  free(entrances);
}

static bool endsAt(const SambaHop *hop, const SambaUnit *unit) {
  if (hop->out.port == SAMBA_SWITCH_AG)
    return sambaUnitIsAddressGenerator(unit) && hop->out.ag == unit->load_store.ag;
  return hop->out.port == SAMBA_SWITCH_UNIT && !sambaUnitIsAddressGenerator(unit) &&
         hop->x == unit->x && hop->y == unit->y;
}

/* Of several destinations at one unit the i-th gets the i-th hop that ends there. */
static void joinDestinations(const SambaSection *section, const SambaStream *stream,
                             uint32_t *ends) {
  bool *used = sambaAllocateZeroed(stream->hop_count, sizeof *used);
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    const SambaUnit *unit = &section->units[stream->destinations[d].unit];
    uint32_t h = 0;
    while (h < stream->hop_count && (used[h] || !endsAt(&stream->hops[h], unit)))
      ++h;
    ends[d] = h < stream->hop_count ? h : SAMBA_NO_INDEX;
    if (h < stream->hop_count)
      used[h] = true;
  }
  free(used);
}

void sambaRoutesFind(SambaRoutes *routes, const SambaMachine *machine, const SambaSection *section,
                     const SambaStream *stream) {
  routes->before = sambaAllocate(sambaArraySize(stream->hop_count, sizeof *routes->before));
  routes->cycles = sambaAllocate(sambaArraySize(stream->hop_count, sizeof *routes->cycles));
  routes->switches = sambaAllocate(sambaArraySize(stream->hop_count, sizeof *routes->switches));
  routes->ends = sambaAllocate(sambaArraySize(stream->destination_count, sizeof *routes->ends));
  joinHops(stream, routes->before);
  joinDestinations(section, stream, routes->ends);

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
}

void sambaRoutesFree(SambaRoutes *routes) {
  free(routes->before);
  free(routes->cycles);
  free(routes->switches);
  free(routes->ends);
}
