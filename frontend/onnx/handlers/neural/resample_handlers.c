/* Handlers of ONNX operators that pad, resize and sample. */
#include "frontend/onnx/dynamic/dynamic.h"
#include "frontend/onnx/handlers/handlers.h"

#include <math.h>

/* ---- Pad, CenterCropPad ---- */

typedef struct Pads {
  int64_t low[SAMBA_MAX_RANK], high[SAMBA_MAX_RANK];
} Pads;

static SambaStatus padsOf(const SambaOnnxNode *node, uint32_t rank, Pads *out) {
  const int64_t *pads = NULL, *axes = NULL;
  size_t size = 0, axis_count = 0;
  bool found, has_axes;
  const char *attribute = node->version < 2 ? "paddings" : "pads";
  if (node->version >= 11) /* an input */
    attribute = NULL;

  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, attribute, &pads, &size, &found));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 3, NULL, &axes, &axis_count, &has_axes));
  size_t count = has_axes ? axis_count : rank;
  if (!found || size != 2 * count)
    return sambaStatusMake(SAMBA_INVALID, "there are %zu pads; there must be two per dimension",
                           size);
  *out = (Pads){0};

  for (size_t i = 0; i < count; ++i) {
    uint32_t axis = (uint32_t)i;
    if (has_axes)
      SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(axes[i], rank, &axis));
    out->low[axis] = pads[i], out->high[axis] = pads[count + i];
  }

  return NULL;
}

/* Pads that take away all there is, or a result without elements: *out_done, with the number
 * everywhere if it is of the constant mode. */
static SambaStatus replaced(const SambaOnnxNode *node, SambaTraceValue *x, const Pads *pads,
                            bool constant, double number, bool *out_done) {
  int64_t dims[SAMBA_MAX_RANK] = {0};
  bool nothing = false, all = false;

  for (uint32_t axis = 0; axis < x->type.rank; ++axis) {
    int64_t size = x->type.dims[axis];
    int64_t low = pads->low[axis] < 0 ? -pads->low[axis] : 0;
    int64_t high = pads->high[axis] < 0 ? -pads->high[axis] : 0;
    if (low > size || high > size - low)
      return sambaStatusMake(SAMBA_INVALID,
                             "the negative pads of dimension %u remove more elements than it has",
                             axis);
    all |= low + high == size;
    dims[axis] = size + pads->low[axis] + pads->high[axis];
    nothing |= dims[axis] == 0;
  }

  *out_done = nothing || (all && constant);
  if (nothing)
    return sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), x->type.rank, dims);
  if (*out_done)
    return sambaOnnxSetTensor(
        node, 0,
        sambaExpand(sambaTraceScalar(x->trace, x->type.dtype, number), x->type.rank, dims));
  return all ? sambaStatusMake(SAMBA_INVALID,
                               "the negative pads leave no element that padding could repeat")
             : NULL;
}

/* Negative pads cut off. */
static bool cutOff(SambaTraceValue **x, Pads *pads) {
  bool any = false;
  for (uint32_t axis = 0; axis < (*x)->type.rank; ++axis) {
    int64_t size = (*x)->type.dims[axis];
    int64_t low = pads->low[axis] < 0 ? -pads->low[axis] : 0;
    int64_t high = pads->high[axis] < 0 ? -pads->high[axis] : 0;
    if (low || high)
      *x = sambaOnnxPart(*x, axis, low, size - low - high, 1);
    if (!*x)
      break;
    pads->low[axis] += low, pads->high[axis] += high;
    any |= pads->low[axis] || pads->high[axis];
  }
  return any;
}

