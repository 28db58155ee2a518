/* Gradients of elementwise operators; see elementwise_gradients.h. Where more than one operation is
 * rounded they are in f32, and the gradient is rounded to the operand's dtype at the end. */
#include "dialect/samba/table/elementwise/elementwise_gradients.h"

#include "dialect/samba/table/calls/gradient_calls.h"

/* --- two or three operands --- */

SambaStatus sambaGradientAdd(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t g = sambaGradientOfResult(gradient);
  sambaGradientBroadcast(gradient, expansion, 0, g);
  sambaGradientBroadcast(gradient, expansion, 1, g);
  return NULL;
}

SambaStatus sambaGradientSub(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t g = sambaGradientOfResult(gradient);
  sambaGradientBroadcast(gradient, expansion, 0, g);
  if (gradient->needed[1])
    sambaGradientBroadcast(gradient, expansion, 1, gradientNeg(expansion, g));
  return NULL;
}

SambaStatus sambaGradientMul(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t g = gradientWideFlow(gradient, expansion);
  for (uint32_t i = 0; i < 2; ++i)
    if (gradient->needed[i])
      gradientSet(gradient, expansion, i,
                  gradientMul(expansion, g, gradientWideOperand(gradient, expansion, 1 - i)));
  return NULL;
}

/* a / b: g / b, and -(g / b) * (a / b) */
SambaStatus sambaGradientDiv(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t quotient = gradientDiv(expansion, gradientWideFlow(gradient, expansion),
                                  gradientWideOperand(gradient, expansion, 1));
  if (gradient->needed[0])
    gradientSet(gradient, expansion, 0, quotient);
  if (gradient->needed[1])
    gradientSet(gradient, expansion, 1,
                gradientNeg(expansion, gradientMul(expansion, quotient,
                                                   gradientWide(expansion, gradient->results[0]))));
  return NULL;
}

/* a^b: g b a^(b - 1), 0 where b is 0; g a^b ln a, 0 where a is 0 and b is not negative. */
SambaStatus sambaGradientPow(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t a = gradientWideOperand(gradient, expansion, 0);
  uint32_t b = gradientWideOperand(gradient, expansion, 1);
  uint32_t g = gradientWideFlow(gradient, expansion);

  if (gradient->needed[0]) {
    uint32_t lower = sambaExpandBinary(expansion, "pow", a, gradientPlus(expansion, b, -1));
    uint32_t slope = gradientMul(expansion, gradientMul(expansion, g, b), lower);
    gradientSet(gradient, expansion, 0,
                gradientZeroWhere(expansion, gradientIs(expansion, "eq", b, 0), slope));
  }
  if (gradient->needed[1]) {
    uint32_t flat = gradientAnd(expansion, gradientIs(expansion, "eq", a, 0),
                                gradientIs(expansion, "ge", b, 0));
    uint32_t power = gradientWide(expansion, gradient->results[0]);
    uint32_t slope = gradientMul(expansion, power, sambaExpandUnary(expansion, "log", a));
    gradientSet(gradient, expansion, 1,
                gradientMul(expansion, g, gradientZeroWhere(expansion, flat, slope)));
  }

  return NULL;
}

/* Half each where both are equal. loses: the comparison of an operand with the other that says that
 * it is not the result. */
static SambaStatus chooses(const SambaGradientCall *gradient, SambaExpansion *expansion,
                           const char *loses) {
  uint32_t g = sambaGradientOfResult(gradient);
  uint32_t tie = sambaExpandBinary(expansion, "eq", gradient->operands[0], gradient->operands[1]);
  uint32_t share = gradientWhere(expansion, tie, gradientScale(expansion, g, 0.5), g);
  uint32_t zero = sambaExpandScalar(expansion, sambaExpansionType(expansion, g)->dtype, 0);

  for (uint32_t i = 0; i < 2; ++i)
    if (gradient->needed[i]) {
      uint32_t lost =
          sambaExpandBinary(expansion, loses, gradient->operands[i], gradient->operands[1 - i]);
      sambaGradientBroadcast(gradient, expansion, i, gradientWhere(expansion, lost, zero, share));
    }
  return NULL;
}
SambaStatus sambaGradientMaximum(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  return chooses(gradient, expansion, "lt");
}
SambaStatus sambaGradientMinimum(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  return chooses(gradient, expansion, "gt");
}

/* a - b * round(a / b): g, and -g * round(a / b) */
static SambaStatus divides(const SambaGradientCall *gradient, SambaExpansion *expansion,
                           const char *rounding) {
  sambaGradientBroadcast(gradient, expansion, 0, sambaGradientOfResult(gradient));
  if (gradient->needed[1]) {
    uint32_t quotient = gradientDiv(expansion, gradientWideOperand(gradient, expansion, 0),
                                    gradientWideOperand(gradient, expansion, 1));
    uint32_t whole = sambaExpandUnary(expansion, rounding, quotient);
    gradientSet(gradient, expansion, 1,
                gradientNeg(expansion,
                            gradientMul(expansion, gradientWideFlow(gradient, expansion), whole)));
  }
  return NULL;
}
SambaStatus sambaGradientFmod(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  return divides(gradient, expansion, "trunc");
}
SambaStatus sambaGradientRemainder(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  return divides(gradient, expansion, "floor");
}

