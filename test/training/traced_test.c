/* Traced graphs that learn, compiled and run: what a step leaves in device memory is what the
 * formulas say. */
#include "frontend/trace/trace.h"
#include "pipeline/compile.h"
#include "runtime/session.h"
#include "samba/operators.h"
#include "samba/session.h"
#include "samba/training.h"
#include "support/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static MlirContext context;
static char path[] = "/tmp/samba-traced-XXXXXX";

static int setUp(void **state) {
  (void)state;
  context = sambaCompilerContextCreate();
  int file = mkstemp(path);
  return file < 0 ? -1 : close(file);
}

static int tearDown(void **state) {
  (void)state;
  char log[sizeof path + 4];
  snprintf(log, sizeof log, "%s.log", path);
  unlink(path), unlink(log);
  mlirContextDestroy(context);
  return 0;
}

static void fine(SambaStatus status) {
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
}

/* Compiles what was traced and opens it; `choose`: the compiler chooses the losses. */
static SambaSession *openTrace(SambaTrace *trace, bool choose) {
  SambaTraceRecord record = *sambaTraceGetRecord(trace);
  SambaText text = {0};
  for (uint32_t i = 0; i < record.line_count; ++i)
    sambaTextFormat(&text, "%s\n", record.lines[i]);
  SambaModuleOptions options = {
      .pipeline = {.target = "sn40l", .inference = choose ? "false" : NULL},
      .trace = sambaTextGet(&text),
      .trace_size = text.size};
  MlirModule module;
  fine(sambaTraceFinish(trace, &module));
  fine(sambaCompileModule(module, &options, &(SambaCompileOutput){.path = path}));
  mlirModuleDestroy(module);
  sambaTraceDestroy(trace);
  sambaTextFree(&text);

  SambaSession *session;
  SambaSimulatedDeviceOptions device_options = {.threads = 1};
  SambaDeviceFactory device = sambaSimulatedDevice(&device_options);
  fine(sambaSessionOpen(path, &device, &session));
  return session;
}

static void run(SambaSession *session) { fine(sambaSessionRun(session, NULL, NULL, NULL)); }

/* A tensor has these numbers. */
static void holds(SambaSession *session, const char *name, int count, const double *wanted) {
  SambaTensor *tensor;
  fine(sambaSessionReadTensor(session, sambaStringRef(name), &tensor));
  assert_int_equal(sambaTensorGetNumBytes(tensor), (uint64_t)count * sizeof(float));
  for (int i = 0; i < count; ++i)
    if (!(fabs(((float *)sambaTensorGetDataPtr(tensor))[i] - wanted[i]) <=
          1e-6 * fmax(1, fabs(wanted[i]))))
      fail_msg("%s[%d] is %.9g, not %.9g", name, i,
               (double)((float *)sambaTensorGetDataPtr(tensor))[i], wanted[i]);
  sambaTensorRelease(tensor);
}

static SambaTraceValue *vector(SambaTrace *trace, const char *name, const float data[3]) {
  SambaTraceValue *tensor =
      sambaTraceParameter(trace, name, SAMBA_DTYPE_F32, 1, (int64_t[]){3}, data);
  return sambaTraceSetRequiresGrad(tensor, true);
}

static const float numbers[] = {1, 2, -3};

/* N033: the gradient of w * detach(w) is w, not 2 w. */
static void n033Detach(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *w = vector(trace, "w", numbers);
  SambaTraceValue *cut = sambaDetach(w);
  assert_false(cut->requires_grad);
  sambaTraceLoss(trace, "loss", sambaSum(sambaMul(w, cut), 0, NULL, false));
  SambaSession *session = openTrace(trace, false);
  run(session);
  holds(session, "loss", 1, (double[]){14});
  holds(session, "w__grad", 3, (double[]){1, 2, -3});
  sambaSessionClose(session);
}

