/* What keeps resources busy; see busy.h. */
#include "backend/estimate/busy.h"

#include "backend/estimate/unit_cycles.h"
#include "backend/estimate/unit_law.h"
#include "backend/section/access.h"
#include "backend/section/fabric/lane_uses.h"
#include "backend/section/width.h"

#include <math.h>
#include <stdlib.h>

static const char *const names[] = {
#define X(NAME, name, what) name,
#include "backend/estimate/resources.def"
#undef X
};

const char *sambaResourceName(SambaResource resource) { return names[resource]; }

static void raise(SambaBusy *all, SambaResource resource, double cycles, uint32_t unit) {
  if (cycles <= all->cycles[resource])
    return;
  all->cycles[resource] = cycles;
  all->unit[resource] = unit;
}

static double vectorsOfPort(const SambaSection *section, const SambaUnit *unit, bool output,
                            uint32_t index, const SambaMachine *machine) {
  const SambaPort *port = output ? &unit->outputs[index] : &unit->inputs[index];
  if (!port->stream_count)
    return 0;
  const SambaStream *stream = &section->streams[port->streams[0]];
  if (stream->kind == SAMBA_STREAM_CONTROL)
    return 0;
  uint64_t width = sambaStreamVectorBytes(section, stream, machine);
  return (double)sambaPortTokens(unit, output, index) *
         sambaTokenVectors(port, stream->kind, width);
}

static double computeBusy(const SambaSection *section, const SambaUnit *unit,
                          const SambaMachine *machine) {
  double busy = (double)sambaUnitFirings(unit) * sambaComputeLaw(unit, machine).work;
  for (uint32_t p = 0; p < unit->input_count; ++p)
    busy = fmax(busy, vectorsOfPort(section, unit, false, p, machine));
  for (uint32_t p = 0; p < unit->output_count; ++p)
    busy = fmax(busy, vectorsOfPort(section, unit, true, p, machine));
  return busy;
}

/* The slower of the two sides of a PMU. */
static double pmuBusy(const SambaSection *section, const SambaUnit *unit,
                      const SambaMachine *machine, SambaPortPatterns *patterns) {
  double sides[2] = {0};
  for (int output = 0; output < 2; ++output) {
    uint32_t count = output ? unit->output_count : unit->input_count;
    for (uint32_t p = 0; p < count; ++p) {
      double tokens = (double)sambaPortTokens(unit, output, p);
      double cycles = sambaPmuTokenCycles(section, unit, output, p, machine, patterns);
      sides[output] += fmax(tokens * cycles, vectorsOfPort(section, unit, output, p, machine));
    }
  }
  return fmax(sides[0], sides[1]);
}

/*===-- Network -------------------------------------------------------------------------------===*/

/* Vectors that a stream carries: of a lane, the cycles that they take. */
static double vectorsOfStream(const SambaSection *section, const SambaStream *stream,
                              const SambaMachine *machine) {
  const SambaUnit *unit = &section->units[stream->source.unit];
  const SambaPort *port = &unit->outputs[stream->source.port];
  return vectorsOfPort(section, unit, true, stream->source.port, machine) / port->stream_count;
}

/* Of a routed section: the lane that carries the most vectors. A multicast passes each lane of its
 * tree once. */
static void routedBusy(const SambaSection *section, const SambaMachine *machine, SambaBusy *all) {
  SambaArena scratch = {0};
  size_t count;
  const SambaFabricUse *uses = sambaFabricUses(section, &scratch, &count);
  double *vectors = SAMBA_ARENA_ARRAY(&scratch, double, section->stream_count);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    vectors[s] = vectorsOfStream(section, &section->streams[s], machine);
  double busy = 0;
  for (size_t i = 0; i < count; ++i) {
    uint32_t stream = uses[i].stream;
    busy = i && uses[i].lane == uses[i - 1].lane ? busy : 0;
    busy += vectors[stream];
    raise(all, SAMBA_RESOURCE_NETWORK, busy, section->streams[stream].source.unit);
  }
  sambaArenaDestroy(&scratch);
}

/* Before there are routes: the vectors that a unit sends or takes, over its lanes. */
static void unroutedBusy(const SambaSection *section, const SambaMachine *machine, SambaBusy *all) {
  double *in = sambaAllocateZeroed(section->unit_count, 2 * sizeof *in);
  double *out = in + section->unit_count;
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    double vectors = vectorsOfStream(section, stream, machine);
    raise(all, SAMBA_RESOURCE_NETWORK, vectors, stream->source.unit);
    out[stream->source.unit] += vectors / (double)machine->unit_vector_outputs;
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      in[stream->destinations[d].unit] += vectors / (double)machine->unit_vector_inputs;
  }
  for (uint32_t u = 0; u < section->unit_count; ++u)
    raise(all, SAMBA_RESOURCE_NETWORK, fmax(in[u], out[u]), u);
  free(in);
}

void sambaSectionAddNetworkBusy(const SambaSection *section, const SambaMachine *machine,
                                SambaBusy *all) {
  bool routed = false;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    routed |= section->streams[s].hop_count > 0;
  if (routed)
    routedBusy(section, machine, all);
  else
    unroutedBusy(section, machine, all);
}

/*===-- All of them ---------------------------------------------------------------------------===*/

static void addUnits(const SambaSection *section, const SambaMachine *machine,
                     SambaPortPatterns *patterns, SambaBusy *all) {
  double bytes = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    if (unit->kind == SAMBA_UNIT_COMPUTE) {
      raise(all, SAMBA_RESOURCE_COMPUTE, computeBusy(section, unit, machine), u);
    } else if (unit->kind == SAMBA_UNIT_BUFFER) {
      raise(all, SAMBA_RESOURCE_PMU, pmuBusy(section, unit, machine, patterns), u);
    } else {
      SambaMemoryLaw law = sambaMemoryLaw(section, unit, machine);
      double firings = (double)sambaUnitFirings(unit);
      bytes += firings * law.bytes;
      raise(all, SAMBA_RESOURCE_GENERATORS, firings * law.issue, u);
    }
  }

  bool hbm = machine->hbm_channels > 0;
  raise(all, hbm ? SAMBA_RESOURCE_HBM : SAMBA_RESOURCE_DDR,
        bytes / sambaMachineDramBytesPerCycle(machine), SAMBA_NO_INDEX);
}

double sambaBusyMost(const SambaBusy *all, SambaResource *out_resource) {
  double most = 0;
  *out_resource = SAMBA_RESOURCE_COMPUTE;
  for (int r = 0; r < SAMBA_RESOURCE_COUNT; ++r)
    if (all->cycles[r] > most) {
      most = all->cycles[r];
      *out_resource = (SambaResource)r;
    }
  return most;
}

SambaBusy sambaSectionBusy(const SambaSection *section, const SambaMachine *machine,
                           SambaPortPatterns *patterns) {
  SambaBusy all = {0};
  for (int r = 0; r < SAMBA_RESOURCE_COUNT; ++r)
    all.unit[r] = SAMBA_NO_INDEX;
  addUnits(section, machine, patterns, &all);
  return all;
}

double sambaSectionBusyCycles(const SambaSection *section, const SambaMachine *machine) {
  SambaArena arena = {0};
  SambaBusy all = sambaSectionBusy(section, machine, sambaPortPatternsCreate(machine, &arena));
  SambaResource unused;
  sambaArenaDestroy(&arena);
  return sambaBusyMost(&all, &unused);
}
