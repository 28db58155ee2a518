/* From a compute unit's counters to the loop nest of its kernel. */
#ifndef SAMBA_BACKEND_SIM_VALUE_UNIT_LOOP_NEST_H
#define SAMBA_BACKEND_SIM_VALUE_UNIT_LOOP_NEST_H

#include "backend/sim/value/kernel/kernel_spec.h"

typedef struct SambaLoop {
  uint64_t trip;
  int64_t *strides; /* per kernel port: inputs, outputs, counters, accumulators */
  bool reduced;
} SambaLoop;

typedef struct SambaLoopNest {
  uint32_t parallel_loops, reduced_loops, ports;
  SambaLoop *loops;
  uint16_t width;
  bool vector_reduced;
  uint64_t points, reduced_points; /* of one firing */
} SambaLoopNest;

/* strides: [port][counter] of the unit's chain, without the accumulator port, which is laid out
 * densely here (unless external: then its strides are the last row). reduce_mask: 0 when nothing is
 * reduced in the kernel. reduce_lanes: 0 for reductions in order. */
SambaLoopNest *sambaLoopNestCreate(SambaArena *arena, const SambaUnit *unit,
                                   const int64_t *const *strides, uint32_t ports, bool external,
                                   uint64_t reduce_mask, uint32_t reduce_lanes);
/* How the vectorized loop walks a port. */
SambaWalk sambaLoopNestWalk(const SambaLoopNest *nest, uint32_t port);

#endif
