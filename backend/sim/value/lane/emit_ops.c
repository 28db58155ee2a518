/* The lane operations over the lane builder, one row each; their meaning is in
 * backend/section/lane_ops.def and docs/numerics.md. */
#include "backend/sim/value/lane/emit.h"

#include <math.h>

LLVMTypeRef sambaEmitLaneType(const SambaEmit *emit, SambaDType dtype) {
  if (sambaDTypeIsFloat(dtype))
    return emit->f32;
  if (dtype == SAMBA_DTYPE_I1)
    return emit->i1;
  return dtype == SAMBA_DTYPE_I64 ? emit->i64 : emit->i32;
}

/* An i1 per lane: is the value a NaN? */
static LLVMValueRef isNan(const SambaEmit *e, LLVMValueRef value) {
  return sambaEmitCompare(e, LLVMRealUNO, value, value);
}

static LLVMValueRef canonicalNan(const SambaEmit *e) { return sambaEmitFloat(e, (float)NAN); }

/* Round to nearest even at bit `drop` of the f32 pattern: add half, plus one when the last kept bit
 * is odd, then cut. */
static LLVMValueRef roundPattern(const SambaEmit *e, LLVMValueRef bits, unsigned drop) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef odd = LLVMBuildAnd(b, LLVMBuildLShr(b, bits, sambaEmitInteger(e, e->i32, drop), ""),
                                  sambaEmitInteger(e, e->i32, 1), "");
  LLVMValueRef half = sambaEmitInteger(e, e->i32, (INT64_C(1) << (drop - 1)) - 1);
  LLVMValueRef sum = LLVMBuildAdd(b, LLVMBuildAdd(b, bits, half, ""), odd, "");
  return LLVMBuildAnd(b, sum, sambaEmitInteger(e, e->i32, -(INT64_C(1) << drop)), "");
}

LLVMValueRef sambaEmitRoundToBf16(const SambaEmit *e, LLVMValueRef value) {
  LLVMValueRef rounded =
      sambaEmitBitcast(e, roundPattern(e, sambaEmitBitcast(e, value, e->i32), 16), e->f32);
  return sambaEmitSelect(e, isNan(e, value), canonicalNan(e), rounded);
}

LLVMValueRef sambaEmitRoundToHalf(const SambaEmit *e, LLVMValueRef value) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef magnitude = sambaEmitUnary(e, "llvm.fabs", value);
  LLVMValueRef normal =
      sambaEmitBitcast(e, roundPattern(e, sambaEmitBitcast(e, magnitude, e->i32), 13), e->f32);
  normal = sambaEmitSelect(e, sambaEmitCompare(e, LLVMRealOGE, normal, sambaEmitFloat(e, 65536.0f)),
                           sambaEmitFloat(e, INFINITY), normal);

  /* Below 2^-14 the spacing of f16 is 2^-24, which is the spacing of f32 in [0.5, 1): one addition
   * rounds. */
  LLVMValueRef half = sambaEmitFloat(e, 0.5f);
  LLVMValueRef small = LLVMBuildFSub(b, LLVMBuildFAdd(b, magnitude, half, ""), half, "");
  LLVMValueRef is_small = sambaEmitCompare(e, LLVMRealOLT, magnitude, sambaEmitFloat(e, 0x1p-14f));
  LLVMValueRef result =
      sambaEmitBinary(e, "llvm.copysign", sambaEmitSelect(e, is_small, small, normal), value);
  return sambaEmitSelect(e, isNan(e, value), canonicalNan(e), result);
}

