/* Emission of SIMD kernels: the loop nest around a lane program; see kernel.h. */
#include "backend/sim/value/kernel.h"

#include <stdlib.h>

typedef struct Kernel {
  SambaEmit *e;
  const SambaKernelSpec *spec;
  SambaKernelLayout layout;
  LLVMValueRef function, arguments;
  LLVMValueRef *trips, *strides, *bases; /* strides [port * loops + loop] */
  LLVMValueRef first, last, lanes;       /* lanes: <0, 1, 2, ...> of i32 at full width */
  LLVMValueRef *lane_memory;             /* per reduction: accumulators of a lane reduction across parallel points */
  unsigned *reductions;                  /* op indices */
  bool *depends;
} Kernel;

/* Where a piece of the program runs: the offset of every port, the active lanes, and the values made so far. */
typedef struct Point {
  LLVMValueRef *offsets;
  LLVMValueRef mask; /* NULL: all lanes */
  LLVMValueRef *values;
  bool vector; /* offsets are those of lane 0 of the vectorized loop */
} Point;

static bool isReduction(uint8_t opcode) { return sambaLaneOpClass(opcode) == 'R'; }

SambaKernelLayout sambaKernelLayout(const SambaKernelSpec *spec) {
  SambaKernelLayout layout = {.ports = spec->input_count + spec->output_count + spec->counter_count + 1,
                              .loops = spec->parallel_loops + spec->reduced_loops};
  for (uint32_t i = 0; i < spec->op_count; ++i)
    layout.reductions += isReduction(spec->ops[i].opcode);
  uint32_t at = layout.ports - 1;
  layout.trips = at, at += layout.loops;
  layout.strides = at, at += layout.ports * layout.loops;
  layout.accumulators = at, at += layout.reductions;
  layout.points = at++;
  layout.position = at++;
  layout.first = at++;
  layout.last = at++;
  layout.argins = at++;
  layout.count = at;
  return layout;
}

void sambaKernelDependence(const SambaKernelSpec *spec, bool *out_depends) {
  for (uint32_t i = 0; i < spec->input_count; ++i)
    out_depends[i] = false;
  for (uint32_t i = 0; i < spec->op_count; ++i) {
    const SambaLaneOp *op = &spec->ops[i];
    bool depends = isReduction(op->opcode) && i != spec->external_op;
    for (int j = 0; j < sambaLaneOpOperands(op->opcode) && i != spec->external_op; ++j)
      depends |= out_depends[op->operands[j]];
    out_depends[spec->input_count + i] = depends;
  }
}

static LLVMValueRef constant(const Kernel *k, int64_t value) { return LLVMConstInt(k->e->i64, (uint64_t)value, true); }

static LLVMValueRef argument(Kernel *k, uint32_t index) {
  LLVMValueRef at = constant(k, index);
  return LLVMBuildLoad2(k->e->builder, k->e->i64, LLVMBuildGEP2(k->e->builder, k->e->i64, k->arguments, &at, 1, ""),
                        "");
}

static LLVMValueRef pointerArgument(Kernel *k, uint32_t index) {
  return LLVMBuildIntToPtr(k->e->builder, argument(k, index), k->e->pointer, "");
}

static LLVMTypeRef storageType(const Kernel *k, uint8_t dtype) {
  SambaStorage storage = sambaStorageOf(dtype);
  return storage == SAMBA_STORAGE_F32 ? k->e->f32 : storage == SAMBA_STORAGE_I32 ? k->e->i32 : k->e->i64;
}

static LLVMBasicBlockRef newBlock(Kernel *k) { return LLVMAppendBasicBlockInContext(k->e->context, k->function, ""); }

static void setAlignment(LLVMValueRef call, unsigned operand, unsigned alignment) {
  LLVMSetInstrParamAlignment(call, operand + 1, alignment);
}

/* Tokens do not change while a kernel runs, so their loads may move freely. */
static void markInvariant(Kernel *k, LLVMValueRef load) {
  LLVMMetadataRef empty = LLVMMDNodeInContext2(k->e->context, NULL, 0);
  LLVMSetMetadata(load, LLVMGetMDKindIDInContext(k->e->context, "invariant.load", 14),
                  LLVMMetadataAsValue(k->e->context, empty));
}

static uint32_t vectorLoop(const Kernel *k) {
  return k->spec->vector_reduced ? k->spec->parallel_loops + k->spec->reduced_loops - 1 : k->spec->parallel_loops - 1;
}

