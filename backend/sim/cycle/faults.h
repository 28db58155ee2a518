/* Why the chip stopped: faults with a walk along what waits for what. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_FAULTS_H
#define SAMBA_BACKEND_SIM_CYCLE_FAULTS_H

#include "backend/sim/cycle/chip.h"

/* Nothing is awake and some units have not finished: `deadlock`, or `starved` when the waits lead
 * to a unit that has ended. */
SambaStatus sambaChipDeadlock(const SambaChip *chip);
SambaStatus sambaChipTooManyCycles(const SambaChip *chip, uint64_t limit);
SambaStatus sambaChipInterrupted(const SambaChip *chip);

#endif
