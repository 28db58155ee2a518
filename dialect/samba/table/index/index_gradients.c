/* Gradients of gathers and scatters; see index_gradients.h. */
#include "dialect/samba/table/index/index_gradients.h"

#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/index/indexing.h"

static uint32_t zeros(SambaExpansion *expansion, uint32_t rank, const int64_t *dims) {
  return sambaExpandFilled(expansion, SAMBA_DTYPE_F32, rank, dims, 0);
}

static uint32_t matchReduce(SambaExpansion *expansion, const char *reduce, uint32_t base,
                            uint32_t target, uint32_t index, uint32_t updates) {
  SambaAttribute attribute = sambaStringAttribute("reduce", reduce);
  return sambaExpandCall(expansion, "match_reduce", 4, (uint32_t[]){base, target, index, updates},
                         1, &attribute);
}

/* index[lines, k] below `size`, where a negative one counts from the end, as places that can be
 * compared. */
static uint32_t placesOf(SambaExpansion *expansion, uint32_t index, int64_t size) {
  const SambaTensorType *type = sambaExpansionType(expansion, index);
  int64_t tuples[] = {type->dims[0], type->dims[1], 1};
  return sambaExpandRavel(expansion, sambaExpandReshape(expansion, index, 3, tuples), 1, &size, -1,
                          0);
}

/* updates[lines, k, width], each replaced by the sum of those of its line with its place. */
static uint32_t sumOfEquals(SambaExpansion *expansion, uint32_t places, uint32_t updates) {
  SambaTensorType type = *sambaExpansionType(expansion, updates);
  if (type.dims[1] == 1)
    return updates;
  return matchReduce(expansion, "add", zeros(expansion, 3, type.dims), places, places, updates);
}

/* Updates that are compared with each other on the array: what is equal is a matrix of 0 and 1. */
enum { mostOnArray = 8192 };

/* The same of updates[1, k, width] as a product, for whole rows. What is not finite in one row then
 * makes a NaN of its column. */
static uint32_t productOfEquals(SambaExpansion *expansion, uint32_t places, uint32_t updates) {
  const SambaTensorType *type = sambaExpansionType(expansion, updates);
  int64_t count = type->dims[1], width = type->dims[2];
  if (count == 1 || count > mostOnArray || width < 16)
    return sumOfEquals(expansion, places, updates);

  uint32_t down = sambaExpandReshape(expansion, places, 2, (int64_t[]){count, 1});
  uint32_t across = sambaExpandReshape(expansion, places, 2, (int64_t[]){1, count});
  uint32_t equal = gradientWide(expansion, sambaExpandBinary(expansion, "eq", down, across));
  uint32_t rows = sambaExpandReshape(expansion, updates, 2, (int64_t[]){count, width});
  return sambaExpandBinary(expansion, "matmul", equal, rows);
}

/* Zeros [lines, size, width] in f32 to which updates[lines, k, width] are added at index[lines, k].
 * Few places are reduced one by one over all updates. With many of one line each place finds out
 * which update is the last one for it, and takes the sum of those that are equal to it. */
static uint32_t scatterAdd(SambaExpansion *expansion, uint32_t index, uint32_t updates,
                           int64_t size) {
  const SambaTensorType *type = sambaExpansionType(expansion, updates);
  int64_t lines = type->dims[0], count = type->dims[1], width = type->dims[2];
  int64_t dims[] = {lines, size, width};
  uint32_t places = placesOf(expansion, index, size);
  uint32_t targets = sambaExpandCounted(expansion, SAMBA_DTYPE_I64, size);
  targets = sambaExpandBroadcast(expansion, targets, 2, dims);
  if (lines > 1 || size <= count)
    return matchReduce(expansion, "add", zeros(expansion, 3, dims), targets, places, updates);

  uint32_t sums = productOfEquals(expansion, places, updates);
  uint32_t numbers =
      sambaExpandReshape(expansion, sambaExpandCounted(expansion, SAMBA_DTYPE_I64, count), 3,
                         (int64_t[]){1, count, 1});
  uint32_t none = sambaExpandFilled(expansion, SAMBA_DTYPE_I64, 3, (int64_t[]){1, size, 1}, -1);
  uint32_t last = matchReduce(expansion, "max", none, targets, places, numbers);
  uint32_t index_of_row = sambaExpandReshape(expansion, last, 1, &size);
  uint32_t taken[] = {sambaExpandReshape(expansion, sums, 2, (int64_t[]){count, width}),
                      sambaExpandWithNumber(expansion, "maximum", index_of_row, 0)};
  uint32_t rows = sambaExpandCall(expansion, "embedding", 2, taken, 0, NULL);
  last = sambaExpandReshape(expansion, last, 2, (int64_t[]){size, 1});
  uint32_t there = gradientIs(expansion, "ge", last, 0);
  return sambaExpandReshape(expansion, gradientWhereElseZero(expansion, there, rows), 3, dims);
}

