/* Access patterns as rows; see pattern.h. */
#include "backend/sim/value/storage/pattern.h"

#include "backend/section/access.h"

#include <string.h>

enum { maxRank = 66 }; /* unit_counters of any machine, and two */

static bool canMerge(const SambaPattern *pattern, uint32_t inner_trip_of, int64_t stride,
                     const int64_t *guard_strides, uint32_t at, uint32_t boundary) {
  /* The index boundary separates dimensions that an index value spans from those it does not. */
  if (at == 0 || at == boundary)
    return false;
  const int64_t trip = inner_trip_of;
  if (pattern->strides[at - 1] != stride * trip)
    return false;
  for (uint32_t g = 0; g < pattern->access->guard_count; ++g)
    if (pattern->guard_strides[g * maxRank + at - 1] != guard_strides[g] * trip)
      return false;
  return true;
}

SambaPattern *sambaPatternCreate(SambaArena *arena, const SambaAccess *access) {
  SambaPattern *pattern = SAMBA_ARENA_NEW(arena, SambaPattern);
  pattern->access = access;
  pattern->trips = SAMBA_ARENA_ARRAY(arena, uint64_t, maxRank);
  pattern->strides = SAMBA_ARENA_ARRAY(arena, int64_t, maxRank);
  pattern->guard_strides = SAMBA_ARENA_ARRAY(arena, int64_t, (size_t)access->guard_count *maxRank);
  int64_t *guards = SAMBA_ARENA_ARRAY(arena, int64_t, access->guard_count);

  pattern->elements = 1;
  pattern->index_count = 1;
  pattern->index_elements = 1;
  uint32_t rank = 0, boundary = 0;

  for (uint32_t c = access->token_level; c < access->counter_count; ++c) {
    uint32_t trip = access->trips[c];
    bool indexed = access->has_index && c < access->token_level + access->index_counters;
    pattern->elements *= trip;
    *(indexed ? &pattern->index_count : &pattern->index_elements) *= trip;
    if (trip == 1)
      continue;
    for (uint32_t g = 0; g < access->guard_count; ++g)
      guards[g] = access->guards[g].strides[c];
    if (canMerge(pattern, trip, access->strides[c], guards, rank, boundary))
      --rank, pattern->trips[rank] *= trip;
    else
      pattern->trips[rank] = trip;
    pattern->strides[rank] = access->strides[c];
    for (uint32_t g = 0; g < access->guard_count; ++g)
      pattern->guard_strides[g * maxRank + rank] = guards[g];
    ++rank;
    if (indexed)
      boundary = rank;
  }

  if (rank == 0 || rank == boundary) /* a row of one element */
    pattern->trips[rank] = 1, pattern->strides[rank] = 0, ++rank;
  pattern->rank = rank;
  if (!access->has_index)
    pattern->index_elements = 0, pattern->index_count = 0;
  pattern->dense = rank == 1 && (pattern->strides[0] == 1 || pattern->trips[0] == 1) &&
                   !access->guard_count && !access->has_index;
  return pattern;
}

void sambaPatternOrigin(const SambaPattern *pattern, const uint32_t *counters,
                        SambaOrigin *origin) {
  const SambaAccess *access = pattern->access;
  origin->address = access->base;
  for (uint32_t c = 0; c < access->token_level; ++c)
    origin->address += access->strides[c] * counters[c];
  for (uint32_t g = 0; g < access->guard_count; ++g) {
    const SambaGuard *guard = &access->guards[g];
    origin->guards[g] = guard->constant;
    for (uint32_t c = 0; c < access->token_level; ++c)
      origin->guards[g] += guard->strides[c] * counters[c];
  }
}

/* b > 0; mostly 1, and a division takes longer than the rest of a row's guards. */
static int64_t divideUp(int64_t a, int64_t b) { return b == 1 ? a : a / b + (a % b > 0); }

/* Narrows [low, high) to where 0 <= value + stride * i < limit. */
static void narrowRow(SambaRow *row, int64_t value, int64_t stride, int64_t limit) {
  int64_t low = 0;
  int64_t high = (int64_t)row->count;

  if (stride == 0) {
    if (value < 0 || value >= limit)
      row->high = row->low;
    return;
  }
  if (stride > 0) {
    low = divideUp(-value, stride);
    high = divideUp(limit - value, stride);
  } else {
    low = divideUp(value - limit + 1, -stride);
    high = divideUp(value + 1, -stride);
  }

  low = low < (int64_t)row->low ? (int64_t)row->low : low;
  high = high > (int64_t)row->high ? (int64_t)row->high : high;
  row->low = (uint64_t)low;
  row->high = high < low ? (uint64_t)low : (uint64_t)high;
  if (row->low > row->count)
    row->low = row->high = row->count;
}

/* What the outer counters of a pattern reach, row by row. */
typedef struct RowWalk {
  int64_t address;
  int64_t guards[SAMBA_MAX_GUARDS];
  uint64_t counter[maxRank];
} RowWalk;

static void moveWalk(const SambaPattern *pattern, RowWalk *walk, uint32_t dimension, int64_t by) {
  walk->address += pattern->strides[dimension] * by;
  for (uint32_t g = 0; g < pattern->access->guard_count; ++g)
    walk->guards[g] += pattern->guard_strides[(size_t)g * maxRank + dimension] * by;
}

/* To the next row; false after the last one. */
static bool stepWalk(const SambaPattern *pattern, RowWalk *walk) {
  for (uint32_t d = pattern->rank - 1; d-- > 0;) {
    if (++walk->counter[d] < pattern->trips[d]) {
      moveWalk(pattern, walk, d, 1);
      return true;
    }
    moveWalk(pattern, walk, d, 1 - (int64_t)pattern->trips[d]);
    walk->counter[d] = 0;
  }
  return false;
}

SambaStatus sambaPatternRows(const SambaPattern *pattern, const SambaOrigin *origin,
                             const int64_t *addends, SambaRowFunction function, void *user) {
  const SambaAccess *access = pattern->access;
  const uint32_t last = pattern->rank - 1;
  const uint64_t count = pattern->trips[last];
  SambaRow row = {.count = count, .stride = pattern->strides[last]};
  RowWalk walk;

  walk.address = origin->address;
  memset(walk.counter, 0, last * sizeof *walk.counter);
  for (uint32_t g = 0; g < access->guard_count; ++g)
    walk.guards[g] = origin->guards[g];

  do {
    row.low = 0;
    row.high = count;
    row.address = walk.address + (addends ? addends[row.token / pattern->index_elements] : 0);
    for (uint32_t g = 0; g < access->guard_count; ++g)
      narrowRow(&row, walk.guards[g], pattern->guard_strides[(size_t)g * maxRank + last],
                access->guards[g].limit);
    SAMBA_RETURN_IF_ERROR(function(user, &row));
    row.token += count;
  } while (stepWalk(pattern, &walk));
  return NULL;
}

void sambaCountersStep(uint32_t *counters, const uint32_t *trips, uint32_t count) {
  for (uint32_t c = count; c-- > 0;) {
    if (++counters[c] < trips[c])
      return;
    counters[c] = 0;
  }
}
