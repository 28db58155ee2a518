/* Where the largest or smallest element is: argmax, argmin, hardmax.
 *
 * A NaN comes before every number, -0 equals 0; of equal elements the first is taken, or with
 * select_last the last. Two reductions: the extreme value, then the smallest or largest index at
 * which it, or a NaN, stands. */
#include "dialect/samba/table/core/stage_builder.h"

typedef struct {
  bool reduced[SAMBA_MAX_RANK], least, last;
} Search;

static SambaStatus takeSearch(const SambaOperatorCall *call, Search *out_search) {
  const SambaTensorType *x = &call->operands[0];
  const SambaAttribute *dim = sambaOperatorCallFind(call, "dim");
  uint32_t axis;
  *out_search = (Search){.least = call->operator->opcode == SAMBA_LANE_REDUCE_MIN,
                         .last = sambaOperatorCallInt(call, "select_last") != 0};
  for (uint32_t d = 0; d < x->rank; ++d)
    out_search->reduced[d] = !dim;
  if (!dim)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaCheckAxis(2, "dim", dim->value.integer, x->rank, &axis));
  out_search->reduced[axis] = true;
  return NULL;
}

static SambaStatus inferIndex(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  Search search;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", x->dtype, call->operator->dtypes));
  SAMBA_RETURN_IF_ERROR(takeSearch(call, &search));
  *out = sambaReducedType(x, search.reduced, sambaKeepsDims(call));
  out->dtype = SAMBA_DTYPE_I64;
  return NULL;
}

/* The index of the element, into a tensor whose reduced dimensions are kept as 1 or are gone. */
static void searchStages(const SambaOperatorCall *call, SambaStageGraph *graph, uint32_t operand,
                         const char *layer, const Search *search, bool keepdim, uint32_t result) {
  const SambaTensorType *x = &call->operands[0];
  const char *name = call->operator->name;
  SambaTensorType kept = sambaReducedType(x, search->reduced, true);
  uint32_t extreme =
      sambaStageIntermediate(graph, sambaAccumulatorDType(x->dtype), kept.rank, kept.dims);
  uint32_t dims[SAMBA_MAX_RANK];
  SambaStageBuilder builder;
  uint16_t value = sambaStageBeginReduction(&builder, graph, name, layer, operand, search->reduced,
                                            true, extreme, dims);
  if (x->rank)
    value =
        sambaLane1(&builder, search->least ? SAMBA_LANE_REDUCE_MIN : SAMBA_LANE_REDUCE_MAX, value);
  sambaStageEnd(&builder, value);

  value = sambaStageBeginReduction(&builder, graph, name, layer, operand, search->reduced, keepdim,
                                   result, dims);
  uint16_t best = sambaStageOperand(&builder, extreme);
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    if (!search->reduced[axis])
      sambaStageAxis(&builder, best, axis)->coefficients[dims[axis]] = 1;
  uint16_t found = sambaLane2(&builder, SAMBA_LANE_EQ, value, best);
  if (sambaDTypeIsFloat(x->dtype)) /* a NaN is the extreme value, but equals nothing */
    found = sambaLane2(&builder, SAMBA_LANE_OR, found,
                       sambaLane2(&builder, SAMBA_LANE_NE, value, value));
  uint16_t index = 0;
  bool any = false;
  int64_t stride = 1;

  for (uint32_t axis = x->rank; axis-- > 0;) {
    if (!search->reduced[axis] || x->dims[axis] == 1)
      continue;
    uint16_t term = sambaLaneCounter(&builder, dims[axis], SAMBA_DTYPE_I64);
    if (any)
      term = sambaLane2(&builder, SAMBA_LANE_MUL, term,
                        sambaLaneNumber(&builder, term, (double)stride));
    index = any ? sambaLane2(&builder, SAMBA_LANE_ADD, index, term) : term;
    any = true;
    stride *= x->dims[axis];
  }

  if (!any)
    index = sambaLaneInteger(&builder, SAMBA_DTYPE_I64, 0);
  uint16_t outside = sambaLaneInteger(&builder, SAMBA_DTYPE_I64, search->last ? -1 : stride);
  index = sambaLaneSelect(&builder, found, index, outside);
  if (x->rank)
    index =
        sambaLane1(&builder, search->last ? SAMBA_LANE_REDUCE_MAX : SAMBA_LANE_REDUCE_MIN, index);
  sambaStageEnd(&builder, index);
}

