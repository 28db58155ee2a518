/* Loads and stores; see generator.h. */
#include "backend/sim/cycle/unit/generator.h"

#include "backend/section/access.h"
#include "backend/section/width.h"

void sambaMemoryUnitBuild(SambaMemoryUnit *unit, SambaArena *arena, const SambaNetwork *network,
                          const SambaSection *section, uint32_t index, uint64_t symbol_address,
                          const int64_t *addends, uint64_t addend_count) {
  const SambaMachine *machine = network->machine;
  const SambaUnit *record = &section->units[index];
  const SambaAccess *access = sambaMemoryAccess(record);
  bool is_load = record->kind == SAMBA_UNIT_LOAD;
  const SambaPort *port = is_load ? &record->outputs[0] : &record->inputs[0];

  *unit = (SambaMemoryUnit){.unit = record, .index = index, .is_load = is_load};
  unit->firings = sambaTripProduct(access->trips, 0, access->token_level);
  unit->token_elements =
      sambaTripProduct(access->trips, access->token_level, access->counter_count);
  sambaPatternBuild(&unit->pattern, arena, access, symbol_address, sambaDTypeBytes(port->dtype),
                    (uint64_t)machine->dram_burst_bytes, addends, addend_count);

  unit->port_bytes = sambaEarlier((uint64_t)machine->ag_bytes,
                                  sambaPortVectorBytes(section, record, port, machine));

  /* Pieces without a burst need places too. */
  unit->asked_size = 2 * (uint32_t)machine->ag_bursts;
  unit->asked = SAMBA_ARENA_ARRAY(arena, SambaAsked, unit->asked_size);
  unit->done = SAMBA_ARENA_ARRAY(arena, uint64_t, unit->asked_size);
  unit->data_input = is_load ? SAMBA_NO_INDEX : 0;
  unit->index_input = SAMBA_NO_INDEX;
  if (access->has_index && record->input_count > !is_load)
    unit->index_input = is_load ? 0 : 1;

  unit->inputs = SAMBA_ARENA_ARRAY(arena, SambaInputPort, record->input_count);
  unit->outputs = SAMBA_ARENA_ARRAY(arena, SambaOutputPort, record->output_count);
  for (uint32_t p = 0; p < record->input_count; ++p)
    sambaInputPortBuild(&unit->inputs[p], arena, network, section, index, p);
  for (uint32_t p = 0; p < record->output_count; ++p)
    sambaOutputPortBuild(&unit->outputs[p], arena, network, section, index, p, 1);
}

static uint32_t placeOf(const SambaMemoryUnit *unit, uint32_t n) {
  uint32_t place = unit->asked_head + n;
  return place < unit->asked_size ? place : place - unit->asked_size;
}

static SambaAsked *askedAt(SambaMemoryUnit *unit, uint32_t n) {
  return &unit->asked[placeOf(unit, n)];
}

static uint64_t doneAt(const SambaMemoryUnit *unit, uint32_t n) {
  const SambaAsked *asked = &unit->asked[placeOf(unit, n)];
  return asked->merged ? asked->merged->done : unit->done[placeOf(unit, n)];
}

/* A burst's place is free again: whoever waits for one can go on. */
static void freePlace(SambaMemoryUnit *unit, SambaMemorySide *side, SambaClock *clock) {
  SambaGenerator *generator = &side->generators[unit->generator];
  --generator->under_way;
  for (uint32_t i = 0; generator->unit_count > 1 && i < generator->unit_count; ++i)
    if (generator->units[i] != unit->index)
      sambaClockWake(clock, SAMBA_PART_MEMORY, generator->units[i], clock->now + 1);
}

/* The same of `count` places of the ring from one on, of which there are many: so what most of them
 * do, to wait on, is short. */
static void returnPlacesOf(SambaMemoryUnit *unit, SambaMemorySide *side, SambaClock *clock,
                           uint32_t from, uint32_t count) {
  uint64_t now = clock->now, soonest = unit->soonest;
  bool merges = side->merge.used && unit->is_load;
  for (uint32_t place = from; place < from + count; ++place) {
    SambaAsked *asked = &unit->asked[place];
    const SambaMergedRead *merged = merges ? asked->merged : NULL;
    uint64_t done = merged ? merged->done : unit->done[place];
    if (done > now) {
      sambaKeepEarlier(&soonest, done);
      if (merged)
        unit->has_joined |= asked->joined && done == SAMBA_NEVER;
    } else if (asked->burst) {
      asked->burst = false;
      freePlace(unit, side, clock);
    }
  }
  unit->soonest = soonest;
}

