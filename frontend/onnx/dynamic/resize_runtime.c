/* Resize and Upsample whose scales or region are only there at run time and whose result's shape is
 * declared: places and weights along each axis are arithmetic on a few numbers, in the graph;
 * elements are read by index_select. What is known while importing becomes samba.interpolate
 * (resample_handlers.c). */
#include "frontend/onnx/dynamic/dynamic.h"

#include <math.h>

typedef struct {
  const SambaOnnxNode *node;
  SambaTrace *trace;
  const char *mode, *coordinate, *nearest;
  bool exclude, antialias;
  double a;
  int64_t in, out;
  SambaTraceValue *scale, *start, *end; /* of the axis, [1]; start and end: of a region */
} Axis;

static SambaTraceValue *number(const Axis *axis, double value) {
  return sambaTraceScalar(axis->trace, SAMBA_DTYPE_F32, value);
}
static SambaTraceValue *bounded(const Axis *axis, SambaTraceValue *x, double low, double high) {
  return sambaMinimum(sambaMaximum(x, number(axis, low)), number(axis, high));
}
static bool is(const char *text, const char *name) { return strcmp(text, name) == 0; }

/* offset, offset + 1, .. */
static SambaTraceValue *counted(const Axis *axis, double offset) {
  SambaTensorType type = {.dtype = SAMBA_DTYPE_F32, .rank = 1, .dims = {axis->out}};
  float *data = SAMBA_ARENA_ARRAY(axis->node->arena, float, (size_t)axis->out);
  for (int64_t i = 0; i < axis->out; ++i)
    data[i] = (float)((double)i + offset);
  return sambaTraceConstant(axis->trace, &type, data, false);
}

/* Where each element of the result lies in the input, [out]; NULL: the mode is unknown or the trace
 * has failed. */
static SambaTraceValue *places(const Axis *axis) {
  double last = (double)(axis->in - 1);
  double size = (double)axis->in;
  double made = (double)axis->out;
  bool single = axis->out == 1;
  const char *mode = axis->coordinate;

  if (is(mode, "align_corners"))
    return sambaMul(counted(axis, 0), number(axis, single ? 0 : last / (made - 1)));
  if (is(mode, "tf_crop_and_resize")) {
    SambaTraceValue *span = sambaMul(sambaSub(axis->end, axis->start),
                                     number(axis, single ? last / 2 : last / (made - 1)));
    return sambaAdd(sambaMul(single ? counted(axis, 1) : counted(axis, 0), span),
                    sambaMul(axis->start, number(axis, last)));
  }

  if (!axis->scale)
    return NULL;
  if (is(mode, "asymmetric"))
    return sambaDiv(counted(axis, 0), axis->scale);
  SambaTraceValue *whole = sambaDiv(counted(axis, 0.5), axis->scale);
  SambaTraceValue *half = sambaSub(whole, number(axis, 0.5));
  if (is(mode, "tf_half_pixel_for_nn"))
    return whole;
  if (is(mode, "pytorch_half_pixel"))
    return single ? counted(axis, -0.5) : half;
  if (is(mode, "half_pixel_symmetric")) {
    SambaTraceValue *share = sambaDiv(number(axis, made / size), axis->scale);
    return sambaAdd(half, sambaMul(sambaSub(number(axis, 1), share), number(axis, size / 2)));
  }

  return is(mode, "half_pixel") ? half : NULL;
}

static SambaTraceValue *rounded(const Axis *axis, SambaTraceValue *place) {
  if (is(axis->nearest, "floor"))
    return sambaFloor(place);
  if (is(axis->nearest, "ceil"))
    return sambaCeil(place);
  return is(axis->nearest, "round_prefer_ceil") ? sambaFloor(sambaAdd(place, number(axis, 0.5)))
                                                : sambaCeil(sambaSub(place, number(axis, 0.5)));
}

static SambaTraceValue *weightAt(const Axis *axis, SambaTraceValue *distance) {
  SambaTraceValue *x = sambaAbs(distance);
  double a = axis->a;
  if (is(axis->mode, "linear"))
    return sambaMaximum(sambaSub(number(axis, 1), x), number(axis, 0));
  SambaTraceValue *near = sambaSub(sambaMul(x, number(axis, a + 2)), number(axis, a + 3));
  SambaTraceValue *far = sambaSub(sambaMul(x, number(axis, a)), number(axis, 5 * a));
  near = sambaAdd(sambaMul(sambaMul(near, x), x), number(axis, 1));
  far = sambaAdd(sambaMul(far, x), number(axis, 8 * a));
  far = sambaSub(sambaMul(far, x), number(axis, 4 * a));
  far = sambaWhere(sambaLt(x, number(axis, 2)), far, number(axis, 0));
  return sambaWhere(sambaLe(x, number(axis, 1)), near, far);
}

