/* Resampling at fixed places: interpolate.
 *
 * Along each dimension output o is a weighted sum of a few elements of the input, found here in f64
 * (taps). One element of weight 1: a slice, a repetition or a take. Else a product with the matrix
 * of weights, or, where that would be large, takes with one weight each. All in f32, rounded once
 * at the end. */
#include "dialect/samba/table/index/indexing.h"

#include <math.h>
#include <stdlib.h>

typedef enum { NEAREST, LINEAR, CUBIC } Mode;
typedef enum {
  HALF_PIXEL,
  SYMMETRIC,
  PYTORCH,
  ALIGN_CORNERS,
  ASYMMETRIC,
  CROP,
  HALF_PIXEL_NEAREST
} Coordinate;
typedef enum { ROUND_PREFER_FLOOR, ROUND_PREFER_CEIL, FLOOR, CEIL } Rounding;

typedef struct Resampling {
  Mode mode;
  Coordinate coordinate;
  Rounding rounding;
  bool exclude_outside, antialias;
  double a, extrapolation; /* of cubic; outside the region of interest */
  int64_t out[SAMBA_MAX_RANK];
  double scale[SAMBA_MAX_RANK], start[SAMBA_MAX_RANK], end[SAMBA_MAX_RANK];
} Resampling;

/* One dimension: `taps` elements and weights per output. */
typedef struct Table {
  int64_t in, out;
  uint32_t taps;
  int64_t *index;
  double *weight;
  bool *outside; /* of the region of interest; NULL: none is */
} Table;

enum { longest = 1 << 20, largestMatrix = 1 << 18 };

static SambaStatus floatsOf(const SambaOperatorCall *call, const char *name, size_t count,
                            double least, double *out) {
  const SambaAttribute *attribute = sambaOperatorCallFind(call, name);
  bool fits = !attribute || attribute->value.reals.size == count;
  for (size_t i = 0; attribute && fits && i < count; ++i) {
    out[i] = attribute->value.reals.data[i];
    fits = out[i] > least && out[i] < (double)INFINITY;
  }
  return fits ? NULL
              : sambaStatusMake(SAMBA_INVALID, "(C2) attribute '%s' must have %zu finite numbers%s",
                                name, count, least < 0 ? "" : ", more than 0");
}

/* False: output o is input o, whatever the mode. */
static bool changes(const Resampling *resampling, uint32_t d, int64_t in) {
  return resampling->out[d] != in || resampling->scale[d] != 1 || resampling->coordinate == CROP ||
         resampling->coordinate == HALF_PIXEL_NEAREST;
}

static uint32_t tapsOf(const Resampling *resampling, uint32_t d) {
  double reach = resampling->mode == CUBIC ? 2 : 1;
  if (resampling->antialias && resampling->scale[d] < 1)
    reach = fmin(ceil(reach / resampling->scale[d]), (double)longest);
  return resampling->mode == NEAREST ? 1 : 2 * (uint32_t)reach;
}

static SambaStatus resamplingOf(const SambaOperatorCall *call, Resampling *out) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t choice;

  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(3, call, "mode", &choice));
  out->mode = (Mode)choice;
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(3, call, "coordinate_mode", &choice));
  out->coordinate = (Coordinate)choice;
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(3, call, "nearest_mode", &choice));
  out->rounding = (Rounding)choice;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", x->dtype,
                                        out->mode == NEAREST ? SAMBA_SET_ANY : SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(2, call, "output_size", x->rank, 1, out->out));
  double roi[2 * SAMBA_MAX_RANK];

  for (uint32_t d = 0; d < x->rank; ++d) {
    out->scale[d] = (double)out->out[d] / (double)x->dims[d];
    roi[d] = 0, roi[x->rank + d] = 1;
  }

  SAMBA_RETURN_IF_ERROR(floatsOf(call, "scales", x->rank, 0, out->scale));
  SAMBA_RETURN_IF_ERROR(floatsOf(call, "roi", 2 * x->rank, -(double)INFINITY, roi));
  for (uint32_t d = 0; d < x->rank; ++d) {
    out->start[d] = roi[d], out->end[d] = roi[x->rank + d];
  }

  out->exclude_outside = sambaOperatorCallInt(call, "exclude_outside") != 0;
  out->antialias = sambaOperatorCallInt(call, "antialias") != 0 && out->mode != NEAREST;
  out->a = sambaOperatorCallFloat(call, "cubic_coeff_a");
  out->extrapolation = sambaOperatorCallFloat(call, "extrapolation_value");
  for (uint32_t d = 0; d < x->rank; ++d)
    if (changes(out, d, x->dims[d]) &&
        (out->out[d] > longest || x->dims[d] > longest || out->out[d] * tapsOf(out, d) > 1 << 24))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "(C4) dimension %u changes from %lld to %lld elements of %u weights; "
                             "at most 2^20 and 2^24 "
                             "weights in all are possible",
                             d, (long long)x->dims[d], (long long)out->out[d], tapsOf(out, d));
  return NULL;
}

