/* One copy of a group as a COMPUTE unit: its counter chain, the strides of its ports, and
 * the lane program with dimension indices expressed by the unit's counters. Also the shapes of
 * tokens, which both ends of a stream ask. */
#include "backend/codegen/codegen_internal.h"

#include <stdlib.h>
#include <string.h>

/* Tile loops with several trips at positions [0, to): the counters in front of a token. */
static uint32_t countLoops(const SambaTileNest *nest, uint32_t to) {
  uint32_t count = 0;
  for (uint32_t position = 0; position < to; ++position)
    count += nest->trips[nest->dim_at[position]] > 1;
  return count;
}

uint32_t sambaIndexedDims(const SambaTileNest *nest, uint32_t operand, uint32_t *out_dims,
                          uint32_t *out_index_count) {
  const SambaGroup *group = nest->group;
  uint32_t index = group->operands[operand].map.index_operand;
  uint32_t count = 0;

  if (group->copy) { /* what the load makes is what the output takes */
    uint32_t all = sambaOutputDims(nest, out_dims);
    while (count < all && sambaGroupDepends(group, index, out_dims[count]))
      ++count;
    *out_index_count = count;
    return all;
  }

  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    if (nest->tile[dim] > 1 && sambaGroupDepends(group, index, dim))
      out_dims[count++] = dim;
  *out_index_count = count;
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    if (nest->tile[dim] > 1 && !sambaGroupDepends(group, index, dim) &&
        sambaGroupDepends(group, operand, dim))
      out_dims[count++] = dim;
  return count;
}

int64_t sambaOutputStride(const SambaTileNest *nest, uint32_t dim) {
  const SambaStageOperand *map = &nest->group->output;
  const SambaStageTensor *tensor = &nest->graph->tensors[map->tensor];
  int64_t stride = 1, own = 0;

  for (uint32_t axis = tensor->rank; axis-- > 0; stride *= tensor->dims[axis])
    own += map->axes[axis].coefficients[dim] * stride;
  return own < 0 ? -own : own;
}

uint32_t sambaOutputDims(const SambaTileNest *nest, uint32_t *out_dims) {
  const SambaGroup *group = nest->group;
  int64_t key[SAMBA_MAX_STAGE_DIMS];

  /* A copied gather and a scatter go index by index: the dimensions of the indices are the outer
   * ones. */
  uint32_t index = group->output.index_operand;
  if (index == SAMBA_NO_INDEX && group->copy)
    index = group->operands[group->result].map.index_operand;
  uint32_t count = 0;

  for (uint32_t dim = 0; dim < group->parallel_count; ++dim) {
    if (nest->tile[dim] == 1)
      continue;
    key[dim] = sambaOutputStride(nest, dim);
    if (index != SAMBA_NO_INDEX && sambaGroupDepends(group, index, dim))
      key[dim] += (int64_t)1 << 56;
    uint32_t at = count++;
    for (; at && key[out_dims[at - 1]] < key[dim]; --at)
      out_dims[at] = out_dims[at - 1];
    out_dims[at] = dim;
  }

  return count;
}

/* The layout of the tokens that an operand brings to the PCUs of its group: the stride of each
 * in-tile dimension. */
typedef struct TokenLayout {
  uint64_t elements;
  int64_t offset;
  int64_t stride[SAMBA_MAX_STAGE_DIMS];
} TokenLayout;

static void makeTokenLayout(const SambaTileNest *nest, uint32_t operand, TokenLayout *out_layout) {
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[operand].map;

  memset(out_layout, 0, sizeof *out_layout);
  out_layout->elements = 1;
  if (map->index_operand != SAMBA_NO_INDEX) {
    uint32_t dims[SAMBA_MAX_STAGE_DIMS];
    uint32_t index_count;
    uint32_t count = sambaIndexedDims(nest, operand, dims, &index_count);
    while (count-- > 0) {
      out_layout->stride[dims[count]] = (int64_t)out_layout->elements;
      out_layout->elements *= (uint64_t)nest->tile[dims[count]];
    }
    return;
  }

  SambaTileBox token;
  uint32_t axes[SAMBA_MAX_RANK];
  sambaTileNestBox(nest, operand, group->dim_count, &token);
  sambaTileNestTokenOrder(nest, operand, &token, axes);

  for (uint32_t i = token.rank; i-- > 0;) {
    uint32_t axis = axes[i];
    for (uint32_t dim = 0; dim < group->dim_count; ++dim)
      if (nest->tile[dim] > 1)
        out_layout->stride[dim] +=
            map->axes[axis].coefficients[dim] / token.step[axis] * (int64_t)out_layout->elements;
    out_layout->offset -= token.low[axis] / token.step[axis] * (int64_t)out_layout->elements;
    out_layout->elements *= (uint64_t)token.size[axis];
  }
}

