/* Handlers of ONNX operators that change shapes, choose and join; and the shape rules that their folds share. */
#include "frontend/onnx/importer.h"

#include <stdlib.h>

/* ---- Rules ---- */

static SambaStatus reshapeTarget(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims, uint32_t *out_rank,
                                 int64_t *out_dims) {
  const int64_t *shape;
  size_t size;
  bool found;
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, "shape", &shape, &size, &found));
  if (!found)
    return sambaStatusMake(SAMBA_INVALID, "there is no shape");
  if (size > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the new shape has rank %zu, but %d is the most", size, SAMBA_MAX_RANK);
  bool zero = sambaOnnxInt(node, "allowzero", 0) != 0;
  int64_t known = 1, elements = 1;
  int open = -1;
  for (uint32_t axis = 0; axis < rank; ++axis)
    elements *= dims[axis];
  for (size_t i = 0; i < size; ++i) {
    out_dims[i] = shape[i];
    if (shape[i] == 0 && !zero) {
      if (i >= rank)
        return sambaStatusMake(SAMBA_INVALID, "the new shape copies dimension %zu, but the rank is %u", i, rank);
      out_dims[i] = dims[i];
    }
    if (out_dims[i] == -1 && open < 0)
      open = (int)i;
    else if (out_dims[i] < 0 || sambaMulOverflows(known, out_dims[i], &known))
      return sambaStatusMake(SAMBA_INVALID, "the new shape has %lld", (long long)out_dims[i]);
  }
  if (open >= 0) {
    if (known == 0 || elements % known)
      return sambaStatusMake(SAMBA_INVALID,
                             "%lld elements do not divide by the known dimensions of the new shape, %lld",
                             (long long)elements, (long long)known);
    out_dims[open] = elements / known;
  } else if (known != elements) {
    return sambaStatusMake(SAMBA_INVALID, "the new shape has %lld elements, but the input has %lld", (long long)known,
                           (long long)elements);
  }
  *out_rank = (uint32_t)size;
  return NULL;
}

static SambaStatus flattenTarget(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims, uint32_t *out_rank,
                                 int64_t *out_dims) {
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

static SambaStatus squeezeTarget(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims, uint32_t *out_rank,
                                 int64_t *out_dims) {
  const int64_t *axes = NULL;
  size_t size = 0;
  bool found, removed[SAMBA_MAX_RANK] = {false};
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, node->version < 13 ? "axes" : NULL, &axes, &size, &found));
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

static SambaStatus unsqueezeTarget(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims, uint32_t *out_rank,
                                   int64_t *out_dims) {
  const int64_t *axes = NULL;
  size_t size = 0;
  bool found, added[SAMBA_MAX_RANK] = {false};
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, node->version < 13 ? "axes" : NULL, &axes, &size, &found));
  if (!found || rank + size > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "%s", found ? "the result's rank is more than 8" : "there are no axes");
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

SambaStatus sambaOnnxReshapedDims(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims, uint32_t *out_rank,
                                  int64_t *out_dims) {
  switch (node->proto->op_type[0]) {
  case 'F':
    return flattenTarget(node, rank, dims, out_rank, out_dims);
  case 'S':
    return squeezeTarget(node, rank, dims, out_rank, out_dims);
  case 'U':
    return unsqueezeTarget(node, rank, dims, out_rank, out_dims);
  default:
    return reshapeTarget(node, rank, dims, out_rank, out_dims);
  }
}

SambaStatus sambaOnnxPermutation(const SambaOnnxNode *node, uint32_t rank, int64_t *out_dims) {
  const int64_t *perm;
  size_t size;
  bool found = sambaOnnxInts(node, "perm", &perm, &size), seen[SAMBA_MAX_RANK] = {false};
  for (uint32_t axis = 0; axis < rank; ++axis) {
    int64_t from = !found ? (int64_t)rank - 1 - axis : size == rank ? perm[axis] : -1;
    if (from < 0 || from >= rank || seen[from])
      return sambaStatusMake(SAMBA_INVALID, "perm does not name each of %u dimensions once", rank);
    seen[from] = true;
    out_dims[axis] = from;
  }
  return NULL;
}

