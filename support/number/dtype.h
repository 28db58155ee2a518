/* Element types: questions to the table in samba/base.h, from which code, records and documents
 * take names and sizes, and conversions. */
#ifndef SAMBA_SUPPORT_NUMBER_DTYPE_H
#define SAMBA_SUPPORT_NUMBER_DTYPE_H

#include "samba/base.h"

/* Of the types that devices have. */
static inline bool sambaDTypeIsFloat(SambaDType dtype) { return dtype <= SAMBA_DTYPE_F16; }
/* The type in which a lane computes with elements of the dtype: f32, i32, i64 or i1. */
static inline SambaDType sambaDTypeLaneClass(SambaDType dtype) {
  if (sambaDTypeIsFloat(dtype))
    return SAMBA_DTYPE_F32;
  return dtype == SAMBA_DTYPE_I1 || dtype == SAMBA_DTYPE_I64 ? dtype : SAMBA_DTYPE_I32;
}
/* Finds a dtype by its name; SAMBA_DTYPE_COUNT when there is none. */
SambaDType sambaDTypeFromName(const char *name, uint64_t size);

/* Conversions with round to nearest even; NaN becomes the canonical quiet NaN
 * (docs/numerics.md). */
uint16_t sambaFloatToBf16(float value);
float sambaBf16ToFloat(uint16_t bits);
uint16_t sambaFloatToHalf(float value);
float sambaHalfToFloat(uint16_t bits);
/* As above for data that only the chosen precision narrows: what is finite stays finite. A mask's
 * -3.4e38 must not become an infinity that 0 turns into NaN. */
uint16_t sambaNarrowToBf16(float value);
uint16_t sambaNarrowToHalf(float value);
float sambaNarrowToFloat(double value);

/* The same by dtype, which is f32, bf16 or f16; the bits of f32 are passed on as they are. */
uint32_t sambaFloatToBits(SambaDType dtype, float value);
uint32_t sambaNarrowToBits(SambaDType dtype, float value);
float sambaBitsToFloat(SambaDType dtype, uint32_t bits);
/* Element `index` of an array of that dtype; the array may lie anywhere. */
float sambaLoadFloat(SambaDType dtype, const void *data, uint64_t index);
/* Converts `count` elements, narrowing as above. The arrays do not overlap and may lie anywhere. */
void sambaConvertFloats(SambaDType from, const void *source, SambaDType to, void *target,
                        uint64_t count);

#endif
