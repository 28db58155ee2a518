/* Static estimates from the emitted section alone; see estimate.h. */
#include "backend/map/estimate.h"

#include "backend/config/access.h"

#include <math.h>
#include <stdlib.h>

SambaSectionNeeds sambaSectionCount(const SambaSection *section) {
  SambaSectionNeeds needs = {0};
  for (uint32_t u = 0; u < section->unit_count; ++u)
    ++*(section->units[u].kind == SAMBA_UNIT_COMPUTE  ? &needs.pcus
        : section->units[u].kind == SAMBA_UNIT_BUFFER ? &needs.pmus
                                                      : &needs.ags);
  return needs;
}

static SambaStatus checkNeed(const SambaSection *section, const SambaMachine *machine, const char *what, int64_t need,
                             int64_t has, int64_t reserve) {
  int64_t usable = has - has * reserve / 100;
  if (need <= usable)
    return NULL;
  return sambaStatusMake(SAMBA_EXHAUSTED, "section %s needs %lld %s, but %s has %lld (%lld kept free for placing)",
                         section->name, (long long)need, what, machine->name, (long long)has,
                         (long long)(has - usable));
}

SambaStatus sambaSectionFits(const SambaSection *section, const SambaMachine *machine) {
  SambaSectionNeeds needs = sambaSectionCount(section);
  SAMBA_RETURN_IF_ERROR(
      checkNeed(section, machine, "PCUs", needs.pcus, sambaMachinePcuCount(machine), machine->reserve_units_percent));
  SAMBA_RETURN_IF_ERROR(
      checkNeed(section, machine, "PMUs", needs.pmus, sambaMachinePmuCount(machine), machine->reserve_units_percent));
  return checkNeed(section, machine, "address generators", needs.ags, machine->ag_count, 0);
}

double sambaMachineDramBytesPerCycle(const SambaMachine *machine) {
  double mbps = machine->hbm_channels > 0 ? (double)machine->hbm_channels * (double)machine->hbm_channel_mbps
                                          : (double)machine->ddr_channels * (double)machine->ddr_channel_mbps;
  return mbps > 0 ? mbps * 1e6 / (double)machine->clock_hz : 1;
}

static double portBytes(const SambaUnit *unit, bool output, uint32_t port) {
  const SambaPort *p = output ? &unit->outputs[port] : &unit->inputs[port];
  double replay = unit->kind == SAMBA_UNIT_BUFFER && output ? p->access.replay : 1;
  return (double)sambaPortTokens(unit, output, port) * (double)p->token_elements * sambaDTypeBytes(p->dtype) * replay;
}

static double ceilDiv(double a, double b) { return ceil(a / b); }

static double systolicCycles(const SambaUnit *unit, const SambaMachine *machine) {
  const SambaLaneOp *mac = NULL;
  for (uint32_t i = 0; i < unit->program.op_count; ++i)
    if (unit->program.ops[i].opcode == SAMBA_LANE_MAC)
      mac = &unit->program.ops[i];
  if (!mac || mac->operands[0] >= unit->input_count || mac->operands[1] >= unit->input_count)
    return 1;
  const SambaPort *a = &unit->inputs[mac->operands[0]], *b = &unit->inputs[mac->operands[1]];
  double rows = 1, columns = 1, batch = 1, depth = 1;
  for (uint32_t c = unit->token_level; c < unit->counter_count; ++c) {
    bool reduced = unit->program.reduce_mask >> c & 1;
    *(reduced                           ? &depth
      : a->strides[c] && !b->strides[c] ? &rows
      : b->strides[c] && !a->strides[c] ? &columns
                                        : &batch) *= unit->trips[c];
  }
  bool wide = sambaDTypeBytes(a->dtype) > 2 || sambaDTypeBytes(b->dtype) > 2;
  return ceilDiv(rows, (double)machine->systolic_rows) * ceilDiv(columns, (double)machine->systolic_columns) * batch *
         (depth > (double)machine->systolic_rows ? depth : (double)machine->systolic_rows) *
         (double)(wide ? machine->systolic_f32_rate : 1);
}

static double computeCycles(const SambaUnit *unit, const SambaMachine *machine) {
  if (unit->program.systolic)
    return systolicCycles(unit, machine);
  double points = (double)sambaTripProduct(unit->trips, unit->token_level, unit->counter_count);
  double innermost = unit->counter_count > unit->token_level ? unit->trips[unit->counter_count - 1] : 1;
  uint32_t transcendentals = 0;
  for (uint32_t i = 0; i < unit->program.op_count; ++i)
    transcendentals += sambaLaneOpClass(unit->program.ops[i].opcode) == 'T';
  return points / innermost * ceilDiv(innermost, (double)machine->simd_lanes) *
         (transcendentals > 1 ? transcendentals : 1);
}

