/* The static model: what a mapped group costs in cycles, units and DRAM traffic. */
#include "backend/estimate/unit_cycles.h"
#include "backend/group/tile_gather.h"
#include "backend/group/tile_sums.h"
#include "backend/plan/plan_demand.h"
#include "backend/plan/plan_internal.h"
#include "backend/plan/plan_levels.h"
#include "support/number/integer.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The share of the generators that stores keep at most while the first slots are loaded. */
static const double storingShare = 0.2;

/* Cycles of a staging buffer, which stores before it forwards. */
static const double stagingCycles = 256;

/* Sources that one staging buffer serves, and copies whose results one collects. */
enum { sourcesPerStage = 16, copiesPerStage = 32 };

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

/* Copies all over the chip that share the multicasts of both operands hold each other up: on the
 * loops of such ways a product of 4096 x 4096 x 11008 takes 1.4 times its firings' cycles. */
static const double farApartCost = 1.4;

typedef struct Pricing {
  const SambaTileNest *nest;
  const SambaGroupLimits *limits;
  double dram_bytes, first_bytes; /* all, and those that must arrive before the first firing */
  double elements_bytes;
  double requests;  /* to the memory */
  double slowest;   /* cycles of the slowest port, PMU or address generator */
  double turns;     /* cycles in which buffers of one slot are filled while the PCUs wait */
  double least_ags; /* without more streams into or out of a port than a lane has flow ids */
  double stored_bytes, store_ags; /* of the result in memory: all, and generators at least */
  uint32_t uses;                  /* operands and results in memory */
  double ag_cycles;
  uint32_t pmus;
  uint32_t demand_count;
  SambaDemand demands[SAMBA_MAX_GROUP_OPERANDS]; /* of the operands in memory */
} Pricing;

/* Most choices have few demands: the rest of them stays as it is. */
static void begin(Pricing *pricing, const SambaGroupLimits *limits, const SambaTileNest *nest) {
  memset(pricing, 0, offsetof(Pricing, demands));
  pricing->limits = limits;
  pricing->nest = nest;
}

static void raise(double *value, double other) { *value = other > *value ? other : *value; }

/* The last `axes` axes whose rows the copies side by side are staged into. */
enum { stageNone = 0, stageLast = 1, stageAny = SAMBA_MAX_RANK };

/* Bytes that follow each other in memory when the box is moved; copies side by side are staged into
 * longer rows, along one of the last `staging` axes. */
static double rowBytes(const SambaTileNest *nest, const SambaStageOperand *map,
                       const SambaTileBox *box, uint32_t staging, uint32_t *out_staged) {
  const SambaStageTensor *tensor = &nest->graph->tensors[map->tensor];
  double bytes = sambaDTypeBytes(tensor->dtype);
  uint32_t last_dim = SAMBA_NO_INDEX;

  *out_staged = 1; /* copies whose rows are joined */
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (nest->unroll[dim] > 1)
      for (uint32_t axis = 0; axis < box->rank; ++axis)
        last_dim = map->axes[axis].coefficients[dim] ? dim : last_dim;

  for (uint32_t axis = box->rank; axis-- > 0;) {
    if (box->step[axis] != 1 && box->size[axis] > 1)
      return bytes;
    bytes *= (double)box->size[axis];
    if (axis + staging >= box->rank && *out_staged == 1 && last_dim != SAMBA_NO_INDEX &&
        box->size[axis] == nest->copy_step[last_dim] &&
        map->axes[axis].coefficients[last_dim] == 1 && box->rank > 1 &&
        bytes < 4 * (double)nest->machine->dram_burst_bytes) {
      /* As few copies as make whole bursts: the more generators can load. */
      double burst = (double)nest->machine->dram_burst_bytes;
      while (*out_staged < nest->unroll[last_dim] && *out_staged < 32 &&
             (*out_staged < 2 || fmod(bytes * *out_staged, burst) != 0))
        ++*out_staged;
      bytes *= *out_staged;
    }
    if (box->size[axis] != tensor->dims[axis])
      return bytes;
  }

  return bytes;
}

