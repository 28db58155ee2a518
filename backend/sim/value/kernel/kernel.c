/* Emission of SIMD kernels: arguments, parallel loops; see kernel.h. */
#include "backend/sim/value/kernel/kernel_internal.h"

#include <stdlib.h>

SambaKernelLayout sambaKernelLayout(const SambaKernelSpec *spec) {
  SambaKernelLayout layout = {.ports =
                                  spec->input_count + spec->output_count + spec->counter_count + 1,
                              .loops = spec->parallel_loops + spec->reduced_loops};
  for (uint32_t i = 0; i < spec->op_count; ++i)
    layout.reductions += sambaKernelIsReduction(spec->ops[i].opcode);
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
    bool depends = sambaKernelIsReduction(op->opcode) && i != spec->external_op;
    for (int j = 0; j < sambaLaneOpOperands(op->opcode) && i != spec->external_op; ++j)
      depends |= out_depends[op->operands[j]];
    out_depends[spec->input_count + i] = depends;
  }
}

static void emitParallel(SambaKernel *k, uint32_t loop_index, LLVMValueRef *offsets,
                         LLVMValueRef mask) {
  SambaEmit *e = k->e;
  const SambaKernelSpec *spec = k->spec;

  if (loop_index == spec->parallel_loops) {
    if (k->layout.reductions && spec->external_op == SAMBA_KERNEL_NO_OP) {
      sambaKernelEmitReduction(k, offsets, mask);
      return;
    }
    SambaKernelPoint point = sambaKernelMakePoint(k, offsets, mask, true);
    sambaKernelEmitOutputs(k, &point, false);
    free(point.values);
    return;
  }

  bool vector = e->width > 1 && !spec->vector_reduced && loop_index == sambaKernelVectorLoop(k);
  LLVMValueRef step = sambaKernelConstant(k, vector ? e->width : 1);
  SambaKernelLoop loop =
      sambaKernelBeginLoop(k, sambaKernelConstant(k, 0), offsets, k->layout.ports);
  if (vector) {
    LLVMValueRef left = LLVMBuildSub(e->builder, k->trips[loop_index], loop.index, "");
    mask = sambaEmitIntegerCompare(e, LLVMIntSLT, k->lanes, sambaKernelLaneBound(k, left));
  }

  emitParallel(k, loop_index + 1, loop.carried, mask);
  LLVMValueRef *next = sambaKernelAdvance(k, loop.carried, loop_index, vector ? step : NULL);
  sambaKernelEndLoop(k, &loop, step, k->trips[loop_index], next);
  free(next);
}

static void loadArguments(SambaKernel *k) {
  SambaEmit *e = k->e;
  const SambaKernelSpec *spec = k->spec;
  uint32_t memory_ports = spec->input_count + spec->output_count;

  for (uint32_t p = 0; p + 1 < k->layout.ports; ++p)
    k->bases[p] = p < memory_ports ? sambaKernelPointerArgument(k, k->layout.pointers + p)
                                   : sambaKernelArgument(k, k->layout.pointers + p);
  for (uint32_t l = 0; l < k->layout.loops; ++l)
    k->trips[l] = sambaKernelArgument(k, k->layout.trips + l);
  for (uint32_t i = 0; i < k->layout.ports * k->layout.loops; ++i)
    k->strides[i] = sambaKernelArgument(k, k->layout.strides + i);
  LLVMValueRef zero = sambaKernelConstant(k, 0);
  k->first =
      LLVMBuildICmp(e->builder, LLVMIntNE, sambaKernelArgument(k, k->layout.first), zero, "");
  k->last = LLVMBuildICmp(e->builder, LLVMIntNE, sambaKernelArgument(k, k->layout.last), zero, "");
  LLVMValueRef lanes[256];
  for (unsigned l = 0; l < e->width; ++l)
    lanes[l] = LLVMConstInt(e->i32, l, false);
  k->lanes = e->width == 1 ? lanes[0] : LLVMConstVector(lanes, e->width);

  for (uint32_t r = 0; r < k->layout.reductions; ++r) {
    const SambaLaneOp *op = &spec->ops[k->reductions[r]];
    LLVMTypeRef type = sambaEmitType(e, sambaEmitLaneType(e, op->type));
    if (spec->reduce_lanes && !spec->vector_reduced && spec->external_op == SAMBA_KERNEL_NO_OP)
      k->lane_memory[r] = LLVMBuildArrayAlloca(e->builder, type,
                                               LLVMConstInt(e->i32, spec->reduce_lanes, false), "");
  }
}

void sambaKernelEmit(SambaEmit *emit, const SambaKernelSpec *spec, const char *name) {
  SambaKernel k = {.e = emit, .spec = spec, .layout = sambaKernelLayout(spec)};
  emit->width = spec->width;
  LLVMTypeRef type =
      LLVMFunctionType(LLVMVoidTypeInContext(emit->context), &emit->pointer, 1, false);
  k.function = LLVMAddFunction(emit->module, name, type);
  k.arguments = LLVMGetParam(k.function, 0);
  LLVMPositionBuilderAtEnd(emit->builder, sambaKernelNewBlock(&k));

  k.trips = sambaAllocate(k.layout.loops * sizeof *k.trips);
  k.strides = sambaAllocate((size_t)k.layout.ports * k.layout.loops * sizeof *k.strides);
  k.bases = sambaAllocateZeroed(k.layout.ports, sizeof *k.bases);
  k.lane_memory = sambaAllocateZeroed(k.layout.reductions, sizeof *k.lane_memory);
  k.reductions = sambaAllocate(k.layout.reductions * sizeof *k.reductions);
  k.depends = sambaAllocate((spec->input_count + spec->op_count) * sizeof *k.depends);
  sambaKernelDependence(spec, k.depends);
  for (uint32_t i = 0, r = 0; i < spec->op_count; ++i)
    if (sambaKernelIsReduction(spec->ops[i].opcode))
      k.reductions[r++] = i;
  loadArguments(&k);
  LLVMValueRef *offsets = sambaAllocate(k.layout.ports * sizeof *offsets);
  for (uint32_t p = 0; p < k.layout.ports; ++p)
    offsets[p] = sambaKernelConstant(&k, 0);
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
