/* The cycle engine's entry; see cycle.h. */
#include "backend/sim/cycle/cycle.h"

#include "backend/sim/call/stop.h"
#include "backend/sim/cycle/chip.h"
#include "backend/sim/cycle/faults.h"

#include <stdlib.h>

enum { windowsBetweenLooks = 64 };

/* Less than that one thread does sooner than several. */
enum { fewUnits = 128, fewPassages = 128 };

static bool isDone(const SambaChip *chip, uint32_t index) {
  const SambaChipUnit *unit = &chip->units[index];
  switch (chip->kinds[index]) {
  case SAMBA_UNIT_COMPUTE:
    return sambaPcuIsDone(unit->pcu);
  case SAMBA_UNIT_BUFFER:
    return sambaPmuIsDone(unit->pmu);
  default:
    return sambaMemoryUnitIsDone(unit->memory);
  }
}

/* A unit in this cycle; a PCU in all in which it has something to do, up to `end`. Returns the next
 * one. */
static uint64_t stepUnit(SambaChip *chip, SambaShare *share, uint32_t index, uint64_t end) {
  SambaChipUnit *unit = &chip->units[index];
  SambaUnitKind kind = chip->kinds[index];
  uint64_t wake = SAMBA_NEVER;
  if (chip->done[index])
    return wake;

  switch (kind) {
  case SAMBA_UNIT_COMPUTE:
    wake = sambaPcuStepThrough(unit->pcu, share->network, end, &share->events);
    break;
  case SAMBA_UNIT_BUFFER:
    wake = sambaPmuStep(unit->pmu, share->network);
    ++share->events;
    break;
  default:
    wake = sambaMemoryUnitStep(unit->memory, &chip->memory, share->network);
    ++share->events;
    break;
  }

  if (!isDone(chip, index))
    return wake;
  chip->done[index] = true;
  ++share->finished;
  /* What it did last ends with the cycle, or takes some more. */
  uint64_t through = share->clock->now + 1;
  if (kind == SAMBA_UNIT_BUFFER)
    through = sambaLater(through, sambaPmuBusyUntil(unit->pmu));
  share->finish = sambaLater(share->finish, through);
  return SAMBA_NEVER;
}

/* Units that are stepped soon: fetches what they need into the host's cache, one thing after the
 * other, since each says where the next one lies. */
static void fetchUnits(const SambaChip *chip, const uint32_t *units, size_t count) {
  enum { far = 8, ports = 5, fifos = 3, behind = 1 };
  if (count <= far)
    return;
  const char *unit = (const char *)chip->units[units[far]].pcu; /* or whatever it is */
  for (size_t line = 0; line < SAMBA_PCU_LINES; ++line)
    __builtin_prefetch(unit + line * SAMBA_CACHE_LINE, 1);
  if (chip->kinds[units[ports]] == SAMBA_UNIT_COMPUTE)
    sambaPcuFetchPorts(chip->units[units[ports]].pcu);
  else
    sambaPmuFetchPorts(chip->units[units[ports]].pmu);
  if (chip->kinds[units[fifos]] == SAMBA_UNIT_COMPUTE)
    sambaPcuFetch(chip->units[units[fifos]].pcu, &chip->network);
  else
    sambaPmuFetch(chip->units[units[fifos]].pmu, &chip->network);
  if (chip->kinds[units[behind]] == SAMBA_UNIT_COMPUTE)
    sambaPcuFetchBehind(chip->units[units[behind]].pcu, &chip->network);
  else
    sambaPmuFetchBehind(chip->units[units[behind]].pmu, &chip->network);
}

/* A part in those cycles up to `end` in which it has something to do. */
static void stepThrough(SambaChip *chip, SambaShare *share, SambaPartKind kind, uint32_t part,
                        uint64_t end) {
  SambaClock *clock = share->clock;
  uint64_t at = sambaClockStart(clock, kind, part);
  while (at < end) {
    clock->now = at;
    if (kind == SAMBA_PART_CHANNEL) {
      at = sambaMemoryStepChannel(&chip->memory.memory, part);
      ++share->events;
    } else {
      at = stepUnit(chip, share, part, end);
    }
  }
  if (at != SAMBA_NEVER)
    sambaClockWake(clock, kind, part, at);
}

