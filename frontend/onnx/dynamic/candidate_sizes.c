/* What declared shapes say about sizes that are only there at run time: of Resize, CenterCropPad,
 * Col2Im, AffineGrid. */
#include "frontend/onnx/dynamic/candidates.h"

/* One scale for all sizes, of which the nearest are declared: it is exact for one of them at least.
 * Sizes that lead to it, if no other scale does as well. */
static bool keptAspect(size_t count, const int64_t *from, int64_t *sizes, bool larger) {
  double scale = 0;
  int64_t declared[SAMBA_MAX_RANK];

  memcpy(declared, sizes, count * sizeof *sizes);
  for (size_t k = 0; k < count; ++k) {
    double own = (double)declared[k] / (double)from[k];
    bool fits = own != scale && from[k];
    for (size_t i = 0; i < count && fits; ++i)
      fits = (int64_t)(own * (double)from[i] + 0.5) == declared[i];
    if (!fits)
      continue;
    if (scale > 0)
      return false;
    scale = own;
    /* The fraction declared[k] / from[k] of from[i], rounded away from the scale. */
    for (size_t i = 0; i < count; ++i) {
      int64_t product = declared[k] * from[i];
      sizes[i] = larger ? product / from[k] : (product + from[k] - 1) / from[k];
    }
  }

  return scale > 0;
}

/* Sizes of the axes that an attribute names, or of all. */
SambaStatus sambaOnnxSizesOfAxes(const SambaOnnxNode *node, uint32_t input,
                                 SambaOnnxCandidates *candidates) {
  const int64_t *axes;
  size_t size;
  uint32_t rank, declared, axis;
  int64_t dims[SAMBA_MAX_RANK], declared_dims[SAMBA_MAX_RANK], from[SAMBA_MAX_RANK],
      sizes[SAMBA_MAX_RANK];
  bool known, named = sambaOnnxInts(node, "axes", &axes, &size),
              larger = sambaOnnxStringIs(node, "keep_aspect_ratio_policy", "not_smaller", false),
              stretch = sambaOnnxStringIs(node, "keep_aspect_ratio_policy", "stretch", true);
  (void)input;
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxDeclaredShapes(node, &rank, dims, &declared, declared_dims, &known));
  size = named ? size : rank;
  if (!known || declared != rank || size > rank)
    return NULL;

  for (size_t i = 0; i < size; ++i) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(named ? axes[i] : (int64_t)i, rank, &axis));
    sizes[i] = declared_dims[axis], from[i] = dims[axis];
    if (dims[axis] > INT32_MAX || declared_dims[axis] > INT32_MAX)
      return NULL;
  }

  if (stretch || keptAspect(size, from, sizes, larger))
    sambaOnnxAddCandidate(node, candidates, 1, (int64_t)size, sizes, 0);
  return NULL;
}

/* Col2Im's picture. */
SambaStatus sambaOnnxPictureSizes(const SambaOnnxNode *node, uint32_t input,
                                  SambaOnnxCandidates *candidates) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  (void)input;
  if (sambaOnnxDeclaredShape(node, 0, &rank, dims) && rank > 2)
    sambaOnnxAddCandidate(node, candidates, 1, rank - 2, dims + 2, 0);
  return NULL;
}

/* Col2Im's blocks: all that have as many elements, and of which as many fit. */
SambaStatus sambaOnnxBlockSizes(const SambaOnnxNode *node, uint32_t input,
                                SambaOnnxCandidates *candidates) {
  static const char *const names[] = {"pads", "strides", "dilations"};
  const int64_t *lists[3];
  const int64_t limit = 1 << 16;
  size_t counts[3];
  uint32_t rank, declared;
  int64_t dims[SAMBA_MAX_RANK], declared_dims[SAMBA_MAX_RANK], block[SAMBA_MAX_RANK] = {0};
  bool known;

  (void)input;
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxDeclaredShapes(node, &rank, dims, &declared, declared_dims, &known));
  if (!known || rank != 3 || declared < 3 || !declared_dims[1])
    return NULL;
  uint32_t spatial = declared - 2;
  for (int i = 0; i < 3; ++i) {
    size_t expected = (i ? 1 : 2) * spatial;
    if (!sambaOnnxInts(node, names[i], &lists[i], &counts[i]))
      lists[i] = NULL;
    else if (counts[i] != expected)
      return NULL; /* the handler's error */
  }
  int64_t elements = dims[1] / declared_dims[1];
  candidates->listed = true;

  for (uint32_t d = 0; d < spatial; ++d) {
    candidates->weights[d] = d ? candidates->weights[d - 1] * limit : 1;
    block[d] = 1;
  }

  if (elements < 1 || elements >= limit || spatial > 3)
    return NULL;
  for (uint32_t d = 0; d < spatial;) { /* every list of divisors */
    int64_t product = 1, fits = 1, key = 0;
    for (uint32_t k = 0; k < spatial; ++k) {
      int64_t pads = lists[0] ? lists[0][k] + lists[0][spatial + k] : 0;
      int64_t stride = lists[1] && lists[1][k] > 0 ? lists[1][k] : 1;
      int64_t dilation = lists[2] ? lists[2][k] : 1;
      int64_t room = declared_dims[2 + k] + pads - dilation * (block[k] - 1) - 1;
      product *= block[k];
      fits *= room < 0 ? 0 : room / stride + 1;
      key += block[k] * candidates->weights[k];
    }

    if (product == elements && fits == dims[2])
      sambaOnnxAddCandidate(node, candidates, 1, spatial, block, key);
    for (d = 0; d < spatial; ++d) { /* the next one */
      do
        ++block[d];
      while (block[d] <= elements && elements % block[d]);
      if (block[d] <= elements)
        break;
      block[d] = 1;
    }
  }

  return NULL;
}

/* AffineGrid's size: N x C x spatial, where C is not seen. */
SambaStatus sambaOnnxGridSizes(const SambaOnnxNode *node, uint32_t input,
                               SambaOnnxCandidates *candidates) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  (void)input;
  if (!sambaOnnxDeclaredShape(node, 0, &rank, dims) || rank < 3)
    return NULL;
  memmove(dims + 2, dims + 1, (rank - 2) * sizeof *dims);
  dims[1] = 1;
  sambaOnnxAddCandidate(node, candidates, 1, rank, dims, 0);
  return NULL;
}
