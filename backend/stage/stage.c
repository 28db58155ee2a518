/* Stage graphs: appending to them, and the check of everything stage.h promises. Planner and
 * codegen rely on the check; the operator table and the linalg reader are what it catches. */
#include "backend/stage/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(SambaArena *arena, void *data, uint32_t used, uint32_t capacity, size_t size) {
  void *larger = sambaArenaAllocate(arena, sambaArraySize(capacity, size));
  if (used)
    memcpy(larger, data, (size_t)used * size);
  return larger;
}

uint32_t sambaStageGraphAddTensor(SambaStageGraph *graph, const SambaStageTensor *tensor) {
  if (graph->tensor_count == graph->tensor_capacity) {
    graph->tensor_capacity = graph->tensor_capacity ? 2 * graph->tensor_capacity : 16;
    graph->tensors = grow(graph->arena, graph->tensors, graph->tensor_count, graph->tensor_capacity,
                          sizeof *graph->tensors);
  }
  graph->tensors[graph->tensor_count] = *tensor;
  graph->tensors[graph->tensor_count].alias_of = SAMBA_NO_INDEX;
  return graph->tensor_count++;
}

bool sambaAxesMatch(const int64_t *dims, uint32_t rank, const int64_t *other, uint32_t other_rank,
                    uint32_t *out_axis_of) {
  uint32_t next = 0;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    out_axis_of[axis] = SAMBA_NO_INDEX;
    if (dims[axis] == 1)
      continue;
    while (next < other_rank && other[next] == 1)
      ++next;
    if (next == other_rank || other[next] != dims[axis])
      return false;
    out_axis_of[axis] = next++;
  }
  while (next < other_rank && other[next] == 1)
    ++next;
  return next == other_rank;
}

uint32_t sambaStageGraphAddStage(SambaStageGraph *graph, const SambaStage *stage) {
  if (graph->stage_count == graph->stage_capacity || !graph->mappings) {
    if (graph->stage_count == graph->stage_capacity) /* a stage is large, most graphs have one */
      graph->stage_capacity = graph->stage_capacity ? 2 * graph->stage_capacity : 1;
    SambaArena *arena = graph->tables ? graph->tables : graph->arena;
    graph->stages = grow(arena, graph->stages, graph->stage_count, graph->stage_capacity,
                         sizeof *graph->stages);
    graph->mappings = grow(arena, graph->mappings, graph->mappings ? graph->stage_count : 0,
                           graph->stage_capacity, sizeof *graph->mappings);
  }
  graph->stages[graph->stage_count] = *stage;
  memset(&graph->mappings[graph->stage_count], 0, sizeof *graph->mappings);
  return graph->stage_count++;
}

static SambaStatus checkTensor(const SambaStageGraph *graph, uint32_t index) {
  const SambaStageTensor *tensor = &graph->tensors[index];
  if ((unsigned)tensor->role > SAMBA_TENSOR_INTERMEDIATE)
    return sambaStatusMake(SAMBA_INVALID, "tensor %u has the unknown role %d", index,
                           (int)tensor->role);
  if ((unsigned)tensor->dtype >= SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_INVALID, "tensor %u has the unknown dtype %d", index,
                           (int)tensor->dtype);
  if (tensor->rank > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_INVALID, "tensor %u has rank %u, but at most %d axes are possible",
                           index, tensor->rank, SAMBA_MAX_RANK);
  int64_t elements = 1;

  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    if (tensor->dims[axis] < 1 || sambaMulOverflows(elements, tensor->dims[axis], &elements) ||
        elements >= (int64_t)1 << 48)
      return sambaStatusMake(
          SAMBA_INVALID,
          "tensor %u: axis %u has %lld elements; axes need 1 or more, tensors less than 2^48",
          index, axis, (long long)tensor->dims[axis]);
  return NULL;
}

