/* The lane builder's foundation: types, constants, intrinsics at the current width; see emit.h. */
#include "backend/sim/value/lane/emit.h"

#include <string.h>

LLVMTypeRef sambaEmitType(const SambaEmit *emit, LLVMTypeRef scalar) {
  return emit->width == 1 ? scalar : sambaLlvm.VectorType(scalar, emit->width);
}

LLVMTypeRef sambaEmitScalarOf(LLVMTypeRef type) {
  return sambaLlvm.GetTypeKind(type) == LLVMVectorTypeKind ? sambaLlvm.GetElementType(type) : type;
}

/* A constant in every lane; wide machines have up to 256. */
static LLVMValueRef splatConstant(const SambaEmit *emit, LLVMValueRef constant) {
  if (emit->width == 1)
    return constant;
  LLVMValueRef lanes[256];
  for (unsigned i = 0; i < emit->width; ++i)
    lanes[i] = constant;
  return sambaLlvm.ConstVector(lanes, emit->width);
}

LLVMValueRef sambaEmitInteger(const SambaEmit *emit, LLVMTypeRef scalar, int64_t value) {
  unsigned bits = sambaLlvm.GetIntTypeWidth(scalar);
  uint64_t masked = bits == 64 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << bits) - 1);
  return splatConstant(emit, sambaLlvm.ConstInt(scalar, masked, false));
}

LLVMValueRef sambaEmitFloat(const SambaEmit *emit, float value) {
  /* By bits, so that every NaN and -0 arrive as they are. */
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return splatConstant(
      emit, sambaLlvm.ConstBitCast(sambaLlvm.ConstInt(emit->i32, bits, false), emit->f32));
}

LLVMValueRef sambaEmitDouble(const SambaEmit *emit, double value) {
  return splatConstant(emit, sambaLlvm.ConstReal(emit->f64, value));
}

LLVMValueRef sambaEmitSplat(const SambaEmit *emit, LLVMValueRef scalar) {
  if (emit->width == 1)
    return scalar;
  LLVMTypeRef type = sambaEmitType(emit, sambaLlvm.TypeOf(scalar));
  LLVMValueRef one = sambaLlvm.BuildInsertElement(emit->builder, sambaLlvm.GetPoison(type), scalar,
                                                  sambaLlvm.ConstInt(emit->i32, 0, false), "");
  LLVMValueRef zeros = sambaLlvm.ConstNull(sambaLlvm.VectorType(emit->i32, emit->width));
  return sambaLlvm.BuildShuffleVector(emit->builder, one, sambaLlvm.GetPoison(type), zeros, "");
}

LLVMValueRef sambaEmitIntrinsic(const SambaEmit *emit, const char *name, LLVMTypeRef *overloads,
                                unsigned overload_count, LLVMValueRef *arguments,
                                unsigned argument_count) {
  unsigned id = sambaLlvm.LookupIntrinsicID(name, strlen(name));
  LLVMValueRef function =
      sambaLlvm.GetIntrinsicDeclaration(emit->module, id, overloads, overload_count);
  LLVMTypeRef type = sambaLlvm.IntrinsicGetType(emit->context, id, overloads, overload_count);
  return sambaLlvm.BuildCall2(emit->builder, type, function, arguments, argument_count, "");
}

LLVMValueRef sambaEmitUnary(const SambaEmit *emit, const char *name, LLVMValueRef a) {
  LLVMTypeRef type = sambaLlvm.TypeOf(a);
  return sambaEmitIntrinsic(emit, name, &type, 1, &a, 1);
}

LLVMValueRef sambaEmitBinary(const SambaEmit *emit, const char *name, LLVMValueRef a,
                             LLVMValueRef b) {
  LLVMTypeRef type = sambaLlvm.TypeOf(a);
  LLVMValueRef arguments[] = {a, b};
  return sambaEmitIntrinsic(emit, name, &type, 1, arguments, 2);
}

LLVMValueRef sambaEmitFma(const SambaEmit *emit, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMTypeRef type = sambaLlvm.TypeOf(a);
  LLVMValueRef arguments[] = {a, b, c};
  return sambaEmitIntrinsic(emit, "llvm.fma", &type, 1, arguments, 3);
}

LLVMValueRef sambaEmitBitcast(const SambaEmit *emit, LLVMValueRef value, LLVMTypeRef scalar) {
  return sambaLlvm.BuildBitCast(emit->builder, value, sambaEmitType(emit, scalar), "");
}

LLVMValueRef sambaEmitSelect(const SambaEmit *emit, LLVMValueRef condition, LLVMValueRef yes,
                             LLVMValueRef no) {
  return sambaLlvm.BuildSelect(emit->builder, condition, yes, no, "");
}

LLVMValueRef sambaEmitCompare(const SambaEmit *emit, LLVMRealPredicate predicate, LLVMValueRef a,
                              LLVMValueRef b) {
  return sambaLlvm.BuildFCmp(emit->builder, predicate, a, b, "");
}

LLVMValueRef sambaEmitIntegerCompare(const SambaEmit *emit, LLVMIntPredicate predicate,
                                     LLVMValueRef a, LLVMValueRef b) {
  return sambaLlvm.BuildICmp(emit->builder, predicate, a, b, "");
}
