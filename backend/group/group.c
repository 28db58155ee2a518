/* Building groups: a chain of stages becomes one stage over the anchor's dimensions. */
#include "backend/group/group.h"

#include "backend/estimate/program_parts.h"

#include <stdlib.h>
#include <string.h>

typedef struct OperandMap { /* for each operand of a stage its group operand; SAMBA_NO_INDEX: the
                               result of an earlier stage of the group */
  uint32_t of[SAMBA_MAX_STAGE_OPERANDS];
} OperandMap;

static bool sameMap(const SambaStageOperand *a, const SambaStageOperand *b) {
  return a->tensor == b->tensor && a->guarded == b->guarded && a->fill == b->fill &&
         a->index_operand == b->index_operand && a->index_axis == b->index_axis &&
         memcmp(a->axes, b->axes, sizeof a->axes) == 0;
}

/* Adds the operands of a stage of the chain to the group, but those that the chain makes. */
static SambaStatus append(SambaGroup *group, const SambaChain *chain, uint32_t member,
                          OperandMap *out_operands) {
  const SambaStageGraph *graph = chain->graph;
  const bool behind = member && group->parallel_count < group->dim_count;
  const uint32_t *dims = chain->dims[member].of;
  uint32_t *operand_of = out_operands->of;
  uint32_t index = chain->stages[member];
  const SambaStage *stage = &graph->stages[index];

  for (uint32_t i = 0; i < stage->operand_count; ++i) {
    const SambaStageOperand *operand = &stage->operands[i];
    operand_of[i] = SAMBA_NO_INDEX;
    if (chain->member_of[operand->tensor] != SAMBA_NO_INDEX)
      continue;
    if (group->operand_count == SAMBA_MAX_GROUP_OPERANDS)
      return sambaStatusMake(SAMBA_EXHAUSTED,
                             "stage %u (%s) brings its group to more than %d operands", index,
                             stage->name, SAMBA_MAX_GROUP_OPERANDS);
    SambaGroupOperand added = {.map = *operand, .stage = index, .operand = i, .late = behind};
    memset(added.map.axes, 0, sizeof added.map.axes);
    for (uint32_t axis = 0; axis < graph->tensors[operand->tensor].rank; ++axis) {
      added.map.axes[axis].constant = operand->axes[axis].constant;
      for (uint32_t dim = 0; dim < stage->dim_count; ++dim)
        if (dims[dim] != SAMBA_NO_INDEX && stage->extents[dim] > 1) /* else its index is always 0 */
          added.map.axes[axis].coefficients[dims[dim]] += operand->axes[axis].coefficients[dim];
    }
    if (!operand->guarded)
      added.map.fill = 0;
    if (operand->index_operand == SAMBA_NO_INDEX)
      added.map.index_axis = 0, added.map.index_operand = SAMBA_NO_INDEX;
    for (uint32_t other = 0; other < group->operand_count && operand_of[i] == SAMBA_NO_INDEX;
         ++other)
      if (added.map.index_operand == SAMBA_NO_INDEX && group->operands[other].late == behind &&
          sameMap(&group->operands[other].map, &added.map))
        operand_of[i] = other;
    if (operand_of[i] == SAMBA_NO_INDEX) {
      operand_of[i] = group->operand_count;
      group->operands[group->operand_count++] = added;
    }
  }

  /* Index operands of this stage, now that all have their group numbers. */
  for (uint32_t i = 0; i < stage->operand_count; ++i)
    if (operand_of[i] != SAMBA_NO_INDEX && stage->operands[i].index_operand != SAMBA_NO_INDEX) {
      uint32_t of = operand_of[stage->operands[i].index_operand];
      group->operands[operand_of[i]].map.index_operand = of;
      group->operands[of].indexes = true;
    }
  return NULL;
}

static bool isNarrowInteger(SambaDType dtype) {
  return dtype == SAMBA_DTYPE_I8 || dtype == SAMBA_DTYPE_UI8 || dtype == SAMBA_DTYPE_I16;
}

/* What does not need the MAC's result is left to the tail, which takes operands of later stages
 * only: what the anchor's stage reads comes to the array. */
