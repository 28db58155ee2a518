/* Address generators: every operand in memory, shared argument and result gets at least one; what is left goes, step by
 * step, to whoever moves the most bytes per generator. */
#include "backend/map/estimate.h"
#include "backend/map/lower_internal.h"

#include <stdlib.h>

typedef struct AgUse {
  uint32_t *ranges, *ways; /* in the plans; ways NULL: always 1 */
  const SambaNest *nest;
  uint32_t mask, sources;
  uint32_t most_ranges, most_ways;
  int64_t row_bytes; /* > 0: staged, and a range should make rows of whole bursts out of these */
  bool stores;
  double first_bytes, bytes; /* before the first firing; in all */
} AgUse;

typedef SAMBA_ARRAY(AgUse) AgUses;

typedef struct AgShare {
  uint32_t ranges, ways;
} AgShare;

/* No port has more streams than a lane has flow ids. */
static bool isWithinFlows(const SambaLowering *l, const AgUse *use, uint32_t ranges) {
  if (use->stores)
    return sambaStoresFit(l, use->nest, ranges);
  return ranges * (uint64_t)l->machine->flows_per_lane >= use->sources;
}

/* Staged rows should be whole bursts. */
static bool hasWholeRows(const SambaLowering *l, const AgUse *use, uint32_t ranges) {
  uint32_t run = (use->sources + ranges - 1) / ranges;
  return !use->row_bytes || ranges == 1 || use->row_bytes * run % l->machine->dram_burst_bytes == 0;
}

/* The best use of at most `wanted` generators. */
static AgShare shareOf(const SambaLowering *l, const AgUse *use, uint32_t wanted) {
  AgShare best = {0, 1};
  for (uint32_t ways = 1; ways <= use->most_ways && ways <= wanted; ways *= 2) {
    uint32_t most = wanted / ways < use->most_ranges ? wanted / ways : use->most_ranges;
    uint32_t ranges = sambaCutCopies(use->nest, use->mask, most, NULL);
    if (ranges * ways > best.ranges * best.ways && isWithinFlows(l, use, ranges) && hasWholeRows(l, use, ranges))
      best = (AgShare){ranges, ways};
  }
  return best;
}

/* Generators that may fill one buffer together: as many as its write side can take, each with a whole part. */
static uint32_t waysOf(const SambaLowering *l, const SambaBox *slot) {
  int64_t size = slot->rank ? slot->size[sambaOutermostAxis(slot)] : 1;
  double rate = sambaMachineAgBytesPerCycle(l->machine);
  uint32_t ways = 1;
  while (2 * ways <= (uint32_t)l->machine->unit_vector_inputs && size % (2 * ways) == 0 &&
         slot->elements / (2 * ways) >= 512 && 2 * ways * rate <= 1.6 * (double)l->machine->pmu_port_bytes)
    ways *= 2;
  return ways;
}

static void addOperand(const SambaLowering *l, SambaGroupPlan *plan, uint32_t i, AgUses *uses, int64_t *total) {
  const SambaNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[i].map;
  plan->ways[i] = 1;
  if (map->index_operand >= 0) { /* one load per replica and, when the indices are in memory, one for them */
    plan->loads[i] = 1;
    *total += (int64_t)l->replicas * (1 + !l->tensors[group->operands[map->index_operand].map.tensor].buffered);
    return;
  }
  SambaBox box;
  bool direct = sambaNestIsDirect(nest, i);
  uint32_t level = direct ? sambaNestTokenLevel(nest, i) : sambaNestSlotLevel(nest, i), position;
  if (direct)
    sambaNestBox(nest, i, group->dim_count, &box);
  else
    sambaNestSlotBox(nest, i, &box);
  int64_t slots = sambaNestTrips(nest, level) * (direct ? 1 : sambaNestSpread(nest, i, &position));
  AgUse use = {.ranges = &plan->loads[i],
               .ways = &plan->ways[i],
               .nest = nest,
               .mask = sambaCopyMask(nest, i),
               .sources = sambaNestSources(nest, i)};
  use.most_ranges = use.sources;
  use.most_ways = direct ? 1 : waysOf(l, &box);
  use.first_bytes = (double)box.elements * use.sources * sambaDTypeBytes(sambaNestDType(nest, i));
  use.bytes = use.first_bytes * (double)slots;
  SambaCopyRange whole;
  sambaCutCopies(nest, use.mask, 1, &whole);
  if (!direct && sambaNestSpread(nest, i, &position) == 1 &&
      sambaStagedSourceDim(nest, i, &box, &whole) != UINT32_MAX) {
    use.most_ranges = (use.sources + 1) / 2; /* at least two copies per row */
    use.row_bytes = box.size[box.rank - 1] * sambaDTypeBytes(sambaNestDType(nest, i));
  }
  sambaArrayAppend(uses, use);
}

