/* Emission of SIMD kernels: arguments and parallel loops; see kernel.h. */
#include "backend/sim/value/kernel/kernel.h"

#include "backend/sim/value/kernel/kernel_reduce.h"

#include <stdlib.h>

static void emitParallel(SambaKernel *kernel, uint32_t loop_index, LLVMValueRef *offsets,
                         LLVMValueRef mask) {
  SambaEmit *emit = kernel->emit;
  const SambaKernelSpec *spec = kernel->spec;

  if (loop_index == spec->parallel_loops) {
    if (kernel->layout.reductions && spec->external_op == SAMBA_KERNEL_NO_OP) {
      sambaKernelEmitReduction(kernel, offsets, mask);
      return;
    }
    SambaKernelPoint point = sambaKernelMakePoint(kernel, offsets, mask, true);
    sambaKernelEmitOutputs(kernel, &point, false);
    free(point.values);
    return;
  }

  bool vector =
      emit->width > 1 && !spec->vector_reduced && loop_index == sambaKernelVectorLoop(kernel);
  LLVMValueRef step = sambaKernelConstant(kernel, vector ? emit->width : 1);
  SambaKernelLoop loop =
      sambaKernelBeginLoop(kernel, sambaKernelConstant(kernel, 0), offsets, kernel->layout.ports);
  if (vector) {
    LLVMValueRef left =
        sambaLlvm.BuildSub(emit->builder, kernel->trips[loop_index], loop.index, "");
    mask = sambaEmitIntegerCompare(emit, LLVMIntSLT, kernel->lanes,
                                   sambaKernelLaneBound(kernel, left));
  }

  emitParallel(kernel, loop_index + 1, loop.carried, mask);
  LLVMValueRef *next = sambaKernelAdvance(kernel, loop.carried, loop_index, vector ? step : NULL);
  sambaKernelEndLoop(kernel, &loop, step, kernel->trips[loop_index], next);
  free(next);
}

static void loadArguments(SambaKernel *kernel) {
  SambaEmit *emit = kernel->emit;
  const SambaKernelSpec *spec = kernel->spec;
  uint32_t memory_ports = spec->input_count + spec->output_count;

  for (uint32_t p = 0; p + 1 < kernel->layout.ports; ++p)
    kernel->bases[p] = p < memory_ports
                           ? sambaKernelPointerArgument(kernel, kernel->layout.pointers + p)
                           : sambaKernelArgument(kernel, kernel->layout.pointers + p);
  for (uint32_t l = 0; l < kernel->layout.loops; ++l)
    kernel->trips[l] = sambaKernelArgument(kernel, kernel->layout.trips + l);
  for (uint32_t i = 0; i < kernel->layout.ports * kernel->layout.loops; ++i)
    kernel->strides[i] = sambaKernelArgument(kernel, kernel->layout.strides + i);
  LLVMValueRef zero = sambaKernelConstant(kernel, 0);
  kernel->first = sambaLlvm.BuildICmp(emit->builder, LLVMIntNE,
                                      sambaKernelArgument(kernel, kernel->layout.first), zero, "");
  kernel->last = sambaLlvm.BuildICmp(emit->builder, LLVMIntNE,
                                     sambaKernelArgument(kernel, kernel->layout.last), zero, "");
  LLVMValueRef lanes[256];
  for (unsigned l = 0; l < emit->width; ++l)
    lanes[l] = sambaLlvm.ConstInt(emit->i32, l, false);
  kernel->lanes = emit->width == 1 ? lanes[0] : sambaLlvm.ConstVector(lanes, emit->width);

  for (uint32_t r = 0; r < kernel->layout.reductions; ++r) {
    const SambaLaneOp *op = &spec->ops[kernel->reductions[r]];
    LLVMTypeRef type = sambaEmitType(emit, sambaEmitLaneType(emit, op->type));
    if (spec->reduce_lanes && !spec->vector_reduced && spec->external_op == SAMBA_KERNEL_NO_OP)
      kernel->lane_memory[r] = sambaLlvm.BuildArrayAlloca(
          emit->builder, type, sambaLlvm.ConstInt(emit->i32, spec->reduce_lanes, false), "");
  }
}

void sambaKernelEmit(SambaEmit *emit, const SambaKernelSpec *spec, const char *name) {
  SambaKernel kernel = {.emit = emit, .spec = spec, .layout = sambaKernelLayout(spec)};
  emit->width = spec->width;
  LLVMTypeRef type =
      sambaLlvm.FunctionType(sambaLlvm.VoidTypeInContext(emit->context), &emit->pointer, 1, false);
  kernel.function = sambaLlvm.AddFunction(emit->module, name, type);
  kernel.arguments = sambaLlvm.GetParam(kernel.function, 0);
  sambaLlvm.PositionBuilderAtEnd(emit->builder, sambaKernelNewBlock(&kernel));

  kernel.trips = sambaAllocate(kernel.layout.loops * sizeof *kernel.trips);
  kernel.strides =
      sambaAllocate((size_t)kernel.layout.ports * kernel.layout.loops * sizeof *kernel.strides);
  kernel.bases = sambaAllocateZeroed(kernel.layout.ports, sizeof *kernel.bases);
  kernel.lane_memory = sambaAllocateZeroed(kernel.layout.reductions, sizeof *kernel.lane_memory);
  kernel.reductions = sambaAllocate(kernel.layout.reductions * sizeof *kernel.reductions);
  kernel.depends = sambaAllocate((spec->input_count + spec->op_count) * sizeof *kernel.depends);
  sambaKernelDependence(spec, kernel.depends);
  for (uint32_t i = 0, r = 0; i < spec->op_count; ++i)
    if (sambaKernelIsReduction(spec->ops[i].opcode))
      kernel.reductions[r++] = i;
  loadArguments(&kernel);
  LLVMValueRef *offsets = sambaAllocate(kernel.layout.ports * sizeof *offsets);
  for (uint32_t p = 0; p < kernel.layout.ports; ++p)
    offsets[p] = sambaKernelConstant(&kernel, 0);
  emitParallel(&kernel, 0, offsets, NULL);
  sambaLlvm.BuildRetVoid(emit->builder);
  free(offsets);
  free(kernel.trips);
  free(kernel.strides);
  free(kernel.bases);
  free(kernel.lane_memory);
  free(kernel.reductions);
  free(kernel.depends);
}
