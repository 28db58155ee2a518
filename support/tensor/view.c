/* Views: other shapes and strides over the same data. */
#include "support/base/memory.h"
#include "support/number/shape.h"
#include "support/tensor/tensor_state.h"

SambaTensor *sambaTensorView(const SambaTensor *tensor, uint32_t rank, const int64_t *dims,
                             const int64_t *strides, int64_t offset) {
  return sambaTensorOverStorage(tensor->dtype, rank, dims, strides,
                                sambaStorageRetain(tensor->storage), offset);
}

/* A view of all elements keeps the name. */
static SambaStatus viewWhole(const SambaTensor *tensor, uint32_t rank, const int64_t *dims,
                             const int64_t *strides, SambaTensor **out_tensor) {
  *out_tensor = sambaTensorView(tensor, rank, dims, strides, tensor->offset);
  sambaTensorInherit(*out_tensor, tensor);
  return NULL;
}

SambaStatus sambaTensorDetach(SambaTensor *tensor, SambaTensor **out_tensor) {
  viewWhole(tensor, tensor->rank, tensor->dims, tensor->strides, out_tensor);
  (*out_tensor)->requires_grad = false;
  return NULL;
}

/* ---- Orders of dimensions ---- */

SambaStatus sambaTensorPermute(SambaTensor *tensor, uint32_t rank, const int64_t *axes,
                               SambaTensor **out_tensor) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  int64_t dims[SAMBA_TENSOR_MAX_RANK], strides[SAMBA_TENSOR_MAX_RANK];
  bool seen[SAMBA_TENSOR_MAX_RANK] = {false};
  *out_tensor = NULL;
  if (rank != tensor->rank)
    return sambaStatusMake(SAMBA_INVALID, "permuting %s takes %u dimensions, but %u are given",
                           sambaTensorDescribe(tensor, text), tensor->rank, rank);

  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t axis;
    SAMBA_RETURN_IF_ERROR(sambaTensorResolveDim(tensor, axes[i], &axis));
    if (seen[axis])
      return sambaStatusMake(SAMBA_INVALID, "permuting %s names dimension %lld twice",
                             sambaTensorDescribe(tensor, text), (long long)axes[i]);
    seen[axis] = true;
    dims[i] = tensor->dims[axis];
    strides[i] = tensor->strides[axis];
  }
  return viewWhole(tensor, rank, dims, strides, out_tensor);
}

SambaStatus sambaTensorTranspose2D(SambaTensor *tensor, SambaTensor **out_tensor) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  const int64_t axes[] = {1, 0};
  *out_tensor = NULL;
  if (tensor->rank > 2)
    return sambaStatusMake(SAMBA_INVALID,
                           "transposing %s: expected at most 2 dimensions; permute has more",
                           sambaTensorDescribe(tensor, text));
  if (tensor->rank < 2)
    return viewWhole(tensor, tensor->rank, tensor->dims, tensor->strides, out_tensor);
  return sambaTensorPermute(tensor, 2, axes, out_tensor);
}

/* ---- Other shapes ---- */

/* Fills in the dimension that is -1. */
static SambaStatus resolveShape(const SambaTensor *tensor, uint32_t rank, const int64_t *dims,
                                int64_t *out_dims) {
  char text[SAMBA_TENSOR_TEXT_BYTES], shape[SAMBA_TENSOR_TEXT_BYTES / 2];
  uint32_t inferred = UINT32_MAX;
  int64_t known = 1;
  SambaStatus status = NULL;
  if (rank > SAMBA_TENSOR_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a tensor of rank %u; at most %u dimensions can be",
                           rank, (unsigned)SAMBA_TENSOR_MAX_RANK);
  sambaTensorDescribe(tensor, text);
  sambaShapeFormat(shape, sizeof shape, rank, dims, "");

  for (uint32_t axis = 0; axis < rank && !status; ++axis) {
    out_dims[axis] = dims[axis];
    if (dims[axis] == -1 && inferred != UINT32_MAX)
      status = sambaStatusMake(SAMBA_INVALID, "reshaping %s to %s: only one dimension can be -1",
                               text, shape);
    else if (dims[axis] == -1)
      inferred = axis;
    else if (dims[axis] < 0)
      status = sambaStatusMake(SAMBA_INVALID,
                               "reshaping %s to %s: dimension %u is %lld; expected 0 or more, or "
                               "-1 for what is left",
                               text, shape, axis, (long long)dims[axis]);
    else if (sambaMulOverflows(known, dims[axis], &known))
      known = INT64_MAX; /* more than any tensor has; a 0 may follow */
  }
  if (status)
    return status;

  if (inferred != UINT32_MAX) {
    bool fits = known && tensor->elements % known == 0;
    out_dims[inferred] = fits ? tensor->elements / known : 0;
    known = fits ? tensor->elements : -1;
  }
  if (known != tensor->elements)
    return sambaStatusMake(SAMBA_INVALID, "%s, with %lld elements, cannot have the shape %s", text,
                           (long long)tensor->elements, shape);
  return sambaTensorCheckShape(tensor->dtype, rank, out_dims); /* of no elements: any sizes */
}

/* The strides of the shape over the tensor's elements in their order; false: there are none, since
 * a new dimension would have to walk through dimensions that do not follow each other. */
