/* A PEF as text: one statement per record, fields as the schema says; see objdump.h. */
#include "backend/pef/container/file.h"
#include "backend/pef/container/initial_data.h"
#include "backend/pef/schema.h"
#include "support/container/string_map.h"
#include "support/text/escape.h"
#include "tools/samba-objdump/objdump.h"

#include <stdlib.h>

typedef struct Printer {
  FILE *out;
  const SambaPef *pef;
  const char *path;
  SambaArena arena; /* emptied after each statement */
  /* Names that stand for exactly one record of their table; others are referred to by number. */
  SambaStringMap names[SAMBA_PEF_TABLE_COUNT];
} Printer;

/* The field `name`, which is printed after the keyword; NULL when the table has none. */
static const SambaPefField *nameField(const SambaPefTable *table) {
  for (uint32_t f = 0; f < table->field_count; ++f)
    if (strcmp(table->fields[f].name, "name") == 0 &&
        table->fields[f].kind == SAMBA_PEF_FIELD_STRING)
      return &table->fields[f];
  return NULL;
}

static SambaStringRef recordName(const SambaPef *pef, SambaPefTableId id, uint32_t index) {
  const SambaPefTable *table = sambaPefTable(id);
  const SambaPefField *field = nameField(table);
  uint32_t count;
  const char *records = sambaPefTableRecords(pef, id, &count);
  return field && index < count ? *(const SambaStringRef *)sambaPefFieldAt(
                                      records + (size_t)index * table->struct_bytes, field)
                                : sambaStringRef("");
}

static void collectNames(Printer *printer) {
  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t) {
    uint32_t count;
    sambaPefTableRecords(printer->pef, t, &count);
    for (uint32_t i = 0; i < count && nameField(sambaPefTable(t)); ++i)
      sambaStringMapInsert(&printer->names[t], recordName(printer->pef, t, i), i, NULL);
  }
}

static void printText(Printer *printer, SambaStringRef text) {
  fputs(sambaStringEscape(&printer->arena, text).data, printer->out);
}

/* The first record of a name is referred to by it, all others by number. */
static void printReference(Printer *printer, SambaPefTableId id, uint32_t index) {
  SambaStringRef name = recordName(printer->pef, id, index);
  uint32_t first;
  if (name.size && sambaStringMapGet(&printer->names[id], name, &first) && first == index)
    printText(printer, name);
  else
    fprintf(printer->out, "%u", index);
}

static void printHex(FILE *out, const uint8_t *data, uint64_t size) {
  fputc('"', out);
  for (uint64_t i = 0; i < size; ++i)
    fprintf(out, "%02x", data[i]);
  fputc('"', out);
}

static void printIncbin(Printer *printer, const char *path, uint64_t offset, uint64_t size) {
  fputs(".incbin ", printer->out);
  printText(printer, sambaStringRef(path));
  fprintf(printer->out, ", %llu, %llu", (unsigned long long)offset, (unsigned long long)size);
}

static void printBytes(Printer *printer, const SambaPefField *field, const SambaPefBytes *bytes) {
  const SambaPefFile *file = printer->pef->file;
  if (bytes->size <= OBJDUMP_INLINE_BYTES || !file) {
    fputs("hex ", printer->out);
    printHex(printer->out, bytes->data, bytes->size);
  } else {
    printIncbin(printer, printer->path,
                file->blob_offsets[field->target] +
                    (uint64_t)(bytes->data - file->blob_data[field->target]),
                bytes->size);
  }
}

static void printFlags(FILE *out, const SambaPefEnumerator *values, uint32_t flags) {
  const char *between = "";
  for (; values->name; ++values)
    if (flags & values->value) {
      fprintf(out, "%s%s", between, values->name);
      between = " | ";
    }
}