static SambaStatus inferInterpolate(const SambaOperatorCall *call, SambaTensorType *out) {
  Resampling resampling;
  SAMBA_RETURN_IF_ERROR(resamplingOf(call, &resampling));
  *out = call->operands[0];
  memcpy(out->dims, resampling.out, out->rank * sizeof *out->dims);
  return NULL;
}

/* --- Places and weights --- */

/* Which element is nearest is decided in f32, one rounding per operation, as the frameworks decide
 * it: 3 / 0.6 is then 5. A scale that is the quotient of the sizes is that fraction, not a number
 * near it: element 1 of 14 to 2 is at 7, though 1 / f32(2 / 14) is less. Weights are made of
 * unrounded places. */
static double rounded(const Resampling *resampling, double value) {
  return resampling->mode == NEAREST ? (double)(float)value : value;
}

static double placeOf(const Resampling *resampling, uint32_t d, int64_t in, int64_t o) {
  double x = (double)o;
  double size = (double)in;
  double made = (double)resampling->out[d];
  double last = size - 1;
  double scale = rounded(resampling, resampling->scale[d]);
  double center = rounded(resampling, (x + 0.5) / scale);
  double half = rounded(resampling, center - 0.5);
  double plain = rounded(resampling, x / scale);

  if (resampling->scale[d] == made / size)
    center = (2 * x + 1) * size / (2 * made), half = center - 0.5, plain = x * size / made;
  switch (resampling->coordinate) {
  case ALIGN_CORNERS:
    return made == 1 ? 0 : rounded(resampling, rounded(resampling, x * last) / (made - 1));
  case ASYMMETRIC:
    return plain;
  case CROP: {
    double span = rounded(resampling, (resampling->end[d] - resampling->start[d]) * last);
    return rounded(resampling,
                   resampling->start[d] * last +
                       (made == 1 ? span / 2 : rounded(resampling, x * span) / (made - 1)));
  }
  case PYTORCH:
    return made == 1 ? -0.5 : half;
  case SYMMETRIC:
    return rounded(resampling, size / 2 * (1 - made / (scale * size)) + center - 0.5);
  case HALF_PIXEL_NEAREST:
    return center;
  default:
    return half;
  }
}

