/* Scatters: what they are made of (scatter_rows, the indexed store; match_reduce), then scatter,
 * scatter_nd, max_unpool.
 *
 * A scatter appends the updates to the tensor's rows and stores all of them by index, in order:
 * rows first at their own places, so that of several with one place the last update stays. With a
 * reduction each update is first replaced by what its place becomes: the element there reduced with
 * all updates that have its index. */
#include "dialect/samba/table/index/index_gradients.h"
#include "dialect/samba/table/index/indexing.h"

#include <math.h>

/* In the order of the attributes' choices, of which match_reduce leaves out the first. */
typedef enum { REDUCE_NONE, REDUCE_ADD, REDUCE_MUL, REDUCE_MIN, REDUCE_MAX } Reduce;

static SambaStatus reduceOf(unsigned constraint, const SambaOperatorCall *call, Reduce first,
                            SambaDType dtype, Reduce *out_reduce) {
  uint32_t choice;
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(constraint, call, "reduce", &choice));
  *out_reduce = (Reduce)(first + choice);
  if (*out_reduce != REDUCE_ADD && *out_reduce != REDUCE_MUL)
    return NULL;
  return sambaCheckDType(constraint, "operand 0, which is added or multiplied,", dtype,
                         SAMBA_SET_NUMBER);
}

/* --- scatter_rows --- */

static SambaStatus inferScatterRows(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *index = &call->operands[1];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the index", index->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "operand 0", x, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, "the index", index, 1, x->dims));
  *out = *x;
  out->dims[0] = sambaOperatorCallInt(call, "size");
  return out->dims[0] >= 1 ? NULL
                           : sambaStatusMake(SAMBA_INVALID,
                                             "(C4) attribute 'size' is %lld, but must be 1 or more",
                                             (long long)out->dims[0]);
}

/* operands: x, and the places of its rows in the result. */
static void storeByIndex(const SambaOperatorCall *call, const SambaTensorType *x,
                         SambaStageGraph *graph, const uint32_t *operands, uint32_t result,
                         const char *layer) {
  SambaStageBuilder builder;
  uint32_t dims[SAMBA_MAX_RANK];

  sambaStageBegin(&builder, graph, call->operator->name, layer, result);
  for (uint32_t d = 0; d < x->rank; ++d)
    dims[d] = sambaStageDim(&builder, x->dims[d], false);
  uint16_t row = sambaStageMappedOperand(&builder, operands[0], dims);
  uint16_t index = sambaStageMappedOperand(&builder, operands[1], dims);
  for (uint32_t d = 1; d < x->rank; ++d)
    builder.stage.output.axes[d].coefficients[dims[d]] = 1;
  builder.stage.output.index_operand = index;
  builder.stage.output.index_axis = 0;
  sambaStageEnd(&builder, row);
}

static SambaStatus stagesScatterRows(const SambaOperatorCall *call, SambaStageGraph *graph,
                                     const uint32_t *operands, const uint32_t *results,
                                     const char *layer) {
  storeByIndex(call, &call->operands[0], graph, operands, results[0], layer);
  return NULL;
}

/* --- put_rows --- */

static SambaStatus inferPutRows(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *base = &call->operands[0];
  const SambaTensorType *rows = &call->operands[1];
  const SambaTensorType *index = &call->operands[2];
  SambaTensorType expected = *base;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the index", index->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", base, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(3, "the index", index, 1, rows->dims));
  expected.dims[0] = rows->rank ? rows->dims[0] : 0;
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(4, "operand 1", rows, base->rank, expected.dims));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(5, "operand 1", rows->dtype, "operand 0", base->dtype));
  *out = *base;
  return NULL;
}

/* Only the rows are stored: the others lie there already. */
static SambaStatus stagesPutRows(const SambaOperatorCall *call, SambaStageGraph *graph,
                                 const uint32_t *operands, const uint32_t *results,
                                 const char *layer) {
  storeByIndex(call, &call->operands[1], graph, operands + 1, results[0], layer);
  return NULL;
}

/* --- match_reduce --- */

