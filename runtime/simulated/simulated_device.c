/* The simulated RDU as a device (sambaSimulatedDevice). This is the one file of the runtime that
 * knows the simulator. */
#include "runtime/device.h"

#include "backend/sim/simulator.h"

#include <stdlib.h>

typedef struct {
  SambaDevice base;
  SambaSimulator *simulator;
  const SambaPef *pef;
} SimulatedDevice;

static SambaSimulator *simulatorOf(const SambaDevice *device) {
  return ((const SimulatedDevice *)device)->simulator;
}

static SambaStatus load(SambaDevice *device, const SambaPef *pef) {
  ((SimulatedDevice *)device)->pef = pef;
  return sambaSimulatorLoad(simulatorOf(device), pef);
}

static SambaStatus writeSymbol(SambaDevice *device, uint32_t symbol, const void *data) {
  return sambaSimulatorWrite(simulatorOf(device), symbol, data);
}

static SambaStatus readSymbol(SambaDevice *device, uint32_t symbol, void *data) {
  return sambaSimulatorRead(simulatorOf(device), symbol, data);
}

static bool isWritten(const SambaDevice *device, uint32_t symbol) {
  return sambaSimulatorIsWritten(simulatorOf(device), symbol);
}

static bool writes(const SambaDevice *device, uint32_t call, uint32_t formal) {
  const SambaPef *pef = ((const SimulatedDevice *)device)->pef;
  const SambaSection *section =
      sambaSimulatorGetSection(simulatorOf(device), pef->calls[call].section);
  return section->symbols[formal].written;
}

static void addBusy(const SambaUnitActivity *unit, uint64_t *sum, uint64_t *busiest) {
  *sum += unit->busy;
  *busiest = unit->side_busy > *busiest ? unit->side_busy : *busiest;
}

static void addUnits(const SambaSection *section, const SambaUnitActivity *units,
                     SambaDeviceActivity *activity) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    switch (section->units[u].kind) {
    case SAMBA_UNIT_COMPUTE:
      addBusy(&units[u], &activity->pcu_busy, &activity->pcu_busiest);
      break;
    case SAMBA_UNIT_BUFFER:
      addBusy(&units[u], &activity->pmu_busy, &activity->pmu_busiest);
      break;
    default:
      addBusy(&units[u], &activity->ag_busy, &activity->ag_busiest);
    }
    activity->wait_input += units[u].wait_input;
    activity->wait_output += units[u].wait_output;
    activity->wait_memory += units[u].wait_memory;
  }
}

static SambaStatus launch(SambaDevice *device, uint32_t call, const uint64_t *argins,
                          SambaDeviceActivity *out_activity) {
  const SimulatedDevice *self = (const SimulatedDevice *)device;
  SambaCallReport report;
  SambaStatus status = sambaSimulatorLaunch(self->simulator, call, argins, &report);

  *out_activity = (SambaDeviceActivity){.cycles = report.cycles,
                                        .launch_cycles = report.launch.cycles,
                                        .load_cycles = report.launch.load_cycles,
                                        .hidden_load_cycles = report.launch.hidden_cycles,
                                        .load_bytes = report.launch.load_bytes,
                                        .dram_read_bytes = report.dram_read_bytes,
                                        .dram_write_bytes = report.dram_write_bytes,
                                        .host_read_bytes = report.host_read_bytes,
                                        .host_write_bytes = report.host_write_bytes,
                                        .flops = report.flops,
                                        .multiply_adds = report.multiply_adds,
                                        .lane_busiest = report.link_busy_max,
                                        .events = report.events};
  if (report.units)
    addUnits(sambaSimulatorGetSection(self->simulator, self->pef->calls[call].section),
             report.units, out_activity);
  return status;
}

static const uint64_t *tileBytes(const SambaDevice *device, uint32_t section) {
  return sambaSimulatorGetLoad(simulatorOf(device), section)->tile_bytes;
}

static SambaStatus copyPeer(SambaDevice *device, uint32_t symbol, SambaDevice *peer) {
  void *data = sambaAllocate(((SimulatedDevice *)device)->pef->symbols[symbol].bytes);
  SambaStatus status = readSymbol(device, symbol, data);
  if (!status)
    status = peer->functions->write(peer, symbol, data);
  free(data);
  return status;
}

static uint64_t now(const SambaDevice *device) { return sambaSimulatorNow(simulatorOf(device)); }

static void statistics(const SambaDevice *device, SambaDeviceStatistics *out_statistics) {
  SambaValuesStatistics values;
  sambaSimulatorGetStatistics(simulatorOf(device), &values);
  *out_statistics = (SambaDeviceStatistics){.compiled_programs = values.jit_programs,
                                            .compile_seconds = values.jit_seconds,
                                            .compile_cpu_seconds = values.jit_cpu_seconds};
}

static void destroy(SambaDevice *device) {
  sambaSimulatorDestroy(simulatorOf(device));
  free(device);
}

static const SambaDeviceFunctions functions = {.load = load,
                                               .write = writeSymbol,
                                               .read = readSymbol,
                                               .is_written = isWritten,
                                               .writes = writes,
                                               .launch = launch,
                                               .tile_bytes = tileBytes,
                                               .copy_peer = copyPeer,
                                               .now = now,
                                               .statistics = statistics,
                                               .destroy = destroy};

static SambaLaunchMode launchModeOf(SambaOrchestration orchestration) {
  switch (orchestration) {
  case SAMBA_ORCHESTRATION_SOFTWARE:
    return SAMBA_LAUNCH_SW;
  case SAMBA_ORCHESTRATION_NONE:
    return SAMBA_LAUNCH_NONE;
  default:
    return SAMBA_LAUNCH_HW;
  }
}

static SambaStatus create(const void *options, const SambaMachine *machine,
                          SambaDevice **out_device) {
  const SambaSimulatedDeviceOptions *own = options;
  SambaSimulatorOptions simulator_options = {.values = {.threads = own->threads,
                                                        .cpu = own->cpu,
                                                        .trap_nan = own->trap_nan,
                                                        .stop = own->stop},
                                             .timing = {.max_cycles = own->max_cycles,
                                                        .no_skip = own->no_skip,
                                                        .threads = own->threads,
                                                        .stop = own->stop},
                                             .launch = launchModeOf(own->orchestration),
                                             .no_values = own->timing_only,
                                             .no_timing = own->values_only,
                                             .no_memo = own->no_memo,
                                             .cycle_engine = own->fidelity == SAMBA_FIDELITY_CYCLE};
  SambaSimulator *simulator;
  SAMBA_RETURN_IF_ERROR(sambaSimulatorCreate(machine, &simulator_options, &simulator));

  SimulatedDevice *device = sambaAllocateZeroed(1, sizeof *device);
  device->base.functions = &functions;
  device->base.holds_values = !own->timing_only;
  device->simulator = simulator;
  *out_device = &device->base;
  return NULL;
}

SambaDeviceFactory sambaSimulatedDevice(const SambaSimulatedDeviceOptions *options) {
  return (SambaDeviceFactory){create, options};
}
