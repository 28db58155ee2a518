/* PMUs; see pmu.h. */
#include "backend/sim/cycle/unit/pmu.h"

#include "backend/section/access.h"

static void buildPort(const SambaPmu *pmu, SambaPmuPort *port, const SambaPort *record) {
  const SambaAccess *access = &record->access;
  port->came_at = SAMBA_NEVER;
  port->tokens = sambaTripProduct(access->trips, 0, access->token_level);
  uint64_t slot_tokens = sambaTripProduct(access->trips, access->slot_level, access->token_level);
  port->slot_tokens = (uint32_t)sambaEarlier(slot_tokens, UINT32_MAX); /* no run takes as many */
  port->arrays = sambaSlotArrays(&pmu->placement, 0);
}

static void buildBanks(SambaPmuPort *port, SambaArena *arena, const SambaMachine *machine,
                       const SambaUnit *unit, const SambaPort *record, uint64_t vector_elements,
                       SambaBankPattern **patterns) {
  sambaBankPatternBuild(&port->banks, arena, machine, unit, record, vector_elements, patterns);
  port->known = port->banks.known;
  port->known_count = (uint32_t)port->banks.known_count;
}

void sambaPmuBuild(SambaPmu *pmu, SambaArena *arena, const SambaNetwork *network,
                   const SambaSection *section, uint32_t index, SambaBankPattern **patterns) {
  const SambaUnit *unit = &section->units[index];
  *pmu = (SambaPmu){.unit = unit,
                    .index = index,
                    .loop_carried = unit->buffer.loop_carried,
                    .in_place = unit->buffer.in_place,
                    .slot_count = unit->buffer.slot_count};
  pmu->placement = sambaSlotPlacement(network->machine, unit);
  pmu->array_free_at = SAMBA_ARENA_ARRAY(arena, uint64_t, pmu->placement.arrays);
  pmu->write.port_count = unit->input_count;
  pmu->read.port_count = unit->output_count;
  pmu->write.order = SAMBA_ARENA_ARRAY(arena, uint32_t, unit->input_count);
  pmu->read.order = SAMBA_ARENA_ARRAY(arena, uint32_t, unit->output_count);
  pmu->write.ports = SAMBA_ARENA_LINES(arena, SambaPmuPort, unit->input_count);
  pmu->read.ports = SAMBA_ARENA_LINES(arena, SambaPmuPort, unit->output_count);

  for (uint32_t p = 0; p < unit->input_count; ++p) {
    SambaPmuPort *port = &pmu->write.ports[p];
    buildPort(pmu, port, &unit->inputs[p]);
    sambaInputPortBuild(&port->input, arena, network, section, index, p);
    buildBanks(port, arena, network->machine, unit, &unit->inputs[p], port->input.vector_elements,
               patterns);
  }

  for (uint32_t p = 0; p < unit->output_count; ++p) {
    SambaPmuPort *port = &pmu->read.ports[p];
    buildPort(pmu, port, &unit->outputs[p]);
    sambaOutputPortBuild(&port->output, arena, network, section, index, p,
                         (uint64_t)network->machine->pmu_latency_cycles);
    buildBanks(port, arena, network->machine, unit, &unit->outputs[p], port->output.vector_elements,
               patterns);
  }
}

bool sambaPmuPortIsDone(const SambaPmuPort *port, bool read) {
  return port->token == port->tokens && (!read || !port->output.in_flight);
}

bool sambaPmuIsDone(const SambaPmu *pmu) {
  for (uint32_t p = 0; p < pmu->read.port_count; ++p)
    if (!sambaPmuPortIsDone(&pmu->read.ports[p], true))
      return false;
  for (uint32_t p = 0; p < pmu->write.port_count; ++p)
    if (!sambaPmuPortIsDone(&pmu->write.ports[p], false))
      return false;
  return true;
}

uint64_t sambaPmuBusyUntil(const SambaPmu *pmu) {
  return sambaLater(pmu->read.free_at, pmu->write.free_at);
}

/* Slots that one port has finished, as others see it. */
static uint64_t slotsSeen(const SambaPmuPort *port, uint64_t now) {
  return port->finished_at > now ? port->slots - 1 : port->slots;
}

uint64_t sambaPmuSideSlots(const SambaPmuSide *side, uint64_t now) {
  uint64_t slots = UINT64_MAX;
  for (uint32_t p = 0; p < side->port_count; ++p)
    slots = sambaEarlier(slots, slotsSeen(&side->ports[p], now));
  return slots;
}

