/* Emission of what happens at one set of points: loads, program values, stores; and the loops
 * around them. */
#include "backend/sim/value/kernel/kernel_internal.h"

#include <stdlib.h>

LLVMValueRef sambaKernelConstant(const SambaKernel *k, int64_t value) {
  return LLVMConstInt(k->e->i64, (uint64_t)value, true);
}

LLVMValueRef sambaKernelArgument(SambaKernel *k, uint32_t index) {
  LLVMValueRef at = sambaKernelConstant(k, index);
  return LLVMBuildLoad2(k->e->builder, k->e->i64,
                        LLVMBuildGEP2(k->e->builder, k->e->i64, k->arguments, &at, 1, ""), "");
}

LLVMValueRef sambaKernelPointerArgument(SambaKernel *k, uint32_t index) {
  return LLVMBuildIntToPtr(k->e->builder, sambaKernelArgument(k, index), k->e->pointer, "");
}

LLVMTypeRef sambaKernelStorageType(const SambaKernel *k, uint8_t dtype) {
  SambaStorage storage = sambaStorageOf(dtype);
  return storage == SAMBA_STORAGE_F32   ? k->e->f32
         : storage == SAMBA_STORAGE_I32 ? k->e->i32
                                        : k->e->i64;
}

LLVMBasicBlockRef sambaKernelNewBlock(SambaKernel *k) {
  return LLVMAppendBasicBlockInContext(k->e->context, k->function, "");
}

static void setAlignment(LLVMValueRef call, unsigned operand, unsigned alignment) {
  LLVMSetInstrParamAlignment(call, operand + 1, alignment);
}

/* Tokens do not change while a kernel runs, so their loads may move freely. */
static void markInvariant(SambaKernel *k, LLVMValueRef load) {
  LLVMMetadataRef empty = LLVMMDNodeInContext2(k->e->context, NULL, 0);
  LLVMSetMetadata(load, LLVMGetMDKindIDInContext(k->e->context, "invariant.load", 14),
                  LLVMMetadataAsValue(k->e->context, empty));
}

uint32_t sambaKernelVectorLoop(const SambaKernel *k) {
  return k->spec->vector_reduced ? k->spec->parallel_loops + k->spec->reduced_loops - 1
                                 : k->spec->parallel_loops - 1;
}

LLVMValueRef sambaKernelStrideOf(const SambaKernel *k, uint32_t port, uint32_t loop) {
  return k->strides[port * k->layout.loops + loop];
}

/* Element addresses of all lanes for a strided walk. */
static LLVMValueRef laneAddresses(SambaKernel *k, LLVMTypeRef type, LLVMValueRef base,
                                  LLVMValueRef offset, LLVMValueRef stride) {
  LLVMBuilderRef b = k->e->builder;
  LLVMValueRef wide = LLVMBuildZExt(b, k->lanes, sambaEmitType(k->e, k->e->i64), "");
  LLVMValueRef offsets = LLVMBuildMul(b, wide, sambaEmitSplat(k->e, stride), "");
  LLVMValueRef origin = LLVMBuildGEP2(b, type, base, &offset, 1, "");
  return LLVMBuildGEP2(b, type, origin, &offsets, 1, "");
}

static LLVMValueRef fullMask(const SambaKernel *k) { return sambaEmitInteger(k->e, k->e->i1, 1); }

