/* Words, names and numbers of listings; see listing_internal.h. */
#include "backend/listing/listing_internal.h"

#include "backend/section/access.h"
#include "support/number/dtype.h"
#include "support/text/escape.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool sambaListingFieldIsImplied(const SambaRecordRow *row) {
  static const char *const labels[] = {
      "input_count", "output_count", "counter_count", "op_count",    "guard_count", "flow_count",
      "slot_level",  "token_level",  "kind",          "reduce_mask", "symbol",      "value"};
  const char *label = sambaRecordRowLabel(row);
  for (size_t i = 0; i < sizeof labels / sizeof labels[0]; ++i)
    if (strcmp(label, labels[i]) == 0)
      return true;
  return false;
}

SambaRecordId sambaListingPortRecord(SambaUnitKind kind, bool output, uint32_t port) {
  if (kind == SAMBA_UNIT_BUFFER)
    return SAMBA_RECORD_buffer_port;
  if (kind == SAMBA_UNIT_COMPUTE)
    return output ? SAMBA_RECORD_compute_output : SAMBA_RECORD_compute_input;
  SambaUnit unit = {.kind = kind};
  return sambaPortHasAccess(&unit, output, port) ? SAMBA_RECORD_dram_port : SAMBA_RECORD_plain_port;
}

static bool isWordCharacter(char c) {
  return isalnum((unsigned char)c) || (c && strchr("_.$/@", c));
}

bool sambaListingNameIsBare(SambaStringRef name) {
  if (name.size == 0 || !(isalpha((unsigned char)name.data[0]) || name.data[0] == '_'))
    return false;
  for (size_t i = 0; i < name.size; ++i)
    if (!isWordCharacter(name.data[i]))
      return false;
  return true;
}

void sambaListingFormatBits(SambaDType dtype, uint64_t bits, char *out) {
  unsigned width = 8 * sambaDTypeBytes(dtype);
  if (sambaDTypeIsFloat(dtype)) {
    float value = sambaBitsToFloat(dtype, (uint32_t)bits);
    if (isfinite(value)) {
      snprintf(out, 40, "%.9g", (double)value);
      if (!strpbrk(out, ".e"))
        strcat(out, ".0");
      uint64_t back;
      if (sambaListingParseBits(dtype, sambaStringRef(out), &back) && back == bits)
        return;
    }
  } else if (dtype == SAMBA_DTYPE_I8 || dtype >= SAMBA_DTYPE_I16) {
    snprintf(out, 40, "%lld", (long long)(bits << (64 - width)) >> (64 - width));
    return;
  } else {
    snprintf(out, 40, "%llu", (unsigned long long)bits);
    return;
  }

  snprintf(out, 40, "0x%0*llx", (int)(width / 4), (unsigned long long)bits);
}

bool sambaListingParseBits(SambaDType dtype, SambaStringRef text, uint64_t *out_bits) {
  char copy[64], *end;
  if (text.size == 0 || text.size >= sizeof copy)
    return false;
  memcpy(copy, text.data, text.size);
  copy[text.size] = '\0';
  unsigned width = 8 * sambaDTypeBytes(dtype);
  uint64_t most = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;

  if (strncmp(copy, "0x", 2) == 0) {
    if (!isxdigit((unsigned char)copy[2]) || text.size > 18)
      return false;
    *out_bits = strtoull(copy, &end, 16);
    return *end == '\0' && *out_bits <= most;
  }

  if (sambaDTypeIsFloat(dtype)) {
    for (const char *c = copy; *c; ++c)
      if (!strchr("0123456789+-.eE", *c))
        return false;
    float value = strtof(copy, &end);
    *out_bits = sambaFloatToBits(dtype, value);
    return *end == '\0' && end != copy && isfinite(value);
  }

  bool negative = copy[0] == '-';
  if (!isdigit((unsigned char)copy[negative]) || text.size > 20)
    return false;
  errno = 0;
  uint64_t magnitude = strtoull(copy + negative, &end, 10);
  uint64_t half = most / 2 + 1; /* magnitude of the least signed value */
  bool is_signed = dtype != SAMBA_DTYPE_I1 && dtype != SAMBA_DTYPE_UI8;
  uint64_t largest = is_signed ? half - 1 : most;
  if (dtype == SAMBA_DTYPE_I1)
    largest = 1;
  if (*end || errno || (negative && (!is_signed || magnitude > half)) ||
      (!negative && magnitude > largest))
    return false;
  *out_bits = (negative ? 0 - magnitude : magnitude) & most;

  return true;
}

SambaStatus sambaListingError(const SambaListingCursor *cursor, size_t at, const char *format,
                              ...) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < at && i < cursor->text.size; ++i) {
    ++column;
    if (cursor->text.data[i] == '\n') {
      ++line;
      column = 1;
    }
  }

  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);

  return sambaStatusMake(SAMBA_INVALID, "line %zu, column %zu: %s", line, column, message);
}

static char peek(const SambaListingCursor *cursor) {
  return cursor->at < cursor->text.size ? cursor->text.data[cursor->at] : '\0';
}

