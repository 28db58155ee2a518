/* Emission of what happens at one set of points: loads, program values, stores; and the loops
 * around them. */
#include "backend/sim/value/kernel/kernel_point.h"

#include "backend/sim/value/storage/storage.h"

#include <stdlib.h>

LLVMValueRef sambaKernelConstant(const SambaKernel *kernel, int64_t value) {
  return sambaLlvm.ConstInt(kernel->emit->i64, (uint64_t)value, true);
}

LLVMValueRef sambaKernelArgument(SambaKernel *kernel, uint32_t index) {
  LLVMValueRef at = sambaKernelConstant(kernel, index);
  return sambaLlvm.BuildLoad2(
      kernel->emit->builder, kernel->emit->i64,
      sambaLlvm.BuildGEP2(kernel->emit->builder, kernel->emit->i64, kernel->arguments, &at, 1, ""),
      "");
}

LLVMValueRef sambaKernelPointerArgument(SambaKernel *kernel, uint32_t index) {
  return sambaLlvm.BuildIntToPtr(kernel->emit->builder, sambaKernelArgument(kernel, index),
                                 kernel->emit->pointer, "");
}

LLVMTypeRef sambaKernelStorageType(const SambaKernel *kernel, uint8_t dtype) {
  switch (sambaStorageOf(dtype)) {
  case SAMBA_STORAGE_F32:
    return kernel->emit->f32;
  case SAMBA_STORAGE_I32:
    return kernel->emit->i32;
  default:
    return kernel->emit->i64;
  }
}

LLVMBasicBlockRef sambaKernelNewBlock(SambaKernel *kernel) {
  return sambaLlvm.AppendBasicBlockInContext(kernel->emit->context, kernel->function, "");
}

static void setAlignment(LLVMValueRef call, unsigned operand, unsigned alignment) {
  sambaLlvm.SetInstrParamAlignment(call, operand + 1, alignment);
}

/* Tokens do not change while a kernel runs, so their loads may move freely. */
static void markInvariant(SambaKernel *kernel, LLVMValueRef load) {
  LLVMMetadataRef empty = sambaLlvm.MDNodeInContext2(kernel->emit->context, NULL, 0);
  sambaLlvm.SetMetadata(load,
                        sambaLlvm.GetMDKindIDInContext(kernel->emit->context, "invariant.load", 14),
                        sambaLlvm.MetadataAsValue(kernel->emit->context, empty));
}

uint32_t sambaKernelVectorLoop(const SambaKernel *kernel) {
  return kernel->spec->vector_reduced
             ? kernel->spec->parallel_loops + kernel->spec->reduced_loops - 1
             : kernel->spec->parallel_loops - 1;
}

LLVMValueRef sambaKernelStrideOf(const SambaKernel *kernel, uint32_t port, uint32_t loop) {
  return kernel->strides[port * kernel->layout.loops + loop];
}

/* Element addresses of all lanes for a strided walk. */
static LLVMValueRef laneAddresses(SambaKernel *kernel, LLVMTypeRef type, LLVMValueRef base,
                                  LLVMValueRef offset, LLVMValueRef stride) {
  LLVMBuilderRef b = kernel->emit->builder;
  LLVMValueRef wide =
      sambaLlvm.BuildZExt(b, kernel->lanes, sambaEmitType(kernel->emit, kernel->emit->i64), "");
  LLVMValueRef offsets = sambaLlvm.BuildMul(b, wide, sambaEmitSplat(kernel->emit, stride), "");
  LLVMValueRef origin = sambaLlvm.BuildGEP2(b, type, base, &offset, 1, "");
  return sambaLlvm.BuildGEP2(b, type, origin, &offsets, 1, "");
}

static LLVMValueRef fullMask(const SambaKernel *kernel) {
  return sambaEmitInteger(kernel->emit, kernel->emit->i1, 1);
}

