/* Operations in bodies; see body_operations.h. */
#include "dialect/stages/body_operations.h"

#include "dialect/samba/table/registry/registry.h"

#include <math.h>

typedef SambaStageBuilder Builder;

static SambaDType laneOf(const SambaBodyCall *call, uint16_t value) {
  return (SambaDType)call->builder->types[value];
}

static bool isFloat(const SambaBodyCall *call, uint32_t i) {
  return sambaDTypeIsFloat(call->dtypes[i]);
}

/* Integer numbers of n bits, of which the lane class has more. */
static unsigned bitsOf(SambaDType dtype) {
  return dtype == SAMBA_DTYPE_I1 ? 1 : 8 * sambaDTypeBytes(dtype);
}

static uint16_t op2(const SambaBodyCall *call, SambaLaneOpcode opcode, uint16_t x, uint16_t y) {
  return sambaLane2(call->builder, opcode, x, y);
}

static uint16_t op1(const SambaBodyCall *call, SambaLaneOpcode opcode, uint16_t x) {
  return sambaLane1(call->builder, opcode, x);
}

static uint16_t number(const SambaBodyCall *call, uint16_t like, double value) {
  return sambaLaneNumber(call->builder, like, value);
}

static uint16_t notOf(const SambaBodyCall *call, uint16_t x) {
  return op2(call, SAMBA_LANE_XOR, x, sambaLaneInteger(call->builder, SAMBA_DTYPE_I1, 1));
}

static uint16_t bothOf(const SambaBodyCall *call, uint16_t x, uint16_t y) {
  return op2(call, SAMBA_LANE_AND, x, y);
}

static uint16_t choose(const SambaBodyCall *call, uint16_t condition, uint16_t yes, uint16_t no) {
  return sambaLaneSelect(call->builder, condition, yes, no);
}

/*===-- One lane operation --------------------------------------------------------------------===*/

static uint16_t plainFloat(const SambaBodyRow *row, const SambaBodyCall *call) {
  for (uint32_t i = 0; i < call->operand_count; ++i)
    if (!isFloat(call, i))
      return SAMBA_NO_VALUE;
  if (call->operand_count == 1)
    return op1(call, row->opcode, call->values[0]);
  if (call->operand_count == 3)
    return sambaLaneFma(call->builder, call->values[0], call->values[1], call->values[2]);
  return op2(call, row->opcode, call->values[0], call->values[1]);
}

/* On i1, sums and differences are exclusive or, products and. */
static uint8_t bitOpcode(uint8_t opcode) {
  switch (opcode) {
  case SAMBA_LANE_ADD:
  case SAMBA_LANE_SUB:
    return SAMBA_LANE_XOR;
  case SAMBA_LANE_MUL:
    return SAMBA_LANE_AND;
  case SAMBA_LANE_MAX: /* true is -1 */
    return SAMBA_LANE_AND;
  case SAMBA_LANE_MIN:
    return SAMBA_LANE_OR;
  default:
    return opcode;
  }
}

static uint16_t plainInteger(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint8_t opcode = row->opcode;
  if (isFloat(call, 0))
    return SAMBA_NO_VALUE;
  if (call->dtypes[0] == SAMBA_DTYPE_I1) {
    opcode = bitOpcode(opcode);
    if (opcode != SAMBA_LANE_XOR && opcode != SAMBA_LANE_AND && opcode != SAMBA_LANE_OR)
      return SAMBA_NO_VALUE;
  }
  return call->operand_count == 1 ? op1(call, opcode, call->values[0])
                                  : op2(call, opcode, call->values[0], call->values[1]);
}

static uint16_t selectProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  return choose(call, call->values[0], call->values[1], call->values[2]);
}

/* The program of an elementwise operator of the table. */
static uint16_t operatorProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  const SambaOperator *operator = sambaOperatorFind(sambaStringRef(row->operator));
  SambaTensorType types[2] = {{.dtype = SAMBA_DTYPE_F32}, {.dtype = SAMBA_DTYPE_F32}};
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  SambaOperatorCall made = {
      .operator = operator, .operand_count = call->operand_count, .operands = types};
  return operator->program(&made, call->builder, call->values);
}

/*===-- Comparisons ---------------------------------------------------------------------------===*/

/* MLIR's predicates of arith.cmpf. */
enum { oeq = 1, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno };

