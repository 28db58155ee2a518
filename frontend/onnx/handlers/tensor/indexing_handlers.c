/* Handlers of ONNX operators that read and write by index. */
#include "frontend/onnx/handlers/handlers.h"
#include "support/number/shape.h"

#include "support/file/tensor_file.h"

static SambaStatus tensors(const SambaOnnxNode *node, uint32_t count, SambaTraceValue **out) {
  for (uint32_t i = 0; i < count; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, i, &out[i]));
  return NULL;
}

/* Known indices that go up or down evenly: a slice, which moves no data. */
static bool evenIndices(const SambaConstant *indices, int64_t size, int64_t *out_start,
                        int64_t *out_step) {
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
  SambaTraceValue *x, *indices;
  uint32_t axis, index_rank, rank = 0;
  int64_t index_dims[SAMBA_MAX_RANK], dims[2 * SAMBA_MAX_RANK], start, step, count = 1;

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->type.rank, &axis));
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 1, &index_rank, index_dims));
  for (uint32_t d = 0; d < x->type.rank; ++d) {
    for (uint32_t k = 0; d == axis && k < index_rank; ++k)
      dims[rank++] = index_dims[k], count *= index_dims[k];
    if (d != axis)
      dims[rank++] = x->type.dims[d];
  }

  if (rank > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the result has rank %u, but %d is the most", rank,
                           SAMBA_MAX_RANK);
  const SambaConstant *known = sambaOnnxConstant(node, 1);
  if (known && evenIndices(known, x->type.dims[axis], &start, &step)) {
    SambaTraceValue *chosen = sambaOnnxPart(x, axis, start, count, step);
    return sambaOnnxSetTensor(node, 0, index_rank == 1 ? chosen : sambaReshape(chosen, rank, dims));
  }

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &indices));
  if (axis == 0)
    return sambaOnnxSetTensor(node, 0, sambaEmbedding(x, indices));
  return sambaOnnxSetTensor(node, 0,
                            index_rank == 1 ? sambaIndexSelect(x, indices, axis)
                                            : sambaTake(x, indices, axis, 0));
}

SambaStatus sambaOnnxImportGatherElements(const SambaOnnxNode *node) {
  SambaTraceValue *x[2];
  SAMBA_RETURN_IF_ERROR(tensors(node, 2, x));
  return sambaOnnxSetTensor(node, 0, sambaGather(x[0], sambaOnnxInt(node, "axis", 0), x[1]));
}

SambaStatus sambaOnnxImportGatherNd(const SambaOnnxNode *node) {
  SambaTraceValue *x[2];
  SAMBA_RETURN_IF_ERROR(tensors(node, 2, x));
  return sambaOnnxSetTensor(node, 0,
                            sambaGatherNd(x[0], x[1], sambaOnnxInt(node, "batch_dims", 0)));
}

