/* What a launch costs (docs/timing-model.md, "Launches"): program load, argument load, execute. */
#ifndef SAMBA_BACKEND_SIM_LAUNCH_H
#define SAMBA_BACKEND_SIM_LAUNCH_H

#include "backend/config/load_size.h"
#include "backend/machine/machine.h"

typedef enum { SAMBA_LAUNCH_HW, SAMBA_LAUNCH_SW, SAMBA_LAUNCH_NONE } SambaLaunchMode;

/* The call before: the configuration on the chip and the cycles of its execution; load is NULL
 * before the first call. */
typedef struct SambaLaunchBefore {
  const SambaSectionLoad *load;
  uint64_t cycles;
} SambaLaunchBefore;

typedef struct SambaLaunchCost {
  uint64_t cycles;        /* from the end of the call before to the start of execution */
  uint64_t load_cycles;   /* those of them that load the program */
  uint64_t hidden_cycles; /* of the program load, behind the execution of the call before */
  uint64_t load_bytes;
} SambaLaunchCost;

/* Cost of launching what `load` says after `before`; the same `load` again is not loaded. */
SambaLaunchCost sambaLaunchCost(const SambaMachine *machine, SambaLaunchMode mode,
                                const SambaLaunchBefore *before, const SambaSectionLoad *load);

#endif
