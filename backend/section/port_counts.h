/* The patterns in which ports walk the banks of a PMU, and the cycles that have been counted for
 * them; port_cycles.h asks them for a port's tokens. */
#ifndef SAMBA_BACKEND_SECTION_PORT_COUNTS_H
#define SAMBA_BACKEND_SECTION_PORT_COUNTS_H

#include "backend/section/access.h"
#include "backend/section/vector_words.h"

enum {
  SAMBA_PATTERN_STEPS = SAMBA_MAX_COUNTERS + 1,
  SAMBA_PATTERN_LISTS = 128, /* of patterns, by their hashes; a power of two */
};

/* A token whose vectors were asked for. */
typedef struct SambaKnownToken {
  int64_t *key; /* shift, then the value of each guard */
  uint32_t *vectors;
  struct SambaKnownToken *next;
} SambaKnownToken;

/* The inner chain of a port's tokens in a buffer with this banking, or with all diagonals of its
 * rows: those turn the banks alike where a nest is shifted by whole rows. */
typedef struct SambaTokenPattern {
  SambaBuffer buffer;
  uint32_t skew_count; /* skews that are counted, from the buffer's on */
  uint64_t element_bytes, vector_elements, vector_cycles;
  uint32_t count, guard_count;
  int64_t *guard_strides; /* [guard][SAMBA_PATTERN_STEPS] */
  /* [guard][SAMBA_PATTERN_STEPS + 1]: what the nest adds to it, at least and most. */
  int64_t *guard_low;
  int64_t *guard_high;
  int64_t *limits;
  uint32_t walked;  /* the nest from this counter on is walked element by element */
  int64_t bias;     /* makes addresses of the walk positive; whole periods */
  int64_t period;   /* elements: shifts by it only turn the banks */
  int64_t *scratch; /* values of guards, per level */
  uint64_t *sums;   /* [level][skew_count]: cycles of the nest that is being counted */
  struct SambaKnownNest *known;
  uint64_t known_mask, known_count;
  SambaKnownToken *tokens, *last_token; /* as they came: ports ask for them in this order again */
  uint32_t token_count;
  struct SambaTokenPattern *next; /* in the same list */
  /* Large, and made for each port that asks: set as far as there are counters. */
  uint64_t trips[SAMBA_PATTERN_STEPS];
  int64_t strides[SAMBA_PATTERN_STEPS];
  uint64_t
      turns[SAMBA_PATTERN_STEPS]; /* of the counter after which all comes again, guards apart */
  uint64_t inside[SAMBA_PATTERN_STEPS + 1]; /* elements of the nest from this counter on */
} SambaTokenPattern;

typedef struct SambaPortCounts SambaPortCounts;
struct SambaPortCounts {
  const SambaMachine *machine;
  SambaArena own, *arena; /* its own one, or that of the only section */
  uint64_t words;         /* that patterns take of it, about */
  SambaTokenPattern *lists[SAMBA_PATTERN_LISTS];
  SambaVectorWords vector;
};

/* Empty; all that it has lies in the arena. */
void sambaPortCountsStart(SambaPortCounts *counts, SambaArena *arena);

/* The pattern of a port's tokens, made when it is not known; scratch: an arena for what is only
 * compared. */
SambaTokenPattern *sambaTokenPatternFind(SambaPortCounts *counts, SambaArena *scratch,
                                         const SambaBuffer *buffer, uint32_t skew_count,
                                         const SambaPort *port, uint64_t vector_bytes);
/* Where an address lies in the period of the pattern. */
int64_t sambaTokenPatternPlace(const SambaTokenPattern *pattern, int64_t address);
/* Cycles of a token that begins at `address` with these values of the guards, with each skew. They
 * stand there until the next token is counted. */
const uint64_t *sambaTokenPatternCycles(SambaPortCounts *counts, SambaTokenPattern *pattern,
                                        int64_t address, const int64_t *guards);
/* The cycles of each of its vectors, in the arena of the counts. */
uint32_t *sambaTokenPatternWalk(SambaPortCounts *counts, const SambaTokenPattern *pattern,
                                uint64_t vectors, int64_t address, const int64_t *guards);

#endif
