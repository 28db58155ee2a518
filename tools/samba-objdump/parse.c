/* A listing to a PEF; see objdump.h. Two passes over the tokens: the first counts records and
 * learns their names, so that the second can fill arrays of the right size and resolve references
 * forwards. */
#include "backend/listing/listing.h"
#include "backend/pef/container/file.h"
#include "backend/pef/schema.h"
#include "support/container/string_map.h"
#include "support/file/input_file.h"
#include "support/number/dtype.h"
#include "support/text/escape.h"
#include "tools/samba-objdump/lexer.h"
#include "tools/samba-objdump/objdump.h"

#include <stdlib.h>
#include <unistd.h>

/* A section listing, and where the text goes on behind it. */
typedef struct ParsedSection {
  SambaSection *section;
  size_t end;
} ParsedSection;

typedef struct Parser {
  Lexer lexer;
  SambaPef *pef;
  SambaStringMap names[SAMBA_PEF_TABLE_COUNT];
  uint32_t counts[SAMBA_PEF_TABLE_COUNT]; /* records of this table so far */
  SAMBA_ARRAY(ParsedSection) sections;    /* of `image section ..` statements, in their order */
  size_t used;                            /* of these, in the second pass */
  SambaMachine machine;
  bool has_machine, unchecked;
} Parser;

static const SambaPefField *findField(const SambaPefTable *table, SambaStringRef name) {
  for (uint32_t f = 0; f < table->field_count; ++f)
    if (sambaStringRefEqualC(name, table->fields[f].name) &&
        table->fields[f].kind != SAMBA_PEF_FIELD_SOURCE)
      return &table->fields[f];
  return NULL;
}

/* The statement's keyword; goes on after it. */
static SambaStatus parseKeyword(Parser *parser, uint32_t *out_table) {
  Lexer *lexer = &parser->lexer;
  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t)
    if (sambaPefTable(t)->place != SAMBA_PEF_PLACE_CHILD && lexer->token.kind == TOKEN_NAME &&
        lexerIs(lexer, sambaPefTable(t)->singular)) {
      lexerNext(lexer);
      *out_table = t;
      return NULL;
    }
  return lexerExpected(lexer, "a statement (header, machine, region, symbol, argin, image, "
                              "section, call, graph or option)");
}

static bool hasName(const SambaPefTable *table) {
  return findField(table, sambaStringRef("name")) != NULL;
}

/* With the current token `section` of an `image` statement: reads the section listing. */
static SambaStatus parseSection(Parser *parser, ParsedSection *out_parsed) {
  Lexer *lexer = &parser->lexer;
  out_parsed->end = (size_t)(lexer->token.text.data - lexer->text.data);
  SambaStatus status =
      sambaSectionParse(lexer->text, &out_parsed->end, &parser->pef->arena, &out_parsed->section);
  if (status)
    return sambaStatusAnnotate(status, "%s", lexer->path);
  lexerSeek(lexer, out_parsed->end);
  return NULL;
}

/* First pass. */
static SambaStatus countRecords(Parser *parser) {
  Lexer *lexer = &parser->lexer;
  while (lexer->token.kind != TOKEN_END) {
    uint32_t id = 0;
    Token keyword = lexer->token;
    SAMBA_RETURN_IF_ERROR(parseKeyword(parser, &id));
    const SambaPefTable *table = sambaPefTable(id);
    SambaStringRef name, body;
    uint32_t line;
    if (id == SAMBA_PEF_TABLE_Image && lexerIs(lexer, "section")) {
      ParsedSection parsed;
      SAMBA_RETURN_IF_ERROR(parseSection(parser, &parsed));
      sambaArrayAppend(&parser->sections, parsed);
      sambaStringMapInsert(&parser->names[id], sambaStringRef(parsed.section->name),
                           parser->counts[id]++, NULL);
      continue;
    }
    if (hasName(table)) {
      SAMBA_RETURN_IF_ERROR(lexerString(lexer, &name));
      sambaStringMapInsert(&parser->names[id], name, parser->counts[id], NULL);
    }
    if (lexerIs(lexer, "{"))
      SAMBA_RETURN_IF_ERROR(lexerBody(lexer, &body, &line));
    if (table->place == SAMBA_PEF_PLACE_ONE && parser->counts[id])
      return sambaStatusMake(SAMBA_INVALID, "%s:%u: a second `%s`, expected at most one",
                             lexer->path, keyword.line, table->singular);
    ++parser->counts[id];
  }

  return NULL;
}

