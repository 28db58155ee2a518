/* Legality of COMPUTE units, part of sambaSectionCheck: the lane program is well typed, reductions
 * mean something, ports agree with the chain and the program. */
#include "backend/section/check/check_internal.h"
#include "backend/section/pcu.h"

#include <stdlib.h>
#include <string.h>

/* Which op types an operation has, and how its operands follow from them. */
enum {
  F = 1 << SAMBA_DTYPE_F32,
  I = 1 << SAMBA_DTYPE_I32,
  L = 1 << SAMBA_DTYPE_I64,
  B = 1 << SAMBA_DTYPE_I1
};
typedef struct TypeRule {
  uint16_t types; /* of the op's type field */
  uint16_t first; /* of operand 0, 0: the op's type */
} TypeRule;

static TypeRule findTypeRule(uint8_t opcode) {
  static const TypeRule byClass[128] = {
      ['S'] = {F | I | L, 0}, ['T'] = {F, 0}, ['R'] = {F | I | L, 0}};
  static const TypeRule special[] = {[SAMBA_LANE_CONSTANT] = {F | I | L | B, 0},
                                     [SAMBA_LANE_COUNTER] = {F | I | L, 0},
                                     [SAMBA_LANE_ARGIN] = {F | I | L | B, 0},
                                     [SAMBA_LANE_MOVE] = {F | I | L | B, 0},
                                     [SAMBA_LANE_DIV] = {F | I | L, 0},
                                     [SAMBA_LANE_REM] = {F | I | L, 0},
                                     [SAMBA_LANE_POW] = {F | I | L, 0},
                                     [SAMBA_LANE_AND] = {I | L | B, 0},
                                     [SAMBA_LANE_OR] = {I | L | B, 0},
                                     [SAMBA_LANE_XOR] = {I | L | B, 0},
                                     [SAMBA_LANE_SHL] = {I | L, 0},
                                     [SAMBA_LANE_SHRA] = {I | L, 0},
                                     [SAMBA_LANE_SHRL] = {I | L, 0},
                                     [SAMBA_LANE_EQ] = {F | I | L | B, 0},
                                     [SAMBA_LANE_NE] = {F | I | L | B, 0},
                                     [SAMBA_LANE_SELECT] = {F | I | L | B, B},
                                     [SAMBA_LANE_FLOOR] = {F, 0},
                                     [SAMBA_LANE_CEIL] = {F, 0},
                                     [SAMBA_LANE_ROUNDEVEN] = {F, 0},
                                     [SAMBA_LANE_TRUNC] = {F, 0},
                                     [SAMBA_LANE_TO_BF16] = {F, 0},
                                     [SAMBA_LANE_TO_F16] = {F, 0},
                                     [SAMBA_LANE_FLOAT_TO_INT] = {I | L, F},
                                     [SAMBA_LANE_INT_TO_FLOAT] = {I | L | B, 0},
                                     [SAMBA_LANE_INT_RESIZE] = {I | L | B, I | L | B},
                                     [SAMBA_LANE_WRAP] = {I, 0},
                                     [SAMBA_LANE_REDUCE_AND] = {I | L | B, 0},
                                     [SAMBA_LANE_REDUCE_OR] = {I | L | B, 0},
                                     [SAMBA_LANE_MAC] = {F | I | L, 0},
                                     [SAMBA_LANE_MAC_ON] = {F | I, 0}};
  if (opcode < sizeof special / sizeof special[0] && special[opcode].types)
    return special[opcode];
  return byClass[(unsigned char)sambaLaneOpClass(opcode)];
}

/* What is known of each program value. */
typedef struct Value {
  uint8_t type;
  bool varies;  /* changes while the reduced counters run */
  bool reduced; /* depends on a reduction */
} Value;

typedef struct Program {
  const SambaUnit *unit;
  uint64_t reduce_mask;   /* reduced counters that take more than one step */
  uint32_t first_reduced; /* outer level from which on counters are reduced: outputs of reduced
                             values have this level */
  Value *values;
} Program;

