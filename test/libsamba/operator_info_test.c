/* What programs may know of operators and of trace records. */
#include "test/libsamba/checks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Operators ---- */

typedef struct {
  uint32_t count, attributes;
  char last[64];
} Seen;

static void seeAttribute(void *user, const SambaAttributeInfo *attribute) {
  Seen *seen = user;
  assert_true(attribute->name[0] != '\0');
  ++seen->attributes;
}

static void seeOperator(void *user, const SambaOperatorInfo *info) {
  Seen *seen = user;
  Seen own = {0};
  SambaOperatorInfo again;
  assert_true(strcmp(seen->last, info->name) < 0); /* in alphabetical order */
  snprintf(seen->last, sizeof seen->last, "%s", info->name);
  ++seen->count;

  assert_true(sambaOperatorGetInfo(sambaStringRef(info->name), &again));
  assert_string_equal(again.name, info->name);
  assert_true(info->summary[0] || info->formula[0]);
  assert_true(info->least_operands <= info->most_operands);
  assert_in_range(info->result_count, 1, SAMBA_MAX_RESULTS);
  sambaOperatorForEachAttribute(info, seeAttribute, &own);
  assert_int_equal(own.attributes, info->attribute_count);
}

/* The dialect's reference documents more than a hundred operators. */
static void testAllOperators(void **state) {
  (void)state;
  Seen seen = {0};
  sambaForEachOperator(seeOperator, &seen);
  assert_true(seen.count > 100);
}

static void testOperators(void **state) {
  (void)state;
  SambaOperatorInfo info;
  SambaAttributeInfo attribute;
  assert_false(sambaOperatorGetInfo(sambaStringRef("soft_max"), &info));
  assert_true(sambaOperatorGetInfo(sambaStringRef("topk"), &info));
  assert_int_equal(info.result_count, 2);
  assert_true(sambaOperatorGetInfo(sambaStringRef("cat"), &info));
  assert_int_equal(info.most_operands, UINT32_MAX);
  assert_true(sambaOperatorGetInfo(sambaStringRef("linear"), &info));
  assert_int_equal(info.least_operands, 2);
  assert_int_equal(info.most_operands, 3); /* a bias */

  assert_true(sambaOperatorGetInfo(sambaStringRef("softmax"), &info));
  assert_int_equal(info.attribute_count, 1);
  assert_true(sambaOperatorGetAttribute(&info, sambaStringRef("dim"), &attribute));
  assert_int_equal(attribute.kind, SAMBA_ATTRIBUTE_INT);
  assert_string_equal(attribute.choices, "");
  assert_false(sambaOperatorGetAttribute(&info, sambaStringRef("axis"), &attribute));
  assert_true(sambaOperatorGetInfo(sambaStringRef("cast"), &info));
  assert_true(sambaOperatorGetAttribute(&info, sambaStringRef("dtype"), &attribute));
  assert_int_equal(attribute.kind, SAMBA_ATTRIBUTE_DTYPE);
  assert_true(attribute.required);
  assert_true(sambaOperatorGetInfo(sambaStringRef("cross_entropy"), &info));
  assert_true(sambaOperatorGetAttribute(&info, sambaStringRef("reduction"), &attribute));
  assert_int_equal(attribute.kind, SAMBA_ATTRIBUTE_STRING);
  assert_non_null(strstr(attribute.choices, "mean"));
}

/* ---- Records ---- */

static SambaTrace *traceRelu(void) {
  SambaTrace *trace = sambaTraceCreate(context, "g");
  SambaTraceValue *x = sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 1, (int64_t[]){2});
  sambaTraceSetLayer(trace, sambaStringRef("head"), "model.py", 3);
  SambaTraceValue *y = sambaRelu(x);
  sambaTraceOutput(trace, "y", y);
  assert_int_equal(sambaTraceValueGetId(x), 0);
  assert_int_equal(sambaTraceValueGetId(y), 1);
  return trace;
}

static void testRecord(void **state) {
  (void)state;
  SambaTrace *trace = traceRelu();
  const SambaTraceRecord *record = sambaTraceGetRecord(trace);
  assert_int_equal(sambaTraceRecordGetLineCount(record), 3);
  assert_non_null(strstr(sambaTraceRecordGetLine(record, 1), "%1 = relu(%0)"));
  assert_string_equal(sambaTraceRecordGetLayer(record, 1), "head");
  assert_string_equal(sambaTraceRecordGetLine(record, 2), "output \"y\" = %1");
  sambaTraceDestroy(trace);
}

/* An ONNX model, y = relu(x) on two floats, in the bytes of its format. */
static const char onnx[] = "\x08\x08" /* version 8 */
                           "\x3a\x33" /* graph: node, name, input, output */
                           "\x0a\x0c\x0a\x01x\x12\x01y\x22\x04Relu"
                           "\x12\x01g"
                           "\x5a\x0f\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x02"
                           "\x62\x0f\x0a\x01y\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x02"
                           "\x42\x02\x10\x0d"; /* operator set 13 */

/* A session compares the record of a model file with the PEF that was compiled from it. */
static void testRecordOfFile(void **state) {
  (void)state;
  char path[] = "/tmp/samba-record-XXXXXX.onnx";
  int file = mkstemps(path, 5);
  assert_true(write(file, onnx, sizeof onnx - 1) == (ssize_t)sizeof onnx - 1);
  close(file);

  SambaTraceRecord *record;
  SambaPefData pef;
  fine(sambaTraceRecordCreateFromFile(context, path, NULL, &record));
  fine(sambaCompileFileToMemory(context, path, NULL, &pef));
  SambaTrace *trace = traceRelu();
  const SambaTraceRecord *traced = sambaTraceGetRecord(trace);
  uint32_t count = sambaTraceRecordGetLineCount(record);
  assert_int_equal(count, sambaTraceRecordGetLineCount(traced));
  for (uint32_t i = 0; i < count; ++i)
    assert_string_equal(sambaTraceRecordGetLine(record, i), sambaTraceRecordGetLine(traced, i));
  assert_string_equal(sambaTraceRecordGetLayer(record, 1), "");
  assert_memory_equal(sambaTraceRecordGetDigest(record), sambaTraceRecordGetDigest(traced),
                      SAMBA_TRACE_DIGEST_BYTES);

  const SambaSimulatedDeviceOptions options = {.threads = 1, .values_only = true};
  SambaDeviceFactory device = sambaSimulatedDevice(&options);
  SambaSession *session;
  fine(sambaSessionCreate(&device, &session));
  fine(sambaSessionLoadPefMemory(session, pef.data, pef.size));
  fine(sambaSessionCheckTrace(session, (SambaStringRef){0}, record));
  bool written = true;
  fine(sambaSessionIsWritten(session, sambaStringRef("x"), &written));
  assert_false(written);

  sambaSessionClose(session);
  sambaFree(pef.data);
  sambaTraceDestroy(trace);
  sambaTraceRecordDestroy(record);
  sambaTraceRecordDestroy(NULL);
  unlink(path);
  expectError(sambaTraceRecordCreateFromFile(context, path, NULL, &record), path);
  assert_null(record);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testAllOperators),
                                     cmocka_unit_test(testOperators), cmocka_unit_test(testRecord),
                                     cmocka_unit_test(testRecordOfFile)};
  return cmocka_run_group_tests_name("operator info", tests, makeContext, dropContext);
}
