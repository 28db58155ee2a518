/* How values are kept on the host; see storage.h. */
#include "backend/sim/value/storage/storage.h"

#include <string.h>

uint64_t sambaStorageBits(SambaDType dtype, uint64_t bits) {
  if (dtype == SAMBA_DTYPE_BF16 || dtype == SAMBA_DTYPE_F16)
    return sambaFloatToBits(SAMBA_DTYPE_F32, sambaBitsToFloat(dtype, (uint32_t)bits));
  switch (dtype) {
  case SAMBA_DTYPE_I1:
    return bits & 1;
  case SAMBA_DTYPE_I8:
    return (uint32_t)(int32_t)(int8_t)bits;
  case SAMBA_DTYPE_UI8:
    return (uint8_t)bits;
  case SAMBA_DTYPE_I16:
    return (uint32_t)(int32_t)(int16_t)bits;
  default:
    return bits;
  }
}

void sambaStorageFill(SambaStorage storage, uint8_t *data, uint64_t count, uint64_t bits) {
  if (storage == SAMBA_STORAGE_I64) {
    for (uint64_t i = 0; i < count; ++i)
      memcpy(data + 8 * i, &bits, 8);
  } else {
    uint32_t pattern = (uint32_t)bits;
    for (uint64_t i = 0; i < count; ++i)
      memcpy(data + 4 * i, &pattern, 4);
  }
}
