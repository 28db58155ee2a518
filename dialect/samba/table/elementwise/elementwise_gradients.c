/* Gradients of elementwise operators; see elementwise_gradients.h. Where more than one operation is
 * rounded they are in f32, and the gradient is rounded to the operand's dtype at the end. */
#include "dialect/samba/table/elementwise/elementwise_gradients.h"

#include "dialect/samba/table/core/gradient_calls.h"

/* --- two or three operands --- */

SambaStatus sambaGradientAdd(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  sambaGradientBroadcast(gradient, e, 0, g);
  sambaGradientBroadcast(gradient, e, 1, g);
  return NULL;
}

SambaStatus sambaGradientSub(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  sambaGradientBroadcast(gradient, e, 0, g);
  if (gradient->needed[1])
    sambaGradientBroadcast(gradient, e, 1, gradientNeg(e, g));
  return NULL;
}

SambaStatus sambaGradientMul(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  for (uint32_t i = 0; i < 2; ++i)
    if (gradient->needed[i])
      sambaGradientBroadcast(gradient, e, i, gradientMul(e, g, gradient->operands[1 - i]));
  return NULL;
}

/* a / b: g / b, and -(g / b) * (a / b) */
SambaStatus sambaGradientDiv(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t quotient =
      gradientDiv(e, gradientWideFlow(gradient, e), gradientWideOperand(gradient, e, 1));
  if (gradient->needed[0])
    gradientSet(gradient, e, 0, quotient);
  if (gradient->needed[1])
    gradientSet(gradient, e, 1,
                gradientNeg(e, gradientMul(e, quotient, gradientWide(e, gradient->results[0]))));
  return NULL;
}

/* a^b: g b a^(b - 1), 0 where b is 0; g a^b ln a, 0 where a is 0 and b is not negative. */
SambaStatus sambaGradientPow(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t a = gradientWideOperand(gradient, e, 0);
  uint32_t b = gradientWideOperand(gradient, e, 1);
  uint32_t g = gradientWideFlow(gradient, e);

  if (gradient->needed[0]) {
    uint32_t lower = sambaExpandBinary(e, "pow", a, gradientPlus(e, b, -1));
    uint32_t slope = gradientMul(e, gradientMul(e, g, b), lower);
    gradientSet(gradient, e, 0, gradientZeroWhere(e, gradientIs(e, "eq", b, 0), slope));
  }
  if (gradient->needed[1]) {
    uint32_t flat = gradientAnd(e, gradientIs(e, "eq", a, 0), gradientIs(e, "ge", b, 0));
    uint32_t power = gradientWide(e, gradient->results[0]);
    uint32_t slope = gradientMul(e, power, sambaExpandUnary(e, "log", a));
    gradientSet(gradient, e, 1, gradientMul(e, g, gradientZeroWhere(e, flat, slope)));
  }

  return NULL;
}

/* Half each where both are equal. loses: the comparison of an operand with the other that says that
 * it is not the result. */
static SambaStatus chooses(const SambaGradientCall *gradient, SambaExpansion *e,
                           const char *loses) {
  uint32_t g = sambaGradientOfResult(gradient);
  uint32_t tie = sambaExpandBinary(e, "eq", gradient->operands[0], gradient->operands[1]);
  uint32_t share = gradientWhere(e, tie, gradientScale(e, g, 0.5), g);
  uint32_t zero = sambaExpandScalar(e, sambaExpansionType(e, g)->dtype, 0);

  for (uint32_t i = 0; i < 2; ++i)
    if (gradient->needed[i]) {
      uint32_t lost = sambaExpandBinary(e, loses, gradient->operands[i], gradient->operands[1 - i]);
      sambaGradientBroadcast(gradient, e, i, gradientWhere(e, lost, zero, share));
    }
  return NULL;
}
SambaStatus sambaGradientMaximum(const SambaGradientCall *gradient, SambaExpansion *e) {
  return chooses(gradient, e, "lt");
}
SambaStatus sambaGradientMinimum(const SambaGradientCall *gradient, SambaExpansion *e) {
  return chooses(gradient, e, "gt");
}

/* a - b * round(a / b): g, and -g * round(a / b) */
static SambaStatus divides(const SambaGradientCall *gradient, SambaExpansion *e,
                           const char *rounding) {
  sambaGradientBroadcast(gradient, e, 0, sambaGradientOfResult(gradient));
  if (gradient->needed[1]) {
    uint32_t quotient =
        gradientDiv(e, gradientWideOperand(gradient, e, 0), gradientWideOperand(gradient, e, 1));
    uint32_t whole = sambaExpandUnary(e, rounding, quotient);
    gradientSet(gradient, e, 1,
                gradientNeg(e, gradientMul(e, gradientWideFlow(gradient, e), whole)));
  }
  return NULL;
}
SambaStatus sambaGradientFmod(const SambaGradientCall *gradient, SambaExpansion *e) {
  return divides(gradient, e, "trunc");
}
SambaStatus sambaGradientRemainder(const SambaGradientCall *gradient, SambaExpansion *e) {
  return divides(gradient, e, "floor");
}

