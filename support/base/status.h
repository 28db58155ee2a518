/* Status values: how every function of Samba that can fail reports why.
 *
 * A SambaStatus is NULL for success or owns one message. Whoever receives a failure either returns
 * it (SAMBA_RETURN_IF_ERROR) or consumes it (sambaStatusFree).
 * Messages are written for the user: what, where, what was expected, what to do. */
#ifndef SAMBA_SUPPORT_BASE_STATUS_H
#define SAMBA_SUPPORT_BASE_STATUS_H

#include <stddef.h>

#include <stdbool.h>
#include <stdint.h>

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
SambaStatus sambaStatusMake(SambaStatusCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Puts "context: " before the message; returns the same status. A NULL status stays NULL. */
SambaStatus sambaStatusAnnotate(SambaStatus status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a note, which stands on a line of its own in the message, "  note: ..."; returns the same
 * status. A NULL status stays NULL. */
SambaStatus sambaStatusNote(SambaStatus status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
SambaStatusCode sambaStatusGetCode(SambaStatus status);
/* The headline and the lines of the notes. Borrowed until the status changes; "" for success. */
const char *sambaStatusGetMessage(SambaStatus status);
/* The headline's part of the message, and the notes one by one. */
size_t sambaStatusGetHeadlineSize(SambaStatus status);
size_t sambaStatusGetNoteCount(SambaStatus status);
const char *sambaStatusGetNote(SambaStatus status, size_t index);
void sambaStatusFree(SambaStatus status);

#define SAMBA_RETURN_IF_ERROR(expression)                                                          \
  do {                                                                                             \
    SambaStatus samba_status_ = (expression);                                                      \
    if (__builtin_expect(samba_status_ != 0, 0))                                                   \
      return samba_status_;                                                                        \
  } while (0)

#endif
