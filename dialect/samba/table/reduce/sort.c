/* Order along a dimension: topk, sort, argsort.
 *
 * An element's rank is the number of elements that come before it; result[r] is the element of rank
 * r. Both are reductions over the dimension, n * n and n * k points. Where it is cheaper, the k
 * first elements of each block of B are found in this way, then the k first of these candidates:
 * n * B + (n / B * k)^2 points. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/reduce/reduce_gradients.h"

#include <math.h>

enum {
  segment = 65536
}; /* elements whose ranks are one tensor between stages: these stay in one memory unit */

typedef struct {
  SambaStageGraph *graph;
  const char *name, *layer;
  uint32_t axis, rank; /* of x */
  SambaDType dtype;
  bool descending;
} Sort;

/* What is chosen from: x as it is, x in blocks, or candidates whose axis is two: blocks
 * and places. */
typedef enum { WHOLE, BLOCKS, CANDIDATES } PoolKind;
typedef struct {
  PoolKind kind;
  uint32_t values, indices; /* tensors; indices only of candidates */
  int64_t blocks, size;     /* blocks of `size` elements */
  int64_t first;            /* of BLOCKS: the first one's number among all of x */
} Pool;

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t axis;
  uint32_t indices = sambaOperatorResults(call->operator) - 1;

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", x->dtype, SAMBA_SET_NUMBER));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", x->rank, &axis));
  int64_t k = sambaOperatorCallIntOr(call, "k", x->dims[axis]);
  if (k < 1 || k > x->dims[axis])
    return sambaStatusMake(SAMBA_INVALID,
                           "(C3) k is %lld, but must be 1 to %lld, the size of dimension %u",
                           (long long)k, (long long)x->dims[axis], axis);
  out[0] = out[indices] = *x;
  out[0].dims[axis] = out[indices].dims[axis] = k;
  out[indices].dtype = SAMBA_DTYPE_I64;

  return NULL;
}

/* The largest or smallest number of a dtype. */
static double extreme(SambaDType dtype, bool largest) {
  if (sambaDTypeIsFloat(dtype))
    return largest ? INFINITY : -INFINITY;
  if (dtype == SAMBA_DTYPE_UI8)
    return largest ? 255 : 0;
  double half = ldexp(1, 8 * (int)sambaDTypeBytes(dtype) - 1);
  return largest ? half - 1 : -half; /* of i64 rounded up, and saturated where it becomes bits */
}

/* One tensor at (block, place); the other axes are read by the stage's parallel dimensions, which
 * have the axis once or, with `split`, twice. */
static uint16_t poolOperand(SambaStageBuilder *builder, const Sort *sort, const Pool *pool,
                            uint32_t tensor, bool split, uint32_t block, uint32_t place) {
  uint16_t value = sambaStageOperand(builder, tensor);
  bool two = builder->graph->tensors[tensor].rank > sort->rank;

  for (uint32_t d = 0; d < sort->rank; ++d)
    if (d != sort->axis)
      sambaStageAxis(builder, value, d + (two && d > sort->axis))
          ->coefficients[d + (split && d > sort->axis)] = 1;
  sambaStageAxis(builder, value, sort->axis + two)->coefficients[place] = 1;
  if (two)
    sambaStageAxis(builder, value, sort->axis)->coefficients[block] = 1;
  else if (pool->kind == BLOCKS) {
    /* The last block's places outside come after all inside: no element is further back, and none
     * of a higher index. */
    sambaStageAxis(builder, value, sort->axis)->coefficients[block] = pool->size;
    sambaStageAxis(builder, value, sort->axis)->constant = pool->first * pool->size;
    sambaStageGuard(builder, value,
                    !sort->descending && sambaDTypeIsFloat(sort->dtype)
                        ? NAN
                        : extreme(sort->dtype, !sort->descending));
  }

  return value;
}

/* Whether x comes before y; `first`: x has the lower index. */
static uint16_t comesBefore(SambaStageBuilder *builder, const Sort *sort, uint16_t x, uint16_t y,
                            uint16_t first) {
  uint16_t or_equal = sambaLane2(builder, sort->descending ? SAMBA_LANE_GE : SAMBA_LANE_LE, x, y);
  uint16_t before = sambaLane2(builder, sort->descending ? SAMBA_LANE_GT : SAMBA_LANE_LT, x, y);
  before = sambaLaneSelect(builder, first, or_equal, before);
  if (!sambaDTypeIsFloat(sort->dtype))
    return before;
  uint16_t nan[2] = {sambaLane2(builder, SAMBA_LANE_NE, x, x),
                     sambaLane2(builder, SAMBA_LANE_NE, y, y)};
  uint16_t largest = nan[sort->descending];
  uint16_t other = nan[!sort->descending];
  before = sambaLane2(builder, SAMBA_LANE_OR, before, other);
  return sambaLaneSelect(builder, largest, sambaLane2(builder, SAMBA_LANE_AND, other, first),
                         before);
}

