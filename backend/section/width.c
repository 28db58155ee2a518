/* How wide units and streams are; see width.h. */
#include "backend/section/width.h"

enum { wordBytes = 4 }; /* of a lane */

uint64_t sambaUnitLaneCount(const SambaUnit *unit, const SambaMachine *machine) {
  return unit->lanes ? unit->lanes : (uint64_t)machine->simd_lanes;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint64_t sambaUnitVectorBytes(const SambaUnit *unit, const SambaMachine *machine) {
  uint64_t link = (uint64_t)machine->vector_bytes;
  return unit->lanes ? smaller(link, (uint64_t)unit->lanes * wordBytes) : link;
}

uint64_t sambaStreamVectorBytes(const SambaSection *section, const SambaStream *stream,
                                const SambaMachine *machine) {
  uint64_t bytes = sambaUnitVectorBytes(&section->units[stream->source.unit], machine);
  for (uint32_t d = 0; d < stream->destination_count; ++d)
    bytes = smaller(bytes,
                    sambaUnitVectorBytes(&section->units[stream->destinations[d].unit], machine));
  return bytes;
}

uint64_t sambaPortVectorBytes(const SambaSection *section, const SambaUnit *unit,
                              const SambaPort *port, const SambaMachine *machine) {
  uint64_t bytes = sambaUnitVectorBytes(unit, machine);
  for (uint32_t i = 0; i < port->stream_count; ++i)
    bytes = smaller(bytes,
                    sambaStreamVectorBytes(section, &section->streams[port->streams[i]], machine));
  return bytes;
}