static uint16_t isOrdered(const SambaBodyCall *call) {
  uint16_t x = call->values[0], y = call->values[1];
  return bothOf(call, op2(call, SAMBA_LANE_EQ, x, x), op2(call, SAMBA_LANE_EQ, y, y));
}

static uint16_t isOther(const SambaBodyCall *call) {
  uint16_t x = call->values[0], y = call->values[1];
  return op2(call, SAMBA_LANE_OR, op2(call, SAMBA_LANE_LT, x, y), op2(call, SAMBA_LANE_GT, x, y));
}

static uint16_t compareFloats(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint16_t x = call->values[0], y = call->values[1];
  (void)row;
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  switch (call->predicate) {
  case oeq:
    return op2(call, SAMBA_LANE_EQ, x, y);
  case ogt:
    return op2(call, SAMBA_LANE_GT, x, y);
  case oge:
    return op2(call, SAMBA_LANE_GE, x, y);
  case olt:
    return op2(call, SAMBA_LANE_LT, x, y);
  case ole:
    return op2(call, SAMBA_LANE_LE, x, y);
  case one:
    return isOther(call);
  case ord:
    return isOrdered(call);
  case ueq:
    return notOf(call, isOther(call));
  case ugt:
    return notOf(call, op2(call, SAMBA_LANE_LE, x, y));
  case uge:
    return notOf(call, op2(call, SAMBA_LANE_LT, x, y));
  case ult:
    return notOf(call, op2(call, SAMBA_LANE_GE, x, y));
  case ule:
    return notOf(call, op2(call, SAMBA_LANE_GT, x, y));
  case une:
    return op2(call, SAMBA_LANE_NE, x, y);
  case uno:
    return notOf(call, isOrdered(call));
  default: /* false and true */
    return sambaLaneInteger(call->builder, SAMBA_DTYPE_I1, call->predicate != 0);
  }
}

/* With the sign bit turned, the order of unsigned numbers is that of signed ones. */
static uint16_t turnSign(const SambaBodyCall *call, uint16_t x) {
  SambaDType lane = laneOf(call, x);
  return op2(call, SAMBA_LANE_XOR, x,
             sambaLaneInteger(call->builder, lane,
                              lane == SAMBA_DTYPE_I64 ? INT64_MIN : (int64_t)INT32_MIN));
}

/* slt, sle, sgt, sge, ult, ... of single bits. Signed, true is -1: the order is turned. */
static uint16_t compareBits(const SambaBodyCall *call) {
  enum { equal, differ, slt, ult = 6 };
  uint16_t x = call->values[0], y = call->values[1];
  if (call->predicate <= differ) {
    uint16_t other = op2(call, SAMBA_LANE_XOR, x, y);
    return call->predicate == equal ? notOf(call, other) : other;
  }

  bool is_signed = call->predicate < ult;
  int64_t order = (call->predicate - slt) % 4; /* lt, le, gt, ge */
  bool less = (order < 2) != is_signed;
  uint16_t low = less ? x : y, high = less ? y : x;
  return op2(call, order % 2 ? SAMBA_LANE_OR : SAMBA_LANE_AND, notOf(call, low), high);
}

static uint16_t compareIntegers(const SambaBodyRow *row, const SambaBodyCall *call) {
  static const uint8_t opcodes[] = {SAMBA_LANE_EQ, SAMBA_LANE_NE, SAMBA_LANE_LT, SAMBA_LANE_LE,
                                    SAMBA_LANE_GT, SAMBA_LANE_GE, SAMBA_LANE_LT, SAMBA_LANE_LE,
                                    SAMBA_LANE_GT, SAMBA_LANE_GE};
  uint16_t x = call->values[0], y = call->values[1];
  (void)row;
  if (isFloat(call, 0) || call->predicate < 0 || call->predicate >= (int64_t)sizeof opcodes)
    return SAMBA_NO_VALUE;
  if (call->dtypes[0] == SAMBA_DTYPE_I1)
    return compareBits(call);
  if (call->predicate >= 6) {
    x = turnSign(call, x);
    y = turnSign(call, y);
  }
  return op2(call, opcodes[call->predicate], x, y);
}

/*===-- Floats --------------------------------------------------------------------------------===*/

