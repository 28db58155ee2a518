/* Static estimates from the emitted section alone; see estimate.h. */
#include "backend/estimate/estimate.h"

#include "backend/config/load_size.h"
#include "backend/estimate/predict.h"
#include "backend/estimate/unit_cycles.h"
#include "backend/estimate/unit_law.h"
#include "backend/section/access.h"
#include "backend/section/width.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

double sambaSectionLoadCycles(const SambaSection *section, const SambaMachine *machine) {
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
  return sambaMachineLoadCycles(machine, bytes) +
         cyclesOfNanoseconds(machine, machine->load_latency_ns);
}

double sambaSectionStartCycles(const SambaMachine *machine) {
  return cyclesOfNanoseconds(machine, machine->argument_latency_ns + machine->execute_hw_ns);
}

double sambaSectionLaunchCycles(const SambaSection *section, const SambaMachine *machine) {
  return sambaSectionLoadCycles(section, machine) + sambaSectionStartCycles(machine);
}

/* Lanes that the router may fill. */
static double usedShare(const SambaMachine *machine) {
  return 1 - (double)machine->reserve_links_percent / 100;
}

const uint32_t *sambaSectionRates(const SambaSection *section, const SambaMachine *machine,
                                  SambaArena *arena) {
  uint32_t *rates = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  double cycles = sambaSectionBusyCycles(section, machine); /* once the pipeline is full */
  /* A share of a lane is one of the section's run, which is no shorter than a load. */
  cycles = fmax(cycles, sambaMachineLoadLatency(machine));
  cycles *= usedShare(machine);

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    const SambaUnit *unit = &section->units[stream->source.unit];
    const SambaPort *port = &unit->outputs[stream->source.port];
    double tokens = (double)sambaPortTokens(unit, true, stream->source.port) / port->stream_count;
    uint64_t width = sambaStreamVectorBytes(section, stream, machine);
    double vectors = tokens * sambaTokenVectors(port, stream->kind, width);
    rates[s] = (uint32_t)fmin(fmax(ceil(vectors / cycles * 1000), 1), 1000);
  }
  return rates;
}

/* Whether a stream of vectors fills buffers: only memory sets its pace then. */
static bool fillsBuffers(const SambaSection *section, const SambaStream *stream) {
  if (stream->kind != SAMBA_STREAM_VECTOR || !stream->destination_count)
    return false;
  for (uint32_t d = 0; d < stream->destination_count; ++d)
    if (section->units[stream->destinations[d].unit].kind != SAMBA_UNIT_BUFFER)
      return false;
  return true;
}

/* The rate of a stream while generators of `bytes` per cycle deal to, or take from, `streams`. */
static double burstRate(const SambaSection *section, const SambaStream *stream,
                        const SambaMachine *machine, double bytes, uint32_t streams) {
  double width = (double)sambaStreamVectorBytes(section, stream, machine);
  return 1000 * bytes / width / streams / usedShare(machine);
}

/* How many streams a PCU takes in turn with this one, in runs of tokens that FIFOs do not hold. */
static uint32_t turnsOf(const SambaSection *section, const SambaStream *stream,
                        const SambaMachine *machine) {
  uint64_t width = sambaStreamVectorBytes(section, stream, machine);
  uint32_t most = 1;
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    const SambaUnit *unit = &section->units[stream->destinations[d].unit];
    if (unit->kind != SAMBA_UNIT_COMPUTE)
      continue;
    const SambaPort *port = &unit->inputs[stream->destinations[d].port];
    double vectors = sambaTokenVectors(port, stream->kind, width) * port->block;
    bool held = vectors <= (double)machine->fifo_depth;
    most = !held && port->stream_count > most ? port->stream_count : most;
  }
  return most;
}

/* While a PCU takes the tokens of one stream, that one alone brings what several bring in turn. So
 * three that bring half a lane each then cannot share it, whatever they do on average. One has room
 * beside another stream of that rate, which the lane just carries. */
static uint32_t turnRate(uint32_t rate, uint32_t turns) {
  uint32_t alone = rate * turns < 1000 ? rate * turns : 1000;
  uint32_t beside = 1000 - alone < alone ? 1000 - alone : alone;
  return beside > rate ? beside : rate;
}