SambaStatus sambaOnnxBroadcast(uint32_t rank, const int64_t *dims, uint32_t other_rank, const int64_t *other,
                               uint32_t *out_rank, int64_t *out_dims) {
  int64_t result[SAMBA_MAX_RANK];
  uint32_t most = rank > other_rank ? rank : other_rank;
  for (uint32_t back = 1; back <= most; ++back) {
    int64_t x = back <= rank ? dims[rank - back] : 1, y = back <= other_rank ? other[other_rank - back] : 1;
    if (x != y && x != 1 && y != 1)
      return sambaStatusMake(SAMBA_INVALID, "shapes do not broadcast: %lld against %lld, %u from the end", (long long)x,
                             (long long)y, back);
    result[most - back] = x == 1 ? y : x;
  }
  *out_rank = most;
  memcpy(out_dims, result, most * sizeof *result);
  return NULL;
}

static int64_t clampTo(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

SambaStatus sambaOnnxSliceRange(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims, SambaOnnxSlice *out) {
  static const char *const names[] = {"starts", "ends", "axes", NULL};
  const int64_t *lists[4] = {NULL};
  size_t sizes[4] = {0};
  bool found[4];
  for (uint32_t i = 0; i < 4; ++i)
    SAMBA_RETURN_IF_ERROR(
        sambaOnnxKnownInts(node, i + 1, node->version < 10 ? names[i] : NULL, &lists[i], &sizes[i], &found[i]));
  if (!found[0] || !found[1] || sizes[0] != sizes[1] || (found[2] && sizes[2] != sizes[0]) ||
      (found[3] && sizes[3] != sizes[0]) || sizes[0] > rank)
    return sambaStatusMake(SAMBA_INVALID, "starts, ends, axes and steps do not have the same length, of at most %u",
                           rank);
  for (uint32_t d = 0; d < rank; ++d)
    out->starts[d] = 0, out->ends[d] = out->sizes[d] = dims[d], out->steps[d] = 1;
  for (size_t i = 0; i < sizes[0]; ++i) {
    uint32_t axis;
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(found[2] ? lists[2][i] : (int64_t)i, rank, &axis));
    int64_t start = lists[0][i], end = lists[1][i], step = found[3] ? lists[3][i] : 1, size = dims[axis];
    if (step == 0)
      return sambaStatusMake(SAMBA_INVALID, "the step of axis %u is 0", axis);
    step = clampTo(step, -((int64_t)1 << 40), (int64_t)1 << 40);
    start += start < 0 ? size : 0;
    end += end < 0 ? size : 0;
    start = step > 0 ? clampTo(start, 0, size) : clampTo(start, 0, size - 1);
    end = step > 0 ? clampTo(end, 0, size) : clampTo(end, -1, size - 1);
    int64_t count = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    out->starts[axis] = start;
    out->ends[axis] = end;
    out->steps[axis] = step;
    out->sizes[axis] = count < 0 ? 0 : count;
  }
  return NULL;
}

SambaStatus sambaOnnxSplitSizes(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims, uint32_t *out_axis,
                                int64_t *out_sizes) {
  const int64_t *split = NULL;
  size_t size = 0;
  bool found;
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), rank, out_axis));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, node->version < 13 ? "split" : NULL, &split, &size, &found));
  int64_t whole = dims[*out_axis], sum = 0, parts = node->output_count, chunk = (whole + parts - 1) / parts;
  if (sambaOnnxInt(node, "num_outputs", parts) != parts || (found && size != (size_t)parts) ||
      (!found && node->version < 18 && whole % parts))
    return sambaStatusMake(SAMBA_INVALID, "a dimension of %lld cannot be split into %lld outputs this way",
                           (long long)whole, (long long)parts);
  for (int64_t i = 0; i < parts; ++i) {
    out_sizes[i] = found ? split[i] : i + 1 < parts ? chunk : whole - sum;
    if (out_sizes[i] < 0 || out_sizes[i] > whole - sum)
      return sambaStatusMake(SAMBA_INVALID, "the parts of a dimension of %lld do not add up", (long long)whole);
    sum += out_sizes[i];
  }
  return sum == whole ? NULL
                      : sambaStatusMake(SAMBA_INVALID, "the parts of a dimension of %lld add up to %lld",
                                        (long long)whole, (long long)sum);
}