static bool leavesRestToTail(const SambaGroup *group, const SambaLaneOp *mac) {
  bool *reached = sambaAllocateZeroed(group->operand_count + group->op_count, sizeof *reached);
  bool all = true;
  for (uint32_t i = 0; i < group->op_count && all; ++i) {
    const SambaLaneOp *op = &group->ops[i];
    bool *own = &reached[group->operand_count + i], early = false;
    *own = op == mac;
    for (int j = 0; j < sambaLaneOpOperands(op->opcode); ++j) {
      *own |= reached[op->operands[j]];
      early |= op->operands[j] < group->operand_count && !group->operands[op->operands[j]].late;
    }
    all = *own || !early;
  }
  free(reached);
  return all;
}

/* Decides whether the group's MAC runs on the array; see SambaGroup.systolic. */
static void classifyContraction(const SambaStageGraph *graph, const SambaMachine *machine,
                                SambaGroup *group) {
  const SambaLaneOp *mac = NULL;
  for (uint32_t i = 0; i < group->op_count; ++i)
    if (group->ops[i].opcode == SAMBA_LANE_MAC)
      mac = &group->ops[i];
  if (!mac || mac->type != SAMBA_DTYPE_F32 || group->lane_reduce ||
      mac->operands[0] == mac->operands[1])
    return;
  if (!leavesRestToTail(group, mac))
    return;
  int64_t rows = 1, columns = 1;
  bool wide = false;

  for (uint32_t side = 0; side < 2; ++side) {
    if (mac->operands[side] >= group->operand_count)
      return;
    SambaDType dtype = graph->tensors[group->operands[mac->operands[side]].map.tensor].dtype;
    if (!sambaDTypeIsFloat(dtype))
      return;
    wide |= sambaDTypeBytes(dtype) > 2;
  }

  /* A MAC operand that the rest of the program reads too would have to pass the array. */
  for (uint32_t i = 0; i < group->op_count; ++i)
    for (int j = 0; j < sambaLaneOpOperands(group->ops[i].opcode); ++j)
      if (&group->ops[i] != mac && (group->ops[i].operands[j] == mac->operands[0] ||
                                    group->ops[i].operands[j] == mac->operands[1]))
        return;

  for (uint32_t dim = 0; dim < group->parallel_count; ++dim) {
    bool a = sambaGroupDepends(group, mac->operands[0], dim),
         b = sambaGroupDepends(group, mac->operands[1], dim);
    if (!a && !b && group->extents[dim] > 1)
      return;
    rows *= a && !b ? group->extents[dim] : 1;
    columns *= b && !a ? group->extents[dim] : 1;
  }

  int64_t used_rows = rows < machine->systolic_rows ? rows : machine->systolic_rows;
  int64_t used_columns = columns < machine->systolic_columns ? columns : machine->systolic_columns;
  if (used_rows * used_columns <= machine->simd_lanes * (wide ? machine->systolic_f32_rate : 1))
    return; /* the SIMD lanes are as fast */
  group->systolic = true;
  group->mac[0] = mac->operands[0];
  group->mac[1] = mac->operands[1];
}

/* Whether an operation behind position `end` uses a value that is made before the last one in front
 * of it. */
static bool handsSeveral(const SambaOrderedProgram *program, uint32_t end) {
  for (uint32_t p = end; p < program->count; ++p) {
    const SambaLaneOp *op = &program->ops[program->order[p]];
    for (int i = 0; i < sambaLaneOpOperands(op->opcode); ++i)
      for (uint32_t made = 0; made + 1 < end; ++made)
        if (op->operands[i] == program->input_count + program->order[made])
          return true;
  }
  return false;
}

/* Cuts the program behind what the array's PCU does: its MAC and what of its tail follows on one
 * value. Returns the position of the cut. */
static uint32_t cutArray(const SambaOrderedProgram *program, const SambaMachine *machine,
                         SambaArena *arena, SambaGroup *group) {
  uint32_t end = sambaProgramPartEnd(program, machine, 0);
  while (handsSeveral(program, end))
    --end;
  if (end == program->count)
    return end;

  bool *on_array = SAMBA_ARENA_ARRAY(arena, bool, group->op_count);
  for (uint32_t p = 0; p < end; ++p)
    on_array[program->order[p]] = true;
  group->on_array = on_array;
  group->handed = group->operand_count + program->order[end - 1];
  return end;
}

