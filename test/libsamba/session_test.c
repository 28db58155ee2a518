/* Sessions through the library: a model is traced, compiled to memory, traced again and run; two
 * graphs share one PEF. */
#include "test/libsamba/checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const SambaSimulatedDeviceOptions deviceOptions = {.threads = 1, .values_only = true};
static const int64_t inputDims[] = {2, 3}, weightDims[] = {2, 3};

static SambaSession *newSession(void) {
  SambaSession *session;
  SambaDeviceFactory device = sambaSimulatedDevice(&deviceOptions);
  fine(sambaSessionCreate(&device, &session));
  return session;
}

static SambaTensor *shared(const char *name, float *data, const int64_t *dims) {
  SambaTensor *tensor;
  SambaBufferView view = {data, SAMBA_DTYPE_F32, 2, dims, NULL};
  fine(sambaTensorCreateFromBuffer(&view, sambaStringRef(name), &tensor));
  return tensor;
}

/* ---- One model ---- */

static float x[6] = {1, 2, 3, 4, 5, 6}, w[6] = {1, 0, 1, 0, 1, 0};

typedef struct {
  SambaTensor *x, *w;
} Model;

static Model newModel(void) {
  Model model = {shared("x", x, inputDims), shared("w", w, weightDims)};
  fine(sambaTensorSetRequiresGrad(model.w, true));
  return model;
}

static void freeModel(Model *model) {
  sambaTensorRelease(model->x);
  sambaTensorRelease(model->w);
}

/* y = f(x w'), f a relu unless it shall be another model. */
static SambaTrace *trace(const Model *model, bool other) {
  SambaTrace *trace = sambaTraceCreate(context, "forward");
  SambaTraceValue *value = sambaLinear(sambaTraceTensor(trace, model->x, "input"),
                                       sambaTraceTensor(trace, model->w, "weight"), NULL);
  sambaTraceOutput(trace, "y", other ? sambaTanh(value) : sambaRelu(value));
  sambaTraceAddOptimizer(trace, "sgd,lr=0.5,momentum=0.9", "", 0, NULL);
  return trace;
}

static SambaPefData compile(const Model *model) {
  SambaTrace *first = trace(model, false);
  SambaPefData pef;
  SambaCompileOptions options = {.training = true};
  fine(sambaCompileTraceToMemory(context, first, &options, &pef));
  sambaTraceDestroy(first);
  return pef;
}

static void isNear(SambaSession *session, const char *name, uint32_t count, const float *expected) {
  SambaTensor *tensor;
  fine(sambaSessionReadTensor(session, sambaStringRef(name), &tensor));
  assert_int_equal(sambaTensorGetNumElements(tensor), count);
  const float *got = sambaTensorGetDataPtr(tensor);
  for (uint32_t i = 0; i < count; ++i)
    if (got[i] < expected[i] - 1e-5f || got[i] > expected[i] + 1e-5f)
      fail_msg("element %u of %s is %g, not %g", i, name, (double)got[i], (double)expected[i]);
  sambaTensorRelease(tensor);
}

/* S002, G004, G015, U010, U013, U014: traced again it is the same model, and what it needs goes
 * over: inputs, weights, ones as gradients of outputs; state is zero. */
static void s002u010TraceGraph(void **state) {
  (void)state;
  Model model = newModel();
  SambaPefData pef = compile(&model);
  SambaSession *session = newSession();
  SambaTrace *again = trace(&model, false);
  fine(sambaSessionLoadPefMemory(session, pef.data, pef.size));
  sambaFree(pef.data);
  fine(sambaSessionTraceGraph(session, again, NULL));
  isNear(session, "w__velocity", 6, (const float[6]){0});
  isNear(session, "y__grad", 4, (const float[]){1, 1, 1, 1});
  fine(sambaSessionRun(session, NULL, NULL, NULL));
  isNear(session, "y", 4, (const float[]){4, 2, 10, 5});
  isNear(session, "w__grad", 6, (const float[]){5, 7, 9, 5, 7, 9});
  isNear(session, "w", 6, (const float[]){-1.5f, -3.5f, -3.5f, -2.5f, -2.5f, -4.5f});

  SambaTensor *weight;
  fine(sambaSessionGetTensor(session, sambaStringRef("w"), &weight));
  assert_ptr_equal(weight, model.w);
  assert_true(w[0] == 1); /* the host's value is what it was */
  sambaTensorRelease(weight);
  sambaTraceDestroy(again);
  sambaSessionClose(session);
  freeModel(&model);
}

/* U020: nothing goes over by itself; U016, U017, S003: what is refused. */
static void u020NoTransferAndRefusals(void **state) {
  (void)state;
  Model model = newModel();
  SambaPefData pef = compile(&model);
  SambaSession *session = newSession();
  SambaTrace *same = trace(&model, false), *other = trace(&model, true);
  expectError(sambaSessionTraceGraph(session, same, NULL),
              "no PEF loaded, and none is given; compile the model and name its PEF");
  expectError(sambaSessionTraceGraph(session, same, &(SambaTraceGraphOptions){.pef = "no.pef"}),
              "no.pef: cannot be read");
  fine(sambaSessionLoadPefMemory(session, pef.data, pef.size));
  sambaFree(pef.data);
  expectError(sambaSessionTraceGraph(session, other, NULL), "tanh");
  expectError(sambaSessionTraceGraph(session, same, &(SambaTraceGraphOptions){.graph = "g"}),
              "there is no graph named 'g'");
  expectError(
      sambaSessionTraceGraph(session, same, &(SambaTraceGraphOptions){.mapping = "spatial"}),
      "the PEF was compiled with mapping 'section', but 'spatial' is asked for; compile it again");
  expectError(sambaSessionTraceGraph(session, same, &(SambaTraceGraphOptions){.mapping = "flat"}),
              "mapping is 'section' or 'spatial', not 'flat'");

  SambaRunReport report;
  SambaTraceGraphOptions keep = {.mapping = "section", .no_transfer = true};
  fine(sambaSessionTraceGraph(session, same, &keep));
  sambaSessionGetReport(session, &report);
  assert_int_equal(report.transfers.host_to_device_bytes, 0);
  expectError(sambaSessionRun(session, NULL, NULL, NULL), "never-written memory: symbol '");
  fine(sambaSessionTransferTraced(session));
  fine(sambaSessionRun(session, NULL, NULL, NULL));
  isNear(session, "y", 4, (const float[]){4, 2, 10, 5});
  sambaTraceDestroy(same);
  sambaTraceDestroy(other);
  sambaSessionClose(session);
  freeModel(&model);
}

