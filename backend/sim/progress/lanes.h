/* SIMD bodies without time: how many steps of a PCU are done, and how they follow from what came in
 * and what can go out.
 *
 * A step covers up to `lanes` points along the innermost counter. It happens when the elements that
 * it uses are in the unit or at the heads of its FIFOs, and when the pipelines have a stage for
 * each vector that it completes. A vector is taken by the step that uses its last element for the
 * first time. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_LANES_H
#define SAMBA_BACKEND_SIM_PROGRESS_LANES_H

#include "backend/sim/progress/port.h"
#include "backend/sim/progress/program.h"

/* A counter within a firing, but for the innermost one. */
typedef struct SambaLaneCounter {
  uint64_t trips, steps; /* steps: of the body, for one of its own */
  bool reduced;
} SambaLaneCounter;

/* How a port's elements follow the counters. */
typedef struct SambaLaneWalk {
  uint64_t *strides; /* elements per step of each counter */
  uint64_t *inside;  /* elements that the counters inside of it walk */
  bool row;          /* the innermost counter walks elements */
  bool wraps;        /* only steps at which the reduced counters are at their last values count */
  uint64_t period;   /* firings that use one token, or that make one */
  uint64_t firing;   /* of the period, that does it */
} SambaLaneWalk;

typedef struct SambaLanes {
  const SambaUnit *unit;
  uint64_t lanes;
  uint32_t counter_count;
  SambaLaneCounter *counters; /* outermost first */
  uint64_t row, row_steps;    /* trips of the innermost counter, and its steps */
  bool row_reduced;
  uint64_t firing_steps;   /* steps of a firing */
  uint64_t firings, steps; /* steps: done */
  SambaLaneWalk *input_walks, *output_walks;
  SambaProgressInput *inputs;
  SambaProgressOutput *outputs;
} SambaLanes;

/* inputs and outputs are the caller's, and built. */
void sambaLanesBuild(SambaLanes *body, SambaArena *arena, const SambaUnit *unit,
                     const SambaProgressProgram *program, SambaProgressInput *inputs,
                     SambaProgressOutput *outputs);
/* Goes on as far as it can. */
void sambaLanesAdvance(SambaLanes *body, SambaFlows *flows);
bool sambaLanesAreDone(const SambaLanes *body);
/* Steps that the vectors of an input that arrived, or the room of an output, suffice for. */
uint64_t sambaLanesFed(const SambaLanes *body, const SambaFlows *flows, uint32_t input);
uint64_t sambaLanesFree(const SambaLanes *body, const SambaFlows *flows, uint32_t output);

#endif