/* NULL: no reduction */
static SambaStatus reductionOf(const SambaOnnxNode *node, const char **out_reduce) {
  static const char *const names[] = {"none", "add", "mul", "min", "max"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (sambaOnnxStringIs(node, "reduction", names[i], i == 0)) {
      *out_reduce = i ? names[i] : NULL;
      return NULL;
    }
  return sambaStatusMake(SAMBA_UNSUPPORTED,
                         "this reduction is not supported; none, add, mul, min and max are");
}

SambaStatus sambaOnnxImportScatter(const SambaOnnxNode *node) {
  SambaTraceValue *x[3];
  const char *reduce;
  SAMBA_RETURN_IF_ERROR(tensors(node, 3, x));
  SAMBA_RETURN_IF_ERROR(reductionOf(node, &reduce));
  return sambaOnnxSetTensor(node, 0,
                            sambaScatter(x[0], sambaOnnxInt(node, "axis", 0), x[1], x[2], reduce));
}

SambaStatus sambaOnnxImportScatterNd(const SambaOnnxNode *node) {
  SambaTraceValue *x[3];
  const char *reduce;
  SAMBA_RETURN_IF_ERROR(tensors(node, 3, x));
  SAMBA_RETURN_IF_ERROR(reductionOf(node, &reduce));
  return sambaOnnxSetTensor(node, 0, sambaScatterNd(x[0], x[1], x[2], reduce));
}

/* The places along the last axis of tuples of `axis` + 1 indices, one tuple per slice of the
 * update: the number of the slice in front of it, and behind where it goes. */
static SambaStatus slicePlaces(const SambaOnnxNode *node, const SambaTensorType *cache,
                               const SambaTensorType *update, uint32_t axis,
                               SambaTraceValue **out) {
  SambaTraceValue *first = NULL, *leading, *steps;
  int64_t dims[SAMBA_MAX_RANK + 1], one[SAMBA_MAX_RANK + 1] = {update->dims[0]};
  int64_t tuples = sambaShapeElements(axis + 1, update->dims);

  memcpy(dims, update->dims, (axis + 1) * sizeof *dims);
  dims[axis + 1] = axis;
  SambaConstant *slices = sambaConstantNew(node->arena, SAMBA_ONNX_INT64, axis + 2, dims);
  dims[axis + 1] = 1;
  SambaConstant *counted = sambaConstantNew(node->arena, SAMBA_ONNX_INT64, axis + 2, dims);
  if (!slices || !counted)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "the update has %lld slices along axis %u, which is too many; %d are "
                           "the most",
                           (long long)tuples, axis, SAMBA_ONNX_MAX_FOLDED / (int)axis);
  for (int64_t tuple = 0; tuple < tuples; ++tuple) {
    int64_t rest = tuple / update->dims[axis];
    counted->data[tuple].i = tuple % update->dims[axis];
    for (uint32_t d = axis; d-- > 0; rest /= update->dims[d])
      slices->data[tuple * axis + d].i = rest % update->dims[d];
  }

  SAMBA_RETURN_IF_ERROR(sambaOnnxMaterialize(node, slices, &leading));
  SAMBA_RETURN_IF_ERROR(sambaOnnxMaterialize(node, counted, &steps));
  if (sambaOnnxHasInput(node, 2)) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &first));
    for (uint32_t d = 1; d < axis + 2; ++d)
      one[d] = 1;
    steps = sambaAdd(steps, sambaReshape(first, axis + 2, one));
  }
  if (sambaOnnxStringIs(node, "mode", "circular", false))
    steps = sambaRemainder(
        steps, sambaTraceScalar(node->trace, SAMBA_DTYPE_I64, (double)cache->dims[axis]));
  *out = sambaCat(2, (SambaTraceValue *[]){leading, steps}, -1);

  return *out ? NULL : sambaOnnxTraceFailure(node);
}

/* A cache in which slices along one axis are replaced, from a place on that each sample says. */
SambaStatus sambaOnnxImportTensorScatter(const SambaOnnxNode *node) {
  SambaTraceValue *x[2], *places;
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(tensors(node, 2, x));
  const SambaTensorType *cache = &x[0]->type, *update = &x[1]->type;
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", -2), cache->rank, &axis));
  bool fits = axis > 0 && cache->rank == update->rank && cache->rank < SAMBA_MAX_RANK;
  for (uint32_t d = 0; fits && d < cache->rank; ++d)
    fits = d == axis ? update->dims[d] <= cache->dims[d] : update->dims[d] == cache->dims[d];
  if (!fits)
    return sambaStatusMake(SAMBA_INVALID,
                           "the update must have the cache's shape, or less along axis %u, which "
                           "must not be 0",
                           axis);
  if (!sambaOnnxStringIs(node, "mode", "linear", true) &&
      !sambaOnnxStringIs(node, "mode", "circular", false))
    return sambaStatusMake(SAMBA_INVALID, "attribute 'mode' must be linear or circular");

  SAMBA_RETURN_IF_ERROR(slicePlaces(node, cache, update, axis, &places));
  return sambaOnnxSetTensor(node, 0, sambaScatterNd(x[0], places, x[1], NULL));
}

/* ONNX's indices are places in the whole result, of the size that the window gives; output_shape
 * adds zeros behind. */
