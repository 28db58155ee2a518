/* Gradients of every row of the operator table: against PyTorch's (cases/gradients/), against
 * central differences in double, and a row's rule against its decomposition. Also: no row forgets
 * to say how gradients pass, and docs/numerics.md lists kinds and errors as they are
 * (SAMBA_UPDATE_DOCS=1 rewrites that part of the page). */
#include "dialect/samba/table/calls/differentiate.h"
#include "dialect/samba/table/core/rows.h"
#include "dialect/samba/table/registry/registry.h"
#include "test/dialect/samba/table/case_file.h"
#include "test/dialect/samba/table/evaluate.h"
#include "test/dialect/samba/table/evaluate_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CASES "test/dialect/samba/table/cases/gradients"

enum { ROWS = 1024 };

/* By row of the table: what the cases gave. */
typedef struct {
  int cases[ROWS];
  double errors[ROWS]; /* the largest relative error against PyTorch, in f32 */
} Measured;

static Measured measured;
static int failures;

/* Goes on after a wrong number, so that one run shows all of them. */
static void report(const Case *test, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: %s: ", test->file, test->line, test->name);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  ++failures;
}

/* A call, the calls of its gradients, and where its values stand: operands first, then the
 * gradients of its results. */
typedef struct {
  SambaExpansion graph;
  uint32_t flows[SAMBA_MAX_RESULTS], results[SAMBA_MAX_RESULTS];
  uint32_t gradients[SAMBA_CASE_MAXIMUM];
} Reversed;

static double relativeLimit(const SambaOperator *operator) {
  static const char *const long_sums[] = {"linear", "matmul", "einsum",    "conv",
                                          "norm",   "scaled", "normalize", "lstm"};
  for (size_t i = 0; i < sizeof long_sums / sizeof *long_sums; ++i)
    if (strstr(operator->name, long_sums[i]))
      return 1e-4;
  return 1e-5;
}

static uint32_t rowOf(const SambaOperator *operator) {
  uint32_t row = 0;
  while (sambaOperatorAt(row) != operator)
    ++row;
  return row;
}

/* Appends the call; or the calls that it is made of, when it has no rule or when asked. */
static SambaStatus appendCall(SambaExpansion *graph, const SambaOperatorCall *call,
                              const uint32_t *operands, bool decomposed, uint32_t *out_results) {
  if (!decomposed && sambaOperatorGradientKind(call->operator) != SAMBA_GRADIENT_INHERITED) {
    uint32_t first = sambaExpandCall(graph, call->operator->name, call->operand_count, operands,
                                     call->attribute_count, call->attributes);
    for (uint32_t r = 0; r < sambaOperatorResults(call->operator); ++r)
      out_results[r] = first + r;
    return NULL;
  }

  SambaArena *arena = graph->arena;
  SambaExpansion parts = {.arena = arena, .find = graph->find};
  uint32_t results[SAMBA_MAX_RESULTS];
  SambaStatus status = sambaOperatorExpand(call, &parts, results);
  uint32_t *values = SAMBA_ARENA_ARRAY(arena, uint32_t, parts.types.size + 1);
  memcpy(values, operands, call->operand_count * sizeof *values);

  for (size_t s = 0; !status && s < parts.steps.size; ++s) {
    const SambaExpansionStep *step = &parts.steps.data[s];
    uint32_t made[SAMBA_MAX_RESULTS] = {0};
    if (!step->operator) {
      values[step->first_value] = sambaExpandConstant(
          graph, sambaExpansionType(&parts, step->first_value), step->data, step->splat);
      continue;
    }
    SambaTensorType *types = SAMBA_ARENA_ARRAY(arena, SambaTensorType, step->operand_count + 1);
    uint32_t *inputs = SAMBA_ARENA_ARRAY(arena, uint32_t, step->operand_count + 1);
    for (uint32_t i = 0; i < step->operand_count; ++i) {
      types[i] = *sambaExpansionType(&parts, step->operands[i]);
      inputs[i] = values[step->operands[i]];
    }
    SambaOperatorCall part = {step->operator, step->operand_count, types, step->attribute_count,
                              step->attributes};
    status = appendCall(graph, &part, inputs, false, made);
    memcpy(&values[step->first_value], made, sambaOperatorResults(step->operator) * sizeof *made);
  }

  for (uint32_t r = 0; !status && r < sambaOperatorResults(call->operator); ++r)
    out_results[r] = values[results[r]];
  sambaExpansionFree(&parts);
  return status;
}