LLVMValueRef sambaKernelLoadElements(SambaKernel *kernel, LLVMTypeRef type, LLVMValueRef base,
                                     LLVMValueRef offset, uint8_t walk, LLVMValueRef stride,
                                     LLVMValueRef mask, bool invariant) {
  SambaEmit *emit = kernel->emit;
  LLVMValueRef loaded;

  if (emit->width == 1 || walk == SAMBA_WALK_BROADCAST) {
    loaded = sambaLlvm.BuildLoad2(
        emit->builder, type, sambaLlvm.BuildGEP2(emit->builder, type, base, &offset, 1, ""), "");
    if (invariant)
      markInvariant(kernel, loaded);
    return sambaEmitSplat(emit, loaded);
  }

  LLVMTypeRef vector = sambaEmitType(emit, type);
  unsigned size = type == emit->i64 ? 8 : 4;
  LLVMValueRef address = walk == SAMBA_WALK_CONTIGUOUS
                             ? sambaLlvm.BuildGEP2(emit->builder, type, base, &offset, 1, "")
                             : laneAddresses(kernel, type, base, offset, stride);
  LLVMTypeRef overloads[] = {vector, sambaLlvm.TypeOf(address)};
  LLVMValueRef operands[] = {address, mask ? mask : fullMask(kernel), sambaLlvm.ConstNull(vector)};
  loaded = sambaEmitIntrinsic(
      emit, walk == SAMBA_WALK_CONTIGUOUS ? "llvm.masked.load" : "llvm.masked.gather", overloads, 2,
      operands, 3);
  setAlignment(loaded, 0, size);
  if (invariant)
    markInvariant(kernel, loaded);
  return loaded;
}

void sambaKernelStoreElements(SambaKernel *kernel, LLVMValueRef value, LLVMValueRef base,
                              LLVMValueRef offset, uint8_t walk, LLVMValueRef stride,
                              LLVMValueRef mask) {
  SambaEmit *emit = kernel->emit;
  LLVMTypeRef vector = sambaLlvm.TypeOf(value);
  LLVMTypeRef type = sambaEmitScalarOf(vector);

  if (emit->width == 1) {
    sambaLlvm.BuildStore(emit->builder, value,
                         sambaLlvm.BuildGEP2(emit->builder, type, base, &offset, 1, ""));
    return;
  }

  LLVMValueRef address = walk == SAMBA_WALK_CONTIGUOUS
                             ? sambaLlvm.BuildGEP2(emit->builder, type, base, &offset, 1, "")
                             : laneAddresses(kernel, type, base, offset, stride);
  LLVMTypeRef overloads[] = {vector, sambaLlvm.TypeOf(address)};
  LLVMValueRef operands[] = {value, address, mask ? mask : fullMask(kernel)};
  LLVMValueRef call = sambaEmitIntrinsic(
      emit, walk == SAMBA_WALK_CONTIGUOUS ? "llvm.masked.store" : "llvm.masked.scatter", overloads,
      2, operands, 3);
  setAlignment(call, 1, type == emit->i64 ? 8 : 4);
}

static LLVMValueRef strideAlong(SambaKernel *kernel, uint32_t port, bool vector) {
  return vector && kernel->emit->width > 1
             ? sambaKernelStrideOf(kernel, port, sambaKernelVectorLoop(kernel))
             : sambaKernelConstant(kernel, 0);
}

/* The scalar outcome of a post part of a lane reduction runs at width 1 and offsets of its own. */
static LLVMValueRef emitInput(SambaKernel *kernel, SambaKernelPoint *point, uint32_t input) {
  SambaEmit *emit = kernel->emit;
  const SambaKernelPort *port = &kernel->spec->inputs[input];
  LLVMValueRef loaded = sambaKernelLoadElements(
      kernel, sambaKernelStorageType(kernel, port->dtype), kernel->bases[input],
      point->offsets[input], point->vector ? port->walk : SAMBA_WALK_BROADCAST,
      strideAlong(kernel, input, point->vector), point->mask, true);
  if (port->dtype == SAMBA_DTYPE_I1)
    loaded = sambaEmitIntegerCompare(emit, LLVMIntNE, loaded, sambaEmitInteger(emit, emit->i32, 0));
  return loaded;
}

static LLVMValueRef emitCounter(SambaKernel *kernel, SambaKernelPoint *point, const SambaLaneOp *op,
                                uint32_t which) {
  SambaEmit *emit = kernel->emit;
  uint32_t port = kernel->spec->input_count + kernel->spec->output_count + which;
  LLVMValueRef value = sambaEmitSplat(
      emit, sambaLlvm.BuildAdd(emit->builder, kernel->bases[port], point->offsets[port], ""));
  if (point->vector && emit->width > 1 &&
      kernel->spec->counter_walks[which] != SAMBA_WALK_BROADCAST) {
    LLVMValueRef steps =
        sambaLlvm.BuildZExt(emit->builder, kernel->lanes, sambaEmitType(emit, emit->i64), "");
    LLVMValueRef scaled = sambaLlvm.BuildMul(
        emit->builder, steps,
        sambaEmitSplat(emit, sambaKernelStrideOf(kernel, port, sambaKernelVectorLoop(kernel))), "");
    value = sambaLlvm.BuildAdd(emit->builder, value, scaled, "");
  }

  SambaLaneOp resize = {.opcode = SAMBA_LANE_INT_RESIZE, .type = op->type};
  if (sambaDTypeIsFloat(op->type))
    resize.opcode = SAMBA_LANE_INT_TO_FLOAT;
  return sambaEmitLaneOp(emit, &resize, &value);
}