static SambaStatus stagesIndex(const SambaOperatorCall *call, SambaStageGraph *graph,
                               const uint32_t *operands, const uint32_t *results,
                               const char *layer) {
  Search search;
  SAMBA_RETURN_IF_ERROR(takeSearch(call, &search));
  searchStages(call, graph, operands[0], layer, &search, sambaKeepsDims(call), results[0]);
  return NULL;
}

static SambaStatus inferHardmax(const SambaOperatorCall *call, SambaTensorType *out) {
  Search search;
  SAMBA_RETURN_IF_ERROR(
      sambaCheckDType(1, "the operand", call->operands[0].dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(takeSearch(call, &search));
  *out = call->operands[0];
  return NULL;
}

static SambaStatus stagesHardmax(const SambaOperatorCall *call, SambaStageGraph *graph,
                                 const uint32_t *operands, const uint32_t *results,
                                 const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  Search search;
  uint32_t axis = 0;

  SAMBA_RETURN_IF_ERROR(takeSearch(call, &search));
  SambaTensorType kept = sambaReducedType(x, search.reduced, true);
  while (!search.reduced[axis])
    ++axis;
  uint32_t indices = sambaStageIntermediate(graph, SAMBA_DTYPE_I64, kept.rank, kept.dims);
  searchStages(call, graph, operands[0], layer, &search, true, indices);
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  uint16_t index = sambaStageBroadcastOperand(&builder, indices);
  uint16_t here =
      sambaLane2(&builder, SAMBA_LANE_EQ, sambaLaneCounter(&builder, axis, SAMBA_DTYPE_I64), index);
  sambaStageEndRounded(&builder, sambaLaneSelect(&builder, here, sambaLaneFloat(&builder, 1),
                                                 sambaLaneFloat(&builder, 0)));

  return NULL;
}

#define SEARCH                                                                                     \
  .computes = "The i64 index along dim, or in row-major order without it. A NaN comes before all " \
              "numbers; of equal elements the first is taken, with select_last the last.",         \
  .operands = {"input"},                                                                           \
  .attributes = {OPTIONAL(INT, "dim", "absent: all dimensions as one"),                            \
                 BOOL("keepdim", false, "reduced dimensions become 1"),                            \
                 BOOL("select_last", false, "of equal elements the last")},                        \
  .constraints = {"the operand has a number dtype",                                                \
                  "dim names a dimension, negative from the end"},                                 \
  .dtypes = SAMBA_SET_NUMBER, .infer = inferIndex, .stages = stagesIndex

const SambaOperator sambaArgReductionOperators[] = {
    {.name = "argmax",
     .summary = "index of the largest element",
     .example = "%y = samba.argmax %x {dim = 1} : tensor<2x3x4xf32>",
     .opcode = SAMBA_LANE_REDUCE_MAX,
     .no_gradient = true,
     SEARCH},
    {.name = "argmin",
     .summary = "index of the smallest element",
     .example = "%y = samba.argmin %x {dim = 1} : tensor<2x3x4xf32>",
     .opcode = SAMBA_LANE_REDUCE_MIN,
     .no_gradient = true,
     SEARCH},
    {.name = "hardmax",
     .summary = "1 at the first of the largest elements along dim, else 0",
     .computes = "1 where samba.argmax along dim points to, 0 elsewhere.",
     .operands = {"input"},
     .attributes = {REQUIRED(INT, "dim", "negative: from the end")},
     .constraints = {"x has a float dtype", "dim names a dimension, negative from the end"},
     .example = "%y = samba.hardmax %x {dim = -1} : tensor<2x3xf32>",
     .source = "ONNX Hardmax",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .opcode = SAMBA_LANE_REDUCE_MAX,
     .infer = inferHardmax,
     .no_gradient = true,
     .stages = stagesHardmax},
    {0}};