/* Bursts whose data are there, or whose writes are acknowledged, give their places back. */
static void returnPlaces(SambaMemoryUnit *unit, SambaMemorySide *side, SambaClock *clock,
                         uint64_t *wake) {
  if (unit->soonest > clock->now && !unit->has_joined) {
    sambaKeepEarlier(wake, unit->soonest);
    return;
  }
  unit->soonest = SAMBA_NEVER;
  unit->has_joined = false;
  /* Those that arrived in earlier cycles have done so. The ring, in two runs of places. */
  uint32_t from = placeOf(unit, unit->arrived_count);
  uint32_t count = unit->asked_count - unit->arrived_count;
  uint32_t first = count < unit->asked_size - from ? count : unit->asked_size - from;
  returnPlacesOf(unit, side, clock, from, first);
  returnPlacesOf(unit, side, clock, 0, count - first);
  sambaKeepEarlier(wake, unit->has_joined ? clock->now + 1 : unit->soonest);
}

static void dropHead(SambaMemoryUnit *unit, SambaMemorySide *side) {
  SambaAsked *asked = askedAt(unit, 0);
  if (asked->merged)
    sambaMergeTableLeave(&side->merge, asked->merged);
  unit->asked_head = unit->asked_head + 1 == unit->asked_size ? 0 : unit->asked_head + 1;
  --unit->asked_count;
}

/* Moves over the data that have come back, in order. */
static void receiveData(SambaMemoryUnit *unit, uint64_t now) {
  while (unit->arrived_count < unit->asked_count) {
    if (doneAt(unit, unit->arrived_count) > now)
      return;
    unit->arrived = askedAt(unit, unit->arrived_count)->end;
    ++unit->arrived_count;
  }
}

/* LOAD: lets the next vector leave when all of its elements are there. */
static void sendData(SambaMemoryUnit *unit, SambaMemorySide *side, SambaNetwork *network,
                     uint64_t *wake) {
  SambaOutputPort *output = &unit->outputs[0];
  uint64_t now = network->clock->now;
  sambaOutputPortStep(output, network, wake);
  receiveData(unit, now);

  if (!output->in_flight && output->tokens < unit->firings) {
    uint64_t in_token = (output->sent + UINT64_C(1)) * output->vector_elements;
    uint64_t end =
        output->tokens * unit->token_elements + sambaEarlier(in_token, unit->token_elements);
    if (unit->arrived >= end) {
      unit->passed = end;
      sambaOutputPortEnter(output, now);
      if (output->last_sent <= now)
        sambaOutputPortStep(output, network, wake);
      sambaKeepEarlier(wake, now + 1);
    } else {
      unit->passed = sambaLater(unit->passed, unit->arrived); /* in the vector that is made up */
    }
  }

  for (; unit->arrived_count && askedAt(unit, 0)->end <= unit->passed; --unit->arrived_count)
    dropHead(unit, side);
}

/* STORE: counts the writes that were acknowledged, and ends tokens. */
static void endTokens(SambaMemoryUnit *unit, SambaMemorySide *side, SambaNetwork *network,
                      uint64_t *wake) {
  uint64_t now = network->clock->now;
  uint64_t tokens = unit->passed / unit->token_elements;
  while (unit->asked_count && doneAt(unit, 0) <= now) {
    unit->passed = askedAt(unit, 0)->end;
    dropHead(unit, side);
  }
  uint64_t ended = unit->passed / unit->token_elements - tokens;

  for (uint32_t p = 0; p < unit->unit->output_count; ++p) {
    SambaOutputPort *output = &unit->outputs[p];
    for (uint64_t t = 0; t < ended; ++t) {
      sambaOutputPortEnter(output, now);
      sambaOutputPortStep(output, network, wake);
    }
  }
}

/* The control tokens of the next firing. */
static bool beginFiring(SambaMemoryUnit *unit, SambaNetwork *network, uint64_t *wake) {
  if (unit->walked / unit->token_elements < unit->begun)
    return true;
  bool complete = true;
  for (int take = 0; take < 2 && complete; ++take)
    for (uint32_t p = 0; p < unit->unit->input_count; ++p) {
      if (p == unit->data_input || p == unit->index_input || !unit->inputs[p].fifo_count)
        continue;
      if (take) {
        sambaInputPortTake(&unit->inputs[p], network);
        continue;
      }
      uint64_t at = sambaInputPortHeadAt(&unit->inputs[p], network);
      complete &= at <= network->clock->now;
      if (at > network->clock->now)
        sambaKeepEarlier(wake, at);
    }
  unit->begun += complete;
  return complete;
}