/* The chain of a COMPUTE unit while it is built: each counter runs one dimension. */
typedef struct Chain {
  uint32_t count, token_level;
  uint32_t dim[2 * SAMBA_MAX_STAGE_DIMS];
  uint32_t trips[2 * SAMBA_MAX_STAGE_DIMS];
  bool kept[2 * SAMBA_MAX_STAGE_DIMS]; /* the program names it: not merged */
  /* Of each dimension: its counter over tiles and over points; SAMBA_NO_INDEX: none. */
  uint32_t loop_counter[SAMBA_MAX_STAGE_DIMS], point_counter[SAMBA_MAX_STAGE_DIMS];
} Chain;

static void makeChain(const SambaTileNest *nest, Chain *out_chain) {
  const SambaGroup *group = nest->group;
  memset(out_chain, 0, sizeof *out_chain);
  sambaClearIndices(out_chain->loop_counter, SAMBA_MAX_STAGE_DIMS);
  sambaClearIndices(out_chain->point_counter, SAMBA_MAX_STAGE_DIMS);

  for (uint32_t position = 0; position < group->dim_count; ++position) {
    uint32_t dim = nest->dim_at[position];
    if (nest->trips[dim] == 1)
      continue;
    out_chain->loop_counter[dim] = out_chain->count;
    out_chain->dim[out_chain->count] = dim;
    out_chain->trips[out_chain->count++] = (uint32_t)nest->trips[dim];
  }

  out_chain->token_level = out_chain->count;
  for (uint32_t i = 0; i < group->dim_count; ++i) {
    uint32_t dim = nest->inner[i];
    if (nest->tile[dim] == 1)
      continue;
    out_chain->point_counter[dim] = out_chain->count;
    out_chain->dim[out_chain->count] = dim;
    out_chain->trips[out_chain->count++] = (uint32_t)nest->tile[dim];
  }

  for (uint32_t i = 0; i < group->op_count; ++i)
    if (group->ops[i].opcode == SAMBA_LANE_COUNTER) {
      uint32_t dim = (uint32_t)group->ops[i].immediate;
      if (out_chain->loop_counter[dim] != SAMBA_NO_INDEX)
        out_chain->kept[out_chain->loop_counter[dim]] = true;
      if (out_chain->point_counter[dim] != SAMBA_NO_INDEX)
        out_chain->kept[out_chain->point_counter[dim]] = true;
    }
}

/* Merges in-tile counter c into c + 1 where every port walks them as one; strides are rows of
 * `ports` entries per counter. */
