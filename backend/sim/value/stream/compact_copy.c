/* Copies of tokens without their repeats; see compact_copy.h. */
#include "backend/sim/value/stream/compact_copy.h"

#include "backend/section/access.h"

static uint64_t magnitude(int64_t value) { return value < 0 ? -(uint64_t)value : (uint64_t)value; }

static bool isRepeat(const SambaAccess *access, uint32_t counter) {
  bool repeat = access->strides[counter] == 0;
  for (uint32_t g = 0; g < access->guard_count; ++g)
    repeat &= access->guards[g].strides[counter] == 0;
  return repeat;
}

/* Host time per element of copying rows along this counter: a row costs as much as some tens of
 * elements. */
static double rowCost(const SambaAccess *access, uint32_t counter) {
  double element = magnitude(access->strides[counter]) == 1 ? 0.25 : 1;
  return element + 25.0 / (double)access->trips[counter];
}

/* The inner counters of an access in the order in which its elements are best copied, repeats left
 * out: larger strides outside, but for the innermost, which makes the rows. Returns how many. */
static uint32_t orderCopy(const SambaAccess *access, uint32_t *order) {
  uint32_t count = 0, best = 0;
  for (uint32_t c = access->token_level; c < access->counter_count; ++c) {
    if (isRepeat(access, c))
      continue;
    uint32_t at = count++;
    for (; at > 0 && magnitude(access->strides[order[at - 1]]) < magnitude(access->strides[c]);
         --at)
      order[at] = order[at - 1];
    order[at] = c;
  }

  for (uint32_t i = 1; i < count; ++i)
    if (rowCost(access, order[i]) <= rowCost(access, order[best]))
      best = i;
  const uint32_t row = count ? order[best] : 0;
  for (uint32_t i = best; i + 1 < count; ++i)
    order[i] = order[i + 1];
  if (count)
    order[count - 1] = row;
  return count;
}

SambaAccess *sambaCompactAccess(SambaArena *arena, const SambaAccess *access) {
  uint32_t order[SAMBA_MAX_COUNTERS];
  uint32_t count = orderCopy(access, order);
  SambaAccess *copy = sambaArenaCopy(arena, access, sizeof *access);
  copy->counter_count = access->token_level + count;
  uint32_t *from = SAMBA_ARENA_ARRAY(arena, uint32_t, copy->counter_count);
  for (uint32_t c = 0; c < copy->counter_count; ++c)
    from[c] = c < access->token_level ? c : order[c - access->token_level];

  uint32_t *trips = SAMBA_ARENA_ARRAY(arena, uint32_t, copy->counter_count);
  int64_t *strides = SAMBA_ARENA_ARRAY(arena, int64_t, copy->counter_count);
  SambaGuard *guards = SAMBA_ARENA_ARRAY(arena, SambaGuard, copy->guard_count);
  for (uint32_t c = 0; c < copy->counter_count; ++c) {
    trips[c] = access->trips[from[c]];
    strides[c] = access->strides[from[c]];
  }
  for (uint32_t g = 0; g < copy->guard_count; ++g) {
    int64_t *steps = SAMBA_ARENA_ARRAY(arena, int64_t, copy->counter_count);
    for (uint32_t c = 0; c < copy->counter_count; ++c)
      steps[c] = access->guards[g].strides[from[c]];
    guards[g] = access->guards[g];
    guards[g].strides = steps;
  }
  copy->trips = trips, copy->strides = strides, copy->guards = guards;
  return copy;
}

bool sambaCompactLayout(SambaArena *arena, const SambaAccess *access,
                        SambaBlockLayout *out_layout) {
  uint32_t order[SAMBA_MAX_COUNTERS];
  int64_t strides[SAMBA_MAX_COUNTERS] = {0}, stride = 1;
  for (uint32_t i = orderCopy(access, order); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= (int64_t)access->trips[order[i]];
  }

  uint32_t inner = access->counter_count - access->token_level;
  *out_layout = (SambaBlockLayout){0, SAMBA_ARENA_ARRAY(arena, uint64_t, inner),
                                   SAMBA_ARENA_ARRAY(arena, int64_t, inner)};
  for (uint32_t c = access->token_level; c < access->counter_count; ++c) {
    if (access->trips[c] == 1)
      continue;
    uint32_t at = out_layout->rank;
    if (at && out_layout->strides[at - 1] == strides[c] * (int64_t)access->trips[c])
      out_layout->trips[--at] *= access->trips[c];
    else
      out_layout->trips[at] = access->trips[c], ++out_layout->rank;
    out_layout->strides[at] = strides[c];
  }
  return out_layout->rank > 1 || (out_layout->rank == 1 && out_layout->strides[0] != 1);
}