static void collect(SambaLowering *l, AgUses *uses, int64_t *total) {
  for (uint32_t t = 0; t < l->graph->tensor_count; ++t) {
    SambaTensorPlan *tensor = &l->tensors[t];
    if (!tensor->shared)
      continue;
    double bytes = sambaDTypeBytes(l->graph->tensors[t].dtype);
    for (uint32_t axis = 0; axis < l->graph->tensors[t].rank; ++axis)
      bytes *= (double)l->graph->tensors[t].dims[axis];
    const SambaNest *nest = &l->plans[0].nest;
    uint32_t mask = nest->pipeline_dim >= 0 && l->replicas > 1 ? 1u << nest->pipeline_dim : 0;
    AgUse use = {
        .ranges = &tensor->loads, .nest = nest, .mask = mask, .sources = l->replicas, .most_ranges = l->replicas};
    use.most_ways = 1;
    use.first_bytes = bytes / (double)sambaPipelineTrips(l);
    use.bytes = bytes;
    sambaArrayAppend(uses, use);
  }
  for (uint32_t g = 0; g < l->groups.count; ++g) {
    SambaGroupPlan *plan = &l->plans[g];
    const SambaNest *nest = &plan->nest;
    const SambaGroup *group = nest->group;
    for (uint32_t i = 0; i < group->operand_count; ++i)
      if (group->operands[i].value && !l->tensors[group->operands[i].map.tensor].buffered)
        addOperand(l, plan, i, uses, total);
    if (l->graph->tensors[group->output.tensor].role != SAMBA_TENSOR_RESULT)
      continue;
    double bytes = (double)sambaNestOutputElements(nest) * (double)sambaNestTrips(nest, group->parallel_count) *
                   nest->copies * sambaDTypeBytes(l->graph->tensors[group->output.tensor].dtype);
    AgUse use = {
        .ranges = &plan->stores, .nest = nest, .mask = sambaCopyMask(nest, UINT32_MAX), .sources = nest->copies};
    use.most_ranges = nest->copies;
    use.most_ways = 1;
    use.stores = true;
    use.first_bytes = bytes / (double)sambaNestTrips(nest, group->parallel_count); /* after the last firing */
    use.bytes = bytes;
    sambaArrayAppend(uses, use);
  }
}

/* Cycles that the section waits for this operand when `count` generators work on it: before the first firing, or in all
 * beyond the cycles in which the PCUs work anyway. */
static double waitOf(const SambaLowering *l, const AgUse *use, uint32_t count, double compute) {
  double rate = use->stores ? 0.6 * (double)l->machine->ag_bytes : 0.8 * sambaMachineAgBytesPerCycle(l->machine);
  double first = use->first_bytes / rate / count, all = use->bytes / rate / count - 0.6 * compute;
  return first > all ? first : all;
}

static uint32_t countOf(const AgUse *use) { return *use->ranges * (use->ways ? *use->ways : 1); }

