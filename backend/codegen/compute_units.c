/* One copy of a group as a COMPUTE unit: its counter chain, the strides of its ports, and
 * the lane program with dimension indices expressed by the unit's counters. Also the shapes of
 * tokens, which both ends of a stream ask. */
#include "backend/codegen/codegen_internal.h"

#include "backend/section/access.h"

#include <stdlib.h>
#include <string.h>

/* Loops with several trips at positions [0, to): the counters in front of a token. */
static uint32_t countLoops(const SambaTileNest *nest, uint32_t to) {
  uint32_t count = 0;
  for (uint32_t position = 0; position < to; ++position)
    count += sambaTileNestLoop(nest, position).trips > 1;
  return count;
}

/* The chain of a COMPUTE unit while it is built: each counter runs one dimension. */
enum { maxCounters = 4 * SAMBA_MAX_STAGE_DIMS };
typedef struct Chain {
  uint32_t count, token_level;
  uint32_t dim[maxCounters];
  uint32_t trips[maxCounters];
  bool kept[maxCounters]; /* the program names it: not merged */
  /* Of each dimension: its counters over tiles, passes and points; SAMBA_NO_INDEX: none. */
  uint32_t loop_counter[SAMBA_MAX_STAGE_DIMS], pass_counter[SAMBA_MAX_STAGE_DIMS];
  uint32_t point_counter[SAMBA_MAX_STAGE_DIMS];
  uint32_t copy_counter[SAMBA_MAX_STAGE_DIMS]; /* and, of a tail, over its copies */
} Chain;

/* Appends a counter of a dimension; a dimension has at most one of each kind. */
static void addCounter(const SambaGroup *group, uint32_t dim, int64_t trips, uint32_t *counter_of,
                       Chain *chain) {
  if (trips == 1)
    return;
  counter_of[dim] = chain->count;
  chain->dim[chain->count] = dim;
  chain->kept[chain->count] = group->counted >> dim & 1;
  chain->trips[chain->count++] = (uint32_t)trips;
}

/* A tail has no counters over what is reduced, and some over its copies. */
static void makeChain(const SambaTileNest *nest, SambaComputePart part, Chain *out_chain) {
  const SambaGroup *group = nest->group;
  const uint32_t passes = sambaTileNestPassesAt(nest);
  const bool tail = part == SAMBA_COMPUTE_TAIL;
  const uint32_t loops = tail ? sambaTileNestOutputLevel(nest) : sambaTileNestLoops(nest);
  memset(out_chain, 0, sizeof *out_chain);
  sambaClearIndices(out_chain->loop_counter, SAMBA_MAX_STAGE_DIMS);
  sambaClearIndices(out_chain->pass_counter, SAMBA_MAX_STAGE_DIMS);
  sambaClearIndices(out_chain->point_counter, SAMBA_MAX_STAGE_DIMS);
  sambaClearIndices(out_chain->copy_counter, SAMBA_MAX_STAGE_DIMS);

  for (uint32_t position = 0; position < loops; ++position) {
    SambaTileLoop loop = sambaTileNestLoop(nest, position);
    bool of_pass = position >= passes && position < passes + group->dim_count;
    addCounter(group, loop.dim, loop.trips,
               of_pass ? out_chain->pass_counter : out_chain->loop_counter, out_chain);
  }

  for (uint32_t dim = 0; dim < group->dim_count && tail; ++dim)
    addCounter(group, dim, sambaTileNestTailCopies(nest, dim), out_chain->copy_counter, out_chain);
  out_chain->token_level = out_chain->count;
  for (uint32_t i = 0; i < group->dim_count; ++i)
    if (!tail || !group->reduced[nest->inner[i]])
      addCounter(group, nest->inner[i], nest->pass[nest->inner[i]], out_chain->point_counter,
                 out_chain);
}

/* The stride of each inner counter within a token that has the points of `streamed` dimensions one
 * after the other; returns the token's elements. */
static uint64_t denseStrides(const Chain *chain, uint32_t streamed, uint32_t ports, uint32_t port,
                             int64_t *strides) {
  uint64_t elements = 1;
  for (uint32_t c = chain->count; c-- > chain->token_level;) {
    if (!(streamed >> chain->dim[c] & 1))
      continue;
    strides[c * ports + port] = (int64_t)elements;
    elements *= chain->trips[c];
  }
  return elements;
}

/* Merges inner counter c into c + 1 where every port walks them as one; strides are rows of
 * `ports` entries per counter. */
