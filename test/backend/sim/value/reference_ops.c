/* Lane operations of the naive interpreter; see reference_ops.h. */
#include "test/backend/sim/value/reference_ops.h"

#include <math.h>
#include <string.h>

ReferenceValue referenceFromBits(SambaDType dtype, uint64_t bits) {
  ReferenceValue v = {0, 0};
  uint32_t low = (uint32_t)bits;

  switch (dtype) {
  case SAMBA_DTYPE_F32:
    memcpy(&v.f, &low, 4);
    break;
  case SAMBA_DTYPE_BF16:
    v.f = sambaBf16ToFloat((uint16_t)bits);
    break;
  case SAMBA_DTYPE_F16:
    v.f = sambaHalfToFloat((uint16_t)bits);
    break;
  case SAMBA_DTYPE_I1:
    v.i = (uint8_t)bits != 0;
    break;
  case SAMBA_DTYPE_I8:
    v.i = (int8_t)bits;
    break;
  case SAMBA_DTYPE_UI8:
    v.i = (uint8_t)bits;
    break;
  case SAMBA_DTYPE_I16:
    v.i = (int16_t)bits;
    break;
  case SAMBA_DTYPE_I32:
    v.i = (int32_t)bits;
    break;
  default:
    v.i = (int64_t)bits;
    break;
  }

  return v;
}

int64_t referenceWrap(int64_t value, SambaDType dtype) {
  return referenceFromBits(dtype, (uint64_t)value).i;
}

uint64_t referenceToBits(SambaDType dtype, ReferenceValue v) {
  uint32_t low;
  switch (dtype) {
  case SAMBA_DTYPE_F32:
    if (isnan(v.f))
      return 0x7FC00000;
    memcpy(&low, &v.f, 4);
    return low;
  case SAMBA_DTYPE_BF16:
    return sambaFloatToBf16(v.f);
  case SAMBA_DTYPE_F16:
    return sambaFloatToHalf(v.f);
  case SAMBA_DTYPE_I1:
    return v.i & 1;
  default:
    return (uint64_t)v.i;
  }
}

static float minimumOf(float a, float b, bool maximum) {
  if (isnan(a) || isnan(b))
    return NAN;
  if (a == b)
    return !signbit(a) == maximum ? a : b;
  return (a < b) == !maximum ? a : b;
}

static float unaryFloat(uint8_t opcode, float x) {
  switch (opcode) {
  case SAMBA_LANE_EXP:
    return (float)exp((double)x);
  case SAMBA_LANE_LOG:
    return (float)log((double)x);
  case SAMBA_LANE_SQRT:
    return sqrtf(x);
  case SAMBA_LANE_RSQRT:
    return 1.0f / sqrtf(x);
  case SAMBA_LANE_TANH:
    return (float)tanh((double)x);
  case SAMBA_LANE_ERF:
    return (float)erf((double)x);
  case SAMBA_LANE_SIN:
    return (float)sin((double)x);
  case SAMBA_LANE_COS:
    return (float)cos((double)x);
  case SAMBA_LANE_EXPM1:
    return (float)expm1((double)x);
  case SAMBA_LANE_LOG1P:
    return (float)log1p((double)x);
  case SAMBA_LANE_ATAN:
    return (float)atan((double)x);
  case SAMBA_LANE_FLOOR:
    return floorf(x);
  case SAMBA_LANE_CEIL:
    return ceilf(x);
  case SAMBA_LANE_ROUNDEVEN:
    return rintf(x);
  case SAMBA_LANE_TRUNC:
    return truncf(x);
  case SAMBA_LANE_NEG:
    return -x;
  case SAMBA_LANE_ABS:
    return fabsf(x);
  case SAMBA_LANE_TO_BF16:
    return sambaBf16ToFloat(sambaFloatToBf16(x));
  case SAMBA_LANE_TO_F16:
    return sambaHalfToFloat(sambaFloatToHalf(x));
  default:
    return x;
  }
}