static SambaStatus inferMatchReduce(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *base = &call->operands[0];
  const SambaTensorType *target = &call->operands[1];
  const SambaTensorType *index = &call->operands[2];
  const SambaTensorType *updates = &call->operands[3];

  Reduce reduce;
  SAMBA_RETURN_IF_ERROR(reduceOf(5, call, REDUCE_ADD, base->dtype, &reduce));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckSameDType(1, "operand 3", updates->dtype, "operand 0", base->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", base, 3, 3));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 3", updates, 3, 3));
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(3, "the target", target->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(
      sambaCheckSameDType(3, "the index", index->dtype, "the target", target->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(4, "the target", target, 2, base->dims));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(4, "the index", index, 2, updates->dims));
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(4, "operand 3", updates, 0, base->dims[0]));
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(4, "operand 3", updates, 2, base->dims[2]));
  *out = *base;

  return NULL;
}

static SambaLaneOpcode reductionOp(Reduce reduce, SambaDType dtype) {
  if (dtype == SAMBA_DTYPE_I1)
    return reduce == REDUCE_MIN ? SAMBA_LANE_REDUCE_AND : SAMBA_LANE_REDUCE_OR;
  switch (reduce) {
  case REDUCE_ADD:
    return SAMBA_LANE_REDUCE_ADD;
  case REDUCE_MUL:
    return SAMBA_LANE_REDUCE_MUL;
  case REDUCE_MIN:
    return SAMBA_LANE_REDUCE_MIN;
  default:
    return SAMBA_LANE_REDUCE_MAX;
  }
}

static double largestOf(SambaDType lane) {
  switch (lane) {
  case SAMBA_DTYPE_F32:
    return (double)INFINITY;
  case SAMBA_DTYPE_I64:
    return 9223372036854775807.0;
  case SAMBA_DTYPE_I1:
    return 1;
  default:
    return 2147483647.0;
  }
}
static double smallestOf(SambaDType lane) {
  if (lane == SAMBA_DTYPE_I1)
    return 0;
  return lane == SAMBA_DTYPE_F32 ? -(double)INFINITY : -largestOf(lane) - 1;
}

/* What changes nothing. */
static uint16_t neutral(SambaStageBuilder *builder, Reduce reduce, uint16_t like) {
  SambaDType lane = (SambaDType)builder->types[like];
  switch (reduce) {
  case REDUCE_ADD:
    return sambaLaneNumber(builder, like, 0);
  case REDUCE_MUL: /* of truth values, this is a sum */
    return sambaLaneNumber(builder, like, lane == SAMBA_DTYPE_I1 ? 0 : 1);
  case REDUCE_MIN:
    return sambaLaneNumber(builder, like, largestOf(lane));
  default:
    return sambaLaneNumber(builder, like, smallestOf(lane));
  }
}

/* The base is element 0 of the reduction, the updates follow. */
static SambaStatus stagesMatchReduce(const SambaOperatorCall *call, SambaStageGraph *graph,
                                     const uint32_t *operands, const uint32_t *results,
                                     const char *layer) {
  const SambaTensorType *base = &call->operands[0];
  const SambaTensorType *updates = &call->operands[3];

  Reduce reduce;
  SAMBA_RETURN_IF_ERROR(reduceOf(5, call, REDUCE_ADD, base->dtype, &reduce));
  uint32_t total =
      sambaStageIntermediateLike(graph, results[0], sambaAccumulatorDType(base->dtype));
  SambaStageBuilder builder;
  uint32_t dims[4];
  sambaStageBegin(&builder, graph, call->operator->name, layer, total);
  for (uint32_t d = 0; d < 3; ++d)
    builder.stage.output.axes[d]
        .coefficients[dims[d] = sambaStageDim(&builder, base->dims[d], false)] = 1;
  dims[3] = sambaStageDim(&builder, updates->dims[1] + 1, true);
  uint16_t start = sambaStageMappedOperand(&builder, operands[0], dims);
  uint16_t target = sambaStageMappedOperand(&builder, operands[1], dims);
  uint16_t index = sambaStageMappedOperand(&builder, operands[2], (uint32_t[]){dims[0], dims[3]});
  uint16_t update =
      sambaStageMappedOperand(&builder, operands[3], (uint32_t[]){dims[0], dims[3], dims[2]});
  sambaStageAxis(&builder, index, 1)->constant = sambaStageAxis(&builder, update, 1)->constant = -1;
  sambaStageGuard(&builder, index, 0);
  sambaStageGuard(&builder, update, 0);
  uint16_t step = sambaLaneCounter(&builder, dims[3], SAMBA_DTYPE_I64);
  uint16_t first = sambaLane2(&builder, SAMBA_LANE_EQ, step, sambaLaneNumber(&builder, step, 0));
  uint16_t matches = sambaLane2(&builder, SAMBA_LANE_EQ, index, target);
  uint16_t value = sambaLaneSelect(&builder, matches, update, neutral(&builder, reduce, update));
  value = sambaLaneSelect(&builder, first, start, value);
  value = sambaLane1(&builder, reductionOp(reduce, base->dtype), value);
  sambaStageEnd(&builder, value);
  sambaStageConvert(graph, call->operator->name, layer, total, results[0]);

  return NULL;
}