/* Requests for bytes that lie in such rows: what follows each other on one channel is one. */
static double requestsFor(const SambaMachine *machine, double bytes, double row) {
  return bytes / fmin(row, (double)machine->dram_interleave_bytes);
}

/* Generators that stores keep while loads share the others: as many as their bytes need. Arrays
 * make whole tiles at once, so theirs need more. */
static double storingAgs(const Pricing *pricing, double compute) {
  const double most = storingShare * pricing->limits->ags;
  if (pricing->limits->sum_parts) /* a contraction alone: its stores have those of its loads */
    return 0;
  if (pricing->nest->group->systolic)
    return pricing->limits->stored_output ? most : 0;
  double rate = SAMBA_STORE_SHARE * (double)pricing->nest->machine->ag_bytes;
  double wanted = fmax(pricing->store_ags, pricing->stored_bytes / rate / compute);
  return fmin(wanted, most);
}

/* Whether the generators cannot have the first slots of all operands there after `at` cycles, and
 * the rest while the PCUs work. What one generator brings in time has one, but an array waits for
 * its small operands, so they have all that may fill a buffer. */
static bool isTooSoon(const Pricing *pricing, double at, double compute, double rate) {
  double ags = pricing->limits->ags;
  double used = storingAgs(pricing, compute);
  for (uint32_t i = 0; i < pricing->demand_count && used <= ags; ++i) {
    const SambaDemand *demand = &pricing->demands[i];
    double due = at + demand->due * compute;
    double wanted = fmax(1, fmax(demand->first_bytes / at, demand->bytes / due) / rate);
    if (wanted > ags || wanted > demand->most_ags)
      return true;
    bool one = wanted <= 1 && !pricing->nest->group->systolic;
    used += one ? 1 : sambaDemandAgs(demand, wanted, ags);
  }
  return used > ags;
}

/* Cycles until the first slots of all operands are there when the generators are shared as well as
 * can be. Stops once they are known to be more than `most`: then it is any number above that. */
static double fillCycles(Pricing *pricing, double compute, double rate, double most) {
  double low = 0;
  double high = 0;
  double staging = 0;

  for (uint32_t i = 0; i < pricing->demand_count; ++i) {
    high += pricing->demands[i].bytes / rate;
    staging = pricing->demands[i].staged > 1 ? stagingCycles : staging;
    /* More generators are never used less, and no share is larger than this. */
    pricing->demands[i].most_ags =
        sambaDemandUsableAgs(&pricing->demands[i], 2.0 * pricing->limits->ags + 2);
  }

  /* Most choices are too slow, and one look tells. */
  if (most - staging < high &&
      (most <= staging || isTooSoon(pricing, most - staging, compute, rate)))
    return INFINITY;
  for (int step = 0; step < 16 && high > low * 1.02 && low + staging <= most; ++step) {
    double at = low > 0 ? sqrt(low * high) : high / 16;
    if (isTooSoon(pricing, at, compute, rate))
      low = at;
    else
      high = at;
  }

  return high + staging;
}

/* Ranges of copies with at most `flows` each, along the dimensions that `operand` depends on
 * (SAMBA_NO_INDEX: all) but those that are loaded together. */
static double leastRanges(const SambaTileNest *nest, uint32_t operand, int64_t flows) {
  SambaTileSharing sharing = {0, SAMBA_NO_INDEX, 1, 1};
  if (operand != SAMBA_NO_INDEX)
    sharing = sambaTileNestSharing(nest, operand);
  int64_t inner = 1;
  double ranges = 1;
  for (uint32_t dim = nest->group->dim_count; dim-- > 0;) {
    int64_t copies = nest->unroll[dim] / (dim == sharing.paired ? sharing.neighbours : 1);
    if (copies == 1 || sharing.joined >> dim & 1 ||
        (operand != SAMBA_NO_INDEX && !sambaGroupDepends(nest->group, operand, dim)))
      continue;
    int64_t run = inner <= flows ? flows / inner
                                 : 1; /* copies of this dimension that still go into one range */
    ranges *= (double)((copies + run - 1) / run);
    inner *= copies;
  }
  return ranges;
}

