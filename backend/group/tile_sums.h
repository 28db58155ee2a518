/* Where a nest whose reduced loops run outside keeps its sums: in PMUs, a slot for each tile. */
#ifndef SAMBA_BACKEND_GROUP_TILE_SUMS_H
#define SAMBA_BACKEND_GROUP_TILE_SUMS_H

#include "backend/group/tile_nest.h"

/* Three ways: all tiles of several copies in one buffer (runs 0); each copy's tiles in runs that
 * are dealt to the buffers in the order of time, first the first run of each copy; or runs in
 * buffers of the copy's own, but for the last run, with which several copies share a buffer. */
typedef struct SambaTileSums {
  uint32_t copies;  /* that share a buffer, with all tiles or with their last run; 0: none */
  uint32_t runs;    /* of each copy */
  uint32_t each;    /* runs that one buffer holds: of all copies, or of the one that owns it */
  uint32_t buffers; /* in all */
} SambaTileSums;

/* False when the PMUs cannot hold the sums with the streams that a port takes. */
bool sambaTileNestSums(const SambaTileNest *nest, SambaTileSums *out_sums);

#endif
