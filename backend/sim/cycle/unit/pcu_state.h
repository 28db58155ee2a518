/* A PCU as it works: its ports, where its body is, and how operands come out of the FIFOs. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_STATE_H
#define SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_STATE_H

#include "backend/section/access.h"
#include "backend/sim/cycle/unit/pcu_program.h"
#include "backend/sim/cycle/unit/port.h"

typedef struct SambaPcuInput {
  SambaInputPort vectors;
  uint64_t period; /* firings that use one token */
  int64_t index;   /* SIMD: of the element that the next step uses first */
  uint64_t needed; /* SIMD: elements of the current token that have been needed */
  const SambaPort *port;
  bool follows; /* only what follows the reduction uses it */
} SambaPcuInput;

typedef struct SambaPcuOutput {
  const SambaPort *port;
  SambaOutputPort vectors;
  bool follows;      /* it takes results of the reduction */
  uint64_t elements; /* of the current token that are made */
  /* Systolic: vectors that wait in the shadow accumulators, and how many have left in all. */
  uint64_t waiting, drained;
} SambaPcuOutput;

typedef struct SambaPcu {
  const SambaUnit *unit;
  uint32_t index;
  SambaPcuProgram program;
  SambaPcuInput *inputs;
  SambaPcuOutput *outputs;
  uint64_t firings, firing;
  uint64_t step_free_at;  /* cycle of the next step, no earlier */
  uint64_t tail_work;     /* transcendental operations done, for rates above one */
  uint64_t after_free_at; /* what follows the reduction can begin another vector */
  uint64_t flops, multiply_adds;
  SambaTimeLine line;
  /* Systolic. */
  uint64_t pass_step;
  uint64_t sums_from; /* the sums of the pass before are complete from this cycle on; 0: they left
                         for the shadow accumulators */
  /* SIMD: the counters within a token, outermost first. */
  uint64_t counters[SAMBA_MAX_COUNTERS];
} SambaPcu;

bool sambaPcuIsDone(const SambaPcu *pcu);

/* Vectors that are taken of token number `token` of an input. */
uint64_t sambaPcuTaken(const SambaPcuInput *input, uint64_t token);
/* Are the first `elements` elements of a token at hand: in the unit, or in the two vectors at the
 * head of the FIFO? Otherwise *wake says when to look again. */
bool sambaPcuHas(const SambaPcuInput *input, const SambaNetwork *network, uint64_t token,
                 uint64_t elements, uint64_t *wake);
/* A step that cannot happen yet takes a vector that is there, unless it is the last that the step
 * needs. */
void sambaPcuTakeAhead(SambaPcuInput *input, SambaNetwork *network, uint64_t token,
                       uint64_t elements, uint64_t *wake);
/* Takes the vectors that those elements fill. */
void sambaPcuUse(SambaPcuInput *input, SambaNetwork *network, uint64_t token, uint64_t elements);

#endif
