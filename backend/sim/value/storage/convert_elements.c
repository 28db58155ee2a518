/* Conversions between device memory and host storage; see convert_elements.h. Stride 1 has loops of
 * its own that vectorize. */
#include "backend/sim/value/storage/convert_elements.h"

#include <math.h>
#include <string.h>

/* Loops over elements: BODY sees `from` and `to`, the addresses of one element on both sides. */
#define EACH(device_size, host_size, ...)                                                          \
  do {                                                                                             \
    if (stride == 1)                                                                               \
      for (uint64_t i = 0; i < count; ++i) {                                                       \
        STEP(i * (device_size), i * (host_size), __VA_ARGS__)                                      \
      }                                                                                            \
    else                                                                                           \
      for (uint64_t i = 0; i < count; ++i) {                                                       \
        STEP((int64_t)i * stride * (device_size), i * (host_size), __VA_ARGS__)                    \
      }                                                                                            \
  } while (0)

#define STEP(device_offset, host_offset, ...)                                                      \
  const uint8_t *from = device + (device_offset);                                                  \
  uint8_t *to = host + (host_offset);                                                              \
  __VA_ARGS__

/* One element of type `narrow` becomes one of type `wide`. */
#define WIDEN(narrow, wide)                                                                        \
  EACH((int64_t)sizeof(narrow), sizeof(wide), narrow value; memcpy(&value, from, sizeof value);    \
       wide result = value; memcpy(to, &result, sizeof result);)

void sambaConvertLoad(SambaDType dtype, uint8_t *restrict host, const uint8_t *restrict device,
                      int64_t stride, uint64_t count) {
  switch (dtype) {
  case SAMBA_DTYPE_F32:
  case SAMBA_DTYPE_I32:
    if (stride == 1)
      memcpy(host, device, 4 * count);
    else
      WIDEN(uint32_t, uint32_t);
    break;
  case SAMBA_DTYPE_I64:
    WIDEN(int64_t, int64_t);
    break;
  case SAMBA_DTYPE_BF16:
    EACH(2, 4, uint16_t value; memcpy(&value, from, 2); uint32_t result = (uint32_t)value << 16;
         memcpy(to, &result, 4););
    break;
  case SAMBA_DTYPE_F16:
    EACH(2, 4, uint16_t value; memcpy(&value, from, 2); float result = sambaHalfToFloat(value);
         memcpy(to, &result, 4););
    break;
  case SAMBA_DTYPE_I1:
    EACH(1, 4, int32_t result = *from != 0; memcpy(to, &result, 4););
    break;
  case SAMBA_DTYPE_I8:
    WIDEN(int8_t, int32_t);
    break;
  case SAMBA_DTYPE_UI8:
    WIDEN(uint8_t, int32_t);
    break;
  case SAMBA_DTYPE_I16:
    WIDEN(int16_t, int32_t);
    break;
  case SAMBA_DTYPE_COUNT:
  case SAMBA_DTYPE_F64: /* of the host alone */
    break;
  }
}

#undef STEP
#define STEP(device_offset, host_offset, ...)                                                      \
  uint8_t *to = device + (device_offset);                                                          \
  const uint8_t *from = host + (host_offset);                                                      \
  __VA_ARGS__

#define NARROW(wide, narrow)                                                                       \
  EACH((int64_t)sizeof(narrow), sizeof(wide), wide value; memcpy(&value, from, sizeof value);      \
       narrow result = (narrow)value; memcpy(to, &result, sizeof result);)

bool sambaConvertStore(SambaDType dtype, uint8_t *restrict device, const uint8_t *restrict host,
                       int64_t stride, uint64_t count) {
  uint32_t nans = 0;
  switch (dtype) {
  case SAMBA_DTYPE_F32:
    EACH(4, 4, uint32_t value; memcpy(&value, from, 4);
         uint32_t nan = (value & 0x7FFFFFFF) > 0x7F800000; nans |= nan;
         value = nan ? 0x7FC00000 : value; memcpy(to, &value, 4););
    break;
  case SAMBA_DTYPE_BF16: /* as sambaFloatToBf16, written so that it vectorizes */
    EACH(2, 4, uint32_t value; memcpy(&value, from, 4);
         uint32_t nan = (value & 0x7FFFFFFF) > 0x7F800000; nans |= nan;
         value += 0x7FFF + (value >> 16 & 1);
         uint16_t result = nan ? 0x7FC0 : (uint16_t)(value >> 16); memcpy(to, &result, 2););
    break;
  case SAMBA_DTYPE_F16:
    EACH(2, 4, float value; memcpy(&value, from, 4); nans |= isnan(value);
         uint16_t result = sambaFloatToHalf(value); memcpy(to, &result, 2););
    break;
  case SAMBA_DTYPE_I1:
    EACH(1, 4, int32_t value; memcpy(&value, from, 4); *to = value & 1;);
    break;
  case SAMBA_DTYPE_I8:
  case SAMBA_DTYPE_UI8:
    NARROW(uint32_t, uint8_t);
    break;
  case SAMBA_DTYPE_I16:
    NARROW(uint32_t, uint16_t);
    break;
  case SAMBA_DTYPE_I32:
    NARROW(uint32_t, uint32_t);
    break;
  case SAMBA_DTYPE_I64:
    NARROW(uint64_t, uint64_t);
    break;
  case SAMBA_DTYPE_COUNT:
  case SAMBA_DTYPE_F64: /* of the host alone */
    break;
  }

  return nans != 0;
}
