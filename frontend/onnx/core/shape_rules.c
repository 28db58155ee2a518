/* The shape rules that handlers and folds of ONNX operators share; see shape_rules.h. */
#include "frontend/onnx/core/shape_rules.h"

#include "support/number/integer.h"
#include "support/number/shape.h"

static SambaStatus reshapeTarget(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                 uint32_t *out_rank, int64_t *out_dims) {
  const int64_t *shape;
  size_t size;
  bool found;

  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, "shape", &shape, &size, &found));
  if (!found)
    return sambaStatusMake(
        SAMBA_INVALID,
        "the new shape is missing: it is input 1, or attribute 'shape' before version 5");
  if (size > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the new shape has rank %zu, but %d is the most",
                           size, SAMBA_MAX_RANK);
  bool zero = sambaOnnxInt(node, "allowzero", 0) != 0;
  int64_t known = 1, elements = sambaShapeElements(rank, dims);
  int open = -1;

  for (size_t i = 0; i < size; ++i) {
    out_dims[i] = shape[i];
    if (shape[i] == 0 && !zero) {
      if (i >= rank)
        return sambaStatusMake(
            SAMBA_INVALID,
            "the new shape has a 0 at %zu, which copies a dimension, but the input has rank %u", i,
            rank);
      out_dims[i] = dims[i];
    }
    if (out_dims[i] == -1 && open < 0)
      open = (int)i;
    else if (out_dims[i] < 0 || sambaMulOverflows(known, out_dims[i], &known))
      return sambaStatusMake(
          SAMBA_INVALID,
          "the new shape contains %lld; dimensions must not be negative, but for one -1",
          (long long)out_dims[i]);
  }

  if (open >= 0) {
    if (known == 0 || elements % known)
      return sambaStatusMake(
          SAMBA_INVALID,
          "%lld elements do not divide by the known dimensions of the new shape, %lld",
          (long long)elements, (long long)known);
    out_dims[open] = elements / known;
  } else if (known != elements) {
    return sambaStatusMake(SAMBA_INVALID, "the new shape has %lld elements, but the input has %lld",
                           (long long)known, (long long)elements);
  }

  *out_rank = (uint32_t)size;
  return NULL;
}

static SambaStatus flattenTarget(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                 uint32_t *out_rank, int64_t *out_dims) {
  int64_t axis = sambaOnnxInt(node, "axis", 1);
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis > rank)
    return sambaStatusMake(SAMBA_INVALID, "axis %lld is not within the rank %u",
                           (long long)sambaOnnxInt(node, "axis", 1), rank);
  *out_rank = 2;
  out_dims[0] = out_dims[1] = 1;
  for (uint32_t d = 0; d < rank; ++d)
    out_dims[d >= axis] *= dims[d];
  return NULL;
}

/* The axes: input 1, before version 13 an attribute. */
static SambaStatus knownAxes(const SambaOnnxNode *node, const int64_t **out_axes, size_t *out_size,
                             bool *out_found) {
  const char *attribute = node->version < 13 ? "axes" : NULL;
  return sambaOnnxKnownInts(node, 1, attribute, out_axes, out_size, out_found);
}

static SambaStatus squeezeTarget(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                 uint32_t *out_rank, int64_t *out_dims) {
  const int64_t *axes = NULL;
  size_t size = 0;
  bool found, removed[SAMBA_MAX_RANK] = {false};

  SAMBA_RETURN_IF_ERROR(knownAxes(node, &axes, &size, &found));
  for (uint32_t d = 0; d < rank && !found; ++d)
    removed[d] = dims[d] == 1;

  for (size_t i = 0; i < size; ++i) {
    uint32_t axis;
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(axes[i], rank, &axis));
    if (dims[axis] != 1)
      return sambaStatusMake(SAMBA_INVALID, "dimension %u is %lld; only 1 can be squeezed", axis,
                             (long long)dims[axis]);
    removed[axis] = true;
  }

  *out_rank = 0;
  for (uint32_t d = 0; d < rank; ++d)
    if (!removed[d])
      out_dims[(*out_rank)++] = dims[d];
  return NULL;
}

