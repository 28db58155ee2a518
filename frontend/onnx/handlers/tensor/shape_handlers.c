/* Handlers of ONNX operators that change shapes, cut and join. */
#include "frontend/onnx/core/shape_rules.h"
#include "frontend/onnx/handlers/handlers.h"
#include "support/number/shape.h"

#include <stdlib.h>

static SambaStatus importReshape(const SambaOnnxNode *node) {
  SambaTraceValue *x;
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
  SambaTraceValue *x;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxPermutation(node, x->type.rank, dims));
  return sambaOnnxSetTensor(node, 0, sambaPermute(x, dims));
}

static SambaTraceValue *slice(SambaTraceValue *x, const int64_t *starts, const int64_t *ends,
                              const int64_t *steps) {
  uint32_t rank = x->type.rank;
  SambaAttribute attributes[] = {sambaIntsAttribute("starts", starts, rank),
                                 sambaIntsAttribute("ends", ends, rank),
                                 sambaIntsAttribute("steps", steps, rank)};
  return sambaTraceCall(x->trace, "slice", 1, &x, 3, attributes);
}

SambaTraceValue *sambaOnnxPart(SambaTraceValue *x, uint32_t axis, int64_t start, int64_t count,
                               int64_t step) {
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
  SambaTraceValue *x;
  SambaOnnxSlice range;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxSliceRange(node, x->type.rank, x->type.dims, &range));
  bool whole = true;
  for (uint32_t d = 0; d < x->type.rank; ++d) {
    if (range.sizes[d] == 0)
      return sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), x->type.rank, range.sizes);
    whole =
        whole && range.sizes[d] == x->type.dims[d] && (range.steps[d] > 0 || x->type.dims[d] == 1);
  }
  return sambaOnnxSetTensor(node, 0, whole ? x : slice(x, range.starts, range.ends, range.steps));
}

SambaStatus sambaOnnxImportSplit(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  uint32_t axis;
  int64_t *sizes = SAMBA_ARENA_ARRAY(node->arena, int64_t, node->output_count);
  int64_t start = 0;

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxSplitSizes(node, x->type.rank, x->type.dims, &axis, sizes));
  for (uint32_t i = 0; i < node->output_count; start += sizes[i++])
    if (sambaOnnxOutputUsed(node, i)) {
      if (sizes[i] == 0) {
        int64_t dims[SAMBA_MAX_RANK];
        memcpy(dims, x->type.dims, sizeof dims);
        dims[axis] = 0;
        SAMBA_RETURN_IF_ERROR(
            sambaOnnxSetEmpty(node, i, sambaOnnxInputType(node, 0), x->type.rank, dims));
        continue;
      }
      SAMBA_RETURN_IF_ERROR(
          sambaOnnxSetTensor(node, i, sambaOnnxPart(x, axis, start, sizes[i], 1)));
    }
  return NULL;
}

SambaStatus sambaOnnxImportConcat(const SambaOnnxNode *node) {
  SambaTraceValue **parts = SAMBA_ARENA_ARRAY(node->arena, SambaTraceValue *, node->input_count);
  uint32_t count = 0;

  for (uint32_t i = 0; i < node->input_count; ++i) {
    uint32_t rank;
    int64_t dims[SAMBA_MAX_RANK];
    SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, i, &rank, dims));
    if (sambaShapeElements(rank, dims)) /* empty parts add nothing */
      SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, i, &parts[count++]));
  }

  if (count == 1)
    return sambaOnnxSetTensor(node, 0, parts[0]);
  return sambaOnnxSetTensor(
      node, 0, sambaCat(count, parts, sambaOnnxInt(node, "axis", node->version < 4 ? 1 : 0)));
}

SambaStatus sambaOnnxImportExpand(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  const int64_t *shape;
  size_t size;
  bool found;
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, NULL, &shape, &size, &found));
  if (!found || size > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the shape is missing or has a rank of more than %d",
                           SAMBA_MAX_RANK);
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxBroadcast(x->type.rank, x->type.dims, (uint32_t)size, shape, &rank, dims));
  bool same = rank == x->type.rank && memcmp(dims, x->type.dims, rank * sizeof *dims) == 0;
  for (uint32_t axis = 0; axis < rank; ++axis)
    if (dims[axis] == 0)
      return sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), rank, dims);
  return sambaOnnxSetTensor(node, 0, same ? x : sambaExpand(x, rank, dims));
}

