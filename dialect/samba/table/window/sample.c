/* Sampling at computed places: grid_sample, affine_grid, roi_align.
 *
 * Coordinates, weights and flat places are computed in f32 and integers, point by point; elements
 * are taken by place, multiplied by their weights and summed in f32, in the order of the
 * neighbours. */
#include "dialect/samba/table/index/indexing.h"

#include <math.h>
#include <stdlib.h>

/* --- Steps in f32 --- */

static uint32_t number(SambaExpansion *expansion, const char *name, uint32_t x, double value) {
  return sambaExpandWithNumber(expansion, name, x, value);
}
static uint32_t both(SambaExpansion *expansion, const char *name, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, name, a, b);
}
/* all, with one more; SAMBA_NO_INDEX: there is nothing yet */
static uint32_t joined(SambaExpansion *expansion, const char *name, uint32_t all, uint32_t more) {
  return all == SAMBA_NO_INDEX ? more : both(expansion, name, all, more);
}
static uint32_t clip(SambaExpansion *expansion, uint32_t x, double low, double high) {
  return number(expansion, "minimum", number(expansion, "maximum", x, low), high);
}
static uint32_t choose(SambaExpansion *expansion, uint32_t condition, uint32_t yes, uint32_t no) {
  return sambaExpandCall(expansion, "where", 3, (uint32_t[]){condition, yes, no}, 0, NULL);
}
static uint32_t within(SambaExpansion *expansion, uint32_t x, double low, double high) {
  return both(expansion, "logical_and", number(expansion, "ge", x, low),
              number(expansion, "le", x, high));
}

static SambaStatus checkPlane(unsigned constraint, int64_t elements) {
  return elements < INT32_MAX
             ? NULL
             : sambaStatusMake(SAMBA_UNSUPPORTED,
                               "(C%u) planes of %lld elements are too large for places of 32 bits",
                               constraint, (long long)elements);
}

/* --- grid_sample --- */

typedef enum { BILINEAR, NEAREST, BICUBIC } Mode;
typedef enum { ZEROS, BORDER, REFLECTION } Padding;

typedef struct Sampling {
  Mode mode;
  Padding padding;
  bool align;
  uint32_t spatial;
} Sampling;

static SambaStatus samplingOf(const SambaOperatorCall *call, Sampling *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *grid = &call->operands[1];
  uint32_t choice;

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the grid", grid->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", x, 4, 5));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the grid", grid, x->rank, x->rank));
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(3, "the grid", grid, 0, x->dims[0]));
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(3, "the grid", grid, x->rank - 1, x->rank - 2));
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(4, call, "mode", &choice));
  out->mode = (Mode)choice;
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(4, call, "padding_mode", &choice));
  out->padding = (Padding)choice;
  out->align = sambaOperatorCallInt(call, "align_corners") != 0;
  out->spatial = x->rank - 2;
  SAMBA_RETURN_IF_ERROR(checkPlane(2, sambaTensorTypeElements(x) / x->dims[0] / x->dims[1]));
  if (out->mode == BICUBIC && out->spatial != 2)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "(C4) mode bicubic is for two spatial dimensions, not %u", out->spatial);
  return NULL;
}

static SambaStatus inferGridSample(const SambaOperatorCall *call, SambaTensorType *out) {
  Sampling sampling;
  SAMBA_RETURN_IF_ERROR(samplingOf(call, &sampling));
  *out = call->operands[0];
  memcpy(out->dims + 2, call->operands[1].dims + 1, sampling.spatial * sizeof *out->dims);
  return NULL;
}

/* A coordinate folded into [low, high] by reflection at both. */
static uint32_t reflect(SambaExpansion *expansion, uint32_t x, double low, double high) {
  double span = high - low;
  if (span <= 0)
    return number(expansion, "mul", x, 0);
  uint32_t distance = sambaExpandUnary(expansion, "abs", number(expansion, "sub", x, low));
  uint32_t flips = sambaExpandUnary(expansion, "floor", number(expansion, "div", distance, span));
  uint32_t extra = number(expansion, "fmod", distance, span);
  uint32_t odd = number(expansion, "ne", number(expansion, "fmod", flips, 2), 0);
  uint32_t back = sambaExpandBinary(expansion, "sub",
                                    sambaExpandScalar(expansion, SAMBA_DTYPE_F32, span), extra);
  return number(expansion, "add", choose(expansion, odd, back, extra), low);
}