/* ---- Handlers ---- */

static SambaStatus importReshape(const SambaOnnxNode *node) {
  SambaTensor *x;
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxReshapedDims(node, x->type.rank, x->type.dims, &rank, dims));
  bool same = rank == x->type.rank && memcmp(dims, x->type.dims, rank * sizeof *dims) == 0;
  return sambaOnnxSetTensor(node, 0, same ? x : sambaReshape(x, rank, dims));
}
SambaStatus sambaOnnxImportReshape(const SambaOnnxNode *node) { return importReshape(node); }
SambaStatus sambaOnnxImportFlatten(const SambaOnnxNode *node) { return importReshape(node); }
SambaStatus sambaOnnxImportSqueeze(const SambaOnnxNode *node) { return importReshape(node); }
SambaStatus sambaOnnxImportUnsqueeze(const SambaOnnxNode *node) { return importReshape(node); }

SambaStatus sambaOnnxImportTranspose(const SambaOnnxNode *node) {
  SambaTensor *x;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxPermutation(node, x->type.rank, dims));
  return sambaOnnxSetTensor(node, 0, sambaPermute(x, dims));
}

static SambaTensor *slice(SambaTensor *x, const int64_t *starts, const int64_t *ends, const int64_t *steps) {
  uint32_t rank = x->type.rank;
  SambaAttribute attributes[] = {sambaIntsAttribute("starts", starts, rank), sambaIntsAttribute("ends", ends, rank),
                                 sambaIntsAttribute("steps", steps, rank)};
  return sambaTraceCall(x->trace, "slice", 1, &x, 3, attributes);
}

/* count elements along one axis, from start on, step apart */
static SambaTensor *part(SambaTensor *x, uint32_t axis, int64_t start, int64_t count, int64_t step) {
  int64_t starts[SAMBA_MAX_RANK] = {0}, ends[SAMBA_MAX_RANK], steps[SAMBA_MAX_RANK];
  for (uint32_t d = 0; d < x->type.rank; ++d)
    ends[d] = x->type.dims[d], steps[d] = 1;
  int64_t last = start + (count - 1) * step;
  if (start == 0 && step == 1 && count == x->type.dims[axis])
    return x;
  starts[axis] = start;
  ends[axis] = step > 0 ? last + 1 : last - 1;
  steps[axis] = step;
  return slice(x, starts, ends, steps);
}

SambaStatus sambaOnnxImportSlice(const SambaOnnxNode *node) {
  SambaTensor *x;
  SambaOnnxSlice range;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxSliceRange(node, x->type.rank, x->type.dims, &range));
  bool whole = true;
  for (uint32_t d = 0; d < x->type.rank; ++d) {
    if (range.sizes[d] == 0)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "the slice along dimension %u is empty; Samba has no tensors without elements", d);
    whole = whole && range.sizes[d] == x->type.dims[d] && (range.steps[d] > 0 || x->type.dims[d] == 1);
  }
  return sambaOnnxSetTensor(node, 0, whole ? x : slice(x, range.starts, range.ends, range.steps));
}

SambaStatus sambaOnnxImportSplit(const SambaOnnxNode *node) {
  SambaTensor *x;
  uint32_t axis;
  int64_t *sizes = SAMBA_ARENA_ARRAY(&node->importer->arena, int64_t, node->output_count), start = 0;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxSplitSizes(node, x->type.rank, x->type.dims, &axis, sizes));
  for (uint32_t i = 0; i < node->output_count; start += sizes[i++])
    if (sambaOnnxOutputUsed(node, i)) {
      if (sizes[i] == 0)
        return sambaStatusMake(SAMBA_UNSUPPORTED, "output %u is empty; Samba has no tensors without elements", i);
      SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, i, part(x, axis, start, sizes[i], 1)));
    }
  return NULL;
}

