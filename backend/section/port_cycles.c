/* The law of a PMU's port; see port_cycles.h. Here a port walks its tokens; what a token costs is
 * counted in port_counts.h. */
#include "backend/section/port_cycles.h"

#include "backend/section/access.h"
#include "backend/section/port_counts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 1 << 20 }; /* of counts that sections share: beyond that they are made anew */

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
  SambaTokenPattern *pattern;
  const SambaAccess *access;
  Outer *outer;
  uint32_t outer_count;
  uint64_t first;
  uint64_t token;              /* that was asked for last; UINT64_MAX: none */
  int64_t address, *guards;    /* where it begins: its address, the values of its guards */
  const SambaKnownToken *next; /* the one after that which was found last; NULL */
};

SambaPortCounts *sambaPortCountsCreate(const SambaMachine *machine) {
  SambaPortCounts *counts = sambaAllocateZeroed(1, sizeof *counts);
  counts->machine = machine;
  sambaPortCountsStart(counts, &counts->own);
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
  sambaPortCountsStart(counts, arena);
  return patternsOf(counts, arena);
}

SambaPortPatterns *sambaPortPatternsShare(SambaPortCounts *counts, SambaArena *arena) {
  if (counts->words > MOST_WORDS) {
    sambaArenaDestroy(&counts->own);
    sambaPortCountsStart(counts, &counts->own);
  }
  return patternsOf(counts, arena);
}

static SambaPortCycles *createCycles(SambaPortPatterns *patterns, const SambaBuffer *buffer,
                                     uint32_t skew_count, const SambaPort *port,
                                     uint64_t vector_bytes) {
  const SambaAccess *access = &port->access;
  SambaPortCycles *cycles = SAMBA_ARENA_NEW(patterns->arena, SambaPortCycles);
  cycles->counts = patterns->counts;
  cycles->pattern = sambaTokenPatternFind(patterns->counts, patterns->arena, buffer, skew_count,
                                          port, vector_bytes);
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
  return sambaTokenPatternCycles(cycles->counts, cycles->pattern, cycles->address, cycles->guards);
}

uint64_t sambaPortTokenCycles(SambaPortCycles *cycles, uint64_t token) {
  if (cycles->first && !cycles->outer_count)
    return cycles->first;
  return *sambaPortTokenSkews(cycles, token);
}

/* The token with a key among those from `first` to before `end`; NULL. */
static const SambaKnownToken *findToken(const SambaKnownToken *first, const SambaKnownToken *end,
                                        const int64_t *key, size_t bytes) {
  for (const SambaKnownToken *known = first; known != end; known = known->next)
    if (known->key[0] == key[0] && memcmp(known->key, key, bytes) == 0)
      return known;
  return NULL;
}

const uint32_t *sambaPortVectorCycles(SambaPortCycles *cycles, uint64_t token,
                                      uint64_t *out_vectors) {
  SambaTokenPattern *pattern = cycles->pattern;
  uint64_t vectors = (pattern->inside[0] + pattern->vector_elements - 1) / pattern->vector_elements;
  *out_vectors = vectors;
  if (vectors > SAMBA_PORT_MOST_VECTORS || pattern->skew_count > 1)
    return NULL;

  int64_t key[1 + SAMBA_MAX_GUARDS];
  goToToken(cycles, token);
  key[0] = sambaTokenPatternPlace(pattern, cycles->address);
  size_t bytes = (1 + pattern->guard_count) * sizeof *key;
  if (pattern->guard_count)
    memcpy(key + 1, cycles->guards, bytes - sizeof *key);
  const SambaKnownToken *found = findToken(cycles->next, NULL, key, bytes);
  if (!found)
    found = findToken(pattern->tokens, cycles->next, key, bytes);
  if (found) {
    cycles->next = found->next;
    return found->vectors;
  }
  if (pattern->token_count++ >= SAMBA_PORT_MOST_TOKENS)
    return NULL;

  SambaKnownToken *known = SAMBA_ARENA_NEW(cycles->counts->arena, SambaKnownToken);
  *known = (SambaKnownToken){
      .key = sambaArenaCopy(cycles->counts->arena, key, bytes),
      .vectors = sambaTokenPatternWalk(cycles->counts, pattern, vectors, key[0], key + 1),
  };
  *(pattern->tokens ? &pattern->last_token->next : &pattern->tokens) = known;
  pattern->last_token = known;
  return known->vectors;
}
