/* Systolic bodies without time.
 *
 * A pass takes a k step of both operands at a time, and has as many steps as the array has rows at
 * least. What its sums start at comes in beside the operands, a vector per step; the last step
 * takes the rest. The sums that are complete go to the shadow accumulators when these are empty,
 * and leave from there, vector by vector, with what joins them. Only then does the next pass begin;
 * without a shadow it begins when they have left. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_ARRAY_H
#define SAMBA_BACKEND_SIM_PROGRESS_ARRAY_H

#include "backend/sim/progress/port.h"
#include "backend/sim/progress/program.h"

typedef struct SambaArray {
  const SambaUnit *unit;
  const SambaProgressProgram *program;
  uint64_t depth, pass_steps;
  uint32_t operands[2], start; /* inputs; start: SAMBA_NO_INDEX when sums start at 0 */
  bool alone;                  /* no shadow */
  uint64_t firings, steps;     /* steps: done */
  uint64_t sums;               /* sets of sums that went to the shadow accumulators */
  uint64_t *periods;           /* per input: firings that use one token */
  uint64_t *per_step;          /* per input: elements of a token per step; 0: no whole number */
  bool *aligned;               /* per input: no step uses elements of two vectors */
  SambaProgressInput *inputs;
  SambaProgressOutput *outputs;
} SambaArray;

void sambaArrayBuild(SambaArray *body, SambaArena *arena, const SambaMachine *machine,
                     const SambaUnit *unit, const SambaProgressProgram *program,
                     SambaProgressInput *inputs, SambaProgressOutput *outputs);
void sambaArrayAdvance(SambaArray *body, SambaFlows *flows);
bool sambaArrayIsDone(const SambaArray *body);
/* An input without which neither the body nor its sums go on; SAMBA_NO_INDEX: there is none. */
uint32_t sambaArrayMissing(const SambaArray *body, const SambaFlows *flows);

#endif
