/* Splitting axes of tensors and dimensions of stages; see split_axes.h. A split is followed from
 * the tensor to the stages that write it, to the dimensions with which they do, and to the tensors
 * that these walk; where one of them cannot be split, none is. */
#include "backend/stage/split_axes.h"

#include <stdlib.h>
#include <string.h>

enum { mostParts = 3 };

/* One split while it is followed. */
typedef struct Split {
  SambaStageGraph *graph;
  uint32_t parts;
  int64_t extents[mostParts], strides[mostParts]; /* of the parts, outermost first */
  uint32_t *axis_of;                              /* of each tensor, SAMBA_NO_INDEX: none */
  uint32_t *dim_of;                               /* of each stage, SAMBA_NO_INDEX: none */
} Split;

/* The dimension that walks an axis alone, from its first point to its last. */
static uint32_t walkerOf(const SambaStage *stage, const SambaStageTensor *tensor,
                         const SambaStageOperand *map, uint32_t axis) {
  uint32_t found = SAMBA_NO_INDEX;
  for (uint32_t dim = 0; dim < stage->dim_count; ++dim) {
    if (!map->axes[axis].coefficients[dim])
      continue;
    if (found != SAMBA_NO_INDEX || map->axes[axis].coefficients[dim] != 1)
      return SAMBA_NO_INDEX;
    found = dim;
  }
  bool whole = found != SAMBA_NO_INDEX && map->axes[axis].constant == 0 && !map->guarded &&
               stage->extents[found] == tensor->dims[axis];
  return whole ? found : SAMBA_NO_INDEX;
}

/* How a map walks an axis by several dimensions, each point once; false when it does not. */
static bool readParts(const SambaStage *stage, const SambaStageTensor *tensor,
                      const SambaStageOperand *map, uint32_t axis, Split *out_split) {
  int64_t stride = tensor->dims[axis];
  out_split->parts = 0;
  if (map->axes[axis].constant || map->guarded || map->index_operand != SAMBA_NO_INDEX)
    return false;

  while (stride > 1 && out_split->parts < mostParts) {
    uint32_t next = SAMBA_NO_INDEX; /* the dimension with the next smaller step */
    for (uint32_t dim = 0; dim < stage->dim_count; ++dim) {
      int64_t step = map->axes[axis].coefficients[dim];
      if (step > 0 && step < stride &&
          (next == SAMBA_NO_INDEX || step > map->axes[axis].coefficients[next]))
        next = dim;
    }
    if (next == SAMBA_NO_INDEX ||
        stage->extents[next] * map->axes[axis].coefficients[next] != stride)
      return false;
    stride = map->axes[axis].coefficients[next];
    out_split->extents[out_split->parts] = stage->extents[next];
    out_split->strides[out_split->parts++] = stride;
  }

  uint32_t used = 0;
  for (uint32_t dim = 0; dim < stage->dim_count; ++dim)
    used += map->axes[axis].coefficients[dim] != 0;
  return stride == 1 && used == out_split->parts && used > 1;
}

static bool hasTheseParts(const Split *split, const SambaStage *stage,
                          const SambaStageTensor *tensor, const SambaStageOperand *map,
                          uint32_t axis) {
  Split own;
  return readParts(stage, tensor, map, axis, &own) && own.parts == split->parts &&
         memcmp(own.extents, split->extents, own.parts * sizeof *own.extents) == 0;
}

static bool isUsed(const SambaStageGraph *graph, uint32_t tensor) {
  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    const SambaStage *stage = &graph->stages[s];
    for (uint32_t i = 0; i <= stage->operand_count; ++i)
      if ((i < stage->operand_count ? &stage->operands[i] : &stage->output)->tensor == tensor)
        return true;
  }
  return false;
}

/* Whether stages use the tensor, or what it is a shape of, in another shape. */
static bool hasShapes(const SambaStageGraph *graph, uint32_t tensor) {
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    if (graph->tensors[t].alias_of == tensor && isUsed(graph, t))
      return true;
  return graph->tensors[tensor].alias_of != SAMBA_NO_INDEX;
}

static bool followAxis(Split *split, uint32_t tensor, uint32_t axis);

static bool contracts(const SambaStage *stage) {
  for (uint32_t op = 0; op < stage->op_count; ++op)
    if (stage->ops[op].opcode == SAMBA_LANE_MAC)
      return true;
  return false;
}

/* Splits a dimension of a stage, and what it walks with it. One that is reduced stays in its place
 * and in its order; of sums that are no contractions, lanes share it whole. */
