/* Gradients of elementwise operators; see elementwise_gradients.h. Where more than one operation is
 * rounded they are in f32, and the gradient is rounded to the operand's dtype at the end. */
#include "dialect/samba/table/elementwise/elementwise_gradients.h"

#include "dialect/samba/table/core/gradient_calls.h"

#include <math.h>

static uint32_t plus(SambaExpansion *e, uint32_t a, double number) {
  return sambaExpandWithNumber(e, "add", a, number);
}
static uint32_t square(SambaExpansion *e, uint32_t a) { return gradientMul(e, a, a); }
static uint32_t number(SambaExpansion *e, const char *comparison, uint32_t a, double number) {
  return sambaExpandWithNumber(e, comparison, a, number);
}
static uint32_t and(SambaExpansion *e, uint32_t a, uint32_t b) {
  return sambaExpandBinary(e, "logical_and", a, b);
}
/* condition ? 0 : value */
static uint32_t zeroWhere(SambaExpansion *e, uint32_t condition, uint32_t value) {
  return gradientWhere(e, condition, gradientNumber(e, 0), value);
}

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
    uint32_t lower = sambaExpandBinary(e, "pow", a, plus(e, b, -1));
    uint32_t slope = gradientMul(e, gradientMul(e, g, b), lower);
    gradientSet(gradient, e, 0, zeroWhere(e, number(e, "eq", b, 0), slope));
  }
  if (gradient->needed[1]) {
    uint32_t flat = and(e, number(e, "eq", a, 0), number(e, "ge", b, 0));
    uint32_t power = gradientWide(e, gradient->results[0]);
    uint32_t slope = gradientMul(e, power, sambaExpandUnary(e, "log", a));
    gradientSet(gradient, e, 1, gradientMul(e, g, zeroWhere(e, flat, slope)));
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
  uint32_t above = number(e, "gt", x, 0);

  if (gradient->needed[0]) {
    uint32_t below = gradientMul(e, g, gradientWideOperand(gradient, e, 1));
    gradientSet(gradient, e, 0, gradientWhere(e, above, g, below));
  }
  if (gradient->needed[1])
    gradientSet(gradient, e, 1, zeroWhere(e, above, gradientMul(e, g, x)));
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
    uint32_t fits = number(e, comparisons[i], gradient->operands[0], bound);
    inside = inside == SAMBA_NO_INDEX ? fits : and(e, inside, fits);
  }
  if (inside == SAMBA_NO_INDEX)
    gradient->operand_gradients[0] = sambaGradientOfResult(gradient);
  else
    setWhereElseZero(gradient, e, inside);

  return NULL;
}

SambaStatus sambaGradientThreshold(const SambaGradientCall *gradient, SambaExpansion *e) {
  double threshold = sambaOperatorCallFloat(gradient->call, "threshold");
  setWhereElseZero(gradient, e, number(e, "gt", gradient->operands[0], threshold));
  return NULL;
}

SambaStatus sambaGradientShrink(const SambaGradientCall *gradient, SambaExpansion *e) {
  double lambd = sambaOperatorCallFloat(gradient->call, "lambd");
  uint32_t above = number(e, "gt", gradient->operands[0], lambd);
  uint32_t below = number(e, "lt", gradient->operands[0], -lambd);
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

#define SLOPE(name)                                                                                \
  uint32_t sambaSlope##name(const SambaOperatorCall *call, SambaExpansion *e, uint32_t x,          \
                            uint32_t y)
#define PARAMETER(name) sambaOperatorCallFloat(call, name)
#define UNUSED (void)call, (void)e, (void)x, (void)y

