/* Trigonometric and hyperbolic functions: elementwise, composed of the machine's transcendental
 * operations in f32 so that no step cancels. Measured errors are in docs/numerics.md. */
#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/elementwise/elementwise.h"
#include "dialect/samba/table/elementwise/elementwise_gradients.h"

#include <math.h>

static uint16_t add(SambaStageBuilder *builder, uint16_t x, uint16_t y) {
  return sambaLane2(builder, SAMBA_LANE_ADD, x, y);
}
static uint16_t sub(SambaStageBuilder *builder, uint16_t x, uint16_t y) {
  return sambaLane2(builder, SAMBA_LANE_SUB, x, y);
}
static uint16_t mul(SambaStageBuilder *builder, uint16_t x, uint16_t y) {
  return sambaLane2(builder, SAMBA_LANE_MUL, x, y);
}
static uint16_t divide(SambaStageBuilder *builder, uint16_t x, uint16_t y) {
  return sambaLane2(builder, SAMBA_LANE_DIV, x, y);
}
static uint16_t apply(SambaStageBuilder *builder, SambaLaneOpcode opcode, uint16_t x) {
  return sambaLane1(builder, opcode, x);
}
static uint16_t number(SambaStageBuilder *builder, double value) {
  return sambaLaneFloat(builder, value);
}

/* Of an odd function f: x itself where it is nearer to f(x) than 2^-25 (so -0 stays), else
 * magnitude = f(|x|) with x's sign. */
static uint16_t odd(SambaStageBuilder *builder, uint16_t x, uint16_t absolute, uint16_t magnitude) {
  uint16_t below = sambaLane2(builder, SAMBA_LANE_LT, x, number(builder, 0));
  uint16_t far =
      sambaLaneSelect(builder, below, apply(builder, SAMBA_LANE_NEG, magnitude), magnitude);
  return sambaLaneSelect(
      builder, sambaLane2(builder, SAMBA_LANE_LT, absolute, number(builder, 0x1p-12)), x, far);
}

static uint16_t programTan(const SambaOperatorCall *call, SambaStageBuilder *builder,
                           const uint16_t *x) {
  (void)call;
  return divide(builder, apply(builder, SAMBA_LANE_SIN, *x), apply(builder, SAMBA_LANE_COS, *x));
}

/* atan(x / sqrt(1 - x^2)); beyond 1 the root is NaN, at 1 the quotient is infinite */
static uint16_t programAsin(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  (void)call;
  uint16_t rest = sambaLaneFma(builder, apply(builder, SAMBA_LANE_NEG, *x), *x, number(builder, 1));
  return apply(builder, SAMBA_LANE_ATAN,
               divide(builder, *x, apply(builder, SAMBA_LANE_SQRT, rest)));
}

/* 2 atan(sqrt((1 - x) / (1 + x))) */
static uint16_t programAcos(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  (void)call;
  uint16_t one = number(builder, 1);
  uint16_t ratio = divide(builder, sub(builder, one, *x), add(builder, one, *x));
  return mul(builder, apply(builder, SAMBA_LANE_ATAN, apply(builder, SAMBA_LANE_SQRT, ratio)),
             number(builder, 2));
}

/* From 16 on, where e^-|x| is below a rounding error, hyperbolic functions take e^(|x| -
 * 3) * e^3 / 2, which does not overflow before they do: e^3 / 2 is nearly an f32, and the
 * difference is exact. */
typedef struct {
  uint16_t large, grown, factor; /* expm1 of |x| or |x| - 3; 1/2 or e^3 / 2 */
} Growth;
static Growth growthOf(SambaStageBuilder *builder, uint16_t absolute) {
  uint16_t large = sambaLane2(builder, SAMBA_LANE_GE, absolute, number(builder, 16));
  uint16_t less = sub(builder, absolute,
                      sambaLaneSelect(builder, large, number(builder, 3), number(builder, 0)));
  return (Growth){
      large, apply(builder, SAMBA_LANE_EXPM1, less),
      sambaLaneSelect(builder, large, number(builder, 0x1.415e5cp+3), number(builder, 0.5))};
}

/* With e = expm1(|x|): (e + e / (e + 1)) / 2 */
static uint16_t programSinh(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  (void)call;
  uint16_t absolute = apply(builder, SAMBA_LANE_ABS, *x);
  Growth e = growthOf(builder, absolute);
  uint16_t whole = add(builder, e.grown, number(builder, 1));
  uint16_t other =
      sambaLaneSelect(builder, e.large, number(builder, 1), divide(builder, e.grown, whole));
  return odd(builder, *x, absolute, mul(builder, add(builder, e.grown, other), e.factor));
}

/* With h = e^|x| / 2: h + 1 / (4 h) */
static uint16_t programCosh(const SambaOperatorCall *call, SambaStageBuilder *builder,
                            const uint16_t *x) {
  (void)call;
  Growth e = growthOf(builder, apply(builder, SAMBA_LANE_ABS, *x));
  uint16_t h = mul(builder, add(builder, e.grown, number(builder, 1)), e.factor);
  return add(builder, h, divide(builder, number(builder, 0.25), h));
}

/* log(1 + w) where `large` says no, log(w) + ln 2 where yes: log1p and log agree there. */
static uint16_t logarithmOf(SambaStageBuilder *builder, uint16_t large, uint16_t near,
                            uint16_t far) {
  uint16_t logarithm = apply(builder, SAMBA_LANE_LOG1P, sambaLaneSelect(builder, large, far, near));
  return add(
      builder, logarithm,
      sambaLaneSelect(builder, large, number(builder, 0.69314718055994530942), number(builder, 0)));
}

