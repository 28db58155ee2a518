/* How a SIMD unit walks the points of its firings: in steps of up to its lanes along the innermost
 * counter. What a step uses of its inputs, and what it ends. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_SIMD_WALK_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_SIMD_WALK_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

typedef struct SambaSimdStep {
  uint64_t points;
  bool ends_sums;   /* every reduced counter within the token is at its last value */
  bool ends_firing; /* every counter within the token is */
} SambaSimdStep;

/* How many elements a vector has; of most streams a power of two, which divides faster. */
typedef struct SambaVector {
  uint64_t elements;
  uint32_t shift;
  bool is_power;
} SambaVector;

static inline SambaVector sambaVectorOf(uint64_t elements) {
  return (SambaVector){elements, (uint32_t)__builtin_ctzll(elements), !(elements & (elements - 1))};
}
/* Whole vectors in so many elements. */
static inline uint64_t sambaVectorsIn(SambaVector vector, uint64_t elements) {
  return vector.is_power ? elements >> vector.shift : elements / vector.elements;
}

/* Vectors that hold so many elements. */
static inline uint64_t sambaVectorsFor(SambaVector vector, uint64_t elements) {
  return elements ? sambaVectorsIn(vector, elements - 1) + 1 : 0;
}

typedef struct SambaSimdInput {
  const SambaPort *port;
  uint64_t token_elements;
  int64_t stride; /* from one point of a step to the next, in elements */
  SambaVector vector;
  int64_t index;     /* of the element that the next step uses first */
  uint64_t elements; /* of the token that have been used */
} SambaSimdInput;

/* Vectors of a token. */
typedef struct SambaSimdNeed {
  uint64_t touched; /* that have an element of those that are needed, */
  uint64_t used_up; /* and that have no other one */
} SambaSimdNeed;

typedef struct SambaSimdWalk {
  const SambaUnit *unit;
  uint64_t lanes;
  bool sums;              /* some counter within the token is reduced */
  uint64_t *counters;     /* all of the unit's; those within the token move */
  SambaSimdInput *inputs; /* one for each of the unit's */
} SambaSimdWalk;

/* A walk that begins with a firing; it lives in the arena. */
SambaSimdWalk sambaSimdWalkMake(SambaArena *arena, const SambaMachine *machine,
                                const SambaSection *section, const SambaUnit *unit, uint64_t lanes);
static inline SambaSimdStep sambaSimdWalkNext(const SambaSimdWalk *walk) {
  const SambaCompute *compute = &walk->unit->compute;
  SambaSimdStep step = {1, true, true};
  uint32_t inner = compute->counter_count;
  if (inner == compute->token_level)
    return step;

  uint64_t left = compute->trips[inner - 1] - walk->counters[inner - 1];
  step.points = walk->lanes < left ? walk->lanes : left;
  if (walk->lanes < left && !walk->sums) { /* most steps: the innermost counter goes on */
    step.ends_firing = false;
    return step;
  }
  for (uint32_t c = compute->token_level; c < inner; ++c) {
    uint64_t after = walk->counters[c] + (c + 1 == inner ? step.points : 1);
    bool last = after == compute->trips[c];
    step.ends_firing &= last;
    step.ends_sums &= last || c >= 64 || !(compute->program.reduce_mask >> c & 1);
  }
  return step;
}

/* Elements of an input's token that have been used after the step; all of them when it is the last
 * one with this token. */
static inline uint64_t sambaSimdWalkUses(const SambaSimdWalk *walk, uint32_t index,
                                         const SambaSimdStep *step, bool ends_token) {
  const SambaSimdInput *input = &walk->inputs[index];
  if (ends_token)
    return input->token_elements;
  int64_t last = input->index;
  if (input->stride > 0)
    last += input->stride * (int64_t)(step->points - 1);
  uint64_t elements = last < 0 ? 0 : (uint64_t)last + 1;
  return elements > input->elements ? elements : input->elements;
}

/* The vectors with these elements. */
static inline SambaSimdNeed sambaSimdInputNeed(const SambaSimdInput *input, uint64_t elements) {
  uint64_t whole = sambaVectorsIn(input->vector, elements);
  bool rest = elements > whole * input->vector.elements;
  SambaSimdNeed need = {whole + rest, whole};
  if (elements == input->token_elements)
    need.used_up = need.touched;
  return need;
}

/* Vectors that the pipeline before an output holds: one for each cycle of its latency, and more
 * where the stream is narrower than the unit. */
uint64_t sambaPipelinePlaces(const SambaMachine *machine, const SambaSection *section,
                             const SambaUnit *unit, const SambaPort *output, uint64_t lanes,
                             uint64_t latency);
/* Goes on behind the step. */
static inline void sambaSimdWalkAdvance(SambaSimdWalk *walk, const SambaSimdStep *step) {
  const SambaUnit *unit = walk->unit;
  uint64_t by = step->points;
  for (uint32_t c = unit->compute.counter_count; c-- > unit->compute.token_level; by = 1) {
    uint64_t trips = unit->compute.trips[c];
    walk->counters[c] += by;
    bool wraps = walk->counters[c] == trips;
    int64_t steps = (int64_t)by - (wraps ? (int64_t)trips : 0);
    bool innermost = c + 1 == unit->compute.counter_count;
    for (uint32_t i = 0; i < unit->input_count; ++i) {
      SambaSimdInput *input = &walk->inputs[i];
      input->index += steps * (innermost ? input->stride : input->port->compute.strides[c]);
    }
    if (!wraps)
      break;
    walk->counters[c] = 0;
  }
}

#endif
