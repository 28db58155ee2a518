/* Devices as the runtime sees them: a table of functions and the reports that come back. The
 * simulator is one implementation (runtime/simulated/simulated_device.h); N replicas are N devices.
 */
#ifndef SAMBA_RUNTIME_DEVICE_H
#define SAMBA_RUNTIME_DEVICE_H

#include "backend/pef/pef.h"

/* What a device did, in one launch or in several (sambaDeviceActivityAdd). A device that does not
 * know a figure leaves it 0. */
typedef struct SambaDeviceActivity {
  uint64_t cycles, launch_cycles;             /* the launch is not part of cycles */
  uint64_t dram_read_bytes, dram_write_bytes; /* between DRAM and the chip */
  uint64_t host_read_bytes, host_write_bytes; /* between host memory and the chip */
  uint64_t flops;
  uint64_t pcu_busy, pmu_busy, ag_busy;          /* busy cycles, summed over the units of a kind */
  uint64_t wait_input, wait_output, wait_memory; /* waiting cycles, summed over all units */
  uint64_t events;                               /* that a simulator handled */
} SambaDeviceActivity;

/* Adds every figure of `more` to `sums`. */
void sambaDeviceActivityAdd(SambaDeviceActivity *sums, const SambaDeviceActivity *more);

/* What a device spent on preparing code, since it was made. Zero when there is none. */
typedef struct SambaDeviceStatistics {
  uint64_t compiled_programs;
  double compile_seconds, compile_cpu_seconds;
} SambaDeviceStatistics;

typedef struct SambaDevice SambaDevice;

typedef struct SambaDeviceFunctions {
  /* Gives the device the PEF that it shall run; once. The PEF is borrowed until destruction and has
   * been checked (sambaPefOpen). */
  SambaStatus (*load)(SambaDevice *device, const SambaPef *pef);
  /* Whole symbols, by their index in the PEF: symbol.bytes bytes, row-major elements of the
   * symbol's device_dtype. */
  SambaStatus (*write)(SambaDevice *device, uint32_t symbol, const void *data);
  SambaStatus (*read)(SambaDevice *device, uint32_t symbol, void *data);
  /* Runs one call of the schedule. argins: one value (bits) per argin of the PEF. */
  SambaStatus (*launch)(SambaDevice *device, uint32_t call, const uint64_t *argins,
                        SambaDeviceActivity *out_activity);
  /* Copies a symbol of this device to the same symbol of another one, which holds the same PEF. */
  SambaStatus (*copy_peer)(SambaDevice *device, uint32_t symbol, SambaDevice *peer);
  /* Device cycles since creation, launches included. */
  uint64_t (*now)(const SambaDevice *device);
  void (*statistics)(const SambaDevice *device, SambaDeviceStatistics *out_statistics);
  void (*destroy)(SambaDevice *device);
} SambaDeviceFunctions;

/* The first member of every implementation's own struct. */
struct SambaDevice {
  const SambaDeviceFunctions *functions;
  bool holds_values; /* false: it only counts cycles; inputs need no data, outputs have none */
};

/* How to make a device once the machine is known: a session learns it from the PEF. */
typedef struct SambaDeviceFactory {
  /* Makes a device for a machine, which is borrowed until destruction. */
  SambaStatus (*create)(const void *options, const SambaMachine *machine, SambaDevice **out_device);
  const void *options; /* borrowed; the implementation says what they are */
} SambaDeviceFactory;

#endif
