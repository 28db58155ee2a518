/* The tables as data, made from tables.def; see schema.h. */
#include "backend/pef/schema.h"

#include <stddef.h>

/* The enumerations. */
#define LISTS(L)                                                                                   \
  L(PARAMETER_TYPES)                                                                               \
  L(PARAMETER_REASONS)                                                                             \
  L(MEMORIES)                                                                                      \
  L(SYMBOL_KINDS)                                                                                  \
  L(SYMBOL_FLAGS)                                                                                  \
  L(LAYOUTS)                                                                                       \
  L(INITS)                                                                                         \
  L(ARGIN_KINDS)                                                                                   \
  L(ARGIN_FLAGS)                                                                                   \
  L(SECTION_TYPES)                                                                                 \
  L(SECTION_FLAGS) L(BINDING_KINDS) L(GRAPH_MODES) L(MAPPINGS) L(NAMINGS) L(OUTPUT_FLAGS)
#define ENUMERATOR(enumerator, value, name) {value, name},
#define L(LIST)                                                                                    \
  static const SambaPefEnumerator values##LIST[] = {SAMBA_PEF_##LIST(ENUMERATOR){0, NULL}};
LISTS(L)
#undef L

/* Bytes in the file and number of fields. */
/* clang-format off */
#define PEF_TABLE(Type, singular, plural, place, need, doc) enum { bytesOf##Type = 0
#define PEF_U32(name, doc) + 4
#define PEF_U64(name, doc) + 8
#define PEF_STRING(name, doc) + 8
#define PEF_ENUM(name, LIST, Enum, doc) + 4
#define PEF_FLAGS(name, LIST, doc) + 4
#define PEF_DTYPE(name, doc) + 4
#define PEF_INDEX(name, Target, doc) + 4
#define PEF_OPTIONAL(name, Target, doc) + 4
#define PEF_CHILDREN(name, Target, doc) + 8
#define PEF_BYTES(name, BLOBS, doc) + 16
#define PEF_DIGEST(name, doc) + 32
#define PEF_END(Type) };
#include "backend/pef/fields_none.def"
#include "backend/pef/tables.def"

#define PEF_TABLE(Type, singular, plural, place, need, doc) enum { fieldsOf##Type = 0
#define PEF_U32(name, doc) + 1
#define PEF_U64(name, doc) + 1
#define PEF_STRING(name, doc) + 1
#define PEF_ENUM(name, LIST, Enum, doc) + 1
#define PEF_FLAGS(name, LIST, doc) + 1
#define PEF_DTYPE(name, doc) + 1
#define PEF_INDEX(name, Target, doc) + 1
#define PEF_OPTIONAL(name, Target, doc) + 1
#define PEF_CHILDREN(name, Target, doc) + 1
#define PEF_BYTES(name, BLOBS, doc) + 1
#define PEF_DIGEST(name, doc) + 1
#define PEF_SOURCE(name) + 1
#define PEF_END(Type) };
#include "backend/pef/fields_none.def"
#include "backend/pef/tables.def"