static SambaOperatorCall callOf(SambaArena *arena, const Case *test) {
  SambaTensorType *types = SAMBA_ARENA_ARRAY(arena, SambaTensorType, test->operand_count + 1);
  for (uint32_t i = 0; i < test->operand_count; ++i)
    types[i] = test->operands[i].type;
  return (SambaOperatorCall){sambaOperatorFind(sambaStringRef(test->name)), test->operand_count,
                             types, test->attribute_count, test->attributes};
}

static SambaStatus differentiate(Reversed *reversed, uint32_t seed_count, const uint32_t *seeds,
                                 const uint32_t *seed_gradients, uint32_t wanted_count,
                                 const uint32_t *wanted) {
  SambaDifferentiation what = {seed_count, seeds, seed_gradients, wanted_count, wanted};
  SambaGradients gradients;
  uint32_t step;
  SAMBA_RETURN_IF_ERROR(sambaDifferentiate(&reversed->graph, &what, &gradients, &step));
  for (uint32_t i = 0; i < wanted_count; ++i)
    reversed->gradients[wanted[i]] = gradients.gradients[i];
  return NULL;
}

/* only: the one operand whose gradient is asked for; SAMBA_NO_INDEX: all that are floats. */
static void reverseCase(SambaArena *arena, const Case *test, bool decomposed, uint32_t only,
                        Reversed *out) {
  SambaOperatorCall call = callOf(arena, test);
  uint32_t operands[SAMBA_CASE_MAXIMUM], wanted[SAMBA_CASE_MAXIMUM], wanted_count = 0;
  uint32_t seeds[SAMBA_MAX_RESULTS], seed_gradients[SAMBA_MAX_RESULTS], seed_count = 0;
  *out = (Reversed){.graph = {.arena = arena, .find = sambaOperatorFind}};
  for (uint32_t i = 0; i < SAMBA_CASE_MAXIMUM; ++i)
    out->gradients[i] = SAMBA_NO_INDEX;

  for (uint32_t i = 0; i < test->operand_count; ++i) {
    operands[i] = (uint32_t)out->graph.types.size;
    sambaArrayAppend(&out->graph.types, test->operands[i].type);
    if (sambaDTypeIsFloat(test->operands[i].type.dtype) && (only == SAMBA_NO_INDEX || only == i))
      wanted[wanted_count++] = operands[i];
  }
  for (uint32_t r = 0; r < test->flow_count; ++r)
    if (test->flows[r].present) {
      out->flows[r] = (uint32_t)out->graph.types.size;
      sambaArrayAppend(&out->graph.types, test->flows[r].type);
    }

  SambaStatus status = appendCall(&out->graph, &call, operands, decomposed, out->results);
  for (uint32_t r = 0; r < test->flow_count; ++r)
    if (test->flows[r].present) {
      seeds[seed_count] = out->results[r];
      seed_gradients[seed_count++] = out->flows[r];
    }
  if (!status && !out->graph.status)
    status = differentiate(out, seed_count, seeds, seed_gradients, wanted_count, wanted);
  if (status || out->graph.status)
    fail_msg("%s:%d: %s: %s", test->file, test->line, test->name,
             sambaStatusGetMessage(status ? status : out->graph.status));
}