/* Keys' cubic kernel. */
static double cubicWeight(double a, double x) {
  x = fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* The weight of an element at a distance, in elements, from the place. */
static double tapWeight(const Resampling *resampling, double distance) {
  switch (resampling->mode) {
  case NEAREST:
    return 1;
  case LINEAR:
    return fmax(1 - fabs(distance), 0);
  default:
    return cubicWeight(resampling->a, distance);
  }
}

static double nearestPlace(Rounding rounding, double place) {
  switch (rounding) {
  case ROUND_PREFER_FLOOR:
    return ceil(place - 0.5);
  case ROUND_PREFER_CEIL:
    return floor(place + 0.5);
  case FLOOR:
    return floor(place);
  default:
    return ceil(place);
  }
}

/* The taps of one output: elements around its place. A place on an element counts as right of the
 * one before it. */
static void fillTaps(const Resampling *resampling, uint32_t d, Table *table, int64_t o) {
  double place = placeOf(resampling, d, table->in, o);
  double last = (double)(table->in - 1);
  double sum = 0;
  double stretch = resampling->antialias && resampling->scale[d] < 1 ? resampling->scale[d] : 1;

  if (resampling->coordinate == CROP && !(place >= 0 && place <= last)) {
    if (!table->outside)
      table->outside = sambaAllocateZeroed((size_t)table->out, sizeof *table->outside);
    table->outside[o] = true;
  }

  place = fmin(fmax(place, -4e6), 4e6); /* far outside is far outside */
  double before = ceil(place) - 1;
  for (uint32_t t = 0; t < table->taps; ++t) {
    double at = resampling->mode == NEAREST ? nearestPlace(resampling->rounding, place)
                                            : before + 1 - (double)(table->taps / 2) + (double)t;
    double distance = (at - place) * stretch;
    double weight = tapWeight(resampling, distance);
    if (resampling->exclude_outside && (at < 0 || at > last))
      weight = 0;
    table->index[o * table->taps + t] = (int64_t)fmin(fmax(at, 0), last);
    table->weight[o * table->taps + t] = weight;
    sum += weight;
  }

  for (uint32_t t = 0; t < table->taps && (stretch < 1 || resampling->exclude_outside) && sum != 0;
       ++t)
    table->weight[o * table->taps + t] /= sum;
}

static void makeTable(const Resampling *resampling, uint32_t d, int64_t in, Table *out) {
  *out = (Table){.in = in, .out = resampling->out[d], .taps = tapsOf(resampling, d)};
  out->index = sambaAllocate(
      sambaArraySize(sambaArraySize((size_t)out->out, out->taps), sizeof *out->index));
  out->weight = sambaAllocate(
      sambaArraySize(sambaArraySize((size_t)out->out, out->taps), sizeof *out->weight));
  for (int64_t o = 0; o < out->out; ++o)
    fillTaps(resampling, d, out, o);
}

static void freeTable(Table *table) {
  free(table->index);
  free(table->weight);
  free(table->outside);
}

/* Every output is one element: keeps that alone, with weight 1. */
static bool isSelection(Table *table) {
  for (int64_t o = 0; o < table->out; ++o) {
    double all = 0;
    int64_t chosen = -1;
    for (uint32_t t = 0; t < table->taps; ++t) {
      double weight = table->weight[o * table->taps + t];
      int64_t index = table->index[o * table->taps + t];
      if (weight == 0)
        continue;
      if (chosen >= 0 && chosen != index)
        return false;
      chosen = index;
      all += weight;
    }
    if (chosen < 0 || all != 1)
      return false;
  }

  for (int64_t o = 0; o < table->out; ++o)
    for (uint32_t t = 0; t < table->taps; ++t)
      if (table->weight[o * table->taps + t] != 0)
        table->index[o] = table->index[o * table->taps + t];
  table->taps = 1;

  return true;
}

/* --- The steps --- */

/* Elements index[0], index[1], .. along a dimension: a slice, each repeated as often, or a take. */
static uint32_t selectElements(SambaExpansion *expansion, uint32_t x, uint32_t d,
                               const Table *table) {
  SambaTensorType type = *sambaExpansionType(expansion, x);
  const int64_t *index = table->index;
  int64_t out = table->out;
  int64_t step = out > 1 ? index[1] - index[0] : 1;
  int64_t times = table->out / table->in;
  bool even = step != 0,
       repeated = times > 1 && times * table->in == out && type.rank < SAMBA_MAX_RANK;

  for (int64_t o = 0; o < out; ++o) {
    even = even && index[o] == index[0] + o * step;
    repeated = repeated && index[o] == o / times;
  }

  if (even)
    return sambaExpandSlice(expansion, x, d, index[0], out, step);
  if (repeated) {
    int64_t split[SAMBA_MAX_RANK];
    memcpy(split, type.dims, sizeof split);
    memmove(split + d + 2, split + d + 1, (type.rank - d - 1) * sizeof *split);
    split[d + 1] = 1;
    uint32_t wide = sambaExpandReshape(expansion, x, type.rank + 1, split);
    split[d + 1] = times;
    type.dims[d] = out;
    return sambaExpandReshape(expansion,
                              sambaExpandBroadcast(expansion, wide, type.rank + 1, split),
                              type.rank, type.dims);
  }

  int32_t *narrow = sambaAllocate(sambaArraySize((size_t)out, sizeof *narrow));
  for (int64_t o = 0; o < out; ++o)
    narrow[o] = (int32_t)index[o];
  SambaTensorType list = {.dtype = SAMBA_DTYPE_I32, .rank = 1, .dims = {out}};
  uint32_t indices = sambaExpandConstant(expansion, &list, narrow, false);
  free(narrow);

  return sambaExpandTake(expansion, x, indices, d, 0);
}

/* [outer, in, inner] times the matrix of weights. */
static uint32_t multiply(SambaExpansion *expansion, uint32_t x, uint32_t d, const Table *table) {
  SambaTensorType type = *sambaExpansionType(expansion, x);
  int64_t outer = 1;
  int64_t inner = 1;
  int64_t in = table->in;
  int64_t out = table->out;

  for (uint32_t i = 0; i < type.rank; ++i)
    *(i < d ? &outer : &inner) *= i == d ? 1 : type.dims[i];
  bool last = inner == 1;
  float *matrix = sambaAllocateZeroed((size_t)(in * out), sizeof *matrix);
  double *row = sambaAllocate((size_t)in * sizeof *row);

  for (int64_t o = 0; o < out; ++o) {
    memset(row, 0, (size_t)in * sizeof *row);
    for (uint32_t t = 0; t < table->taps; ++t)
      row[table->index[o * table->taps + t]] += table->weight[o * table->taps + t];
    for (int64_t i = 0; i < in; ++i)
      matrix[last ? i * out + o : o * in + i] = (float)row[i];
  }

  SambaTensorType square = {
      .dtype = SAMBA_DTYPE_F32, .rank = 2, .dims = {last ? in : out, last ? out : in}};
  uint32_t weights = sambaExpandConstant(expansion, &square, matrix, false);

  free(row);
  free(matrix);
  int64_t whole[] = {outer, in, inner};
  uint32_t lines = sambaExpandReshape(expansion, x, last ? 2 : 3, whole);
  uint32_t product = last ? sambaExpandBinary(expansion, "matmul", lines, weights)
                          : sambaExpandBinary(expansion, "matmul", weights, lines);
  type.dims[d] = out;

  return sambaExpandReshape(expansion, product, type.rank, type.dims);
}

/* Tap by tap: the elements, times their weights, summed in order. */
static uint32_t addTaps(SambaExpansion *expansion, uint32_t x, uint32_t d, const Table *table) {
  uint32_t sum = 0;
  uint32_t rank = sambaExpansionType(expansion, x)->rank;
  int64_t column[SAMBA_MAX_RANK];
  int64_t *index = sambaAllocate(sambaArraySize((size_t)table->out, sizeof *index));
  double *weight = sambaAllocate(sambaArraySize((size_t)table->out, sizeof *weight));

  for (uint32_t i = 0; i < rank; ++i)
    column[i] = i == d ? table->out : 1;
  for (uint32_t t = 0; t < table->taps; ++t) {
    for (int64_t o = 0; o < table->out; ++o) {
      index[o] = table->index[o * table->taps + t];
      weight[o] = table->weight[o * table->taps + t];
    }
    Table one = {.in = table->in, .out = table->out, .taps = 1, .index = index};
    uint32_t weights = sambaExpandNumbers(expansion, SAMBA_DTYPE_F32, rank - d, column + d, weight);
    uint32_t part =
        sambaExpandBinary(expansion, "mul", selectElements(expansion, x, d, &one), weights);
    sum = t ? sambaExpandBinary(expansion, "add", sum, part) : part;
  }

  free(index);
  free(weight);
  return sum;
}

/* What lies outside the region of interest along a dimension becomes the extrapolation value. */
static uint32_t replaceOutside(SambaExpansion *expansion, uint32_t x, uint32_t d,
                               const Table *table, double value) {
  SambaTensorType like = *sambaExpansionType(expansion, x);
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I1, .rank = like.rank - d};
  for (uint32_t i = 0; i < type.rank; ++i)
    type.dims[i] = i ? 1 : table->out;
  uint8_t *flags = sambaAllocate((size_t)table->out);
  for (int64_t o = 0; o < table->out; ++o)
    flags[o] = table->outside[o];
  uint32_t choice[] = {sambaExpandConstant(expansion, &type, flags, false),
                       sambaExpandScalar(expansion, like.dtype, value), x};
  free(flags);
  return sambaExpandCall(expansion, "where", 3, choice, 0, NULL);
}

