/* Matrix products: linear and matmul.
 *
 * Numerics: products are accumulated in f32, k ascending; the bias is a separate rounded addition,
 * then one conversion. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/product/product_gradients.h"

static SambaStatus inferLinear(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *w = &call->operands[1];

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_NUMBER));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(2, "the weight", w->dtype, "the input", x->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "the input", x, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "the weight", w, 2, 2));
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(3, "the weight", w, 1, x->dims[x->rank - 1]));
  *out = *x;
  out->dims[x->rank - 1] = w->dims[0];
  SAMBA_RETURN_IF_ERROR(sambaCheckOutDType(5, call, &out->dtype));
  if (call->operand_count == 3) {
    const SambaTensorType *b = &call->operands[2];
    SAMBA_RETURN_IF_ERROR(sambaCheckShape(4, "the bias", b, 1, &w->dims[0]));
    SAMBA_RETURN_IF_ERROR(
        sambaCheckDType(4, "the bias", b->dtype, 1u << x->dtype | 1u << out->dtype));
  }

  return NULL;
}

/* result = accumulated + bias (along output axis `axis`; the last by default), converted. */
static void finish(SambaStageGraph *graph, const char *name, const char *layer,
                   uint32_t accumulated, bool has_bias, uint32_t bias, uint32_t result) {
  if (!has_bias) {
    sambaStageConvert(graph, name, layer, accumulated, result);
    return;
  }
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, name, layer, result);
  uint16_t sum = sambaStageBroadcastOperand(&builder, accumulated);
  uint16_t addend = sambaStageBroadcastOperand(&builder, bias);
  sum = sambaLane2(&builder, SAMBA_LANE_ADD, sum, addend);
  sambaStageEndRounded(&builder, sambaLaneCast(&builder, sum, graph->tensors[result].dtype));
}

static SambaStatus stagesLinear(const SambaOperatorCall *call, SambaStageGraph *graph,
                                const uint32_t *operands, const uint32_t *results,
                                const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *w = &call->operands[1];
  const char *name = call->operator->name;
  bool has_bias = call->operand_count == 3;
  SambaDType accumulator = sambaAccumulatorDType(x->dtype);
  int64_t shape[SAMBA_MAX_RANK];

  memcpy(shape, graph->tensors[results[0]].dims, sizeof shape);
  uint32_t product = !has_bias && graph->tensors[results[0]].dtype == accumulator
                         ? results[0]
                         : sambaStageIntermediate(graph, accumulator, x->rank, shape);
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, name, layer, product);
  uint32_t k = sambaStageDim(&builder, w->dims[1], true);
  uint32_t dims[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    dims[axis] = axis + 1 < x->rank ? axis : k;
  uint16_t left = sambaStageMappedOperand(&builder, operands[0], dims);
  uint16_t right = sambaStageMappedOperand(&builder, operands[1], (uint32_t[]){x->rank - 1, k});
  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_MAC, left, right));
  finish(graph, name, layer, product, has_bias, has_bias ? operands[2] : 0, results[0]);

  return NULL;
}

static SambaStatus inferMatmul(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *a = &call->operands[0];
  const SambaTensorType *b = &call->operands[1];

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", a->dtype, SAMBA_SET_NUMBER));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(2, "operand 1", b->dtype, "operand 0", a->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "operand 0", a, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "operand 1", b, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckDim(3, "operand 1", b, b->rank == 1 ? 0 : b->rank - 2, a->dims[a->rank - 1]));
  SambaTensorType left = *a;
  SambaTensorType right = *b;
  left.rank = a->rank < 2 ? 0 : a->rank - 2;
  right.rank = b->rank < 2 ? 0 : b->rank - 2;
  SAMBA_RETURN_IF_ERROR(sambaCheckBroadcast(4, &left, &right, out));
  if (a->rank > 1)
    out->dims[out->rank++] = a->dims[a->rank - 2];
  if (b->rank > 1)
    out->dims[out->rank++] = b->dims[b->rank - 1];
  return sambaCheckOutDType(5, call, &out->dtype);
}

