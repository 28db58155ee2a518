/* The cycle engine: the chip stepped vector by vector, the yardstick of the timing engine
 * (docs/timing-model.md, "Two engines").
 *
 * Every unit, FIFO, lane, address generator and memory channel is stepped in every cycle in which
 * it can do something. Nothing is computed from totals, and nothing is shared with the timing
 * engine but the decoded section and the machine. Read unit/ for what PCUs, PMUs and address
 * generators do in a cycle, network/ for switches and links, memory/ for DRAM. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_CYCLE_H
#define SAMBA_BACKEND_SIM_CYCLE_CYCLE_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "backend/sim/call/call.h"
#include "backend/sim/call/timed_call.h"

/* As sambaTimingExecute (backend/sim/timing/timing.h). */
SambaStatus sambaCycleExecute(const SambaMachine *machine, const SambaSection *section,
                              const SambaBinding *bindings, const SambaIndexTraces *index_traces,
                              const SambaTimingOptions *options, SambaTimingResult *out_result);

#endif