static void allocateRecords(Parser *parser) {
  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t) {
    const SambaPefTable *table = sambaPefTable(t);
    if (table->place != SAMBA_PEF_PLACE_ROOT)
      continue;
    char *records = sambaArenaAllocate(&parser->pef->arena,
                                       sambaArraySize(parser->counts[t], table->struct_bytes));
    memcpy((char *)parser->pef + table->offset, &records, sizeof records);
    memcpy((char *)parser->pef + table->count_offset, &parser->counts[t], sizeof parser->counts[t]);
  }
}

static SambaStatus parseEnumerator(Parser *parser, const SambaPefField *field,
                                   uint32_t *out_value) {
  char names[512] = "one of";
  size_t size = strlen(names);
  for (const SambaPefEnumerator *value = field->values; value->name; ++value) {
    if (lexerTake(&parser->lexer, value->name)) {
      *out_value = value->value;
      return NULL;
    }
    size += (size_t)snprintf(names + size, sizeof names - size, "%s %s",
                             value == field->values ? "" : ",", value->name);
  }
  return lexerExpected(&parser->lexer, names);
}

static SambaStatus parseFlags(Parser *parser, const SambaPefField *field, uint32_t *out_flags) {
  uint32_t flag;
  *out_flags = 0;
  do {
    SAMBA_RETURN_IF_ERROR(parseEnumerator(parser, field, &flag));
    *out_flags |= flag;
  } while (lexerTake(&parser->lexer, "|"));
  return NULL;
}

static SambaStatus parseDType(Parser *parser, SambaDType *out_dtype) {
  Lexer *lexer = &parser->lexer;
  *out_dtype = sambaDTypeFromName(lexer->token.text.data, lexer->token.text.size);
  if (lexer->token.kind != TOKEN_NAME || *out_dtype == SAMBA_DTYPE_COUNT)
    return lexerExpected(lexer, "a dtype (f32, bf16, f16, i1, i8, ui8, i16, i32 or i64)");
  lexerNext(lexer);
  return NULL;
}

static SambaStatus parse32(Parser *parser, uint32_t *out_value) {
  uint64_t value;
  Lexer before = parser->lexer;
  SAMBA_RETURN_IF_ERROR(lexerNumber(&parser->lexer, &value));
  if (value > UINT32_MAX)
    return lexerExpected(&before, "a number below 2^32");
  *out_value = (uint32_t)value;
  return NULL;
}

static SambaStatus parseReference(Parser *parser, SambaPefTableId target, uint32_t *out_index) {
  Lexer *lexer = &parser->lexer;
  if (lexer->token.kind != TOKEN_STRING)
    return parse32(parser, out_index);
  Lexer before = *lexer;
  SambaStringRef name;
  SAMBA_RETURN_IF_ERROR(lexerString(lexer, &name));
  if (!sambaStringMapGet(&parser->names[target], name, out_index))
    return lexerExpected(&before, sambaArenaFormat(lexer->arena, "the name of a %s",
                                                   sambaPefTable(target)->singular));
  return NULL;
}

static SambaStatus parseHex(Parser *parser, SambaPefBytes *out_bytes) {
  Lexer before = parser->lexer;
  SambaStringRef text;

  SAMBA_RETURN_IF_ERROR(lexerString(&parser->lexer, &text));
  uint8_t *data = sambaArenaAllocate(&parser->pef->arena, text.size / 2);
  bool valid = text.size % 2 == 0;
  for (size_t i = 0; i + 1 < text.size && valid; i += 2) {
    int high = sambaHexDigit(text.data[i]);
    int low = sambaHexDigit(text.data[i + 1]);
    valid = high >= 0 && low >= 0;
    data[i / 2] = (uint8_t)(valid ? high * 16 + low : 0);
  }

  if (!valid)
    return lexerExpected(&before, "an even number of hexadecimal digits in quotes");
  *out_bytes = (SambaPefBytes){data, text.size / 2};
  return NULL;
}

/* `.incbin "FILE", OFFSET, SIZE`, after the keyword. */
static SambaStatus parseIncbin(Parser *parser, const char **out_path, uint64_t *out_offset,
                               uint64_t *out_size) {
  Lexer *lexer = &parser->lexer;
  Lexer before = *lexer;
  SambaStringRef path;
  SAMBA_RETURN_IF_ERROR(lexerString(lexer, &path));
  if (memchr(path.data, 0, path.size))
    return lexerExpected(&before, "a path without zero bytes");
  SAMBA_RETURN_IF_ERROR(lexerExpect(lexer, ","));
  SAMBA_RETURN_IF_ERROR(lexerNumber(lexer, out_offset));
  SAMBA_RETURN_IF_ERROR(lexerExpect(lexer, ","));
  SAMBA_RETURN_IF_ERROR(lexerNumber(lexer, out_size));
  *out_path = path.data;
  return NULL;
}