/* The gradients' values, by operand; NULL: nothing flows. */
static void evaluateReversed(SambaArena *arena, const Case *test, Reversed *reversed,
                             double **out_gradients) {
  double **values = SAMBA_ARENA_ARRAY(arena, double *, reversed->graph.types.size + 1);
  for (uint32_t i = 0; i < test->operand_count; ++i)
    values[i] = test->operands[i].values;
  for (uint32_t r = 0; r < test->flow_count; ++r)
    if (test->flows[r].present)
      values[reversed->flows[r]] = test->flows[r].values;
  SambaStatus status = evaluateExpansion(arena, &reversed->graph, values);
  if (status)
    fail_msg("%s:%d: %s: %s", test->file, test->line, test->name, sambaStatusGetMessage(status));

  for (uint32_t i = 0; i < test->operand_count; ++i)
    out_gradients[i] =
        reversed->gradients[i] == SAMBA_NO_INDEX ? NULL : values[reversed->gradients[i]];
  sambaExpansionFree(&reversed->graph);
}

static void gradientsOf(SambaArena *arena, const Case *test, bool decomposed, uint32_t only,
                        double **out_gradients) {
  Reversed reversed;
  reverseCase(arena, test, decomposed, only, &reversed);
  evaluateReversed(arena, test, &reversed, out_gradients);
}

static double normOf(size_t count, const double *values) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += values[i] * values[i];
  return sqrt(sum);
}

/* |got - expected| / |expected|; where both are the same infinity or NaN they agree. NULL: 0. */
static double relativeError(size_t count, const double *got, const double *expected) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < count; ++i) {
    double g = got ? got[i] : 0;
    double e = expected ? expected[i] : 0;
    if ((g == e && isinf(e)) || (isnan(g) && isnan(e)))
      continue;
    difference += (g - e) * (g - e);
    size += e * e;
  }
  return difference == 0 ? 0 : sqrt(difference / size);
}

static void checkAgainstTorch(const Case *test, double *const *gradients) {
  uint32_t row = rowOf(sambaOperatorFind(sambaStringRef(test->name)));
  double limit = relativeLimit(sambaOperatorAt(row));
  assert_int_equal(test->gradient_count, test->operand_count);

  for (uint32_t i = 0; i < test->operand_count; ++i) {
    const CaseTensor *expected = &test->gradients[i];
    if (!expected->present) {
      if (gradients[i] && !expected->any)
        report(test, "operand %u must have no gradient", i);
      continue;
    }
    bool rounded = expected->type.dtype != SAMBA_DTYPE_F32;
    size_t count = (size_t)sambaTensorTypeElements(&expected->type);
    double error = relativeError(count, gradients[i], expected->values);
    if (!(error <= (rounded ? 2e-2 : limit)))
      report(test, "the gradient of operand %u has the relative error %.3g", i, error);
    if (!rounded)
      measured.errors[row] = fmax(measured.errors[row], error);
  }

  ++measured.cases[row];
}

/* A gradient does not depend on which others are asked for. */
static void checkEachAlone(SambaArena *arena, const Case *test, double *const *gradients) {
  double *alone[SAMBA_CASE_MAXIMUM];
  for (uint32_t i = 0; i < test->operand_count; ++i) {
    if (!gradients[i])
      continue;
    gradientsOf(arena, test, false, i, alone);
    size_t count = (size_t)sambaTensorTypeElements(&test->operands[i].type);
    for (uint32_t k = 0; k < test->operand_count; ++k)
      if ((alone[k] != NULL) != (k == i))
        report(test, "only operand %u was asked for", i);
    if (relativeError(count, alone[i], gradients[i]) != 0)
      report(test, "the gradient of operand %u is another when asked for alone", i);
  }
}

static void checkDecomposition(SambaArena *arena, const Case *test, double *const *gradients) {
  double *others[SAMBA_CASE_MAXIMUM];
  gradientsOf(arena, test, true, SAMBA_NO_INDEX, others);
  for (uint32_t i = 0; i < test->operand_count; ++i) {
    if (!gradients[i])
      continue;
    size_t count = (size_t)sambaTensorTypeElements(&test->operands[i].type);
    double error = relativeError(count, others[i], gradients[i]);
    if (!(error <= 1e-5))
      report(test, "the gradient of operand %u through the decomposition differs by %.3g", i,
             error);
  }
}