/* x > 0 ? g : g * slope, and the sum of x > 0 ? 0 : g * x */
SambaStatus sambaGradientPrelu(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  uint32_t g = gradientWideFlow(gradient, expansion);
  uint32_t above = gradientIs(expansion, "gt", x, 0);

  if (gradient->needed[0]) {
    uint32_t below = gradientMul(expansion, g, gradientWideOperand(gradient, expansion, 1));
    gradientSet(gradient, expansion, 0, gradientWhere(expansion, above, g, below));
  }
  if (gradient->needed[1])
    gradientSet(gradient, expansion, 1,
                gradientZeroWhere(expansion, above, gradientMul(expansion, g, x)));
  return NULL;
}

SambaStatus sambaGradientWhere(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t g = sambaGradientOfResult(gradient);
  uint32_t condition = gradient->operands[0];
  uint32_t zero = sambaExpandScalar(expansion, sambaExpansionType(expansion, g)->dtype, 0);
  if (gradient->needed[1])
    sambaGradientBroadcast(gradient, expansion, 1, gradientWhere(expansion, condition, g, zero));
  if (gradient->needed[2])
    sambaGradientBroadcast(gradient, expansion, 2, gradientWhere(expansion, condition, zero, g));
  return NULL;
}

/* --- one operand: the gradient passes, or does not --- */

SambaStatus sambaGradientNeg(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  gradient->operand_gradients[0] = gradientNeg(expansion, sambaGradientOfResult(gradient));
  return NULL;
}

SambaStatus sambaGradientSame(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  (void)expansion;
  gradient->operand_gradients[0] = sambaGradientOfResult(gradient);
  return NULL;
}

SambaStatus sambaGradientContiguousBackward(const SambaGradientCall *gradient,
                                            SambaExpansion *expansion) {
  gradient->operand_gradients[0] =
      sambaExpandUnary(expansion, "contiguous", sambaGradientOfResult(gradient));
  return NULL;
}

SambaStatus sambaGradientCast(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  gradient->operand_gradients[0] = sambaExpandCast(expansion, sambaGradientOfResult(gradient),
                                                   gradient->call->operands[0].dtype);
  return NULL;
}

static void setWhereElseZero(const SambaGradientCall *gradient, SambaExpansion *expansion,
                             uint32_t condition) {
  gradient->operand_gradients[0] =
      gradientWhereElseZero(expansion, condition, sambaGradientOfResult(gradient));
}

/* 0 at 0; a NaN passes the gradient on, as it does in torch. */
SambaStatus sambaGradientRelu(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t cut = sambaExpandWithNumber(expansion, "le", gradient->results[0], 0);
  uint32_t g = sambaGradientOfResult(gradient);
  uint32_t zero = sambaExpandScalar(expansion, sambaExpansionType(expansion, g)->dtype, 0);
  gradient->operand_gradients[0] = gradientWhere(expansion, cut, zero, g);
  return NULL;
}

/* 1 at the bounds */
SambaStatus sambaGradientClamp(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  static const char *const bounds[] = {"min", "max"}, *const comparisons[] = {"ge", "le"};
  uint32_t inside = SAMBA_NO_INDEX;

  for (int i = 0; i < 2; ++i) {
    if (!sambaOperatorCallFind(gradient->call, bounds[i]))
      continue;
    double bound = sambaOperatorCallFloat(gradient->call, bounds[i]);
    uint32_t fits = gradientIs(expansion, comparisons[i], gradient->operands[0], bound);
    inside = inside == SAMBA_NO_INDEX ? fits : gradientAnd(expansion, inside, fits);
  }
  if (inside == SAMBA_NO_INDEX)
    gradient->operand_gradients[0] = sambaGradientOfResult(gradient);
  else
    setWhereElseZero(gradient, expansion, inside);

  return NULL;
}

SambaStatus sambaGradientThreshold(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  double threshold = sambaOperatorCallFloat(gradient->call, "threshold");
  setWhereElseZero(gradient, expansion,
                   gradientIs(expansion, "gt", gradient->operands[0], threshold));
  return NULL;
}

SambaStatus sambaGradientShrink(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  double lambd = sambaOperatorCallFloat(gradient->call, "lambd");
  uint32_t above = gradientIs(expansion, "gt", gradient->operands[0], lambd);
  uint32_t below = gradientIs(expansion, "lt", gradient->operands[0], -lambd);
  setWhereElseZero(gradient, expansion, sambaExpandBinary(expansion, "logical_or", above, below));
  return NULL;
}

/* --- one operand: f'(x) * g --- */

SambaStatus sambaGradientBySlope(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  uint32_t slope = gradient->call->operator->slope(gradient->call, expansion, x,
                                                   gradientWide(expansion, gradient->results[0]));
  gradientSet(gradient, expansion, 0,
              gradientMul(expansion, gradientWideFlow(gradient, expansion), slope));
  return NULL;
}