static SambaStatus decomposeInterpolate(const SambaOperatorCall *call, SambaExpansion *expansion,
                                        const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  Resampling resampling;
  SAMBA_RETURN_IF_ERROR(resamplingOf(call, &resampling));
  uint32_t value = operands[0];

  Table tables[SAMBA_MAX_RANK];
  for (uint32_t d = 0; d < x->rank;
       ++d) { /* what only moves goes first, so that it is not moved as f32 */
    tables[d] = (Table){.taps = 1};
    if (!changes(&resampling, d, x->dims[d]))
      continue;
    makeTable(&resampling, d, x->dims[d], &tables[d]);
    if (isSelection(&tables[d]))
      value = selectElements(expansion, value, d, &tables[d]);
  }

  for (uint32_t d = 0; d < x->rank; ++d) {
    if (tables[d].taps == 1)
      continue;
    value = sambaExpandCast(expansion, value, SAMBA_DTYPE_F32);
    int64_t weights = tables[d].in * tables[d].out;
    int64_t most = tables[d].taps > 16 ? 64 * largestMatrix : largestMatrix;
    value = weights <= most ? multiply(expansion, value, d, &tables[d])
                            : addTaps(expansion, value, d, &tables[d]);
  }

  for (uint32_t d = 0; d < x->rank; ++d) {
    if (tables[d].outside)
      value = replaceOutside(expansion, value, d, &tables[d], resampling.extrapolation);
    freeTable(&tables[d]);
  }

  out_results[0] = sambaExpandCast(expansion, value, x->dtype);
  return NULL;
}