/* Those parts of memory that are woken for the cycle. */
static void stepMemory(SambaChip *chip, SambaPartKind kind, uint64_t at) {
  size_t count;
  const uint32_t *parts = sambaClockTake(&chip->clock, kind, at, &count);
  for (size_t i = 0; i < count; ++i)
    stepThrough(chip, &chip->shares[0], kind, parts[i], at + 1);
}

/* A share of the work: by the team, or by one thread, share after share. */
static void doShares(SambaChip *chip, SambaTeamWork work, bool few) {
  if (chip->team_helps && !few) {
    sambaTeamDo(chip->team, work, chip);
    return;
  }
  for (uint32_t s = 0; s < chip->share_count; ++s)
    work(chip, s);
}

/* The share's units of those that are woken for the window. All of them are handed over before the
 * first one is stepped, which may wake others. */
static const uint32_t *takeUnits(SambaChip *chip, uint32_t index, size_t *out_count) {
  SambaShare *share = &chip->shares[index];
  *out_count = chip->woken_count;
  if (!chip->share_of)
    return chip->woken;
  size_t count = 0;
  for (size_t i = 0; i < chip->woken_count; ++i)
    if (chip->share_of[chip->woken[i]] == index) {
      share->units[count++] = chip->woken[i];
      if (index)
        sambaClockHandOver(&chip->clock, share->clock, chip->woken[i]);
    }
  *out_count = count;
  return share->units;
}

static void stepUnits(void *context, uint32_t index) {
  SambaChip *chip = context;
  size_t count;
  const uint32_t *units = takeUnits(chip, index, &count);
  for (size_t i = 0; i < count; ++i) {
    fetchUnits(chip, units + i, count - i);
    stepThrough(chip, &chip->shares[index], SAMBA_PART_UNIT, units[i], chip->window_end);
  }
}

static void chooseInLanes(void *context, uint32_t index) {
  SambaChip *chip = context;
  sambaNetworkChoose(chip->shares[index].network, chip->looks_again);
}
static void crossLanes(void *context, uint32_t index) {
  SambaChip *chip = context;
  chip->shares[index].events += sambaNetworkCross(chip->shares[index].network);
}

/* One cycle of all lanes. */
static void stepLanes(SambaChip *chip, uint64_t at) {
  uint64_t events = 0;
  bool few = chip->crossed < fewPassages;
  for (uint32_t s = 0; s < chip->share_count; ++s) {
    chip->shares[s].clock->now = at;
    events += chip->shares[s].events;
  }
  chip->crossed = 0;
  if (!sambaClockUsesCrossings(&chip->clock, at))
    return;

  chip->looks_again = sambaClockLooksAgain(&chip->clock, at);
  doShares(chip, chooseInLanes, few);
  sambaClockUseCrossings(&chip->clock, at, false);
  doShares(chip, crossLanes, few);
  for (uint32_t s = 0; s < chip->share_count; ++s) {
    chip->crossed += chip->shares[s].events;
    if (s)
      sambaClockTakeOverCrossings(&chip->clock, chip->shares[s].clock);
  }
  chip->crossed -= events;
}

/* What shares counted, and whom they woke. */
static void countShares(SambaChip *chip) {
  for (uint32_t s = 0; s < chip->share_count; ++s) {
    SambaShare *share = &chip->shares[s];
    chip->events += share->events;
    chip->unfinished -= (uint32_t)share->finished;
    chip->finish = sambaLater(chip->finish, share->finish);
    share->events = share->finished = 0;
    if (s)
      sambaClockTakeOver(&chip->clock, share->clock);
  }
}

