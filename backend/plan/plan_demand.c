/* The shares of address generators; see plan_demand.h. */
#include "backend/plan/plan_demand.h"

#include "backend/estimate/unit_cycles.h"

#include <math.h>

double sambaDemandUsableAgs(const SambaDemand *demand, double share) {
  double best = 1;
  for (uint32_t w = 1; w <= demand->ways; w *= 2) {
    double ranges = fmax(1, fmin(floor(share / w), demand->sources));
    double run = ceil(ceil(demand->sources / ranges) / demand->staged) * demand->staged;
    best = fmax(best, ceil(demand->sources / run) * w);
  }
  return best;
}

double sambaDemandAgs(const SambaDemand *demand, double wanted, double most) {
  double tried = ceil(wanted) - 1;
  for (double whole = ceil(wanted); whole <= most;) {
    double usable = sambaDemandUsableAgs(demand, whole);
    if (usable >= wanted) {
      for (double fewer = tried + 1; fewer < whole; ++fewer)
        if (sambaDemandUsableAgs(demand, fewer) >= wanted)
          return sambaDemandUsableAgs(demand, fewer);
      return usable;
    }
    tried = whole;
    whole = whole < most ? fmin(whole + fmax(1, floor(whole / 8)), most) : INFINITY;
  }
  return INFINITY;
}

/* Generators that meet all demands within `cycles`; more than `most` when that many do not. */
static double agsWithin(const SambaMachine *machine, const SambaDemand *demands, size_t count,
                        double most, double cycles) {
  double load = SAMBA_LOAD_SHARE * sambaMachineAgBytesPerCycle(machine);
  double store = SAMBA_STORE_SHARE * (double)machine->ag_bytes;
  double used = 0;
  for (size_t i = 0; i < count && used <= most; ++i) {
    double wanted = demands[i].bytes / cycles / (demands[i].stores ? store : load);
    double ags = wanted > demands[i].most_ags ? INFINITY : 1;
    if (wanted > 1 && ags == 1)
      ags = sambaDemandAgs(&demands[i], wanted, most);
    used += fmax(ags, demands[i].least_ags);
  }
  return used;
}

double sambaPlanGeneratorCycles(const SambaMachine *machine, SambaDemand *demands, size_t count,
                                uint32_t ags) {
  double bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    bytes += demands[i].bytes;
    demands[i].most_ags = sambaDemandUsableAgs(&demands[i], ags);
  }

  double low = bytes / ((double)machine->ag_bytes * ags);
  double high = bytes / (SAMBA_LOAD_SHARE * sambaMachineAgBytesPerCycle(machine));
  while (high > low * 1.01) {
    double middle = sqrt(low * high);
    if (agsWithin(machine, demands, count, ags, middle) > ags)
      low = middle;
    else
      high = middle;
  }
  return high; /* as if one did all, where there are too few */
}