/* --- scatter, scatter_nd --- */

/* Comparisons of updates with each other, per element, that a reduction may cost. */
static const int64_t mostComparisons = (int64_t)1 << 37;

static SambaStatus checkComparisons(unsigned constraint, int64_t lines, int64_t updates,
                                    int64_t width) {
  int64_t cost;
  if (sambaMulOverflows(lines, updates, &cost) || sambaMulOverflows(cost, updates, &cost) ||
      sambaMulOverflows(cost, width, &cost) || cost > mostComparisons)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "(C%u) a reduction compares all %lld updates of a line with each other, "
                           "for %lld elements; that "
                           "is more than 2^37 steps",
                           constraint, (long long)updates, (long long)(lines * width));
  return NULL;
}

/* rows x[N, D] with updates[K, D] at places[N + K], of which the first N are 0, 1, .. */
static uint32_t storeRows(SambaExpansion *expansion, uint32_t x, uint32_t updates,
                          uint32_t places) {
  int64_t rows = sambaExpansionType(expansion, x)->dims[0];
  uint32_t pair[] = {sambaExpandCat(expansion, 2, (uint32_t[]){x, updates}, 0), places};
  SambaAttribute size = sambaIntAttribute("size", rows);
  return sambaExpandCall(expansion, "scatter_rows", 2, pair, 1, &size);
}

/* base[L, K, D] reduced with the updates of equal places[L, K], as the scatter says */
static uint32_t matchReduce(SambaExpansion *expansion, const SambaOperatorCall *scatter,
                            uint32_t base, uint32_t places, uint32_t updates) {
  uint32_t operands[] = {base, places, places, updates};
  return sambaExpandCall(expansion, "match_reduce", 4, operands, 1,
                         sambaOperatorCallFind(scatter, "reduce"));
}

static SambaStatus inferScatter(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *index = &call->operands[1];
  const SambaTensorType *src = &call->operands[2];
  uint32_t axis;

  Reduce reduce;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the index", index->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", x, 1, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the index", index, x->rank, x->rank));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, "operand 2", src, index->rank, index->dims));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(3, call, "dim", x->rank, &axis));
  SAMBA_RETURN_IF_ERROR(sambaCheckIndexFits(4, index, x, axis));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(5, "operand 2", src->dtype, "operand 0", x->dtype));
  SAMBA_RETURN_IF_ERROR(reduceOf(6, call, REDUCE_NONE, x->dtype, &reduce));
  *out = *x;
  int64_t lines = sambaTensorTypeElements(index) / index->dims[axis];

  return reduce == REDUCE_NONE ? NULL : checkComparisons(6, lines, index->dims[axis], 1);
}

