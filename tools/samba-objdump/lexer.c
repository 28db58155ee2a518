/* Tokens of a listing; see lexer.h. */
#include "tools/samba-objdump/lexer.h"

#include "support/text/escape.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static bool isNameCharacter(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static void skipBlanks(Lexer *lexer) {
  SambaStringRef text = lexer->text;
  for (; lexer->at < text.size; ++lexer->at) {
    char c = text.data[lexer->at];
    if (c == '\n') {
      ++lexer->line;
    } else if (c == '#') {
      while (lexer->at + 1 < text.size && text.data[lexer->at + 1] != '\n')
        ++lexer->at;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

/* Length of the string at the start, quotes included; 0 when it does not end on its line. */
static size_t stringLength(const char *text, size_t size) {
  for (size_t i = 1; i < size && text[i] != '\n'; ++i) {
    if (text[i] == '"')
      return i + 1;
    if (text[i] == '\\')
      ++i;
  }
  return 0;
}

void lexerNext(Lexer *lexer) {
  skipBlanks(lexer);
  const char *start = lexer->text.data + lexer->at;
  size_t left = lexer->text.size - lexer->at;
  size_t length = 1;

  TokenKind kind = TOKEN_PUNCTUATION;
  if (!left) {
    kind = TOKEN_END;
    length = 0;
  } else if (isNameCharacter(*start)) {
    kind = isdigit((unsigned char)*start) ? TOKEN_NUMBER : TOKEN_NAME;
    while (length < left &&
           (isNameCharacter(start[length]) ||
            (kind == TOKEN_NUMBER && (start[length] == '-' || start[length] == '+') &&
             (start[length - 1] == 'e' || start[length - 1] == 'E') && start[1] != 'x')))
      ++length;
  } else if (*start == '"' && stringLength(start, left)) {
    kind = TOKEN_STRING;
    length = stringLength(start, left);
  }

  lexer->at += length;
  lexer->token = (Token){kind, {start, length}, lexer->line};
}

void lexerStart(Lexer *lexer, const char *path, SambaStringRef text, uint32_t line,
                SambaArena *arena) {
  *lexer = (Lexer){.path = path, .text = text, .line = line, .arena = arena};
  lexerNext(lexer);
}

void lexerSeek(Lexer *lexer, size_t position) {
  /* The current token is the last thing that was read: lines between it and the position still
   * count. */
  for (size_t i = lexer->at; i < position; ++i)
    lexer->line += lexer->text.data[i] == '\n';
  lexer->at = position;
  lexerNext(lexer);
}

bool lexerIs(const Lexer *lexer, const char *text) {
  return lexer->token.kind != TOKEN_STRING && sambaStringRefEqualC(lexer->token.text, text);
}

bool lexerTake(Lexer *lexer, const char *text) {
  if (lexer->token.kind == TOKEN_END || !lexerIs(lexer, text))
    return false;
  lexerNext(lexer);
  return true;
}

SambaStatus lexerExpected(const Lexer *lexer, const char *what) {
  if (lexer->token.kind == TOKEN_END)
    return sambaStatusMake(SAMBA_INVALID, "%s:%u: expected %s, found the end of the text",
                           lexer->path, lexer->token.line, what);
  SambaStringRef shown = lexer->token.text;
  if (shown.size > 60)
    shown.size = 60;
  if (lexer->token.kind != TOKEN_STRING)
    shown = sambaStringEscape(lexer->arena, shown);
  return sambaStatusMake(SAMBA_INVALID, "%s:%u: expected %s, found %.*s", lexer->path,
                         lexer->token.line, what, SAMBA_STRING_ARGS(shown));
}

SambaStatus lexerExpect(Lexer *lexer, const char *text) {
  return lexerTake(lexer, text)
             ? NULL
             : lexerExpected(lexer, sambaArenaFormat(lexer->arena, "`%s`", text));
}

SambaStatus lexerString(Lexer *lexer, SambaStringRef *out_text) {
  if (lexer->token.kind != TOKEN_STRING ||
      !sambaStringUnescape(lexer->arena, lexer->token.text, out_text))
    return lexerExpected(lexer, "a string in double quotes");
  lexerNext(lexer);
  return NULL;
}

SambaStatus lexerNumber(Lexer *lexer, uint64_t *out_value) {
  bool negative = lexerTake(lexer, "-");
  SambaStringRef text = lexer->token.text;
  char digits[32];

  if (lexer->token.kind != TOKEN_NUMBER || text.size >= sizeof digits)
    return lexerExpected(lexer, "a whole number");
  memcpy(digits, text.data, text.size);
  digits[text.size] = '\0';
  char *end;
  errno = 0;
  unsigned long long value = strtoull(digits, &end, digits[0] == '0' && digits[1] == 'x' ? 16 : 10);
  if (*end || errno || (negative && value > UINT64_C(1) << 63))
    return lexerExpected(lexer, "a whole number of 64 bits");
  *out_value = negative ? -(uint64_t)value : value;
  lexerNext(lexer);

  return NULL;
}

SambaStatus lexerBody(Lexer *lexer, SambaStringRef *out_text, uint32_t *out_line) {
  Token open = lexer->token;
  if (!lexerIs(lexer, "{"))
    return lexerExpected(lexer, "`{`");
  size_t start = lexer->at;

  *out_line = lexer->line;
  for (size_t depth = 1; depth;) {
    lexerNext(lexer);
    if (lexer->token.kind == TOKEN_END)
      return sambaStatusMake(SAMBA_INVALID, "%s:%u: this `{` has no `}`", lexer->path, open.line);
    depth += lexerIs(lexer, "{") ? 1 : 0;
    depth -= lexerIs(lexer, "}") ? 1 : 0;
  }

  *out_text = (SambaStringRef){lexer->text.data + start,
                               (size_t)(lexer->token.text.data - (lexer->text.data + start))};
  lexerNext(lexer);
  return NULL;
}