SambaStatus sambaOnnxImportConcat(const SambaOnnxNode *node) {
  SambaTensor **parts = SAMBA_ARENA_ARRAY(&node->importer->arena, SambaTensor *, node->input_count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < node->input_count; ++i) {
    uint32_t rank;
    int64_t dims[SAMBA_MAX_RANK], elements = 1;
    SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, i, &rank, dims));
    for (uint32_t d = 0; d < rank; ++d)
      elements *= dims[d];
    if (elements) /* empty parts add nothing */
      SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, i, &parts[count++]));
  }
  if (count == 1)
    return sambaOnnxSetTensor(node, 0, parts[0]);
  return sambaOnnxSetTensor(node, 0, sambaCat(count, parts, sambaOnnxInt(node, "axis", node->version < 4 ? 1 : 0)));
}

/* Known indices that go up or down evenly: a slice, which moves no data. */
static bool evenIndices(const SambaConstant *indices, int64_t size, int64_t *out_start, int64_t *out_step) {
  if (indices->count < 1)
    return false;
  *out_step = 1;
  for (int64_t i = 0; i < indices->count; ++i) {
    int64_t index = indices->data[i].i + (indices->data[i].i < 0 ? size : 0);
    if (index < 0 || index >= size)
      return false;
    if (i == 0)
      *out_start = index;
    else if (i == 1)
      *out_step = index - *out_start;
    if (index != *out_start + i * *out_step || *out_step == 0)
      return false;
  }
  return true;
}

SambaStatus sambaOnnxImportGather(const SambaOnnxNode *node) {
  SambaTensor *x, *indices;
  uint32_t axis, indexRank, rank = 0;
  int64_t indexDims[SAMBA_MAX_RANK], dims[2 * SAMBA_MAX_RANK], start, step, count = 1;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->type.rank, &axis));
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 1, &indexRank, indexDims));
  for (uint32_t d = 0; d < x->type.rank; ++d) {
    for (uint32_t k = 0; d == axis && k < indexRank; ++k)
      dims[rank++] = indexDims[k], count *= indexDims[k];
    if (d != axis)
      dims[rank++] = x->type.dims[d];
  }
  if (rank > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the result has rank %u, but %d is the most", rank, SAMBA_MAX_RANK);
  const SambaConstant *known = sambaOnnxConstant(node, 1);
  if (known && evenIndices(known, x->type.dims[axis], &start, &step)) {
    SambaTensor *chosen = part(x, axis, start, count, step);
    return sambaOnnxSetTensor(node, 0, indexRank == 1 ? chosen : sambaReshape(chosen, rank, dims));
  }
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &indices));
  if (axis == 0)
    return sambaOnnxSetTensor(node, 0, sambaEmbedding(x, indices));
  SambaTensor *flat = indexRank == 1 ? indices : sambaReshape(indices, 1, &count),
              *chosen = sambaIndexSelect(x, flat, axis);
  return sambaOnnxSetTensor(node, 0, indexRank == 1 ? chosen : sambaReshape(chosen, rank, dims));
}

SambaStatus sambaOnnxImportExpand(const SambaOnnxNode *node) {
  SambaTensor *x;
  const int64_t *shape;
  size_t size;
  bool found;
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, NULL, &shape, &size, &found));
  if (!found || size > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the shape is missing or has a rank of more than %d", SAMBA_MAX_RANK);
  SAMBA_RETURN_IF_ERROR(sambaOnnxBroadcast(x->type.rank, x->type.dims, (uint32_t)size, shape, &rank, dims));
  bool same = rank == x->type.rank && memcmp(dims, x->type.dims, rank * sizeof *dims) == 0;
  return sambaOnnxSetTensor(node, 0, same ? x : sambaExpand(x, rank, dims));
}