bool sambaListingAtLineEnd(SambaListingCursor *cursor) {
  while (cursor->at < cursor->text.size) {
    char c = peek(cursor);
    if (c == '#') {
      while (cursor->at < cursor->text.size && peek(cursor) != '\n')
        ++cursor->at;
      return true;
    }
    if (c == '\n')
      return true;
    if (c != ' ' && c != '\t' && c != '\r')
      return false;
    ++cursor->at;
  }

  return true;
}

void sambaListingSkipLines(SambaListingCursor *cursor) {
  while (sambaListingAtLineEnd(cursor) && cursor->at < cursor->text.size)
    ++cursor->at;
}

bool sambaListingTake(SambaListingCursor *cursor, char c) {
  if (sambaListingAtLineEnd(cursor) || peek(cursor) != c)
    return false;
  ++cursor->at;
  return true;
}

SambaStatus sambaListingExpect(SambaListingCursor *cursor, const char *token) {
  bool end = sambaListingAtLineEnd(cursor);
  size_t length = strlen(token);
  if (!end && cursor->text.size - cursor->at >= length &&
      memcmp(cursor->text.data + cursor->at, token, length) == 0) {
    cursor->at += length;
    return NULL;
  }
  if (end)
    return sambaListingError(cursor, cursor->at, "expected '%s', found the end of the line", token);
  char found = peek(cursor);
  return sambaListingError(cursor, cursor->at, "expected '%s', found '%c'", token,
                           isprint((unsigned char)found) ? found : '?');
}

SambaStringRef sambaListingWord(SambaListingCursor *cursor) {
  size_t start = sambaListingAtLineEnd(cursor) ? cursor->text.size : cursor->at;
  size_t end = start;
  while (end < cursor->text.size && isWordCharacter(cursor->text.data[end]))
    ++end;
  if (end > start)
    cursor->at = end;
  return (SambaStringRef){cursor->text.data + start, end - start};
}

static SambaStatus quotedName(SambaListingCursor *cursor, SambaArena *arena,
                              SambaStringRef *out_name) {
  size_t start = cursor->at++;
  size_t size = 0;
  size_t end = cursor->at;

  while (end < cursor->text.size && cursor->text.data[end] != '"' && cursor->text.data[end] != '\n')
    end += 1 + (cursor->text.data[end] == '\\');
  if (end >= cursor->text.size || cursor->text.data[end] != '"')
    return sambaListingError(cursor, start, "the quoted name does not end on its line");
  char *copy = sambaArenaAllocate(arena, end - cursor->at + 1);

  while (cursor->at < end) {
    char c = cursor->text.data[cursor->at++];
    if (c == '\\') {
      c = peek(cursor);
      if (c == 'x') {
        int high = cursor->at + 1 < end ? sambaHexDigit(cursor->text.data[cursor->at + 1]) : -1;
        int low = cursor->at + 2 < end ? sambaHexDigit(cursor->text.data[cursor->at + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0)
          return sambaListingError(cursor, cursor->at,
                                   "expected two hex digits after \\x, not both zero");
        c = (char)(high * 16 + low);
        cursor->at += 2;
      } else if (c != '"' && c != '\\') {
        return sambaListingError(cursor, cursor->at,
                                 "unknown escape, expected \\\", \\\\ or \\xNN");
      }
      ++cursor->at;
    }
    copy[size++] = c;
  }

  ++cursor->at;
  *out_name = (SambaStringRef){copy, size};
  return NULL;
}

SambaStatus sambaListingName(SambaListingCursor *cursor, SambaArena *arena,
                             SambaStringRef *out_name) {
  if (!sambaListingAtLineEnd(cursor) && peek(cursor) == '"')
    return quotedName(cursor, arena, out_name);
  size_t start = cursor->at;
  SambaStringRef word = sambaListingWord(cursor);
  if (!sambaListingNameIsBare(word))
    return sambaListingError(cursor, start, "expected a name");
  *out_name = sambaStringRefCopy(arena, word);
  return NULL;
}

SambaStatus sambaListingInteger(SambaListingCursor *cursor, int64_t minimum, int64_t maximum,
                                const char *what, int64_t *out_value) {
  sambaListingAtLineEnd(cursor);
  size_t start = cursor->at;
  bool negative = sambaListingTake(cursor, '-');
  SambaStringRef word = sambaListingWord(cursor);
  char copy[32], *end = copy;
  bool hex = word.size > 2 && word.data[0] == '0' && word.data[1] == 'x';

  if (word.size == 0 || word.size >= sizeof copy - 1 || !isdigit((unsigned char)word.data[0]))
    return sambaListingError(cursor, start, "expected %s, a number", what);
  copy[0] = '-';
  memcpy(copy + 1, word.data, word.size);
  copy[word.size + 1] = '\0';
  errno = 0;
  int64_t value = strtoll(negative ? copy : copy + 1, &end, hex ? 16 : 10);
  if (*end)
    return sambaListingError(cursor, start, "expected %s, a number, found '%.*s'", what,
                             SAMBA_STRING_ARGS(word));
  if (errno || value < minimum || value > maximum)
    return sambaListingError(cursor, start, "%s is %s%.*s, expected %lld to %lld", what,
                             negative ? "-" : "", SAMBA_STRING_ARGS(word), (long long)minimum,
                             (long long)maximum);
  *out_value = value;

  return NULL;
}