/* NaN loses: arith.maxnumf and minnumf. */
static uint16_t numberProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint16_t x = call->values[0], y = call->values[1];
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t either = op2(call, row->opcode, x, y);
  uint16_t of_x = choose(call, op2(call, SAMBA_LANE_EQ, y, y), either, x);
  return choose(call, op2(call, SAMBA_LANE_EQ, x, x), of_x, y);
}

/* A negative number, or -0. */
static uint16_t hasSign(const SambaBodyCall *call, uint16_t x) {
  uint16_t zero = number(call, x, 0);
  uint16_t inverse = op2(call, SAMBA_LANE_DIV, number(call, x, 1), x);
  uint16_t negative_zero =
      bothOf(call, op2(call, SAMBA_LANE_EQ, x, zero), op2(call, SAMBA_LANE_LT, inverse, zero));
  return op2(call, SAMBA_LANE_OR, op2(call, SAMBA_LANE_LT, x, zero), negative_zero);
}

static uint16_t copySign(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t magnitude = op1(call, SAMBA_LANE_ABS, call->values[0]);
  return choose(call, hasSign(call, call->values[1]), op1(call, SAMBA_LANE_NEG, magnitude),
                magnitude);
}

/* 2^x as a power, which is rounded once. */
static uint16_t exp2Program(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  return isFloat(call, 0)
             ? op2(call, SAMBA_LANE_POW, number(call, call->values[0], 2), call->values[0])
             : SAMBA_NO_VALUE;
}

static uint16_t logProgram(const SambaBodyCall *call, double inverse_log_of_base) {
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t natural = op1(call, SAMBA_LANE_LOG, call->values[0]);
  return op2(call, SAMBA_LANE_MUL, natural, number(call, natural, inverse_log_of_base));
}
static uint16_t log2Program(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  return logProgram(call, 1.4426950408889634);
}
static uint16_t log10Program(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  return logProgram(call, 0.4342944819032518);
}

/* Halves away from zero. What lies below a half is told by the rest, which is exact. */
static uint16_t roundProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint16_t x = call->values[0];
  (void)row;
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t whole = op1(call, SAMBA_LANE_TRUNC, x);
  uint16_t rest = op2(call, SAMBA_LANE_SUB, x, whole);
  uint16_t up = op2(call, SAMBA_LANE_GE, rest, number(call, x, 0.5));
  uint16_t down = op2(call, SAMBA_LANE_LE, rest, number(call, x, -0.5));
  uint16_t one = number(call, x, 1);
  uint16_t lower = choose(call, down, op2(call, SAMBA_LANE_SUB, whole, one), whole);
  return choose(call, up, op2(call, SAMBA_LANE_ADD, whole, one), lower);
}

/* sign(x) |x|^(1/3), and 0, infinity and NaN themselves. */
static uint16_t cbrtProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint16_t x = call->values[0];
  (void)row;
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t root = op2(call, SAMBA_LANE_POW, op1(call, SAMBA_LANE_ABS, x), number(call, x, 1.0 / 3));
  uint16_t zero = number(call, x, 0);
  uint16_t signed_root =
      choose(call, op2(call, SAMBA_LANE_LT, x, zero), op1(call, SAMBA_LANE_NEG, root), root);
  return choose(call, op2(call, SAMBA_LANE_EQ, x, zero), x, signed_root);
}

/* 1 - erf(x): absolute errors are those of erf. */
static uint16_t erfcProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t x = call->values[0];
  return op2(call, SAMBA_LANE_SUB, number(call, x, 1), op1(call, SAMBA_LANE_ERF, x));
}

/* atan(y / x), turned by half a circle for negative x; axes and infinities as C says. */
static uint16_t atan2Program(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint16_t y = call->values[0], x = call->values[1];
  (void)row;
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t zero = number(call, x, 0), pi = number(call, x, M_PI);
  uint16_t infinity = number(call, x, INFINITY);
  uint16_t wide = op1(call, SAMBA_LANE_ABS, x), high = op1(call, SAMBA_LANE_ABS, y);
  uint16_t quotient = op2(call, SAMBA_LANE_DIV, high, wide);
  /* 0 / 0 is along the axis, inf / inf at the middle. */
  uint16_t both = bothOf(call, op2(call, SAMBA_LANE_EQ, wide, infinity),
                         op2(call, SAMBA_LANE_EQ, high, infinity));
  quotient = choose(call, both, number(call, x, 1), quotient);
  quotient = choose(call, op2(call, SAMBA_LANE_EQ, high, zero), high, quotient);
  uint16_t nan = choose(call, op2(call, SAMBA_LANE_EQ, x, x), quotient, x);
  uint16_t angle = op1(call, SAMBA_LANE_ATAN, nan);
  angle = choose(call, hasSign(call, x), op2(call, SAMBA_LANE_SUB, pi, angle), angle);
  return choose(call, hasSign(call, y), op1(call, SAMBA_LANE_NEG, angle), angle);
}

