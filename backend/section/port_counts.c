/* Counting the cycles of tokens; see port_counts.h.
 *
 * A token's chain is brought into a form whose inner counters make up whole vectors: counters that
 * walk on are joined, and the one at which a vector is full is cut there. The nest from that
 * counter on is walked element by element. The counters around it only shift it, and nests whose
 * shifts differ by whole rows of words take equally long: the banks just turn. Nests that have
 * been counted are kept in a table, by level, shift and state of the guards. */
#include "backend/section/port_counts.h"

#include "support/number/integer.h"

#include <stddef.h>
#include <string.h>

enum { MOST_KNOWN = 1 << 20 }; /* cycles of nests that are kept */

/* A guard holds, or fails, in the whole nest. */
#define ALWAYS INT64_MAX

typedef struct SambaKnownNest {
  int64_t *key;     /* NULL: free. Level, shift, then the value of each guard. */
  uint64_t *cycles; /* with each skew */
} SambaKnownNest;

/*===-- The pattern of a token ----------------------------------------------------------------===*/

static int64_t *guardStrides(const SambaTokenPattern *pattern, uint32_t guard) {
  return pattern->guard_strides + (size_t)guard * SAMBA_PATTERN_STEPS;
}

/* The counter walks on where the last one of the pattern ends, for address and guards. */
static bool walksOn(const SambaTokenPattern *pattern, const SambaAccess *access, uint32_t counter) {
  uint32_t last = pattern->count - 1;
  int64_t trips = (int64_t)access->trips[counter], whole;
  if (sambaMulOverflows(access->strides[counter], trips, &whole) || pattern->strides[last] != whole)
    return false;
  for (uint32_t g = 0; g < pattern->guard_count; ++g)
    if (sambaMulOverflows(access->guards[g].strides[counter], trips, &whole) ||
        guardStrides(pattern, g)[last] != whole)
      return false;
  return true;
}

static void addCounters(SambaTokenPattern *pattern, const SambaAccess *access) {
  for (uint32_t c = access->token_level; c < access->counter_count; ++c) {
    if (access->trips[c] == 1)
      continue;
    uint32_t at = pattern->count;
    uint64_t trips = access->trips[c];
    if (pattern->count && walksOn(pattern, access, c))
      trips *= pattern->trips[--at];
    pattern->trips[at] = trips;
    pattern->strides[at] = access->strides[c];
    for (uint32_t g = 0; g < pattern->guard_count; ++g)
      guardStrides(pattern, g)[at] = access->guards[g].strides[c];
    pattern->count = at + 1;
  }
}

/* Cuts the innermost counter with which vectors can be whole in two, so that the inner part is the
 * smallest nest of whole vectors. */
static void cutAtVectors(SambaTokenPattern *pattern) {
  uint64_t inside = 1;
  uint32_t c = pattern->count;
  while (c-- > 0) {
    uint64_t steps =
        pattern->vector_elements / sambaGreatestDivisor(pattern->vector_elements, inside);
    if (pattern->trips[c] % steps == 0) {
      if (pattern->trips[c] == steps || pattern->count == SAMBA_PATTERN_STEPS)
        return;
      for (uint32_t k = pattern->count; k > c; --k) {
        pattern->trips[k] = pattern->trips[k - 1];
        pattern->strides[k] = pattern->strides[k - 1];
        for (uint32_t g = 0; g < pattern->guard_count; ++g)
          guardStrides(pattern, g)[k] = guardStrides(pattern, g)[k - 1];
      }
      ++pattern->count;
      pattern->trips[c] /= steps;
      pattern->trips[c + 1] = steps;
      pattern->strides[c] *= (int64_t)steps;
      for (uint32_t g = 0; g < pattern->guard_count; ++g)
        guardStrides(pattern, g)[c] *= (int64_t)steps;
      return;
    }
    inside *= pattern->trips[c];
  }
}

/* Steps of a counter after which the shift of its nest is one of whole periods. */
static uint64_t turnsOf(const SambaTokenPattern *pattern, uint32_t level) {
  int64_t step = pattern->strides[level] % pattern->period;
  uint64_t apart = (uint64_t)(step < 0 ? -step : step);
  return (uint64_t)pattern->period / sambaGreatestDivisor((uint64_t)pattern->period, apart);
}

