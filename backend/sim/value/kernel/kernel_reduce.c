/* Emission of reductions: in order, by lanes along a reduced loop or across parallel points;
 * parking; the fold. */
#include "backend/sim/value/kernel/kernel_internal.h"

#include <stdlib.h>

/* One step of every reduction at this point, on register accumulators or on the lane's
 * memory cell. */
static void emitReductions(SambaKernel *k, SambaKernelPoint *point, LLVMValueRef *accumulators,
                           LLVMValueRef lane) {
  SambaEmit *e = k->e;
  for (uint32_t r = 0; r < k->layout.reductions; ++r) {
    const SambaLaneOp *op = &k->spec->ops[k->reductions[r]];
    LLVMValueRef a = sambaKernelEmitValue(k, point, op->operands[0]);
    LLVMValueRef b =
        op->opcode == SAMBA_LANE_MAC ? sambaKernelEmitValue(k, point, op->operands[1]) : NULL;
    if (!lane) {
      LLVMValueRef next = sambaEmitReduceStep(e, op, accumulators[r], a, b);
      accumulators[r] = point->mask && k->spec->vector_reduced
                            ? sambaEmitSelect(e, point->mask, next, accumulators[r])
                            : next;
      continue;
    }
    LLVMTypeRef type = sambaEmitType(e, sambaEmitLaneType(e, op->type));
    LLVMValueRef cell = LLVMBuildGEP2(e->builder, type, k->lane_memory[r], &lane, 1, "");
    LLVMBuildStore(e->builder,
                   sambaEmitReduceStep(e, op, LLVMBuildLoad2(e->builder, type, cell, ""), a, b),
                   cell);
  }
}

/* The innermost vectorized loop of a lane reduction: lane l holds the elements with flattened index
 * = l modulo L. */
static void emitReducedRow(SambaKernel *k, LLVMValueRef *offsets, LLVMValueRef *accumulators,
                           LLVMValueRef *position) {
  SambaEmit *e = k->e;
  LLVMBuilderRef b = e->builder;
  uint32_t loop_index = sambaKernelVectorLoop(k);
  uint32_t count = k->layout.reductions;
  LLVMValueRef trip = k->trips[loop_index];
  LLVMValueRef zero = sambaKernelConstant(k, 0);
  LLVMValueRef start = LLVMBuildNeg(b, *position, "");
  SambaKernelLoop loop = sambaKernelBeginLoop(k, start, accumulators, count);
  LLVMValueRef *here = sambaKernelAdvance(k, offsets, loop_index, loop.index);
  LLVMValueRef skipped = sambaEmitIntrinsic(
      e, "llvm.smax", &e->i64, 1, (LLVMValueRef[]){LLVMBuildNeg(b, loop.index, ""), zero}, 2);
  LLVMValueRef low = sambaKernelLaneBound(k, skipped);
  LLVMValueRef high = sambaKernelLaneBound(k, LLVMBuildSub(b, trip, loop.index, ""));
  LLVMValueRef mask = LLVMBuildAnd(b, sambaEmitIntegerCompare(e, LLVMIntSGE, k->lanes, low),
                                   sambaEmitIntegerCompare(e, LLVMIntSLT, k->lanes, high), "");
  SambaKernelPoint point = sambaKernelMakePoint(k, here, mask, true);

  for (uint32_t r = 0; r < count; ++r)
    accumulators[r] = loop.carried[r];
  emitReductions(k, &point, accumulators, NULL);
  sambaKernelEmitOutputs(k, &point, false);
  sambaKernelEndLoop(k, &loop, sambaKernelConstant(k, e->width), trip, accumulators);
  LLVMValueRef sum = LLVMBuildAdd(b, *position, trip, "");
  *position = LLVMBuildURem(b, sum, sambaKernelConstant(k, k->spec->reduce_lanes), "");
  free(point.values);
  free(here);
}

