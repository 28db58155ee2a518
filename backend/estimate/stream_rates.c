/* Rates of streams; see stream_rates.h. */
#include "backend/estimate/stream_rates.h"

#include "backend/estimate/busy.h"
#include "backend/estimate/unit_cycles.h"
#include "backend/estimate/unit_law.h"
#include "backend/section/access.h"
#include "backend/section/width.h"

#include <math.h>
#include <string.h>

/* Lanes that the router may fill. */
static double usedShare(const SambaMachine *machine) {
  return 1 - (double)machine->reserve_links_percent / 100;
}

const uint32_t *sambaSectionRatesIn(const SambaSection *section, const SambaMachine *machine,
                                    double cycles, SambaArena *arena) {
  uint32_t *rates = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
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

const uint32_t *sambaSectionRates(const SambaSection *section, const SambaMachine *machine,
                                  SambaArena *arena) {
  double cycles = sambaSectionBusyCycles(section, machine); /* once the pipeline is full */
  return sambaSectionRatesIn(section, machine, cycles, arena);
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
