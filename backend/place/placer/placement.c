/* What a placement costs; see placement.h. */
#include "backend/place/placer/placement.h"

SambaPlacementBox sambaPlacementBox(const SambaPlacement *p, uint32_t net) {
  SambaPlacementBox box = {INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN};
  for (uint32_t i = p->net_start[net]; i < p->net_start[net + 1]; ++i) {
    int32_t x = p->unit_x[p->net_units[i]];
    int32_t y = p->unit_y[p->net_units[i]];
    box.x0 = x < box.x0 ? x : box.x0;
    box.x1 = x > box.x1 ? x : box.x1;
    box.y0 = y < box.y0 ? y : box.y0;
    box.y1 = y > box.y1 ? y : box.y1;
  }
  return box;
}

int64_t sambaPlacementCost(const SambaPlacement *p) {
  int64_t cost = 0;
  for (uint32_t net = 0; net < p->net_count; ++net)
    cost += sambaPlacementBoxCost(p, net, sambaPlacementBox(p, net));
  return cost;
}
