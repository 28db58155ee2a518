/* Placement, the refinement: simulated annealing of moves and swaps between slots of one class.
 *
 * Starts at a low temperature, since the first placement is good already. Integers and a fixed seed
 * only: the result is the same on every host. A move costs the nets of at most two units; a
 * bounding box is recounted only when a unit that lay on its border leaves. */
#include "backend/place/placer/placement.h"

#include <stdlib.h>
#include <string.h>

enum {
  SMALL = 48
}; /* units; chance weighs more in small sections, where another try costs little */

/* A net as the trials see it. */
typedef struct {
  SambaPlacementBox box; /* of several units: around where they are */
  int32_t length;
  uint32_t weight;
  uint32_t pair; /* of two units: both, as their exclusive or; of several: SAMBA_NO_INDEX */
} Net;

/* What becomes of a net with the move under trial. */
typedef struct {
  uint32_t net;
  int32_t length;
  SambaPlacementBox box; /* of several units */
} Touched;

typedef struct {
  SambaPlacement *p;
  Net *nets;
  Touched *touched;
  uint32_t touched_count;
  uint64_t random;
} Annealer;

static uint32_t nextRandom(Annealer *annealer) {
  annealer->random ^= annealer->random << 13;
  annealer->random ^= annealer->random >> 7;
  annealer->random ^= annealer->random << 17;
  return (uint32_t)(annealer->random >> 32);
}
static uint32_t randomBelow(Annealer *annealer, uint32_t bound) {
  return (uint32_t)((uint64_t)nextRandom(annealer) * bound >> 32);
}

/* -log2 of a uniform number in (0, 1], 16 fraction bits, straight lines between powers of two. */
static int64_t randomLog(Annealer *annealer) {
  uint32_t r = nextRandom(annealer) | 1;
  int bits = 31 - __builtin_clz(r);
  uint32_t mantissa = bits ? (uint32_t)((uint64_t)(r - (1u << bits)) << 16 >> bits) : 0;
  return ((int64_t)(32 - bits) << 16) - mantissa;
}

static SambaPlacementBox boxAfter(const SambaPlacement *placement, uint32_t net,
                                  SambaPlacementBox box, int32_t old_x, int32_t old_y, int32_t x,
                                  int32_t y) {
  /* A border that the unit lay on and has not passed outwards may be another's now. */
  if ((old_x <= box.x0 && x > box.x0) || (old_x >= box.x1 && x < box.x1) ||
      (old_y <= box.y0 && y > box.y0) || (old_y >= box.y1 && y < box.y1))
    return sambaPlacementBox(placement, net);
  box.x0 = x < box.x0 ? x : box.x0;
  box.x1 = x > box.x1 ? x : box.x1;
  box.y0 = y < box.y0 ? y : box.y0;
  box.y1 = y > box.y1 ? y : box.y1;
  return box;
}

static bool isInside(SambaPlacementBox box, int32_t x, int32_t y) {
  return x > box.x0 && x < box.x1 && y > box.y0 && y < box.y1;
}

/* Cost change over the nets of `unit`, which has already moved from (old_x, old_y). Units that have
 * changed places leave the nets of both as they are. */
static int64_t touchNets(Annealer *annealer, uint32_t unit, int32_t old_x, int32_t old_y) {
  const SambaPlacement *placement = annealer->p;
  int32_t x = placement->unit_x[unit], y = placement->unit_y[unit];
  uint32_t count = annealer->touched_count;
  int64_t delta = 0;
  for (uint32_t i = placement->unit_net_start[unit]; i < placement->unit_net_start[unit + 1]; ++i) {
    uint32_t index = placement->unit_nets[i];
    const Net *net = &annealer->nets[index];
    Touched *touched = &annealer->touched[count];
    if (net->pair != SAMBA_NO_INDEX) {
      uint32_t other = net->pair ^ unit;
      touched->length = abs(placement->unit_x[other] - x) + abs(placement->unit_y[other] - y);
    } else {
      if (isInside(net->box, old_x, old_y) && isInside(net->box, x, y))
        continue;
      touched->box = boxAfter(placement, index, net->box, old_x, old_y, x, y);
      touched->length = sambaPlacementBoxLength(touched->box);
    }
    touched->net = index;
    delta += (int64_t)net->weight * (touched->length - net->length);
    ++count;
  }
  annealer->touched_count = count;
  return delta;
}