SambaStatus sambaOnnxImportMaxUnpool(const SambaOnnxNode *node) {
  SambaTraceValue *x[2];
  const int64_t *kernel, *strides, *pads, *shape = NULL;
  size_t kernel_size, stride_size, pad_size, shape_size = 0;
  bool found;

  SAMBA_RETURN_IF_ERROR(tensors(node, 2, x));
  uint32_t rank = x[0]->type.rank;
  uint32_t spatial = rank - 2;
  sambaOnnxInts(node, "kernel_shape", &kernel, &kernel_size);
  sambaOnnxInts(node, "strides", &strides, &stride_size);
  sambaOnnxInts(node, "pads", &pads, &pad_size);
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 2, NULL, &shape, &shape_size, &found));
  if (rank < 3 || kernel_size != spatial || (stride_size && stride_size != spatial) ||
      (pad_size && pad_size != 2 * spatial) || (found && shape_size != rank))
    return sambaStatusMake(
        SAMBA_INVALID, "kernel_shape, strides, pads or output_shape do not fit an input of rank %u",
        rank);
  int64_t dims[SAMBA_MAX_RANK], high[SAMBA_MAX_RANK] = {0}, low[SAMBA_MAX_RANK] = {0}, elements = 1,
                                given;
  bool wider = false;
  memcpy(dims, x[0]->type.dims, 2 * sizeof *dims);
  for (uint32_t d = 0; d < spatial; ++d)
    dims[2 + d] = (x[0]->type.dims[2 + d] - 1) * (stride_size ? strides[d] : 1) + kernel[d] -
                  (pad_size ? pads[d] + pads[spatial + d] : 0);

  for (uint32_t d = 0; d < rank; ++d) {
    high[d] = found ? shape[d] - dims[d] : 0;
    wider |= high[d] != 0;
    if (dims[d] < 1 || high[d] < 0 || sambaMulOverflows(elements, dims[d], &elements))
      return sambaStatusMake(SAMBA_INVALID,
                             "dimension %u of the result would be %lld, with output_shape %lld", d,
                             (long long)dims[d], (long long)(dims[d] + high[d]));
  }

  given = sambaShapeElements(x[0]->type.rank, x[0]->type.dims);
  SambaTraceValue *flat = sambaReshape(x[0], 3, (int64_t[]){1, 1, given});
  SambaTraceValue *places = sambaReshape(x[1], 3, (int64_t[]){1, 1, given});
  SambaTraceValue *made = sambaReshape(sambaMaxUnpool(flat, places, 1, &elements), rank, dims);

  return sambaOnnxSetTensor(node, 0, wider ? sambaPad(made, low, high, 0) : made);
}

SambaStatus sambaOnnxImportReverseSequence(const SambaOnnxNode *node) {
  SambaTraceValue *x[2];
  SAMBA_RETURN_IF_ERROR(tensors(node, 2, x));
  return sambaOnnxSetTensor(node, 0,
                            sambaReverseSequence(x[0], x[1], sambaOnnxInt(node, "time_axis", 0),
                                                 sambaOnnxInt(node, "batch_axis", 1)));
}

/* Ones where column - row is k: a comparison of counted rows and columns. */
SambaStatus sambaOnnxImportEyeLike(const SambaOnnxNode *node) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  int64_t k = sambaOnnxInt(node, "k", 0);
  int64_t type = sambaOnnxInt(node, "dtype", 0);

  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
  SambaDType dtype = sambaOnnxDType(node->importer, type);
  if (!type) {
    SambaTraceValue *x;
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
    dtype = x->type.dtype;
  }

  if (rank != 2 || dtype == SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "input 0 must be a matrix and dtype one of Samba's, not rank %u and %s",
                           rank, sambaOnnxTypeName(type));
  SambaTraceValue *steps[2];

  for (uint32_t d = 0; d < 2; ++d) {
    SambaConstant *counted = sambaConstantNew(node->arena, 7 /* INT64 */, 1, &dims[d]);
    if (!counted)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "dimension %u has %lld elements; %d are the most",
                             d, (long long)dims[d], SAMBA_ONNX_MAX_FOLDED);
    for (int64_t i = 0; i < dims[d]; ++i)
      counted->data[i].i = d ? i : i + k;
    SAMBA_RETURN_IF_ERROR(sambaOnnxMaterialize(node, counted, &steps[d]));
  }

  SambaTraceValue *rows = sambaReshape(steps[0], 2, (int64_t[]){dims[0], 1});
  return sambaOnnxSetTensor(node, 0, sambaCast(sambaEq(rows, steps[1]), dtype));
}
