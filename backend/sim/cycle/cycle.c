/* The cycle engine's entry; see cycle.h. */
#include "backend/sim/cycle/cycle.h"

#include "backend/sim/cycle/chip.h"
#include "backend/sim/cycle/faults.h"

#include <stddef.h>
#include <stdlib.h>

/* No simulated time reaches this: FIFOs keep 32 bits of it. */
#define SAMBA_CYCLE_LIMIT ((UINT64_C(1) << 32) - (UINT64_C(1) << 20))

enum { cyclesBetweenLooks = 64 };

static bool isDone(const SambaChip *chip, uint32_t index) {
  const SambaChipUnit *unit = &chip->units[index];
  switch (chip->section->units[index].kind) {
  case SAMBA_UNIT_COMPUTE:
    return sambaPcuIsDone(&unit->pcu);
  case SAMBA_UNIT_BUFFER:
    return sambaPmuIsDone(&unit->pmu);
  default:
    return sambaMemoryUnitIsDone(&unit->memory);
  }
}

static void stepUnit(SambaChip *chip, uint32_t index) {
  SambaChipUnit *unit = &chip->units[index];
  uint64_t wake = SAMBA_NEVER;
  if (chip->done[index])
    return;

  switch (chip->section->units[index].kind) {
  case SAMBA_UNIT_COMPUTE:
    wake = sambaPcuStep(&unit->pcu, &chip->network);
    break;
  case SAMBA_UNIT_BUFFER:
    wake = sambaPmuStep(&unit->pmu, &chip->network);
    break;
  default:
    wake = sambaMemoryUnitStep(&unit->memory, &chip->memory, &chip->network);
    break;
  }

  if (isDone(chip, index)) {
    chip->done[index] = true;
    --chip->unfinished;
    /* What it did last ends with the cycle, or takes some more. */
    uint64_t end = chip->clock.now + 1;
    if (chip->section->units[index].kind == SAMBA_UNIT_BUFFER)
      end = sambaLater(end, sambaPmuBusyUntil(&unit->pmu));
    chip->finish = sambaLater(chip->finish, end);
  } else if (wake != SAMBA_NEVER) {
    sambaClockWake(&chip->clock, SAMBA_PART_UNIT, index, wake);
  }
}

static void stepPart(SambaChip *chip, SambaPartKind kind, uint32_t part) {
  switch (kind) {
  case SAMBA_PART_UNIT:
    stepUnit(chip, part);
    break;
  case SAMBA_PART_LANE:
    sambaNetworkStepLane(&chip->network, part);
    break;
  default:
    sambaMemoryStepChannel(&chip->memory.memory, part);
    break;
  }
}

static void fetchLines(const void *data, size_t size) {
  for (size_t at = 0; at < size; at += 64)
    __builtin_prefetch((const char *)data + at, 1);
}

/* PCUs that are stepped soon: fetches what they need into the host's cache, a level at a time. */
static void fetchUnits(const SambaChip *chip, const uint32_t *units, size_t count) {
  enum { ahead = 3, levels = 3 };
  for (size_t level = 1; level <= levels && count > level * ahead; ++level) {
    uint32_t unit = units[level * ahead];
    const SambaPcu *pcu = &chip->units[unit].pcu;
    if (chip->section->units[unit].kind != SAMBA_UNIT_COMPUTE)
      continue;
    if (level == levels) {
      fetchLines(pcu, offsetof(SambaPcu, counters));
    } else if (level == 2) {
      fetchLines(pcu->inputs, 2 * sizeof *pcu->inputs);
      fetchLines(pcu->outputs, sizeof *pcu->outputs);
    } else {
      for (uint32_t p = 0; p < chip->section->units[unit].input_count; ++p)
        __builtin_prefetch(&chip->network.fifos[pcu->inputs[p].vectors.fifo], 1);
    }
  }
}

/* One cycle of the chip: whatever was woken for it. */
static void stepCycle(SambaChip *chip) {
  SambaClock *clock = &chip->clock;
  for (int kind = 0; kind < SAMBA_PART_KINDS; ++kind) {
    size_t count;
    const uint32_t *parts = sambaClockTake(clock, (SambaPartKind)kind, &count);
    for (size_t i = 0; i < count; ++i) {
      if (kind == SAMBA_PART_LANE)
        sambaNetworkFetch(&chip->network, parts + i, count - i);
      if (kind == SAMBA_PART_UNIT)
        fetchUnits(chip, parts + i, count - i);
      stepPart(chip, (SambaPartKind)kind, parts[i]);
    }
    chip->events += count;
  }
}

static SambaStatus run(SambaChip *chip, const SambaTimingOptions *options) {
  uint64_t limit = SAMBA_CYCLE_LIMIT, looks = 0;
  if (options && options->max_cycles)
    limit = sambaEarlier(limit, options->max_cycles);

  while (sambaClockAdvance(&chip->clock)) {
    if (chip->clock.now > limit)
      return sambaChipTooManyCycles(chip, limit);
    if (options && options->stop && looks++ % cyclesBetweenLooks == 0 && *options->stop)
      return sambaChipInterrupted(chip);
    stepCycle(chip);
  }

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

static uint64_t bytesIn(const SambaInputPort *input) {
  return (input->tokens + (input->taken > 0)) * input->bytes;
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
        unit->bytes_out += port->output.tokens * port->output.bytes;
      else
        unit->bytes_in += bytesIn(&port->input);
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
    unit->bytes_in += bytesIn(&pcu->inputs[p].vectors);
  for (uint32_t p = 0; p < pcu->unit->output_count; ++p)
    unit->bytes_out += pcu->outputs[p].vectors.tokens * pcu->outputs[p].vectors.bytes;
}

static void countMemoryUnit(const SambaMemoryUnit *memory, SambaUnitActivity *unit) {
  countTimeLine(&memory->line, unit);
  unit->firings = sambaMemoryUnitFirings(memory);
  for (uint32_t p = 0; p < memory->unit->input_count; ++p)
    unit->bytes_in += bytesIn(&memory->inputs[p]);
  for (uint32_t p = 0; p < memory->unit->output_count; ++p)
    unit->bytes_out += memory->outputs[p].tokens * memory->outputs[p].bytes;
}

static void collect(const SambaChip *chip, SambaTimingResult *result) {
  const SambaMemory *memory = &chip->memory.memory;
  result->dram_read_bytes = memory->read_bytes;
  result->dram_write_bytes = memory->write_bytes;
  result->host_read_bytes = memory->host_read_bytes;
  result->host_write_bytes = memory->host_write_bytes;
  result->row_hits = memory->row_hits;
  result->row_misses = memory->row_misses;
  result->events = chip->events;
  result->link_busy_max = sambaNetworkBusyMaximum(&chip->network);

  result->units = sambaAllocateZeroed(chip->section->unit_count, sizeof *result->units);
  for (uint32_t u = 0; u < chip->section->unit_count; ++u) {
    const SambaChipUnit *unit = &chip->units[u];
    switch (chip->section->units[u].kind) {
    case SAMBA_UNIT_COMPUTE:
      countPcu(&unit->pcu, &result->units[u], result);
      break;
    case SAMBA_UNIT_BUFFER:
      countPmu(&unit->pmu, &result->units[u]);
      break;
    default:
      countMemoryUnit(&unit->memory, &result->units[u]);
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
  SambaStatus status = sambaChipBuild(chip, bindings, index_traces);

  if (!status) {
    status = run(chip, options);
    out_result->cycles = status ? chip->clock.now : chip->finish;
    collect(chip, out_result);
  }
  sambaChipFree(chip);
  free(chip);
  return status;
}
