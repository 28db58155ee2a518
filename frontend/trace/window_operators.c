/* Convolutions, pools and normalizations as C functions; see operators.h. */
#include "frontend/trace/trace.h"
#include "samba/operators.h"

/* All operands must be there; on failure the results are NULL and the trace has the reason. */
static void callForResults(const char *name, uint32_t count, SambaTraceValue *const *operands,
                           uint32_t attribute_count, const SambaAttribute *attributes,
                           uint32_t result_count, SambaTraceValue **out_results) {
  bool fine = true;
  for (uint32_t i = 0; i < count; ++i)
    fine = fine && operands[i];
  SambaTrace *trace = fine ? operands[0]->trace : NULL;
  if (fine && !sambaTraceStatus(trace)) {
    SambaStatus status =
        sambaTraceOperator(trace, name, count, operands, attribute_count, attributes, out_results);
    if (!status)
      return;
    sambaTraceFail(trace, status);
  }
  for (uint32_t i = 0; i < result_count; ++i)
    out_results[i] = NULL;
}

/* The name of a window operator by x's rank, and its number of spatial dimensions. */
static const char *windowName(const SambaTraceValue *x, const char *const names[3],
                              size_t *out_spatial) {
  uint32_t rank = x->type.rank;
  *out_spatial =
      rank >= 3 && rank <= 5 ? rank - 2 : 1; /* another rank is refused by the operator itself */
  return names[*out_spatial - 1];
}

static void addInts(SambaAttribute *attributes, uint32_t *count, const char *name,
                    const int64_t *data, size_t size) {
  if (data)
    attributes[(*count)++] = sambaIntsAttribute(name, data, size);
}

/* The attributes that all convolutions take; attributes has room for 5. output_padding may be
 * NULL. */
static uint32_t convolutionAttributes(const SambaWindowOptions *options, size_t spatial,
                                      const int64_t *output_padding, SambaAttribute *attributes) {
  uint32_t count = 0;
  addInts(attributes, &count, "stride", options->stride, spatial);
  addInts(attributes, &count, "padding", options->padding, 2 * spatial);
  addInts(attributes, &count, "output_padding", output_padding, spatial);
  addInts(attributes, &count, "dilation", options->dilation, spatial);
  if (options->groups)
    attributes[count++] = sambaIntAttribute("groups", options->groups);
  return count;
}

SambaTraceValue *sambaConv(SambaTraceValue *x, SambaTraceValue *weight, SambaTraceValue *bias,
                           const SambaWindowOptions *options) {
  static const char *const names[] = {"conv1d", "conv2d", "conv3d"};
  if (!x || !weight)
    return NULL;
  SambaAttribute attributes[5];
  size_t spatial;
  const char *name = windowName(x, names, &spatial);
  uint32_t count = convolutionAttributes(options, spatial, NULL, attributes);
  return sambaTraceBuild(name, 1, 3, (SambaTraceValue *[]){x, weight, bias}, count, attributes);
}

SambaTraceValue *sambaConvTranspose(SambaTraceValue *x, SambaTraceValue *weight,
                                    SambaTraceValue *bias, const SambaWindowOptions *options) {
  static const char *const names[] = {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};
  if (!x || !weight)
    return NULL;
  size_t spatial;
  const char *name = windowName(x, names, &spatial);
  int64_t extra[3] = {0}, cut[3] = {0};

  for (size_t i = 0; i < spatial && x->type.rank == spatial + 2 && weight->type.rank == spatial + 2;
       ++i) {
    int64_t stride = options->stride ? options->stride[i] : 1;
    int64_t dilation = options->dilation ? options->dilation[i] : 1;
    int64_t pads = options->padding ? options->padding[i] + options->padding[spatial + i] : 0;
    int64_t span;
    int64_t size;
    extra[i] = options->output_padding ? options->output_padding[i] : 0;
    if (stride < 2 || sambaMulOverflows(dilation, weight->type.dims[2 + i] - 1, &span) ||
        sambaMulOverflows(x->type.dims[2 + i] - 1, stride, &size) ||
        sambaAddOverflows(size, span, &size) || size > (int64_t)1 << 48 ||
        extra[i] > (int64_t)1 << 48 || size + 1 + extra[i] - pads < 1)
      continue; /* as it is, also when the operator will refuse it */
    size += 1 + extra[i] - pads;
    cut[i] = (stride - size % stride) % stride;
    extra[i] += cut[i];
  }

  SambaAttribute attributes[5];
  uint32_t count = convolutionAttributes(options, spatial, extra, attributes);
  SambaTraceValue *result =
      sambaTraceBuild(name, 1, 3, (SambaTraceValue *[]){x, weight, bias}, count, attributes);
  for (size_t i = 0; i < spatial && result; ++i)
    if (cut[i])
      result = sambaSlice(result, (int64_t)(2 + i), 0, result->type.dims[2 + i] - cut[i], 1);
  return result;
}

/* The attributes that all pools take; attributes has room for 5. */
static uint32_t poolAttributes(const SambaWindowOptions *options, size_t spatial,
                               SambaAttribute *attributes) {
  uint32_t count = 0;
  addInts(attributes, &count, "kernel_size", options->kernel, spatial);
  addInts(attributes, &count, "stride", options->stride, spatial);
  addInts(attributes, &count, "padding", options->padding, 2 * spatial);
  addInts(attributes, &count, "dilation", options->dilation, spatial);
  if (options->ceil_mode)
    attributes[count++] = sambaBoolAttribute("ceil_mode", true);
  return count;
}

