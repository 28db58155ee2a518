/* cat: operands side by side. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/shape/view_gradients.h"

#include <stdio.h>

static SambaStatus inferCat(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *first = &call->operands[0];
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", first, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(3, call, "dim", first->rank, &axis));
  *out = *first;

  for (uint32_t i = 1; i < call->operand_count; ++i) {
    const SambaTensorType *next = &call->operands[i];
    char what[32];
    snprintf(what, sizeof what, "operand %u", i);
    SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(1, what, next->dtype, "operand 0", first->dtype));
    SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, what, next, first->rank, first->rank));
    for (uint32_t d = 0; d < first->rank; ++d)
      if (d != axis)
        SAMBA_RETURN_IF_ERROR(sambaCheckDim(4, what, next, d, first->dims[d]));
    if (sambaAddOverflows(out->dims[axis], next->dims[axis], &out->dims[axis]))
      out->dims[axis] = INT64_MAX; /* refused with the result's size */
  }

  return NULL;
}

/* One copy per operand, each into its part of the result. What lies there already is not moved. */
static SambaStatus stagesCat(const SambaOperatorCall *call, SambaStageGraph *graph,
                             const uint32_t *operands, const uint32_t *results, const char *layer) {
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(3, call, "dim", call->operands[0].rank, &axis));
  bool in_place = sambaOperatorCallInt(call, "in_place") && call->operand_count > 1;
  int64_t offset = in_place ? call->operands[0].dims[axis] : 0;

  for (uint32_t i = in_place ? 1 : 0; i < call->operand_count; ++i) {
    const SambaTensorType *x = &call->operands[i];
    SambaStageBuilder builder;
    sambaStageBegin(&builder, graph, call->operator->name, layer, results[0]);
    uint32_t dims[SAMBA_MAX_RANK];
    for (uint32_t d = 0; d < x->rank; ++d)
      builder.stage.output.axes[d]
          .coefficients[dims[d] = sambaStageDim(&builder, x->dims[d], false)] = 1;
    builder.stage.output.axes[axis].constant = offset;
    sambaStageEnd(&builder, sambaStageMappedOperand(&builder, operands[i], dims));
    offset += x->dims[axis];
  }

  return NULL;
}

const SambaOperator sambaCatOperators[] = {
    {.name = "cat",
     .summary = "tensors one after the other along dim",
     .computes = "The operands one after the other along `dim`.",
     .operands = {"inputs*"},
     .attributes = {REQUIRED(INT, "dim", "negative: from the end"),
                    BOOL("in_place", false,
                         "the first operand lies where the front of the result does")},
     .constraints = {"all operands have one dtype", "one rank of 1 or more",
                     "dim names a dimension", "all other dimensions agree"},
     .example = "%y = samba.cat %a, %b {dim = 1} : tensor<2x3xf32>, tensor<2x4xf32>",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferCat,
     .differentiate = sambaGradientCat,
     .stages = stagesCat},
    {0}};