/* The range of an axis map over the stage's whole box; false on overflow. */
static bool axisRange(const SambaStage *stage, const SambaAxisMap *map, int64_t *out_low,
                      int64_t *out_high) {
  int64_t low = map->constant;
  int64_t high = map->constant;
  for (uint32_t dim = 0; dim < stage->dim_count; ++dim) {
    int64_t span;
    if (sambaMulOverflows(map->coefficients[dim], stage->extents[dim] - 1, &span))
      return false;
    if (sambaAddOverflows(span < 0 ? low : high, span, span < 0 ? &low : &high))
      return false;
  }
  *out_low = low;
  *out_high = high;
  return true;
}

/* what: "operand 2" or "output". */
static SambaStatus checkMap(const SambaStageGraph *graph, const SambaStage *stage,
                            const SambaStageOperand *operand, const char *what) {
  if (operand->tensor >= graph->tensor_count)
    return sambaStatusMake(SAMBA_INVALID, "%s names tensor %u, but the graph has %u", what,
                           operand->tensor, graph->tensor_count);
  const SambaStageTensor *tensor = &graph->tensors[operand->tensor];

  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    for (uint32_t dim = stage->dim_count; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
      if (operand->axes[axis].coefficients[dim])
        return sambaStatusMake(SAMBA_INVALID, "%s axis %u uses dimension %u, but the stage has %u",
                               what, axis, dim, stage->dim_count);
    int64_t low, high;
    if (!axisRange(stage, &operand->axes[axis], &low, &high))
      return sambaStatusMake(SAMBA_INVALID, "%s axis %u: the map overflows", what, axis);
    if (!operand->guarded && (low < 0 || high >= tensor->dims[axis]))
      return sambaStatusMake(SAMBA_INVALID,
                             "%s axis %u runs over [%lld, %lld], but the tensor has %lld; only a "
                             "guarded map may leave it",
                             what, axis, (long long)low, (long long)high,
                             (long long)tensor->dims[axis]);
  }

  return NULL;
}

static SambaStatus checkProgram(const SambaStage *stage) {
  uint32_t values = stage->operand_count + stage->op_count;
  uint32_t reductions = 0;

  for (uint32_t index = 0; index < stage->op_count; ++index) {
    const SambaLaneOp *op = &stage->ops[index];
    int operands = sambaLaneOpOperands(op->opcode);
    if (operands < 0)
      return sambaStatusMake(SAMBA_INVALID, "operation %u has the undefined opcode %u", index,
                             op->opcode);
    for (int i = 0; i < operands; ++i)
      if (op->operands[i] >= stage->operand_count + index)
        return sambaStatusMake(SAMBA_INVALID,
                               "operation %u (%s) uses value %u, which is not made before it",
                               index, sambaLaneOpName(op->opcode), op->operands[i]);
    if (op->opcode == SAMBA_LANE_COUNTER && op->immediate >= stage->dim_count)
      return sambaStatusMake(SAMBA_INVALID,
                             "operation %u (counter) names dimension %llu, but the stage has %u",
                             index, (unsigned long long)op->immediate, stage->dim_count);
    if (sambaLaneOpClass(op->opcode) == 'R' && ++reductions > 1)
      return sambaStatusMake(SAMBA_INVALID,
                             "operation %u (%s) is a second reduction; a stage has at most one",
                             index, sambaLaneOpName(op->opcode));
    if (sambaLaneOpClass(op->opcode) == 'R' && stage->result != stage->operand_count + index)
      return sambaStatusMake(SAMBA_INVALID,
                             "operation %u (%s) is a reduction, so it must be the stage's result",
                             index, sambaLaneOpName(op->opcode));
  }

  if (stage->result >= values)
    return sambaStatusMake(SAMBA_INVALID, "the result is value %u, but the program has %u",
                           stage->result, values);
  bool reduced = stage->dim_count && stage->reduced[stage->dim_count - 1];
  if (reduced && !reductions)
    return sambaStatusMake(SAMBA_INVALID,
                           "dimensions are reduced, but the program has no reduction");
  return NULL;
}