SLOPE(Abs) {
  UNUSED;
  return sambaExpandUnary(e, "sign", x);
}
SLOPE(Exp) {
  UNUSED;
  return y;
}
SLOPE(Log) {
  UNUSED;
  return sambaExpandUnary(e, "reciprocal", x);
}
SLOPE(Sqrt) {
  UNUSED;
  return gradientDiv(e, gradientNumber(e, 0.5), y);
}
SLOPE(Rsqrt) {
  UNUSED;
  return gradientMul(e, gradientScale(e, y, -0.5), square(e, y));
}
/* 1 - y^2 = (1 - y) (1 + y), which loses less */
static uint32_t oneMinusSquare(SambaExpansion *e, uint32_t y) {
  return gradientMul(e, gradientSub(e, gradientNumber(e, 1), y), plus(e, y, 1));
}
SLOPE(Tanh) {
  UNUSED;
  return oneMinusSquare(e, y);
}
SLOPE(Erf) {
  UNUSED;
  uint32_t bell = sambaExpandUnary(e, "exp", gradientNeg(e, square(e, x)));
  return gradientScale(e, bell, 1.1283791670955126); /* 2 / sqrt(pi) */
}
SLOPE(Sin) {
  UNUSED;
  return sambaExpandUnary(e, "cos", x);
}
SLOPE(Cos) {
  UNUSED;
  return gradientNeg(e, sambaExpandUnary(e, "sin", x));
}
SLOPE(Expm1) {
  UNUSED;
  return plus(e, y, 1);
}
SLOPE(Log1p) {
  UNUSED;
  return sambaExpandUnary(e, "reciprocal", plus(e, x, 1));
}
SLOPE(Reciprocal) {
  UNUSED;
  return gradientNeg(e, square(e, y));
}

SLOPE(Atan) {
  UNUSED;
  return sambaExpandUnary(e, "reciprocal", plus(e, square(e, x), 1));
}
SLOPE(Tan) {
  UNUSED;
  return plus(e, square(e, y), 1);
}
SLOPE(Asin) {
  UNUSED;
  return sambaExpandUnary(e, "rsqrt", oneMinusSquare(e, x));
}
SLOPE(Acos) { return gradientNeg(e, sambaSlopeAsin(call, e, x, y)); }
SLOPE(Sinh) {
  UNUSED;
  return sambaExpandUnary(e, "cosh", x);
}
SLOPE(Cosh) {
  UNUSED;
  return sambaExpandUnary(e, "sinh", x);
}
SLOPE(Asinh) {
  UNUSED;
  return sambaExpandUnary(e, "rsqrt", plus(e, square(e, x), 1));
}
SLOPE(Acosh) {
  UNUSED;
  uint32_t more = gradientMul(e, plus(e, x, -1), plus(e, x, 1)); /* x^2 - 1 */
  return sambaExpandUnary(e, "rsqrt", more);
}
SLOPE(Atanh) {
  UNUSED;
  return sambaExpandUnary(e, "reciprocal", oneMinusSquare(e, x));
}

