/* Gathers, scatters and resampling as C functions; see operators.h. */
#include "frontend/trace/trace.h"
#include "samba/operators.h"

SambaTraceValue *sambaTake(SambaTraceValue *x, SambaTraceValue *indices, int64_t dim,
                           int64_t batch_dims) {
  SambaAttribute attributes[] = {sambaIntAttribute("dim", dim),
                                 sambaIntAttribute("batch_dims", batch_dims)};
  return sambaTraceBuild("take", 2, 2, (SambaTraceValue *[]){x, indices}, batch_dims ? 2 : 1,
                         attributes);
}
SambaTraceValue *sambaGather(SambaTraceValue *x, int64_t dim, SambaTraceValue *index) {
  SambaAttribute attribute = sambaIntAttribute("dim", dim);
  return sambaTraceBuild("gather", 2, 2, (SambaTraceValue *[]){x, index}, 1, &attribute);
}
SambaTraceValue *sambaGatherNd(SambaTraceValue *x, SambaTraceValue *indices, int64_t batch_dims) {
  SambaAttribute attribute = sambaIntAttribute("batch_dims", batch_dims);
  return sambaTraceBuild("gather_nd", 2, 2, (SambaTraceValue *[]){x, indices}, batch_dims != 0,
                         &attribute);
}
SambaTraceValue *sambaScatter(SambaTraceValue *x, int64_t dim, SambaTraceValue *index,
                              SambaTraceValue *src, const char *reduce) {
  SambaAttribute attributes[] = {sambaIntAttribute("dim", dim),
                                 sambaStringAttribute("reduce", reduce ? reduce : "")};
  return sambaTraceBuild("scatter", 3, 3, (SambaTraceValue *[]){x, index, src}, reduce ? 2 : 1,
                         attributes);
}
SambaTraceValue *sambaScatterNd(SambaTraceValue *x, SambaTraceValue *indices,
                                SambaTraceValue *updates, const char *reduce) {
  SambaAttribute attribute = sambaStringAttribute("reduce", reduce ? reduce : "");
  return sambaTraceBuild("scatter_nd", 3, 3, (SambaTraceValue *[]){x, indices, updates},
                         reduce != NULL, &attribute);
}

SambaTraceValue *sambaInterpolate(SambaTraceValue *x, const SambaInterpolateOptions *options) {
  uint32_t rank = x ? x->type.rank : 0;
  uint32_t count = 0;
  SambaAttribute attributes[10];

  attributes[count++] = sambaIntsAttribute("output_size", options->size, rank);
  attributes[count++] = sambaStringAttribute("mode", options->mode);
  if (options->scales)
    attributes[count++] = sambaFloatsAttribute("scales", options->scales, rank);
  if (options->coordinate_mode)
    attributes[count++] = sambaStringAttribute("coordinate_mode", options->coordinate_mode);
  if (options->nearest_mode && strcmp(options->mode, "nearest") == 0)
    attributes[count++] = sambaStringAttribute("nearest_mode", options->nearest_mode);
  if (strcmp(options->mode, "cubic") == 0)
    attributes[count++] = sambaFloatAttribute("cubic_coeff_a", options->cubic_coeff_a);
  if (options->exclude_outside)
    attributes[count++] = sambaBoolAttribute("exclude_outside", true);
  if (options->antialias)
    attributes[count++] = sambaBoolAttribute("antialias", true);
  if (options->roi) {
    attributes[count++] = sambaFloatsAttribute("roi", options->roi, 2 * (size_t)rank);
    attributes[count++] = sambaFloatAttribute("extrapolation_value", options->extrapolation_value);
  }

  return sambaTraceBuild("interpolate", 1, 1, &x, count, attributes);
}

SambaTraceValue *sambaPadBorder(SambaTraceValue *x, const int64_t *low, const int64_t *high,
                                const char *mode) {
  uint32_t rank = x ? x->type.rank : 0;
  SambaAttribute attributes[] = {sambaIntsAttribute("low", low, rank),
                                 sambaIntsAttribute("high", high, rank),
                                 sambaStringAttribute("mode", mode)};
  return sambaTraceBuild("pad_border", 1, 1, &x, 3, attributes);
}

SambaTraceValue *sambaRoiAlign(SambaTraceValue *x, SambaTraceValue *rois,
                               SambaTraceValue *batch_indices,
                               const SambaRoiAlignOptions *options) {
  SambaAttribute attributes[] = {sambaIntsAttribute("output_size", options->size, 2),
                                 sambaIntAttribute("sampling_ratio", options->sampling_ratio),
                                 sambaFloatAttribute("spatial_scale", options->spatial_scale),
                                 sambaStringAttribute("mode", options->mode),
                                 sambaBoolAttribute("aligned", options->aligned),
                                 sambaBoolAttribute("adaptive", options->adaptive)};
  return sambaTraceBuild("roi_align", 3, 3, (SambaTraceValue *[]){x, rois, batch_indices},
                         options->adaptive ? 6 : 5, attributes);
}

SambaTraceValue *sambaFold(SambaTraceValue *x, size_t spatial, const int64_t *output_size,
                           const SambaWindowOptions *window) {
  SambaAttribute attributes[5] = {sambaIntsAttribute("output_size", output_size, spatial),
                                  sambaIntsAttribute("kernel_size", window->kernel, spatial)};
  uint32_t count = 2;
  if (window->stride)
    attributes[count++] = sambaIntsAttribute("stride", window->stride, spatial);
  if (window->padding)
    attributes[count++] = sambaIntsAttribute("padding", window->padding, 2 * spatial);
  if (window->dilation)
    attributes[count++] = sambaIntsAttribute("dilation", window->dilation, spatial);
  return sambaTraceBuild("fold", 1, 1, &x, count, attributes);
}
