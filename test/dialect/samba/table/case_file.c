/* See case_file.h. */
#include "test/dialect/samba/table/case_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The nearest number of the dtype: files have nine digits. */
static double readNumber(SambaDType dtype, const char *word) {
  switch (dtype) {
  case SAMBA_DTYPE_F32:
    return (double)strtof(word, NULL);
  case SAMBA_DTYPE_BF16:
    return (double)sambaBf16ToFloat(sambaFloatToBf16(strtof(word, NULL)));
  case SAMBA_DTYPE_F16:
    return (double)sambaHalfToFloat(sambaFloatToHalf(strtof(word, NULL)));
  default:
    return strtod(word, NULL);
  }
}

static CaseTensor readTensor(SambaArena *arena, char *text) {
  CaseTensor tensor = {.present = true};
  char *word = strtok(text, " \n");
  bool any = strcmp(word, "any") == 0;
  if (any || strcmp(word, "none") == 0)
    return (CaseTensor){.any = any};

  tensor.type.dtype = sambaDTypeFromName(word, strlen(word));
  assert_true(tensor.type.dtype < SAMBA_DTYPE_COUNT);
  int64_t elements = 1;
  while ((word = strtok(NULL, " ")) && strcmp(word, ":") != 0)
    elements *= tensor.type.dims[tensor.type.rank++] = atoll(word);
  tensor.values = sambaArenaAllocate(arena, (size_t)elements * sizeof(double));

  for (int64_t i = 0; i < elements; ++i) {
    assert_non_null(word = strtok(NULL, " \n"));
    tensor.values[i] = readNumber(tensor.type.dtype, word);
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

static bool readTensorLine(SambaArena *arena, char *line, const char *word, CaseTensor *tensors,
                           uint32_t *count) {
  size_t size = strlen(word);
  if (strncmp(line, word, size) != 0 || line[size] != ' ')
    return false;
  assert_true(*count < SAMBA_CASE_MAXIMUM);
  tensors[(*count)++] = readTensor(arena, line + size + 1);
  return true;
}

/* False: the line ends the case. */
static bool readLine(SambaArena *arena, char *line, Case *test) {
  if (sscanf(line, "case %63s", test->name) == 1)
    return true;
  if (strncmp(line, "attr ", 5) == 0) {
    assert_true(test->attribute_count < SAMBA_CASE_MAXIMUM);
    test->attributes[test->attribute_count++] = readAttribute(arena, line + 5);
    return true;
  }
  if (strcmp(line, "kink\n") == 0) {
    test->kink = true;
    return true;
  }
  return readTensorLine(arena, line, "in", test->operands, &test->operand_count) ||
         readTensorLine(arena, line, "out", test->results, &test->result_count) ||
         readTensorLine(arena, line, "flow", test->flows, &test->flow_count) ||
         readTensorLine(arena, line, "grad", test->gradients, &test->gradient_count);
}

static int runFile(const char *path, void (*run)(SambaArena *, const Case *, void *),
                   void *context) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *line = NULL;
  size_t capacity = 0;
  int number = 0, count = 0;
  SambaArena arena = {0};

  Case test = {0};
  while (getline(&line, &capacity, file) > 0) {
    ++number;
    if (strncmp(line, "case ", 5) == 0)
      test = (Case){.file = strrchr(path, '/') + 1, .line = number};
    if (readLine(&arena, line, &test))
      continue;
    assert_string_equal(line, "end\n");
    run(&arena, &test, context);
    ++count;
    sambaArenaDestroy(&arena);
    arena = (SambaArena){0};
  }

  free(line);
  fclose(file);
  return count;
}

int caseFilesRun(const char *pattern,
                 void (*run)(SambaArena *arena, const Case *test, void *context), void *context) {
  glob_t found;
  int count = 0;
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; ++i)
    count += runFile(found.gl_pathv[i], run, context);
  globfree(&found);
  return count;
}
