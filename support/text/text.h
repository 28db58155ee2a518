/* A growing text: what is appended piece by piece and then read, printed or taken.
 *
 *   SambaText text = {0};
 *   sambaTextFormat(&text, "%u units", count);
 *   puts(sambaTextGet(&text));
 *   sambaTextFree(&text);
 *
 * The bytes may be any; a NUL that is not counted follows them, so a text can always be read as a
 * C string. dialect/bridge/text_sink.h makes it a target of MLIR's printers. */
#ifndef SAMBA_SUPPORT_TEXT_TEXT_H
#define SAMBA_SUPPORT_TEXT_TEXT_H

#include "support/text/string_ref.h"

typedef struct SambaText { /* zero-initialize */
  char *data;              /* NULL while nothing was appended: read it with sambaTextGet */
  size_t size, capacity;
} SambaText;

void sambaTextAppend(SambaText *text, const char *data, size_t size);
void sambaTextAppendC(SambaText *text, const char *string);
void sambaTextFormat(SambaText *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* NUL-terminated, "" when nothing was appended; borrowed until the next change. */
const char *sambaTextGet(const SambaText *text);
SambaStringRef sambaTextRef(const SambaText *text);
/* Hands the bytes over, NUL-terminated; release with free(). The text is empty afterwards. */
char *sambaTextTake(SambaText *text);
/* Moves the text into an arena and frees it. */
const char *sambaTextToArena(SambaText *text, SambaArena *arena);
void sambaTextClear(SambaText *text); /* empty, but keeps its memory */
void sambaTextFree(SambaText *text);

#endif
