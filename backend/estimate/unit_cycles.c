/* How long units and memory take; see unit_cycles.h. */
#include "backend/estimate/unit_cycles.h"

#include "backend/config/load_size.h"
#include "support/number/integer.h"

#include <math.h>

/* What PEFs of five models (some 80,000 units) have in the mean: counters of a PCU's chain, how
 * many of them are outer ones, counters of the chain of any other port, inputs of a PCU. */
enum { pcuCounters = 5, pcuOuterCounters = 2, portCounters = 3, pcuInputs = 2 };

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* --- PCUs --- */

double sambaArrayCycles(const SambaMachine *machine, const SambaArrayFiring *firing) {
  double passes = (double)sambaCeilDiv(firing->rows, machine->systolic_rows) *
                  (double)sambaCeilDiv(firing->columns, machine->systolic_columns) *
                  (double)firing->batch;
  /* The rows of the next operands are filled in while the sums run. */
  int64_t steps = larger(firing->depth, machine->systolic_rows);
  int64_t pass = steps * (firing->wide ? machine->systolic_f32_rate : 1);
  if (!machine->systolic_shadow)
    pass += machine->systolic_drain_cycles;
  return passes * (double)pass;
}

void sambaSimdFiringProgram(SambaSimdFiring *firing, const SambaLaneOp *ops, uint32_t op_count) {
  firing->stages = firing->transcendentals = 0;
  firing->wide = false;
  firing->moves_only = true;
  for (uint32_t i = 0; i < op_count; ++i) {
    char kind = sambaLaneOpClass(ops[i].opcode);
    firing->stages += kind == 'S' || kind == 'R';
    firing->transcendentals += kind == 'T';
    firing->wide |= ops[i].type == SAMBA_DTYPE_I64;
    firing->moves_only &= ops[i].opcode == SAMBA_LANE_MOVE;
  }
}

void sambaSimdFiringPort(SambaSimdFiring *firing, SambaDType dtype) {
  firing->wide |= dtype == SAMBA_DTYPE_I64;
  firing->moves_only &= sambaDTypeBytes(dtype) <= 2;
}

int64_t sambaSimdLanes(const SambaMachine *machine, const SambaSimdFiring *firing) {
  int64_t lanes = firing->lanes ? firing->lanes : machine->simd_lanes;
  if (firing->wide)
    return larger(1, lanes / 2);
  return firing->moves_only ? 2 * lanes : lanes;
}

double sambaSimdCycles(const SambaMachine *machine, const SambaSimdFiring *firing) {
  int64_t passes = larger(1, sambaCeilDiv(firing->stages, machine->simd_stages));
  int64_t tail = sambaCeilDiv(firing->transcendentals, machine->tail_transcendentals);
  return (double)firing->rows *
         (double)sambaCeilDiv(firing->innermost, sambaSimdLanes(machine, firing)) *
         (double)larger(passes, tail);
}

double sambaSimdLatency(const SambaMachine *machine, bool has_tail) {
  return (double)((machine->simd_stages + has_tail) * machine->simd_stage_cycles);
}

double sambaArrayLatency(const SambaMachine *machine, bool has_tail) {
  return (double)(machine->systolic_drain_cycles + has_tail * machine->simd_stage_cycles);
}

double sambaMachineLoadCycles(const SambaMachine *machine, uint64_t bytes) {
  return (double)bytes / ((double)machine->load_mbps * 1e6) * (double)machine->clock_hz;
}

uint64_t sambaAssumedEntriesBytes(uint64_t entries) {
  return entries * sambaSwitchLoadBytes(SAMBA_ENTRIES_PER_SWITCH) / SAMBA_ENTRIES_PER_SWITCH;
}

/* A record's size depends on counts and on what the operation is: other numbers may be zero. */
static SambaUnit typicalPcu(SambaPort *ports) {
  static const int64_t strides[pcuCounters];
  static const uint32_t trips[pcuCounters];
  static const SambaLaneOp op = {.opcode = SAMBA_LANE_MAC};
  SambaUnit unit = sambaUnitMake(SAMBA_UNIT_COMPUTE, "", "");

  for (uint32_t p = 0; p <= pcuInputs; ++p)
    ports[p] = (SambaPort){.stream_count = 1, .compute = {.strides = strides}};
  unit.input_count = pcuInputs;
  unit.output_count = 1;
  unit.inputs = ports;
  unit.outputs = &ports[pcuInputs];
  unit.compute = (SambaCompute){.counter_count = pcuCounters,
                                .token_level = pcuOuterCounters,
                                .trips = trips,
                                .program = {.op_count = 1, .ops = &op}};
  return unit;
}

