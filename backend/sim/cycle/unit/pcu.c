/* PCUs: what is common to SIMD and systolic bodies; see pcu.h. */
#include "backend/sim/cycle/unit/pcu.h"

#include "backend/section/width.h"
#include "backend/sim/cycle/unit/pcu_simd.h"
#include "backend/sim/cycle/unit/pcu_systolic.h"

static uint64_t tripsOf(const SambaUnit *unit, uint32_t from) {
  return sambaTripProduct(unit->compute.trips, from, unit->compute.token_level);
}

/* Inputs that nothing but results of the reduction meets. */
static bool followsReduction(const SambaPcu *pcu, uint32_t input) {
  const SambaProgram *record = &pcu->unit->compute.program;
  bool used = false;
  for (uint32_t i = 0; i < record->op_count; ++i) {
    const SambaLaneOp *op = &record->ops[i];
    for (int k = 0; k < sambaLaneOpOperands(op->opcode); ++k) {
      if (op->operands[k] != input)
        continue;
      used = true;
      if (sambaLaneOpClass(op->opcode) == 'R' ||
          !sambaPcuValueIsAfter(&pcu->program, pcu->unit->input_count + i))
        return false;
    }
  }
  return used;
}

static void addCounters(SambaPcu *pcu, SambaArena *arena) {
  const SambaUnit *unit = pcu->unit;
  uint32_t first = unit->compute.token_level;
  pcu->counter_count = unit->compute.counter_count - first;
  pcu->counters = SAMBA_ARENA_ARRAY(arena, SambaPcuCounter, pcu->counter_count);
  for (uint32_t c = 0; c < pcu->counter_count; ++c)
    pcu->counters[c] = (SambaPcuCounter){.trips = unit->compute.trips[first + c],
                                         .is_reduced = sambaPcuCounterIsReduced(unit, first + c)};
}

void sambaPcuBuild(SambaPcu *pcu, SambaArena *arena, const SambaNetwork *network,
                   const SambaSection *section, uint32_t index) {
  const SambaMachine *machine = network->machine;
  const SambaUnit *unit = &section->units[index];
  *pcu = (SambaPcu){.unit = unit,
                    .index = index,
                    .input_count = unit->input_count,
                    .output_count = unit->output_count,
                    .firings = tripsOf(unit, 0)};
  sambaPcuProgramBuild(&pcu->program, arena, machine, unit);
  addCounters(pcu, arena);

  pcu->inputs = SAMBA_ARENA_LINES(arena, SambaPcuInput, unit->input_count);
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    SambaPcuInput *input = &pcu->inputs[p];
    input->port = &unit->inputs[p];
    input->strides = SAMBA_ARENA_ARRAY(arena, int64_t, pcu->counter_count);
    for (uint32_t c = 0; c < pcu->counter_count; ++c)
      input->strides[c] = input->port->compute.strides[unit->compute.token_level + c];
    input->period = tripsOf(unit, input->port->compute.level);
    input->follows = followsReduction(pcu, p);
    sambaInputPortBuild(&input->vectors, arena, network, section, index, p);
    input->vector_elements = input->vectors.vector_elements;
    uint64_t elements = input->vectors.token_elements;
    uint64_t depth = pcu->program.systolic ? pcu->program.depth : 0;
    if (depth && elements % depth == 0 && elements / depth <= UINT32_MAX / 2)
      input->share = (uint32_t)(elements / depth);
  }

  uint64_t step_bytes = pcu->program.lanes * 8;
  uint64_t least = step_bytes / (uint64_t)machine->vector_bytes + 1;
  pcu->outputs = SAMBA_ARENA_LINES(arena, SambaPcuOutput, unit->output_count);
  for (uint32_t p = 0; p < unit->output_count; ++p) {
    SambaPcuOutput *output = &pcu->outputs[p];
    output->port = &unit->outputs[p];
    output->follows = sambaPcuValueIsAfter(&pcu->program, output->port->compute.value);

    /* The pipeline has a place for every cycle of its latency, and for what one step makes: several
     * vectors, when the stream is narrower than the unit. What a reduction makes waits for a cycle
     * in the accumulators. */
    uint64_t bytes = pcu->program.lanes * sambaDTypeBytes(output->port->dtype);
    uint64_t width = sambaPortVectorBytes(section, unit, output->port, machine);
    uint64_t more = bytes > width ? (bytes - 1) / width : 0;
    uint64_t results = output->follows && !pcu->program.systolic;
    uint64_t places = sambaLater(pcu->program.latency + results + 2 * more, least);
    sambaOutputPortBuild(&output->vectors, arena, network, section, index, p, places);
  }
}

void sambaPcuFetchPorts(const SambaPcu *pcu) {
  for (uint32_t p = 0; p < pcu->input_count; ++p)
    __builtin_prefetch(&pcu->inputs[p], 1);
  for (uint32_t p = 0; p < pcu->output_count; ++p)
    __builtin_prefetch(&pcu->outputs[p], 1);
}

void sambaPcuFetch(const SambaPcu *pcu, const SambaNetwork *network) {
  for (uint32_t p = 0; p < pcu->input_count; ++p)
    sambaInputPortFetch(&pcu->inputs[p].vectors, network);
  for (uint32_t p = 0; p < pcu->output_count; ++p)
    sambaOutputPortFetch(&pcu->outputs[p].vectors, network);
}

void sambaPcuFetchBehind(const SambaPcu *pcu, const SambaNetwork *network) {
  for (uint32_t p = 0; p < pcu->input_count; ++p)
    sambaInputPortFetchSlot(&pcu->inputs[p].vectors, network);
  for (uint32_t p = 0; p < pcu->output_count; ++p)
    sambaOutputPortFetchBehind(&pcu->outputs[p].vectors, network);
}

static void sendOutputs(SambaPcu *pcu, SambaNetwork *network, uint64_t *wake) {
  pcu->sends = false;
  for (uint32_t p = 0; p < pcu->output_count; ++p) {
    sambaOutputPortStep(&pcu->outputs[p].vectors, network, wake);
    pcu->sends |= pcu->outputs[p].vectors.in_flight > 0;
  }
}

uint64_t sambaPcuStepThrough(SambaPcu *pcu, SambaNetwork *network, uint64_t end, uint64_t *steps) {
  SambaClock *clock = network->clock;
  for (;;) {
    ++*steps;
    uint64_t wake = SAMBA_NEVER;
    if (pcu->sends)
      sendOutputs(pcu, network, &wake);
    SambaDoes does = pcu->program.systolic ? sambaPcuStepArray(pcu, network, &wake)
                                           : sambaPcuStepLanes(pcu, network, &wake);
    sambaTimeLineNote(&pcu->line, clock->now, does, pcu->step_free_at);
    if (wake >= end || sambaPcuIsDone(pcu))
      return wake;
    clock->now = wake;
  }
}
