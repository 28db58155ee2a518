/* Handlers of ONNX operators with weights and windows: products, convolutions, pools, normalizations, softmax. */
#include "frontend/onnx/importer.h"

static SambaTensor *scaled(SambaTensor *x, double factor) {
  return !x || factor == 1 ? x : sambaMul(x, sambaTraceScalar(x->trace, x->type.dtype, factor));
}

/* alpha * op(A) * op(B) + beta * C. A bias along the columns goes into linear, any other C is added. */
SambaStatus sambaOnnxImportGemm(const SambaOnnxNode *node) {
  SambaTensor *a, *b, *c = NULL;
  double alpha = sambaOnnxFloat(node, "alpha", 1), beta = sambaOnnxFloat(node, "beta", 1);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &a));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &b));
  if (sambaOnnxHasInput(node, 2) && beta != 0)
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &c));
  if (a->type.rank != 2 || b->type.rank != 2)
    return sambaStatusMake(SAMBA_INVALID, "inputs 0 and 1 have ranks %u and %u, but must have rank 2", a->type.rank,
                           b->type.rank);
  if (sambaOnnxInt(node, "transA", 0))
    a = sambaTranspose(a, 0, 1);
  if (!sambaOnnxInt(node, "transB", 0))
    b = sambaTranspose(b, 0, 1);
  bool columns = c && b && alpha == 1 && beta == 1 && c->type.dtype == b->type.dtype && c->type.rank >= 1 &&
                 c->type.rank <= 2 && c->type.dims[c->type.rank - 1] == b->type.dims[0] &&
                 (c->type.rank == 1 || c->type.dims[0] == 1);
  if (columns) {
    SambaTensor *bias = c->type.rank == 1 ? c : sambaReshape(c, 1, &b->type.dims[0]);
    return sambaOnnxSetTensor(node, 0, sambaLinear(a, b, bias));
  }
  SambaTensor *product = scaled(sambaLinear(a, b, NULL), alpha);
  return sambaOnnxSetTensor(node, 0, c ? sambaAdd(product, scaled(c, beta)) : product);
}

SambaStatus sambaOnnxImportMatMul(const SambaOnnxNode *node) {
  SambaTensor *a, *b;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &a));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &b));
  return sambaOnnxSetTensor(node, 0, sambaMatmul(a, b));
}

typedef struct {
  int64_t kernel[3], stride[3], padding[6], dilation[3];
} Window;

static SambaStatus intsOrOnes(const SambaOnnxNode *node, const char *name, size_t count, int64_t *out) {
  const int64_t *data;
  size_t size;
  bool found = sambaOnnxInts(node, name, &data, &size);
  if (found && size != count)
    return sambaStatusMake(SAMBA_INVALID, "attribute '%s' has %zu numbers, but there are %zu spatial dimensions", name,
                           size, count);
  for (size_t i = 0; i < count; ++i) {
    out[i] = found ? data[i] : 1;
    if (out[i] < 1 || out[i] > (int64_t)1 << 40)
      return sambaStatusMake(SAMBA_INVALID, "attribute '%s' has %lld", name, (long long)out[i]);
  }
  return NULL;
}

/* Strides, dilations and pads of a window operator; kernel is filled already. auto_pad: SAME keeps ceil(size / stride)
 * windows. */
static SambaStatus readWindow(const SambaOnnxNode *node, const SambaTensor *x, Window *window) {
  if (x->type.rank < 3 || x->type.rank > 5)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "input 0 has rank %u; one to three spatial dimensions are supported (rank 3 to 5)",
                           x->type.rank);
  size_t spatial = x->type.rank - 2, size;
  const int64_t *pads;
  SAMBA_RETURN_IF_ERROR(intsOrOnes(node, "strides", spatial, window->stride));
  SAMBA_RETURN_IF_ERROR(intsOrOnes(node, "dilations", spatial, window->dilation));
  bool upper = sambaOnnxStringIs(node, "auto_pad", "SAME_UPPER", false),
       lower = sambaOnnxStringIs(node, "auto_pad", "SAME_LOWER", false);
  bool valid = sambaOnnxStringIs(node, "auto_pad", "VALID", false);
  if (!upper && !lower && !valid && !sambaOnnxStringIs(node, "auto_pad", "NOTSET", true) &&
      !sambaOnnxStringIs(node, "auto_pad", "", false))
    return sambaStatusMake(SAMBA_INVALID, "attribute 'auto_pad' is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  memset(window->padding, 0, sizeof window->padding);
  if (upper || lower) {
    for (size_t i = 0; i < spatial; ++i) {
      int64_t in = x->type.dims[2 + i], out = (in + window->stride[i] - 1) / window->stride[i];
      int64_t total = (out - 1) * window->stride[i] + window->dilation[i] * (window->kernel[i] - 1) + 1 - in;
      total = total < 0 ? 0 : total;
      window->padding[i] = upper ? total / 2 : total - total / 2;
      window->padding[spatial + i] = total - window->padding[i];
    }
    return NULL;
  }
  if (valid || !sambaOnnxInts(node, "pads", &pads, &size))
    return NULL;
  if (size != 2 * spatial)
    return sambaStatusMake(SAMBA_INVALID, "attribute 'pads' has %zu numbers, but must have %zu", size, 2 * spatial);
  memcpy(window->padding, pads, size * sizeof *pads);
  return NULL;
}

