/* Gradients of losses that have a rule of their own; see loss_gradients.h. All in f32. */
#include "dialect/samba/table/training/loss_gradients.h"

#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/core/rows.h"

/* --- classes --- */

/* The target with the input's rank: 1 stands for the classes. */
static SambaTensorType withClasses(const SambaOperatorCall *call) {
  SambaTensorType type = call->operands[0];
  type.dims[type.rank > 1] = 1;
  return type;
}

/* The sum over the classes of one_hot times the weight. */
static uint32_t weightOf(const SambaGradientCall *gradient, SambaExpansion *expansion,
                         uint32_t one_hot) {
  const SambaTensorType *x = &gradient->call->operands[0];
  uint32_t classes = x->rank > 1;
  int64_t dims[SAMBA_MAX_RANK];
  bool reduced[SAMBA_MAX_RANK];

  for (uint32_t axis = 0; axis < x->rank; ++axis) {
    reduced[axis] = axis == classes;
    dims[axis] = reduced[axis] ? x->dims[axis] : 1;
  }
  uint32_t weight =
      sambaExpandReshape(expansion, gradientWideOperand(gradient, expansion, 2), x->rank, dims);
  return sambaExpandReduce(expansion, "sum", gradientMul(expansion, one_hot, weight), reduced);
}

uint32_t sambaExpandOneHot(SambaExpansion *expansion, const SambaTensorType *x, uint32_t target) {
  uint32_t classes = x->rank > 1;
  int64_t two = 2;
  target = sambaExpandCast(expansion, target, SAMBA_DTYPE_I64);
  uint32_t values = sambaExpandNumbers(expansion, SAMBA_DTYPE_F32, 1, &two, (double[]){0, 1});
  SambaAttribute attributes[] = {sambaIntAttribute("num_classes", x->dims[classes]),
                                 sambaIntAttribute("dim", classes)};
  return sambaExpandCall(expansion, "one_hot", 2, (uint32_t[]){target, values}, 2, attributes);
}

static uint32_t oneHot(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  return sambaExpandOneHot(expansion, &gradient->call->operands[0], gradient->operands[1]);
}

/* What each target's loss counts for, its weight times what flows into its loss: [N, 1, d..] of the
 * input's rank. 0: it counts nothing. */
static uint32_t shareOf(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaOperatorCall *call = gradient->call;
  const SambaTensorType *x = &call->operands[0];
  const SambaAttribute *ignored = sambaOperatorCallFind(call, "ignore_index");
  uint32_t classes = x->rank > 1;
  SambaTensorType kept = withClasses(call);
  uint32_t target = sambaExpandCast(expansion, gradient->operands[1], SAMBA_DTYPE_I64);
  int64_t count = x->dims[classes];

  /* A negative target names no class here, and one beyond the last none either. */
  target = sambaExpandReshape(expansion, target, kept.rank, kept.dims);
  uint32_t counts = gradientAnd(expansion, gradientIs(expansion, "ge", target, 0),
                                gradientIs(expansion, "lt", target, (double)count));
  if (ignored)
    counts = gradientAnd(expansion, counts,
                         gradientIs(expansion, "ne", target, (double)ignored->value.integer));
  uint32_t weight = call->operand_count == 3
                        ? weightOf(gradient, expansion, oneHot(gradient, expansion))
                        : gradientNumber(expansion, 1);
  uint32_t share = gradientWhere(expansion, counts, weight, gradientNumber(expansion, 0));

  uint32_t g = gradientWideFlow(gradient, expansion);
  SambaStringRef reduction = sambaOperatorCallString(call, "reduction");
  if (sambaStringRefEqualC(reduction, "mean"))
    g = gradientDiv(expansion, g, sambaExpandUnary(expansion, "sum", share));
  else if (sambaStringRefEqualC(reduction, "none"))
    g = sambaExpandReshape(expansion, g, kept.rank, kept.dims);

  return gradientMul(expansion, share, g);
}

SambaStatus sambaGradientNllLoss(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  if (!gradient->needed[0])
    return NULL;
  uint32_t share = shareOf(gradient, expansion);
  gradientSet(gradient, expansion, 0,
              gradientMul(expansion, gradientNeg(expansion, share), oneHot(gradient, expansion)));
  return NULL;
}

/* softmax - 1 at the class, which the call has left or not. */
static uint32_t slopesOf(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  if (gradient->call->operator->results[0])
    return gradientWide(expansion, gradient->results[1]);
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  SambaAttribute dim = sambaIntAttribute("dim", gradient->call->operands[0].rank > 1);
  uint32_t softmax = sambaExpandCall(expansion, "softmax", 1, &x, 1, &dim);
  return gradientSub(expansion, softmax, oneHot(gradient, expansion));
}