static uint16_t position(SambaStageBuilder *builder, const Pool *pool, uint32_t block,
                         uint32_t place) {
  uint16_t index = sambaLaneCounter(builder, place, SAMBA_DTYPE_I32);
  if (pool->kind != CANDIDATES)
    return index;
  uint16_t start =
      sambaLane2(builder, SAMBA_LANE_MUL, sambaLaneCounter(builder, block, SAMBA_DTYPE_I32),
                 sambaLaneInteger(builder, SAMBA_DTYPE_I32, pool->size));
  return sambaLane2(builder, SAMBA_LANE_ADD, start, index);
}

/* A tensor like x with this axis: (blocks, count), or only count. */
static uint32_t poolTensor(const Sort *sort, SambaDType dtype, const int64_t *dims, bool split,
                           int64_t blocks, int64_t count) {
  int64_t shape[SAMBA_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t d = 0; d < sort->rank; ++d) {
    if (d == sort->axis && split)
      shape[rank++] = blocks;
    shape[rank++] = d == sort->axis ? count : dims[d];
  }
  return sambaStageIntermediate(sort->graph, dtype, rank, shape);
}

/* The number of elements of the pool (of the block) that come before each. */
static uint32_t rankStage(const Sort *sort, const Pool *pool, const int64_t *dims) {
  bool split = pool->kind != WHOLE;
  uint32_t ranks = poolTensor(sort, SAMBA_DTYPE_I32, dims, split, pool->blocks, pool->size);
  SambaStageBuilder builder;

  sambaStageBeginElementwise(&builder, sort->graph, sort->name, sort->layer, ranks);
  uint32_t block = sort->axis;
  uint32_t place = sort->axis + split;
  uint32_t otherBlock =
      pool->kind == CANDIDATES ? sambaStageDim(&builder, pool->blocks, true) : block;
  uint32_t otherPlace = sambaStageDim(&builder, pool->size, true);
  uint16_t x = poolOperand(&builder, sort, pool, pool->values, split, otherBlock, otherPlace);
  uint16_t y = poolOperand(&builder, sort, pool, pool->values, split, block, place);
  uint16_t first =
      sambaLane2(&builder, SAMBA_LANE_LT, position(&builder, pool, otherBlock, otherPlace),
                 position(&builder, pool, block, place));
  uint16_t before = comesBefore(&builder, sort, x, y, first);
  before = sambaLaneSelect(&builder, before, sambaLaneInteger(&builder, SAMBA_DTYPE_I32, 1),
                           sambaLaneInteger(&builder, SAMBA_DTYPE_I32, 0));
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD, before));

  return ranks;
}

/* result[.., r, ..] = the value, or the index in x, of the element of rank r. */
static void chooseStage(const Sort *sort, const Pool *pool, uint32_t ranks, bool indices,
                        uint32_t result) {
  bool split = pool->kind == BLOCKS;
  SambaStageBuilder builder;

  sambaStageBegin(&builder, sort->graph, sort->name, sort->layer, result);
  SambaStageTensor type = sort->graph->tensors[result];
  for (uint32_t d = 0; d < type.rank; ++d)
    builder.stage.output.axes[d].coefficients[sambaStageDim(
        &builder, split && d == sort->axis ? pool->blocks : type.dims[d], false)] = 1;
  if (split) /* a part of the candidates */
    builder.stage.output.axes[sort->axis].constant = pool->first;
  uint32_t wanted = sort->axis + split;
  uint32_t block =
      pool->kind == CANDIDATES ? sambaStageDim(&builder, pool->blocks, true) : sort->axis;
  uint32_t place = sambaStageDim(&builder, pool->size, true);
  uint16_t rank = poolOperand(&builder, sort, pool, ranks, split, block, place);
  uint16_t value = 0;
  if (!indices || pool->kind == CANDIDATES)
    value = poolOperand(&builder, sort, pool, indices ? pool->indices : pool->values, split, block,
                        place);
  if (indices && pool->kind != CANDIDATES) {
    value = sambaLaneCounter(&builder, place, SAMBA_DTYPE_I64);
    if (pool->kind == BLOCKS) {
      uint16_t start = sambaLaneCounter(&builder, block, SAMBA_DTYPE_I64);
      start = sambaLane2(&builder, SAMBA_LANE_MUL, start,
                         sambaLaneInteger(&builder, SAMBA_DTYPE_I64, pool->size));
      value = sambaLane2(&builder, SAMBA_LANE_ADD, start, value);
      if (pool->first)
        value = sambaLane2(&builder, SAMBA_LANE_ADD, value,
                           sambaLaneInteger(&builder, SAMBA_DTYPE_I64, pool->first * pool->size));
    }
  }

  SambaDType lane = (SambaDType)builder.types[value];
  uint16_t here = sambaLane2(&builder, SAMBA_LANE_EQ, rank,
                             sambaLaneCounter(&builder, wanted, SAMBA_DTYPE_I32));
  uint16_t none = sambaLaneNumber(&builder, value, extreme(lane, false));

  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_MAX,
                                     sambaLaneSelect(&builder, here, value, none)));
}

