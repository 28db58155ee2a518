/* Each operator's stages or decomposition, evaluated naively, against PyTorch's and NumPy's results
 * (cases/; its writer.py tells the format). Also: the shapes that the rules infer are those
 * results', and every stage graph passes the planner's check. */
#include "dialect/samba/table/core/rows.h"
#include "dialect/samba/table/registry/registry.h"
#include "test/dialect/samba/table/evaluate_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { maximum = 16 }; /* operands or attributes of a case */

typedef struct {
  SambaTensorType type;
  double *values;
} Tensor;

typedef struct {
  const char *file;
  int line;
  char name[64];
  uint32_t attribute_count, operand_count, result_count;
  SambaAttribute attributes[maximum];
  Tensor operands[maximum], results[SAMBA_MAX_RESULTS];
} Case;

static Tensor readTensor(SambaArena *arena, char *text) {
  Tensor tensor = {0};
  char *word = strtok(text, " ");

  tensor.type.dtype = sambaDTypeFromName(word, strlen(word));
  assert_true(tensor.type.dtype < SAMBA_DTYPE_COUNT);
  int64_t elements = 1;
  while ((word = strtok(NULL, " ")) && strcmp(word, ":") != 0)
    elements *= tensor.type.dims[tensor.type.rank++] = atoll(word);
  tensor.values = sambaArenaAllocate(arena, (size_t)elements * sizeof(double));

  for (int64_t i = 0; i < elements; ++i) {
    assert_non_null(word = strtok(NULL, " \n"));
    tensor.values[i] =
        tensor.type.dtype == SAMBA_DTYPE_F32 ? (double)strtof(word, NULL) : strtod(word, NULL);
  }

  return tensor;
}

static SambaAttribute readAttribute(SambaArena *arena, char *text) {
  SambaAttribute attribute = {0};
  attribute.name = sambaStringRefCopy(arena, sambaStringRef(strtok(text, " ")));
  char kind = *strtok(NULL, " ");
  char *word = strtok(NULL, kind == 's' ? "\n" : " \n");
  int64_t *numbers = sambaArenaAllocate(arena, 16 * sizeof *numbers);
  double *reals = sambaArenaAllocate(arena, 16 * sizeof *reals);

  switch (kind) {
  case 'b':
  case 'i':
    attribute.kind = kind == 'b' ? SAMBA_ATTRIBUTE_BOOL : SAMBA_ATTRIBUTE_INT;
    attribute.value.integer = atoll(word);
    break;
  case 'f':
    attribute.kind = SAMBA_ATTRIBUTE_FLOAT;
    attribute.value.real = strtod(word, NULL);
    break;
  case 's':
    attribute.kind = SAMBA_ATTRIBUTE_STRING;
    attribute.value.string = sambaStringRefCopy(arena, sambaStringRef(word));
    break;
  case 't':
    attribute.kind = SAMBA_ATTRIBUTE_DTYPE;
    attribute.value.dtype = sambaDTypeFromName(word, strlen(word));
    break;
  case 'F':
    attribute.kind = SAMBA_ATTRIBUTE_FLOATS;
    attribute.value.reals.data = reals;
    for (; word; word = strtok(NULL, " \n"))
      reals[attribute.value.reals.size++] = strtod(word, NULL);
    break;
  default:
    attribute.kind = SAMBA_ATTRIBUTE_INTS;
    attribute.value.integers.data = numbers;
    for (; word; word = strtok(NULL, " \n"))
      numbers[attribute.value.integers.size++] = atoll(word);
  }

  return attribute;
}

static void checkValues(const Case *c, const Tensor *result, const double *got) {
  int64_t elements = 1;
  for (uint32_t axis = 0; axis < result->type.rank; ++axis)
    elements *= result->type.dims[axis];
  bool rounded = result->type.dtype == SAMBA_DTYPE_BF16;

  for (int64_t i = 0; i < elements; ++i) {
    double expected = result->values[i];
    double tolerance = sambaDTypeIsFloat(result->type.dtype)
                           ? (rounded ? 0.008 : 3e-6) * fabs(expected) + 2e-6
                           : 0;
    if (!(fabs(got[i] - expected) <= tolerance) && !(isnan(got[i]) && isnan(expected)) &&
        got[i] != expected)
      fail_msg("%s:%d: %s: element %lld is %.9g, expected %.9g", c->file, c->line, c->name,
               (long long)i, got[i], expected);
  }
}

