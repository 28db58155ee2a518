/* Status values; see status.h. */
#include "support/base/status.h"

#include "support/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct SambaStatusImpl {
  SambaStatusCode code;
  char *message;        /* the headline, then "\n  note: " and the note for each note */
  size_t headline_size; /* of message */
  SAMBA_ARRAY(char *) notes;
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

/* Frees the first. */
static char *joinMessages(char *first, const char *between, const char *second) {
  size_t a = strlen(first);
  size_t b = strlen(between);
  size_t c = strlen(second);
  char *text = sambaAllocate(a + b + c + 1);
  memcpy(text, first, a);
  memcpy(text + a, between, b);
  memcpy(text + a + b, second, c + 1);
  free(first);
  return text;
}

SambaStatus sambaStatusMake(SambaStatusCode code, const char *format, ...) {
  SambaStatus status = sambaAllocate(sizeof *status);
  va_list arguments;
  va_start(arguments, format);
  *status = (struct SambaStatusImpl){.code = code, .message = formatMessage(format, arguments)};
  status->headline_size = strlen(status->message);
  va_end(arguments);
  return status;
}

SambaStatus sambaStatusAnnotate(SambaStatus status, const char *format, ...) {
  if (!status)
    return NULL;
  va_list arguments;
  va_start(arguments, format);
  char *context = formatMessage(format, arguments);
  va_end(arguments);

  char *old = status->message;
  status->headline_size += strlen(context) + 2;
  status->message = joinMessages(context, ": ", old);
  free(old);
  return status;
}

SambaStatus sambaStatusNote(SambaStatus status, const char *format, ...) {
  if (!status)
    return NULL;
  va_list arguments;
  va_start(arguments, format);
  char *note = formatMessage(format, arguments);
  va_end(arguments);

  status->message = joinMessages(status->message, "\n  note: ", note);
  sambaArrayAppend(&status->notes, note);
  return status;
}

SambaStatusCode sambaStatusGetCode(SambaStatus status) { return status ? status->code : SAMBA_OK; }

const char *sambaStatusGetMessage(SambaStatus status) { return status ? status->message : ""; }

size_t sambaStatusGetHeadlineSize(SambaStatus status) { return status ? status->headline_size : 0; }

size_t sambaStatusGetNoteCount(SambaStatus status) { return status ? status->notes.size : 0; }

const char *sambaStatusGetNote(SambaStatus status, size_t index) {
  return status->notes.data[index];
}

void sambaStatusFree(SambaStatus status) {
  if (!status)
    return;
  for (size_t i = 0; i < status->notes.size; ++i)
    free(status->notes.data[i]);
  sambaArrayFree(&status->notes);
  free(status->message);
  free(status);
}
