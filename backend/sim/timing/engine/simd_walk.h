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

typedef struct SambaSimdInput {
  const SambaPort *port;
  uint64_t vector_elements;
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
  uint64_t *counters;     /* all of the unit's; those within the token move */
  SambaSimdInput *inputs; /* one for each of the unit's */
} SambaSimdWalk;

/* A walk that begins with a firing; it lives in the arena. */
SambaSimdWalk sambaSimdWalkMake(SambaArena *arena, const SambaMachine *machine,
                                const SambaSection *section, const SambaUnit *unit, uint64_t lanes);
SambaSimdStep sambaSimdWalkNext(const SambaSimdWalk *walk);
/* Elements of an input's token that have been used after the step; all of them when it is the last
 * one with this token. */
uint64_t sambaSimdWalkUses(const SambaSimdWalk *walk, uint32_t input, const SambaSimdStep *step,
                           bool ends_token);
/* The vectors with these elements. */
SambaSimdNeed sambaSimdInputNeed(const SambaSimdInput *input, uint64_t elements);
/* Vectors that the pipeline before an output holds: one for each cycle of its latency, and more
 * where the stream is narrower than the unit. */
uint64_t sambaPipelinePlaces(const SambaMachine *machine, const SambaSection *section,
                             const SambaUnit *unit, const SambaPort *output, uint64_t lanes,
                             uint64_t latency);
/* Goes on behind the step. */
void sambaSimdWalkAdvance(SambaSimdWalk *walk, const SambaSimdStep *step);

#endif
