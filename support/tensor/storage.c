/* The memory of tensors: shared by counting, released by the last one. */
#include "support/base/memory.h"
#include "support/tensor/tensor_state.h"

#include <stdlib.h>

SambaTensorStorage *sambaStorageCreate(void) {
  SambaTensorStorage *storage = sambaAllocateZeroed(1, sizeof *storage);
  atomic_init(&storage->references, 1);
  return storage;
}

SambaTensorStorage *sambaStorageRetain(SambaTensorStorage *storage) {
  atomic_fetch_add(&storage->references, 1);
  return storage;
}

void sambaStorageRelease(SambaTensorStorage *storage) {
  if (!storage || atomic_fetch_sub(&storage->references, 1) > 1)
    return;
  if (storage->release)
    storage->release(storage->user);
  sambaMakerRelease(storage->maker);
  free(storage);
}

/* Not sambaAllocate: the size is the user's, so that a refusal is an error and not the end. */
SambaStatus sambaStorageAllocate(SambaTensorStorage *storage, int64_t bytes, bool zeroed) {
  size_t size = bytes ? (size_t)bytes : 1;
  storage->data = zeroed ? calloc(size, 1) : malloc(size);
  if (!storage->data)
    return sambaStatusMake(
        SAMBA_EXHAUSTED,
        "a tensor needs %lld bytes of host memory, which the system refuses; use "
        "a smaller shape, or an empty or lazy tensor",
        (long long)bytes);
  storage->release = free;
  storage->user = storage->data;
  return NULL;
}

void sambaStorageFreeData(SambaTensorStorage *storage) {
  if (storage->release)
    storage->release(storage->user);
  storage->data = NULL;
  storage->release = NULL;
}

SambaMaker *sambaMakerRetain(SambaMaker *maker) {
  if (maker)
    atomic_fetch_add(&maker->references, 1);
  return maker;
}

void sambaMakerRelease(SambaMaker *maker) {
  if (!maker || atomic_fetch_sub(&maker->references, 1) > 1)
    return;
  if (maker->release)
    maker->release(maker->user);
  free(maker);
}