/* x^n of an integer n: a power of floats is defined for negative x there. */
static uint16_t fpowiProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (!isFloat(call, 0) || isFloat(call, 1))
    return SAMBA_NO_VALUE;
  return op2(call, SAMBA_LANE_POW, call->values[0],
             sambaLaneCast(call->builder, call->values[1], SAMBA_DTYPE_F32));
}

static uint16_t clampProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  return op2(call, SAMBA_LANE_MIN, op2(call, SAMBA_LANE_MAX, call->values[0], call->values[1]),
             call->values[2]);
}

static uint16_t isNanProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  return isFloat(call, 0) ? op2(call, SAMBA_LANE_NE, call->values[0], call->values[0])
                          : SAMBA_NO_VALUE;
}

/* |x| against infinity: EQ for math.isinf, LT for math.isfinite. */
static uint16_t infinityProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint16_t x = call->values[0];
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  return op2(call, row->opcode, op1(call, SAMBA_LANE_ABS, x), number(call, x, INFINITY));
}

/*===-- Integers ------------------------------------------------------------------------------===*/

/* The unsigned number in a lane that can hold it: i32 for i8 and i16, i64 for i32. */
static uint16_t zeroExtended(const SambaBodyCall *call, uint16_t x, SambaDType dtype) {
  if (dtype == SAMBA_DTYPE_I8)
    return sambaLaneRound(call->builder, x, SAMBA_DTYPE_UI8);
  if (dtype == SAMBA_DTYPE_I16)
    return op2(call, SAMBA_LANE_AND, x, sambaLaneInteger(call->builder, SAMBA_DTYPE_I32, 0xffff));
  if (dtype != SAMBA_DTYPE_I32)
    return x;
  return op2(call, SAMBA_LANE_AND, sambaLaneCast(call->builder, x, SAMBA_DTYPE_I64),
             sambaLaneInteger(call->builder, SAMBA_DTYPE_I64, UINT32_MAX));
}

/* Back to the lane class of the type. */
static uint16_t narrowed(const SambaBodyCall *call, uint16_t x, SambaDType dtype) {
  return sambaLaneCast(call->builder, x, dtype);
}

/* n / d of unsigned i64: by half of n, then one more where the rest says so; of a d of 2^63 and
 * more the quotient is 0 or 1. */
static uint16_t divideWide(const SambaBodyCall *call, uint16_t n, uint16_t d) {
  uint16_t one = sambaLaneInteger(call->builder, SAMBA_DTYPE_I64, 1);
  uint16_t zero = sambaLaneInteger(call->builder, SAMBA_DTYPE_I64, 0);
  uint16_t half = op2(call, SAMBA_LANE_SHRL, n, one);
  uint16_t quotient = op2(call, SAMBA_LANE_SHL, op2(call, SAMBA_LANE_DIV, half, d), one);
  uint16_t rest = op2(call, SAMBA_LANE_SUB, n, op2(call, SAMBA_LANE_MUL, quotient, d));
  uint16_t more = op2(call, SAMBA_LANE_GE, turnSign(call, rest), turnSign(call, d));
  quotient = op2(call, SAMBA_LANE_ADD, quotient, choose(call, more, one, zero));
  uint16_t above = op2(call, SAMBA_LANE_GE, turnSign(call, n), turnSign(call, d));
  return choose(call, op2(call, SAMBA_LANE_LT, d, zero), choose(call, above, one, zero), quotient);
}