static bool followDim(Split *split, uint32_t s, uint32_t dim) {
  const SambaStageGraph *graph = split->graph;
  const SambaStage *stage = &graph->stages[s];
  if (split->dim_of[s] != SAMBA_NO_INDEX)
    return split->dim_of[s] == dim;
  if ((stage->reduced[dim] && !contracts(stage)) || sambaStageScatters(stage) ||
      stage->dim_count + split->parts - 1 > SAMBA_MAX_STAGE_DIMS)
    return false;
  for (uint32_t op = 0; op < stage->op_count; ++op)
    if (stage->ops[op].opcode == SAMBA_LANE_COUNTER)
      return false;
  split->dim_of[s] = dim;

  for (uint32_t i = 0; i <= stage->operand_count; ++i) {
    const SambaStageOperand *map = i < stage->operand_count ? &stage->operands[i] : &stage->output;
    const SambaStageTensor *tensor = &graph->tensors[map->tensor];
    for (uint32_t axis = 0; axis < tensor->rank; ++axis)
      if (tensor->role != SAMBA_TENSOR_ARGUMENT && map->axes[axis].coefficients[dim] &&
          !followAxis(split, map->tensor, axis))
        return false;
  }
  return true;
}

/* Splits the dimensions of stages that walk the axis alone. */
static bool followUsers(Split *split, uint32_t tensor, uint32_t axis) {
  const SambaStageGraph *graph = split->graph;
  const SambaStageTensor *own = &graph->tensors[tensor];
  if (own->rank + split->parts - 1 > SAMBA_MAX_RANK)
    return false;
  split->axis_of[tensor] = axis;

  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    const SambaStage *stage = &graph->stages[s];
    for (uint32_t i = 0; i <= stage->operand_count; ++i) {
      bool reads = i < stage->operand_count;
      const SambaStageOperand *map = reads ? &stage->operands[i] : &stage->output;
      if (map->tensor != tensor || (reads && hasTheseParts(split, stage, own, map, axis)))
        continue;
      uint32_t dim = walkerOf(stage, own, map, axis);
      if (dim == SAMBA_NO_INDEX || map->index_operand != SAMBA_NO_INDEX ||
          !followDim(split, s, dim))
        return false;
    }
  }
  return true;
}

/* Splits an axis of a tensor, and the dimensions that walk it alone. */
static bool followAxis(Split *split, uint32_t tensor, uint32_t axis) {
  const SambaStageGraph *graph = split->graph;
  if (split->axis_of[tensor] != SAMBA_NO_INDEX)
    return split->axis_of[tensor] == axis;
  return graph->tensors[tensor].role != SAMBA_TENSOR_ARGUMENT && !hasShapes(graph, tensor) &&
         followUsers(split, tensor, axis);
}

static void splitList(int64_t *list, uint32_t count, uint32_t at, const Split *split) {
  memmove(&list[at + split->parts], &list[at + 1], (count - at - 1) * sizeof *list);
  memcpy(&list[at], split->extents, split->parts * sizeof *list);
}

/* Steps of the axes along the dimension become steps along its parts. */
static void splitSteps(const Split *split, uint32_t dim_count, uint32_t dim, uint32_t rank,
                       SambaStageOperand *map) {
  for (uint32_t axis = 0; axis < rank; ++axis) {
    int64_t *steps = map->axes[axis].coefficients, step = steps[dim];
    memmove(&steps[dim + split->parts], &steps[dim + 1], (dim_count - dim - 1) * sizeof *steps);
    for (uint32_t part = 0; part < split->parts; ++part)
      steps[dim + part] = step * split->strides[part];
  }
}

/* An axis of the map becomes one for each part, which the dimension with that step walks. */
static void splitAxis(const Split *split, uint32_t rank, uint32_t axis, SambaStageOperand *map) {
  SambaAxisMap whole = map->axes[axis];
  memmove(&map->axes[axis + split->parts], &map->axes[axis + 1],
          (rank - axis - 1) * sizeof *map->axes);
  for (uint32_t part = 0; part < split->parts; ++part) {
    SambaAxisMap *own = &map->axes[axis + part];
    *own = (SambaAxisMap){0};
    for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
      own->coefficients[dim] = whole.coefficients[dim] == split->strides[part];
  }
}