/* The dimension steps an axis of the operand. */
static bool isWrittenBy(const SambaStageOperand *operand, uint32_t rank, uint32_t dim) {
  for (uint32_t axis = 0; axis < rank; ++axis)
    if (operand->axes[axis].coefficients[dim])
      return true;
  return false;
}

/* A scatter: operand 0 goes as it is to the places that another operand gives. */
static SambaStatus checkScatter(const SambaStageGraph *graph, const SambaStage *stage) {
  uint32_t of = stage->output.index_operand;
  uint32_t axis = stage->output.index_axis;
  const SambaStageTensor *target = &graph->tensors[stage->output.tensor];

  if (of >= stage->operand_count || axis >= target->rank)
    return sambaStatusMake(SAMBA_INVALID,
                           "the output takes its index along axis %u from operand %u of %u", axis,
                           of, stage->operand_count);
  const SambaStageOperand *index = &stage->operands[of];
  if (sambaDTypeIsFloat(graph->tensors[index->tensor].dtype))
    return sambaStatusMake(
        SAMBA_INVALID,
        "the output takes its index from operand %u, which is %s; indices are integers", of,
        sambaDTypeName(graph->tensors[index->tensor].dtype));
  uint32_t steps = 0; /* of the index: of several dimensions the tiles would mix the order */
  for (uint32_t dim = 0; dim < stage->dim_count; ++dim)
    steps += isWrittenBy(index, graph->tensors[index->tensor].rank, dim);
  if (steps > 1 || stage->op_count || stage->result ||
      graph->tensors[stage->operands[0].tensor].dtype != target->dtype ||
      stage->operands[0].index_operand != SAMBA_NO_INDEX || stage->output.guarded || index->guarded)
    return sambaStatusMake(SAMBA_INVALID,
                           "the output is indexed by operand %u, so the stage must copy operand 0, "
                           "and the index step with one dimension",
                           of);
  return NULL;
}

/* The loop nest itself: how many dimensions, how long, reduced ones last. */
static SambaStatus checkExtents(const SambaStage *stage) {
  if (stage->dim_count > SAMBA_MAX_STAGE_DIMS || stage->operand_count > SAMBA_MAX_STAGE_OPERANDS)
    return sambaStatusMake(
        SAMBA_INVALID, "%u dimensions and %u operands; at most %d and %d are possible",
        stage->dim_count, stage->operand_count, SAMBA_MAX_STAGE_DIMS, SAMBA_MAX_STAGE_OPERANDS);
  int64_t points = 1;

  for (uint32_t dim = 0; dim < stage->dim_count; ++dim) {
    if (stage->extents[dim] < 1 || sambaMulOverflows(points, stage->extents[dim], &points) ||
        points >= (int64_t)1 << 48)
      return sambaStatusMake(
          SAMBA_INVALID,
          "dimension %u has extent %lld; extents need 1 or more, stages less than 2^48 points", dim,
          (long long)stage->extents[dim]);
    if (dim && stage->reduced[dim - 1] && !stage->reduced[dim])
      return sambaStatusMake(
          SAMBA_INVALID,
          "dimension %u is parallel after a reduced one; reduced dimensions come last", dim);
  }

  return NULL;
}

static SambaStatus checkOperand(const SambaStageGraph *graph, const SambaStage *stage,
                                uint32_t index) {
  const SambaStageOperand *operand = &stage->operands[index];
  uint32_t of = operand->index_operand;
  char what[32];
  snprintf(what, sizeof what, "operand %u", index);
  SAMBA_RETURN_IF_ERROR(checkMap(graph, stage, operand, what));

  if (of == SAMBA_NO_INDEX)
    return NULL;
  if (of >= stage->operand_count || of == index)
    return sambaStatusMake(SAMBA_INVALID, "operand %u takes its index from operand %u of %u", index,
                           of, stage->operand_count);
  SambaDType dtype = graph->tensors[stage->operands[of].tensor].dtype;
  if (sambaDTypeIsFloat(dtype))
    return sambaStatusMake(
        SAMBA_INVALID,
        "operand %u takes its index from operand %u, which is %s; indices are integers", index, of,
        sambaDTypeName(dtype));
  if (operand->index_axis >= graph->tensors[operand->tensor].rank)
    return sambaStatusMake(SAMBA_INVALID,
                           "operand %u is indexed along axis %u, but its tensor has rank %u", index,
                           operand->index_axis, graph->tensors[operand->tensor].rank);
  return NULL;
}