static SambaStatus unsqueezeTarget(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                   uint32_t *out_rank, int64_t *out_dims) {
  const int64_t *axes = NULL;
  size_t size = 0;
  bool found, added[SAMBA_MAX_RANK] = {false};

  SAMBA_RETURN_IF_ERROR(knownAxes(node, &axes, &size, &found));
  if (!found || rank + size > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "%s",
                           found ? "the result's rank is more than 8" : "there are no axes");

  for (size_t i = 0; i < size; ++i) {
    uint32_t axis;
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(axes[i], rank + (uint32_t)size, &axis));
    if (added[axis])
      return sambaStatusMake(SAMBA_INVALID, "axis %u is added twice", axis);
    added[axis] = true;
  }

  *out_rank = rank + (uint32_t)size;
  for (uint32_t d = 0, from = 0; d < *out_rank; ++d)
    out_dims[d] = added[d] ? 1 : dims[from++];
  return NULL;
}

SambaStatus sambaOnnxReshapedDims(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                  uint32_t *out_rank, int64_t *out_dims) {
  static const struct {
    const char *name;
    SambaStatus (*target)(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                          uint32_t *out_rank, int64_t *out_dims);
  } rules[] = {
      {"Flatten", flattenTarget}, {"Squeeze", squeezeTarget}, {"Unsqueeze", unsqueezeTarget}};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i)
    if (strcmp(node->proto->op_type, rules[i].name) == 0)
      return rules[i].target(node, rank, dims, out_rank, out_dims);
  return reshapeTarget(node, rank, dims, out_rank, out_dims);
}

SambaStatus sambaOnnxPermutation(const SambaOnnxNode *node, uint32_t rank, int64_t *out_dims) {
  const int64_t *perm;
  size_t size;
  bool found = sambaOnnxInts(node, "perm", &perm, &size), seen[SAMBA_MAX_RANK] = {false};
  for (uint32_t axis = 0; axis < rank; ++axis) {
    int64_t from = (int64_t)rank - 1 - axis;
    if (found)
      from = size == rank ? perm[axis] : -1;
    if (from < 0 || from >= rank || seen[from])
      return sambaStatusMake(SAMBA_INVALID,
                             "attribute 'perm' must name each of the %u dimensions once", rank);
    seen[from] = true;
    out_dims[axis] = from;
  }
  return NULL;
}

SambaStatus sambaOnnxBroadcast(uint32_t rank, const int64_t *dims, uint32_t other_rank,
                               const int64_t *other, uint32_t *out_rank, int64_t *out_dims) {
  int64_t result[SAMBA_MAX_RANK];
  uint32_t most = rank > other_rank ? rank : other_rank;

  for (uint32_t back = 1; back <= most; ++back) {
    int64_t x = back <= rank ? dims[rank - back] : 1;
    int64_t y = back <= other_rank ? other[other_rank - back] : 1;
    if (x != y && x != 1 && y != 1)
      return sambaStatusMake(SAMBA_INVALID,
                             "shapes do not broadcast: %lld against %lld, %u from the end",
                             (long long)x, (long long)y, back);
    result[most - back] = x == 1 ? y : x;
  }

  *out_rank = most;
  memcpy(out_dims, result, most * sizeof *result);
  return NULL;
}