/* Takes a vector of an input, when `elements` of its elements, counted over all tokens, are not all
 * there. True: they are. */
static bool hasElements(SambaInputPort *input, SambaNetwork *network, uint64_t elements,
                        uint64_t *wake) {
  uint64_t now = network->clock->now;
  uint64_t here = input->tokens * input->token_elements + input->taken * input->vector_elements;
  if (here >= elements)
    return true;
  uint64_t at = sambaInputPortHeadAt(input, network);
  if (at > now) {
    sambaKeepEarlier(wake, at);
    return false;
  }
  sambaInputPortTake(input, network);
  here = input->tokens * input->token_elements + input->taken * input->vector_elements;
  if (here < elements)
    sambaKeepEarlier(wake, now + 1);
  return here >= elements;
}

/* Whether the generator can ask for a burst in this cycle, and it is the unit's turn. */
static bool hasTurn(SambaMemoryUnit *unit, SambaMemorySide *side, SambaClock *clock,
                    uint64_t *wake) {
  SambaGenerator *generator = &side->generators[unit->generator];
  bool yields = generator->last == unit->index && generator->waiter != SAMBA_NO_INDEX;
  if (generator->free_at <= clock->now && !yields)
    return true;
  if (generator->last != unit->index && generator->waiter == SAMBA_NO_INDEX)
    generator->waiter = unit->index;
  sambaKeepEarlier(wake, sambaLater(clock->now + 1, generator->free_at));
  return false;
}

/* Walks on to the pieces that the next request covers: consecutive bursts of one run in one row, or
 * one piece that asks for nothing. */
static void walkGroup(SambaMemoryUnit *unit, const SambaMemorySide *side, uint64_t most) {
  if (unit->group_count)
    return;
  SambaPiece piece = unit->has_next ? unit->next : sambaPatternNext(&unit->pattern);
  unit->has_next = false;
  unit->group[unit->group_count++] = piece;
  uint64_t together = piece.asks ? sambaMemoryBurstsTogether(&side->memory, piece.burst) : 1;
  if (side->merge.used && unit->is_load)
    together = 1; /* merged burst by burst */
  together = sambaEarlier(together, sambaEarlier(most, SAMBA_GROUP_PIECES));

  while (unit->group_count < together && !piece.ends_run) {
    SambaPiece next = sambaPatternNext(&unit->pattern);
    if (!next.asks || next.burst != piece.burst + 1) {
      unit->next = next;
      unit->has_next = true;
      return;
    }
    unit->group[unit->group_count++] = piece = next;
  }
}

/* The group takes the generator for as long as its bursts take to pass. */
static void takeTurn(SambaMemoryUnit *unit, SambaMemorySide *side, const SambaNetwork *network) {
  SambaGenerator *generator = &side->generators[unit->generator];
  uint64_t bytes = unit->group_count * (uint64_t)network->machine->dram_burst_bytes;
  uint64_t cycles = unit->group[0].asks ? (bytes + unit->port_bytes - 1) / unit->port_bytes : 1;
  generator->last = unit->index;
  generator->free_at = network->clock->now + cycles;
}

/* The read of a burst: its own, or one that is under way already. */
static bool joinsOther(SambaMemoryUnit *unit, SambaMemorySide *side, SambaAsked *asked,
                       uint64_t burst, uint64_t now, uint64_t way_back) {
  if (!side->merge.used || !unit->is_load)
    return false;
  asked->merged = sambaMergeTableFind(&side->merge, burst, now, way_back);
  if (asked->merged) {
    ++asked->merged->waiting;
    asked->joined = unit->has_joined = true;
    return true;
  }
  asked->merged = sambaMergeTableEnter(&side->merge, burst);
  return false;
}