/* Slots that the reads may enter: those that are written, and those that start full. */
static uint64_t readableSlots(const SambaPmu *pmu, uint64_t now) {
  uint64_t lent = pmu->loop_carried ? pmu->slot_count : 0;
  uint64_t written = sambaPmuSideSlots(&pmu->write, now);
  return written == UINT64_MAX ? written : written + lent;
}

/* Slots that the writes may enter: those that the reads have released. */
static uint64_t writableSlots(const SambaPmu *pmu, uint64_t now) {
  uint64_t free = pmu->loop_carried ? 0 : pmu->slot_count;
  uint64_t released = sambaPmuSideSlots(&pmu->read, now);
  return released == UINT64_MAX ? released : released + free;
}

/* Elements of a slot that a port has passed. */
static uint64_t slotPosition(const SambaPmuPort *port, uint64_t token_elements,
                             uint64_t vector_elements) {
  uint64_t in_token = sambaEarlier(port->vector * vector_elements, token_elements);
  return port->slot_token * token_elements + in_token;
}

/* In place: a write follows the reads of its slot, element by element. */
static bool readsArePast(const SambaPmu *pmu, const SambaPmuPort *write, uint64_t count,
                         uint64_t now) {
  uint64_t slot = write->slots;
  if (!pmu->loop_carried) {
    if (slot < pmu->slot_count)
      return true;
    slot -= pmu->slot_count;
  }
  const SambaInputPort *input = &write->input;
  uint64_t end = slotPosition(write, input->token_elements, input->vector_elements) + count;
  for (uint32_t p = 0; p < pmu->read.port_count; ++p) {
    const SambaPmuPort *read = &pmu->read.ports[p];
    bool steps_now = read->stepped_at > now; /* others see that in the next cycle */
    const SambaOutputPort *output = &read->output;
    uint64_t at = steps_now ? read->stood
                            : slotPosition(read, output->token_elements, output->vector_elements);
    uint64_t slots = read->slots - (steps_now && read->finished_at > now);
    if (slots < slot || (slots == slot && at < end))
      return false;
  }
  return true;
}

static uint64_t elementsOfVector(const SambaPmuPort *port, uint64_t token_elements,
                                 uint64_t vector_elements) {
  uint64_t first = port->vector * vector_elements;
  return sambaEarlier(vector_elements, token_elements - sambaEarlier(first, token_elements));
}

/* Cycles of the port's next vector. */
static uint64_t vectorCycles(SambaPmuPort *port, uint64_t vectors, uint64_t token_elements,
                             uint64_t vector_elements, uint64_t count) {
  uint64_t token = port->slot_token, vector = token * vectors + port->vector;
  uint8_t known = 0;
  if (vector < port->known_count)
    known = sambaBankPatternKnown(port->known, vector);
  if (known && known < UINT8_MAX)
    return known;
  uint64_t first = token * token_elements + port->vector * vector_elements;
  return sambaBankPatternCycles(&port->banks, vector, first, count);
}

/* The port has passed one more vector. */
static void step(const SambaPmu *pmu, const SambaPmuSide *side, SambaPmuPort *port,
                 uint64_t vectors, uint64_t now, uint64_t ends) {
  if (port->vector == 0 && side->port_count > 1)
    port->began_at = now;
  if (++port->vector < vectors)
    return;
  port->vector = 0;
  if (side->port_count > 1)
    port->came_at = SAMBA_NEVER;
  ++port->token;
  if (++port->slot_token < port->slot_tokens)
    return;
  port->slot_token = 0;
  ++port->slots;
  port->arrays = sambaSlotArrays(&pmu->placement, port->slots % pmu->slot_count);
  port->finished_at = ends;
}

/* The arrays of the port's slot: are they free? Or they are taken until `ends`. */
static bool arraysAreFree(const SambaPmu *pmu, const SambaPmuPort *port, uint64_t now,
                          uint64_t *wake) {
  bool free = true;
  for (uint32_t a = port->arrays.first; a < port->arrays.end; ++a)
    if (pmu->array_free_at[a] > now) {
      sambaKeepEarlier(wake, pmu->array_free_at[a]);
      free = false;
    }
  return free;
}

