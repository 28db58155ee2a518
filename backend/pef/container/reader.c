/* Reads a PEF: container, tables with their checksums, records into structs. Every offset, size,
 * count and index is compared with what the file holds before it is used; sambaPefCheck then looks
 * at what they mean. */
#include "backend/pef/container/reader.h"

#include "backend/pef/container/checksum.h"
#include "backend/pef/container/file.h"
#include "backend/pef/pef.h"
#include "backend/pef/pef_check.h"
#include "backend/pef/schema.h"
#include "support/file/input_file.h"
#include "support/file/path.h"
#include "support/text/escape.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "PEF records are read and written on little-endian hosts");

/* The bytes of one table or blob. */
typedef struct Part {
  bool present;
  uint32_t record_bytes;
  uint64_t count;
  const uint8_t *records;
} Part;

typedef struct Reader {
  SambaPef *pef;
  const char *path;
  Part tables[SAMBA_PEF_TABLE_COUNT];
  Part blobs[SAMBA_PEF_BLOB_COUNT];
  char *arrays[SAMBA_PEF_TABLE_COUNT];   /* all records of a table */
  uint64_t taken[SAMBA_PEF_TABLE_COUNT]; /* children that have a parent */
} Reader;

static const char *quote(Reader *reader, SambaStringRef text) {
  return sambaStringEscape(&reader->pef->arena, text).data;
}

/* Reads and verifies one section of records; `least`: bytes of a record in version 1.0. */
static SambaStatus readPart(Reader *reader, const SambaElfSection *section, uint32_t least,
                            Part *out_part) {
  const char *path = reader->path;
  const char *name = quote(reader, section->name);

  if (out_part->present)
    return sambaStatusMake(SAMBA_INVALID, "%s: section %s is there twice", path, name);
  if (section->bytes < SAMBA_PEF_TABLE_HEADER_BYTES || section->bytes > SAMBA_PEF_MAX_TABLE_BYTES)
    return sambaStatusMake(SAMBA_INVALID, "%s: section %s has %llu bytes, expected %d to %llu",
                           path, name, (unsigned long long)section->bytes,
                           SAMBA_PEF_TABLE_HEADER_BYTES,
                           (unsigned long long)SAMBA_PEF_MAX_TABLE_BYTES);
  uint8_t *bytes = sambaArenaAllocate(&reader->pef->arena, section->bytes);
  SAMBA_RETURN_IF_ERROR(
      sambaPefFileReadAt(reader->pef->file, name, section->offset, bytes, section->bytes));
  SambaPefTableHeader header;
  memcpy(&header, bytes, sizeof header);
  if (memcmp(header.magic, SAMBA_PEF_TABLE_MAGIC, sizeof header.magic) != 0)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: section %s does not start with \"" SAMBA_PEF_TABLE_MAGIC "\"", path,
                           name);
  uint64_t size = section->bytes - SAMBA_PEF_TABLE_HEADER_BYTES;
  if (header.record_bytes < least || header.count > size ||
      header.count * header.record_bytes != size || header.count >= SAMBA_PEF_NONE)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: section %s says %llu records of %u bytes, but holds %llu bytes, "
                           "and a record has at least %u",
                           path, name, (unsigned long long)header.count, header.record_bytes,
                           (unsigned long long)size, least);
  uint8_t digest[SAMBA_PEF_DIGEST_BYTES];
  memset(bytes + offsetof(SambaPefTableHeader, checksum), 0, sizeof header.checksum);
  sambaDigestCompute(bytes, section->bytes, digest);
  if (memcmp(digest, header.checksum, sizeof digest) != 0)
    return sambaStatusMake(
        SAMBA_INVALID,
        "%s: the checksum of section %s is wrong: the file is damaged; copy or compile it again",
        path, name);
  *out_part = (Part){true, header.record_bytes, header.count, bytes + SAMBA_PEF_TABLE_HEADER_BYTES};

  return NULL;
}

