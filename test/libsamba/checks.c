/* What the tests of the library share; see checks.h. */
#include "test/libsamba/checks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

SambaContext *context;

int makeContext(void **state) {
  (void)state;
  if (sambaContextCreate(&context))
    return 1;
  sambaContextSetTarget(context, "tiny");
  return 0;
}

int dropContext(void **state) {
  (void)state;
  sambaContextDestroy(context);
  return 0;
}

void fine(SambaStatus status) {
  if (status)
    fail_msg("unexpected error: %s", sambaStatusGetMessage(status));
}

void expectError(SambaStatus status, const char *text) {
  if (!status || !strstr(sambaStatusGetMessage(status), text))
    fail_msg("the error is: %s\nexpected in it: %s", sambaStatusGetMessage(status), text);
  sambaStatusFree(status);
}

SambaTensor *numbers(uint32_t rank, const int64_t *dims, const float *data) {
  SambaTensor *tensor;
  fine(sambaTensorCreateUninitialized(SAMBA_DTYPE_F32, rank, dims, sambaStringRef(""), &tensor));
  fine(sambaTensorWriteData(tensor, data, sambaTensorGetNumBytes(tensor), true));
  return tensor;
}

SambaTensor *vector(int64_t count, const float *data) { return numbers(1, &count, data); }

SambaTensor *wanted(SambaTensor *tensor) {
  fine(sambaTensorSetRequiresGrad(tensor, true));
  return tensor;
}

SambaTensor *call(const char *name, uint32_t count, SambaTensor *const *operands) {
  SambaTensor *result;
  fine(sambaTensorOperator(context, name, count, operands, 0, NULL, &result));
  return result;
}

SambaTensor *call1(const char *name, SambaTensor *x) { return call(name, 1, &x); }

SambaTensor *call2(const char *name, SambaTensor *x, SambaTensor *y) {
  return call(name, 2, (SambaTensor *[]){x, y});
}

SambaTensor *sum(SambaTensor *x) {
  int64_t dims[SAMBA_MAX_RANK];
  uint32_t rank = sambaTensorGetRank(x);
  for (uint32_t i = 0; i < rank; ++i)
    dims[i] = i;
  SambaAttribute attribute = sambaIntsAttribute("dim", dims, rank);
  SambaTensor *result;
  fine(sambaTensorOperator(context, "sum", 1, &x, 1, &attribute, &result));
  return result;
}

void drop(uint32_t count, SambaTensor *const *tensors) {
  for (uint32_t i = 0; i < count; ++i)
    sambaTensorRelease(tensors[i]);
}

void expectNumbers(const SambaTensor *tensor, uint32_t count, const float *data) {
  assert_non_null(tensor);
  assert_true(sambaTensorIsRealized(tensor));
  assert_int_equal(sambaTensorGetNumElements(tensor), count);
  float *found = malloc(count * sizeof *found);
  fine(sambaTensorReadData(tensor, found, count * (int64_t)sizeof *found));
  for (uint32_t i = 0; i < count; ++i)
    if (!(fabsf(found[i] - data[i]) <= 1e-5f * (1 + fabsf(data[i]))))
      fail_msg("element %u is %g, expected %g", i, (double)found[i], (double)data[i]);
  free(found);
}

SambaContextStatistics statistics(void) {
  SambaContextStatistics result;
  sambaContextGetStatistics(context, &result);
  return result;
}
