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
static LLVMValueRef isNan(const SambaEmit *emit, LLVMValueRef value) {
  return sambaEmitCompare(emit, LLVMRealUNO, value, value);
}

static LLVMValueRef canonicalNan(const SambaEmit *emit) { return sambaEmitFloat(emit, (float)NAN); }

/* Round to nearest even at bit `drop` of the f32 pattern: add half, plus one when the last kept bit
 * is odd, then cut. */
static LLVMValueRef roundPattern(const SambaEmit *emit, LLVMValueRef bits, unsigned drop) {
  LLVMBuilderRef b = emit->builder;
  LLVMValueRef odd = sambaLlvm.BuildAnd(
      b, sambaLlvm.BuildLShr(b, bits, sambaEmitInteger(emit, emit->i32, drop), ""),
      sambaEmitInteger(emit, emit->i32, 1), "");
  LLVMValueRef half = sambaEmitInteger(emit, emit->i32, (INT64_C(1) << (drop - 1)) - 1);
  LLVMValueRef sum = sambaLlvm.BuildAdd(b, sambaLlvm.BuildAdd(b, bits, half, ""), odd, "");
  return sambaLlvm.BuildAnd(b, sum, sambaEmitInteger(emit, emit->i32, -(INT64_C(1) << drop)), "");
}

LLVMValueRef sambaEmitRoundToBf16(const SambaEmit *emit, LLVMValueRef value) {
  LLVMValueRef rounded = sambaEmitBitcast(
      emit, roundPattern(emit, sambaEmitBitcast(emit, value, emit->i32), 16), emit->f32);
  return sambaEmitSelect(emit, isNan(emit, value), canonicalNan(emit), rounded);
}

LLVMValueRef sambaEmitRoundToHalf(const SambaEmit *emit, LLVMValueRef value) {
  LLVMBuilderRef b = emit->builder;
  LLVMValueRef magnitude = sambaEmitUnary(emit, "llvm.fabs", value);
  LLVMValueRef normal = sambaEmitBitcast(
      emit, roundPattern(emit, sambaEmitBitcast(emit, magnitude, emit->i32), 13), emit->f32);
  normal = sambaEmitSelect(
      emit, sambaEmitCompare(emit, LLVMRealOGE, normal, sambaEmitFloat(emit, 65536.0f)),
      sambaEmitFloat(emit, INFINITY), normal);

  /* Below 2^-14 the spacing of f16 is 2^-24, which is the spacing of f32 in [0.5, 1): one addition
   * rounds. */
  LLVMValueRef half = sambaEmitFloat(emit, 0.5f);
  LLVMValueRef small =
      sambaLlvm.BuildFSub(b, sambaLlvm.BuildFAdd(b, magnitude, half, ""), half, "");
  LLVMValueRef is_small =
      sambaEmitCompare(emit, LLVMRealOLT, magnitude, sambaEmitFloat(emit, 0x1p-14f));
  LLVMValueRef result =
      sambaEmitBinary(emit, "llvm.copysign", sambaEmitSelect(emit, is_small, small, normal), value);
  return sambaEmitSelect(emit, isNan(emit, value), canonicalNan(emit), result);
}

LLVMValueRef sambaEmitWrap(const SambaEmit *emit, LLVMValueRef value, SambaDType dtype) {
  LLVMBuilderRef b = emit->builder;
  switch (dtype) {
  case SAMBA_DTYPE_I1:
    return sambaLlvm.BuildAnd(b, value, sambaEmitInteger(emit, emit->i32, 1), "");
  case SAMBA_DTYPE_UI8:
    return sambaLlvm.BuildAnd(b, value, sambaEmitInteger(emit, emit->i32, 255), "");
  case SAMBA_DTYPE_I8:
  case SAMBA_DTYPE_I16: {
    LLVMValueRef shift = sambaEmitInteger(emit, emit->i32, dtype == SAMBA_DTYPE_I8 ? 24 : 16);
    return sambaLlvm.BuildAShr(b, sambaLlvm.BuildShl(b, value, shift, ""), shift, "");
  }
  default:
    return value;
  }
}

/* Toward zero; by zero gives 0; the one overflowing quotient wraps. */
static LLVMValueRef integerDivide(const SambaEmit *emit, LLVMTypeRef scalar, bool remainder,
                                  LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef zero = sambaEmitInteger(emit, scalar, 0);
  LLVMValueRef one = sambaEmitInteger(emit, scalar, 1);
  LLVMValueRef by_zero = sambaEmitIntegerCompare(emit, LLVMIntEQ, b, zero);
  LLVMValueRef by_minus_one =
      sambaEmitIntegerCompare(emit, LLVMIntEQ, b, sambaEmitInteger(emit, scalar, -1));
  LLVMValueRef safe =
      sambaEmitSelect(emit, sambaLlvm.BuildOr(emit->builder, by_zero, by_minus_one, ""), one, b);
  LLVMValueRef result = remainder ? sambaLlvm.BuildSRem(emit->builder, a, safe, "")
                                  : sambaLlvm.BuildSDiv(emit->builder, a, safe, "");
  if (!remainder)
    result =
        sambaEmitSelect(emit, by_minus_one, sambaLlvm.BuildSub(emit->builder, zero, a, ""), result);
  return sambaEmitSelect(emit, by_zero, zero, result);
}