/* Each repeated axis: a new axis before it, expanded, then joined. One reshape, one expand, one reshape; axes that are
 * not repeated get none. */
SambaStatus sambaOnnxImportTile(const SambaOnnxNode *node) {
  SambaTensor *x;
  const int64_t *repeats;
  size_t size;
  bool found;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, NULL, &repeats, &size, &found));
  if (!found || size != x->type.rank)
    return sambaStatusMake(SAMBA_INVALID, "there must be one repeat per dimension, %u", x->type.rank);
  for (uint32_t axis = 0; axis < x->type.rank && x; ++axis) { /* axis by axis: ranks stay small */
    if (repeats[axis] == 1)
      continue;
    if (x->type.rank == SAMBA_MAX_RANK)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "tensors of rank %d cannot be repeated", SAMBA_MAX_RANK);
    if (repeats[axis] < 1)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "dimension %u is repeated %lld times; Samba has no tensors without elements", axis,
                             (long long)repeats[axis]);
    int64_t wide[SAMBA_MAX_RANK], result[SAMBA_MAX_RANK];
    uint32_t rank = x->type.rank;
    memcpy(result, x->type.dims, sizeof result);
    memcpy(wide, result, axis * sizeof *wide);
    wide[axis] = 1;
    memcpy(wide + axis + 1, result + axis, (rank - axis) * sizeof *wide);
    SambaTensor *split = sambaReshape(x, rank + 1, wide);
    wide[axis] = repeats[axis];
    result[axis] *= repeats[axis];
    x = sambaReshape(sambaExpand(split, rank + 1, wide), rank, result);
  }
  return sambaOnnxSetTensor(node, 0, x);
}

/* Mirror images and edges, axis by axis: slices joined before and after. */
static SambaTensor *padByParts(SambaTensor *x, uint32_t axis, int64_t low, int64_t high, bool reflect) {
  int64_t size = x->type.dims[axis];
  SambaTensor *parts[3], **next = parts;
  SambaTensor *sides[2] = {NULL, NULL};
  for (int side = 0; side < 2; ++side) {
    int64_t count = side ? high : low;
    if (!count)
      continue;
    if (reflect) {
      sides[side] = part(x, axis, side ? size - 2 : count, count, -1);
    } else {
      int64_t dims[SAMBA_MAX_RANK];
      memcpy(dims, x->type.dims, sizeof dims);
      dims[axis] = count;
      sides[side] = sambaExpand(part(x, axis, side ? size - 1 : 0, 1, 1), x->type.rank, dims);
    }
  }
  if (sides[0])
    *next++ = sides[0];
  *next++ = x;
  if (sides[1])
    *next++ = sides[1];
  return next - parts == 1 ? x : sambaCat((uint32_t)(next - parts), parts, axis);
}

