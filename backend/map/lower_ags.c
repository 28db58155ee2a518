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
  bool stores;
  double bytes;
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

/* The best use of at most `wanted` generators. */
static AgShare shareOf(const SambaLowering *l, const AgUse *use, uint32_t wanted) {
  AgShare best = {0, 1};
  for (uint32_t ways = 1; ways <= use->most_ways && ways <= wanted; ways *= 2) {
    uint32_t most = wanted / ways < use->most_ranges ? wanted / ways : use->most_ranges;
    uint32_t ranges = sambaCutCopies(use->nest, use->mask, most, NULL);
    if (ranges * ways > best.ranges * best.ways && isWithinFlows(l, use, ranges))
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
         slot->elements / (2 * ways) >= 512 && 2 * ways * rate <= 1.25 * (double)l->machine->pmu_port_bytes)
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
  uint32_t level = direct ? sambaNestTokenLevel(nest, i) : sambaNestSlotLevel(nest, i);
  sambaNestBox(nest, i, direct ? group->dim_count : level, &box);
  int64_t slots = sambaNestTrips(nest, level);
  AgUse use = {.ranges = &plan->loads[i],
               .ways = &plan->ways[i],
               .nest = nest,
               .mask = sambaCopyMask(nest, i),
               .sources = sambaNestSources(nest, i)};
  use.most_ranges = use.sources;
  use.most_ways = direct ? 1 : waysOf(l, &box);
  use.bytes = (double)box.elements * (double)slots * use.sources * sambaDTypeBytes(sambaNestDType(nest, i));
  if (slots == 1)
    use.bytes *= 4; /* everything waits for what is loaded once; the rest has the whole run for it */
  SambaCopyRange whole;
  sambaCutCopies(nest, use.mask, 1, &whole);
  if (!direct && sambaStagedSourceDim(nest, i, &box, &whole) != UINT32_MAX)
    use.most_ranges = use.sources / 2; /* at least two copies per row */
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
    sambaArrayAppend(uses, (AgUse){&tensor->loads, NULL, nest, mask, l->replicas, l->replicas, 1, false, bytes});
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
    /* Stores wait for nothing, so half of what they move counts. */
    sambaArrayAppend(uses, (AgUse){&plan->stores, NULL, nest, sambaCopyMask(nest, UINT32_MAX), nest->copies,
                                   nest->copies, 1, true, bytes / 2});
  }
}

static uint32_t countOf(const AgUse *use) { return *use->ranges * (use->ways ? *use->ways : 1); }

static void take(const AgUse *use, AgShare share, int64_t *total) {
  *total += (int64_t)share.ranges * share.ways - (int64_t)countOf(use);
  *use->ranges = share.ranges;
  if (use->ways)
    *use->ways = share.ways;
}

static SambaStatus shareAgs(const SambaLowering *l, const AgUses *uses, int64_t total) {
  for (size_t i = 0; i < uses->size; ++i) {
    const AgUse *use = &uses->data[i];
    AgShare share = {0, 1};
    for (uint32_t wanted = 1; !share.ranges && wanted <= use->sources; ++wanted)
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
    size_t most = SIZE_MAX;
    AgShare better = {0, 1};
    for (size_t i = 0; i < uses->size; ++i) {
      const AgUse *use = &uses->data[i];
      uint32_t count = countOf(use);
      if (count >= use->most_ranges * use->most_ways ||
          (most != SIZE_MAX && use->bytes / count <= uses->data[most].bytes / countOf(&uses->data[most])))
        continue;
      AgShare next = {0, 1};
      for (uint32_t wanted = count + 1;
           wanted <= use->most_ranges * use->most_ways && total - count + wanted <= l->machine->ag_count; ++wanted) {
        next = shareOf(l, use, wanted);
        if (next.ranges * next.ways > count)
          break;
      }
      if (next.ranges * next.ways <= count)
        continue;
      most = i;
      better = next;
    }
    if (most == SIZE_MAX)
      return NULL;
    take(&uses->data[most], better, &total);
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
