/* The tensor itself: shape, references, names and what else is known of it; see samba/tensor.h. */
#include "support/base/memory.h"
#include "support/number/shape.h"
#include "support/tensor/tensor_state.h"
#include "support/text/string_ref.h"

#include <stdio.h>
#include <stdlib.h>

/* Ids are unique in the process, whoever makes a tensor. */
static uint64_t drawId(void) {
  static atomic_uint_least64_t last;
  return atomic_fetch_add(&last, 1) + 1;
}

/* ---- Shapes ---- */

SambaStatus sambaTensorCheckShape(SambaDType dtype, uint32_t rank, const int64_t *dims) {
  int64_t bytes = sambaDTypeBytes(dtype);
  if (!bytes)
    return sambaStatusMake(SAMBA_INVALID, "a tensor has no element type: %d is none", (int)dtype);
  if (rank > SAMBA_TENSOR_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a tensor of rank %u; at most %u dimensions can be",
                           rank, (unsigned)SAMBA_TENSOR_MAX_RANK);
  for (uint32_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] < 0)
      return sambaStatusMake(SAMBA_INVALID, "dimension %u of a tensor has the negative size %lld",
                             axis, (long long)dims[axis]);
    /* Empty tensors too: their strides must be countable. */
    if (dims[axis] && sambaMulOverflows(bytes, dims[axis], &bytes))
      return sambaStatusMake(SAMBA_INVALID,
                             "a tensor has more bytes than 64 bits can count: dimension %u is %lld",
                             axis, (long long)dims[axis]);
  }
  return NULL;
}

void sambaTensorRowMajorStrides(uint32_t rank, const int64_t *dims, int64_t *out_strides) {
  int64_t stride = 1;
  for (uint32_t axis = rank; axis-- > 0;) {
    out_strides[axis] = stride;
    stride *= dims[axis] ? dims[axis] : 1;
  }
}

SambaStatus sambaTensorResolveDim(const SambaTensor *tensor, int64_t dim, uint32_t *out_dim) {
  int64_t rank = tensor->rank;
  if (dim < -rank || dim >= rank)
    return sambaStatusMake(SAMBA_INVALID, "dimension %lld of a tensor of rank %lld; expected %s",
                           (long long)dim, (long long)rank,
                           rank ? "one from -rank to rank - 1" : "none: it is a scalar");
  *out_dim = (uint32_t)(dim < 0 ? dim + rank : dim);
  return NULL;
}

/* ---- Making and releasing ---- */

SambaTensor *sambaTensorOverStorage(SambaDType dtype, uint32_t rank, const int64_t *dims,
                                    const int64_t *strides, SambaTensorStorage *storage,
                                    int64_t offset) {
  SambaTensor *tensor = sambaAllocateZeroed(1, sizeof *tensor);
  atomic_init(&tensor->references, 1);
  tensor->id = drawId();
  tensor->dtype = dtype;
  tensor->rank = rank;
  tensor->storage = storage;
  tensor->offset = offset;

  if (rank)
    memcpy(tensor->dims, dims, rank * sizeof *dims);
  if (!strides)
    sambaTensorRowMajorStrides(rank, dims, tensor->strides);
  else if (rank)
    memcpy(tensor->strides, strides, rank * sizeof *strides);
  tensor->elements = sambaShapeElements(rank, dims);
  return tensor;
}

SambaStatus sambaTensorAllocate(SambaDType dtype, uint32_t rank, const int64_t *dims, bool zeroed,
                                SambaTensor **out_tensor) {
  *out_tensor = NULL;
  SAMBA_RETURN_IF_ERROR(sambaTensorCheckShape(dtype, rank, dims));
  int64_t bytes = sambaShapeElements(rank, dims) * sambaDTypeBytes(dtype);
  SambaTensorStorage *storage = sambaStorageCreate();
  SambaStatus status = sambaStorageAllocate(storage, bytes, zeroed);
  if (status)
    sambaStorageRelease(storage);
  else
    *out_tensor = sambaTensorOverStorage(dtype, rank, dims, NULL, storage, 0);
  return status;
}

