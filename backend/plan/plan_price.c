/* The static model: what a mapped group costs in cycles, units and DRAM traffic. */
#include "backend/estimate/unit_cycles.h"
#include "backend/plan/plan_levels.h"
#include "backend/plan/plan_traffic.h"

#include <math.h>

/* The share of the generators that stores keep at most while the first slots are loaded. */
static const double storingShare = 0.2;

/* Copies in a square of units that share a stream: the farthest is this many times the square's
 * diagonal away, because streams go around others. */
static const double detour = 1.2;

/* Host time and latency that a firing costs somewhere: of equals the fewer firings are better, and
 * of those the fewer copies. They break ties and are too small to decide anything else. */
static const double firingCycles = 4, firingCyclesPerCopy = 0.02;

/* The same of a request to the memory, which brings what follows each other in one channel: rows of
 * one burst take four times as many as rows of four, and use each row of a bank less. */
static const double requestCycles = 0.0001;

/* Streams meet in channels of the memory, where some wait while others are idle: more outstanding
 * bursts even that out, so generators count a little where something else is the bottleneck. */
static const double outstandingShare = 0.05;

/* In a pipeline that streams, tokens are long sooner. */
enum { longStreamedToken = 128 };
static const double longTokenCost = 1.2;

/* Generators that stores keep while loads share the others: as many as their bytes need. Arrays
 * make whole tiles at once, so theirs need more. */
static double storingAgs(const SambaPlanTraffic *traffic, double compute) {
  const double most = storingShare * traffic->limits->ags;
  /* A contraction alone: its stores have those of its loads. */
  if (traffic->limits->sum_parts || traffic->limits->carries_sums)
    return 0;
  if (traffic->nest->group->systolic)
    return traffic->limits->stored_output ? most : 0;
  double rate = SAMBA_STORE_SHARE * (double)traffic->nest->machine->ag_bytes;
  double wanted = fmax(traffic->store_ags, traffic->stored_bytes / rate / compute);
  return fmin(wanted, most);
}

/* Whether the generators cannot have the first slots of all operands there after `at` cycles, and
 * the rest while the PCUs work. What one generator brings in time has one, but an array waits for
 * its small operands, so they have all that may fill a buffer. */
static bool isTooSoon(const SambaPlanTraffic *traffic, double at, double compute, double rate) {
  double ags = traffic->limits->ags;
  double used = storingAgs(traffic, compute);
  for (uint32_t i = 0; i < traffic->demand_count && used <= ags; ++i) {
    const SambaDemand *demand = &traffic->demands[i];
    double due = at + demand->due * compute;
    double wanted = fmax(1, fmax(demand->first_bytes / at, demand->bytes / due) / rate);
    if (wanted > ags || wanted > demand->most_ags)
      return true;
    bool one = wanted <= 1 && !traffic->nest->group->systolic;
    used += one ? 1 : sambaDemandAgs(demand, wanted, ags);
  }
  return used > ags;
}

/* Cycles until the first slots of all operands are there when the generators are shared as well as
 * can be. Stops once they are known to be more than `most`: then it is any number above that. */
static double fillCycles(SambaPlanTraffic *traffic, double compute, double rate, double most) {
  double low = 0;
  double high = 0;
  double staging = 0;

  for (uint32_t i = 0; i < traffic->demand_count; ++i) {
    high += traffic->demands[i].bytes / rate;
    staging = traffic->demands[i].staged > 1 ? SAMBA_STAGING_CYCLES : staging;
    /* More generators are never used less, and no share is larger than this. */
    traffic->demands[i].most_ags =
        sambaDemandUsableAgs(&traffic->demands[i], 2.0 * traffic->limits->ags + 2);
  }

  /* Most choices are too slow, and one look tells. */
  if (most - staging < high &&
      (most <= staging || isTooSoon(traffic, most - staging, compute, rate)))
    return INFINITY;
  for (int step = 0; step < 16 && high > low * 1.02 && low + staging <= most; ++step) {
    double at = low > 0 ? sqrt(low * high) : high / 16;
    if (isTooSoon(traffic, at, compute, rate))
      low = at;
    else
      high = at;
  }

  return high + staging;
}

