/* Running sums of a systolic firing on their way into the order of a token, or out of it. */
#ifndef SAMBA_BACKEND_SIM_VALUE_UNIT_SUMS_H
#define SAMBA_BACKEND_SIM_VALUE_UNIT_SUMS_H

#include "backend/section/section.h"

typedef struct SambaSumsWalk {
  uint32_t rank; /* >= 1 */
  uint64_t *trips;
  int64_t *from, *to; /* strides per dimension, in elements of 4 bytes */
  bool copies;        /* nothing changes its place */
} SambaSumsWalk;

/* A walk over the inner counters of the unit that are not reduced; from, to: strides per counter.
 */
SambaSumsWalk *sambaSumsWalkCreate(SambaArena *arena, const SambaUnit *unit, const int64_t *from,
                                   const int64_t *to);
void sambaSumsMove(const SambaSumsWalk *walk, const uint32_t *from, uint32_t *to);

#endif
