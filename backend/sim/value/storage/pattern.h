/* Access patterns as rows: a port's inner counters, simplified, walked one contiguous-in-token row
 * at a time. */
#ifndef SAMBA_BACKEND_SIM_VALUE_STORAGE_PATTERN_H
#define SAMBA_BACKEND_SIM_VALUE_STORAGE_PATTERN_H

#include "backend/section/section.h"

typedef struct SambaPattern {
  const SambaAccess *access;
  uint32_t rank; /* >= 1; counters of trip 1 are gone, adjacent ones merged where nothing tells them
                    apart */
  uint64_t *trips;
  int64_t *strides;
  int64_t *guard_strides;  /* [guard * rank + dimension] */
  uint64_t elements;       /* of one token */
  uint64_t index_elements; /* token elements per value of the index stream (0: not indexed) */
  uint64_t index_count;    /* values of one index token */
  bool dense;              /* unguarded, not indexed, one run of stride 1 */
} SambaPattern;

/* Where a firing starts: the address of its first element and the guards' values there. */
typedef struct SambaOrigin {
  int64_t address;
  int64_t *guards; /* [guard_count], owned by the caller */
} SambaOrigin;

/* Elements [low, high) of the row are enabled; address is that of element 0 of the row. */
typedef struct SambaRow {
  uint64_t token, count, low, high;
  int64_t address, stride;
} SambaRow;

typedef SambaStatus (*SambaRowFunction)(void *user, const SambaRow *row);

SambaPattern *sambaPatternCreate(SambaArena *arena, const SambaAccess *access);
/* Steps counters as an odometer does: the last one first, back to 0 at its trip count. */
void sambaCountersStep(uint32_t *counters, const uint32_t *trips, uint32_t count);
/* counters: the outer ones, [0, token_level). */
void sambaPatternOrigin(const SambaPattern *pattern, const uint32_t *counters, SambaOrigin *origin);
/* Calls function for every row of the token; addends: what the index stream adds, one per index
 * value, or NULL. */
SambaStatus sambaPatternRows(const SambaPattern *pattern, const SambaOrigin *origin,
                             const int64_t *addends, SambaRowFunction function, void *user);

#endif