static int64_t productOf(const int64_t *dims, uint32_t from, uint32_t to) {
  int64_t product = 1;
  for (uint32_t d = from; d < to; ++d)
    product *= dims[d];
  return product;
}

/* take, embedding, index_select: x is [batch.., before.., dim, after..], what flows in [batch..,
 * before.., indices.., after..]. */
SambaStatus sambaGradientTake(const SambaGradientCall *gradient, SambaExpansion *expansion) {
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
  uint32_t g = gradientWideFlow(gradient, expansion);
  static const int64_t exchanged[] = {0, 2, 1, 3};
  g = sambaExpandReshape(expansion, g, 4, (int64_t[]){lines, before, count, after});
  if (before > 1)
    g = sambaExpandPermute(expansion, g, exchanged);
  g = sambaExpandReshape(expansion, g, 3, (int64_t[]){lines, count, width});
  uint32_t index =
      sambaExpandReshape(expansion, gradient->operands[1], 2, (int64_t[]){lines, count});
  uint32_t sums = scatterAdd(expansion, index, g, x.dims[dim]);
  sums = sambaExpandReshape(expansion, sums, 4, (int64_t[]){lines, x.dims[dim], before, after});
  if (before > 1)
    sums = sambaExpandPermute(expansion, sums, exchanged);
  gradientSet(gradient, expansion, 0, sambaExpandReshape(expansion, sums, x.rank, x.dims));

  return NULL;
}

/* The sums of what flows to one element, stored at its place, as often as they are there. */
SambaStatus sambaGradientGather(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *x = &gradient->call->operands[0];
  SambaTensorType index = gradient->call->operands[1];
  uint32_t axis, count = 0;
  int64_t order[SAMBA_MAX_RANK], back[SAMBA_MAX_RANK], moved[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(
      sambaCheckAxis(3, "dim", sambaOperatorCallInt(gradient->call, "dim"), x->rank, &axis));

  for (uint32_t d = 0; d < index.rank; ++d) /* with the axis last */
    if (d != axis)
      order[count++] = d;
  order[count] = axis;
  for (uint32_t d = 0; d < index.rank; ++d)
    back[order[d]] = d, moved[d] = index.dims[order[d]];
  int64_t lines[] = {sambaTensorTypeElements(&index) / index.dims[axis], index.dims[axis], 1};

  uint32_t g = sambaExpandPermute(expansion, gradientWideFlow(gradient, expansion), order);
  uint32_t places = sambaExpandPermute(expansion, gradient->operands[1], order);
  places = placesOf(expansion, sambaExpandReshape(expansion, places, 2, lines), x->dims[axis]);
  g = sumOfEquals(expansion, places, sambaExpandReshape(expansion, g, 3, lines));
  g = sambaExpandPermute(expansion, sambaExpandReshape(expansion, g, index.rank, moved), back);

  uint32_t operands[] = {zeros(expansion, x->rank, x->dims), gradient->operands[1], g};
  SambaAttribute dim = sambaIntAttribute("dim", axis);
  gradientSet(gradient, expansion, 0, sambaExpandCall(expansion, "scatter", 3, operands, 1, &dim));
  return NULL;
}

/* Of several rows with one index only the last is in the result: the row whose number is found
 * where all numbers are scattered alike. */
SambaStatus sambaGradientScatterRows(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *x = &gradient->call->operands[0];
  uint32_t index = gradient->operands[1];
  int64_t column[SAMBA_MAX_RANK] = {x->dims[0], 1, 1, 1, 1, 1, 1, 1};
  uint32_t numbers = sambaExpandCounted(expansion, SAMBA_DTYPE_I64, x->dims[0]);
  uint32_t winners = sambaExpandCall(expansion, "scatter_rows", 2, (uint32_t[]){numbers, index},
                                     gradient->call->attribute_count, gradient->call->attributes);
  uint32_t stayed =
      sambaExpandBinary(expansion, "eq", sambaExpandTake(expansion, winners, index, 0, 0), numbers);
  uint32_t g = sambaExpandTake(expansion, sambaGradientOfResult(gradient), index, 0, 0);

  stayed = sambaExpandReshape(expansion, stayed, x->rank, column);
  gradient->operand_gradients[0] = gradientWhereElseZero(expansion, stayed, g);
  return NULL;
}

/* --- match_reduce --- */

/* For each update the sum of the values whose target matches it. */
static uint32_t sumForUpdates(const SambaGradientCall *gradient, SambaExpansion *expansion,
                              uint32_t values) {
  const SambaTensorType *updates = &gradient->call->operands[3];
  uint32_t zeros = sambaExpandFilled(expansion, SAMBA_DTYPE_F32, 3, updates->dims, 0);
  return matchReduce(expansion, "add", zeros, gradient->operands[2], gradient->operands[1], values);
}

static void throughSum(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t g = gradientWideFlow(gradient, expansion);
  if (gradient->needed[0])
    gradientSet(gradient, expansion, 0, g);
  if (gradient->needed[3])
    gradientSet(gradient, expansion, 3, sumForUpdates(gradient, expansion, g));
}

/* Each factor's gradient is g times the product of the others: of all that are not zero, without
 * the factor itself, unless another one is zero. */
static void throughProduct(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  uint32_t target = gradient->operands[1], index = gradient->operands[2];
  uint32_t factors[2], zeros[2];
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t value = gradientWideOperand(gradient, expansion, 3 * i);
    uint32_t zero = gradientIs(expansion, "eq", value, 0);
    factors[i] = gradientWhere(expansion, zero, gradientNumber(expansion, 1), value);
    zeros[i] = sambaExpandCast(expansion, zero, SAMBA_DTYPE_F32);
  }

  uint32_t product = matchReduce(expansion, "mul", factors[0], target, index, factors[1]);
  uint32_t count = matchReduce(expansion, "add", zeros[0], target, index, zeros[1]);
  uint32_t flow = gradientMul(expansion, gradientWideFlow(gradient, expansion), product);
  if (gradient->needed[0]) {
    uint32_t alone = sambaExpandBinary(expansion, "eq", count, zeros[0]);
    gradientSet(gradient, expansion, 0,
                gradientDiv(expansion, gradientWhereElseZero(expansion, alone, flow), factors[0]));
  }
  if (gradient->needed[3]) {
    uint32_t sums[2];
    for (uint32_t i = 0; i < 2; ++i) /* where no factor is zero, and where one is */
      sums[i] = sumForUpdates(
          gradient, expansion,
          gradientWhereElseZero(expansion, gradientIs(expansion, "eq", count, i), flow));
    uint32_t zero = gradientIs(expansion, "ne", zeros[1], 0);
    uint32_t value = gradientWhere(expansion, zero, sums[1], sums[0]);
    gradientSet(gradient, expansion, 3, gradientDiv(expansion, value, factors[1]));
  }
}

