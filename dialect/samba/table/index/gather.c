/* Gathers of elements: gather, gather_nd, reverse_sequence. Indices are i32 or i64; negative ones
 * count from the end, others out of range are a fault when the section runs.
 *
 * gather x, index: (C1) the index's dtype; (C2) x's rank, 1 or more; (C3) dim names a dimension;
 * (C4) the other dimensions of the index are at most x's. gather_nd x, indices[b.., i.., q]: (C1)
 * the indices' dtype; (C2) their rank is batch_dims + 1 or more, the first batch_dims dimensions
 * are x's; (C3) q is 1 to x's rank - batch_dims; (C4) the result's rank is at most 8.
 * reverse_sequence x, lengths: (C1) the lengths' dtype; (C2) time_axis and batch_axis name two
 * dimensions; (C3) lengths is [size of batch_axis]. */
#include "dialect/samba/table/index/indexing.h"

/* --- gather --- */

static SambaStatus inferGather(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *index = &call->operands[1];
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the index", index->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", x, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the index", index, x->rank, x->rank));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckAxis(3, "dim", sambaOperatorCallInt(call, "dim", 0), x->rank, &axis));
  SAMBA_RETURN_IF_ERROR(sambaCheckIndexFits(4, index, x, axis));
  *out = *index;
  out->dtype = x->dtype;
  return NULL;
}

static SambaStatus stagesGather(const SambaOperatorCall *call, SambaStageGraph *graph,
                                const uint32_t *operands, const uint32_t *results,
                                const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(
      sambaCheckAxis(3, "dim", sambaOperatorCallInt(call, "dim", 0), x->rank, &axis));
  uint32_t wrapped =
      sambaStageWrapIndices(graph, call->operator->name, layer, operands[1], x->dims[axis]);
  SambaStageBuilder b;
  sambaStageBeginElementwise(&b, graph, call->operator->name, layer, results[0]);
  uint16_t value = sambaStageOperand(&b, operands[0]);
  uint16_t index = sambaStageBroadcastOperand(&b, wrapped);
  for (uint32_t d = 0; d < x->rank; ++d)
    if (d != axis)
      sambaStageAxis(&b, value, d)->coefficients[d] = 1;
  b.stage.operands[value].index_operand = index;
  b.stage.operands[value].index_axis = axis;
  sambaStageEnd(&b, value);

  return NULL;
}

const SambaOperatorRow sambaOperatorRow_gather = {.operator = {.name = "gather",
                                                               .minimum_operands = 2,
                                                               .maximum_operands = 2,
                                                               .attributes = sambaDimAttributes,
                                                               .result_count = 1,
                                                               .infer = inferGather,
                                                               .stages = stagesGather},
                                                  .dtypes = SAMBA_SET_ANY};

/* --- gather_nd --- */

static SambaStatus batchDims(const SambaOperatorCall *call, uint32_t *out_batch) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];
  int64_t batch = sambaOperatorCallInt(call, "batch_dims", 0);
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the indices", indices->dtype, SAMBA_SET_INDEX));
  if (batch < 0 || batch >= indices->rank || batch >= x->rank)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C2) attribute 'batch_dims' is %lld, but the ranks are %u and %u",
                           (long long)batch, x->rank, indices->rank);
  *out_batch = (uint32_t)batch;
  for (uint32_t d = 0; d < *out_batch; ++d)
    SAMBA_RETURN_IF_ERROR(sambaCheckDim(2, "the indices", indices, d, x->dims[d]));
  return NULL;
}

static SambaStatus inferGatherNd(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];
  uint32_t batch;

  SAMBA_RETURN_IF_ERROR(batchDims(call, &batch));
  int64_t tuple = indices->dims[indices->rank - 1];
  if (tuple < 1 || tuple > x->rank - batch)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C3) the indices are tuples of %lld, but must be of 1 to %u",
                           (long long)tuple, x->rank - batch);
  uint32_t rest = x->rank - batch - (uint32_t)tuple;
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(4, "the indices", indices, 1, SAMBA_MAX_RANK + 1 - rest));
  *out = *indices;
  out->dtype = x->dtype;
  --out->rank;
  for (uint32_t d = x->rank - rest; d < x->rank; ++d)
    out->dims[out->rank++] = x->dims[d];
  return NULL;
}

