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

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_KNOWN = 1 << 20, /* cycles of nests that are kept */
  LAYOUTS = 16,         /* of vectors, that are kept; a power of two */
  LISTS = 128,          /* of patterns, by their hashes; a power of two */
  MOST_WORDS = 1 << 20, /* of counts that sections share: beyond that they are made anew */
  STEPS = SAMBA_MAX_COUNTERS + 1,
};

/* A guard holds, or fails, in the whole nest. */
#define ALWAYS INT64_MAX

typedef struct Known {
  int64_t *key;     /* NULL: free. Level, shift, then the value of each guard. */
  uint64_t *cycles; /* with each skew */
} Known;

/* A token whose vectors were asked for. */
typedef struct KnownToken {
  int64_t *key; /* shift, then the value of each guard */
  uint32_t *vectors;
  struct KnownToken *next;
} KnownToken;

/* The inner chain of a port's tokens in a buffer with this banking, or with all diagonals of its
 * rows: those turn the banks alike where a nest is shifted by whole rows. */
typedef struct Pattern {
  SambaBuffer buffer;
  uint32_t skew_count; /* skews that are counted, from the buffer's on */
  uint64_t element_bytes, vector_elements, vector_cycles;
  uint32_t count, guard_count;
  int64_t *guard_strides; /* [guard][STEPS] */
  int64_t *guard_low;     /* [guard][STEPS + 1]: what the nest adds to it, at least and most */
  int64_t *guard_high;
  int64_t *limits;
  uint32_t walked;  /* the nest from this counter on is walked element by element */
  int64_t bias;     /* makes addresses of the walk positive; whole periods */
  int64_t period;   /* elements: shifts by it only turn the banks */
  int64_t *scratch; /* values of guards, per level */
  uint64_t *sums;   /* [level][skew_count]: cycles of the nest that is being counted */
  Known *known;
  uint64_t known_mask, known_count;
  KnownToken *tokens, *last_token; /* as they came: ports ask for them in this order again */
  uint32_t token_count;
  struct Pattern *next; /* in the same list */
  /* Large, and made for each port that asks: set as far as there are counters. */
  uint64_t trips[STEPS];
  int64_t strides[STEPS];
  uint64_t turns[STEPS];      /* of the counter after which all comes again, guards apart */
  uint64_t inside[STEPS + 1]; /* elements of the nest from this counter on */
} Pattern;

/* A word that the running vector has when the stamp is the vector's. */
typedef struct Stamped {
  uint64_t stamp, word;
} Stamped;

/* The places of a vector's words beside that of the first one, and how many words one bank gives
 * with each skew: shifting all of them by a place only turns the banks. */
typedef struct Layout {
  uint32_t count, skew, skew_count;
  SambaWordPlace *places;
  uint32_t *most;
} Layout;

/* The different words of a vector. */
typedef struct VectorWords {
  uint64_t stamp;
  Stamped *words; /* a power of two of places, at least four times as many as a vector has words */
  uint32_t shift; /* of a hash to a place */
  uint64_t mask;
  uint64_t last; /* the word that came last; UINT64_MAX: none */
  uint64_t *taken;
  bool hashed; /* the words taken are in the table: not before one comes that is not the largest */
  SambaWordPlace *places;
  uint32_t count;
  uint32_t *given; /* [bank]: words that it gives; zero between vectors */
  Layout layouts[LAYOUTS], *last_layout;
  uint32_t *noted; /* where the cycles of vectors are noted, one after the other; NULL */
} VectorWords;

struct SambaPortCounts {
  const SambaMachine *machine;
  SambaArena own, *arena; /* its own one, or that of the only section */
  uint64_t words;         /* that patterns take of it, about */
  Pattern *lists[LISTS];
  VectorWords vector;
};

struct SambaPortPatterns {
  SambaPortCounts *counts;
  SambaArena *arena; /* of the laws of ports */
};

