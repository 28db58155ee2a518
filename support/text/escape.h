/* Names hold any bytes; in messages and listings they appear escaped, in quotes, and can be read
 * back. */
#ifndef SAMBA_SUPPORT_TEXT_ESCAPE_H
#define SAMBA_SUPPORT_TEXT_ESCAPE_H

#include "support/text/string_ref.h"

/* The text in double quotes, NUL-terminated, in the arena. Printable ASCII stays as it is but for
 * \" and \\; so does well-formed UTF-8; every other byte is \XX (two upper-case hexadecimal
 * digits), as in MLIR. */
SambaStringRef sambaStringEscape(SambaArena *arena, SambaStringRef text);
/* Reads a quoted string at the start of `text` (also \n and \t); returns the number of bytes read,
 * 0 when it is malformed. */
size_t sambaStringUnescape(SambaArena *arena, SambaStringRef text, SambaStringRef *out_text);
/* The value of a hexadecimal digit of either case; -1 for every other character. */
int sambaHexDigit(char c);

#endif
