/* Tokens of a listing: identifiers, numbers, quoted strings, single punctuation characters;
 * comments from # to the end of the line. */
#ifndef SAMBA_TOOLS_SAMBA_OBJDUMP_LEXER_H
#define SAMBA_TOOLS_SAMBA_OBJDUMP_LEXER_H

#include "support/base/status.h"
#include "support/text/string_ref.h"

#include <stdint.h>

typedef enum { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCTUATION } TokenKind;

typedef struct Token {
  TokenKind kind;
  SambaStringRef text; /* as written; a string with its quotes */
  uint32_t line;
} Token;

typedef struct Lexer {
  const char *path;
  SambaStringRef text;
  size_t at;
  uint32_t line;
  Token token; /* the current one */
  SambaArena *arena;
} Lexer;

/* From the start of `text`, whose first line has number `line`. */
void lexerStart(Lexer *lexer, const char *path, SambaStringRef text, uint32_t line,
                SambaArena *arena);
/* Goes on at this position of the text. */
void lexerSeek(Lexer *lexer, size_t position);
/* Goes on to the next token. A malformed token becomes punctuation, which nothing accepts. */
void lexerNext(Lexer *lexer);
/* True and goes on when the current token is this punctuation character or name. */
bool lexerTake(Lexer *lexer, const char *text);
bool lexerIs(const Lexer *lexer, const char *text);
/* "PATH:LINE: expected WHAT, found TOKEN". */
SambaStatus lexerExpected(const Lexer *lexer, const char *what);
SambaStatus lexerExpect(Lexer *lexer, const char *text);
SambaStatus lexerString(Lexer *lexer, SambaStringRef *out_text);
/* A decimal or 0x number; a leading minus gives two's complement. */
SambaStatus lexerNumber(Lexer *lexer, uint64_t *out_value);
/* With the current token `{`: the text between it and the matching `}`; goes on after that. */
SambaStatus lexerBody(Lexer *lexer, SambaStringRef *out_text, uint32_t *out_line);

#endif
