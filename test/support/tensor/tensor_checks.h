/* What the tests of tensors share: making them from numbers, comparing them with numbers. */
#ifndef SAMBA_TEST_SUPPORT_TENSOR_TENSOR_CHECKS_H
#define SAMBA_TEST_SUPPORT_TENSOR_TENSOR_CHECKS_H

#include "samba/tensor.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define DIMS(...)                                                                                  \
  sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]) { __VA_ARGS__ }

/* Fails the test with the message, if there is one. */
void expectOk(SambaStatus status);
/* The failure has this code, and its message holds the text. Frees it. */
void expectError(SambaStatus status, SambaStatusCode code, const char *text);

/* A tensor that owns its numbers: 0, 1, 2, ... in row-major order. */
SambaTensor *counting(SambaDType dtype, uint32_t rank, const int64_t *dims);
/* A tensor that owns these numbers. */
SambaTensor *tensorOf(SambaDType dtype, uint32_t rank, const int64_t *dims, const double *values);
/* Element `index` in row-major order, whatever the strides. */
double elementOf(const SambaTensor *tensor, int64_t index);
void expectDims(const SambaTensor *tensor, uint32_t rank, const int64_t *dims);
void expectStrides(const SambaTensor *tensor, uint32_t rank, const int64_t *strides);
/* All elements in row-major order, equal to the bit; NaN equals NaN. */
void expectValues(const SambaTensor *tensor, uint32_t count, const double *values);
#define VALUES(...)                                                                                \
  sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]) { __VA_ARGS__ }

#endif