static SambaStatus parseBytes(Parser *parser, SambaPefBytes *out_bytes) {
  Lexer *lexer = &parser->lexer;
  if (lexerTake(lexer, "hex"))
    return parseHex(parser, out_bytes);
  if (!lexerTake(lexer, ".incbin"))
    return lexerExpected(lexer, "`hex \"..\"` or `.incbin \"FILE\", OFFSET, SIZE`");
  const char *path;
  uint64_t offset, size, bytes;
  int fd;
  uint32_t line = lexer->token.line;

  SAMBA_RETURN_IF_ERROR(parseIncbin(parser, &path, &offset, &size));
  SambaStatus status = sambaInputFileOpen(path, &fd, &bytes);
  if (!status) {
    if (offset > bytes || size > bytes - offset || size > SAMBA_PEF_MAX_TABLE_BYTES) {
      status =
          sambaStatusMake(SAMBA_INVALID, "%s: bytes %llu to %llu do not exist; the file has %llu",
                          path, (unsigned long long)offset, (unsigned long long)(offset + size),
                          (unsigned long long)bytes);
    } else {
      uint8_t *data = sambaArenaAllocate(&parser->pef->arena, size);
      status = sambaPefFileRead(fd, path, ".incbin", offset, data, size);
      *out_bytes = (SambaPefBytes){data, size};
    }
    close(fd);
  }

  return sambaStatusAnnotate(status, "%s:%u", lexer->path, line);
}

static SambaStatus parseValue(Parser *parser, const SambaPefField *field, char *record);

/* [value, ...] or [{field = value, ...}, ...]; commas are optional everywhere. */
static SambaStatus parseChildren(Parser *parser, const SambaPefField *field, char *record) {
  Lexer *lexer = &parser->lexer;
  const SambaPefTable *table = sambaPefTable(field->target);

  SAMBA_ARRAY(char) records = {0};
  SambaStatus status = lexerExpect(lexer, "[");
  uint32_t count = 0;
  while (!status && !lexerTake(lexer, "]")) {
    sambaArrayReserve(&records, records.size + table->struct_bytes);
    char *child = records.data + records.size;
    records.size += table->struct_bytes;
    ++count;
    memset(child, 0, table->struct_bytes);
    sambaPefRecordInitialize(table, child);
    if (lexerTake(lexer, "{")) {
      while (!status && !lexerTake(lexer, "}")) {
        const SambaPefField *member = findField(table, lexer->token.text);
        if (!member || lexer->token.kind != TOKEN_NAME) {
          status = lexerExpected(
              lexer, sambaArenaFormat(lexer->arena, "a field of %s, or `}`", table->plural));
          break;
        }
        lexerNext(lexer);
        status = lexerExpect(lexer, "=");
        if (!status)
          status = parseValue(parser, member, child);
        lexerTake(lexer, ",");
      }
    } else {
      status = parseValue(parser, &table->fields[0], child);
    }
    lexerTake(lexer, ",");
  }

  if (!status) {
    char *copy = sambaArenaCopy(&parser->pef->arena, records.data, records.size);
    memcpy(record + field->offset, &copy, sizeof copy);
    memcpy(record + field->count_offset, &count, sizeof count);
  }

  sambaArrayFree(&records);
  return status;
}

