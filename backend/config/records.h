/* The table of the bit-level records, made from records.def, and the structs that the records are
 * bound to. */
#ifndef SAMBA_BACKEND_CONFIG_RECORDS_H
#define SAMBA_BACKEND_CONFIG_RECORDS_H

#include "backend/section/fabric/fabric.h"
#include "support/text/text.h"

#include <string.h>

enum { SAMBA_IMAGE_VERSION = 3 };

/* What the bits of a section hold: a SambaSection whose streams are flows at ports and entries of
 * switches. */
typedef struct SambaPortFlow {
  uint8_t lane;
  uint16_t flow;
} SambaPortFlow;
typedef struct SambaPortRecord {
  SambaPort port; /* without streams */
  uint32_t kind;  /* SambaStreamKind */
  uint32_t flow_count;
  SambaPortFlow *flows;
} SambaPortRecord;
typedef struct SambaUnitRecord {
  SambaUnit unit; /* without ports */
  SambaPortRecord *inputs, *outputs;
} SambaUnitRecord;
typedef struct SambaSwitchRecord {
  int32_t x, y;
  SambaStreamKind kind;
  uint32_t entry_count;
  SambaSwitchEntry *entries; /* read from bits: without place and kind, which the switch has */
} SambaSwitchRecord;
typedef struct SambaImage {
  uint32_t version;
  bool split_k;
  uint32_t symbol_count, unit_count, switch_count;
  SambaFormal *symbols;
  SambaUnitRecord *units;
  SambaSwitchRecord *switches;
} SambaImage;

typedef enum {
#define RECORD(record, structure, meaning) SAMBA_RECORD_##record,
#include "backend/config/records.def"
  SAMBA_RECORD_COUNT
} SambaRecordId;

typedef enum {
  SAMBA_ROW_FIELD,
  SAMBA_ROW_MASK,
  SAMBA_ROW_ARRAY,
  SAMBA_ROW_TRIPS,
  SAMBA_ROW_STRIDES,
  SAMBA_ROW_CHOICE,
  SAMBA_ROW_ALIGN
} SambaRowForm;

/* A member of a struct: where it is and how wide. */
typedef struct SambaMember {
  uint16_t offset;
  uint8_t size;
} SambaMember;

/* When an optional number is there. */
typedef struct SambaRecordCondition {
  bool (*holds)(const void *structure);
  const char *text;
} SambaRecordCondition;

typedef struct SambaRecordRow {
  SambaRowForm form;
  const char *name; /* as written in records.def */
  const char *meaning;
  uint8_t bits; /* of the number, or of each number of a list */
  char kind;    /* FIELD: U, S, X, B, D, N, K, P, G */
  SambaMember member;
  SambaMember count;    /* ARRAY, TRIPS, MASK */
  SambaMember outer;    /* TRIPS: how many counters are outer ones */
  bool inner;           /* STRIDES: only those of the counters that are not */
  SambaRecordId record; /* ARRAY: of an item; CHOICE: the first of the records to choose from */
  uint32_t from, until; /* ARRAY */
  uint32_t item_size;   /* ARRAY: bytes of one item's struct */
  const SambaRecordCondition *condition; /* FIELD: NULL when it is always there */
  uint64_t otherwise;                    /* FIELD: its number when it is not */
} SambaRecordRow;

typedef struct SambaRecord {
  const char *name, *meaning;
  uint32_t row_count;
  const SambaRecordRow *rows;
} SambaRecord;

const SambaRecord *sambaRecordGet(SambaRecordId id);
/* A row's name without the struct's inner path: "port.access.base" is "base". */
const char *sambaRecordRowLabel(const SambaRecordRow *row);

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "members are copied by their low bytes");

/* A row's number in its struct, as bits (signed ones sign-extended). */
static inline uint64_t sambaMemberGet(const void *structure, SambaMember member, bool is_signed) {
  uint64_t value = 0;
  memcpy(&value, (const char *)structure + member.offset, member.size);
  unsigned unused = 64 - 8u * member.size;
  return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static inline void sambaMemberSet(void *structure, SambaMember member, uint64_t value) {
  char *at = (char *)structure + member.offset;
  switch (member.size) { /* copies of a known size are one instruction */
  case 1:
    memcpy(at, &value, 1);
    break;
  case 2:
    memcpy(at, &value, 2);
    break;
  case 4:
    memcpy(at, &value, 4);
    break;
  default:
    memcpy(at, &value, member.size);
  }
}

static inline void *sambaMemberGetPointer(const void *structure, SambaMember member) {
  void *pointer;
  memcpy(&pointer, (const char *)structure + member.offset, sizeof pointer);
  return pointer;
}

static inline void sambaMemberSetPointer(void *structure, SambaMember member, void *value) {
  memcpy((char *)structure + member.offset, &value, sizeof value);
}

/* The records as Markdown tables for docs/pef-format.md. */
void sambaRecordsDescribe(SambaText *out);

#endif