SambaStatus sambaOnnxImportPad(const SambaOnnxNode *node) {
  static const struct {
    const char *onnx, *samba;
  } modes[] = {
      {"constant", NULL}, {"reflect", "reflect"}, {"edge", "replicate"}, {"wrap", "circular"}};
  enum { mode_count = sizeof modes / sizeof *modes };
  SambaTraceValue *x;

  Pads pads;
  uint32_t mode = 0;
  bool done;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(padsOf(node, x->type.rank, &pads));
  while (mode < mode_count && !sambaOnnxStringIs(node, "mode", modes[mode].onnx, mode == 0))
    ++mode;
  if (mode == mode_count)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "this mode is not supported; the modes are constant, reflect, edge and wrap");
  double number = node->version < 11 ? sambaOnnxFloat(node, "value", 0) : 0;
  if (mode == 0 &&
      sambaOnnxHasInput(node, 2)) { /* what is only there at run time: runtime_forms.c */
    const SambaConstant *constant = sambaOnnxConstant(node, 2);
    if (!constant || constant->count != 1)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "the pad value must be one number known at compile time");
    number = sambaConstantReal(constant, 0);
  }

  SAMBA_RETURN_IF_ERROR(replaced(node, x, &pads, mode == 0, number, &done));
  if (done)
    return NULL;
  if (!cutOff(&x, &pads))
    return sambaOnnxSetTensor(node, 0, x);
  if (mode)
    return sambaOnnxSetTensor(node, 0, sambaPadBorder(x, pads.low, pads.high, modes[mode].samba));
  return sambaOnnxSetTensor(node, 0, sambaPad(x, pads.low, pads.high, number));
}

/* Each dimension is cut or padded around its middle; an odd element goes behind. */
SambaStatus sambaOnnxImportCenterCropPad(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  const int64_t *shape, *axes = NULL;
  size_t size, axis_count = 0;
  bool found, done, has_axes = sambaOnnxInts(node, "axes", &axes, &axis_count);

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, NULL, &shape, &size, &found));
  if (!found || size != (has_axes ? axis_count : x->type.rank))
    return sambaStatusMake(SAMBA_INVALID, "input 1, the shape, must have one number per dimension");
  Pads pads = {0};

  for (size_t i = 0; i < size; ++i) {
    uint32_t axis = (uint32_t)i;
    if (has_axes)
      SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(axes[i], x->type.rank, &axis));
    int64_t more = shape[i] - x->type.dims[axis];
    pads.low[axis] = more < 0 ? -(-more / 2) : more / 2;
    pads.high[axis] = more - pads.low[axis];
  }

  SAMBA_RETURN_IF_ERROR(replaced(node, x, &pads, true, 0, &done));
  if (done)
    return NULL;
  bool any = cutOff(&x, &pads);

  return sambaOnnxSetTensor(node, 0, any ? sambaPad(x, pads.low, pads.high, 0) : x);
}

/* ---- Resize, Upsample ---- */

/* Numbers that must be known, from an input; count 0: not there. */
static SambaStatus knownReals(const SambaOnnxNode *node, uint32_t input, const char *what,
                              const double **out, size_t *out_count) {
  *out_count = 0;
  if (!sambaOnnxHasInput(node, input))
    return NULL;
  const SambaConstant *constant;

  SAMBA_RETURN_IF_ERROR(sambaOnnxReadKnown(node, input, &constant));
  if (!constant)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "input %u, the %s, must be known at compile time; if it is a graph input, use --bind "
        "NAME=FILE",
        input, what);
  double *numbers = SAMBA_ARENA_ARRAY(node->arena, double, (size_t)constant->count);
  for (int64_t i = 0; i < constant->count; ++i)
    numbers[i] = sambaConstantReal(constant, i);
  *out = numbers;
  *out_count = (size_t)constant->count;

  return NULL;
}

typedef struct Resize {
  uint32_t rank;
  int64_t size[SAMBA_MAX_RANK];
  double scale[SAMBA_MAX_RANK], roi[2 * SAMBA_MAX_RANK];
} Resize;

