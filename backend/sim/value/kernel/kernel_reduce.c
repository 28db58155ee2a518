/* Emission of reductions: in order, by lanes along a reduced loop or across parallel points;
 * parking; the fold. */
#include "backend/sim/value/kernel/kernel_reduce.h"

#include <stdlib.h>

/* One step of every reduction at this point, on register accumulators or on the lane's
 * memory cell. */
static void emitReductions(SambaKernel *kernel, SambaKernelPoint *point, LLVMValueRef *accumulators,
                           LLVMValueRef lane) {
  SambaEmit *emit = kernel->emit;
  for (uint32_t r = 0; r < kernel->layout.reductions; ++r) {
    const SambaLaneOp *op = &kernel->spec->ops[kernel->reductions[r]];
    LLVMValueRef a = sambaKernelEmitValue(kernel, point, op->operands[0]);
    LLVMValueRef b =
        sambaLaneOpIsMac(op->opcode) ? sambaKernelEmitValue(kernel, point, op->operands[1]) : NULL;
    if (!lane) {
      LLVMValueRef next = sambaEmitReduceStep(emit, op, accumulators[r], a, b);
      accumulators[r] = point->mask && kernel->spec->vector_reduced
                            ? sambaEmitSelect(emit, point->mask, next, accumulators[r])
                            : next;
      continue;
    }
    LLVMTypeRef type = sambaEmitType(emit, sambaEmitLaneType(emit, op->type));
    LLVMValueRef cell =
        sambaLlvm.BuildGEP2(emit->builder, type, kernel->lane_memory[r], &lane, 1, "");
    sambaLlvm.BuildStore(
        emit->builder,
        sambaEmitReduceStep(emit, op, sambaLlvm.BuildLoad2(emit->builder, type, cell, ""), a, b),
        cell);
  }
}

/* The innermost vectorized loop of a lane reduction: lane l holds the elements with flattened index
 * = l modulo L. */
static void emitReducedRow(SambaKernel *kernel, LLVMValueRef *offsets, LLVMValueRef *accumulators,
                           LLVMValueRef *position) {
  SambaEmit *emit = kernel->emit;
  LLVMBuilderRef b = emit->builder;
  uint32_t loop_index = sambaKernelVectorLoop(kernel);
  uint32_t count = kernel->layout.reductions;
  LLVMValueRef trip = kernel->trips[loop_index];
  LLVMValueRef zero = sambaKernelConstant(kernel, 0);
  LLVMValueRef start = sambaLlvm.BuildNeg(b, *position, "");
  SambaKernelLoop loop = sambaKernelBeginLoop(kernel, start, accumulators, count);
  LLVMValueRef *here = sambaKernelAdvance(kernel, offsets, loop_index, loop.index);
  LLVMValueRef skipped =
      sambaEmitIntrinsic(emit, "llvm.smax", &emit->i64, 1,
                         (LLVMValueRef[]){sambaLlvm.BuildNeg(b, loop.index, ""), zero}, 2);
  LLVMValueRef low = sambaKernelLaneBound(kernel, skipped);
  LLVMValueRef high = sambaKernelLaneBound(kernel, sambaLlvm.BuildSub(b, trip, loop.index, ""));
  LLVMValueRef mask =
      sambaLlvm.BuildAnd(b, sambaEmitIntegerCompare(emit, LLVMIntSGE, kernel->lanes, low),
                         sambaEmitIntegerCompare(emit, LLVMIntSLT, kernel->lanes, high), "");
  SambaKernelPoint point = sambaKernelMakePoint(kernel, here, mask, true);

  for (uint32_t r = 0; r < count; ++r)
    accumulators[r] = loop.carried[r];
  emitReductions(kernel, &point, accumulators, NULL);
  sambaKernelEmitOutputs(kernel, &point, false);
  sambaKernelEndLoop(kernel, &loop, sambaKernelConstant(kernel, emit->width), trip, accumulators);
  LLVMValueRef sum = sambaLlvm.BuildAdd(b, *position, trip, "");
  *position =
      sambaLlvm.BuildURem(b, sum, sambaKernelConstant(kernel, kernel->spec->reduce_lanes), "");
  free(point.values);
  free(here);
}

