/* What a PCU has to hold; see pcu.h. */
#include "backend/section/pcu.h"

#include "backend/section/access.h"

#include <stdlib.h>

uint64_t sambaPcuReduced(const SambaUnit *unit) {
  uint64_t mask = 0;
  for (uint32_t c = 0; c < unit->compute.counter_count; ++c)
    if (unit->compute.trips[c] > 1)
      mask |= unit->compute.program.reduce_mask & UINT64_C(1) << c;
  return mask;
}

uint32_t sambaPcuMac(const SambaUnit *unit) {
  for (uint32_t i = 0; i < unit->compute.program.op_count; ++i)
    if (sambaLaneOpIsMac(unit->compute.program.ops[i].opcode))
      return i;
  return SAMBA_NO_INDEX;
}

/* Whether an operation needs an operand at each step of the chain: the start of a sum is taken
 * once. */
static bool isStart(const SambaLaneOp *op, int operand) {
  return op->opcode == SAMBA_LANE_MAC_ON && operand == 2;
}

void sambaPcuLateInputs(const SambaUnit *unit, bool *out_late) {
  const SambaProgram *program = &unit->compute.program;
  const uint32_t values = unit->input_count + program->op_count;
  bool *reduced = sambaAllocateZeroed(values + 1, sizeof *reduced);
  bool *early = sambaAllocateZeroed(values + 1, sizeof *early);

  for (uint32_t i = 0; i < program->op_count; ++i) {
    const SambaLaneOp *op = &program->ops[i];
    reduced[unit->input_count + i] = sambaLaneOpClass(op->opcode) == 'R';
    for (int operand = 0; operand < sambaLaneOpOperands(op->opcode); ++operand)
      reduced[unit->input_count + i] |= reduced[op->operands[operand]];
  }
  for (uint32_t i = 0; i < unit->output_count; ++i)
    if (unit->outputs[i].compute.value < values)
      early[unit->outputs[i].compute.value] = !reduced[unit->outputs[i].compute.value];

  /* What a reduction takes, and all that this is made of, is needed at each step. */
  for (uint32_t i = program->op_count; i-- > 0;) {
    const SambaLaneOp *op = &program->ops[i];
    bool needed = early[unit->input_count + i] || sambaLaneOpClass(op->opcode) == 'R';
    for (int operand = 0; operand < sambaLaneOpOperands(op->opcode) && needed; ++operand)
      early[op->operands[operand]] |= !isStart(op, operand);
  }

  for (uint32_t i = 0; i < unit->input_count; ++i)
    out_late[i] = !early[i];
  free(early);
  free(reduced);
}

/* The counters that the array itself spreads an operand over: those of the other operand. */
static uint64_t broadcastCounters(const SambaUnit *unit, uint32_t input) {
  uint32_t mac = unit->compute.program.systolic ? sambaPcuMac(unit) : SAMBA_NO_INDEX;
  if (mac == SAMBA_NO_INDEX)
    return 0;
  const SambaLaneOp *op = &unit->compute.program.ops[mac];
  if (input != op->operands[0] && input != op->operands[1])
    return 0;
  uint32_t other = op->operands[input == op->operands[0]];
  if (other >= unit->input_count || other == input)
    return 0;

  uint64_t mask = 0;
  uint64_t reduced = sambaPcuReduced(unit);
  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c)
    if (!(reduced >> c & 1) && unit->inputs[input].compute.strides[c] == 0 &&
        unit->inputs[other].compute.strides[c] != 0)
      mask |= UINT64_C(1) << c;
  return mask;
}

SambaPcuWalk sambaPcuWalkInput(const SambaUnit *unit, uint32_t input, bool late) {
  const SambaComputePort *port = &unit->inputs[input].compute;
  SambaPcuWalk walk = {
      .elements = 1, .repeats = SAMBA_NO_INDEX, .broken = SAMBA_NO_INDEX, .expected = 1};
  uint64_t skipped = (late ? sambaPcuReduced(unit) : 0) | broadcastCounters(unit, input);

  for (uint32_t c = unit->compute.counter_count; c-- > port->level;) {
    if (unit->compute.trips[c] == 1 || (port->strides[c] == 0 && (skipped >> c & 1)))
      continue;
    if (port->strides[c] == 0) {
      if (walk.elements == 1)
        continue; /* the element at hand is broadcast */
      walk.held = walk.elements;
      walk.repeats = c;
    } else if (port->strides[c] < 0 || (uint64_t)port->strides[c] != walk.elements) {
      walk.broken = c;
      walk.expected = walk.elements;
      return walk;
    } else if (__builtin_mul_overflow(walk.elements, (uint64_t)unit->compute.trips[c],
                                      &walk.elements)) {
      walk.elements = UINT64_MAX;
    }
  }
  return walk;
}