/* One window of the chip (clock.h): whatever was woken for it. */
static void stepWindow(SambaChip *chip, uint64_t end) {
  uint64_t begin = chip->clock.now;
  chip->team_helps = chip->team && sambaTeamHelps(chip->team);
  sambaNetworkBeginWindow(&chip->network);
  for (uint32_t s = 1; s < chip->share_count; ++s)
    chip->shares[s].network->since = chip->network.since;
  for (uint64_t at = begin; at < end; ++at) {
    stepMemory(chip, SAMBA_PART_MEMORY, at);
    stepMemory(chip, SAMBA_PART_CHANNEL, at);
  }
  chip->woken = sambaClockTake(&chip->clock, SAMBA_PART_UNIT, begin, &chip->woken_count);
  chip->window_end = end;
  doShares(chip, stepUnits, chip->woken_count < fewUnits);
  countShares(chip);
  for (uint64_t at = begin; at < end; ++at)
    stepLanes(chip, at);
  countShares(chip);
}

static SambaStatus run(SambaChip *chip, const SambaTimingOptions *options) {
  uint64_t limit = SAMBA_CYCLE_LIMIT, looks = 0, last = 0;
  if (options && options->max_cycles)
    limit = sambaEarlier(limit, options->max_cycles);

  while (sambaClockAdvance(&chip->clock)) {
    if (options && looks++ % windowsBetweenLooks == 0 && sambaIsStopped(options->stop))
      return sambaChipInterrupted(chip);
    uint64_t end = sambaEarlier(chip->clock.now + chip->clock.window, limit + 1);
    uint64_t events = chip->events;
    stepWindow(chip, end);
    if (chip->events > events)
      last = chip->clock.now;
    if (end <= limit)
      continue;
    if (sambaClockIsIdle(&chip->clock))
      break;
    chip->clock.now = end;
    return sambaChipTooManyCycles(chip, limit);
  }
  /* Sets may have kept parts that were woken earlier, and did nothing any more. */
  chip->clock.now = last;

  if (chip->unfinished)
    return sambaChipDeadlock(chip);
  chip->finish = sambaLater(chip->finish, sambaMemoryLastWrite(&chip->memory.memory));
  return chip->finish > limit ? sambaChipTooManyCycles(chip, limit) : NULL;
}

static void countTimeLine(const SambaTimeLine *line, SambaUnitActivity *unit) {
  unit->busy = line->cycles[SAMBA_DOES_WORK];
  unit->side_busy = unit->busy;
  unit->wait_input = line->cycles[SAMBA_AWAITS_INPUT];
  unit->wait_output = line->cycles[SAMBA_AWAITS_OUTPUT];
  unit->wait_memory = line->cycles[SAMBA_AWAITS_MEMORY];
}

static uint64_t bytesOf(uint64_t tokens, const SambaPort *port) {
  return tokens * port->token_elements * sambaDTypeBytes(port->dtype);
}
static uint64_t bytesIn(const SambaInputPort *input, const SambaPort *port) {
  return input->fifo_count ? bytesOf(input->tokens + (input->taken > 0), port) : 0;
}

/* A buffer shows its busiest port. */
static void countPmu(const SambaPmu *pmu, SambaUnitActivity *unit) {
  const SambaTimeLine *busiest = NULL;
  uint64_t sides[2] = {0};
  for (int side = 0; side < 2; ++side) {
    const SambaPmuSide *ports = side ? &pmu->read : &pmu->write;
    for (uint32_t p = 0; p < ports->port_count; ++p) {
      const SambaPmuPort *port = &ports->ports[p];
      unit->firings += port->token;
      sides[side] += port->line.cycles[SAMBA_DOES_WORK];
      if (side)
        unit->bytes_out += bytesOf(port->output.tokens, &pmu->unit->outputs[p]);
      else
        unit->bytes_in += bytesIn(&port->input, &pmu->unit->inputs[p]);
      if (!busiest || port->line.cycles[SAMBA_DOES_WORK] >= busiest->cycles[SAMBA_DOES_WORK])
        busiest = &port->line;
    }
  }
  if (busiest)
    countTimeLine(busiest, unit);
  unit->side_busy = sides[0] > sides[1] ? sides[0] : sides[1];
}

