/* From counters to loops; see loop_nest.h. Counters of one step are dropped, those that are
 * contiguous for every port are merged, and the loop to vectorize is chosen. */
#include "backend/sim/value/unit/loop_nest.h"

enum { parallelWidth = 16, someLoops = 3 };

static bool canMerge(const SambaLoop *outer, uint32_t trip, const int64_t *const *strides,
                     uint32_t counter, uint32_t ports) {
  for (uint32_t p = 0; p < ports; ++p)
    if (outer->strides[p] != strides[p][counter] * (int64_t)trip)
      return false;
  return true;
}

/* Appends the counters of one class, outermost first. */
static uint32_t appendLoops(SambaArena *arena, SambaLoopNest *nest, uint32_t count,
                            const SambaUnit *unit, uint64_t mask, const int64_t *const *strides,
                            uint32_t ports, bool reduced) {
  uint32_t first = count;
  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c) {
    if (!(mask >> c & 1) || unit->compute.trips[c] == 1)
      continue;
    if (count > first &&
        canMerge(&nest->loops[count - 1], unit->compute.trips[c], strides, c, ports)) {
      nest->loops[count - 1].trip *= unit->compute.trips[c];
    } else {
      nest->loops[count] = (SambaLoop){unit->compute.trips[c],
                                       SAMBA_ARENA_ARRAY(arena, int64_t, nest->ports), reduced};
      ++count;
    }
    for (uint32_t p = 0; p < ports; ++p)
      nest->loops[count - 1].strides[p] = strides[p][c];
  }

  return count;
}

/* Host time of one element of a port, in contiguous loads. */
static double strideCost(int64_t stride) {
  if (stride == 0)
    return 0.25;
  return stride == 1 ? 1 : 8;
}

/* Host time per element when this loop is vectorized, in loads. */
static double loopCost(const SambaLoop *loop, uint32_t ports, uint32_t width) {
  double cost = 1;
  for (uint32_t p = 0; p < ports; ++p)
    cost += strideCost(loop->strides[p]);
  double vectors = (double)((loop->trip + width - 1) / width * width);
  return cost * vectors / (double)loop->trip;
}

static void chooseVector(SambaLoopNest *nest, uint32_t ports, uint32_t reduce_lanes) {
  nest->width = 1;
  double best = 0;
  uint32_t chosen = 0;

  for (uint32_t l = 0; l < nest->parallel_loops; ++l) {
    double cost = loopCost(&nest->loops[l], ports, parallelWidth) + (reduce_lanes ? 4 : 0);
    if (nest->width == 1 || cost <= best)
      best = cost, chosen = l, nest->width = parallelWidth;
  }

  if (reduce_lanes && nest->reduced_loops) {
    const SambaLoop *last = &nest->loops[nest->parallel_loops + nest->reduced_loops - 1];
    /* The fold at the end of each point counts too. */
    double cost = loopCost(last, ports, reduce_lanes) + 24.0 / (double)nest->reduced_points;
    if (nest->width == 1 || cost <= best) {
      nest->width = (uint16_t)reduce_lanes;
      nest->vector_reduced = true;
    }
  }

  if (nest->vector_reduced || nest->width == 1)
    return;
  SambaLoop loop = nest->loops[chosen];
  for (uint32_t l = chosen; l + 1 < nest->parallel_loops; ++l)
    nest->loops[l] = nest->loops[l + 1];
  nest->loops[nest->parallel_loops - 1] = loop;
}

/* A nest of two parallel loops gets a third one of one step, so that one compiled kernel serves
 * both kinds: compiling one takes longer than most sections run. */
static void equalizeLoops(SambaArena *arena, SambaLoopNest *nest) {
  if (nest->parallel_loops <= 1 || nest->parallel_loops >= someLoops)
    return;
  for (uint32_t l = nest->parallel_loops + nest->reduced_loops; l-- > 0;)
    nest->loops[l + 1] = nest->loops[l];
  nest->loops[0] = (SambaLoop){1, SAMBA_ARENA_ARRAY(arena, int64_t, nest->ports), false};
  ++nest->parallel_loops;
}

SambaLoopNest *sambaLoopNestCreate(SambaArena *arena, const SambaUnit *unit,
                                   const int64_t *const *strides, uint32_t ports, bool external,
                                   uint64_t reduce_mask, uint32_t reduce_lanes) {
  SambaLoopNest *nest = SAMBA_ARENA_NEW(arena, SambaLoopNest);
  nest->ports = ports + (external ? 0 : 1);
  nest->loops = SAMBA_ARENA_ARRAY(arena, SambaLoop, unit->compute.counter_count + 2);
  uint64_t inner = 0;

  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c)
    inner |= UINT64_C(1) << c;
  uint32_t count = appendLoops(arena, nest, 0, unit, inner & ~reduce_mask, strides, ports, false);
  nest->parallel_loops = count;
  count = appendLoops(arena, nest, count, unit, inner & reduce_mask, strides, ports, true);
  nest->reduced_loops = count - nest->parallel_loops;
  nest->points = nest->reduced_points = 1;
  for (uint32_t l = 0; l < count; ++l)
    *(l < nest->parallel_loops ? &nest->points : &nest->reduced_points) *= nest->loops[l].trip;
  if (reduce_lanes &&
      !nest->reduced_loops) /* lanes still count across firings: a row of one element */
    nest->loops[count] = (SambaLoop){1, SAMBA_ARENA_ARRAY(arena, int64_t, nest->ports), true},
    nest->reduced_loops = 1;
  chooseVector(nest, ports, reduce_lanes);
  equalizeLoops(arena, nest);
  int64_t stride = 1;

  for (uint32_t l = nest->parallel_loops; l-- > 0 && !external;) {
    nest->loops[l].strides[ports] = stride;
    stride *= (int64_t)nest->loops[l].trip;
  }

  return nest;
}

SambaWalk sambaLoopNestWalk(const SambaLoopNest *nest, uint32_t port) {
  if (nest->width == 1)
    return SAMBA_WALK_STRIDED;
  uint32_t loop = nest->vector_reduced ? nest->parallel_loops + nest->reduced_loops - 1
                                       : nest->parallel_loops - 1;
  int64_t stride = nest->loops[loop].strides[port];
  if (stride == 0)
    return SAMBA_WALK_BROADCAST;
  return stride == 1 ? SAMBA_WALK_CONTIGUOUS : SAMBA_WALK_STRIDED;
}
