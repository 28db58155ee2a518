/* One linear layer of 10 inputs and outputs on a batch of 5, SGD with rate 0.1, whole way. All
 * numbers are small multiples of powers of two, so that most results are exact. The expected ones
 * are the formulas of y = x w' + b with gradients of ones:
 * dw[i][j] = sum of x[n][j] over n, db = 5, dx[n][j] = sum of w[i][j] over i. */
#include "test/training/learner.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { rows = 5, width = 10 };

static float x[rows * width], w[width * width], b[width];
static double columnSums[width]; /* of x */

static int fill(void **state) {
  (void)state;
  for (int i = 0; i < rows * width; ++i)
    x[i] = (float)(i * 7 % 11 - 5) / 4;
  for (int i = 0; i < width * width; ++i)
    w[i] = (float)(i * 5 % 13 - 6) / 8;
  for (int i = 0; i < width; ++i)
    b[i] = (float)i;
  for (int i = 0; i < rows * width; ++i)
    columnSums[i % width] += x[i];
  return 0;
}

static void traceLinear(Learner *learner, const char *optimizer) {
  learnerBegin(learner, "linear-test.pef");
  SambaTraceValue *input = fed(learner, "x", 2, (int64_t[]){rows, width});
  sambaTraceSetRequiresGrad(input, true);
  SambaTraceValue *weight = trained(learner, "weight", 2, (int64_t[]){width, width});
  SambaTraceValue *bias = trained(learner, "bias", 1, (int64_t[]){width});
  sambaTraceOutput(learner->trace, "y", sambaLinear(input, weight, bias));
  sambaTraceAddOptimizer(learner->trace, optimizer, "", 0, NULL);
}

static void putAll(Learner *learner) {
  put(learner, "x", x);
  put(learner, "weight", w);
  put(learner, "bias", b);
}

static void openLinear(Learner *learner, const char *optimizer) {
  traceLinear(learner, optimizer);
  learnerOpen(learner);
  putAll(learner);
}

/* y of weights that have moved `steps` times against dw and db at a rate. */
static void isForward(const float *got, double steps, double rate) {
  for (int n = 0; n < rows; ++n)
    for (int i = 0; i < width; ++i) {
      double y = b[i] - steps * rate * rows;
      for (int j = 0; j < width; ++j)
        y += x[n * width + j] * (w[i * width + j] - steps * rate * columnSums[j]);
      areNear(got + n * width + i, &y, 1, 2e-5);
    }
}

static void haveMoved(Learner *learner, double rates) {
  const float *weight = get(learner, "weight"), *bias = get(learner, "bias");
  for (int i = 0; i < width; ++i) {
    areAll(bias + i, b[i] - rates * rows, 1, 2e-6);
    for (int j = 0; j < width; ++j)
      areAll(weight + i * width + j, w[i * width + j] - rates * columnSums[j], 1, 2e-6);
  }
}

static void haveGradients(Learner *learner, double scale) {
  const float *dw = get(learner, "weight__grad"), *dx = get(learner, "x__grad");
  areAll(get(learner, "bias__grad"), 5 * scale, width, 0);
  for (int i = 0; i < width * width; ++i)
    areAll(dw + i, scale * columnSums[i % width], 1, 0);

  for (int j = 0; j < width; ++j) {
    double sum = 0;
    for (int i = 0; i < width; ++i)
      sum += w[i * width + j];
    for (int n = 0; n < rows; ++n)
      areAll(dx + n * width + j, scale * sum, 1, 0);
  }
}

/* S020 too: the PEF has sections of types FWD, BCKWD and OPT. */
static void e01OneStep(void **state) {
  (void)state;
  Learner learner;
  openLinear(&learner, "sgd,lr=0.1");
  assert_int_equal(sambaSessionGetSectionTypes(learner.session),
                   sambaSectionTypeBit(SAMBA_SECTION_FWD) |
                       sambaSectionTypeBit(SAMBA_SECTION_BCKWD) |
                       sambaSectionTypeBit(SAMBA_SECTION_OPT));
  runs(&learner, "");
  isForward(get(&learner, "y"), 0, 0.1);
  haveGradients(&learner, 1);
  haveMoved(&learner, 0.1);
  learnerEnd(&learner);
}

static uint32_t writes;
static const SambaDeviceFunctions *functions;

static SambaStatus countedWrite(SambaDevice *device, uint32_t symbol, const void *data) {
  ++writes;
  return functions->write(device, symbol, data);
}

