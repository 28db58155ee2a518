/* Composition of views into operand maps: affine maps over affine maps, plus the question when a
 * guard of the reader and a guard of the view can be one guard on the base tensor. */
#include "backend/stage/stage_compose.h"

#include <string.h>

/* The range of operand's axis map over the stage's box. */
static void mapRange(const SambaStage *stage, const SambaAxisMap *map, int64_t *out_low,
                     int64_t *out_high) {
  *out_low = *out_high = map->constant;
  for (uint32_t dim = 0; dim < stage->dim_count; ++dim) {
    int64_t span = map->coefficients[dim] * (stage->extents[dim] - 1);
    *(span < 0 ? out_low : out_high) += span;
  }
}

/* Leaving the viewed tensor along `axis` must mean leaving base: some axis of base is +-1 times
 * this axis alone, and the viewed tensor spans all of it. */
static bool guardCarriesOver(const SambaStageTensor *viewed, uint32_t axis,
                             const SambaStageOperand *view, const SambaStageTensor *base) {
  for (uint32_t b = 0; b < base->rank; ++b) {
    int64_t coefficient = view->axes[b].coefficients[axis];
    bool alone = coefficient == 1 || coefficient == -1;
    for (uint32_t other = 0; other < viewed->rank; ++other)
      alone = alone && (other == axis || view->axes[b].coefficients[other] == 0);
    if (!alone)
      continue;
    int64_t first = view->axes[b].constant;
    int64_t last = first + coefficient * (viewed->dims[axis] - 1);
    if ((first < last ? first : last) <= 0 && (first < last ? last : first) >= base->dims[b] - 1)
      return true;
  }
  return false;
}

bool sambaStageOperandCompose(const SambaStage *stage, const SambaStageOperand *operand,
                              const SambaStageTensor *viewed, const SambaStageOperand *view,
                              const SambaStageTensor *base, SambaStageOperand *out_operand) {
  bool leaves = false;
  for (uint32_t axis = 0; operand->guarded && axis < viewed->rank; ++axis) {
    int64_t low, high;
    mapRange(stage, &operand->axes[axis], &low, &high);
    if (low >= 0 && high < viewed->dims[axis])
      continue;
    leaves = true;
    if (!guardCarriesOver(viewed, axis, view, base))
      return false;
  }

  if (leaves && view->guarded && operand->fill != view->fill)
    return false;
  SambaStageOperand composed = *operand;
  composed.tensor = view->tensor;
  composed.guarded = leaves || view->guarded;
  composed.fill = view->guarded ? view->fill : 0;
  if (leaves)
    composed.fill = operand->fill;
  memset(composed.axes, 0, sizeof composed.axes);

  for (uint32_t b = 0; b < base->rank; ++b) {
    composed.axes[b].constant = view->axes[b].constant;
    for (uint32_t axis = 0; axis < viewed->rank; ++axis) {
      int64_t coefficient = view->axes[b].coefficients[axis];
      composed.axes[b].constant += coefficient * operand->axes[axis].constant;
      for (uint32_t dim = 0; dim < stage->dim_count; ++dim)
        composed.axes[b].coefficients[dim] += coefficient * operand->axes[axis].coefficients[dim];
    }
  }

  if (operand->index_operand != SAMBA_NO_INDEX) {
    /* The index adds to one axis of base only when that axis is read with step 1 from the indexed
     * axis and no other axis depends on it; a view that pads would need the index in its guard. */
    uint32_t target = SAMBA_NO_INDEX;
    for (uint32_t b = 0; b < base->rank; ++b) {
      int64_t coefficient = view->axes[b].coefficients[operand->index_axis];
      if (coefficient == 0)
        continue;
      if (coefficient != 1 || target != SAMBA_NO_INDEX || view->guarded)
        return false;
      target = b;
    }

    if (target == SAMBA_NO_INDEX)
      return false;

    /* Faults must still be those of the viewed tensor: the view spans the whole axis. */
    if (viewed->dims[operand->index_axis] != base->dims[target])
      return false;
    composed.index_axis = target;
  }

  *out_operand = composed;
  return true;
}