static bool isDefault(const SambaPefField *field, const void *at, const void *record) {
  static const uint8_t zeros[SAMBA_PEF_DIGEST_BYTES];
  switch ((SambaPefFieldKind)field->kind) {
  case SAMBA_PEF_FIELD_OPTIONAL:
    return *(const uint32_t *)at == SAMBA_PEF_NONE;
  case SAMBA_PEF_FIELD_STRING:
    return ((const SambaStringRef *)at)->size == 0;
  case SAMBA_PEF_FIELD_BYTES:
    return ((const SambaPefBytes *)at)->size == 0;
  case SAMBA_PEF_FIELD_CHILDREN:
    return sambaPefFieldCount(record, field) == 0;
  case SAMBA_PEF_FIELD_U64:
    return *(const uint64_t *)at == 0;
  case SAMBA_PEF_FIELD_DIGEST:
    return memcmp(at, zeros, sizeof zeros) == 0;
  case SAMBA_PEF_FIELD_U32:
  case SAMBA_PEF_FIELD_FLAGS:
    return *(const uint32_t *)at == 0;
  case SAMBA_PEF_FIELD_ENUM: /* always said, for the reader; so are references */
  case SAMBA_PEF_FIELD_DTYPE:
  case SAMBA_PEF_FIELD_INDEX:
    return false;
  default:
    return true;
  }
}

static void printFields(Printer *printer, const SambaPefTable *table, const void *record,
                        const char *before, const char *between, const SambaPefField *skipped);

static void printChildren(Printer *printer, const SambaPefField *field, const void *record);

static void printValue(Printer *printer, const SambaPefField *field, const void *record) {
  const void *at = sambaPefFieldAt(record, field);
  FILE *out = printer->out;

  switch ((SambaPefFieldKind)field->kind) {
  case SAMBA_PEF_FIELD_U32:
    fprintf(out, "%u", *(const uint32_t *)at);
    break;
  case SAMBA_PEF_FIELD_U64:
    fprintf(out, "%llu", (unsigned long long)(*(const uint64_t *)at));
    break;
  case SAMBA_PEF_FIELD_STRING:
    printText(printer, *(const SambaStringRef *)at);
    break;
  case SAMBA_PEF_FIELD_ENUM:
    fputs(sambaPefEnumeratorName(field->values, *(const uint32_t *)at), out);
    break;
  case SAMBA_PEF_FIELD_FLAGS:
    printFlags(out, field->values, *(const uint32_t *)at);
    break;
  case SAMBA_PEF_FIELD_DTYPE:
    fputs(sambaDTypeName(*(const SambaDType *)at), out);
    break;
  case SAMBA_PEF_FIELD_INDEX:
  case SAMBA_PEF_FIELD_OPTIONAL:
    printReference(printer, field->target, *(const uint32_t *)at);
    break;
  case SAMBA_PEF_FIELD_BYTES:
    printBytes(printer, field, at);
    break;
  case SAMBA_PEF_FIELD_DIGEST:
    printHex(out, at, SAMBA_PEF_DIGEST_BYTES);
    break;
  case SAMBA_PEF_FIELD_CHILDREN:
    printChildren(printer, field, record);
    break;
  default:
    break;
  }
}

static void printFields(Printer *printer, const SambaPefTable *table, const void *record,
                        const char *before, const char *between, const SambaPefField *skipped) {
  const char *prefix = before;
  for (uint32_t f = 0; f < table->field_count; ++f) {
    const SambaPefField *field = &table->fields[f];
    if (field == skipped || isDefault(field, sambaPefFieldAt(record, field), record))
      continue;
    fprintf(printer->out, "%s%s = ", prefix, field->name);
    printValue(printer, field, record);
    prefix = between;
  }
}