static SambaStatus checkImmediate(const SambaUnit *unit, const SambaLaneOp *op) {
  uint64_t value = op->immediate;
  switch (op->opcode) {
  case SAMBA_LANE_CONSTANT: {
    uint64_t limit = op->type == SAMBA_DTYPE_I64 ? UINT64_MAX : UINT32_MAX;
    if (op->type == SAMBA_DTYPE_I1)
      limit = 1;
    if (value > limit)
      return sambaStatusMake(SAMBA_INVALID, "constant 0x%llx does not fit in %s",
                             (unsigned long long)value, sambaDTypeName((SambaDType)op->type));
    return NULL;
  }
  case SAMBA_LANE_COUNTER:
    if (value >= unit->compute.counter_count)
      return sambaStatusMake(SAMBA_INVALID,
                             "counter %llu does not exist, the chain has %u counters",
                             (unsigned long long)value, unit->compute.counter_count);
    return NULL;
  case SAMBA_LANE_ARGIN:
    if (value > UINT16_MAX)
      return sambaStatusMake(SAMBA_INVALID, "argument slot %llu, expected at most 65535",
                             (unsigned long long)value);
    return NULL;
  case SAMBA_LANE_WRAP:
    if (value != SAMBA_DTYPE_I8 && value != SAMBA_DTYPE_UI8 && value != SAMBA_DTYPE_I16 &&
        value != SAMBA_DTYPE_I1)
      return sambaStatusMake(SAMBA_INVALID,
                             "wraps to type number %llu, expected i1, i8, ui8 or i16",
                             (unsigned long long)value);
    return NULL;
  default:
    if (value != 0)
      return sambaStatusMake(SAMBA_INVALID,
                             "immediate is 0x%llx, expected 0: this operation has none",
                             (unsigned long long)value);
    return NULL;
  }
}

static SambaStatus checkTypes(const Program *program, const SambaLaneOp *op) {
  TypeRule rule = findTypeRule(op->opcode);
  if (op->type >= SAMBA_DTYPE_COUNT || !(rule.types >> op->type & 1))
    return sambaStatusMake(SAMBA_INVALID, "has type %s, which this operation does not have",
                           sambaDTypeName((SambaDType)op->type));
  for (int i = 0; i < sambaLaneOpOperands(op->opcode); ++i) {
    unsigned expected = i == 0 && rule.first ? rule.first : 1u << op->type;
    if (!(expected >> program->values[op->operands[i]].type & 1))
      return sambaStatusMake(
          SAMBA_INVALID, "operand %d is value %u of type %s, which does not fit type %s", i,
          op->operands[i], sambaDTypeName((SambaDType)program->values[op->operands[i]].type),
          sambaDTypeName((SambaDType)op->type));
  }
  return NULL;
}

/* The array takes the start of a sum once, before its first product. */
static SambaStatus checkStart(const Program *program, const SambaLaneOp *op) {
  if (op->opcode != SAMBA_LANE_MAC_ON)
    return NULL;
  if (!program->unit->compute.program.systolic)
    return sambaStatusMake(SAMBA_INVALID, "only a systolic program has this operation");
  if (program->values[op->operands[2]].varies)
    return sambaStatusMake(SAMBA_INVALID,
                           "starts at value %u, which changes over the reduced counters",
                           op->operands[2]);
  return NULL;
}

static SambaStatus checkSystolic(const Program *program, const SambaLaneOp *op,
                                 const Value *value) {
  if (!program->unit->compute.program.systolic || sambaLaneOpClass(op->opcode) == 'V')
    return NULL;
  if (sambaLaneOpIsMac(op->opcode)) {
    for (int i = 0; i < sambaLaneOpOperands(op->opcode); ++i)
      if (op->operands[i] >= program->unit->input_count)
        return sambaStatusMake(SAMBA_INVALID,
                               "a systolic mac takes inputs only, operand %d is value %u", i,
                               op->operands[i]);
    if (op->type == SAMBA_DTYPE_I64)
      return sambaStatusMake(SAMBA_INVALID, "a systolic mac has type f32 or i32, not i64");
    return NULL;
  }

  if (!value->reduced || sambaLaneOpClass(op->opcode) == 'R')
    return sambaStatusMake(SAMBA_INVALID,
                           "a systolic program is one mac and operations on its result");
  return NULL;
}

