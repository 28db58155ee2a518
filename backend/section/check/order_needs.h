/* What a unit needs of those before it: how far each must have come before a firing can begin. See
 * order_check.h, which asks this of stores and loads of one memory.
 *
 * Tokens are cut through: a unit passes the first vector of a token on before it has the last one.
 * So of the last firing that another one needs only the beginning is known to lie behind, but for
 * slots of buffers and for control tokens, which are whole before anything comes of them. */
#ifndef SAMBA_BACKEND_SECTION_CHECK_ORDER_NEEDS_H
#define SAMBA_BACKEND_SECTION_CHECK_ORDER_NEEDS_H

#include "backend/section/section.h"

/* Steps of a unit (pace.h), counted from 1. */
typedef struct SambaNeed {
  uint64_t begun; /* it has begun so many; 0: it need not do anything */
  uint64_t ended; /* of these, so many are over */
} SambaNeed;

/* The units that must run before one unit can, with that one first and every other after those
 * that it feeds. */
typedef struct SambaNeeds {
  const SambaSection *section;
  uint32_t *units, count;
  SambaNeed *of; /* per unit of the section */
  uint8_t *seen;
} SambaNeeds;

/* Memory from the arena; the section has passed sambaSectionCheck. */
SambaNeeds sambaNeedsOf(const SambaSection *section, uint32_t unit, SambaArena *arena);

/* What must have happened in `unit` when the first unit begins its step number `step`. A circle of
 * streams is followed once, which can only count too little. */
SambaNeed sambaNeedOf(SambaNeeds *needs, uint64_t step, uint32_t unit);

/* True when each round of `steps` steps of the first unit needs as many more steps of `target` as
 * the one before it, once every stream on the way has had its turn: *out_advance; 0: none. Each
 * unit on the way may put that off by a round. */
bool sambaNeedsAdvanceEvenly(SambaNeeds *needs, uint64_t steps, uint32_t target,
                             uint64_t *out_advance);

/* Whether elements [first, first + count) that the store takes, counted over the whole call, are
 * made one by one of as many elements that the load reads in a row: *out_first is the first of
 * those. Then each is stored after it was read. */
bool sambaNeedsFollow(const SambaSection *section, uint32_t store, uint64_t first, uint64_t count,
                      uint32_t load, uint64_t *out_first);

#endif
