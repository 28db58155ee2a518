/* Faults of the cycle engine; see faults.h. */
#include "backend/sim/cycle/faults.h"

#include "backend/sim/call/waits.h"

/* Ports of buffers wait apart: waiters are numbered unit by unit, a buffer's write ports first. */
static uint32_t waitersOf(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_BUFFER ? unit->input_count + unit->output_count : 1;
}

static uint32_t firstWaiter(const SambaChip *chip, uint32_t unit) {
  uint32_t first = 0;
  for (uint32_t u = 0; u < unit; ++u)
    first += waitersOf(&chip->section->units[u]);
  return first;
}

static uint32_t unitOf(const SambaChip *chip, uint32_t waiter, uint32_t *out_port) {
  uint32_t unit = 0;
  for (; waiter >= waitersOf(&chip->section->units[unit]); ++unit)
    waiter -= waitersOf(&chip->section->units[unit]);
  *out_port = waiter;
  return unit;
}

static SambaWaiter describe(const void *engine, uint32_t waiter) {
  const SambaChip *chip = engine;
  uint32_t place;
  uint32_t index = unitOf(chip, waiter, &place);
  const SambaUnit *record = &chip->section->units[index];
  const SambaChipUnit *unit = &chip->units[index];

  if (record->kind == SAMBA_UNIT_COMPUTE)
    return (SambaWaiter){index, "", unit->pcu->firing, unit->pcu->firings, chip->done[index]};
  if (record->kind != SAMBA_UNIT_BUFFER)
    return (SambaWaiter){index, "", sambaMemoryUnitFirings(unit->memory), unit->memory->firings,
                         chip->done[index]};
  bool read = place >= record->input_count;
  const SambaPmuPort *port =
      read ? &unit->pmu->read.ports[place - record->input_count] : &unit->pmu->write.ports[place];
  return (SambaWaiter){index, read ? " read port" : " write port", port->token, port->tokens,
                       sambaPmuPortIsDone(port, read)};
}

static const SambaWaitFor nothing = {SAMBA_NO_INDEX, ""};

static SambaWaitFor waitForEnd(const SambaChip *chip, const SambaEndpoint *end, const char *what) {
  const SambaUnit *taker = &chip->section->units[end->unit];
  uint32_t port = taker->kind == SAMBA_UNIT_BUFFER ? end->port : 0;
  return (SambaWaitFor){firstWaiter(chip, end->unit) + port, what};
}

/* A destination of the stream whose FIFO is full; NULL: there is none. */
static const SambaEndpoint *fullEnd(const SambaChip *chip, uint32_t stream_index) {
  const SambaStream *stream = &chip->section->streams[stream_index];
  const SambaEndpoint *full = NULL;
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    const SambaFifo *fifo = &chip->network.fifos[chip->network.streams[stream_index].ends[d]];
    if (sambaFifoEndIsFull(fifo))
      full = &stream->destinations[d];
  }
  return full;
}

static SambaWaitFor waitsForSource(const SambaChip *chip, const SambaInputPort *input) {
  if (!input->fifo_count || sambaInputPortHeadAt(input, &chip->network) != SAMBA_NEVER)
    return nothing;
  uint32_t stream = input->streams[input->current];
  const SambaEndpoint *full = fullEnd(chip, stream);
  const SambaStreamRoots *roots = &chip->network.streams[stream];
  bool source_waits = sambaFifoIsFull(&chip->network.fifos[roots->first.fifo]) &&
                      !chip->done[chip->section->streams[stream].source.unit];
  if (full && !source_waits)
    return waitForEnd(chip, full, "for a token that is held up by");
  const SambaEndpoint *source = &chip->section->streams[input->streams[input->current]].source;
  const SambaUnit *sender = &chip->section->units[source->unit];
  uint32_t port = sender->kind == SAMBA_UNIT_BUFFER ? sender->input_count + source->port : 0;
  return (SambaWaitFor){firstWaiter(chip, source->unit) + port,
                        input->taken ? "for the rest of a token from" : "for a token from"};
}

static SambaWaitFor waitsForTaker(const SambaChip *chip, const SambaOutputPort *output) {
  if (!output->in_flight || !output->stream_count)
    return nothing;
  uint32_t stream = output->streams[output->current];
  const SambaEndpoint *full = fullEnd(chip, stream);
  return waitForEnd(chip, full ? full : chip->section->streams[stream].destinations,
                    "for room on the stream to");
}

