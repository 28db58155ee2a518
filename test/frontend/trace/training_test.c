/* Tracing a graph that learns: what is written into the graph, and what is refused. */
#include "dialect/bridge/text_sink.h"
#include "frontend/trace/trace.h"
#include "frontend/trace/trace_state.h"
#include "samba/operators.h"
#include "samba/training.h"

#include "mlir-c/BuiltinAttributes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static MlirContext context;

static int setUp(void **state) {
  (void)state;
  context = mlirContextCreateWithThreading(false);
  return 0;
}

static int tearDown(void **state) {
  (void)state;
  mlirContextDestroy(context);
  return 0;
}

static SambaTraceValue *weight(SambaTrace *trace, const char *name) {
  return sambaTraceParameter(trace, name, SAMBA_DTYPE_F32, 2, (int64_t[]){3, 4}, NULL);
}

/* loss = sum(x * a * b) */
typedef struct {
  SambaTrace *trace;
  SambaTraceValue *x, *a, *b, *loss;
} Model;

static Model traceModel(void) {
  Model model = {.trace = sambaTraceCreateInContext(context, "g")};
  model.x = sambaTraceInput(model.trace, "x", SAMBA_DTYPE_F32, 2, (int64_t[]){3, 4});
  model.a = weight(model.trace, "a");
  model.b = weight(model.trace, "b");
  model.loss = sambaSum(sambaMul(sambaMul(model.x, model.a), model.b), 0, NULL, false);
  return model;
}

/* Finishes the graph, which must be right; its text. */
static SambaText finish(SambaTrace *trace) {
  MlirModule module;
  SambaStatus status = sambaTraceFinish(trace, &module);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
  SambaText text = {0};
  mlirOperationPrint(mlirModuleGetOperation(module), sambaTextSink, &text);
  mlirModuleDestroy(module);
  sambaTraceDestroy(trace);
  return text;
}

static void has(const SambaText *text, const char *piece) {
  if (!strstr(sambaTextGet(text), piece))
    fail_msg("%s is not in\n%s", piece, sambaTextGet(text));
}

static void hasNot(const SambaText *text, const char *piece) {
  if (strstr(sambaTextGet(text), piece))
    fail_msg("%s is in\n%s", piece, sambaTextGet(text));
}

static void refused(SambaTrace *trace, const char *message) {
  MlirModule module;
  SambaStatus status = sambaTraceFinish(trace, &module);
  assert_true(mlirModuleIsNull(module));
  assert_string_equal(sambaStatusGetMessage(status), message);
  sambaStatusFree(status);
  sambaTraceDestroy(trace);
}

/* T052: the flag can be set and taken back, and is an attribute of the argument. */
static void t052RequiresGrad(void **state) {
  (void)state;
  Model model = traceModel();
  assert_ptr_equal(sambaTraceSetRequiresGrad(model.a, true), model.a);
  assert_true(model.a->requires_grad);
  assert_false(model.b->requires_grad);
  sambaTraceSetRequiresGrad(model.x, true);
  sambaTraceSetRequiresGrad(model.x, false);
  assert_null(sambaTraceSetRequiresGrad(NULL, true));
  sambaTraceLoss(model.trace, "loss", model.loss);

  SambaTraceRecord record = *sambaTraceGetRecord(model.trace);
  assert_string_equal(record.lines[0], "%0 = input \"x\" : 3x4xf32");
  assert_string_equal(record.lines[1], "%1 = weight \"a\" : 3x4xf32 requires_grad");
  SambaText text = finish(model.trace);
  has(&text, "samba.kind = \"input\", samba.name = \"x\"}");
  has(&text, "samba.name = \"a\", samba.requires_grad = true}");
  has(&text, "samba.name = \"b\", samba.requires_grad = false}");
  has(&text, "samba.kind = \"loss\", samba.name = \"loss\"");
  has(&text, "samba.graph = {mode = \"training\"}");
  sambaTextFree(&text);
}

/* T052: only floats, only arguments. */
static void t052RefusesRequiresGrad(void **state) {
  (void)state;
  Model model = traceModel();
  SambaTraceValue *labels =
      sambaTraceInput(model.trace, "labels", SAMBA_DTYPE_I64, 1, (int64_t[]){3});
  assert_null(sambaTraceSetRequiresGrad(labels, true));
  refused(model.trace, "input \"labels\" is i64, but only tensors of f32, bf16 or f16 can require "
                       "a gradient");
  model = traceModel();
  sambaTraceSetRequiresGrad(model.loss, true);
  refused(model.trace, "a computed tensor cannot require a gradient; weights and inputs can");
}

