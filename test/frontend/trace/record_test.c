/* S003: a model is compared with the one that was compiled. A shape, an operator, an attribute, a
 * name, a region, a loss, what is trained or the kind of the optimizer makes a difference, and the
 * first line that differs is told with its layer; data, hyperparameters and places do not. */
#include "frontend/trace/trace.h"
#include "samba/operators.h"
#include "samba/training.h"
#include "support/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* What a model may have otherwise than the one below. */
typedef struct {
  int64_t width;
  double slope, factor;
  bool is_tanh, is_frozen, has_region, is_inference;
  const char *weight, *optimizer, *layer; /* the optimizer with its settings */
  unsigned line;
  float data;
} Variation;

static const Variation original = {.width = 4,
                                   .slope = 0.25,
                                   .factor = 2,
                                   .weight = "fc.weight",
                                   .optimizer = "sgd,lr=0.1",
                                   .layer = "act",
                                   .line = 10,
                                   .data = 1};

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

static SambaTrace *traceModel(const Variation *model) {
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  const float data[64] = {model->data};
  SambaTraceValue *x =
      sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 2, (int64_t[]){2, model->width});
  SambaArgument argument = {
      .name = sambaStringRef(model->weight),
      .kind = "weight",
      .type = {.dtype = SAMBA_DTYPE_F32, .rank = 2, .dims = {2, model->width}},
      .region = sambaStringRef(model->has_region ? "shared" : ""),
      .requires_grad = !model->is_frozen && !model->is_inference,
      .data = data};
  SambaTraceValue *w = sambaTraceArgument(trace, &argument);

  SambaTraceValue *y = sambaMul(x, w);
  sambaTraceSetLayer(trace, sambaStringRef(model->layer), "model.c", model->line);
  y = model->is_tanh ? sambaTanh(y) : sambaLeakyRelu(y, model->slope);
  sambaTraceSetLayer(trace, sambaStringRef(""), NULL, 0);
  y = sambaMul(y, sambaTraceScalar(trace, SAMBA_DTYPE_F32, model->factor));
  sambaTraceResult(trace, sambaStringRef("loss"), model->is_inference ? "output" : "loss",
                   (SambaStringRef){0}, y);
  if (model->optimizer && !model->is_inference)
    sambaTraceAddOptimizer(trace, model->optimizer, "", 0, NULL);
  assert_null(sambaTraceStatus(trace));
  return trace;
}

/* The record of the original as the PEF keeps it. */
static SambaText compiledText(const Variation *model) {
  SambaText text = {0};
  SambaTrace *trace = traceModel(model);
  SambaTraceRecord record = *sambaTraceGetRecord(trace);
  for (uint32_t i = 0; i < record.line_count; ++i)
    sambaTextFormat(&text, "%s\n", record.lines[i]);
  sambaTraceDestroy(trace);
  return text;
}

static void comparesAs(const Variation *compiled, const Variation *model, bool wants_forward_only,
                       const char *wanted) {
  SambaText text = compiledText(compiled);
  SambaTrace *trace = traceModel(model);
  SambaTraceRecord record = *sambaTraceGetRecord(trace);
  bool forward_only = !wants_forward_only;
  SambaStatus status = sambaTraceRecordCompare(sambaTextRef(&text), &record, &forward_only);
  assert_string_equal(sambaStatusGetMessage(status), wanted);
  assert_int_equal(forward_only, wants_forward_only);
  sambaStatusFree(status);
  sambaTraceDestroy(trace);
  sambaTextFree(&text);
}

static void same(const Variation *model) { comparesAs(&original, model, false, ""); }

static void differs(const Variation *model, const char *where, const char *lines) {
  SambaText wanted = {0};
  sambaTextFormat(&wanted,
                  "the model is not the one that was compiled: line %s of its trace differs; "
                  "compile it again\n%s",
                  where, lines);
  comparesAs(&original, model, false, sambaTextGet(&wanted));
  sambaTextFree(&wanted);
}

static void s003WhatDoesNotMatter(void **state) {
  (void)state;
  Variation model = original;
  same(&model);
  model.data = 5;
  same(&model);
  model.line = 99;
  same(&model);
  model.layer = "renamed";
  same(&model);
  model.optimizer = "sgd,lr=0.5,momentum=0.9,weight_decay=1e-4";
  same(&model);
}

