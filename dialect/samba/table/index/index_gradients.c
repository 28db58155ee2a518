/* Gradients of gathers and scatters; see index_gradients.h. */
#include "dialect/samba/table/index/index_gradients.h"

#include "dialect/samba/table/core/gradient_calls.h"
#include "dialect/samba/table/index/indexing.h"

/* Zeros [lines, size, width] in f32 to which updates[lines, k, width] are added at index[lines, k].
 * Few places are reduced one by one over all updates; with many of one line the updates are
 * compared with each other and stored. */
static uint32_t scatterAdd(SambaExpansion *e, uint32_t index, uint32_t updates, int64_t size) {
  const SambaTensorType *type = sambaExpansionType(e, updates);
  int64_t lines = type->dims[0], count = type->dims[1], width = type->dims[2];

  if (lines == 1 && size > count) {
    int64_t tuples[] = {count, 1};
    uint32_t operands[] = {sambaExpandFilled(e, SAMBA_DTYPE_F32, 2, (int64_t[]){size, width}, 0),
                           sambaExpandReshape(e, index, 2, tuples),
                           sambaExpandReshape(e, updates, 2, (int64_t[]){count, width})};
    SambaAttribute reduce = sambaStringAttribute("reduce", "add");
    uint32_t sums = sambaExpandCall(e, "scatter_nd", 3, operands, 1, &reduce);
    return sambaExpandReshape(e, sums, 3, (int64_t[]){1, size, width});
  }

  /* A negative index counts from the end: as places they can be compared. */
  uint32_t tuples = sambaExpandReshape(e, index, 3, (int64_t[]){lines, count, 1});
  uint32_t places = sambaExpandRavel(e, tuples, 1, &size, -1, 0);
  uint32_t targets = sambaExpandBroadcast(e, sambaExpandCounted(e, SAMBA_DTYPE_I64, size), 2,
                                          (int64_t[]){lines, size});
  uint32_t base = sambaExpandFilled(e, SAMBA_DTYPE_F32, 3, (int64_t[]){lines, size, width}, 0);
  SambaAttribute reduce = sambaStringAttribute("reduce", "add");
  return sambaExpandCall(e, "match_reduce", 4, (uint32_t[]){base, targets, places, updates}, 1,
                         &reduce);
}

static int64_t productOf(const int64_t *dims, uint32_t from, uint32_t to) {
  int64_t product = 1;
  for (uint32_t d = from; d < to; ++d)
    product *= dims[d];
  return product;
}

/* take, embedding, index_select: x is [batch.., before.., dim, after..], what flows in [batch..,
 * before.., indices.., after..]. */
SambaStatus sambaGradientTake(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaOperatorCall *call = gradient->call;
  SambaTensorType x = call->operands[0];
  const SambaTensorType *indices = &call->operands[1];
  uint32_t batch = (uint32_t)sambaOperatorCallInt(call, "batch_dims"), dim;
  SAMBA_RETURN_IF_ERROR(sambaCheckAxis(2, "dim", sambaOperatorCallInt(call, "dim"), x.rank, &dim));
  int64_t lines = productOf(x.dims, 0, batch);
  int64_t before = productOf(x.dims, batch, dim);
  int64_t after = productOf(x.dims, dim + 1, x.rank);
  int64_t count = productOf(indices->dims, batch, indices->rank);
  int64_t width = before * after;

  /* With the indices in front of the dimensions before them. */
  uint32_t g = gradientWideFlow(gradient, e);
  static const int64_t exchanged[] = {0, 2, 1, 3};
  g = sambaExpandReshape(e, g, 4, (int64_t[]){lines, before, count, after});
  if (before > 1)
    g = sambaExpandPermute(e, g, exchanged);
  g = sambaExpandReshape(e, g, 3, (int64_t[]){lines, count, width});
  uint32_t index = sambaExpandReshape(e, gradient->operands[1], 2, (int64_t[]){lines, count});
  uint32_t sums = scatterAdd(e, index, g, x.dims[dim]);
  sums = sambaExpandReshape(e, sums, 4, (int64_t[]){lines, x.dims[dim], before, after});
  if (before > 1)
    sums = sambaExpandPermute(e, sums, exchanged);
  gradientSet(gradient, e, 0, sambaExpandReshape(e, sums, x.rank, x.dims));

  return NULL;
}

