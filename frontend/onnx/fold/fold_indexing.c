/* Folds of operators that choose, place and order elements by index: what exporters leave behind
 * when they index or sort shapes, axes and positions. See fold_node.c. */
#include "frontend/onnx/fold/fold_node.h"

/* The constant as [outer, size, inner] around an axis. */
typedef struct {
  int64_t outer, size, inner;
} Around;

static Around around(const SambaConstant *x, uint32_t axis) {
  Around a = {1, x->dims[axis], 1};
  for (uint32_t d = 0; d < axis; ++d)
    a.outer *= x->dims[d];
  for (uint32_t d = axis + 1; d < x->rank; ++d)
    a.inner *= x->dims[d];
  return a;
}

static bool before(const SambaConstant *x, int64_t a, int64_t b) {
  return x->is_float ? x->data[a].r < x->data[b].r : x->data[a].i < x->data[b].i;
}

static bool isZero(const SambaConstant *x, int64_t i) {
  return x->is_float ? x->data[i].r == 0 : x->data[i].i == 0;
}

/* An index that may count from the end; false: outside. */
static bool inside(const SambaConstant *indices, int64_t at, int64_t size, int64_t *out) {
  int64_t index = indices->data[at].i;
  *out = index < 0 ? index + size : index;
  return !indices->is_float && *out >= 0 && *out < size;
}

static SambaConstant *copyOf(const SambaOnnxNode *node, const SambaConstant *x) {
  SambaConstant *copy = sambaConstantNew(node->arena, x->onnx_type, x->rank, x->dims);
  if (copy && x->count)
    memcpy(copy->data, x->data, (size_t)x->count * sizeof *x->data);
  return copy;
}

SambaStatus sambaOnnxFoldCumSum(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  const SambaConstant *named = sambaOnnxConstant(node, 1);
  bool exclusive = sambaOnnxInt(node, "exclusive", 0) != 0,
       reverse = sambaOnnxInt(node, "reverse", 0) != 0;
  uint32_t axis;

  if (named->count != 1 || x->is_float)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(named->data[0].i, x->rank, &axis));
  Around a = around(x, axis);
  SambaConstant *result = copyOf(node, x);
  for (int64_t o = 0; result && o < a.outer; ++o)
    for (int64_t i = 0; i < a.inner; ++i) {
      uint64_t sum = 0;
      for (int64_t k = 0; k < a.size; ++k) {
        int64_t at = (o * a.size + (reverse ? a.size - 1 - k : k)) * a.inner + i;
        uint64_t next = sum + (uint64_t)x->data[at].i;
        result->data[at] = sambaNumberConvert((SambaNumber){.i = (int64_t)(exclusive ? sum : next)},
                                              false, x->onnx_type);
        sum = next;
      }
    }
  return sambaOnnxFoldTo(node, 0, result, out_done);
}

SambaStatus sambaOnnxFoldOneHot(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *indices = sambaOnnxConstant(node, 0);
  const SambaConstant *depth = sambaOnnxConstant(node, 1);
  const SambaConstant *values = sambaOnnxConstant(node, 2);
  uint32_t axis;
  uint32_t rank = indices->rank + 1;
  int64_t dims[SAMBA_MAX_RANK + 1];

  if (depth->count != 1 || values->count != 2 || indices->is_float || rank > SAMBA_MAX_RANK)
    return NULL;
  int64_t size = depth->is_float ? (int64_t)depth->data[0].r : depth->data[0].i;
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", -1), rank, &axis));
  for (uint32_t d = 0, from = 0; d < rank; ++d)
    dims[d] = d == axis ? size : indices->dims[from++];
  SambaConstant *result = sambaConstantNew(node->arena, values->onnx_type, rank, dims);
  Around a = result ? around(result, axis) : (Around){0};

  for (int64_t i = 0; result && i < result->count; ++i) {
    int64_t at;
    bool hot = inside(indices, i / (a.size * a.inner) * a.inner + i % a.inner, size, &at) &&
               at == i / a.inner % size;
    result->data[i] = values->data[hot];
  }

  return sambaOnnxFoldTo(node, 0, result, out_done);
}

/* The slices along the axis (without one: the elements) whose condition holds; a condition that
 * ends early is false. */