/* The axes of one operand before its matrix, aligned with the last batch dimensions. */
static void mapBatch(SambaStageBuilder *builder, uint16_t operand, const SambaTensorType *type,
                     uint32_t batch) {
  for (uint32_t axis = 0; axis + 2 < type->rank; ++axis) {
    uint32_t dim = axis + batch - (type->rank - 2);
    if (type->dims[axis] == builder->stage.extents[dim])
      sambaStageAxis(builder, operand, axis)->coefficients[dim] = 1;
  }
}

static SambaStatus stagesMatmul(const SambaOperatorCall *call, SambaStageGraph *graph,
                                const uint32_t *operands, const uint32_t *results,
                                const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *y = &call->operands[1];
  const char *name = call->operator->name;
  SambaDType accumulator = sambaAccumulatorDType(x->dtype);
  uint32_t product = sambaStageIntermediateLike(graph, results[0], accumulator);
  uint32_t rank = graph->tensors[results[0]].rank;
  bool rows = x->rank > 1, columns = y->rank > 1;
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, graph, name, layer, product);
  uint32_t batch = rank - rows - columns;
  uint32_t k = sambaStageDim(&builder, x->dims[x->rank - 1], true);
  uint16_t left = sambaStageOperand(&builder, operands[0]);
  mapBatch(&builder, left, x, batch);
  if (rows)
    sambaStageAxis(&builder, left, x->rank - 2)->coefficients[batch] = 1;
  sambaStageAxis(&builder, left, x->rank - 1)->coefficients[k] = 1;
  uint16_t right = sambaStageOperand(&builder, operands[1]);
  mapBatch(&builder, right, y, batch);
  sambaStageAxis(&builder, right, columns ? y->rank - 2 : 0)->coefficients[k] = 1;
  if (columns)
    sambaStageAxis(&builder, right, y->rank - 1)->coefficients[rank - 1] = 1;
  sambaStageEnd(&builder, sambaLane2(&builder, SAMBA_LANE_MAC, left, right));
  finish(graph, name, layer, product, false, 0, results[0]);

  return NULL;
}

const SambaOperator sambaContractionOperators[] = {
    {.name = "linear",
     .summary = "x * transpose(w) + b",
     .computes = "result[.., o] = sum over k of x[.., k] * w[o, k], accumulated in f32 with k "
                 "ascending; then + b[o], a rounded addition of its own; then one conversion.",
     .operands = {"input", "weight", "bias?"},
     .attributes = {OPTIONAL(DTYPE, "out_dtype", "absent: the operands' dtype")},
     .constraints =
         {"x has a number dtype", "w has x's dtype",
          "x has rank 1 or more, w rank 2, both with the same K",
          "b is [O], in the operands' or the result's dtype",
          "out_dtype is the operands' dtype or the accumulator's (f32; i32 or i64 for integers)"},
     .example = "%y = samba.linear %x, %w, %b {out_dtype = f32} : tensor<5x8xbf16>, "
                "tensor<4x8xbf16>, tensor<4xf32>",
     .source = "torch.nn.functional.linear",
     .builder = SAMBA_BUILDER_OPERANDS,
     .contraction = true,
     .dtypes = SAMBA_SET_NUMBER,
     .infer = inferLinear,
     .differentiate = sambaGradientLinear,
     .stages = stagesLinear},
    {.name = "matmul",
     .summary = "matrix product, batched over the leading dimensions",
     .computes = "result[.., m, n] = sum over k of a[.., m, k] * b[.., k, n], accumulated as in "
                 "samba.linear. Leading dimensions broadcast. An operand of rank 1 is one row (a) "
                 "or one column (b), which the result leaves out.",
     .operands = {"lhs", "rhs"},
     .attributes = {OPTIONAL(DTYPE, "out_dtype", "absent: the operands' dtype")},
     .constraints = {"a has a number dtype", "b has it too", "the ranks are 1 or more and K agrees",
                     "the dimensions before broadcast", "out_dtype as for samba.linear"},
     .example = "%y = samba.matmul %a, %b : tensor<2x5x8xf32>, tensor<8x4xf32>",
     .builder = SAMBA_BUILDER_OPERANDS,
     .contraction = true,
     .dtypes = SAMBA_SET_NUMBER,
     .infer = inferMatmul,
     .differentiate = sambaGradientMatmul,
     .stages = stagesMatmul},
    {0}};