static void takeArrays(SambaPmu *pmu, const SambaPmuPort *port, uint64_t ends) {
  for (uint32_t a = port->arrays.first; a < port->arrays.end; ++a)
    pmu->array_free_at[a] = ends;
}

/* Reads one vector of a port into its pipeline, if it may; *out_ends: until when that lasts. */
static SambaDoes readVector(SambaPmu *pmu, SambaPmuPort *port, const SambaNetwork *network,
                            uint64_t *out_ends, uint64_t *wake) {
  SambaOutputPort *output = &port->output;
  uint64_t now = network->clock->now;
  if (port->token == port->tokens)
    return output->in_flight ? SAMBA_AWAITS_OUTPUT : SAMBA_DOES_NOTHING;
  if (port->slots >= readableSlots(pmu, now))
    return SAMBA_AWAITS_INPUT;
  if (!sambaOutputPortHasStage(output))
    return SAMBA_AWAITS_OUTPUT;
  if (!arraysAreFree(pmu, port, now, wake))
    return SAMBA_DOES_WORK;

  uint64_t elements = elementsOfVector(port, output->token_elements, output->vector_elements);
  uint64_t cycles = vectorCycles(port, output->vectors, output->token_elements,
                                 output->vector_elements, elements);
  *out_ends = now + cycles;
  sambaOutputPortEnter(output, *out_ends - 1 + (uint64_t)network->machine->pmu_latency_cycles);
  takeArrays(pmu, port, *out_ends);
  if (pmu->in_place) {
    port->stood = slotPosition(port, output->token_elements, output->vector_elements);
    port->stepped_at = now + 1;
  }
  step(pmu, &pmu->read, port, output->vectors, now, *out_ends);
  return SAMBA_DOES_WORK;
}

/* Takes and writes one vector of a port, if it may. */
static SambaDoes writeVector(SambaPmu *pmu, SambaPmuPort *port, SambaNetwork *network,
                             uint64_t *out_ends, uint64_t *wake) {
  SambaInputPort *input = &port->input;
  uint64_t now = network->clock->now;
  if (port->token == port->tokens)
    return SAMBA_DOES_NOTHING;
  uint64_t elements = elementsOfVector(port, input->token_elements, input->vector_elements);
  if (port->slots >= writableSlots(pmu, now) &&
      !(pmu->in_place && readsArePast(pmu, port, elements, now)))
    return SAMBA_AWAITS_OUTPUT;
  uint64_t head_at = sambaInputPortHeadAt(input, network);
  if (head_at > now) {
    sambaKeepEarlier(wake, head_at);
    return SAMBA_AWAITS_INPUT;
  }
  if (!arraysAreFree(pmu, port, now, wake))
    return SAMBA_DOES_WORK;

  *out_ends = now + vectorCycles(port, input->vectors, input->token_elements,
                                 input->vector_elements, elements);
  sambaInputPortTake(input, network);
  takeArrays(pmu, port, *out_ends);
  step(pmu, &pmu->write, port, input->vectors, now, *out_ends);
  return SAMBA_DOES_WORK;
}

static SambaDoes stepPort(SambaPmu *pmu, SambaPmuPort *port, bool is_read, SambaNetwork *network,
                          uint64_t *out_ends, uint64_t *wake) {
  return is_read ? readVector(pmu, port, network, out_ends, wake)
                 : writeVector(pmu, port, network, out_ends, wake);
}

/* Notes which tokens can begin from this cycle on. */
static void noteTokens(const SambaPmu *pmu, SambaPmuSide *side, const SambaNetwork *network) {
  uint64_t now = network->clock->now;
  bool reads = side == &pmu->read;
  uint64_t slots = reads ? readableSlots(pmu, now) : writableSlots(pmu, now);
  if (!reads && pmu->in_place)
    slots = UINT64_MAX;

  for (uint32_t p = 0; p < side->port_count; ++p) {
    SambaPmuPort *port = &side->ports[p];
    bool comes = port->came_at == SAMBA_NEVER && port->token < port->tokens && port->slots < slots;
    if (comes && (reads || sambaInputPortHeadAt(&port->input, network) <= now))
      port->came_at = now;
  }
}

/* Does the port at place a come before the one at place b? Tokens that are at work do, in the order
 * in which they began; of the others those of the slot that was begun first do, in the order in
 * which they came. Of several that came in one cycle it is the turn of those behind the last one
 * that worked. */