static SambaStatus parseValue(Parser *parser, const SambaPefField *field, char *record) {
  void *at = record + field->offset;
  Lexer before = parser->lexer;
  SambaPefBytes bytes;

  switch ((SambaPefFieldKind)field->kind) {
  case SAMBA_PEF_FIELD_U32:
    return parse32(parser, at);
  case SAMBA_PEF_FIELD_U64:
    return lexerNumber(&parser->lexer, at);
  case SAMBA_PEF_FIELD_STRING:
    return lexerString(&parser->lexer, at);
  case SAMBA_PEF_FIELD_ENUM:
    return parseEnumerator(parser, field, at);
  case SAMBA_PEF_FIELD_FLAGS:
    return parseFlags(parser, field, at);
  case SAMBA_PEF_FIELD_DTYPE:
    return parseDType(parser, at);
  case SAMBA_PEF_FIELD_INDEX:
  case SAMBA_PEF_FIELD_OPTIONAL:
    return parseReference(parser, field->target, at);
  case SAMBA_PEF_FIELD_BYTES:
    return parseBytes(parser, at);
  case SAMBA_PEF_FIELD_DIGEST:
    SAMBA_RETURN_IF_ERROR(parseHex(parser, &bytes));
    if (bytes.size != SAMBA_PEF_DIGEST_BYTES)
      return lexerExpected(&before, "a checksum of 64 hexadecimal digits");
    memcpy(at, bytes.data, bytes.size);
    return NULL;
  case SAMBA_PEF_FIELD_CHILDREN:
    return parseChildren(parser, field, record);
  case SAMBA_PEF_FIELD_SOURCE:
  case SAMBA_PEF_FIELD_COUNT:
    break;
  }

  return lexerExpected(&before, "a value");
}

/* [1, 2.5, -3]: elements of the symbol's init_dtype, which must have been given before. */
static SambaStatus parseElements(Parser *parser, SambaPefSymbol *symbol) {
  Lexer *lexer = &parser->lexer;
  SAMBA_ARRAY(uint8_t) data = {0};
  SambaStatus status = lexerExpect(lexer, "[");

  while (!status && !lexerTake(lexer, "]")) {
    bool negative = lexerTake(lexer, "-");
    char digits[64];
    SambaStringRef text = lexer->token.text;
    char *end = digits;
    uint32_t bytes = sambaDTypeBytes(symbol->init_dtype);
    uint64_t bits = 0;
    if (text.size < sizeof digits) {
      memcpy(digits, text.data, text.size);
      digits[text.size] = '\0';
      if (sambaDTypeIsFloat(symbol->init_dtype)) {
        float value = strtof(digits, &end);
        value = negative ? -value : value;
        bits = sambaFloatToBits(symbol->init_dtype, value);
      } else {
        int64_t value = strtoll(digits, &end, 10);
        bits = (uint64_t)(negative ? -value : value);
      }
    }

    if (lexer->token.kind == TOKEN_STRING || end == digits || *end) {
      status = lexerExpected(lexer, sambaArenaFormat(lexer->arena, "a number of dtype %s or `]`",
                                                     sambaDTypeName(symbol->init_dtype)));
      break;
    }

    lexerNext(lexer);
    lexerTake(lexer, ",");
    for (uint32_t b = 0; b < bytes; ++b)
      sambaArrayAppend(&data, (uint8_t)(bits >> 8 * b));
  }

  if (!status) {
    symbol->source.data = sambaArenaCopy(&parser->pef->arena, data.data, data.size);
    symbol->init_bytes = data.size;
  }

  sambaArrayFree(&data);
  return status;
}

/* What has no field of its own: `data` (the init data) and `dtype` (all three at once) of
 * a symbol. */
static SambaStatus parseSymbolExtra(Parser *parser, SambaPefSymbol *symbol, bool *out_done) {
  Lexer *lexer = &parser->lexer;
  *out_done = true;
  if (lexerIs(lexer, "dtype")) {
    lexerNext(lexer);
    SAMBA_RETURN_IF_ERROR(lexerExpect(lexer, "="));
    SAMBA_RETURN_IF_ERROR(parseDType(parser, &symbol->device_dtype));
    symbol->host_dtype = symbol->init_dtype = symbol->device_dtype;
    return NULL;
  }

  *out_done = lexerIs(lexer, "data");
  if (!*out_done)
    return NULL;
  lexerNext(lexer);
  SAMBA_RETURN_IF_ERROR(lexerExpect(lexer, "="));
  if (symbol->init == SAMBA_PEF_INIT_NONE)
    symbol->init = SAMBA_PEF_INIT_BLOB;
  if (lexerIs(lexer, "["))
    return parseElements(parser, symbol);
  if (lexerTake(lexer, ".incbin"))
    return parseIncbin(parser, &symbol->source.path, &symbol->source.offset, &symbol->init_bytes);
  SambaPefBytes bytes;
  SAMBA_RETURN_IF_ERROR(parseBytes(parser, &bytes));
  symbol->source.data = bytes.data;
  symbol->init_bytes = bytes.size;

  return NULL;
}