static void e02AnotherStepWithoutInputs(void **state) {
  (void)state;
  Learner learner;
  openLinear(&learner, "sgd,lr=0.1");
  runs(&learner, "");

  SambaDevice *device = sambaSessionGetDevice(learner.session);
  functions = device->functions;
  SambaDeviceFunctions counted = *functions;
  counted.write = countedWrite;
  device->functions = &counted;
  runs(&learner, "");
  assert_int_equal(writes, 0);
  isForward(get(&learner, "y"), 1, 0.1);
  put(&learner, "x", x);
  assert_int_equal(writes, 1);
  device->functions = functions;
  learnerEnd(&learner);
}

/* S070 too: a value that is given stays for later runs. */
static void e03RateOfARunStays(void **state) {
  (void)state;
  Learner learner;
  openLinear(&learner, "sgd,lr=0.1");
  runsWith(&learner, "", "lr", 0.2);
  areAll(get(&learner, "bias") + 9, 8, 1, 2e-6);
  runs(&learner, "");
  areAll(get(&learner, "bias") + 9, 7, 1, 2e-6);
  learnerEnd(&learner);
}

/* S083 and S087 too: the forward pass changes neither weights nor gradients. */
static void e04ForwardAlone(void **state) {
  (void)state;
  float sevens[width * width];
  for (int i = 0; i < width * width; ++i)
    sevens[i] = 7;
  Learner learner;
  openLinear(&learner, "sgd,lr=0.1");
  put(&learner, "weight__grad", sevens);
  runs(&learner, "F");
  isForward(get(&learner, "y"), 0, 0.1);
  assert_memory_equal(get(&learner, "weight"), w, sizeof w);
  assert_memory_equal(get(&learner, "bias"), b, sizeof b);
  assert_memory_equal(get(&learner, "weight__grad"), sevens, sizeof sevens);
  learnerEnd(&learner);
}

static const char *const results[] = {"y", "weight__grad", "bias__grad", "weight", "bias"};

static void e05PartsOfAStep(void **state) {
  (void)state;
  Learner whole, parts;
  openLinear(&whole, "sgd,lr=0.1");
  runs(&whole, "");

  /* S088: the backward pass of a later run reads what the forward pass left. */
  openLinear(&parts, "sgd,lr=0.1");
  runs(&parts, "F");
  runs(&parts, "B");
  runs(&parts, "O");
  for (size_t i = 0; i < sizeof results / sizeof *results; ++i)
    assert_memory_equal(get(&parts, results[i]), get(&whole, results[i]),
                        elementsOf(&whole, results[i]) * sizeof(float));

  /* S092, S093: until a call, and from it; wherever the step is cut. */
  uint32_t calls = (uint32_t)sambaSessionGetPef(parts.session)->calls_count;
  assert_true(calls >= 3);
  for (uint32_t cut = 0; cut <= calls; ++cut) {
    SambaRunOptions until = {.order = {.has_until = true, .until = cut}};
    SambaRunOptions from = {.order = {.has_from = true, .from = cut}};
    putAll(&parts);
    if (cut)
      succeeds(sambaSessionRun(parts.session, &until, NULL, NULL));
    if (cut < calls)
      succeeds(sambaSessionRun(parts.session, &from, NULL, NULL));
    for (size_t i = 0; i < sizeof results / sizeof *results; ++i)
      assert_memory_equal(get(&parts, results[i]), get(&whole, results[i]),
                          elementsOf(&whole, results[i]) * sizeof(float));
  }
  learnerEnd(&parts);
  learnerEnd(&whole);
}

static void e06GradientOfTheOutput(void **state) {
  (void)state;
  float twos[rows * width];
  for (int i = 0; i < rows * width; ++i)
    twos[i] = 2;
  Learner learner;
  openLinear(&learner, "sgd,lr=0.1");
  put(&learner, "y__grad", twos);
  runs(&learner, "");
  haveGradients(&learner, 2);
  haveMoved(&learner, 0.2);
  learnerEnd(&learner);
}

/* E19 and S086: with accumulation two passes add up and ZEROGRAD starts again; without, each
 * backward pass overwrites. */
