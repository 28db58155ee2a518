/* Which results are losses, and what their gradients are, whole way. */
#include "test/training/learner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const float four[] = {1, 2, 3, 4};

/* y = x w and l, its sum; both are results, the second one is the loss. */
static void traceSum(Learner *learner) {
  learnerBegin(learner, "losses-test.pef");
  SambaTraceValue *x = fed(learner, "x", 2, (int64_t[]){2, 2});
  SambaTraceValue *w = trained(learner, "w", 2, (int64_t[]){2, 3});
  SambaTraceValue *y = sambaMatmul(x, w);
  sambaTraceOutput(learner->trace, "y", y);
  sambaTraceOutput(learner->trace, "l", sambaSum(y, 0, NULL, false));
  sambaTraceAddOptimizer(learner->trace, "sgd,lr=0.1", "", 0, NULL);
}

/* dw[i][j] is the sum of x[n][i] over n, times the scale. */
static void hasGradientOfTheSum(Learner *learner, double scale) {
  static const float w[6] = {1, -1, 2, 0, 1, 1};
  put(learner, "x", four);
  put(learner, "w", w);
  runs(learner, "FB");
  areNear(get(learner, "w__grad"),
          (double[]){4 * scale, 4 * scale, 4 * scale, 6 * scale, 6 * scale, 6 * scale}, 6, 0);
}

/* Named, or left to the compiler, which takes the result on which no other depends; both taken, the
 * gradients of y and of its sum add up. */
static void e07LossThatIsASum(void **state) {
  (void)state;
  static const struct {
    uint32_t count;
    int64_t results[2];
    double scale;
  } cases[] = {{1, {1}, 1}, {0, {0}, 1}, {1, {0}, 1}, {2, {0, 1}, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    Learner learner;
    traceSum(&learner);
    if (cases[i].count)
      sambaTraceSelectLosses(learner.trace, cases[i].count, cases[i].results);
    learnerOpen(&learner);
    hasGradientOfTheSum(&learner, cases[i].scale);
    learnerEnd(&learner);
  }
}

/* Results o0, o1, l0, l1, which are 1, 10, 100 and 1000 times the sum of w. */
static void u015ChosenLosses(void **state) {
  (void)state;
  static const struct {
    uint32_t count;
    int64_t results[3];
    double gradient;
  } cases[] = {{2, {2, 3}, 1100}, {0, {0}, 1111}, {1, {1}, 10}, {3, {0, 1, 3}, 1011}};
  static const char *const names[] = {"o0", "o1", "l0", "l1"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    Learner learner;
    learnerBegin(&learner, "losses-test.pef");
    SambaTraceValue *w = trained(&learner, "w", 1, (int64_t[]){4});
    double factor = 1;
    for (int r = 0; r < 4; ++r, factor *= 10)
      sambaTraceOutput(learner.trace, names[r],
                       sambaMul(sambaSum(w, 0, NULL, false),
                                sambaTraceScalar(learner.trace, SAMBA_DTYPE_F32, factor)));
    sambaTraceAddOptimizer(learner.trace, "sgd,lr=0.1", "", 0, NULL);
    if (cases[i].count)
      sambaTraceSelectLosses(learner.trace, cases[i].count, cases[i].results);
    learnerOpen(&learner);
    put(&learner, "w", four);
    runs(&learner, "FB");
    areAll(get(&learner, "w__grad"), cases[i].gradient, 4, 0);
    learnerEnd(&learner);
  }
}

/* The gradient of w when the loss is `make`'s result. */
static void hasGradient(SambaTraceValue *(*make)(SambaTraceValue *w), const double *expected) {
  Learner learner;
  learnerBegin(&learner, "losses-test.pef");
  SambaTraceValue *w = trained(&learner, "w", 1, (int64_t[]){4});
  sambaTraceLoss(learner.trace, "loss", make(w));
  learnerOpen(&learner);
  put(&learner, "w", four);
  runs(&learner, "");
  areNear(get(&learner, "w__grad"), expected, 4, 0);
  learnerEnd(&learner);
}

static SambaTraceValue *sumOf(SambaTraceValue *w) { return sambaSum(w, 0, NULL, false); }
static SambaTraceValue *sumOfTwice(SambaTraceValue *w) {
  return sambaSum(sambaAdd(w, w), 0, NULL, false);
}
static SambaTraceValue *sumWithShape(SambaTraceValue *w) { return sambaSum(w, 0, NULL, true); }
static SambaTraceValue *sumOfHalfSquare(SambaTraceValue *w) {
  return sambaSum(sambaMul(w, sambaDetach(w)), 0, NULL, false);
}

/* The seed is 1; a value that is used twice gets the sum of both gradients. */
static void n060GradientsOfASum(void **state) {
  (void)state;
  hasGradient(sumOf, (double[]){1, 1, 1, 1});
  hasGradient(sumOfTwice, (double[]){2, 2, 2, 2});
}

/* A loss of one element may have a shape. */
static void n063LossOfOneElement(void **state) {
  (void)state;
  hasGradient(sumWithShape, (double[]){1, 1, 1, 1});
}

/* No gradient flows through the detached factor: that of x * detach(x) is x. */
static void n033Detach(void **state) {
  (void)state;
  hasGradient(sumOfHalfSquare, (double[]){1, 2, 3, 4});
}

/* Who does not require a gradient has none, in the PEF neither. */
static void n061OnlyRequiredGradients(void **state) {
  (void)state;
  Learner learner;
  traceSum(&learner);
  learnerOpen(&learner);
  const SambaPef *pef = sambaSessionGetPef(learner.session);
  uint32_t gradients = 0;
  for (uint32_t s = 0; s < pef->symbols_count; ++s)
    gradients += pef->symbols[s].kind == SAMBA_PEF_SYMBOL_GRADIENT;
  assert_int_equal(gradients, 2); /* of w and of the loss l */
  SambaTensor *tensor;
  refuses(sambaSessionReadTensor(learner.session, sambaStringRef("x__grad"), &tensor),
          "there is no tensor named 'x__grad'");
  learnerEnd(&learner);
}

/* N060: the seed has the loss's shape; another one is refused with both. */
static void n060SeedOfAnotherShape(void **state) {
  (void)state;
  Learner learner;
  traceSum(&learner);
  learnerOpen(&learner);
  refuses(sambaSessionSetInput(learner.session, sambaStringRef("l__grad"), SAMBA_DTYPE_F32, 1,
                               (int64_t[]){4}, four),
          "'l__grad'");
  learnerEnd(&learner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(e07LossThatIsASum),
      cmocka_unit_test(u015ChosenLosses),
      cmocka_unit_test(n060GradientsOfASum),
      cmocka_unit_test(n060SeedOfAnotherShape),
      cmocka_unit_test(n061OnlyRequiredGradients),
      cmocka_unit_test(n063LossOfOneElement),
      cmocka_unit_test(n033Detach),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