static LLVMValueRef strideOf(const Kernel *k, uint32_t port, uint32_t loop) {
  return k->strides[port * k->layout.loops + loop];
}

/* Element addresses of all lanes for a strided walk. */
static LLVMValueRef laneAddresses(Kernel *k, LLVMTypeRef type, LLVMValueRef base, LLVMValueRef offset,
                                  LLVMValueRef stride) {
  LLVMBuilderRef b = k->e->builder;
  LLVMValueRef wide = LLVMBuildZExt(b, k->lanes, sambaEmitType(k->e, k->e->i64), "");
  LLVMValueRef offsets = LLVMBuildMul(b, wide, sambaEmitSplat(k->e, stride), "");
  LLVMValueRef origin = LLVMBuildGEP2(b, type, base, &offset, 1, "");
  return LLVMBuildGEP2(b, type, origin, &offsets, 1, "");
}

static LLVMValueRef fullMask(const Kernel *k) { return sambaEmitInteger(k->e, k->e->i1, 1); }

static LLVMValueRef loadElements(Kernel *k, LLVMTypeRef type, LLVMValueRef base, LLVMValueRef offset, uint8_t walk,
                                 LLVMValueRef stride, LLVMValueRef mask, bool invariant) {
  SambaEmit *e = k->e;
  LLVMValueRef loaded;
  if (e->width == 1 || walk == SAMBA_WALK_BROADCAST) {
    loaded = LLVMBuildLoad2(e->builder, type, LLVMBuildGEP2(e->builder, type, base, &offset, 1, ""), "");
    if (invariant)
      markInvariant(k, loaded);
    return sambaEmitSplat(e, loaded);
  }
  LLVMTypeRef vector = sambaEmitType(e, type);
  unsigned size = type == e->i64 ? 8 : 4;
  LLVMValueRef address = walk == SAMBA_WALK_CONTIGUOUS ? LLVMBuildGEP2(e->builder, type, base, &offset, 1, "")
                                                       : laneAddresses(k, type, base, offset, stride);
  LLVMTypeRef overloads[] = {vector, LLVMTypeOf(address)};
  LLVMValueRef operands[] = {address, mask ? mask : fullMask(k), LLVMConstNull(vector)};
  loaded = sambaEmitIntrinsic(e, walk == SAMBA_WALK_CONTIGUOUS ? "llvm.masked.load" : "llvm.masked.gather", overloads,
                              2, operands, 3);
  setAlignment(loaded, 0, size);
  if (invariant)
    markInvariant(k, loaded);
  return loaded;
}

static void storeElements(Kernel *k, LLVMValueRef value, LLVMValueRef base, LLVMValueRef offset, uint8_t walk,
                          LLVMValueRef stride, LLVMValueRef mask) {
  SambaEmit *e = k->e;
  LLVMTypeRef vector = LLVMTypeOf(value), type = sambaEmitScalarOf(vector);
  if (e->width == 1) {
    LLVMBuildStore(e->builder, value, LLVMBuildGEP2(e->builder, type, base, &offset, 1, ""));
    return;
  }
  LLVMValueRef address = walk == SAMBA_WALK_CONTIGUOUS ? LLVMBuildGEP2(e->builder, type, base, &offset, 1, "")
                                                       : laneAddresses(k, type, base, offset, stride);
  LLVMTypeRef overloads[] = {vector, LLVMTypeOf(address)};
  LLVMValueRef operands[] = {value, address, mask ? mask : fullMask(k)};
  LLVMValueRef call = sambaEmitIntrinsic(e, walk == SAMBA_WALK_CONTIGUOUS ? "llvm.masked.store" : "llvm.masked.scatter",
                                         overloads, 2, operands, 3);
  setAlignment(call, 1, type == e->i64 ? 8 : 4);
}

static LLVMValueRef strideAlong(Kernel *k, uint32_t port, bool vector) {
  return vector && k->e->width > 1 ? strideOf(k, port, vectorLoop(k)) : constant(k, 0);
}