SambaStatus sambaOnnxImportConv(const SambaOnnxNode *node) {
  SambaTensor *x, *w, *b = NULL;
  Window window;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &w));
  if (sambaOnnxHasInput(node, 2))
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &b));
  if (w->type.rank != x->type.rank)
    return sambaStatusMake(SAMBA_INVALID, "the weight has rank %u, but the input has rank %u", w->type.rank,
                           x->type.rank);
  for (uint32_t i = 2; i < w->type.rank && i < 5; ++i)
    window.kernel[i - 2] = w->type.dims[i];
  SAMBA_RETURN_IF_ERROR(readWindow(node, x, &window));
  SambaWindowOptions options = {.stride = window.stride,
                                .padding = window.padding,
                                .dilation = window.dilation,
                                .groups = sambaOnnxInt(node, "group", 1)};
  return sambaOnnxSetTensor(node, 0, sambaConv(x, w, b, &options));
}

static SambaStatus readPool(const SambaOnnxNode *node, SambaTensor **out_x, Window *window) {
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, out_x));
  if (!sambaOnnxAttribute(node, "kernel_shape"))
    return sambaStatusMake(SAMBA_INVALID, "attribute 'kernel_shape' is missing");
  if ((*out_x)->type.rank >= 3 && (*out_x)->type.rank <= 5)
    SAMBA_RETURN_IF_ERROR(intsOrOnes(node, "kernel_shape", (*out_x)->type.rank - 2, window->kernel));
  return readWindow(node, *out_x, window);
}

SambaStatus sambaOnnxImportMaxPool(const SambaOnnxNode *node) {
  SambaTensor *x;
  Window window;
  SAMBA_RETURN_IF_ERROR(sambaOnnxRefuseOutputs(node, 1));
  SAMBA_RETURN_IF_ERROR(readPool(node, &x, &window));
  SambaWindowOptions options = {.kernel = window.kernel,
                                .stride = window.stride,
                                .padding = window.padding,
                                .dilation = window.dilation,
                                .ceil_mode = sambaOnnxInt(node, "ceil_mode", 0) != 0};
  return sambaOnnxSetTensor(node, 0, sambaMaxPool(x, &options));
}

SambaStatus sambaOnnxImportAveragePool(const SambaOnnxNode *node) {
  SambaTensor *x;
  Window window;
  SAMBA_RETURN_IF_ERROR(readPool(node, &x, &window));
  for (uint32_t i = 0; i + 2 < x->type.rank; ++i)
    if (window.dilation[i] != 1)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "dilations of average pools are not supported");
  SambaWindowOptions options = {.kernel = window.kernel,
                                .stride = window.stride,
                                .padding = window.padding,
                                .ceil_mode = sambaOnnxInt(node, "ceil_mode", 0) != 0,
                                .exclude_padding = sambaOnnxInt(node, "count_include_pad", 0) == 0};
  return sambaOnnxSetTensor(node, 0, sambaAvgPool(x, &options));
}

SambaStatus sambaOnnxImportGlobalPool(const SambaOnnxNode *node) {
  SambaTensor *x;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (x->type.rank < 3)
    return sambaStatusMake(SAMBA_INVALID, "input 0 has rank %u, but must have spatial dimensions", x->type.rank);
  for (uint32_t axis = 2; axis < x->type.rank; ++axis)
    dims[axis - 2] = axis;
  bool average = strcmp(node->proto->op_type, "GlobalAveragePool") == 0;
  return sambaOnnxSetTensor(node, 0, (average ? sambaMean : sambaAmax)(x, x->type.rank - 2, dims, true));
}

SambaStatus sambaOnnxImportBatchNormalization(const SambaOnnxNode *node) {
  SambaTensor *x[5];
  SAMBA_RETURN_IF_ERROR(sambaOnnxRefuseOutputs(node, 1));
  if (sambaOnnxInt(node, "training_mode", 0) || !sambaOnnxInt(node, "spatial", 1))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "training_mode = 1 and spatial = 0 are not supported; export the model for inference");
  for (uint32_t i = 0; i < 5; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, i, &x[i]));
  return sambaOnnxSetTensor(node, 0,
                            sambaBatchNorm(x[0], x[1], x[2], x[3], x[4], sambaOnnxFloat(node, "epsilon", 1e-5)));
}