LLVMValueRef sambaKernelLoadElements(SambaKernel *k, LLVMTypeRef type, LLVMValueRef base,
                                     LLVMValueRef offset, uint8_t walk, LLVMValueRef stride,
                                     LLVMValueRef mask, bool invariant) {
  SambaEmit *e = k->e;
  LLVMValueRef loaded;

  if (e->width == 1 || walk == SAMBA_WALK_BROADCAST) {
    loaded =
        LLVMBuildLoad2(e->builder, type, LLVMBuildGEP2(e->builder, type, base, &offset, 1, ""), "");
    if (invariant)
      markInvariant(k, loaded);
    return sambaEmitSplat(e, loaded);
  }

  LLVMTypeRef vector = sambaEmitType(e, type);
  unsigned size = type == e->i64 ? 8 : 4;
  LLVMValueRef address = walk == SAMBA_WALK_CONTIGUOUS
                             ? LLVMBuildGEP2(e->builder, type, base, &offset, 1, "")
                             : laneAddresses(k, type, base, offset, stride);
  LLVMTypeRef overloads[] = {vector, LLVMTypeOf(address)};
  LLVMValueRef operands[] = {address, mask ? mask : fullMask(k), LLVMConstNull(vector)};
  loaded = sambaEmitIntrinsic(
      e, walk == SAMBA_WALK_CONTIGUOUS ? "llvm.masked.load" : "llvm.masked.gather", overloads, 2,
      operands, 3);
  setAlignment(loaded, 0, size);
  if (invariant)
    markInvariant(k, loaded);
  return loaded;
}

void sambaKernelStoreElements(SambaKernel *k, LLVMValueRef value, LLVMValueRef base,
                              LLVMValueRef offset, uint8_t walk, LLVMValueRef stride,
                              LLVMValueRef mask) {
  SambaEmit *e = k->e;
  LLVMTypeRef vector = LLVMTypeOf(value);
  LLVMTypeRef type = sambaEmitScalarOf(vector);

  if (e->width == 1) {
    LLVMBuildStore(e->builder, value, LLVMBuildGEP2(e->builder, type, base, &offset, 1, ""));
    return;
  }

  LLVMValueRef address = walk == SAMBA_WALK_CONTIGUOUS
                             ? LLVMBuildGEP2(e->builder, type, base, &offset, 1, "")
                             : laneAddresses(k, type, base, offset, stride);
  LLVMTypeRef overloads[] = {vector, LLVMTypeOf(address)};
  LLVMValueRef operands[] = {value, address, mask ? mask : fullMask(k)};
  LLVMValueRef call = sambaEmitIntrinsic(
      e, walk == SAMBA_WALK_CONTIGUOUS ? "llvm.masked.store" : "llvm.masked.scatter", overloads, 2,
      operands, 3);
  setAlignment(call, 1, type == e->i64 ? 8 : 4);
}

static LLVMValueRef strideAlong(SambaKernel *k, uint32_t port, bool vector) {
  return vector && k->e->width > 1 ? sambaKernelStrideOf(k, port, sambaKernelVectorLoop(k))
                                   : sambaKernelConstant(k, 0);
}

/* The scalar outcome of a post part of a lane reduction runs at width 1 and offsets of its own. */
static LLVMValueRef emitInput(SambaKernel *k, SambaKernelPoint *point, uint32_t input) {
  SambaEmit *e = k->e;
  const SambaKernelPort *port = &k->spec->inputs[input];
  LLVMValueRef loaded = sambaKernelLoadElements(
      k, sambaKernelStorageType(k, port->dtype), k->bases[input], point->offsets[input],
      point->vector ? port->walk : SAMBA_WALK_BROADCAST, strideAlong(k, input, point->vector),
      point->mask, true);
  if (port->dtype == SAMBA_DTYPE_I1)
    loaded = sambaEmitIntegerCompare(e, LLVMIntNE, loaded, sambaEmitInteger(e, e->i32, 0));
  return loaded;
}

static LLVMValueRef emitCounter(SambaKernel *k, SambaKernelPoint *point, const SambaLaneOp *op,
                                uint32_t which) {
  SambaEmit *e = k->e;
  uint32_t port = k->spec->input_count + k->spec->output_count + which;
  LLVMValueRef value =
      sambaEmitSplat(e, LLVMBuildAdd(e->builder, k->bases[port], point->offsets[port], ""));
  if (point->vector && e->width > 1 && k->spec->counter_walks[which] != SAMBA_WALK_BROADCAST) {
    LLVMValueRef steps = LLVMBuildZExt(e->builder, k->lanes, sambaEmitType(e, e->i64), "");
    LLVMValueRef scaled =
        LLVMBuildMul(e->builder, steps,
                     sambaEmitSplat(e, sambaKernelStrideOf(k, port, sambaKernelVectorLoop(k))), "");
    value = LLVMBuildAdd(e->builder, value, scaled, "");
  }

  SambaLaneOp resize = {.opcode = SAMBA_LANE_INT_RESIZE, .type = op->type};
  if (sambaDTypeIsFloat(op->type))
    resize.opcode = SAMBA_LANE_INT_TO_FLOAT;
  return sambaEmitLaneOp(e, &resize, &value);
}