/* Loads of an operand at least; to a slot that is spread, each sends a stream to every buffer. */
static double leastLoads(const SambaTileNest *nest, uint32_t operand, uint32_t spread) {
  int64_t flows = nest->machine->flows_per_lane;
  double ranges = leastRanges(nest, operand, flows);
  if (spread > 1)
    raise(&ranges, leastRanges(nest, operand, flows * nest->machine->unit_vector_outputs / spread));
  return ranges;
}

/* Staging buffers of some copies. Beside sums that go through PMUs there are none to spare: there
 * only rows that are joined count. */
static uint32_t stages(const SambaTileNest *nest, uint32_t staged, uint32_t copies,
                       uint32_t copies_per_stage) {
  bool any = sambaTileNestCarriesSums(nest) ? staged > 1 : copies > 1;
  return any ? copies / copies_per_stage + 1 : 0;
}

/* The elements of a box that can lie inside the tensor: padding is not loaded. */
static double insideElements(const SambaTileNest *nest, uint32_t operand, const SambaTileBox *box) {
  const SambaStageTensor *tensor = &nest->graph->tensors[nest->group->operands[operand].map.tensor];
  double elements = 1;
  for (uint32_t axis = 0; axis < box->rank; ++axis)
    elements *=
        (double)(box->size[axis] < tensor->dims[axis] ? box->size[axis] : tensor->dims[axis]);
  return elements;
}

/* What of all tiles lies inside an operand: those of the last round may reach past its end, where
 * nothing is loaded. An array works on padding too, and is priced as if it were loaded. */
static double insideShare(const SambaTileNest *nest, uint32_t operand) {
  const SambaGroup *group = nest->group;
  double share = 1;
  for (uint32_t dim = 0; dim < group->dim_count && !group->systolic; ++dim) {
    int64_t round = nest->unroll[dim] * nest->tile[dim];
    if (sambaGroupDepends(group, operand, dim))
      share *=
          (double)group->extents[dim] / (double)(sambaCeilDiv(group->extents[dim], round) * round);
  }
  return share;
}

/* Buffers of an operand; copies that share one also share its read side. */
static double buffersOf(Pricing *pricing, uint32_t i, double sources, double token_bytes) {
  const SambaTileNest *nest = pricing->nest;
  double neighbours = sambaTileNestSharing(nest, i).neighbours;
  if (neighbours == 1)
    return sources;
  double tokens = (double)sambaTileNestTrips(nest, sambaTileNestTokenLevel(nest, i));
  double turn = fmax(neighbours, sambaTileNestTokensInTurn(nest, i));
  raise(&pricing->slowest,
        1.2 * turn * tokens * token_bytes / (double)nest->machine->pmu_port_bytes);
  return sources / neighbours;
}

/* An operand that is read by index: token by token, each row of its own. */
static void priceIndexed(Pricing *pricing, uint32_t i, double sources) {
  const SambaTileNest *nest = pricing->nest;
  const SambaTileGather gather = sambaTileNestGather(nest, i);
  double rate = sambaMachineAgBytesPerCycle(nest->machine);
  double all = (double)sambaTileNestTrips(nest, gather.level) * sources *
               sambaDTypeBytes(sambaTileNestDType(nest, i));
  SambaTileBox token;
  uint32_t alone;

  for (uint32_t d = 0; d < gather.count; ++d)
    all *= (double)gather.points[d];
  sambaTileNestBox(nest, i, gather.level, &token);
  pricing->pmus += gather.buffered ? (uint32_t)sources : 0;
  pricing->elements_bytes += all;
  double row = rowBytes(nest, &nest->group->operands[i].map, &token, stageNone, &alone);
  pricing->dram_bytes += sambaMachineBurstBytes(nest->machine, all, row);
  pricing->requests += requestsFor(nest->machine, all, row);
  pricing->ag_cycles += all / rate;
  raise(&pricing->slowest, all / pricing->limits->replicas / rate);
}

