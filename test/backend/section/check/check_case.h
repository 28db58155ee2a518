/* One refusal per line: CASE(sample, change, text) builds the sample as `s`, makes one change, and
 * wants sambaSectionCheck to say exactly that. */
#ifndef SAMBA_TEST_BACKEND_SECTION_CHECK_CHECK_CASE_H
#define SAMBA_TEST_BACKEND_SECTION_CHECK_CHECK_CASE_H

#include "backend/section/check/section_check.h"
#include "test/backend/sample_sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assertMessage(SambaStatus status, const char *text) {
  if (!status || !strstr(sambaStatusGetMessage(status), text))
    print_message("got:    %s\nwanted: %s\n", sambaStatusGetMessage(status), text);
  assert_non_null(strstr(sambaStatusGetMessage(status), text));
  sambaStatusFree(status);
}

#define CASE(sample, change, text)                                                                 \
  do {                                                                                             \
    SambaArena arena = {0};                                                                        \
    SambaSection *s = sample(&arena);                                                              \
    change;                                                                                        \
    assertMessage(sambaSectionCheck(s), text);                                                     \
    sambaArenaDestroy(&arena);                                                                     \
  } while (0)

#endif