static LLVMValueRef emitSource(SambaKernel *kernel, SambaKernelPoint *point, uint32_t index) {
  SambaEmit *emit = kernel->emit;
  const SambaLaneOp *op = &kernel->spec->ops[index];
  LLVMTypeRef type = sambaEmitLaneType(emit, op->type);

  if (op->opcode == SAMBA_LANE_COUNTER) {
    uint32_t which = 0;
    for (uint32_t i = 0; i < index; ++i)
      which += kernel->spec->ops[i].opcode == SAMBA_LANE_COUNTER;
    return emitCounter(kernel, point, op, which);
  }

  LLVMValueRef bits;
  if (op->opcode == SAMBA_LANE_CONSTANT) {
    bits = sambaLlvm.ConstInt(emit->i64, op->immediate, false);
  } else {
    LLVMValueRef at = sambaKernelConstant(kernel, (int64_t)op->immediate);
    LLVMValueRef block = sambaKernelPointerArgument(kernel, kernel->layout.argins);
    bits =
        sambaLlvm.BuildLoad2(emit->builder, emit->i64,
                             sambaLlvm.BuildGEP2(emit->builder, emit->i64, block, &at, 1, ""), "");
    markInvariant(kernel, bits);
  }

  LLVMTypeRef integer = type == emit->f32 ? emit->i32 : type;
  LLVMValueRef value =
      type == emit->i64 ? bits : sambaLlvm.BuildTrunc(emit->builder, bits, integer, "");
  return sambaEmitSplat(emit, type == emit->f32
                                  ? sambaLlvm.BuildBitCast(emit->builder, value, emit->f32, "")
                                  : value);
}

/* A systolic tile's value: read like an input, from the accumulators. */
static LLVMValueRef emitExternal(SambaKernel *kernel, SambaKernelPoint *point,
                                 const SambaLaneOp *op) {
  uint32_t port = kernel->layout.ports - 1;
  LLVMValueRef base = sambaKernelPointerArgument(kernel, kernel->layout.accumulators);
  return sambaKernelLoadElements(kernel, sambaKernelStorageType(kernel, op->type), base,
                                 point->offsets[port], kernel->spec->external_walk,
                                 strideAlong(kernel, port, true), point->mask, true);
}

LLVMValueRef sambaKernelEmitValue(SambaKernel *kernel, SambaKernelPoint *point, uint32_t id) {
  if (point->values[id])
    return point->values[id];
  LLVMValueRef value;

  if (id < kernel->spec->input_count) {
    value = emitInput(kernel, point, id);
  } else {
    uint32_t index = id - kernel->spec->input_count;
    const SambaLaneOp *op = &kernel->spec->ops[index];
    if (index == kernel->spec->external_op) {
      value = emitExternal(kernel, point, op);
    } else if (sambaLaneOpClass(op->opcode) == 'V') {
      value = emitSource(kernel, point, index);
    } else {
      LLVMValueRef operands[3] = {NULL, NULL, NULL};
      for (int i = 0; i < sambaLaneOpOperands(op->opcode); ++i)
        operands[i] = sambaKernelEmitValue(kernel, point, op->operands[i]);
      value = sambaEmitLaneOp(kernel->emit, op, operands);
    }
  }

  point->values[id] = value;
  return value;
}

/* Is the value already one of this 16-bit float type? */
static bool isRounded(const SambaKernelSpec *spec, uint32_t id, uint8_t dtype) {
  if (id < spec->input_count)
    return spec->inputs[id].dtype == dtype;
  const SambaLaneOp *op = &spec->ops[id - spec->input_count];
  return op->opcode == (dtype == SAMBA_DTYPE_BF16 ? SAMBA_LANE_TO_BF16 : SAMBA_LANE_TO_F16);
}

