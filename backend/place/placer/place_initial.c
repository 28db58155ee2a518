/* Placement, the start: a good first placement by order of connection along a space-filling curve.
 *
 * The class of units that fills more of its sites follows a Hilbert curve over a compact region at
 * the edge where the address generators are; the other class and the address generators then take
 * the free slots nearest to what they talk to. Two orders are tried, as written and breadth first
 * over the streams; the cheaper one stays. */
#include "backend/place/placer/placement.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  uint64_t key;
  uint32_t slot;
} CurvePoint;

static int comparePoints(const void *a, const void *b) {
  uint64_t ka = ((const CurvePoint *)a)->key;
  uint64_t kb = ((const CurvePoint *)b)->key;
  return ka < kb ? -1 : ka > kb;
}

/* Distance along the Hilbert curve of a square with side 2^order. */
static uint64_t hilbertKey(int order, uint32_t x, uint32_t y) {
  uint64_t key = 0;
  for (uint32_t side = 1u << order >> 1; side; side >>= 1) {
    uint32_t right = (x & side) != 0;
    uint32_t upper = (y & side) != 0;
    key = key * 4 + ((3 * right) ^ upper);
    x &= side - 1;
    y &= side - 1;
    if (!upper) {
      if (right) {
        x = side - 1 - x;
        y = side - 1 - y;
      }
      uint32_t swap = x;
      x = y;
      y = swap;
    }
  }

  return key;
}

typedef struct {
  int32_t x, y, width, height;
} Region;

static bool regionHolds(const SambaPlacement *placement, Region region,
                        const uint32_t needed[SAMBA_SLOT_CLASSES]) {
  uint32_t free[SAMBA_SLOT_CLASSES] = {0};
  for (int32_t y = region.y; y < region.y + region.height; ++y)
    for (int32_t x = region.x; x < region.x + region.width; ++x) {
      uint32_t slot = (uint32_t)y * (uint32_t)placement->width + (uint32_t)x;
      if (placement->occupant[slot] == SAMBA_NO_INDEX)
        ++free[sambaPlacementSlotClass(placement, slot)];
    }
  return free[SAMBA_SLOT_PCU] >= needed[SAMBA_SLOT_PCU] &&
         free[SAMBA_SLOT_PMU] >= needed[SAMBA_SLOT_PMU];
}

/* A nearly square region at the top edge, within one die where that is large enough, with some room
 * for routing. */
static Region chooseRegion(const SambaPlacement *placement,
                           const uint32_t needed[SAMBA_SLOT_CLASSES]) {
  uint64_t most = needed[SAMBA_SLOT_PCU] > needed[SAMBA_SLOT_PMU] ? needed[SAMBA_SLOT_PCU]
                                                                  : needed[SAMBA_SLOT_PMU];
  int32_t die_width = placement->width / (int32_t)placement->machine->dies;

  for (int attempt = 0; attempt < 3; ++attempt) {
    uint64_t sites = (most * 2 + 2) << attempt;
    sites += sites / 10;
    int32_t limit =
        sites <= (uint64_t)die_width * (uint64_t)placement->height ? die_width : placement->width;
    int32_t width = 2;
    while (width < limit && (uint64_t)width * (uint64_t)width < sites)
      ++width;
    int32_t height = (int32_t)((sites + (uint64_t)width - 1) / (uint64_t)width);
    if (height > placement->height) {
      height = placement->height;
      width = (int32_t)((sites + (uint64_t)height - 1) / (uint64_t)height);
      width = width < limit ? width : limit;
    }
    Region region = {(limit - width) / 2, 0, width, height};
    if (regionHolds(placement, region, needed))
      return region;
  }

  return (Region){0, 0, placement->width, placement->height};
}

/* Units in breadth-first order over the nets, each component from its first unit. */
static void orderBreadthFirst(const SambaPlacement *placement, SambaArena *arena, uint32_t *order) {
  bool *unit_seen = SAMBA_ARENA_ARRAY(arena, bool, placement->unit_count);
  bool *net_seen = SAMBA_ARENA_ARRAY(arena, bool, placement->net_count);
  uint32_t size = 0;

  for (uint32_t first = 0, head = 0; first < placement->unit_count; ++first) {
    if (unit_seen[first])
      continue;
    unit_seen[first] = true;
    order[size++] = first;
    for (; head < size; ++head)
      for (uint32_t i = placement->unit_net_start[order[head]];
           i < placement->unit_net_start[order[head] + 1]; ++i) {
        uint32_t net = placement->unit_nets[i];
        if (net_seen[net])
          continue;
        net_seen[net] = true;
        for (uint32_t j = placement->net_start[net]; j < placement->net_start[net + 1]; ++j)
          if (!unit_seen[placement->net_units[j]]) {
            unit_seen[placement->net_units[j]] = true;
            order[size++] = placement->net_units[j];
          }
      }
  }
}

/* Where a unit would like to be: the mean of its placed neighbours, nets weighted as in the cost.
 * False: none placed. */
static bool wish(const SambaPlacement *placement, uint32_t unit, int32_t *out_x, int32_t *out_y) {
  int64_t sumX = 0, sumY = 0, weights = 0;
  for (uint32_t i = placement->unit_net_start[unit]; i < placement->unit_net_start[unit + 1]; ++i) {
    uint32_t net = placement->unit_nets[i];
    int64_t weight = 1 + placement->net_weight[net] /
                             (placement->net_start[net + 1] - placement->net_start[net]);
    for (uint32_t j = placement->net_start[net]; j < placement->net_start[net + 1]; ++j) {
      uint32_t other = placement->net_units[j];
      if (placement->unit_slot[other] == SAMBA_NO_INDEX)
        continue;
      sumX += weight * placement->slot_x[placement->unit_slot[other]];
      sumY += weight * placement->slot_y[placement->unit_slot[other]];
      weights += weight;
    }
  }

  if (!weights)
    return false;
  *out_x = (int32_t)((sumX + weights / 2) / weights);
  *out_y = (int32_t)((sumY + weights / 2) / weights);

  return true;
}