/* DIV: arith.divui; REM: remui; CEIL: ceildivui. */
static uint16_t unsignedDivision(const SambaBodyRow *row, const SambaBodyCall *call) {
  SambaDType dtype = call->dtypes[0];
  if (isFloat(call, 0) || dtype == SAMBA_DTYPE_I1)
    return SAMBA_NO_VALUE;
  uint16_t n = zeroExtended(call, call->values[0], dtype);
  uint16_t d = zeroExtended(call, call->values[1], dtype);
  uint16_t quotient =
      dtype == SAMBA_DTYPE_I64 ? divideWide(call, n, d) : op2(call, SAMBA_LANE_DIV, n, d);
  if (row->opcode == SAMBA_LANE_DIV)
    return narrowed(call, quotient, dtype);

  uint16_t rest = op2(call, SAMBA_LANE_SUB, n, op2(call, SAMBA_LANE_MUL, quotient, d));
  if (row->opcode == SAMBA_LANE_REM)
    return narrowed(call, rest, dtype);
  uint16_t more = op2(call, SAMBA_LANE_NE, rest, number(call, rest, 0));
  return narrowed(call,
                  op2(call, SAMBA_LANE_ADD, quotient,
                      choose(call, more, number(call, rest, 1), number(call, rest, 0))),
                  dtype);
}

/* FLOOR: the quotient is one less where a rest has not the sign of d; CEIL: one more where it has.
 */
static uint16_t roundedDivision(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint16_t n = call->values[0], d = call->values[1];
  if (isFloat(call, 0) || call->dtypes[0] == SAMBA_DTYPE_I1)
    return SAMBA_NO_VALUE;
  uint16_t quotient = op2(call, SAMBA_LANE_DIV, n, d);
  uint16_t rest = op2(call, SAMBA_LANE_REM, n, d);
  uint16_t zero = number(call, n, 0), one = number(call, n, 1);
  uint16_t differ = op2(call, SAMBA_LANE_XOR, op2(call, SAMBA_LANE_LT, rest, zero),
                        op2(call, SAMBA_LANE_LT, d, zero));
  bool down = row->opcode == SAMBA_LANE_FLOOR;
  uint16_t turns =
      bothOf(call, op2(call, SAMBA_LANE_NE, rest, zero), down ? differ : notOf(call, differ));
  return op2(call, down ? SAMBA_LANE_SUB : SAMBA_LANE_ADD, quotient,
             choose(call, turns, one, zero));
}

/* MAX or MIN of unsigned numbers. */
static uint16_t unsignedExtreme(const SambaBodyRow *row, const SambaBodyCall *call) {
  if (isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t x = call->values[0], y = call->values[1];
  if (call->dtypes[0] == SAMBA_DTYPE_I1)
    return op2(call, row->opcode == SAMBA_LANE_MAX ? SAMBA_LANE_OR : SAMBA_LANE_AND, x, y);
  return turnSign(call, op2(call, row->opcode, turnSign(call, x), turnSign(call, y)));
}

static uint16_t shiftRightUnsigned(const SambaBodyRow *row, const SambaBodyCall *call) {
  SambaDType dtype = call->dtypes[0];
  (void)row;
  if (isFloat(call, 0) || dtype == SAMBA_DTYPE_I1)
    return SAMBA_NO_VALUE;
  bool narrow = sambaDTypeBytes(dtype) < 4;
  uint16_t x = narrow ? zeroExtended(call, call->values[0], dtype) : call->values[0];
  return op2(call, SAMBA_LANE_SHRL, x, call->values[1]);
}

/* How many bits are set, by sums of neighbours. */
static uint16_t countBits(const SambaBodyCall *call, uint16_t x, SambaDType dtype) {
  unsigned width = bitsOf(dtype) < 32 ? 32 : bitsOf(dtype);
  SambaDType lane = laneOf(call, x);
  static const uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                                   0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
  for (unsigned step = 0; 1u << step < width; ++step) {
    uint16_t mask = sambaLaneInteger(call->builder, lane,
                                     width == 32 ? (int32_t)masks[step] : (int64_t)masks[step]);
    uint16_t by = sambaLaneInteger(call->builder, lane, 1 << step);
    uint16_t upper = op2(call, SAMBA_LANE_AND, op2(call, SAMBA_LANE_SHRL, x, by), mask);
    x = op2(call, SAMBA_LANE_ADD, op2(call, SAMBA_LANE_AND, x, mask), upper);
  }
  return x;
}

/* Its own bits, nothing above them. */
static uint16_t ownBits(const SambaBodyCall *call) {
  SambaDType dtype = call->dtypes[0];
  return sambaDTypeBytes(dtype) < 4 ? zeroExtended(call, call->values[0], dtype) : call->values[0];
}

static uint16_t ctpopProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (isFloat(call, 0) || call->dtypes[0] == SAMBA_DTYPE_I1)
    return SAMBA_NO_VALUE;
  return countBits(call, ownBits(call), call->dtypes[0]);
}

