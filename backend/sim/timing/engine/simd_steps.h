/* The steps of a SIMD unit's firings, as a table: every firing has the same ones. What a step uses
 * of its inputs and has made of its outputs is found once, not at each firing. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_SIMD_STEPS_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_SIMD_STEPS_H

#include "backend/sim/timing/engine/simd_walk.h"

/* An output, or an input, as the table knows it. */
typedef struct SambaSimdOutput {
  SambaVector vector;
  uint64_t token_elements, token_vectors;
  bool is_result, folds; /* folds: what a step adds up is one element */
  uint64_t elements;     /* that are made when the step before the table's next one is over */
} SambaSimdOutput;
typedef struct SambaSimdPort {
  uint32_t port;
  bool is_left_out; /* nobody asks what steps use of it */
} SambaSimdPort;

typedef struct SambaSimdSteps {
  /* Of each step: the vectors that are made of each output when it is over; then, of each input,
   * what it needs, a SambaSimdNeed. */
  uint64_t *rows;
  uint32_t width, count, next; /* next: the row of the next step */
  bool ends_firing;            /* the last row does */
  bool is_whole;               /* the table has all steps of a firing; others go on with `walk` */
  SambaSimdWalk walk;
  SambaSimdOutput *outputs;
  SambaSimdPort *inputs;
  uint32_t output_count, input_count;
} SambaSimdSteps;

/* Tables that have been made: units of one law share them. */
typedef SAMBA_ARRAY(const SambaSimdSteps *) SambaSimdTables;

/* Makes the first rows; `walk`, `outputs` and `inputs` are filled in. */
void sambaSimdStepsMake(SambaSimdSteps *steps, SambaArena *arena, SambaSimdTables *tables);
/* The rows of the next steps. */
void sambaSimdStepsRefill(SambaSimdSteps *steps);

static inline const uint64_t *sambaSimdStepsRow(SambaSimdSteps *steps) {
  return steps->rows + (size_t)steps->next * steps->width;
}
/* What a step needs of an input. */
static inline SambaSimdNeed sambaSimdStepsNeed(const SambaSimdSteps *steps, const uint64_t *row,
                                               uint32_t input) {
  const uint64_t *need = row + steps->output_count + 2 * (size_t)input;
  return (SambaSimdNeed){.touched = need[0], .used_up = need[1]};
}
/* Goes on behind a step. Returns whether it ends a firing. */
static inline bool sambaSimdStepsAdvance(SambaSimdSteps *steps) {
  if (++steps->next < steps->count)
    return false;
  steps->next = 0;
  bool ends = steps->ends_firing;
  if (!steps->is_whole)
    sambaSimdStepsRefill(steps);
  return ends;
}

#endif