/* With y = |x|: log1p(y + y^2 / (1 + sqrt(1 + y^2))); from 2^26 on log(2 y) */
static uint16_t programAsinh(const SambaOperatorCall *call, SambaStageBuilder *builder,
                             const uint16_t *x) {
  (void)call;
  uint16_t y = apply(builder, SAMBA_LANE_ABS, *x);
  uint16_t square = mul(builder, y, y);
  uint16_t one = number(builder, 1);
  uint16_t root = apply(builder, SAMBA_LANE_SQRT, add(builder, square, one));
  uint16_t near = add(builder, y, divide(builder, square, add(builder, root, one)));
  uint16_t large = sambaLane2(builder, SAMBA_LANE_GT, y, number(builder, 0x1p26));
  return odd(builder, *x, y, logarithmOf(builder, large, near, y));
}

/* With t = x - 1: log1p(t + sqrt(t^2 + 2 t)); from 2^26 on log(2 x) */
static uint16_t programAcosh(const SambaOperatorCall *call, SambaStageBuilder *builder,
                             const uint16_t *x) {
  (void)call;
  uint16_t one = number(builder, 1);
  uint16_t t = sub(builder, *x, one);
  uint16_t square = sambaLaneFma(builder, t, t, add(builder, t, t));
  uint16_t large = sambaLane2(builder, SAMBA_LANE_GT, *x, number(builder, 0x1p26));
  uint16_t value =
      logarithmOf(builder, large, add(builder, t, apply(builder, SAMBA_LANE_SQRT, square)), *x);
  return sambaLaneSelect(builder, sambaLane2(builder, SAMBA_LANE_LT, *x, one),
                         number(builder, (double)NAN), value);
}

/* With y = |x|: log1p(2 y / (1 - y)) / 2 */
static uint16_t programAtanh(const SambaOperatorCall *call, SambaStageBuilder *builder,
                             const uint16_t *x) {
  (void)call;
  uint16_t y = apply(builder, SAMBA_LANE_ABS, *x);
  uint16_t ratio = divide(builder, add(builder, y, y), sub(builder, number(builder, 1), y));
  return odd(builder, *x, y,
             mul(builder, apply(builder, SAMBA_LANE_LOG1P, ratio), number(builder, 0.5)));
}

/* --- derivatives --- */

SLOPE(slopeAtan) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "reciprocal",
                          gradientPlus(expansion, gradientSquare(expansion, x), 1));
}
SLOPE(slopeTan) {
  SLOPE_IGNORES;
  return gradientPlus(expansion, gradientSquare(expansion, y), 1);
}
SLOPE(slopeAsin) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "rsqrt", gradientOneMinusSquare(expansion, x));
}
SLOPE(slopeAcos) { return gradientNeg(expansion, slopeAsin(call, expansion, x, y)); }
SLOPE(slopeSinh) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "cosh", x);
}
SLOPE(slopeCosh) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "sinh", x);
}
SLOPE(slopeAsinh) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "rsqrt",
                          gradientPlus(expansion, gradientSquare(expansion, x), 1));
}
SLOPE(slopeAcosh) {
  SLOPE_IGNORES;
  uint32_t more = gradientMul(expansion, gradientPlus(expansion, x, -1),
                              gradientPlus(expansion, x, 1)); /* x^2 - 1 */
  return sambaExpandUnary(expansion, "rsqrt", more);
}
SLOPE(slopeAtanh) {
  SLOPE_IGNORES;
  return sambaExpandUnary(expansion, "reciprocal", gradientOneMinusSquare(expansion, x));
}

const SambaOperator sambaTrigonometricOperators[] = {
    {.name = "atan",
     .formula = "arc tangent of x, in [-pi/2, pi/2]",
     .onnx = {ONNX("Atan", 7)},
     BY_SLOPE(slopeAtan),
     UNARY_OPCODE(SAMBA_SET_FLOAT, SAMBA_LANE_ATAN)},
    {.name = "tan",
     .formula = "tan x",
     .onnx = {ONNX("Tan", 7)},
     BY_SLOPE(slopeTan),
     UNARY(SAMBA_SET_FLOAT, programTan)},
    {.name = "asin",
     .formula = "arc sine of x, in [-pi/2, pi/2]",
     .onnx = {ONNX("Asin", 7)},
     BY_SLOPE(slopeAsin),
     UNARY(SAMBA_SET_FLOAT, programAsin)},
    {.name = "acos",
     .formula = "arc cosine of x, in [0, pi]",
     .onnx = {ONNX("Acos", 7)},
     BY_SLOPE(slopeAcos),
     UNARY(SAMBA_SET_FLOAT, programAcos)},
    {.name = "sinh",
     .formula = "sinh x",
     .onnx = {ONNX("Sinh", 9)},
     BY_SLOPE(slopeSinh),
     UNARY(SAMBA_SET_FLOAT, programSinh)},
    {.name = "cosh",
     .formula = "cosh x",
     .onnx = {ONNX("Cosh", 9)},
     BY_SLOPE(slopeCosh),
     UNARY(SAMBA_SET_FLOAT, programCosh)},
    {.name = "asinh",
     .formula = "inverse of sinh",
     .onnx = {ONNX("Asinh", 9)},
     BY_SLOPE(slopeAsinh),
     UNARY(SAMBA_SET_FLOAT, programAsinh)},
    {.name = "acosh",
     .formula = "inverse of cosh, 0 or more",
     .onnx = {ONNX("Acosh", 9)},
     BY_SLOPE(slopeAcosh),
     UNARY(SAMBA_SET_FLOAT, programAcosh)},
    {.name = "atanh",
     .formula = "inverse of tanh",
     .onnx = {ONNX("Atanh", 9)},
     BY_SLOPE(slopeAtanh),
     UNARY(SAMBA_SET_FLOAT, programAtanh)},
    {0}};