/* An operand from buffers of the section. Several read ports share the side of a PMU, and the first
 * PMUs are counted already. */
static void priceOnChip(Pricing *pricing, uint32_t i, double sources, double token_bytes) {
  const SambaTileNest *nest = pricing->nest;
  uint32_t twins = sambaTileNestTwinsInside(nest, i);
  uint32_t ports = sambaTileNestReadPorts(nest, i) * twins;
  uint32_t together = sambaPortsOfPmu(nest->machine, ports, pricing->limits->buffers[i],
                                      sambaTileNestTakesHalves(nest, i));
  uint32_t buffers = (ports + together - 1) / together;
  double tokens = (double)sambaTileNestTrips(nest, sambaTileNestTokenLevel(nest, i));

  raise(&pricing->slowest, sambaTileNestBankTurns(nest, i) * tokens * sources /
                               pricing->limits->buffers[i] * token_bytes * twins / buffers /
                               (double)nest->machine->pmu_port_bytes);
  pricing->pmus += (ports > 1 ? buffers : 0) * pricing->limits->buffers[i];
}

/* What is spread over results is used in the first round of them, part by part: the share of the
 * firings before its last part is due. A group beside others has a share of the generators that
 * only ranks. */
static double spreadDue(const Pricing *pricing, uint32_t position, uint32_t spread) {
  const SambaTileNest *nest = pricing->nest;
  bool alone = pricing->limits->ags == nest->machine->ag_count;
  bool reduced = nest->group->reduced[sambaTileNestLoop(nest, position).dim];
  if (!alone || (reduced && pricing->limits->sum_parts < 2))
    return 1;
  return (spread - 1) / (double)sambaTileNestTrips(nest, position + 1);
}

/* Generators that fill one buffer at most. What is loaded once gets about half of all, so two rank
 * well; code generation lets four do it, which a contraction alone needs when its stores take none
 * of them away. */
static double waysOf(const Pricing *pricing) { return pricing->limits->sum_parts ? 4 : 2; }

static void priceOperand(Pricing *pricing, SambaTileNest *nest, uint32_t i) {
  const SambaGroup *group = nest->group;
  const SambaMachine *machine = nest->machine;
  double bytes = sambaDTypeBytes(sambaTileNestDType(nest, i));
  double sources = sambaTileNestSources(nest, i);
  double rate = sambaMachineAgBytesPerCycle(machine);
  uint32_t token_level = sambaTileNestTokenLevel(nest, i);
  double token_bytes = (double)nest->token_elements[i] * bytes;
  if (pricing->limits->on_chip >> i & 1) {
    priceOnChip(pricing, i, sources, token_bytes);
    return;
  }

  if (group->operands[i].map.index_operand != SAMBA_NO_INDEX) {
    priceIndexed(pricing, i, sources);
    return;
  }

  uint32_t level = sambaTileNestSlotLevel(nest, i);
  bool direct = sambaTileNestIsDirect(nest, i);
  SambaTileBox slot;
  uint32_t position, staged;
  uint32_t spread = direct ? 1 : sambaTileNestSpread(nest, i, &position);
  uint32_t ring = direct ? 1 : sambaTileNestRing(nest, i);

  if (direct)
    sambaTileNestBox(nest, i, token_level, &slot);
  else
    sambaTileNestSlotBox(nest, i, &slot);
  double loaded = direct ? sources : sambaTileNestLoadedSources(nest, i);
  double buffers = buffersOf(pricing, i, sources, token_bytes);
  double slots = (double)sambaTileNestTrips(nest, direct ? token_level : level) * spread;
  double row = rowBytes(nest, &group->operands[i].map, &slot,
                        !direct && spread * ring == 1 ? stageLast : stageNone, &staged);
  double slot_bytes = sambaMachineBurstBytes(machine, (double)slot.elements * bytes, row);
  double all = slot_bytes * slots * loaded;
  pricing->dram_bytes += all * insideShare(nest, i);
  pricing->requests += requestsFor(machine, all, row);
  pricing->elements_bytes += insideElements(nest, i, &slot) * bytes * slots * loaded;
  pricing->first_bytes += slot_bytes * loaded;
  pricing->ag_cycles += all / rate;

  /* So many generators per buffer, or per staging buffer of several copies. */
  double ways = direct ? 1 : waysOf(pricing);
  double loading = all / (direct ? loaded : ways * ceil(loaded / staged)) / rate;
  raise(&pricing->slowest, loading);
  if (nest->depth[i] == 1 && slots > 1) /* filling and reading take turns */
    raise(&pricing->turns, loading);
  ++pricing->uses;
  double least_ags = leastLoads(nest, i, spread * ring);
  pricing->least_ags += least_ags;
  double due = spread > 1 ? spreadDue(pricing, position, spread) : 1;
  pricing->demands[pricing->demand_count++] =
      (SambaDemand){slot_bytes * loaded, all, loaded, staged, ways, least_ags, 0, false, due};
  if (!direct)
    pricing->pmus += (uint32_t)buffers * spread * ring * sambaTileNestTwins(nest, i) +
                     stages(nest, staged, (uint32_t)buffers, sourcesPerStage);
}