/* T052: an input has a gradient too; an optimizer leaves it alone. */
static void t052GradientOfInput(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *x = sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 1, (int64_t[]){3});
  sambaTraceSetRequiresGrad(x, true);
  SambaTraceValue *w = vector(trace, "w", numbers);
  sambaTraceLoss(trace, "loss", sambaSum(sambaMul(x, w), 0, NULL, false));
  sambaTraceAddOptimizer(trace, "sgd,lr=1", "", 0, NULL);
  SambaSession *session = openTrace(trace, false);
  const float data[] = {4, 5, 6};
  fine(
      sambaSessionSetInput(session, sambaStringRef("x"), SAMBA_DTYPE_F32, 1, (int64_t[]){3}, data));
  run(session);
  holds(session, "x__grad", 3, (double[]){1, 2, -3});
  holds(session, "x", 3, (double[]){4, 5, 6});
  holds(session, "w", 3, (double[]){-3, -3, -9});
  sambaSessionClose(session);
}

/* T052, G010, S022: two optimizers with learning rates of their own, by name or both at once; what
 * is frozen stays. */
static void s022TwoOptimizers(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *a = vector(trace, "a", numbers), *b = vector(trace, "b", numbers);
  SambaTraceValue *c = sambaTraceSetRequiresGrad(vector(trace, "c", numbers), false);
  SambaTraceValue *product = sambaMul(sambaMul(a, b), c);
  sambaTraceLoss(trace, "loss", sambaSum(product, 0, NULL, false));
  sambaTraceAddOptimizer(trace, "sgd,lr=0.5", "", 1, &a);
  sambaTraceAddOptimizer(trace, "sgd,lr=0.25", "", 1, &b);
  SambaSession *session = openTrace(trace, false);

  /* The gradient of each is the product of the others: 1, 4, 9. */
  run(session);
  holds(session, "a", 3, (double[]){0.5, 0, -7.5});
  holds(session, "b", 3, (double[]){0.75, 1, -5.25});
  holds(session, "c", 3, (double[]){1, 2, -3});

  SambaHyperparameter second = {sambaStringRef("optimizer_1.lr"), 0};
  fine(sambaHyperparametersSet(sambaSessionGetHyperparameters(session), 1, &second));
  run(session);
  holds(session, "a", 3, (double[]){0.5 - 0.5 * 0.75, -0.5 * 2, -7.5 - 0.5 * 15.75});
  holds(session, "b", 3, (double[]){0.75, 1, -5.25});
  second.value = 0.25;
  fine(sambaHyperparametersSet(sambaSessionGetHyperparameters(session), 1, &second));
  SambaHyperparameter all = {sambaStringRef("lr"), 0};
  fine(sambaHyperparametersSet(sambaSessionGetHyperparameters(session), 1, &all));
  run(session);
  holds(session, "a", 3, (double[]){0.125, -1, -15.375});
  sambaSessionClose(session);
}

/* D7: the norm is over all groups of an optimizer. A parameter in no optimizer has its gradient,
 * which nothing clips, and stays as it is. */
static void groupsAreClippedTogether(void **state) {
  (void)state;
  static const float along_a[] = {3, 0, 0}, along_b[] = {0, 4, 0};
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *a = vector(trace, "a", numbers), *b = vector(trace, "b", numbers);
  SambaTraceValue *alone = vector(trace, "alone", numbers);
  SambaTraceValue *c = sambaTraceSetRequiresGrad(vector(trace, "c", along_a), false);
  SambaTraceValue *d = sambaTraceSetRequiresGrad(vector(trace, "d", along_b), false);
  SambaTraceValue *sum = sambaAdd(sambaAdd(sambaMul(a, c), sambaMul(b, d)), alone);
  sambaTraceLoss(trace, "loss", sambaSum(sum, 0, NULL, false));
  sambaTraceAddOptimizer(trace, "adamw,lr=0.5,max_grad_norm=1", "", 1, &a);
  sambaTraceAddParameterGroup(trace, "adamw,lr=0.25", "", 1, &b);
  SambaSession *session = openTrace(trace, false);

  run(session); /* the norm is 5; the first step of AdamW is the learning rate */
  holds(session, "a__grad", 3, (double[]){3 / 5.000001, 0, 0});
  holds(session, "b__grad", 3, (double[]){0, 4 / 5.000001, 0});
  holds(session, "alone__grad", 3, (double[]){1, 1, 1});
  holds(session, "a", 3, (double[]){0.5, 2, -3});
  holds(session, "b", 3, (double[]){1, 1.75, -3});
  holds(session, "alone", 3, (double[]){1, 2, -3});
  sambaSessionClose(session);
}