static void countPcu(const SambaPcu *pcu, SambaUnitActivity *unit, SambaTimingResult *result) {
  countTimeLine(&pcu->line, unit);
  unit->firings = pcu->firing;
  result->flops += pcu->flops;
  result->multiply_adds += pcu->multiply_adds;
  for (uint32_t p = 0; p < pcu->unit->input_count; ++p)
    unit->bytes_in += bytesIn(&pcu->inputs[p].vectors, pcu->inputs[p].port);
  for (uint32_t p = 0; p < pcu->unit->output_count; ++p)
    unit->bytes_out += bytesOf(pcu->outputs[p].vectors.tokens, pcu->outputs[p].port);
}

static void countMemoryUnit(const SambaMemoryUnit *memory, SambaUnitActivity *unit) {
  countTimeLine(&memory->line, unit);
  unit->firings = sambaMemoryUnitFirings(memory);
  for (uint32_t p = 0; p < memory->unit->input_count; ++p)
    unit->bytes_in += bytesIn(&memory->inputs[p], &memory->unit->inputs[p]);
  for (uint32_t p = 0; p < memory->unit->output_count; ++p)
    unit->bytes_out += bytesOf(memory->outputs[p].tokens, &memory->unit->outputs[p]);
}

/* Counts what time lines have noted. */
static void endTimeLines(SambaChip *chip) {
  for (uint32_t u = 0; u < chip->section->unit_count; ++u) {
    SambaChipUnit *unit = &chip->units[u];
    if (chip->kinds[u] == SAMBA_UNIT_COMPUTE)
      sambaTimeLineEnd(&unit->pcu->line);
    else if (chip->kinds[u] != SAMBA_UNIT_BUFFER)
      sambaTimeLineEnd(&unit->memory->line);
    for (uint32_t p = 0; chip->kinds[u] == SAMBA_UNIT_BUFFER && p < unit->pmu->read.port_count; ++p)
      sambaTimeLineEnd(&unit->pmu->read.ports[p].line);
    for (uint32_t p = 0; chip->kinds[u] == SAMBA_UNIT_BUFFER && p < unit->pmu->write.port_count;
         ++p)
      sambaTimeLineEnd(&unit->pmu->write.ports[p].line);
  }
}

static void collect(SambaChip *chip, SambaTimingResult *result) {
  const SambaMemory *memory = &chip->memory.memory;
  result->dram_read_bytes = memory->read_bytes;
  result->dram_write_bytes = memory->write_bytes;
  result->host_read_bytes = memory->host_read_bytes;
  result->host_write_bytes = memory->host_write_bytes;
  result->row_hits = memory->row_hits;
  result->row_misses = memory->row_misses;
  result->events = chip->events;
  result->link_busy_max = sambaNetworkBusyMaximum(&chip->network);
  endTimeLines(chip);

  result->units = sambaAllocateZeroed(chip->section->unit_count, sizeof *result->units);
  for (uint32_t u = 0; u < chip->section->unit_count; ++u) {
    const SambaChipUnit *unit = &chip->units[u];
    switch (chip->section->units[u].kind) {
    case SAMBA_UNIT_COMPUTE:
      countPcu(unit->pcu, &result->units[u], result);
      break;
    case SAMBA_UNIT_BUFFER:
      countPmu(unit->pmu, &result->units[u]);
      break;
    default:
      countMemoryUnit(unit->memory, &result->units[u]);
      break;
    }
  }
}

SambaStatus sambaCycleExecute(const SambaMachine *machine, const SambaSection *section,
                              const SambaBinding *bindings, const SambaIndexTraces *index_traces,
                              const SambaTimingOptions *options, SambaTimingResult *out_result) {
  SambaChip *chip = sambaAllocateZeroed(1, sizeof *chip);
  chip->machine = machine;
  chip->section = section;
  chip->network.steps_links = options && options->no_skip;
  *out_result = (SambaTimingResult){0};
  SambaStatus status = sambaChipBuild(chip, bindings, index_traces, options ? options->threads : 1);

  if (!status) {
    status = run(chip, options);
    out_result->cycles = status ? chip->clock.now : chip->finish;
    collect(chip, out_result);
  }
  sambaChipFree(chip);
  free(chip);
  return status;
}