static void mergeCounters(const SambaGroup *group, Chain *chain, int64_t *strides, uint32_t ports) {
  uint32_t used = chain->token_level;
  uint32_t renumber[maxCounters];

  for (uint32_t c = 0; c < chain->count; ++c) {
    renumber[c] = c;
    if (c < chain->token_level)
      continue;
    bool merges = used > chain->token_level && !chain->kept[used - 1] && !chain->kept[c] &&
                  group->reduced[chain->dim[used - 1]] == group->reduced[chain->dim[c]];
    for (uint32_t p = 0; p < ports && merges; ++p)
      merges = strides[(used - 1) * ports + p] == strides[c * ports + p] * chain->trips[c];
    uint32_t trips = chain->trips[c];
    if (merges)
      trips *= chain->trips[used - 1];
    else
      ++used;
    renumber[c] = used - 1;
    chain->trips[used - 1] = trips;
    chain->dim[used - 1] = chain->dim[c];
    chain->kept[used - 1] = chain->kept[c];
    memmove(&strides[(used - 1) * ports], &strides[c * ports], ports * sizeof *strides);
  }

  chain->count = used;
  for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
    if (chain->point_counter[dim] != SAMBA_NO_INDEX)
      chain->point_counter[dim] = renumber[chain->point_counter[dim]];
}

typedef struct Program {
  SambaLaneOp *ops;
  uint32_t input_count, op_count;
} Program;

static uint16_t emit(Program *program, uint8_t opcode, uint8_t type, uint16_t a, uint16_t b,
                     uint64_t immediate) {
  program->ops[program->op_count] =
      (SambaLaneOp){.opcode = opcode, .type = type, .operands = {a, b}, .immediate = immediate};
  return (uint16_t)(program->input_count + program->op_count++);
}

