/* Gradients of losses that have a rule of their own; see loss_gradients.h. All in f32. */
#include "dialect/samba/table/training/loss_gradients.h"

#include "dialect/samba/table/core/gradient_calls.h"
#include "dialect/samba/table/core/rows.h"

/* --- classes --- */

/* What each target's loss counts for: [N, 1, d..] of the input's rank, and as 1 at its class. */
typedef struct Targets {
  uint32_t share;   /* the target's weight times what flows into its loss; 0: it counts nothing */
  uint32_t one_hot; /* the input's shape */
} Targets;

/* The target with the input's rank: 1 stands for the classes. */
static SambaTensorType withClasses(const SambaOperatorCall *call) {
  SambaTensorType type = call->operands[0];
  type.dims[type.rank > 1] = 1;
  return type;
}

/* The sum over the classes of one_hot times the weight. */
static uint32_t weightOf(const SambaGradientCall *gradient, SambaExpansion *e, uint32_t one_hot) {
  const SambaTensorType *x = &gradient->call->operands[0];
  uint32_t classes = x->rank > 1;
  int64_t dims[SAMBA_MAX_RANK];
  bool reduced[SAMBA_MAX_RANK];

  for (uint32_t axis = 0; axis < x->rank; ++axis) {
    reduced[axis] = axis == classes;
    dims[axis] = reduced[axis] ? x->dims[axis] : 1;
  }
  uint32_t weight = sambaExpandReshape(e, gradientWideOperand(gradient, e, 2), x->rank, dims);
  return sambaExpandReduce(e, "sum", gradientMul(e, one_hot, weight), reduced);
}

static Targets targetsOf(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaOperatorCall *call = gradient->call;
  const SambaTensorType *x = &call->operands[0];
  const SambaAttribute *ignored = sambaOperatorCallFind(call, "ignore_index");
  uint32_t classes = x->rank > 1;
  SambaTensorType kept = withClasses(call);
  uint32_t target = sambaExpandCast(e, gradient->operands[1], SAMBA_DTYPE_I64);
  int64_t count = x->dims[classes], two = 2;

  uint32_t values = sambaExpandNumbers(e, SAMBA_DTYPE_F32, 1, &two, (double[]){0, 1});
  SambaAttribute attributes[] = {sambaIntAttribute("num_classes", count),
                                 sambaIntAttribute("dim", classes)};
  Targets targets = {
      .one_hot = sambaExpandCall(e, "one_hot", 2, (uint32_t[]){target, values}, 2, attributes)};

  /* A negative target names no class here, and one beyond the last none either. */
  target = sambaExpandReshape(e, target, kept.rank, kept.dims);
  uint32_t counts =
      gradientAnd(e, gradientIs(e, "ge", target, 0), gradientIs(e, "lt", target, (double)count));
  if (ignored)
    counts = gradientAnd(e, counts, gradientIs(e, "ne", target, (double)ignored->value.integer));
  uint32_t weight =
      call->operand_count == 3 ? weightOf(gradient, e, targets.one_hot) : gradientNumber(e, 1);
  targets.share = gradientWhere(e, counts, weight, gradientNumber(e, 0));

  uint32_t g = gradientWideFlow(gradient, e);
  SambaStringRef reduction = sambaOperatorCallString(call, "reduction");
  if (sambaStringRefEqualC(reduction, "mean"))
    g = gradientDiv(e, g, sambaExpandUnary(e, "sum", targets.share));
  else if (sambaStringRefEqualC(reduction, "none"))
    g = sambaExpandReshape(e, g, kept.rank, kept.dims);
  targets.share = gradientMul(e, targets.share, g);

  return targets;
}

SambaStatus sambaGradientNllLoss(const SambaGradientCall *gradient, SambaExpansion *e) {
  if (!gradient->needed[0])
    return NULL;
  Targets targets = targetsOf(gradient, e);
  gradientSet(gradient, e, 0, gradientMul(e, gradientNeg(e, targets.share), targets.one_hot));
  return NULL;
}