/* Each copy writes into the output's buffer, and each source of an operand reads from its own, on a
 * stream of its own; a tail takes the tokens of all its copies on one. */
static bool bufferStreamsFit(const SambaGroupLimits *limits, const SambaTileNest *nest) {
  int64_t flows = nest->machine->flows_per_lane;
  int64_t outputs = nest->machine->unit_vector_outputs;
  if (limits->buffered_output &&
      sambaTileNestWriters(nest) / limits->output_buffers >
          nest->machine->unit_vector_inputs * flows / (limits->writers ? limits->writers : 1))
    return false;
  for (uint32_t i = 0; i < nest->group->operand_count; ++i)
    if (limits->on_chip >> i & 1 && nest->group->operands[i].value &&
        sambaTileNestSources(nest, i) / sambaTileNestTakenInTurn(nest, i) / limits->buffers[i] >
            (limits->several >> i & 1 ? flows : outputs * flows))
      return false;
  return true;
}

/* Cycles from the operands of a firing to its sums in the firing that goes on with them: out of the
 * array, to a PMU and back. */
static double sumCycles(const SambaTileNest *nest) {
  const SambaMachine *machine = nest->machine;
  double token = 4 * (double)sambaTileNestPassElements(nest) / (double)machine->vector_bytes;
  return sambaArrayLatency(machine, false) + (double)machine->pmu_latency_cycles + 2 * token +
         2 * SAMBA_ASSUMED_HOPS * (double)machine->hop_cycles;
}

/* Whether an operand of a pipeline comes in long tokens. */
static bool hasLongTokens(const SambaTileNest *nest) {
  bool found = false;
  int64_t most = sambaTileNestStreams(nest) ? longStreamedToken : SAMBA_LONG_TOKEN;
  for (uint32_t i = 0; i < nest->group->operand_count && nest->pipeline_count; ++i)
    found |= nest->group->operands[i].value &&
             nest->token_elements[i] * sambaDTypeBytes(sambaTileNestDType(nest, i)) >
                 most * nest->machine->vector_bytes;
  return found;
}

/* Cycles of the generators when each operand has as many as it must, and its share by bytes of
 * those that are left. How many of its share an operand can use depends on its copies: with two of
 * them on each generator instead of one, half of the generators are left over. */
static double generatorCycles(const SambaPlanTraffic *traffic, double rate) {
  double all = 0, slowest = 0, apart = traffic->least_ags;
  for (uint32_t i = 0; i < traffic->demand_count; ++i)
    all += traffic->demands[i].bytes;
  for (uint32_t i = 0; i < traffic->demand_count; ++i) {
    const SambaDemand *demand = &traffic->demands[i];
    double more = round(fmax(0, traffic->limits->ags - apart) * demand->bytes / all);
    double share = demand->least_ags + more;
    sambaRaiseTo(&slowest, demand->bytes / (sambaDemandUsableAgs(demand, share) * rate));
  }
  return slowest;
}

/* Copies that share multicast operands wait for the farthest of them at each firing; those that
 * stream do so once. */
static double skewCycles(const SambaTileNest *nest) {
  return nest->copies > 1 && !sambaTileNestStreams(nest)
             ? detour * (double)nest->machine->hop_cycles * sqrt(2.0 * nest->copies)
             : 0;
}

/* Cycles until memory, at `rate`, has brought the first slots of all operands, and so much of
 * what is spread that its last part is not late either. */
static double firstCycles(const SambaPlanTraffic *traffic, double compute, double rate) {
  double cycles = traffic->first_bytes / rate;
  for (uint32_t i = 0; i < traffic->demand_count; ++i) {
    const SambaDemand *demand = &traffic->demands[i];
    double bytes = traffic->first_bytes - demand->first_bytes + demand->bytes;
    if (demand->due < 1)
      sambaRaiseTo(&cycles, bytes / rate - demand->due * compute);
  }
  return cycles;
}