/* What a reduced loop carries, by position: the ports' offsets, the reduction index, the
 * accumulators. */
static LLVMValueRef carriedValue(LLVMValueRef *offsets, uint32_t ports, LLVMValueRef position,
                                 LLVMValueRef *accumulators, uint32_t i) {
  if (i < ports)
    return offsets[i];
  return i == ports ? position : accumulators[i - ports - 1];
}

/* The reduced loops from `loop_index` inwards; accumulators and position are updated. */
static void emitReducedLoops(SambaKernel *kernel, uint32_t loop_index, LLVMValueRef *offsets,
                             LLVMValueRef mask, LLVMValueRef *accumulators,
                             LLVMValueRef *position) {
  SambaEmit *emit = kernel->emit;
  LLVMBuilderRef b = emit->builder;
  bool in_memory = kernel->spec->reduce_lanes && !kernel->spec->vector_reduced;

  if (kernel->spec->vector_reduced && loop_index == sambaKernelVectorLoop(kernel)) {
    emitReducedRow(kernel, offsets, accumulators, position);
    return;
  }

  if (loop_index == kernel->layout.loops) {
    SambaKernelPoint point = sambaKernelMakePoint(kernel, offsets, mask, true);
    emitReductions(kernel, &point, accumulators, in_memory ? *position : NULL);
    sambaKernelEmitOutputs(kernel, &point, false);
    if (in_memory) {
      LLVMValueRef next = sambaLlvm.BuildAdd(b, *position, sambaKernelConstant(kernel, 1), "");
      LLVMValueRef wraps = sambaLlvm.BuildICmp(
          b, LLVMIntEQ, next, sambaKernelConstant(kernel, kernel->spec->reduce_lanes), "");
      *position = sambaLlvm.BuildSelect(b, wraps, sambaKernelConstant(kernel, 0), next, "");
    }

    free(point.values);
    return;
  }

  uint32_t ports = kernel->layout.ports;
  uint32_t count = kernel->layout.reductions;
  uint32_t carried = ports + 1 + (in_memory ? 0 : count);
  LLVMValueRef *values = sambaAllocate(carried * sizeof *values);

  for (uint32_t i = 0; i < carried; ++i)
    values[i] = carriedValue(offsets, ports, *position, accumulators, i);
  SambaKernelLoop loop =
      sambaKernelBeginLoop(kernel, sambaKernelConstant(kernel, 0), values, carried);
  LLVMValueRef *inner = sambaAllocate((count + 1) * sizeof *inner);
  LLVMValueRef inner_position = loop.carried[ports];
  for (uint32_t r = 0; r < count; ++r)
    inner[r] = in_memory ? NULL : loop.carried[ports + 1 + r];
  emitReducedLoops(kernel, loop_index + 1, loop.carried, mask, inner, &inner_position);
  LLVMValueRef *next = sambaKernelAdvance(kernel, loop.carried, loop_index, NULL);
  for (uint32_t i = 0; i < carried; ++i)
    values[i] = carriedValue(next, ports, inner_position, inner, i);
  sambaKernelEndLoop(kernel, &loop, sambaKernelConstant(kernel, 1), kernel->trips[loop_index],
                     values);
  *position = inner_position;
  for (uint32_t r = 0; r < count && !in_memory; ++r)
    accumulators[r] = inner[r];
  free(next);
  free(inner);
  free(values);
}

/* Parked accumulators: [lanes][points] across parallel points, [points][lanes] along a reduced
 * loop; i1 as i32. */