static uint64_t numberBits(uint8_t type, int64_t value) {
  if (type != SAMBA_DTYPE_F32)
    return type == SAMBA_DTYPE_I64 ? (uint64_t)value : (uint32_t)value;
  float number = (float)value;
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static uint16_t emitNumber(Program *program, uint8_t type, int64_t value) {
  return emit(program, SAMBA_LANE_CONSTANT, type, 0, 0, numberBits(type, value));
}

/* The sum so far and one more term; SAMBA_NO_INDEX: the term is the first. */
static uint32_t addTerm(Program *program, uint8_t type, uint32_t sum, uint16_t term) {
  return sum == SAMBA_NO_INDEX ? term : emit(program, SAMBA_LANE_ADD, type, (uint16_t)sum, term, 0);
}

/* The index along a dimension: first + loop counter * tile + pass counter * pass + copy counter *
 * copy's step + point counter, as the op's type (exact: below 2^24 for f32). */
static uint16_t emitIndex(Program *program, const Chain *chain, const SambaTileNest *nest,
                          uint32_t dim, uint32_t copy, uint8_t type) {
  int64_t first = copy * nest->copy_step[dim];
  const uint32_t counters[] = {chain->loop_counter[dim], chain->pass_counter[dim],
                               chain->copy_counter[dim]};
  const int64_t steps[] = {nest->loop_step[dim], nest->pass[dim], nest->copy_step[dim]};
  uint32_t point = chain->point_counter[dim];
  uint32_t sum = SAMBA_NO_INDEX;

  for (int i = 0; i < 3; ++i) {
    if (counters[i] == SAMBA_NO_INDEX)
      continue;
    uint16_t term = emit(program, SAMBA_LANE_COUNTER, type, 0, 0, counters[i]);
    if (steps[i] > 1)
      term = emit(program, SAMBA_LANE_MUL, type, term, emitNumber(program, type, steps[i]), 0);
    sum = addTerm(program, type, sum, term);
  }

  if (point != SAMBA_NO_INDEX)
    sum = addTerm(program, type, sum, emit(program, SAMBA_LANE_COUNTER, type, 0, 0, point));
  if (first || sum == SAMBA_NO_INDEX)
    sum = addTerm(program, type, sum, emitNumber(program, type, first));
  return (uint16_t)sum;
}

/* The program of a part with operands numbered as ports; returns the result's value. Sums that go
 * through a PMU start at the last port, and out_sums is their value. */
static uint32_t makeProgram(SambaArena *arena, const SambaTileNest *nest, SambaComputePart part,
                            const Chain *chain, const SambaCopyRange *copy, const uint32_t *port_of,
                            uint32_t ports, SambaProgram *out_program, uint32_t *out_sums) {
  const SambaGroup *group = nest->group;
  uint32_t counters = 0;

  for (uint32_t i = 0; i < group->op_count; ++i)
    counters += group->ops[i].opcode == SAMBA_LANE_COUNTER;
  Program program = {SAMBA_ARENA_ARRAY(arena, SambaLaneOp, group->op_count + 16 * counters), ports,
                     0};
  uint16_t *value_of =
      sambaAllocateZeroed(group->operand_count + group->op_count, sizeof *value_of);
  for (uint32_t i = 0; i < group->operand_count; ++i)
    value_of[i] = (uint16_t)port_of[i];

  for (uint32_t i = 0; i < group->op_count; ++i) {
    SambaLaneOp op = group->ops[i];
    uint16_t *value = &value_of[group->operand_count + i];
    if (part != SAMBA_COMPUTE_ALL && group->on_array[i] != (part == SAMBA_COMPUTE_ARRAY))
      continue; /* what the array hands on is input 0 of a tail */
    if (op.opcode == SAMBA_LANE_COUNTER) {
      *value = emitIndex(&program, chain, nest, (uint32_t)op.immediate, copy->first[op.immediate],
                         op.type);
      continue;
    }
    for (int j = 0; j < sambaLaneOpOperands(op.opcode); ++j)
      op.operands[j] = value_of[op.operands[j]];
    if (op.opcode == SAMBA_LANE_MAC && sambaTileNestCarriesSums(nest)) {
      op.opcode = SAMBA_LANE_MAC_ON;
      op.operands[2] = (uint16_t)(ports - 1);
      *out_sums = ports + program.op_count;
    }
    program.ops[program.op_count] = op;
    *value = (uint16_t)(ports + program.op_count++);
  }

  uint32_t result = value_of[part == SAMBA_COMPUTE_ARRAY ? group->handed : group->result];
  free(value_of);
  *out_program = (SambaProgram){.systolic = group->systolic && part != SAMBA_COMPUTE_TAIL,
                                .lane_reduce = group->lane_reduce,
                                .op_count = program.op_count,
                                .ops = program.ops};
  return result;
}

/* The counters over which the program's reductions run, those before `first` left out. */
static uint64_t reduceMask(const SambaGroup *group, const Chain *chain, uint32_t first) {
  bool reduces = false;
  uint64_t mask = 0;
  for (uint32_t i = 0; i < group->op_count; ++i)
    reduces |= sambaLaneOpClass(group->ops[i].opcode) == 'R';
  for (uint32_t c = first; c < chain->count && reduces; ++c)
    if (group->reduced[chain->dim[c]])
      mask |= UINT64_C(1) << c;
  return mask;
}

/* The operands that a part takes at its ports. */
typedef struct Ports {
  uint32_t count;
  uint32_t first; /* those before it are no operands */
  uint32_t port_of[SAMBA_MAX_GROUP_OPERANDS];
  bool taken[SAMBA_MAX_GROUP_OPERANDS];
} Ports;

static Ports portsOf(const SambaGroup *group, SambaComputePart part) {
  Ports ports = {.count = part == SAMBA_COMPUTE_TAIL, .first = part == SAMBA_COMPUTE_TAIL};
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    bool late = part == SAMBA_COMPUTE_TAIL;
    ports.taken[i] =
        group->operands[i].value && (part == SAMBA_COMPUTE_ALL || group->operands[i].late == late);
    ports.port_of[i] = ports.taken[i] ? ports.count++ : 0;
  }
  return ports;
}

/* What the group's maps say of the order of each port, whatever the unit's counters look like. What
 * sums start at, the sums, and what an array hands on have the order of the result. */
static void stateOrders(const SambaTileNest *nest, const Ports *ports, SambaUnit *unit,
                        SambaArena *arena) {
  const SambaGroup *group = nest->group;
  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (ports->taken[i])
      sambaStateToken(nest, i, arena, &unit->inputs[ports->port_of[i]]);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    sambaStateResult(nest, arena, &unit->outputs[i]);
  for (uint32_t p = 0; p < ports->first; ++p)
    sambaStateResult(nest, arena, &unit->inputs[p]);
  if (sambaTileNestCarriesSums(nest))
    sambaStateResult(nest, arena, &unit->inputs[unit->input_count - 1]);
}

/* The ports of sums that go through a PMU: where they start, and where they go. */
static void setSumPorts(const SambaTileNest *nest, uint32_t sums, SambaUnit *unit) {
  SambaPort *start = &unit->inputs[unit->input_count - 1];
  SambaPort *next = &unit->outputs[1];
  start->dtype = next->dtype = SAMBA_DTYPE_F32;
  start->compute.level = next->compute.level = countLoops(nest, sambaTileNestLoops(nest));
  *next = (SambaPort){.dtype = next->dtype,
                      .token_elements = unit->outputs[0].token_elements,
                      .compute = unit->outputs[0].compute};
  next->compute.value = sums;
}

/* The type of what the array's PCU hands on. */
static SambaDType handedType(const SambaGroup *group) {
  return sambaLaneOpResultType(&group->ops[group->handed - group->operand_count]);
}

