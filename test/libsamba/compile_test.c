/* Compiling through the library: traces and text, to memory and to files. */
#include "test/libsamba/checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* y = relu(x * w') */
static SambaTrace *traceLayer(void) {
  static float weights[4 * 8];
  for (int i = 0; i < 32; ++i)
    weights[i] = (float)(i % 5) - 2;
  SambaTrace *trace = sambaTraceCreate(context, "forward");
  SambaTraceValue *x = sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 2, (int64_t[]){2, 8});
  SambaTraceValue *w =
      sambaTraceParameter(trace, "w", SAMBA_DTYPE_F32, 2, (int64_t[]){4, 8}, weights);
  sambaTraceOutput(trace, "y", sambaRelu(sambaLinear(x, w, NULL)));
  return trace;
}

static char *readFile(const char *path, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *out_size = (size_t)ftell(file);
  rewind(file);
  char *data = malloc(*out_size + 1);
  assert_int_equal(fread(data, 1, *out_size, file), *out_size);
  data[*out_size] = '\0';
  fclose(file);
  return data;
}

static bool contains(const char *data, size_t size, const char *text) {
  return memmem(data, size, text, strlen(text)) != NULL;
}

/* A PEF in memory has the bytes of the one in a file, which has a log beside it. */
static void testMemory(void **state) {
  (void)state;
  char folder[] = "/tmp/samba-compile-XXXXXX", path[64], log[80];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/layer.pef", folder);
  snprintf(log, sizeof log, "%s.log", path);

  SambaTrace *first = traceLayer(), *second = traceLayer();
  SambaPefData pef;
  size_t size, log_size;
  fine(sambaCompileTrace(context, first, NULL, path));
  fine(sambaCompileTraceToMemory(context, second, NULL, &pef));
  char *written = readFile(path, &size);
  assert_int_equal(size, pef.size);
  assert_memory_equal(written, pef.data, size);
  char *told = readFile(log, &log_size);
  if (!strstr(told, "target: \"tiny\""))
    fail_msg("the log is: %s", told);

  free(told);
  free(written);
  sambaFree(pef.data);
  sambaTraceDestroy(first);
  sambaTraceDestroy(second);
  unlink(path);
  unlink(log);
  assert_int_equal(rmdir(folder), 0);
}

/* S023: the name of a compilation is kept in the PEF, with whatever else the program tells. */
static void s023Name(void **state) {
  (void)state;
  SambaCompileEntry entry = {"batch_size", "2"};
  SambaCompileOptions options = {.name = "first-try", .entry_count = 1, .entries = &entry};
  SambaTrace *trace = traceLayer();
  SambaPefData pef;
  fine(sambaCompileTraceToMemory(context, trace, &options, &pef));
  assert_true(contains(pef.data, pef.size, "first-try"));
  assert_true(contains(pef.data, pef.size, "batch_size"));
  sambaFree(pef.data);
  sambaTraceDestroy(trace);
}

typedef struct Heard {
  uint32_t parts, done, total, remarks;
  bool section;
} Heard;

static void hearPart(void *user, const char *part, uint32_t done, uint32_t total) {
  Heard *heard = user;
  assert_true(part[0] != '\0');
  assert_true(done >= heard->done);
  heard->done = done;
  heard->total = total;
  ++heard->parts;
}

static void hearRemark(void *user, SambaDiagnosticKind kind, const char *message) {
  Heard *heard = user;
  assert_int_equal(kind, SAMBA_DIAGNOSTIC_REMARK);
  ++heard->remarks;
  heard->section |= strstr(message, "section s0; calls 1") != NULL;
}

static void testCallbacks(void **state) {
  (void)state;
  Heard heard = {0};
  SambaCompileOptions options = {
      .explain = true, .progress = hearPart, .diagnose = hearRemark, .user = &heard};
  SambaTrace *trace = traceLayer();
  SambaPefData pef;
  fine(sambaCompileTraceToMemory(context, trace, &options, &pef));
  assert_int_equal(heard.parts, 4);
  assert_int_equal(heard.done, 3);
  assert_int_equal(heard.total, 3);
  assert_true(heard.remarks >= 3);
  assert_true(heard.section);
  sambaFree(pef.data);
  sambaTraceDestroy(trace);
}

