/* Dropout in a trained graph, whole way: the mean of dropout(w) with a million ones. What a mask
 * has are properties; no number is stored. */
#include "test/training/learner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { count = 1000000 };

static float ones[count];

static void openDropout(Learner *learner, double p) {
  for (int i = 0; i < count; ++i)
    ones[i] = 1;
  learnerBegin(learner, "dropout-test.pef");
  SambaTraceValue *w = trained(learner, "w", 1, (int64_t[]){count});
  sambaTraceSetLayer(learner->trace, sambaStringRef("drop"), NULL, 0);
  SambaTraceValue *y = sambaTraceDropout(w, p);
  sambaTraceOutput(learner->trace, "y", y);
  sambaTraceLoss(learner->trace, "loss", sambaSum(y, 0, NULL, false));
  sambaTraceAddOptimizer(learner->trace, "sgd,lr=0", "", 0, NULL);
  learnerOpen(learner);
  put(learner, "w", ones);
}

/* Half of y is 0 and the rest 2, within four standard deviations. */
static void isHalved(const float *y) {
  uint32_t zeros = 0;
  for (int i = 0; i < count; ++i) {
    assert_true(y[i] == 0 || y[i] == 2);
    zeros += y[i] == 0;
  }
  areAll((float[]){(float)zeros / count}, 0.5, 1, 0.002);
}

static void evaluate(Learner *learner, uint32_t given, const SambaHyperparameter *values) {
  const SambaSectionType forward = SAMBA_SECTION_FWD;
  SambaRunOptions options = {.order = {.type_count = 1, .types = &forward},
                             .hyperparameter_count = given,
                             .hyperparameters = values,
                             .evaluate = true};
  succeeds(sambaSessionRun(learner->session, &options, NULL, NULL));
}

/* S074 too: evaluation leaves the rate as it is. */
static void e17TrainEvaluateTrain(void **state) {
  (void)state;
  Learner learner;
  openDropout(&learner, 0.5);
  runs(&learner, "F");
  const float *first = get(&learner, "y");
  isHalved(first);

  evaluate(&learner, 0, NULL);
  assert_memory_equal(get(&learner, "y"), ones, sizeof ones);

  runs(&learner, "F");
  const float *second = get(&learner, "y");
  isHalved(second);
  assert_true(memcmp(first, second, sizeof ones) != 0);

  /* The same start, the same masks; a seed that is given stays. */
  sambaSessionSeedGenerator(learner.session, 0);
  runs(&learner, "F");
  assert_memory_equal(get(&learner, "y"), first, sizeof ones);
  runsWith(&learner, "F", "drop__seed", 99);
  const float *given = get(&learner, "y");
  runs(&learner, "F");
  assert_memory_equal(get(&learner, "y"), given, sizeof ones);
  learnerEnd(&learner);
}

/* A rate that is given in evaluation is stored, and counts later. */
static void s074RateGivenInEvaluation(void **state) {
  (void)state;
  Learner learner;
  openDropout(&learner, 0.25);
  evaluate(&learner, 1, &(SambaHyperparameter){sambaStringRef("p"), 0.5});
  assert_memory_equal(get(&learner, "y"), ones, sizeof ones);
  runs(&learner, "F");
  isHalved(get(&learner, "y"));
  learnerEnd(&learner);
}

/* A rate of 0 at compile time is not folded. */
static void s073RateOfZero(void **state) {
  (void)state;
  Learner learner;
  openDropout(&learner, 0);
  runs(&learner, "F");
  assert_memory_equal(get(&learner, "y"), ones, sizeof ones);
  runsWith(&learner, "F", "p", 0.5);
  isHalved(get(&learner, "y"));
  learnerEnd(&learner);
}

/* The gradient is 2 where the mask of the forward pass kept an element, and 0 elsewhere: in one
 * run, and in a run of its own. */
static void s075OneMaskInBothDirections(void **state) {
  (void)state;
  Learner learner;
  openDropout(&learner, 0.5);
  for (int apart = 0; apart < 2; ++apart) {
    runs(&learner, apart ? "F" : "FB");
    if (apart)
      runs(&learner, "B");
    const float *y = get(&learner, "y");
    isHalved(y);
    assert_memory_equal(get(&learner, "w__grad"), y, sizeof ones);
  }
  learnerEnd(&learner);
}

typedef struct {
  char text[128];
} Names;

static void addName(void *user, const SambaArginInfo *argin) {
  Names *names = user;
  size_t size = strlen(names->text);
  snprintf(names->text + size, sizeof names->text - size, " %.*s", SAMBA_STRING_ARGS(argin->name));
}

/* Two layers, each with a rate and a seed; the group key sets both rates, a name one (S071). */
static void s051TwoLayers(void **state) {
  (void)state;
  Learner learner;
  learnerBegin(&learner, "dropout-test.pef");
  SambaTraceValue *w = trained(&learner, "w", 1, (int64_t[]){4096});
  static const char *const layers[] = {"one", "two"}, *const results[] = {"y1", "y2"};
  SambaTraceValue *sum = NULL;
  for (int i = 0; i < 2; ++i) {
    sambaTraceSetLayer(learner.trace, sambaStringRef(layers[i]), NULL, 0);
    SambaTraceValue *y = sambaTraceDropout(w, 0.5);
    sambaTraceOutput(learner.trace, results[i], y);
    sum = sum ? sambaAdd(sum, y) : y;
  }
  sambaTraceLoss(learner.trace, "loss", sambaSum(sum, 0, NULL, false));
  sambaTraceAddOptimizer(learner.trace, "sgd,lr=0", "", 0, NULL);
  learnerOpen(&learner);
  put(&learner, "w", ones);

  Names rates = {""}, seeds = {""}, all = {""};
  sambaSessionForEachArgin(learner.session, 1u << SAMBA_ARGIN_DROPOUT_RATE, addName, &rates);
  sambaSessionForEachArgin(learner.session, 1u << SAMBA_ARGIN_DROPOUT_SEED, addName, &seeds);
  sambaSessionForEachArgin(learner.session, ~0u, addName, &all);
  assert_string_equal(rates.text, " one__p two__p");
  assert_string_equal(seeds.text, " one__seed two__seed"); /* S052 */
  assert_non_null(strstr(all.text, " lr"));                /* S050 */

  runs(&learner, "F");
  assert_true(memcmp(get(&learner, "y1"), get(&learner, "y2"), 4096 * sizeof(float)) != 0);
  runsWith(&learner, "F", "p", 0);
  areAll(get(&learner, "y1"), 1, 4096, 0);
  areAll(get(&learner, "y2"), 1, 4096, 0);
  runsWith(&learner, "F", "two__p", 0.5);
  areAll(get(&learner, "y1"), 1, 4096, 0);
  areAll((float[]){get(&learner, "y2")[0] == 1}, 0, 1, 0);
  learnerEnd(&learner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(e17TrainEvaluateTrain), cmocka_unit_test(s074RateGivenInEvaluation),
      cmocka_unit_test(s073RateOfZero),        cmocka_unit_test(s075OneMaskInBothDirections),
      cmocka_unit_test(s051TwoLayers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
