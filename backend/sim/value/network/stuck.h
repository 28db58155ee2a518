/* Why a network stands still. */
#ifndef SAMBA_BACKEND_SIM_VALUE_NETWORK_STUCK_H
#define SAMBA_BACKEND_SIM_VALUE_NETWORK_STUCK_H

#include "backend/sim/value/unit/unit_run.h"

/* NULL when every unit has ended; else the fault `deadlock` or `starved`, with notes that walk from
 * one waiting unit to the next. No thread runs any more. */
SambaStatus sambaStuckExplain(const SambaSectionRun *run);

#endif
