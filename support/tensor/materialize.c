/* Lazy data: functions that make the data of a tensor when somebody needs them. */
#include "support/base/memory.h"
#include "support/number/shape.h"
#include "support/tensor/tensor_state.h"

/* A storage without data that the tensor's materializer can fill. */
static SambaTensorStorage *storageToBeMade(const SambaTensor *tensor) {
  SambaTensorStorage *storage = sambaStorageCreate();
  storage->maker = sambaMakerRetain(tensor->maker);
  storage->dtype = tensor->dtype;
  storage->rank = tensor->rank;
  memcpy(storage->dims, tensor->dims, sizeof storage->dims);
  return storage;
}

void sambaTensorSetMaterializer(SambaTensor *tensor, SambaMaterializer materializer, void *user,
                                void (*release)(void *user)) {
  sambaMakerRelease(tensor->maker);
  tensor->maker = NULL;
  if (materializer) {
    SambaMaker *maker = sambaAllocateZeroed(1, sizeof *maker);
    atomic_init(&maker->references, 1);
    maker->materializer = materializer;
    maker->user = user;
    maker->release = release;
    tensor->maker = maker;
  }
  if (!sambaTensorHasData(tensor))
    sambaTensorRenewStorage(tensor, storageToBeMade(tensor));
}

SambaMaterializer sambaTensorGetMaterializer(const SambaTensor *tensor, void **out_user) {
  const SambaMaker *maker = tensor->maker;
  if (out_user)
    *out_user = maker ? maker->user : NULL;
  return maker ? maker->materializer : NULL;
}

void sambaTensorClearData(SambaTensor *tensor) {
  if (sambaTensorHasData(tensor))
    sambaTensorRenewStorage(tensor, storageToBeMade(tensor));
}

/* Fills `storage`, which has no data, as the maker of `made` says. */
static SambaStatus make(const SambaTensor *tensor, const SambaTensorStorage *made,
                        SambaGenerator *generator, SambaTensorStorage *storage) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  if (!made->maker)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s has no data and no materializer that could make them; set its data "
                           "or give it one",
                           sambaTensorDescribe(tensor, text));

  int64_t bytes = sambaShapeElements(made->rank, made->dims) * sambaDTypeBytes(made->dtype);
  SAMBA_RETURN_IF_ERROR(sambaStorageAllocate(storage, bytes, true));
  SambaMaterializeRequest request = {
      sambaTensorGetName(tensor), made->dtype, made->rank,    made->dims,
      tensor->requires_grad,      generator,   storage->data, bytes};
  SambaStatus status = made->maker->materializer(made->maker->user, &request);
  if (status)
    sambaStorageFreeData(storage);
  return sambaStatusAnnotate(status, "materializing %s", sambaTensorDescribe(tensor, text));
}

SambaStatus sambaTensorMaterialize(SambaTensor *tensor, SambaGenerator *generator) {
  if (sambaTensorHasData(tensor))
    return NULL;
  return make(tensor, tensor->storage, generator, tensor->storage);
}

SambaStatus sambaTensorCopyMaterialized(SambaTensor *tensor, SambaGenerator *generator,
                                        SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (sambaTensorHasData(tensor)) {
    *out_tensor = sambaTensorRetain(tensor);
    return NULL;
  }

  SambaTensorStorage *storage = sambaStorageCreate();
  SambaStatus status = make(tensor, tensor->storage, generator, storage);
  if (status) {
    sambaStorageRelease(storage);
    return status;
  }
  *out_tensor = sambaTensorOverStorage(tensor->dtype, tensor->rank, tensor->dims, tensor->strides,
                                       storage, tensor->offset);
  sambaTensorInherit(*out_tensor, tensor);
  return NULL;
}
