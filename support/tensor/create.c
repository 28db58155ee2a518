/* Tensors over somebody else's memory, and tensors without any. */
#include "support/base/memory.h"
#include "support/tensor/tensor_state.h"

/* The last element of a buffer must be countable in bytes, as its elements are. */
static SambaStatus checkStrides(const SambaBufferView *buffer) {
  int64_t last = 0, bytes;
  for (uint32_t axis = 0; buffer->strides && axis < buffer->rank; ++axis) {
    int64_t reach, steps = buffer->dims[axis] ? buffer->dims[axis] - 1 : 0;
    if (buffer->strides[axis] < 0)
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "dimension %u of a buffer has the stride %lld; negative strides are not supported: copy "
          "the data",
          axis, (long long)buffer->strides[axis]);
    if (sambaMulOverflows(buffer->strides[axis], steps, &reach) ||
        sambaAddOverflows(last, reach, &last) ||
        sambaMulOverflows(last, sambaDTypeBytes(buffer->dtype), &bytes))
      return sambaStatusMake(SAMBA_INVALID,
                             "dimension %u of a buffer with the stride %lld reaches farther than "
                             "64 bits can count",
                             axis, (long long)buffer->strides[axis]);
  }
  return NULL;
}

SambaStatus sambaTensorCreateFromBuffer(const SambaBufferView *buffer, SambaStringRef name,
                                        SambaTensor **out_tensor) {
  return sambaTensorCreateFromBufferOwned(buffer, NULL, NULL, name, out_tensor);
}

SambaStatus sambaTensorCreateFromBufferOwned(const SambaBufferView *buffer,
                                             void (*release)(void *user), void *user,
                                             SambaStringRef name, SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (!buffer)
    return NULL;
  SambaStatus status = sambaTensorCheckShape(buffer->dtype, buffer->rank, buffer->dims);
  if (!status)
    status = checkStrides(buffer);
  if (status) {
    if (release)
      release(user);
    return status;
  }

  SambaTensorStorage *storage = sambaStorageCreate();
  storage->data = buffer->data;
  storage->release = release;
  storage->user = user;
  *out_tensor = sambaTensorOverStorage(buffer->dtype, buffer->rank, buffer->dims, buffer->strides,
                                       storage, 0);
  sambaTensorSetName(*out_tensor, name);
  return NULL;
}

SambaStatus sambaTensorCreateEmpty(SambaDType dtype, uint32_t rank, const int64_t *dims,
                                   SambaStringRef name, SambaTensor **out_tensor) {
  SambaBufferView nothing = {NULL, dtype, rank, dims, NULL};
  return sambaTensorCreateFromBuffer(&nothing, name, out_tensor);
}
