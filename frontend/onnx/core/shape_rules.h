/* The shape rules that handlers and folds of ONNX operators share. */
#ifndef SAMBA_FRONTEND_ONNX_CORE_SHAPE_RULES_H
#define SAMBA_FRONTEND_ONNX_CORE_SHAPE_RULES_H

#include "frontend/onnx/core/node.h"

/* The result shape of Reshape, Flatten, Squeeze, Unsqueeze. */
SambaStatus sambaOnnxReshapedDims(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                  uint32_t *out_rank, int64_t *out_dims);
typedef struct SambaOnnxSlice {
  int64_t starts[SAMBA_MAX_RANK];
  int64_t ends[SAMBA_MAX_RANK];
  int64_t steps[SAMBA_MAX_RANK];
  int64_t sizes[SAMBA_MAX_RANK];
} SambaOnnxSlice;
/* What Slice takes along each axis: starts and steps as they are read, ends, and how many elements;
 * refuses operands that are not known. */
SambaStatus sambaOnnxSliceRange(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                SambaOnnxSlice *out_slice);
/* The sizes of the parts of Split along out_axis; out_sizes has room for output_count. */
SambaStatus sambaOnnxSplitSizes(const SambaOnnxNode *node, uint32_t rank, const int64_t *dims,
                                uint32_t *out_axis, int64_t *out_sizes);
/* perm of Transpose, by default reversed. */
SambaStatus sambaOnnxPermutation(const SambaOnnxNode *node, uint32_t rank, int64_t *out_dims);
/* The shape that two shapes broadcast to. */
SambaStatus sambaOnnxBroadcast(uint32_t rank, const int64_t *dims, uint32_t other_rank,
                               const int64_t *other, uint32_t *out_rank, int64_t *out_dims);
/* Flags of the axes that a Reduce operator reduces; *out_none: nothing is reduced
 * (noop_with_empty_axes). */
SambaStatus sambaOnnxReducedAxes(const SambaOnnxNode *node, uint32_t rank, bool *out_reduced,
                                 bool *out_none);

#endif