/* The scalar outcome of a post part of a lane reduction runs at width 1 and offsets of its own. */
static LLVMValueRef emitInput(Kernel *k, Point *point, uint32_t input) {
  SambaEmit *e = k->e;
  const SambaKernelPort *port = &k->spec->inputs[input];
  LLVMValueRef loaded = loadElements(k, storageType(k, port->dtype), k->bases[input], point->offsets[input],
                                     point->vector ? port->walk : SAMBA_WALK_BROADCAST,
                                     strideAlong(k, input, point->vector), point->mask, true);
  if (port->dtype == SAMBA_DTYPE_I1)
    loaded = sambaEmitIntegerCompare(e, LLVMIntNE, loaded, sambaEmitInteger(e, e->i32, 0));
  return loaded;
}

static LLVMValueRef emitCounter(Kernel *k, Point *point, const SambaLaneOp *op, uint32_t which) {
  SambaEmit *e = k->e;
  uint32_t port = k->spec->input_count + k->spec->output_count + which;
  LLVMValueRef value = sambaEmitSplat(e, LLVMBuildAdd(e->builder, k->bases[port], point->offsets[port], ""));
  if (point->vector && e->width > 1 && k->spec->counter_walks[which] != SAMBA_WALK_BROADCAST) {
    LLVMValueRef steps = LLVMBuildZExt(e->builder, k->lanes, sambaEmitType(e, e->i64), "");
    LLVMValueRef scaled = LLVMBuildMul(e->builder, steps, sambaEmitSplat(e, strideOf(k, port, vectorLoop(k))), "");
    value = LLVMBuildAdd(e->builder, value, scaled, "");
  }
  SambaLaneOp resize = {.opcode = SAMBA_LANE_INT_RESIZE, .type = op->type};
  if (sambaDTypeIsFloat(op->type))
    resize.opcode = SAMBA_LANE_INT_TO_FLOAT;
  return sambaEmitLaneOp(e, &resize, &value);
}

static LLVMValueRef emitSource(Kernel *k, Point *point, uint32_t index) {
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
    LLVMValueRef at = constant(k, (int64_t)op->immediate);
    LLVMValueRef block = pointerArgument(k, k->layout.argins);
    bits = LLVMBuildLoad2(e->builder, e->i64, LLVMBuildGEP2(e->builder, e->i64, block, &at, 1, ""), "");
    markInvariant(k, bits);
  }
  LLVMTypeRef integer = type == e->f32 ? e->i32 : type;
  LLVMValueRef value = type == e->i64 ? bits : LLVMBuildTrunc(e->builder, bits, integer, "");
  return sambaEmitSplat(e, type == e->f32 ? LLVMBuildBitCast(e->builder, value, e->f32, "") : value);
}

/* A systolic tile's value: read like an input, from the accumulators. */
static LLVMValueRef emitExternal(Kernel *k, Point *point, const SambaLaneOp *op) {
  uint32_t port = k->layout.ports - 1;
  LLVMValueRef base = pointerArgument(k, k->layout.accumulators);
  return loadElements(k, storageType(k, op->type), base, point->offsets[port], k->spec->external_walk,
                      strideAlong(k, port, true), point->mask, true);
}

static LLVMValueRef emitValue(Kernel *k, Point *point, uint32_t id) {
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
        operands[i] = emitValue(k, point, op->operands[i]);
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

static void emitOutputs(Kernel *k, Point *point, bool after_reduction) {
  SambaEmit *e = k->e;
  const SambaKernelSpec *spec = k->spec;
  for (uint32_t i = 0; i < spec->output_count; ++i) {
    const SambaKernelPort *port = &spec->outputs[i];
    if (k->depends[port->value] != after_reduction)
      continue;
    LLVMValueRef value = emitValue(k, point, port->value);
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
    storeElements(k, value, k->bases[index], point->offsets[index], point->vector ? port->walk : SAMBA_WALK_STRIDED,
                  strideAlong(k, index, point->vector), point->mask);
  }
}

/* A loop with run-time trip count (at least one) and carried values; the builder stands in the body between begin and
 * end. */
typedef struct Loop {
  LLVMBasicBlockRef body;
  LLVMValueRef index, *carried; /* phis */
  uint32_t carried_count;
} Loop;

static Loop beginLoop(Kernel *k, LLVMValueRef start, LLVMValueRef *initial, uint32_t count) {
  LLVMBuilderRef b = k->e->builder;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  Loop loop = {.body = newBlock(k), .carried = sambaAllocate(count * sizeof(LLVMValueRef)), .carried_count = count};
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

/* next: the carried values of the next turn. The values after the loop are `next` of the last turn. */
static void endLoop(Kernel *k, Loop *loop, LLVMValueRef step, LLVMValueRef trip, LLVMValueRef *next) {
  LLVMBuilderRef b = k->e->builder;
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(b), after = newBlock(k);
  LLVMValueRef following = LLVMBuildNSWAdd(b, loop->index, step, "");
  LLVMAddIncoming(loop->index, &following, &latch, 1);
  for (uint32_t i = 0; i < loop->carried_count; ++i)
    LLVMAddIncoming(loop->carried[i], &next[i], &latch, 1);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, following, trip, ""), loop->body, after);
  LLVMPositionBuilderAtEnd(b, after);
  free(loop->carried);
}