/* (softmax - 1 at the class) * share */
SambaStatus sambaGradientCrossEntropy(const SambaGradientCall *gradient, SambaExpansion *e) {
  if (!gradient->needed[0])
    return NULL;
  Targets targets = targetsOf(gradient, e);
  uint32_t x = gradientWideOperand(gradient, e, 0);
  SambaAttribute dim = sambaIntAttribute("dim", gradient->call->operands[0].rank > 1);
  uint32_t softmax = sambaExpandCall(e, "softmax", 1, &x, 1, &dim);
  uint32_t difference = gradientSub(e, softmax, targets.one_hot);
  gradientSet(gradient, e, 0, gradientMul(e, difference, targets.share));
  return NULL;
}

/* --- a tensor and its target --- */

/* What flows into each element's loss. */
static uint32_t elementFlow(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaTensorType *x = &gradient->call->operands[0];
  SambaStringRef reduction = sambaOperatorCallString(gradient->call, "reduction");
  uint32_t g = gradientWideFlow(gradient, e);
  double count = sambaStringRefEqualC(reduction, "mean")        ? (double)sambaTensorTypeElements(x)
                 : sambaStringRefEqualC(reduction, "batchmean") ? (double)x->dims[0]
                                                                : 1;
  return count == 1 ? g : gradientDiv(e, g, gradientNumber(e, count));
}

static void setElements(const SambaGradientCall *gradient, SambaExpansion *e, uint32_t operand,
                        uint32_t value) {
  const SambaTensorType *type = &gradient->call->operands[operand];
  gradientSet(gradient, e, operand, sambaExpandBroadcast(e, value, type->rank, type->dims));
}

/* -g t, and g (ln t + 1 - x) where t is not 0; with log_target -g e^t, g e^t (t + 1 - x) */
SambaStatus sambaGradientKlDiv(const SambaGradientCall *gradient, SambaExpansion *e) {
  bool logarithm = sambaOperatorCallInt(gradient->call, "log_target") != 0;
  uint32_t g = elementFlow(gradient, e);
  uint32_t x = gradientWideOperand(gradient, e, 0);
  uint32_t target = gradientWideOperand(gradient, e, 1);
  uint32_t share = logarithm ? sambaExpandUnary(e, "exp", target) : target;

  if (gradient->needed[0])
    setElements(gradient, e, 0, gradientMul(e, gradientNeg(e, g), share));
  if (gradient->needed[1]) {
    uint32_t log = logarithm ? target : sambaExpandUnary(e, "log", target);
    uint32_t slope = gradientPlus(e, gradientSub(e, log, x), 1);
    slope = logarithm ? gradientMul(e, slope, share)
                      : gradientZeroWhere(e, gradientIs(e, "eq", target, 0), slope);
    setElements(gradient, e, 1, gradientMul(e, g, slope));
  }
  return NULL;
}

/* max(ln x, -100) */
static uint32_t boundedLog(SambaExpansion *e, const char *logarithm, uint32_t x) {
  return sambaExpandWithNumber(e, "maximum", sambaExpandUnary(e, logarithm, x), -100);
}

/* g (x - t) / max(x (1 - x), 1e-12), and g (ln(1 - x) - ln x), the logarithms not below -100 */
SambaStatus sambaGradientBinaryCrossEntropy(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = elementFlow(gradient, e);
  uint32_t x = gradientWideOperand(gradient, e, 0);

  if (gradient->needed[0]) {
    uint32_t difference = gradientSub(e, x, gradientWideOperand(gradient, e, 1));
    uint32_t product = gradientMul(e, x, gradientSub(e, gradientNumber(e, 1), x));
    uint32_t divisor = sambaExpandWithNumber(e, "maximum", product, 1e-12);
    setElements(gradient, e, 0, gradientMul(e, g, gradientDiv(e, difference, divisor)));
  }
  if (gradient->needed[1]) {
    uint32_t other = boundedLog(e, "log1p", gradientNeg(e, x));
    uint32_t slope = gradientSub(e, other, boundedLog(e, "log", x));
    setElements(gradient, e, 1, gradientMul(e, g, slope));
  }
  return NULL;
}
