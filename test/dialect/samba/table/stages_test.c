/* Each operator's stages, evaluated naively, against PyTorch's and NumPy's results (cases.txt, written by
 * make_cases.py). Also: the shapes that the rules infer are those results', and every stage graph passes the planner's
 * check. */
#include "dialect/samba/table/operator.h"
#include "test/dialect/samba/table/evaluate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  SambaTensorType type;
  double *values;
} Tensor;

typedef struct {
  int line;
  char name[64];
  uint32_t attribute_count, operand_count;
  SambaAttribute attributes[8];
  Tensor operands[8], result;
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
    tensor.values[i] = strtod(word, NULL);
  }
  return tensor;
}

static SambaAttribute readAttribute(SambaArena *arena, char *text) {
  SambaAttribute attribute = {0};
  attribute.name = sambaStringRefCopy(arena, sambaStringRef(strtok(text, " ")));
  char kind = *strtok(NULL, " "), *word = strtok(NULL, " \n");
  int64_t *numbers = sambaArenaAllocate(arena, 8 * sizeof *numbers);
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
  default:
    attribute.kind = SAMBA_ATTRIBUTE_INTS;
    attribute.value.integers.data = numbers;
    for (; word; word = strtok(NULL, " \n"))
      numbers[attribute.value.integers.size++] = atoll(word);
  }
  return attribute;
}

static void checkValues(const Case *c, const double *got) {
  int64_t elements = 1;
  for (uint32_t axis = 0; axis < c->result.type.rank; ++axis)
    elements *= c->result.type.dims[axis];
  bool rounded = c->result.type.dtype == SAMBA_DTYPE_BF16;
  for (int64_t i = 0; i < elements; ++i) {
    double expected = c->result.values[i],
           tolerance = sambaDTypeIsFloat(c->result.type.dtype) ? (rounded ? 0.008 : 3e-6) * fabs(expected) + 2e-6 : 0;
    if (!(fabs(got[i] - expected) <= tolerance) && !(isnan(got[i]) && isnan(expected)) && got[i] != expected)
      fail_msg("cases.txt:%d: %s: element %lld is %.9g, expected %.9g", c->line, c->name, (long long)i, got[i],
               expected);
  }
}

static void runCase(SambaArena *arena, const Case *c) {
  SambaOperatorCall call = {.operator_ = sambaOperatorFind(sambaStringRef(c->name)),
                            .operand_count = c->operand_count,
                            .attribute_count = c->attribute_count,
                            .attributes = c->attributes};
  SambaTensorType types[8], result;
  for (uint32_t i = 0; i < c->operand_count; ++i)
    types[i] = c->operands[i].type;
  call.operands = types;
  assert_non_null(call.operator_);
  SambaStatus status = sambaOperatorInfer(&call, &result);
  if (status)
    fail_msg("cases.txt:%d: %s: %s", c->line, c->name, sambaStatusGetMessage(status));
  char got[160], expected[160];
  assert_string_equal(sambaTensorTypeFormat(&result, got), sambaTensorTypeFormat(&c->result.type, expected));

  SambaStageGraph graph = {.arena = arena, .name = "test"};
  uint32_t operands[8], out;
  double *values[64] = {0};
  for (uint32_t i = 0; i < c->operand_count; ++i) {
    SambaStageTensor tensor = {
        .name = "x", .role = SAMBA_TENSOR_ARGUMENT, .dtype = types[i].dtype, .rank = types[i].rank};
    memcpy(tensor.dims, types[i].dims, sizeof tensor.dims);
    operands[i] = sambaStageGraphAddTensor(&graph, &tensor);
    values[i] = malloc(1 << 16);
    for (int64_t e = 0, n = 1 << 13; e < n; ++e)
      values[i][e] = 0;
    int64_t elements = 1;
    for (uint32_t axis = 0; axis < types[i].rank; ++axis)
      elements *= types[i].dims[axis];
    memcpy(values[i], c->operands[i].values, (size_t)elements * sizeof(double));
    if (types[i].dtype == SAMBA_DTYPE_F32)
      for (int64_t e = 0; e < elements; ++e)
        values[i][e] = (double)(float)values[i][e];
  }
  SambaStageTensor tensor = {
      .name = "y", .role = SAMBA_TENSOR_INTERMEDIATE, .dtype = result.dtype, .rank = result.rank};
  memcpy(tensor.dims, result.dims, sizeof tensor.dims);
  out = sambaStageGraphAddTensor(&graph, &tensor);
  status = call.operator_->stages(&call, &graph, operands, &out, "layer");
  assert_null(status);
  if ((status = sambaStageGraphCheck(&graph)))
    fail_msg("cases.txt:%d: %s: %s", c->line, c->name, sambaStatusGetMessage(status));
  evaluateStageGraph(&graph, values);
  uint32_t where = graph.tensors[out].alias_of ? graph.tensors[out].alias_of - 1 : out;
  checkValues(c, values[where]);
  for (uint32_t t = 0; t < graph.tensor_count; ++t)
    free(values[t]);
}

static void testCases(void **state) {
  (void)state;
  char path[4096]; /* beside this file */
  const char *slash = strrchr(__FILE__, '/');
  snprintf(path, sizeof path, "%.*scases.txt", slash ? (int)(slash - __FILE__ + 1) : 0, __FILE__);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *line = NULL;
  size_t capacity = 0;
  int number = 0, count = 0;
  SambaArena arena = {0};
  Case c = {0};
  while (getline(&line, &capacity, file) > 0) {
    ++number;
    if (sscanf(line, "case %63s", c.name) == 1) {
      c.line = number;
      c.attribute_count = c.operand_count = 0;
    } else if (strncmp(line, "attr ", 5) == 0) {
      c.attributes[c.attribute_count++] = readAttribute(&arena, line + 5);
    } else if (strncmp(line, "in ", 3) == 0) {
      c.operands[c.operand_count++] = readTensor(&arena, line + 3);
    } else if (strncmp(line, "out ", 4) == 0) {
      c.result = readTensor(&arena, line + 4);
    } else {
      runCase(&arena, &c);
      ++count;
      sambaArenaDestroy(&arena);
      arena = (SambaArena){0};
    }
  }
  assert_true(count > 100);
  free(line);
  fclose(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testCases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
