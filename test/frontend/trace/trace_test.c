/* The graph builder: what it makes, what it refuses and when, and the trace record. */
#include "dialect/samba/samba.h"
#include "frontend/trace/trace.h"
#include "samba/operators.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

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

static const int64_t shape23[] = {2, 3};
static SambaTraceValue *input(SambaTrace *trace) {
  return sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 2, shape23);
}

static void append(MlirStringRef part, void *user_data) {
  char **text = user_data;
  size_t size = strlen(*text);
  *text = realloc(*text, size + part.length + 1);
  memcpy(*text + size, part.data, part.length);
  (*text)[size + part.length] = 0;
}

/* Finishes, prints with locations, destroys. */
static char *finish(SambaTrace *trace) {
  MlirModule module;
  SambaStatus status = sambaTraceFinish(trace, &module);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
  char *text = calloc(1, 1);
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
  mlirOperationPrintWithFlags(mlirModuleGetOperation(module), flags, append, &text);
  mlirOpPrintingFlagsDestroy(flags);
  mlirModuleDestroy(module);
  sambaTraceDestroy(trace);
  return text;
}

static void expectFailure(SambaTrace *trace, const char *message) {
  MlirModule module;
  SambaStatus status = sambaTraceFinish(trace, &module);
  assert_true(mlirModuleIsNull(module));
  assert_non_null(status);
  assert_string_equal(sambaStatusGetMessage(status), message);
  sambaStatusFree(status);
  sambaTraceDestroy(trace);
}

/* G001: a walk through the model becomes a graph, with layers and places. */
static void testGraph(void **state) {
  (void)state;
  static const float bias[4] = {1, 2, 3, 4};
  SambaTrace *trace = sambaTraceCreateInContext(context, "forward");
  SambaTraceValue *x = input(trace);
  SambaTraceValue *w = sambaTraceParameterFile(trace, "fc.weight", SAMBA_DTYPE_F32, 2,
                                               (int64_t[]){4, 3}, "model.bin", 64);
  SambaTraceValue *b =
      sambaTraceParameter(trace, "fc.bias", SAMBA_DTYPE_F32, 1, (int64_t[]){4}, bias);

  sambaTraceSetLayer(trace, sambaStringRef("fc"), "model.py", 7);
  SambaTraceValue *y = sambaRelu(sambaLinear(x, w, b));
  assert_int_equal(y->type.rank, 2);
  assert_int_equal(y->type.dims[1], 4);
  sambaTraceOutput(trace, "y", y);
  char *text = finish(trace);
  static const char *const pieces[] = {
      "samba.graphs = [@forward]",
      "samba.kind = \"input\", samba.name = \"x\"",
      "samba.value = #samba.external<\"model.bin\", bytes = 48, offset = 64>",
      "dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>",
      "samba.kind = \"output\", samba.name = \"y\"",
      "samba.linear",
      "samba.relu",
      "loc(\"model.py\":7:0)",
      "loc(\"fc\"(#loc"};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i)
    if (!strstr(text, pieces[i]))
      fail_msg("%s is not in\n%s", pieces[i], text);
  free(text);
}

static void testNames(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *tensors[] = {input(trace), input(trace),
                                sambaTraceInput(trace, "", SAMBA_DTYPE_F32, 2, shape23),
                                sambaTraceInput(trace, "", SAMBA_DTYPE_F32, 2, shape23)};
  static const char *const expected[] = {"x", "x_0", "input_0", "input_1"};
  for (int i = 0; i < 4; ++i)
    assert_true(sambaStringRefEqualC(tensors[i]->name, expected[i]));
  sambaTraceDestroy(trace);
}

/* Two values promote as PyTorch does; the rest is strict. */
static void testPromotion(void **state) {
  (void)state;
  static const struct {
    SambaDType a, b, result;
  } rows[] = {{SAMBA_DTYPE_F32, SAMBA_DTYPE_BF16, SAMBA_DTYPE_F32},
              {SAMBA_DTYPE_BF16, SAMBA_DTYPE_F16, SAMBA_DTYPE_F32},
              {SAMBA_DTYPE_I64, SAMBA_DTYPE_BF16, SAMBA_DTYPE_BF16},
              {SAMBA_DTYPE_I1, SAMBA_DTYPE_UI8, SAMBA_DTYPE_UI8},
              {SAMBA_DTYPE_I8, SAMBA_DTYPE_UI8, SAMBA_DTYPE_I16},
              {SAMBA_DTYPE_I32, SAMBA_DTYPE_I64, SAMBA_DTYPE_I64},
              {SAMBA_DTYPE_I8, SAMBA_DTYPE_I8, SAMBA_DTYPE_I8}};

  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    assert_int_equal(sambaPromoteDTypes(rows[i].a, rows[i].b), rows[i].result);
    assert_int_equal(sambaPromoteDTypes(rows[i].b, rows[i].a), rows[i].result);
  }

  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *x = input(trace);
  SambaTraceValue *n = sambaTraceInput(trace, "n", SAMBA_DTYPE_I64, 1, (int64_t[]){3});
  SambaTraceValue *sum = sambaAdd(x, n);

  assert_int_equal(sum->type.dtype, SAMBA_DTYPE_F32);
  assert_int_equal(sambaLt(sum, n)->type.dtype, SAMBA_DTYPE_I1);
  sambaTraceDestroy(trace);
}

