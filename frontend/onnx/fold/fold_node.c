/* Evaluating nodes whose inputs are known at compile time: shape arithmetic, masks, scales. Every
 * function sets *out_done only when it has made the outputs; what it cannot do stays for the graph.
 * Here: what moves elements; fold_arithmetic.c computes, fold_indexing.c looks up and orders. */
#include "frontend/onnx/fold/fold_node.h"
#include "frontend/onnx/core/shape_rules.h"

SambaStatus sambaOnnxFoldIdentity(const SambaOnnxNode *node, bool *out_done) {
  *out_done = true;
  return sambaOnnxSetSame(node, 0, 0);
}

SambaStatus sambaOnnxFoldCast(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  int64_t to = sambaOnnxCastTarget(node);
  SambaConstant *result = sambaConstantNew(node->arena, to, x->rank, x->dims);
  for (int64_t i = 0; result && i < result->count; ++i)
    result->data[i] = sambaNumberConvert(x->data[i], x->is_float, to);
  return sambaOnnxFoldTo(node, 0, result, out_done);
}

SambaStatus sambaOnnxFoldReshape(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxReshapedDims(node, x->rank, x->dims, &rank, dims));
  SambaConstant *result = sambaConstantNew(node->arena, x->onnx_type, rank, dims);
  if (result)
    memcpy(result->data, x->data, (size_t)x->count * sizeof *x->data);
  return sambaOnnxFoldTo(node, 0, result, out_done);
}

/* result element at [i0, i1, ..] = x element at base + sum(strides[a] * ia) */
static SambaConstant *strided(const SambaOnnxNode *node, const SambaConstant *x, uint32_t rank,
                              const int64_t *dims, int64_t base, const int64_t *strides) {
  SambaConstant *result = sambaConstantNew(node->arena, x->onnx_type, rank, dims);
  for (int64_t i = 0; result && i < result->count; ++i) {
    int64_t at = base, rest = i;
    for (uint32_t axis = rank; axis-- > 0; rest /= dims[axis])
      at += rest % dims[axis] * strides[axis];
    result->data[i] = x->data[at];
  }
  return result;
}

static void rowMajorStrides(const SambaConstant *x, int64_t *out) {
  int64_t stride = 1;
  for (uint32_t axis = x->rank; axis-- > 0; stride *= x->dims[axis])
    out[axis] = stride;
}

SambaStatus sambaOnnxFoldTranspose(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  int64_t order[SAMBA_MAX_RANK], strides[SAMBA_MAX_RANK], dims[SAMBA_MAX_RANK],
      moved[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxPermutation(node, x->rank, order));
  rowMajorStrides(x, strides);
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    dims[axis] = x->dims[order[axis]], moved[axis] = strides[order[axis]];
  return sambaOnnxFoldTo(node, 0, strided(node, x, x->rank, dims, 0, moved), out_done);
}

SambaStatus sambaOnnxFoldSlice(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  SambaOnnxSlice slice;
  int64_t strides[SAMBA_MAX_RANK], base = 0;
  SAMBA_RETURN_IF_ERROR(sambaOnnxSliceRange(node, x->rank, x->dims, &slice));
  rowMajorStrides(x, strides);
  for (uint32_t axis = 0; axis < x->rank; ++axis) {
    base += slice.starts[axis] * strides[axis];
    strides[axis] *= slice.steps[axis];
  }
  return sambaOnnxFoldTo(node, 0, strided(node, x, x->rank, slice.sizes, base, strides), out_done);
}

SambaStatus sambaOnnxFoldSplit(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  int64_t *sizes = SAMBA_ARENA_ARRAY(node->arena, int64_t, node->output_count);
  int64_t strides[SAMBA_MAX_RANK];
  int64_t dims[SAMBA_MAX_RANK];
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(sambaOnnxSplitSizes(node, x->rank, x->dims, &axis, sizes));
  rowMajorStrides(x, strides);
  memcpy(dims, x->dims, sizeof dims);
  int64_t start = 0;

  for (uint32_t part = 0; part < node->output_count; start += sizes[part++]) {
    dims[axis] = sizes[part];
    SAMBA_RETURN_IF_ERROR(sambaOnnxSetConstant(
        node, part, strided(node, x, x->rank, dims, start * strides[axis], strides)));
  }

  *out_done = true;
  return NULL;
}