static uint32_t nearestSite(const SambaPlacement *placement, SambaSlotClass class, int32_t cx,
                            int32_t cy) {
  for (int32_t radius = 0; radius <= placement->width + placement->height; ++radius)
    for (int32_t dy = -radius; dy <= radius; ++dy) {
      int32_t y = cy + dy;
      int32_t dx = radius - abs(dy);
      if (y < 0 || y >= placement->height)
        continue;
      for (int side = 0; side < (dx ? 2 : 1); ++side) {
        int32_t x = side ? cx + dx : cx - dx;
        if (x < 0 || x >= placement->width)
          continue;
        uint32_t slot = (uint32_t)y * (uint32_t)placement->width + (uint32_t)x;
        if (placement->occupant[slot] == SAMBA_NO_INDEX &&
            sambaPlacementSlotClass(placement, slot) == class)
          return slot;
      }
    }
  return SAMBA_NO_INDEX;
}

static uint32_t nearestAg(const SambaPlacement *placement, SambaSlotClass class, int32_t cx,
                          int32_t cy) {
  uint32_t best = SAMBA_NO_INDEX;
  int32_t best_distance = INT32_MAX;
  for (uint32_t slot = placement->site_count; slot < placement->slot_count; ++slot) {
    int32_t distance = abs(placement->slot_x[slot] - cx) + abs(placement->slot_y[slot] - cy);
    if (sambaPlacementSlotClass(placement, slot) == class &&
        placement->occupant[slot] == SAMBA_NO_INDEX && distance < best_distance) {
      best = slot;
      best_distance = distance;
    }
  }
  return best;
}

static void placeInOrder(SambaPlacement *placement, const uint32_t *order, SambaSlotClass leading,
                         Region region, const CurvePoint *curve) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < placement->unit_count; ++i) {
    uint32_t unit = order[i];
    if (placement->unit_class[unit] != leading || placement->unit_slot[unit] != SAMBA_NO_INDEX)
      continue;
    while (placement->occupant[curve[next].slot] != SAMBA_NO_INDEX ||
           sambaPlacementSlotClass(placement, curve[next].slot) != leading)
      ++next;
    sambaPlacementSet(placement, unit, curve[next].slot);
  }

  for (int pass = 0; pass < 2;
       ++pass) /* sites first: address generators then know better where to go */
    for (uint32_t i = 0; i < placement->unit_count; ++i) {
      uint32_t unit = order[i];
      bool is_ag = placement->unit_class[unit] >= SAMBA_SLOT_AG;
      if (placement->unit_slot[unit] != SAMBA_NO_INDEX || is_ag != (pass == 1))
        continue;
      int32_t x = region.x + region.width / 2;
      int32_t y = region.y + region.height / 2;
      wish(placement, unit, &x, &y);
      sambaPlacementSet(placement, unit,
                        is_ag ? nearestAg(placement, placement->unit_class[unit], x, y)
                              : nearestSite(placement, placement->unit_class[unit], x, y));
    }
}

static void unplace(SambaPlacement *placement) {
  for (uint32_t u = 0; u < placement->unit_count; ++u)
    if (!placement->unit_fixed[u] && placement->unit_slot[u] != SAMBA_NO_INDEX) {
      placement->occupant[placement->unit_slot[u]] = SAMBA_NO_INDEX;
      placement->unit_slot[u] = SAMBA_NO_INDEX;
    }
}

void sambaPlacementInitial(SambaPlacement *placement, SambaArena *arena) {
  uint32_t needed[SAMBA_SLOT_CLASSES] = {0};
  for (uint32_t u = 0; u < placement->unit_count; ++u)
    if (!placement->unit_fixed[u])
      ++needed[placement->unit_class[u]];
  Region region = chooseRegion(placement, needed);
  int order = 1;

  while (1 << order < region.width || 1 << order < region.height)
    ++order;
  size_t size = 0;
  CurvePoint *curve =
      SAMBA_ARENA_ARRAY(arena, CurvePoint, (size_t)region.width * (size_t)region.height);
  for (int32_t y = 0; y < region.height; ++y)
    for (int32_t x = 0; x < region.width; ++x)
      curve[size++] = (CurvePoint){hilbertKey(order, (uint32_t)x, (uint32_t)y),
                                   (uint32_t)(region.y + y) * (uint32_t)placement->width +
                                       (uint32_t)(region.x + x)};
  qsort(curve, size, sizeof *curve, comparePoints);

  SambaSlotClass leading =
      needed[SAMBA_SLOT_PMU] > needed[SAMBA_SLOT_PCU] ? SAMBA_SLOT_PMU : SAMBA_SLOT_PCU;
  uint32_t *as_written = SAMBA_ARENA_ARRAY(arena, uint32_t, placement->unit_count);
  uint32_t *breadth_first = SAMBA_ARENA_ARRAY(arena, uint32_t, placement->unit_count);

  for (uint32_t u = 0; u < placement->unit_count; ++u)
    as_written[u] = u;
  orderBreadthFirst(placement, arena, breadth_first);
  placeInOrder(placement, breadth_first, leading, region, curve);
  int64_t breadth_first_cost = sambaPlacementCost(placement);
  unplace(placement);
  placeInOrder(placement, as_written, leading, region, curve);
  if (sambaPlacementCost(placement) > breadth_first_cost) {
    unplace(placement);
    placeInOrder(placement, breadth_first, leading, region, curve);
  }
}
