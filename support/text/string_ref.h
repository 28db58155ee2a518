/* String references: what the library does with them beyond making them. */
#ifndef SAMBA_SUPPORT_TEXT_STRING_REF_H
#define SAMBA_SUPPORT_TEXT_STRING_REF_H

#include "samba/base.h"
#include "support/base/memory.h"

typedef SAMBA_ARRAY(const char *) SambaStrings; /* a list of C strings */

static inline bool sambaStringRefEqual(SambaStringRef a, SambaStringRef b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool sambaStringRefEqualC(SambaStringRef a, const char *b) {
  return sambaStringRefEqual(a, sambaStringRef(b));
}
/* Is it one of the words? The list ends with NULL. */
static inline bool sambaStringRefIsOneOf(SambaStringRef text, const char *const *words) {
  while (*words && !sambaStringRefEqualC(text, *words))
    ++words;
  return *words != NULL;
}
/* A NUL-terminated copy in the arena. */
static inline SambaStringRef sambaStringRefCopy(SambaArena *arena, SambaStringRef text) {
  char *copy = (char *)sambaArenaAllocate(arena, text.size + 1); /* also read by C++ */
  if (text.size)
    memcpy(copy, text.data, text.size);
  return (SambaStringRef){copy, text.size};
}
/* For printf("%.*s", SAMBA_STRING_ARGS(s)). */
#define SAMBA_STRING_ARGS(s) (int)(s).size, (s).data

#endif
