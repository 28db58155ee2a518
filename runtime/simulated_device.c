/* The simulator as a device; see device.h. */
#include "runtime/device.h"

#include <stdlib.h>

typedef struct {
  SambaDevice base;
  SambaSimulator *simulator;
  const SambaPef *pef;
} SimulatedDevice;

static SambaStatus load(SambaDevice *device, const SambaPef *pef) {
  SimulatedDevice *self = (SimulatedDevice *)device;
  self->pef = pef;
  return sambaSimulatorLoad(self->simulator, pef);
}

static SambaStatus writeSymbol(SambaDevice *device, uint32_t symbol, const void *data) {
  return sambaSimulatorWrite(((SimulatedDevice *)device)->simulator, symbol, data);
}

static SambaStatus readSymbol(SambaDevice *device, uint32_t symbol, void *data) {
  return sambaSimulatorRead(((SimulatedDevice *)device)->simulator, symbol, data);
}

static SambaStatus launch(SambaDevice *device, uint32_t call, const uint64_t *argins,
                          SambaCallReport *out_report) {
  return sambaSimulatorLaunch(((SimulatedDevice *)device)->simulator, call, argins, out_report);
}

static SambaStatus copyPeer(SambaDevice *device, uint32_t symbol, SambaDevice *peer) {
  SimulatedDevice *self = (SimulatedDevice *)device;
  void *data = sambaAllocate(self->pef->symbols[symbol].bytes);
  SambaStatus status = readSymbol(device, symbol, data);
  if (!status)
    status = peer->functions->write(peer, symbol, data);
  free(data);
  return status;
}

static uint64_t now(const SambaDevice *device) {
  return sambaSimulatorNow(((const SimulatedDevice *)device)->simulator);
}

static void destroy(SambaDevice *device) {
  sambaSimulatorDestroy(((SimulatedDevice *)device)->simulator);
  free(device);
}

static const SambaDeviceFunctions functions = {load,     writeSymbol, readSymbol, launch,
                                               copyPeer, now,         destroy};

SambaStatus sambaSimulatedDeviceCreate(const SambaMachine *machine,
                                       const SambaSimulatorOptions *options,
                                       SambaDevice **out_device) {
  SambaSimulator *simulator;
  SAMBA_RETURN_IF_ERROR(sambaSimulatorCreate(machine, options, &simulator));
  SimulatedDevice *device = sambaAllocateZeroed(1, sizeof *device);
  device->base.functions = &functions;
  device->simulator = simulator;
  *out_device = &device->base;
  return NULL;
}

SambaSimulator *sambaSimulatedDeviceGetSimulator(SambaDevice *device) {
  return ((SimulatedDevice *)device)->simulator;
}