/* [1, 784] when a child has one field, else one {field = value, ...} per line. */
static void printChildren(Printer *printer, const SambaPefField *field, const void *record) {
  const SambaPefTable *table = sambaPefTable(field->target);
  const char *children = sambaPefFieldChildren(record, field);
  uint32_t count = sambaPefFieldCount(record, field);

  fputc('[', printer->out);
  for (uint32_t i = 0; i < count; ++i) {
    const char *child = children + (size_t)i * table->struct_bytes;
    if (table->field_count == 1) {
      if (i)
        fputs(i % 16 ? ", " : ",\n    ", printer->out);
      printValue(printer, &table->fields[0], child);
    } else {
      fputs("\n    {", printer->out);
      printFields(printer, table, child, "", ", ", NULL);
      fputc('}', printer->out);
    }
  }

  fputc(']', printer->out);
}

/* Where a symbol's data is: in the PEF. Little data is in the listing itself. */
static SambaStatus printData(Printer *printer, const SambaPefSymbol *symbol) {
  if (symbol->init != SAMBA_PEF_INIT_BLOB)
    return NULL;
  fputs("\n  data = ", printer->out);
  if (symbol->init_bytes > OBJDUMP_INLINE_BYTES) {
    printIncbin(printer, printer->path, printer->pef->file->weights_offset + symbol->init_offset,
                symbol->init_bytes);
    return NULL;
  }
  uint8_t data[OBJDUMP_INLINE_BYTES];
  SAMBA_RETURN_IF_ERROR(sambaPefReadInitPart(printer->pef, symbol, 0, data, symbol->init_bytes));
  fputs("hex ", printer->out);
  printHex(printer->out, data, symbol->init_bytes);
  return NULL;
}

static SambaStatus printSymbol(Printer *printer, const SambaPefTable *table,
                               const SambaPefSymbol *symbol) {
  SambaPefSymbol copy = *symbol;
  if (copy.init == SAMBA_PEF_INIT_BLOB) /* follow from the data */
    copy.init_offset = copy.init_bytes = 0;
  printFields(printer, table, &copy, "\n  ", "\n  ", nameField(table));
  return printData(printer, symbol);
}

static SambaStatus printRecord(Printer *printer, SambaPefTableId id, uint32_t index,
                               const char *record, const SambaMachine *machine) {
  const SambaPefTable *table = sambaPefTable(id);
  const SambaPefField *name = nameField(table);
  bool done = false;

  if (id == SAMBA_PEF_TABLE_Image)
    SAMBA_RETURN_IF_ERROR(objdumpPrintImage(printer->out, printer->pef, index, machine, &done));
  if (done)
    return NULL;
  fprintf(printer->out, "%s ", table->singular);
  if (name) {
    printText(printer, *(const SambaStringRef *)sambaPefFieldAt(record, name));
    fputc(' ', printer->out);
  }

  fputc('{', printer->out);
  if (table->place == SAMBA_PEF_PLACE_ROOT && !name)
    fprintf(printer->out, " # %u", index);
  SambaStatus status = NULL;
  if (id == SAMBA_PEF_TABLE_Symbol)
    status = printSymbol(printer, table, (const SambaPefSymbol *)record);
  else
    printFields(printer, table, record, "\n  ", "\n  ", name);
  fputs("\n}\n", printer->out);

  return status;
}

SambaStatus objdumpPrint(FILE *out, const SambaPef *pef, const char *path) {
  Printer printer = {.out = out, .pef = pef, .path = path};
  SambaMachine machine;

  SAMBA_RETURN_IF_ERROR(sambaPefGetMachine(pef, &machine));
  collectNames(&printer);
  fprintf(out,
          "# A PEF of Samba, format version %u.%u. The encoding is Samba's own, not SambaNova's.\n",
          pef->header.major, pef->header.minor);
  SambaStatus status = NULL;

  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT && !status; ++t) {
    uint32_t count;
    const char *records = sambaPefTableRecords(pef, t, &count);
    for (uint32_t i = 0; i < count && !status; ++i) {
      status = printRecord(&printer, t, i, records + (size_t)i * sambaPefTable(t)->struct_bytes,
                           &machine);
      sambaArenaDestroy(&printer.arena);
    }
  }

  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t)
    sambaStringMapFree(&printer.names[t]);
  sambaArenaDestroy(&printer.arena);
  return status;
}
