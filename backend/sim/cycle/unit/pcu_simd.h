/* The SIMD body of a PCU. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_SIMD_H
#define SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_SIMD_H

#include "backend/sim/cycle/unit/pcu_state.h"

/* One cycle: a step, when it may be. *wake: when to look again. */
SambaDoes sambaPcuStepLanes(SambaPcu *pcu, SambaNetwork *network, uint64_t *wake);

#endif
