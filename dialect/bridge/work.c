/* Counters of work; see work.h. A pass runs on one thread from begin to end. */
#include "dialect/bridge/work.h"

static _Thread_local uint64_t counts[SAMBA_WORK_KINDS];

void sambaWorkCount(SambaWork work) { ++counts[work]; }

uint64_t sambaWorkTake(SambaWork work) {
  uint64_t count = counts[work];
  counts[work] = 0;
  return count;
}