LLVMValueRef sambaEmitWrap(const SambaEmit *e, LLVMValueRef value, SambaDType dtype) {
  LLVMBuilderRef b = e->builder;
  switch (dtype) {
  case SAMBA_DTYPE_I1:
    return LLVMBuildAnd(b, value, sambaEmitInteger(e, e->i32, 1), "");
  case SAMBA_DTYPE_UI8:
    return LLVMBuildAnd(b, value, sambaEmitInteger(e, e->i32, 255), "");
  case SAMBA_DTYPE_I8:
  case SAMBA_DTYPE_I16: {
    LLVMValueRef shift = sambaEmitInteger(e, e->i32, dtype == SAMBA_DTYPE_I8 ? 24 : 16);
    return LLVMBuildAShr(b, LLVMBuildShl(b, value, shift, ""), shift, "");
  }
  default:
    return value;
  }
}

/* Toward zero; by zero gives 0; the one overflowing quotient wraps. */
static LLVMValueRef integerDivide(const SambaEmit *e, LLVMTypeRef scalar, bool remainder,
                                  LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef zero = sambaEmitInteger(e, scalar, 0);
  LLVMValueRef one = sambaEmitInteger(e, scalar, 1);
  LLVMValueRef by_zero = sambaEmitIntegerCompare(e, LLVMIntEQ, b, zero);
  LLVMValueRef by_minus_one =
      sambaEmitIntegerCompare(e, LLVMIntEQ, b, sambaEmitInteger(e, scalar, -1));
  LLVMValueRef safe =
      sambaEmitSelect(e, LLVMBuildOr(e->builder, by_zero, by_minus_one, ""), one, b);
  LLVMValueRef result =
      remainder ? LLVMBuildSRem(e->builder, a, safe, "") : LLVMBuildSDiv(e->builder, a, safe, "");
  if (!remainder)
    result = sambaEmitSelect(e, by_minus_one, LLVMBuildSub(e->builder, zero, a, ""), result);
  return sambaEmitSelect(e, by_zero, zero, result);
}

/* By squaring, wrapping; a negative exponent leaves 1 / a^-b toward zero, which is 0 but for a = 1
 * and -1. */
static LLVMValueRef integerPower(const SambaEmit *e, LLVMTypeRef scalar, LLVMValueRef a,
                                 LLVMValueRef exponent) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef zero = sambaEmitInteger(e, scalar, 0);
  LLVMValueRef one = sambaEmitInteger(e, scalar, 1);
  LLVMValueRef power = one;
  LLVMValueRef square = a;
  LLVMValueRef is_odd =
      sambaEmitIntegerCompare(e, LLVMIntNE, LLVMBuildAnd(b, exponent, one, ""), zero);

  for (unsigned bit = 0; bit + 1 < LLVMGetIntTypeWidth(scalar); ++bit) {
    LLVMValueRef set =
        LLVMBuildAnd(b, exponent, sambaEmitInteger(e, scalar, INT64_C(1) << bit), "");
    power = sambaEmitSelect(e, sambaEmitIntegerCompare(e, LLVMIntNE, set, zero),
                            LLVMBuildMul(b, power, square, ""), power);
    square = LLVMBuildMul(b, square, square, "");
  }

  LLVMValueRef minus_one = sambaEmitInteger(e, scalar, -1);
  LLVMValueRef is_one = sambaEmitIntegerCompare(e, LLVMIntEQ, a, one);
  LLVMValueRef is_minus_one = sambaEmitIntegerCompare(e, LLVMIntEQ, a, minus_one);
  LLVMValueRef inverse = sambaEmitSelect(e, is_one, one, zero);

  inverse = sambaEmitSelect(e, is_minus_one, sambaEmitSelect(e, is_odd, minus_one, one), inverse);
  return sambaEmitSelect(e, sambaEmitIntegerCompare(e, LLVMIntSLT, exponent, zero), inverse, power);
}

