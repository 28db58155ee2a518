/* Normal numbers in blocks of 16, as PyTorch makes them from uniform ones. */
#ifndef SAMBA_SUPPORT_TENSOR_RANDOM_NORMAL_BLOCK_H
#define SAMBA_SUPPORT_TENSOR_RANDOM_NORMAL_BLOCK_H

#include "samba/base.h"

enum { SAMBA_NORMAL_BLOCK = 16 };

/* Replaces 16 uniform numbers of [0, 1) in place. */
void sambaNormalBlockF32(float *data, float mean, float deviation);
void sambaNormalBlockF64(double *data, double mean, double deviation);
/* Of bf16 or f16. */
void sambaNormalBlockHalf(SambaDType dtype, uint16_t *data, double mean, double deviation);

#endif
