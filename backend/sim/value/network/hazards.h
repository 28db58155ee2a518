/* Order through memory: what a call both loads and stores. */
#ifndef SAMBA_BACKEND_SIM_VALUE_NETWORK_HAZARDS_H
#define SAMBA_BACKEND_SIM_VALUE_NETWORK_HAZARDS_H

#include "backend/sim/value/unit/unit_run.h"

/* The fault `missing synchronisation` when a load and a store of the run may touch the same element
 * and no stream orders them. */
SambaStatus sambaHazardsCheck(const SambaSectionRun *run);

#endif