/* The version comes first: a newer format may differ in everything else. */
static SambaStatus checkVersion(Reader *reader, const SambaElfSection *sections, uint32_t count) {
  const char *name = SAMBA_PEF_SECTION_PREFIX "headers";
  for (uint32_t i = 0; i < count; ++i) {
    if (!sambaStringRefEqualC(sections[i].name, name))
      continue;
    uint32_t version[2];
    if (sections[i].bytes < SAMBA_PEF_TABLE_HEADER_BYTES + sizeof version)
      return sambaStatusMake(SAMBA_INVALID, "%s: section %s has %llu bytes, too few for a version",
                             reader->path, name, (unsigned long long)sections[i].bytes);
    SAMBA_RETURN_IF_ERROR(sambaPefFileReadAt(reader->pef->file, name,
                                             sections[i].offset + SAMBA_PEF_TABLE_HEADER_BYTES,
                                             version, sizeof version));
    if (version[0] > SAMBA_PEF_MAJOR)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "%s: format version %u.%u is newer than %d.%d, the newest this "
                             "program reads; use a newer Samba, or "
                             "compile again with this one",
                             reader->path, version[0], version[1], SAMBA_PEF_MAJOR,
                             SAMBA_PEF_MINOR);
    if (version[0] < 1)
      return sambaStatusMake(SAMBA_INVALID, "%s: format version %u.%u does not exist", reader->path,
                             version[0], version[1]);
    if (version[0] < SAMBA_PEF_MAJOR)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "%s: format version %u.%u is older than %d.0, the oldest this program "
                             "reads; compile again with this one",
                             reader->path, version[0], version[1], SAMBA_PEF_MAJOR);
    return NULL;
  }

  return sambaStatusMake(SAMBA_INVALID, "%s: not a PEF: it is an ELF file without a section %s",
                         reader->path, name);
}

/* A section in our name space that this version does not know. */
static SambaStatus readUnknown(Reader *reader, const SambaElfSection *section) {
  const char *name = quote(reader, section->name);
  SambaPefTableHeader header;

  if (section->bytes < sizeof header)
    return sambaStatusMake(SAMBA_INVALID, "%s: section %s has %llu bytes, expected at least %d",
                           reader->path, name, (unsigned long long)section->bytes,
                           SAMBA_PEF_TABLE_HEADER_BYTES);
  SAMBA_RETURN_IF_ERROR(
      sambaPefFileReadAt(reader->pef->file, name, section->offset, &header, sizeof header));
  if (memcmp(header.magic, SAMBA_PEF_TABLE_MAGIC, sizeof header.magic) != 0)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: section %s does not start with \"" SAMBA_PEF_TABLE_MAGIC "\"",
                           reader->path, name);
  if (header.flags & SAMBA_PEF_TABLE_REQUIRED)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "%s: section %s is required to understand this file, but this program "
                           "does not know it; use a newer "
                           "Samba, or compile again with this one",
                           reader->path, name);
  return NULL;
}

static SambaStatus readParts(Reader *reader, const SambaElfSection *sections, uint32_t count) {
  size_t prefix = strlen(SAMBA_PEF_SECTION_PREFIX);
  for (uint32_t i = 0; i < count; ++i) {
    const SambaElfSection *section = &sections[i];
    if (section->name.size < prefix ||
        memcmp(section->name.data, SAMBA_PEF_SECTION_PREFIX, prefix) != 0)
      continue; /* the container's own, or a note of another program */
    SambaStringRef rest = {section->name.data + prefix, section->name.size - prefix};
    if (sambaStringRefEqualC(section->name, SAMBA_PEF_WEIGHTS_NAME)) {
      if (reader->pef->file->weights_offset)
        return sambaStatusMake(SAMBA_INVALID,
                               "%s: section \"" SAMBA_PEF_WEIGHTS_NAME "\" is there twice",
                               reader->path);
      reader->pef->file->weights_offset = section->offset;
      reader->pef->file->weights_bytes = section->bytes;
      continue;
    }

    bool known = false;
    for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT && !known; ++t)
      if (sambaStringRefEqualC(rest, sambaPefTable(t)->plural)) {
        SAMBA_RETURN_IF_ERROR(
            readPart(reader, section, sambaPefTable(t)->record_bytes, &reader->tables[t]));
        known = true;
      }
    for (uint32_t b = 0; b < SAMBA_PEF_BLOB_COUNT && !known; ++b)
      if (sambaStringRefEqualC(section->name, sambaPefBlobName(b))) {
        SAMBA_RETURN_IF_ERROR(readPart(reader, section, 1, &reader->blobs[b]));
        reader->pef->file->blob_offsets[b] = section->offset + SAMBA_PEF_TABLE_HEADER_BYTES;
        reader->pef->file->blob_data[b] = reader->blobs[b].records;
        known = true;
      }
    if (!known)
      SAMBA_RETURN_IF_ERROR(readUnknown(reader, section));
  }

  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t) {
    const SambaPefTable *table = sambaPefTable(t);
    if (!reader->tables[t].present && table->required)
      return sambaStatusMake(SAMBA_INVALID,
                             "%s: section \"" SAMBA_PEF_SECTION_PREFIX "%s\" is missing",
                             reader->path, table->plural);
    if (table->place == SAMBA_PEF_PLACE_ONE && reader->tables[t].count != 1)
      return sambaStatusMake(
          SAMBA_INVALID,
          "%s: section \"" SAMBA_PEF_SECTION_PREFIX "%s\" has %llu records, expected exactly one",
          reader->path, table->plural, (unsigned long long)reader->tables[t].count);
  }

  return NULL;
}

