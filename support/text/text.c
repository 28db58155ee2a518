/* A growing text; see text.h. */
#include "support/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Room for `more` bytes and the NUL behind them. */
static void reserve(SambaText *text, size_t more) {
  size_t wanted;
  if (__builtin_add_overflow(text->size, more, &wanted) ||
      __builtin_add_overflow(wanted, (size_t)1, &wanted))
    wanted = SIZE_MAX; /* ends the process as a failed allocation does */
  sambaArrayReserve(text, wanted);
}

void sambaTextAppend(SambaText *text, const char *data, size_t size) {
  reserve(text, size);
  if (size)
    memcpy(text->data + text->size, data, size);
  text->size += size;
  text->data[text->size] = '\0';
}

void sambaTextAppendC(SambaText *text, const char *string) {
  sambaTextAppend(text, string, strlen(string));
}

void sambaTextFormat(SambaText *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);

  if (length >= 0) {
    reserve(text, (size_t)length);
    vsnprintf(text->data + text->size, (size_t)length + 1, format, again);
    text->size += (size_t)length;
  }
  va_end(again);
}

const char *sambaTextGet(const SambaText *text) { return text->data ? text->data : ""; }

SambaStringRef sambaTextRef(const SambaText *text) {
  return (SambaStringRef){sambaTextGet(text), text->size};
}

char *sambaTextTake(SambaText *text) {
  reserve(text, 0);
  char *data = text->data;
  data[text->size] = '\0';
  *text = (SambaText){0};
  return data;
}

const char *sambaTextToArena(SambaText *text, SambaArena *arena) {
  const char *copy = sambaStringRefCopy(arena, sambaTextRef(text)).data;
  sambaTextFree(text);
  return copy;
}

void sambaTextClear(SambaText *text) {
  text->size = 0;
  if (text->data)
    text->data[0] = '\0';
}

void sambaTextFree(SambaText *text) { sambaArrayFree(text); }