/* The indexed dimensions become one. */
static SambaStatus decomposeGatherNd(const SambaOperatorCall *call, SambaExpansion *e,
                                     const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];
  uint32_t batch;
  uint32_t rank;
  uint32_t tuple = (uint32_t)indices->dims[indices->rank - 1];

  SAMBA_RETURN_IF_ERROR(batchDims(call, &batch));
  int64_t dims[SAMBA_MAX_RANK];
  memcpy(dims, x->dims, batch * sizeof *dims);
  dims[rank = batch] = 1;
  for (uint32_t d = batch; d < batch + tuple; ++d)
    dims[batch] *= x->dims[d];
  for (uint32_t d = batch + tuple; d < x->rank; ++d)
    dims[++rank] = x->dims[d];
  uint32_t flat = sambaExpandRavel(e, operands[1], tuple, &x->dims[batch], -1, 0);
  out_results[0] =
      sambaExpandTake(e, sambaExpandReshape(e, operands[0], rank + 1, dims), flat, batch, batch);
  return NULL;
}

static const SambaAttributeRow gatherNdAttributes[] = {
    {"batch_dims", SAMBA_ATTRIBUTE_INT, false, "leading dimensions that both have; default 0"},
    {0}};
const SambaOperatorRow sambaOperatorRow_gather_nd = {.operator = {.name = "gather_nd",
                                                                  .minimum_operands = 2,
                                                                  .maximum_operands = 2,
                                                                  .attributes = gatherNdAttributes,
                                                                  .result_count = 1,
                                                                  .infer = inferGatherNd,
                                                                  .decompose = decomposeGatherNd},
                                                     .dtypes = SAMBA_SET_ANY};

/* --- reverse_sequence --- */

static SambaStatus sequenceAxes(const SambaOperatorCall *call, uint32_t *out_time,
                                uint32_t *out_batch) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *lengths = &call->operands[1];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the lengths", lengths->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxis(2, "time_axis", sambaOperatorCallInt(call, "time_axis", 0),
                                       x->rank, out_time));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxis(2, "batch_axis", sambaOperatorCallInt(call, "batch_axis", 0),
                                       x->rank, out_batch));
  if (*out_time == *out_batch)
    return sambaStatusMake(SAMBA_INVALID, "(C2) time_axis and batch_axis are both dimension %u",
                           *out_time);
  return sambaCheckShape(3, "the lengths", lengths, 1, &x->dims[*out_batch]);
}

static SambaStatus inferReverseSequence(const SambaOperatorCall *call, SambaTensorType *out) {
  uint32_t time, batch;
  *out = call->operands[0];
  return sequenceAxes(call, &time, &batch);
}

/* With the batch dimension first and the time dimension second: take along it, by a table of
 * [batch, time]. */
static SambaStatus decomposeReverseSequence(const SambaOperatorCall *call, SambaExpansion *e,
                                            const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t time;
  uint32_t batch;
  uint32_t rank = x->rank;
  uint32_t count = 2;

  SAMBA_RETURN_IF_ERROR(sequenceAxes(call, &time, &batch));
  int64_t order[SAMBA_MAX_RANK] = {batch, time};
  int64_t back[SAMBA_MAX_RANK];
  int64_t column[2] = {x->dims[batch], 1};
  for (uint32_t d = 0; d < rank; ++d)
    if (d != time && d != batch)
      order[count++] = d;
  for (uint32_t d = 0; d < rank; ++d)
    back[order[d]] = d;
  uint32_t steps = sambaExpandCounted(e, call->operands[1].dtype, x->dims[time]);
  uint32_t lengths = sambaExpandReshape(e, operands[1], 2, column);
  uint32_t last = sambaExpandWithNumber(e, "sub", lengths, 1);
  uint32_t choice[] = {sambaExpandBinary(e, "lt", steps, lengths),
                       sambaExpandBinary(e, "sub", last, steps), steps};
  uint32_t table = sambaExpandCall(e, "where", 3, choice, 0, NULL);
  uint32_t moved = sambaExpandPermute(e, operands[0], order);
  out_results[0] = sambaExpandPermute(e, sambaExpandTake(e, moved, table, 1, 1), back);

  return NULL;
}

static const SambaAttributeRow sequenceAttributes[] = {
    {"time_axis", SAMBA_ATTRIBUTE_INT, true, "what is reversed"},
    {"batch_axis", SAMBA_ATTRIBUTE_INT, true, "what has lengths"},
    {0}};
const SambaOperatorRow sambaOperatorRow_reverse_sequence = {
    .operator = {.name = "reverse_sequence",
                 .minimum_operands = 2,
                 .maximum_operands = 2,
                 .attributes = sequenceAttributes,
                 .result_count = 1,
                 .infer = inferReverseSequence,
                 .decompose = decomposeReverseSequence},
    .dtypes = SAMBA_SET_ANY};
