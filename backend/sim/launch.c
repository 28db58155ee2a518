/* Launches; see launch.h. */
#include "backend/sim/launch.h"

static uint64_t cyclesOfNanoseconds(const SambaMachine *machine, double ns) {
  return (uint64_t)(ns * 1e3 * (double)machine->clock_hz / 1e12 + 0.999999);
}

static double loadNanoseconds(const SambaMachine *machine, uint64_t bytes) {
  return (double)machine->load_latency_ns + (double)bytes * 1e3 / (double)machine->load_mbps;
}

/* Bytes that can be loaded while the section before is at work: those of tiles that it does not
 * use. */
static uint64_t freeTilesBytes(const SambaSectionLoad *before, const SambaSectionLoad *load) {
  uint64_t bytes = 0;
  for (uint32_t tile = 0; tile < load->tile_count; ++tile)
    bytes += before->tile_bytes[tile] ? 0 : load->tile_bytes[tile];
  return bytes;
}

/* A host that orchestrates sends the next command when it has seen the end of the section; only the
 * chip's own schedule knows what comes next. */
static uint64_t hiddenCycles(const SambaMachine *machine, SambaLaunchMode mode,
                             const SambaLaunchBefore *before, const SambaSectionLoad *load) {
  if (!machine->launch_overlap || mode != SAMBA_LAUNCH_HW || !before->load)
    return 0;
  uint64_t bytes = freeTilesBytes(before->load, load);
  if (!bytes)
    return 0;
  uint64_t cycles = cyclesOfNanoseconds(machine, loadNanoseconds(machine, bytes));
  return cycles < before->cycles ? cycles : before->cycles;
}

SambaLaunchCost sambaLaunchCost(const SambaMachine *machine, SambaLaunchMode mode,
                                const SambaLaunchBefore *before, const SambaSectionLoad *load) {
  if (mode == SAMBA_LAUNCH_NONE)
    return (SambaLaunchCost){0};
  double start_ns =
      (double)(machine->argument_latency_ns +
               (mode == SAMBA_LAUNCH_SW ? machine->execute_sw_ns : machine->execute_hw_ns));
  uint64_t start = cyclesOfNanoseconds(machine, start_ns);
  if (before->load == load)
    return (SambaLaunchCost){.cycles = start};

  uint64_t all = cyclesOfNanoseconds(machine, start_ns + loadNanoseconds(machine, load->bytes));
  uint64_t hidden = hiddenCycles(machine, mode, before, load);
  return (SambaLaunchCost){.cycles = all - hidden,
                           .load_cycles = all - hidden - start,
                           .hidden_cycles = hidden,
                           .load_bytes = load->bytes};
}