/* What each place that is written becomes: lines along dim, reduced with what has their index. */
static uint32_t reduceLines(SambaExpansion *expansion, const SambaOperatorCall *call, uint32_t axis,
                            const uint32_t *operands) {
  const SambaTensorType *index = &call->operands[1];
  SambaAttribute dim = sambaIntAttribute("dim", axis);
  uint32_t base = sambaExpandCall(expansion, "gather", 2, operands, 1, &dim);
  uint32_t places =
      sambaExpandRavel(expansion, operands[1], index->rank, call->operands[0].dims, axis, 0);
  int64_t order[SAMBA_MAX_RANK], back[SAMBA_MAX_RANK], moved[SAMBA_MAX_RANK];
  uint32_t count = 0;

  for (uint32_t d = 0; d < index->rank; ++d)
    if (d != axis)
      order[count++] = d;
  order[count] = axis;
  for (uint32_t d = 0; d < index->rank; ++d)
    back[order[d]] = d, moved[d] = index->dims[order[d]];
  int64_t updates = index->dims[axis];
  int64_t lines = sambaTensorTypeElements(index) / updates;
  uint32_t parts[] = {base, places, operands[2]};
  for (uint32_t i = 0; i < 3; ++i)
    parts[i] = sambaExpandReshape(expansion, sambaExpandPermute(expansion, parts[i], order),
                                  i == 1 ? 2 : 3, (int64_t[]){lines, updates, 1});
  uint32_t totals = matchReduce(expansion, call, parts[0], parts[1], parts[2]);

  return sambaExpandPermute(expansion, sambaExpandReshape(expansion, totals, index->rank, moved),
                            back);
}

static SambaStatus decomposeScatter(const SambaOperatorCall *call, SambaExpansion *expansion,
                                    const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *index = &call->operands[1];
  uint32_t axis;
  uint32_t updates = operands[2];

  Reduce reduce;
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(3, call, "dim", x->rank, &axis));
  SAMBA_RETURN_IF_ERROR(reduceOf(6, call, REDUCE_NONE, x->dtype, &reduce));
  if (reduce != REDUCE_NONE)
    updates = reduceLines(expansion, call, axis, operands);
  int64_t elements = sambaTensorTypeElements(x);
  int64_t count = sambaTensorTypeElements(index);
  uint32_t places = sambaExpandRavel(expansion, operands[1], x->rank, x->dims, axis, elements);
  uint32_t stored = storeRows(expansion, sambaExpandReshape(expansion, operands[0], 1, &elements),
                              sambaExpandReshape(expansion, updates, 1, &count), places);
  out_results[0] = sambaExpandReshape(expansion, stored, x->rank, x->dims);

  return NULL;
}

static SambaStatus inferScatterNd(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];
  const SambaTensorType *updates = &call->operands[2];

  Reduce reduce;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the indices", indices->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the indices", indices, 1, SAMBA_MAX_RANK));
  int64_t tuple = indices->dims[indices->rank - 1];
  if (tuple > x->rank)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C2) the indices are tuples of %lld, but must be of 1 to %u",
                           (long long)tuple, x->rank);
  SambaTensorType expected = {.rank = indices->rank - 1};
  memcpy(expected.dims, indices->dims, sizeof expected.dims);

  for (uint32_t d = (uint32_t)tuple; d < x->rank; ++d) {
    if (expected.rank == SAMBA_MAX_RANK)
      return sambaStatusMake(SAMBA_INVALID, "(C3) the updates would have a rank of more than %d",
                             SAMBA_MAX_RANK);
    expected.dims[expected.rank++] = x->dims[d];
  }

  SAMBA_RETURN_IF_ERROR(sambaCheckShape(3, "operand 2", updates, expected.rank, expected.dims));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(4, "operand 2", updates->dtype, "operand 0", x->dtype));
  SAMBA_RETURN_IF_ERROR(reduceOf(5, call, REDUCE_NONE, x->dtype, &reduce));
  *out = *x;
  int64_t count = sambaTensorTypeElements(indices) / tuple;

  return reduce == REDUCE_NONE
             ? NULL
             : checkComparisons(5, 1, count, sambaTensorTypeElements(updates) / count);
}