/* The zeros below the lowest set bit are the ones of x - 1 that x has not. */
static uint16_t cttzProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  SambaDType dtype = call->dtypes[0];
  (void)row;
  if (isFloat(call, 0) || dtype == SAMBA_DTYPE_I1)
    return SAMBA_NO_VALUE;
  uint16_t x = ownBits(call);
  uint16_t below = op2(call, SAMBA_LANE_SUB, x, number(call, x, 1));
  uint16_t zeros = bothOf(call, below, op2(call, SAMBA_LANE_XOR, x, number(call, x, -1)));
  if (bitsOf(dtype) < 32) /* of 0 these are all bits of the lane */
    zeros = bothOf(call, zeros, number(call, x, (1 << bitsOf(dtype)) - 1));
  return countBits(call, zeros, dtype);
}

/* What is not covered by the bits from the highest set one down. */
static uint16_t ctlzProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  SambaDType dtype = call->dtypes[0];
  (void)row;
  if (isFloat(call, 0) || dtype == SAMBA_DTYPE_I1)
    return SAMBA_NO_VALUE;
  uint16_t x = ownBits(call);
  for (unsigned by = 1; by < bitsOf(dtype); by *= 2)
    x = op2(call, SAMBA_LANE_OR, x, op2(call, SAMBA_LANE_SHRL, x, number(call, x, by)));
  uint16_t covered = countBits(call, x, dtype);
  return op2(call, SAMBA_LANE_SUB, number(call, covered, bitsOf(dtype)), covered);
}

/*===-- Conversions ---------------------------------------------------------------------------===*/

/* Between lane classes; i1 counts as 0 and 1. */
static uint16_t convert(const SambaBodyCall *call, uint16_t x, SambaDType to) {
  return sambaLaneCast(call->builder, x, sambaDTypeLaneClass(to));
}

static uint16_t extendFloat(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  return isFloat(call, 0) ? call->values[0] : SAMBA_NO_VALUE;
}

static uint16_t extendSigned(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t x = call->values[0];
  if (call->dtypes[0] == SAMBA_DTYPE_I1) /* true is -1 */
    return op1(call, SAMBA_LANE_NEG, convert(call, x, call->result));
  if (call->is_zero_extended)
    x = sambaLaneRound(call->builder, x, call->dtypes[0]);
  return convert(call, x, call->result);
}

static uint16_t extendUnsigned(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t x = call->values[0];
  if (!call->is_zero_extended && call->dtypes[0] != SAMBA_DTYPE_I1)
    x = zeroExtended(call, x, call->dtypes[0]);
  return convert(call, x, call->result);
}

static uint16_t truncateInteger(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t x = call->values[0];
  if (call->result == SAMBA_DTYPE_I1) /* the lowest bit */
    x = op2(call, SAMBA_LANE_AND, x, number(call, x, 1));
  return convert(call, x, call->result);
}

static uint16_t floatToSigned(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  if (call->result == SAMBA_DTYPE_I1)
    return convert(call, convert(call, call->values[0], SAMBA_DTYPE_I32), SAMBA_DTYPE_I1);
  return convert(call, call->values[0], call->result);
}

