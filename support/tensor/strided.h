/* Walks over arrays with strides, a row of the innermost dimension at a time. */
#ifndef SAMBA_SUPPORT_TENSOR_STRIDED_H
#define SAMBA_SUPPORT_TENSOR_STRIDED_H

#include "support/tensor/tensor_state.h"

/* Two arrays of one shape; strides in bytes. */
typedef struct SambaStridedPair {
  uint32_t rank;
  int64_t dims[SAMBA_TENSOR_MAX_RANK];
  uint8_t *target;
  int64_t target_strides[SAMBA_TENSOR_MAX_RANK];
  const uint8_t *source;
  int64_t source_strides[SAMBA_TENSOR_MAX_RANK];
} SambaStridedPair;

/* `count` elements; a step is in bytes. */
typedef void (*SambaRowFunction)(void *user, uint8_t *target, int64_t target_step,
                                 const uint8_t *source, int64_t source_step, int64_t count);

/* Calls the function for rows in row-major order, as long as the strides allow. */
void sambaStridedForEachRow(SambaStridedPair *pair, SambaRowFunction function, void *user);

/* Describes the two sides by tensors with strides; NULL dims: a row-major array of that shape. */
void sambaStridedSetTarget(SambaStridedPair *pair, uint8_t *data, const int64_t *strides,
                           uint32_t element_bytes);
void sambaStridedSetSource(SambaStridedPair *pair, const uint8_t *data, const int64_t *strides,
                           uint32_t element_bytes);

/* Copies elements of `element_bytes` bytes. */
void sambaStridedCopy(SambaStridedPair *pair, uint32_t element_bytes);

#endif