/* x > 0 ? g : g * slope, and the sum of x > 0 ? 0 : g * x */
SambaStatus sambaGradientPrelu(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t x = gradientWideOperand(gradient, e, 0);
  uint32_t g = gradientWideFlow(gradient, e);
  uint32_t above = gradientIs(e, "gt", x, 0);

  if (gradient->needed[0]) {
    uint32_t below = gradientMul(e, g, gradientWideOperand(gradient, e, 1));
    gradientSet(gradient, e, 0, gradientWhere(e, above, g, below));
  }
  if (gradient->needed[1])
    gradientSet(gradient, e, 1, gradientZeroWhere(e, above, gradientMul(e, g, x)));
  return NULL;
}

SambaStatus sambaGradientWhere(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  uint32_t condition = gradient->operands[0];
  uint32_t zero = sambaExpandScalar(e, sambaExpansionType(e, g)->dtype, 0);
  if (gradient->needed[1])
    sambaGradientBroadcast(gradient, e, 1, gradientWhere(e, condition, g, zero));
  if (gradient->needed[2])
    sambaGradientBroadcast(gradient, e, 2, gradientWhere(e, condition, zero, g));
  return NULL;
}

/* --- one operand: the gradient passes, or does not --- */

SambaStatus sambaGradientNeg(const SambaGradientCall *gradient, SambaExpansion *e) {
  gradient->operand_gradients[0] = gradientNeg(e, sambaGradientOfResult(gradient));
  return NULL;
}

SambaStatus sambaGradientSame(const SambaGradientCall *gradient, SambaExpansion *e) {
  (void)e;
  gradient->operand_gradients[0] = sambaGradientOfResult(gradient);
  return NULL;
}

SambaStatus sambaGradientContiguousBackward(const SambaGradientCall *gradient, SambaExpansion *e) {
  gradient->operand_gradients[0] =
      sambaExpandUnary(e, "contiguous", sambaGradientOfResult(gradient));
  return NULL;
}

SambaStatus sambaGradientCast(const SambaGradientCall *gradient, SambaExpansion *e) {
  gradient->operand_gradients[0] =
      sambaExpandCast(e, sambaGradientOfResult(gradient), gradient->call->operands[0].dtype);
  return NULL;
}

static void setWhereElseZero(const SambaGradientCall *gradient, SambaExpansion *e,
                             uint32_t condition) {
  gradient->operand_gradients[0] =
      gradientWhereElseZero(e, condition, sambaGradientOfResult(gradient));
}

/* 0 at 0; a NaN passes the gradient on, as it does in torch. */
SambaStatus sambaGradientRelu(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t cut = sambaExpandWithNumber(e, "le", gradient->results[0], 0);
  uint32_t g = sambaGradientOfResult(gradient);
  uint32_t zero = sambaExpandScalar(e, sambaExpansionType(e, g)->dtype, 0);
  gradient->operand_gradients[0] = gradientWhere(e, cut, zero, g);
  return NULL;
}

/* 1 at the bounds */
SambaStatus sambaGradientClamp(const SambaGradientCall *gradient, SambaExpansion *e) {
  static const char *const bounds[] = {"min", "max"}, *const comparisons[] = {"ge", "le"};
  uint32_t inside = SAMBA_NO_INDEX;

  for (int i = 0; i < 2; ++i) {
    if (!sambaOperatorCallFind(gradient->call, bounds[i]))
      continue;
    double bound = sambaOperatorCallFloat(gradient->call, bounds[i]);
    uint32_t fits = gradientIs(e, comparisons[i], gradient->operands[0], bound);
    inside = inside == SAMBA_NO_INDEX ? fits : gradientAnd(e, inside, fits);
  }
  if (inside == SAMBA_NO_INDEX)
    gradient->operand_gradients[0] = sambaGradientOfResult(gradient);
  else
    setWhereElseZero(gradient, e, inside);

  return NULL;
}

SambaStatus sambaGradientThreshold(const SambaGradientCall *gradient, SambaExpansion *e) {
  double threshold = sambaOperatorCallFloat(gradient->call, "threshold");
  setWhereElseZero(gradient, e, gradientIs(e, "gt", gradient->operands[0], threshold));
  return NULL;
}

SambaStatus sambaGradientShrink(const SambaGradientCall *gradient, SambaExpansion *e) {
  double lambd = sambaOperatorCallFloat(gradient->call, "lambd");
  uint32_t above = gradientIs(e, "gt", gradient->operands[0], lambd);
  uint32_t below = gradientIs(e, "lt", gradient->operands[0], -lambd);
  setWhereElseZero(gradient, e, sambaExpandBinary(e, "logical_or", above, below));
  return NULL;
}

/* --- one operand: f'(x) * g --- */

SambaStatus sambaGradientBySlope(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t x = gradientWideOperand(gradient, e, 0);
  uint32_t slope =
      gradient->call->operator->slope(gradient->call, e, x, gradientWide(e, gradient->results[0]));
  gradientSet(gradient, e, 0, gradientMul(e, gradientWideFlow(gradient, e), slope));
  return NULL;
}