static void e19Accumulation(void **state) {
  (void)state;
  Learner learner;
  traceLinear(&learner, "sgd,lr=0.1");
  sambaTraceAccumulateGradients(learner.trace);
  learnerOpen(&learner);
  putAll(&learner);
  runs(&learner, "FBFB");
  areAll(get(&learner, "bias__grad"), 10, width, 0);
  runs(&learner, "O");
  haveMoved(&learner, 0.2);
  runs(&learner, "Z");
  areAll(get(&learner, "bias__grad"), 0, width, 0);
  areAll(get(&learner, "weight__grad"), 0, width * width, 0);
  learnerEnd(&learner);

  openLinear(&learner, "sgd,lr=0.1");
  runs(&learner, "FBFB");
  haveGradients(&learner, 1);
  learnerEnd(&learner);
}

/* S089: gradients stay after a run, and each launch of OPT is a step with them. */
static void s089TwoStepsWithTheSameGradients(void **state) {
  (void)state;
  Learner learner;
  openLinear(&learner, "sgd,lr=0.1");
  runs(&learner, "FBOO");
  haveMoved(&learner, 0.2);
  runs(&learner, "O");
  haveMoved(&learner, 0.3);
  learnerEnd(&learner);
}

static double normOfGradients(Learner *learner) {
  const float *dw = get(learner, "weight__grad"), *db = get(learner, "bias__grad");
  double sum = 0;
  for (int i = 0; i < width * width; ++i)
    sum += (double)dw[i] * dw[i];
  for (int i = 0; i < width; ++i)
    sum += (double)db[i] * db[i];
  return sqrt(sum);
}

static void s091NormOfGradients(void **state) {
  (void)state;
  Learner learner;
  openLinear(&learner, "adamw,lr=0.001,max_grad_norm=1.5");
  runs(&learner, "FB");
  double norm = normOfGradients(&learner);
  assert_true(norm > 15);
  const float *before = get(&learner, "bias__grad");
  runs(&learner, "G");
  areAll((float[]){(float)normOfGradients(&learner)}, 1.5, 1, 1e-5);
  areAll(get(&learner, "bias__grad"), before[0] * 1.5 / norm, width, 1e-6);
  learnerEnd(&learner);
}

/* G016: the keys of SGD. T053, T099: gradients can be written and read, where they exist. */
static void t099GradientsOfTheSession(void **state) {
  (void)state;
  const float zeros[width] = {0};
  Learner learner;
  learnerBegin(&learner, "linear-test.pef");
  SambaTraceValue *input = fed(&learner, "x", 2, (int64_t[]){rows, width});
  SambaTraceValue *weight = trained(&learner, "weight", 2, (int64_t[]){width, width});
  SambaTraceValue *bias =
      sambaTraceParameter(learner.trace, "bias", SAMBA_DTYPE_F32, 1, (int64_t[]){width}, b);
  sambaTraceOutput(learner.trace, "y", sambaLinear(input, weight, bias));
  sambaTraceAddOptimizer(learner.trace, "sgd,lr=0.1", "", 0, NULL);
  learnerOpen(&learner);
  put(&learner, "x", x);
  put(&learner, "weight", w);
  runs(&learner, "FB");
  areAll(get(&learner, "weight__grad") + 3, columnSums[3], 1, 0);
  float ones[width * width];
  for (int i = 0; i < width * width; ++i)
    ones[i] = 1;
  put(&learner, "weight__grad", ones);
  areAll(get(&learner, "weight__grad"), 1, width * width, 0);
  runs(&learner, "O");
  areAll(get(&learner, "weight"), w[0] - 0.1, 1, 1e-6);

  /* T092: the name; only what is trained has it, and what is frozen stays. */
  const SambaPefSymbol *symbol;
  succeeds(sambaSessionFindTensor(learner.session, sambaStringRef("weight__grad"), &symbol));
  assert_int_equal(symbol->kind, SAMBA_PEF_SYMBOL_GRADIENT);
  const char *none = "there is no tensor named 'bias__grad': only what was compiled with "
                     "requires_grad has a gradient, and 'bias' was not";
  SambaTensor *tensor;
  refuses(sambaSessionReadTensor(learner.session, sambaStringRef("bias__grad"), &tensor), none);
  refuses(sambaSessionSetInput(learner.session, sambaStringRef("bias__grad"), SAMBA_DTYPE_F32, 1,
                               (int64_t[]){width}, zeros),
          none);
  assert_memory_equal(get(&learner, "bias"), b, sizeof b);
  learnerEnd(&learner);
}

