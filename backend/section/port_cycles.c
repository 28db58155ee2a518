/* The law of a PMU's port; see port_cycles.h.
 *
 * A token's chain is brought into a form whose inner counters make up whole vectors: counters that
 * walk on are joined, and the one at which a vector is full is cut there. The nest from that
 * counter on is walked element by element. The counters around it only shift it, and nests whose
 * shifts differ by whole rows of words take equally long: the banks just turn. Nests that have
 * been counted are kept in a table, by level, shift and state of the guards. */
#include "backend/section/port_cycles.h"

#include "backend/section/access.h"

#include "support/number/integer.h"

#include <string.h>

enum {
  MOST_KNOWN = 1 << 20, /* nests that are kept */
  STEPS = SAMBA_MAX_COUNTERS + 1,
};

/* A guard holds, or fails, in the whole nest. */
#define ALWAYS INT64_MAX

typedef struct Known {
  int64_t *key; /* NULL: free. Level, shift, then the value of each guard. */
  uint64_t cycles;
} Known;

/* The inner chain of a port's tokens in a buffer with this banking. */
typedef struct Pattern {
  SambaBuffer buffer;
  uint64_t element_bytes, vector_elements, vector_cycles;
  uint32_t count, guard_count;
  uint64_t trips[STEPS];
  int64_t strides[STEPS];
  uint64_t inside[STEPS + 1]; /* elements of the nest from this counter on */
  int64_t *guard_strides;     /* [guard][STEPS] */
  int64_t *guard_low;         /* [guard][STEPS + 1]: what the nest adds to it, at least and most */
  int64_t *guard_high;
  int64_t *limits;
  uint32_t walked;  /* the nest from this counter on is walked element by element */
  int64_t bias;     /* makes addresses of the walk positive; whole periods */
  int64_t period;   /* elements: shifts by it only turn the banks */
  int64_t *scratch; /* values of guards, per level */
  Known *known;
  uint64_t known_mask, known_count;
  struct Pattern *next;
} Pattern;

/* Something that counts when its stamp is that of the running vector. */
typedef struct Stamped {
  uint64_t stamp, value;
} Stamped;

/* Words of a vector and their number per bank. */
typedef struct VectorWords {
  uint64_t stamp;
  Stamped *words; /* a power of two of places, at least four times as many as a vector has words */
  uint32_t shift; /* of a hash to a place */
  uint64_t mask;
  Stamped *banks;
} VectorWords;

struct SambaPortPatterns {
  const SambaMachine *machine;
  SambaArena *arena;
  Pattern *first;
  VectorWords vector;
};

/* A counter before the token that shifts it or changes its guards. */
typedef struct Outer {
  uint64_t divisor, trips;
  uint32_t counter;
} Outer;

struct SambaPortCycles {
  SambaPortPatterns *patterns;
  Pattern *pattern;
  const SambaAccess *access;
  Outer *outer;
  uint32_t outer_count;
  uint64_t first;
};

/*===-- The pattern of a token ----------------------------------------------------------------===*/

static int64_t *guardStrides(const Pattern *pattern, uint32_t guard) {
  return pattern->guard_strides + (size_t)guard * STEPS;
}