/* Counts the PCUs of one copy, by the stages of its program. */
static void countPcus(const SambaMachine *machine, SambaArena *arena, SambaGroup *group) {
  group->handed = SAMBA_NO_INDEX;
  if (group->copy)
    return;
  SambaOrderedProgram program = {.ops = group->ops,
                                 .op_count = group->op_count,
                                 .input_count = group->operand_count,
                                 .systolic = group->systolic,
                                 .order = sambaAllocateZeroed(group->op_count, sizeof(uint32_t))};
  sambaProgramOrder(&program);
  if (group->systolic) {
    group->pcus = 1;
    for (uint32_t first = cutArray(&program, machine, arena, group); first < program.count;
         ++group->pcus)
      first = sambaProgramPartEnd(&program, machine, first);
  } else {
    group->pcus = sambaProgramParts(&program, machine);
  }
  free(program.order);
}

/* What decides how many points a PCU of the group works on at once. Its stages and its tail take
 * one pass: the program is split so. */
static SambaSimdFiring pointFiring(const SambaStageGraph *graph, const SambaGroup *group) {
  SambaSimdFiring firing = {.rows = 1, .innermost = 1};
  sambaSimdFiringProgram(&firing, group->ops, group->op_count);
  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (group->operands[i].value)
      sambaSimdFiringPort(&firing, graph->tensors[group->operands[i].map.tensor].dtype);
  sambaSimdFiringPort(&firing, graph->tensors[group->output.tensor].dtype);
  firing.stages = firing.transcendentals = 0;
  return firing;
}

static void findDependences(SambaGroup *group) {
  for (uint32_t i = 0; i < group->operand_count; ++i)
    for (uint32_t axis = 0; axis < SAMBA_MAX_RANK; ++axis)
      for (uint32_t dim = 0; dim < group->dim_count; ++dim)
        if (group->operands[i].map.axes[axis].coefficients[dim]) {
          group->operands[i].depends |= 1u << dim;
          group->operands[i].axes[dim] |= 1u << axis;
        }
  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (group->operands[i].map.index_operand != SAMBA_NO_INDEX)
      group->operands[i].depends |= group->operands[group->operands[i].map.index_operand].depends;
}

/* The programs of the stages, one after the other over the group's operands; the result of each is
 * an operand of later ones. */
static void joinPrograms(const SambaChain *chain, SambaArena *arena, const OperandMap *operand_of,
                         uint32_t op_capacity, SambaGroup *group) {
  const SambaStageGraph *graph = chain->graph;
  group->ops = SAMBA_ARENA_ARRAY(arena, SambaLaneOp, op_capacity);
  uint32_t *results = sambaAllocateZeroed(group->stage_count, sizeof *results);
  for (uint32_t i = 0; i < group->stage_count; ++i) {
    const SambaStage *stage = &graph->stages[group->stages[i]];
    uint32_t *values = sambaAllocateZeroed(stage->operand_count + stage->op_count, sizeof *values);
    for (uint32_t o = 0; o < stage->operand_count; ++o)
      values[o] = operand_of[i].of[o] == SAMBA_NO_INDEX
                      ? results[chain->member_of[stage->operands[o].tensor]]
                      : operand_of[i].of[o];
    for (uint32_t o = 0; o < stage->op_count; ++o) {
      SambaLaneOp op = stage->ops[o];
      for (int j = 0; j < sambaLaneOpOperands(op.opcode); ++j)
        op.operands[j] = (uint16_t)values[op.operands[j]];
      if (op.opcode == SAMBA_LANE_COUNTER) {
        uint32_t dim = chain->dims[i].of[op.immediate];
        if (dim == SAMBA_NO_INDEX)
          op.opcode = SAMBA_LANE_CONSTANT, op.immediate = 0;
        else
          op.immediate = dim;
      }
      values[stage->operand_count + o] = group->operand_count + group->op_count;
      group->ops[group->op_count++] = op;
    }

    uint32_t result = values[stage->result];
    free(values);

    /* What a narrow integer tensor between two stages would have done to the value. */
    SambaDType dtype = graph->tensors[stage->output.tensor].dtype;
    bool is_wrapped = result >= group->operand_count &&
                      group->ops[result - group->operand_count].opcode == SAMBA_LANE_WRAP;
    if (i + 1 < group->stage_count && isNarrowInteger(dtype) && !is_wrapped) {
      group->ops[group->op_count] = (SambaLaneOp){.opcode = SAMBA_LANE_WRAP,
                                                  .type = SAMBA_DTYPE_I32,
                                                  .operands = {(uint16_t)result},
                                                  .immediate = dtype};
      result = group->operand_count + group->op_count++;
    }
    results[i] = result;
  }

  group->result = results[group->stage_count - 1];
  free(results);
}

