/* What a mapped group moves and holds; see plan_traffic.h. */
#include "backend/plan/plan_traffic.h"

#include "backend/estimate/unit_cycles.h"
#include "backend/group/tile_gather.h"
#include "backend/group/tile_sums.h"
#include "backend/plan/plan_levels.h"
#include "support/number/integer.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Sources that one staging buffer serves, and copies whose results one collects. */
enum { sourcesPerStage = 16, copiesPerStage = 32 };

/* Most choices have few demands: the rest of them stays as it is. */
void sambaPlanTrafficBegin(SambaPlanTraffic *traffic, const SambaGroupLimits *limits,
                           const SambaTileNest *nest) {
  memset(traffic, 0, offsetof(SambaPlanTraffic, demands));
  traffic->limits = limits;
  traffic->nest = nest;
}

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
    sambaRaiseTo(&ranges,
                 leastRanges(nest, operand, flows * nest->machine->unit_vector_outputs / spread));
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
static double buffersOf(SambaPlanTraffic *traffic, uint32_t i, double sources, double token_bytes) {
  const SambaTileNest *nest = traffic->nest;
  double neighbours = sambaTileNestSharing(nest, i).neighbours;
  if (neighbours == 1)
    return sources;
  double tokens = (double)sambaTileNestTrips(nest, sambaTileNestTokenLevel(nest, i));
  double turn = fmax(neighbours, sambaTileNestTokensInTurn(nest, i));
  sambaRaiseTo(&traffic->slowest,
               1.2 * turn * tokens * token_bytes / (double)nest->machine->pmu_port_bytes);
  return sources / neighbours;
}

/* An operand that is read by index: token by token, each row of its own. */
static void addIndexed(SambaPlanTraffic *traffic, uint32_t i, double sources) {
  const SambaTileNest *nest = traffic->nest;
  const SambaTileGather gather = sambaTileNestGather(nest, i);
  double rate = sambaMachineAgBytesPerCycle(nest->machine);
  double all = (double)sambaTileNestTrips(nest, gather.level) * sources *
               sambaDTypeBytes(sambaTileNestDType(nest, i));
  SambaTileBox token;
  uint32_t alone;

  for (uint32_t d = 0; d < gather.count; ++d)
    all *= (double)gather.points[d];
  sambaTileNestBox(nest, i, gather.level, &token);
  traffic->pmus += gather.buffered ? (uint32_t)sources : 0;
  traffic->elements_bytes += all;
  double row = rowBytes(nest, &nest->group->operands[i].map, &token, stageNone, &alone);
  traffic->dram_bytes += sambaMachineBurstBytes(nest->machine, all, row);
  traffic->requests += requestsFor(nest->machine, all, row);
  traffic->ag_cycles += all / rate;
  sambaRaiseTo(&traffic->slowest, all / traffic->limits->replicas / rate);
}

/* An operand from buffers of the section. Several read ports share the side of a PMU, and the first
 * PMUs are counted already. */
static void addOnChip(SambaPlanTraffic *traffic, uint32_t i, double sources, double token_bytes) {
  const SambaTileNest *nest = traffic->nest;
  uint32_t twins = sambaTileNestTwinsInside(nest, i);
  uint32_t ports = sambaTileNestReadPorts(nest, i) * twins;
  uint32_t together = sambaPortsOfPmu(nest->machine, ports, traffic->limits->buffers[i],
                                      sambaTileNestTakesHalves(nest, i));
  uint32_t buffers = (ports + together - 1) / together;
  double tokens = (double)sambaTileNestTrips(nest, sambaTileNestTokenLevel(nest, i));

  sambaRaiseTo(&traffic->slowest, sambaTileNestBankTurns(nest, i) * tokens * sources /
                                      traffic->limits->buffers[i] * token_bytes * twins / buffers /
                                      (double)nest->machine->pmu_port_bytes);
  traffic->pmus += (ports > 1 ? buffers : 0) * traffic->limits->buffers[i];
}

