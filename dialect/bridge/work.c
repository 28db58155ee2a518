/* Counters of work; see work.h. */
#include "dialect/bridge/work.h"

#include <stdatomic.h>

static atomic_uint_fast64_t counts[SAMBA_WORK_KINDS];

void sambaWorkCount(SambaWork work) {
  atomic_fetch_add_explicit(&counts[work], 1, memory_order_relaxed);
}

uint64_t sambaWorkTotal(SambaWork work) {
  return atomic_load_explicit(&counts[work], memory_order_relaxed);
}