SambaStatus sambaOnnxFoldCompress(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  const SambaConstant *condition = sambaOnnxConstant(node, 1);
  bool flat = !sambaOnnxAttribute(node, "axis");

  Around a = {1, x->count, 1};
  int64_t dims[SAMBA_MAX_RANK] = {0}, count = 0;
  uint32_t axis = 0;
  if (!flat) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->rank, &axis));
    a = around(x, axis);
    memcpy(dims, x->dims, sizeof dims);
  }

  for (int64_t k = 0; k < condition->count && k < a.size; ++k)
    count += condition->data[k].i != 0;
  dims[axis] = count;
  SambaConstant *result = sambaConstantNew(node->arena, x->onnx_type, flat ? 1 : x->rank, dims);
  SambaNumber *to = result ? result->data : NULL;
  for (int64_t o = 0; result && o < a.outer; ++o)
    for (int64_t k = 0; k < condition->count && k < a.size; ++k)
      for (int64_t i = 0; i < a.inner && condition->data[k].i; ++i)
        *to++ = x->data[(o * a.size + k) * a.inner + i];
  return sambaOnnxFoldTo(node, 0, result, out_done);
}

/* Where element `i` of `indices` points along the axis of x, whose other positions are its own. -1:
 * outside. */
static int64_t alongAxis(const SambaConstant *x, const SambaConstant *indices, uint32_t axis,
                         int64_t i) {
  int64_t at = 0, stride = 1, rest = i, index;
  for (uint32_t d = x->rank; d-- > 0; rest /= indices->dims[d]) {
    int64_t position = rest % indices->dims[d];
    if (d == axis && !inside(indices, i, x->dims[d], &index))
      return -1;
    position = d == axis ? index : position;
    if (position >= x->dims[d])
      return -1;
    at += position * stride;
    stride *= x->dims[d];
  }
  return at;
}

SambaStatus sambaOnnxFoldGatherElements(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  const SambaConstant *indices = sambaOnnxConstant(node, 1);
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->rank, &axis));
  SambaConstant *result = x->rank == indices->rank
                              ? sambaConstantNew(node->arena, x->onnx_type, x->rank, indices->dims)
                              : NULL;

  for (int64_t i = 0; result && i < indices->count; ++i) {
    int64_t at = alongAxis(x, indices, axis, i);
    if (at < 0)
      return NULL; /* the operator's own error */
    result->data[i] = x->data[at];
  }

  return sambaOnnxFoldTo(node, 0, result, out_done);
}

SambaStatus sambaOnnxFoldScatterElements(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  const SambaConstant *indices = sambaOnnxConstant(node, 1);
  const SambaConstant *updates = sambaOnnxConstant(node, 2);
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->rank, &axis));
  if (x->rank != indices->rank || updates->count != indices->count ||
      !sambaOnnxStringIs(node, "reduction", "none", true))
    return NULL;
  SambaConstant *result = copyOf(node, x);

  for (int64_t i = 0; result && i < indices->count; ++i) {
    int64_t at = alongAxis(x, indices, axis, i);
    if (at < 0)
      return NULL;
    result->data[at] = updates->data[i];
  }

  return sambaOnnxFoldTo(node, 0, result, out_done);
}

/* Tuples of indices, the last dimension of `indices`, name slices of x: their places, *out_slice
 * elements each. false: one is outside or the shapes do not fit. */
static bool placesOf(const SambaOnnxNode *node, const SambaConstant *x,
                     const SambaConstant *indices, int64_t **out, int64_t *out_count,
                     int64_t *out_slice) {
  int64_t width = indices->rank ? indices->dims[indices->rank - 1] : 0;
  int64_t slice = 1;

  if (width < 1 || width > x->rank)
    return false;
  for (uint32_t d = (uint32_t)width; d < x->rank; ++d)
    slice *= x->dims[d];
  int64_t count = indices->count / width;
  int64_t *places = SAMBA_ARENA_ARRAY(node->arena, int64_t, (size_t)count);

  for (int64_t t = 0; t < count; ++t) {
    for (int64_t k = 0; k < width; ++k) {
      int64_t index;
      if (!inside(indices, t * width + k, x->dims[k], &index))
        return false;
      places[t] = places[t] * x->dims[k] + index;
    }
    places[t] *= slice;
  }

  *out = places, *out_count = count, *out_slice = slice;
  return true;
}