static LLVMValueRef emitSource(SambaKernel *k, SambaKernelPoint *point, uint32_t index) {
  SambaEmit *e = k->e;
  const SambaLaneOp *op = &k->spec->ops[index];
  LLVMTypeRef type = sambaEmitLaneType(e, op->type);

  if (op->opcode == SAMBA_LANE_COUNTER) {
    uint32_t which = 0;
    for (uint32_t i = 0; i < index; ++i)
      which += k->spec->ops[i].opcode == SAMBA_LANE_COUNTER;
    return emitCounter(k, point, op, which);
  }

  LLVMValueRef bits;
  if (op->opcode == SAMBA_LANE_CONSTANT) {
    bits = LLVMConstInt(e->i64, op->immediate, false);
  } else {
    LLVMValueRef at = sambaKernelConstant(k, (int64_t)op->immediate);
    LLVMValueRef block = sambaKernelPointerArgument(k, k->layout.argins);
    bits = LLVMBuildLoad2(e->builder, e->i64, LLVMBuildGEP2(e->builder, e->i64, block, &at, 1, ""),
                          "");
    markInvariant(k, bits);
  }

  LLVMTypeRef integer = type == e->f32 ? e->i32 : type;
  LLVMValueRef value = type == e->i64 ? bits : LLVMBuildTrunc(e->builder, bits, integer, "");
  return sambaEmitSplat(e,
                        type == e->f32 ? LLVMBuildBitCast(e->builder, value, e->f32, "") : value);
}

/* A systolic tile's value: read like an input, from the accumulators. */
static LLVMValueRef emitExternal(SambaKernel *k, SambaKernelPoint *point, const SambaLaneOp *op) {
  uint32_t port = k->layout.ports - 1;
  LLVMValueRef base = sambaKernelPointerArgument(k, k->layout.accumulators);
  return sambaKernelLoadElements(k, sambaKernelStorageType(k, op->type), base, point->offsets[port],
                                 k->spec->external_walk, strideAlong(k, port, true), point->mask,
                                 true);
}

