/* TOSA's element-wise operations. Operands of size 1 broadcast there as in samba. */
#include "lowering/tosa/tosa_rows.h"

#include "support/number/dtype.h"

#include <float.h>
#include <math.h>

static uint32_t bitsOf(SambaDType dtype) {
  return dtype == SAMBA_DTYPE_I64 ? 64 : sambaDTypeBytes(dtype) * 8;
}

/* The largest number of an integer type. */
static double largestOf(SambaDType dtype) { return ldexp(1.0, (int)bitsOf(dtype) - 1) - 1; }

void sambaTosaSame(SambaForeignCall *call) {
  call->results[0] = sambaExpandCall(&call->expansion, call->row->operator, call->operand_count,
                                     call->operands, 0, NULL);
}

void sambaTosaIdentity(SambaForeignCall *call) {
  for (uint32_t i = 0; i < call->result_count; ++i)
    call->results[i] = call->operands[i];
}

bool sambaTosaIgnoresNan(const SambaForeignCall *call, uint32_t value) {
  return sambaDTypeIsFloat(sambaForeignType(call, value).dtype) &&
         sambaForeignSays(call, "nan_mode", "IGNORE");
}

static uint32_t isNan(SambaExpansion *expansion, uint32_t x) {
  return sambaExpandBinary(expansion, "ne", x, x);
}

static uint32_t choose(SambaExpansion *expansion, uint32_t condition, uint32_t a, uint32_t b) {
  return sambaExpandCall(expansion, "where", 3, (uint32_t[]){condition, a, b}, 0, NULL);
}

uint32_t sambaTosaReplaceNan(SambaForeignCall *call, uint32_t x, double number) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t other = sambaExpandScalar(expansion, sambaForeignType(call, x).dtype, number);
  return choose(expansion, isNan(expansion, x), other, x);
}

void sambaTosaExtremum(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t a = call->operands[0], b = call->operands[1];
  uint32_t chosen = sambaExpandBinary(expansion, call->row->operator, a, b);
  if (sambaTosaIgnoresNan(call, a)) {
    chosen = choose(expansion, isNan(expansion, b), a, chosen);
    chosen = choose(expansion, isNan(expansion, a), b, chosen);
  }
  call->results[0] = chosen;
}

/* With a shift the product has 64 bits, is rounded half up and shifted right. */
void sambaTosaMul(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t a = call->operands[0], b = call->operands[1];
  SambaDType dtype = call->types[0].dtype;
  int64_t shift = 0;
  if (sambaDTypeIsFloat(dtype) || sambaForeignOperandIs(call, 2, 0)) {
    call->results[0] = sambaExpandBinary(expansion, "mul", sambaExpandCast(expansion, a, dtype),
                                         sambaExpandCast(expansion, b, dtype));
    return;
  }

  sambaForeignOperandInts(call, 2, &shift, 1);
  uint32_t wide =
      sambaExpandBinary(expansion, "mul", sambaExpandCast(expansion, a, SAMBA_DTYPE_I64),
                        sambaExpandCast(expansion, b, SAMBA_DTYPE_I64));
  if (shift > 0) {
    wide = sambaExpandWithNumber(expansion, "add", wide, ldexp(1.0, (int)shift - 1));
    wide = sambaExpandWithNumber(expansion, "bitwise_right_shift", wide, (double)shift);
  }
  call->results[0] = sambaExpandCast(expansion, wide, dtype);
}

/* output_zp - (x - input_zp); narrow integers saturate. */
void sambaTosaNegate(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  SambaDType dtype = call->types[0].dtype;
  uint32_t x = call->operands[0];
  if (sambaDTypeIsFloat(dtype) || bitsOf(dtype) > 16) {
    call->results[0] = sambaExpandUnary(expansion, "neg", x);
    return;
  }

  int64_t input_zero = 0, output_zero = 0;
  sambaForeignOperandInts(call, 1, &input_zero, 1);
  sambaForeignOperandInts(call, 2, &output_zero, 1);
  uint32_t wide =
      sambaExpandUnary(expansion, "neg", sambaExpandCast(expansion, x, SAMBA_DTYPE_I32));
  wide = sambaExpandWithNumber(expansion, "add", wide, (double)(input_zero + output_zero));
  double most = largestOf(dtype);
  wide =
      SAMBA_FOREIGN_CALL(call, "clamp", (uint32_t[]){wide}, sambaFloatAttribute("min", -most - 1),
                         sambaFloatAttribute("max", most));
  call->results[0] = sambaExpandCast(expansion, wide, dtype);
}