/* Each parallel dimension steps the output, no reduced one does. */
static SambaStatus checkOutputDims(const SambaStageGraph *graph, const SambaStage *stage) {
  uint32_t rank = graph->tensors[stage->output.tensor].rank;
  for (uint32_t axis = 0; axis < rank; ++axis)
    for (uint32_t dim = 0; dim < stage->dim_count; ++dim)
      if (stage->reduced[dim] && stage->output.axes[axis].coefficients[dim])
        return sambaStatusMake(SAMBA_INVALID, "output axis %u depends on the reduced dimension %u",
                               axis, dim);

  for (uint32_t dim = 0; dim < stage->dim_count; ++dim) {
    bool written = stage->reduced[dim] || stage->extents[dim] == 1;
    written |= isWrittenBy(&stage->output, rank, dim);
    if (sambaStageScatters(stage)) {
      const SambaStageOperand *index = &stage->operands[stage->output.index_operand];
      written |= isWrittenBy(index, graph->tensors[index->tensor].rank, dim);
    }

    if (!written)
      return sambaStatusMake(
          SAMBA_INVALID, "dimension %u is parallel, but no axis of the output depends on it", dim);
  }

  return NULL;
}

static SambaStatus checkStage(const SambaStageGraph *graph, const SambaStage *stage) {
  SAMBA_RETURN_IF_ERROR(checkExtents(stage));
  for (uint32_t index = 0; index < stage->operand_count; ++index)
    SAMBA_RETURN_IF_ERROR(checkOperand(graph, stage, index));
  SAMBA_RETURN_IF_ERROR(checkMap(graph, stage, &stage->output, "output"));
  if (sambaStageScatters(stage))
    SAMBA_RETURN_IF_ERROR(checkScatter(graph, stage));
  SAMBA_RETURN_IF_ERROR(checkOutputDims(graph, stage));
  return checkProgram(stage);
}

static bool aliasIsWritten(const SambaStageGraph *graph, uint32_t tensor, const bool *written) {
  uint32_t of = graph->tensors[tensor].alias_of;
  return of != SAMBA_NO_INDEX && written[of];
}

/* Elements that the stage writes; of a scatter, whose places nobody knows, as many as there are. */
static double elementsWritten(const SambaStageGraph *graph, const SambaStage *stage) {
  const SambaStageTensor *tensor = &graph->tensors[stage->output.tensor];
  double elements = 1;
  if (sambaStageScatters(stage)) {
    for (uint32_t axis = 0; axis < tensor->rank; ++axis)
      elements *= (double)tensor->dims[axis];
    return elements;
  }
  for (uint32_t dim = 0; dim < stage->dim_count; ++dim)
    elements *= stage->reduced[dim] ? 1 : (double)stage->extents[dim];
  return elements;
}

/* A result of which a part lies in memory already has no other reader here: on chip there is only
 * what is written. `missing`: elements of each tensor that no stage has written. */
static SambaStatus checkWhole(const SambaStageGraph *graph, const double *missing) {
  for (uint32_t index = 0; index < graph->stage_count; ++index)
    for (uint32_t i = 0; i < graph->stages[index].operand_count; ++i) {
      uint32_t tensor = graph->stages[index].operands[i].tensor;
      if (graph->tensors[tensor].role == SAMBA_TENSOR_RESULT && missing[tensor] > 0)
        return sambaStatusMake(SAMBA_INVALID,
                               "stage %u (%s) operand %u reads tensor %u, of which the section "
                               "writes a part only; cut the section there",
                               index, graph->stages[index].name, i, tensor);
    }
  return NULL;
}

