/* Handlers of ONNX operators with windows: convolutions and pools. */
#include "frontend/onnx/handlers/handlers.h"

#include <stdlib.h>

typedef struct {
  int64_t kernel[3], stride[3], padding[6], dilation[3];
  bool automatic; /* the padding follows from auto_pad */
} Window;
typedef enum { PAD_NOTSET, PAD_UPPER, PAD_LOWER, PAD_VALID } AutoPad;

static SambaStatus intsOrOnes(const SambaOnnxNode *node, const char *name, size_t count,
                              int64_t *out) {
  const int64_t *data;
  size_t size;
  bool found = sambaOnnxInts(node, name, &data, &size);
  if (found && size != count)
    return sambaStatusMake(SAMBA_INVALID,
                           "attribute '%s' has %zu numbers, but there are %zu spatial dimensions",
                           name, size, count);
  for (size_t i = 0; i < count; ++i) {
    out[i] = found ? data[i] : 1;
    if (out[i] < 1 || out[i] > (int64_t)1 << 40)
      return sambaStatusMake(SAMBA_INVALID,
                             "attribute '%s' contains %lld; numbers from 1 to 2^40 are possible",
                             name, (long long)out[i]);
  }
  return NULL;
}

static SambaStatus readAutoPad(const SambaOnnxNode *node, AutoPad *out_mode) {
  static const char *const names[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  *out_mode = PAD_NOTSET;
  if (sambaOnnxStringIs(node, "auto_pad", "", true))
    return NULL;
  for (int i = 0; i < 4; ++i)
    if (sambaOnnxStringIs(node, "auto_pad", names[i], false)) {
      *out_mode = (AutoPad)i;
      return NULL;
    }
  return sambaStatusMake(SAMBA_INVALID,
                         "attribute 'auto_pad' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

static SambaStatus readPads(const SambaOnnxNode *node, size_t spatial, int64_t *out_padding) {
  const int64_t *pads;
  size_t size;
  if (!sambaOnnxInts(node, "pads", &pads, &size))
    return NULL;
  if (size != 2 * spatial)
    return sambaStatusMake(SAMBA_INVALID, "attribute 'pads' has %zu numbers, but must have %zu",
                           size, 2 * spatial);
  memcpy(out_padding, pads, size * sizeof *pads);
  return NULL;
}

/* Strides, dilations and pads of a window operator; kernel is filled already. auto_pad: SAME keeps
 * ceil(size / stride) windows. */
static SambaStatus readWindow(const SambaOnnxNode *node, const SambaTraceValue *x, Window *window) {
  if (x->type.rank < 3 || x->type.rank > 5)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "input 0 has rank %u; one to three spatial dimensions are supported (rank 3 to 5)",
        x->type.rank);
  size_t spatial = x->type.rank - 2;

  SAMBA_RETURN_IF_ERROR(intsOrOnes(node, "strides", spatial, window->stride));
  SAMBA_RETURN_IF_ERROR(intsOrOnes(node, "dilations", spatial, window->dilation));
  AutoPad mode;
  SAMBA_RETURN_IF_ERROR(readAutoPad(node, &mode));
  memset(window->padding, 0, sizeof window->padding);
  window->automatic = mode != PAD_NOTSET;
  if (mode == PAD_UPPER || mode == PAD_LOWER) {
    for (size_t i = 0; i < spatial; ++i) {
      int64_t in = x->type.dims[2 + i];
      int64_t out = (in + window->stride[i] - 1) / window->stride[i];
      int64_t total =
          (out - 1) * window->stride[i] + window->dilation[i] * (window->kernel[i] - 1) + 1 - in;
      total = total < 0 ? 0 : total;
      window->padding[i] = mode == PAD_UPPER ? total / 2 : total - total / 2;
      window->padding[spatial + i] = total - window->padding[i];
    }
    return NULL;
  }

  return mode == PAD_VALID ? NULL : readPads(node, spatial, window->padding);
}

/* Inputs of a convolution; the kernel is the weight's. */
static SambaStatus readConvolution(const SambaOnnxNode *node, SambaTraceValue **out,
                                   Window *window) {
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &out[0]));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &out[1]));
  if (sambaOnnxHasInput(node, 2))
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &out[2]));
  uint32_t rank = out[0]->type.rank;

  if (out[1]->type.rank != rank)
    return sambaStatusMake(SAMBA_INVALID, "the weight has rank %u, but the input has rank %u",
                           out[1]->type.rank, rank);
  const int64_t *kernel;
  size_t size;
  bool given = sambaOnnxInts(node, "kernel_shape", &kernel, &size);

  for (uint32_t i = 2; i < rank && i < 5; ++i) {
    window->kernel[i - 2] = out[1]->type.dims[i];
    if (given && (size != rank - 2 || kernel[i - 2] != out[1]->type.dims[i]))
      return sambaStatusMake(
          SAMBA_INVALID,
          "attribute 'kernel_shape' differs from the spatial dimensions of the weight");
  }

  return readWindow(node, out[0], window);
}