/* The reduced loops from `loop_index` inwards; accumulators and position are updated. */
static void emitReducedLoops(SambaKernel *k, uint32_t loop_index, LLVMValueRef *offsets,
                             LLVMValueRef mask, LLVMValueRef *accumulators,
                             LLVMValueRef *position) {
  SambaEmit *e = k->e;
  LLVMBuilderRef b = e->builder;
  bool in_memory = k->spec->reduce_lanes && !k->spec->vector_reduced;

  if (k->spec->vector_reduced && loop_index == sambaKernelVectorLoop(k)) {
    emitReducedRow(k, offsets, accumulators, position);
    return;
  }

  if (loop_index == k->layout.loops) {
    SambaKernelPoint point = sambaKernelMakePoint(k, offsets, mask, true);
    emitReductions(k, &point, accumulators, in_memory ? *position : NULL);
    sambaKernelEmitOutputs(k, &point, false);
    if (in_memory) {
      LLVMValueRef next = LLVMBuildAdd(b, *position, sambaKernelConstant(k, 1), "");
      LLVMValueRef wraps =
          LLVMBuildICmp(b, LLVMIntEQ, next, sambaKernelConstant(k, k->spec->reduce_lanes), "");
      *position = LLVMBuildSelect(b, wraps, sambaKernelConstant(k, 0), next, "");
    }

    free(point.values);
    return;
  }

  uint32_t ports = k->layout.ports;
  uint32_t count = k->layout.reductions;
  uint32_t carried = ports + 1 + (in_memory ? 0 : count);
  LLVMValueRef *values = sambaAllocate(carried * sizeof *values);

  for (uint32_t i = 0; i < carried; ++i)
    values[i] = i < ports ? offsets[i] : i == ports ? *position : accumulators[i - ports - 1];
  SambaKernelLoop loop = sambaKernelBeginLoop(k, sambaKernelConstant(k, 0), values, carried);
  LLVMValueRef *inner = sambaAllocate((count + 1) * sizeof *inner);
  LLVMValueRef inner_position = loop.carried[ports];
  for (uint32_t r = 0; r < count; ++r)
    inner[r] = in_memory ? NULL : loop.carried[ports + 1 + r];
  emitReducedLoops(k, loop_index + 1, loop.carried, mask, inner, &inner_position);
  LLVMValueRef *next = sambaKernelAdvance(k, loop.carried, loop_index, NULL);
  for (uint32_t i = 0; i < carried; ++i)
    values[i] = i < ports ? next[i] : i == ports ? inner_position : inner[i - ports - 1];
  sambaKernelEndLoop(k, &loop, sambaKernelConstant(k, 1), k->trips[loop_index], values);
  *position = inner_position;
  for (uint32_t r = 0; r < count && !in_memory; ++r)
    accumulators[r] = inner[r];
  free(next);
  free(inner);
  free(values);
}

/* Parked accumulators: [lanes][points] across parallel points, [points][lanes] along a reduced
 * loop; i1 as i32. */
static LLVMValueRef parkedOffset(SambaKernel *k, LLVMValueRef *offsets, uint32_t lane) {
  LLVMBuilderRef b = k->e->builder;
  LLVMValueRef point = offsets[k->layout.ports - 1];
  if (k->spec->vector_reduced)
    return LLVMBuildMul(b, point, sambaKernelConstant(k, k->spec->reduce_lanes), "");
  return LLVMBuildAdd(
      b, point,
      LLVMBuildMul(b, sambaKernelArgument(k, k->layout.points), sambaKernelConstant(k, lane), ""),
      "");
}

static LLVMValueRef loadParked(SambaKernel *k, uint32_t r, LLVMValueRef *offsets, LLVMValueRef mask,
                               uint32_t lane) {
  SambaEmit *e = k->e;
  const SambaLaneOp *op = &k->spec->ops[k->reductions[r]];
  LLVMValueRef identity = sambaEmitReduceIdentity(e, op);
  if (!k->spec->parks)
    return identity;
  LLVMValueRef base = sambaKernelPointerArgument(k, k->layout.accumulators + r);
  LLVMValueRef loaded = sambaKernelLoadElements(k, sambaKernelStorageType(k, op->type), base,
                                                parkedOffset(k, offsets, lane),
                                                SAMBA_WALK_CONTIGUOUS, NULL, mask, false);
  if (op->type == SAMBA_DTYPE_I1)
    loaded = sambaEmitIntegerCompare(e, LLVMIntNE, loaded, sambaEmitInteger(e, e->i32, 0));
  return LLVMBuildSelect(e->builder, k->first, identity, loaded, "");
}

static void storeParked(SambaKernel *k, uint32_t r, LLVMValueRef *offsets, LLVMValueRef mask,
                        uint32_t lane, LLVMValueRef value) {
  SambaEmit *e = k->e;
  LLVMValueRef base = sambaKernelPointerArgument(k, k->layout.accumulators + r);
  if (sambaEmitScalarOf(LLVMTypeOf(value)) == e->i1)
    value = LLVMBuildZExt(e->builder, value, sambaEmitType(e, e->i32), "");
  sambaKernelStoreElements(k, value, base, parkedOffset(k, offsets, lane), SAMBA_WALK_CONTIGUOUS,
                           NULL, mask);
}

/* Lanes fold by halves: lane l takes lane l + h while there are more than one, h = half of them
 * rounded up. */