static LLVMValueRef parkedOffset(SambaKernel *kernel, LLVMValueRef *offsets, uint32_t lane) {
  LLVMBuilderRef b = kernel->emit->builder;
  LLVMValueRef point = offsets[kernel->layout.ports - 1];
  if (kernel->spec->vector_reduced)
    return sambaLlvm.BuildMul(b, point, sambaKernelConstant(kernel, kernel->spec->reduce_lanes),
                              "");
  return sambaLlvm.BuildAdd(b, point,
                            sambaLlvm.BuildMul(b,
                                               sambaKernelArgument(kernel, kernel->layout.points),
                                               sambaKernelConstant(kernel, lane), ""),
                            "");
}

/* What a reduction begins with at these points. */
static LLVMValueRef emitStart(SambaKernel *kernel, const SambaLaneOp *op, LLVMValueRef *offsets,
                              LLVMValueRef mask) {
  if (op->opcode != SAMBA_LANE_MAC_ON)
    return sambaEmitReduceIdentity(kernel->emit, op);
  SambaKernelPoint point = sambaKernelMakePoint(kernel, offsets, mask, true);
  LLVMValueRef start = sambaKernelEmitValue(kernel, &point, op->operands[2]);
  free(point.values);
  return start;
}

static LLVMValueRef loadParked(SambaKernel *kernel, uint32_t r, LLVMValueRef *offsets,
                               LLVMValueRef mask, uint32_t lane) {
  SambaEmit *emit = kernel->emit;
  const SambaLaneOp *op = &kernel->spec->ops[kernel->reductions[r]];
  LLVMValueRef identity = emitStart(kernel, op, offsets, mask);
  if (!kernel->spec->parks)
    return identity;
  LLVMValueRef base = sambaKernelPointerArgument(kernel, kernel->layout.accumulators + r);
  LLVMValueRef loaded = sambaKernelLoadElements(kernel, sambaKernelStorageType(kernel, op->type),
                                                base, parkedOffset(kernel, offsets, lane),
                                                SAMBA_WALK_CONTIGUOUS, NULL, mask, false);
  if (op->type == SAMBA_DTYPE_I1)
    loaded = sambaEmitIntegerCompare(emit, LLVMIntNE, loaded, sambaEmitInteger(emit, emit->i32, 0));
  return sambaLlvm.BuildSelect(emit->builder, kernel->first, identity, loaded, "");
}

static void storeParked(SambaKernel *kernel, uint32_t r, LLVMValueRef *offsets, LLVMValueRef mask,
                        uint32_t lane, LLVMValueRef value) {
  SambaEmit *emit = kernel->emit;
  LLVMValueRef base = sambaKernelPointerArgument(kernel, kernel->layout.accumulators + r);
  if (sambaEmitScalarOf(sambaLlvm.TypeOf(value)) == emit->i1)
    value = sambaLlvm.BuildZExt(emit->builder, value, sambaEmitType(emit, emit->i32), "");
  sambaKernelStoreElements(kernel, value, base, parkedOffset(kernel, offsets, lane),
                           SAMBA_WALK_CONTIGUOUS, NULL, mask);
}

/* Lanes fold by halves: lane l takes lane l + h while there are more than one, h = half of them
 * rounded up. */
static LLVMValueRef foldVector(SambaKernel *kernel, const SambaLaneOp *op, LLVMValueRef value) {
  SambaEmit *emit = kernel->emit;
  if (emit->width == 1)
    return value;
  LLVMValueRef lanes[256];

  for (unsigned l = 0; l < emit->width; ++l)
    lanes[l] = sambaLlvm.ConstInt(emit->i32, l, false);
  unsigned live = emit->width;
  while (live > 1) {
    unsigned half = (live + 1) / 2;
    if (live %
        2) { /* an odd count: its last pair partner is missing, so lanes are folded one by one */
      LLVMValueRef odd[256];
      SambaEmit scalar = *emit;
      scalar.width = 1;
      for (unsigned l = 0; l < live; ++l)
        odd[l] = sambaLlvm.BuildExtractElement(emit->builder, value, lanes[l], "");
      for (unsigned h = half, n = live; n > 1; n = h, h = (h + 1) / 2)
        for (unsigned l = 0; l + h < n; ++l)
          odd[l] = sambaEmitReduceCombine(&scalar, op, odd[l], odd[l + h]);
      return odd[0];
    }
    LLVMTypeRef type = sambaLlvm.TypeOf(value);
    LLVMValueRef low = sambaLlvm.BuildShuffleVector(emit->builder, value, sambaLlvm.GetPoison(type),
                                                    sambaLlvm.ConstVector(lanes, half), "");
    LLVMValueRef high =
        sambaLlvm.BuildShuffleVector(emit->builder, value, sambaLlvm.GetPoison(type),
                                     sambaLlvm.ConstVector(lanes + half, half), "");
    SambaEmit narrower = *emit;
    narrower.width = half;
    if (half == 1) {
      low = sambaLlvm.BuildExtractElement(emit->builder, low, lanes[0], "");
      high = sambaLlvm.BuildExtractElement(emit->builder, high, lanes[0], "");
    }
    value = sambaEmitReduceCombine(&narrower, op, low, high);
    live = half;
  }

  return value;
}

