/* Dependences through memory. */
#include "backend/address/dependences.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* The calls that the current one depends on, as "0 2". */
static void expectCalls(const SambaDependences *dependences, const char *expected) {
  char text[64] = "";
  for (size_t i = 0; i < dependences->calls.size; ++i)
    sprintf(text + strlen(text), "%s%u", i ? " " : "", dependences->calls.data[i]);
  assert_string_equal(text, expected);
}

static void eachKind(void **state) {
  (void)state;
  SambaDependences d = {0};
  sambaDependencesBegin(&d, 0);
  sambaDependencesWrite(&d, 1000, 100);
  expectCalls(&d, "");
  sambaDependencesBegin(&d, 1); /* read after write */
  sambaDependencesRead(&d, 1000, 100);
  expectCalls(&d, "0");
  sambaDependencesBegin(&d, 2); /* reads do not wait for each other */
  sambaDependencesRead(&d, 1000, 100);
  expectCalls(&d, "0");
  sambaDependencesBegin(&d, 3); /* write after read, and after write */
  sambaDependencesWrite(&d, 1000, 100);
  expectCalls(&d, "0 1 2");
  sambaDependencesBegin(&d, 4); /* what was overwritten is forgotten */
  sambaDependencesWrite(&d, 1000, 100);
  expectCalls(&d, "3");
  sambaDependencesFree(&d);
}

static void inPlace(void **state) {
  (void)state;
  SambaDependences d = {0};
  sambaDependencesBegin(&d, 0);
  sambaDependencesRead(&d, 0, 64);
  sambaDependencesBegin(&d, 1); /* reads and writes the same bytes: not after itself */
  sambaDependencesRead(&d, 0, 64);
  sambaDependencesWrite(&d, 0, 64);
  expectCalls(&d, "0");
  sambaDependencesBegin(&d, 2);
  sambaDependencesRead(&d, 0, 64);
  expectCalls(&d, "1");
  sambaDependencesFree(&d);
}

static void parts(void **state) {
  (void)state;
  SambaDependences d = {0};
  sambaDependencesBegin(&d, 0);
  sambaDependencesWrite(&d, 0, 128);
  sambaDependencesBegin(&d, 1); /* one half; the other is still call 0's */
  sambaDependencesWrite(&d, 64, 64);
  expectCalls(&d, "0");
  sambaDependencesBegin(&d, 2);
  sambaDependencesRead(&d, 0, 128);
  expectCalls(&d, "0 1");
  sambaDependencesBegin(&d, 3); /* beside both */
  sambaDependencesWrite(&d, 128, 64);
  expectCalls(&d, "");
  sambaDependencesFree(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(eachKind), cmocka_unit_test(inPlace),
                                     cmocka_unit_test(parts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
