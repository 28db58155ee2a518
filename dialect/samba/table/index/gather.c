/* Gathers of elements: gather, gather_nd, reverse_sequence. Indices are i32 or i64; negative ones
 * count from the end, others out of range are a fault when the section runs. */
#include "dialect/samba/table/index/index_gradients.h"
#include "dialect/samba/table/index/indexing.h"

/* --- gather --- */

static SambaStatus inferGather(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *index = &call->operands[1];
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the index", index->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", x, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the index", index, x->rank, x->rank));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(3, call, "dim", x->rank, &axis));
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

  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(3, call, "dim", x->rank, &axis));
  uint32_t wrapped =
      sambaStageWrapIndices(graph, call->operator->name, layer, operands[1], x->dims[axis]);
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  uint16_t value = sambaStageOperand(&builder, operands[0]);
  uint16_t index = sambaStageBroadcastOperand(&builder, wrapped);
  for (uint32_t d = 0; d < x->rank; ++d)
    if (d != axis)
      sambaStageAxis(&builder, value, d)->coefficients[d] = 1;
  builder.stage.operands[value].index_operand = index;
  builder.stage.operands[value].index_axis = axis;
  sambaStageEnd(&builder, value);

  return NULL;
}

/* --- gather_nd --- */

static SambaStatus batchDims(const SambaOperatorCall *call, uint32_t *out_batch) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];
  int64_t batch = sambaOperatorCallInt(call, "batch_dims");
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
static SambaStatus decomposeGatherNd(const SambaOperatorCall *call, SambaExpansion *expansion,
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
  uint32_t flat = sambaExpandRavel(expansion, operands[1], tuple, &x->dims[batch], -1, 0);
  out_results[0] = sambaExpandTake(
      expansion, sambaExpandReshape(expansion, operands[0], rank + 1, dims), flat, batch, batch);
  return NULL;
}

/* --- reverse_sequence --- */

static SambaStatus sequenceAxes(const SambaOperatorCall *call, uint32_t *out_time,
                                uint32_t *out_batch) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *lengths = &call->operands[1];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the lengths", lengths->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "time_axis", x->rank, out_time));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "batch_axis", x->rank, out_batch));
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
static SambaStatus decomposeReverseSequence(const SambaOperatorCall *call,
                                            SambaExpansion *expansion, const uint32_t *operands,
                                            uint32_t *out_results) {
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
  uint32_t steps = sambaExpandCounted(expansion, call->operands[1].dtype, x->dims[time]);
  uint32_t lengths = sambaExpandReshape(expansion, operands[1], 2, column);
  uint32_t last = sambaExpandWithNumber(expansion, "sub", lengths, 1);
  uint32_t choice[] = {sambaExpandBinary(expansion, "lt", steps, lengths),
                       sambaExpandBinary(expansion, "sub", last, steps), steps};
  uint32_t table = sambaExpandCall(expansion, "where", 3, choice, 0, NULL);
  uint32_t moved = sambaExpandPermute(expansion, operands[0], order);
  out_results[0] =
      sambaExpandPermute(expansion, sambaExpandTake(expansion, moved, table, 1, 1), back);

  return NULL;
}

const SambaOperator sambaGatherOperators[] = {
    {.name = "gather",
     .summary = "one element per index, along dim",
     .computes = "result[i, j, k] = x[i, index[i, j, k], k], here for dim = 1 of 3.",
     .operands = {"input", "index"},
     .attributes = {REQUIRED(INT, "dim", "negative: from the end")},
     .constraints = {"the index is i32 or i64", "of x's rank, 1 or more", "dim names a dimension",
                     "the other dimensions of the index are at most x's"},
     .example = "%y = samba.gather %x, %i {dim = 1} : tensor<2x5xf32>, tensor<2x3xi64>",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferGather,
     .differentiate = sambaGradientGather,
     .stages = stagesGather},
    {.name = "gather_nd",
     .summary = "slices of x, one per tuple of indices",
     .computes = "result[b.., i.., r..] = x[b.., indices[b.., i.., 0], .., indices[b.., i.., q - "
                 "1], r..]. Composite.",
     .operands = {"input", "indices"},
     .attributes = {INT("batch_dims", 0, "leading dimensions that both have")},
     .constraints = {"indices are i32 or i64",
                     "of rank batch_dims + 1 or more, and the first batch_dims dimensions are x's",
                     "q is 1 to x's rank - batch_dims", "the result's rank is at most 8"},
     .example = "%y = samba.gather_nd %x, %i : tensor<2x5x4xf32>, tensor<3x2xi64>",
     .source = "ONNX GatherND; torch.Tensor.__getitem__",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferGatherNd,
     .decompose = decomposeGatherNd},
    {.name = "reverse_sequence",
     .summary = "the first lengths[b] elements along time_axis reversed, for each b of batch_axis",
     .computes = "Along time_axis element t of batch entry b is x's element lengths[b] - 1 - t "
                 "while t < lengths[b], else t. Composite.",
     .operands = {"input", "lengths"},
     .attributes = {REQUIRED(INT, "time_axis", "what is reversed"),
                    REQUIRED(INT, "batch_axis", "what has lengths")},
     .constraints = {"lengths are i32 or i64", "time_axis and batch_axis name two dimensions",
                     "lengths is [size of batch_axis]"},
     .example = "%y = samba.reverse_sequence %x, %n {time_axis = 0, batch_axis = 1} : "
                "tensor<4x2x3xf32>, tensor<2xi64>",
     .source = "ONNX ReverseSequence; tf.reverse_sequence",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_ANY,
     .infer = inferReverseSequence,
     .decompose = decomposeReverseSequence},
    {0}};
