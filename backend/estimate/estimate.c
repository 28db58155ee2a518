/* Static estimates from the emitted section alone; see estimate.h. */
#include "backend/estimate/estimate.h"

#include "backend/config/load_size.h"
#include "backend/estimate/unit_cycles.h"
#include "backend/section/access.h"
#include "backend/section/width.h"

#include <math.h>
#include <stdlib.h>

SambaSectionNeeds sambaSectionCount(const SambaSection *section) {
  SambaSectionNeeds needs = {0};
  for (uint32_t u = 0; u < section->unit_count; ++u)
    switch (section->units[u].kind) {
    case SAMBA_UNIT_COMPUTE:
      ++needs.pcus;
      break;
    case SAMBA_UNIT_BUFFER:
      ++needs.pmus;
      break;
    default:
      ++needs.ags;
    }
  return needs;
}

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
      checkNeed(section, machine, "address generators", needs.ags, machine->ag_count));
  return checkFlows(section, machine);
}

static double portBytes(const SambaUnit *unit, bool output, uint32_t port) {
  const SambaPort *p = output ? &unit->outputs[port] : &unit->inputs[port];
  return (double)sambaPortTokens(unit, output, port) * (double)p->token_elements *
         sambaDTypeBytes(p->dtype);
}

/* The shape of a firing on the array; false for a MAC whose operands are not inputs. */
static bool arrayFiring(const SambaUnit *unit, SambaArrayFiring *out_firing) {
  const SambaCompute *compute = &unit->compute;
  const SambaLaneOp *mac = NULL;
  for (uint32_t i = 0; i < compute->program.op_count; ++i)
    if (sambaLaneOpIsMac(compute->program.ops[i].opcode))
      mac = &compute->program.ops[i];
  if (!mac || mac->operands[0] >= unit->input_count || mac->operands[1] >= unit->input_count)
    return false;
  const SambaPort *a = &unit->inputs[mac->operands[0]];
  const SambaPort *b = &unit->inputs[mac->operands[1]];

  *out_firing = (SambaArrayFiring){1, 1, 1, 1, false};
  for (uint32_t c = compute->token_level; c < compute->counter_count; ++c) {
    bool in_a = a->compute.strides[c] != 0, in_b = b->compute.strides[c] != 0;
    if (compute->program.reduce_mask >> c & 1)
      out_firing->depth *= compute->trips[c];
    else if (in_a && !in_b)
      out_firing->rows *= compute->trips[c];
    else if (in_b && !in_a)
      out_firing->columns *= compute->trips[c];
    else
      out_firing->batch *= compute->trips[c];
  }

  out_firing->wide = sambaDTypeBytes(a->dtype) > 2 || sambaDTypeBytes(b->dtype) > 2;
  return true;
}

static SambaSimdFiring simdFiring(const SambaUnit *unit) {
  const SambaCompute *compute = &unit->compute;
  SambaSimdFiring firing = {.rows = 1, .innermost = 1, .lanes = unit->lanes};
  sambaSimdFiringProgram(&firing, compute->program.ops, compute->program.op_count);
  for (uint32_t i = 0; i < unit->input_count; ++i)
    sambaSimdFiringPort(&firing, unit->inputs[i].dtype);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    sambaSimdFiringPort(&firing, unit->outputs[i].dtype);

  if (compute->counter_count > compute->token_level) {
    uint32_t last = compute->counter_count - 1;
    firing.innermost = compute->trips[last];
    firing.rows = (int64_t)sambaTripProduct(compute->trips, compute->token_level, last);
  }
  return firing;
}

static double computeCycles(const SambaUnit *unit, const SambaMachine *machine) {
  SambaArrayFiring array;
  if (unit->compute.program.systolic)
    return arrayFiring(unit, &array) ? sambaArrayCycles(machine, &array) : 1;
  SambaSimdFiring simd = simdFiring(unit);
  return sambaSimdCycles(machine, &simd);
}

static double computeLatency(const SambaUnit *unit, const SambaMachine *machine) {
  const SambaProgram *program = &unit->compute.program;
  bool has_tail = simdFiring(unit).transcendentals > 0;
  return program->systolic ? sambaArrayLatency(machine, has_tail)
                           : sambaSimdLatency(machine, has_tail);
}

/* Cycles that the unit is occupied during one run of the section, from its port rates and its
 * program. */
