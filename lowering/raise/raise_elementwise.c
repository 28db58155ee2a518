/* Bodies without a reduction: every scalar becomes an operator on tensors, so that what was fused
 * is seen operator by operator again; maps become views, a body that passes an element on is a view
 * alone. The planner fuses them anew. */
#include "lowering/raise/frame.h"
#include "lowering/raise/patterns.h"

static bool evaluateOutputs(const SambaNest *nest, SambaExpansion *expansion,
                            uint32_t *out_results) {
  for (uint32_t output = 0; output < nest->output_count; ++output) {
    SambaFrame frame;
    uint32_t value;
    const SambaTensorType *type = &sambaNestOutput(nest, output)->type;
    if (!sambaFrameOfOutput(nest, output, &frame) ||
        !sambaFrameEvaluate(nest, expansion, nest->yields[output], &frame, &value) ||
        sambaExpansionType(expansion, value)->dtype != type->dtype)
      return false;
    out_results[output] = sambaFrameFill(nest, expansion, value, &frame);
  }
  return true;
}

bool sambaNestElementwise(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results) {
  return !nest->reduces && evaluateOutputs(nest, expansion, out_results);
}

bool sambaNestSingle(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results) {
  for (uint32_t d = 0; d < nest->dim_count; ++d)
    if (nest->reduced[d] && nest->extents[d] != 1)
      return false;
  return nest->reduces && evaluateOutputs(nest, expansion, out_results);
}