/* What padding makes of a coordinate of a dimension of `size`; zeros: nothing. */
static uint32_t padCoordinate(SambaExpansion *expansion, const Sampling *sampling, uint32_t x,
                              int64_t size) {
  double last = (double)(size - 1);
  if (sampling->padding == ZEROS)
    return x;
  if (sampling->padding == REFLECTION)
    x = sampling->align ? reflect(expansion, x, 0, last) : reflect(expansion, x, -0.5, last + 0.5);
  return clip(expansion, x, 0, last);
}

/* The neighbours of every point along one dimension: their places (i32, within the dimension),
 * their weights (f32), and whether they lie inside (zeros only). */
enum { mostNeighbours = 4, mostSpatial = 3 };
typedef struct Neighbours {
  uint32_t count;
  bool weighted, masked;
  uint32_t place[mostNeighbours], weight[mostNeighbours], inside[mostNeighbours];
} Neighbours;

static void addNeighbour(SambaExpansion *expansion, const Sampling *sampling, uint32_t at,
                         int64_t size, Neighbours *out) {
  double last = (double)(size - 1);
  out->masked = sampling->padding == ZEROS;
  if (out->masked)
    out->inside[out->count] = within(expansion, at, 0, last);
  out->place[out->count++] =
      sambaExpandCast(expansion, clip(expansion, at, 0, last), SAMBA_DTYPE_I32);
}

/* Keys' kernel with a = -0.75 at distances t + 1, t, 1 - t, 2 - t. */
static void cubicWeights(SambaExpansion *expansion, uint32_t t, Neighbours *out) {
  const double a = -0.75;
  uint32_t one = sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 1);
  uint32_t back = both(expansion, "sub", one, t);
  uint32_t near[] = {t, back};
  uint32_t far[] = {number(expansion, "add", t, 1), number(expansion, "add", back, 1)};

  for (int i = 0; i < 2; ++i) {
    uint32_t inner = number(expansion, "sub", number(expansion, "mul", near[i], a + 2), a + 3);
    inner = number(expansion, "add",
                   both(expansion, "mul", both(expansion, "mul", inner, near[i]), near[i]), 1);
    uint32_t outer = number(expansion, "sub", number(expansion, "mul", far[i], a), 5 * a);
    outer = number(expansion, "add", both(expansion, "mul", outer, far[i]), 8 * a);
    outer = number(expansion, "sub", both(expansion, "mul", outer, far[i]), 4 * a);
    out->weight[i ? 2 : 1] = inner;
    out->weight[i ? 3 : 0] = outer;
  }
}

static void neighboursOf(SambaExpansion *expansion, const Sampling *sampling, uint32_t coordinate,
                         int64_t size, Neighbours *out) {
  *out = (Neighbours){.weighted = sampling->mode != NEAREST};
  uint32_t x = number(expansion, "add", coordinate, 1);

  x = sampling->align
          ? number(expansion, "mul", x, (double)(size - 1) / 2)
          : number(expansion, "div",
                   number(expansion, "sub", number(expansion, "mul", x, (double)size), 1), 2);
  if (sampling->mode != BICUBIC)
    x = padCoordinate(expansion, sampling, x, size);
  if (sampling->mode == NEAREST) {
    addNeighbour(expansion, sampling, sambaExpandUnary(expansion, "round", x), size, out);
    return;
  }

  uint32_t before = sambaExpandUnary(expansion, "floor", x);
  uint32_t t = both(expansion, "sub", x, before);
  if (sampling->mode == BILINEAR) {
    out->weight[0] = both(expansion, "sub", sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 1), t);
    out->weight[1] = t;
    addNeighbour(expansion, sampling, before, size, out);
    addNeighbour(expansion, sampling, number(expansion, "add", before, 1), size, out);
    return;
  }

  cubicWeights(expansion, t, out);
  for (int i = -1; i <= 2; ++i)
    addNeighbour(
        expansion, sampling,
        padCoordinate(expansion, sampling, i ? number(expansion, "add", before, i) : before, size),
        size, out);
}

/* The weighted sum over all combinations of neighbours, the last dimension's fastest. x: [N, C,
 * elements]. */
