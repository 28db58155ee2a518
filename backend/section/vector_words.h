/* The words that one vector of a token asks of a PMU's banks (docs/timing-model.md, "Banks of a
 * PMU"): the vector takes as many cycles as the bank with the most different words of it. */
#ifndef SAMBA_BACKEND_SECTION_VECTOR_WORDS_H
#define SAMBA_BACKEND_SECTION_VECTOR_WORDS_H

#include "backend/section/banks.h"

enum { SAMBA_VECTOR_LAYOUTS = 16 }; /* that are kept; a power of two */

/* How words lie in banks: the buffer's banking, and skews that are counted, from its own on. */
typedef struct SambaWordRule {
  const SambaMachine *machine;
  const SambaBuffer *buffer;
  uint32_t skew_count;
  uint64_t least_cycles; /* of a vector */
} SambaWordRule;

/* A word that the running vector has when the stamp is the vector's. */
typedef struct SambaStampedWord {
  uint64_t stamp, word;
} SambaStampedWord;

/* The places of a vector's words beside that of the first one, and how many words one bank gives
 * with each skew: shifting all of them by a place only turns the banks. */
typedef struct SambaVectorLayout {
  uint32_t count, skew, skew_count;
  SambaWordPlace *places;
  uint32_t *most;
} SambaVectorLayout;

/* The different words of a vector. */
typedef struct SambaVectorWords {
  uint64_t stamp;
  /* A power of two of places, at least four times as many as a vector has words. */
  SambaStampedWord *words;
  uint32_t shift; /* of a hash to a place */
  uint64_t mask;
  uint64_t last; /* the word that came last; UINT64_MAX: none */
  uint64_t *taken;
  bool hashed; /* the words taken are in the table: not before one comes that is not the largest */
  SambaWordPlace *places;
  uint32_t count;
  uint32_t *given; /* [bank]: words that it gives; zero between vectors */
  SambaVectorLayout layouts[SAMBA_VECTOR_LAYOUTS], *last_layout;
  uint32_t *noted; /* where the cycles of vectors are noted, one after the other; NULL */
} SambaVectorWords;

/* Empty; all that it has lies in the arena. */
SambaVectorWords sambaVectorWordsCreate(const SambaMachine *machine, SambaArena *arena);
void sambaVectorBegin(SambaVectorWords *vector);
/* Adds a word to the running vector unless it has it. */
void sambaVectorTake(SambaVectorWords *vector, const SambaWordRule *rule, uint64_t word);
/* Adds the cycles of the running vector for each skew, and begins the next vector. */
void sambaVectorEnd(SambaVectorWords *vector, const SambaWordRule *rule, uint64_t *cycles);

#endif
