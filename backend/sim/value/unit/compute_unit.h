/* COMPUTE: the kernel or the systolic walk of a unit, and its firings. */
#ifndef SAMBA_BACKEND_SIM_VALUE_UNIT_COMPUTE_UNIT_H
#define SAMBA_BACKEND_SIM_VALUE_UNIT_COMPUTE_UNIT_H

#include "backend/sim/value/unit/unit_run.h"

/* Once per call, all compute units together: their kernels are compiled in one go. */
SambaStatus sambaComputePrepare(SambaSectionRun *run, SambaUnitRun *const *units, uint32_t count);
/* Releases the blocks of a prepared unit. */
void sambaComputeFinish(SambaSectionRun *run, SambaUnitRun *unit);
/* Fires as often as tokens and space allow. */
SambaStatus sambaComputeFire(SambaSectionRun *run, SambaUnitRun *unit);
/* Must this input take a token at the next firing? */
bool sambaComputeNeedsToken(const SambaUnitRun *unit, uint32_t input);

#endif
