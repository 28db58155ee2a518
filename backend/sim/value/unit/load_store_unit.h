/* LOAD and STORE: tokens from and to the memory of formals. */
#ifndef SAMBA_BACKEND_SIM_VALUE_UNIT_LOAD_STORE_UNIT_H
#define SAMBA_BACKEND_SIM_VALUE_UNIT_LOAD_STORE_UNIT_H

#include "backend/sim/value/unit/unit_run.h"

/* Once per call. */
void sambaLoadStorePrepare(SambaSectionRun *run, SambaUnitRun *unit);
/* Fire as often as tokens and space allow. Faults: address out of range, read of never-written
 * memory, not a number. */
SambaStatus sambaLoadFire(SambaSectionRun *run, SambaUnitRun *unit);
SambaStatus sambaStoreFire(SambaSectionRun *run, SambaUnitRun *unit);

#endif
