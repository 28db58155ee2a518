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

void sambaPcuBuild(SambaPcu *pcu, SambaArena *arena, const SambaNetwork *network,
                   const SambaSection *section, uint32_t index) {
  const SambaMachine *machine = network->machine;
  const SambaUnit *unit = &section->units[index];
  *pcu = (SambaPcu){.unit = unit, .index = index, .firings = tripsOf(unit, 0)};
  sambaPcuProgramBuild(&pcu->program, arena, machine, unit);

  pcu->inputs = SAMBA_ARENA_ARRAY(arena, SambaPcuInput, unit->input_count);
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    SambaPcuInput *input = &pcu->inputs[p];
    input->port = &unit->inputs[p];
    input->index = 0;
    input->period = tripsOf(unit, input->port->compute.level);
    input->follows = followsReduction(pcu, p);
    sambaInputPortBuild(&input->vectors, arena, network, section, index, p);
  }

  uint64_t step_bytes = pcu->program.lanes * 8;
  uint64_t least = step_bytes / (uint64_t)machine->vector_bytes + 1;
  pcu->outputs = SAMBA_ARENA_ARRAY(arena, SambaPcuOutput, unit->output_count);
  for (uint32_t p = 0; p < unit->output_count; ++p) {
    SambaPcuOutput *output = &pcu->outputs[p];
    output->port = &unit->outputs[p];
    output->follows = sambaPcuValueIsAfter(&pcu->program, output->port->compute.value);

    /* The pipeline has a place for every cycle of its latency, and for what one step makes: several
     * vectors, when the stream is narrower than the unit. */
    uint64_t bytes = pcu->program.lanes * sambaDTypeBytes(output->port->dtype);
    uint64_t width = sambaPortVectorBytes(section, unit, output->port, machine);
    uint64_t more = bytes > width ? (bytes - 1) / width : 0;
    uint64_t places = sambaLater(pcu->program.latency + 2 * more, least);
    sambaOutputPortBuild(&output->vectors, arena, machine, section, index, p, places);
  }
}

uint64_t sambaPcuStep(SambaPcu *pcu, SambaNetwork *network) {
  uint64_t wake = SAMBA_NEVER;
  for (uint32_t p = 0; p < pcu->unit->output_count; ++p)
    sambaOutputPortStep(&pcu->outputs[p].vectors, network, &wake);
  SambaDoes does = pcu->program.systolic ? sambaPcuStepArray(pcu, network, &wake)
                                         : sambaPcuStepLanes(pcu, network, &wake);
  sambaTimeLineNote(&pcu->line, network->clock->now, does, pcu->step_free_at);
  return wake;
}
