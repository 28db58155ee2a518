/* Reductions over dimensions. Floats are reduced in f32 and rounded once at the end, mean divides
 * the f32 sum; integers wrap. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/reduce/reduce_gradients.h"

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  bool reduced[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", x->dtype, call->operator->dtypes));
  SAMBA_RETURN_IF_ERROR(sambaReducedAxes(2, call, reduced));
  *out = sambaReducedType(x, reduced, sambaKeepsDims(call));
  return NULL;
}

static SambaStatus stages(const SambaOperatorCall *call, SambaStageGraph *graph,
                          const uint32_t *operands, const uint32_t *results, const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  const char *name = call->operator->name;
  bool reduced[SAMBA_MAX_RANK], any = false, mean = strcmp(name, "mean") == 0;

  SAMBA_RETURN_IF_ERROR(sambaReducedAxes(2, call, reduced));
  int64_t count = 1;
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    if (reduced[axis])
      any = true, count *= x->dims[axis];
  SambaDType accumulator = sambaAccumulatorDType(x->dtype);
  uint32_t sum = sambaStageIntermediateLike(graph, results[0], accumulator);
  if (mean && sum == results[0]) {
    int64_t shape[SAMBA_MAX_RANK];
    memcpy(shape, graph->tensors[sum].dims, sizeof shape);
    sum = sambaStageIntermediate(graph, accumulator, graph->tensors[sum].rank, shape);
  }

  SambaStageBuilder builder;
  uint32_t dims[SAMBA_MAX_RANK];
  uint16_t value = sambaStageBeginReduction(&builder, graph, name, layer, operands[0], reduced,
                                            sambaKeepsDims(call), sum, dims);
  SambaLaneOpcode opcode = (SambaLaneOpcode)call->operator->opcode;

  if (x->dtype == SAMBA_DTYPE_I1) /* the largest of booleans */
    opcode = opcode == SAMBA_LANE_REDUCE_MAX ? SAMBA_LANE_REDUCE_OR : SAMBA_LANE_REDUCE_AND;
  sambaStageEnd(&builder, any ? sambaLane1(&builder, opcode, value) : value);
  if (sum == results[0])
    return NULL;
  sambaStageBeginElementwise(&builder, graph, name, layer, results[0]);
  value = sambaStageBroadcastOperand(&builder, sum);
  if (mean)
    value = sambaLane2(&builder, SAMBA_LANE_DIV, value, sambaLaneFloat(&builder, (double)count));
  sambaStageEndRounded(&builder, value);

  return NULL;
}

#define REDUCTION                                                                                  \
  .computes = "Over the dimensions `dim`, which disappear, or with keepdim become 1.",             \
  .operands = {"input"},                                                                           \
  .attributes = {OPTIONAL(INTS, "dim", "the dimensions; absent or empty: all"),                    \
                 BOOL("keepdim", false, "reduced dimensions become 1")},                           \
  .constraints = {"the operand's dtype is one that the operation is defined for",                  \
                  "dim names dimensions of the operand, each once, negative from the end"},        \
  .builder = SAMBA_BUILDER_ALL, .infer = infer, .stages = stages

const SambaOperator sambaReductionOperators[] = {
    {.name = "sum",
     .summary = "sum of the elements",
     .example = "%y = samba.sum %x {dim = [1], keepdim = true} : tensor<2x3x4xf32>",
     .dtypes = SAMBA_SET_NUMBER,
     .opcode = SAMBA_LANE_REDUCE_ADD,
     .differentiate = sambaGradientSum,
     REDUCTION},
    {.name = "mean",
     .summary = "arithmetic mean of the elements",
     .example = "%y = samba.mean %x {dim = [1], keepdim = true} : tensor<2x3x4xf32>",
     .dtypes = SAMBA_SET_FLOAT,
     .opcode = SAMBA_LANE_REDUCE_ADD,
     .differentiate = sambaGradientMean,
     REDUCTION},
    {.name = "amax",
     .summary = "largest element (a NaN wins)",
     .example = "%y = samba.amax %x {dim = [1], keepdim = true} : tensor<2x3x4xf32>",
     .dtypes = SAMBA_SET_ANY,
     .opcode = SAMBA_LANE_REDUCE_MAX,
     .differentiate = sambaGradientExtreme,
     REDUCTION},
    {.name = "amin",
     .summary = "smallest element (a NaN wins)",
     .example = "%y = samba.amin %x {dim = [1], keepdim = true} : tensor<2x3x4xf32>",
     .dtypes = SAMBA_SET_ANY,
     .opcode = SAMBA_LANE_REDUCE_MIN,
     .differentiate = sambaGradientExtreme,
     REDUCTION},
    {.name = "prod",
     .summary = "product of the elements",
     .example = "%y = samba.prod %x {dim = [1], keepdim = true} : tensor<2x3x4xf32>",
     .dtypes = SAMBA_SET_NUMBER,
     .opcode = SAMBA_LANE_REDUCE_MUL,
     .differentiate = sambaGradientProd,
     REDUCTION},
    {0}};
