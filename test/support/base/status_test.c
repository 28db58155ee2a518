/* support/base/status.h: messages, context before, notes after, codes; success passes through
 * untouched. */
#include "support/base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void messagesGrowContextAndNotes(void **state) {
  (void)state;
  SambaStatus status =
      sambaStatusMake(SAMBA_EXHAUSTED, "needs %d units, but '%s' has %d", 9, "tiny", 8);
  status = sambaStatusAnnotate(status, "section '%s'", "s0");
  status = sambaStatusNote(status, "try %s", "less");
  assert_int_equal(sambaStatusGetCode(status), SAMBA_EXHAUSTED);
  assert_string_equal(sambaStatusGetMessage(status),
                      "section 's0': needs 9 units, but 'tiny' has 8\n  note: try less");
  sambaStatusFree(status);
}

static void notesAreFoundOneByOne(void **state) {
  (void)state;
  SambaStatus status = sambaStatusMake(SAMBA_INVALID, "a text\n  note: of one piece");
  status = sambaStatusNote(status, "first");
  status = sambaStatusAnnotate(status, "outside");
  status = sambaStatusNote(status, "second\n  note: and its own line");
  assert_int_equal(sambaStatusGetHeadlineSize(status),
                   strlen("outside: a text\n  note: of one piece"));
  assert_int_equal(sambaStatusGetNoteCount(status), 2);
  assert_string_equal(sambaStatusGetNote(status, 0), "first");
  assert_string_equal(sambaStatusGetNote(status, 1), "second\n  note: and its own line");
  sambaStatusFree(status);
}

static void successStaysSuccess(void **state) {
  (void)state;
  assert_null(sambaStatusAnnotate(NULL, "context"));
  assert_null(sambaStatusNote(NULL, "note"));
  assert_int_equal(sambaStatusGetCode(NULL), SAMBA_OK);
  assert_string_equal(sambaStatusGetMessage(NULL), "");
  sambaStatusFree(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messagesGrowContextAndNotes),
      cmocka_unit_test(notesAreFoundOneByOne),
      cmocka_unit_test(successStaysSuccess),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
