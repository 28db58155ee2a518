/* Loops of streams in a prediction; see loop_pace.h. Only arrays are looked at: their operands come
 * in long tokens by multicast, and each of them is in many loops. */
#include "backend/estimate/loop_pace.h"

#include "backend/estimate/unit_law.h"
#include "backend/section/access.h"
#include "backend/section/fabric/stream_loops.h"
#include "backend/section/pcu.h"
#include "backend/section/width.h"
#include "support/number/integer.h"

#include <math.h>

static bool hasRoutes(const SambaSection *section) {
  bool found = false;
  for (uint32_t s = 0; s < section->stream_count && !found; ++s)
    found = section->streams[s].hop_count > 0;
  return found;
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

/* How an array takes a stream of its operand, whose vectors it uses one after the other in `work`
 * cycles. */
static SambaLoopTaker takerOf(const SambaPort *port, uint32_t stream, uint64_t vectors,
                              uint64_t work, const SambaMachine *machine) {
  SambaLoopTaker taker = {.evenly = true,
                          .streams = port->stream_count,
                          .rest = (uint64_t)sambaCeilDiv((int64_t)work, (int64_t)vectors) - 1,
                          .latency = (uint64_t)machine->hop_cycles};
  while (port->streams[taker.place] != stream)
    ++taker.place;
  return taker;
}

static void describeStream(const SambaSection *section, const SambaMachine *machine, uint32_t index,
                           const SambaLoopGrid *grid) {
  const SambaStream *stream = &section->streams[index];
  const SambaPort *made = &section->units[stream->source.unit].outputs[stream->source.port];
  SambaLoopStream *described = &grid->streams[index];
  described->vectors = (uint64_t)sambaTokenVectors(
      made, stream->kind, sambaStreamVectorBytes(section, stream, machine));
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    SambaEndpoint end = stream->destinations[d];
    const SambaUnit *unit = &section->units[end.unit];
    if (stream->kind == SAMBA_STREAM_VECTOR && isOperand(unit, end.port))
      described->takers[d] = takerOf(&unit->inputs[end.port], index, described->vectors,
                                     grid->paces[end.unit], machine);
  }
}

const double *sambaSectionLoopPaces(const SambaSection *section, const SambaMachine *machine,
                                    SambaArena *arena) {
  if (!hasRoutes(section))
    return NULL;
  SambaLoopGrid grid = sambaLoopGridMake(section);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (section->units[u].kind == SAMBA_UNIT_COMPUTE)
      grid.paces[u] = (uint64_t)ceil(sambaComputeLaw(&section->units[u], machine).work);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    describeStream(section, machine, s, &grid);

  double *paces = SAMBA_ARENA_ARRAY(arena, double, section->unit_count);
  const SambaRoutes *routes = sambaRoutesFind(machine, section, &grid.scratch);
  const SambaLoop *loops = sambaStreamLoopsFind(section, machine, routes, &grid, &grid.scratch);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    paces[u] = loops[u].tokens > 0 ? loops[u].cycles / loops[u].tokens : 0;
  sambaLoopGridDestroy(&grid);
  return paces;
}
