/* support/text/command_line.h: forms of options, positional arguments, every refusal, exit codes.
 */
#include "support/text/command_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
  bool flag;
  SambaAsked asked;
  const char *text, *choice;
  SambaStrings many, positional;
  int64_t number;
  double real;
} Parsed;

static SambaStatus parse(Parsed *p, int count, const char **arguments) {
  *p = (Parsed){0};
  const SambaOption table[] = {{"--flag", SAMBA_OPTION_FLAG, &p->flag, NULL, "a flag"},
                               {"-o", SAMBA_OPTION_STRING, &p->text, "FILE", "a text"},
                               {"--choice", SAMBA_OPTION_CHOICE, &p->choice, "a|b", "a choice"},
                               {"--many", SAMBA_OPTION_STRINGS, &p->many, "NAME=FILE", "texts"},
                               {"--number", SAMBA_OPTION_INT, &p->number, NULL, "a number"},
                               {"--real", SAMBA_OPTION_FLOAT, &p->real, "R", "a real"},
                               {0}};
  return sambaCommandLineParse(count, (char **)arguments, table, &p->positional, &p->asked);
}
#define PARSE(p, ...)                                                                              \
  parse((p), (int)(sizeof((const char *[]){"program", __VA_ARGS__}) / sizeof(char *)),             \
        (const char *[]){"program", __VA_ARGS__})

static void release(Parsed *p) {
  sambaArrayFree(&p->many);
  sambaArrayFree(&p->positional);
}

/* What follows a choice without '=' is no value of it. */
static void choicesMayHaveAValue(void **state) {
  (void)state;
  Parsed p;
  assert_null(PARSE(&p, "model"));
  assert_null(p.choice);
  release(&p);
  assert_null(PARSE(&p, "--choice", "model"));
  assert_string_equal(p.choice, "");
  assert_int_equal(p.positional.size, 1);
  release(&p);
  assert_null(PARSE(&p, "--choice=b"));
  assert_string_equal(p.choice, "b");
  release(&p);
}

static void everyFormIsRead(void **state) {
  (void)state;
  Parsed p;
  assert_null(PARSE(&p, "model", "--flag", "-o", "x", "--many=a=1", "--many", "b=2", "--number=12",
                    "--real", "1e-3", "-", "--", "--flag"));
  assert_true(p.flag && p.asked == SAMBA_ASKED_NOTHING);
  assert_string_equal(p.text, "x");
  assert_int_equal(p.many.size, 2);
  assert_string_equal(p.many.data[0], "a=1");
  assert_string_equal(p.many.data[1], "b=2");
  assert_int_equal(p.number, 12);
  assert_true(p.real == 1e-3);
  assert_int_equal(p.positional.size, 3);
  assert_string_equal(p.positional.data[1], "-");
  assert_string_equal(p.positional.data[2], "--flag");
  release(&p);
  assert_null(PARSE(&p, "-o=first", "--flag", "--flag", "-h", "--version"));
  assert_string_equal(p.text, "first");
  assert_int_equal(p.asked, SAMBA_ASKED_HELP);
  release(&p);
  assert_null(PARSE(&p, "--version"));
  assert_int_equal(p.asked, SAMBA_ASKED_VERSION);
  release(&p);
  assert_null(PARSE(&p, "-o", "--version"));
  assert_int_equal(p.asked, SAMBA_ASKED_NOTHING);
  assert_string_equal(p.text, "--version");
  release(&p);
}

static void refuse(const char *wanted, SambaStatus status, Parsed *p) {
  assert_int_equal(sambaStatusGetCode(status), SAMBA_INVALID);
  assert_string_equal(sambaStatusGetMessage(status), wanted);
  sambaStatusFree(status);
  release(p);
}

static void refusalsSayWhatIsWanted(void **state) {
  (void)state;
  Parsed p;
  refuse("there is no option '--flags'; --help lists them", PARSE(&p, "--flags"), &p);
  refuse("there is no option '--fla=1'; --help lists them", PARSE(&p, "--fla=1"), &p);
  refuse("--choice wants a|b, not an empty text", PARSE(&p, "--choice="), &p);
  refuse("--flag takes no value", PARSE(&p, "--flag=1"), &p);
  refuse("--many wants NAME=FILE", PARSE(&p, "--many"), &p);
  refuse("--many wants NAME=FILE, not an empty text", PARSE(&p, "--many="), &p);
  refuse("--number wants a value", PARSE(&p, "--number"), &p);
  refuse("-o is given twice, with 'x' and 'y'; give it once", PARSE(&p, "-o", "x", "-o=y"), &p);
  refuse("--number is given twice, with '1' and '1'; give it once",
         PARSE(&p, "--number=1", "--number", "1"), &p);
  refuse("--real is given twice, with '1' and '2'; give it once", PARSE(&p, "--real=1", "--real=2"),
         &p);
  static const char *const numbers[] = {"", "x", "1x", "-1", "9223372036854775808"};

  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    char wanted[128];
    snprintf(wanted, sizeof wanted, "--number wants a whole number that is not negative, not '%s'",
             numbers[i]);
    refuse(wanted, PARSE(&p, "--number", numbers[i]), &p);
  }

  refuse("--real wants a number that is not negative, not 'nan'", PARSE(&p, "--real=nan"), &p);
  refuse("--real wants a number that is not negative, not '-1'", PARSE(&p, "--real", "-1"), &p);
  refuse("--real wants a number that is not negative, not '1,5'", PARSE(&p, "--real=1,5"), &p);
}

static void pairsAreSplitAtTheFirstEquals(void **state) {
  (void)state;
  SambaArena arena = {0};
  const char *name, *value;

  assert_null(sambaSplitPair(&arena, "--input", "x=a=b", &name, &value));
  assert_string_equal(name, "x");
  assert_string_equal(value, "a=b");
  static const char *const bad[] = {"x", "=a", ""};

  for (int i = 0; i < 3; ++i) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "--input wants NAME=VALUE, not '%s'", bad[i]);
    SambaStatus status = sambaSplitPair(&arena, "--input", bad[i], &name, &value);
    assert_string_equal(sambaStatusGetMessage(status), wanted);
    sambaStatusFree(status);
  }

  sambaArenaDestroy(&arena);
}

static void exitCodes(void **state) {
  (void)state;
  assert_int_equal(sambaReport(NULL), 0);
  assert_int_equal(sambaReport(sambaStatusMake(SAMBA_INVALID, "bad")), 1);
  assert_int_equal(sambaReport(sambaStatusMake(SAMBA_FAULT, "fault")), 1);
  assert_int_equal(sambaReport(sambaStatusMake(SAMBA_MISMATCH, "other")), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everyFormIsRead),
      cmocka_unit_test(choicesMayHaveAValue),
      cmocka_unit_test(refusalsSayWhatIsWanted),
      cmocka_unit_test(pairsAreSplitAtTheFirstEquals),
      cmocka_unit_test(exitCodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