static LLVMValueRef *advance(Kernel *k, LLVMValueRef *offsets, uint32_t loop, LLVMValueRef factor) {
  LLVMValueRef *next = sambaAllocate(k->layout.ports * sizeof *next);
  for (uint32_t p = 0; p < k->layout.ports; ++p) {
    LLVMValueRef stride = strideOf(k, p, loop);
    next[p] =
        LLVMBuildAdd(k->e->builder, offsets[p], factor ? LLVMBuildMul(k->e->builder, stride, factor, "") : stride, "");
  }
  return next;
}

/* min(value, width) as i32 in every lane. */
static LLVMValueRef laneBound(Kernel *k, LLVMValueRef value) {
  LLVMValueRef bounded =
      sambaEmitIntrinsic(k->e, "llvm.smin", &k->e->i64, 1, (LLVMValueRef[]){value, constant(k, k->e->width)}, 2);
  return sambaEmitSplat(k->e, LLVMBuildTrunc(k->e->builder, bounded, k->e->i32, ""));
}

/* One step of every reduction at this point, on register accumulators or on the lane's memory cell. */
static void emitReductions(Kernel *k, Point *point, LLVMValueRef *accumulators, LLVMValueRef lane) {
  SambaEmit *e = k->e;
  for (uint32_t r = 0; r < k->layout.reductions; ++r) {
    const SambaLaneOp *op = &k->spec->ops[k->reductions[r]];
    LLVMValueRef a = emitValue(k, point, op->operands[0]);
    LLVMValueRef b = op->opcode == SAMBA_LANE_MAC ? emitValue(k, point, op->operands[1]) : NULL;
    if (!lane) {
      LLVMValueRef next = sambaEmitReduceStep(e, op, accumulators[r], a, b);
      accumulators[r] =
          point->mask && k->spec->vector_reduced ? sambaEmitSelect(e, point->mask, next, accumulators[r]) : next;
      continue;
    }
    LLVMTypeRef type = sambaEmitType(e, sambaEmitLaneType(e, op->type));
    LLVMValueRef cell = LLVMBuildGEP2(e->builder, type, k->lane_memory[r], &lane, 1, "");
    LLVMBuildStore(e->builder, sambaEmitReduceStep(e, op, LLVMBuildLoad2(e->builder, type, cell, ""), a, b), cell);
  }
}

static Point makePoint(Kernel *k, LLVMValueRef *offsets, LLVMValueRef mask, bool vector) {
  return (Point){offsets, mask, sambaAllocateZeroed(k->spec->input_count + k->spec->op_count, sizeof(LLVMValueRef)),
                 vector};
}

/* The innermost vectorized loop of a lane reduction: lane l holds the elements with flattened index = l modulo L. */
static void emitReducedRow(Kernel *k, LLVMValueRef *offsets, LLVMValueRef *accumulators, LLVMValueRef *position) {
  SambaEmit *e = k->e;
  LLVMBuilderRef b = e->builder;
  uint32_t loop_index = vectorLoop(k), count = k->layout.reductions;
  LLVMValueRef trip = k->trips[loop_index], zero = constant(k, 0);
  LLVMValueRef start = LLVMBuildNeg(b, *position, "");
  Loop loop = beginLoop(k, start, accumulators, count);
  LLVMValueRef *here = advance(k, offsets, loop_index, loop.index);
  LLVMValueRef skipped =
      sambaEmitIntrinsic(e, "llvm.smax", &e->i64, 1, (LLVMValueRef[]){LLVMBuildNeg(b, loop.index, ""), zero}, 2);
  LLVMValueRef low = laneBound(k, skipped), high = laneBound(k, LLVMBuildSub(b, trip, loop.index, ""));
  LLVMValueRef mask = LLVMBuildAnd(b, sambaEmitIntegerCompare(e, LLVMIntSGE, k->lanes, low),
                                   sambaEmitIntegerCompare(e, LLVMIntSLT, k->lanes, high), "");
  Point point = makePoint(k, here, mask, true);
  for (uint32_t r = 0; r < count; ++r)
    accumulators[r] = loop.carried[r];
  emitReductions(k, &point, accumulators, NULL);
  emitOutputs(k, &point, false);
  endLoop(k, &loop, constant(k, e->width), trip, accumulators);
  LLVMValueRef sum = LLVMBuildAdd(b, *position, trip, "");
  *position = LLVMBuildURem(b, sum, constant(k, k->spec->reduce_lanes), "");
  free(point.values);
  free(here);
}

