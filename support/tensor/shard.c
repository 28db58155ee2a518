/* Tensors over several devices: which part of a shape each one holds. */
#include "support/base/memory.h"
#include "support/number/integer.h"
#include "support/tensor/tensor_state.h"

#include <stdlib.h>

void sambaShardDefaultSplits(int64_t total, uint32_t count, int64_t *out_splits) {
  int64_t size = sambaCeilDiv(total, count), left = total;
  for (uint32_t i = 0; i < count; ++i) {
    out_splits[i] = left < size ? left : size;
    left -= out_splits[i];
  }
}

/* The axis, and one size per device (malloc'ed). */
static SambaStatus resolve(uint32_t rank, const int64_t *dims, const SambaSharding *sharding,
                           uint32_t *out_axis, int64_t **out_splits) {
  uint32_t count = sharding->device_count;
  *out_axis = 0;
  *out_splits = NULL;
  if (!count)
    return sambaStatusMake(SAMBA_INVALID, "sharding over no devices; expected 1 or more");
  if (sharding->replicated)
    return NULL;
  if (sharding->axis < -(int64_t)rank || sharding->axis >= (int64_t)rank)
    return sambaStatusMake(SAMBA_INVALID, "sharding along dimension %lld of a tensor of rank %u",
                           (long long)sharding->axis, rank);

  uint32_t axis = (uint32_t)(sharding->axis < 0 ? sharding->axis + rank : sharding->axis);
  int64_t *splits = sambaAllocate(sambaArraySize(count, sizeof *splits)), sum = 0;
  bool fits = true;
  if (sharding->splits)
    memcpy(splits, sharding->splits, count * sizeof *splits);
  else
    sambaShardDefaultSplits(dims[axis], count, splits);
  for (uint32_t i = 0; i < count; ++i)
    fits = fits && splits[i] >= 0 && !sambaAddOverflows(sum, splits[i], &sum);
  if (!fits || sum != dims[axis]) {
    free(splits);
    return sambaStatusMake(SAMBA_INVALID,
                           "the sizes of the shards do not add up: dimension %u has %lld elements, "
                           "but they have %lld",
                           axis, (long long)dims[axis], (long long)sum);
  }
  *out_axis = axis;
  *out_splits = splits;
  return NULL;
}

SambaStatus sambaShardShape(uint32_t rank, const int64_t *dims, const SambaSharding *sharding,
                            SambaShard *out_shards) {
  uint32_t axis;
  int64_t *splits, start = 0;
  SAMBA_RETURN_IF_ERROR(sambaTensorCheckShape(SAMBA_DTYPE_I8, rank, dims));
  SAMBA_RETURN_IF_ERROR(resolve(rank, dims, sharding, &axis, &splits));
  for (uint32_t i = 0; i < sharding->device_count; ++i) {
    SambaShard *shard = &out_shards[i];
    *shard = (SambaShard){.start = start};
    if (rank)
      memcpy(shard->dims, dims, rank * sizeof *dims);
    if (splits) {
      shard->dims[axis] = splits[i];
      start += splits[i];
    }
    sambaTensorRowMajorStrides(rank, shard->dims, shard->strides);
    for (uint32_t k = 0; k < rank; ++k)
      if (shard->dims[k] == 1)
        shard->strides[k] = 0;
  }
  free(splits);
  return NULL;
}

static SambaStatus refuseTwice(const SambaTensor *tensor) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  return sambaStatusMake(SAMBA_INVALID, "%s is sharded already, over %u devices",
                         sambaTensorDescribe(tensor, text), tensor->shards->device_count);
}

static char *copyName(SambaStringRef name) {
  char *copy = sambaAllocate(name.size + 1);
  if (name.size)
    memcpy(copy, name.data, name.size);
  copy[name.size] = '\0';
  return copy;
}

SambaStatus sambaTensorShardInPlace(SambaTensor *tensor, const SambaSharding *sharding) {
  uint32_t axis;
  int64_t *splits;
  if (tensor->shards && tensor->shards->device_count > 1)
    return refuseTwice(tensor);
  SAMBA_RETURN_IF_ERROR(resolve(tensor->rank, tensor->dims, sharding, &axis, &splits));

  SambaTensorShards *shards = sambaAllocateZeroed(1, sizeof *shards);
  *shards = (SambaTensorShards){sharding->device_count,
                                sambaAllocateZeroed(sharding->device_count, sizeof(char *)),
                                sharding->replicated, axis, splits};
  for (uint32_t i = 0; i < sharding->device_count; ++i)
    shards->devices[i] = copyName(sharding->devices[i]);
  sambaTensorFreeShards(tensor->shards);
  tensor->shards = shards;
  return NULL;
}

SambaStatus sambaTensorShard(SambaTensor *tensor, const SambaSharding *sharding,
                             SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (tensor->shards && tensor->shards->device_count > 1)
    return refuseTwice(tensor);
  SambaTensor *view =
      sambaTensorView(tensor, tensor->rank, tensor->dims, tensor->strides, tensor->offset);
  sambaTensorInherit(view, tensor);
  SambaStatus status = sambaTensorShardInPlace(view, sharding);
  if (status)
    sambaTensorRelease(view);
  else
    *out_tensor = view;
  return status;
}

uint32_t sambaTensorGetDeviceCount(const SambaTensor *tensor) {
  return tensor->shards ? tensor->shards->device_count : 1;
}

SambaStringRef sambaTensorGetDevice(const SambaTensor *tensor, uint32_t device) {
  if (!tensor->shards)
    return sambaStringRef(device ? NULL : "cpu");
  return sambaStringRef(device < tensor->shards->device_count ? tensor->shards->devices[device]
                                                              : NULL);
}

bool sambaTensorGetShardAxis(const SambaTensor *tensor, uint32_t *out_axis) {
  if (!tensor->shards || tensor->shards->replicated)
    return false;
  *out_axis = tensor->shards->axis;
  return true;
}

SambaStatus sambaTensorGetShard(SambaTensor *tensor, uint32_t device, SambaTensor **out_tensor) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  const SambaTensorShards *shards = tensor->shards;
  int64_t start = 0;
  *out_tensor = NULL;
  if (device >= sambaTensorGetDeviceCount(tensor))
    return sambaStatusMake(SAMBA_INVALID, "shard %u of %s, which has %u", device,
                           sambaTensorDescribe(tensor, text), sambaTensorGetDeviceCount(tensor));
  if (!shards || shards->replicated) {
    *out_tensor =
        sambaTensorView(tensor, tensor->rank, tensor->dims, tensor->strides, tensor->offset);
    (*out_tensor)->requires_grad = tensor->requires_grad;
    return NULL;
  }
  for (uint32_t i = 0; i < device; ++i)
    start += shards->splits[i];
  return sambaTensorNarrow(tensor, shards->axis, start, shards->splits[device], out_tensor);
}
