/* The timing engine: when each firing of a section happens, from shapes alone
 * (docs/timing-model.md).
 *
 * Event-driven over the decoded section: occupancy, latency, links with capacity along the
 * configured routes, one DRAM model. It never computes a section's time from totals. */
#ifndef SAMBA_BACKEND_SIM_TIMING_TIMING_H
#define SAMBA_BACKEND_SIM_TIMING_TIMING_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "backend/sim/call/call.h"
#include "backend/sim/call/timed_call.h"

/* Times one call. After a fault the result says what was counted until then. bindings give device
 * addresses (data may be NULL); index_traces may be NULL when no port is indexed. */
SambaStatus sambaTimingExecute(const SambaMachine *machine, const SambaSection *section,
                               const SambaBinding *bindings, const SambaIndexTraces *index_traces,
                               const SambaTimingOptions *options, SambaTimingResult *out_result);

#endif
