/* Slices along one dimension, chosen by indices: take, embedding, index_select. Indices are i32 or
 * i64; negative ones count from the end, others out of range are a fault when the section runs. */
#include "dialect/samba/table/index/index_gradients.h"
#include "dialect/samba/table/index/indexing.h"

typedef struct Take {
  uint32_t dim, batch, inner; /* inner: the indices' dimensions that stand in place of dim */
} Take;

static SambaStatus takeOf(const SambaOperatorCall *call, Take *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the indices", indices->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", x->rank, &out->dim));
  int64_t batch = sambaOperatorCallInt(call, "batch_dims");
  if (batch < 0 || batch > out->dim || batch > indices->rank)
    return sambaStatusMake(
        SAMBA_INVALID,
        "(C2) attribute 'batch_dims' is %lld, but dim is %u and the indices' rank %u",
        (long long)batch, out->dim, indices->rank);
  out->batch = (uint32_t)batch;
  out->inner = indices->rank - out->batch;
  for (uint32_t d = 0; d < out->batch; ++d)
    SAMBA_RETURN_IF_ERROR(sambaCheckDim(3, "the indices", indices, d, x->dims[d]));
  return sambaCheckRank(4, "the indices", indices, 0, SAMBA_MAX_RANK + 1 + out->batch - x->rank);
}

static SambaStatus inferTake(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];
  Take take;
  SAMBA_RETURN_IF_ERROR(takeOf(call, &take));
  out->dtype = x->dtype;
  for (uint32_t d = 0; d < take.dim; ++d)
    out->dims[out->rank++] = x->dims[d];
  for (uint32_t d = take.batch; d < indices->rank; ++d)
    out->dims[out->rank++] = indices->dims[d];
  for (uint32_t d = take.dim + 1; d < x->rank; ++d)
    out->dims[out->rank++] = x->dims[d];
  return NULL;
}

/* One slice per index. embedding and index_select, too, are this: their dim is absent (0) or given,
 * batch_dims absent. */
static SambaStatus stagesTake(const SambaOperatorCall *call, SambaStageGraph *graph,
                              const uint32_t *operands, const uint32_t *results,
                              const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];

  Take take;
  SAMBA_RETURN_IF_ERROR(takeOf(call, &take));
  uint32_t wrapped =
      sambaStageWrapIndices(graph, call->operator->name, layer, operands[1], x->dims[take.dim]);
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  uint16_t value = sambaStageOperand(&builder, operands[0]);
  uint16_t index = sambaStageOperand(&builder, wrapped);
  for (uint32_t d = 0; d < x->rank; ++d)
    if (d != take.dim)
      sambaStageAxis(&builder, value, d)->coefficients[d < take.dim ? d : d + take.inner - 1] = 1;
  for (uint32_t d = 0; d < indices->rank; ++d)
    sambaStageAxis(&builder, index, d)
        ->coefficients[d < take.batch ? d : d - take.batch + take.dim] = 1;
  builder.stage.operands[value].index_operand = index;
  builder.stage.operands[value].index_axis = take.dim;
  sambaStageEnd(&builder, value);

  return NULL;
}

/* --- embedding: take along dimension 0 --- */

static SambaStatus inferEmbedding(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *weight = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the indices", indices->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the weight", weight, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckRank(3, "the indices", indices, 0, SAMBA_MAX_RANK + 1 - weight->rank));
  *out = *indices;
  out->dtype = weight->dtype;
  for (uint32_t d = 1; d < weight->rank; ++d)
    out->dims[out->rank++] = weight->dims[d];
  return NULL;
}

/* --- index_select: take by a list --- */

static SambaStatus inferIndexSelect(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the indices", indices->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the indices", indices, 1, 1));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(3, call, "dim", x->rank, &axis));
  *out = *x;
  out->dims[axis] = indices->dims[0];
  return NULL;
}

const SambaOperator sambaTakeOperators[] = {
    {.name = "take",
     .summary = "slices of x along dim, in the shape of the indices",
     .computes =
         "result[o.., i.., r..] = x[o.., indices[b.., i..], r..]: the indices' dimensions stand in "
         "place of `dim`; the first `batch_dims` dimensions of x and of the indices are one.",
     .operands = {"input", "indices"},
     .attributes = {REQUIRED(INT, "dim", "negative: from the end"),
                    INT("batch_dims", 0, "leading dimensions that both have")},
     .constraints =
         {"indices are i32 or i64",
          "dim names a dimension, batch_dims is 0 or more, at most dim and the indices' rank",
          "the first batch_dims dimensions agree", "the result's rank is at most 8"},
     .example = "%y = samba.take %x, %i {dim = 1} : tensor<2x5x4xf32>, tensor<3x2xi64>",
     .source = "numpy.take, with batch dimensions as in tf.gather",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferTake,
     .differentiate = sambaGradientTake,
     .stages = stagesTake},
    {.name = "embedding",
     .summary = "rows of weight, one per index",
     .computes =
         "result[i.., ..] = weight[indices[i..], ..]; an index outside is a fault of the machine.",
     .operands = {"weight", "indices"},
     .constraints = {"indices are i32 or i64", "weight has rank 1 or more",
                     "the result's rank is at most 8"},
     .example = "%y = samba.embedding %w, %i : tensor<10x4xf32>, tensor<2x3xi64>",
     .source = "torch.nn.functional.embedding",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_ANY,
     .infer = inferEmbedding,
     .differentiate = sambaGradientTake,
     .stages = stagesTake},
    {.name = "index_select",
     .summary = "slices of x along dim, one per index",
     .computes = "The slices indices[0], indices[1], ... of x along `dim`.",
     .operands = {"input", "indices"},
     .attributes = {REQUIRED(INT, "dim", "negative: from the end")},
     .constraints = {"indices are i32 or i64", "of rank 1",
                     "dim names a dimension, negative from the end"},
     .example = "%y = samba.index_select %x, %i {dim = 1} : tensor<2x5xf32>, tensor<3xi64>",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_ANY,
     .infer = inferIndexSelect,
     .differentiate = sambaGradientTake,
     .stages = stagesTake},
    {0}};