static uint32_t sumNeighbours(SambaExpansion *expansion, uint32_t x, uint32_t spatial,
                              const int64_t *sizes, const Neighbours *neighbours) {
  const SambaTensorType *points =
      sambaExpansionType(expansion, neighbours[0].place[0]); /* [N, P] */
  int64_t wide[] = {points->dims[0], 1, points->dims[1]};
  uint32_t combination[mostSpatial] = {0}, sum = SAMBA_NO_INDEX;

  for (;;) {
    uint32_t place = SAMBA_NO_INDEX, weight = SAMBA_NO_INDEX, inside = SAMBA_NO_INDEX;
    for (uint32_t d = 0; d < spatial; ++d) {
      const Neighbours *n = &neighbours[d];
      uint32_t at = n->place[combination[d]];
      place = place == SAMBA_NO_INDEX
                  ? at
                  : both(expansion, "add", number(expansion, "mul", place, (double)sizes[d]), at);
      if (n->weighted)
        weight = joined(expansion, "mul", weight, n->weight[combination[d]]);
      if (n->masked)
        inside = joined(expansion, "logical_and", inside, n->inside[combination[d]]);
    }
    uint32_t value = sambaExpandTake(expansion, x, place, 2, 1);
    if (inside != SAMBA_NO_INDEX)
      value = choose(expansion, sambaExpandReshape(expansion, inside, 3, wide), value,
                     sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 0));
    if (weight != SAMBA_NO_INDEX)
      value = both(expansion, "mul", value, sambaExpandReshape(expansion, weight, 3, wide));
    sum = sum == SAMBA_NO_INDEX ? value : both(expansion, "add", sum, value);
    uint32_t d = spatial;
    while (d > 0 && ++combination[d - 1] == neighbours[d - 1].count)
      combination[--d] = 0;
    if (d == 0)
      return sum;
  }
}

static SambaStatus decomposeGridSample(const SambaOperatorCall *call, SambaExpansion *expansion,
                                       const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *grid = &call->operands[1];

  Sampling sampling;
  SambaTensorType result;
  SAMBA_RETURN_IF_ERROR(samplingOf(call, &sampling));
  SAMBA_RETURN_IF_ERROR(inferGridSample(call, &result));
  int64_t points[] = {x->dims[0], sambaTensorTypeElements(grid) / x->dims[0] / sampling.spatial};
  int64_t planes[] = {x->dims[0], x->dims[1], sambaTensorTypeElements(x) / x->dims[0] / x->dims[1]};
  uint32_t coordinates = sambaExpandCast(expansion, operands[1], SAMBA_DTYPE_F32);
  Neighbours neighbours[mostSpatial];
  for (uint32_t d = 0; d < sampling.spatial; ++d) { /* the grid has the last dimension first */
    uint32_t one =
        sambaExpandSlice(expansion, coordinates, grid->rank - 1, sampling.spatial - 1 - d, 1, 1);
    neighboursOf(expansion, &sampling, sambaExpandReshape(expansion, one, 2, points),
                 x->dims[2 + d], &neighbours[d]);
  }

  uint32_t elements = sambaExpandCast(
      expansion, sambaExpandReshape(expansion, operands[0], 3, planes), SAMBA_DTYPE_F32);
  uint32_t sum = sumNeighbours(expansion, elements, sampling.spatial, x->dims + 2, neighbours);

  out_results[0] = sambaExpandCast(
      expansion, sambaExpandReshape(expansion, sum, result.rank, result.dims), x->dtype);
  return NULL;
}

/* --- affine_grid --- */

static SambaStatus affineOf(const SambaOperatorCall *call, uint32_t *out_spatial,
                            int64_t *out_size) {
  const SambaTensorType *theta = &call->operands[0];
  size_t count = sambaOperatorCallFind(call, "output_size")->value.integers.size;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", theta->dtype, SAMBA_SET_FLOAT));
  if (count != 4 && count != 5)
    return sambaStatusMake(
        SAMBA_INVALID, "(C2) attribute 'output_size' has %zu numbers, but must have 4 or 5", count);
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(2, call, "output_size", count, 1, out_size));
  *out_spatial = (uint32_t)count - 2;
  return sambaCheckShape(3, "the operand", theta, 3,
                         (int64_t[]){out_size[0], *out_spatial, *out_spatial + 1});
}