static void mergeCounters(const SambaGroup *group, Chain *chain, int64_t *strides, uint32_t ports) {
  uint32_t used = chain->token_level;
  uint32_t renumber[2 * SAMBA_MAX_STAGE_DIMS];

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

/* The index along a dimension: first + loop counter * tile + point counter, as the op's type
 * (exact: below 2^24 for f32). */
static uint16_t emitIndex(Program *program, const Chain *chain, const SambaTileNest *nest,
                          uint32_t dim, uint32_t copy, uint8_t type) {
  int64_t first = copy * nest->copy_step[dim];
  uint32_t loop = chain->loop_counter[dim];
  uint32_t point = chain->point_counter[dim];
  uint32_t sum = SAMBA_NO_INDEX;

  if (loop != SAMBA_NO_INDEX) {
    sum = emit(program, SAMBA_LANE_COUNTER, type, 0, 0, loop);
    if (nest->loop_step[dim] > 1)
      sum = emit(program, SAMBA_LANE_MUL, type, (uint16_t)sum,
                 emitNumber(program, type, nest->loop_step[dim]), 0);
  }

  if (point != SAMBA_NO_INDEX)
    sum = addTerm(program, type, sum, emit(program, SAMBA_LANE_COUNTER, type, 0, 0, point));
  if (first || sum == SAMBA_NO_INDEX)
    sum = addTerm(program, type, sum, emitNumber(program, type, first));
  return (uint16_t)sum;
}

/* The group's program with operands numbered as ports; returns the result's value. Sums that go
 * through a PMU start at the last port, and out_sums is their value. */
static uint32_t makeProgram(SambaArena *arena, const SambaTileNest *nest, const Chain *chain,
                            const SambaCopyRange *copy, const uint32_t *port_of, uint32_t ports,
                            SambaProgram *out_program, uint32_t *out_sums) {
  const SambaGroup *group = nest->group;
  uint32_t counters = 0;

  for (uint32_t i = 0; i < group->op_count; ++i)
    counters += group->ops[i].opcode == SAMBA_LANE_COUNTER;
  Program program = {SAMBA_ARENA_ARRAY(arena, SambaLaneOp, group->op_count + 6 * counters), ports,
                     0};
  uint16_t *value_of =
      sambaAllocateZeroed(group->operand_count + group->op_count, sizeof *value_of);
  for (uint32_t i = 0; i < group->operand_count; ++i)
    value_of[i] = (uint16_t)port_of[i];

  for (uint32_t i = 0; i < group->op_count; ++i) {
    SambaLaneOp op = group->ops[i];
    uint16_t *value = &value_of[group->operand_count + i];
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

  uint32_t result = value_of[group->result];
  free(value_of);
  *out_program = (SambaProgram){.systolic = group->systolic,
                                .lane_reduce = group->lane_reduce,
                                .op_count = program.op_count,
                                .ops = program.ops};
  return result;
}

/* The layout of the tokens that leave. */
static void makeOutputLayout(const SambaTileNest *nest, TokenLayout *out_layout) {
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t dim_count = sambaOutputDims(nest, dims);
  memset(out_layout, 0, sizeof *out_layout);
  out_layout->elements = 1;

  while (dim_count-- > 0) {
    out_layout->stride[dims[dim_count]] = (int64_t)out_layout->elements;
    out_layout->elements *= (uint64_t)nest->tile[dims[dim_count]];
  }
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

/* The ports of sums that go through a PMU: where they start, and where they go. */
static void setSumPorts(const SambaTileNest *nest, uint32_t sums, SambaUnit *unit) {
  SambaPort *start = &unit->inputs[unit->input_count - 1];
  SambaPort *next = &unit->outputs[1];
  start->dtype = next->dtype = SAMBA_DTYPE_F32;
  start->compute.level = next->compute.level = countLoops(nest, nest->group->dim_count);
  *next = (SambaPort){.dtype = next->dtype,
                      .token_elements = unit->outputs[0].token_elements,
                      .compute = unit->outputs[0].compute};
  next->compute.value = sums;
}

uint32_t sambaCodegenCompute(SambaAssembly *assembly, const SambaTileNest *nest, const char *name,
                             const char *layer, const SambaCopyRange *copy) {
  const SambaGroup *group = nest->group;
  SambaArena *arena = assembly->arena;
  uint32_t ports = 0, port_of[SAMBA_MAX_GROUP_OPERANDS];
  bool carries = sambaTileNestCarriesSums(nest);

  for (uint32_t i = 0; i < group->operand_count; ++i)
    port_of[i] = group->operands[i].value ? ports++ : 0;
  Chain chain;
  makeChain(nest, &chain);

  /* Strides of all ports, the output last, a row per counter. What sums start at is laid out like
   * the output. */
  TokenLayout layouts[SAMBA_MAX_GROUP_OPERANDS + 2];
  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (group->operands[i].value)
      makeTokenLayout(nest, i, &layouts[port_of[i]]);
  if (carries)
    makeOutputLayout(nest, &layouts[ports++]);
  makeOutputLayout(nest, &layouts[ports]);
  int64_t *strides = sambaAllocateZeroed((size_t)(chain.count + 1) * (ports + 1), sizeof *strides);
  for (uint32_t c = chain.token_level; c < chain.count; ++c)
    for (uint32_t p = 0; p <= ports; ++p)
      strides[c * (ports + 1) + p] = layouts[p].stride[chain.dim[c]];
  mergeCounters(group, &chain, strides, ports + 1);

  uint32_t index =
      sambaAssemblyAddUnit(assembly, SAMBA_UNIT_COMPUTE, name, layer, ports, 1 + carries);
  SambaUnit *unit = sambaAssemblyUnit(assembly, index);

  unit->compute.counter_count = chain.count;
  unit->compute.token_level = chain.token_level;
  unit->compute.trips = sambaArenaCopy(arena, chain.trips, chain.count * sizeof *chain.trips);
  uint32_t sums = 0;
  uint32_t result =
      makeProgram(arena, nest, &chain, copy, port_of, ports, &unit->compute.program, &sums);
  unit->compute.program.reduce_mask |= reduceMask(group, &chain, carries ? chain.token_level : 0);

  for (uint32_t p = 0; p <= ports; ++p) {
    SambaPort *port = p < ports ? &unit->inputs[p] : &unit->outputs[0];
    int64_t *own = SAMBA_ARENA_ARRAY(arena, int64_t, chain.count);
    for (uint32_t c = 0; c < chain.count; ++c)
      own[c] = strides[c * (ports + 1) + p];
    port->compute.strides = own;
    port->compute.offset = layouts[p].offset;
    port->token_elements = layouts[p].elements;
  }

  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (group->operands[i].value) {
      unit->inputs[port_of[i]].dtype = sambaTileNestDType(nest, i);
      unit->inputs[port_of[i]].compute.level = countLoops(nest, sambaTileNestTokenLevel(nest, i));
    }
  unit->outputs[0].dtype = nest->graph->tensors[group->output.tensor].dtype;
  unit->outputs[0].compute.level = countLoops(nest, sambaTileNestOutputLevel(nest));
  unit->outputs[0].compute.value = result;
  if (carries)
    setSumPorts(nest, sums, unit);
  free(strides);

  return index;
}