static SambaTraceValue *take(const Axis *axis, SambaTraceValue *x, uint32_t d,
                             SambaTraceValue *at) {
  return sambaIndexSelect(
      x, sambaCast(bounded(axis, at, 0, (double)(axis->in - 1)), SAMBA_DTYPE_I32), d);
}

/* [out] against axis d of x */
static SambaTraceValue *along(SambaTraceValue *list, const SambaTraceValue *x, uint32_t d) {
  int64_t dims[SAMBA_MAX_RANK] = {list ? list->type.dims[0] : 1};
  for (uint32_t i = 1; x && i < x->type.rank - d; ++i)
    dims[i] = 1;
  return x ? sambaReshape(list, x->type.rank - d, dims) : NULL;
}

static SambaTraceValue *weighted(const Axis *axis, SambaTraceValue *x, uint32_t d,
                                 SambaTraceValue *place) {
  enum { most = 64 };
  double last = (double)(axis->in - 1);
  double reach = is(axis->mode, "linear") ? 1 : 2;
  bool shrinks = axis->antialias && axis->out < axis->in;
  SambaTraceValue *at[most];
  SambaTraceValue *weight[most];
  SambaTraceValue *sum = NULL;
  SambaTraceValue *total = NULL;
  SambaTraceValue *before = sambaSub(sambaCeil(place), number(axis, 1));
  SambaTraceValue *stretch = shrinks ? sambaMinimum(axis->scale, number(axis, 1)) : NULL;
  int count = 2 * (int)(shrinks ? ceil(reach * (double)axis->in / (double)axis->out) : reach);

  for (int t = 0; t < count && t < most; ++t) {
    at[t] = sambaAdd(before, number(axis, 1 - count / 2 + t));
    SambaTraceValue *distance = sambaSub(at[t], place);
    weight[t] = weightAt(axis, stretch ? sambaMul(distance, stretch) : distance);
    if (axis->exclude)
      weight[t] = sambaWhere(
          sambaLogicalAnd(sambaGe(at[t], number(axis, 0)), sambaLe(at[t], number(axis, last))),
          weight[t], number(axis, 0));
    total = total ? sambaAdd(total, weight[t]) : weight[t];
  }

  for (int t = 0; t < count && t < most; ++t) {
    if (stretch || axis->exclude)
      weight[t] = sambaDiv(weight[t], total);
    SambaTraceValue *part = sambaMul(take(axis, x, d, at[t]), along(weight[t], x, d));
    sum = sum ? sambaAdd(sum, part) : part;
  }

  return count <= most ? sum : NULL;
}

static SambaTraceValue *entry(SambaTraceValue *list, int64_t at) {
  return list ? sambaSlice(list, 0, at, at + 1, 1) : NULL;
}

static SambaStatus listOf(const SambaOnnxNode *node, uint32_t input, size_t count,
                          SambaTraceValue **out_list) {
  *out_list = NULL;
  if (!sambaOnnxHasInput(node, input))
    return NULL;
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, input, &rank, dims));
  if (rank == 1 && dims[0] == 0) /* left out, as before operator set 13 */
    return NULL;
  if (rank != 1 || dims[0] != (int64_t)count)
    return sambaStatusMake(SAMBA_INVALID, "input %u must be a list of %zu numbers", input, count);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, input, out_list));
  *out_list = sambaCast(*out_list, SAMBA_DTYPE_F32);
  return NULL;
}

/* What the operands say: lists as tensors, and the axes that they are for. */
typedef struct {
  SambaTraceValue *scales, *region; /* NULL: not given */
  size_t count;
  uint32_t axes[SAMBA_MAX_RANK];
} Operands;