/* Which operands the joined program reads, and what its operations take of a PCU. */
static void countProgram(SambaGroup *group) {
  if (group->result < group->operand_count)
    group->operands[group->result].value = true;
  for (uint32_t i = 0; i < group->op_count; ++i) {
    const SambaLaneOp *op = &group->ops[i];
    for (int j = 0; j < sambaLaneOpOperands(op->opcode); ++j)
      if (op->operands[j] < group->operand_count)
        group->operands[op->operands[j]].value = true;
    char kind = sambaLaneOpClass(op->opcode);
    group->transcendentals += kind == 'T';
    group->stage_ops += kind == 'S' || kind == 'R';
    if (kind == 'R')
      group->sum_width += op->type == SAMBA_DTYPE_I64 ? 2 : 1;
    if (op->opcode == SAMBA_LANE_COUNTER)
      group->counted |= 1u << op->immediate;
  }
}

/* The output of the last stage over the group's dimensions. */
static void mapOutput(const SambaStageGraph *graph, const SambaDimMap *dims,
                      const OperandMap *operands, SambaGroup *group) {
  const SambaStage *last = &graph->stages[group->last];
  group->output = last->output;
  memset(group->output.axes, 0, sizeof group->output.axes);

  for (uint32_t axis = 0; axis < graph->tensors[last->output.tensor].rank; ++axis) {
    group->output.axes[axis].constant = last->output.axes[axis].constant;
    for (uint32_t dim = 0; dim < last->dim_count; ++dim)
      if (dims->of[dim] != SAMBA_NO_INDEX && last->extents[dim] > 1)
        group->output.axes[axis].coefficients[dims->of[dim]] +=
            last->output.axes[axis].coefficients[dim];
  }

  if (sambaStageScatters(last)) {
    group->output.index_operand = operands->of[last->output.index_operand];
    group->operands[group->output.index_operand].indexes = true;
  } else {
    group->output.index_operand = SAMBA_NO_INDEX;
  }
}

/* How the parallel dimensions lie in the result's memory. */
static void orderOutput(const SambaStageGraph *graph, SambaGroup *group) {
  const SambaStageTensor *tensor = &graph->tensors[group->output.tensor];
  int64_t key[SAMBA_MAX_STAGE_DIMS];
  uint32_t index = group->output.index_operand;
  if (index == SAMBA_NO_INDEX && group->copy)
    index = group->operands[group->result].map.index_operand;

  for (uint32_t dim = 0; dim < group->parallel_count; ++dim) {
    int64_t stride = 1, own = 0;
    for (uint32_t axis = tensor->rank; axis-- > 0; stride *= tensor->dims[axis])
      own += group->output.axes[axis].coefficients[dim] * stride;
    group->output_stride[dim] = key[dim] = own < 0 ? -own : own;
    if (index != SAMBA_NO_INDEX && sambaGroupDepends(group, index, dim))
      key[dim] += (int64_t)1 << 56;
    uint32_t at = dim;
    for (; at && key[group->output_order[at - 1]] < key[dim]; --at)
      group->output_order[at] = group->output_order[at - 1];
    group->output_order[at] = dim;
  }
}

/* Fuses the stages of the chain into one group. */
static SambaStatus fuse(const SambaChain *chain, const SambaMachine *machine, SambaArena *arena,
                        SambaGroup *group) {
  const SambaStageGraph *graph = chain->graph;
  uint32_t count = chain->length;
  const SambaStage *anchor = &graph->stages[chain->stages[0]];
  group->anchor = chain->stages[0];
  group->last = chain->stages[count - 1];
  group->stage_count = count;
  group->stages = sambaArenaCopy(arena, chain->stages, count * sizeof *chain->stages);
  group->stage_dims = sambaArenaCopy(arena, chain->dims, count * sizeof *chain->dims);
  group->dim_count = anchor->dim_count;
  memcpy(group->extents, anchor->extents, sizeof group->extents);
  memcpy(group->reduced, anchor->reduced, sizeof group->reduced);
  while (group->parallel_count < group->dim_count && !group->reduced[group->parallel_count])
    ++group->parallel_count;
  group->lane_reduce = anchor->lane_reduce;
  uint32_t op_capacity = 0;

  OperandMap *operand_of = SAMBA_ARENA_ARRAY(arena, OperandMap, count);
  for (uint32_t i = 0; i < count; ++i) {
    SAMBA_RETURN_IF_ERROR(append(group, chain, i, &operand_of[i]));
    op_capacity += graph->stages[chain->stages[i]].op_count + 1;
  }

  joinPrograms(chain, arena, operand_of, op_capacity, group);
  countProgram(group);
  mapOutput(graph, &chain->dims[count - 1], &operand_of[count - 1], group);
  group->copy =
      group->op_count == 0 && graph->tensors[group->operands[group->result].map.tensor].dtype ==
                                  graph->tensors[group->output.tensor].dtype;
  findDependences(group);
  orderOutput(graph, group);
  classifyContraction(graph, machine, group);
  group->simd = pointFiring(graph, group);
  countPcus(machine, arena, group);

  return NULL;
}