/* What the weight starts with. */
static const void *firstValues(const SambaTraceValue *weight) {
  return mlirDenseElementsAttrGetRawData(weight->trace->arguments.data[weight->argument].data);
}

/* First values within the bound, from the generator, which goes on. */
static void drawsFirstValues(void **state) {
  (void)state;
  const double bound = 0.25;
  uint64_t generator = 7, again = 7;
  float first[2][1000];
  for (int i = 0; i < 2; ++i) {
    SambaTrace *trace = sambaTraceCreateInContext(context, "g");
    SambaTraceValue *a =
        sambaTraceUniformParameter(trace, "a", 2, (int64_t[]){100, 10}, bound, &generator);
    assert_true(a->requires_grad);
    memcpy(first[i], firstValues(a), sizeof first[i]);
    sambaTraceDestroy(trace);
  }
  assert_memory_not_equal(first[0], first[1], sizeof first[0]);

  double sum = 0, squares = 0;
  for (int i = 0; i < 1000; ++i) {
    assert_true(first[0][i] >= -bound && first[0][i] < bound);
    sum += first[0][i], squares += first[0][i] * first[0][i];
  }
  /* The mean of a uniform distribution and its variance, bound^2 / 3, within 4 of their standard
   * errors. */
  assert_true(fabs(sum / 1000) < 4 * bound / sqrt(3 * 1000));
  assert_true(fabs(squares / 1000 - bound * bound / 3) < 4 * bound * bound * sqrt(4.0 / 45 / 1000));

  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *a =
      sambaTraceUniformParameter(trace, "a", 2, (int64_t[]){100, 10}, bound, &again);
  assert_memory_equal(firstValues(a), first[0], sizeof first[0]);
  sambaTraceOutput(trace, "y", sambaExp(a));
  SambaText text = finish(trace);
  has(&text, "samba.requires_grad = true, samba.value = dense<\"0x");
  sambaTextFree(&text);
}

/* A graph without loss or optimizer is for inference, whatever could be trained. */
static void inferenceStaysInference(void **state) {
  (void)state;
  Model model = traceModel();
  sambaTraceSetRequiresGrad(model.a, true);
  sambaTraceOutput(model.trace, "y", model.loss);
  SambaText text = finish(model.trace);
  has(&text, "samba.graph = {mode = \"inference\"}");
  hasNot(&text, "samba.requires_grad = false");
  sambaTextFree(&text);
}

static void refusesLosses(void **state) {
  (void)state;
  Model model = traceModel();
  sambaTraceLoss(model.trace, "n", sambaCast(model.loss, SAMBA_DTYPE_I32));
  refused(model.trace, "loss \"n\" is i32, but a loss must be f32, bf16 or f16");
  model = traceModel();
  sambaTraceLoss(model.trace, "loss", model.loss);
  refused(model.trace, "graph g: is trained, but nothing requires a gradient");
}

/* U015: results o0, o1, l0, l1, of which 2 and 3 are the losses. */
static void u015LossIndices(void **state) {
  (void)state;
  static const char *const names[] = {"o0", "o1", "l0", "l1"};
  static const struct {
    uint32_t count;
    int64_t indices[2];
    const char *message; /* NULL: fine */
  } cases[] = {{2, {2, 3}, NULL},
               {1, {4}, "loss 4: graph g has results 0 to 3"},
               {1, {-1}, "loss -1: graph g has results 0 to 3"},
               {2, {2, 2}, "result 2 is a loss twice; once is enough"}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    Model model = traceModel();
    sambaTraceSetRequiresGrad(model.a, true);
    for (int r = 0; r < 4; ++r)
      sambaTraceOutput(model.trace, names[r], sambaExp(model.loss));
    sambaTraceSelectLosses(model.trace, cases[i].count, cases[i].indices);
    if (cases[i].message) {
      refused(model.trace, cases[i].message);
      continue;
    }
    assert_string_equal(sambaTraceGetRecord(model.trace)->lines[13], "loss \"l1\" = %9");
    SambaText text = finish(model.trace);
    has(&text, "samba.kind = \"output\", samba.name = \"o0\"");
    has(&text, "samba.kind = \"output\", samba.name = \"o1\"");
    has(&text, "samba.kind = \"loss\", samba.name = \"l0\"");
    has(&text, "samba.kind = \"loss\", samba.name = \"l1\"");
    sambaTextFree(&text);
  }

  Model model = traceModel();
  SambaTraceValue *buffer = sambaTraceBuffer(model.trace, "count", SAMBA_DTYPE_F32, 0, NULL, NULL);
  sambaTraceUpdate(buffer, model.loss);
  sambaTraceSelectLosses(model.trace, 1, (int64_t[]){0});
  refused(model.trace, "result 0 is an update, which is no loss");
}