/* Each tensor's role against who reads and writes it, in stage order. */
static SambaStatus checkOrder(const SambaStageGraph *graph) {
  bool *written = sambaAllocateZeroed(graph->tensor_count, sizeof *written);
  double *missing = sambaAllocateZeroed(graph->tensor_count, sizeof *missing);
  SambaStatus status = NULL;
  for (uint32_t tensor = 0; tensor < graph->tensor_count; ++tensor) {
    missing[tensor] = 1;
    for (uint32_t axis = 0; axis < graph->tensors[tensor].rank; ++axis)
      missing[tensor] *= (double)graph->tensors[tensor].dims[axis];
  }

  for (uint32_t index = 0; index < graph->stage_count && !status; ++index) {
    const SambaStage *stage = &graph->stages[index];
    for (uint32_t i = 0; i < stage->operand_count && !status; ++i) {
      uint32_t tensor = stage->operands[i].tensor;
      if (graph->tensors[tensor].role != SAMBA_TENSOR_ARGUMENT && !written[tensor])
        status = sambaStatusMake(
            SAMBA_INVALID, "stage %u (%s) operand %u reads tensor %u before a stage has written it",
            index, stage->name, i, tensor);
    }
    if (!status && graph->tensors[stage->output.tensor].role == SAMBA_TENSOR_ARGUMENT)
      status =
          sambaStatusMake(SAMBA_INVALID, "stage %u (%s) writes tensor %u, which is an argument",
                          index, stage->name, stage->output.tensor);
    else
      written[stage->output.tensor] = true;
    missing[stage->output.tensor] -= elementsWritten(graph, stage);
  }

  for (uint32_t tensor = 0; tensor < graph->tensor_count && !status; ++tensor)
    if (graph->tensors[tensor].role == SAMBA_TENSOR_RESULT && !written[tensor] &&
        !aliasIsWritten(graph, tensor, written))
      status =
          sambaStatusMake(SAMBA_INVALID, "tensor %u is a result, but no stage writes it", tensor);
  if (!status)
    status = checkWhole(graph, missing);
  free(written);
  free(missing);

  return status;
}

static void markTensor(const SambaStageGraph *graph, uint32_t tensor, bool *tensors) {
  tensors[tensor] = true;
  if (graph->tensors[tensor].alias_of != SAMBA_NO_INDEX)
    tensors[graph->tensors[tensor].alias_of] = true;
}

void sambaStageGraphMarkUsed(const SambaStageGraph *graph, bool *tensors, bool *out_stages) {
  for (uint32_t tensor = 0; tensor < graph->tensor_count; ++tensor)
    if (tensors[tensor])
      markTensor(graph, tensor, tensors);
  for (uint32_t index = graph->stage_count; index-- > 0;) {
    const SambaStage *stage = &graph->stages[index];
    out_stages[index] = tensors[stage->output.tensor];
    for (uint32_t i = 0; out_stages[index] && i < stage->operand_count; ++i)
      markTensor(graph, stage->operands[i].tensor, tensors);
  }
}

SambaStatus sambaStageGraphCheck(const SambaStageGraph *graph) {
  for (uint32_t tensor = 0; tensor < graph->tensor_count; ++tensor)
    SAMBA_RETURN_IF_ERROR(checkTensor(graph, tensor));
  for (uint32_t stage = 0; stage < graph->stage_count; ++stage)
    SAMBA_RETURN_IF_ERROR(
        sambaStatusAnnotate(checkStage(graph, &graph->stages[stage]), "stage %u (%s)", stage,
                            graph->stages[stage].name ? graph->stages[stage].name : ""));
  return checkOrder(graph);
}
