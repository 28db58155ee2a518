/* cat: operands side by side; put_slice: one operand at its place. */
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

/* Operand number i from `start` of the result's axis on. */
static void storePart(const SambaOperatorCall *call, SambaStageGraph *graph, uint32_t i,
                      uint32_t operand, uint32_t axis, int64_t start, uint32_t result,
                      const char *layer) {
  const SambaTensorType *x = &call->operands[i];
  SambaStageBuilder builder;
  sambaStageBegin(&builder, graph, call->operator->name, layer, result);
  uint32_t dims[SAMBA_MAX_RANK];
  for (uint32_t d = 0; d < x->rank; ++d)
    builder.stage.output.axes[d]
        .coefficients[dims[d] = sambaStageDim(&builder, x->dims[d], false)] = 1;
  builder.stage.output.axes[axis].constant = start;
  sambaStageEnd(&builder, sambaStageMappedOperand(&builder, operand, dims));
}

/* One copy per operand, each into its part of the result. What lies there already is not moved. */
static SambaStatus stagesCat(const SambaOperatorCall *call, SambaStageGraph *graph,
                             const uint32_t *operands, const uint32_t *results, const char *layer) {
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(3, call, "dim", call->operands[0].rank, &axis));
  bool in_place = sambaOperatorCallInt(call, "in_place") && call->operand_count > 1;
  int64_t offset = in_place ? call->operands[0].dims[axis] : 0;

  for (uint32_t i = in_place ? 1 : 0; i < call->operand_count; ++i) {
    storePart(call, graph, i, operands[i], axis, offset, results[0], layer);
    offset += call->operands[i].dims[axis];
  }

  return NULL;
}

/* --- put_slice --- */

static SambaStatus inferPutSlice(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *part = &call->operands[0];
  int64_t start = sambaOperatorCallInt(call, "start");
  int64_t size = sambaOperatorCallInt(call, "size");
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(sambaCheckRank(1, "operand 0", part, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", part->rank, &axis));
  if (start < 0 || start > size || part->dims[axis] > size - start)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C3) operand 0 has %lld elements along dim, which do not fit from "
                           "start %lld into size %lld",
                           (long long)part->dims[axis], (long long)start, (long long)size);
  *out = *part;
  out->dims[axis] = size;
  if (call->operand_count == 1)
    return NULL;
  const SambaTensorType *base = &call->operands[1];
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(4, "the base", base, out->rank, out->dims));
  return sambaCheckSameDType(5, "the base", base->dtype, "operand 0", part->dtype);
}

/* Only the part is stored: the rest lies there already, or comes later. */
static SambaStatus stagesPutSlice(const SambaOperatorCall *call, SambaStageGraph *graph,
                                  const uint32_t *operands, const uint32_t *results,
                                  const char *layer) {
  const SambaTensorType *part = &call->operands[0];
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", part->rank, &axis));
  storePart(call, graph, 0, operands[0], axis, sambaOperatorCallInt(call, "start"), results[0],
            layer);
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
    {.name = "put_slice",
     .summary = "a part of a tensor, stored at its place",
     .computes = "result[.., start + i, ..] = part[.., i, ..] along `dim`, where the result has "
                 "`size` elements. The others are the base's, and only the part is stored: "
                 "samba-update-in-place lets the base lie where the result does. Without a base "
                 "they are memory that was never written, until another put_slice stores them.",
     .operands = {"part", "base?"},
     .puts_into = "base?",
     .attributes = {REQUIRED(INT, "dim", "negative: from the end"),
                    REQUIRED(INT, "start", "where the part begins"),
                    REQUIRED(INT, "size", "elements of the result along dim")},
     .constraints = {"the part has rank 1 or more", "dim names a dimension",
                     "the part lies within the result", "the base has the result's dimensions",
                     "and the part's dtype"},
     .example = "%y = samba.put_slice %x {dim = 0, start = 2, size = 6} : tensor<4x3xf32>",
     .source = "what samba-split-attention writes its result with",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferPutSlice,
     .no_gradient = true,
     .stages = stagesPutSlice},
    {0}};