/* What is spread over results is used in the first round of them, part by part: the share of the
 * firings before its last part is due. A group beside others has a share of the generators that
 * only ranks. */
static double spreadDue(const SambaPlanTraffic *traffic, uint32_t position, uint32_t spread) {
  const SambaTileNest *nest = traffic->nest;
  bool alone = traffic->limits->ags == nest->machine->ag_count;
  bool reduced = nest->group->reduced[sambaTileNestLoop(nest, position).dim];
  if (!alone || (reduced && traffic->limits->sum_parts < 2))
    return 1;
  return (spread - 1) / (double)sambaTileNestTrips(nest, position + 1);
}

/* Generators that fill one buffer at most. What is loaded once gets about half of all, so two rank
 * well; code generation lets four do it, which a contraction alone needs when its stores take none
 * of them away. */
static double waysOf(const SambaPlanTraffic *traffic) { return traffic->limits->sum_parts ? 4 : 2; }

void sambaPlanTrafficOperand(SambaPlanTraffic *traffic, SambaTileNest *nest, uint32_t i) {
  const SambaGroup *group = nest->group;
  const SambaMachine *machine = nest->machine;
  double bytes = sambaDTypeBytes(sambaTileNestDType(nest, i));
  double sources = sambaTileNestSources(nest, i);
  double rate = sambaMachineAgBytesPerCycle(machine);
  uint32_t token_level = sambaTileNestTokenLevel(nest, i);
  double token_bytes = (double)nest->token_elements[i] * bytes;
  if (traffic->limits->on_chip >> i & 1) {
    addOnChip(traffic, i, sources, token_bytes);
    return;
  }

  if (group->operands[i].map.index_operand != SAMBA_NO_INDEX) {
    addIndexed(traffic, i, sources);
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
  double buffers = buffersOf(traffic, i, sources, token_bytes);
  double slots = (double)sambaTileNestTrips(nest, direct ? token_level : level) * spread;
  double row = rowBytes(nest, &group->operands[i].map, &slot,
                        !direct && spread * ring == 1 ? stageLast : stageNone, &staged);
  double slot_bytes = sambaMachineBurstBytes(machine, (double)slot.elements * bytes, row);
  double all = slot_bytes * slots * loaded;
  traffic->dram_bytes += all * insideShare(nest, i);
  traffic->requests += requestsFor(machine, all, row);
  traffic->elements_bytes += insideElements(nest, i, &slot) * bytes * slots * loaded;
  traffic->first_bytes += slot_bytes * loaded;
  traffic->ag_cycles += all / rate;

  /* So many generators per buffer, or per staging buffer of several copies. */
  double ways = direct ? 1 : waysOf(traffic);
  double loading = all / (direct ? loaded : ways * ceil(loaded / staged)) / rate;
  sambaRaiseTo(&traffic->slowest, loading);
  if (nest->depth[i] == 1 && slots > 1) /* filling and reading take turns */
    sambaRaiseTo(&traffic->turns, loading);
  ++traffic->uses;
  double least_ags = leastLoads(nest, i, spread * ring);
  traffic->least_ags += least_ags;
  double due = spread > 1 ? spreadDue(traffic, position, spread) : 1;
  traffic->demands[traffic->demand_count++] =
      (SambaDemand){slot_bytes * loaded, all, loaded, staged, ways, least_ags, 0, false, due};
  if (!direct)
    traffic->pmus += (uint32_t)buffers * spread * ring * sambaTileNestTwins(nest, i) +
                     stages(nest, staged, (uint32_t)buffers, sourcesPerStage);
}

uint32_t sambaPlanRunDim(const SambaTileNest *nest) {
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
  uint32_t run = is_short ? sambaPlanRunDim(nest) : SAMBA_NO_INDEX;
  for (uint32_t axis = 0; axis < tensor->rank && run != SAMBA_NO_INDEX; ++axis)
    if (map->axes[axis].coefficients[run] == 1)
      box.size[axis] *= nest->trips[run];
  return rowBytes(nest, map, &box, stageAny, out_staged);
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

void sambaPlanTrafficStores(SambaPlanTraffic *traffic, double bytes) {
  const SambaTileNest *nest = traffic->nest;
  const SambaMachine *machine = nest->machine;
  uint32_t staged;

  traffic->elements_bytes += bytes;
  double row = outputRowBytes(nest, &staged);
  traffic->dram_bytes += sambaMachineBurstBytes(machine, bytes, row);
  traffic->requests += requestsFor(machine, bytes, row);
  /* Generators take the sums of all rounds and store those of the last. */
  double rounds = (double)sambaTileNestTrips(nest, sambaTileNestOutputLevel(nest)) /
                  (double)(sambaTileNestResults(nest) * sambaTileNestPasses(nest));
  traffic->ag_cycles += bytes * rounds / (double)machine->ag_bytes;
  traffic->pmus += resultStages(nest, staged, bytes);

  /* Staging buffers merge once more before the stores; parts that divide the copies may leave half
   * of that. */
  int64_t flows = machine->flows_per_lane;
  traffic->stored_bytes = bytes * rounds;
  traffic->store_ags =
      leastRanges(nest, SAMBA_NO_INDEX, staged > 1 && flows >= 16 ? flows * flows / 4 : flows);
  traffic->least_ags += traffic->store_ags;
  ++traffic->uses;
  sambaRaiseTo(&traffic->slowest, bytes * rounds / nest->copies / (double)machine->ag_bytes);
}

bool sambaPlanTrafficSums(SambaPlanTraffic *traffic) {
  const SambaTileNest *nest = traffic->nest;
  SambaTileSums sums = {0};
  if (!sambaTileNestCarriesSums(nest))
    return true;
  if (sambaTileNestResults(nest) == 1 || !sambaTileNestSums(nest, &sums))
    return false;

  double firings = (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest)) * nest->copies;
  sambaRaiseTo(&traffic->slowest, 4 * (double)sambaTileNestPassElements(nest) * firings /
                                      (sums.buffers * (double)nest->machine->pmu_port_bytes));
  traffic->pmus += sums.buffers;
  return true;
}

uint32_t sambaPlanDemands(const SambaGroupLimits *limits, const SambaGroupChoice *choice,
                          SambaDemand *out_demands) {
  SambaTileNest nest = choice->nest;
  const SambaGroup *group = nest.group;
  SambaPlanTraffic traffic;
  sambaPlanTrafficBegin(&traffic, limits, &nest);
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    double before = traffic.elements_bytes;
    if (!group->operands[i].value)
      continue;
    sambaPlanTrafficOperand(&traffic, &nest, i);
    uint32_t index = group->operands[i].map.index_operand;
    if (index == SAMBA_NO_INDEX || limits->on_chip >> i & 1)
      continue;
    /* Each replica has a load, and one of the indices where these are in memory. */
    double bytes = traffic.elements_bytes - before, replicas = limits->replicas;
    double loads = limits->on_chip >> index & 1 ? replicas : 2 * replicas;
    traffic.demands[traffic.demand_count++] =
        (SambaDemand){bytes, bytes, replicas, 1, 1, loads, 0, false, 1};
  }
  memcpy(out_demands, traffic.demands, traffic.demand_count * sizeof *out_demands);
  if (!limits->stored_output)
    return traffic.demand_count;

  double bytes = (double)sambaTileNestTileElements(&nest) * (double)sambaTileNestResults(&nest) *
                 nest.copies * sambaDTypeBytes(nest.graph->tensors[group->output.tensor].dtype);
  out_demands[traffic.demand_count] =
      (SambaDemand){bytes, bytes, sambaTileNestWriters(&nest), 1, 1, 1, 0, true, 1};
  return traffic.demand_count + 1;
}
