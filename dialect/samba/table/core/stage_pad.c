/* Padding reduced dimensions. A reduction that is too long for one slot of a memory unit runs in
 * chunks that divide its extents; where no divisor serves (a row of 100,003 elements) the dimension
 * is made longer, and the added points are the reduction's neutral element. A property of the
 * stage, so that no mapping changes bits. */
#include "dialect/samba/table/core/stage_pad.h"

#include <math.h>

/* Reductions up to `whole` points stay as they are; chunks have at most `most` points, whole rows
 * of `lanes`. */
enum { whole = 65536, most = 4096, least = 64, lanes = 16, grain = 512 };

static int64_t ceilTo(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

/* Whether a chunk of `dim` and all of the `inner` points within it serves. */
static bool hasChunk(int64_t extent, int64_t inner) {
  for (int64_t t = 1; t <= extent && t * inner <= most; ++t)
    if (extent % t == 0 && t * inner % lanes == 0 && t * inner >= least)
      return true;
  return false;
}

/* The dimension to make longer, and its new extent; false when chunks fit. */
static bool findPadding(const SambaStage *stage, uint32_t *out_dim, int64_t *out_extent) {
  int64_t points = 1, inner = 1;
  uint32_t first = stage->dim_count;
  uint32_t dim = stage->dim_count;

  while (first > 0 && stage->reduced[first - 1])
    points *= stage->extents[--first];
  if (points <= whole)
    return false;
  while (dim > first && inner * stage->extents[dim - 1] <= most)
    inner *= stage->extents[--dim];
  if (dim == first || hasChunk(stage->extents[dim - 1], inner))
    return false;
  int64_t step = 1;
  while (step * inner < grain || step * inner % lanes)
    step *= 2;
  bool inside = step * inner > most; /* then whole rows of lanes within */
  *out_dim = inside ? stage->dim_count - 1 : dim - 1;
  *out_extent = ceilTo(stage->extents[*out_dim], inside ? lanes : step);

  return *out_extent != stage->extents[*out_dim];
}

/* Whether points past the extent of `dim` lie outside the operand, so that its guard can be made to
 * see them. */
static bool leavesOperand(const SambaStage *stage, const SambaStageTensor *tensor,
                          const SambaStageOperand *operand, uint32_t dim) {
  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    const SambaAxisMap *map = &operand->axes[axis];
    bool alone = map->coefficients[dim] == 1 && map->constant == 0 &&
                 tensor->dims[axis] == stage->extents[dim];
    for (uint32_t other = 0; other < stage->dim_count; ++other)
      alone &= other == dim || map->coefficients[other] == 0;
    if (alone)
      return true;
  }
  return false;
}

static bool dependsOn(const SambaStageTensor *tensor, const SambaStageOperand *operand,
                      uint32_t dim) {
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    if (operand->axes[axis].coefficients[dim])
      return true;
  return false;
}

static bool mayPad(const SambaStageBuilder *builder, uint32_t dim, bool contraction) {
  const SambaStage *stage = &builder->stage;
  for (uint32_t i = 0; i < stage->operand_count; ++i) {
    const SambaStageOperand *operand = &stage->operands[i];
    const SambaStageTensor *tensor = &builder->graph->tensors[operand->tensor];
    if (operand->index_operand != SAMBA_NO_INDEX)
      return false;
    if (!contraction && !dependsOn(tensor, operand, dim))
      continue;
    if (!leavesOperand(stage, tensor, operand, dim) ||
        (contraction && operand->guarded && operand->fill))
      return false;
  }
  return true;
}

/* Of f32, i64, i32 and i1 (in this order): what changes nothing. */
static uint64_t neutralBits(uint8_t opcode, SambaDType type) {
  static const struct {
    uint8_t opcode;
    double real;
    uint64_t wide, narrow, truth;
  } neutral[] = {
      {SAMBA_LANE_REDUCE_MUL, 1, 1, 1, 1},
      {SAMBA_LANE_REDUCE_MIN, INFINITY, INT64_MAX, INT32_MAX, 1},
      {SAMBA_LANE_REDUCE_MAX, -INFINITY, (uint64_t)INT64_MIN, (uint32_t)INT32_MIN, 0},
      {SAMBA_LANE_REDUCE_AND, 0, UINT64_MAX, UINT32_MAX, 1},
      {SAMBA_LANE_REDUCE_OR, 0, 0, 0, 0},
      {0, -0.0, 0, 0, 0} /* a sum; x + -0 is x */
  };
  size_t last = sizeof neutral / sizeof *neutral - 1, i = 0;
  while (i < last && neutral[i].opcode != opcode)
    ++i;
  if (type == SAMBA_DTYPE_F32)
    return sambaDTypeBitsOfNumber(type, neutral[i].real);
  if (type == SAMBA_DTYPE_I64)
    return neutral[i].wide;
  return type == SAMBA_DTYPE_I1 ? neutral[i].truth : neutral[i].narrow;
}

/* Puts select(counter < extent, value, neutral) before the reduction, the last operation. */
static void maskReduction(SambaStageBuilder *builder, uint32_t dim, int64_t extent) {
  SambaStage *stage = &builder->stage;
  SambaLaneOp reduction = builder->ops[--stage->op_count];
  uint16_t value = reduction.operands[0];
  uint16_t type = builder->types[value];
  uint16_t counter = sambaLaneCounter(builder, dim, SAMBA_DTYPE_I32);
  uint16_t limit = sambaLaneNumber(builder, counter, (double)extent);
  uint16_t inside = sambaLane2(builder, SAMBA_LANE_LT, counter, limit);
  uint16_t neutral = sambaLaneNumber(builder, value, 0);
  builder->ops[neutral - stage->operand_count].immediate =
      neutralBits(reduction.opcode, (SambaDType)type);
  reduction.operands[0] = sambaLaneSelect(builder, inside, value, neutral);
  builder->types[stage->operand_count + stage->op_count] = (uint8_t)type;
  builder->ops[stage->op_count++] = reduction;
}

void sambaStagePad(SambaStageBuilder *builder) {
  SambaStage *stage = &builder->stage;
  uint32_t dim;
  int64_t extent;

  for (int rounds = 0; rounds < 2 && findPadding(stage, &dim, &extent); ++rounds) {
    bool contraction = builder->ops[stage->op_count - 1].opcode == SAMBA_LANE_MAC;
    if (!mayPad(builder, dim, contraction) || extent > INT32_MAX)
      return;
    for (uint32_t i = 0; i < stage->operand_count; ++i) {
      SambaStageOperand *operand = &stage->operands[i];
      if (dependsOn(&builder->graph->tensors[operand->tensor], operand, dim) && !operand->guarded) {
        operand->guarded = true;
        operand->fill = 0;
      }
    }
    if (!contraction)
      maskReduction(builder, dim, stage->extents[dim]);
    stage->extents[dim] = extent;
  }
}