static SambaStatus decomposeScatterNd(const SambaOperatorCall *call, SambaExpansion *expansion,
                                      const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];

  Reduce reduce;
  SAMBA_RETURN_IF_ERROR(reduceOf(5, call, REDUCE_NONE, x->dtype, &reduce));
  uint32_t tuple = (uint32_t)indices->dims[indices->rank - 1];
  uint32_t rank = x->rank == tuple ? 1 : 2;
  int64_t count = sambaTensorTypeElements(indices) / tuple;
  int64_t rows = 1;
  int64_t width = 1;
  for (uint32_t d = 0; d < x->rank; ++d)
    *(d < tuple ? &rows : &width) *= x->dims[d];
  uint32_t base = sambaExpandReshape(expansion, operands[0], rank, (int64_t[]){rows, width});
  uint32_t updates = sambaExpandReshape(expansion, operands[2], rank, (int64_t[]){count, width});
  if (reduce != REDUCE_NONE) {
    uint32_t places = sambaExpandReshape(
        expansion, sambaExpandRavel(expansion, operands[1], tuple, x->dims, -1, 0), 1, &count);
    uint32_t taken = sambaExpandTake(expansion, base, places, 0, 0);
    int64_t three[] = {1, count, width};
    uint32_t totals = matchReduce(expansion, call, sambaExpandReshape(expansion, taken, 3, three),
                                  sambaExpandReshape(expansion, places, 2, three),
                                  sambaExpandReshape(expansion, updates, 3, three));
    updates = sambaExpandReshape(expansion, totals, rank, &three[1]);
  }

  uint32_t places = sambaExpandRavel(expansion, operands[1], tuple, x->dims, -1, rows);
  out_results[0] =
      sambaExpandReshape(expansion, storeRows(expansion, base, updates, places), x->rank, x->dims);
  return NULL;
}

/* --- max_unpool --- */

static SambaStatus inferMaxUnpool(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *indices = &call->operands[1];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the indices", indices->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(1, "the indices", indices, x->rank, x->dims));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", x, 3, SAMBA_MAX_RANK));
  *out = *x;
  return sambaCheckInts(3, call, "output_size", x->rank - 2, 1, out->dims + 2);
}

static SambaStatus decomposeMaxUnpool(const SambaOperatorCall *call, SambaExpansion *expansion,
                                      const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  SambaTensorType result;
  SAMBA_RETURN_IF_ERROR(inferMaxUnpool(call, &result));
  int64_t planes = x->dims[0] * x->dims[1];
  int64_t from[] = {planes, sambaTensorTypeElements(x) / planes};
  int64_t to[] = {planes, sambaTensorTypeElements(&result) / planes};
  uint32_t zeros =
      sambaExpandBroadcast(expansion, sambaExpandScalar(expansion, x->dtype, 0), 2, to);
  uint32_t parts[] = {zeros, sambaExpandReshape(expansion, operands[1], 2, from),
                      sambaExpandReshape(expansion, operands[0], 2, from)};
  SambaAttribute dim = sambaIntAttribute("dim", 1);
  out_results[0] =
      sambaExpandReshape(expansion, sambaExpandCall(expansion, "scatter", 3, parts, 1, &dim),
                         result.rank, result.dims);
  return NULL;
}