static ReferenceValue compareOf(uint8_t opcode, bool real, ReferenceValue a, ReferenceValue b) {
  bool less = real ? a.f < b.f : a.i < b.i, equal = real ? a.f == b.f : a.i == b.i,
       greater = real ? a.f > b.f : a.i > b.i;
  const bool results[] = {equal, !equal, less, less || equal, greater, greater || equal};
  return (ReferenceValue){0, results[opcode - SAMBA_LANE_EQ]};
}

static ReferenceValue floatOp(uint8_t opcode, const ReferenceValue *v) {
  switch (opcode) {
  case SAMBA_LANE_ADD:
    return (ReferenceValue){v[0].f + v[1].f, 0};
  case SAMBA_LANE_SUB:
    return (ReferenceValue){v[0].f - v[1].f, 0};
  case SAMBA_LANE_MUL:
    return (ReferenceValue){v[0].f * v[1].f, 0};
  case SAMBA_LANE_FMA:
    return (ReferenceValue){fmaf(v[0].f, v[1].f, v[2].f), 0};
  case SAMBA_LANE_DIV:
    return (ReferenceValue){v[0].f / v[1].f, 0};
  case SAMBA_LANE_REM:
    return (ReferenceValue){fmodf(v[0].f, v[1].f), 0};
  case SAMBA_LANE_MIN:
    return (ReferenceValue){minimumOf(v[0].f, v[1].f, false), 0};
  case SAMBA_LANE_MAX:
    return (ReferenceValue){minimumOf(v[0].f, v[1].f, true), 0};
  case SAMBA_LANE_POW:
    return (ReferenceValue){(float)pow((double)v[0].f, (double)v[1].f), 0};
  case SAMBA_LANE_SELECT:
    return v[0].i ? v[1] : v[2];
  default:
    return (ReferenceValue){unaryFloat(opcode, v[0].f), 0};
  }
}

static int64_t powerOf(int64_t base, int64_t exponent) {
  if (exponent < 0 && base == -1)
    return exponent & 1 ? -1 : 1;
  if (exponent < 0)
    return base == 1;
  uint64_t result = 1;
  for (uint64_t square = (uint64_t)base; exponent; exponent >>= 1, square *= square)
    result *= exponent & 1 ? square : 1;
  return (int64_t)result;
}

/* Exact in 128 bits, wrapped by the caller. */
static __int128 integerOp(uint8_t opcode, int bits, __int128 a, __int128 b, __int128 c,
                          int64_t condition) {
  int amount = (int)(b & (bits - 1));
  unsigned __int128 mask =
      bits == 64 ? (unsigned __int128)UINT64_MAX : (unsigned __int128)UINT32_MAX;

  switch (opcode) {
  case SAMBA_LANE_ADD:
    return a + b;
  case SAMBA_LANE_SUB:
    return a - b;
  case SAMBA_LANE_MUL:
    return a * b;
  case SAMBA_LANE_FMA:
    return (__int128)((unsigned __int128)a * (unsigned __int128)b + (unsigned __int128)c);
  case SAMBA_LANE_DIV:
    return b == 0 ? 0 : a / b;
  case SAMBA_LANE_REM:
    return b == 0 ? 0 : a % b;
  case SAMBA_LANE_POW:
    return powerOf((int64_t)a, (int64_t)b);
  case SAMBA_LANE_NEG:
    return -a;
  case SAMBA_LANE_ABS:
    return a < 0 ? -a : a;
  case SAMBA_LANE_MIN:
    return a < b ? a : b;
  case SAMBA_LANE_MAX:
    return a > b ? a : b;
  case SAMBA_LANE_AND:
    return a & b;
  case SAMBA_LANE_OR:
    return a | b;
  case SAMBA_LANE_XOR:
    return a ^ b;
  case SAMBA_LANE_SHL:
    return (__int128)((unsigned __int128)a << amount);
  case SAMBA_LANE_SHRA:
    return a >> amount;
  case SAMBA_LANE_SHRL:
    return (__int128)(((unsigned __int128)a & mask) >> amount);
  case SAMBA_LANE_SELECT:
    return condition ? b : c;
  default:
    return a;
  }
}

