/* Gradients of operators that move elements; see view_gradients.h. */
#include "dialect/samba/table/shape/view_gradients.h"

#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/core/rows.h"

static const SambaTensorType *operandType(const SambaGradientCall *gradient) {
  return &gradient->call->operands[0];
}

static const int64_t *integersOf(const SambaGradientCall *gradient, const char *name) {
  return sambaOperatorCallFind(gradient->call, name)->value.integers.data;
}

SambaStatus sambaGradientReshape(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *type = operandType(gradient);
  gradient->operand_gradients[0] =
      sambaExpandReshape(expansion, sambaGradientOfResult(gradient), type->rank, type->dims);
  return NULL;
}

SambaStatus sambaGradientPermute(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const int64_t *dims = integersOf(gradient, "dims");
  int64_t inverse[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < operandType(gradient)->rank; ++axis)
    inverse[dims[axis]] = axis;
  gradient->operand_gradients[0] =
      sambaExpandPermute(expansion, sambaGradientOfResult(gradient), inverse);
  return NULL;
}

SambaStatus sambaGradientExpand(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  sambaGradientBroadcast(gradient, expansion, 0, sambaGradientOfResult(gradient));
  return NULL;
}

static uint32_t padWithZeros(SambaExpansion *expansion, uint32_t value, uint32_t rank,
                             const int64_t *low, const int64_t *high) {
  SambaAttribute attributes[] = {sambaIntsAttribute("low", low, rank),
                                 sambaIntsAttribute("high", high, rank)};
  bool changes = false;
  for (uint32_t axis = 0; axis < rank; ++axis)
    changes |= low[axis] || high[axis];
  return changes ? sambaExpandCall(expansion, "pad", 1, &value, 2, attributes) : value;
}

/* Puts step - 1 zeros behind every element along an axis. */
static uint32_t spread(SambaExpansion *expansion, uint32_t value, uint32_t axis, int64_t step) {
  SambaTensorType type = *sambaExpansionType(expansion, value);
  int64_t dims[SAMBA_MAX_RANK + 1], low[SAMBA_MAX_RANK + 1] = {0}, high[SAMBA_MAX_RANK + 1] = {0};
  if (step == 1)
    return value;

  uint32_t rank = 0;
  for (uint32_t i = 0; i < type.rank; ++i) {
    dims[rank++] = type.dims[i];
    if (i == axis)
      dims[rank++] = 1;
  }
  high[axis + 1] = step - 1;
  value = sambaExpandReshape(expansion, value, rank, dims);
  value = padWithZeros(expansion, value, rank, low, high);
  type.dims[axis] *= step;
  return sambaExpandReshape(expansion, value, type.rank, type.dims);
}

/* Elements start, start + step, ... of each axis: the gradient's elements stand there again, and
 * zeros elsewhere. */
SambaStatus sambaGradientSlice(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *type = operandType(gradient);
  const int64_t *starts = integersOf(gradient, "starts");
  const int64_t *steps = integersOf(gradient, "steps");
  uint32_t value = sambaGradientOfResult(gradient);
  int64_t low[SAMBA_MAX_RANK], high[SAMBA_MAX_RANK];

  for (uint32_t axis = 0; axis < type->rank; ++axis) {
    int64_t count = sambaExpansionType(expansion, value)->dims[axis];
    int64_t step = steps[axis] < 0 ? -steps[axis] : steps[axis];
    int64_t last = starts[axis] + (count - 1) * steps[axis];
    if (steps[axis] < 0)
      value = sambaExpandSlice(expansion, value, axis, count - 1, count, -1);
    value = spread(expansion, value, axis, step);
    value = sambaExpandSlice(expansion, value, axis, 0, (count - 1) * step + 1, 1);
    low[axis] = steps[axis] < 0 ? last : starts[axis];
    high[axis] = type->dims[axis] - low[axis] - ((count - 1) * step + 1);
  }

  gradient->operand_gradients[0] = padWithZeros(expansion, value, type->rank, low, high);
  return NULL;
}

SambaStatus sambaGradientPad(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *type = operandType(gradient);
  const int64_t *low = integersOf(gradient, "low");
  uint32_t value = sambaGradientOfResult(gradient);
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    value = sambaExpandSlice(expansion, value, axis, low[axis], type->dims[axis], 1);
  gradient->operand_gradients[0] = value;
  return NULL;
}

SambaStatus sambaGradientCat(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaOperatorCall *call = gradient->call;
  uint32_t axis;
  int64_t start = 0;

  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", call->operands[0].rank, &axis));
  for (uint32_t i = 0; i < call->operand_count; ++i) {
    int64_t count = call->operands[i].dims[axis];
    if (gradient->needed[i])
      gradient->operand_gradients[i] =
          sambaExpandSlice(expansion, sambaGradientOfResult(gradient), axis, start, count, 1);
    start += count;
  }
  return NULL;
}