SambaStatus sambaOnnxImportPad(const SambaOnnxNode *node) {
  SambaTensor *x;
  const int64_t *pads = NULL, *axes = NULL;
  size_t size = 0, axisCount = 0;
  bool found, hasAxes;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1,
                                           node->version < 2    ? "paddings"
                                           : node->version < 11 ? "pads"
                                                                : NULL,
                                           &pads, &size, &found));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 3, NULL, &axes, &axisCount, &hasAxes));
  uint32_t rank = x->type.rank;
  if (!found || size != 2 * (hasAxes ? axisCount : rank))
    return sambaStatusMake(SAMBA_INVALID, "there are %zu pads; there must be two per dimension", size);
  double value = node->version < 11 ? sambaOnnxFloat(node, "value", 0) : 0;
  if (sambaOnnxHasInput(node, 2)) {
    const SambaConstant *constant = sambaOnnxConstant(node, 2);
    if (!constant || constant->count != 1)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "the pad value must be one number known at compile time");
    value = sambaConstantReal(constant, 0);
  }
  bool constantMode = sambaOnnxStringIs(node, "mode", "constant", true),
       reflect = sambaOnnxStringIs(node, "mode", "reflect", false);
  if (!constantMode && !reflect && !sambaOnnxStringIs(node, "mode", "edge", false))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "this mode is not supported; the modes are constant, reflect and edge");
  int64_t low[SAMBA_MAX_RANK] = {0}, high[SAMBA_MAX_RANK] = {0};
  size_t count = size / 2;
  for (size_t i = 0; i < count; ++i) {
    uint32_t axis = (uint32_t)i;
    if (hasAxes)
      SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(axes[i], rank, &axis));
    low[axis] = pads[i], high[axis] = pads[count + i];
  }
  bool any = false;
  for (uint32_t axis = 0; axis < rank && x; ++axis) { /* negative pads cut off */
    int64_t size_ = x->type.dims[axis], cutLow = low[axis] < 0 ? -low[axis] : 0,
            cutHigh = high[axis] < 0 ? -high[axis] : 0;
    if (cutLow >= size_ || cutHigh >= size_ - cutLow)
      return sambaStatusMake(SAMBA_INVALID, "the pads of dimension %u leave nothing", axis);
    if (cutLow || cutHigh)
      x = part(x, axis, cutLow, size_ - cutLow - cutHigh, 1);
    low[axis] += cutLow, high[axis] += cutHigh;
    any |= low[axis] || high[axis];
    if (reflect && x && (low[axis] >= x->type.dims[axis] || high[axis] >= x->type.dims[axis]))
      return sambaStatusMake(SAMBA_INVALID, "dimension %u of size %lld cannot be reflected by %lld and %lld", axis,
                             (long long)x->type.dims[axis], (long long)low[axis], (long long)high[axis]);
    if (!constantMode && x)
      x = padByParts(x, axis, low[axis], high[axis], reflect);
  }
  return sambaOnnxSetTensor(node, 0, constantMode && any ? sambaPad(x, low, high, value) : x);
}

enum { INT64_TYPE = 7, FLOAT_TYPE = 1 };

SambaStatus sambaOnnxImportShape(const SambaOnnxNode *node) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
  int64_t start = sambaOnnxInt(node, "start", 0), end = sambaOnnxInt(node, "end", rank);
  start = clampTo(start < 0 ? start + rank : start, 0, rank);
  end = clampTo(end < 0 ? end + rank : end, start, rank);
  int64_t count = end - start;
  SambaConstant *result = sambaConstantNew(&node->importer->arena, INT64_TYPE, 1, &count);
  for (int64_t i = 0; i < count; ++i)
    result->data[i].i = dims[start + i];
  return sambaOnnxSetConstant(node, 0, result);
}

SambaStatus sambaOnnxImportSize(const SambaOnnxNode *node) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
  SambaConstant *result = sambaConstantNew(&node->importer->arena, INT64_TYPE, 0, NULL);
  result->data[0].i = 1;
  for (uint32_t d = 0; d < rank; ++d)
    result->data[0].i *= dims[d];
  return sambaOnnxSetConstant(node, 0, result);
}

/* Up to the fold limit a constant, beyond it a splat of the graph. */
SambaStatus sambaOnnxImportConstantOfShape(const SambaOnnxNode *node) {
  const int64_t *shape;
  size_t size;
  bool found;
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 0, NULL, &shape, &size, &found));
  if (!found || size > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the shape is missing or has a rank of more than %d", SAMBA_MAX_RANK);
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, "value");
  SambaConstant *value = NULL;
  if (attribute && attribute->t)
    SAMBA_RETURN_IF_ERROR(sambaOnnxReadConstant(node->importer, attribute->t, &value));
  else
    value = sambaConstantNew(&node->importer->arena, FLOAT_TYPE, 0, NULL);
  if (!value || value->count != 1)
    return sambaStatusMake(SAMBA_INVALID, "the value must be one number");
  SambaConstant *result = sambaConstantNew(&node->importer->arena, value->onnx_type, (uint32_t)size, shape);
  if (result) {
    for (int64_t i = 0; i < result->count; ++i)
      result->data[i] = value->data[0];
    return sambaOnnxSetConstant(node, 0, result);
  }
  SambaTensor *one;
  value->rank = 0;
  SAMBA_RETURN_IF_ERROR(sambaOnnxMaterialize(node->importer, value, &one));
  return sambaOnnxSetTensor(node, 0, sambaExpand(one, (uint32_t)size, shape));
}