/* The reduced loops from `loop_index` inwards; accumulators and position are updated. */
static void emitReducedLoops(Kernel *k, uint32_t loop_index, LLVMValueRef *offsets, LLVMValueRef mask,
                             LLVMValueRef *accumulators, LLVMValueRef *position) {
  SambaEmit *e = k->e;
  LLVMBuilderRef b = e->builder;
  bool in_memory = k->spec->reduce_lanes && !k->spec->vector_reduced;
  if (k->spec->vector_reduced && loop_index == vectorLoop(k)) {
    emitReducedRow(k, offsets, accumulators, position);
    return;
  }
  if (loop_index == k->layout.loops) {
    Point point = makePoint(k, offsets, mask, true);
    emitReductions(k, &point, accumulators, in_memory ? *position : NULL);
    emitOutputs(k, &point, false);
    if (in_memory) {
      LLVMValueRef next = LLVMBuildAdd(b, *position, constant(k, 1), "");
      LLVMValueRef wraps = LLVMBuildICmp(b, LLVMIntEQ, next, constant(k, k->spec->reduce_lanes), "");
      *position = LLVMBuildSelect(b, wraps, constant(k, 0), next, "");
    }
    free(point.values);
    return;
  }
  uint32_t ports = k->layout.ports, count = k->layout.reductions, carried = ports + 1 + (in_memory ? 0 : count);
  LLVMValueRef *values = sambaAllocate(carried * sizeof *values);
  for (uint32_t i = 0; i < carried; ++i)
    values[i] = i < ports ? offsets[i] : i == ports ? *position : accumulators[i - ports - 1];
  Loop loop = beginLoop(k, constant(k, 0), values, carried);
  LLVMValueRef *inner = sambaAllocate((count + 1) * sizeof *inner), inner_position = loop.carried[ports];
  for (uint32_t r = 0; r < count; ++r)
    inner[r] = in_memory ? NULL : loop.carried[ports + 1 + r];
  emitReducedLoops(k, loop_index + 1, loop.carried, mask, inner, &inner_position);
  LLVMValueRef *next = advance(k, loop.carried, loop_index, NULL);
  for (uint32_t i = 0; i < carried; ++i)
    values[i] = i < ports ? next[i] : i == ports ? inner_position : inner[i - ports - 1];
  endLoop(k, &loop, constant(k, 1), k->trips[loop_index], values);
  *position = inner_position;
  for (uint32_t r = 0; r < count && !in_memory; ++r)
    accumulators[r] = inner[r];
  free(next);
  free(inner);
  free(values);
}

/* Parked accumulators: [lanes][points] across parallel points, [points][lanes] along a reduced loop; i1 as i32. */
static LLVMValueRef parkedOffset(Kernel *k, LLVMValueRef *offsets, uint32_t lane) {
  LLVMBuilderRef b = k->e->builder;
  LLVMValueRef point = offsets[k->layout.ports - 1];
  if (k->spec->vector_reduced)
    return LLVMBuildMul(b, point, constant(k, k->spec->reduce_lanes), "");
  return LLVMBuildAdd(b, point, LLVMBuildMul(b, argument(k, k->layout.points), constant(k, lane), ""), "");
}