/* Types and levels of the ports. A tail takes a token of each of its copies where these need
 * different ones. */
static void setPorts(const SambaTileNest *nest, SambaComputePart part, const Chain *chain,
                     const Ports *ports, SambaUnit *unit) {
  const SambaGroup *group = nest->group;
  uint32_t copies = 0; /* counters over the copies of a tail */
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    copies += chain->copy_counter[dim] != SAMBA_NO_INDEX;
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    if (!ports->taken[i])
      continue;
    SambaPort *port = &unit->inputs[ports->port_of[i]];
    port->dtype = sambaTileNestDType(nest, i);
    port->compute.level = countLoops(nest, sambaTileNestTokenLevel(nest, i)) +
                          (sambaTileNestTailDepends(nest, i) ? copies : 0);
  }
  for (uint32_t p = 0; p < ports->first; ++p) {
    unit->inputs[p].dtype = handedType(group);
    unit->inputs[p].compute.level = chain->token_level;
  }

  unit->outputs[0].dtype = part == SAMBA_COMPUTE_ARRAY
                               ? handedType(group)
                               : nest->graph->tensors[group->output.tensor].dtype;
  unit->outputs[0].compute.level = countLoops(nest, sambaTileNestOutputLevel(nest)) + copies;
}

uint32_t sambaCodegenCompute(SambaAssembly *assembly, const SambaTileNest *nest, const char *name,
                             const char *layer, SambaComputePart part,
                             const SambaCopyRange *copies) {
  const SambaGroup *group = nest->group;
  SambaArena *arena = assembly->arena;
  bool carries = sambaTileNestCarriesSums(nest);
  Ports operands = portsOf(group, part);
  Chain chain;
  makeChain(nest, part, &chain);

  /* Strides of all ports, the output last, a row per counter. What sums start at has the order of
   * the output, and so has what an array hands on. */
  const uint32_t ports = operands.count + carries;
  const uint32_t width = ports + 1 + group->operand_count;
  uint64_t elements[SAMBA_MAX_GROUP_OPERANDS + 2];
  uint32_t made = (1u << group->parallel_count) - 1; /* dimensions of the output's tokens */
  int64_t *strides = sambaAllocateZeroed((size_t)(chain.count + 1) * width, sizeof *strides);
  for (uint32_t p = 0; p < operands.first; ++p)
    elements[p] = denseStrides(&chain, made, width, p, strides);
  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (operands.taken[i])
      elements[operands.port_of[i]] =
          denseStrides(&chain, nest->streamed[i], width, operands.port_of[i], strides);
  for (uint32_t p = operands.count; p <= ports; ++p)
    elements[p] = denseStrides(&chain, made, width, p, strides);
  /* What the tail's operands keep apart, the array steps through apart: then the counters of one
   * are the other's, cut. */
  for (uint32_t i = 0; i < group->operand_count && part == SAMBA_COMPUTE_ARRAY; ++i)
    if (group->operands[i].value && group->operands[i].late)
      denseStrides(&chain, nest->streamed[i], width, ports + 1 + i, strides);
  mergeCounters(group, &chain, strides, width);

  uint32_t index =
      sambaAssemblyAddUnit(assembly, SAMBA_UNIT_COMPUTE, name, layer, ports, 1 + carries);
  SambaUnit *unit = sambaAssemblyUnit(assembly, index);

  unit->compute.counter_count = chain.count;
  unit->compute.token_level = chain.token_level;
  unit->compute.trips = sambaArenaCopy(arena, chain.trips, chain.count * sizeof *chain.trips);
  uint32_t sums = 0;
  uint32_t result = makeProgram(arena, nest, part, &chain, copies, operands.port_of, ports,
                                &unit->compute.program, &sums);
  if (part != SAMBA_COMPUTE_TAIL)
    unit->compute.program.reduce_mask |= reduceMask(group, &chain, carries ? chain.token_level : 0);

  for (uint32_t p = 0; p <= ports; ++p) {
    SambaPort *port = p < ports ? &unit->inputs[p] : &unit->outputs[0];
    int64_t *own = SAMBA_ARENA_ARRAY(arena, int64_t, chain.count);
    for (uint32_t c = 0; c < chain.count; ++c)
      own[c] = strides[c * width + p];
    port->compute.strides = own;
    port->token_elements = elements[p];
  }

  setPorts(nest, part, &chain, &operands, unit);
  unit->outputs[0].compute.value = result;
  if (carries)
    setSumPorts(nest, sums, unit);
  stateOrders(nest, &operands, unit, arena);
  free(strides);

  return index;
}