/* The argument in the shape in which the parts of its axis are axes. */
static uint32_t reshaped(const Split *split, uint32_t argument, uint32_t axis) {
  SambaStageGraph *graph = split->graph;
  SambaStageTensor shape = graph->tensors[argument];
  uint32_t root = shape.alias_of != SAMBA_NO_INDEX ? shape.alias_of : argument;
  splitList(shape.dims, shape.rank, axis, split);
  shape.rank += split->parts - 1;
  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    const SambaStageTensor *other = &graph->tensors[t];
    if (other->alias_of == root && other->rank == shape.rank &&
        memcmp(other->dims, shape.dims, shape.rank * sizeof *shape.dims) == 0)
      return t;
  }
  uint32_t index = sambaStageGraphAddTensor(graph, &shape);
  graph->tensors[index].alias_of = root;
  return index;
}

static void splitMap(const Split *split, SambaStage *stage, uint32_t dim_count, uint32_t dim,
                     SambaStageOperand *map) {
  const SambaStageTensor *tensor = &split->graph->tensors[map->tensor];
  uint32_t axis = split->axis_of[map->tensor], rank = tensor->rank;
  bool argument = tensor->role == SAMBA_TENSOR_ARGUMENT && map->index_operand == SAMBA_NO_INDEX &&
                  rank + split->parts - 1 <= SAMBA_MAX_RANK;

  /* Of an argument it is the axis that the dimension walks alone. */
  for (uint32_t a = 0; dim != SAMBA_NO_INDEX && argument && a < rank; ++a)
    if (walkerOf(stage, tensor, map, a) == dim)
      axis = a;
  if (dim != SAMBA_NO_INDEX)
    splitSteps(split, dim_count, dim, rank, map);
  if (axis == SAMBA_NO_INDEX)
    return;
  splitAxis(split, rank, axis, map);
  if (argument)
    map->tensor = reshaped(split, map->tensor, axis);
}

static void splitStage(const Split *split, uint32_t s) {
  SambaStage *stage = &split->graph->stages[s];
  uint32_t dim = split->dim_of[s], dim_count = stage->dim_count;
  for (uint32_t i = 0; i <= stage->operand_count; ++i)
    splitMap(split, stage, dim_count, dim,
             i < stage->operand_count ? &stage->operands[i] : &stage->output);
  if (dim == SAMBA_NO_INDEX)
    return;

  bool reduced = stage->reduced[dim];
  splitList(stage->extents, dim_count, dim, split);
  memmove(&stage->reduced[dim + split->parts], &stage->reduced[dim + 1],
          (dim_count - dim - 1) * sizeof *stage->reduced);
  for (uint32_t part = 0; part < split->parts; ++part)
    stage->reduced[dim + part] = reduced;
  stage->dim_count += split->parts - 1;
}

static void applySplit(const Split *split, uint32_t tensor_count) {
  SambaStageGraph *graph = split->graph;
  for (uint32_t s = 0; s < graph->stage_count; ++s)
    splitStage(split, s);
  for (uint32_t t = 0; t < tensor_count; ++t) {
    SambaStageTensor *tensor = &graph->tensors[t];
    if (split->axis_of[t] == SAMBA_NO_INDEX)
      continue;
    splitList(tensor->dims, tensor->rank, split->axis_of[t], split);
    tensor->rank += split->parts - 1;
  }
}

/* Whether the parts are more than a window of the stage and the place within it: no pipeline runs
 * along an axis of windows that is none of the tensor's own. */
static bool areAxes(const SambaStage *stage, const SambaStageOperand *map, uint32_t axis) {
  for (uint32_t dim = 0; dim < stage->dim_count; ++dim)
    if (map->axes[axis].coefficients[dim] && stage->reduced[dim] && !contracts(stage) &&
        stage->extents[dim] < SAMBA_BLOCK_ROWS)
      return false;
  return true;
}

/* A split that has followed nothing yet. */
static void beginSplit(Split *split) {
  const SambaStageGraph *graph = split->graph;
  split->axis_of = sambaAllocateZeroed(graph->tensor_count, sizeof *split->axis_of);
  split->dim_of = sambaAllocateZeroed(graph->stage_count, sizeof *split->dim_of);
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    split->axis_of[t] = SAMBA_NO_INDEX;
  for (uint32_t s = 0; s < graph->stage_count; ++s)
    split->dim_of[s] = SAMBA_NO_INDEX;
}

/* Applies a split that could be followed everywhere. */
static bool endSplit(Split *split, bool can, uint32_t tensor_count) {
  if (can)
    applySplit(split, tensor_count);
  free(split->axis_of);
  free(split->dim_of);
  return can;
}

