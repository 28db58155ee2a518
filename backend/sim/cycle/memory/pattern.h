/* The bursts that an access asks for, in order.
 *
 * An address generator walks its pattern run by run. A run is what the innermost dense counters
 * cover, and one more counter around them when its steps leave no whole burst between them. Guards
 * switch steps off, an index value moves a run. A burst that was asked for just before is not asked
 * for again. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_MEMORY_PATTERN_H
#define SAMBA_BACKEND_SIM_CYCLE_MEMORY_PATTERN_H

#include "backend/section/section.h"

typedef struct SambaPattern {
  const SambaAccess *access;
  uint64_t base; /* device address of the symbol */
  uint64_t element_bytes, burst_bytes;
  uint64_t block;         /* dense elements of one step of a run */
  uint32_t run_level;     /* counters before it step from run to run */
  bool has_steps;         /* the counter at run_level steps within a run */
  uint32_t index_level;   /* counters before it consume an index value when they step */
  const int64_t *addends; /* of the index values, may be fewer than there are */
  uint64_t addend_count;
  uint32_t *counters;      /* [0, run_level) */
  uint64_t step, in_block; /* where in the run the next piece begins */
  bool run_asked;          /* the run at work asked for a burst */
  uint64_t index;          /* values consumed before the run at work */
  uint64_t last_burst;
} SambaPattern;

/* A part of a run that one burst covers, or that covers none. */
typedef struct SambaPiece {
  uint64_t elements; /* enabled or not */
  uint64_t burst;    /* its number, when it asks for one */
  uint64_t index;    /* number of the index value that it needs */
  bool asks, ends_run;
  bool costs_cycle; /* it asks for nothing, like all of its run */
} SambaPiece;

void sambaPatternBuild(SambaPattern *pattern, SambaArena *arena, const SambaAccess *access,
                       uint64_t base, uint64_t element_bytes, uint64_t burst_bytes,
                       const int64_t *addends, uint64_t addend_count);
/* The next piece. After the last one the pattern begins again. */
SambaPiece sambaPatternNext(SambaPattern *pattern);

#endif