/* A pool of one result; `more` is an attribute beyond those that all pools take, or NULL. */
static SambaTraceValue *buildPool(SambaTraceValue *x, const char *const names[3],
                                  const SambaWindowOptions *options, const SambaAttribute *more) {
  SambaAttribute attributes[6];
  size_t spatial;

  if (!x)
    return NULL;
  const char *name = windowName(x, names, &spatial);
  uint32_t count = poolAttributes(options, spatial, attributes);
  if (more)
    attributes[count++] = *more;
  return sambaTraceBuild(name, 1, 1, &x, count, attributes);
}

SambaTraceValue *sambaMaxPool(SambaTraceValue *x, const SambaWindowOptions *options) {
  static const char *const names[] = {"max_pool1d", "max_pool2d", "max_pool3d"};
  return buildPool(x, names, options, NULL);
}
SambaTraceValue *sambaMaxPoolWithIndices(SambaTraceValue *x, const SambaWindowOptions *options,
                                         SambaTraceValue **out_indices) {
  static const char *const names[] = {"max_pool1d_with_indices", "max_pool2d_with_indices",
                                      "max_pool3d_with_indices"};
  SambaAttribute attributes[5];
  SambaTraceValue *results[2] = {NULL};
  size_t spatial;
  if (x) {
    const char *name = windowName(x, names, &spatial);
    callForResults(name, 1, &x, poolAttributes(options, spatial, attributes), attributes, 2,
                   results);
  }
  *out_indices = results[1];
  return results[0];
}
SambaTraceValue *sambaAvgPool(SambaTraceValue *x, const SambaWindowOptions *options) {
  static const char *const names[] = {"avg_pool1d", "avg_pool2d", "avg_pool3d"};
  SambaAttribute excluded = sambaBoolAttribute("count_include_pad", false);
  return buildPool(x, names, options, options->exclude_padding ? &excluded : NULL);
}
SambaTraceValue *sambaLpPool(SambaTraceValue *x, double norm_type,
                             const SambaWindowOptions *options) {
  static const char *const names[] = {"lp_pool1d", "lp_pool2d", "lp_pool3d"};
  SambaAttribute norm = sambaFloatAttribute("norm_type", norm_type);
  return buildPool(x, names, options, &norm);
}

void sambaBatchNormTraining(SambaTraceValue *x, SambaTraceValue *weight, SambaTraceValue *bias,
                            SambaTraceValue *mean, SambaTraceValue *variance, double eps,
                            double momentum, SambaTraceValue **out_results) {
  SambaAttribute attributes[] = {sambaFloatAttribute("eps", eps),
                                 sambaFloatAttribute("momentum", momentum)};
  callForResults("batch_norm_training", 5, (SambaTraceValue *[]){x, weight, bias, mean, variance},
                 2, attributes, 5, out_results);
}

static SambaTraceValue *lastDimensionNorm(const char *name, SambaTraceValue *x, uint32_t dims,
                                          SambaTraceValue *weight, SambaTraceValue *bias,
                                          double eps) {
  if (!x)
    return NULL;
  uint32_t count = dims < x->type.rank ? dims : x->type.rank;
  SambaAttribute attributes[] = {
      sambaIntsAttribute("normalized_shape", &x->type.dims[x->type.rank - count], count),
      sambaFloatAttribute("eps", eps)};
  return sambaTraceBuild(name, 1, 3, (SambaTraceValue *[]){x, weight, bias}, 2, attributes);
}
SambaTraceValue *sambaLayerNorm(SambaTraceValue *x, uint32_t dims, SambaTraceValue *weight,
                                SambaTraceValue *bias, double eps) {
  return lastDimensionNorm("layer_norm", x, dims, weight, bias, eps);
}
void sambaNativeLayerNorm(SambaTraceValue *x, uint32_t dims, SambaTraceValue *weight,
                          SambaTraceValue *bias, double eps, SambaDType statistics,
                          SambaTraceValue **out_results) {
  uint32_t rank = x ? x->type.rank : 0;
  uint32_t count = dims < rank ? dims : rank;
  SambaAttribute attributes[] = {
      sambaIntsAttribute("normalized_shape", x ? &x->type.dims[rank - count] : NULL, count),
      sambaFloatAttribute("eps", eps), sambaDTypeAttribute("dtype", statistics)};
  uint32_t operands = 1;
  if (weight)
    operands = bias ? 3 : 2;
  callForResults("native_layer_norm", operands, (SambaTraceValue *[]){x, weight, bias}, 3,
                 attributes, 3, out_results);
}
SambaTraceValue *sambaRmsNorm(SambaTraceValue *x, uint32_t dims, SambaTraceValue *weight,
                              double eps) {
  return lastDimensionNorm("rms_norm", x, dims, weight, NULL, eps);
}
SambaTraceValue *sambaGroupNorm(SambaTraceValue *x, int64_t groups, SambaTraceValue *weight,
                                SambaTraceValue *bias, double eps) {
  SambaAttribute attributes[] = {sambaIntAttribute("num_groups", groups),
                                 sambaFloatAttribute("eps", eps)};
  return sambaTraceBuild("group_norm", 1, 3, (SambaTraceValue *[]){x, weight, bias}, 2, attributes);
}
