/* Memory assignment: offsets for intervals of bytes and calls, so that intervals alive at the same
 * time never overlap. */
#ifndef SAMBA_BACKEND_ADDRESS_ADDRESS_ASSIGNMENT_H
#define SAMBA_BACKEND_ADDRESS_ADDRESS_ASSIGNMENT_H

#include "support/base/memory.h"
#include "support/base/status.h"

/* alignment: a power of two (sambaMachineMemoryAlignment). */
static inline uint64_t sambaMemoryRound(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

typedef struct SambaMemoryInterval {
  uint64_t bytes;
  uint32_t first_call, last_call; /* alive from the start of first_call to the end of last_call */
  uint64_t offset;                /* out: a multiple of the alignment */
} SambaMemoryInterval;

/* Gives every interval an offset; *out_bytes is the end of the highest one. Larger intervals choose
 * first, each the lowest gap that fits among those it shares a call with. When that takes more than
 * the fullest call needs, those that are alive in it choose first instead, if that takes less.
 * alignment: a power of two. Deterministic. SAMBA_EXHAUSTED when the sum of sizes cannot be
 * counted. */
SambaStatus sambaMemoryAssign(SambaMemoryInterval *intervals, uint32_t count, uint64_t alignment,
                              uint64_t *out_bytes);

/* Independent check: no two intervals that share a call share a byte, all are aligned and end by
 * `bytes`. */
SambaStatus sambaMemoryCheck(const SambaMemoryInterval *intervals, uint32_t count,
                             uint64_t alignment, uint64_t bytes);

#endif
