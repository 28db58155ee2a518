/* Walking access patterns run by run; see bursts.h. */
#include "backend/sim/timing/dram/bursts.h"

#include "backend/sim/call/call.h"

static bool guardedAlong(const SambaAccess *access, uint32_t counter) {
  for (uint32_t g = 0; g < access->guard_count; ++g)
    if (access->guards[g].strides[counter])
      return true;
  return false;
}

void sambaBurstWalkInit(SambaBurstWalk *walk, SambaArena *arena, const SambaAccess *access,
                        uint32_t element_bytes, uint32_t burst_bytes, const int64_t *index_addends,
                        uint64_t index_count) {
  *walk = (SambaBurstWalk){.access = access,
                           .element_bytes = element_bytes,
                           .block_elements = 1,
                           .run_counter = access->counter_count,
                           .index_addends = index_addends,
                           .index_count = index_count,
                           .offset = access->base};
  uint32_t outermost = access->token_level;

  if (access->has_index) {
    walk->index_level = access->token_level + access->index_counters;
    outermost = walk->index_level;
  }

  uint32_t level = access->counter_count;
  while (level > outermost) {
    uint32_t c = level - 1;
    bool dense = access->strides[c] == (int64_t)walk->block_elements && !guardedAlong(access, c);
    if (access->trips[c] != 1 && !dense)
      break;
    walk->block_elements *= access->trips[c];
    level = c;
  }

  /* One more counter fits into the run when its steps leave no burst between them untouched: guards
   * only cut its ends. */
  if (level > outermost) {
    int64_t stride = access->strides[level - 1];
    int64_t gap;
    if (stride >= (int64_t)walk->block_elements &&
        !sambaMulOverflows(stride - (int64_t)walk->block_elements, element_bytes, &gap) &&
        gap < (int64_t)burst_bytes)
      walk->run_counter = --level;
  }

  walk->odometer_count = level;
  walk->counters = SAMBA_ARENA_ARRAY(arena, uint32_t, level + 1);
  walk->guard_values = SAMBA_ARENA_ARRAY(arena, int64_t, access->guard_count + 1);
  for (uint32_t g = 0; g < access->guard_count; ++g)
    walk->guard_values[g] = access->guards[g].constant;
}

/* Steps [low, high) of the run counter that every guard enables. */
static bool enabledSteps(const SambaBurstWalk *walk, int64_t *out_low, int64_t *out_high) {
  const SambaAccess *access = walk->access;
  bool has_run = walk->run_counter < access->counter_count;
  int64_t low = 0;
  int64_t high = has_run ? access->trips[walk->run_counter] : 1;

  for (uint32_t g = 0; g < access->guard_count; ++g) {
    int64_t value = walk->guard_values[g];
    int64_t limit = access->guards[g].limit;
    int64_t stride = has_run ? access->guards[g].strides[walk->run_counter] : 0;
    if (stride == 0) {
      if (value < 0 || value >= limit)
        return false;
      continue;
    }
    /* 0 <= value + stride * step < limit; 128 bits because a file may hold any numbers. */
    __int128 step = stride < 0 ? -(__int128)stride : stride;
    __int128 bottom = stride > 0 ? -(__int128)value : (__int128)value - limit + 1;
    __int128 top = stride > 0 ? (__int128)limit - 1 - value : value;
    __int128 first = bottom <= 0 ? 0 : (bottom + step - 1) / step;
    __int128 last = top < 0 ? -1 : top / step;
    if (first > low)
      low = first > high ? high : (int64_t)first;
    if (last + 1 < high)
      high = (int64_t)last + 1;
  }

  *out_low = low;
  *out_high = high;
  return low < high;
}

static bool stepOdometer(SambaBurstWalk *walk, bool *out_token) {
  const SambaAccess *access = walk->access;
  uint32_t c = walk->odometer_count;

  while (c > 0) {
    --c;
    uint32_t trips = access->trips[c];
    uint64_t back = 0;
    bool wrapped = ++walk->counters[c] == trips;
    if (wrapped) {
      walk->counters[c] = 0;
      back = trips;
    }
    /* Modulo 2^64 on purpose: addresses of a checked section stay in range, others must only not
     * trap. */
    walk->offset = (int64_t)((uint64_t)walk->offset + (uint64_t)access->strides[c] * (1 - back));
    for (uint32_t g = 0; g < access->guard_count; ++g)
      walk->guard_values[g] = (int64_t)((uint64_t)walk->guard_values[g] +
                                        (uint64_t)access->guards[g].strides[c] * (1 - back));
    if (!wrapped) {
      *out_token = c < access->token_level;
      if (access->has_index && c < walk->index_level)
        ++walk->index_position;
      return true;
    }
  }

  *out_token = true;
  return false;
}

/* Bytes from one step of a run to the next; UINT64_MAX: it has one. */
static uint64_t stepBytes(const SambaBurstWalk *walk) {
  const SambaAccess *access = walk->access;
  if (walk->run_counter >= access->counter_count || access->trips[walk->run_counter] == 1)
    return UINT64_MAX;
  return (uint64_t)access->strides[walk->run_counter] * walk->element_bytes;
}

uint64_t sambaBurstRunElements(const SambaBurstWalk *walk, const SambaBurstRun *run,
                               uint64_t bytes) {
  if (!bytes)
    return 0;
  uint64_t step_bytes = stepBytes(walk);
  uint64_t within = (bytes % step_bytes + walk->element_bytes - 1) / walk->element_bytes;
  within = within < walk->block_elements ? within : walk->block_elements;
  uint64_t elements = run->skipped + bytes / step_bytes * walk->block_elements + within;
  return elements < run->elements ? elements : run->elements;
}

uint64_t sambaBurstRunOffset(const SambaBurstWalk *walk, uint64_t skipped, uint64_t element) {
  if (element < skipped)
    return 0;
  element -= skipped;
  uint64_t within = element * walk->element_bytes;
  if (element < walk->block_elements || stepBytes(walk) == UINT64_MAX)
    return within;
  return element / walk->block_elements * stepBytes(walk) +
         element % walk->block_elements * walk->element_bytes;
}

bool sambaBurstWalkNext(SambaBurstWalk *walk, SambaBurstRun *out_run) {
  if (walk->ended)
    return false;
  const SambaAccess *access = walk->access;
  bool has_run = walk->run_counter < access->counter_count;
  int64_t stride = has_run ? access->strides[walk->run_counter] : 0;

  *out_run = (SambaBurstRun){.elements = walk->block_elements *
                                         (has_run ? access->trips[walk->run_counter] : 1)};
  int64_t low, high;
  if (enabledSteps(walk, &low, &high)) {
    uint64_t start = (uint64_t)walk->offset;
    if (access->has_index)
      start += (uint64_t)(walk->index_position < walk->index_count && walk->index_addends
                              ? walk->index_addends[walk->index_position]
                              : sambaStandInAddend(walk->index_position, access->index_limit,
                                                   access->index_stride));
    out_run->skipped = (uint64_t)low * walk->block_elements;
    uint64_t begin = start + (uint64_t)stride * (uint64_t)low;
    uint64_t end = start + (uint64_t)stride * (uint64_t)(high - 1) + walk->block_elements;
    out_run->begin = (int64_t)(begin * walk->element_bytes);
    out_run->end = (int64_t)(end * walk->element_bytes);
  }

  walk->ended = !stepOdometer(walk, &out_run->ends_token);
  return true;
}
