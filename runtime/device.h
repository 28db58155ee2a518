/* Devices as the runtime sees them: a table of functions and the reports that come back. The
 * simulator is one implementation (runtime/simulated/simulated_device.h); N replicas are N devices.
 */
#ifndef SAMBA_RUNTIME_DEVICE_H
#define SAMBA_RUNTIME_DEVICE_H

#include "backend/pef/pef.h"
#include "samba/session.h"

/* Adds every figure of `more` to `sums`. */
void sambaDeviceActivityAdd(SambaDeviceActivity *sums, const SambaDeviceActivity *more);

typedef struct SambaDeviceFunctions {
  /* Gives the device the PEF that it shall run; once. The PEF is borrowed until destruction and has
   * been checked (sambaPefOpen); initial data can be read from it during the call only. */
  SambaStatus (*load)(SambaDevice *device, const SambaPef *pef);
  /* Whole symbols, by their index in the PEF: symbol.bytes bytes, row-major elements of the
   * symbol's device_dtype. */
  SambaStatus (*write)(SambaDevice *device, uint32_t symbol, const void *data);
  SambaStatus (*read)(SambaDevice *device, uint32_t symbol, void *data);
  /* Has anything written the symbol since the PEF was loaded: its initial data, a write, a launch?
   */
  bool (*is_written)(const SambaDevice *device, uint32_t symbol);
  /* Does the call write to what it binds to that formal argument? NULL: the device does not say. */
  bool (*writes)(const SambaDevice *device, uint32_t call, uint32_t formal);
  /* Runs one call of the schedule. argins: one value (bits) per argin of the PEF. */
  SambaStatus (*launch)(SambaDevice *device, uint32_t call, const uint64_t *argins,
                        SambaDeviceActivity *out_activity);
  /* Bytes that loading a section moves to each tile of the machine; borrowed. NULL: the device does
   * not say. */
  const uint64_t *(*tile_bytes)(const SambaDevice *device, uint32_t section);
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

#endif
