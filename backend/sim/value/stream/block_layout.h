/* How the elements of tokens lie in their blocks, and how a compute unit's counters walk them. */
#ifndef SAMBA_BACKEND_SIM_VALUE_STREAM_BLOCK_LAYOUT_H
#define SAMBA_BACKEND_SIM_VALUE_STREAM_BLOCK_LAYOUT_H

#include "backend/section/section.h"

/* Dense (rank 0), or by dimension, outermost first. */
typedef struct SambaBlockLayout {
  uint32_t rank;
  uint64_t *trips;
  int64_t *strides; /* in elements */
} SambaBlockLayout;

/* The stride in a block of every inner counter of a compute input whose tokens lie like this;
 * false when a counter walks over the end of a dimension. out_strides has counter_count entries. */
bool sambaBlockLayoutCompose(const SambaUnit *unit, const SambaPort *port,
                             const SambaBlockLayout *layout, int64_t *out_strides);

#endif