/* The coordinate, moved into [0, count). */
static int32_t clampTo(int32_t coordinate, int32_t count) {
  if (coordinate < 0)
    return 0;
  return coordinate < count ? coordinate : count - 1;
}

static uint32_t pickTarget(Annealer *annealer, uint32_t from, SambaSlotClass class,
                           int32_t window) {
  const SambaPlacement *placement = annealer->p;
  if (class >= SAMBA_SLOT_AG) {
    uint32_t ags = placement->ag_count;
    uint32_t first = placement->site_count + (class == SAMBA_SLOT_STORE ? ags : 0);
    uint32_t reach = 2 * (uint32_t)window + 1 < ags ? 2 * (uint32_t)window + 1 : ags;
    uint32_t ag = from - first + ags - reach / 2 + randomBelow(annealer, reach);
    while (ag >= ags)
      ag -= ags;
    return first + ag;
  }

  int32_t x = placement->slot_x[from];
  int32_t y = placement->slot_y[from];
  int32_t span = 2 * window + 1;
  int32_t new_x = x + (int32_t)randomBelow(annealer, (uint32_t)span) - window;
  int32_t new_y = y + (int32_t)randomBelow(annealer, (uint32_t)span) - window;
  new_x = clampTo(new_x, placement->width);
  new_y = clampTo(new_y, placement->height);
  if (((new_x ^ new_y ^ x ^ y) & 1) != 0) /* the other kind of site: its neighbour in the row */
    new_x += new_x + 1 < placement->width ? 1 : -1;
  return (uint32_t)new_y * (uint32_t)placement->width + (uint32_t)new_x;
}

static void moveTo(SambaPlacement *placement, uint32_t unit, int32_t x, int32_t y) {
  placement->unit_x[unit] = x;
  placement->unit_y[unit] = y;
}

/* Cost change of pairs when the loads, or the stores, of two generators change places; a slot of
 * each. */
static int64_t pairsDelta(const SambaPlacement *placement, uint32_t from, uint32_t to) {
  if (placement->slot_count == placement->site_count + placement->ag_count)
    return 0;
  uint32_t here = sambaPlacementPartner(placement, from);
  uint32_t there = sambaPlacementPartner(placement, to);
  return sambaPlacementSharedCost(placement, from, there) +
         sambaPlacementSharedCost(placement, to, here) -
         sambaPlacementSharedCost(placement, from, here) -
         sambaPlacementSharedCost(placement, to, there);
}

/* Tries one exchange; keeps it when the cost change is below the temperature's random bound. */
static int64_t tryMove(Annealer *annealer, uint32_t unit, int32_t window, int64_t temperature) {
  SambaPlacement *placement = annealer->p;
  uint32_t from = placement->unit_slot[unit];
  uint32_t to = pickTarget(annealer, from, placement->unit_class[unit], window);
  uint32_t other = placement->occupant[to];
  bool swap = other != SAMBA_NO_INDEX;
  if (to == from || (swap && placement->unit_fixed[other]))
    return 0;
  int32_t x = placement->unit_x[unit];
  int32_t y = placement->unit_y[unit];
  int32_t new_x = placement->column_cycles[placement->slot_x[to]];
  int32_t new_y = placement->slot_y[to] * placement->row_cycles;

  /* Boxes see where units are; slots change with moves that are kept. */
  moveTo(placement, unit, new_x, new_y);
  annealer->touched_count = 0;
  if (swap)
    moveTo(placement, other, x, y);
  int64_t delta = touchNets(annealer, unit, x, y);
  if (placement->unit_class[unit] >= SAMBA_SLOT_AG)
    delta += pairsDelta(placement, from, to);
  if (swap)
    delta += touchNets(annealer, other, new_x, new_y);
  if (delta > 0 && delta > (temperature * randomLog(annealer)) >> 16) {
    moveTo(placement, unit, x, y);
    if (swap)
      moveTo(placement, other, new_x, new_y);
    return 0;
  }

  placement->occupant[from] = other;
  placement->occupant[to] = unit;
  placement->unit_slot[unit] = to;
  if (swap)
    placement->unit_slot[other] = from;
  for (uint32_t i = 0; i < annealer->touched_count; ++i) {
    const Touched *touched = &annealer->touched[i];
    annealer->nets[touched->net].box = touched->box;
    annealer->nets[touched->net].length = touched->length;
  }
  return delta;
}

