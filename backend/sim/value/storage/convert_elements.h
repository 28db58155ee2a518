/* Between device memory (elements of a dtype) and host storage (float, int32, int64). */
#ifndef SAMBA_BACKEND_SIM_VALUE_STORAGE_CONVERT_ELEMENTS_H
#define SAMBA_BACKEND_SIM_VALUE_STORAGE_CONVERT_ELEMENTS_H

#include "backend/sim/value/storage/storage.h"

/* count elements, `stride` elements apart in device memory, dense in host storage. Overlap is not
 * allowed. */
void sambaConvertLoad(SambaDType dtype, uint8_t *restrict host, const uint8_t *restrict device,
                      int64_t stride, uint64_t count);
/* Rounds bf16 and f16, wraps narrow integers, makes every NaN canonical; returns whether there was
 * one. */
bool sambaConvertStore(SambaDType dtype, uint8_t *restrict device, const uint8_t *restrict host,
                       int64_t stride, uint64_t count);

#endif