SambaPcuPass sambaPcuPass(const SambaUnit *unit) {
  const SambaLaneOp *mac = &unit->compute.program.ops[sambaPcuMac(unit)];
  const int64_t *a = unit->inputs[mac->operands[0]].compute.strides;
  const int64_t *b = unit->inputs[mac->operands[1]].compute.strides;
  SambaPcuPass pass = {.rows = 1, .columns = 1, .depth = 1, .misplaced = SAMBA_NO_INDEX};
  uint64_t reduced = sambaPcuReduced(unit);
  uint64_t *last = NULL; /* the side of the counter before */
  bool both_seen = false;

  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c) {
    if (unit->compute.trips[c] == 1)
      continue;
    uint64_t *side = NULL;
    if (reduced >> c & 1)
      side = &pass.depth;
    else if ((a[c] != 0) != (b[c] != 0))
      side = a[c] != 0 ? &pass.rows : &pass.columns;
    /* Steps of k outside, then all rows and all columns, or all columns and all rows. */
    bool back = last && side != last && (side == &pass.depth || both_seen);
    if (!side || back) {
      pass.misplaced = c;
      return pass;
    }
    both_seen |= last && last != &pass.depth && side != last;
    if (__builtin_mul_overflow(*side, (uint64_t)unit->compute.trips[c], side))
      *side = UINT64_MAX;
    last = side;
  }
  return pass;
}

uint64_t sambaPcuSums(const SambaUnit *unit) {
  uint64_t reduced = sambaPcuReduced(unit);
  uint64_t sums = 1;
  bool inside = false;
  for (uint32_t c = 0; c < unit->compute.counter_count; ++c) {
    inside |= reduced >> c & 1;
    if (inside && !(reduced >> c & 1) &&
        __builtin_mul_overflow(sums, (uint64_t)unit->compute.trips[c], &sums))
      return UINT64_MAX;
  }
  return sums;
}

static uint64_t ceilDivide(uint64_t value, uint64_t by) { return value / by + (value % by != 0); }

uint64_t sambaPcuHeldVectors(const SambaPcuWalk *walk, SambaDType dtype, int64_t vector_bytes) {
  uint64_t bytes;
  if (walk->held == 0)
    return 0;
  if (__builtin_mul_overflow(walk->held, (uint64_t)sambaDTypeBytes(dtype), &bytes))
    return UINT64_MAX;
  bool shifts = walk->elements > walk->held && bytes % (uint64_t)vector_bytes != 0;
  return ceilDivide(bytes, (uint64_t)vector_bytes) + shifts;
}

uint64_t sambaPcuSumVectors(const SambaUnit *unit, int64_t lanes) {
  const SambaProgram *program = &unit->compute.program;
  uint64_t reduced = sambaPcuReduced(unit);
  uint64_t sums = sambaPcuSums(unit);
  uint64_t vectors = 0;
  uint32_t innermost = unit->compute.counter_count;
  if (!reduced)
    return 0;

  /* Where the lanes run along what is reduced, each sum has a part in every lane. */
  while (innermost > 0 && unit->compute.trips[innermost - 1] == 1)
    --innermost;
  bool across = program->lane_reduce && innermost > 0 && (reduced >> (innermost - 1) & 1);
  for (uint32_t i = 0; i < program->op_count; ++i) {
    if (sambaLaneOpClass(program->ops[i].opcode) != 'R')
      continue;
    uint64_t width = program->ops[i].type == SAMBA_DTYPE_I64 ? 2 : 1;
    uint64_t own = across ? sums : ceilDivide(sums, (uint64_t)lanes);
    if (__builtin_mul_overflow(own, width, &own) || __builtin_add_overflow(vectors, own, &vectors))
      return UINT64_MAX;
  }
  return vectors;
}

uint64_t sambaPcuLiveValues(const SambaUnit *unit) {
  const SambaProgram *program = &unit->compute.program;
  const uint32_t inputs = unit->input_count;
  uint32_t *last_use = sambaAllocateZeroed((size_t)inputs + program->op_count, sizeof *last_use);

  /* Positions count from 1; what no operation and no output takes has 0. */
  for (uint32_t i = 0; i < program->op_count; ++i)
    for (int operand = 0; operand < sambaLaneOpOperands(program->ops[i].opcode); ++operand)
      last_use[program->ops[i].operands[operand]] = i + 1;
  for (uint32_t i = 0; i < unit->output_count; ++i)
    last_use[unit->outputs[i].compute.value] = program->op_count + 1;

  uint64_t live = 0, most = 0;
  uint64_t *ends = sambaAllocateZeroed((size_t)program->op_count + 2, sizeof *ends);
  for (uint32_t v = 0; v < inputs; ++v)
    if (last_use[v]) {
      ++live;
      ++ends[last_use[v]];
    }
  most = live;
  for (uint32_t i = 0; i < program->op_count; ++i) {
    live -= ends[i + 1];
    if (sambaLaneOpClass(program->ops[i].opcode) != 'V' && last_use[inputs + i]) {
      ++live;
      ++ends[last_use[inputs + i]];
    }
    most = live > most ? live : most;
  }
  free(ends);
  free(last_use);
  return most;
}
