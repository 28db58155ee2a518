/* Static estimates from the emitted section alone; see estimate.h. */
#include "backend/estimate/estimate.h"

#include "backend/config/load_size.h"
#include "backend/estimate/unit_cycles.h"
#include "backend/section/access.h"

#include <stdlib.h>

SambaUsableUnits sambaMachineUsableUnits(const SambaMachine *machine) {
  int64_t pcus = sambaMachinePcuCount(machine);
  int64_t pmus = sambaMachinePmuCount(machine);
  int64_t reserve = machine->reserve_units_percent;
  return (SambaUsableUnits){(uint32_t)(pcus - pcus * reserve / 400),
                            (uint32_t)(pmus - pmus * reserve / 400),
                            (uint32_t)((pcus + pmus) * (100 - reserve) / 100)};
}

static SambaStatus checkNeed(const SambaSection *section, const SambaMachine *machine,
                             const char *what, int64_t need, int64_t usable) {
  if (need <= usable)
    return NULL;
  return sambaStatusMake(SAMBA_EXHAUSTED, "section %s needs %lld %s, but %s has %lld to give",
                         section->name, (long long)need, what, machine->name, (long long)usable);
}

/* No unit sends or receives more vector streams than its ports have flows. */
static SambaStatus checkFlows(const SambaSection *section, const SambaMachine *machine) {
  uint32_t *counts = sambaAllocateZeroed(section->unit_count, 2 * sizeof *counts);
  uint32_t *sent = counts + section->unit_count;
  int64_t inputs = machine->unit_vector_inputs * machine->flows_per_lane;
  int64_t outputs = machine->unit_vector_outputs * machine->flows_per_lane;
  SambaStatus status = NULL;

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    if (section->streams[s].kind != SAMBA_STREAM_VECTOR)
      continue;
    ++sent[section->streams[s].source.unit];
    for (uint32_t d = 0; d < section->streams[s].destination_count; ++d)
      ++counts[section->streams[s].destinations[d].unit];
  }

  for (uint32_t u = 0; u < section->unit_count && !status; ++u)
    if (counts[u] > inputs || sent[u] > outputs)
      status = sambaStatusMake(
          SAMBA_EXHAUSTED,
          "section %s: unit %s receives %u and sends %u vector streams, but a unit of %s has %lld "
          "inputs and %lld outputs of %lld flows",
          section->name, section->units[u].name, counts[u], sent[u], machine->name,
          (long long)machine->unit_vector_inputs, (long long)machine->unit_vector_outputs,
          (long long)machine->flows_per_lane);
  free(counts);

  return status;
}

SambaStatus sambaSectionFits(const SambaSection *section, const SambaMachine *machine) {
  SambaSectionNeeds needs = sambaSectionCount(section);
  SambaUsableUnits usable = sambaMachineUsableUnits(machine);
  SAMBA_RETURN_IF_ERROR(checkNeed(section, machine, "PCUs", needs.pcus, usable.pcus));
  SAMBA_RETURN_IF_ERROR(checkNeed(section, machine, "PMUs", needs.pmus, usable.pmus));
  SAMBA_RETURN_IF_ERROR(checkNeed(section, machine, "PCUs and PMUs together",
                                  (int64_t)needs.pcus + needs.pmus, usable.together));
  SAMBA_RETURN_IF_ERROR(
      checkNeed(section, machine, "address generators", needs.fewest_ags, machine->ag_count));
  return checkFlows(section, machine);
}

void sambaSectionTraffic(const SambaSection *section, uint64_t *out_read, uint64_t *out_written) {
  *out_read = *out_written = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    bool load = unit->kind == SAMBA_UNIT_LOAD, store = unit->kind == SAMBA_UNIT_STORE;
    if ((load && !unit->output_count) || (store && !unit->input_count) || (!load && !store))
      continue;
    const SambaPort *port = load ? &unit->outputs[0] : &unit->inputs[0];
    *(load ? out_read : out_written) +=
        sambaTripProduct(port->access.trips, 0, port->access.counter_count) *
        sambaDTypeBytes(port->dtype);
  }
}

static double flopsOf(const SambaLaneOp *op) {
  char kind = sambaLaneOpClass(op->opcode);
  bool twice = sambaLaneOpIsMac(op->opcode) || op->opcode == SAMBA_LANE_FMA;
  if (op->type != SAMBA_DTYPE_F32 || op->opcode == SAMBA_LANE_MOVE ||
      op->opcode == SAMBA_LANE_SELECT || !(twice || kind == 'S' || kind == 'T' || kind == 'R'))
    return 0;
  return twice ? 2 : 1;
}

double sambaSectionFlops(const SambaSection *section) {
  double flops = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaCompute *compute = &section->units[u].compute;
    if (section->units[u].kind != SAMBA_UNIT_COMPUTE)
      continue;
    double points = 1, results = 1; /* of what follows a reduction */
    bool reduced = false;
    for (uint32_t c = 0; c < compute->counter_count; ++c) {
      points *= compute->trips[c];
      results *= c < 64 && compute->program.reduce_mask >> c & 1 ? 1 : compute->trips[c];
    }
    for (uint32_t i = 0; i < compute->program.op_count; ++i) {
      const SambaLaneOp *op = &compute->program.ops[i];
      flops += flopsOf(op) * (reduced ? results : points);
      reduced |= sambaLaneOpClass(op->opcode) == 'R' || sambaLaneOpIsMac(op->opcode);
    }
  }
  return flops;
}

static double cyclesOfNanoseconds(const SambaMachine *machine, int64_t ns) {
  return (double)ns * 1e-9 * (double)machine->clock_hz;
}

static bool isRouted(const SambaSection *section) {
  for (uint32_t s = 0; s < section->stream_count; ++s)
    if (!section->streams[s].hop_count)
      return false;
  return true;
}

static uint64_t loadBytes(const SambaSection *section, const SambaMachine *machine) {
  SambaArena arena = {0};
  uint64_t bytes = sambaSectionLoadMake(section, machine, &arena).bytes;
  sambaArenaDestroy(&arena);
  return bytes;
}

static uint64_t assumedLoadBytes(const SambaSection *section, const SambaMachine *machine) {
  bool ideal = machine->network == SAMBA_NETWORK_IDEAL; /* no switches */
  uint64_t bytes = 0, entries = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    bytes += sambaUnitLoadBytes(&section->units[u]);
  for (uint32_t s = 0; s < section->stream_count && !ideal; ++s)
    entries += SAMBA_ENTRIES_PER_DESTINATION * (uint64_t)section->streams[s].destination_count;
  return bytes + sambaAssumedEntriesBytes(entries);
}

double sambaSectionLoadCycles(const SambaSection *section, const SambaMachine *machine) {
  uint64_t bytes =
      isRouted(section) ? loadBytes(section, machine) : assumedLoadBytes(section, machine);
  return sambaMachineLoadCycles(machine, bytes) +
         cyclesOfNanoseconds(machine, machine->load_latency_ns);
}

double sambaSectionStartCycles(const SambaMachine *machine) {
  return cyclesOfNanoseconds(machine, machine->argument_latency_ns + machine->execute_hw_ns);
}

double sambaSectionLaunchCycles(const SambaSection *section, const SambaMachine *machine) {
  return sambaSectionLoadCycles(section, machine) + sambaSectionStartCycles(machine);
}