SambaStatus sambaOnnxFoldConcat(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *first = sambaOnnxConstant(node, 0);
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(
      sambaOnnxAxis(sambaOnnxInt(node, "axis", node->version < 4 ? 1 : 0), first->rank, &axis));
  int64_t dims[SAMBA_MAX_RANK], outer = 1;
  memcpy(dims, first->dims, sizeof dims);

  for (uint32_t i = 1; i < node->input_count; ++i) {
    const SambaConstant *next = sambaOnnxConstant(node, i);
    if (next->rank != first->rank || next->is_float != first->is_float)
      return sambaStatusMake(SAMBA_INVALID,
                             "input %u has another rank or kind of number than input 0", i);
    for (uint32_t d = 0; d < first->rank; ++d)
      if (d != axis && next->dims[d] != first->dims[d])
        return sambaStatusMake(SAMBA_INVALID,
                               "dimension %u of input %u is %lld, but %lld in input 0", d, i,
                               (long long)next->dims[d], (long long)first->dims[d]);
    dims[axis] += next->dims[axis];
  }

  SambaConstant *result = sambaConstantNew(node->arena, first->onnx_type, first->rank, dims);
  if (!result)
    return NULL;
  for (uint32_t d = 0; d < axis; ++d)
    outer *= dims[d];
  SambaNumber *to = result->data;
  for (int64_t o = 0; o < outer; ++o)
    for (uint32_t i = 0; i < node->input_count; ++i) {
      const SambaConstant *x = sambaOnnxConstant(node, i);
      int64_t block = outer ? x->count / outer : 0;
      if (block)
        memcpy(to, x->data + o * block, (size_t)block * sizeof *to);
      to += block;
    }
  return sambaOnnxFoldTo(node, 0, result, out_done);
}

SambaStatus sambaOnnxFoldGather(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  const SambaConstant *indices = sambaOnnxConstant(node, 1);
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->rank, &axis));
  int64_t dims[2 * SAMBA_MAX_RANK];
  int64_t outer = 1;
  int64_t inner = 1;
  int64_t size = x->dims[axis];
  uint32_t rank = 0;

  for (uint32_t d = 0; d < x->rank; ++d) {
    if (d < axis)
      outer *= x->dims[d];
    if (d > axis)
      inner *= x->dims[d];
    for (uint32_t k = 0; d == axis && k < indices->rank; ++k)
      dims[rank++] = indices->dims[k];
    if (d != axis)
      dims[rank++] = x->dims[d];
  }

  SambaConstant *result =
      rank <= SAMBA_MAX_RANK ? sambaConstantNew(node->arena, x->onnx_type, rank, dims) : NULL;
  if (!result)
    return NULL;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < indices->count; ++k) {
      int64_t index = indices->data[k].i < 0 ? indices->data[k].i + size : indices->data[k].i;
      if (index < 0 || index >= size)
        return sambaStatusMake(SAMBA_INVALID, "index %lld is not within [%lld, %lld)",
                               (long long)indices->data[k].i, (long long)-size, (long long)size);
      if (inner)
        memcpy(result->data + (o * indices->count + k) * inner,
               x->data + (o * size + index) * inner, (size_t)inner * sizeof *result->data);
    }
  return sambaOnnxFoldTo(node, 0, result, out_done);
}

SambaStatus sambaOnnxFoldExpand(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  const SambaConstant *shape = sambaOnnxConstant(node, 1);
  int64_t target[SAMBA_MAX_RANK], dims[SAMBA_MAX_RANK];
  uint32_t rank;

  if (shape->count > SAMBA_MAX_RANK)
    return NULL;
  for (int64_t i = 0; i < shape->count; ++i)
    target[i] = shape->data[i].i;
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxBroadcast(x->rank, x->dims, (uint32_t)shape->count, target, &rank, dims));
  SambaConstant *result = sambaConstantNew(node->arena, x->onnx_type, rank, dims);
  for (int64_t i = 0; result && i < result->count; ++i)
    result->data[i] = x->data[sambaConstantBroadcastIndex(x, rank, dims, i)];
  return sambaOnnxFoldTo(node, 0, result, out_done);
}

SambaStatus sambaOnnxFoldTile(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  const SambaConstant *repeats = sambaOnnxConstant(node, 1);
  int64_t dims[SAMBA_MAX_RANK];

  if (repeats->count != x->rank || node->version < 6)
    return NULL;
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    if (repeats->data[axis].i < 0 ||
        sambaMulOverflows(x->dims[axis], repeats->data[axis].i, &dims[axis]))
      return NULL;
  SambaConstant *result = sambaConstantNew(node->arena, x->onnx_type, x->rank, dims);

  for (int64_t i = 0; result && i < result->count; ++i) {
    int64_t at = 0, stride = 1, rest = i;
    for (uint32_t axis = x->rank; axis-- > 0; rest /= dims[axis]) {
      at += rest % dims[axis] % x->dims[axis] * stride;
      stride *= x->dims[axis];
    }
    result->data[i] = x->data[at];
  }

  return sambaOnnxFoldTo(node, 0, result, out_done);
}
