/* Devices as the runtime sees them: a table of functions. The simulator is one implementation; N
 * replicas are N devices. */
#ifndef SAMBA_RUNTIME_DEVICE_H
#define SAMBA_RUNTIME_DEVICE_H

#include "backend/sim/simulator.h"

typedef struct SambaDevice SambaDevice;

typedef struct SambaDeviceFunctions {
  SambaStatus (*load)(SambaDevice *device, const SambaPef *pef);
  /* Whole symbols in device layout. */
  SambaStatus (*write)(SambaDevice *device, uint32_t symbol, const void *data);
  SambaStatus (*read)(SambaDevice *device, uint32_t symbol, void *data);
  SambaStatus (*launch)(SambaDevice *device, uint32_t call, const uint64_t *argins,
                        SambaCallReport *out_report);
  /* Copies a symbol of this device to the same symbol of another one. */
  SambaStatus (*copy_peer)(SambaDevice *device, uint32_t symbol, SambaDevice *peer);
  uint64_t (*now)(const SambaDevice *device); /* device cycles */
  void (*destroy)(SambaDevice *device);
} SambaDeviceFunctions;

struct SambaDevice {
  const SambaDeviceFunctions *functions;
};

/* A simulated RDU. */
SambaStatus sambaSimulatedDeviceCreate(const SambaMachine *machine,
                                       const SambaSimulatorOptions *options,
                                       SambaDevice **out_device);
/* The simulator behind a simulated device. */
SambaSimulator *sambaSimulatedDeviceGetSimulator(SambaDevice *device);

#endif
