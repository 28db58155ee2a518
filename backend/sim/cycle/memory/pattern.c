/* Bursts of an access; see pattern.h. */
#include "backend/sim/cycle/memory/pattern.h"

#include "backend/section/access.h"
#include "backend/sim/call/call.h"

static bool isGuarded(const SambaAccess *access, uint32_t counter) {
  for (uint32_t g = 0; g < access->guard_count; ++g)
    if (access->guards[g].strides[counter])
      return true;
  return false;
}

void sambaPatternBuild(SambaPattern *pattern, SambaArena *arena, const SambaAccess *access,
                       uint64_t base, uint64_t element_bytes, uint64_t burst_bytes,
                       const int64_t *addends, uint64_t addend_count) {
  *pattern = (SambaPattern){.access = access,
                            .base = base,
                            .element_bytes = element_bytes,
                            .burst_bytes = burst_bytes,
                            .block = 1,
                            .addends = addends,
                            .addend_count = addend_count,
                            .last_burst = UINT64_MAX};
  uint32_t outermost = access->token_level;
  if (access->has_index)
    outermost = pattern->index_level = access->token_level + access->index_counters;

  uint32_t level = access->counter_count;
  for (; level > outermost; --level) {
    uint32_t trips = access->trips[level - 1];
    bool dense =
        access->strides[level - 1] == (int64_t)pattern->block && !isGuarded(access, level - 1);
    if (trips != 1 && !dense)
      break;
    pattern->block *= trips;
  }

  if (level > outermost) {
    int64_t gap = access->strides[level - 1] - (int64_t)pattern->block;
    int64_t gap_bytes;
    pattern->has_steps = gap >= 0 && !sambaMulOverflows(gap, (int64_t)element_bytes, &gap_bytes) &&
                         gap_bytes < (int64_t)burst_bytes;
    level -= pattern->has_steps;
  }
  pattern->run_level = level;
  pattern->counters = SAMBA_ARENA_ARRAY(arena, uint32_t, level + 1);
}

static uint64_t stepsOf(const SambaPattern *pattern) {
  return pattern->has_steps ? pattern->access->trips[pattern->run_level] : 1;
}

/* The element at which a step of the run at work begins; false: guards switch it off. Sums wrap
 * around for what only a broken file asks for. */
static bool beginOfStep(const SambaPattern *pattern, uint64_t step, uint64_t *out_element) {
  const SambaAccess *access = pattern->access;
  uint64_t element = (uint64_t)access->base;
  for (uint32_t c = 0; c < pattern->run_level; ++c)
    element += (uint64_t)access->strides[c] * pattern->counters[c];
  if (pattern->has_steps)
    element += (uint64_t)access->strides[pattern->run_level] * step;

  for (uint32_t g = 0; g < access->guard_count; ++g) {
    const SambaGuard *guard = &access->guards[g];
    uint64_t value = (uint64_t)guard->constant;
    for (uint32_t c = 0; c < pattern->run_level; ++c)
      value += (uint64_t)guard->strides[c] * pattern->counters[c];
    if (pattern->has_steps)
      value += (uint64_t)guard->strides[pattern->run_level] * step;
    if ((int64_t)value < 0 || (int64_t)value >= guard->limit)
      return false;
  }

  if (access->has_index)
    element += (uint64_t)(pattern->index < pattern->addend_count
                              ? pattern->addends[pattern->index]
                              : sambaStandInAddend(pattern->index, access->index_limit,
                                                   access->index_stride));
  *out_element = element;
  return true;
}

/* Device addresses are below 2^56. */
static uint64_t addressOf(const SambaPattern *pattern, uint64_t element) {
  return (pattern->base + element * pattern->element_bytes) & ((UINT64_C(1) << 56) - 1);
}

/* Elements from `element` on whose first byte lies in its burst, at most `most`, at least one. */
static uint64_t elementsInBurst(const SambaPattern *pattern, uint64_t element, uint64_t most) {
  uint64_t left = pattern->burst_bytes - addressOf(pattern, element) % pattern->burst_bytes;
  uint64_t elements = (left + pattern->element_bytes - 1) / pattern->element_bytes;
  return elements < most ? elements : most;
}

static void endRun(SambaPattern *pattern) {
  const SambaAccess *access = pattern->access;
  pattern->step = pattern->in_block = 0;
  pattern->run_asked = false;
  for (uint32_t c = pattern->run_level; c-- > 0; pattern->counters[c] = 0)
    if (++pattern->counters[c] < access->trips[c]) {
      pattern->index += c < pattern->index_level;
      return;
    }
  pattern->index = 0;
}

SambaPiece sambaPatternNext(SambaPattern *pattern) {
  SambaPiece piece = {.index = pattern->index};
  uint64_t steps = stepsOf(pattern);
  bool covers = false; /* some burst */

  while (pattern->step < steps) {
    uint64_t element;
    uint64_t left = pattern->block - pattern->in_block;
    if (beginOfStep(pattern, pattern->step, &element)) {
      element += pattern->in_block;
      uint64_t burst = addressOf(pattern, element) / pattern->burst_bytes;
      if (covers && burst != piece.burst)
        break;
      covers = true;
      piece.burst = burst;
      left = elementsInBurst(pattern, element, left);
    }
    piece.elements += left;
    pattern->in_block += left;
    if (pattern->in_block < pattern->block) {
      if (covers)
        break;
      continue;
    }
    pattern->in_block = 0;
    ++pattern->step;
  }

  piece.asks = covers && piece.burst != pattern->last_burst;
  if (piece.asks)
    pattern->last_burst = piece.burst;
  pattern->run_asked |= piece.asks;
  if (pattern->step == steps) {
    piece.ends_run = true;
    piece.costs_cycle = !pattern->run_asked;
    endRun(pattern);
  }
  return piece;
}
