/* What uses the address generators of a section; see generator_uses.h. */
#include "backend/codegen/generator_uses.h"

#include "backend/config/load_size.h"
#include "backend/estimate/unit_cycles.h"

#include <math.h>
#include <stdlib.h>

/* No port has more streams than a lane has flow ids. */
static bool isWithinFlows(const SambaCodegen *codegen, const SambaAgUse *use, uint32_t ranges) {
  uint64_t flows = (uint64_t)codegen->machine->flows_per_lane;
  if (use->stores)
    return sambaStoresFit(codegen, use->nest, ranges);
  if (ranges * flows < use->sources)
    return false;
  if (use->spread < 2)
    return true;

  SambaCopyRange *cut = sambaAllocateZeroed(ranges, sizeof *cut);
  uint32_t made = sambaCutCopies(use->nest, use->mask, ranges, cut);
  uint64_t largest = 0;
  for (uint32_t r = 0; r < made; ++r) {
    uint64_t size = sambaCopyRangeSize(&cut[r], use->nest->group->dim_count);
    largest = size > largest ? size : largest;
  }
  free(cut);
  return largest * use->spread <= flows * (uint64_t)codegen->machine->unit_vector_outputs;
}

/* Staged rows should be whole bursts. */
static bool hasWholeRows(const SambaCodegen *codegen, const SambaAgUse *use, uint32_t ranges) {
  uint32_t run = (use->sources + ranges - 1) / ranges;
  return !use->row_bytes || ranges == 1 ||
         use->row_bytes * run % codegen->machine->dram_burst_bytes == 0;
}

/* Bytes per cycle that a share of generators moves: what fills one buffer together cannot exceed
 * its port. */
static double rateOf(const SambaCodegen *codegen, const SambaAgUse *use, SambaAgShare share) {
  double one = use->stores ? SAMBA_STORE_SHARE * share.row
                           : SAMBA_LOAD_SHARE * sambaMachineAgBytesPerCycle(codegen->machine);
  return share.even * fmin(share.ways * one, (double)codegen->machine->pmu_port_bytes);
}

/* Fewer copies for each store may be staged where more are not. */
static double storedRow(const SambaCodegen *codegen, const SambaAgUse *use, uint32_t ranges) {
  int64_t most = codegen->machine->ag_bytes;
  if (!use->stores || use->indexed)
    return (double)most;
  int64_t row = sambaStoredRowBytes(codegen, use->nest, ranges);
  return (double)(row < most ? row : most);
}

/* The best use of at most `wanted` generators. */
static SambaAgShare shareOf(const SambaCodegen *codegen, const SambaAgUse *use, uint32_t wanted) {
  SambaAgShare best = {0, 1, 0, 0};
  for (uint32_t ways = 1; ways <= use->most_ways && ways <= wanted; ways *= 2) {
    uint32_t most = wanted / ways < use->most_ranges ? wanted / ways : use->most_ranges;
    uint32_t ranges = use->stores ? sambaCutResults(use->nest, most, NULL)
                                  : sambaCutCopies(use->nest, use->mask, most, NULL);
    uint32_t largest = use->stores ? sambaLargestResults(use->nest, most)
                                   : sambaLargestCut(use->nest, use->mask, most);
    SambaAgShare share = {ranges, ways, (double)use->sources / largest,
                          storedRow(codegen, use, ranges)};
    if (rateOf(codegen, use, share) > rateOf(codegen, use, best) &&
        isWithinFlows(codegen, use, ranges) && hasWholeRows(codegen, use, ranges))
      best = share;
  }
  return best;
}

/* Parts of a slot that does not divide evenly have at least so many rows: then the largest is
 * little larger than the others. */
enum { leastUnevenPart = 16 };

/* Generators that may fill one buffer together: as many as its write side can take, each with a
 * part of whole rows. */
static uint32_t waysOf(const SambaCodegen *codegen, const SambaTileBox *slot) {
  int64_t size = slot->rank ? slot->size[sambaOutermostAxis(slot)] : 1;
  double rate = sambaMachineAgBytesPerCycle(codegen->machine);
  uint32_t ways = 1;
  while (2 * ways <= (uint32_t)codegen->machine->unit_vector_inputs &&
         (size % (2 * ways) == 0 || size >= 2 * ways * leastUnevenPart) &&
         slot->elements / (2 * ways) >= 512 &&
         2 * ways * rate <= 1.6 * (double)codegen->machine->pmu_port_bytes)
    ways *= 2;
  return ways;
}

