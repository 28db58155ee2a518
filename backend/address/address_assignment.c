/* Memory assignment; see address_assignment.h. */
#include "backend/address/address_assignment.h"

#include "support/base/index.h"
#include "support/container/interval_tree.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  uint64_t start, end;
} Range;

typedef struct {
  const SambaMemoryInterval *interval;
  uint32_t index;
  uint64_t crowd; /* bytes that are alive in the fullest call of its life; 0: does not count */
} Order;

static void insertCalls(SambaIntervalTree *tree, const SambaMemoryInterval *interval,
                        uint32_t index) {
  sambaIntervalTreeInsert(tree, interval->first_call, (uint64_t)interval->last_call + 1, index);
}

/* The intervals of the tree that share a call with this one. */
static void findSharers(const SambaIntervalTree *tree, const SambaMemoryInterval *interval,
                        SambaIntervalValues *out_indices) {
  out_indices->size = 0;
  sambaIntervalTreeFind(tree, interval->first_call, (uint64_t)interval->last_call + 1, out_indices);
}

/* From the fullest call, then larger first; among equals the longer-lived, then the earlier in the
 * list. */
static int compareOrder(const void *left, const void *right) {
  const Order *a = left, *b = right;
  if (a->crowd != b->crowd)
    return a->crowd < b->crowd ? 1 : -1;
  if (a->interval->bytes != b->interval->bytes)
    return a->interval->bytes < b->interval->bytes ? 1 : -1;
  uint32_t lengthA = a->interval->last_call - a->interval->first_call;
  uint32_t lengthB = b->interval->last_call - b->interval->first_call;
  if (lengthA != lengthB)
    return lengthA < lengthB ? 1 : -1;
  return a->index < b->index ? -1 : 1;
}

static int compareRange(const void *left, const void *right) {
  const Range *a = left, *b = right;
  return a->start < b->start ? -1 : a->start > b->start;
}

/* Bytes that are alive in each call; out_calls: how many there are. */
static uint64_t *countAlive(const SambaMemoryInterval *intervals, uint32_t count,
                            uint64_t alignment, uint32_t *out_calls) {
  uint32_t calls = 1;
  for (uint32_t i = 0; i < count; ++i)
    calls = intervals[i].last_call >= calls ? intervals[i].last_call + 1 : calls;

  uint64_t *alive = sambaAllocateZeroed((size_t)calls + 1, sizeof *alive);
  for (uint32_t i = 0; i < count; ++i) { /* first what comes and goes */
    uint64_t size = sambaMemoryRound(intervals[i].bytes, alignment);
    alive[intervals[i].first_call] += size;
    alive[intervals[i].last_call + 1] -= size;
  }
  for (uint32_t c = 1; c < calls; ++c)
    alive[c] += alive[c - 1];
  *out_calls = calls;
  return alive;
}

/* Places the intervals one after the other, each into the lowest gap; returns the bytes taken. */
static uint64_t placeInOrder(SambaMemoryInterval *intervals, const Order *order, uint32_t count,
                             uint64_t alignment, Range *taken) {
  uint64_t bytes = 0;
  SambaIntervalTree placed = {0};
  SambaIntervalValues sharers = {0};
  for (uint32_t n = 0; n < count; ++n) {
    SambaMemoryInterval *interval = &intervals[order[n].index];
    uint64_t size = sambaMemoryRound(interval->bytes, alignment);
    uint64_t offset = 0;
    uint32_t taken_count = 0;
    findSharers(&placed, interval, &sharers);
    for (size_t k = 0; k < sharers.size; ++k) {
      const SambaMemoryInterval *other = &intervals[sharers.data[k]];
      taken[taken_count++] =
          (Range){other->offset, other->offset + sambaMemoryRound(other->bytes, alignment)};
    }
    qsort(taken, taken_count, sizeof *taken, compareRange);
    for (uint32_t k = 0; k < taken_count && taken[k].start < offset + size; ++k)
      if (taken[k].end > offset)
        offset = taken[k].end;
    interval->offset = offset;
    if (interval->bytes)
      insertCalls(&placed, interval, order[n].index);
    if (offset + size > bytes)
      bytes = offset + size;
  }
  sambaArrayFree(&sharers);
  sambaIntervalTreeFree(&placed);
  return bytes;
}