/* Cycles while the pipeline is full: the PCUs' own, or those of what feeds them. */
static double fullCycles(const SambaPlanTraffic *traffic, double firing, double firings) {
  const SambaTileNest *nest = traffic->nest;
  const SambaMachine *machine = nest->machine;
  double passes = (double)sambaTileNestPasses(nest);
  double cycles = (firing + skewCycles(nest)) * firings + traffic->turns;
  if (sambaTileNestCarriesSums(nest))
    sambaRaiseTo(&cycles, (firing + sumCycles(nest)) * firings / passes /
                              (double)sambaTileNestResults(nest));
  if (hasLongTokens(nest))
    cycles *= longTokenCost;
  sambaRaiseTo(&cycles, traffic->slowest);
  sambaRaiseTo(&cycles, traffic->dram_bytes / sambaMachineDramBytesPerCycle(machine));
  sambaRaiseTo(&cycles, traffic->ag_cycles / traffic->limits->ags);
  if (nest->group->systolic)
    return cycles;
  double generators =
      generatorCycles(traffic, SAMBA_LOAD_SHARE * sambaMachineAgBytesPerCycle(machine));
  return fmax(cycles + outstandingShare * generators, generators);
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static bool hasPmus(const SambaGroupLimits *limits, const SambaGroupChoice *choice) {
  SambaSearchTrace *trace = limits->trace, unused = {0};
  uint32_t units = choice->pmus + choice->pcus;
  trace = trace ? trace : &unused;
  if (choice->pmus > limits->pmus) {
    trace->pmus_refused = smaller(trace->pmus_refused, choice->pmus);
    return false;
  }
  trace->pmus_granted = larger(trace->pmus_granted, choice->pmus);
  if (units > limits->units) {
    trace->units_refused = smaller(trace->units_refused, units);
    return false;
  }
  trace->units_granted = larger(trace->units_granted, units);
  return true;
}

/* Bytes of the result's tile. */
static double tileBytes(const SambaTileNest *nest) {
  return (double)sambaTileNestTileElements(nest) *
         sambaDTypeBytes(nest->graph->tensors[nest->group->output.tensor].dtype);
}

/* Cycles from the last operands' arrival until the last results are where they belong. */
static double tailOf(const SambaGroupLimits *limits, const SambaTileNest *nest, double firing,
                     double firings) {
  double chunks = firings / (double)sambaTileNestTrips(nest, sambaTileNestOutputLevel(nest));
  double bytes = tileBytes(nest);
  uint32_t run = limits->stored_output ? sambaPlanRunDim(nest) : SAMBA_NO_INDEX;
  bytes *= run == SAMBA_NO_INDEX ? 1 : (double)nest->trips[run]; /* which leave together */
  return firing * chunks + (limits->stored_output ? bytes * nest->copies /
                                                        sambaMachineDramBytesPerCycle(nest->machine)
                                                  : bytes / (double)nest->machine->vector_bytes);
}

/* What breaks ties. */
static double tieCycles(const SambaTileNest *nest, double firings) {
  return firings / (double)sambaTileNestPasses(nest) *
         (firingCycles + firingCyclesPerCopy * nest->copies);
}

/* What a choice scores at least whatever it loads; `firing`: its cycles, or fewer. */
static double leastScore(const SambaGroupLimits *limits, const SambaTileNest *nest, double firing,
                         uint32_t pcus) {
  double firings = (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest));
  return (firing + skewCycles(nest)) * firings + tailOf(limits, nest, firing, firings) +
         limits->pcu_launch * pcus + tieCycles(nest, firings);
}

/* Whether the array's operands come part by part, as the sums are cut: what is loaded for the first
 * part alone is there sooner than the whole. */
static bool comesInParts(const SambaGroupLimits *limits, const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  bool parts = true;
  for (int side = 0; side < 2 && limits->sum_parts > 1; ++side) {
    uint32_t operand = group->mac[side];
    int64_t points = 1;
    SambaTileBox slot;
    sambaTileNestSlotBox(nest, operand, &slot);
    for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
      for (uint32_t axis = 0; axis < slot.rank; ++axis)
        if (group->operands[operand].map.axes[axis].coefficients[dim])
          points *= slot.size[axis];
    parts &= points < sambaGroupSumPoints(group);
  }
  return parts;
}