static SambaStatus checkOp(Program *program, uint32_t index) {
  const SambaLaneOp *op = &program->unit->compute.program.ops[index];
  uint32_t number = program->unit->input_count + index;

  Value *value = &program->values[number];
  int operands = sambaLaneOpOperands(op->opcode);
  for (int i = 0; i < operands; ++i) {
    if (op->operands[i] >= number)
      return sambaStatusMake(SAMBA_INVALID, "operand %d is value %u, expected one before value %u",
                             i, op->operands[i], number);
    value->varies |= program->values[op->operands[i]].varies;
    value->reduced |= program->values[op->operands[i]].reduced;
  }

  for (int i = operands; i < 3; ++i)
    if (op->operands[i])
      return sambaStatusMake(SAMBA_INVALID,
                             "operand %d is value %u, expected 0: this operation has %d operands",
                             i, op->operands[i], operands);
  SAMBA_RETURN_IF_ERROR(checkTypes(program, op));
  SAMBA_RETURN_IF_ERROR(checkImmediate(program->unit, op));
  SAMBA_RETURN_IF_ERROR(checkStart(program, op));
  value->type = (uint8_t)sambaLaneOpResultType(op);
  if (op->opcode == SAMBA_LANE_COUNTER)
    value->varies = program->reduce_mask >> op->immediate & 1;
  if (sambaLaneOpClass(op->opcode) == 'R') {
    if (value->reduced)
      return sambaStatusMake(SAMBA_INVALID, "reduces a value that already depends on a reduction");
    value->reduced = true;
    value->varies = false;
  } else if (value->reduced && value->varies) {
    return sambaStatusMake(
        SAMBA_INVALID,
        "joins the result of a reduction with a value that changes over the reduced counters");
  }

  return checkSystolic(program, op, value);
}

/* Reduced counters outside the token must be the innermost of the outer ones: one set of
 * accumulators suffices. */
static SambaStatus checkReducedCounters(Program *program, uint32_t reductions) {
  const SambaUnit *unit = program->unit;
  uint64_t mask = unit->compute.program.reduce_mask;

  if (unit->compute.counter_count < 64 && mask >> unit->compute.counter_count)
    return sambaStatusMake(SAMBA_INVALID,
                           "reduce_mask 0x%llx names a counter beyond the %u of the chain",
                           (unsigned long long)mask, unit->compute.counter_count);
  if (mask && !reductions)
    return sambaStatusMake(SAMBA_INVALID, "reduce_mask is 0x%llx, but the program has no reduction",
                           (unsigned long long)mask);
  if (unit->compute.program.systolic && reductions != 1)
    return sambaStatusMake(SAMBA_INVALID,
                           "a systolic program has exactly one reduction, a mac; this one has %u",
                           reductions);
  program->first_reduced = unit->compute.token_level;
  bool open = true;

  for (uint32_t c = unit->compute.counter_count; c-- > 0;) {
    if (unit->compute.trips[c] == 1)
      continue;
    bool reduced = mask >> c & 1;
    if (reduced)
      program->reduce_mask |= UINT64_C(1) << c;
    if (c >= unit->compute.token_level)
      continue;
    if (reduced && !open)
      return sambaStatusMake(SAMBA_INVALID,
                             "counter %u is reduced, but a counter between it and token_level %u "
                             "is not: reduced outer "
                             "counters must be the last ones before token_level",
                             c, unit->compute.token_level);
    open &= reduced;
    if (reduced)
      program->first_reduced = c;
  }

  return NULL;
}

/* Outer counters on which all of [from, token_level) only step once do not separate two levels. */
static bool sameLevel(const SambaUnit *unit, uint32_t a, uint32_t b) {
  uint32_t low = a < b ? a : b;
  uint32_t high = a < b ? b : a;
  return sambaTripProduct(unit->compute.trips, low, high) == 1;
}

static SambaStatus checkPortStrides(const SambaUnit *unit, const SambaPort *port) {
  if (port->compute.level > unit->compute.token_level)
    return sambaStatusMake(SAMBA_INVALID, "level is %u, expected at most token_level, which is %u",
                           port->compute.level, unit->compute.token_level);
  for (uint32_t c = 0; c < unit->compute.token_level; ++c)
    if (port->compute.strides[c])
      return sambaStatusMake(SAMBA_INVALID,
                             "stride %lld on counter %u, expected 0 on the outer counters",
                             (long long)port->compute.strides[c], c);
  return NULL;
}

/* A PCU makes the elements of a token one after the other and keeps none back: over the counters
 * that are not reduced, in chain order, each stride is the product of the trips inside of it. */
