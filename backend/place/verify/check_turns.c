/* The static check of accumulation: a slot that is released as a whole cannot be written while it
 * is read.
 *
 * The reads of a loop-carried buffer may come back to it through units that make a vector for each
 * one that they take. Then all vectors of a slot are on their way before the first can be written,
 * and the streams and pipelines between must hold them. If they cannot, the read never ends. Only
 * ways without splits, merges and reductions are followed, and everything on them is counted in the
 * section's favour. */
#include "backend/place/verify/place_check.h"
#include "backend/place/verify/stream_room.h"

#include "backend/section/access.h"
#include "backend/section/pace.h"

typedef struct Turns {
  const SambaSection *section;
  const SambaMachine *machine;
  uint32_t buffer;
  uint64_t vectors; /* of a slot */
} Turns;

/* The output makes a vector for each one that the input takes. */
static bool passesOn(const SambaUnit *unit, uint32_t input, uint32_t output) {
  const SambaPort *in = &unit->inputs[input], *out = &unit->outputs[output];
  return unit->kind == SAMBA_UNIT_COMPUTE && !unit->compute.program.reduce_mask &&
         in->compute.level == out->compute.level && in->token_elements == out->token_elements &&
         in->stream_count == 1 && out->stream_count == 1;
}

static SambaStatus reportTurns(const Turns *turns, const SambaStream *last, uint64_t held) {
  const SambaUnit *buffer = &turns->section->units[turns->buffer];
  SambaStatus status = sambaStatusMake(
      SAMBA_INVALID,
      "section @%s: %s waits for the end of its read before a slot of %llu vectors is written, but "
      "the way back to it, which ends at %s, holds only %llu",
      turns->section->name, buffer->name, (unsigned long long)turns->vectors,
      turns->section->units[last->source.unit].name, (unsigned long long)held);
  return sambaStatusNote(status,
                         "make %s in_place, so that its writes follow the reads element by "
                         "element",
                         buffer->name);
}

/* Follows a stream; held: by the way up to its source. steps: units that may still follow. */
static SambaStatus follow(const Turns *turns, uint32_t index, uint64_t held, uint32_t steps) {
  const SambaStream *stream = &turns->section->streams[index];
  held = sambaPaceAdd(held, sambaStreamHoldsAtMost(turns->section, turns->machine, stream));
  if (held >= turns->vectors || !steps)
    return NULL;

  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    SambaEndpoint to = stream->destinations[d];
    const SambaUnit *unit = &turns->section->units[to.unit];
    if (to.unit == turns->buffer && unit->inputs[to.port].stream_count == 1)
      return reportTurns(turns, stream, held);
    for (uint32_t o = 0; unit->kind == SAMBA_UNIT_COMPUTE && o < unit->output_count; ++o)
      if (passesOn(unit, to.port, o))
        SAMBA_RETURN_IF_ERROR(follow(turns, unit->outputs[o].streams[0], held, steps - 1));
  }
  return NULL;
}

/* Fewest vectors in which a slot's elements can come out of a port. */
static uint64_t slotVectors(const SambaMachine *machine, const SambaPort *port) {
  const SambaAccess *access = &port->access;
  uint64_t tokens = sambaTripProduct(access->trips, access->slot_level, access->token_level);
  uint64_t bytes = sambaPaceMultiply(port->token_elements, sambaDTypeBytes(port->dtype));
  uint64_t vector = (uint64_t)machine->vector_bytes;
  return sambaPaceMultiply(tokens, bytes / vector);
}

SambaStatus sambaSectionCheckTurns(const SambaSection *section, const SambaMachine *machine) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    if (unit->kind != SAMBA_UNIT_BUFFER || !unit->buffer.loop_carried || unit->buffer.in_place)
      continue;
    for (uint32_t o = 0; o < unit->output_count; ++o) {
      Turns turns = {section, machine, u, slotVectors(machine, &unit->outputs[o])};
      if (unit->outputs[o].stream_count == 1)
        SAMBA_RETURN_IF_ERROR(follow(&turns, unit->outputs[o].streams[0], 0, section->unit_count));
    }
  }
  return NULL;
}