static void testViews(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *x = sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 3, (int64_t[]){2, 3, 4});
  SambaTraceValue *flat = sambaFlatten(x, 1, -1);
  SambaTraceValue *turned = sambaTranspose(x, 0, -1);
  SambaTraceValue *part = sambaSlice(x, 1, -2, INT64_MAX, 1);

  assert_true(flat->type.rank == 2 && flat->type.dims[1] == 12);
  assert_true(turned->type.dims[0] == 4 && turned->type.dims[2] == 2);
  assert_int_equal(part->type.dims[1], 2);
  assert_int_equal(sambaSlice(x, 2, -1, INT64_MIN, -2)->type.dims[2], 2);
  assert_int_equal(sambaReshape(x, 2, (int64_t[]){-1, 6})->type.dims[0], 4);
  SambaWindowOptions window = {.kernel = (int64_t[]){2}};
  assert_int_equal(sambaMaxPool(x, &window)->type.dims[2], 2);
  sambaTraceDestroy(trace);
}

/* Activations with parameters, random numbers, dropout's two results. */
static void testRandom(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *x = input(trace);
  SambaTraceValue *seed = sambaTraceScalar(trace, SAMBA_DTYPE_I64, 7);
  SambaTraceValue *p = sambaTraceScalar(trace, SAMBA_DTYPE_F32, 0.5);
  SambaTraceValue *y;
  SambaTraceValue *mask;
  SambaTraceValue *shaped[] = {sambaCelu(x, 2), sambaSelu(x, 1, 2), sambaThreshold(x, 1, 0),
                               sambaShrink(x, 1, 1), sambaPrelu(x, p)};
  for (size_t i = 0; i < sizeof shaped / sizeof *shaped; ++i)
    assert_true(shaped[i] && shaped[i]->type.dims[1] == 3 &&
                shaped[i]->type.dtype == SAMBA_DTYPE_F32);
  int64_t dims[] = {4, 5};

  assert_int_equal(sambaUniform(seed, 2, dims, -1, 1, SAMBA_DTYPE_F16)->type.dtype,
                   SAMBA_DTYPE_F16);
  assert_int_equal(sambaNormal(seed, 1, dims, 0, 1, SAMBA_DTYPE_F32)->type.dims[0], 4);
  assert_int_equal(sambaBernoulli(x, seed, SAMBA_DTYPE_I32)->type.dtype, SAMBA_DTYPE_I32);
  assert_int_equal(sambaMultinomial(x, seed, 9, SAMBA_DTYPE_I64)->type.dims[1], 9);
  assert_true(sambaDropout(x, p, seed, &y, &mask));
  assert_true(y->type.dtype == SAMBA_DTYPE_F32 && mask->type.dtype == SAMBA_DTYPE_I1);
  assert_false(sambaDropout(x, NULL, seed, &y, &mask));
  assert_false(sambaDropout(x, seed, seed, &y, &mask));
  expectFailure(trace, "dropout: (C2) the probability is i64, but must be f32, bf16 or f16");
}