/* The base and the matching updates that are the extreme value share what flows into it. Every
 * update is held against every target: [lines, targets, updates, width]. */
static void throughExtreme(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *base = &gradient->call->operands[0];
  const SambaTensorType *updates = &gradient->call->operands[3];
  int64_t lines = base->dims[0], width = base->dims[2];
  int64_t rows[] = {lines, base->dims[1], 1, width};
  int64_t columns[] = {lines, 1, updates->dims[1], width};
  static const bool over_updates[] = {false, false, true, false};
  static const bool over_targets[] = {false, true, false, false};

  uint32_t result = gradient->results[0];
  uint32_t own = sambaExpandBinary(expansion, "eq", gradient->operands[0], result);
  uint32_t equal = sambaExpandBinary(
      expansion, "eq", sambaExpandReshape(expansion, gradient->operands[3], 4, columns),
      sambaExpandReshape(expansion, result, 4, rows));
  uint32_t target =
      sambaExpandReshape(expansion, gradient->operands[1], 4, (int64_t[]){lines, rows[1], 1, 1});
  uint32_t index =
      sambaExpandReshape(expansion, gradient->operands[2], 4, (int64_t[]){lines, 1, columns[2], 1});
  uint32_t hit = gradientAnd(expansion, equal, sambaExpandBinary(expansion, "eq", target, index));

  uint32_t hits = sambaExpandCast(expansion, hit, SAMBA_DTYPE_F32);
  uint32_t count = sambaExpandReshape(
      expansion, sambaExpandReduce(expansion, "sum", hits, over_updates), 3, base->dims);
  count = gradientAdd(expansion, count, sambaExpandCast(expansion, own, SAMBA_DTYPE_F32));
  uint32_t share = gradientDiv(expansion, gradientWideFlow(gradient, expansion), count);
  if (gradient->needed[0])
    gradientSet(gradient, expansion, 0, gradientWhereElseZero(expansion, own, share));
  if (gradient->needed[3]) {
    uint32_t shares =
        gradientWhereElseZero(expansion, hit, sambaExpandReshape(expansion, share, 4, rows));
    shares = sambaExpandReduce(expansion, "sum", shares, over_targets);
    gradientSet(gradient, expansion, 3, sambaExpandReshape(expansion, shares, 3, updates->dims));
  }
}

SambaStatus sambaGradientMatchReduce(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  SambaStringRef reduce = sambaOperatorCallString(gradient->call, "reduce");
  if (sambaStringRefEqualC(reduce, "add"))
    throughSum(gradient, expansion);
  else if (sambaStringRefEqualC(reduce, "mul"))
    throughProduct(gradient, expansion);
  else
    throughExtreme(gradient, expansion);
  return NULL;
}

/* triu and tril: the same triangle of what flows in. */
SambaStatus sambaGradientTriangle(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaOperatorCall *call = gradient->call;
  uint32_t operands[] = {sambaGradientOfResult(gradient), 0};
  if (call->operand_count == 2)
    operands[1] = gradient->operands[1];
  gradient->operand_gradients[0] =
      sambaExpandCall(expansion, call->operator->name, call->operand_count, operands,
                      call->attribute_count, call->attributes);
  return NULL;
}
