/* SIMD kernels as data; see kernel_spec.h. */
#include "backend/sim/value/kernel/kernel_spec.h"

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
