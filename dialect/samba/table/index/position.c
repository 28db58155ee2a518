/* Operators that compare positions: one_hot, triu, tril. A negative index of one_hot counts from
 * the end; one that is outside then names no class. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/index/index_gradients.h"

static SambaStatus oneHotAxis(const SambaOperatorCall *call, uint32_t *out_axis) {
  return sambaCheckAxisAttribute(2, call, "dim", call->operands[0].rank + 1, out_axis);
}

static SambaStatus inferOneHot(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *indices = &call->operands[0];
  int64_t classes = sambaOperatorCallInt(call, "num_classes");
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the indices", indices->dtype, SAMBA_SET_INTEGER));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the indices", indices, 0, SAMBA_MAX_RANK - 1));
  SAMBA_RETURN_IF_ERROR(oneHotAxis(call, &axis));
  if (classes < 1)
    return sambaStatusMake(SAMBA_INVALID, "(C3) num_classes is %lld, but must be 1 or more",
                           (long long)classes);
  if (call->operand_count == 2)
    SAMBA_RETURN_IF_ERROR(sambaCheckShape(4, "values", &call->operands[1], 1, (int64_t[]){2}));
  out->dtype = call->operand_count == 2 ? call->operands[1].dtype : SAMBA_DTYPE_I64;
  for (uint32_t d = 0; d <= indices->rank; ++d)
    out->dims[out->rank++] = d == axis ? classes : indices->dims[d - (d > axis)];
  return NULL;
}

static SambaStatus stagesOneHot(const SambaOperatorCall *call, SambaStageGraph *graph,
                                const uint32_t *operands, const uint32_t *results,
                                const char *layer) {
  const SambaTensorType *indices = &call->operands[0];
  int64_t classes = sambaOperatorCallInt(call, "num_classes");
  uint32_t axis, dims[SAMBA_MAX_RANK];

  SAMBA_RETURN_IF_ERROR(oneHotAxis(call, &axis));
  for (uint32_t d = 0; d < indices->rank; ++d)
    dims[d] = d + (d >= axis);
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  uint16_t index = sambaStageMappedOperand(&builder, operands[0], dims);
  uint16_t values[2];

  for (uint32_t i = 0; call->operand_count == 2 && i < 2; ++i) {
    values[i] = sambaStageOperand(&builder, operands[1]);
    sambaStageAxis(&builder, values[i], 0)->constant = i;
  }

  SambaDType lane = (SambaDType)builder.types[index];
  if (call->operand_count == 1)
    for (int i = 0; i < 2; ++i)
      values[i] = sambaLaneInteger(&builder, SAMBA_DTYPE_I64, i);
  uint16_t place = sambaLaneCounter(&builder, axis, lane);
  uint16_t back =
      sambaLane2(&builder, SAMBA_LANE_SUB, place, sambaLaneInteger(&builder, lane, classes));
  uint16_t here =
      sambaLane2(&builder, SAMBA_LANE_OR, sambaLane2(&builder, SAMBA_LANE_EQ, index, place),
                 sambaLane2(&builder, SAMBA_LANE_EQ, index, back));
  sambaStageEndRounded(&builder, sambaLaneSelect(&builder, here, values[1], values[0]));

  return NULL;
}

static SambaStatus inferTriangle(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(1, "the operand", &call->operands[0], 2, SAMBA_MAX_RANK));
  *out = call->operands[0];
  if (call->operand_count == 1)
    return NULL;
  const SambaTensorType *diagonal = &call->operands[1];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(2, "the diagonal", diagonal->dtype, SAMBA_SET_INDEX));
  if (sambaTensorTypeElements(diagonal) == 1)
    return NULL;
  char buffer[160];
  return sambaStatusMake(SAMBA_INVALID, "(C2) the diagonal is %s, but must have one element",
                         sambaTensorTypeFormat(diagonal, buffer));
}

static SambaStatus stagesTriangle(const SambaOperatorCall *call, SambaStageGraph *graph,
                                  const uint32_t *operands, const uint32_t *results,
                                  const char *layer) {
  uint32_t rank = call->operands[0].rank;
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  uint16_t x = sambaStageBroadcastOperand(&builder, operands[0]);
  uint16_t given = 0;
  if (call->operand_count == 2)
    given = sambaStageOperand(&builder, operands[1]);
  uint16_t k = sambaLaneInteger(&builder, SAMBA_DTYPE_I64, sambaOperatorCallInt(call, "diagonal"));
  if (call->operand_count == 2)
    k = sambaLane2(&builder, SAMBA_LANE_ADD, k, sambaLaneCast(&builder, given, SAMBA_DTYPE_I64));
  uint16_t offset =
      sambaLane2(&builder, SAMBA_LANE_SUB, sambaLaneCounter(&builder, rank - 1, SAMBA_DTYPE_I64),
                 sambaLaneCounter(&builder, rank - 2, SAMBA_DTYPE_I64));
  uint16_t kept = sambaLane2(&builder, (SambaLaneOpcode)call->operator->opcode, offset, k);
  sambaStageEndRounded(&builder,
                       sambaLaneSelect(&builder, kept, x, sambaLaneNumber(&builder, x, 0)));

  return NULL;
}

#define TRIANGLE                                                                                   \
  .operands = {"input", "diagonal_operand?"}, .attributes = {INT("diagonal", 0)},                  \
  .constraints = {"x has rank 2 or more", "the operand diagonal has one element, i32 or i64"},     \
  .dtypes = SAMBA_SET_ANY, .infer = inferTriangle, .stages = stagesTriangle

const SambaOperator sambaPositionOperators[] = {
    {.name = "one_hot",
     .summary = "1 where a new dimension's index is the element, else 0",
     .computes = "A dimension of size num_classes is put in at dim: there values[1] where its "
                 "index is the element or, for a negative element, the element + num_classes; "
                 "values[0] elsewhere. Without `values` i64 1 and 0.",
     .operands = {"indices", "values?"},
     .attributes = {REQUIRED(INT, "num_classes", "1 or more"), INT("dim", -1, "of the result")},
     .constraints =
         {"the indices are integers",
          "dim is a dimension of the result, negative from the end, whose rank is at most 8",
          "num_classes is 1 or more", "values is [2]"},
     .example =
         "%y = samba.one_hot %i, %v {num_classes = 5, dim = 0} : tensor<2x3xi64>, tensor<2xf32>",
     .source = "torch.nn.functional.one_hot, ONNX OneHot",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_INTEGER,
     .infer = inferOneHot,
     .no_gradient = true,
     .stages = stagesOneHot},
    {.name = "triu",
     .summary = "upper triangle of the last two dimensions, else 0",
     .computes = "x[.., i, j] where j - i >= k, else 0; k is the attribute diagonal plus, if there "
                 "is one, the operand.",
     .example = "%y = samba.triu %x {diagonal = 1} : tensor<2x3x4xf32>",
     .opcode = SAMBA_LANE_GE,
     .differentiate = sambaGradientTriangle,
     TRIANGLE},
    {.name = "tril",
     .summary = "lower triangle of the last two dimensions, else 0",
     .computes = "x[.., i, j] where j - i <= k, else 0; k is the attribute diagonal plus, if there "
                 "is one, the operand.",
     .example = "%y = samba.tril %x {diagonal = 1} : tensor<2x3x4xf32>",
     .opcode = SAMBA_LANE_LE,
     .differentiate = sambaGradientTriangle,
     TRIANGLE},
    {0}};
