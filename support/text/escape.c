/* Escaped strings; see escape.h. */
#include "support/text/escape.h"

#include <stdint.h>

/* Bytes of the sequence that a first byte announces (RFC 3629, beyond ASCII); 0: none starts so. */
static size_t announcedLength(unsigned char first) {
  if (first >= 0xC2 && first <= 0xDF)
    return 2;
  if ((first & 0xF0) == 0xE0)
    return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

/* Bytes of the well-formed UTF-8 sequence beyond ASCII at the start of text; 0 when there is
 * none. */
static size_t utf8Length(const unsigned char *text, size_t size) {
  unsigned char first = text[0];
  size_t length = announcedLength(first);
  if (!length || length > size)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((text[i] & 0xC0) != 0x80)
      return 0;

  /* Overlong forms, surrogates, beyond U+10FFFF; and the C1 controls, which terminals obey. */
  if ((first == 0xE0 && text[1] < 0xA0) || (first == 0xED && text[1] >= 0xA0) ||
      (first == 0xF0 && text[1] < 0x90) || (first == 0xF4 && text[1] >= 0x90) ||
      (first == 0xC2 && text[1] < 0xA0))
    return 0;
  return length;
}

SambaStringRef sambaStringEscape(SambaArena *arena, SambaStringRef text) {
  static const char digits[] = "0123456789ABCDEF";
  char *result = sambaArenaAllocate(arena, sambaArraySize(text.size, 3) + 3);
  size_t to = 0;

  result[to++] = '"';
  for (size_t i = 0; i < text.size;) {
    unsigned char byte = (unsigned char)text.data[i];
    size_t length =
        byte >= 0x80 ? utf8Length((const unsigned char *)text.data + i, text.size - i) : 0;
    if (length) {
      memcpy(result + to, text.data + i, length);
      to += length;
      i += length;
      continue;
    }
    ++i;
    if (byte == '"' || byte == '\\') {
      result[to++] = '\\';
      result[to++] = (char)byte;
    } else if (byte >= 0x20 && byte < 0x7F) {
      result[to++] = (char)byte;
    } else {
      result[to++] = '\\';
      result[to++] = digits[byte >> 4];
      result[to++] = digits[byte & 15];
    }
  }

  result[to++] = '"';
  result[to] = '\0';
  return (SambaStringRef){result, to};
}

int sambaHexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return -1;
}

size_t sambaStringUnescape(SambaArena *arena, SambaStringRef text, SambaStringRef *out_text) {
  if (!text.size || text.data[0] != '"')
    return 0;
  size_t end = 1;

  while (end < text.size && text.data[end] != '"' && text.data[end] != '\n')
    end += text.data[end] == '\\' ? 2 : 1;
  if (end >= text.size || text.data[end] != '"')
    return 0;
  char *result = sambaArenaAllocate(arena, end);
  size_t to = 0;

  for (size_t i = 1; i < end; ++i) {
    char c = text.data[i];
    if (c != '\\') {
      result[to++] = c;
      continue;
    }
    char next = text.data[++i];
    if (next == '"' || next == '\\') {
      result[to++] = next;
    } else if (next == 'n' || next == 't') {
      result[to++] = next == 'n' ? '\n' : '\t';
    } else {
      int high = sambaHexDigit(next);
      int low = i + 1 < end ? sambaHexDigit(text.data[i + 1]) : -1;
      if (high < 0 || low < 0)
        return 0;
      result[to++] = (char)(high * 16 + low);
      ++i;
    }
  }

  result[to] = '\0';
  *out_text = (SambaStringRef){result, to};
  return end + 1;
}