SambaStatus sambaGradientGather(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaTensorType *x = &gradient->call->operands[0];
  uint32_t zeros = sambaExpandFilled(e, SAMBA_DTYPE_F32, x->rank, x->dims, 0);
  uint32_t operands[] = {zeros, gradient->operands[1], gradientWideFlow(gradient, e)};
  SambaAttribute attributes[] = {
      sambaIntAttribute("dim", sambaOperatorCallInt(gradient->call, "dim")),
      sambaStringAttribute("reduce", "add")};
  gradientSet(gradient, e, 0, sambaExpandCall(e, "scatter", 3, operands, 2, attributes));
  return NULL;
}

/* Of several rows with one index only the last is in the result: the row whose number is found
 * where all numbers are scattered alike. */
SambaStatus sambaGradientScatterRows(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaTensorType *x = &gradient->call->operands[0];
  uint32_t index = gradient->operands[1];
  int64_t column[SAMBA_MAX_RANK] = {x->dims[0], 1, 1, 1, 1, 1, 1, 1};
  uint32_t numbers = sambaExpandCounted(e, SAMBA_DTYPE_I64, x->dims[0]);
  uint32_t winners = sambaExpandCall(e, "scatter_rows", 2, (uint32_t[]){numbers, index},
                                     gradient->call->attribute_count, gradient->call->attributes);
  uint32_t stayed = sambaExpandBinary(e, "eq", sambaExpandTake(e, winners, index, 0, 0), numbers);
  uint32_t g = sambaExpandTake(e, sambaGradientOfResult(gradient), index, 0, 0);

  stayed = sambaExpandReshape(e, stayed, x->rank, column);
  gradient->operand_gradients[0] = gradientWhereElseZero(e, stayed, g);
  return NULL;
}

/* --- match_reduce --- */

static uint32_t matchReduce(SambaExpansion *e, const char *reduce, uint32_t base, uint32_t target,
                            uint32_t index, uint32_t updates) {
  SambaAttribute attribute = sambaStringAttribute("reduce", reduce);
  return sambaExpandCall(e, "match_reduce", 4, (uint32_t[]){base, target, index, updates}, 1,
                         &attribute);
}

/* For each update the sum of the values whose target matches it. */
static uint32_t sumForUpdates(const SambaGradientCall *gradient, SambaExpansion *e,
                              uint32_t values) {
  const SambaTensorType *updates = &gradient->call->operands[3];
  uint32_t zeros = sambaExpandFilled(e, SAMBA_DTYPE_F32, 3, updates->dims, 0);
  return matchReduce(e, "add", zeros, gradient->operands[2], gradient->operands[1], values);
}

static void throughSum(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = gradientWideFlow(gradient, e);
  if (gradient->needed[0])
    gradientSet(gradient, e, 0, g);
  if (gradient->needed[3])
    gradientSet(gradient, e, 3, sumForUpdates(gradient, e, g));
}

/* Each factor's gradient is g times the product of the others: of all that are not zero, without
 * the factor itself, unless another one is zero. */