SambaStatus sambaOnnxImportRange(const SambaOnnxNode *node) {
  const SambaConstant *x[3];
  for (uint32_t i = 0; i < 3; ++i)
    if (!(x[i] = sambaOnnxConstant(node, i)) || x[i]->count != 1)
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "input %u must be one number known at compile time; if it is a graph input, use --bind NAME=FILE", i);
  int64_t count;
  if (x[0]->is_float) {
    double steps = (x[1]->data[0].r - x[0]->data[0].r) / x[2]->data[0].r;
    count = steps > 0 && steps <= SAMBA_ONNX_MAX_FOLDED ? (int64_t)steps + ((double)(int64_t)steps < steps)
            : steps > 0                                 ? INT64_MAX
                                                        : 0;
  } else {
    int64_t step = x[2]->data[0].i, distance;
    int64_t most = (int64_t)1 << 60, values[] = {x[0]->data[0].i, x[1]->data[0].i, step};
    bool fits = step != 0;
    for (int i = 0; i < 3; ++i)
      fits = fits && values[i] > -most && values[i] < most;
    distance = fits ? values[1] - values[0] : 0;
    if (!fits)
      return sambaStatusMake(SAMBA_INVALID, "the step is 0 or the range overflows");
    count = step > 0 ? (distance + step - 1) / step : (-distance - step - 1) / -step;
    count = count < 0 ? 0 : count;
  }
  SambaConstant *result = sambaConstantNew(&node->importer->arena, x[0]->onnx_type, 1, &count);
  for (int64_t i = 0; result && i < count; ++i) {
    if (x[0]->is_float)
      result->data[i] =
          sambaNumberConvert((SambaNumber){.r = x[0]->data[0].r + (double)i * x[2]->data[0].r}, true, x[0]->onnx_type);
    else
      result->data[i].i = x[0]->data[0].i + i * x[2]->data[0].i;
  }
  return sambaOnnxSetConstant(node, 0, result);
}

static SambaStatus numbers(const SambaOnnxNode *node, int64_t type, uint32_t rank, int64_t count, const float *reals,
                           const int64_t *integers) {
  SambaConstant *result = sambaConstantNew(&node->importer->arena, type, rank, &count);
  for (int64_t i = 0; result && i < count; ++i) {
    if (reals)
      result->data[i].r = (double)reals[i];
    else
      result->data[i].i = integers[i];
  }
  return sambaOnnxSetConstant(node, 0, result);
}

SambaStatus sambaOnnxImportConstant(const SambaOnnxNode *node) {
  for (size_t i = 0; i < node->proto->n_attribute; ++i) {
    const Onnx__AttributeProto *a = node->proto->attribute[i];
    const char *name = a->name ? a->name : "";
    if (strcmp(name, "value") == 0 && a->t)
      return sambaOnnxSetTensorProto(node, 0, a->t);
    if (strcmp(name, "value_float") == 0)
      return numbers(node, FLOAT_TYPE, 0, 1, &a->f, NULL);
    if (strcmp(name, "value_int") == 0)
      return numbers(node, INT64_TYPE, 0, 1, NULL, &a->i);
    if (strcmp(name, "value_floats") == 0)
      return numbers(node, FLOAT_TYPE, 1, (int64_t)a->n_floats, a->floats, NULL);
    if (strcmp(name, "value_ints") == 0)
      return numbers(node, INT64_TYPE, 1, (int64_t)a->n_ints, NULL, a->ints);
  }
  return sambaStatusMake(
      SAMBA_UNSUPPORTED,
      "there is no value of a supported kind (value, value_float, value_int, value_floats, value_ints)");
}

