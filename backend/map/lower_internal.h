/* What the files of the lowering share. */
#ifndef SAMBA_BACKEND_MAP_LOWER_INTERNAL_H
#define SAMBA_BACKEND_MAP_LOWER_INTERNAL_H

#include "backend/map/assembly.h"
#include "backend/map/nest.h"
#include "backend/map/walk.h"

/* The layout of the tokens that an operand brings to the PCUs of its group: the stride of each in-tile dimension. */
typedef struct SambaTokenLayout {
  uint64_t elements;
  int64_t offset;
  int64_t stride[SAMBA_MAX_STAGE_DIMS];
} SambaTokenLayout;
void sambaTokenLayoutMake(const SambaNest *nest, uint32_t operand, SambaTokenLayout *out_layout);

/* The dimensions of an indexed operand's tokens, those of the index first; returns their number. */
uint32_t sambaIndexedDims(const SambaNest *nest, uint32_t operand, uint32_t *out_dims, uint32_t *out_index_count);
/* The dimensions of an output token, slowest in memory first; returns their number (only those with several points). */
uint32_t sambaOutputDims(const SambaNest *nest, uint32_t *out_dims);
/* Tile loops with several trips at positions [0, to): the counters in front of a token. */
uint32_t sambaCountLoops(const SambaNest *nest, uint32_t to);

/* Adds the COMPUTE unit of one copy. copy: its index along each dimension. Port i of the unit is the i-th operand that
 * the program reads; the one output is the group's. */
uint32_t sambaLowerCompute(SambaAssembly *assembly, const SambaNest *nest, const char *name, const char *layer,
                           const SambaCopyRange *copy);

/* Cuts the copies along the dimensions of `mask` into at most `wanted` rectangular ranges of consecutive copies;
 * returns how many. With out_ranges NULL only counts. Dimensions outside the mask have first 0, count 1. */
uint32_t sambaCutCopies(const SambaNest *nest, uint32_t mask, uint32_t wanted, SambaCopyRange *out_ranges);

#endif
