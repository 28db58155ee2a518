/* Gradients of reductions; see reduce_gradients.h. */
#include "dialect/samba/table/reduce/reduce_gradients.h"

#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/core/rows.h"

/* A value of the reduced shape, with the reduced dimensions as 1. */
static uint32_t withReducedDims(const SambaGradientCall *gradient, SambaExpansion *expansion,
                                uint32_t value) {
  SambaTensorType kept = gradient->call->operands[0];
  bool reduced[SAMBA_MAX_RANK];
  sambaStatusFree(sambaReducedAxes(2, gradient->call, reduced)); /* infer has checked it */
  for (uint32_t axis = 0; axis < kept.rank; ++axis)
    kept.dims[axis] = reduced[axis] ? 1 : kept.dims[axis];
  return sambaExpandReshape(expansion, value, kept.rank, kept.dims);
}

static uint32_t repeated(const SambaGradientCall *gradient, SambaExpansion *expansion,
                         uint32_t value) {
  const SambaTensorType *type = &gradient->call->operands[0];
  return sambaExpandBroadcast(expansion, withReducedDims(gradient, expansion, value), type->rank,
                              type->dims);
}

SambaStatus sambaGradientSum(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  gradient->operand_gradients[0] = repeated(gradient, expansion, sambaGradientOfResult(gradient));
  return NULL;
}

SambaStatus sambaGradientMean(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t g = sambaGradientOfResult(gradient);
  int64_t share = sambaTensorTypeElements(&gradient->call->operands[0]) /
                  sambaTensorTypeElements(sambaExpansionType(expansion, g));
  gradient->operand_gradients[0] =
      repeated(gradient, expansion, sambaExpandWithNumber(expansion, "div", g, (double)share));
  return NULL;
}

/* The sum along the call's dimension, kept as 1. */
static uint32_t sumAlong(const SambaGradientCall *gradient, SambaExpansion *expansion,
                         uint32_t value) {
  int64_t dim = sambaOperatorCallInt(gradient->call, "dim");
  SambaAttribute attributes[] = {sambaIntsAttribute("dim", &dim, 1),
                                 sambaBoolAttribute("keepdim", true)};
  return sambaExpandCall(expansion, "sum", 1, &value, 2, attributes);
}

/* y * (g - sum of g * y) */
SambaStatus sambaGradientSoftmax(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t y = gradientWide(expansion, gradient->results[0]);
  uint32_t g = gradientWideFlow(gradient, expansion);
  uint32_t sum = sumAlong(gradient, expansion, gradientMul(expansion, g, y));
  gradientSet(gradient, expansion, 0, gradientMul(expansion, y, gradientSub(expansion, g, sum)));
  return NULL;
}

/* g - e^y * sum of g */
SambaStatus sambaGradientLogSoftmax(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t g = gradientWideFlow(gradient, expansion);
  uint32_t share =
      sambaExpandUnary(expansion, "exp", gradientWide(expansion, gradient->results[0]));
  uint32_t sum = sumAlong(gradient, expansion, g);
  gradientSet(gradient, expansion, 0,
              gradientSub(expansion, g, gradientMul(expansion, share, sum)));
  return NULL;
}

/* --- extremes, products, prefixes --- */

static uint32_t reduceLikeCall(const SambaGradientCall *gradient, SambaExpansion *expansion,
                               const char *name, uint32_t value) {
  bool reduced[SAMBA_MAX_RANK];
  sambaStatusFree(sambaReducedAxes(2, gradient->call, reduced)); /* infer has checked it */
  return sambaExpandReduce(expansion, name, value, reduced);
}

/* Elements that are the extreme value share the gradient evenly. */
SambaStatus sambaGradientExtreme(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t extreme = withReducedDims(gradient, expansion, gradient->results[0]);
  uint32_t hit = sambaExpandBinary(expansion, "eq", gradient->operands[0], extreme);
  uint32_t count =
      reduceLikeCall(gradient, expansion, "sum", sambaExpandCast(expansion, hit, SAMBA_DTYPE_F32));
  uint32_t g = withReducedDims(gradient, expansion, gradientWideFlow(gradient, expansion));
  gradientSet(gradient, expansion, 0,
              gradientWhereElseZero(expansion, hit, gradientDiv(expansion, g, count)));
  return NULL;
}

/* The product of the other elements: that of all that are not zero, without the element itself,
 * unless another one is zero. */
SambaStatus sambaGradientProd(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  uint32_t zero = sambaExpandWithNumber(expansion, "eq", x, 0);
  uint32_t factor = gradientWhere(expansion, zero, gradientNumber(expansion, 1), x);
  uint32_t counted = sambaExpandCast(expansion, zero, SAMBA_DTYPE_F32);
  uint32_t zeros = reduceLikeCall(gradient, expansion, "sum", counted);
  uint32_t product = reduceLikeCall(gradient, expansion, "prod", factor);

  uint32_t g = withReducedDims(gradient, expansion, gradientWideFlow(gradient, expansion));
  uint32_t alone = sambaExpandBinary(expansion, "eq", zeros, counted); /* no other is zero */
  uint32_t others = gradientDiv(expansion, product, factor);
  gradientSet(gradient, expansion, 0,
              gradientWhereElseZero(expansion, alone, gradientMul(expansion, g, others)));
  return NULL;
}

/* The same sums from the other end. */
SambaStatus sambaGradientCumsum(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaOperatorCall *call = gradient->call;
  uint32_t g = sambaGradientOfResult(gradient);
  SambaAttribute attributes[] = {
      sambaIntAttribute("dim", sambaOperatorCallInt(call, "dim")),
      sambaBoolAttribute("exclusive", sambaOperatorCallInt(call, "exclusive") != 0),
      sambaBoolAttribute("reverse", sambaOperatorCallInt(call, "reverse") == 0)};
  gradient->operand_gradients[0] = sambaExpandCall(expansion, "cumsum", 1, &g, 3, attributes);
  return NULL;
}

/* g * e^(x - y) */
SambaStatus sambaGradientLogsumexp(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t y = withReducedDims(gradient, expansion, gradientWide(expansion, gradient->results[0]));
  uint32_t g = withReducedDims(gradient, expansion, gradientWideFlow(gradient, expansion));
  uint32_t below = gradientSub(expansion, gradientWideOperand(gradient, expansion, 0), y);
  gradientSet(gradient, expansion, 0,
              gradientMul(expansion, g, sambaExpandUnary(expansion, "exp", below)));
  return NULL;
}

/* The values go back to the places that they are from, each to one of its own. */
SambaStatus sambaGradientSort(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *x = &gradient->call->operands[0];
  uint32_t zeros = sambaExpandFilled(expansion, x->dtype, x->rank, x->dims, 0);
  uint32_t operands[] = {zeros, gradient->results[1], sambaGradientOfResult(gradient)};
  SambaAttribute dim = sambaIntAttribute("dim", sambaOperatorCallInt(gradient->call, "dim"));
  gradient->operand_gradients[0] = sambaExpandCall(expansion, "scatter", 3, operands, 1, &dim);
  return NULL;
}