static double unitBusyCycles(const SambaUnit *unit, const SambaMachine *machine) {
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

  double width = (double)sambaUnitVectorBytes(unit, machine);
  switch (unit->kind) {
  case SAMBA_UNIT_LOAD:
    return most / fmin(sambaMachineAgBytesPerCycle(machine), width);
  case SAMBA_UNIT_STORE:
    return most / fmin((double)machine->ag_bytes, width);
  case SAMBA_UNIT_BUFFER:
    return (in > out ? in : out) / fmin((double)machine->pmu_port_bytes, width);
  default: {
    double work = (double)sambaUnitFirings(unit) * computeCycles(unit, machine);
    double moves = most / width;
    return work > moves ? work : moves;
  }
  }
}

static double slotsOf(const SambaUnit *buffer) {
  return (double)sambaTripProduct(buffer->inputs[0].access.trips, 0,
                                  buffer->inputs[0].access.slot_level);
}

/* Cycles from a unit's first input to its first output. busy: of all units; first_slots: cycles in
 * which the DRAM delivers the first slot of every buffer. */
static double firstToken(const SambaSection *section, uint32_t index, const double *busy,
                         double first_slots, const SambaMachine *machine) {
  const SambaUnit *unit = &section->units[index];
  switch (unit->kind) {
  case SAMBA_UNIT_LOAD:
    return sambaMachineLoadLatency(machine);
  case SAMBA_UNIT_BUFFER: { /* store and forward: a slot as fast as its slowest writer brings it */
    double fill = busy[index];
    bool loaded = false;
    for (uint32_t i = 0; i < unit->input_count; ++i)
      for (uint32_t s = 0; s < unit->inputs[i].stream_count; ++s) {
        uint32_t source = section->streams[unit->inputs[i].streams[s]].source.unit;
        loaded |= section->units[source].kind == SAMBA_UNIT_LOAD;
        fill = busy[source] > fill ? busy[source] : fill;
      }
    fill /= slotsOf(unit);
    return (loaded && fill < first_slots ? first_slots : fill) +
           (double)machine->pmu_latency_cycles;
  }
  case SAMBA_UNIT_COMPUTE: {
    double tokens = unit->output_count ? (double)sambaPortTokens(unit, true, 0) : 1;
    return busy[index] / (tokens > 0 ? tokens : 1) + computeLatency(unit, machine);
  }
  default:
    return busy[index];
  }
}

/* Busy cycles of every unit; returns the largest, or the DRAM's if that is more. */
static double busyCycles(const SambaSection *section, const SambaMachine *machine, double *out_busy,
                         double *out_first_slots) {
  double bytes = 0, first = 0, most = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    out_busy[u] = unitBusyCycles(unit, machine);
    most = out_busy[u] > most ? out_busy[u] : most;
    if (unit->kind == SAMBA_UNIT_LOAD)
      bytes += portBytes(unit, true, 0);
    if (unit->kind == SAMBA_UNIT_STORE)
      bytes += portBytes(unit, false, 0);
    if (unit->kind == SAMBA_UNIT_BUFFER && unit->input_count && unit->inputs[0].stream_count &&
        section->units[section->streams[unit->inputs[0].streams[0]].source.unit].kind ==
            SAMBA_UNIT_LOAD)
      first += (double)unit->buffer.slot_elements * sambaDTypeBytes(unit->inputs[0].dtype);
  }

  double dram = sambaMachineDramBytesPerCycle(machine);
  *out_first_slots = first / dram;
  return bytes / dram > most ? bytes / dram : most;
}

/* Cycles of those who write a buffer of one slot and of those who read it: they take turns. */
static double turnCycles(const SambaSection *section, uint32_t index, const double *busy) {
  const SambaUnit *unit = &section->units[index];
  if (unit->kind != SAMBA_UNIT_BUFFER || unit->buffer.slot_count != 1 ||
      unit->buffer.loop_carried || slotsOf(unit) < 2)
    return 0;

  double writing = 0, reading = 0;
  for (uint32_t i = 0; i < unit->input_count; ++i)
    for (uint32_t s = 0; s < unit->inputs[i].stream_count; ++s) {
      uint32_t source = section->streams[unit->inputs[i].streams[s]].source.unit;
      writing = fmax(writing, busy[source]);
    }
  for (uint32_t i = 0; i < unit->output_count; ++i)
    for (uint32_t s = 0; s < unit->outputs[i].stream_count; ++s) {
      const SambaStream *stream = &section->streams[unit->outputs[i].streams[s]];
      for (uint32_t d = 0; d < stream->destination_count; ++d)
        reading = fmax(reading, busy[stream->destinations[d].unit]);
    }
  return writing + reading;
}

/* Readers of such a buffer do not wait for its first writes. */
static bool startsFull(const SambaSection *section, uint32_t unit) {
  return section->units[unit].kind == SAMBA_UNIT_BUFFER && section->units[unit].buffer.loop_carried;
}