/* The dimension whose runs of tiles make rows together; SAMBA_NO_INDEX: none. */
static uint32_t runDim(const SambaTileNest *nest) {
  uint32_t last = SAMBA_NO_INDEX;
  for (uint32_t dim = 0; dim < nest->group->parallel_count; ++dim)
    last = nest->unroll[dim] > 1 ? dim : last;
  bool runs = last != SAMBA_NO_INDEX && sambaTileNestRunLoop(nest, last) != SAMBA_NO_INDEX;
  return runs ? last : SAMBA_NO_INDEX;
}

static double outputRowBytes(const SambaTileNest *nest, uint32_t *out_staged) {
  const SambaStageOperand *map = &nest->group->output;
  const SambaStageTensor *tensor = &nest->graph->tensors[map->tensor];
  SambaTileBox box = {.rank = tensor->rank};
  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    box.size[axis] = box.step[axis] = 1;
    for (uint32_t dim = 0; dim < nest->group->parallel_count; ++dim)
      if (map->axes[axis].coefficients[dim] == 1)
        box.size[axis] *= nest->tile[dim];
  }

  double short_row = 4 * (double)nest->machine->dram_burst_bytes;
  bool is_short = rowBytes(nest, map, &box, stageNone, out_staged) < short_row;
  uint32_t run = is_short ? runDim(nest) : SAMBA_NO_INDEX;
  for (uint32_t axis = 0; axis < tensor->rank && run != SAMBA_NO_INDEX; ++axis)
    if (map->axes[axis].coefficients[run] == 1)
      box.size[axis] *= nest->trips[run];
  return rowBytes(nest, map, &box, stageAny, out_staged);
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

/* Staging buffers of the results: for copies that make rows together, or where a tile has several
 * passes; bytes: what all copies make. */
static uint32_t resultStages(const SambaTileNest *nest, uint32_t staged, double bytes) {
  uint32_t count = stages(nest, staged, nest->copies, copiesPerStage);
  if (sambaTileNestPasses(nest) == 1)
    return count;
  double tiles = 2 * bytes / (double)sambaTileNestResults(nest);
  double held = ceil(tiles / (double)nest->machine->pmu_bytes);
  return (uint32_t)fmax(fmax(count, 1), held);
}