static SambaUnit typicalPmu(SambaPort *ports) {
  static const int64_t strides[portCounters];
  static const uint32_t trips[portCounters];
  SambaUnit unit = sambaUnitMake(SAMBA_UNIT_BUFFER, "", "");

  for (uint32_t p = 0; p < 2; ++p)
    ports[p] =
        (SambaPort){.stream_count = 1,
                    .access = {.counter_count = portCounters, .trips = trips, .strides = strides}};
  unit.input_count = unit.output_count = 1;
  unit.inputs = ports;
  unit.outputs = &ports[1];
  return unit;
}

/* An ideal network has no switches. */
static double typicalLoadCycles(const SambaMachine *machine, const SambaUnit *unit) {
  uint64_t entries = machine->network == SAMBA_NETWORK_IDEAL ? 0 : SAMBA_ENTRIES_PER_UNIT;
  return sambaMachineLoadCycles(machine,
                                sambaUnitLoadBytes(unit) + sambaAssumedEntriesBytes(entries));
}

double sambaMachinePcuLoadCycles(const SambaMachine *machine) {
  SambaPort ports[pcuInputs + 1];
  SambaUnit unit = typicalPcu(ports);
  return typicalLoadCycles(machine, &unit);
}

double sambaMachinePmuLoadCycles(const SambaMachine *machine) {
  SambaPort ports[2];
  SambaUnit unit = typicalPmu(ports);
  return typicalLoadCycles(machine, &unit);
}

/* --- Memory --- */

/* Bytes per second of one channel of the memory that sections load from; 0: unknown. */
static double channelRate(const SambaMachine *machine) {
  return 1e6 * (double)(machine->hbm_channels > 0 ? machine->hbm_channel_mbps
                                                  : machine->ddr_channel_mbps);
}

double sambaMachineDramBytesPerCycle(const SambaMachine *machine) {
  int64_t channels = machine->hbm_channels > 0 ? machine->hbm_channels : machine->ddr_channels;
  double rate = channelRate(machine) * (double)channels;
  return rate > 0 ? rate / (double)machine->clock_hz : 1;
}

double sambaMachineLoadLatency(const SambaMachine *machine) {
  double row =
      (double)(machine->dram_trp_ps + machine->dram_trcd_ps + machine->dram_tcl_ps) * 1e-12;
  double rate = channelRate(machine);
  double transfer = rate > 0 ? (double)machine->dram_interleave_bytes / rate : 0;
  /* A request meets a refresh in this share of the time, and waits for half of it. */
  double refresh = (double)machine->dram_refresh_ps * 1e-12;
  double share = (double)machine->dram_refresh_ps / (double)machine->dram_refresh_interval_ps;
  return (double)machine->ag_latency_cycles +
         (row + transfer + share * refresh / 2) * (double)machine->clock_hz;
}

double sambaMachineStreamLatency(const SambaMachine *machine) {
  double rate = channelRate(machine), place = (double)machine->dram_interleave_bytes;
  double opened = fmin(1, place / (double)machine->dram_row_bytes);
  double row = ((double)machine->dram_tcl_ps + opened * (double)machine->dram_trcd_ps) * 1e-12;
  return (double)machine->ag_latency_cycles +
         (row + (rate > 0 ? place / rate : 0)) * (double)machine->clock_hz;
}

double sambaMachineTurnCycles(const SambaMachine *machine, double writes_per_byte,
                              double bytes_per_write) {
  int64_t channels = machine->hbm_channels > 0 ? machine->hbm_channels : machine->ddr_channels;
  double rate = channelRate(machine), high = (double)machine->dram_write_high;
  double low = (double)machine->dram_write_low, burst = (double)machine->dram_burst_bytes;
  /* Writes that come to a channel that is never idle before the first of them is due. */
  double due = SAMBA_WRITE_AGE_WINDOWS * (double)machine->dram_window * burst * writes_per_byte;
  double window = (double)machine->dram_window * burst / fmax(bytes_per_write, burst);
  double together = fmax(SAMBA_WRITES_PER_TURN, fmin(fmin(due, high - low), window));
  double turn = 2 * (double)machine->dram_turnaround_ps * 1e-12 * (double)machine->clock_hz;
  return rate > 0 ? turn / together / (double)channels : 0;
}

double sambaMachineAgBytesPerCycle(const SambaMachine *machine) {
  double outstanding = (double)(machine->ag_bursts * machine->dram_burst_bytes);
  return fmin(outstanding / sambaMachineLoadLatency(machine), (double)machine->ag_bytes);
}

double sambaMachineBurstBytes(const SambaMachine *machine, double bytes, double row_bytes) {
  double burst = (double)machine->dram_burst_bytes;
  double bursts = ceil(row_bytes / burst);
  if (row_bytes > bursts * burst - burst && row_bytes != bursts * burst)
    bursts += row_bytes > burst; /* rows that begin anywhere */
  double moved = bursts * burst / row_bytes;
  return bytes * moved * (row_bytes < 2 * burst ? SAMBA_SHORT_ROWS_COST : 1);
}
