/* The tables of tables.def as data: what reader, writer, checker, listing and documentation walk
 * instead of 20 structs. */
#ifndef SAMBA_BACKEND_PEF_SCHEMA_H
#define SAMBA_BACKEND_PEF_SCHEMA_H

#include "backend/pef/pef_types.h"

typedef enum {
  SAMBA_PEF_FIELD_U32,
  SAMBA_PEF_FIELD_U64,
  SAMBA_PEF_FIELD_STRING,
  SAMBA_PEF_FIELD_ENUM,
  SAMBA_PEF_FIELD_FLAGS,
  SAMBA_PEF_FIELD_DTYPE,
  SAMBA_PEF_FIELD_INDEX,
  SAMBA_PEF_FIELD_OPTIONAL,
  SAMBA_PEF_FIELD_CHILDREN,
  SAMBA_PEF_FIELD_BYTES,
  SAMBA_PEF_FIELD_DIGEST,
  SAMBA_PEF_FIELD_SOURCE,
  SAMBA_PEF_FIELD_COUNT
} SambaPefFieldKind;

typedef enum { SAMBA_PEF_PLACE_ONE, SAMBA_PEF_PLACE_ROOT, SAMBA_PEF_PLACE_CHILD } SambaPefPlace;
typedef enum {
  SAMBA_PEF_BLOB_STRINGS,
  SAMBA_PEF_BLOB_CODE,
  SAMBA_PEF_BLOB_TRACES,
  SAMBA_PEF_BLOB_COUNT
} SambaPefBlob;

/* Table numbers: SAMBA_PEF_TABLE_Symbol, ... in the order of tables.def, which is the order in the
 * file. */
typedef enum {
#define PEF_TABLE(Type, singular, plural, place, need, doc) SAMBA_PEF_TABLE_##Type,
#include "backend/pef/fields_none.def"
#include "backend/pef/tables.def"
  SAMBA_PEF_TABLE_COUNT
} SambaPefTableId;

/* An enumeration or set of flags: its values with their names, ended by a NULL name. */
typedef struct SambaPefEnumerator {
  uint32_t value;
  const char *name;
} SambaPefEnumerator;

typedef struct SambaPefField {
  const char *name;
  const char *doc;
  const SambaPefEnumerator *values; /* enum, flags */
  uint16_t offset;                  /* in the struct */
  uint16_t count_offset;            /* children: of their count */
  uint8_t kind;                     /* SambaPefFieldKind */
  uint8_t target; /* index, optional, children: SambaPefTableId; bytes: SambaPefBlob */
} SambaPefField;

typedef struct SambaPefTable {
  const char *singular, *plural, *doc;
  const SambaPefField *fields;
  uint32_t field_count;
  uint32_t struct_bytes;
  uint32_t record_bytes; /* in the file */
  uint16_t offset;       /* in SambaPef; 0 for children */
  uint16_t count_offset; /* in SambaPef; 0 unless it is a root array */
  uint8_t place;         /* SambaPefPlace */
  bool required;
} SambaPefTable;

const SambaPefTable *sambaPefTable(SambaPefTableId table);
/* Bytes of a field in the file. */
uint32_t sambaPefFieldBytes(const SambaPefField *field);
/* The ELF section that holds a blob: ".samba.strings", ... Tables are in ".samba." + plural, data
 * in ".samba.weights". */
const char *sambaPefBlobName(SambaPefBlob blob);
#define SAMBA_PEF_SECTION_PREFIX ".samba."
#define SAMBA_PEF_WEIGHTS_NAME ".samba.weights"

/* The records of a table that is not a child: first record and number. */
char *sambaPefTableRecords(const SambaPef *pef, SambaPefTableId table, uint32_t *out_count);
static inline const void *sambaPefFieldAt(const void *record, const SambaPefField *field) {
  return (const char *)record + field->offset;
}
/* The bytes of a field that has the same bytes in memory and in the file; 0 for all others. */
static inline uint32_t sambaPefFieldPlainBytes(const SambaPefField *field) {
  switch ((SambaPefFieldKind)field->kind) {
  case SAMBA_PEF_FIELD_U32:
  case SAMBA_PEF_FIELD_ENUM:
  case SAMBA_PEF_FIELD_FLAGS:
  case SAMBA_PEF_FIELD_DTYPE:
  case SAMBA_PEF_FIELD_INDEX:
  case SAMBA_PEF_FIELD_OPTIONAL:
    return 4;
  case SAMBA_PEF_FIELD_U64:
    return 8;
  case SAMBA_PEF_FIELD_DIGEST:
    return SAMBA_PEF_DIGEST_BYTES;
  default:
    return 0;
  }
}
static inline uint32_t sambaPefFieldCount(const void *record, const SambaPefField *field) {
  uint32_t count;
  memcpy(&count, (const char *)record + field->count_offset, sizeof count);
  return count;
}
/* The children of a record. */
static inline char *sambaPefFieldChildren(const void *record, const SambaPefField *field) {
  char *children;
  memcpy(&children, (const char *)record + field->offset, sizeof children);
  return children;
}
/* Sets what is not zero in an empty record: optional indices. */
void sambaPefRecordInitialize(const SambaPefTable *table, void *record);
/* Name of an enumerator, NULL when there is none with this value. */
const char *sambaPefEnumeratorName(const SambaPefEnumerator *values, uint32_t value);
/* All bits that have a name. */
uint32_t sambaPefFlagsMask(const SambaPefEnumerator *values);

/* What stands before the records in the ELF section of a table or blob (little-endian; a blob is
 * records of one byte). */
typedef struct SambaPefTableHeader {
  char magic[4];         /* "SPEF" */
  uint32_t flags;        /* bit 0: a reader that does not know the table must refuse the file */
  uint32_t record_bytes; /* grows when fields are appended */
  uint32_t reserved;     /* 0 */
  uint64_t count;
  uint64_t reserved2;                       /* 0 */
  uint8_t checksum[SAMBA_PEF_DIGEST_BYTES]; /* BLAKE3 of the whole section with these bytes 0 */
} SambaPefTableHeader;
enum { SAMBA_PEF_TABLE_REQUIRED = 1, SAMBA_PEF_TABLE_HEADER_BYTES = 64 };
#define SAMBA_PEF_TABLE_MAGIC "SPEF"
_Static_assert(sizeof(SambaPefTableHeader) == SAMBA_PEF_TABLE_HEADER_BYTES,
               "the table header is 64 bytes in the file");

/* Bounds of a sane file; beyond them it is refused before anything is allocated. */
enum { SAMBA_PEF_MAX_ELF_SECTIONS = 1024, SAMBA_PEF_MAX_RANK = 32 };
#define SAMBA_PEF_MAX_TABLE_BYTES ((uint64_t)1 << 31)
/* Layout: weights start at a multiple of 64 KiB in the file; data of 64 KiB and more starts at a
 * page, less at a line. */
enum {
  SAMBA_PEF_WEIGHTS_ALIGNMENT = 65536,
  SAMBA_PEF_PAGE_BYTES = 4096,
  SAMBA_PEF_LINE_BYTES = 64
};

#endif
