/* The data of tensors: where they are, and elements in and out. */
#include "support/base/memory.h"
#include "support/number/shape.h"
#include "support/tensor/strided.h"
#include "support/tensor/tensor_state.h"

bool sambaTensorHasData(const SambaTensor *tensor) { return tensor->storage->data != NULL; }

void *sambaTensorGetDataPtr(const SambaTensor *tensor) {
  if (!tensor->storage->data)
    return NULL;
  return tensor->storage->data + tensor->offset * sambaDTypeBytes(tensor->dtype);
}

void sambaTensorGetBuffer(const SambaTensor *tensor, SambaBufferView *out_view) {
  *out_view = (SambaBufferView){sambaTensorGetDataPtr(tensor), tensor->dtype, tensor->rank,
                                tensor->dims, tensor->strides};
}

/* The bytes from the first element to behind the last one. */
static void rangeOf(const SambaTensor *tensor, uintptr_t *out_begin, uintptr_t *out_end) {
  int64_t last = 0;
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    last += (tensor->dims[axis] - 1) * tensor->strides[axis];
  *out_begin = (uintptr_t)sambaTensorGetDataPtr(tensor);
  *out_end = *out_begin + (uintptr_t)(last + 1) * sambaDTypeBytes(tensor->dtype);
}

bool sambaTensorSharesStorage(const SambaTensor *a, const SambaTensor *b) {
  if (a->storage == b->storage)
    return true;
  if (!sambaTensorHasData(a) || !sambaTensorHasData(b) || !a->elements || !b->elements)
    return false;

  uintptr_t begin, end, other_begin, other_end; /* two buffers of one program may overlap */
  rangeOf(a, &begin, &end);
  rangeOf(b, &other_begin, &other_end);
  return begin < other_end && other_begin < end;
}

bool sambaTensorIsReusable(const SambaTensor *tensor) {
  return sambaTensorHasData(tensor) && sambaTensorIsContiguous(tensor);
}

SambaStatus sambaTensorNeedData(const SambaTensor *tensor, const char *what) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  if (sambaTensorHasData(tensor))
    return NULL;
  return sambaStatusMake(SAMBA_INVALID, "%s needs the data of %s, which has none%s", what,
                         sambaTensorDescribe(tensor, text),
                         tensor->storage->maker ? "; materialize it first" : "");
}

SambaStatus sambaTensorSetData(SambaTensor *tensor, const SambaTensor *source) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  if (tensor == source)
    return NULL;
  if (tensor->requires_grad && !sambaDTypeIsFloatingPoint(source->dtype))
    return sambaStatusMake(SAMBA_INVALID,
                           "%s requires a gradient: its data must be floats, but these are %s",
                           sambaTensorDescribe(tensor, text), sambaDTypeName(source->dtype));

  sambaStorageRetain(source->storage);
  sambaStorageRelease(tensor->storage);
  tensor->storage = source->storage;
  tensor->offset = source->offset;
  tensor->dtype = source->dtype;
  tensor->rank = source->rank;
  tensor->elements = source->elements;
  memcpy(tensor->dims, source->dims, sizeof tensor->dims);
  memcpy(tensor->strides, source->strides, sizeof tensor->strides);
  return NULL;
}

/* ---- Elements in and out ---- */

static SambaStatus checkBytes(const SambaTensor *tensor, int64_t bytes) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  int64_t expected = sambaTensorGetNumBytes(tensor);
  if (bytes == expected)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID, "%s has %lld bytes of data, but the buffer has %lld",
                         sambaTensorDescribe(tensor, text), (long long)expected, (long long)bytes);
}

static SambaStridedPair pairOf(const SambaTensor *tensor) {
  SambaStridedPair pair = {.rank = tensor->rank};
  memcpy(pair.dims, tensor->dims, sizeof pair.dims);
  return pair;
}

SambaStatus sambaTensorReadData(const SambaTensor *tensor, void *data, int64_t bytes) {
  SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(tensor, "reading"));
  SAMBA_RETURN_IF_ERROR(checkBytes(tensor, bytes));
  uint32_t size = sambaDTypeBytes(tensor->dtype);
  SambaStridedPair pair = pairOf(tensor);
  sambaStridedSetTarget(&pair, data, NULL, size);
  sambaStridedSetSource(&pair, sambaTensorGetDataPtr(tensor), tensor->strides, size);
  sambaStridedCopy(&pair, size);
  return NULL;
}

SambaStatus sambaTensorCheckWritable(const SambaTensor *tensor) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    if (tensor->dims[axis] > 1 && !tensor->strides[axis])
      return sambaStatusMake(SAMBA_INVALID,
                             "%s cannot be written: dimension %u repeats the same elements; write "
                             "to a copy",
                             sambaTensorDescribe(tensor, text), axis);
  return NULL;
}

SambaStatus sambaTensorWriteData(SambaTensor *tensor, const void *data, int64_t bytes,
                                 bool in_place) {
  SAMBA_RETURN_IF_ERROR(checkBytes(tensor, bytes));
  if (in_place) {
    SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(tensor, "writing in place"));
    SAMBA_RETURN_IF_ERROR(sambaTensorCheckWritable(tensor));
  } else {
    SambaTensorStorage *storage = sambaStorageCreate();
    SambaStatus status = sambaStorageAllocate(storage, bytes, false);
    if (status) {
      sambaStorageRelease(storage);
      return status;
    }
    sambaTensorRenewStorage(tensor, storage);
  }

  uint32_t size = sambaDTypeBytes(tensor->dtype);
  SambaStridedPair pair = pairOf(tensor);
  sambaStridedSetTarget(&pair, sambaTensorGetDataPtr(tensor), tensor->strides, size);
  sambaStridedSetSource(&pair, data, NULL, size);
  sambaStridedCopy(&pair, size);
  return NULL;
}
