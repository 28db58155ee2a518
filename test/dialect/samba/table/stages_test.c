/* Each operator's stages or decomposition, evaluated naively, against PyTorch's and NumPy's results
 * (cases/; its writer.py tells the format). Also: the shapes that the rules infer are those
 * results', and every stage graph passes the planner's check. */
#include "dialect/samba/table/core/rows.h"
#include "dialect/samba/table/registry/registry.h"
#include "test/dialect/samba/table/case_file.h"
#include "test/dialect/samba/table/evaluate_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

static void checkValues(const Case *test, const CaseTensor *result, const double *got) {
  int64_t elements = 1;
  for (uint32_t axis = 0; axis < result->type.rank; ++axis)
    elements *= result->type.dims[axis];
  double relative = result->type.dtype == SAMBA_DTYPE_BF16 ? 0.008 : 3e-6;

  for (int64_t i = 0; i < elements; ++i) {
    double expected = result->values[i];
    double tolerance = sambaDTypeIsFloat(result->type.dtype) ? relative * fabs(expected) + 2e-6 : 0;
    if (!(fabs(got[i] - expected) <= tolerance) && !(isnan(got[i]) && isnan(expected)) &&
        got[i] != expected)
      fail_msg("%s:%d: %s: element %lld is %.9g, expected %.9g", test->file, test->line, test->name,
               (long long)i, got[i], expected);
  }
}

/* The same call with another dtype for operand 0, one that its row leaves out. */
static void refusesOtherDTypes(const SambaOperatorCall *call, const Case *test) {
  const SambaOperator *row = call->operator;
  SambaTensorType types[SAMBA_CASE_MAXIMUM], results[SAMBA_MAX_RESULTS];
  SambaOperatorCall other = *call;

  memcpy(types, call->operands, call->operand_count * sizeof *types);
  other.operands = types;
  for (unsigned dtype = 0; dtype < SAMBA_DTYPE_COUNT; ++dtype) {
    if (row->dtypes >> dtype & 1)
      continue;
    types[0].dtype = (SambaDType)dtype;
    SambaStatus status = sambaOperatorInfer(&other, results);
    if (!status)
      fail_msg("%s:%d: %s takes an operand of %s", test->file, test->line, test->name,
               sambaDTypeName((SambaDType)dtype));
    sambaStatusFree(status);
  }
}

/* An operator with stages and a decomposition: both give the same bits. */
static void decomposesAlike(SambaArena *arena, const SambaOperatorCall *call, const Case *test,
                            double *const *operands, double *const *values) {
  SambaTensorType types[SAMBA_MAX_RESULTS];
  double *others[SAMBA_MAX_RESULTS];
  SambaStatus status = evaluateDecomposed(arena, call, operands, types, others);
  if (status)
    fail_msg("%s:%d: %s, decomposed: %s", test->file, test->line, test->name,
             sambaStatusGetMessage(status));
  for (uint32_t i = 0; i < test->result_count; ++i)
    for (int64_t k = 0; k < sambaTensorTypeElements(&types[i]); ++k)
      if (others[i][k] != values[i][k] && !(isnan(others[i][k]) && isnan(values[i][k])))
        fail_msg("%s:%d: %s: element %lld is %.9g, but %.9g when decomposed", test->file,
                 test->line, test->name, (long long)k, values[i][k], others[i][k]);
}

static void runCase(SambaArena *arena, const Case *test) {
  SambaOperatorCall call = {.operator = sambaOperatorFind(sambaStringRef(test->name)),
                            .operand_count = test->operand_count,
                            .attribute_count = test->attribute_count,
                            .attributes = test->attributes};
  SambaTensorType types[SAMBA_CASE_MAXIMUM], results[SAMBA_MAX_RESULTS];
  double *operands[SAMBA_CASE_MAXIMUM], *values[SAMBA_MAX_RESULTS];

  for (uint32_t i = 0; i < test->operand_count; ++i) {
    types[i] = test->operands[i].type;
    operands[i] = test->operands[i].values;
  }

  call.operands = types;
  assert_non_null(call.operator);
  SambaStatus status = evaluateCall(arena, &call, operands, results, values);
  if (status)
    fail_msg("%s:%d: %s: %s", test->file, test->line, test->name, sambaStatusGetMessage(status));
  if (test->operand_count)
    refusesOtherDTypes(&call, test);
  assert_int_equal(test->result_count, sambaOperatorResults(call.operator));

  for (uint32_t i = 0; i < test->result_count; ++i) {
    char got[160], expected[160];
    assert_string_equal(sambaTensorTypeFormat(&results[i], got),
                        sambaTensorTypeFormat(&test->results[i].type, expected));
    checkValues(test, &test->results[i], values[i]);
  }

  if (call.operator->stages && call.operator->decompose)
    decomposesAlike(arena, &call, test, operands, values);
}

static void runAndMark(SambaArena *arena, const Case *test, void *context) {
  bool *seen = context; /* per row of the table: the files have a case for it */
  runCase(arena, test);
  for (uint32_t i = 0; sambaOperatorAt(i); ++i)
    seen[i] |= strcmp(sambaOperatorAt(i)->name, test->name) == 0;
}

static void testCases(void **state) {
  (void)state;
  bool seen[1024] = {false};
  int count =
      caseFilesRun(SAMBA_SOURCE_FOLDER "/test/dialect/samba/table/cases/*.txt", runAndMark, seen);
  assert_true(count > 100);
  for (uint32_t i = 0; sambaOperatorAt(i); ++i)
    if (!seen[i])
      fail_msg("no case for %s in test/dialect/samba/table/cases", sambaOperatorAt(i)->name);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testCases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