const SambaOperator sambaScatterOperators[] = {
    {.name = "scatter_rows",
     .summary = "rows stored at the places that an index gives, in order",
     .computes =
         "result[index[r], ..] = x[r, ..] for r = 0, 1, .. in this order, so that of "
         "several rows with one index the last stays. The result has `size` rows; every row "
         "must be among the indices: a row that is not is memory that was never written.",
     .operands = {"input", "index"},
     .attributes = {REQUIRED(INT, "size", "rows of the result")},
     .constraints = {"the index is i32 or i64", "of rank 1, as long as x's dimension 0",
                     "x has rank 1 or more", "size is 1 or more"},
     .example = "%y = samba.scatter_rows %x, %i {size = 4} : tensor<6x3xf32>, tensor<6xi64>",
     .source = "the hardware's indexed store; what scatters are made of",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferScatterRows,
     .differentiate = sambaGradientScatterRows,
     .stages = stagesScatterRows},
    {.name = "put_rows",
     .summary = "rows of a tensor replaced, in its memory",
     .computes =
         "result = base; result[index[r], ..] = rows[r, ..] for r = 0, 1, .. in this order, "
         "so that of several rows with one index the last stays. Only the rows are stored: "
         "samba-update-in-place lets the base lie where the result does.",
     .operands = {"base", "rows", "index"},
     .puts_into = "base",
     .constraints = {"the index is i32 or i64", "the base has rank 1 or more",
                     "the index has rank 1, as long as the rows' dimension 0",
                     "the other dimensions of base and rows agree", "so do their dtypes"},
     .example = "%y = samba.put_rows %b, %x, %i : tensor<4x3xf32>, tensor<2x3xf32>, tensor<2xi64>",
     .source = "torch.index_copy_ along dimension 0",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferPutRows,
     .no_gradient = true,
     .stages = stagesPutRows},
    {.name = "match_reduce",
     .summary = "base reduced with the updates whose index matches",
     .computes = "result[l, i, d] = base[l, i, d] op updates[l, k, d] op .., over the k with "
                 "index[l, k] == target[l, i], ascending. op is add, mul, min or max.",
     .operands = {"base", "target", "index", "updates"},
     .attributes = {REQUIRED_CHOICE("reduce", "add, mul, min, max")},
     .constraints = {"base and updates have one number dtype, min and max i1 too",
                     "both have rank 3", "target and index have one dtype, i32 or i64, and rank 2",
                     "the dimensions agree", "reduce is one of those named"},
     .example = "%y = samba.match_reduce %b, %t, %i, %u {reduce = \"add\"} : tensor<1x4x2xf32>, "
                "tensor<1x4xi64>, tensor<1x6xi64>, tensor<1x6x2xf32>",
     .source = "what scatters with a reduction are made of",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferMatchReduce,
     .differentiate = sambaGradientMatchReduce,
     .stages = stagesMatchReduce},
    {.name = "scatter",
     .summary =
         "x with elements of src written or reduced at the places that an index gives along dim",
     .computes = "result = x; result[i, index[i, j, k], k] = src[i, j, k], here for dim = 1 of 3, "
                 "in row-major order: of several the last wins. With reduce the element becomes "
                 "itself op src. Composite.",
     .operands = {"input", "index", "src"},
     .attributes = {REQUIRED(INT, "dim", "negative: from the end"),
                    CHOICE("reduce", "none", "none, add, mul, min, max")},
     .constraints = {"the index is i32 or i64",
                     "x, index and src have one rank of 1 or more, index and src one shape",
                     "dim names a dimension", "the other dimensions of the index are at most x's",
                     "src has x's dtype", "reduce is one of those named, and x's dtype has it"},
     .example = "%y = samba.scatter %x, %i, %s {dim = 1, reduce = \"add\"} : tensor<2x5xf32>, "
                "tensor<2x3xi64>, tensor<2x3xf32>",
     .source = "torch.scatter, torch.scatter_reduce; ONNX ScatterElements",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferScatter,
     .decompose = decomposeScatter},
    {.name = "scatter_nd",
     .summary = "x with slices written or reduced at tuples of indices",
     .computes = "result = x; result[indices[i.., 0], .., indices[i.., q - 1], r..] = updates[i.., "
                 "r..], in row-major order: of several the last wins. With reduce the element "
                 "becomes itself op the update. Composite.",
     .operands = {"input", "indices", "updates"},
     .attributes = {CHOICE("reduce", "none", "none, add, mul, min, max")},
     .constraints = {"indices are i32 or i64", "of rank 1 or more, q is 1 to x's rank",
                     "updates have the shape [i.., r..]", "updates have x's dtype",
                     "reduce as for samba.scatter"},
     .example =
         "%y = samba.scatter_nd %x, %i, %u : tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>",
     .source = "ONNX ScatterND; torch.index_put",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferScatterNd,
     .decompose = decomposeScatterNd},
    {.name = "max_unpool",
     .summary = "elements at the places that a max pool took them from, zeros elsewhere",
     .computes = "x and indices are N x C x spatial. result, N x C x output_size, is 0 but at the "
                 "flat places indices[n, c, ..] of its spatial dimensions, which hold x[n, c, ..]; "
                 "of several the last. Composite.",
     .operands = {"input", "indices"},
     .attributes = {REQUIRED(INTS, "output_size", "the result's spatial dimensions")},
     .constraints = {"indices are i32 or i64, of x's shape", "x has rank 3 or more",
                     "output_size has one number of 1 or more per spatial dimension"},
     .example = "%y = samba.max_unpool %x, %i {output_size = [4, 4]} : tensor<1x2x2x2xf32>, "
                "tensor<1x2x2x2xi64>",
     .source = "torch.nn.functional.max_unpool2d",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_ANY,
     .infer = inferMaxUnpool,
     .decompose = decomposeMaxUnpool},
    {0}};
