/* Decisions files: what is read and written, and every refusal. */
#include "backend/decision/decision.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define FILE_OF(layers) "{\"format\": \"samba-decisions\", \"version\": 1, \"layers\": " layers "}"

static SambaDecisions readFine(const char *text, SambaArena *arena) {
  SambaDecisions decisions;
  SambaStatus status = sambaDecisionsRead("d.json", text, strlen(text), arena, &decisions);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
  return decisions;
}

static void expectRefused(const char *text, const char *message) {
  SambaArena arena = {0};
  SambaDecisions decisions;
  SambaStatus status = sambaDecisionsRead("d.json", text, strlen(text), &arena, &decisions);
  assert_non_null(status);
  assert_string_equal(sambaStatusGetMessage(status), message);
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
}

static const char both[] = FILE_OF("{\"fc1\": {\"section\": 3, \"parallel\": 2},"
                                   " \"a/b \\\"c\\\"\": [{\"mapping\": [\"x\", \"y\"]}, {}]}");

static void checkBoth(const SambaDecisions *decisions) {
  assert_int_equal(decisions->count, 2);
  const SambaLayerDecisions *first = &decisions->layers[0], *second = &decisions->layers[1];
  assert_string_equal(first->name, "fc1");
  assert_true(first->every && first->count == 1);
  assert_int_equal(first->operators[0].section, 3);
  assert_int_equal(first->operators[0].parallel, 2);
  assert_int_equal(first->operators[0].mapping_count, 0);

  assert_string_equal(second->name, "a/b \"c\"");
  assert_true(!second->every && second->count == 2);
  assert_int_equal(second->operators[0].section, -1);
  assert_int_equal(second->operators[0].parallel, 0);
  assert_int_equal(second->operators[0].mapping_count, 2);
  assert_string_equal(second->operators[0].mappings[1], "y");
  assert_int_equal(second->operators[1].section, -1);
}

static void testRead(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaDecisions decisions = readFine(both, &arena);
  checkBoth(&decisions);
  decisions = readFine(FILE_OF("{}") " \n", &arena);
  assert_int_equal(decisions.count, 0);
  sambaArenaDestroy(&arena);
}

static void testPrint(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaText text = {0};
  SambaDecisions decisions = readFine(both, &arena);
  sambaDecisionsPrint(&decisions, &text);
  SambaDecisions again = readFine(sambaTextGet(&text), &arena);
  checkBoth(&again);
  sambaTextFree(&text);
  sambaArenaDestroy(&arena);
}

static void testRefusals(void **state) {
  (void)state;
  expectRefused("s0 parallel 2", "d.json:1:1: this is no JSON; --dump-decisions writes what a "
                                 "decisions file looks like");
  expectRefused(FILE_OF("{}") "\n  x",
                "d.json:2:3: this is no JSON; --dump-decisions writes what a "
                "decisions file looks like");
  expectRefused("[]", "d.json: \"format\" is not \"samba-decisions\"; --dump-decisions writes such "
                      "files");
  expectRefused("{\"format\": \"samba-decisions\", \"version\": 2}",
                "d.json: \"version\" is not 1, the one that is known here");
  expectRefused(FILE_OF("[]"), "d.json: \"layers\" is no object with names of layers");
  expectRefused(FILE_OF("{\"a\": {}, \"a\": {}}"), "d.json: layer 'a' is there twice");
  expectRefused(FILE_OF("{\"a\": 3}"),
                "d.json: layer 'a': an entry must be an object with section, "
                "parallel or mapping");
  expectRefused(FILE_OF("{\"a\": [[]]}"),
                "d.json: layer 'a': an entry must be an object with section, parallel or mapping");
  expectRefused(FILE_OF("{\"a\": {\"section\": -1}}"),
                "d.json: layer 'a': section must be a whole number from 0 on");
  expectRefused(FILE_OF("{\"a\": {\"section\": 0.5}}"),
                "d.json: layer 'a': section must be a whole number from 0 on");
  expectRefused(FILE_OF("{\"a\": {\"parallel\": 4097}}"),
                "d.json: layer 'a': parallel must be a whole number from 1 to 4096");
  expectRefused(FILE_OF("{\"a\": {\"mapping\": []}}"),
                "d.json: layer 'a': mapping must be a list of texts, #rdu.mapping<...> for each "
                "stage");
  expectRefused(FILE_OF("{\"a\": {\"mapping\": [1]}}"),
                "d.json: layer 'a': mapping must be a list of texts, #rdu.mapping<...> for each "
                "stage");
  expectRefused(FILE_OF("{\"a\": {\"tile\": 3}}"),
                "d.json: layer 'a': there is no 'tile' to decide; section, parallel and mapping "
                "are");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testRead), cmocka_unit_test(testPrint),
                                     cmocka_unit_test(testRefusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