/* What ONNX's shape inference does: a product in f32, rounded down. */
static int64_t scaledSize(int64_t size, double scale) {
  double product = (double)((float)size * (float)scale);
  return product < 1 || product > 1e12 ? 0 : (int64_t)product;
}

/* One scale for all dimensions: the smallest or the largest. */
static void keepAspect(const SambaTraceValue *x, const uint32_t *axes, size_t count, bool larger,
                       Resize *resize) {
  double scale = resize->scale[axes[0]];
  for (size_t i = 1; i < count; ++i)
    scale = larger ? fmax(scale, resize->scale[axes[i]]) : fmin(scale, resize->scale[axes[i]]);
  for (size_t i = 0; i < count; ++i) {
    resize->scale[axes[i]] = scale;
    resize->size[axes[i]] = (int64_t)(scale * (double)x->type.dims[axes[i]] + 0.5);
  }
}

/* Before operator set 9 scales are an attribute; before 7 there are two, for images. */
static void oldScales(const SambaOnnxNode *node, const double **out_scales, size_t *out_count) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, "scales");
  double *copy = SAMBA_ARENA_ARRAY(node->arena, double, SAMBA_MAX_RANK);
  *out_scales = copy;

  if (node->version < 7) {
    *out_count = 4;
    copy[0] = copy[1] = 1;
    copy[2] = sambaOnnxFloat(node, "height_scale", 1);
    copy[3] = sambaOnnxFloat(node, "width_scale", 1);
    return;
  }
  *out_count = attribute ? attribute->n_floats : 0;
  for (size_t i = 0; i < *out_count && i < SAMBA_MAX_RANK; ++i)
    copy[i] = (double)attribute->floats[i];
}

/* The axes that the operands are for: those of the attribute, or all. */
static SambaStatus resizedAxes(const SambaOnnxNode *node, uint32_t rank, uint32_t *out_axes,
                               size_t *out_count) {
  const int64_t *given;
  size_t given_count;

  *out_count = rank;
  for (uint32_t d = 0; d < rank; ++d)
    out_axes[d] = d;
  if (!sambaOnnxInts(node, "axes", &given, &given_count))
    return NULL;
  if (given_count > rank)
    return sambaStatusMake(SAMBA_INVALID, "there are %zu axes, but %u dimensions", given_count,
                           rank);
  *out_count = given_count;
  for (size_t i = 0; i < given_count; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(given[i], rank, &out_axes[i]));
  return NULL;
}

static SambaStatus resizeOf(const SambaOnnxNode *node, const SambaTraceValue *x, Resize *out) {
  const double *roi = NULL, *scales = NULL;
  const int64_t *sizes = NULL;
  size_t roi_count = 0, scale_count = 0, size_count = 0, count;
  bool found = false, modern = node->version >= 11;
  uint32_t axes[SAMBA_MAX_RANK];

  *out = (Resize){.rank = x->type.rank};
  for (uint32_t d = 0; d < out->rank; ++d) {
    out->size[d] = x->type.dims[d];
    out->scale[d] = out->roi[out->rank + d] = 1;
  }

  SAMBA_RETURN_IF_ERROR(resizedAxes(node, out->rank, axes, &count));
  if (modern &&
      sambaOnnxStringIs(node, "coordinate_transformation_mode", "tf_crop_and_resize", false))
    SAMBA_RETURN_IF_ERROR(knownReals(node, 1, "roi", &roi, &roi_count));
  SAMBA_RETURN_IF_ERROR(knownReals(node, modern ? 2 : 1, "scales", &scales, &scale_count));
  if (modern)
    SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 3, NULL, &sizes, &size_count, &found));
  if (node->version < 9)
    oldScales(node, &scales, &scale_count);

  bool roi_fits = !roi_count || roi_count == 2 * count;
  if ((scale_count != count && size_count != count) || !roi_fits || !count)
    return sambaStatusMake(SAMBA_INVALID, "there are %zu scales and %zu sizes for %zu dimensions",
                           scale_count, size_count, count);
  for (size_t i = 0; i < count; ++i) {
    uint32_t d = axes[i];
    int64_t size = x->type.dims[d];
    bool scaled = scale_count == count;
    out->scale[d] = scaled ? scales[i] : (double)sizes[i] / (double)size;
    out->size[d] = scaled ? scaledSize(size, scales[i]) : sizes[i];
    if (roi_count) {
      out->roi[d] = roi[i];
      out->roi[out->rank + d] = roi[count + i];
    }
  }

  if (size_count && !sambaOnnxStringIs(node, "keep_aspect_ratio_policy", "stretch", true)) {
    bool larger = sambaOnnxStringIs(node, "keep_aspect_ratio_policy", "not_smaller", false);
    if (!larger && !sambaOnnxStringIs(node, "keep_aspect_ratio_policy", "not_larger", false))
      return sambaStatusMake(SAMBA_INVALID,
                             "keep_aspect_ratio_policy must be stretch, not_larger or not_smaller");
    keepAspect(x, axes, count, larger, out);
  }

  return NULL;
}