static SambaStatus checkOutputOrder(const Program *program, const SambaPort *port, bool reduced) {
  const SambaUnit *unit = program->unit;
  uint64_t made = 1;

  for (uint32_t c = unit->compute.counter_count; c-- > unit->compute.token_level;) {
    int64_t stride = port->compute.strides[c];
    if (unit->compute.trips[c] == 1)
      continue;
    if (reduced && (program->reduce_mask >> c & 1)) {
      if (stride)
        return sambaStatusMake(SAMBA_INVALID,
                               "stride %lld on counter %u, expected 0: the counter is reduced",
                               (long long)stride, c);
      continue;
    }
    if (stride < 0 || (uint64_t)stride != made)
      return sambaStatusNote(
          sambaStatusMake(SAMBA_INVALID,
                          "stride %lld on counter %u, expected %llu: a PCU sends the elements of a "
                          "token in the order in which it makes them",
                          (long long)stride, c, (unsigned long long)made),
          "let the pattern of the PMU or address generator that takes the token place them");
    if (__builtin_mul_overflow(made, (uint64_t)unit->compute.trips[c], &made))
      made = UINT64_MAX;
  }

  if (made != port->token_elements)
    return sambaStatusMake(SAMBA_INVALID,
                           "token_elements is %llu, but the counters make %llu elements",
                           (unsigned long long)port->token_elements, (unsigned long long)made);
  return NULL;
}

static SambaStatus checkOutput(const Program *program, const SambaPort *port) {
  const SambaUnit *unit = program->unit;
  if (port->compute.value >= unit->input_count + unit->compute.program.op_count)
    return sambaStatusMake(SAMBA_INVALID, "value %u does not exist, the program has %u values",
                           port->compute.value, unit->input_count + unit->compute.program.op_count);
  const Value *value = &program->values[port->compute.value];
  if (sambaProgramInputType(port->dtype) != (SambaDType)value->type)
    return sambaStatusMake(
        SAMBA_INVALID, "writes %s from value %u of type %s, expected a value of type %s",
        sambaDTypeName(port->dtype), port->compute.value, sambaDTypeName((SambaDType)value->type),
        sambaDTypeName(sambaProgramInputType(port->dtype)));
  SAMBA_RETURN_IF_ERROR(checkPortStrides(unit, port));
  uint32_t level = value->reduced ? program->first_reduced : unit->compute.token_level;

  if (!sameLevel(unit, port->compute.level, level))
    return sambaStatusMake(
        SAMBA_INVALID, "level is %u, expected %u: %s", port->compute.level, level,
        value->reduced ? "the value is complete when the reduced counters have wrapped"
                       : "the value depends on no reduction");
  return checkOutputOrder(program, port, value->reduced);
}

static SambaStatus checkInput(Program *program, uint32_t index) {
  const SambaUnit *unit = program->unit;
  const SambaPort *port = &unit->inputs[index];
  if (port->token_elements == 0)
    return sambaStatusMake(
        SAMBA_INVALID,
        "token_elements is 0, expected at least 1: a compute unit has no control ports");
  SAMBA_RETURN_IF_ERROR(checkPortStrides(unit, port));
  program->values[index].type = (uint8_t)sambaProgramInputType(port->dtype);
  for (uint32_t c = 0; c < unit->compute.counter_count; ++c)
    if (program->reduce_mask >> c & 1)
      program->values[index].varies |=
          c < unit->compute.token_level ? port->compute.level > c : port->compute.strides[c] != 0;
  return NULL;
}

/* The elements of an operand pass once, in the order of their use. How many may be used again is
 * what the machine's registers hold (machine_check.c). */
static SambaStatus checkWalk(const SambaUnit *unit, uint32_t index, bool late) {
  const SambaPort *port = &unit->inputs[index];
  SambaPcuWalk walk = sambaPcuWalkInput(unit, index, late);

  if (walk.broken != SAMBA_NO_INDEX)
    return sambaStatusNote(
        sambaStatusMake(
            SAMBA_INVALID,
            "stride %lld on counter %u, expected %llu or 0: the unit would have to hold "
            "the whole token of %llu elements, but a PCU uses the elements of an operand "
            "in the order in which they arrive",
            (long long)port->compute.strides[walk.broken], walk.broken,
            (unsigned long long)walk.expected, (unsigned long long)port->token_elements),
        "let the read pattern of a PMU send them in the order of their use");
  if (walk.elements != port->token_elements)
    return sambaStatusMake(
        SAMBA_INVALID, "token_elements is %llu, but the counters use %llu elements of a token",
        (unsigned long long)port->token_elements, (unsigned long long)walk.elements);
  return NULL;
}