/* Blocks of a power of two of which the k first are candidates, when that is much less work; else
 * one block. */
static int64_t blockSize(int64_t n, int64_t k) {
  int64_t best = n;
  double least = (double)n * (double)n / 2;
  for (int64_t size = 64; size < n && size <= segment; size *= 2) {
    double candidates = (double)((n + size - 1) / size) * (double)(k < size ? k : size);
    double work = (double)n * (double)size + candidates * candidates;
    if (work < least)
      least = work, best = size;
  }
  return best;
}

static SambaStatus stages(const SambaOperatorCall *call, SambaStageGraph *graph,
                          const uint32_t *operands, const uint32_t *results, const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  Sort sort = {.graph = graph,
               .name = call->operator->name,
               .layer = layer,
               .rank = x->rank,
               .dtype = x->dtype};
  sort.descending = sambaOperatorCallFind(call, "k")
                        ? sambaOperatorCallInt(call, "largest") != 0
                        : sambaOperatorCallInt(call, "descending") != 0;
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", x->rank, &sort.axis));
  int64_t n = x->dims[sort.axis];
  int64_t k = sambaOperatorCallIntOr(call, "k", n);
  int64_t size = x->rank < SAMBA_MAX_RANK ? blockSize(n, k) : n;
  int64_t take = k < size ? k : size;

  Pool pool = {.kind = WHOLE, .values = operands[0], .blocks = 1, .size = n};
  if (size < n) {
    int64_t blocks = (n + size - 1) / size;
    int64_t most = segment / size;
    pool = (Pool){.kind = CANDIDATES, .blocks = blocks, .size = take};
    pool.values = poolTensor(&sort, sambaAccumulatorDType(x->dtype), x->dims, true, blocks, take);
    pool.indices = poolTensor(&sort, SAMBA_DTYPE_I64, x->dims, true, blocks, take);
    for (int64_t first = 0; first < blocks; first += most) {
      Pool part = {.kind = BLOCKS, .values = operands[0], .size = size, .first = first};
      part.blocks = blocks - first < most ? blocks - first : most;
      uint32_t ranks = rankStage(&sort, &part, x->dims);
      chooseStage(&sort, &part, ranks, false, pool.values);
      chooseStage(&sort, &part, ranks, true, pool.indices);
    }
  }

  uint32_t ranks = rankStage(&sort, &pool, x->dims);
  uint32_t last = sambaOperatorResults(call->operator) - 1;
  if (last) {
    uint32_t values =
        sambaStageIntermediateLike(graph, results[0], sambaAccumulatorDType(x->dtype));
    chooseStage(&sort, &pool, ranks, false, values);
    sambaStageConvert(graph, sort.name, layer, values, results[0]);
  }

  chooseStage(&sort, &pool, ranks, true, results[last]);
  return NULL;
}

const SambaOperator sambaSortOperators[] = {
    {.name = "topk",
     .summary = "the k largest or smallest elements along dim, and their indices",
     .computes = "The k first elements along dim in descending order, with largest = false in "
                 "ascending order, and their i64 indices. NaN is larger than everything, -0 equals "
                 "0, and of equal elements the one of the lower index comes first.",
     .operands = {"input"},
     .results = {"values", "indices"},
     .attributes = {REQUIRED(INT, "k", "1 to the dimension's size"), INT("dim", -1),
                    BOOL("largest", true, "else the smallest")},
     .constraints = {"x has a number dtype", "dim names a dimension, negative from the end",
                     "k is 1 to the dimension's size"},
     .example = "%v, %i = samba.topk %x {k = 2} : tensor<2x5xf32>",
     .dtypes = SAMBA_SET_NUMBER,
     .infer = infer,
     .differentiate = sambaGradientSort,
     .stages = stages},
    {.name = "sort",
     .summary = "the elements along dim in order, and their indices",
     .computes = "The elements along dim in ascending order, or with descending in descending "
                 "order, and their i64 indices. NaN is larger than everything, -0 equals 0, and of "
                 "equal elements the one of the lower index comes first.",
     .operands = {"input"},
     .results = {"values", "indices"},
     .attributes = {INT("dim", -1), BOOL("descending", false, "else ascending")},
     .constraints = {"x has a number dtype", "dim names a dimension, negative from the end"},
     .example = "%v, %i = samba.sort %x {descending = true} : tensor<2x5xf32>",
     .dtypes = SAMBA_SET_NUMBER,
     .infer = infer,
     .differentiate = sambaGradientSort,
     .stages = stages},
    {.name = "argsort",
     .summary = "the indices that sort x along dim",
     .computes = "The second result of samba.sort.",
     .operands = {"input"},
     .attributes = {INT("dim", -1), BOOL("descending", false, "else ascending")},
     .constraints = {"x has a number dtype", "dim names a dimension, negative from the end"},
     .example = "%i = samba.argsort %x {dim = 0} : tensor<5x2xf32>",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_NUMBER,
     .infer = infer,
     .no_gradient = true,
     .stages = stages},
    {0}};