static void take(const AgUse *use, AgShare share, int64_t *total) {
  *total += (int64_t)share.ranges * share.ways - (int64_t)countOf(use);
  *use->ranges = share.ranges;
  if (use->ways)
    *use->ways = share.ways;
}

typedef struct Candidate {
  const AgUse *use; /* NULL: nobody can take more */
  AgShare next;
  double wait;
} Candidate;

/* Cycles of waiting that the candidate's next step saves per generator. */
static double saving(const SambaLowering *l, const Candidate *candidate, double compute) {
  uint32_t count = countOf(candidate->use), next = candidate->next.ranges * candidate->next.ways;
  return (candidate->wait - waitOf(l, candidate->use, next, compute)) / (next - count);
}

/* Among the loads or the stores the one that makes the section wait longest and can take more generators. */
static Candidate longestWait(const SambaLowering *l, const AgUses *uses, bool stores, int64_t total, double compute) {
  Candidate best = {NULL, {0, 1}, 0};
  for (size_t i = 0; i < uses->size; ++i) {
    const AgUse *use = &uses->data[i];
    uint32_t count = countOf(use), most = use->most_ranges * use->most_ways;
    double wait = waitOf(l, use, count, compute);
    if (use->stores != stores || count >= most || (best.use && wait <= best.wait))
      continue;
    AgShare next = {0, 1};
    for (uint32_t wanted = count + 1; wanted <= most && total - count + wanted <= l->machine->ag_count; ++wanted) {
      next = shareOf(l, use, wanted);
      if (next.ranges * next.ways > count)
        break;
    }
    if (next.ranges * next.ways > count)
      best = (Candidate){use, next, wait};
  }
  return best;
}

static SambaStatus shareAgs(const SambaLowering *l, const AgUses *uses, int64_t total) {
  double compute = 0; /* of the slowest group */
  for (uint32_t g = 0; g < l->groups.count; ++g) {
    const SambaNest *nest = &l->plans[g].nest;
    double own = sambaNestFiringCycles(nest) * (double)sambaNestTrips(nest, nest->group->dim_count);
    compute = own > compute ? own : compute;
  }
  for (size_t i = 0; i < uses->size; ++i) {
    const AgUse *use = &uses->data[i];
    AgShare share = {0, 1};
    for (uint32_t wanted = 1; !share.ranges && wanted <= use->most_ranges * use->most_ways; ++wanted)
      share = shareOf(l, use, wanted);
    if (!share.ranges)
      share.ranges = use->sources;
    *use->ranges = 0;
    take(use, share, &total);
  }
  if (total > l->machine->ag_count)
    return sambaStatusMake(
        SAMBA_EXHAUSTED,
        "the section needs %lld address generators for its %zu operands and results in memory, but %s has %lld",
        (long long)total, uses->size, l->machine->name, (long long)l->machine->ag_count);
  for (;;) {
    /* Loads run side by side: the longest wait counts, and all their generators were needed to get it there. Stores
     * come after it, so each generator goes where it saves more. */
    Candidate load = longestWait(l, uses, false, total, compute), store = longestWait(l, uses, true, total, compute);
    if (!load.use && !store.use)
      return NULL;
    double loads = 0;
    for (size_t i = 0; i < uses->size; ++i)
      loads += uses->data[i].stores ? 0 : countOf(&uses->data[i]);
    bool stores_first = store.use && (!load.use || 0.7 * saving(l, &store, compute) >
                                                       saving(l, &load, compute) * countOf(load.use) / loads);
    take(stores_first ? store.use : load.use, stores_first ? store.next : load.next, &total);
  }
}

SambaStatus sambaLowerAssignAgs(SambaLowering *l) {
  AgUses uses = {0};
  int64_t total = 0;
  collect(l, &uses, &total);
  SambaStatus status = shareAgs(l, &uses, total);
  sambaArrayFree(&uses);
  return status;
}