/* The attribute's text, ended by a zero; `otherwise` when it is absent. */
static const char *text(const SambaOnnxNode *node, const char *name, const char *otherwise) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, name);
  return attribute && attribute->has_s
             ? sambaArenaFormat(node->arena, "%.*s", (int)attribute->s.len,
                                (const char *)attribute->s.data)
             : otherwise;
}

/* Before opset 11 coordinates are o / scale, and nearest takes the element below. */
SambaStatus sambaOnnxImportResize(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  Resize resize;
  bool modern = node->version >= 11;

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SambaInterpolateOptions options = {.size = resize.size, .scales = resize.scale};
  options.mode = text(node, "mode", "nearest");
  if (strcmp(node->proto->op_type, "Upsample") == 0 && strcmp(options.mode, "bilinear") == 0)
    options.mode = "linear"; /* the name in its first version */
  options.coordinate_mode =
      modern ? text(node, "coordinate_transformation_mode", "half_pixel") : "asymmetric";
  options.nearest_mode = modern ? text(node, "nearest_mode", "round_prefer_floor") : "floor";
  options.cubic_coeff_a = sambaOnnxFloat(node, "cubic_coeff_a", -0.75);
  options.exclude_outside = sambaOnnxInt(node, "exclude_outside", 0) != 0;
  options.antialias = sambaOnnxInt(node, "antialias", 0) != 0;
  options.extrapolation_value = sambaOnnxFloat(node, "extrapolation_value", 0);
  bool done = false;
  SAMBA_RETURN_IF_ERROR(sambaOnnxResizeAtRunTime(node, x, &options, &done));
  if (done)
    return NULL;
  SAMBA_RETURN_IF_ERROR(resizeOf(node, x, &resize));
  options.roi = strcmp(options.coordinate_mode, "tf_crop_and_resize") == 0 ? resize.roi : NULL;

  return sambaOnnxSetTensor(node, 0, sambaInterpolate(x, &options));
}

/* ---- Sampling ---- */

SambaStatus sambaOnnxImportGridSample(const SambaOnnxNode *node) {
  SambaTraceValue *x, *grid;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &grid));
  const char *mode = text(node, "mode", "bilinear");
  if (strcmp(mode, "linear") == 0) /* the names since opset 20 */
    mode = "bilinear";
  else if (strcmp(mode, "cubic") == 0)
    mode = "bicubic";
  return sambaOnnxSetTensor(node, 0,
                            sambaGridSample(x, grid, mode, text(node, "padding_mode", "zeros"),
                                            sambaOnnxInt(node, "align_corners", 0) != 0));
}

SambaStatus sambaOnnxImportAffineGrid(const SambaOnnxNode *node) {
  SambaTraceValue *theta;
  const int64_t *size = NULL;
  size_t count = 0;
  bool found;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &theta));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, NULL, &size, &count, &found));
  return sambaOnnxSetTensor(
      node, 0, sambaAffineGrid(theta, count, size, sambaOnnxInt(node, "align_corners", 0) != 0));
}

