/* What a PCU's program asks of its stages, its tail and its array, from the record alone. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_PROGRAM_H
#define SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_PROGRAM_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

typedef struct SambaPcuProgram {
  /* Systolic programs: one firing is a pass of `depth` k steps, and lasts `pass_steps`. */
  bool systolic;
  uint32_t operands[2], start; /* inputs; start: of mac_on, else SAMBA_NO_INDEX */
  uint64_t depth, pass_steps, step_cycles, rows, columns;
  uint64_t lanes;
  /* Cycles of one step of the body, and of what follows the reduction for one step's worth of
   * results: passes through the stages, transcendental operations of the tail. */
  uint64_t body_passes, body_tail, after_passes, after_tail, tail_rate;
  uint64_t latency; /* from a step, or from the end of a systolic pass, to its results */
  uint64_t flops_before, flops_after; /* per point, per reduced point */
  uint64_t multiply_adds;             /* per point */
  bool reduces;
  uint64_t *after;        /* bit set of program values that follow a reduction, or are one */
  uint64_t outer_reduced; /* firings that go on with the same sums */
} SambaPcuProgram;

void sambaPcuProgramBuild(SambaPcuProgram *program, SambaArena *arena, const SambaMachine *machine,
                          const SambaUnit *unit);
bool sambaPcuCounterIsReduced(const SambaUnit *unit, uint32_t counter);
static inline bool sambaPcuValueIsAfter(const SambaPcuProgram *program, uint32_t value) {
  return program->after[value / 64] >> (value % 64) & 1;
}

#endif
