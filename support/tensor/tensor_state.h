/* What a tensor is made of, and what the files of this folder share. */
#ifndef SAMBA_SUPPORT_TENSOR_TENSOR_STATE_H
#define SAMBA_SUPPORT_TENSOR_TENSOR_STATE_H

#include "samba/tensor.h"

#include <stdatomic.h>

/* A function that makes data, shared by the tensors and storages that may call it. */
typedef struct SambaMaker {
  atomic_uint references;
  SambaMaterializer materializer;
  void *user;
  void (*release)(void *user);
} SambaMaker;

/* The memory that a tensor and its views share. */
typedef struct SambaTensorStorage {
  atomic_uint references;
  uint8_t *data; /* NULL: not there */
  /* Called with `user` when the last reference goes; NULL: the data are borrowed. */
  void (*release)(void *user);
  void *user;
  /* Who makes the data, and the row-major tensor that is to be made. NULL: nobody. */
  SambaMaker *maker;
  SambaDType dtype;
  uint32_t rank;
  int64_t dims[SAMBA_TENSOR_MAX_RANK];
} SambaTensorStorage;

/* The names and sizes of a sharding, copied. */
typedef struct SambaTensorShards {
  uint32_t device_count;
  char **devices;
  bool replicated;
  uint32_t axis;
  int64_t *splits;
} SambaTensorShards;

typedef struct SambaOwnedName {
  char *data; /* NUL-terminated; NULL: empty */
  size_t size;
} SambaOwnedName;

struct SambaTensor {
  atomic_uint references;
  uint64_t id;

  SambaDType dtype;
  uint32_t rank;
  int64_t dims[SAMBA_TENSOR_MAX_RANK], strides[SAMBA_TENSOR_MAX_RANK];
  int64_t elements;
  int64_t offset; /* of the first element, in elements from the storage's data */
  SambaTensorStorage *storage;
  SambaMaker *maker; /* of the whole tensor; views have none of their own */

  SambaOwnedName name, grad_name, region;
  SambaMemoryType memory;
  bool fast_access, requires_grad;
  SambaTensor *grad;
  SambaTensorShards *shards;

  void *expression;
  void (*release_expression)(void *expression);
};

/* ---- storage.c ---- */

/* A storage without data. */
SambaTensorStorage *sambaStorageCreate(void);
SambaTensorStorage *sambaStorageRetain(SambaTensorStorage *storage);
void sambaStorageRelease(SambaTensorStorage *storage);
/* Gives a storage without data `bytes` bytes. */
SambaStatus sambaStorageAllocate(SambaTensorStorage *storage, int64_t bytes, bool zeroed);
/* Takes them away again. */
void sambaStorageFreeData(SambaTensorStorage *storage);
SambaMaker *sambaMakerRetain(SambaMaker *maker);
void sambaMakerRelease(SambaMaker *maker);

/* ---- tensor.c ---- */

/* Is it an element type and a shape whose bytes can be counted? */
SambaStatus sambaTensorCheckShape(SambaDType dtype, uint32_t rank, const int64_t *dims);
void sambaTensorRowMajorStrides(uint32_t rank, const int64_t *dims, int64_t *out_strides);
/* A tensor without a name over a storage, which it takes; strides NULL: row-major. The shape has
 * been checked. */
SambaTensor *sambaTensorOverStorage(SambaDType dtype, uint32_t rank, const int64_t *dims,
                                    const int64_t *strides, SambaTensorStorage *storage,
                                    int64_t offset);
/* A fresh row-major tensor, whose data are not set; `zeroed`: all bits 0. */
SambaStatus sambaTensorAllocate(SambaDType dtype, uint32_t rank, const int64_t *dims, bool zeroed,
                                SambaTensor **out_tensor);
void sambaTensorFreeShards(SambaTensorShards *shards); /* may be NULL */
/* Gives the tensor fresh storage, row-major. */
void sambaTensorRenewStorage(SambaTensor *tensor, SambaTensorStorage *storage);
/* Name, region, memory type and requires_grad of another tensor. */
void sambaTensorInherit(SambaTensor *tensor, const SambaTensor *from);
/* Refuses a tensor without data: "<what> needs data, ...". */
SambaStatus sambaTensorNeedData(const SambaTensor *tensor, const char *what);
/* "tensor 'x' of shape 2x3xf32", in a buffer of SAMBA_TENSOR_TEXT_BYTES. */
enum { SAMBA_TENSOR_TEXT_BYTES = 1024 };
const char *sambaTensorDescribe(const SambaTensor *tensor, char *buffer);
/* A dimension that may count from the end. */
SambaStatus sambaTensorResolveDim(const SambaTensor *tensor, int64_t dim, uint32_t *out_dim);

/* ---- data.c ---- */

/* Refuses a tensor whose strides give several elements one place. */
SambaStatus sambaTensorCheckWritable(const SambaTensor *tensor);

/* ---- cast.c ---- */

/* Converts all elements of `source`, seen in the target's shape with these strides. */
void sambaTensorConvert(const SambaTensor *source, const int64_t *source_strides,
                        SambaTensor *target);
/* A row-major copy of another type, or of the same; a lazy one of a lazy tensor. */
SambaStatus sambaTensorCopyAs(SambaTensor *tensor, SambaDType dtype, SambaTensor **out_tensor);

/* ---- view.c ---- */

/* A view without a name, whose elements are all in the storage. */
SambaTensor *sambaTensorView(const SambaTensor *tensor, uint32_t rank, const int64_t *dims,
                             const int64_t *strides, int64_t offset);

#endif
