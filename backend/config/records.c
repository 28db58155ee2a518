/* The table of records.def as data, access to members, and its description in Markdown; see
 * records.h. */
#include "backend/config/records.h"

#include <stddef.h>
#include <stdlib.h>

/* The characters of kinds as constants. */
enum {
  kind_U = 'U',
  kind_S = 'S',
  kind_X = 'X',
  kind_B = 'B',
  kind_D = 'D',
  kind_N = 'N',
  kind_K = 'K',
  kind_P = 'P',
  kind_G = 'G'
};

#define MEMBER(structure, name) {offsetof(structure, name), sizeof(((structure *)0)->name)}
#define RECORD(record, structure, meaning) static const SambaRecordRow rows_##record[] = {
#define END                                                                                        \
  }                                                                                                \
  ;
#define ARRAY(structure, name, count, record, from, until, meaning)                                \
  {SAMBA_ROW_ARRAY,                                                                                \
   #name,                                                                                          \
   meaning,                                                                                        \
   0,                                                                                              \
   0,                                                                                              \
   MEMBER(structure, name),                                                                        \
   MEMBER(structure, count),                                                                       \
   SAMBA_RECORD_##record,                                                                          \
   from,                                                                                           \
   until,                                                                                          \
   sizeof(*((structure *)0)->name)},
#define TRIPS(structure, name, count, meaning)                                                     \
  {SAMBA_ROW_TRIPS,  #name, meaning, 32, 'U', MEMBER(structure, name), MEMBER(structure, count),   \
   (SambaRecordId)0, 0,     0,       0},
#define STRIDES(structure, name, meaning)                                                          \
  {SAMBA_ROW_STRIDES, #name, meaning, 48, 'S', MEMBER(structure, name), {0, 0},                    \
   (SambaRecordId)0,  0,     0,       0},
#define CHOICE(structure, name, bits, record, meaning)                                             \
  {SAMBA_ROW_CHOICE,      #name, meaning, bits, 'U', MEMBER(structure, name), {0, 0},              \
   SAMBA_RECORD_##record, 0,     0,       0},
#define ALIGN                                                                                      \
  {SAMBA_ROW_ALIGN,                                                                                \
   "",                                                                                             \
   "zero bits up to a multiple of 64",                                                             \
   0,                                                                                              \
   0,                                                                                              \
   {0, 0},                                                                                         \
   {0, 0},                                                                                         \
   (SambaRecordId)0,                                                                               \
   0,                                                                                              \
   0,                                                                                              \
   0},
#define FIELD(structure, name, bits, kind, meaning)                                                \
  {SAMBA_ROW_FIELD,  #name, meaning, bits, kind_##kind, MEMBER(structure, name), {0, 0},           \
   (SambaRecordId)0, 0,     0,       0},
#include "backend/config/records.def"

#define RECORD(record, structure, meaning)                                                         \
  [SAMBA_RECORD_##                                                                                 \
      record] = {#record, meaning, sizeof rows_##record / sizeof rows_##record[0], rows_##record},
static const SambaRecord records[SAMBA_RECORD_COUNT] = {
#include "backend/config/records.def"
};

const SambaRecord *sambaRecordGet(SambaRecordId id) { return &records[id]; }

const char *sambaRecordRowLabel(const SambaRecordRow *row) {
  static const char *const paths[] = {"unit.compute.program.", "unit.compute.", "unit.buffer.",
                                      "unit.load_store.",      "unit.",         "port.access.",
                                      "port.compute.",         "port."};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; ++i)
    if (strncmp(row->name, paths[i], strlen(paths[i])) == 0)
      return row->name + strlen(paths[i]);
  return row->name;
}

static void describeRow(const SambaRecordRow *row, SambaText *out) {
  static const char *const kinds[128] = {
      ['U'] = "unsigned", ['S'] = "signed",       ['X'] = "bits",
      ['B'] = "bool",     ['D'] = "element type", ['N'] = "operation",
      ['K'] = "kind",     ['P'] = "switch port",  ['G'] = "banking"};
  const char *label = sambaRecordRowLabel(row);

  switch (row->form) {
  case SAMBA_ROW_FIELD:
    sambaTextFormat(out, "| %s | %u | %s | %s |\n", label, row->bits,
                    kinds[(unsigned char)row->kind], row->meaning);
    break;
  case SAMBA_ROW_ARRAY:
    sambaTextFormat(out, "| %s | | records `%s` | %s |\n", label, sambaRecordGet(row->record)->name,
                    row->meaning);
    break;
  case SAMBA_ROW_TRIPS:
  case SAMBA_ROW_STRIDES:
    sambaTextFormat(out, "| %s | %u each | %s, one per counter | %s |\n", label, row->bits,
                    kinds[(unsigned char)row->kind], row->meaning);
    break;
  case SAMBA_ROW_CHOICE:
    sambaTextFormat(out, "| %s | %u | choice | %s |\n", label, row->bits, row->meaning);
    break;
  case SAMBA_ROW_ALIGN:
    sambaTextFormat(out, "| - | 0 to 63 | zero | up to a multiple of 64 bits |\n");
    break;
  }
}

void sambaRecordsDescribe(SambaText *out) {
  for (int id = 0; id < SAMBA_RECORD_COUNT; ++id) {
    const SambaRecord *record = sambaRecordGet((SambaRecordId)id);
    sambaTextFormat(
        out, "%s### `%s`: %s\n\n| field | bits | form | meaning |\n| --- | --- | --- | --- |\n",
        id ? "\n" : "", record->name, record->meaning);
    for (uint32_t i = 0; i < record->row_count; ++i)
      describeRow(&record->rows[i], out);
  }
}
