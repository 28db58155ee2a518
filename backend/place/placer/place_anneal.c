/* Placement, the refinement: simulated annealing of moves and swaps between slots of one class.
 *
 * Starts at a low temperature, since the first placement is good already. Integers and a fixed seed
 * only: the result is the same on every host. A move costs the nets of at most two units; a
 * bounding box is recounted only when a unit that lay on its border leaves. */
#include "backend/place/placer/placement.h"

#include <string.h>

enum {
  SMALL = 48
}; /* units; chance weighs more in small sections, where another try costs little */

typedef struct {
  SambaPlacement *p;
  SambaPlacementBox *boxes; /* per net, current */
  SambaPlacementBox *next;  /* per touched net of the move under trial */
  uint32_t *touched;
  uint32_t touched_count;
  uint32_t *stamp; /* per net: the trial that touched it, twice for both units */
  uint32_t trial;
  uint64_t random;
} Annealer;

static uint32_t nextRandom(Annealer *a) {
  a->random ^= a->random << 13;
  a->random ^= a->random >> 7;
  a->random ^= a->random << 17;
  return (uint32_t)(a->random >> 32);
}
static uint32_t randomBelow(Annealer *a, uint32_t bound) {
  return (uint32_t)((uint64_t)nextRandom(a) * bound >> 32);
}

/* -log2 of a uniform number in (0, 1], 16 fraction bits, straight lines between powers of two. */
static int64_t randomLog(Annealer *a) {
  uint32_t r = nextRandom(a) | 1;
  int bits = 31 - __builtin_clz(r);
  uint32_t mantissa = bits ? (uint32_t)((uint64_t)(r - (1u << bits)) << 16 >> bits) : 0;
  return ((int64_t)(32 - bits) << 16) - mantissa;
}

static SambaPlacementBox boxAfter(const SambaPlacement *p, uint32_t net, SambaPlacementBox box,
                                  int32_t old_x, int32_t old_y, int32_t x, int32_t y) {
  /* A border that the unit lay on and has not passed outwards may be another's now. */
  if ((old_x <= box.x0 && x > box.x0) || (old_x >= box.x1 && x < box.x1) ||
      (old_y <= box.y0 && y > box.y0) || (old_y >= box.y1 && y < box.y1))
    return sambaPlacementBox(p, net);
  box.x0 = x < box.x0 ? x : box.x0;
  box.x1 = x > box.x1 ? x : box.x1;
  box.y0 = y < box.y0 ? y : box.y0;
  box.y1 = y > box.y1 ? y : box.y1;
  return box;
}

/* Cost change over the nets of `unit`, which has already moved from (oldX, oldY); a net of both
 * units of a swap keeps its box. */
static int64_t touchNets(Annealer *a, uint32_t unit, uint32_t other, int32_t old_x, int32_t old_y) {
  SambaPlacement *p = a->p;
  int64_t delta = 0;
  for (uint32_t i = p->unit_net_start[unit]; i < p->unit_net_start[unit + 1]; ++i) {
    uint32_t net = p->unit_nets[i];
    if (other != SAMBA_NO_INDEX && a->stamp[net] == a->trial)
      continue;
    SambaPlacementBox box =
        boxAfter(p, net, a->boxes[net], old_x, old_y, p->unit_x[unit], p->unit_y[unit]);
    delta += sambaPlacementBoxCost(p, net, box) - sambaPlacementBoxCost(p, net, a->boxes[net]);
    a->next[a->touched_count] = box;
    a->touched[a->touched_count++] = net;
  }
  return delta;
}

/* Nets that both units share get the current trial's stamp, so that touchNets leaves them out. */
static void stampShared(Annealer *a, uint32_t unit, uint32_t other) {
  const SambaPlacement *p = a->p;
  a->trial += 2;
  for (uint32_t i = p->unit_net_start[unit]; i < p->unit_net_start[unit + 1]; ++i)
    a->stamp[p->unit_nets[i]] = a->trial - 1;
  for (uint32_t i = p->unit_net_start[other]; i < p->unit_net_start[other + 1]; ++i)
    if (a->stamp[p->unit_nets[i]] == a->trial - 1)
      a->stamp[p->unit_nets[i]] = a->trial;
}

static void exchange(SambaPlacement *p, uint32_t unit, uint32_t from, uint32_t other, uint32_t to) {
  p->occupant[from] = SAMBA_NO_INDEX;
  sambaPlacementSet(p, unit, to);
  if (other != SAMBA_NO_INDEX)
    sambaPlacementSet(p, other, from);
}

/* The coordinate, moved into [0, count). */
static int32_t clampTo(int32_t coordinate, int32_t count) {
  if (coordinate < 0)
    return 0;
  return coordinate < count ? coordinate : count - 1;
}

static uint32_t pickTarget(Annealer *a, uint32_t from, SambaSlotClass class, int32_t window) {
  SambaPlacement *p = a->p;
  if (class == SAMBA_SLOT_AG) {
    uint32_t ags = p->slot_count - p->site_count;
    uint32_t reach = 2 * (uint32_t)window + 1 < ags ? 2 * (uint32_t)window + 1 : ags;
    return p->site_count + (from - p->site_count + ags - reach / 2 + randomBelow(a, reach)) % ags;
  }

  int32_t x;
  int32_t y;
  int32_t span = 2 * window + 1;

  sambaPlacementSwitch(p, from, &x, &y);
  int32_t new_x = x + (int32_t)randomBelow(a, (uint32_t)span) - window;
  int32_t new_y = y + (int32_t)randomBelow(a, (uint32_t)span) - window;
  new_x = clampTo(new_x, p->width);
  new_y = clampTo(new_y, p->height);
  if (((new_x ^ new_y ^ x ^ y) & 1) != 0) /* the other kind of site: its neighbour in the row */
    new_x += new_x + 1 < p->width ? 1 : -1;
  return (uint32_t)new_y * (uint32_t)p->width + (uint32_t)new_x;
}

