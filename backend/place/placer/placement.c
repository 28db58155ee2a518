/* What a placement costs; see placement.h. */
#include "backend/place/placer/placement.h"

SambaPlacementBox sambaPlacementBox(const SambaPlacement *placement, uint32_t net) {
  SambaPlacementBox box = {INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN};
  for (uint32_t i = placement->net_start[net]; i < placement->net_start[net + 1]; ++i) {
    int32_t x = placement->unit_x[placement->net_units[i]];
    int32_t y = placement->unit_y[placement->net_units[i]];
    box.x0 = x < box.x0 ? x : box.x0;
    box.x1 = x > box.x1 ? x : box.x1;
    box.y0 = y < box.y0 ? y : box.y0;
    box.y1 = y > box.y1 ? y : box.y1;
  }
  return box;
}

int64_t sambaPlacementCost(const SambaPlacement *placement) {
  int64_t cost = 0;
  for (uint32_t net = 0; net < placement->net_count; ++net)
    cost += sambaPlacementBoxCost(placement, net, sambaPlacementBox(placement, net));
  return cost;
}
