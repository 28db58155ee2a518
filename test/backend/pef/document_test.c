/* docs/pef-format.md shows exactly the tables of tables.def; SAMBA_UPDATE_DOCS=1 rewrites
 * that part of the page. Also rules that the tables themselves keep: the reader and the
 * writer rely on them. */
#include "test/backend/pef/sample_pef.h"

#include "backend/config/records.h"
#include "backend/pef/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* SambaPefFieldKind */
static const char *const kinds[SAMBA_PEF_FIELD_COUNT] = {"u32",      "u64",   "string", "enum",
                                                         "flags",    "dtype", "index",  "index?",
                                                         "children", "bytes", "digest", NULL};

static void printValues(FILE *out, const SambaPefEnumerator *values) {
  for (const SambaPefEnumerator *value = values; value->name; ++value)
    fprintf(out, "%s%u `%s`", value == values ? ": " : ", ", value->value, value->name);
}

static void printTable(FILE *out, const SambaPefTable *table) {
  fprintf(out,
          "\n### %s\n\n%c%s. %u bytes per record, %s%s.\n\n| offset | type | field | meaning |\n| "
          "--- | --- | --- | "
          "--- |\n",
          table->plural,
          table->doc[0] - ('a' <= table->doc[0] && table->doc[0] <= 'z' ? 'a' - 'A' : 0),
          table->doc + 1, table->record_bytes, table->required ? "required" : "optional",
          table->place == SAMBA_PEF_PLACE_CHILD ? ", a child table" : "");
  uint32_t offset = 0;

  for (uint32_t f = 0; f < table->field_count; ++f) {
    const SambaPefField *field = &table->fields[f];
    if (field->kind == SAMBA_PEF_FIELD_SOURCE)
      continue;
    fprintf(out, "| %u | %s", offset, kinds[field->kind]);
    if (field->kind == SAMBA_PEF_FIELD_INDEX || field->kind == SAMBA_PEF_FIELD_OPTIONAL ||
        field->kind == SAMBA_PEF_FIELD_CHILDREN)
      fprintf(out, " of %s", sambaPefTable(field->target)->plural);
    if (field->kind == SAMBA_PEF_FIELD_BYTES)
      fprintf(out, " of %s", sambaPefBlobName(field->target));
    fprintf(out, " | %s | %s", field->name, field->doc);
    if (field->values)
      printValues(out, field->values);
    fputs(" |\n", out);
    offset += sambaPefFieldBytes(field);
  }

  assert_int_equal(offset, table->record_bytes);
}

/* The page's text between `<!-- NAME: ... -->` and `<!-- end of NAME -->` is `text`, or becomes it.
 * Frees the text. */
static void checkPart(const char *name, char *text) {
  static const char path[] = SAMBA_SOURCE_FOLDER "/docs/pef-format.md";
  char begin[64], end[64];

  snprintf(begin, sizeof begin, "<!-- %s: ", name);
  snprintf(end, sizeof end, "<!-- end of %s -->", name);
  size_t size;
  char *page = sampleReadFile(path, &size);
  if (!page)
    fail_msg("%s is missing", path);
  page[size] = '\0';
  char *start = strstr(page, begin);
  char *stop = strstr(page, end);
  assert_non_null(start);
  assert_non_null(stop);
  start = strchr(start, '\n') + 1;
  bool same = (size_t)(stop - start) == strlen(text) && memcmp(start, text, strlen(text)) == 0;
  if (!same && getenv("SAMBA_UPDATE_DOCS")) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%.*s%s%s", (int)(start - page), page, text, stop);
    fclose(out);
    same = true;
  }

  if (!same)
    fail_msg("%s does not show the %s as they are; run this test with SAMBA_UPDATE_DOCS=1", path,
             name);
  free(text);
  free(page);
}

static void testTablesDocument(void **state) {
  (void)state;
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t)
    printTable(out, sambaPefTable(t));
  fputc('\n', out);
  fclose(out);
  checkPart("tables", text);
}

static void testRecordsDocument(void **state) {
  (void)state;
  SambaText text = {0};
  sambaTextAppendC(&text, "\n");
  sambaRecordsDescribe(&text);
  sambaTextAppendC(&text, "\n");
  checkPart("records", sambaTextTake(&text));
}

static void testTables(void **state) {
  (void)state;
  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t) {
    const SambaPefTable *table = sambaPefTable(t);
    assert_true(table->field_count > 0);
    for (uint32_t f = 0; f < table->field_count; ++f) {
      const SambaPefField *field = &table->fields[f];
      if (field->kind == SAMBA_PEF_FIELD_INDEX ||
          field->kind == SAMBA_PEF_FIELD_OPTIONAL) /* of a table with numbers of its own */
        assert_int_equal(sambaPefTable(field->target)->place, SAMBA_PEF_PLACE_ROOT);
      if (field->kind != SAMBA_PEF_FIELD_CHILDREN)
        continue;
      assert_true(field->target > t); /* parents are decoded before their children */
      assert_int_equal(table->place == SAMBA_PEF_PLACE_CHILD, false); /* one level */
      assert_int_equal(sambaPefTable(field->target)->place, SAMBA_PEF_PLACE_CHILD);
    }
  }

  assert_null(sambaPefTable(SAMBA_PEF_TABLE_COUNT));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testTablesDocument),
                                     cmocka_unit_test(testRecordsDocument),
                                     cmocka_unit_test(testTables)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
