/* Gradients of reductions; see reduce_gradients.h. */
#include "dialect/samba/table/reduce/reduce_gradients.h"

#include "dialect/samba/table/core/gradient_calls.h"
#include "dialect/samba/table/core/rows.h"

/* A value of the reduced shape, with the reduced dimensions as 1. */
static uint32_t withReducedDims(const SambaGradientCall *gradient, SambaExpansion *e,
                                uint32_t value) {
  SambaTensorType kept = gradient->call->operands[0];
  bool reduced[SAMBA_MAX_RANK];
  sambaStatusFree(sambaReducedAxes(2, gradient->call, reduced)); /* infer has checked it */
  for (uint32_t axis = 0; axis < kept.rank; ++axis)
    kept.dims[axis] = reduced[axis] ? 1 : kept.dims[axis];
  return sambaExpandReshape(e, value, kept.rank, kept.dims);
}

static uint32_t repeated(const SambaGradientCall *gradient, SambaExpansion *e, uint32_t value) {
  const SambaTensorType *type = &gradient->call->operands[0];
  return sambaExpandBroadcast(e, withReducedDims(gradient, e, value), type->rank, type->dims);
}

SambaStatus sambaGradientSum(const SambaGradientCall *gradient, SambaExpansion *e) {
  gradient->operand_gradients[0] = repeated(gradient, e, sambaGradientOfResult(gradient));
  return NULL;
}

SambaStatus sambaGradientMean(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  int64_t share = sambaTensorTypeElements(&gradient->call->operands[0]) /
                  sambaTensorTypeElements(sambaExpansionType(e, g));
  gradient->operand_gradients[0] =
      repeated(gradient, e, sambaExpandWithNumber(e, "div", g, (double)share));
  return NULL;
}

/* The sum along the call's dimension, kept as 1. */
static uint32_t sumAlong(const SambaGradientCall *gradient, SambaExpansion *e, uint32_t value) {
  int64_t dim = sambaOperatorCallInt(gradient->call, "dim");
  SambaAttribute attributes[] = {sambaIntsAttribute("dim", &dim, 1),
                                 sambaBoolAttribute("keepdim", true)};
  return sambaExpandCall(e, "sum", 1, &value, 2, attributes);
}

/* y * (g - sum of g * y) */
SambaStatus sambaGradientSoftmax(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t y = gradient->results[0];
  uint32_t g = sambaGradientOfResult(gradient);
  uint32_t sum = sumAlong(gradient, e, gradientMul(e, g, y));
  gradient->operand_gradients[0] = gradientMul(e, y, gradientSub(e, g, sum));
  return NULL;
}

/* g - e^y * sum of g */
SambaStatus sambaGradientLogSoftmax(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  uint32_t share = sambaExpandUnary(e, "exp", gradient->results[0]);
  uint32_t sum = sumAlong(gradient, e, g);
  gradient->operand_gradients[0] = gradientSub(e, g, gradientMul(e, share, sum));
  return NULL;
}