/* The sum of the results times what flows into them. */
static double lossOf(SambaArena *arena, const Case *test, double *const *operands) {
  SambaOperatorCall call = callOf(arena, test);
  SambaTensorType types[SAMBA_MAX_RESULTS];
  double *results[SAMBA_MAX_RESULTS];
  double loss = 0;
  SambaStatus status = evaluateCall(arena, &call, operands, types, results);
  if (status)
    report(test, "%s", sambaStatusGetMessage(status));

  for (uint32_t r = 0; r < test->flow_count; ++r)
    for (int64_t i = 0; test->flows[r].present && i < sambaTensorTypeElements(&types[r]); ++i)
      loss += results[r][i] * test->flows[r].values[i];
  return loss;
}

/* A number in [-1, 1). */
static double nextRandom(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 33) / 0x1p30 - 1;
}

/* Along a random direction of one operand: (f(x + h d) - f(x - h d)) / 2 h is gradient * d. */
static void checkDirection(SambaArena *arena, const Case *test, uint32_t operand,
                           const double *gradient, uint64_t *random) {
  const double step = 1e-4;
  size_t count = (size_t)sambaTensorTypeElements(&test->operands[operand].type);
  const double *x = test->operands[operand].values;
  double *direction = SAMBA_ARENA_ARRAY(arena, double, count);
  double *moved = SAMBA_ARENA_ARRAY(arena, double, count);
  double *operands[SAMBA_CASE_MAXIMUM];
  double expected = 0, losses[2];

  for (uint32_t i = 0; i < test->operand_count; ++i)
    operands[i] = i == operand ? moved : test->operands[i].values;
  for (size_t i = 0; i < count; ++i) {
    direction[i] = nextRandom(random);
    expected += gradient ? gradient[i] * direction[i] : 0;
  }
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < count; ++i)
      moved[i] = x[i] + (side ? step : -step) * direction[i];
    losses[side] = lossOf(arena, test, operands);
  }

  double got = (losses[1] - losses[0]) / (2 * step);
  double size = gradient ? normOf(count, gradient) * normOf(count, direction) : 0;
  if (!(fabs(got - expected) <= 1e-6 * fmax(size, 1e-3)))
    report(test,
           "along a direction of operand %u the difference is %.12g, the gradient "
           "says %.12g",
           operand, got, expected);
}

static bool isNarrow(const CaseTensor *tensor) {
  SambaDType dtype = tensor->type.dtype;
  return tensor->present && sambaDTypeIsFloat(dtype) && dtype != SAMBA_DTYPE_F32;
}

static void checkDifferences(SambaArena *arena, const Case *test) {
  double *gradients[SAMBA_CASE_MAXIMUM];
  uint64_t random = 17;
  for (uint32_t i = 0; i < test->operand_count; ++i)
    if (isNarrow(&test->operands[i]))
      return;
  for (uint32_t r = 0; r < test->flow_count; ++r)
    if (isNarrow(&test->flows[r]))
      return;

  evaluateInDouble(true);
  gradientsOf(arena, test, false, SAMBA_NO_INDEX, gradients);
  for (uint32_t i = 0; i < test->operand_count; ++i)
    for (int k = 0; k < 2 && (test->gradients[i].present || test->gradients[i].any); ++k)
      checkDirection(arena, test, i, gradients[i], &random);
  evaluateInDouble(false);
}

static void runCase(SambaArena *arena, const Case *test, void *context) {
  (void)context;
  const SambaOperator *operator = sambaOperatorFind(sambaStringRef(test->name));
  double *gradients[SAMBA_CASE_MAXIMUM];
  assert_non_null(operator);
  if (sambaOperatorGradientKind(operator) == SAMBA_GRADIENT_MISSING)
    fail_msg("%s:%d: %s has no rule", test->file, test->line, test->name);
  gradientsOf(arena, test, false, SAMBA_NO_INDEX, gradients);

  checkAgainstTorch(test, gradients);
  checkEachAlone(arena, test, gradients);
  if (operator->differentiate && operator->decompose && !test->kink)
    checkDecomposition(arena, test, gradients);
  if (!test->kink)
    checkDifferences(arena, test);
}

static void testCases(void **state) {
  (void)state;
  int count = caseFilesRun(SAMBA_SOURCE_FOLDER "/" CASES "/*.txt", runCase, NULL);
  assert_true(count > 10);
  assert_int_equal(failures, 0);
}

