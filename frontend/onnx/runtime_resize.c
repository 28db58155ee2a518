/* Resize and Upsample whose scales or region of interest are only there at run time, the result's shape declared:
 * places and weights are computed in the graph in f32, a few numbers per output position, and the elements read by
 * index_select. See runtime_forms.c. */
#include "frontend/onnx/importer.h"

#include <stdlib.h>

typedef enum { HALF_PIXEL, SYMMETRIC, PYTORCH, ALIGN_CORNERS, ASYMMETRIC, CROP, HALF_PIXEL_NEAREST } Coordinate;
static const char *const coordinates[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
                                          "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};

/* One dimension while it is resized. */
typedef struct {
  const SambaOnnxNode *node;
  SambaTrace *trace;
  Coordinate coordinate;
  int64_t in, out;
  SambaTensor *scale, *start, *end; /* [1] */
} Axis;

static SambaTensor *real(const Axis *axis, double value) {
  return sambaTraceScalar(axis->trace, SAMBA_DTYPE_F32, value);
}

static SambaTensor *counting(const Axis *axis, double first, double step) {
  SambaTensorType type = {.dtype = SAMBA_DTYPE_F32, .rank = 1, .dims = {axis->out}};
  float *data = sambaAllocate(sambaArraySize((size_t)axis->out, sizeof *data));
  for (int64_t o = 0; o < axis->out; ++o)
    data[o] = (float)(first + (double)o * step);
  SambaTensor *result = sambaTraceConstant(axis->trace, &type, data, false);
  free(data);
  return result;
}

/* Where in the input each output lies: [out]. */
static SambaTensor *places(const Axis *axis) {
  double last = (double)(axis->in - 1), steps = axis->out > 1 ? (double)(axis->out - 1) : 1;
  SambaTensor *middle = counting(axis, 0.5, 1), *half = real(axis, 0.5), *span, *shift;
  switch (axis->coordinate) {
  case ALIGN_CORNERS:
    return counting(axis, 0, axis->out > 1 ? last / steps : 0);
  case ASYMMETRIC:
    return sambaDiv(counting(axis, 0, 1), axis->scale);
  case HALF_PIXEL_NEAREST:
    return sambaDiv(middle, axis->scale);
  case CROP:
    span = sambaMul(sambaSub(axis->end, axis->start), real(axis, last));
    return sambaAdd(sambaMul(axis->start, real(axis, last)),
                    sambaMul(counting(axis, axis->out > 1 ? 0 : 0.5, 1 / steps), span));
  case SYMMETRIC: /* the middle stays where it is, though the size was rounded down */
    shift = sambaSub(real(axis, (double)axis->in / 2), sambaDiv(real(axis, (double)axis->out / 2), axis->scale));
    return sambaAdd(sambaSub(sambaDiv(middle, axis->scale), half), shift);
  case PYTORCH:
    if (axis->out == 1)
      return counting(axis, -0.5, 0);
    break;
  default:
    break;
  }
  return sambaSub(sambaDiv(middle, axis->scale), half);
}

static SambaTensor *nearest(const Axis *axis, SambaTensor *at) {
  const SambaOnnxNode *node = axis->node;
  bool old = node->version < 11;
  if (old || sambaOnnxStringIs(node, "nearest_mode", "floor", false))
    return sambaFloor(at);
  if (sambaOnnxStringIs(node, "nearest_mode", "ceil", false))
    return sambaCeil(at);
  bool up = sambaOnnxStringIs(node, "nearest_mode", "round_prefer_ceil", false);
  return up ? sambaFloor(sambaAdd(at, real(axis, 0.5))) : sambaCeil(sambaSub(at, real(axis, 0.5)));
}

/* Keys' kernel at a distance of 0 to 1 (near) or 1 to 2. */
static SambaTensor *cubicWeight(const Axis *axis, SambaTensor *distance, bool near, double a) {
  double c[4] = {1, 0, -(a + 3), a + 2}, far[4] = {-4 * a, 8 * a, -5 * a, a};
  const double *k = near ? c : far;
  SambaTensor *sum = real(axis, k[3]);
  for (int power = 2; power >= 0; --power)
    sum = sambaAdd(sambaMul(sum, distance), real(axis, k[power]));
  return sum;
}

static SambaTensor *chosen(const Axis *axis, SambaTensor *x, uint32_t d, SambaTensor *position) {
  SambaTensor *inside = sambaMinimum(sambaMaximum(position, real(axis, 0)), real(axis, (double)(axis->in - 1)));
  return sambaIndexSelect(x, sambaCast(inside, SAMBA_DTYPE_I64), d);
}

/* [out] as [1, .., out, .., 1] */
static SambaTensor *along(SambaTensor *values, uint32_t rank, uint32_t d, int64_t size) {
  int64_t dims[SAMBA_MAX_RANK];
  for (uint32_t i = 0; i < rank; ++i)
    dims[i] = i == d ? size : 1;
  return sambaReshape(values, rank, dims);
}

/* A weighted sum of 2 or 4 neighbours. */
static SambaTensor *weighted(const Axis *axis, SambaTensor *x, uint32_t d, SambaTensor *at, bool cubic) {
  const SambaOnnxNode *node = axis->node;
  int first = cubic ? -1 : 0, last = cubic ? 2 : 1;
  SambaTensor *base = sambaFloor(at), *rest = sambaSub(at, base), *weights[4], *total = NULL, *sum = NULL;
  for (int k = first; k <= last; ++k) {
    SambaTensor *position = sambaAdd(base, real(axis, k)),
                *distance = k > 0 ? sambaSub(real(axis, k), rest) : sambaSub(rest, real(axis, k));
    SambaTensor *weight =
        cubic ? cubicWeight(axis, distance, k == 0 || k == 1, sambaOnnxFloat(node, "cubic_coeff_a", -0.75))
              : sambaSub(real(axis, 1), distance);
    if (sambaOnnxInt(node, "exclude_outside", 0)) {
      SambaTensor *inside =
          sambaLogicalAnd(sambaGe(position, real(axis, 0)), sambaLe(position, real(axis, (double)(axis->in - 1))));
      weight = sambaWhere(inside, weight, real(axis, 0));
      total = total ? sambaAdd(total, weight) : weight;
    }
    weights[k - first] = weight;
  }
  for (int k = first; k <= last && x; ++k) {
    SambaTensor *weight = total ? sambaDiv(weights[k - first], total) : weights[k - first];
    SambaTensor *part =
        sambaMul(chosen(axis, x, d, sambaAdd(base, real(axis, k))), along(weight, x->type.rank, d, axis->out));
    sum = sum ? sambaAdd(sum, part) : part;
  }
  return sum;
}

static SambaStatus element(const SambaOnnxNode *node, uint32_t input, size_t index, SambaTensor **out) {
  SambaTensor *list;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, input, &list));
  if (list->type.rank != 1 || (int64_t)index >= list->type.dims[0])
    return sambaStatusMake(SAMBA_INVALID, "input %u must have a number for each of the axes", input);
  *out = sambaCast(sambaSlice(list, 0, (int64_t)index, (int64_t)index + 1, 1), SAMBA_DTYPE_F32);
  return NULL;
}