static LLVMValueRef compare(const SambaEmit *e, uint8_t opcode, bool is_float, bool is_bit,
                            LLVMValueRef a, LLVMValueRef b) {
  static const LLVMRealPredicate real[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                           LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
  static const LLVMIntPredicate wide[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT,
                                          LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
  static const LLVMIntPredicate bit[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                         LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
  unsigned which = opcode - SAMBA_LANE_EQ;
  if (is_float)
    return sambaEmitCompare(e, real[which], a, b);
  return sambaEmitIntegerCompare(e, is_bit ? bit[which] : wide[which], a, b);
}

/* Shift amounts count modulo the width of the type. */
static LLVMValueRef shift(const SambaEmit *e, uint8_t opcode, LLVMTypeRef scalar, LLVMValueRef a,
                          LLVMValueRef amount) {
  LLVMValueRef count = LLVMBuildAnd(
      e->builder, amount, sambaEmitInteger(e, scalar, LLVMGetIntTypeWidth(scalar) - 1), "");
  if (opcode == SAMBA_LANE_SHL)
    return LLVMBuildShl(e->builder, a, count, "");
  return opcode == SAMBA_LANE_SHRA ? LLVMBuildAShr(e->builder, a, count, "")
                                   : LLVMBuildLShr(e->builder, a, count, "");
}

static LLVMValueRef minMax(const SambaEmit *e, bool maximum, bool is_float, bool is_bit,
                           LLVMValueRef a, LLVMValueRef b) {
  if (is_float)
    return sambaEmitBinary(e, maximum ? "llvm.maximum" : "llvm.minimum", a, b);
  if (is_bit)
    return maximum ? LLVMBuildOr(e->builder, a, b, "") : LLVMBuildAnd(e->builder, a, b, "");
  return sambaEmitBinary(e, maximum ? "llvm.smax" : "llvm.smin", a, b);
}

static LLVMValueRef floatToInteger(const SambaEmit *e, LLVMTypeRef scalar, LLVMValueRef a) {
  if (scalar == e->i1) /* saturated to [0, 1] */
    return sambaEmitCompare(e, LLVMRealOGE, a, sambaEmitFloat(e, 1.0f));
  LLVMTypeRef overloads[] = {sambaEmitType(e, scalar), sambaEmitType(e, e->f32)};
  return sambaEmitIntrinsic(e, "llvm.fptosi.sat", overloads, 2, &a, 1);
}

static LLVMValueRef resize(const SambaEmit *e, LLVMTypeRef to, LLVMValueRef a) {
  LLVMTypeRef from = sambaEmitScalarOf(LLVMTypeOf(a));
  if (from == to)
    return a;
  if (to == e->i1)
    return sambaEmitIntegerCompare(e, LLVMIntNE, a, sambaEmitInteger(e, from, 0));
  if (from == e->i1)
    return LLVMBuildZExt(e->builder, a, sambaEmitType(e, to), "");
  return to == e->i64 ? LLVMBuildSExt(e->builder, a, sambaEmitType(e, to), "")
                      : LLVMBuildTrunc(e->builder, a, sambaEmitType(e, to), "");
}

LLVMValueRef sambaEmitLaneOp(const SambaEmit *e, const SambaLaneOp *op, const LLVMValueRef *v) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef scalar = sambaEmitLaneType(e, op->type);
  bool real = sambaDTypeIsFloat(op->type), bit = op->type == SAMBA_DTYPE_I1;

  switch ((SambaLaneOpcode)op->opcode) {
  case SAMBA_LANE_MOVE:
    return v[0];
  case SAMBA_LANE_ADD:
    return real ? LLVMBuildFAdd(b, v[0], v[1], "") : LLVMBuildAdd(b, v[0], v[1], "");
  case SAMBA_LANE_SUB:
    return real ? LLVMBuildFSub(b, v[0], v[1], "") : LLVMBuildSub(b, v[0], v[1], "");
  case SAMBA_LANE_MUL:
    return real ? LLVMBuildFMul(b, v[0], v[1], "") : LLVMBuildMul(b, v[0], v[1], "");
  case SAMBA_LANE_FMA:
    return real ? sambaEmitFma(e, v[0], v[1], v[2])
                : LLVMBuildAdd(b, LLVMBuildMul(b, v[0], v[1], ""), v[2], "");
  case SAMBA_LANE_DIV:
    return real ? LLVMBuildFDiv(b, v[0], v[1], "") : integerDivide(e, scalar, false, v[0], v[1]);
  case SAMBA_LANE_REM:
    return real ? LLVMBuildFRem(b, v[0], v[1], "") : integerDivide(e, scalar, true, v[0], v[1]);
  case SAMBA_LANE_NEG:
    return real ? LLVMBuildFNeg(b, v[0], "") : LLVMBuildNeg(b, v[0], "");
  case SAMBA_LANE_ABS:
    if (real)
      return sambaEmitUnary(e, "llvm.fabs", v[0]);
    return bit ? v[0]
               : sambaEmitSelect(
                     e,
                     sambaEmitIntegerCompare(e, LLVMIntSLT, v[0], sambaEmitInteger(e, scalar, 0)),
                     LLVMBuildNeg(b, v[0], ""), v[0]);
  case SAMBA_LANE_MIN:
  case SAMBA_LANE_MAX:
    return minMax(e, op->opcode == SAMBA_LANE_MAX, real, bit, v[0], v[1]);
  case SAMBA_LANE_AND:
    return LLVMBuildAnd(b, v[0], v[1], "");
  case SAMBA_LANE_OR:
    return LLVMBuildOr(b, v[0], v[1], "");
  case SAMBA_LANE_XOR:
    return LLVMBuildXor(b, v[0], v[1], "");
  case SAMBA_LANE_SHL:
  case SAMBA_LANE_SHRA:
  case SAMBA_LANE_SHRL:
    return bit ? v[0] : shift(e, op->opcode, scalar, v[0], v[1]);
  case SAMBA_LANE_EQ:
  case SAMBA_LANE_NE:
  case SAMBA_LANE_LT:
  case SAMBA_LANE_LE:
  case SAMBA_LANE_GT:
  case SAMBA_LANE_GE:
    return compare(e, op->opcode, real, bit, v[0], v[1]);
  case SAMBA_LANE_SELECT:
    return sambaEmitSelect(e, v[0], v[1], v[2]);
  case SAMBA_LANE_FLOOR:
    return real ? sambaEmitUnary(e, "llvm.floor", v[0]) : v[0];
  case SAMBA_LANE_CEIL:
    return real ? sambaEmitUnary(e, "llvm.ceil", v[0]) : v[0];
  case SAMBA_LANE_ROUNDEVEN:
    return real ? sambaEmitUnary(e, "llvm.roundeven", v[0]) : v[0];
  case SAMBA_LANE_TRUNC:
    return real ? sambaEmitUnary(e, "llvm.trunc", v[0]) : v[0];
  case SAMBA_LANE_EXP:
  case SAMBA_LANE_LOG:
  case SAMBA_LANE_TANH:
  case SAMBA_LANE_ERF:
  case SAMBA_LANE_SIN:
  case SAMBA_LANE_COS:
  case SAMBA_LANE_EXPM1:
  case SAMBA_LANE_LOG1P:
  case SAMBA_LANE_ATAN:
  case SAMBA_LANE_SQRT:
  case SAMBA_LANE_RSQRT:
    return sambaEmitTranscendental(e, op->opcode, v[0], NULL);
  case SAMBA_LANE_POW:
    if (!real)
      return integerPower(e, scalar, v[0], v[1]);
    return sambaEmitTranscendental(e, op->opcode, v[0], v[1]);
  case SAMBA_LANE_TO_BF16:
    return sambaEmitRoundToBf16(e, v[0]);
  case SAMBA_LANE_TO_F16:
    return sambaEmitRoundToHalf(e, v[0]);
  case SAMBA_LANE_FLOAT_TO_INT:
    return floatToInteger(e, scalar, v[0]);
  case SAMBA_LANE_INT_TO_FLOAT:
    return sambaEmitScalarOf(LLVMTypeOf(v[0])) == e->i1
               ? LLVMBuildUIToFP(b, v[0], sambaEmitType(e, e->f32), "")
               : LLVMBuildSIToFP(b, v[0], sambaEmitType(e, e->f32), "");
  case SAMBA_LANE_INT_RESIZE:
    return resize(e, scalar, v[0]);
  case SAMBA_LANE_WRAP:
    return sambaEmitWrap(e, v[0], (SambaDType)op->immediate);
  case SAMBA_LANE_CONSTANT: /* value sources and reductions are the kernel's business */
  case SAMBA_LANE_COUNTER:
  case SAMBA_LANE_ARGIN:
  case SAMBA_LANE_REDUCE_ADD:
  case SAMBA_LANE_REDUCE_MUL:
  case SAMBA_LANE_REDUCE_MIN:
  case SAMBA_LANE_REDUCE_MAX:
  case SAMBA_LANE_REDUCE_AND:
  case SAMBA_LANE_REDUCE_OR:
  case SAMBA_LANE_MAC:
    break;
  }

  return LLVMConstNull(sambaEmitType(e, scalar));
}

LLVMValueRef sambaEmitReduceIdentity(const SambaEmit *e, const SambaLaneOp *op) {
  bool real = sambaDTypeIsFloat(op->type);
  LLVMTypeRef scalar = sambaEmitLaneType(e, op->type);

  unsigned bits = real ? 32 : LLVMGetIntTypeWidth(scalar);
  switch (op->opcode) {
  case SAMBA_LANE_REDUCE_MUL:
    return real ? sambaEmitFloat(e, 1.0f) : sambaEmitInteger(e, scalar, 1);
  case SAMBA_LANE_REDUCE_MIN:
    return real ? sambaEmitFloat(e, INFINITY)
                : sambaEmitInteger(e, scalar,
                                   bits == 1    ? 1
                                   : bits == 64 ? INT64_MAX
                                                : INT32_MAX);
  case SAMBA_LANE_REDUCE_MAX:
    return real ? sambaEmitFloat(e, -INFINITY)
                : sambaEmitInteger(e, scalar,
                                   bits == 1    ? 0
                                   : bits == 64 ? INT64_MIN
                                                : INT32_MIN);
  case SAMBA_LANE_REDUCE_AND:
    return sambaEmitInteger(e, scalar, -1);
  default:
    return real ? sambaEmitFloat(e, 0.0f) : sambaEmitInteger(e, scalar, 0);
  }
}

LLVMValueRef sambaEmitReduceCombine(const SambaEmit *e, const SambaLaneOp *op, LLVMValueRef a,
                                    LLVMValueRef b) {
  static const uint8_t simple[] = {SAMBA_LANE_ADD, SAMBA_LANE_MUL, SAMBA_LANE_MIN, SAMBA_LANE_MAX,
                                   SAMBA_LANE_AND, SAMBA_LANE_OR,  SAMBA_LANE_ADD};
  SambaLaneOp combine = {.opcode = simple[op->opcode - SAMBA_LANE_REDUCE_ADD], .type = op->type};
  LLVMValueRef operands[] = {a, b};
  return sambaEmitLaneOp(e, &combine, operands);
}

LLVMValueRef sambaEmitReduceStep(const SambaEmit *e, const SambaLaneOp *op,
                                 LLVMValueRef accumulator, LLVMValueRef a, LLVMValueRef b) {
  if (op->opcode != SAMBA_LANE_MAC)
    return sambaEmitReduceCombine(e, op, accumulator, a);
  SambaLaneOp fma = {.opcode = SAMBA_LANE_FMA, .type = op->type};
  LLVMValueRef operands[] = {a, b, accumulator};
  return sambaEmitLaneOp(e, &fma, operands);
}
