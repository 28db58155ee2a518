/* The systolic array of a PCU. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_SYSTOLIC_H
#define SAMBA_BACKEND_SIM_CYCLE_UNIT_PCU_SYSTOLIC_H

#include "backend/sim/cycle/unit/pcu_state.h"

/* One cycle: a k step, when it may be, and a vector of sums on its way out. *wake: when to look
 * again. */
SambaDoes sambaPcuStepArray(SambaPcu *pcu, SambaNetwork *network, uint64_t *wake);

#endif