/* The result on its way to memory; bytes: what all copies make. */
static void priceStores(Pricing *pricing, double bytes) {
  const SambaTileNest *nest = pricing->nest;
  const SambaMachine *machine = nest->machine;
  uint32_t staged;

  pricing->elements_bytes += bytes;
  double row = outputRowBytes(nest, &staged);
  pricing->dram_bytes += sambaMachineBurstBytes(machine, bytes, row);
  pricing->requests += requestsFor(machine, bytes, row);
  /* Generators take the sums of all rounds and store those of the last. */
  double rounds = (double)sambaTileNestTrips(nest, sambaTileNestOutputLevel(nest)) /
                  (double)(sambaTileNestResults(nest) * sambaTileNestPasses(nest));
  pricing->ag_cycles += bytes * rounds / (double)machine->ag_bytes;
  pricing->pmus += resultStages(nest, staged, bytes);

  /* Staging buffers merge once more before the stores; parts that divide the copies may leave half
   * of that. */
  int64_t flows = machine->flows_per_lane;
  pricing->stored_bytes = bytes * rounds;
  pricing->store_ags =
      leastRanges(nest, SAMBA_NO_INDEX, staged > 1 && flows >= 16 ? flows * flows / 4 : flows);
  pricing->least_ags += pricing->store_ags;
  ++pricing->uses;
  raise(&pricing->slowest, bytes * rounds / nest->copies / (double)machine->ag_bytes);
}

/* The PMUs of sums that go through some, and how long their ports take. False when they cannot hold
 * the sums, or when each copy has one tile, whose sums its array keeps. */