SLOPE(Sigmoid) {
  UNUSED;
  return gradientMul(e, y, gradientSub(e, gradientNumber(e, 1), y));
}
/* s (1 + x (1 - s)), s = sigmoid(x) */
SLOPE(Silu) {
  UNUSED;
  uint32_t s = sambaExpandUnary(e, "sigmoid", x);
  uint32_t rest = gradientMul(e, x, gradientSub(e, gradientNumber(e, 1), s));
  return gradientMul(e, s, plus(e, rest, 1));
}
SLOPE(Softplus) {
  UNUSED;
  return sambaExpandUnary(e, "sigmoid", x);
}
SLOPE(Logsigmoid) {
  UNUSED;
  return sambaExpandUnary(e, "sigmoid", gradientNeg(e, x));
}
/* 0 below -3, 1 above 3, x / 3 + 1 / 2 between */
SLOPE(Hardswish) {
  UNUSED;
  uint32_t between = plus(e, gradientDiv(e, x, gradientNumber(e, 3)), 0.5);
  uint32_t more = gradientWhere(e, number(e, "gt", x, 3), gradientNumber(e, 1), between);
  return zeroWhere(e, number(e, "lt", x, -3), more);
}
SLOPE(LeakyRelu) {
  UNUSED;
  return gradientWhere(e, number(e, "gt", x, 0), gradientNumber(e, 1),
                       gradientNumber(e, PARAMETER("negative_slope")));
}
/* x > 0 ? 1 : factor * e^(x / divisor) */
static uint32_t exponential(SambaExpansion *e, uint32_t x, double above, double factor,
                            double divisor) {
  uint32_t scaled = divisor == 1 ? x : gradientDiv(e, x, gradientNumber(e, divisor));
  uint32_t grown = sambaExpandUnary(e, "exp", scaled);
  if (factor != 1)
    grown = gradientScale(e, grown, factor);
  return gradientWhere(e, number(e, "gt", x, 0), gradientNumber(e, above), grown);
}
SLOPE(Elu) {
  UNUSED;
  return exponential(e, x, 1, PARAMETER("alpha"), 1);
}
SLOPE(Celu) {
  UNUSED;
  return exponential(e, x, 1, 1, PARAMETER("alpha"));
}
SLOPE(Selu) {
  UNUSED;
  double scale = PARAMETER("scale");
  return exponential(e, x, scale, scale * PARAMETER("alpha"), 1);
}
SLOPE(Hardsigmoid) {
  UNUSED;
  uint32_t inside = and(e, number(e, "gt", y, 0), number(e, "lt", y, 1));
  return gradientWhere(e, inside, gradientNumber(e, PARAMETER("alpha")), gradientNumber(e, 0));
}
/* Phi(x) + x phi(x) */
static uint32_t slopeGeluExact(SambaExpansion *e, uint32_t x) {
  uint32_t erf = sambaExpandUnary(e, "erf", gradientScale(e, x, M_SQRT1_2));
  uint32_t below = gradientScale(e, plus(e, erf, 1), 0.5);
  uint32_t bell = sambaExpandUnary(e, "exp", gradientScale(e, square(e, x), -0.5));
  bell = gradientScale(e, bell, 0.3989422804014327); /* 1 / sqrt(2 pi) */
  return gradientAdd(e, below, gradientMul(e, x, bell));
}
/* With t = tanh(u), u = c (x + d x^3): (1 + t) / 2 + x / 2 (1 - t^2) c (1 + 3 d x^2) */
SLOPE(Gelu) {
  UNUSED;
  const double c = 0.7978845608028654, d = 0.044715; /* c = sqrt(2 / pi) */
  if (!sambaStringRefEqualC(sambaOperatorCallString(call, "approximate"), "tanh"))
    return slopeGeluExact(e, x);
  uint32_t squared = square(e, x);
  uint32_t inner = gradientMul(e, x, plus(e, gradientScale(e, squared, d), 1));
  uint32_t t = sambaExpandUnary(e, "tanh", gradientScale(e, inner, c));
  uint32_t steep = oneMinusSquare(e, t);
  uint32_t moved = plus(e, gradientScale(e, squared, 3 * d), 1);
  uint32_t right = gradientMul(e, gradientMul(e, x, steep), gradientScale(e, moved, 0.5 * c));
  return gradientAdd(e, gradientScale(e, plus(e, t, 1), 0.5), right);
}
/* 1 / (1 + |x|)^2 */
SLOPE(Softsign) {
  UNUSED;
  uint32_t divisor = plus(e, sambaExpandUnary(e, "abs", x), 1);
  return sambaExpandUnary(e, "reciprocal", square(e, divisor));
}
/* t + x sigmoid(x) (1 - t^2), t = tanh(softplus(x)) */
SLOPE(Mish) {
  UNUSED;
  uint32_t t = sambaExpandUnary(e, "tanh", sambaExpandUnary(e, "softplus", x));
  uint32_t steep = oneMinusSquare(e, t);
  uint32_t right = gradientMul(e, gradientMul(e, x, sambaExpandUnary(e, "sigmoid", x)), steep);
  return gradientAdd(e, t, right);
}