/* U015: with results o, l0 and l1 the losses are those that were selected; without a selection the
 * float results on which no other depends. */
static void u015Losses(void **state) {
  (void)state;
  for (int selects = 0; selects < 2; ++selects) {
    SambaTrace *trace = sambaTraceCreateInContext(context, "g");
    SambaTraceValue *w = vector(trace, "w", numbers);
    SambaTraceValue *square = sambaMul(w, w);
    sambaTraceOutput(trace, "o", square);
    sambaTraceOutput(trace, "l0", sambaSum(square, 0, NULL, false));
    sambaTraceOutput(trace, "l1", sambaSum(w, 0, NULL, false));
    if (selects)
      sambaTraceSelectLosses(trace, 1, (int64_t[]){2});
    sambaTraceAddOptimizer(trace, "sgd,lr=1", "", 0, NULL);
    SambaSession *session = openTrace(trace, !selects);
    run(session);
    if (selects)
      holds(session, "w", 3, (double[]){0, 1, -4});
    else /* 2 w + 1 */
      holds(session, "w", 3, (double[]){-2, -3, 2});
    sambaSessionClose(session);
  }
}

/* Running statistics after one step, in double precision by torch.nn.BatchNorm's formula. */
static void batchNormKeepsStatistics(void **state) {
  (void)state;
  enum { n = 4, channels = 3 };
  static const float ones[] = {1, 1, 1}, zeros[channels], mean[] = {0.5, 1, -2},
                     variance[] = {1, 2, 0.5};
  const double momentum = 0.25;
  float data[n][channels];
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < channels; ++c)
      data[i][c] = (float)((i * 7 + c * 5) % 11) / 4;

  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *x = sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 2, (int64_t[]){n, channels});
  SambaTraceValue *weight = vector(trace, "bn.weight", ones),
                  *bias = vector(trace, "bn.bias", zeros);
  const int64_t dims[] = {channels};
  SambaTraceValue *m = sambaTraceBuffer(trace, "bn.mean", SAMBA_DTYPE_F32, 1, dims, mean);
  SambaTraceValue *v = sambaTraceBuffer(trace, "bn.variance", SAMBA_DTYPE_F32, 1, dims, variance);
  SambaTraceValue *y = sambaTraceBatchNorm(x, weight, bias, m, v, 1e-5, momentum);
  sambaTraceLoss(trace, "loss", sambaSum(sambaMul(y, sambaMul(y, y)), 0, NULL, false));
  sambaTraceAddOptimizer(trace, "adamw", "", 0, NULL);
  SambaSession *session = openTrace(trace, false);
  fine(sambaSessionSetInput(session, sambaStringRef("x"), SAMBA_DTYPE_F32, 2,
                            (int64_t[]){n, channels}, data));

  double means[channels], variances[channels];
  for (int c = 0; c < channels; ++c)
    means[c] = mean[c], variances[c] = variance[c];
  for (int step = 0; step < 2; ++step) {
    run(session);
    for (int c = 0; c < channels; ++c) {
      double sum = 0, squares = 0;
      for (int i = 0; i < n; ++i)
        sum += data[i][c] / n;
      for (int i = 0; i < n; ++i)
        squares += (data[i][c] - sum) * (data[i][c] - sum);
      means[c] = (1 - momentum) * means[c] + momentum * sum;
      variances[c] = (1 - momentum) * variances[c] + momentum * squares / (n - 1);
    }
    holds(session, "bn.mean", channels, means);
    holds(session, "bn.variance", channels, variances);
  }
  sambaSessionClose(session);
}