/* Cycles from the first firing to the one that begins with the last part of a spread slot. */
static double spreadCycles(const SambaTileNest *nest, uint32_t spread, uint32_t position) {
  double firings = (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest));
  double parts = (double)sambaTileNestTrips(nest, position + 1);
  return sambaTileNestFiringCycles(nest) * firings * (spread - 1) / parts;
}

/* Cycles in which a group makes its first slice, or all of its tensor without a pipeline. */
static double sliceCycles(const SambaTileNest *nest) {
  double slices = (double)sambaTileNestTrips(nest, nest->pipeline_count);
  double firings = (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest));
  return sambaTileNestFiringCycles(nest) * firings / slices;
}

/* Cycles from the first firing of the section to the first one of each group: those before it make
 * a slice first. */
static double *beginnings(const SambaCodegen *codegen, SambaArena *arena) {
  double *begins = SAMBA_ARENA_ARRAY(arena, double, codegen->groups.count);
  for (uint32_t g = 0; g < codegen->groups.count; ++g) {
    const SambaGroup *group = codegen->groups.groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      const SambaTensorPlan *read = &codegen->tensors[group->operands[i].map.tensor];
      for (size_t w = 0; w < read->writers.size; ++w) {
        uint32_t writer = read->writers.data[w];
        if (writer < g)
          begins[g] = fmax(begins[g], begins[writer] + sliceCycles(&codegen->plans[writer].nest));
      }
    }
  }
  return begins;
}

static void addOperand(SambaCodegen *codegen, SambaGroupPlan *plan, uint32_t i, double begins,
                       SambaAgUses *uses, int64_t *total) {
  const SambaTileNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[i].map;

  plan->ways[i] = 1;
  if (map->index_operand !=
      SAMBA_NO_INDEX) { /* one load per replica and, when the indices are in memory, one for them */
    plan->loads[i] = 1;
    *total += (int64_t)sambaTileNestReplicas(nest) *
              (1 + !codegen->tensors[group->operands[map->index_operand].map.tensor].buffered);
    return;
  }

  SambaTileBox box;
  bool direct = sambaTileNestIsDirect(nest, i);
  uint32_t level = direct ? sambaTileNestTokenLevel(nest, i) : sambaTileNestSlotLevel(nest, i);
  uint32_t position;

  if (direct)
    sambaTileNestBox(nest, i, level, &box);
  else
    sambaTileNestSlotBox(nest, i, &box);
  uint32_t spread = direct ? 1 : sambaTileNestSpread(nest, i, &position);
  uint32_t ring = direct ? 1 : sambaTileNestRing(nest, i);
  int64_t slots = sambaTileNestTrips(nest, level) * spread;
  SambaTileNest *loads = SAMBA_ARENA_NEW(&codegen->scratch, SambaTileNest);
  sambaTileNestOfLoads(nest, i, loads);
  SambaAgUse use = {.ranges = &plan->loads[i],
                    .ways = &plan->ways[i],
                    .tensor = map->tensor,
                    .nest = loads,
                    .mask = sambaCopyMask(loads, i),
                    .sources = sambaTileNestSources(loads, i),
                    .spread = spread * ring,
                    .twins = direct ? 1 : sambaTileNestTwins(nest, i),
                    .begins = begins};
  use.most_ranges = use.sources;
  use.most_ways = direct ? 1 : waysOf(codegen, &box);
  use.first_bytes =
      (double)box.elements * use.sources * sambaDTypeBytes(sambaTileNestDType(nest, i));
  use.bytes = use.first_bytes * (double)slots;
  use.due = spread > 1 ? spreadCycles(nest, spread, position) : INFINITY;
  SambaCopyRange whole;
  sambaCutCopies(loads, use.mask, 1, &whole);
  if (!direct && spread * ring == 1 &&
      sambaStagedSourceDim(loads, i, &box, &whole) != SAMBA_NO_INDEX) {
    use.most_ranges = (use.sources + 1) / 2; /* at least two copies per row */
    int64_t row = box.size[box.rank - 1] * sambaDTypeBytes(sambaTileNestDType(nest, i));
    int64_t run = 1;
    while (run <= codegen->machine->flows_per_lane &&
           row * run % codegen->machine->dram_burst_bytes)
      ++run;
    use.row_bytes = run <= codegen->machine->flows_per_lane ? row : 0;
  }

  sambaArrayAppend(uses, use);
}

