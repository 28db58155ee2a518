/* Writing stages in a few calls; see stage_builder.h. */
#include "dialect/samba/table/core/stage_builder.h"

#include "dialect/samba/table/core/stage_pad.h"

SambaDType sambaAccumulatorDType(SambaDType dtype) { return sambaDTypeLaneClass(dtype); }

void sambaStageBegin(SambaStageBuilder *builder, SambaStageGraph *graph, const char *name,
                     const char *layer, uint32_t output) {
  builder->graph = graph;
  memset(&builder->stage, 0, sizeof builder->stage);
  builder->stage.name = name;
  builder->stage.layer = layer ? layer : "";
  builder->stage.output.tensor = output;
  builder->stage.output.index_operand = SAMBA_NO_INDEX;
}

uint32_t sambaStageDim(SambaStageBuilder *builder, int64_t extent, bool reduced) {
  uint32_t dim = builder->stage.dim_count++;
  builder->stage.extents[dim] = extent;
  builder->stage.reduced[dim] = reduced;
  return dim;
}

uint16_t sambaStageOperand(SambaStageBuilder *builder, uint32_t tensor) {
  uint32_t operand = builder->stage.operand_count++;
  builder->stage.operands[operand].tensor = tensor;
  builder->stage.operands[operand].index_operand = SAMBA_NO_INDEX;
  builder->types[operand] = (uint8_t)sambaDTypeLaneClass(builder->graph->tensors[tensor].dtype);
  return (uint16_t)operand;
}

void sambaStageGuard(SambaStageBuilder *builder, uint16_t operand, double value) {
  SambaStageOperand *target = &builder->stage.operands[operand];
  target->guarded = true;
  target->fill = sambaDTypeBitsOfNumber(builder->graph->tensors[target->tensor].dtype, value);
}

void sambaStageBeginElementwise(SambaStageBuilder *builder, SambaStageGraph *graph,
                                const char *name, const char *layer, uint32_t output) {
  sambaStageBegin(builder, graph, name, layer, output);
  const SambaStageTensor *tensor = &graph->tensors[output];
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    builder->stage.output.axes[axis]
        .coefficients[sambaStageDim(builder, tensor->dims[axis], false)] = 1;
}

uint16_t sambaStageBroadcastOperand(SambaStageBuilder *builder, uint32_t tensor) {
  uint16_t operand = sambaStageOperand(builder, tensor);
  const SambaStageTensor *type = &builder->graph->tensors[tensor];
  uint32_t shift = builder->stage.dim_count - type->rank;
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    if (type->dims[axis] == builder->stage.extents[axis + shift])
      sambaStageAxis(builder, operand, axis)->coefficients[axis + shift] = 1;
  return operand;
}

uint16_t sambaStageMappedOperand(SambaStageBuilder *builder, uint32_t tensor,
                                 const uint32_t *dims) {
  uint16_t operand = sambaStageOperand(builder, tensor);
  for (uint32_t axis = 0; axis < builder->graph->tensors[tensor].rank; ++axis)
    sambaStageAxis(builder, operand, axis)->coefficients[dims[axis]] = 1;
  return operand;
}

uint16_t sambaStageBeginReduction(SambaStageBuilder *builder, SambaStageGraph *graph,
                                  const char *name, const char *layer, uint32_t x,
                                  const bool *reduced, bool keepdim, uint32_t output,
                                  uint32_t *out_dims) {
  const SambaStageTensor *type = &graph->tensors[x];
  sambaStageBegin(builder, graph, name, layer, output);
  for (uint32_t axis = 0, written = 0; axis < type->rank; ++axis) {
    if (!reduced[axis])
      builder->stage.output.axes[written]
          .coefficients[out_dims[axis] = sambaStageDim(builder, type->dims[axis], false)] = 1;
    written += !reduced[axis] || keepdim;
  }
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    if (reduced[axis])
      out_dims[axis] = sambaStageDim(builder, type->dims[axis], true);
  return sambaStageMappedOperand(builder, x, out_dims);
}

/* The last axis of operand 0, what is reduced, is read by reduced dimensions only: its elements lie
 * across the lanes. */
static bool reducesLastAxis(const SambaStageBuilder *builder) {
  const SambaStage *stage = &builder->stage;
  const SambaStageOperand *input = &stage->operands[0];
  uint32_t rank = builder->graph->tensors[input->tensor].rank;
  bool any = false;
  for (uint32_t d = 0; rank && d < stage->dim_count; ++d) {
    if (!input->axes[rank - 1].coefficients[d])
      continue;
    if (!stage->reduced[d])
      return false;
    any = true;
  }
  return any;
}

void sambaStageEnd(SambaStageBuilder *builder, uint16_t result) {
  SambaStage *stage = &builder->stage;
  if (stage->op_count && result == stage->operand_count + stage->op_count - 1 &&
      sambaLaneOpClass(builder->ops[stage->op_count - 1].opcode) == 'R') {
    sambaStagePad(builder);
    result = (uint16_t)(stage->operand_count + stage->op_count - 1);
  }
  stage->result = result;
  stage->ops =
      sambaArenaCopy(builder->graph->arena, builder->ops, stage->op_count * sizeof *builder->ops);
  for (uint32_t i = 0; i < stage->op_count; ++i)
    if (sambaLaneOpClass(stage->ops[i].opcode) == 'R' && stage->ops[i].opcode != SAMBA_LANE_MAC)
      stage->lane_reduce = reducesLastAxis(builder);
  sambaStageGraphAddStage(builder->graph, stage);
}

void sambaStageEndRounded(SambaStageBuilder *builder, uint16_t result) {
  sambaStageEnd(
      builder,
      sambaLaneRound(builder, result, builder->graph->tensors[builder->stage.output.tensor].dtype));
}

uint32_t sambaStageIntermediate(SambaStageGraph *graph, SambaDType dtype, uint32_t rank,
                                const int64_t *dims) {
  SambaStageTensor tensor = {
      .name = "", .role = SAMBA_TENSOR_INTERMEDIATE, .dtype = dtype, .rank = rank};
  for (uint32_t axis = 0; axis < rank; ++axis) /* of rank 0: no dims */
    tensor.dims[axis] = dims[axis];
  return sambaStageGraphAddTensor(graph, &tensor);
}

uint32_t sambaStageIntermediateLike(SambaStageGraph *graph, uint32_t result, SambaDType dtype) {
  if (graph->tensors[result].dtype == dtype)
    return result;
  int64_t dims[SAMBA_MAX_RANK];
  memcpy(dims, graph->tensors[result].dims, sizeof dims);
  return sambaStageIntermediate(graph, dtype, graph->tensors[result].rank, dims);
}

void sambaStageConvert(SambaStageGraph *graph, const char *name, const char *layer, uint32_t from,
                       uint32_t to) {
  if (from == to)
    return;
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, name, layer, to);
  uint16_t x = sambaStageBroadcastOperand(&builder, from);
  sambaStageEndRounded(&builder, sambaLaneCast(&builder, x, graph->tensors[to].dtype));
}