SambaStatus sambaOnnxImportConv(const SambaOnnxNode *node) {
  SambaTraceValue *x[3] = {NULL};
  Window window;
  SAMBA_RETURN_IF_ERROR(readConvolution(node, x, &window));
  SambaWindowOptions options = {.stride = window.stride,
                                .padding = window.padding,
                                .dilation = window.dilation,
                                .groups = sambaOnnxInt(node, "group", 1)};
  return sambaOnnxSetTensor(node, 0, sambaConv(x[0], x[1], x[2], &options));
}

/* What output_shape asks for, or SAME: size * stride. Padding is what is too much; an extent beyond
 * the natural one is padding of the output. */
static SambaStatus padsOfOutputShape(const SambaOnnxNode *node, const SambaTraceValue *x,
                                     AutoPad mode, Window *window, int64_t *extra) {
  size_t spatial = x->type.rank - 2;
  size_t size = 0;
  const int64_t *shape;
  bool given = sambaOnnxInts(node, "output_shape", &shape, &size);

  if (given && size != spatial && size != spatial + 2)
    return sambaStatusMake(SAMBA_INVALID,
                           "attribute 'output_shape' has %zu numbers, but must have %zu", size,
                           spatial);

  /* the older definition has it the other way round */
  bool fewer_before = (mode == PAD_UPPER) == (node->version >= 11);
  for (size_t i = 0; i < spatial; ++i) {
    int64_t in = x->type.dims[2 + i];
    int64_t span;
    int64_t reach;
    int64_t wanted;
    bool overflow = sambaMulOverflows(window->dilation[i], window->kernel[i] - 1, &span);
    overflow = sambaMulOverflows(in, window->stride[i], &wanted) || overflow;
    overflow = sambaMulOverflows(in - 1, window->stride[i], &reach) || overflow;
    overflow = sambaAddOverflows(reach, span, &reach) || overflow;
    if (given)
      wanted = shape[size - spatial + i];
    if (overflow || wanted < 1 || wanted > (int64_t)1 << 48 || reach > (int64_t)1 << 48)
      return sambaStatusMake(SAMBA_INVALID,
                             "spatial dimension %zu of the output cannot have %lld elements", i,
                             (long long)wanted);
    int64_t total = reach + 1 + extra[i] - wanted;
    if (total < 0)
      extra[i] -= total, total = 0;
    window->padding[i] = fewer_before ? total / 2 : total - total / 2;
    window->padding[spatial + i] = total - window->padding[i];
  }

  return NULL;
}

SambaStatus sambaOnnxImportConvTranspose(const SambaOnnxNode *node) {
  SambaTraceValue *x[3] = {NULL};
  Window window;
  AutoPad mode;
  SAMBA_RETURN_IF_ERROR(readConvolution(node, x, &window));
  SAMBA_RETURN_IF_ERROR(readAutoPad(node, &mode));
  int64_t extra[3] = {0};
  const int64_t *given;
  size_t spatial = x[0]->type.rank - 2;
  size_t size;

  if (sambaOnnxInts(node, "output_padding", &given, &size)) {
    if (size != spatial)
      return sambaStatusMake(SAMBA_INVALID,
                             "attribute 'output_padding' has %zu numbers, but must have %zu", size,
                             spatial);
    memcpy(extra, given, size * sizeof *given);
  }

  if (mode == PAD_UPPER || mode == PAD_LOWER || sambaOnnxAttribute(node, "output_shape"))
    SAMBA_RETURN_IF_ERROR(padsOfOutputShape(node, x[0], mode, &window, extra));
  SambaWindowOptions options = {.stride = window.stride,
                                .padding = window.padding,
                                .output_padding = extra,
                                .dilation = window.dilation,
                                .groups = sambaOnnxInt(node, "group", 1)};
  return sambaOnnxSetTensor(node, 0, sambaConvTranspose(x[0], x[1], x[2], &options));
}

static SambaStatus readPool(const SambaOnnxNode *node, SambaTraceValue **out_x, Window *window) {
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, out_x));
  if (!sambaOnnxAttribute(node, "kernel_shape"))
    return sambaStatusMake(SAMBA_INVALID, "attribute 'kernel_shape' is missing");
  if ((*out_x)->type.rank >= 3 && (*out_x)->type.rank <= 5)
    SAMBA_RETURN_IF_ERROR(
        intsOrOnes(node, "kernel_shape", (*out_x)->type.rank - 2, window->kernel));
  return readWindow(node, *out_x, window);
}

/* A pool's options; auto_pad leaves no room for ceil_mode. */
static SambaWindowOptions poolOptions(const SambaOnnxNode *node, const Window *window) {
  return (SambaWindowOptions){.kernel = window->kernel,
                              .stride = window->stride,
                              .padding = window->padding,
                              .dilation = window->dilation,
                              .ceil_mode =
                                  sambaOnnxInt(node, "ceil_mode", 0) != 0 && !window->automatic,
                              .exclude_padding = sambaOnnxInt(node, "count_include_pad", 0) == 0};
}