/* Splits an axis that a stage reads as several, if it can be. */
static bool trySplit(SambaStageGraph *graph, const SambaStage *stage, const SambaStageOperand *map,
                     uint32_t axis) {
  Split split = {.graph = graph};
  if (!readParts(stage, &graph->tensors[map->tensor], map, axis, &split) ||
      !areAxes(stage, map, axis))
    return false;

  uint32_t tensor_count = graph->tensor_count;
  beginSplit(&split);
  return endSplit(&split, followAxis(&split, map->tensor, axis), tensor_count);
}

/* The axes of a tensor of which an axis of another shape of it consists: from `*first` on, of one
 * point or more. False when it consists of no whole axes. */
static bool readMerged(const SambaStageTensor *tensor, int64_t points, uint32_t *first,
                       Split *out_split) {
  int64_t left = points;
  out_split->parts = 0;
  for (; *first < tensor->rank && left > 1; ++*first) {
    int64_t extent = tensor->dims[*first];
    if (extent == 1)
      continue;
    if (left % extent || out_split->parts == mostParts)
      return false;
    left /= extent;
    out_split->extents[out_split->parts] = extent;
    out_split->strides[out_split->parts++] = left;
  }
  return left == 1;
}

/* Splits an axis of a shape in which stages read what others write in the parts of the axis. */
static bool splitShape(SambaStageGraph *graph, uint32_t shape, uint32_t axis, Split *split) {
  uint32_t tensor_count = graph->tensor_count;
  split->graph = graph;
  beginSplit(split);
  return endSplit(split, followUsers(split, shape, axis), tensor_count);
}

/* Lets the stages that read a shape read the tensor itself. */
static void readItself(SambaStageGraph *graph, uint32_t shape, const uint32_t *at) {
  const SambaStageTensor *own = &graph->tensors[shape];
  for (uint32_t s = 0; s < graph->stage_count; ++s)
    for (uint32_t i = 0; i < graph->stages[s].operand_count; ++i) {
      SambaStageOperand *map = &graph->stages[s].operands[i];
      if (map->tensor != shape)
        continue;
      SambaStageOperand moved = *map;
      memset(moved.axes, 0, sizeof moved.axes);
      for (uint32_t axis = 0; axis < own->rank; ++axis)
        if (at[axis] != SAMBA_NO_INDEX)
          moved.axes[at[axis]] = map->axes[axis];
      moved.tensor = own->alias_of;
      *map = moved;
    }
}

static bool isWritten(const SambaStageGraph *graph, uint32_t tensor) {
  for (uint32_t s = 0; s < graph->stage_count; ++s)
    if (graph->stages[s].output.tensor == tensor)
      return true;
  return false;
}

/* What stages write in one shape and read in another, of which an axis is several of the first,
 * heads and what is within a head, is read in the first one, if it can be. */
static void readAsWritten(SambaStageGraph *graph, uint32_t shape) {
  uint32_t root = graph->tensors[shape].alias_of, at[SAMBA_MAX_RANK];
  if (root == SAMBA_NO_INDEX || graph->tensors[root].role == SAMBA_TENSOR_ARGUMENT ||
      !isUsed(graph, shape) || isWritten(graph, shape) || !isWritten(graph, root))
    return;

  for (uint32_t axis = 0, first = 0; axis < graph->tensors[shape].rank; ++axis) {
    Split split;
    if (!readMerged(&graph->tensors[root], graph->tensors[shape].dims[axis], &first, &split))
      return;
    if (split.parts < 2)
      continue;
    if (!splitShape(graph, shape, axis, &split))
      return;
    axis += split.parts - 1;
  }
  const SambaStageTensor *from = &graph->tensors[shape], *to = &graph->tensors[root];
  if (sambaAxesMatch(from->dims, from->rank, to->dims, to->rank, at))
    readItself(graph, shape, at);
}

void sambaStageGraphSplitAxes(SambaStageGraph *graph) {
  uint32_t shapes = graph->tensor_count;
  for (uint32_t t = 0; t < shapes; ++t)
    readAsWritten(graph, t);
  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    const SambaStage *stage = &graph->stages[s];
    for (uint32_t i = 0; i < stage->operand_count; ++i) {
      const SambaStageOperand *map = &stage->operands[i];
      if (graph->tensors[map->tensor].role == SAMBA_TENSOR_ARGUMENT)
        continue;
      for (uint32_t axis = 0; axis < graph->tensors[map->tensor].rank; ++axis)
        trySplit(graph, stage, map, axis);
    }
  }
}