/* A firing of the array is one pass: steps of k outside, rows and columns inside. */
static SambaStatus checkPass(const SambaUnit *unit) {
  const SambaLaneOp *mac = &unit->compute.program.ops[sambaPcuMac(unit)];
  SambaPcuPass pass = sambaPcuPass(unit);

  if (pass.misplaced != SAMBA_NO_INDEX)
    return sambaStatusNote(
        sambaStatusMake(
            SAMBA_INVALID,
            "counter %u of %u steps stands where a pass of the array has none: a pass is "
            "its reduced counters, then its rows and columns, one side after the other",
            pass.misplaced, unit->compute.trips[pass.misplaced]),
        "let it step from token to token: further passes are further tokens");
  for (int i = 0; i < 2; ++i) {
    SambaPcuWalk walk = sambaPcuWalkInput(unit, mac->operands[i], false);
    if (walk.repeats != SAMBA_NO_INDEX)
      return sambaStatusNote(
          sambaStatusMake(
              SAMBA_INVALID,
              "input %u: counter %u uses %llu elements again, which the array would have "
              "to hold; it holds no operands",
              mac->operands[i], walk.repeats, (unsigned long long)walk.held),
          "let the read pattern of a PMU send them again");
  }
  return NULL;
}

static SambaStatus checkWalks(const SambaUnit *unit) {
  if (unit->compute.program.systolic)
    SAMBA_RETURN_IF_ERROR(checkPass(unit));

  bool *late = sambaAllocateZeroed((size_t)unit->input_count + 1, sizeof *late);
  SambaStatus status = NULL;
  sambaPcuLateInputs(unit, late);
  for (uint32_t i = 0; i < unit->input_count && !status; ++i)
    status = sambaStatusAnnotate(checkWalk(unit, i, late[i]), "input %u", i);
  free(late);
  return status;
}

static SambaStatus checkProgram(Program *program) {
  const SambaUnit *unit = program->unit;
  uint32_t reductions = 0;

  for (uint32_t i = 0; i < unit->compute.program.op_count; ++i) {
    if (!sambaLaneOpName(unit->compute.program.ops[i].opcode))
      return sambaStatusMake(SAMBA_INVALID, "lane operation %u: undefined opcode %u", i,
                             unit->compute.program.ops[i].opcode);
    reductions += sambaLaneOpClass(unit->compute.program.ops[i].opcode) == 'R';
  }

  SAMBA_RETURN_IF_ERROR(checkReducedCounters(program, reductions));
  for (uint32_t i = 0; i < unit->input_count; ++i) {
    SambaStatus status = checkInput(program, i);
    if (status)
      return sambaStatusAnnotate(status, "input %u", i);
  }

  for (uint32_t i = 0; i < unit->compute.program.op_count; ++i) {
    SambaStatus status = checkOp(program, i);
    if (status)
      return sambaStatusAnnotate(status, "lane operation %u (%s)", i,
                                 sambaLaneOpName(unit->compute.program.ops[i].opcode));
  }

  SAMBA_RETURN_IF_ERROR(checkWalks(unit));
  for (uint32_t i = 0; i < unit->output_count; ++i) {
    SambaStatus status = checkOutput(program, &unit->outputs[i]);
    if (status)
      return sambaStatusAnnotate(status, "output %u", i);
  }

  return NULL;
}

SambaStatus sambaComputeCheck(const SambaUnit *unit) {
  SAMBA_RETURN_IF_ERROR(sambaChainCheck(unit->compute.trips, unit->compute.counter_count));
  if (unit->compute.token_level > unit->compute.counter_count)
    return sambaStatusMake(SAMBA_INVALID,
                           "token_level is %u, expected at most the %u counters of the chain",
                           unit->compute.token_level, unit->compute.counter_count);
  if (unit->compute.program.op_count > SAMBA_MAX_PROGRAM_OPS)
    return sambaStatusMake(SAMBA_INVALID, "a program of %u lane operations, expected at most %d",
                           unit->compute.program.op_count, SAMBA_MAX_PROGRAM_OPS);
  size_t count = (size_t)unit->input_count + unit->compute.program.op_count;
  Program program = {.unit = unit, .values = sambaAllocateZeroed(count, sizeof(Value))};
  SambaStatus status = checkProgram(&program);
  free(program.values);
  return status;
}