SambaStatus sambaOnnxImportRuntimeResize(const SambaOnnxNode *node, bool *out_done) {
  bool modern = node->version >= 11, linear, cubic;
  uint32_t scales = modern ? 2 : 1, rank, choice = 0, roi = modern ? 1 : UINT32_MAX;
  int64_t dims[SAMBA_MAX_RANK], roiCount = 0;
  const int64_t *axes;
  size_t count;
  linear = sambaOnnxStringIs(node, "mode", "linear", false) || sambaOnnxStringIs(node, "mode", "bilinear", false);
  cubic = sambaOnnxStringIs(node, "mode", "cubic", false);
  while (modern && choice < 7 &&
         !sambaOnnxStringIs(node, "coordinate_transformation_mode", coordinates[choice], !choice))
    ++choice;
  Axis axis = {.node = node, .trace = node->importer->trace, .coordinate = modern ? (Coordinate)choice : ASYMMETRIC};
  bool crop = axis.coordinate == CROP, scaled = sambaOnnxHasInput(node, scales);
  bool open = (scaled && !sambaOnnxConstant(node, scales)) ||
              (crop && sambaOnnxHasInput(node, roi) && !sambaOnnxConstant(node, roi));
  SambaTensor *x;
  if (!open || choice == 7 || !sambaOnnxDeclaredShape(node, 0, &rank, dims) || sambaOnnxInt(node, "antialias", 0) ||
      !sambaOnnxStringIs(node, "keep_aspect_ratio_policy", "stretch", true))
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  bool some = sambaOnnxInts(node, "axes", &axes, &count);
  count = some ? count : rank;
  SambaDType dtype = x->type.dtype;
  if (x->type.rank != rank || count > rank)
    return sambaStatusMake(SAMBA_INVALID, "the result is declared with rank %u, but the input has rank %u", rank,
                           x->type.rank);
  if (crop && sambaOnnxHasInput(node, roi)) {
    uint32_t roiRank;
    int64_t roiDims[SAMBA_MAX_RANK] = {0};
    SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, roi, &roiRank, roiDims));
    roiCount = roiDims[0];
  }
  x = linear || cubic ? sambaCast(x, SAMBA_DTYPE_F32) : x;
  for (size_t i = 0; i < count && x; ++i) {
    uint32_t d = (uint32_t)i;
    if (some)
      SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(axes[i], rank, &d));
    axis.in = x->type.dims[d], axis.out = dims[d];
    if (axis.in == 1 && axis.out == 1 && !crop)
      continue; /* whatever the scale: there is one element to read */
    axis.scale = real(&axis, (double)axis.out / (double)axis.in);
    if (scaled)
      SAMBA_RETURN_IF_ERROR(element(node, scales, i, &axis.scale));
    axis.start = real(&axis, 0), axis.end = real(&axis, 1);
    if (roiCount) {
      SAMBA_RETURN_IF_ERROR(element(node, roi, i, &axis.start));
      SAMBA_RETURN_IF_ERROR(element(node, roi, count + i, &axis.end));
    }
    SambaTensor *at = places(&axis);
    x = linear || cubic ? weighted(&axis, x, d, at, cubic) : chosen(&axis, x, d, nearest(&axis, at));
    if (!crop || !x)
      continue;
    SambaTensor *outside = sambaLogicalOr(sambaLt(at, real(&axis, 0)), sambaGt(at, real(&axis, (double)(axis.in - 1))));
    x = sambaWhere(along(outside, rank, d, axis.out),
                   sambaTraceScalar(axis.trace, x->type.dtype, sambaOnnxFloat(node, "extrapolation_value", 0)), x);
  }
  *out_done = true;
  return sambaOnnxSetTensor(node, 0, sambaCast(x, dtype));
}
