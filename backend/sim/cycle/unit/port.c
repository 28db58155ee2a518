/* Ports; see port.h. */
#include "backend/sim/cycle/unit/port.h"

#include "backend/section/width.h"

void sambaTimeLineCount(SambaTimeLine *line, uint64_t cycle) {
  uint64_t worked = 0;
  if (line->work_until > line->since)
    worked = sambaEarlier(line->work_until, cycle) - line->since;
  uint64_t rest = cycle - line->since - worked;
  line->cycles[SAMBA_DOES_WORK] += (uint32_t)worked;
  line->cycles[line->does == SAMBA_DOES_WORK ? SAMBA_AWAITS_INPUT : line->does] += (uint32_t)rest;
  line->since = (uint32_t)cycle;
}

/* Elements of a full vector: a scalar link carries one. */
static uint64_t elementsPerVector(const SambaMachine *machine, const SambaSection *section,
                                  const SambaPort *port) {
  const SambaStream *stream = port->stream_count ? &section->streams[port->streams[0]] : NULL;
  if (stream && stream->kind == SAMBA_STREAM_SCALAR)
    return 1;
  uint64_t bytes = (uint64_t)machine->vector_bytes;
  if (stream)
    bytes = sambaStreamVectorBytes(section, stream, machine);
  return sambaLater(1, bytes / sambaDTypeBytes(port->dtype));
}

static uint32_t vectorsFor(uint64_t elements, uint64_t vector_elements) {
  uint64_t vectors = sambaLater(1, (elements + vector_elements - 1) / vector_elements);
  return (uint32_t)sambaEarlier(vectors, UINT32_MAX); /* no run takes as many */
}

void sambaInputPortBuild(SambaInputPort *input, SambaArena *arena, const SambaNetwork *network,
                         const SambaSection *section, uint32_t unit, uint32_t port_index) {
  const SambaPort *port = &section->units[unit].inputs[port_index];
  uint32_t *fifos = SAMBA_ARENA_ARRAY(arena, uint32_t, port->stream_count);
  *input = (SambaInputPort){.block = port->block ? port->block : 1, .streams = port->streams};
  input->left = input->block;
  input->fifos = fifos;

  for (uint32_t i = 0; i < port->stream_count; ++i) {
    const SambaStream *stream = &section->streams[port->streams[i]];
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      if (stream->destinations[d].unit == unit && stream->destinations[d].port == port_index)
        fifos[input->fifo_count++] = network->streams[port->streams[i]].ends[d];
  }
  if (!input->fifo_count)
    return;
  input->fifo = fifos[0];

  input->vector_elements = (uint32_t)elementsPerVector(network->machine, section, port);
  input->token_elements = port->token_elements;
  input->vectors = vectorsFor(input->token_elements, input->vector_elements);
}

static void setStream(SambaOutputPort *output, const SambaNetwork *network) {
  output->stream = &network->streams[output->streams[output->current]];
  output->fifo = output->stream->first.fifo;
}

void sambaOutputPortBuild(SambaOutputPort *output, SambaArena *arena, const SambaNetwork *network,
                          const SambaSection *section, uint32_t unit, uint32_t port_index,
                          uint64_t stages) {
  const SambaMachine *machine = network->machine;
  const SambaPort *port = &section->units[unit].outputs[port_index];
  *output = (SambaOutputPort){.stream_count = port->stream_count,
                              .streams = port->streams,
                              .block = port->block ? port->block : 1,
                              .stages = (uint32_t)sambaLater(1, stages)};
  output->left = output->block;
  if (output->stream_count)
    setStream(output, network);
  output->ready = SAMBA_ARENA_ARRAY(arena, uint32_t, output->stages);
  output->vector_elements = (uint32_t)elementsPerVector(machine, section, port);
  output->token_elements = port->token_elements;
  output->vectors = vectorsFor(output->token_elements, output->vector_elements);
}

void sambaInputPortTake(SambaInputPort *input, SambaNetwork *network) {
  sambaNetworkTake(network, input->fifo);
  if (++input->taken < input->vectors)
    return;
  input->taken = 0;
  ++input->tokens;
  if (input->fifo_count > 1 && --input->left == 0) {
    input->left = input->block;
    input->current = input->current + 1 == input->fifo_count ? 0 : input->current + 1;
    input->fifo = input->fifos[input->current];
  }
}

void sambaOutputPortEnter(SambaOutputPort *output, uint64_t ready) {
  uint32_t place = output->head + output->in_flight;
  output->ready[place < output->stages ? place : place - output->stages] = (uint32_t)ready;
  ++output->in_flight;
}

static void leave(SambaOutputPort *output, SambaNetwork *network) {
  if (output->stream)
    sambaNetworkSend(network, output->stream);
  output->head = output->head + 1 == output->stages ? 0 : output->head + 1;
  --output->in_flight;
  output->last_sent = (uint32_t)network->clock->now + 1;
  if (++output->sent < output->vectors)
    return;
  output->sent = 0;
  ++output->tokens;
  if (output->stream_count > 1 && --output->left == 0) {
    output->left = output->block;
    output->current = output->current + 1 == output->stream_count ? 0 : output->current + 1;
    setStream(output, network);
  }
}

bool sambaOutputPortSend(SambaOutputPort *output, SambaNetwork *network, uint64_t *wake) {
  uint64_t now = network->clock->now;
  uint64_t at = output->ready[output->head];
  if (at <= now && output->stream)
    at = sambaLater(at, sambaNetworkRoomAt(network, output->stream));
  if (at > now) {
    sambaKeepEarlier(wake, at);
    return false;
  }

  leave(output, network);
  if (output->in_flight)
    sambaKeepEarlier(wake, sambaLater(now + 1, output->ready[output->head]));
  return true;
}