static uint32_t load32(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}
static uint64_t load64(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/* A range of a blob section; the result is checked to lie within it. */
static bool blobRange(const Reader *reader, SambaPefBlob blob, uint64_t offset, uint64_t size,
                      const uint8_t **out_data) {
  const Part *part = &reader->blobs[blob];
  if (offset > part->count || size > part->count - offset)
    return false;
  *out_data = part->records + offset;
  return true;
}

/* A field of a record while it is decoded. */
typedef struct FieldPlace {
  const SambaPefTable *table;
  uint32_t index; /* of the record */
  const SambaPefField *field;
  const uint8_t *from; /* in the file */
  char *record;        /* the struct */
} FieldPlace;

static SambaStatus decodeString(Reader *reader, const FieldPlace *place, char *to) {
  uint64_t offset = load32(place->from);
  uint64_t size = load32(place->from + 4);
  const uint8_t *data = NULL;
  SambaStringRef text = sambaStringRef("");

  if (size &&
      (!blobRange(reader, SAMBA_PEF_BLOB_STRINGS, offset, size + 1, &data) || data[size] != 0))
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: %s %u: %s (offset %llu, %llu bytes and a zero) does not lie within "
                           "the string pool of %llu bytes",
                           reader->path, place->table->singular, place->index, place->field->name,
                           (unsigned long long)offset, (unsigned long long)size,
                           (unsigned long long)reader->blobs[SAMBA_PEF_BLOB_STRINGS].count);
  if (size)
    text = (SambaStringRef){(const char *)data, size};
  memcpy(to, &text, sizeof text);
  return NULL;
}

static SambaStatus decodeBytes(Reader *reader, const FieldPlace *place, char *to) {
  const SambaPefField *field = place->field;
  uint64_t offset = load64(place->from);
  SambaPefBytes bytes = {.size = load64(place->from + 8)};
  if (!blobRange(reader, field->target, offset, bytes.size, &bytes.data))
    return sambaStatusMake(
        SAMBA_INVALID,
        "%s: %s %u: %s (offset %llu, %llu bytes) does not lie within %s of %llu bytes",
        reader->path, place->table->singular, place->index, field->name, (unsigned long long)offset,
        (unsigned long long)bytes.size, sambaPefBlobName(field->target),
        (unsigned long long)reader->blobs[field->target].count);
  memcpy(to, &bytes, sizeof bytes);
  return NULL;
}

static SambaStatus decodeChildren(Reader *reader, const FieldPlace *place, char *to) {
  const SambaPefField *field = place->field;
  uint32_t first = load32(place->from);
  uint32_t count = load32(place->from + 4);
  uint64_t *taken = &reader->taken[field->target];
  uint64_t there = reader->tables[field->target].count;
  char *children = NULL;

  if (first != *taken || count > there - first)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: %s %u: %s are records %u and the %u from there, expected to start "
                           "at %llu and to lie within %llu",
                           reader->path, place->table->singular, place->index, field->name, first,
                           count, (unsigned long long)*taken, (unsigned long long)there);
  *taken += count;
  if (count)
    children =
        reader->arrays[field->target] + (size_t)first * sambaPefTable(field->target)->struct_bytes;
  memcpy(to, &children, sizeof children);
  memcpy(place->record + field->count_offset, &count, sizeof count);
  return NULL;
}

static SambaStatus decodeField(Reader *reader, const FieldPlace *place) {
  char *to = place->record + place->field->offset;
  memcpy(to, place->from, sambaPefFieldPlainBytes(place->field));
  switch ((SambaPefFieldKind)place->field->kind) {
  case SAMBA_PEF_FIELD_STRING:
    return decodeString(reader, place, to);
  case SAMBA_PEF_FIELD_BYTES:
    return decodeBytes(reader, place, to);
  case SAMBA_PEF_FIELD_CHILDREN:
    return decodeChildren(reader, place, to);
  default:
    return NULL;
  }
}

static SambaStatus decodeTable(Reader *reader, uint32_t id) {
  const SambaPefTable *table = sambaPefTable(id);
  const Part *part = &reader->tables[id];
  for (uint32_t i = 0; i < part->count; ++i) {
    char *record = reader->arrays[id] + (size_t)i * table->struct_bytes;
    sambaPefRecordInitialize(table, record);
    FieldPlace place = {.table = table,
                        .index = i,
                        .from = part->records + (uint64_t)i * part->record_bytes,
                        .record = record};
    for (uint32_t f = 0; f < table->field_count; ++f) {
      place.field = &table->fields[f];
      SAMBA_RETURN_IF_ERROR(decodeField(reader, &place));
      place.from += sambaPefFieldBytes(place.field);
    }
  }
  return NULL;
}