static bool stridesOfShape(const SambaTensor *tensor, uint32_t rank, const int64_t *dims,
                           int64_t *out_strides) {
  if (!tensor->elements || sambaTensorIsContiguous(tensor)) {
    sambaTensorRowMajorStrides(rank, dims, out_strides);
    return true;
  }

  uint32_t to = rank;
  for (uint32_t axis = tensor->rank; axis-- > 0;) {
    /* The old dimensions that follow each other, from the last one: one run of elements. */
    int64_t run = tensor->dims[axis], stride = tensor->strides[axis];
    while (axis > 0 &&
           (tensor->dims[axis - 1] == 1 || tensor->strides[axis - 1] == run * stride || run == 1)) {
      stride = run == 1 ? tensor->strides[axis - 1] : stride;
      run *= tensor->dims[--axis];
    }
    int64_t covered = 1;
    while (to > 0 && covered < run) {
      --to;
      out_strides[to] = stride * covered;
      covered *= dims[to];
    }
    if (covered != run)
      return false;
  }
  while (to > 0)
    out_strides[--to] = 1; /* dimensions of size 1 */
  return true;
}

SambaStatus sambaTensorReshape(SambaTensor *tensor, uint32_t rank, const int64_t *dims,
                               SambaTensor **out_tensor) {
  int64_t resolved[SAMBA_TENSOR_MAX_RANK], strides[SAMBA_TENSOR_MAX_RANK];
  *out_tensor = NULL;
  SAMBA_RETURN_IF_ERROR(resolveShape(tensor, rank, dims, resolved));
  if (stridesOfShape(tensor, rank, resolved, strides))
    return viewWhole(tensor, rank, resolved, strides, out_tensor);

  SambaTensor *copy;
  SAMBA_RETURN_IF_ERROR(sambaTensorClone(tensor, &copy));
  SambaStatus status = viewWhole(copy, rank, resolved, NULL, out_tensor);
  sambaTensorRelease(copy);
  return status;
}

SambaStatus sambaTensorViewAs(SambaTensor *tensor, const SambaTensor *like,
                              SambaTensor **out_tensor) {
  char text[SAMBA_TENSOR_TEXT_BYTES], other[SAMBA_TENSOR_TEXT_BYTES];
  int64_t resolved[SAMBA_TENSOR_MAX_RANK], strides[SAMBA_TENSOR_MAX_RANK];
  *out_tensor = NULL;
  SAMBA_RETURN_IF_ERROR(resolveShape(tensor, like->rank, like->dims, resolved));
  if (stridesOfShape(tensor, like->rank, resolved, strides))
    return viewWhole(tensor, like->rank, resolved, strides, out_tensor);
  return sambaStatusMake(SAMBA_INVALID,
                         "%s cannot be viewed as %s: its elements are not in that order in memory; "
                         "use reshape, which copies",
                         sambaTensorDescribe(tensor, text), sambaTensorDescribe(like, other));
}

SambaStatus sambaTensorExpand(SambaTensor *tensor, uint32_t rank, const int64_t *dims,
                              SambaTensor **out_tensor) {
  char text[SAMBA_TENSOR_TEXT_BYTES], shape[SAMBA_TENSOR_TEXT_BYTES / 2];
  int64_t expanded[SAMBA_TENSOR_MAX_RANK], strides[SAMBA_TENSOR_MAX_RANK];
  *out_tensor = NULL;
  bool fits = rank >= tensor->rank && rank <= SAMBA_TENSOR_MAX_RANK;
  uint32_t lead = fits ? rank - tensor->rank : 0;

  for (uint32_t axis = 0; axis < rank && fits; ++axis) {
    int64_t old = axis < lead ? 1 : tensor->dims[axis - lead];
    bool kept = dims[axis] == old || (dims[axis] == -1 && axis >= lead);
    expanded[axis] = kept ? old : dims[axis];
    strides[axis] = kept && axis >= lead ? tensor->strides[axis - lead] : 0;
    fits = kept || (old == 1 && dims[axis] >= 0);
  }
  sambaTensorDescribe(tensor, text);
  if (!fits)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s cannot be expanded to %s: only dimensions of size 1 can be repeated",
                           text, sambaShapeFormat(shape, sizeof shape, rank, dims, ""));
  SAMBA_RETURN_IF_ERROR(sambaTensorCheckShape(tensor->dtype, rank, expanded));
  return viewWhole(tensor, rank, expanded, strides, out_tensor);
}

SambaStatus sambaTensorNarrow(SambaTensor *tensor, int64_t dim, int64_t start, int64_t length,
                              SambaTensor **out_tensor) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  int64_t dims[SAMBA_TENSOR_MAX_RANK];
  uint32_t axis;
  *out_tensor = NULL;
  SAMBA_RETURN_IF_ERROR(sambaTensorResolveDim(tensor, dim, &axis));
  if (start < 0 || length < 0 || start > tensor->dims[axis] - length)
    return sambaStatusMake(SAMBA_INVALID,
                           "%lld elements from %lld on of dimension %u of %s: it has only %lld",
                           (long long)length, (long long)start, axis,
                           sambaTensorDescribe(tensor, text), (long long)tensor->dims[axis]);

  memcpy(dims, tensor->dims, sizeof dims);
  dims[axis] = length;
  *out_tensor = sambaTensorView(tensor, tensor->rank, dims, tensor->strides,
                                tensor->offset + start * tensor->strides[axis]);
  (*out_tensor)->requires_grad = tensor->requires_grad;
  return NULL;
}