static LLVMValueRef foldMemory(SambaKernel *kernel, uint32_t r) {
  SambaEmit *emit = kernel->emit;
  const SambaLaneOp *op = &kernel->spec->ops[kernel->reductions[r]];
  LLVMTypeRef type = sambaEmitType(emit, sambaEmitLaneType(emit, op->type));
  LLVMValueRef lanes[256];

  unsigned live = kernel->spec->reduce_lanes;
  for (unsigned l = 0; l < live; ++l) {
    LLVMValueRef at = sambaKernelConstant(kernel, l);
    lanes[l] = sambaLlvm.BuildLoad2(
        emit->builder, type,
        sambaLlvm.BuildGEP2(emit->builder, type, kernel->lane_memory[r], &at, 1, ""), "");
  }

  for (unsigned h = (live + 1) / 2; live > 1; live = h, h = (h + 1) / 2)
    for (unsigned l = 0; l + h < live; ++l)
      lanes[l] = sambaEmitReduceCombine(emit, op, lanes[l], lanes[l + h]);
  return lanes[0];
}

/* What depends on reductions, at their last step; results: one value per reduction at the current
 * width. */
static void emitPost(SambaKernel *kernel, LLVMValueRef *offsets, LLVMValueRef mask,
                     LLVMValueRef *results) {
  LLVMBuilderRef b = kernel->emit->builder;
  LLVMValueRef *last = sambaAllocate(kernel->layout.ports * sizeof *last);

  for (uint32_t p = 0; p < kernel->layout.ports; ++p) {
    last[p] = offsets[p];
    for (uint32_t l = kernel->spec->parallel_loops; l < kernel->layout.loops; ++l) {
      LLVMValueRef steps =
          sambaLlvm.BuildSub(b, kernel->trips[l], sambaKernelConstant(kernel, 1), "");
      last[p] = sambaLlvm.BuildAdd(
          b, last[p], sambaLlvm.BuildMul(b, steps, sambaKernelStrideOf(kernel, p, l), ""), "");
    }
  }

  SambaKernelPoint point = sambaKernelMakePoint(kernel, last, mask, !kernel->spec->vector_reduced);
  for (uint32_t r = 0; r < kernel->layout.reductions; ++r)
    point.values[kernel->spec->input_count + kernel->reductions[r]] = results[r];
  sambaKernelEmitOutputs(kernel, &point, true);
  free(point.values);
  free(last);
}

/* Lane reductions across parallel points keep their accumulators in memory, one cell per lane. */
static bool isInMemory(const SambaKernelSpec *spec) {
  return spec->reduce_lanes && !spec->vector_reduced;
}

static uint32_t cellCount(const SambaKernelSpec *spec) {
  return isInMemory(spec) ? spec->reduce_lanes : 1;
}

static LLVMTypeRef reductionType(const SambaKernel *kernel, uint32_t reduction) {
  const SambaLaneOp *op = &kernel->spec->ops[kernel->reductions[reduction]];
  return sambaEmitType(kernel->emit, sambaEmitLaneType(kernel->emit, op->type));
}