static void s003WhatMatters(void **state) {
  (void)state;
  Variation model = original;
  model.width = 5;
  differs(
      &model, "1",
      "  note: expected %0 = input \"x\" : 2x4xf32\n  note: found    %0 = input \"x\" : 2x5xf32");
  model = original, model.is_tanh = true;
  differs(&model, "4",
          "  note: expected %3 = leaky_relu(%2) {negative_slope = 0.25} : 2x4xf32\n"
          "  note: found    %3 = tanh(%2) : 2x4xf32\n  note: in layer act");
  model = original, model.slope = 0.5;
  differs(&model, "4",
          "  note: expected %3 = leaky_relu(%2) {negative_slope = 0.25} : 2x4xf32\n"
          "  note: found    %3 = leaky_relu(%2) {negative_slope = 0.5} : 2x4xf32\n"
          "  note: in layer act");
  model = original, model.factor = 3;
  differs(&model, "5",
          "  note: expected %4 = constant 2 : f32\n  note: found    %4 = constant 3 : f32");
  model = original, model.weight = "fc1.weight";
  differs(&model, "2",
          "  note: expected %1 = weight \"fc.weight\" : 2x4xf32 requires_grad\n"
          "  note: found    %1 = weight \"fc1.weight\" : 2x4xf32 requires_grad");
  model = original, model.is_frozen = true;
  differs(&model, "2",
          "  note: expected %1 = weight \"fc.weight\" : 2x4xf32 requires_grad\n"
          "  note: found    %1 = weight \"fc.weight\" : 2x4xf32");
  model = original, model.has_region = true;
  differs(&model, "2",
          "  note: expected %1 = weight \"fc.weight\" : 2x4xf32 requires_grad\n"
          "  note: found    %1 = weight \"fc.weight\" : 2x4xf32 region \"shared\" requires_grad");
  model = original, model.optimizer = "adamw";
  differs(&model, "8",
          "  note: expected optimizer \"\" = sgd {nesterov = 0}\n"
          "  note: found    optimizer \"\" = adamw {beta1 = 0.9, "
          "beta2 = 0.997, eps = 1e-08, max_grad_norm = 0}");
  model = original, model.optimizer = "sgd,lr=0.1,momentum=0.9,nesterov=1";
  differs(&model, "8",
          "  note: expected optimizer \"\" = sgd {nesterov = 0}\n"
          "  note: found    optimizer \"\" = sgd {nesterov = 1}");
}

/* Without losses or optimizers, a trace matches the forward part of a training. */
static void s003TheForwardPart(void **state) {
  (void)state;
  Variation model = original;
  model.is_inference = true;
  comparesAs(&original, &model, true, "");
  model = original, model.optimizer = NULL;
  comparesAs(&original, &model, true, "");
  model.is_tanh = true;
  differs(&model, "4",
          "  note: expected %3 = leaky_relu(%2) {negative_slope = 0.25} : 2x4xf32\n"
          "  note: found    %3 = tanh(%2) : 2x4xf32\n  note: in layer act");

  /* The other way round a line is missing: a PEF for inference cannot train. */
  Variation inference = original;
  inference.is_inference = true;
  comparesAs(&inference, &original, false,
             "the model is not the one that was compiled: line 2 of its trace differs; compile it "
             "again\n  note: expected %1 = weight \"fc.weight\" : 2x4xf32\n"
             "  note: found    %1 = weight \"fc.weight\" : 2x4xf32 requires_grad");
  Variation untrained = original;
  untrained.optimizer = NULL;
  comparesAs(
      &untrained, &original, false,
      "the model is not the one that was compiled: line 8 of its trace differs; compile it "
      "again\n  note: expected the end\n  note: found    optimizer \"\" = sgd {nesterov = 0}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(s003WhatDoesNotMatter),
      cmocka_unit_test(s003WhatMatters),
      cmocka_unit_test(s003TheForwardPart),
  };
  return cmocka_run_group_tests(tests, setUp, tearDown);
}
