/* Ports of units, without time: so many vectors came in, so many went out.
 *
 * A port takes or sends its tokens on its streams in turn, `block` consecutive ones on each. What
 * is made enters the unit's pipeline, which holds some vectors, and leaves in order. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_PORT_H
#define SAMBA_BACKEND_SIM_PROGRESS_PORT_H

#include "backend/sim/progress/flow.h"

/* What input and output ports have in common. */
typedef struct SambaPortTurn {
  uint32_t count, current; /* streams */
  uint64_t block, left;    /* tokens on one stream, and of those that are left */
  uint64_t vectors;        /* of one token */
  uint64_t vector_elements, token_elements;
  uint64_t passed; /* vectors */
} SambaPortTurn;

typedef struct SambaProgressInput {
  SambaPortTurn turn;
  const uint32_t *ends; /* of each stream */
} SambaProgressInput;

typedef struct SambaProgressOutput {
  SambaPortTurn turn; /* of what left */
  const uint32_t *streams;
  uint64_t made;   /* vectors */
  uint64_t stages; /* vectors that the pipeline holds */
} SambaProgressOutput;

void sambaProgressInputBuild(SambaProgressInput *input, SambaArena *arena, const SambaFlows *flows,
                             const SambaMachine *machine, const SambaSection *section,
                             SambaEndpoint port);
void sambaProgressOutputBuild(SambaProgressOutput *output, const SambaMachine *machine,
                              const SambaSection *section, SambaEndpoint port, uint64_t stages);

/* Vectors that can be taken in all; of ports with several streams at least the next ones. */
uint64_t sambaProgressArrived(const SambaProgressInput *input, const SambaFlows *flows);
/* Takes vectors up to number `until` in all. */
void sambaProgressTake(SambaProgressInput *input, SambaFlows *flows, uint64_t until);
/* Vectors that can be made in all; of ports with several streams at least the next ones. */
uint64_t sambaProgressRoom(const SambaProgressOutput *output, const SambaFlows *flows);
/* Makes vectors up to number `until` in all. */
void sambaProgressMake(SambaProgressOutput *output, SambaFlows *flows, uint64_t until);
/* Lets what was made leave as far as it can. */
void sambaProgressFlush(SambaProgressOutput *output, SambaFlows *flows);

/* Vectors of a token that hold its first `elements` elements: all of them, and those that have no
 * other element. */
static inline uint64_t sambaPortTouched(const SambaPortTurn *turn, uint64_t elements) {
  if (elements >= turn->token_elements)
    return turn->vectors;
  return (elements + turn->vector_elements - 1) / turn->vector_elements;
}
static inline uint64_t sambaPortWhole(const SambaPortTurn *turn, uint64_t elements) {
  return elements >= turn->token_elements ? turn->vectors : elements / turn->vector_elements;
}

#endif