/* Builders of operators with several results, optional operands and attributes. */
static void testReductions(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *x = input(trace);
  SambaTraceValue *target = sambaTraceInput(trace, "t", SAMBA_DTYPE_I64, 1, (int64_t[]){2});
  SambaTraceValue *indices;
  SambaTraceValue *sorted = sambaSort(x, -1, true, &indices);
  SambaTraceValue *order = sambaArgsort(x, 0, false);

  assert_true(sorted->type.dims[1] == 3 && indices->type.dtype == SAMBA_DTYPE_I64 &&
              order->type.rank == 2);
  assert_int_equal(sambaTopk(x, 2, 1, false, NULL)->type.dims[1], 2);
  assert_int_equal(sambaArgmax(x, NULL, true, false)->type.rank, 2);
  assert_int_equal(sambaLogsumexp(x, 0, NULL, false)->type.rank, 0);
  assert_int_equal(sambaEinsum("ij,kj->ik", 2, (SambaTraceValue *[]){x, x})->type.dims[1], 2);
  assert_int_equal(sambaOneHot(target, NULL, 7, -1)->type.dims[1], 7);
  SambaTraceValue *losses[] = {sambaNllLoss(x, target, NULL, NULL, "mean"),
                               sambaCrossEntropy(x, target, NULL, &(int64_t){1}, "sum"),
                               sambaMseLoss(x, x, "sum"),
                               sambaL1Loss(x, x, "mean"),
                               sambaSmoothL1Loss(x, x, "mean", 0.5),
                               sambaHuberLoss(x, x, "mean", 0.5),
                               sambaKlDiv(x, x, "batchmean", true),
                               sambaBinaryCrossEntropy(x, x, "mean"),
                               sambaBinaryCrossEntropyWithLogits(x, x, "mean")};
  for (size_t i = 0; i < sizeof losses / sizeof *losses; ++i)
    assert_true(losses[i] && losses[i]->type.rank == 0 && losses[i]->type.dtype == SAMBA_DTYPE_F32);
  assert_null(sambaTopk(x, 4, 1, true, &indices));
  assert_null(indices);
  expectFailure(trace, "topk: (C3) k is 4, but must be 1 to 3, the size of dimension 1");
}

static void testFailures(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");

  sambaTraceSetLayer(trace, sambaStringRef("head"), NULL, 0);
  SambaTraceValue *x = input(trace);
  SambaTraceValue *bad = sambaMatmul(x, x);
  assert_null(bad);
  assert_null(sambaRelu(bad)); /* nothing is built on a failure, the first one is kept */
  sambaTraceOutput(trace, "y", bad);
  expectFailure(trace,
                "matmul (layer head): (C3) operand 1 is 2x3xf32: dimension 0 is 2, but must be 3");

  trace = sambaTraceCreateInContext(context, "g");
  sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 1, (int64_t[]){-1});
  expectFailure(trace, "input \"x\": dimension 0 is -1; dimensions must not be negative, tensors "
                       "less than 2^48 elements");
  trace = sambaTraceCreateInContext(context, "g");
  sambaTraceInput(trace, "x", SAMBA_DTYPE_F32, 9, NULL);
  expectFailure(trace, "input \"x\": has rank 9, but tensors have rank 8 at most");
  trace = sambaTraceCreateInContext(context, "g");
  sambaTraceInput(trace, "x", SAMBA_DTYPE_F64, 1, (int64_t[]){2});
  expectFailure(trace, "input \"x\": has elements of type f64, which no device has; expected f32, "
                       "bf16, f16, i1, i8, ui8, i16, i32 or i64");
  trace = sambaTraceCreateInContext(context, "g");
  sambaTraceScalar(trace, SAMBA_DTYPE_F64, 1.5);
  expectFailure(trace, "constant: has elements of type f64, which no device has; expected f32, "
                       "bf16, f16, i1, i8, ui8, i16, i32 or i64");
  trace = sambaTraceCreateInContext(context, "g");
  sambaTraceOutput(trace, "y", NULL);
  expectFailure(trace, "result 0 of graph g is missing");
  trace = sambaTraceCreateInContext(context, "g");
  input(trace);
  expectFailure(trace, "graph g has no results");
  trace = sambaTraceCreateInContext(context, "g");
  sambaTranspose(input(trace), 0, 2);
  expectFailure(trace, "permute: dimensions 0 and 2 cannot be exchanged in a tensor of rank 2");
  trace = sambaTraceCreateInContext(context, "g");
  sambaSlice(input(trace), 2, 0, 1, 1);
  expectFailure(trace, "slice: there is no dimension 2 in a tensor of rank 2");
  trace = sambaTraceCreateInContext(context, "g");
  x = input(trace);
  sambaTraceCall(trace, "frobnicate", 1, &x, 0, NULL);
  expectFailure(trace, "frobnicate: there is no such operator");

  SambaTrace *other = sambaTraceCreateInContext(context, "h");
  trace = sambaTraceCreateInContext(context, "g");
  SambaTraceValue *operands[] = {input(trace), input(other)};
  SambaTraceValue *result;
  SambaStatus status = sambaTraceOperator(trace, "add", 2, operands, 0, NULL, &result);
  assert_string_equal(sambaStatusGetMessage(status), "add: operand 1 is a tensor of another trace");
  sambaStatusFree(status);
  sambaTraceDestroy(other);
  sambaTraceDestroy(trace);
}

