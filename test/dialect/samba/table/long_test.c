/* Long reductions whose extents have no divisor to cut them by: their dimensions are padded with
 * neutral elements, and what they compute does not change. */
#include "test/dialect/samba/table/evaluate_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

typedef struct Case {
  const char *name;
  SambaDType dtype;
  uint32_t rank;
  int64_t dims[4];
  double first, step; /* element i is first + step * (i % 7) */
  double expected;    /* of the whole reduction */
} Case;

static void reduceAll(const Case *test) {
  SambaArena arena = {0};
  SambaTensorType type = {.dtype = test->dtype, .rank = test->rank};
  SambaTensorType result;
  int64_t elements = 1;

  for (uint32_t axis = 0; axis < test->rank; ++axis)
    elements *= type.dims[axis] = test->dims[axis];
  double *x = SAMBA_ARENA_ARRAY(&arena, double, elements);
  double *y;
  for (int64_t i = 0; i < elements; ++i)
    x[i] = test->first + test->step * (double)(i % 7);
  SambaOperatorCall call = {.operator = sambaOperatorFind(sambaStringRef(test->name)),
                            .operand_count = 1,
                            .operands = &type};
  SambaStatus status = evaluateCall(&arena, &call, &x, &result, &y);
  if (status)
    fail_msg("%s: %s", test->name, sambaStatusGetMessage(status));
  if (!(y[0] == test->expected || fabs(y[0] - test->expected) <= 1e-6 * fabs(test->expected)) ||
      (y[0] == 0 && signbit(y[0]) != signbit(test->expected)))
    fail_msg("%s: %g instead of %g", test->name, y[0], test->expected);
  sambaArenaDestroy(&arena);
}

static void neutralElementsChangeNothing(void **state) {
  (void)state;
  const Case cases[] = {
      {"sum", SAMBA_DTYPE_F32, 1, {100003}, 1, 0, 100003},
      {"sum", SAMBA_DTYPE_F32, 2, {3, 65537}, -0.0, 0, 0},
      {"sum", SAMBA_DTYPE_I32, 2, {100, 1001}, 1, 1, 400400},
      {"sum", SAMBA_DTYPE_I64, 1, {70001}, 2, 0, 140002},
      {"mean", SAMBA_DTYPE_F32, 2, {331, 331}, 5, 0, 5},
      {"prod", SAMBA_DTYPE_F32, 1, {65537}, 1, 0, 1},
      {"amax", SAMBA_DTYPE_F32, 1, {65537}, -9, 1, -3},
      {"amax", SAMBA_DTYPE_F32, 1, {65537}, -INFINITY, 0, -INFINITY},
      {"amin", SAMBA_DTYPE_F32, 3, {7, 101, 103}, 4, 1, 4},
      {"amax", SAMBA_DTYPE_I32, 1, {65537}, -2147483648.0, 1, -2147483642.0},
      {"amin", SAMBA_DTYPE_I32, 1, {65537}, 3, 1, 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    reduceAll(&cases[i]);
}

/* The extent that the last reduced dimension of the operator's first stage with one has. */
static int64_t reducedExtent(const char *name, uint32_t operands, const SambaTensorType *types,
                             int32_t dim) {
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = ""};
  SambaAttribute attribute = sambaIntAttribute("dim", -1);
  SambaOperatorCall call = {.operator = sambaOperatorFind(sambaStringRef(name)),
                            .operand_count = operands,
                            .operands = types,
                            .attribute_count = dim ? 1 : 0,
                            .attributes = &attribute};
  SambaTensorType result;
  uint32_t tensors[3] = {0}, out;

  assert_null(sambaOperatorInfer(&call, &result));
  for (uint32_t i = 0; i <= operands; ++i) {
    const SambaTensorType *type = i < operands ? &types[i] : &result;
    SambaStageTensor tensor = {.name = "t", .dtype = type->dtype, .rank = type->rank};
    tensor.role = i < operands ? SAMBA_TENSOR_ARGUMENT : SAMBA_TENSOR_RESULT;
    memcpy(tensor.dims, type->dims, sizeof tensor.dims);
    *(i < operands ? &tensors[i] : &out) = sambaStageGraphAddTensor(&graph, &tensor);
  }

  assert_null(call.operator->stages(&call, &graph, tensors, &out, ""));
  assert_null(sambaStageGraphCheck(&graph));
  const SambaStage *stage = &graph.stages[0];
  int64_t extent = stage->extents[stage->dim_count - 1];
  sambaArenaDestroy(&arena);

  return extent;
}

static void onlyWhatCannotBeCutIsPadded(void **state) {
  (void)state;
  const struct {
    int64_t row, padded;
  } rows[] = {{4099, 4099}, {50257, 50257}, {65537, 66048}, {262144, 262144}, {100003, 100352}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    SambaTensorType row = {.dtype = SAMBA_DTYPE_F32, .rank = 2, .dims = {2, rows[i].row}};
    assert_int_equal(reducedExtent("softmax", 1, &row, -1), rows[i].padded);
    SambaTensorType pair[] = {{SAMBA_DTYPE_F32, 2, {2, rows[i].row}},
                              {SAMBA_DTYPE_F32, 2, {rows[i].row, 3}}};
    assert_int_equal(reducedExtent("matmul", 2, pair, 0), rows[i].padded);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(neutralElementsChangeNothing),
                                     cmocka_unit_test(onlyWhatCannotBeCutIsPadded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