/* Tries one exchange; keeps it when the cost change is below the temperature's random bound. */
static int64_t tryMove(Annealer *a, uint32_t unit, int32_t window, int64_t temperature) {
  SambaPlacement *p = a->p;
  uint32_t from = p->unit_slot[unit];
  uint32_t to = pickTarget(a, from, p->unit_class[unit], window);
  uint32_t other = p->occupant[to];
  if (to == from || (other != SAMBA_NO_INDEX && p->unit_fixed[other]))
    return 0;
  int32_t x = p->unit_x[unit];
  int32_t y = p->unit_y[unit];

  if (other != SAMBA_NO_INDEX)
    stampShared(a, unit, other);
  exchange(p, unit, from, other, to);
  a->touched_count = 0;
  int64_t delta = touchNets(a, unit, other, x, y);
  if (other != SAMBA_NO_INDEX)
    delta += touchNets(a, other, unit, p->unit_x[unit], p->unit_y[unit]);
  if (delta > 0 && delta > (temperature * randomLog(a)) >> 16) {
    p->occupant[to] = SAMBA_NO_INDEX;
    sambaPlacementSet(p, unit, from);
    if (other != SAMBA_NO_INDEX)
      sambaPlacementSet(p, other, to);
    return 0;
  }

  for (uint32_t i = 0; i < a->touched_count; ++i)
    a->boxes[a->touched[i]] = a->next[i];
  return delta;
}

/* Puts units where `slots` says. */
static void restore(Annealer *a, const uint32_t *slots) {
  SambaPlacement *p = a->p;
  for (uint32_t u = 0; u < p->unit_count; ++u)
    p->occupant[p->unit_slot[u]] = SAMBA_NO_INDEX;
  for (uint32_t u = 0; u < p->unit_count; ++u)
    sambaPlacementSet(p, u, slots[u]);
  for (uint32_t net = 0; net < p->net_count; ++net)
    a->boxes[net] = sambaPlacementBox(p, net);
}

/* One cooling from a temperature that the mean share of a unit in the cost sets, to zero. Returns
 * the new cost. */
static int64_t cool(Annealer *a, const uint32_t *units, uint32_t movable, int64_t cost) {
  enum { STAGES = 24, FEWEST_MOVES = 1200 };
  uint64_t moves =
      (uint64_t)movable * (movable <= SMALL ? 80 : 200 + (movable < 200 ? movable : 200));
  moves = (moves > FEWEST_MOVES ? moves : FEWEST_MOVES) / STAGES;
  int64_t temperature = cost * 2 / movable / 3;
  uint32_t span = 4;

  while (span * span < movable * 2)
    ++span;
  for (int stage = 0; stage < STAGES; ++stage) {
    int32_t window = 2 + (int32_t)(span * (uint32_t)(STAGES - stage) / STAGES / 2);
    if (stage == STAGES - 1)
      temperature = 0;
    for (uint64_t i = 0; i < moves; ++i)
      cost += tryMove(a, units[randomBelow(a, movable)], window, temperature);
    temperature = temperature * 13 / 16;
  }

  return cost;
}

void sambaPlacementAnneal(SambaPlacement *p, SambaArena *arena) {
  uint32_t movable = 0;
  uint32_t *units = SAMBA_ARENA_ARRAY(arena, uint32_t, p->unit_count);
  uint32_t most_nets = 0;

  for (uint32_t u = 0; u < p->unit_count; ++u) {
    uint32_t nets = p->unit_net_start[u + 1] - p->unit_net_start[u];
    most_nets = nets > most_nets ? nets : most_nets;
    if (!p->unit_fixed[u] && nets)
      units[movable++] = u;
  }

  if (!movable)
    return;
  Annealer a = {.p = p, .random = 0x9e3779b97f4a7c15u};
  a.boxes = SAMBA_ARENA_ARRAY(arena, SambaPlacementBox, p->net_count);
  a.next = SAMBA_ARENA_ARRAY(arena, SambaPlacementBox, 2 * (size_t)most_nets);
  a.touched = SAMBA_ARENA_ARRAY(arena, uint32_t, 2 * (size_t)most_nets);
  a.stamp = SAMBA_ARENA_ARRAY(arena, uint32_t, p->net_count);
  int64_t best = 0;

  for (uint32_t net = 0; net < p->net_count; ++net) {
    a.boxes[net] = sambaPlacementBox(p, net);
    best += sambaPlacementBoxCost(p, net, a.boxes[net]);
  }

  uint32_t *slots = sambaArenaCopy(arena, p->unit_slot, p->unit_count * sizeof *slots);
  for (int tries = movable <= SMALL ? 3 : 1; tries > 0; --tries) {
    int64_t cost = cool(&a, units, movable, best);
    if (cost > best) {
      restore(&a, slots);
      continue;
    }
    best = cost;
    memcpy(slots, p->unit_slot, p->unit_count * sizeof *slots);
  }
}
