/* Bank conflicts; see banks.h. The addresses of a vector's elements are enumerated, through all the
 * counters that make it up. */
#include "backend/sim/cycle/unit/banks.h"

#include "backend/section/access.h"

#include <string.h>

enum { mostKnown = 1 << 15, mostBanks = 256, mostWords = 2048 };

static bool sameValues(const void *a, const void *b, uint32_t count, size_t size) {
  return !count || memcmp(a, b, count * size) == 0;
}

/* Do two ports touch the same addresses of the same banks, vector by vector? */
static bool areAlike(const SambaBankPattern *a, const SambaBankPattern *b) {
  const SambaBuffer *one = &a->unit->buffer, *other = &b->unit->buffer;
  const SambaAccess *x = &a->port->access, *y = &b->port->access;
  return a->vector_elements == b->vector_elements && a->port->dtype == b->port->dtype &&
         one->banking == other->banking && one->row_words == other->row_words &&
         one->skew == other->skew && x->counter_count == y->counter_count &&
         x->slot_level == y->slot_level && x->token_level == y->token_level && x->base == y->base &&
         sameValues(x->trips, y->trips, x->counter_count, sizeof *x->trips) &&
         sameValues(x->strides, y->strides, x->counter_count, sizeof *x->strides) &&
         !x->guard_count && !y->guard_count;
}

void sambaBankPatternBuild(SambaBankPattern *pattern, SambaArena *arena,
                           const SambaMachine *machine, const SambaUnit *unit,
                           const SambaPort *port, uint64_t vector_elements,
                           SambaBankPattern **patterns) {
  const SambaAccess *access = &port->access;
  *pattern = (SambaBankPattern){
      .machine = machine, .unit = unit, .port = port, .vector_elements = vector_elements};
  pattern->slot_elements =
      sambaTripProduct(access->trips, access->slot_level, access->counter_count);
  pattern->known_count = pattern->slot_elements < mostKnown ? pattern->slot_elements : mostKnown;

  for (const SambaBankPattern *other = *patterns; other; other = other->next)
    if (areAlike(pattern, other)) {
      pattern->known = other->known;
      return;
    }
  pattern->known = sambaArenaAllocate(arena, pattern->known_count);
  pattern->next = *patterns;
  *patterns = pattern;
}

/* The counters of the n-th element that the port touches in a slot. */
static void countersOf(const SambaBankPattern *pattern, uint64_t n, uint32_t *counters) {
  const SambaAccess *access = &pattern->port->access;
  for (uint32_t c = access->counter_count; c-- > access->slot_level; n /= access->trips[c])
    counters[c] = (uint32_t)(n % access->trips[c]);
}

/* Those of the element after it; after the last one comes the first. */
static void stepCounters(const SambaBankPattern *pattern, uint32_t *counters) {
  const SambaAccess *access = &pattern->port->access;
  for (uint32_t c = access->counter_count; c-- > access->slot_level; counters[c] = 0)
    if (++counters[c] < access->trips[c])
      return;
}

/* The address of an element; false: a guard disables it. */
static bool addressOf(const SambaBankPattern *pattern, const uint32_t *counters,
                      int64_t *out_address) {
  const SambaAccess *access = &pattern->port->access;
  *out_address = access->base;
  for (uint32_t c = access->slot_level; c < access->counter_count; ++c)
    *out_address += access->strides[c] * counters[c];

  for (uint32_t g = 0; g < access->guard_count; ++g) {
    int64_t value = access->guards[g].constant;
    for (uint32_t c = access->slot_level; c < access->counter_count; ++c)
      value += access->guards[g].strides[c] * counters[c];
    if (value < 0 || value >= access->guards[g].limit)
      return false;
  }
  return true;
}

static uint64_t bankOf(const SambaBuffer *buffer, uint64_t banks, uint64_t word) {
  uint64_t row = buffer->row_words ? word / buffer->row_words : 0;
  switch (buffer->banking) {
  case SAMBA_BANKING_ROW:
    return row % banks;
  case SAMBA_BANKING_DIAGONAL:
    return (word + buffer->skew * row) % banks;
  default:
    return word % banks;
  }
}

/* The distinct words that the elements of a vector need. */
static uint32_t wordsOf(const SambaBankPattern *pattern, uint64_t first, uint64_t count,
                        uint64_t *words) {
  uint64_t word_bytes = (uint64_t)pattern->machine->pmu_word_bytes;
  uint64_t bytes = sambaDTypeBytes(pattern->port->dtype);
  uint32_t found = 0, counters[SAMBA_MAX_COUNTERS];
  countersOf(pattern, first % pattern->slot_elements, counters);

  for (uint64_t i = 0; i < count; ++i, stepCounters(pattern, counters)) {
    int64_t address;
    if (!addressOf(pattern, counters, &address))
      continue;
    uint64_t from = (uint64_t)address * bytes / word_bytes;
    uint64_t to = ((uint64_t)address * bytes + bytes - 1) / word_bytes;
    for (uint64_t word = from; word <= to && found < mostWords; ++word) {
      uint32_t w = 0;
      while (w < found && words[w] != word)
        ++w;
      if (w == found)
        words[found++] = word;
    }
  }
  return found;
}

/* The most words that one bank must give: it gives one per cycle, which serves all elements in
 * it. */
static uint64_t countCycles(const SambaBankPattern *pattern, uint64_t first, uint64_t count) {
  uint64_t banks = (uint64_t)pattern->machine->pmu_banks;
  uint64_t words[mostWords];
  uint32_t per_bank[mostBanks] = {0}, most = 1;
  uint32_t found = wordsOf(pattern, first, count, words);
  for (uint32_t w = 0; w < found; ++w) {
    uint32_t *load = &per_bank[bankOf(&pattern->unit->buffer, banks, words[w])];
    most = ++*load > most ? *load : most;
  }

  uint64_t bytes = count * sambaDTypeBytes(pattern->port->dtype);
  uint64_t port_bytes = (uint64_t)pattern->machine->pmu_port_bytes;
  uint64_t at_port = (bytes + port_bytes - 1) / port_bytes;
  return at_port > most ? at_port : most;
}

uint64_t sambaBankPatternCycles(SambaBankPattern *pattern, uint64_t vector, uint64_t first,
                                uint64_t count) {
  if (vector >= pattern->known_count)
    return countCycles(pattern, first, count);
  uint8_t known = sambaBankPatternKnown(pattern->known, vector);
  if (known && known < UINT8_MAX)
    return known;
  uint64_t cycles = countCycles(pattern, first, count);
  known = cycles < UINT8_MAX ? (uint8_t)cycles : UINT8_MAX;
  __atomic_store_n(&pattern->known[vector], known, __ATOMIC_RELAXED);
  return cycles;
}