/* Each repeated axis: a new axis before it, expanded, then joined. One reshape, one expand, one
 * reshape; axes that are not repeated get none. */
SambaStatus sambaOnnxImportTile(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  const int64_t *repeats;
  size_t size;
  bool found;

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, NULL, &repeats, &size, &found));
  int64_t once[SAMBA_MAX_RANK];
  if (node->version < 6) { /* one count and the axis it is for */
    const int64_t *axes;
    size_t axis_count;
    uint32_t axis;
    SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 2, NULL, &axes, &axis_count, &found));
    if (!found || axis_count != 1 || size != 1)
      return sambaStatusMake(SAMBA_INVALID,
                             "inputs 1 and 2, the count and the axis, must have one number each");
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(axes[0], x->type.rank, &axis));
    for (uint32_t d = 0; d < x->type.rank; ++d)
      once[d] = d == axis ? repeats[0] : 1;
    repeats = once;
    size = x->type.rank;
  }

  if (!found || size != x->type.rank)
    return sambaStatusMake(SAMBA_INVALID, "there must be one repeat per dimension, %u",
                           x->type.rank);
  for (uint32_t axis = 0; axis < x->type.rank; ++axis)
    if (repeats[axis] < 1) {
      int64_t dims[SAMBA_MAX_RANK];
      for (uint32_t d = 0; d < x->type.rank; ++d)
        if (repeats[d] < 0 || sambaMulOverflows(x->type.dims[d], repeats[d], &dims[d]))
          return sambaStatusMake(SAMBA_INVALID, "dimension %u cannot be repeated %lld times", d,
                                 (long long)repeats[d]);
      return sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), x->type.rank, dims);
    }
  for (uint32_t axis = 0; axis < x->type.rank && x; ++axis) { /* axis by axis: ranks stay small */
    if (repeats[axis] == 1)
      continue;
    if (x->type.rank == SAMBA_MAX_RANK)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "tensors of rank %d cannot be repeated",
                             SAMBA_MAX_RANK);
    int64_t wide[SAMBA_MAX_RANK], result[SAMBA_MAX_RANK];
    uint32_t rank = x->type.rank;
    memcpy(result, x->type.dims, sizeof result);
    memcpy(wide, result, axis * sizeof *wide);
    wide[axis] = 1;
    memcpy(wide + axis + 1, result + axis, (rank - axis) * sizeof *wide);
    SambaTraceValue *split = sambaReshape(x, rank + 1, wide);
    wide[axis] = repeats[axis];
    result[axis] *= repeats[axis];
    x = sambaReshape(sambaExpand(split, rank + 1, wide), rank, result);
  }

  return sambaOnnxSetTensor(node, 0, x);
}

/* [N, C, H, W] with C = b*b*c: depth-column-row order (DCR) or column-row-depth (CRD). */
SambaStatus sambaOnnxImportDepthToSpace(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  int64_t b = sambaOnnxInt(node, "blocksize", 0);

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (x->type.rank != 4 || b < 1 || x->type.dims[1] % (b * b))
    return sambaStatusMake(SAMBA_INVALID, "blocksize %lld does not fit the input", (long long)b);
  int64_t n = x->type.dims[0];
  int64_t c = x->type.dims[1] / (b * b);
  int64_t h = x->type.dims[2];
  int64_t w = x->type.dims[3];
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
  SambaTraceValue *x;
  int64_t b = sambaOnnxInt(node, "blocksize", 0);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (x->type.rank != 4 || b < 1 || x->type.dims[2] % b || x->type.dims[3] % b)
    return sambaStatusMake(SAMBA_INVALID, "blocksize %lld does not fit the input", (long long)b);
  int64_t n = x->type.dims[0];
  int64_t c = x->type.dims[1];
  int64_t h = x->type.dims[2] / b;
  int64_t w = x->type.dims[3] / b;
  x = sambaPermute(sambaReshape(x, 6, (int64_t[]){n, c, h, b, w, b}),
                   (int64_t[]){0, 3, 5, 1, 2, 4});
  return sambaOnnxSetTensor(node, 0, sambaReshape(x, 4, (int64_t[]){n, c * b * b, h, w}));
}