/* `image section ..`, read in the first pass. */
static SambaStatus finishSection(Parser *parser, SambaPefImage *image) {
  Lexer *lexer = &parser->lexer;
  uint32_t line = lexer->token.line;
  const ParsedSection *parsed = &parser->sections.data[parser->used++];
  lexerSeek(lexer, parsed->end);
  SambaStatus status =
      objdumpFinishImage(parser->pef, &parser->machine, parsed->section, parser->unchecked, image);
  return sambaStatusAnnotate(status, "%s:%u: section '%s'", lexer->path, line,
                             parsed->section->name);
}

static SambaStatus parseRecord(Parser *parser, SambaPefTableId id, char *record) {
  Lexer *lexer = &parser->lexer;
  const SambaPefTable *table = sambaPefTable(id);

  if (hasName(table))
    SAMBA_RETURN_IF_ERROR(lexerString(
        lexer, (SambaStringRef *)(record + findField(table, sambaStringRef("name"))->offset)));
  if (!lexerTake(lexer, "{"))
    return NULL;

  while (!lexerTake(lexer, "}")) {
    bool done = false;
    if (id == SAMBA_PEF_TABLE_Symbol)
      SAMBA_RETURN_IF_ERROR(parseSymbolExtra(parser, (SambaPefSymbol *)record, &done));
    if (done) {
      lexerTake(lexer, ",");
      continue;
    }
    const SambaPefField *field =
        lexer->token.kind == TOKEN_NAME ? findField(table, lexer->token.text) : NULL;
    if (!field)
      return lexerExpected(
          lexer, sambaArenaFormat(lexer->arena, "a field of %s, or `}`", table->singular));
    lexerNext(lexer);
    SAMBA_RETURN_IF_ERROR(lexerExpect(lexer, "="));
    SAMBA_RETURN_IF_ERROR(parseValue(parser, field, record));
    lexerTake(lexer, ",");
  }

  return NULL;
}

/* Second pass. The machine must be known before the first section listing: one statement
 * earlier. */
static SambaStatus parseRecords(Parser *parser) {
  SambaPef *pef = parser->pef;
  while (parser->lexer.token.kind != TOKEN_END) {
    uint32_t id = 0, count;
    Token keyword = parser->lexer.token;
    SAMBA_RETURN_IF_ERROR(parseKeyword(parser, &id));
    const SambaPefTable *table = sambaPefTable(id);
    char *record =
        sambaPefTableRecords(pef, id, &count) + (size_t)parser->counts[id]++ * table->struct_bytes;
    sambaPefRecordInitialize(table, record);
    if (id == SAMBA_PEF_TABLE_Image && !parser->has_machine)
      return sambaStatusMake(SAMBA_INVALID,
                             "%s:%u: expected a `machine` statement before the first image",
                             parser->lexer.path, keyword.line);
    if (id == SAMBA_PEF_TABLE_Image && lexerIs(&parser->lexer, "section"))
      SAMBA_RETURN_IF_ERROR(finishSection(parser, (SambaPefImage *)record));
    else
      SAMBA_RETURN_IF_ERROR(parseRecord(parser, id, record));
    if (id == SAMBA_PEF_TABLE_Machine) {
      SambaStatus status = objdumpCompleteMachine(pef);
      if (!status)
        status = sambaPefGetMachine(pef, &parser->machine);
      if (status)
        return sambaStatusAnnotate(status, "%s:%u", parser->lexer.path, keyword.line);
      parser->has_machine = true;
    }
  }

  if (!parser->has_machine)
    return sambaStatusMake(
        SAMBA_INVALID, "%s: it has no `machine` statement; add one, for example: machine \"tiny\"",
        parser->lexer.path);
  return NULL;
}

SambaStatus objdumpAssemble(const char *path, SambaStringRef text, bool unchecked,
                            SambaPef **out_pef) {
  Parser parser = {.pef = sambaPefCreate(), .unchecked = unchecked};
  lexerStart(&parser.lexer, path, text, 1, &parser.pef->arena);
  SambaStatus status = countRecords(&parser);

  if (!status) {
    allocateRecords(&parser);
    memset(parser.counts, 0, sizeof parser.counts);
    lexerStart(&parser.lexer, path, text, 1, &parser.pef->arena);
    status = parseRecords(&parser);
  }

  if (!status)
    status = sambaStatusAnnotate(objdumpComplete(parser.pef), "%s", path);
  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t)
    sambaStringMapFree(&parser.names[t]);
  sambaArrayFree(&parser.sections);
  if (status) {
    sambaPefDestroy(parser.pef);
    return status;
  }

  *out_pef = parser.pef;
  return NULL;
}
