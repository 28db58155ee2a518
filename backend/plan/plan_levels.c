/* Levels and depths of operands; see plan_levels.h. */
#include "backend/plan/plan_levels.h"

enum { mostSpread = 8 };

/* Buffers over which a slot that is loaded once can be spread: the iterations of its outermost
 * loop. */
static uint32_t spreadOf(SambaTileNest *nest, uint32_t operand, uint32_t level) {
  uint32_t position = level;
  while (position < nest->group->dim_count &&
         (nest->trips[nest->dim_at[position]] == 1 ||
          !sambaGroupDepends(nest->group, operand, nest->dim_at[position])))
    ++position;
  if (position == nest->group->dim_count || nest->trips[nest->dim_at[position]] > mostSpread)
    return 1;
  nest->level[operand] = level;
  nest->depth[operand] = (uint32_t)nest->trips[nest->dim_at[position]];
  return sambaTileNestSpread(nest, operand, &position);
}

/* use: whether a slot may be spread, several PMUs take slots in turn. Least traffic first; equal
 * traffic: the smaller slot, which fills sooner. first: the level of the largest slot. */
static bool chooseLevel(SambaTileNest *nest, uint32_t operand, uint32_t first, SambaLevelsUse use) {
  int64_t bytes = sambaDTypeBytes(sambaTileNestDType(nest, operand));
  int64_t pmu = nest->machine->pmu_bytes;
  uint32_t best_level = 0;
  uint32_t best_depth = 0;
  double least = -1;

  for (uint32_t level = first; level <= nest->group->dim_count; ++level) {
    if (level && nest->trips[nest->dim_at[level - 1]] == 1)
      continue; /* the same slot as one level further out */
    if (level && !sambaGroupDepends(nest->group, operand, nest->dim_at[level - 1]))
      continue; /* the same slot, loaded more often */
    SambaTileBox box;
    int64_t slots = sambaTileNestTrips(nest, sambaTileNestChainLevel(nest, level));
    bool spreads = slots == 1 && use >= SAMBA_LEVELS_SPREAD;
    uint32_t spread = spreads ? spreadOf(nest, operand, level) : 1;
    uint32_t depth = slots > 1 ? 2 : spread;
    nest->level[operand] = level;
    nest->depth[operand] = depth;
    sambaTileNestSlotBox(nest, operand, &box);
    double traffic = (double)box.elements * (double)slots * spread;
    if (nest->joined[operand] || nest->tail > 1) /* who shares a slot depends on the level */
      traffic *= sambaTileNestLoadedSources(nest, operand);
    uint32_t held = slots > 1 ? depth : 1; /* slots in one PMU */
    bool fits = box.elements * bytes * held <= pmu ||
                (use == SAMBA_LEVELS_RINGS && sambaTileNestRing(nest, operand) > 1);
    if (!fits && held == 2 && box.elements * bytes <= pmu)
      fits = true, depth = 1, traffic *= 2; /* no overlap of filling and reading */
    if (!fits || (least >= 0 && traffic > least * 1.0001))
      continue;
    least = traffic;
    best_level = level;
    /* Deeper rings load ahead while the first firings wait for what loads longest. */
    while (slots > 1 && depth >= 2 && depth < 4 && depth < slots &&
           2 * box.elements * bytes * (depth + 1) <= pmu)
      ++depth;
    best_depth = depth;
  }

  nest->level[operand] = best_level;
  nest->depth[operand] = best_depth;
  return least >= 0;
}

/* Bytes that an operand may move more, of those of the result, so that copies lie side by side. */
static const double reloadedShare = 0.05;

/* Whether little is moved when the operand has slots of one tile. */
static bool reloadsCheaply(const SambaTileNest *nest, uint32_t operand, uint32_t level) {
  SambaTileNest other = *nest;
  SambaTileBox box;
  other.level[operand] = level;
  sambaTileNestSlotBox(&other, operand, &box);
  double bytes = (double)box.elements * (double)sambaTileNestLoadedSources(&other, operand) *
                 (double)sambaTileNestTrips(nest, sambaTileNestChainLevel(nest, level)) *
                 sambaDTypeBytes(sambaTileNestDType(nest, operand));
  double result = (double)sambaTileNestTileElements(nest) * (double)sambaTileNestResults(nest) *
                  nest->copies *
                  sambaDTypeBytes(nest->graph->tensors[nest->group->output.tensor].dtype);
  return bytes <= reloadedShare * result;
}

/* Copies that take runs of tiles store rows of one tile. Where only small operands ask for runs,
 * such as a bias, these are loaded tile by tile: then the copies' results make long rows. */
static void avoidRuns(const SambaGroupLimits *limits, SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  for (uint32_t at = 0; at < group->parallel_count; ++at) {
    uint32_t dim = nest->dim_at[at], runs = 0;
    bool cheap = !sambaTileNestIsPipelined(nest, dim) && nest->unroll[dim] > 1 &&
                 nest->trips[dim] > 1 && group->output_stride[dim] == 1;
    for (uint32_t i = 0; i < group->operand_count && cheap; ++i)
      if (sambaTileNestMakesRuns(nest, i, dim, at)) {
        runs |= 1u << i;
        cheap = group->operands[i].late && !(limits->on_chip >> i & 1) &&
                reloadsCheaply(nest, i, at + 1);
      }
    for (uint32_t i = 0; i < group->operand_count && cheap; ++i)
      if (runs >> i & 1)
        nest->level[i] = at + 1, nest->depth[i] = 4;
  }
}

bool sambaPlanChooseLevels(const SambaGroupLimits *limits, SambaTileNest *nest,
                           SambaLevelsUse use) {
  const SambaGroup *group = nest->group;
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    if (!group->operands[i].value)
      continue;
    bool indexed = group->operands[i].map.index_operand != SAMBA_NO_INDEX;
    if (limits->on_chip >> i & 1 || indexed) {
      nest->depth[i] = 2; /* the driver raises it to the distance of producer and consumer */
      nest->level[i] = indexed ? group->dim_count : limits->sliced[i];
    } else if (!chooseLevel(nest, i, limits->least_level[i], use)) {
      return false;
    }
  }

  avoidRuns(limits, nest);
  sambaTileNestSettle(nest);
  return true;
}
