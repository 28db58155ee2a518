/* The table of records.def as data, access to members, and its description in Markdown; see
 * records.h. */
#include "backend/config/records.h"

#include "backend/section/lane_ops.h"

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

#define RECORD(record, structure, meaning)
#define CONDITION(condition, structure, expression, description)                                   \
  static bool condition##Holds(const void *bytes) {                                                \
    const structure *it = bytes;                                                                   \
    return expression;                                                                             \
  }                                                                                                \
  static const SambaRecordCondition condition_##condition = {condition##Holds, description};
#include "backend/config/records.def"

#define MEMBER(structure, name) {offsetof(structure, name), sizeof(((structure *)0)->name)}
#define RECORD(record, structure, meaning) static const SambaRecordRow rows_##record[] = {
#define END                                                                                        \
  }                                                                                                \
  ;
#define ROW(row_form, text, explanation, ...)                                                      \
  {.form = SAMBA_ROW_##row_form, .name = text, .meaning = explanation, __VA_ARGS__},
#define ARRAY(structure, item, items, of, first, end, meaning)                                     \
  ROW(ARRAY, #item, meaning, .member = MEMBER(structure, item), .count = MEMBER(structure, items), \
      .record = SAMBA_RECORD_##of, .from = first, .until = end,                                    \
      .item_size = sizeof(*((structure *)0)->item))
#define TRIPS(structure, list, counters, outermost, meaning)                                       \
  ROW(TRIPS, #list, meaning, .bits = 32, .kind = 'U', .member = MEMBER(structure, list),           \
      .count = MEMBER(structure, counters), .outer = MEMBER(structure, outermost))
#define STRIDES(structure, list, width, meaning)                                                   \
  ROW(STRIDES, #list, meaning, .bits = width, .kind = 'S', .member = MEMBER(structure, list))
#define INNER_STRIDES(structure, list, width, meaning)                                             \
  ROW(STRIDES, #list, meaning, .bits = width, .kind = 'S', .member = MEMBER(structure, list),      \
      .inner = true)
#define CHOICE(structure, number, width, first, meaning)                                           \
  ROW(CHOICE, #number, meaning, .bits = width, .kind = 'U', .member = MEMBER(structure, number),   \
      .record = SAMBA_RECORD_##first)
#define ALIGN ROW(ALIGN, "", "zero bits up to a multiple of 64", .bits = 0)
#define FIELD(structure, number, width, letter, meaning)                                           \
  ROW(FIELD, #number, meaning, .bits = width, .kind = kind_##letter,                               \
      .member = MEMBER(structure, number))
#define OPTIONAL(structure, number, width, letter, when, absent, meaning)                          \
  ROW(FIELD, #number, meaning, .bits = width, .kind = kind_##letter,                               \
      .member = MEMBER(structure, number), .condition = &condition_##when, .otherwise = absent)
#define MASK(structure, number, width, meaning)                                                    \
  ROW(MASK, #number, meaning, .kind = 'X', .member = MEMBER(structure, number),                    \
      .count = MEMBER(structure, width))
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

/* Of a number that is not always there. */
static void describeCondition(const SambaRecordRow *row, SambaText *out) {
  if (row->condition)
    sambaTextFormat(out, ", if %s", row->condition->text);
  if (row->condition && row->otherwise)
    sambaTextFormat(out, ", else %llu", (unsigned long long)row->otherwise);
}

static void describeRow(const SambaRecordRow *row, SambaText *out) {
  static const char *const kinds[128] = {
      ['U'] = "unsigned", ['S'] = "signed",       ['X'] = "bits",
      ['B'] = "bool",     ['D'] = "element type", ['N'] = "operation",
      ['K'] = "kind",     ['P'] = "switch port",  ['G'] = "banking"};
  const char *label = sambaRecordRowLabel(row);

  switch (row->form) {
  case SAMBA_ROW_FIELD:
    sambaTextFormat(out, "| %s | %u | %s", label, row->bits, kinds[(unsigned char)row->kind]);
    describeCondition(row, out);
    sambaTextFormat(out, " | %s |\n", row->meaning);
    break;
  case SAMBA_ROW_MASK:
    sambaTextFormat(out, "| %s | 1 each | bits, one per counter | %s |\n", label, row->meaning);
    break;
  case SAMBA_ROW_ARRAY:
    sambaTextFormat(out, "| %s | | records `%s` | %s |\n", label, sambaRecordGet(row->record)->name,
                    row->meaning);
    break;
  case SAMBA_ROW_TRIPS:
  case SAMBA_ROW_STRIDES:
    sambaTextFormat(out, "| %s | %u each | %s, one per %scounter | %s |\n", label, row->bits,
                    kinds[(unsigned char)row->kind], row->inner ? "inner " : "", row->meaning);
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