/* A parameter in exactly this shape. */
static SambaTensor *fitted(SambaTensor *parameter, uint32_t rank, const int64_t *dims) {
  bool same = parameter->type.rank == rank && memcmp(parameter->type.dims, dims, rank * sizeof *dims) == 0;
  return same ? parameter : sambaExpand(parameter, rank, dims);
}

SambaStatus sambaOnnxImportLayerNormalization(const SambaOnnxNode *node) {
  SambaTensor *x, *scale, *bias = NULL;
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaOnnxRefuseOutputs(node, 1));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &scale));
  if (sambaOnnxHasInput(node, 2))
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &bias));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", -1), x->type.rank, &axis));
  uint32_t count = x->type.rank - axis;
  scale = fitted(scale, count, &x->type.dims[axis]);
  if (bias)
    bias = fitted(bias, count, &x->type.dims[axis]);
  return sambaOnnxSetTensor(node, 0, sambaLayerNorm(x, count, scale, bias, sambaOnnxFloat(node, "epsilon", 1e-5)));
}

SambaStatus sambaOnnxImportInstanceNormalization(const SambaOnnxNode *node) {
  SambaTensor *x, *scale, *bias;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &scale));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &bias));
  if (x->type.rank < 2)
    return sambaStatusMake(SAMBA_INVALID, "input 0 has rank %u, but must have a batch and a channel dimension",
                           x->type.rank);
  return sambaOnnxSetTensor(node, 0,
                            sambaGroupNorm(x, x->type.dims[1], scale, bias, sambaOnnxFloat(node, "epsilon", 1e-5)));
}

/* Before opset 21 scale and bias are per group. */
SambaStatus sambaOnnxImportGroupNormalization(const SambaOnnxNode *node) {
  SambaTensor *x, *parameters[2];
  int64_t groups = sambaOnnxInt(node, "num_groups", 0);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  for (uint32_t i = 0; i < 2; ++i) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, i + 1, &parameters[i]));
    int64_t channels = x->type.rank > 1 ? x->type.dims[1] : 0,
            size = parameters[i]->type.rank == 1 ? parameters[i]->type.dims[0] : 0;
    if (groups < 1 || !channels || channels % groups)
      return sambaStatusMake(SAMBA_INVALID, "%lld groups do not divide %lld channels", (long long)groups,
                             (long long)channels);
    if (node->version < 21 && size == groups) {
      SambaTensor *column = sambaReshape(parameters[i], 2, (int64_t[]){groups, 1});
      parameters[i] = sambaReshape(sambaExpand(column, 2, (int64_t[]){groups, channels / groups}), 1, &channels);
    }
  }
  return sambaOnnxSetTensor(
      node, 0, sambaGroupNorm(x, groups, parameters[0], parameters[1], sambaOnnxFloat(node, "epsilon", 1e-5)));
}

/* x / (bias + alpha / size * sum of x^2 over a window of channels) ^ beta. The window's mean is an average pool over
 * the channels, with padding counted. */
SambaStatus sambaOnnxImportLrn(const SambaOnnxNode *node) {
  SambaTensor *x;
  int64_t size = sambaOnnxInt(node, "size", 0), rest = 1;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (x->type.rank < 2 || size < 1)
    return sambaStatusMake(SAMBA_INVALID,
                           "input 0 has rank %u and attribute 'size' is %lld, but there must be channels and a window",
                           x->type.rank, (long long)size);
  for (uint32_t axis = 2; axis < x->type.rank; ++axis)
    rest *= x->type.dims[axis];
  SambaTensor *squares = sambaReshape(sambaMul(x, x), 4, (int64_t[]){x->type.dims[0], 1, x->type.dims[1], rest});
  SambaWindowOptions window = {.kernel = (int64_t[]){size, 1},
                               .stride = (int64_t[]){1, 1},
                               .padding = (int64_t[]){(size - 1) / 2, 0, size - 1 - (size - 1) / 2, 0}};
  SambaTensor *mean = sambaReshape(sambaAvgPool(squares, &window), x->type.rank, x->type.dims);
  SambaTensor *base = scaled(mean, sambaOnnxFloat(node, "alpha", 1e-4));
  if (base)
    base = sambaAdd(base, sambaTraceScalar(x->trace, x->type.dtype, sambaOnnxFloat(node, "bias", 1)));
  if (base)
    base = sambaPow(base, sambaTraceScalar(x->trace, x->type.dtype, sambaOnnxFloat(node, "beta", 0.75)));
  return sambaOnnxSetTensor(node, 0, sambaDiv(x, base));
}
