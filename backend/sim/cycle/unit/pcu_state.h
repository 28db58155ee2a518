/* A PCU as it works: its ports, where its body is, and how operands come out of the FIFOs. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_STATE_H
#define SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_STATE_H

#include "backend/section/access.h"
#include "backend/sim/cycle/unit/pcu_program.h"
#include "backend/sim/cycle/unit/port.h"

/* What a step needs of an input. */
typedef struct SambaPcuNeed {
  uint64_t token;   /* number of the token */
  uint32_t touched; /* vectors of it that have an element of those that are needed, */
  uint32_t used_up; /* and that have no other one */
} SambaPcuNeed;

/* What every step looks at lies in one line of the host's cache, here and in what follows. */
typedef struct SambaPcuInput {
  _Alignas(SAMBA_CACHE_LINE) SambaPcuNeed need; /* of the next step (is_prepared) */
  uint32_t share; /* systolic: elements that every k step adds; 0: not all add as many */
  uint32_t begun; /* systolic: elements that are needed of the vector that is not used up */
  uint32_t seen;  /* vectors of the token of `need` that are known to be at hand */
  uint32_t vector_elements; /* as in `vectors` */
  SambaInputPort vectors;
  uint64_t token;   /* that the firing at work uses */
  uint64_t period;  /* firings that use one token */
  int64_t *strides; /* of the counters within a token */
  int64_t index;    /* SIMD: of the element that the next step uses first */
  uint64_t needed;  /* SIMD: elements of the current token that have been needed */
  const SambaPort *port;
  bool follows; /* only what follows the reduction uses it */
} SambaPcuInput;

typedef struct SambaPcuOutput {
  _Alignas(SAMBA_CACHE_LINE) SambaOutputPort vectors;
  const SambaPort *port;
  bool follows;      /* it takes results of the reduction */
  uint64_t elements; /* of the current token that are made */
  uint64_t makes;    /* SIMD: vectors that the next step makes (is_prepared) */
  /* Systolic: vectors that wait in the shadow accumulators, and how many have left in all. */
  uint64_t waiting, drained;
} SambaPcuOutput;

/* SIMD: one step, its points and what it ends. */
typedef struct SambaPcuStep {
  uint64_t points;
  bool ends_sums;   /* every reduced counter is at its last value */
  bool ends_firing; /* every inner counter is */
} SambaPcuStep;

/* SIMD: a counter within a token. */
typedef struct SambaPcuCounter {
  uint32_t at, trips;
  bool is_reduced;
} SambaPcuCounter;

/* What every step of an array looks at comes first. */
typedef struct SambaPcu {
  _Alignas(SAMBA_CACHE_LINE) SambaPcuInput *inputs;
  SambaPcuOutput *outputs;
  uint32_t input_count, output_count;
  uint64_t firings, firing;
  uint64_t step_free_at; /* cycle of the next step, no earlier */
  uint64_t pass_step;    /* systolic */
  uint64_t sums_from; /* systolic: the sums of the pass before are complete from this cycle on; 0:
                         they left for the shadow accumulators */
  SambaTimeLine line;
  bool is_prepared; /* what the next step needs of its inputs was worked out */
  bool sends;       /* vectors are on their way through the pipelines of outputs */
  bool sums_wait;   /* systolic: an output has vectors in the shadow accumulators */
  SambaPcuProgram program;
  uint64_t tail_work;     /* transcendental operations done, for rates above one */
  uint64_t after_free_at; /* what follows the reduction can begin another vector */
  uint64_t flops, multiply_adds;
  SambaPcuStep step;         /* SIMD: the next one (is_prepared) */
  SambaPcuCounter *counters; /* SIMD: those within a token, outermost first */
  uint32_t counter_count, index;
  const SambaUnit *unit;
} SambaPcu;
/* In so many lines. */
enum { SAMBA_PCU_LINES = 3 };

/* Its firings are over, and their results have left. */
bool sambaPcuHasEnded(const SambaPcu *pcu);
static inline bool sambaPcuIsDone(const SambaPcu *pcu) {
  return pcu->firing == pcu->firings && sambaPcuHasEnded(pcu);
}

/* Another firing begins. */
void sambaPcuNextTokens(SambaPcu *pcu);
/* Vectors that are taken of token number `token` of an input. */
static inline uint32_t sambaPcuTaken(const SambaPcuInput *input, uint64_t token) {
  return input->vectors.tokens > token ? input->vectors.vectors : input->vectors.taken;
}
/* The first `elements` elements of a token. */
SambaPcuNeed sambaPcuNeed(const SambaPcuInput *input, uint64_t token, uint64_t elements);
/* Is that at hand: in the unit, or in the two vectors at the head of the FIFO? Otherwise *wake says
 * when to look again. */
static inline bool sambaPcuHas(const SambaPcuInput *input, const SambaNetwork *network,
                               const SambaPcuNeed *need, uint64_t *wake) {
  uint32_t taken = sambaPcuTaken(input, need->token);
  uint64_t now = network->clock->now;
  if (need->touched <= taken)
    return true;

  uint64_t at = sambaInputPortHeadAt(&input->vectors, network);
  if (at <= now && need->used_up > taken + 1)
    return false;
  if (at <= now && need->touched > taken + 1)
    at = sambaInputPortSecondAt(&input->vectors, network);
  if (at > now)
    sambaKeepEarlier(wake, at);
  return at <= now;
}
/* A step that cannot happen yet takes a vector that is there, unless it is the last that the step
 * needs. */
void sambaPcuTakeAhead(SambaPcuInput *input, SambaNetwork *network, const SambaPcuNeed *need,
                       uint64_t *wake);
/* Takes the vectors that those elements fill. */
static inline void sambaPcuUse(SambaPcuInput *input, SambaNetwork *network,
                               const SambaPcuNeed *need) {
  if (sambaPcuTaken(input, need->token) < need->used_up)
    sambaInputPortTake(&input->vectors, network);
}

#endif
