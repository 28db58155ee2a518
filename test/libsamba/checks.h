/* What the tests of the library share: a context, tensors from numbers, numbers from tensors,
 * statuses. */
#ifndef SAMBA_TEST_LIBSAMBA_CHECKS_H
#define SAMBA_TEST_LIBSAMBA_CHECKS_H

#include "samba/samba.h"

extern SambaContext *context; /* for the machine tiny */
int makeContext(void **state);
int dropContext(void **state);

void fine(SambaStatus status);
/* A failure whose message has this text. */
void expectError(SambaStatus status, const char *text);

/* f32, with data of its own. */
SambaTensor *numbers(uint32_t rank, const int64_t *dims, const float *data);
SambaTensor *vector(int64_t count, const float *data);
/* One of two elements and one of none, whose numbers are given. */
SambaTensor *wanted(SambaTensor *tensor); /* requires a gradient from now on */
/* An operator with one result. Operands stay the caller's. */
SambaTensor *call(const char *name, uint32_t count, SambaTensor *const *operands);
SambaTensor *call1(const char *name, SambaTensor *x);
SambaTensor *call2(const char *name, SambaTensor *x, SambaTensor *y);
/* Of all elements. */
SambaTensor *sum(SambaTensor *x);
void drop(uint32_t count, SambaTensor *const *tensors);

/* The tensor has data, and these are they. */
void expectNumbers(const SambaTensor *tensor, uint32_t count, const float *data);
SambaContextStatistics statistics(void);

#endif