static LLVMValueRef foldVector(SambaKernel *k, const SambaLaneOp *op, LLVMValueRef value) {
  SambaEmit *e = k->e;
  if (e->width == 1)
    return value;
  LLVMValueRef lanes[256];

  for (unsigned l = 0; l < e->width; ++l)
    lanes[l] = LLVMConstInt(e->i32, l, false);
  unsigned live = e->width;
  while (live > 1) {
    unsigned half = (live + 1) / 2;
    if (live %
        2) { /* an odd count: its last pair partner is missing, so lanes are folded one by one */
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
    LLVMValueRef low = LLVMBuildShuffleVector(e->builder, value, LLVMGetPoison(type),
                                              LLVMConstVector(lanes, half), "");
    LLVMValueRef high = LLVMBuildShuffleVector(e->builder, value, LLVMGetPoison(type),
                                               LLVMConstVector(lanes + half, half), "");
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

static LLVMValueRef foldMemory(SambaKernel *k, uint32_t r) {
  SambaEmit *e = k->e;
  const SambaLaneOp *op = &k->spec->ops[k->reductions[r]];
  LLVMTypeRef type = sambaEmitType(e, sambaEmitLaneType(e, op->type));
  LLVMValueRef lanes[256];

  unsigned live = k->spec->reduce_lanes;
  for (unsigned l = 0; l < live; ++l) {
    LLVMValueRef at = sambaKernelConstant(k, l);
    lanes[l] = LLVMBuildLoad2(e->builder, type,
                              LLVMBuildGEP2(e->builder, type, k->lane_memory[r], &at, 1, ""), "");
  }

  for (unsigned h = (live + 1) / 2; live > 1; live = h, h = (h + 1) / 2)
    for (unsigned l = 0; l + h < live; ++l)
      lanes[l] = sambaEmitReduceCombine(e, op, lanes[l], lanes[l + h]);
  return lanes[0];
}

/* What depends on reductions, at their last step; results: one value per reduction at the current
 * width. */
static void emitPost(SambaKernel *k, LLVMValueRef *offsets, LLVMValueRef mask,
                     LLVMValueRef *results) {
  LLVMBuilderRef b = k->e->builder;
  LLVMValueRef *last = sambaAllocate(k->layout.ports * sizeof *last);

  for (uint32_t p = 0; p < k->layout.ports; ++p) {
    last[p] = offsets[p];
    for (uint32_t l = k->spec->parallel_loops; l < k->layout.loops; ++l) {
      LLVMValueRef steps = LLVMBuildSub(b, k->trips[l], sambaKernelConstant(k, 1), "");
      last[p] =
          LLVMBuildAdd(b, last[p], LLVMBuildMul(b, steps, sambaKernelStrideOf(k, p, l), ""), "");
    }
  }

  SambaKernelPoint point = sambaKernelMakePoint(k, last, mask, !k->spec->vector_reduced);
  for (uint32_t r = 0; r < k->layout.reductions; ++r)
    point.values[k->spec->input_count + k->reductions[r]] = results[r];
  sambaKernelEmitOutputs(k, &point, true);
  free(point.values);
  free(last);
}

/* A set of parallel points with all its reductions. */
void sambaKernelEmitReduction(SambaKernel *k, LLVMValueRef *offsets, LLVMValueRef mask) {
  SambaEmit *e = k->e;
  LLVMBuilderRef b = e->builder;
  const SambaKernelSpec *spec = k->spec;
  uint32_t count = k->layout.reductions;
  uint32_t full_width = e->width;
  bool in_memory = spec->reduce_lanes && !spec->vector_reduced;
  uint32_t cells = in_memory ? spec->reduce_lanes : 1;
  LLVMValueRef *accumulators = sambaAllocateZeroed(count, sizeof *accumulators);

  for (uint32_t r = 0; r < count; ++r) {
    LLVMTypeRef type = sambaEmitType(e, sambaEmitLaneType(e, spec->ops[k->reductions[r]].type));
    for (uint32_t l = 0; l < cells; ++l) {
      accumulators[r] = loadParked(k, r, offsets, mask, l);
      LLVMValueRef at = sambaKernelConstant(k, l);
      if (in_memory)
        LLVMBuildStore(b, accumulators[r], LLVMBuildGEP2(b, type, k->lane_memory[r], &at, 1, ""));
    }
  }

  LLVMValueRef position = sambaKernelArgument(k, k->layout.position);
  emitReducedLoops(k, spec->parallel_loops, offsets, mask, accumulators, &position);
  LLVMBasicBlockRef finish = sambaKernelNewBlock(k);
  LLVMBasicBlockRef park = spec->parks ? sambaKernelNewBlock(k) : NULL;
  LLVMBasicBlockRef after = sambaKernelNewBlock(k);
  if (spec->parks)
    LLVMBuildCondBr(b, k->last, finish, park);
  else
    LLVMBuildBr(b, finish);
  if (spec->parks) {
    LLVMPositionBuilderAtEnd(b, park);
    for (uint32_t r = 0; r < count; ++r) {
      LLVMTypeRef type = sambaEmitType(e, sambaEmitLaneType(e, spec->ops[k->reductions[r]].type));
      for (uint32_t l = 0; l < cells; ++l) {
        LLVMValueRef at = sambaKernelConstant(k, l);
        LLVMValueRef value =
            in_memory
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
