/* Loops of streams in a prediction; see loop_pace.h. Only arrays are looked at: their operands come
 * in long tokens by multicast, and each of them is in many loops. */
#include "backend/estimate/loop_pace.h"

#include "backend/estimate/unit_law.h"
#include "backend/section/access.h"
#include "backend/section/fabric/stream_loops.h"
#include "backend/section/pcu.h"
#include "backend/section/width.h"

#include <math.h>

/* Ports that take from more streams than this are looked at in their first turns only. */
enum { mostTurns = 4 };

static bool isRouted(const SambaSection *section) {
  bool routed = false;
  for (uint32_t s = 0; s < section->stream_count && !routed; ++s)
    routed = section->streams[s].hop_count > 0;
  return routed;
}

/* Whether the port has an operand of the array, and takes a token of it in each firing. */
static bool isOperand(const SambaUnit *unit, uint32_t port) {
  const SambaCompute *compute = &unit->compute;
  if (unit->kind != SAMBA_UNIT_COMPUTE || !compute->program.systolic)
    return false;
  const SambaLaneOp *mac = &compute->program.ops[sambaPcuMac(unit)];
  return (mac->operands[0] == port || mac->operands[1] == port) &&
         sambaTripProduct(compute->trips, unit->inputs[port].compute.level, compute->token_level) ==
             1;
}

/* Whether the port takes from the stream in this turn. */
static bool takesIn(const SambaPort *port, uint32_t turn, uint32_t stream) {
  return port->stream_count && port->streams[turn % port->stream_count] == stream;
}

/* takers: room for those of all streams. works: cycles of a firing of each unit. */
static void describeStreams(const SambaSection *section, const SambaMachine *machine,
                            const uint64_t *works, uint32_t turn, SambaLoopStream *streams,
                            SambaLoopTaker *takers) {
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    const SambaUnit *source = &section->units[stream->source.unit];
    double vectors = sambaTokenVectors(&source->outputs[stream->source.port], stream->kind,
                                       sambaStreamVectorBytes(section, stream, machine));
    streams[s] = (SambaLoopStream){.vectors = (uint64_t)fmax(1, vectors), .takers = takers};
    for (uint32_t d = 0; d < stream->destination_count; ++d) {
      SambaEndpoint end = stream->destinations[d];
      const SambaUnit *unit = &section->units[end.unit];
      bool evenly = stream->kind == SAMBA_STREAM_VECTOR && isOperand(unit, end.port) &&
                    takesIn(&unit->inputs[end.port], turn, s);
      uint64_t rest = evenly ? works[end.unit] / streams[s].vectors : 0;
      *takers++ = (SambaLoopTaker){evenly, rest > 1 ? rest - 1 : 0, (uint64_t)machine->hop_cycles};
    }
  }
}

const double *sambaSectionLoopPaces(const SambaSection *section, const SambaMachine *machine,
                                    SambaArena *arena) {
  if (!isRouted(section))
    return NULL;
  SambaArena scratch = {0};
  size_t destinations = 0;
  uint32_t turns = 1;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    destinations += section->streams[s].destination_count;
  SambaLoopStream *streams = SAMBA_ARENA_ARRAY(&scratch, SambaLoopStream, section->stream_count);
  SambaLoopTaker *takers = SAMBA_ARENA_ARRAY(&scratch, SambaLoopTaker, destinations);
  SambaLoop *loops = SAMBA_ARENA_ARRAY(&scratch, SambaLoop, section->unit_count);
  uint64_t *works = SAMBA_ARENA_ARRAY(&scratch, uint64_t, section->unit_count);
  const SambaRoutes *routes = sambaRoutesFind(machine, section, &scratch);
  double *paces = SAMBA_ARENA_ARRAY(arena, double, section->unit_count);

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    if (unit->kind != SAMBA_UNIT_COMPUTE)
      continue;
    works[u] = (uint64_t)ceil(sambaComputeLaw(unit, machine).work);
    for (uint32_t p = 0; p < unit->input_count; ++p)
      if (isOperand(unit, p) && unit->inputs[p].stream_count > turns)
        turns = unit->inputs[p].stream_count;
  }

  for (uint32_t turn = 0; turn < turns && turn < mostTurns; ++turn) {
    describeStreams(section, machine, works, turn, streams, takers);
    sambaStreamLoopsFind(section, machine, routes, streams, works, loops);
    for (uint32_t u = 0; u < section->unit_count; ++u)
      if (loops[u].tokens > 0)
        paces[u] = fmax(paces[u], loops[u].cycles / loops[u].tokens);
  }
  sambaArenaDestroy(&scratch);
  return paces;
}