static SambaWaitFor pcuWaitsFor(const SambaChip *chip, const SambaPcu *pcu) {
  SambaWaitFor wait = nothing;
  for (uint32_t p = 0; p < pcu->unit->input_count && pcu->line.does == SAMBA_AWAITS_INPUT; ++p) {
    const SambaPcuInput *input = &pcu->inputs[p];
    if (input->vectors.tokens <= pcu->firing / input->period)
      wait = waitsForSource(chip, &input->vectors);
    if (wait.waiter != SAMBA_NO_INDEX)
      return wait;
  }
  for (uint32_t p = 0; p < pcu->unit->output_count && wait.waiter == SAMBA_NO_INDEX; ++p)
    wait = waitsForTaker(chip, &pcu->outputs[p].vectors);
  return wait;
}

/* The port of a side that has finished the fewest slots. */
static SambaWaitFor waitsForSlot(const SambaPmuSide *side, uint32_t first, const char *what) {
  uint32_t slowest = 0;
  for (uint32_t p = 1; p < side->port_count; ++p)
    if (side->ports[p].slots < side->ports[slowest].slots)
      slowest = p;
  return side->port_count ? (SambaWaitFor){first + slowest, what} : nothing;
}

static SambaWaitFor pmuWaitsFor(const SambaChip *chip, const SambaPmu *pmu, uint32_t place) {
  uint32_t first = firstWaiter(chip, pmu->index);
  if (place < pmu->unit->input_count) {
    const SambaPmuPort *port = &pmu->write.ports[place];
    if (port->line.does == SAMBA_AWAITS_OUTPUT)
      return waitsForSlot(&pmu->read, first + pmu->unit->input_count,
                          "for a slot to be released by");
    return waitsForSource(chip, &port->input);
  }

  const SambaPmuPort *port = &pmu->read.ports[place - pmu->unit->input_count];
  if (port->line.does == SAMBA_AWAITS_INPUT)
    return waitsForSlot(&pmu->write, first, "for a slot to be filled by");
  return waitsForTaker(chip, &port->output);
}

static SambaWaitFor memoryWaitsFor(const SambaChip *chip, const SambaMemoryUnit *memory) {
  SambaWaitFor wait = nothing;
  for (uint32_t p = 0; p < memory->unit->output_count && wait.waiter == SAMBA_NO_INDEX; ++p)
    wait = waitsForTaker(chip, &memory->outputs[p]);
  for (uint32_t p = 0; p < memory->unit->input_count && wait.waiter == SAMBA_NO_INDEX; ++p)
    wait = waitsForSource(chip, &memory->inputs[p]);
  return wait;
}

static SambaWaitFor waitsFor(const void *engine, uint32_t waiter) {
  const SambaChip *chip = engine;
  uint32_t place;
  uint32_t index = unitOf(chip, waiter, &place);
  const SambaChipUnit *unit = &chip->units[index];
  switch (chip->section->units[index].kind) {
  case SAMBA_UNIT_COMPUTE:
    return pcuWaitsFor(chip, unit->pcu);
  case SAMBA_UNIT_BUFFER:
    return pmuWaitsFor(chip, unit->pmu, place);
  default:
    return memoryWaitsFor(chip, unit->memory);
  }
}

static SambaWaitGraph graphOf(const SambaChip *chip) {
  SambaWaitGraph graph = {.section = chip->section,
                          .now = chip->clock.now,
                          .waiter_count = firstWaiter(chip, chip->section->unit_count),
                          .engine = chip,
                          .describe = describe,
                          .waits_for = waitsFor};
  for (uint32_t w = 0; w < graph.waiter_count; ++w)
    graph.unfinished += !describe(chip, w).finished;
  return graph;
}

SambaStatus sambaChipDeadlock(const SambaChip *chip) {
  SambaWaitGraph graph = graphOf(chip);
  return sambaWaitsDeadlock(&graph);
}

SambaStatus sambaChipTooManyCycles(const SambaChip *chip, uint64_t limit) {
  SambaWaitGraph graph = graphOf(chip);
  return sambaWaitsTooManyCycles(&graph, limit);
}

SambaStatus sambaChipInterrupted(const SambaChip *chip) {
  SambaWaitGraph graph = graphOf(chip);
  return sambaWaitsInterrupted(&graph);
}