void sambaTensorRenewStorage(SambaTensor *tensor, SambaTensorStorage *storage) {
  sambaStorageRelease(tensor->storage);
  tensor->storage = storage;
  tensor->offset = 0;
  sambaTensorRowMajorStrides(tensor->rank, tensor->dims, tensor->strides);
}

SambaTensor *sambaTensorRetain(SambaTensor *tensor) {
  if (tensor)
    atomic_fetch_add(&tensor->references, 1);
  return tensor;
}

void sambaTensorFreeShards(SambaTensorShards *shards) {
  for (uint32_t i = 0; shards && i < shards->device_count; ++i)
    free(shards->devices[i]);
  if (shards) {
    free(shards->devices);
    free(shards->splits);
  }
  free(shards);
}

void sambaTensorRelease(SambaTensor *tensor) {
  if (!tensor || atomic_fetch_sub(&tensor->references, 1) > 1)
    return;
  sambaTensorSetExpression(tensor, NULL, NULL);
  sambaTensorRelease(tensor->grad);
  sambaStorageRelease(tensor->storage);
  sambaMakerRelease(tensor->maker);
  sambaTensorFreeShards(tensor->shards);
  free(tensor->name.data);
  free(tensor->grad_name.data);
  free(tensor->region.data);
  free(tensor);
}

uint64_t sambaTensorGetId(const SambaTensor *tensor) { return tensor->id; }

/* ---- Getters of shape and type ---- */

SambaDType sambaTensorGetDType(const SambaTensor *tensor) { return tensor->dtype; }
uint32_t sambaTensorGetRank(const SambaTensor *tensor) { return tensor->rank; }
const int64_t *sambaTensorGetDims(const SambaTensor *tensor) { return tensor->dims; }
const int64_t *sambaTensorGetStrides(const SambaTensor *tensor) { return tensor->strides; }
int64_t sambaTensorGetNumElements(const SambaTensor *tensor) { return tensor->elements; }

int64_t sambaTensorGetNumBytes(const SambaTensor *tensor) {
  return tensor->elements * sambaDTypeBytes(tensor->dtype);
}

SambaStatus sambaTensorGetDim(const SambaTensor *tensor, int64_t dim, int64_t *out_size) {
  uint32_t axis = 0;
  SAMBA_RETURN_IF_ERROR(sambaTensorResolveDim(tensor, dim, &axis));
  *out_size = tensor->dims[axis];
  return NULL;
}

SambaStatus sambaTensorGetStride(const SambaTensor *tensor, int64_t dim, int64_t *out_stride) {
  uint32_t axis = 0;
  SAMBA_RETURN_IF_ERROR(sambaTensorResolveDim(tensor, dim, &axis));
  *out_stride = tensor->strides[axis];
  return NULL;
}

/* Strides of dimensions of size 1 do not matter. */
bool sambaTensorIsContiguous(const SambaTensor *tensor) {
  int64_t stride = 1;
  for (uint32_t axis = tensor->rank; axis-- > 0 && tensor->elements;) {
    if (tensor->dims[axis] != 1 && tensor->strides[axis] != stride)
      return false;
    stride *= tensor->dims[axis];
  }
  return true;
}

/* ---- Names ---- */

static void setName(SambaOwnedName *name, SambaStringRef prefix, const char *suffix) {
  size_t more = strlen(suffix);
  char *copy = NULL; /* the new name may be a part of the old one */
  if (prefix.size) {
    copy = sambaAllocate(prefix.size + more + 1);
    memcpy(copy, prefix.data, prefix.size);
    memcpy(copy + prefix.size, suffix, more + 1);
  }
  free(name->data);
  name->data = copy;
  name->size = copy ? prefix.size + more : 0;
}

static SambaStringRef nameRef(const SambaOwnedName *name) {
  return (SambaStringRef){name->data ? name->data : "", name->size};
}

SambaStringRef sambaTensorGetName(const SambaTensor *tensor) { return nameRef(&tensor->name); }
SambaStringRef sambaTensorGetGradName(const SambaTensor *tensor) {
  return nameRef(&tensor->grad_name);
}