/* Where the records of a table are in SambaPef. */
#define OFFSET_ONE(singular, plural) offsetof(SambaPef, singular), .count_offset = 0
#define OFFSET_ROOT(singular, plural) \
  offsetof(SambaPef, plural), .count_offset = offsetof(SambaPef, plural##_count)
#define OFFSET_CHILD(singular, plural) 0, .count_offset = 0
#define IS_REQUIRED true
#define IS_OPTIONAL false

#define FIELD(field, fieldKind, ...) \
  {.name = #field, .offset = offsetof(Record, field), \
   .kind = SAMBA_PEF_FIELD_##fieldKind, __VA_ARGS__},
#define PEF_TABLE(Type, singular_, plural_, place_, need, doc_) \
  case SAMBA_PEF_TABLE_##Type: { \
    typedef SambaPef##Type Record; \
    static const struct { \
      SambaPefTable table; \
      SambaPefField fields[fieldsOf##Type]; \
    } it = { \
      {.singular = #singular_, .plural = #plural_, .doc = doc_, .fields = it.fields, \
       .field_count = fieldsOf##Type, \
       .struct_bytes = sizeof(Record), .record_bytes = bytesOf##Type, \
       .offset = OFFSET_##place_(singular_, plural_), \
       .place = SAMBA_PEF_PLACE_##place_, .required = IS_##need}, {
#define PEF_U32(name, text) FIELD(name, U32, .doc = text)
#define PEF_U64(name, text) FIELD(name, U64, .doc = text)
#define PEF_STRING(name, text) FIELD(name, STRING, .doc = text)
#define PEF_ENUM(name, LIST, Enum, text) FIELD(name, ENUM, .doc = text, .values = values##LIST)
#define PEF_FLAGS(name, LIST, text) FIELD(name, FLAGS, .doc = text, .values = values##LIST)
#define PEF_DTYPE(name, text) FIELD(name, DTYPE, .doc = text)
#define PEF_INDEX(name, Target, text) \
  FIELD(name, INDEX, .doc = text, .target = SAMBA_PEF_TABLE_##Target)
#define PEF_OPTIONAL(name, Target, text) \
  FIELD(name, OPTIONAL, .doc = text, .target = SAMBA_PEF_TABLE_##Target)
#define PEF_CHILDREN(name, Target, text) \
  FIELD(name, CHILDREN, .doc = text, .target = SAMBA_PEF_TABLE_##Target, \
        .count_offset = offsetof(Record, name##_count))
#define PEF_BYTES(name, BLOBS, text) \
  FIELD(name, BYTES, .doc = text, .target = SAMBA_PEF_BLOB_##BLOBS)
#define PEF_DIGEST(name, text) FIELD(name, DIGEST, .doc = text)
#define PEF_SOURCE(name) FIELD(name, SOURCE, .doc = NULL)
#define PEF_END(Type) }}; return &it.table; }

const SambaPefTable *sambaPefTable(SambaPefTableId table) {
  switch (table) {
#include "backend/pef/fields_none.def"
#include "backend/pef/tables.def"
  default:
    return NULL;
  }
}

/* clang-format on */

void sambaPefRecordInitialize(const SambaPefTable *table, void *record) {
  uint32_t none = SAMBA_PEF_NONE;
  for (uint32_t i = 0; i < table->field_count; ++i)
    if (table->fields[i].kind == SAMBA_PEF_FIELD_OPTIONAL)
      memcpy((char *)record + table->fields[i].offset, &none, sizeof none);
}

uint32_t sambaPefFieldBytes(const SambaPefField *field) {
  static const uint8_t bytes[SAMBA_PEF_FIELD_COUNT] = {
      [SAMBA_PEF_FIELD_U32] = 4,    [SAMBA_PEF_FIELD_U64] = 8,      [SAMBA_PEF_FIELD_STRING] = 8,
      [SAMBA_PEF_FIELD_ENUM] = 4,   [SAMBA_PEF_FIELD_FLAGS] = 4,    [SAMBA_PEF_FIELD_DTYPE] = 4,
      [SAMBA_PEF_FIELD_INDEX] = 4,  [SAMBA_PEF_FIELD_OPTIONAL] = 4, [SAMBA_PEF_FIELD_CHILDREN] = 8,
      [SAMBA_PEF_FIELD_BYTES] = 16, [SAMBA_PEF_FIELD_DIGEST] = 32,  [SAMBA_PEF_FIELD_SOURCE] = 0,
  };
  return bytes[field->kind];
}

const char *sambaPefBlobName(SambaPefBlob blob) {
  static const char *const names[SAMBA_PEF_BLOB_COUNT] = {".samba.strings", ".samba.code",
                                                          ".samba.traces"};
  return names[blob];
}

char *sambaPefTableRecords(const SambaPef *pef, SambaPefTableId id, uint32_t *out_count) {
  const SambaPefTable *table = sambaPefTable(id);
  const char *base = (const char *)pef;
  *out_count = 0;
  if (table->place == SAMBA_PEF_PLACE_CHILD)
    return NULL;
  if (table->place == SAMBA_PEF_PLACE_ONE) {
    *out_count = 1;
    return (char *)(uintptr_t)(base + table->offset);
  }
  char *records;
  memcpy(out_count, base + table->count_offset, sizeof *out_count);
  memcpy(&records, base + table->offset, sizeof records);
  return records;
}

const char *sambaPefEnumeratorName(const SambaPefEnumerator *values, uint32_t value) {
  for (; values->name; ++values)
    if (values->value == value)
      return values->name;
  return NULL;
}

uint32_t sambaPefFlagsMask(const SambaPefEnumerator *values) {
  uint32_t mask = 0;
  for (; values->name; ++values)
    mask |= values->value;
  return mask;
}

_Static_assert(sizeof(SambaPefSymbolKind) == 4 && sizeof(SambaDType) == 4,
               "enumerations are copied as 32 bits");