static SambaStatus inferAffineGrid(const SambaOperatorCall *call, SambaTensorType *out) {
  uint32_t spatial = 0;
  int64_t size[5];
  SAMBA_RETURN_IF_ERROR(affineOf(call, &spatial, size));
  *out =
      (SambaTensorType){.dtype = call->operands[0].dtype, .rank = spatial + 2, .dims = {size[0]}};
  memcpy(out->dims + 1, size + 2, spatial * sizeof *size);
  out->dims[spatial + 1] = spatial;
  return NULL;
}

static double normalizedPlace(double place, double size, bool align) {
  if (size == 1)
    return 0;
  return align ? 2 * place / (size - 1) - 1 : (2 * place + 1) / size - 1;
}

/* The normalized coordinates of a dimension's points, shaped to broadcast: [size, 1, ..], `after`
 * ones. */
static uint32_t normalized(SambaExpansion *expansion, int64_t size, uint32_t after, bool align) {
  int64_t dims[SAMBA_MAX_RANK] = {size};
  double *numbers = sambaAllocate(sambaArraySize((size_t)size, sizeof *numbers));
  for (int64_t i = 0; i < size; ++i)
    numbers[i] = normalizedPlace((double)i, (double)size, align);
  for (uint32_t d = 1; d <= after; ++d)
    dims[d] = 1;
  uint32_t value = sambaExpandNumbers(expansion, SAMBA_DTYPE_F32, after + 1, dims, numbers);
  free(numbers);
  return value;
}

static SambaStatus decomposeAffineGrid(const SambaOperatorCall *call, SambaExpansion *expansion,
                                       const uint32_t *operands, uint32_t *out_results) {
  uint32_t spatial;
  int64_t size[5];
  SambaTensorType result;

  SAMBA_RETURN_IF_ERROR(affineOf(call, &spatial, size));
  SAMBA_RETURN_IF_ERROR(inferAffineGrid(call, &result));
  bool align = sambaOperatorCallInt(call, "align_corners") != 0;
  uint32_t theta = sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32);
  uint32_t sum = SAMBA_NO_INDEX;
  int64_t wide[SAMBA_MAX_RANK] = {size[0], 1, 1, 1, 1};
  wide[spatial + 1] = spatial;
  for (uint32_t j = 0; j <= spatial;
       ++j) { /* column j times the coordinate of spatial dimension spatial - 1 - j */
    uint32_t column = sambaExpandReshape(expansion, sambaExpandSlice(expansion, theta, 2, j, 1, 1),
                                         spatial + 2, wide);
    if (j < spatial)
      column = both(expansion, "mul", column,
                    normalized(expansion, size[1 + spatial - j], j + 1, align));
    sum = sum == SAMBA_NO_INDEX ? column : both(expansion, "add", sum, column);
  }

  out_results[0] = sambaExpandCast(expansion, sum, result.dtype);
  return NULL;
}

/* --- roi_align --- */

typedef struct Regions {
  int64_t out[2], ratio;
  double scale;
  bool largest, aligned, adaptive;
} Regions;

static SambaStatus regionsOf(const SambaOperatorCall *call, Regions *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *rois = &call->operands[1];
  const SambaTensorType *batch = &call->operands[2];
  uint32_t choice;

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(1, "operand 1", rois->dtype, "operand 0", x->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "batch_indices", batch->dtype, SAMBA_SET_INDEX));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", x, 4, 4));
  SAMBA_RETURN_IF_ERROR(checkPlane(2, x->dims[2] * x->dims[3]));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, "operand 1", rois, 2, (int64_t[]){rois->dims[0], 4}));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, "batch_indices", batch, 1, rois->dims));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "output_size", 2, 1, out->out));
  out->ratio = sambaOperatorCallInt(call, "sampling_ratio");
  if (out->ratio < 1 || out->ratio > 64)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "(C3) sampling_ratio is %lld; it must be 1 to 64",
                           (long long)out->ratio);
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(4, call, "mode", &choice));
  out->largest = choice == 1;
  out->scale = sambaOperatorCallFloat(call, "spatial_scale");
  out->aligned = sambaOperatorCallInt(call, "aligned") != 0;
  out->adaptive = sambaOperatorCallInt(call, "adaptive") != 0;

  return NULL;
}