LLVMValueRef sambaKernelEmitValue(SambaKernel *k, SambaKernelPoint *point, uint32_t id) {
  if (point->values[id])
    return point->values[id];
  LLVMValueRef value;

  if (id < k->spec->input_count) {
    value = emitInput(k, point, id);
  } else {
    uint32_t index = id - k->spec->input_count;
    const SambaLaneOp *op = &k->spec->ops[index];
    if (index == k->spec->external_op) {
      value = emitExternal(k, point, op);
    } else if (sambaLaneOpClass(op->opcode) == 'V') {
      value = emitSource(k, point, index);
    } else {
      LLVMValueRef operands[3] = {NULL, NULL, NULL};
      for (int i = 0; i < sambaLaneOpOperands(op->opcode); ++i)
        operands[i] = sambaKernelEmitValue(k, point, op->operands[i]);
      value = sambaEmitLaneOp(k->e, op, operands);
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

void sambaKernelEmitOutputs(SambaKernel *k, SambaKernelPoint *point, bool after_reduction) {
  SambaEmit *e = k->e;
  const SambaKernelSpec *spec = k->spec;

  for (uint32_t i = 0; i < spec->output_count; ++i) {
    const SambaKernelPort *port = &spec->outputs[i];
    if (k->depends[port->value] != after_reduction)
      continue;
    LLVMValueRef value = sambaKernelEmitValue(k, point, port->value);
    LLVMTypeRef scalar = sambaEmitScalarOf(LLVMTypeOf(value));
    if (port->dtype == SAMBA_DTYPE_BF16 && !isRounded(spec, port->value, port->dtype))
      value = sambaEmitRoundToBf16(e, value);
    else if (port->dtype == SAMBA_DTYPE_F16 && !isRounded(spec, port->value, port->dtype))
      value = sambaEmitRoundToHalf(e, value);
    else if (scalar == e->i1)
      value = LLVMBuildZExt(e->builder, value, sambaEmitType(e, e->i32), "");
    else if (scalar == e->i32)
      value = sambaEmitWrap(e, value, port->dtype);
    uint32_t index = spec->input_count + i;
    sambaKernelStoreElements(k, value, k->bases[index], point->offsets[index],
                             point->vector ? port->walk : SAMBA_WALK_STRIDED,
                             strideAlong(k, index, point->vector), point->mask);
  }
}

SambaKernelLoop sambaKernelBeginLoop(SambaKernel *k, LLVMValueRef start, LLVMValueRef *initial,
                                     uint32_t count) {
  LLVMBuilderRef b = k->e->builder;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  SambaKernelLoop loop = {.body = sambaKernelNewBlock(k),
                          .carried = sambaAllocate(count * sizeof(LLVMValueRef)),
                          .carried_count = count};
  LLVMBuildBr(b, loop.body);
  LLVMPositionBuilderAtEnd(b, loop.body);

  loop.index = LLVMBuildPhi(b, k->e->i64, "");
  LLVMAddIncoming(loop.index, &start, &before, 1);
  for (uint32_t i = 0; i < count; ++i) {
    loop.carried[i] = LLVMBuildPhi(b, LLVMTypeOf(initial[i]), "");
    LLVMAddIncoming(loop.carried[i], &initial[i], &before, 1);
  }

  return loop;
}

void sambaKernelEndLoop(SambaKernel *k, SambaKernelLoop *loop, LLVMValueRef step, LLVMValueRef trip,
                        LLVMValueRef *next) {
  LLVMBuilderRef b = k->e->builder;
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef after = sambaKernelNewBlock(k);
  LLVMValueRef following = LLVMBuildNSWAdd(b, loop->index, step, "");
  LLVMAddIncoming(loop->index, &following, &latch, 1);
  for (uint32_t i = 0; i < loop->carried_count; ++i)
    LLVMAddIncoming(loop->carried[i], &next[i], &latch, 1);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, following, trip, ""), loop->body, after);
  LLVMPositionBuilderAtEnd(b, after);
  free(loop->carried);
}

LLVMValueRef *sambaKernelAdvance(SambaKernel *k, LLVMValueRef *offsets, uint32_t loop,
                                 LLVMValueRef factor) {
  LLVMValueRef *next = sambaAllocate(k->layout.ports * sizeof *next);
  for (uint32_t p = 0; p < k->layout.ports; ++p) {
    LLVMValueRef stride = sambaKernelStrideOf(k, p, loop);
    next[p] = LLVMBuildAdd(k->e->builder, offsets[p],
                           factor ? LLVMBuildMul(k->e->builder, stride, factor, "") : stride, "");
  }
  return next;
}

LLVMValueRef sambaKernelLaneBound(SambaKernel *k, LLVMValueRef value) {
  LLVMValueRef bounded =
      sambaEmitIntrinsic(k->e, "llvm.smin", &k->e->i64, 1,
                         (LLVMValueRef[]){value, sambaKernelConstant(k, k->e->width)}, 2);
  return sambaEmitSplat(k->e, LLVMBuildTrunc(k->e->builder, bounded, k->e->i32, ""));
}

SambaKernelPoint sambaKernelMakePoint(SambaKernel *k, LLVMValueRef *offsets, LLVMValueRef mask,
                                      bool vector) {
  return (SambaKernelPoint){
      offsets, mask,
      sambaAllocateZeroed(k->spec->input_count + k->spec->op_count, sizeof(LLVMValueRef)), vector};
}