/* What follows from the counters: sizes of nests, ranges of guards and addresses. */
static void measure(SambaTokenPattern *pattern) {
  int64_t least = 0;
  pattern->inside[pattern->count] = 1;
  for (uint32_t c = pattern->count; c-- > 0;) {
    int64_t last = (int64_t)pattern->trips[c] - 1;
    pattern->inside[c] = pattern->inside[c + 1] * pattern->trips[c];
    pattern->turns[c] = turnsOf(pattern, c);
    least += pattern->strides[c] < 0 ? pattern->strides[c] * last : 0;
    for (uint32_t g = 0; g < pattern->guard_count; ++g) {
      int64_t moved = guardStrides(pattern, g)[c] * last;
      int64_t *low = pattern->guard_low + (size_t)g * (SAMBA_PATTERN_STEPS + 1);
      int64_t *high = pattern->guard_high + (size_t)g * (SAMBA_PATTERN_STEPS + 1);
      low[c] = low[c + 1] + (moved < 0 ? moved : 0);
      high[c] = high[c + 1] + (moved > 0 ? moved : 0);
    }
  }

  pattern->bias = (-least + pattern->period - 1) / pattern->period * pattern->period;
  pattern->walked = pattern->count;
  while (pattern->walked > 0 && pattern->inside[pattern->walked] % pattern->vector_elements)
    --pattern->walked;
}

