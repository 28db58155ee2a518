/* Gradients of pools; see pool_gradients.h.
 *
 * What each tap of each window adds is a tensor [N, C, taps.., windows..]. Where windows lie side
 * by side it is the input itself in another order; else `fold` sums it, taps ascending. */
#include "dialect/samba/table/window/pool_gradients.h"

#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/window/pool_type.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Pool {
  const SambaGradientCall *gradient;
  SambaExpansion *expansion;
  const SambaTensorType *x;
  SambaWindow window;
  bool tiles; /* windows lie side by side: each element is in one window at most */
} Pool;

static SambaStatus poolOf(const SambaGradientCall *gradient, SambaExpansion *expansion, Pool *out) {
  *out = (Pool){.gradient = gradient,
                .expansion = expansion,
                .x = &gradient->call->operands[0],
                .tiles = true};
  SAMBA_RETURN_IF_ERROR(sambaPoolWindow(gradient->call, &out->window));
  for (uint32_t i = 0; i < out->window.spatial; ++i)
    out->tiles &= out->window.kernel[i] == out->window.stride[i] && out->window.begin[i] == 0 &&
                  (out->window.dilation[i] == 1 || out->window.kernel[i] == 1);
  return NULL;
}

/* The axes of taps and windows in the tensor that holds what every tap adds: [N, C, taps..,
 * windows..], or for tiles [N, C, window, tap, window, tap ..], which is x's order. */
static uint32_t tapAxis(const Pool *pool, uint32_t i) { return pool->tiles ? 3 + 2 * i : 2 + i; }
static uint32_t windowAxis(const Pool *pool, uint32_t i) {
  return pool->tiles ? 2 + 2 * i : 2 + pool->window.spatial + i;
}
static uint32_t tapRank(const Pool *pool) { return 2 + 2 * pool->window.spatial; }

/* A tensor of the result's shape, with 1 for the taps. */
static uint32_t withTaps(const Pool *pool, uint32_t value) {
  int64_t dims[SAMBA_MAX_RANK] = {pool->x->dims[0], pool->x->dims[1]};
  for (uint32_t i = 0; i < pool->window.spatial; ++i) {
    dims[tapAxis(pool, i)] = 1;
    dims[windowAxis(pool, i)] = pool->window.out[i];
  }
  return sambaExpandReshape(pool->expansion, value, tapRank(pool), dims);
}

/* For each tap and window: its element's position in the plane of x. Those outside have another
 * element's, or none; what is added there is dropped. */
static uint32_t positions(const Pool *pool) {
  const SambaWindow *window = &pool->window;
  uint32_t sum = SAMBA_NO_INDEX;
  int64_t plane = 1;

  for (uint32_t i = window->spatial; i-- > 0; plane *= pool->x->dims[2 + i]) {
    int64_t dims[SAMBA_MAX_RANK];
    for (uint32_t axis = 0; axis < tapRank(pool); ++axis)
      dims[axis] = 1;
    dims[tapAxis(pool, i)] = window->kernel[i];
    dims[windowAxis(pool, i)] = window->out[i];
    size_t count = (size_t)(window->kernel[i] * window->out[i]);
    double *numbers = sambaAllocate(sambaArraySize(count, sizeof *numbers));
    for (int64_t k = 0; k < (int64_t)count; ++k) {
      int64_t tap = pool->tiles ? k % window->kernel[i] : k / window->out[i];
      int64_t place = pool->tiles ? k / window->kernel[i] : k % window->out[i];
      int64_t at = place * window->stride[i] + tap * window->dilation[i] - window->begin[i];
      numbers[k] = (double)(at * plane);
    }
    uint32_t along =
        sambaExpandNumbers(pool->expansion, SAMBA_DTYPE_I64, tapRank(pool), dims, numbers);
    free(numbers);
    sum = sum == SAMBA_NO_INDEX ? along : gradientAdd(pool->expansion, along, sum);
  }

  return sum;
}

/* Tiles in x's order; what sticks out is cut off, elements that no window has get zeros. */
static uint32_t joinTiles(const Pool *pool, uint32_t value) {
  const SambaWindow *window = &pool->window;
  SambaTensorType type = *pool->x;
  int64_t low[SAMBA_MAX_RANK] = {0}, high[SAMBA_MAX_RANK] = {0};
  bool short_of = false;

  for (uint32_t i = 0; i < window->spatial; ++i)
    type.dims[2 + i] = window->out[i] * window->kernel[i];
  value = sambaExpandReshape(pool->expansion, value, type.rank, type.dims);
  for (uint32_t axis = 2; axis < type.rank; ++axis) {
    int64_t size = pool->x->dims[axis];
    high[axis] = size > type.dims[axis] ? size - type.dims[axis] : 0;
    short_of |= high[axis] > 0;
    if (type.dims[axis] > size)
      value = sambaExpandSlice(pool->expansion, value, axis, 0, size, 1);
  }

  SambaAttribute attributes[] = {sambaIntsAttribute("low", low, type.rank),
                                 sambaIntsAttribute("high", high, type.rank)};
  return short_of ? sambaExpandCall(pool->expansion, "pad", 1, &value, 2, attributes) : value;
}

