/* Programs; see program.h. */
#include "backend/sim/progress/program.h"

#include "backend/section/access.h"
#include "backend/section/pcu.h"
#include "backend/section/width.h"

#include <stdlib.h>

bool sambaProgressIsReduced(const SambaUnit *unit, uint32_t counter) {
  return counter < 64 && (unit->compute.program.reduce_mask >> counter & 1);
}

/* Lanes that work on the program's types: half of them on 64-bit ones, twice as many when narrow
 * elements are only moved. */
static uint64_t lanesOf(const SambaMachine *machine, const SambaUnit *unit) {
  const SambaProgram *record = &unit->compute.program;
  bool wide = false, narrow = true;
  for (uint32_t i = 0; i < record->op_count; ++i) {
    wide |= record->ops[i].type == SAMBA_DTYPE_I64;
    narrow &= record->ops[i].opcode == SAMBA_LANE_MOVE;
  }
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    wide |= unit->inputs[p].dtype == SAMBA_DTYPE_I64;
    narrow &= sambaDTypeBytes(unit->inputs[p].dtype) <= 2;
  }
  for (uint32_t p = 0; p < unit->output_count; ++p)
    narrow &= sambaDTypeBytes(unit->outputs[p].dtype) <= 2;

  uint64_t lanes = sambaUnitLaneCount(unit, machine);
  if (wide)
    return lanes > 1 ? lanes / 2 : 1;
  return narrow ? 2 * lanes : lanes;
}

/* Which values follow a reduction, or are one. Returns whether there is one. */
static bool findReduced(const SambaUnit *unit, bool *values) {
  const SambaProgram *record = &unit->compute.program;
  bool reduces = false;
  for (uint32_t i = 0; i < record->op_count; ++i) {
    const SambaLaneOp *op = &record->ops[i];
    uint32_t value = unit->input_count + i;
    values[value] = sambaLaneOpClass(op->opcode) == 'R';
    reduces |= values[value];
    for (int k = 0; k < sambaLaneOpOperands(op->opcode); ++k)
      values[value] |= op->operands[k] < value && values[op->operands[k]];
  }
  return reduces;
}

/* Nothing uses the input but what a reduction has made. */
static bool joinsReduced(const SambaUnit *unit, const bool *values, uint32_t input) {
  const SambaProgram *record = &unit->compute.program;
  bool used = false;
  for (uint32_t i = 0; i < record->op_count; ++i) {
    const SambaLaneOp *op = &record->ops[i];
    for (int k = 0; k < sambaLaneOpOperands(op->opcode); ++k) {
      if (op->operands[k] != input)
        continue;
      used = true;
      if (sambaLaneOpClass(op->opcode) == 'R' || !values[unit->input_count + i])
        return false;
    }
  }
  return used;
}

/* Cycles of the pipeline: each of its stages holds a vector. */
static uint64_t stagesOf(const SambaMachine *machine, const SambaUnit *unit, uint64_t lanes,
                         bool reduces) {
  const SambaProgram *record = &unit->compute.program;
  uint32_t inner = unit->compute.counter_count;
  uint64_t stages = (uint64_t)machine->simd_stages;
  if (reduces && inner > unit->compute.token_level && sambaProgressIsReduced(unit, inner - 1))
    for (uint64_t folded = 1; folded < lanes; folded *= 2)
      ++stages;

  uint64_t cycles = stages * (uint64_t)machine->simd_stage_cycles;
  if (record->systolic && sambaPcuMac(unit) != SAMBA_NO_INDEX)
    cycles = (uint64_t)machine->systolic_drain_cycles;
  for (uint32_t i = 0; i < record->op_count; ++i)
    if (sambaLaneOpClass(record->ops[i].opcode) == 'T')
      return cycles + (uint64_t)machine->simd_stage_cycles;
  return cycles;
}

void sambaProgressProgramBuild(SambaProgressProgram *program, SambaArena *arena,
                               const SambaMachine *machine, const SambaUnit *unit) {
  const SambaProgram *record = &unit->compute.program;
  bool *values = sambaAllocateZeroed((size_t)unit->input_count + record->op_count + 1, 1);
  bool reduces = findReduced(unit, values);
  program->lanes = lanesOf(machine, unit);
  program->stages = stagesOf(machine, unit, program->lanes, reduces);
  program->late = SAMBA_ARENA_ARRAY(arena, bool, unit->input_count);
  program->reduced = SAMBA_ARENA_ARRAY(arena, bool, unit->output_count);
  program->outer_reduced = 1;

  for (uint32_t p = 0; p < unit->input_count; ++p)
    program->late[p] = joinsReduced(unit, values, p);
  for (uint32_t p = 0; p < unit->output_count; ++p)
    program->reduced[p] = values[unit->outputs[p].compute.value];
  for (uint32_t c = 0; c < unit->compute.token_level; ++c)
    if (sambaProgressIsReduced(unit, c))
      program->outer_reduced *= unit->compute.trips[c];
  free(values);
}
