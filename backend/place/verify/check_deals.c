/* The static check of tokens that ports deal: a port that deals tokens to units in turn against one
 * that sends the same token to several of them.
 *
 * A unit uses its operands side by side. While the first of two units waits for the rest of its
 * dealt token, it uses as much of the shared token as it has of its own; the second one has nothing
 * to use it with, so the shared token stops when the streams to the second unit are full. The first
 * unit then cannot finish, and the second one's turn never comes. Everything is counted in the
 * section's favour. */
#include "backend/place/verify/place_check.h"
#include "backend/place/verify/stream_room.h"

#include "backend/section/access.h"
#include "backend/section/pace.h"

#include <stdlib.h>

typedef struct Deals {
  const SambaSection *section;
  const SambaMachine *machine;
  SambaEndpoint from; /* the port that deals */
  uint32_t *turn;     /* of each unit: its place among the takers and 1; 0: it is none of them */
} Deals;

static uint64_t tokenVectors(const Deals *deals, const SambaPort *port) {
  return sambaPaceMultiply(port->token_elements, sambaDTypeBytes(port->dtype)) /
         (uint64_t)deals->machine->vector_bytes;
}

static const SambaPort *sourcePort(const Deals *deals, const SambaStream *stream) {
  return &deals->section->units[stream->source.unit].outputs[stream->source.port];
}

static SambaStatus reportDeals(const Deals *deals, uint32_t unit, uint32_t other,
                               const SambaStream *shared) {
  const SambaUnit *units = deals->section->units;
  SambaStatus status = sambaStatusMake(
      SAMBA_INVALID,
      "section @%s: %s output %u sends a token to %s before it sends one to %s, but both use them "
      "side by side with the same token of %s: the streams hold too little of it, so that each of "
      "the three waits for the next",
      deals->section->name, units[deals->from.unit].name, deals->from.port, units[unit].name,
      units[other].name, units[shared->source.unit].name);
  return sambaStatusNote(status,
                         "make tokens of what streams hold, or send each unit's tokens from "
                         "a port of their own");
}

/* The stream brings a unit, which takes its dealt tokens as input `own`, something that a unit
 * whose turn comes later takes too. */
static SambaStatus checkShared(const Deals *deals, SambaEndpoint own, uint32_t dealt_stream,
                               uint32_t input, uint32_t shared_stream) {
  const SambaStream *dealt = &deals->section->streams[dealt_stream];
  const SambaStream *shared = &deals->section->streams[shared_stream];
  const SambaUnit *unit = &deals->section->units[own.unit];
  if (unit->inputs[own.port].compute.level != unit->inputs[input].compute.level)
    return NULL;

  /* The share of the dealt token that must be used before its last vector fits the stream, against
   * the share of the other one that reaches this unit. */
  uint64_t vectors = tokenVectors(deals, sourcePort(deals, dealt));
  uint64_t shared_vectors = tokenVectors(deals, sourcePort(deals, shared));
  uint64_t held = sambaStreamHoldsAtMost(deals->section, deals->machine, dealt),
           shared_held = sambaStreamHoldsAtMost(deals->section, deals->machine, shared);
  if (vectors <= held || shared_vectors <= shared_held ||
      sambaPaceMultiply(shared_vectors, vectors - held) <= sambaPaceMultiply(shared_held, vectors))
    return NULL;
  for (uint32_t d = 0; d < shared->destination_count; ++d)
    if (deals->turn[shared->destinations[d].unit] > deals->turn[own.unit])
      return reportDeals(deals, own.unit, shared->destinations[d].unit, shared);
  return NULL;
}

static SambaStatus checkTaker(const Deals *deals, SambaEndpoint own, uint32_t dealt) {
  const SambaUnit *unit = &deals->section->units[own.unit];
  if (unit->kind != SAMBA_UNIT_COMPUTE)
    return NULL;
  for (uint32_t i = 0; i < unit->input_count; ++i)
    if (i != own.port && unit->inputs[i].stream_count == 1)
      SAMBA_RETURN_IF_ERROR(checkShared(deals, own, dealt, i, unit->inputs[i].streams[0]));
  return NULL;
}

static SambaStatus checkPort(Deals *deals) {
  const SambaPort *port = &deals->section->units[deals->from.unit].outputs[deals->from.port];
  SambaStatus status = NULL;

  for (uint32_t place = 0; place < port->stream_count; ++place) {
    const SambaStream *stream = &deals->section->streams[port->streams[place]];
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      deals->turn[stream->destinations[d].unit] = place + 1;
  }
  for (uint32_t place = 0; place < port->stream_count && !status; ++place) {
    const SambaStream *stream = &deals->section->streams[port->streams[place]];
    for (uint32_t d = 0; d < stream->destination_count && !status; ++d)
      status = checkTaker(deals, stream->destinations[d], port->streams[place]);
  }
  for (uint32_t place = 0; place < port->stream_count; ++place) {
    const SambaStream *stream = &deals->section->streams[port->streams[place]];
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      deals->turn[stream->destinations[d].unit] = 0;
  }
  return status;
}

SambaStatus sambaSectionCheckDeals(const SambaSection *section, const SambaMachine *machine) {
  Deals deals = {section, machine, {0, 0}, NULL};
  SambaStatus status = NULL;
  deals.turn = sambaAllocateZeroed((size_t)section->unit_count + 1, sizeof *deals.turn);

  for (uint32_t u = 0; u < section->unit_count && !status; ++u)
    for (uint32_t o = 0; o < section->units[u].output_count && !status; ++o)
      if (section->units[u].outputs[o].stream_count > 1) {
        deals.from = (SambaEndpoint){u, o};
        status = checkPort(&deals);
      }
  free(deals.turn);
  return status;
}
