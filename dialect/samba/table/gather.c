/* Operators that choose and join: cat, embedding, index_select.
 *
 * cat: (C1) all operands have one dtype; (C2) one rank of 1 or more; (C3) dim names a dimension; (C4) all other
 * dimensions agree. embedding weight[V, ..], indices[..]: (C1) indices are i32 or i64; (C2) weight has rank 1 or more;
 * (C3) the result's rank is at most 8. index_select x, indices[K]: (C1) indices are i32 or i64; (C2) of rank 1; (C3)
 * dim names a dimension. Negative indices count from the end; others out of range are a fault when the section runs. */
#include "dialect/samba/table/indexing.h"

#include <stdio.h>

static SambaStatus inferCat(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *first = &call->operands[0];
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", first, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxis(3, "dim", sambaOperatorCallInt(call, "dim", 0), first->rank, &axis));
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

/* One copy per operand, each into its part of the result. */
static SambaStatus stagesCat(const SambaOperatorCall *call, SambaStageGraph *graph, const uint32_t *operands,
                             const uint32_t *results, const char *layer) {
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckAxis(3, "dim", sambaOperatorCallInt(call, "dim", 0), call->operands[0].rank, &axis));
  int64_t offset = 0;
  for (uint32_t i = 0; i < call->operand_count; ++i) {
    const SambaTensorType *x = &call->operands[i];
    SambaStageBuilder b;
    sambaStageBegin(&b, graph, call->operator_->name, layer, results[0]);
    uint32_t dims[SAMBA_MAX_RANK];
    for (uint32_t d = 0; d < x->rank; ++d)
      b.stage.output.axes[d].coefficients[dims[d] = sambaStageDim(&b, x->dims[d], false)] = 1;
    b.stage.output.axes[axis].constant = offset;
    sambaStageEnd(&b, sambaStageMappedOperand(&b, operands[i], dims));
    offset += x->dims[axis];
  }
  return NULL;
}

static const SambaAttributeRow dimAttributes[] = {{"dim", SAMBA_ATTRIBUTE_INT, true, "negative: from the end"}, {0}};
const SambaOperatorRow sambaOperatorRow_cat = {.operator_ = {.name = "cat",
                                                             .minimum_operands = 1,
                                                             .maximum_operands = UINT32_MAX,
                                                             .attributes = dimAttributes,
                                                             .result_count = 1,
                                                             .infer = inferCat,
                                                             .stages = stagesCat},
                                               .dtypes = SAMBA_SET_ANY};

static SambaStatus inferEmbedding(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *weight = &call->operands[0], *indices = &call->operands[1];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the indices", indices->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the weight", weight, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "the indices", indices, 0, SAMBA_MAX_RANK + 1 - weight->rank));
  *out = *indices;
  out->dtype = weight->dtype;
  for (uint32_t d = 1; d < weight->rank; ++d)
    out->dims[out->rank++] = weight->dims[d];
  return NULL;
}

static SambaStatus stagesEmbedding(const SambaOperatorCall *call, SambaStageGraph *graph, const uint32_t *operands,
                                   const uint32_t *results, const char *layer) {
  const SambaTensorType *weight = &call->operands[0], *indices = &call->operands[1];
  uint32_t wrapped = sambaStageWrapIndices(graph, call->operator_->name, layer, operands[1], weight->dims[0]);
  SambaStageBuilder b;
  sambaStageBeginElementwise(&b, graph, call->operator_->name, layer, results[0]);
  uint16_t row = sambaStageOperand(&b, operands[0]), index = sambaStageOperand(&b, wrapped);
  for (uint32_t d = 0; d < indices->rank; ++d)
    sambaStageAxis(&b, index, d)->coefficients[d] = 1;
  for (uint32_t d = 1; d < weight->rank; ++d)
    sambaStageAxis(&b, row, d)->coefficients[indices->rank + d - 1] = 1;
  b.stage.operands[row].index_operand = index;
  b.stage.operands[row].index_axis = 0;
  sambaStageEnd(&b, row);
  return NULL;
}

const SambaOperatorRow sambaOperatorRow_embedding = {.operator_ = {.name = "embedding",
                                                                   .minimum_operands = 2,
                                                                   .maximum_operands = 2,
                                                                   .attributes = sambaNoAttributes,
                                                                   .result_count = 1,
                                                                   .infer = inferEmbedding,
                                                                   .stages = stagesEmbedding},
                                                     .dtypes = SAMBA_SET_ANY};

static SambaStatus inferIndexSelect(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0], *indices = &call->operands[1];
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the indices", indices->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the indices", indices, 1, 1));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxis(3, "dim", sambaOperatorCallInt(call, "dim", 0), x->rank, &axis));
  *out = *x;
  out->dims[axis] = indices->dims[0];
  return NULL;
}

static SambaStatus stagesIndexSelect(const SambaOperatorCall *call, SambaStageGraph *graph, const uint32_t *operands,
                                     const uint32_t *results, const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckAxis(3, "dim", sambaOperatorCallInt(call, "dim", 0), x->rank, &axis));
  uint32_t wrapped = sambaStageWrapIndices(graph, call->operator_->name, layer, operands[1], x->dims[axis]);
  SambaStageBuilder b;
  sambaStageBeginElementwise(&b, graph, call->operator_->name, layer, results[0]);
  uint16_t value = sambaStageOperand(&b, operands[0]), index = sambaStageOperand(&b, wrapped);
  for (uint32_t d = 0; d < x->rank; ++d)
    if (d != axis)
      sambaStageAxis(&b, value, d)->coefficients[d] = 1;
  sambaStageAxis(&b, index, 0)->coefficients[axis] = 1;
  b.stage.operands[value].index_operand = index;
  b.stage.operands[value].index_axis = axis;
  sambaStageEnd(&b, value);
  return NULL;
}

const SambaOperatorRow sambaOperatorRow_index_select = {.operator_ = {.name = "index_select",
                                                                      .minimum_operands = 2,
                                                                      .maximum_operands = 2,
                                                                      .attributes = dimAttributes,
                                                                      .result_count = 1,
                                                                      .infer = inferIndexSelect,
                                                                      .stages = stagesIndexSelect},
                                                        .dtypes = SAMBA_SET_ANY};
