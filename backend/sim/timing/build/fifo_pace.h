/* The pace of a SIMD unit behind short FIFOs. */
#ifndef SAMBA_BACKEND_SIM_TIMING_BUILD_FIFO_PACE_H
#define SAMBA_BACKEND_SIM_TIMING_BUILD_FIFO_PACE_H

#include "backend/sim/timing/engine/timing_state.h"

/* Cycles of a firing of a SIMD unit whose steps cover `lanes` points and take `step_cycles` each,
 * when its inputs could come at any time but pass FIFOs that hold fewer vectors than a credit's
 * round trip takes cycles. 0: FIFOs are long enough. */
uint64_t sambaFifoPace(const SambaMachine *machine, const SambaSection *section, uint32_t unit,
                       uint64_t lanes, uint64_t step_cycles);

#endif