SambaStatus sambaOnnxFoldGatherNd(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  const SambaConstant *indices = sambaOnnxConstant(node, 1);
  int64_t *places, count, slice, dims[2 * SAMBA_MAX_RANK];

  if (sambaOnnxInt(node, "batch_dims", 0) || !placesOf(node, x, indices, &places, &count, &slice))
    return NULL;
  uint32_t rank = 0;
  for (uint32_t d = 0; d + 1 < indices->rank; ++d)
    dims[rank++] = indices->dims[d];
  for (int64_t d = indices->dims[indices->rank - 1]; d < x->rank; ++d)
    dims[rank++] = x->dims[d];
  SambaConstant *result = sambaConstantNew(node->arena, x->onnx_type, rank, dims);
  for (int64_t i = 0; result && i < result->count; ++i)
    result->data[i] = x->data[places[i / slice] + i % slice];
  return sambaOnnxFoldTo(node, 0, result, out_done);
}

SambaStatus sambaOnnxFoldScatterNd(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  const SambaConstant *indices = sambaOnnxConstant(node, 1);
  const SambaConstant *updates = sambaOnnxConstant(node, 2);
  int64_t *places, count, slice;
  if (!sambaOnnxStringIs(node, "reduction", "none", true) ||
      !placesOf(node, x, indices, &places, &count, &slice) || updates->count != count * slice)
    return NULL;
  SambaConstant *result = copyOf(node, x);
  for (int64_t i = 0; result && i < updates->count; ++i)
    result->data[places[i / slice] + i % slice] = updates->data[i];
  return sambaOnnxFoldTo(node, 0, result, out_done);
}

/* Bounds are attributes before opset 11. */
SambaStatus sambaOnnxFoldClip(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  if (node->version < 11)
    return NULL;
  SambaConstant *result = copyOf(node, x);

  for (uint32_t side = 1; side <= 2; ++side) {
    const SambaConstant *bound = sambaOnnxConstant(node, side);
    if (bound && (bound->count != 1 || bound->is_float != x->is_float))
      return NULL;
    for (int64_t i = 0; result && bound && i < result->count; ++i) {
      SambaNumber *number = &result->data[i];
      SambaNumber limit = bound->data[0];
      bool below = x->is_float ? number->r < limit.r : number->i < limit.i;
      bool above = x->is_float ? number->r > limit.r : number->i > limit.i;
      if (side == 1 ? below : above)
        *number = limit;
    }
  }

  return sambaOnnxFoldTo(node, 0, result, out_done);
}

/* Of equal elements the first, or on demand the last. NaN is left to the operator. */
SambaStatus sambaOnnxFoldArgMax(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  bool keep = sambaOnnxInt(node, "keepdims", 1) != 0,
       last = sambaOnnxInt(node, "select_last_index", 0) != 0,
       most = node->row->variant == SAMBA_ONNX_ARG_MAX;
  uint32_t axis, rank = 0;
  int64_t dims[SAMBA_MAX_RANK];

  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->rank, &axis));
  if (x->is_float || !x->count)
    return NULL;
  for (uint32_t d = 0; d < x->rank; ++d)
    if (d != axis || keep)
      dims[rank++] = d == axis ? 1 : x->dims[d];
  Around a = around(x, axis);
  SambaConstant *result = sambaConstantNew(node->arena, SAMBA_ONNX_INT64, rank, dims);

  for (int64_t r = 0; result && r < result->count; ++r) {
    int64_t base = r / a.inner * a.size * a.inner + r % a.inner;
    int64_t best = base;
    for (int64_t k = 1; k < a.size; ++k) {
      int64_t at = base + k * a.inner;
      bool better = most ? before(x, best, at) : before(x, at, best),
           equal = !before(x, best, at) && !before(x, at, best);
      if (better || (last && equal))
        best = at;
    }
    result->data[r].i = (best - base) / a.inner;
  }

  return sambaOnnxFoldTo(node, 0, result, out_done);
}

/* Elements that are not zero, by position: [rank, count]. Its shape depends on data, so it exists
 * only folded. */
SambaStatus sambaOnnxFoldNonZero(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  int64_t dims[2] = {x->rank, 0};

  for (int64_t i = 0; i < x->count; ++i)
    dims[1] += !isZero(x, i);
  SambaConstant *result = sambaConstantNew(node->arena, SAMBA_ONNX_INT64, 2, dims);
  for (int64_t i = 0, found = 0; result && i < x->count; ++i) {
    if (isZero(x, i))
      continue;
    int64_t rest = i;
    for (uint32_t axis = x->rank; axis-- > 0; rest /= x->dims[axis])
      result->data[axis * dims[1] + found].i = rest % x->dims[axis];
    ++found;
  }

  return sambaOnnxFoldTo(node, 0, result, out_done);
}
