/* PMUs; see slots.h. */
#include "backend/sim/progress/slots.h"

#include "backend/section/access.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void countTokens(SambaSlotPort *port, const SambaPort *record, const SambaPortTurn *turn) {
  const SambaAccess *access = &record->access;
  port->tokens = sambaTripProduct(access->trips, 0, access->token_level);
  port->slot_vectors =
      sambaTripProduct(access->trips, access->slot_level, access->token_level) * turn->vectors;
}

void sambaSlotsBuild(SambaSlots *slots, SambaArena *arena, const SambaFlows *flows,
                     const SambaMachine *machine, const SambaSection *section, uint32_t index) {
  const SambaUnit *unit = &section->units[index];
  slots->unit = unit;
  slots->writes = SAMBA_ARENA_ARRAY(arena, SambaSlotPort, unit->input_count);
  slots->reads = SAMBA_ARENA_ARRAY(arena, SambaSlotPort, unit->output_count);
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    SambaSlotPort *port = &slots->writes[p];
    sambaProgressInputBuild(&port->input, arena, flows, machine, section,
                            (SambaEndpoint){index, p});
    countTokens(port, &unit->inputs[p], &port->input.turn);
  }
  for (uint32_t p = 0; p < unit->output_count; ++p) {
    SambaSlotPort *port = &slots->reads[p];
    sambaProgressOutputBuild(&port->output, machine, section, (SambaEndpoint){index, p},
                             (uint64_t)machine->pmu_latency_cycles);
    countTokens(port, &unit->outputs[p], &port->output.turn);
  }
}

/* Slots that start full are lent to the reads. */
static uint64_t slotsLent(const SambaSlots *slots, bool to_reads) {
  return slots->unit->buffer.loop_carried == to_reads ? slots->unit->buffer.slot_count : 0;
}

/* Vectors that a read port can pass in all. */
static uint64_t readable(const SambaSlots *slots, const SambaSlotPort *read) {
  uint64_t vectors = read->tokens * read->output.turn.vectors;
  for (uint32_t p = 0; p < slots->unit->input_count; ++p) {
    const SambaSlotPort *write = &slots->writes[p];
    uint64_t written = write->input.turn.passed / write->slot_vectors + slotsLent(slots, true);
    vectors = least(vectors, written * read->slot_vectors);
  }
  return vectors;
}

/* In place: vectors of the write port's slot whose elements a read port has passed in its own. */
static uint64_t passedInSlot(const SambaSlotPort *read, const SambaSlotPort *write) {
  const SambaPortTurn *from = &read->output.turn, *to = &write->input.turn;
  uint64_t vectors = read->output.made % read->slot_vectors;
  uint64_t elements = vectors / from->vectors * from->token_elements +
                      least(vectors % from->vectors * from->vector_elements, from->token_elements);
  return elements / to->token_elements * to->vectors +
         elements % to->token_elements / to->vector_elements;
}

/* Vectors that a write port can pass in all, for a read port. */
static uint64_t writableFor(const SambaSlots *slots, const SambaSlotPort *write,
                            const SambaSlotPort *read) {
  uint64_t released = read->output.made / read->slot_vectors + slotsLent(slots, false);
  uint64_t vectors = released * write->slot_vectors;
  return slots->unit->buffer.in_place ? vectors + passedInSlot(read, write) : vectors;
}

static uint64_t writable(const SambaSlots *slots, const SambaSlotPort *write) {
  uint64_t vectors = write->tokens * write->input.turn.vectors;
  for (uint32_t p = 0; p < slots->unit->output_count; ++p)
    vectors = least(vectors, writableFor(slots, write, &slots->reads[p]));
  return vectors;
}

static void wake(SambaFlows *flows, uint32_t actor, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    sambaAgendaAdd(flows->agenda, actor + i, true);
}

static void advanceWrite(SambaSlots *slots, SambaFlows *flows, SambaSlotPort *write) {
  uint64_t *passed = &write->input.turn.passed, before = *passed / write->slot_vectors;
  uint64_t limit = writable(slots, write);
  uint64_t until = least(limit, sambaProgressArrived(&write->input, flows));
  for (; until > *passed; until = least(limit, sambaProgressArrived(&write->input, flows)))
    sambaProgressTake(&write->input, flows, until);
  if (*passed / write->slot_vectors != before)
    wake(flows, slots->actor_first + slots->unit->input_count, slots->unit->output_count);
}

static void advanceRead(SambaSlots *slots, SambaFlows *flows, SambaSlotPort *read) {
  uint64_t before = read->output.made, limit = readable(slots, read);
  sambaProgressFlush(&read->output, flows);
  uint64_t until = least(limit, sambaProgressRoom(&read->output, flows));
  for (; until > read->output.made; until = least(limit, sambaProgressRoom(&read->output, flows)))
    sambaProgressMake(&read->output, flows, until);

  bool released = read->output.made / read->slot_vectors != before / read->slot_vectors;
  if (released || (slots->unit->buffer.in_place && read->output.made != before))
    wake(flows, slots->actor_first, slots->unit->input_count);
}

void sambaSlotsAdvance(SambaSlots *slots, SambaFlows *flows, uint32_t place) {
  if (place < slots->unit->input_count)
    advanceWrite(slots, flows, &slots->writes[place]);
  else
    advanceRead(slots, flows, &slots->reads[place - slots->unit->input_count]);
}

uint64_t sambaSlotsTokens(const SambaSlots *slots, uint32_t place) {
  if (place < slots->unit->input_count) {
    const SambaPortTurn *turn = &slots->writes[place].input.turn;
    return turn->passed / turn->vectors;
  }
  const SambaProgressOutput *output = &slots->reads[place - slots->unit->input_count].output;
  return output->made / output->turn.vectors;
}

bool sambaSlotsPortIsDone(const SambaSlots *slots, uint32_t place) {
  uint64_t tokens = sambaSlotsTokens(slots, place);
  if (place < slots->unit->input_count)
    return tokens == slots->writes[place].tokens;
  const SambaSlotPort *read = &slots->reads[place - slots->unit->input_count];
  return tokens == read->tokens && read->output.turn.passed == read->output.made;
}

uint32_t sambaSlotsWaitFor(const SambaSlots *slots, uint32_t place) {
  const uint32_t writes = slots->unit->input_count, reads = slots->unit->output_count;
  if (place < writes) {
    const SambaSlotPort *write = &slots->writes[place];
    for (uint32_t p = 0; p < reads; ++p)
      if (writableFor(slots, write, &slots->reads[p]) <= write->input.turn.passed)
        return writes + p;
    return SAMBA_NO_INDEX;
  }

  const SambaSlotPort *read = &slots->reads[place - writes];
  uint64_t slot = read->output.made / read->slot_vectors;
  for (uint32_t p = 0; p < writes; ++p) {
    const SambaSlotPort *write = &slots->writes[p];
    if (write->input.turn.passed / write->slot_vectors + slotsLent(slots, true) <= slot)
      return p;
  }
  return SAMBA_NO_INDEX;
}
