/* Handlers of ONNX operators that change shapes, choose and join. */
#include "frontend/onnx/importer.h"

#include <stdlib.h>

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
      return sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), x->type.rank, range.sizes);
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
      if (sizes[i] == 0) {
        int64_t dims[SAMBA_MAX_RANK];
        memcpy(dims, x->type.dims, sizeof dims);
        dims[axis] = 0;
        SAMBA_RETURN_IF_ERROR(sambaOnnxSetEmpty(node, i, sambaOnnxInputType(node, 0), x->type.rank, dims));
        continue;
      }
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
  for (uint32_t axis = 0; axis < rank; ++axis)
    if (dims[axis] == 0)
      return sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), rank, dims);
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
  int64_t once[SAMBA_MAX_RANK];
  if (node->version < 6) { /* one count and the axis it is for */
    const int64_t *axes;
    size_t axisCount;
    uint32_t axis;
    SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 2, NULL, &axes, &axisCount, &found));
    if (!found || axisCount != 1 || size != 1)
      return sambaStatusMake(SAMBA_INVALID, "there must be one count and one axis");
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(axes[0], x->type.rank, &axis));
    for (uint32_t d = 0; d < x->type.rank; ++d)
      once[d] = d == axis ? repeats[0] : 1;
    repeats = once;
    size = x->type.rank;
  }
  if (!found || size != x->type.rank)
    return sambaStatusMake(SAMBA_INVALID, "there must be one repeat per dimension, %u", x->type.rank);
  for (uint32_t axis = 0; axis < x->type.rank; ++axis)
    if (repeats[axis] < 1) {
      int64_t dims[SAMBA_MAX_RANK];
      for (uint32_t d = 0; d < x->type.rank; ++d)
        if (repeats[d] < 0 || sambaMulOverflows(x->type.dims[d], repeats[d], &dims[d]))
          return sambaStatusMake(SAMBA_INVALID, "dimension %u is repeated %lld times", d, (long long)repeats[d]);
      return sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), x->type.rank, dims);
    }
  for (uint32_t axis = 0; axis < x->type.rank && x; ++axis) { /* axis by axis: ranks stay small */
    if (repeats[axis] == 1)
      continue;
    if (x->type.rank == SAMBA_MAX_RANK)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "tensors of rank %d cannot be repeated", SAMBA_MAX_RANK);
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