SambaStatus sambaOnnxSliceRange(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                SambaOnnxSlice *out) {
  static const char *const names[] = {"starts", "ends", "axes", NULL};
  const int64_t *lists[4] = {NULL};
  size_t sizes[4] = {0};
  bool found[4];

  for (uint32_t i = 0; i < 4; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, i + 1, node->version < 10 ? names[i] : NULL,
                                             &lists[i], &sizes[i], &found[i]));
  if (!found[0] || !found[1] || sizes[0] != sizes[1] || (found[2] && sizes[2] != sizes[0]) ||
      (found[3] && sizes[3] != sizes[0]) || sizes[0] > rank)
    return sambaStatusMake(
        SAMBA_INVALID, "starts, ends, axes and steps must have the same length, at most %u", rank);
  for (uint32_t d = 0; d < rank; ++d)
    out->starts[d] = 0, out->ends[d] = out->sizes[d] = dims[d], out->steps[d] = 1;

  for (size_t i = 0; i < sizes[0]; ++i) {
    uint32_t axis;
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(found[2] ? lists[2][i] : (int64_t)i, rank, &axis));
    int64_t start = lists[0][i];
    int64_t end = lists[1][i];
    int64_t step = found[3] ? lists[3][i] : 1;
    int64_t size = dims[axis];
    if (step == 0)
      return sambaStatusMake(SAMBA_INVALID, "the step of axis %u is 0", axis);
    step = sambaClampInteger(step, -((int64_t)1 << 40), (int64_t)1 << 40);
    start += start < 0 ? size : 0;
    end += end < 0 ? size : 0;
    start = sambaClampInteger(start, 0, step > 0 ? size : size - 1);
    end = step > 0 ? sambaClampInteger(end, 0, size) : sambaClampInteger(end, -1, size - 1);
    int64_t count = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    out->starts[axis] = start;
    out->ends[axis] = end;
    out->steps[axis] = step;
    out->sizes[axis] = count < 0 ? 0 : count;
  }

  return NULL;
}

SambaStatus sambaOnnxSplitSizes(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                uint32_t *out_axis, int64_t *out_sizes) {
  const int64_t *split = NULL;
  size_t size = 0;
  bool found;

  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), rank, out_axis));
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxKnownInts(node, 1, node->version < 13 ? "split" : NULL, &split, &size, &found));
  int64_t whole = dims[*out_axis];
  int64_t sum = 0;
  int64_t parts = node->output_count;
  int64_t chunk = sambaCeilDiv(whole, parts);
  if (sambaOnnxInt(node, "num_outputs", parts) != parts || (found && size != (size_t)parts) ||
      (!found && node->version < 18 && whole % parts))
    return sambaStatusMake(SAMBA_INVALID,
                           "a dimension of %lld cannot be split into %lld outputs: it does not "
                           "divide, or there is another number of sizes",
                           (long long)whole, (long long)parts);

  for (int64_t i = 0; i < parts; ++i) {
    int64_t equal = i + 1 < parts ? chunk : whole - sum;
    out_sizes[i] = found ? split[i] : equal;
    if (out_sizes[i] < 0 || out_sizes[i] > whole - sum)
      return sambaStatusMake(SAMBA_INVALID, "the sizes of the parts do not fit a dimension of %lld",
                             (long long)whole);
    sum += out_sizes[i];
  }

  return sum == whole
             ? NULL
             : sambaStatusMake(SAMBA_INVALID, "the parts of a dimension of %lld add up to %lld",
                               (long long)whole, (long long)sum);
}

SambaStatus sambaOnnxReducedAxes(const SambaOnnxNode *node, uint32_t rank, bool *out_reduced,
                                 bool *out_none) {
  const int64_t *axes = NULL;
  size_t size = 0;
  bool found, as_input = node->version >= 18 ||
                         (node->version >= 13 && node->row->variant == SAMBA_ONNX_REDUCE_SUM);
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxKnownInts(node, 1, as_input ? NULL : "axes", &axes, &size, &found));
  *out_none = size == 0 && as_input && sambaOnnxInt(node, "noop_with_empty_axes", 0) != 0;
  for (uint32_t axis = 0; axis < rank; ++axis)
    out_reduced[axis] = size == 0 && !*out_none;

  for (size_t i = 0; i < size; ++i) {
    uint32_t axis;
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(axes[i], rank, &axis));
    out_reduced[axis] = true;
  }

  return NULL;
}