static int64_t saturate(float x, SambaDType type) {
  if (isnan(x))
    return 0;
  double low = type == SAMBA_DTYPE_I64 ? -0x1p63 : -0x1p31;
  double high = -low;
  if ((double)x < low)
    return type == SAMBA_DTYPE_I64 ? INT64_MIN : INT32_MIN;
  if ((double)x >= high)
    return type == SAMBA_DTYPE_I64 ? INT64_MAX : INT32_MAX;
  return (int64_t)x;
}

ReferenceValue referenceEvaluate(const SambaLaneOp *op, const ReferenceValue *v) {
  SambaDType type = (SambaDType)op->type;
  bool real = type == SAMBA_DTYPE_F32;

  switch (op->opcode) {
  case SAMBA_LANE_FLOAT_TO_INT:
    return (ReferenceValue){0, saturate(v[0].f, type)};
  case SAMBA_LANE_INT_TO_FLOAT:
    return (ReferenceValue){(float)v[0].i, 0};
  case SAMBA_LANE_INT_RESIZE:
    return (ReferenceValue){0, type == SAMBA_DTYPE_I1 ? v[0].i != 0 : referenceWrap(v[0].i, type)};
  case SAMBA_LANE_WRAP:
    return (ReferenceValue){0, op->immediate == SAMBA_DTYPE_I1
                                   ? v[0].i & 1
                                   : referenceWrap(v[0].i, (SambaDType)op->immediate)};
  case SAMBA_LANE_MOVE:
    return v[0];
  default:
    break;
  }

  if (op->opcode >= SAMBA_LANE_EQ && op->opcode <= SAMBA_LANE_GE)
    return compareOf(op->opcode, real, v[0], v[1]);
  if (real)
    return floatOp(op->opcode, v);
  int bits = type == SAMBA_DTYPE_I64 ? 64 : 32;

  return (ReferenceValue){
      0, referenceWrap((int64_t)integerOp(op->opcode, bits, v[0].i, v[1].i, v[2].i, v[0].i), type)};
}

ReferenceValue referenceIdentity(const SambaLaneOp *op) {
  bool wide = op->type == SAMBA_DTYPE_I64, bit = op->type == SAMBA_DTYPE_I1;
  int64_t least = wide ? INT64_MIN : INT32_MIN, most = wide ? INT64_MAX : INT32_MAX;
  switch (op->opcode) {
  case SAMBA_LANE_REDUCE_MUL:
    return (ReferenceValue){1, 1};
  case SAMBA_LANE_REDUCE_MIN:
    return (ReferenceValue){INFINITY, bit ? 1 : most};
  case SAMBA_LANE_REDUCE_MAX:
    return (ReferenceValue){-INFINITY, bit ? 0 : least};
  case SAMBA_LANE_REDUCE_AND:
    return (ReferenceValue){0, bit ? 1 : -1};
  default:
    return (ReferenceValue){0, 0};
  }
}

ReferenceValue referenceCombine(const SambaLaneOp *op, ReferenceValue a, ReferenceValue b) {
  static const uint8_t plain[] = {SAMBA_LANE_ADD, SAMBA_LANE_MUL, SAMBA_LANE_MIN, SAMBA_LANE_MAX,
                                  SAMBA_LANE_AND, SAMBA_LANE_OR,  SAMBA_LANE_ADD};
  SambaLaneOp simple = {.opcode = plain[op->opcode - SAMBA_LANE_REDUCE_ADD], .type = op->type};
  const ReferenceValue operands[3] = {a, b, {0, 0}};
  return referenceEvaluate(&simple, operands);
}
