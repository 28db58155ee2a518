/* What one call of a section brings to the engines: the memory behind its formals, and the
 * addresses that only values decide. */
#ifndef SAMBA_BACKEND_SIM_CALL_CALL_H
#define SAMBA_BACKEND_SIM_CALL_CALL_H

#include <stddef.h>
#include <stdint.h>

/* The memory behind one formal of a section for one call; borrowed. */
typedef struct SambaBinding {
  uint8_t *data; /* device layout: row-major elements of the formal's dtype, little-endian; aligned
                    to 64; NULL when only time is simulated */
  uint64_t bytes;
  uint64_t address; /* device address of data[0] (timing, messages) */
  uint8_t *written; /* one bit per 64-byte line of data: it holds data that was written; NULL:
                       every line does */
} SambaBinding;

/* What an indexed access of a unit consumed: addends in elements, one per element of its index
 * stream. The value engine fills it, the timing engine follows it. */
typedef struct SambaIndexTrace {
  uint32_t unit;
  size_t size, capacity;
  int64_t *data;
} SambaIndexTrace;

typedef struct SambaIndexTraces { /* zero-initialize */
  size_t size, capacity;
  SambaIndexTrace *data;
} SambaIndexTraces;

/* Stands in for an index value that was not traced: an addend in elements that is scattered, but
 * always the same for the value's position. */
static inline int64_t sambaStandInAddend(uint64_t position, int64_t limit, int64_t stride) {
  uint64_t mixed = (position + 1) * UINT64_C(0x9E3779B97F4A7C15);
  mixed ^= mixed >> 29;
  uint64_t values = limit > 0 ? (uint64_t)limit : 1;
  return (int64_t)(mixed % values * (uint64_t)stride);
}

void sambaIndexTracesFree(SambaIndexTraces *traces);

#endif
