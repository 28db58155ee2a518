/* Runs the units of a network until all are done. */
#ifndef SAMBA_BACKEND_SIM_VALUE_NETWORK_SCHEDULE_H
#define SAMBA_BACKEND_SIM_VALUE_NETWORK_SCHEDULE_H

#include "backend/sim/value/unit/unit_run.h"

/* Runs every unit on `threads` threads, this one included. The first fault of the lowest unit, or
 * `deadlock` or `starved` when no unit can go on. */
SambaStatus sambaScheduleExecute(SambaSectionRun *run, int threads);

#endif
