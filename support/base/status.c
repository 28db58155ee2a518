/* Status values; see status.h. */
#include "support/base/status.h"

#include "support/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct SambaStatusImpl {
  SambaStatusCode code;
  char *message;
};

static char *formatMessage(const char *format, va_list arguments) {
  va_list copy;
  va_copy(copy, arguments);
  int length = vsnprintf(NULL, 0, format, copy);
  va_end(copy);
  size_t size = length < 0 ? 1 : (size_t)length + 1;
  char *text = sambaAllocate(size);
  text[0] = '\0';
  vsnprintf(text, size, format, arguments);
  return text;
}

static char *joinMessages(char *first, const char *between, char *second) {
  size_t a = strlen(first);
  size_t b = strlen(between);
  size_t c = strlen(second);
  char *text = sambaAllocate(a + b + c + 1);
  memcpy(text, first, a);
  memcpy(text + a, between, b);
  memcpy(text + a + b, second, c + 1);
  free(first);
  free(second);
  return text;
}

SambaStatus sambaStatusMake(SambaStatusCode code, const char *format, ...) {
  SambaStatus status = sambaAllocate(sizeof *status);
  va_list arguments;
  va_start(arguments, format);
  status->code = code;
  status->message = formatMessage(format, arguments);
  va_end(arguments);
  return status;
}

SambaStatus sambaStatusAnnotate(SambaStatus status, const char *format, ...) {
  if (!status)
    return NULL;
  va_list arguments;
  va_start(arguments, format);
  status->message = joinMessages(formatMessage(format, arguments), ": ", status->message);
  va_end(arguments);
  return status;
}

SambaStatus sambaStatusNote(SambaStatus status, const char *format, ...) {
  if (!status)
    return NULL;
  va_list arguments;
  va_start(arguments, format);
  status->message = joinMessages(status->message, "\n  note: ", formatMessage(format, arguments));
  va_end(arguments);
  return status;
}

SambaStatusCode sambaStatusGetCode(SambaStatus status) { return status ? status->code : SAMBA_OK; }

const char *sambaStatusGetMessage(SambaStatus status) { return status ? status->message : ""; }

void sambaStatusFree(SambaStatus status) {
  if (!status)
    return;
  free(status->message);
  free(status);
}