const SambaOperator sambaInterpolateOperators[] = {
    {.name = "interpolate",
     .summary = "x resampled to another size, dimension by dimension",
     .computes =
         "Along each dimension output o lies at x(o) of the input, which coordinate_mode gives; "
         "mode nearest takes one element (nearest_mode says which), linear two, cubic four, "
         "weighted by their distance. scales are those of the coordinates. roi has all starts, "
         "then all ends. antialias widens the weights of linear and cubic where a dimension "
         "shrinks; exclude_outside renormalizes the weights of cubic. Composite.",
     .operands = {"input"},
     .attributes = {REQUIRED(INTS, "output_size", "the result's dimensions"),
                    OPTIONAL(FLOATS, "scales", "absent: output size / input size"),
                    REQUIRED_CHOICE("mode", "nearest, linear, cubic"),
                    CHOICE("coordinate_mode", "half_pixel",
                           "half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, "
                           "asymmetric, tf_crop_and_resize, tf_half_pixel_for_nn"),
                    CHOICE("nearest_mode", "round_prefer_floor",
                           "round_prefer_floor, round_prefer_ceil, floor, ceil"),
                    FLOAT("cubic_coeff_a", -0.75), BOOL("exclude_outside", false),
                    BOOL("antialias", false),
                    OPTIONAL(FLOATS, "roi", "starts, then ends, for tf_crop_and_resize"),
                    FLOAT("extrapolation_value", 0, "outside of the region")},
     .constraints =
         {"x has a number dtype, for linear and cubic a float dtype",
          "output_size and scales have one number per dimension, more than 0, roi two",
          "mode, coordinate_mode and nearest_mode are one of those named, which are ONNX's",
          "dimensions that change have at most 2^20 elements"},
     .example = "%y = samba.interpolate %x {mode = \"linear\", output_size = [1, 1, 4, 8]} : "
                "tensor<1x1x2x4xf32>",
     .source = "torch.nn.functional.interpolate; ONNX Resize",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferInterpolate,
     .decompose = decomposeInterpolate},
    {0}};