/* S022, S071: two optimizers have a rate each; the group key sets both, the name one. */
static void s022TwoOptimizers(void **state) {
  (void)state;
  Learner learner;
  learnerBegin(&learner, "linear-test.pef");
  SambaTraceValue *input = fed(&learner, "x", 2, (int64_t[]){rows, width});
  SambaTraceValue *weight = trained(&learner, "weight", 2, (int64_t[]){width, width});
  SambaTraceValue *bias = trained(&learner, "bias", 1, (int64_t[]){width});
  sambaTraceOutput(learner.trace, "y", sambaLinear(input, weight, bias));
  sambaTraceAddOptimizer(learner.trace, "sgd,lr=0.1", "first.", 1, &weight);
  sambaTraceAddOptimizer(learner.trace, "sgd,lr=0.2", "second.", 1, &bias);
  learnerOpen(&learner);
  putAll(&learner);
  runs(&learner, "");
  areAll(get(&learner, "weight"), w[0] - 0.1 * columnSums[0], 1, 1e-6);
  areAll(get(&learner, "bias") + 9, 8, 1, 2e-6);

  putAll(&learner);
  runsWith(&learner, "", "lr", 0.4);
  areAll(get(&learner, "weight"), w[0] - 0.4 * columnSums[0], 1, 1e-6);
  areAll(get(&learner, "bias") + 9, 7, 1, 2e-6);

  putAll(&learner);
  runsWith(&learner, "", "second.lr", 0.2);
  areAll(get(&learner, "weight"), w[0] - 0.4 * columnSums[0], 1, 1e-6);
  areAll(get(&learner, "bias") + 9, 8, 1, 2e-6);

  /* S071: the exact name wins over the group, wherever it stands. */
  const SambaHyperparameter both[] = {{sambaStringRef("first.lr"), 0.8}, {sambaStringRef("lr"), 0}};
  SambaRunOptions options = {.hyperparameter_count = 2, .hyperparameters = both};
  putAll(&learner);
  succeeds(sambaSessionRun(learner.session, &options, NULL, NULL));
  areAll(get(&learner, "weight"), w[0] - 0.8 * columnSums[0], 1, 2e-6);
  assert_memory_equal(get(&learner, "bias"), b, sizeof b);
  learnerEnd(&learner);

  /* A parameter belongs to one optimizer. */
  learnerBegin(&learner, "linear-test.pef");
  weight = trained(&learner, "weight", 2, (int64_t[]){width, width});
  sambaTraceOutput(learner.trace, "y", weight);
  sambaTraceAddOptimizer(learner.trace, "sgd,lr=0.1", "", 1, &weight);
  sambaTraceAddOptimizer(learner.trace, "sgd,lr=0.2", "", 1, &weight);
  refuses(learnerCompile(&learner), "weight \"weight\" has optimizer 0 (sgd) already");
  learnerEnd(&learner);
}

/* S072: what is out of range is refused, and nothing is stored or launched. G016: the keys. */
static void s072RangesOfHyperparameters(void **state) {
  (void)state;
  static const char *const names[] = {"lr", "momentum", "weight_decay"};
  Learner learner;
  openLinear(&learner, "sgd,lr=0.1");
  runs(&learner, "F");
  for (size_t i = 0; i < 3; ++i)
    for (int infinite = 0; infinite < 2; ++infinite) {
      SambaHyperparameter given = {sambaStringRef(names[i]), infinite ? INFINITY : -0.5};
      SambaRunOptions options = {.hyperparameter_count = 1, .hyperparameters = &given};
      refuses(sambaSessionRun(learner.session, &options, NULL, NULL), names[i]);
    }
  assert_memory_equal(get(&learner, "weight"), w, sizeof w);
  runsWith(&learner, "", "weight_decay", 0.5);
  double expected = b[9] - 0.1 * (5 + 0.5 * b[9]);
  areNear(get(&learner, "bias") + 9, &expected, 1, 2e-6);
  learnerEnd(&learner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(e01OneStep),          cmocka_unit_test(e02AnotherStepWithoutInputs),
      cmocka_unit_test(e03RateOfARunStays),  cmocka_unit_test(e04ForwardAlone),
      cmocka_unit_test(e05PartsOfAStep),     cmocka_unit_test(e06GradientOfTheOutput),
      cmocka_unit_test(e19Accumulation),     cmocka_unit_test(s089TwoStepsWithTheSameGradients),
      cmocka_unit_test(s091NormOfGradients), cmocka_unit_test(t099GradientsOfTheSession),
      cmocka_unit_test(s022TwoOptimizers),   cmocka_unit_test(s072RangesOfHyperparameters),
  };
  return cmocka_run_group_tests(tests, fill, NULL);
}