/* Producers first. */
static void orderGroups(SambaGroups *groups) {
  /* What a group reads was written by the last stage of another before this group's last: in this
   * order producers come first. */
  for (uint32_t i = 1; i < groups->count; ++i) {
    SambaGroup *group = groups->groups[i];
    uint32_t at = i;
    for (; at && groups->groups[at - 1]->last > group->last; --at)
      groups->groups[at] = groups->groups[at - 1];
    groups->groups[at] = group;
  }
}

static SambaStatus checkMapped(const SambaStageGraph *graph, const SambaGroups *groups) {
  uint32_t count = graph->stage_count;
  /* Stages that a mapping puts into one group must have become one. */
  for (uint32_t s = 0; s < count; ++s)
    for (uint32_t other = s + 1; other < count && graph->mappings[s].dim_count; ++other)
      if (graph->mappings[other].dim_count &&
          graph->mappings[other].group == graph->mappings[s].group &&
          groups->group_of_stage[s] != groups->group_of_stage[other])
        return sambaStatusMake(
            SAMBA_INVALID,
            "stages %u (%s) and %u (%s) are mapped to group %u, but are not elementwise stages "
            "behind one of them of which only the last's result is read elsewhere",
            s, graph->stages[s].name, other, graph->stages[other].name, graph->mappings[s].group);
  return NULL;
}

SambaStatus sambaGroupsBuild(const SambaStageGraph *graph, const SambaMachine *machine,
                             SambaArena *arena, SambaGroups *out_groups) {
  uint32_t count = graph->stage_count;
  out_groups->count = 0;
  out_groups->groups = SAMBA_ARENA_ARRAY(arena, SambaGroup *, count);
  out_groups->group_of_stage = SAMBA_ARENA_ARRAY(arena, uint32_t, count);
  bool *taken = SAMBA_ARENA_ARRAY(arena, bool, count);
  SambaChain chain = sambaChainCreate(graph, taken, arena);

  for (uint32_t s = 0; s < count; ++s) {
    if (taken[s])
      continue;
    sambaChainCollect(&chain, machine, s);
    SambaGroup *group = SAMBA_ARENA_NEW(arena, SambaGroup);
    SAMBA_RETURN_IF_ERROR(fuse(&chain, machine, arena, group));
    for (uint32_t i = 0; i < chain.length; ++i)
      taken[chain.stages[i]] = true;
    sambaChainClear(&chain);
    out_groups->groups[out_groups->count++] = group;
  }

  orderGroups(out_groups);
  for (uint32_t i = 0; i < out_groups->count; ++i)
    for (uint32_t s = 0; s < out_groups->groups[i]->stage_count; ++s)
      out_groups->group_of_stage[out_groups->groups[i]->stages[s]] = i;
  return checkMapped(graph, out_groups);
}

bool sambaGroupMayCarrySums(const SambaStageGraph *graph, const SambaGroup *group) {
  uint32_t values = 0;
  for (uint32_t i = 0; i < group->operand_count; ++i)
    values += group->operands[i].value;
  if (!group->systolic || group->pcus != 1 || values != 2 ||
      group->output.index_operand != SAMBA_NO_INDEX ||
      graph->tensors[group->output.tensor].role != SAMBA_TENSOR_RESULT)
    return false;

  for (uint32_t s = 0; s < graph->stage_count; ++s)
    for (uint32_t i = 0; i < graph->stages[s].operand_count; ++i)
      if (graph->stages[s].operands[i].tensor == group->output.tensor)
        return false;
  return true;
}