double sambaSectionEstimate(const SambaSection *section, const SambaMachine *machine) {
  double *busy = sambaAllocateZeroed(section->unit_count, sizeof *busy);
  double first_slots;
  double total =
      busyCycles(section, machine, busy, &first_slots) + sambaMachineLoadLatency(machine);

  /* Kahn's order over the streams. */
  uint32_t *waiting = sambaAllocateZeroed(section->unit_count, sizeof *waiting);
  uint32_t *ready = sambaAllocateZeroed(section->unit_count, sizeof *ready);
  double *start = sambaAllocateZeroed(section->unit_count, sizeof *start);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    for (uint32_t d = 0; d < section->streams[s].destination_count; ++d)
      waiting[section->streams[s].destinations[d].unit] +=
          !startsFull(section, section->streams[s].destinations[d].unit);
  uint32_t ready_count = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (!waiting[u])
      ready[ready_count++] = u;

  for (uint32_t i = 0; i < ready_count; ++i) {
    const SambaUnit *unit = &section->units[ready[i]];
    double begin = start[ready[i]];
    double end = begin + fmax(busy[ready[i]], turnCycles(section, ready[i], busy));
    double next = begin + firstToken(section, ready[i], busy, first_slots, machine) +
                  SAMBA_ASSUMED_HOPS * (double)machine->hop_cycles;
    total = end > total ? end : total;
    for (uint32_t p = 0; p < unit->output_count; ++p)
      for (uint32_t k = 0; k < unit->outputs[p].stream_count; ++k) {
        const SambaStream *stream = &section->streams[unit->outputs[p].streams[k]];
        for (uint32_t d = 0; d < stream->destination_count; ++d) {
          uint32_t to = stream->destinations[d].unit;
          if (startsFull(section, to))
            continue;
          start[to] = next > start[to] ? next : start[to];
          if (--waiting[to] == 0)
            ready[ready_count++] = to;
        }
      }
  }

  free(busy);
  free(waiting);
  free(ready);
  free(start);

  return total;
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

double sambaSectionLaunchCycles(const SambaSection *section, const SambaMachine *machine) {
  int64_t ns = machine->load_latency_ns + machine->argument_latency_ns + machine->execute_hw_ns;
  bool ideal = machine->network == SAMBA_NETWORK_IDEAL; /* no switches */
  uint64_t bytes = 0, entries = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    bytes += sambaUnitLoadBytes(&section->units[u]);
  for (uint32_t s = 0; s < section->stream_count && !ideal; ++s) {
    const SambaStream *stream = &section->streams[s];
    uint32_t assumed = SAMBA_ENTRIES_PER_DESTINATION * stream->destination_count;
    entries += stream->hop_count ? stream->hop_count : assumed;
  }

  bytes += entries * sambaSwitchEntryLoadBytes();
  return sambaMachineLoadCycles(machine, bytes) + (double)ns * 1e-9 * (double)machine->clock_hz;
}

/* Vectors of one token on a stream: of a scalar stream each element is one, and a token without
 * elements is one too. width: bytes of a vector. */
static double tokenVectors(const SambaPort *port, SambaStreamKind kind, uint64_t width) {
  double elements = (double)port->token_elements;
  double bytes = elements * sambaDTypeBytes(port->dtype);
  double vectors = kind == SAMBA_STREAM_SCALAR ? elements : ceil(bytes / (double)width);
  return fmax(vectors, 1);
}

const uint32_t *sambaSectionRates(const SambaSection *section, const SambaMachine *machine,
                                  SambaArena *arena) {
  uint32_t *rates = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  double *busy = sambaAllocateZeroed(section->unit_count, sizeof *busy);
  double first_slots;
  double cycles = busyCycles(section, machine, busy, &first_slots); /* once the pipeline is full */
  /* A share of a lane is one of the section's run, which is no shorter than a load. */
  cycles = fmax(cycles, sambaMachineLoadLatency(machine));
  cycles *= 1 - (double)machine->reserve_links_percent / 100;
  free(busy);

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    const SambaUnit *unit = &section->units[stream->source.unit];
    const SambaPort *port = &unit->outputs[stream->source.port];
    double tokens = (double)sambaPortTokens(unit, true, stream->source.port) / port->stream_count;
    uint64_t width = sambaStreamVectorBytes(section, stream, machine);
    double vectors = tokens * tokenVectors(port, stream->kind, width);
    rates[s] = (uint32_t)fmin(fmax(ceil(vectors / cycles * 1000), 1), 1000);
  }
  return rates;
}
