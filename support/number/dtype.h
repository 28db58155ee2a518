/* Element types: the one table from which code, records and documents take names and sizes. */
#ifndef SAMBA_SUPPORT_NUMBER_DTYPE_H
#define SAMBA_SUPPORT_NUMBER_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

/* X(enumerator, name, bytes in memory, is float, is signed integer). Values are part of PEF format
 * version 1. */
#define SAMBA_DTYPES(X)                                                                            \
  X(F32, "f32", 4, 1, 0)                                                                           \
  X(BF16, "bf16", 2, 1, 0)                                                                         \
  X(F16, "f16", 2, 1, 0)                                                                           \
  X(I1, "i1", 1, 0, 0)                                                                             \
  X(I8, "i8", 1, 0, 1)                                                                             \
  X(UI8, "ui8", 1, 0, 0)                                                                           \
  X(I16, "i16", 2, 0, 1)                                                                           \
  X(I32, "i32", 4, 0, 1)                                                                           \
  X(I64, "i64", 8, 0, 1)

typedef enum {
#define X(enumerator, name, bytes, isFloat, isSigned) SAMBA_DTYPE_##enumerator,
  SAMBA_DTYPES(X)
#undef X
      SAMBA_DTYPE_COUNT
} SambaDType;

static inline const char *sambaDTypeName(SambaDType dtype) {
  static const char *const names[] = {
#define X(enumerator, name, bytes, isFloat, isSigned) name,
      SAMBA_DTYPES(X)
#undef X
  };
  return (unsigned)dtype < SAMBA_DTYPE_COUNT ? names[dtype] : "invalid";
}
static inline uint32_t sambaDTypeBytes(SambaDType dtype) {
  static const uint8_t bytes[] = {
#define X(enumerator, name, bytes, isFloat, isSigned) bytes,
      SAMBA_DTYPES(X)
#undef X
  };
  return (unsigned)dtype < SAMBA_DTYPE_COUNT ? bytes[dtype] : 0;
}
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