/* Slopes times share. The share is one number for each target, so what multiplies the gradient of a
 * table takes it where it is smaller (samba-move-row-factors). */
SambaStatus sambaGradientCrossEntropy(const SambaGradientCall *gradient,
                                      SambaExpansion *expansion) {
  if (gradient->call->operator->results[0] && gradient->result_gradients[1] != SAMBA_NO_INDEX)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "no gradient passes through the slopes; compute them with softmax where "
                           "one must");
  if (!gradient->needed[0])
    return NULL;
  uint32_t share = shareOf(gradient, expansion);
  uint32_t slopes = slopesOf(gradient, expansion);
  gradientSet(gradient, expansion, 0, gradientMul(expansion, slopes, share));
  return NULL;
}

/* --- a tensor and its target --- */

/* What flows into each element's loss. */
static uint32_t elementFlow(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *x = &gradient->call->operands[0];
  SambaStringRef reduction = sambaOperatorCallString(gradient->call, "reduction");
  uint32_t g = gradientWideFlow(gradient, expansion);
  double count = 1;
  if (sambaStringRefEqualC(reduction, "mean"))
    count = (double)sambaTensorTypeElements(x);
  else if (sambaStringRefEqualC(reduction, "batchmean"))
    count = (double)x->dims[0];
  return count == 1 ? g : gradientDiv(expansion, g, gradientNumber(expansion, count));
}

static void setElements(const SambaGradientCall *gradient, SambaExpansion *expansion,
                        uint32_t operand, uint32_t value) {
  const SambaTensorType *type = &gradient->call->operands[operand];
  gradientSet(gradient, expansion, operand,
              sambaExpandBroadcast(expansion, value, type->rank, type->dims));
}

/* -g t, and g (ln t + 1 - x) where t is not 0; with log_target -g e^t, g e^t (t + 1 - x) */
SambaStatus sambaGradientKlDiv(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  bool logarithm = sambaOperatorCallInt(gradient->call, "log_target") != 0;
  uint32_t g = elementFlow(gradient, expansion);
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  uint32_t target = gradientWideOperand(gradient, expansion, 1);
  uint32_t share = logarithm ? sambaExpandUnary(expansion, "exp", target) : target;

  if (gradient->needed[0])
    setElements(gradient, expansion, 0, gradientMul(expansion, gradientNeg(expansion, g), share));
  if (gradient->needed[1]) {
    uint32_t log = logarithm ? target : sambaExpandUnary(expansion, "log", target);
    uint32_t slope = gradientPlus(expansion, gradientSub(expansion, log, x), 1);
    slope = logarithm ? gradientMul(expansion, slope, share)
                      : gradientZeroWhere(expansion, gradientIs(expansion, "eq", target, 0), slope);
    setElements(gradient, expansion, 1, gradientMul(expansion, g, slope));
  }
  return NULL;
}

/* max(ln x, -100) */
static uint32_t boundedLog(SambaExpansion *expansion, const char *logarithm, uint32_t x) {
  return sambaExpandWithNumber(expansion, "maximum", sambaExpandUnary(expansion, logarithm, x),
                               -100);
}

/* g (x - t) / max(x (1 - x), 1e-12), and g (ln(1 - x) - ln x), the logarithms not below -100 */
SambaStatus sambaGradientBinaryCrossEntropy(const SambaGradientCall *gradient,
                                            SambaExpansion *expansion) {
  uint32_t g = elementFlow(gradient, expansion);
  uint32_t x = gradientWideOperand(gradient, expansion, 0);

  if (gradient->needed[0]) {
    uint32_t difference = gradientSub(expansion, x, gradientWideOperand(gradient, expansion, 1));
    uint32_t product =
        gradientMul(expansion, x, gradientSub(expansion, gradientNumber(expansion, 1), x));
    uint32_t divisor = sambaExpandWithNumber(expansion, "maximum", product, 1e-12);
    setElements(gradient, expansion, 0,
                gradientMul(expansion, g, gradientDiv(expansion, difference, divisor)));
  }
  if (gradient->needed[1]) {
    uint32_t other = boundedLog(expansion, "log1p", gradientNeg(expansion, x));
    uint32_t slope = gradientSub(expansion, other, boundedLog(expansion, "log", x));
    setElements(gradient, expansion, 1, gradientMul(expansion, g, slope));
  }
  return NULL;
}