static LLVMValueRef loadParked(Kernel *k, uint32_t r, LLVMValueRef *offsets, LLVMValueRef mask, uint32_t lane) {
  SambaEmit *e = k->e;
  const SambaLaneOp *op = &k->spec->ops[k->reductions[r]];
  LLVMValueRef identity = sambaEmitReduceIdentity(e, op);
  if (!k->spec->parks)
    return identity;
  LLVMValueRef base = pointerArgument(k, k->layout.accumulators + r);
  LLVMValueRef loaded = loadElements(k, storageType(k, op->type), base, parkedOffset(k, offsets, lane),
                                     SAMBA_WALK_CONTIGUOUS, NULL, mask, false);
  if (op->type == SAMBA_DTYPE_I1)
    loaded = sambaEmitIntegerCompare(e, LLVMIntNE, loaded, sambaEmitInteger(e, e->i32, 0));
  return LLVMBuildSelect(e->builder, k->first, identity, loaded, "");
}

static void storeParked(Kernel *k, uint32_t r, LLVMValueRef *offsets, LLVMValueRef mask, uint32_t lane,
                        LLVMValueRef value) {
  SambaEmit *e = k->e;
  LLVMValueRef base = pointerArgument(k, k->layout.accumulators + r);
  if (sambaEmitScalarOf(LLVMTypeOf(value)) == e->i1)
    value = LLVMBuildZExt(e->builder, value, sambaEmitType(e, e->i32), "");
  storeElements(k, value, base, parkedOffset(k, offsets, lane), SAMBA_WALK_CONTIGUOUS, NULL, mask);
}

/* Lanes fold by halves: lane l takes lane l + h while there are more than one, h = half of them rounded up. */
static LLVMValueRef foldVector(Kernel *k, const SambaLaneOp *op, LLVMValueRef value) {
  SambaEmit *e = k->e;
  if (e->width == 1)
    return value;
  LLVMValueRef lanes[256];
  for (unsigned l = 0; l < e->width; ++l)
    lanes[l] = LLVMConstInt(e->i32, l, false);
  unsigned live = e->width;
  while (live > 1) {
    unsigned half = (live + 1) / 2;
    if (live % 2) { /* an odd count: its last pair partner is missing, so lanes are folded one by one */
      LLVMValueRef odd[256];
      SambaEmit scalar = *e;
      scalar.width = 1;
      for (unsigned l = 0; l < live; ++l)
        odd[l] = LLVMBuildExtractElement(e->builder, value, lanes[l], "");
      for (unsigned h = half, n = live; n > 1; n = h, h = (h + 1) / 2)
        for (unsigned l = 0; l + h < n; ++l)
          odd[l] = sambaEmitReduceCombine(&scalar, op, odd[l], odd[l + h]);
      return odd[0];
    }
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef low = LLVMBuildShuffleVector(e->builder, value, LLVMGetPoison(type), LLVMConstVector(lanes, half), "");
    LLVMValueRef high =
        LLVMBuildShuffleVector(e->builder, value, LLVMGetPoison(type), LLVMConstVector(lanes + half, half), "");
    SambaEmit narrower = *e;
    narrower.width = half;
    if (half == 1) {
      low = LLVMBuildExtractElement(e->builder, low, lanes[0], "");
      high = LLVMBuildExtractElement(e->builder, high, lanes[0], "");
    }
    value = sambaEmitReduceCombine(&narrower, op, low, high);
    live = half;
  }
  return value;
}

static LLVMValueRef foldMemory(Kernel *k, uint32_t r) {
  SambaEmit *e = k->e;
  const SambaLaneOp *op = &k->spec->ops[k->reductions[r]];
  LLVMTypeRef type = sambaEmitType(e, sambaEmitLaneType(e, op->type));
  LLVMValueRef lanes[256];
  unsigned live = k->spec->reduce_lanes;
  for (unsigned l = 0; l < live; ++l) {
    LLVMValueRef at = constant(k, l);
    lanes[l] = LLVMBuildLoad2(e->builder, type, LLVMBuildGEP2(e->builder, type, k->lane_memory[r], &at, 1, ""), "");
  }
  for (unsigned h = (live + 1) / 2; live > 1; live = h, h = (h + 1) / 2)
    for (unsigned l = 0; l + h < live; ++l)
      lanes[l] = sambaEmitReduceCombine(e, op, lanes[l], lanes[l + h]);
  return lanes[0];
}