/* Every row says how gradients pass, and has three cases where some do. */
static void testRows(void **state) {
  (void)state;
  for (uint32_t row = 0; sambaOperatorAt(row); ++row) {
    const SambaOperator *operator = sambaOperatorAt(row);
    SambaGradientKind kind = sambaOperatorGradientKind(operator);
    if (kind == SAMBA_GRADIENT_MISSING)
      fail_msg("%s says nothing about its gradient: give it differentiate, decompose or "
               "no_gradient",
               operator->name);
    if (kind != SAMBA_GRADIENT_NONE && measured.cases[row] < 3)
      fail_msg("%s has %d cases in " CASES ", but needs three", operator->name,
               measured.cases[row]);
  }
}

/* --- docs/numerics.md --- */

static const char *kindName(const SambaOperator *operator) {
  static const char *const names[] = {[SAMBA_GRADIENT_NONE] = "none",
                                      [SAMBA_GRADIENT_RULE] = "rule",
                                      [SAMBA_GRADIENT_INHERITED] = "inherited"};
  return names[sambaOperatorGradientKind(operator)];
}

/* A bound above the error, of one digit: other hosts have other mathematics libraries. */
static double boundOf(double error) {
  double power = pow(10, floor(log10(fmax(error, 1e-8))));
  return ceil(1.5 * fmax(error, 1e-8) / power) * power;
}

static char *readPage(const char *path) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *page = calloc(size + 1, 1);
  assert_int_equal(fread(page, 1, size, file), size);
  fclose(file);
  return page;
}

static void printGradients(FILE *out) {
  fprintf(out, "\n| operator | gradient | error below |\n| --- | --- | --- |\n");
  for (uint32_t row = 0; sambaOperatorAt(row); ++row) {
    const SambaOperator *operator = sambaOperatorAt(row);
    fprintf(out, "| `%s` | %s |", operator->name, kindName(operator));
    if (sambaOperatorGradientKind(operator) == SAMBA_GRADIENT_NONE)
      fprintf(out, " |\n");
    else
      fprintf(out, " %.0e |\n", boundOf(measured.errors[row]));
  }
  fputc('\n', out);
}

/* The table's line of each row has its kind, and a bound that holds and is near. */
static bool showsGradients(const char *start, const char *stop) {
  uint32_t row = 0, lines = 0;
  for (const char *at = start; at < stop; at = strchr(at, '\n') + 1)
    lines += strncmp(at, "| `", 3) == 0;
  for (; sambaOperatorAt(row); ++row) {
    const SambaOperator *operator = sambaOperatorAt(row);
    char text[160];
    snprintf(text, sizeof text, "\n| `%s` | %s |", operator->name, kindName(operator));
    const char *at = strstr(start, text);
    if (!at || at >= stop)
      return false;
    double bound = strtod(at + strlen(text), NULL);
    if (sambaOperatorGradientKind(operator) != SAMBA_GRADIENT_NONE &&
        !(measured.errors[row] <= bound && bound <= relativeLimit(operator)))
      return false;
  }
  return lines == row;
}

static void testPage(void **state) {
  (void)state;
  const char *path = SAMBA_SOURCE_FOLDER "/docs/numerics.md";
  char *page = readPage(path);
  char *start = strstr(page, "<!-- gradients -->\n");
  char *stop = strstr(page, "<!-- /gradients -->");
  assert_non_null(start);
  assert_non_null(stop);
  bool shown = showsGradients(start, stop);

  if (!shown && getenv("SAMBA_UPDATE_DOCS")) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    start = strchr(start, '\n') + 1;
    fprintf(out, "%.*s", (int)(start - page), page);
    printGradients(out);
    fprintf(out, "%s", stop);
    fclose(out);
    shown = true;
  }
  free(page);
  if (!shown)
    fail_msg("docs/numerics.md does not show the gradients as they are; run this test with "
             "SAMBA_UPDATE_DOCS=1");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testCases), cmocka_unit_test(testRows),
                                     cmocka_unit_test(testPage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