static SambaStatus decodeTables(Reader *reader) {
  SambaPef *pef = reader->pef;
  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t)
    reader->arrays[t] = sambaArenaAllocate(
        &pef->arena, sambaArraySize(reader->tables[t].count, sambaPefTable(t)->struct_bytes));

  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t) {
    const SambaPefTable *table = sambaPefTable(t);
    SAMBA_RETURN_IF_ERROR(decodeTable(reader, t));
    uint32_t count = (uint32_t)reader->tables[t].count;
    if (table->place == SAMBA_PEF_PLACE_CHILD) {
      if (reader->taken[t] != count) /* parents come first in the order of tables */
        return sambaStatusMake(SAMBA_INVALID, "%s: %u %s, but only %llu of them belong to a record",
                               reader->path, count, table->plural,
                               (unsigned long long)reader->taken[t]);
    } else if (table->place == SAMBA_PEF_PLACE_ONE) {
      memcpy((char *)pef + table->offset, reader->arrays[t], table->struct_bytes);
    } else {
      memcpy((char *)pef + table->offset, &reader->arrays[t], sizeof reader->arrays[t]);
      memcpy((char *)pef + table->count_offset, &count, sizeof count);
    }
  }

  return NULL;
}

/* What only the container knows: blobs lie within the weights, trace digests agree. */
static SambaStatus checkData(Reader *reader) {
  SambaPef *pef = reader->pef;
  for (uint32_t i = 0; i < pef->symbols_count; ++i) {
    const SambaPefSymbol *symbol = &pef->symbols[i];
    uint64_t there = pef->file->weights_bytes;
    if (symbol->init == SAMBA_PEF_INIT_BLOB &&
        (symbol->init_offset > there || symbol->init_bytes > there - symbol->init_offset))
      return sambaStatusMake(SAMBA_INVALID,
                             "%s: symbol %u %s: its data (offset %llu, %llu bytes) does not lie "
                             "within the weights of %llu bytes",
                             reader->path, i, quote(reader, symbol->name),
                             (unsigned long long)symbol->init_offset,
                             (unsigned long long)symbol->init_bytes, (unsigned long long)there);
  }

  for (uint32_t i = 0; i < pef->graphs_count; ++i) {
    const SambaPefGraph *graph = &pef->graphs[i];
    uint8_t digest[SAMBA_PEF_DIGEST_BYTES] = {0};
    if (graph->trace.size)
      sambaDigestCompute(graph->trace.data, graph->trace.size, digest);
    if (graph->trace.size && memcmp(digest, graph->trace_digest, sizeof digest) != 0)
      return sambaStatusMake(SAMBA_INVALID,
                             "%s: graph %u %s: trace_digest is not that of its trace record",
                             reader->path, i, quote(reader, graph->name));
  }

  return NULL;
}

/* Reads what `file` tells of, which is closed with the PEF, or at once when that is refused. */
static SambaStatus readPef(const SambaPefFile *file, SambaStringRef folder, SambaPef **out_pef) {
  SambaPef *pef = sambaPefCreate();
  const char *path = file->path;
  pef->file = SAMBA_ARENA_NEW(&pef->arena, SambaPefFile);
  *pef->file = *file;
  pef->close_file = sambaPefFileClose;
  pef->file->path = sambaStringRefCopy(&pef->arena, sambaStringRef(path)).data;
  pef->file->folder = sambaStringRefCopy(&pef->arena, folder).data;

  Reader reader = {.pef = pef, .path = pef->file->path};
  SambaElfSection *sections = NULL;
  uint32_t count = 0;
  SambaStatus status = sambaElfRead(pef->file, &pef->arena, &sections, &count);
  if (!status)
    status = checkVersion(&reader, sections, count);
  if (!status)
    status = readParts(&reader, sections, count);
  if (!status)
    status = decodeTables(&reader);
  if (!status)
    status = sambaStatusAnnotate(sambaPefCheck(pef), "%s", path);
  if (!status)
    status = checkData(&reader);
  if (status) {
    sambaPefDestroy(pef);
    return status;
  }

  *out_pef = pef;
  return NULL;
}

SambaStatus sambaPefOpen(const char *path, SambaPef **out_pef) {
  SambaPefFile file = {.path = path};
  SAMBA_RETURN_IF_ERROR(sambaInputFileOpen(path, &file.fd, &file.bytes));
  return readPef(&file, sambaPathFolder(path), out_pef);
}

SambaStatus sambaPefOpenMemory(const char *name, const void *data, size_t size,
                               SambaPef **out_pef) {
  SambaPefFile file = {.fd = -1, .memory = data, .path = name, .bytes = size};
  return readPef(&file, sambaStringRef(""), out_pef);
}