/* An operand of an array that uses at least so much of a lane wants so much of it, in permille. Of
 * 600, 700, 800, 850, 900 and 960 the products of three models took fewest cycles with 900. */
enum { operandUses = 150, operandWants = 900 };

const uint32_t *sambaSectionWishedRates(const SambaSection *section, const uint32_t *rates,
                                        SambaArena *arena) {
  uint32_t *wishes = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    bool feeds = false;
    for (uint32_t d = 0; d < stream->destination_count; ++d) {
      const SambaUnit *unit = &section->units[stream->destinations[d].unit];
      feeds |= unit->kind == SAMBA_UNIT_COMPUTE && unit->compute.program.systolic;
    }
    bool wants = feeds && rates[s] >= operandUses && rates[s] < operandWants;
    wishes[s] = wants ? operandWants : rates[s];
  }
  return wishes;
}

const uint32_t *sambaSectionBurstRates(const SambaSection *section, const SambaMachine *machine,
                                       const uint32_t *rates, bool turns, SambaArena *arena) {
  uint32_t *bursts = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  double *faster = SAMBA_ARENA_ARRAY(arena, double, section->unit_count); /* than on average */
  double loading = SAMBA_LOAD_SHARE * sambaMachineAgBytesPerCycle(machine);
  double storing = SAMBA_STORE_SHARE * (double)machine->ag_bytes;

  memcpy(bursts, rates, section->stream_count * sizeof *bursts);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    const SambaUnit *unit = &section->units[stream->source.unit];
    const SambaEndpoint *end = stream->destinations;
    if (stream->kind != SAMBA_STREAM_VECTOR || !stream->destination_count)
      continue;
    if (unit->kind == SAMBA_UNIT_LOAD) {
      uint32_t streams = unit->outputs[stream->source.port].stream_count;
      double rate = burstRate(section, stream, machine, loading, streams);
      faster[stream->source.unit] = rate / rates[s];
    } else if (unit->kind == SAMBA_UNIT_BUFFER &&
               section->units[end->unit].kind == SAMBA_UNIT_STORE) {
      uint32_t streams = section->units[end->unit].inputs[end->port].stream_count;
      double rate = burstRate(section, stream, machine, storing, streams);
      bursts[s] = (uint32_t)fmin(fmax(ceil(rate), rates[s]), 1000);
    } else if (turns) {
      bursts[s] = turnRate(rates[s], turnsOf(section, stream, machine));
    }
  }

  /* A buffer passes on as fast as it is filled. At most two follow each other between memory and
   * those that PCUs read. */
  for (int way = 0; way < 3; ++way)
    for (uint32_t s = 0; s < section->stream_count; ++s) {
      const SambaStream *stream = &section->streams[s];
      double own = faster[stream->source.unit];
      if (own <= 1 || !fillsBuffers(section, stream))
        continue;
      bursts[s] = (uint32_t)fmin(ceil(own * rates[s]), 1000);
      for (uint32_t d = 0; d < stream->destination_count; ++d) {
        double *next = &faster[stream->destinations[d].unit];
        *next = fmax(*next, own);
      }
    }
  return bursts;
}

SambaLinkShares sambaSectionLinkShares(const SambaSection *section, const SambaMachine *machine) {
  SambaArena arena = {0};
  const uint32_t *rates = sambaSectionRates(section, machine, &arena);
  const uint32_t *bursts = sambaSectionBurstRates(section, machine, rates, true, &arena);
  const uint32_t *wishes = sambaSectionWishedRates(section, rates, &arena);
  SambaLinkShares carried = {0}; /* permille of a lane */
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    if (stream->kind != SAMBA_STREAM_VECTOR)
      continue;
    carried.bursts += (double)bursts[s] * stream->destination_count;
    carried.wishes += (double)wishes[s] * stream->destination_count;
  }
  sambaArenaDestroy(&arena);

  enum { sides = 4 };
  double lanes = sides * (double)machine->vector_lanes * (double)sambaMachineSiteCount(machine);
  return (SambaLinkShares){carried.bursts / 1000 / lanes, carried.wishes / 1000 / lanes};
}
