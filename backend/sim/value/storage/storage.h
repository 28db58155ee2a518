/* How values are kept on the host, inside slots and tokens. */
#ifndef SAMBA_BACKEND_SIM_VALUE_STORAGE_STORAGE_H
#define SAMBA_BACKEND_SIM_VALUE_STORAGE_STORAGE_H

#include "support/number/dtype.h"

typedef enum { SAMBA_STORAGE_F32, SAMBA_STORAGE_I32, SAMBA_STORAGE_I64 } SambaStorage;

static inline SambaStorage sambaStorageOf(SambaDType dtype) {
  if (sambaDTypeIsFloat(dtype))
    return SAMBA_STORAGE_F32;
  return dtype == SAMBA_DTYPE_I64 ? SAMBA_STORAGE_I64 : SAMBA_STORAGE_I32;
}

static inline uint32_t sambaStorageBytes(SambaStorage storage) {
  return storage == SAMBA_STORAGE_I64 ? 8 : 4;
}

/* An element of a dtype (its bits) as bits of its storage. */
uint64_t sambaStorageBits(SambaDType dtype, uint64_t bits);
/* Writes `count` elements of these storage bits. */
void sambaStorageFill(SambaStorage storage, uint8_t *data, uint64_t count, uint64_t bits);

#endif
