/* Tensors of the host in a graph: each becomes one argument, which takes everything from the tensor
 * but its data. */
#include "frontend/trace/trace.h"
#include "pipeline/compile.h"
#include "samba/operators.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static MlirContext context;
static SambaTrace *trace;

static int setUp(void **state) {
  (void)state;
  context = sambaCompilerContextCreate();
  trace = sambaTraceCreateInContext(context, "forward");
  return 0;
}

static int tearDown(void **state) {
  (void)state;
  sambaTraceDestroy(trace);
  mlirContextDestroy(context);
  return 0;
}

static SambaTensor *empty(SambaDType dtype, uint32_t rank, const char *name) {
  static const int64_t dims[9] = {4, 3, 1, 1, 1, 1, 1, 1, 1};
  SambaTensor *tensor;
  assert_null(sambaTensorCreateEmpty(dtype, rank, dims, sambaStringRef(name), &tensor));
  return tensor;
}

static void expectFailure(const char *text) {
  const char *message = sambaStatusGetMessage(sambaTraceStatus(trace));
  if (!strstr(message, text))
    fail_msg("the error is: %s\nexpected in it: %s", message, text);
}

static void testArgument(void **state) {
  (void)state;
  SambaTensor *x = empty(SAMBA_DTYPE_F32, 2, "x"), *w = empty(SAMBA_DTYPE_BF16, 2, "w");
  sambaTensorSetRegionName(w, sambaStringRef("shared"));
  sambaTensorSetMemoryType(w, SAMBA_MEMORY_DDR);
  assert_null(sambaTensorSetRequiresGrad(w, true));
  assert_null(sambaTraceFindTensor(trace, x));

  SambaTraceValue *first = sambaTraceTensor(trace, x, "input");
  SambaTraceValue *weight = sambaTraceTensor(trace, w, "weight");
  assert_ptr_equal(sambaTraceTensor(trace, x, "input"), first);
  assert_ptr_equal(sambaTraceFindTensor(trace, w), weight);
  assert_ptr_equal(sambaTraceValueGetTensor(weight), w);
  assert_null(sambaTraceValueGetTensor(sambaRelu(first)));
  assert_int_equal(sambaTraceValueGetDims(first)[1], 3);
  assert_int_equal(sambaTraceValueGetDType(weight), SAMBA_DTYPE_BF16);
  assert_true(sambaTraceValueGetRequiresGrad(weight));
  assert_memory_equal(sambaTraceValueGetRegion(weight).data, "shared", 6);
  assert_int_equal(weight->memory.size, 3);
  assert_false(sambaTensorHasData(x));

  /* The trace keeps what it refers to. */
  sambaTensorRelease(w);
  assert_memory_equal(sambaTensorGetName(sambaTraceValueGetTensor(weight)).data, "w", 1);
  sambaTensorRelease(x);
}

/* T008: a tensor without a name gets one in the graph, and stays without. */
static void t008NoName(void **state) {
  (void)state;
  SambaTensor *x = empty(SAMBA_DTYPE_F32, 1, ""), *y = empty(SAMBA_DTYPE_F32, 1, "");
  SambaStringRef one = sambaTraceValueGetName(sambaTraceTensor(trace, x, "input"));
  SambaStringRef two = sambaTraceValueGetName(sambaTraceTensor(trace, y, "input"));
  assert_true(one.size > 0 && two.size > 0);
  assert_false(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
  assert_int_equal(sambaTensorGetName(x).size, 0);
  sambaTensorRelease(x);
  sambaTensorRelease(y);
}

/* T090 T027: two tensors of one name are refused. */
static void t090Name(void **state) {
  (void)state;
  SambaTensor *x = empty(SAMBA_DTYPE_F32, 1, "x"), *y = empty(SAMBA_DTYPE_F32, 1, "x");
  assert_non_null(sambaTraceTensor(trace, x, "input"));
  assert_null(sambaTraceTensor(trace, y, "input"));
  expectFailure("graph forward has another tensor that is called \"x\"; give one of them another "
                "name");
  sambaTensorRelease(x);
  sambaTensorRelease(y);
}

static void testKinds(void **state) {
  (void)state;
  SambaTensor *x = empty(SAMBA_DTYPE_F32, 1, "x");
  assert_non_null(sambaTraceTensor(trace, x, "input"));
  assert_null(sambaTraceTensor(trace, x, "weight"));
  expectFailure("tensor \"x\" is of kind input in graph forward already; it cannot be of kind "
                "weight too");
  sambaTensorRelease(x);
}

static void testDType(void **state) {
  (void)state;
  SambaTensor *x = empty(SAMBA_DTYPE_F64, 1, "x");
  assert_null(sambaTraceTensor(trace, x, "input"));
  expectFailure("tensor \"x\" is f64, which no device has; cast it to f32 first");
  sambaTensorRelease(x);
}

static void testRank(void **state) {
  (void)state;
  SambaTensor *x = empty(SAMBA_DTYPE_F32, 9, "x");
  assert_null(sambaTraceTensor(trace, x, "input"));
  expectFailure("tensor \"x\" has rank 9, but graphs hold tensors of rank 8 at most");
  sambaTensorRelease(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(testArgument, setUp, tearDown),
                                     cmocka_unit_test_setup_teardown(t008NoName, setUp, tearDown),
                                     cmocka_unit_test_setup_teardown(t090Name, setUp, tearDown),
                                     cmocka_unit_test_setup_teardown(testKinds, setUp, tearDown),
                                     cmocka_unit_test_setup_teardown(testDType, setUp, tearDown),
                                     cmocka_unit_test_setup_teardown(testRank, setUp, tearDown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