static SambaStatus inferRoiAlign(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  Regions regions;
  SAMBA_RETURN_IF_ERROR(regionsOf(call, &regions));
  *out = (SambaTensorType){
      .dtype = x->dtype,
      .rank = 4,
      .dims = {call->operands[1].dims[0], x->dims[1], regions.out[0], regions.out[1]}};
  return NULL;
}

/* Samples of all regions along one dimension (0: height): [R, bins * ratio]. */
typedef struct Line {
  uint32_t low, high, below, above, inside; /* i32 places, f32 weights, i1 */
  uint32_t used, count; /* adaptive: i1 like inside, and f32 [R, 1]: samples per bin */
} Line;

static void linesOf(SambaExpansion *expansion, const Regions *regions, uint32_t rois, uint32_t d,
                    int64_t size, Line *out) {
  double last = (double)(size - 1);
  double offset = regions->aligned ? 0.5 : 0;
  uint32_t corner[2];

  for (uint32_t i = 0; i < 2; ++i) { /* x1, y1, x2, y2 */
    corner[i] = number(expansion, "mul", sambaExpandSlice(expansion, rois, 1, 2 * i + 1 - d, 1, 1),
                       regions->scale);
    if (offset > 0)
      corner[i] = number(expansion, "sub", corner[i], offset);
  }

  uint32_t length = both(expansion, "sub", corner[1], corner[0]);
  if (!regions->aligned)
    length = number(expansion, "maximum", length, 1);
  uint32_t bin = number(expansion, "div", length, (double)regions->out[d]);
  int64_t samples = regions->out[d] * regions->ratio;
  double *bins = sambaAllocate((size_t)samples * sizeof *bins);
  double *steps = sambaAllocate((size_t)samples * sizeof *steps);

  for (int64_t i = 0; i < samples; ++i) {
    bins[i] = (double)(i / regions->ratio);
    steps[i] = (double)(i % regions->ratio) + 0.5;
  }

  uint32_t at = both(expansion, "mul", bin,
                     sambaExpandNumbers(expansion, SAMBA_DTYPE_F32, 1, &samples, bins));
  uint32_t step = both(expansion, "mul", bin,
                       sambaExpandNumbers(expansion, SAMBA_DTYPE_F32, 1, &samples, steps));
  if (regions->adaptive) {
    int64_t row[] = {1, samples};
    out->count = number(expansion, "maximum", sambaExpandUnary(expansion, "ceil", bin), 0);
    out->used = sambaExpandReshape(
        expansion, sambaExpandNumbers(expansion, SAMBA_DTYPE_F32, 1, &samples, steps), 2, row);
    out->used = both(expansion, "lt", out->used, out->count);
    uint32_t most = sambaExpandScalar(expansion, SAMBA_DTYPE_F32, (double)regions->ratio);
    uint32_t nan = sambaExpandScalar(expansion, SAMBA_DTYPE_F32, (double)NAN);
    out->count = choose(expansion, both(expansion, "le", out->count, most), out->count, nan);
    step = both(expansion, "div", step, number(expansion, "maximum", out->count, 1));
  } else
    step = number(expansion, "div", step, (double)regions->ratio);
  free(bins);
  free(steps);
  at = both(expansion, "add", both(expansion, "add", at, corner[0]), step);
  out->inside = within(expansion, at, -1, (double)size);
  at = clip(expansion, at, 0, last);
  uint32_t low = sambaExpandUnary(expansion, "floor", at);
  out->above = both(expansion, "sub", at, low);
  out->below = both(expansion, "sub", sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 1), out->above);
  out->low = sambaExpandCast(expansion, low, SAMBA_DTYPE_I32);
  out->high = number(expansion, "minimum", number(expansion, "add", out->low, 1), last);
}

/* Four corners of each sample: elements times weights, added or, in mode max, the largest
 * of them. */