/* By squaring, wrapping; a negative exponent leaves 1 / a^-b toward zero, which is 0 but for a = 1
 * and -1. */
static LLVMValueRef integerPower(const SambaEmit *emit, LLVMTypeRef scalar, LLVMValueRef a,
                                 LLVMValueRef exponent) {
  LLVMBuilderRef b = emit->builder;
  LLVMValueRef zero = sambaEmitInteger(emit, scalar, 0);
  LLVMValueRef one = sambaEmitInteger(emit, scalar, 1);
  LLVMValueRef power = one;
  LLVMValueRef square = a;
  LLVMValueRef is_odd =
      sambaEmitIntegerCompare(emit, LLVMIntNE, sambaLlvm.BuildAnd(b, exponent, one, ""), zero);

  for (unsigned bit = 0; bit + 1 < sambaLlvm.GetIntTypeWidth(scalar); ++bit) {
    LLVMValueRef set =
        sambaLlvm.BuildAnd(b, exponent, sambaEmitInteger(emit, scalar, INT64_C(1) << bit), "");
    power = sambaEmitSelect(emit, sambaEmitIntegerCompare(emit, LLVMIntNE, set, zero),
                            sambaLlvm.BuildMul(b, power, square, ""), power);
    square = sambaLlvm.BuildMul(b, square, square, "");
  }

  LLVMValueRef minus_one = sambaEmitInteger(emit, scalar, -1);
  LLVMValueRef is_one = sambaEmitIntegerCompare(emit, LLVMIntEQ, a, one);
  LLVMValueRef is_minus_one = sambaEmitIntegerCompare(emit, LLVMIntEQ, a, minus_one);
  LLVMValueRef inverse = sambaEmitSelect(emit, is_one, one, zero);

  inverse =
      sambaEmitSelect(emit, is_minus_one, sambaEmitSelect(emit, is_odd, minus_one, one), inverse);
  return sambaEmitSelect(emit, sambaEmitIntegerCompare(emit, LLVMIntSLT, exponent, zero), inverse,
                         power);
}