void sambaTensorSetName(SambaTensor *tensor, SambaStringRef name) {
  setName(&tensor->name, name, "");
  setName(&tensor->grad_name, nameRef(&tensor->name), "__grad");
}

SambaStringRef sambaTensorGetRegionName(const SambaTensor *tensor) {
  return nameRef(tensor->region.size ? &tensor->region : &tensor->name);
}

void sambaTensorSetRegionName(SambaTensor *tensor, SambaStringRef region) {
  setName(&tensor->region, region, "");
}

const char *sambaTensorDescribe(const SambaTensor *tensor, char *buffer) {
  enum { longest = 200 };
  char shape[SAMBA_TENSOR_TEXT_BYTES / 2];
  SambaStringRef name = sambaTensorGetName(tensor);
  sambaShapeFormat(shape, sizeof shape, tensor->rank, tensor->dims, sambaDTypeName(tensor->dtype));
  if (name.size)
    snprintf(buffer, SAMBA_TENSOR_TEXT_BYTES, "tensor '%.*s' of shape %s",
             (int)(name.size < longest ? name.size : longest), name.data, shape);
  else
    snprintf(buffer, SAMBA_TENSOR_TEXT_BYTES, "a tensor of shape %s", shape);
  return buffer;
}

/* ---- Everything else that is known of a tensor ---- */

SambaMemoryType sambaTensorGetMemoryType(const SambaTensor *tensor) { return tensor->memory; }
void sambaTensorSetMemoryType(SambaTensor *tensor, SambaMemoryType type) { tensor->memory = type; }
bool sambaTensorGetFastAccess(const SambaTensor *tensor) { return tensor->fast_access; }
void sambaTensorSetFastAccess(SambaTensor *tensor, bool fast) { tensor->fast_access = fast; }
bool sambaTensorGetRequiresGrad(const SambaTensor *tensor) { return tensor->requires_grad; }

SambaStatus sambaTensorSetRequiresGrad(SambaTensor *tensor, bool requires_grad) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  if (requires_grad && !sambaDTypeIsFloatingPoint(tensor->dtype))
    return sambaStatusMake(SAMBA_INVALID,
                           "%s cannot require a gradient: only tensors of floats have one",
                           sambaTensorDescribe(tensor, text));
  tensor->requires_grad = requires_grad;
  return NULL;
}

SambaTensor *sambaTensorGetGrad(const SambaTensor *tensor) { return tensor->grad; }

SambaStatus sambaTensorSetGrad(SambaTensor *tensor, SambaTensor *grad) {
  char text[SAMBA_TENSOR_TEXT_BYTES], other[SAMBA_TENSOR_TEXT_BYTES];
  bool fits = !grad || (grad->dtype == tensor->dtype && grad->rank == tensor->rank &&
                        memcmp(grad->dims, tensor->dims, grad->rank * sizeof *grad->dims) == 0);
  if (!fits)
    return sambaStatusMake(SAMBA_INVALID,
                           "the gradient of %s has its shape and type, but this is %s",
                           sambaTensorDescribe(tensor, text), sambaTensorDescribe(grad, other));
  if (grad == tensor)
    return sambaStatusMake(SAMBA_INVALID, "%s cannot be its own gradient",
                           sambaTensorDescribe(tensor, text));
  sambaTensorRetain(grad);
  sambaTensorRelease(tensor->grad);
  tensor->grad = grad;
  return NULL;
}

void sambaTensorInherit(SambaTensor *tensor, const SambaTensor *from) {
  sambaTensorSetName(tensor, nameRef(&from->name));
  sambaTensorSetRegionName(tensor, nameRef(&from->region));
  tensor->memory = from->memory;
  tensor->fast_access = from->fast_access;
  tensor->requires_grad = from->requires_grad && sambaDTypeIsFloatingPoint(tensor->dtype);
}

void *sambaTensorGetExpression(const SambaTensor *tensor) { return tensor->expression; }

void sambaTensorSetExpression(SambaTensor *tensor, void *expression,
                              void (*release)(void *expression)) {
  void *old = tensor->expression;
  void (*release_old)(void *) = tensor->release_expression;
  tensor->expression = expression;
  tensor->release_expression = release;
  if (old && release_old)
    release_old(old);
}