/* What every tap adds, summed into x's shape. */
static uint32_t sumTaps(const Pool *pool, uint32_t value) {
  const SambaWindow *window = &pool->window;
  uint32_t spatial = window->spatial;
  int64_t padding[6], taps = 1, windows = 1;
  if (pool->tiles)
    return joinTiles(pool, value);

  for (uint32_t i = 0; i < spatial; ++i) {
    int64_t end = (window->out[i] - 1) * window->stride[i] +
                  (window->kernel[i] - 1) * window->dilation[i] + 1 - pool->x->dims[2 + i] -
                  window->begin[i];
    padding[i] = window->begin[i];
    padding[spatial + i] = end > 0 ? end : 0;
    taps *= window->kernel[i];
    windows *= window->out[i];
  }

  SambaAttribute attributes[] = {sambaIntsAttribute("output_size", &pool->x->dims[2], spatial),
                                 sambaIntsAttribute("kernel_size", window->kernel, spatial),
                                 sambaIntsAttribute("stride", window->stride, spatial),
                                 sambaIntsAttribute("padding", padding, 2 * (size_t)spatial),
                                 sambaIntsAttribute("dilation", window->dilation, spatial)};
  value = sambaExpandReshape(pool->expansion, value, 3,
                             (int64_t[]){pool->x->dims[0], pool->x->dims[1] * taps, windows});
  return sambaExpandCall(pool->expansion, "fold", 1, &value, 5, attributes);
}

/* The same for every tap of a window: a value of the result's shape. */
static uint32_t spread(const Pool *pool, uint32_t value) {
  int64_t dims[SAMBA_MAX_RANK] = {pool->x->dims[0], pool->x->dims[1]};
  for (uint32_t i = 0; i < pool->window.spatial; ++i) {
    dims[tapAxis(pool, i)] = pool->window.kernel[i];
    dims[windowAxis(pool, i)] = pool->window.out[i];
  }
  return sumTaps(pool,
                 sambaExpandBroadcast(pool->expansion, withTaps(pool, value), tapRank(pool), dims));
}

/* The positions of the largest elements: a result, or found again. */
static uint32_t largestPositions(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaOperatorCall *call = gradient->call;
  char name[64];
  if (sambaOperatorResults(call->operator) == 2)
    return gradient->results[1];
  snprintf(name, sizeof name, "%s_with_indices", call->operator->name);
  return sambaExpandCall(expansion, name, 1, gradient->operands, call->attribute_count,
                         call->attributes) +
         1;
}

SambaStatus sambaGradientMaxPool(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  Pool pool;
  SAMBA_RETURN_IF_ERROR(poolOf(gradient, expansion, &pool));
  uint32_t largest = withTaps(&pool, largestPositions(gradient, expansion));
  uint32_t g = withTaps(&pool, gradientWideFlow(gradient, expansion));
  uint32_t hit = sambaExpandBinary(expansion, "eq", largest, positions(&pool));
  gradientSet(gradient, expansion, 0, sumTaps(&pool, gradientWhereElseZero(expansion, hit, g)));
  return NULL;
}

/* The number of elements that each window's sum is divided by, along the dimensions in which it is
 * not the same for all. */
static uint32_t dividedByCount(const Pool *pool, uint32_t value) {
  const SambaWindow *window = &pool->window;
  double fixed = 1;

  for (uint32_t i = 0; i < window->spatial; ++i) {
    int64_t dims[SAMBA_MAX_RANK] = {1, 1, 1, 1, 1};
    double *counts = sambaAllocate(sambaArraySize((size_t)window->out[i], sizeof *counts));
    bool varies = false;
    for (int64_t place = 0; place < window->out[i]; ++place) {
      counts[place] = (double)sambaPoolCount(pool->gradient->call, window, i, place);
      varies |= counts[place] != counts[0];
    }
    if (varies) {
      dims[2 + i] = window->out[i];
      value = gradientDiv(
          pool->expansion, value,
          sambaExpandNumbers(pool->expansion, SAMBA_DTYPE_F32, pool->x->rank, dims, counts));
    } else {
      fixed *= counts[0];
    }
    free(counts);
  }

  return fixed == 1 ? value
                    : gradientDiv(pool->expansion, value, gradientNumber(pool->expansion, fixed));
}

SambaStatus sambaGradientAveragePool(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  Pool pool;
  SAMBA_RETURN_IF_ERROR(poolOf(gradient, expansion, &pool));
  uint32_t g = gradientWideFlow(gradient, expansion);
  gradientSet(gradient, expansion, 0, spread(&pool, dividedByCount(&pool, g)));
  return NULL;
}

/* sign(x) |x|^(p - 1) * the windows' sum of g y^(1 - p); 0 where y is 0 */
SambaStatus sambaGradientLpPool(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  double p = sambaOperatorCallFloat(gradient->call, "norm_type");
  uint32_t x = gradientWideOperand(gradient, expansion, 0);
  uint32_t y = gradientWide(expansion, gradient->results[0]);
  uint32_t g = gradientWideFlow(gradient, expansion);
  uint32_t slope = sambaExpandUnary(expansion, "sign", x);

  Pool pool;
  SAMBA_RETURN_IF_ERROR(poolOf(gradient, expansion, &pool));
  if (p == 2)
    slope = x;
  else if (p != 1)
    slope = gradientMul(
        expansion, slope,
        sambaExpandWithNumber(expansion, "pow", sambaExpandUnary(expansion, "abs", x), p - 1));
  if (p != 1) {
    uint32_t share = gradientMul(expansion, g, sambaExpandWithNumber(expansion, "pow", y, 1 - p));
    g = gradientZeroWhere(expansion, gradientIs(expansion, "eq", y, 0), share);
  }
  uint32_t value = gradientMul(expansion, slope, spread(&pool, g));
  if (p < 1) /* where |x|^(p - 1) is infinite */
    value = gradientZeroWhere(expansion, gradientIs(expansion, "eq", x, 0), value);
  gradientSet(gradient, expansion, 0, value);

  return NULL;
}