/* What depends on reductions, at their last step; results: one value per reduction at the current width. */
static void emitPost(Kernel *k, LLVMValueRef *offsets, LLVMValueRef mask, LLVMValueRef *results) {
  LLVMBuilderRef b = k->e->builder;
  LLVMValueRef *last = sambaAllocate(k->layout.ports * sizeof *last);
  for (uint32_t p = 0; p < k->layout.ports; ++p) {
    last[p] = offsets[p];
    for (uint32_t l = k->spec->parallel_loops; l < k->layout.loops; ++l) {
      LLVMValueRef steps = LLVMBuildSub(b, k->trips[l], constant(k, 1), "");
      last[p] = LLVMBuildAdd(b, last[p], LLVMBuildMul(b, steps, strideOf(k, p, l), ""), "");
    }
  }
  Point point = makePoint(k, last, mask, !k->spec->vector_reduced);
  for (uint32_t r = 0; r < k->layout.reductions; ++r)
    point.values[k->spec->input_count + k->reductions[r]] = results[r];
  emitOutputs(k, &point, true);
  free(point.values);
  free(last);
}

/* A set of parallel points with all its reductions. */
static void emitReduction(Kernel *k, LLVMValueRef *offsets, LLVMValueRef mask) {
  SambaEmit *e = k->e;
  LLVMBuilderRef b = e->builder;
  const SambaKernelSpec *spec = k->spec;
  uint32_t count = k->layout.reductions, full_width = e->width;
  bool in_memory = spec->reduce_lanes && !spec->vector_reduced;
  uint32_t cells = in_memory ? spec->reduce_lanes : 1;
  LLVMValueRef *accumulators = sambaAllocateZeroed(count, sizeof *accumulators);
  for (uint32_t r = 0; r < count; ++r) {
    LLVMTypeRef type = sambaEmitType(e, sambaEmitLaneType(e, spec->ops[k->reductions[r]].type));
    for (uint32_t l = 0; l < cells; ++l) {
      accumulators[r] = loadParked(k, r, offsets, mask, l);
      LLVMValueRef at = constant(k, l);
      if (in_memory)
        LLVMBuildStore(b, accumulators[r], LLVMBuildGEP2(b, type, k->lane_memory[r], &at, 1, ""));
    }
  }
  LLVMValueRef position = argument(k, k->layout.position);
  emitReducedLoops(k, spec->parallel_loops, offsets, mask, accumulators, &position);
  LLVMBasicBlockRef finish = newBlock(k), park = spec->parks ? newBlock(k) : NULL, after = newBlock(k);
  if (spec->parks)
    LLVMBuildCondBr(b, k->last, finish, park);
  else
    LLVMBuildBr(b, finish);
  if (spec->parks) {
    LLVMPositionBuilderAtEnd(b, park);
    for (uint32_t r = 0; r < count; ++r) {
      LLVMTypeRef type = sambaEmitType(e, sambaEmitLaneType(e, spec->ops[k->reductions[r]].type));
      for (uint32_t l = 0; l < cells; ++l) {
        LLVMValueRef at = constant(k, l);
        LLVMValueRef value = in_memory
                                 ? LLVMBuildLoad2(b, type, LLVMBuildGEP2(b, type, k->lane_memory[r], &at, 1, ""), "")
                                 : accumulators[r];
        storeParked(k, r, offsets, mask, l, value);
      }
    }
    LLVMBuildBr(b, after);
  }
  LLVMPositionBuilderAtEnd(b, finish);
  for (uint32_t r = 0; r < count; ++r) {
    if (spec->vector_reduced)
      accumulators[r] = foldVector(k, &spec->ops[k->reductions[r]], accumulators[r]);
    else if (in_memory)
      accumulators[r] = foldMemory(k, r);
  }
  if (spec->vector_reduced)
    e->width = 1;
  emitPost(k, offsets, mask, accumulators);
  e->width = full_width;
  LLVMBuildBr(b, after);
  LLVMPositionBuilderAtEnd(b, after);
  free(accumulators);
}

