/* Laws of a PCU's program; see pcu_program.h and docs/timing-model.md, "Occupancy". */
#include "backend/sim/cycle/unit/pcu_program.h"

#include "backend/section/access.h"
#include "backend/section/width.h"

static uint64_t atLeastOne(uint64_t value) { return value ? value : 1; }
static uint64_t divideUp(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

bool sambaPcuCounterIsReduced(const SambaUnit *unit, uint32_t counter) {
  return counter < 64 && (unit->compute.program.reduce_mask >> counter & 1);
}

static uint64_t flopsOf(const SambaLaneOp *op) {
  char class = sambaLaneOpClass(op->opcode);
  bool moves = op->opcode == SAMBA_LANE_MOVE || op->opcode == SAMBA_LANE_SELECT;
  if (op->type != SAMBA_DTYPE_F32 || moves || !(class == 'S' || class == 'T' || class == 'R'))
    return 0;
  return sambaLaneOpIsMac(op->opcode) || op->opcode == SAMBA_LANE_FMA ? 2 : 1;
}

/* Counts the operations before and after the reduction. */
static void countOperations(SambaPcuProgram *program, const SambaMachine *machine,
                            const SambaUnit *unit) {
  const SambaProgram *record = &unit->compute.program;
  uint64_t stages[2] = {0}, tail[2] = {0}, flops[2] = {0};

  for (uint32_t i = 0; i < record->op_count; ++i) {
    const SambaLaneOp *op = &record->ops[i];
    uint32_t value = unit->input_count + i;
    char class = sambaLaneOpClass(op->opcode);
    bool after = false;
    for (int k = 0; k < sambaLaneOpOperands(op->opcode); ++k)
      after |= op->operands[k] < value && sambaPcuValueIsAfter(program, op->operands[k]);
    stages[after] += class == 'S';
    tail[after] += class == 'T';
    flops[after] += flopsOf(op);
    program->multiply_adds += sambaLaneOpIsMac(op->opcode);
    program->reduces |= class == 'R';
    if (after || class == 'R')
      program->after[value / 64] |= UINT64_C(1) << (value % 64);
  }

  uint64_t most = (uint64_t)machine->simd_stages;
  program->body_passes = atLeastOne(divideUp(stages[0], most));
  program->after_passes = atLeastOne(divideUp(stages[1], most));
  program->body_tail = tail[0];
  program->after_tail = tail[1];
  program->tail_rate = (uint64_t)machine->tail_transcendentals;
  program->flops_before = flops[0];
  program->flops_after = flops[1];
}

/* Lanes that work on the program's types: half of them on 64-bit ones, twice as many when narrow
 * elements are only moved. */
static uint64_t lanesOf(const SambaMachine *machine, const SambaUnit *unit) {
  const SambaProgram *record = &unit->compute.program;
  bool wide = false, moves_narrow = true;
  for (uint32_t i = 0; i < record->op_count; ++i) {
    wide |= record->ops[i].type == SAMBA_DTYPE_I64;
    moves_narrow &= record->ops[i].opcode == SAMBA_LANE_MOVE;
  }
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    wide |= unit->inputs[p].dtype == SAMBA_DTYPE_I64;
    moves_narrow &= sambaDTypeBytes(unit->inputs[p].dtype) <= 2;
  }
  for (uint32_t p = 0; p < unit->output_count; ++p)
    moves_narrow &= sambaDTypeBytes(unit->outputs[p].dtype) <= 2;

  uint64_t lanes = sambaUnitLaneCount(unit, machine);
  if (wide)
    return atLeastOne(lanes / 2);
  return moves_narrow ? 2 * lanes : lanes;
}

static void setSimdLatency(SambaPcuProgram *program, const SambaMachine *machine,
                           const SambaUnit *unit) {
  uint64_t stages = (uint64_t)machine->simd_stages;
  uint32_t inner = unit->compute.counter_count;
  bool folds = program->reduces && inner > unit->compute.token_level &&
               sambaPcuCounterIsReduced(unit, inner - 1);
  for (uint64_t lanes = 1; folds && lanes < program->lanes; lanes *= 2)
    ++stages;
  program->latency = stages * (uint64_t)machine->simd_stage_cycles;
}

/* Inner counters on which only the first operand has a stride are rows, only the second columns,
 * reduced ones depth. */
static void setArray(SambaPcuProgram *program, const SambaMachine *machine, const SambaUnit *unit,
                     const SambaLaneOp *mac) {
  const SambaPort *a = &unit->inputs[mac->operands[0]], *b = &unit->inputs[mac->operands[1]];
  uint64_t rows = 1, columns = 1, depth = 1;

  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c) {
    uint64_t trips = unit->compute.trips[c];
    if (sambaPcuCounterIsReduced(unit, c))
      depth *= trips;
    else if (a->compute.strides[c])
      rows *= trips;
    else if (b->compute.strides[c])
      columns *= trips;
  }

  uint64_t array_rows = (uint64_t)machine->systolic_rows;
  program->systolic = true;
  program->rows = rows;
  program->columns = columns;
  program->depth = depth;
  program->pass_steps = depth > array_rows ? depth : array_rows;

  uint32_t bytes_a = sambaDTypeBytes(a->dtype), bytes_b = sambaDTypeBytes(b->dtype);
  uint32_t bytes = bytes_a > bytes_b ? bytes_a : bytes_b;
  program->step_cycles = bytes > 2 ? (uint64_t)machine->systolic_f32_rate : 1;
  if (bytes > 4)
    program->step_cycles *= 2;
  program->operands[0] = mac->operands[0];
  program->operands[1] = mac->operands[1];
  program->latency = (uint64_t)machine->systolic_drain_cycles;
}

void sambaPcuProgramBuild(SambaPcuProgram *program, SambaArena *arena, const SambaMachine *machine,
                          const SambaUnit *unit) {
  const SambaProgram *record = &unit->compute.program;
  uint32_t values = unit->input_count + record->op_count;
  *program = (SambaPcuProgram){.start = SAMBA_NO_INDEX, .outer_reduced = 1};
  program->after = SAMBA_ARENA_ARRAY(arena, uint64_t, values / 64 + 1);
  countOperations(program, machine, unit);
  program->lanes = lanesOf(machine, unit);
  for (uint32_t c = 0; c < unit->compute.token_level; ++c)
    if (sambaPcuCounterIsReduced(unit, c))
      program->outer_reduced *= unit->compute.trips[c];

  setSimdLatency(program, machine, unit);
  for (uint32_t i = 0; record->systolic && i < record->op_count; ++i) {
    const SambaLaneOp *op = &record->ops[i];
    bool is_array = sambaLaneOpIsMac(op->opcode) && op->operands[0] < unit->input_count &&
                    op->operands[1] < unit->input_count;
    if (!is_array)
      continue;
    setArray(program, machine, unit, op);
    if (op->opcode == SAMBA_LANE_MAC_ON && op->operands[2] < unit->input_count)
      program->start = op->operands[2];
    break;
  }
  if (program->body_tail || program->after_tail)
    program->latency += (uint64_t)machine->simd_stage_cycles;
}
