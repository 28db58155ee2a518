/* Operators that are composed of several lane operations, over f32's range against references in
 * f64: errors above the bounds that docs/numerics.md records fail.
 *
 * operator_test samples; `operator_test --all [NAME]` takes all 2^32 patterns. */
#include "dialect/samba/table/registry/registry.h"
#include "test/backend/sim/value/sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static double sigmoidOf(double x) { return 1 / (1 + exp(-x)); }
static double siluOf(double x) { return x == -INFINITY ? (double)NAN : x / (1 + exp(-x)); }
static double softplusOf(double x) { return x > 100 ? x : log1p(exp(x)); }
static double logsigmoidOf(double x) { return -softplusOf(-x); }
static double mishOf(double x) { return x * tanh(softplusOf(x)); }
static double geluOf(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752440); }
static double eluOf(double x) { return x > 0 ? x : expm1(x); }
static double seluOf(double x) {
  return 1.05070102214813232421875 * (x > 0 ? x : 1.67326319217681884765625 * expm1(x));
}
static double softsignOf(double x) { return x / (1 + fabs(x)); }
static double reciprocalOf(double x) { return 1 / x; }

/* Where silu and mish multiply a denormal exponential by up to 104, its absolute error counts;
 * gelu's 1 + erf has that of numbers near 1. */
static const SweepFunction functions[] = {
    {"tan", tan, 2, 0},
    {"asin", asin, 2.2, 0},
    {"acos", acos, 2.2, 0},
    {"sinh", sinh, 2.2, 0},
    {"cosh", cosh, 1.8, 0},
    {"asinh", asinh, 1.6, 0},
    {"acosh", acosh, 2, 0},
    {"atanh", atanh, 2, 0},
    {"sigmoid", sigmoidOf, 2.5, 0},
    {"silu", siluOf, 3.2, 0x1p-142},
    {"softplus", softplusOf, 1.6, 0},
    {"logsigmoid", logsigmoidOf, 1.6, 0},
    {"mish", mishOf, 3.1, 0x1p-142},
    {"gelu", geluOf, 3, 0x1p-22},
    {"elu", eluOf, 0.501, 0},
    {"celu", eluOf, 0.501, 0},
    {"selu", seluOf, 2.2, 0},
    {"softsign", softsignOf, 1.5, 0},
    {"reciprocal", reciprocalOf, 0.5, 0},
};

/* The operator's one stage as a program of the sweep, whose values are one later: it has a second
 * input. */
static void check(const SweepFunction *function, bool all) {
  SambaArena arena = {0};
  SambaTensorType type = {.dtype = SAMBA_DTYPE_F32, .rank = 1, .dims = {sweepToken}};
  SambaOperatorCall call = {.operator = sambaOperatorFind(sambaStringRef(function->name)),
                            .operand_count = 1,
                            .operands = &type};
  SambaStageGraph graph = {.arena = &arena, .name = "sweep"};
  SambaStageTensor tensor = {
      .name = "x", .dtype = SAMBA_DTYPE_F32, .rank = 1, .dims = {sweepToken}};
  uint32_t operand = sambaStageGraphAddTensor(&graph, &tensor);

  tensor.role = SAMBA_TENSOR_RESULT;
  uint32_t result = sambaStageGraphAddTensor(&graph, &tensor);
  assert_non_null(call.operator);
  assert_null(call.operator->stages(&call, &graph, &operand, &result, ""));
  assert_int_equal(graph.stage_count, 1);
  const SambaStage *stage = &graph.stages[0];
  for (uint32_t i = 0; i < stage->op_count; ++i)
    for (int k = 0; k < sambaLaneOpOperands(stage->ops[i].opcode); ++k)
      stage->ops[i].operands[k] += stage->ops[i].operands[k] > 0;
  sweepCheck(function, &(SweepProgram){stage->op_count, stage->ops, stage->result + 1}, all);
  sambaArenaDestroy(&arena);
}

static void testSample(void **state) {
  (void)state;
  for (size_t f = 0; f < sizeof functions / sizeof *functions; ++f)
    check(&functions[f], false);
}

static void testAll(void **state) {
  const char *only = *state;
  for (size_t f = 0; f < sizeof functions / sizeof *functions; ++f)
    if (!only || strcmp(only, functions[f].name) == 0)
      check(&functions[f], true);
}

int main(int count, char **words) {
  bool everything = count > 1 && strcmp(words[1], "--all") == 0;
  const struct CMUnitTest all[] = {cmocka_unit_test_prestate(testAll, count > 2 ? words[2] : NULL)};
  const struct CMUnitTest tests[] = {cmocka_unit_test(testSample)};
  return everything ? cmocka_run_group_tests(all, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