/* Samples that a bin can have: of the known regions, else of those within the picture. */
static SambaStatus mostSamples(const SambaOnnxNode *node, const SambaTraceValue *x,
                               const SambaRoiAlignOptions *options, int64_t *out_most) {
  const SambaConstant *rois;
  float most = 1;
  float scale = (float)options->spatial_scale;
  float shift = options->aligned ? 0.5F : 0;

  SAMBA_RETURN_IF_ERROR(sambaOnnxReadKnown(node, 1, &rois));
  for (uint32_t d = 0; d < 2 && x->type.rank == 4; ++d) {
    float bins = (float)options->size[d];
    most = rois ? most : fmaxf(most, ceilf((float)(x->type.dims[2 + d] + 1) / bins));
    for (int64_t i = 1 - d; rois && i + 2 < rois->count; i += 4) { /* x1, y1, x2, y2 */
      float end = (float)sambaConstantReal(rois, i + 2) * scale - shift;
      float start = (float)sambaConstantReal(rois, i) * scale - shift;
      most = fmaxf(most, ceilf((end - start) / bins));
    }
  }

  *out_most = most < 1e9F ? (int64_t)most : INT32_MAX;
  return NULL;
}

SambaStatus sambaOnnxImportRoiAlign(const SambaOnnxNode *node) {
  SambaTraceValue *x[3];
  for (uint32_t i = 0; i < 3; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, i, &x[i]));
  const char *shift = text(node, "coordinate_transformation_mode",
                           node->version < 16 ? "output_half_pixel" : "half_pixel");
  bool aligned = strcmp(shift, "half_pixel") == 0;

  if (!aligned && strcmp(shift, "output_half_pixel") != 0)
    return sambaStatusMake(
        SAMBA_INVALID, "coordinate_transformation_mode must be half_pixel or output_half_pixel");
  SambaRoiAlignOptions options = {
      .size = {sambaOnnxInt(node, "output_height", 1), sambaOnnxInt(node, "output_width", 1)},
      .sampling_ratio = sambaOnnxInt(node, "sampling_ratio", 0),
      .spatial_scale = sambaOnnxFloat(node, "spatial_scale", 1),
      .mode = text(node, "mode", "avg"),
      .aligned = aligned};
  options.adaptive = options.sampling_ratio == 0;
  if (options.adaptive)
    SAMBA_RETURN_IF_ERROR(mostSamples(node, x[0], &options, &options.sampling_ratio));
  return sambaOnnxSetTensor(node, 0, sambaRoiAlign(x[0], x[1], x[2], &options));
}

SambaStatus sambaOnnxImportCol2Im(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  const int64_t *image, *block;
  size_t spatial, count;
  bool found;

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, NULL, &image, &spatial, &found));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 2, NULL, &block, &count, &found));
  if (!found || count != spatial)
    return sambaStatusMake(
        SAMBA_INVALID,
        "image_shape has %zu numbers and block_shape %zu; both must have one per spatial dimension",
        spatial, count);
  SambaWindowOptions options = {.kernel = block};
  struct {
    const char *name;
    const int64_t **list;
    size_t count;
  } lists[] = {{"strides", &options.stride, spatial},
               {"pads", &options.padding, 2 * spatial},
               {"dilations", &options.dilation, spatial}};
  for (size_t i = 0; i < 3; ++i)
    if (sambaOnnxInts(node, lists[i].name, lists[i].list, &count) && count != lists[i].count)
      return sambaStatusMake(SAMBA_INVALID, "%s has %zu numbers, but must have %zu", lists[i].name,
                             count, lists[i].count);
  return sambaOnnxSetTensor(node, 0, sambaFold(x, spatial, image, &options));
}