/* By way of i64, which holds every u32; from 2^63 on the number less 2^63, and its bit. */
static uint16_t floatToUnsigned(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint16_t x = call->values[0];
  (void)row;
  if (!isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t wide = convert(call, x, SAMBA_DTYPE_I64);
  if (call->result == SAMBA_DTYPE_I64) {
    uint16_t limit = number(call, x, 0x1p63);
    uint16_t rest = convert(call, op2(call, SAMBA_LANE_SUB, x, limit), SAMBA_DTYPE_I64);
    wide = choose(call, op2(call, SAMBA_LANE_GE, x, limit), turnSign(call, rest), wide);
  }
  return convert(call, wide, call->result);
}

static uint16_t signedToFloat(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t x = convert(call, call->values[0], SAMBA_DTYPE_F32);
  return call->dtypes[0] == SAMBA_DTYPE_I1 ? op1(call, SAMBA_LANE_NEG, x) : x;
}

/* From 2^63 on: half the number, rounded to odd so that one rounding remains, twice. */
static uint16_t unsignedToFloat(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint16_t x = call->values[0];
  (void)row;
  if (isFloat(call, 0))
    return SAMBA_NO_VALUE;
  if (call->dtypes[0] == SAMBA_DTYPE_I1)
    return convert(call, x, SAMBA_DTYPE_F32);
  x = zeroExtended(call, x, call->dtypes[0]);
  uint16_t plain = convert(call, x, SAMBA_DTYPE_F32);
  if (call->dtypes[0] != SAMBA_DTYPE_I64)
    return plain;
  uint16_t one = number(call, x, 1);
  uint16_t half = op2(call, SAMBA_LANE_OR, op2(call, SAMBA_LANE_SHRL, x, one),
                      op2(call, SAMBA_LANE_AND, x, one));
  uint16_t twice = convert(call, half, SAMBA_DTYPE_F32);
  twice = op2(call, SAMBA_LANE_ADD, twice, twice);
  return choose(call, op2(call, SAMBA_LANE_LT, x, number(call, x, 0)), twice, plain);
}

static uint16_t castIndex(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  return isFloat(call, 0) ? SAMBA_NO_VALUE : convert(call, call->values[0], call->result);
}

static uint16_t castIndexUnsigned(const SambaBodyRow *row, const SambaBodyCall *call) {
  (void)row;
  if (isFloat(call, 0))
    return SAMBA_NO_VALUE;
  uint16_t x = call->values[0];
  if (sambaDTypeBytes(call->dtypes[0]) < 8 && laneOf(call, x) != SAMBA_DTYPE_I64)
    x = zeroExtended(call, x, call->dtypes[0]);
  return convert(call, x, call->result);
}

/*===-- The table -----------------------------------------------------------------------------===*/

#define ROUNDED(name, code) {name, plainFloat, SAMBA_LANE_##code, false, NULL, ""}
#define EXACT(name, code) {name, plainFloat, SAMBA_LANE_##code, true, NULL, ""}
#define WRAPPED(name, code) {name, plainInteger, SAMBA_LANE_##code, false, NULL, ""}
#define BITS(name, code) {name, plainInteger, SAMBA_LANE_##code, true, NULL, ""}
#define BY(name, code, function) {name, function, SAMBA_LANE_##code, false, NULL, ""}
#define REMARKED(name, code, function, remark)                                                     \
  {name, function, SAMBA_LANE_##code, false, NULL, remark}
#define LIKE(name, row) {name, operatorProgram, 0, false, row, ""}

static const SambaBodyRow rows[] = {
    ROUNDED("arith.addf", ADD),
    ROUNDED("arith.subf", SUB),
    ROUNDED("arith.mulf", MUL),
    ROUNDED("arith.divf", DIV),
    ROUNDED("arith.remf", REM),
    EXACT("arith.negf", NEG),
    EXACT("arith.maximumf", MAX),
    EXACT("arith.minimumf", MIN),
    {"arith.maxnumf", numberProgram, SAMBA_LANE_MAX, true, NULL, ""},
    {"arith.minnumf", numberProgram, SAMBA_LANE_MIN, true, NULL, ""},
    {"arith.cmpf", compareFloats, 0, true, NULL, "every predicate"},
    {"arith.cmpi", compareIntegers, 0, true, NULL, "every predicate"},
    {"arith.select", selectProgram, 0, true, NULL, ""},
    WRAPPED("arith.addi", ADD),
    WRAPPED("arith.subi", SUB),
    WRAPPED("arith.muli", MUL),
    REMARKED("arith.divsi", DIV, plainInteger, "by 0: 0"),
    REMARKED("arith.divui", DIV, unsignedDivision, "by 0: 0"),
    WRAPPED("arith.remsi", REM),
    REMARKED("arith.remui", REM, unsignedDivision, ""),
    BY("arith.floordivsi", FLOOR, roundedDivision),
    BY("arith.ceildivsi", CEIL, roundedDivision),
    BY("arith.ceildivui", CEIL, unsignedDivision),
    BITS("arith.maxsi", MAX),
    BITS("arith.minsi", MIN),
    {"arith.maxui", unsignedExtreme, SAMBA_LANE_MAX, true, NULL, ""},
    {"arith.minui", unsignedExtreme, SAMBA_LANE_MIN, true, NULL, ""},
    BITS("arith.andi", AND),
    BITS("arith.ori", OR),
    BITS("arith.xori", XOR),
    WRAPPED("arith.shli", SHL),
    BITS("arith.shrsi", SHRA),
    BY("arith.shrui", SHRL, shiftRightUnsigned),
    {"arith.extf", extendFloat, 0, true, NULL, "to f32"},
    REMARKED("arith.truncf", ADD, extendFloat, "from f32"),
    {"arith.extsi", extendSigned, 0, true, NULL, ""},
    {"arith.extui", extendUnsigned, 0, true, NULL, ""},
    REMARKED("arith.trunci", ADD, truncateInteger, ""),
    REMARKED("arith.fptosi", ADD, floatToSigned, "saturates at the lane's type; NaN: 0"),
    REMARKED("arith.fptoui", ADD, floatToUnsigned, "negative numbers wrap"),
    BY("arith.sitofp", ADD, signedToFloat),
    BY("arith.uitofp", ADD, unsignedToFloat),
    {"arith.index_cast", castIndex, 0, false, NULL, ""},
    {"arith.index_castui", castIndexUnsigned, 0, false, NULL, ""},
    EXACT("math.absf", ABS),
    WRAPPED("math.absi", ABS),
    LIKE("math.acos", "acos"),
    LIKE("math.acosh", "acosh"),
    LIKE("math.asin", "asin"),
    LIKE("math.asinh", "asinh"),
    ROUNDED("math.atan", ATAN),
    BY("math.atan2", ATAN, atan2Program),
    LIKE("math.atanh", "atanh"),
    BY("math.cbrt", POW, cbrtProgram),
    EXACT("math.ceil", CEIL),
    {"math.clampf", clampProgram, 0, true, NULL, ""},
    {"math.copysign", copySign, 0, true, NULL, "a NaN has no sign"},
    ROUNDED("math.cos", COS),
    LIKE("math.cosh", "cosh"),
    BY("math.ctlz", SHRL, ctlzProgram),
    BY("math.ctpop", ADD, ctpopProgram),
    BY("math.cttz", SUB, cttzProgram),
    ROUNDED("math.erf", ERF),
    REMARKED("math.erfc", ERF, erfcProgram, "1 - erf(x)"),
    ROUNDED("math.exp", EXP),
    BY("math.exp2", POW, exp2Program),
    ROUNDED("math.expm1", EXPM1),
    EXACT("math.floor", FLOOR),
    ROUNDED("math.fma", FMA),
    BY("math.fpowi", POW, fpowiProgram),
    WRAPPED("math.ipowi", POW),
    {"math.isfinite", infinityProgram, SAMBA_LANE_LT, true, NULL, ""},
    {"math.isinf", infinityProgram, SAMBA_LANE_EQ, true, NULL, ""},
    {"math.isnan", isNanProgram, 0, true, NULL, ""},
    ROUNDED("math.log", LOG),
    BY("math.log10", LOG, log10Program),
    ROUNDED("math.log1p", LOG1P),
    BY("math.log2", LOG, log2Program),
    ROUNDED("math.powf", POW),
    {"math.round", roundProgram, 0, true, NULL, ""},
    EXACT("math.roundeven", ROUNDEVEN),
    ROUNDED("math.rsqrt", RSQRT),
    ROUNDED("math.sin", SIN),
    LIKE("math.sinh", "sinh"),
    ROUNDED("math.sqrt", SQRT),
    LIKE("math.tan", "tan"),
    ROUNDED("math.tanh", TANH),
    EXACT("math.trunc", TRUNC),
};
enum { rowCount = sizeof rows / sizeof *rows };

const SambaBodyRow *sambaBodyRowAt(uint32_t index) {
  return index < rowCount ? &rows[index] : NULL;
}

const SambaBodyRow *sambaBodyRowFind(SambaStringRef name) {
  for (uint32_t i = 0; i < rowCount; ++i)
    if (sambaStringRefEqualC(name, rows[i].name))
      return &rows[i];
  return NULL;
}

uint16_t sambaBodyRowProgram(const SambaBodyRow *row, const SambaBodyCall *call) {
  uint16_t value = row->program(row, call);
  return value == SAMBA_NO_VALUE || row->exact ? value
                                               : sambaLaneRound(call->builder, value, call->result);
}