/* Enters the group among what was asked for, and sends its request. */
static void ask(SambaMemoryUnit *unit, SambaMemorySide *side, SambaNetwork *network) {
  uint64_t now = network->clock->now;
  uint64_t latency = (uint64_t)network->machine->ag_latency_cycles;
  SambaBurstRequest request = {.arrival = now + 1 + latency / 2,
                               .unit = unit->index,
                               .bursts = unit->group_count,
                               .write = !unit->is_load,
                               .done = unit->done,
                               .soonest = &unit->soonest,
                               .done_first = placeOf(unit, unit->asked_count),
                               .done_size = unit->asked_size};
  bool joined = false;

  for (uint32_t i = 0; i < unit->group_count; ++i) {
    const SambaPiece *piece = &unit->group[i];
    unit->walked += piece->elements;
    uint32_t place = placeOf(unit, unit->asked_count++);
    SambaAsked *asked = &unit->asked[place];
    *asked = (SambaAsked){.end = unit->walked, .burst = piece->asks};
    unit->done[place] = piece->asks ? SAMBA_NEVER : now;
    side->generators[unit->generator].under_way += piece->asks;
    if (!piece->asks)
      continue;
    joined = joinsOther(unit, side, asked, piece->burst, now, latency - latency / 2);
    if (asked->merged) {
      request.done = &asked->merged->done;
      request.done_first = 0;
      request.done_size = 1;
    }
  }

  if (unit->group[0].asks && !joined)
    sambaMemoryRequest(&side->memory, unit->group[0].burst, request);
  unit->group_count = 0;
}

/* Is everything there that the group's requests carry: its data, its index value? */
static bool groupIsFed(SambaMemoryUnit *unit, SambaNetwork *network, uint64_t *wake) {
  uint64_t end = unit->walked;
  for (uint32_t i = 0; i < unit->group_count; ++i)
    end += unit->group[i].elements;
  bool fed = true;
  if (unit->data_input != SAMBA_NO_INDEX)
    fed &= hasElements(&unit->inputs[unit->data_input], network, end, wake);
  if (unit->index_input != SAMBA_NO_INDEX)
    fed &= hasElements(&unit->inputs[unit->index_input], network, unit->group[0].index + 1, wake);
  return fed;
}

/* Walks the pattern as far as this cycle allows. */
static SambaDoes askForBursts(SambaMemoryUnit *unit, SambaMemorySide *side, SambaNetwork *network,
                              uint64_t *wake) {
  uint64_t most = (uint64_t)network->machine->ag_bursts;
  uint64_t all = unit->firings * unit->token_elements;
  SambaGenerator *generator = &side->generators[unit->generator];
  SambaDoes does = SAMBA_DOES_NOTHING;
  if (generator->waiter == unit->index)
    generator->waiter = SAMBA_NO_INDEX;

  while (unit->walked < all) {
    if (!beginFiring(unit, network, wake))
      return does ? does : SAMBA_AWAITS_INPUT;
    walkGroup(unit, side, most);
    if (!groupIsFed(unit, network, wake))
      return does ? does : SAMBA_AWAITS_INPUT;

    bool asks = unit->group[0].asks;
    if (unit->asked_count + unit->group_count > unit->asked_size ||
        (asks && generator->under_way + unit->group_count > most)) {
      bool full = unit->is_load && unit->outputs[0].in_flight;
      SambaDoes awaits = full ? SAMBA_AWAITS_OUTPUT : SAMBA_AWAITS_MEMORY;
      return does ? does : awaits;
    }
    bool costs = asks || unit->group[0].costs_cycle;
    if (costs && !hasTurn(unit, side, network->clock, wake))
      return does || generator->last == unit->index ? SAMBA_DOES_WORK : SAMBA_AWAITS_MEMORY;
    if (costs) {
      takeTurn(unit, side, network);
      does = SAMBA_DOES_WORK;
    }
    ask(unit, side, network);
    sambaKeepEarlier(wake, network->clock->now + 1);
  }
  return does ? does : SAMBA_AWAITS_MEMORY;
}

bool sambaMemoryUnitIsDone(const SambaMemoryUnit *unit) {
  if (!unit->is_load)
    return unit->passed == unit->firings * unit->token_elements;
  return unit->outputs[0].tokens == unit->firings;
}

uint64_t sambaMemoryUnitFirings(const SambaMemoryUnit *unit) {
  return unit->is_load ? unit->outputs[0].tokens : unit->passed / unit->token_elements;
}

uint64_t sambaMemoryUnitStep(SambaMemoryUnit *unit, SambaMemorySide *side, SambaNetwork *network) {
  uint64_t wake = SAMBA_NEVER;
  uint64_t now = network->clock->now;
  returnPlaces(unit, side, network->clock, &wake);
  if (unit->is_load)
    sendData(unit, side, network, &wake);
  else
    endTokens(unit, side, network, &wake);
  SambaDoes does = askForBursts(unit, side, network, &wake);
  if (sambaMemoryUnitIsDone(unit))
    does = SAMBA_DOES_NOTHING;
  uint64_t free_at = side->generators[unit->generator].free_at;
  sambaTimeLineNote(&unit->line, now, does, does == SAMBA_DOES_WORK ? free_at : now);
  return wake;
}