static uint32_t sampleCorners(SambaExpansion *expansion, const Regions *regions, uint32_t rows,
                              uint32_t first, int64_t width, const Line *y, const Line *x,
                              const int64_t *samples) {
  int64_t column[] = {samples[0], samples[1], 1};
  int64_t row[] = {samples[0], 1, samples[2]};
  int64_t wide[] = {samples[0], samples[1], samples[2], 1};
  uint32_t sum = SAMBA_NO_INDEX;

  for (int corner = 0; corner < 4; ++corner) {
    uint32_t line = number(expansion, "mul",
                           sambaExpandReshape(expansion, corner / 2 ? y->high : y->low, 3, column),
                           (double)width);
    uint32_t place = both(expansion, "add", line,
                          sambaExpandReshape(expansion, corner % 2 ? x->high : x->low, 3, row));
    place = both(expansion, "add", sambaExpandCast(expansion, place, SAMBA_DTYPE_I64), first);
    uint32_t weight =
        both(expansion, "mul",
             sambaExpandReshape(expansion, corner / 2 ? y->above : y->below, 3, column),
             sambaExpandReshape(expansion, corner % 2 ? x->above : x->below, 3, row));
    uint32_t value = both(expansion, "mul", sambaExpandTake(expansion, rows, place, 0, 0),
                          sambaExpandReshape(expansion, weight, 4, wide));
    sum = sum == SAMBA_NO_INDEX ? value
                                : both(expansion, regions->largest ? "maximum" : "add", sum, value);
  }

  uint32_t inside =
      both(expansion, "logical_and", sambaExpandReshape(expansion, y->inside, 3, column),
           sambaExpandReshape(expansion, x->inside, 3, row));
  sum = choose(expansion, sambaExpandReshape(expansion, inside, 4, wide), sum,
               sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 0));
  if (!regions->adaptive)
    return sum;
  uint32_t used = both(expansion, "logical_and", sambaExpandReshape(expansion, y->used, 3, column),
                       sambaExpandReshape(expansion, x->used, 3, row));
  uint32_t unused =
      sambaExpandScalar(expansion, SAMBA_DTYPE_F32, regions->largest ? -(double)INFINITY : 0);

  return choose(expansion, sambaExpandReshape(expansion, used, 4, wide), sum, unused);
}

/* Bins of [R, h, w, C] with sums or the largest of what samples there are: means, and 0 where there
 * are none. */
static uint32_t finishAdaptive(SambaExpansion *expansion, const Regions *regions, uint32_t value,
                               const Line *lines, int64_t region_count) {
  int64_t dims[] = {region_count, 1, 1, 1};
  uint32_t count = sambaExpandReshape(
      expansion, both(expansion, "mul", lines[0].count, lines[1].count), 4, dims);
  uint32_t zero = sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 0);
  if (!regions->largest)
    return both(expansion, "div", value, number(expansion, "maximum", count, 1));
  return both(expansion, "add", choose(expansion, number(expansion, "gt", count, 0), value, zero),
              number(expansion, "mul", count, 0));
}

/* Elements as rows of channels, one per place of the whole batch. */
static SambaStatus decomposeRoiAlign(const SambaOperatorCall *call, SambaExpansion *expansion,
                                     const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  Regions r;
  SAMBA_RETURN_IF_ERROR(regionsOf(call, &r));
  int64_t regions = call->operands[1].dims[0];
  int64_t plane = x->dims[2] * x->dims[3];
  int64_t places[] = {x->dims[0] * plane, x->dims[1]};
  int64_t samples[] = {regions, r.out[0] * r.ratio, r.out[1] * r.ratio};
  int64_t bins[] = {regions, r.out[0], r.ratio, r.out[1], r.ratio, x->dims[1]};
  int64_t single[] = {regions, 1, 1};
  uint32_t rois = sambaExpandCast(expansion, operands[1], SAMBA_DTYPE_F32);
  uint32_t moved = sambaExpandPermute(expansion, operands[0], (int64_t[]){0, 2, 3, 1});
  uint32_t rows =
      sambaExpandCast(expansion, sambaExpandReshape(expansion, moved, 2, places), SAMBA_DTYPE_F32);

  Line lines[2];
  for (uint32_t d = 0; d < 2; ++d)
    linesOf(expansion, &r, rois, d, x->dims[2 + d], &lines[d]);

  /* A batch index outside is out of all places. */
  uint32_t batch = sambaExpandCast(expansion, operands[2], SAMBA_DTYPE_I64);
  batch = choose(expansion, number(expansion, "lt", batch, 0),
                 sambaExpandScalar(expansion, SAMBA_DTYPE_I64, (double)x->dims[0]), batch);
  uint32_t first =
      sambaExpandReshape(expansion, number(expansion, "mul", batch, (double)plane), 3, single);
  uint32_t value =
      sampleCorners(expansion, &r, rows, first, x->dims[3], &lines[0], &lines[1], samples);
  SambaAttribute dims = sambaIntsAttribute("dim", (int64_t[]){2, 4}, 2);
  value = sambaExpandReshape(expansion, value, 6, bins);
  const char *combined = r.adaptive ? "sum" : "mean";
  if (r.largest)
    combined = "amax";
  value = sambaExpandCall(expansion, combined, 1, &value, 1, &dims);
  if (r.adaptive)
    value = finishAdaptive(expansion, &r, value, lines, regions);
  out_results[0] = sambaExpandCast(
      expansion, sambaExpandPermute(expansion, value, (int64_t[]){0, 3, 1, 2}), x->dtype);
  return NULL;
}