static bool priceSums(Pricing *pricing) {
  const SambaTileNest *nest = pricing->nest;
  SambaTileSums sums = {0};
  if (!sambaTileNestCarriesSums(nest))
    return true;
  if (sambaTileNestResults(nest) == 1 || !sambaTileNestSums(nest, &sums))
    return false;

  double firings = (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest)) * nest->copies;
  raise(&pricing->slowest, 4 * (double)sambaTileNestPassElements(nest) * firings /
                               (sums.buffers * (double)nest->machine->pmu_port_bytes));
  pricing->pmus += sums.buffers;
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
static double generatorCycles(const Pricing *pricing, double rate) {
  double all = 0, slowest = 0, apart = pricing->least_ags;
  for (uint32_t i = 0; i < pricing->demand_count; ++i)
    all += pricing->demands[i].bytes;
  for (uint32_t i = 0; i < pricing->demand_count; ++i) {
    const SambaDemand *demand = &pricing->demands[i];
    double more = round(fmax(0, pricing->limits->ags - apart) * demand->bytes / all);
    double share = demand->least_ags + more;
    raise(&slowest, demand->bytes / (sambaDemandUsableAgs(demand, share) * rate));
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
static double firstCycles(const Pricing *pricing, double compute, double rate) {
  double cycles = pricing->first_bytes / rate;
  for (uint32_t i = 0; i < pricing->demand_count; ++i) {
    const SambaDemand *demand = &pricing->demands[i];
    double bytes = pricing->first_bytes - demand->first_bytes + demand->bytes;
    if (demand->due < 1)
      raise(&cycles, bytes / rate - demand->due * compute);
  }
  return cycles;
}

/* Cycles while the pipeline is full: the PCUs' own, or those of what feeds them. */
static double fullCycles(const Pricing *pricing, double firing, double firings) {
  const SambaTileNest *nest = pricing->nest;
  const SambaMachine *machine = nest->machine;
  double passes = (double)sambaTileNestPasses(nest);
  double cycles = (firing + skewCycles(nest)) * firings + pricing->turns;
  if (sambaTileNestCarriesSums(nest))
    raise(&cycles,
          (firing + sumCycles(nest)) * firings / passes / (double)sambaTileNestResults(nest));
  if (hasLongTokens(nest))
    cycles *= longTokenCost;
  if (sambaTileNestPairsFarApart(nest))
    cycles *= farApartCost;
  raise(&cycles, pricing->slowest);
  raise(&cycles, pricing->dram_bytes / sambaMachineDramBytesPerCycle(machine));
  raise(&cycles, pricing->ag_cycles / pricing->limits->ags);
  if (nest->group->systolic)
    return cycles;
  double generators =
      generatorCycles(pricing, SAMBA_LOAD_SHARE * sambaMachineAgBytesPerCycle(machine));
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
  uint32_t run = limits->stored_output ? runDim(nest) : SAMBA_NO_INDEX;
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
  Pricing pricing;
  begin(&pricing, limits, nest);
  if (!sambaPlanChooseLevels(limits, nest, use) || !comesInParts(limits, nest))
    return false;
  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (group->operands[i].value)
      priceOperand(&pricing, nest, i);
  double out_all = tileBytes(nest) * (double)sambaTileNestResults(nest) * nest->copies;
  if (limits->stored_output)
    priceStores(&pricing, out_all);
  if (!priceSums(&pricing))
    return false;
  choice->pmus = pricing.pmus;
  if (!hasPmus(limits, choice) || pricing.least_ags > fmax(limits->ags, pricing.uses))
    return false;
  if (limits->buffered_output)
    raise(&pricing.slowest, out_all / limits->output_buffers / (double)machine->pmu_port_bytes);

  double cycles = fullCycles(&pricing, firing, firings);
  double dram = sambaMachineDramBytesPerCycle(machine);
  choice->cycles = cycles;
  choice->dram_bytes = pricing.dram_bytes;
  choice->elements_bytes = pricing.elements_bytes;
  choice->on_chip = limits->on_chip;
  double tail = tailOf(limits, nest, firing, firings);
  double launch = limits->pcu_launch * choice->pcus + limits->pmu_launch * choice->pmus;
  double beside = nest->pipeline_count ? SAMBA_PLAN_BESIDE_SHARE * pricing.dram_bytes / dram : 0;
  double ties = tieCycles(nest, firings) + requestCycles * pricing.requests;
  double rest = cycles + tail + launch + beside + ties;
  double fill = firstCycles(&pricing, cycles, SAMBA_DRAM_SHARE * dram);
  if (rest + fill >= bound)
    return false;
  double rate = SAMBA_LOAD_SHARE * sambaMachineAgBytesPerCycle(machine);
  fill = fmax(fill, fillCycles(&pricing, cycles, rate, bound - rest));
  choice->fill = fill + tail;
  choice->score = rest + fill;

  return true;
}

uint32_t sambaPlanDemands(const SambaGroupLimits *limits, const SambaGroupChoice *choice,
                          SambaDemand *out_demands) {
  SambaTileNest nest = choice->nest;
  const SambaGroup *group = nest.group;
  Pricing pricing;
  begin(&pricing, limits, &nest);
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    double before = pricing.elements_bytes;
    if (!group->operands[i].value)
      continue;
    priceOperand(&pricing, &nest, i);
    uint32_t index = group->operands[i].map.index_operand;
    if (index == SAMBA_NO_INDEX || limits->on_chip >> i & 1)
      continue;
    /* Each replica has a load, and one of the indices where these are in memory. */
    double bytes = pricing.elements_bytes - before, replicas = limits->replicas;
    double loads = limits->on_chip >> index & 1 ? replicas : 2 * replicas;
    pricing.demands[pricing.demand_count++] =
        (SambaDemand){bytes, bytes, replicas, 1, 1, loads, 0, false, 1};
  }
  memcpy(out_demands, pricing.demands, pricing.demand_count * sizeof *out_demands);
  if (!limits->stored_output)
    return pricing.demand_count;

  double bytes = (double)sambaTileNestTileElements(&nest) * (double)sambaTileNestResults(&nest) *
                 nest.copies * sambaDTypeBytes(nest.graph->tensors[group->output.tensor].dtype);
  out_demands[pricing.demand_count] =
      (SambaDemand){bytes, bytes, sambaTileNestWriters(&nest), 1, 1, 1, 0, true, 1};
  return pricing.demand_count + 1;
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