/* S030: what is traced with its precision kept stays f32 where the rest is computed in bf16. */
static void s030KeepPrecision(void **state) {
  (void)state;
  const float exact = 1.0f + 0x1p-12f; /* bf16 has 8 bits */
  float x[4] = {exact, 0, 0, exact}, w[4] = {1, 0, 0, 1}, found[4];
  SambaTrace *trace = sambaTraceCreate(context, "forward");
  SambaTraceValue *a = sambaTraceInput(trace, "a", SAMBA_DTYPE_F32, 2, (int64_t[]){2, 2});
  SambaTraceValue *b = sambaTraceParameter(trace, "b", SAMBA_DTYPE_F32, 2, (int64_t[]){2, 2}, w);
  sambaTraceKeepPrecision(trace, true);
  sambaTraceOutput(trace, "kept", sambaMatmul(a, b));
  sambaTraceKeepPrecision(trace, false);
  sambaTraceOutput(trace, "narrow", sambaMatmul(a, b));

  SambaCompileOptions options = {.precision = "mp1"};
  SambaPefData pef;
  fine(sambaCompileTraceToMemory(context, trace, &options, &pef));
  SambaSimulatedDeviceOptions one = {.threads = 1};
  SambaDeviceFactory device = sambaSimulatedDevice(&one);
  SambaSession *session;
  fine(sambaSessionCreate(&device, &session));
  fine(sambaSessionLoadPefMemory(session, pef.data, pef.size));
  fine(
      sambaSessionSetInput(session, sambaStringRef("a"), SAMBA_DTYPE_F32, 2, (int64_t[]){2, 2}, x));
  fine(sambaSessionRun(session, NULL, NULL, NULL));
  for (int i = 0; i < 2; ++i) {
    SambaTensor *y;
    fine(sambaSessionReadTensor(session, sambaStringRef(i ? "narrow" : "kept"), &y));
    fine(sambaTensorCopyToFloat(y, found, 4));
    assert_true(found[0] == (i ? 1.0f : exact));
    assert_true(found[1] == 0);
    sambaTensorRelease(y);
  }
  sambaSessionClose(session);
  sambaFree(pef.data);
  sambaTraceDestroy(trace);
}

static const char module[] =
    "func.func @forward(%x: tensor<2x3xf32> {samba.name = \"x\", samba.kind = \"input\"}) ->\n"
    "    (tensor<2x3xf32> {samba.name = \"y\", samba.kind = \"output\"}) {\n"
    "  %y = \"samba.relu\"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
    "  return %y : tensor<2x3xf32>\n"
    "}\n";

static void testText(void **state) {
  (void)state;
  SambaPefData pef;
  fine(sambaCompileTextToMemory(context, sambaStringRef(module), NULL, &pef));
  assert_memory_equal(pef.data, "\177ELF", 4);
  sambaFree(pef.data);
}

/* A failure has the first error in it; nothing is written. */
static void testErrors(void **state) {
  (void)state;
  SambaPefData pef;
  expectError(sambaCompileTextToMemory(context, sambaStringRef("func.func @f("), NULL, &pef),
              "expected");
  assert_null(pef.data);
  expectError(sambaCompileFileToMemory(context, "model.txt", NULL, &pef),
              "model.txt: a model ends in .onnx, .mlir or .mlirbc");
  SambaCompileOptions elsewhere = {.target = "nowhere"};
  expectError(sambaCompileTextToMemory(context, sambaStringRef(module), &elsewhere, &pef),
              "nowhere");
  assert_int_equal(pef.size, 0);

  SambaTrace *trace = sambaTraceCreate(context, "empty");
  expectError(sambaCompileTrace(context, trace, NULL, "never.pef"), "graph empty has no results");
  assert_int_not_equal(access("never.pef", F_OK), 0);
  sambaTraceDestroy(trace);
}

static void testValues(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreate(context, "forward");
  SambaTraceValue *x = sambaTraceInput(trace, "x", SAMBA_DTYPE_BF16, 2, (int64_t[]){2, 8});
  assert_ptr_equal(sambaTraceValueGetTrace(x), trace);
  assert_int_equal(sambaTraceValueGetDType(x), SAMBA_DTYPE_BF16);
  assert_int_equal(sambaTraceValueGetRank(x), 2);
  assert_int_equal(sambaTraceValueGetDims(x)[1], 8);
  assert_int_equal(sambaTraceValueGetName(x).size, 1);
  assert_memory_equal(sambaTraceValueGetKind(x).data, "input", 5);
  assert_memory_equal(sambaTraceValueGetRegion(x).data, "x", 1);
  assert_false(sambaTraceValueGetRequiresGrad(x));
  SambaTraceValue *y = sambaRelu(x);
  assert_int_equal(sambaTraceValueGetName(y).size, 0);
  assert_int_equal(sambaTraceValueGetDType(y), SAMBA_DTYPE_BF16);
  sambaTraceDestroy(trace);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testMemory),        cmocka_unit_test(s023Name),
      cmocka_unit_test(s030KeepPrecision), cmocka_unit_test(testCallbacks),
      cmocka_unit_test(testText),          cmocka_unit_test(testErrors),
      cmocka_unit_test(testValues)};
  return cmocka_run_group_tests_name("compile", tests, makeContext, dropContext);
}
