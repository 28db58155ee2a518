/* Reports of devices; see device.h. */
#include "runtime/device.h"

void sambaDeviceActivityAdd(SambaDeviceActivity *sums, const SambaDeviceActivity *more) {
  sums->cycles += more->cycles;
  sums->launch_cycles += more->launch_cycles;
  sums->load_cycles += more->load_cycles;
  sums->hidden_load_cycles += more->hidden_load_cycles;
  sums->load_bytes += more->load_bytes;
  sums->dram_read_bytes += more->dram_read_bytes;
  sums->dram_write_bytes += more->dram_write_bytes;
  sums->host_read_bytes += more->host_read_bytes;
  sums->host_write_bytes += more->host_write_bytes;
  sums->flops += more->flops;
  sums->multiply_adds += more->multiply_adds;

  sums->pcu_busy += more->pcu_busy;
  sums->pmu_busy += more->pmu_busy;
  sums->ag_busy += more->ag_busy;
  sums->pcu_busiest += more->pcu_busiest;
  sums->pmu_busiest += more->pmu_busiest;
  sums->ag_busiest += more->ag_busiest;
  sums->lane_busiest += more->lane_busiest;
  sums->wait_input += more->wait_input;
  sums->wait_output += more->wait_output;
  sums->wait_memory += more->wait_memory;
  sums->events += more->events;
}