void sambaAgUsesCollect(SambaCodegen *codegen, SambaAgUses *uses, int64_t *total) {
  for (uint32_t t = 0; t < codegen->graph->tensor_count; ++t) {
    SambaTensorPlan *tensor = &codegen->tensors[t];
    if (!tensor->shared)
      continue;
    double bytes = sambaDTypeBytes(codegen->graph->tensors[t].dtype);
    for (uint32_t axis = 0; axis < codegen->graph->tensors[t].rank; ++axis)
      bytes *= (double)codegen->graph->tensors[t].dims[axis];
    const SambaTileNest *nest = &codegen->plans[codegen->pipeline_group].nest;
    const SambaTileBox slice = sambaSliceBox(codegen, t);
    SambaAgUse use = {.ranges = &tensor->loads,
                      .ways = &tensor->ways,
                      .tensor = t,
                      .nest = nest,
                      .mask = sambaReplicaMask(nest, tensor->slices.count),
                      .sources = tensor->replicas,
                      .most_ranges = tensor->replicas,
                      .most_ways = waysOf(codegen, &slice)};
    use.first_bytes = bytes / (double)sambaSlicesOf(codegen, t);
    use.bytes = bytes;
    use.due = INFINITY;
    sambaArrayAppend(uses, use);
  }

  const double *begins = beginnings(codegen, &codegen->scratch);
  for (uint32_t g = 0; g < codegen->groups.count; ++g) {
    SambaGroupPlan *plan = &codegen->plans[g];
    const SambaTileNest *nest = &plan->nest;
    const SambaGroup *group = nest->group;
    for (uint32_t i = 0; i < group->operand_count; ++i)
      if (group->operands[i].value && !codegen->tensors[group->operands[i].map.tensor].buffered)
        addOperand(codegen, plan, i, begins[g], uses, total);
    if (codegen->graph->tensors[group->output.tensor].role != SAMBA_TENSOR_RESULT)
      continue;
    if (group->output.index_operand != SAMBA_NO_INDEX)
      *total += nest->copies; /* each loads the indices */
    double bytes = (double)sambaTileNestTileElements(nest) * (double)sambaTileNestResults(nest) *
                   nest->copies *
                   sambaDTypeBytes(codegen->graph->tensors[group->output.tensor].dtype);
    SambaAgUse use = {.ranges = &plan->stores,
                      .tensor = group->output.tensor,
                      .nest = nest,
                      .sources = nest->copies};
    use.most_ranges = sambaTileNestWriters(nest);
    use.most_ways = 1;
    use.stores = true;
    use.due = INFINITY;
    use.indexed = group->output.index_operand != SAMBA_NO_INDEX;
    use.first_bytes = bytes / (double)sambaTileNestResults(nest); /* after the last firing */
    use.bytes = bytes;
    sambaArrayAppend(uses, use);
  }
}

SambaAgOptions sambaAgOptionsOf(SambaCodegen *codegen, const SambaAgUse *use) {
  uint32_t most = use->most_ranges * use->most_ways;
  most = most < (uint32_t)codegen->machine->ag_count ? most : (uint32_t)codegen->machine->ag_count;
  SambaAgOptions options = {0, SAMBA_ARENA_ARRAY(&codegen->scratch, SambaAgOption, most + 1)};
  SambaAgUse asked = *use;

  /* What is stored by index has a store for each copy, and each takes all indices. */
  for (int round = 0; round < 2 && !options.size && !use->indexed; ++round) {
    for (uint32_t wanted = 1; wanted <= most; ++wanted) {
      SambaAgShare share = shareOf(codegen, &asked, wanted);
      if (share.ranges &&
          (!options.size || rateOf(codegen, use, share) > options.data[options.size - 1].rate))
        options.data[options.size++] =
            (SambaAgOption){share.ranges * share.ways, share, rateOf(codegen, use, share)};
    }
    asked.row_bytes = 0; /* no cut makes whole rows: broken ones then */
  }

  /* A generator for each source always will do. */
  SambaAgShare each = {use->sources, 1, use->sources, storedRow(codegen, use, use->sources)};
  if (!options.size)
    options.data[options.size++] = (SambaAgOption){use->sources, each, rateOf(codegen, use, each)};
  return options;
}
