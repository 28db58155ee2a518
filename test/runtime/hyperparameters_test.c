/* Hyperparameters of a session: names, ranges, values from run to run, seeds of dropout (rows S050
 * to S052, S070 to S075). */
#include "test/runtime/training_pef.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char path[] = "hyperparameters-test.pef";
enum { argLr, argDecay, argMomentum, argDrop1, argDrop2, argSeed1, argSeed2, argOther };

static int setUp(void **state) {
  writeTrainingPef(path, 0);
  return openRecordedPef(path, state);
}

static const Recorded *lastLaunch(const RecordedPef *fixture) {
  const Recorded *last = &fixture->recording.entries.data[fixture->recording.entries.size - 1];
  assert_int_equal(last->kind, RECORDED_LAUNCH);
  return last;
}

static float floatAt(const RecordedPef *fixture, int argin) {
  uint32_t bits = (uint32_t)lastLaunch(fixture)->argins[argin];
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t seedAt(const RecordedPef *fixture, int argin) {
  return lastLaunch(fixture)->argins[argin];
}

static void runWith(RecordedPef *fixture, uint32_t count, const SambaHyperparameter *values) {
  SambaRunOptions options = {.hyperparameter_count = count, .hyperparameters = values};
  succeeded(sambaSessionRun(fixture->session, &options, NULL, NULL));
}

static void runType(RecordedPef *fixture, SambaSectionType type, bool evaluate) {
  SambaRunOptions options = {.order = {.type_count = 1, .types = &type}, .evaluate = evaluate};
  succeeded(sambaSessionRun(fixture->session, &options, NULL, NULL));
}

/* Refused before the first launch, and nothing is stored. */
static void isRefused(RecordedPef *fixture, const char *name, double value, const char *wanted) {
  const SambaHyperparameter values[] = {{sambaStringRef("momentum"), 0.25},
                                        {sambaStringRef(name), value}};
  SambaRunOptions options = {.hyperparameter_count = 2, .hyperparameters = values};
  size_t before = fixture->recording.entries.size;
  refusedWith(sambaSessionRun(fixture->session, &options, NULL, NULL), wanted);
  assert_int_equal(fixture->recording.entries.size, before);
  runWith(fixture, 0, NULL);
  assert_true(floatAt(fixture, argMomentum) == 0.9f);
}

static void addName(void *user, const SambaArginInfo *argin) {
  char *text = user;
  size_t size = strlen(text);
  snprintf(text + size, 128 - size, " %.*s", SAMBA_STRING_ARGS(argin->name));
}

static void s050NamesInTheOrderOfThePef(void **state) {
  const RecordedPef *fixture = *state;
  char all[128] = "", rates[128] = "", seeds[128] = "";
  sambaSessionForEachArgin(fixture->session, ~0u, addName, all);
  assert_string_equal(all,
                      " lr weight_decay momentum drop1 drop2 drop1.seed drop2.seed temperature");
  /* S051, S052. */
  sambaSessionForEachArgin(fixture->session, 1u << SAMBA_ARGIN_DROPOUT_RATE, addName, rates);
  assert_string_equal(rates, " drop1 drop2");
  sambaSessionForEachArgin(fixture->session, 1u << SAMBA_ARGIN_DROPOUT_SEED, addName, seeds);
  assert_string_equal(seeds, " drop1.seed drop2.seed");
}

static void s070ValuesStay(void **state) {
  RecordedPef *fixture = *state;
  runWith(fixture, 0, NULL);
  assert_true(floatAt(fixture, argLr) == 0.1f);
  runWith(fixture, 1, &(SambaHyperparameter){sambaStringRef("lr"), 0.2});
  assert_true(floatAt(fixture, argLr) == 0.2f);
  runWith(fixture, 0, NULL);
  assert_true(floatAt(fixture, argLr) == 0.2f);
  double value;
  SambaHyperparameters *stored = sambaSessionGetHyperparameters(fixture->session);
  succeeded(sambaHyperparametersGet(stored, sambaStringRef("lr"), &value));
  assert_true(value == (double)0.2f);
  refusedWith(sambaHyperparametersGet(stored, sambaStringRef("p"), &value),
              "there is no hyperparameter named 'p'");
}

static void s071NamesAndGroups(void **state) {
  RecordedPef *fixture = *state;
  runWith(fixture, 1, &(SambaHyperparameter){sambaStringRef("p"), 0.125});
  assert_true(floatAt(fixture, argDrop1) == 0.125f && floatAt(fixture, argDrop2) == 0.125f);
  runWith(fixture, 1, &(SambaHyperparameter){sambaStringRef("drop2"), 0.75});
  assert_true(floatAt(fixture, argDrop1) == 0.125f && floatAt(fixture, argDrop2) == 0.75f);

  /* The name of one wins over the group, in whatever order they are given. */
  const SambaHyperparameter both[] = {{sambaStringRef("drop1"), 0.5}, {sambaStringRef("p"), 0.25}};
  runWith(fixture, 2, both);
  assert_true(floatAt(fixture, argDrop1) == 0.5f && floatAt(fixture, argDrop2) == 0.25f);
  runWith(fixture, 1, &(SambaHyperparameter){sambaStringRef("temperature"), -3});
  assert_true(floatAt(fixture, argOther) == -3);

  isRefused(fixture, "pp", 0.5,
            "there is no hyperparameter named 'pp'\n  note: hyperparameter 'lr'\n"
            "  note: hyperparameter 'weight_decay'\n  note: hyperparameter 'momentum'\n"
            "  note: hyperparameter 'drop1', of group 'p'\n"
            "  note: hyperparameter 'drop2', of group 'p'\n");
}

static void nameLikeAGroup(SambaPef *pef) { pef->argins[argOther].name = sambaStringRef("p"); }

/* An argin that is called like a group hides the group. */
static void s071TheExactNameWins(void **state) {
  (void)state;
  RecordedPef fixture = {.session = NULL};
  writeChangedTrainingPef("named.pef", 0, nameLikeAGroup);
  fixture.session = openRecorded("named.pef", &fixture.recording);
  runWith(&fixture, 1, &(SambaHyperparameter){sambaStringRef("p"), 7});
  assert_true(floatAt(&fixture, argDrop1) == 0.5f && floatAt(&fixture, argOther) == 7);
  sambaSessionClose(fixture.session);
  recordingFree(&fixture.recording);
  unlink("named.pef");
}

static void s072Ranges(void **state) {
  RecordedPef *fixture = *state;
  isRefused(fixture, "p", 1, "'drop1' is 1, but it must be at least 0 and less than 1");
  /* Less than 1, but 1 in f32: what the device gets counts. */
  isRefused(fixture, "p", 0.999999999, "is 1, but it must be at least 0 and less than 1");
  isRefused(fixture, "drop1", -0.5, "is -0.5, but it must be at least 0 and less than 1");
  isRefused(fixture, "lr", -1, "hyperparameter 'lr' is -1, but it must be finite and at least 0");
  isRefused(fixture, "lr", INFINITY, "is inf, but it must be finite and at least 0");
  isRefused(fixture, "lr", 1e300, "hyperparameter 'lr' is 1e+300, but the PEF allows it from 0");
  isRefused(fixture, "weight_decay", -1e-9, "must be finite and at least 0");
  isRefused(fixture, "momentum", -1, "must be finite and at least 0");
  isRefused(fixture, "temperature", NAN, "hyperparameter 'temperature' is nan, but it must be fin");
  isRefused(fixture, "drop1.seed", 0.5, "is 0.5, but it must be a whole number of 64 bits");
  isRefused(fixture, "drop1.seed", 1e19, "is 1e+19, but it must be a whole number of 64 bits");
  runWith(fixture, 1, &(SambaHyperparameter){sambaStringRef("lr"), 0});
  assert_true(floatAt(fixture, argLr) == 0);
}

static void limitLr(SambaPef *pef) {
  pef->argins[argLr].flags |= SAMBA_PEF_HAS_MAXIMUM;
  pef->argins[argLr].maximum = 0x3f800000;
  pef->argins[argMomentum].flags = SAMBA_PEF_HAS_MINIMUM;
  pef->argins[argMomentum].minimum = 0x3f000000;
}

static void s072RangesOfThePef(void **state) {
  (void)state;
  RecordedPef fixture = {.session = NULL};
  writeChangedTrainingPef("limited.pef", 0, limitLr);
  fixture.session = openRecorded("limited.pef", &fixture.recording);
  const SambaHyperparameter high = {sambaStringRef("lr"), 1.5};
  SambaRunOptions options = {.hyperparameter_count = 1, .hyperparameters = &high};
  refusedWith(sambaSessionRun(fixture.session, &options, NULL, NULL),
              "hyperparameter 'lr' is 1.5, but the PEF allows it from 0 to 1");

  /* Momentum has no default, and the calls read it. */
  refusedWith(sambaSessionRun(fixture.session, NULL, NULL, NULL),
              "hyperparameter 'momentum' has neither a value nor a default; give it one");
  assert_int_equal(fixture.recording.entries.size, 1);

  /* What a refused run brings is not stored. */
  const SambaHyperparameter good = {sambaStringRef("lr"), 0.75};
  double value;
  options.hyperparameters = &good;
  refusedWith(sambaSessionRun(fixture.session, &options, NULL, NULL), "hyperparameter 'momentum'");
  succeeded(sambaSessionGetHyperparameter(fixture.session, sambaStringRef("lr"), &value));
  assert_true(value == (double)0.1f);
  runWith(&fixture, 1, &(SambaHyperparameter){sambaStringRef("momentum"), 0.5});
  sambaSessionClose(fixture.session);
  recordingFree(&fixture.recording);
  unlink("limited.pef");
}

static void s074Evaluation(void **state) {
  RecordedPef *fixture = *state;
  runType(fixture, SAMBA_SECTION_FWD, false);
  assert_true(floatAt(fixture, argDrop1) == 0.5f && floatAt(fixture, argDrop2) == 0.25f);
  runType(fixture, SAMBA_SECTION_FWD, true);
  assert_true(floatAt(fixture, argDrop1) == 0 && floatAt(fixture, argDrop2) == 0);
  assert_true(floatAt(fixture, argLr) == 0.1f);

  /* A rate that is given while evaluating is stored for later. */
  const SambaHyperparameter rate = {sambaStringRef("p"), 0.75};
  SambaRunOptions options = {.hyperparameter_count = 1, .hyperparameters = &rate, .evaluate = true};
  succeeded(sambaSessionRun(fixture->session, &options, NULL, NULL));
  assert_true(floatAt(fixture, argDrop1) == 0);
  runType(fixture, SAMBA_SECTION_FWD, false);
  assert_true(floatAt(fixture, argDrop1) == 0.75f && floatAt(fixture, argDrop2) == 0.75f);
}

static void s075SeedsOfDropout(void **state) {
  RecordedPef *fixture = *state;
  runType(fixture, SAMBA_SECTION_FWD, false);
  uint64_t first = seedAt(fixture, argSeed1), second = seedAt(fixture, argSeed2);
  assert_int_not_equal(first, second);

  /* Backward without forward: the same mask. Each forward: another one, but not in evaluation. */
  runType(fixture, SAMBA_SECTION_BCKWD, false);
  assert_int_equal(seedAt(fixture, argSeed1), first);
  assert_int_equal(seedAt(fixture, argSeed2), second);
  runType(fixture, SAMBA_SECTION_FWD, false);
  uint64_t third = seedAt(fixture, argSeed1);
  assert_true(third != first && third != second);
  runType(fixture, SAMBA_SECTION_FWD, true);
  assert_int_equal(seedAt(fixture, argSeed1), third);

  /* A seed that is given stays, the other is drawn. */
  const uint64_t other = seedAt(fixture, argSeed2);
  runWith(fixture, 1, &(SambaHyperparameter){sambaStringRef("drop1.seed"), 12345});
  assert_int_equal(seedAt(fixture, argSeed1), 12345);
  assert_int_not_equal(seedAt(fixture, argSeed2), other);
  runType(fixture, SAMBA_SECTION_FWD, false);
  assert_int_equal(seedAt(fixture, argSeed1), 12345);

  /* The generator starts again, and the seed is no longer given. */
  sambaSessionResetGenerator(fixture->session);
  runType(fixture, SAMBA_SECTION_FWD, false);
  assert_int_equal(seedAt(fixture, argSeed1), first);
  assert_int_equal(seedAt(fixture, argSeed2), second);
  sambaSessionSeedGenerator(fixture->session, 1);
  runType(fixture, SAMBA_SECTION_FWD, false);
  assert_int_not_equal(seedAt(fixture, argSeed1), first);
}

/* The stream is SplitMix64's; from seed 1234567 it begins with these numbers, which its author
 * published. A seed has the upper 31 bits. */
static void s075TheStreamIsKnown(void **state) {
  RecordedPef *fixture = *state;
  static const uint64_t numbers[] = {6457827717110365317u, 3203168211198807973u};
  sambaSessionSeedGenerator(fixture->session, 1234567);
  runType(fixture, SAMBA_SECTION_FWD, false);
  assert_int_equal(seedAt(fixture, argSeed1), numbers[0] >> 33);
  assert_int_equal(seedAt(fixture, argSeed2), numbers[1] >> 33);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(s050NamesInTheOrderOfThePef, setUp, closeRecordedPef),
      cmocka_unit_test_setup_teardown(s070ValuesStay, setUp, closeRecordedPef),
      cmocka_unit_test_setup_teardown(s071NamesAndGroups, setUp, closeRecordedPef),
      cmocka_unit_test(s071TheExactNameWins),
      cmocka_unit_test_setup_teardown(s072Ranges, setUp, closeRecordedPef),
      cmocka_unit_test(s072RangesOfThePef),
      cmocka_unit_test_setup_teardown(s074Evaluation, setUp, closeRecordedPef),
      cmocka_unit_test_setup_teardown(s075SeedsOfDropout, setUp, closeRecordedPef),
      cmocka_unit_test_setup_teardown(s075TheStreamIsKnown, setUp, closeRecordedPef),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