void sambaTosaClamp(SambaForeignCall *call) {
  uint32_t x = call->operands[0];
  double least = sambaForeignNumber(call, "min_val"), most = sambaForeignNumber(call, "max_val");
  if (sambaTosaIgnoresNan(call, x))
    x = sambaTosaReplaceNan(call, x, least);

  SambaAttribute bounds[2];
  uint32_t count = 0;
  if (least != -INFINITY)
    bounds[count++] = sambaFloatAttribute("min", least);
  if (most != INFINITY)
    bounds[count++] = sambaFloatAttribute("max", most);
  if (count == 0)
    call->results[0] = x;
  else if (count == 1 && least == 0)
    call->results[0] = sambaExpandUnary(&call->expansion, "relu", x);
  else
    call->results[0] = sambaExpandCall(&call->expansion, "clamp", 1, &x, count, bounds);
}

/* A float becomes the nearest integer, ties to even, and saturates. */
void sambaTosaCast(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t x = call->operands[0];
  SambaDType from = sambaForeignType(call, x).dtype, to = call->types[0].dtype;
  if (sambaDTypeIsFloat(from) && !sambaDTypeIsFloat(to) && to != SAMBA_DTYPE_I1) {
    x = sambaExpandUnary(expansion, "round", sambaExpandCast(expansion, x, SAMBA_DTYPE_F32));
    double most = largestOf(to);
    if (bitsOf(to) < 32) /* wider ones saturate by themselves */
      x = SAMBA_FOREIGN_CALL(call, "clamp", (uint32_t[]){x}, sambaFloatAttribute("min", -most - 1),
                             sambaFloatAttribute("max", most));
  }
  call->results[0] = sambaExpandCast(expansion, x, to);
}

/* With `round` the last bit that is shifted out is added. */
void sambaTosaArithmeticRightShift(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t a = call->operands[0], b = call->operands[1];
  uint32_t shifted = sambaExpandBinary(expansion, "bitwise_right_shift", a, b);
  if (sambaForeignFlag(call, "round")) {
    uint32_t before = sambaExpandBinary(expansion, "bitwise_right_shift", a,
                                        sambaExpandWithNumber(expansion, "sub", b, 1));
    uint32_t bit = sambaExpandWithNumber(expansion, "bitwise_and", before, 1);
    uint32_t some = sambaExpandWithNumber(expansion, "gt", b, 0);
    uint32_t rounded = sambaExpandBinary(expansion, "add", shifted, bit);
    shifted = choose(expansion, some, rounded, shifted);
  }
  call->results[0] = shifted;
}

/* The sign's copies are masked out: (a >> b) & ((1 << (bits - b)) - 1), where a shift by all bits
 * gives 0 and the mask then all ones. */
void sambaTosaLogicalRightShift(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t a = call->operands[0], b = call->operands[1];
  SambaDType dtype = call->types[0].dtype;
  uint32_t bits = sambaExpandScalar(expansion, dtype, bitsOf(dtype));
  uint32_t one = sambaExpandScalar(expansion, dtype, 1);
  uint32_t room = sambaExpandBinary(expansion, "bitwise_left_shift", one,
                                    sambaExpandBinary(expansion, "sub", bits, b));
  uint32_t mask = sambaExpandWithNumber(expansion, "sub", room, 1);
  uint32_t shifted = sambaExpandBinary(expansion, "bitwise_right_shift", a, b);
  call->results[0] = sambaExpandBinary(expansion, "bitwise_and", shifted, mask);
}

/* Leading zeros, found by halving: where the upper part is zero its length is counted and it is
 * shifted out. */
void sambaTosaClz(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t x = call->operands[0];
  SambaDType dtype = call->types[0].dtype;
  uint32_t zero = sambaExpandScalar(expansion, dtype, 0);
  uint32_t count = sambaExpandBinary(expansion, "mul", x, zero);
  uint32_t bits = bitsOf(dtype);
  for (uint32_t part = bits / 2; part; part /= 2) {
    uint32_t upper = sambaExpandWithNumber(expansion, "bitwise_right_shift", x, bits - part);
    uint32_t clear = sambaExpandWithNumber(expansion, "eq", upper, 0);
    count = choose(expansion, clear, sambaExpandWithNumber(expansion, "add", count, part), count);
    x = choose(expansion, clear, sambaExpandWithNumber(expansion, "bitwise_left_shift", x, part),
               x);
  }
  uint32_t none = sambaExpandWithNumber(expansion, "eq", x, 0);
  call->results[0] =
      choose(expansion, none, sambaExpandWithNumber(expansion, "add", count, 1), count);
}