/* Whether a choice whose tokens are settled may cost less than the bound: most do not, before it is
 * known what they load. */
static bool mayBeat(const SambaGroupLimits *limits, double bound, const SambaTileNest *nest) {
  uint32_t pcus = sambaTileNestPcus(nest);
  return pcus <= limits->pcus && bufferStreamsFit(limits, nest) &&
         leastScore(limits, nest, sambaTileNestFiringCycles(nest), pcus) < bound;
}

/* firings: of the choice before its tokens were settled, which may cut its passes. */
static bool price(const SambaGroupLimits *limits, double bound, SambaLevelsUse use, double firings,
                  SambaGroupChoice *choice) {
  SambaTileNest *nest = &choice->nest;
  const SambaGroup *group = nest->group;
  const SambaMachine *machine = nest->machine;

  double firing = sambaTileNestFiringCycles(nest);
  SambaPlanTraffic traffic;
  sambaPlanTrafficBegin(&traffic, limits, nest);
  if (!sambaPlanChooseLevels(limits, nest, use) || !comesInParts(limits, nest))
    return false;
  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (group->operands[i].value)
      sambaPlanTrafficOperand(&traffic, nest, i);
  double out_all = tileBytes(nest) * (double)sambaTileNestResults(nest) * nest->copies;
  if (limits->stored_output)
    sambaPlanTrafficStores(&traffic, out_all);
  if (!sambaPlanTrafficSums(&traffic))
    return false;
  choice->pmus = traffic.pmus;
  if (!hasPmus(limits, choice) || traffic.least_ags > fmax(limits->ags, traffic.uses))
    return false;
  if (limits->buffered_output)
    sambaRaiseTo(&traffic.slowest,
                 out_all / limits->output_buffers / (double)machine->pmu_port_bytes);

  double cycles = fullCycles(&traffic, firing, firings);
  double dram = sambaMachineDramBytesPerCycle(machine);
  choice->cycles = cycles;
  choice->dram_bytes = traffic.dram_bytes;
  choice->elements_bytes = traffic.elements_bytes;
  choice->on_chip = limits->on_chip;
  double tail = tailOf(limits, nest, firing, firings);
  double launch = limits->pcu_launch * choice->pcus + limits->pmu_launch * choice->pmus;
  double beside = nest->pipeline_count ? SAMBA_PLAN_BESIDE_SHARE * traffic.dram_bytes / dram : 0;
  double ties = tieCycles(nest, firings) + requestCycles * traffic.requests;
  double rest = cycles + tail + launch + beside + ties;
  double fill = firstCycles(&traffic, cycles, SAMBA_DRAM_SHARE * dram);
  if (rest + fill >= bound)
    return false;
  double rate = SAMBA_LOAD_SHARE * sambaMachineAgBytesPerCycle(machine);
  fill = fmax(fill, fillCycles(&traffic, cycles, rate, bound - rest));
  choice->fill = fill + tail;
  choice->score = rest + fill;

  return true;
}

bool sambaPlanMayFit(const SambaGroupLimits *limits, double bound, const SambaTileNest *nest) {
  uint32_t pcus = sambaTileNestPcus(nest);
  if (pcus > limits->pcus || !bufferStreamsFit(limits, nest))
    return false;
  return leastScore(limits, nest, sambaTileNestWorkCycles(nest), pcus) < bound;
}

bool sambaPlanPrice(const SambaGroupLimits *limits, double bound, SambaGroupChoice *choice) {
  const SambaTileNest *nest = &choice->nest;
  double firings = (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest));
  sambaTileNestSettleTokens(&choice->nest);
  choice->pcus = sambaTileNestPcus(nest);
  choice->pmus = 0;
  if (!mayBeat(limits, bound, nest)) {
    hasPmus(limits, choice); /* notes in the trace what was granted */
    return false;
  }

  const SambaGroupChoice plain = *choice;
  for (SambaLevelsUse use = SAMBA_LEVELS_RINGS;; --use) {
    if (price(limits, bound, use, firings, choice))
      return true;
    if (hasPmus(limits, choice) || use == SAMBA_LEVELS_PLAIN)
      return false;
    *choice = plain;
  }
}
