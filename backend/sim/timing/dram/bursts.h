/* The address pattern of a LOAD or STORE, walked as an address generator does: one contiguous run
 * of bytes per step. */
#ifndef SAMBA_BACKEND_SIM_TIMING_DRAM_BURSTS_H
#define SAMBA_BACKEND_SIM_TIMING_DRAM_BURSTS_H

#include "backend/section/section.h"

typedef struct SambaBurstWalk {
  const SambaAccess *access;
  uint32_t element_bytes;
  uint32_t odometer_count; /* counters [0, odometer_count) step from run to run; the rest lie within
                              a run */
  uint32_t *counters;
  int64_t *guard_values;   /* of each guard at the start of the next run */
  int64_t offset;          /* element offset of the start of the next run */
  uint64_t block_elements; /* dense elements per step of the run counter */
  uint32_t run_counter; /* counter whose steps lie within a run, access->counter_count when there is
                           none */
  uint32_t index_level; /* an index value is consumed whenever a counter before this one steps; 0:
                           not indexed */
  uint64_t index_position;
  const int64_t *index_addends;
  uint64_t index_count;
  bool ended; /* every run of the whole chain was given out */
} SambaBurstWalk;

/* One step. Bytes [begin, end) relative to the symbol's first byte; begin == end: nothing is
 * enabled. */
typedef struct SambaBurstRun {
  int64_t begin, end;
  uint64_t elements; /* of the token, enabled or not */
  uint64_t skipped;  /* of them: before the first one that is enabled */
  bool ends_token;
} SambaBurstRun;

/* Prepares a walk from the chain's first element. Runs of elements whose gaps are smaller than
 * burst_bytes are one run. The addends of an indexed access come from a value run; without them
 * (NULL) a fixed scattered sequence below index_limit stands in. */
void sambaBurstWalkInit(SambaBurstWalk *walk, SambaArena *arena, const SambaAccess *access,
                        uint32_t element_bytes, uint32_t burst_bytes, const int64_t *index_addends,
                        uint64_t index_count);
/* Elements of a run, from its first one on, up to those that begin in its first `bytes` bytes. */
uint64_t sambaBurstRunElements(const SambaBurstWalk *walk, const SambaBurstRun *run,
                               uint64_t bytes);
/* The byte of a run at which an element of it begins, of which so many are skipped. */
uint64_t sambaBurstRunOffset(const SambaBurstWalk *walk, uint64_t skipped, uint64_t element);
/* False past the last run of the chain. */
bool sambaBurstWalkNext(SambaBurstWalk *walk, SambaBurstRun *out_run);

#endif
