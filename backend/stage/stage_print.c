/* Printing stage graphs; see stage_print.h. */
#include "backend/stage/stage_print.h"

#include "support/number/shape.h"

static const char *const roleNames[] = {"argument", "result", "intermediate"};

static void printTensor(const SambaStageGraph *graph, uint32_t index, SambaText *text) {
  const SambaStageTensor *tensor = &graph->tensors[index];
  sambaTextFormat(text, "  tensor %u: %s [", index, roleNames[tensor->role]);
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    sambaTextFormat(text, axis ? ", %lld" : "%lld", (long long)tensor->dims[axis]);
  sambaTextFormat(text, "] %s", sambaDTypeName(tensor->dtype));
  if (tensor->alias_of != SAMBA_NO_INDEX)
    sambaTextFormat(text, ", the bytes of tensor %u", tensor->alias_of);
  if (tensor->name && tensor->name[0])
    sambaTextFormat(text, "  (%s)", tensor->name);
  sambaTextAppendC(text, "\n");
}

static void printAxis(const SambaStage *stage, const SambaAxisMap *axis, SambaText *text) {
  bool any = false;
  for (uint32_t dim = 0; dim < stage->dim_count; ++dim) {
    int64_t coefficient = axis->coefficients[dim];
    if (!coefficient)
      continue;
    if (coefficient != 1)
      sambaTextFormat(text, "%s%lld*d%u", any ? " + " : "", (long long)coefficient, dim);
    else
      sambaTextFormat(text, "%sd%u", any ? " + " : "", dim);
    any = true;
  }
  if (axis->constant || !any)
    sambaTextFormat(text, "%s%lld", any ? " + " : "", (long long)axis->constant);
}

static void printMap(const SambaStageGraph *graph, const SambaStage *stage,
                     const SambaStageOperand *map, bool indexed, SambaText *text) {
  sambaTextFormat(text, "tensor %u [", map->tensor);
  for (uint32_t axis = 0; axis < graph->tensors[map->tensor].rank; ++axis) {
    sambaTextAppendC(text, axis ? ", " : "");
    printAxis(stage, &map->axes[axis], text);
    if (indexed && map->index_axis == axis)
      sambaTextFormat(text, " + operand %d", (int)map->index_operand);
  }
  sambaTextAppendC(text, "]");
  if (map->guarded)
    sambaTextFormat(text, ", outside 0x%llx", (unsigned long long)map->fill);
  sambaTextAppendC(text, "\n");
}

static void printList(const char *name, uint32_t count, const int64_t *values, SambaText *text) {
  sambaTextFormat(text, " %s [", name);
  for (uint32_t i = 0; i < count; ++i)
    sambaTextFormat(text, i ? ", %lld" : "%lld", (long long)values[i]);
  sambaTextAppendC(text, "]");
}

static void printSmallList(const char *name, uint32_t count, const uint32_t *values,
                           SambaText *text) {
  int64_t wide[SAMBA_MAX_STAGE_DIMS];
  for (uint32_t i = 0; i < count; ++i)
    wide[i] = values[i];
  printList(name, count, wide, text);
}

static void printMapping(const SambaStage *stage, const SambaMapping *mapping, SambaText *text) {
  sambaTextFormat(text, "    mapping: group %u", mapping->group);
  printList("tile", mapping->dim_count, mapping->tile, text);
  printSmallList("unroll", mapping->dim_count, mapping->unroll, text);
  printSmallList("order", mapping->dim_count, mapping->order, text);
  printSmallList("level", stage->operand_count, mapping->operand_level, text);
  printSmallList("depth", stage->operand_count, mapping->operand_depth, text);
  uint32_t joined = 0;
  for (uint32_t i = 0; i < stage->operand_count; ++i)
    joined += mapping->operand_joined[i];
  if (joined)
    printSmallList("joined", stage->operand_count, mapping->operand_joined, text);
  if (mapping->pipeline_count)
    printSmallList("pipeline", mapping->pipeline_count, mapping->pipeline_dims, text);
  if (mapping->phases)
    sambaTextFormat(text, " phases %u", mapping->phases);
  sambaTextAppendC(text, "\n");
}

static void printProgram(const SambaStage *stage, SambaText *text) {
  for (uint32_t i = 0; i < stage->op_count; ++i) {
    const SambaLaneOp *op = &stage->ops[i];
    sambaTextFormat(text, "    value %u: %s %s", stage->operand_count + i,
                    sambaLaneOpName(op->opcode), sambaDTypeName((SambaDType)op->type));
    for (int k = 0; k < sambaLaneOpOperands(op->opcode); ++k)
      sambaTextFormat(text, " %u", op->operands[k]);
    if (op->immediate)
      sambaTextFormat(text, " 0x%llx", (unsigned long long)op->immediate);
    sambaTextAppendC(text, "\n");
  }
}

static void printStage(const SambaStageGraph *graph, uint32_t index, SambaText *text) {
  const SambaStage *stage = &graph->stages[index];
  const SambaMapping *mapping = &graph->mappings[index];
  sambaTextFormat(text, "  stage %u: %s [", index, stage->name ? stage->name : "");
  for (uint32_t dim = 0; dim < stage->dim_count; ++dim)
    sambaTextFormat(text, "%sd%u < %lld%s", dim ? ", " : "", dim, (long long)stage->extents[dim],
                    stage->reduced[dim] ? " reduced" : "");
  sambaTextFormat(text, "]%s", stage->lane_reduce ? " lane_reduce" : "");
  if (stage->layer && stage->layer[0])
    sambaTextFormat(text, "  (%s)", stage->layer);
  sambaTextAppendC(text, "\n");

  for (uint32_t i = 0; i < stage->operand_count; ++i) {
    sambaTextFormat(text, "    operand %u: ", i);
    printMap(graph, stage, &stage->operands[i], stage->operands[i].index_operand != SAMBA_NO_INDEX,
             text);
  }
  printProgram(stage, text);
  sambaTextFormat(text, "    output: value %u to ", stage->result);
  printMap(graph, stage, &stage->output, sambaStageScatters(stage), text);
  if (mapping->dim_count)
    printMapping(stage, mapping, text);
}

void sambaStageGraphPrint(const SambaStageGraph *graph, SambaText *text) {
  sambaTextFormat(text, "stages of section %s\n", graph->name ? graph->name : "");
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    printTensor(graph, t, text);
  for (uint32_t s = 0; s < graph->stage_count; ++s)
    printStage(graph, s, text);
}