static void measure(const SambaPlacement *placement, uint32_t index, Net *net) {
  net->box = sambaPlacementBox(placement, index);
  net->length = sambaPlacementBoxLength(net->box);
}

/* Puts units where `slots` says. */
static void restore(Annealer *annealer, const uint32_t *slots) {
  SambaPlacement *placement = annealer->p;
  for (uint32_t u = 0; u < placement->unit_count; ++u)
    placement->occupant[placement->unit_slot[u]] = SAMBA_NO_INDEX;
  for (uint32_t u = 0; u < placement->unit_count; ++u)
    sambaPlacementSet(placement, u, slots[u]);
  for (uint32_t net = 0; net < placement->net_count; ++net)
    measure(placement, net, &annealer->nets[net]);
}

/* One cooling from a temperature that the mean share of a unit in the cost sets, to zero. Returns
 * the new cost. */
static int64_t cool(Annealer *annealer, const uint32_t *units, uint32_t movable, int64_t cost) {
  enum { STAGES = 24, FEWEST_MOVES = 1200 };
  uint64_t moves_per_unit = 200 + (movable < 200 ? movable : 200);
  if (movable <= SMALL)
    moves_per_unit = 80;
  uint64_t moves = movable * moves_per_unit;
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
      cost += tryMove(annealer, units[randomBelow(annealer, movable)], window, temperature);
    temperature = temperature * 13 / 16;
  }

  return cost;
}

void sambaPlacementAnneal(SambaPlacement *placement, SambaArena *arena) {
  uint32_t movable = 0;
  uint32_t *units = SAMBA_ARENA_ARRAY(arena, uint32_t, placement->unit_count);
  uint32_t most_nets = 0;

  for (uint32_t u = 0; u < placement->unit_count; ++u) {
    uint32_t nets = placement->unit_net_start[u + 1] - placement->unit_net_start[u];
    most_nets = nets > most_nets ? nets : most_nets;
    if (!placement->unit_fixed[u] && nets)
      units[movable++] = u;
  }

  if (!movable)
    return;
  Annealer annealer = {.p = placement, .random = 0x9e3779b97f4a7c15u};
  annealer.nets = SAMBA_ARENA_ARRAY(arena, Net, placement->net_count);
  annealer.touched = SAMBA_ARENA_ARRAY(arena, Touched, 2 * (size_t)most_nets);
  int64_t best = sambaPlacementCost(placement);

  for (uint32_t net = 0; net < placement->net_count; ++net) {
    const uint32_t *ends = placement->net_units + placement->net_start[net];
    bool two = placement->net_start[net + 1] - placement->net_start[net] == 2;
    annealer.nets[net] = (Net){.weight = placement->net_weight[net],
                               .pair = two ? ends[0] ^ ends[1] : SAMBA_NO_INDEX};
    measure(placement, net, &annealer.nets[net]);
  }

  uint32_t *slots =
      sambaArenaCopy(arena, placement->unit_slot, placement->unit_count * sizeof *slots);
  for (int tries = movable <= SMALL ? 3 : 1; tries > 0; --tries) {
    int64_t cost = cool(&annealer, units, movable, best);
    if (cost > best) {
      restore(&annealer, slots);
      continue;
    }
    best = cost;
    memcpy(slots, placement->unit_slot, placement->unit_count * sizeof *slots);
  }
}