/* [N, C, H, W] with C = b*b*c: depth-column-row order (DCR) or column-row-depth (CRD). */
SambaStatus sambaOnnxImportDepthToSpace(const SambaOnnxNode *node) {
  SambaTensor *x;
  int64_t b = sambaOnnxInt(node, "blocksize", 0);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (x->type.rank != 4 || b < 1 || x->type.dims[1] % (b * b))
    return sambaStatusMake(SAMBA_INVALID, "blocksize %lld does not fit the input", (long long)b);
  int64_t n = x->type.dims[0], c = x->type.dims[1] / (b * b), h = x->type.dims[2], w = x->type.dims[3];
  if (sambaOnnxStringIs(node, "mode", "CRD", false)) {
    x = sambaReshape(x, 6, (int64_t[]){n, c, b, b, h, w});
    x = sambaPermute(x, (int64_t[]){0, 1, 4, 2, 5, 3});
  } else {
    x = sambaReshape(x, 6, (int64_t[]){n, b, b, c, h, w});
    x = sambaPermute(x, (int64_t[]){0, 3, 4, 1, 5, 2});
  }
  return sambaOnnxSetTensor(node, 0, sambaReshape(x, 4, (int64_t[]){n, c, h * b, w * b}));
}

SambaStatus sambaOnnxImportSpaceToDepth(const SambaOnnxNode *node) {
  SambaTensor *x;
  int64_t b = sambaOnnxInt(node, "blocksize", 0);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (x->type.rank != 4 || b < 1 || x->type.dims[2] % b || x->type.dims[3] % b)
    return sambaStatusMake(SAMBA_INVALID, "blocksize %lld does not fit the input", (long long)b);
  int64_t n = x->type.dims[0], c = x->type.dims[1], h = x->type.dims[2] / b, w = x->type.dims[3] / b;
  x = sambaPermute(sambaReshape(x, 6, (int64_t[]){n, c, h, b, w, b}), (int64_t[]){0, 3, 5, 1, 2, 4});
  return sambaOnnxSetTensor(node, 0, sambaReshape(x, 4, (int64_t[]){n, c * b * b, h, w}));
}

/* What only exists when its input is known: the result's shape depends on data. */
SambaStatus sambaOnnxImportDataDependent(const SambaOnnxNode *node) {
  (void)node;
  return sambaStatusMake(
      SAMBA_UNSUPPORTED,
      "the shape of the result depends on data; only inputs known at compile time are supported (--bind NAME=FILE)");
}

/* The upper or lower triangle of the last two dimensions; the rest becomes zero. */
SambaStatus sambaOnnxImportTrilu(const SambaOnnxNode *node) {
  SambaTensor *x;
  const int64_t *diagonals = NULL;
  size_t size = 0;
  bool found, upper = sambaOnnxInt(node, "upper", 1) != 0;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, NULL, &diagonals, &size, &found));
  int64_t k = size ? diagonals[0] : 0, count;
  if (x->type.rank < 2)
    return sambaStatusMake(SAMBA_INVALID, "input 0 has rank %u, but must be a matrix or a batch of them", x->type.rank);
  int64_t rows = x->type.dims[x->type.rank - 2], columns = x->type.dims[x->type.rank - 1];
  if (sambaMulOverflows(rows, columns, &count) || count > (int64_t)1 << 26)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a matrix of %lld by %lld is too large for its mask", (long long)rows,
                           (long long)columns);
  uint8_t *mask = sambaAllocate((size_t)count);
  for (int64_t i = 0; i < count; ++i)
    mask[i] = upper ? i % columns - i / columns >= k : i % columns - i / columns <= k;
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I1, .rank = 2, .dims = {rows, columns}};
  SambaTensor *keep = sambaTraceConstant(node->importer->trace, &type, mask, false);
  free(mask);
  return sambaOnnxSetTensor(node, 0, sambaWhere(keep, x, sambaTraceScalar(node->importer->trace, x->type.dtype, 0)));
}