static bool goesFirst(const SambaPmuSide *side, uint32_t a, uint32_t b) {
  const SambaPmuPort *one = &side->ports[a], *other = &side->ports[b];
  uint64_t one_began = one->vector ? one->began_at : UINT64_MAX;
  uint64_t other_began = other->vector ? other->began_at : UINT64_MAX;
  if (one_began != other_began)
    return one_began < other_began;
  if (one->slots != other->slots)
    return one->slots < other->slots;
  if (one->came_at != other->came_at)
    return one->came_at < other->came_at;
  return (a + side->port_count - side->turn) % side->port_count <
         (b + side->port_count - side->turn) % side->port_count;
}

/* The ports in the order in which they may work. */
static void orderPorts(SambaPmuSide *side) {
  uint32_t *order = side->order;
  for (uint32_t p = 0; p < side->port_count; ++p) {
    uint32_t place = p;
    for (; place > 0 && goesFirst(side, p, order[place - 1]); --place)
      order[place] = order[place - 1];
    order[place] = p;
  }
}

/* One port of a side works at a time. */
static bool stepSide(SambaPmu *pmu, SambaPmuSide *side, SambaNetwork *network, uint64_t *wake) {
  uint64_t now = network->clock->now;
  bool worked = false;
  if (side->port_count > 1) {
    noteTokens(pmu, side, network);
    orderPorts(side);
  }

  for (uint32_t i = 0; i < side->port_count; ++i) {
    uint32_t place = side->port_count > 1 ? side->order[i] : 0;
    SambaPmuPort *port = &side->ports[place];
    uint64_t ends = now;
    SambaDoes does = SAMBA_DOES_WORK;
    if (side->free_at > now)
      sambaKeepEarlier(wake, side->free_at);
    else
      does = stepPort(pmu, port, side == &pmu->read, network, &ends, wake);
    sambaTimeLineNote(&port->line, now, does, ends);
    if (ends == now)
      continue;
    worked = true;
    side->free_at = ends;
    side->turn = place + 1 == side->port_count ? 0 : place + 1;
    sambaKeepEarlier(wake, ends);
  }
  return worked;
}

void sambaPmuFetchPorts(const SambaPmu *pmu) {
  for (int s = 0; s < 2; ++s) {
    const SambaPmuSide *side = s ? &pmu->read : &pmu->write;
    for (uint32_t p = 0; p < side->port_count; ++p)
      for (size_t line = 0; line < SAMBA_PMU_PORT_LINES; ++line)
        __builtin_prefetch((const char *)&side->ports[p] + line * SAMBA_CACHE_LINE, 1);
  }
}

void sambaPmuFetch(const SambaPmu *pmu, const SambaNetwork *network) {
  for (uint32_t p = 0; p < pmu->write.port_count; ++p)
    sambaInputPortFetch(&pmu->write.ports[p].input, network);
  for (uint32_t p = 0; p < pmu->read.port_count; ++p)
    sambaOutputPortFetch(&pmu->read.ports[p].output, network);
}

void sambaPmuFetchBehind(const SambaPmu *pmu, const SambaNetwork *network) {
  for (uint32_t p = 0; p < pmu->write.port_count; ++p)
    sambaInputPortFetchSlot(&pmu->write.ports[p].input, network);
  for (uint32_t p = 0; p < pmu->read.port_count; ++p)
    sambaOutputPortFetchBehind(&pmu->read.ports[p].output, network);
}

uint64_t sambaPmuStep(SambaPmu *pmu, SambaNetwork *network) {
  uint64_t wake = SAMBA_NEVER;
  for (uint32_t p = 0; p < pmu->read.port_count; ++p)
    sambaOutputPortStep(&pmu->read.ports[p].output, network, &wake);
  /* At an array reads go first: a write goes on when they are in another one. */
  bool read = stepSide(pmu, &pmu->read, network, &wake);
  stepSide(pmu, &pmu->write, network, &wake);

  /* What was read now is on its way through the pipeline. */
  if (read)
    for (uint32_t p = 0; p < pmu->read.port_count; ++p) {
      SambaOutputPort *output = &pmu->read.ports[p].output;
      uint64_t now = network->clock->now;
      if (output->in_flight && output->ready[output->head] <= now && output->last_sent <= now)
        sambaOutputPortStep(output, network, &wake);
      else if (output->in_flight)
        sambaKeepEarlier(&wake, sambaLater(now + 1, output->ready[output->head]));
    }
  return wake;
}
