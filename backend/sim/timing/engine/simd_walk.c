/* The walk of a SIMD unit; see simd_walk.h. */
#include "backend/sim/timing/engine/simd_walk.h"

#include "backend/section/width.h"

SambaSimdWalk sambaSimdWalkMake(SambaArena *arena, const SambaMachine *machine,
                                const SambaSection *section, const SambaUnit *unit,
                                uint64_t lanes) {
  SambaSimdWalk walk = {
      .unit = unit,
      .lanes = lanes,
      .counters = SAMBA_ARENA_ARRAY(arena, uint64_t, unit->compute.counter_count),
      .inputs = SAMBA_ARENA_ARRAY(arena, SambaSimdInput, unit->input_count),
  };
  uint32_t inner = unit->compute.counter_count;
  bool steps = inner > unit->compute.token_level; /* otherwise a firing is one point */
  for (uint32_t c = unit->compute.token_level; c < inner; ++c)
    walk.sums |= c < 64 && (unit->compute.program.reduce_mask >> c & 1);
  for (uint32_t i = 0; i < unit->input_count; ++i) {
    const SambaPort *port = &unit->inputs[i];
    uint64_t bytes = sambaPortVectorBytes(section, unit, port, machine);
    uint64_t elements = bytes / sambaDTypeBytes(port->dtype);
    bool scalars =
        port->stream_count && section->streams[port->streams[0]].kind == SAMBA_STREAM_SCALAR;
    walk.inputs[i] = (SambaSimdInput){.port = port,
                                      .token_elements = port->token_elements,
                                      .stride = steps ? port->compute.strides[inner - 1] : 0,
                                      .vector = sambaVectorOf(scalars || !elements ? 1 : elements)};
  }
  return walk;
}

uint64_t sambaPipelinePlaces(const SambaMachine *machine, const SambaSection *section,
                             const SambaUnit *unit, const SambaPort *output, uint64_t lanes,
                             uint64_t latency) {
  uint64_t least = lanes * 8 / (uint64_t)machine->vector_bytes + 1;
  uint64_t bytes = lanes * sambaDTypeBytes(output->dtype);
  uint64_t width = sambaPortVectorBytes(section, unit, output, machine);
  uint64_t more = bytes > width ? (bytes - 1) / width : 0;
  return latency + 2 * more > least ? latency + 2 * more : least;
}