/* The same call with another dtype for operand 0, one that its row leaves out. */
static void refusesOtherDTypes(const SambaOperatorCall *call, const Case *c) {
  const SambaOperator *row = call->operator;
  SambaTensorType types[maximum], results[SAMBA_MAX_RESULTS];
  SambaOperatorCall other = *call;

  memcpy(types, call->operands, call->operand_count * sizeof *types);
  other.operands = types;
  for (unsigned dtype = 0; dtype < SAMBA_DTYPE_COUNT; ++dtype) {
    if (row->dtypes >> dtype & 1)
      continue;
    types[0].dtype = (SambaDType)dtype;
    SambaStatus status = sambaOperatorInfer(&other, results);
    if (!status)
      fail_msg("%s:%d: %s takes an operand of %s", c->file, c->line, c->name,
               sambaDTypeName((SambaDType)dtype));
    sambaStatusFree(status);
  }
}

/* An operator with stages and a decomposition: both give the same bits. */
static void decomposesAlike(SambaArena *arena, const SambaOperatorCall *call, const Case *c,
                            double *const *operands, double *const *values) {
  SambaTensorType types[SAMBA_MAX_RESULTS];
  double *others[SAMBA_MAX_RESULTS];
  SambaStatus status = evaluateDecomposed(arena, call, operands, types, others);
  if (status)
    fail_msg("%s:%d: %s, decomposed: %s", c->file, c->line, c->name, sambaStatusGetMessage(status));
  for (uint32_t i = 0; i < c->result_count; ++i)
    for (int64_t k = 0; k < sambaTensorTypeElements(&types[i]); ++k)
      if (others[i][k] != values[i][k] && !(isnan(others[i][k]) && isnan(values[i][k])))
        fail_msg("%s:%d: %s: element %lld is %.9g, but %.9g when decomposed", c->file, c->line,
                 c->name, (long long)k, values[i][k], others[i][k]);
}

static void runCase(SambaArena *arena, const Case *c) {
  SambaOperatorCall call = {.operator = sambaOperatorFind(sambaStringRef(c->name)),
                            .operand_count = c->operand_count,
                            .attribute_count = c->attribute_count,
                            .attributes = c->attributes};
  SambaTensorType types[maximum], results[SAMBA_MAX_RESULTS];
  double *operands[maximum], *values[SAMBA_MAX_RESULTS];

  for (uint32_t i = 0; i < c->operand_count; ++i) {
    types[i] = c->operands[i].type;
    operands[i] = c->operands[i].values;
  }

  call.operands = types;
  assert_non_null(call.operator);
  SambaStatus status = evaluateCall(arena, &call, operands, results, values);
  if (status)
    fail_msg("%s:%d: %s: %s", c->file, c->line, c->name, sambaStatusGetMessage(status));
  if (c->operand_count)
    refusesOtherDTypes(&call, c);
  assert_int_equal(c->result_count, sambaOperatorResults(call.operator));

  for (uint32_t i = 0; i < c->result_count; ++i) {
    char got[160], expected[160];
    assert_string_equal(sambaTensorTypeFormat(&results[i], got),
                        sambaTensorTypeFormat(&c->results[i].type, expected));
    checkValues(c, &c->results[i], values[i]);
  }

  if (call.operator->stages && call.operator->decompose)
    decomposesAlike(arena, &call, c, operands, values);
}

/* Sets the flag of every operator that the file has a case for. */
static int runFile(const char *path, bool *seen) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *line = NULL;
  size_t capacity = 0;
  int number = 0, count = 0;
  SambaArena arena = {0};

  Case c = {.file = strrchr(path, '/') + 1};
  while (getline(&line, &capacity, file) > 0) {
    ++number;
    if (sscanf(line, "case %63s", c.name) == 1) {
      c.line = number;
      c.attribute_count = c.operand_count = c.result_count = 0;
    } else if (strncmp(line, "attr ", 5) == 0) {
      c.attributes[c.attribute_count++] = readAttribute(&arena, line + 5);
    } else if (strncmp(line, "in ", 3) == 0) {
      c.operands[c.operand_count++] = readTensor(&arena, line + 3);
    } else if (strncmp(line, "out ", 4) == 0) {
      c.results[c.result_count++] = readTensor(&arena, line + 4);
    } else {
      runCase(&arena, &c);
      for (uint32_t i = 0; sambaOperatorAt(i); ++i)
        seen[i] |= strcmp(sambaOperatorAt(i)->name, c.name) == 0;
      ++count;
      sambaArenaDestroy(&arena);
      arena = (SambaArena){0};
    }
  }

  free(line);
  fclose(file);
  return count;
}

static void testCases(void **state) {
  (void)state;
  glob_t found;
  assert_int_equal(
      glob(SAMBA_SOURCE_FOLDER "/test/dialect/samba/table/cases/*.txt", 0, NULL, &found), 0);
  bool seen[1024] = {false};
  int count = 0;
  for (size_t i = 0; i < found.gl_pathc; ++i)
    count += runFile(found.gl_pathv[i], seen);
  globfree(&found);
  assert_true(count > 100);
  for (uint32_t i = 0; sambaOperatorAt(i); ++i)
    if (!seen[i])
      fail_msg("no case for %s in test/dialect/samba/table/cases", sambaOperatorAt(i)->name);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testCases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