static void throughProduct(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t target = gradient->operands[1], index = gradient->operands[2];
  uint32_t factors[2], zeros[2];
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t value = gradientWideOperand(gradient, e, 3 * i);
    uint32_t zero = gradientIs(e, "eq", value, 0);
    factors[i] = gradientWhere(e, zero, gradientNumber(e, 1), value);
    zeros[i] = sambaExpandCast(e, zero, SAMBA_DTYPE_F32);
  }

  uint32_t product = matchReduce(e, "mul", factors[0], target, index, factors[1]);
  uint32_t count = matchReduce(e, "add", zeros[0], target, index, zeros[1]);
  uint32_t flow = gradientMul(e, gradientWideFlow(gradient, e), product);
  if (gradient->needed[0]) {
    uint32_t alone = sambaExpandBinary(e, "eq", count, zeros[0]);
    gradientSet(gradient, e, 0, gradientDiv(e, gradientWhereElseZero(e, alone, flow), factors[0]));
  }
  if (gradient->needed[3]) {
    uint32_t sums[2];
    for (uint32_t i = 0; i < 2; ++i) /* where no factor is zero, and where one is */
      sums[i] =
          sumForUpdates(gradient, e, gradientWhereElseZero(e, gradientIs(e, "eq", count, i), flow));
    uint32_t zero = gradientIs(e, "ne", zeros[1], 0);
    uint32_t value = gradientWhere(e, zero, sums[1], sums[0]);
    gradientSet(gradient, e, 3, gradientDiv(e, value, factors[1]));
  }
}

/* The base and the matching updates that are the extreme value share what flows into it. Every
 * update is held against every target: [lines, targets, updates, width]. */
static void throughExtreme(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaTensorType *base = &gradient->call->operands[0];
  const SambaTensorType *updates = &gradient->call->operands[3];
  int64_t lines = base->dims[0], width = base->dims[2];
  int64_t rows[] = {lines, base->dims[1], 1, width};
  int64_t columns[] = {lines, 1, updates->dims[1], width};
  static const bool over_updates[] = {false, false, true, false};
  static const bool over_targets[] = {false, true, false, false};

  uint32_t result = gradient->results[0];
  uint32_t own = sambaExpandBinary(e, "eq", gradient->operands[0], result);
  uint32_t equal =
      sambaExpandBinary(e, "eq", sambaExpandReshape(e, gradient->operands[3], 4, columns),
                        sambaExpandReshape(e, result, 4, rows));
  uint32_t target =
      sambaExpandReshape(e, gradient->operands[1], 4, (int64_t[]){lines, rows[1], 1, 1});
  uint32_t index =
      sambaExpandReshape(e, gradient->operands[2], 4, (int64_t[]){lines, 1, columns[2], 1});
  uint32_t hit = gradientAnd(e, equal, sambaExpandBinary(e, "eq", target, index));

  uint32_t hits = sambaExpandCast(e, hit, SAMBA_DTYPE_F32);
  uint32_t count =
      sambaExpandReshape(e, sambaExpandReduce(e, "sum", hits, over_updates), 3, base->dims);
  count = gradientAdd(e, count, sambaExpandCast(e, own, SAMBA_DTYPE_F32));
  uint32_t share = gradientDiv(e, gradientWideFlow(gradient, e), count);
  if (gradient->needed[0])
    gradientSet(gradient, e, 0, gradientWhereElseZero(e, own, share));
  if (gradient->needed[3]) {
    uint32_t shares = gradientWhereElseZero(e, hit, sambaExpandReshape(e, share, 4, rows));
    shares = sambaExpandReduce(e, "sum", shares, over_targets);
    gradientSet(gradient, e, 3, sambaExpandReshape(e, shares, 3, updates->dims));
  }
}

SambaStatus sambaGradientMatchReduce(const SambaGradientCall *gradient, SambaExpansion *e) {
  SambaStringRef reduce = sambaOperatorCallString(gradient->call, "reduce");
  if (sambaStringRefEqualC(reduce, "add"))
    throughSum(gradient, e);
  else if (sambaStringRefEqualC(reduce, "mul"))
    throughProduct(gradient, e);
  else
    throughExtreme(gradient, e);
  return NULL;
}

/* triu and tril: the same triangle of what flows in. */
SambaStatus sambaGradientTriangle(const SambaGradientCall *gradient, SambaExpansion *e) {
  const SambaOperatorCall *call = gradient->call;
  uint32_t operands[] = {sambaGradientOfResult(gradient), 0};
  if (call->operand_count == 2)
    operands[1] = gradient->operands[1];
  gradient->operand_gradients[0] =
      sambaExpandCall(e, call->operator->name, call->operand_count, operands, call->attribute_count,
                      call->attributes);
  return NULL;
}