static SambaTraceValue *integer(SambaTraceValue *like, int64_t value) {
  return sambaTraceScalar(like->trace, SAMBA_DTYPE_I64, (double)value);
}

/* Positions within a plane, row-major, as positions in the whole tensor; storage_order = 1 numbers
 * the elements of a plane with its first dimension fastest. */
static SambaTraceValue *wholeIndices(const SambaTraceValue *x, SambaTraceValue *indices,
                                     bool columns) {
  uint32_t rank = x->type.rank;
  int64_t plane = 1;
  int64_t planes = x->type.dims[0] * x->type.dims[1];

  for (uint32_t axis = 2; axis < rank; ++axis)
    plane *= x->type.dims[axis];
  if (columns && rank > 3) {
    SambaTraceValue *rest = indices, *sum = NULL;
    int64_t weight = plane;
    for (uint32_t axis = rank; axis-- > 2;) { /* the last dimension first */
      int64_t size = x->type.dims[axis];
      weight /= size;
      SambaTraceValue *at = axis == 2 ? rest : sambaFmod(rest, integer(indices, size));
      SambaTraceValue *term = weight == 1 ? at : sambaMul(at, integer(indices, weight));
      rest = axis == 2 ? rest : sambaDiv(rest, integer(indices, size));
      sum = sum ? sambaAdd(sum, term) : term;
    }
    indices = sum;
  }

  if (planes == 1 || !indices)
    return indices;
  SambaTensorType type = {
      .dtype = SAMBA_DTYPE_I64, .rank = rank, .dims = {x->type.dims[0], x->type.dims[1]}};
  for (uint32_t axis = 2; axis < rank; ++axis)
    type.dims[axis] = 1;
  int64_t *starts = sambaAllocate(sambaArraySize((size_t)planes, sizeof *starts));
  for (int64_t i = 0; i < planes; ++i)
    starts[i] = i * plane;
  SambaTraceValue *result = sambaAdd(indices, sambaTraceConstant(x->trace, &type, starts, false));
  free(starts);

  return result;
}

SambaStatus sambaOnnxImportMaxPool(const SambaOnnxNode *node) {
  SambaTraceValue *x, *indices;
  Window window;
  SAMBA_RETURN_IF_ERROR(readPool(node, &x, &window));
  SambaWindowOptions options = poolOptions(node, &window);
  if (!sambaOnnxOutputUsed(node, 1))
    return sambaOnnxSetTensor(node, 0, sambaMaxPool(x, &options));
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxSetTensor(node, 0, sambaMaxPoolWithIndices(x, &options, &indices)));
  return sambaOnnxSetTensor(node, 1,
                            wholeIndices(x, indices, sambaOnnxInt(node, "storage_order", 0) != 0));
}

SambaStatus sambaOnnxImportAveragePool(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  Window window;
  SAMBA_RETURN_IF_ERROR(readPool(node, &x, &window));
  SambaWindowOptions options = poolOptions(node, &window);
  return sambaOnnxSetTensor(node, 0, sambaAvgPool(x, &options));
}

/* p was a float at first. */
static double normOf(const SambaOnnxNode *node) {
  return node->version < 2 ? sambaOnnxFloat(node, "p", 2) : (double)sambaOnnxInt(node, "p", 2);
}

SambaStatus sambaOnnxImportLpPool(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  Window window;
  SAMBA_RETURN_IF_ERROR(readPool(node, &x, &window));
  SambaWindowOptions options = poolOptions(node, &window);
  return sambaOnnxSetTensor(node, 0, sambaLpPool(x, normOf(node), &options));
}

SambaStatus sambaOnnxImportGlobalPool(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (x->type.rank < 3)
    return sambaStatusMake(SAMBA_INVALID, "input 0 has rank %u, but must have spatial dimensions",
                           x->type.rank);
  for (uint32_t axis = 2; axis < x->type.rank; ++axis)
    dims[axis - 2] = axis;
  bool average = node->row->variant == SAMBA_ONNX_GLOBAL_AVERAGE_POOL;
  return sambaOnnxSetTensor(node, 0,
                            (average ? sambaMean : sambaAmax)(x, x->type.rank - 2, dims, true));
}

/* All spatial dimensions as one window. */
SambaStatus sambaOnnxImportGlobalLpPool(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (x->type.rank < 3)
    return sambaStatusMake(SAMBA_INVALID, "input 0 has rank %u, but must have spatial dimensions",
                           x->type.rank);
  int64_t plane = 1, dims[SAMBA_MAX_RANK];

  for (uint32_t axis = 0; axis < x->type.rank; ++axis) {
    plane *= axis < 2 ? 1 : x->type.dims[axis];
    dims[axis] = axis < 2 ? x->type.dims[axis] : 1;
  }

  SambaWindowOptions options = {.kernel = &plane};
  SambaTraceValue *norm =
      sambaLpPool(sambaReshape(x, 3, (int64_t[]){dims[0], dims[1], plane}), normOf(node), &options);
  return sambaOnnxSetTensor(node, 0, sambaReshape(norm, x->type.rank, dims));
}