static void testFinish(void **state) {
  (void)state;
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");

  sambaTraceOutput(trace, "y", sambaNeg(input(trace)));
  MlirModule module, again;
  assert_null(sambaTraceFinish(trace, &module));
  mlirModuleDestroy(module);
  SambaStatus status = sambaTraceFinish(trace, &again);
  assert_string_equal(sambaStatusGetMessage(status), "graph g is finished already");
  sambaStatusFree(status);
  expectFailure(trace, "graph g has failed");

  trace = sambaTraceCreateInContext(context, "g"); /* what only the dialect's verifier knows */
  SambaArgument argument = {.name = sambaStringRef("x"),
                            .memory = "tape",
                            .type = {.dtype = SAMBA_DTYPE_F32, .rank = 1, .dims = {2}}};
  sambaTraceOutput(trace, "y", sambaNeg(sambaTraceArgument(trace, &argument)));
  expectFailure(trace, "graph g does not verify (see the diagnostics)");
}

/* Lines say what was traced; layers and data do not change the digest, operators and shapes do. */
static void traceFor(const char *layer, double slope, char *out_line, uint8_t *out_digest) {
  SambaTrace *trace = sambaTraceCreateInContext(context, "g");
  sambaTraceSetLayer(trace, sambaStringRef(layer), NULL, 0);
  sambaTraceOutput(trace, "y", sambaLeakyRelu(input(trace), slope));
  SambaTraceRecord record = *sambaTraceGetRecord(trace);
  assert_int_equal(record.line_count, 3);
  assert_string_equal(record.lines[0], "%0 = input \"x\" : 2x3xf32");
  assert_string_equal(record.lines[2], "output \"y\" = %1");
  snprintf(out_line, 96, "%s", record.lines[1]);
  memcpy(out_digest, record.digest, 32);
  sambaTraceDestroy(trace);
}

static void testRecord(void **state) {
  (void)state;
  char line[96];
  uint8_t digests[3][32];
  traceFor("a", 0.25, line, digests[0]);
  assert_string_equal(line, "%1 = leaky_relu(%0) {negative_slope = 0.25} : 2x3xf32");
  traceFor("b", 0.25, line, digests[1]);
  traceFor("a", 0.5, line, digests[2]);
  assert_memory_equal(digests[0], digests[1], 32);
  assert_memory_not_equal(digests[0], digests[2], 32);
}

/* G003: of a condition on the host, the graph has the branch that was taken. */
static void g003Branches(void **state) {
  (void)state;
  for (int flag = 0; flag < 2; ++flag) {
    SambaTrace *trace = sambaTraceCreateInContext(context, "g");
    SambaTraceValue *x = input(trace);
    sambaTraceOutput(trace, "y", flag ? sambaExp(x) : sambaNeg(x));
    char *text = finish(trace);
    assert_int_equal(strstr(text, "samba.exp") != NULL, flag);
    assert_int_equal(strstr(text, "samba.neg") != NULL, !flag);
    free(text);
  }
}

/* The file has what the trace has, with layers as locations, and is there as a whole or not. */
static void testWritesFile(void **state) {
  (void)state;
  const char *path = "trace_test_written.mlir";
  SambaTrace *trace = sambaTraceCreateInContext(context, "forward");
  sambaTraceSetLayer(trace, sambaStringRef("encoder.relu"), NULL, 0);
  sambaTraceOutput(trace, "y", sambaRelu(input(trace)));
  assert_null(sambaTraceWrite(trace, path));
  SambaStatus again = sambaTraceWrite(trace, path);
  assert_string_equal(sambaStatusGetMessage(again), "graph forward is finished already");
  sambaStatusFree(again);
  sambaTraceDestroy(trace);

  char text[4096];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  assert_non_null(strstr(text, "samba.relu %arg0 : tensor<2x3xf32> loc("));
  assert_non_null(strstr(text, "loc(\"encoder.relu\")"));
  assert_int_equal(remove(path), 0);

  trace = sambaTraceCreateInContext(context, "empty");
  SambaStatus status = sambaTraceWrite(trace, path);
  assert_string_equal(sambaStatusGetMessage(status), "graph empty has no results");
  sambaStatusFree(status);
  sambaTraceDestroy(trace);
  assert_null(fopen(path, "r"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testGraph),      cmocka_unit_test(testNames),
      cmocka_unit_test(testPromotion),  cmocka_unit_test(testViews),
      cmocka_unit_test(testReductions), cmocka_unit_test(testRandom),
      cmocka_unit_test(testFailures),   cmocka_unit_test(testFinish),
      cmocka_unit_test(testRecord),     cmocka_unit_test(testWritesFile),
      cmocka_unit_test(g003Branches)};
  return cmocka_run_group_tests(tests, setUp, tearDown);
}
