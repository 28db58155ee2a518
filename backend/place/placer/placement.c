/* What a placement costs; see placement.h. */
#include "backend/place/placer/placement.h"

SambaPlacementBox sambaPlacementBox(const SambaPlacement *placement, uint32_t net) {
  const int32_t *unit_x = placement->unit_x, *unit_y = placement->unit_y;
  int32_t x0 = INT32_MAX, x1 = INT32_MIN, y0 = INT32_MAX, y1 = INT32_MIN;
  for (uint32_t i = placement->net_start[net]; i < placement->net_start[net + 1]; ++i) {
    int32_t x = unit_x[placement->net_units[i]], y = unit_y[placement->net_units[i]];
    x0 = x < x0 ? x : x0;
    x1 = x > x1 ? x : x1;
    y0 = y < y0 ? y : y0;
    y1 = y > y1 ? y : y1;
  }
  return (SambaPlacementBox){x0, x1, y0, y1};
}

/* What it costs that loads and stores share generators. */
static int64_t sharedCost(const SambaPlacement *placement) {
  int64_t cost = 0;
  uint32_t stores = placement->site_count + placement->ag_count;
  for (uint32_t slot = stores; slot < placement->slot_count; ++slot)
    cost += sambaPlacementSharedCost(placement, slot, sambaPlacementPartner(placement, slot));
  return cost;
}

int64_t sambaPlacementCost(const SambaPlacement *placement) {
  int64_t cost = sharedCost(placement);
  for (uint32_t net = 0; net < placement->net_count; ++net)
    cost += sambaPlacementBoxCost(placement, net, sambaPlacementBox(placement, net));
  return cost;
}