static void emitParallel(Kernel *k, uint32_t loop_index, LLVMValueRef *offsets, LLVMValueRef mask) {
  SambaEmit *e = k->e;
  const SambaKernelSpec *spec = k->spec;
  if (loop_index == spec->parallel_loops) {
    if (k->layout.reductions && spec->external_op == SAMBA_KERNEL_NO_OP) {
      emitReduction(k, offsets, mask);
      return;
    }
    Point point = makePoint(k, offsets, mask, true);
    emitOutputs(k, &point, false);
    free(point.values);
    return;
  }
  bool vector = e->width > 1 && !spec->vector_reduced && loop_index == vectorLoop(k);
  LLVMValueRef step = constant(k, vector ? e->width : 1);
  Loop loop = beginLoop(k, constant(k, 0), offsets, k->layout.ports);
  if (vector) {
    LLVMValueRef left = LLVMBuildSub(e->builder, k->trips[loop_index], loop.index, "");
    mask = sambaEmitIntegerCompare(e, LLVMIntSLT, k->lanes, laneBound(k, left));
  }
  emitParallel(k, loop_index + 1, loop.carried, mask);
  LLVMValueRef *next = advance(k, loop.carried, loop_index, vector ? step : NULL);
  endLoop(k, &loop, step, k->trips[loop_index], next);
  free(next);
}

static void loadArguments(Kernel *k) {
  SambaEmit *e = k->e;
  const SambaKernelSpec *spec = k->spec;
  uint32_t memory_ports = spec->input_count + spec->output_count;
  for (uint32_t p = 0; p + 1 < k->layout.ports; ++p)
    k->bases[p] = p < memory_ports ? pointerArgument(k, k->layout.pointers + p) : argument(k, k->layout.pointers + p);
  for (uint32_t l = 0; l < k->layout.loops; ++l)
    k->trips[l] = argument(k, k->layout.trips + l);
  for (uint32_t i = 0; i < k->layout.ports * k->layout.loops; ++i)
    k->strides[i] = argument(k, k->layout.strides + i);
  LLVMValueRef zero = constant(k, 0);
  k->first = LLVMBuildICmp(e->builder, LLVMIntNE, argument(k, k->layout.first), zero, "");
  k->last = LLVMBuildICmp(e->builder, LLVMIntNE, argument(k, k->layout.last), zero, "");
  LLVMValueRef lanes[256];
  for (unsigned l = 0; l < e->width; ++l)
    lanes[l] = LLVMConstInt(e->i32, l, false);
  k->lanes = e->width == 1 ? lanes[0] : LLVMConstVector(lanes, e->width);
  for (uint32_t r = 0; r < k->layout.reductions; ++r) {
    const SambaLaneOp *op = &spec->ops[k->reductions[r]];
    LLVMTypeRef type = sambaEmitType(e, sambaEmitLaneType(e, op->type));
    if (spec->reduce_lanes && !spec->vector_reduced && spec->external_op == SAMBA_KERNEL_NO_OP)
      k->lane_memory[r] = LLVMBuildArrayAlloca(e->builder, type, LLVMConstInt(e->i32, spec->reduce_lanes, false), "");
  }
}

void sambaKernelEmit(SambaEmit *emit, const SambaKernelSpec *spec, const char *name) {
  Kernel k = {.e = emit, .spec = spec, .layout = sambaKernelLayout(spec)};
  emit->width = spec->width;
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(emit->context), &emit->pointer, 1, false);
  k.function = LLVMAddFunction(emit->module, name, type);
  k.arguments = LLVMGetParam(k.function, 0);
  LLVMPositionBuilderAtEnd(emit->builder, newBlock(&k));
  k.trips = sambaAllocate(k.layout.loops * sizeof *k.trips);
  k.strides = sambaAllocate((size_t)k.layout.ports * k.layout.loops * sizeof *k.strides);
  k.bases = sambaAllocateZeroed(k.layout.ports, sizeof *k.bases);
  k.lane_memory = sambaAllocateZeroed(k.layout.reductions, sizeof *k.lane_memory);
  k.reductions = sambaAllocate(k.layout.reductions * sizeof *k.reductions);
  k.depends = sambaAllocate((spec->input_count + spec->op_count) * sizeof *k.depends);
  sambaKernelDependence(spec, k.depends);
  for (uint32_t i = 0, r = 0; i < spec->op_count; ++i)
    if (isReduction(spec->ops[i].opcode))
      k.reductions[r++] = i;
  loadArguments(&k);
  LLVMValueRef *offsets = sambaAllocate(k.layout.ports * sizeof *offsets);
  for (uint32_t p = 0; p < k.layout.ports; ++p)
    offsets[p] = constant(&k, 0);
  emitParallel(&k, 0, offsets, NULL);
  LLVMBuildRetVoid(emit->builder);
  free(offsets);
  free(k.trips);
  free(k.strides);
  free(k.bases);
  free(k.lane_memory);
  free(k.reductions);
  free(k.depends);
}