/* The counter walks on where the last one of the pattern ends, for address and guards. */
static bool walksOn(const Pattern *pattern, const SambaAccess *access, uint32_t counter) {
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

static void addCounters(Pattern *pattern, const SambaAccess *access) {
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
static void cutAtVectors(Pattern *pattern) {
  uint64_t inside = 1;
  uint32_t c = pattern->count;
  while (c-- > 0) {
    uint64_t steps =
        pattern->vector_elements / sambaGreatestDivisor(pattern->vector_elements, inside);
    if (pattern->trips[c] % steps == 0) {
      if (pattern->trips[c] == steps || pattern->count == STEPS)
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

/* What follows from the counters: sizes of nests, ranges of guards and addresses. */
static void measure(Pattern *pattern) {
  int64_t least = 0;
  pattern->inside[pattern->count] = 1;
  for (uint32_t c = pattern->count; c-- > 0;) {
    int64_t last = (int64_t)pattern->trips[c] - 1;
    pattern->inside[c] = pattern->inside[c + 1] * pattern->trips[c];
    least += pattern->strides[c] < 0 ? pattern->strides[c] * last : 0;
    for (uint32_t g = 0; g < pattern->guard_count; ++g) {
      int64_t moved = guardStrides(pattern, g)[c] * last;
      int64_t *low = pattern->guard_low + (size_t)g * (STEPS + 1);
      int64_t *high = pattern->guard_high + (size_t)g * (STEPS + 1);
      low[c] = low[c + 1] + (moved < 0 ? moved : 0);
      high[c] = high[c + 1] + (moved > 0 ? moved : 0);
    }
  }

  pattern->bias = (-least + pattern->period - 1) / pattern->period * pattern->period;
  pattern->walked = pattern->count;
  while (pattern->walked > 0 && pattern->inside[pattern->walked] % pattern->vector_elements)
    --pattern->walked;
}

static Pattern makePattern(const SambaPortPatterns *patterns, const SambaBuffer *buffer,
                           const SambaPort *port, uint64_t vector_bytes, int64_t *guard_strides) {
  const SambaMachine *machine = patterns->machine;
  const SambaAccess *access = &port->access;
  uint64_t bytes = sambaDTypeBytes(port->dtype);
  uint64_t row_words = buffer->banking == SAMBA_BANKING_COLUMN ? 1 : buffer->row_words;
  uint64_t row_bytes = row_words * (uint64_t)machine->pmu_word_bytes;
  Pattern pattern = {
      .buffer = {.banking = buffer->banking, .row_words = buffer->row_words, .skew = buffer->skew},
      .element_bytes = bytes,
      .vector_elements = vector_bytes > bytes ? vector_bytes / bytes : 1,
      .vector_cycles = vector_bytes < bytes ? (bytes + vector_bytes - 1) / vector_bytes : 1,
      .guard_count = access->guard_count,
      .guard_strides = guard_strides,
      .period = (int64_t)(row_bytes / sambaGreatestDivisor(row_bytes, bytes))};
  addCounters(&pattern, access);
  cutAtVectors(&pattern);
  return pattern;
}

static bool samePattern(const Pattern *a, const Pattern *b, const SambaAccess *access) {
  bool same = a->buffer.banking == b->buffer.banking &&
              a->buffer.row_words == b->buffer.row_words && a->buffer.skew == b->buffer.skew &&
              a->element_bytes == b->element_bytes && a->vector_elements == b->vector_elements &&
              a->count == b->count && a->guard_count == b->guard_count &&
              memcmp(a->trips, b->trips, a->count * sizeof *a->trips) == 0 &&
              memcmp(a->strides, b->strides, a->count * sizeof *a->strides) == 0;
  for (uint32_t g = 0; same && g < a->guard_count; ++g)
    same = a->limits[g] == access->guards[g].limit &&
           memcmp(guardStrides(a, g), guardStrides(b, g), a->count * sizeof(int64_t)) == 0;
  return same;
}

static Pattern *findPattern(SambaPortPatterns *patterns, const SambaBuffer *buffer,
                            const SambaPort *port, uint64_t vector_bytes) {
  const SambaAccess *access = &port->access;
  uint32_t guards = access->guard_count;
  int64_t *guard_strides = SAMBA_ARENA_ARRAY(patterns->arena, int64_t, (size_t)guards *STEPS);
  Pattern made = makePattern(patterns, buffer, port, vector_bytes, guard_strides);
  for (Pattern *known = patterns->first; known; known = known->next)
    if (samePattern(known, &made, access))
      return known;

  Pattern *pattern = SAMBA_ARENA_NEW(patterns->arena, Pattern);
  *pattern = made;
  pattern->limits = SAMBA_ARENA_ARRAY(patterns->arena, int64_t, guards);
  pattern->guard_low = SAMBA_ARENA_ARRAY(patterns->arena, int64_t, (size_t)guards *(STEPS + 1));
  pattern->guard_high = SAMBA_ARENA_ARRAY(patterns->arena, int64_t, (size_t)guards *(STEPS + 1));
  pattern->scratch =
      SAMBA_ARENA_ARRAY(patterns->arena, int64_t, ((size_t)guards + 2) * (STEPS + 2));
  for (uint32_t g = 0; g < guards; ++g)
    pattern->limits[g] = access->guards[g].limit;
  measure(pattern);
  pattern->next = patterns->first;
  patterns->first = pattern;
  return pattern;
}

/*===-- Walking vectors -----------------------------------------------------------------------===*/

/* Counts a word of the running vector; returns how many its bank gives by now. */
static uint64_t takeWord(SambaPortPatterns *patterns, const Pattern *pattern, uint64_t word) {
  VectorWords *vector = &patterns->vector;
  uint64_t at = word * UINT64_C(0x9e3779b97f4a7c15) >> vector->shift;
  while (vector->words[at].stamp == vector->stamp) {
    if (vector->words[at].value == word)
      return 0;
    at = (at + 1) & vector->mask;
  }
  vector->words[at] = (Stamped){vector->stamp, word};

  Stamped *bank = &vector->banks[sambaBufferBank(patterns->machine, &pattern->buffer, word)];
  if (bank->stamp != vector->stamp)
    *bank = (Stamped){vector->stamp, 0};
  return ++bank->value;
}

static bool isEnabled(const Pattern *pattern, const int64_t *guards) {
  for (uint32_t g = 0; g < pattern->guard_count; ++g)
    if (guards[g] != ALWAYS && (guards[g] < 0 || guards[g] >= pattern->limits[g]))
      return false;
  return true;
}

/* Steps the counters of a walk from `level` on; false after the last step. */
static bool stepWalk(const Pattern *pattern, uint32_t level, uint64_t *counters, int64_t *address,
                     int64_t *guards) {
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

/* Cycles of the nest from `level` on, walked element by element. */
static uint64_t walkVectors(SambaPortPatterns *patterns, const Pattern *pattern, uint32_t level,
                            int64_t address, int64_t *guards) {
  uint64_t word_bytes = (uint64_t)patterns->machine->pmu_word_bytes;
  uint64_t counters[STEPS] = {0};
  uint64_t cycles = 0, most = 0, elements = 0;
  address += pattern->bias;
  ++patterns->vector.stamp;

  do {
    if (isEnabled(pattern, guards)) {
      uint64_t byte = (uint64_t)address * pattern->element_bytes;
      uint64_t last = (byte + pattern->element_bytes - 1) / word_bytes;
      for (uint64_t word = byte / word_bytes; word <= last; ++word) {
        uint64_t given = takeWord(patterns, pattern, word);
        most = given > most ? given : most;
      }
    }
    if (++elements == pattern->vector_elements) {
      cycles += most > pattern->vector_cycles ? most : pattern->vector_cycles;
      most = elements = 0;
      ++patterns->vector.stamp;
    }
  } while (stepWalk(pattern, level, counters, &address, guards));

  if (elements)
    cycles += most > pattern->vector_cycles ? most : pattern->vector_cycles;
  return cycles;
}

/*===-- Nests that are known ------------------------------------------------------------------===*/

static uint64_t hashKey(const int64_t *key, uint32_t count) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < count; ++i) {
    hash = (hash ^ (uint64_t)key[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash;
}

static Known *findKnown(const Pattern *pattern, const int64_t *key) {
  uint32_t count = 2 + pattern->guard_count;
  uint64_t at = hashKey(key, count) & pattern->known_mask;
  while (pattern->known[at].key && memcmp(pattern->known[at].key, key, count * sizeof *key) != 0)
    at = (at + 1) & pattern->known_mask;
  return &pattern->known[at];
}

static void keep(SambaPortPatterns *patterns, Pattern *pattern, const int64_t *key,
                 uint64_t cycles) {
  if (pattern->known_count >= MOST_KNOWN)
    return;
  if (!pattern->known || pattern->known_count * 2 >= pattern->known_mask) {
    Known *old = pattern->known;
    uint64_t size = old ? pattern->known_mask + 1 : 0;
    pattern->known_mask = size ? size * 2 - 1 : 15;
    pattern->known = SAMBA_ARENA_ARRAY(patterns->arena, Known, pattern->known_mask + 1);
    for (uint64_t i = 0; i < size; ++i)
      if (old[i].key)
        *findKnown(pattern, old[i].key) = old[i];
  }

  size_t bytes = (2 + pattern->guard_count) * sizeof *key;
  *findKnown(pattern, key) = (Known){sambaArenaCopy(patterns->arena, key, bytes), cycles};
  ++pattern->known_count;
}

/* Guards that hold in the whole nest become ALWAYS; false when one fails in all of it. */
static bool settleGuards(const Pattern *pattern, uint32_t level, int64_t *guards) {
  for (uint32_t g = 0; g < pattern->guard_count; ++g) {
    if (guards[g] == ALWAYS)
      continue;
    int64_t low = guards[g] + pattern->guard_low[(size_t)g * (STEPS + 1) + level];
    int64_t high = guards[g] + pattern->guard_high[(size_t)g * (STEPS + 1) + level];
    if (high < 0 || low >= pattern->limits[g])
      return false;
    if (low >= 0 && high < pattern->limits[g])
      guards[g] = ALWAYS;
  }
  return true;
}

/* Cycles of the nest from `level` on, shifted by `address`; level -> values of the guards at its
 * start. */
static uint64_t nestCycles(SambaPortPatterns *patterns, Pattern *pattern, uint32_t level,
                           int64_t address, const int64_t *guards) {
  uint32_t guard_count = pattern->guard_count;
  int64_t *key = pattern->scratch + (size_t)level * (guard_count + 2);
  uint64_t vectors =
      (pattern->inside[level] + pattern->vector_elements - 1) / pattern->vector_elements;
  key[0] = level;
  key[1] = address % pattern->period + (address % pattern->period < 0 ? pattern->period : 0);
  if (guard_count)
    memcpy(key + 2, guards, guard_count * sizeof *guards);
  if (!settleGuards(pattern, level, key + 2))
    return vectors * pattern->vector_cycles;
  const Known *known = pattern->known ? findKnown(pattern, key) : NULL;
  if (known && known->key)
    return known->cycles;

  uint64_t cycles = 0;
  int64_t state[2 + SAMBA_MAX_GUARDS];
  memcpy(state, key, (2 + guard_count) * sizeof *key);
  if (level == pattern->walked) {
    cycles = walkVectors(patterns, pattern, level, key[1], state + 2);
  } else {
    bool moves = pattern->strides[level] % pattern->period != 0;
    for (uint32_t g = 0; g < guard_count; ++g)
      moves |= state[2 + g] != ALWAYS && guardStrides(pattern, g)[level];
    for (uint64_t i = 0; i < (moves ? pattern->trips[level] : 1); ++i) {
      cycles += nestCycles(patterns, pattern, level + 1, state[1], state + 2);
      state[1] += pattern->strides[level];
      for (uint32_t g = 0; g < guard_count; ++g)
        if (state[2 + g] != ALWAYS)
          state[2 + g] += guardStrides(pattern, g)[level];
    }
    cycles *= moves ? 1 : pattern->trips[level];
  }

  keep(patterns, pattern, key, cycles);
  return cycles;
}

/*===-- Ports ---------------------------------------------------------------------------------===*/

SambaPortPatterns *sambaPortPatternsCreate(const SambaMachine *machine, SambaArena *arena) {
  SambaPortPatterns *patterns = SAMBA_ARENA_NEW(arena, SambaPortPatterns);
  patterns->machine = machine;
  patterns->arena = arena;

  /* No element has more than 8 bytes, no word less than one. */
  uint64_t most = machine->pmu_port_bytes > 8 ? (uint64_t)machine->pmu_port_bytes : 8, bits = 2;
  while (UINT64_C(1) << bits < 4 * most)
    ++bits;
  patterns->vector =
      (VectorWords){.words = SAMBA_ARENA_ARRAY(arena, Stamped, (size_t)1 << bits),
                    .shift = (uint32_t)(64 - bits),
                    .mask = (UINT64_C(1) << bits) - 1,
                    .banks = SAMBA_ARENA_ARRAY(arena, Stamped, (size_t)machine->pmu_banks)};
  return patterns;
}

SambaPortCycles *sambaPortCyclesCreate(SambaPortPatterns *patterns, const SambaBuffer *buffer,
                                       const SambaPort *port, uint64_t vector_bytes) {
  const SambaAccess *access = &port->access;
  SambaPortCycles *cycles = SAMBA_ARENA_NEW(patterns->arena, SambaPortCycles);
  cycles->patterns = patterns;
  cycles->pattern = findPattern(patterns, buffer, port, vector_bytes);
  cycles->access = access;
  cycles->outer = SAMBA_ARENA_ARRAY(patterns->arena, Outer, access->token_level);

  uint64_t divisor = 1;
  for (uint32_t c = access->token_level; c-- > 0; divisor *= access->trips[c]) {
    bool matters = access->strides[c] % cycles->pattern->period != 0;
    for (uint32_t g = 0; g < access->guard_count; ++g)
      matters |= access->guards[g].strides[c] != 0;
    if (matters && access->trips[c] > 1)
      cycles->outer[cycles->outer_count++] = (Outer){divisor, access->trips[c], c};
  }

  cycles->first = sambaPortTokenCycles(cycles, 0);
  return cycles;
}

bool sambaPortCyclesAreFixed(const SambaPortCycles *cycles) { return cycles->outer_count == 0; }

uint64_t sambaPortTokenCycles(SambaPortCycles *cycles, uint64_t token) {
  const SambaAccess *access = cycles->access;
  if (cycles->first && !cycles->outer_count)
    return cycles->first;
  int64_t address = access->base;
  int64_t guards[SAMBA_MAX_GUARDS];
  for (uint32_t g = 0; g < access->guard_count; ++g)
    guards[g] = access->guards[g].constant;

  for (uint32_t o = 0; o < cycles->outer_count; ++o) {
    const Outer *outer = &cycles->outer[o];
    int64_t step = (int64_t)(token / outer->divisor % outer->trips);
    address += access->strides[outer->counter] * step;
    for (uint32_t g = 0; g < access->guard_count; ++g)
      guards[g] += access->guards[g].strides[outer->counter] * step;
  }
  return nestCycles(cycles->patterns, cycles->pattern, 0, address, guards);
}