/* *out_open: one of them is only there at run time. */
static SambaStatus readOperands(const SambaOnnxNode *node, uint32_t rank, bool crop, Operands *out,
                                bool *out_open) {
  const uint32_t scales = node->version >= 11 ? 2 : 1;
  const uint32_t region = 1;
  const uint32_t inputs[] = {scales, region};
  const int64_t *given;
  size_t given_count;

  *out = (Operands){.count = rank};
  *out_open = false;
  for (uint32_t i = 0; i < 1u + crop; ++i) {
    const SambaConstant *known;
    SAMBA_RETURN_IF_ERROR(sambaOnnxReadKnown(node, inputs[i], &known));
    *out_open |= sambaOnnxHasInput(node, inputs[i]) && !known;
  }
  if (!*out_open)
    return NULL;

  for (uint32_t d = 0; d < rank; ++d)
    out->axes[d] = d;
  if (sambaOnnxInts(node, "axes", &given, &given_count) && given_count <= rank) {
    out->count = given_count;
    for (size_t i = 0; i < given_count; ++i)
      SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(given[i], rank, &out->axes[i]));
  }

  SAMBA_RETURN_IF_ERROR(listOf(node, scales, out->count, &out->scales));
  return crop ? listOf(node, region, 2 * out->count, &out->region) : NULL;
}

/* The value resized along the axis, dimension d; NULL: there is no form of this kind. */
static SambaTraceValue *resizedAlong(const Axis *axis, uint32_t d,
                                     const SambaInterpolateOptions *options,
                                     SambaTraceValue *value) {
  bool crop = is(axis->coordinate, "tf_crop_and_resize");
  bool has_place = axis->scale || crop || is(axis->coordinate, "align_corners");
  SambaTraceValue *place = has_place ? places(axis) : NULL;
  if (!place || (axis->antialias && !axis->scale))
    return NULL;

  SambaTraceValue *near = bounded(axis, place, -4e6, 4e6);
  value = is(axis->mode, "nearest") ? take(axis, value, d, rounded(axis, near))
                                    : weighted(axis, value, d, near);
  if (!value || !crop)
    return value;

  SambaTraceValue *inside = sambaLogicalAnd(sambaGe(place, number(axis, 0)),
                                            sambaLe(place, number(axis, (double)(axis->in - 1))));
  SambaTraceValue *outside =
      sambaTraceScalar(axis->trace, value->type.dtype, options->extrapolation_value);
  return sambaWhere(along(inside, value, d), value, outside);
}

static SambaStatus resized(const SambaOnnxNode *node, SambaTraceValue *x,
                           const SambaInterpolateOptions *options, bool *out_done) {
  bool crop = is(options->coordinate_mode, "tf_crop_and_resize");
  bool nearest = is(options->mode, "nearest");
  bool stretch = sambaOnnxStringIs(node, "keep_aspect_ratio_policy", "stretch", true);
  bool known_mode = nearest || is(options->mode, "linear") || is(options->mode, "cubic");
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  Operands operands;
  bool open;

  if (!sambaOnnxDeclaredShape(node, 0, &rank, dims) || rank != x->type.rank)
    return NULL;
  SAMBA_RETURN_IF_ERROR(readOperands(node, rank, crop, &operands, &open));
  if (!open || (crop && !operands.region) || !known_mode)
    return NULL;
  SambaTraceValue *value = nearest ? x : sambaCast(x, SAMBA_DTYPE_F32);

  for (size_t i = 0; i < operands.count && value; ++i) {
    uint32_t d = operands.axes[i];
    Axis axis = {.node = node,
                 .trace = node->trace,
                 .mode = options->mode,
                 .coordinate = options->coordinate_mode,
                 .nearest = options->nearest_mode,
                 .exclude = options->exclude_outside,
                 .antialias = options->antialias,
                 .a = options->cubic_coeff_a,
                 .in = x->type.dims[d],
                 .out = dims[d],
                 .start = entry(operands.region, (int64_t)i),
                 .end = entry(operands.region, (int64_t)(i + operands.count))};
    if (operands.scales) {
      axis.scale = entry(operands.scales, (int64_t)i);
    } else if (stretch) {
      Axis single = {.node = node, .trace = node->trace, .out = 1};
      axis.scale = counted(&single, (double)axis.out / (double)axis.in);
    }
    value = resizedAlong(&axis, d, options, value);
    if (!value)
      return NULL;
  }

  *out_done = true;
  return sambaOnnxSetTensor(node, 0, sambaCast(value, x->type.dtype));
}

/* Positions and weights stay f32 in every precision: in bf16 there are no odd numbers
 * beyond 256. */
SambaStatus sambaOnnxResizeAtRunTime(const SambaOnnxNode *node, SambaTraceValue *x,
                                     const SambaInterpolateOptions *options, bool *out_done) {
  sambaTraceKeepPrecision(node->trace, true);
  SambaStatus status = resized(node, x, options, out_done);
  sambaTraceKeepPrecision(node->trace, false);
  return status;
}