const SambaOperator sambaSampleOperators[] = {
    {.name = "grid_sample",
     .summary = "x sampled at the places that a grid gives",
     .computes = "x is N x C x spatial, grid N x out spatial x d with d = 2 or 3 coordinates in "
                 "[-1, 1], those of the last dimension first. Coordinates are computed in f32. "
                 "Composite.",
     .operands = {"input", "grid"},
     .attributes = {CHOICE("mode", "bilinear", "bilinear, nearest, bicubic"),
                    CHOICE("padding_mode", "zeros", "zeros, border, reflection"),
                    BOOL("align_corners", false, "-1 and 1 are the centers of the outer elements")},
     .constraints = {"x and grid have a float dtype", "x has rank 4 or 5, the grid too",
                     "N agrees, the grid's last dimension is x's rank - 2",
                     "mode and padding_mode are among those named, bicubic for d = 2 only"},
     .example = "%y = samba.grid_sample %x, %g {align_corners = true} : tensor<1x2x4x4xf32>, "
                "tensor<1x3x3x2xf32>",
     .source = "torch.nn.functional.grid_sample",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferGridSample,
     .decompose = decomposeGridSample},
    {.name = "affine_grid",
     .summary = "the grid of an affine map, for grid_sample",
     .computes = "result[n, .., i] = sum over j of theta[n, i, j] * p[.., j], p the normalized "
                 "coordinates of each point of the output (last dimension first) and 1. Composite.",
     .operands = {"theta"},
     .attributes = {REQUIRED(INTS, "output_size", "N x C x spatial"),
                    OPTIONAL(BOOL, "align_corners", "as for grid_sample")},
     .constraints = {"theta has a float dtype",
                     "output_size is N x C x spatial with 2 or 3 spatial dimensions d",
                     "theta is N x d x (d + 1)"},
     .example = "%g = samba.affine_grid %t {output_size = [1, 2, 4, 4]} : tensor<1x2x3xf32>",
     .source = "torch.nn.functional.affine_grid",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferAffineGrid,
     .decompose = decomposeAffineGrid},
    {.name = "roi_align",
     .summary = "regions of interest resampled to one size",
     .computes =
         "x is N x C x H x W, rois R x 4 (x1, y1, x2, y2), batch_indices R. Each region is cut "
         "into output_size bins; each bin is the mean (mode \"avg\") or the largest (\"max\") of "
         "sampling_ratio^2 bilinear samples. aligned shifts by half a pixel. adaptive: a region "
         "has as many samples per bin and dimension as its bins have pixels, rounded up, and is "
         "NaN where that is more than sampling_ratio. Composite.",
     .operands = {"input", "rois", "batch_indices"},
     .attributes = {REQUIRED(INTS, "output_size", "bins: height, width"),
                    REQUIRED(INT, "sampling_ratio", "samples per bin and dimension"),
                    FLOAT("spatial_scale", 1, "of the regions' coordinates"),
                    CHOICE("mode", "avg", "avg, max"),
                    BOOL("aligned", false, "coordinates are shifted by half a pixel"),
                    BOOL("adaptive", false, "sampling_ratio is only the most samples")},
     .constraints = {"x and rois have one float dtype, batch_indices i32 or i64",
                     "x has rank 4, rois R x 4, batch_indices R",
                     "output_size has two numbers, they and sampling_ratio are 1 or more",
                     "mode is one of those named"},
     .example = "%y = samba.roi_align %x, %r, %b {output_size = [2, 2], sampling_ratio = 2} : "
                "tensor<1x2x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>",
     .source = "torchvision.ops.roi_align; ONNX RoiAlign",
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferRoiAlign,
     .decompose = decomposeRoiAlign},
    {0}};
