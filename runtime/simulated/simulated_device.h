/* The simulated RDU as a device. */
#ifndef SAMBA_RUNTIME_SIMULATED_SIMULATED_DEVICE_H
#define SAMBA_RUNTIME_SIMULATED_SIMULATED_DEVICE_H

#include "runtime/device.h"

/* Who starts a call, and so what the start costs (docs/timing-model.md). */
typedef enum {
  SAMBA_ORCHESTRATION_HARDWARE,
  SAMBA_ORCHESTRATION_SOFTWARE,
  SAMBA_ORCHESTRATION_NONE /* starting costs nothing */
} SambaOrchestration;

typedef struct SambaSimulatedDeviceOptions {
  int threads;     /* of the host, >= 1; values do not depend on it */
  const char *cpu; /* the host CPU to compile lane programs for; NULL: this one */
  bool trap_nan;   /* a NaN that is written to memory is a fault */
  SambaOrchestration orchestration;
  uint64_t max_cycles; /* a section that takes longer is a fault; 0: no bound */
  bool timing_only;    /* no values */
  bool values_only;    /* no cycles */
  bool no_skip;        /* time every period of a steady state */
  bool no_memo;        /* time every call anew */
} SambaSimulatedDeviceOptions;

/* The options are borrowed until the last device is made; cpu until the devices are destroyed. */
SambaDeviceFactory sambaSimulatedDevice(const SambaSimulatedDeviceOptions *options);

#endif