static LLVMValueRef compare(const SambaEmit *emit, uint8_t opcode, bool is_float, bool is_bit,
                            LLVMValueRef a, LLVMValueRef b) {
  static const LLVMRealPredicate real[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                           LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
  static const LLVMIntPredicate wide[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT,
                                          LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
  static const LLVMIntPredicate bit[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                         LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
  unsigned which = opcode - SAMBA_LANE_EQ;
  if (is_float)
    return sambaEmitCompare(emit, real[which], a, b);
  return sambaEmitIntegerCompare(emit, is_bit ? bit[which] : wide[which], a, b);
}

/* Shift amounts count modulo the width of the type. */
static LLVMValueRef shift(const SambaEmit *emit, uint8_t opcode, LLVMTypeRef scalar, LLVMValueRef a,
                          LLVMValueRef amount) {
  LLVMValueRef count =
      sambaLlvm.BuildAnd(emit->builder, amount,
                         sambaEmitInteger(emit, scalar, sambaLlvm.GetIntTypeWidth(scalar) - 1), "");
  if (opcode == SAMBA_LANE_SHL)
    return sambaLlvm.BuildShl(emit->builder, a, count, "");
  return opcode == SAMBA_LANE_SHRA ? sambaLlvm.BuildAShr(emit->builder, a, count, "")
                                   : sambaLlvm.BuildLShr(emit->builder, a, count, "");
}

static LLVMValueRef minMax(const SambaEmit *emit, bool maximum, bool is_float, bool is_bit,
                           LLVMValueRef a, LLVMValueRef b) {
  if (is_float)
    return sambaEmitBinary(emit, maximum ? "llvm.maximum" : "llvm.minimum", a, b);
  if (is_bit)
    return maximum ? sambaLlvm.BuildOr(emit->builder, a, b, "")
                   : sambaLlvm.BuildAnd(emit->builder, a, b, "");
  return sambaEmitBinary(emit, maximum ? "llvm.smax" : "llvm.smin", a, b);
}

static LLVMValueRef floatToInteger(const SambaEmit *emit, LLVMTypeRef scalar, LLVMValueRef a) {
  if (scalar == emit->i1) /* saturated to [0, 1] */
    return sambaEmitCompare(emit, LLVMRealOGE, a, sambaEmitFloat(emit, 1.0f));
  LLVMTypeRef overloads[] = {sambaEmitType(emit, scalar), sambaEmitType(emit, emit->f32)};
  return sambaEmitIntrinsic(emit, "llvm.fptosi.sat", overloads, 2, &a, 1);
}

static LLVMValueRef resize(const SambaEmit *emit, LLVMTypeRef to, LLVMValueRef a) {
  LLVMTypeRef from = sambaEmitScalarOf(sambaLlvm.TypeOf(a));
  if (from == to)
    return a;
  if (to == emit->i1)
    return sambaEmitIntegerCompare(emit, LLVMIntNE, a, sambaEmitInteger(emit, from, 0));
  if (from == emit->i1)
    return sambaLlvm.BuildZExt(emit->builder, a, sambaEmitType(emit, to), "");
  return to == emit->i64 ? sambaLlvm.BuildSExt(emit->builder, a, sambaEmitType(emit, to), "")
                         : sambaLlvm.BuildTrunc(emit->builder, a, sambaEmitType(emit, to), "");
}

/* Long: one case per opcode in one switch, so that the compiler says which opcode is missing. */
LLVMValueRef sambaEmitLaneOp(const SambaEmit *emit, const SambaLaneOp *op, const LLVMValueRef *v) {
  LLVMBuilderRef b = emit->builder;
  LLVMTypeRef scalar = sambaEmitLaneType(emit, op->type);
  bool real = sambaDTypeIsFloat(op->type), bit = op->type == SAMBA_DTYPE_I1;

  switch ((SambaLaneOpcode)op->opcode) {
  case SAMBA_LANE_MOVE:
    return v[0];
  case SAMBA_LANE_ADD:
    return real ? sambaLlvm.BuildFAdd(b, v[0], v[1], "") : sambaLlvm.BuildAdd(b, v[0], v[1], "");
  case SAMBA_LANE_SUB:
    return real ? sambaLlvm.BuildFSub(b, v[0], v[1], "") : sambaLlvm.BuildSub(b, v[0], v[1], "");
  case SAMBA_LANE_MUL:
    return real ? sambaLlvm.BuildFMul(b, v[0], v[1], "") : sambaLlvm.BuildMul(b, v[0], v[1], "");
  case SAMBA_LANE_FMA:
    return real ? sambaEmitFma(emit, v[0], v[1], v[2])
                : sambaLlvm.BuildAdd(b, sambaLlvm.BuildMul(b, v[0], v[1], ""), v[2], "");
  case SAMBA_LANE_DIV:
    return real ? sambaLlvm.BuildFDiv(b, v[0], v[1], "")
                : integerDivide(emit, scalar, false, v[0], v[1]);
  case SAMBA_LANE_REM:
    return real ? sambaLlvm.BuildFRem(b, v[0], v[1], "")
                : integerDivide(emit, scalar, true, v[0], v[1]);
  case SAMBA_LANE_NEG:
    return real ? sambaLlvm.BuildFNeg(b, v[0], "") : sambaLlvm.BuildNeg(b, v[0], "");
  case SAMBA_LANE_ABS:
    if (real)
      return sambaEmitUnary(emit, "llvm.fabs", v[0]);
    return bit ? v[0]
               : sambaEmitSelect(emit,
                                 sambaEmitIntegerCompare(emit, LLVMIntSLT, v[0],
                                                         sambaEmitInteger(emit, scalar, 0)),
                                 sambaLlvm.BuildNeg(b, v[0], ""), v[0]);
  case SAMBA_LANE_MIN:
  case SAMBA_LANE_MAX:
    return minMax(emit, op->opcode == SAMBA_LANE_MAX, real, bit, v[0], v[1]);
  case SAMBA_LANE_AND:
    return sambaLlvm.BuildAnd(b, v[0], v[1], "");
  case SAMBA_LANE_OR:
    return sambaLlvm.BuildOr(b, v[0], v[1], "");
  case SAMBA_LANE_XOR:
    return sambaLlvm.BuildXor(b, v[0], v[1], "");
  case SAMBA_LANE_SHL:
  case SAMBA_LANE_SHRA:
  case SAMBA_LANE_SHRL:
    return bit ? v[0] : shift(emit, op->opcode, scalar, v[0], v[1]);
  case SAMBA_LANE_EQ:
  case SAMBA_LANE_NE:
  case SAMBA_LANE_LT:
  case SAMBA_LANE_LE:
  case SAMBA_LANE_GT:
  case SAMBA_LANE_GE:
    return compare(emit, op->opcode, real, bit, v[0], v[1]);
  case SAMBA_LANE_SELECT:
    return sambaEmitSelect(emit, v[0], v[1], v[2]);
  case SAMBA_LANE_FLOOR:
    return real ? sambaEmitUnary(emit, "llvm.floor", v[0]) : v[0];
  case SAMBA_LANE_CEIL:
    return real ? sambaEmitUnary(emit, "llvm.ceil", v[0]) : v[0];
  case SAMBA_LANE_ROUNDEVEN:
    return real ? sambaEmitUnary(emit, "llvm.roundeven", v[0]) : v[0];
  case SAMBA_LANE_TRUNC:
    return real ? sambaEmitUnary(emit, "llvm.trunc", v[0]) : v[0];
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
    return sambaEmitTranscendental(emit, op->opcode, v[0], NULL);
  case SAMBA_LANE_POW:
    if (!real)
      return integerPower(emit, scalar, v[0], v[1]);
    return sambaEmitTranscendental(emit, op->opcode, v[0], v[1]);
  case SAMBA_LANE_TO_BF16:
    return sambaEmitRoundToBf16(emit, v[0]);
  case SAMBA_LANE_TO_F16:
    return sambaEmitRoundToHalf(emit, v[0]);
  case SAMBA_LANE_FLOAT_TO_INT:
    return floatToInteger(emit, scalar, v[0]);
  case SAMBA_LANE_INT_TO_FLOAT:
    return sambaEmitScalarOf(sambaLlvm.TypeOf(v[0])) == emit->i1
               ? sambaLlvm.BuildUIToFP(b, v[0], sambaEmitType(emit, emit->f32), "")
               : sambaLlvm.BuildSIToFP(b, v[0], sambaEmitType(emit, emit->f32), "");
  case SAMBA_LANE_INT_RESIZE:
    return resize(emit, scalar, v[0]);
  case SAMBA_LANE_WRAP:
    return sambaEmitWrap(emit, v[0], (SambaDType)op->immediate);
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
  case SAMBA_LANE_MAC_ON:
    break;
  }

  return sambaLlvm.ConstNull(sambaEmitType(emit, scalar));
}

/* The range of a lane's integers; those of one bit are 0 and 1. */
static int64_t largestInteger(unsigned bits) {
  if (bits == 1)
    return 1;
  return bits == 64 ? INT64_MAX : INT32_MAX;
}
static int64_t smallestInteger(unsigned bits) {
  if (bits == 1)
    return 0;
  return bits == 64 ? INT64_MIN : INT32_MIN;
}

LLVMValueRef sambaEmitReduceIdentity(const SambaEmit *emit, const SambaLaneOp *op) {
  bool real = sambaDTypeIsFloat(op->type);
  LLVMTypeRef scalar = sambaEmitLaneType(emit, op->type);

  unsigned bits = real ? 32 : sambaLlvm.GetIntTypeWidth(scalar);
  switch (op->opcode) {
  case SAMBA_LANE_REDUCE_MUL:
    return real ? sambaEmitFloat(emit, 1.0f) : sambaEmitInteger(emit, scalar, 1);
  case SAMBA_LANE_REDUCE_MIN:
    return real ? sambaEmitFloat(emit, INFINITY)
                : sambaEmitInteger(emit, scalar, largestInteger(bits));
  case SAMBA_LANE_REDUCE_MAX:
    return real ? sambaEmitFloat(emit, -INFINITY)
                : sambaEmitInteger(emit, scalar, smallestInteger(bits));
  case SAMBA_LANE_REDUCE_AND:
    return sambaEmitInteger(emit, scalar, -1);
  default:
    return real ? sambaEmitFloat(emit, 0.0f) : sambaEmitInteger(emit, scalar, 0);
  }
}

LLVMValueRef sambaEmitReduceCombine(const SambaEmit *emit, const SambaLaneOp *op, LLVMValueRef a,
                                    LLVMValueRef b) {
  static const uint8_t simple[] = {SAMBA_LANE_ADD, SAMBA_LANE_MUL, SAMBA_LANE_MIN, SAMBA_LANE_MAX,
                                   SAMBA_LANE_AND, SAMBA_LANE_OR,  SAMBA_LANE_ADD};
  SambaLaneOp combine = {.opcode = simple[op->opcode - SAMBA_LANE_REDUCE_ADD], .type = op->type};
  LLVMValueRef operands[] = {a, b};
  return sambaEmitLaneOp(emit, &combine, operands);
}

LLVMValueRef sambaEmitReduceStep(const SambaEmit *emit, const SambaLaneOp *op,
                                 LLVMValueRef accumulator, LLVMValueRef a, LLVMValueRef b) {
  if (!sambaLaneOpIsMac(op->opcode))
    return sambaEmitReduceCombine(emit, op, accumulator, a);
  SambaLaneOp fma = {.opcode = SAMBA_LANE_FMA, .type = op->type};
  LLVMValueRef operands[] = {a, b, accumulator};
  return sambaEmitLaneOp(emit, &fma, operands);
}
