/* What a PCU's program means for what it takes and holds, from the record alone. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_PROGRAM_H
#define SAMBA_BACKEND_SIM_PROGRESS_PROGRAM_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

typedef struct SambaProgressProgram {
  uint64_t lanes;
  uint64_t stages;        /* of the pipeline: vectors of one output that are on their way in it */
  bool *late;             /* per input: it joins what follows the reduction */
  bool *reduced;          /* per output: it is made of a reduction's results */
  uint64_t outer_reduced; /* firings that go on with the same sums */
} SambaProgressProgram;

void sambaProgressProgramBuild(SambaProgressProgram *program, SambaArena *arena,
                               const SambaMachine *machine, const SambaUnit *unit);
bool sambaProgressIsReduced(const SambaUnit *unit, uint32_t counter);

#endif