/* D8: one mask in both directions, a new one in each step, none with p 0. */
static void dropoutDraws(void **state) {
  (void)state;
  enum { count = 512 };
  static float ones[count], last[count];
  for (int i = 0; i < count; ++i)
    ones[i] = 1;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *w =
      sambaTraceParameter(trace, "w", SAMBA_DTYPE_F32, 1, (int64_t[]){count}, ones);
  sambaTraceSetRequiresGrad(w, true);
  sambaTraceSetLayer(trace, sambaStringRef("drop"), NULL, 0);
  SambaTraceValue *y = sambaTraceDropout(w, 0.5);
  sambaTraceOutput(trace, "y", y);
  sambaTraceLoss(trace, "loss", sambaSum(y, 0, NULL, false));
  SambaSession *session = openTrace(trace, false);

  for (int step = 0; step < 3; ++step) {
    SambaTensor *seen[2];
    SambaStringRef names[] = {sambaStringRef("y"), sambaStringRef("w__grad")};
    if (step == 2)
      fine(sambaHyperparametersSet(sambaSessionGetHyperparameters(session), 1,
                                   &(SambaHyperparameter){sambaStringRef("drop__p"), 0}));
    run(session);
    fine(sambaSessionReadTensors(session, 2, names, seen));
    const float *kept = sambaTensorGetDataPtr(seen[0]);
    int zeros = 0;
    for (int i = 0; i < count; ++i) {
      assert_true(kept[i] == 0 || kept[i] == (step == 2 ? 1.0f : 2.0f));
      zeros += kept[i] == 0;
    }
    assert_memory_equal(kept, sambaTensorGetDataPtr(seen[1]), sizeof last);
    if (step == 2)
      assert_int_equal(zeros, 0);
    else /* half of them, within five standard errors of a fair coin */
      assert_in_range(zeros, count / 2 - 56, count / 2 + 56);
    assert_memory_not_equal(kept, last, sizeof last);
    memcpy(last, kept, sizeof last);
    sambaTensorRelease(seen[0]), sambaTensorRelease(seen[1]);
  }
  sambaSessionClose(session);
}

/* S003: the session knows the model that it was compiled from. */
static void s003KnowsItsModel(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    SambaTrace *traces[2];
    for (int k = 0; k < 2; ++k) {
      traces[k] = sambaTraceCreateInContext(context, "g");
      SambaTraceValue *w = vector(traces[k], "w", numbers);
      sambaTraceLoss(traces[k], "loss", sambaSum(sambaMul(w, w), 0, NULL, false));
      sambaTraceAddOptimizer(traces[k], i && k ? "adamw" : "sgd,lr=1", "", 0, NULL);
    }
    SambaTraceRecord record = *sambaTraceGetRecord(traces[1]);
    SambaSession *session = openTrace(traces[0], false);
    SambaStatus status = sambaSessionCheckTrace(session, sambaStringRef(""), &record);
    assert_string_equal(
        sambaStatusGetMessage(status),
        i ? "the model is not the one that was compiled: line 5 of its trace differs; compile it "
            "again\n  note: expected optimizer \"\" = sgd {nesterov = 0}\n  note: found    "
            "optimizer \"\" = adamw {beta1 = 0.9, beta2 = 0.997, eps = 1e-08, max_grad_norm = 0}"
          : "");
    sambaStatusFree(status);
    sambaSessionClose(session);
    sambaTraceDestroy(traces[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(n033Detach),        cmocka_unit_test(t052GradientOfInput),
      cmocka_unit_test(s022TwoOptimizers), cmocka_unit_test(groupsAreClippedTogether),
      cmocka_unit_test(u015Losses),        cmocka_unit_test(batchNormKeepsStatistics),
      cmocka_unit_test(dropoutDraws),      cmocka_unit_test(s003KnowsItsModel),
  };
  return cmocka_run_group_tests(tests, setUp, tearDown);
}
