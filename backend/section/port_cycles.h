/* How many cycles a port of a PMU needs for a token (docs/timing-model.md, "Banks of a PMU").
 *
 * A vector is the next pmu_port_bytes of the token (less where the unit at the other end uses fewer
 * lanes), whatever counters make it up. A bank gives or
 * takes one word per cycle, and a word serves all elements of the vector that lie in it. So a
 * vector takes as many cycles as the bank that is asked for most has different words to give, and
 * at least one. Elements that a guard disables ask no bank.
 *
 * The cycles are exact for the addresses of each token. They are counted once for each place in a
 * row of banks where tokens begin; ports with the same pattern share the count. */
#ifndef SAMBA_BACKEND_SECTION_PORT_CYCLES_H
#define SAMBA_BACKEND_SECTION_PORT_CYCLES_H

#include "backend/section/banks.h"

/* The patterns of a machine's ports that have been counted; everything lives in the arena. */
typedef struct SambaPortPatterns SambaPortPatterns;
SambaPortPatterns *sambaPortPatternsCreate(const SambaMachine *machine, SambaArena *arena);
/* Counts that sections share, one after the other: most of the plans that are tried for a section
 * have the ports of the one before. The machine is borrowed. */
typedef struct SambaPortCounts SambaPortCounts;
SambaPortCounts *sambaPortCountsCreate(const SambaMachine *machine);
void sambaPortCountsFree(SambaPortCounts *counts);
/* The same patterns with shared counts; only the laws of their ports live in the arena. Those that
 * were made of the counts before must not be asked again: when there are too many, all go. */
SambaPortPatterns *sambaPortPatternsShare(SambaPortCounts *counts, SambaArena *arena);

/* The law of one port of a buffer with vectors of `vector_bytes`, at most pmu_port_bytes. Buffer
 * and port are borrowed. */
typedef struct SambaPortCycles SambaPortCycles;
SambaPortCycles *sambaPortCyclesCreate(SambaPortPatterns *patterns, const SambaBuffer *buffer,
                                       const SambaPort *port, uint64_t vector_bytes);
/* The same of a diagonal buffer with such rows, with each skew from 0, which is columns, to
 * pmu_banks - 1: one look at the addresses serves them all. */
SambaPortCycles *sambaPortSkewsCreate(SambaPortPatterns *patterns, uint32_t row_words,
                                      const SambaPort *port, uint64_t vector_bytes);
/* Every token takes as long as the first one. */
bool sambaPortCyclesAreFixed(const SambaPortCycles *cycles);
/* Cycles of token number `token` of the port. */
uint64_t sambaPortTokenCycles(SambaPortCycles *cycles, uint64_t token);
/* The cycles of each of its vectors: they live as long as the patterns. NULL for tokens of more
 * than SAMBA_PORT_MOST_VECTORS, and for the tokens after SAMBA_PORT_MOST_TOKENS that differ. */
enum { SAMBA_PORT_MOST_VECTORS = 1 << 16, SAMBA_PORT_MOST_TOKENS = 256 };
const uint32_t *sambaPortVectorCycles(SambaPortCycles *cycles, uint64_t token,
                                      uint64_t *out_vectors);
/* The same with each skew; valid until the next call. */
const uint64_t *sambaPortTokenSkews(SambaPortCycles *cycles, uint64_t token);

#endif
