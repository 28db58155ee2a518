/* What every public header of Samba shares: statuses, references to strings, element types.
 *
 * The headers need C11 or C++17 and the standard library, nothing else. */
#ifndef SAMBA_BASE_H
#define SAMBA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Functions of the library's interface; everything else is hidden in libsamba.so. */
#define SAMBA_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Statuses ----
 *
 * Functions that can fail return a SambaStatus: NULL for success, or one message. Whoever receives
 * a failure either returns it (SAMBA_RETURN_IF_ERROR) or consumes it (sambaStatusFree).
 * Messages are written for the user: what, where, what was expected, what to do. */
typedef enum {
  SAMBA_OK = 0,
  SAMBA_INVALID,     /* bad input: malformed, inconsistent, out of range */
  SAMBA_UNSUPPORTED, /* well-formed, but Samba has no way to do it */
  SAMBA_EXHAUSTED,   /* needs more of a resource than the machine has */
  SAMBA_IO,          /* the operating system refused */
  SAMBA_FAULT,       /* a named fault of the simulated machine */
  SAMBA_MISMATCH     /* a comparison that was asked for did not hold */
} SambaStatusCode;

typedef struct SambaStatusImpl *SambaStatus; /* NULL: success */

/* Makes a failure with a printf-style message. Never returns NULL. */
SAMBA_EXPORT SambaStatus sambaStatusMake(SambaStatusCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Puts "context: " before the message; returns the same status. A NULL status stays NULL. */
SAMBA_EXPORT SambaStatus sambaStatusAnnotate(SambaStatus status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a note, which stands on a line of its own in the message, "  note: ..."; returns the same
 * status. A NULL status stays NULL. */
SAMBA_EXPORT SambaStatus sambaStatusNote(SambaStatus status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
SAMBA_EXPORT SambaStatusCode sambaStatusGetCode(SambaStatus status);
/* The headline and the lines of the notes. Borrowed until the status changes; "" for success. */
SAMBA_EXPORT const char *sambaStatusGetMessage(SambaStatus status);
SAMBA_EXPORT void sambaStatusFree(SambaStatus status);

#define SAMBA_RETURN_IF_ERROR(expression)                                                          \
  do {                                                                                             \
    SambaStatus samba_status_ = (expression);                                                      \
    if (__builtin_expect(samba_status_ != 0, 0))                                                   \
      return samba_status_;                                                                        \
  } while (0)

/* ---- References to strings: pointer and length, by value, never owning ---- */

typedef struct SambaStringRef {
  const char *data; /* not NUL-terminated in general; may hold any byte */
  size_t size;
} SambaStringRef;

/* The string as a whole; NULL gives an empty reference. */
static inline SambaStringRef sambaStringRef(const char *text) {
  SambaStringRef reference = {text, text ? strlen(text) : 0};
  return reference;
}

/* ---- Element types ----
 *
 * X(enumerator, name, bytes in memory, is float, is signed integer). The values are part of PEF
 * format version 1. */
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
      SAMBA_DTYPE_COUNT,
  SAMBA_DTYPE_NONE = SAMBA_DTYPE_COUNT, /* no element type, or: let the function choose */
  /* Of tensors in host memory alone: no device has it, and traces and PEFs refuse it. */
  SAMBA_DTYPE_F64
} SambaDType;

/* "f32", "i1", ...; "invalid" for what is no element type. */
static inline const char *sambaDTypeName(SambaDType dtype) {
  static const char *const names[] = {
#define X(enumerator, name, bytes, isFloat, isSigned) name,
      SAMBA_DTYPES(X)
#undef X
          "invalid",
      "f64"};
  return (unsigned)dtype < sizeof names / sizeof *names ? names[dtype] : "invalid";
}

/* What one element takes in memory; 0 for what is no element type. */
static inline uint32_t sambaDTypeBytes(SambaDType dtype) {
  static const uint8_t sizes[] = {
#define X(enumerator, name, bytes, isFloat, isSigned) bytes,
      SAMBA_DTYPES(X)
#undef X
          0,
      8};
  return (unsigned)dtype < sizeof sizes / sizeof *sizes ? sizes[dtype] : 0;
}

#ifdef __cplusplus
}
#endif

#endif