void sambaKernelEmitOutputs(SambaKernel *kernel, SambaKernelPoint *point, bool after_reduction) {
  SambaEmit *emit = kernel->emit;
  const SambaKernelSpec *spec = kernel->spec;

  for (uint32_t i = 0; i < spec->output_count; ++i) {
    const SambaKernelPort *port = &spec->outputs[i];
    if (kernel->depends[port->value] != after_reduction)
      continue;
    LLVMValueRef value = sambaKernelEmitValue(kernel, point, port->value);
    LLVMTypeRef scalar = sambaEmitScalarOf(sambaLlvm.TypeOf(value));
    if (port->dtype == SAMBA_DTYPE_BF16 && !isRounded(spec, port->value, port->dtype))
      value = sambaEmitRoundToBf16(emit, value);
    else if (port->dtype == SAMBA_DTYPE_F16 && !isRounded(spec, port->value, port->dtype))
      value = sambaEmitRoundToHalf(emit, value);
    else if (scalar == emit->i1)
      value = sambaLlvm.BuildZExt(emit->builder, value, sambaEmitType(emit, emit->i32), "");
    else if (scalar == emit->i32)
      value = sambaEmitWrap(emit, value, port->dtype);
    uint32_t index = spec->input_count + i;
    sambaKernelStoreElements(kernel, value, kernel->bases[index], point->offsets[index],
                             point->vector ? port->walk : SAMBA_WALK_STRIDED,
                             strideAlong(kernel, index, point->vector), point->mask);
  }
}

SambaKernelLoop sambaKernelBeginLoop(SambaKernel *kernel, LLVMValueRef start, LLVMValueRef *initial,
                                     uint32_t count) {
  LLVMBuilderRef b = kernel->emit->builder;
  LLVMBasicBlockRef before = sambaLlvm.GetInsertBlock(b);
  SambaKernelLoop loop = {.body = sambaKernelNewBlock(kernel),
                          .carried = sambaAllocate(count * sizeof(LLVMValueRef)),
                          .carried_count = count};
  sambaLlvm.BuildBr(b, loop.body);
  sambaLlvm.PositionBuilderAtEnd(b, loop.body);

  loop.index = sambaLlvm.BuildPhi(b, kernel->emit->i64, "");
  sambaLlvm.AddIncoming(loop.index, &start, &before, 1);
  for (uint32_t i = 0; i < count; ++i) {
    loop.carried[i] = sambaLlvm.BuildPhi(b, sambaLlvm.TypeOf(initial[i]), "");
    sambaLlvm.AddIncoming(loop.carried[i], &initial[i], &before, 1);
  }

  return loop;
}

void sambaKernelEndLoop(SambaKernel *kernel, SambaKernelLoop *loop, LLVMValueRef step,
                        LLVMValueRef trip, LLVMValueRef *next) {
  LLVMBuilderRef b = kernel->emit->builder;
  LLVMBasicBlockRef latch = sambaLlvm.GetInsertBlock(b);
  LLVMBasicBlockRef after = sambaKernelNewBlock(kernel);
  LLVMValueRef following = sambaLlvm.BuildNSWAdd(b, loop->index, step, "");
  sambaLlvm.AddIncoming(loop->index, &following, &latch, 1);
  for (uint32_t i = 0; i < loop->carried_count; ++i)
    sambaLlvm.AddIncoming(loop->carried[i], &next[i], &latch, 1);
  sambaLlvm.BuildCondBr(b, sambaLlvm.BuildICmp(b, LLVMIntSLT, following, trip, ""), loop->body,
                        after);
  sambaLlvm.PositionBuilderAtEnd(b, after);
  free(loop->carried);
}

LLVMValueRef *sambaKernelAdvance(SambaKernel *kernel, LLVMValueRef *offsets, uint32_t loop,
                                 LLVMValueRef factor) {
  LLVMValueRef *next = sambaAllocate(kernel->layout.ports * sizeof *next);
  for (uint32_t p = 0; p < kernel->layout.ports; ++p) {
    LLVMValueRef stride = sambaKernelStrideOf(kernel, p, loop);
    next[p] = sambaLlvm.BuildAdd(
        kernel->emit->builder, offsets[p],
        factor ? sambaLlvm.BuildMul(kernel->emit->builder, stride, factor, "") : stride, "");
  }
  return next;
}

LLVMValueRef sambaKernelLaneBound(SambaKernel *kernel, LLVMValueRef value) {
  LLVMValueRef bounded = sambaEmitIntrinsic(
      kernel->emit, "llvm.smin", &kernel->emit->i64, 1,
      (LLVMValueRef[]){value, sambaKernelConstant(kernel, kernel->emit->width)}, 2);
  return sambaEmitSplat(
      kernel->emit, sambaLlvm.BuildTrunc(kernel->emit->builder, bounded, kernel->emit->i32, ""));
}

SambaKernelPoint sambaKernelMakePoint(SambaKernel *kernel, LLVMValueRef *offsets, LLVMValueRef mask,
                                      bool vector) {
  return (SambaKernelPoint){
      offsets, mask,
      sambaAllocateZeroed(kernel->spec->input_count + kernel->spec->op_count, sizeof(LLVMValueRef)),
      vector};
}