/* G010: SGD and AdamW with their settings; others are refused with the list. */
static void g010Optimizers(void **state) {
  (void)state;
  Model model = traceModel();
  sambaTraceSetRequiresGrad(model.a, true);
  sambaTraceLoss(model.trace, "loss", model.loss);
  sambaTraceAddOptimizer(model.trace, "sgd,lr=0.5,momentum=0.25,nesterov=1", "", 0, NULL);
  SambaText text = finish(model.trace);
  has(&text, "samba.optimizers = [#samba.optimizer<\"sgd\", lr = 5.000000e-01, momentum = "
             "2.500000e-01, nesterov = 1.000000e+00, weight_decay = 0.000000e+00>]");
  hasNot(&text, "samba.accumulate_gradients");
  sambaTextFree(&text);

  model = traceModel();
  sambaTraceSetRequiresGrad(model.a, true);
  sambaTraceAddOptimizer(model.trace, "adamw", "", 0, NULL);
  sambaTraceAccumulateGradients(model.trace);
  sambaTraceOutput(model.trace, "y", model.loss); /* the compiler chooses the loss */
  text = finish(model.trace);
  has(&text, "#samba.optimizer<\"adamw\", beta1 = 9.000000e-01, beta2 = 0.99699999999999999");
  has(&text, "samba.accumulate_gradients = true");
  has(&text, "samba.graph = {mode = \"training\"}");
  sambaTextFree(&text);

  static const char *const wrong[][2] = {
      {"adam", "optimizer: there is no optimizer 'adam'; there are sgd and adamw"},
      {"sgd", "optimizer: sgd wants lr, for example sgd,lr=0.1"},
      {"sgd,lr=0.1,beta1=0.5",
       "optimizer: sgd has no setting 'beta1'; it has lr, momentum, weight_decay, nesterov"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    model = traceModel();
    sambaTraceAddOptimizer(model.trace, wrong[i][0], "", 0, NULL);
    refused(model.trace, wrong[i][1]);
  }
}

/* S022: each optimizer has its weights and its hyperparameters. */
static void s022SeveralOptimizers(void **state) {
  (void)state;
  Model model = traceModel();
  SambaTraceValue *frozen = weight(model.trace, "frozen");
  sambaTraceSetRequiresGrad(model.a, true);
  sambaTraceSetRequiresGrad(model.b, true);
  sambaTraceLoss(model.trace, "loss", model.loss);
  sambaTraceAddOptimizer(model.trace, "sgd,lr=0.1", "", 2, (SambaTraceValue *[]){model.a, frozen});
  sambaTraceAddOptimizer(model.trace, "sgd,lr=0.2", "", 1, &model.b);

  SambaTraceRecord record = *sambaTraceGetRecord(model.trace);
  assert_string_equal(record.lines[record.line_count - 2],
                      "optimizer \"optimizer_0.\" = sgd(%1, %6) {nesterov = 0}");
  assert_string_equal(record.lines[record.line_count - 1],
                      "optimizer \"optimizer_1.\" = sgd(%2) {nesterov = 0}");
  SambaText text = finish(model.trace);
  has(&text, "samba.name = \"a\", samba.optimizer = 0 : i64, samba.requires_grad = true}");
  has(&text, "samba.name = \"b\", samba.optimizer = 1 : i64, samba.requires_grad = true}");
  has(&text, "samba.name = \"frozen\", samba.requires_grad = false}");
  has(&text, "#samba.optimizer<\"sgd\", group = \"optimizer_0.\", lr = 1.000000e-01");
  has(&text, "#samba.optimizer<\"sgd\", group = \"optimizer_1.\", lr = 2.000000e-01");
  sambaTextFree(&text);
}

/* D7: groups of parameters are one optimizer. A weight in none has no number. */
static void s022GroupsOfParameters(void **state) {
  (void)state;
  Model model = traceModel();
  SambaTraceValue *alone = weight(model.trace, "alone");
  sambaTraceSetRequiresGrad(model.a, true);
  sambaTraceSetRequiresGrad(model.b, true);
  sambaTraceSetRequiresGrad(alone, true);
  sambaTraceLoss(model.trace, "loss", sambaAdd(model.loss, sambaSum(alone, 0, NULL, false)));
  sambaTraceAddOptimizer(model.trace, "adamw,max_grad_norm=1", "", 1, &model.a);
  sambaTraceAddParameterGroup(model.trace, "adamw,lr=1", "", 1, &model.b);

  const SambaTraceRecord *record = sambaTraceGetRecord(model.trace);
  assert_string_equal(record->lines[record->line_count - 1],
                      "optimizer \"optimizer_1.\" = adamw(%2) {beta1 = 0.9, beta2 = 0.997, eps = "
                      "1e-08, max_grad_norm = 1} of optimizer 0");
  SambaText text = finish(model.trace);
  has(&text, "samba.name = \"alone\", samba.requires_grad = true}");
  has(&text, "group = \"optimizer_1.\", joins = 0");
  sambaTextFree(&text);
}

static void s022RefusesOptimizers(void **state) {
  (void)state;
  Model model = traceModel();
  sambaTraceAddOptimizer(model.trace, "sgd,lr=0.1", "", 1, &model.a);
  sambaTraceAddOptimizer(model.trace, "adamw", "", 2, (SambaTraceValue *[]){model.b, model.a});
  refused(model.trace, "optimizer: adamw: weight \"a\" has optimizer 0 (sgd) already; a parameter "
                       "has one optimizer");
  model = traceModel();
  sambaTraceAddOptimizer(model.trace, "adamw", "", 1, &model.x);
  refused(model.trace, "optimizer: adamw: parameter 0 is input \"x\"; optimizers train weights");
  model = traceModel();
  sambaTraceAddOptimizer(model.trace, "adamw", "", 1, (SambaTraceValue *[]){NULL});
  refused(model.trace, "optimizer: adamw: parameter 0 is missing");
  model = traceModel();
  Model other = traceModel();
  sambaTraceAddOptimizer(model.trace, "adamw", "", 1, &other.a);
  refused(model.trace, "optimizer: adamw: parameter 0 is a tensor of another trace");
  sambaTraceDestroy(other.trace);

  model = traceModel();
  sambaTraceLoss(model.trace, "loss", model.loss);
  sambaTraceAddOptimizer(model.trace, "adamw", "", 1, &model.a);
  refused(model.trace, "graph g: optimizer 0 (adamw) trains nothing: none of its weights requires "
                       "a gradient");
  model = traceModel();
  sambaTraceAddParameterGroup(model.trace, "adamw", "", 1, &model.a);
  refused(model.trace, "optimizer: a parameter group wants an optimizer before it");
  model = traceModel();
  sambaTraceAddOptimizer(model.trace, "adamw,max_grad_norm=1", "", 1, &model.a);
  sambaTraceAddParameterGroup(model.trace, "sgd,lr=1", "", 1, &model.b);
  refused(model.trace, "optimizer: a parameter group of adamw cannot be sgd");
  model = traceModel();
  sambaTraceAddOptimizer(model.trace, "adamw,max_grad_norm=1", "", 1, &model.a);
  sambaTraceAddParameterGroup(model.trace, "adamw,max_grad_norm=2", "", 1, &model.b);
  refused(model.trace, "optimizer: a parameter group has max_grad_norm 2, but its optimizer 1; the "
                       "norm is over all groups");
}

/* Dropout's rate and seed are hyperparameters with the layer's name. */
static void dropoutHasArgins(void **state) {
  (void)state;
  Model model = traceModel();
  sambaTraceSetLayer(model.trace, sambaStringRef("drop"), NULL, 0);
  sambaTraceOutput(model.trace, "y", sambaTraceDropout(model.x, 0.25));
  SambaText text = finish(model.trace);
  has(&text, "tensor<f32> {samba.argin = #samba.argin<default = 2.500000e-01, group = \"p\", kind "
             "= \"dropout_rate\", max = 0.99999994");
  has(&text, "samba.kind = \"argin\", samba.name = \"drop__p\"}");
  has(&text, "kind = \"dropout_seed\">, samba.kind = \"argin\", samba.name = \"drop__seed\"}");
  sambaTextFree(&text);

  model = traceModel(); /* two calls: one rate, two seeds; another rate is another */
  sambaTraceSetLayer(model.trace, sambaStringRef("drop"), NULL, 0);
  SambaTraceValue *y = sambaTraceDropout(sambaTraceDropout(model.x, 0.25), 0.25);
  sambaTraceOutput(model.trace, "y", y);
  text = finish(model.trace);
  has(&text, "samba.name = \"drop__p\"}");
  has(&text, "samba.name = \"drop__seed_0\"}");
  hasNot(&text, "drop__p_0");
  sambaTextFree(&text);
  model = traceModel();
  sambaTraceSetLayer(model.trace, sambaStringRef("drop"), NULL, 0);
  sambaTraceOutput(model.trace, "y", sambaTraceDropout(sambaTraceDropout(model.x, 0.25), 0.5));
  text = finish(model.trace);
  has(&text, "samba.name = \"drop__p_0\"}");
  sambaTextFree(&text);

  model = traceModel();
  assert_null(sambaTraceDropout(model.x, 1));
  refused(model.trace, "dropout: p is 1, but must be at least 0 and less than 1");
}

/* The running statistics are buffers that the graph writes; the variance is the unbiased one. */
static void batchNormUpdatesBuffers(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  const int64_t shape[] = {2, 3, 2, 2}, one[] = {1, 3};
  SambaTraceValue *x = sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 4, shape);
  SambaTraceValue *parts[4];
  static const char *const names[] = {"bn.weight", "bn.bias", "bn.mean", "bn.variance"};
  for (int i = 0; i < 4; ++i)
    parts[i] = i < 2 ? sambaTraceParameter(trace, names[i], SAMBA_DTYPE_F32, 1, &shape[1], NULL)
                     : sambaTraceBuffer(trace, names[i], SAMBA_DTYPE_F32, 1, &shape[1], NULL);
  sambaTraceOutput(trace, "y",
                   sambaTraceBatchNorm(x, parts[0], parts[1], parts[2], parts[3], 1e-5, 0.125));
  SambaText text = finish(trace);
  has(&text, "samba.kind = \"buffer\", samba.name = \"bn.mean\"}");
  has(&text, "samba.kind = \"update\", samba.name = \"bn.mean\", samba.region = \"bn.mean\"}");
  has(&text, "samba.kind = \"update\", samba.name = \"bn.variance\", samba.region = "
             "\"bn.variance\"}");
  has(&text, "momentum = 8.750000e-01");
  has(&text, "dense<0.142857149>"); /* 1/8 * 8/7 */
  sambaTextFree(&text);

  trace = sambaTraceCreateInContext(context, "g");
  x = sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 2, one);
  for (int i = 0; i < 4; ++i)
    parts[i] = sambaTraceBuffer(trace, names[i], SAMBA_DTYPE_F32, 1, &shape[1], NULL);
  sambaTraceBatchNorm(x, parts[0], parts[1], parts[2], parts[3], 1e-5, 0.125);
  refused(trace, "batch normalization needs two values per channel or more to train, but has 1");
}

static void refusesUpdates(void **state) {
  (void)state;
  Model model = traceModel();
  sambaTraceUpdate(model.x, model.a);
  refused(model.trace, "input \"x\" cannot be updated; buffers and weights can");
  model = traceModel();
  sambaTraceUpdate(model.a, model.loss);
  refused(model.trace, "weight \"a\" is 3x4xf32, but its update is f32");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(t052RequiresGrad),        cmocka_unit_test(t052RefusesRequiresGrad),
      cmocka_unit_test(inferenceStaysInference), cmocka_unit_test(refusesLosses),
      cmocka_unit_test(u015LossIndices),         cmocka_unit_test(g010Optimizers),
      cmocka_unit_test(s022SeveralOptimizers),   cmocka_unit_test(s022GroupsOfParameters),
      cmocka_unit_test(s022RefusesOptimizers),   cmocka_unit_test(dropoutHasArgins),
      cmocka_unit_test(batchNormUpdatesBuffers), cmocka_unit_test(refusesUpdates),
      cmocka_unit_test(drawsFirstValues),
  };
  return cmocka_run_group_tests(tests, setUp, tearDown);
}