/* G017, G018: a PEF without data of weights takes those of the program; two sessions of one PEF
 * come to the same bits. */
static void g017g018WeightsFromOutside(void **state) {
  (void)state;
  Model model = newModel();
  SambaPefData pef = compile(&model);
  float results[2][4];
  for (int i = 0; i < 2; ++i) {
    SambaSession *session = newSession();
    fine(sambaSessionLoadPefMemory(session, pef.data, pef.size));
    SambaTensorInfo info;
    fine(sambaSessionGetTensorInfo(session, sambaStringRef("w"), &info));
    assert_false(info.has_init);
    SambaTensor *y = shared("y", results[i], (const int64_t[]){2, 2});
    SambaTensor *inputs[] = {model.x, model.w};
    const SambaSectionType forward = SAMBA_SECTION_FWD; /* G014: the forward part is enough */
    SambaRunOptions options = {.order = {.type_count = 1, .types = &forward},
                               .input_count = 2,
                               .inputs = inputs,
                               .output_count = 1,
                               .outputs = &y};
    fine(sambaSessionRun(session, &options, NULL, NULL));
    sambaTensorRelease(y);
    sambaSessionClose(session);
  }
  assert_memory_equal(results[0], results[1], sizeof results[0]);
  assert_true(results[0][2] == 10);
  sambaFree(pef.data);
  freeModel(&model);
}

/* ---- Two graphs ---- */

static const char twoGraphs[] =
    "module attributes {samba.graphs = [@put, @get]} {\n"
    "  func.func @put(%k: tensor<2x3xf32> {samba.name = \"k\"},\n"
    "                 %c: tensor<2x3xf32> {samba.name = \"cache\", samba.kind = \"buffer\"})\n"
    "      -> (tensor<2x3xf32> {samba.name = \"cache_new\", samba.kind = \"update\",\n"
    "                           samba.region = \"cache\"}) {\n"
    "    %n = samba.add %c, %k : tensor<2x3xf32>, tensor<2x3xf32>\n"
    "    return %n : tensor<2x3xf32>\n"
    "  }\n"
    "  func.func @get(%o: tensor<2x3xf32> {samba.name = \"other\", samba.kind = \"buffer\",\n"
    "                                      samba.region = \"cache\"})\n"
    "      -> (tensor<2x3xf32> {samba.name = \"twice\"}) {\n"
    "    %t = samba.add %o, %o : tensor<2x3xf32>, tensor<2x3xf32>\n"
    "    return %t : tensor<2x3xf32>\n"
    "  }\n"
    "}\n";

static void nameGraph(void *user, const SambaGraphInfo *info) {
  char *text = user;
  size_t size = strlen(text);
  snprintf(text + size, 64 - size, " %.*s:%u", (int)info->name.size, info->name.data,
           info->call_count);
}

/* S011, S012, S094, E12: two graphs in one PEF, each run by its name, over one memory: what is
 * written under one name is read under the other. Without a name all of them run, in order. */
static void s094TwoGraphs(void **state) {
  (void)state;
  SambaSession *session = newSession();
  SambaPefData pef;
  SambaRunOptions put = {.order = {.graph = sambaStringRef("put")}};
  SambaRunOptions get = {.order = {.graph = sambaStringRef("get")}};
  expectError(sambaSessionRun(session, &put, NULL, NULL), "no PEF loaded");
  fine(sambaCompileTextToMemory(context, sambaStringRef(twoGraphs), NULL, &pef));
  fine(sambaSessionLoadPefMemory(session, pef.data, pef.size));
  sambaFree(pef.data);
  char graphs[64] = "";
  sambaSessionForEachGraph(session, nameGraph, graphs);
  assert_string_equal(graphs, " put:1 get:1");

  SambaTensor *k = shared("k", x, inputDims), *cache = shared("cache", w, inputDims);
  SambaTensor *inputs[] = {k, cache};
  put.input_count = 2;
  put.inputs = inputs;
  fine(sambaSessionRun(session, &put, NULL, NULL));
  isNear(session, "other", 6, (const float[]){2, 2, 4, 4, 6, 6});
  fine(sambaSessionRun(session, &get, NULL, NULL));
  isNear(session, "twice", 6, (const float[]){4, 4, 8, 8, 12, 12});
  fine(sambaSessionWriteTensor(session, sambaStringRef("other"), cache));
  isNear(session, "cache", 6, w);
  fine(sambaSessionRun(session, NULL, NULL, NULL));
  isNear(session, "twice", 6, (const float[]){4, 4, 8, 8, 12, 12});
  sambaTensorRelease(k);
  sambaTensorRelease(cache);
  sambaSessionClose(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(s002u010TraceGraph),
      cmocka_unit_test(u020NoTransferAndRefusals),
      cmocka_unit_test(g017g018WeightsFromOutside),
      cmocka_unit_test(s094TwoGraphs),
  };
  return cmocka_run_group_tests(tests, makeContext, dropContext);
}