double sambaUnitBusyCycles(const SambaUnit *unit, const SambaMachine *machine) {
  double in = 0, out = 0, most = 0;
  for (uint32_t i = 0; i < unit->input_count; ++i) {
    double bytes = portBytes(unit, false, i);
    in += bytes;
    most = bytes > most ? bytes : most;
  }
  for (uint32_t i = 0; i < unit->output_count; ++i) {
    double bytes = portBytes(unit, true, i);
    out += bytes;
    most = bytes > most ? bytes : most;
  }
  switch (unit->kind) {
  case SAMBA_UNIT_LOAD:
  case SAMBA_UNIT_STORE:
    return most / (double)machine->ag_bytes;
  case SAMBA_UNIT_BUFFER:
    return (in > out ? in : out) / (double)machine->pmu_port_bytes;
  default: {
    double work = (double)sambaUnitFirings(unit) * computeCycles(unit, machine),
           moves = most / (double)machine->vector_bytes;
    return work > moves ? work : moves;
  }
  }
}

/* Cycles from the first token of a unit's inputs to its first token out. */
static double firstToken(const SambaUnit *unit, const SambaMachine *machine, double first_loads) {
  double tokens = 1, busy = sambaUnitBusyCycles(unit, machine);
  switch (unit->kind) {
  case SAMBA_UNIT_LOAD: {
    double own = (double)unit->outputs[0].token_elements * sambaDTypeBytes(unit->outputs[0].dtype) *
                 unit->outputs[0].stream_count / (double)machine->ag_bytes;
    return (double)machine->ag_latency_cycles + 60 + (own > first_loads ? own : first_loads);
  }
  case SAMBA_UNIT_BUFFER:
    tokens = (double)sambaTripProduct(unit->inputs[0].access.trips, 0, unit->inputs[0].access.slot_level);
    return busy / (tokens > 0 ? tokens : 1) + (double)machine->pmu_latency_cycles;
  case SAMBA_UNIT_COMPUTE:
    tokens = unit->output_count ? (double)sambaPortTokens(unit, true, 0) : 1;
    return busy / (tokens > 0 ? tokens : 1) +
           (double)(unit->program.systolic ? machine->systolic_drain_cycles : machine->simd_stages);
  default:
    return busy;
  }
}

double sambaSectionEstimate(const SambaSection *section, const SambaMachine *machine) {
  double dram = sambaMachineDramBytesPerCycle(machine), bytes = 0, first_loads = 0, total = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    if (unit->kind == SAMBA_UNIT_LOAD) {
      bytes += portBytes(unit, true, 0);
      first_loads += (double)unit->outputs[0].token_elements * sambaDTypeBytes(unit->outputs[0].dtype) *
                     unit->outputs[0].stream_count;
    } else if (unit->kind == SAMBA_UNIT_STORE) {
      bytes += portBytes(unit, false, 0);
    }
  }
  first_loads /= dram;
  /* Kahn's order over the streams. */
  uint32_t *waiting = sambaAllocateZeroed(section->unit_count, sizeof *waiting),
           *ready = sambaAllocateZeroed(section->unit_count, sizeof *ready);
  double *start = sambaAllocateZeroed(section->unit_count, sizeof *start);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    for (uint32_t d = 0; d < section->streams[s].destination_count; ++d)
      ++waiting[section->streams[s].destinations[d].unit];
  uint32_t ready_count = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (!waiting[u])
      ready[ready_count++] = u;
  for (uint32_t i = 0; i < ready_count; ++i) {
    const SambaUnit *unit = &section->units[ready[i]];
    double begin = start[ready[i]],
           next = begin + firstToken(unit, machine, first_loads) + 10 * (double)machine->hop_cycles;
    double end = begin + sambaUnitBusyCycles(unit, machine);
    total = end > total ? end : total;
    for (uint32_t p = 0; p < unit->output_count; ++p)
      for (uint32_t k = 0; k < unit->outputs[p].stream_count; ++k) {
        const SambaStream *stream = &section->streams[unit->outputs[p].streams[k]];
        for (uint32_t d = 0; d < stream->destination_count; ++d) {
          uint32_t to = stream->destinations[d].unit;
          start[to] = next > start[to] ? next : start[to];
          if (--waiting[to] == 0)
            ready[ready_count++] = to;
        }
      }
  }
  free(waiting);
  free(ready);
  free(start);
  double memory = bytes / dram + (double)machine->ag_latency_cycles + 60;
  return total > memory ? total : memory;
}

double sambaSectionLaunchCycles(const SambaSection *section, const SambaMachine *machine) {
  double ns = (double)section->unit_count * (double)machine->load_bytes_per_unit * 1e3 / (double)machine->load_mbps +
              (double)machine->load_latency_ns + (double)machine->argument_latency_ns + (double)machine->execute_hw_ns;
  return ns * 1e-9 * (double)machine->clock_hz;
}

void sambaSectionPlanRates(SambaSection *section, const SambaMachine *machine) {
  double cycles = sambaSectionEstimate(section, machine);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    SambaStream *stream = &section->streams[s];
    const SambaUnit *unit = &section->units[stream->source.unit];
    const SambaPort *port = &unit->outputs[stream->source.port];
    double share = portBytes(unit, true, stream->source.port) / port->stream_count /
                   (cycles * (double)machine->vector_bytes) * 1000;
    stream->rate_permille = share < 1 ? 1 : share > 1000 ? 1000 : (uint32_t)ceil(share);
  }
}