static LLVMValueRef cellAddress(SambaKernel *kernel, uint32_t reduction, uint32_t cell) {
  LLVMValueRef at = sambaKernelConstant(kernel, cell);
  return sambaLlvm.BuildGEP2(kernel->emit->builder, reductionType(kernel, reduction),
                             kernel->lane_memory[reduction], &at, 1, "");
}

/* Accumulators as the call before left them, or their identities. */
static void loadAccumulators(SambaKernel *kernel, LLVMValueRef *offsets, LLVMValueRef mask,
                             LLVMValueRef *accumulators) {
  for (uint32_t r = 0; r < kernel->layout.reductions; ++r)
    for (uint32_t l = 0; l < cellCount(kernel->spec); ++l) {
      accumulators[r] = loadParked(kernel, r, offsets, mask, l);
      if (isInMemory(kernel->spec))
        sambaLlvm.BuildStore(kernel->emit->builder, accumulators[r], cellAddress(kernel, r, l));
    }
}

/* Leaves the accumulators for the next call. */
static void parkAccumulators(SambaKernel *kernel, LLVMValueRef *offsets, LLVMValueRef mask,
                             LLVMValueRef *accumulators) {
  for (uint32_t r = 0; r < kernel->layout.reductions; ++r)
    for (uint32_t l = 0; l < cellCount(kernel->spec); ++l) {
      LLVMValueRef value = accumulators[r];
      if (isInMemory(kernel->spec))
        value = sambaLlvm.BuildLoad2(kernel->emit->builder, reductionType(kernel, r),
                                     cellAddress(kernel, r, l), "");
      storeParked(kernel, r, offsets, mask, l, value);
    }
}

/* Folds the lanes of each reduction and emits what depends on the results. */
static void finishReductions(SambaKernel *kernel, LLVMValueRef *offsets, LLVMValueRef mask,
                             LLVMValueRef *accumulators) {
  const SambaKernelSpec *spec = kernel->spec;
  for (uint32_t r = 0; r < kernel->layout.reductions; ++r) {
    if (spec->vector_reduced)
      accumulators[r] = foldVector(kernel, &spec->ops[kernel->reductions[r]], accumulators[r]);
    else if (isInMemory(spec))
      accumulators[r] = foldMemory(kernel, r);
  }

  uint32_t full_width = kernel->emit->width;
  if (spec->vector_reduced)
    kernel->emit->width = 1;
  emitPost(kernel, offsets, mask, accumulators);
  kernel->emit->width = full_width;
}

void sambaKernelEmitReduction(SambaKernel *kernel, LLVMValueRef *offsets, LLVMValueRef mask) {
  LLVMBuilderRef b = kernel->emit->builder;
  const SambaKernelSpec *spec = kernel->spec;
  LLVMValueRef *accumulators = sambaAllocateZeroed(kernel->layout.reductions, sizeof *accumulators);

  loadAccumulators(kernel, offsets, mask, accumulators);
  LLVMValueRef position = sambaKernelArgument(kernel, kernel->layout.position);
  emitReducedLoops(kernel, spec->parallel_loops, offsets, mask, accumulators, &position);

  LLVMBasicBlockRef finish = sambaKernelNewBlock(kernel);
  LLVMBasicBlockRef park = spec->parks ? sambaKernelNewBlock(kernel) : NULL;
  LLVMBasicBlockRef after = sambaKernelNewBlock(kernel);
  if (spec->parks) {
    sambaLlvm.BuildCondBr(b, kernel->last, finish, park);
    sambaLlvm.PositionBuilderAtEnd(b, park);
    parkAccumulators(kernel, offsets, mask, accumulators);
    sambaLlvm.BuildBr(b, after);
  } else {
    sambaLlvm.BuildBr(b, finish);
  }

  sambaLlvm.PositionBuilderAtEnd(b, finish);
  finishReductions(kernel, offsets, mask, accumulators);
  sambaLlvm.BuildBr(b, after);
  sambaLlvm.PositionBuilderAtEnd(b, after);
  free(accumulators);
}