/* A counter before the token that shifts it or changes its guards. */
typedef struct Outer {
  uint64_t divisor, trips;
  uint32_t counter;
  uint64_t every; /* wraps of the one before it, or tokens, for a step of it */
  /* At the last token that was asked for: of these since the last step; the step. */
  uint64_t passed, step;
} Outer;

struct SambaPortCycles {
  SambaPortCounts *counts;
  Pattern *pattern;
  const SambaAccess *access;
  Outer *outer;
  uint32_t outer_count;
  uint64_t first;
  uint64_t token;           /* that was asked for last; UINT64_MAX: none */
  int64_t address, *guards; /* where it begins: its address, the values of its guards */
  const KnownToken *next;   /* the one after that which was found last; NULL */
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

/* Steps of a counter after which the shift of its nest is one of whole periods. */
static uint64_t turnsOf(const Pattern *pattern, uint32_t level) {
  int64_t step = pattern->strides[level] % pattern->period;
  uint64_t apart = (uint64_t)(step < 0 ? -step : step);
  return (uint64_t)pattern->period / sambaGreatestDivisor((uint64_t)pattern->period, apart);
}

/* What follows from the counters: sizes of nests, ranges of guards and addresses. */
static void measure(Pattern *pattern) {
  int64_t least = 0;
  pattern->inside[pattern->count] = 1;
  for (uint32_t c = pattern->count; c-- > 0;) {
    int64_t last = (int64_t)pattern->trips[c] - 1;
    pattern->inside[c] = pattern->inside[c + 1] * pattern->trips[c];
    pattern->turns[c] = turnsOf(pattern, c);
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
                        int64_t *guard_strides, Pattern *pattern) {
  const SambaMachine *machine = counts->machine;
  const SambaAccess *access = &port->access;
  uint64_t bytes = sambaDTypeBytes(port->dtype);
  uint64_t row_words = buffer->banking == SAMBA_BANKING_COLUMN ? 1 : buffer->row_words;
  uint64_t row_bytes = row_words * (uint64_t)machine->pmu_word_bytes;
  memset(pattern, 0, offsetof(Pattern, trips));
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

static bool samePattern(const Pattern *a, const Pattern *b, const SambaAccess *access) {
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

static Pattern *findPattern(const SambaPortPatterns *patterns, const SambaBuffer *buffer,
                            uint32_t skew_count, const SambaPort *port, uint64_t vector_bytes) {
  SambaPortCounts *counts = patterns->counts;
  const SambaAccess *access = &port->access;
  uint32_t guards = access->guard_count;
  size_t strides = (size_t)guards * STEPS;
  int64_t *guard_strides = SAMBA_ARENA_ARRAY(patterns->arena, int64_t, strides);
  Pattern made;
  makePattern(counts, buffer, skew_count, port, vector_bytes, guard_strides, &made);
  uint64_t hash = hashNumbers(made.strides, made.count);
  for (uint32_t c = 0; c < made.count; ++c)
    hash = (hash ^ made.trips[c]) * UINT64_C(0x9e3779b97f4a7c15);
  Pattern **list = &counts->lists[hash >> 32 & (LISTS - 1)];
  for (Pattern *known = *list; known; known = known->next)
    if (samePattern(known, &made, access))
      return known;

  counts->words += sizeof made / sizeof(uint64_t) + (size_t)guards * 4 * STEPS;
  Pattern *pattern = SAMBA_ARENA_NEW(counts->arena, Pattern);
  *pattern = made;
  pattern->guard_strides =
      sambaArenaCopy(counts->arena, guard_strides, strides * sizeof *guard_strides);
  pattern->limits = SAMBA_ARENA_ARRAY(counts->arena, int64_t, guards);
  pattern->guard_low = SAMBA_ARENA_ARRAY(counts->arena, int64_t, (size_t)guards *(STEPS + 1));
  pattern->guard_high = SAMBA_ARENA_ARRAY(counts->arena, int64_t, (size_t)guards *(STEPS + 1));
  pattern->scratch = SAMBA_ARENA_ARRAY(counts->arena, int64_t, ((size_t)guards + 2) * (STEPS + 2));
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

/* False when the table has the word already. */
static bool enterWord(VectorWords *vector, uint64_t word) {
  uint64_t at = word * UINT64_C(0x9e3779b97f4a7c15) >> vector->shift;
  while (vector->words[at].stamp == vector->stamp) {
    if (vector->words[at].word == word)
      return false;
    at = (at + 1) & vector->mask;
  }
  vector->words[at] = (Stamped){vector->stamp, word};
  return true;
}

/* Adds a word to the running vector unless it has it. */
static void takeWord(SambaPortCounts *counts, const Pattern *pattern, uint64_t word) {
  VectorWords *vector = &counts->vector;
  if (word == vector->last)
    return;
  bool rises = vector->count == 0 || word > vector->last;
  vector->last = word;
  if (!vector->hashed && !rises) {
    vector->hashed = true;
    for (uint32_t i = 0; i < vector->count; ++i)
      enterWord(vector, vector->taken[i]);
  }
  if (vector->hashed && !enterWord(vector, word))
    return;
  vector->taken[vector->count] = word;
  vector->places[vector->count++] = sambaWordPlace(counts->machine, &pattern->buffer, word);
}

static void beginVector(VectorWords *vector) {
  vector->last = UINT64_MAX;
  vector->hashed = false;
  vector->count = 0;
  ++vector->stamp;
}

static bool isLayout(const VectorWords *vector, const Pattern *pattern, const Layout *layout) {
  return layout->count == vector->count && layout->skew == pattern->buffer.skew &&
         layout->skew_count == pattern->skew_count &&
         memcmp(layout->places, vector->places, vector->count * sizeof *vector->places) == 0;
}

/* Counts the words of the running vector in each bank, with each skew. */
static void countWords(VectorWords *vector, const Pattern *pattern, uint32_t mask, Layout *layout) {
  layout->count = vector->count;
  layout->skew = pattern->buffer.skew;
  layout->skew_count = pattern->skew_count;
  memcpy(layout->places, vector->places, vector->count * sizeof *vector->places);
  for (uint32_t s = 0; s < pattern->skew_count; ++s) {
    uint32_t skew = pattern->buffer.skew + s, most = 0;
    for (uint32_t i = 0; i < vector->count; ++i) {
      const SambaWordPlace *place = &vector->places[i];
      uint32_t given = ++vector->given[(place->bank + skew * place->row) & mask];
      most = given > most ? given : most;
    }
    for (uint32_t i = 0; i < vector->count; ++i)
      vector->given[(vector->places[i].bank + skew * vector->places[i].row) & mask] = 0;
    layout->most[s] = most;
  }
}

/* Adds the cycles of the running vector for each skew, and begins the next vector. */
static void endVector(SambaPortCounts *counts, const Pattern *pattern, uint64_t *cycles) {
  VectorWords *vector = &counts->vector;
  uint32_t mask = (uint32_t)counts->machine->pmu_banks - 1;
  SambaWordPlace first = vector->count ? vector->places[0] : (SambaWordPlace){0, 0};
  uint32_t hash = 0;
  for (uint32_t i = 0; i < vector->count; ++i) {
    SambaWordPlace *place = &vector->places[i];
    *place = (SambaWordPlace){(place->bank - first.bank) & mask, (place->row - first.row) & mask};
    hash += (place->bank + 3 * place->row) * (2 * i + 1);
  }

  Layout *layout = vector->last_layout;
  if (!layout || !isLayout(vector, pattern, layout)) {
    layout = vector->last_layout = &vector->layouts[hash % LAYOUTS];
    if (!isLayout(vector, pattern, layout))
      countWords(vector, pattern, mask, layout);
  }
  for (uint32_t s = 0; s < pattern->skew_count; ++s)
    cycles[s] +=
        layout->most[s] > pattern->vector_cycles ? layout->most[s] : pattern->vector_cycles;
  if (vector->noted)
    *vector->noted++ = layout->most[0] > pattern->vector_cycles ? layout->most[0]
                                                                : (uint32_t)pattern->vector_cycles;
  beginVector(vector);
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

/* Elements from the walk's place on that lie side by side, as far as the vector has room for them;
 * the walk goes on at the last of them. */
static uint64_t takeRun(const Pattern *pattern, uint64_t room, uint64_t *counters,
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
static void walkVectors(SambaPortCounts *counts, const Pattern *pattern, uint32_t level,
                        int64_t address, int64_t *guards, uint64_t *cycles) {
  uint32_t word_bits = (uint32_t)__builtin_ctzll((uint64_t)counts->machine->pmu_word_bytes);
  uint64_t counters[STEPS] = {0};
  uint64_t elements = 0;
  address += pattern->bias;
  beginVector(&counts->vector);

  do {
    uint64_t run = 1;
    if (isEnabled(pattern, guards)) {
      run = takeRun(pattern, pattern->vector_elements - elements, counters, guards);
      uint64_t byte = (uint64_t)address * pattern->element_bytes;
      uint64_t last = (byte + run * pattern->element_bytes - 1) >> word_bits;
      for (uint64_t word = byte >> word_bits; word <= last; ++word)
        takeWord(counts, pattern, word);
      address += (int64_t)(run - 1);
    }
    elements += run;
    if (elements == pattern->vector_elements) {
      endVector(counts, pattern, cycles);
      elements = 0;
    }
  } while (stepWalk(pattern, level, counters, &address, guards));

  if (elements)
    endVector(counts, pattern, cycles);
}

/*===-- Nests that are known ------------------------------------------------------------------===*/

static Known *findKnown(const Pattern *pattern, const int64_t *key) {
  uint32_t count = 2 + pattern->guard_count;
  uint64_t at = hashNumbers(key, count) & pattern->known_mask;
  while (pattern->known[at].key && memcmp(pattern->known[at].key, key, count * sizeof *key) != 0)
    at = (at + 1) & pattern->known_mask;
  return &pattern->known[at];
}

static void keep(SambaPortCounts *counts, Pattern *pattern, const int64_t *key,
                 const uint64_t *cycles) {
  if (pattern->known_count * pattern->skew_count >= MOST_KNOWN)
    return;
  if (!pattern->known || pattern->known_count * 2 >= pattern->known_mask) {
    Known *old = pattern->known;
    uint64_t size = old ? pattern->known_mask + 1 : 0;
    pattern->known_mask = size ? size * 2 - 1 : 15;
    pattern->known = SAMBA_ARENA_ARRAY(counts->arena, Known, pattern->known_mask + 1);
    counts->words += 2 * (pattern->known_mask + 1);
    for (uint64_t i = 0; i < size; ++i)
      if (old[i].key)
        *findKnown(pattern, old[i].key) = old[i];
  }

  size_t bytes = (2 + pattern->guard_count) * sizeof *key;
  *findKnown(pattern, key) =
      (Known){sambaArenaCopy(counts->arena, key, bytes),
              sambaArenaCopy(counts->arena, cycles, pattern->skew_count * sizeof *cycles)};
  ++pattern->known_count;
  counts->words += 2 + pattern->guard_count + pattern->skew_count;
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

/* Most periods are a power of two, and a division costs as much as all else. */
static int64_t placeInPeriod(const Pattern *pattern, int64_t address) {
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
static Inside whereGuardsHold(const Pattern *pattern, uint32_t level, const int64_t *guards) {
  int64_t first = 0, last = (int64_t)pattern->trips[level] - 1;
  for (uint32_t g = 0; g < pattern->guard_count; ++g) {
    int64_t stride = guardStrides(pattern, g)[level];
    if (guards[g] == ALWAYS || stride == 0)
      continue;
    /* How far the guard must move up before it holds, and how far it can then. */
    size_t inner = (size_t)g * (STEPS + 1) + level + 1;
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

static const uint64_t *nestCycles(SambaPortCounts *counts, Pattern *pattern, uint32_t level,
                                  int64_t address, const int64_t *guards);

/* Adds the cycles of all iterations of the counter at `level`; state: the address, then the guards.
 * Where guards hold throughout, only the place in a period matters. */
static void addIterations(SambaPortCounts *counts, Pattern *pattern, uint32_t level, int64_t *state,
                          uint64_t *cycles) {
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
static const uint64_t *nestCycles(SambaPortCounts *counts, Pattern *pattern, uint32_t level,
                                  int64_t address, const int64_t *guards) {
  uint32_t guard_count = pattern->guard_count, skews = pattern->skew_count;
  int64_t *key = pattern->scratch + (size_t)level * (guard_count + 2);
  uint64_t *cycles = pattern->sums + (size_t)level * skews;
  key[0] = level;
  key[1] = placeInPeriod(pattern, address);
  if (guard_count)
    memcpy(key + 2, guards, guard_count * sizeof *guards);
  if (!settleGuards(pattern, level, key + 2)) {
    uint64_t vectors =
        (pattern->inside[level] + pattern->vector_elements - 1) / pattern->vector_elements;
    for (uint32_t s = 0; s < skews; ++s)
      cycles[s] = vectors * pattern->vector_cycles;
    return cycles;
  }
  const Known *known = pattern->known ? findKnown(pattern, key) : NULL;
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

/*===-- Ports ---------------------------------------------------------------------------------===*/

/* Empty; all that it has lies in the arena. */
static void startCounts(SambaPortCounts *counts, SambaArena *arena) {
  const SambaMachine *machine = counts->machine;
  counts->arena = arena;
  counts->words = 0;
  memset(counts->lists, 0, sizeof counts->lists);

  /* No element has more than 8 bytes, no word less than one. */
  uint64_t most = machine->pmu_port_bytes > 8 ? (uint64_t)machine->pmu_port_bytes : 8, bits = 2;
  while (UINT64_C(1) << bits < 4 * most)
    ++bits;
  counts->vector =
      (VectorWords){.words = SAMBA_ARENA_ARRAY(arena, Stamped, (size_t)1 << bits),
                    .shift = (uint32_t)(64 - bits),
                    .mask = (UINT64_C(1) << bits) - 1,
                    .taken = SAMBA_ARENA_ARRAY(arena, uint64_t, (size_t)1 << bits),
                    .places = SAMBA_ARENA_ARRAY(arena, SambaWordPlace, (size_t)1 << bits),
                    .given = SAMBA_ARENA_ARRAY(arena, uint32_t, (size_t)machine->pmu_banks)};
  for (uint32_t i = 0; i < LAYOUTS; ++i)
    counts->vector.layouts[i] =
        (Layout){.places = SAMBA_ARENA_ARRAY(arena, SambaWordPlace, (size_t)most),
                 .most = SAMBA_ARENA_ARRAY(arena, uint32_t, (size_t)machine->pmu_banks)};
}

SambaPortCounts *sambaPortCountsCreate(const SambaMachine *machine) {
  SambaPortCounts *counts = sambaAllocateZeroed(1, sizeof *counts);
  counts->machine = machine;
  startCounts(counts, &counts->own);
  return counts;
}

void sambaPortCountsFree(SambaPortCounts *counts) {
  sambaArenaDestroy(&counts->own);
  free(counts);
}

static SambaPortPatterns *patternsOf(SambaPortCounts *counts, SambaArena *arena) {
  SambaPortPatterns *patterns = SAMBA_ARENA_NEW(arena, SambaPortPatterns);
  *patterns = (SambaPortPatterns){counts, arena};
  return patterns;
}

SambaPortPatterns *sambaPortPatternsCreate(const SambaMachine *machine, SambaArena *arena) {
  SambaPortCounts *counts = SAMBA_ARENA_NEW(arena, SambaPortCounts);
  counts->machine = machine;
  startCounts(counts, arena);
  return patternsOf(counts, arena);
}

SambaPortPatterns *sambaPortPatternsShare(SambaPortCounts *counts, SambaArena *arena) {
  if (counts->words > MOST_WORDS) {
    sambaArenaDestroy(&counts->own);
    startCounts(counts, &counts->own);
  }
  return patternsOf(counts, arena);
}

static SambaPortCycles *createCycles(SambaPortPatterns *patterns, const SambaBuffer *buffer,
                                     uint32_t skew_count, const SambaPort *port,
                                     uint64_t vector_bytes) {
  const SambaAccess *access = &port->access;
  SambaPortCycles *cycles = SAMBA_ARENA_NEW(patterns->arena, SambaPortCycles);
  cycles->counts = patterns->counts;
  cycles->pattern = findPattern(patterns, buffer, skew_count, port, vector_bytes);
  cycles->access = access;
  cycles->outer = SAMBA_ARENA_ARRAY(patterns->arena, Outer, access->token_level);
  cycles->guards = SAMBA_ARENA_ARRAY(patterns->arena, int64_t, access->guard_count);
  cycles->token = UINT64_MAX;

  uint64_t divisor = 1, before = 1;
  for (uint32_t c = access->token_level; c-- > 0; divisor *= access->trips[c]) {
    bool matters = access->strides[c] % cycles->pattern->period != 0;
    for (uint32_t g = 0; g < access->guard_count; ++g)
      matters |= access->guards[g].strides[c] != 0;
    if (!matters || access->trips[c] <= 1)
      continue;
    cycles->outer[cycles->outer_count++] =
        (Outer){divisor, access->trips[c], c, .every = divisor / before};
    before = divisor * access->trips[c];
  }

  return cycles;
}

SambaPortCycles *sambaPortCyclesCreate(SambaPortPatterns *patterns, const SambaBuffer *buffer,
                                       const SambaPort *port, uint64_t vector_bytes) {
  SambaPortCycles *cycles = createCycles(patterns, buffer, 1, port, vector_bytes);
  cycles->first = sambaPortTokenCycles(cycles, 0);
  return cycles;
}

SambaPortCycles *sambaPortSkewsCreate(SambaPortPatterns *patterns, uint32_t row_words,
                                      const SambaPort *port, uint64_t vector_bytes) {
  SambaBuffer buffer = {.banking = SAMBA_BANKING_DIAGONAL, .row_words = row_words};
  uint32_t skews = (uint32_t)patterns->counts->machine->pmu_banks;
  return createCycles(patterns, &buffer, skews, port, vector_bytes);
}

bool sambaPortCyclesAreFixed(const SambaPortCycles *cycles) { return cycles->outer_count == 0; }

/* Shifts where the token begins by some steps of a counter, modulo 2^64. */
static void shiftToken(SambaPortCycles *cycles, const Outer *outer, uint64_t steps) {
  const SambaAccess *access = cycles->access;
  uint64_t shift = (uint64_t)access->strides[outer->counter] * steps;
  cycles->address = (int64_t)((uint64_t)cycles->address + shift);
  for (uint32_t g = 0; g < access->guard_count; ++g)
    cycles->guards[g] = (int64_t)((uint64_t)cycles->guards[g] +
                                  (uint64_t)access->guards[g].strides[outer->counter] * steps);
}

/* Goes on to the token after the last one. */
static void nextToken(SambaPortCycles *cycles) {
  ++cycles->token;
  for (uint32_t o = 0; o < cycles->outer_count; ++o) {
    Outer *outer = &cycles->outer[o];
    if (++outer->passed < outer->every)
      return;
    outer->passed = 0;
    if (++outer->step < outer->trips) {
      shiftToken(cycles, outer, 1);
      return;
    }
    outer->step = 0;
    shiftToken(cycles, outer, 1 - outer->trips);
  }
}

/* Finds where a token begins. */
static void goToToken(SambaPortCycles *cycles, uint64_t token) {
  if (token == cycles->token)
    return;
  if (cycles->token != UINT64_MAX && token == cycles->token + 1) {
    nextToken(cycles);
    return;
  }

  const SambaAccess *access = cycles->access;
  cycles->token = token;
  cycles->address = access->base;
  for (uint32_t g = 0; g < access->guard_count; ++g)
    cycles->guards[g] = access->guards[g].constant;
  for (uint32_t o = 0; o < cycles->outer_count; ++o) {
    Outer *outer = &cycles->outer[o];
    outer->passed = token / (outer->divisor / outer->every) % outer->every;
    outer->step = token / outer->divisor % outer->trips;
    shiftToken(cycles, outer, outer->step);
  }
}

const uint64_t *sambaPortTokenSkews(SambaPortCycles *cycles, uint64_t token) {
  goToToken(cycles, token);
  return nestCycles(cycles->counts, cycles->pattern, 0, cycles->address, cycles->guards);
}

uint64_t sambaPortTokenCycles(SambaPortCycles *cycles, uint64_t token) {
  if (cycles->first && !cycles->outer_count)
    return cycles->first;
  return *sambaPortTokenSkews(cycles, token);
}

/* The cycles of the vectors of a token, in the arena. */
static uint32_t *walkToken(SambaPortCounts *counts, const Pattern *pattern, uint64_t vectors,
                           int64_t address, const int64_t *guards) {
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

/* The token with a key among those from `first` to before `end`; NULL. */
static const KnownToken *findToken(const KnownToken *first, const KnownToken *end,
                                   const int64_t *key, size_t bytes) {
  for (const KnownToken *known = first; known != end; known = known->next)
    if (known->key[0] == key[0] && memcmp(known->key, key, bytes) == 0)
      return known;
  return NULL;
}

const uint32_t *sambaPortVectorCycles(SambaPortCycles *cycles, uint64_t token,
                                      uint64_t *out_vectors) {
  Pattern *pattern = cycles->pattern;
  uint64_t vectors = (pattern->inside[0] + pattern->vector_elements - 1) / pattern->vector_elements;
  *out_vectors = vectors;
  if (vectors > SAMBA_PORT_MOST_VECTORS || pattern->skew_count > 1)
    return NULL;

  int64_t key[1 + SAMBA_MAX_GUARDS];
  goToToken(cycles, token);
  key[0] = placeInPeriod(pattern, cycles->address);
  size_t bytes = (1 + pattern->guard_count) * sizeof *key;
  if (pattern->guard_count)
    memcpy(key + 1, cycles->guards, bytes - sizeof *key);
  const KnownToken *found = findToken(cycles->next, NULL, key, bytes);
  if (!found)
    found = findToken(pattern->tokens, cycles->next, key, bytes);
  if (found) {
    cycles->next = found->next;
    return found->vectors;
  }
  if (pattern->token_count++ >= SAMBA_PORT_MOST_TOKENS)
    return NULL;

  KnownToken *known = SAMBA_ARENA_NEW(cycles->counts->arena, KnownToken);
  *known = (KnownToken){
      .key = sambaArenaCopy(cycles->counts->arena, key, bytes),
      .vectors = walkToken(cycles->counts, pattern, vectors, key[0], key + 1),
  };
  *(pattern->tokens ? &pattern->last_token->next : &pattern->tokens) = known;
  pattern->last_token = known;
  return known->vectors;
}