/* Those that are alive in the fullest call come first, then those of the next one. */
static void setCrowds(const SambaMemoryInterval *intervals, Order *order, uint32_t count,
                      const uint64_t *alive) {
  for (uint32_t i = 0; i < count; ++i) {
    const SambaMemoryInterval *interval = &intervals[order[i].index];
    order[i].crowd = 0;
    for (uint32_t c = interval->first_call; c <= interval->last_call; ++c)
      order[i].crowd = alive[c] > order[i].crowd ? alive[c] : order[i].crowd;
  }
}

SambaStatus sambaMemoryAssign(SambaMemoryInterval *intervals, uint32_t count, uint64_t alignment,
                              uint64_t *out_bytes) {
  uint64_t total = 0;
  *out_bytes = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (intervals[i].bytes > UINT64_MAX / 2 ||
        __builtin_add_overflow(total, sambaMemoryRound(intervals[i].bytes, alignment), &total))
      return sambaStatusMake(SAMBA_EXHAUSTED,
                             "the tensors of this graph need more bytes than 64 bits can count");
  Order *order = sambaAllocate(sambaArraySize(count, sizeof *order));
  Range *taken = sambaAllocate(sambaArraySize(count, sizeof *taken));
  for (uint32_t i = 0; i < count; ++i)
    order[i] = (Order){&intervals[i], i, 0};
  qsort(order, count, sizeof *order, compareOrder);
  *out_bytes = placeInOrder(intervals, order, count, alignment, taken);

  /* Less is not possible than what is alive in the fullest call. */
  uint32_t calls;
  uint64_t fullest = 0;
  uint64_t *alive = countAlive(intervals, count, alignment, &calls);
  for (uint32_t c = 0; c < calls; ++c)
    fullest = alive[c] > fullest ? alive[c] : fullest;
  if (*out_bytes > fullest) {
    SambaMemoryInterval *others = sambaAllocate(sambaArraySize(count, sizeof *others));
    memcpy(others, intervals, count * sizeof *others);
    setCrowds(intervals, order, count, alive);
    qsort(order, count, sizeof *order, compareOrder);
    uint64_t bytes = placeInOrder(others, order, count, alignment, taken);
    if (bytes < *out_bytes) {
      memcpy(intervals, others, count * sizeof *others);
      *out_bytes = bytes;
    }
    free(others);
  }

  free(alive);
  free(order);
  free(taken);
  return NULL;
}

/* The first of the indices whose interval shares a byte with this one, or SAMBA_NO_INDEX. */
static uint32_t findConflict(const SambaMemoryInterval *intervals,
                             const SambaMemoryInterval *interval,
                             const SambaIntervalValues *indices) {
  uint32_t first = SAMBA_NO_INDEX;
  for (size_t k = 0; k < indices->size; ++k) {
    const SambaMemoryInterval *other = &intervals[indices->data[k]];
    if (indices->data[k] < first && interval->offset < other->offset + other->bytes &&
        other->offset < interval->offset + interval->bytes)
      first = indices->data[k];
  }
  return first;
}

SambaStatus sambaMemoryCheck(const SambaMemoryInterval *intervals, uint32_t count,
                             uint64_t alignment, uint64_t bytes) {
  SambaStatus status = NULL;
  SambaIntervalTree checked = {0};
  SambaIntervalValues sharers = {0};
  for (uint32_t i = 0; i < count && !status; ++i) {
    findSharers(&checked, &intervals[i], &sharers);
    uint32_t conflict = findConflict(intervals, &intervals[i], &sharers);
    if (intervals[i].offset % alignment)
      status = sambaStatusMake(SAMBA_INVALID, "interval %u is not aligned to %llu bytes", i,
                               (unsigned long long)alignment);
    else if (intervals[i].bytes > bytes || intervals[i].offset > bytes - intervals[i].bytes)
      status = sambaStatusMake(SAMBA_INVALID, "interval %u ends past byte %llu", i,
                               (unsigned long long)bytes);
    else if (conflict != SAMBA_NO_INDEX)
      status = sambaStatusMake(
          SAMBA_INVALID, "intervals %u and %u are alive in one call and share bytes", conflict, i);
    insertCalls(&checked, &intervals[i], i);
  }

  sambaArrayFree(&sharers);
  sambaIntervalTreeFree(&checked);
  return status;
}