static uint64_t hashNumbers(const int64_t *numbers, uint32_t count) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < count; ++i) {
    hash = (hash ^ (uint64_t)numbers[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash;
}

static void makePattern(const SambaPortCounts *counts, const SambaBuffer *buffer,
                        uint32_t skew_count, const SambaPort *port, uint64_t vector_bytes,
                        int64_t *guard_strides, SambaTokenPattern *pattern) {
  const SambaMachine *machine = counts->machine;
  const SambaAccess *access = &port->access;
  uint64_t bytes = sambaDTypeBytes(port->dtype);
  uint64_t row_words = buffer->banking == SAMBA_BANKING_COLUMN ? 1 : buffer->row_words;
  uint64_t row_bytes = row_words * (uint64_t)machine->pmu_word_bytes;
  memset(pattern, 0, offsetof(SambaTokenPattern, trips));
  pattern->buffer.banking = buffer->banking;
  pattern->buffer.row_words = buffer->row_words;
  pattern->buffer.skew = buffer->skew;
  pattern->skew_count = skew_count;
  pattern->element_bytes = bytes;
  pattern->vector_elements = vector_bytes > bytes ? vector_bytes / bytes : 1;
  pattern->vector_cycles = vector_bytes < bytes ? (bytes + vector_bytes - 1) / vector_bytes : 1;
  pattern->guard_count = access->guard_count;
  pattern->guard_strides = guard_strides;
  pattern->period = (int64_t)(row_bytes / sambaGreatestDivisor(row_bytes, bytes));
  addCounters(pattern, access);
  cutAtVectors(pattern);
}

static bool samePattern(const SambaTokenPattern *a, const SambaTokenPattern *b,
                        const SambaAccess *access) {
  bool same = a->buffer.banking == b->buffer.banking &&
              a->buffer.row_words == b->buffer.row_words && a->buffer.skew == b->buffer.skew &&
              a->skew_count == b->skew_count && a->element_bytes == b->element_bytes &&
              a->vector_elements == b->vector_elements && a->vector_cycles == b->vector_cycles &&
              a->count == b->count && a->guard_count == b->guard_count &&
              memcmp(a->trips, b->trips, a->count * sizeof *a->trips) == 0 &&
              memcmp(a->strides, b->strides, a->count * sizeof *a->strides) == 0;
  for (uint32_t g = 0; same && g < a->guard_count; ++g)
    same = a->limits[g] == access->guards[g].limit &&
           memcmp(guardStrides(a, g), guardStrides(b, g), a->count * sizeof(int64_t)) == 0;
  return same;
}

SambaTokenPattern *sambaTokenPatternFind(SambaPortCounts *counts, SambaArena *scratch,
                                         const SambaBuffer *buffer, uint32_t skew_count,
                                         const SambaPort *port, uint64_t vector_bytes) {
  const SambaAccess *access = &port->access;
  uint32_t guards = access->guard_count;
  size_t strides = (size_t)guards * SAMBA_PATTERN_STEPS;
  int64_t *guard_strides = SAMBA_ARENA_ARRAY(scratch, int64_t, strides);
  SambaTokenPattern made;
  makePattern(counts, buffer, skew_count, port, vector_bytes, guard_strides, &made);
  uint64_t hash = hashNumbers(made.strides, made.count);
  for (uint32_t c = 0; c < made.count; ++c)
    hash = (hash ^ made.trips[c]) * UINT64_C(0x9e3779b97f4a7c15);
  SambaTokenPattern **list = &counts->lists[hash >> 32 & (SAMBA_PATTERN_LISTS - 1)];
  for (SambaTokenPattern *known = *list; known; known = known->next)
    if (samePattern(known, &made, access))
      return known;

  counts->words += sizeof made / sizeof(uint64_t) + (size_t)guards * 4 * SAMBA_PATTERN_STEPS;
  SambaTokenPattern *pattern = SAMBA_ARENA_NEW(counts->arena, SambaTokenPattern);
  *pattern = made;
  pattern->guard_strides =
      sambaArenaCopy(counts->arena, guard_strides, strides * sizeof *guard_strides);
  pattern->limits = SAMBA_ARENA_ARRAY(counts->arena, int64_t, guards);
  pattern->guard_low =
      SAMBA_ARENA_ARRAY(counts->arena, int64_t, (size_t)guards *(SAMBA_PATTERN_STEPS + 1));
  pattern->guard_high =
      SAMBA_ARENA_ARRAY(counts->arena, int64_t, (size_t)guards *(SAMBA_PATTERN_STEPS + 1));
  pattern->scratch =
      SAMBA_ARENA_ARRAY(counts->arena, int64_t, ((size_t)guards + 2) * (SAMBA_PATTERN_STEPS + 2));
  pattern->sums =
      SAMBA_ARENA_ARRAY(counts->arena, uint64_t, (size_t)skew_count *(pattern->count + 1));
  for (uint32_t g = 0; g < guards; ++g)
    pattern->limits[g] = access->guards[g].limit;
  measure(pattern);
  pattern->next = *list;
  *list = pattern;
  return pattern;
}

/*===-- Walking vectors -----------------------------------------------------------------------===*/

static bool isEnabled(const SambaTokenPattern *pattern, const int64_t *guards) {
  for (uint32_t g = 0; g < pattern->guard_count; ++g)
    if (guards[g] != ALWAYS && (guards[g] < 0 || guards[g] >= pattern->limits[g]))
      return false;
  return true;
}

/* Steps the counters of a walk from `level` on; false after the last step. */
static bool stepWalk(const SambaTokenPattern *pattern, uint32_t level, uint64_t *counters,
                     int64_t *address, int64_t *guards) {
  for (uint32_t c = pattern->count; c-- > level;) {
    bool wraps = ++counters[c] == pattern->trips[c];
    int64_t by = wraps ? 1 - (int64_t)pattern->trips[c] : 1;
    *address += pattern->strides[c] * by;
    for (uint32_t g = 0; g < pattern->guard_count; ++g)
      if (guards[g] != ALWAYS)
        guards[g] += guardStrides(pattern, g)[c] * by;
    if (!wraps)
      return true;
    counters[c] = 0;
  }
  return false;
}

/* Elements from the walk's place on that lie side by side, as far as the vector has room for them;
 * the walk goes on at the last of them. */
static uint64_t takeRun(const SambaTokenPattern *pattern, uint64_t room, uint64_t *counters,
                        const int64_t *guards) {
  uint32_t last = pattern->count - 1;
  if (!pattern->count || pattern->strides[last] != 1)
    return 1;
  for (uint32_t g = 0; g < pattern->guard_count; ++g)
    if (guards[g] != ALWAYS)
      return 1;
  uint64_t run = pattern->trips[last] - counters[last];
  run = run < room ? run : room;
  counters[last] += run - 1;
  return run;
}

/* Adds the cycles of the nest from `level` on, walked run by run. */
static void walkVectors(SambaPortCounts *counts, const SambaTokenPattern *pattern, uint32_t level,
                        int64_t address, int64_t *guards, uint64_t *cycles) {
  uint32_t word_bits = (uint32_t)__builtin_ctzll((uint64_t)counts->machine->pmu_word_bytes);
  uint64_t counters[SAMBA_PATTERN_STEPS] = {0};
  uint64_t elements = 0;
  address += pattern->bias;
  const SambaWordRule rule = {counts->machine, &pattern->buffer, pattern->skew_count,
                              pattern->vector_cycles};
  sambaVectorBegin(&counts->vector);

  do {
    uint64_t run = 1;
    if (isEnabled(pattern, guards)) {
      run = takeRun(pattern, pattern->vector_elements - elements, counters, guards);
      uint64_t byte = (uint64_t)address * pattern->element_bytes;
      uint64_t last = (byte + run * pattern->element_bytes - 1) >> word_bits;
      for (uint64_t word = byte >> word_bits; word <= last; ++word)
        sambaVectorTake(&counts->vector, &rule, word);
      address += (int64_t)(run - 1);
    }
    elements += run;
    if (elements == pattern->vector_elements) {
      sambaVectorEnd(&counts->vector, &rule, cycles);
      elements = 0;
    }
  } while (stepWalk(pattern, level, counters, &address, guards));

  if (elements)
    sambaVectorEnd(&counts->vector, &rule, cycles);
}

/*===-- Nests that are known ------------------------------------------------------------------===*/

static SambaKnownNest *findKnown(const SambaTokenPattern *pattern, const int64_t *key) {
  uint32_t count = 2 + pattern->guard_count;
  uint64_t at = hashNumbers(key, count) & pattern->known_mask;
  while (pattern->known[at].key && memcmp(pattern->known[at].key, key, count * sizeof *key) != 0)
    at = (at + 1) & pattern->known_mask;
  return &pattern->known[at];
}

static void keep(SambaPortCounts *counts, SambaTokenPattern *pattern, const int64_t *key,
                 const uint64_t *cycles) {
  if (pattern->known_count * pattern->skew_count >= MOST_KNOWN)
    return;
  if (!pattern->known || pattern->known_count * 2 >= pattern->known_mask) {
    SambaKnownNest *old = pattern->known;
    uint64_t size = old ? pattern->known_mask + 1 : 0;
    pattern->known_mask = size ? size * 2 - 1 : 15;
    pattern->known = SAMBA_ARENA_ARRAY(counts->arena, SambaKnownNest, pattern->known_mask + 1);
    counts->words += 2 * (pattern->known_mask + 1);
    for (uint64_t i = 0; i < size; ++i)
      if (old[i].key)
        *findKnown(pattern, old[i].key) = old[i];
  }

  size_t bytes = (2 + pattern->guard_count) * sizeof *key;
  *findKnown(pattern, key) =
      (SambaKnownNest){sambaArenaCopy(counts->arena, key, bytes),
                       sambaArenaCopy(counts->arena, cycles, pattern->skew_count * sizeof *cycles)};
  ++pattern->known_count;
  counts->words += 2 + pattern->guard_count + pattern->skew_count;
}

/* Guards that hold in the whole nest become ALWAYS; false when one fails in all of it. */
static bool settleGuards(const SambaTokenPattern *pattern, uint32_t level, int64_t *guards) {
  for (uint32_t g = 0; g < pattern->guard_count; ++g) {
    if (guards[g] == ALWAYS)
      continue;
    int64_t low = guards[g] + pattern->guard_low[(size_t)g * (SAMBA_PATTERN_STEPS + 1) + level];
    int64_t high = guards[g] + pattern->guard_high[(size_t)g * (SAMBA_PATTERN_STEPS + 1) + level];
    if (high < 0 || low >= pattern->limits[g])
      return false;
    if (low >= 0 && high < pattern->limits[g])
      guards[g] = ALWAYS;
  }
  return true;
}

/* Most periods are a power of two, and a division costs as much as all else. */
int64_t sambaTokenPatternPlace(const SambaTokenPattern *pattern, int64_t address) {
  int64_t period = pattern->period;
  if ((period & (period - 1)) == 0)
    return address & (period - 1);
  int64_t rest = address % period;
  return rest < 0 ? rest + period : rest;
}

/* Iterations [first, end) of a counter. */
typedef struct Inside {
  uint64_t first, end;
} Inside;

/* Those of the counter at `level` in which each guard that it moves holds throughout. */
static Inside whereGuardsHold(const SambaTokenPattern *pattern, uint32_t level,
                              const int64_t *guards) {
  int64_t first = 0, last = (int64_t)pattern->trips[level] - 1;
  for (uint32_t g = 0; g < pattern->guard_count; ++g) {
    int64_t stride = guardStrides(pattern, g)[level];
    if (guards[g] == ALWAYS || stride == 0)
      continue;
    /* How far the guard must move up before it holds, and how far it can then. */
    size_t inner = (size_t)g * (SAMBA_PATTERN_STEPS + 1) + level + 1;
    int64_t least = -(guards[g] + pattern->guard_low[inner]);
    int64_t most = pattern->limits[g] - 1 - guards[g] - pattern->guard_high[inner];
    int64_t step = stride < 0 ? -stride : stride;
    int64_t from = stride < 0 ? -most : least, to = stride < 0 ? -least : most;
    from = from > 0 ? (from + step - 1) / step : 0;
    to = to < 0 ? -1 : to / step;
    first = from > first ? from : first;
    last = to < last ? to : last;
  }
  return last < first ? (Inside){0, 0} : (Inside){(uint64_t)first, (uint64_t)last + 1};
}

static const uint64_t *nestCycles(SambaPortCounts *counts, SambaTokenPattern *pattern,
                                  uint32_t level, int64_t address, const int64_t *guards);

/* Adds the cycles of all iterations of the counter at `level`; state: the address, then the guards.
 * Where guards hold throughout, only the place in a period matters. */
static void addIterations(SambaPortCounts *counts, SambaTokenPattern *pattern, uint32_t level,
                          int64_t *state, uint64_t *cycles) {
  uint64_t trips = pattern->trips[level], turns = pattern->turns[level];
  Inside inside = whereGuardsHold(pattern, level, state + 1);
  uint64_t step = 1;
  for (uint64_t i = 0; i < trips; i += step) {
    bool repeats = i >= inside.first && i < inside.end;
    uint64_t times = repeats ? (inside.end - i + turns - 1) / turns : 1;
    const uint64_t *inner = nestCycles(counts, pattern, level + 1, state[0], state + 1);
    for (uint32_t s = 0; s < pattern->skew_count; ++s)
      cycles[s] += inner[s] * times;

    /* The last of the turns stands for the end of the range. */
    bool skips = repeats && i + 1 - inside.first >= turns;
    step = skips ? inside.end - i : 1;
    state[0] += pattern->strides[level] * (int64_t)step;
    for (uint32_t g = 0; g < pattern->guard_count; ++g)
      if (state[1 + g] != ALWAYS)
        state[1 + g] += guardStrides(pattern, g)[level] * (int64_t)step;
  }
}

/* Cycles of the nest from `level` on, shifted by `address`, with each skew; level -> values of the
 * guards at its start. They stand there until the next nest of this level is counted. */
static const uint64_t *nestCycles(SambaPortCounts *counts, SambaTokenPattern *pattern,
                                  uint32_t level, int64_t address, const int64_t *guards) {
  uint32_t guard_count = pattern->guard_count, skews = pattern->skew_count;
  int64_t *key = pattern->scratch + (size_t)level * (guard_count + 2);
  uint64_t *cycles = pattern->sums + (size_t)level * skews;
  key[0] = level;
  key[1] = sambaTokenPatternPlace(pattern, address);
  if (guard_count)
    memcpy(key + 2, guards, guard_count * sizeof *guards);
  if (!settleGuards(pattern, level, key + 2)) {
    uint64_t vectors =
        (pattern->inside[level] + pattern->vector_elements - 1) / pattern->vector_elements;
    for (uint32_t s = 0; s < skews; ++s)
      cycles[s] = vectors * pattern->vector_cycles;
    return cycles;
  }
  const SambaKnownNest *known = pattern->known ? findKnown(pattern, key) : NULL;
  if (known && known->key)
    return known->cycles;

  int64_t state[2 + SAMBA_MAX_GUARDS];
  memcpy(state, key, (2 + guard_count) * sizeof *key);
  memset(cycles, 0, skews * sizeof *cycles);
  if (level == pattern->walked) {
    walkVectors(counts, pattern, level, key[1], state + 2, cycles);
  } else {
    addIterations(counts, pattern, level, state + 1, cycles);
  }

  keep(counts, pattern, key, cycles);
  return cycles;
}

const uint64_t *sambaTokenPatternCycles(SambaPortCounts *counts, SambaTokenPattern *pattern,
                                        int64_t address, const int64_t *guards) {
  return nestCycles(counts, pattern, 0, address, guards);
}

uint32_t *sambaTokenPatternWalk(SambaPortCounts *counts, const SambaTokenPattern *pattern,
                                uint64_t vectors, int64_t address, const int64_t *guards) {
  int64_t settled[SAMBA_MAX_GUARDS];
  uint64_t sums[1] = {0};
  uint32_t *cycles = SAMBA_ARENA_ARRAY(counts->arena, uint32_t, vectors);
  counts->words += vectors;
  for (uint32_t g = 0; g < pattern->guard_count; ++g)
    settled[g] = guards[g];
  if (!settleGuards(pattern, 0, settled)) {
    for (uint64_t v = 0; v < vectors; ++v)
      cycles[v] = (uint32_t)pattern->vector_cycles;
    return cycles;
  }

  counts->vector.noted = cycles;
  walkVectors(counts, pattern, 0, address, settled, sums);
  counts->vector.noted = NULL;
  return cycles;
}

/*===-- Counts --------------------------------------------------------------------------------===*/

void sambaPortCountsStart(SambaPortCounts *counts, SambaArena *arena) {
  counts->arena = arena;
  counts->words = 0;
  memset(counts->lists, 0, sizeof counts->lists);

  counts->vector = sambaVectorWordsCreate(counts->machine, arena);
}
