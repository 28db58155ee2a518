/* Shared by the listing's printer and parser: numbers and names as text, and the cursor of the
 * parser. */
#ifndef SAMBA_BACKEND_LISTING_LISTING_INTERNAL_H
#define SAMBA_BACKEND_LISTING_LISTING_INTERNAL_H

#include "backend/config/records.h"
#include "backend/listing/listing.h"

/* Fields whose text is not label=number: counts follow from the lines, levels from the bars, some
 * have words of their own. */
bool sambaListingFieldIsImplied(const SambaRecordRow *row);
/* The record of a port's lines: by the unit's kind and the port's place. */
SambaRecordId sambaListingPortRecord(SambaUnitKind kind, bool output, uint32_t port);
/* Bare names need no quotes. */
bool sambaListingNameIsBare(SambaStringRef name);
/* Text of a value's bits in an element type: a decimal that reads back to the same bits, else hex.
 * At least 40 bytes. */
void sambaListingFormatBits(SambaDType dtype, uint64_t bits, char *out);
/* Reads such text; false when it is no number of the type. */
bool sambaListingParseBits(SambaDType dtype, SambaStringRef text, uint64_t *out_bits);

typedef struct SambaListingCursor {
  SambaStringRef text;
  size_t at;
} SambaListingCursor;

/* An error at the cursor: "line 3, column 7: ..." */
SambaStatus sambaListingError(const SambaListingCursor *cursor, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Skips spaces and comments, but not the end of the line; true when the line (or the text) ends
 * here. */
bool sambaListingAtLineEnd(SambaListingCursor *cursor);
/* Skips spaces, comments and line ends. */
void sambaListingSkipLines(SambaListingCursor *cursor);
/* Next character is `c`: takes it. */
bool sambaListingTake(SambaListingCursor *cursor, char c);
SambaStatus sambaListingExpect(SambaListingCursor *cursor, const char *token);
/* A run of characters of words and numbers; empty when there is none. */
SambaStringRef sambaListingWord(SambaListingCursor *cursor);
/* A name, bare or quoted with escapes, copied into the arena (NUL-terminated). */
SambaStatus sambaListingName(SambaListingCursor *cursor, SambaArena *arena,
                             SambaStringRef *out_name);
SambaStatus sambaListingInteger(SambaListingCursor *cursor, int64_t minimum, int64_t maximum,
                                const char *what, int64_t *out_value);

#endif
